# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of round bodies, as class methods of `sa.Mesh`; rank 0 makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpi4py import MPI

from ..interface import call_array, together
from .round import Round, build

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from symancf import Mesh

    from ..interface import Array
    from .round import RoundMesh


def disc(
    cls: type[Mesh],
    radius: float,
    divisions: int | Sequence[int],
    *,
    inner: float = 0.0,
    symmetric: str = "",
    cell: str = "quad",
    warp: Callable[[Array], Array] | None = None,
    name: str = "disc",
    comm: MPI.Comm | None = None,
) -> Mesh:
    """Return a disc or annulus in the plane z = 0, about the origin, normals along z.

    Regions: "body"; edges "outer", of an annulus "inner", and "x0", "y0" where it is cut.
    Rank 0 makes it and hands out slices. Nodes between corners lie on the circles. For the
    area that cells with straight edges leave out see `sphere`.

    Parameters
    ----------
    radius, inner : outer and inner radius [m]; inner 0 is a full disc.
    divisions : cells (along a radius, along a quarter of the circumference); or the latter
        alone, an even number of discs, and as many along a radius as make edges alike. In a
        disc half as many as along a quarter are along a radius of the core. The radii of an
        annulus grow in one ratio from each to the next.
    symmetric : axes across which only the positive part is made: "xy" is a quarter.
    cell : "quad" or another type of surfaces, e.g. "triangle6".
    warp : see `box`.

    Raises
    ------
    MeshError, ParameterError : on every rank: radii, divisions, cell types or axes that are
        none.

    Examples
    --------
    >>> import symancf as sa
    >>> quarter = sa.Mesh.disc(0.1, 8, symmetric="xy")
    >>> quarter["outer"].sizes, quarter["y0"].sizes
    ({'line': 8}, {'line': 7})
    """
    arguments = (inner, radius), None, divisions, symmetric, cell, "xy"
    return _make(cls, "Mesh.disc", arguments, warp, name, comm)


def cylinder(
    cls: type[Mesh],
    radius: float,
    length: float,
    divisions: int | Sequence[int],
    *,
    symmetric: str = "",
    cell: str = "hexahedron",
    warp: Callable[[Array], Array] | None = None,
    name: str = "cylinder",
    comm: MPI.Comm | None = None,
) -> Mesh:
    """Return a solid cylinder about the z axis, from z = 0 to its length.

    Regions: "body", "outer", "z0", "z1", and "x0", "y0" where it is cut. With cells of
    surfaces only its wall, normals outwards, and edges "z0", "z1". Rank 0 makes it.

    Parameters
    ----------
    radius, length : [m].
    divisions : cells (along a radius, along a quarter of the circumference, along z), of walls
        without the first; or the second alone, from which the others follow; see `disc`.
    symmetric, cell, warp : see `disc`; any type of volumes or surfaces.

    Raises
    ------
    MeshError, ParameterError : see `disc`.

    Examples
    --------
    >>> import symancf as sa
    >>> post = sa.Mesh.cylinder(0.05, 0.2, 4, cell="hexahedron20")
    >>> post["outer"].sizes, post["z1"].sizes
    ({'quad8': 160}, {'quad8': 32})
    """
    arguments = (0.0, radius), length, divisions, symmetric, cell, "xy"
    return _make(cls, "Mesh.cylinder", arguments, warp, name, comm)


