# SPDX-License-Identifier: BSD-3-Clause
"""Former spellings of the interface in scripts, pages and notebooks, rewritten in place.

Python's own parser finds the calls; only the text of what changes is replaced, so that comments
and layout stay. What cannot be rewritten for certain is reported with its line.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ..values.spellings import CHOICES, KEYWORDS, LAWS, MEMBERS, NAMES, POSITIONS, VALUES

Note: TypeAlias = tuple[int, str]  # line, text

SUPPORTS = {"fix", "planar", "symmetry"}
FUNCTIONS = {*NAMES, *SUPPORTS, "largest", "momentum"}  # of the package alone: rooms have others
#: Class -> its attributes that a program may set; see `errors.OwnAttributes`.
SETTABLE: Mapping[str, tuple[str, ...]] = {
    "System": ("state", "rate", "time"),
    "StaticProblem": ("check_stable",),
    "DynamicProblem": (),
    "EigenProblem": ("damping",),
    "Body": (),
    "Contact": (),
    "RigidBody": ("velocity", "spin"),
    "PlanarBody": ("velocity", "spin"),
}
CLASSES = {*KEYWORDS, *POSITIONS, *VALUES, *MEMBERS, "Layers"} - FUNCTIONS


@dataclass
class ImportedNames:
    """Names of a program: of modules and objects of the package, and variables of one class.

    Attributes
    ----------
    names : name in the program -> full name, ``{"sa": "symancf"}``.
    kinds : variable -> what it was made by, as "DynamicProblem"; "" where that differs.
    """

    names: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def name_of(self, node: ast.expr) -> str:
        """Return the public name of an object, "DynamicProblem" or "energies.yeoh", or ""."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        full = self.names.get(node.id, "") if isinstance(node, ast.Name) else ""
        if full.partition(".")[0] != "symancf":
            return ""
        path = [*full.split(".")[1:], *parts]
        if "energies" in path[:-1]:
            return f"energies.{path[-1]}"
        heads = [k for k, part in enumerate(path) if part in CLASSES]
        if not heads:
            return path[0] if len(path) == 1 and path[0] in FUNCTIONS else ""
        return ".".join(path[heads[0] :])

    def kind_of(self, node: ast.expr) -> str:
        """Return by what a variable or the value of a call was made, "PlanarBody", or ""."""
        if isinstance(node, ast.Call):
            return self.name_of(node.func)
        if isinstance(node, ast.Attribute):
            return "Unknowns" if node.attr == "unknowns" else ""
        return self.kinds.get(node.id, "") if isinstance(node, ast.Name) else ""

    def learn(self, tree: ast.AST, package: str) -> None:
        """Take the names that a program imports, and the variables that it assigns."""
        made_by: dict[ast.AST, str] = {}  # the name that is assigned -> what makes its value
        for node in ast.walk(tree):
            self.names |= _imported(node, package)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                made_by.update(dict.fromkeys(node.targets, self.kind_of(node.value)))
        for node in ast.walk(tree):
            if bound := _bound(node):
                kind = made_by.get(node, "")
                self.kinds[bound] = kind if self.kinds.get(bound, kind) == kind else ""


