# SPDX-License-Identifier: BSD-3-Clause
"""Why Newton's method may have failed: `TABLE` of causes, each with a test and the line to write.

A test looks at the failed state and returns the words of its sentence and line, or None where it
is not the cause. What a kind of solution alone can know (the path of equilibria, what the tangent
leaves free) `Failure` is asked for. Tests may be collective, and none of them raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints
from ..assembly.numbering import IDLE
from ..assembly.protocol import Explains, having
from ..bodies.body import Body
from ..errors import Cause, SymancfError, listed, owner
from ..laws import evaluate_energy
from ..laws.pressure_predictor import stiffness_ratio
from ..mesh.cells import jacobians
from ..runtime.collective import together

if TYPE_CHECKING:
    from ..assembly.discrete import DiscreteSystem
    from .law_limits import NearestLimit

Words = Mapping[str, Any]

MOST_CAUSES = 3  # causes that are told
STIFF_RATIO = 1e6  # ratio of moduli beyond which unknowns of cells lose their digits
FLAT_CELL = 0.3  # scaled Jacobian of a cell that may be about to invert
UNIT_ERROR_RATIO = 1e3  # times the size of the model: what loads of other units would move it by
MIN_ITERATIONS = 15  # iterations: fewer are what an option allows
LONG_STEP = 1.0 / 64.0  # of a step: shorter parts are not too long
NEAR_LIMIT = 0.2  # of its value at rest: so near the end of a law its stresses grow much
LEAP_RATIO = 10.0  # times what a smooth function would prescribe in a part of the step


@dataclass
class EndOfPath:
    """What the path of equilibria does up to the last one, see `Branch.end`.

    Attributes
    ----------
    where : the last equilibrium, in words.
    faster : times the displacements grow faster with the load than at the start of the step.
    softer : whether they meet so much less stiffness.
    fixed : whether loads that follow the body were let in with fixed directions.
    place, growth : where they grow much faster than elsewhere, or "", and how much.
    reach : displacement that the first tangent predicts for the whole load, in sizes of the model.
    """

    where: str = ""
    faster: float = 0.0
    softer: bool = False
    fixed: bool = False
    place: str = ""
    growth: float = 0.0
    reach: float = 0.0


class Undetermined(NamedTuple):
    """What a tangent leaves free: ``motion``, ``constraints``, ``pressure`` or ``place``."""

    what: str
    text: str
    names: Sequence[str] = ()


@dataclass
class Failure:
    """A solution that failed, as the tests of `TABLE` see it.

    Attributes
    ----------
    state : the last one that was found, to which the system has gone back.
    start, to : times between which the step was to lead.
    step, smallest : its length and the smallest part of it that was tried, as asked for.
    time : of the attempt.
    reason : PETSc's, e.g. ``"DIVERGED_MAX_IT"``.
    outside : a state on the way at which laws have no value, or None.
    refused : terms to which a solution was not good enough, as contact.
    prescribed : the prescribed coordinates of the attempt (local vector), and of the end.
    share : part of the way from `state` to the end that the attempt was.
    first : whether nothing has been solved before.
    allowed : iterations that Newton's method may make.
    idle : rigid bodies without inertia that may turn.
    moving, explicit : whether it was a step of a motion, by an explicit method.
    along : name of the parameter of a path that was followed, or "".
    tangent, path : what else is known of the last state, each asked once.
    """

    system: DiscreteSystem
    state: Array
    start: float
    to: float
    step: float
    time: float
    smallest: float = 1.0
    reason: str = ""
    outside: Array | None = None
    refused: Sequence[str] = ()
    prescribed: tuple[Array, Array] | None = None
    share: float = 1.0
    first: bool = False
    allowed: int = 100
    idle: Sequence[str] = ()
    moving: bool = False
    explicit: bool = False
    along: str = ""
    tangent: Callable[[], Undetermined | None] = lambda: None
    path: Callable[[], EndOfPath] = EndOfPath

    @cached_property
    def undetermined(self) -> Undetermined | None:
        """What the tangent leaves free."""
        return self.tangent()

    @cached_property
    def end(self) -> EndOfPath:
        """What the path does."""
        return self.path()

    @cached_property
    def without_value(self) -> list[tuple[str, str, bool]]:
        """The terms whose law has no value on the way: name, place, whether it is a contact."""
        return [] if self.outside is None else _without_value(self.system, self.outside)

    @cached_property
    def law_limit(self) -> NearestLimit | None:
        """Where a law is near its end in the last state, else where it is beyond it on the way."""
        from .law_limits import nearest_limit

        last = nearest_limit(self.system, self.state)
        if last is None or last.share <= NEAR_LIMIT:
            return last
        if self.outside is None:
            return None
        on_the_way = nearest_limit(self.system, self.outside)
        return on_the_way if on_the_way is not None and on_the_way.share <= 0.0 else None

    @property
    def near(self) -> Words:
        """A shorter step, for lines."""
        if not self.step:
            several = "[problem.solve() for parameter.value in np.linspace(first, last, 10)]"
            return {"shorter": several}
        values = {"to": f"{self.to:.6g}", "step": f"{self.step / 10.0:.3g}"}
        return values | {"shorter": "problem.solve(to={to}, step={step})".format(**values)}


def _without_value(system: DiscreteSystem, state: Array) -> list[tuple[str, str, bool]]:
    """Return the terms whose law has no value at a state (collective)."""
    assembler, f, names = system.assembler, np.zeros_like(state), []
    for name in dict.fromkeys(form.name for form in assembler.forms):
        bad, mine = 0, np.array([form.name == name for form in assembler.forms])
        with together(system.comm), assembler.only(mine):
            bad = assembler.residual(state, f)
        wrong = np.flatnonzero(~np.isfinite(f))
        if system.comm.allreduce(bad + len(wrong)):
            kinked = any(p.kinked for p in assembler.forms if p.name == name)
            names.append((name, _near(system, system.numbering.vertex_of[wrong[:1]]), kinked))
    return names


def _near(system: DiscreteSystem, vertices: Ints) -> str:
    """Tell where the first of some vertices of all ranks is, or "" (collective)."""
    places = [tuple(x) for x in system.points[vertices].tolist()]
    every = [x for part in system.comm.allgather(places) for x in part]
    return " near ({:.4g}, {:.4g}, {:.4g})".format(*min(every)) if every else ""


def _variable(name: str) -> str:
    """Return what stands for a body or term in a line of Python."""
    return owner(name) if owner(name).isidentifier() else "body"


def flattest(system: DiscreteSystem, state: Array) -> tuple[float, str, str]:
    """Return the least scaled Jacobian of solid cells at a state, the body, where (collective)."""
    q, numbering, worst = system.reference + state, system.numbering, (1.0, "", "")
    for body in system.bodies:
        if not isinstance(body, Body) or body.element.topology.dimension < 3:
            continue
        on = system.binding(body).interpolation
        at = numbering.offset[on.cells, numbering.block("position")]
        low, vertex = 1.0, np.zeros(0, dtype=np.int64)
        if len(at):
            cell = jacobians(body.element.cell, q[at[..., None] + np.arange(3)]).min(axis=1)
            low, vertex = float(cell.min()), on.cells[[int(cell.argmin())], 0]
        least = system.comm.allreduce(low, op=MPI.MIN)
        where = _near(system, vertex if low == least else vertex[:0])
        worst = min(worst, (least, system.name(body), where))
    return worst


# ---- the tests ----------------------------------------------------------------------------------
def _term_words(f: Failure) -> Words | None:
    system = f.system
    for own in having([system.binding(term) for term in system.terms], Explains):
        for state in (f.state,) if f.outside is None else (f.outside, f.state):
            text = own.explain(system, state, f.time)
            if text:
                return {"text": text}
    return None


def _at_rest(f: Failure) -> Words | None:
    if not f.without_value:
        return None
    bad = _without_value(f.system, np.zeros_like(f.state))
    if not bad:
        return None
    name, near, _ = bad[0]
    return {"name": owner(name), "near": near and f",{near}"}


def _volume(f: Failure) -> Words | None:
    causes = []
    for body in f.system.bodies:
        if not isinstance(body, Body) or not body.element.kinematics().local:
            continue
        try:
            called = evaluate_energy(body.element, body._energy_function)
            if stiffness_ratio(called, body.parameters) > STIFF_RATIO:
                causes.append(f"{f.system.name(body)!r} ({body.element.name})")
        except SymancfError:
            continue
    return {"names": " and ".join(causes), "most": f"{STIFF_RATIO:.0e}"} if causes else None


def _free(what: str) -> Callable[[Failure], Words | None]:
    def test(f: Failure) -> Words | None:
        free = f.undetermined
        if free is None or free.what != what:
            return None
        body = _variable(free.names[0]) if free.names else "body"
        return {"text": free.text, "body": body, "names": listed(free.names)}

    return test


def _idle(f: Failure) -> Words | None:
    return {"names": ", ".join(map(repr, f.idle))} if f.idle else None


def _leap(f: Failure) -> Words | None:
    if f.prescribed is None:
        return None
    fixed = f.system.numbering.fixed_by
    fixed_here = (fixed >= 0) & (fixed != IDLE)
    now, end = (np.where(fixed_here, x - f.state, 0.0) for x in f.prescribed)
    k = int(np.argmax(np.abs(now))) if len(now) else 0
    mine = (float(abs(now[k])), int(fixed[k])) if len(now) else (0.0, -1)
    jump, support = max(f.system.comm.allgather(mine))
    most = f.system.comm.allreduce(float(np.abs(end).max(initial=0.0)), op=MPI.MAX)
    if not jump > max(LEAP_RATIO * f.share * most, 1e-9 * f.system.extent) or support < 0:
        return None
    name = owner(f.system.name(f.system.terms[support]))
    return {"name": name, "jump": f"{jump:.3g}", "time": f"{f.time:.4g}", **f.near}


def _refused(f: Failure) -> Words | None:
    return {"names": ", ".join(map(repr, f.refused)), **f.near} if f.refused else None


def _turned(f: Failure) -> Words | None:
    if f.outside is None or not any(not kinked for *_, kinked in f.without_value):
        return None
    low, name, where = flattest(f.system, f.outside)
    if low > 0.0:
        return None
    before, *_ = flattest(f.system, f.state)
    flat = f", where one is nearly flat already (scaled Jacobian {before:.2g})"
    return {
        "name": name,
        "near": where,
        "flat": flat if before < FLAT_CELL else "",
        "body": _variable(name),
    }


def _limit_of_law(f: Failure) -> Words | None:
    limit = f.law_limit
    if limit is None:
        return None
    beyond = " on the way" if limit.share <= 0.0 else " in the last state"
    return {"text": limit.words, "when": beyond, **f.near}


def _material(f: Failure) -> Words | None:
    from .ellipticity import lost_ellipticity

    text = lost_ellipticity(f.system, f.state)
    return {"text": text} if text else None


def _constraint_words(f: Failure) -> Words | None:
    if f.law_limit is not None:
        return None
    bad = [(name, near) for name, near, kinked in f.without_value if not kinked]
    if not bad or _turned(f):
        return None
    names = " and of ".join(f"{owner(name)!r}{near}" for name, near in bad[:2])
    return {"names": names, **f.near}


def _touching(f: Failure) -> Words | None:
    if f.reason not in ("DIVERGED_MAX_IT", "DIVERGED_LINE_SEARCH"):
        return None
    system, names = f.system, []
    change = system.numbering.random(5)
    for name in dict.fromkeys(p.name for p in system.assembler.forms if p.kinked):
        answer, mine = (
            np.zeros_like(change),
            np.array([p.name == name for p in system.assembler.forms]),
        )
        with together(system.comm), system.assembler.only(mine):
            system.assembler.product(f.state, change, answer)
        if system.comm.allreduce(bool(answer.any()), op=MPI.LOR):
            names.append(re.sub(r":\d+$", "", name))
    return {"names": listed(names), **f.near} if names else None


def _units(f: Failure) -> Words | None:
    return {"reach": f"{f.end.reach:.1g}"} if f.first and f.end.reach > UNIT_ERROR_RATIO else None


def _limit(f: Failure) -> Words | None:
    if not (f.end.softer and f.end.faster):
        return None
    more = (
        " (loads applied instantaneously are ramped with fixed directions: follower loads that "
        "grow from small values by a Parameter or by time may converge)"
    )
    faster = f"{f.end.faster:.2g} times" if np.isfinite(f.end.faster) else "infinitely"
    return {"faster": faster, "more": more if f.end.fixed else ""}


def _faster(f: Failure) -> Words | None:
    if f.end.softer or not f.end.faster or f.without_value:
        return None
    return {"faster": f"{f.end.faster:.2g}", **f.near}


def _soft_place(f: Failure) -> Words | None:
    return {"place": f.end.place, "growth": f"{f.end.growth:.2g}"} if f.end.place else None


def _few(f: Failure) -> Words | None:
    few = f.reason == "DIVERGED_MAX_IT" and f.allowed < MIN_ITERATIONS
    return {"allowed": f.allowed} if few else None


def _flat(f: Failure) -> Words | None:
    if not f.along or f.reason != "DIVERGED_ARC_LENGTH":
        return None
    low, name, where = flattest(f.system, f.state)
    if low > FLAT_CELL:
        return None
    return {"name": name, "near": where, "low": f"{low:.2g}", "body": _variable(name)}


def _along(reason: str) -> Callable[[Failure], Words | None]:
    def test(f: Failure) -> Words | None:
        return {"along": f.along, "to": f"{f.to:.6g}"} if f.along and f.reason == reason else None

    return test


def _long(f: Failure) -> Words | None:
    if f.moving or f.smallest <= LONG_STEP:
        return None
    return {"smallest": f"{f.smallest:.3g}", **f.near}


def _first(f: Failure) -> Words | None:
    tiny = f.start + 1e-6 * (f.to - f.start)
    return {"tiny": f"{tiny:.3g}"} if f.first and not f.moving and not _units(f) else None


def _steps(f: Failure) -> Words | None:
    return {"asked": f"{f.step:.3g}", **f.near} if f.moving and not f.explicit else None


def _explicit(f: Failure) -> Words | None:
    return {} if f.explicit else None


class CauseRow(NamedTuple):
    """A cause: its test, its sentence and its line with the words of the test.

    `alone`: where it is found nothing else is looked for.
    """

    kind: str
    test: Callable[[Failure], Words | None]
    sentence: str
    line: str
    alone: bool = False


SHORTER = "{shorter}"
TABLE = (
    CauseRow(
        "cord",
        _term_words,
        "{text}",
        "print(tendon.lengths(system))",
        alone=True,
    ),
    CauseRow(
        "no value at rest",
        _at_rest,
        "the law of {name!r} is not finite already at rest, without any displacement{near}: look "
        "at its parameters, and at terms such as 1/x, sqrt(x), log(x) where x is 0 there",
        "print(sa.check(system))",
        alone=True,
    ),
    CauseRow(
        "bulk modulus",
        _volume,
        "the bulk modulus of {names} is more than {most} times the shear modulus, and unknowns of "
        "its cells lose their digits there: take an element with a pressure, tet10 with "
        "pressure='continuous' or hex27 with 'discontinuous', or a smaller modulus",
        'sa.Body(region, sa.elements.hex27, energy, pressure="discontinuous", **parameters)',
        alone=True,
    ),
    CauseRow(
        "inertia",
        _idle,
        "{names} may turn without inertia: give inertia=..., fix the rotation, or use an "
        'explicit method="rk"',
        "sa.RigidBody(mass=..., inertia=(..., ..., ...))",
        alone=True,
    ),
    CauseRow(
        "free motion",
        _free("motion"),
        "unconstrained rigid-body modes: {text}",
        'sa.fix({body}["region"])',
        alone=True,
    ),
    CauseRow(
        "constraints",
        _free("constraints"),
        "the tangent is singular in the multipliers of {names}: these constraints repeat others "
        "or the supports, or contradict them",
        "sa.System(*bodies, terms=[...])  # without one of them",
        alone=True,
    ),
    CauseRow(
        "pressure",
        _free("pressure"),
        "the tangent is singular in the pressure of {names}: displacements that are prescribed all "
        "around an incompressible body leave it undetermined, or contradict it",
        'sa.fix({body}["region"], ["x", "y"])  # leave a part of the surface free',
        alone=True,
    ),
    CauseRow(
        "zero pivot",
        _free("place"),
        "the tangent is singular: it has a mode without stiffness, which is largest near {text}",
        "print(sa.EigenProblem(system).solve())  # the modes of frequency zero",
        alone=True,
    ),
    CauseRow(
        "jump",
        _leap,
        "the displacement that {name!r} prescribes jumps by {jump} at t = {time}, however short "
        "the step is",
        "sa.fix(place, displacement=(lambda t: rate * t, 0.0, 0.0))",
    ),
    CauseRow(
        "contact",
        _refused,
        "what touches changes too much in a step: the step is too long for {names}",
        SHORTER,
    ),
    CauseRow(
        "explicit step",
        _explicit,
        "the step is too long for this explicit method; those of generalized-alpha may be longer",
        "sa.DynamicProblem(system)  # generalized-alpha",
    ),
    CauseRow(
        "units",
        _units,
        "this is the first step, however short, and its loads would move the model by {reach} "
        "times its own size: are loads and units right (E in Pa where lengths are in m)?",
        "sa.Body(region, element, energy, E=0.5e6, **parameters)  # 0.5 MPa in Pa",
    ),
    CauseRow(
        "end of a law",
        _limit_of_law,
        "{text}{when}: loads that lead beyond need another law, or other parameters of it",
        SHORTER,
    ),
    CauseRow(
        "material",
        _material,
        "{text}: a body of it may break up into bands, however fine its cells are",
        "print(sa.check(law, stretches=(0.5, 2.0), **parameters))  # where the law is stable",
    ),
    CauseRow(
        "limit point",
        _limit,
        "a limit point, or nearly one: displacements grow {faster} faster with the load than at "
        "the start of the step, beyond the load-carrying capacity{more}",
        "problem.follow(parameter, to=...)",
    ),
    CauseRow(
        "soft place",
        _soft_place,
        "{place} moves {growth} times faster with the load than at the start of the step: it "
        "buckles or snaps there, a local limit point; a force on an edge may be the cause, which "
        "a stiffer part would carry",
        "problem.follow(parameter, to=...)",
    ),
    CauseRow(
        "cells",
        _turned,
        "cells of {name!r} invert (J <= 0){near}{flat}: they are bent or pressed too much for "
        "their size or shape",
        "print({body}.region.mesh.quality())  # finer or better cells there",
    ),
    CauseRow(
        "flat cells",
        _flat,
        "cells of {name!r} are nearly flat{near} (scaled Jacobian {low}): the path ends where they "
        "invert",
        "print({body}.region.mesh.quality())  # finer or better cells there",
    ),
    CauseRow(
        "law",
        _constraint_words,
        "points left the domain of the law of {names} (its stretches have an end, or J <= 0)",
        SHORTER,
    ),
    CauseRow(
        "contact",
        _touching,
        "what touches in {names} may open and close, or stick and slip, from one iteration to the "
        "next",
        SHORTER,
    ),
    CauseRow(
        "iterations",
        _few,
        "Newton's method may make no more than {allowed} iterations",
        'sa.StaticProblem(system, options={{"snes_max_it": 40}})',
    ),
    CauseRow(
        "steep path",
        _faster,
        "displacements grow {faster} times faster with the load than at the start of the step, but "
        "meet no less stiffness on their way: take smaller steps, or follow() the path",
        SHORTER,
    ),
    CauseRow(
        "step",
        _long,
        "the step is too long, and no part of it below {smallest} was to be tried",
        SHORTER,
    ),
    CauseRow(
        "first step",
        _first,
        "this is the first step, however short: are loads and units right?",
        "problem.solve(to={tiny})  # a millionth of it",
    ),
    CauseRow(
        "corner of a path",
        _along("DIVERGED_ARC_LENGTH"),
        "the path may have a corner here, as where a contact opens or a law has a kink, or end",
        "problem.follow(parameter, to={to}, smallest=1e-12)  # {along!r}",
    ),
    CauseRow(
        "direction of a path",
        _along("AWAY"),
        "the path was begun in the other direction, or {along!r} turns at limit points first",
        "problem.follow(parameter, to={to}, direction=-1)  # or 1",
    ),
    CauseRow(
        "steps of a path",
        _along("STEPS"),
        "the path along {along!r} is longer than its steps",
        "problem.follow(parameter, to={to}, steps=1000)",
    ),
    CauseRow(
        "time step",
        _steps,
        "steps of {asked} may be longer than what happens: an impact, a kink in time",
        "problem.solve(to={to}, step={step}, adaptive=True)",
    ),
)


def likely(failure: Failure) -> tuple[Cause, ...]:
    """Return the likely causes of a failure, the likeliest first, at most three (collective)."""
    causes: list[Cause] = []
    for row in TABLE:
        words = _answer(row.test, failure)
        if words is None:
            continue
        cause = Cause(row.kind, row.sentence.format(**words), row.line.format(**words))
        if row.alone:
            causes = [cause]
            break
        causes.append(cause)
        if len(causes) == MOST_CAUSES:
            break
    return tuple(Cause(*cause) for cause in failure.system.comm.bcast(causes))


def _answer(test: Callable[[Failure], Words | None], failure: Failure) -> Words | None:
    """Return what a test says, None where it fails: the failure itself is told in any case."""
    words, failed = None, False
    try:
        words = test(failure)
    except Exception:
        failed = True
    return None if failure.system.comm.allreduce(failed, op=MPI.LOR) else words
