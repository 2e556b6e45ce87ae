# SPDX-License-Identifier: BSD-3-Clause
"""What the C runtime refuses before it would write beyond its arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.assembly.piece import Cells
from symancf.assembly.plan import Plan


def test_cells_with_more_nodes_than_the_runtime_holds_are_refused() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    body = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke, mu=1.0, lam=1.0)
    system = sa.System(body)
    piece = system.pieces[0]
    assert isinstance(piece.entities, Cells)
    blocks, maps = (np.repeat(a, 2, axis=1) for a in (piece.entities.blocks, piece.entities.maps))
    larger = dataclasses.replace(piece, entities=Cells(blocks, maps))
    with pytest.raises(ValueError, match="cells of 16 nodes with 0 slopes; the runtime holds 8"):
        Plan([larger], system.numbering, system.reference, system.comm)


def test_values_of_slots_have_their_names() -> None:
    body = sa.PlanarBody()
    plain = sa.VirtualWork(lambda v_a, r_a: {v_a[0]: -r_a[0]}, body.at((0, 0)), name="plain")
    pushed = sa.VirtualWork(_push, body.at((0, 0)), name="pushed", P=7.0)
    plan = sa.System(body, terms=[plain, pushed]).plan
    plan.update(0.0)
    values = np.concatenate(plan.slots)
    assert dict(zip(plan.slot_names(), values.tolist(), strict=True)) == {"P of 'pushed'": 7.0}


def _push(v_a: Any, *, P: Any) -> dict[Any, Any]:
    return {v_a[0]: P}
