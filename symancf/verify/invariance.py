# SPDX-License-Identifier: BSD-3-Clause
"""Rigid motions: they change no energy, turn the forces, and are all that costs nothing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import energies
from ..arrays import Array
from ..bodies.body import Body
from ..elements import (
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
    tet4,
    tet10,
    wedge6,
    wedge15,
)
from ..system import System
from .case import Number, case
from .meshes import bent, box
from .states import energy, residual, rotation, tangent, turned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..elements import Element

Volumetric = Literal["full", "reduced", "split"]

RUBBER: dict[str, Any] = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 100.0}
PLATE: dict[str, Any] = {"E": 1.0, "nu": 0.3, "thickness": 0.1}
CABLE: dict[str, Any] = {"EA": 1.0, "EI": 1e-2}
ROD: dict[str, Any] = {"EA": 1.0, "GA2": 0.3, "GA3": 0.4, "GJ": 7e-3, "EI2": 1e-2, "EI3": 2e-2}


SOLIDS = (hex8, hex8_plain, hex20, hex27, tet4, tet10, wedge6, wedge15)


def solids(
    cells: tuple[int, int, int] = (2, 1, 1),
    volumetric: Volumetric = "full",
    element: Element = hex8_plain,
) -> System:
    """Return a patch of distorted solids."""
    mesh = box((2.0, 2.0, 2.0), cells, 0.1, cell=element.cell)
    return System(Body(mesh["body"], element, energies.yeoh(), volumetric=volumetric, **RUBBER))


def plates(cells: tuple[int, int] = (2, 1), volumetric: Volumetric = "split") -> System:
    """Return a patch of distorted full-gradient plates."""
    mesh = box((2.0, 2.0), cells, 0.1)
    section: dict[str, Any] = {"thickness": 0.1}
    return System(
        Body(mesh["body"], ancf_plate, energies.yeoh(), volumetric=volumetric, **section, **RUBBER)
    )


def thin_plates(cells: tuple[int, int] = (2, 1), element: Element = ancf_thin_plate) -> System:
    """Return a patch of distorted thin plates."""
    mesh = box((2.0, 2.0), cells, 0.1, cell=element.cell)
    return System(Body(mesh["body"], element, energies.kirchhoff(), **PLATE))


def shells(cells: tuple[int, int] = (2, 2), element: Element = ancf_thin_plate) -> System:
    """Return a patch of thin plates on a cylinder."""
    mesh, normal = bent((2.0, 2.0), cells, 2.6)
    return System(Body(mesh["body"], element, energies.kirchhoff(), direction=normal, **PLATE))


def thick_plates(cells: tuple[int, int] = (2, 1)) -> System:
    """Return a patch of distorted plates that are quadratic through their thickness."""
    mesh = box((2.0, 2.0), cells, 0.1)
    return System(Body(mesh["body"], ancf_thick_plate, energies.saint_venant_kirchhoff(), **PLATE))


def rods(cells: int = 2) -> System:
    """Return a straight rod."""
    return System(
        Body(box((2.0,), (cells,), cell="line3")["body"], ancf_rod, energies.rod(), **ROD)
    )


def thick_shells(cells: tuple[int, int] = (2, 2)) -> System:
    """Return a patch of full-gradient plates on a cylinder."""
    mesh, normal = bent((2.0, 2.0), cells, 2.6)
    body = Body(
        mesh["body"], ancf_plate, energies.yeoh(), direction=normal, thickness=0.1, **RUBBER
    )
    return System(body)


def cables(cells: int = 2) -> System:
    """Return a straight cable."""
    return System(Body(box((2.0,), (cells,))["body"], ancf_cable, energies.cable(), **CABLE))


def curved_cables(cells: int = 2) -> System:
    """Return a cable on an arc of a circle."""
    mesh, _ = bent((2.0,), (cells,), 2.6)
    return System(Body(mesh["body"], ancf_cable, energies.cable(), **CABLE))


PATCHES: dict[str, Callable[..., System]] = {
    **{element.name: partial(solids, element=element) for element in SOLIDS},
    "ancf_plate": plates,
    "ancf_plate on a cylinder": thick_shells,
    "ancf_thin_plate": thin_plates,
    "ancf_thin_plate on a cylinder": shells,
    "ancf_thin_quad": partial(thin_plates, element=ancf_thin_quad),
    "ancf_thin_quad on a cylinder": partial(shells, element=ancf_thin_quad),
    "ancf_thin_triangle": partial(thin_plates, element=ancf_thin_triangle),
    "ancf_thick_plate": thick_plates,
    "ancf_rod": rods,
    "ancf_cable": cables,
    "ancf_cable on an arc": curved_cables,
}

REDUCED: dict[str, Callable[..., System]] = {
    **{
        f"{element.name}, reduced": partial(solids, volumetric="reduced", element=element)
        for element in SOLIDS
        if element is not hex8
    },
    "ancf_plate, reduced": partial(plates, volumetric="reduced"),
}

MOTIONS = {
    "1.234 rad about (1, 2, 3)": (rotation((1, 2, 3), np.degrees(1.234)), (0.0, 0.0, 0.0)),
    "179.9 degrees about (1, 2, 3)": (rotation((1, 2, 3), 179.9), (0.0, 0.0, 0.0)),
    "translation by 1000": (np.eye(3), (1000.0, 0.0, 0.0)),
}


def scattered(system: System, amount: float = 0.1) -> Array:
    """Return random displacements; multiples of 2^-40, so that adding 1000 to them is exact."""
    size = system._discrete.numbering.coordinates
    state = amount * np.random.default_rng(1).uniform(-1.0, 1.0, size)
    return np.asarray(np.round(state * 2.0**40) / 2.0**40)


@case("E02_rigid_invariance", "definition of a rigid motion")
def rigid() -> Iterator[Number]:
    """Energy and forces after rigid motions of the reference and of a random state."""
    for name, patch in PATCHES.items():
        system = patch()
        rest = np.zeros(system._discrete.numbering.coordinates)
        state = scattered(system)
        # shape functions by maps of cells add up to one within round-off: 1000 of it are seen
        close = 1e-11 if name.startswith(("ancf_thin_quad", "ancf_thin_tri")) else 1e-12
        W, f = energy(system, state), residual(system, state)
        stiff = float(np.abs(system._discrete.assembler.energies(state)[0]).sum()) / 0.01
        for motion, (Q, c) in MOTIONS.items():
            label = f"{name}, {motion}"
            at_rest = turned(system, rest, Q, c)
            yield Number(f"W of the reference: {label}", energy(system, at_rest), 0.0, 1e-12, stiff)
            largest = float(np.abs(residual(system, at_rest)).max())
            yield Number(f"forces on the reference: {label}", largest, 0.0, 1e-12, stiff)
            there = turned(system, state, Q, c)
            yield Number(f"W of a random state: {label}", energy(system, there), W, close)
            wrong = np.abs(residual(system, there).reshape(-1, 3) - f.reshape(-1, 3) @ Q.T).max()
            scale = float(np.abs(f).max())
            yield Number(f"|f(Q x) - Q f(x)|: {label}", float(wrong), 0.0, close, scale)


# zero eigenvalues of the free stiffness at rest. A straight cable cannot feel a turn about its
# axis. On an arc every energy of r' and r'' is blind at first order to displacements across
# its plane, since |r'|^2, r'.r'' and |r''|^2 change at second order only: 3 rigid motions in the
# plane and all 2 (n + 1) coordinates across it.
ZEROS = {
    **{f"{element.name}{way}": 6 for element in SOLIDS for way in ("", ", reduced")},
    "ancf_plate": 6,
    "ancf_plate, reduced": 6,
    "ancf_plate on a cylinder": 6,
    "ancf_thin_plate": 6,
    "ancf_thin_plate on a cylinder": 6,
    "ancf_thin_quad": 6,
    "ancf_thin_quad on a cylinder": 6,
    "ancf_thin_triangle": 6,
    "ancf_thick_plate": 6,
    "ancf_rod": 6,
    "ancf_cable": 5,
    "ancf_cable on an arc": 3 + 2 * 3,
}


@case("E03_zero_modes", "theory: rigid motions only")
def zero_modes() -> Iterator[Number]:
    """Zero eigenvalues of the free stiffness at rest, of one cell and of a patch."""
    for name, patch in {**PATCHES, **REDUCED}.items():
        for cells in ("one cell", "patch"):
            if name == "ancf_cable on an arc" and cells == "one cell":
                continue  # an arc needs neighbours
            n = (
                3
                if name.startswith(("hex", "tet", "wedge"))
                else 1
                if name.startswith(("ancf_cable", "ancf_rod"))
                else 2
            )
            system = patch() if cells == "patch" else patch(*([1] if n == 1 else [(1,) * n]))
            K = tangent(system, np.zeros(system._discrete.numbering.coordinates))
            values = np.sort(np.abs(np.linalg.eigvalsh((K + K.T) / 2.0)))
            values = np.maximum(values, 1e-17 * values[-1])
            steps = values[1:] / values[:-1]
            count = int(np.argmax(steps)) + 1
            gap = float(steps[ZEROS[name] - 1])
            yield Number(f"zero eigenvalues: {name}, {cells}", count, ZEROS[name], 0.0)
            yield Number(f"10^6 / gap: {name}, {cells}", 1e6 / gap, 0.0, 1.0, 1.0)
