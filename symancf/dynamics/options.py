# SPDX-License-Identifier: BSD-3-Clause
"""Default PETSc options of motions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..solver import linear_defaults

if TYPE_CHECKING:
    from ..system import System


def defaults(system: System) -> dict[str, Any]:
    """Return the options that suit a system.

    Newton's method takes whole steps: what leaves the domain of a law makes the time step
    shorter.
    """
    return linear_defaults(system, dynamic=True) | {
        "ts_adapt_type": "none",
        "snes_type": "newtonls",
        "snes_linesearch_type": "basic",
        "snes_rtol": 1e-8,
        "snes_atol": 0.0,
        "snes_stol": 0.0,
        "snes_max_it": 20,
    }
