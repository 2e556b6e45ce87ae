# SPDX-License-Identifier: BSD-3-Clause
"""Multigrid with coarse spaces on grids over the nodes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import saint_venant_kirchhoff
from symancf.runtime.petsc import PETSc
from symancf.solve.multigrid.grids import GridNodes
from symancf.solve.multigrid.hierarchy import Multigrid
from symancf.solve.preconditioner import over_nodes
from symancf.solve.solver import is_symmetric
from tests.refusals import refused

pytestmark = pytest.mark.collective

Made = Callable[[float], sa.System]


def body(lengths: Any, divisions: Any, name: str, unit: float, **options: Any) -> sa.Body:
    """Return a block with lengths in m / unit."""
    mesh = sa.Mesh.box(tuple(unit * length for length in lengths), divisions, name=name, **options)
    steel = {"E": 2e5 / unit**2, "nu": 0.3}
    region = mesh["body"]
    return sa.Body(region, sa.elements.hex8_plain, saint_venant_kirchhoff(), name=name, **steel)


def clamped(unit: float = 1.0) -> sa.System:
    """Cells of a turned block that are flat, moved and few where it is thin."""
    turn = np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2 + np.eye(3))[0]

    def warp(X: np.ndarray) -> np.ndarray:
        Y = X / unit
        return unit * (Y + 0.01 * np.sin(7.0 * Y[:, [1, 2, 0]])) @ turn

    one = body((2.0, 1.0, 0.3), (16, 9, 5), "block", unit, warp=warp)
    load = sa.traction(one["x1"], (0.0, 30.0 / unit**2, 60.0 / unit**2))
    return sa.System(one, terms=[sa.fix(one["x0"]), load])


def partly(unit: float = 1.0) -> sa.System:
    """Nodes with one row or two that supports hold, and a load that is not symmetric."""
    one = body((2.0, 1.0, 1.0), (14, 7, 7), "block", unit)
    held = [sa.fix(one[f"{axis}0"], axis) for axis in "xyz"]
    loads = [sa.pressure(one[side], 2e3 / unit**2) for side in ("x1", "z1")]
    return sa.System(one, terms=[*held, *loads])


def several(unit: float = 1.0) -> sa.System:
    """Two bodies of other sizes that are not joined, and one of a single cell."""
    bodies = [
        body((2.0, 1.0, 1.0), (12, 6, 6), "large", unit),
        body((0.02, 0.02, 0.1), (4, 4, 17), "small", unit),
        body((0.5, 0.5, 0.5), (1, 1, 1), "cell", unit),
    ]
    terms = [sa.fix(one["z0"]) for one in bodies]
    return sa.System(
        *bodies, terms=[*terms, *(sa.traction(b["z1"], (20.0 / unit**2, 0.0, 0.0)) for b in bodies)]
    )


def graded(unit: float = 1.0, ratio: float = 300.0) -> sa.System:
    """Cells along each axis of very different lengths."""

    def warp(X: np.ndarray) -> np.ndarray:
        return np.asarray(unit * (ratio ** (X / unit) - 1.0) / (ratio - 1.0))

    one = body((1.0, 1.0, 1.0), (9, 9, 9), "block", unit, warp=warp)
    return sa.System(
        one,
        terms=[sa.fix(one["x0"]), sa.traction(one["x1"], (0.0, 30.0 / unit**2, 60.0 / unit**2))],
    )


def slit(unit: float = 1.0) -> sa.System:
    """A block with a crack of no width from one end to its middle."""
    nodes = np.stack(np.meshgrid(*map(np.arange, (13, 7, 8)), indexing="ij"), axis=-1)
    number = np.arange(nodes[..., 0].size).reshape(nodes.shape[:3])
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    cells = np.stack(
        [number[a : 12 + a, b : 6 + b, c : 7 + c] for c in (0, 1) for a, b in corners], axis=-1
    )
    cells = np.delete(cells, 3, axis=2).reshape(-1, 8)  # the lower side of layer 4 is another one
    X = nodes.reshape(-1, 3) * np.array([2.0 / 12, 1.0 / 6, 1.0 / 6])
    i, _, k = nodes.reshape(-1, 3).T
    X[k > 3, 2] -= 1.0 / 6
    there = np.arange(len(X))
    there[(k == 4) & (i < 7)] -= 1
    used, cells = np.unique(there[cells], return_inverse=True)
    regions = {"body": ("hexahedron", range(432))}
    cells = cells.reshape(-1, 8)
    mesh = sa.Mesh.from_arrays(unit * X[used], {"hexahedron": cells}, regions, check=False)
    steel = {"E": 2e5 / unit**2, "nu": 0.3}
    one = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **steel)
    for name, side in (("x0", lambda Y: Y[:, 0] < 1e-9), ("x1", lambda Y: Y[:, 0] > 1.99 * unit)):
        mesh.select(name, side)
    load = sa.traction(one["x1"], (0.0, 30.0 / unit**2, 60.0 / unit**2))
    return sa.System(one, terms=[sa.fix(one["x0"]), load])


def multigrid_of(system: sa.System, symmetric: bool) -> Multigrid:
    """Return multigrid of the tangent at the present state."""
    nodes, f = over_nodes(system._discrete), np.zeros_like(system.state)
    assert isinstance(nodes, GridNodes)
    system._discrete.update(0.0)
    assert system._discrete.assembler.tangent(system.state, f, system._discrete.matrix) == 0
    made = Multigrid(system._discrete.matrix, nodes, symmetric)
    made.renew()
    return made


def applied(made: Multigrid, r: np.ndarray) -> np.ndarray:
    """Return what a cycle makes of rows."""
    z = np.empty_like(r)
    made.apply(ctypes.c_void_p(r.ctypes.data), ctypes.c_void_p(z.ctypes.data))
    return z


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("make", [clamped, partly, several])
def test_a_cycle_is_symmetric_positive_and_scales(make: Made) -> None:
    system = make(1.0)
    symmetric = is_symmetric(system._discrete)
    made = multigrid_of(system, symmetric)
    numbering = system._discrete.numbering
    a, b = (numbering.to_rows(numbering.random(seed)) for seed in (1, 2))
    z, w = applied(made, a), applied(made, b)
    aa, ab, ba = (
        float(system._discrete.sum(np.array([x @ y]))[0]) for x, y in ((a, z), (b, z), (a, w))
    )
    assert aa > 0.0
    assert (abs(ab - ba) < 1e-5 * aa) == symmetric == (make is not partly)
    assert not z[numbering.prescribed_rows].any()
    for power in (600, -600):  # beyond the range of single precision
        assert np.array_equal(applied(made, a * 2.0**power), z * 2.0**power)
    for values in system._discrete.matrix.values:
        values *= 2.0**200
    made.renew()
    assert np.array_equal(applied(made, a), z * 2.0**-200)


@pytest.mark.collective(rows=4)
@pytest.mark.parametrize("make", [clamped, partly, several, slit])
def test_levels_that_ranks_share_or_divide_are_the_same(
    make: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = make(1.0)
    shared = multigrid_of(system._discrete, is_symmetric(system._discrete))
    monkeypatch.setattr("symancf.solve.multigrid.levels.SHARED", 400)
    divided = multigrid_of(system._discrete, is_symmetric(system._discrete))
    assert not divided.levels[1].pattern.shared
    assert system.comm.size == 1 or shared.levels[1].pattern.shared
    r = system._discrete.numbering.to_rows(system._discrete.numbering.random(3))
    z, w = applied(shared, r), applied(divided, r)
    size = system.comm.allreduce(float(np.abs(z).max(initial=0.0)), op=max)
    assert np.abs(z - w).max(initial=0.0) < 1e-4 * size


def test_grid_nodes_have_copies_beside_slits() -> None:
    """Of 7 x 4 x 4 the 3 x 4 x 2 whose functions reach over it, and no other."""
    made = multigrid_of(slit(), True)
    assert made.line(1).startswith("408 unknowns")
    assert 3 * (7 * 4 * 4 + 3 * 4 * 2) == 408


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize(
    ("make", "most"), [(clamped, 13), (partly, 13), (several, 13), (slit, 13), (graded, 40)]
)
def test_solutions_are_those_of_a_direct_solver(make: Made, most: int) -> None:
    """In any unit, and again with coarse matrices that are renewed or not."""
    states, counts = [], []
    for unit, options in (
        (1.0, {"pc_type": "grids", "ksp_rtol": 1e-6}),
        (1024.0, {"pc_type": "grids", "ksp_rtol": 1e-6}),
        (1.0, {"pc_type": "lu"}),
    ):
        system = make(unit)
        problem = sa.StaticProblem(system, options=options)
        problem.solve(to=0.5)
        (*_, step) = problem.solve().steps
        states.append(system.state / unit)
        counts.append((step.iterations, step.linear_iterations))
        if options["pc_type"] == "grids":
            assert problem.snes.getKSP().getType() == ("gmres" if make is partly else "cg")
            assert step.linear_iterations <= most * step.iterations
    assert counts[0][0] == counts[1][0] <= counts[2][0] + 1
    assert abs(counts[0][1] - counts[1][1]) <= 1  # MUMPS does not repeat its bits on several ranks
    moved = system.comm.allreduce(float(np.abs(states[2]).max(initial=0.0)), op=max)
    for state in states[:2]:
        assert np.abs(state - states[2]).max(initial=0.0) < 1e-8 * moved


def solved(**options: Any) -> tuple[sa.StaticProblem, int]:
    """Return the clamped block, solved, and the iterations of the linear solver."""
    problem = sa.StaticProblem(clamped(), options={"pc_type": "grids", **options})
    (step,) = problem.solve(to=0.5).steps
    return problem, step.linear_iterations


def test_cycles_are_those_of_pcmg_and_take_its_options(tmp_path: Path) -> None:
    plain, most = solved()
    counts = {}
    for name, options in {
        "twice": {"mg_levels_ksp_max_it": 2},
        "W": {"pc_mg_cycle_type": "w"},
        "full": {"pc_mg_type": "full"},
        "again": {"pc_mg_multiplicative_cycles": 2},
    }.items():
        counts[name] = solved(**{f"grids_{k}": v for k, v in options.items()})[1]
    assert max(counts["twice"], counts["again"]) < most
    assert max(counts["W"], counts["full"]) <= most  # 18 and 19 of 20
    additive = solved(grids_pc_mg_type="additive", ksp_rtol=1e-3)[0]
    comm = additive.system.comm
    both = (additive.system.state, plain.system.state)
    size, apart = (np.abs(v).max(initial=0.0) for v in (both[1], both[0] - both[1]))
    assert comm.allreduce(float(apart), op=max) < 1e-8 * comm.allreduce(float(size), op=max)
    for name, asked in (("pc_mg_levels", 2), ("pc_type", "jacobi")):
        with refused(sa.SymancfError, asked=f"-grids_{name}", given=asked):
            solved(**{f"grids_{name}": asked})
    file = comm.bcast(str(tmp_path / "view.txt"))
    viewer = PETSc.Viewer().createASCII(file, comm=comm)
    plain.snes.getKSP().view(viewer)
    viewer.destroy()
    comm.Barrier()
    text = Path(file).read_text(encoding="utf-8")
    assert "type is MULTIPLICATIVE" in text
    assert text.count("(grids_mg_levels_1_)") == 4  # the solver and its shell, down and up
    assert f"{plain.system._discrete.numbering.size} unknowns" in text
    comm.Barrier()


def test_grids_are_refused_with_a_reason() -> None:
    reason = over_nodes(graded(ratio=1e5)._discrete)
    assert isinstance(reason, str)
    assert "the sizes of cells vary by a factor of" in reason
    mesh = sa.Mesh.box((1.0,), (4,))
    rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)
    problem = sa.StaticProblem(
        sa.System(rod, terms=[sa.fix(rod["x0"])]), options={"pc_type": "grids"}
    )
    with refused(sa.SymancfError, asked="-pc_type", given="grids", possible=("gamg",)):
        problem.solve()
    tied = sa.length(rod["body"], per="line")  # multipliers, with which gamg breaks down
    problem = sa.StaticProblem(
        sa.System(rod, terms=[sa.fix(rod["x0"]), tied]), options={"pc_type": "grids"}
    )
    with refused(sa.SymancfError, asked="-pc_type", given="grids", possible=("lu",)):
        problem.solve()


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_motions_have_the_mass_in_it(method: str) -> None:
    """The same solver begins with accelerations, for which it has another matrix."""
    found = []
    for kind in ("grids", "lu"):
        mesh = sa.Mesh.box((2.0, 1.0, 1.0), (8, 4, 4))
        steel = {"E": 1e5, "nu": 0.3, "rho": 1000.0}
        one = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **steel)
        system = sa.System(one, terms=[sa.fix(one["x0"]), sa.gravity((0.0, 0.0, -1.0))])
        problem = sa.DynamicProblem(system, options={"pc_type": kind}, method=method)
        problem.solve(to=0.05, step=0.01)
        found.append(system.state.copy())
    moved = system.comm.allreduce(float(np.abs(found[1]).max(initial=0.0)), op=max)
    assert np.abs(found[0] - found[1]).max(initial=0.0) < 1e-7 * moved
