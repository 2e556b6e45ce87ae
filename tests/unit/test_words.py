# SPDX-License-Identifier: BSD-3-Clause
"""Pages use the terms that readers search, and none of the package's former private words."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

#: term -> page below docs that answers it
TERMS = {
    "boundary condition": "guide/systems",
    "Dirichlet": "guide/systems",
    "Neumann": "guide/systems",
    "traction": "guide/systems",
    "pressure load": "guide/pressure",
    "hyperelastic": "guide/energies",
    "viscoelastic": "guide/statics",
    "Prony series": "guide/energies",
    "plasticity": "guide/statics",
    "Mullins effect": "guide/energies",
    "damping": "guide/motions",
    "Rayleigh damping": "guide/motions",
    "Kelvin-Voigt": "guide/motions",
    "neo-Hookean": "guide/energies",
    "Mooney-Rivlin": "guide/energies",
    "Ogden": "guide/energies",
    "Yeoh": "guide/energies",
    "material fitting": "how-to",
    "incompressible": "guide/energies",
    "locking": "elements",
    "shear locking": "elements",
    "mesh refinement": "guide/meshes",
    "quadratic element": "elements",
    "shell element": "elements",
    "beam element": "elements",
    "cable element": "elements",
    "tendon": "guide/systems",
    "cable-driven": "guide/systems",
    "pneumatic": "guide/pressure",
    "fibre-reinforced": "guide/systems",
    "soft gripper": "demos/index",
    "rigid body": "joints",
    "revolute joint": "joints",
    "spherical joint": "joints",
    "constraint": "guide/systems",
    "Lagrange multiplier": "guide/systems",
    "Baumgarte": "guide/motions",
    "controller": "joints",
    "closed loop": "joints",
    "reset": "guide/results",
    "reinforcement learning": "guide/results",
    "contact": "contact",
    "friction": "contact",
    "self-contact": "how-to",
    "penetration": "contact",
    "time integration": "guide/motions",
    "time step": "guide/motions",
    "generalized-alpha": "guide/motions",
    "explicit": "guide/motions",
    "event": "guide/motions",
    "energy balance": "guide/motions",
    "eigenfrequenc": "guide/vibration",
    "mode shape": "guide/vibration",
    "buckling": "guide/vibration",
    "snap-through": "guide/statics",
    "arc length": "guide/statics",
    "convergence problem": "errors",
    "solver options": "guide/statics",
    "direct solver": "hpc/solvers",
    "multigrid": "hpc/solvers",
    "MPI": "tutorials/restart",
    "Slurm": "hpc/index",
    "checkpoint": "guide/results",
    "restart": "tutorials/restart",
    "ParaView": "guide/results",
    "reaction force": "guide/systems",
    "stress plot": "guide/results",
    "von Mises": "conventions",
    "principal stress": "guide/results",
    "Abaqus": "coming-from",
    "Gmsh": "guide/meshes",
    "STEP": "guide/meshes",
    "consistent units": "conventions",
    "symbolic residual": "kernels",
    "UMAT": "how-to",
    "C code": "kernels",
}

PRIVATE = (
    "laws that remember",
    "solutions that do not come",
    "it is told.",
    "which is told",
    "turn over",
    "as dear",
    "may be passed over",
    "feet on facets",
    "quarter of the round",
    "modulus of volume",
    "let in gradually",
    "that no equilibrium bears",
    "runs that go on",
    "what lies behind",
    "a motion that nothing holds",
    "letters of 7",
    "throw a body",
    "who should take something else",
    "nothing here has a unit",
    # added here
    "something is held twice",
    "a rigid motion that nothing holds",
    "lengths that are kept",
    "places that move",
    "trust, but check",
)


def _words(path):
    """Return the text of a file in one line, in lower case."""
    return " ".join(path.read_text(encoding="utf-8").lower().split())


@pytest.mark.parametrize("term", TERMS)
def test_a_page_answers_each_term(term, repository):
    page = repository / "docs" / f"{TERMS[term]}.md"
    assert term.lower() in _words(page), f"{term!r} is not on {page.name}"


def test_no_private_words(repository):
    files = [repository / "README.md"]
    for folder, kinds in (("docs", ("md", "py")), ("symancf", ("py",)), ("codegen", ("py",))):
        for kind in kinds:
            files += (repository / folder).rglob(f"*.{kind}")
    found = []
    for path in files:
        if "_build" not in path.parts:
            text = _words(path)
            found += [
                f"{path.relative_to(repository)}: {words}" for words in PRIVATE if words in text
            ]
    assert not found, "\n".join(found)


@pytest.fixture(scope="module")
def modules(repository):
    """Every module of the package and of the compiler, with its syntax tree."""
    return {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for folder in ("symancf", "codegen/symancf_codegen")
        for path in sorted((repository / folder).rglob("*.py"))
    }


def test_no_class_has_the_name_of_another(modules):
    places = defaultdict(list)
    for path, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(str(path))
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}


def test_docstrings_of_modules_are_titles(modules):
    titles = {path: ast.get_docstring(tree) or "" for path, tree in modules.items()}
    assert not [path for path, title in titles.items() if title.split(" ")[0] in ("What", "How")]


PARTICIPLES = frozenset(
    ("asked", "found", "gone", "held", "kept", "lost", "made", "said", "shown", "taken", "told")
) | {"whole"}
METHODS = PARTICIPLES - {"asked", "told"}  # of a signal, and messages of which others are told


def test_no_participle_is_a_name(modules):
    found = []
    for path, tree in modules.items():
        found += [str(path)] if PARTICIPLES & set(path.stem.split("_")) else []
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef | ast.Module):
                continue
            names = {
                getattr(node, "name", ""),
                *(x.name for x in node.body if isinstance(x, ast.FunctionDef)),
            }
            forbidden = METHODS if isinstance(node, ast.ClassDef) else PARTICIPLES
            found += [f"{path}: {n}" for n in names if n.strip("_").lower() in forbidden]
    assert not found
