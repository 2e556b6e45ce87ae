# SPDX-License-Identifier: BSD-3-Clause
"""All that there is to see of a system: bodies, contacts, and the forces of what holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Ints
from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..bodies.point import PointMass
from ..catalogue.boundary.support import Support
from ..catalogue.tendon import Tendon
from ..catalogue.threads import Thread
from ..contact.contact import Contact
from ..errors import ParameterError
from ..laws.layers import Layers
from ..laws.sampled import default_fields
from ..runtime.collective import lookup, together
from ..system import System
from ..terms.constraint import Constraint
from ..values.arguments import instance
from .sampling import sample, units_of
from .terms import of_constraint, of_support, of_tendon, of_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..assembly.configuration import Discretised
    from ..assembly.discrete import DiscreteSystem
    from .samples import Samples
    from .sampling import Place

#: Tensors of solids whose principal values and directions are shown.
TENSORS = {"stress": "cauchy", "strain": "E_gl"}


def results(
    system: Discretised[DiscreteSystem],
    *,
    divisions: int = 4,
    units: Mapping[str, str] | None = None,
) -> dict[str, Samples]:
    r"""Return all that there is to see of a system, by the names of its members (collective).

    - Bodies: ``displacement`` and the fields of `sample` (von Mises stress, section forces,
      thickness); of solids ``stress`` :math:`\sigma`, ``strain`` :math:`E` and their principal
      values and directions, ``stress_1`` >= ``stress_2`` >= ``stress_3``, ``stress_direction_1``,
      ... (of laws with memory means of cells). Cells have ``body_id``, the number of the body,
      ``cell_id``, that in the mesh, and ``region_id``, that of the smallest region which it
      belongs to; `Samples.texts` tell the regions.
    - Supports: the nodes that they hold, with ``reaction``, the force on the body [N].
    - Constraints: their places, with ``force`` [N] and ``moment`` [N m] on the first end.
    - Threads: lines along their points, with ``tension`` [N] and ``strain``.
    - Tendons: their places with ``force``, ``slip`` and ``angle``, segments with ``tension`` and
      ``length``; see `sample`.
    - Contacts: ``pressure``, ``gap``, ``slip`` and ``status`` on facets; see `sample`.

    Parameters
    ----------
    divisions : parts per direction of the cells of lines and surfaces.
    units : labels for ParaView, of fields that some of them have; nothing is converted.

    Raises
    ------
    ParameterError, KinematicsError, SymancfError : see `sample`.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), name="cube")
    >>> law, given = sa.energies.neo_hooke(), {"mu": 1.0, "lam": 2.0, "name": "cube"}
    >>> cube = sa.Body(mesh["body"], sa.elements.hex8_plain, law, **given)
    >>> pull = sa.fix(cube["x1"], displacement=(0.2, 0.0, 0.0), name="pull")
    >>> system = sa.System(cube, terms=[sa.fix(cube["x0"], name="wall"), pull])
    >>> _ = sa.StaticProblem(system).solve()
    >>> found = sa.results(system)
    >>> list(found), found["pull"].point_data["reaction"].shape
    (['cube', 'wall', 'pull'], (4, 3))
    >>> series = sa.output.Series("results/cube.vtkhdf")
    >>> series.write(system.time, found)
    """
    system = instance("results(system)", system, System, "give a system")._discrete
    labels = units_of("results", units)
    by_name: dict[str, Samples] = {}
    for number, body in enumerate(system.bodies):
        if isinstance(body, Body):
            by_name[system.name(body)] = _of_body(system, body, number, divisions, labels)
        elif isinstance(body, RigidBody | PointMass):
            by_name[system.name(body)] = sample(system, body)
    for term in system.terms:
        if isinstance(term, Contact):
            by_name[system.name(term)] = sample(system, term)
        elif isinstance(term, Support):
            by_name[system.name(term)] = of_support(system, term)
        elif isinstance(term, Constraint):
            by_name[system.name(term)] = of_constraint(system, term)
        elif isinstance(term, Thread):
            by_name[system.name(term)] = of_thread(system, term)
        elif isinstance(term, Tendon):
            by_name[system.name(term)] = of_tendon(system, term)
    with together(system.comm):
        _write_units(list(by_name.values()), labels)
    return by_name


def _write_units(parts: list[Samples], units: Mapping[str, str]) -> None:
    """Give samples the units of their fields; each unit is of a field that one of them has."""
    fields = [[*samples.point_data, *samples.cell_data] for samples in parts]
    possible = dict.fromkeys(name for own in fields for name in own)
    if unknown := sorted(units.keys() - possible):
        raise ParameterError(
            f"results(units=...) name the field {unknown[0]!r}; the fields are "
            f"{', '.join(possible)}",
            asked="units",
            given=unknown[0],
            possible=possible,
        )
    for samples, own in zip(parts, fields, strict=True):
        samples.units |= {name: units[name] for name in own if name in units}


def _of_body(
    system: DiscreteSystem, body: Body, number: int, divisions: int, units: Mapping[str, str]
) -> Samples:
    """Return a body with all its fields, and numbers of its cells."""
    at: Place = "cell" if body._remembers else "lattice"
    names = default_fields(body.element, body._energy_function, remembered=True)
    fields = dict(zip(names, names, strict=True))
    layered = isinstance(body._energy_function, Layers)
    tensors = TENSORS if "von_mises" in names and not layered else {}
    samples = sample(system, body, fields={**fields, **tensors}, at=at, divisions=divisions)
    with together(system.comm):
        _principal(samples, tensors, units)
    on = system.binding(body).interpolation
    ids = on.ids[on.owned]
    parts = samples.n_cells // max(1, len(ids))
    mesh = body.region.mesh
    numbers = {
        "body_id": np.full(len(ids), number),
        "cell_id": ids,
        "region_id": _regions(body, ids),
    }
    samples.cell_data |= {name: np.repeat(values, parts) for name, values in numbers.items()}
    tensors_shown = [
        f"{k} {name}" for k, name in enumerate(mesh.regions) if mesh[name].dim == body.region.dim
    ]
    samples.texts["region_id"] = ", ".join(tensors_shown)
    return samples


def _principal(samples: Samples, tensors: Iterable[str], units: Mapping[str, str]) -> None:
    """Add principal values and directions of tensors, which are symmetric but for round-off."""
    for name in tensors:
        data = samples.point_data if name in samples.point_data else samples.cell_data
        tensor = np.asarray(data[name], dtype=float)
        data[name] = (tensor + tensor.transpose(0, 2, 1)) / 2
        samples.units |= {k: unit for k, unit in units.items() if k == name}
        samples.principal(name)


def _regions(body: Body, ids: Ints) -> Ints:
    """Return the number, in the mesh, of the smallest region that has a cell (collective)."""
    mesh, kind = body.region.mesh, body.element.cell
    counts = mesh.comm.allgather(len(mesh.cells[kind].connectivity))
    having = [(k, r) for k, r in enumerate(mesh.regions.values()) if kind in r.sizes]
    table = np.full(counts[mesh.comm.rank], -1, np.int64)
    having.sort(key=lambda pair: (pair[1].name != "all", -pair[1].size, -pair[0]))
    for k, region in having:  # the last one stays
        table[region.slice(kind)[0] - mesh.cells[kind].start] = k
    return lookup(mesh.comm, np.cumsum([0, *counts]), ids, table)
