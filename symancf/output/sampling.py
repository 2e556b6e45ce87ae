# SPDX-License-Identifier: BSD-3-Clause
"""Fields of a deformed body on a lattice of each cell, for files, pictures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..bodies.natural import RigidBody
from ..errors import SymancfError
from ..laws import stress_fields
from ..places.interpolation import Interpolation
from . import Samples

if TYPE_CHECKING:
    from ..bodies.body import Body
    from ..system import System


def coefficients(system: System, body: Body, vector: Array) -> Array:
    """Return the coefficient vectors (cells, n, 3) of a local vector on a body's owned cells."""
    on = system.of(body, Interpolation)
    cells = on.cells[on.owned]
    position = vector[on.offset(cells, "value")[..., None] + np.arange(3)]
    ns = len(body.element.slopes)
    if not ns:
        return np.asarray(position)
    start = on.offset(cells, "slope0")
    nodal = vector[start[..., None] + np.arange(3 * ns)].reshape(*cells.shape, ns, 3)
    slopes = np.einsum("nvkc,nvca->nvka", on.maps[on.owned], nodal)
    joined = np.concatenate([position[:, :, None, :], slopes], axis=2)
    return np.asarray(joined.reshape(len(cells), body.element.size, 3))


def jets_at(body: Body, e: Array, jet: str, xi: Array, z: Array) -> Array:
    """Return a point jet (cells, points, 3) of coefficients e (cells, n, 3) at xi (points,).

    `z` (cells, points) is the height above the mid-surface.
    """
    total = np.zeros((len(e), len(xi), 3))
    for table, factor in body.element.space.point_jets[jet].items():
        values = body.element.space.tabulate((table,), xi)[:, 0]
        term = np.einsum("pi,nia->npa", values, e)
        total += term if factor == 1 else term * z[..., None]  # the section coordinate
    return total


def _parameters(system: System, body: Body) -> dict[str, float | Array]:
    """Return present values of all parameters: numbers, or (owned cells, 1) arrays (collective)."""
    numbers: dict[str, float | Array] = {"t": system.time, **body.numbers(system.time)}
    if body.fields:
        given = body.cell_parameters(system, body.fields)[system.of(body, Interpolation).owned]
        numbers |= {name: given[:, k, None] for k, name in enumerate(body.fields)}
    return numbers


def _stresses(
    system: System,
    body: Body,
    u: Array,
    X: Array,
    xi: Array,
    z: Array,
    numbers: dict[str, float | Array],
) -> dict[str, Array]:
    """Return the stress fields (cells, points) of owned cells, each by its own laws."""
    total: dict[str, Array] = {}
    jets = list(body.element.space.point_jets)
    for laws, cells in body.variants(system):
        pick = cells[system.of(body, Interpolation).owned]
        if not pick.any():
            continue
        some = {k: v[pick] if isinstance(v, np.ndarray) else v for k, v in numbers.items()}
        fields = stress_fields(
            laws,
            {j: jets_at(body, u[pick], j, xi, z[pick]) for j in jets},
            {j: jets_at(body, X[pick], j, xi, z[pick]) for j in jets},
            z[pick],
            some,
        )
        for name, values in fields.items():
            total.setdefault(name, np.zeros(z.shape))[pick] = values
    return total


def _rigid(system: System, body: RigidBody, state: Array) -> Samples:
    """Return the shape of a rigid body on the rank that owns it."""
    local = body.local_vertices(system)
    if not (len(local) and local[0] < system.numbering.owned_vertices):
        none: Array = np.zeros((0, 3))
        return Samples(none, {"hexahedron": np.zeros((0, 8), dtype=int)}, {"displacement": none})
    u = state[body.offsets(system, local)[0][:, None] + np.arange(3)]
    x = body.shape.points
    moved = u[0] + x @ np.stack([(u[1] - u[0]) / body.length, u[2], u[3]])
    points = body.origin + x @ body.frame.T + moved
    return Samples(points, {"hexahedron": body.shape.cells}, {"displacement": moved})


def sample(
    system: System,
    body: Body | RigidBody,
    *,
    divisions: int = 4,
    solid: bool = False,
    stress: bool = True,
    state: Array | None = None,
) -> Samples:
    """Return the deformed body on this rank's cells, each cut into `divisions` per direction.

    Of a rigid body its shape, on the rank that owns it. Collective where a parameter varies from
    cell to cell.

    Parameters
    ----------
    solid : plates only: draw both faces z = -h/2 and h/2 as hexahedra instead of the
        mid-surface.
    stress : compute von Mises stress [Pa] (solids and full-gradient plates).

    Returns
    -------
    Samples : points in the deformed position, point data ``displacement`` (., 3),
        ``von_mises`` where the energy has a stress, ``thickness`` for full-gradient plates (the
        present distance of the faces). Neighbouring cells do not share points.
    """
    state = system.state if state is None else state
    if isinstance(body, RigidBody):
        return _rigid(system, body, state)
    element = body.element
    u, X = coefficients(system, body, state), coefficients(system, body, system.reference)
    xi, lattice = element.sample(divisions if element.dimension < 3 else 1)
    numbers = _parameters(system, body)
    thickness = np.asarray(numbers.get("thickness", 0.0))
    if not solid:
        layers = [0.0]
    elif not element.has_thickness:
        raise SymancfError(f"{element.name} has no faces: solid=True is for plates")
    else:
        layers = [-0.5, 0.5]
    m = len(xi)
    points, displacement, parts = [], [], []
    data: dict[str, list[Array]] = {}
    for layer in layers:
        depth = np.broadcast_to(layer * thickness, (len(u), m))
        d = jets_at(body, u, "value", xi, depth)
        points.append(jets_at(body, X, "value", xi, depth) + d)
        displacement.append(d)
        fields = _stresses(system, body, u, X, xi, depth, numbers) if stress and len(u) else {}
        if element.has_thickness:
            director = jets_at(body, X, "zeta", xi, depth) + jets_at(body, u, "zeta", xi, depth)
            fields = {**fields, "thickness": thickness * np.linalg.norm(director, axis=2)}
        for name, values in fields.items():
            data.setdefault(name, []).append(values)
    n = len(u)
    first = (np.arange(n) * m)[:, None, None]
    flat = (first + lattice[None]).reshape(-1, lattice.shape[1])
    for k in range(len(layers)):
        parts.append(flat + k * n * m)
    connectivity = parts[0] if not solid else np.concatenate(parts, axis=1)
    kind = "hexahedron" if solid else element.cell
    return Samples(
        points=np.concatenate([p.reshape(-1, 3) for p in points]),
        cells={kind: connectivity},
        point_data={
            "displacement": np.concatenate([d.reshape(-1, 3) for d in displacement]),
            **{
                name: np.concatenate([v.reshape(n * m, *v.shape[2:]) for v in values])
                for name, values in data.items()
            },
        },
    )
