# SPDX-License-Identifier: BSD-3-Clause
"""What terms contribute to a system does not change while problems are solved."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symancf as sa
from symancf import elements
from symancf.energies import cable, neo_hooke
from tests.remembering import plate
from tests.unit.facing import MATERIAL, touching

if TYPE_CHECKING:
    from symancf.assembly.form import Form


def rope() -> sa.System:
    """A cable under a force that travels over its cells, and one that grows."""
    mesh = sa.Mesh.box((1.0,), (4,))
    body = sa.Body(mesh["body"], elements.ancf_cable, cable(), EA=2e2, EI=1.0, rho=1.0, A=1e-2)
    place = body.at(lambda t: (0.1 + 0.8 * t, 0.0, 0.0))
    loads = sa.force(place, (0.0, 0.0, -0.2)), sa.force(body["x1"], lambda t: (0.0, 0.1 * t, 0.0))
    return sa.System(body, terms=[sa.fix(body["x0"]), *loads])


def dragged() -> sa.System:
    """A block that is dragged over several facets of another one."""
    bed = sa.Mesh.box((1.0, 0.4, 0.3), (5, 1, 1))
    top = sa.Mesh.box((0.3, 0.3, 0.2), (1, 1, 1), warp=lambda x: x + np.array([0.1, 0.05, 0.3]))
    given: Any = {"rho": 1e-3, **MATERIAL}
    lower, upper = (
        sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), name=name, **given)
        for name, mesh in (("lower", bed), ("upper", top))
    )
    drag = sa.fix(upper["z1"], displacement=lambda t: (0.5 * t, 0.0, -0.02 * np.sin(2.0 * t)))
    contact = touching(upper["z0"], lower["z1"], mu=0.3)
    return sa.System(lower, upper, terms=[contact, sa.fix(lower["z0"]), drag])


def creeping() -> sa.System:
    """A plate that creeps and a laminate, both pulled and pressed."""
    creeps: Any = {"E0": 1.0, "E1": 0.5, "tau": 0.3, "thickness": 0.05}
    layers = sa.Layers(
        [(neo_hooke(), 0.02), (neo_hooke(), 0.01, 0, {"mu": 2.0}), (neo_hooke(), 0.02)]
    )
    materials: dict[str, Any] = {"creeping": (plate, creeps), "laminate": (layers, MATERIAL)}
    bodies, terms = [], []
    for name, (law, given) in materials.items():
        mesh = sa.Mesh.box((1.0, 0.5), (2, 1))
        body = sa.Body(mesh["body"], PLATES[name], law, name=name, rho=0.1, **given)
        bodies.append(body)
        pull = sa.force(body["x1"], lambda t: (1e-3 * t, 0.0, 0.0))
        terms += [sa.fix(body["x0"]), pull, sa.pressure(body["body"].face(+1), 1e-6)]
    return sa.System(*bodies, terms=terms)


PLATES = {"creeping": elements.ancf_thin_plate, "laminate": elements.ancf_plate}
MODELS = [rope, dragged, creeping]
PROBLEMS = [sa.StaticProblem, sa.DynamicProblem]
BEGIN, END = {"to": 0.2, "step": 0.1}, {"to": 0.4, "step": 0.1}
pytestmark = pytest.mark.filterwarnings("ignore:the energy balance has gained")


def values(form: Form) -> dict[str, Any]:
    """Return what a form has, the arrays as bytes."""
    found = {field.name: getattr(form, field.name) for field in fields(form)}
    arrays = {k: v.tobytes() for k, v in found.items() if isinstance(v, np.ndarray)}
    return found | arrays | {"uniform": dict(form.uniform)}


@pytest.mark.parametrize("model", MODELS)
def test_pieces_are_the_same_after_statics_and_a_motion(model: Any) -> None:
    """But those of lists that change, which are other objects then."""
    system = model()
    before, known = (
        list(system._discrete.forms),
        [values(form) for form in system._discrete.forms],
    )
    for kind, steps in zip(PROBLEMS, (BEGIN, END), strict=True):
        kind(system).solve(**steps)
    replaced = False
    for form, was, now in zip(before, known, system._discrete.forms, strict=True):
        assert values(form) == was
        assert form is now or form.changing
        replaced |= form is not now
        for name in ("kernel", "uniform", "cell_at", "moving"):
            with pytest.raises(FrozenInstanceError):
                setattr(now, name, None)
    assert replaced == (model is not creeping)
    assert system._discrete.assembler.forms == system._discrete.forms
    assert [system._discrete.assembler.number(form) for form in system._discrete.forms] == [
        *range(len(before))
    ]
    remembering = [form for form in system._discrete.forms if form.kernel.memory]
    assert system._discrete.memory.forms == remembering


@pytest.mark.parametrize("model", MODELS)
def test_problems_on_one_system_take_turns(model: Any) -> None:
    """Statics and a motion, each goes on from its own state and finds what it finds alone."""
    wanted = []
    for kind in PROBLEMS:
        problem = kind(model())
        for steps in (BEGIN, END):
            problem.solve(**steps)
        wanted.append(problem.state.displacement)
    system = model()
    problems = [kind(system) for kind in PROBLEMS]
    states = [problem.state for problem in problems]
    for steps in (BEGIN, END):
        for k, problem in enumerate(problems):
            problem.restore(states[k])
            problem.solve(**steps)
            states[k] = problem.state
    for state, exact in zip(states, wanted, strict=True):
        size = np.abs(exact).max()
        np.testing.assert_allclose(state.displacement, exact, rtol=0, atol=1e-9 * size)
