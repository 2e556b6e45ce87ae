# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of the models of all kinds of terms, against solutions beside.

``python -m tests.campaign.gradients --seed 1 --count 40`` takes models of `sa.capabilities` in an
order of chance, each in statics, along a path with a trace and in a motion, with a `Parameter` for
each of its numbers, and prints a row for each: the orders of Taylor's remainders along a random
direction over three halvings, how far differences of fourth order lie, and what was refused.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

import symancf as sa

from . import capability_models as models

EXACT: dict[str, Any] = {"snes_rtol": 1e-13, "snes_stol": 1e-15, "snes_max_it": 80}
H = 0.02  # the first step along a direction of the size of each value
ORDER, NEAR = 1.95, 1e-7
ROUND_OFF = 3e-11  # of the size of a goal: what solutions repeat
KINDS = ("statics", "path", "motion", "modes")
#: Makers whose numbers become parameters, and those whose tuples do, too
NUMBERS = {"Body", "Potential", "BodyPotential", "VirtualWork", "Controller", "PID"}
NUMBERS |= {"KelvinVoigt", "Viscosity", "Thread", "Tendon", "Contact", "Cavity", "Gas", "pressure"}
CONSTRAINTS = {"distance", "translation", "rotation", "on_sphere"}
NUMBERS |= {"dielectric", "winch", "tendon", *CONSTRAINTS}
VECTORS = {"gravity", "force", "traction", "moment", "magnetic", "rotating_frame"}


@dataclass
class Numbers:
    """Makes parameters of the numbers that constructors are given."""

    random: np.random.Generator
    kind: str
    variables: list[Any] = field(default_factory=list)

    def number(self, name: str, value: Any) -> Any:
        """Return a parameter, or what is no number, or zero, as it is.

        So are lengths in motions: these begin in the reference, which has to fulfil constraints.
        """
        if self.kind == "motion" and name in CONSTRAINTS:
            return value
        if isinstance(value, bool) or not isinstance(value, float) or value == 0.0:
            return value
        made = sa.Parameter(f"{name} {len(self.variables)}", value)
        self.variables.append(made)
        return made

    def load(self, name: str, value: Any) -> Any:
        """Return a component of a load: a parameter, or a history."""
        if not isinstance(value, float) or value == 0.0:
            return value
        if self.kind == "statics" or self.random.uniform() < 0.3:
            return self.number(name, value)
        made = sa.Series([0.0, 0.05, 0.4, 1.0], value * np.array([0.0, 0.5, 1.0, 0.7]))
        self.variables.append(made)
        return made

    def call(self, name: str, make: Callable[..., Any], /, *args: Any, **given: Any) -> Any:
        """Return what is made of parameters, or of numbers where these alone are possible."""
        before = len(self.variables)
        try:
            own = {key: self.number(f"{name}.{key}", value) for key, value in given.items()}
            if name in VECTORS:
                load = self.number if name == "rotating_frame" else self.load  # none of time
                args = tuple(
                    tuple(load(name, x) for x in a) if isinstance(a, tuple) else a for a in args
                )
            elif name != "Contact":
                args = tuple(self.number(name, a) for a in args)
            return make(*args, **own)
        except (sa.SymancfError, TypeError, ValueError):
            del self.variables[before:]
            return make(*args, **given)


class Proxy:
    """A module whose constructors take parameters for numbers."""

    def __init__(self, of: Any, numbers: Numbers) -> None:
        self._of, self._numbers = of, numbers

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        if name not in NUMBERS | VECTORS:
            return found
        return lambda *args, **given: self._numbers.call(name, found, *args, **given)


@contextmanager
def parametric(numbers: Numbers) -> Iterator[None]:
    """Let the models of `capability_models` have parameters for numbers."""
    plain = models.sa, models.joints
    models.sa = Proxy(sa, numbers)  # type: ignore[assignment]
    models.joints = Proxy(sa.joints, numbers)  # type: ignore[assignment]
    try:
        yield
    finally:
        models.sa, models.joints = plain  # type: ignore[assignment]


