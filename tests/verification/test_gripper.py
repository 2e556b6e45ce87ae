# SPDX-License-Identifier: BSD-3-Clause
"""The gripper of Cammarata et al., Micromachines 13 (2022) 2172: tables, forces, iterations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symancf as sa
from symancf.extensions.flexure import ground_wrench, symbolic, tangent_parts
from symancf.extensions.flexure.law import CELL, UNKNOWNS
from symancf.extensions.flexure.law import EI as STIFFNESS
from tests import gripper_tables as printed
from tests.gripper import EFFECTOR, EI, gripper
from tests.refusals import refused

if TYPE_CHECKING:
    import sympy as sp

pytestmark = pytest.mark.collective

CLOSING = {"linear": 63.946, "partial": 77.034, "consistent": 75.55}


def solved(model: str, F: float, **options: Any) -> Any:
    g = gripper(model, **options)
    g.load.value = F
    sa.StaticProblem(g.system, prefix="gripper_").solve()
    return g


def misses(value: Any, table: Any) -> list[tuple[int, int]]:
    """Entries (row, column), from 1, that differ from the printed three digits."""
    inside = ~np.isnan(table)
    assert inside.sum() == 63
    assert np.abs(value[~inside]).max() < 1e-9
    wrong = inside & (printed.rounded(value) != np.nan_to_num(table))
    return [(int(i) + 1, int(j) + 1) for i, j in np.argwhere(wrong)]


def with_the_papers_error(g: Any) -> dict[str, Any]:
    """K_I and K_III with the rotation of body 4 left out of J_d, as in the paper's tables."""
    right = tangent_parts(g.system)
    parts = symbolic("partial")
    known: dict[Any, Any] = {}
    for symbol, expression in parts.lets:
        known[symbol] = expression.xreplace(known)
    flexure = g.flexures["d"]
    numbers = dict(zip(UNKNOWNS, flexure.coordinates(g.system), strict=True))
    numbers |= {STIFFNESS: 1.0} | {s: flexure.cell[s.name] for s in CELL}

    def number(m: sp.Matrix) -> Any:
        return np.array(m.xreplace(known).xreplace(numbers).tolist(), dtype=float)

    N, K, J = number(parts.N), number(parts.K), number(parts.J)
    wrong = J.copy()
    c, s = flexure.cell["cos_beta"], flexure.cell["sin_beta"]
    wrong[:2, :2] = -np.array([[c, s], [-s, c]])
    lever = number(parts.K_III) @ np.linalg.pinv(J)
    change = {"K_I": N @ K @ (wrong - J), "K_III": lever @ (wrong - J)}
    for name, matrix in change.items():
        right[name][6:, 6:] += matrix[:3, :3]
    return right


# ---- the tables ----------------------------------------------------------------------------------
@pytest.mark.collective(rows=0)
def test_table_2_to_all_printed_digits() -> None:
    g = solved("partial", 0.0)
    assert misses(sum(tangent_parts(g.system).values()), printed.TABLE_2) == []


@pytest.mark.collective(rows=0)
def test_tables_3_to_7_differ_from_print_in_one_block() -> None:
    """The tangent at F = 50 uN: 57 of 63 digits, and the block (4,4) that is right."""
    g = solved("partial", 50.0)
    parts = tangent_parts(g.system)
    whole: Any = sum(parts.values())
    block = [(7, 7), (7, 8), (8, 7), (8, 8), (9, 7), (9, 8)]
    assert misses(whole, printed.TABLE_3) == block
    assert misses(parts["K_I"], printed.TABLE_5) == block
    right = [[2558, -920.6, -189.7], [-288.6, 3850, -1121], [-125.7, -881.5, 676.3]]
    assert np.allclose(whole[6:, 6:], right, rtol=5e-4)
    # Table 6: at equilibrium the column theta of K_II is (-F_y, F_x, 0) of the load
    K_II = parts["K_II"].copy()
    assert K_II[0, 2] == pytest.approx(-50.0, rel=1e-9)
    K_II[0, 2] = 0.0
    assert np.abs(K_II).max() < 1e-7


@pytest.mark.collective(rows=0)
def test_tables_with_the_papers_error_agree_with_print() -> None:
    """One substitution, A_4 = 1 in J_d, explains all differences of Tables 3, 4, 5 and 7."""
    g = solved("partial", 50.0)
    wrong = with_the_papers_error(g)
    whole: Any = sum(wrong.values())
    assert misses(whole, printed.TABLE_3) == []
    assert misses(wrong["K_I"], printed.TABLE_5) == []
    first: Any = sum(tangent_parts(solved("partial", 0.0).system).values())
    inside = ~np.isnan(printed.TABLE_4)
    percent = 100 * (whole[inside] / first[inside] - 1)
    assert np.abs(percent - printed.TABLE_4[inside]).max() < 0.0501
    found = []
    for row, (columns, values) in printed.TABLE_7.items():
        different = printed.rounded(wrong["K_III"][row, columns]) != np.array(values)
        found += [(row + 1, columns.start + int(k) + 1) for k in np.flatnonzero(different)]
    assert found == [(3, 5), (3, 6)]  # misprinted signs: Table 3 - Table 5 has them right
    assert np.allclose(wrong["K_III"][2, 4:6], [21.43, 10.27], atol=5e-3)


