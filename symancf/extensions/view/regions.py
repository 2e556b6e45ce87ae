# SPDX-License-Identifier: BSD-3-Clause
"""The named regions of a mesh in colours, from two sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from symancf import Mesh, MeshError, ParameterError
from symancf.output import Samples

from ..interface import (
    CELLS,
    WIDTH,
    Array,
    Image,
    Ints,
    Meeting,
    Sides,
    arguments,
    cells_of,
    direction,
    hashes,
    image_path,
    require_drawable,
    sides_of,
    together,
)
from .picture import ENGINES, Picture
from .surface import surface_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from symancf import Region

Corners = dict[str, Array]  # cell type -> places of the nodes of cells (k, nv, 3) [m]

COLOURS = (
    *("#4269d0", "#efb118", "#ff725c", "#3ca951", "#a463f2", "#6cc5b0"),
    *("#ff8ab7", "#9c6b4e", "#97bbf5", "#8f9e3a", "#c2185b", "#00838f"),
)
REST = "#c3cad1"
MARK = 0.012  # radius of a point's mark, of the size of the mesh


def regions(
    mesh: Mesh,
    path: str | Path | None = None,
    names: str | Sequence[str] | None = None,
    *,
    title: str = "",
    eye: Sequence[float] = (0.75, -1.0, 0.62),
    up: Sequence[float] = (0.0, 0.0, 1.0),
    width: float = WIDTH,
    engine: str = "auto",
) -> Path | Image:
    """Draw the regions of a mesh, each in its colour, with how much it holds. Collective.

    Bodies in space are seen from two opposite sides. Where regions overlap the smaller one is seen,
    of equal ones the last; what is in none is grey; the legend says which are covered or inside of
    the bodies.

    Parameters
    ----------
    mesh : the mesh.
    path : a PNG, PDF or SVG; missing folders are made. Without it an `Image` is returned, which
        notebooks show.
    names : regions to show; default all but "all".
    title : headline.
    eye, up : directions from the mesh to the eye, and upwards.
    width : of the picture [inch at 200 dots per inch].
    engine : "vtk" (pyvista), "matplotlib", or "auto"; see `render`.

    Returns
    -------
    The file, or the image.

    Raises
    ------
    MeshError : on every rank: there is no such region; the mesh has no cells that can be drawn.
    SymancfError : on every rank: no drawing package, `engine` "vtk" does not work.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.tube(1.0, 2.0, 3.0, 6, symmetric="y")
    >>> sa.view.regions(mesh, "results/tube.png")  # doctest: +SKIP
    """
    path, image = None if path is None else image_path("view.regions", path), Image()
    arguments.one_of("view.regions: engine", engine, ENGINES)
    arguments.instance("view.regions: mesh", mesh, Mesh, "give a mesh")
    require_drawable("view.regions", title=title, eye=eye, up=up, width=width)
    eye, up = direction(eye).tolist(), direction(up).tolist()
    chosen = _regions_of(mesh, names)
    order = sorted(reversed(chosen), key=lambda r: (r.dim, r.size))
    rows = [{"vertex": r.points()[:, None]} if r.dim == 0 else {} for r in order]
    rows.append({})  # what is in no region
    inside = np.array([mesh["all"].dim == 3 and r.dim == 2 for r in order])
    for dimension in (1, 2):
        facets, outside = visible_facets(mesh, order, dimension)
        inside &= outside == 0
        rows = [one | other for one, other in zip(rows, facets, strict=True)]
    layers = [_gathered(mesh, each) for each in rows]
    with together(mesh.comm):
        if mesh.comm.rank == 0:
            if not any(layers):
                raise MeshError(f"{mesh.name} has no cells that can be drawn")
            colour = _colours(mesh, chosen)
            texts = {
                region.name: _label(region, bool(layer), hidden)
                for region, layer, hidden in zip(order, layers, inside, strict=False)
            }
            legend = [(colour[r.name], texts[r.name]) for r in chosen]
            palette = [*(colour[r.name] for r in order), REST]
            picture = _picture(layers, palette, legend, eye, up)
            image = picture.compose(path, title, "", "", "", 2, width, engine)
    return path or image


def _regions_of(mesh: Mesh, names: str | Sequence[str] | None) -> list[Region]:
    """Return the regions to show."""
    if names is not None and not isinstance(names, str | list | tuple):
        raise ParameterError(
            f"view.regions(names={names!r}): give names of regions", asked="names", given=names
        )
    wanted = [names] if isinstance(names, str) else names
    every = [region for region in mesh if region.name != "all"]
    chosen = every if wanted is None else [mesh[name] for name in wanted]
    if not chosen:
        raise ParameterError(
            f"view.regions: no region of {mesh.name} is asked for",
            asked="names",
            given=names,
            possible=mesh.regions,
        )
    return chosen


def _colours(mesh: Mesh, chosen: list[Region]) -> dict[str, str]:
    """Return colours by the names of regions; what is the whole mesh is grey."""
    all_cells = mesh["all"].sizes
    return {
        r.name: REST if r.sizes == all_cells else COLOURS[k % len(COLOURS)]
        for k, r in enumerate(chosen)
    }


def _label(region: Region, drawn: bool, inside: bool) -> str:
    """Return the line of the legend, with whether others or the bodies hide the region."""
    size = ", ".join(f"{count} {kind}" for kind, count in region.sizes.items()) or "nothing"
    hidden = " (inside)" if inside else "" if drawn or region.dim == 3 else " (covered)"
    return f"{region.name}: {size}{hidden}"


def visible_facets(
    mesh: Mesh, order: list[Region], dimension: int
) -> tuple[list[dict[str, Ints]], Ints]:
    """Return the lines or surfaces of this rank that are seen, by region. Collective.

    Of several regions the first has them; the last entry is of none. Also how many of each region
    are on the outside, on all ranks.
    """
    rest = len(order)
    every = *order, mesh["all"]
    rows = [(n, s) for n, region in enumerate(every) for s in _cells(mesh, region, dimension)]
    rows_by_region: list[dict[str, Ints]] = [{} for _ in every]
    if not rows:
        return rows_by_region, np.zeros(rest, np.int64)
    meeting = Meeting(mesh.comm, np.concatenate([hashes(s.nodes) for _, s in rows]))
    number = meeting.bring(np.concatenate([np.full(len(s.order), n) for n, s in rows]))
    best = np.full(meeting.groups, rest)
    np.minimum.at(best, meeting.group, number)
    outside = np.zeros(meeting.groups, bool)
    outside[meeting.group[number == rest]] = True
    volume = np.array([region.dim == 3 for region in order] + [False])
    best[~outside & volume[best]] = -1  # walls between parts
    first = np.zeros(len(number), bool)
    first[np.unique(meeting.group, return_index=True)[1]] = True
    winners = meeting.answer(np.where(first, best[meeting.group], -1))
    ends = np.cumsum([len(s.order) for _, s in rows])[:-1]
    for part, (_, s) in zip(np.split(winners, ends), rows, strict=True):
        for n, layer in enumerate(rows_by_region):
            layer[s.kind] = np.concatenate([layer.get(s.kind, s.nodes[:0]), s.nodes[part == n]])
    counts = np.bincount(number[outside[meeting.group]], minlength=rest + 1)[:rest]
    return rows_by_region, mesh.comm.allreduce(counts)


def _cells(mesh: Mesh, region: Region, dimension: int) -> list[Sides]:
    """Return the lines or surfaces of a region, of volumes the outer sides. Collective."""
    cells = [s for s in cells_of(region) if s.kind in CELLS]
    if region.dim == 3 and dimension == 2:
        return sides_of(mesh.comm, cells, outer=True)
    return cells if region.dim == dimension else []


def _gathered(mesh: Mesh, rows: dict[str, Ints]) -> Corners:
    """Return the places (k, nv, 3) of cells of all ranks on rank 0, by type. Collective."""
    places = {}
    for kind, nodes in rows.items():
        parts = mesh.comm.gather(mesh.fetch_points(nodes))
        x = np.concatenate(parts) if parts is not None else np.empty((0, nodes.shape[1], 3))
        if len(x):
            places[kind] = x
    return places


def _with_marks(layer: Corners, radius: float) -> Corners:
    """Return the cells of a layer, with a small sphere in place of each point."""
    if "vertex" not in layer:
        return layer
    ball = Mesh.sphere(radius, 2, cell="quad", comm=MPI.COMM_SELF)
    mark = ball.points[ball.cells["quad"].connectivity]
    x = layer["vertex"][:, :, None] + mark  # (points, quads, 4, 3)
    return {"quad": x.reshape(-1, 4, 3)}


def _coloured(kind: str, x: Array, number: int) -> Samples:
    """Return cells at (k, nv, 3) in the colour of a number."""
    cells = {kind: np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[:2])}
    return Samples(x.reshape(-1, 3), cells, {}, {"region": np.full(len(x), float(number))})


def _picture(
    layers: list[Corners],
    palette: list[str],
    legend: list[tuple[str, str]],
    eye: Sequence[float],
    up: Sequence[float],
) -> Picture:
    """Lay out the views of what is seen. On rank 0."""
    places = np.concatenate([x.reshape(-1, 3) for layer in layers for x in layer.values()])
    extent = np.ptp(places, axis=0)
    samples = [
        _coloured(kind, x, number)
        for number, layer in enumerate(layers)
        for kind, x in _with_marks(layer, MARK * float(extent.max())).items()
    ]
    panels = {"": samples}
    solid = bool(extent.min() > 1e-6 * extent.max())
    if solid:
        toward, above = (np.asarray(v, float) / np.linalg.norm(v) for v in (eye, up))
        upwards = np.cross(toward, np.cross(above, toward))  # in the picture
        turn = 2.0 * np.outer(upwards, upwards) / (upwards @ upwards) - np.eye(3)
        height = toward @ above
        where = " and below" if height > 0.1 else " and above" if height < -0.1 else ""
        panels[f"from behind{where}"] = [
            replace(s, points=np.asarray(s.points, float) @ turn) for s in samples
        ]
    surfaces = {  # of solids edges that are hidden stay so
        caption: [replace(surface_of(s, "region", closed=True), solid=solid) for s in each]
        for caption, each in panels.items()
    }
    names = [str(k) for k in range(len(layers))]
    return Picture(surfaces, None, True, False, eye, up, classes=names, legend=legend, own=palette)