class Trial:
    """One problem with parameters and a goal.

    Parameters
    ----------
    kind : statics, path or motion.
    """

    def __init__(self, kind: str, made: models.Model, variables: list[Any]) -> None:
        self.kind, self.made, self.variables = kind, made, variables
        system = made.system()
        self.numbers: list[int] = []  # of modes
        if kind == "motion":
            self.problem: Any = sa.DynamicProblem(system, options=EXACT, **made.options)
        else:
            self.problem = sa.StaticProblem(system, options=EXACT, check_stable=False)
        self.goal = self.goals()
        self.before = [value_of(v) for v in variables]

    def goals(self) -> sa.Goal:
        """Return a goal of a place, of its speed, of a support, on the way."""
        if self.kind == "motion" and not self.made.watch.plane:
            place = sa.Goal(
                lambda u_a, v_a: u_a[0] + u_a[1] - 0.7 * u_a[2] + u_a.dot(u_a) + 0.02 * v_a[1],
                self.made.watch,
            )
        else:
            place = sa.Goal(
                lambda u_a: u_a[0] + u_a[1] - 0.7 * u_a[2] + u_a.dot(u_a), self.made.watch
            )
        goal = place if self.kind == "statics" else place + 2.0 * place.integral()
        supports = [t for t in self.made.terms if type(t).__name__ == "Support"]
        try:
            force = sa.Goal(lambda F: F[0] + 0.5 * F[2], supports[0])
            return goal + 0.01 * force
        except (sa.SymancfError, IndexError):
            return goal

    def solve(self) -> float:
        """Solve from where it stands and return the goal."""
        if self.kind == "motion":
            self.problem.solve(to=6 * self.made.step, step=self.made.step, trace=sa.Trace())
        elif self.kind == "path":
            self.problem.solve(to=1.0, step=0.25, smallest=1.0, trace=sa.Trace())
        else:
            self.problem.solve(to=1.0, step=0.5)
        if self.kind == "modes":
            return self.square()
        return float(self.problem.value(self.goal))

    def square(self) -> float:
        """Return the sum of squares of the first frequencies that no other one is near.

        Of one mode, or of several with the same frequency.
        """
        self.modes = sa.EigenProblem(self.problem.system).solve(6)
        squares = self.modes.squares
        if not self.numbers:
            apart = [y > 1.05 * x for x, y in pairwise(squares)]
            ends = [*apart, len(squares) < 6]  # what follows the last one is known of few alone
            for k in np.flatnonzero(squares):
                end = next((n + 1 for n in range(k, len(ends)) if ends[n]), None)
                if end is not None and (k == 0 or ends[k - 1]):
                    self.numbers = [*range(k, end)]
                    break
            else:
                raise sa.ParameterError("no modes that are alone", asked="modes")
        return float(squares[self.numbers].sum())

    def at(self, h: float, directions: list[Any]) -> float:
        """Return the goal of a solution beside."""
        self.problem.reset()  # parameters, too
        for variable, value, d in zip(self.variables, self.before, directions, strict=True):
            put(variable, value + h * d)
        return self.solve()

    def gradient(self, refused: list[str]) -> sa.Parameter:
        """Return the gradient by all variables of which there is one; `refused` takes others."""
        while True:
            try:
                if self.kind == "modes":
                    return self.modes.gradient(self.variables, self.numbers)
                return self.problem.gradient(self.goal, self.variables)
            except sa.ParameterError as error:
                out = [k for k, v in enumerate(self.variables) if names(error, v)]
                if not out:
                    raise
                if "nothing depends" not in str(error):
                    refused.append(str(error).split(":")[0][:60])
                for k in reversed(out):
                    del self.variables[k], self.before[k]
                if not self.variables:
                    raise


def names(error: sa.ParameterError, variable: Any) -> bool:
    """Tell whether an error is about a variable."""
    text = str(error)
    if isinstance(variable, sa.Parameter):
        return repr(variable.name) in text or error.given == variable.name
    return str(variable) in text


