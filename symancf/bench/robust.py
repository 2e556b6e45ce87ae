# SPDX-License-Identifier: BSD-3-Clause
"""Cost of the default solvers on bodies of many kinds, beside a direct one and GAMG.

Run as a script in a process of its own it solves one body with one solver and prints JSON.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import elements, energies
from ..arrays import Array, Ints
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.gas import Cavity, pressure
from ..catalogue.loads import gravity, traction
from ..catalogue.ties import tie
from ..contact.contact import Contact
from ..contact.shapes import Sphere
from ..mesh import Mesh
from ..runtime.progress import peak_memory
from ..solve.solver import is_symmetric
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Field
from .contact import APART, block
from .contact import bodies as touching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SOLVERS = "default", "GAMG", "direct"

_Model = tuple[System, int]  # and its number of steps


def _lame(E: float = 1.0, nu: float = 0.3) -> dict[str, Any]:
    return {"mu": E / 2.0 / (1.0 + nu), "lam": E * nu / (1.0 + nu) / (1.0 - 2.0 * nu)}


def _pulled(mesh: Mesh, element: Any, load: float, **material: Any) -> _Model:
    """Return a body that is held at x0 and pulled aside at x1."""
    body = Body(mesh["body"], element, energies.neo_hooke(), **_lame() | material)
    end = traction(body["x1"], (0.0, 0.3 * load, load))
    return System(body, terms=[fix(body["x0"]), end]), 1


def _hash(X: Array) -> Array:
    """Return two numbers in [-1, 1] that follow from each place (n, 3)."""
    mixed = 43758.5453 * np.sin(X @ np.array([[12.9, 39.3], [78.2, 11.1], [37.7, 83.1]]))
    return np.asarray(np.mod(mixed, 2.0) - 1.0)


def _cube(n: int, element: Any = elements.hex8_plain, **values: Any) -> Mesh:
    return Mesh.box((1.0, 1.0, 1.0), (n, n, n), cell=element.cell, **values)


def beam() -> _Model:
    """50:1:1, with the enhanced hexahedron."""
    return _pulled(Mesh.box((50.0, 1.0, 1.0), (300, 6, 6)), elements.hex8, 5e-6)


def flat() -> _Model:
    """10:10:0.25 of flat cells."""
    return _pulled(Mesh.box((10.0, 10.0, 0.25), (64, 64, 4)), elements.hex8, 8e-6)


def distorted() -> _Model:
    """A cube whose nodes are moved by up to 20 % of their spacing."""

    def warp(X: Array) -> Array:
        x, y = _hash(X).T
        return np.asarray(X + 0.2 / 24.0 * np.stack([x, y, np.cos(np.pi * x)], axis=1))

    return _pulled(_cube(24, warp=warp), elements.hex8_plain, 0.02)


def graded() -> _Model:
    """A cube with cells of 0.1 to 1.9 times their mean size along each axis."""
    return _pulled(_cube(24, warp=lambda X: 0.1 * X + 0.9 * X**2), elements.hex8_plain, 0.02)


def steep() -> _Model:
    """A cube with cells a thousand times as long at one end as at the other, along each axis."""
    return _pulled(
        _cube(24, warp=lambda X: (1e3**X - 1.0) / (1e3 - 1.0)), elements.hex8_plain, 0.02
    )


def tetrahedra() -> _Model:
    """A cube of quadratic tetrahedra between nodes without order."""
    from scipy.spatial import Delaunay

    n, random = 10, np.random.default_rng(0)
    corner = np.stack(np.meshgrid(*3 * [np.arange(n + 1.0)], indexing="ij"), axis=-1).reshape(-1, 3)
    X = np.concatenate([corner, corner[(corner < n).all(axis=1)] + 0.5])
    inside = ((X > 0.0) & (n > X)).all(axis=1)
    X[inside] += random.uniform(-0.12, 0.12, (int(inside.sum()), 3))
    cells = Delaunay(X).simplices
    volume = np.linalg.det(X[cells[:, 1:]] - X[cells[:, :1]])
    cells = cells[np.abs(volume) > 1e-6]
    cells[volume[np.abs(volume) > 1e-6] < 0.0, :2] = cells[
        volume[np.abs(volume) > 1e-6] < 0.0, 1::-1
    ]
    ends = cells[:, [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]]]
    edges, middle = np.unique(np.sort(ends.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    cells = np.hstack([cells, len(X) + middle.reshape(-1, 6)])
    X = np.concatenate([X, X[edges].mean(axis=1)]) / n
    return _pulled(_mesh(X, cells, "tetra10"), elements.tet10, 0.02)


def _mesh(X: Array, cells: Ints, kind: str) -> Mesh:
    """Return a mesh of cells with its ends along x."""
    mesh = Mesh.from_arrays(X, {kind: cells}, {"body": (kind, np.arange(len(cells)))}, check=False)
    low, high = X[:, 0].min(), X[:, 0].max()
    near = 1e-9 * (high - low)
    mesh.select("x0", lambda Y: Y[:, 0] < low + near)
    mesh.select("x1", lambda Y: Y[:, 0] > high - near)
    return mesh


def hex20() -> _Model:
    """A cube of quadratic hexahedra with 20 nodes."""
    return _pulled(_cube(14, elements.hex20), elements.hex20, 0.02)


def hex27() -> _Model:
    """A cube of quadratic hexahedra with 27 nodes."""
    return _pulled(_cube(12, elements.hex27), elements.hex27, 0.02)


def _lattice(divisions: Sequence[int]) -> tuple[Ints, Ints]:
    """Return the whole numbers (n, 3) of nodes along the axes, and hexahedra."""
    nodes = np.stack(np.meshgrid(*(np.arange(n + 1) for n in divisions), indexing="ij"), axis=-1)
    number = np.arange(nodes[..., 0].size).reshape(nodes.shape[:3])
    ends = [[slice(a, n + a) for a in (0, 1)] for n in divisions]
    corners = (0, 0), (1, 0), (1, 1), (0, 1)
    cells = [number[ends[0][a], ends[1][b], ends[2][c]] for c in (0, 1) for a, b in corners]
    return nodes.reshape(-1, 3), np.stack(cells, axis=-1).reshape(-1, 8)


def _parted(nodes: Ints, cells: Ints, sides: Ints) -> tuple[Ints, Ints]:
    """Return nodes and cells where nodes (cells, 8) of different sides are different ones."""
    coded = cells * (int(sides.max()) + 1) + sides
    _, first, new = np.unique(coded, return_index=True, return_inverse=True)
    return nodes[cells.ravel()[first]], new.reshape(cells.shape)


def slit() -> _Model:
    """A block 2:1:1 with a crack of no width from one end to a quarter."""
    n = 20
    nodes, cells = _lattice((2 * n, n, n))
    upper = nodes[cells][:, :, 2].min(axis=1) >= n // 2
    crack = (nodes[cells][:, :, 2] == n // 2) & (nodes[cells][:, :, 0] > n // 2)
    nodes, cells = _parted(nodes, cells, (crack & upper[:, None]).astype(np.int64))
    return _pulled(_mesh(nodes / n, cells, "hexahedron"), elements.hex8_plain, 0.005)


def folded() -> _Model:
    """A strip folded to a U, legs 1/25 of their thickness apart."""
    n = 12
    nodes, cells = _lattice((6 * n, n, 2 * n + 1))
    x, _, z = nodes[cells].mean(axis=1).T
    nodes, cells = _parted(nodes, cells := cells[(x < n) | (abs(z - n - 0.5) > 0.25)], 0 * cells)
    X = nodes / float(n)
    X[nodes[:, 2] > n, 2] += 0.04 - 1.0 / n
    return _pulled(_mesh(X, cells, "hexahedron"), elements.hex8_plain, 1e-4)


def coil() -> _Model:
    """Three turns of a spring, a tenth of the wire's thickness apart."""
    radius, turns = 4.0, 3
    length = 2.0 * np.pi * radius * turns

    def warp(X: Array) -> Array:
        angle, r = X[:, 0] / radius, radius + 0.5 - X[:, 1]
        rise = 1.1 * angle / 2.0 / np.pi
        return np.stack([r * np.cos(angle), r * np.sin(angle), X[:, 2] + rise], axis=1)

    return _pulled(Mesh.box((length, 1.0, 1.0), (300, 4, 4), warp=warp), elements.hex8, 2e-5)


