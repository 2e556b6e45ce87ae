# SPDX-License-Identifier: BSD-3-Clause
"""The hexahedron with enhanced strain: tangents, patches, bending, stability, what it refuses."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from mpi4py import MPI
from sympy import Rational

import symancf as sa
from symancf.laws import energy_laws
from symancf.laws.accuracy import digits_lost
from symancf_codegen.compiler import compile_cells
from symancf_codegen.modes import STANDARD
from tests.quantities import FAST
from tests.refusals import refused

if TYPE_CHECKING:
    from symancf.arrays import Array
    from symancf.runtime.jit import Kernel

hex8 = sa.elements.hex8
RUBBER = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 1000.0}
TURN = np.array([[0.6, -0.8, 0.0], [0.0, 0.0, -1.0], [0.8, 0.6, 0.0]])


@cache
def kernel(*modes: str) -> Kernel:
    """Return the kernel of nearly incompressible rubber."""
    laws = energy_laws(hex8, sa.energies.yeoh())
    return compile_cells("enhanced", hex8.space, laws, FAST, modes or STANDARD)


def distorted(count: int) -> tuple[Array, Array]:
    """Return points of cells (count, 8, 3) that are no parallelepipeds, and random motions."""
    random = np.random.default_rng(3)
    X = np.array(hex8.topology.vertices, dtype=float)
    return X + random.uniform(-0.15, 0.15, (count, 8, 3)), random.uniform(-1, 1, (count, 8, 3))


def test_forces_and_tangents_are_derivatives_where_unknowns_are_eliminated() -> None:
    k, (X, u), h = kernel(), distorted(11), 1e-5
    u *= 0.1
    v = np.random.default_rng(4).normal(size=u.shape)
    f, K, bad = k.tangent(u, X, RUBBER)
    assert bad == 0
    assert np.abs(K - K.swapaxes(1, 2)).max() < 1e-11
    ahead, back = (k.residual(u + s * v, X, RUBBER)[0] for s in (h, -h))
    Kv = np.einsum("nij,nj->ni", K, v.reshape(11, 24)).reshape(u.shape)
    np.testing.assert_allclose((ahead - back) / (2 * h), Kv, atol=1e-7 * np.abs(Kv).max())
    np.testing.assert_allclose(k.product(u, v, X, RUBBER)[0], Kv, atol=1e-12 * np.abs(Kv).max())
    ahead, back = (k.energy(u + s * v, X, RUBBER)[0] for s in (h, -h))
    slope = (f * v).sum((1, 2))
    np.testing.assert_allclose((ahead - back) / (2 * h), slope, atol=1e-7 * np.abs(slope).max())
    fp, _ = kernel("residual", "parameter").parameter(u, {"C10": 1.0}, X, RUBBER)
    ahead, back = (k.residual(u, X, {**RUBBER, "C10": RUBBER["C10"] + s})[0] for s in (1e-4, -1e-4))
    np.testing.assert_allclose((ahead - back) / 2e-4, fp, atol=1e-6 * np.abs(fp).max())


@pytest.mark.parametrize("energy", ["saint_venant_kirchhoff", "neo_hooke"])
def test_unknowns_are_found_at_strains_of_every_size_in_every_unit(energy: str) -> None:
    """Along one axis, of one node, all together, homogeneous and by layers; without lateral lam."""
    random, moduli = np.random.default_rng(5), {"E": 1.0, "nu": 0.0}
    if energy == "neo_hooke":
        moduli = {"mu": 1.0, "lam": 0.0}
    laws = energy_laws(hex8, getattr(sa.energies, energy)())
    found = compile_cells(f"tiny_{energy}", hex8.space, laws, FAST, ("residual", "tangent"))
    cube = np.array(hex8.topology.vertices, dtype=float)
    kinds = np.zeros((6, 8, 3))
    kinds[0, :, 0], kinds[1, 3, 1], kinds[2] = cube[:, 0], 1.0, random.normal(size=(8, 3))
    kinds[3], kinds[4, :, 2] = -cube, np.where(cube[:, 2] > 0, 0.7, -0.2)
    kinds[5, :, 1] = cube[:, 0] * cube[:, 2]
    for size, stiff in ((1.0, 1.0), (1e-3, 1e12), (1e6, 1e-6)):
        given = {name: x if name == "nu" else x * stiff for name, x in moduli.items()}
        for moved in (0.0, 0.2):
            scale = 10.0 ** np.concatenate(
                [random.uniform(-320, -1, 300), random.uniform(-20, -1, 600)]
            )
            X = size * (cube + moved * random.uniform(-1, 1, (900, 8, 3)))
            u = size * scale[:, None, None] * np.tile(kinds, (150, 1, 1))
            f, K, bad = found.tangent(u, X, given)
            assert bad == 0
            assert np.isfinite(f).all()
            assert np.isfinite(K).all()
            assert found.residual(u, X, given)[1] == 0


def test_a_bar_that_is_hit_at_its_end_moves() -> None:
    """Far from the end strains of the first step are beyond what numbers can tell from zero."""
    mesh = sa.Mesh.box((2.0, 0.05, 0.05), (80, 1, 1))
    law = sa.energies.saint_venant_kirchhoff()
    body = sa.Body(mesh["body"], hex8, law, E=1e6, nu=0.3, rho=1e3)
    system = sa.System(body, terms=[sa.traction(body["x0"], (1500.0, 0.0, 0.0))])
    problem = sa.DynamicProblem(system, prefix="hit_")
    problem.solve(to=5e-4, step=5e-4)
    assert len(problem.history.steps) == 1
    assert system.momentum()[0][0] == pytest.approx(1500.0 * 0.05**2 * 5e-4, rel=1e-9)


def test_a_turn_changes_no_energy_and_turns_forces_also_in_other_units() -> None:
    k, (X, u) = kernel(), distorted(8)
    u *= 0.1
    W, f = k.energy(u, X, RUBBER)[0], k.residual(u, X, RUBBER)[0]
    turned = (X + u) @ TURN.T - X
    np.testing.assert_allclose(k.energy(turned, X, RUBBER)[0], W, rtol=1e-11)
    np.testing.assert_allclose(k.residual(turned, X, RUBBER)[0], f @ TURN.T, atol=1e-9)
    pascal = {name: 1e6 * value for name, value in RUBBER.items()}  # and mm to m
    W_si, bad = k.energy(1e-3 * u, 1e-3 * X, pascal)
    assert bad == 0
    np.testing.assert_allclose(W_si, 1e-3 * W, rtol=1e-11)
    assert max(digits_lost(energy_laws(hex8, sa.energies.yeoh()), RUBBER)) < 2.0
    inside_out = X * [1.0, 1.0, -1.0] - X
    assert k.residual(inside_out, X, RUBBER)[1] >= 8


@pytest.mark.parametrize("growth", [0.5, 1.3, 2.0])
def test_a_swollen_cell_is_a_larger_cell(growth: float) -> None:
    """As det F multiplies what the modes add: nearly incompressible cells lock otherwise."""
    X, u = distorted(8)
    u *= 0.1
    laws = energy_laws(hex8, sa.energies.swollen(sa.energies.yeoh()))
    swollen = compile_cells("swollen", hex8.space, laws, FAST, ("residual",))
    large, bad = kernel().residual(growth * u, growth * X, RUBBER)
    assert bad == 0
    moved = growth * (X + u) - X
    found, bad = swollen.residual(moved, X, {**RUBBER, "swelling": growth})
    assert bad == 0
    np.testing.assert_allclose(found, large, atol=1e-11 * np.abs(large).max())


def cube(amount: float) -> tuple[Array, Array]:
    """Return points and cells of a unit cube of 27, inner points moved by a part of a cell."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (3, 3, 3), comm=MPI.COMM_SELF)
    X = mesh.points.copy()
    inner = np.all((X > 1e-9) & (X < 1 - 1e-9), axis=1)
    X[inner] += amount / 3 * np.random.default_rng(0).uniform(-1, 1, (int(inner.sum()), 3))
    return X, mesh.cells["hexahedron"].connectivity


