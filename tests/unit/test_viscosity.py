# SPDX-License-Identifier: BSD-3-Clause
"""Viscous stresses: power in homogeneous states, rigid motions, tangents by state and rate."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from symancf_codegen.compiler import cell_source
from tests.motion import force, moving, power, tangent_error
from tests.refusals import refused

pytestmark = pytest.mark.collective

HEX8, PLATE = sa.elements.hex8_plain, sa.elements.ancf_plate
THIN, CABLE = sa.elements.ancf_thin_plate, sa.elements.ancf_cable
ROD, ENHANCED, FBAR = sa.elements.ancf_rod, sa.elements.hex8, sa.elements.hex8_fbar
SOLIDS = HEX8, ENHANCED, FBAR
ETA, BULK, H = 2.0, 0.7, 0.1
F = np.array([[1.1, 0.2, -0.1], [0.05, 0.9, 0.3], [0.1, -0.2, 1.2]])
RATE = np.array([[0.3, -0.5, 0.2], [0.1, 0.4, 0.6], [-0.7, 0.2, 0.5]])


def rolled(X: Any) -> Any:
    return np.stack([np.sin(X[:, 0]), X[:, 1], 1.0 - np.cos(X[:, 0]) + X[:, 2]], axis=1)


def body(element: Any, warp: Any = None, cells: int = 2, **options: Any) -> sa.Body:
    if element is ROD:
        line = sa.Mesh.box((1.2,), (cells,), cell="line3", warp=warp)["body"]
        stiff = {"EA": 2.0, "GA2": 0.5, "GA3": 0.7, "GJ": 0.3, "EI2": 0.2, "EI3": 0.4}
        skew = {"GA23": 0.1, "EI23": 0.05, "y_shear": 0.3, "z_shear": -0.2}
        given = {"A": 0.3, "I2": 0.1, "I3": 0.1, "rho": 1.0}
        return sa.Body(line, ROD, sa.energies.rod(), **(stiff | skew | given | options))
    sizes = {"line": (1.2,), "quad": (1.2, 0.6), "hexahedron": (1.2, 0.6, 0.5)}[element.cell]
    mesh = sa.Mesh.box(sizes, (cells, 2, 1)[: len(sizes)], warp=warp)
    if element is CABLE:
        given = {"EA": 1.0, "EI": 1.0, "A": 0.3, "rho": 1.0}
        return sa.Body(mesh["body"], CABLE, cable(**options), **given)
    energy = kirchhoff() if element is THIN else saint_venant_kirchhoff()
    section = {} if element in SOLIDS else {"thickness": options.get("thickness", H)}
    return sa.Body(mesh["body"], element, energy, E=1.0, nu=0.3, **section)


def damped(b: sa.Body, **options: Any) -> sa.System:
    given: dict[str, Any] = {"eta_volumetric": BULK}
    if b.element in (CABLE, ROD):
        given = {"I": 0.2} if b.element is CABLE else {}
    return sa.System(b, terms=[sa.KelvinVoigt(b, eta=ETA, **(given | options))])


def affine(system: sa.System, gradient: Any, rate: Any) -> None:
    """Give a system the homogeneous motion with this gradient and its rate."""
    moving(system)
    q = system.reference.reshape(-1, 3)
    system.state[:] = (q @ (gradient - np.eye(3)).T).ravel()
    system.rate[:] = (q @ rate.T).ravel()


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("thickness", [H, sa.Field(lambda X: np.full(len(X), H))])
@pytest.mark.parametrize("element", [*SOLIDS, PLATE])
def test_power_of_a_solid_in_homogeneous_strain(element: Any, thickness: Any) -> None:
    system = damped(body(element, thickness=thickness))
    affine(system, F, RATE)
    E = 0.5 * (F.T @ RATE + RATE.T @ F)
    deviator = E - np.trace(E) / 3 * np.eye(3)
    density = 2 * ETA * np.sum(deviator**2) + BULK * np.trace(E) ** 2
    volume = 1.2 * 0.6 * (0.5 if element in SOLIDS else H)
    assert power(system) == pytest.approx(-density * volume, rel=1e-12)


def plane_stress(E: Any) -> float:
    """Power density of a sheet: the rate across it is that without stress there."""
    lame = BULK - 2 * ETA / 3
    across = -lame * np.trace(E) / (2 * ETA + lame)
    S = 2 * ETA * E + lame * (np.trace(E) + across) * np.eye(2)
    return float(np.sum(S * E))


@pytest.mark.collective(rows=0)
def test_power_of_a_thin_plate_in_its_plane_and_in_bending() -> None:
    system = damped(body(THIN))
    inside = np.diag([1, 1, 0.0])
    affine(system, inside @ F @ inside + np.diag([0, 0, 1.0]), inside @ RATE @ inside)
    f, rate = F[:2, :2], RATE[:2, :2]
    expected = H * 1.2 * 0.6 * plane_stress(0.5 * (f.T @ rate + rate.T @ f))
    assert power(system) == pytest.approx(-expected, rel=1e-12)
    # flat, at the rates v_z = x^2/2 + 0.3 x y of the curvatures (1, 0.3; 0.3, 0)
    system.state.fill(0.0)
    system.rate.fill(0.0)
    numbering = system._discrete.numbering
    b = system._discrete.binding(system.bodies[0]).interpolation
    position = numbering.offset[:, b.position_block]
    x, y = system._discrete.points[:, 0], system._discrete.points[:, 1]
    system.rate[position + 2] = x**2 / 2 + 0.3 * x * y
    slope = numbering.offset[:, b.slope_block]
    dx, dy = x + 0.3 * y, 0.3 * x
    basis = b.basis[np.arange(len(x))]  # (vertices, 2, 3)
    for k in range(2):
        system.rate[slope + 3 * k + 2] = basis[:, k, 0] * dx + basis[:, k, 1] * dy
    expected = H**3 / 12 * 1.2 * 0.6 * plane_stress(np.array([[1.0, 0.3], [0.3, 0.0]]))
    assert power(system) == pytest.approx(-expected, rel=1e-10)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("options", [{}, {"curvature": "plane"}])
def test_power_of_a_cable(options: Any) -> None:
    """A cable that is rolled up and stretched at the rates of curvature 0.8 and strain 0.3."""
    b = body(CABLE, cells=16, **options)
    system = damped(b)
    moving(system)
    s, kappa, h = system._discrete.points[:, 0], 0.7, 1e-6

    def rolled_up(t: float) -> Any:
        k, stretch = kappa + 0.8 * t, 1.0 + 0.3 * t
        radius = stretch / k
        place = [radius * np.sin(k * s), radius * (1 - np.cos(k * s)), 0 * s]
        slope = [stretch * np.cos(k * s), stretch * np.sin(k * s), 0 * s]
        q = np.zeros_like(system.state)
        on = system._discrete.binding(b).interpolation
        for block, value in ((on.position_block, place), (on.slope_block, slope)):
            at = system._discrete.numbering.offset[:, block][:, None] + np.arange(3)
            q[at] = np.stack(value, axis=1)
        return q

    system.state[:] = rolled_up(0.0) - system.reference
    system.rate[:] = (rolled_up(h) - rolled_up(-h)) / (2 * h)
    expected = ETA * 1.2 * (0.3 * 0.3**2 + 0.2 * 0.8**2)
    assert power(system) == pytest.approx(-expected, rel=1e-4)


@pytest.mark.collective(rows=0)
def test_power_of_a_rod_is_its_energy_of_the_rates() -> None:
    """At rest: 2 eta A/EA times the energy of strains that are the rates, without the section's."""
    b = body(ROD, rigidity=1e-12)  # sections that nothing holds
    system = damped(b)
    size = 1e-5  # of displacements, so that strains are linear in them
    system.state[:] = size * system._discrete.numbering.random(2)
    stored = system.strain_energy() / size**2
    moving(system, 0.0)
    assert stored > 0.1
    assert power(system) == pytest.approx(-2 * ETA * 0.3 / 2.0 * stored, rel=1e-4)


