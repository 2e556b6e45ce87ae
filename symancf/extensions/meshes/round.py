# SPDX-License-Identifier: BSD-3-Clause
"""Round bodies of bent blocks: discs, cylinders, tubes, balls and shells about the origin.

Made is the part of positive x, y and, of spheres, z, and its images. Solid bodies have a core that
is nearly a square or cube, with blocks around it:

    y
    |-----.
    |      `.      The corners of the core are where cells come out best: the least scaled
    |---.  / `     Jacobian is 0.83 of discs, 0.73 of balls.
    |    `/   |
    |    |    |
    +----+----+- x
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symancf import MeshError, ParameterError

from ..interface import CELLS, Array, Cell, arguments, label, reals
from .blocks import Arrays, MeshBlock, assemble

if TYPE_CHECKING:
    from collections.abc import Callable

# radii, length, divisions, axes of symmetry, cell type, axes that may be such
RoundMesh = tuple[tuple[float, float], float | None, int | Sequence[int], str, str, str]

QUARTER = np.pi / 2.0
CORE = {2: (0.5, 0.42), 3: (0.55, 0.46, 0.4)}  # distance of corners by how many axes they are off


@dataclass(frozen=True)
class Round:
    """A round body as it was asked for.

    Attributes
    ----------
    planes : axes across which it may be cut, "xy" or, of spheres, "xyz".
    inner, outer : radii [m]; inner 0 is a solid body.
    length : [m] along z; None of spheres and discs.
    kind : type of its cells.
    symmetric : axes across which there is only the positive part.
    quarter, radial, along : cells along a quarter of the circumference, along a radius, along z.
    """

    planes: str
    inner: float
    outer: float
    length: float | None
    kind: Cell
    symmetric: str
    quarter: int
    radial: int
    along: int

    @classmethod
    def of(
        cls,
        call: str,
        radii: tuple[float, float],
        length: float | None,
        divisions: int | Sequence[int],
        symmetric: str,
        cell: str,
        planes: str,
    ) -> Round:
        """Check what was given; `planes` are the axes that `symmetric` may name.

        Raises
        ------
        MeshError, ParameterError
        """
        inner, outer = _radii(call, *radii)
        if length is not None:
            length = arguments.positive(call, "length", length)
            arguments.length(f"{call}: length", length)
        flat, spherical = length is None and planes == "xy", planes == "xyz"
        kind = _cell(call, cell, flat, spherical, inner)
        if not set(str(symmetric)) <= set(planes):
            raise ParameterError(
                f"{call}(symmetric={label(symmetric)}): give axes out of {planes!r}, or none",
                asked="symmetric",
                given=symmetric,
                possible=planes,
            )
        numbers = [divisions] if isinstance(divisions, int | np.integer) else divisions
        skin = kind.dimension == 2 and not flat  # a surface in space
        names = [*([] if skin else ["radial"]), "quarter", *([] if length is None else ["along"])]
        counts = _counts(call, numbers, names)
        quarter = counts["quarter"]
        solid = not (inner or skin)
        core = quarter // 2 if solid else 0
        counts = _near_cubes(inner, outer, length, quarter, core) | counts
        if quarter % 2 and (solid or spherical):
            raise MeshError(
                f"{call}: the cells along a quarter of the circumference are those of two blocks, "
                f"an even number; given {quarter}",
                asked="quarter",
                given=quarter,
            )
        if counts["radial"] <= core:
            raise MeshError(
                f"{call}: {core} cells along a radius are in the core (half of those along a "
                f"quarter of the circumference); give more than {core}, not {counts['radial']}",
                asked="radial",
                given=counts["radial"],
            )
        return cls(planes, inner, outer, length, kind, symmetric, **counts)


def _radii(call: str, inner: float, outer: float) -> tuple[float, float]:
    """Return the radii of a body.

    Raises
    ------
    ParameterError
    """
    outer = arguments.positive(call, "outer radius", outer)
    arguments.length(f"{call}: outer radius", outer)
    must = f"be from 0 to less than the outer radius {outer:g}"
    least = arguments.LENGTHS[0]
    inner = arguments.number(
        call, "inner radius", inner, must, lambda r: r == 0.0 or least <= r < outer
    )
    return inner, outer


def _cell(call: str, cell: str, flat: bool, spherical: bool, inner: float) -> Cell:
    """Return the type of the cells: surfaces, or volumes where the body is not flat.

    Raises
    ------
    ParameterError, MeshError
    """
    fits = [c.name for c in CELLS.values() if c.dimension in ((2,) if flat else (2, 3))]
    kind = CELLS[arguments.one_of(f"{call}: cell", cell, fits)]
    if kind.factors == (2, 1) and spherical and not inner:
        raise MeshError(
            f"{call}: prisms fill no ball; give hexahedra or tetrahedra, or inner=",
            asked="cell",
            given=cell,
        )
    if inner and not flat and kind.dimension == 2:
        raise MeshError(
            f"{call}: of cells of type {cell!r} is one surface; make it by Mesh.cylinder or by "
            "Mesh.sphere without inner=",
            asked="inner",
            given=inner,
            possible=(0.0,),
        )
    return kind


def _near_cubes(
    inner: float, outer: float, length: float | None, quarter: int, core: int
) -> dict[str, int]:
    """Return numbers of cells along a radius and along z whose cells are about as long as wide."""
    if inner:
        radius, radial = np.sqrt(inner * outer), np.log(outer / inner) * quarter / QUARTER
    else:
        radius, radial = outer, quarter / 3
    along = 0.0 if length is None else length / (QUARTER * radius / quarter)
    return {"radial": core + max(1, round(radial)), "along": max(1, round(along))}


def _counts(call: str, given: Sequence[int], names: list[str]) -> dict[str, int]:
    """Return numbers of cells by name; one number is that along a quarter.

    Raises
    ------
    MeshError
    """
    numbers = reals(given).ravel()
    valid = len(numbers) in (1, len(names)) and (numbers == np.rint(numbers)).all()
    if not valid or not (numbers >= 1).all() or not (numbers < 2**31).all():
        raise MeshError(
            f"{call}: divisions are whole numbers ({', '.join(names)}), or one number of cells "
            f"along a quarter of the circumference; given {label(given)}",
            asked="divisions",
            given=given,
            possible=names,
        )
    used = names if len(numbers) == len(names) else ["quarter"]
    return dict(zip(used, numbers.astype(int).tolist(), strict=True))


def build(shape: Round) -> Arrays:
    """Return points, cells and regions of a round body. On one rank.

    Raises
    ------
    MeshError : more cells than fit into this machine.
    """
    if shape.length is None and shape.planes == "xyz":
        blocks = _shell(shape) if shape.inner or shape.kind.dimension == 2 else _ball(shape)
    elif shape.length is None:
        blocks = _plane(shape)
    elif shape.kind.dimension == 2:
        blocks = [_wall(shape, shape.length)]
    else:
        first, *around = _plane(shape)
        blocks = [_drawn_out(first, shape.length, shape.along, False)]
        blocks += [_drawn_out(block, shape.length, shape.along, True) for block in around]
    return assemble(blocks, shape.kind, [a for a in shape.planes if a not in shape.symmetric])


def _plane(shape: Round) -> list[MeshBlock]:
    """Return the blocks of a quarter of a disc or an annulus."""
    outer, quarter = shape.outer, shape.quarter
    if shape.inner:
        ratio = outer / shape.inner

        def ring(p: Array) -> Array:
            return shape.inner * ratio ** p[:, :1] * _on_circle(p[:, 1])

        sides = {"x0": "inner", "x1": "outer", "y0": "y0", "y1": "x0"}
        return [MeshBlock((shape.radial, quarter), ring, sides)]
    core, count = _core(2, outer), quarter // 2

    def right(p: Array) -> Array:
        y, out = 1.0 - p[:, 0], p[:, 1]
        start = core(np.stack([np.ones_like(y), y], axis=1))
        return _between(start, outer * _on_circle(y / 2.0), out)

    def above(p: Array) -> Array:
        out, x = p[:, 0], 1.0 - p[:, 1]
        start = core(np.stack([x, np.ones_like(x)], axis=1))
        return _between(start, outer * _on_circle(1.0 - x / 2.0), out)

    rest = shape.radial - count
    return [
        MeshBlock((count, count), core, {"x0": "x0", "y0": "y0"}),
        MeshBlock((count, rest), right, {"x1": "y0", "y1": "outer"}),
        MeshBlock((rest, count), above, {"x1": "outer", "y1": "x0"}),
    ]


def _wall(shape: Round, length: float) -> MeshBlock:
    """Return a quarter of the surface of a cylinder, normals outwards."""

    def wall(p: Array) -> Array:
        return shape.outer * _on_circle(p[:, 0]) + length * p[:, 1:] * [0.0, 0.0, 1.0]

    sides = {"x0": "y0", "x1": "x0", "y0": "z0", "y1": "z1"}
    return MeshBlock((shape.quarter, shape.along), wall, sides)


def _drawn_out(block: MeshBlock, length: float, along: int, down: bool) -> MeshBlock:
    """Return a plane block drawn out along z, its third axis upwards or `down`.

    Downwards the first two are exchanged. So around a core, where diagonals run from the corners of
    the core outwards and along its faces as those of the core do.
    """
    axes, ends = ([1, 0], ("z1", "z0")) if down else ([0, 1], ("z0", "z1"))

    def place(p: Array) -> Array:
        z = 1.0 - p[:, 2:] if down else p[:, 2:]
        return block.place(p[:, axes]) + length * z * [0.0, 0.0, 1.0]

    sides = {f"{'xy'[axes['xy'.index(s[0])]]}{s[1]}": r for s, r in block.sides.items()}
    count = tuple(block.divisions[axis] for axis in axes)
    return MeshBlock((*count, along), place, {**sides, ends[0]: "z0", ends[1]: "z1"})


def _shell(shape: Round) -> list[MeshBlock]:
    """Return the three blocks of an octant of a shell, or of a sphere's surface."""
    count, ratio = shape.quarter // 2, shape.outer / (shape.inner or 1.0)

    def block(axis: int) -> MeshBlock:
        def place(p: Array) -> Array:
            radius = shape.inner * ratio ** p[:, 2:] if shape.inner else shape.outer
            return radius * _on_sphere(axis, p)

        a, b = (f"{'xyz'[(axis + k) % 3]}0" for k in (1, 2))
        sides = {"x0": a, "y0": b}
        if shape.kind.dimension == 2:
            return MeshBlock((count, count), place, sides)
        return MeshBlock(
            (count, count, shape.radial), place, {**sides, "z0": "inner", "z1": "outer"}
        )

    return [block(axis) for axis in range(3)]


