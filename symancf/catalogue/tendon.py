# SPDX-License-Identifier: BSD-3-Clause
"""Tendons: cords through eyelets, with friction there, slack, and winches at their ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import sympy as sp

from ..arrays import Array, Ints, Ints32
from ..assembly.configuration import Configuration, Layout, in_system
from ..assembly.numbering import Block
from ..assembly.revisions import Bounds, Verdict
from ..assembly.state import StateVariable
from ..bodies.natural.body import RigidPoint
from ..errors import ConstraintError, ParameterError
from ..places.ends import End, Ground, require_place
from ..places.facets import FacetPoints
from ..places.on_body import Nodes
from ..places.passing import CordUnknowns, Eyelets
from ..places.sliding import SLIDE
from ..runtime.collective import together
from ..runtime.copies import OneProcess
from ..runtime.display import Displayable
from ..terms.quantities import symbols_of
from ..terms.term import PlaceBinding
from ..terms.work import Potential, VirtualWork
from ..values.arguments import among, name_or
from ..values.domain import checked, not_negative
from ..values.parameter import OfStep, Parameter, evaluate, label, reals
from . import pulley_laws
from . import tendon_laws as laws
from .prescribed_turns import PrescribedTurns
from .pretension import pretension
from .pulleys import FAR_TURN, NEAR_TURN, Circles, Pulley, Tangents, axes_of, turned_by
from .winches import Eyelet, Winch

if TYPE_CHECKING:
    from symancf_codegen import declare

    from ..assembly.form import Form
    from ..terms.term import PlaceTerm
    from ..values.parameter import Scalar

# Of strain: below it a tendon is neither taut nor slack, and stays what it is. Above round-off of
# lengths. One that does not stretch has the change of its length that a force makes in one step,
# which adds up from step to step: STILL of the length, just above round-off.
TOLERANCE = 1e-9
STILL = 1e-14
# Round-off of strains from lengths: signs of it would let eyelets slip where a cord is pulled anew.
NO_STRAIN = 16.0 * float(np.finfo(float).eps)
# Of the stiffness against slips in all eyelets alike: weighs a slip there against forces. Up to
# twice that stiffness an eyelet does not slip to and fro; far less lets all stick in between.
WEIGHT = 2.0
LOOSE = 1e-9  # of the stiffness between two places: what is less is none
SHORT = 0.02  # of the length in the reference: a segment whose end this is
TAUT, UNIT, L0, GRIP = "taut", "unit", "l0", "grip"
FREE, BEGAN = "free", "began"  # of motors of slack cords
# tensions of cords over their unit, the scale of multipliers
TENSION = Block("tensions", 1, "algebraic")
STIFF = 1e300  # EA of what does not stretch, where it divides


class _PartBinding(PlaceBinding):
    """Segments or eyelets of a tendon in one system."""

    term: _Segments | _Rubbing | _Resting
    of: TendonBinding

    def own_form(self, configuration: Configuration) -> Form:
        """Return the kernel and places; shorter steps of Newton's method lead slips nowhere."""
        form = super().own_form(configuration)
        return replace(form.thinned(self.jets), kinked=False, rubs=isinstance(self.term, _Rubbing))

    def uniform_values(self, configuration: Configuration) -> dict[str, Scalar]:
        """Return the parameters; what differs from place to place is in `cell_values`."""
        values = super().uniform_values(configuration) | {UNIT: configuration.scale}
        values |= {TAUT: OfStep(self.of.taut)}
        if isinstance(self.term, _Resting):
            began = partial(self.of.motor, 1 + int(self.term.first[0] > 0))
            values |= {FREE: OfStep(partial(self.of.motor, 0)), BEGAN: OfStep(began)}
        if isinstance(self.term, _Rubbing):
            eyelets = int(self.term.first[0]) + 1 not in self.of.term._pulleys
            values |= {GRIP: OfStep(partial(self.of.gripped, configuration, eyelets))}
        values |= self.of.around(self.term)
        return {name: x for name, x in values.items() if name not in (*self.term.lengths, "first")}

    def cell_values(self, configuration: Configuration) -> dict[str, Array]:
        """Return what the law takes at each of this rank's places, with the cord's lengths."""
        values = super().cell_values(configuration)
        first = self.term.first[self.entities.ids]
        lengths = {name: self.of.lengths[first + k] for k, name in enumerate(self.term.lengths)}
        if isinstance(self.term, _Rubbing):
            values["first"] = self.of.drives[first]
        return values | lengths


class _Segments(Potential):
    """The energy of segments; see `tendon_laws.segment`."""

    lengths = (L0,)
    first: Ints

    def _law(self) -> declare.PointLaw:
        """Return the point law, whose segments keep a length."""
        parts = [sp.Symbol(n, real=True) for n in (L0, "fed_a", "fed_b")]
        came, went = (symbols_of((k, "slide"), "change")[0] for k in (1, 0))
        return replace(super()._law(), domain=(sp.Add(*parts) + came - went,))

    def bind(self, layout: Layout) -> _PartBinding:
        """Announce entities (collective)."""
        return _PartBinding(self, layout)


class _Rubbing(VirtualWork):
    """The friction in eyelets; see `tendon_laws.eyelet`."""

    lengths = ("la", "lb")
    first: Ints

    def bind(self, layout: Layout) -> _PartBinding:
        """Announce entities (collective)."""
        return _PartBinding(self, layout)


