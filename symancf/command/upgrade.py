# SPDX-License-Identifier: BSD-3-Clause
"""Former spellings of the interface in scripts, pages and notebooks, rewritten in place.

Python's own parser finds the calls; only the text of what changes is replaced, so that comments
and layout stay. What cannot be rewritten for certain is reported with its line.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from ..values.spellings import CHOICES, KEYWORDS, LAWS, NAMES, POSITIONS, VALUES

Note: TypeAlias = tuple[int, str]  # line, text

SUPPORTS = {"fix", "planar", "symmetry"}
FUNCTIONS = {*NAMES, *SUPPORTS, "largest", "momentum"}  # of the package alone: rooms have others
CLASSES = {*KEYWORDS, *POSITIONS, *VALUES, "Layers"} - FUNCTIONS


@dataclass
class Known:
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

    def learn(self, tree: ast.AST, package: str) -> None:
        """Take the names that a program imports, and the variables that it assigns."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for name in node.names:
                    bound = name.asname or name.name.partition(".")[0]
                    self.names[bound] = name.name if name.asname else bound
            elif isinstance(node, ast.ImportFrom):
                path = package.split(".")[: -node.level] if node.level else []
                module = ".".join([*path, *([node.module] if node.module else [])])
                for name in node.names:
                    self.names[name.asname or name.name] = f"{module}.{name.name}"
        made_by: dict[ast.AST, str] = {}  # the name that is assigned -> what makes its value
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                made_by.update(dict.fromkeys(node.targets, self.name_of(node.value.func)))
        for node in ast.walk(tree):
            if bound := _bound(node):
                kind = made_by.get(node, "")
                self.kinds[bound] = kind if self.kinds.get(bound, kind) == kind else ""


class Program:
    """One program text, its tree and the changes to it."""

    def __init__(self, text: str, known: Known, package: str = "") -> None:
        self.source = text.encode()
        self.tree = ast.parse(text)
        self.known = known
        known.learn(self.tree, package)
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
            if bound in self.known.names and not isinstance(self.holder.get(node), ast.ClassDef):
                public = self.known.name_of(ast.Name(bound))
                full = self.known.names.pop(bound)
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
        return self.source[self.begin(node) : self.end(node)].decode()

    def misplaced(self, node: ast.AST) -> bool:
        """Tell whether the places in an f-string are wrong, as those of Python before 3.12 are."""
        if not isinstance(node, ast.JoinedStr):
            return False
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                text = self.text(part.value)
                if not text or not self._same(text, part.value):
                    return True
        return False

    @staticmethod
    def _same(text: str, node: ast.expr) -> bool:
        try:
            return ast.dump(ast.parse(text, mode="eval").body) == ast.dump(node)
        except (SyntaxError, ValueError):
            return False

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


def _bound(node: ast.AST) -> str:
    """Return the name that an assignment, an argument or a definition binds, or ""."""
    match node:
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Name(id=name, ctx=ast.Store()):
            return name
    return ""


# ---- rules: each looks at one node of a program --------------------------------------------------
def rename_keywords(program: Program, node: ast.AST) -> None:
    """``DynamicProblem(system, rho=0.8)``: keyword arguments have other names."""
    if not isinstance(node, ast.Call):
        return
    names = KEYWORDS.get(program.known.name_of(node.func), {})
    for keyword in node.keywords:
        begin = program.begin(keyword)
        if keyword.arg is None:  # **{"rho": 0.8}
            for key in filter(None, _keys(keyword.value)):
                if isinstance(key, ast.Constant) and (new := names.get(str(key.value))):
                    program.replace(program.begin(key), program.end(key), f'"{new}"')
        elif keyword.arg in names:
            program.replace(begin, begin + len(keyword.arg.encode()), names[keyword.arg])


def _keys(tree: ast.expr) -> Iterator[ast.expr | None]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from node.keys


def rename_values(program: Program, node: ast.AST) -> None:
    """``sample(system, body, at="cells")``: some words are others now."""
    if not isinstance(node, ast.Call):
        return
    call = program.known.name_of(node.func)
    for keyword in node.keywords:
        name = KEYWORDS.get(call, {}).get(keyword.arg or "", keyword.arg or "")
        words, value = VALUES.get(call, {}).get(name, {}), keyword.value
        if isinstance(value, ast.Constant) and (word := words.get(str(value.value))):
            program.replace(program.begin(value), program.end(value), f'"{word}"')


