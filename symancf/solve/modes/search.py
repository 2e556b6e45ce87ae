# SPDX-License-Identifier: BSD-3-Clause
"""Eigenvalues as they are wanted, counted, and looked for until none is missing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Array, Complex, Mask
from .engines import largest
from .pencil import EPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...runtime.options import Options
    from .engines import Engine
    from .pencil import Pencil

SMALL = 1e-10  # of the largest eigenvalue, about: a shift beside zero
ROUND_OFF = 100.0  # times what round-off of K makes: eigenvalues that are zero
GAP = 1e-3  # of an eigenvalue: where those below it are counted
CLOSE = 1e-6  # eigenvalues that are one
ROUNDS = 40  # times that missing ones are looked for
EXTRA = 6  # more than asked for: rigid motions
FAR = 1e-3  # of the slowest mode: a shift that is too near to zero
FARTHER = 1e3  # times a shift so near to zero that vectors of rigid motions hide all others
SHIFTS = 4  # that are tried
TWICE = 1e-6  # of the shift of s: zeros
DIGITS, LEAST = 1e-10, 1e-6  # of a number next to the shift: its round-off; at most


class Choice(NamedTuple):
    """What is wanted of the eigenvalues found so far.

    Attributes
    ----------
    taken : which ones, ascending and without gaps.
    lacking : whether there must be more.
    noise : (m,) of all.
    """

    taken: Mask
    lacking: bool
    noise: Array


class Search:
    """Eigenpairs of a pencil by an engine.

    Attributes
    ----------
    checked : whether all that are wanted were found by count; None: they cannot be counted.
    """

    def __init__(self, pencil: Pencil, engine: Engine, options: Options) -> None:
        self.pencil, self.engine, self.options = pencil, engine, options
        self.checked: bool | None = None
        self.sigma = 0.0  # shift of lambda
        self._fastest = pencil.fastest()

    # ---- symmetric ones -------------------------------------------------------------------------
    def _collected(
        self,
        count: int,
        sigma: float,
        choose: Callable[[Array, Array], Choice],
        both: bool = False,
    ) -> tuple[Array, Array]:
        """Return the values that are chosen and their vectors, orthonormal by the metric.

        Parameters
        ----------
        count : how many are looked for at first.
        choose : of all values so far, ascending, and their vectors.
        both : whether smaller ones are left out, too.
        """
        pencil, buckling = self.pencil, self.pencil.buckling
        X, values = np.zeros((pencil.unknowns.rows, 0)), np.zeros(0)
        wanted = count
        for _ in range(ROUNDS):
            found = largest(self.engine, pencil, wanted, self.options, X, positive=buckling)
            some, fresh = len(found.theta), 1.0 / found.theta + (0.0 if buckling else sigma)
            values = np.concatenate([values, fresh])
            values, X = _orthonormal(pencil, values, np.concatenate([X, found.vectors], axis=1))
            order = np.argsort(values, kind="stable")
            values, X = values[order], X[:, order]
            choice = choose(values, X)
            if self.engine == "dense":
                self.checked = True
                break
            if choice.lacking and some:
                wanted = count
                continue
            missing = self._missing(values, choice, both)
            self.checked = None if missing is None else not missing
            if not missing or not some:
                break
            wanted = missing
            pencil.require(pencil.factor(sigma), "EigenProblem")
        if choice.lacking and self.engine != "dense":
            self.checked = False
        return values[choice.taken], X[:, choice.taken]

    def _missing(self, values: Array, choice: Choice, both: bool) -> int | None:
        """Return how many values among those taken were not found, None: not known."""
        taken = np.flatnonzero(choice.taken)
        if not len(taken):
            return None
        first, last = int(taken[0]), int(taken[-1])
        while last + 1 < len(values) and _close(values[last], values[last + 1]):
            last += 1
        while both and first and _close(values[first], values[first - 1]):
            first -= 1
        ends = [values[last] + max(GAP * abs(values[last]), choice.noise[last])]
        if last + 1 < len(values):
            ends[0] = min(ends[0], (values[last] + values[last + 1]) / 2.0)
        if both:
            ends.append(values[first] - max(GAP * abs(values[first]), choice.noise[first]))
            if first:
                ends[1] = max(ends[1], (values[first] + values[first - 1]) / 2.0)
        counts = []
        for end in ends:
            number = self.pencil.negative if self.pencil.factor(end) else None
            if number is None:
                return None
            counts.append(number - int((values < end).sum()))
        return counts[0] - (counts[1] if both else 0)

    def slowest(self, count: int) -> tuple[Complex, Array]:
        """Return s of the slowest modes and all that are zero or grow, with their vectors."""

        def choose(values: Array, X: Array) -> Choice:
            noise = self._noise(X)
            moving = (np.abs(values) > noise) & (values > 0.0)
            return Choice(~moving | (np.cumsum(moving) <= count), moving.sum() < count, noise)

        room, sigma = self.pencil.room(), -SMALL * self._fastest
        for _ in range(SHIFTS):
            self._lowest(sigma)
            values, X = self._collected(count + EXTRA, self.sigma, choose)
            s, X = self._roots(values, X)
            slowest = float(np.square(np.abs(s[s != 0.0])).min(initial=math.inf))
            if slowest == math.inf and len(s) < room:
                sigma = FARTHER * self.sigma
            elif s.all() or slowest == math.inf or -self.sigma > FAR * slowest:
                break
            else:
                sigma = -0.3 * slowest  # rigid motions take digits from what is far from zero
        return s, X

    def nearest(self, count: int, omega: float) -> tuple[Complex, Array]:
        """Return s of the modes next to a circular frequency, with their vectors."""
        pencil, sigma = self.pencil, omega * omega
        self.sigma = sigma
        pencil.require(pencil.factor(sigma), "EigenProblem.solve(near=...)")

        def choose(values: Array, X: Array) -> Choice:
            taken = np.zeros(len(values), dtype=bool)
            taken[np.argsort(np.abs(values - sigma), kind="stable")[:count]] = True
            return Choice(taken, len(values) < count, self._noise(X))

        return self._roots(*self._collected(count + 2, sigma, choose, both=True))

    def _roots(self, values: Array, X: Array) -> tuple[Complex, Array]:
        """Return s with s^2 = -lambda, zero where lambda is no more than round-off."""
        zero = np.abs(values) <= self._noise(X)
        size = np.sqrt(np.abs(np.where(zero, 0.0, values)))
        return np.where(values > 0.0, 1j * size, size + 0j), X

    def loads(self, count: int) -> tuple[Array, Array]:
        """Return the smallest positive mu of buckling and their vectors."""
        if self.pencil.symmetric:

            def choose(values: Array, X: Array) -> Choice:
                taken = np.arange(len(values)) < count
                return Choice(taken, len(values) < count, np.zeros(len(values)))

            return self._collected(count + 2, 0.0, choose)
        none = np.zeros((self.pencil.unknowns.rows, 0))
        found = largest(self.engine, self.pencil, count + 2, self.options, none, positive=True)
        if self.engine == "dense":
            self.checked = True
        return 1.0 / found.theta[:count], found.vectors[:, :count]

    def _noise(self, X: Array) -> Array:
        """Return what lambda of vectors must exceed so that it is not zero."""
        least = EPS * (10.0 * self._fastest + ROUND_OFF * abs(self.sigma))
        return np.asarray(ROUND_OFF * self.pencil.round_off(X) + least)

    def _lowest(self, sigma: float) -> None:
        """Factor with a shift below all eigenvalues, at most `sigma`."""
        for _ in range(8):
            self.sigma = sigma
            self.pencil.require(self.pencil.factor(sigma), "EigenProblem.solve")
            if not self.pencil.negative:
                break
            sigma *= 100.0

    # ---- others ---------------------------------------------------------------------------------
    def others(self, count: int, omega: float | None = None) -> tuple[Complex, Array]:
        """Return s of an unsymmetric or quadratic pencil and their vectors.

        The slowest, or of one without rates those next to a circular frequency.
        """
        pencil, quadratic = self.pencil, self.pencil.rates is not None
        sigma = SMALL * self._fastest
        sigma = math.sqrt(sigma) if quadratic else -sigma if omega is None else omega * omega
        pencil.balance()
        for _ in range(SHIFTS):
            s, X = self._near(count, sigma)
            slowest = float(np.abs(s[s != 0.0]).min(initial=np.inf))
            least = 0.1 * slowest if quadratic else FAR * slowest**2
            if slowest == math.inf and omega is None and len(s) < pencil.room():
                sigma *= math.sqrt(FARTHER) if quadratic else FARTHER
            elif omega is not None or slowest == math.inf or least < abs(sigma) < slowest:
                break
            else:
                sigma = 0.3 * slowest if quadratic else -0.3 * slowest**2
        enough = ((s != 0.0) & (s.real <= 0.0)).sum() >= count
        self.checked = True if self.engine == "dense" else None if enough else False
        return s, pencil.scale[:, None] * X

    def _near(self, count: int, sigma: float) -> tuple[Complex, Array]:
        pencil, quadratic = self.pencil, self.pencil.rates is not None
        pencil.require(pencil.factor(sigma), "EigenProblem.solve")
        wanted = (2 if quadratic else 1) * (count + EXTRA)
        none = np.zeros((pencil.unknowns.rows, 0))
        found = largest(self.engine, pencil, wanted, self.options, none, positive=False)
        numbers, X = (sigma + 1.0 / found.theta).astype(complex), found.vectors
        size = pencil.sums((np.conj(X) * pencil.product(pencil.weight, X)).sum(axis=0)).real
        square = np.abs(numbers**2 if quadratic else numbers)
        zero = square * size <= ROUND_OFF * pencil.round_off(X)
        if quadratic:  # of a double zero, as that of a rigid motion, half of the digits are lost
            zero |= np.abs(numbers) <= max(TWICE * sigma, math.sqrt(10.0 * EPS * self._fastest))
        else:
            zero |= np.abs(numbers) <= ROUND_OFF * EPS * abs(sigma)
        massive = size > 0.0
        X = X / np.sqrt(np.where(massive, size, 1.0))
        far = np.abs(found.theta).max(initial=0.0) / np.abs(found.theta)
        digits = np.minimum(DIGITS * far, LEAST)  # those of theta are of the largest one
        s = numbers if quadratic else np.sqrt(_straight(-numbers, digits))
        s = np.where(zero, 0.0, _straight(s, digits))
        if not quadratic:
            s = np.where(s.imag < 0.0, -s, s)
        kept = massive & (s.imag >= 0.0)
        rigid = np.flatnonzero(zero & kept)
        if quadratic:  # twice zero each
            kept[rigid[len(rigid) // 2 :]] = False
        order = np.argsort(np.abs(s), kind="stable")
        order = order[kept[order]]
        moving = np.cumsum((s[order] != 0.0) & (s[order].real <= 0.0))
        order = order[(s[order] == 0.0) | (s[order].real > 0.0) | (moving <= count)]
        return s[order], X[:, order]


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= CLOSE * abs(a)


def _straight(s: Complex, digits: Array) -> Complex:
    """Leave out real and imaginary parts that are round-off of the other one."""
    real = np.where(np.abs(s.real) <= digits * np.abs(s), 0.0, s.real)
    imaginary = np.where(np.abs(s.imag) <= digits * np.abs(s), 0.0, s.imag)
    return np.asarray(real + 1j * imaginary)


def _orthonormal(pencil: Pencil, values: Array, X: Array) -> tuple[Array, Array]:
    """Return vectors that are orthonormal by the metric, changed as little as possible."""
    size = pencil.sums((X * pencil.product(pencil.metric, X)).sum(axis=0))
    good = size > 0.0
    values, X = values[good], X[:, good] / np.sqrt(size[good])
    gram = pencil.sums(X.T @ pencil.product(pencil.metric, X))
    d, V = np.linalg.eigh((gram + gram.T) / 2.0)
    if len(d) and d[0] < 1e-6:  # one that is there already
        keep: list[int] = []
        for k in range(len(values)):
            trial = [*keep, k]
            if np.linalg.eigvalsh(gram[np.ix_(trial, trial)])[0] > 1e-6:
                keep = trial
        return _orthonormal(pencil, values[keep], X[:, keep])
    return values, X @ (V / np.sqrt(d)) @ V.T if len(d) else X
