# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and animations of deformed bodies, drawn off-screen: no display, no X server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mpi4py import MPI

from ...errors import SymancfError
from ...runtime.collective import together
from ...values import arguments
from .animation import animate, write_gif
from .picture import Picture
from .regions import regions
from .scene import Scene, gathered
from .surface import surface_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Scene", "animate", "regions", "render", "write_gif"]


def render(
    scenes: Scene | Mapping[str, Scene],
    path: str | Path,
    *,
    field: str | None = "displacement",
    title: str = "",
    label: str = "",
    unit: str = "",
    cmap: str = "dawn",
    classes: Sequence[str] = (),
    limits: tuple[float, float] | None = None,
    shared: bool = True,
    undeformed: bool = True,
    eye: Sequence[float] = (0.75, -1.0, 0.62),
    up: Sequence[float] = (0.0, 0.0, 1.0),
    columns: int = 3,
    width: float = 11.0,
    engine: str = "auto",
    comm: MPI.Comm | None = None,
) -> Path:
    """Draw deformed bodies, coloured by a field, as a PNG. Collective.

    The values of neighbouring cells are averaged where they meet.

    Parameters
    ----------
    scenes : Samples of one body on this rank, a .vtu, .pvtu or .pvd file, or a sequence of them in
        one picture. A mapping "caption" -> scene draws them side by side.
    path : the PNG; missing folders are made.
    field : point or cell data that colours the bodies, vectors by their magnitude. Bodies that lack
        it are grey.
    title, label : Headline, and name of the field at the colour bar (default `field`).
    unit : unit of the field, e.g. "Pa"; the colour bar then counts in kPa, MPa, ...
    cmap : "dawn" (viridis, lightened so that shading and element borders stay visible) or any
        colour map of Matplotlib.
    classes : names of the values 0, 1, ... of the field, such as ``("open", "stick", "slip")`` of a
        contact's status; each face then has one colour.
    limits : smallest and largest value of the colours; default those of the field.
    shared : whether the panels share colours and one colour bar.
    undeformed : whether to show the outline of the undeformed bodies.
    eye, up : directions from the bodies to the eye, and upwards.
    columns : most panels in one row.
    width : of the picture [inch at 160 dots per inch].
    engine : "vtk" (pyvista, in a process of its own), "matplotlib", or "auto": the first of them
        that works.
    comm : ranks that hold the samples, default all; rank 0 draws. `MPI.COMM_SELF` where one rank
        has everything.

    Returns
    -------
    The PNG.

    Raises
    ------
    SymancfError : on every rank: nothing to draw, no drawing package, `engine` "vtk" does not work.
    """
    comm = MPI.COMM_WORLD if comm is None else comm
    path = arguments.path("view.save", path).with_suffix(".png")
    named = scenes if isinstance(scenes, Mapping) else {"": scenes}
    held = {caption: gathered(comm, scene) for caption, scene in named.items()}
    with together(comm):
        if comm.rank == 0:
            panels = {
                caption: [
                    surface_of(s, field, whole=bool(classes)) for s in bodies if len(s.points)
                ]
                for caption, bodies in held.items()
            }
            if not any(panels.values()):
                raise SymancfError("nothing to draw: the samples hold no points")
            picture = Picture(panels, limits, shared, undeformed, eye, up, classes=classes)
            picture.compose(path, title, label or (field or ""), unit, cmap, columns, width, engine)
    return path