def _ball(shape: Round) -> list[MeshBlock]:
    """Return the four blocks of an octant of a ball."""
    core, count = _core(3, shape.outer), shape.quarter // 2

    def block(axis: int) -> MeshBlock:
        def place(p: Array) -> Array:
            q = np.stack([1.0 - p[:, 0], 1.0 - p[:, 1]], axis=1)  # see `_drawn_out`
            at = np.roll(np.concatenate([np.ones((len(q), 1)), q], axis=1), axis, axis=1)
            return _between(core(at), shape.outer * _on_sphere(axis, q), p[:, 2])

        a, b = (f"{'xyz'[(axis + k) % 3]}0" for k in (1, 2))
        rest = shape.radial - count
        return MeshBlock((count, count, rest), place, {"x1": a, "y1": b, "z1": "outer"})

    sides = {f"{axis}0": f"{axis}0" for axis in "xyz"}
    return [MeshBlock((count,) * 3, core, sides), *(block(axis) for axis in range(3))]


def _core(d: int, radius: float) -> Callable[[Array], Array]:
    """Return the map of the unit square or cube to the core of a quarter or octant."""
    cell = CELLS[{2: "quad", 3: "hexahedron"}[d]]
    far = np.array([0.0, *CORE[d]])
    corners = np.zeros((len(cell.nodes), 3))
    corners[:, :d] = radius * cell.unit * far[cell.unit.sum(axis=1).astype(int), None]
    return lambda p: np.asarray(cell.evaluate(p[:, :d])[0] @ corners)


def _between(start: Array, end: Array, s: Array) -> Array:
    return (1.0 - s[:, None]) * start + s[:, None] * end


def _on_circle(t: Array) -> Array:
    """Return points (n, 3) of the first quarter of the unit circle."""
    return np.stack([np.cos(QUARTER * t), np.sin(QUARTER * t), 0.0 * t], axis=1)


def _on_sphere(axis: int, p: Array) -> Array:
    """Return points (n, 3) of a third of an octant of the unit sphere, lines at equal angles."""
    a, b = np.tan(QUARTER / 2.0 * p[:, 0]), np.tan(QUARTER / 2.0 * p[:, 1])
    x = np.roll(np.stack([np.ones(len(p)), a, b], axis=1), axis, axis=1)
    return np.asarray(x / np.linalg.norm(x, axis=1)[:, None])
