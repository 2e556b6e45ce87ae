# SPDX-License-Identifier: BSD-3-Clause
"""What an iteration of CG with multigrid sends on two ranks: counted, and as docs/hpc has it."""

from __future__ import annotations

from typing import Any

import pytest

from symancf.bench.prediction import REAL, SINGLE, SMOOTHED, predict, sent
from symancf.bench.scaling import numbers
from symancf.runtime.petsc import has
from symancf.solve.multigrid import levels
from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

FEW = 600  # unknowns that all ranks may hold here: so ranks share the second level

SCRIPT = f"""
import json
from mpi4py import MPI
from symancf.bench import scaling
from symancf.solve.multigrid import levels

held, levels.SHARED = levels.SHARED, {FEW}
try:
    row = scaling.case(MPI.COMM_WORLD, "weak", 10)
finally:
    levels.SHARED = held
if MPI.COMM_WORLD.rank == 0:
    print(json.dumps(row))
"""


def test_counts_of_an_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    row: dict[str, Any] = run_mpi(2, SCRIPT, kept=True)
    assert (row["elements"], row["unknowns"]) == (2000, 3 * 19 * 11 * 11)
    assert row["norm_u"] > 1.0
    finest, second, third, *_ = row["levels"]
    assert [level["shared"] for level in (finest, second, third)] == [False, False, True]
    assert (second["unknowns"], third["unknowns"]) == (3 * 10 * 6 * 6, 3 * 6 * 4 * 4)
    assert finest["ghosts"] >= 11 * 11  # a plane of nodes, however it is cut
    # each of one neighbour
    assert row["messages"] == (1 + SMOOTHED) + (SMOOTHED + 1 + 1) == 15
    # PETSc counts those of MUMPS among one rank, too, where that solves on the coarsest level
    assert row["reductions"] == 4 or not has("suitesparse")
    assert row["reduced_bytes"] == 8 + SINGLE * 96
    # the rank with most on a level is not that on each
    most = finest["lent"] * (REAL + SMOOTHED * SINGLE)
    most += (second["lent"] * (SMOOTHED + 1) + second["ghosts"]) * SINGLE
    assert 0.9 * most <= row["bytes"] <= most
    monkeypatch.setattr(levels, "SHARED", FEW)
    model = sent((10, 10, 10), 2)
    assert model["ghosts"] == 121
    assert (model["messages"], model["reductions"]) == (15, 4)
    assert model["bytes"] == pytest.approx(row["bytes"], rel=0.3)
    assert model["reduced_bytes"] == pytest.approx(row["reduced_bytes"], rel=0.3)


def test_the_model_of_many_ranks() -> None:
    assert numbers(6) == [1, 2, 4, 6]
    inner = sent((32, 32, 32), 4096)
    assert inner["neighbours"] == 26
    assert inner["ghosts"] == pytest.approx(6 * 32**2, rel=0.1)
    assert inner["reductions"] == 4
    assert inner["reduced_bytes"] <= 8 + 4 * levels.SHARED
    each = {"product_s": 2e-3, "smoother_s": 4e-3, "vectors_s": 1e-3}
    coarse = {"coarse_s": 1e-3, "shared_s": 0.0}
    one = each | coarse | {"levels": [{"unknowns": 107811}, {"unknowns": 14739}]}
    rows = predict(one, 32, [1, 8, 4096], latency=0.0, bandwidth=1e30)
    assert rows[0]["iteration_s"] == pytest.approx(8e-3)
    assert rows[0]["efficiency"] == 1.0
    # without messages nothing is lost but for the levels that all ranks have
    lost = rows[2]["iteration_s"] - rows[0]["iteration_s"]
    assert lost <= rows[2]["shared_s"] + 1e-3
    slow = predict(one, 32, [1, 8, 4096])
    assert slow[2]["messages_s"] > slow[1]["messages_s"] > slow[0]["messages_s"] == 0.0
    assert slow[2]["efficiency"] < rows[2]["efficiency"]
