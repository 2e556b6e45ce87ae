# SPDX-License-Identifier: BSD-3-Clause
"""A state is one value: kept, restored, an error in a monitor, a second system."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import symancf as sa
from symancf.energies import cable
from symancf.runtime.copies import SEND
from tests.refusals import refused


def rope(load: Any) -> tuple[sa.Body, sa.System]:
    mesh = sa.Mesh.box((1.0,), (4,))
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), EA=2e4, EI=1.0, rho=1.0, A=1e-3)
    return body, sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0, 0, load))])


@pytest.mark.parametrize("problem", [sa.StaticProblem, sa.DynamicProblem])
def test_a_monitor_that_raises_loses_no_step(problem: Any) -> None:
    _, system = rope(lambda t: 0.1 * t)
    calculation = problem(system)
    raised = []

    def full_disk(step: Any) -> None:
        if abs(step.time - 0.5) < 1e-9 and not raised:
            raised.append(step.time)
            raise OSError(28, "No space left on device")

    calculation.monitor(full_disk)
    with pytest.raises(OSError, match="No space left"):
        calculation.solve(to=1.0, step=0.25)
    assert system.time == pytest.approx(0.5)
    calculation.solve(to=1.0, step=0.25)
    times = [time for time in calculation.history.time if time > 0.0]
    assert times == pytest.approx([0.25, 0.5, 0.75, 1.0])


def test_a_copy_of_a_system_is_refused_and_does_not_share_its_state() -> None:
    _, system = rope(1.0)
    for copied in (copy.copy, copy.deepcopy):
        with refused(sa.SymancfError, asked="System", possible=SEND):
            copied(system)