def name_positions(program: Program, node: ast.AST) -> None:
    """``StaticProblem(system, "", None, False)``: later arguments are given by their names."""
    if not isinstance(node, ast.Call):
        return
    positions = POSITIONS.get(program.known.name_of(node.func), ())[1:]
    if len(node.args) > len(positions) or any(isinstance(x, ast.Starred) for x in node.args[:-1]):
        return
    for name, argument in list(zip(positions, node.args, strict=False))[3:]:
        program.insert(program.begin(argument), f"{name}=")


def say_degrees(program: Program, node: ast.AST) -> None:
    """``Layers([(law, h, 45)])``, ``mesh.select(..., angle=45)``: the unit of angles is said."""
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr == "select" and node.args:
        for keyword in node.keywords:
            if keyword.arg == "angle" and "symancf" in "".join(program.known.names.values()):
                program.insert(program.begin(keyword) + len("angle"), "_deg")
    said = any(keyword.arg in ("degrees", None) for keyword in node.keywords)
    if program.known.name_of(node.func) != "Layers" or said or not node.args:
        return
    layers = node.args[0]
    plain = isinstance(layers, ast.List | ast.Tuple) and all(
        getattr(layer, "value", None) is ...
        or (
            isinstance(layer, ast.Tuple)
            and not any(isinstance(part, ast.Starred) for part in layer.elts)
            and (len(layer.elts) < 3 or getattr(layer.elts[2], "value", 1) == 0)
        )
        for layer in layers.elts
    )
    if not plain:
        program.insert(program.end(layers), ", degrees=True")


def place_of_origin(program: Program, node: ast.AST) -> None:
    """``disc.origin`` of a planar body, a place, is ``disc.at((0, 0))``; others are numbers."""
    if not isinstance(node, ast.Attribute) or node.attr != "origin":
        return
    if not isinstance(node.ctx, ast.Load) or not program.known.names:
        return
    owner = node.value
    kind = program.known.kinds.get(owner.id, "") if isinstance(owner, ast.Name) else ""
    if isinstance(owner, ast.Call):
        kind = program.known.name_of(owner.func)
    if kind == "PlanarBody":
        program.replace(program.end(node) - len("origin"), program.end(node), "at((0, 0))")
    elif not kind and "symancf" in "".join(program.known.names.values()):
        program.note(node, "origin: of a PlanarBody write at((0, 0)), of others it stays")