@pytest.mark.collective(rows=0)
def test_the_section_of_a_cable_is_that_of_its_body() -> None:
    """I = A EI/EA, also where EI becomes another one."""
    EI, mesh = sa.Parameter("EI", 1.0), sa.Mesh.box((1.2,), (2,))
    given = {"EA": 2.0, "EI": EI, "A": 0.3, "rho": 1.0}
    b = sa.Body(mesh["body"], CABLE, cable(curvature="plane"), **given)
    system = sa.System(b, terms=[sa.KelvinVoigt(b, eta=ETA)])
    for EI.value, I in ((1.0, 0.15), (3.0, 0.45)):
        known = damped(b, I=I)
        for each in (system, known):
            moving(each, 0.2)
        assert power(system) == pytest.approx(power(known), rel=1e-12)


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("warp", [None, rolled])
@pytest.mark.parametrize("element", [HEX8, ENHANCED, PLATE, THIN, CABLE, ROD])
def test_rigid_rates_cost_nothing_and_the_tangent_is_right(element: Any, warp: Any) -> None:
    system = damped(body(element, warp))
    moving(system, 0.2)
    assert power(system) < -1e-2
    assert tangent_error(system, 3.0) < 1e-7
    q = (system.reference + system.state).reshape(-1, 3)
    system.rate[:] = np.cross([0.3, -0.5, 1.2], q).ravel()
    position = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")]
    system.rate[position[:, None] + np.arange(3)] += [1.0, -2.0, 0.5]
    assert abs(power(system)) < 1e-14
    assert np.abs(force(system)).max() < 1e-13


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("element", [HEX8, ENHANCED, PLATE, THIN, CABLE, ROD])
def test_forces_do_not_depend_on_the_step_of_the_integrator(element: Any) -> None:
    """Kernels form rates as c u + (v - c u): c is 2/h or so, and only round-off may tell."""
    system = damped(body(element))
    moving(system, 0.2)
    known = force(system)
    assert np.abs(known).max() > 1e-2
    for c in (0.0, 30.0, 1e5):
        system._discrete.assembler.follow(system.rate, np.full_like(system.rate, c))
        error = np.abs(force(system) - known).max() / np.abs(known).max()
        assert error < 1e-13 + 1e-14 * c


