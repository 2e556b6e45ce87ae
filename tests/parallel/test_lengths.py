# SPDX-License-Identifier: BSD-3-Clause
"""Lengths of lines that several ranks share: the numbers of one rank, errors on every rank."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_lengths.py")

pytestmark = pytest.mark.parallel


@cache
def solved(ranks: int) -> dict[str, Any]:
    """Tensions, lengths and places of every system."""
    found: dict[str, Any] = run_mpi(ranks, SCRIPT, timeout=240.0, kept=True)
    return found


@pytest.mark.parametrize("ranks", [3])
def test_the_numbers_are_those_of_one_rank(ranks: int) -> None:
    for name, found in solved(ranks).items():
        if name == "errors":
            continue
        if name.endswith("line") or name in ("rk", "generalized-alpha"):
            assert found["across"] > 0, name  # a line with vertices of several ranks
        alone = solved(1)[name]
        assert alone["across"] == 0
        limit = 1e-7 if name == "rk" else 1e-9  # the step control sees round-off
        for what in ("tensions", "lengths", "places"):
            one, many = np.array(alone[what]), np.array(found[what])
            assert one.shape == many.shape
            assert np.abs(many - one).max() <= limit * np.abs(one).max(), (name, what)
        assert found["violation"] < 1e-12


def test_there_are_tensions() -> None:
    for form in ("arc", "squared"):
        for per, n in (("edge", 14), ("line", 2)):
            tensions = np.array(solved(1)[f"{form} {per}"]["tensions"])
            assert tensions.shape == (n, 1)
            assert np.abs(tensions).min() > 1e-3
    places = np.array(solved(1)["rk"]["places"])
    assert places[-1, 2] < -0.01
    assert np.abs(np.array(solved(1)["rk"]["tensions"])).min() > 1e-3


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_rank_hears_what_is_wrong(ranks: int) -> None:
    errors = solved(ranks)["errors"]
    expected = {
        "branch": ("MeshError", "4 edges meet at"),
        "no edge": ("MeshError", "is no edge of a cell (hexahedron)"),
        "points": ("MeshError", "needs cells of type 'line'"),
        "contradiction": ("ConstraintError", "contradict the constraint"),
    }
    for name, (kind, text) in expected.items():
        assert len(errors[name]) == ranks
        assert errors[name] == [errors[name][0]] * ranks
        assert errors[name][0][0] == kind
        assert text in errors[name][0][1]
