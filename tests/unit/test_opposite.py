# SPDX-License-Identifier: BSD-3-Clause
"""Terms at two regions: their nodes are paired by position; arrays of points by their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import symancf as sa
from tests.refusals import refused

AXIS = np.array([1.0, 2.0, 0.5])
Q = Rotation.from_rotvec(np.radians(37.0) * AXIS / np.linalg.norm(AXIS)).as_matrix()
N = 3


def block(name: str, low: float, *, seed: int | None, size: float, bump: float = 0.0) -> sa.Body:
    """Return a plate of N x N cells with faces "low" and "top", numbered at random with a seed."""
    made = sa.Mesh.box((1.0, 1.0, 0.2), (N, N, 1))
    X = made.fetch_points(np.arange(made.n_points))
    cells = np.concatenate(made.comm.allgather(made["body"].slice("hexahedron")[1]))
    new = np.arange(len(X)) if seed is None else np.random.default_rng(seed).permutation(len(X))
    X[:, 2] += low + bump * X[:, 0] * (1.0 + X[:, 1])
    mesh = sa.Mesh.from_arrays(
        size * X[np.argsort(new)] @ Q.T,
        {"hexahedron": new[cells]},
        {"body": ("hexahedron", range(len(cells)))},
        name=name,
    )

    def height(X: np.ndarray) -> np.ndarray:
        X = X @ Q / size
        return np.asarray(X[:, 2] - low - bump * X[:, 0] * (1.0 + X[:, 1]))

    mesh.select("low", lambda X: height(X) < 1e-9)
    mesh.select("top", lambda X: height(X) > 0.2 - 1e-9)
    mesh.select("side", lambda X: (X @ Q)[:, 0] < 1e-9 * size)
    law = sa.energies.neo_hooke()
    return sa.Body(mesh["body"], sa.elements.hex8_plain, law, name=name, mu=1.0, lam=1.0, rho=1.0)


def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
    return k / 2 * (r_b - r_a).dot(r_b - r_a)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("size", [1.0, 1e-3])
@pytest.mark.parametrize("bump", [0.0, 0.05])
def test_nodes_of_two_regions_are_paired_by_position(bump: float, size: float) -> None:
    """Springs across a gap of 0.1 to 0.2, whose numbers are known, and forces that pull."""
    a = block("a", 0.0, seed=None, size=size)
    energies = []
    for seed in (None, 5, 8):
        b = block("b", 0.3, seed=seed, size=size, bump=bump)
        X = a["top"].X @ Q / size
        gap = 0.1 + bump * X[:, 0] * (1.0 + X[:, 1])
        k = 1.0 + X[:, 0] + 7.0 * X[:, 1] ** 2  # in the order of the first region
        links = sa.Potential(spring, a["top"], b["low"], k=k)
        back = sa.Potential(spring, b["low"], a["top"], k=2.0)
        pull = sa.VirtualWork(lambda r_a, v_a, r_b, v_b: {(v_b - v_a).dot(r_b - r_a): -1.0},
                              a["top"], b["low"])  # fmt: skip
        rods = sa.Constraint(lambda r_a, r_b, *, d: (r_b - r_a).dot(r_b - r_a) - d**2,
                             b["low"], a["top"], d=size)  # fmt: skip
        system = sa.System(a, b, terms=[sa.fix(a["low"]), links, back, pull, rods])
        assert links.values(system) == pytest.approx(k * gap**2 / 2 * size**2, rel=1e-9)
        both = float(np.sum(back.values(system))), float(np.sum(gap**2) * size**2)
        assert both[0] == pytest.approx(both[1], rel=1e-9)
        ends = [end.resolve(system._discrete.layout).everywhere(system.comm).X for end in rods.ends]
        assert np.abs((ends[0] - ends[1]) @ Q / size)[:, :2].max() < 1e-9
        energies.append(both[0])
    assert np.ptp(energies) < 1e-12 * energies[0]


@pytest.mark.collective
def test_regions_behind_a_single_node_are_paired_with_each_other() -> None:
    a, b = (block(name, z, seed=s, size=1.0) for name, z, s in (("a", 0.0, 3), ("b", 0.3, 5)))
    a.region.mesh.select("corner", lambda X: np.linalg.norm(X, axis=1) < 1e-9, dimension=0)

    def law(r_a: Any, r_b: Any, r_c: Any) -> Any:
        return (r_c - r_b).dot(r_c - r_b) + 0 * r_a[0]

    links = sa.Potential(law, a["corner"], a["top"], b["low"])
    again = sa.Potential(law, *links.ends)
    other = sa.Potential(spring, *links.ends[2:0:-1], k=2.0)
    system = sa.System(a, b, terms=[links, again, other])
    for term in (links, again, other):
        assert term.values(system) == pytest.approx(np.full(16, 0.01), rel=1e-9)


@pytest.mark.collective
def test_regions_that_do_not_lie_opposite_are_refused() -> None:
    a, b = (block(name, z, seed=s, size=1.0) for name, z, s in (("a", 0.0, 3), ("b", 0.3, 5)))
    cases: list[tuple[Any, dict[str, Any]]] = [
        ((a["top"], b["side"]), {"asked": "number of places", "given": (16, 8)}),
        ((a["top"], b["body"]), {"asked": "number of places", "given": (16, 32)}),
    ]
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    law = sa.energies.neo_hooke()
    cube = sa.Body(mesh["body"], sa.elements.hex8_plain, law, name="cube", mu=1.0, lam=1.0)
    data: dict[str, Any] = {"asked": "opposite places"}
    distances = {
        "given": pytest.approx((0.5, 0.5**0.5)),
        "possible": pytest.approx((0.5**0.5 / 3,)),
    }
    cases.append(((cube["x0"], cube["y0"]), data | distances))
    high = [0.0, 0.0, 0.8]
    lens = sa.Mesh.box(
        (1.0, 1.0, 1.0),
        (2, 2, 2),
        warp=lambda X: X + (X[:, 2:] > 0.9) * high * np.sin(np.pi * X[:, :1]),
    )
    bent = sa.Body(lens["body"], sa.elements.hex8_plain, law, name="bent", mu=1.0, lam=1.0)
    distances = {"given": pytest.approx((0.8 * 2 / 3, 0.5 + 0.2 / 3))}
    cases.append(((bent["z0"], bent["z1"]), data | distances))
    for ends, expected in cases:
        with refused(sa.ConstraintError, **expected):
            sa.System(a, b, cube, bent, terms=[sa.Potential(spring, *ends, k=1.0)])


@pytest.mark.collective
def test_points_are_paired_in_the_order_that_they_are_given_in() -> None:
    """Between arrays of points, and between one and the nodes of a region in the order of its X."""
    a, b = (block(name, z, seed=s, size=1.0) for name, z, s in (("a", 0.0, 3), ("b", 0.3, 5)))
    X, turn = a["top"].X, np.random.default_rng(1).permutation(16)
    shift = 0.1 * Q[:, 2]
    right = np.linalg.norm(X[turn] + shift - X, axis=1) ** 2 / 2
    points = b.at(X[turn] + shift)
    for ends in ((a["top"], points), (a.at(X), points)):
        links = sa.Potential(spring, *ends, k=1.0)
        system = sa.System(a, b, terms=[links])
        assert links.values(system) == pytest.approx(right, rel=1e-9)


def test_many_nodes_are_paired_at_once() -> None:
    """4e4 nodes of each region, in another order."""
    mesh = sa.Mesh.box((1.0, 1.0), (200, 200))
    turned = sa.Mesh.box((1.0, 1.0), (200, 200), warp=lambda X: X[:, [1, 0, 2]] * [1, -1, 1])
    law, given = sa.energies.kirchhoff(), {"E": 1.0, "nu": 0.3, "thickness": 0.1}
    a, b = (
        sa.Body(m["body"], sa.elements.ancf_thin_plate, law, name=name, **given)
        for m, name in ((mesh, "a"), (turned, "b"))
    )
    near = sa.joints.spherical(a["body"], b["body"])
    layout = sa.System(a, b)._discrete.layout
    first, second = (end.resolve(layout).X for end in near.ends)
    assert np.abs(second - first + [0.0, 1.0, 0.0]).max() < 1e-12
