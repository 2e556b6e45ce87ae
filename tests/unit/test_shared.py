# SPDX-License-Identifier: BSD-3-Clause
"""Terms that are alike share laws and kernels; terms that differ in anything never do."""

from __future__ import annotations

import gc
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.runtime.shared import Shared
from symancf_codegen.library import fingerprint
from tests.refusals import refused

STIFFNESS = 3


def test_what_is_alike_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = []
    inner = fingerprint._law
    monkeypatch.setattr(fingerprint, "_law", lambda h, law: (hashed.append(law), inner(h, law)))

    def chain(count: int) -> sa.System:
        bodies = [sa.PlanarBody((1.0 * k, 0.0), mass=1.0) for k in range(count)]
        terms: list[Any] = [sa.joints.revolute(bodies[0].at((0.0, 0.0)))]
        for a, b in pairwise(bodies):
            pin = a.at((1.0, 0.0)), b.at((0.0, 0.0))
            terms += [
                sa.joints.revolute(*pin),
                sa.Potential(lambda phi_a, phi_b, *, c: c * (phi_a - phi_b) ** 2, *pin, c=2.0),
                sa.VirtualWork(lambda omega_a, *, d: {omega_a: -d * omega_a}, pin[1], d=0.1),
                sa.PID(lambda phi_a: phi_a, lambda omega_a: omega_a, pin[1], kp=1.0, kd=1.0),
            ]
        return sa.System(*bodies, terms=terms)

    counts = []
    for count in (3, 12):
        del hashed[:]
        system = chain(count)
        counts.append(len({id(law) for law in hashed}))
        kernels = {id(form.kernel) for form in system._discrete.forms}
        assert len(kernels) <= 6  # also the joint on the ground
        del system, kernels
        gc.collect()
    assert counts[0] == counts[1] <= 6


def test_closures_defaults_and_globals_are_not_mixed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """One function object, three results; and three functions of one name."""
    factor = 1.0

    def pull(r_a: Any, v_a: Any, *, k: Any = 1.0) -> dict[Any, Any]:
        return {v_a[0]: factor * STIFFNESS * k * r_a[0]}

    bodies = [sa.PlanarBody((2.0, 0.0)) for _ in range(4)]
    terms = [sa.VirtualWork(pull, bodies[0].at((0, 0)))]
    factor = 5.0
    terms.append(sa.VirtualWork(pull, bodies[1].at((0, 0))))
    monkeypatch.setitem(globals(), "STIFFNESS", 7)
    terms.append(sa.VirtualWork(pull, bodies[2].at((0, 0)), k=10.0))
    pull.__kwdefaults__["k"] = 100.0
    terms.append(sa.VirtualWork(pull, bodies[3].at((0, 0))))
    system = sa.System(*bodies, terms=terms)
    found = [term.values(system)[0, 0] for term in terms]
    assert found == [2.0 * 3, 2.0 * 15, 2.0 * 350, 2.0 * 3500]
    system._discrete.prescribe(0.0)
    f = system._discrete.residual_at(system.state)
    assert [f[body.coordinates(system)[0]] for body in bodies] == [-value for value in found]


def test_laws_of_the_package_are_asked_once_those_of_users_each_time() -> None:
    def apart(r_a: Any, r_b: Any) -> Any:
        return [*(r_a - r_b)]

    a, b = sa.PlanarBody((0.0, 0.0)), sa.RigidBody((1.0, 0.0, 0.0))
    ends = [(a.at((0, 0)), sa.ground.at((0.0, 0.0))), (b.at((0.0, 0.0, 0.0)), a.at((0, 0)))]
    own = [sa.joints.spherical(*pair)._reading for pair in ends]
    users = [sa.Constraint(apart, *pair)._reading for pair in ends]
    assert own[0].result is own[1].result
    assert users[0].result is not users[1].result
    assert own[0].jets is not own[1].jets
    assert own[0].jets == users[0].jets
    pull = [sa.force(a, (value, 2.0), name=f"by {value}") for value in (1.0, 3.0)]
    assert [term._reading.parameters["F1"] for term in pull] == [1.0, 3.0]
    with refused(sa.ConstraintError, asked="place", given="factor 'F'"):  # asked every time
        sa.force(sa.Factor("F"), (1.0, 2.0, 3.0))


