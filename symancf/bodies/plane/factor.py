# SPDX-License-Identifier: BSD-3-Clause
"""Inverse analysis: a coordinate is prescribed and a load factor released in its stead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array, Ints32
from ...assembly.configuration import Configuration, Layout, in_system
from ...assembly.numbering import Block
from ...assembly.resolved import JetRows, Resolved
from ...errors import ParameterError, closest
from ...places.ends import End
from ...terms.work import VirtualWork
from ...values.arguments import among, name_or
from ...values.parameter import evaluate
from ...values.spellings import advise
from .body import COORDINATES, PlanarPoint

if TYPE_CHECKING:
    from ...terms.quantities import S, V
    from ...terms.term import PlaceBinding
    from ...values.parameter import Scalar


FACTOR = "factor"


class Factor(End):
    """An unknown scalar that multiplies loads: a node of one coordinate.

    ``sa.force(place, (0, 1), factor=F)`` applies F times the vector;
    ``sa.displacement_control(place, "x", position=..., release=F)`` determines F. After a solution
    ``F.value(system)`` is its value.

    Examples
    --------
    >>> import symancf as sa
    >>> load = sa.Factor("load")
    """

    only = "factor"
    block = FACTOR

    def __init__(self, name: str = "factor") -> None:
        self.name = name

    def __str__(self) -> str:
        return f"factor {self.name!r}"

    def _find(self, layout: Layout) -> Resolved:
        """Make the node."""
        block = Block(FACTOR, 1, "multiplier")
        return Resolved(np.zeros((1, 3)), layout.new_vertices(1, self.name, block)[:, None])

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return the factor as component 0 of its jet; see `End.rows`."""
        k, numbering = places.size, configuration.numbering
        offset = numbering.offset[vertices[:, 0], numbering.block(FACTOR)]
        zero = np.zeros(k, dtype=np.int32)
        return JetRows(np.arange(k), zero, offset, zero, np.ones(k))

    def constant(self, places: Resolved, jet: str) -> Array:
        """Return the reference values (k, 3) of the jet: zero."""
        return places.X

    @in_system
    def value(self, system: Configuration) -> float:
        """Return the present value, on every rank (collective)."""
        return float(system.sum(self._entry(system, None))[0])

    @in_system
    def set(self, system: Configuration, value: float) -> None:
        """Write a starting value into the state."""
        self._entry(system, value)

    def _entry(self, configuration: Configuration, value: float | None) -> Array:
        place = configuration.layout.places.get(self)
        if place is None:
            raise ParameterError(
                f"{self} multiplies no load of this system", asked="factor", given=self.name
            )
        local = configuration.topology.find(place.vertices[0])
        entry = np.zeros(1)
        if len(local):
            at = configuration.numbering.offset[local[0], configuration.numbering.block(FACTOR)]
            if value is not None:
                configuration.state[at] = value
            if local[0] < configuration.numbering.owned_vertices:
                entry[0] = configuration.state[at]
        return entry


class DisplacementControl(VirtualWork):
    """The equation (coordinate of a place) = given, in the row of a `Factor`."""

    def __init__(
        self,
        place: PlanarPoint,
        coordinate: str,
        position: Scalar | None,
        displacement: Scalar | None,
        release: Factor,
        name: str | None,
    ) -> None:
        name = name_or(name, f"prescribed {coordinate} of {place}")
        if not among(coordinate, COORDINATES):
            raise ParameterError(
                f"{name}: give 'x', 'y' or 'theta'.{closest(coordinate, COORDINATES)}",
                asked="coordinate",
                given=coordinate,
                possible=COORDINATES,
            )
        if (position is None) == (displacement is None):
            raise ParameterError(
                f"{name}: give either position= or displacement=",
                asked="position",
                given=position,
                possible=("position", "displacement"),
            )
        start = 0.0
        if displacement is None:
            frame = [*place.X[0, :2], place.body._reference[2]]
            start = float(frame[COORDINATES.index(coordinate)])
        value = position if displacement is None else displacement
        super().__init__(
            EQUATIONS[coordinate],
            place,
            release,
            name=name,
            target=lambda t: evaluate(self.name, value, t) - start,
        )
        self.factor = release

    def bind(self, layout: Layout) -> PlaceBinding:
        """Announce the place and the factor's node before distribution."""
        others = [
            t
            for t in layout.terms
            if isinstance(t, DisplacementControl) and t.factor is self.factor
        ]
        if len(others) > 1:
            raise ParameterError(
                f"{self.factor} is released by {len(others)} prescribed coordinates "
                f"({', '.join(t.name for t in others)}): give each its own sa.Factor",
                asked="release",
                given=[t.name for t in others],
            )
        if not any(self.factor in getattr(t, "ends", ()) for t in layout.terms if t is not self):
            raise ParameterError(
                f"{self.factor} multiplies no load: give factor= to a load",
                asked="release",
                given=self.factor.name,
            )
        return super().bind(layout)


def _prescribed_x(u_a: V, dfactor_b: S, *, target: S) -> dict[S, S]:
    return {dfactor_b: target - u_a[0]}


def _prescribed_y(u_a: V, dfactor_b: S, *, target: S) -> dict[S, S]:
    return {dfactor_b: target - u_a[1]}


def _prescribed_theta(phi_a: S, dfactor_b: S, *, target: S) -> dict[S, S]:
    return {dfactor_b: target - phi_a}


EQUATIONS = {"x": _prescribed_x, "y": _prescribed_y, "theta": _prescribed_theta}


def displacement_control(
    place: PlanarPoint,
    coordinate: str,
    *,
    position: Scalar | None = None,
    displacement: Scalar | None = None,
    release: Factor,
    name: str | None = None,
) -> DisplacementControl:
    """Find the load factor at which a coordinate of a point of a planar body has a given value.

    Parameters
    ----------
    place : ``body.at(point)``.
    coordinate : ``"x"``, ``"y"`` (of the point) or ``"theta"`` (of the body).
    position, displacement : its value, or its change from the reference; a number, `Parameter`
        or function of time. Exactly one of them.
    release : the `Factor` of the load that is to be found.

    Examples
    --------
    >>> import symancf as sa
    >>> finger = sa.PlanarBody(position=(1.0, 1.5, 0.0), name="finger")
    >>> F = sa.Factor("closing force")
    >>> load = sa.force(finger.at((0, 0)), (0, 1), factor=F)
    >>> closed = sa.displacement_control(finger.at((0.2, 0.7)), "x", position=0.0, release=F)
    """
    return DisplacementControl(place, coordinate, position, displacement, release, name)


def prescribe(*arguments: Any, **options: Any) -> DisplacementControl:
    """Return `displacement_control`, by its former name."""
    advise("prescribe(..., release=...)", "displacement_control(..., release=...)")
    return displacement_control(*arguments, **options)
