# SPDX-License-Identifier: BSD-3-Clause
"""Functions beyond SymPy's own; the compiler lowers them by the names of their classes."""

from __future__ import annotations

from typing import Any

import sympy as sp


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

    def _eval_rewrite_as_log(self, x: sp.Expr, **_: Any) -> sp.Expr:
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

    def _eval_rewrite_as_exp(self, x: sp.Expr, **_: Any) -> sp.Expr:
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
