# SPDX-License-Identifier: BSD-3-Clause
"""Every argument of every public function, given what it cannot be."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy as sp

import symancf as sa

from . import models
from .case import Case, Wrong

NAN, INF = float("nan"), float("inf")
POISONS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "text": lambda: "abc",
    "number as text": lambda: "1e6",
    "empty text": lambda: "",
    "nan": lambda: NAN,
    "inf": lambda: INF,
    "-1": lambda: -1.0,
    "0": lambda: 0,
    "2.5": lambda: 2.5,
    "1e308": lambda: 1e308,
    "1e-320": lambda: 1e-320,
    "True": lambda: True,
    "1j": lambda: 1j,
    "10**400": lambda: 10**400,
    "[]": list,
    "{}": dict,
    "object": object,
    "two numbers": lambda: (1.0, 2.0),
    "four numbers": lambda: [1.0, 2.0, 3.0, 4.0],
    "three texts": lambda: ("a", "b", "c"),
    "three nan": lambda: (NAN, NAN, NAN),
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "3x3 of ones": lambda: np.ones((3, 3)),
    "bytes": lambda: b"x0",
    "function of nothing": lambda: lambda: 0.0,
    "function that returns None": lambda: lambda *x: None,
    "function that returns nan": lambda: lambda *x: NAN,
    "function that divides by zero": lambda: lambda *x: 1 / 0,
    "symbol": lambda: sp.Symbol("x"),
    "class": lambda: sa.Body,
    "mesh": lambda: sa.Mesh.box((1.0,), (1,)),
    "region": lambda: sa.Mesh.box((1.0,), (1,))["body"],
    "body": lambda: models.body("cable", "stranger"),
    "parameter of nan": lambda: sa.Parameter("p", NAN),
}


def _rigid(**options: Any) -> sa.RigidBody:
    given = {"position": (2.5, 0.5, 0.25), "rho": 100.0, "name": "head"} | options
    size = given.pop("size", (1.0, 0.4, 0.4))
    return sa.RigidBody.box(size, **given)


def _held(*terms: Any, part: sa.Body | None = None, more: tuple[Any, ...] = ()) -> list[Any]:
    part = part or models.body("hex")
    support = sa.fix(part["x0"])
    system = models.solve(part, *more, terms=[support, sa.gravity((0, 0, -1.0)), *terms])
    return models.ends(system, part, support)


def _term(make: Callable[..., Any], kind: str = "hex") -> Callable[..., Any]:
    """Make a case that adds a term, made from the body and arguments, to a held body."""

    def run(**given: Any) -> Any:
        part = models.body(kind)
        return _held(make(part, **given), part=part)

    return run


def _body(kind: str) -> Callable[..., Any]:
    return lambda **given: _held(part=models.body(kind, **given))


def _solve(**given: Any) -> Any:
    part = models.body("hex")
    support = sa.fix(part["x0"])
    system = sa.System(part, terms=[support, sa.gravity((0, 0, -1.0))])
    problem = sa.StaticProblem(
        system, **{k: given.pop(k) for k in ("prefix", "options") if k in given}
    )
    problem.solve(**given)
    return models.ends(system, part, support)


def _move(**given: Any) -> Any:
    part = models.body("cable")
    system = sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))])
    first = {
        k: given.pop(k) for k in ("spectral_radius", "method", "damping", "options") if k in given
    }
    sa.DynamicProblem(system, **first).solve(**({"to": 4e-3, "step": 2e-3} | given))
    return models.finite(system.displacement(part["x1"]))


def _follow(**given: Any) -> Any:
    part, load = models.body("cable"), sa.Parameter("load", 0.0)
    pull = sa.force(part["x1"], (0.0, 0.0, lambda t: load.value))
    problem = sa.StaticProblem(sa.System(part, terms=[sa.fix(part["x0"]), pull]))
    problem.follow(**({"parameter": load, "to": 1.0, "step": 0.5} | given))
    return models.finite(problem.system.displacement(part["x1"]))


def _parameter(value: Any) -> Any:
    load = sa.Parameter("load", 1.0)
    part = models.body("hex")
    support = sa.fix(part["x0"])
    system = sa.System(part, terms=[support, sa.force(part["x1"], (0, 0, load))])
    problem = sa.StaticProblem(system)
    problem.solve()
    load.value = value
    problem.solve()
    return models.ends(system, part, support)


def _joint(name: str) -> Callable[..., Any]:
    def run(**given: Any) -> Any:
        part, head = models.body("hex"), _rigid()
        made = getattr(sa.joints, name)
        ends = {"a": part.at((2.0, 0.5, 0.25)), "b": head.at((-0.5, 0.0, 0.0))} | given
        if name == "distance":
            ends["b"] = given.get("b", head.at((0.5, 0.0, 0.0)))
            ends.setdefault("length", 1.0)
        joint = made(ends.pop("a"), ends.pop("b"), **ends)
        held = [] if name == "rigid" else [sa.fix(head)]
        return _held(joint, *held, part=part, more=(head,))

    return run


def _mesh(**given: Any) -> Any:
    mesh = sa.Mesh.box(given.get("lengths", (2.0, 1.0)), given.get("divisions", (2, 1)), **{
        k: v for k, v in given.items() if k in ("cell", "warp", "name")
    })  # fmt: skip
    return [mesh.n_points]


def _spring(r_a: Any, X_a: Any, *, k: Any) -> Any:
    return k / 2 * (r_a - X_a).dot(r_a - X_a)


def _height(r_a: Any, *, h: Any) -> Any:
    return r_a[2] - h


# name -> (call with keywords, the arguments to poison)
CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "Mesh.box": (_mesh, ("lengths", "divisions", "cell", "warp", "name")),
    "Body hex": (_body("hex"), ("E", "nu", "rho", "name", "volumetric", "quadrature")),
    "Body plate": (_body("plate"), ("thickness", "E", "join", "direction")),
    "Body thin": (_body("thin"), ("thickness", "nu", "direction")),
    "Body cable": (_body("cable"), ("EA", "EI", "A", "rho", "direction")),
    "gravity": (_term(lambda b, g: sa.gravity(g)), ("g",)),
    "force": (
        _term(lambda b, **o: sa.force(**({"place": b["x1"], "vector": (0, 0, 1.0)} | o))),
        ("place", "vector", "distribute", "name", "factor"),
    ),
    "traction": (
        _term(lambda b, **o: sa.traction(**({"place": b["x1"], "vector": (0, 0, 1.0)} | o))),
        ("place", "vector"),
    ),
    "moment": (
        _term(
            lambda b, **o: sa.moment(**({"place": b["x1"], "vector": (0, 0, 1e-3)} | o)), "plate"
        ),
        ("place", "vector", "distribute", "frame"),
    ),
    "pressure": (
        _term(lambda b, **o: sa.pressure(**({"place": b["z1"], "p": 10.0} | o))),
        ("place", "p"),
    ),
    "fix": (
        _term(lambda b, **o: sa.fix(**({"region": b["x1"]} | o))),
        ("region", "dofs", "displacement", "gradient"),
    ),
    "fix plate": (
        _term(lambda b, **o: sa.fix(**({"region": b["x1"]} | o)), "plate"),
        ("region", "dofs", "displacement", "gradient"),
    ),
    "symmetry": (
        _term(lambda b, **o: sa.symmetry(**({"region": b["y0"], "normal": "y"} | o))),
        ("region", "normal"),
    ),
    "length": (
        _term(lambda b, **o: sa.length(**({"place": b["body"]} | o)), "cable"),
        ("place", "form", "per", "stretch"),
    ),
    "Potential": (
        _term(
            lambda b, **o: sa.Potential(
                o.get("function", _spring), o.get("end", b["x1"]), k=o.get("k", 10.0)
            )
        ),
        ("function", "end", "k"),
    ),
    "Constraint": (
        _term(
            lambda b, **o: sa.Constraint(
                o.get("function", _height), o.get("end", b.at((2.0, 0.5, 0.25))), h=o.get("h", 0.2)
            )
        ),
        ("function", "end", "h"),
    ),
    "KelvinVoigt": (
        _term(lambda b, **o: sa.KelvinVoigt(o.get("body", b), eta=o.get("eta", 1.0))),
        ("body", "eta"),
    ),
    "System": (
        lambda **o: _held(*o.values()),
        ("term",),
    ),
    "body.at": (
        _term(lambda b, **o: sa.force(b.at(o["point"]), (0, 0, 1.0))),
        ("point",),
    ),
    "body[]": (_term(lambda b, **o: sa.force(b[o["region"]], (0, 0, 1.0))), ("region",)),
    "StaticProblem": (_solve, ("prefix", "options", "to", "step", "smallest")),
    "DynamicProblem": (
        _move,
        ("spectral_radius", "method", "damping", "options", "to", "step", "adaptive"),
    ),
    "follow": (_follow, ("parameter", "to", "step", "direction")),
    "Parameter.value": (_parameter, ("value",)),
    "RigidBody.box": (
        lambda **o: _held(sa.fix(head := _rigid(**o)), more=(head,)),
        ("size", "position", "frame", "rho", "name"),
    ),
    "spherical": (_joint("spherical"), ("a", "b")),
    "revolute": (_joint("revolute"), ("a", "b", "axis")),
    "rigid": (_joint("rigid"), ("a", "b")),
    "distance": (_joint("distance"), ("a", "b", "length")),
    "rotation": (_joint("rotation"), ("a", "angle")),
}


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield calls with one poisoned argument; what is accepted must give finite numbers."""
    every = [
        (name, argument, poison)
        for name, (_, arguments) in CALLS.items()
        for argument in arguments
        for poison in POISONS
    ]
    chance.shuffle(every)
    for name, argument, poison in every[:count]:
        call = CALLS[name][0]
        # what a user's function raises may come through as it is
        raises = ("ZeroDivisionError",) if "divides" in poison else ()

        def run(call: Any = call, argument: str = argument, poison: str = poison) -> Any:
            value = call(**{argument: POISONS[poison]()})
            if "nan" in poison and argument not in ("warp", "name", "prefix"):
                raise Wrong(f"{argument}={poison} was taken for a number")
            return value

        yield Case(f"{name}({argument}={poison})", run, "either", raises)
