# SPDX-License-Identifier: BSD-3-Clause
"""Points against deformable facets: tangents, forces in balance, flat and sliding contact."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf import elements
from symancf.assembly.assembler import Assembler
from symancf.assembly.discrete import DiscreteSystem
from symancf.assembly.linearized import Linearized
from symancf.energies import neo_hooke
from tests.refusals import refused
from tests.unit.facing import MATERIAL, SOLIDS, bowl, shifted, stacked, thin_wall, throws, touching


@pytest.mark.filterwarnings("ignore:.*tet4 locks")
@pytest.mark.parametrize(
    ("cell", "mu"),
    [
        *product(["hexahedron", "hexahedron20", "tetra10", "plate"], [0.0, 0.3, 1e-3]),
        *product(["tetra", "hexahedron27", "wedge15"], [0.3]),
    ],
)
def test_tangents_are_derivatives_and_forces_balance(cell: str, mu: float) -> None:
    """On facets distorted at random; mu = 0.3 sticks, 1e-3 slides."""
    A, B, contact = stacked(cell, mu, bend=0.2)
    system, rng = sa.System(A, B, terms=[contact]), np.random.default_rng(1)
    for k in range(len(system._discrete.numbering.blocks)):
        at = system._discrete.numbering.coordinates_of(k)
        system.state[at] += 0.005 * rng.standard_normal(at.shape)
    system._discrete.revise(1.0)
    system._discrete.update(1.0)
    touched = [one.form.size for one in system._discrete.binding(contact).passes]
    assert min(touched) > 30
    system.state[:] = u = shifted(system, B, (0.02, 0.01, -0.03))
    w, step = rng.standard_normal(len(u)), 1e-7
    f, Kw, up, down, kept = (np.zeros_like(u) for _ in range(5))
    with system._discrete.assembler.only(
        np.array([p.name.startswith("contact") for p in system._discrete.forms])
    ):
        assert system._discrete.assembler.residual(u, f) == 0
        system._discrete.assembler.product(u, w, Kw)
        linear = Linearized()
        assert system._discrete.assembler.linearize(u, linear) == 0
        system._discrete.assembler.product(np.zeros_like(u), w, kept, linear)  # asks for no state
        assert np.abs(kept - Kw).max() < 1e-14 * np.abs(Kw).max()
        system._discrete.assembler.residual(u + step * w, up)
        system._discrete.assembler.residual(u - step * w, down)
    error = (up - down) / (2.0 * step) - Kw
    # it falls with the square of the step, most where many points lie near a rim (27 on tri6)
    assert np.abs(error).max() < 5e-9 * np.abs(Kw).max()
    sums, size = system._discrete.wrench(f, np.zeros(3)), np.abs(f).sum()
    assert size > 0.1
    assert np.abs(sums[:3]).max() < 1e-14 * size
    # the couple is the gap times the friction: here up to 6 % of the size
    assert np.abs(sums[3:]).max() < (0.06 * mu + 1e-14) * size
    system._discrete.assembler.product(u, w, Kw)
    system._discrete.assembler.tangent(u, f, system._discrete.matrix)
    x, y = system._discrete.matrix.mat.createVecs()
    x.setArray(system._discrete.numbering.to_rows(w))
    system._discrete.matrix.mat.mult(x, y)
    assert (
        np.abs(y.getArray() - system._discrete.numbering.to_rows(Kw)).max()
        < 1e-14 * np.abs(Kw).max()
    )


def test_forces_begin_at_nothing_where_a_foot_comes_onto_a_side() -> None:
    """The upper block is moved until its rim is over points of the lower one."""
    A, B, contact = stacked("hexahedron")
    system, forces = sa.System(A, B, terms=[contact]), []
    rim = (1.0 - 1.0 / np.sqrt(3.0)) / 6.0  # of cells of 1/3, quadrature of two points
    system.state[:] = shifted(system, B, (rim, 0.0, -0.03))
    system._discrete.revise(1.0)
    for x in (-1e-8, 1e-8):
        forces.append(np.zeros_like(system.state))
        assert (
            system._discrete.assembler.residual(shifted(system, B, (x, 0.0, 0.0)), forces[-1]) == 0
        )
    assert np.abs(forces[0]).max() > 0.01
    assert np.abs(forces[1] - forces[0]).max() < 1e-6 * np.abs(forces[0]).max()


@pytest.mark.filterwarnings("ignore:.*tet4 locks")
@pytest.mark.parametrize(
    ("cell", "n", "most"),
    [
        ("hexahedron", ((4, 4, 2), (3, 5, 2)), 0.01),
        ("hexahedron", ((4, 4, 2),) * 2, 1e-10),
        ("hexahedron20", ((2, 3, 1),) * 2, 1e-10),
        ("tetra10", ((2, 3, 1),) * 2, 1e-10),
        ("tetra", ((2, 3, 1),) * 2, 1e-10),
        ("hexahedron27", ((2, 3, 1),) * 2, 1e-10),
        ("wedge15", ((2, 3, 1),) * 2, 1e-10),
    ],
)
def test_pressure_passes_flat_interfaces(
    cell: str, n: tuple[tuple[int, ...], ...], most: float
) -> None:
    """Two blocks between rollers: one stress, within 1 % where the meshes do not match."""
    A, B, contact = stacked(cell, n=n)
    rollers = [sa.fix(body[f"{axis}0"], axis) for body in (A, B) for axis in "xy"]
    press = sa.fix(B["z1"], "z", displacement=(0.0, 0.0, -0.05))
    system = sa.System(A, B, terms=[contact, *rollers, sa.fix(A["z0"], "z"), press])
    problem = sa.StaticProblem(system)
    problem.solve()
    assert problem.history.steps[-1].iterations <= 5
    for body in (A, B):
        u = system.displacement(body.at(_grid(body)))
        X = _grid(body)
        slope = np.polyfit(X[:, 2], u[:, 2], 1)[0]
        error = u[:, 2] - u[:, 2].mean() - slope * (X[:, 2] - X[:, 2].mean())
        assert np.abs(error).max() < most * np.abs(slope) * 0.5


def _grid(body: sa.Body) -> np.ndarray:
    z = 0.25 if body.name == "lower" else 0.75
    x, y, dz = np.meshgrid([0.1, 0.5, 0.9], [0.1, 0.5, 0.9], [-0.1, 0.1])
    return np.stack([x.ravel(), y.ravel(), z + dz.ravel()], axis=1)


def test_what_is_joined_or_overlaps_cannot_touch() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 2))
    block = sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), name="block", **MATERIAL)
    other = sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), name="other", **MATERIAL)
    with refused(sa.ConstraintError, asked="common nodes", given=4):
        sa.System(block, other, terms=[sa.Contact(block["z0"], other["z0"])])
    A, _, _ = stacked("hexahedron")
    sunk = sa.Mesh.box((1.0, 1.0, 0.5), (2, 2, 1), warp=bowl(0.3, 0.0))
    B = sa.Body(sunk["body"], elements.hex8_plain, neo_hooke(), name="sunk", **MATERIAL)
    low = sa.Contact(A["z1"], B["z0"], name="deep")
    with refused(
        sa.ConstraintError, asked="overlap", given=pytest.approx(0.2), possible=("press", "release")
    ):
        sa.System(A, B, terms=[low])


def overlapping(depth: float, initial: Any) -> tuple[sa.System, sa.Contact]:
    """Return two blocks that lie in each other in the reference, held far from that."""
    bodies = []
    for name, cells, z in (("low", (3, 3, 2), 0.0), ("high", (4, 3, 2), 0.5 - depth)):
        mesh = sa.Mesh.box((1.0, 1.0, 0.5), cells, warp=lambda x, z=z: x + np.array([0, 0, z]))
        given = {"name": name, "rho": 1e-3, **MATERIAL}
        bodies.append(sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), **given))
    low, high = bodies
    on = sa.Contact(low["z1"], high["z0"], mu=0.3, initial=initial, name="on")
    return sa.System(low, high, terms=[on, sa.fix(low["z0"]), sa.fix(high["z1"])]), on


def test_what_overlaps_at_the_start_presses_or_is_let_out() -> None:
    """Pressed at once by an overlap of 0.06, of cells of 0.25; let out in eight parts."""
    with refused(
        sa.ConstraintError,
        asked="overlap",
        given=pytest.approx(0.06),
        possible=("press", "release"),
    ):
        overlapping(0.06, None)
    with refused(sa.ConstraintError, asked="overlap", given=pytest.approx(0.2), possible=()):
        overlapping(0.2, "release")
    system, on = overlapping(0.06, "press")
    system._discrete.revise(0.0)
    at_once = on.force(system)[2]
    sa.StaticProblem(system).solve()
    pressed = on.force(system)[2]
    assert at_once == pytest.approx(-0.06 * 40.0, rel=0.05)  # c E/l of the area 1
    first = 0.0
    for steps in (1, 30):
        system, on = overlapping(0.06, "release")
        sa.DynamicProblem(system, spectral_radius=0.0).solve(to=0.5 * steps, step=0.5)
        first = first or on.force(system)[2]
    assert first == pytest.approx(at_once / 8.0, rel=0.05)
    assert on.force(system)[2] == pytest.approx(pressed, rel=0.02)


@pytest.mark.filterwarnings("ignore:contact:UserWarning")
def test_no_throw_ends_behind_a_thin_wall() -> None:
    """More of them are in tests.campaign."""
    system, cube = thin_wall()
    rng = np.random.default_rng(3)
    wrong, through = throws(system, cube, rng, 24)
    assert not wrong
    assert 5 < through < 20


def test_blocks_that_fly_freely_meet_and_exchange_their_momentum() -> None:
    """Lists are made in flight, where no step has needed a tangent."""
    bodies = []
    for name, at in (("struck", 0.0), ("thrown", 2.0)):
        mesh = sa.Mesh.box(
            (1.0, 1.0, 1.0), (1, 1, 1), warp=lambda x, at=at: x + np.array([at, 0, 0])
        )
        given = {"name": name, "rho": 1.0, **MATERIAL}
        bodies.append(sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), **given))
    struck, thrown = bodies
    contact = sa.Contact(thrown["x0"], struck["x1"])
    system = sa.System(*bodies, terms=[contact])
    system.rate[:] = shifted(system, thrown, np.array([-0.1, 0.0, 0.0]))
    problem = sa.DynamicProblem(system)
    problem.record("force", lambda: contact.force(system, on=struck))
    run = problem.solve(to=18.0, step=0.1)
    impulse = run["force"].sum(axis=0) * 0.1
    along = system._discrete.numbering.offset[:, 0]
    gained = system.rate[along[system._discrete.points[:, 0] < 1.5]].mean()
    assert impulse == pytest.approx([gained, 0.0, 0.0], rel=1e-2, abs=1e-10)
    assert -0.1 < gained < -0.08  # the rest swings
    assert contact.clearance(system) > 0.1
    assert 0.85 < (problem.energies.kinetic + problem.energies.strain) / 5e-3 < 1.001


@pytest.mark.parametrize(
    ("rounded", "ends", "cells"),
    [(0.08, False, (6, 1, 3)), (0.0, True, (6, 1, 3)), (0.0, False, (8, 1, 4))],
)
def test_a_block_is_dragged_over_a_bump(
    rounded: float, ends: bool, cells: tuple[int, int, int]
) -> None:
    """Friction 0.3, 32 steps; in statics the work of the drag is stored or dissipated.

    With edges that are rounded, or sharp: with its ends as a part of the side, and without.
    """

    def bump(x: np.ndarray) -> np.ndarray:
        x = x * [3.0, 1.0, 1.0]
        up = 0.12 * np.exp(-(((x[:, 0] - 1.5) / 0.4) ** 2)) * x[:, 2] / 0.5
        return np.asarray(x + up[:, None] * [0.0, 0.0, 1.0])

    def sledge(x: np.ndarray) -> np.ndarray:
        up = rounded * (2.0 * (x[:, 0] - 0.5)) ** 4 * (1.0 - x[:, 2] / 0.5)
        return np.asarray(x * [0.7, 1.0, 0.8] + [0.1, 0.0, 0.52] + up[:, None] * [0.0, 0.0, 1.0])

    def drag(time: float) -> np.ndarray:
        return np.array([2.0 * max(time - 1.0, 0.0), 0.0, -0.08 * min(time, 1.0)])

    low = sa.Mesh.box((1.0, 1.0, 0.5), (20, 1, 4), warp=bump)
    high = sa.Mesh.box((1.0, 1.0, 0.5), cells, warp=sledge)
    strip = sa.Body(low["body"], elements.hex8_plain, neo_hooke(), name="strip", **MATERIAL)
    block = sa.Body(high["body"], elements.hex8_plain, neo_hooke(), name="block", **MATERIAL)
    side = high["z0"] | high["x0"] | high["x1"] if ends else high["z0"]
    contact = sa.Contact(strip["z1"], block[side], mu=0.3, penetration=0.05 if ends else 0.5)
    pull = sa.fix(block["z1"], displacement=drag)
    system = sa.System(strip, block, terms=[contact, sa.fix(strip["z0"]), pull])
    problem = sa.StaticProblem(system, options={"snes_rtol": 1e-9})
    problem.solve(to=1.0)
    stored, before, work = sum(system.energies().values()), np.zeros(3), 0.0
    for k in range(32):
        problem.solve(to=1.0 + (k + 1) / 32)
        force = np.ravel(pull.reaction(system).force)
        work += float((force + before)[0] / 2.0 * 2.0 / 32 if k else force[0] * 2.0 / 32)
        before = force
        on_block = contact.force(system, on=block)
        assert np.abs(on_block + force).max() < 1e-7 * np.abs(force).max()
    iterations = [step.iterations for step in problem.history.steps[1:]]
    assert np.mean(iterations) <= (8.0 if rounded else 10.0)
    gone = sum(system._discrete.memory.gathered(f"contact:{k}")["dissipated"].sum() for k in (1, 2))
    left = work + stored - sum(system.energies().values()) - gone
    assert gone > 0.01
    assert abs(left) < 0.05 * work, (left, work, gone)


@pytest.mark.filterwarnings("ignore:.*tet4 locks")
@pytest.mark.parametrize(
    ("low", "high"),
    [("tetra10", "hexahedron"), ("tetra", "hexahedron"), ("wedge15", "tetra")],
)
def test_blocks_of_one_outline_press_at_once(low: str, high: str) -> None:
    """Points lie on edges between triangles at the rim: forces do not jump there."""
    bodies = []
    for name, cell, at in (("lower", low, 0.0), ("upper", high, 0.5)):
        mesh = sa.Mesh.box(
            (1.0, 1.0, 0.5), (2, 2, 1), cell=cell, warp=lambda x, at=at: x + np.array([0, 0, at])
        )
        bodies.append(sa.Body(mesh["body"], SOLIDS[cell], neo_hooke(), name=name, **MATERIAL))
    A, B = bodies
    press = sa.fix(B["z1"], "z", displacement=lambda t: (0.0, 0.0, -1e-2 * t))
    held = [
        sa.fix(body[side], axis) for body in bodies for side, axis in (("x0", "x"), ("y0", "y"))
    ]
    terms = [*held, sa.fix(A["z0"], "z"), press, sa.Contact(A["z1"], B["z0"])]
    system = sa.System(A, B, terms=terms)
    history = sa.StaticProblem(system).solve()
    assert history.cut_backs == 0
    assert sum(step.iterations for step in history.steps) <= 4
    mu, lam = MATERIAL["mu"], MATERIAL["lam"]
    young = mu * (3.0 * lam + 2.0 * mu) / (lam + mu)
    # the contact gives like 1/20 of the height: k = 10 E/l of cells with l = 0.5
    assert press.reaction(system).force[2] == pytest.approx(-young * 0.01 / 1.05, rel=0.02)


def test_what_is_done_for_all_contacts_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many contacts there are, so that a step costs as many times one of them."""
    spied = (DiscreteSystem, "snapshot"), (Assembler, "_place"), (Assembler, "replace")
    counts: list[dict[str, int]] = []

    def count(kind: type, name: str) -> None:
        given = getattr(kind, name)

        def counted(own: Any, *more: Any) -> Any:
            counts[-1][name] += 1
            return given(own, *more)

        monkeypatch.setattr(kind, name, counted)

    def block(name: str, at: tuple[float, float, float]) -> sa.Body:
        mesh = sa.Mesh.box((1.0, 1.0, 0.5), (1, 1, 1), warp=lambda x: x + np.array(at))
        return sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), name=name, **MATERIAL)

    for kind, name in spied:
        count(kind, name)
    for pairs in (1, 3):
        bodies, terms = [], []
        for k in range(pairs):
            low, high = block(f"low{k}", (2.0 * k, 0, 0)), block(f"high{k}", (2.0 * k, 0, 0.51))
            touch = touching(low["z1"], high["z0"], 0.3)
            push = sa.fix(high["z1"], displacement=lambda t: (0.05 * t, 0.0, -0.03 * t))
            bodies, terms = [*bodies, low, high], [*terms, touch, push, sa.fix(low["z0"])]
        counts.append(dict.fromkeys((name for _, name in spied), 0))
        problem = sa.StaticProblem(sa.System(*bodies, terms=terms))
        problem.solve(to=1.0, step=0.5)
        assert sum(touch.status(problem.system)[1:]) > 0
    assert counts[0] == counts[1]
    assert min(counts[0].values()) > 0
