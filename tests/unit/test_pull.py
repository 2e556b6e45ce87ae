# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of v . R by all parameters and coordinates at once, against differences of R."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.elements import ancf_cable, ancf_plate, hex8, hex8_plain, tet10
from symancf.energies import neo_hooke, saint_venant_kirchhoff
from tests.shells import hollow_block

pytestmark = pytest.mark.collective

Model = tuple[list[Any], list[Any]]
SOFT = {"mu": 1.0, "lam": 2.0}


def block() -> Model:
    """A modulus for each cell, loads of several kinds, a support that moves."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (3, 2, 2))
    mu = sa.Field(lambda X: 1.0 + 0.5 * np.sin(5.0 * X[:, 0]))
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=2.0, rho=2.0)
    lift = sa.fix(body["z0"], displacement=(0.0, 0.0, 0.02))
    loads = [sa.traction(body["x1"], (0.1, 0.0, 0.2)), sa.pressure(body["y1"], 0.3)]
    return [body], [lift, *loads, sa.gravity((0.0, 0.1, -1.0))]


def principal() -> Model:
    """Principal stretches, which a function of its own finds."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 1))
    given = {"mu1": 1.0, "alpha1": 2.5, "k": 5.0}
    body = sa.Body(mesh["body"], hex8_plain, sa.energies.ogden(terms=1), **given)
    return [body], [sa.fix(body["z0"])]


def stretched_plate() -> Model:
    """Principal stretches of what depends on a parameter, the thickness."""
    given = {"mu1": 1.0, "alpha1": 2.5, "k": 5.0, "thickness": 0.2}
    mesh = sa.Mesh.box((1.0, 1.0), (1, 1))
    body = sa.Body(mesh["body"], ancf_plate, sa.energies.ogden(terms=1), **given)
    return [body], [sa.fix(body["x0"])]


def plate() -> Model:
    """The thickness is in the geometry and in the measure."""
    mesh = sa.Mesh.box((1.0, 1.0), (2, 2))
    given = {"E": 10.0, "nu": 0.3, "thickness": 0.1}
    body = sa.Body(mesh["body"], ancf_plate, saint_venant_kirchhoff(), volumetric=None, **given)
    return [body], [sa.fix(body["x0"]), sa.traction(body["body"], (0.0, 0.0, 0.3))]


def mechanism() -> Model:
    """Cable, rigid body, joints, a strut, a spring of a law of its own."""
    mesh = sa.Mesh.box((1.0,), (3,))
    given = {"EI": 2.0, "EA": 500.0, "rho": 1.0, "A": 0.4}
    cable = sa.Body(mesh["body"], ancf_cable, sa.energies.cable(), **given)
    link = sa.RigidBody.box((0.4, 0.1, 0.1), position=(1.2, 0.0, 0.0), rho=200.0)
    first, last = link.at((-0.2, 0.0, 0.0)), link.at((0.2, 0.0, 0.0))
    top = sa.ground.at((1.2, 3.0, 0.0))
    spring = sa.Potential(
        lambda r_a, r_b, *, k: k * (r_a - r_b).dot(r_a - r_b) ** 2, last, top, k=3.0
    )
    joint = sa.joints.spherical(cable.at((1.0, 0.0, 0.0)), first)
    strut = sa.joints.distance(link.at((0.0, 0.0, 0.05)), top, 3.0)
    terms = [sa.fix(cable["x0"]), joint, strut, spring, sa.gravity((0.0, 1.5, -9.81))]
    return [cable, link], terms


def gas() -> Model:
    """Gas, which the pressure follows as an unknown."""
    body = sa.Body(hollow_block()["body"], hex8_plain, neo_hooke(), mu=1.0, lam=2.0)
    return [body], [sa.Cavity(body["inside"], gas=sa.Gas(1.6, ambient=0.5))]


def sphere() -> Model:
    """Points pressed onto a rigid shape."""
    body = sa.Body(sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 1))["body"], hex8_plain, neo_hooke(), **SOFT)
    contact = sa.Contact(body["z0"], sa.Sphere(2.0, (0.5, 0.5, -1.9)), initial="press")
    return [body], [sa.fix(body["z1"]), contact]


def facing(mu: float = 0.0) -> Model:
    """Points projected onto facets that move."""
    low = sa.Mesh.box((1.2, 1.2, 0.5), (2, 2, 1), warp=lambda X: X - [0.1, 0.1, 0.495])
    top = sa.Mesh.box((1.0, 1.0, 0.5), (3, 2, 1))
    bodies = [
        sa.Body(mesh["body"], hex8_plain, neo_hooke(), name=name, mu=G, lam=2.0 * G)
        for mesh, name, G in ((low, "low", 1.0), (top, "top", 1.5))
    ]
    contact = sa.Contact(bodies[1]["z0"], bodies[0]["z1"], mu=mu)
    return bodies, [sa.fix(bodies[0]["z0"]), sa.fix(bodies[1]["z1"]), contact]


def rubbing() -> Model:
    """The same with friction: some points stick, others slide."""
    return facing(mu=0.3)


def memory() -> Model:
    """What points remember has weights, too."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 1, 1))
    law = sa.energies.prony(neo_hooke(), g=(0.3,), tau=(1.0,))
    body = sa.Body(mesh["body"], hex8_plain, law, **SOFT)
    return [body], [sa.fix(body["z0"])]


def enhanced() -> Model:
    """Unknowns of each cell, in enhanced strains, of a law that remembers."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 1, 1), warp=lambda X: X + 0.1 * X[:, [1, 2, 0]] ** 2)
    law = sa.energies.prony(neo_hooke(), g=(0.3,), tau=(1.0,))
    body = sa.Body(mesh["body"], hex8, law, **SOFT)
    return [body], [sa.fix(body["z0"])]


