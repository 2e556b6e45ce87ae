# SPDX-License-Identifier: BSD-3-Clause
"""Fields that drive bodies: free strains, magnetic and electric fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf import energies
from tests.quantities import rotation
from tests.refusals import refused
from tests.remembering import require_ranks_and_restarts

TIGHT = {"snes_rtol": 1e-13}
LAWS = {
    "neo_hooke": (energies.neo_hooke(), {"mu": 1.0, "lam": 2.0}),
    "mooney_rivlin": (energies.mooney_rivlin(), {"C10": 1.0, "C01": 0.3, "k": 20.0}),
    "saint_venant_kirchhoff": (energies.saint_venant_kirchhoff(), {"E": 1.0, "nu": 0.3}),
}
GROWN = sp.Matrix([[1.2, 0.1, 0.0], [0.0, 0.9, 0.05], [0.02, 0.0, 1.1]])


def of(F: Any) -> dict[str, Any]:
    """Return the quantities of a deformation gradient."""
    C = F.T * F
    J, I1 = F.det(), C.trace()
    E_gl, H = (C - sp.eye(3)) / 2, F - sp.eye(3)
    I2 = (I1**2 - (C * C).trace()) / 2
    return {"J": J, "I1": I1, "I2": I2, "C": C, "F": F, "H": H, "E_gl": E_gl, "t": 1, "X": H[:, 0]}


def energy(law: Any, F: Any, given: dict[str, Any]) -> float:
    """Return the energy of a law, called with numbers."""
    import inspect

    values = of(F)
    asked = inspect.signature(law).parameters.values()
    result = law(*(values[a.name] for a in asked if a.kind != a.KEYWORD_ONLY), **given)
    return float(sum(result.values()) if isinstance(result, dict) else result)


@pytest.mark.parametrize("name", LAWS)
def test_a_law_in_the_elastic_part(name: str) -> None:
    """W = det(F_g) W_0(F F_g^-1), in all forms of F_g; turned bodies have the same."""
    law, given = LAWS[name]
    F = sp.Matrix([[1.1, 0.2, 0.0], [0.0, 0.95, 0.1], [0.1, 0.0, 1.05]])
    three = sp.diag(1.2, 1.0, 0.9)
    for by, G in (
        (lambda *, a: 1 + a, sp.eye(3) * 1.2),
        (lambda t, *, a: (1 + a * t, 1, 0.9), three),
        (lambda *, a: sp.diag(1 + a, 1, 0.9), three),
        (lambda *, a: GROWN + (a - 0.2) * sp.eye(3), GROWN),
    ):
        grown = energies.swollen(law, by)
        right = float(G.det()) * energy(law, F * G.inv(), given)
        assert energy(grown, F, given | {"a": 0.2}) == pytest.approx(right, rel=1e-12)
        assert energy(grown, G, given | {"a": 0.2}) == pytest.approx(0.0, abs=1e-14)
        Q = sp.Matrix(rotation((1.0, 2.0, 3.0), 0.7))
        assert energy(grown, Q * F, given | {"a": 0.2}) == pytest.approx(right, rel=1e-12)
    plain = energies.swollen(law)
    right = 1.2**3 * energy(law, F / 1.2, given)
    assert energy(plain, F, given | {"swelling": 1.2}) == pytest.approx(right, rel=1e-12)


def test_growth_of_place_and_time_in_any_units() -> None:
    """A bar whose end is warm: its length is the integral of the stretch; m and mm, s and ms."""

    def warm(X: Any, t: Any, *, rise: Any, size: Any) -> Any:
        return 1 + rise * t * X[0] / size, 1, 1

    law = energies.swollen(energies.neo_hooke(), warm)
    found = []
    for length, second in ((1.0, 1.0), (1e3, 1e3)):
        size = length * np.array([1.0, 0.2, 0.2])
        mesh = sa.Mesh.box(tuple(size), (6, 1, 1))
        moduli = {"mu": 1e5 / length**2, "lam": 0.0, "rise": 0.1 / second, "size": length}
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, **moduli)
        held = [sa.symmetry(body[f"{axis}0"], axis) for axis in "xyz"]
        system = sa.System(body, terms=held)
        sa.StaticProblem(system, options=TIGHT).solve(to=2 * second, step=second)
        u = system.displacement(body["x1"])
        assert u[:, 0] == pytest.approx(0.1 * length, rel=1e-3)
        found.append(u / length)
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "asked"),
    [
        (lambda: energies.swollen(energies.yeoh(), 3), sa.ParameterError, "function"),
        (lambda: energies.swollen(energies.yeoh(), lambda r, *, a: a), sa.KinematicsError, "r"),
        (lambda: energies.swollen(energies.yeoh(), lambda *, k: k), sa.ParameterError, "k"),
        (lambda: energies.swollen(energies.yeoh(), lambda: "x"), sa.KinematicsError, "<lambda>"),
        (
            lambda: energies.swollen(energies.yeoh(), lambda X: X.T * X * sp.ones(1, 2)),
            sa.KinematicsError,
            None,
        ),
        (
            lambda: energies.swollen(energies.ogden(terms=1), lambda *, a: (a, 1, 1)),
            sa.KinematicsError,
            "lambda1",
        ),
        (lambda: energies.rest_strain(energies.rod(), "kapa2"), sa.KinematicsError, "kapa2"),
        (lambda: energies.rest_strain(energies.rod(), "r"), sa.KinematicsError, "r"),
        (lambda: energies.rest_strain(energies.rod(), ()), sa.KinematicsError, "rest"),
        (lambda: energies.rest_strain(energies.rod(), lambda: 3), sa.KinematicsError, "<lambda>"),
        (
            lambda: energies.rest_strain(energies.yeoh(), "E_gl"),
            sa.KinematicsError,
            "E_gl",
        ),
        (
            lambda: energies.rest_strain(sa.energies.rod(), lambda *, EA: {"epsilon": EA}),
            sa.ParameterError,
            "EA",
        ),
    ],
)
def test_what_is_no_free_strain(make: Any, error: Any, asked: Any) -> None:
    with pytest.raises(error) as told:
        make()
    assert asked in (None, told.value.asked) or asked == "function"


def test_a_solid_has_no_rest_strain() -> None:
    law = energies.rest_strain(energies.saint_venant_kirchhoff(), "E_gl")
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    with refused(sa.KinematicsError, asked="E_gl", given="saint_venant_kirchhoff"):
        sa.Body(mesh["body"], sa.elements.hex8_plain, law, E=1.0, nu=0.3, rest_E_gl=0.1)


def test_a_plate_that_bends_by_itself_is_a_sphere() -> None:
    """Rest curvature and strain alike to all sides, small: no stress, the shape of a sphere."""
    k = sa.Parameter("k", 0.0)
    law = energies.rest_strain(energies.kirchhoff(), ("kappa", "E_gl"))
    mesh = sa.Mesh.box((1.0, 0.5), (4, 2))
    given = {"E": 1e6, "nu": 0.3, "thickness": 0.01, "rest_kappa": k, "rest_E_gl": 1e-7}
    plate = sa.Body(mesh["body"], sa.elements.ancf_thin_plate, law, **given)
    corner, side = plate.at((0.0, 0.0, 0.0)), plate.at((0.0, 0.5, 0.0))
    end = plate.at((1.0, 0.0, 0.0))
    held = [sa.fix(corner, "position"), sa.fix(side, ["x", "z"]), sa.fix(end, "z")]
    system = sa.System(plate, terms=held)
    problem = sa.StaticProblem(system, options=TIGHT)
    for k.value in (1e-6, 2e-6):
        problem.solve()
        middle = system.displacement(plate.at((0.5, 0.0, 0.0)))[0]
        assert middle[2] == pytest.approx(-k.value / 8, rel=1e-4)
        assert middle[0] == pytest.approx(0.5e-7, rel=1e-3)


class Beam:
    """A clamped beam with dipoles in a field that turns and grows until t = 1, of warm rubber."""

    def __init__(
        self, comm: MPI.Comm, turn: Any = None, length: float = 1.0, second: float = 1.0
    ) -> None:
        Q = np.eye(3) if turn is None else turn
        self.turn, self.length, self.second = Q, length, second
        size = length * np.array([1.0, 0.3, 0.3])
        mesh = sa.Mesh.box(tuple(size), (6, 2, 2), warp=lambda X: X @ Q.T, comm=comm)
        self.heat = sa.Parameter("heat", 0.0)
        law = energies.swollen(energies.neo_hooke(), lambda *, heat: 1 + heat)
        given = {"mu": 0.5 / length**2, "lam": 1.0 / length**2, "heat": self.heat}
        self.body = body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, name="beam", **given)

        def field(t: float) -> Any:
            return min(t / second, 1.0) * Q @ np.array([0.0, 2e-3, 4e-3]) / length

        along = Q @ np.array([1.0, 0.2, 0.0]) / length
        pattern = [sa.Field(lambda X, m=m: m * (X @ Q[:, 0] < 0.5 * length)) for m in along]
        self.tip, self.clamp = body.at(Q @ size), sa.fix(body["x0"])
        terms = [self.clamp, sa.magnetic(body, along, field), sa.magnetic(body, pattern, field)]
        terms.append(sa.dielectric(body, 1e-2, Q @ np.array([0.0, 0.0, 1.0]) / length))
        self.system = sa.System(body, terms=terms)
        self.problem = sa.StaticProblem(self.system, options=TIGHT)

    def run(self, to: float) -> None:
        self.heat.value = 0.02 * to
        self.problem.solve(to=to * self.second, step=0.5 * self.second)

    def results(self) -> Any:
        """Return displacement and couple at the clamp in the units and frame of the first."""
        u = self.system.displacement(self.tip)[0] @ self.turn / self.length
        couple = self.clamp.reaction(self.system).moment @ self.turn / self.length
        return np.array([*u, *couple])


def test_fields_know_no_frame_and_no_units() -> None:
    one = Beam(MPI.COMM_SELF)
    turned = Beam(MPI.COMM_SELF, rotation((1.0, 2.0, 3.0), 0.7))
    small = Beam(MPI.COMM_SELF, length=1e3, second=1e3)
    for beam in (one, turned, small):
        beam.run(1.5)
    exact = one.results()
    assert np.abs(exact[:3]).max() > 0.01
    for beam in (turned, small):
        np.testing.assert_allclose(beam.results(), exact, atol=1e-9 * np.abs(exact).max())
    sa.check(one.system)


@pytest.mark.collective
def test_ranks_and_restarts_between_them_change_nothing(shared_tmp_path: Path) -> None:
    require_ranks_and_restarts(Beam, shared_tmp_path, 0.5, 1.0)


def test_the_couple_at_the_clamp_is_that_on_the_dipoles() -> None:
    """A uniform field pulls by no force, and turns by the integral of F M x B, at any strain."""
    mesh = sa.Mesh.box((1.0, 0.3, 0.3), (4, 1, 1))
    body = sa.Body(
        mesh["body"], sa.elements.hex8, energies.neo_hooke(), mu=0.5, lam=1.0, name="beam"
    )
    B, M, clamp = np.array([0.0, 1e-3, 3e-3]), np.array([1.0, 0.5, 0.0]), sa.fix(body["x0"])
    system = sa.System(body, terms=[clamp, sa.magnetic(body, M, B)])
    sa.StaticProblem(system, options=TIGHT).solve()
    sampled = sa.sample(system, body, fields=["F"], at="cell")
    mean = np.mean(sampled.cell_data["F"].reshape(-1, 3, 3), axis=0)
    reaction = clamp.reaction(system)
    assert np.abs(reaction.force).max() < 1e-14
    right = -0.09 * np.cross(mean @ M, B)
    np.testing.assert_allclose(reaction.moment_about((0, 0, 0)), right, rtol=2e-3)


def test_a_field_in_a_motion_is_counted_as_work() -> None:
    """A beam in a field that swings, and one that bends by itself: drifts fall with the square."""
    section = sa.Section.rectangle(0.01, 0.01).rod(E=1e6, nu=0.4, rho=1000.0)
    line = sa.Mesh.box((0.2,), (4,), cell="line3")["body"]
    law = energies.rest_strain(energies.rod(), "kappa2")
    section["rest_kappa2"] = lambda t: 2.0 * np.sin(9.0 * t)
    rod = sa.Body(line, sa.elements.ancf_rod, law, **section)
    swing = sa.magnetic(rod, (3e4, 0, 0), (0, 0, lambda t: 1e-3 * np.sin(20.0 * t)))
    drifts, tips = [], []
    for steps in (40, 80):
        system = sa.System(rod, terms=[sa.fix(rod["x0"]), swing])
        problem = sa.DynamicProblem(system)
        problem.solve(to=0.2, step=0.2 / steps)
        drifts.append(abs(problem.energies.drift))
        tips.append(system.displacement(rod["x1"])[0, 2])
        energy = problem.energies.kinetic + problem.energies.strain
        assert drifts[-1] < 0.02 * energy
    assert drifts[0] / drifts[1] > 3.0
    assert abs(tips[1]) > 1e-3


@pytest.mark.parametrize(
    ("make", "error", "asked"),
    [
        (lambda b: sa.magnetic(sa.RigidBody(), (1, 0, 0), (0, 0, 1)), sa.ParameterError, "body"),
        (lambda b: sa.magnetic(b, (1, 0), (0, 0, 1)), sa.ParameterError, "magnetisation"),
        (lambda b: sa.magnetic(b, (1, 0, 0), "x"), sa.ParameterError, None),
        (lambda b: sa.magnetic(b, (1, 0, 0), (0, 0, "x")), sa.ParameterError, None),
        (lambda b: sa.magnetic(b, (1, 0, 0), (0, 0, 1), A=2.0), sa.ParameterError, "A"),
        (lambda b: sa.dielectric(b, -1.0, (0, 0, 1)), sa.ParameterError, "permittivity"),
        (lambda b: sa.dielectric(b, 1.0, 3.0), sa.ParameterError, None),
        (lambda b: sa.BodyPotential(lambda d1: d1[0], b), sa.KinematicsError, "d1"),
        (lambda b: sa.BodyPotential(lambda u, *, f: f * u[0], b), sa.ParameterError, "f"),
        (lambda b: sa.BodyPotential(3, b), sa.ParameterError, None),
    ],
)
def test_what_is_no_field(make: Any, error: Any, asked: Any) -> None:
    mesh = sa.Mesh.box((1.0, 0.3, 0.3), (1, 1, 1))
    body = sa.Body(mesh["body"], sa.elements.hex8, energies.neo_hooke(), mu=0.5, lam=1.0)
    with pytest.raises(error) as told:
        make(body)
    assert asked in (None, told.value.asked)


def test_rods_need_an_area_and_cables_a_frame() -> None:
    line = sa.Mesh.box((1.0,), (2,))["body"]
    cable = sa.Body(line, sa.elements.ancf_cable, energies.cable(), EA=1.0, EI=1.0)
    with refused(sa.KinematicsError, asked="element", given="ancf_cable"):
        sa.magnetic(cable, (1, 0, 0), (0, 0, 1))
    line = sa.Mesh.box((1.0,), (2,), cell="line3")["body"]
    given = sa.Section.rectangle(0.1, 0.1).rod(E=1.0, nu=0.3)
    given.pop("A", None)
    rod = sa.Body(line, sa.elements.ancf_rod, energies.rod(), **given)
    with refused(sa.ParameterError, asked="A"):
        sa.magnetic(rod, (1, 0, 0), (0, 0, 1))
    sa.magnetic(rod, (1, 0, 0), (0, 0, 1), A=0.01)
