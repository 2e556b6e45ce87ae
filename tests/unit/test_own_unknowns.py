# SPDX-License-Identifier: BSD-3-Clause
"""Energies with unknowns of their own: a pressure per cell, a flow rule at each point."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sp
from scipy.optimize import brentq

import symancf as sa
from symancf.elements import hex8_plain
from symancf.laws import energy_laws
from symancf.values.domain import domains, domains_of, positive
from symancf.verify.states import positions
from symancf_codegen.compiler import compile_cells
from tests.quantities import FAST
from tests.refusals import refused
from tests.saddle import in_space, mixed

Array = npt.NDArray[np.float64]
E: TypeAlias = sp.Expr
N = 2  # cells along an edge
MU, K, LOAD = 1.3, 70.0, 0.2


def saddle() -> Array:
    """Return the nodes' positions, the pressures of all cells being coordinates like any other."""
    laws = [in_space(x) for x in energy_laws(hex8_plain, mixed)]
    kernel = compile_cells("saddle", hex8_plain.space.with_scalars(1), laws, FAST)
    n = N + 1
    nodes = np.stack(np.meshgrid(*3 * [np.arange(n) / N], indexing="ij"), -1).reshape(-1, 3)
    number = np.arange(n**3).reshape(n, n, n)
    corner = (np.array(hex8_plain.topology.vertices, dtype=float) > 0).astype(int)
    first = np.stack(np.meshgrid(*3 * [np.arange(N)], indexing="ij"), -1).reshape(-1, 1, 3)
    cells = number[tuple(np.moveaxis(first + corner, -1, 0))]
    size = 3 * n**3 + len(cells)
    at = np.full((len(cells), 9, 3), -1)
    at[:, :8] = 3 * cells[:, :, None] + np.arange(3)
    at[:, 8, 0] = 3 * n**3 + np.arange(len(cells))
    at = at.reshape(len(cells), 27)
    force = np.zeros(size)
    for face in (number[-1, i : i + 2, k : k + 2] for i in range(N) for k in range(N)):
        force[3 * face + 2] += LOAD / N**2 / 4
    free = np.setdiff1d(np.arange(size), 3 * number[0].reshape(-1, 1) + np.arange(3))
    reference = np.concatenate([nodes[cells], np.zeros((len(cells), 1, 3))], 1)
    x = np.zeros(size)
    for _ in range(12):
        u = np.where(at < 0, 0.0, x[at]).reshape(-1, 9, 3)
        f, k, _ = kernel.tangent(u, reference, {"mu": MU, "k": K})
        residual, tangent = -force, np.zeros((size, size))
        for own, part, block in zip(at, f.reshape(len(at), 27), k, strict=True):
            used = own >= 0
            np.add.at(residual, own[used], part[used])
            tangent[np.ix_(own[used], own[used])] += block[np.ix_(used, used)]
        x[free] -= np.linalg.solve(tangent[np.ix_(free, free)], residual[free])
    assert np.abs(residual[free]).max() < 1e-13
    return nodes + x[: 3 * n**3].reshape(-1, 3)


@pytest.mark.collective
def test_a_pressure_per_cell_is_that_of_the_saddle_problem() -> None:
    """On any number of ranks; in m and Pa as in mm and MPa; a second run changes nothing."""
    exact = saddle()
    for scale, pascal in ((1.0, 1.0), (1e-3, 1e6)):
        mesh = sa.Mesh.box(3 * (scale,), 3 * (N,))
        energy = sa.local(p=0, per="cell")(mixed)
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, energy, mu=MU * pascal, k=K * pascal)
        load = sa.traction(body["x1"], (0.0, 0.0, LOAD * pascal))
        system = sa.System(body, terms=[sa.fix(body["x0"]), load])
        problem = sa.StaticProblem(system, prefix="mixed_")
        for _ in range(2):
            problem.solve()
            ids, found = positions(system)
            near = np.rint(found / scale * N).astype(int) @ ((N + 1) ** 2, N + 1, 1)
            place = found + system.state[ids[:, None] + np.arange(3)]
            np.testing.assert_allclose(place / scale, exact[near], atol=1e-11)


