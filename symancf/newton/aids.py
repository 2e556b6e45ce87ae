# SPDX-License-Identifier: BSD-3-Clause
"""Remedies of Newton's method, each in one row of a table, with the case that shows it."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ..runtime.options import SolverOptions


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


class AidRow(NamedTuple):
    """An aid in the table.

    Attributes
    ----------
    mends : what it mends.
    source : where it comes from.
    case : what fails, gives a wrong value or takes 1.3 times the iterations without it: "verify"
        or "robust" with the name of a case of ``symancf verify``, ``bench --robust``, or a test.
    counts : iterations, and shorter attempts, of the case with the aid and without it.
    make : makes it for `VectorEquations` of a problem; None: the problem itself makes it.
    """

    mends: str
    source: str
    case: str
    counts: str
    make: Callable[..., Aid] | None = None


_MAGISANO = "Magisano, Leonetti, Garcea, CMAME 313 (2017) 986; Pfefferkorn et al., IJNME 122 (2021)"

#: In the order in which they are asked; of those of a beginning the first that applies moves.
AIDS: dict[str, AidRow] = {
    "parabola": AidRow(
        "slender structures turn on curved paths, far from the last equilibrium",
        "extrapolation by Lagrange's polynomial",
        "verify A05_rod_rolls_and_twists",
        "583 iterations and 3 cuts, 1647 and 29 without",
    ),
    "loads": AidRow(
        "the stiffness of loads that turn, made with the stresses of smaller ones, is of no state",
        "first-order predictor with the tangent of the last equilibrium",
        "verify A05_rollup_moment",
        "324 iterations and 5 cuts, 1160 and 22 without",
    ),
    "path": AidRow(
        "where something touches, the tangent under other loads does not know which points do",
        "first-order predictor by the rates of loads and supports",
        "verify F12_newton_order",
        "40 iterations, 44 and an order of convergence that is none without",
    ),
    "supports": AidRow(
        "prescribed coordinates that move alone crush the first row of cells",
        "first-order predictor K_ff du = -K_fc dg",
        "verify C05_yeoh_penalty",
        "263 iterations, 686 and 6 cuts without",
    ),
    "nearest": AidRow(
        "steps of motions with impacts begin on the wrong side of a kink",
        "the start from which a step of Newton's method leaves the smallest next one",
        "verify F13_hertz_impact",
        "140 iterations, 222 without",
    ),
    "calm": AidRow(
        "accelerations of modes that a step does not resolve change sign after trouble",
        "a start from auxiliary accelerations of zero, for some steps",
        "tests/unit/test_step_lengths.py::test_steps_grow_again_after_one_that_failed",
        "155 iterations and 1 cut, 212 and 2 without",
    ),
    "jumps": AidRow(
        "tensions or moments that jump: forces of fixed direction lead to other limit points",
        "homotopy in the parameters that have jumped, see solve/statics/load_jumps.py",
        "tests/unit/test_branch.py::test_lower_tensions_are_let_in_where_the_tendons_are",
        "right to 1e-6, fails without",
    ),
    "fading": AidRow(
        "loads that jump are as large in any part of a step",
        "Newton's homotopy: R(u) = (1 - s) R(u_0)",
        "tests/unit/test_branch.py::test_a_jump_is_made_on_demand",
        "no solution without",
    ),
    "normals": AidRow(
        "normals of contact that follow rough states lead to and fro",
        "an outer fixed point with frozen normals",
        "verify F17_dragging",
        "1253 iterations, 1710 without",
    ),
    "predicted": AidRow(
        "stresses that a linear step only seems to make: slender bodies, volumes that stay",
        _MAGISANO,
        "verify A10_bend45",
        "421 iterations and 5 cuts, 3849 and 59 without; A61_right_angle, a motion: 2285, 16864 "
        "and 554 cuts without",
    ),
    "mended": AidRow(
        "CG fails where the tangent is indefinite, which is stiff directions strained by others",
        "T. Steihaug, SIAM Journal on Numerical Analysis 20 (1983) 626-637",
        "tests/unit/test_solver.py::test_krylov_goes_on_where_the_tangent_is_indefinite",
        "no cut, 5 and 6 without",
    ),
    "takeover": AidRow(
        "a Krylov solver that takes longer than factors would",
        "`Effort` of solve/choice.py: nested dissection of boxes",
        "tests/unit/test_solver.py::test_mumps_takes_over_where_multigrid_does_not_get_there",
        "no solution without",
    ),
    "search": AidRow(
        "where points begin to flow, or to unload, the tangent jumps",
        "line search on the incremental potential, see `LineSearch`",
        "tests/unit/test_plasticity.py::test_a_line_search_spares_cuts_where_flow_turns",
        "36 iterations, 171 and 3 cuts without",
    ),
    "backtracking": AidRow(
        "one part in trouble cuts the steps of all; points that touch come and go in turn",
        "P. Deuflhard, Newton Methods for Nonlinear Problems (2004), section 3.3",
        "verify F09_ironing",
        "497 iterations and 3 cuts, 1699 and 32 without",
    ),
    "leftover": AidRow(
        "forces of stiff places hide what is left in soft ones",
        "the correction K^-1 R at the end, by the last factors",
        "tests/unit/test_newton.py::test_a_soft_half_is_solved_beside_a_stiff_one",
        "wrong by more than 1e-6 without",
    ),
    "branches": AidRow(
        "Newton's method finds an equilibrium of another branch, where it comes from far away",
        "predictions by the tangents at both ends, see solve/statics/branch.py",
        "tests/unit/test_branch.py::test_lower_tensions_are_let_in_where_the_tendons_are",
        "right to 1e-6, fails without",
    ),
    "parts": AidRow(
        "friction follows the way within a step, not only its end",
        "parts of a step where a term asks for them, see `Verdict`",
        "tests/unit/test_contact_paths.py::test_friction_is_that_of_the_way_after_the_touch",
        "right to 1e-3, wrong by 2.5 times the force without",
    ),
    "halved": AidRow(
        "steps that are too long for Newton's method",
        "parts of a step, of half the length each",
        "verify A05_rollup_moment",
        "324 iterations and 5 cuts, no solution without",
    ),
    "spin": AidRow(
        "rigid bodies turn far in a step: errors across joints change their sign and grow",
        "rates and A by the jerk that constraints determine, see solve/dynamics/spin.py",
        "tests/unit/test_odd_motions.py::test_a_heavy_top_precesses_in_steps_of_eleven_degrees",
        "the place of the top to 1.5e-3, wrong by 1.7 without",
    ),
    "directors": AidRow(
        "penalties hold sections of rods at frequencies that no step resolves",
        "rates and A of a rotation, and shorter steps; see solve/dynamics/directors.py",
        "tests/unit/test_step_lengths.py::test_steps_grow_again_after_one_that_failed",
        "155 iterations and 1 cut, no solution without",
    ),
}


def wanted(options: SolverOptions) -> dict[str, AidRow]:
    """Return the rows of the aids that a problem uses: all, without those in option ``aids``.

    ``options={"aids": "-predicted"}`` switches one off, ``"-predicted -leftover"`` two; on the
    command line, where a value does not begin with a minus, ``-aids ,-predicted,-leftover``.

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
                + ", ".join(f"-{aid}" for aid in AIDS),
                asked="aids",
                given=given,
                possible=[f"-{aid}" for aid in AIDS],
            )
    return {name: row for name, row in AIDS.items() if f"-{name}" not in names}
