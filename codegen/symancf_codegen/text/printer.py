# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7, print: generated C functions at one point, 8 lanes wide, that others call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symancf_codegen.graph.schedule import LoopSection, Output, identifier, schedule, used_symbols
from symancf_codegen.lower.point import WEIGHT
from symancf_codegen.modes import MODES

if TYPE_CHECKING:
    from symancf_codegen.derive import Results
    from symancf_codegen.graph.dag import Node

#: Unknowns of a point or cell at most; SYMANCF_LOCAL in symancf_local.h.
MOST_UNKNOWNS = 12

#: Array arguments of point functions, in order; those before the scalars, those after.
RATES_IN = ("uniform_rate", "cell_rate", "B_rate", "seed")
POINT_IN = ("G", "V", "g", "h", "A", "S", "Q", "X", "D")
ARRAYS_IN = ("uniform", "P", "cell", "B", "old", *RATES_IN, *POINT_IN)
COLUMNS = tuple(f"C{k}" for k in range(MOST_UNKNOWNS))
BY = ("by_uniform", "by_cell", "by_B", "by_old")
ARRAYS_OUT = ("Q", "X", "E", "W", "N", "M", *COLUMNS, "D", "O", *BY, "bad")
TABLES = tuple(name for name, mode in MODES.items() if mode.tabulates)


@dataclass
class PointFunction:
    """The C text of a point function, its name and the names of its arguments in order."""

    name: str
    text: str
    arguments: list[str]


@dataclass
class Printer:
    """Prints point functions of one law.

    Attributes
    ----------
    results : of the law.
    loads : C expression of every leaf, by name.
    scalars : leaves that are passed as plain numbers (weight, section coordinates).
    """

    results: Results
    loads: dict[str, str]
    scalars: list[str] = field(default_factory=list)

    @staticmethod
    def plain(scalar: str) -> str:
        """Return the name of the argument of a plain number."""
        return "weight" if scalar == WEIGHT else identifier(scalar)

    def function(
        self, name: str, title: str, sections: Sequence[LoopSection], loaded: Mapping[Node, str]
    ) -> PointFunction:
        """Return the function `name` that stores the outputs of `sections`.

        `loaded` are nodes that an earlier function has stored, with the C to load them.
        """
        graph = self.results.graph
        names = {s: self.plain(s) for s in self.scalars}
        loads = {**self.loads, **names}
        program = schedule(graph, sections, self.results.names_of, loads, loaded)
        used = used_symbols(graph, [o.node for s in sections for o in s.outputs], loaded)
        body = "\n".join(line for _, lines in program.body for line in lines)
        text = "\n".join([*program.before, body])
        results = [a for a in ("A", "S", *ARRAYS_OUT) if _stores(body, a)]
        inputs = [a for a in ARRAYS_IN if a not in results and _loads(text, a)]
        scalars = [names[s] for s in self.scalars if s in used]
        declared = _declared(inputs, scalars, results)
        lines = [f"/* {title} */", *declaration(name, declared), "{"]
        lines += [f"    {line}" for line in program.before]
        lines += _lanes(program.body)
        lines += ["}", ""]
        return PointFunction(name, "\n".join(lines), [*inputs, *scalars, *results])

    def once(self, name: str, title: str, nodes: Sequence[Node]) -> PointFunction:
        """Return the function that stores expressions of parameters in the array P."""
        outputs = [Output(f"P[{k}] = {{}};", node) for k, node in enumerate(nodes)]
        program = schedule(self.results.graph, [LoopSection("", outputs)], [], self.loads, {})
        body = [*program.before, *(line for _, lines in program.body for line in lines)]
        head = f"static void {name}(const double *restrict uniform, double *restrict P)"
        text = [f"/* {title} */", head, "{", *(f"    {line}" for line in body), "}", ""]
        return PointFunction(name, "\n".join(text), ["uniform", "P"])


def _lanes(body: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the loop over lanes of titled statements."""
    lines = ["    #pragma omp simd simdlen(8)", "    for (int l = 0; l < 8; l++) {"]
    for title, statements in body:
        lines.append(f"        /* {title} */")
        lines += [f"        {statement}" for statement in statements]
    return [*lines, "    }"]


def _declared(inputs: Sequence[str], scalars: Sequence[str], results: Sequence[str]) -> list[str]:
    """Return the declarations of arrays that are read, of numbers and of arrays that are stored."""
    return [
        *(f"const double *restrict {a}" for a in inputs),
        *(f"double {a}" for a in scalars),
        *(f"double *restrict {a}" for a in results),
    ]


def _loads(text: str, array: str) -> bool:
    return f"{array}[" in text.replace(f"_{array}[", "")


def _stores(body: str, array: str) -> bool:
    return any(line.startswith(f"{array}[") for line in body.splitlines())


def declaration(name: str, arguments: Sequence[str]) -> list[str]:
    """Return the head of a function, broken between arguments."""
    return broken(f"static void {name}(", arguments, ")", 96)


def broken(head: str, arguments: Sequence[str], end: str, width: int) -> list[str]:
    """Return a head or call of a function in lines of a `width`, broken between arguments."""
    lines, line = [], head
    indent = " " * len(head)
    for k, argument in enumerate(arguments):
        piece = argument + (end if k == len(arguments) - 1 else ", ")
        if len(line) + len(piece.rstrip()) > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += piece
    return [*lines, line]
