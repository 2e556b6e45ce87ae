# SPDX-License-Identifier: BSD-3-Clause
"""Principal values and directions of a tensor, as crosses of lines on what is seen of bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symancf import SymancfError

from ..interface import closest
from .surface import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symancf.output import Samples

    from ..interface import Array, Ints
    from .surface import DrawnSurface

MAX_CROSSES = 800  # faces, each of which has its cross; of more
CROSSES_PER_SIDE = 30  # from one side of a picture to the other have them
SHORTEST_LINE = 0.04  # of the longest line: shorter ones are not drawn
TIE = 1e-6  # of the largest value: what differs less has the directions next to the axes
NOTHING = 1e-13  # of strains, and of all that has no unit


def require_tensor(bodies: Iterable[Samples], name: str) -> None:
    """Require that some body has the field.

    Raises
    ------
    SymancfError : none has it.
    """
    fields = [data for body in bodies for data in (body.point_data, body.cell_data)]
    if not any(name in data for data in fields):
        tensors = dict.fromkeys(n for data in fields for n, v in data.items() if v.ndim > 2)
        there = ", ".join(map(repr, tensors)) or "none: sa.sample(..., fields=['cauchy'])"
        raise SymancfError(
            f"directions={name!r}: no samples have that tensor; there are {there}"
            + (f".{closest(name, tensors)}" if tensors else ""),
            asked="directions",
            given=name,
            possible=tensors,
        )


def cross(
    panels: dict[str, list[DrawnSurface]], screen: Array, toward: Array, extent: float, unit: str
) -> float:
    """Give bodies their crosses, all of one scale; return the largest absolute value."""
    size = extent / CROSSES_PER_SIDE
    crosses = {}
    for caption, bodies in panels.items():
        for k, body in enumerate(bodies):
            if body.tensor is None or not len(body.faces):
                continue
            spots = _spots(body, screen, toward, size)
            tensor = body.tensor[body.faces[spots]].mean(axis=1).reshape(-1, 3, 3)
            crosses[caption, k] = spots, np.where(np.isfinite(tensor), tensor, 0.0)
    largest = max(
        (np.abs(np.linalg.eigvalsh(t)).max(initial=0.0) for _, t in crosses.values()), default=0.0
    )
    if largest <= (0.0 if unit else NOTHING):
        return 0.0
    normals = (panels[caption][k].normals[spots] for (caption, k), (spots, _) in crosses.items())
    areas = [0.5 * np.linalg.norm(each, axis=1) for each in normals]
    own = float(np.median(np.concatenate(areas))) ** 0.5
    reach = own if max(map(len, areas)) <= MAX_CROSSES else max(size, own)
    for (caption, k), (spots, tensor) in crosses.items():
        body = panels[caption][k]
        values, vectors = np.linalg.eigh(tensor + TIE * largest * np.diag([1.0, 0.0, -1.0]))
        centre = body.points[body.faces[spots]].mean(axis=1)
        half = 0.48 * reach * np.abs(values)[:, None, :] / largest * vectors  # columns
        ends = np.stack([centre[:, :, None] - half, centre[:, :, None] + half], axis=1)
        lines = ends.transpose(0, 3, 1, 2).reshape(-1, 2, 3)
        seen, positive = np.abs(values).ravel() > SHORTEST_LINE * largest, values.ravel() > 0.0
        both = {POSITIVE: lines[seen & positive], NEGATIVE: lines[seen & ~positive]}
        strokes = {colour: some for colour, some in both.items() if len(some)}
        panels[caption][k] = replace(body, strokes=strokes)
    return float(largest)


def _spots(body: DrawnSurface, screen: Array, toward: Array, size: float) -> Ints:
    """Return faces that the eye may see, of many one in each square of the picture."""
    normal = body.normals
    front = normal @ toward > 0.1 * np.linalg.norm(normal, axis=1)
    faces = np.flatnonzero(front) if body.solid else np.arange(len(body.faces))
    if len(faces) <= MAX_CROSSES:
        return faces
    seen = body.points[body.faces[faces]].mean(axis=1) @ screen / size
    square = np.floor(seen)
    off = ((seen - square - 0.5) ** 2).sum(axis=1)
    order = np.lexsort((off, square[:, 1], square[:, 0]))
    _, first = np.unique(square[order], axis=0, return_index=True)
    return np.asarray(faces[order[first]])