def least_eigenvalue(F: Array) -> float:
    """Return the least eigenvalue of the tangent of a stretched cube, its ends on rollers."""
    X, cells = cube(0.2)
    given = {"C10": 0.5, "C20": 0.0, "C30": 0.0, "k": 1000.0}
    f, K, bad = kernel().tangent((X @ (F - np.eye(3)).T)[cells], X[cells], given)
    assert bad == 0
    size = 3 * len(X)
    rows = (3 * cells[:, :, None] + np.arange(3)).reshape(len(cells), 24)
    whole, forces = np.zeros((size, size)), np.zeros(size)
    for row, k in zip(rows, K, strict=True):
        whole[np.ix_(row, row)] += k
    np.add.at(forces, rows, f.reshape(len(cells), 24))
    fixed = (X < 1e-9) | (X > 1 - 1e-9) & [False, False, True]
    inner = np.all((X > 1e-9) & (X < 1 - 1e-9), axis=1)
    assert np.abs(forces.reshape(-1, 3)[inner]).max() < 1e-10  # constant stress on any cells
    free = np.flatnonzero(~fixed.ravel())
    return float(np.linalg.eigvalsh(whole[np.ix_(free, free)])[0])


@pytest.mark.parametrize("stretch", [0.5, 2.0, 3.0, 4.0])
def test_no_hourglass_on_a_perturbed_mesh_at_large_strain(stretch: float) -> None:
    """Neo-Hookean rubber is stable in tension and, held like this, under compression to 0.45."""
    across = stretch**-0.5
    for _ in range(20):  # the sides are free: k (J - 1) J + J^(-2/3) (across^2 - I1/3) = 0
        J, I1 = across**2 * stretch, 2 * across**2 + stretch**2
        J = 1.0 - J ** (-2 / 3) * (across**2 - I1 / 3) / 1000.0 / J
        across = (J / stretch) ** 0.5
    assert least_eigenvalue(np.diag([across, across, stretch])) > 0.02


