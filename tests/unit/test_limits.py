# SPDX-License-Identifier: BSD-3-Clause
"""Sizes beyond numbers of 32 bits are told on every rank (with a smaller limit here)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import symancf as sa
from symancf.energies import cable
from symancf.runtime import limits
from tests.refusals import refused

pytestmark = pytest.mark.collective


def rope() -> sa.System:
    mesh = sa.Mesh.box((1.0,), (12,))
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name="rope", EA=1.0, EI=1.0)
    return sa.System(body, terms=[sa.fix(body["x0"])])


@pytest.mark.parametrize(
    ("most", "made", "what"),
    [
        (20, rope, ("coordinates",)),
        (71, rope, ("unknowns", "coordinates")),
        (90, lambda: rope().matrix, ("entries of the tangent",)),
    ],
)
def test_what_cannot_be_counted_is_told(
    monkeypatch: pytest.MonkeyPatch, most: int, made: Callable[[], object], what: tuple[str, ...]
) -> None:
    monkeypatch.setattr(limits, "MAX_INT32", most)
    with refused(
        sa.SymancfError,
        asked=lambda found: found in what,
        given=lambda found: found > most,
        possible=(most,),
    ):
        made()


@pytest.mark.collective(rows=0)
def test_what_can_be_counted_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    system = rope()
    here = max(system._discrete.matrix.nonzeros, system._discrete.numbering.coordinates, 78)
    monkeypatch.setattr(limits, "MAX_INT32", max(system.comm.allgather(here)))
    assert rope()._discrete.matrix.nonzeros == system._discrete.matrix.nonzeros
