# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that vary within an element: sections that taper, rubber of varying stiffness."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.errors import ParameterError
from tests.refusals import refused

L, RHO = 1.2, 7.0
A0, A1 = 0.3, 0.1


def line(n: int) -> sa.Mesh:
    """Return n equal cells on the x axis."""
    X = np.zeros((n + 1, 3))
    X[:, 0] = np.linspace(0.0, L, n + 1)
    cells = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    return sa.Mesh.from_arrays(X, {"line": cells}, comm=MPI.COMM_SELF)


def area(X):
    """Return an area that is linear in x."""
    return A0 + (A1 - A0) * X[:, 0] / L


def matrix(product, system: sa.System, index) -> np.ndarray:
    """Return the rows and columns `index` of a linear map of local vectors."""
    f, columns = np.zeros_like(system.state), []
    for k in index:
        v = np.zeros_like(system.state)
        v[k] = 1.0
        product(v, f)
        columns.append(f[index].copy())
    return np.array(columns).T


def test_mass_of_a_linear_taper_is_exact() -> None:
    """Against the integrals of Hermite's polynomials in closed form."""
    A = sa.Field(area, per="point")
    body = sa.Body(
        line(1)["all"], sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0, rho=RHO, A=A
    )
    system = sa.System(body)
    at = system._discrete.numbering.offset[
        np.argsort(system._discrete.points[:, 0])
    ].ravel()  # r1, r1', r2, r2'
    expected = np.array(
        [
            [2 / 7 * A0 + 3 / 35 * A1, L * (15 * A0 + 7 * A1) / 420, 9 / 140 * (A0 + A1), 0.0],
            [0.0, L**2 * (A0 / 168 + A1 / 280), L * (6 * A0 + 7 * A1) / 420, 0.0],
            [0.0, 0.0, 3 / 35 * A0 + 2 / 7 * A1, 0.0],
            [
                -L * (7 * A0 + 6 * A1) / 420,
                -(L**2) * (A0 + A1) / 280,
                -L * (7 * A0 + 15 * A1) / 420,
                L**2 * (A0 / 280 + A1 / 168),
            ],
        ]
    )
    lower = np.triu(expected, 1).T + np.tril(expected)
    expected = np.tril(lower) + np.tril(lower, -1).T
    found = matrix(system._discrete.inertia.residual, system, at) / (RHO * L)
    assert np.abs(found - expected).max() < 1e-16 + 1e-14 * np.abs(expected).max()
    per_cell = sa.Body(
        line(1)["all"],
        sa.elements.ancf_cable,
        sa.energies.cable(),
        EA=1.0,
        EI=1.0,
        rho=RHO,
        A=sa.Field(area),
    )
    other = sa.System(per_cell)
    assert (
        np.abs(matrix(other._discrete.inertia.residual, other, at) / (RHO * L) - expected).max()
        > 1e-3
    )


def test_energy_of_a_taper_is_that_of_a_law_with_the_place() -> None:
    """A field at points is the same as an energy that asks for X; the rule is the same."""

    def placed(epsilon, kappa, X, *, E, h):
        section = A0 + (A1 - A0) * X[0] / L
        return E * section * (epsilon**2 + h**2 / 12 * kappa**2) / 2

    E, h = 5.0, 0.4
    EA = sa.Field(lambda X: E * area(X), per="point")
    EI = sa.Field(lambda X: E * area(X) * h**2 / 12, per="point")
    mesh = line(3)
    bodies = [
        sa.Body(mesh["all"], sa.elements.ancf_cable, sa.energies.cable(), EA=EA, EI=EI),
        sa.Body(mesh["all"], sa.elements.ancf_cable, placed, E=E, h=h),
    ]
    energies, forces = [], []
    for body in bodies:
        system = sa.System(body)
        system.state[:] = 0.1 * np.random.default_rng(0).standard_normal(len(system.state))
        system._discrete.assembler.update(0.0)
        values, bad = system._discrete.assembler.energies(system.state)
        assert bad == 0
        f = np.zeros_like(system.state)
        system._discrete.assembler.residual(system.state, f)
        energies.append(values[0])
        forces.append(f)
    assert energies[0] == pytest.approx(energies[1], rel=1e-13)
    assert np.abs(forces[0] - forces[1]).max() < 1e-12 * np.abs(forces[0]).max()


def test_two_rules_have_their_own_points() -> None:
    """A plate whose stiffness varies: the parts of the energy have rules of their own."""
    mesh = sa.Mesh.box((0.3, 0.2), (2, 2), comm=MPI.COMM_SELF)

    def stiffness(X):
        return 1e5 * (1.0 + X[:, 0] + 2.0 * X[:, 1] ** 2)

    def two(J, I1, *, mu, k):
        return {"deviatoric": mu / 2 * (I1 - 3), "volumetric": mu * k / 2 * (J - 1) ** 2}

    def placed(J, I1, X, *, k):
        mu = 1e5 * (1 + X[0] + 2 * X[1] ** 2)
        return {"deviatoric": mu / 2 * (I1 - 3), "volumetric": mu * k / 2 * (J - 1) ** 2}

    common = {"k": 10.0, "thickness": 0.05, "volumetric": "reduced"}
    plates = [
        sa.Body(
            mesh["all"],
            sa.elements.ancf_plate,
            two,
            mu=sa.Field(stiffness, per="point"),
            **common,
        ),
        sa.Body(mesh["all"], sa.elements.ancf_plate, placed, **common),
    ]
    forces = []
    for body in plates:
        system = sa.System(body)
        system.state[:] = 0.01 * np.random.default_rng(1).standard_normal(len(system.state))
        system._discrete.assembler.update(0.0)
        f = np.zeros_like(system.state)
        assert system._discrete.assembler.residual(system.state, f) == 0
        forces.append(f)
    kernel = plates[0].kernel("residual")
    assert "mu at (" in kernel.source
    # `placed` takes X at the height z, where X and Y are those of the flat mid-surface
    assert np.abs(forces[0] - forces[1]).max() < 1e-12 * np.abs(forces[0]).max()


def test_a_field_is_at_cells_or_points() -> None:
    with refused(ParameterError, asked="per", given="nodes", possible=("cell", "point")):
        sa.Field(area, per="nodes")
