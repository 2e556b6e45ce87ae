# SPDX-License-Identifier: BSD-3-Clause
"""States in the midst of contact: motions and equilibria that go on from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf import elements
from symancf.assembly.state import State, same_arrays
from symancf.energies import neo_hooke
from tests.unit.facing import MATERIAL, shifted, touching

HALF, END, STEP = 1.2, 2.0, 0.05


def thrown(
    on: str, material: dict[str, Any] = MATERIAL
) -> tuple[sa.System, sa.DynamicProblem, sa.Contact]:
    """A block that falls obliquely on another one, or on a plane."""
    bodies = []
    for name, at in (("struck", 0.0), ("thrown", 1.05)):
        mesh = sa.Mesh.box(
            (1.0, 1.0, 1.0), (1, 1, 1), warp=lambda x, at=at: x + np.array([0, 0, at])
        )
        given = {"name": name, "rho": 1.0, **material}
        bodies.append(sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), **given))
    struck, block = bodies
    target = struck["z1"] if on == "a body" else sa.Plane((0.0, 0.0, 1.0))
    contact = touching(block["z0"], target, mu=(0.3, 0.2))
    system = sa.System(*bodies, terms=[contact, sa.fix(struck["z0"])])
    system.rate[:] = shifted(system, block, np.array([0.15, 0.05, -0.1]))
    return system, sa.DynamicProblem(system), contact


@pytest.mark.collective
@pytest.mark.parametrize("on", ["a body", "a plane"])
def test_a_motion_goes_on_in_the_midst_of_contact(on: str, shared_tmp_path: Path) -> None:
    """Forces and energies are those that were saved, and what follows is the same to round-off."""
    system, problem, contact = thrown(on)
    problem.solve(to=HALF, step=STEP)
    problem.save(shared_tmp_path / "midst.h5")
    force, energies = contact.force(system), np.array(list(vars(problem.energies).values()))
    assert force[2] > 1e-3
    assert contact.status(system).slip > 0
    problem.solve(to=END, step=STEP)

    again, resumed, same = thrown(on)
    resumed.restore(shared_tmp_path / "midst.h5")
    assert same.force(again) == pytest.approx(force, rel=1e-13, abs=1e-15)
    assert list(vars(resumed.energies).values()) == pytest.approx(energies, rel=1e-12, abs=1e-16)
    resumed.solve(to=END, step=STEP)
    assert again.state == pytest.approx(system.state, rel=1e-12, abs=1e-14)
    assert same.force(again) == pytest.approx(contact.force(system), rel=1e-11, abs=1e-13)


@pytest.mark.collective
@pytest.mark.parametrize("on", ["a body", "a plane"])
def test_stiffness_follows_the_material(on: str, shared_tmp_path: Path) -> None:
    """Whatever it was when the system was made: what was saved is that of a model of numbers."""
    given = {name: sa.Parameter(name, 0.1 * value) for name, value in MATERIAL.items()}
    system, problem, contact = thrown(on, given)
    system._discrete.update(0.0)
    for name, value in MATERIAL.items():
        given[name].value = value
    problem.solve(to=HALF, step=STEP)
    problem.save(shared_tmp_path / "follows.h5")
    force, energy = contact.force(system), problem.energies.contact
    for name, value in MATERIAL.items():
        given[name].value = 3.0 * value
    assert contact.force(system) == pytest.approx(3.0 * force, rel=1e-13, abs=1e-15)
    assert problem.energies.contact == pytest.approx(3.0 * energy, rel=1e-12)

    again, resumed, same = thrown(on)
    resumed.restore(shared_tmp_path / "follows.h5")
    assert same.force(again) == pytest.approx(force, rel=1e-13, abs=1e-15)
    assert resumed.energies.contact == pytest.approx(energy, rel=1e-12)


# ---- active sets ---------------------------------------------------------------------------------
BEGIN, LAST, SHORT = 0.3, 0.8, 0.025  # twenty steps after a state is taken


def blocks() -> tuple[sa.Body, sa.Body, sa.Contact]:
    """A block on a long one that is several of its facets long."""
    bed = sa.Mesh.box((2.0, 0.4, 0.3), (10, 2, 1))
    top = sa.Mesh.box((0.3, 0.3, 0.2), (2, 2, 1), warp=lambda x: x + np.array([0.1, 0.06, 0.3]))
    lower, upper = (
        sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), name=name, rho=1e-3, **MATERIAL)
        for name, mesh in (("lower", bed), ("upper", top))
    )
    return lower, upper, touching(upper["z0"], lower["z1"], mu=0.3)


def dragged(parts: tuple[sa.Body, sa.Body, sa.Contact], speed: float = 1.2) -> sa.System:
    """The upper block is pressed down and dragged over the lower one, faster and faster."""
    lower, upper, contact = parts
    held = sa.fix(lower["z0"])
    drag = sa.fix(
        upper["z1"],
        displacement=lambda t: (speed * t * t, 0.03 * t, -0.02 * np.sin(np.pi / 2 * t)),
    )
    return sa.System(lower, upper, terms=[contact, held, drag])


def kept(state: State) -> list[bytes]:
    """Return the bits of the active sets of a state."""
    sets = [*state.active, *(entities for every in state.pattern for entities in every)]
    return [array.tobytes() for own in sets for array in own.values()]


@pytest.mark.collective
@pytest.mark.parametrize("kind", [sa.StaticProblem, sa.DynamicProblem])
def test_a_state_leads_to_the_same_contacts(kind: Any, shared_tmp_path: Path) -> None:
    """Kept, and from a file in another system: on one rank the same bits, with other lists."""
    parts = blocks()
    system = dragged(parts)
    problem = kind(system)
    problem.solve(to=BEGIN, step=0.1)
    there, bits = problem.state, kept(problem.state)
    problem.save(shared_tmp_path / "dragged.h5")
    problem.solve(to=LAST, step=SHORT)
    ended = problem.state
    assert len(ended.active) == 1
    assert not same_arrays(there.pattern[0][0], ended.pattern[0][0])
    force = parts[2].force(system)
    assert np.linalg.norm(force[:2]) > 0.25 * force[2] > 1e-5
    others = [(system, problem, there, parts[2])]
    again = blocks()
    other = dragged(again)
    others.append((other, kind(other), shared_tmp_path / "dragged.h5", again[2]))
    limit = 0.0 if system.comm.size == 1 else 1e-10
    for own, same, start, contact in others:
        same.restore(start)
        assert own.time == BEGIN
        same.solve(to=LAST, step=SHORT)
        found = same.state
        gap = np.abs(found.displacement - ended.displacement).max(initial=0.0)
        assert gap <= limit
        assert contact.force(own) == pytest.approx(force, rel=limit, abs=limit)
        if system.comm.size == 1:
            assert kept(found) == kept(ended)
    assert kept(there) == bits


@pytest.mark.parametrize("kind", [sa.StaticProblem, sa.DynamicProblem])
def test_one_contact_in_two_systems_at_once_is_as_in_each_alone(kind: Any) -> None:
    speeds, times = (1.2, 0.7), (0.2, 0.35, 0.5)
    alone = []
    for speed in speeds:
        parts = blocks()
        system = dragged(parts, speed)
        problem = kind(system)
        for time in times:
            problem.solve(to=time, step=0.05)
        alone.append((system.state.copy(), parts[2].report(system)))
    parts = blocks()
    systems = [dragged(parts, speed) for speed in speeds]
    problems = [kind(system) for system in systems]
    for time in times:
        for problem in problems:
            problem.solve(to=time, step=0.05)
    for system, (state, report) in zip(systems, alone, strict=True):
        np.testing.assert_array_equal(system.state, state)
        assert parts[2].report(system) == report
    assert alone[0][1] != alone[1][1]
    assert str(parts[2]) == str(blocks()[2])  # which knows of no system


def test_what_an_attempt_has_shown_is_told_to_the_next_but_to_no_earlier_state() -> None:
    parts = blocks()
    system = dragged(parts)
    problem = sa.StaticProblem(system)
    there, step = problem.state, system._discrete.binding(parts[2]).step
    step.put(2.0, 0.0)  # a larger stiffness, with which the step is not solved
    failed = system._discrete.variables
    system._discrete.restore(there)
    system._discrete.learn(failed)
    assert (step.grown, step.most) == (1.0, 1.0)
    problem.restore(there)
    assert (step.grown, step.most) == (1.0, np.inf)
