# SPDX-License-Identifier: BSD-3-Clause
"""The protocol between a system and its bodies, terms and supports, by phases.

The phases, each for bodies first and then for terms, in the order in which they were given:

=====================  ===========================================================================
`bind`                 to announce entities, vertices and blocks of coordinates to a `Layout`
(distribution)         by the system: every rank has its share of entities from here on
`orient`               to take the own local vertices, and to find directions there
`carriers`             to tell which blocks of coordinates the local vertices carry
(numbering)            by the system: offsets of coordinates from here on
`build_reference`      to write the coordinates of the reference configuration
`coordinates`          of supports: to tell which of them are held
`forms`               to give kernels and the entities that they are evaluated on
`idle`                 to tell which multipliers nothing can answer
`search`, `renew`      between steps, of lists that change: to find entities, to replace them
`review`               of each solution: to judge it
=====================  ===========================================================================

Only `bind` sees the `Layout`, what follows sees a `Configuration`. All are collective. Bodies and
terms do not change: what one is in a system is the binding that its `bind` returns, which has all
other phases and the data that they find. So it may serve in several systems at once, with a name of
its own in each (`layout.name(self)`); `configuration.binding(body)` returns that of one system. A
term that finds nothing there may be its own binding. A body is a `BodyProtocol`, a term a `Term`,
their bindings are a `Binding`; the other classes are parts that bindings may have.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

from ..arrays import Array, Integers, Ints, Ints32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np

    from ..mesh import Region
    from .agreement import PlaceFunction
    from .configuration import Configuration, Layout
    from .form import Form, Listed
    from .revisions import Bounds, Change, Standing, Verdict
    from .state import ActiveSet, StateVariable
    from .vertices import AtVertices

Part = TypeVar("Part")
Carriers = list[tuple[str, Ints32]]


def having(items: Iterable[Any], part: Callable[..., Part]) -> list[Part]:
    """Return the bodies and terms that have a part; asked once of each class: asking is slow."""
    answers: dict[type, bool] = {}
    chosen: list[Part] = []
    for item in items:
        kind = type(item)
        if kind not in answers:
            answers[kind] = isinstance(item, cast("type[Part]", part))
        if answers[kind]:
            chosen.append(item)
    return chosen


class Binding(Protocol):
    """What a body or a term is in one system.

    Attributes
    ----------
    name : in the system.
    """

    name: str

    def forms(self, configuration: Configuration, /) -> list[Form]:
        """Return the kernels and entities that it contributes on this rank."""


@runtime_checkable
class Term(Hashable, Protocol):
    """What acts on bodies; a body is one, too, as far as a system asks."""

    name: str

    def bind(self, layout: Layout, /) -> Binding:
        """Announce entities, new vertices and blocks of coordinates; return the binding."""


class BodyBinding(Binding, Protocol):
    """What a body is in one system.

    Attributes
    ----------
    pressures : of a deformable body, that are unknowns; None: it has none.
    """

    pressures: Any

    def build_reference(
        self, configuration: Configuration, supports: Sequence[SupportBinding], /
    ) -> None:
        """Write the reference coordinates, with directions of slopes as supports need them."""

    def carriers(self, configuration: Configuration, /) -> Carriers:
        """Return the blocks of coordinates that it puts on local vertices."""


class BodyProtocol(Term, Protocol):
    """What has coordinates that terms act on.

    Attributes
    ----------
    has_name : whether the user gave the name; others are counted.
    extent : size of the body itself [m], 0 of a mere node.
    """

    has_name: bool

    def bind(self, layout: Layout, /) -> BodyBinding:
        """Announce entities, new vertices and blocks of coordinates; return the binding."""

    @property
    def extent(self) -> float:
        """Size of the body itself [m]."""


# ---- parts of bodies -----------------------------------------------------------------------------
@runtime_checkable
class HasMesh(Protocol):
    """Made on cells of a mesh."""

    name: str
    region: Region


@runtime_checkable
class HasMass(BodyBinding, Protocol):
    """Resists accelerations."""

    def inertia(self, configuration: Configuration, /) -> list[Form]:
        """Return the kinetic energy of a vector of rates; empty: no mass."""

    def weight(self, configuration: Configuration, uniform: Mapping[str, Any], /) -> Form:
        """Return the potential of the weight in a field ``g1, g2, g3`` [m/s^2]."""

    def turning(self, configuration: Configuration, uniform: Mapping[str, Any], /) -> list[Form]:
        """Return centrifugal potential and Coriolis forces in a frame that turns."""


class MayWeigh(BodyProtocol, Protocol):
    """A body that has a mass, or none."""

    @property
    def _weighs(self) -> bool:
        """Whether it has a mass."""

    def bind(self, layout: Layout, /) -> HasMass:
        """Announce entities, new vertices and blocks of coordinates; return the binding."""


@runtime_checkable
class HasInitialRate(Protocol):
    """May move from the start."""

    @property
    def start_values(self) -> Sequence[Any]:
        """What the rates follow from: numbers, `Parameter` objects, functions of the place."""

    def initial_rate(self, configuration: Configuration, rate: Array, /) -> None:
        """Write the own rates at the start of a motion into a local vector."""


# ---- parts of bodies and terms -------------------------------------------------------------------
@runtime_checkable
class Oriented(Protocol):
    """Needs its local vertices before the coordinates are numbered."""

    def orient(self, configuration: Configuration, /) -> None:
        """Take local vertices, and find directions there."""


@runtime_checkable
class Carries(Protocol):
    """Puts blocks of coordinates on vertices."""

    def carriers(self, configuration: Configuration, /) -> Carriers:
        """Return names of blocks and the local vertices that carry them."""


@runtime_checkable
class Idles(Protocol):
    """Has multipliers that supports may leave without an equation."""

    name: str

    def idle(self, configuration: Configuration, /) -> Integers:
        """Return the local offsets of multipliers that move no free coordinate."""


@runtime_checkable
class Settles(Protocol):
    """Has coordinates that are functions of the others."""

    def settle(self, configuration: Configuration, /) -> None:
        """Give them the values that belong to the present state."""


@runtime_checkable
class Explains(Protocol):
    """Knows why there is no solution."""

    def explain(self, configuration: Configuration, state: Array, time: float, /) -> str:
        """Return what of it ends at a state (local vector), "" where nothing does (collective)."""


# ---- lists that change ---------------------------------------------------------------------------
@runtime_checkable
class Revises(Protocol):
    """Has a list of entities that follows the state: it may be another one after a step.

    `DiscreteSystem.revise` asks it, between steps, in the order `search`, `needed`, `renew`. Its
    active set belongs to the state: `DiscreteSystem.restore` gives an earlier one back, and then
    asks for the same.
    """

    name: str

    def changes(self, configuration: Configuration, /) -> bool:
        """Tell whether it has such a list in this system; the same answer on every rank."""

    def search(self, configuration: Configuration, time: float, /) -> Change:
        """Find the entities of the present state at `time`; the same answer on every rank.

        They are a function of state, time and active set alone, so that a step that is made again,
        or a run that goes on from a checkpoint, finds the same. (Collective.)
        """

    def active(self, configuration: Configuration, /) -> ActiveSet:
        """Return the present active set; the arrays are shared, not copied."""

    def activate(self, configuration: Configuration, active: ActiveSet, /) -> bool:
        """Take an active set; tell whether its entities are others than the present ones.

        The same answer on every rank. (Collective.)
        """

    def own_rows(self, configuration: Configuration, active: ActiveSet, /) -> ActiveSet:
        """Return the rows of an active set, or of its entities, that this rank writes to a file.

        Those of all ranks are all of it, each row once.
        """

    def join(self, configuration: Configuration, rows: ActiveSet, /) -> ActiveSet:
        """Return the set of whose rows each rank has some, of whatever `own_rows` (collective)."""

    def entities_of(self, active: ActiveSet, /) -> ActiveSet:
        """Return what an active set says of the entities alone."""

    def needed(self, configuration: Configuration, entities: ActiveSet, /) -> Ints:
        """Return the global numbers of all vertices of this rank's share of entities (collective).

        `entities` : of `entities_of`, present ones or others.
        """

    def listed(self, configuration: Configuration, entities: ActiveSet, /) -> list[Listed]:
        """Return this rank's share of entities by their local vertices (collective).

        `needed` went before, so that these are on this rank.
        """

    def renew(self, configuration: Configuration, /) -> dict[Form, Form]:
        """Return forms of the present entities by those that they replace (collective).

        Every rank has all entities that touch its rows; their vertices are on it by now.
        """


@runtime_checkable
class Reviews(Protocol):
    """Judges solutions of Newton's method; `DiscreteSystem.review` asks it."""

    name: str

    def review(self, configuration: Configuration, /) -> Verdict:
        """Judge the present state, a solution with the present lists of entities (collective).

        The same answer on every rank. What it changes to have Newton's method go on belongs to
        the step: let `HasStateVariables` have it, so that a step that is cut begins with the old
        values. It is asked `REVISIONS` times at most, then the step is cut.
        """


