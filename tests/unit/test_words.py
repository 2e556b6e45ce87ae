# SPDX-License-Identifier: BSD-3-Clause
"""Pages use the terms that readers search, and none of the package's former private words."""

from __future__ import annotations

import ast
import inspect
import re
import runpy
from collections import defaultdict
from pathlib import Path

import pytest

import symancf as sa

#: term -> page below docs that answers it; `make docs` asks the site's search for the same terms
TERMS = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "_search.py"))["TERMS"]

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
    named = repository / "docs" / TERMS[term]
    (page,) = (p for kind in (".md", ".py") if (p := named.with_suffix(kind)).exists())
    assert term.lower() in _words(page), f"{term!r} is not on {page.name}"


LONGEST = 90  # words of a paragraph


def _prose(path):
    """Return the text of a page; of a script its docstring and its cells of text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        cells = re.findall(r"^# %% \[markdown\].*\n((?:#.*\n)+)", text, re.M)
        title = ast.get_docstring(ast.parse(text)) or ""
        text = "\n\n".join([title, *(re.sub("^# ?", "", cell, flags=re.M) for cell in cells)])
    text = re.sub(r"^(```+|:::+)[^\n]*\n.*?^\1[ \t]*$", "\n", text, flags=re.S | re.M)
    return re.sub(r"\$\$.*?\$\$", " formula ", text, flags=re.S)


def _paragraphs(text):
    """Yield paragraphs and items of lists; headings and tables end them."""
    lines = []
    for line in [*text.splitlines(), ""]:
        ends = not line.strip() or line.lstrip().startswith(("|", "#", "<"))
        if ends or re.match(r"\s*(?:[-*+]|\d+\.)\s", line):
            yield " ".join(lines)
            lines = []
        lines += [] if ends else [line.strip()]


@pytest.fixture(scope="module")
def pages(repository):
    """Every page of the site, and the README."""
    docs = repository / "docs"
    scripts = [*(docs / "demos").glob("*.py"), *(docs / "tutorials").glob("*.py")]
    texts = [page for page in docs.rglob("*.md") if "_build" not in page.parts]
    return [repository / "README.md", *texts, *scripts]


def test_paragraphs_are_short(repository, pages):
    found = [
        f"{page.relative_to(repository)}: {len(paragraph.split())} words: {paragraph[:60]}"
        for page in pages
        for paragraph in _paragraphs(_prose(page))
        if len(paragraph.split()) > LONGEST
    ]
    assert not found, "\n".join(found)


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


#: not in public docstrings, messages, `--help` and pages either; behind them what users know
SAID = {
    "is told": "a warning is issued",
    "are told": "a warning is issued",
    "told once": "with one warning",
    "goes on": "continues",
    "go on": "continue",
    "gone on": "continued",
    "let in": "ramped",
    "lie in each other": "overlap",
    "presses at once": "acts instantaneously",
    "acts at once": "acts instantaneously",
    "from nowhere": "unexplained",
    "rigid motions are free": "unconstrained rigid-body modes",
    "rigid motion is free": "unconstrained rigid-body mode",
    "begin anew": "start again",
    "made anew": "repeated",
    "fixed pattern": "fixed sparsity pattern",
    "what presses": "points in contact",
    "gives way": "yields, becomes unstable",
    "turns round": "reverses",
    "moduli at once": "instantaneous moduli",
    "stress at once": "instantaneous stress",
    "there at once": "jumps",
    "changed at once": "jumped",
    "held unknowns": "constant unknowns",
    "held strain": "constant strain",
    "is held": "is fixed",
    "are held": "are fixed",
    "one's own": "your own",
    "is meant": "is intended",
    "the way it came": "back along the path",
    "one by one": "separately",
    "tells": "shows, says, returns",
}


def _messages(tree):
    """Yield texts of a module that are no docstrings, parts of one joined: messages and help."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            constant = (part for part in node.values if isinstance(part, ast.Constant))
            yield "{}".join(str(part.value) for part in constant)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
        ):
            yield node.value


def _public_docstrings(name, thing, seen):
    """Yield names and docstrings of what `dir` shows, from a public name on."""
    if id(thing) in seen or not getattr(thing, "__doc__", None):
        return
    seen.add(id(thing))
    if inspect.ismodule(thing):
        members = {member: getattr(thing, member) for member in getattr(thing, "__all__", ())}
    elif isinstance(thing, type) and thing.__module__.startswith("symancf"):
        members = {member: inspect.getattr_static(thing, member) for member in dir(thing)}
    else:
        members = {}
    yield name, str(inspect.getdoc(thing))
    for member, value in members.items():
        if not member.startswith("_"):
            value = getattr(value, "__func__", value)  # of a static or a class method
            yield from _public_docstrings(f"{name}.{member}", value, seen)


