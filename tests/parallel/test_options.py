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


@cache
def solved(ranks: int, prefix: str, given: str, *line: str) -> dict[str, Any]:
    """What rank 0 found; the solver is the same on every rank, warnings are on rank 0 only."""
    first, *others = run_mpi(ranks, SCRIPT, prefix, given, *line)
    for other in others:
        assert other == first | {"unused": []}
    return dict(first)


def test_defaults(ranks: int) -> None:
    found = solved(ranks, "plate_", "{}")
    assert found["rtol"] == 1e-10
    assert (found["ksp"], found["max_it"]) == ("preonly", 40)
    assert found["unused"] == []
    assert found["up"] > 0.05


def test_the_command_line_goes_before_the_program(ranks: int) -> None:
    given = json.dumps({"snes_rtol": 1e-6, "pc_type": "cholesky", "snes_max_it": 33})
    line = ("-plate_snes_rtol", "1e-8", "-plate_pc_type", "lu")
    found = solved(ranks, "plate_", given, *line)
    assert found["rtol"] == 1e-8
    assert found["pc"] == "lu"
    assert found["max_it"] == 33  # the program's, where the command line says nothing
    assert found["unused"] == []
    assert found["up"] == pytest.approx(solved(ranks, "plate_", "{}")["up"], rel=1e-6)


def test_the_program_goes_before_the_defaults(ranks: int) -> None:
    given = json.dumps({"snes_rtol": 1e-6, "-snes_atol": 1e-30, "pc_type": "lu"})
    found = solved(ranks, "plate_", given)
    assert (found["rtol"], found["atol"], found["pc"]) == (1e-6, 1e-30, "lu")


def test_another_solver_by_the_command_line(ranks: int) -> None:
    line = "-plate_ksp_type gmres -plate_pc_type lu -plate_pc_factor_mat_solver_type mumps"
    found = solved(ranks, "plate_", "{}", *line.split(), "-plate_ksp_rtol", "1e-12")
    assert (found["ksp"], found["pc"], found["solver"]) == ("gmres", "lu", "mumps")
    assert found["up"] == pytest.approx(solved(ranks, "plate_", "{}")["up"], rel=1e-6)


def test_other_prefixes_are_not_meant(ranks: int) -> None:
    found = solved(ranks, "plate_", "{}", "-beam_snes_rtol", "1e-3", "-snes_rtol", "1e-4")
    assert found["rtol"] == 1e-10
    assert found["unused"] == []


def test_options_without_prefix(ranks: int) -> None:
    assert solved(ranks, "", "{}", "-snes_rtol", "1e-8")["rtol"] == 1e-8


def test_unused_options_are_reported_once(ranks: int) -> None:
    given = json.dumps({"snes_max_itt": 7})
    found = solved(ranks, "plate_", given, "-plate_snes_rtoll", "1e-8")
    assert found["rtol"] == 1e-10
    first, second = sorted(found["unused"])
    assert "-plate_snes_max_itt" in first
    assert "Did you mean 'plate_snes_max_it'" in first
    assert "-plate_snes_rtoll" in second
    assert "Did you mean 'plate_snes_rtol'" in second
