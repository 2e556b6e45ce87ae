# SPDX-License-Identifier: BSD-3-Clause
"""Patch tests: states that elements of any shape must find exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from mpi4py import MPI

from .. import energies
from ..arrays import Array
from ..bodies.body import Body
from ..catalogue import loads
from ..catalogue.boundary import fix
from ..elements import (
    Element,
    ancf_cable,
    ancf_plate,
    ancf_thin_plate,
    hex8_plain,
    hex20,
    hex27,
    tet4,
    tet10,
    wedge6,
    wedge15,
    wedge18,
)
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case, order
from .meshes import box, distorted, zigzag
from .states import moved, positions, tangent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# H = F - I of the affine states: in space, and in the plane
SPACE = np.array([[0.1, 0.2, -0.05], [0.03, -0.05, 0.1], [0.0, -0.08, 0.02]])
PLANE = np.array([[0.1, 0.2, 0.0], [0.03, -0.05, 0.0], [0.0, 0.0, 0.0]])
RUBBER: dict[str, Any] = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 100.0}
ELASTIC: dict[str, Any] = {"E": 1000.0, "nu": 0.3}
THICKNESS = 0.1


def prescribed_boundary(body: Body, sides: str, dofs: list[str] | str, H: Array) -> list[Any]:
    """Prescribe u = t H X on the sides of a box."""
    gradient = (lambda t: t * H) if body.element.slopes else None
    return [
        fix(body[f"{axis}{end}"], dofs, lambda X, t: t * X @ H.T, gradient)
        for axis in sides
        for end in (0, 1)
    ]


@case("E04_constant_strain_patch", "exact: affine displacements, constant curvature")
def patch() -> Iterator[Number]:
    """Affine states on cells of any shape, and constant curvature on parallelograms."""
    yield from _solid()
    yield from _membranes()
    yield from _cable()
    yield from _bending()


@case(
    "E06_hexahedron_in_bending", "closed form of the parasitic shear of trilinear cells; Timoshenko"
)
def bending_of_hexahedra() -> Iterator[Number]:
    """What solids give of a slender cantilever's deflection: `hex8_plain` locks, others do not.

    A cell of length a and height b that is bent by a curvature stores, beside E b^3/12 of its own
    height, the shear G b a^2/12 of its sides, which stay straight. With nu = 0 and two layers of
    b = a/2 that is twice as much again: I = 2 b (b/2)^2 + 2 (b^3/12) (1 + 2), 3/2 of (2 b)^3/12.
    Elements of second order follow Timoshenko's beam, 1 + 48/32000 of the slender one.
    """
    length, force = 20.0, 1e-3
    beam = force * length**3 / 3.0 / (1e6 / 12.0)
    for element, cells, share, error in (
        (hex8_plain, (20, 2, 2), 2.0 / 3.0, 5e-3),
        (hex20, (10, 1, 1), 1.0015, 1.5e-3),
        (tet10, (20, 1, 1), 1.0015, 1e-3),
        (hex27, (10, 1, 1), 1.0015, 1.5e-3),
        (wedge15, (10, 1, 1), 1.0015, 1.5e-3),
    ):
        mesh = Mesh.box((length, 1.0, 1.0), cells, cell=element.cell)
        energy = energies.saint_venant_kirchhoff()
        body = Body(mesh["body"], element, energy, E=1e6, nu=0.0)
        terms: list[Any] = [fix(body["x0"], "all"), loads.force(body["x1"], (0.0, 0.0, force))]
        system = System(body, terms=terms)
        StaticProblem(system, options=TIGHT).solve()
        tip = float(system.displacement(body["x1"])[:, 2].mean())
        count = "x".join(map(str, cells))
        quantity = f"share of a slender cantilever's deflection: {count} {element.name}, nu = 0"
        yield Number(quantity, tip / beam, share, error)


def _solid() -> Iterator[Number]:
    for element in (hex8_plain, tet4, wedge6, hex20, hex27, tet10, wedge15, wedge18):
        cells = (3, 3, 3) if element.degree == 1 else (2, 2, 2)
        mesh = box((1.0, 1.0, 1.0), cells, 0.15, cell=element.cell)
        body = Body(mesh["body"], element, energies.yeoh(), **RUBBER)
        system = System(body, terms=prescribed_boundary(body, "xyz", "position", SPACE))
        StaticProblem(system, options=TIGHT).solve()
        at, X = positions(system)
        wrong = np.abs(system.state[at[:, None] + np.arange(3)] - X @ SPACE.T).max()
        yield Number(f"displacement: {element.name}, distorted", float(wrong), 0.0, 1e-10, 1.0)


def quadratic(X: Array) -> Array:
    """Return the gradient of a harmonic polynomial of third order: no force acts inside."""
    x, y, z = X.T
    u = [3 * x**2 - 3 * y**2 + y * z, z * x - 6 * x * y + y**2 - z**2, x * y - 2 * y * z]
    return np.asarray(0.01 * np.stack(u, axis=1))


def linear(H: sp.Matrix, *, mu: sp.Expr, lam: sp.Expr) -> sp.Expr:
    """Return the energy of linear elasticity."""
    e = (H + H.T) / 2
    return mu * sp.Add(*(x**2 for x in e)) + lam / 2 * e.trace() ** 2


def straight_box(element: Element, cells: int, amount: float) -> Mesh:
    """Return a cube with nodes between corners in the middle of these, corners distorted.

    Where `amount` is 0 it is a parallelepiped.
    """
    size = (1.0, 1.0, 1.0)
    cells_of_box = box(size, (cells,) * 3, cell=element.cell).cells[element.cell].connectivity
    cell = element.topology
    between, _ = cell.straight.evaluate(cell.unit)

    def move(X: Array) -> Array:
        if not amount:
            return np.asarray(X @ np.array([[1.0, 0.2, 0.1], [0.3, 0.9, 0.0], [0.0, 0.2, 1.1]]))
        X = distorted(size, amount)(X)
        X[cells_of_box] = np.einsum("nv,kva->kna", between, X[cells_of_box[:, : cell.corners]])
        return X

    return Mesh.box(size, (cells,) * 3, cell=element.cell, warp=move, comm=MPI.COMM_SELF)


@case("E04_quadratic_patch", "exact: quadratic displacements of linear elasticity")
def quadratic_patch() -> Iterator[Number]:
    """Quadratic states on straight cells; what `hex20` and `wedge15` lose on distorted ones."""
    for element, amount, expected in (
        *(
            (hex20, 0.0, 0.0),
            (hex27, 0.0, 0.0),
            (tet10, 0.0, 0.0),
            (wedge15, 0.0, 0.0),
            (wedge18, 0.0, 0.0),
        ),
        *((hex27, 0.1, 0.0), (tet10, 0.1, 0.0), (hex20, 0.1, 1e-3), (wedge15, 0.1, 1e-3)),
        (wedge18, 0.1, 0.0),
    ):
        body = Body(straight_box(element, 2, amount)["body"], element, linear, mu=1.0, lam=1.5)
        ends = [fix(body[f"{a}{e}"], "all", lambda X, t: quadratic(X)) for a in "xyz" for e in "01"]
        system = System(body, terms=ends)
        StaticProblem(system, options=TIGHT).solve()
        at, X = positions(system)
        exact = quadratic(X)
        wrong = np.abs(system.state[at[:, None] + np.arange(3)] - exact).max()
        shape = "distorted" if amount else "parallelepipeds"
        of = f"displacement: {element.name}, {shape}{' (known limit)' if expected else ''}"
        yield Number(of, float(wrong / np.abs(exact).max()), 0.0, expected or 1e-11, 1.0)


def _membranes() -> Iterator[Number]:
    for element, energy, parameters in (
        (ancf_plate, energies.yeoh(), RUBBER),
        (ancf_thin_plate, energies.kirchhoff(), ELASTIC),
    ):
        mesh = box((1.0, 1.0), (3, 3), 0.15)
        body = Body(mesh["body"], element, energy, thickness=THICKNESS, **parameters)
        slopes = ["slope_x", "slope_y"] if element is ancf_plate else ["slopes"]
        system = System(body, terms=prescribed_boundary(body, "xy", ["position", *slopes], PLANE))
        StaticProblem(system, options=TIGHT).solve()
        at, X = positions(system)
        wrong = np.abs(system.state[at[:, None] + np.arange(3)] - X @ PLANE.T).max()
        name = f"{element.name}, distorted"
        yield Number(f"displacement: {name}", float(wrong), 0.0, 1e-10, 1.0)
        F = system.gradient(body["body"])
        wrong = np.abs(F[:, :, :2] - (np.eye(3) + PLANE)[:, :2]).max()
        yield Number(f"slopes: {name}", float(wrong), 0.0, 1e-10, 1.0)
        if element is ancf_plate:
            spread = float(np.ptp(F[:, 2, 2]))
            yield Number(f"spread of the thickness stretch: {name}", spread, 0.0, 1e-10, 1.0)


def _cable() -> Iterator[Number]:
    stretch, EA = 0.3, 50.0
    for strain, factor in (("biot", 1.0), ("green", (1.0 + stretch / 2.0) * (1.0 + stretch))):
        mesh = Mesh.box((1.0,), (5,), warp=distorted((1.0,), 0.3), comm=MPI.COMM_SELF)
        energy = energies.cable(strain=strain)  # type: ignore[arg-type]
        body = Body(mesh["body"], ancf_cable, energy, EA=EA, EI=0.1)
        pull = fix(body["x1"], "position", (lambda t: stretch * t, 0.0, 0.0))
        system = System(body, terms=[fix(body["x0"], "position"), pull])
        problem = StaticProblem(system, options=TIGHT, check_held=False)
        problem.solve()
        at, X = positions(system)
        wrong = np.abs(system.state[at] - stretch * X[:, 0]).max()
        yield Number(f"displacement: ancf_cable, {strain}", float(wrong), 0.0, 1e-10, 1.0)
        force = pull.reaction(system).force[0]
        exact = EA * stretch * factor
        yield Number(f"force: ancf_cable, {strain}", force, exact, 1e-10)


# deflections of constant curvature: w, its gradient, (w_xx, w_yy, w_xy)
CURVATURES: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array], Array]] = {
    "x^2/2": (
        lambda X: X[:, 0] ** 2 / 2,
        lambda X: np.stack([X[:, 0], 0 * X[:, 0]], 1),
        np.array([1.0, 0.0, 0.0]),
    ),
    "y^2/2": (
        lambda X: X[:, 1] ** 2 / 2,
        lambda X: np.stack([0 * X[:, 0], X[:, 1]], 1),
        np.array([0.0, 1.0, 0.0]),
    ),
    "x y": (
        lambda X: X[:, 0] * X[:, 1],
        lambda X: np.stack([X[:, 1], X[:, 0]], 1),
        np.array([0.0, 0.0, 1.0]),
    ),
}


def sheared(X: Array) -> Array:
    """Map the unit square to a parallelogram."""
    return np.asarray(X @ np.array([[1.0, 0.2, 0.0], [0.4, 0.9, 0.0], [0.0, 0.0, 1.0]]))


def bent_patch(
    element: Element, mesh: Mesh, w: str, thickness: float = THICKNESS
) -> tuple[float, float]:
    """Return errors of deflection and energy of a patch whose rim has constant curvature.

    The rim (positions and slopes) is prescribed, the inner nodes follow from the tangent at
    rest; the deflection is compared at the nodes relative to its largest value, the energy with
    D/2 (w_xx^2 + w_yy^2 + 2 nu w_xx w_yy + 2 (1 - nu) w_xy^2) per area, of plane stress.
    """
    if element is ancf_plate:
        energy = energies.saint_venant_kirchhoff()
    else:
        energy = energies.kirchhoff()
    body = Body(mesh["body"], element, energy, thickness=thickness, **ELASTIC)
    rim = [fix(body[side], "all") for side in ("x0", "x1", "y0", "y1")]
    system = System(body, terms=rim)
    function, gradient, (xx, yy, xy) = CURVATURES[w]

    def F(X: Array) -> Array:
        G = np.broadcast_to(np.eye(3), (len(X), 3, 3)).copy()
        G[:, 2, :2] = gradient(X)
        G[:, :2, 2] = -gradient(X)
        return G

    exact = moved(system, lambda X: X + function(X)[:, None] * [0.0, 0.0, 1.0], F)
    K = tangent(system, np.zeros_like(exact))
    free = system._discrete.numbering.fixed_by < 0
    state = np.where(free, 0.0, exact)
    state[free] = np.linalg.solve(K[np.ix_(free, free)], -(K @ state)[free])
    at, _ = positions(system)
    off = float(np.abs(state[at + 2] - exact[at + 2]).max() / np.abs(exact[at + 2]).max())
    D = ELASTIC["E"] * thickness**3 / (12.0 * (1.0 - ELASTIC["nu"] ** 2))
    nu = ELASTIC["nu"]
    density = D / 2.0 * (xx**2 + yy**2 + 2.0 * nu * xx * yy + 2.0 * (1.0 - nu) * xy**2)
    return off, float(abs(state @ K @ state / 2.0 / (density * _area(mesh)) - 1.0))


def _area(mesh: Mesh) -> float:
    """Area of a flat mesh of quadrilaterals, by the cross products of their diagonals."""
    X = mesh.points[mesh.cells["quad"].connectivity]
    cross = np.cross(X[:, 2] - X[:, 0], X[:, 3] - X[:, 1])
    return float(np.linalg.norm(cross, axis=1).sum() / 2.0)


def _bending() -> Iterator[Number]:
    for element in (ancf_plate, ancf_thin_plate):
        for w in CURVATURES:
            mesh = Mesh.box((1.0, 1.0), (3, 3), warp=sheared, comm=MPI.COMM_SELF)
            off, energy = bent_patch(element, mesh, w)
            name = f"{element.name}, parallelograms, w = {w}"
            yield Number(f"deflection: {name}", off, 0.0, 1e-10, 1.0)
            yield Number(f"energy: {name}", energy, 0.0, 1e-10, 1.0)
        # not exact on other quadrilaterals: the errors, as a limit that is known
        limits = {ancf_plate: (0.002, 0.005), ancf_thin_plate: (0.01, 0.05)}[element]
        for w in CURVATURES:
            off, energy = bent_patch(element, _zigzag(6), w)
            name = f"{element.name}, 25 % zigzag, 6 x 6, w = {w}"
            yield Number(f"deflection (known limit): {name}", off, 0.0, limits[0], 1.0)
            yield Number(f"energy (known limit): {name}", energy, 0.0, limits[1], 1.0)
    # full-gradient plates converge on such meshes, too, but thin ones lock in transverse shear
    errors = [bent_patch(ancf_plate, _zigzag(n), "x y", THICKNESS / 10.0)[1] for n in (6, 12)]
    name = "ancf_plate of h/L = 0.01, 25 % zigzag"
    yield Number(f"energy (known limit): {name}", errors[0], 0.0, 0.2, 1.0)
    falls = order(errors)
    yield Number(f"1 / order of the energy: {name}", 1.0 / falls, 0.0, 0.5, 1.0)


def _zigzag(n: int) -> Mesh:
    return Mesh.box((1.0, 1.0), (n, n), warp=zigzag(n, 0.25), comm=MPI.COMM_SELF)
