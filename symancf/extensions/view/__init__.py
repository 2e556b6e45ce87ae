# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and animations of deformed bodies, drawn off-screen: no display, no X server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from symancf import SymancfError

from ..interface import (
    WIDTH,
    Diagram,
    Image,
    arguments,
    direction,
    image_path,
    require_drawable,
    together,
)
from .animation import animate
from .directions import require_tensor
from .draw_vtk import compose
from .film import draw_film, write_film
from .picture import COLOUR_TOLERANCE, ENGINES, Picture
from .regions import regions
from .scene import Scene, gathered, require_field, unit_of
from .surface import surface_of

if TYPE_CHECKING:
    from pathlib import Path

    from symancf.output import Samples

    from .surface import DrawnSurface

__all__ = ["Diagram", "Scene", "animate", "draw_film", "regions", "render", "show", "write_film"]


def __dir__() -> list[str]:
    """Names for completion."""
    return __all__


def render(
    scenes: Scene | Mapping[str, Scene],
    path: str | Path | None = None,
    *,
    field: str | None = "displacement",
    directions: str | None = None,
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
    width: float = WIDTH,
    engine: str = "auto",
    comm: MPI.Comm | None = None,
) -> Path | Image:
    """Draw deformed bodies, coloured by a field. Collective.

    The values of neighbouring cells are averaged where they meet.

    Parameters
    ----------
    scenes : Samples of one body on this rank, those of a support, a load or another term (points
        with arrows, reactions blue, loads red, each term with its own scale), a rigid shape that
        rests (``sa.Plane(...)``; of one that moves ``sa.sample(system, shape)``), a .vtu, .pvtu or
        .pvd file, or a sequence of them in one picture. A mapping "caption" -> scene draws them
        side by side.
    path : a PNG, PDF or SVG (bodies are pixels there, too); missing folders are made. Without it
        an `Image` is returned, which notebooks show.
    field : point or cell data that colours the bodies, vectors by their magnitude. Bodies that lack
        it are grey; where all do it is an error (without displacements all are grey).
    directions : a symmetric tensor among point or cell data, ``"cauchy"``, whose principal values
        are drawn as crosses of lines along their directions: red where positive (tension), blue
        where negative, as long as they are large; the value of the longest is written below where
        ``field=None``. What is below 4 % of it is not drawn. ``S`` and ``E_gl`` have the directions
        of the reference: ``sa.sample(..., reference=True)``.
    title, label : Headline, and name of the field at the colour bar (default `field`).
    unit : unit of the field, default that of the samples; of "m", "N", "Pa" and others of the SI
        the colour bar counts in mm, kN, MPa, ...
    cmap : "dawn" (viridis, lightened so that shading and element borders stay visible) or any
        colour map of Matplotlib.
    classes : names of the values 0, 1, ... of the field, such as ``("open", "stick", "slip")`` of a
        contact's status; each face then has one colour.
    limits : smallest and largest value of the colours; default those of the field.
    shared : whether the panels share colours and one colour bar.
    undeformed : whether to show the outline of the undeformed bodies.
    eye, up : directions from the bodies to the eye, and upwards.
    columns : most panels in one row.
    width : of the picture [inch at 200 dots per inch]; the default is that of a page of a journal.
    engine : "vtk" (pyvista, in a process of its own), "matplotlib", or "auto": the first of them
        that works.
    comm : ranks that have the samples, default all; rank 0 draws. `MPI.COMM_SELF` where one rank
        has everything.

    Returns
    -------
    The file, or the image.

    Raises
    ------
    SymancfError : on every rank: nothing to draw, no body has the field, no drawing package,
        `engine` "vtk" does not work.

    Examples
    --------
    >>> import numpy as np
    >>> from mpi4py import MPI
    >>> from symancf import output, view
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> patch = output.Samples(corners, {"triangle": np.array([[0, 1, 2]])})
    >>> view.render(patch, "results/patch.png", field=None, engine="matplotlib").name
    'patch.png'
    """
    comm = MPI.COMM_WORLD if comm is None else comm
    path, image = None if path is None else image_path("view.render", path), Image()
    arguments.one_of("view.render: engine", engine, ENGINES)
    require_drawable(
        "view.render",
        **{"field": field, "directions": directions, "title": title, "label": label},
        **{"unit": unit, "cmap": cmap, "classes": classes, "limits": limits, "shared": shared},
        **{"undeformed": undeformed, "eye": eye, "up": up, "columns": columns, "width": width},
    )
    eye, up = direction(eye).tolist(), direction(up).tolist()
    by_caption = scenes if isinstance(scenes, Mapping) else {"": scenes}
    samples = {caption: gathered(comm, scene) for caption, scene in by_caption.items()}
    with together(comm):
        if comm.rank == 0:
            panels = _panels(samples, field, bool(classes), directions)
            every = [s for bodies in samples.values() for s in bodies]
            picture = Picture(
                panels,
                limits,
                shared,
                undeformed,
                eye,
                up,
                classes=classes,
                least=_least(panels, field),
            )
            if directions is not None:
                picture.cross(label if field is None else "", unit or unit_of(every, directions))
            unit = unit or unit_of(every, field)
            image = picture.compose(
                path, title, label or (field or ""), unit, cmap, columns, width, engine
            )
    return path or image


