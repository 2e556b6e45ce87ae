# SPDX-License-Identifier: BSD-3-Clause
"""Functions beyond SymPy's own; the compiler lowers them by the names of their classes."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

#: Functions of which a derivative jumps.
KINKS = (sp.Piecewise, sp.Abs, sp.sign, sp.Heaviside, sp.Min, sp.Max)

#: SymPy functions that are one operation of the compiler's graph, by the name of their class.
FUNCTIONS = {
    "log": "log",
    "log1p": "log1p",
    "log1pmx": "log1pmx",
    "expm1mx": "expm1mx",
    "icbrt": "icbrt",
    "exp": "exp",
    "expm1": "expm1",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "atan2": "atan2",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "erf": "erf",
    "erfc": "erfc",
    "Abs": "abs",
    "sign": "sign",
    "frozen": "frozen",
}


def log_stretch_array(k: npt.ArrayLike, *entries: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the logarithm of a principal stretch; see `log_stretch`."""
    rows = np.stack(np.broadcast_arrays(*entries), axis=-1).astype(float)
    H = rows.reshape(*rows.shape[:-1], 3, 3)
    H = np.where(np.all(np.isfinite(H), axis=(-2, -1), keepdims=True), H, -1.0)
    turned = np.swapaxes(H, -2, -1)
    values = np.linalg.eigvalsh((H + turned + turned @ H) / 2.0)
    logarithm: npt.NDArray[np.float64] = np.log1p(2.0 * values[..., 3 - int(np.asarray(k))]) / 2.0
    return logarithm


#: Those that NumPy lacks, for arrays.
BEYOND_NUMPY: dict[str, Callable[..., npt.NDArray[np.float64]]] = {
    name: np.vectorize(getattr(math, name), otypes=[float]) for name in ("erf", "erfc")
}
BEYOND_NUMPY["log_stretch"] = log_stretch_array

#: Where SymPy's `lambdify` looks for functions.
NUMPY = [BEYOND_NUMPY, "numpy"]


