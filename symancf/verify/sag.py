# SPDX-License-Identifier: BSD-3-Clause
"""The silicone plate that sags under its weight, with plates and with hexahedra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import gravity
from ..elements import ancf_plate, hex8_plain
from ..energies import yeoh
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator

SILICONE: dict[str, Any] = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3, "rho": 1100.0}
LENGTH, WIDTH, THICKNESS = 0.18, 0.16, 0.04
WEIGHT = (0.0, 0.0, -9.81)

# deflection [mm] of the middle of the free edge, 4 x 4 plates, rules 4x4x3 and 4x4
PLATES: dict[tuple[Literal["full", "reduced", "split"], float], float] = {
    ("full", 1e7): -2.79,
    ("reduced", 1e7): -15.72,
    ("split", 1e7): -5.977,
    ("full", 1e9): -0.53,
    ("reduced", 1e9): -15.67,
    ("split", 1e9): -5.779,
}
# the same of 27-node hexahedra graded to the clamp, on refined meshes
SOLID = {1e7: -6.09, 1e9: -5.87}


def plate(volumetric: Literal["full", "reduced", "split"], k: float) -> float:
    """Return the sag [mm] of 4 x 4 full-gradient plates."""
    mesh = Mesh.box((LENGTH, WIDTH), (4, 4))
    body = Body(
        mesh["body"],
        ancf_plate,
        yeoh(),
        name="plate",
        volumetric=volumetric,
        thickness=THICKNESS,
        k=k,
        **SILICONE,
    )
    system = System(body, terms=[fix(body["x0"], "all"), gravity(WEIGHT)])
    StaticProblem(system).solve()
    return float(1e3 * system.displacement(body.at((LENGTH, WIDTH / 2, 0.0)))[0, 2])


def block(divisions: tuple[int, int, int], k: float, *, graded: float = 1.0) -> float:
    """Return the sag [mm] of hexahedra with J at the centre on half of the width.

    `graded` > 1 crowds the cells to the clamp, x = L s^graded.
    """

    def crowd(X: Array) -> Array:
        return np.stack([LENGTH * (X[:, 0] / LENGTH) ** graded, X[:, 1], X[:, 2]], axis=1)

    mesh = Mesh.box((LENGTH, WIDTH / 2, THICKNESS), divisions, warp=crowd)
    body = Body(
        mesh["body"], hex8_plain, yeoh(), name="block", volumetric="reduced", k=k, **SILICONE
    )
    system = System(body, terms=[fix(body["x0"]), fix(body["y1"], "y"), gravity(WEIGHT)])
    StaticProblem(system).solve()
    return float(1e3 * system.displacement(body.at((LENGTH, WIDTH / 2, THICKNESS / 2)))[0, 2])


@case("P0_1_static_sag", "second implementations: ANCF plates; 27-node hexahedra")
def sag() -> Iterator[Number]:
    """Silicone plate 0.18 x 0.16 x 0.04 m, clamped edge, own weight."""
    for (volumetric, k), exact in PLATES.items():
        name = f"sag [mm]: 4x4 ancf_plate, {volumetric}, k = {k:g}"
        yield Number(name, plate(volumetric, k), exact, 0.01)
    near = []
    for divisions in ((18, 4, 4), (27, 6, 6), (36, 8, 8)):
        near.append(block(divisions, 1e7))
        if len(near) == 1:
            yield Number("sag [mm]: 18x4x4 hex8_plain, centre J, k = 1e7", near[0], -5.98, 0.005)
    far = [abs(w - SOLID[1e7]) for w in near]
    for before, after, label in ((0, 1, "27x6x6"), (1, 2, "36x8x8")):
        fall = far[after] / far[before]
        yield Number(f"distance from the solid, part left: {label} hex8_plain", fall, 0.0, 0.8, 1.0)
    for k in SOLID:
        fine = block((36, 8, 8), k, graded=1.5)
        yield Number(
            f"sag [mm]: 36x8x8 hex8_plain graded to the clamp, k = {k:g}", fine, SOLID[k], 0.01
        )
