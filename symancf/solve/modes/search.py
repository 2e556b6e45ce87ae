# SPDX-License-Identifier: BSD-3-Clause
"""Eigenvalues as they are wanted, counted, and looked for until none is missing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Array, Complex, Mask
from ...errors import ConvergenceError, SymancfError
from .engines import TOLERANCE, largest, most
from .invariant import Invariant
from .pencil import DEPENDENCE_TOLERANCE, EPS, NEGLIGIBLE, Eigenpairs, independent

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...runtime.options import SolverOptions
    from .engines import Engine
    from .pencil import Pencil

ROUND_OFF_FACTOR = 10.0  # times what round-off of K makes: eigenvalues that are zero
INVERSE_STEPS = 3  # of inverse iteration
VISIBLE_RATIO = 1e-3  # of what is zero for others: what must be there
EXTRA_NUMBERS = 6  # more than asked for: rigid motions, loads that are none
OTHER_LOAD_RATIO = 10.0  # times a load: one of another size
MOST_NOISE = 1e-6  # of a number: its round-off, at most


class Choice(NamedTuple):
    """What is wanted of the eigenvalues found so far.

    Attributes
    ----------
    chosen : which ones, ascending and without gaps.
    lacking : whether there must be more.
    noise : (m,) of all.
    """

    chosen: Mask
    lacking: bool
    noise: Array


class Slow(NamedTuple):
    """Modes of an unsymmetric or quadratic pencil.

    Attributes
    ----------
    s, X : numbers, and vectors of unit mass.
    moving : how many of them neither rest nor grow.
    far : distance from the shift within which nothing else may be.
    """

    s: Complex
    X: Array
    moving: int
    far: float


class Search:
    """Eigenpairs of a pencil by an engine.

    Attributes
    ----------
    checked : whether all that are wanted were found by count; None: they cannot be counted.
    floor : omega [1/s] of what is zero by round-off, at most.
    hides : whether something is zero by the round-off of others alone, not by its own.
    """

    def __init__(self, pencil: Pencil, engine: Engine, options: SolverOptions) -> None:
        self.pencil, self.engine, self.options = pencil, engine, options
        self.checked: bool | None = None
        self.sigma = 0.0  # shift of lambda
        self.floor, self.hides = 0.0, False
        self._fastest = pencil.fastest()
        self._resting: Array = np.zeros((pencil.unknowns.rows, 0))  # of a quadratic one

    # ---- symmetric ones -------------------------------------------------------------------------
    def _collected(
        self,
        count: int,
        sigma: float,
        choose: Callable[[Array, Array], Choice],
        both: bool = False,
        basis: Array | None = None,
    ) -> tuple[Array, Array]:
        """Return the values that are chosen and their vectors, orthonormal by the metric.

        Parameters
        ----------
        count : how many are looked for at first.
        choose : of all values so far, ascending, and their vectors.
        both : whether smaller ones are left out, too.
        basis : vectors, orthonormal, of the eigenvalue zero.
        """
        pencil, buckling = self.pencil, self.pencil.buckling
        X = np.zeros((pencil.unknowns.rows, 0)) if basis is None else basis
        values = np.zeros(X.shape[1])
        wanted = count
        for _ in range(pencil.room()):
            pairs = largest(self.engine, pencil, wanted, self.options, X, positive=buckling)
            before, fresh = len(values), 1.0 / pairs.theta + (0.0 if buckling else sigma)
            values = np.concatenate([values, fresh])
            values, X = _orthonormal(pencil, values, np.concatenate([X, pairs.vectors], axis=1))
            some = len(values) > before
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
        return values[choice.chosen], X[:, choice.chosen]

    def _missing(self, values: Array, choice: Choice, both: bool) -> int | None:
        """Return how many values among those taken were not found, None: not known."""
        chosen = np.flatnonzero(choice.chosen)
        if not len(chosen):
            return None
        last, first = chosen[[-1, 0]]
        ends = [_beyond(values[last:], choice.noise[last:])]
        if both:
            ends.append(-_beyond(-values[first::-1], choice.noise[first::-1]))
        counts = []
        for end in ends:
            number = self._below(end)
            if number is None:
                return None
            hidden = (np.abs(values) <= choice.noise) & (choice.noise >= abs(end))
            lacking = number - int(((values < end) & ~hidden).sum())
            counts.append(max(lacking - int(hidden.sum()), min(lacking, 0)))
        return counts[0] - (counts[1] if both else 0)

    def slowest(self, count: int) -> tuple[Complex, Array]:
        """Return s of the slowest modes and all that are zero or grow, with their vectors."""

        def choose(values: Array, X: Array) -> Choice:
            zero, noise = self._zero(X)
            moving = ~zero & (values > 0.0)
            return Choice(~moving | (np.cumsum(moving) <= count), moving.sum() < count, noise)

        first, space = self._first()
        self._lowest(-first)
        return self._roots(*self._collected(count + EXTRA_NUMBERS, self.sigma, choose, basis=space))

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
        D, least = pencil.still()
        least = least[least > EPS**2 * self._fastest]  # others feel no force at all
        if not len(least):
            return NEGLIGIBLE * self._fastest, D
        shift, room = ROUND_OFF_FACTOR * float(least.min()), pencil.room()
        while D.shape[1] < room:
            z = self._slow_motion(shift, D)
            energy, noise = (float(part[0]) for part in (self._energies(z), pencil.round_off(z)))
            if noise > 0.0 and abs(energy) <= ROUND_OFF_FACTOR * noise:
                D = np.concatenate([D, z], axis=1)
            elif 0.0 <= energy < shift < math.sqrt(EPS) * self._fastest:
                shift *= ROUND_OFF_FACTOR
            elif energy > 0.0 and not D.shape[1]:
                return shift, D
            else:
                return max(shift, 0.3 * energy, -3.0 * energy), D
        return shift, D

    def _slow_motion(self, shift: float, D: Array) -> Array:
        """Return a motion (rows, 1) of inverse iteration, orthogonal to D; 0 if there is none."""
        pencil, z = self.pencil, self.pencil.random(D.shape[1])
        images = pencil.product(pencil.weight, D)
        try:
            pencil.require(pencil.factor(-shift), "EigenProblem.solve")
            for _ in range(INVERSE_STEPS):
                z = pencil.solved(pencil.product(pencil.weight, z))
                z = z - D @ pencil.sums(images.T @ z)
                size = float(pencil.sums(np.array([z @ pencil.product(pencil.weight, z)]))[0])
                z = z / (math.sqrt(size) if size > 0.0 else 1.0)
        except SymancfError:
            z = 0.0 * z
        return z[:, None]

    def nearest(self, count: int, omega: float) -> tuple[Complex, Array]:
        """Return s of the modes next to a circular frequency, with their vectors."""
        pencil, sigma = self.pencil, omega * omega
        self.sigma = sigma
        pencil.require(pencil.factor(sigma), "EigenProblem.solve(near=...)")

        def choose(values: Array, X: Array) -> Choice:
            zero, noise = self._zero(X)
            away = np.abs(np.where(zero, 0.0, values) - sigma)
            chosen = np.zeros(len(values), dtype=bool)
            chosen[np.argsort(away, kind="stable")[:count]] = True
            return Choice(chosen, len(values) < count, noise)

        still, _ = pencil.still()
        return self._roots(*self._collected(count + 2, sigma, choose, both=True, basis=still))

    def _roots(self, values: Array, X: Array) -> tuple[Complex, Array]:
        """Return s with s^2 = -lambda, zero where lambda is no more than round-off."""
        zero, noise = self._zero(X)
        self.floor = math.sqrt(noise[zero].max(initial=0.0))
        self.hides = bool((np.abs(self._energies(X)) > noise / ROUND_OFF_FACTOR)[zero].any())
        size = np.sqrt(np.abs(np.where(zero, 0.0, values)))
        return np.where(values > 0.0, 1j * size, size + 0j), X

    def loads(self, count: int, reach: float) -> tuple[Array, Array]:
        """Return the smallest positive mu of buckling and their vectors.

        Parameters
        ----------
        reach : up to which they are counted where fewer are found.
        """
        if self.pencil.symmetric:
            return self._definite(count, reach)

        def lacking(pairs: Eigenpairs, least: float) -> int:
            return max(0, count - int((pairs.theta > least).sum()))

        space = Invariant(self.pencil)
        pairs = self._every(
            space, self._more(space, count + 2, positive=True), lacking, positive=True
        )
        return 1.0 / pairs.theta[:count], pairs.vectors[:, :count]

    def _definite(self, count: int, reach: float) -> tuple[Array, Array]:
        """Return them of symmetric matrices.

        Beside a load that is very near, thetas of others are less than the tolerance of the largest
        one: they are looked for from a state with less load.
        """

        def choose(values: Array, X: Array) -> Choice:
            chosen = np.arange(len(values)) < count
            return Choice(chosen, len(values) < count, np.zeros(len(values)))

        values, X = self._collected(count + 2, 0.0, choose)
        shift = 0.0 if self.checked else self._unloaded(count, values, reach)
        if shift:
            self.pencil.move(shift)
            values, X = self._collected(count + 2, 0.0, choose)
            self.pencil.move(-shift)
            values = values + shift
            if not self.checked:
                self._unloaded(count, values, reach)
        return values, X

    def _unloaded(self, count: int, values: Array, reach: float) -> float:
        """Return a negative mu of a stable state about as far away as the loads; 0: there is none.

        Where all that there are were found `checked` says so.
        """
        far = max(reach, OTHER_LOAD_RATIO * float(values.max(initial=0.0)))
        number = self._below(far)
        if number is None or number <= len(values) < count:
            self.checked = None if number is None else True
            return 0.0
        near = least = float(values.min()) if len(values) else far * EPS
        while far > OTHER_LOAD_RATIO * near:
            middle = math.sqrt(near * far)
            enough = (self._below(middle) or 0) >= min(count, number)
            near, far = (near, middle) if enough else (middle, far)
        while self._below(-far) != 0:
            far /= OTHER_LOAD_RATIO
            if far <= least:
                return 0.0
        return -far

    def _below(self, value: float) -> int | None:
        """Return how many eigenvalues are between zero and a number; None: it is not known."""
        return self.pencil.negative if self.pencil.factor(value) else None

    def _energies(self, X: Array) -> Array:
        """Return x^T K x of vectors (rows, m) (collective)."""
        return self.pencil.sums((X * self.pencil.product(self.pencil.stiffness, X)).sum(axis=0))

    def _zero(self, X: Array) -> tuple[Mask, Array]:
        """Return which vectors of unit mass have x^T K x = 0, and what of it is round-off.

        That of the terms of these products themselves: a mode that is slow beside the fastest ones
        by any factor has more.
        """
        noise = ROUND_OFF_FACTOR * (self.pencil.round_off(X) + 10.0 * EPS * abs(self.sigma))
        return np.abs(self._energies(X)) <= noise, noise

    def _lowest(self, sigma: float) -> None:
        """Factor with a shift below all eigenvalues, at most `sigma`."""
        farther = max(100.0, (1e4 * self._fastest / abs(sigma)) ** (1.0 / 7.0))
        for _ in range(8):
            self.sigma, factored = sigma, self.pencil.factor(sigma)
            if factored and not self.pencil.negative:
                break
            sigma *= farther
        self.pencil.require(factored, "EigenProblem.solve")

    # ---- others ---------------------------------------------------------------------------------
    def others(self, count: int, omega: float | None = None) -> tuple[Complex, Array]:
        """Return s of an unsymmetric or quadratic pencil and their vectors.

        The slowest, or of one without rates those next to a circular frequency. With rates, those
        without come first: the slowest gives the shift, and what rests is taken out of Krylov's
        methods, which fail on double zeros with one vector.
        """
        pencil, rates = self.pencil, self.pencil.rates
        pencil.balance()
        try:
            pencil.rates = None
            asked = count if rates is None else 1
            shift, still = self._first()
            sigma = -shift if omega is None else omega * omega
            slow = self._completed(*self._begun(asked, sigma), asked, omega)
        finally:
            pencil.rates = rates
        if rates is not None:
            # of many alike, as the motions of many free bodies, Krylov's methods miss some
            rests = np.concatenate([still, slow.X[:, slow.s == 0.0].real], axis=1)
            some, self._resting = self.checked, pencil.orthonormal(rests)
            least = float(np.abs(slow.s[slow.s != 0.0]).min(initial=np.inf))
            sigma = 0.3 * least if least < math.inf else math.sqrt(NEGLIGIBLE * self._fastest)
            slow = self._completed(*self._begun(count, sigma), count, None)
            self.checked = self.checked and some is not False
        return slow.s, pencil.scale[:, None] * slow.X

    def _begun(self, count: int, sigma: float) -> tuple[Invariant, Eigenpairs]:
        """Return what an engine finds next to a shift, and its space."""
        pencil, space = self.pencil, Invariant(self.pencil)
        pencil.require(pencil.factor(sigma), "EigenProblem.solve")
        wanted = count + EXTRA_NUMBERS
        if pencil.rates is not None:
            wanted *= 2
            if self.engine != "dense":
                space.hold(np.concatenate([self._resting, 0.0 * self._resting]))
        return space, self._more(space, wanted)

    def _more(self, space: Invariant, wanted: int, *, positive: bool = False) -> Eigenpairs:
        """Return eigenpairs of the space after an engine has found more."""
        arguments = self.engine, self.pencil, wanted, self.options, space.basis
        pairs = largest(*arguments, positive=positive)
        if self.engine == "dense":
            return pairs
        space.add(pairs)
        return space.pairs(positive)

    def _slow(self, pairs: Eigenpairs, count: int, omega: float | None) -> Slow:
        """Return those that are wanted of some eigenpairs: of each rigid motion one."""
        pencil, quadratic = self.pencil, self.pencil.rates is not None
        sigma, X = pencil.shift, pairs.vectors[: pencil.unknowns.rows]
        numbers = (sigma + 1.0 / pairs.theta).astype(complex)
        size, stiff = (
            np.abs(pencil.sums((np.conj(X) * pencil.product(matrix, X)).sum(axis=0)))
            for matrix in (pencil.weight, pencil.stiffness)
        )
        massive = size > 0.0
        square = np.abs(numbers**2 if quadratic else numbers)
        noise = ROUND_OFF_FACTOR * pencil.round_off(X)
        zero = own = square * size <= noise
        if quadratic:  # of a double zero, as that of a rigid motion, half of the digits are lost
            self.floor = math.sqrt(10.0 * EPS * self._fastest)
            zero = zero | (np.abs(numbers) <= self.floor)
            # others decay slowly
            zero &= stiff <= noise + ROUND_OFF_FACTOR * EPS * self._fastest * size
        else:
            least = EPS * (10.0 * self._fastest + ROUND_OFF_FACTOR * abs(sigma))
            zero = zero | (np.abs(numbers) <= least)
            self.floor = math.sqrt(least)
        seen = np.abs(numbers) ** (2 if quadratic else 1) > VISIBLE_RATIO * self.floor**2
        self.hides = bool((zero & ~own & massive & seen).any())
        X = X / np.sqrt(np.where(massive, size, 1.0))
        far = np.abs(pairs.theta).max(initial=0.0) / np.abs(pairs.theta)
        digits = np.minimum(10.0 * TOLERANCE * far, MOST_NOISE)  # those of theta: of the largest
        s = numbers if quadratic else np.sqrt(_straight(-numbers, digits, digits))
        s = _straight(s, digits, MOST_NOISE if quadratic else digits)  # of twice a real one a pair
        if not quadratic:
            s = np.where(s.imag < 0.0, -s, s)
        rigid = self._resting if quadratic else pencil.orthonormal(X[:, zero & massive])
        away = np.abs(s) if omega is None else np.abs(numbers - omega**2)
        order = np.argsort(away, kind="stable")
        order = order[(massive & ~zero & (s.imag >= 0.0))[order]]
        decays = s[order].real <= 0.0
        order = order[(np.cumsum(decays) <= count) | ~decays]
        moving = s[order].real <= 0.0
        reach = (
            away[order][moving]
            if omega is not None
            else np.abs(numbers[order][moving]) + abs(sigma)
        )
        s = np.concatenate([np.zeros(rigid.shape[1]), s[order]])
        X = np.concatenate([rigid, X[:, order]], axis=1)
        return Slow(s, X, int(moving.sum()), float(reach.max(initial=0.0)))

    def _completed(
        self, space: Invariant, pairs: Eigenpairs, count: int, omega: float | None
    ) -> Slow:
        """Return those that are wanted; look for more until none of them may be missing."""

        def lacking(pairs: Eigenpairs, least: float) -> int:
            slow = self._slow(pairs, count, omega)
            return EXTRA_NUMBERS if slow.far * least > 1.0 + math.sqrt(EPS) else count - slow.moving

        return self._slow(self._every(space, pairs, lacking), count, omega)

    def _every(
        self,
        space: Invariant,
        pairs: Eigenpairs,
        lacking: Callable[[Eigenpairs, float], int],
        *,
        positive: bool = False,
    ) -> Eigenpairs:
        """Return eigenpairs; look for more, begun anew, until none that is wanted may be missing.

        `lacking` : how many more are wanted where none of a theta larger than a number is missing.
        """
        wanted, self.checked = 2, self.engine == "dense"  # a conjugate pair at least
        for _ in range(0 if self.checked else self.pencil.room()):
            if most(self.pencil, space.basis) < 1:
                self.checked = None
                break
            arguments = self.engine, self.pencil, wanted, self.options, space.basis
            try:
                more = largest(*arguments, positive=positive)
            except ConvergenceError:
                break
            least = float(np.abs(more.theta).max(initial=0.0))
            wanted = lacking(pairs, least)
            if wanted <= 0 or not least:
                self.checked = True if wanted <= 0 else None
                break
            wanted, size = max(wanted, 2), space.basis.shape[1]
            space.add(more)
            if space.basis.shape[1] == size:
                break
            pairs = space.pairs(positive)
        return pairs


def _beyond(values: Array, noise: Array) -> float:
    """Return a number between the first of ascending values and the next that is another one.

    After those that are one with it, to the square root of round-off or their own.
    """
    apart = np.diff(values) > math.sqrt(EPS) * np.abs(values[:-1]) + noise[:-1]
    k = int(np.argmax(apart)) if apart.any() else len(values) - 1
    after = values[k + 1] if apart.any() else values[k] + 2.0 * max(abs(values[k]), noise[k])
    return float(values[k] + after) / 2.0


def _straight(s: Complex, real: Array, imaginary: Array | float) -> Complex:
    """Leave out real and imaginary parts that are these parts of the whole, or less."""
    size = np.abs(s)
    x = np.where(np.abs(s.real) <= real * size, 0.0, s.real)
    y = np.where(np.abs(s.imag) <= imaginary * size, 0.0, s.imag)
    return np.asarray(x + 1j * y)


def _orthonormal(pencil: Pencil, values: Array, X: Array) -> tuple[Array, Array]:
    """Return vectors that are orthonormal by the metric; each is changed by those before it."""
    size = pencil.sums((X * pencil.product(pencil.metric, X)).sum(axis=0))
    good = size > 0.0
    values, X = values[good], X[:, good] / np.sqrt(size[good])
    gram = pencil.sums(X.T @ pencil.product(pencil.metric, X))
    if len(gram) and np.linalg.eigvalsh(gram)[0] < DEPENDENCE_TOLERANCE:  # one is there already
        keep = independent(gram, [[k] for k in range(len(values))])
        return _orthonormal(pencil, values[keep], X[:, keep])
    return values, X @ np.linalg.inv(np.linalg.cholesky(gram)).T if len(gram) else X
