# SPDX-License-Identifier: BSD-3-Clause
"""Rods as they look: their sections along the axis, for pictures and ParaView."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..arrays import Data, Ints
from ..cells import CELLS
from ..errors import ParameterError
from .samples import Samples

if TYPE_CHECKING:
    from collections.abc import Sequence


class Outlined(Protocol):
    """A cross-section, see `symancf.Section`."""

    @property
    def outlines(self) -> Sequence[Sequence[tuple[float, float]]]:
        """Points y, z along the outline and the holes."""


def swept(samples: Samples, section: Outlined) -> Samples:
    """Return the surface of a rod, its section moved along samples of the axis.

    Parameters
    ----------
    samples : of the rod with the fields ``d2`` and ``d3``; others are kept.
    section : a `Section` that knows its outline; those given by numbers, or from meshes, do not.

    Raises
    ------
    ParameterError : the directors are missing, or the outline.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((0.5,), (4,), cell="line3")
    >>> strip = sa.Section.rectangle(0.02, 0.005)
    >>> given = strip.rod(E=1e9, nu=0.3)
    >>> rod = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **given)
    >>> axis = sa.sample(sa.System(rod), rod, fields=["d2", "d3"])
    >>> sa.output.swept(axis, strip).cells["quad"].shape
    (32, 4)
    """
    data = samples.point_data
    if not {"d2", "d3"} <= {*data}:
        raise ParameterError(
            "swept() needs the directors of the rod: sample(..., fields=['d2', 'd3', ...])",
            asked="fields",
            given=list(data),
            possible=("d2", "d3"),
        )
    if not section.outlines:
        raise ParameterError(
            "swept(): the section was given by numbers and has no outline",
            asked="section",
        )
    axis, d2, d3 = (np.asarray(v, float) for v in (samples.points, data["d2"], data["d3"]))
    links = [
        rows[:, np.array(CELLS[kind].links)].reshape(-1, 2) for kind, rows in samples.cells.items()
    ]
    pairs, n = np.concatenate(links), len(axis)
    points, quads, first = [], [], 0
    by_name: dict[str, list[Data]] = {name: [] for name in data if name != "displacement"}
    for ring in section.outlines:
        m = len(ring)
        y, z = np.array(ring).T[:, None, :, None]
        points.append((axis[:, None] + y * d2[:, None] + z * d3[:, None]).reshape(-1, 3))
        along, beyond = np.arange(m), np.roll(np.arange(m), -1)
        a, b = first + m * pairs[:, :1], first + m * pairs[:, 1:]
        quads.append(np.stack([a + along, a + beyond, b + beyond, b + along], axis=2))
        for name, rows in by_name.items():
            rows.append(np.repeat(np.asarray(data[name]), m, axis=0))
        first += n * m
    cells: Ints = np.concatenate([quad.reshape(-1, 4) for quad in quads])
    fields: dict[str, Data] = {name: np.concatenate(rows) for name, rows in by_name.items()}
    return Samples(np.concatenate(points), {"quad": cells}, fields, units=samples.units)
