# SPDX-License-Identifier: BSD-3-Clause
"""Plates and shells of layers: Pagano's exact bending, theories of laminates, a roof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix, symmetry
from ..catalogue.loads import traction
from ..elements import ancf_plate, ancf_thick_plate, ancf_thin_plate
from ..energies import orthotropic
from ..laws.layers import Layers
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..elements import Element

#: Pagano's layer: E over that across the fibres.
PLY: dict[str, Any] = {"E1": 25.0, "E2": 1.0, "E3": 1.0, "nu12": 0.25, "nu13": 0.25, "nu23": 0.25}
PLY |= {"G12": 0.5, "G13": 0.5, "G23": 0.2}


def section(angle: float) -> tuple[Array, float]:
    """Return the stiffness (3, 3) and the shear modulus of a layer in the plane of bending."""
    a, b = -PLY["nu12"] / PLY["E1"], -PLY["nu23"] / PLY["E2"]
    S = np.array([[1 / PLY["E1"], a, a], [a, 1 / PLY["E2"], b], [a, b, 1 / PLY["E3"]]])
    C = np.linalg.inv(S)
    if angle == 90:
        order = [1, 0, 2]
        return C[np.ix_(order, order)], PLY["G23"]
    return C, PLY["G13"]


def exact(angles: Sequence[float], slenderness: float) -> float:
    """Return the deflection of the middle, 100 E2 h^3 w/(q L^4), under q sin(pi x/L) on the top.

    The equations of plane strain in each layer for u cos, w sin, stress across sin, shear cos.
    """
    p, M = np.pi / slenderness, np.eye(4)
    halves = []
    for angle in angles:
        C, G = section(angle)
        C11, C13, C33 = C[0, 0], C[0, 2], C[2, 2]
        A = np.zeros((4, 4))
        A[0, 1:3] = -p, 1 / G
        A[1, 0], A[1, 3] = C13 * p / C33, 1 / C33
        A[2, 0], A[2, 3] = p**2 * (C11 - C13**2 / C33), -p * C13 / C33
        A[3, 2] = p
        w, V = np.linalg.eig(A / len(angles) / 2)
        halves += [(V * np.exp(w) @ np.linalg.inv(V)).real] * 2
    for T in halves:
        M = T @ M
    state = np.append(np.linalg.solve(M[2:, :2], [0.0, 1.0]), [0.0, 0.0])
    for T in halves[: len(angles)]:
        state = T @ state
    return float(100.0 * state[1] / slenderness**4)


def theory(angles: Sequence[float], slenderness: float, *, shear: bool) -> float:
    """Return that of classical laminate theory, with one shear strain and no shear factor."""
    z = np.linspace(-0.5, 0.5, len(angles) + 1)
    A = B = D = H = 0.0
    for angle, low, high in zip(angles, z[:-1], z[1:], strict=True):
        C, G = section(angle)
        Q = C[0, 0] - C[0, 2] ** 2 / C[2, 2]
        A, B = A + Q * (high - low), B + Q * (high**2 - low**2) / 2
        D, H = D + Q * (high**3 - low**3) / 3, H + G * (high - low)
    p = np.pi / slenderness
    w = 1.0 / (p**4 * (D - B * B / A)) + shear / (p**2 * H)
    return float(100.0 * w / slenderness**4)


def strip(element: Element, angles: Sequence[float], slenderness: float) -> float:
    """Return ours: half of a strip of eight cells in plane strain, of thickness 1."""
    L, cells, q = slenderness, 8, 1e-6
    mesh = Mesh.box((L / 2, L / cells), (cells, 1))
    layers = Layers([(orthotropic(), 1.0 / len(angles), angle) for angle in angles], degrees=True)
    body = Body(mesh["body"], element, layers, **PLY)

    def pressed(X: Array, t: float) -> Array:
        up = t * q * np.sin(np.pi * X[:, 0] / L)
        return np.column_stack([0.0 * up, 0.0 * up, up])

    supports: list[Any] = [symmetry(body["x1"], "x"), symmetry(body["body"], "y")]
    system = System(body, terms=[*supports, fix(body["x0"], "z"), traction(body["body"], pressed)])
    StaticProblem(system).solve()
    w = float(system.displacement(body["x1"])[:, 2].mean())
    return 100.0 * w / q / slenderness**4


#: Deflections over the exact ones: what one shear strain through all layers leaves out.
SHARES = {
    ((0, 90, 0), 4.0): (0.724, 0.777),
    ((0, 90, 0), 10.0): (0.817, 0.824),
    ((0, 90, 0), 50.0): (0.983, 0.983),
    ((0, 90), 4.0): (0.942, 0.992),
    ((0, 90), 10.0): (0.977, 0.984),
    ((0, 90), 50.0): (0.991, 0.992),
}


@case("B30_cross_ply_bending", "N. J. Pagano, J. Composite Materials 3 (1969) 398-411; theories", 3)
def cross_ply() -> Iterator[Number]:
    """Cylindrical bending of [0/90/0] and [0/90]: theories of laminates, shares of the exact."""
    published = {((0, 90, 0), 4.0): 2.887, ((0, 90), 4.0): 4.695}  # Pagano's figures
    for (angles, S), shares in SHARES.items():
        right, name = exact(angles, S), f"{list(angles)}, L/h = {S:g}"
        if (angles, S) in published:
            yield Number(f"exact: {name}", right, published[angles, S], 2e-4)
        thin = strip(ancf_thin_plate, angles, S)
        yield Number(f"thin: {name}", thin, theory(angles, S, shear=False), 1e-3)
        deflection = strip(ancf_plate, angles, S)
        if angles == (0, 90, 0):
            yield Number(f"with shear: {name}", deflection, theory(angles, S, shear=True), 4e-3)
        yield Number(f"share, ancf_plate: {name}", deflection / right, shares[0], 2e-3)
        thick = strip(ancf_thick_plate, angles, S)
        yield Number(f"share, ancf_thick_plate: {name}", thick / right, shares[1], 2e-3)


#: Load over 3000 at deflections [mm] of the middle, a thickness of 12.7 mm.
ROOF = {
    (0, 90, 0): {1.956: 0.1245, 4.548: 0.2494, 7.961: 0.3459, 9.884: 0.3618, 12.872: 0.3057},
    (90, 0, 90): {2.673: 0.2090, 5.794: 0.3914, 9.545: 0.5336, 14.192: 0.5970, 17.028: 0.5542},
}


@case("B31_laminated_roof", "K. Y. Sze, X. H. Liu, S. H. Lo, FEAD 40 (2004) 1551-1569", 2)
def roof() -> Iterator[Number]:
    """Hinged roof of three layers under a force in its middle, past the limit point."""
    R, h, cells = 2540.0, 12.7, 8
    mesh = Mesh.box(
        (0.1, 254.0),
        (cells, cells),
        warp=lambda X: np.stack([R * np.sin(X[:, 0]), X[:, 1], R * np.cos(X[:, 0])], axis=1),
    )
    ply: dict[str, Any] = {
        "E1": 3300.0,
        "E2": 1100.0,
        "E3": 1100.0,
        "nu12": 0.25,
        "nu13": 0.25,
        "nu23": 0.25,
    }
    ply |= dict.fromkeys(("G12", "G13", "G23"), 660.0)
    for angles, table in ROOF.items():
        layers = Layers(
            [(orthotropic(), h / 3.0, angle) for angle in angles],
            degrees=True,
            axis=(0.0, 1.0, 0.0),
        )
        body = Body(
            mesh["body"], ancf_thin_plate, layers, direction=lambda X: X * [1.0, 0.0, 1.0], **ply
        )
        pushed = fix(body.at((0.0, 0.0, R)), "z", displacement=(0.0, 0.0, lambda t: -t))
        supports: list[Any] = [symmetry(body["x0"], "x"), symmetry(body["y0"], "y")]
        system = System(body, terms=[*supports, fix(body["x1"], "position"), pushed])
        problem = StaticProblem(system, check_stable=False)
        for w, load in table.items():
            problem.solve(w)
            load_found = -4.0 * float(pushed.reaction(system).force[2]) / 3000.0
            yield Number(f"load over 3000: {list(angles)}, w = {w:g}", load_found, load, 0.02, 0.6)
