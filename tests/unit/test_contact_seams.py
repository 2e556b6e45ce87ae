# SPDX-License-Identifier: BSD-3-Clause
"""Sides of facets of two types, of one body or of two: nothing is seen of the seam."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.assembly.linearized import Linearized
from tests.unit.facing import bowl, shifted
from tests.unit.seams import beside, held, side_of


def stacked(kinds: str, mu: Any = 0.0, bend: float = 0.0, other: str = "") -> Any:
    """Return two blocks of two elements each, one upon the other, with seams at 1/2 and 2/5."""
    low = beside(kinds, (2, 2, 3, 1), warp=bowl(0.0, bend))
    n = (2, 3, 4, 1)
    high = beside(other or kinds, n, seam=0.4, warp=bowl(0.5, bend), name="high")
    contact = sa.Contact(side_of(low, "z1"), side_of(high, "z0"), mu=mu, name="contact")
    return low, high, contact


def lifted(system: sa.System, bodies: Any, by: Any) -> Any:
    """Return the state with the nodes of bodies moved, those in common once."""
    u = system.state.copy()
    for body in bodies:
        new = shifted(system, body, by)
        u = np.where(new != system.state, new, u)
    return u


@pytest.mark.parametrize(
    ("kinds", "mu"), list(product(["second", "first", "one"], [0.0, 0.3, 1e-3]))
)
def test_tangents_are_derivatives_and_forces_balance(kinds: str, mu: float) -> None:
    """On facets distorted at random; mu = 0.3 sticks, 1e-3 slides."""
    low, high, contact = stacked(kinds, mu, bend=0.2)
    system, rng = sa.System(*low, *high, terms=[contact]), np.random.default_rng(1)
    for k in range(len(system._discrete.numbering.blocks)):
        at = system._discrete.numbering.coordinates_of(k)
        system.state[at] += 0.005 * rng.standard_normal(at.shape)
    system._discrete.revise(1.0)
    system._discrete.update(1.0)
    passes = system._discrete.binding(contact).passes
    types = {len(np.unique(one.form.entities.types)) for one in passes}
    assert types == {2}
    system.state[:] = u = lifted(system, high, (0.02, 0.01, -0.03))
    w, step = rng.standard_normal(len(u)), 1e-7
    f, Kw, up, down, kept = (np.zeros_like(u) for _ in range(5))
    with system._discrete.assembler.only(
        np.array([p.name.startswith("contact") for p in system._discrete.forms])
    ):
        assert system._discrete.assembler.residual(u, f) == 0
        system._discrete.assembler.product(u, w, Kw)
        linear = Linearized()
        assert system._discrete.assembler.linearize(u, linear) == 0
        system._discrete.assembler.product(np.zeros_like(u), w, kept, linear)
        assert np.abs(kept - Kw).max() < 1e-14 * np.abs(Kw).max()
        system._discrete.assembler.residual(u + step * w, up)
        system._discrete.assembler.residual(u - step * w, down)
    error = (up - down) / (2.0 * step) - Kw
    assert np.abs(error).max() < 2e-9 * np.abs(Kw).max()
    sums, size = system._discrete.wrench(f, np.zeros(3)), np.abs(f).sum()
    assert size > 0.1
    assert np.abs(sums[:3]).max() < 1e-14 * size
    system._discrete.assembler.product(u, w, Kw)
    system._discrete.assembler.tangent(u, f, system._discrete.matrix)
    x, y = system._discrete.matrix.mat.createVecs()
    x.setArray(system._discrete.numbering.to_rows(w))
    system._discrete.matrix.mat.mult(x, y)
    assert (
        np.abs(y.getArray() - system._discrete.numbering.to_rows(Kw)).max()
        < 1e-14 * np.abs(Kw).max()
    )


@pytest.mark.parametrize(
    ("kinds", "seam", "cells", "most"),
    [
        ("second", 0.4, (2, 3, 4, 1), 0.01),
        ("first", 0.4, (2, 3, 4, 1), 0.01),
        ("second", 0.5, (2, 2, 3, 1), 1e-10),
        ("first", 0.5, (2, 2, 3, 1), 1e-10),
        ("one", 0.5, (2, 2, 3, 1), 0.01),
        ("one", 0.5, (2, 2, 3, 1), 1e-10),
    ],
)
def test_pressure_passes_flat_seams(kinds: str, seam: float, cells: Any, most: float) -> None:
    """Two blocks between rollers: one stress, within 1 % where the meshes do not match.

    Volume over area, and with it the default stiffness, differs by 2 between both facets of wedges.
    """
    low = beside(kinds, (2, 2, 3, 1))
    high = beside(kinds, cells, seam=seam, warp=bowl(0.5, 0.0), name="high")
    k = 20.0 if kinds == "one" and most < 0.01 else None
    contact = sa.Contact(side_of(low, "z1"), side_of(high, "z0"), stiffness=k)
    rollers = [r for bodies in (low, high) for a in "xy" for r in held(bodies, f"{a}0", a)]
    rollers += held(low, "z0", "z") + held(high, "z1", "z", displacement=(0.0, 0.0, -0.05))
    system = sa.System(*low, *high, terms=[contact, *rollers])
    problem = sa.StaticProblem(system)
    problem.solve()
    assert problem.history.steps[-1].iterations <= 5
    x, y, z = (
        a.ravel() for a in np.meshgrid([0.1, 0.3, 0.45, 0.55, 0.9], [0.1, 0.5, 0.9], [-0.1, 0.1])
    )
    for bodies, middle in ((low, 0.25), (high, 0.75)):
        X = np.stack([x, y, middle + z], axis=1)
        split = x < (0.5 if bodies is low else seam)
        parts = [split, ~split] if len(bodies) == 2 else [np.ones(len(x), dtype=bool)]
        u = np.zeros(len(x))
        for body, part in zip(bodies, parts, strict=True):
            u[part] = system.displacement(body.at(X[part]))[:, 2]
        slope = np.polyfit(X[:, 2], u, 1)[0]
        error = u - u.mean() - slope * (X[:, 2] - X[:, 2].mean())
        assert np.abs(error).max() < most * np.abs(slope) * 0.5
    nodal = contact.nodal(system, 1)
    assert len(nodal.ids) == (1 + sum(cells[:2])) * (1 + cells[2])
    assert np.ptp(nodal.pressure) < 50.0 * most * nodal.pressure.mean()


def test_forces_are_the_same_on_both_sides_of_a_seam() -> None:
    """Points pass it; only the facets that they are on change there."""
    low, high, contact = stacked("second")
    system, forces = sa.System(*low, *high, terms=[contact]), []
    point = 0.4 * (1.0 + (1.0 - np.sqrt(0.6)) / 2.0) / 2.0  # the first one of the second cell

    system.state[:] = lifted(system, high, (0.5 - point, 0.0, -0.01))
    system._discrete.revise(1.0)
    for x in (-1e-8, 1e-8):
        forces.append(np.zeros_like(system.state))
        assert (
            system._discrete.assembler.residual(lifted(system, high, (x, 0.0, 0.0)), forces[-1])
            == 0
        )
    assert np.abs(forces[0]).max() > 0.005
    assert np.abs(forces[1] - forces[0]).max() < 1e-6 * np.abs(forces[0]).max()
