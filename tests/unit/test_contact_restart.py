# SPDX-License-Identifier: BSD-3-Clause
"""Motions that go on from a checkpoint made in the midst of contact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf import elements
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
        bodies.append(sa.Body(mesh["body"], elements.hex8_plain, neo_hooke, **given))
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
    system.update(0.0)
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
