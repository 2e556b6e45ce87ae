# SPDX-License-Identifier: BSD-3-Clause
"""Elements of one's own: slopes at middle nodes of lines, and where there are none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import symancf as sa
from symancf.cells.shape import ShapeField
from symancf.cells.table import CELLS
from symancf.elements.element import Element
from symancf.kinematics import cable, surface
from tests.refusals import refused

if TYPE_CHECKING:
    from symancf.arrays import Array

pytestmark = pytest.mark.collective

QUINTIC = Element(
    "cable_3",
    CELLS["line3"],
    {"N": ShapeField("1 xi xi**2 xi**3 xi**4 xi**5", nodal=("", "xi"))},
    slopes=("xi",),
    slope_kind="tangents",
    family=cable,
    rules={"full": "6", "reduced": "4"},
    derivatives=("xi", "xixi"),
)


def deflection(points: Array, *, direction: object = None) -> float:
    """Tip load 1e-3 along y on a line with EI = 1, clamped in the plane z = 0."""
    cells = np.arange(len(points) - 2)[::2, None] + [0, 2, 1]
    mesh = sa.Mesh.from_arrays(points, {"line3": cells})
    body = sa.Body(mesh["all"], QUINTIC, sa.energies.cable(), EA=1e4, EI=1.0, direction=direction)
    start, end = body.at(points[0]), body.at(points[-1])
    terms = [sa.fix(start), sa.planar(body, "z"), sa.force(end, (0.0, 1e-3, 0.0))]
    system = sa.System(body, terms=terms)
    sa.StaticProblem(system).solve()
    return float(system.position(end)[0, 1] - points[-1, 1])


def test_slopes_at_middle_nodes_of_lines() -> None:
    """Straight, with middle nodes elsewhere, and a quarter of a circle: closed forms of beams."""
    t = np.linspace(0.0, 1.0, 5)
    line = np.outer(t, [1.0, 0.0, 0.0])
    assert deflection(line) == pytest.approx(1e-3 / 3.0, rel=1e-6)
    line[1::2, 0] += 0.05
    assert deflection(line) == pytest.approx(1e-3 / 3.0, rel=1e-5)
    angle = t * math.pi / 2.0
    arc = np.stack([np.sin(angle), 1.0 - np.cos(angle), np.zeros(5)], axis=1)
    expected = 1e-3 * (0.75 * math.pi - 2.0)
    found = deflection(arc)
    assert found == pytest.approx(expected, rel=2e-3)

    def tangent(X: Array) -> Array:
        return np.stack([1.0 - X[:, 1], X[:, 0], 0.0 * X[:, 0]], axis=1)

    assert deflection(arc, direction=tangent) == pytest.approx(found, rel=1e-6)


def test_slopes_at_middle_nodes_of_surfaces_are_refused() -> None:
    cell = CELLS["quad8"]
    shaped = Element("own", cell, {"N": cell.field}, ("xi", "eta"), "tangents", surface, {})
    mesh = sa.Mesh.box((1.0, 1.0), (1, 1), cell="quad8")
    with refused(
        sa.ParameterError, asked="cell", given="quad8", possible=("line", "line3", "quad")
    ):
        sa.Body(mesh["body"], shaped, sa.energies.neo_hooke())
