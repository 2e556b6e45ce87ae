# SPDX-License-Identifier: BSD-3-Clause
"""Bodies thrown at walls: none may come to lie behind one, none may win energy."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import symancf as sa
from symancf.energies import neo_hooke
from tests.unit.facing import MATERIAL, bowl, shifted, thin_wall, throws

from .case import Case, Wrong, require_near

AT_ONCE = 50  # ways that a case judges
WIN = 1.1  # energy after an impact: pressure acts along interpolated normals, here of 6 x 6 facets


def judged(seed: int) -> Callable[[], Any]:
    """Return a run of single steps of a cube, past a wall and through it."""

    def run() -> Any:
        wrong, through = throws(*thin_wall(), np.random.default_rng(seed), AT_ONCE)
        if wrong:
            raise Wrong("; ".join(wrong))
        return through

    return run


def flown(seed: int) -> Callable[[], Any]:
    """Return a run of a soft cube that flies on a soft wall, turned at random, and leaves it."""

    def run() -> Any:
        rng = np.random.default_rng(seed)
        side, speed, mu = rng.choice([-1, 1]), rng.uniform(0.02, 0.3), float(rng.choice([0.0, 0.3]))
        turn = np.array(Rotation.from_rotvec(rng.normal(size=3)).as_matrix())
        at = np.array([*rng.uniform(0.35, 0.65, 2), 0.05 + 0.25 * side])
        sheet = sa.Mesh.box((1.0, 1.0, 0.06), (6, 6, 1), warp=bowl(0.0, 0.2))
        small = sa.Mesh.box((0.2, 0.2, 0.2), (2, 2, 2), warp=lambda X: (X - 0.1) @ turn.T + at)
        wall, cube = (
            sa.Body(
                mesh["body"], sa.elements.hex8_plain, neo_hooke(), name=name, rho=1.0, **MATERIAL
            )
            for mesh, name in ((sheet, "wall"), (small, "cube"))
        )
        sides = [cube[f"{axis}{k}"] for axis in "xyz" for k in (0, 1)]
        to = wall["z1" if side > 0 else "z0"]
        touch = [sa.Contact(one, to, mu=mu, name=f"touch {one}") for one in sides]
        held = [sa.fix(wall["x0"]), sa.fix(wall["x1"])]
        system = sa.System(wall, cube, terms=[*held, *touch])
        velocity = speed * np.array([*(0.3 * rng.normal(size=2)), -side])
        system.rate[:] = shifted(system, cube, velocity)
        problem = sa.DynamicProblem(system, spectral_radius=0.8)
        before = 0.5 * 0.2**3 * float(velocity @ velocity)
        problem.solve(to=0.4 / speed, step=0.02 / speed)
        now = problem.energies
        after = now.kinetic + now.strain + now.contact
        if after > WIN * before:
            raise Wrong(f"an energy of {after:g} where {before:g} was")
        deepest = max(one.penetration_of(system)[1] for one in touch)
        if deepest > 0.5:
            raise Wrong(f"points are {deepest:g} of a cell deep")
        places = [system.position(cube.at(at))[0], system.position(wall.at((0.5, 0.5, 0.03)))[0]]
        above = side * (places[0][2] - places[1][2])
        if above < 0.0:
            raise Wrong(f"the middle of the cube is at {places[0]}, of the wall at {places[1]}")
        momentum = sum(one.force(system, on=cube) + one.force(system, on=wall) for one in touch)
        require_near(momentum, np.zeros(3), 1e-9, "sum of forces", 1.0)
        return [*places[0], *places[1]]

    return run


def generate(rng: random.Random, count: int) -> Iterator[Case]:
    """Return cases: of six five judge steps, one flies."""
    for k in range(count):
        seed = rng.randrange(10**6)
        if k % 6 == 5:
            yield Case(f"flown {seed}", flown(seed), "right")
        else:
            yield Case(f"{AT_ONCE} throws {seed}", judged(seed), "right")
