# SPDX-License-Identifier: BSD-3-Clause
"""BDDC, a subdomain of each rank: the digits of MUMPS, and MUMPS where it does not converge."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import symancf as sa
from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_bddc.py")

pytestmark = pytest.mark.parallel


@cache
def solved() -> dict[str, Any]:
    """What three ranks found."""
    found: dict[str, Any] = run_mpi(3, SCRIPT, timeout=300.0)
    return found


@pytest.mark.parametrize("name", ["flat", "curved", "pressed", "jointed"])
def test_solutions_have_the_digits_of_mumps(name: str) -> None:
    found = solved()[name]
    assert found["tangents"] < 1e-13
    assert found["apart"] < 1e-9
    assert "balancing" in found["solver"]
    assert not found["told"]
    assert found["newton"] < found["linear"] < 40 * found["newton"]


def test_mumps_takes_over_where_it_does_not_converge() -> None:
    few = solved()["few"]
    assert "MUMPS takes its place" in few["told"][0]
    assert "3 iterations" in few["told"][0]
    assert "MUMPS" in few["solver"]


def test_motions_and_single_ranks_refuse_it() -> None:
    assert "motion" in solved()["refused"]
    body = sa.Body(
        sa.Mesh.box((1.0,), (2,))["body"],
        sa.elements.ancf_cable,
        sa.energies.cable(),
        EA=1.0,
        EI=1.0,
    )
    system = sa.System(body, terms=[sa.fix(body["x0"], "all"), sa.force(body["x1"], (0, 0, 0.1))])
    with pytest.raises(sa.SymancfError, match="one rank"):
        sa.StaticProblem(system, options={"pc_type": "bddc"}).solve()