@pytest.mark.parametrize("tension", [-20.0, 5.0, 20.0])
def test_no_hourglass_under_pressure_or_tension_on_all_sides(tension: float) -> None:
    """In units of mu; the energy of a body whose boundary is fixed is least where F is constant."""
    X, cells = cube(0.2)
    change = (1 + tension / 1000.0) ** (1 / 3) - 1
    _, K, bad = kernel().tangent(change * X[cells], X[cells], {**RUBBER, "C20": 0.0, "C30": 0.0})
    assert bad == 0
    rows = (3 * cells[:, :, None] + np.arange(3)).reshape(len(cells), 24)
    whole = np.zeros((3 * len(X), 3 * len(X)))
    for row, k in zip(rows, K, strict=True):
        whole[np.ix_(row, row)] += k
    inner = np.all((X > 1e-9) & (X < 1 - 1e-9), axis=1).repeat(3)
    assert np.linalg.eigvalsh(whole[np.ix_(inner, inner)])[0] > 0.5


@pytest.mark.parametrize(
    ("name", "n", "amount", "to"),
    [
        (
            "hex8",
            4,
            0.0,
            0.5,
        ),  # further on, cells of a regular grid fold: see docs/elements/hex8.md
        ("hex8", 4, 0.15, 1.0),
        ("hex8_fbar", 4, 0.15, 1.0),
        ("hex8", 6, 0.2, 1.0),
        ("hex27", 2, 0.0, 1.0),
    ],
)
def test_a_cube_follows_its_boundary(name: str, n: int, amount: float, to: float) -> None:
    """Under a tension of 10 times the shear modulus; hex8_plain needs as many iterations."""

    def moved(X: Array, t: float) -> Array:
        x, y, z = np.asarray(X).T
        wave = 0.12 * np.sin(np.pi * y) * z + 0.1 * x * x
        more = 0.1 * x * z + 0.08 * np.sin(np.pi * x), 0.1 * x * y - 0.06 * z * z
        return t * np.stack([wave, *more], axis=1)

    element = getattr(sa.elements, name)
    box = sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n), cell=element.cell, comm=MPI.COMM_SELF)
    X, cells = box.points.copy(), box.cells[element.cell].connectivity
    inner = np.all((X > 1e-9) & (X < 1 - 1e-9), axis=1)
    X[inner] += amount / n * np.random.default_rng(0).uniform(-1, 1, (int(inner.sum()), 3))
    sides = {"sides": ("vertex", np.flatnonzero(~inner))}
    regions = {"body": (element.cell, np.arange(len(cells))), **sides}
    mesh = sa.Mesh.from_arrays(X, {element.cell: cells}, regions)
    options = {"pressure": "condensed"} if name == "hex27" else {}
    given = {"C10": 1.0, "C20": 0.1, "C30": 0.01, "k": 1000.0}
    body = sa.Body(mesh["body"], element, sa.energies.yeoh(), **given, **options)
    held = sa.fix(body[mesh["sides"]], displacement=moved)
    history = sa.StaticProblem(sa.System(body, terms=[held])).solve(to=to, step=0.5)
    assert [step.iterations <= 4 for step in history.steps] == [True] * round(2 * to)