@pytest.mark.collective
def test_a_flow_rule_is_solved_at_each_point() -> None:
    """Norton's creep, backward Euler; the unknown is the creep strain at the end of the step."""
    EA, S, h = 100.0, 50.0, 0.1

    @sa.memory(a=0)
    @sa.local(x=lambda a: a)
    def creep(
        epsilon: sp.Expr,
        kappa: sp.Expr,
        *,
        EA: sp.Expr,
        S: sp.Expr,
        a: sp.Expr,
        x: sp.Expr,
        dt: sp.Expr,
    ) -> object:
        force = EA * (epsilon - x)
        stored = EA * (epsilon - x) ** 2 / 2 + kappa**2 / 2
        rule = sa.implicit(stored, x=x - a - dt * (force / S) ** 3)
        return sa.remember(rule, a=x, stored=stored, dissipated=force * (x - a))

    mesh = sa.Mesh.box((1.0,), (3,))
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, creep, EA=EA, S=S)
    pull = sa.fix(body["x1"], ["x"], displacement=lambda t: (0.5 * min(t, 1.0), 0.0, 0.0))
    system = sa.System(body, terms=[sa.fix(body["x0"]), pull])
    problem = sa.StaticProblem(system, prefix="creep_")
    a = 0.0
    for k in range(1, 16):
        problem.solve(to=h * k, step=h)
        strain = 0.5 * min(h * k, 1.0)

        def rule(x: float, e: float = strain, old: float = a) -> float:
            return x - old - h * (EA * (e - x) / S) ** 3

        a = brentq(rule, -1.0, 1.0, xtol=1e-16)
        stored = EA / 2 * (strain - a) ** 2
        assert system.energies()["body"] == pytest.approx(stored, rel=1e-13)
    fields = {"x": "x", "a": "a", "N": "axial_force", "lost": "dissipated"}
    found = sa.sample(system, body, fields=fields, at="gauss").point_data
    np.testing.assert_allclose(found["x"], a, rtol=1e-13)
    np.testing.assert_array_equal(found["a"], found["x"])
    np.testing.assert_allclose(found["N"], EA * (strain - a), rtol=1e-12)
    lost = system.remembered(body)["dissipated"].sum()  # of a length of 1
    np.testing.assert_allclose(found["lost"], lost, rtol=1e-12)
    plain = sa.sample(system, body, fields={"e": "epsilon"}).point_data["e"]
    np.testing.assert_allclose(plain, strain, rtol=1e-13)
    assert all(step.iterations <= 6 for step in problem.history.steps)


def test_declarations_that_do_not_fit_are_told() -> None:
    with refused(sa.KinematicsError, asked="start", given=()):
        sa.local()
    with refused(sa.KinematicsError, asked="per", given="edge", possible=("point", "cell")):
        sa.local(per="edge", p=0)  # type: ignore[arg-type]
    with refused(sa.KinematicsError, asked="q", given=None, possible=("p",)):
        sa.local(q=0)(lambda J, *, p: J * p)
    region = sa.Mesh.box(3 * (1.0,), 3 * (1,))["body"]
    for energy, asked, given, possible in (
        (sa.local(p=0)(lambda J, *, p: sa.implicit(J, q=p)), "q", "p", ("p",)),
        (sa.local(p=0)(lambda J, *, p: sa.implicit(J, p=[[1, 2]])), "p", (1, 2), ((),)),
        (sa.local(p=0)(lambda J, *, p: sa.implicit(J, p=None)), "p", None, ()),
        (sa.local(p=0, per="cell")(lambda J, *, p: sa.implicit(J, p=p)), "per", "cell", ("point",)),
        (sa.local(p=lambda q: q)(lambda J, *, p: p * J - p**2), "q", None, ("J",)),
        (lambda J: sa.implicit(J, p=1), "p", "1", ()),
        (sa.local(p=0)(mixed_of_points), "quadrature", ("2x2x2", "1x1x1"), ()),
    ):
        split = "reduced" if asked == "quadrature" else None
        with refused(sa.KinematicsError, asked=asked, given=given, possible=possible):
            sa.Body(region, hex8_plain, energy, volumetric=split)
    with refused(sa.ParameterError, asked="J", given="hex8_plain"):
        sa.Body(region, hex8_plain, sa.local(J=0)(lambda I1, *, J: I1 * J))


