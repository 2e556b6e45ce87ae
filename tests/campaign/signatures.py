# SPDX-License-Identifier: BSD-3-Clause
"""Every argument of what is public, by its signature, given what it cannot be.

`EXAMPLES` has a call of each public function, class and method that takes values; its arguments,
those with defaults too, are replaced one after the other. What comes of it is used: terms and
bodies in a solution, meshes in a body, which must be finite or an error of the package.
"""

from __future__ import annotations

import datetime
import itertools
import random
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import symancf as sa

from . import arguments, models
from .case import Case


class Foreign:
    """A quantity of a package of units that is not there, or that has no number."""

    def __init__(self, magnitude: Any) -> None:
        self.magnitude = magnitude

    def to_base_units(self) -> Foreign:
        """Return it in base units."""
        return self


MORE: dict[str, Callable[[], Any]] = {
    "NUL": lambda: "a\0b",
    "300 characters": lambda: "x" * 300,
    "another script": lambda: "größe \u957f\u3055 \U0001f600",
    "a surrogate": lambda: "\udc80",
    "line break": lambda: "a\nb",
    "a slash": lambda: "a/b",
    "keyword": lambda: "class",
    "macro of C": lambda: "NULL",
    "-inf": lambda: -arguments.INF,
    "1e200": lambda: 1e200,
    "-1e200": lambda: -1e200,
    "1e200 of 3": lambda: (1e200, 1e200, 1e200),
    "1e-320 of 3": lambda: (1e-320, 0.0, 0.0),
    "inf of 3": lambda: (0.0, 0.0, arguments.INF),
    "0-d array": lambda: np.array(1.0),
    "0-d array of text": lambda: np.array("x"),
    "numpy number": lambda: np.float64(1.0),
    "numpy truth": lambda: np.bool_(True),
    "complex array": lambda: np.array([1j, 0, 0]),
    "truths": lambda: np.array([True, False, True]),
    "texts": lambda: np.array(["0", "0", "1"]),
    "objects": lambda: np.array([0, 0, None], dtype=object),
    "empty array": lambda: np.zeros(0),
    "(0, 3) array": lambda: np.zeros((0, 3)),
    "(3, 1) array": lambda: np.zeros((3, 1)),
    "masked": lambda: np.ma.masked_array([0.0, 0.0, 1.0], mask=[0, 0, 1]),
    "set": lambda: {1.0, 2.0, 3.0},
    "empty set": set,
    "generator": lambda: (x for x in (0.0, 0.0, 1.0)),
    "iterator of nothing": lambda: iter(()),
    "range": lambda: range(3),
    "Decimal": lambda: Decimal("1.5"),
    "Decimal of nan": lambda: Decimal("nan"),
    "Decimal of 1e400": lambda: Decimal("1e400"),
    "Fraction": lambda: Fraction(1, 3),
    "three Decimals": lambda: (Decimal(0), Decimal(0), Decimal(1)),
    "quantity": lambda: Foreign(1.0),
    "quantity of text": lambda: Foreign("1 mm"),
    "quantity of three": lambda: Foreign(np.zeros(3)),
    "text with a unit": lambda: "1 mm",
    "path": lambda: Path("x"),
    "date": lambda: datetime.date(2020, 1, 1),
    "function of two": lambda: lambda a, b: a,
    "function that returns text": lambda: lambda *x: "abc",
    "function that returns three": lambda: lambda *x: (0.0, 0.0, 1.0),
    "dict of numbers": lambda: {"a": 1.0},
    "dict of None": lambda: {None: None},
    "parameter": lambda: sa.Parameter("p", 1.0),
    "element": lambda: sa.elements.hex8_plain,
    "energy": lambda: sa.energies.neo_hooke(),
    "ground": lambda: sa.ground,
    "ellipsis": lambda: ...,
}
POISONS = {**arguments.POISONS, **MORE}

Example = tuple[Callable[..., Any], dict[str, Any], Callable[[Any], Any] | None]


def _system(*terms: Any, kind: str = "hex", more: tuple[Any, ...] = ()) -> sa.System:
    part = _part(kind)
    return sa.System(part, *more, terms=[sa.fix(part["x0"]), *terms])


_PARTS: dict[str, sa.Body] = {}


def _part(kind: str = "hex") -> sa.Body:
    """Return a body that is made once."""
    if kind not in _PARTS:
        n = {"hex": (2, 1, 1), "cable": (2,)}.get(kind, (2, 1))
        _PARTS[kind] = models.body(kind, n=n)
    return _PARTS[kind]


def _solved(*terms: Any, kind: str = "hex", more: tuple[Any, ...] = ()) -> Any:
    part = _part(kind)
    system = _system(*terms, kind=kind, more=more)
    sa.StaticProblem(system, options={"snes_max_it": 8}).solve(step=1.0, smallest=0.5)
    return models.finite(system.displacement(part["x1"]))


def _in(kind: str = "hex", *more: Any) -> Callable[[Any], Any]:
    """Use a term in a solution of a body."""
    return lambda term: _solved(term, kind=kind, more=more)


def _as_body(part: Any) -> Any:
    system = sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0.0, 0.0, -1e-3))])
    sa.StaticProblem(system, options={"snes_max_it": 8}).solve(step=1.0, smallest=0.5)
    return models.finite(system.displacement(part["x1"]))


def _as_rigid(part: Any) -> Any:
    support = sa.fix(part)
    system = sa.System(part, terms=[support, sa.gravity((0.0, 0.0, -1.0))])
    sa.StaticProblem(system).solve()
    return models.finite(support.reaction(system).force)


def _as_planar(part: Any) -> Any:
    system = sa.System(part, terms=[sa.force(part, (1.0, 0.0))])
    sa.DynamicProblem(system).solve(to=1e-3, step=5e-4)
    models.finite(system.state)  # of this rank


def _as_mesh(mesh: Any) -> Any:
    return [*mesh.bounds(), mesh.n_points, *(models.finite(r.measure()) for r in mesh)]


def _as_shape(shape: Any) -> Any:
    return _solved(sa.Contact(_part()["x1"], shape, stiffness=1.0))


def _as_samples(samples: Any) -> Any:
    models.finite(samples.points)  # of this rank


