# SPDX-License-Identifier: BSD-3-Clause
"""The result of a fit: constants, what is sure of them, and where the law is stable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...errors import SymancfError
from ...output.sampling import sample
from ...runtime.display import Table

if TYPE_CHECKING:
    from ...arrays import Array
    from ...bodies.body import Body
    from ...system import System
    from .material_test import MaterialTest
    from .response import Response


@dataclass(frozen=True, eq=False)
class Fit:
    """Constants of a law found by `fit`; printed it is a table.

    Attributes
    ----------
    law : the energy.
    values : name -> value, for ``sa.Body(region, element, found.law, **found.values)``; without
        constants on which no stress depends.
    names : those that were found and are not at a bound.
    errors : name -> standard error of these; of tests without ``error=`` from the scatter about
        the fit.
    correlation : (n, n) of the constants in `names`.
    tests, stresses : the tests, and the stresses of the law in them [Pa].
    incompressible : whether the volume was constant.
    notes : what to know: constants of which the tests say nothing, bounds, instability.
    """

    law: Any
    values: dict[str, float]
    names: tuple[str, ...]
    errors: dict[str, float]
    correlation: Array
    tests: tuple[MaterialTest, ...]
    stresses: tuple[Array, ...]
    incompressible: bool
    notes: tuple[str, ...]
    response: Response

    @property
    def rms(self) -> dict[str, float]:
        """Root mean square of the difference over the range of stress, by the names of tests."""
        result = {}
        for test, stress in zip(self.tests, self.stresses, strict=True):
            size = float(np.ptp(test.stress)) or float(abs(test.stress).max())
            error = float(np.sqrt(np.mean((stress - test.stress) ** 2))) / size
            name = test.name
            while name in result:
                name += "'"
            result[name] = error
        return result

    def predict(self, test: MaterialTest) -> Array:
        """Return (rows, m) stresses [Pa] of the law in another test.

        Examples
        --------
        >>> import symancf as sa
        >>> pulled = sa.MaterialTest.uniaxial([1.0, 1.5, 2.0], [0.0, 0.42e6, 0.70e6])
        >>> found = sa.fit(sa.energies.yeoh(), pulled, fixed=dict(C20=0.0, C30=0.0))
        >>> wide = sa.MaterialTest.planar([1.0, 2.0], [0.0, 0.0])
        >>> bool(found.predict(wide)[1, 0] > 0.70e6)
        True
        """
        ((stress, _),) = self.response.stress([test], self.values)
        return stress

    @property
    def range(self) -> tuple[float, float]:
        """The least and largest principal stretch in the tests, sideways ones included."""
        every = []
        for test in self.tests:
            logs = np.log(test.stretch)
            free = np.isnan(logs)
            side = -np.nansum(logs, axis=1) / np.maximum(free.sum(axis=1), 1)
            every.append(np.where(free, side[:, None], logs))  # at constant volume
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
        table = Table(f"{self.response.name}", "constant", "value:.6g", "standard error:.2g")
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

        Needs Matplotlib.
        """
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError as error:
            raise SymancfError(
                "plot() needs Matplotlib, which is not installed: pip install matplotlib"
            ) from error
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for k, (test, stress) in enumerate(zip(self.tests, self.stresses, strict=True)):
            x = test.along if test.time is None else test.time
            for column in range(stress.shape[1]):
                axes.plot(x, test.stress[:, column], "o", color=f"C{k}", ms=4, mfc="none")
                label = test.name if column == 0 else None
                if test.kind == "biaxial":
                    axes.plot(x, stress[:, column], ".", color=f"C{k}", ms=4, label=label)
                else:
                    axes.plot(x, stress[:, column], "-", color=f"C{k}", label=label)
        axes.set_xlabel("stretch" if self.tests[0].time is None else "time [s]")
        axes.set_ylabel("nominal stress [Pa]")
        axes.legend()
        axes.grid(alpha=0.3)
        figure.savefig(path, dpi=120)
        return Path(path)


def identified(
    names: Sequence[str], theta: Array, slope: Array, difference: Array, absolute: bool
) -> tuple[Array, Array, list[str]]:
    """Return standard errors, correlations, and sentences on constants that tests do not determine.

    Parameters
    ----------
    slope : (rows, n) derivatives of the scaled differences.
    absolute : whether differences are in standard errors of the measurement.
    """
    if not len(theta):
        return np.empty(0), np.empty((0, 0)), []
    size = np.where(theta != 0.0, abs(theta), 1.0)
    scaled = slope * size
    _, singular, right = np.linalg.svd(scaled, full_matrices=False)
    kept = singular > 1e-7 * singular.max(initial=0.0)  # below, tests do not tell them apart
    notes = []
    for row in right[~kept]:
        together = [n for n, x in zip(names, row, strict=True) if abs(x) > 0.1]
        what = together[0] if len(together) == 1 else f"a combination of {', '.join(together)}"
        notes.append(f"these tests say nothing of {what}")
    freedom = max(len(difference) - int(kept.sum()), 1)
    variance = 1.0 if absolute else float(difference @ difference) / freedom
    inverse = (right[kept].T / singular[kept] ** 2) @ right[kept]
    spread = np.sqrt(np.diag(inverse))
    correlation = inverse / np.maximum(np.outer(spread, spread), 1e-300)
    errors = np.sqrt(variance) * spread * size
    if not kept.all():
        errors = np.where((abs(right[~kept]) > 0.1).any(axis=0), np.inf, errors)
    for n, x, e in zip(names, theta, errors, strict=True):
        if np.isfinite(e) and e > abs(x):
            notes.append(f"these tests say little of {n}: {x:.3g} with a standard error of {e:.2g}")
    return errors, correlation, notes
