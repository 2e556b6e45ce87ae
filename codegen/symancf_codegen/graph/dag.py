# SPDX-License-Identifier: BSD-3-Clause
"""The intermediate representation: a hash-consed graph of scalar expressions.

Equal expressions are one node, so common subexpressions never have to be searched for. The
constructors keep a normal form: signs and constants move outwards, reciprocals are shared,
uniform factors meet. A node is a small integer and is always larger than its arguments, so
the order of the integers is a topological order.

Every node knows on which kinds of input it depends (`Dependence`): what depends on uniform inputs
only is later hoisted out of the loop over lanes, what depends on no unknown is geometry.
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

Node = int

#: Cost of one operation on a vector of lanes, in multiplications; what is missing costs 60.
COST = {
    "add": 1,
    "sub": 1,
    "mul": 1,
    "neg": 0,
    "frozen": 0,
    "instead": 0,
    "inv": 16,
    "sqrt": 20,
    "icbrt": 24,
    "rsqrt": 20,
    "power": 22,
    "log": 30,
    "log1p": 30,
    "log1pmx": 30,
    "exp": 25,
    "expm1": 30,
    "expm1mx": 30,
    "min": 1,
    "max": 1,
    "abs": 1,
    "select": 1,
    "lt": 1,
    "le": 1,
    "and": 1,
    "or": 1,
    "not": 1,
    "sign": 2,
}


#: Longest sum that is added term by term.
CHAIN = 4


class Dependence(enum.IntFlag):
    """What a node depends on; a constant depends on nothing."""

    UNIFORM = 1
    CELL = 2
    REFERENCE = 4
    UNKNOWN = 8
    DIRECTION = 16
    POINT = 32  # the same for all lanes, but not for all points: weight, section coordinates
    LOCAL = 64  # an unknown of the law, or what is found with it


SOLVED = Dependence.UNKNOWN | Dependence.LOCAL
VARYING = Dependence.CELL | Dependence.REFERENCE | Dependence.UNKNOWN | Dependence.DIRECTION


class ExpressionGraph:
    """Hash-consed expressions; see the module's docstring."""

    def __init__(self) -> None:
        self.op: list[str] = []
        self.args: list[tuple[Node, ...]] = []
        self.depends: list[Dependence] = []
        self.value: dict[Node, float] = {}
        self.name: dict[Node, str] = {}
        self._table: dict[tuple[object, ...], Node] = {}
        self.zero = self.constant(0.0)
        self.one = self.constant(1.0)

    def __len__(self) -> int:
        return len(self.op)

    # ---- leaves

    def _new(
        self, key: tuple[object, ...], op: str, args: tuple[Node, ...], kind: Dependence
    ) -> Node:
        node = self._table.get(key)
        if node is None:
            node = len(self.op)
            self.op.append(op)
            self.args.append(args)
            self.depends.append(kind)
            self._table[key] = node
        return node

    def constant(self, value: float) -> Node:
        """Return the node of a number.

        Raises
        ------
        OverflowError : it is not finite.
        """
        value = float(value) + 0.0
        if not math.isfinite(value):
            raise OverflowError(value)
        node = self._new(("constant", value), "constant", (), Dependence(0))
        self.value[node] = value
        return node

    def symbol(self, name: str, kind: Dependence) -> Node:
        """Return the leaf `name`; the same name is the same leaf."""
        node = self._new(("symbol", name), "symbol", (), kind)
        self.name[node] = name
        return node

    def _make(self, op: str, *args: Node) -> Node:
        kind = Dependence(0)
        for a in args:
            kind |= self.depends[a]
        return self._new((op, *args), op, args, kind)

    def is_constant(self, a: Node) -> bool:
        """Whether `a` is a number."""
        return self.op[a] == "constant"

    def is_uniform(self, a: Node) -> bool:
        """Whether `a` has one value for all lanes."""
        return not self.depends[a] & VARYING

    # ---- arithmetic

    def neg(self, a: Node) -> Node:
        """Return -a."""
        if self.is_constant(a):
            return self.constant(-self.value[a])
        if self.op[a] == "neg":
            return self.args[a][0]
        if self.op[a] == "sub":
            return self._make("sub", self.args[a][1], self.args[a][0])
        return self._make("neg", a)

    def add(self, a: Node, b: Node) -> Node:
        """Return a + b."""
        if self.is_constant(a) and self.is_constant(b):
            return self.constant(self.value[a] + self.value[b])
        if a == self.zero:
            return b
        if b == self.zero:
            return a
        if a == b:
            return self.mul(self.constant(2.0), a)
        if self.op[b] == "neg":
            return self.sub(a, self.args[b][0])
        if self.op[a] == "neg":
            return self.sub(b, self.args[a][0])
        for number, other in ((a, b), (b, a)):
            if self.value.get(number, 0.0) < 0:
                return self.sub(other, self.constant(-self.value[number]))
        return self._make("add", min(a, b), max(a, b))

    def sub(self, a: Node, b: Node) -> Node:
        """Return a - b."""
        if self.is_constant(a) and self.is_constant(b):
            return self.constant(self.value[a] - self.value[b])
        if a == b:
            return self.zero
        if b == self.zero:
            return a
        if a == self.zero:
            return self.neg(b)
        if self.op[b] == "neg":
            return self.add(a, self.args[b][0])
        if self.op[a] == "neg":
            return self.neg(self.add(self.args[a][0], b))
        if self.value.get(b, 0.0) < 0:
            return self.add(a, self.constant(-self.value[b]))
        if self.value.get(a, 0.0) < 0:
            return self.neg(self.add(self.constant(-self.value[a]), b))
        return self._make("sub", a, b)

    def mul(self, a: Node, b: Node) -> Node:
        """Return a b."""
        if self.is_constant(b):
            a, b = b, a
        if self.is_constant(a):
            return self._multiple(a, b)
        op, args = self.op, self.args
        if op[a] == "neg":
            return self.neg(self.mul(args[a][0], b))
        if op[b] == "neg":
            return self.neg(self.mul(a, args[b][0]))
        if op[a] == "mul" and self.is_constant(args[a][0]):
            return self.mul(args[a][0], self.mul(args[a][1], b))
        if op[b] == "mul" and self.is_constant(args[b][0]):
            return self.mul(args[b][0], self.mul(a, args[b][1]))
        if self.is_uniform(b):
            a, b = b, a
        nested = self.is_uniform(a) and not self.is_uniform(b) and op[b] == "mul"
        if nested and self.is_uniform(args[b][0]):  # (uniform * uniform) * varying
            return self._product(self.mul(a, args[b][0]), args[b][1])
        return self._product(a, b)

    def _multiple(self, a: Node, b: Node) -> Node:
        """Return a constant times a node."""
        if self.is_constant(b):
            return self.constant(self.value[a] * self.value[b])
        op, args = self.op, self.args
        if a == self.zero:
            return self.zero
        if a == self.one:
            return b
        if self.value[a] < 0:
            return self.neg(self.mul(self.constant(-self.value[a]), b))
        if op[b] == "neg":
            return self.neg(self.mul(a, args[b][0]))
        if op[b] == "mul" and self.is_constant(args[b][0]):
            product = self.value[a] * self.value[args[b][0]]
            return self.mul(self.constant(product), args[b][1])
        if op[b] == "mul" and not self.is_uniform(b) and self.is_uniform(args[b][0]):
            return self._product(self.mul(a, args[b][0]), args[b][1])
        return self._make("mul", a, b)

    def _product(self, a: Node, b: Node) -> Node:
        """Return the node a b: a uniform factor first, else the older one."""
        if self.is_uniform(b) or (b < a and not self.is_uniform(a)):
            a, b = b, a
        return self._make("mul", a, b)

    def inv(self, a: Node) -> Node:
        """Return 1/a."""
        if self.is_constant(a):
            return self.constant(1.0 / self.value[a]) if self.value[a] else self._make("inv", a)
        if self.op[a] == "inv":
            return self.args[a][0]
        if self.op[a] == "neg":
            return self.neg(self.inv(self.args[a][0]))
        if self.op[a] == "mul" and self.is_constant(self.args[a][0]):
            scale = self.constant(1.0 / self.value[self.args[a][0]])
            return self.mul(scale, self.inv(self.args[a][1]))
        if self.op[a] == "sqrt":
            return self.call("rsqrt", self.args[a][0])
        if self.op[a] == "rsqrt":
            return self.call("sqrt", self.args[a][0])
        return self._make("inv", a)

    def div(self, a: Node, b: Node) -> Node:
        """Return a/b through the reciprocal of b, which other quotients share."""
        return self.mul(a, self.inv(b))

    def integer_power(self, a: Node, n: int) -> Node:
        """Return a^n by repeated squaring; negative n through the reciprocal."""
        if n < 0:
            return self.integer_power(self.inv(a), -n)
        if n == 0:
            return self.one
        if n == 1:
            return a
        half = self.integer_power(a, n // 2)
        square = self.mul(half, half)
        return self.mul(square, a) if n % 2 else square

    def rational_power(self, a: Node, p: int, q: int) -> Node | None:
        """Return a^(p/q) for q = 1, 2, 3, 4 by roots and products; None for other q."""
        if self.is_constant(a) and self.value[a] > 0:
            return self.constant(self.value[a] ** (p / q))
        if q == 1:
            return self.integer_power(a, p)
        if q == 2:
            if p < 0:
                return self.integer_power(self.call("rsqrt", a), -p)
            return self.mul(self.integer_power(a, p // 2), self.call("sqrt", a))
        if q == 3:
            root = self.call("icbrt", a)
            if p < 0:
                return self.integer_power(root, -p)
            k = -(-p // 3)
            return self.mul(self.integer_power(a, k), self.integer_power(root, 3 * k - p))
        if q == 4:
            return self.rational_power(self.call("sqrt", a), p, 2)
        return None

    def power(self, a: Node, p: float, q: float) -> Node:
        """Return a^(p/q), p/q > 0, whose derivatives are finite at a = 0 where they exist.

        It stays one operation while it is differentiated: written as a^k times a root, the
        derivative of the root is infinite at 0, and zero times infinity is no number. A second
        derivative that is infinite there is taken as 0, as it is where a = Max(x, 0) and x < 0.
        """
        if self.is_constant(a) and self.value[a] >= 0:
            return self.constant(self.value[a] ** (p / q))
        if q == 1 and float(p).is_integer():
            return self.integer_power(a, int(p))
        return self._make("power", a, self.constant(p), self.constant(q))

    def root(self, a: Node, p: float, q: float) -> Node:
        """Return a^(p/q) in roots and products, or by pow; 0 at a = 0, also of negative p."""
        by_inverse = q == 3 or p < 0
        nonzero = self.call("lt", self.zero, self.call("abs", a))
        safe = self.select(nonzero, a, self.one) if by_inverse else a
        power = self.rational_power(safe, int(p), int(q)) if float(p).is_integer() else None
        power = self.call("pow", safe, self.constant(p / q)) if power is None else power
        return self.select(nonzero, power, self.zero) if by_inverse else power

    def instead(self, a: Node, value: Node) -> Node:
        """Return `a`, whose value is known to be `value`: only its derivatives are formed of it."""
        return self._make("instead", a, value)

    def expanded(self, outputs: Sequence[Node]) -> list[Node]:
        """Return `outputs` with every `power` in roots and products, and the known values."""
        image: dict[Node, Node] = {}
        for node in self.reach(outputs):
            args = [image[a] for a in self.args[node]]
            if self.op[node] == "power":
                image[node] = self.root(args[0], self.value[args[1]], self.value[args[2]])
            elif self.op[node] == "instead":
                image[node] = args[1]
            else:
                same = tuple(args) == self.args[node]
                image[node] = node if same else self.apply(self.op[node], args)
        return [image[node] for node in outputs]

    def core(self, a: Node) -> Node:
        """Return `a` without the numbers that are factors of it."""
        while self.op[a] == "neg" or (self.op[a] == "mul" and self.is_constant(self.args[a][0])):
            a = self.args[a][-1]
        return a

    # ---- functions

    def call(self, op: str, *args: Node) -> Node:
        """Return the function `op` of `args`, folded where all of them are numbers."""
        if all(self.is_constant(a) for a in args):
            try:
                value = evaluate_operation(op, [self.value[a] for a in args])
            except (ValueError, ZeroDivisionError, OverflowError):
                value = math.nan
            if math.isfinite(value):
                return self.constant(value)
        if op in ("min", "max") and args[0] == args[1]:
            return args[0]
        return self._make(op, *args)

    def select(self, condition: Node, a: Node, b: Node) -> Node:
        """Return `a` where `condition` holds, else `b`."""
        if self.is_constant(condition):
            return a if self.value[condition] else b
        if a == b:
            return a
        return self._make("select", condition, a, b)

    def apply(self, op: str, args: Sequence[Node]) -> Node:
        """Return operation `op` of `args` in normal form."""
        if op in ("add", "sub", "mul", "neg", "inv", "select"):
            result: Node = getattr(self, op)(*args)
            return result
        if op == "power":
            return self.power(args[0], self.value[args[1]], self.value[args[2]])
        return self.call(op, *args)

    def dot(self, a: Iterable[Node], b: Iterable[Node]) -> Node:
        """Return the sum of the products of two lists."""
        return self.total(self.mul(x, y) for x, y in zip(a, b, strict=True))

    def total(self, nodes: Iterable[Node]) -> Node:
        """Return the sum of `nodes`, long ones as a sum of short sums.

        A processor waits four cycles for every term of one long sum.
        """
        terms = [node for node in nodes if node != self.zero]
        if len(terms) > CHAIN:
            count = -(-len(terms) // CHAIN)
            size = -(-len(terms) // count)
            terms = [self.total(terms[k : k + size]) for k in range(0, len(terms), size)]
        result = self.zero
        for node in terms:
            result = self.add(result, node)
        return result

    # ---- traversal

    def reach(
        self, outputs: Iterable[Node], stop: Mapping[Node, object] | None = None
    ) -> list[Node]:
        """Return all nodes that `outputs` depend on, in topological order.

        Nodes in `stop` are included, but not what lies below them.
        """
        seen: set[Node] = set()
        stack = list(outputs)
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if stop is None or node not in stop:
                stack.extend(self.args[node])
        return sorted(seen)

    def substitute(self, outputs: Sequence[Node], replace: Mapping[Node, Node]) -> list[Node]:
        """Return `outputs` with the nodes `replace` exchanged, brought to normal form again."""
        image = dict(replace)
        for node in self.reach(outputs, stop=replace):
            if node in image:
                continue
            args = self.args[node]
            new = [image[a] for a in args]
            image[node] = node if tuple(new) == args else self.apply(self.op[node], new)
        return [image[node] for node in outputs]

    def count(self, outputs: Iterable[Node]) -> Counter[str]:
        """Return how often each operation is done per lane for `outputs`."""
        counts: Counter[str] = Counter()
        for node in self.reach(outputs):
            if self.args[node] and not self.is_uniform(node):
                counts[self.op[node]] += 1
        return counts

    def cost(self, outputs: Iterable[Node]) -> int:
        """Return the weighted number of operations per lane for `outputs` (see `COST`)."""
        return sum(COST.get(op, 60) * n for op, n in self.count(outputs).items())

    def evaluate(self, outputs: Sequence[Node], inputs: Mapping[str, float]) -> list[float]:
        """Return the values of `outputs`; `inputs` gives the leaves by name (for tests)."""
        values: dict[Node, float] = {}
        for node in self.reach(outputs):
            op = self.op[node]
            if op == "constant":
                values[node] = self.value[node]
            elif op == "symbol":
                values[node] = inputs[self.name[node]]
            else:
                values[node] = evaluate_operation(op, [values[a] for a in self.args[node]])
        return [values[node] for node in outputs]


#: Operations of numbers that are no functions of `math`.
OPERATIONS: dict[str, Callable[..., float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "neg": lambda x: -x,
    "frozen": lambda x: x,
    "instead": lambda _, x: x,
    "inv": lambda x: 1.0 / x,
    "power": lambda x, p, q: math.pow(x, p / q),
    "icbrt": lambda x: math.pow(x, -1.0 / 3.0),
    "rsqrt": lambda x: 1.0 / math.sqrt(x),
    "log1pmx": lambda x: math.log1p(x) - x,
    "expm1mx": lambda x: math.expm1(x) - x,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "lt": lambda x, y: float(x < y),
    "le": lambda x, y: float(x <= y),
    "and": lambda x, y: float(bool(x) and bool(y)),
    "or": lambda x, y: float(bool(x) or bool(y)),
    "not": lambda x: float(not x),
    "select": lambda holds, x, y: x if holds else y,
    "min": min,
    "max": max,
    "abs": abs,
}


def evaluate_operation(op: str, x: Sequence[float]) -> float:
    """Return operation `op` of numbers."""
    if op in OPERATIONS:
        return OPERATIONS[op](*x)
    return float(getattr(math, op)(*x))