class _Resting(VirtualWork):
    """What holds the motor of a slack cord; see `tendon_laws.motor_at_rest`."""

    lengths = ()
    first: Ints

    def bind(self, layout: Layout) -> _PartBinding:
        """Announce entities (collective)."""
        return _PartBinding(self, layout)


class Tendon(OneProcess, Displayable):
    r"""A cord through eyelets, straight between them: elastic, slack or taut, with friction.

    Between eyelets j and j + 1, at the distance L_j, there is the length l_j of the cord:

    .. math:: l_j = l_j^0 + s_{j+1} - s_j, \quad T_j = EA \max(L_j/l_j - 1, 0), \quad
        W_j = \tfrac{EA}{2} \frac{(L_j - l_j)^2}{l_j}

    with the length s_j that has passed eyelet j towards its start, an unknown. At an eyelet where
    the cord turns by the angle theta it sticks, or slides with the larger tension
    :math:`T_> = e^{\mu\theta} T_<`, the rope's equation of Euler and Eytelwein. The cord has no
    mass.

    Parameters
    ----------
    places : two or more, in their order: ``body.at(point)`` or ``at(points)`` of any body,
        ``sa.ground.at(points)``, ``mass.centre``, `eyelet` beside a rod, or `pulley`. The first
        and the last one are the ends, perhaps a `drum`.
    EA : stiffness [N], a number or `Parameter`; ``math.inf``: it does not stretch.
    mu : coefficient of friction, a number or one for each inner eyelet.
    tension : at first [N]: the cord has the length for it in the reference. A number is the same
        everywhere; ``(T, "start")`` and ``(T, "end")`` were pulled from there, by friction
        :math:`T e^{-\mu\theta}` behind each eyelet.
    start, end : ``"fixed"``, or a `winch`.
    name : shown in messages.

    Raises
    ------
    ConstraintError : a place is none or is many of a region; there is one alone; two that follow
        each other coincide in the reference.
    ParameterError : EA, mu, tension or an end is not what it can be.

    Notes
    -----
    A tendon is slack as a whole: without tension at one place there is none at others. Which it
    is stays while a step is solved, and is asked of each solution. (K. L. Johnson, Contact
    mechanics, 1985, section 8.1, for sticking and sliding belts.)

    Examples
    --------
    >>> import symancf as sa
    >>> arm = sa.RigidBody.box((0.1, 0.01, 0.02), position=(0.05, 0.0, 0.0), rho=1e3, name="arm")
    >>> cord = sa.Tendon([sa.ground.at((-0.03, 0.0, 0.01)), arm.at((-0.02, 0.0, 0.01))],
    ...                  EA=500.0, start=sa.winch(feed=-0.002))
    """

    def __init__(
        self,
        places: Sequence[End | Eyelet | Pulley],
        *,
        EA: Any,
        mu: Any = 0.0,
        tension: float | tuple[float, str] = 0.0,
        start: Winch | Literal["fixed"] = "fixed",
        end: Winch | Literal["fixed"] = "fixed",
        name: str | None = None,
    ) -> None:
        self.name = name_or(name, "tendon")
        self.what = f"tendon {self.name!r}"
        self._entries = [self._entry(item) for item in self._listed(places)]
        counts = [count for _, _, count in self._entries]
        self._entry_of = np.repeat(np.arange(len(counts)), counts)
        self._within = np.concatenate([np.arange(n) for n in counts])
        self.size = len(self._entry_of)
        if self.size < 2:
            raise ConstraintError(
                f"{self.what} has one place: give two or more", asked="places", given=self.size
            )
        self._pulleys = self._circles(places)
        self._winches = self._ends(start, end)
        self.EA, self.mu = self._stiffness(EA), self._friction(mu)
        self.tension = pretension(self.what, tension)
        self.inextensible = isinstance(self.EA, float) and math.isinf(self.EA)
        self.rubs = isinstance(self.mu, Parameter) or bool(np.any(self.mu))
        if self.inextensible and self.tension.force:
            raise ParameterError(
                f"{self.what} does not stretch, so nothing follows from tension="
                f"{self.tension.force:g}: pull it, by winch(force=) or winch(feed=)",
                asked="tension",
                given=self.tension.force,
            )
        self._make()

    # ---- what is given --------------------------------------------------------------------------
    def _listed(self, places: Any) -> Sequence[Any]:
        if isinstance(places, list | tuple) and places:
            return places
        raise ConstraintError(
            f"{self.what}: its places are {label(places)}: give them in a list, in their order",
            asked="places",
            given=label(places),
        )

    def _entry(self, item: Any) -> tuple[End, tuple[float, float], int]:
        """Return an end, what its places are off, and their number."""
        place, offset = (
            (item.place, item.offset) if isinstance(item, Eyelet | Pulley) else (item, (0.0, 0.0))
        )
        require_place(self.what, place)
        if isinstance(place, Nodes | FacetPoints) or place.travels or place.only:
            raise ConstraintError(
                f"{self.what}: {place} has no order: give points, body.at(points), or "
                "sa.ground.at(points)",
                asked="places",
                given=str(place),
            )
        if place.anywhere:
            raise ConstraintError(
                f"{self.what}: say where on the ground, sa.ground.at(point)",
                asked="places",
                given=str(place),
            )
        X = place.point if isinstance(place, Ground) else getattr(place, "X", None)
        return place, offset, 1 if X is None else len(X)

    def _circles(self, places: Sequence[Any]) -> dict[int, Pulley]:
        """Return the pulleys and drums by number of their place."""
        found: dict[int, Pulley] = {}
        for k, item in enumerate(places):
            if isinstance(item, Pulley):
                j = int(np.flatnonzero(self._entry_of == k)[0])
                if (j in (0, self.size - 1)) != (item.what == "drum"):
                    where = "an end" if item.what == "pulley" else "between its ends"
                    raise ConstraintError(
                        f"{self.what}: its place {j} is a {item.what} at {where}: give sa.drum at "
                        "ends and sa.pulley between them",
                        asked="places",
                        given=j,
                    )
                found[j] = item
        return found

    def _ends(self, *ends: Any) -> list[Winch]:
        winches = []
        for which, end in zip(("start", "end"), ends, strict=True):
            if not isinstance(end, Winch) and not among(end, ("fixed",)):
                raise ParameterError(
                    f"{self.what}: {which} is {label(end)}: give 'fixed' or a sa.winch(...)",
                    asked=which,
                    given=end,
                    possible=("fixed", "sa.winch(feed=)", "sa.winch(force=)", "sa.winch(motor=)"),
                )
            winches.append(end if isinstance(end, Winch) else Winch())
        return winches

    def _stiffness(self, EA: Any) -> float | Parameter:
        if isinstance(EA, Parameter):
            return EA
        value = reals(EA, finite=False)
        if value.shape != () or not value > 0.0:
            raise ParameterError(
                f"{self.what}: EA is {label(EA)}: give a positive number or a Parameter [N]",
                asked="EA",
                given=EA,
            )
        return float(value)

    def _friction(self, mu: Any) -> Array | Parameter:
        """Return the coefficients (places,), 0 at the ends, or a parameter."""
        if isinstance(mu, Parameter):
            return mu
        value = reals(mu)
        if value.shape not in ((), (self.size - 2,)) or (value < 0.0).any():
            raise ParameterError(
                f"{self.what}: mu is {label(mu)}: give a number that is not negative, or one for "
                f"each of the {self.size - 2} inner eyelets",
                asked="mu",
                given=mu,
                possible=((), (self.size - 2,)),
            )
        every = np.zeros(self.size)
        every[1:-1] = value
        return every

    # ---- its parts ------------------------------------------------------------------------------
    def _make(self) -> None:
        """Make the terms that it consists of."""
        n = self.size
        moves = [w.force is not None or w.motor is not None for w in self._winches]
        passing = np.array([moves[0], *[True] * (n - 2), moves[1]])
        passing[[j for j, one in self._pulleys.items() if one.grips and 0 < j < n - 1]] = False
        self._number = np.where(passing, np.cumsum(passing) - 1, -1)
        self._passed = CordUnknowns(int(passing.sum()), SLIDE) if passing.any() else None
        self._tensions = CordUnknowns(n - 1, TENSION)
        of = self._entry_of
        self._groups = [self._eyelets(np.flatnonzero(of == k)) for k in np.unique(of)]
        EA = STIFF if self.inextensible else self.EA
        self._segments: list[_Segments] = []
        for js in self._runs(np.arange(n - 1), 2):
            ends = self._eyelets(js), self._eyelets(js + 1)
            own = {L0: 1.0, TAUT: 1.0, UNIT: 1.0, **self._feeds(js[0])}
            name = f"{self.name} (segments from {js[0]})"
            law, radii = self._law_of(int(js[0]))
            term = _Segments(law, *ends, name=name, EA=EA, **own, **radii)
            term.first = js
            self._segments.append(term)
        self._rubbing = self._friction_terms(EA)
        self._drives: list[PlaceTerm] = []
        self._resting: list[_Resting] = []
        for k, sign, w in zip((0, n - 1), (-1.0, 1.0), self._winches, strict=True):
            if w.force is not None:
                at, name = self._eyelets(np.array([k])), f"{self.name} (winch at {k})"
                what = f"{self.what}: the force of the winch at place {k}"
                force = checked(what, "force", w.force, not_negative("a cord cannot push"))
                pull = {"force": force, "EA": EA, "sign": sign}
                self._drives.append(Potential(laws.pull, at, name=name, **pull))
            if w.motor is not None:
                at = self._eyelets(np.array([k]))
                self._drives.append(self._motor(w, at))
                held: dict[str, Any] = dict.fromkeys((TAUT, UNIT, FREE, BEGAN), 1.0)
                name = f"{self.name} (motor at {k})"
                rests = _Resting(laws.motor_at_rest, at, name=name, **held)
                rests.first = np.array([k])
                self._resting.append(rests)

    def _rubs_by(self) -> Any:
        """Return the coefficient of friction, a parameter that watches its domain."""
        return checked(f"{self.what}: mu", "mu", self.mu, not_negative())

    def _friction_terms(self, EA: Any) -> list[_Rubbing]:
        """Return the friction in eyelets and on pulleys."""
        n = self.size
        rubbing: list[_Rubbing] = []
        eyelets = [j for j in range(n - 2) if self.rubs and j + 1 not in self._pulleys]
        for js in self._runs(np.array(eyelets, dtype=np.int64), 3):
            ends3 = self._eyelets(js), self._eyelets(js + 1), self._eyelets(js + 2)
            mu = self._rubs_by() if isinstance(self.mu, Parameter) else self.mu[js + 1]
            own: dict[str, Any] = dict.fromkeys(("la", "lb", "first", GRIP, TAUT, UNIT), 1.0)
            name = f"{self.name} (eyelets from {js[0] + 1})"
            rubs = _Rubbing(laws.eyelet, *ends3, name=name, EA=EA, mu=mu, **own)
            rubs.first = js
            rubbing.append(rubs)
        for j, one in self._pulleys.items():
            rubbing += self._rubs(j, one, EA)
        return rubbing

    def _law_of(self, j: int) -> tuple[Any, dict[str, float]]:
        """Return the law of a segment, and what it takes of pulleys at its ends."""
        ends = {f"_{'ab'[k]}": self._pulleys.get(j + k) for k in (0, 1)}
        there = {end: one for end, one in ends.items() if one is not None}
        radii = {f"R{end}": one.radius for end, one in there.items()}
        radii |= {f"{name}{end}": 0.0 for end in there for name in ("from", "counted")}
        if len(there) == 2:
            return pulley_laws.between, radii | {"mirrored": 1.0}
        if not there:
            return laws.segment, radii
        return pulley_laws.leaving if "_a" in there else pulley_laws.arriving, radii

    def _rubs(self, j: int, one: Pulley, EA: Any) -> list[_Rubbing]:
        """Return the friction on a pulley, if there is any."""
        sliding = isinstance(self.mu, Parameter) or bool(self.mu[j])
        if one.grips or not (one.pin if one.turns_on_pin else sliding):
            return []
        mu: Any = self._rubs_by() if isinstance(self.mu, Parameter) else float(self.mu[j])
        given: dict[str, Any] = {"mu": 0.0 if one.turns_on_pin else mu, "pin": one.pin, "EA": EA}
        names = "la", "lb", "first", GRIP, TAUT, UNIT, "to", "off", "counted_a", "counted_b"
        given |= dict.fromkeys(names, 1.0)
        ends = (self._eyelets(np.array([k])) for k in (j - 1, j, j + 1))
        rubs = _Rubbing(pulley_laws.rubs, *ends, name=f"{self.name} (pulley at {j})", **given)
        rubs.first = np.array([j - 1])
        return [rubs]

    def _motor(self, w: Winch, at: Eyelets) -> VirtualWork:
        assert w.motor is not None
        made: object = w.motor(at)
        if isinstance(made, VirtualWork):
            return made
        raise ParameterError(
            f"{self.what}: the motor of a winch returned {label(made)}: it must return a "
            "sa.Controller or sa.VirtualWork at the place that it is given",
            asked="motor",
            given=label(made),
        )

    def _eyelets(self, js: Ints) -> Eyelets:
        """Return some places, all of one end, with what passes there."""
        place, offset, _ = self._entries[self._entry_of[js[0]]]
        unknowns: dict[str, Any] = {}
        if (self._number[js] >= 0).all():
            unknowns |= {"passed": self._passed, "numbers": self._number[js]}
        if (js < self.size - 1).all():
            unknowns |= {"tensions": self._tensions, "beyond": js}
        return Eyelets(place, self._within[js], offset, **unknowns)

    def _feeds(self, first: int) -> dict[str, Any]:
        """Return what winches pay out into segments from `first` on, and where motors are."""
        start, end = (0.0 if w.feed is None else w.feed for w in self._winches)
        motors = [float(w.motor is not None) for w in self._winches]
        return {
            "fed_a": start if first == 0 else 0.0,
            "fed_b": end if first == self.size - 2 else 0.0,
            "motor_a": motors[0] if first == 0 else 0.0,
            "motor_b": motors[1] if first == self.size - 2 else 0.0,
        }

    def _runs(self, first: Ints, width: int) -> list[Ints]:
        """Return the numbers of tuples of successive places that are of the same ends."""
        runs: dict[tuple[Any, ...], list[int]] = {}
        for j in first.tolist():
            at = np.arange(j, j + width)
            held = tuple(self._number[at] < 0)
            edge = j == 0, j + width == self.size
            runs.setdefault((*self._entry_of[at], held, edge), []).append(j)
        return [np.array(js) for js in runs.values()]

    @property
    def _terms(self) -> list[PlaceTerm]:
        return [*self._segments, *self._rubbing, *self._resting, *self._drives]

    def bind(self, layout: Layout) -> TendonBinding:
        """Announce entities and unknowns (collective)."""
        return TendonBinding(self, layout)

    # ---- results --------------------------------------------------------------------------------
    @in_system
    def tensions(self, system: Configuration) -> Array:
        """Return the tension of each segment (places - 1,), on every rank (collective) [N]."""
        return system.binding(self).tensions(system)

    @in_system
    def slips(self, system: Configuration) -> Array:
        """Return what has passed each place towards the start (places,) (collective) [m].

        At fixed ends 0, at winches that feed the length paid out or pulled in.
        """
        own = system.binding(self)
        s = own.slid(system)
        s[[0, -1]] += np.array([-1.0, 1.0]) * own.feeds(system.time)
        return s

    @in_system
    def lengths(self, system: Configuration) -> Array:
        """Return the length without tension of each segment (places - 1,) (collective) [m]."""
        return system.binding(self).shape(system).cord

    @in_system
    def length(self, system: Configuration) -> float:
        """Return the distance from end to end along the tendon (collective) [m]."""
        return float(system.binding(self).shape(system).L.sum())

    @in_system
    def positions(self, system: Configuration) -> Array:
        """Return where its places are (places, 3), on every rank (collective) [m]."""
        return system.binding(self).positions(system)

    @in_system
    def angles(self, system: Configuration) -> Array:
        """Return by what angle it turns at each place (places,), 0 at the ends (collective).

        Of pulleys it is the angle of wrap with its full turns, of drums what is wound there.
        """
        own = system.binding(self)
        return own.turns(own.positions(system), own.tangents(system))

    @in_system
    def forces(self, system: Configuration) -> Array:
        """Return the forces on its places (places, 3), on every rank (collective) [N]."""
        own = system.binding(self)
        shape = own.shape(system)
        pulls = own.tensions(system)[:, None] * shape.u
        forces = np.zeros((self.size, 3))
        forces[:-1] += pulls
        forces[1:] -= pulls
        return forces

    @in_system
    def dissipated(self, system: Configuration) -> float:
        """Return what friction has dissipated since the beginning (collective) [J]."""
        return system.binding(self).dissipated(system)

    @in_system
    def slack(self, system: Configuration) -> bool:
        """Tell whether it is slack."""
        return system.binding(self).taut(0.0) < 1.0

    def _headline(self) -> str:
        return self.what

    def _facts(self) -> list[tuple[str, str]]:
        places = [("through", str(place)) for place, _, _ in self._entries]
        return [("", "value"), *places, ("EA", label(self.EA))]

    def __str__(self) -> str:
        return f"{self.what} through {self.size} places"


