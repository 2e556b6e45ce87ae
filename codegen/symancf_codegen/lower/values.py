# SPDX-License-Identifier: BSD-3-Clause
"""Values of expressions at many points by NumPy, through the graph that kernels are made of.

What a user reads beside a kernel (forces, energies, measured quantities) is lowered as the
kernel is, so both mean the same, rates that the compiler derives included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.functions import BEYOND_NUMPY, symbolic
from symancf_codegen.graph.dag import Dependence, ExpressionGraph
from symancf_codegen.lower.lower import LawScope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt
    import sympy as sp

    from symancf_codegen.declare import Array, Lets

_ARRAYS: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "frozen": np.positive,
    "inv": lambda x: 1.0 / x,
    "icbrt": lambda x: np.power(x, -1.0 / 3.0),
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "log1pmx": lambda x: np.log1p(x) - x,
    "expm1mx": lambda x: np.expm1(x) - x,
    "lt": np.less,
    "le": np.less_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "select": np.where,
    "min": np.minimum,
    "max": np.maximum,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    **BEYOND_NUMPY,
    "pow": np.power,
    "power": lambda x, p, q: np.power(x, p / q),
}


def _function(op: str) -> Callable[..., Array] | None:
    """Return the function of an operation; None: a constant or a symbol."""
    if op in ("constant", "symbol"):
        return None
    function: Callable[..., Array] = _ARRAYS.get(op) or getattr(np, op)
    return function


class Values:
    """Expressions of names as a function of the values of these.

    Parameters
    ----------
    expressions : what is asked for.
    lets, rate_of : as in `PointLaw`.

    Attributes
    ----------
    names : the names whose values are needed, sorted.
    """

    def __init__(
        self,
        expressions: Sequence[sp.Expr],
        lets: Lets = (),
        rate_of: Mapping[sp.Symbol, sp.Expr] | None = None,
    ) -> None:
        g = self._graph = ExpressionGraph()
        scope = LawScope(g, "the values of a state")
        defined = {s.name for s, _ in lets}
        rates = dict(rate_of or {})
        for e in (*expressions, *(e for _, e in lets), *rates, *rates.values()):
            for s in symbolic(e).free_symbols:
                if s.name not in defined:
                    scope.bind(s.name, g.symbol(s.name, Dependence.UNKNOWN))
        scope.define(lets)
        scope.rates = {scope.resolve(u.name): scope.lower(v) for u, v in rates.items()}
        self._outputs = [scope.lower(e) for e in expressions]
        self._order = g.reach(self._outputs)
        self._steps = [(node, g.args[node], _function(g.op[node])) for node in self._order]
        self.names = sorted(g.name[node] for node in self._order if g.op[node] == "symbol")

    def __call__(self, values: Mapping[str, npt.ArrayLike]) -> list[Array]:
        """Return the expressions; `values` are numbers or arrays (n,) by name."""
        g = self._graph
        values_of_nodes: dict[int, npt.ArrayLike] = {}
        with np.errstate(all="ignore"):  # where a law is undefined its value is NaN
            for node, args, function in self._steps:
                if function is not None:
                    values_of_nodes[node] = function(*[values_of_nodes[a] for a in args])
                elif g.op[node] == "constant":
                    values_of_nodes[node] = g.value[node]
                else:
                    values_of_nodes[node] = values[g.name[node]]
        return [np.asarray(values_of_nodes[node], dtype=float) for node in self._outputs]
