# SPDX-License-Identifier: BSD-3-Clause
"""Remedies of Newton's method, each in one row of a table, with the case that shows it."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ParameterError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ..runtime.options import Options


class Aid:
    """Something that helps Newton's method where it would fail, or need many iterations.

    One is made for the equations of a problem, where it applies to them; what is not overridden
    here does nothing. (All methods are collective.)
    """

    def tangent(self) -> AbstractContextManager[None]:
        """Change the tangent that is prepared within this context."""
        return nullcontext()

    def step(self) -> bool:
        """Change the step that the linear solver has found; tell whether there is one."""
        return True

    def settled(self) -> bool:
        """Tell whether iterations may end where the test would end them."""
        return True


class Row(NamedTuple):
    """What an aid mends, the source, and a case that fails or takes longer without it."""

    mends: str
    source: str
    case: str


_MAGISANO = "Magisano, Leonetti, Garcea, CMAME 313 (2017) 986; Pfefferkorn et al., IJNME 122 (2021)"

#: Of statics, in the order in which they are asked; of the first four the first that applies moves.
AIDS: dict[str, Row] = {
    "parabola": Row(
        "slender structures turn on curved paths, far from the last equilibrium",
        "extrapolation by Lagrange's polynomial",
        "verify A05_rollup_moment: 450 iterations instead of 324",
    ),
    "loads": Row(
        "the stiffness of loads that turn, made with the stresses of smaller ones, is of no state",
        "first-order predictor with the tangent of the last equilibrium",
        "verify A05_rollup_moment: 1160 iterations instead of 324, 22 cuts instead of 5",
    ),
    "path": Row(
        "where something touches, the tangent under other loads does not know which points do",
        "first-order predictor by the rates of loads and supports",
        "tests/unit/test_kinks.py, steps of any size: a third iteration where no point slips anew",
    ),
    "supports": Row(
        "prescribed coordinates that move alone crush the first row of cells",
        "first-order predictor K_ff du = -K_fc dg",
        "verify C05_yeoh_penalty: 686 iterations instead of 263, 6 cuts instead of none",
    ),
    "normals": Row(
        "normals of contact that follow rough states lead to and fro",
        "an outer fixed point with frozen normals",
        "verify F17_dragging: 1710 iterations instead of 1253",
    ),
    "predicted": Row(
        "stresses that a linear step only seems to make: slender bodies, volumes that stay",
        _MAGISANO,
        "verify A10_bend45: 3849 iterations instead of 421, 59 cuts instead of 5",
    ),
    "mended": Row(
        "CG fails where the tangent is indefinite, which is stiff directions strained by others",
        "T. Steihaug, SIAM Journal on Numerical Analysis 20 (1983) 626-637",
        "tests/unit/test_solver.py, Krylov's method where the tangent is indefinite: no solution",
    ),
    "takeover": Row(
        "a Krylov solver that takes longer than factors would",
        "the cost model of solve/effort.py",
        "tests/unit/test_solver.py, MUMPS where multigrid does not get there: no solution",
    ),
    "backtracking": Row(
        "one part in trouble cuts the steps of all; points that touch come and go in turn",
        "P. Deuflhard, Newton Methods for Nonlinear Problems (2004), section 3.3",
        "verify F04_capstan: 1043 iterations instead of 159, 21 cuts instead of 1",
    ),
    "leftover": Row(
        "forces of stiff places hide what is left in soft ones",
        "the correction K^-1 R at the end, by the last factors",
        "tests/unit/test_newton.py, a soft half beside a stiff one: wrong by 1e-6 and more",
    ),
}


def wanted(options: Options) -> set[str]:
    """Return the names of the aids that a problem uses: all, without those in option ``aids``.

    ``options={"aids": "-predicted"}`` switches one off, ``"-predicted -leftover"`` two.

    Raises
    ------
    ParameterError : names an aid that is none.
    """
    given = options.choice("aids") or ""
    names = [name for name in re.split(r"[\s,]+", given) if name]
    for name in names:
        if name[0] != "-" or name[1:] not in AIDS:
            raise ParameterError(
                f"option aids={given!r}: {name!r} switches nothing off; possible are "
                + ", ".join(f"-{known}" for known in AIDS),
                asked="aids",
                given=given,
                possible=[f"-{known}" for known in AIDS],
            )
    return AIDS.keys() - {name[1:] for name in names}
