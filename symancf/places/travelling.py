# SPDX-License-Identifier: BSD-3-Clause
"""Places that travel over a body: material points that are functions of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..assembly.resolved import Resolved
from ..errors import ParameterError
from ..runtime.collective import together
from ..values.parameter import call
from .edges import with_edges
from .ends import points_of
from .on_body import PointsOnBody
from .projection import Foots

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ..assembly.configuration import Configuration, Layout
    from .interpolation import Interpolated


class Travelling(PointsOnBody):
    """Points of a body that are functions of time, X(t): ``plate.at(lambda t: (v * t, b, 0.0))``.

    They are found anew for the end of each step, and for each stage of an explicit method, so that
    they are exact there whatever boundaries of cells lie between. A law sees the place as it is at
    one time: it offers positions, not velocities.

    Parameters
    ----------
    course : function of time that returns one point or (K, 3), always as many.
    """

    travels = timed = True

    def __init__(self, body: Interpolated, course: Callable[[float], npt.ArrayLike]) -> None:
        self.body, self.course, self.source, self.frame = body, course, None, None
        self.X = self._course(0.0)

    def _course(self, time: float) -> Array:
        who = f"body {self.body.name!r}"
        return points_of(who, call(f"the place of {who}", self.course, time))

    def _find(self, layout: Layout) -> Resolved:
        """Find the points at the beginning, t = 0 (collective)."""
        layout.require_member(self.body, str(self))
        return self._at(layout, self.X)

    def _at(self, layout: Layout, X: Array) -> Resolved:
        places = self._locate(X, False)
        vertices = places.vertices + layout.base(self.body.region.mesh)
        return Resolved(X, with_edges(layout, self.body, vertices), places.unit)

    def travel(self, configuration: Configuration, time: float) -> None:
        """Find the points at a time (collective).

        Raises
        ------
        ParameterError : they are others on another rank, or another number than before.
        ConstraintError : one of them is not on the body.
        """
        layout = configuration.layout
        places = self.resolve(layout, follows=True)
        comm, X = configuration.comm, self.X
        with together(comm):
            X = self._course(time)
            if X.shape != places.X.shape:
                raise ParameterError(
                    f"{self} has {len(X)} point(s) at time {time:g}, and had {len(places.X)}"
                )
        first = self.alike(X, f" at time {time:g}")
        if not np.array_equal(first, places.X):
            layout.places[self] = self._moved(layout, places, first)

    def _moved(self, layout: Layout, places: Resolved, X: Array) -> Resolved:
        """Return the places of points: of the cells where they were, while they lie inside."""
        base = layout.base(self.body.region.mesh)
        cells = places.vertices[:, : self.body.element.vertices] - base
        foots: Foots | None = places.path
        if foots is None or not np.array_equal(foots.cells, cells):
            foots = Foots(self.body, cells)
        unit = foots.within(X)
        if unit is None:
            return self._at(layout, X)
        return places._replace(X=X, within=unit, path=foots)

    def velocity(self, configuration: Configuration) -> Array:
        """Raise: the place is another material point at each time."""
        raise ParameterError(
            f"{self} has no velocity of its own: give a fixed point of the body",
            asked="velocity",
            given=str(self),
        )

    def __str__(self) -> str:
        return f"a travelling place of {self.body.name!r}"
