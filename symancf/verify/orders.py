# SPDX-License-Identifier: BSD-3-Clause
"""Orders of convergence on manufactured solutions.

The force b that makes a given motion an equilibrium is `body_force` on solids; on cables it is part
of the energy that is solved, -b . u beside the strain energy, written as any energy is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy as sp

from .. import energies
from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import body_force
from ..elements import ancf_cable, hex8, hex8_plain, hex20, hex27, tet4, tet10, wedge6, wedge15
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case, order
from .manufactured import EA, EI, cable_force, curve, loaded_cable, solid_motion
from .meshes import box
from .references import CABLE_BIOT, CABLE_GREEN, SOLID_FORCE
from .states import moved

Motion = Callable[[Array], Array]

S = np.linspace(0.003, 0.997, 283)  # where errors are sampled


def root_mean_square(difference: Array) -> float:
    """Return the root of the mean square of all entries."""
    return float(np.sqrt(np.mean(difference**2)))


def along(functions: list[Any], s: sp.Symbol) -> Callable[[Array], Array]:
    """Return three expressions of s as a function (n,) -> (n, 3)."""
    evaluate = sp.lambdify(s, functions, "numpy")
    return lambda x: np.stack([np.broadcast_to(f, x.shape) for f in evaluate(x)], axis=1)


def solved(
    body: Body, position: Motion, gradient: Motion, sides: str, force: Motion | None = None
) -> System:
    """Solve a body whose sides follow a motion, from that motion as the first guess."""

    def u(X: Array, t: float) -> Array:
        return position(X) - X

    def G(X: Array, t: float) -> Array:
        return gradient(X) - np.eye(3)

    slopes = G if body.element.slopes else None
    terms = [fix(body[f"{axis}{end}"], "all", u, slopes) for axis in sides for end in (0, 1)]
    loads = [] if force is None else [body_force(body["body"], lambda X, t: force(X))]
    system = System(body, terms=[*terms, *loads])
    system.state[:] = moved(system, position, gradient)
    StaticProblem(system, options=TIGHT).solve()
    return system


def manufactured_cable(
    strain: str, curvature: str, reference: tuple[float, dict[float, tuple[float, ...]]]
) -> Iterator[Number]:
    """Yield body force, energy and orders of one pair of strain and curvature."""
    s = sp.Symbol("s")
    expressions = cable_force(s, strain, curvature)
    force = along(expressions, s)
    for place, exact in reference[1].items():
        wrong = np.abs(force(np.array([place]))[0] - exact).max()
        yield Number(f"|b - b_ref| at s = {place:g}", wrong, 0.0, 1e-10, np.abs(exact).max())
    r, slope = along(curve(s), s), along([sp.diff(f, s) for f in curve(s)], s)

    def gradient(X: Array) -> Array:
        F = np.broadcast_to(np.eye(3), (len(X), 3, 3)).copy()
        F[:, :, 0] = slope(X[:, 0])
        return F

    plain = energies.cable(strain=strain, curvature=curvature)  # type: ignore[arg-type]
    errors: dict[str, list[float]] = {"energy": [], "nodes": [], "position": [], "slope": []}
    for cells in (256, 512):
        mesh = Mesh.box((1.0,), (cells,))
        energy, fields = loaded_cable(strain, force, cells)
        body = Body(mesh["body"], ancf_cable, energy, name="cable", **fields)
        system = solved(body, lambda X: r(X[:, 0]), gradient, "x")
        alone = System(Body(mesh["body"], ancf_cable, plain, name="cable", EA=EA, EI=EI))
        alone.state[:] = system.state
        errors["energy"].append(abs(alone.strain_energy() - reference[0]))
        places, nodes = body.at(np.outer(S, [1.0, 0.0, 0.0])), body["body"]
        errors["position"].append(root_mean_square(system.position(places) - r(S)))
        errors["slope"].append(root_mean_square(system.gradient(places)[:, :, 0] - slope(S)))
        positions = system.position(nodes)
        errors["nodes"].append(root_mean_square(positions - r(nodes.X[:, 0])))
    yield Number("energy", errors["energy"][1] + reference[0], reference[0], 1e-8)
    yield Number("order of the energy", order(errors["energy"]), 4.0, 0.15, 1.0)
    yield Number("order of the positions of nodes", order(errors["nodes"]), 4.0, 0.15, 1.0)
    # one less than the 4 and 3 of a straight cable: bending of a curved one also strains its
    # axis within each cell, by EI kappa/EA times the error h^2 of the curvature
    yield Number("order of the position (L2)", order(errors["position"]), 3.0, 0.15, 1.0)
    yield Number("order of the slope (H1)", order(errors["slope"]), 2.0, 0.15, 1.0)


@case("E10_mms_cable_green", "manufactured solution, SymPy")
def cable_green() -> Iterator[Number]:
    """Manufactured cable with Green's strain and the curvature of the curve."""
    yield from manufactured_cable("green", "geometric", CABLE_GREEN)


