# SPDX-License-Identifier: BSD-3-Clause
"""Relations: units of time, senses of cells, tiny strains, pulses after rest, second systems."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import neo_hooke, rod, saint_venant_kirchhoff, yeoh
from tests.refusals import refused

from . import arrays, models
from .case import Case, Wrong, require_near

Run = Callable[[], Any]

# ------------------------------------------------------------------ units of time and length
METHODS: dict[str, dict[str, Any]] = {
    "rk": {"method": "rk"},
    "rk, projection": {"method": "rk", "stabilisation": sa.Projection},
    "adams": {"method": "adams"},
    "adaptive": {"spectral_radius": 0.9},
    "fuzzy": {"method": "rk", "stabilisation": sa.Fuzzy},
}


def _pendulum(method: str, lengths: tuple[float, float], length: float, time: float) -> Any:
    """Return the end of a double pendulum [m] and its steps; told in other units."""
    given = dict(METHODS[method])
    if "stabilisation" in given:
        given["stabilisation"] = given["stabilisation"]()
    x, bodies, joints = 0.0, [], []
    for k, own in enumerate(lengths):
        size = tuple(length * own * np.array((1.0, 0.1, 0.1)))
        at = ((x + own / 2) * length, 0.0, 0.0)
        bodies.append(sa.RigidBody.box(size, position=at, rho=1e3 / length**3, name=f"bar {k}"))
        ends = [] if k == 0 else [bodies[-2].at((lengths[k - 1] * length / 2, 0.0, 0.0))]
        ends.append(bodies[-1].at((-own * length / 2, 0.0, 0.0)))
        joints.append(sa.joints.revolute(*ends, axis=(0, 1, 0)))
        x += own
    weight = sa.gravity((0.0, 0.0, -9.81 * length / time**2))
    system = sa.System(*bodies, terms=[*joints, weight])
    problem = sa.DynamicProblem(system, **given)
    how = {"adaptive": True} if method == "adaptive" else {}
    history = problem.solve(to=0.6 * time, step=1e-3 * time, rtol=1e-7, **how)
    end = system.position(bodies[-1].at((0.0, 0.0, 0.0)))[0] / length
    return end, len(history.time)


def _units(method: str, lengths: tuple[float, float], length: float, time: float) -> Run:
    def run() -> Any:
        if method == "adams" and MPI.COMM_WORLD.size > 1:
            with refused(sa.ParameterError, asked="ranks", given=MPI.COMM_WORLD.size):
                _pendulum(method, lengths, length, time)
            return []
        (end, steps), (other, others) = (
            _pendulum(method, lengths, *units) for units in ((1.0, 1.0), (length, time))
        )
        if abs(steps - others) > 1:
            raise Wrong(f"{steps} steps, in other units {others}")
        require_near(end, other, 1e-5, "in other units")
        return models.finite(end)

    return run


# ------------------------------------------------------------------ senses of cells
SECTION = [(0, 0), (0.03, 0), (0.03, 0.002), (0.002, 0.002), (0.002, 0.05), (0, 0.05)]
GIVEN = {"E1": 1e9, "E2": 1e8, "E3": 1e8, "nu12": 0.3, "nu13": 0.3, "nu23": 0.3}
PLIES = GIVEN | {"G12": 5e7, "G13": 5e7, "G23": 4e7, "rho": 1e3}


def _line(turned: Sequence[int], n: int = 5) -> sa.Mesh:
    x = np.linspace(0.0, 1.0, 2 * n + 1)
    cells = [[2 * k, 2 * k + 2, 2 * k + 1] for k in range(n)]
    cells = [[c[1], c[0], c[2]] if k in turned else c for k, c in enumerate(cells)]
    regions = {"x0": ("vertex", [[0]]), "x1": ("vertex", [[2 * n]])}
    return _mesh(np.stack([x, 0 * x, 0 * x], 1), {"line3": cells}, regions)


def _mesh(points: Any, cells: Any, regions: Any) -> sa.Mesh:
    given = (points, cells, regions) if MPI.COMM_WORLD.rank == 0 else (None, None, None)
    return sa.Mesh.from_arrays(*given)


def _rod(turned: Sequence[int]) -> tuple[sa.Body, Any, Any]:
    section = sa.Section.polygon(SECTION, tolerance=1e-3).rod(E=70e9, nu=0.3, rho=2700.0)
    mesh = _line(turned)
    body = sa.Body(
        mesh["all"], sa.elements.ancf_rod, rod(),
        direction=lambda X: np.tile((0.0, 1.0, 0.0), (len(X), 1)), **section,
    )  # fmt: skip
    return body, body["x0"], sa.force(body["x1"], (0.0, 1.0, -2.0))


def _grid(kind: str, turns: Sequence[int]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return a grid whose cells begin at other corners, without being turned over."""
    points, cells, regions = arrays.grid(kind)
    (name, rows), *_ = cells.items()
    ways = _ways(name)
    rows = [[row[k] for k in ways[turn % len(ways)]] for row, turn in zip(rows, turns, strict=True)]
    return points, {name: rows}, regions