def turns(r: Array) -> Array:
    """Return by what angle a polygon (n, 3) turns at each of its points, 0 at the ends."""
    d = np.diff(r, axis=0)
    angles = np.zeros(len(r))
    angles[1:-1] = between_directions(d / np.linalg.norm(d, axis=1)[:, None])
    return angles


def between_directions(u: Array) -> Array:
    """Return the angles (n - 1,) between successive unit vectors (n, 3)."""
    less, more = (np.linalg.norm(x, axis=1) for x in (u[1:] - u[:-1], u[1:] + u[:-1]))
    return np.asarray(2.0 * np.arctan2(less, more))


class CordShape(NamedTuple):
    """Distances L (n,) of a tendon's places, their directions u (n, 3), lengths of the cord."""

    L: Array
    u: Array
    cord: Array


class TendonBinding:
    """A tendon in one system.

    Attributes
    ----------
    name : in the system.
    lengths : (segments,) of the cord at first, l^0, after `forms`.
    drives : (places - 2,) differences of the forces on the material at first, Y_j - Y_(j-1).
    """

    lengths: Array
    drives: Array
    X: Array

    def __init__(self, term: Tendon, layout: Layout) -> None:
        self.term, self.name = term, layout.name(term)
        for part in term._terms:
            layout.call(part, part.name.replace(term.name, self.name, 1))
        self.segments = [layout.bind(part) for part in term._segments]
        self.rubbing = [layout.bind(part) for part in term._rubbing]
        self.resting = [layout.bind(part) for part in term._resting]
        drives = [layout.bind(part) for part in term._drives]
        for own in (*self.segments, *self.rubbing, *self.resting):
            own.of = self
        self.parts: list[PlaceBinding] = [*self.segments, *self.rubbing, *self.resting, *drives]
        self.variable = StateVariable(self.name, np.ones(1))
        # whether motors of a slack cord are free, and where those at start and end began the step
        self.motors = StateVariable(f"{self.name}:motors", np.zeros(3))
        self.grip = StateVariable(f"{self.name}:grip", np.zeros(1))
        self.circles = Circles(term._pulleys, term.size)
        self.counted = StateVariable(f"{self.name}:turns", np.zeros((term.size - 1, 2)))
        # angles by which planar bodies had turned there
        self.spun = StateVariable(f"{self.name}:angles", np.zeros(len(term._pulleys)))
        # time and angles then, for pulleys on rigid bodies in space
        self.prescribed = StateVariable(f"{self.name}:prescribed", np.zeros(0))
        self.turning: PrescribedTurns | None = None
        self._end = ""  # of its pulleys, where a solution was not good

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Take this rank's segments; return the blocks on vertices."""
        blocks = [block for part in self.parts for block in part.carriers(configuration)]
        for part in self.segments:
            vertices, end = part.entities.end_vertices(0), part.term.ends[0]
            blocks.append((TENSION.name, vertices[:, -2 if end.block else -1]))
        return blocks

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernels and places on this rank (collective)."""
        term = self.term
        self.X = np.concatenate([group.reference(configuration) for group in term._groups])
        L = np.linalg.norm(np.diff(self.X, axis=0), axis=1)
        with together(configuration.comm):
            close = np.flatnonzero(TOLERANCE * max(L.max(), configuration.extent) >= L)
            if len(close):
                k = int(close[0])
                raise ConstraintError(
                    f"{term.what}: its places {k} and {k + 1} coincide in the reference, at "
                    f"{label(self.X[k].tolist())}: give one of them",
                    names=[self.name],
                    asked="places",
                    given=k,
                )
            found = None
            if term._pulleys:
                axes = {j: one.place.reference_frame for j, one in term._pulleys.items()}
                if any(isinstance(one.place, RigidPoint) for one in term._pulleys.values()):
                    self.turning = PrescribedTurns(configuration.terms)
                    self.prescribed.value = self.turning.now(configuration)
                self.counted.value = self.circles.begin(term.what, self.X, axes)
                found = self.circles.tangents(self.X, axes, self.counted.value)
                L = found.free + self.circles.arcs(found.angles)
            self.lengths, self.drives = L, np.zeros(term.size - 2)
            if term.tension.force:
                EA = evaluate(f"EA of {term.what}", term.EA, configuration.time)
                mu = term.mu.value if isinstance(term.mu, Parameter) else term.mu
                wraps = self.turns(self.X, found)
                grip = self.circles.holding(mu * wraps, wraps)
                T = term.tension.along(grip)
                self.lengths, self.drives = L / (1.0 + T / EA), np.diff(T + T**2 / (2.0 * EA))
        if term._passed is not None:  # what passes is a part of the cord, and rounded as that
            at, _ = term._passed.local(configuration)
            configuration.reference[at] = L.max()
        return [form for part in self.parts for form in part.forms(configuration)]

    def settle(self, configuration: Configuration) -> None:
        """Tell slack from taut, and give elastic segments their tensions there (collective)."""
        self.motors.value = np.array([0.0, *self.slid(configuration)[[0, -1]]])
        shape, taut = self.shape(configuration), self.taut(0.0)
        excess = shape.L.sum() / shape.cord.sum() - 1.0
        if abs(excess) > TOLERANCE:
            taut = float(excess > 0.0)
        if taut != self.taut(0.0):
            self.variable.value = np.array([taut])
        if self.term.inextensible:
            return
        EA = self._stiffness(configuration)
        strains = (shape.L / shape.cord - 1.0) * self.taut(0.0)
        if self.rubbing and np.abs(strains).max() <= NO_STRAIN:
            strains[:] = 0.0
        self._put(configuration, EA * strains / configuration.stiffness)

    def _stiffness(self, configuration: Configuration) -> float:
        """Return EA, the unit of tensions where the cord does not stretch."""
        if self.term.inextensible:
            return configuration.stiffness
        return evaluate("EA", self.term.EA, configuration.time)

    def _put(self, configuration: Configuration, pulls: Array) -> None:
        """Let the unknowns that are tensions have values (segments,)."""
        at, k = self.term._tensions.local(configuration)
        configuration.state[at] = pulls[k]

    # ---- pulleys --------------------------------------------------------------------------------
    def counted_from(self, k: int, side: int, time: float) -> float:
        """Return the angle that a direction is counted from, see `Circles`."""
        return float(self.counted.value[k, side])

    def around(self, part: _Segments | _Rubbing | _Resting) -> dict[str, Scalar]:
        """Return what a law takes of pulleys: the middle of arcs, offsets, and angles so far."""
        pulleys, j = self.term._pulleys, int(part.first[0])
        values: dict[str, Any] = {}
        if isinstance(part, _Rubbing):
            if j + 1 in pulleys:
                offsets = self.circles.offsets()
                values |= {"to": float(offsets[j, 1]), "off": float(offsets[j + 1, 0])}
                values["counted_a"] = OfStep(partial(self.counted_from, j, 1))
                values["counted_b"] = OfStep(partial(self.counted_from, j + 1, 0))
            return values
        for side, end in enumerate("ab"):
            if j + side in pulleys:
                values[f"from_{end}"] = float(self.circles.middle[j + side])
                values[f"counted_{end}"] = OfStep(partial(self.counted_from, j, side))
        if len(values) == 4:
            values["mirrored"] = float(self.circles.mirrored[j])
        return values

    def _axes(self, configuration: Configuration) -> dict[int, Array]:
        pulleys = self.term._pulleys.items()
        return {j: axes_of(one.place, configuration) for j, one in pulleys}

    def tangents(self, configuration: Configuration) -> Tangents | None:
        """Return the segments over pulleys, None: there are none (collective)."""
        if not self.term._pulleys:
            return None
        r, axes = self.positions(configuration), self._axes(configuration)
        return self.circles.tangents(r, axes, self.counted.value)

    def turns(self, r: Array, tangents: Tangents | None) -> Array:
        """Return by what angle it turns at each place (places,), with places r (places, 3)."""
        if tangents is None:
            return turns(r)
        angles = np.zeros(len(r))
        angles[1:-1] = between_directions(tangents.u)
        return np.where(self.circles.radii > 0.0, self.circles.wraps(tangents.angles), angles)

    def _turned(self, configuration: Configuration) -> Verdict:
        """Count angles on from a solution; cut a step that ends somewhere (collective)."""
        found = self.tangents(configuration)
        if found is None:
            return Verdict.STANDS
        self._end = self.circles.ends(found, self._axes(configuration))
        pulleys = self.term._pulleys.values()
        spun = np.array([turned_by(one.place, configuration) for one in pulleys])
        most = max(np.abs(found.turn).max(), np.abs(spun - self.spun.value).max())
        if self.turning is not None:
            turned = self.turning.most(configuration, self.prescribed.value)
            most = max(most, turned)
            if turned > FAR_TURN and not self._end:
                self._end = (
                    f"a step prescribes a turn of {turned:.3g} rad: with pulleys and drums on "
                    f"rigid bodies in space it may be {FAR_TURN:g}, since more is not told from "
                    "less; take shorter steps of the time, of which angles are functions"
                )
        if self._end or most > FAR_TURN:
            return Verdict.CUT
        if self.turning is not None:
            self.prescribed.value = self.turning.now(configuration)
        if most > NEAR_TURN:
            self.counted.value, self.spun.value = self.counted.value + found.turn, spun
        return Verdict.STANDS

    # ---- slack ----------------------------------------------------------------------------------
    def taut(self, time: float) -> float:
        """Return 1 where it is taut, 0 where it is slack."""
        return float(self.variable.value[0])

    def motor(self, k: int, time: float) -> float:
        """Return one of the numbers of motors."""
        return float(self.motors.value[k])

    def state_variables(self, configuration: Configuration) -> list[StateVariable]:
        """Return whether it is taut, and angles, which belong to the accepted state."""
        ways = [self.counted, self.spun, self.prescribed] if self.term._pulleys else []
        gripping = [self.grip] if self.rubbing else []
        motors = [self.motors] if self.resting else []
        return [self.variable, *gripping, *motors, *ways]

    # ---- friction -------------------------------------------------------------------------------
    def gripped(self, configuration: Configuration, eyelets: bool, time: float) -> float:
        """Return what weighs slips against forces in eyelets or on pulleys, 0: it is not known.

        In statics it is the stiffness of the cord between two eyelets: steps may be long, and what
        has slid tells there which way it does. In motions, and on pulleys, where it turns far,
        that lets a cord slip to and fro.
        """
        if configuration.moves or not eyelets:
            return float(self.grip.value[0])
        return self._stiffness_between(configuration)

    def friction(self) -> list[str]:
        """Return the names of the forms of its friction."""
        return [part.name for part in self.rubbing]

    def weigh(self, configuration: Configuration, respond: Callable[[Array], Array | None]) -> None:
        """Take how stiff the system is against slips in all eyelets alike (collective)."""
        term = self.term
        if term._passed is None or not self.taut(0.0):
            return
        at, _ = term._passed.local(configuration)
        alike = np.zeros_like(configuration.state)
        alike[at] = 1.0
        change = respond(alike)
        own, k = self._stiffness_between(configuration), 0.0
        if change is not None:
            here = at[at < configuration.numbering.owned]
            slips = np.array([np.abs(change[here]).sum(), float(len(here))])
            total, count = configuration.sum(slips)
            k = WEIGHT * count / total if total > 0.0 else 0.0
        loose = not (math.isfinite(k) and k > LOOSE * own)  # friction alone holds the cord
        self.grip.value = np.array([own if loose else k])

    def _stiffness_between(self, configuration: Configuration) -> float:
        """Return the stiffness of the cord between two places."""
        return float(self._stiffness(configuration) * len(self.lengths) / self.lengths.sum())

    def review(self, configuration: Configuration) -> Verdict:
        """Judge a solution: is a taut tendon pressed, or a slack one too short? (collective)."""
        taut = self.variable.value[0] > 0.0
        if taut:
            pulls = self._pulls(configuration)
            nothing = self._negligible(configuration)
            other = bool(pulls.min() < -nothing)
            other |= bool(pulls.max() <= nothing) and self._wound(configuration)
            if self.rubbing and np.abs(pulls).max() <= NO_STRAIN * self._stiffness(configuration):
                self._put(configuration, np.zeros(self.term.size - 1))
        else:
            shape = self.shape(configuration)
            other = bool(shape.L.sum() > (1.0 + TOLERANCE) * shape.cord.sum())
        began, freed = self.motors.value[1:], self.motors.value[0] > 0.0
        if self.resting and not (taut or other or freed):
            self.motors.value = np.array([1.0, *began])  # where they pull nothing
            return Verdict.AGAIN
        self.motors.value = np.array(
            [0.0, *(began if other else self.slid(configuration)[[0, -1]])]
        )
        if not other:
            return self._turned(configuration)
        self.variable.value = np.array([0.0 if taut else 1.0])
        self._put(configuration, np.zeros(self.term.size - 1))
        return Verdict.AGAIN

    def _wound(self, configuration: Configuration) -> bool:
        """Tell whether its motors have taken in cord in this step (collective)."""
        way = (self.slid(configuration)[[0, -1]] - self.motors.value[1:]) * (1.0, -1.0)
        moved = sum(way[int(part.first[0] > 0)] for part in self.term._resting)
        return bool(moved > TOLERANCE * self.lengths.sum())

    def _pushes(self, configuration: Configuration) -> str:
        """Tell which motor pays out cord that has no tension, "": none does (collective)."""
        if self.resting and not self.tensions(configuration).any():
            motors = [drive for drive in self.term._drives if isinstance(drive, VirtualWork)]
            for rest, motor in zip(self.term._resting, motors, strict=True):
                ds, k = symbols_of((0, "slide"), "rate")[0], int(rest.first[0])
                pairs = zip(motor.motions, motor.forces, strict=True)
                pull = sp.Add(*(sp.diff(motion, ds) * force for motion, force in pairs))
                force = float(motor._values(configuration, [pull])[0, 0]) * (-1.0 if k else 1.0)
                if force < 0.0:
                    return (
                        f"the motor at place {k} of {self.term.what} pays out cord without end: it "
                        f"has no tension, and the motor pushes with {-force:.3g}; limit its force "
                        "to what is not negative, sp.Max(force, 0)"
                    )
        return ""

    def _loose(self, configuration: Configuration, time: float) -> str:
        """Tell that nothing holds it along its path, "": something may (collective)."""
        given = [w.force for w in self.term._winches if w.force is not None]
        if len(given) < 2 or self.term._pulleys:
            return ""
        what = f"both ends of {self.term.what} are winches of given force"
        if not self.rubbing or not self.tensions(configuration).any():
            return (
                f"{what}, and nothing holds it along its path, since it has no "
                f"{'tension' if self.rubbing else 'friction'}: hold an end, or give mu and tension="
            )
        mu = self.term.mu
        rubs = float(mu.value) if isinstance(mu, Parameter) else mu
        most = math.exp(float((rubs * self.turns(self.positions(configuration), None)).sum()))
        forces = sorted(evaluate(self.term.what, force, time) for force in given)
        if forces[1] <= most * forces[0]:
            return ""
        return (
            f"{what}, {forces[0]:.3g} and {forces[1]:.3g}, and it slides through without end: "
            f"friction holds up to {most:.3g} times the smaller one; hold an end"
        )

    def explain(self, configuration: Configuration, state: Array, time: float) -> str:
        """Tell which segment ends at a state: where no cord is left, or its places meet."""
        kept, configuration.state[:] = configuration.state.copy(), state
        try:
            with np.errstate(all="ignore"):  # there may be no numbers
                shape = self.shape(configuration, time)
                runs = self._pushes(configuration) or self._loose(configuration, time)
        finally:
            configuration.state[:] = kept
        if runs:
            return runs
        if self._end:
            return f"{self.term.what}, t = {time:.6g}: {self._end}"
        left, apart = shape.cord / self.lengths, shape.L / self.lengths
        for ratio, what in ((left, "no cord is left"), (apart, "the places meet")):
            k = int(np.argmin(ratio))
            if ratio[k] < SHORT:
                places = " and ".join(
                    f"{j} ({self.term._entries[self.term._entry_of[j]][0]})" for j in (k, k + 1)
                )
                return (
                    f"{what} in segment {k} of {self.term.what}, between its places {places} at "
                    f"t = {time:.6g}: {shape.cord[k]:.3g} of a length of {self.lengths[k]:.3g} in "
                    f"the reference, over a distance of {shape.L[k]:.3g}: pay more cord "
                    "out, or end the step before"
                )
        if self.term.inextensible and self.rubbing:
            return (
                f"{self.term.what} does not stretch and rubs: where eyelets stick and their places "
                "hardly give way, the tensions between them are not determined; let it stretch a "
                "little, say with an EA of a thousand times the largest tension"
            )
        return ""

    def bounds(self, configuration: Configuration) -> Bounds | None:
        """Return what lets a taut tendon be so without a review, see `review`."""
        if self.term._pulleys or not self.variable.value[0] > 0.0:
            return None
        least = -self._negligible(configuration) / configuration.stiffness
        least *= -1.0 if self.resting else 1.0  # motors wind nothing up without tension
        return Bounds(self.term._tensions.local(configuration)[0], least)

    def _negligible(self, configuration: Configuration) -> float:
        """Return what pushes less than can be told from nothing [N]."""
        if self.term.inextensible:
            return float(STILL * self.lengths.sum() * configuration.stiffness)
        return TOLERANCE * evaluate("EA", self.term.EA, configuration.time)

    # ---- results --------------------------------------------------------------------------------
    def positions(self, configuration: Configuration) -> Array:
        """Return the positions (places, 3) (collective)."""
        moved = [group.displacement(configuration) for group in self.term._groups]
        return np.asarray(self.X + np.concatenate(moved))

    def slid(self, configuration: Configuration) -> Array:
        """Return the unknowns (places,), 0 at fixed ends (collective)."""
        term, s = self.term, np.zeros(self.term.size)
        if term._passed is not None:
            passed = configuration.evaluate(term._passed, [("slide", configuration.state)])[0]
            s[term._number >= 0] = passed[:, 0]
        return s

    def feeds(self, time: float) -> Array:
        """Return what the winches have paid out, at start and end."""
        what = f"feed of {self.term.what}"
        feeds = (w.feed for w in self.term._winches)
        return np.array([0.0 if f is None else evaluate(what, f, time) for f in feeds])

    def shape(self, configuration: Configuration, time: float | None = None) -> CordShape:
        """Return distances, directions and lengths of the cord, fed as at `time` (collective)."""
        d, found = np.diff(self.positions(configuration), axis=0), self.tangents(configuration)
        L = np.linalg.norm(d, axis=1)
        u = d / L[:, None]
        if found is not None:
            L, u = found.free + self.circles.arcs(found.angles), found.u
        cord = self.lengths + np.diff(self.slid(configuration))
        start, end = self.feeds(configuration.time if time is None else time)
        cord[0] += start
        cord[-1] += end
        return CordShape(L, u, cord)

    def tensions(self, configuration: Configuration) -> Array:
        """Return the tensions (segments,) (collective)."""
        return np.maximum(self._pulls(configuration), 0.0) * self.taut(0.0)

    def _pulls(self, configuration: Configuration) -> Array:
        """Return the unknowns that are tensions (segments,) (collective)."""
        pulls = configuration.evaluate(self.term._tensions, [("pull", configuration.state)])[0]
        return np.asarray(pulls[:, 0] * configuration.stiffness)

    def dissipated(self, configuration: Configuration) -> float:
        """Return what friction has dissipated (collective)."""
        total = 0.0
        for part in self.rubbing:
            total += float(configuration.memory.gathered(part.name)["dissipated"].sum())
        return total
