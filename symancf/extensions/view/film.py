# SPDX-License-Identifier: BSD-3-Clause
"""Films as GIF or MPEG-4 files of figures of Matplotlib or of pixels."""

from __future__ import annotations

import io
import itertools
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Sized
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from symancf import SymancfError

from ..interface import Diagram, Ints, Progress, film_path, new_file, styled, together, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from matplotlib.figure import Figure
    from PIL import Image as Pillow

Image = NDArray[np.uint8]
T = TypeVar("T")


def write_film(images: Iterable[Figure | Image], path: str | Path, *, fps: float = 12.0) -> Path:
    """Write figures of Matplotlib, or pixels (rows, columns, 3) of uint8, as a film.

    A figure is drawn as it is when its turn comes: the same one may be changed and given again. All
    frames of a GIF have one palette of 256 colours, so that nothing flickers. Not collective.

    Parameters
    ----------
    path : a GIF, or an MPEG-4 as the name ends; missing folders are made.
    fps : frames per second.

    Raises
    ------
    ParameterError : a file of another kind.
    SymancfError : no images, or of different sizes; no Pillow, no ffmpeg.

    Examples
    --------
    >>> import numpy as np
    >>> from symancf import view
    >>> frames = [np.full((40, 60, 3), grey, dtype=np.uint8) for grey in (0, 255)]
    >>> view.write_film(frames, "results/blink.gif").name
    'blink.gif'
    """
    path = film_path("view.write_film", path)
    write_frames(images, path, fps, len(images) if isinstance(images, Sized) else 0)
    return path


def write_frames(images: Iterable[Figure | Image], path: Path, fps: float, count: int) -> None:
    """Write a film of `count` frames (0: as many as come), and tell how far it is."""
    need_writer(path)
    with Progress(MPI.COMM_SELF) as line:
        frames = _frames(images, line, path.name, count)
        if path.suffix == ".mp4":
            _write_mp4(frames, path, fps)
        else:
            _write_gif(frames, path, fps)


def draw_film(
    frames: Iterable[T],
    draw: Callable[[Any, T], object],
    path: str | Path,
    *,
    fps: float = 12.0,
    width: float = 3.6,
    height: float = 3.0,
    dots: float = 140,
    comm: MPI.Comm | None = None,
    **options: Any,
) -> Path:
    """Draw your own curves as a film, in the style of all pictures. Collective.

    Rank 0 draws; the data have to be there (as a `History` is on every rank).

    Parameters
    ----------
    frames : what differs from frame to frame: times, indices, positions.
    draw : ``draw(axes, frame)`` draws one of them on empty axes of Matplotlib; of several panels
        (``columns=2``) on an array of them.
    path, fps : see `write_film`.
    width, height, dots : size [inch] and points per inch.
    comm : ranks, default all.
    options : of `Diagram`.

    Raises
    ------
    ParameterError, SymancfError : see `write_film` and `Diagram`.

    Examples
    --------
    >>> import numpy as np
    >>> from symancf import view
    >>> def draw(axes, t):
    ...     axes.plot([0.0, np.sin(t)], [0.0, -np.cos(t)])
    ...     axes.set(xlim=(-1, 1), ylim=(-1, 0.1), title=f"t = {t:.1f} s")
    >>> view.draw_film(np.linspace(0.0, 1.0, 5), draw, "results/swing.gif", fps=5).name
    'swing.gif'
    """
    comm = MPI.COMM_WORLD if comm is None else comm
    complete = film_path("view.draw_film", path)
    options |= {"width": width, "height": height, "dots": dots, "comm": MPI.COMM_SELF}

    def drawn() -> Iterator[Figure]:
        picture = Diagram(**options)
        with picture as axes:
            for frame in frames:
                for panel in picture.panels:
                    panel.clear()
                draw(axes, frame)
                picture.complete()
                assert picture.figure is not None
                yield picture.figure

    with together(comm):
        if comm.rank == 0:
            write_frames(drawn(), complete, fps, len(frames) if isinstance(frames, Sized) else 0)
    return complete