@runtime_checkable
class Rubs(Protocol):
    """Has friction, in rows of what slides alone, whose conditions the stiffness weighs."""

    def friction(self) -> list[str]:
        """Return the names of its forms of friction."""

    def weigh(
        self, configuration: Configuration, respond: Callable[[Array], Array | None], /
    ) -> None:
        """Take weights, which belong to the state, by the stiffness without friction (collective).

        `respond` returns the change of the state (local) under forces (local), None: unknown.
        """


@runtime_checkable
class ReviewsByMemory(Reviews, Protocol):
    """Knows of what its entities remember when a review lets a solution stand."""

    def standing(self, configuration: Configuration, /) -> Mapping[str, Standing] | None:
        """Return by form when steps in C do not ask `review`, None: they have to."""


@runtime_checkable
class ReviewsByBounds(Reviews, Protocol):
    """Knows of its unknowns when a review lets a solution stand (on one rank)."""

    def bounds(self, configuration: Configuration, /) -> Bounds | None:
        """Return when steps in C do not ask `review`, None: they have to."""


def rules_of(term: Reviews) -> tuple[Reviews, ReviewsByMemory | None, ReviewsByBounds | None]:
    """Return a term, and as what knows when its review lets a solution stand; asking is slow."""
    by_memory = term if isinstance(term, ReviewsByMemory) else None
    return term, by_memory, term if isinstance(term, ReviewsByBounds) else None


