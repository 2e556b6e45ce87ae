# SPDX-License-Identifier: BSD-3-Clause
"""`System.tangent`, `mass` and `damping` with their rows by name, against products of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from mpi4py import MPI

import symancf as sa
from tests.refusals import refused

Array = npt.NDArray[np.float64]


def dashpot(v_a: Any, *, c: Any) -> Any:
    return {v_a: -c * v_a}


def robot() -> tuple[sa.System, sa.Body, sa.RigidBody]:
    """A cable with a clamped head, a joint, a damper and a viscosity."""
    energy = sa.energies.cable(curvature="plane")
    given = {"EA": 1e4, "EI": 1.0, "rho": 2.0, "A": 0.1}
    arm = sa.Body(
        sa.Mesh.box((1.0,), (4,))["body"], sa.elements.ancf_cable, energy, name="arm", **given
    )
    head = sa.RigidBody.box((0.1, 0.1, 0.1), position=(1.05, 0, 0), rho=1e3, name="head")
    terms = [
        sa.planar(arm),
        sa.fix(arm["x0"], "position"),
        sa.joints.clamp(arm["x1"], head, name="wrist"),
        sa.gravity((0, -9.81, 0)),
        sa.KelvinVoigt(arm, eta=0.3, I=1e-2),
        sa.VirtualWork(dashpot, head.at((0, 0, 0)), c=5.0, dissipation=True, name="drag"),
    ]
    return sa.System(arm, head, terms=terms), arm, head


def product(system: sa.System, v: Array) -> Array:
    """Return the tangent's product with values of this rank's unknowns, by the kernels."""
    f: Array = np.zeros_like(system.state)
    system._discrete.assembler.product(system.state, system.unknowns.local(v), f)
    return system.unknowns.from_rows(system._discrete.numbering.to_rows(f))


@pytest.mark.collective
def test_matrices_are_what_kernels_multiply_by() -> None:
    system, _, _ = robot()
    u = system.unknowns
    assert MPI.COMM_WORLD.allreduce(u.rows) == u.size
    system.state[system._discrete.numbering.free] = (
        1e-3 * system._discrete.numbering.random(1)[system._discrete.numbering.free]
    )
    x = u.from_local(system._discrete.numbering.random(2))
    given = u.new()
    given.setArray(x)
    answer = given.duplicate()

    def times(matrix: Any) -> Array:
        matrix.mult(given, answer)
        matrix.destroy()
        return np.array(answer.getArray(readonly=True))

    for stiffness in (1.0, 1e4):  # multipliers are forces whatever the state counts them in
        system._discrete.stiffness = stiffness
        system._discrete.update(0.0)
        np.testing.assert_allclose(
            times(system.matrices.tangent()), product(system, x), rtol=1e-9, atol=1e-9
        )
    f: Array = np.zeros_like(system.state)
    system._discrete.inertia.residual(u.local(x), f)
    np.testing.assert_allclose(
        times(system.matrices.mass()),
        u.from_rows(system._discrete.numbering.to_rows(f)),
        atol=1e-12,
    )
    # the derivative by rates: forces are linear in them here
    damped = times(system.matrices.damping())
    rates = [
        np.where(system._discrete.numbering.those("position", "direction"), sign * u.local(x), 0.0)
        for sign in (1.0, -1.0)
    ]
    forces = []
    for rate in rates:
        with system._discrete.assembler.following(rate, None):
            system._discrete.assembler.residual(system.state, f)
        forces.append(u.from_rows(system._discrete.numbering.to_rows(f)))
    np.testing.assert_allclose(damped, (forces[0] - forces[1]) / 2, rtol=1e-7, atol=1e-7)
    plain = times(system.matrices.damping(mass=0.5)) - damped
    np.testing.assert_allclose(plain, 0.5 * times(system.matrices.mass()), atol=1e-8)
    assert system._discrete.assembler.groups
    assert system._discrete.motion is None
    z = u.find("head", "z")
    assert all(
        name.startswith("head, z at (1.05, 0, 0)") for name in np.array(u.names)[z - u.first]
    )
    bound = u.find("wrist")
    C = system.matrices.damping(scipy=True)
    assert abs(C[bound - u.first]).sum() == 0.0
    with refused(
        sa.ParameterError, asked="what", given="w", possible=lambda found: "second point.x" in found
    ):
        u.find("head", "w")
    with refused(
        sa.ParameterError,
        asked="name",
        given="leg",
        possible=lambda found: found[:2] == ("arm", "head"),
    ):
        u.find("leg")


@pytest.mark.collective
def test_supports_are_eliminated_where_multigrid_keeps_their_rows() -> None:
    """Vertices with some coordinates held have rows for all in solvers, and not here."""
    cube = sa.Body(
        sa.Mesh.box((1, 1, 1), (2, 2, 2))["body"],
        sa.elements.hex8_plain,
        sa.energies.neo_hooke(),
        name="cube",
        mu=1.0,
        lam=1.0,
        rho=1.0,
    )
    system = sa.System(cube, terms=[sa.fix(cube["z0"], "z"), sa.fix(cube["x0"], ["x", "y"])])
    numbering = system._discrete.numbering
    assert numbering.comm.allreduce(len(numbering.prescribed_rows)) > 0
    u = system.unknowns
    assert u.size == 3 * 27 - 9 - 2 * 9
    K, M = system.matrices.tangent(scipy=True), system.matrices.mass(scipy=True)
    assert K.shape == (u.rows, u.size)
    z = u.find("cube", "z")
    mine = np.zeros(u.size)
    mine[z] = 1.0
    up = MPI.COMM_WORLD.allreduce(mine)
    # v = 2 z up to the middle, and 1 above
    assert MPI.COMM_WORLD.allreduce(float(mine[u.first : u.first + u.rows] @ (M @ up))) == (
        pytest.approx(2 / 3, rel=1e-12)
    )


def test_asking_for_matrices_does_not_change_a_motion() -> None:
    ends = []
    for asked in (False, True):
        system, _, head = robot()
        problem = sa.DynamicProblem(system, spectral_radius=0.8)
        if asked:
            problem.monitor(
                lambda _, s=system: (s.matrices.tangent(), s.matrices.mass(), s.matrices.damping())
            )
        problem.solve(to=0.1, step=0.01)
        ends.append(head.position(system))
    np.testing.assert_allclose(*ends, rtol=1e-11)


@pytest.mark.collective
def test_points_outside_the_domain_are_told() -> None:
    cube = sa.Body(
        sa.Mesh.box((1, 1, 1), (1, 1, 1))["body"],
        sa.elements.hex8_plain,
        sa.energies.neo_hooke(),
        mu=1.0,
        lam=1.0,
        rho=1.0,
    )
    system = sa.System(cube)
    system.state[:] = -2.0 * system.reference
    with refused(sa.SymancfError, asked="domain", given=0.0):
        system.matrices.tangent()
