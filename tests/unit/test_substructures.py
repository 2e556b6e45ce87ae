# SPDX-License-Identifier: BSD-3-Clause
"""BDDC of plates, as the campaign measures it: right, at any number of subdomains."""

from __future__ import annotations

import numpy as np
import pytest

from tests.campaign.substructures import BDDC, COARSE, WIDTH, Plate, Substructures, iterations


@pytest.mark.parametrize("coarse", COARSE)
@pytest.mark.parametrize("state", ["flat", "curved", "stretched"])
def test_iterations_do_not_grow_with_subdomains(state: str, coarse: str) -> None:
    counts = []
    for along in (3, 5):
        parts = Substructures(Plate(0.01, state, along, 3))
        b = np.zeros(WIDTH * int(parts.shared.sum()))
        b[2::WIDTH] = 1.0
        bddc = BDDC(parts, coarse)
        count, condition, residual = iterations(bddc, b)
        assert residual < 1e-7
        assert condition < 20.0
        counts.append(count)
    assert counts[1] < 1.3 * counts[0]  # 19 and 23 or 24, by the last bits


@pytest.mark.parametrize("state", ["flat", "curved", "stretched"])
def test_subdomains_together_have_the_rigid_motions_of_the_plate(state: str) -> None:
    """A turn of subdomains, or nodes that do not fit, would leave forces."""
    parts = Substructures(Plate(0.01, state, 2, 3))
    parts.clamped[:] = False
    parts.shared = parts.count > 1
    S = np.zeros((WIDTH * int(parts.shared.sum()),) * 2)
    for k in range(len(parts.nodes)):
        at, own = parts.schur(k)
        S[np.ix_(at, at)] += own
    q = parts.q[parts.shared].reshape(-1, 4, 3)
    for axis in np.eye(3):
        shift = np.zeros_like(q)
        shift[:, 0] = axis
        assert np.abs(S @ shift.ravel()).max() < 1e-9 * np.abs(S).max()
        if state != "stretched":  # stress turns with it
            turn = np.cross(axis, q).ravel()
            assert np.abs(S @ turn).max() < 1e-9 * np.abs(S).max()
