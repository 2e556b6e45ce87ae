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
    """What an aid mends, the source, and the case that fails or takes longer without it."""

    mends: str
    source: str
    case: str


_MAGISANO = "Magisano, Leonetti, Garcea, CMAME 313 (2017) 986; Pfefferkorn et al., IJNME 122 (2021)"

#: Of statics, in the order in which they are asked; of the first four the first that applies moves.
AIDS: dict[str, Row] = {
    "parabola": Row(
        "slender structures turn on curved paths, far from the last equilibrium",
        "extrapolation by Lagrange's polynomial",
        "a strip that is rolled up in steps",
    ),
    "loads": Row(
        "the stiffness of loads that turn, made with the stresses of smaller ones, is of no state",
        "first-order predictor with the tangent of the last equilibrium",
        "a thin chamber under a pressure that is there at once",
    ),
    "path": Row(
        "where something touches, the tangent under other loads does not know which points do",
        "first-order predictor by the rates of loads and supports",
        "a block that is pressed on a plane with friction in steps",
    ),
    "supports": Row(
        "prescribed coordinates that move alone crush the first row of cells",
        "first-order predictor K_ff du = -K_fc dg",
        "a block that is crushed by its supports at once",
    ),
    "normals": Row(
        "normals of contact that follow rough states lead to and fro",
        "an outer fixed point with frozen normals",
        "curved skins that are pressed on each other",
    ),
    "predicted": Row(
        "stresses that a linear step only seems to make: slender bodies, volumes that stay",
        _MAGISANO,
        "a cantilever that is bent in one step",
    ),
    "backtracking": Row(
        "one part in trouble cuts the steps of all; points that touch come and go in turn",
        "P. Deuflhard, Newton Methods for Nonlinear Problems (2004), section 3.3",
        "a ring that is pressed between plates",
    ),
    "leftover": Row(
        "forces of stiff places hide what is left in soft ones",
        "the correction K^-1 R at the end, by the last factors",
        "a beam whose first part is 1e9 times stiffer than the rest",
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