def _joined(term: Any) -> Any:
    head = arguments_head()
    return _solved(term, more=(head,))


_HEAD: list[sa.RigidBody] = []


def arguments_head() -> sa.RigidBody:
    """Return a rigid body at the end of the block."""
    if not _HEAD:
        _HEAD.append(
            sa.RigidBody.box((1.0, 0.4, 0.4), position=(2.5, 0.5, 0.25), rho=100.0, name="head")
        )
    return _HEAD[0]


def _static(**given: Any) -> Any:
    made = {k: given.pop(k) for k in ("prefix", "options", "check_held", "history", "check_stable")}
    system = given.pop("system")
    problem = sa.StaticProblem(system, **made)
    problem.solve(**given)
    return models.finite(problem.system.displacement(_part()["x1"]))


def _spring(r_a: Any, X_a: Any, *, k: Any) -> Any:
    return k / 2 * (r_a - X_a).dot(r_a - X_a)


def _tests() -> dict[str, dict[str, Any]]:
    """Return arguments of tests of materials by their kinds."""
    x, stress = [1.1, 1.2, 1.3], [0.1, 0.2, 0.3]
    more = {"error": 0.1, "weight": 1.0, "name": "one"}
    time = {"time": [1.0, 2.0, 3.0], **more}
    plain = {"stretch": x, "stress": stress, "strain": None, **time}
    return {
        "uniaxial": plain,
        "planar": plain,
        "equibiaxial": plain,
        "biaxial": {"stretch": (x, x), "stress": (stress, stress), **time},
        "volumetric": {"ratio": [0.9, 0.8], "pressure": [1.0, 2.0], **more},
    }


def _height(r_a: Any, *, h: Any) -> Any:
    return r_a[2] - h


def _remainders(**o: Any) -> Any:
    mesh = sa.Mesh.box((1.0,), (1,))
    load = sa.Parameter("load", 0.1)
    bar = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=10.0, EI=1.0)
    terms = [sa.fix(bar["x0"]), sa.force(bar["x1"], (load, 0.0, 0.0))]
    problem = sa.StaticProblem(sa.System(bar, terms=terms))
    problem.solve()
    return sa.check_gradient(problem, sa.Goal(lambda u_a: u_a[0], bar["x1"]), [load], **o)


def _bench(**o: Any) -> Any:
    mesh = sa.Mesh.box((1.0,), (1,))
    load = sa.Parameter("load", 0.1)
    bar = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=10.0, EI=1.0)
    terms = [sa.fix(bar["x0"]), sa.force(bar["x1"], (load, 0.0, 0.0))]
    problem = sa.StaticProblem(sa.System(bar, terms=terms))
    problem.solve(trace=sa.Trace())
    return sa.StructureTest(problem, sa.Goal(lambda u_a: u_a[0], bar["x1"]), **o)


def _optimum(call: Any) -> Any:
    def solve(**o: Any) -> Any:
        mesh = sa.Mesh.box((1.0,), (1,))
        load = sa.Parameter("load", 0.1)
        bar = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=10.0, EI=1.0)
        terms = [sa.fix(bar["x0"]), sa.force(bar["x1"], (load, 0.0, 0.0))]
        problem = sa.StaticProblem(sa.System(bar, terms=terms))
        problem.solve()
        miss = sa.Goal(lambda u_a: (u_a[0] - 0.02) ** 2, bar["x1"])
        return call(problem, miss, [load], **o)

    return solve


def _traced(memory: Any) -> Any:
    load = sa.Parameter("load", -10.0)
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0)
    fall = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, load))]))
    fall.solve(to=0.2, step=0.1, trace=sa.Trace(memory=memory))
    goal = sa.Goal(lambda u_a: u_a[2], ball.at((0.0, 0.0, 0.0)))
    return fall.gradient(goal.integral() + goal.at(0.1), [load])[load]


def _drag(v_a: Any, *, c: Any) -> Any:
    return {v_a: -c * v_a}


def _path(name: str) -> str:
    return str(Path(tempfile.gettempdir()) / f"symancf-signatures-{name}")


def _series(path: Any, time: Any, name: Any) -> Any:
    try:
        state = {name: sa.output.Samples(np.zeros((1, 3)), {"vertex": np.zeros((1, 1), int)})}
    except TypeError:  # a dict takes no such name
        return None
    return sa.output.Series(path).write(time, state)


def _history() -> sa.History:
    history = sa.History()
    history.record("x", lambda: 1.0)
    history.sample(0.0)
    history.sample(1.0)
    return history


def _moved() -> tuple[sa.System, sa.Body]:
    part = _part("cable")
    return sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))]), part


def _motion(**given: Any) -> Any:
    system, part = _moved()
    names = (
        "prefix",
        "options",
        "spectral_radius",
        "damping",
        "history",
        "method",
        "stabilisation",
    )
    problem = sa.DynamicProblem(system, **{k: given.pop(k) for k in names if k in given})
    problem.solve(**given)
    return models.finite(system.displacement(part["x1"]))


def _follow(**given: Any) -> Any:
    part, load = _part("cable"), sa.Parameter("load", 0.0)
    pull = sa.force(part["x1"], (0.0, 0.0, load))
    problem = sa.StaticProblem(sa.System(part, terms=[sa.fix(part["x0"]), pull]))
    if given["parameter"] is None:
        given["parameter"] = load
    problem.follow(**given)
    return models.finite(problem.system.displacement(part["x1"]))


def _buckle(**given: Any) -> Any:
    part, load = _part("cable"), sa.Parameter("load", 1.0)
    push = sa.force(part["x1"], (load, 0.0, 0.0))
    system = sa.System(part, terms=[sa.fix(part["x0"]), push])
    if given["parameter"] is None:
        given["parameter"] = load
    return sa.EigenProblem(system).buckle(**given).values


def _read(function: Callable[..., Any], content: str, suffix: str) -> Callable[..., Any]:
    def run(path: Any = None, **given: Any) -> Any:
        own = Path(_path("read" + suffix))
        own.write_text(content, encoding="utf-8")
        return function(own if path is None else path, **given)

    return run


