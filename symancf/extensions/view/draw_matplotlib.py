# SPDX-License-Identifier: BSD-3-Clause
"""Draw a panel with Matplotlib alone, where VTK cannot draw: painter's algorithm, flat colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

    from ..interface import Array
    from .surface import DrawnSurface


EDGE = "#1b2a38"
GHOST = "#98a2ab"
PLAIN = "#c3cad1"


def draw(
    axes: Axes,
    bodies: list[DrawnSurface],
    colours: ScalarMappable,
    screen: Array,
    toward: Array,
    frame: Array,
    undeformed: bool = True,
) -> None:
    """Draw all bodies of a panel into plane axes by parallel projection.

    Parameters
    ----------
    axes : Axes of Matplotlib.
    colours : ScalarMappable that turns values into colours.
    screen : (3, 2) directions to the right and upwards in the picture.
    toward : direction to the eye.
    frame : (2, 2) lower left and upper right corner of what shall be seen [m].
    undeformed : whether to show the outline of the undeformed bodies.
    """
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colors import to_rgb

    polygons, depth, fills = [], [], []
    for body in bodies:
        if not len(body.faces):
            continue
        x = body.points[body.faces]
        normal = body.normals
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
        shade = 0.62 + 0.38 * np.abs(
            normal @ _unit(toward + 0.7 * screen[:, 1] - 0.4 * screen[:, 0])
        )
        fill = np.tile(to_rgb(PLAIN), (len(x), 1))
        if body.values is not None:
            fill = colours.to_rgba(body.values[body.faces].mean(axis=1))[:, :3]
        polygons.append(x @ screen)
        depth.append(x.mean(axis=1) @ toward)
        fills.append(fill * shade[:, None])
    for body in bodies:
        if undeformed and body.deformed:
            segments = body.reference[body.outline] @ screen
            axes.add_collection(
                LineCollection(list(segments), colors=GHOST, linewidths=0.7, zorder=1)
            )
    if polygons:
        order = np.argsort(np.concatenate(depth))
        face = np.concatenate(fills)[order]
        axes.add_collection(
            PolyCollection(
                np.concatenate(polygons)[order],
                facecolors=face,
                edgecolors=face,
                linewidths=0.3,
                zorder=2,
            )
        )
    for body in bodies:
        if not body.solid and len(body.borders):
            segments = body.points[body.borders] @ screen
            axes.add_collection(
                LineCollection(list(segments), colors=EDGE, linewidths=0.5, alpha=0.4, zorder=3)
            )
        for stroke, ends in body.strokes.items():
            axes.add_collection(
                LineCollection(list(ends @ screen), colors=stroke, linewidths=1.2, zorder=4)
            )
        if len(body.lines):
            segments = body.points[body.lines] @ screen
            colour: str | Array = PLAIN
            if body.values is not None:
                colour = colours.to_rgba(body.values[body.lines].mean(axis=1))
            axes.add_collection(
                LineCollection(
                    list(segments), colors=colour, linewidths=3.0, capstyle="round", zorder=3
                )
            )
    axes.set_xlim(frame[0, 0], frame[1, 0])
    axes.set_ylim(frame[0, 1], frame[1, 1])
    axes.set_aspect("equal")


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))
