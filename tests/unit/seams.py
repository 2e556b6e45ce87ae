# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of two elements that lie beside each other and share nodes, with sides across the seam."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf import elements
from symancf.energies import neo_hooke
from tests.unit.facing import MATERIAL

Array = Any
KINDS = {
    "second": (elements.hex20, elements.wedge15),
    "first": (elements.hex8_plain, elements.wedge6),
    "one": (elements.wedge15, elements.wedge15),
}
HEIGHT = 0.5
ENDS = {"x0": 0.0, "x1": 1.0, "y0": 0.0, "y1": 1.0, "z0": 0.0, "z1": HEIGHT}


def beside(
    kinds: str,
    cells: Any,
    *,
    seam: float = 0.5,
    warp: Any = None,
    name: str = "low",
    comm: Any = None,
    **given: Any,
) -> list[sa.Body]:
    """Return a block 1 x 1 x 0.5 of two elements, with a seam at x, as its bodies.

    `cells` along x of each part, along y and z of both. Regions ``"z0 of 0"`` and so on are sides
    of a part, ``"z0"`` those of both. Of one element the parts are wedges along z and wedges along
    y, one body whose sides across z are triangles and quadrilaterals.
    """
    pair, (*along, ny, nz) = KINDS[kinds], cells
    points, tables, count = [], [], 0
    for k, (element, n) in enumerate(zip(pair, along, strict=True)):
        size, axes = (seam, 1.0 - seam)[k], [0, 1, 2]
        if kinds == "one" and k == 1:  # y is z of the box
            axes = [0, 2, 1]
        lengths, numbers = np.array([size, 1.0, HEIGHT]), np.array([n, ny, nz])
        box = sa.Mesh.box(
            lengths[axes], numbers[axes].tolist(), cell=element.cell, comm=MPI.COMM_SELF
        )
        table, unit = box.cells[element.cell].connectivity, elements.CELLS[element.cell].unit
        if axes != [0, 1, 2]:  # a reflection turns cells over
            order = [int(np.abs(unit - x).sum(axis=1).argmin()) for x in unit[:, [1, 0, 2]]]
            table = table[:, order]
        points.append(box.points[:, axes] + [k * seam, 0.0, 0.0])
        tables.append(table + count)
        count += len(box.points)
    _, one, back = np.unique(
        np.rint(1e7 * np.concatenate(points)), axis=0, return_index=True, return_inverse=True
    )
    X = np.concatenate(points)[one]
    regions: dict[str, Any] = {end: {} for end in ENDS}
    every: dict[str, Array] = {}
    for k, (element, table) in enumerate(zip(pair, tables, strict=True)):
        own = back.ravel()[table]
        start = len(every.get(element.cell, ()))
        every[element.cell] = np.concatenate([every.get(element.cell, own[:0]), own])
        regions[f"part {k}"] = {element.cell: start + np.arange(len(own))}
        for end in ENDS:
            regions[f"{end} of {k}"] = _facets(element.cell, own, X, end)
            for kind, faces in regions[f"{end} of {k}"].items():
                both = regions[end].get(kind, faces[:0])
                regions[end][kind] = np.concatenate([both, faces])
    regions = {key: held for key, held in regions.items() if held}
    mesh = sa.Mesh.from_arrays(X if warp is None else warp(X), every, regions, comm=comm)
    given = {**MATERIAL, **given}
    if kinds == "one":
        return [sa.Body(mesh["all"], pair[0], neo_hooke(), name=name, **given)]
    return [
        sa.Body(mesh[f"part {k}"], element, neo_hooke(), name=f"{name} {k}", **given)
        for k, element in enumerate(pair)
    ]


def _facets(kind: str, cells: Array, X: Array, end: str) -> dict[str, Array]:
    """Return the facets of cells of a type at an end of the block, by their types."""
    found = {}
    for trace in elements.CELLS[kind].traces:
        nodes = elements.CELLS[kind].sides(trace)
        faces = cells[:, nodes].reshape(-1, nodes.shape[1])
        at = np.abs(X[faces][..., "xyz".index(end[0])] - ENDS[end]).max(axis=1) < 1e-6
        if at.any():
            found[trace] = faces[at]
    return found


def side_of(bodies: list[sa.Body], end: str) -> Any:
    """Return an end of a block, across its seam."""
    if len(bodies) == 1:
        return bodies[0][end]
    own = [body for k, body in enumerate(bodies) if end[0] != "x" or k == int(end[1])]
    return [body[f"{end} of {bodies.index(body)}"] for body in own]


def held(bodies: list[sa.Body], end: str, *given: Any, **more: Any) -> list[Any]:
    """Return what holds an end of a block."""
    places = side_of(bodies, end)
    return [sa.fix(place, *given, **more) for place in np.atleast_1d(np.array(places, object))]
