# SPDX-License-Identifier: BSD-3-Clause
"""What points remember: rows of `cell`, written by functions of their own."""

from __future__ import annotations

import numpy as np
import sympy as sp

from symancf.elements import ancf_plate
from symancf_codegen.compiler import compile_cells, compile_points
from symancf_codegen.declare import HistoryVariable, KernelParameter, Local, PointLaw, unknown
from symancf_codegen.errors import CodegenError
from tests.refusals import refused

u, e, x, lost = sp.symbols("u e x dissipated", real=True)
E, A, dt = sp.symbols("E A dt", real=True)


def norton() -> PointLaw:
    """A spring E in series with creep of Norton's law, x' = A (E (u - x))^3, by implicit Euler."""
    return PointLaw(
        name="norton",
        unknowns=(u,),
        work={u: E * (u - x)},
        local=(Local(x, start=e, equation=x - e - dt * A * (E * (u - x)) ** 3),),
        history=(
            HistoryVariable(e, x, initial=A / 2),
            HistoryVariable(lost, E * (u - x) * (x - e), total=True),
        ),
        stored=E * (u - x) ** 2 / 2,
        parameters=tuple(map(KernelParameter, (E, A, dt))),
    )


def test_an_implicit_flow_rule_remembers_what_it_solved_for() -> None:
    kernel, update, initial = (
        compile_points("norton", norton(), modes=modes)
        for modes in (("energy", "residual", "tangent"), ("update",), ("initial",))
    )
    assert kernel.memory == ("e", "dissipated") == kernel.cell
    assert kernel.totals == (1,)
    at, old = np.linspace(0.0, 0.1, 11)[:, None], np.linspace(0.0, 0.05, 11)
    values = {"E": 10.0, "A": 3.0, "dt": 0.2, "e": old, "dissipated": 0.5}
    (rows,) = update.outputs(at, None, values)[0].values()
    after, force = rows["e"][:, 0], 10.0 * (at[:, 0] - rows["e"][:, 0])
    np.testing.assert_allclose(after - old, 0.6 * force**3, atol=1e-16)
    np.testing.assert_allclose(rows["dissipated"][:, 0], 0.5 + force * (after - old), rtol=1e-14)
    np.testing.assert_allclose(kernel.residual(at, None, values)[0][:, 0], force, atol=1e-15)
    np.testing.assert_allclose(kernel.energy(at, None, values)[0], force**2 / 20, atol=1e-15)
    # d force / du = E (1 - dx/du), dx/du = 3 dt A F^2 E/(1 + 3 dt A F^2 E)
    follows = 18.0 * force**2 / (1 + 18.0 * force**2)
    K = kernel.tangent(at, None, values)[1][:, 0, 0]
    np.testing.assert_allclose(K, 10.0 * (1 - follows), rtol=1e-12)
    (rows,) = initial.outputs(at, None, values)[0].values()
    np.testing.assert_allclose(rows["e"], 1.5)
    np.testing.assert_allclose(rows["dissipated"], 0.0)


def test_each_point_through_the_section_has_its_own_rows() -> None:
    """Of a count of steps, and of an integral of 1 over the volume."""
    n, volume = sp.symbols("n volume", real=True)
    kinematics, rule = ancf_plate.kinematics(), ancf_plate.rule("full")
    law = PointLaw(
        name="counting",
        unknowns=tuple(s for jet in kinematics.jets for s in unknown(jet)),
        jets=kinematics.jets,
        geometry=kinematics.geometry,
        energy=sp.S.One,
        measure=kinematics.measure,
        history=(HistoryVariable(n, n + 1), HistoryVariable(volume, sp.S.One, total=True)),
        parameters=tuple(KernelParameter(sp.Symbol(p, real=True)) for p in kinematics.section),
    )
    energy, update = (
        compile_cells("counting", ancf_plate.space, [(law, rule)], modes=modes)
        for modes in (("energy",), ("update",))
    )
    assert len(update.memory) == 2 * rule.size == 96
    R = np.random.default_rng(1).normal(size=(9, ancf_plate.space.size, 3))
    old = {name: float(k) for k, name in enumerate(update.memory)}
    values = {**old, "thickness": 0.1}
    (rows,) = update.outputs(0.0 * R, R, values)[0].values()
    even = np.broadcast_to(np.arange(0.0, 96.0, 2.0), rows["n"].shape)
    np.testing.assert_allclose(rows["n"], even + 1.0)
    whole, _ = energy.energy(0.0 * R, R, values)
    np.testing.assert_allclose((rows["volume"] - even - 1.0).sum(axis=1), whole, rtol=1e-10)


def test_a_number_is_remembered_once_and_begins_at_what_is_known() -> None:
    law, rule = norton(), ancf_plate.rule("full")
    with refused(CodegenError, asked="history", given="e"):
        compile_cells("two", ancf_plate.space, [(law, rule), (law, rule)])
    wrong = PointLaw("wrong", (u,), energy=u**2, history=(HistoryVariable(e, u, initial=u),))
    with refused(CodegenError, asked="initial", given="u"):
        compile_points("wrong", wrong)
