# SPDX-License-Identifier: BSD-3-Clause
"""The motions that are compared with Exudyn, run as a script in a process of its own.

A pendulum of n cables, and one of n x n thin plates that hangs at a corner; both fall from the
horizontal, with generalized-alpha and a spectral radius of 0.9. It prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np


def cable_in_parts(epsilon: Any, kappa: Any, *, EA: Any, EI: Any) -> dict[str, Any]:
    """Return the energy of a cable, the parts apart: each has a quadrature of its own."""
    return {"axial": EA * epsilon**2 / 2, "bending": EI * kappa**2 / 2}


def cable_pendulum(n: int) -> tuple[Any, Any]:
    """Return the system and the tip of the classic pendulum of soft cables."""
    from ..bodies.body import Body
    from ..catalogue.boundary import fix
    from ..catalogue.loads import gravity
    from ..elements import ancf_cable
    from ..mesh import Mesh
    from ..system import System

    mesh = Mesh.box((1.2,), (n,))
    section: dict[str, Any] = {
        "EA": 0.7e6 * 1.8e-3,
        "EI": 0.7e6 * 1.215e-8,
        "rho": 5540.0,
        "A": 1.8e-3,
    }
    points = {"axial": "5", "bending": "3"}  # of Exudyn's cable
    rope = Body(mesh["body"], ancf_cable, cable_in_parts, quadrature=points, **section)
    supports = [fix(rope["x0"], dofs="position"), gravity((0.0, -9.81, 0.0))]
    return System(rope, terms=supports), rope["x1"]


def plate_pendulum(n: int, curvature: Any = "n1") -> tuple[Any, Any]:
    """Return the system and the far corner of a soft thin plate, hung at a corner.

    From 16 x 16 cells it needs the measure of curvature "n0".
    """
    from ..bodies.body import Body
    from ..catalogue import joints
    from ..catalogue.loads import gravity
    from ..elements import ancf_thin_plate
    from ..energies import kirchhoff
    from ..mesh import Mesh
    from ..system import System

    mesh = Mesh.box((0.3, 0.3), (n, n))
    rubber: dict[str, Any] = {"E": 1e5, "nu": 0.3, "thickness": 0.01, "rho": 7810.0}
    law = kirchhoff(curvature=curvature)
    plate = Body(mesh["body"], ancf_thin_plate, law, name="plate", **rubber)
    pin = joints.spherical(plate.at((0.0, 0.0, 0.0)), name="pin")
    return System(plate, terms=[pin, gravity((0.0, 0.0, -9.81))]), plate.at((0.3, 0.3, 0.0))


def move(kind: str, n: int, steps: int, h: float) -> dict[str, Any]:
    """Return the CPU time of a step [ms] and the place of the tip at the end."""
    from ..solve.dynamics.problem import DynamicProblem

    make = {"cable": cable_pendulum, "plate": plate_pendulum}[kind]
    system, tip = make(n)
    problem = DynamicProblem(system, spectral_radius=0.9)
    problem.initialize(h)
    start = time.process_time()
    history = problem.solve(to=steps * h, step=h)
    spent = time.process_time() - start
    return {
        "steps": problem.steps,
        "ms_per_step": 1e3 * spent / problem.steps,
        "iterations": history.iterations / problem.steps,
        "tangents": problem._renewals / problem.steps,
        "cut_backs": history.cut_backs,
        "tip": np.asarray(system.position(tip))[0].tolist(),
    }


if __name__ == "__main__":
    given = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    print(json.dumps({"name": "symancf", **move(*given)}))
