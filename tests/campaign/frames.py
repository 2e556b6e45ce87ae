# SPDX-License-Identifier: BSD-3-Clause
"""The same model told otherwise: turned, in other units, many times over, on other nodes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import symancf as sa

from . import models
from .case import Case, require_near

Array = Any
UNITS = {"m, kg, s": (1.0, 1.0, 1.0), "mm, t, s": (1e3, 1e-3, 1.0), "um, kg, ms": (1e6, 1.0, 1e3)}


def rotation(axis: Array, angle: float) -> Array:
    """Return the rotation matrix about an axis (Rodrigues)."""
    e = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@dataclass(frozen=True)
class Scene:
    """How a model is told: lengths, masses and times of its units, a rotation, a place."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0
    turn: Array = None
    shift: Array = None

    def place(self, X: Array) -> Array:
        """Return where points in metres are."""
        X = X if self.turn is None else X @ self.turn.T
        return self.length * (X if self.shift is None else X + self.shift)

    def vector(self, v: Array) -> Array:
        """Return a direction in the axes of the scene."""
        return np.asarray(v) if self.turn is None else self.turn @ np.asarray(v)

    @property
    def force(self) -> float:
        """Return the number of a force of 1 N."""
        return self.mass * self.length / self.time**2

    def parameters(self, kind: str, stiff: float) -> dict[str, float]:
        """Return the parameters of a kind of body in these units."""
        _, _, given = models.element(kind)
        L, M, T = self.length, self.mass, self.time
        unit = {
            "E": stiff * M / (L * T**2),
            "nu": 1.0,
            "rho": M / L**3,
            "thickness": L,
            "A": L**2,
            "EA": stiff * M * L / T**2,
            "EI": stiff * M * L**3 / T**2,
        }
        return {name: value * unit[name] for name, value in given.items()}

    def part(self, kind: str, name: str = "part", stiff: float = 1.0) -> sa.Body:
        """Return a body of a kind."""
        lengths, n = models.SIZES[kind]
        mesh = sa.Mesh.box(lengths, n, warp=self.place, name=f"mesh of {name}")
        element, energy, _ = models.element(kind)
        return sa.Body(mesh["body"], element, energy, name=name, **self.parameters(kind, stiff))

    def back(self, u: Array) -> Array:
        """Return displacements in metres, in the axes of the model."""
        u = np.asarray(u) / self.length
        return u if self.turn is None else u @ self.turn


TIP = {"hex": (100.0, 40.0, 300.0), "plate": (50, 10, 120.0), "thin": (50, 10, 120.0),
       "cable": (30.0, 10.0, 40.0)}  # fmt: skip


def statics(
    kind: str, scene: Scene, dofs: str | None, load: str, stiff: float = 1.0, pull: float = 1.0
) -> Any:
    """Return tip and reaction (m, N) of a held body under a load, in the axes of the model."""
    part = scene.part(kind, stiff=stiff)
    held = sa.fix(part["x0"], **({} if dofs is None else {"dofs": dofs}))
    terms, part_load = [held], load
    if part_load == "force":
        vector = tuple(scene.vector(TIP[kind]) * scene.force * stiff * pull)
        terms.append(sa.force(part["x1"], vector))
    elif part_load == "gravity":
        g = 0.3 * stiff * scene.length / scene.time**2
        terms.append(sa.gravity(tuple(scene.vector((0, 0.1, -1.0)) * g)))
    elif part_load == "motion":
        R = rotation(scene.vector((0.2, 1.0, 0.1)), 0.2) - np.eye(3)
        origin = scene.place(np.zeros((1, 3)))
        terms = [sa.fix(part["x0"], "all", displacement=lambda X, t: t * (X - origin) @ R.T)]
        vector = tuple(scene.vector(TIP[kind]) * scene.force * stiff)
        held = terms[0]
        terms.append(sa.force(part["x1"], vector))
    system = models.solve(part, terms=terms)
    tip = scene.back(system.displacement(part["x1"]).mean(axis=0))
    reaction = np.asarray(held.reaction(system).force) / scene.force / stiff
    reaction = reaction if scene.turn is None else reaction @ scene.turn
    return [models.finite(tip), models.finite(reaction)]


def motion(kind: str, scene: Scene, method: str) -> Any:
    """Return the tip of a held body that falls for a short time (m)."""
    part = scene.part(kind)
    g = 10.0 * scene.length / scene.time**2
    gravity = sa.gravity(tuple(scene.vector((0.3, 0.1, -1.0)) * g))
    system = sa.System(part, terms=[sa.fix(part["x0"]), gravity])
    problem = sa.DynamicProblem(system, options={"snes_rtol": 1e-12})
    step = 2e-3 * scene.time
    problem.solve(to=10 * step, step=step)
    return models.finite(scene.back(system.displacement(part["x1"]).mean(axis=0)))