def flowing() -> Model:
    """A tensor along axes of principal stretches is remembered, at points that yield."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    law = sa.energies.j2_plasticity(E=200.0, nu=0.3, yield_stress=0.5)
    body = sa.Body(mesh["body"], hex8_plain, law, hardening=5.0)
    return [body], [sa.fix(body["z0"])]


def condensed() -> Model:
    """A pressure that belongs to each cell."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell="tetra10")
    given = {"mu": 1.0, "lam": 50.0}
    body = sa.Body(mesh["body"], tet10, neo_hooke(), pressure="condensed", **given)
    return [body], [sa.fix(body["z0"])]


def total(system: sa.System, a: Any, b: Any) -> float:
    """Return the sum of a . b over the coordinates that ranks own."""
    numbering = system._discrete.numbering
    own = slice(0, numbering.start[numbering.owned_vertices])
    return float(system._discrete.sum(np.array([a[own] @ b[own]]))[0])


def slope(function: Callable[[float], float], h: float) -> float:
    """Return the derivative at 0 to fourth order."""
    places = ((-2, 1), (-1, -8), (1, 8), (2, -1))
    return sum(weight * function(k * h) for k, weight in places) / (12 * h)


class Sum:
    """s = v . R + seeds . update at a state of a system, and its derivatives."""

    def __init__(self, system: sa.System, h: float) -> None:
        self.h = h
        self.system, self.discrete = system, system._discrete
        self.assembler = self.discrete.assembler
        self.v, self.seeds = self.discrete.numbering.random(4), dict[int, Any]()
        for k, form in enumerate(self.discrete.forms):
            if form.kernel.memory:
                rows, count = len(form.kernel.cell), len(form.kernel.memory)
                self.seeds[k] = np.zeros((form.size, rows))
                weights = np.sin(np.arange(count) + form.ids[:, None])
                weights[:, [name == "facet" for name in form.kernel.memory]] = 0.0
                self.seeds[k][:, rows - count :] = weights
        self.x = self.discrete.state.copy()
        self.found = self.assembler.pull(self.x, self.v, self.seeds)
        assert self.found.bad == 0

    def at(self, x: Any) -> float:
        f = np.zeros_like(x)
        assert self.assembler.residual(x, f) == 0
        value = total(self.system, self.v, f)
        tables, bad = self.assembler.tabulate("update", list(self.seeds), x)
        assert bad == 0
        for k, table in tables.items():
            value += self.owned(k, self.seeds[k][:, -table.shape[1] :] * table)
        return value

    def owned(self, k: int, values: Any) -> float:
        """Return the sum over the entities of a form."""
        own = self.discrete.forms[k].owned.astype(bool)
        return float(self.discrete.sum(np.array([values[own].sum()]))[0])

    def by_coordinates(self) -> None:
        w = self.discrete.numbering.random(5)
        known = slope(lambda h: self.at(self.x + h * w), self.h)
        assert total(self.system, self.found.coordinates, w) == pytest.approx(known, rel=1e-8)

    def by_values(self) -> None:
        values = self.assembler.values.copy()
        turn = values * np.sin(np.arange(len(values)) + 1.0)

        def beside(h: float) -> float:
            self.assembler.values[:] = values + h * turn
            self.assembler.write()
            return self.at(self.x)

        by = float(self.discrete.sum(np.array([self.found.values @ turn]))[0])
        assert by == pytest.approx(slope(beside, self.h), rel=1e-8)
        beside(0.0)
        if not self.seeds:
            f = np.zeros_like(self.x)
            self.assembler.turn(turn, {})
            assert self.assembler.parameter(self.x, f) == 0
            assert total(self.system, self.v, f) == pytest.approx(by, rel=1e-10)

    def by_rows(self, k: int) -> None:
        form = self.discrete.forms[k]
        fields = [c for c, name in enumerate(form.kernel.cell) if name not in form.uniform]
        if form.role == "contact":  # other rows are where points are
            fields = [c for c in fields if form.kernel.cell[c] == "stiffness"]
        if not fields or k not in self.found.rows:
            return
        cell = self.assembler.rows.get(k, form.cell)
        change = np.zeros_like(cell)
        places = np.zeros(form.size) if form.ids is None else form.ids
        change[:, fields] = np.cos(np.arange(len(fields)) + places[:, None])

        def beside(h: float) -> float:
            self.assembler.fill({k: cell + h * change})
            return self.at(self.x)

        by = self.owned(k, self.found.rows[k] * change)
        assert by == pytest.approx(slope(beside, 1e-4), rel=1e-7), form.name
        beside(0.0)


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize(
    "model",
    [
        rubbing,
        block,
        principal,
        stretched_plate,
        plate,
        mechanism,
        gas,
        sphere,
        facing,
        memory,
        enhanced,
        flowing,
        condensed,
    ],
    ids=lambda m: m.__name__,
)
def test_against_differences_of_the_residual(model: Callable[[], Model]) -> None:
    bodies, terms = model()
    system = sa.System(*bodies, terms=terms)
    discrete = system._discrete
    discrete.prescribe(0.5)
    discrete.state[:] += 0.02 * discrete.numbering.random(3)
    if discrete.changing:
        discrete.revise(0.5)
    if model is rubbing:  # from the anchors that were found
        discrete.state[:] += 0.01 * discrete.numbering.random(6)
    s = Sum(system, 1e-5 if model in (flowing, facing, rubbing) else 1e-3)
    s.by_coordinates()
    s.by_values()
    for k in range(len(discrete.forms)):
        s.by_rows(k)