def _panels(
    samples: Mapping[str, list[Samples]],
    field: str | None,
    closed: bool = False,
    directions: str | None = None,
) -> dict[str, list[DrawnSurface]]:
    """Return the surfaces of each panel's bodies, some of which have the field and directions."""
    panels = {
        caption: [
            surface_of(s, field, closed=closed, directions=directions)
            for s in bodies
            if len(s.points)
        ]
        for caption, bodies in samples.items()
    }
    if not any(panels.values()):
        raise SymancfError("nothing to draw: the samples hold no points", asked="points", given=0)
    every = [s for bodies in samples.values() for s in bodies]
    require_field(every, field)
    if directions is not None:
        require_tensor(every, directions)
    return panels


def show(
    scene: Scene,
    *,
    field: str | None = "displacement",
    label: str = "",
    cmap: str = "dawn",
    limits: tuple[float, float] | None = None,
    undeformed: bool = True,
    eye: Sequence[float] = (0.75, -1.0, 0.62),
    up: Sequence[float] = (0.0, 0.0, 1.0),
    size: tuple[int, int] = (960, 640),
    interactive: bool = True,
    comm: MPI.Comm | None = None,
) -> Any:
    """Return deformed bodies as a scene of pyvista, to be turned with the mouse. Collective.

    In a notebook, or with a display, it is shown at once. More can be added to what is returned:
    a ``pyvista.Plotter``.

    Parameters
    ----------
    scene, field, label, cmap, limits, undeformed, eye, up, comm : see `render`.
    size : of the window [pixels].
    interactive : show it; else it is made without a display.

    Returns
    -------
    The plotter; None on ranks that do not draw.

    Raises
    ------
    SymancfError : on every rank: nothing to draw, no body has the field, or pyvista is not
        installed.

    Examples
    --------
    >>> import symancf as sa
    >>> sa.view.show(sa.sample(problem.system, body), field="von_mises")  # doctest: +SKIP
    """
    comm = MPI.COMM_WORLD if comm is None else comm
    bodies = gathered(comm, scene)
    plotter: Any = None
    with together(comm):
        if comm.rank == 0:
            panels = _panels({"": bodies}, field)
            try:
                import pyvista
            except ImportError:
                raise SymancfError(
                    "scenes need pyvista: pip install 'symancf[demo]'; render() draws without it"
                ) from None
            least = _least(panels, field)
            picture = Picture(panels, limits, True, undeformed, eye, up, least=least)
            plotter = pyvista.Plotter(off_screen=not interactive, window_size=size, lighting="none")
            job = {k: np.asarray(v) for k, v in picture.job(np.array(size), cmap).items()}
            compose(plotter, job, 0)
            if picture.coloured:
                title = (label or field or "").replace("_", " ") + "\n"
                mappers = (actor.mapper for actor in plotter.actors.values())
                coloured = next(mapper for mapper in mappers if mapper.scalar_visibility)
                bar = {"color": "black", "n_labels": 5, "width": 0.4, "position_x": 0.3}
                plotter.add_scalar_bar(title=title, mapper=coloured, **bar)
    if plotter is not None and interactive:
        plotter.show()
    return plotter


def _least(panels: Mapping[str, Sequence[DrawnSurface]], field: str | None) -> float:
    """Return the largest value of a field that is nothing: displacements have that of bodies."""
    if field != "displacement":
        return 0.0
    size = (np.ptp(body.reference, axis=0).max() for bodies in panels.values() for body in bodies)
    return COLOUR_TOLERANCE * float(max(size, default=0.0))