def bar(nu: float, cells: int) -> tuple[sa.System, Any]:
    mesh = sa.Mesh.box((20.0, 1.0, 1.0), (cells, 1, 1))
    mu, lam = 1e6 / 2 / (1 + nu), 1e6 * nu / (1 + nu) / (1 - 2 * nu)
    body = sa.Body(mesh["body"], hex8, sa.energies.neo_hooke(), mu=mu, lam=lam)
    held = [
        sa.fix(body["x0"], "x"),
        sa.fix(body.at((0.0, 0.0, 0.0)), ["y", "z"]),
        sa.fix(body.at((0.0, 1.0, 0.0)), "z"),
    ]
    system = sa.System(body, terms=[*held, sa.force(body["x1"], (0.0, 0.0, 1e-3))])
    return system, body


@pytest.mark.collective
@pytest.mark.parametrize(("nu", "cells"), [(0.3, 10), (0.4999, 20)])
def test_one_layer_bends_as_a_beam(nu: float, cells: int) -> None:
    system, body = bar(nu, cells)
    sa.StaticProblem(system).solve()
    tip = float(system.displacement(body.at((20.0, 0.5, 0.5)))[0, 2])
    beam = 1e-3 * 20.0**3 / (3 * 1e6 / 12) + 1.2e-3 * 20.0 * 2 * (1 + nu) / 1e6
    assert tip == pytest.approx(beam, rel=0.01)
    if cells == 10:  # the moment of the end force about the middle of each cell
        found = sa.sample(system, body, fields={"P": "P"}, at="gauss")
        P, z = found.point_data["P"], found.points[:, 2] - 0.5
        moment = (P[:, 0, 0] * z).reshape(-1, 8).sum(1) * 2.0 / 8.0
        x = found.points[:, 0].reshape(-1, 8).mean(1)
        np.testing.assert_allclose(np.abs(moment), 1e-3 * (20.0 - x) * 2.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("energy", "values", "options", "asked", "given"),
    [
        ("yeoh", RUBBER, {"volumetric": "reduced"}, "quadrature", ("2x2x2", "1x1x1")),
        ("mixed", {"mu": 1.0, "k": 9.0}, {}, "unknowns", ("p",)),
        ("creeping", {"mu": 1.0, "k": 9.0}, {}, "unknowns", ("x",)),
    ],
)
def test_what_it_cannot_do_names_the_plain_element(
    energy: str,
    values: dict[str, float],
    options: dict[str, Any],
    asked: str,
    given: tuple[str, ...],
) -> None:
    @sa.local(p=0, per="cell")
    def mixed(J: Any, I1: Any, *, mu: Any, k: Any, p: Any) -> Any:
        return mu / 2 * (J ** Rational(-2, 3) * I1 - 3) + p * (J - 1) - p**2 / (2 * k)

    @sa.local(x=0)
    def creeping(J: Any, I1: Any, *, mu: Any, k: Any, x: Any) -> Any:
        return mu / 2 * (J ** Rational(-2, 3) * I1 - 3) + x * (J - 1) - x**2 / (2 * k)

    chosen = {"mixed": mixed, "creeping": creeping}.get(energy) or getattr(sa.energies, energy)()
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=MPI.COMM_SELF)
    with refused(sa.KinematicsError, asked=asked, given=given, possible=("hex8_plain",)):
        sa.Body(mesh["body"], hex8, chosen, **values, **options)


def test_laws_with_memory_remember_at_the_solution() -> None:
    @sa.memory(a=0)
    def hardening(J: Any, I1: Any, *, mu: Any, k: Any, a: Any) -> Any:
        W = mu / 2 * (J ** Rational(-2, 3) * I1 - 3) + k / 2 * (1 + a) * (J - 1) ** 2
        return sa.remember(W, a=a + (J - 1) ** 2, stored=W, dissipated=0 * J)

    laws = energy_laws(hex8, hardening)
    made = compile_cells("hardening", hex8.space, laws, FAST, ("residual", "update"))
    X, _ = distorted(8)
    F = np.diag([1.1, 1.0, 0.8])
    values = {"mu": 1.0, "k": 10.0, **{f"a[{q}]": 0.0 for q in range(8)}}
    found, bad = made.outputs(X @ (F - np.eye(3)), X, values)
    assert bad == 0
    np.testing.assert_allclose(found["hardening"]["a"], (np.linalg.det(F) - 1) ** 2, rtol=1e-11)
