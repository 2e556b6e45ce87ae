# SPDX-License-Identifier: BSD-3-Clause
"""The largest value of a field: one number of a body that histories keep by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..assembly.configuration import Discretised, discrete_system
from ..errors import ParameterError
from ..runtime.collective import reduced, together
from ..values.spellings import advise
from .sampling import sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..assembly.discrete import DiscreteSystem
    from ..bodies.body import Body
    from ..contact.contact import Contact
    from ..laws import Sampled
    from .sampling import Place


def maximum(
    system: Discretised[DiscreteSystem],
    body: Body | Contact,
    field: Sampled,
    *,
    at: Place = "gauss",
) -> float:
    """Return the largest value of a field of a body, or of a contact, over all its points.

    At the present state, on every rank (collective). Points where the field is not a number, as the
    gap where nothing is opposite, do not count; NaN if there is no other.

    Parameters
    ----------
    body : of which the field is.
    field : as for `sample`: a name, or a function of quantities; ``lambda J: -J`` gives the least.
    at : ``"gauss"``, the points of the energy's rule, ``"lattice"`` or ``"cell"``, means of cells.

    Raises
    ------
    KinematicsError, SymancfError : see `sample`.
    ParameterError : the field is no scalar.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> cube = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    >>> pull = sa.fix(cube["x1"], displacement=(0.2, 0.0, 0.0))
    >>> system = sa.System(cube, terms=[sa.fix(cube["x0"]), pull])
    >>> problem = sa.StaticProblem(system)
    >>> problem.record("J", lambda: sa.maximum(system, cube, "J"))
    >>> history = problem.solve()
    >>> history["J"].round(6), round(sa.maximum(system, cube, "J"), 6)
    (array([1.2]), 1.2)
    """
    system = discrete_system("maximum", system)
    samples = sample(system, body, fields={"value": field}, at=at)
    values = np.asarray((samples.cell_data | samples.point_data)["value"], dtype=float)
    with together(system.comm):
        if values.ndim != 1:
            raise ParameterError(
                f"maximum() of {body.name!r}: {field!r} has the shape {values.shape[1:]} at a "
                "point; give a scalar, or a function that returns one",
                asked=field if isinstance(field, str) else "maximum",
                given=values.shape[1:],
                possible=((),),
            )
    most = np.array([np.nanmax(values, initial=-np.inf)])
    (most,) = reduced(system.comm, most, MPI.MAX)
    return float(most) if most > -np.inf else float("nan")


@dataclass(frozen=True)
class largest:
    """The former spelling of `maximum`: an object that is called with the system."""

    body: Body | Contact
    field: Sampled
    at: Place = "gauss"

    def __post_init__(self) -> None:
        advise("largest(body, field)", "maximum(system, body, field)")

    def __call__(self, system: Discretised[DiscreteSystem]) -> float:
        """Return the number at the present state (collective)."""
        return maximum(system, self.body, self.field, at=self.at)

    def series(self, system: Discretised[DiscreteSystem]) -> dict[str, Callable[[], float]]:
        """Return what a history keeps; see `DynamicProblem.record`."""
        return {"": lambda: self(system)}
