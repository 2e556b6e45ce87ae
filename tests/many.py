# SPDX-License-Identifier: BSD-3-Clause
"""Models of many equal parts, whose numbers are known for each part."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import symancf as sa

G = 10.0
Kind = Literal["plane", "space"]


def _twist(phi_a: Any, phi_b: Any, *, c: Any) -> Any:
    return c * (phi_a - phi_b) ** 2 / 2


def _turn(e1_a: Any, e2_b: Any, *, c: Any) -> Any:
    return c * e1_a.dot(e2_b) ** 2 / 2


def hanging(count: int, kind: Kind, tree: bool) -> tuple[sa.System, list[Any], Any]:
    """Return bodies that hang on hinges in a chain or a binary tree, the hinges and the loads.

    At rest every hinge carries the weight of the bodies below: loads (count,) [N].
    """
    parents = [(k - 1) // 2 if tree else k - 1 for k in range(count)]
    loads, depth = np.full(count, G), np.zeros(count)
    for k in range(count - 1, 0, -1):
        loads[parents[k]] += loads[k]
    for k in range(1, count):
        depth[k] = depth[parents[k]] + 1.0
    bodies: list[Any] = []
    hinges: list[Any] = []
    springs: list[Any] = []
    for k, parent in enumerate(parents):
        at = (0.0, -depth[k], 0.0)
        if kind == "plane":
            body: Any = sa.PlanarBody(at, mass=1.0, inertia=0.1, centre=(0.0, -0.5))
        else:
            body = sa.RigidBody(at, mass=1.0, inertia=(0.1, 0.1, 0.1), centre=(0.0, -0.5, 0.0))
        bodies.append(body)
        above = sa.ground.at((0.0, 0.0, 0.0)) if k == 0 else bodies[parent].at((0.0, -1.0, 0.0))
        ends = body.at((0.0, 0.0, 0.0)), above
        hinges.append(
            sa.joints.spherical(*ends, name=f"hinge {k}")
            if kind == "plane"
            else sa.joints.revolute(*ends, axis=(0.0, 0.0, 1.0), name=f"hinge {k}")
        )
        if kind == "plane" and k == 0:
            springs.append(sa.Potential(lambda phi_a, *, c: c * phi_a**2, ends[0], c=10.0))
        else:
            springs.append(sa.Potential(_twist if kind == "plane" else _turn, *ends, c=10.0))
    weight = sa.gravity((0.0, -G, 0.0))
    return sa.System(*bodies, terms=[*hinges, *springs, weight]), hinges, loads


def pendulums(count: int, kind: Kind) -> tuple[sa.System, list[Any]]:
    """Return bodies that hang on hinges of their own at an angle: the same motion for each."""
    bodies: list[Any] = []
    terms: list[Any] = [sa.gravity((0.0, -G, 0.0))]
    for k in range(count):
        at, mass = (0.0, 2.0 * k, 0.0), {"mass": 1.0, "name": f"body {k}"}
        if kind == "plane":
            body: Any = sa.PlanarBody(at, inertia=0.1, centre=(0.5, -0.5), **mass)
        else:
            body = sa.RigidBody(at, inertia=(0.1, 0.1, 0.1), centre=(0.5, -0.5, 0.0), **mass)
        bodies.append(body)
        ends = body.at((0.0, 0.0, 0.0)), sa.ground.at(at)
        terms.append(sa.joints.revolute(*ends, axis=(0.0, 0.0, 1.0), name=f"hinge {k}"))
    return sa.System(*bodies, terms=terms), bodies


def carried(system: sa.System, hinges: list[Any]) -> Any:
    """Return the vertical forces (count,) that the hinges carry."""
    return np.array([abs(hinge.multipliers(system)[0, 1]) for hinge in hinges])


def rods(count: int, **options: Any) -> tuple[sa.System, list[sa.Body]]:
    """Return bodies of one cell each, with meshes of their own: cantilevers under a force of 1."""
    bodies, terms = [], []
    for k in range(count):
        mesh = sa.Mesh.box((1.0,), (1,), warp=lambda X, k=k: X + np.array([0.0, 3.0 * k, 0.0]))
        rod = sa.Body(
            mesh["body"],
            sa.elements.ancf_cable,
            sa.energies.cable(),
            name=f"rod {k}",
            EA=1e4,
            EI=1e3,
            rho=1.0,
            A=1.0,
            **options,
        )
        bodies.append(rod)
        terms += [sa.fix(rod["x0"]), sa.force(rod.at((1.0, 3.0 * k, 0.0)), (0.0, 0.0, 1.0))]
    return sa.System(*bodies, terms=terms), bodies


def _lift(u_a: Any) -> Any:
    return u_a[2]


def _rise(v_a: Any) -> Any:
    return v_a[2]


def beads(count: int) -> tuple[sa.System, sa.Body]:
    """Return a line of nodes on supports, each with a spring, a force and a controller.

    The controller brings the displacement along z of the node at (k, 0, 1) to 1e-3.
    """
    mesh = sa.Mesh.box((float(count - 1), 1.0, 1.0), (count - 1, 1, 1))
    given = {"mu": 1.0, "lam": 1.0, "rho": 1.0}
    line = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    terms: list[Any] = []
    for k in range(count):
        at = [line.at((float(k), y, z)) for y in (0.0, 1.0) for z in (0.0, 1.0)]
        terms += [sa.fix(at[0]), sa.fix(at[1], ["x", "y"]), sa.fix(at[2]), sa.fix(at[3])]
        terms += [
            sa.Potential(lambda u_a, *, c: c * u_a[2] ** 2 / 2, at[1], c=1e3),
            sa.force(at[1], (0.0, 0.0, 2.0)),
            sa.PID(_lift, _rise, at[1], kp=500.0, ki=90.0, target=1e-3),
        ]
    return sa.System(line, terms=terms), line
