# SPDX-License-Identifier: BSD-3-Clause
"""Stage 6, schedule, first half: cut a point function into short dependency chains.

One point is a long chain (reference geometry, displacement gradient, invariants, roots and
quotients, stress), and a processor overlaps only about one of them with the next. Cut into
three loops over several points, every loop is short enough for the processor to work on
several points at once; that makes a residual about 1.3 times faster.

* *parameters*: what depends on parameters alone is computed once for all points;
* *geometry*: what depends on no unknown and is needed by something that does; a value is
  either stored or computed again where it is used, whichever is cheaper in all;
* *factors*: the fewest numbers from which the outputs follow without another root, quotient
  or function. What is cheap is simply computed again after the cut.

The last two are minimum cuts, found as maximum flows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence

from symancf_codegen.graph.dag import COST, Dependence, ExpressionGraph, Node

#: Operations that cost at least this are worth waiting for in a loop of their own.
SLOW_COST = 10

#: Operations, at about 10 bytes each, that fill the cache of instructions, of 32 KB.
MAX_LOOP_OPERATIONS = 3000

#: Cycles until a result can be used.
LATENCY = {"inv": 24, "sqrt": 30, "icbrt": 56, "rsqrt": 48, "neg": 0, "select": 4}

_ENDLESS = 1 << 30
_SOURCE, _SINK = -1, -2


class _Network:
    """A directed graph with integer capacities."""

    def __init__(self) -> None:
        self.room: dict[int, dict[int, int]] = {_SOURCE: {}, _SINK: {}}

    def edge(self, a: int, b: int, capacity: int) -> None:
        ahead = self.room.setdefault(a, {})
        ahead[b] = ahead.get(b, 0) + capacity
        self.room.setdefault(b, {}).setdefault(a, 0)

    def _search(self, origin: int, forward: bool, goal: int | None) -> dict[int, int]:
        """Return the vertices reached along (or against) edges with room, and from where."""
        room = self.room
        parent = {origin: origin}
        queue = deque([origin])
        while queue and goal not in parent:
            a = queue.popleft()
            for b in room[a]:
                if b not in parent and (room[a][b] if forward else room[b][a]):
                    parent[b] = a
                    queue.append(b)
        return parent

    def saturate(self, limit: int = _ENDLESS) -> bool:
        """Send as much flow as possible; stop and return False where it exceeds `limit`."""
        total = 0
        while total <= limit:
            parent = self._search(_SOURCE, True, _SINK)
            if _SINK not in parent:
                return True
            path = [_SINK]
            while path[-1] != _SOURCE:
                path.append(parent[path[-1]])
            edges = list(zip(path[1:], path, strict=False))
            flow = min(self.room[a][b] for a, b in edges)
            for a, b in edges:
                self.room[a][b] -= flow
                self.room[b][a] += flow
            total += flow
        return False

    def cut(self, values: Iterable[Node]) -> list[Node]:
        """Return the values n whose edges, 2 n to 2 n + 1, are in the cut nearest the sink."""
        side = self._search(_SINK, False, None)
        return sorted(n for n in values if 2 * n not in side and 2 * n + 1 in side)


def worthwhile(graph: ExpressionGraph, outputs: Sequence[Node]) -> bool:
    """Whether a point function is better cut in stages.

    So if its longest chain takes several times what its operations take when the processor
    has always two of them ready, and if it is too long for the processor to look beyond it.
    """
    ready: dict[Node, int] = {}
    for node in graph.reach(outputs):
        if graph.is_uniform(node):
            ready[node] = 0
            continue
        inputs = [ready[a] for a in graph.args[node]]
        op = graph.op[node]
        if op in ("add", "sub"):  # a product added is one operation
            for a in graph.args[node]:
                if graph.op[a] == "mul":
                    inputs += [ready[b] for b in graph.args[a]]
                    inputs.remove(ready[a])
        slow = 50 if COST.get(op, 60) >= SLOW_COST else 4
        ready[node] = max(inputs, default=5) + LATENCY.get(op, slow)
    operations = sum(graph.count(outputs).values())
    chain = max((ready[node] for node in outputs), default=0)
    return operations > 200 and chain > 200 and chain > 0.75 * operations


def long(graph: ExpressionGraph, outputs: Sequence[Node]) -> bool:
    """Whether a point function would not have a place in the processor's cache of instructions."""
    return sum(graph.count(outputs).values()) > MAX_LOOP_OPERATIONS