@pytest.mark.collective(rows=0)
def test_a_law_of_the_user() -> None:
    """A fluid whose stress follows the rate of the volume alone."""
    b = body(HEX8)

    def bulk(J: Any, J_rate: Any, *, c: Any) -> dict[str, Any]:
        return {"J": c * J_rate / J}

    system = sa.System(b, terms=[sa.Viscosity(b, bulk, c=lambda t: 10.0 * t)])
    affine(system, F, RATE)
    J_rate = np.linalg.det(F) * np.trace(RATE @ np.linalg.inv(F))
    expected = 4.0 * J_rate**2 / np.linalg.det(F) * 1.2 * 0.6 * 0.5
    assert power(system) == pytest.approx(-expected, rel=1e-12)
    assert tangent_error(system, 2.0) < 1e-9


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("make", "kind", "data"),
    [
        (
            lambda: sa.KelvinVoigt(body(CABLE), eta=1.0, A=0.3),
            sa.ParameterError,
            {"asked": "I", "possible": lambda found: "I" in found},
        ),
        (
            lambda: sa.KelvinVoigt(body(ROD), eta=1.0, eta_volumetric=1.0),
            sa.ParameterError,
            {"asked": "eta_volumetric"},
        ),
        (
            lambda: sa.KelvinVoigt(body(HEX8), eta=1.0, I=1.0),
            sa.ParameterError,
            {"asked": "I", "possible": ("eta", "eta_volumetric")},
        ),
        (lambda: sa.KelvinVoigt(body(HEX8), eta=-1.0), sa.ParameterError, {"asked": "eta"}),
        (lambda: sa.KelvinVoigt(sa.RigidBody(), eta=1.0), sa.ParameterError, {"asked": "body"}),
        (
            lambda: sa.Viscosity(body(HEX8), lambda kappa_rate: {"kappa": kappa_rate}),
            sa.KinematicsError,
            {"asked": "kappa_rate", "possible": lambda found: found[:2] == ("F", "F_rate")},
        ),
        (
            lambda: sa.Viscosity(body(HEX8), lambda J_rate: {"I1": J_rate}),
            sa.KinematicsError,
            {"asked": "stress", "given": ("I1",), "possible": ("J",)},
        ),
    ],
)
def test_what_cannot_be(make: Any, kind: type[sa.SymancfError], data: dict[str, Any]) -> None:
    with refused(kind, **data):
        make()


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("element", [CABLE, ROD])
def test_a_cantilever_rings_down_at_the_rate_of_its_viscosity(element: Any) -> None:
    """The first mode decays by the ratio zeta = w eta I/(2 EI); the audit finds all of it."""
    given = {"EA": 1e4, "A": 1.0, "rho": 1.0}
    section: dict[str, Any] = {"I": 0.02}
    if element is CABLE:
        mesh, eta, energy = sa.Mesh.box((1.0,), (4,)), 1.0, cable(curvature="plane")
        b = sa.Body(mesh["body"], CABLE, energy, EI=1.0, **given)
    else:
        mesh, eta, section = sa.Mesh.box((1.0,), (4,), cell="line3"), 0.02 * 1e4, {}
        stiff = {"GA2": 1e4, "GA3": 1e4, "GJ": 1.0, "EI2": 1.0, "EI3": 1.0, "I2": 1e-4, "I3": 1e-4}
        b = sa.Body(mesh["body"], ROD, sa.energies.rod(), **given, **stiff)
    push = sa.Parameter("push", 0.06)
    held = [sa.fix(b["x0"])] + ([sa.planar(b, "z")] if element is CABLE else [])
    terms = [*held, sa.force(b["x1"], (0.0, push, 0.0)), sa.KelvinVoigt(b, eta=eta, **section)]
    system = sa.System(b, terms=terms)
    sa.StaticProblem(system).solve()
    start = system.displacement(b["x1"])[0, 1]
    assert start == pytest.approx(0.06 / 3.0, rel=1e-3)
    stored = system.strain_energy()
    push.value = 0.0
    problem = sa.DynamicProblem(system, spectral_radius=0.95)
    problem.record("tip", lambda: system.displacement(b["x1"])[0, 1])
    w = 1.8751041**2
    zeta = w * 0.02 / 2.0
    period = 2 * np.pi / (w * np.sqrt(1.0 - zeta**2))
    began = system.time  # of the static solution
    history = problem.solve(to=began + 3.3 * period, step=period / 150)
    tip, t = history["tip"], history.time - began
    peaks = [tip[np.abs(t - k * period) < 0.2 * period].max() for k in (1, 2, 3)]
    decay = np.exp(-zeta * w * period)
    assert 0.7 < decay < 0.85
    near = 1e-3 if element is CABLE else 2e-3  # shear and rotary inertia
    np.testing.assert_allclose([peaks[1] / peaks[0], peaks[2] / peaks[1]], decay, rtol=near)
    energies = problem.energies
    assert energies.dissipated == pytest.approx(stored - energies.total, rel=1e-2)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(("layers", "excess"), [(1, 1.539), (2, 1.136)])
