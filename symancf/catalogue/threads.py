# SPDX-License-Identifier: BSD-3-Clause
"""Threads in solids, along lines that cut the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import sympy as sp

from ..arrays import Array
from ..assembly.configuration import Configuration, in_system
from ..errors import KinematicsError, ParameterError
from ..kinematics.memory import declared, memory
from ..kinematics.naming import law_of, signature
from ..places.along import Along, Cut
from ..terms.quantities import symbols_of
from ..terms.work.potential import Potential
from ..values.arguments import flag, function, name_or, one_of
from ..values.domain import domains, positive, within_domains
from ..values.functions import REQUIRED, arguments_of, taking
from ..values.parameter import Field, label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..bodies.body import Body
    from ..places.paths import Path
    from ..terms.quantities import E, V
    from ..values.parameter import Scalar

Per = Literal["point", "cell"]


@domains(EA=positive())
def elastic(epsilon: E, *, EA: E) -> E:
    """Return EA/2 epsilon^2, the energy of a thread by its length."""
    return EA / 2 * epsilon**2


QUANTITIES = {
    "epsilon": lambda stretch: stretch - 1,
    "epsilon_green": lambda stretch: (stretch**2 - 1) / 2,
}


class Profile(NamedTuple):
    """A thread in a state, at the points of integration in their order along it.

    Attributes
    ----------
    length : (k,) of the reference from the start of its path [m].
    reference, position : (k, 3) places in the reference, and at present [m].
    strain : (k,) lambda - 1 [-].
    tension : (k,) dW/d lambda, the force along the present tangent [N].
    """

    length: Array
    reference: Array
    position: Array
    strain: Array
    tension: Array


class Thread(Potential):
    r"""A thread in a solid, or several, along lines that need not follow the mesh.

    .. math:: \Pi = \int W(\epsilon)\,dS, \qquad \epsilon = \lambda - 1 = |F X'| - 1,

    over the length S of the reference, with X' the unit tangent of the path and F = dr/dX of the
    solid there, and W = EA epsilon^2/2 unless a `law` is given. The path is cut at the faces of
    the cells, with Gauss points on each piece; it stays in the material, and the thread has no
    unknowns of its own.

    Parameters
    ----------
    path : an `sa.Helix`, a function of s (n numbers from 0 to 1) that returns points (n, 3) of the
        reference, points (k, 3) that straight lines join, or a list of these: all are alike.
    solid : the body, of cells of a solid.
    EA : stiffness [N]: a number, `Parameter` or function of time.
    law : another energy, a function of ``epsilon`` (or ``epsilon_green``, (lambda^2 - 1)/2) and
        keyword-only parameters that returns the energy W by the length of the reference [J/m];
        it may have `memory`.
    slack : whether the thread carries no compression: W(max(epsilon, 0)).
    per : ``"point"``: the strain at two points of each piece between faces of cells, at three in
        cells of second order. ``"cell"``: at one point less: where more than two stiff threads
        cross each cell of first order they keep it from deforming, and less so with one strain for
        each crossing. Few threads leave the solid softer than it is then.
    clip : take only what is inside of the body, instead of refusing what is not.
    parameters : those of `law`.

    Raises
    ------
    ConstraintError : `solid` is no solid; in a system: a path leaves it.
    KinematicsError : the law asks for something else.
    ParameterError : `path` is no path, EA is not positive, neither EA nor `law` is given.

    Notes
    -----
    What the thread's volume displaces of the solid is counted twice: where that matters take EA
    less than the thread's by E of the solid times the area. The solid does not feel how thick the
    thread is: under the line load of a single stiff thread, as opposed to many, its displacement
    grows as the logarithm of the mesh is refined.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.tube(0.009, 0.011, 0.1, (2, 8, 12))
    >>> tube = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1e5, lam=1e6)
    >>> wound = sa.Thread(sa.braid(54.7, 4, radius=0.01, length=0.1), tube, EA=1e3, slack=True)
    >>> wound.name
    'thread in body'
    """

    kind = "thread"

    def __init__(
        self,
        path: Path | Sequence[Path],
        solid: Body,
        *,
        EA: Scalar | None = None,
        law: Callable[..., Any] | None = None,
        slack: bool = False,
        per: Per = "point",
        clip: bool = False,
        name: str | None = None,
        **parameters: Scalar,
    ) -> None:
        along = None if isinstance(solid, type) else getattr(solid, "along", None)
        place = along(path, clip=clip) if callable(along) else None
        if not isinstance(place, Along):
            raise ParameterError(
                f"Thread(solid={label(solid)}): give a body of cells of a solid, "
                "sa.Thread(path, body, EA=...)",
                asked="solid",
                given=solid,
            )
        self.cut: Cut = place.cut
        name = name_or(name, f"thread in {solid.name}")
        one_of(f"thread {name!r}: per", per, get_args(Per))
        self.per, self.slack = per, flag("Thread", "slack", slack)
        if EA is None and law is None:
            raise ParameterError(
                f"thread {name!r}: give EA, or a law of epsilon with its parameters",
                asked="EA",
                possible=("EA", "law"),
            )
        values, own = (
            {**parameters},
            law_of(function("Thread: law", elastic if law is None else law)),
        )
        if EA is not None:
            values["EA"] = EA
        for key, value in values.items():
            _require_scalar(name, key, value)
        density = _of_line(name, own, self.slack)
        values = within_domains(own, f"thread {name!r}", values)
        self.place = Along(self.cut, None, place.count - 1) if per == "cell" else place
        super().__init__(density, self.place, name=name, **values)
        self._force = sp.diff(self.energy, STRETCH)

    # ---- results ----------------------------------------------------------------------------
    @in_system
    def strains(self, system: Configuration) -> Array:
        """Return lambda - 1 (K,) at the points of all paths in their order, on every rank [-]."""
        return self._values(system, [STRETCH - 1])[:, 0]

    @in_system
    def tensions(self, system: Configuration) -> Array:
        """Return the tensions (K,) at the points of all paths in their order, on every rank [N].

        dW/d lambda, by the length of the reference: the force along the present tangent. Of a law
        with memory those with which the step was solved.
        """
        return self._values(system, [self._force])[:, 0]

    @in_system
    def profiles(self, system: Configuration) -> list[Profile]:
        """Return strains and tensions along each path, on every rank (collective)."""
        values = self._values(system, [STRETCH - 1, self._force])
        binding = system.binding(self)
        entities, mine = binding.entities, binding.entities.owned
        r = np.zeros((entities.size, 3))
        r[entities.ids[mine]] = binding.positions(system, 0)[mine]
        r = system.sum(r)
        number, length, X = self.cut.places(self.place.count)
        ends = np.flatnonzero(np.diff(number)) + 1
        columns = (np.split(x, ends) for x in (length, X, r, *values.T))
        return [Profile(*state) for state in zip(*columns, strict=True)]


STRETCH = sp.Symbol("stretch_along", positive=True)


def _of_line(name: str, law: Callable[..., Any], slack: bool) -> Callable[..., Any]:
    """Return a law of the strain as a function of the derivative of the position.

    Raises
    ------
    KinematicsError : it asks for anything else than a strain of a line.
    """
    asked = signature(law)
    for quantity in asked.quantities:
        if quantity not in QUANTITIES:
            raise KinematicsError(
                f"thread {name!r}: the law {asked.name}() asks for {quantity!r}; threads have "
                f"{' and '.join(QUANTITIES)}",
                asked=quantity,
                possible=tuple(QUANTITIES),
            )
    stretch = sp.Max(STRETCH, 1) if slack else STRETCH

    def thread(rs_a: V, **keywords: Any) -> Any:
        return law(*(QUANTITIES[q](stretch) for q in asked.quantities), **keywords)

    rs = symbols_of((0, "line"), "reference"), symbols_of((0, "line"), "change")
    squared = sp.Add(*((X + u) ** 2 for X, u in zip(*rs, strict=True)))
    thread.__name__ = f"thread_{asked.name}"
    vars(thread)["lets"] = ((STRETCH, sp.sqrt(squared)),)
    own = arguments_of(law)
    taking(thread, ("rs_a",), {k: own.defaults.get(k, REQUIRED) for k in own.keywords})
    remembered = declared(law)
    return memory(**remembered)(thread) if remembered else thread


def _require_scalar(name: str, key: str, value: Any) -> None:
    """Raise where a parameter is given place by place."""
    if isinstance(value, Field | list | tuple | dict) or np.ndim(value) > 0:
        raise ParameterError(
            f"thread {name!r}: {key} is {label(value)}: give a number, an sa.Parameter or a "
            "function of time; threads that differ are terms of their own",
            asked=key,
            given=value,
        )