class Script:
    """One program text, its tree and the changes to it."""

    def __init__(self, text: str, scope: ImportedNames, package: str = "") -> None:
        self.source = text.encode()
        self.tree = ast.parse(text)
        self.scope = scope
        scope.learn(self.tree, package)
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.changes: list[tuple[int, int, str]] = []
        self.notes: list[Note] = []
        self.callee: dict[ast.expr, ast.Call] = {}  # function -> the call of it
        self.holder: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            self.holder.update(dict.fromkeys(ast.iter_child_nodes(node), node))
            if isinstance(node, ast.Call):
                self.callee[node.func] = node
        self._leave_out_assigned()

    def _leave_out_assigned(self) -> None:
        """Forget imported names that the program also gives to something of its own."""
        for node in ast.walk(self.tree):
            bound = _bound(node)
            if bound in self.scope.names and not isinstance(self.holder.get(node), ast.ClassDef):
                public = self.scope.name_of(ast.Name(bound))
                full = self.scope.names.pop(bound)
                if public in CLASSES | FUNCTIONS or public.removeprefix("energies.") in (
                    *LAWS,
                    *CHOICES,
                ):
                    line = getattr(node, "lineno", 1)
                    self.notes.append((line, f"{bound} is {full} and something else: look at it"))

    def begin(self, node: ast.expr | ast.keyword | ast.alias) -> int:
        """Return where the text of a node begins, in bytes."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.keyword | ast.alias) -> int:
        """Return where it ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr) -> str:
        """Return its text."""
        return self.source[self.begin(node) : self.end(node)].decode(errors="replace")

    @property
    def uses_package(self) -> bool:
        """Whether it imports the package."""
        return "symancf" in "".join(self.scope.names.values())

    def method(self, node: ast.Call) -> str:
        """Return the name of the method that is called, of a program that uses the package."""
        of_object = isinstance(node.func, ast.Attribute) and self.uses_package
        return node.func.attr if of_object else ""  # type: ignore[attr-defined]

    def replace(self, begin: int, end: int, text: str) -> None:
        """Replace a part of the text when all is found."""
        self.changes.append((begin, end, text))

    def insert(self, at: int, text: str) -> None:
        """Insert a text."""
        self.replace(at, at, text)

    def note(self, node: ast.expr | ast.keyword | ast.alias, text: str) -> None:
        """Report what somebody has to look at."""
        self.notes.append((node.lineno, text))

    def result(self) -> str:
        """Return the changed text."""
        new, last = b"", 0
        for begin, end, text in sorted(self.changes, key=lambda change: change[:2]):
            new += self.source[last:begin] + text.encode()
            last = max(last, end)
        return (new + self.source[last:]).decode()


def _imported(node: ast.AST, package: str) -> dict[str, str]:
    """Return the names that an import binds, with their full names."""
    if isinstance(node, ast.Import):
        first = {name.asname or name.name.partition(".")[0]: name for name in node.names}
        return {bound: name.name if name.asname else bound for bound, name in first.items()}
    if not isinstance(node, ast.ImportFrom):
        return {}
    path = package.split(".")[: -node.level] if node.level else []
    module = ".".join([*path, *([node.module] if node.module else [])])
    return {name.asname or name.name: f"{module}.{name.name}" for name in node.names}


def _bound(node: ast.AST) -> str:
    """Return the name that an assignment, an argument or a definition binds, or ""."""
    match node:
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Name(id=name, ctx=ast.Store()):
            return name
    return ""


# ---- rules: each looks at one call, or at one name, by its public name --------------------------
def rename_keywords(program: Script, node: ast.Call, call: str) -> None:
    """``DynamicProblem(system, rho=0.8)``: keyword arguments, and words for them, are others."""
    names, values = KEYWORDS.get(call, {}), VALUES.get(call, {})
    for keyword in node.keywords:
        begin, value = program.begin(keyword), keyword.value
        name = keyword.arg or ""
        if not name:  # **{"rho": 0.8}
            for key in filter(None, _keys(value)):
                if isinstance(key, ast.Constant) and (new := names.get(str(key.value))):
                    program.replace(program.begin(key), program.end(key), f'"{new}"')
        elif name in names:
            program.replace(begin, begin + len(name.encode()), names[name])
        words = values.get(names.get(name, name), {})
        if isinstance(value, ast.Constant) and (word := words.get(str(value.value))):
            program.replace(program.begin(value), program.end(value), f'"{word}"')


def _keys(tree: ast.expr) -> Iterator[ast.expr | None]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from node.keys


def name_positions(program: Script, node: ast.Call, call: str) -> None:
    """``StaticProblem(system, "", None, False)``: later arguments are given by their names."""
    positions = POSITIONS.get(call, ())[1:]
    if len(node.args) <= len(positions) and not _starred(node.args[:-1]):
        for name, argument in list(zip(positions, node.args, strict=False))[3:]:
            program.insert(program.begin(argument), f"{name}=")


def _starred(nodes: Iterable[ast.expr]) -> bool:
    return any(isinstance(node, ast.Starred) for node in nodes)