def test_docstrings_messages_and_pages_have_the_words_of_users(modules, pages):
    texts = [(path.name, text) for path, tree in modules.items() for text in _messages(tree)]
    texts += [(page.name, paragraph) for page in pages for paragraph in _paragraphs(_prose(page))]
    seen = set()
    for name in sa.__all__:
        texts += _public_docstrings(name, getattr(sa, name), seen)
    assert len(seen) > 300
    words = re.compile(r"|".join([*map(re.escape, PRIVATE), *(rf"\b{word}\b" for word in SAID)]))
    plain = [(where, " ".join(text.lower().split())) for where, text in texts]
    said = [(where, match[0], text) for where, text in plain for match in words.finditer(text)]
    found = [f"{where}: {word!r}, say {SAID.get(word)!r}: {text}" for where, word, text in said]
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


def former(function: ast.FunctionDef) -> bool:
    """Tell whether a function is a former name, which warns."""
    return "id='advise'" in ast.dump(function)


def test_no_participle_is_a_name(modules):
    found = []
    for path, tree in modules.items():
        found += [str(path)] if PARTICIPLES & set(path.stem.split("_")) else []
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef | ast.Module):
                continue
            names = {
                getattr(node, "name", ""),
                *(x.name for x in node.body if isinstance(x, ast.FunctionDef) and not former(x)),
            }
            forbidden = METHODS if isinstance(node, ast.ClassDef) else PARTICIPLES
            found += [f"{path}: {n}" for n in names if n.strip("_").lower() in forbidden]
    assert not found


#: of an attribute or a parameter: what it is says more than that it was found
NOUNS = PARTICIPLES | {"brought", "given", "known", "meant", "named", "tried"}
#: fields of `SymancfError`: the class itself, and values that are passed on to an error
FIELDS = frozenset(("asked", "given"))


def _parameters(function: ast.FunctionDef):
    """Yield the names of the parameters of a function and of lambdas within it."""
    for node in ast.walk(function.args):
        if isinstance(node, ast.arg):
            yield node.arg


def _passed_on(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function passes to an error as a field."""
    fields = [x.value for x in ast.walk(function) if isinstance(x, ast.keyword) and x.arg in FIELDS]
    return {x.id for value in fields for x in ast.walk(value) if isinstance(x, ast.Name)}


def test_no_participle_is_a_parameter(modules):
    found = []
    for path, tree in modules.items():
        functions = [x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)]
        for function in functions if path.name != "errors.py" else ():
            names = {x for x in _parameters(function) if x.strip("_") in NOUNS}
            found += [
                f"{path}: {function.name}: {name}"
                for name in names - FIELDS.intersection(_passed_on(function))
            ]
    assert not found, "\n".join(found)


def test_no_participle_is_an_attribute(modules):
    found = []
    for path, tree in modules.items():
        for node in ast.walk(tree) if path.name != "errors.py" else ():
            stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            found += [f"{path}: .{node.attr}"] if stored and node.attr.strip("_") in NOUNS else []
            body = node.body if isinstance(node, ast.ClassDef) else []
            fields = [x.target.id for x in body if isinstance(x, ast.AnnAssign)]
            found += [f"{path}: {node.name}.{n}" for n in fields if n.strip("_") in NOUNS]
    assert not found, "\n".join(found)


#: former words of the assembly and of contact; in C, too
FORMER = frozenset(
    ("piece", "pieces", "plan", "plans", "feet", "foot", "leaf", "leaves", "skin", "skins", "sheet")
)


def test_assembly_and_contact_use_the_words_of_the_field(repository):
    found = []
    for folder in ("assembly", "contact"):
        for path in sorted((repository / "symancf" / folder).iterdir()):
            if path.suffix in (".c", ".h"):
                code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
                words = set(re.findall(r"\w+", code))
            elif path.suffix == ".py":
                tree = ast.parse(path.read_text(encoding="utf-8"))
                words = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name)}
                words |= {x.attr for x in ast.walk(tree) if isinstance(x, ast.Attribute)}
            else:
                continue
            found += [f"{path}: {word}" for word in words | {path.stem} if word in FORMER]
    assert not found, "\n".join(found)
