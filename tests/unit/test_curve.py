# SPDX-License-Identifier: BSD-3-Clause
"""Large meshes are cut along Morton's curve: balanced, with few ghosts, and results stay."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.mesh.partition import ownership
from symancf.mesh.partition.ownership import along_curve

pytestmark = pytest.mark.collective
COMM = MPI.COMM_WORLD


def pulled(n: int) -> sa.System:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n))
    given = {"mu": 1.0, "lam": 2.0}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    pull = sa.fix(body["x1"], displacement=lambda t: (0.2 * t, 0.0, 0.0))
    return sa.System(body, terms=[sa.fix(body["x0"]), pull])


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6])
def test_parts_have_the_same_weight(scale: float) -> None:
    rng = np.random.default_rng(COMM.rank)
    X = (
        rng.normal(size=(4000 + 500 * COMM.rank, 3)) * scale * np.array([1.0, 0.3, 0.01])
        + 7 * scale
    )
    weights = rng.uniform(1.0, 3.0, len(X))
    part = along_curve(COMM, X, weights)
    total = COMM.allreduce(np.bincount(part, weights, minlength=COMM.size))
    assert len(total) == COMM.size
    np.testing.assert_allclose(total, total.mean(), rtol=0, atol=3.0)


def test_a_line_is_cut_into_pieces_in_its_order() -> None:
    mine = slice(1000 * COMM.rank, 1000 * (COMM.rank + 1))
    every = np.random.default_rng(1).permutation(1000 * COMM.size)
    X = np.zeros((1000, 3))
    X[:, 1] = every[mine]
    part = along_curve(COMM, X, np.ones(1000))
    both = np.concatenate(COMM.allgather(np.stack([every[mine], part], axis=1)))
    ordered = both[np.argsort(both[:, 0]), 1]
    np.testing.assert_array_equal(ordered, np.repeat(np.arange(COMM.size), 1000))


def test_places_of_no_extent_and_none_at_all_have_a_part() -> None:
    part = along_curve(COMM, np.ones((5, 3)), np.ones(5))
    assert ((part >= 0) & (part < COMM.size)).all()
    assert not len(along_curve(COMM, np.zeros((0, 3)), np.zeros(0)))


def test_a_solution_is_that_of_the_other_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for most in (10**6, 0):
        monkeypatch.setattr(ownership, "VERTICES_OF_GRAPH", most)
        system = pulled(8)
        sa.StaticProblem(system).solve()
        topology = system._discrete.topology
        owned = np.array([topology.n_owned, topology.n_local - topology.n_owned - topology.room])
        every = np.array(COMM.allgather(owned))
        u = np.array([float(np.square(system.state[: 3 * topology.n_owned]).sum())])
        found.append((system._discrete.sum(u)[0], system.strain_energy(), every))
    (norm, energy, graph), (norm_by_curve, energy_by_curve, curve) = found
    assert norm_by_curve == pytest.approx(norm, rel=1e-8)
    assert energy_by_curve == pytest.approx(energy, rel=1e-9)
    if COMM.size > 1:
        assert curve[:, 0].max() <= 1.15 * curve[:, 0].mean()
        assert curve[:, 1].sum() <= 2.0 * graph[:, 1].sum()
