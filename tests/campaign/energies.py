# SPDX-License-Identifier: BSD-3-Clause
"""Energies of the user: every function that SymPy has, checked against their own derivatives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

import symancf as sa

from . import models
from .case import Case, Wrong

x = sp.Symbol("x", real=True)

# function of a small quantity x, 0 at rest -> what is added to a sound energy
SOUND: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda x: 0,
    "abs of a square": lambda x: sp.Abs(x**2),
    "Max": lambda x: sp.Max(x, 0) ** 2,
    "Max to a power of 5/2": lambda x: sp.Max(x, 0) ** sp.Rational(5, 2),
    "Min": lambda x: sp.Min(x, 0) ** 2,
    "Max of two": lambda x: sp.Max(x, 2 * x) ** 2,
    "Piecewise": lambda x: sp.Piecewise((x**2, x > 0), (2 * x**2, True)),
    "Piecewise of three": lambda x: sp.Piecewise((x**2, x > 1), (2 * x - 1, x > 2), (x**2, True)),
    "sign": lambda x: sp.sign(x) * x**3,
    "Heaviside": lambda x: sp.Heaviside(x) * x**3,
    "exp": lambda x: sp.exp(x**2) - 1,
    "log": lambda x: sp.log(1 + x**2),
    "sin": lambda x: sp.sin(x) ** 2,
    "tanh": lambda x: sp.tanh(x) ** 2,
    "atan": lambda x: sp.atan(x**2),
    "erf": lambda x: sp.erf(x) ** 2,
    "sqrt": lambda x: sp.sqrt(1 + x**2) - 1,
    "cosh": lambda x: sp.cosh(x) - 1,
    "a power of 3/2 of a square": lambda x: (x**2) ** sp.Rational(3, 2),
    "a quotient": lambda x: x**2 / (2 + x),
}
UNSOUND: dict[str, Callable[[Any], Any]] = {
    "gamma": lambda x: sp.gamma(1 + x),
    "floor": lambda x: sp.floor(x) ** 2,
    "an unknown function": lambda x: sp.Function("f")(x),
    "a derivative": lambda x: sp.Derivative(sp.Function("g")(x), x),
    "an integral": lambda x: sp.Integral(sp.exp(-(x**2)), x),
    "nan": lambda x: sp.nan,
    "infinity": lambda x: sp.oo * x,
    "the imaginary unit": lambda x: sp.I * x**2,
    "a symbol of its own": lambda x: sp.Symbol("surprise") * x**2,
    "1/x": lambda x: 1 / x,
    "log x": lambda x: sp.log(x),
    "sqrt(x) at rest": lambda x: sp.sqrt(x),
    "a matrix": lambda x: sp.Matrix([x, x]),
    "a relation": lambda x: x > 0,
    "text": lambda x: "x**2",
    "None": lambda x: None,
    "an empty dict": lambda x: {},
    "a dict of a matrix": lambda x: {"part": sp.Matrix([x])},
    "a Python condition": lambda x: x if x > 0 else -x,
    "nested sixty deep": lambda x: _nested(x, 60),
    "nested four hundred deep": lambda x: _nested(x, 400),
    "log(x - 2)": lambda x: sp.log(x - 2) ** 2,
}


def _nested(x: Any, depth: int) -> Any:
    y = x
    for _ in range(depth):
        y = sp.sin(y) + x**2
    return y**2


def _solid(extra: Callable[[Any], Any]) -> Callable[..., Any]:
    def law(J: Any, I1: Any, *, mu: Any, c: Any) -> Any:
        base = mu / 2 * (I1 - 3 - 2 * sp.log(J)) + mu * sp.log(J) ** 2
        added = extra(J - 1)
        return base + c * added if isinstance(added, sp.Expr | int) else added

    return law


def _beam(extra: Callable[[Any], Any]) -> Callable[..., Any]:
    def law(epsilon: Any, kappa: Any, *, mu: Any, c: Any) -> Any:
        base = mu / 2 * epsilon**2 + mu / 1e4 * kappa**2 / 2
        added = extra(epsilon)
        return base + c * added if isinstance(added, sp.Expr | int) else added

    return law


def _try(kind: str, extra: Callable[[Any], Any]) -> Any:
    mesh = sa.Mesh.box(*(((1.0, 1.0, 1.0), (1, 1, 1)) if kind == "hex" else ((1.0,), (2,))))
    if kind == "hex":
        law, element, scale = _solid(extra), sa.elements.hex8_plain, {}
    elif kind == "plate":
        mesh = sa.Mesh.box((1.0, 1.0), (1, 1))
        law, element, scale = _solid(extra), sa.elements.ancf_plate, {"thickness": 0.1}
    else:
        law, element, scale = _beam(extra), sa.elements.ancf_cable, {}
    part = sa.Body(mesh["body"], element, law, mu=1e3, c=10.0, **scale)
    held = sa.fix(part["x0"])
    pull = sa.force(part["x1"], (5.0, 2.0, 1.0) if kind != "cable" else (5.0, 0.2, 0.1))
    system = models.solve(part, terms=[held, pull])
    found = sa.check(system, amplitude=0.02)
    if not found.passed:
        raise Wrong(f"the derivatives are not those of the energy: {found}")
    return models.ends(system, part, held)


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield energies: two thirds sound ones, the others have no derivative or no value."""
    kinds = ("hex", "cable", "plate")
    sound = [(kind, name) for kind in kinds for name in SOUND]
    unsound = [(kind, name) for kind in kinds[:2] for name in UNSOUND]
    chance.shuffle(sound)
    chance.shuffle(unsound)
    for k in range(count):
        some, of = (unsound, UNSOUND) if k % 3 == 2 else (sound, SOUND)
        if not some:
            return
        kind, name = some.pop()
        expect = "either" if name in ("gamma", "nested sixty deep") else "error"

        def run(kind: str = kind, extra: Any = of[name]) -> Any:
            return _try(kind, extra)

        yield Case(f"{kind}: {name}", run, "right" if of is SOUND else expect)  # type: ignore[arg-type]