def symbolic(value: object) -> sp.Basic:
    """Return a number or an expression of SymPy as the latter.

    SymPy's ``sympify`` evaluates text as Python code, also that in a tuple or dict where it is
    strict; so nothing else gets there.

    Raises
    ------
    SympifyError : for text and whatever else is no number.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, sp.Basic | sp.MatrixBase):
        return value
    if isinstance(value, numbers.Number | np.number | np.bool_):
        return sp.sympify(value, strict=True)
    raise sp.SympifyError(value)


def expression(value: object) -> sp.Basic:
    """Return a number, an expression, or a sequence or matrix of these as SymPy.

    Text is never evaluated, neither alone nor as an entry.

    Raises
    ------
    SympifyError : for text and whatever else is none of these.
    """
    if isinstance(value, sp.MatrixBase):
        return sp.ImmutableMatrix(value)
    if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) == 0:
        return symbolic(value)
    rows = [row if isinstance(row, list | tuple | np.ndarray) else [row] for row in value]
    return sp.ImmutableMatrix([list(map(symbolic, row)) for row in rows])


def numerical(
    symbols: Sequence[sp.Symbol],
    expressions: sp.Basic | Sequence[sp.Basic],
    functions: object = "numpy",
    *,
    lets: Sequence[tuple[sp.Symbol, sp.Expr]] = (),
    printer: object = None,
) -> Callable[..., Any]:
    """Return a Python function of numbers or arrays made of expressions by SymPy's `lambdify`.

    That writes names into Python code, so there are none but those of `symbols`, for which it puts
    others where they are none of Python. `lets` are named expressions, which are found in order;
    `functions` and `printer` are those of `lambdify`.

    Raises
    ------
    ValueError : other symbols or unknown functions.
    """
    rows = [expressions] if isinstance(expressions, sp.Basic | sp.MatrixBase) else expressions
    symbols_there = {*symbols, *(s for s, _ in lets)}
    for e in (*rows, *(e for _, e in lets)):
        strange = e.free_symbols - symbols_there or e.atoms(AppliedUndef)
        if strange:
            raise ValueError(f"{min(map(str, strange))!r} has no value")
    cse: Any = False
    if lets:
        names = {s: sp.Symbol(f"v{k}") for k, s in enumerate((*symbols, *(s for s, _ in lets)))}
        symbols = [names[s] for s in symbols]
        scope_lets = [(names[s], e.xreplace(names)) for s, e in lets]
        expressions = [e.xreplace(names) for e in rows]
        cse = lambda results: (scope_lets, results)  # noqa: E731
    function: Callable[..., Any] = sp.lambdify(symbols, expressions, functions, printer, cse=cse)
    return function


#: What a law may be written with, for messages.
POSSIBLE = (
    "+, -, *, /, powers, roots, exp, log, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, "
    "tanh, erf, erfc, Abs, sign, Heaviside, Min, Max and Piecewise"
)

#: Most operations that an expression may have when it is written out.
MAX_OPERATIONS = 100_000

#: Most operations in one another: beyond them Python's stack may end in SymPy's recursions.
MAX_DEPTH = 150

#: Most operations of an expression that a message shows.
MAX_SHOWN_OPERATIONS = 1000


def undefined(expression: sp.Basic) -> sp.Basic | None:
    """Return the part of an expression that is no finite real number in double precision."""
    for e in _parts(expression):
        if not e.args and (
            e in NO_NUMBERS or (isinstance(e, sp.Number) and not math.isfinite(_double(e)))
        ):
            return e
    return None


NO_NUMBERS = frozenset({sp.nan, sp.zoo, sp.oo, -sp.oo, sp.I})


def _double(number: sp.Number) -> float:
    """Return a number in double precision, infinite where it is beyond the range."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def uncompilable(expression: sp.Basic, also: tuple[type, ...] = ()) -> tuple[str | int, str] | None:
    """Return the part of an expression that keeps it from being compiled, and why, in words.

    That is a function for which there is no C, or a size beyond `MAX_OPERATIONS` or a depth beyond
    `MAX_DEPTH`, of which the number of operations is returned: SymPy takes hours over an expression
    that is small as a graph and large when it is written out. `also`: more functions for it.
    """
    for e in _parts(expression):
        if not (isinstance(e, also) or _has_c(e)):
            return short(e), f"{type(e).__name__}, as in {short(e)}, has no C; use {POSSIBLE}"
        if isinstance(e, sp.Piecewise) and e.args[-1].cond != sp.true:
            why = "says nothing outside its conditions; end it with (value, True)"
            return short(e), f"{short(e)} {why}"
    operations, levels = extent(expression)
    if operations > MAX_OPERATIONS:
        return operations, (
            f"it has more than {MAX_OPERATIONS} operations when it is written out; write it with "
            "fewer, in invariants rather than in powers of matrices"
        )
    if levels > MAX_DEPTH:
        return levels, (
            f"more than {MAX_DEPTH} operations are nested in one another; write a closed form, a "
            "polynomial or a fit in the place of a long loop or recursion"
        )
    return None


def extent(expression: sp.Basic) -> tuple[int, int]:
    """Return the number of operations of an expression when it is written out, and of its levels.

    Each part is looked at once, however often it occurs; `MAX_OPERATIONS` + 1 stands for more.
    """
    sizes: dict[int, tuple[int, int]] = {}
    pending = [(expression, expression.args)]
    alive = [expression.args]  # those of matrices are new each time
    while pending:
        e, args = pending[-1]
        new = [(a, a.args) for a in args if id(a) not in sizes]
        alive += [arguments for _, arguments in new]
        pending += new
        if not new:
            pending.pop()
            inner = [sizes[id(a)] for a in args]
            size = min(1 + sum(n for n, _ in inner), MAX_OPERATIONS + 1)
            sizes[id(e)] = size, 1 + max((levels for _, levels in inner), default=0)
    return sizes[id(expression)]


def _parts(expression: sp.Basic) -> Iterator[sp.Basic]:
    """Yield each part of an expression once, however often it occurs.

    By their ids: the hash of a deep expression is a recursion.
    """
    seen, pending = {id(expression): expression}, [expression]
    while pending:
        e = pending.pop()
        yield e
        new = [a for a in e.args if id(a) not in seen]
        seen |= {id(a): a for a in new}
        pending += new