def tube(
    cls: type[Mesh],
    inner: float,
    outer: float,
    length: float,
    divisions: int | Sequence[int],
    *,
    symmetric: str = "",
    cell: str = "hexahedron",
    warp: Callable[[Array], Array] | None = None,
    name: str = "tube",
    comm: MPI.Comm | None = None,
) -> Mesh:
    """Return a thick tube about the z axis, from z = 0 to its length.

    Regions: "body", "inner", "outer", "z0", "z1", and "x0", "y0" where it is cut. The radii of
    layers grow in one ratio. Rank 0 makes it.

    Parameters
    ----------
    inner, outer, length : radii and length [m].
    divisions : cells (through the wall, along a quarter of the circumference, along z); or the
        second alone, from which the others follow.
    symmetric, cell, warp : see `disc`; any type of volumes. For a surface see `cylinder`.

    Raises
    ------
    MeshError, ParameterError : see `disc`.

    Examples
    --------
    >>> import symancf as sa
    >>> pipe = sa.Mesh.tube(1.0, 2.0, 0.1, (4, 8, 1), symmetric="xy")
    >>> {region.name: region.size for region in pipe}
    {'body': 32, 'inner': 8, 'outer': 8, 'y0': 4, 'x0': 4, 'z0': 32, 'z1': 32, 'all': 32}
    """
    arguments = (inner, outer), length, divisions, symmetric, cell, "xy"
    return _make(cls, "Mesh.tube", arguments, warp, name, comm)


def sphere(
    cls: type[Mesh],
    radius: float,
    divisions: int | Sequence[int],
    *,
    inner: float = 0.0,
    symmetric: str = "",
    cell: str = "hexahedron",
    warp: Callable[[Array], Array] | None = None,
    name: str = "sphere",
    comm: MPI.Comm | None = None,
) -> Mesh:
    """Return a ball, a thick spherical shell or the surface of a sphere about the origin.

    Regions: "body", "outer", of shells "inner", and "x0", "y0", "z0" where it is cut. With
    cells of surfaces the sphere alone, normals outwards. Rank 0 makes it.

    Nodes lie on the spheres, so that cells with straight edges leave a part of the volume,
    and of the mass, out, with 2, 4, 8, 16 along a quarter: hexahedra 23, 6.5, 1.7, 0.42 %
    of balls and shells, quadrilaterals 12, 3.3, 0.83, 0.21 % of the surface (cylinders 10,
    2.5, 0.64, 0.16 %). Curved ones are better, with 4: "hexahedron20" 0.12 %, "tetra10"
    0.04 %, "hexahedron27" 0.011 %. ``mesh["body"].measure()`` is what there is; where the mass
    counts divide it out of `rho`.

    Parameters
    ----------
    radius, inner : outer and inner radius [m]; inner 0 is a ball. The radii of layers of a
        shell grow in one ratio.
    divisions : cells (along a radius, along a quarter of a great circle), the latter an even
        number, and of surfaces the only one; or the latter alone; see `disc`.
    symmetric : axes across which only the positive part is made: "xyz" is an octant.
    cell, warp : see `disc`; any type of volumes or surfaces, of balls no wedges.

    Raises
    ------
    MeshError, ParameterError : see `disc`.

    Examples
    --------
    >>> import symancf as sa
    >>> octant = sa.Mesh.sphere(1.1, (2, 8), inner=1.0, symmetric="xyz")
    >>> octant["inner"].sizes, octant["x0"].sizes
    ({'quad': 48}, {'quad': 16})
    >>> ball = sa.Mesh.sphere(1.0, 4)["body"]
    >>> print(f"{ball.measure() / (4 / 3 * np.pi):.4f} of the ball")
    0.9349 of the ball
    """
    arguments = (inner, radius), None, divisions, symmetric, cell, "xyz"
    return _make(cls, "Mesh.sphere", arguments, warp, name, comm)


def _make(
    cls: type[Mesh],
    call: str,
    shape: RoundMesh,
    warp: Callable[[Array], Array] | None,
    name: str,
    comm: MPI.Comm | None,
) -> Mesh:
    """Make a round body of what a user gave, its points moved by `warp`. Collective."""
    comm = MPI.COMM_WORLD if comm is None else comm
    points, cells, regions = None, None, None
    with together(comm):
        body = Round.of(call, *shape)
    with together(comm):
        if comm.rank == 0:
            points, cells, regions = build(body)
            if warp is not None:
                points = call_array(f"warp of Mesh.{name}", warp, points.shape, points)
    return cls.from_arrays(points, cells, regions, comm, name=name, check=warp is not None)
