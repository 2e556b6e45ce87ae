# SPDX-License-Identifier: BSD-3-Clause
"""Gauss rules for lines, quadrilaterals and hexahedra, with points through a thickness."""

from __future__ import annotations

import math
import re
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.declare import Rule
from symancf_codegen.legendre import gauss_legendre

if TYPE_CHECKING:
    from .cells import Cell


#: Most points of a rule: its tables are part of the generated C.
MOST = 4096


def gauss(cell: Cell, counts: tuple[int, ...], *, section: bool = False) -> Rule:
    """Return the product Gauss rule with `counts` points per direction.

    Parameters
    ----------
    cell : the cell; its parameter domain scales points and weights.
    counts : points per parameter, and with `section` one count more for the thickness
        coordinate zeta in [-1, 1]; if that count is left out the section has the single
        point zeta = 0 with weight 2 (the mid-surface).
    section : whether the cell has a thickness.

    Raises
    ------
    ValueError : if the number of counts does not fit the cell, or there are too many points.
    """
    d = cell.dimension
    name = "x".join(map(str, counts))
    possible = [d, d + 1] if section else [d]
    if len(counts) not in possible or min(counts, default=0) < 1:
        need = " or ".join(str(p) for p in possible)
        raise ValueError(f"the rule {name!r} does not fit a {cell.name}: give {need} counts >= 1")
    if np.prod(np.array(counts, dtype=float)) > MOST:
        raise ValueError(
            f"the rule {name!r} has {math.prod(counts)} points; give at most {MOST} in all"
        )
    low, high = cell.domain
    lines = [gauss_legendre(n) for n in counts[:d]]
    half = (high - low) / 2
    points = np.array(list(product(*(low + half * (x + 1) for x, _ in lines))))
    weights = np.array([np.prod(w) for w in product(*(half * w for _, w in lines))])
    if not section:
        return Rule(name, points, weights)
    z, w = gauss_legendre(counts[d]) if len(counts) > d else (np.zeros(1), np.full(1, 2.0))
    return Rule(name, points, weights, ("zeta",), z[:, None].copy(), w.copy())


def parse(cell: Cell, name: str, *, section: bool = False) -> Rule:
    """Return the Gauss rule that a name such as ``"4x4x3"`` means for `cell`.

    Raises
    ------
    ValueError : if the name is not numbers joined by ``x``, or does not fit the cell.
    """
    if not re.fullmatch(r"\d+(x\d+)*", name):
        example = "x".join("4" * cell.dimension) + ("x3" if section else "")
        raise ValueError(f"{name!r} is not a quadrature rule: write counts such as {example!r}")
    return gauss(cell, tuple(map(int, name.split("x"))), section=section)


def surface(cell: Cell, counts: tuple[int, ...], side: float) -> Rule:
    """Return the Gauss rule on the face zeta = `side` (-1, 0 or 1) of a cell with a thickness.

    Its section weight is 1: the law's measure is an area.
    """
    flat = gauss(cell, counts)
    z = np.full((1, 1), float(side))
    return Rule(f"{flat.name}@{side:+g}", flat.points, flat.weights, ("zeta",), z, np.ones(1))