@case("E10_mms_cable_biot", "manufactured solution, SymPy")
def cable_biot() -> Iterator[Number]:
    """Manufactured cable with Biot's strain and the curvature per reference length."""
    yield from manufactured_cable("biot", "reference", CABLE_BIOT)


@case("E05_convergence_orders", "theory: L2 k + 1, H1 k, energy 2 (k + 1 - m)", 9)
def orders() -> Iterator[Number]:
    """Orders of a straight cable in bending and of solids."""
    yield from _straight()
    yield from _solids()


def _straight() -> Iterator[Number]:
    """A cable so little deflected that it is a straight beam: EI w'''' = b."""
    small = 1e-6
    s = sp.Symbol("s")
    w = small * sp.sin(3 * s) * sp.exp(s)
    force = along([0, 0, EI * sp.diff(w, s, 4)], s)
    r, slope = along([s, 0, w], s), along([1, 0, sp.diff(w, s)], s)
    exact = float(sp.Integral(EI * sp.diff(w, s, 2) ** 2 / 2, (s, 0, 1)).evalf(20))

    def gradient(X: Array) -> Array:
        F = np.broadcast_to(np.eye(3), (len(X), 3, 3)).copy()
        F[:, :, 0] = slope(X[:, 0])
        return F

    energy_errors, L2, H1 = [], [], []
    for cells in (8, 16):
        mesh = Mesh.box((1.0,), (cells,))
        energy, fields = loaded_cable("biot", force, cells)
        body = Body(mesh["body"], ancf_cable, energy, name="cable", **fields)
        system = solved(body, lambda X: r(X[:, 0]), gradient, "x")
        plain = Body(mesh["body"], ancf_cable, energies.cable(), name="cable", EA=EA, EI=EI)
        alone = System(plain)
        alone.state[:] = system.state
        energy_errors.append(abs(alone.strain_energy() - exact))
        places = body.at(np.outer(S, [1.0, 0.0, 0.0]))
        L2.append(root_mean_square(system.position(places) - r(S)))
        H1.append(root_mean_square(system.gradient(places)[:, :, 0] - slope(S)))
    yield Number("order of the position (L2): straight cable", order(L2), 4.0, 0.15, 1.0)
    yield Number("order of the slope (H1): straight cable", order(H1), 3.0, 0.15, 1.0)
    yield Number("order of the energy: straight cable", order(energy_errors), 4.0, 0.15, 1.0)


def _solids() -> Iterator[Number]:
    motion, gradient, force = solid_motion()
    points = np.array([[0.5, 0.5, 0.5], [0.2, 0.7, 0.4]])
    for b, exact in zip(force(points), SOLID_FORCE["saint_venant_kirchhoff"], strict=True):
        wrong = np.abs(b - exact).max()
        yield Number("|b - b_ref|: E11_mms_solid", wrong, 0.0, 1e-8, np.abs(exact).max())
    points = np.random.default_rng(1).uniform(0.0, 1.0, (600, 3))
    for element, coarse, degree in (
        *((hex8_plain, 6, 1.0), (hex8, 6, 1.0), (tet4, 6, 1.0), (wedge6, 6, 1.0)),
        *((hex20, 3, 2.0), (hex27, 3, 2.0), (tet10, 3, 2.0), (wedge15, 3, 2.0)),
    ):
        L2, H1 = [], []
        for cells in (coarse, 2 * coarse):
            mesh = box((1.0, 1.0, 1.0), (cells,) * 3, cell=element.cell)
            law = energies.saint_venant_kirchhoff()
            body = Body(mesh["body"], element, law, name="cube", E=1000.0, nu=0.3)
            system = solved(body, motion, gradient, "xyz", force)
            places = body.at(points)
            L2.append(root_mean_square(system.position(places) - motion(points)))
            H1.append(root_mean_square(system.gradient(places) - gradient(points)))
        of = f"order of the position (L2): {element.name}"
        yield Number(of, order(L2), degree + 1.0, 0.15, 1.0)
        of = f"order of the gradient (H1): {element.name}"
        yield Number(of, order(H1), degree, 0.15, 1.0)
