# SPDX-License-Identifier: BSD-3-Clause
"""Stage 6, schedule: from graph outputs to an ordered list of C statements.

What depends on uniform inputs only is computed once before the loop over lanes. The loop
body is a flat list of scalar statements: gcc vectorises it under ``omp simd`` only without
local arrays. An expression that is used once is written into the expression that uses it, up
to the width of a line; named quantities keep the user's names.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symancf_codegen.graph.dag import ExpressionGraph, Node

#: Longest expression that is still written into its user.
WIDTH = 58

_CALLS = {
    "sqrt": "sqrt({})",
    "icbrt": "symancf_icbrt({})",
    "rsqrt": "symancf_rsqrt({})",
    "log": "symancf_log({})",
    "log1p": "symancf_log1p({})",
    "log1pmx": "symancf_log1pmx({})",
    "exp": "symancf_exp({})",
    "expm1": "symancf_expm1({})",
    "expm1mx": "symancf_expm1mx({})",
    "sin": "sin({})",
    "cos": "cos({})",
    "tan": "tan({})",
    "asin": "asin({})",
    "acos": "acos({})",
    "atan": "atan({})",
    "atan2": "atan2({}, {})",
    "sinh": "sinh({})",
    "cosh": "cosh({})",
    "tanh": "tanh({})",
    "erf": "erf({})",
    "erfc": "erfc({})",
    "pow": "pow({}, {})",
    "abs": "fabs({})",
    "sign": "symancf_sign({})",
}
_INFIX = {"lt": "<", "le": "<=", "and": "&", "or": "|"}
_BOOLEAN = frozenset(("lt", "le", "and", "or", "not"))

_SUM, _PRODUCT, _ATOM = 1, 2, 3

#: Text of operations, how closely their arguments must bind at least, and how they bind.
_FORMS = {
    "sub": ("{} - {}", (_SUM, _PRODUCT), _SUM),
    "neg": ("-{}", (_ATOM,), _SUM),
    "inv": ("1.0/{}", (_ATOM,), _PRODUCT),
    "not": ("!{}", (_ATOM,), _ATOM),
    "select": ("({} ? {} : {})", (_SUM, _SUM, _SUM), _ATOM),
    "min": ("({0} < {1} ? {0} : {1})", (_ATOM, _ATOM), _ATOM),
    "max": ("({0} > {1} ? {0} : {1})", (_ATOM, _ATOM), _ATOM),
    **{op: (f"({{}} {sign} {{}})", (_SUM, _SUM), _ATOM) for op, sign in _INFIX.items()},
}


def identifier(name: str) -> str:
    """Return `name` as a C identifier that ends in an underscore; a Greek letter is written out.

    No keyword, macro or function of C ends so, nor does another name in the generated text.
    """
    letters = [
        c if c.isascii() else f"_{unicodedata.name(c, c).split()[-1].lower()}_" for c in name
    ]
    text = re.sub(r"(\W|_)+", "_", "".join(letters), flags=re.ASCII).strip("_") or "x"
    return f"x{text}_" if text[0].isdigit() else f"{text}_"


@dataclass
class Output:
    """One result: statement ``target.format(expression)``."""

    target: str
    node: Node


@dataclass
class LoopSection:
    """A titled part of the loop body: quantities to name, or outputs to store."""

    title: str
    outputs: list[Output] = field(default_factory=list)


@dataclass
class Program:
    """Statements of one point function: before the loop, and the loop body by section."""

    before: list[str]
    body: list[tuple[str, list[str]]]


class Scheduler:
    """Turns outputs into statements; see `schedule`."""

    def __init__(
        self,
        graph: ExpressionGraph,
        sections: Sequence[LoopSection],
        titles: Sequence[tuple[str, Sequence[tuple[str, Node]]]],
        loads: Mapping[str, str],
        inputs: Mapping[Node, str],
    ) -> None:
        self.graph = graph
        self.loads = loads
        self.inputs = inputs
        self.sections = sections
        outputs = [o.node for s in sections for o in s.outputs]
        self.order = graph.reach(outputs, stop=inputs)
        reached = set(self.order)
        self.uses: Counter[Node] = Counter(outputs)
        for node in self.order:
            if node not in inputs:
                self.uses.update(graph.args[node])
        self.names: dict[Node, str] = {}
        self.names_in_use = self._arrays()
        self.titles = titles
        for name, node in (pair for _, pairs in titles for pair in pairs):
            if node in reached and graph.args[node] and node not in self.names:
                self.names[node] = self._unique(identifier(name))
        self.lines: list[str] = []
        self.before: list[str] = []
        self.texts: dict[Node, str] = {}
        self.counter = 0
        self.in_variables = self._keep()

    def _arrays(self) -> set[str]:
        """Return the names of the arrays that statements load from and store to."""
        graph, inputs = self.graph, self.inputs
        texts = [o.target for s in self.sections for o in s.outputs]
        texts += [inputs[node] for node in self.order if node in inputs]
        texts += [self.loads[graph.name[n]] for n in self.order if graph.op[n] == "symbol"]
        return {array for text in texts for array in re.findall(r"\b([A-Za-z]\w*)\[", text)}

    def _unique(self, name: str) -> str:
        candidate, k = name, 2
        while candidate in self.names_in_use:
            candidate, k = f"{name}_{k}", k + 1
        self.names_in_use.add(candidate)
        return candidate

    def _keep(self) -> set[Node]:
        """Return the nodes that get a variable of their own."""
        graph = self.graph
        in_variables: set[Node] = set()
        length: dict[Node, int] = {}
        uniform_users: set[Node] = set()
        for node in self.order:
            if not graph.is_uniform(node) and node not in self.inputs:
                uniform_users.update(a for a in graph.args[node] if graph.is_uniform(a))
        for node in self.order:
            op = graph.op[node]
            if op == "constant":
                length[node] = len(self._constant(node))
                continue
            if node in self.inputs:
                in_variables.add(node)
                length[node] = len(self._name(node))
                continue
            size = 4 + sum(length[a] for a in graph.args[node])
            shared = self.uses[node] > 1
            hoisted = node in uniform_users
            if op == "symbol" or shared or hoisted or node in self.names or size > WIDTH:
                in_variables.add(node)
                size = len(self._name(node))
            length[node] = size
        return in_variables

    def _name(self, node: Node) -> str:
        """Return the name that a variable will have, or one of its length."""
        return self.names.get(node) or self.graph.name.get(node, "t000")

    def _constant(self, node: Node) -> str:
        value = self.graph.value[node]
        return repr(value) if value >= 0 else f"({value!r})"

    def run(self) -> Program:
        """Return the statements."""
        body = []
        for title, pairs in self.titles:
            for node in (n for _, n in pairs if n in self.names and n not in self.inputs):
                self._emit(node)
            body.append((title, self._take()))
        for section in self.sections:
            for output in section.outputs:
                self._emit(output.node)
                self.lines.append(output.target.format(self._text(output.node)[0]))
            body.append((section.title, self._take()))
        return Program(self.before, [(title, lines) for title, lines in body if lines])

    def _take(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines

    def _emit(self, root: Node) -> None:
        """Write statements for all kept nodes that `root` needs, `root` itself included."""
        graph = self.graph
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node in self.texts or graph.op[node] == "constant":
                continue
            if not ready and node not in self.inputs:
                stack.append((node, True))
                stack.extend((a, False) for a in reversed(graph.args[node]))
            elif node in self.in_variables:
                expression = self._expression(node)[0]
                if graph.op[node] == "symbol":
                    name = self._unique(identifier(graph.name[node]))
                elif node in self.names:
                    name = self.names[node]
                else:
                    name = f"t{self.counter}"
                    self.counter += 1
                if expression != name:
                    kind = "int" if graph.op[node] in _BOOLEAN else "double"
                    lines = self.before if graph.is_uniform(node) else self.lines
                    lines.append(f"const {kind} {name} = {expression};")
                self.texts[node] = name

    def _text(self, node: Node) -> tuple[str, int]:
        """Return how a user of `node` writes it, and how tightly it binds."""
        if self.graph.op[node] == "constant":
            return self._constant(node), _ATOM
        if node in self.texts:
            return self.texts[node], _ATOM
        return self._expression(node)

    def _wrapped(self, node: Node, at_least: int) -> str:
        text, binding = self._text(node)
        return text if binding >= at_least else f"({text})"

    def _expression(self, node: Node) -> tuple[str, int]:
        graph = self.graph
        op, args = graph.op[node], graph.args[node]
        if node in self.inputs:
            return self.inputs[node], _ATOM
        if op == "symbol":
            return self.loads[graph.name[node]], _ATOM
        if op == "frozen":  # an operation of differentiation only
            return self._text(args[0])
        if op == "add":
            return self._sum(*args)
        if op == "mul":
            return self._product(*args)
        if op in _FORMS:
            form, inner, binding = _FORMS[op]
            texts = (self._wrapped(a, least) for a, least in zip(args, inner, strict=True))
            return form.format(*texts), binding
        return _CALLS[op].format(*(self._text(a)[0] for a in args)), _ATOM

    def _sum(self, a: Node, b: Node) -> tuple[str, int]:
        (left, first), (right, second) = self._text(a), self._text(b)
        if second == _SUM and first != _SUM:
            left, right, second = right, left, first
        return f"{left} + {right if second != _SUM else f'({right})'}", _SUM

    def _product(self, a: Node, b: Node) -> tuple[str, int]:
        graph = self.graph
        if graph.op[a] == "inv" and a not in self.texts:
            a, b = b, a
        if graph.op[b] == "inv" and b not in self.texts:
            divisor = self._wrapped(graph.args[b][0], _ATOM)
            return f"{self._wrapped(a, _PRODUCT)}/{divisor}", _PRODUCT
        return f"{self._wrapped(a, _PRODUCT)}*{self._wrapped(b, _ATOM)}", _PRODUCT


def schedule(
    graph: ExpressionGraph,
    sections: Sequence[LoopSection],
    titles: Sequence[tuple[str, Sequence[tuple[str, Node]]]],
    loads: Mapping[str, str],
    inputs: Mapping[Node, str] | None = None,
) -> Program:
    """Return the statements that compute and store all outputs of `sections`.

    Parameters
    ----------
    graph : where the nodes live.
    sections : outputs, in the order in which they are stored.
    titles : titled lists of (name, node): quantities that keep the user's names.
    loads : C expression of every leaf by its name.
    inputs : C expressions of nodes that an earlier loop has computed.
    """
    return Scheduler(graph, sections, titles, loads, inputs or {}).run()


def used_symbols(
    graph: ExpressionGraph, outputs: Iterable[Node], inputs: Mapping[Node, object] | None = None
) -> set[str]:
    """Return the names of the leaves on which `outputs` depend, except through `inputs`."""
    reached = graph.reach(outputs, stop=inputs)
    return {graph.name[n] for n in reached if graph.op[n] == "symbol"}
