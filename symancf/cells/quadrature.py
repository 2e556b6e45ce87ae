# SPDX-License-Identifier: BSD-3-Clause
"""Quadrature rules on products of simplices, with points through a thickness.

On lines Gauss's rules, on triangles and tetrahedra symmetric ones, all with positive weights and
points inside (on triangles degrees 4, 6 and 8: Dunavant 1985, 5: Radon 1948; on tetrahedra
5: Walkington 2000, 3: two orbits of four points, a solution of the moment equations).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.declare import Rule
from symancf_codegen.legendre import gauss_legendre

from ..arrays import Array

if TYPE_CHECKING:
    from .table import Cell


#: Most points of a rule: its tables are part of the generated C.
MAX_RULE_POINTS = 4096

_RADON = math.sqrt(15.0)

# Of triangles and tetrahedra by the number of points: the degree, and orbits, each a barycentric
# point, of which all permutations are taken, with the weight of one of them (they sum up to 1).
_SIMPLEX: dict[int, dict[int, tuple[int, tuple[tuple[tuple[float, ...], float], ...]]]] = {
    2: {
        1: (1, (((1 / 3,) * 3, 1.0),)),
        3: (2, (((1 / 6, 1 / 6, 2 / 3), 1 / 3),)),
        6: (
            4,
            (
                ((0.44594849091596488632,) * 2 + (0.10810301816807022736,), 0.2233815896780114657),
                ((0.09157621350977074346,) * 2 + (0.81684757298045851308,), 0.10995174365532186764),
            ),
        ),
        7: (
            5,
            (
                ((1 / 3,) * 3, 9 / 40),
                (((6 - _RADON) / 21,) * 2 + ((9 + 2 * _RADON) / 21,), (155 - _RADON) / 1200),
                (((6 + _RADON) / 21,) * 2 + ((9 - 2 * _RADON) / 21,), (155 + _RADON) / 1200),
            ),
        ),
        12: (
            6,
            (
                ((0.24928674517091042129,) * 2 + (0.50142650965817915742,), 0.11678627572637936603),
                ((0.06308901449150222834,) * 2 + (0.87382197101699554332,), 0.05084490637020681692),
                (
                    (0.05314504984481694735, 0.31035245103378440542, 0.63650249912139864723),
                    0.08285107561837357519,
                ),
            ),
        ),
        16: (
            8,
            (
                ((1 / 3,) * 3, 0.14431560767778716825),
                ((0.17056930775176020662,) * 2 + (0.65886138449647958676,), 0.10321737053471825028),
                ((0.05054722831703097546,) * 2 + (0.89890554336593804908,), 0.03245849762319808031),
                ((0.45929258829272315603,) * 2 + (0.08141482341455368794,), 0.09509163426728462479),
                (
                    (0.26311282963463811342, 0.00839477740995760534, 0.72849239295540428124),
                    0.02723031417443499426,
                ),
            ),
        ),
    },
    3: {
        1: (1, (((1 / 4,) * 4, 1.0),)),
        4: (2, ((((5 - math.sqrt(5)) / 20,) * 3 + ((5 + 3 * math.sqrt(5)) / 20,), 1 / 4),)),
        8: (
            3,
            (
                ((0.32805469671142665229,) * 3 + (0.01583590986572004313,), 0.13852796651186203114),
                ((0.10695227393293073623,) * 3 + (0.67914317820120779131,), 0.11147203348813796886),
            ),
        ),
        14: (
            5,
            (
                ((0.3108859192633006098,) * 3 + (0.0673422422100981706,), 0.1126879257180158508),
                ((0.092735250310891226402,) * 3 + (0.721794249067326321,), 0.07349304311636194954),
                (
                    (0.045503704125649649492,) * 2 + (0.454496295874350350508,) * 2,
                    0.042546020777081466438,
                ),
            ),
        ),
    },
}


def _simplex(dimension: int, count: int) -> tuple[Array, Array]:
    """Return the rule with `count` points on a simplex of side 1; its weights sum up to 1/dim!."""
    points: list[tuple[float, ...]] = []
    weights: list[float] = []
    for place, weight in _SIMPLEX[dimension][count][1]:
        orbit = sorted(set(permutations(place)))
        points += [b[1:] for b in orbit]
        weights += [weight / math.factorial(dimension)] * len(orbit)
    return np.array(points), np.array(weights)


def _line(cell: Cell, count: int) -> tuple[Array, Array]:
    """Return Gauss's rule on the domain of a parameter."""
    low, high = cell.domain
    half = (high - low) / 2
    x, w = gauss_legendre(count)
    return low + half * (x[:, None] + 1), half * w


