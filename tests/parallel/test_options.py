# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's options: the command line goes before the program's, which go before the defaults."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_options.py")

pytestmark = [pytest.mark.parallel, pytest.mark.parametrize("ranks", [1, 2])]


# case -> prefix, options of the program; without a command line
ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "defaults": ("plate_", {}),
    "program": ("given_", {"snes_rtol": 1e-6, "-snes_atol": 1e-30, "pc_type": "lu"}),
}

# the same, all with the command line below
BESIDE: dict[str, tuple[str, dict[str, Any]]] = {
    "defaults": ("plate_", {}),
    "both": ("both_", {"snes_rtol": 1e-6, "pc_type": "cholesky", "snes_max_it": 33}),
    "solver": ("solver_", {}),
    "unused": ("odd_", {"snes_max_itt": 7}),
    "no prefix": ("", {}),
}
LINE = """
    -both_snes_rtol 1e-8 -both_pc_type lu
    -solver_ksp_type gmres -solver_pc_type lu -solver_pc_factor_mat_solver_type mumps
    -solver_ksp_rtol 1e-12
    -odd_snes_rtoll 1e-8
    -beam_snes_rtol 1e-3 -snes_rtol 1e-7
"""


@cache
def results(ranks: int, beside: bool) -> Any:
    cases, line = (BESIDE, LINE.split()) if beside else (ALONE, [])
    return run_mpi(ranks, SCRIPT, json.dumps(cases), *line)


def solved(ranks: int, case: str, beside: bool = True) -> dict[str, Any]:
    """What rank 0 found; the solver is the same on every rank, warnings are on rank 0 only."""
    first, *others = (found[case] for found in results(ranks, beside))
    for other in others:
        assert other == first | {"unused": []}
    return dict(first)


def test_defaults(ranks: int) -> None:
    found = solved(ranks, "defaults", beside=False)
    assert found["rtol"] == 1e-10
    assert (found["ksp"], found["max_it"]) == ("preonly", 40)
    assert found["unused"] == []
    assert found["up"] > 0.05


def test_the_command_line_goes_before_the_program(ranks: int) -> None:
    found = solved(ranks, "both")
    assert found["rtol"] == 1e-8
    assert found["pc"] == "lu"
    assert found["max_it"] == 33  # the program's, where the command line says nothing
    assert found["unused"] == []
    assert found["up"] == pytest.approx(solved(ranks, "defaults", False)["up"], rel=1e-6)


def test_the_program_goes_before_the_defaults(ranks: int) -> None:
    found = solved(ranks, "program", beside=False)
    assert (found["rtol"], found["atol"], found["pc"]) == (1e-6, 1e-30, "lu")


def test_another_solver_by_the_command_line(ranks: int) -> None:
    found = solved(ranks, "solver")
    assert (found["ksp"], found["pc"], found["solver"]) == ("gmres", "lu", "mumps")
    assert found["up"] == pytest.approx(solved(ranks, "defaults", False)["up"], rel=1e-6)


def test_other_prefixes_are_not_meant(ranks: int) -> None:
    found = solved(ranks, "defaults")
    assert found["rtol"] == 1e-10
    assert found["unused"] == []
    alone = solved(ranks, "defaults", beside=False)
    assert found == alone | {"up": pytest.approx(alone["up"], rel=1e-12)}


def test_options_without_prefix(ranks: int) -> None:
    assert solved(ranks, "no prefix")["rtol"] == 1e-7


def test_unused_options_are_reported_once(ranks: int) -> None:
    found = solved(ranks, "unused")
    assert found["rtol"] == 1e-10
    first, second = sorted(found["unused"])
    assert "-odd_snes_max_itt" in first
    assert "Did you mean 'odd_snes_max_it'" in first
    assert "-odd_snes_rtoll" in second
    assert "Did you mean 'odd_snes_rtol'" in second
