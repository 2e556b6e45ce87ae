# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of one style, as files of a kind or as what notebooks show; diagrams of curves."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..errors import ParameterError, SymancfError
from ..runtime.collective import share_error, together
from ..runtime.files import write_whole
from ..values import arguments
from ..values.arguments import text
from ..values.parameter import direction, label, reals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..arrays import Array

KINDS = ".png", ".pdf", ".svg"
FILMS = ".gif", ".mp4"
WIDTH = 7.2  # inch: both columns of a journal
DOTS = 200  # per inch
INK = "#1b2a38"
PAPER = "#ffffff"
#: Lines one after the other, told apart by all eyes: Okabe and Ito (2008), the yellow darker.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00", "#7a7a00")
STYLE: dict[str, Any] = {  # of Matplotlib, whatever a user's own settings are
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.0,
    "mathtext.fontset": "dejavusans",
    "text.color": INK,
    "text.usetex": False,
    "figure.titlesize": 10.0,
    "axes.titlesize": 8.5,
    "axes.titlepad": 5.0,
    "axes.labelsize": 8.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "axes.formatter.use_mathtext": True,
    "axes.xmargin": 0.02,
    "grid.color": "#dfe4e8",
    "grid.linewidth": 0.5,
    "grid.alpha": 1.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "patch.linewidth": 0.6,
    "legend.fontsize": 7.0,
    "legend.frameon": True,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "none",
    "legend.fancybox": False,
    "legend.handlelength": 1.8,
    "legend.borderpad": 0.3,
    "pdf.fonttype": 42,  # letters, not outlines: journals ask for them
    "svg.hashsalt": "symancf",  # the same bytes each time
}
UNDATED = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


class Image:
    """A picture that is in no file: notebooks show it. Empty on ranks that do not draw.

    Attributes
    ----------
    figure : of Matplotlib, to be changed at will; None where nothing is drawn.
    """

    def __init__(self, figure: Figure | None = None) -> None:
        self.figure = figure

    def save(self, path: str | Path, dots: float | str = "figure") -> Path:
        """Write it as a PNG, PDF or SVG, as the name ends; missing folders are made.

        Parameters
        ----------
        dots : per inch.
        """
        path = image_path("Image.save", path)
        if self.figure is not None:
            write_whole(path, self._drawn(path.suffix[1:], dots))
        return path

    def _drawn(self, kind: str, dots: float | str = "figure") -> memoryview:
        assert self.figure is not None
        drawn = io.BytesIO()  # Pillow says of a full disk no more than "encoder error -2"
        with styled():
            self.figure.savefig(drawn, format=kind, dpi=dots, metadata=UNDATED[kind])
        return drawn.getbuffer()

    def _repr_png_(self) -> bytes | None:
        """Return what notebooks show."""
        return None if self.figure is None else bytes(self._drawn("png"))

    def __repr__(self) -> str:
        return "Image: a notebook shows it, save(path) writes it"


class Diagram(Image):
    """Curves in panels, in the style of all pictures: fonts, lines, colours for all eyes.

    A ``with`` gives axes of Matplotlib, of one panel as they are, of several in a flat array. When
    it ends panels with labelled lines have legends, those without anything are gone, and the
    picture is in its file. Every rank runs the block, rank 0 writes; collective.

    Parameters
    ----------
    path : a PNG, PDF or SVG; without it notebooks show the diagram, and `save` writes it.
    rows, columns : panels.
    title : headline.
    width, height : of the picture [inch]; the default width is that of a page of a journal.
    dots : per inch.
    comm : ranks, default all.
    options : of Matplotlib's `subplots`, such as ``sharex`` and ``width_ratios``.

    Raises
    ------
    SymancfError : no matplotlib.
    ParameterError : a file of another kind.

    Examples
    --------
    >>> from symancf import view
    >>> with view.Diagram("results/fall.pdf", title="Free fall") as axes:
    ...     _ = axes.plot([0.0, 0.1, 0.2], [0.0, -0.049, -0.196], label="z")
    ...     _ = axes.set(xlabel="time [s]", ylabel="displacement [m]")
    """

    def __init__(
        self,
        path: str | Path | None = None,
        rows: int = 1,
        columns: int = 1,
        *,
        title: str = "",
        width: float = WIDTH,
        height: float | None = None,
        dots: float = DOTS,
        comm: MPI.Comm | None = None,
        **options: Any,
    ) -> None:
        self.path = None if path is None else image_path("Diagram", path)
        sizes = {"width": width, "dots": dots} | ({} if height is None else {"height": height})
        require_drawable("view.Diagram", title=title, rows=rows, columns=columns, **sizes)
        self.comm = MPI.COMM_WORLD if comm is None else comm
        if height is None:
            height = rows * min(0.56 * width, 0.72 * width / columns + 0.35) + 0.3 * bool(title)
        with styled():
            super().__init__(blank(width, height, dots))
            assert self.figure is not None
            if title:
                self.figure.suptitle(title)
            self.panels = self.figure.subplots(rows, columns, squeeze=False, **options).ravel()

    def __enter__(self) -> Any:
        """Return the axes."""
        self._style = styled()
        self._style.__enter__()
        return self.panels[0] if len(self.panels) == 1 else self.panels

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        """Add legends and write the file."""
        try:
            if error is None:
                self.complete()
        finally:
            self._style.__exit__(None, None, None)
        if self.comm.size > 1:
            share_error(self.comm, error)
        if error is None and self.path is not None:
            with together(self.comm):
                if self.comm.rank == 0:
                    self.save(self.path)

    def complete(self) -> None:
        """Give legends to panels with labelled lines, and leave out those without anything."""
        for axes in self.panels:
            _plain_decades(axes)
            if not axes.has_data() and not axes.texts:
                axes.axis("off")
            elif axes.get_legend() is None and axes.get_legend_handles_labels()[1]:
                axes.legend()