def counts_for(cell: Cell, degree: int) -> tuple[int, ...]:
    """Return the fewest points per factor that integrate polynomials of a degree.

    The degree is that of each parameter of lines, and the total one on simplices.

    Raises
    ------
    ValueError : a degree above that of all rules on a simplex.
    """
    counts = []
    for d in cell.factors:
        if d == 1:
            counts.append(max(1, -(-(degree + 1) // 2)))
            continue
        fit = [count for count, (of, _) in _SIMPLEX[d].items() if of >= degree]
        if not fit:
            most = max(of for of, _ in _SIMPLEX[d].values())
            raise ValueError(f"there is no rule of degree {degree} on a {cell.name}, but {most}")
        counts.append(min(fit))
    return tuple(counts)


def gauss(cell: Cell, counts: tuple[int, ...], *, section: int = 0) -> Rule:
    """Return the product rule with `counts` points per factor of the cell.

    Parameters
    ----------
    cell : the cell; its parameter domain scales points and weights.
    counts : points per parameter of lines, squares and cubes, or of a triangle (1, 3, 6,
        7, 12, 16) or tetrahedron (1, 4, 8, 14), and with `section` as many counts more, for zeta in
        [-1, 1] through a thickness, or eta and zeta over a cross-section; if those are left
        out there is the single point 0 (the mid-surface, the axis).
    section : 1 of cells with a thickness, 2 of those with a cross-section.

    Raises
    ------
    ValueError : if the number of counts does not fit the cell, or there are too many points.

    Examples
    --------
    >>> from symancf import elements
    >>> rule = elements.gauss(elements.QUAD, (2, 2))
    >>> len(rule.weights), round(float(sum(rule.weights)), 12)
    (4, 1.0)
    """
    d = len(cell.factors)
    name = "x".join(map(str, counts))
    possible = dict.fromkeys((d, d + section))
    if len(counts) not in possible or min(counts, default=0) < 1:
        need = " or ".join(map(str, possible))
        raise ValueError(f"the rule {name!r} does not fit a {cell.name}: give {need} counts >= 1")
    if math.prod(counts) > MAX_RULE_POINTS:
        raise ValueError(
            f"the rule {name!r} has {math.prod(counts)} points; give at most {MAX_RULE_POINTS} in "
            "all"
        )
    parts = []
    for factor, count in zip(cell.factors, counts, strict=False):
        if factor > 1 and count not in _SIMPLEX[factor]:
            raise ValueError(
                f"the rule {name!r} does not fit a {cell.name}: there are rules of "
                f"{', '.join(map(str, _SIMPLEX[factor]))} points"
            )
        parts.append(_line(cell, count) if factor == 1 else _simplex(factor, count))
    if not section:
        return Rule(name, *_product(parts))
    axis = [(np.zeros((1, 1)), np.full(1, 2.0))] * section
    lines = [(x[:, None], w) for x, w in map(gauss_legendre, counts[d:])] or axis
    return Rule(name, *_product(parts), ("eta", "zeta")[-section:], *_product(lines))


def _product(rules: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return points and weights of the product of rules; the points of the last run fastest."""
    points = np.array([np.concatenate(p) for p in product(*(x for x, _ in rules))])
    return points, np.array([np.prod(w) for w in product(*(w for _, w in rules))])


def divided(cell: Cell, counts: tuple[int, ...], parts: int) -> Rule:
    """Return the rule `gauss` on each of `parts` squared equal parts of a square or a triangle.

    For functions with kinks anywhere, which rules of high degree integrate no better.

    Examples
    --------
    >>> from symancf.cells import CELLS
    >>> rule = divided(CELLS["triangle"], (3,), 3)
    >>> len(rule.weights), round(float(rule.weights.sum()), 15)
    (27, 0.5)
    >>> (rule.weights @ rule.points**2 * 12).round(14)  # exact to the degree of its parts
    array([1., 1.])
    """
    rule, (low, high) = gauss(cell, counts), cell.domain
    unit = (np.asarray(rule.points) - low) / (high - low)
    pieces = []
    for i, j in product(range(parts), repeat=2):
        if len(cell.factors) == 2:
            pieces.append(np.add(unit, (i, j)))
        elif i + j < parts:
            pieces.append(np.add(unit, (i, j)))
            pieces += [np.add(1.0 - unit, (i, j))] if i + j < parts - 1 else []
    points = low + np.concatenate(pieces) / parts * (high - low)
    weights = np.tile(np.asarray(rule.weights) / parts**2, len(pieces))
    return Rule(f"{rule.name} on {len(pieces)} parts", points, weights)


def at_nodes(cell: Cell) -> Rule:
    """Return the rule with points at the nodes, whose weights integrate the nodes' functions.

    On lines of three nodes that is Simpson's.
    """
    exact = gauss(cell, counts_for(cell, cell.degree_of(cell.functions)))
    values = cell.functions.tabulate("", exact.points)
    nodes = np.array([[float(x) for x in node] for node in cell.vertices])
    return Rule("nodes", nodes, exact.weights @ values)


def parse(cell: Cell, name: str, *, section: int = 0) -> Rule:
    """Return the rule that a name such as ``"4x4x3"`` means for `cell`.

    Raises
    ------
    ValueError : if the name is not numbers joined by ``x``, or does not fit the cell.
    """
    if not re.fullmatch(r"\d+(x\d+)*", name):
        example = "x".join(str({2: 6, 3: 4}.get(d, 4)) for d in cell.factors)
        example += "x3" * section
        raise ValueError(f"{name!r} is not a quadrature rule: write counts such as {example!r}")
    return gauss(cell, tuple(map(int, name.split("x"))), section=section)


def surface(cell: Cell, counts: tuple[int, ...], side: float) -> Rule:
    """Return the rule on the face zeta = `side` (-1, 0 or 1) of a cell with a thickness.

    Its section weight is 1: the law's measure is an area.

    Examples
    --------
    >>> from symancf import elements
    >>> rule = elements.surface(elements.QUAD, (2, 2), 1.0)     # the face zeta = 1 of a plate
    >>> len(rule.weights)
    4
    """
    flat = gauss(cell, counts)
    z = np.full((1, 1), float(side))
    return Rule(f"{flat.name}@{side:+g}", flat.points, flat.weights, ("zeta",), z, np.ones(1))
