# SPDX-License-Identifier: BSD-3-Clause
"""What a solution took: its converged steps, iterations and time."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Step:
    """One converged step of the pseudo-time.

    Attributes
    ----------
    time : pseudo-time reached.
    iterations, linear_iterations : of Newton's method, and of the Krylov solver in all; those of
        attempts that failed are not counted.
    norms : residual norm of each kind of row at the end.
    """

    time: float
    iterations: int
    linear_iterations: int
    norms: dict[str, float]


@dataclass
class History:
    """The converged steps of a solution, with the work that they took.

    Attributes
    ----------
    steps : in the order in which they were reached.
    cut_backs : attempts that failed and were repeated with a smaller step.
    wasted : Newton iterations of attempts that failed.
    seconds : CPU time of this rank for assembly, and for all else in PETSc's solver.
    """

    steps: list[Step] = field(default_factory=list)
    cut_backs: int = 0
    wasted: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"assembly": 0.0, "solve": 0.0})

    @property
    def iterations(self) -> int:
        """Newton iterations of all converged steps."""
        return sum(step.iterations for step in self.steps)

    @property
    def linear_iterations(self) -> int:
        """Krylov iterations of all converged steps."""
        return sum(step.linear_iterations for step in self.steps)

    def __str__(self) -> str:
        rows = [f"{'time':>10} {'Newton':>7} {'linear':>7}  residual norms"]
        for step in self.steps:
            norms = ", ".join(f"{k} {v:.1e}" for k, v in step.norms.items())
            rows.append(
                f"{step.time:10.4g} {step.iterations:7d} {step.linear_iterations:7d}  {norms}"
            )
        cut = f"{self.cut_backs} cut back ({self.wasted} iterations)" if self.cut_backs else ""
        rows.append(
            ", ".join(filter(None, [f"{len(self.steps)} steps", cut]))
            + "; CPU s: "
            + ", ".join(f"{k} {v:.2f}" for k, v in self.seconds.items())
        )
        return "\n".join(rows)
