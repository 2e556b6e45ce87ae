# SPDX-License-Identifier: BSD-3-Clause
"""Constants of a law that agree best with tests of the material alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import least_squares, lsq_linear

from ...errors import ConvergenceError, ParameterError
from ...kinematics.naming import law_of
from ...values.domain import domains_of
from .limits import Limits, interior
from .response import Response
from .stability import not_convex, not_stable
from .units import implausible, require_signs

if TYPE_CHECKING:
    from ...arrays import Array
    from .material_test import MaterialTest

SAMPLES = 120  # of constants that are no moduli, looked at before least squares
REFINED = 4  # the best of them, from which least squares begin
REMEDY = "Give other constants by start=, bounds= or fixed=, fewer stretches, or another law"
ROUGH = 1e-3  # of a sum of squares, by which the best of several starts is known
EVALUATIONS = 60  # of the stresses in least squares from one start
BULK_RATIO = 100.0  # bulk over shear modulus to begin with, where no test tells it


@dataclass(frozen=True)
class Coupons:
    """Tests of a material, and a law whose constants are to be found.

    Attributes
    ----------
    names : of the constants to be found.
    fixed : the others.
    limits : of constants.
    scale : (rows,) by which differences of stress are divided.
    data : (rows,) all stresses.
    """

    law: Any
    response: Response
    tests: Sequence[MaterialTest]
    names: tuple[str, ...]
    fixed: Mapping[str, float]
    limits: Limits
    positive_terms: bool
    scale: Array
    data: Array

    @classmethod
    def of(
        cls,
        law: Any,
        tests: Sequence[MaterialTest],
        fixed: dict[str, float],
        bounds: Mapping[str, tuple[float, float]],
        incompressible: bool | None,
        positive_terms: bool,
    ) -> Coupons:
        """Check what is given."""
        volumetric = any(t.kind == "volumetric" for t in tests)
        response = Response(law, incompressible=incompressible is not False)
        if incompressible is None and (volumetric or not _free_volume(response, fixed)):
            response = Response(law, incompressible=False)
        left = [p for p in response.parameters if p not in fixed]
        names = tuple(p for p in left if p not in response.ineffective)
        for test in tests:
            _require_monotonic(response, test)
            require_signs(test)
        scale = np.concatenate([t.scale() for t in tests])
        data = np.concatenate([t.stress.ravel() for t in tests])
        limits = Limits(domains_of(law_of(law)), bounds)
        return cls(law, response, tests, names, fixed, limits, positive_terms, scale, data)

    def values(self, theta: Array) -> dict[str, float]:
        """Return all constants on which stresses depend."""
        return {**self.fixed, **dict(zip(self.names, map(float, theta), strict=True))}

    def stress(self, theta: Array, by: Sequence[str]) -> tuple[Array, Array]:
        """Return (rows,) stresses of all tests, and (rows, len(by)) derivatives.

        Of samples of constants, theta (S, n), with an axis S before.
        """
        values = {**self.fixed, **dict(zip(self.names, theta.T, strict=True))}
        every = self.response.stress(self.tests, values, by)
        flat = [p.reshape(*theta.shape[:-1], -1) for p, _ in every]
        slopes = [d.reshape(*p.shape, len(by)) for p, (_, d) in zip(flat, every, strict=True)]
        return np.concatenate(flat, axis=-1), np.concatenate(slopes, axis=-2)

    def best(self, start: Mapping[str, float], seed: int) -> tuple[Array, list[Array]]:
        """Return the constants of the smallest sum of squares over several starts, and others.

        The others are where least squares from the other starts come to, to few digits.
        """
        if not self.response.incompressible:
            return self._refined(self._compressible(start, seed), ())[0], []
        moduli = self._moduli(start)
        every = self._candidates(moduli, start, seed)
        candidates = sorted(every, key=lambda c: c[0])[:REFINED]
        rough = [self._refined(c[1], moduli, ROUGH) for c in candidates if np.isfinite(c[0])]
        if not rough:
            raise self.no_stress(candidates[0][1])
        rough.sort(key=lambda found: found[1])
        return self._refined(rough[0][0], moduli)[0], [theta for theta, _ in rough[1:]]

    def rivals(
        self, theta: Array, others: Sequence[Array], start: Mapping[str, float]
    ) -> list[str]:
        """Return a sentence on a minimum that these tests cannot tell from the best one.

        Its sum of squares is larger by no more than that of two standard errors.
        """

        def left(x: Array) -> Array:
            return (self.stress(x, ())[0] - self.data) / self.scale

        best, free = left(theta), len(self.data) - len(theta)
        square = float(best @ best)
        known = any(test.error is not None for test in self.tests)
        room = 4.0 if known else 4.0 * square / max(free, 1)

        def rival(x: Array) -> bool:
            rest = left(x)
            apart = float(np.linalg.norm(rest - best)) > 0.1 * square**0.5
            return apart and float(rest @ rest) < square + room

        for rough in filter(rival, others):
            other, _ = self._refined(rough, self._moduli(start))
            if rival(other):
                values = zip(self.names, other, strict=True)
                text = ", ".join(f"{n} = {x:.3g}" for n, x in values)
                return [
                    f"another minimum fits these tests as well, {text}: other kinds of tests tell "
                    "them apart; start= or bounds= choose one"
                ]
        return []

    def _moduli(self, start: Mapping[str, float]) -> list[str]:
        """Return the names of moduli to be found by linear least squares."""
        return [n for n in self.names if n in self.response.linear and n not in start]

    def no_stress(self, theta: Array) -> ConvergenceError:
        """Return the error of a law without stresses: the first test and stretch, and why."""
        every = (self.response.missing(t, self.values(theta)) for t in self.tests)
        default = f"{self.response.name} has no equilibrium in the tests"
        return ConvergenceError(f"fit: {next(filter(None, every), default)}. {REMEDY}")

    def _compressible(self, start: Mapping[str, float], seed: int) -> Array:
        """Return where to begin: constants of an incompressible material, then those of volume."""
        values = {n: float(x) for n, x in start.items() if n in self.names}
        values |= self._shear(values, start, seed)
        modulus = BULK_RATIO * self._modulus()
        for test in self.tests:
            if test.kind == "volumetric":
                modulus = float(abs(test.stress).max() / abs(test.along - 1.0).max())
        generator = np.random.default_rng(seed)
        for n in [n for n in self.names if n not in values]:
            linear = n in self.response.linear
            values[n] = modulus if linear else self._sample(n, start, generator, 0)
        return np.array([values[n] for n in self.names])

    def _shear(
        self, values: Mapping[str, float], start: Mapping[str, float], seed: int
    ) -> dict[str, float]:
        """Return constants that fit where the volume is constant, without volumetric tests."""
        tests = [t for t in self.tests if t.kind != "volumetric"]
        response = Response(self.law, incompressible=True)
        free = [n for n in self.names if n not in response.ineffective and n not in values]
        if not free or sum(t.stress.size for t in tests) < len(free):
            return {}
        fixed = {n: x for n, x in {**self.fixed, **values}.items() if n in response.parameters}
        first = Coupons.of(self.law, tests, fixed, self.limits.bounds, True, self.positive_terms)
        return first.values(first.best(start, seed)[0])

    def _candidates(
        self, moduli: Sequence[str], start: Mapping[str, float], seed: int
    ) -> list[tuple[float, Array]]:
        """Return samples of constants with their sums of squares."""
        generator = np.random.default_rng(seed)
        others = [n for n in self.names if n not in moduli]
        number = 1 if all(n in start for n in others) else SAMPLES
        drawn = [{n: self._sample(n, start, generator, k) for n in others} for k in range(number)]
        theta = np.array([[one.get(n, self._modulus()) for n in self.names] for one in drawn])
        stress, slope = self.stress(theta, moduli)
        if not moduli:
            self._scale(theta, stress, start)
        every = zip(theta, stress, slope, strict=True)
        return [self._with_best(*one, moduli) for one in every]

    def _scale(self, theta: Array, stress: Array, start: Mapping[str, float]) -> None:
        """Scale samples of constants, and their stresses, in place, to fit best.

        All that have a unit of stress by one factor, and so the stresses; where none of them is
        known.
        """
        units, r = self.response.units, self.response
        effective = [p for p in r.parameters if p not in r.ineffective]
        known = [p for p in effective if p not in self.names or p in start]
        if not units.keys() >= {*effective} or any(units[p][0] for p in known):
            return
        powers = np.array([units[n][0] for n in self.names])
        with np.errstate(all="ignore"):
            rows = stress / self.scale
            factor = (rows @ (self.data / self.scale)) / (rows * rows).sum(axis=-1)
        good = np.isfinite(factor) & (factor > 0.0)
        theta[good] *= factor[good, None] ** powers
        stress[good] *= factor[good, None]

    def _sample(self, name: str, start: Mapping[str, float], generator: Any, number: int) -> float:
        """Return a sample of a constant that is no modulus.

        The first has the values that the law gives, others are near them or, each second of those
        with a unit, as large as the tests in it: the law may be in another unit.
        """
        if name in start:
            return float(start[name])
        default = self.response.defaults.get(name)
        low, high = self.limits.interval(name, float(generator.choice([-1.0, 1.0])))
        positive = self.limits.has_sign(name)
        size = float(10.0 ** generator.uniform(-1.0, 3.0 if positive else 1.0))
        far = number % 2 == 1 and any(self.response.units.get(name, ()))
        if default is not None and not far:
            near = float(default) * (size**0.5 if number else 1.0)
            return float(np.clip(near, *_inside(low, high))) if near else _between(low, high, size)
        return _between(low, high, size, self.unit(name))

    def unit(self, name: str) -> float:
        """Return the size of a constant of its unit in these tests: of stresses and of times."""
        stress, time = self.response.units.get(name, (0.0, 0.0))
        times = [float(np.ptp(t.time)) for t in self.tests if t.time is not None]
        return float(self._modulus() ** stress * (max(times, default=0.0) or 1.0) ** time)

    def _with_moduli(self, theta: Array, moduli: Sequence[str]) -> tuple[float, Array]:
        """Return constants with the moduli that fit best to the others, and the sum of squares."""
        columns = [self.names.index(n) for n in moduli]
        theta = theta.copy()
        if columns and not theta[columns].all():
            theta[columns] = self._modulus()
        return self._with_best(theta, *self.stress(theta, moduli), moduli)

    def _with_best(
        self, theta: Array, stress: Array, slope: Array, moduli: Sequence[str]
    ) -> tuple[float, Array]:
        """Return the same of the stresses, and their derivatives by the moduli."""
        if not np.isfinite(stress).all():
            return np.inf, theta
        columns = [self.names.index(n) for n in moduli]
        theta = theta.copy()
        if columns:
            theta[columns], stress = self._linear(theta, columns, slope)
        with np.errstate(over="ignore"):
            return float(np.sum(((stress - self.data) / self.scale) ** 2)), theta

    def _linear(self, theta: Array, columns: list[int], slope: Array) -> tuple[Array, Array]:
        """Return moduli by linear least squares within their bounds, and the stresses."""
        pairs = [self._limits(theta, c) for c in columns]
        rows = slope / self.scale[:, None]
        size = np.maximum(abs(rows).max(axis=0), 1e-300)
        bounds = tuple(np.array(side) * size for side in zip(*pairs, strict=True))
        answer = lsq_linear(rows / size, self.data / self.scale, bounds=bounds, method="bvls")
        found = answer.x / size
        return found, slope @ found

    def _modulus(self) -> float:
        """Return the size of moduli: of a stress over a strain."""
        test = self.tests[0]
        strain = abs(test.along - 1.0).max()
        return float(abs(test.stress).max() / max(float(strain), 1e-12)) / 3.0

    def _limits(self, theta: Array, column: int) -> tuple[float, float]:
        """Return the bounds of a constant; those of positive terms follow from the others."""
        name = self.names[column]
        if name not in self.response.linear:
            return self.limits.interval(name, theta[column])
        low, high = self.limits.interval(name, 1.0)
        if self.positive_terms:
            sign = self.response.sign_of_term(name, self.values(theta))
            low, high = (max(low, 0.0), high) if sign > 0.0 else (low, min(high, 0.0))
        return low, high

    def _refined(
        self, theta: Array, moduli: Sequence[str], tolerance: float = 1e-12
    ) -> tuple[Array, float]:
        """Return the constants of least squares from a start, and what is left.

        They end where the sum of squares changes by less than the tolerance, of its size.

        Moduli are eliminated (variable projection); the derivatives of the rest are those at
        constant moduli, less their part in the space of the moduli.
        """
        others = [k for k, n in enumerate(self.names) if n not in moduli]
        columns = [k for k, n in enumerate(self.names) if n in moduli]
        if not others:
            cost, found = self._with_moduli(theta, moduli)
            return found, cost
        limits = [self._limits(theta, k) for k in others]
        low, high = (np.array(side, dtype=float) for side in zip(*limits, strict=True))
        size = np.where(theta[others] != 0.0, abs(theta[others]), 1.0)
        last: dict[bytes, tuple[Array, Array, Array]] = {}
        outside = np.finfo(float).max ** 0.25  # the difference where the law has no equilibrium

        def at(x: Array) -> tuple[Array, Array, Array]:
            key = x.tobytes()
            if key not in last:
                last.clear()
                trial = theta.copy()
                trial[others] = x * size
                if columns:
                    _, trial = self._with_moduli(trial, moduli)
                stress, slope = self.stress(trial, self.names)
                rows = slope / self.scale[:, None]
                by = rows[:, others] * size
                inner = [c for c in columns if trial[c] not in self._limits(trial, c)]
                finite = np.isfinite(rows).all()
                if inner and finite:
                    q, _ = np.linalg.qr(rows[:, inner])
                    by = by - q @ (q.T @ by)
                difference = (stress - self.data) / self.scale
                bad = ~np.isfinite(difference)
                by = np.nan_to_num(by, posinf=0.0, neginf=0.0)
                last[key] = np.where(bad, outside, difference), by, trial
            return last[key]

        answer = least_squares(
            lambda x: at(x)[0],
            interior(theta[others] / size, low / size, high / size),
            jac=lambda x: at(x)[1],
            bounds=(low / size, high / size),
            x_scale="jac",
            xtol=1e-10,
            ftol=tolerance,
            gtol=tolerance,
            max_nfev=EVALUATIONS,
        )
        return at(answer.x)[2], float(2.0 * answer.cost)

    def differences(self, theta: Array) -> tuple[Array, Array]:
        """Return (rows,) differences from the tests over their scale, and (rows, n) slopes."""
        stress, slope = self.stress(theta, self.names)
        return (stress - self.data) / self.scale, slope / self.scale[:, None]

    def stresses(self, values: Mapping[str, float]) -> list[Array]:
        """Return the stresses of each test."""
        return [p for p, _ in self.response.stress(self.tests, values)]

    def notes(self, values: Mapping[str, float]) -> list[str]:
        """Return sentences: where the law is not stable or not convex, and impossible units."""
        return [
            *not_stable(self.response, self.tests, values),
            *not_convex(self.law, self.response, self.tests, values),
            *implausible(self.tests),
        ]


def _free_volume(response: Response, fixed: Mapping[str, float]) -> bool:
    """Whether there are constants that only a change of volume determines, and none is known."""
    volume = response.ineffective if response.has_volume else ()
    return bool(volume) and not any(p in fixed for p in volume)


def _require_monotonic(response: Response, test: MaterialTest) -> None:
    """Check that a law without memory is not asked to tell loading from unloading."""
    if response.has_memory or test.kind == "biaxial":
        return
    steps = np.diff(test.along)
    if np.all(steps >= 0.0) or np.all(steps <= 0.0):
        return
    up = steps[np.flatnonzero(steps)[0]] > 0.0
    row = int(np.flatnonzero(steps < 0.0 if up else steps > 0.0)[0])
    raise ParameterError(
        f"{test.name}: the stretch turns back after row {row} ({test.along[row]:g}, then "
        f"{test.along[row + 1]:g}); {response.name} has no memory and cannot tell loading from "
        "unloading: give one branch, or a law with memory (ogden_roxburgh, prony) and time=",
        asked="stretch",
        given=float(test.along[row + 1]),
    )


def _inside(low: float, high: float) -> tuple[float, float]:
    """Return an interval a little smaller."""
    width = min(high - low, 1.0)
    return low + 1e-3 * width, high - 1e-3 * width


def _between(low: float, high: float, size: float, unit: float = 1.0) -> float:
    """Return a number of an interval; `size` between 0.1 and 1000 in a unit of its own."""
    if np.isfinite(low) and np.isfinite(high):
        return float(low + (high - low) * (0.01 + 0.98 * (np.log10(size) + 1.0) / 4.0))
    if np.isfinite(high):
        return high - size * unit
    return (low if np.isfinite(low) else 0.0) + size * unit
