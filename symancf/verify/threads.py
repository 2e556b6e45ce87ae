# SPDX-License-Identifier: BSD-3-Clause
"""Threads in solids: a braided tube, dense and stiff threads, units and frames, convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from symancf_codegen.legendre import gauss_legendre

from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.gas import pressure
from ..catalogue.lengths import length
from ..catalogue.loads import traction
from ..catalogue.threads import Thread
from ..elements import hex8, hex20
from ..energies import saint_venant_kirchhoff
from ..mesh import Mesh
from ..places.paths import Helix, braid
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..terms.work import Potential
from .case import TIGHT, Number, case, order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..arrays import Array
    from ..terms.quantities import E, S, V

INNER, OUTER, LONG = 0.00975, 0.01025, 0.03  # m
RADIUS, WALL = (INNER + OUTER) / 2.0, OUTER - INNER
MODULUS, NU, GAS = 1e6, 0.45, 1e3  # Pa, -, Pa
CELLS = {"hex8": ("hexahedron", hex8), "hex20": ("hexahedron20", hex20)}


def _centred(r_a: V, X_a: V, *, k: S) -> E:
    return k / 2 * ((r_a[0] - X_a[0]) ** 2 + (r_a[1] - X_a[1]) ** 2)


def braided(
    angle: float,
    *,
    n: int = 24,
    EA: float | None = 5e3,
    element: str = "hex20",
    per: Any = "point",
    cells: tuple[int, int] = (6, 10),
) -> tuple[float, Thread | None]:
    """Return the axial strain of a closed tube under gas with n threads of each hand.

    `angle` [degrees]; without EA they keep their length in each cell. Measured over the middle
    three fifths.
    """
    kind, chosen = CELLS[element]
    mesh = Mesh.tube(INNER, OUTER, LONG, (1, *cells), cell=kind)
    law = saint_venant_kirchhoff()
    tube = Body(mesh["body"], chosen, law, name="tube", E=MODULUS, nu=NU)
    # cells with straight sides have the middle of the wall nearer to the axis
    radius = RADIUS * (np.cos(np.pi / 4 / cells[0]) if element == "hex8" else 1.0)
    paths = braid(angle, n, radius=radius, length=LONG, start=0.7)
    thread = None if EA is None else Thread(paths, tube, EA=EA, per=per)
    lid = GAS * INNER**2 / (OUTER**2 - INNER**2)
    terms = [
        fix(tube["z0"], ["z"]),
        Potential(_centred, tube["z0"], k=1e-2),
        traction(tube["z1"], (0.0, 0.0, lambda t: lid * t)),
        pressure(tube["inner"], lambda t: GAS * t),
        thread if thread is not None else length(tube.along(paths)),
    ]
    system = System(tube, terms=terms)
    StaticProblem(system).solve(to=1.0)
    z, u = tube["body"].X[:, 2], system.displacement(tube["body"])[:, 2]
    low, high = (u[np.abs(z - part * LONG) < 1e-9].mean() for part in (0.2, 0.8))
    return float(high - low) / (0.6 * LONG), thread


def membrane(angle: float) -> float:
    """Return the axial strain of the braided membrane whose threads keep their length.

    With c = cot^2 of the angle the strains are e_z and -c e_z; the threads carry what is left of
    p R/2 along and p R around in the ratio c of their directions.
    """
    c = 1.0 / np.tan(np.radians(angle)) ** 2
    stiff = 2.0 * MODULUS * WALL * (1.0 + c * c - 2.0 * NU * c)
    return float(GAS * RADIUS * (1.0 - NU**2) * (1.0 - 2.0 * c) / stiff)


@case("T30_braided_tube", "closed form: membrane with threads of kept length", 1)
def tube() -> Iterator[Number]:
    """A closed tube with a braid under gas: longer or shorter by the angle, or neither."""
    low, high = (braided(angle)[0] for angle in (54.0, 56.0))
    neutral = 54.0 + 2.0 * low / (low - high)
    yield Number("neutral angle [degrees]", neutral, np.degrees(np.arctan(np.sqrt(2.0))), 0.5, 1.0)
    for angle in (45.0, 60.0, 70.0):
        yield Number(f"strain at {angle:g} degrees", braided(angle)[0], membrane(angle), 0.05)
    kept = braided(60.0, EA=None)[0]
    yield Number("strain at 60 degrees, lengths kept", kept, membrane(60.0), 0.05)


@case("T31_braid_density", "no change with the stiffness of threads and with their number", 1)
def density() -> Iterator[Number]:
    """Stiff threads, up to ten crossings of each cell, do not lock the solid."""
    loose = braided(60.0)[0]
    for n in (24, 48):
        stiff, thread = braided(60.0, n=n, EA=100.0 * 5e3 * 24 / n)
        assert thread is not None
        per_cell = (int(thread.cut.pieces.crossing.max()) + 1) / 240
        yield Number(f"strain, hex20, {per_cell:.0f} crossings", stiff, loose, 5e-3)
    kept = braided(60.0, element="hex8", per="cell", n=12)[0]
    stiff = braided(60.0, element="hex8", per="cell", n=12, EA=1e6)[0]
    yield Number("strain, hex8, 2 crossings, EA times 200", stiff, kept, 5e-3)


def bar(
    element: str = "hex8",
    cells: tuple[int, int, int] = (6, 3, 3),
    unit: float = 1.0,
    turn: Array | None = None,
    *,
    EA: float | None = 3e3,
    per: Any = "point",
    paths: Sequence[Any] = (),
) -> tuple[Array, Array]:
    """Return places of corners at the end of a bent bar with a thread, and tensions [m, N].

    `unit` : lengths are in 1/unit of a metre; `turn` : (3, 3), of everything. The thread is a helix
    unless `paths` are given, and keeps its length in each cell without EA.
    """
    Q = np.eye(3) if turn is None else turn
    kind, chosen = CELLS[element]
    mesh = Mesh.box((2.0, 1.0, 1.0), cells, cell=kind, warp=lambda X: unit * X @ Q.T)
    given: dict[str, Any] = {"E": 1e4 / unit**2, "nu": 0.3}
    body = Body(mesh["body"], chosen, saint_venant_kirchhoff(), name="bar", **given)
    axes = Q @ np.eye(3)[:, [1, 2, 0]]
    centre = unit * Q @ np.array([0.0, 0.5, 0.5])
    helix = Helix(0.3 * unit, pitch=1.0 * unit, length=2.0 * unit, centre=centre, frame=axes)
    path = list(paths) or [helix]
    force = Q @ np.array((30.0, 15.0, 100.0)) / unit**2
    rest = [fix(body["x0"]), traction(body["x1"], tuple(force.tolist()))]
    term = length(body.along(path)) if EA is None else Thread(path, body, EA=EA, per=per)
    system = System(body, terms=[*rest, term])
    StaticProblem(system, options=TIGHT).solve()
    corners = unit * np.array([(2.0, y, z) for y in (0.0, 1.0) for z in (0.0, 1.0)]) @ Q.T
    places = system.position(body.at(corners)) @ Q / unit
    if isinstance(term, Thread):
        return places, term.tensions(system)
    return places, np.asarray(term.multipliers(system)[:, 0])


def rotation(axis: tuple[float, float, float], angle: float) -> Array:
    """Return the matrix of a rotation."""
    n = np.array(axis) / np.linalg.norm(axis)
    K = np.cross(np.eye(3), n)
    return np.asarray(np.eye(3) - np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K)


@case("T33_thread_units_and_frames", "identity")
def invariance() -> Iterator[Number]:
    """A bent bar with a helix in m and in mm, and turned in space."""
    places, tensions = bar()
    largest = float(np.abs(tensions).max())
    others: dict[str, Callable[[], tuple[Array, Array]]] = {
        "mm": lambda: bar(unit=1e3),
        "turned": lambda: bar(turn=rotation((1.0, 2.0, -1.0), 0.9)),
    }
    for name, other in others.items():
        there, those = other()
        yield Number(f"places [m]: {name}", float(np.abs(there - places).max()), 0.0, 1e-9, 1.0)
        off = float(np.abs(those - tensions).max())
        yield Number(f"tensions [N]: {name}", off, 0.0, 1e-9, largest)


@case("T32_thread_stiff_limit", "limit EA to infinity of the elastic thread")
def limit() -> Iterator[Number]:
    """Straight threads that keep their length in each cell, and stiffer and stiffer ones.

    In parallel cells of first order the strain along an edge's direction is one for each cell.
    """
    paths = [np.array([(0.0, y, z), (2.0, y, z)]) for y, z in ((0.3, 0.4), (0.8, 0.1))]
    (kept, forces), (soft, _) = bar(EA=None, paths=paths), bar(EA=1e-6, paths=paths)
    effect = float(np.abs(kept - soft).max())
    stiff = [bar(EA=EA, paths=paths, per="cell") for EA in (1e6, 1e7)]
    off = [float(np.abs(places - kept).max()) for places, _ in stiff]
    yield Number("places at EA = 1e7 N against kept lengths [m]", off[1], 0.0, 1e-3, effect)
    yield Number("of these, EA = 1e6 over 1e7", off[0] / off[1], 10.0, 0.02)
    far, largest = stiff[1][1] - forces, float(np.abs(forces).max())
    yield Number("tensions there [N]", float(np.abs(far).max()), 0.0, 1e-3, largest)


def bent(X: Array) -> Array:
    """Return smooth displacements."""
    x, y, z = X.T
    moved = np.sin(2 * x + y), np.cos(3 * y - z), np.sin(x + 2 * z)
    return np.asarray(0.1 * np.stack(moved, axis=1))


def line_energy(path: Helix) -> float:
    """Return the energy of a thread of EA = 1 on these displacements, by fine quadrature."""
    x, w = gauss_legendre(200)
    s, w = (x + 1.0) / 2.0, w / 2.0
    X, t = path(s), path.tangent(s)
    speed = np.linalg.norm(t, axis=1)
    moved = (bent(X + 1e-5 * t) - bent(X - 1e-5 * t)) / 2e-5
    stretch = np.linalg.norm(t + moved, axis=1) / speed
    return float((w * speed * (stretch - 1.0) ** 2).sum() / 2.0)


@case("T34_thread_order", "smooth displacements; interpolation of order p + 1")
def convergence() -> Iterator[Number]:
    """The energy of a helix on smooth displacements of nodes converges as they do."""
    path = Helix(0.3, pitch=0.4, length=0.8, centre=(0.5, 0.5, 0.1))
    exact = line_energy(path)
    for element, expected in (("hex8", 2.0), ("hex20", 4.0)):
        kind, chosen = CELLS[element]
        errors = []
        for n in (6, 12, 24):
            mesh = Mesh.box((1.0, 1.0, 1.0), (n, n, n), cell=kind)
            law = saint_venant_kirchhoff()
            body = Body(mesh["body"], chosen, law, name="block", E=1.0, nu=0.0)
            thread = Thread(path, body, EA=1.0)
            system = System(body, terms=[fix(body["z0"]), thread])
            discrete = system._discrete
            on = discrete.binding(body).interpolation
            nodes = np.unique(on.cells)
            at = on.offset(nodes, "value")[:, None] + np.arange(3)
            discrete.state[at] = bent(discrete.points[nodes])
            errors.append(abs(float(thread.values(system).sum()) - exact) / exact)
        yield Number(f"relative error of the energy, {element}", errors[-1], 0.0, 5e-3, 1.0)
        yield Number(f"order, {element}", order(errors), expected, 0.6, 1.0)