def comb() -> _Model:
    """Teeth of 4 x 4 cells, five times as long as thick, side by side on a base."""
    teeth, n = 5, 4
    nodes, cells = _lattice((6 * n, teeth * n, teeth * n))
    row, column = nodes[cells].min(axis=1)[:, 1:].T // n
    free = nodes[cells][:, :, 0] > n
    nodes, cells = _parted(nodes, cells, np.where(free, (row * teeth + column)[:, None] + 1, 0))
    return _pulled(_mesh(nodes / n, cells, "hexahedron"), elements.hex8_plain, 2e-4)


def inclusion() -> _Model:
    """A cube with a ball of a thousandth of the stiffness, and one of a thousand times it."""

    def times(value: float) -> Field:
        def at(X: Array) -> Array:
            balls = [np.linalg.norm(X - middle, axis=1) < 0.2 for middle in (0.3, 0.7)]
            return value * np.where(balls[0], 1e-3, np.where(balls[1], 1e3, 1.0))

        return Field(at)

    material = {name: times(value) for name, value in _lame().items()}
    return _pulled(_cube(24), elements.hex8_plain, 0.02, **material)


def apart() -> _Model:
    """Two bodies that are not joined, one a fiftieth of the other, a hundredth of a cell away."""
    bodies, terms = [], []
    for name, size, at in (("large", 1.0, 0.0), ("small", 0.02, 1.0005)):
        move = partial(np.add, np.array([at, 0.0, 0.0]))
        mesh = Mesh.box((size,) * 3, (20,) * 3, name=name, warp=move)
        body = Body(mesh["body"], elements.hex8_plain, energies.neo_hooke(), name=name, **_lame())
        bodies.append(body)
        terms += [fix(body["z0"]), traction(body["z1"], (0.02, 0.0, 0.01))]
    return System(*bodies, terms=terms), 1


