# SPDX-License-Identifier: BSD-3-Clause
r"""The stress of a law in homogeneous tests along its axes, and its derivatives by constants.

With logarithms :math:`L_a` of the principal stretches along fixed axes the Kirchhoff stresses are
:math:`\tau_a = \partial W/\partial L_a`, the nominal ones :math:`P_a = \tau_a/\lambda_a`; W is the
energy, of laws with memory the incremental potential of the step. Free directions have no stress,
which gives their stretches by Newton's method. An incompressible material has :math:`L_3 = -L_1 -
L_2` and no volumetric part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import (
    branches,
    log_stretch,
    numerical,
    rewritten,
    short,
    stretch_axis,
    symbolic,
)

from ...arrays import Array
from ...errors import KinematicsError, ParameterError
from ...kinematics.memory import STEP
from ...kinematics.naming import law_of
from ...kinematics.quantity import Kinematics, real
from ...kinematics.solid import solid
from ...kinematics.stretches import stretch_symbols
from ...laws.evaluate import evaluate_on
from ...laws.limits import limits
from ...laws.properties.law import equations_of, known_units
from ...laws.properties.solid_energy import FUNCTIONS
from ...laws.properties.units import Contradiction, exponents_of, unit_of
from .material_test import KINDS, MaterialTest

if TYPE_CHECKING:
    from symancf_codegen.declare import Local

    from ...laws.parts import EnergyCall

VOLUMETRIC = "volumetric"
LARGEST_STEP = 0.05  # of a logarithmic stretch, where the law has memory

_L = sp.symbols("L1 L2 L3", real=True)
_WITH_MEMORY = (
    "forces/memory",
    "updates",
    "updates/theta",
    "updates/moving",
    "updates/memory",
)


@dataclass(frozen=True)
class _Compiled:
    """Matrices of expressions as a function of arrays, one entry for each specimen.

    Attributes
    ----------
    function : of the values of all symbols.
    shapes : of the results without specimens.
    """

    function: Callable[..., Any]
    shapes: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, symbols: Sequence[sp.Symbol], *matrices: sp.Matrix) -> _Compiled:
        rows = [e.xreplace({sp.zoo: sp.nan}) for m in matrices for e in m]  # branches not taken
        lets, short = sp.cse(rows, symbols=sp.numbered_symbols("let"), order="none")
        shapes = tuple(m.shape for m in matrices)
        return cls(numerical(symbols, short, FUNCTIONS, lets=lets), shapes)

    def __call__(self, values: Sequence[Array], specimens: int) -> list[Array]:
        """Return (specimens, rows, columns) of each matrix."""
        ends = np.cumsum([rows * columns for rows, columns in self.shapes])
        flat = np.empty((specimens, ends[-1]))
        for k, entry in enumerate(self.function(*values)):
            flat[:, k] = entry
        parts = zip(np.split(flat, ends[:-1], axis=1), self.shapes, strict=True)
        return [part.reshape(specimens, *shape) for part, shape in parts]


class Response:
    """What a law answers in tests: stresses, and their derivatives by its constants.

    Parameters
    ----------
    law : energy of a solid; of one with preferred directions the axes of the test are those of
        the body.
    incompressible : whether its volume is constant.

    Attributes
    ----------
    parameters : names of its constants.
    defaults : those that the law gives a value.
    ineffective : those on which no stress depends, such as the bulk modulus of an incompressible
        material.
    linear : those in which the energy is linear and zero with them: moduli.
    has_memory : whether the stress depends on the history.
    has_rate : whether it depends on time.
    units : powers of stress and of time in the unit of each constant, as far as they follow.
    """

    def __init__(self, law: Any, *, incompressible: bool) -> None:
        called = evaluate_on(solid(), "a material test", law_of(law), None)
        self.name, self.incompressible = called.name, incompressible
        self.parameters = called.signature.parameters
        self.defaults = dict(called.signature.defaults)
        self._theta = [real(p) for p in self.parameters]
        self._terms: dict[str, _Compiled] = {}
        self._functions: dict[Any, _Compiled] = {}
        parts = dict(called.parts)
        self.has_volume = VOLUMETRIC in parts
        if incompressible:
            parts.pop(VOLUMETRIC, None)
        axes = list(_L[:2] if incompressible else _L)
        self._along = along = _along_axes(solid(), incompressible)
        history = {m.symbol: m for m in called.history if not m.total}
        whole = sp.Add(*parts.values())
        first = {m.symbol: m.initial for m in called.history}
        unknown = {x.symbol: x for x in called.local}
        ends = limits(whole, {}, along, {*_L, *unknown}, first)
        left = _pruned(rewritten(branches(whole), {}, along), unknown, history, along)
        self._ends = tuple(e.xreplace(left.zero) for e in ends)
        updates, local = left.updates, [*left.equations]
        self._memory, self.has_memory = [*updates], bool(updates)
        self._unknown = len(local)
        self._start = [symbolic(unknown[s].start).xreplace(along) for s in local]
        self.symbols = [real(STEP), *axes, *local, *self._memory, *self._theta]
        self._moving = [*axes, *local]
        self._energy = branches(left.energy)
        equations = map(branches, left.equations.values())
        self._forces = sp.Matrix([*(sp.diff(self._energy, x) for x in axes), *equations])
        self._updates = _column([branches(u) for u in updates.values()])
        self._initial = _column([history[m].initial for m in self._memory])
        used = self._forces.free_symbols | self._updates.free_symbols
        self._require(used - {*self.symbols})
        pairs = zip(self.parameters, self._theta, strict=True)
        self.ineffective = tuple(p for p, s in pairs if s not in used)
        self.linear, self.has_rate = self._linear(), real(STEP) in used
        self.units = _powers(called)

    def _require(self, strange: set[sp.Symbol]) -> None:
        """Refuse unknowns that depend on something that no stress depends on."""
        if strange:
            raise KinematicsError(
                f"{self.name} has no response to tests of a material here: the unknowns that it "
                f"solves for depend on {min(map(str, strange))}, which no other stress does"
            )

    def _linear(self) -> tuple[str, ...]:
        """Return a set of parameters in which the forces are linear, and zero where all are.

        None where the law has unknowns, which follow from parameters, too.
        """
        if self._unknown:
            return ()
        chosen: list[sp.Symbol] = []
        for s in self._theta:
            slope = self._forces.diff(s)
            if any(slope) and not slope.free_symbols & {s, *chosen}:
                chosen.append(s)
        rest = self._forces.xreplace(dict.fromkeys(chosen, sp.S.Zero))
        at = [np.linspace(0.1, 0.3, 5) * (1 + 0.1 * k) for k in range(len(self.symbols))]
        with np.errstate(all="ignore"):
            (left,) = _Compiled.of(self.symbols, rest)(at, 5)
        return tuple(str(s) for s in chosen) if np.all(abs(left) < 1e-12) else ()

    def function(self, *what: str, by: tuple[str, ...] = ()) -> _Compiled:
        """Return energy, forces, updates or their derivatives, compiled together once."""
        if (what, by) not in self._functions:
            theta = [s for s in self._theta if str(s) in by]
            symbols = {"moving": self._moving, "memory": self._memory, "theta": theta}
            sources = {
                "forces": self._forces,
                "updates": self._updates,
                "initial": self._initial,
                "energy": sp.Matrix([self._energy]),
                "ends": _column([branches(e.xreplace(self._along)) for e in self._ends]),
            }
            pairs = [one.split("/") for one in what]
            matrices = [
                _jacobian(sources[of], symbols[kind[0]]) if kind else sources[of]
                for of, *kind in pairs
            ]
            self._functions[what, by] = _Compiled.of(self.symbols, *matrices)
        return self._functions[what, by]

    def stress(
        self, tests: Sequence[MaterialTest], values: Mapping[str, Any], by: Sequence[str] = ()
    ) -> list[tuple[Array, Array]]:
        """Return the stresses of tests, and their derivatives.

        Parameters
        ----------
        values : of all constants, each a number or (S,) of samples.
        by : names of constants.

        Returns
        -------
        For each test (rows, m) stresses as it measures them [Pa] and (rows, m, len(by))
        derivatives, of samples (S, rows, m) and (S, rows, m, len(by)); NaN where the law has no
        equilibrium.
        """
        results: list[Any] = [None] * len(tests)
        theta = [values[p] if p not in self.ineffective else 1.0 for p in self.parameters]
        for kind in KINDS:
            chosen = [k for k, t in enumerate(tests) if t.kind == kind]
            if chosen:
                with np.errstate(all="ignore"):
                    found = self._of_kind(kind, [tests[k] for k in chosen], theta, tuple(by))
                for k, one in zip(chosen, found, strict=True):
                    results[k] = one
        return results

    def missing(self, test: MaterialTest, values: Mapping[str, float]) -> str:
        """Return in words where a law has no stress in a test, and why; "": nowhere.

        Whether it ends before a stretch is looked at with free sides that keep the volume.
        """
        ((stress, _),) = self.stress([test], values)
        row = int((~np.isfinite(stress).all(axis=1)).argmax())
        if np.isfinite(stress).all():
            return ""
        at, theta = test.along[row], [values.get(p, 1.0) for p in self.parameters]
        where = f"{self.name} has no stress in {test.name} at {test.what} {at:g} with " + ", ".join(
            f"{p} = {x:.4g}" for p, x in zip(self.parameters, theta, strict=True) if p in values
        )
        logs = _guessed(np.log(test.stretch[[row]]))[0][: len(self._moving) - self._unknown]
        own = len(self.symbols) - len(theta) - 1 - len(logs)
        point = [np.full(1, x) for x in (0.0, *logs, *[0.0] * own, *theta)]
        with np.errstate(all="ignore"):
            ends = self.function("ends")(point, 1)[0][0, :, 0] if self._ends else np.empty(0)
        for end, value in zip(self._ends, ends, strict=True):
            if not value > 0.0:
                expression = short(stretch_symbols(symbolic(end)))
                return f"{where}: {expression} has to be positive, and is {value:.3g}"
        return f"{where}: there is no equilibrium"

    def sign_of_term(self, name: str, values: Mapping[str, float]) -> float:
        """Return the sign of the energy of the term that is linear in a constant, in tension."""
        if name not in self._terms:
            term = self._energy.diff(real(name))
            self._terms[name] = _Compiled.of(self.symbols, sp.Matrix([term]))
        theta = [float(values.get(p, 1.0)) for p in self.parameters]
        own = len(self.symbols) - len(theta)
        at = [np.full(1, 0.0)] * own + [np.full(1, x) for x in theta]
        at[1] = np.full(1, 0.1)
        ((sign,),) = np.sign(self._terms[name](at, 1)[0][0])
        return float(sign)

    def curvature(self, kind: str, stretches: Array, values: Mapping[str, float]) -> Array:
        """Return the smallest eigenvalue of the second derivatives of W by logarithmic stretches.

        NaN where the law has no equilibrium.
        """
        return self._pulled(kind, stretches, values).curvature()

    def logarithms(self, kind: str, stretches: Array, values: Mapping[str, float]) -> Array:
        """Return the logarithms (n, 3) of all principal stretches in a test; NaN as above."""
        return self._pulled(kind, stretches, values).logarithms()

    def _pulled(self, kind: str, stretches: Array, values: Mapping[str, float]) -> _Specimens:
        """Return specimens that are pulled to stretches at once."""
        theta = [float(values.get(p, 1.0)) for p in self.parameters]
        rows = np.full((len(stretches), 3), np.nan)
        rows[:, 0] = np.log(stretches)
        if kind != "uniaxial":
            rows[:, 1] = rows[:, 0] if kind == "equibiaxial" else 0.0
        with np.errstate(all="ignore"):
            march = _Specimens(self, kind, _repeated(theta, len(rows), ()), ())
            march.step(np.arange(len(rows)), rows, np.zeros(len(rows)))
        return march

    def _of_kind(
        self, kind: str, tests: Sequence[MaterialTest], theta: list[Any], by: tuple[str, ...]
    ) -> list[tuple[Array, Array]]:
        """Return the answers to tests that prescribe the same directions."""
        if kind == "volumetric" and self.incompressible:
            raise ParameterError(
                f"a volumetric test, but {self.name} is fitted as incompressible: give "
                "incompressible=False",
                asked="incompressible",
                given=True,
            )
        shape = np.broadcast_shapes(*(np.shape(x) for x in theta))
        if self.has_memory:
            return self._histories(kind, tests, theta, by, shape)
        rows = np.concatenate([np.log(t.stretch) for t in tests])
        every = np.tile(rows, (*shape, 1))
        marched = _Specimens(self, kind, _repeated(theta, len(rows), shape), by)
        found = marched.step(np.arange(len(every)), every, np.zeros(len(every)))
        stress, slope = (x.reshape(*shape, len(rows), *x.shape[1:]) for x in found)
        ends, axis = np.cumsum([t.rows for t in tests])[:-1], len(shape)
        pairs = zip(np.split(stress, ends, axis), np.split(slope, ends, axis), strict=True)
        return [*pairs]

    def _histories(
        self,
        kind: str,
        tests: Sequence[MaterialTest],
        theta: list[Any],
        by: tuple[str, ...],
        shape: tuple[int, ...],
    ) -> list[tuple[Array, Array]]:
        """Return the answers of a law with memory, all tests and samples at once, step by step."""
        paths = [_path(self, t) for t in tests]
        samples = int(np.prod(shape))
        marched = _Specimens(self, kind, _repeated(theta, len(tests), shape), by)
        shapes = [(*shape, t.rows, t.stress.shape[1]) for t in tests]
        results = [(np.empty(one), np.empty((*one, len(by)))) for one in shapes]
        for n in range(max(len(p.row) for p in paths)):
            active = np.array([k for k, p in enumerate(paths) if n < len(p.row)])
            rows = np.array([paths[k].stretch[n] for k in active])
            dt = np.array([paths[k].dt[n] for k in active])
            every = (np.arange(samples)[:, None] * len(tests) + active).ravel()
            found = marched.step(every, np.tile(rows, (samples, 1)), np.tile(dt, samples))
            stress, slope = (x.reshape(*shape, len(active), *x.shape[1:]) for x in found)
            for j, k in enumerate(active):
                row = paths[k].row[n]
                if row >= 0:
                    results[k][0][..., row, :] = stress[..., j, :]
                    results[k][1][..., row, :, :] = slope[..., j, :, :]
        return results


def _repeated(theta: Sequence[Any], specimens: int, shape: tuple[int, ...]) -> Array:
    """Return constants (p, specimens of all samples), each sample with as many specimens."""
    every = [np.broadcast_to(np.asarray(x, dtype=float), shape).ravel() for x in theta]
    return np.repeat(np.reshape(every, (len(theta), -1)), specimens, axis=1)


@dataclass(frozen=True)
class _Path:
    """The steps of a test: logarithmic stretches, their lengths in time, and the row at the end."""

    stretch: Array
    dt: Array
    row: list[int]


def _path(response: Response, test: MaterialTest) -> _Path:
    """Divide a test into steps in which stretches change little; row -1: none is measured."""
    if test.time is None and response.has_rate:
        raise ParameterError(
            f"{test.name}: the stress of {response.name} depends on time: give time= of the test, "
            "one for each row [s]",
            asked="time",
        )
    time = np.arange(1.0, 1.0 + test.rows) if test.time is None else test.time
    before, clock = np.where(np.isnan(test.stretch[0]), np.nan, 1.0), min(0.0, float(time[0]))
    stretch, dt, rows = [], [], []
    for row, (now, t) in enumerate(zip(test.stretch, time, strict=True)):
        change = float(np.nanmax(abs(np.log(now / before))))
        steps = max(1, int(np.ceil(change / LARGEST_STEP))) if t > clock else 1
        for k in range(1, steps + 1):
            stretch.append(np.log(before + (now - before) * k / steps))
            dt.append((t - clock) / steps)
            rows.append(row if k == steps else -1)
        before, clock = now, float(t)
    return _Path(np.array(stretch), np.array(dt), rows)


class _Specimens:
    """Specimens of one kind of test, step by step.

    The state of each specimen is (stretches and unknowns, memory, derivatives of the memory);
    theta (p, specimens) are its constants.
    """

    def __init__(self, response: Response, kind: str, theta: Array, by: tuple[str, ...]) -> None:
        specimens = theta.shape[1]
        self._r, self._kind, self._theta, self._by = response, kind, theta, by
        self._axes = 2 if response.incompressible else 3
        free = [a for a in KINDS[kind]["free"] if a < self._axes]
        self._prescribed = [a for a in range(self._axes) if a not in free]
        self._solved = [*free, *range(self._axes, self._axes + response._unknown)]
        size, memory = self._axes + response._unknown, len(response._memory)
        self._state = np.zeros((specimens, size))
        self._guess = np.zeros((specimens, 3))
        own = len(response.symbols) - len(theta)
        start = [np.zeros(specimens)] * own + [*theta]
        self._memory = np.zeros((specimens, memory))
        self._by_memory = np.zeros((specimens, memory, len(by)))
        if memory:
            initial = response.function("initial", "initial/theta", by=by)
            first, self._by_memory[:] = initial(start, specimens)
            self._memory[:] = first[:, :, 0]
        if response._unknown:
            begin = _Compiled.of(response.symbols, sp.Matrix(response._start))
            self._state[:, self._axes :] = begin(start, specimens)[0][:, :, 0]

    def step(self, active: Any, stretch: Array, dt: Array) -> tuple[Array, Array]:
        """Advance some specimens by a step; return stresses measured, and their derivatives."""
        r, n = self._r, len(active)
        guess = _guessed(stretch)
        state = self._state[active]
        state[:, : self._axes] += (guess - self._guess[active])[:, : self._axes]
        state[:, self._prescribed] = stretch[:, self._prescribed]
        memory, by_memory = self._memory[active], self._by_memory[active]

        def inputs() -> list[Array]:
            columns = [*state.T, *memory.T]
            return [dt, *columns, *self._theta[:, active]]

        self._solve(state, inputs, n)
        rest = _WITH_MEMORY if r.has_memory else ()
        what = ("energy", "ends", "forces", "forces/moving", "forces/theta", *rest)
        answers = r.function(*what, by=self._by)
        energy, ends, force, by_moving, total, *more = answers(inputs(), n)
        force = force[:, :, 0]
        if r.has_memory:
            by_last, update, *updates = more
            total = total + by_last @ by_memory
        by_state = np.zeros((n, state.shape[1], len(self._by)))
        if self._solved and self._by:
            block = by_moving[:, self._solved][:, :, self._solved]
            by_state[:, self._solved] = -_solved(block, total[:, self._solved])
        if r.has_memory:
            by_theta, by_now, by_before = updates
            self._memory[active] = update[:, :, 0]
            self._by_memory[active] = by_theta + by_now @ by_state + by_before @ by_memory
        self._state[active], self._guess[active] = state, guess
        slope = total + by_moving @ by_state
        outside = ~np.isfinite(energy[:, 0, 0]) | ~(ends[:, :, 0] > 0.0).all(axis=1)
        force[outside] = np.nan
        return self._measured(state, force, slope)

    def logarithms(self) -> Array:
        """Return the logarithms (n, 3) of the principal stretches of each."""
        logs = self._state[:, : self._axes]
        if self._axes == 3:
            return logs
        return np.concatenate([logs, -logs.sum(axis=1, keepdims=True)], axis=1)

    def curvature(self) -> Array:
        """Return the smallest eigenvalue of the second derivatives of the energy, of each."""
        r, n = self._r, len(self._state)
        at = [np.zeros(n), *self._state.T, *self._memory.T, *self._theta]
        with np.errstate(all="ignore"):
            _, block = r.function("forces", "forces/moving")(at, n)
        block = block[:, : self._axes, : self._axes]
        result = np.full(n, np.nan)
        good = np.isfinite(block).all(axis=(1, 2))
        result[good] = np.linalg.eigvalsh(block[good])[:, 0]
        return result

    def _solve(self, state: Array, inputs: Callable[[], list[Array]], n: int) -> None:
        """Find the free stretches and the law's own unknowns by Newton's method, in place."""
        if not self._solved:
            return
        r = self._r
        for _ in range(40):
            force, block = r.function("forces", "forces/moving")(inputs(), n)
            change = _solved(block[:, self._solved][:, :, self._solved], force[:, self._solved])
            change = change[:, :, 0]
            size = abs(change).max(axis=1, keepdims=True)
            state[:, self._solved] -= change * np.minimum(1.0, 0.3 / np.maximum(size, 1e-300))
            if not (size > 1e-13).any():  # also where it is NaN
                return
        state[size[:, 0] > 1e-9] = np.nan

    def _measured(self, state: Array, force: Array, slope: Array) -> tuple[Array, Array]:
        """Return nominal stresses of a test, or pressures, of Kirchhoff stresses."""
        if self._kind == "volumetric":
            scale = -1.0 / (3.0 * np.exp(state[:, :3].sum(axis=1)))[:, None]
            stress = force[:, :3].sum(axis=1, keepdims=True) * scale
            return stress, slope[:, :3].sum(axis=1, keepdims=True) * scale[:, :, None]
        axes = list(KINDS[self._kind]["measured"])
        shrink = np.exp(-state[:, axes])
        stress, by = force[:, axes] * shrink, slope[:, axes] * shrink[:, :, None]
        if self._kind == "equibiaxial":  # mean of both axes
            other = np.exp(-state[:, [1]])
            return (stress + force[:, [1]] * other) / 2, (
                by + slope[:, [1]] * other[:, :, None]
            ) / 2
        return stress, by


def _powers(called: EnergyCall) -> dict[str, tuple[float, float]]:
    """Return powers of stress and time in the units of constants; none where terms disagree."""
    symbols = [real(p) for p in called.signature.parameters]
    try:
        found = exponents_of(equations_of(called, unit_of("Pa")), known_units(called), symbols)
    except Contradiction:
        return {}
    return {
        str(s): (float(mass), float(time + 2 * mass))
        for s, (length, mass, time) in found.items()
        if length == -mass
    }


def _guessed(stretch: Array) -> Array:
    """Return logarithmic stretches in which the free ones keep the volume."""
    free = np.isnan(stretch)
    total = np.where(free, 0.0, stretch).sum(axis=1, keepdims=True)
    return np.where(free, -total / np.maximum(free.sum(axis=1, keepdims=True), 1), stretch)


def _solved(blocks: Array, right: Array) -> Array:
    """Solve small systems, one for each specimen; NaN where one is singular."""
    try:
        return np.asarray(np.linalg.solve(blocks, right))
    except np.linalg.LinAlgError:
        result = np.full_like(right, np.nan)
        for k, (block, b) in enumerate(zip(blocks, right, strict=True)):
            if np.linalg.matrix_rank(np.nan_to_num(block)) == len(block):
                result[k] = np.linalg.solve(block, b)
        return result


def _jacobian(rows: sp.Matrix, symbols: Sequence[sp.Symbol]) -> sp.Matrix:
    """Return the derivatives of a column of expressions."""
    if not symbols or not rows.rows:
        return sp.zeros(rows.rows, len(symbols))
    return sp.Matrix([[sp.diff(e, s) for s in symbols] for e in rows])


def _along_axes(kinematics: Kinematics, incompressible: bool) -> dict[sp.Basic, sp.Basic]:
    """Return what the symbols of a solid are where it is stretched along its axes."""
    L = [*_L]
    if incompressible:
        L[2] = -L[0] - L[1]
    stretch = [sp.exp(x) for x in L]
    values = {
        "F": sp.diag(*stretch),
        "H": sp.diag(*(x - 1 for x in stretch)),
        "C": sp.diag(*(sp.exp(2 * x) for x in L)),
        "E_gl": sp.diag(*((sp.exp(2 * x) - 1) / 2 for x in L)),
        "stretch_axes": sp.eye(3),
    }
    result: dict[sp.Basic, sp.Basic] = {}
    for name, matrix in values.items():
        symbols = kinematics.quantities[name].value
        result |= {s: e for s, e in zip(symbols, matrix, strict=True)}
    scalars = {
        "J": sp.exp(sp.Add(*L)),
        "I1": sp.Add(*(sp.exp(2 * x) for x in L)),
        "I2": sp.Add(*(sp.exp(-2 * x) for x in L)) * sp.exp(2 * sp.Add(*L)),
    }
    result |= {kinematics.quantities[name].value: e for name, e in scalars.items()}
    for k in range(3):
        (log,) = kinematics.quantities[f"lambda{k + 1}"].value.free_symbols
        result[log] = L[k]
    return result


def _column(entries: Sequence[sp.Expr]) -> sp.Matrix:
    """Return a column of expressions, which may be empty."""
    return sp.Matrix(len(entries), 1, list(entries))


@dataclass(frozen=True)
class _Pruned:
    """A law along the axes of a test, without what stays 0 or does nothing.

    Attributes
    ----------
    energy : of the rest.
    equations : of the unknowns of the law that are left.
    updates : of what is remembered and needed.
    zero : what stays 0.
    """

    energy: sp.Expr
    equations: dict[sp.Symbol, sp.Expr]
    updates: dict[sp.Symbol, sp.Expr]
    zero: Mapping[sp.Symbol, sp.Expr]


def _pruned(
    energy: sp.Expr,
    unknown: Mapping[sp.Symbol, Local],
    history: Mapping[sp.Symbol, Any],
    along: Mapping[sp.Basic, sp.Basic],
) -> _Pruned:
    """Return a law without unknowns and memory that begin at 0 and stay there.

    Kinks are branches first: SymPy compares the arguments of each `Max` that it makes anew.
    """
    equations = {
        s: sp.diff(energy, s) if x.equation is None else rewritten(branches(x.equation), {}, along)
        for s, x in unknown.items()
    }
    updates = {s: rewritten(branches(m.update), {}, along) for s, m in history.items()}
    begins = {
        **{s: x.start for s, x in unknown.items()},
        **{s: history[s].initial for s in updates},
    }
    moves = {**equations, **updates}
    zero = _resting(moves, begins)
    energy = _diagonal(energy, zero)
    moves = {s: _diagonal(e, zero) for s, e in moves.items() if s not in zero}
    if any(e.has(log_stretch, stretch_axis) for e in (energy, *moves.values())):
        raise KinematicsError(
            "a law whose memory turns out of the axes of a test has no response to it here"
        )
    equations = {s: e for s, e in moves.items() if s in unknown}
    updates = {s: e for s, e in moves.items() if s in history}
    return _Pruned(energy, equations, _needed((energy, *equations.values()), updates), zero)


def _resting(
    moves: Mapping[sp.Symbol, sp.Expr], begins: Mapping[sp.Symbol, Any]
) -> dict[sp.Symbol, sp.Expr]:
    """Return, with 0 as values, what begins at 0 and whose equation or update is 0 then."""
    zero = {s: sp.S.Zero for s in moves if begins[s] == 0}
    while moved := [s for s in zero if _diagonal(moves[s], zero) != 0]:
        zero = {s: x for s, x in zero.items() if s not in moved}
    return zero


def _needed(
    expressions: Iterable[sp.Expr], updates: Mapping[sp.Symbol, sp.Expr]
) -> dict[sp.Symbol, sp.Expr]:
    """Return the updates on which expressions depend, at once or by others."""
    needed: set[sp.Symbol] = set()
    fresh = set().union(*(e.free_symbols for e in expressions)) & updates.keys()
    while fresh:
        needed |= fresh
        fresh = set().union(*(updates[s].free_symbols for s in fresh)) & updates.keys() - needed
    return {s: u for s, u in updates.items() if s in needed}


def _diagonal(e: sp.Expr, values: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Return an expression with values, where stretches of diagonal matrices are written out."""

    def diagonal(H: tuple[sp.Expr, ...]) -> bool:
        return all(H[k] == 0 for k in (1, 2, 3, 5, 6, 7))

    def logarithm(k: sp.Expr, *H: sp.Expr) -> sp.Expr:
        return sp.log(1 + H[4 * (int(k) - 1)]) if diagonal(H) else log_stretch(k, *H)

    def axis(k: sp.Expr, i: sp.Expr, *H: sp.Expr) -> sp.Expr:
        return sp.Integer(int(k == i)) if diagonal(H) else stretch_axis(k, i, *H)

    return rewritten(e, {log_stretch: logarithm, stretch_axis: axis}, values)
