# SPDX-License-Identifier: BSD-3-Clause
"""What a motion depends on beside its laws: kept in checkpoints, and taken from there."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...arrays import Array
from ...errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ...output.fingerprint import Facts
    from ...output.restart import Restarts, Saved
    from .problem import DynamicProblem


def kept(problem: DynamicProblem) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return vectors and numbers of a motion between two steps."""
    made = problem.integrator
    numbers = {
        "time": problem.system.time,
        "steps": problem.steps,
        "stiffness": problem.system.stiffness,
        "scaled_for": problem.scaled_for,
        "last_step": made.last_step,
        "biased": made.biased,
        "calm": made.calm,
        "audit": json.dumps(problem.audit.state()),
        "events": json.dumps(problem.events.state()),
    }
    return {"rate": problem.system.rate, **made.vectors()}, numbers


def take(
    problem: DynamicProblem, path: str | Path, vectors: Mapping[str, Array], facts: Facts
) -> None:
    """Bring a motion to where `kept` was called (collective).

    Raises
    ------
    CheckpointError : the file holds no motion.
    """
    made, system = problem.integrator, problem.system
    missing = [k for k in ("rate", *made.vectors()) if k not in vectors]
    if missing or "audit" not in facts:
        raise CheckpointError(
            f"{path} holds no motion: {', '.join(missing) or 'audit'} is missing; a state "
            "alone is read by checkpoint.load"
        )
    system.state[:], system.rate[:] = vectors["state"], vectors["rate"]
    system.memory.put(facts.get("memory"))
    for name, vector in made.vectors().items():
        vector[:] = vectors[name]
    system.time, problem.steps = float(facts["time"]), int(facts["steps"])
    system.stiffness = float(facts["stiffness"])
    problem.scaled_for = float(facts["scaled_for"])
    made.last_step, made.biased = float(facts["last_step"]), float(facts["biased"])
    made.calm = int(facts["calm"])
    problem.audit.resume(json.loads(facts["audit"]))
    problem.events.resume(json.loads(facts.get("events", "[]")))


class Call:
    """A call of `DynamicProblem.solve`: where it began, and its restart points.

    Attributes
    ----------
    start : time at its beginning, also where it goes on from a checkpoint.
    rejected : the integrator's number of rejections then.
    """

    def __init__(self, problem: DynamicProblem, adaptive: bool | None) -> None:
        self.problem, self.adaptive = problem, adaptive
        self.start, self._steps = problem.system.time, problem.steps
        self.rejected = problem.integrator.rejections

    def left(self, restarts: Restarts) -> int:
        """Return how many steps are left to the next restart point."""
        return restarts.left(self.problem.steps - self._steps)

    def kept(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Return what the next step depends on beside the state."""
        self.problem.measure()
        vectors, numbers = kept(self.problem)
        ts, rejected = self.problem.ts, self.problem.integrator.rejections - self.rejected
        numbers |= {"ts": [ts.getTimeStep(), ts.getStepNumber()], "rejected": rejected}
        return vectors, numbers | {"begun": [self.start, self._steps]}

    @contextmanager
    def keeping(self, restarts: Restarts | None) -> Iterator[None]:
        """Let a check after a step write what has been reached, where it raises (collective)."""
        try:
            yield
        except BaseException:
            if restarts is not None:
                restarts.stop(self.kept)
            raise

    def resume(self, restarts: Restarts, saved: Saved) -> None:
        """Go to where a checkpoint is (collective)."""
        problem, numbers = self.problem, saved.numbers
        take(problem, restarts.path, saved.vectors, {**saved.facts, **numbers})
        self.start, self._steps = numbers["begun"]
        self.rejected = problem.integrator.rejections - int(numbers["rejected"])
        problem.motion.lead()
        problem.system.prescribe(problem.system.time)
        problem.audit.stand()
        problem.newton.balance.begin()  # tolerances of steps are in its sizes
        restarts.resume(saved)

    def anew(self, step: float | None = None, number: int | None = None) -> None:
        """Forget all that earlier steps have left but the motion (collective).

        `step`, `number`: of TS, default: those that it has.
        """
        problem, ts = self.problem, self.problem.ts
        system = problem.system
        step = ts.getTimeStep() if step is None else step
        number = ts.getStepNumber() if number is None else number
        problem.motion.lead()
        system.revise(system.time)
        system.prescribe(system.time)
        problem.snes.getKSP().reset()
        problem.accelerations.forget()
        problem.newton.begin()
        problem.integrator.write(problem.U)
        problem.integrator.begin(ts, ts.getMaxTime(), self.adaptive)
        ts.setTimeStep(step)
        ts.setStepNumber(number)
