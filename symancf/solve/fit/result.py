# SPDX-License-Identifier: BSD-3-Clause
"""The result of a fit: constants, what is sure of them, and where the law is stable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...errors import ParameterError, SymancfError
from ...output.sampling import sample
from ...runtime.display import Table
from .material_test import MaterialTest
from .structure_test import StructureTest

if TYPE_CHECKING:
    from ...arrays import Array
    from ...bodies.body import Body
    from ...system import System
    from .response import Response

TOLD = 1e-7  # of the answer: what changes it by less is not determined


@dataclass(frozen=True, eq=False)
class Fit:
    """Constants found by `fit`; printed it is a table.

    Attributes
    ----------
    name : of the law.
    law : the energy, or None.
    values : name -> value, for ``sa.Body(region, element, found.law, **found.values)``; without
        constants on which no stress depends.
    names : those that were found and are not at a bound.
    errors : name -> standard error of these; of tests without ``error=`` from the scatter about
        the fit.
    correlation : (n, n) of the constants in `names`.
    tests, stresses : the tests, and the stresses of the law in them [Pa], of structures the goals;
        those of the material first.
    incompressible : whether the volume was constant.
    notes : what to know: constants of which the tests say nothing, bounds, instability.
    """

    name: str
    law: Any
    values: dict[str, float]
    names: tuple[str, ...]
    errors: dict[str, float]
    correlation: Array
    tests: tuple[MaterialTest | StructureTest, ...]
    stresses: tuple[Array, ...]
    incompressible: bool
    notes: tuple[str, ...]
    response: Response | None

    @property
    def rms(self) -> dict[str, float]:
        """Root mean square of the difference over the range of data, by the names of tests."""
        return differences(self.tests, self.stresses)

    def predict(self, test: MaterialTest | StructureTest) -> Array:
        """Return (rows, m) stresses [Pa] of the law in another test, or goals of a structure.

        The parameters of a structure have the values found afterwards, and it is solved with them
        (collective).

        Raises
        ------
        ParameterError : a test of a material, and none was fitted.

        Examples
        --------
        >>> import symancf as sa
        >>> pulled = sa.MaterialTest.uniaxial([1.0, 1.5, 2.0], [0.0, 0.42e6, 0.70e6])
        >>> found = sa.fit(sa.energies.yeoh(), pulled, fixed=dict(C20=0.0, C30=0.0))
        >>> wide = sa.MaterialTest.planar([1.0, 2.0], [0.0, 0.0])
        >>> bool(found.predict(wide)[1, 0] > 0.70e6)
        True
        """
        if isinstance(test, StructureTest):
            return test.answer(self.values)
        if self.response is None:
            raise ParameterError(
                "predict: only structures were fitted: a test of the material has no law here",
                asked="test",
                given=test.name,
            )
        stress = self._stresses(test)
        if not np.isfinite(stress).all():
            raise ParameterError(
                f"predict: {self.response.missing(test, self.values)}. Leave such stretches out, "
                "or fit another law",
                asked="test",
                given=test.name,
            )
        return stress

    @property
    def range(self) -> tuple[float, float]:
        """The least and largest principal stretch in the tests, sideways ones included."""
        every = []
        for test in self.tests:
            if isinstance(test, StructureTest):
                continue
            logs = np.log(test.stretch)
            free = np.isnan(logs)
            side = -np.nansum(logs, axis=1) / np.maximum(free.sum(axis=1), 1)
            every.append(np.where(free, side[:, None], logs))  # at constant volume
        if not every:
            raise ParameterError(
                "range: only structures were fitted, and their stretches are not known",
                asked="range",
            )
        stretch = np.exp(np.concatenate(every))
        return min(1.0, float(stretch.min())), max(1.0, float(stretch.max()))

    def extrapolation(self, system: System, body: Body) -> str:
        """Return in words how far a body is strained beyond the tests; "": nowhere (collective).

        Its principal stretches at the quadrature points are compared with those of the tests,
        `range`. Beyond, the law is a guess.

        Examples
        --------
        >>> import symancf as sa
        >>> pulled = sa.MaterialTest.uniaxial([1.0, 1.1, 1.2], [0.0, 0.11, 0.20])
        >>> found = sa.fit(sa.energies.yeoh(), pulled, fixed=dict(C20=0.0, C30=0.0))
        >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
        >>> cube = sa.Body(mesh["body"], sa.elements.hex8, found.law, k=50.0, **found.values)
        >>> pull = sa.fix(cube["x1"], displacement=(0.5, 0.0, 0.0))
        >>> system = sa.System(cube, terms=[sa.fix(cube["x0"]), pull])
        >>> _ = sa.StaticProblem(system).solve()
        >>> "beyond" in found.extrapolation(system, cube)
        True
        """
        strains = sample(system, body, fields={"strain": "E_gl"}, at="gauss")
        data = {**strains.point_data, **strains.cell_data}["strain"]
        tensors = np.asarray(data, dtype=float).reshape(-1, 3, 3)
        squares = 1.0 + 2.0 * np.linalg.eigvalsh((tensors + tensors.swapaxes(1, 2)) / 2.0)
        stretch = np.sqrt(np.maximum(squares, 0.0))
        low, high = self.range
        margin = 1e-6 * (high - low)
        beyond = ((stretch < low - margin) | (stretch > high + margin)).any(axis=1)
        ends = stretch.min(initial=np.inf), -stretch.max(initial=0.0)
        comm = body.region.mesh.comm
        least, largest = comm.allreduce(ends[0], op=MPI.MIN), -comm.allreduce(ends[1], op=MPI.MIN)
        count, every = comm.allreduce(int(beyond.sum())), comm.allreduce(len(beyond))
        if not count:
            return ""
        return (
            f"body {body.name!r} is strained beyond the tests at {100 * count / every:.3g} % of "
            f"its points: stretches {least:.4g} to {largest:.4g}, of the tests {low:.4g} to "
            f"{high:.4g}"
        )

    def table(self) -> Table:
        """Return constants with their standard errors."""
        table = Table(self.name, "constant", "value:.6g", "standard error:.2g")
        for name, value in self.values.items():
            if name in self.errors:
                table.add(name, value, self.errors[name])
            else:
                table.add(name, value)
        return table

    def __str__(self) -> str:
        lines = [str(self.table())]
        lines += [f"  {name}: rms {100 * e:.2f} % of the range" for name, e in self.rms.items()]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def plot(self, path: str | Path) -> Path:
        """Draw data as points and the law as lines into a file; returns its path.

        Lines are dashed beyond the stretches of a test, as far as those of the others go. Needs
        Matplotlib.
        """
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError as error:
            raise SymancfError(
                "plot() needs Matplotlib, which is not installed: pip install matplotlib"
            ) from error
        every = [*enumerate(zip(self.tests, self.stresses, strict=True))]
        groups = [[e for e in every if isinstance(e[1][0], sort)] for sort in _AXES]
        some = [group for group in groups if group]
        figure = Figure(figsize=(3.2 + 3.2 * len(some), 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        for axes, group in zip(figure.subplots(1, len(some), squeeze=False)[0], some, strict=True):
            for k, (test, stress) in group:
                self._draw(axes, f"C{k}", test, stress)
            axes.set_ylim(axes.get_ylim())
            ends = [x for _, (t, _) in group for x in (t.along.min(), t.along.max())]
            for k, (test, _) in group:
                self._draw_beyond(axes, f"C{k}", test, (min(ends), max(ends)))
            first = group[0][1][0]
            x, y = next(labels for sort, labels in _AXES.items() if isinstance(first, sort))
            axes.set(xlabel=x if first.time is None else "time [s]", ylabel=y)
            axes.legend()
            axes.grid(alpha=0.3)
        figure.savefig(path, dpi=120)
        return Path(path)

    def _draw(
        self, axes: Any, color: str, test: MaterialTest | StructureTest, answer: Array
    ) -> None:
        """Draw data and answer of a test, that of a law between the rows, too."""
        rows, style = len(test.data), "-"
        x = line_x = test.along if test.time is None else test.time
        if isinstance(test, MaterialTest) and test.kind == "biaxial":
            style = "."
        elif isinstance(test, MaterialTest) and rows > 1:
            fine = test.between(max(1, 200 // rows))
            line_x, answer = fine.along if fine.time is None else fine.time, self._stresses(fine)
        for data in test.data.reshape(rows, -1).T:
            axes.plot(x, data, "o", color=color, ms=4, mfc="none")
        for column, line in enumerate(answer.reshape(len(line_x), -1).T):
            axes.plot(line_x, line, style, color=color, ms=4, label=None if column else test.name)

    def _draw_beyond(
        self,
        axes: Any,
        color: str,
        test: MaterialTest | StructureTest,
        ends: tuple[float, float],
    ) -> None:
        """Draw the law without history at stretches that only other tests have."""
        if not isinstance(test, MaterialTest) or test.kind in ("biaxial", "volumetric"):
            return
        if self.response is None or self.response.has_memory:
            return
        for end in ends:
            near = test.along.min() if end == ends[0] else test.along.max()
            if end != near:
                x = np.linspace(near, end, 200)
                far = getattr(MaterialTest, test.kind)(x, np.zeros_like(x))
                axes.plot(x, self._stresses(far), "--", color=color, lw=0.9)

    def _stresses(self, test: MaterialTest) -> Array:
        """Return the stresses of the law in a test of the material; NaN where it has none."""
        assert self.response is not None
        ((stress, _),) = self.response.stress([test], self.values)
        return stress


_AXES = {
    MaterialTest: ("stretch", "nominal stress [Pa]"),
    StructureTest: ("number of the datum", "measured"),
}


def differences(
    tests: Sequence[MaterialTest | StructureTest], answers: Sequence[Array]
) -> dict[str, float]:
    """Return the root mean square of answers less data over the range of data, by the tests."""
    result: dict[str, float] = {}
    for test, answer in zip(tests, answers, strict=True):
        size = float(np.ptp(test.data)) or float(abs(test.data).max())
        name = test.name
        while name in result:
            name += "'"
        result[name] = float(np.sqrt(np.mean((answer - test.data) ** 2))) / size
    return result


def identified(
    names: Sequence[str],
    theta: Array,
    slope: Array,
    difference: Array,
    variance: Array,
    moduli: Sequence[str] = (),
) -> tuple[Array, Array, list[str]]:
    """Return standard errors, correlations, and sentences on constants that tests do not determine.

    Parameters
    ----------
    slope : (rows, n) derivatives of the scaled differences.
    variance : (rows,) of the scaled differences; not finite: not known.
    moduli : names of constants in which the answer is linear, all of one unit: each may be as
        large as the largest of them.
    """
    if not len(theta):
        return np.empty(0), np.empty((0, 0)), []
    largest = np.linalg.norm(slope, axis=0)
    size = np.where(theta != 0.0, abs(theta), 1.0)
    most = (size * largest).max()
    linear = np.isin(names, moduli)
    size[linear] = size[linear].max(initial=0.0)
    silent = size * largest < TOLD * most
    scale = np.where(silent, 1.0, 1.0 / np.maximum(largest, 1e-300))
    left, singular, right = np.linalg.svd(np.where(silent, 0.0, slope * scale), full_matrices=False)
    kept = singular > TOLD * singular.max(initial=0.0)
    lost = [
        ", ".join(n for n, x in zip(names, row, strict=True) if abs(x) > 0.1)
        for row in right[~kept]
    ]
    notes = [
        f"these tests say nothing of {'a combination of ' * (', ' in together)}{together}"
        for together in dict.fromkeys(lost)
    ]
    by_data = (right[kept].T / singular[kept]) @ left[:, kept].T  # of the constants
    known = bool(np.isfinite(variance).all())
    covariance = (by_data * (variance if known else 1.0)) @ by_data.T
    spread = np.sqrt(np.diag(covariance))
    correlation = covariance / np.maximum(np.outer(spread, spread), 1e-300)
    errors = spread * scale if known else np.full(len(theta), np.inf)
    if not known:
        notes.append("as many constants as measured values: standard errors are not known")
    if not kept.all():
        errors = np.where((abs(right[~kept]) > 0.1).any(axis=0), np.inf, errors)
    for n, x, e, by in zip(names, theta, errors, largest, strict=True):
        if abs(x) < e < np.inf:
            exact = e * by < TOLD * most
            notes.append(
                f"{n} is 0 within its standard error of {e:.2g}"
                if exact
                else f"these tests say little of {n}: {x:.3g} with a standard error of {e:.2g}"
            )
    return errors, correlation, notes
