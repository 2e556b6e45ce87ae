# SPDX-License-Identifier: BSD-3-Clause
"""Rigidity constraints of rigid bodies in natural coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from ...assembly.numbering import Block
from ...terms.constraint import Constraint

if TYPE_CHECKING:
    from ...places.ends import End
    from ...terms.quantities import E, S, V

PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


class Rigidity(Constraint):
    """The six conditions that the axes e_k of a body stay orthogonal unit vectors.

    With E_k those of the reference, Phi_kl = L (e_k . e_l - E_k . E_l), halved for k = l; without
    cancellation L (E_k . d_l + E_l . d_k + d_k . d_l), d_k = e_k - E_k. L is the length |r_ij|,
    so that multipliers are forces.
    """

    _block = Block("lambda:rigidity", len(PAIRS), "multiplier")

    def __init__(self, place: End, length: float, name: str) -> None:
        super().__init__(_rigidity, place, name=name, L=[length])


def _rigidity(e1_a: V, e2_a: V, e3_a: V, E1_a: V, E2_a: V, E3_a: V, *, L: S) -> list[E]:
    # lists, which SymPy works on four times as fast as on its matrices: bodies are many
    E = [axis.flat() for axis in (E1_a, E2_a, E3_a)]
    e = [axis.flat() for axis in (e1_a, e2_a, e3_a)]
    d = [[x - X for x, X in zip(*pair, strict=True)] for pair in zip(e, E, strict=True)]

    def dot(a: list[sp.Expr], b: list[sp.Expr]) -> sp.Expr:
        return sp.Add(*[x * y for x, y in zip(a, b, strict=True)])

    both = [dot(E[k], d[l]) + dot(E[l], d[k]) + dot(d[k], d[l]) for k, l in PAIRS]
    return [L * b / (2 if k == l else 1) for b, (k, l) in zip(both, PAIRS, strict=True)]
