# SPDX-License-Identifier: BSD-3-Clause
"""Lists of entities that change between steps, on several ranks."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_revisions.py")

FOLDER = Path(tempfile.mkdtemp(prefix="symancf"))

pytestmark = pytest.mark.parallel


@cache
def solved(ranks: int) -> dict[str, Any]:
    """What the script prints."""
    if ranks > 1:
        solved(1)  # writes the checkpoint that others go on from
    found: dict[str, Any] = run_mpi(ranks, SCRIPT, FOLDER, timeout=240.0, kept=True)
    return found


@pytest.mark.parametrize("ranks", [3])
def test_the_numbers_are_those_of_one_rank(ranks: int) -> None:
    motion = solved(ranks)["motion"]
    u, v = (np.array(found["motion"]["u"]) for found in (solved(1), solved(ranks)))
    assert np.abs(v - u).max() <= 1e-10 * np.abs(u).max()
    assert abs(motion["drift"] - solved(1)["motion"]["drift"]) < 1e-9 * motion["energy"]
    for name in ("force", "wheel"):
        one, many = solved(1)[name], solved(ranks)[name]
        u, v = np.array(one["u"]), np.array(many["u"])
        assert np.abs(u).max() > 1e-4
        assert np.abs(v - u).max() <= 1e-10 * np.abs(u).max(), name
        assert one["lent"] == 0
        # all ranks of a cell know it; only what is tied to it must come where no ghost was
        assert (many["lent"] > 0) == (name == "wheel"), name
        assert abs(many["energy"] - one["energy"]) <= 1e-10 * one["energy"]
        assert many["patterns"] == one["patterns"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_bead_slides_on_from_the_checkpoint_of_one_rank(ranks: int) -> None:
    whole, found = solved(1)["bead"]["whole"], solved(ranks)["bead"]
    assert whole["s"][0] > 0.12  # past a node at least
    for course in found.values():
        u, v = np.array(whole["u"]), np.array(course["u"])
        assert np.abs(v - u).max() <= 1e-9 * np.abs(u).max()
        assert abs(course["s"][0] - whole["s"][0]) < 1e-9
        assert course["patterns"] > 0
    if ranks == 1:
        assert found["restored"] | {"patterns": 0} == whole | {"patterns": 0}  # bit for bit


def test_every_rank_raises_and_the_last_state_stays() -> None:
    found = solved(3)["errors"]
    expected = {
        "value": ("ParameterError", "ValueError: no road here"),
        "exit": ("RuntimeError", "exit 3"),
        "off": ("ConstraintError", "is not on body 'plate'"),
        "fewer": ("ParameterError", "has 1 point(s) at time"),
        "apart": ("ParameterError", "must be the same on every rank"),
    }
    for name, (kind, text) in expected.items():
        for said in (found[name], found.get(f"{name} in motion", found[name])):
            assert said[0] == kind, said
            assert text in said[1], said
            assert said[2] is True, name
