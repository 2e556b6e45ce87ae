# SPDX-License-Identifier: BSD-3-Clause
r"""Stage 2, stabilise: rewrite a law so that small strains lose no digits.

At the reference state every inner variable is zero. A sum such as J**(-2/3)*I1 - 3 vanishes
there because constants cancel, and its gradient vanishes because first-order terms cancel;
evaluated as written it returns mostly round-off when the strain is 1e-8. Where that happens
the expression is expanded *exactly* in small generators (lets that vanish at the reference),
so that SymPy cancels constants and first-order terms, and only the rest is evaluated:

- a power J**(p/n) of a base 1 + x is a power of a = (1 + x)**(-1/n) = 1 + b with
  b = -x a^n/(1 + a + ... + a^(n-1)), which has full relative accuracy; a Laurent polynomial
  in a with a double root at a = 1 is divided by (a - 1)^2 exactly. For Yeoh's
  y = J**(-2/3)*I1 - 3 with I1 = 3 + 2 (J - 1) + d this gives y = a^2 d + b^2 (a + 2)/a;
- log(1 + x) = x + log1pmx(x), and exp(x) = 1 + x + expm1mx(x);
- any other power is 1 + p x + (a remainder of second order, formed from b).

Nothing else is touched: names, stages and terms that need no help stay as they are. Functions
with kinks (`Piecewise`, `Max`, `Abs`, ...) have no expansion: what stands beside them and within
their branches and conditions is treated by itself.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sympy as sp
from sympy.core.relational import Relational

from symancf_codegen.functions import expm1mx, force_on, log1pmx, symbolic
from symancf_codegen.stable.laurent import divide, horner, is_zero
from symancf_codegen.stable.orders import Linear, Orders

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw

#: Terms that an expression may have when it is multiplied out here.
MOST_TERMS = 2000


def stabilise(law: PointLaw) -> PointLaw:
    """Return the same law in a form that keeps its digits at small strain.

    Value and gradient of the returned energy have full relative accuracy at the reference
    state, also when the gradient is formed by differentiating the returned expressions. An
    expression that this stage does not understand is left as it is.
    """
    return _Stabiliser(law).law()


class _OpaqueError(Exception):
    """An expression cannot be expanded in the generators."""


@dataclass(frozen=True)
class _Base:
    """The n-th root of a base c (1 + x), as a = (1 + x)**(-1/n) = 1 + b; ratio is 1 + x."""

    a: sp.Symbol
    b: sp.Symbol
    n: int
    constant: sp.Expr
    ratio: sp.Expr
    generator: sp.Symbol | None
    scale: sp.Expr


def _terms(e: sp.Basic) -> int:
    """Return how many terms `e` has at most when it is multiplied out."""
    if isinstance(e, sp.Add):
        return sum(_terms(a) for a in e.args)
    if isinstance(e, sp.Mul):
        return math.prod(_terms(a) for a in e.args)
    if isinstance(e, sp.Pow) and e.args[1].is_Integer and e.args[1] > 0:
        n = int(e.args[1])
        return math.comb(_terms(e.args[0]) + n - 1, n)
    return 1


def _product(
    monomial: sp.Expr, values: list[sp.Expr], rest: dict[int, sp.Expr], base: _Base | None
) -> list[sp.Expr]:
    """Return the terms of a monomial times a Laurent polynomial, divided as by `divide`."""
    if base is None:
        return [monomial * rest.get(0, sp.Integer(0))]
    terms = [monomial * v * base.b**i for i, v in enumerate(values)]
    if rest:
        remainder = horner(rest, base.a, base.n, base.ratio)
        terms.append(monomial * base.b ** len(values) * remainder)
    return terms


def _factored(terms: list[sp.Expr], base: _Base | None) -> sp.Expr:
    """Return the sum of terms, the power of the root that all have taken out."""
    if base is None or len(terms) < 2:
        return sp.Add(*terms)
    common = min(t.as_powers_dict().get(base.a, 0) for t in terms if t != 0)
    if not common > 0:
        return sp.Add(*terms)
    return base.a**common * sp.Add(*(t / base.a**common for t in terms))


class _Stabiliser(Orders):
    def __init__(self, law: PointLaw) -> None:
        vanish = {x.symbol for x in law.local if law.shared and x.start == 0}
        vanish |= {s for s, _ in law.inner} | set(law.unknowns)
        super().__init__(vanish, dict(law.lets))
        self.source = law
        self.out: list[tuple[sp.Symbol, sp.Expr]] = []
        self.roots: dict[sp.Expr, int] = {}
        self.bases: dict[sp.Expr, _Base] = {}
        self.helpers: dict[sp.Expr, sp.Symbol] = {}
        self.eliminated: dict[sp.Symbol, sp.Expr] = {}
        self.stables: dict[sp.Expr, sp.Expr] = {}
        expressions = self._expressions()
        self.used = {s.name for e in expressions for s in e.free_symbols}
        self.used |= {s.name for s in self.definition}
        self._scan(expressions)

    # ---- the whole law

    def _expressions(self) -> list[sp.Expr]:
        outputs = (symbolic(e) for e in self.source.outputs.values())
        own = (e for e in outputs if not e.has(force_on))
        return [e for _, e in self.source.lets] + [*map(symbolic, self.source.results), *own]

    def law(self) -> PointLaw:
        """Return the rewritten law."""
        law = self.source
        for symbol, definition in law.lets:
            self.declare(symbol, definition)
            self.out.append((symbol, self.stable(definition)))
        result = law.mapped(self._result)
        expressions = (*result.results, *result.outputs.values(), *law.domain)
        needed = set().union(*(e.free_symbols for e in expressions))
        lets: list[tuple[sp.Symbol, sp.Expr]] = []
        for symbol, expression in reversed(self.out):
            if symbol in needed:
                lets.append((symbol, expression))
                needed |= expression.free_symbols
        return replace(result, lets=tuple(reversed(lets)))

    def _result(self, e: sp.Expr) -> sp.Expr:
        """Return a result or output; one that is made of forces stays as it is."""
        e = symbolic(e)
        return e if e.has(force_on) else self.stable(e)

    def _scan(self, expressions: Iterable[sp.Expr]) -> None:
        """Find the bases of fractional and negative powers, and the roots they need."""
        for expression in expressions:
            for power in expression.atoms(sp.Pow):
                base, p = power.args
                if p.is_Rational and not (p.is_Integer and p > 0):
                    self.roots[base] = sp.ilcm(self.roots.get(base, 1), p.q)

    # ---- rewriting

    def stable(self, e: sp.Expr) -> sp.Expr:
        """Return `e` without cancellation at the reference state."""
        if e not in self.stables:
            self.stables[e] = self._stable(e)
        return self.stables[e]

    def _stable(self, e: sp.Expr) -> sp.Expr:
        if e.is_Atom or not self.moving(e):
            return e
        if self.is_kinked(e):
            return self._beside_kinks(e)
        if self.cancels(e):
            try:
                return self.rewrite(e)
            except _OpaqueError:
                pass
        if isinstance(e, sp.Pow) and e.args[0] in self.bases and e.args[1].is_Rational:
            base = self.bases[e.args[0]]
            return base.constant ** e.args[1] * base.a ** int(-base.n * e.args[1])
        return e.func(*(self.stable(a) for a in e.args))

    def _beside_kinks(self, e: sp.Expr) -> sp.Expr:
        """Return an expression that has kinks with stable branches and stable smooth parts."""
        if isinstance(e, sp.Add | sp.Mul):
            parts = [a for a in e.args if self.is_kinked(a)]
            smooth = e.func(*(a for a in e.args if a not in parts))
            return e.func(self.stable(smooth), *(self.stable(a) for a in parts))
        if isinstance(e, sp.Piecewise):
            cases = [(self.stable(value), self._condition(where)) for value, where in e.args]
            return sp.Piecewise(*cases, evaluate=False)
        return e.func(*(self.stable(a) for a in e.args))

    def _condition(self, e: sp.Basic) -> sp.Basic:
        """Return a condition whose sides keep the digits of their difference."""
        if isinstance(e, Relational):
            return e.func(self.stable(e.lhs - e.rhs), 0, evaluate=False)
        return e.func(*(self._condition(a) for a in e.args), evaluate=False) if e.args else e

    def rewrite(self, e: sp.Expr) -> sp.Expr:
        """Expand the cancelling terms of `e` in the generators and drop what cancels."""
        fine: list[sp.Expr] = []
        rest: list[sp.Expr] = []
        for a in sp.Add.make_args(e):
            taylor = self.taylor(a)
            harmless = taylor is not None and taylor[0] == 0 and not taylor[1] and a != e
            (fine if harmless else rest).append(a)
        group = sp.Add(*rest)
        base = self._choose(group)
        try:
            stable = self._collect(group, base)
        except _DependentError as dependent:
            stable = self._resolve(group, base, dependent.relation)
        return sp.Add(stable, *(self.stable(a) for a in fine))

    def _resolve(self, e: sp.Expr, base: _Base | None, relation: Linear) -> sp.Expr:
        """Expand terms that cancel only by a relation between generators; keep the shorter way.

        Either one generator is eliminated by the relation, whose second-order part becomes a
        let, or all are written in the variables.
        """
        results: list[sp.Expr] = []
        linear: Linear = {}
        for g, c in relation.items():
            for s, d in self.linear[g].items() if base and g == base.b else ((g, 1),):
                linear[s] = linear.get(s, sp.Integer(0)) + c * d
        lets = [g for g in linear if g not in self.variables and (not base or g != base.generator)]
        if lets:
            first = min(lets, key=lambda g: g.name)
            definition = sp.Add(*(c * self.unfold(g, None, True) for g, c in linear.items()))
            second = sp.collect(sp.expand(definition / linear[first]), [])
            rest = sp.Add(*(c * g for g, c in linear.items() if g != first)) / linear[first]
            if second not in self.helpers:
                symbol = self.name(f"{first.name}_relation")
                self.declare(symbol, second)
                self.out.append((symbol, second))
                self.helpers[second] = symbol
            self.eliminated[first] = self.helpers[second] - rest
            with contextlib.suppress(_DependentError, _OpaqueError):
                results.append(self._collect(e, base))
            del self.eliminated[first]
        with contextlib.suppress(_OpaqueError):
            results.append(self._collect(e, None, deep=True))
        if not results:
            raise _OpaqueError(str(e))
        return min(results, key=sp.count_ops)

    def _choose(self, e: sp.Expr) -> _Base | None:
        """Return the one base whose generator can be eliminated in favour of its root."""
        bases: list[_Base] = []
        pending: list[sp.Expr] = [e]
        seen: set[sp.Symbol] = set()
        while pending:
            x = pending.pop()
            for power in x.atoms(sp.Pow):
                p = power.args[1]
                if p.is_Rational and not (p.is_Integer and p > 0) and self.moving(power.args[0]):
                    base = self.base(power.args[0])
                    if base.generator is not None and base not in bases:
                        bases.append(base)
            for s in self.moving(x) - seen:
                seen.add(s)
                if s in self.definition and not self.is_generator(s):
                    pending.append(self.definition[s])
        return bases[0] if len(bases) == 1 else None

    def _collect(self, e: sp.Expr, base: _Base | None, *, deep: bool = False) -> sp.Expr:
        unfolded = self.unfold(e, base, deep)
        if _terms(unfolded) > MOST_TERMS:
            raise _OpaqueError(f"more than {MOST_TERMS} terms")
        result: list[sp.Expr] = []
        residual: Linear = {}
        for monomial, laurent in self._groups(sp.expand(unfolded), base).items():
            order = sum(p * self.order(s) for s, p in monomial.as_powers_dict().items() if s != 1)
            needed = max(0, 2 - order) if base else 0
            values, rest = divide(laurent, needed)
            result += _product(monomial, values, rest, base)
            generator, value = monomial, sp.Integer(0)
            if order == 1:
                value = values[0] if values else rest.get(0, sp.Integer(0))
            elif order == 0 and base:
                generator, value = base.b, values[1]
            if not is_zero(value):
                residual[generator] = residual.get(generator, sp.Integer(0)) + value
        if not deep and len(residual) > 1 and not self.deep(residual):
            raise _DependentError(residual)
        return _factored(result, base)

    def _groups(self, polynomial: sp.Expr, base: _Base | None) -> dict[sp.Expr, dict[int, sp.Expr]]:
        """Return the Laurent polynomials in the root of `base` that multiply each monomial."""
        groups: dict[sp.Expr, dict[int, sp.Expr]] = {}
        for term in sp.Add.make_args(polynomial):
            power, monomial, coefficient = 0, sp.Integer(1), sp.Integer(1)
            for factor in sp.Mul.make_args(term):
                b, p = factor.as_base_exp()
                if base is not None and b == base.a and p.is_Integer:
                    power += int(p)
                elif b.is_Symbol and b in self.reference and p.is_Integer and p > 0:
                    monomial *= factor
                elif not self.moving(factor):
                    coefficient *= factor
                else:
                    raise _OpaqueError(str(factor))
            laurent = groups.setdefault(monomial, {})
            laurent[power] = laurent.get(power, sp.Integer(0)) + coefficient
        return groups

    def unfold(self, e: sp.Expr, base: _Base | None, deep: bool) -> sp.Expr:
        """Return `e` as a polynomial in generators and in the root of `base`, not yet expanded."""
        if not self.moving(e):
            return e
        if e.is_Symbol:
            return self._unfold_symbol(e, base, deep)
        if isinstance(e, sp.Add | sp.Mul):
            return e.func(*(self.unfold(a, base, deep) for a in e.args))
        if isinstance(e, sp.Pow):
            return self._unfold_power(e, base, deep)
        if isinstance(e, sp.log):
            return self._unfold_log(e.args[0], base, deep)
        return self._unfold_function(e, base, deep)

    def _unfold_symbol(self, e: sp.Symbol, base: _Base | None, deep: bool) -> sp.Expr:
        if e in self.opaque:
            raise _OpaqueError(e.name)
        if base is not None and e == base.generator:
            return (base.a ** (-base.n) - 1) * base.scale
        if e in self.eliminated:
            return self.unfold(self.eliminated[e], base, deep)
        if e in self.variables:
            return e
        if self.is_generator(e) and not (deep and self.order(e) == 1):
            return e
        return self.unfold(self.definition[e], base, deep)

    def _unfold_function(self, e: sp.Expr, base: _Base | None, deep: bool) -> sp.Expr:
        taylor = self.taylor(e.args[0]) if len(e.args) == 1 else None
        if taylor is None:
            raise _OpaqueError(str(e))
        x = e.args[0]
        if isinstance(e, sp.exp):
            small = x - taylor[0]
            rest = self.helper(expm1mx(small), "exp_rest")
            return sp.exp(taylor[0]) * (1 + self.unfold(small, base, deep) + rest)
        if taylor[0] != 0:
            raise _OpaqueError(str(e))
        if isinstance(e, sp.cos):
            return 1 - 2 * self.helper(sp.sin(x / 2), "half") ** 2
        if isinstance(e, sp.cosh):
            return 1 + 2 * self.helper(sp.sinh(x / 2), "half") ** 2
        if e.func(0) == 0 and not deep:
            return self.helper(e, type(e).__name__)
        raise _OpaqueError(str(e))

    def _unfold_power(self, e: sp.Pow, base: _Base | None, deep: bool) -> sp.Expr:
        x, p = e.args
        if p.is_Integer and p > 0:
            return self.unfold(x, base, deep) ** p
        taylor = self.taylor(x)
        if taylor is None or taylor[0] == 0 or self.moving(p):
            raise _OpaqueError(str(e))
        if not p.is_Rational:
            log = self._unfold_log(x / taylor[0], base, deep)
            rest = self.helper(expm1mx(p * sp.log(x / taylor[0])), "pow_rest")
            return taylor[0] ** p * (1 + p * log + rest)
        own = self.base(x)
        if base is not None and own == base:
            return own.constant**p * base.a ** int(-own.n * p)
        rest = self.remainder(x, own, p)
        small = self.unfold(x, base, deep) / own.constant - 1
        return own.constant**p * (1 + p * small + rest)

    def _unfold_log(self, x: sp.Expr, base: _Base | None, deep: bool) -> sp.Expr:
        taylor = self.taylor(x)
        if taylor is None or taylor[0] == 0:
            raise _OpaqueError(str(x))
        constant = taylor[0]
        if base is not None and x in self.bases and self.bases[x] == base:
            rest = self.helper(log1pmx(base.b), f"{base.a.name}_log")
            return sp.log(constant) - base.n * (base.a - 1 + rest)
        small = self.unfold(x, base, deep) / constant - 1
        rest = self.helper(log1pmx(x / constant - 1), f"{_word(x)}_log_rest")
        return sp.log(constant) + small + rest

    # ---- new lets

    def name(self, wish: str) -> sp.Symbol:
        """Return a real symbol with a new name."""
        name, k = wish, 1
        while name in self.used:
            k += 1
            name = f"{wish}{k}"
        self.used.add(name)
        return sp.Symbol(name, real=True)

    def helper(self, e: sp.Expr, wish: str) -> sp.Symbol:
        """Return the let that holds `e`, a new one if need be; its argument is stabilised."""
        if e not in self.helpers:
            symbol = self.name(wish)
            stable = self.stable(e)
            self.declare(symbol, e)
            if symbol in self.opaque:
                raise _OpaqueError(str(e))
            self.out.append((symbol, stable))
            self.helpers[e] = symbol
        return self.helpers[e]

    def base(self, x: sp.Expr) -> _Base:
        """Return the root of the base `x`, declaring a and b if need be."""
        if x not in self.bases:
            taylor = self.taylor(x)
            if taylor is None or taylor[0] == 0:
                raise _OpaqueError(str(x))
            constant, n = taylor[0], self.roots.get(x, 1)
            deviation = self.rewrite(x - constant)
            small = deviation / constant
            word = {1: "inv", 2: "isqrt", 3: "icbrt"}.get(n, f"iroot{n}")
            a = self.name(f"{_word(x)}_{word}")
            b = self.name(f"{a.name}_m1")
            self.definition[a] = (x / constant) ** sp.Rational(-1, n)
            self.reference[a], self.linear[a] = sp.Integer(1), {}
            slopes = taylor[1].items()
            self.linear[a] = {g: -c / constant / n for g, c in slopes}
            self.reference[b], self.linear[b] = sp.Integer(0), self.linear[a]
            self.definition[b] = a - 1
            chain = sp.Add(*(a**i for i in range(n)))
            self.out.append((a, (x / constant) ** sp.Rational(-1, n)))
            self.out.append((b, -small * a**n / chain))
            generator, scale = None, sp.Integer(1)
            scaled, rest = deviation.as_independent(*self.moving(deviation), as_Add=False)
            if rest.is_Symbol and not scaled.has(rest):
                generator, scale = rest, constant / scaled
            self.bases[x] = _Base(a, b, n, constant, x / constant, generator, scale)
        return self.bases[x]

    def remainder(self, x: sp.Expr, base: _Base, p: sp.Rational) -> sp.Symbol:
        """Return the let (1 + x)^p - 1 - p x, of second order, formed from the root of 1 + x."""
        key = sp.Tuple(x, p)
        if key not in self.helpers:
            laurent: dict[int, sp.Expr] = {}
            for power, c in (
                (int(-base.n * p), sp.Integer(1)),
                (0, p - 1),
                (-base.n, -p),
            ):
                laurent[power] = laurent.get(power, sp.Integer(0)) + c
            _, rest = divide(laurent, 2)
            symbol = self.name(f"{_word(x)}_pow_rest")
            self.reference[symbol], self.linear[symbol] = sp.Integer(0), {}
            self.definition[symbol] = x**p - 1 - p * (x - 1)
            self.out.append((symbol, base.b**2 * horner(rest, base.a, base.n, base.ratio)))
            self.helpers[key] = symbol
        return self.helpers[key]


class _DependentError(Exception):
    """The first-order terms cancel only because the generators depend on one another."""

    def __init__(self, relation: Linear) -> None:
        super().__init__()
        self.relation = relation


def _word(e: sp.Expr) -> str:
    return str(e.name) if e.is_Symbol else "base"
