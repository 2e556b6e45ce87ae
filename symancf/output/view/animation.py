# SPDX-License-Identifier: BSD-3-Clause
"""Animations as GIF files: states of bodies, or figures of Matplotlib, one after the other."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ...arrays import Array, Ints
from ...errors import SymancfError
from ...runtime.collective import together
from ...runtime.files import write_whole
from ...values import arguments
from .. import Samples, Series, read_state, states
from .picture import Picture, value_range
from .scene import Scene, gathered
from .surface import Surface, surface_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image as Pillow

Image = NDArray[np.uint8]


class Camera(TypedDict):
    """How bodies are looked at; see `render`."""

    undeformed: bool
    eye: Sequence[float]
    up: Sequence[float]


State = Samples | Sequence[Samples] | Mapping[str, Samples]

MOST = 300  # frames
BATCH = 25  # frames that one process of VTK draws


def animate(
    frames: Series | str | Path | Sequence[State],
    path: str | Path,
    *,
    times: Sequence[float] | None = None,
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
    width: float = 6.0,
    dots: int = 100,
    engine: str = "auto",
    comm: MPI.Comm | None = None,
) -> Path:
    """Draw states of deformed bodies, coloured by a field, as an animated GIF. Collective.

    The camera stands still and sees all states, and one scale of colours holds for all.

    Parameters
    ----------
    frames : A series (`output.Series` or its .pvd file), or a list of states, each the samples of
        one body on this rank or of several. Of more than 300 states, 300 are drawn.
    path : the GIF; missing folders are made.
    times : of the states of a list, shown above them.
    fps : frames per second.
    width, dots : of the frames [inch, dots per inch].
    field, title, label, unit, cmap, limits, undeformed, eye, up, engine, comm : see `render`.

    Returns
    -------
    The GIF.

    Raises
    ------
    SymancfError : on every rank: nothing to draw, no drawing package, `engine` "vtk" does not work.

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
    path = arguments.path("view.animate", path).with_suffix(".gif")
    captions, load = _loader(comm, frames, times)
    with together(comm):
        if comm.rank == 0:
            film = _Film(
                captions, lambda k: [surface_of(s, field) for s in load(k) if len(s.points)]
            )
            camera: Camera = {"undeformed": undeformed, "eye": eye, "up": up}
            style = {"title": title, "label": label or (field or ""), "unit": unit, "cmap": cmap}
            images = film.images(limits, camera, style, width, dots, engine)
            write_gif(images, path, fps=fps)
    return path


def _loader(
    comm: MPI.Comm, frames: Series | str | Path | Sequence[State], times: Sequence[float] | None
) -> tuple[list[str], Callable[[int], list[Samples]]]:
    """Return captions, and what gives rank 0 the bodies of a frame (collective)."""
    if isinstance(frames, Series | str | Path):
        source = frames.path if isinstance(frames, Series) else Path(frames)
        listed: list[tuple[float, dict[str, Path]]] = []
        with together(comm):
            if comm.rank == 0:
                every = states(source)
                listed = [every[k] for k in _chosen(len(every))]
        captions = [f"t = {time:.4g}" for time, _ in listed]
        return captions, lambda k: list(read_state(listed[k][1]).values())
    if times is not None and len(times) != len(frames):
        raise SymancfError(f"animate: {len(times)} times of {len(frames)} states")
    held, captions = [], []
    for k in _chosen(len(frames)):
        state = frames[k]
        scene: Scene = list(state.values()) if isinstance(state, Mapping) else state
        held.append(gathered(comm, scene))
        captions.append("" if times is None else f"t = {times[k]:.4g}")
    return captions, lambda k: held[k]


def _chosen(count: int) -> list[int]:
    """At most `MOST` numbers, evenly among `count`."""
    places = np.linspace(0, count - 1, min(count, MOST))
    return [int(k) for k in np.unique(places.round())]