def _ways(name: str) -> list[list[int]]:
    """Return the numberings of a cell's corners that keep its orientation."""
    if name == "quad":
        return [[(k + s) % 4 for k in range(4)] for s in range(4)]
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]) - 0.5  # noqa: E501  # fmt: skip
    ways = []
    for axes in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            R = np.zeros((3, 3))
            R[range(3), axes] = signs
            if np.linalg.det(R) > 0.0:
                moved = corners @ R.T
                ways.append([int(np.abs(corners - row).sum(1).argmin()) for row in moved])
    return ways


def _sheet(element: Any, turns: Sequence[int]) -> tuple[sa.Body, Any, Any]:
    ply = sa.energies.orthotropic()
    layers = sa.Layers([(ply, 0.01, 0), (ply, 0.01, 40)], degrees=True, axis=(1.0, 0.0, 0.0))
    body = sa.Body(_mesh(*_grid("plate", turns))["all"], element, layers, **PLIES)
    return body, body["root"], sa.force(body.at((2.0, 1.0, 0.0)), (5.0, 10.0, 40.0))


def _block(element: Any, turns: Sequence[int]) -> tuple[sa.Body, Any, Any]:
    body = sa.Body(_mesh(*_grid("hex", turns))["all"], element, neo_hooke(), mu=1e5, lam=3e5)
    return body, body["root"], sa.force(body.at((2.0, 1.0, 0.5)), (50.0, 20.0, 150.0))


def _tip(made: tuple[sa.Body, Any, Any], end: Any) -> Any:
    body, root, load = made
    system = models.solve(body, terms=[sa.fix(root), load], options={"snes_rtol": 1e-12})
    return system.displacement(body.at(end))


E = sa.elements
SENSES: dict[str, tuple[Callable[[Sequence[int]], Any], int, Any]] = {
    "ancf_rod": (_rod, 5, (1.0, 0.0, 0.0)),
    "hex8": (lambda turns: _block(E.hex8, turns), 8, (2.0, 1.0, 0.5)),
    "hex8_fbar": (lambda turns: _block(E.hex8_fbar, turns), 8, (2.0, 1.0, 0.5)),
    "ancf_plate": (lambda turns: _sheet(E.ancf_plate, turns), 8, (2.0, 1.0, 0.0)),
    "ancf_thick_plate": (lambda turns: _sheet(E.ancf_thick_plate, turns), 8, (2.0, 1.0, 0.0)),
    "ancf_thin_plate": (lambda turns: _sheet(E.ancf_thin_plate, turns), 8, (2.0, 1.0, 0.0)),
    "ancf_thin_quad": (lambda turns: _sheet(E.ancf_thin_quad, turns), 8, (2.0, 1.0, 0.0)),
}


def _senses(kind: str, chosen: Sequence[int]) -> Run:
    make, _, end = SENSES[kind]

    def run() -> Any:
        first = _tip(make(() if kind == "ancf_rod" else [0] * len(chosen)), end)
        turned = chosen
        if kind == "ancf_rod":  # fewer than half: a line goes as most of its cells do
            turned = sorted({way % 5 for way in chosen[:2]})
        other = _tip(make(turned), end)
        require_near(first, other, 1e-6, f"cells numbered {turned}")
        return models.finite(first)

    return run