def take_force(program: Program, node: ast.AST) -> None:
    """``support.reaction(system)`` as an array is ``support.reaction(system).force``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if "symancf" not in "".join(program.known.names.values()) or not node.args:
        return
    if node.func.attr == "reaction_moment":
        about = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        end = program.end(node.func)
        program.replace(end - len("reaction_moment"), end, "reaction")
        if about:
            program.replace(program.end(node.args[0]), program.begin(about[0]), ").moment_about(")
        else:
            program.insert(program.end(node), ".moment_about((0, 0, 0))")
    if node.func.attr != "reaction" or len(node.args) + len(node.keywords) > 1:
        return
    owner, holder = node.func.value, program.holder.get(node)
    kind = program.known.kinds.get(owner.id, "") if isinstance(owner, ast.Name) else ""
    if isinstance(holder, ast.Attribute) and holder.attr in OF_REACTIONS:
        return
    if (kind in SUPPORTS or _as_array(node, holder)) and not _may_be_moment(program, holder):
        program.insert(program.end(node), ".force")
    elif not kind or kind in SUPPORTS:
        program.note(node, "a support's reaction is no array: take .force, .moment or both")


OF_REACTIONS = {"force", "moment", "moment_about", "points", "forces", "moments", "former"}
TAKE_ARRAYS = {"abs", "float", "sum", "max", "min", "norm", "dot", "ravel", "asarray", "array"}
TAKE_ARRAYS |= {"assert_allclose", "assert_array_equal", "append", "concatenate", "stack"}


def _as_array(node: ast.Call, holder: ast.AST | None) -> bool:
    """Tell whether a reaction is used as only arrays are: those of constraints are none."""
    if isinstance(holder, ast.Call):
        called = holder.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in TAKE_ARRAYS and holder.func is not node
    return isinstance(holder, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Attribute) or (
        isinstance(holder, ast.Subscript) and holder.value is node
    )


def _may_be_moment(program: Program, holder: ast.AST | None) -> bool:
    """Tell whether it may be of a planar body, whose third number is a moment."""
    of_force = isinstance(holder, ast.Subscript) and getattr(holder.slice, "value", 2) in (0, 1)
    return b"PlanarBody" in program.source and not of_force


def call_laws(program: Program, node: ast.AST) -> None:
    """``energies.yeoh``: names of the catalogue are called to give a law."""
    if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    room, _, name = program.known.name_of(node).rpartition(".")
    if room != "energies" or name not in (*LAWS, *CHOICES):
        return
    call = program.callee.get(node)
    if call is None or (name in LAWS and (call.args or call.keywords)):
        program.insert(program.end(node), "()")


def rename_names(program: Program, node: ast.AST) -> None:
    """``sa.print``: other names with the same arguments."""
    if isinstance(node, ast.ImportFrom) and node.module == "symancf":
        for name in node.names:
            new = NAMES.get(name.name) or {"largest": "maximum"}.get(name.name)
            if new:
                program.replace(program.begin(name), program.begin(name) + len(name.name), new)
            elif name.name == "momentum":
                program.note(name, "momentum is a method of System: remove it from the import")
    if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
        former = program.known.name_of(node)
        if former in NAMES:
            program.replace(program.end(node) - len(former), program.end(node), NAMES[former])


def call_methods_of_system(program: Program, node: ast.AST) -> None:
    """``sa.momentum(system)`` is ``system.momentum()``."""
    if not isinstance(node, ast.Call) or program.known.name_of(node.func) != "momentum":
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


def call_maximum(program: Program, node: ast.AST) -> None:
    """``sa.largest(body, f)(system)``: a function of system, body and field."""
    if not isinstance(node, ast.Call) or program.known.name_of(node.func) != "largest":
        return
    outer, recorder = program.callee.get(node), program.holder.get(node)
    where = program.end(node.func) - len("largest")
    begin = program.begin(node.args[0]) if node.args else program.end(node) - 1
    for argument, name in zip(node.args[2:], ("at",), strict=False):
        program.insert(program.begin(argument), f"{name}=")
    if outer is not None and len(outer.args) == 1:
        program.replace(where, begin, f"maximum({program.text(outer.args[0])}, ")
        program.replace(program.end(node), program.end(outer), "")
    elif (
        isinstance(recorder, ast.Call)
        and isinstance(recorder.func, ast.Attribute)
        and recorder.func.attr == "record"
    ):
        system = f"{program.text(recorder.func.value)}.system"
        program.insert(program.begin(node), "lambda: ")
        program.replace(where, begin, f"maximum({system}, ")
    else:
        program.note(node, "largest(body, field) is maximum(system, body, field)")


RULES: tuple[Callable[[Program, ast.AST], None], ...] = (
    rename_keywords,
    rename_values,
    name_positions,
    call_laws,
    take_force,
    place_of_origin,
    say_degrees,
    rename_names,
    call_methods_of_system,
    call_maximum,
)


def rewrite(text: str, known: Known, package: str = "") -> tuple[str, list[Note]]:
    """Return a program in present spellings, and what is to be looked at.

    Raises
    ------
    SyntaxError : it is no Python.
    """
    program = Program(text, known, package)
    unknown: set[ast.AST] = set()
    for node in ast.walk(program.tree):
        if node in unknown or program.misplaced(node):
            unknown.update(ast.iter_child_nodes(node))
            if isinstance(node, ast.expr) and known.name_of(node) in CLASSES | FUNCTIONS:
                program.note(node, "look at this f-string: its parts have no places in Python 3.11")
            continue
        for rule in RULES:
            rule(program, node)
    return program.result(), program.notes


def rewrite_cell(text: str, known: Known) -> tuple[str, list[Note]]:
    """Rewrite a cell of a notebook; its lines for Jupyter, ``%%time`` or ``!ls``, stay.

    Raises
    ------
    SyntaxError : it is no Python.
    """
    lines = text.split("\n")
    kept = {k: line for k, line in enumerate(lines) if line.startswith(("%", "!"))}
    new, notes = rewrite("\n".join("" if k in kept else x for k, x in enumerate(lines)), known)
    return "\n".join(kept.get(k, line) for k, line in enumerate(new.split("\n"))), notes


# ---- files ---------------------------------------------------------------------------------------
def in_python(text: str, path: Path) -> tuple[str, list[Note]]:
    """Rewrite a script, the examples in its docstrings, and code in its comments."""
    package = ".".join([*packages(path), path.stem])
    new, notes = rewrite(text, Known(), package)
    lines = [
        INLINE.sub(_inline, line) if line.lstrip().startswith("#") else line
        for line in new.splitlines(keepends=True)
    ]
    for node in ast.walk(ast.parse(new)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno:
            part = range(node.lineno - 1, node.end_lineno)
            notes += in_examples(lines, part, Known({"sa": "symancf"}))
    return "".join(lines), notes


def packages(path: Path) -> list[str]:
    """Return the packages that a file is in, the outermost first."""
    found: list[str] = []
    for folder in path.resolve().parents:
        if not (folder / "__init__.py").exists():
            break
        found.insert(0, folder.name)
    return found


PROMPT = re.compile(r"\s*(?:>>>|\.\.\.)(?: |$)")
FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*(\S*)")
CODE = "", "python", "py", "python3", "pycon", "{code-cell}", "{code-block}"
INLINE = re.compile(r"(?<!`)(`{1,2})([^`\n]+)\1(?!`)")


def in_examples(lines: list[str], part: range, known: Known) -> list[Note]:
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
        new, notes = rewrite(program, known)
    except SyntaxError:
        return []
    for k, c, line in zip(places, cut, new.split("\n"), strict=True):
        lines[k] = (lines[k][:c] + line).rstrip() + "\n"
    return [(places[line - 1] + 1, text) for line, text in notes]


def in_markdown(text: str, path: Path) -> tuple[str, list[Note]]:
    """Rewrite blocks of Python on a page, which share their names, and code in its sentences."""
    lines, notes, known = text.splitlines(keepends=True), [], Known({"sa": "symancf"})
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
            notes += in_examples(lines, part, known)
        elif fence[3] in CODE:
            notes += _in_block(lines, part, len(fence[1]), known)
    return "".join(lines), notes


def _in_block(lines: list[str], part: range, indent: int, known: Known) -> list[Note]:
    cut = [min(indent, len(lines[k]) - len(lines[k].lstrip(" "))) for k in part]
    program = "".join(lines[k][c:] for k, c in zip(part, cut, strict=True))
    try:
        new, notes = rewrite_cell(program, known)
    except SyntaxError:
        return []
    for k, c, line in zip(part, cut, new.splitlines(keepends=True), strict=True):
        lines[k] = lines[k][:c] + line
    return [(part.start + line, text) for line, text in notes]


def _inline(match: re.Match[str]) -> str:
    public = CLASSES
    known = Known({"sa": "symancf"} | {name: f"symancf.{name}" for name in public})
    try:
        return f"{match[1]}{rewrite(match[2], known)[0]}{match[1]}"
    except (SyntaxError, ValueError):
        return match[0]


def in_notebook(text: str, path: Path) -> tuple[str, list[Note]]:
    """Rewrite the cells of a notebook, which share their names."""
    notebook, notes, known = json.loads(text), [], Known()
    for number, cell in enumerate(notebook.get("cells", [])):
        given = cell["source"]
        source = given if isinstance(given, str) else "".join(given)
        try:
            if cell["cell_type"] == "code":
                new, found = rewrite_cell(source, known)
            else:
                new, found = in_markdown(source, path)
        except SyntaxError:
            new, found = source, [(1, "no Python: look at it")] if "symancf" in source else []
        cell["source"] = new if isinstance(given, str) else new.splitlines(keepends=True)
        notes += [(line, f"cell {number + 1}: {text}") for line, text in found]
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
    left = 0
    for path in files(paths):
        try:
            text = path.read_text(encoding="utf-8")
            if OFF in text:
                continue
            new, notes = KINDS.get(path.suffix, in_python)(text, path)
        except (OSError, SyntaxError, ValueError) as error:
            print(f"{path}: not read: {error}")
            left += 1
            continue
        pairs = zip(text.splitlines(), new.splitlines(), strict=False)
        changed = [k for k, (a, b) in enumerate(pairs, 1) if a != b]
        if new != text:
            print(f"{path}: lines {', '.join(map(str, changed))}{' to be' * check} rewritten")
            if not check:
                path.write_text(new, encoding="utf-8")
        for line, note in sorted(notes):
            print(f"{path}:{line}: {note}")
        left += len(notes) + (check and new != text)
    return int(left > 0)
