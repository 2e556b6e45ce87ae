# SPDX-License-Identifier: BSD-3-Clause
"""Free rigid motions are named, held bodies are not complained about, on any number of ranks."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

SCRIPT = Path(__file__).with_name("check_held.py")

HELD = (
    "block_at_three_points",
    "sheet_clamped_at_one_node",
    "straight_cable_pinned_at_both_ends",
    "clamped_cable",
    "tied_blocks",
    "tied_plates_are_welded",
    "tied_sheets_are_welded",
    "sheets_that_share_an_edge_with_slopes",
    "stiff_block_on_a_soft_cable",
)

# case -> number of free motions, and parts of their names
FREE: dict[str, tuple[int, tuple[str, ...]]] = {
    "free_block": (
        6,
        ("'block': rotation about x through (1, 0.5, 0.5)", "'block': translation along z"),
    ),
    "free_plate": (6, ("'plate': translation along x",)),
    "free_sheet": (6, ("'sheet': rotation about z",)),
    "free_cable": (5, ("'rope': rotation about y", "'rope': rotation about z")),
    "block_at_one_point": (
        3,
        ("about x through (1, 0, 0)", "about y through (0, 0.5, 0)", "about z"),
    ),
    "block_at_two_points": (1, ("rotation about (0.894, 0.447, 0) through (1, 0.5, 0)",)),
    "block_on_a_hinge_line": (1, ("rotation about y through (0, 0.5, 0)",)),
    "block_in_a_slider": (1, ("'block': translation along x",)),
    "plate_with_fixed_slopes_only": (3, ("translation along x", "along y", "along z")),
    "sheet_with_fixed_slopes_only": (3, ("translation along x", "along y", "along z")),
    "sheet_glued_at_one_node": (1, ("'sheet': rotation about z through (0, 0, 0)",)),
    "plate_with_fixed_positions": (1, ("rotation about y through (0, 0.1, 0)",)),
    "straight_cable_pinned_at_one_end": (
        2,
        ("about y through (0, 0, 0)", "about z through (0, 0, 0)"),
    ),
    "bent_cable_pinned_at_both_ends": (1, ("rotation about (0.878, 0.479, 0)",)),
    "cable_along_a_diagonal_pinned_at_one_end": (2, ("about (0.8, -0.6, 0)", "about z")),
    "two_bodies_one_free": (6, ("'plate': rotation about x through (5.15, 0.1, 0)",)),
    "two_bodies_both_free": (11, ("'block': translation along y", "'rope': translation along y")),
    "block_hung_on_a_ball_joint": (3, ("'second': rotation about z through (2, 0.5, 0.5)",)),
    "tied_sheets_without_weld_are_hinged": (
        1,
        ("'second': rotation about y through (0.3, 0.1, 0)",),
    ),
    "tied_blocks_of_which_none_is_held": (6, ("'block' and 'second': translation along x",)),
    "cable_with_an_end_on_a_sphere": (1, ("'rope': rotation about z through (0, 0, 0)",)),
    "block_on_a_distance": (5, ("translation along y", "translation along z")),
    "sheets_that_share_an_edge_without_slopes": (1, ("'right': rotation about y through (1,",)),
    "planar_body_free": (3, ("'link': rotation about z through (1, 2, 0)",)),
}


@cache
def verdicts(ranks: int) -> Any:
    return run_mpi(ranks, SCRIPT, timeout=180.0, kept=True)


def verdict(case: str, ranks: int) -> dict[str, Any]:
    first, *others = verdicts(ranks)[case]
    assert len(others) == ranks - 1
    assert all(other == first for other in others), others
    return dict(first)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("case", HELD)
def test_a_held_body_is_left_alone(case: str, ranks: int) -> None:
    assert verdict(case, ranks) == {"error": ""}


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("case", FREE)
def test_free_motions_are_named(case: str, ranks: int) -> None:
    found = verdict(case, ranks)
    count, parts = FREE[case]
    assert (found["error"], found["asked"]) == ("ConstraintError", "rigid motion")
    assert len(found["given"]) == count, found
    names: set[str] = set()
    for part in parts:
        of, _, motion = part.rpartition(": ")
        assert any(motion in free for free in found["given"]), found
        names |= set(re.findall(r"'(\w+)'", of))
    assert names in (set(), set(found["names"])), found


def test_no_case_is_missing() -> None:
    assert set(verdicts(1)) == {*HELD, *FREE}