def need_writer(path: Path) -> str:
    """Return the program that writes films with this name, "" where it is Pillow.

    Raises
    ------
    SymancfError : it is not there, and how to get it.
    """
    if path.suffix == ".gif":
        try:
            import PIL  # noqa: F401
        except ImportError:
            raise SymancfError(
                "GIFs need Pillow: pip install 'symancf[demo]'", asked="Pillow", given=path.name
            ) from None
        return ""
    program = shutil.which("ffmpeg")
    if program is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe
        except ImportError:
            raise SymancfError(
                f"{path.name}: films as .mp4 need ffmpeg: pip install imageio-ffmpeg, or "
                "apt-get install ffmpeg; a .gif does without",
                asked="ffmpeg",
                given=path.name,
            ) from None
        program = str(get_ffmpeg_exe())
    return program


def _frames(
    images: Iterable[Figure | Image], line: Progress, name: str, count: int
) -> Iterator[Image]:
    """Yield pixels, all of one size, and tell of each frame that is drawn.

    Raises
    ------
    SymancfError : of no images, or of different sizes.
    """
    line.way = 0.0, float(count)
    shapes, of = set(), f" of {count}" if count else ""
    for number, image in enumerate(images, 1):
        frame = image if isinstance(image, np.ndarray) else pixels(image)
        shapes.add(frame.shape)
        if len(shapes) > 1:
            break
        line.part(f"{name}, frame {number}{of}", float(number))
        yield frame
    if len(shapes) != 1:
        raise SymancfError(
            f"write_film: {len(shapes) or 'no'} sizes of images, give one: {shapes}",
            asked="images",
            given=tuple(sorted(shapes)),
        )


def _write_mp4(frames: Iterator[Image], path: Path, fps: float) -> None:
    """Let ffmpeg write H.264 as all browsers and lecture rooms show it."""
    first = next(frames)
    rows, columns = first.shape[:2]
    command = [need_writer(path), "-y", "-loglevel", "error"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{columns}x{rows}"]
    command += ["-r", f"{fps:g}", "-i", "-", "-an", "-c:v", "libx264", "-crf", "18"]
    command += ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-pix_fmt", "yuv420p"]
    command += ["-movflags", "+faststart", "-f", "mp4"]
    with new_file(path) as partial, tempfile.TemporaryFile() as log:
        writer = subprocess.Popen(
            [*command, str(partial)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log
        )
        assert writer.stdin is not None
        try:
            for frame in itertools.chain([first], frames):
                writer.stdin.write(np.ascontiguousarray(frame).data)
        except BrokenPipeError:
            pass  # ffmpeg says why
        finally:
            writer.communicate()
        if writer.returncode:
            log.seek(0)
            lines = log.read().decode(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else f"exit status {writer.returncode}"
            raise SymancfError(f"ffmpeg could not write {path.name}: {reason}")


def _write_gif(frames: Iterator[Image], path: Path, fps: float) -> None:
    from PIL import Image as Pillow
    from scipy.spatial import cKDTree  # half a second to import

    packed = []
    for frame in frames:
        shape = frame.shape
        packed.append(zlib.compress(np.ascontiguousarray(frame).data, 1))

    def unpacked(k: int) -> Image:
        return np.frombuffer(zlib.decompress(packed[k]), np.uint8).reshape(shape)

    some = np.unique(np.linspace(0, len(packed) - 1, 12).round().astype(int))
    colours = _palette(Pillow.fromarray(np.concatenate([unpacked(k) for k in some])))
    tree = cKDTree(colours)

    def flat(k: int) -> Pillow.Image:
        image = unpacked(k).astype(np.uint32)
        codes = image[..., 0] << 16 | image[..., 1] << 8 | image[..., 2]
        kinds, back = np.unique(codes, return_inverse=True)
        _, nearest = tree.query(np.stack([kinds >> 16, kinds >> 8 & 255, kinds & 255], axis=1))
        flattened = Pillow.fromarray(nearest[back].astype(np.uint8).reshape(shape[:2]), "P")
        flattened.putpalette(colours.ravel().tolist())
        return flattened

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


def _palette(sheet: Pillow.Image) -> Ints:
    """Return at most 256 colours (n, 3) that suit an image, with exact black and white."""
    from PIL import Image as Pillow

    palette = sheet.quantize(254, method=Pillow.Quantize.MEDIANCUT).getpalette()
    colours = [*np.reshape(palette, (-1, 3)).tolist(), [0] * 3, [255] * 3]
    return np.asarray(np.unique(colours, axis=0)[-256:])


def pixels(figure: Figure) -> Image:
    """Draw a figure, (rows, columns, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    with styled():
        canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
