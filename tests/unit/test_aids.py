# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method and its aids, each of which may be switched off; steps that are not used."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symancf as sa
from symancf import verify
from symancf.bench.robust import CASES as ROBUST
from symancf.newton import AIDS, Aid, newton
from symancf.output.steps import Step
from symancf.solve.march import march
from symancf.verify.rods import straight
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symancf.assembly.discrete import DiscreteSystem
    from symancf.assembly.state import State

pytestmark = pytest.mark.collective


def crushed(**options: Any) -> sa.StaticProblem:
    """Press a block by its supports to less than a third at once."""
    body = sa.Body(
        sa.Mesh.box((2.0, 1.0, 1.0), (4, 2, 2))["body"],
        sa.elements.hex8_plain,
        sa.energies.neo_hooke(),
        mu=1.0,
        lam=2.0,
        rho=1.0,
    )
    moved = sa.fix(body["x1"], displacement=(lambda t: -1.7 * t, 0.0, 0.0))
    return sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), moved]), options=options)


@pytest.mark.collective(rows=0)
def test_a_predictor_that_is_switched_off_is_missed() -> None:
    work, ends = [], []
    for given in ("", "-supports", "-supports -predicted"):
        problem = crushed(aids=given)
        history = problem.solve()
        work.append(history.wasted + sum(step.iterations for step in history.steps))
        ends.append(problem.system.terms[1].reaction(problem.system).force[0])
    assert ends == pytest.approx([ends[0]] * 3, rel=1e-8)
    assert work[1] > 1.3 * work[0]
    assert work[2] == work[1]  # nothing is predicted in a plain solid


@pytest.mark.collective(rows=0)
def test_an_aid_of_a_motion_that_is_switched_off_is_missed() -> None:
    """A rod on a hinge falls: its sections are far stiffer than it is."""
    work = []
    for given in ("", "-predicted"):
        section = sa.Section.circle(0.01).rod(E=1e6, nu=0.3, rho=1000.0)
        body = sa.Body(straight(8)["rod"], sa.elements.ancf_rod, sa.energies.rod(), **section)
        held = sa.fix(body["start"], dofs="position")
        system = sa.System(body, terms=[held, sa.gravity((0.0, 0.0, -9.81))])
        problem = sa.DynamicProblem(system, options={"aids": given})
        work.append(problem.solve(to=0.05, step=5e-3).iterations)
    assert work[1] > 1.3 * work[0]


def turning(**options: Any) -> sa.DynamicProblem:
    """Let a body turn fast about a point beside it, 11 degrees in a step of 2 ms."""
    top = sa.RigidBody.box(
        (0.2, 0.3, 0.1), position=(0.3, 0.0, 0.0), rho=1e3, spin=(100.0, 0.0, 0.0)
    )
    pin = sa.joints.spherical(top.at((-0.3, 0.0, 0.0)), sa.ground)
    return sa.DynamicProblem(sa.System(top, terms=[pin]), options=options)


@pytest.mark.collective(rows=0)
def test_an_aid_of_motions_is_switched_off_by_the_same_option() -> None:
    problems = [turning(aids=given) for given in ("", "-supports", "-spin")]
    for problem in problems:
        problem.solve(to=0.02, step=2e-3)
    with_all, other, without = (problem.system.state for problem in problems)
    assert np.array_equal(with_all, other)  # no aid of motions
    assert not np.allclose(with_all, without, rtol=1e-9, atol=1e-9)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("made", [crushed, turning])
def test_an_aid_that_is_none_is_refused_with_those_that_are(made: Any) -> None:
    names = tuple(f"-{name}" for name in AIDS)
    for given in ("-guess", "supports"):
        with refused(sa.ParameterError, asked="aids", given=given, possible=names):
            made(aids=given).solve(to=1.0, step=1.0)


@pytest.mark.collective(rows=0)
def test_the_page_of_aids_has_the_table() -> None:
    text = (Path(__file__).parents[2] / "docs" / "aids.md").read_text(encoding="utf-8")
    for name, row in AIDS.items():
        case = row.case.replace("::", ", ")
        assert f"\n| `{name}` | {row.mends} | {case} | {row.counts} |\n" in text