class _Film:
    """Frames whose surfaces are loaded twice: to find what they span, and to be drawn."""

    def __init__(self, captions: list[str], load: Callable[[int], list[Surface]]) -> None:
        self.captions, self.load = captions, load

    def images(
        self,
        limits: tuple[float, float] | None,
        camera: Camera,
        style: Mapping[str, str],
        width: float,
        dots: int,
        engine: str,
    ) -> Iterable[Image]:
        """Draw frame after frame."""
        frame, found = self._span(camera)
        limits = limits or found
        n = len(self.captions)
        for first in range(0, n, BATCH):
            numbers = range(first, min(n, first + BATCH))
            panels = {str(k): self.load(k) for k in numbers}
            drawn = None
            if engine != "matplotlib":
                batch = Picture(panels, frame=frame, limits=limits, shared=True, **camera)
                tall = width * batch.aspect(alone=True)
                drawn = batch.drawn_by_vtk(width, tall, style["cmap"], engine, dots)
                engine = "vtk" if drawn is not None else "matplotlib"
            for i, (k, bodies) in enumerate(zip(numbers, panels.values(), strict=True)):
                picture = Picture(
                    {self.captions[k]: bodies}, frame=frame, limits=limits, shared=True, **camera
                )
                pictures = None if drawn is None else [drawn[i]]
                figure = picture.figure(
                    **style, columns=1, width=width, engine=engine, dots=dots, pictures=pictures
                )
                yield _pixels(figure)

    def _span(self, camera: Camera) -> tuple[Array, tuple[float, float] | None]:
        """Return what the camera must see (2, 2), and the range of the values."""
        corners, values = [], []
        for k in range(len(self.captions)):
            bodies = self.load(k)
            if bodies:
                picture = Picture({"": bodies}, limits=None, shared=True, **camera)
                corners.append(picture.frames[0])
                values += [r for r in [value_range(bodies)] if r is not None]
        if not corners:
            raise SymancfError("nothing to draw: the states hold no points")
        low = np.min([low for low, _ in corners], axis=0)
        high = np.max([high for _, high in corners], axis=0)
        if not values:
            return np.array([low, high]), None
        return np.array([low, high]), (min(r[0] for r in values), max(r[1] for r in values))


def write_gif(images: Iterable[Figure | Image], path: str | Path, *, fps: float = 12.0) -> Path:
    """Write figures of Matplotlib, or pixels (rows, columns, 3) of uint8, as an animated GIF.

    All frames have one palette of 256 colours, so that nothing flickers. A figure is drawn as
    it is when its turn comes: the same one may be changed and given again. Not collective.

    Raises
    ------
    SymancfError : no images, or of different sizes; no Pillow.

    Examples
    --------
    >>> import numpy as np
    >>> from symancf import view
    >>> frames = [np.full((40, 60, 3), grey, dtype=np.uint8) for grey in (0, 255)]
    >>> view.write_gif(frames, "results/blink.gif").name
    'blink.gif'
    """
    try:
        from PIL import Image as Pillow
    except ImportError:
        raise SymancfError("animations need Pillow: pip install 'symancf[demo]'") from None
    from scipy.spatial import cKDTree  # half a second to import

    path = arguments.path("view.animate", path).with_suffix(".gif")
    packed, shapes = [], set()
    for image in images:
        pixels = image if isinstance(image, np.ndarray) else _pixels(image)
        shapes.add(pixels.shape)
        packed.append(zlib.compress(np.ascontiguousarray(pixels).data, 1))
    if len(shapes) != 1:
        raise SymancfError(f"write_gif: {len(shapes) or 'no'} sizes of images, give one: {shapes}")
    (shape,) = shapes

    def unpacked(k: int) -> Image:
        return np.frombuffer(zlib.decompress(packed[k]), np.uint8).reshape(shape)

    some = np.unique(np.linspace(0, len(packed) - 1, 12).round().astype(int))
    colours = _palette(Pillow.fromarray(np.concatenate([unpacked(k) for k in some])))
    tree = cKDTree(colours)

    def flat(k: int) -> Pillow.Image:
        pixels = unpacked(k).astype(np.uint32)
        codes = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
        kinds, back = np.unique(codes, return_inverse=True)
        _, nearest = tree.query(np.stack([kinds >> 16, kinds >> 8 & 255, kinds & 255], axis=1))
        image = Pillow.fromarray(nearest[back].astype(np.uint8).reshape(shape[:2]), "P")
        image.putpalette(colours.ravel().tolist())
        return image

    drawn = io.BytesIO()  # Pillow says of a full disk no more than "encoder error -2"
    flat(0).save(
        drawn,
        format="GIF",
        save_all=True,
        append_images=map(flat, range(1, len(packed))),
        duration=round(1000.0 / fps),
        loop=0,
    )
    write_whole(path, drawn.getbuffer())
    return path


def _palette(sheet: Pillow.Image) -> Ints:
    """Return at most 256 colours (n, 3) that suit an image, with exact black and white."""
    from PIL import Image as Pillow

    found = sheet.quantize(254, method=Pillow.Quantize.MEDIANCUT).getpalette()
    colours = [*np.reshape(found, (-1, 3)).tolist(), [0] * 3, [255] * 3]
    return np.asarray(np.unique(colours, axis=0)[-256:])


def _pixels(figure: Figure) -> Image:
    """Draw a figure, (rows, columns, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
