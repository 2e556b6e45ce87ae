# SPDX-License-Identifier: BSD-3-Clause
"""Rods in solids: the composite beam, curved axes, springs, units, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

import symancf as sa
from symancf.verify.embedded import EA, EI, GJ, SMALL, composite, stiffness
from symancf.verify.threads import rotation
from tests.refusals import refused

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]
TIGHT = {"snes_rtol": 1e-12}


def block(unit: float = 1.0, turn: Array | None = None, n: tuple[int, int, int] = (4, 3, 3)) -> Any:
    """Return a soft bar of 2 m x 1 m x 1 m, lengths in `unit` a metre."""
    Q = np.eye(3) if turn is None else turn
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), n, warp=lambda X: unit * X @ Q.T)
    law = sa.energies.saint_venant_kirchhoff()
    return sa.Body(mesh["body"], sa.elements.hex8, law, name="block", E=1e3 / unit**2, nu=0.3)


def arc(s: Array) -> Array:
    """Return points (n, 3) of a curve in the bar."""
    return np.stack([0.1 + 1.8 * s, 0.5 + 0.2 * np.sin(3 * s), 0.3 + 0.3 * s**2], axis=1)


def chord(s: Array) -> Array:
    """Return points (n, 3) between its ends."""
    first, last = arc(np.array([0.0, 1.0]))
    return np.asarray(first + np.outer(s, last - first))


def wire(
    kind: str = "ancf_cable",
    unit: float = 1.0,
    turn: Array | None = None,
    m: int = 4,
    along: Callable[[Array], Array] | None = None,
) -> sa.Body:
    """Return a rod along `arc`, a cable along its chord; or along another curve."""
    Q = np.eye(3) if turn is None else turn
    cell, at = ("line", along or chord) if kind == "ancf_cable" else ("line3", along or arc)
    mesh = sa.Mesh.box((1.0,), (m,), cell=cell, warp=lambda X: unit * at(X[:, 0]) @ Q.T)
    if kind == "ancf_cable":
        law, given = sa.energies.cable(), {"EA": 300.0, "EI": 30.0 * unit**2}
    else:
        law = sa.energies.rod()
        given = {"EA": 300.0, "GA2": 200.0, "GA3": 200.0}
        given |= {key: 30.0 * unit**2 for key in ("GJ", "EI2", "EI3")}
        given["direction"] = lambda X: np.tile(Q @ (0.0, 0.6, 0.8), (len(X), 1))
    element = getattr(sa.elements, kind)
    return sa.Body(mesh["body"], element, law, name="wire", **given)


def bent(
    kind: str = "ancf_cable", unit: float = 1.0, turn: Array | None = None, **given: Any
) -> tuple[sa.System, Any, Array]:
    """Return the bar bent far with the rod in it, the term, and places of corners [m]."""
    Q = np.eye(3) if turn is None else turn
    solid, rod = block(unit, turn), wire(kind, unit, turn)
    term = sa.embed(rod, solid, **given)
    pull = tuple((Q @ (5.0, -5.0, 15.0) / unit**2).tolist())
    terms = [sa.fix(solid["x0"]), sa.traction(solid["x1"], pull), term]
    system = sa.System(solid, rod, terms=terms)
    sa.StaticProblem(system, options=TIGHT).solve()
    corners = unit * np.array([(2.0, y, z) for y in (0.0, 1.0) for z in (0.0, 1.0)]) @ Q.T
    return system, term, system.position(solid.at(corners)) @ Q / unit


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(
    ("beside", "given"),
    [
        (0.3, {}),
        (0.3, {"per": "point"}),
        (0.3, {"stiffness": 1e4}),
        (0.3, {"wire": "ancf_rod", "radius": 0.1}),
        (0.0, {"element": "hex8", "cells": (20, 4, 4), "parts": 40}),
    ],
)
def test_bends_as_a_transformed_section(beside: float, given: dict[str, Any]) -> None:
    assert pytest.approx(stiffness(beside), rel=2e-3) == SMALL / composite(
        "bending", beside, **given
    )


@pytest.mark.parametrize("given", [{}, {"stiffness": 1e5}])
def test_a_rod_with_a_radius_twists_with_the_solid(given: dict[str, Any]) -> None:
    alone = SMALL / composite("torsion", bare=True)
    rod: dict[str, Any] = {"wire": "ancf_rod", "radius": 0.25, "parts": 10}
    both = SMALL / composite("torsion", **rod, **given)
    assert both == pytest.approx(alone + GJ, rel=1e-2)
    assert (EA, EI) == (1200.0, 100.0)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("ancf_cable", {}),
        ("ancf_cable", {"per": "point"}),
        ("ancf_rod", {"radius": 0.1}),
        ("ancf_rod", {"radius": 0.1, "stiffness": 1e4}),
    ],
)
def test_units_and_frames_make_no_difference(kind: str, given: dict[str, Any]) -> None:
    system, term, places = bent(kind, **given)
    assert np.abs(places - places.round()).max() > 0.1  # it is bent far
    result = sa.check(system, amplitude=1e-3)
    assert result.passed, result
    assert result.symmetry < 1e-9
    turned = bent(kind, turn=rotation((1.0, 2.0, -1.0), 0.9), **given)[2]
    np.testing.assert_allclose(turned, places, atol=1e-8)
    mm = {key: 1e3 * x if key == "radius" else x / 1e6 for key, x in given.items() if key != "per"}
    small = bent(kind, unit=1e3, **(given | mm))[2]
    np.testing.assert_allclose(small, places, atol=1e-8)
    if isinstance(term, sa.Constraint):
        # forces by length on the solid and on the rod are opposite: the support bears the load
        reaction = system.terms[0].reaction(system).force
        np.testing.assert_allclose(reaction, (-5.0, 5.0, -15.0), atol=1e-8)
        assert np.abs(term.multipliers(system)).max() > 1.0


def test_a_curved_rod_rests_where_it_is_and_is_rigid_with_the_solid() -> None:
    solid, rod = block(), wire("ancf_rod")
    turn = rotation((0.3, 1.0, -2.0), 1.2)
    moved = [sa.fix(solid["body"], displacement=lambda X, t: X @ (t * (turn - np.eye(3))).T)]
    system = sa.System(solid, rod, terms=[sa.fix(solid["x0"]), sa.embed(rod, solid, radius=0.1)])
    sa.StaticProblem(system).solve()
    nodes = rod["body"].X
    np.testing.assert_allclose(system.position(rod["body"]), nodes, atol=1e-12)
    system = sa.System(solid, rod, terms=[*moved, sa.embed(rod, solid, radius=0.1)])
    sa.StaticProblem(system).solve()
    np.testing.assert_allclose(system.position(rod["body"]), nodes @ turn.T, atol=1e-7)


def test_springs_that_change_and_another_system() -> None:
    k, solid, rod = sa.Parameter("k", 1e2), block(), wire()
    term = sa.embed(rod, solid, stiffness=k)
    loads = [sa.traction(solid["x1"], (0.0, 0.0, p)) for p in (5.0, 10.0)]
    systems = [sa.System(solid, rod, terms=[sa.fix(solid["x0"]), x, term]) for x in loads]
    sag = []
    for k.value in (1e2, 1e4):
        for system in systems:
            sa.StaticProblem(system).solve()
            sag.append(system.position(solid.at((2.0, 0.5, 0.5)))[0, 2] - 0.5)
    assert sag[0] > 1.02 * sag[2]
    assert sag[1] > 1.02 * sag[3]
    assert sag[1] > 1.5 * sag[0]
    k.value = -1.0
    with refused(sa.ParameterError, asked="stiffness", given=-1.0):
        sa.StaticProblem(systems[0]).solve()


def test_a_part_of_a_rod() -> None:
    mesh = sa.Mesh.box((2.0,), (8,), warp=lambda X: X + np.array((1.0, 0.5, 0.5)))
    inside = mesh.select("inside", lambda X: X[:, 0] < 2.01, dimension=1)
    law = sa.energies.cable()
    rod = sa.Body(mesh["body"], sa.elements.ancf_cable, law, name="wire", EA=300.0, EI=30.0)
    solid = block()
    with refused(sa.ConstraintError, asked="point"):
        sa.System(solid, rod, terms=[sa.fix(solid["x0"]), sa.embed(rod, solid)])
    term = sa.embed(rod[inside.name], solid, name="grip")
    pull = sa.force(rod["x1"], (0.0, 0.0, 1.0))
    system = sa.System(solid, rod, terms=[sa.fix(solid["x0"]), pull, term])
    sa.StaticProblem(system).solve()
    assert term.multipliers(system).shape == (4, 3)
    held = term.multipliers(system).sum(axis=0) * 0.25  # by length; force of the rod on the solid
    np.testing.assert_allclose(held, (0.0, 0.0, 1.0), atol=1e-8)


def flat(s: Array) -> Array:
    """Return points (n, 3) of a curve across z in the middle of the bar."""
    return np.stack([0.1 + 1.8 * s, 0.2 + 1.2 * s * (1 - s), 0.5 + 0 * s], axis=1)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("per", ["cell", "point"])
@pytest.mark.parametrize("along", [arc, flat])
def test_a_curved_cable_needs_more_than_equations(
    along: Callable[[Array], Array], per: Literal["cell", "point"]
) -> None:
    solid, wire_ = block(n=(4, 3, 2)), wire(along=along)
    pull = sa.traction(solid["x1"], (5.0, -15.0, 0.0))
    possible = ("ancf_rod", "sa.planar(wire)", "stiffness=")
    with refused(sa.ConstraintError, asked="rod", given="ancf_cable", possible=possible):
        sa.System(solid, wire_, terms=[sa.fix(solid["x0"]), sa.embed(wire_, solid, per=per)])
    ends = []
    curved = wire("ancf_rod", along=along)
    for rod, given in ((wire_, {"stiffness": 1e5}), (curved, {"radius": 0.1}), (wire_, {})):
        held = [] if given else [sa.planar(rod)]
        if along is flat or given:
            terms = [sa.fix(solid["x0"]), pull, sa.embed(rod, solid, **given), *held]
            system = sa.System(solid, rod, terms=terms)
            sa.StaticProblem(system).solve()
            ends.append(system.position(solid.at((2.0, 0.5, 0.5)))[0])
    assert np.ptp(ends, axis=0).max() < 0.05  # of a bend by 0.4 m
    assert abs(ends[0][1] - 0.5) > 0.3


@pytest.mark.collective(rows=0)
def test_what_is_refused() -> None:
    solid, rod = block(n=(4, 3, 3)), wire(m=16)
    with refused(sa.ConstraintError, asked="rod"):
        sa.System(solid, rod, terms=[sa.fix(solid["x0"]), sa.embed(rod, solid)])
    sa.System(solid, rod, terms=[sa.fix(solid["x0"]), sa.embed(rod, solid, stiffness=1e4)])
    for given in (solid, 1.0, sa.Body, sa.ground):
        with refused(sa.ConstraintError, asked="rod"):
            sa.embed(given, solid)  # type: ignore[arg-type]
    for given in (rod, None, solid["body"]):
        with refused(sa.ConstraintError, asked="solid"):
            sa.embed(rod, given)  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="radius", given=0.1, possible=(0.0,)):
        sa.embed(rod, solid, radius=0.1)
    for radius in (-1.0, (1.0, 2.0)):
        with refused(sa.ParameterError, asked="radius", given=radius):
            sa.embed(rod, solid, radius=radius)  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="per", given="line", possible=("point", "cell")):
        sa.embed(rod, solid, per="line")  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="stiffness", given=-1.0):
        sa.embed(rod, solid, stiffness=-1.0)