# ---- forces --------------------------------------------------------------------------------------
@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("model", ["linear", "partial", "consistent"])
@pytest.mark.parametrize("material", [1.0, 0.0384])  # silicon, nylon
def test_closing_force(model: str, material: float) -> None:
    """Inverse analysis: x of the effector is prescribed, the force is the unknown."""
    factor = sa.Factor("closing force")

    def close(bodies: Any) -> list[Any]:
        target = sa.displacement_control(
            bodies[3].at(EFFECTOR), "x", position=lambda t: 0.4429 * (1 - t), release=factor
        )
        return [sa.force(bodies[2].at((0, 0)), (0, 1), factor=factor), target]

    g = gripper(model, terms=close, stiffness=EI * material)
    sa.StaticProblem(g.system, prefix="closing_").solve(step=0.25)
    force = factor.value(g.system)
    assert abs(g.x()) < 1e-12
    digits = 5e-3 if model == "consistent" else 5e-4
    assert force / material == pytest.approx(CLOSING[model], abs=digits)
    back = solved(model, force, stiffness=EI * material)
    assert back.x() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("model", "reaction", "digits"),
    [
        ("partial", [-9.51, -49.09], 5e-3),
        ("linear", [-10.5, -48.9], 5e-2),
        ("consistent", [0.0, -50.0], 1e-9),
    ],
)
def test_only_the_consistent_model_is_in_balance(
    model: str, reaction: list[float], digits: float
) -> None:
    found = ground_wrench(solved(model, 50.0).system)
    assert np.allclose(found[:2], reaction, atol=digits)


@pytest.mark.parametrize(
    ("x", "linear", "partial"),
    [(0.6, -36.29, -32.43), (0.5, -10.78, -10.43), (0.4, 7.30, 7.46), (0.2214, 33.98, 37.59)],
)
def test_force_at_given_opening(x: float, linear: float, partial: float) -> None:
    for model, want in (("linear", linear), ("partial", partial)):
        assert solved(model, want - 6e-3).x() > x > solved(model, want + 6e-3).x()


# ---- iterations ----------------------------------------------------------------------------------
def counts(tangent: str, warm: bool, loads: Any, **options: Any) -> list[int]:
    """Iterations to |dq| < 1e-8 at each load, by PETSc's Newton method."""
    g = gripper("partial")
    problem = sa.StaticProblem(
        g.system,
        prefix="constant_" if options else "count_",
        options={"snes_linesearch_type": "basic", "flexure_tangent": tangent, **options},
    )
    problem.solve()

    def small_step(snes: Any, iteration: int, norms: tuple[float, float, float]) -> int:
        if iteration and norms[1] < 1e-8:
            return 4  # CONVERGED_SNORM_RELATIVE
        return 0 if norms[2] < 1e9 else -4  # DIVERGED_FNORM_NAN

    problem.snes.setConvergenceTest(small_step)
    found = []
    for F in loads:
        g.load.value = float(F)
        if not warm:
            g.system.state[:] = 0.0
        problem.solve(to=1.0, smallest=1.0)
        found.append(problem.history.steps[-1].iterations)
    return found


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("tangent", "warm", "total", "tens"),
    [
        ("K", False, 401, [4, 5, 5, 5, 6, 6, 6]),
        ("K_I", False, 813, [6, 8, 9, 11, 12, 14, 16]),
        ("K", True, 232, [3] * 7),
        ("K_I", True, 711, [6, 7, 8, 9, 10, 12, 13]),
    ],
)
def test_four_update_strategies(tangent: str, warm: bool, total: int, tens: list[int]) -> None:
    found = counts(tangent, warm, range(78))
    assert found[10:71:10] == tens
    assert sum(found) == total


CONSTANT = {"snes_lag_jacobian": -2, "snes_lag_jacobian_persists": True, "snes_max_it": 2000}


@pytest.mark.collective(rows=0)
def test_constant_tangent_converges_up_to_its_limit() -> None:
    found = counts("K", False, (20, 30, 40, 50, 60, 70, 74), **CONSTANT)
    assert found == [11, 15, 19, 29, 54, 167, 700]
    with refused(sa.ConvergenceError, time=1.0):
        counts("K", False, (76,), **CONSTANT)


@pytest.mark.collective(rows=0)
def test_limit_of_the_constant_tangent() -> None:
    """The spectral radius of 1 - K_0^-1 K_T is 1 at 75.340 uN."""
    first: Any = sum(tangent_parts(gripper("partial").system).values())

    def radius(F: float) -> float:
        K: Any = sum(tangent_parts(solved("partial", F).system).values())
        return float(np.abs(np.linalg.eigvals(np.eye(9) - np.linalg.solve(first, K))).max())

    assert radius(75.335) < 1.0 < radius(75.345)
    assert math.isclose(radius(75.34), 1.0, abs_tol=2e-4)