def _plain_decades(axes: Axes) -> None:
    """Leave out what is written between powers of ten, where some of these are in view."""
    from matplotlib.ticker import NullFormatter

    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_scale() == "log" and max(limits) >= 10.0 * min(limits):
            axis.set_minor_formatter(NullFormatter())


def over_time(drawn: dict[str, tuple[Array, Array]], label: str, time_unit: str) -> Image:
    """Return a diagram of series by name: times (n,) and values (n, ...), a line for each."""
    image = Diagram(comm=MPI.COMM_SELF)
    with image as axes:
        axes.set(xlabel=f"time [{time_unit}]" if time_unit else "time", ylabel=label)
        for name, (time, values) in drawn.items():
            columns = values.reshape(len(time), -1).T
            letters = "xyz" if values.shape[1:] in ((3,), (1, 3)) else range(len(columns))
            for letter, column in zip(letters, columns, strict=True):
                axes.plot(time, column, label=f"{name} {letter}" if len(columns) > 1 else name)
    return image


@contextmanager
def styled() -> Iterator[None]:
    """Give Matplotlib the style of all pictures, in a block or (``@styled()``) a function.

    Raises
    ------
    SymancfError : no matplotlib.
    """
    try:
        from cycler import cycler
        from matplotlib import rc_context
    except ImportError:
        raise SymancfError("pictures need matplotlib: pip install 'symancf[demo]'") from None
    with rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLOURS)}):
        yield


def blank(width: float, height: float, dots: float, layout: Any = "constrained") -> Figure:
    """Return an empty figure that needs no display: sizes in inches, dots per inch."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure((width, height), dpi=dots, layout=layout, facecolor=PAPER)
    FigureCanvasAgg(figure)
    return figure


def require_drawable(call: str, **arguments: Any) -> None:
    """Raise where a picture cannot be drawn as it was asked for, by the names of the arguments.

    Raises
    ------
    ParameterError
    """
    for name, value in arguments.items():
        must, accepts = DRAWABLE[name]
        if accepts is _utf8:
            text(f"{call}: {name}", value)
        if not accepts(value):
            raise ParameterError(
                f"{call}({name}={label(value)}): it must {must}", asked=name, given=value
            )


def _utf8(text: str) -> bool:
    return not re.search("[\ud800-\udfff\0]", text)


def _limits(limits: Any) -> bool:
    pair = reals(limits)
    return limits is None or (pair.shape == (2,) and bool(pair[0] <= pair[1]))


def _texts(texts: Any) -> bool:
    return isinstance(texts, list | tuple) and all(isinstance(x, str) for x in texts)


def _count(value: Any) -> bool:
    return isinstance(value, int) and _is_number(value, 1, 100)


def _is_number(value: Any, low: float, high: float) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and bool(low <= value <= high)


#: Of pictures [inch], dots per inch and pictures per second.
SIZES = {"width": (0.1, 200.0), "height": (0.1, 200.0), "dots": (1, 4800), "fps": (1e-3, 1e3)}
#: What arguments of pictures must be: their names, words, a function that tells.
_RULES: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("title label unit time_unit cmap", "be a text in UTF-8", _utf8),
    ("field directions", "be the name of a field, or None", lambda x: isinstance(x, str | None)),
    ("shared undeformed", "be True or False", lambda x: isinstance(x, bool | np.bool_)),
    ("rows columns", "be a whole number from 1 to 100", _count),
    ("eye up", "be a direction, three numbers", lambda x: len(direction(x)) == 3),
    ("limits", "be two numbers, the smaller one first", _limits),
    ("classes", "be a list of texts", _texts),
    *(
        (name, f"be a number from {low:g} to {high:g}", partial(_is_number, low=low, high=high))
        for name, (low, high) in SIZES.items()
    ),
)
DRAWABLE = {name: (must, good) for names, must, good in _RULES for name in names.split()}


def image_path(what: str, path: str | Path) -> Path:
    """Return the file of a picture: a PNG, unless its name ends in .pdf or .svg.

    Raises
    ------
    ParameterError : it ends like a picture of another kind.
    """
    others = (".jpg", ".jpeg", ".eps", ".ps", ".tif", ".tiff", ".gif")
    return _of_a_kind(what, path, KINDS, others, "pictures are .png, .pdf or .svg")


def film_path(what: str, path: str | Path) -> Path:
    """Return the file of a film: a GIF, unless its name ends in .mp4.

    Raises
    ------
    ParameterError : it ends like a film or a picture of another kind.
    """
    others = (".avi", ".mov", ".mkv", ".webm", ".ogv", ".wmv", ".apng", *KINDS)
    return _of_a_kind(what, path, FILMS, others, "films are .gif or .mp4")


def _of_a_kind(
    what: str, file: str | Path, kinds: tuple[str, ...], others: tuple[str, ...], rule: str
) -> Path:
    """Return a file with one of the endings `kinds`, the first by default, none of `others`."""
    path = arguments.path(what, file)
    kind = path.suffix.lower()
    if kind in others:
        raise ParameterError(
            f"{what}({str(path)!r}): {rule}", asked="path", given=str(path), possible=kinds
        )
    return path.with_suffix(kind if kind in kinds else kinds[0])
