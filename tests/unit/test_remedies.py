# SPDX-License-Identifier: BSD-3-Clause
"""What users write at first, and what the message says to write instead."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symancf as sa
from symancf.contact.contact import Report
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRITTEN: dict[str, tuple[Callable[[Any], Any], str]] = {
    "np.exp": (np.exp, r"write sympy\.exp, .*instead of np\.exp"),
    "math.sin": (math.sin, r"sympy\.sin, .*instead of math\.exp"),
    "min": (lambda x: min(x, 1.0), r"sympy\.Min, .*sympy\.Piecewise"),
    "if": (lambda x: x if x > 0 else 0.0, r"sympy\.Piecewise"),
    "np.clip": (lambda x: np.clip(x, 0.0, 1.0), r"sympy\.Min"),
}
MESH = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1))
LEFT = MESH.select("left", lambda X: X[:, 0] <= 1.0, dimension=3)


def body(energy: Any = sa.energies.neo_hooke(), **given: float) -> sa.Body:
    return sa.Body(LEFT, sa.elements.hex8, energy, name="part", **given)


@pytest.mark.parametrize("how", WRITTEN)
def test_functions_of_numbers_and_ifs_are_told_where_symbols_come(how: str) -> None:
    f, remedy = WRITTEN[how]
    ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    place = ball.at((0.0, 0.0, 0.0))

    def reader(r_a: Any) -> Any:
        return f(r_a[0])

    calls: list[tuple[str, Callable[[], Any]]] = [
        ("<lambda>", lambda: body(lambda I1, *, mu: mu * f(I1 - 3), mu=1.0).laws),
        ("reader", lambda: sa.Constraint(reader, place)),
        ("<lambda>", lambda: sa.VirtualWork(lambda r_a, v_a: {v_a[0]: f(r_a[0])}, place)),
        (
            "<lambda>",
            lambda: sa.Controller(
                lambda r_a: r_a[2], lambda v_a: v_a[2], lambda y, *, k: k * f(y), place, k=1.0
            ),
        ),
        ("<lambda>", lambda: sa.Distance(lambda x1, x2, x3: f(x1))),
    ]
    for asked, call in calls:
        data = {"asked": asked, "given": lambda error: error.startswith("TypeError(")}
        with refused(sa.KinematicsError, **data) as e:
            call()
        assert re.search(remedy, str(e.value))


def test_parameters_before_the_star_and_moduli_are_told() -> None:
    def early(I1: Any, mu: Any) -> Any:
        return mu * (I1 - 3)

    with refused(sa.ParameterError, asked="mu", given=("I1", "mu"), possible=("rho",)):
        body(early, mu=1.0)
    names = ("mu", "lam", "rho")
    with refused(sa.ParameterError, asked="mu", given=("E", "nu"), possible=names) as caught:
        body(lambda J, I1, *, mu, lam: mu * (I1 - 3) + lam * (J - 1) ** 2, E=1.0, nu=0.3)
    formulas = "mu = E/(2 (1 + nu)), lam = E nu/((1 + nu) (1 - 2 nu))."
    assert formulas in str(caught.value)
    ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    with refused(sa.KinematicsError, asked="L", possible=lambda names: names[0] == "r_a"):
        sa.Constraint(lambda r_a, L: r_a[0] - L, ball.at((0.0, 0.0, 0.0)), L=1.0)


def test_meshes_and_regions_tell_what_to_give(tmp_path: Path) -> None:
    part = tmp_path / "part.STEP"
    part.write_text("ISO-10303-21;")
    with refused(sa.MeshError, asked="path", given=".STEP", path=str(part)):
        sa.Mesh.read(part)
    with refused(sa.MeshError, asked="X0", possible=lambda names: "x0" in names) as caught:
        MESH["X0"]
    assert "did you mean 'x0'" in str(caught.value)
    with refused(sa.MeshError, asked="y0", given=2, possible=("left",)):
        MESH["y0"].require_on(LEFT)


@pytest.mark.parametrize(("height", "told"), [(1.5, True), (0.5, False)])
def test_a_plane_with_reversed_normal_is_told(height: float, told: bool) -> None:
    part = body(mu=1.0, lam=1.0)
    wall = sa.Plane((0.0, 0.0, height), (0.0, 0.0, 1.0))
    with refused(sa.ConstraintError, asked="overlap", possible=("press", "release")) as caught:
        sa.System(part, terms=[sa.Contact(part["x0"], wall)])
    assert ("turn the normal" in str(caught.value)) is told


@pytest.mark.collective
@pytest.mark.parametrize("initial", [None, "press"])
def test_a_body_that_only_touches_a_plane_from_behind_is_told(initial: str | None) -> None:
    part = body(mu=1.0, lam=1.0)
    assert sa.System(part, terms=[sa.Contact(part["x0"], sa.Plane(normal=(1.0, 0.0, 0.0)))])
    floor = sa.Contact(part["x0"], sa.Plane(normal=(-1.0, 0.0, 0.0)), initial=initial)
    with refused(sa.ConstraintError, asked="normal", given="part"):
        sa.System(part, terms=[floor])


@pytest.mark.parametrize(("touching", "told"), [((1034, 2, 0), True), ((8, 1, 0), False)])
def test_a_contact_that_few_points_carry_says_so(
    touching: tuple[int, int, int], told: bool
) -> None:
    assert ("of them carry all" in str(Report(touching, 0.1, 0.1, 1.0))) is told


def test_a_load_that_is_far_too_large_is_told_as_one() -> None:
    mesh = sa.Mesh.box((1.0, 0.1, 0.1), (2, 1, 1))
    part = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=1.0)
    load = sa.traction(part["x1"], lambda t: (0.0, 0.0, -1e9 * t))
    problem = sa.StaticProblem(sa.System(part, terms=[sa.fix(part["x0"]), load]))
    with pytest.raises(sa.ConvergenceError, match=r"this is the first step, .* loads and units"):
        problem.solve()