def test_bending_of_hex8_is_damped_as_its_page_says(layers: int, excess: float) -> None:
    """The ratio of damping to tau w/2, which hex20 has to all digits."""
    E, nu, tau = 1e6, 0.3, 1e-3
    G, K = E / 2 / (1 + nu), E / 3 / (1 - 2 * nu)
    mesh = sa.Mesh.box((10.0, 1.0, 1.0), (10 * layers, layers, layers))
    b = sa.Body(mesh["body"], ENHANCED, saint_venant_kirchhoff(), E=E, nu=nu, rho=1e3)
    viscous = sa.KelvinVoigt(b, eta=tau * G, eta_volumetric=tau * K)
    modes = sa.EigenProblem(sa.System(b, terms=[sa.fix(b["x0"]), viscous])).solve(2, damped=True)
    w = abs(modes.eigenvalues[0])
    assert modes.damping_ratios[0] / (tau * w / 2) == pytest.approx(excess, rel=2e-3)


@pytest.mark.collective(rows=0)
def test_a_rod_that_turns_is_damped_over_many_calls_of_solve() -> None:
    """A soft rod falls under its weight, solved tick by tick as in a loop of control."""
    given = sa.Section.circle(6e-3).rod(E=1e6, nu=0.49, rho=1070.0)

    def falling(eta: float, ticks: int) -> tuple[float, Any]:
        mesh = sa.Mesh.box((0.2,), (4,), cell="line3")
        b = sa.Body(mesh["body"], ROD, sa.energies.rod(), **given)
        terms = [sa.fix(b["x0"]), sa.gravity((0.0, 0.0, -9.81))]
        system = sa.System(b, terms=[*terms, sa.KelvinVoigt(b, eta=eta)])
        problem = sa.DynamicProblem(system, spectral_radius=0.7)
        for k in range(1, ticks + 1):
            problem.solve(to=0.3 * k / ticks, step=2.5e-3)
        return float(system.position(b["x1"])[0, 2]), problem.energies

    (once, whole), (often, parts) = falling(2e4, 1), falling(2e4, 30)
    assert once == pytest.approx(often, abs=2e-5)
    assert -0.18 < once < -0.12  # it has turned by more than a radian
    for energies in (whole, parts):
        assert energies.dissipated > 1e-3
        assert abs(energies.drift) < 1e-3 * energies.dissipated * 10
        assert energies.total + energies.dissipated == pytest.approx(0.0, abs=2e-5)


@pytest.mark.collective(rows=0)
def test_stiffness_damping_of_rods_is_refused_in_motions() -> None:
    """K has the penalties of sections: a rod that spins freely diverged with it."""
    b = body(ROD, name="arm")
    problem = sa.DynamicProblem(sa.System(b), damping=sa.Rayleigh(stiffness=1e-3))
    with refused(sa.ParameterError, asked="stiffness", possible=("sa.KelvinVoigt",)):
        problem.solve(to=0.1, step=0.1)
    sa.DynamicProblem(sa.System(b), damping=sa.Rayleigh(mass=0.1)).solve(to=1e-3, step=1e-3)


@pytest.mark.collective(rows=0)
def test_the_law_of_a_thin_plate_is_derived_within_seconds() -> None:
    """It took a minute of CPU time, in a stage that has nothing to do for rates."""
    mesh = sa.Mesh.box((1.0, 1.0), (1, 1))
    given = {"E": 1.0, "nu": 0.3, "thickness": 0.1}
    element = sa.elements.ancf_thin_plate
    body = sa.Body(mesh["body"], element, sa.energies.kirchhoff(), **given)
    law = sa.KelvinVoigt(body, eta=1.0)._law(curved=False)
    start = time.process_time()
    description, _ = cell_source("viscous", element.space, [law])
    assert time.process_time() - start < 10.0
    assert description.operations["viscous_thin_plate"]["residual"]["mul"] < 400
