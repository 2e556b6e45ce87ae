# SPDX-License-Identifier: BSD-3-Clause
"""Sizes beyond numbers of 32 bits are told on every rank (with a smaller limit here)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import symancf as sa
from symancf.energies import cable
from symancf.runtime import limits

pytestmark = pytest.mark.collective


def rope() -> sa.System:
    mesh = sa.Mesh.box((1.0,), (12,))
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name="rope", EA=1.0, EI=1.0)
    return sa.System(body, terms=[sa.fix(body["x0"])])


@pytest.mark.parametrize(
    ("most", "made", "told"),
    [
        (20, rope, r"coordinates on rank \d of \d, and 20 .* are possible on one.*more ranks"),
        (71, rope, r"(78 unknowns in all, and 71 .* are possible)|(coordinates on rank)"),
        (90, lambda: rope().matrix, r"entries of the tangent on rank \d of \d, and 90 "),
    ],
)
def test_what_cannot_be_counted_is_told(
    monkeypatch: pytest.MonkeyPatch, most: int, made: Callable[[], object], told: str
) -> None:
    monkeypatch.setattr(limits, "MOST", most)
    with pytest.raises(sa.SymancfError, match=told):
        made()


def test_what_can_be_counted_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    system = rope()
    here = max(system.matrix.nonzeros, system.numbering.coordinates, 78)
    monkeypatch.setattr(limits, "MOST", max(system.comm.allgather(here)))
    assert rope().matrix.nonzeros == system.matrix.nonzeros
