# SPDX-License-Identifier: BSD-3-Clause
"""The four-bar half of the gripper of Cammarata et al. (Micromachines 13, 2022, 2172)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import symancf as sa

EI = 100e9 * 25 * 5**3 / 12 * 1e-12  # uN mm^2: silicon, 100 GPa = 1e11 uN/mm^2, I in um^4
RADIUS = 0.2
G = {1: (0.0, 0.0), 2: (1.5, 0.2), 3: (1.8, 1.5), 4: (1.0, 1.5)}
CENTRES = {
    "a": (0.5, 0.0),
    "b": (2 * math.cos(math.pi / 8), 2 * math.sin(math.pi / 8)),
    "c": (0.5 + 0.8 * math.cos(math.pi / 6), 1.5 + 0.8 * math.sin(math.pi / 6)),
    "d": (0.5, 1.5),
}
PAIRS = {"a": (1, 2), "b": (2, 3), "c": (3, 4), "d": (4, 1)}
START = {"a": 22.5, "b": 132.0, "c": -15.0, "d": 240.0}
ANGLE = {"a": 300.0, "b": 320.0, "c": 330.0, "d": 250.0}
EFFECTOR = (-1.3571, 1.6991)


@dataclass
class Gripper:
    """The mechanism's bodies, flexures, system and load."""

    bodies: dict[int, sa.PlanarBody]
    flexures: dict[str, Any]
    system: sa.System
    load: sa.Parameter
    effector: Any

    def q(self) -> Any:
        return np.concatenate([self.bodies[k].displacement(self.system) for k in (2, 3, 4)])

    def x(self) -> float:
        return float(self.system.position(self.effector)[0, 0])


def attachments(name: str) -> Any:
    """Positions of both ends of a flexure."""
    O, first = np.array(CENTRES[name]), math.radians(START[name])
    return [
        O + RADIUS * np.array([math.cos(p), math.sin(p)])
        for p in (first, first + math.radians(ANGLE[name]))
    ]


def gripper(
    model: str = "partial", *, terms: Any = (), stiffness: Any = EI, **options: Any
) -> Gripper:
    """Return the mechanism with the vertical force `load` at the origin of body 2."""
    bodies = {k: sa.PlanarBody(position=(*G[k], 0.0), name=f"body {k}") for k in (2, 3, 4)}
    flexures = {}
    for name, pair in PAIRS.items():
        ends = [
            (sa.ground if k == 1 else bodies[k]).at(X - np.array(G[k]))
            for k, X in zip(pair, attachments(name), strict=True)
        ]
        flexures[name] = sa.Flexure.arc(
            *ends,
            RADIUS,
            math.radians(ANGLE[name]),
            EI=stiffness,
            model=model,
            name=name,
            **options,
        )
    load = sa.Parameter("F2y", 0.0)
    force = sa.force(bodies[2].at((0, 0)), (0.0, load))
    given = terms(bodies) if callable(terms) else list(terms)
    system = sa.System(*bodies.values(), terms=[*flexures.values(), force, *given])
    return Gripper(bodies, flexures, system, load, bodies[3].at(EFFECTOR))


EA = 1e11 * 25e-3 * 5e-3  # uN: 100 GPa on 25 um x 5 um


def exact_gripper(elements: int, terms: Any = (), **options: Any) -> Any:
    """Return the mechanism with flexures of ANCF cables: bodies, system and effector.

    `terms` is a function of the bodies that returns loads.
    """
    bodies = {k: sa.PlanarBody(position=(*G[k], 0.0), name=f"body {k}") for k in (2, 3, 4)}
    cables, joints = [], []
    for name, (i, j) in PAIRS.items():
        O = np.append(CENTRES[name], 0.0)
        angles = np.radians(START[name] + ANGLE[name] * np.linspace(0.0, 1.0, elements + 1))
        X = O + RADIUS * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
        lines = np.stack([np.arange(elements), np.arange(1, elements + 1)], axis=1)
        mesh = sa.Mesh.from_arrays(X, {"line": lines}, name=f"flexure {name}", check=False)

        def tangent(x: Any, O: Any = O) -> Any:
            d = (x - O) / RADIUS
            return np.stack([-d[:, 1], d[:, 0], 0 * d[:, 0]], axis=1)

        cable = sa.Body(
            mesh["all"],
            sa.elements.ancf_cable,
            sa.energies.cable(curvature="plane"),
            name=f"flexure {name}",
            direction=tangent,
            EA=EA,
            EI=EI,
            **options,
        )
        cables.append(cable)
        joints.append(sa.planar(cable))
        for X_end, k in ((X[0], i), (X[-1], j)):
            joints.append(sa.joints.clamp(cable.at(X_end), sa.ground if k == 1 else bodies[k]))
    system = sa.System(*bodies.values(), *cables, terms=[*joints, *terms(bodies)])
    return bodies, system, bodies[3].at(EFFECTOR)