def parameter_cut(graph: ExpressionGraph, outputs: Sequence[Node]) -> list[Node]:
    """Return the expressions of uniform parameters that other expressions use."""
    kinds = Dependence.UNIFORM
    cut: set[Node] = set()
    for node in graph.reach(outputs):
        if graph.depends[node] != kinds:
            cut.update(a for a in graph.args[node] if graph.depends[a] == kinds and graph.args[a])
        elif graph.args[node] and node in outputs:
            cut.add(node)
    return sorted(cut)


def geometry_cut(
    graph: ExpressionGraph,
    outputs: Sequence[Node],
    moving: Dependence = Dependence.UNKNOWN,
    store: int = 3,
) -> list[Node]:
    """Return the values free of what is `moving` that are worth storing for `outputs`."""
    moving |= Dependence.DIRECTION
    return value_cut(graph, outputs, lambda node: not graph.depends[node] & moving, store=store)


def value_cut(
    graph: ExpressionGraph,
    outputs: Sequence[Node],
    computed: Callable[[Node], bool],
    inputs: Collection[Node] = (),
    store: int = 3,
) -> list[Node]:
    """Return the values that are `computed` before the cut and worth storing for `outputs`.

    `inputs` are stored anyway. Vertex 2 n says that the value n is needed after the cut, vertex
    2 n + 1 that it is computed there, at its cost and with the need for its arguments; the edge
    between them, cut, is a value stored and loaded at the cost `store`.
    """
    stop = dict.fromkeys(inputs)
    later = [n for n in graph.reach(outputs, stop=stop) if n not in stop and not computed(n)]
    needed = {*outputs}.union(*(graph.args[node] for node in later))
    needed = {node for node in needed if computed(node) and not graph.is_uniform(node)}
    network = _Network()
    for node in sorted(needed):
        network.edge(_SOURCE, 2 * node, _ENDLESS)
    values = [node for node in graph.reach(needed, stop=stop) if not graph.is_uniform(node)]
    for node in values:
        if not graph.args[node] or node in stop:
            network.edge(2 * node, _SINK, 1)
            continue
        network.edge(2 * node, 2 * node + 1, store)
        network.edge(2 * node + 1, _SINK, COST.get(graph.op[node], 60))
        for a in graph.args[node]:  # from a uniform value no edge leads on
            network.edge(2 * node + 1, 2 * a, _ENDLESS)
    network.saturate()
    return network.cut(values)


def factor_cut(
    graph: ExpressionGraph, outputs: Sequence[Node], inputs: Collection[Node], limit: int = 24
) -> list[Node]:
    """Return the fewest nodes that separate all slow operations from `outputs`.

    Of all smallest sets the one nearest the outputs. Empty if there is nothing slow, or if
    more than `limit` nodes would have to be kept.
    """
    order = graph.reach(outputs, stop=dict.fromkeys(inputs))
    ends = set(outputs)
    network = _Network()
    below: set[Node] = set()
    for node in order:
        if node in inputs or graph.is_uniform(node) or not graph.args[node]:
            continue
        slow = COST.get(graph.op[node], 60) >= SLOW_COST
        above = [a for a in sorted(set(graph.args[node])) if a in below]
        if not slow and not above:
            continue
        below.add(node)
        if slow:
            network.edge(_SOURCE, 2 * node, _ENDLESS)
        for a in above:
            network.edge(2 * a + 1, 2 * node, _ENDLESS)
        network.edge(2 * node, 2 * node + 1, 1)
        if node in ends:
            network.edge(2 * node + 1, _SINK, _ENDLESS)
    return network.cut(below) if network.saturate(limit) else []
