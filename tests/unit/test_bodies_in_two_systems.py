# SPDX-License-Identifier: BSD-3-Clause
"""Bodies and supports stay as they are made: they serve in several systems at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

import symancf as sa

pytestmark = pytest.mark.collective

Model: TypeAlias = "tuple[list[sa.Body | sa.PlanarBody | sa.RigidBody], list[object]]"


def plate() -> Model:
    """Thin: the clamp holds slopes by multipliers, too."""
    mesh = sa.Mesh.box((2.0, 1.0), (4, 2), warp=lambda X: X + 0.05 * np.sin(X[:, :1]))
    energy, given = sa.energies.kirchhoff(), {"E": 1e6, "nu": 0.3, "thickness": 0.05, "rho": 1e3}
    made = sa.Body(mesh["body"], sa.elements.ancf_thin_plate, energy, **given)
    raised = sa.fix(made["x1"], "position", displacement=lambda t: (0.0, 0.0, t**2))
    return [made], [sa.fix(made["x0"]), raised]


def solid() -> Model:
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (4, 1, 1))
    given = {"mu": 1e5, "lam": 1e5, "rho": 1e3}
    made = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    pulled = sa.fix(made["x1"], displacement=lambda X, t: t**2 * X)
    return [made], [sa.fix(made["x0"]), pulled]


def crank() -> Model:
    made = sa.PlanarBody((1.0, 0.5, 0.2), mass=1.0, inertia=0.3)
    moved = sa.fix(made, ["x", "theta"], displacement=[lambda t: 0.1 * t**2, 0.0])
    return [made], [moved]


def head() -> Model:
    made = sa.RigidBody((0.0, 0.0, 1.0), mass=2.0, inertia=(1.0, 2.0, 2.5), spin=(0.1, 0.2, 0.3))
    return [made], [sa.fix(made, "position")]


def answers(system: sa.System) -> list[float]:
    """Numbers that depend on all coordinates, after a motion of two steps."""
    problem = sa.DynamicProblem(system, prefix="two_")
    problem.solve(to=0.02, step=0.01)
    held = system.terms[0]
    force = held.reaction(system).force
    return [float(np.linalg.norm(force)), *np.asarray(system.momentum()).ravel()]


@pytest.mark.parametrize("model", [plate, solid, crank, head])
def test_a_body_moves_in_two_systems_at_once(model: Callable[[], Model]) -> None:
    """In the second there are others before them, so that no number there is the same."""
    bodies, terms = model()
    first = sa.System(*bodies, terms=terms)
    expected = answers(first)
    before = first.state.copy()
    assert np.abs(expected).max() > 0.0
    others, more = solid()
    for term, name in ((more[0], "other support"), (others[0], "other")):
        vars(term)["name"] = name
    second = sa.System(*others, *bodies, terms=[more[0], *terms])
    assert second._discrete.numbering.size > first._discrete.numbering.size
    third = sa.System(*bodies, terms=terms)
    np.testing.assert_allclose(answers(third), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(first.state, before)
    again = float(np.linalg.norm(terms[0].reaction(first).force))  # type: ignore[attr-defined]
    assert again == pytest.approx(expected[0], rel=1e-12)
    # and the first one goes on as if there were no other
    sa.DynamicProblem(first, prefix="on_").solve(to=0.03, step=0.01)
    sa.DynamicProblem(third, prefix="also_").solve(to=0.03, step=0.01)
    np.testing.assert_allclose(first.state, third.state, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("model", [crank, head])
def test_only_the_points_of_its_own_terms_make_a_body_large(model: Callable[[], Model]) -> None:
    """A rod of a hundred times the body's size on one side, points for the eye on the other."""
    bodies, terms = model()
    body = bodies[0]
    assert not isinstance(body, sa.Body)
    far, unused = (50.0, 0.0), (0.0, 1e6)
    if isinstance(body, sa.RigidBody):
        far, unused = (50.0, 0.0, 0.0), (0.0, 1e6, 0.0)
    alone = sa.System(*bodies, terms=terms)
    own = alone._discrete.extent
    load = sa.force(body.at(far), np.zeros(len(far)))
    loaded = sa.System(*bodies, terms=[*terms, load])
    again = sa.System(*bodies, terms=terms)
    assert np.isfinite(alone.displacement(body.at(unused))).all()
    assert own <= 10.0
    assert loaded._discrete.extent == pytest.approx(100.0, rel=1e-14)
    assert again._discrete.extent == alone._discrete.extent == own
    assert loaded._discrete.extent_of(body) == loaded._discrete.extent