def examples() -> dict[str, Example]:
    """Return name -> (function, its arguments, what uses the result)."""
    block, cable, plate = _part(), _part("cable"), _part("plate")
    head = arguments_head()
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1))
    line, square = sa.Mesh.box((1.0,), (2,)), sa.Mesh.box((1.0, 1.0), (1, 1))
    x1, tip = block["x1"], block.at((2.0, 0.5, 0.25))
    ends = {"a": tip, "b": head.at((-0.5, 0.0, 0.0))}
    svk = {"E": 1e6, "nu": 0.3, "rho": 1e3}
    lever = sa.PlanarBody(position=(0.0, 0.3, 0.0), mass=1.0, inertia=1.0, name="lever")
    system = _system(sa.gravity((0.0, 0.0, -1.0)))
    support = system.terms[0]
    constraint = sa.Constraint(_height, tip, h=0.25)
    bound = _system(constraint)
    samples = sa.sample(system, block)
    state = system._discrete.snapshot()
    found: dict[str, Example] = {
        # meshes
        "Mesh.box": (sa.Mesh.box, {"lengths": (2.0, 1.0), "divisions": (2, 1)}, _as_mesh),
        "Mesh.disc": (sa.Mesh.disc, {"radius": 1.0, "divisions": 2}, _as_mesh),
        "Mesh.cylinder": (
            sa.Mesh.cylinder,
            {"radius": 1.0, "length": 1.0, "divisions": 2},
            _as_mesh,
        ),
        "Mesh.sphere": (sa.Mesh.sphere, {"radius": 1.0, "divisions": 2}, _as_mesh),
        "Mesh.tube": (
            sa.Mesh.tube,
            {"inner": 1.0, "outer": 2.0, "length": 1.0, "divisions": (1, 8, 1)},
            _as_mesh,
        ),
        "Mesh.from_arrays": (
            sa.Mesh.from_arrays,
            {
                "points": [[0.0, 0, 0], [1.0, 0, 0]],
                "cells": {"line": [[0, 1]]},
                "regions": {"a": ("line", [0])},
            },
            _as_mesh,
        ),
        "Mesh.read": (_read(sa.Mesh.read, "none", ".msh"), {"path": None, "order": None}, None),
        "Mesh.select": (
            lambda **o: sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1)).select(**o),
            {
                "name": "n",
                "where": lambda X: X[:, 0] > 1.9,
                "dimension": 2,
                "normal": None,
                "near": None,
                "angle_deg": 30.0,
                "within": None,
                "outer": True,
            },
            lambda r: r.measure(),
        ),
        "Mesh.select near": (
            lambda **o: sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1)).select(**o),
            {"name": "n", "normal": (1.0, 0, 0), "near": (2.0, 0.5, 0.5), "angle_deg": 30.0},
            lambda r: r.measure(),
        ),
        "Mesh[]": (lambda name: mesh[name], {"name": "x0"}, None),
        "Mesh.contains": (lambda name: name in mesh, {"name": "x0"}, None),
        "Mesh.slice": (mesh.slice, {"region": "x0", "kind": "quad"}, None),
        "Mesh.fetch_points": (mesh.fetch_points, {"ids": [0, 1]}, None),
        "Mesh.write": (mesh.write, {"path": _path("m.h5")}, None),
        "Region.slice": (mesh["x0"].slice, {"kind": "quad"}, None),
        "Region |": (lambda other: mesh["x0"] | other, {"other": mesh["x1"]}, None),
        "Region -": (lambda other: mesh["body"] - other, {"other": mesh["x0"]}, None),
        "Region.require": (lambda kind: mesh["x0"].require(kind), {"kind": "quad"}, None),
        "Region.require_on": (mesh["x0"].require_on, {"other": mesh["body"]}, None),
        # bodies
        "Body": (
            lambda **o: sa.Body(**o),
            {
                "region": mesh["body"],
                "element": sa.elements.hex8_plain,
                "energy": sa.energies.saint_venant_kirchhoff(),
                "name": "b",
                "volumetric": None,
                "quadrature": None,
                "pressure": None,
                "join": None,
                "direction": None,
                "smooth_deg": 50.0,
                "velocity": None,
                "spin": None,
                **svk,
            },
            _as_body,
        ),
        "Body, motion": (
            lambda **o: sa.Body(
                mesh["body"],
                sa.elements.hex8_plain,
                sa.energies.saint_venant_kirchhoff(),
                **svk,
                **o,
            ),
            {"velocity": (0.0, 0.0, 1.0), "spin": (0.0, 0.0, 1.0)},
            _as_free,
        ),
        "Body, cable": (
            lambda **o: sa.Body(line["body"], sa.elements.ancf_cable, sa.energies.cable(), **o),
            {"EA": 1e3, "EI": 1.0, "rho": 1.0, "A": 1.0},
            _as_body,
        ),
        "Body, rod": (
            lambda **o: sa.Body(
                sa.Mesh.box((1.0,), (1,), cell="line3")["body"],
                sa.elements.ancf_rod,
                sa.energies.rod(),
                **o,
            ),
            {
                **dict(EA=1e4, EI2=1.0, EI3=1.0, GJ=0.8, GA2=3e3, GA3=3e3),
                "direction": None,
                "rigidity": 1e3,
                "GA23": 0.0,
                **dict(rho=1.0, A=1.0, I2=1.0, I3=1.0),
            },
            _as_body,
        ),
        "Body, plate": (
            lambda **o: sa.Body(
                square["body"], sa.elements.ancf_thin_plate, sa.energies.kirchhoff(), **o
            ),
            {"E": 1e6, "nu": 0.3, "thickness": 0.01, "rho": 1.0, "direction": None},
            _as_body,
        ),
        "Body.at": (
            block.at,
            {"point": (2.0, 0.5, 0.25), "frame": None},
            lambda e: _solved(sa.force(e, (0.0, 0.0, 1.0))),
        ),
        "Body[]": (
            lambda name: block[name],
            {"name": "x1"},
            lambda e: _solved(sa.force(e, (0.0, 0.0, 1.0))),
        ),
        "Body.kernel": (block.kernel, {"function": "tangent"}, None),
        "Body.sliding": (cable.sliding, {"point": (1.0, 0.0, 0.0)}, None),
        "RigidBody": (
            sa.RigidBody,
            {
                "position": (0, 0, 0),
                "frame": None,
                "mass": 1.0,
                "centre": (0, 0, 0),
                "inertia": np.eye(3),
                "velocity": (0, 0, 0),
                "spin": (0, 0, 0),
                "length": None,
                "name": "r",
            },
            _as_rigid,
        ),
        "RigidBody.box": (
            sa.RigidBody.box,
            {"size": (1.0, 1.0, 1.0), "position": (0, 0, 0), "rho": 1.0, "name": "r"},
            _as_rigid,
        ),
        "RigidBody.sphere": (
            sa.RigidBody.sphere,
            {"radius": 1.0, "position": (0, 0, 0), "rho": 1.0},
            _as_rigid,
        ),
        "RigidBody.cylinder": (
            sa.RigidBody.cylinder,
            {"radius": 1.0, "length": 1.0, "rho": 1.0},
            _as_rigid,
        ),
        "RigidBody.at": (head.at, {"point": (0, 0, 0)}, None),
        "PlanarBody": (
            sa.PlanarBody,
            {
                "position": (0.0, 0.0, 0.0),
                "name": "p",
                "mass": 1.0,
                "centre": (0.0, 0.0),
                "inertia": 1.0,
                "velocity": (0.0, 0.0),
                "spin": 0.0,
            },
            _as_planar,
        ),
        "PointMass": (
            sa.PointMass,
            {
                "mass": 1.0,
                "position": (0.0, 0.0, 0.0),
                "velocity": (0.0, 0.0, 0.0),
                "name": "p",
            },
            _as_rigid,
        ),
        "PlanarBody.at": (lever.at, {"point": (0.0, 0.0)}, None),
        "Section.circle": (sa.Section.circle, {"radius": 0.1}, _as_section),
        "Section.tube": (sa.Section.tube, {"radius": 0.1, "thickness": 0.01}, _as_section),
        "Section.rectangle": (sa.Section.rectangle, {"width": 0.1, "height": 0.1}, _as_section),
        "Section.rod": (sa.Section.circle(0.1).rod, {"E": 1e9, "nu": 0.3, "rho": 1.0}, None),
        "Section": (sa.Section, {"A": 1.0, "I2": 1.0, "I3": 1.0, "J": 1.0}, _as_section),
        "Section.laminate": (
            sa.Section.laminate,
            {
                "layers": sa.Layers([(sa.energies.saint_venant_kirchhoff(), 0.01)]),
                "width": 0.1,
                **{"E": 1e9, "nu": 0.3, "rho": 1.0},
            },
            lambda strip: sa.energies.rod(C=strip.C),
        ),
        "Section.scaled": (sa.Section.circle(0.1).scaled, {"factor": 2.0}, _as_section),
        "Layers": (
            lambda **o: sa.Body(
                square["body"], sa.elements.ancf_thin_plate, sa.Layers(**o), E=1e6, nu=0.3, rho=1.0
            ),
            {
                "layers": [(sa.energies.saint_venant_kirchhoff(), 0.01)],
                "axis": (1.0, 0, 0),
                "resultants": True,
                "offset": 0.0,
            },
            _as_body,
        ),
        "Layers, one": (
            lambda **o: sa.Body(
                square["body"],
                sa.elements.ancf_thin_plate,
                sa.Layers([tuple(o.values())], degrees=True),
                E=1e6,
                nu=0.3,
                rho=1.0,
            ),
            {
                "law": sa.energies.saint_venant_kirchhoff(),
                "thickness": 0.01,
                "angle": 0.0,
                "given": {},
            },
            _as_body,
        ),
        "Field": (
            lambda **o: sa.Body(
                mesh["body"],
                sa.elements.hex8_plain,
                sa.energies.saint_venant_kirchhoff(),
                **(svk | {"E": sa.Field(**o)}),
            ),
            {"function": lambda X: 1e6 + X[:, 0], "per": "cell"},
            _as_body,
        ),
        "Parameter": (
            lambda **o: sa.force(x1, (0, 0, sa.Parameter(**o))),
            {"name": "p", "value": 1.0},
            _in(),
        ),
        "Parameter.value": (
            lambda value: setattr(sa.Parameter("p", 1.0), "value", value),
            {"value": 2.0},
            None,
        ),
        # supports and loads
        "fix": (
            sa.fix,
            {
                "region": x1,
                "dofs": "clamp",
                "displacement": (0.0, 0.0, 0.01),
                "gradient": None,
                "name": "f",
                "direction": None,
            },
            _in(),
        ),
        "fix, turned": (
            sa.fix,
            {
                "region": plate["x1"],
                "dofs": "clamp",
                "gradient": np.zeros((3, 3)),
                "displacement": None,
            },
            _in("plate"),
        ),
        "fix, direction": (
            sa.fix,
            {"region": x1, "dofs": "normal", "direction": (1.0, 1.0, 0.0)},
            _in(),
        ),
        "planar": (sa.planar, {"body": plate, "normal": "z", "name": "p"}, None),
        "symmetry": (sa.symmetry, {"region": block["y0"], "normal": "y", "name": "s"}, _in()),
        "gravity": (sa.gravity, {"g": (0.0, 0.0, -1.0)}, _in()),
        "gravity of a body": (
            lambda g, body: sa.gravity(g, body),
            {"g": (0.0, 0.0, -1.0), "body": block},
            _in(),
        ),
        "force": (
            sa.force,
            {
                "place": x1,
                "vector": (0.0, 0.0, 1.0),
                "distribute": "total",
                "name": "f",
                "factor": None,
            },
            _in(),
        ),
        "force, component": (lambda c: sa.force(x1, (0.0, 0.0, c)), {"c": 1.0}, _in()),
        "force on a rigid body": (sa.force, {"place": head, "vector": (0, 0, 1.0)}, None),
        "traction": (sa.traction, {"place": x1, "vector": (0.0, 0.0, 1.0), "name": "t"}, _in()),
        "body_force": (
            sa.body_force,
            {"place": block["body"], "vector": (0.0, 0.0, 1.0), "name": "t"},
            _in(),
        ),
        "pressure": (sa.pressure, {"place": x1, "p": 1.0, "name": "p"}, _in()),
        "moment": (
            sa.moment,
            {
                "place": plate["x1"],
                "vector": (0.0, 1e-3, 0.0),
                "distribute": "total",
                "name": "m",
                "frame": "space",
            },
            _in("plate"),
        ),
        "rotating_frame": (
            sa.rotating_frame,
            {"omega": (0.0, 0.0, 1.0), "about": (0.0, 0.0, 0.0), "name": "r"},
            _in(),
        ),
        "length": (
            sa.length,
            {"place": cable["body"], "form": "arc", "per": "edge", "stretch": 1.0, "name": "l"},
            _in("cable"),
        ),
        "Tendon": (
            lambda places, **o: sa.Tendon(places, **o),
            {
                "places": [sa.ground.at((9.0, 0.0, 0.5)), tip],
                "EA": 100.0,
                "mu": 0.0,
                "tension": 1.0,
                "start": "fixed",
                "end": "fixed",
                "name": "t",
            },
            None,
        ),
        "eyelet": (sa.eyelet, {"place": tip, "offset": (0.0, 0.01)}, None),
        "pulley": (
            sa.pulley,
            {
                "place": sa.ground.at((9.0, 0.0, 0.5)),
                "radius": 0.1,
                "axis": (0.0, 1.0, 0.0),
                "bearing": (0.1, 0.01),
                "turns": 0,
                "grips": False,
            },
            None,
        ),
        "drum": (
            sa.drum,
            {
                "place": sa.ground.at((9.0, 0.0, 0.5)),
                "radius": 0.1,
                "axis": (0.0, 1.0, 0.0),
                "turns": 1.5,
            },
            None,
        ),
        "winch": (sa.winch, {"feed": None, "force": 1.0, "motor": None}, None),
        "Thread": (
            sa.Thread,
            {
                "path": [(0.0, 0.2, 0.1), (1.0, 0.3, 0.2)],
                "solid": block,
                "EA": 1e3,
                "law": None,
                "slack": False,
                "per": "point",
                "clip": True,
                "name": "t",
            },
            _in(),
        ),
        "embed": (
            lambda **o: sa.embed(**o),
            {
                "rod": cable,
                "solid": block,
                "radius": 0.0,
                "per": "cell",
                "stiffness": None,
                "name": "e",
            },
            None,
        ),
        "Body.along": (
            lambda **o: sa.length(block.along(**o)),
            {"path": [(0.0, 0.2, 0.1), (1.0, 0.3, 0.2)], "clip": True},
            _in(),
        ),
        "Helix": (
            lambda **o: sa.Thread(sa.Helix(**o), block, EA=1e3, clip=True),
            {
                "radius": 0.1,
                "pitch": 0.4,
                "angle": None,
                "length": 0.8,
                "turns": None,
                "hand": 1,
                "start": 0.0,
                "taper": 0.0,
                "centre": (0.1, 0.2, 0.1),
                "frame": np.eye(3)[:, [1, 2, 0]],
            },
            _in(),
        ),
        "braid": (
            lambda **o: sa.Thread(sa.braid(**o), block, EA=1e3, clip=True),
            {
                "angle": 50.0,
                "n": 2,
                "radius": 0.1,
                "length": 0.8,
                "start": 0.0,
                "centre": (0.1, 0.2, 0.1),
                "frame": np.eye(3)[:, [1, 2, 0]],
            },
            _in(),
        ),
        "Gas": (sa.Gas, {"amount": 1.0, "ambient": 1e5, "exponent": 1.0}, None),
        "Cavity": (
            sa.Cavity,
            {"walls": x1, "caps": "flat", "pressure": 1.0, "gas": None, "name": "c"},
            None,
        ),
        "Constraint": (
            lambda function, end, **o: sa.Constraint(function, end, **o),
            {"function": _height, "end": tip, "name": "c", "h": 0.25},
            _in(),
        ),
        "Potential": (
            lambda function, end, **o: sa.Potential(function, end, **o),
            {"function": _spring, "end": x1, "name": "c", "k": 1.0},
            _in(),
        ),
        "VirtualWork": (
            lambda function, end, **o: sa.VirtualWork(function, end, **o),
            {
                "function": _drag,
                "end": x1,
                "name": "c",
                "states": (),
                "dissipation": False,
                "c": 1.0,
            },
            None,
        ),
        "BodyPotential": (
            lambda function, body, **o: sa.BodyPotential(function, body, **o),
            {"function": lambda u, *, f: -f * u[2], "body": block, "name": "b", "f": 0.1},
            _in(),
        ),
        "magnetic": (
            sa.magnetic,
            {
                "body": block,
                "magnetisation": (1.0, 0.0, 0.0),
                "field": (0.0, 0.0, 0.1),
                "name": "m",
            },
            _in(),
        ),
        "dielectric": (
            sa.dielectric,
            {"body": block, "permittivity": 0.1, "field": (0.0, 0.0, 0.1), "name": "d"},
            _in(),
        ),
        "KelvinVoigt": (
            sa.KelvinVoigt,
            {"body": block, "eta": 1.0, "eta_volumetric": 0.0, "name": "v", "quadrature": "full"},
            _in(),
        ),
        "PID": (
            lambda measure, actuate, end, **o: sa.PID(measure, actuate, end, **o),
            {
                "measure": lambda r_a: r_a[2],
                "actuate": lambda v_a: v_a[2],
                "end": tip,
                "target": 0.0,
                "kp": 1.0,
                "ki": 0.0,
                "kd": 0.0,
                "target_rate": None,
                "angle": False,
                "name": "p",
            },
            None,
        ),
        "Controller": (
            lambda measure, actuate, law, end, **o: sa.Controller(measure, actuate, law, end, **o),
            {
                "measure": lambda r_a: r_a[2],
                "actuate": lambda v_a: v_a[2],
                "law": lambda y, *, k: -k * y,
                "end": tip,
                "states": (),
                "name": "p",
                "k": 1.0,
            },
            None,
        ),
        "Contact": (
            sa.Contact,
            {
                "side": block["z0"],
                "target": sa.Plane((0.0, 0.0, -0.01)),
                "mu": 0.1,
                "radius": None,
                "stiffness": 1e4,
                "penetration": 0.05,
                "damping": 0.5,
                "initial": None,
                "name": "c",
            },
            _in(),
        ),
        "Contact, cable": (
            sa.Contact,
            {
                "side": cable["body"],
                "target": sa.Plane((0.0, 0.0, -0.01)),
                "radius": 0.001,
                "stiffness": 1e4,
            },
            _in("cable"),
        ),
        "Plane": (
            sa.Plane,
            {
                "point": (2.1, 0.0, 0.0),
                "normal": (-1.0, 0.0, 0.0),
                "name": "p",
                "displacement": None,
                "gradient": None,
                "body": None,
            },
            _as_shape,
        ),
        "Sphere": (sa.Sphere, {"radius": 1.0, "point": (3.1, 0.5, 0.25), "name": "p"}, _as_shape),
        "Cylinder": (
            sa.Cylinder,
            {"radius": 1.0, "point": (3.1, 0.5, 0.25), "axis": (0, 0, 1.0), "length": None},
            _as_shape,
        ),
        "Capsule": (
            sa.Capsule,
            {"radius": 1.0, "length": 1.0, "point": (3.1, 0.5, 0.25), "axis": (0, 0, 1.0)},
            _as_shape,
        ),
        "Box": (
            sa.Box,
            {"size": (1.0, 1.0, 1.0), "point": (2.6, 0.5, 0.25), "frame": None},
            _as_shape,
        ),
        "Distance": (
            lambda function, **o: sa.Distance(function, **o),
            {
                "function": lambda x, y, z, *, h: z - h,
                "point": (0.0, 0.0, -0.1),
                "frame": None,
                "name": "d",
                "displacement": None,
                "gradient": None,
                "body": None,
                "h": -1.0,
            },
            None,
        ),
        "Viscosity": (
            lambda function, **o: sa.Viscosity(block, function, **o),
            {
                "function": lambda J_rate, *, eta: {"J": eta * J_rate},
                "curved": None,
                "name": "v",
                "quadrature": "full",
                "eta": 1.0,
            },
            None,
        ),
        "Factor": (sa.Factor, {"name": "f"}, None),
        "displacement_control": (
            lambda **o: sa.displacement_control(**o),
            {
                "place": lever.at((0.0, 0.0)),
                "coordinate": "x",
                "position": None,
                "displacement": 0.0,
                "release": sa.Factor("f"),
                "name": "p",
            },
            None,
        ),
        "Fuzzy": (sa.Fuzzy, {"alpha": 1.0, "beta": 1.0, "Kp": None}, None),
        "joints.fold": (sa.joints.fold, {"a": plate["x1"], "b": plate, "name": "j"}, None),
        # joints
        **{
            f"joints.{name}": (
                getattr(sa.joints, name),
                {**ends, **more, "name": "j"},
                _joined if name in held else None,
            )
            for name, more in {
                "spherical": {},
                "rigid": {},
                "weld": {"axis": (1.0, 0, 0)},
                "revolute": {"axis": (0, 0, 1.0)},
                "cylindrical": {"axis": (1.0, 0, 0)},
                "prismatic": {"axis": (1.0, 0, 0)},
                "universal": {"axes": ((0, 1.0, 0), (0, 0, 1.0))},
                "rotation": {"angle": 0.1, "axis": (1.0, 0, 0)},
                "translation": {"distance": 0.0, "axis": (1.0, 0, 0)},
            }.items()
            for held in [("rigid",)]
        },
        "joints.distance": (
            sa.joints.distance,
            {"a": tip, "b": head.at((0.5, 0, 0)), "length": 1.0, "name": "j"},
            None,
        ),
        "joints.on_sphere": (
            sa.joints.on_sphere,
            {"a": tip, "centre": (2.0, 0.5, 1.25), "radius": 1.0, "name": "j"},
            _in(),
        ),
        "joints.periodic": (
            sa.joints.periodic,
            {"left": block["y0"], "right": block["y1"], "gradient": None, "name": "j"},
            None,
        ),
        "joints.tie": (sa.joints.tie, {"a": x1, "b": block, "weld": None, "name": "j"}, None),
        "joints.clamp": (
            sa.joints.clamp,
            {"a": x1, "b": head, "name": "j", "dofs": "clamp"},
            _joined,
        ),
        "Flexure.straight": (
            sa.Flexure.straight,
            {
                "a_end": sa.ground.at((0.3, 0.0)),
                "b_end": lever.at((0.3, 0.0)),
                "EI": 1e-4,
                "EA": 50.0,
                "model": "partial",
                "tangent": "K",
                "name": "s",
            },
            None,
        ),
        "Flexure.arc": (
            sa.Flexure.arc,
            {
                "a_end": sa.ground.at((0.3, 0.0)),
                "b_end": lever.at((0.3, 0.0)),
                "EI": 1e-4,
                "radius": 0.3,
                "angle": np.pi / 3,
                "EA": None,
                "direction": None,
            },
            None,
        ),
        # laws
        **{
            f"energies.{name}": (getattr(sa.energies, name), choices, None)
            for name, choices in (
                ("cable", {"strain": "biot", "curvature": "reference"}),
                ("holzapfel_gasser_ogden", {"fibres": ((1.0, 0.0, 0.0),)}),
                (
                    "j2_plasticity",
                    {
                        "E": 200.0,
                        "nu": 0.3,
                        "yield_stress": 1.0,
                        "hardening": 1.0,
                        "kinematic": 1.0,
                    },
                ),
                ("kirchhoff", {"curvature": "n1"}),
                ("ogden", {"terms": 1}),
                ("rod", {"C": np.eye(6)}),
            )
        },
        "fit": (
            sa.fit,
            {
                "law": sa.energies.neo_hooke(),
                "tests": sa.MaterialTest.uniaxial([1.1, 1.2, 1.3], [0.1, 0.2, 0.3]),
                "fixed": {"lam": 1.0},
                "start": {"mu": 0.5},
                "bounds": {"mu": (0.0, 10.0)},
                "incompressible": True,
                "positive_terms": False,
                "seed": 0,
            },
            None,
        ),
        "StructureTest": (
            _bench,
            {"data": [0.01], "times": [1.0], "error": 0.1, "weight": 1.0, "name": "bench"},
            None,
        ),
        **{
            f"MaterialTest.{kind}": (getattr(sa.MaterialTest, kind), rows, None)
            for kind, rows in _tests().items()
        },
        "energies.prony": (
            sa.energies.prony,
            {"law": sa.energies.yeoh(), "g": (0.2, 0.1), "tau": (1.0, 5.0)},
            None,
        ),
        "energies.ogden_roxburgh": (
            sa.energies.ogden_roxburgh,
            {"law": sa.energies.yeoh(), "r": 1.5, "m": 0.05, "beta": 0.1},
            None,
        ),
        "energies.bergstrom_boyce": (
            sa.energies.bergstrom_boyce,
            {
                "law": sa.energies.yeoh(),
                "s": 1.6,
                "stress": 1.0,
                "m": 4.0,
                "C": -1.0,
                "E": 0.01,
                "rate": 1.0,
            },
            None,
        ),
        "energies.swollen": (
            sa.energies.swollen,
            {"law": sa.energies.neo_hooke(), "by": lambda t, *, a: 1 + a * t},
            None,
        ),
        "materials.card": (sa.materials.card, {"name": "Ecoflex 00-30", "units": "mm"}, None),
        "materials.cards": (sa.materials.cards, {}, None),
        "energies.rest_strain": (
            sa.energies.rest_strain,
            {"law": sa.energies.rod(), "by": "kappa2"},
            None,
        ),
        "energies.between": (sa.energies.between, {"low": 0.0, "high": 1.0, "why": ""}, None),
        "energies.positive": (sa.energies.positive, {"why": ""}, None),
        "energies.domains": (
            lambda k: sa.energies.domains(k=k)(_height),
            {"k": sa.energies.positive()},
            None,
        ),
        "energies.moduli": (
            lambda symmetry, k: sa.energies.moduli(symmetry, k=k)(_height),
            {"symmetry": "isotropic", "k": lambda k: k},
            None,
        ),
        "energies.stressed_at_rest": (
            sa.energies.stressed_at_rest,
            {"energy": sa.energies.neo_hooke()},
            None,
        ),
        "memory": (lambda e, law: sa.memory(e=e)(law), {"e": 0, "law": lambda u_a, *, e: 0}, None),
        "local": (
            lambda per, p, law: sa.local(per=per, p=p)(law),
            {"per": "point", "p": 0, "law": lambda J, *, p: p * J},
            None,
        ),
        # systems and problems
        "System": (
            lambda body, terms, comm: sa.System(body, terms=terms, comm=comm),
            {"body": block, "terms": [support], "comm": None},
            None,
        ),
        "StaticProblem": (
            _static,
            {
                "system": system,
                "prefix": "",
                "options": None,
                "check_held": True,
                "history": None,
                "check_stable": True,
                "to": 1.0,
                "step": 1.0,
                "smallest": 0.5,
            },
            None,
        ),
        "StaticProblem.record": (
            lambda **o: sa.StaticProblem(system).record(**o),
            {"name": "x", "what": x1, "every": 1},
            None,
        ),
        "StaticProblem.monitor": (
            lambda function: sa.StaticProblem(system).monitor(function),
            {"function": lambda step: None},
            None,
        ),
        "StaticProblem.save": (
            lambda **o: sa.StaticProblem(system).save(**o),
            {"path": _path("c.h5"), "attributes": {"a": 1.0}},
            None,
        ),
        "StaticProblem.restore": (
            lambda state: sa.StaticProblem(_system()).restore(state),
            {"state": "none.h5"},
            None,
        ),
        "DynamicProblem.restore": (
            lambda state: sa.DynamicProblem(_system()).restore(state),
            {"state": "none.h5"},
            None,
        ),
        "follow": (_follow, {"parameter": None, "to": 0.1, "step": 0.05}, None),
        "DynamicProblem": (
            _motion,
            {
                "prefix": "",
                "options": None,
                "spectral_radius": 0.9,
                "damping": None,
                "history": None,
                "method": "generalized-alpha",
                "to": 2e-3,
                "step": 1e-3,
                "adaptive": False,
            },
            None,
        ),
        "Rayleigh": (
            sa.Rayleigh,
            {"mass": 0.1, "stiffness": 0.1},
            lambda d: _motion(damping=d, to=2e-3, step=1e-3),
        ),
        "Baumgarte": (sa.Baumgarte, {"alpha": 1.0, "beta": 1.0}, None),
        "EigenProblem": (
            lambda **o: sa.EigenProblem(
                _moved()[0], **{k: o.pop(k) for k in ("prefix", "options", "damping")}
            ).solve(**o),
            {"prefix": "", "options": None, "damping": None, "count": 2},
            lambda m: models.finite(m.frequencies),
        ),
        "buckle": (_buckle, {"parameter": None, "count": 1}, None),
        "check": (sa.check, {"what": system, "amplitude": 1e-3, "seed": 0}, None),
        "check of a law": (
            lambda law, mu, stretches: sa.check(law, stretches=stretches, mu=mu, lam=2.0),
            {"law": sa.energies.neo_hooke(), "mu": 1.0, "stretches": (0.9, 1.2)},
            None,
        ),
        "Goal": (
            lambda function, end, **o: sa.Goal(function, end, **o).value(system),
            {"function": _height, "end": tip, "name": "g", "h": 0.25},
            None,
        ),
        "Goal.value": (sa.Goal(lambda u_a: u_a[0], x1).value, {"system": system}, None),
        "Series": (sa.Series, {"times": [0.0, 1.0], "values": [0.0, 2.0], "order": "linear"}, None),
        "Series.values": (
            lambda values: setattr(sa.Series([0.0, 1.0], [0.0, 2.0]), "values", values),
            {"values": [3.0, 4.0]},
            None,
        ),
        "Trace": (_traced, {"memory": "1 MB"}, models.finite),
        "Goal.at": (sa.Goal(lambda u_a: u_a[0], x1).at, {"time": 0.5}, None),
        "check_gradient": (_remainders, {"size": 0.02, "seed": 0}, None),
        "optimize.scipy": (_optimum(sa.optimize.scipy), {"bounds": [(0.0, 1.0)]}, None),
        "optimize.tao": (_optimum(sa.optimize.tao), {"bounds": [(0.0, 1.0)], "prefix": "o_"}, None),
        "Field.values": (
            lambda values: setattr(sa.Field([1.0, 2.0]), "values", values),
            {"values": [3.0, 4.0]},
            None,
        ),
        "System.momentum": (_moved()[0].momentum, {"about": (0.0, 0.0, 0.0)}, None),
        "Restart": (sa.Restart, {"path": "run.ckpt", "every": 1, "minutes": 1.0}, None),
        # results
        "System.displacement": (system.displacement, {"place": x1}, models.finite),
        "System.position": (system.position, {"place": x1}, models.finite),
        "support.reaction": (support.reaction, {"system": system}, None),
        "constraint.reaction": (constraint.reaction, {"system": bound, "end": "a"}, None),
        "sample": (
            sa.sample,
            {
                "system": system,
                "body": block,
                "fields": ["J"],
                "at": "lattice",
                "divisions": 1,
                "solid": False,
                "reference": False,
                "units": None,
                "state": None,
                "on": None,
                "layer": None,
            },
            _as_samples,
        ),
        "maximum": (
            sa.maximum,
            {"system": system, "body": block, "field": "J", "at": "gauss"},
            models.finite,
        ),
        "results": (sa.results, {"system": system, "divisions": 1, "units": None}, None),
        "History": (sa.History, {"csv": None, "hdf5": None, "comm": None}, None),
        "History.record": (
            lambda **o: sa.History().record(**o),
            {"name": "x", "function": lambda: 1.0, "every": 1},
            None,
        ),
        "History.sample": (lambda time: _history().sample(time), {"time": 2.0}, None),
        "History[]": (lambda name: _history()[name], {"name": "x"}, None),
        "History.times": (lambda name: _history().times(name), {"name": "x"}, None),
        "History.at": (lambda **o: _history().at(**o), {"name": "x", "time": 0.5}, None),
        "History.to_csv": (lambda path: _history().to_csv(path), {"path": _path("h.csv")}, None),
        "History.to_hdf5": (lambda path: _history().to_hdf5(path), {"path": _path("h.h5")}, None),
        "History.read": (sa.History.read, {"path": "none.csv"}, None),
        "History.plot": (
            lambda name, **o: _history().plot(name, **o),
            {"name": "x", "path": None, "label": "", "time_unit": ""},
            None,
        ),
        "Table": (lambda title, head: sa.Table(title, head), {"title": "t", "head": "a:.2f"}, str),
        "Table.add": (lambda value: sa.Table("t", "a:.2f").add(value), {"value": 1.0}, None),
        "output.Series": (
            _series,
            {"path": _path("s.pvd"), "time": 0.0, "name": "a"},
            None,
        ),
        "output.Series, vtkhdf": (
            _series,
            {"path": _path("s.vtkhdf"), "time": 0.0, "name": "a"},
            None,
        ),
        "output.Series.write": (
            lambda time, state: sa.output.Series(_path("q.pvd")).write(time, state),
            {"time": 0.0, "state": {"a": samples}},
            None,
        ),
        "output.write": (
            sa.output.write,
            {"path": _path("w.vtu"), "samples": samples, "time": 0.0},
            None,
        ),
        "output.read": (sa.output.read, {"path": "none.vtu"}, None),
        "output.states": (sa.output.states, {"path": "none.pvd"}, None),
        "output.join": (sa.output.join, {"parts": [samples]}, None),
        "checkpoint.save": (
            sa.checkpoint.save,
            {"path": _path("k.h5"), "system": system, "vectors": None, "attributes": None},
            None,
        ),
        "checkpoint.load": (sa.checkpoint.load, {"path": "none.h5", "system": system}, None),
        "checkpoint.write": (
            sa.checkpoint.write,
            {"path": _path("k.h5"), "system": system, "state": state, "attributes": None},
            None,
        ),
        "checkpoint.read": (sa.checkpoint.read, {"path": "none.h5", "system": system}, None),
        "view.render": (
            sa.view.render,
            {
                "scenes": samples,
                "path": _path("v.png"),
                "field": "displacement",
                "directions": None,
                "title": "",
                "label": "",
                "unit": "",
                "cmap": "dawn",
                "classes": (),
                "limits": None,
                "shared": True,
                "undeformed": True,
                "eye": (0.75, -1.0, 0.62),
                "up": (0, 0, 1.0),
                "columns": 3,
                "width": 3.0,
                "engine": "matplotlib",
            },
            None,
        ),
        "view.regions": (
            sa.view.regions,
            {
                "mesh": mesh,
                "path": _path("r.png"),
                "names": "x0",
                "title": "",
                "eye": (0.75, -1.0, 0.62),
                "up": (0, 0, 1.0),
                "width": 3.0,
                "engine": "matplotlib",
            },
            None,
        ),
        "view.Diagram": (
            sa.view.Diagram,
            {
                "path": _path("d.svg"),
                "rows": 1,
                "columns": 1,
                "title": "",
                "width": 3.0,
                "height": None,
                "dots": 50,
            },
            None,
        ),
    }
    return found