def value_of(variable: Any) -> Any:
    """Return the number or the values of a variable."""
    return variable.value if isinstance(variable, sa.Parameter) else variable.values.copy()


def put(variable: Any, value: Any) -> None:
    """Assign them."""
    if isinstance(variable, sa.Parameter):
        variable.value = float(value)
    else:
        variable.values = value


@dataclass
class Finding:
    """What a trial found: a verdict with the numbers that it follows from."""

    name: str
    kind: str
    verdict: str
    orders: tuple[float, ...] = ()
    difference: float = np.nan
    variables: int = 0
    text: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        orders = " ".join(f"{x:5.2f}" for x in self.orders) or " " * 17
        return (
            f"{self.verdict:8} {self.kind:8} {self.name:42} {self.variables:3d} {orders:17} "
            f"{self.difference:8.1e} {self.seconds:5.1f}  {self.text}"
        )


def judged(trial: Trial, name: str, random: np.random.Generator) -> Finding:
    """Compare the gradient along a random direction with solutions beside."""
    refused: list[str] = []
    trial.solve()
    found = trial.gradient(refused)
    sizes = [np.where(np.asarray(v) == 0.0, 0.1, v) for v in trial.before]
    directions = [s * random.uniform(0.3, 1.0, np.shape(s)) for s in sizes]
    directions = [d * np.sign(random.uniform(-1.0, 1.0, np.shape(d))) for d in directions]
    parts = [
        float(np.sum(np.asarray(found[v]) * d))
        for v, d in zip(trial.variables, directions, strict=True)
    ]
    slope, size = sum(parts), max(sum(map(abs, parts)), 1e-300)
    right = False
    for h in (H, H / 20):  # a switch of contact or friction may be within the first
        try:
            orders, difference = remainders(trial, h, directions, found.value, slope, size)
        except sa.ConvergenceError:  # nothing is known of solutions as far away
            if h == H:
                continue
            raise
        right = (all(o >= ORDER for o in orders) and difference < 1e-4) or difference <= NEAR
        if right:
            break
    verdict = "right" if right else ("rough" if difference <= 1e-5 else "WRONG")
    text = "; ".join(refused)
    if not right:
        text += " by " + worst(trial, found)
    return Finding(name, trial.kind, verdict, orders, difference, len(parts), text)


def remainders(
    trial: Trial, first: float, directions: list[Any], value: float, slope: float, size: float
) -> tuple[tuple[float, ...], float]:
    """Return Taylor's orders over three halvings, and how far differences of order 4 lie."""
    steps = [first / 2**k for k in range(4)]
    values = {h: trial.at(h, directions) for h in (*steps, -steps[2], -steps[3])}
    trial.at(0.0, directions)
    rest = [abs(values[h] - value - h * slope) for h in steps]
    h = steps[3]
    known = (8 * (values[h] - values[-h]) - values[2 * h] + values[-2 * h]) / (12 * h)
    floor = ROUND_OFF * max(abs(value), size)
    orders = tuple(float(np.log2(a / b)) if b > floor else 2.0 for a, b in pairwise(rest))
    return orders, abs(known - slope) / size


def worst(trial: Trial, found: Any) -> str:
    """Return by which variables the gradient differs most from differences."""
    lines = []
    scale = max(
        float(np.sum(np.abs(np.asarray(found[v]) * b)))
        for v, b in zip(trial.variables, trial.before, strict=True)
    )
    for k, v in enumerate(trial.variables):
        ones = [np.zeros(np.shape(b)) for b in trial.before]
        ones[k] = np.where(np.asarray(trial.before[k]) == 0.0, 0.1, trial.before[k])
        h = 2e-3
        a, b, c, d = (trial.at(x, ones) for x in (h, -h, 2 * h, -2 * h))
        known = (8 * (a - b) - c + d) / (12 * h)
        own = float(np.sum(np.asarray(found[v]) * ones[k]))
        off = abs(known - own) / scale
        if off > NEAR:
            name = v.name if isinstance(v, sa.Parameter) else "series"
            lines.append((off, f"{name} {own:.6g} for {known:.6g}"))
    return ", ".join(text for _, text in sorted(lines, reverse=True)[:3])


