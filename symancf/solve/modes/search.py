# SPDX-License-Identifier: BSD-3-Clause
"""Eigenvalues as they are wanted, counted, and looked for until none is missing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Array, Complex, Mask
from ...errors import ConvergenceError, SymancfError
from .engines import MANY, everything, largest
from .pencil import EPS, THIN
from .space import Found, Subspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...runtime.options import Options
    from .engines import Engine
    from .pencil import Pencil

SMALL = 1e-10  # of the largest eigenvalue, about: a shift beside zero
ROUND_OFF = 10.0  # times what round-off of K makes: eigenvalues that are zero
STEPS, WIDER = 3, 100.0  # of inverse iteration; times a shift that has no digits
GAP = 1e-3  # of an eigenvalue: where those below it are counted
CLOSE = 1e-6  # eigenvalues that are one
ROUNDS = 40  # times that missing ones are looked for
EXTRA = 6  # more than asked for: mechanisms, and what grows
FAR = 1e8  # of a shift: eigenvalues whose theta has lost half of its digits
TWICE = 1e-6  # of the shift of s: zeros
AGAIN = 2  # eigenvalues that are looked for anew
DIGITS, LEAST = 1e-10, 1e-6  # of a number next to the shift: its round-off; at most


class Slow(NamedTuple):
    """Modes that are wanted of those found so far.

    Attributes
    ----------
    s, X : numbers, and vectors of unit mass.
    lacking : how many more must be there.
    far : distance from the shift within which nothing else may be.
    values, noise, taken : lambda of all found by a symmetric pencil, ascending, what of each is
        round-off, and which are wanted.
    """

    s: Complex
    X: Array
    lacking: int
    far: float
    values: Array
    noise: Array
    taken: Mask


class Search:
    """Eigenpairs of a pencil by an engine.

    Attributes
    ----------
    checked : whether all that are wanted were found by count; None: they cannot be counted.
    floor : omega [1/s] of what is zero by round-off, at most.
    hides : whether something is zero by the round-off of others alone, not by its own.
    """

    def __init__(self, pencil: Pencil, engine: Engine, options: Options) -> None:
        self.pencil, self.engine, self.options = pencil, engine, options
        self.checked: bool | None = None
        self.floor, self.hides = 0.0, False
        self._fastest = pencil.fastest()

    # ---- vibration ------------------------------------------------------------------------------
    def modes(self, count: int, omega: float | None = None) -> tuple[Complex, Array]:
        """Return s of modes and their vectors.

        The slowest, with all that are zero or grow, or those next to a circular frequency.
        """
        pencil, rates = self.pencil, self.pencil.rates
        if not pencil.symmetric:
            pencil.balance()
        if omega is None:
            pencil.rates = None
            first, resting = self._first()
            pencil.rates = rates
            if pencil.symmetric:
                self._below_all(-first)
            else:
                self._factor(-first if rates is None else math.sqrt(0.3 * first))
        else:
            resting = np.zeros((pencil.rows, 0))
            self._factor(omega * omega)
        space = Subspace(pencil, resting if pencil.symmetric else None)
        if not pencil.symmetric:
            space.hold(resting if rates is None else np.concatenate([resting, 0.0 * resting]))
        sigma = pencil.shift

        def missing(found: Found, least: float) -> int | None:
            slow = self._slow(space, found, sigma, count, omega)
            if slow.lacking > 0:
                return slow.lacking + EXTRA
            if pencil.symmetric:
                return self._uncounted(slow, omega is not None)
            return AGAIN if slow.far * least > 1.0 + CLOSE else 0

        wanted = (count + EXTRA) * (1 if rates is None else 2)
        found = self._complete(space, wanted, missing)
        slow = self._slow(space, found, sigma, count, omega)
        if self.engine == "dense" and pencil.symmetric and omega is None:
            fast = float(np.square(np.abs(slow.s)).max(initial=0.0)) > FAR * abs(sigma)
            if fast or (slow.lacking > 0 and len(found.theta) < space.basis.shape[1]):
                found = self._with_fast(space, found, sigma)
                slow = self._slow(space, found, sigma, count, omega)
        return slow.s, pencil.scale[:, None] * slow.X

    def _complete(
        self,
        space: Subspace,
        wanted: int,
        missing: Callable[[Found, float], int | None],
        *,
        positive: bool = False,
    ) -> Found:
        """Return eigenpairs, looked for in what is left until none that is wanted is missing.

        `missing` : how many are, None: not known; where none of a theta larger than a number is.
        """
        pencil, sigma = self.pencil, self.pencil.shift
        found = Found(np.zeros(0), space.basis)
        for _ in range(ROUNDS):
            if pencil.shift != sigma:
                self._factor(sigma)
            if self.engine == "dense" or (space.room <= MANY and 2 * wanted >= space.room):
                space.hold(everything(pencil))
                self.checked = True
                found = space.pairs()
                return found.positive() if positive else found
            try:
                more = largest(self.engine, space, wanted, self.options, positive=positive)
            except ConvergenceError:
                if not len(found.theta):
                    raise
                self.checked = False
                break
            space.add(more)
            found = space.pairs()
            found = found.positive() if positive else found
            least = float(np.abs(more.theta).max(initial=0.0))
            number = missing(found, least)
            self.checked = None if number is None else number <= 0
            if not number or number < 0 or not len(more.theta):
                break
            wanted = number
        return found

    def _with_fast(self, space: Subspace, found: Found, sigma: float) -> Found:
        """Return all eigenpairs, the fast ones, whose theta has no digits, by a shift near them."""
        between = -math.sqrt(FAR * abs(sigma) * self._fastest)
        self._factor(between)
        space.renew()
        other, near = space.pairs(), int((found.theta * abs(sigma) * FAR > 1.0).sum())
        theta = 1.0 / (1.0 / other.theta[near:] + between - sigma)
        return Found(
            np.concatenate([found.theta[:near], theta]),
            np.concatenate([found.vectors[:, :near], other.vectors[:, near:]], axis=1),
        )

    def _first(self) -> tuple[float, Array]:
        """Return about a third of the slowest eigenvalue, and what has none (collective).

        Of one that grows it is three times its size: the shift is below it. What has none are the
        rigid motions that K gives no force, and mechanisms, orthonormal. They and the slowest of
        the others are found by inverse iteration, with a shift of the size of what round-off of K
        makes of the smoothest motions: that shift where nothing else has a mass. A larger one where
        equations with it have no digits: then motions have energies that are less than the shift,
        and are more than round-off.
        """
        pencil = self.pencil
        D, least, still = pencil.motions()
        D = pencil.orthonormal(pencil.orthonormal(D[:, still], THIN))
        least = least[least > EPS**2 * self._fastest]  # others feel no force at all
        if not len(least):
            return SMALL * self._fastest, D
        shift, room = ROUND_OFF * float(least.min()), pencil.room()
        factored = pencil.factor(-shift)
        while D.shape[1] < room:
            z = self._slow_motion(D) if factored else np.zeros((pencil.rows, 1))
            energy = float(pencil.forms(pencil.stiffness, z)[0])
            noise = float(pencil.round_off(z)[0])
            if noise > 0.0 and abs(energy) <= ROUND_OFF * noise:
                D = np.concatenate([D, z], axis=1)
            elif 0.0 <= energy < shift < SMALL * self._fastest:
                shift *= WIDER
                factored = pencil.factor(-shift)
            else:
                shift = max(shift, 0.3 * energy, -3.0 * energy)
                break
        return shift, np.where(pencil.constraints[:, None], 0.0, D)

    def _slow_motion(self, D: Array) -> Array:
        """Return a motion (rows, 1) of inverse iteration, orthogonal to D; 0 if there is none."""
        pencil, z = self.pencil, self.pencil.random(D.shape[1])[:, None]
        images = pencil.product(pencil.weight, D)
        try:
            for _ in range(STEPS):
                z = pencil.solved(pencil.product(pencil.weight, z))
                z = z - D @ pencil.sums(images.T @ z)
                size = float(pencil.forms(pencil.weight, z)[0])
                z = z / (math.sqrt(size) if size > 0.0 else 1.0)
        except SymancfError:
            z = 0.0 * z
        return z

    def _factor(self, shift: float) -> None:
        self.pencil.require(self.pencil.factor(shift), "EigenProblem.solve")

    def _below_all(self, sigma: float) -> None:
        """Factor with a shift below all eigenvalues, at most `sigma`."""
        farther = max(100.0, (1e4 * self._fastest / abs(sigma)) ** (1.0 / 7.0))
        for _ in range(8):
            self._factor(sigma)
            if not self.pencil.negative:
                break
            sigma *= farther

    def _slow(
        self, space: Subspace, found: Found, sigma: float, count: int, omega: float | None
    ) -> Slow:
        """Return those that are wanted of some eigenpairs: of each rigid motion one."""
        pencil, resting = self.pencil, space.resting
        numbers = np.concatenate([np.zeros(resting.shape[1]), sigma + 1.0 / found.theta])
        theta = np.concatenate([np.full(resting.shape[1], np.inf), np.abs(found.theta)])
        X = np.concatenate([resting, found.vectors], axis=1)[: pencil.unknowns.rows]
        size = np.abs(pencil.forms(pencil.weight, X))
        massive = size > 0.0
        numbers, theta, X = numbers[massive], theta[massive], X[:, massive] / np.sqrt(size[massive])
        zero, noise = self._zero(numbers, X, sigma)
        s = np.where(zero, 0.0, self._roots(numbers, theta))
        away = np.abs(s) if omega is None else np.abs(numbers - omega**2)
        order = np.argsort(away, kind="stable")
        order = order[((s.imag >= 0.0) & (pencil.symmetric | ~zero))[order]]
        ordinary = (s.real <= 0.0) & (~zero | (omega is not None))
        order = order[(np.cumsum(ordinary[order]) <= count) | ~ordinary[order]]
        moving = order[ordinary[order]]
        reach = away[moving] if omega is not None else np.abs(numbers[moving]) + abs(sigma)
        values, taken = np.real(numbers), np.isin(np.arange(len(s)), order)
        ascending = np.argsort(values, kind="stable")
        rigid = X[:, :0].real if pencil.symmetric else pencil.orthonormal(X[:, zero])
        return Slow(
            np.concatenate([np.zeros(rigid.shape[1]), s[order]]),
            np.concatenate([rigid, X[:, order]], axis=1),
            count - len(moving),
            float(reach.max(initial=0.0)),
            values[ascending],
            noise[ascending],
            taken[ascending],
        )

    def _zero(self, numbers: Array, X: Array, sigma: float) -> tuple[Mask, Array]:
        """Return which eigenvalues are zero to round-off, and the round-off of each.

        Of symmetric pencils where x^T K x of vectors of unit mass is that of its own terms: a mode
        that is slow beside the fastest ones by any factor has more.
        """
        pencil, quadratic = self.pencil, self.pencil.rates is not None
        power = 2 if quadratic else 1
        noise = ROUND_OFF * (pencil.round_off(X) + 10.0 * EPS * abs(sigma) ** power)
        energy = np.abs(pencil.forms(pencil.stiffness, X))
        square, least = np.abs(numbers) ** power, 10.0 * EPS * self._fastest
        if pencil.symmetric:
            square, least = energy, 0.0
        if quadratic:  # of a double zero, as that of a rigid motion, half of the digits are lost
            least = max(least, (TWICE * sigma) ** 2)
        zero = square <= np.maximum(noise, least)
        if quadratic:  # others decay slowly
            zero &= energy <= noise + ROUND_OFF * EPS * self._fastest
        self.floor = math.sqrt(max(least, noise[zero].max(initial=0.0)))
        self.hides = bool((zero & (square > noise / ROUND_OFF)).any())
        return zero, noise

    def _roots(self, numbers: Array, theta: Array) -> Complex:
        """Return s of s^2 = -lambda, or of s, without real and imaginary parts of round-off."""
        far = theta[np.isfinite(theta)].max(initial=0.0) / theta
        digits = np.minimum(DIGITS * far, LEAST)  # those of theta are of the largest one
        if self.pencil.rates is not None:
            return _straight(numbers.astype(complex), digits, LEAST)  # of twice a real one a pair
        s = np.sqrt(_straight(-numbers.astype(complex), digits, digits))
        s = _straight(s, digits, digits)
        return np.where(s.imag < 0.0, -s, s)

    def _uncounted(self, slow: Slow, both: bool) -> int | None:
        """Return how many values among those wanted were not found, None: not known.

        `both`: whether smaller ones are left out, too.
        """
        taken = np.flatnonzero(slow.taken)
        if not len(taken):
            return None
        lacking = self._lacking(slow.values, _beyond(slow.values, slow.noise, int(taken[-1]), 1))
        if not both or lacking is None:
            return lacking
        below = self._lacking(slow.values, _beyond(slow.values, slow.noise, int(taken[0]), -1))
        return None if below is None else lacking - below

    def _lacking(self, values: Array, end: float) -> int | None:
        """Return how many eigenvalues below a number are not among the values; None: not known."""
        number = self._number_below(end)
        return None if number is None else number - int((values < end).sum())

    def _number_below(self, value: float) -> int | None:
        """Return how many eigenvalues are below a number; None: it is not known."""
        return self.pencil.negative if self.pencil.factor(value) else None

    # ---- buckling -------------------------------------------------------------------------------
    def loads(self, count: int, reach: float) -> tuple[Array, Array]:
        """Return the smallest positive mu of buckling and their vectors.

        Parameters
        ----------
        reach : up to which they are counted where fewer are found.
        """

        def missing(found: Found, least: float) -> int | None:
            if not self.pencil.symmetric:
                return max(0, count - int((found.theta > least).sum()))
            values = 1.0 / found.theta
            if len(values) >= count:
                return self._lacking(values, _beyond(values, 0.0 * values, count - 1, 1))
            lacking = self._lacking(values, max(reach, float(values.max(initial=0.0))))
            return None if lacking is None else min(lacking, count - len(values))

        found = self._complete(Subspace(self.pencil), count + EXTRA, missing, positive=True)
        return 1.0 / found.theta[:count], found.vectors[:, :count]


def _beyond(values: Array, noise: Array, k: int, way: int) -> float:
    """Return a number beyond the k-th value and those that are one with it, before the next.

    `way` : 1 above it, -1 below.
    """
    while 0 <= k + way < len(values) and abs(values[k + way] - values[k]) <= CLOSE * abs(values[k]):
        k += way
    step = max(GAP * abs(values[k]), noise[k])
    if 0 <= k + way < len(values):
        step = min(step, abs(values[k + way] - values[k]) / 2.0)
    return float(values[k] + way * step)


def _straight(s: Complex, real: Array, imaginary: Array | float) -> Complex:
    """Leave out real and imaginary parts that are these parts of the whole, or less."""
    size = np.abs(s)
    x = np.where(np.abs(s.real) <= real * size, 0.0, s.real)
    y = np.where(np.abs(s.imag) <= imaginary * size, 0.0, s.imag)
    return np.asarray(x + 1j * y)