@runtime_checkable
class Holds(Protocol):
    """Has what follows the state, and may be held while a step is solved roughly."""

    def renews(self, configuration: Configuration, /) -> bool:
        """Tell whether that helps, from the accepted state on (collective)."""

    def hold(self, configuration: Configuration, frozen: bool, before: bool, /) -> float:
        """Hold it as in the present state, or `before` as in the accepted one, or let it follow.

        Returns by how much what was held has changed (collective).
        """


@runtime_checkable
class HasStateVariables(Protocol):
    """Has numbers that belong to the accepted state, as memory does, but not to its points."""

    def state_variables(self, configuration: Configuration, /) -> list[StateVariable]:
        """Return them; asked once, when the forms are there."""


class Switch(NamedTuple):
    """A jump of a law where a function of the state comes to zero, as where sticking ends.

    Attributes
    ----------
    function : the same on every rank (collective).
    direction : of the zeros: -1 falling, 1 rising, 0 both.
    action : goes on with the other law from a zero.
    """

    function: Callable[[], float]
    direction: int
    action: Callable[[], None]


@runtime_checkable
class Switches(Protocol):
    """Has laws that jump where functions of the state come to zero."""

    def switches(
        self, configuration: Configuration, steps: Callable[[], float], /
    ) -> Sequence[Switch]:
        """Return these functions, with what is to happen there.

        `steps` : returns the length of steps without an event.
        """


# ---- motions -------------------------------------------------------------------------------------
class InMotion(Protocol):
    """What a motion adds to a system."""

    def residual(self, f: Array, /) -> int:
        """Write the residual with the forces of inertia and damping to a local vector."""


# ---- parts of terms ------------------------------------------------------------------------------
@runtime_checkable
class Bonds(Protocol):
    """Joins bodies elastically, so that they move rigidly together."""

    def bonds(self) -> list[tuple[BodyProtocol, BodyProtocol]]:
        """Return pairs of bodies."""


@runtime_checkable
class Chooses(Protocol):
    """Has kernels that options of a problem choose."""

    def choose(
        self, configuration: Configuration, option: Callable[[str], str | None], /
    ) -> dict[Form, Form]:
        """Return forms with the chosen kernels by those that they replace (collective).

        Unknowns and parameters of the kernels are the same; `option` returns the value of an
        option by its name.
        """


@runtime_checkable
class TurnsSlopes(Protocol):
    """Chooses the directions that slopes are stored along at nodes of a body of cells."""

    body: Any

    def turned(
        self,
        configuration: Configuration,
        basis: AtVertices[np.float64],
        occupied: AtVertices[np.bool_],
        /,
    ) -> None:
        """Turn directions (vertices, s, 3) of slopes, but those `occupied`, as it needs them."""


@runtime_checkable
class SupportBinding(Binding, Protocol):
    """A support in one system: it holds coordinates of a body, by elimination.

    Attributes
    ----------
    body : that it holds.
    mirror : number of the axis across the plane of symmetry that it is, if it is one.
    offsets : of the coordinates that it holds, after `coordinates`.
    """

    body: BodyProtocol
    mirror: int | None
    offsets: Ints

    @property
    def values(self) -> list[Any]:
        """What is prescribed; asked whether it may change in time."""

    def coordinates(self, configuration: Configuration, /) -> Ints:
        """Return the local offsets of the coordinates that it holds."""

    def course(self, times: Sequence[float], /) -> Array:
        """Return the values (times, n) there at some times."""

    def prescribed_functions(self, configuration: Configuration, /) -> list[PlaceFunction]:
        """Return what the user prescribes at the places of this rank, as many on every rank."""
