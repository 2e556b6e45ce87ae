# SPDX-License-Identifier: BSD-3-Clause
"""Thousands of joints, supports and bodies: right numbers, and a cost in proportion to them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from tests import many

from .case import Case, Wrong, require_near

GROWTH = 2.0  # of the processor's time for one part, from a fifth of the parts to all of them


def _in_proportion(solved: Callable[[int], Any], count: int) -> Any:
    """Return what the whole model gives; raise `Wrong` where a part of it costs more than before.

    `solved` returns numbers that do not depend on the number of parts.
    """
    comm, each, found = MPI.COMM_WORLD, [], []
    solved(20)  # kernels, imports
    for n in (count // 5, count):
        begun = time.process_time()
        found.append(solved(n))
        each.append(comm.allreduce(time.process_time() - begun) / n)
    require_near(found[0], found[1], 1e-10, f"{count // 5} and {count} parts")
    if each[1] > GROWTH * each[0]:
        raise Wrong(f"{1e3 * each[0]:.3g} ms for one of {count // 5}, {1e3 * each[1]:.3g} at last")
    return found[1]


def _hanging(count: int, kind: many.Kind, tree: bool) -> Any:
    """Weights on hinges, as shares of what hangs there."""
    system, hinges, loads = many.hanging(count, kind, tree)
    sa.StaticProblem(system, prefix=f"hanging{count}_").solve(to=1.0)
    chosen = np.unique(np.linspace(0, count - 1, 300).astype(int))
    found = many.carried(system, [hinges[k] for k in chosen]) / loads[chosen]
    require_near(found, np.ones(len(chosen)), 1e-10, "weight below a hinge")
    return [float(found.min()), float(found.max())]


def _pendulums(count: int, kind: many.Kind) -> Any:
    """The place of the first and the last after two steps, from where they are pinned."""
    system, bodies = many.pendulums(count, kind)
    sa.DynamicProblem(system, prefix=f"swinging{kind}{count}_").solve(to=2e-2, step=1e-2)
    ends = [system.position(bodies[k].at((1.0, 0.0, 0.0)))[0] for k in (0, count - 1)]
    first, last = ends[0], ends[1] - [0.0, 2.0 * (count - 1), 0.0]
    require_near(first, last, 1e-10, "the last pendulum")  # at (0, 2 count): digits are lost
    return first


def _rods(count: int) -> Any:
    system, rods = many.rods(count)
    sa.StaticProblem(system, prefix=f"rods{count}_").solve()
    at = [rods[k].at((1.0, 3.0 * k, 0.0)) for k in (0, count - 1)]
    first, last = (system.displacement(place)[0] for place in at)
    require_near(first, last, 1e-9, "the last rod")
    return first


def _supports(count: int) -> Any:
    """A cable on `count` supports, the last one of which is lifted."""
    mesh = sa.Mesh.box((float(count - 1),), (count - 1,))
    given = {"EA": 10.0, "EI": 1.0}
    cable = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    lifts = [(0.0, 0.0, 0.0)] * (count - 1) + [(0.0, 0.0, 0.01)]
    terms = [
        sa.fix(cable.at((float(k), 0.0, 0.0)), "position", lift, name=f"support {k}")
        for k, lift in enumerate(lifts)
    ]
    system = sa.System(cable, terms=terms)
    sa.StaticProblem(system, prefix=f"supports{count}_", check_held=False).solve()
    forces = [term.reaction(system).force[2] for term in terms[-20:]]  # they fade by 0.27 each
    require_near(sum(forces), 0.0, 1e-8, "sum of the forces", 0.1)
    return forces[-4:]


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield models of many parts; they do not depend on chance."""
    every: dict[str, Callable[[], Any]] = {
        "10,000 joints of a chain": lambda: _in_proportion(
            lambda n: _hanging(n, "plane", False), 10_000
        ),
        "10,000 joints of a tree": lambda: _in_proportion(
            lambda n: _hanging(n, "plane", True), 10_000
        ),
        "3,000 joints of a tree in space": lambda: _in_proportion(
            lambda n: _hanging(n, "space", True), 3_000
        ),
        "5,000 pendulums": lambda: _in_proportion(lambda n: _pendulums(n, "plane"), 5_000),
        "2,000 bodies": lambda: _in_proportion(_rods, 2_000),
        "33,000 supports": lambda: _in_proportion(_supports, 33_000),
    }
    for name, run in list(every.items())[:count]:
        yield Case(name, run, "right")
