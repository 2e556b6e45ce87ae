# SPDX-License-Identifier: BSD-3-Clause
"""Inverse analysis: a coordinate is prescribed and a load factor released in its stead."""

from __future__ import annotations

import weakref
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen import declare

from .. import jit
from ..assembly.numbering import Block
from ..errors import ParameterError, closest
from ..parameter import evaluate
from ..places.ends import End
from ..terms import Entities

if TYPE_CHECKING:
    from ..assembly.piece import Piece
    from ..system import System
    from .body import PlanarPoint

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FACTOR = "factor"
COORDINATES = ("x", "y", "theta")


class Factor(End):
    """An unknown scalar that multiplies loads: a node of one coordinate.

    ``sa.force(place, (0, 1), factor=F)`` applies F times the vector; ``sa.prescribe(place, "x",
    position=..., release=F)`` is the equation that determines F. After a solution
    ``F.value(system)`` is its value.
    """

    def __init__(self, name: str = "factor") -> None:
        self.name = name
        self.X = np.zeros((1, 3))
        self._vertices: weakref.WeakKeyDictionary[System, Ints] = weakref.WeakKeyDictionary()

    def __str__(self) -> str:
        return f"factor {self.name!r}"

    def resolve(self, system: System) -> None:
        """Make the node on the first call for a system."""
        if system not in self._vertices:  # not by id: a later system may get the same
            self._vertices[system] = system.new_vertices(1, self.name)[:, None]
            system.announce_block(Block(FACTOR, 1, "multiplier"))
        self.vertices = self._vertices[system]

    def rows(
        self, system: System, chosen: Ints, vertices: npt.NDArray[np.int32], jet: str
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return the factor as component 0 of its jet; see `End.rows`."""
        k = len(chosen)
        offset = system.numbering.offset[vertices[:, 0], system.numbering.block(FACTOR)]
        zero = np.zeros(k, dtype=np.int32)
        return np.arange(k), zero, offset, zero, np.ones(k)

    def value(self, system: System) -> float:
        """Return the present value, on every rank (collective)."""
        return float(system.sum(self._entry(system, None))[0])

    def set(self, system: System, value: float) -> None:
        """Write a starting value into the state."""
        self._entry(system, value)

    def _entry(self, system: System, value: float | None) -> Array:
        if system not in self._vertices:
            raise ParameterError(f"{self} multiplies no load of this system")
        local = system.topology.find(self._vertices[system][0, 0])
        entry = np.zeros(1)
        if len(local):
            at = system.numbering.offset[local[0], system.numbering.block(FACTOR)]
            if value is not None:
                system.state[at] = value
            if local[0] < system.numbering.owned_vertices:
                entry[0] = system.state[at]
        return entry


class Prescribed:
    """The equation (coordinate of a place) = given, in the row of a `Factor`; see `prescribe`."""

    def __init__(
        self,
        place: PlanarPoint,
        coordinate: str,
        position: Any,
        displacement: Any,
        release: Factor,
        name: str | None,
    ) -> None:
        self.place, self.factor = place, release
        self.name = name or f"prescribed {coordinate} of {place}"
        if coordinate not in COORDINATES:
            raise ParameterError(
                f"{self.name}: give 'x', 'y' or 'theta'.{closest(coordinate, COORDINATES)}",
                name=coordinate,
                possible=COORDINATES,
            )
        if (position is None) == (displacement is None):
            raise ParameterError(f"{self.name}: give either position= or displacement=")
        self.axis = COORDINATES.index(coordinate)
        self.given = position if position is not None else displacement
        start = place.X[0, self.axis] if self.axis < 2 else place.body.reference[2]
        self.offset = float(start) if position is not None else 0.0

    def declare(self, system: System) -> None:
        """Announce the place and the factor's node before distribution."""
        others = [t for t in system.terms if isinstance(t, Prescribed) and t.factor is self.factor]
        if len(others) > 1:
            raise ParameterError(
                f"{self.factor} is released by {len(others)} prescribed coordinates "
                f"({', '.join(t.name for t in others)}): give each its own sa.Factor"
            )
        if not any(
            getattr(t, "factor", None) is self.factor for t in system.terms if t is not self
        ):
            raise ParameterError(f"{self.factor} multiplies no load: give factor= to a load")
        self.entities = Entities(system, self.name, [self.place, self.factor])

    def carriers(self, system: System) -> list[Any]:
        """Take this rank's entities; return the blocks that the term puts on vertices."""
        self.entities.bind(system)
        return [(FACTOR, self.entities.end_vertices(1).ravel())]

    def pieces(self, system: System) -> list[Piece]:
        """Return the kernel and the entity on this rank."""
        jets = self.entities.jets(system, [(0, "planar"), (1, "factor")])
        kernel = jit.points(prescribed_law(self.axis), system.comm)
        cell = {f"s{a + 1}": np.array([self.place.arm[a]]) for a in (0, 1)}
        uniform = {"target": lambda t: evaluate(self.name, self.given, t) - self.offset}
        return [self.entities.piece(self.name, kernel, "work", uniform, cell, jets)]


@cache
def prescribed_law(axis: int) -> Any:
    """Return the law whose row of the factor is (displacement along `axis`) - target."""
    u1, u2, phi, s1, s2 = sp.symbols("u1 u2 phi s1 s2", real=True)
    factor, idle2, idle3, target = sp.symbols("factor idle2 idle3 target", real=True)
    versine = 2 * sp.sin(phi / 2) ** 2
    moved = (
        u1 - versine * s1 - sp.sin(phi) * s2,
        u2 + sp.sin(phi) * s1 - versine * s2,
        phi,
    )[axis]
    unknowns = (u1, u2, phi, factor, idle2, idle3)
    work = {s: sp.Integer(0) for s in unknowns} | {factor: moved - target}
    parameters = [declare.Parameter(s, "cell") for s in (s1, s2) if s in moved.free_symbols]
    return declare.PointLaw(
        name=f"prescribed_{COORDINATES[axis]}",
        unknowns=unknowns,
        work=work,
        parameters=(declare.Parameter(target), *parameters),
        title=f"{COORDINATES[axis]} of a point = target",
    )


def prescribe(
    place: PlanarPoint,
    coordinate: str,
    *,
    position: Any = None,
    displacement: Any = None,
    release: Factor,
    name: str | None = None,
) -> Prescribed:
    """Prescribe a coordinate of a point of a planar body and release a load factor instead.

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
    >>> finger = sa.PlanarBody(at=(1.0, 1.5, 0.0), name="finger")
    >>> F = sa.Factor("closing force")
    >>> load = sa.force(finger.at((0, 0)), (0, 1), factor=F)
    >>> closed = sa.prescribe(finger.at((0.2, 0.7)), "x", position=0.0, release=F)
    """
    return Prescribed(place, coordinate, position, displacement, release, name)