@pytest.mark.collective(rows=0)
def test_each_aid_has_a_switch_and_a_case_that_is_there() -> None:
    """Whether these show it is measured by ``make campaign ARGS=--aids``."""
    verified, root = {case.id for case in verify.cases()}, Path(__file__).parents[2]
    for row in AIDS.values():
        assert row.mends
        assert row.source
        assert row.counts
        kind, _, name = row.case.partition(" ")
        file, _, test = row.case.partition("::")
        known = {"verify": verified, "robust": ROBUST}
        assert name in known.get(kind, ()) or f"def {test}(" in (root / file).read_text()
    solve = Path(sa.__file__).parent / "solve"
    sources = [file.read_text() for file in solve.rglob("*.py")]
    switch = re.compile(r'"(\w+)" (?:not )?in (?:\w+\.)*uses')
    found = {name for source in sources for name in switch.findall(source)}
    starts = (solve / "statics" / "starts.py").read_text()
    found |= set(re.findall(r'^        \("(\w+)", \w+, ', starts, re.M))
    assert found | {"takeover"} == {name for name, row in AIDS.items() if row.make is None}


# ---- the loop ------------------------------------------------------------------------------------
@dataclass
class Root:
    """x^2 = a."""

    a: float
    x: float = 1.0
    step: float = 0.0
    slope: float = 0.0

    def residual(self) -> bool:
        return self.a == self.a

    def reason(self, iteration: int) -> int:
        return int(abs(self.x**2 - self.a) < 1e-12)

    def linearize(self) -> None:
        self.slope = 2.0 * self.x

    def solve(self) -> bool:
        self.step = (self.x**2 - self.a) / self.slope if self.slope else 0.0
        return self.slope != 0.0

    def move(self) -> int:
        self.x -= self.step
        return 0


@dataclass
class Half(Aid):
    """Makes half steps, notes tangents, asks for one more iteration; gives up beyond a step."""

    equations: Root
    most: float = 1e9
    tangents: int = 0
    asked: list[float] = field(default_factory=list)

    @contextmanager
    def tangent(self) -> Iterator[None]:
        self.tangents += 1
        yield

    def step(self) -> bool:
        self.equations.step /= 2.0
        return abs(self.equations.step) < self.most

    def settled(self) -> bool:
        self.asked.append(self.equations.x)
        return len(self.asked) > 1


@pytest.mark.collective(rows=0)
def test_the_loop_ends_where_the_test_says_and_tells_why_not() -> None:
    root = Root(2.0)
    solution = newton(root, 10)
    assert solution.reason == 1
    assert root.x == pytest.approx(2.0**0.5)
    assert newton(Root(2.0), 2).reason < 0
    assert newton(Root(2.0), 2).iterations == 2
    for wrong in (Root(float("nan")), Root(2.0, x=0.0)):
        assert newton(wrong, 10).reason < 0
        assert newton(wrong, 10).iterations == 0


def test_an_aid_sees_tangents_and_steps_and_may_go_on() -> None:
    root = Root(2.0)
    aid = Half(root)
    solution = newton(root, 100, [aid])
    assert len(aid.asked) == 2
    assert solution.reason == 1
    assert aid.tangents == solution.iterations > 20
    assert newton(Root(2.0), 100, [Half(Root(2.0, step=1.0), most=0.1)]).reason < 0


# ---- steps ---------------------------------------------------------------------------------------
class Doubtful:
    """Makes 4 steps of a system; the first attempt of the third one fails, having changed it."""

    def __init__(self, system: DiscreteSystem, fatal: bool) -> None:
        self.system, self.fatal = system, fatal
        self.snapshot, self.restore = system.snapshot, system.restore
        self.made, self.failed, self.records = 0, 0, False
        self.seen: list[float] = []

    @property
    def done(self) -> bool:
        return self.made == 4

    def attempt(self, state: State) -> Step | sa.ConvergenceError:
        assert state.displacement.max(initial=0.0) == self.system.state.max(initial=0.0)
        self.seen.append(float(self.system.state.max(initial=0.0)))
        self.system.state += 1.0
        if self.made == 2 and not self.failed:
            return sa.ConvergenceError("no")
        return Step(float(self.made), 1, 1, {})

    def shorten(self, error: sa.ConvergenceError) -> None:
        self.failed += 1
        if self.fatal:
            raise error

    def accept(self, step: Step) -> None:
        self.made += 1
        self.records = self.made % 2 == 1

    def record(self) -> None:
        self.seen.append(-1.0)


def test_a_step_that_fails_is_not_used() -> None:
    steps = Doubtful(crushed().system._discrete, fatal=False)
    march(steps)
    assert steps.seen == [0.0, -1.0, 1.0, 2.0, 2.0, -1.0, 3.0]


def test_what_is_raised_leaves_the_last_record() -> None:
    steps = Doubtful(crushed().system._discrete, fatal=True)
    with pytest.raises(sa.ConvergenceError):
        march(steps)
    assert steps.system.comm.allreduce(float(steps.system.state.max(initial=0.0)), max) == 1.0