def test_constraints_of_one_name_keep_their_own_equations() -> None:
    """Planes of other heights, ends of other kinds: what is alike is told by the result."""

    def plane(height: float) -> Callable[..., Any]:
        def keep(r_a: Any) -> Any:
            return r_a[1] - height

        return keep

    places = [(0.0, 1.0), (0.0, 2.0), (0.0, 1.0)]
    bodies = [sa.PlanarBody(p) for p in places]
    terms: list[Any] = [
        sa.Constraint(plane(p[1] + 0.5), b.at((0, 0))) for p, b in zip(places, bodies, strict=True)
    ]
    terms += [sa.fix(b, ["x", "theta"]) for b in bodies]
    system = sa.System(*bodies, terms=terms)
    assert terms[0].equations is terms[2].equations
    assert terms[0].equations is not terms[1].equations
    sa.StaticProblem(system, prefix="planes_").solve()
    heights = [b.position(system)[1] for b in bodies]
    np.testing.assert_allclose(heights, [1.5, 2.5, 1.5], atol=1e-12)


def test_frames_of_ends_count() -> None:
    """Axes of a planar end that are 0 or 1 are put into its law; others are values of it."""

    def square(e1_a: Any, e2_b: Any) -> Any:
        return e1_a.dot(e2_b)

    turned = 0.3
    first, second = sa.PlanarBody((0.0, 0.0)), sa.PlanarBody((0.0, 0.0, turned))
    one = sa.Constraint(square, first.at((0, 0)), sa.ground.at((0.0, 0.0)))
    two = sa.Constraint(square, second.at((0, 0)), sa.ground.at((0.0, 0.0)))
    terms = [one, two, sa.fix(first, ["x", "y"]), sa.fix(second, ["x", "y"])]
    system = sa.System(first, second, terms=terms)
    assert one.equations is not two.equations
    sa.StaticProblem(system, prefix="frames_").solve()
    angles = [b.position(system)[2] for b in (first, second)]
    np.testing.assert_allclose(angles, 0.0, atol=1e-10)


def test_errors_are_raised_every_time_and_name_their_own_term() -> None:
    body = sa.PlanarBody()
    for name in ("first", "second"):
        with refused(sa.KinematicsError, asked="<lambda>", given="X_a1") as independent:
            sa.Constraint(lambda X_a: X_a[0], body.at((0, 0)), name=name)
        with refused(sa.KinematicsError, asked="motion", given="v_a1**2") as nonlinear:
            sa.VirtualWork(lambda v_a: {v_a[0] ** 2: 1.0 + v_a[0]}, body.at((0, 0)), name=name)
        with refused(sa.KinematicsError, asked="<lambda>", given=(1, 1)) as returned:
            sa.Constraint(lambda r_a: [[r_a[0]]], body.at((0, 0)), name=name)
        assert all(repr(name) in str(e.value) for e in (independent, nonlinear, returned))


def test_numbers_of_two_kinds_are_two_keys() -> None:
    """True and 1 are equal in Python, 1 and 1.0 are, but results of functions are not alike."""
    body = sa.PlanarBody()
    sa.VirtualWork(lambda v_a: {v_a[0]: 1}, body.at((0, 0)))
    with refused(sa.KinematicsError, asked="<lambda>", given="True"):
        sa.VirtualWork(lambda v_a: {v_a[0]: True}, body.at((0, 0)))


def test_nothing_is_kept_of_what_nobody_has() -> None:
    class Thing:
        pass

    shared: Shared[Thing] = Shared()
    thing = shared.get((sp.Symbol("x"), 1), Thing)
    assert shared.get((sp.Symbol("x"), 1), Thing) is thing
    assert shared.get((sp.Symbol("x", real=True), 1), Thing) is not thing
    assert shared.find((sp.Symbol("y"), 1)) is None
    del thing
    gc.collect()
    assert len(shared) == 0
    assert isinstance(shared.get([], Thing), Thing)  # without a hash: not kept
    with pytest.raises(ZeroDivisionError):
        shared.get("a", lambda: 1 / 0)  # type: ignore[arg-type, return-value]
