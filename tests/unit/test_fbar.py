# SPDX-License-Identifier: BSD-3-Clause
"""The hexahedron with the mean dilatation: derivatives, patches of any cells, rest, no locking."""

from __future__ import annotations

import numpy as np
import pytest

import symancf as sa
from symancf.laws import energy_laws
from symancf.laws.accuracy import digits_lost
from symancf_codegen.compiler import compile_cells
from tests.quantities import FAST
from tests.unit.test_enhanced import RUBBER, distorted

hex8_fbar, hex8_plain = sa.elements.hex8_fbar, sa.elements.hex8_plain


def test_tangent_is_symmetric_and_affine_states_are_those_of_hex8_plain() -> None:
    laws = energy_laws(hex8_fbar, sa.energies.yeoh())
    made = compile_cells("fbar", hex8_fbar.space, laws, FAST, ("energy", "residual", "tangent"))
    plain = energy_laws(hex8_plain, sa.energies.yeoh())
    other = compile_cells("plain", hex8_plain.space, plain, FAST, ("residual",))
    X, u = distorted(64)
    v, h = np.random.default_rng(4).normal(size=u.shape), 1e-5
    for size in (1e-8, 1e-2, 0.1):  # unknowns of cells are found in all of them
        f, K, bad = made.tangent(size * u, X, RUBBER)
        assert bad == 0
        assert np.abs(K - K.swapaxes(1, 2)).max() < 1e-12 * np.abs(K).max()
    Kv = np.einsum("nij,nj->ni", K, v.reshape(64, 24)).reshape(u.shape)
    ahead, back = (made.residual(size * u + s * v, X, RUBBER)[0] for s in (h, -h))
    np.testing.assert_allclose((ahead - back) / (2 * h), Kv, atol=1e-7 * np.abs(Kv).max())
    ahead, back = (made.energy(size * u + s * v, X, RUBBER)[0] for s in (h, -h))
    slope = (f * v).sum((1, 2))
    np.testing.assert_allclose((ahead - back) / (2 * h), slope, atol=1e-7 * np.abs(slope).max())
    affine = X @ np.random.default_rng(5).uniform(-0.2, 0.2, (3, 3))
    exact = other.residual(affine, X, RUBBER)[0]
    found = made.residual(affine, X, RUBBER)[0]
    np.testing.assert_allclose(found, exact, atol=1e-11 * np.abs(exact).max())
    assert np.all(made.residual(0.0 * X, X, RUBBER)[0] == 0.0)
    assert max(digits_lost(laws, RUBBER)) < 2.0


@pytest.mark.collective
def test_volume_does_not_lock_in_metres_and_millimetres() -> None:
    """A cube pressed between glued plates: theta, not J at points, is near 1."""
    tips = []
    for unit, stress in ((1.0, 1e6), (1e3, 1.0)):
        mesh = sa.Mesh.box((unit, unit, unit), (3, 3, 3))
        given = {"C10": 0.5 * stress, "C20": 0.0, "C30": 0.0, "k": 1e4 * stress}
        body = sa.Body(mesh["body"], hex8_fbar, sa.energies.yeoh(), **given)
        load = sa.traction(body["z1"], (0.0, 0.0, -0.3 * stress))
        system = sa.System(body, terms=[sa.fix(body["z0"]), load])
        sa.StaticProblem(system).solve()
        tips.append(system.displacement(body["z1"])[:, 2].mean() / unit)
    assert tips[0] == pytest.approx(tips[1], rel=1e-9)
    assert tips[0] == pytest.approx(-0.081, abs=2e-3)  # hex8: -0.078, hex8_plain: -0.001
