# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of the monitors of motions: a step, as those of statics are."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ...output.steps import Step


class Observed(Step):
    """A step that is also asked, with a warning, for what belongs to its problem.

    Up to 0.2 monitors of motions were called with the problem.
    """

    def __init__(self, step: Step, problem: Any) -> None:
        super().__init__(**vars(step))
        self._problem = problem

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(self._problem, name):
            names = ", ".join(field.name for field in fields(Step))
            raise AttributeError(f"a step has no {name!r}; it has: {names}")
        self._problem._system.once.warn(
            ("monitor", name),
            f"a monitor asks its argument for {name!r}: it is a step, as in statics, with "
            f"time and iterations; take problem.{name} of the problem itself",
            DeprecationWarning,
        )
        return getattr(self._problem, name)