def test_declarations_leave_the_function_as_it_is() -> None:
    """One function with several declarations is several laws; declarations add up."""

    def law(epsilon: E, *, a: E, b: E, EA: E) -> E:
        return EA * (epsilon - a - b) ** 2

    for declare, name in ((sa.memory, "memory"), (sa.local, "local")):
        first, second = declare(a=0)(law), declare(a=1)(law)  # type: ignore[operator]
        both = declare(b=2)(first)  # type: ignore[operator]
        starts = [getattr(x, name) for x in (first, second, both)]
        starts = [getattr(x, "start", x) for x in starts]
        assert starts == [{"a": 0}, {"a": 1}, {"a": 0, "b": 2}]
    assert not vars(law)
    with refused(sa.KinematicsError, asked="per", given="cell", possible=("point",)):
        sa.local(b=0, per="cell")(sa.local(a=0)(law))
    strict = domains(EA=positive())(law)
    assert domains_of(domains(a=positive())(strict)) == {"EA": positive(), "a": positive()}
    assert domains_of(strict) == {"EA": positive()}

    class Law:
        def energy(self, epsilon: E, *, a: E, EA: E) -> object:
            return sa.remember(EA * (epsilon - a) ** 2, a=a, stored=None)

    line = sa.Mesh.box((1.0,), (1,))["body"]
    with refused(sa.KinematicsError, asked="stored", given=None):
        sa.Body(line, sa.elements.ancf_cable, sa.memory(a=0)(Law().energy), EA=1.0)


def test_equations_need_not_be_symmetric() -> None:
    """An unknown matrix that begins as zero has all entries that its equations tell apart."""
    turn = sp.Matrix([[0, 1], [3, 0]])

    def law(epsilon: E, kappa: E, *, Y: sp.Matrix, EA: E) -> object:
        soft = EA / 2 * (epsilon**2 + kappa**2 + (Y[1, 0] - Y[0, 1]) * epsilon)
        return sa.implicit(soft, Y=Y - turn * epsilon)

    line = sa.Mesh.box((1.0,), (1,))["body"]
    body = sa.Body(line, sa.elements.ancf_cable, sa.local(Y=sp.zeros(2, 2))(law), EA=2.0)
    held = [sa.fix(body["x0"], "position"), sa.fix(body["all"], ["y", "z"])]
    system = sa.System(body, terms=[*held, sa.force(body["x1"], (0.6, 0.0, 0.0))])
    sa.StaticProblem(system, prefix="turned_").solve()  # force EA (epsilon + (3 - 1) epsilon / 2)
    np.testing.assert_allclose(system.displacement(body["x1"])[0, 0], 0.15, rtol=1e-12)
    with refused(sa.KinematicsError, asked="memory", given="Y"):
        sa.Body(line, sa.elements.ancf_cable, sa.memory(Y=0)(sa.local(Y=0)(law)), EA=2.0)


def test_unknowns_without_a_solution_are_told() -> None:
    """Of a cell when no rule has an equation for it, of a point where it has no root at rest."""

    def free(J: E, I1: E, *, p: E) -> dict[str, E]:
        return {"deviatoric": I1 - 3, "volumetric": p * (J - 1)}

    region = sa.Mesh.box(3 * (1.0,), 3 * (1,))["body"]
    body = sa.Body(region, hex8_plain, sa.local(p=0, per="cell")(free), volumetric="reduced")
    with refused(sa.CompileError, asked="p", given="energy"):
        sa.System(body)

    def rootless(epsilon: E, kappa: E, *, p: E) -> object:
        return sa.implicit((epsilon - p) ** 2 + kappa**2, p=p**2 + 1)

    line = sa.Mesh.box((1.0,), (1,))["body"]
    cord = sa.Body(line, sa.elements.ancf_cable, sa.local(p=0)(rootless))
    with refused(sa.KinematicsError, asked="solution at rest", given=("p",)):
        sa.System(cord)

    def flow(epsilon_rate: E, *, p: E) -> object:
        return sa.implicit(epsilon_rate * p, p=p - 1)

    stiff = sa.Body(line, sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)
    with refused(sa.KinematicsError, asked="p", given=("p",)):
        sa.System(stiff, terms=[sa.Viscosity(stiff, sa.local(p=0)(flow))])


def mixed_of_points(J: E, I1: E, *, p: E) -> dict[str, E]:
    return {"deviatoric": I1 - 3 + p**2, "volumetric": p * (J - 1)}
