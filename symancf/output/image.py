# SPDX-License-Identifier: BSD-3-Clause
"""Pictures as files of a kind, or as what notebooks show."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ParameterError, SymancfError
from ..runtime.files import write_whole
from ..values import arguments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ".png", ".pdf", ".svg"


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
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, self._drawn(path.suffix[1:], dots))
        return path

    def _drawn(self, kind: str, dots: float | str = "figure") -> memoryview:
        assert self.figure is not None
        drawn = io.BytesIO()  # Pillow says of a full disk no more than "encoder error -2"
        self.figure.savefig(drawn, format=kind, dpi=dots)
        return drawn.getbuffer()

    def _repr_png_(self) -> bytes | None:
        """Return what notebooks show."""
        return None if self.figure is None else bytes(self._drawn("png"))

    def __repr__(self) -> str:
        return "Image: a notebook shows it, save(path) writes it"


def diagram(width: float, height: float, dots: int) -> Figure:
    """Return an empty figure that needs no display: sizes in inches, dots per inch.

    Raises
    ------
    SymancfError : no matplotlib.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise SymancfError("pictures need matplotlib: pip install 'symancf[demo]'") from None
    figure = Figure((width, height), dpi=dots, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def image_path(what: str, path: str | Path) -> Path:
    """Return the file of a picture: a PNG, unless its name ends in .pdf or .svg.

    Raises
    ------
    ParameterError : it ends like a picture of another kind.
    """
    path = arguments.path(what, path)
    if path.suffix.lower() in KINDS:
        return path.with_suffix(path.suffix.lower())
    if path.suffix.lower() in (".jpg", ".jpeg", ".eps", ".ps", ".tif", ".tiff", ".gif"):
        raise ParameterError(f"{what}({str(path)!r}): pictures are .png, .pdf or .svg", name="path")
    return path.with_suffix(".png")