def rubber() -> _Model:
    """A cube that is hardly compressible, k = 1000 C10."""
    mesh = _cube(20)
    material: dict[str, Any] = {"C10": 0.2712, "C20": 0.03053, "C30": -0.0004013, "k": 271.2}
    body = Body(mesh["body"], elements.hex8_plain, energies.yeoh(), volumetric="full", **material)
    pulled = fix(body["x1"], displacement=lambda t: (0.05 * t, 0.02 * t, 0.0))
    return System(body, terms=[fix(body["x0"]), pulled]), 1


def follower() -> _Model:
    """A cube under a pressure that follows it: the tangent is not symmetric."""
    body = Body(_cube(24)["body"], elements.hex8_plain, energies.neo_hooke(), **_lame())
    load = pressure(body["z1"], 0.1)
    return System(body, terms=[fix(body["x0"]), load]), 1


def friction() -> _Model:
    """A block that is pressed onto another and drawn along, with friction, in two steps."""
    return _pressed(2000, 0.3, (0.04, 0.0, -APART - 0.16), 2)


def closed() -> _Model:
    """A block that is pressed onto another, without friction."""
    return _pressed(800, 0.0, (0.0, 0.0, -APART - 0.16), 1)


def _pressed(facets: int, mu: float, way: tuple[float, float, float], steps: int) -> _Model:
    blocks, contact = touching(facets, rigid=False, mu=mu, layers=8)
    moved = fix(blocks[1]["z1"], displacement=lambda t: tuple(t * np.array(way)))
    return System(*blocks, terms=[contact, fix(blocks[0]["z0"]), moved]), steps