def say_degrees(program: Script, node: ast.Call, call: str) -> None:
    """``Layers([(law, h, 45)])``, ``mesh.select(..., angle=45)``: the unit of angles is said."""
    if program.method(node) == "select" and node.args:
        for keyword in node.keywords:
            if keyword.arg == "angle":
                program.insert(program.begin(keyword) + len("angle"), "_deg")
    has_unit = any(keyword.arg in ("degrees", None) for keyword in node.keywords)
    if call == "Layers" and node.args and not has_unit:
        layers = node.args[0]
        listed = isinstance(layers, ast.List | ast.Tuple)
        if not (listed and all(map(_without_angle, layers.elts))):  # type: ignore[attr-defined]
            program.insert(program.end(layers), ", degrees=True")


def _without_angle(layer: ast.expr) -> bool:
    """Tell whether a layer has no angle, as far as its text says; ``...`` has none."""
    if not isinstance(layer, ast.Tuple):
        return getattr(layer, "value", None) is ...
    few = len(layer.elts) < 3 and not _starred(layer.elts)
    return few or (len(layer.elts) > 2 and getattr(layer.elts[2], "value", 1) == 0)


def take_force(program: Script, node: ast.Call, call: str) -> None:
    """``support.reaction(system)`` as an array is ``support.reaction(system).force``."""
    if program.method(node) != "reaction" or len(node.args) + len(node.keywords) != 1:
        return
    holder = program.holder.get(node)
    kind = program.scope.kind_of(node.func.value)  # type: ignore[attr-defined]
    if isinstance(holder, ast.Attribute) and holder.attr in OF_REACTIONS:
        return
    third = isinstance(holder, ast.Subscript) and getattr(holder.slice, "value", 2) not in (0, 1)
    as_array = not isinstance(holder, ast.Subscript)
    planar = b"PlanarBody" in program.source and (third or as_array)  # whose third is the moment
    if (kind in SUPPORTS or _is_array(node, holder)) and not planar:
        program.insert(program.end(node), ".force")
    elif not kind or kind in SUPPORTS:
        program.note(node, "a support's reaction is no array: take .force, .moment or both")


def take_moment(program: Script, node: ast.Call, call: str) -> None:
    """``support.reaction_moment(system, X)`` is ``support.reaction(system).moment_about(X)``."""
    if program.method(node) != "reaction_moment" or not node.args:
        return
    about = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
    name = program.end(node.func)
    program.replace(name - len("_moment"), name, "")
    if about:
        program.replace(program.end(node.args[0]), program.begin(about[0]), ").moment_about(")
    else:
        program.insert(program.end(node), ".moment_about((0, 0, 0))")


OF_REACTIONS = {"force", "moment", "moment_about", "points", "forces", "moments", "former"}
TAKE_ARRAYS = {"abs", "float", "sum", "max", "min", "norm", "dot", "ravel", "asarray", "array"}
TAKE_ARRAYS |= {"assert_allclose", "assert_array_equal", "append", "concatenate", "stack"}


def _is_array(node: ast.Call, holder: ast.AST | None) -> bool:
    """Tell whether a reaction is used as only arrays are: those of constraints are none."""
    if isinstance(holder, ast.Call):
        called = holder.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return called is not node and name in TAKE_ARRAYS
    operators = ast.BinOp | ast.UnaryOp | ast.Compare | ast.Attribute
    of_it = isinstance(holder, ast.Subscript) and holder.value is node
    return isinstance(holder, operators) or of_it