def _as_free(part: Any) -> Any:
    system = sa.System(part, terms=[])
    sa.DynamicProblem(system).solve(to=1e-4, step=5e-5)
    models.finite(system.state)  # of this rank


def _as_section(section: Any) -> Any:
    given = section.rod(E=1e9, nu=0.3, rho=1.0)
    return models.finite([v for v in given.values() if isinstance(v, float)])


#: What may come as it is: of files, and of functions of the user.
DISK = ("OSError", "FileNotFoundError", "IsADirectoryError", "PermissionError",
        "NotADirectoryError", "FileExistsError")  # fmt: skip


def cases(names: list[str] | None = None) -> Iterator[tuple[str, str, str, Callable[[], Any]]]:
    """Yield name, argument, poison and the run of each call."""
    table = examples()
    for name, (function, given, use) in table.items():
        if names and name not in names:
            continue
        for argument, poison in itertools.product(given, POISONS):

            def run(
                function: Any = function, given: Any = given, use: Any = use,
                argument: str = argument, poison: str = poison,
            ) -> Any:  # fmt: skip
                value = function(**{**given, argument: POISONS[poison]()})
                return None if use is None else use(value)

            yield name, argument, poison, run


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield calls with one argument that is something else."""
    every = list(cases())
    chance.shuffle(every)
    for name, argument, poison, run in every[:count]:
        raises = (*DISK, "ZeroDivisionError") if "divides" in poison else DISK
        yield Case(f"{name}({argument}={poison})", run, "either", raises)
