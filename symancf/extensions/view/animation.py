# SPDX-License-Identifier: BSD-3-Clause
"""Animations: states of bodies, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
from mpi4py import MPI

from symancf import SymancfError
from symancf.output import Samples, Series, read_state, states

from ..interface import Array, RigidShape, arguments, film_path, together
from .film import Image, need_writer, pixels, write_frames
from .picture import ENGINES, Picture, value_range
from .scene import Scene, gathered, require_field, unit_of
from .surface import DrawnSurface, surface_of

State = Samples | Sequence[Samples | RigidShape] | Mapping[str, Samples | RigidShape]

MAX_FRAMES = 300  # frames
BATCH = 25  # frames that one process of VTK draws


def animate(
    frames: Series | str | Path | Sequence[State | tuple[float, State]],
    path: str | Path,
    *,
    times: Sequence[float] | None = None,
    time_unit: str = "",
    fps: float = 12.0,
    field: str | None = "displacement",
    title: str = "",
    label: str = "",
    unit: str = "",
    cmap: str = "dawn",
    limits: tuple[float, float] | None = None,
    undeformed: bool = False,
    eye: Sequence[float] = (0.75, -1.0, 0.62),
    up: Sequence[float] = (0.0, 0.0, 1.0),
    width: float = 4.8,
    dots: int = 125,
    engine: str = "auto",
    comm: MPI.Comm | None = None,
) -> Path:
    """Draw states of deformed bodies, coloured by a field, as a GIF or an MPEG-4. Collective.

    The camera is fixed and sees all states, which share one scale of colours.

    Parameters
    ----------
    frames : A series (`output.Series` or its .pvd file), or a list of states, each the samples of
        one body on this rank or of several, or ``(time, state)``. Of more than 300, 300 are drawn.
    path : the film, a .gif or .mp4 (that needs ffmpeg); missing folders are made.
    times : of the states of a list, shown above them.
    time_unit : of the times, e.g. "s".
    fps : frames per second.
    width, dots : of the frames [inch, dots per inch].
    field, title, label, unit, cmap, limits, undeformed, eye, up, engine, comm : see `render`.

    Returns
    -------
    The file.

    Raises
    ------
    ParameterError : a film of another kind.
    SymancfError : on every rank: nothing to draw, no state has the field, no drawing package, no
        ffmpeg, `engine` "vtk" does not work.

    Examples
    --------
    >>> import numpy as np
    >>> from mpi4py import MPI
    >>> from symancf import output, view
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> patch = output.Samples(corners, {"triangle": np.array([[0, 1, 2]])})
    >>> frames = [patch, patch]
    >>> view.animate(frames, "results/patch.gif", field=None, engine="matplotlib").name
    'patch.gif'
    """
    comm = MPI.COMM_WORLD if comm is None else comm
    path = film_path("view.animate", path)
    arguments.one_of("view.animate: engine", engine, ENGINES)
    with together(comm):
        if comm.rank == 0:
            need_writer(path)
    captions, load = _loader(comm, frames, times, time_unit)
    with together(comm):
        if comm.rank == 0:
            require_field((s for k in range(len(captions)) for s in load(k)), field)

            def surfaces(k: int) -> list[DrawnSurface]:
                return [surface_of(s, field) for s in load(k) if len(s.points)]

            view = partial(Picture, shared=True, undeformed=undeformed, eye=eye, up=up)
            frame, limits_of_values = _span(len(captions), surfaces, view)
            view = partial(view, frame=frame, limits=limits or limits_of_values)
            unit = unit or unit_of(load(0), field)
            style = {"title": title, "label": label or (field or ""), "unit": unit, "cmap": cmap}
            images = _images(captions, surfaces, view, style, width, dots, engine)
            write_frames(images, path, fps, len(captions))
    return path


def _loader(
    comm: MPI.Comm,
    frames: Series | str | Path | Sequence[State | tuple[float, State]],
    times: Sequence[float] | None,
    time_unit: str,
) -> tuple[list[str], Callable[[int], list[Samples]]]:
    """Return captions, and what gives rank 0 the bodies of a frame (collective)."""
    if isinstance(frames, Series | str | Path):
        source = frames.path if isinstance(frames, Series) else Path(frames)
        with together(comm):
            every = states(source) if comm.rank == 0 else []
        listed = [every[k] for k in _chosen(len(every))]
        captions = _clock([time for time, _ in listed], time_unit)
        return captions, lambda k: list(read_state(listed[k][1]).values())
    if times is not None and len(times) != len(frames):
        raise SymancfError(
            f"animate: {len(times)} times of {len(frames)} states",
            asked="times",
            given=len(times),
            possible=(len(frames),),
        )
    parts, alone = _apart(frames)
    times = parts if times is None else times
    frames_of_bodies, chosen = [], _chosen(len(frames))
    for k in chosen:
        state = alone[k]
        scene: Scene = list(state.values()) if isinstance(state, Mapping) else state
        frames_of_bodies.append(gathered(comm, scene))
    clock = None if times is None else _clock([times[k] for k in chosen], time_unit)
    return clock or [""] * len(chosen), lambda k: frames_of_bodies[k]


def _apart(
    frames: Sequence[State | tuple[float, State]],
) -> tuple[list[float] | None, list[State]]:
    """Return the times of states that have them, and the states."""
    timed = [f for f in frames if isinstance(f, tuple) and f and isinstance(f[0], int | float)]
    if not timed or len(timed) != len(frames):
        return None, cast("list[State]", list(frames))
    return [float(f[0]) for f in timed], [cast("State", f[1]) for f in timed]


def _clock(times: Sequence[float], unit: str) -> list[str]:
    """Return captions of times, all with as many decimals as tell them apart."""
    values = np.asarray(times, float)
    step = np.diff(np.unique(values)).min(initial=np.inf)
    least = max(0, int(np.ceil(-np.log10(step) - 1e-6))) if np.isfinite(step) else 3
    digits = next(
        (d for d in (least, least + 1) if np.abs(values - values.round(d)).max() < 0.1 * step),
        least + 1,
    )
    return [f"t = {value:.{digits}f} {unit}".rstrip() for value in values]


def _chosen(count: int) -> list[int]:
    """At most `MAX_FRAMES` numbers, evenly among `count`."""
    places = np.linspace(0, count - 1, min(count, MAX_FRAMES))
    return [int(k) for k in np.unique(places.round())]


def _span(
    count: int, surfaces: Callable[[int], list[DrawnSurface]], view: Callable[..., Picture]
) -> tuple[Array, tuple[float, float] | None]:
    """Return what the camera must see in some frames (2, 2), and the range of the values."""
    corners, values = [], []
    for k in range(count):
        if bodies := surfaces(k):
            corners.append(view({"": bodies}, limits=None).frames[0])
            values += [r for r in [value_range(bodies)] if r is not None]
    if not corners:
        raise SymancfError("nothing to draw: the states hold no points", asked="points", given=0)
    low = np.min([low for low, _ in corners], axis=0)
    high = np.max([high for _, high in corners], axis=0)
    if not values:
        return np.array([low, high]), None
    return np.array([low, high]), (min(r[0] for r in values), max(r[1] for r in values))


def _images(
    captions: list[str],
    surfaces: Callable[[int], list[DrawnSurface]],
    view: Callable[..., Picture],
    style: Mapping[str, str],
    width: float,
    dots: int,
    engine: str,
) -> Iterable[Image]:
    """Draw frame after frame; surfaces are made anew, so that few are there at a time."""
    for first in range(0, len(captions), BATCH):
        names = captions[first : first + BATCH]
        panels = {str(k): surfaces(k) for k in range(first, first + len(names))}
        drawn = None
        if engine != "matplotlib":
            batch = view(panels)
            tall = width * batch.aspect(alone=True)
            drawn = batch.drawn_by_vtk(width, tall, style["cmap"], engine, dots)
            engine = "vtk" if drawn is not None else "matplotlib"
        for i, (caption, bodies) in enumerate(zip(names, panels.values(), strict=True)):
            pictures = None if drawn is None else [drawn[i]]
            figure = view({caption: bodies}).figure(
                **style, columns=1, width=width, engine=engine, dots=dots, pictures=pictures
            )
            yield pixels(figure)
