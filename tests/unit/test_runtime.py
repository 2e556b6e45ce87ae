# SPDX-License-Identifier: BSD-3-Clause
"""What the C runtime refuses before it would write beyond its arrays."""

from __future__ import annotations

import dataclasses

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
