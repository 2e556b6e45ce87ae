# SPDX-License-Identifier: BSD-3-Clause
"""Text is never evaluated, whatever a law, a file or an argument contains."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf_codegen.functions import expression, numerical, symbolic
from tests.refusals import refused

#: Names that turn text or bytes into code or objects, and the files that may use them.
ALLOWED = {
    **dict.fromkeys(("eval", "exec", "compile", "__import__", "execfile"), ()),
    **dict.fromkeys(("parse_expr", "sympify", "_sympify", "S"), ()),
    **dict.fromkeys(("allow_pickle", "yaml", "marshal", "shelve", "dill", "cloudpickle"), ()),
    "lambdify": ("codegen/symancf_codegen/functions.py", "symancf/verify/"),
    "sympify": ("codegen/symancf_codegen/functions.py",),
    # of errors, between ranks; of states in a folder of this process alone
    "pickle": ("symancf/runtime/collective.py", "symancf/solve/gradients/trace.py"),
    # the package's own scripts, and one that the user names to be run
    "runpy": ("symancf/command/demos.py", "symancf/command/model.py"),
}


def used(tree: ast.AST) -> Iterator[str]:
    """Yield what a module calls, imports, reads of other modules and gives as keywords."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id
            elif ast.unparse(node.func) in ("sp.S", "sympy.S"):
                yield "S"
            yield from (k.arg for k in node.keywords if k.arg)
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[0] for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]
            yield from (a.name for a in node.names if a.name != "S")  # S.Half
        elif isinstance(node, ast.Attribute) and node.attr not in ("S", "compile", "eval"):
            yield node.attr  # such as map(sp.sympify, ...)


def test_nothing_in_the_sources_evaluates_text(repository: Path) -> None:
    found = []
    for root in ("symancf", "codegen"):
        for path in (repository / root).rglob("*.py"):
            place = path.relative_to(repository).as_posix()
            names = set(used(ast.parse(path.read_text(encoding="utf-8"))))
            found += [
                (place, name)
                for name in sorted(names & {*ALLOWED})
                if not any(place.startswith(allowed) for allowed in ALLOWED[name])
            ]
    assert found == []


FLAG = "evaluated"
TEXT = f"open({FLAG!r}, 'w')"
RETURNED = {
    "text": TEXT,
    "list": [TEXT],
    "tuple": (TEXT, 1),  # SymPy's sympify evaluates these two, even where it is strict
    "dict": {TEXT: TEXT},
    "array": np.array([[TEXT]], dtype=object),
    "bytes": TEXT.encode(),
    "name": np.str_(TEXT),
}


def solid(law: Callable[..., Any]) -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    return sa.Body(mesh["body"], sa.elements.hex8_plain, law, mu=1.0)


def smooth(J: Any, I1: Any, mu: Any) -> Any:
    return mu * (I1 - 3 - 2 * sp.log(J))


def energy(value: Any) -> None:
    def law(J: Any, I1: Any, *, mu: Any) -> Any:
        return value

    solid(law)


def part(value: Any) -> None:
    def law(J: Any, I1: Any, *, mu: Any) -> Any:
        return {"a": smooth(J, I1, mu), "b": value}

    solid(law)


def default(value: Any) -> None:
    def law(J: Any, I1: Any, *, mu: Any, c: Any = value) -> Any:
        return smooth(J, I1, mu)

    solid(law)


def first(value: Any) -> None:
    @sa.memory(e=value)
    def law(J: Any, I1: Any, *, mu: Any, e: Any) -> Any:
        return sa.remember(smooth(J, I1, mu), e=e, stored=smooth(J, I1, mu))

    solid(law)


def last(value: Any) -> None:
    @sa.memory(e=0)
    def law(J: Any, I1: Any, *, mu: Any, e: Any) -> Any:
        return sa.remember(smooth(J, I1, mu), e=value, stored=smooth(J, I1, mu))

    solid(law)


def stored(value: Any) -> None:
    @sa.memory(e=0)
    def law(J: Any, I1: Any, *, mu: Any, e: Any) -> Any:
        return sa.remember(smooth(J, I1, mu), e=e, stored=value, dissipated=value)

    solid(law)


