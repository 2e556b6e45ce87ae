# SPDX-License-Identifier: BSD-3-Clause
"""What `symancf bench --json` promises, on small sizes; no timing is judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from symancf.bench import assembly_row, kernel_row
from symancf.bench.cases import Case, all_cases

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
