# SPDX-License-Identifier: BSD-3-Clause
"""What `symancf bench --json` promises, on small sizes; no timing is judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from symancf.bench import assembly_row, kernel_row, solutions
from symancf.bench.cases import Case, all_cases

NORM_8 = 5.385502038656057

KERNEL = {
    "element",
    "energy",
    "quadrature",
    "residual_ns",
    "tangent_ns",
    "product_ns",
    "residual_memory_ns",
    "fraction_of_peak_tangent",
}


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: f"{case.name} {case.quadrature}")
def test_rows(case: Case) -> None:
    row = kernel_row(case, peak=100.0, memory_cells=64)
    assert set(row) == KERNEL
    assert all(row[k] > 0 for k in KERNEL - {"element", "energy", "quadrature"})
    small = replace(case, divisions=tuple(3 for _ in case.divisions))
    plain, sums = assembly_row(small, shuffled=False)
    mixed, _ = assembly_row(small, shuffled=True)
    assert plain["elements"] == mixed["elements"] == 3 ** len(case.divisions)
    assert min(plain["residual_us"], mixed["tangent_us"]) > 0
    assert np.isfinite(list(sums.values())).all()


def test_field_of_the_comparison() -> None:
    # |R| and trace K of 20^3 hexahedra, as FFCx and DOLFINx 0.5 give them for the same work
    _, sums = assembly_row(all_cases()[0], shuffled=False, divisions=(20, 20, 20))
    assert sums["residual_norm"] == pytest.approx(9.52813372573, rel=1e-11)
    assert sums["trace"] == pytest.approx(1178557.78429, rel=1e-11)


def test_the_solution_of_the_comparison() -> None:
    # |u| of 8^3 hexahedra: that of DOLFINx 0.5.2, `peer_dolfinx.py solve 8`
    (row,) = solutions([8])
    assert row["peer"] == "symancf"
    assert row["elements"] == 512
    assert row["norm_u"] == pytest.approx(NORM_8, rel=1e-8)
    assert len(row["newton"]) == len(row["linear"]) == 2
    assert row["memory_MB"] > row["memory_above_import_MB"] > 0.0
    assert row["total_s"] >= row["assembly_s"] > 0.0


def test_a_peer_that_is_missing_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*arguments: Any, **options: Any) -> Any:
        raise FileNotFoundError("no such program")

    monkeypatch.setattr("symancf.bench.subprocess.run", nothing)
    rows = solutions([4], with_peers=True)
    assert [row["peer"] for row in rows] == ["symancf", "DOLFINx", "DOLFINx"]
    assert all("no such program" in row["missing"] for row in rows)
    assert "python3-dolfinx" in rows[1]["missing"]