def equation(value: Any) -> None:
    @sa.local(q=0)
    def law(J: Any, I1: Any, *, mu: Any, q: Any) -> Any:
        return sa.implicit(smooth(J, I1, mu) + q**2, q=value)

    solid(law)


def layer(value: Any) -> None:
    def law(E_gl: Any, *, E: Any) -> Any:
        return value

    mesh = sa.Mesh.box((1.0, 1.0), (1, 1))
    sa.Body(mesh["body"], sa.elements.ancf_plate, sa.Layers([(law, 0.1)]), E=1.0)


def potential(value: Any) -> None:
    body = sa.PlanarBody((0.0, 0.0), mass=1.0)

    def law(u_a: Any) -> Any:
        return value

    sa.System(body, terms=[sa.Potential(law, body.at((0.0, 0.0)))])


def work(value: Any) -> None:
    body = sa.PlanarBody((0.0, 0.0), mass=1.0)

    def law(u_a: Any) -> Any:
        return {u_a[0]: value}

    sa.System(body, terms=[sa.VirtualWork(law, body.at((0.0, 0.0)))])


def constraint(value: Any) -> None:
    body = sa.PlanarBody((0.0, 0.0), mass=1.0)

    def law(u_a: Any) -> Any:
        return [u_a[0], value]

    sa.System(body, terms=[sa.Constraint(law, body.at((0.0, 0.0)))])


def cable() -> sa.Body:
    mesh = sa.Mesh.box((1.0,), (1,))
    return sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)


def cable_on(**given: Any) -> None:
    body = cable()
    shape = given.pop("shape", sa.Plane((0.0, 0.0, -1.0), normal=(0.0, 0.0, 1.0)))
    sa.System(body, terms=[sa.Contact(body["body"], shape, radius=0.1, **given)])


def contact(value: Any) -> None:
    cable_on(law=lambda g: value)


def friction(value: Any) -> None:
    cable_on(mu=lambda v: value)


def distance(value: Any) -> None:
    cable_on(shape=sa.Distance(lambda x1, x2, x3: value))


def field(value: Any) -> None:
    body = cable()
    sa.sample(sa.System(body), body, fields={"f": lambda epsilon: value})


PLACES = [energy, part, default, first, last, stored, equation, layer, potential, work]
PLACES += [constraint, contact, friction, distance, field]


@pytest.mark.parametrize("place", PLACES, ids=lambda f: f.__name__)
def test_text_of_users_is_refused(
    place: Callable[[Any], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, value in RETURNED.items():
        with pytest.raises(sa.SymancfError):
            place(value)
        assert not (tmp_path / FLAG).exists(), f"{kind} was evaluated"


def test_the_error_gives_function_and_text() -> None:
    with refused(sa.KinematicsError, asked="law", given=TEXT):
        energy(TEXT)
    with refused(sa.KinematicsError, asked="e", given=TEXT):
        last(TEXT)


def test_what_is_symbolic() -> None:
    x = sp.Symbol("x")
    for value in (1, 2.5, np.float64(0.5), np.int32(3), sp.Rational(1, 3), True):
        assert symbolic(value) == sp.sympify(value)
    assert symbolic(np.array(4.0)) == sp.Float(4.0)
    assert expression([x, 1]) == sp.Matrix([x, 1])
    assert expression(((x, 1), (2, 3))) == sp.Matrix([[x, 1], [2, 3]])
    for value in (*RETURNED.values(), None, object(), {1: 2}):
        with pytest.raises(sp.SympifyError):
            expression(value)


def test_names_of_symbols_are_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In SymPy's `lambdify` a symbol that has no value is written into the code as it is."""
    monkeypatch.chdir(tmp_path)
    x, evil = sp.Symbol("x"), sp.Symbol(TEXT)
    assert numerical([x, evil], x + evil)(1.0, 2.0) == 3.0
    assert numerical([x], [2 * evil], lets=[(evil, x + 1)])(1.0) == [4.0]
    for wrong in (x + evil, sp.Function(TEXT)(x)):
        with pytest.raises(ValueError, match="has no value"):
            numerical([x], wrong)
    assert not (tmp_path / FLAG).exists()
