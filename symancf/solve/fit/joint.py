# SPDX-License-Identifier: BSD-3-Clause
"""Constants that agree best with tests of structures, and of the material beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import least_squares

from ...errors import ConvergenceError, ParameterError
from ..optimize.objective import Objective
from .coupons import EVALUATIONS
from .limits import interior

if TYPE_CHECKING:
    from ...arrays import Array
    from ...values.parameter import Parameter
    from .coupons import Coupons
    from .limits import Limits
    from .material_test import MaterialTest
    from .structure_test import StructureTest


class Structure:
    """Differences of a structure from its test, as a function of its parameters.

    Parameters are those of one structure, or shared: before each solution they are put back to
    those of the last one.
    """

    def __init__(
        self, test: StructureTest, names: Sequence[str], others: Sequence[Parameter] = ()
    ) -> None:
        parameters = test.parameters(names, others)
        self.test, self.names = test, [n for n in names if n in parameters]
        if not self.names:
            raise ParameterError(
                f"fit: no parameter of {test.name} has the name of what is to be found, "
                f"{', '.join(names)}: give sa.Parameter of these names to its bodies and terms",
                asked="tests",
                given=test.name,
                possible=tuple(names),
            )
        test.renew()
        self.objective = Objective(
            f"fit: {test.name}", test.problem, test.goals, [parameters[n] for n in self.names]
        )
        self.first = self.at = self.objective.values

    def go_to(self, values: Mapping[str, float]) -> None:
        """Solve for values (collective).

        Raises
        ------
        ConvergenceError : there is no solution; it stays at the last one.
        """
        self.objective.assign(self.at)
        x = np.array([values[n] for n in self.names])
        if not np.array_equal(x, self.at):
            self.objective.solve(x)
            self.at = x

    def differences(self, names: Sequence[str]) -> tuple[Array, Array]:
        """Return (rows,) differences over their scale and (rows, n) slopes there (collective)."""
        scale = self.test.scale()
        slope = np.zeros((len(scale), len(names)))
        slope[:, [names.index(n) for n in self.names]] = self.objective.jacobian()
        rest = self.objective.present() - self.test.data.ravel()
        return rest / scale, slope / scale[:, None]


@dataclass
class Joint:
    """Tests of structures and of the material together.

    Attributes
    ----------
    names : of the constants to be found.
    coupons : tests of the material, or None.
    structures : tests of structures.
    notes : what least squares have to say.
    """

    names: tuple[str, ...]
    coupons: Coupons | None
    structures: Sequence[Structure]
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, wanted: Sequence[str], coupons: Coupons | None, structures: Sequence[Structure]
    ) -> Joint:
        """Return those whose names occur in any of the tests."""
        found = {n for s in structures for n in s.names}
        found |= set() if coupons is None else {*coupons.names}
        return cls(tuple(n for n in wanted if n in found), coupons, structures)

    @property
    def tests(self) -> list[MaterialTest | StructureTest]:
        """Those of the material, then those of structures."""
        return [*(self.coupons.tests if self.coupons else ()), *(s.test for s in self.structures)]

    def sizes(self) -> dict[str, float]:
        """Return the size of constants in their units: where they begin, or of the stresses."""
        begin = {n: abs(x) for s in self.structures for n, x in zip(s.names, s.at, strict=True)}
        own = {} if self.coupons is None else {n: self.coupons.unit(n) for n in self.coupons.names}
        return {n: float(x) or 1.0 for n, x in {**begin, **own}.items()}

    def answers(self, values: Mapping[str, float]) -> list[Array]:
        """Return the stresses or goals of each test (collective)."""
        every = [] if self.coupons is None else self.coupons.stresses(values)
        goals = [s.objective.present().reshape(s.test.data.shape) for s in self.structures]
        return [*every, *goals]

    def differences(self, theta: Array) -> tuple[Array, Array]:
        """Return (rows,) differences over their scale and (rows, n) slopes (collective).

        Raises
        ------
        ConvergenceError : a test has no equilibrium.
        """
        values = dict(zip(self.names, map(float, theta), strict=True))
        every = []
        if self.coupons is not None:
            own = [self.names.index(n) for n in self.coupons.names]
            rest, by = self.coupons.differences(theta[own])
            if not np.isfinite(rest).all() or not np.isfinite(by).all():
                raise self.coupons.no_stress(theta[own])
            slope = np.zeros((len(rest), len(self.names)))
            slope[:, own] = by
            every.append((rest, slope))
        for structure in self.structures:
            structure.go_to(values)
            every.append(structure.differences(self.names))
        return np.concatenate([r for r, _ in every]), np.concatenate([s for _, s in every])

    def best(self, limits: Limits, start: Mapping[str, float], seed: int) -> Array:
        """Return the constants of the smallest sum of squares (collective).

        With structures near one start: constants of the tests of the material begin at those that
        these alone give, others at the values of parameters.

        Raises
        ------
        ConvergenceError : there is no equilibrium at the start.
        """
        if self.coupons is not None and not self.structures:
            theta, others = self.coupons.best(start, seed)
            self.notes += self.coupons.rivals(theta, others, start)
            return theta
        candidates = self._starts(start, seed)
        for k, candidate in enumerate(candidates):
            unknown = [n for n in self.names if n not in candidate]
            if unknown:
                raise ParameterError(
                    f"fit: there is no value to begin with for {', '.join(unknown)}: give start=",
                    asked="start",
                    given=tuple(start),
                    possible=tuple(unknown),
                )
            try:
                theta = np.array([candidate[n] for n in self.names])
                pairs = [limits.interval(n, x) for n, x in zip(self.names, theta, strict=True)]
                low, high = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
                size = np.where(theta != 0.0, abs(theta), 1.0)
                begin = interior(theta / size, low / size, high / size)
                self.differences(begin * size)
                break
            except ConvergenceError:
                if k + 1 == len(candidates):
                    raise
        return self._refined(begin, size, low / size, high / size)

    def _starts(self, start: Mapping[str, float], seed: int) -> list[dict[str, float]]:
        """Return constants to begin with, the best first."""
        present: dict[str, float] = {}
        for structure in self.structures:
            present = {**dict(zip(structure.names, structure.at, strict=True)), **present}
        if self.coupons is None or len(self.coupons.data) < len(self.coupons.names):
            return [{**present, **start}]
        alone, _ = self.coupons.best(start, seed)
        own = dict(zip(self.coupons.names, map(float, alone), strict=True))
        return [{**present, **own, **start}, {**own, **present, **start}]

    def _refined(self, begin: Array, size: Array, low: Array, high: Array) -> Array:
        """Return the constants of least squares from a start, over some size (collective)."""
        last: dict[bytes, tuple[Array, Array]] = {}
        outside = np.finfo(float).max ** 0.25  # where there is no answer, or no derivative

        def at(x: Array) -> tuple[Array, Array]:
            key = x.tobytes()
            if key not in last:
                try:
                    rest, by = self.differences(x * size)
                except (ConvergenceError, ParameterError):  # also: no derivatives
                    if not last:
                        raise
                    rows = len(next(iter(last.values()))[0])
                    return np.full(rows, outside), np.zeros((rows, len(size)))
                last.clear()
                last[key] = rest, by * size
            return last[key]

        answer = least_squares(
            lambda x: at(x)[0],
            begin,
            jac=lambda x: at(x)[1],
            bounds=(low, high),
            x_scale="jac",
            xtol=1e-8,
            ftol=1e-10,
            gtol=1e-10,
            max_nfev=EVALUATIONS,
        )
        if answer.status == 0:
            self.notes.append(f"least squares did not end within {EVALUATIONS} solutions")
        found: Array = answer.x * size
        return found
