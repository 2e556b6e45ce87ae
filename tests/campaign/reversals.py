# SPDX-License-Identifier: BSD-3-Clause
"""A metal beam that is bent, unloaded, and bent to the other side in steps of every size."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import symancf as sa
from symancf.energies import j2_plasticity

from .case import Case

E, YIELD = 200.0, 1.0
LENGTH, HEIGHT = 1.0, 0.3
ELEMENTS = {"hex8": "hexahedron", "hex8_plain": "hexahedron", "tet10": "tetra10"}
HARDENINGS = {"isotropic": (5.0, 0.0), "kinematic": (0.0, 20.0), "both": (5.0, 20.0)}
YIELD_STRAINS = (1.0, 5.0, 20.0)  # of one step, at the clamped end of an elastic beam
PATH = (1.0, 2.0, 1.0, 0.0, -1.0, -2.0, -1.0, 0.0)


def bend(element: str, hardening: str, size: float, **options: Any) -> dict[str, Any]:
    """Return forces and energy dissipated along the path, and what it took (collective)."""
    lengths, numbers = (LENGTH, HEIGHT, HEIGHT), (6, 2, 2)
    mesh = sa.Mesh.box(lengths, numbers, cell=ELEMENTS[element])
    isotropic, kinematic = HARDENINGS[hardening]
    law = j2_plasticity(E=E, nu=0.3, yield_stress=YIELD)
    body = sa.Body(
        mesh["body"], getattr(sa.elements, element), law, hardening=isotropic, kinematic=kinematic
    )
    way = size * YIELD / E * 2 * LENGTH**2 / (3 * HEIGHT)

    def moved(X: Any, t: float) -> Any:
        y = way * np.interp(t, range(len(PATH) + 1), (0.0, *PATH))
        return np.broadcast_to([0.0, y, y / 2], X.shape)

    clamp = sa.fix(body["x0"])
    system = sa.System(body, terms=[clamp, sa.fix(body["x1"], displacement=moved)])
    problem, forces = sa.StaticProblem(system, options=options), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps are long
        for k in range(len(PATH)):
            problem.solve(to=k + 1.0)
            forces.append(clamp.reaction(system).force)
    history = problem.history
    return {
        "forces": np.array(forces),
        "dissipated": system.remembered(body)["dissipated"].sum(),
        "iterations": sum(step.iterations for step in history.steps) + history.wasted,
        "cuts": history.cut_backs,
    }


def _numbers(element: str, hardening: str, size: float) -> Any:
    found = bend(element, hardening, size)
    return [found["forces"].tolist(), float(found["dissipated"])]


def generate(rng: random.Random, count: int) -> Iterator[Case]:
    """Return `count` of the cases."""
    every = list(itertools.product(ELEMENTS, HARDENINGS, YIELD_STRAINS))
    for element, hardening, size in rng.sample(every, min(count, len(every))):
        name = f"{element}, {hardening} hardening, {size:g} yield strains in a step"
        yield Case(name, partial(_numbers, element, hardening, size), "right")
