# SPDX-License-Identifier: BSD-3-Clause
"""Benchmark cases: elements with their energies, cells in the cache, and shuffled meshes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Array
from ..bodies.body import Body
from ..cells import CELLS
from ..elements import (
    ancf_3243,
    ancf_cable,
    ancf_plate,
    ancf_rod,
    ancf_thick_plate,
    ancf_thin_plate,
    ancf_thin_quad,
    ancf_thin_triangle,
    hex8,
    hex8_plain,
    hex20,
    hex27,
    tet10,
)
from ..energies import cable, kirchhoff, ogden, rod, saint_venant_kirchhoff, yeoh
from ..mesh import Mesh
from ..places.macro import cell_maps, slopes_across
from ..system import System
from ..values.parameter import Field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..elements import Element


SILICONE = {"C10": 0.2712, "C20": 0.03053, "C30": -0.0004013, "k": 1000.0}
OGDEN = {
    **{"mu1": 0.63, "alpha1": 1.3, "mu2": 0.0012, "alpha2": 5.0, "mu3": -0.01, "alpha3": -2.0},
    "k": 1000.0,
}

ROD = {"EA": 1e3, "GA2": 4e2, "GA3": 4e2, "GJ": 0.8, "EI2": 1.0, "EI3": 1.0}
ROD |= {"rigidity": 1e4, "GA23": 0.0, "EI23": 0.0, "y_shear": 0.0, "z_shear": 0.0}

#: The case of a law in principal stretches.
STRETCHES = "tet10, Ogden"

#: The case of Chrono's shell 3443: the same coordinates, functions and points.
FULL = "ancf_plate, all at all points"


@dataclass(frozen=True)
class KernelCase:
    """An element with an energy and a quadrature, and the mesh on which it is assembled.

    `divisions` of the unit cube, square or line; `varying` names a parameter that has a value
    of its own in each cell of the assembled mesh.
    """

    name: str
    element: Element
    energy: Callable[..., Any]
    quadrature: str
    parameters: Mapping[str, float]
    varying: str
    divisions: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    def reference(self) -> Array:
        """Return the coefficient vectors (n, 3) of a unit cell at rest."""
        corners = np.zeros((self.element.vertices, 3))
        domain = np.array(self.element.topology.vertices, dtype=float)
        corners[:, : domain.shape[1]] = domain
        if self.element.across:
            X, normals = corners[None], np.broadcast_to([0.0, 0.0, 1.0], (1, *corners.shape))
            basis = np.broadcast_to(np.eye(3)[:2], (1, len(corners), 2, 3))
            D = slopes_across(X, normals, np.arange(len(corners))[None])
            nodal = np.concatenate([X[:, :, None], basis], axis=2).reshape(1, -1, 3)
            maps = cell_maps(X, normals, basis, D)
            vectors: Array = (maps @ np.concatenate([nodal, D], axis=1))[0]
            return vectors
        axes = {"xi": (1, 0, 0), "eta": (0, 1, 0), "z": (0, 0, 1), "y": (0, 1, 0), "zz": (0, 0, 0)}
        axes |= {"d1": (1, 0, 0), "d2": (0, 1, 0), "d3": (0, 0, 1)}
        rows = [[c, *(axes[s] for s in self.element.slopes)] for c in corners]
        return np.array([v for row in rows for v in row], dtype=float)

    def system(self, *, shuffled: bool, divisions: tuple[int, ...] | None = None) -> System:
        """Return a system of this case alone; `shuffled`: distorted, in random order."""
        divisions = divisions or self.divisions
        cell = self.element.cell
        mesh = Mesh.box((1.0,) * len(divisions), divisions, cell=cell, comm=MPI.COMM_SELF)
        parameters: dict[str, Any] = dict(self.parameters)
        if shuffled:
            mesh = shuffle(mesh, cell)
            base = parameters[self.varying]
            parameters[self.varying] = Field(lambda X: base * (1.0 + 0.1 * X[:, 0]))
        body = Body(
            mesh["all"], self.element, self.energy, name="body", **self.options, **parameters
        )
        return System(body)


def shuffle(mesh: Mesh, cell: str) -> Mesh:
    """Return the mesh with points moved by up to a tenth of a cell, and all in random order.

    By half of that where cells have nodes between their corners.
    """
    random = np.random.default_rng(1)
    points = mesh.points.copy()
    cells = mesh.cells[cell].connectivity
    spacing = np.linalg.norm(points[cells[0, 1]] - points[cells[0, 0]])
    spacing /= 1.0 if cell == CELLS[cell].straight.name else 2.0
    moved = points + (0.2 * random.random(points.shape) - 0.1) * spacing * (np.ptp(points, 0) > 0)
    order = random.permutation(len(points))
    number = np.argsort(order)
    return Mesh.from_arrays(
        moved[order],
        {cell: number[cells][random.permutation(len(cells))]},
        comm=mesh.comm,
        name="shuffled",
    )


def _solid(element: Element, divisions: int) -> KernelCase:
    cube, full = (divisions,) * 3, {"volumetric": "full"}
    return KernelCase(
        element.name, element, yeoh(), element.rules["full"], SILICONE, "C10", cube, full
    )


#: Whose kernels are compared with those of FFCx.
SECOND_ORDER = (tet10, hex20, hex27)


def all_cases() -> list[KernelCase]:
    """Return the cases in the order of the table."""
    plate = {**SILICONE, "thickness": 0.1}
    shell = {"E": 1e5, "nu": 0.3, "thickness": 0.01}
    solid = {**shell, "thickness": 0.1}
    return [
        _solid(hex8_plain, 32),
        _solid(hex8, 20),
        *(_solid(element, 10) for element in SECOND_ORDER),
        replace(_solid(tet10, 10), name=STRETCHES, energy=ogden(), parameters=OGDEN, varying="mu1"),
        KernelCase(
            "ancf_plate",
            ancf_plate,
            yeoh(),
            "3x3x2+9",
            plate,
            "C10",
            (80, 80),
            {"quadrature": {"deviatoric": "3x3x2", "volumetric": "3x3"}},
        ),
        KernelCase(
            "ancf_plate",
            ancf_plate,
            yeoh(),
            "4x4x3+16",
            plate,
            "C10",
            (80, 80),
            {"volumetric": "reduced"},
        ),
        KernelCase(
            FULL,
            ancf_plate,
            saint_venant_kirchhoff(),
            "4x4x2",
            solid,
            "E",
            (80, 80),
            {"volumetric": "full", "quadrature": "4x4x2"},
        ),
        KernelCase(
            "ancf_thick_plate",
            ancf_thick_plate,
            saint_venant_kirchhoff(),
            "4x4x3",
            solid,
            "E",
            (80, 80),
        ),
        *(
            KernelCase(thin.name, thin, kirchhoff(), thin.rules["full"], shell, "E", (80, 80))
            for thin in (ancf_thin_plate, ancf_thin_quad, ancf_thin_triangle)
        ),
        KernelCase(
            "ancf_cable",
            ancf_cable,
            cable(),
            "5",
            {"EA": 1e3, "EI": 1.0},
            "EI",
            (20000,),
        ),
        KernelCase("ancf_rod", ancf_rod, rod(), "2+3", ROD, "EI2", (10000,)),
        KernelCase(
            "ancf_3243",
            ancf_3243,
            saint_venant_kirchhoff(),
            "4x2x2",
            {"E": 1e3, "nu": 0.3, "width": 0.1, "height": 0.1},
            "E",
            (10000,),
        ),
    ]
