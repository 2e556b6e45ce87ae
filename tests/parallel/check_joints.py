# SPDX-License-Identifier: BSD-3-Clause
"""Solve mechanisms on this number of ranks; print places and reactions as JSON."""

from __future__ import annotations

import json

import numpy as np

import symancf as sa
from symancf.energies import cable, kirchhoff
from symancf.output.sampling import sample

G = (0.0, 0.0, -9.81)


def spanning(system, joints):
    """Number of joints that need vertices of another rank."""
    owned = system._discrete.numbering.owned_vertices
    entities = [system._discrete.binding(j).entities for j in joints]
    found = [int((e.local[e.owned] >= owned).any()) for e in entities]
    return int(sum(system.comm.allreduce(f) for f in found))


def flexible():
    """Two plates with a head between them, a rope and a crate."""
    left = sa.Body(
        sa.Mesh.box((1.0, 0.4), (6, 3))["body"],
        sa.elements.ancf_thin_plate,
        kirchhoff(),
        name="left",
        thickness=0.02,
        E=2e7,
        nu=0.3,
        rho=1000.0,
    )
    rope = sa.Body(
        sa.Mesh.box((0.5,), (5,), warp=lambda X: X + np.array([1.2, 0.2, 0.0]))["body"],
        sa.elements.ancf_cable,
        cable(),
        name="rope",
        EA=1e4,
        EI=2.0,
        rho=1000.0,
        A=1e-3,
    )
    head = sa.RigidBody.box((0.2, 0.4, 0.1), position=(1.1, 0.2, 0.0), rho=300.0, name="head")
    crate = sa.RigidBody.box((0.1, 0.1, 0.1), position=(1.75, 0.2, 0.0), rho=300.0, name="crate")
    joints = [
        sa.joints.clamp(left["x1"], head),
        sa.joints.clamp(rope.at((1.2, 0.2, 0.0)), head),
        sa.joints.clamp(rope.at((1.7, 0.2, 0.0)), crate),
    ]
    return left, rope, head, crate, joints


def not_twisted(e2_a, e3_b):
    """Stop the rotation of one body about the first axis of another."""
    return e2_a.dot(e3_b)


def statics():
    left, rope, head, crate, joints = flexible()
    joints.append(sa.Constraint(not_twisted, crate.centre, head.centre))  # a rope has no torsion
    push = sa.force(crate.at((0.0, 0.0, 0.05)), (0.0, 5.0, 0.0))
    terms = [sa.fix(left["x0"]), *joints, sa.gravity(G), push]
    system = sa.System(left, rope, head, crate, terms=terms)
    sa.StaticProblem(system, options={"snes_rtol": 1e-11}).solve(step=0.25)
    rows = [head.position(system), crate.position(system), *head.rotation(system)]
    rows += list(system.position(left["x1"]))
    for joint in joints:
        for end in "ab":
            reaction = joint.reaction(system, end)
            rows += [reaction.force, reaction.moment_about((0.0, 0.0, 0.0))]
    rows += list(joints[0].reaction(system).forces)
    return rows, spanning(system, joints)


def dynamics():
    left, rope, head, crate, joints = flexible()
    joints[2:] = [sa.joints.spherical(crate.at((-0.05, 0.0, 0.0)), rope.at((1.7, 0.2, 0.0)))]
    terms = [sa.fix(left["x0"]), *joints, sa.gravity(G)]
    system = sa.System(left, rope, head, crate, terms=terms)
    problem = sa.DynamicProblem(system, spectral_radius=0.8)
    problem.solve(to=0.1, step=2e-3)
    rows = [head.position(system), crate.position(system), *crate.rotation(system)]
    rows += [*head.rotation(system), crate.angular_velocity(system)]
    rows += [joint.reaction(system).force for joint in joints]
    return rows, spanning(system, joints)


def rigid():
    """Bodies without meshes: a double pendulum in space on two kinds of hinge."""
    bodies = [
        sa.RigidBody.box(
            (0.4, 0.1, 0.1), position=(0.2 + 0.4 * k, 0.0, 0.0), rho=500.0, name=f"link {k}"
        )
        for k in range(3)
    ]
    joints = [sa.joints.universal(bodies[0].at((-0.2, 0, 0)), axes=((0, 1, 0), (0, 0, 1)))]
    for k in (1, 2):
        ends = bodies[k].at((-0.2, 0, 0)), bodies[k - 1].at((0.2, 0, 0))
        joints.append(sa.joints.revolute(*ends, axis=(0, k - 1, 2 - k), name=f"hinge {k}"))
    system = sa.System(*bodies, terms=[*joints, sa.gravity((1.0, 2.0, -9.81))])
    sa.DynamicProblem(system, spectral_radius=0.8).solve(to=0.2, step=2e-3)
    rows = [row for body in bodies for row in (body.position(system), *body.rotation(system))]
    rows += [joint.reaction(system).force for joint in joints]
    drawn = system.comm.allreduce(sum(sample(system, body).n_cells for body in bodies))
    rows.append([drawn, 0.0, 0.0])
    return rows, spanning(system, joints)


if __name__ == "__main__":
    results = {}
    for name, solve in (("statics", statics), ("dynamics", dynamics), ("rigid", rigid)):
        rows, across = solve()
        results[name] = {"rows": np.array(rows).tolist(), "spanning": across}
    from mpi4py import MPI

    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(results))