def call_momentum(program: Script, node: ast.Call, call: str) -> None:
    """``sa.momentum(system)`` is ``system.momentum()``."""
    if call != "momentum":
        return
    if not node.args or isinstance(node.args[0], ast.Starred):
        program.note(node, "momentum is a method of System: system.momentum(...)")
        return
    system = node.args[0]
    rest: list[ast.expr | ast.keyword] = [*node.args[1:], *node.keywords]
    simple = isinstance(system, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    program.replace(program.begin(node), program.begin(system), "" if simple else "(")
    after = program.begin(rest[0]) if rest else program.end(node) - 1
    program.replace(program.end(system), after, f"{'' if simple else ')'}.momentum(")


def call_maximum(program: Script, node: ast.Call, call: str) -> None:
    """``sa.largest(body, f)(system)``: a function of system, body and field."""
    if call != "largest":
        return
    outer, recorder = program.callee.get(node), program.holder.get(node)
    begin = program.begin(node.args[0]) if node.args else program.end(node) - 1
    system = ""
    if outer is not None and len(outer.args) == 1:
        system = program.text(outer.args[0])
        program.replace(program.end(node), program.end(outer), "")
    elif isinstance(recorder, ast.Call) and program.method(recorder) == "record":
        problem = recorder.func.value  # type: ignore[attr-defined]
        system = f"{program.text(problem)}.system"
        program.insert(program.begin(node), "lambda: ")
    if not system:
        program.note(node, "largest(body, field) is maximum(system, body, field)")
        return
    program.replace(program.end(node.func) - len("largest"), begin, f"maximum({system}, ")
    for argument in node.args[2:]:
        program.insert(program.begin(argument), "at=")


def call_laws(program: Script, node: ast.expr, name: str) -> None:
    """``energies.yeoh``: names of the catalogue are called to give a law."""
    room, _, law = name.rpartition(".")
    call = program.callee.get(node)
    called = call is not None and (law in CHOICES or not (call.args or call.keywords))
    holder = program.holder.get(node)
    if isinstance(holder, ast.Call) and ast.unparse(holder.func).endswith(("partial", "map")):
        return  # of what makes laws
    if room == "energies" and law in (*LAWS, *CHOICES) and not called:
        program.insert(program.end(node), "()")


def rename_names(program: Script, node: ast.expr, name: str) -> None:
    """``sa.print``: other names with the same arguments."""
    if name in NAMES:
        program.replace(program.end(node) - len(name), program.end(node), NAMES[name])


def place_of_origin(program: Script, node: ast.expr, name: str) -> None:
    """``disc.origin`` of a planar body, a place, is ``disc.at((0, 0))``; others are numbers."""
    if not isinstance(node, ast.Attribute) or node.attr != "origin":
        return
    kind = program.scope.kind_of(node.value)
    if kind == "PlanarBody":
        program.replace(program.end(node) - len("origin"), program.end(node), "at((0, 0))")
    elif not kind and program.uses_package:
        program.note(node, "origin: of a PlanarBody write at((0, 0)), of others it stays")


def write_members(program: Script, node: ast.expr, name: str) -> None:
    """``system.tangent`` is ``system.matrices.tangent``; what only the solver asks for is noted."""
    if not isinstance(node, ast.Attribute):
        return
    kind = program.scope.kind_of(node.value).partition(".")[0]
    rows, holder, former, whole = MEMBERS.get(kind, {}), program.holder.get(node), node.attr, node
    if isinstance(holder, ast.Attribute) and f"{former}.{holder.attr}" in rows:
        former, whole = f"{former}.{holder.attr}", holder
    write = rows.get(former)
    if write is None:
        return
    given, _, path = write.partition(".")
    if given == kind.lower() and re.fullmatch(r"[\w.]+", path):
        program.replace(program.end(node) - len(node.attr), program.end(whole), path)
    else:
        say = f"write {write}" if write else "it is of the solver alone"
        program.note(node, f"{kind}.{node.attr} goes: {say}")


def note_set(program: Script, node: ast.expr) -> None:
    """``problem.rho = 0.5``: what is given when an object is made is not set later."""
    if isinstance(node, ast.Attribute):
        kind = program.scope.kind_of(node.value).partition(".")[0]
        if node.attr not in SETTABLE.get(kind, (node.attr,)):
            program.note(node, f"{kind}.{node.attr} is not to be set: nothing would change")


OF_CALLS: tuple[Callable[[Script, ast.Call, str], None], ...] = (
    *(rename_keywords, name_positions, say_degrees),
    *(take_force, take_moment, call_momentum, call_maximum),
)
OF_NAMES: tuple[Callable[[Script, ast.expr, str], None], ...] = (
    call_laws,
    rename_names,
    place_of_origin,
    write_members,
)


def rename_imports(program: Script, node: ast.ImportFrom) -> None:
    """``from symancf import print``."""
    for name in node.names:
        if new := {**NAMES, "largest": "maximum"}.get(name.name):
            program.replace(program.begin(name), program.begin(name) + len(name.name), new)
        elif name.name == "momentum":
            program.note(name, "momentum is a method of System: remove it from the import")


def rewrite(text: str, scope: ImportedNames, package: str = "") -> tuple[str, list[Note]]:
    """Return a program in present spellings, and what is to be looked at.

    Raises
    ------
    SyntaxError : it is no Python.
    """
    program = Script(text, scope, package)
    for node in ast.walk(program.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "symancf":
            rename_imports(program, node)
        place = node.func if isinstance(node, ast.Call) else node
        if not isinstance(place, ast.expr):
            continue
        if isinstance(getattr(place, "ctx", None), ast.Store):
            note_set(program, place)
            continue
        name = scope.name_of(place)
        if name and "".join(program.text(place).split()) != ast.unparse(place):
            program.note(place, "look at this f-string: Python 3.11 does not know its places")
        elif isinstance(node, ast.Call):
            for of_call in OF_CALLS:
                of_call(program, node, name)
        else:
            for of_name in OF_NAMES:
                of_name(program, place, name)
    return program.result(), program.notes


def rewrite_cell(text: str, scope: ImportedNames) -> tuple[str, list[Note]]:
    """Rewrite a cell of a notebook; its lines for Jupyter, ``%%time`` or ``!ls``, stay.

    Raises
    ------
    SyntaxError : it is no Python.
    """
    lines = text.split("\n")
    magic = {k: line for k, line in enumerate(lines) if line.startswith(("%", "!"))}
    new, notes = rewrite("\n".join("" if k in magic else x for k, x in enumerate(lines)), scope)
    return "\n".join(magic.get(k, line) for k, line in enumerate(new.split("\n"))), notes


# ---- files ---------------------------------------------------------------------------------------
def in_python(text: str, path: Path) -> tuple[str, list[Note]]:
    """Rewrite a script, the examples in its docstrings, and code in its comments."""
    package = ".".join([*packages(path), path.stem])
    new, notes = rewrite(text, ImportedNames(), package)
    lines = [
        INLINE.sub(_inline, line) if line.lstrip().startswith("#") else line
        for line in new.splitlines(keepends=True)
    ]
    for node in ast.walk(ast.parse(new)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno:
            part = range(node.lineno - 1, node.end_lineno)
            notes += in_examples(lines, part, ImportedNames({"sa": "symancf"}))
    return "".join(lines), notes


def packages(path: Path) -> list[str]:
    """Return the packages that a file is in, the outermost first."""
    names: list[str] = []
    for folder in path.resolve().parents:
        if not (folder / "__init__.py").exists():
            break
        names.insert(0, folder.name)
    return names


PROMPT = re.compile(r"\s*(?:>>>|\.\.\.)(?: |$)")
FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*(\S*)")
CODE = "", "python", "py", "python3", "pycon", "{code-cell}", "{code-block}"
INLINE = re.compile(r"(?<!`)(`{1,2})([^`\n]+)\1(?!`)")


def in_examples(lines: list[str], part: range, scope: ImportedNames) -> list[Note]:
    """Rewrite the lines of ``>>> `` prompts in a part of a text, all as one program."""
    places: list[int] = []
    for k in part:
        first, more = (lines[k].lstrip().startswith(prompt) for prompt in (">>>", "..."))
        if PROMPT.match(lines[k]) and (first or (more and k - 1 in places)):
            places.append(k)
    if not places:
        return []
    heads = [PROMPT.match(lines[k]) for k in places]
    cut = [match.end() if match else 0 for match in heads]
    program = "\n".join(lines[k][c:].rstrip("\n") for k, c in zip(places, cut, strict=True))
    try:
        new, notes = rewrite(program, scope)
    except SyntaxError:
        return []
    for k, c, line in zip(places, cut, new.split("\n"), strict=True):
        lines[k] = (lines[k][:c] + line).rstrip() + "\n"
    return [(places[line - 1] + 1, text) for line, text in notes]


def in_markdown(text: str, path: Path) -> tuple[str, list[Note]]:
    """Rewrite blocks of Python on a page, which share their names, and code in its sentences."""
    lines, notes, scope = text.splitlines(keepends=True), [], ImportedNames({"sa": "symancf"})
    k = 0
    while k < len(lines):
        fence = FENCE.match(lines[k])
        if not fence:
            lines[k] = INLINE.sub(_inline, lines[k])
            k += 1
            continue
        first, k = k + 1, k + 1
        while k < len(lines) and not lines[k].strip().startswith(fence[2]):
            k += 1
        while first < k and lines[first].strip().startswith(":"):  # options of the block
            first += 1
        part, k = range(first, k), k + 1
        if any(">>>" in lines[j] for j in part):
            notes += in_examples(lines, part, scope)
        elif fence[3] in CODE:
            notes += _in_block(lines, part, len(fence[1]), scope)
    return "".join(lines), notes


def _in_block(lines: list[str], part: range, indent: int, scope: ImportedNames) -> list[Note]:
    cut = [min(indent, len(lines[k]) - len(lines[k].lstrip(" "))) for k in part]
    program = "".join(lines[k][c:] for k, c in zip(part, cut, strict=True))
    try:
        new, notes = rewrite_cell(program, scope)
    except SyntaxError:
        return []
    for k, c, line in zip(part, cut, new.splitlines(keepends=True), strict=True):
        lines[k] = lines[k][:c] + line
    return [(part.start + line, text) for line, text in notes]


def _inline(match: re.Match[str]) -> str:
    public = CLASSES
    scope = ImportedNames({"sa": "symancf"} | {name: f"symancf.{name}" for name in public})
    try:
        return f"{match[1]}{rewrite(match[2], scope)[0]}{match[1]}"
    except (SyntaxError, ValueError):
        return match[0]


def in_notebook(text: str, path: Path) -> tuple[str, list[Note]]:
    """Rewrite the cells of a notebook, which share their names."""
    notebook, notes, scope = json.loads(text), [], ImportedNames()
    for number, cell in enumerate(notebook.get("cells", [])):
        source_lines = cell["source"]
        source = source_lines if isinstance(source_lines, str) else "".join(source_lines)
        try:
            if cell["cell_type"] == "code":
                new, more = rewrite_cell(source, scope)
            else:
                new, more = in_markdown(source, path)
        except SyntaxError:
            new, more = source, [(1, "no Python: look at it")] if "symancf" in source else []
        cell["source"] = new if isinstance(source_lines, str) else new.splitlines(keepends=True)
        notes += [(line, f"cell {number + 1}: {text}") for line, text in more]
    indent = re.match(r"\{\n( +)", text)
    new = json.dumps(notebook, indent=len(indent[1]) if indent else None, ensure_ascii=False)
    return new + text[len(text.rstrip()) :], notes


KINDS: Mapping[str, Callable[[str, Path], tuple[str, list[Note]]]] = {
    ".py": in_python,
    ".md": in_markdown,
    ".ipynb": in_notebook,
}


def files(paths: list[Path]) -> Iterator[Path]:
    """Return the files that are given, and those of folders, by their names."""
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.suffix in KINDS and p.is_file())
        else:
            yield path


#: A file with these words, as this one, shows former spellings on purpose.
OFF = "symancf upgrade: off"


def main(paths: list[Path], *, check: bool) -> int:
    """Rewrite files, or say which would be; return 1 where there is something left to do."""
    remaining = 0
    for path in files(paths):
        try:
            text = path.read_text(encoding="utf-8")
            if OFF in text:
                continue
            new, notes = KINDS.get(path.suffix, in_python)(text, path)
        except (OSError, SyntaxError, ValueError) as error:
            print(f"{path}: not read: {error}")
            remaining += 1
            continue
        pairs = zip(text.splitlines(), new.splitlines(), strict=False)
        changed = [k for k, (a, b) in enumerate(pairs, 1) if a != b]
        if new != text:
            print(f"{path}: lines {', '.join(map(str, changed))}{' to be' * check} rewritten")
            if not check:
                path.write_text(new, encoding="utf-8")
        for line, note in sorted(notes):
            print(f"{path}:{line}: {note}")
        remaining += len(notes) + (check and new != text)
    return int(remaining > 0)