def _told(kind: str, other: Scene, how: tuple[str, Any]) -> Callable[[], Any]:
    def run() -> Any:
        what, given = how
        if what == "motion":
            one, two = motion(kind, Scene(), given), motion(kind, other, given)
        else:
            one, two = (statics(kind, s, *given) for s in (Scene(), other))
        for a, b in zip(one, two, strict=True):
            require_near(a, b, 1e-7, "told otherwise")
        return one

    return run


def _beside(kind: str, ratio: float, other: str) -> Callable[[], Any]:
    """Two bodies that do not touch, one `ratio` times as stiff and hardly bent: as if alone."""

    def run() -> Any:
        far = Scene(shift=np.array([0.0, 0.0, 50.0]))
        alone = [
            statics(kind, Scene(), None, "force"),
            statics(other, far, None, "force", ratio, 1e-3),
        ]
        parts = [Scene().part(kind, "one"), far.part(other, "two", ratio)]
        held = [sa.fix(part["x0"]) for part in parts]
        pulls = [
            sa.force(parts[0]["x1"], tuple(np.array(TIP[kind]))),
            sa.force(parts[1]["x1"], tuple(np.array(TIP[other]) * ratio * 1e-3)),
        ]
        system = models.solve(*parts, terms=[*held, *pulls])
        for k, part in enumerate(parts):
            tip = system.displacement(part["x1"]).mean(axis=0)
            require_near(tip, alone[k][0], 1e-8, f"body {part.name} beside another one")
        return alone

    return run


def _many(kind: str, count: int) -> Callable[[], Any]:
    """`count` copies of a body: each as if alone."""

    def run() -> Any:
        alone = statics(kind, Scene(), None, "force")
        parts = [
            Scene(shift=np.array([0.0, 0.0, 3.0 * k])).part(kind, f"part {k}") for k in range(count)
        ]
        terms = [sa.fix(part["x0"]) for part in parts]
        terms += [sa.force(part["x1"], tuple(map(float, TIP[kind]))) for part in parts]
        system = models.solve(*parts, terms=terms)
        for part in parts:
            tip = system.displacement(part["x1"]).mean(axis=0)
            require_near(tip, alone[0], 1e-8, f"{part.name} of {count}")
        return alone

    return run


def _again(kind: str) -> Callable[[], Any]:
    """A parameter that goes there and back, and a second problem on the same system."""

    def run() -> Any:
        part, load = models.body(kind), sa.Parameter("load", 1.0)
        vector = np.array(TIP[kind], dtype=float)
        pull = [lambda t, a=a: a * load.value for a in vector]
        held = sa.fix(part["x0"])
        system = sa.System(part, terms=[held, sa.force(part["x1"], tuple(pull))])
        problem = sa.StaticProblem(system)
        seen = []
        for value in (1.0, 0.3, 1.0):
            load.value = value
            problem.solve()
            seen.append(models.finite(system.displacement(part["x1"]).mean(axis=0)))
        require_near(seen[0], seen[2], 1e-8, "a load that went and came back")
        sa.StaticProblem(system, prefix="second_").solve()
        now = system.displacement(part["x1"]).mean(axis=0)
        require_near(seen[0], now, 1e-8, "a second problem")
        return seen

    return run


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield models told otherwise."""
    for k in range(count):
        kind = chance.choice(models.KINDS)
        axis, angle = [chance.gauss(0, 1) for _ in range(3)], chance.uniform(0.2, 3.0)
        if k % 9 == 7:
            ratio = 10.0 ** chance.choice([-12, -9, -6, 6, 9, 12])
            other = chance.choice(models.KINDS)
            yield Case(f"{kind} beside {other} {ratio:g}", _beside(kind, ratio, other), "right")
        elif k % 9 == 8:
            n = chance.choice([2, 7, 20])
            yield Case(f"{n} of {kind}", _many(kind, n), "right")
        elif k % 9 == 6:
            yield Case(f"{kind} again", _again(kind), "right")
        else:
            if k % 2:
                told, scene = "turned", Scene(turn=rotation(axis, angle))
            else:
                told = chance.choice(list(UNITS)[1:])
                scene = Scene(*UNITS[told])
            dofs = chance.choice([None, "all"])
            how = chance.choice([("statics", (dofs, load)) for load in TIP_LOADS] + [("motion", "")])  # noqa: E501  # fmt: skip
            yield Case(f"{kind} {told}: {how[0]} {how[1]}", _told(kind, scene, how), "right")


TIP_LOADS = ("force", "gravity", "motion")