def indented() -> _Model:
    """A block that is pressed onto a rigid ball and drawn along, with friction, in two steps."""
    body = block(24, 12, 0.0, "block")
    ball = Sphere(20.0, (12.0, 12.0, -20.0))
    moved = fix(body["z1"], displacement=lambda t: (0.2 * t, 0.0, -t))
    return System(body, terms=[Contact(body["z0"], ball, mu=0.3), moved]), 2


def _chambers(load: float, mu: float | None = None) -> _Model:
    """Return a finger of three chambers side by side, a fifth of a cell apart, that are inflated.

    `mu` : friction of their walls on each other; None: these do not know of each other.
    """
    long, wide, base, wall, apart = 8, 12, 2, 2, 0.2
    nodes, cells = _lattice((3 * long + 2, wide, base + wide))
    x, y, z = nodes[cells].mean(axis=1).T
    along, above = x % (long + 1), z > base
    hollow = above & (along > wall) & (along < long - wall) & (y > wall) & (y < wide - wall)
    hollow &= z < base + wide - wall
    nodes, cells = _parted(nodes, cells := cells[~(hollow | (above & (along > long)))], 0 * cells)
    X = nodes - (1.0 - apart) * np.outer(nodes[:, 0] // (long + 1), (1.0, 0.0, 0.0))
    mesh = _mesh(X, cells, "hexahedron")
    starts = (long + apart) * np.arange(3)
    for k, first in enumerate(starts):
        low = np.array([first + wall, wall, base]) - 0.01
        high = np.array([first + long - wall, wide - wall, base + wide - wall]) + 0.01
        inside = partial(_within, low, high)
        mesh.select(f"chamber{k}", inside)
        for name, at in (("left", first), ("right", first + long)):
            low, high = np.array([at, 0.0, base]) - 0.01, np.array([at, wide, wide + base]) + 0.01
            mesh.select(f"{name}{k}", partial(_within, low, high))
    body = Body(mesh["body"], elements.hex8, energies.neo_hooke(), **_lame(1.0, 0.45))
    terms: list[Any] = [fix(body["x0"])]
    terms += [Cavity(body[f"chamber{k}"], pressure=load) for k in range(3)]
    if mu is not None:
        terms += [Contact(body[f"right{k}"], body[f"left{k + 1}"], mu=mu) for k in range(2)]
    return System(body, terms=terms), 1


def _within(low: Array, high: Array, X: Array) -> Array:
    """Tell which places (n, 3) lie in a box."""
    return np.asarray(((low < X) & (high > X)).all(axis=1))


def chambers() -> _Model:
    """A finger of three chambers that are inflated."""
    return _chambers(0.005)


def open_contact() -> _Model:
    """The same with contact between their walls, which stay apart."""
    return _chambers(0.005, 0.3)


def walls() -> _Model:
    """The same with a pressure at which the walls press against each other, with friction."""
    return _chambers(0.02, 0.3)


def _plate(element: Any, n: int) -> _Model:
    mesh = Mesh.box((1.0, 1.0), (n, n))
    thin = element is elements.ancf_thin_plate
    values: dict[str, Any] = {"E": 1e6, "nu": 0.3} if thin else _lame(1e6)
    energy: Any = energies.kirchhoff() if thin else energies.neo_hooke()
    body = Body(mesh["body"], element, energy, thickness=0.01, rho=1000.0, **values)
    return System(body, terms=[fix(body["x0"], "all"), gravity((0.0, 0.0, -1e-3))]), 1


def plate() -> _Model:
    """A square of plates with slopes across."""
    return _plate(elements.ancf_plate, 64)


def large_plate() -> _Model:
    """The same with 300,000 unknowns."""
    return _plate(elements.ancf_plate, 158)


def thin_plate() -> _Model:
    """A square of thin plates."""
    return _plate(elements.ancf_thin_plate, 74)


def large_thin_plate() -> _Model:
    """The same with 300,000 unknowns."""
    return _plate(elements.ancf_thin_plate, 182)


def net() -> _Model:
    """Two sets of cables across each other, tied where they cross: multipliers."""
    lines, between = 40, 4
    bodies = []
    for name, axes in (("along", (0, 1)), ("across", (1, 0))):
        points = lines * between + 1
        X = np.zeros((lines, points, 3))
        X[..., axes[0]] = np.linspace(0.0, 1.0, points)
        X[..., axes[1]] = (np.arange(lines)[:, None] + 0.5) / lines
        number = np.arange(lines * points).reshape(lines, points)
        cells = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
        crossing = number[:, between // 2 :: between].ravel()
        regions = {
            "body": ("line", np.arange(len(cells))),
            "ends": ("vertex", number[:, [0, -1]].ravel()),
            "crossing": ("vertex", crossing),
        }
        mesh = Mesh.from_arrays(X.reshape(-1, 3), {"line": cells}, regions, name=name)
        rope: dict[str, Any] = {"EA": 1e3, "EI": 1e-3, "rho": 1.0, "A": 1.0}
        bodies.append(Body(mesh["body"], elements.ancf_cable, energies.cable(), name=name, **rope))
    terms = [
        *(fix(body["ends"]) for body in bodies),
        tie(bodies[0]["crossing"], bodies[1], weld=False),
    ]
    return System(*bodies, terms=[*terms, gravity((0.0, 0.0, -1.0))]), 1


CASES: dict[str, Callable[[], _Model]] = {
    make.__name__: make
    for make in (
        beam, flat, distorted, graded, steep, tetrahedra, hex20, hex27, slit, folded, coil, comb,
        inclusion, apart, rubber, follower, friction, closed, indented, chambers, open_contact,
        walls, plate, thin_plate, net, large_plate, large_thin_plate,
    )
}  # fmt: skip


def solve(case: str, solver: str) -> dict[str, Any]:
    """Return what a body takes: iterations, CPU time, and memory beyond that of the system.

    Parameters
    ----------
    case : of `CASES`.
    solver : of `SOLVERS`: what is chosen by itself, PETSc's aggregation, or MUMPS.
    """
    system, steps = CASES[case]()
    symmetric = is_symmetric(system._discrete)
    options: dict[str, dict[str, Any]] = {
        "default": {},
        "GAMG": {"pc_type": "gamg", "ksp_type": "cg" if symmetric else "gmres"},
        "direct": {
            "ksp_type": "preonly",
            "pc_type": "cholesky" if symmetric else "lu",
            "pc_factor_mat_solver_type": "mumps",
        },
    }
    problem = StaticProblem(system, options=options[solver])
    base, start = peak_memory(), time.process_time()
    history = problem.solve(step=1.0 / steps)
    ksp = problem.snes.getKSP()
    pc = ksp.getPC()
    chosen = pc.getType()
    if ksp.getType() == "preonly":
        chosen = pc.getFactorSolverType()
    owned = system._discrete.numbering.vertex_of < system._discrete.numbering.owned_vertices
    return {
        "case": case,
        "solver": solver,
        "by": chosen,
        "unknowns": int(system._discrete.numbering.size),
        "newton": sum(step.iterations for step in history.steps),
        "linear": sum(step.linear_iterations for step in history.steps),
        "cpu_s": time.process_time() - start,
        "assembly_s": history.seconds["assembly"],
        "memory_MB": peak_memory() - base,
        "norm_u": float(
            np.sqrt(system._discrete.sum(np.array([np.square(system.state[owned]).sum()])))[0]
        ),
    }


if __name__ == "__main__":
    print(json.dumps(solve(*sys.argv[1:])))
