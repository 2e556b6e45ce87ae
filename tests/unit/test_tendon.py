# SPDX-License-Identifier: BSD-3-Clause
"""Tendons: friction in eyelets, slack, winches, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import symancf as sa

TURNS = np.radians([30.0, 90.0, 60.0, 45.0])
A, H, KT = 0.03, 0.01, 0.05  # of the hinged arm


def polygon(lengths=(1.0, 0.5, 0.7, 0.4, 0.9)):
    """Return the corners of a line that turns by `TURNS`."""
    angle, points = np.append(0.0, np.cumsum(TURNS)), [np.zeros(3)]
    for a, length in zip(angle, lengths, strict=True):
        points.append(points[-1] + length * np.array([math.cos(a), math.sin(a), 0.0]))
    return np.array(points)


def rope(force, mu=0.25, **given):
    """Return a system of a cord through four fixed eyelets, and the cord."""
    points = polygon()
    mass = sa.PointMass(1.0, points[0])
    cord = sa.Tendon([mass.centre, sa.ground.at(points[1:])], EA=1e5, mu=mu, end=force, **given)
    return sa.System(mass, terms=[cord, sa.fix(mass)]), cord


@pytest.mark.parametrize("steps", [1, 10])
def test_rubs_by_the_equation_of_ropes(steps):
    """Loaded in one step and in ten, then unloaded: the reverse wave runs from the pulled end."""
    F = sa.Parameter("F")
    system, cord = rope(sa.winch(force=F))
    problem = sa.StaticProblem(system)
    for F.value in np.linspace(0.0, 100.0, steps + 1)[1:]:
        problem.solve()
    rest = np.append(np.cumsum(TURNS[::-1])[::-1], 0.0)
    loaded = 100.0 * np.exp(-0.25 * rest)
    np.testing.assert_allclose(cord.tensions(system), loaded, rtol=1e-10)
    for F.value in (60.0, 20.0, 1.0):
        problem.solve()
        expected = np.minimum(loaded, F.value * np.exp(0.25 * rest))
        np.testing.assert_allclose(cord.tensions(system), expected, rtol=1e-9)
    assert cord.dissipated(system) > 0.0
    np.testing.assert_allclose(cord.angles(system)[1:-1], TURNS, rtol=1e-12)


def hinged(EA, feed):
    """Return an arm on a hinge with a spring, drawn by a tendon beside it."""
    import sympy as sp

    def coil(e1_a, e1_b, e3_b, *, kt):
        return kt / 2 * sp.atan2(e1_a.dot(e3_b), e1_a.dot(e1_b)) ** 2

    arm = sa.RigidBody.box((0.1, 0.01, 0.02), position=(0.05, 0.0, 0.0), rho=1e3, name="arm")
    hinge = sa.joints.revolute(arm.at((-0.05, 0.0, 0.0)), axis=(0, 1, 0))
    spring = sa.Potential(coil, arm.at((-0.05, 0.0, 0.0)), sa.ground, kt=KT)
    places = [sa.ground.at((-A, 0.0, H)), arm.at((A - 0.05, 0.0, H))]
    cord = sa.Tendon(places, EA=EA, start=sa.winch(feed=feed))
    return sa.System(arm, terms=[hinge, spring, cord]), cord, arm


def distance(theta):
    x = A * np.cos(theta) - H * np.sin(theta), A * np.sin(theta) + H * np.cos(theta)
    return np.hypot(x[0] + A, x[1] - H)


def turn(system, arm):
    e = np.diff([system.position(arm.at((x, 0.0, 0.0)))[0] for x in (-0.05, 0.05)], axis=0)[0]
    return math.atan2(e[2], e[0])


@pytest.mark.parametrize("EA", [500.0, math.inf])
def test_draws_an_arm_in_one_step(EA):
    """Drawn by 2, 5 and 10 mm, each in one step: the root of one equation in the angle."""
    feed = sa.Parameter("feed")
    system, cord, arm = hinged(EA, feed)
    problem = sa.StaticProblem(system)
    for drawn in (0.002, 0.005, 0.01):
        feed.value, length = -drawn, 2 * A - drawn

        def off(theta, length=length):
            slope = (distance(theta + 1e-6) - distance(theta - 1e-6)) / 2e-6
            pull = 0.0 if math.isinf(EA) else EA * (distance(theta) / length - 1.0)
            return distance(theta) - length if math.isinf(EA) else KT * theta + pull * slope

        problem.solve()
        assert turn(system, arm) == pytest.approx(brentq(off, 1e-9, 1.5, xtol=1e-14), rel=1e-9)
    assert cord.tensions(system)[0] > 0.0
