# SPDX-License-Identifier: BSD-3-Clause
"""What users see of objects and folders: few names, and the solver behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
import symancf_codegen
from tests.refusals import refused


def public(given: Any) -> list[str]:
    return [name for name in dir(given) if not name.startswith("_")]


def models() -> list[tuple[Any, int]]:
    """Objects after they were used, which gives them all their attributes, and their ceilings."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    contact = sa.Contact(block["z1"], sa.Plane((0.0, 0.0, 2.0), (0.0, 0.0, -1.0)), stiffness=1.0)
    hold = sa.Constraint(lambda r_a: r_a, block.at((0.0, 0.0, 0.0)))
    held = sa.System(block, terms=[sa.fix(block["x0"]), contact])
    statics, modes = sa.StaticProblem(held), sa.EigenProblem(held)
    statics.solve()
    modes.solve(1)
    ball = sa.RigidBody.sphere(0.1, rho=1.0)
    falls = sa.System(ball, terms=[sa.gravity((0.0, 0.0, -9.81))])
    motion = sa.DynamicProblem(falls)
    motion.solve(to=0.1, step=0.05)
    problems = [(statics, 27), (motion, 24), (modes, 20)]
    bodies = [(ball, 20), (sa.PlanarBody(mass=1.0), 20)]
    results = [(mesh, 22), (mesh["body"], 17), (statics.history, 26), (modes.modes, 25)]
    return [
        (held, 20),
        (falls, 20),
        (block, 16),
        (contact, 15),
        (hold, 15),
        *problems,
        *bodies,
        *results,
    ]


def test_users_see_few_names() -> None:
    for given, most in models():
        assert len(public(given)) <= most, public(given)


def test_few_rooms_are_at_the_top() -> None:
    for package in (sa, symancf_codegen):
        folder = Path(str(package.__file__)).parent
        rooms = [p for p in folder.iterdir() if p.is_dir() or p.suffix == ".py"]
        assert len([p for p in rooms if not p.name.startswith("_")]) <= 24


def test_a_state_is_one_of_the_system_and_of_what_is_below_it() -> None:
    mesh = sa.Mesh.box((1.0,), (1,))
    bar = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)
    system = sa.System(bar)
    system.state = system.state + 1.0
    system.rate, system.time = np.full_like(system.rate, 2.0), 3.0
    below = system._discrete
    assert (below.state == 1.0).all()
    assert (below.rate == 2.0).all()
    assert below.time == 3.0


def test_what_was_public_warns_and_says_what_to_write() -> None:
    mesh = sa.Mesh.box((1.0,), (1,))
    given = {"EA": 1.0, "EI": 1.0, "rho": 1.0, "A": 1.0}
    bar = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    system = sa.System(bar)
    with pytest.warns(DeprecationWarning, match="system.unknowns"):
        assert system.numbering is system._discrete.numbering  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match="system.matrices.mass"):
        M = system.mass(scipy=True)  # type: ignore[attr-defined]
    assert abs(M - system.matrices.mass(scipy=True)).max() == 0.0
    with pytest.raises(AttributeError, match="stat"):
        system.stat  # type: ignore[attr-defined]  # noqa: B018


def test_what_was_public_of_rigid_bodies_warns() -> None:
    ball, disc = sa.RigidBody.sphere(0.1, rho=1.0), sa.PlanarBody((1.0, 2.0, 3.0), mass=2.0)
    with pytest.warns(DeprecationWarning, match="body.mass and body.centre"):
        assert ball.moments.mass == ball.mass  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match=r"RigidBody\.axes goes .* solver alone"):
        assert ball.axes == ("x", "y", "z")  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match=r"PlanarBody\.reference"):
        assert disc.reference.tolist() == [1.0, 2.0, 3.0]  # type: ignore[attr-defined]
    for name in ("momentss", "reference", "_x"):
        with pytest.raises(AttributeError, match=name):
            getattr(ball, name)


def test_what_nothing_would_follow_is_not_set() -> None:
    """Former attributes, misspelt ones, methods, and what was taken up when it was made."""
    system, _, block, contact, hold, statics, _, modes, *_ = (given for given, _ in models())
    support, motion = system.terms[0], sa.DynamicProblem(system)
    state = "rate", "state", "time"
    for name in ("stiffness", "numbering", "snapshot", "times", "energies", "bodies", "reference"):
        with refused(sa.ParameterError, asked=name, given=2.0, possible=state):
            setattr(system, name, 2.0)
    for given, name in [
        *[(block, name) for name in ("mu", "element", "name", "at")],
        *[(contact, name) for name in ("stiffness", "k", "mu", "pressure")],
        *[(hold, name) for name in ("parameters", "ends", "reaction")],
        *[(support, name) for name in ("displacement", "motion")],
        *[(motion, name) for name in ("rho", "tolerence", "monitor", "method", "steps")],
        (sa.gravity((0.0, 0.0, -9.81)), "g"),
        (sa.Plane(), "point"),
        (sa.Layers([(sa.energies.kirchhoff(), 0.1)]), "offset"),
        (sa.History(), "csv"),
    ]:
        with refused(sa.ParameterError, asked=name, given="other", possible=()):
            setattr(given, name, "other")
    with refused(sa.ParameterError, asked="tolerence", possible=("check_stable",)):
        statics.tolerence = 1e-8
    with refused(sa.ParameterError, asked="dampings", possible=("damping",)):
        modes.dampings = sa.Rayleigh(mass=1.0)
    with refused(sa.ParameterError, asked="vlaue", given=1.0, possible=("value",)):
        sa.Parameter("load").vlaue = 1.0  # type: ignore[attr-defined]
    with refused(sa.ParameterError, asked="mass", possible=("velocity", "spin")):
        sa.RigidBody.sphere(0.1, rho=1.0).mass = 2.0  # type: ignore[misc]


def test_what_is_followed_is_set() -> None:
    class Kept(sa.StaticProblem):
        """With attributes of its own, which its methods set."""

        def solve(self, *given: Any, **named: Any) -> Any:
            self.solved = True
            return super().solve(*given, **named)

    system, *_ = (given for given, _ in models())
    system.state = np.zeros_like(system.state)
    system.time = 0.0
    problem = Kept(system)
    problem.check_stable = False
    problem.solve()
    assert problem.solved
    ball = sa.RigidBody.sphere(0.1, rho=1.0)
    ball.velocity = (0.0, 0.0, 2.0)
    assert sa.System(ball).momentum()[0][2] > 0.0


@pytest.mark.parametrize("given", [None, 1.0, "system"])
def test_what_is_no_system_is_refused(given: Any) -> None:
    """By methods of terms, of bodies and by functions alike."""
    ball = sa.RigidBody.sphere(0.1, rho=1.0)
    pin = sa.joints.spherical(ball.at((0.0, 0.0, 0.0)), sa.ground.at((0.0, 0.0, 0.0)))
    with refused(sa.ParameterError, asked="system", given=given):
        pin.reaction(given)
    with refused(sa.ParameterError, asked="system", given=given):
        ball.rotation(given)
    with refused(sa.ParameterError, asked="system", given=given):
        sa.sample(given, ball)