# ------------------------------------------------------------------ tiny strains
LAWS: dict[str, tuple[Any, dict[str, float]]] = {
    "saint_venant_kirchhoff": (saint_venant_kirchhoff(), {"E": 1e6, "nu": 0.3}),
    "saint_venant_kirchhoff, nu = 0": (saint_venant_kirchhoff(), {"E": 1.0, "nu": 0.0}),
    "neo_hooke": (neo_hooke(), {"mu": 1.0, "lam": 2.0}),
    "neo_hooke, lam = 0": (neo_hooke(), {"mu": 1e6, "lam": 0.0}),
    "yeoh": (yeoh(), {"C10": 1e5, "C20": 1e3, "C30": 0.0, "k": 1e8}),
}
SOLIDS = ("hex8", "hex8_plain", "hex8_fbar")


def _strains(element: str, law: str, size: float, seed: int) -> Run:
    """A tangent at tiny displacements is that at rest."""

    def run() -> Any:
        mesh = sa.Mesh.box((2.0 * size, size, size), (2, 1, 1))
        energy, given = LAWS[law]
        body = sa.Body(mesh["body"], getattr(E, element), energy, **given)
        system = sa.System(body, terms=[sa.fix(body["x0"])])
        chance = np.random.default_rng(seed)

        def largest() -> float:
            K = system.matrices.tangent(scipy=True)
            own = abs(K.data).max(initial=0.0)  # a rank may have no row
            return float(system.comm.allreduce(float(own), MPI.MAX))

        right = largest()
        for k, power in enumerate(chance.uniform(-40.0, -6.0, 40)):
            tiny = 10.0**power
            system.state[:] = tiny * size * system._discrete.numbering.random(seed + k)
            found = largest()
            if not abs(found - right) <= 1e-3 * right:
                raise Wrong(f"the largest entry is {found} at strains of {tiny}, {right} at rest")
        return [right]

    return run


# ------------------------------------------------------------------ pulses after rest
def _pulse(begin: float, width: float, method: str) -> Run:
    """A mass on a spring at rest that is hit: adaptive steps see the pulse."""

    def run() -> Any:
        stiffness, impulse, end = 100.0, 1.0, begin + 0.3
        omega = np.sqrt(stiffness)
        later = (np.arange(4001) + 0.5) / 4001  # closed form: Duhamel's integral
        force = impulse * 2 * np.sin(np.pi * later) ** 2
        right = float(np.mean(force * np.sin(omega * (end - begin - width * later))) / omega)

        def load(t: float) -> float:
            s = (t - begin) / width
            return impulse / width * 2 * np.sin(np.pi * s) ** 2 if 0.0 < s < 1.0 else 0.0

        def spring(r_a: Any, X_a: Any, *, k: Any) -> Any:
            return k / 2 * (r_a - X_a).dot(r_a - X_a)

        ball = sa.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0), name="ball")
        centre = ball.at((0.0, 0.0, 0.0))
        terms = [
            sa.Potential(spring, centre, k=stiffness),
            sa.force(ball, (load, 0.0, 0.0)),
            sa.joints.prismatic(centre, axis=(1, 0, 0)),
        ]
        system = sa.System(ball, terms=terms)
        how: dict[str, Any] = {"rtol": 1e-6}
        if method == "adaptive":
            problem, how["adaptive"] = sa.DynamicProblem(system), True
        else:
            problem = sa.DynamicProblem(system, method="rk", stabilisation=sa.Projection())
        problem.solve(to=end, step=1e-3, **how)
        found = float(system.position(centre).ravel()[0])
        if not abs(found - right) <= 0.01 * abs(impulse / omega):
            raise Wrong(f"{found} after a pulse of {width} s at {begin} s, {right} by Duhamel")
        return [found]

    return run