def _has_c(e: sp.Basic) -> bool:
    arithmetic = (sp.Symbol, sp.Number, sp.NumberSymbol, sp.Add, sp.Mul, sp.Pow)
    cases = (sp.Piecewise, sp.functions.elementary.piecewise.ExprCondPair, sp.Min, sp.Max)
    own = (rate, log_stretch, stretch_axis)
    if isinstance(e, (*arithmetic, *cases, *own, sp.Heaviside, Relational, Boolean)):
        return True
    real = e.is_number and e.is_extended_real is not False
    return type(e).__name__ in FUNCTIONS or bool(real and not e.has(AppliedUndef))


def is_large(e: sp.Basic) -> bool:
    """Whether an expression is too large for messages."""
    operations, levels = extent(e)
    return operations > MAX_SHOWN_OPERATIONS or levels > MAX_DEPTH


def short(e: sp.Basic) -> str:
    """Return an expression as text of at most 80 characters; a large one is not written out."""
    if is_large(e):
        return "a large expression"
    text = str(e)
    return text if len(text) <= 80 else text[:77] + "..."


def kinked(e: sp.Basic, still: Collection[sp.Symbol] = ()) -> bool:
    """Whether an expression contains a function of which a derivative jumps.

    `still` : symbols at which that does not matter.
    """
    if not still:
        return bool(e.has(*KINKS))
    return any(not _deciding(part) <= {*still} for part in e.atoms(*KINKS))


def _deciding(kink: sp.Basic) -> set[sp.Basic]:
    """Return the symbols on which it depends where a kink is."""
    if isinstance(kink, sp.Piecewise):
        return set().union(*(condition.free_symbols for _, condition in kink.args))
    return {*kink.free_symbols}


def symbols_of(*expressions: sp.Basic) -> set[sp.Symbol]:
    """Return the symbols of expressions; each part is looked at once, however often it occurs."""
    return {p for e in expressions for p in _parts(e) if isinstance(p, sp.Symbol)}


def rewritten(
    e: sp.Expr,
    rules: Mapping[type[sp.Basic], Callable[..., sp.Expr]],
    values: Mapping[sp.Basic, sp.Basic] | None = None,
) -> sp.Expr:
    """Return an expression with other functions, and with values of its parts.

    Each part is made once, however often it occurs.

    Parameters
    ----------
    rules : class of a function -> what stands in its place, of its arguments.
    values : part -> what stands in its place.
    """
    made: dict[sp.Basic, sp.Basic] = dict(values or {})

    def of(x: sp.Basic) -> Any:
        if x not in made:
            args = [of(a) for a in x.args]
            if type(x) in rules:
                made[x] = rules[type(x)](*args)
            else:
                alike = all(a is b for a, b in zip(args, x.args, strict=True))
                made[x] = x if alike else x.func(*args)
        return made[x]

    result: sp.Expr = of(e)
    return result


def _larger(*args: sp.Expr) -> sp.Expr:
    result = args[0]
    for a in args[1:]:
        result = sp.Piecewise((a, result < a), (result, True))
    return result


def _smaller(*args: sp.Expr) -> sp.Expr:
    result = args[0]
    for a in args[1:]:
        result = sp.Piecewise((a, a < result), (result, True))
    return result


def _step(x: sp.Expr, middle: sp.Expr = sp.S.Half) -> sp.Expr:
    return sp.Piecewise((1, x > 0), (0, x < 0), (middle, True))


_BRANCHES: dict[type[sp.Basic], Callable[..., sp.Expr]] = {
    sp.Abs: lambda x: sp.Piecewise((x, x > 0), (-x, x < 0), (0, True)),
    sp.sign: lambda x: sp.Piecewise((1, x > 0), (-1, x < 0), (0, True)),
    sp.Heaviside: _step,
    sp.Max: _larger,
    sp.Min: _smaller,
}


def branches(e: sp.Expr) -> sp.Expr:
    """Return an expression whose kinks all are `Piecewise`."""
    return rewritten(e, _BRANCHES)


