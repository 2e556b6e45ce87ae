# SPDX-License-Identifier: BSD-3-Clause
"""A picture of several panels: cameras, colours, captions and scales around what is drawn."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from symancf import SymancfError

from ..interface import DOTS, STYLE, Array, Image, blank, styled, writing
from .arrows import add_arrows
from .directions import cross
from .surface import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

    from .surface import DrawnSurface


ENGINES = ("auto", "vtk", "matplotlib")
COLOUR_TOLERANCE = 1e-10  # of the largest value: what differs less has one colour
MAX_SCALE_RATIO = 3.0  # panels whose sizes differ more are not drawn to one scale
#: Units that take the prefixes of the SI; others, MPa among them, stay as they are.
PLAIN = ("m", "s", "N", "Pa", "J", "W", "Hz", "N/m", "N m", "J/m^3", "J/m³", "m/s", "W/m^3", "W/m³")
PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}


class Picture:
    """Panels with their colours and cameras."""

    def __init__(
        self,
        panels: dict[str, list[DrawnSurface]],
        limits: tuple[float, float] | None,
        shared: bool,
        undeformed: bool,
        eye: Sequence[float],
        up: Sequence[float],
        frame: Array | None = None,
        classes: Sequence[str] = (),
        least: float = 0.0,
        own: Sequence[str] = (),
        legend: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Collect what is drawn.

        `least` is the largest value that is nothing, of a field whose unit is known, `own` are
        colours of the classes, `legend` colours and labels.
        """
        self.panels, self.classes = panels, tuple(classes)
        self.own, self.legend = own, legend
        self.shared = shared
        self.undeformed = undeformed
        self.toward = _unit(np.asarray(eye, float))
        right = np.cross(np.asarray(up, float), self.toward)
        if not np.linalg.norm(right) > 0:
            raise SymancfError(
                f"the eye {tuple(eye)} looks along the direction up {tuple(up)}",
                asked="eye",
                given=tuple(eye),
            )
        self.screen = np.stack([_unit(right), np.cross(self.toward, _unit(right))], axis=1)
        add_arrows(panels.values(), self.screen, self.toward)
        self.own_frames = np.array([self._frame(bodies) for bodies in panels.values()])
        if frame is not None:
            self.own_frames[:] = frame
        self.frames = self.own_frames.copy() if frame is not None else self._aligned()
        for bodies in panels.values():
            self._lift(bodies)
        self.coloured = any(b.values is not None for bodies in panels.values() for b in bodies)
        if classes:
            limits = -0.5, len(classes) - 0.5
        ranges = value_ranges(panels.values(), shared)
        self.limits = np.array([limits or r or (0.0, 1.0) for r in ranges], float)
        size = np.abs(self.limits).max(axis=1)
        flat = np.ptp(self.limits, axis=1) <= np.maximum(COLOUR_TOLERANCE * size, least)
        by = np.where(size > least, 0.5 * size, 0.5)  # of no kind where all is zero
        self.limits[flat] += (by[:, None] * [-1.0, 1.0])[flat]

    def _aligned(self) -> Array:
        """Return frames that let panels be compared: the same for states of one body, one scale."""
        frames = self.own_frames.copy()
        extent = np.ptp(frames, axis=1).max(axis=1)
        if self._of_one(self.panels) and np.ptp(frames, axis=(0, 1)).max() < 1.6 * extent.max():
            frames[:] = frames[:, 0].min(axis=0), frames[:, 1].max(axis=0)
        elif self.shared and extent.max() < MAX_SCALE_RATIO * extent.min():
            half = 0.5 * np.ptp(frames, axis=1).max(axis=0)
            centre = frames.mean(axis=1)
            frames = np.stack([centre - half, centre + half], axis=1)
        return frames

    @staticmethod
    def _of_one(panels: dict[str, list[DrawnSurface]]) -> bool:
        """Tell whether the panels show about the same before it is deformed: states of one body."""
        x = [np.concatenate([np.zeros((0, 3)), *(b.reference for b in p)]) for p in panels.values()]
        boxes = np.array([[part.min(axis=0), part.max(axis=0)] for part in x if len(part)])
        size = np.ptp(boxes, axis=(0, 1)).max()
        return bool(np.allclose(boxes, boxes[:1], atol=0.35 * size))

    def _lift(self, bodies: list[DrawnSurface]) -> None:
        """Draw coloured sheets before bodies without the field, whose faces they may be."""
        plain = any(b.values is None for b in bodies)
        for k, body in enumerate(bodies):
            if plain and body.values is not None and not body.solid:
                by = 1e-3 * np.ptp(self.frames, axis=1).max() * self.toward
                bodies[k] = replace(body, points=body.points + by)

    def cross(self, label: str, unit: str) -> None:
        """Add the principal directions of the bodies' tensors, with a legend if there is room."""
        extent = float(np.ptp(self.frames, axis=1).max())
        largest = cross(self.panels, self.screen, self.toward, extent, unit)
        if self.coloured:
            return
        power = _power(largest, unit)
        text = f"{largest / 10.0**power:.3g} {PREFIXES[power]}{unit}".strip()
        what = f"{label.replace('_', ' ')}: " if label else ""
        signs = {colour for bodies in self.panels.values() for b in bodies for colour in b.strokes}
        self.legend = [
            (colour, f"{what}{sign}, longest line {text}")
            for colour, sign in ((POSITIVE, "positive"), (NEGATIVE, "negative"))
            if colour in signs
        ]

    def _colours(self, cmap: str) -> Array:
        """Return 256 colours, one after the other or in as many steps as there are classes."""
        n = len(self.classes)
        if self.own:
            from matplotlib.colors import to_rgb

            rgb: Array = np.array([to_rgb(c) for c in self.own])
            return np.asarray(rgb[np.arange(256) * n // 256])
        colours = _colours(cmap)
        return colours[(np.arange(256) * n // 256 * 256 + 128) // n] if n else colours

    def _frame(self, bodies: list[DrawnSurface]) -> Array:
        """Lower left and upper right corner of a panel in the plane of the picture [m]."""
        x = [b.points for b in bodies]
        x += [b.reference for b in bodies] if self.undeformed else []
        x += [lines.reshape(-1, 3) for b in bodies for lines in b.strokes.values()]
        seen = np.concatenate([np.zeros((0, 3)), *x]) @ self.screen
        if not len(seen):
            return np.array([[0.0, 0.0], [1.0, 1.0]])
        low, high = seen.min(axis=0), seen.max(axis=0)
        margin = 0.03 * (high - low).max()
        return np.array([low - margin, high + margin])

    def compose(
        self,
        path: Path | None,
        title: str,
        label: str,
        unit: str,
        cmap: str,
        columns: int,
        width: float,
        engine: str,
    ) -> Image:
        """Lay out panels, captions and colour bars; write the picture where there is a path."""
        image = Image(self.figure(title, label, unit, cmap, columns, width, engine))
        if path is not None:
            image.save(path)
        return image

    @styled()
    def figure(
        self,
        title: str,
        label: str,
        unit: str,
        cmap: str,
        columns: int,
        width: float,
        engine: str,
        dots: int = DOTS,
        pictures: list[NDArray[np.uint8]] | None = None,
    ) -> Figure:
        """Lay out panels, captions and colour bars; `pictures` of the panels may be drawn."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, Normalize

        n = len(self.panels)
        columns = min(columns, n)
        size = width / columns
        head = 0.36 if title else 0.06
        above = 0.24 if any(self.panels) else 0.04  # captions
        common, own = self.coloured and self.shared, self.coloured and not self.shared
        foot = self._foot(width)
        below = 0.58 if own else 0.0
        tall = size * self.aspect(columns=columns)
        crops = self._crops(columns, tall / size)
        tops = np.cumsum([0.0, *(np.ptp(crops, axis=1) * tall + above + below)])
        height = head + foot + tops[-1]
        figure = blank(width, height, dots, layout=None)
        if engine != "matplotlib" and pictures is None:
            pictures = self.drawn_by_vtk(size, tall, cmap, engine, dots)
        for i, (caption, bodies) in enumerate(self.panels.items()):
            row, column = divmod(i, columns)
            in_row = min(columns, n - row * columns)  # a short last row is centred
            left = column * size + (columns - in_row) * size / 2
            bottom = height - head - tops[row + 1] + below
            top = height - head - tops[row] - above
            axes = figure.add_axes(
                (left / width, bottom / height, size / width, (top - bottom) / height),
                frameon=False,
            )
            axes.set(xticks=[], yticks=[])
            low, high = crops[row]
            shade = ScalarMappable(Normalize(*self.limits[i]), ListedColormap(self._colours(cmap)))
            if pictures is not None:
                pixels = pictures[i]
                part = slice(*(np.array([1 - high, 1 - low]) * len(pixels)).round().astype(int))
                axes.imshow(pixels[part], interpolation="antialiased", aspect="auto")
            else:
                from .draw_matplotlib import draw

                view = (self.screen, self.toward, self.frames[i])
                draw(axes, bodies, shade, *view, undeformed=self.undeformed)
                axes.set_ylim(*self._covered(i, tall / size) @ [[1 - low, 1 - high], [low, high]])
            centre = (left + size / 2) / width
            figure.text(
                centre,
                (top + 0.07) / height,
                caption,
                ha="center",
                size=STYLE["axes.titlesize"],
            )
            if own:
                where = (left + 0.15 * size, bottom - 0.14, 0.7 * size, 0.08)
                box = np.array(where) / [width, height, width, height]
                self._bar(figure.add_axes(tuple(box)), shade, label, unit)
        if self.legend:
            self._add_legend(figure, width, height)
        elif common:
            span = min(3.6, 0.7 * width)
            box = np.array([(width - span) / 2, 0.42, span, 0.1]) / [width, height, width, height]
            self._bar(figure.add_axes(tuple(box)), shade, label, unit)
        if title:
            figure.text(0.5, 1 - 0.25 / height, title, ha="center", size=STYLE["figure.titlesize"])
        return figure

    def _names_in_a_row(self, width: float) -> int:
        longest = max(len(name) for _, name in self.legend)
        return max(1, int((width - 0.3) / (0.4 + 0.056 * longest)))

    def _foot(self, width: float) -> float:
        """Return the height of what is below all panels: names in rows, or a colour bar [inch]."""
        if self.legend:
            return 0.15 + 0.17 * -(-len(self.legend) // self._names_in_a_row(width))
        return 0.58 if self.coloured and self.shared else 0.08

    def _add_legend(self, figure: Figure, width: float, height: float) -> None:
        from matplotlib.patches import Patch

        figure.legend(
            handles=[Patch(color=colour, label=name) for colour, name in self.legend],
            loc="lower center",
            bbox_to_anchor=(0.5, 0.03 / height),
            ncols=min(self._names_in_a_row(width), len(self.legend)),
            frameon=False,
        )

    def aspect(self, columns: int = 1, alone: bool = False) -> float:
        """Height of the panels, each `alone` or in rows, as a part of their width."""
        size = np.ptp(self.frames, axis=1)
        tallest = 0.62 if alone or len(self.panels) == 1 else 0.5 + 0.35 * columns
        return float(np.clip((size[:, 1] / size[:, 0]).max(), 0.12, tallest))

    def _covered(self, panel: int, aspect: float) -> Array:
        """Return what a panel shows from below to above [m]; it may be taller than its frame."""
        low, high = self.frames[panel]
        half = 0.5 * max(high[1] - low[1], aspect * (high[0] - low[0]))
        return np.asarray(0.5 * (low[1] + high[1]) + half * np.array([-1.0, 1.0]))

    def _crops(self, columns: int, aspect: float) -> list[Array]:
        """Return which part of the height of its panels each row needs, (lower, upper)."""
        parts = []
        for i, own in enumerate(self.own_frames):
            low, high = self._covered(i, aspect)
            parts.append(np.clip((own[:, 1] - low) / (high - low), 0.0, 1.0))
        rows = [np.array(parts[k : k + columns]) for k in range(0, len(parts), columns)]
        return [np.array([row[:, 0].min(), row[:, 1].max()]) for row in rows]

    def _bar(self, axes: Axes, shade: ScalarMappable, label: str, unit: str) -> None:
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        bar = axes.figure.colorbar(shade, cax=axes, orientation="horizontal")
        bar.locator = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
        power = _power(np.abs(shade.get_clim()).max(), unit)
        if power:
            bar.formatter = FuncFormatter(lambda x, _: f"{x / 10.0**power:.10g}".replace("-", "−"))
        bar.update_ticks()
        if self.classes:
            bar.set_ticks(range(len(self.classes)), labels=self.classes)
        bar.outline.set_visible(False)
        name = label.replace("_", " ")
        bar.set_label(f"{name} [{PREFIXES[power]}{unit}]" if unit else name)
        axes.tick_params(length=2.5)

    def job(self, size: Array, cmap: str) -> dict[str, npt.ArrayLike]:
        """Return what VTK draws: surfaces, colours and camera of panels of some pixels."""
        job: dict[str, npt.ArrayLike] = {
            "panels": len(self.panels),
            "bodies": [len(bodies) for bodies in self.panels.values()],
            "size": size.astype(int),
            "limits": self.limits,
            "colours": self._colours(cmap),
            "frame": self.frames,
            "extent": np.ptp(self.frames, axis=1).max(axis=1),
            "depth": [
                np.mean([b.points.mean(axis=0) @ self.toward for b in bodies if len(b.points)])
                for bodies in self.panels.values()
            ],
            "toward": self.toward,
            "above": self.screen[:, 1],
        }
        for i, bodies in enumerate(self.panels.values()):
            for k, body in enumerate(bodies):
                ghost = body.outline if self.undeformed and body.deformed else body.outline[:0]
                for name in (
                    "points",
                    "reference",
                    "faces",
                    "lines",
                    "borders",
                    "outline",
                    "solid",
                ):
                    job[f"{i}/{k}/{name}"] = getattr(body, name)
                job[f"{i}/{k}/ghost"] = ghost
                if body.values is not None:
                    job[f"{i}/{k}/values"] = body.values
                for colour, lines in body.strokes.items():
                    job[f"{i}/{k}/lines of {colour}"] = lines
        return job

    def drawn_by_vtk(
        self, size: float, tall: float, cmap: str, engine: str, dots: int
    ) -> list[NDArray[np.uint8]] | None:
        """Pictures of the panels; None where VTK cannot draw and the engine was left open."""
        # Twice the dots of the PNG, within what a processor draws in a second or two.
        job = self.job(np.array([size, tall]) * min(2 * dots, 2400 / size), cmap)
        with tempfile.TemporaryDirectory(prefix="symancf-view-") as folder:
            file = Path(folder) / "job.npz"
            with writing(file):
                np.savez(file, **job)
            reason = run_vtk(file)
            if not reason:
                from matplotlib.image import imread

                return [imread(Path(folder) / f"panel{i}.png") for i in range(len(self.panels))]
        if engine == "vtk":
            raise SymancfError(
                f"pyvista could not draw off-screen: {reason}",
                asked="engine",
                given=engine,
                possible=("matplotlib",),
            )
        return None


def value_range(bodies: list[DrawnSurface]) -> tuple[float, float] | None:
    """Smallest and largest finite value of the field on the bodies of a panel."""
    values = [b.values for b in bodies if b.values is not None and len(b.values)]
    joined = np.concatenate([np.zeros(0), *values])
    joined = joined[np.isfinite(joined)]
    return (float(joined.min()), float(joined.max())) if len(joined) else None


def value_ranges(
    panels: Iterable[list[DrawnSurface]], shared: bool
) -> list[tuple[float, float] | None]:
    """Return the ranges of values of panels, or that of all for each where it is `shared`."""
    ranges = [value_range(bodies) for bodies in panels]
    present = [r for r in ranges if r is not None]
    if not shared or not present:
        return ranges
    return [(min(low for low, _ in present), max(high for _, high in present))] * len(ranges)


def _power(largest: float, unit: str) -> int:
    """Return the power of ten of the prefix for values of a unit."""
    if unit not in PLAIN or not largest > 0.0:
        return 0
    return int(np.clip(3 * np.floor(np.log10(largest * (1 + 1e-9)) / 3), -12, 12))


def _unit(v: Array) -> Array:
    length = np.linalg.norm(v)
    return np.asarray(v / length) if length > 0 else v


def _colours(name: str) -> Array:
    """256 colours of a map, (256, 3)."""
    from matplotlib import colormaps

    if name != "dawn" and name not in colormaps:
        raise SymancfError(
            f"no colour map {name!r}; possible: 'dawn', {', '.join(colormaps)}",
            asked="cmap",
            given=name,
            possible=("dawn", *colormaps),
        )
    if name != "dawn":
        return np.asarray(colormaps[name](np.linspace(0.0, 1.0, 256)))[:, :3]
    colour = np.asarray(colormaps["viridis"](np.linspace(0.08, 1.0, 256)))[:, :3]
    pale = np.linspace(0.30, 0.06, 256)[:, None]
    return np.asarray(pale + (1.0 - pale) * colour)


def run_vtk(job: Path) -> str:
    """Draw in another process; what went wrong, or nothing."""
    # A child of an MPI rank must not take itself for one of the ranks.
    inherited = ("OMPI_", "PMIX_", "PMI_", "ORTE_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(inherited)}
    script = Path(__file__).with_name("draw_vtk.py")
    try:
        done = subprocess.run(
            [sys.executable, str(script), str(job)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return lines[-1] if lines else f"exit status {done.returncode}"
    return ""
