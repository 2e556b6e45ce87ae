# SPDX-License-Identifier: BSD-3-Clause
"""Terms do not change: what they find is the binding of each system that they are in."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.system import System

Model = tuple[list[Any], list[Any]]  # bodies and terms

EXACT = {"snes_rtol": 1e-12, "snes_atol": 1e-14}
CACHES = ("_functions", "measured", "_sound")  # compiled; systems of a cavity; of a body, looked at


def _parts(value: Any, where: str = "", seen: dict[int, Any] | None = None) -> dict[str, Any]:
    """Return what an object is made of, by where it is: identities, and the bytes of arrays."""
    seen = {} if seen is None else seen
    kind, found = type(value), {where: value.tobytes() if isinstance(value, np.ndarray) else None}
    own: dict[str, Any] = {}
    if isinstance(value, list | tuple):
        own = {str(k): item for k, item in enumerate(value)}
    elif isinstance(value, dict):
        own = {str(key): item for key, item in value.items()}
    else:
        found[where + " is"] = id(value)
        if kind.__module__.startswith("symancf.") and id(value) not in seen:
            seen[id(value)] = value
            own = getattr(value, "__dict__", {})
    for name, item in own.items():
        if name not in CACHES and not isinstance(getattr(kind, name, None), cached_property):
            found |= _parts(item, f"{where}.{name}", seen)
    return found


def _pipe() -> Model:
    mesh = sa.Mesh.tube(1.0, 1.2, 2.0, 1)
    given = {"mu": 1.0, "lam": 2.0, "rho": 0.01}
    pipe = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    return [pipe], [
        sa.fix(pipe["z0"]),
        sa.gravity((0.0, 0.0, lambda t: -t)),
        sa.traction(pipe["z1"], (lambda t: 0.001 * t, 0.0, 0.0)),
        sa.force(pipe.at((1.2, 0.0, 2.0)), (0.0, lambda t: 0.001 * t, 0.0)),
        sa.pressure(pipe["outer"], lambda t: 0.002 * t),
        sa.Cavity(pipe["inner"], caps="flat", gas=sa.Gas(lambda t: 1.0 + 0.01 * t, ambient=1.0)),
        sa.KelvinVoigt(pipe, eta=0.01),
    ]


def _lever() -> Model:
    lever = sa.PlanarBody(position=(0.0, 0.3, 0.0), name="lever")
    load = sa.Factor("load")
    strips = [
        sa.Flexure.straight(sa.ground.at((x, 0.0)), lever.at((x, 0.0)), EI=1e-4, EA=50.0)
        for x in (-0.1, 0.1)
    ]
    force = sa.force(lever, (1.0, 0.0), factor=load)
    moved = sa.displacement_control(
        lever.at((0.0, 0.0)), "x", displacement=lambda t: 0.01 * t, release=load
    )
    return [lever], [*strips, force, moved]


def _hinged() -> Model:
    arm = sa.RigidBody.box((1.0, 0.1, 0.1), position=(0.5, 0.0, 0.0), rho=1.0, name="arm")

    def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
        return k * (r_a - r_b).dot(r_a - r_b) / 2

    tip, post = arm.at((0.5, 0.0, 0.0)), sa.ground.at((1.0, 0.0, 1.0))
    hinge = sa.joints.revolute(arm.at((-0.5, 0.0, 0.0)), sa.ground, axis=(0.0, 1.0, 0.0))
    return [arm], [
        hinge,
        sa.Potential(spring, tip, post, k=1.0),
        sa.moment(arm, (0.0, lambda t: 0.1 * t, 0.0)),
    ]


def _tied() -> Model:
    given = {"mu": 1.0, "lam": 2.0}
    coarse, fine = (sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n)) for n in (1, 2))
    kinds = sa.elements.hex8_plain, sa.energies.neo_hooke()
    a = sa.Body(coarse["body"], *kinds, name="a", **given)
    b = sa.Body(fine["body"], *kinds, name="b", **given)
    load = sa.traction(a["x0"], (lambda t: -0.01 * t, 0.0, 0.0))
    return [a, b], [sa.fix(b["x0"]), sa.joints.tie(b["x1"], a), load]


def _folded() -> Model:
    mesh = sa.Mesh.box(
        (2.0, 0.5),
        (2, 1),
        warp=lambda X: np.stack(
            [np.minimum(X[:, 0], 1.0), X[:, 1], np.maximum(X[:, 0] - 1.0, 0.0)], axis=1
        ),
    )
    parts = [
        mesh.select("floor", lambda X: X[:, 2] < 1e-9, dimension=2),
        mesh.select("wall", lambda X: X[:, 0] > 1.0 - 1e-9, dimension=2),
    ]
    mesh.select("corner", lambda X: (X[:, 0] > 1.0 - 1e-9) & (X[:, 2] < 1e-9), outer=False)
    steel = {"E": 1e6, "nu": 0.3, "thickness": 0.01}
    floor, wall = (
        sa.Body(part, sa.elements.ancf_thin_quad, sa.energies.kirchhoff(), join="position", **steel)
        for part in parts
    )
    top = mesh.select("top", lambda X: X[:, 2] > 1.0 - 1e-9, dimension=1)
    load = sa.traction(wall[top.name], (lambda t: 1e-4 * t, 0.0, 0.0))
    return [floor, wall], [sa.fix(floor["x0"]), sa.joints.fold(floor["corner"], wall), load]


def _pressed() -> Model:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    law = sa.energies.saint_venant_kirchhoff()
    block = sa.Body(mesh["body"], sa.elements.hex8_plain, law, E=1e6, nu=0.3, name="block")
    floor = sa.Plane((0, 0, 0), normal=(0, 0, 1))
    lowered = sa.fix(block["z1"], displacement=lambda t: (0.0, 0.0, -0.01 * t))
    return [block], [lowered, sa.Contact(block["z0"], floor, mu=0.4, name="stand")]


MODELS = [_pipe, _lever, _hinged, _tied, _folded, _pressed]


def _problem(model: Model) -> sa.StaticProblem:
    bodies, terms = model
    return sa.StaticProblem(System(*bodies, terms=terms), options=EXACT)


@pytest.mark.parametrize("made", MODELS)
def test_terms_in_two_systems_do_not_change(made: Callable[[], Model]) -> None:
    alone = _problem(made())
    half, whole = (alone.solve(to=t) and alone.system.state.copy() for t in (0.5, 1.0))
    bodies, terms = made()
    before = _parts([*bodies, *terms])
    first, second = _problem((bodies, terms)), _problem((bodies, terms))
    first.solve(to=0.5)
    second.solve(to=0.5)
    np.testing.assert_array_equal(second.system.state, half)
    first.solve(to=1.0)
    np.testing.assert_array_equal(first.system.state, whole)
    np.testing.assert_array_equal(second.system.state, half)
    second.solve(to=1.0)
    np.testing.assert_array_equal(second.system.state, whole)
    assert _parts([*bodies, *terms]) == before
    ghost = weakref.ref(first.system)
    del first
    gc.collect()
    assert ghost() is None


END, AXIS = (-0.5, 0.0, 0.0), (0.0, 1.0, 0.0)
JOINTS: dict[str, Callable[[sa.RigidBody], Any]] = {
    "cylindrical": lambda arm: sa.joints.cylindrical(arm.at(END), axis=AXIS),
    "distance": lambda arm: sa.joints.distance(arm.at(END), sa.ground.at((0, 0, 1)), 1.0),
    "on_sphere": lambda arm: sa.joints.on_sphere(arm.at(END), (0, 0, 1), 1.0),
    "prismatic": lambda arm: sa.joints.prismatic(arm.at(END), axis=(0.0, 0.6, 0.8)),
    "revolute": lambda arm: sa.joints.revolute(arm.at(END), axis=AXIS),
    "rigid": lambda arm: sa.joints.rigid(arm.at(END)),
    "rotation": lambda arm: sa.joints.rotation(arm.at(END), angle=math.sin, axis=AXIS),
    "spherical": lambda arm: sa.joints.spherical(arm.at(END)),
    "translation": lambda arm: sa.joints.translation(arm.at(END), distance=math.sin, axis=AXIS),
    "universal": lambda arm: sa.joints.universal(arm.at(END), axes=(AXIS, (1.0, 0.0, 0.0))),
    "weld": lambda arm: sa.joints.weld(arm.at(END)),
}


@pytest.mark.parametrize("kind", JOINTS)
def test_joints_in_two_systems_do_not_change(kind: str) -> None:
    def made() -> Model:
        arm = sa.RigidBody.box((1.0, 0.1, 0.2), position=(0.5, 0.0, 0.0), rho=1.0, name="arm")
        return [arm], [JOINTS[kind](arm), sa.gravity((0.0, 1.0, -9.81))]

    def motion(model: Model) -> sa.DynamicProblem:
        bodies, terms = model
        return sa.DynamicProblem(System(*bodies, terms=terms))

    alone = motion(made())
    half, whole = (alone.solve(to=t, step=0.01) and alone.system.state.copy() for t in (0.02, 0.04))
    bodies, terms = made()
    before = _parts([*bodies, *terms])
    first, second = motion((bodies, terms)), motion((bodies, terms))
    first.solve(to=0.02, step=0.01)
    second.solve(to=0.02, step=0.01)
    first.solve(to=0.04, step=0.01)
    np.testing.assert_array_equal(first.system.state, whole)
    np.testing.assert_array_equal(second.system.state, half)
    second.solve(to=0.04, step=0.01)
    np.testing.assert_array_equal(second.system.state, whole)
    assert _parts([*bodies, *terms]) == before