# ------------------------------------------------------------------ a second system
def _terms(kind: str, body: sa.Body) -> list[Any]:
    """Return terms on a block that stands on z = 0."""
    weight = sa.gravity((0.0, 0.0, -20.0))

    def spring(r_a: Any, X_a: Any, *, k: Any) -> Any:
        return k / 2 * (r_a - X_a).dot(r_a - X_a)

    return {
        "contact": lambda: [
            weight,
            sa.fix(body["z1"], ["x", "y"]),
            sa.Contact(body["z0"], sa.Plane((0, 0, 0), normal=(0, 0, 1)), mu=0.3),
        ],
        "supports": lambda: [weight, sa.fix(body["x0"])],
        "potential": lambda: [
            weight,
            sa.fix(body["x0"], "z"),
            sa.Potential(spring, body["x0"], k=1e4),
        ],
        "pressure": lambda: [sa.fix(body["x0"]), sa.pressure(body["z1"], 2e3)],
        "traction": lambda: [
            sa.fix(body["x0"]),
            sa.traction(body["x1"], lambda X, t: (0, 0, -1e3 * t)),
        ],
    }[kind]()


def _systems(kind: str, steps: Sequence[float]) -> Run:
    """One body and its terms in two systems, solved in turns: each as if alone."""

    def run() -> Any:
        def made() -> tuple[sa.Body, list[Any]]:
            mesh = sa.Mesh.box((0.4, 0.2, 0.2), (4, 2, 2))
            body = sa.Body(mesh["body"], E.hex8, neo_hooke(), mu=3e4, lam=6e4, rho=1e3)
            return body, _terms(kind, body)

        body, terms = made()
        pair = [sa.StaticProblem(sa.System(body, terms=terms), check_held=False) for _ in range(2)]
        seen: list[Any] = [[], []]
        for k, time in enumerate(steps):
            for own, problem in ((0, pair[0]), (1, pair[1])):
                if own == 0 or k % 2 == 0:  # the second system goes in longer steps
                    problem.solve(to=time)
                    seen[own].append(problem.system.displacement(body["x1"]).mean(axis=0))
        body, terms = made()
        alone = sa.StaticProblem(sa.System(body, terms=terms), check_held=False)
        for k, time in enumerate(steps):
            alone.solve(to=time)
            right = alone.system.displacement(body["x1"]).mean(axis=0)
            require_near(seen[0][k], right, 1e-7, f"the first of two systems at {time}")
        return models.finite(seen[1][-1])

    return run


# ------------------------------------------------------------------ all of them
TERMS = ("contact", "supports", "potential", "pressure", "traction")


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield cases of all relations in turn."""

    def one(k: int) -> tuple[str, Run]:
        kind = k % 5
        if kind == 0:
            method = chance.choice(list(METHODS))
            lengths = (chance.uniform(0.3, 3.0), chance.uniform(0.3, 3.0))
            units = (10.0 ** chance.uniform(-4, 4), 10.0 ** chance.uniform(-4, 4))
            return f"{method} in other units", _units(method, lengths, *units)
        if kind == 1:
            what = chance.choice(list(SENSES))
            turns = [chance.randrange(24) for _ in range(SENSES[what][1])]
            return f"senses of cells of {what}", _senses(what, turns)
        if kind == 2:
            element, law = chance.choice(SOLIDS), chance.choice(list(LAWS))
            size, seed = 10.0 ** chance.uniform(-6, 6), chance.randrange(10**6)
            return f"tiny strains of {element}, {law}", _strains(element, law, size, seed)
        if kind == 3:
            method, begin = chance.choice(["adaptive", "rk"]), chance.uniform(0.2, 3.0)
            width = 10.0 ** chance.uniform(-2.0, -0.5)
            return f"a pulse, {method}", _pulse(begin, width, method)
        what = chance.choice(TERMS)
        steps = sorted(chance.uniform(0.2, 1.0) for _ in range(3))
        return f"two systems, {what}", _systems(what, steps)

    for k in range(count):
        name, run = one(k)
        yield Case(f"{k} {name}", run, "right", alike=not name.startswith("adams"))