def derivative(e: sp.Expr, s: sp.Symbol) -> sp.Expr:
    """Return de/ds branch by branch, as the compiler does: a jump adds nothing."""
    return sp.diff(branches(e) if kinked(e) else e, s)


class log1pmx(sp.Function):  # type: ignore[misc]  # noqa: N801, RUF100
    """log(1 + x) - x, accurate for small x; the compiler lowers it by name."""

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        """Return 0 at 0."""
        return sp.Integer(0) if x.is_zero else None

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Return the derivative, which has no cancellation."""
        x = self.args[0]
        return -x / (1 + x)

    def _eval_rewrite_as_log(self, x: sp.Expr, **_: bool) -> sp.Expr:
        return sp.log(1 + x) - x

    def _eval_evalf(self, precision: int) -> sp.Expr:
        return (sp.log(1 + self.args[0]) - self.args[0])._eval_evalf(3 * precision)

    _eval_is_real = lambda self: True if (1 + self.args[0]).is_positive else None  # noqa: E731


class expm1mx(sp.Function):  # type: ignore[misc]  # noqa: N801, RUF100
    """exp(x) - 1 - x, accurate for small x; the compiler lowers it by name."""

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        """Return 0 at 0."""
        return sp.Integer(0) if x.is_zero else None

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Return exp(x) - 1 without cancellation."""
        return expm1mx(self.args[0]) + self.args[0]

    def _eval_rewrite_as_exp(self, x: sp.Expr, **_: bool) -> sp.Expr:
        return sp.exp(x) - 1 - x

    def _eval_evalf(self, precision: int) -> sp.Expr:
        x = self.args[0]
        return (sp.exp(x) - 1 - x)._eval_evalf(3 * precision)

    _eval_is_real = lambda self: self.args[0].is_real  # noqa: E731


class rate(sp.Function):  # type: ignore[misc]  # noqa: N801, RUF100
    """The rate of change of x in time; the compiler derives it, see `PointLaw.rate_of`."""

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        """Return 0 for numbers."""
        return sp.S.Zero if x.is_number else None

    _eval_is_real = lambda self: self.args[0].is_real  # noqa: E731


class force_on(sp.Function):  # type: ignore[misc]  # noqa: N801, RUF100
    """The force dW/dq on a named quantity q of a law's energy W; see `PointLaw.outputs`."""

    nargs = 1
    _eval_is_real = lambda self: True  # noqa: E731


class log_stretch(sp.Function):  # type: ignore[misc]  # noqa: N801, RUF100
    """The logarithm of a principal stretch of F = I + H: log_stretch(k, H11, H12, ..., H33).

    k = 1, 2, 3, the largest first. What is made of principal stretches must not depend on their
    order; then the compiler finds both derivatives also where they coincide.
    """

    nargs = 10
    _eval_is_real = lambda self: True  # noqa: E731

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Return the derivative by an entry."""
        return log_stretch_slope(argindex - 2, *self.args)


class log_stretch_slope(sp.Function):  # type: ignore[misc]  # noqa: N801, RUF100
    """The derivative of `log_stretch` by an entry, 0 to 8; for numbers only."""

    nargs = 11
    _eval_is_real = lambda self: True  # noqa: E731


class stretch_axis(sp.Function):  # type: ignore[misc]  # noqa: N801, RUF100
    """A component of the axis N of a principal stretch: stretch_axis(k, i, H11, H12, ..., H33).

    k and i = 1, 2, 3. For what is not differentiated, as the values that points remember.
    """

    nargs = 11
    _eval_is_real = lambda self: True  # noqa: E731


class frozen(sp.Function):  # type: ignore[misc]  # noqa: N801, RUF100
    """The value x, held fixed in differentiation: a residual whose tangent leaves out a part."""

    nargs = 1

    @classmethod
    def eval(cls, x: sp.Expr) -> sp.Expr | None:
        """Return numbers as they are."""
        return x if x.is_number else None

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Return 0."""
        return sp.Integer(0)

    def _eval_evalf(self, precision: int) -> sp.Expr:
        return self.args[0]._eval_evalf(precision)

    _eval_is_real = lambda self: self.args[0].is_real  # noqa: E731