def tried(row: tuple[str, str], kind: str, seed: int) -> Finding:
    """Return what comes of a row of the table in a kind of problem."""
    chance = np.random.default_rng([seed, sum(map(ord, "".join(row))), KINDS.index(kind)])
    began, name = time.process_time(), " ".join(row)
    numbers = Numbers(chance, kind)
    try:
        with parametric(numbers):
            made = build(row)
        found = judged(Trial(kind, made, numbers.variables), name, chance)
    except sa.SymancfError as error:
        verdict = "refused" if isinstance(error, sa.ParameterError) else "ERROR"
        found = Finding(name, kind, verdict, text=f"{type(error).__name__}: {error}"[:150])
    except Exception as error:  # a fault of the product is a finding
        found = Finding(name, kind, "CRASH", text=f"{type(error).__name__}: {error}"[:150])
    found.seconds = time.process_time() - began
    return found


def build(row: tuple[str, str]) -> models.Model:
    """Return the model of a row of the table, or of a cord."""
    kind, name = row
    return models.loaded(CORDS[name]) if kind == "cord" else models.model(kind, name)


def cord(mu: float = 0.0, **ends: Any) -> Callable[[sa.Body], Any]:
    """Return a cord along the top of a block, to the ground."""

    def strung(body: sa.Body) -> Any:
        places = [
            body.at([(0.2, 0.3, 1.0), (1.0, 0.6, 1.0), (2.0, 0.4, 1.0)]),
            sa.ground.at((2.6, 0.5, 0.7)),
        ]
        own = {key: make() for key, make in ends.items()}
        return models.sa.Tendon(places, EA=3.0, mu=mu, tension=0.1, **own)

    return strung


def thread(path: Callable[[], Any], **given: Any) -> Callable[[sa.Body], Any]:
    """Return a thread in a block."""
    return lambda body: models.sa.Thread(path(), body, **given)


def stiffening(epsilon: Any, *, a: Any, b: Any) -> Any:
    """Return the energy of a thread that stiffens."""
    return a * epsilon**2 / 2 + b * epsilon**4


DIAGONAL = [(0.1, 0.2, 0.9), (1.1, 0.6, 0.8), (1.9, 0.8, 0.9)]
CORDS: dict[str, Callable[[sa.Body], Any]] = {
    "through eyelets": cord(),
    "with friction": cord(0.2),
    "pulled by a force": cord(end=lambda: models.sa.winch(force=0.15)),
    "pulled with friction": cord(0.2, end=lambda: models.sa.winch(force=0.15)),
    "wound in": cord(end=lambda: sa.winch(feed=lambda t: -0.05 * t)),
    "thread": thread(lambda: DIAGONAL, EA=2.0),
    "slack thread": thread(lambda: DIAGONAL, EA=2.0, slack=True),
    "thread with a law": thread(lambda: DIAGONAL, law=stiffening, a=2.0, b=30.0),
    "helix": thread(lambda: sa.Helix(0.3, pitch=1.1, length=0.8, centre=(1, 0.5, 0.1)), EA=2.0),
}


def rows() -> list[tuple[str, str]]:
    """Return kind and name of all models."""
    table = [(str(row[0]), str(row[1])) for row in sa.capabilities().rows]
    return [*(("cord", name) for name in CORDS), *table]


def main() -> int:
    """Try models in an order of chance and return how many gradients are wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.gradients", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="of models")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--only", help="models whose name has this text")
    given = parser.parse_args()
    every = [row for row in rows() if given.only is None or given.only in " ".join(row)]
    random.Random(given.seed).shuffle(every)
    totals: dict[str, int] = {}
    for row in every[: given.count]:
        for kind in given.kinds:
            found = tried(row, kind, given.seed)
            totals[found.verdict] = totals.get(found.verdict, 0) + 1
            print(found, flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(totals.items())))
    return sum(totals.get(verdict, 0) for verdict in ("WRONG", "CRASH"))


if __name__ == "__main__":
    sys.exit(min(main(), 1))
