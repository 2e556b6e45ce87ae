# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of rigid bodies: hexahedra that fill a box, a cylinder or a ball."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Ints
from ...errors import ParameterError, argument
from ...values.arguments import LENGTHS
from ...values.parameter import label, reals

if TYPE_CHECKING:
    from .inertia import Inertia


@dataclass(frozen=True)
class BodyShape:
    """Points (n, 3) in the frame of a body, and hexahedra (k, 8) of them.

    `form` and `sizes` : what its surface is exactly, ``"box"`` by half of its edges, ``"cylinder"``
    by radius and length, ``"sphere"`` by radius; ``""`` where it is only drawn.
    """

    points: Array
    cells: Ints
    form: str = ""
    sizes: tuple[float, ...] = ()

    @property
    def reach(self) -> float:
        """Largest distance of a point from the origin of the frame."""
        return float(np.linalg.norm(self.points, axis=1).max())


def _lattice(m: int) -> tuple[Array, Ints]:
    """Return the cube [-1, 1]^3 in m^3 hexahedra."""
    s = np.linspace(-1.0, 1.0, m + 1)
    points = np.stack(np.meshgrid(s, s, s, indexing="ij"), axis=-1).reshape(-1, 3)
    i, j, k = (x.ravel() for x in np.meshgrid(*[np.arange(m)] * 3, indexing="ij"))

    def number(a: int, b: int, c: int) -> Ints:
        return np.asarray(((i + a) * (m + 1) + j + b) * (m + 1) + k + c)

    ring = ((0, 0), (1, 0), (1, 1), (0, 1))
    cells = np.stack([number(a, b, c) for c in (0, 1) for a, b in ring], axis=1)
    return points, cells


def box(half: npt.ArrayLike) -> BodyShape:
    """Return a box by half of its edges (3,)."""
    points, cells = _lattice(1)
    return BodyShape(points * np.asarray(half), cells, "box", tuple(np.asarray(half).tolist()))


def cylinder(radius: float, length: float) -> BodyShape:
    """Return a cylinder along the third axis: the square lattice drawn round."""
    points, cells = _lattice(6)
    x, y, z = points.T
    disc = np.stack([x * np.sqrt(1 - y**2 / 2), y * np.sqrt(1 - x**2 / 2), z], axis=1)
    return BodyShape(disc * [radius, radius, length / 2.0], cells, "cylinder", (radius, length))


def sphere(radius: float) -> BodyShape:
    """Return a ball: the cubic lattice drawn round."""
    points, cells = _lattice(6)
    sides = []
    for a in range(3):
        b, c = (points[:, (a + k) % 3] ** 2 for k in (1, 2))
        sides.append(points[:, a] * np.sqrt(1 - b / 2 - c / 2 + b * c / 3))
    return BodyShape(radius * np.stack(sides, axis=1), cells, "sphere", (radius,))


def equivalent(inertia: Inertia | None, length: float) -> BodyShape:
    """Return the box with the mass moments of a body; a small cube where it has no mass."""
    if inertia is None:
        shape = box(np.full(3, length / 4.0))
        return BodyShape(shape.points, shape.cells)
    c = inertia.centre
    P = inertia.second / inertia.mass - np.outer(c, c)
    squares, axes = np.linalg.eigh(P)
    half = np.sqrt(3.0 * np.maximum(squares, 0.0))
    thin = 0.02 * max(float(half.max()), 0.5 * length)
    shape = box(np.maximum(half, thin))
    return BodyShape(shape.points @ axes.T + c, shape.cells)


def size_of(what: str, given: npt.ArrayLike, count: int, kind: str = "length") -> Array:
    """Return positive lengths, (count,), or a number for one.

    Raises
    ------
    ParameterError : others are given.
    """
    size = reals(given)
    shape = () if count == 1 else (count,)
    if size.shape != shape or (size < LENGTHS[0]).any() or (size > LENGTHS[1]).any():
        lengths = f"a positive {kind}" if count == 1 else f"{count} positive {kind}s"
        raise ParameterError(
            f"{what} is {label(given)}: give {lengths} between {LENGTHS[0]:g} and {LENGTHS[1]:g}",
            asked=argument(what),
            given=given,
        )
    return size
