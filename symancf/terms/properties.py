# SPDX-License-Identifier: BSD-3-Clause
r"""Properties of terms of places: force and moment vanish together, dampers take energy.

In a rigid motion of all ends, :math:`\delta r = a + \omega \times r`,
:math:`\delta e = \omega \times e`, forces that the ends exert on each other do no work: their sum
and their moment vanish. Of a constraint that holds where its equations are fulfilled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import branches

from ..arrays import Array
from ..kinematics.quantity import real
from ..laws.properties.property import Property
from ..laws.properties.solid_energy import compiled
from ..laws.properties.subject import rotations
from ..laws.properties.units import NO_UNIT, Exponents, unit_of, units
from ..values.parameter import evaluate
from ..values.reader import require_parameters
from .quantities import TIME, symbols_of
from .work import VirtualWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .quantities import JetOfEnd
    from .term import PlaceTerm

FORCE, TANGENT = "force and moment", "symmetry of the tangent"

STATES = 16  # that are looked at
SAME = 1e-7  # of the largest power of one end, what counts as none
ITERATIONS = 60  # to a state that fulfils the equations of a constraint

State = dict[sp.Symbol, float]
Found = tuple[tuple[Property, ...], dict[str, float]]


def term_properties(term: PlaceTerm, arguments: Mapping[str, float]) -> Found:
    """Return the properties of a term of places."""
    reading = term._reading
    names = [*reading.keywords]
    require_parameters(term.what, (), arguments, optional=names, exact=True)
    values = {}
    for name in names:
        if name in arguments:
            values[name] = arguments[name]
        elif name in reading.per_place:
            values[name] = float(np.mean(reading.per_place[name]))
        else:
            values[name] = float(evaluate(name, reading.parameters[name], 0.0))
    motion = _RigidMotions(term, values)
    found = [motion.momentum(), _tangent(term), motion.passivity(), _units(term)]
    return tuple(p for p in found if p is not None), values


def _results(term: PlaceTerm) -> list[sp.Expr]:
    """Return motions and forces of a term, its equations or its energy."""
    if isinstance(term, VirtualWork):
        return [*term.motions, *term.forces]
    result = term._reading.result
    return list(result) if isinstance(result, sp.MatrixBase | list | tuple) else [result]


class _RigidMotions:
    """A term at random states of its ends, with rigid motions of all of them."""

    def __init__(self, term: PlaceTerm, values: Mapping[str, float]) -> None:
        self.term, reading = term, term._reading
        self.reading, self.values = reading, values
        self.jets: list[JetOfEnd] = list(dict.fromkeys([*reading.jets, *reading.fixed]))
        self.rates: list[JetOfEnd] = list(reading.rates)
        self.all_rigid = all(_moves(jet) for _, jet in (*self.jets, *self.rates))
        self.planar = any(jet == "angle" for _, jet in (*self.jets, *self.rates))
        self.conservative = not isinstance(term, VirtualWork)
        self.motions = len(term.motions) if isinstance(term, VirtualWork) else 0
        every = [branches(e) for e in self._expressions()]
        self.symbols = sorted(
            set().union(*(e.free_symbols for e in every), self._symbols_of_ends()),
            key=lambda s: str(s.name),
        )
        self.function = compiled(self.symbols, every) if every else None
        self.changes = [s for j in reading.jets for s in symbols_of(j, "change")]
        slopes = [sp.diff(e, s) for e in every for s in self.changes]
        if self.conservative:
            self.slopes = compiled(self.symbols, slopes)

    def _symbols_of_ends(self) -> set[sp.Symbol]:
        """Return the symbols of jets and rates of all ends."""
        used = {s for j in self.jets for of in ("change", "reference") for s in symbols_of(j, of)}
        return used | {s for j in self.rates for s in symbols_of(j, "rate")}

    def _expressions(self) -> list[sp.Expr]:
        lets = dict(self.reading.lets)
        results = _results(self.term)
        for _ in lets:
            results = [e.xreplace(lets) for e in results]
        return results

    def momentum(self) -> Property:
        """Look whether the forces of the ends on each other are in balance."""
        ends = {k for k, _ in (*self.reading.jets, *self.rates)}
        if len(ends) < 2:
            return Property(FORCE, "none", "of one place: a load")
        if not self.all_rigid or self.term.states:
            return Property(FORCE, "none", "of quantities without a rigid motion")
        if (found := self._unbalanced(apart=True)) is None:
            return Property(FORCE, "samples", f"sum and moment vanish at {STATES} states")
        axis, power, size, state = found
        if axis >= 3 and self._unbalanced(apart=False) is None:
            note = "in balance where the places coincide; where they are apart a couple is left"
            return Property(FORCE, "samples", note)
        what = "force" if axis < 3 else "moment about the origin"
        note = (
            f"the {what} of all ends along {'xyz'[axis % 3]} is {power:.4g}, that of one up to "
            f"{size:.4g}"
        )
        witness = {str(s.name): x for s, x in state.items() if x != 0.0}
        return Property(FORCE, "violation", note, witness)

    def _unbalanced(self, *, apart: bool) -> tuple[int, float, float, State] | None:
        """Return a rigid motion with a power, this, that of one end, and the state; None: none."""
        generator, worst = np.random.default_rng(31), None
        for k in range(STATES):
            state = self._state(generator, k, apart=apart)
            if state is None:
                continue
            powers, size = self._powers(state)
            for axis, power in enumerate(powers):
                if self.planar and axis in (2, 3, 4):
                    continue
                if not abs(power) <= SAME * max(size, 1e-300):
                    if axis < 3:  # forces are told before moments
                        return axis, power, size, state
                    worst = worst or (axis, power, size, state)
        return worst

    def passivity(self) -> Property | None:
        """Look whether what is declared as dissipation takes energy."""
        if self.conservative:
            return (
                Property("passivity", "proof", "an energy or a constraint without memory")
                if (not self.reading.history)
                else None
            )
        if self.term.role != "dissipation" or not self.all_rigid:
            return Property("passivity", "none", "not declared as dissipation")
        generator = np.random.default_rng(37)
        n = self.motions
        for k in range(4 * STATES):
            state = self._state(generator, k)
            assert state is not None
            values = self._values(state)
            power = float(values[:n] @ values[n:])
            if power > 1e-12 * float(np.abs(values[:n]) @ np.abs(values[n:])):
                witness = {str(s.name): v for s, v in state.items() if v != 0.0}
                note = f"its power is {power:.4g}: it drives"
                return Property("passivity", "violation", note, witness)
        return Property("passivity", "samples", f"power <= 0 at {4 * STATES} states")

    # ---- states -----------------------------------------------------------------------------
    def _state(self, generator: Any, number: int, *, apart: bool = True) -> State | None:
        """Return values of all symbols at a random state; None: the equations have none near."""
        ends = sorted({k for k, _ in (*self.jets, *self.rates)})
        start = generator.standard_normal((len(ends), 3))
        turned = rotations(2 * len(ends), seed=41 + number)
        if not apart:
            start[:] = start[0]
        if self.planar:
            start[:, 2] = 0.0
            turned = np.array([_about_z(a) for a in generator.uniform(-3, 3, 2 * len(ends))])
        base = {k: (start[i], turned[2 * i]) for i, k in enumerate(ends)}
        speed = generator.standard_normal(len(self.symbols))
        reference = {k: np.zeros(3) for k in ends}  # joints are put together in one point
        pose = {k: (r.copy(), R.copy()) for k, (r, R) in base.items()}
        if not self.term._multipliers_of_place:
            if apart:
                reference = dict(zip(ends, generator.standard_normal((len(ends), 3)), strict=True))
                reference = {
                    k: X * (1.0 - self.planar * np.eye(3)[2]) for k, X in reference.items()
                }
            return self._named(pose, reference, speed)
        return self._fulfilled(pose, reference, speed)

    def _named(
        self, pose: Mapping[int, tuple[Array, Array]], reference: Mapping[int, Array], speed: Array
    ) -> State:
        values: dict[sp.Symbol, float] = dict(zip(self.symbols, speed, strict=True))
        values[TIME] = 0.0
        values |= {sp.Symbol(n, real=True): x for n, x in self.values.items()}
        for k, jet in dict.fromkeys([*self.jets, *self.rates]):
            r, R = pose[k]
            first, now = _jet(jet, reference[k], np.eye(3)), _jet(jet, r, R)
            for a in range(3):
                values[symbols_of((k, jet), "reference")[a]] = float(first[a])
                values[symbols_of((k, jet), "change")[a]] = float(now[a] - first[a])
        return values

    def _fulfilled(
        self, pose: dict[int, tuple[Array, Array]], reference: Mapping[int, Array], speed: Array
    ) -> State | None:
        """Return a state that fulfils the equations, by Gauss-Newton on positions and turns."""
        ends = sorted(pose)
        for _ in range(ITERATIONS):
            state = self._named(pose, reference, speed)
            phi = self._values(state)
            if not np.isfinite(phi).all():
                return None
            if np.abs(phi).max() < 1e-13:
                return state
            columns = []
            for k in ends:
                for axis in range(6):
                    columns.append(self._slope(state, self._rigid(pose, axis, only=k)))
            J = np.stack(columns, axis=1)
            move = np.linalg.lstsq(J, -phi, rcond=1e-10)[0].reshape(len(ends), 6)
            move *= min(1.0, 0.5 / max(float(np.abs(move).max()), 1e-300))
            for k, m in zip(ends, move, strict=True):
                r, R = pose[k]
                pose[k] = (r + m[:3] + np.cross(m[3:], r), _turn(m[3:]) @ R)
        return state if np.abs(phi).max() < 1e-9 else None

    def _values(self, state: Mapping[sp.Symbol, float]) -> Array:
        assert self.function is not None
        with np.errstate(all="ignore"):
            return np.array([float(x) for x in self.function(*(state[s] for s in self.symbols))])

    # ---- powers -----------------------------------------------------------------------------
    def _rigid(
        self, pose: Mapping[int, tuple[Array, Array]], axis: int, only: int | None = None
    ) -> dict[JetOfEnd, Array]:
        """Return the motion of jets where ends (or one) move along or turn about an axis."""
        result, e = {}, np.eye(3)[axis % 3]
        for k, jet in self.reading.jets:
            if only is not None and k != only:
                continue
            r, R = pose[k]
            result[k, jet] = _motion(jet, _jet(jet, r, R), e, axis < 3)
        return result

    def _slope(self, state: Mapping[sp.Symbol, float], motion: Mapping[JetOfEnd, Array]) -> Array:
        """Return the rates of the expressions in a motion."""
        with np.errstate(all="ignore"):
            flat = np.array([float(x) for x in self.slopes(*(state[s] for s in self.symbols))])
        rows = flat.reshape(-1, len(self.changes))
        by_symbol: dict[sp.Symbol, float] = {}
        for jet, v in motion.items():
            by_symbol |= dict(zip(symbols_of(jet, "change"), v, strict=True))
        move = np.array([by_symbol.get(s, 0.0) for s in self.changes])
        return np.asarray(rows @ move)

    def _powers(self, state: Mapping[sp.Symbol, float]) -> tuple[Array, float]:
        """Return the powers in the six rigid motions, and the largest of one end."""
        ends = sorted({k for k, _ in (*self.reading.jets, *self.rates)})
        powers, size = np.zeros(6), 0.0
        weights = None
        for axis in range(6):
            for k in ends:
                part = self._power(state, axis, k)
                if weights is None:
                    weights = np.cos(np.arange(len(part)) + 1.0)
                power = float(weights @ part) if self.conservative else float(part.sum())
                powers[axis] += power
                size = max(size, abs(power))
        return powers, size

    def _power(self, state: Mapping[sp.Symbol, float], axis: int, end: int) -> Array:
        """Return the powers of the forces where one end moves along or turns about an axis."""
        e = np.eye(3)[axis % 3]
        if self.conservative:
            motion = {}
            for k, jet in self.reading.jets:
                if k == end:
                    motion[k, jet] = _motion(jet, self._now(state, (k, jet)), e, axis < 3)
            return self._slope(state, motion)
        n = self.motions
        forces = self._values(state)[n:]
        moved = dict(state)
        for k, jet in self.rates:
            now = self._now(state, (k, jet))
            v = _motion(jet, now, e, axis < 3) if k == end else np.zeros(3)
            moved |= dict(zip(symbols_of((k, jet), "rate"), v, strict=True))
        return np.asarray(self._values(moved)[:n] * forces)

    def _now(self, state: Mapping[sp.Symbol, float], jet: JetOfEnd) -> Array:
        """Return the present value of a jet."""
        change, first = symbols_of(jet, "change"), symbols_of(jet, "reference")
        return np.array(
            [state.get(u, 0.0) + state.get(X, 0.0) for u, X in zip(change, first, strict=True)]
        )


_LINES = {"director": (0.1, -0.2, 1.0), "line": (1.0, 0.2, -0.1)}


def _moves(jet: str) -> bool:
    return jet == "value" or jet == "angle" or jet in _LINES or jet.startswith("axis")


def _jet(jet: str, r: Array, R: Array) -> Array:
    """Return a jet of an end at r whose frame is R."""
    if jet == "value":
        return r
    if jet == "angle":
        return np.array([np.arctan2(R[1, 0], R[0, 0]), 0.0, 0.0])
    if jet in _LINES:
        return np.asarray(R @ np.array(_LINES[jet]))
    return np.asarray(R[:, int(jet[-1])])


def _motion(jet: str, now: Array, e: Array, along: bool) -> Array:
    """Return the motion of a jet where its end moves along an axis, or turns about it."""
    if jet == "angle":
        return np.array([0.0 if along else e[2], 0.0, 0.0])
    if along:
        return np.asarray(e if jet == "value" else np.zeros(3))
    return np.asarray(np.cross(e, now))


def _turn(w: Array) -> Array:
    """Return the rotation by a vector."""
    angle = float(np.linalg.norm(w))
    K = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    if angle < 1e-12:
        return np.asarray(np.eye(3) + K)
    return np.asarray(
        np.eye(3) + np.sin(angle) / angle * K + (1 - np.cos(angle)) / angle**2 * (K @ K)
    )


def _about_z(angle: float) -> Array:
    return _turn(np.array([0.0, 0.0, angle]))


def _tangent(term: PlaceTerm) -> Property:
    """Return whether the tangent is symmetric: of energies and constraints it is."""
    if not isinstance(term, VirtualWork):
        return Property(TANGENT, "proof", "the forces are the gradient of an energy")
    reading = term._reading
    unknowns = [s for jet in reading.jets for s in symbols_of(jet, "change")]
    rates = {
        symbols_of(jet, "change")[a]: symbols_of(jet, "rate")[a]
        for jet in dict.fromkeys([*reading.jets, *reading.rates])
        for a in range(3)
    }
    forces = _forces(term, [rates[s] for s in unknowns])
    if sp.count_ops(forces) > 400 or any(f.free_symbols & {*rates.values()} for f in forces):
        return Property(TANGENT, "none", "a force of velocities, or a long one")
    for i, a in enumerate(unknowns):
        for k, b in enumerate(unknowns[:i]):
            if sp.simplify(sp.diff(forces[i], b) - sp.diff(forces[k], a)) != 0:
                return Property(TANGENT, "none", f"no energy has this force (d/d{a}, d/d{b})")
    return Property(TANGENT, "proof", "the force is the gradient of an energy")


def _forces(term: VirtualWork, rates: list[sp.Symbol]) -> list[sp.Expr]:
    """Return the forces that do the work of a term in each of the rates."""
    Q = [sp.diff(m, rate) for rate in rates for m in term.motions]
    n = len(term.motions)
    return [
        sp.Add(*(Q[i * n + j] * f for j, f in enumerate(term.forces))) for i in range(len(rates))
    ]


def _units(term: PlaceTerm) -> Property:
    """Find the units of the parameters of a term."""
    reading = term._reading
    known: dict[sp.Symbol, Exponents] = {TIME: unit_of("s")}
    per_second = unit_of("s")
    for _, jet in dict.fromkeys([*reading.jets, *reading.fixed, *reading.rates]):
        length = unit_of("m") if jet in ("value", "slide") else NO_UNIT
        for k in range(3):
            for of in ("change", "reference"):
                known |= dict.fromkeys(symbols_of((k, jet), of), length)
            rate = (length[0] - per_second[0], length[1], length[2] - per_second[2])
            known |= dict.fromkeys(symbols_of((k, jet), "rate"), rate)
    symbols = [sp.Symbol(n, real=True) for n in reading.keywords]
    rows: list[tuple[sp.Expr, Any]] = []
    if isinstance(term, VirtualWork):
        watt = (unit_of("J")[0], unit_of("J")[1], unit_of("J")[2] - 1)
        rows = [(m * f, watt) for m, f in zip(term.motions, term.forces, strict=True)]
    elif term._multipliers_of_place:
        rows = [(phi, real(f"unit of equation {k}")) for k, phi in enumerate(_results(term))]
    else:
        rows = [(w, unit_of("J")) for w in _results(term)]
    rows = [(e.xreplace(dict(reading.lets)), unit) for e, unit in rows]
    if reading.edges is not None or reading.history or term.states:
        return Property("units", "none", "of edges, or with memory or states")
    return units(rows, known, symbols)
