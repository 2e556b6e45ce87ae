# SPDX-License-Identifier: BSD-3-Clause
"""Messages use the field's words and the user's names, never those inside of the package."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import symancf as sa
from symancf.assembly.numbering import words_of
from symancf.errors import listed, owner
from tests.refusals import refused

ROOT = Path(sa.__file__).parent
ROOMS = {path.stem for path in ROOT.iterdir() if path.is_dir()} - {"elements", "energies", "output"}


def messages() -> dict[str, str]:
    """Return the texts of all calls of errors and warnings, by place."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        if {"verify", "bench"} & {*path.parts}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            if re.search(r"(Error|\.warn|^Row)$", name):
                parts = [x.value for x in ast.walk(node) if isinstance(x, ast.Constant)]
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                found[place] = " ".join(str(x) for x in parts if isinstance(x, str) and " " in x)
    return found


def test_no_message_names_what_is_inside() -> None:
    """Neither private classes nor modules of ours."""
    public = {*sa.__all__, *dir(sa.joints), *dir(sa.energies), *dir(sa.elements), *dir(sa.output)}
    inside = {
        node.name
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and re.search(r"[a-z][A-Z]|^_", node.name)
    } - public
    modules = re.compile(rf"\bsymancf\.({'|'.join(sorted(ROOMS))})\b")
    texts = messages()
    assert len(texts) > 500
    for place, text in texts.items():
        words = {*re.findall(r"\w+", text)}
        assert not words & inside, place
        assert not modules.search(text), place


def test_kinds_of_rows_and_parts_of_terms_in_words() -> None:
    assert words_of("slopes:gradient3") == "slopes"
    assert words_of("slopes:rope") == "slopes of 'rope'"
    assert words_of("lambda:pin") == "multipliers of 'pin'"
    assert owner("rigidity:crank") == "crank"
    assert owner("sheet (curved)") == "sheet"
    assert owner("fix:body.x0") == "fix:body.x0"  # as the user sees it
    names = ["rigidity:crank", *"ABCDEFGH"]
    assert listed(names) == "'A', 'B', 'C', 'D' and 5 more"
    assert listed(["rigidity:crank", "A"]) == "'A' and 'rigidity of crank'"


def cube(**given: Any) -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    law = {"E": 1e3, "nu": 0.3}
    energy = sa.energies.saint_venant_kirchhoff()
    return sa.Body(mesh["body"], sa.elements.hex8, energy, name="cube", **law, **given)


def test_of_a_history() -> None:
    mesh = sa.Mesh.box((1.0, 1.0), (1, 1))
    law = {"E": 1e3, "nu": 0.3, "thickness": 0.1}
    sheet = sa.Body(
        mesh["body"], sa.elements.ancf_plate, sa.energies.saint_venant_kirchhoff(), **law
    )
    load = sa.traction(sheet["x1"], (0.0, 0.0, 1e-3))
    problem = sa.StaticProblem(sa.System(sheet, terms=[sa.fix(sheet["x0"]), load]))
    shown = str(problem.solve())
    assert "positions" in shown
    assert "slopes" in shown
    assert "gradient" not in shown


def test_of_solvers() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    law = {"E": 1e3, "nu": 0.3}
    part = sa.Body(
        mesh["body"], sa.elements.hex8_plain, sa.energies.saint_venant_kirchhoff(), **law
    )
    load = sa.traction(part["x1"], (0.0, 0.0, 1.0))
    system = sa.System(part, terms=[sa.fix(part["x0"]), load])
    options = {"ksp_type": "gmres", "pc_type": "grids", "ksp_max_it": 1, "ksp_rtol": 1e-12}
    with refused(sa.ConvergenceError) as caught:
        sa.StaticProblem(system, options=options).solve(smallest=1.0)
    told = "GMRES with multigrid (-ksp_type gmres -pc_type grids)"
    assert told in str(caught.value)
    assert "gmres with grids" not in str(caught.value)


@pytest.mark.parametrize("what", ["gap_", "law_k"])
def test_of_a_law_of_contact(what: str) -> None:
    def law(g: Any, *, k: Any) -> Any:
        import sympy as sp

        return sp.I * k * g

    with refused(sa.KinematicsError, asked="law") as caught:
        sa.Contact(cube()["z0"], sa.Plane(), law=law)
    assert what not in str(caught.value)
    assert "I*g*k" in str(caught.value)
