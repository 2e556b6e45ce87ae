# SPDX-License-Identifier: BSD-3-Clause
"""Fields of sampled bodies: strains, stresses, resultants, at points and cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from mpi4py import MPI

from symancf import ground, joints, output
from symancf.bodies.body import Body
from symancf.bodies.plane import PlanarBody
from symancf.catalogue.boundary import fix, planar
from symancf.catalogue.loads import force
from symancf.catalogue.moments import moment
from symancf.elements import ancf_cable, ancf_plate, ancf_thin_plate, hex8_plain
from symancf.energies import cable, kirchhoff, neo_hooke, saint_venant_kirchhoff, yeoh
from symancf.errors import ConstraintError, KinematicsError, ParameterError, SymancfError
from symancf.mesh import Mesh
from symancf.output.results import results
from symancf.output.sampling import sample
from symancf.solve.statics.problem import StaticProblem
from symancf.system import System
from symancf.values.parameter import Field, Parameter
from tests.refusals import refused
from tests.remembering import HARD, STEEL, bar_of_steel, j2
from tests.remembering import E as MODULUS

Array = npt.NDArray[np.float64]
COMM = MPI.COMM_WORLD


def arc(X: Array) -> Array:
    """Put a line on a circle of radius 2 in the plane z = 0."""
    return 2.0 * np.stack([np.sin(X[:, 0]), 1.0 - np.cos(X[:, 0]), 0.0 * X[:, 0]], axis=1)


def test_the_bending_moment_of_a_curved_cable_is_that_of_its_change_of_curvature() -> None:
    mesh = Mesh.box((np.pi / 2,), (16,), warp=arc)
    beam = Body(mesh["body"], ancf_cable, cable(), EA=1e4, EI=1.0)
    load = moment(beam["x1"], (0.0, 0.0, 0.1))
    system = System(beam, terms=[fix(beam["x0"]), planar(beam), load])
    assert np.abs(sample(system, beam).point_data["bending_moment"]).max() < 1e-12
    StaticProblem(system).solve()
    np.testing.assert_allclose(sample(system, beam).point_data["bending_moment"], 0.1, rtol=0.03)


@pytest.mark.collective
def test_section_forces_of_a_cable_do_not_depend_on_frames_and_units() -> None:
    """N = EA (stretch - 1), M = EI kappa, and W of both; kappa is a length to the power -1."""
    found = []
    for Q, size, stiff in ((np.eye(3), 1.0, 1.0), (TURN, 1.0, 1.0), (TURN, 1e3, 1e-6)):
        mesh = Mesh.box((2 * size,), (7,), warp=lambda X, Q=Q: X @ Q.T)
        given = {"EA": 50.0 * stiff * size**2, "EI": 3.0 * stiff * size**4}
        rope = Body(mesh["body"], ancf_cable, cable(), **given)
        system = System(rope)
        system._discrete.prescribe(0.0)
        wavy(system, mesh, Q, size)
        names = ("axial_force", "bending_moment", "W", "epsilon", "kappa", "X")
        data = sample(system, rope, fields={n: n for n in names}, at="gauss").point_data
        np.testing.assert_allclose(data["axial_force"], given["EA"] * data["epsilon"], rtol=1e-12)
        np.testing.assert_allclose(data["bending_moment"], given["EI"] * data["kappa"], rtol=1e-12)
        W = (given["EA"] * data["epsilon"] ** 2 + given["EI"] * data["kappa"] ** 2) / 2
        np.testing.assert_allclose(data["W"], W, rtol=1e-12)
        rows = np.stack([data["X"] @ Q[:, 0] / size, data["epsilon"], data["kappa"] * size])
        rows = np.concatenate(COMM.allgather(rows), axis=1)
        found.append(rows[:, np.argsort(rows[0])])
        assert np.abs(rows[1:]).max(axis=1).min() > 1e-3
    np.testing.assert_allclose(found[1], found[0], atol=3e-14)
    np.testing.assert_allclose(found[2], found[0], atol=3e-14)


def test_parameters_by_cell_reach_stress_and_thickness() -> None:
    mesh = Mesh.box((1.0, 1.0), (4, 1))
    parameters: dict[str, Any] = {
        "E": Field(lambda X: 1e5 * (1.0 + X[:, 0])),
        "thickness": Field(lambda X: 0.05 + 0.01 * X[:, 0]),
    }
    plate = Body(mesh["body"], ancf_plate, saint_venant_kirchhoff(), nu=0.0, **parameters)
    held = fix(plate["x0"], ["position", "slope_y", "slope_z"])
    system = System(plate, terms=[held, force(plate["x1"], (10.0, 0.0, 0.0))])
    rest = sample(system, plate, solid=True, divisions=1)
    centres = np.array([0.125, 0.375, 0.625, 0.875])
    thickness = np.sort(rest.point_data["thickness"])[::8]  # 4 points on 2 faces of each cell
    np.testing.assert_allclose(thickness, 0.05 + 0.01 * centres)
    np.testing.assert_allclose(np.sort(np.abs(rest.points[:, 2]))[::8], thickness / 2)
    StaticProblem(system).solve()
    stress = sample(system, plate).point_data["von_mises"]
    np.testing.assert_allclose(stress.mean(), np.mean(10.0 / (0.05 + 0.01 * centres)), rtol=0.02)


def test_an_energy_may_depend_on_strain_place_displacement_and_time() -> None:
    def energy(E_gl: Any, X: Any, u: Any, t: Any, *, E: Any, q: Any) -> Any:
        square = sum(e**2 for e in E_gl)
        return E / 2 * square * (1 + X[0]) - q * t * u[0] * X[2]

    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    cube = Body(mesh["body"], hex8_plain, energy, E=100.0, q=1.0)
    system = System(cube, terms=[fix(cube["x0"])])
    StaticProblem(system).solve()
    assert system.displacement(cube.at((1.0, 0.5, 1.0)))[0, 0] > 1e-3
    assert np.abs(sample(system, cube).point_data["von_mises"]).max() > 0.1


# ---- fields that are asked for

MU, LAM = 0.7, 1.9
STRAINS = {"J": lambda J: J, "sigma": "cauchy", "E": lambda E_gl: E_gl, "S": "S", "W": "W"}
TURN = np.linalg.qr(np.array([[1.0, 2.0, 0.5], [-0.3, 1.0, 2.0], [0.4, -1.0, 0.7]]))[0]
TURN *= np.sign(np.linalg.det(TURN))


def wavy(system: System, mesh: Mesh, Q: Array, size: float = 1.0) -> None:
    """Give nodes a smooth displacement that turns with Q and grows with the size of the model."""
    x = system._discrete.points @ Q / size
    u = 0.1 * np.stack([x[:, 1] ** 2, np.sin(x[:, 0]), x[:, 0] * x[:, 2] + 0.5 * x[:, 2]], axis=1)
    at = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")]
    system.state[at[:, None] + np.arange(3)] = size * u @ Q.T


def block(Q: Array | None = None, size: float = 1.0, stiff: float = 1.0, **given: Any) -> Any:
    """Return a block that is turned, and in other units, with its deformation."""
    Q = np.eye(3) if Q is None else Q
    mesh = Mesh.box((2 * size, size, size), (3, 2, 2), warp=lambda X: X @ Q.T, **given)
    body = Body(mesh["body"], hex8_plain, neo_hooke(), mu=MU * stiff, lam=LAM * stiff)
    system = System(body)
    wavy(system, mesh, Q, size)
    return system, body


def gathered(samples: output.Samples, of: str, by: str = "displacement") -> Array:
    """Return a field of the points or cells of all ranks, in the order of another one."""
    everyone = COMM.allgather(samples)
    rows = np.concatenate([{**s.point_data, **s.cell_data}[of] for s in everyone])
    keys = np.concatenate([{**s.point_data, **s.cell_data}[by] for s in everyone])
    keys = np.round(keys.reshape(len(keys), -1), 9)
    return np.asarray(rows[np.lexsort(keys.T[::-1])])


@pytest.mark.collective
def test_stresses_at_gauss_points_are_those_of_the_closed_form() -> None:
    system, body = block()
    samples = sample(system, body, fields={**STRAINS, "F": "F"}, at="gauss")
    data = samples.point_data
    F = data["F"]
    J, I = np.linalg.det(F), np.eye(3)
    b = F @ np.swapaxes(F, 1, 2)
    sigma = (MU * (b - I) + LAM * np.log(J)[:, None, None] * I) / J[:, None, None]
    inverse = np.linalg.inv(F)
    S = J[:, None, None] * inverse @ sigma @ np.swapaxes(inverse, 1, 2)
    W = MU / 2 * (np.einsum("nii->n", b) - 3) - MU * np.log(J) + LAM / 2 * np.log(J) ** 2
    E = (np.swapaxes(F, 1, 2) @ F - I) / 2
    for name, known in (("J", J), ("sigma", sigma), ("S", S), ("W", W), ("E", E)):
        np.testing.assert_allclose(data[name], known, atol=1e-13)
    assert len(data["J"]) == 8 * system._discrete.binding(body).interpolation.owned.sum()


@pytest.mark.collective
def test_fields_do_not_depend_on_ranks_frames_and_units() -> None:
    """Means of cells: sigma turns with the frame, S does too since the reference turns."""
    given = {"fields": STRAINS, "at": "cell"}
    system, body = block(comm=MPI.COMM_SELF)
    alone = sample(system, body, **given).cell_data
    order = np.lexsort(np.round(alone["E"].reshape(12, 9), 9).T[::-1])
    for Q, size, stiff in ((np.eye(3), 1.0, 1.0), (TURN, 1.0, 1.0), (np.eye(3), 1e3, 1e-6)):
        system, body = block(Q, size, stiff)
        made = sample(system, body, **given)
        back = {k: (v if v.ndim == 1 else Q.T @ v @ Q) for k, v in made.cell_data.items()}
        made.cell_data = back
        for name, power in (("J", 0), ("E", 0), ("sigma", 1), ("S", 1), ("W", 1)):
            found = gathered(made, name, by="E") / stiff**power
            np.testing.assert_allclose(found, alone[name][order], atol=3e-14)


@pytest.mark.collective
def test_results_are_all_that_there_is_to_see(shared_tmp_path: Path) -> None:
    """Reactions on nodes, also those of a direction; numbers of cells; principal values."""
    mesh = Mesh.box((2.0, 1.0, 1.0), (3, 2, 2), name="bar")
    mesh.select("end", lambda X: X[:, 0] > 1.3, dimension=3)
    bar = Body(mesh["body"], hex8_plain, neo_hooke(), name="bar", mu=MU, lam=LAM)
    wall = fix(bar["x0"], displacement=lambda X, t: (0.0, 0.2 * t, 0.1 * t), name="wall")
    roller = fix(bar.at((2.0, 1.0, 1.0)), "normal", direction=(1.0, 0.5, 0.0), name="roller")
    pin = joints.spherical(bar.at((2.0, 0.0, 0.0)), ground, name="pin")
    system = System(bar, terms=[wall, roller, pin])
    StaticProblem(system).solve()
    found = results(system, units={"stress": "Pa"})
    assert list(found) == ["bar", "wall", "roller", "pin"]
    for term, name in ((wall, "wall"), (roller, "roller")):
        reaction = gathered(found[name], "reaction")
        assert len(reaction) == (9 if term is wall else 1)
        np.testing.assert_allclose(reaction.sum(axis=0), term.reaction(system).force, atol=1e-12)
    (force,) = gathered(found["pin"], "force", by="force")
    np.testing.assert_array_equal(force, pin.reaction(system).force)
    total = gathered(found["roller"], "reaction") + force
    assert np.abs(total).max() > 1e-3
    np.testing.assert_allclose(total[0], -wall.reaction(system).force, atol=1e-9)
    np.testing.assert_array_equal(gathered(found["bar"], "cell_id", by="cell_id"), range(12))
    numbers = list(mesh.regions)
    region = gathered(found["bar"], "region_id", by="cell_id")
    assert sorted(numbers[k] for k in region) == ["body"] * 8 + ["end"] * 4
    assert f"{numbers.index('end')} end" in found["bar"].texts["region_id"]
    data = found["bar"].point_data
    for name in ("stress", "strain"):
        values = np.linalg.eigvalsh(data[name])[:, ::-1]
        for a in range(3):
            n = data[f"{name}_direction_{a + 1}"]
            np.testing.assert_allclose(data[f"{name}_{a + 1}"], values[:, a], atol=1e-12)
            on = np.einsum("nij,nj->ni", data[name], n)
            np.testing.assert_allclose(on, n * values[:, a, None], atol=1e-12)
    for suffix in ("pvd", "vtkhdf"):
        series = output.Series(shared_tmp_path / f"run.{suffix}")
        series.write(1.0, found)
        (read,) = (output.read_state(state) for _, state in output.states(series.path))
        assert list(read) == list(found)
        assert read["bar"].units["stress"] == read["bar"].units["stress_1"] == "Pa"
    assert read["bar"].texts == found["bar"].texts
    with refused(ParameterError, asked="system", given=repr(bar), possible=("System",)):
        results(bar)  # type: ignore[arg-type]


@pytest.mark.collective
def test_points_of_the_material_in_the_reference_or_present() -> None:
    system, body = block()
    X = np.array([[0.3, 0.2, 0.9], [1.9, 0.5, 0.1], [2.0, 1.0, 1.0]])
    fields = {"r": lambda r: r, "X": "X", "p": lambda cauchy, *, mu: -cauchy.trace() / 3 / mu}
    for reference in (False, True):
        found = sample(system, body, fields=fields, at=X, reference=reference)
        number = found.point_data["number"]
        assert sorted(np.concatenate(COMM.allgather(number))) == [0, 1, 2]
        np.testing.assert_allclose(found.point_data["X"], X[number], atol=1e-14)
        u = system.displacement(body.at(X))[number]
        called = "u" if reference else "displacement"
        np.testing.assert_allclose(found.point_data[called], u, atol=1e-14)
        np.testing.assert_allclose(found.point_data["r"], X[number] + u, atol=1e-14)
        np.testing.assert_allclose(found.points, X[number] + (0 if reference else u), atol=1e-14)
    sigma = sample(system, body, fields={"s": lambda sigma: sigma}, at=X).point_data["s"]
    p = -np.einsum("nii->n", sigma) / 3 / MU
    np.testing.assert_allclose(found.point_data["p"], p, atol=1e-14)


STIFF = {"E": 1e4, "nu": 0.0}
RUBBER = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 100.0}
PLATES = {
    "thin": (ancf_thin_plate, kirchhoff(), STIFF, 1e-6, np.eye(3)),
    "thin, turned": (ancf_thin_plate, kirchhoff(), STIFF, 1e-6, TURN),
    "full gradient, turned": (ancf_plate, saint_venant_kirchhoff(), STIFF, 1e-4, TURN),
    "rubber": (ancf_plate, yeoh(), {**RUBBER, "volumetric": "reduced"}, 1e-8, np.eye(3)),
}


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("case", PLATES)
def test_resultants_of_plates_carry_the_load(case: str) -> None:
    """Membrane force and bending moment of a strip that is pulled, or bent, per width."""
    element, energy, given, size, Q = PLATES[case]
    mesh = Mesh.box((1.0, 0.5), (6, 1), warp=lambda X: X @ Q.T)
    direction = {"direction": lambda X: np.broadcast_to(Q[:, 2], X.shape)}
    plate = Body(mesh["body"], element, energy, thickness=0.05, **given, **direction)
    pull, couple = Parameter("pull"), Parameter("couple")
    along = [lambda t, c=c: pull.value * c for c in Q[:, 0]]
    about = [lambda t, c=c: -couple.value * c for c in Q[:, 1]]
    loads = [force(plate["x1"], along), moment(plate["x1"], about)]
    system = System(plate, terms=[fix(plate["x0"]), *loads])
    problem = StaticProblem(system)
    fields = {"N": "membrane_force", "M": "bending_moment", "X": "X"}
    for load, name in ((pull, "N"), (couple, "M")):
        load.value = size
        problem.solve()
        found = sample(system, plate, fields=fields, at="cell", divisions=1).cell_data
        local = Q.T @ found[name] @ Q
        inside = np.abs((found["X"] @ Q)[:, 0] - 0.5) < 0.3
        tolerance = 0.03 if name == "N" else 1e-4
        np.testing.assert_allclose(local[inside, 0, 0], 2 * size, rtol=tolerance)
        assert np.abs(local[:, 2]).max(initial=0.0) < 1e-12 * size
        load.value = 0.0


@pytest.mark.parametrize("volumetric", ["split", "reduced", "full"])
def test_resultants_count_each_part_of_an_energy_under_its_own_rule(volumetric: Any) -> None:
    """A uniform stretch s: the residual works N s per width and change of s."""
    mesh = Mesh.box((1.0, 0.5), (2, 1))
    plate = Body(mesh["body"], ancf_plate, yeoh(), volumetric=volumetric, thickness=0.05, **RUBBER)
    system = System(plate)
    system._discrete.prescribe(0.0)
    offset, block = system._discrete.numbering.offset, system._discrete.numbering.block
    x, F = offset[:, block("position")], offset[:, block("slopes:gradient3")]
    along = np.zeros_like(system.state)
    along[x], along[F] = system._discrete.points[:, 0], 1.0
    s, across = 1.3, 0.8
    system.state[:] = (s - 1) * along
    system.state[F + 8] = across - 1
    f = np.zeros_like(system.state)
    system._discrete.assembler.residual(system.state, f)
    fields = {"N": "membrane_force", "F": "F"}
    data = sample(system, plate, fields=fields, at="cell", divisions=1).cell_data
    np.testing.assert_allclose(data["F"], [np.diag([s, 1.0, across])] * 2, atol=1e-14)
    np.testing.assert_allclose(data["N"][:, 0, 0] * s * 0.5, f @ along, rtol=1e-12)


def test_units_and_tensors_reach_paraview(tmp_path: Path) -> None:
    system, body = block(comm=MPI.COMM_SELF)
    given = {"fields": {"sigma": "cauchy", "J": "J"}, "units": {"sigma": "N/mm<2>"}}
    made = sample(system, body, **given)
    path = output.write(tmp_path / "block", made, MPI.COMM_SELF)
    read = output.read(path)[""]
    assert read.units == {"sigma": "N/mm<2>"}
    np.testing.assert_array_equal(
        read.point_data["sigma"].reshape(-1, 3, 3), made.point_data["sigma"]
    )
    pyvista, vtk = pytest.importorskip("pyvista"), pytest.importorskip("vtk")
    array = pyvista.read(path).GetPointData().GetArray("sigma")
    key = vtk.vtkDataArray.UNITS_LABEL()
    assert array.GetInformation().Get(key).strip() == "N/mm<2>"


OFFERED = {"possible": lambda names: names[:3] == ("F", "J", "I1")}
WRONG: dict[str, tuple[Any, type[SymancfError], dict[str, Any]]] = {
    "a quantity": ({"a": "tau"}, KinematicsError, {"asked": "tau", **OFFERED}),
    "a failing function": (
        {"a": lambda sigma: sigma.nothing},
        KinematicsError,
        {"asked": "a", "given": lambda error: error.startswith("AttributeError(")},
    ),
    "a name": ({"displacement": "u"}, SymancfError, {"asked": "fields", "given": "displacement"}),
    "an argument": ({"a": lambda Q: Q}, KinematicsError, {"asked": "Q", **OFFERED}),
    "a parameter": (
        {"a": lambda J, *, q: q * J},
        ParameterError,
        {"asked": "q", "given": ("mu", "lam"), "possible": ("q",)},
    ),
    "a complex": ({"a": lambda J: 1j * J}, KinematicsError, {"asked": "a", "given": "1.0*I*J"}),
    "nothing": ({"a": lambda J: None}, KinematicsError, {"asked": "a", "given": None}),
    "a number": ({"a": 3}, KinematicsError, {"asked": "a", "given": 3, **OFFERED}),
    "of another element": (
        {"a": "axial_force"},
        KinematicsError,
        {"asked": "axial_force", **OFFERED},
    ),
}


@pytest.mark.collective
@pytest.mark.parametrize("case", WRONG)
def test_fields_that_are_not_possible_are_told(case: str) -> None:
    fields, kind, data = WRONG[case]
    system, body = block()
    with refused(kind, **data):
        sample(system, body, fields=fields)


def test_places_and_units_that_are_not_possible_are_told() -> None:
    system, body = block(comm=MPI.COMM_SELF)
    with refused(SymancfError, asked="at", given="nodes", possible=("lattice", "cell", "gauss")):
        sample(system, body, at="nodes")
    with refused(SymancfError, asked="q", possible=("displacement", "von_mises")):
        sample(system, body, units={"q": "m"})
    planar_body = PlanarBody(position=(0.0, 0.0))
    with refused(SymancfError, asked="body", given=repr(planar_body)):
        sample(system, planar_body)
    with refused(ConstraintError, asked="point", given=(9.0, 9.0, 9.0)):
        sample(system, body, at=[(9.0, 9.0, 9.0)])
    with refused(SymancfError, asked="fields", given="u"):
        sample(system, body, fields={"u": "J"}, reference=True)
    for fields, given in (([3], (3,)), ({"": "J"}, "{'': 'J'}"), ({3: "J"}, "{3: 'J'}")):
        with refused(SymancfError, asked="fields", given=given):
            sample(system, body, fields=fields)  # type: ignore[arg-type]
    with refused(ParameterError, asked="divisions", given=0):
        sample(system, body, divisions=0)


@pytest.mark.collective
def test_what_fails_on_one_rank_fails_on_all() -> None:
    system, body = block()
    last = COMM.rank == COMM.size - 1

    def failing(J: Any) -> Any:
        return 1 / 0 if last else J

    with refused(KinematicsError, asked="J", given="ZeroDivisionError('division by zero')"):
        sample(system, body, fields={"J": failing})
    n = len(system.state)
    short = COMM.bcast(n - 3, COMM.size - 1), COMM.bcast(n, COMM.size - 1)
    with refused(SymancfError, asked="state", given=short[:1], possible=(short[1:],)):
        sample(system, body, state=system.state[:-3] if last else system.state)


@pytest.mark.collective
def test_stiffness_that_varies_within_cells_counts_where_it_is_asked() -> None:
    def stiffness(X: Array) -> Array:
        return 1.0 + X[:, 0] ** 2

    mesh = Mesh.box((2.0, 1.0, 1.0), (3, 2, 2))
    body = Body(mesh["body"], hex8_plain, neo_hooke(), mu=Field(stiffness, per="point"), lam=0.0)
    system = System(body)
    wavy(system, mesh, np.eye(3))
    fields = {"W": "W", "mu": lambda J, *, mu: mu + 0 * J, "X": "X", "I1": "I1", "J": "J"}
    data = sample(system, body, fields=fields).point_data
    mu = stiffness(data["X"])
    np.testing.assert_allclose(data["mu"], mu, rtol=1e-14)
    W = mu / 2 * (data["I1"] - 3 - 2 * np.log(data["J"]))
    np.testing.assert_allclose(data["W"], W, atol=1e-14)

    def failing(X: Array) -> Array:
        return np.where(X[:, 0] > 1.9, np.nan, 1.0)

    vars(body)["parameters"] = {**body.parameters, "mu": Field(failing, per="point")}
    with refused(ParameterError, asked="mu", given=lambda X: X[0] > 1.9):
        sample(system, body)


@pytest.mark.collective
def test_stresses_of_laws_that_remember_are_there_where_they_remember() -> None:
    mesh = Mesh.box((1.0, 0.1, 0.1), (4, 1, 1))
    bar = Body(mesh["body"], hex8_plain, j2, volumetric="full", **STEEL)
    pull = fix(bar["x1"], "x", displacement=(lambda t: 0.01 * t, 0.0, 0.0))
    held = [fix(bar[f"{axis}0"], axis) for axis in "xyz"]
    system = System(bar, terms=[*held, pull])
    fields = {"S": "S", "Ep": "Ep", "trace": lambda Ep: Ep.trace(), "a": "a", "W": "W"}
    assert not sample(system, bar, fields=fields, at="cell").cell_data["S"].any()
    StaticProblem(system).solve(to=1.0, step=0.25)
    stretch = 0.01 * np.linspace(0.25, 1.0, 4)
    stress, plastic = bar_of_steel(stretch + stretch**2 / 2)
    known = {
        "S": np.diag([stress[-1], 0.0, 0.0]),
        "Ep": plastic * np.diag([1.0, -0.5, -0.5]),
        "trace": 0.0,
        "a": plastic,
        "W": stress[-1] ** 2 / (2 * MODULUS) + HARD / 2 * plastic**2,
    }
    for at in ("gauss", "cell"):
        made = sample(system, bar, fields=fields, at=at)
        data = made.point_data if at == "gauss" else made.cell_data
        for name, value in known.items():
            size = max(np.abs(value).max(), plastic)
            np.testing.assert_allclose(
                data[name], np.broadcast_to(value, data[name].shape), atol=1e-9 * size
            )
    made = sample(system, bar, at="gauss")
    np.testing.assert_allclose(made.point_data["von_mises"], stress[-1], rtol=0.03)
    assert list(sample(system, bar, fields={"F": "F"}).point_data) == ["displacement", "F"]
    with refused(KinematicsError, asked="S", given="j2", possible=("gauss", "cell")):
        sample(system, bar, fields=fields)


@pytest.mark.collective
def test_a_rank_may_have_no_cells() -> None:
    mesh = Mesh.box((1.0, 1.0), (1, 1))
    plate = Body(mesh["body"], ancf_plate, saint_venant_kirchhoff(), thickness=0.1, **STIFF)
    system = System(plate)
    fields = {"N": "membrane_force", "s": "cauchy", "J": "J"}
    gauss = max(rule.size for _, rule in plate._laws)
    places = ("lattice", "cell", "gauss", [(0.5, 0.5, 0.0)])
    for at, count in zip(places, (25, 16, gauss, 1), strict=True):
        found = sample(system, plate, fields=fields, at=at)
        found.check()
        values = {**found.point_data, **found.cell_data}["N"]
        assert values.shape[1:] == (3, 3)
        assert COMM.allreduce(len(values)) == count


def test_principal_values_and_directions() -> None:
    system, body = block(comm=MPI.COMM_SELF)
    samples = sample(system, body, fields=["cauchy", "J"], at="cell", units={"cauchy": "Pa"})
    tensor = np.random.default_rng(1).standard_normal((samples.n_cells, 3, 3))
    tensor += tensor.transpose(0, 2, 1)
    samples.cell_data["cauchy"] = tensor
    samples.principal("cauchy")
    found = samples.cell_data
    sum_of = sum(
        found[f"cauchy_{a}"][:, None, None]
        * found[f"cauchy_direction_{a}"][:, :, None]
        * found[f"cauchy_direction_{a}"][:, None, :]
        for a in (1, 2, 3)
    )
    np.testing.assert_allclose(sum_of, tensor, atol=1e-13)
    assert (found["cauchy_1"] >= found["cauchy_2"]).all()
    assert samples.units["cauchy_3"] == "Pa"
    samples.check()
    with refused(SymancfError, asked="J", given=(), possible=((3, 3),)):
        samples.principal("J")
    with refused(SymancfError, asked="stress", possible=lambda names: "cauchy" in names):
        samples.principal("stress")


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("at", ["lattice", "cell", "gauss"])
def test_samples_made_in_slabs_are_those_made_at_once(
    at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from symancf.output import sampling

    mesh = Mesh.box((2.0, 1.0, 1.0), (5, 3, 2))
    mu = Field(lambda X: 1.0 + X[:, 0])
    cube = Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=2.0)
    system = System(cube, terms=[fix(cube["x0"])])
    system.state += 0.05 * np.sin(system._discrete.reference)
    fields = {"sigma": "cauchy", "twice": lambda J, *, mu: 2.0 * J * mu}

    def made() -> output.Samples:
        return sample(system, cube, fields=fields, at=at)

    whole = made()
    monkeypatch.setattr(sampling, "CHUNK", 4)
    slabs = made()
    np.testing.assert_array_equal(slabs.points, whole.points)
    for kind, cells in whole.cells.items():
        np.testing.assert_array_equal(slabs.cells[kind], cells)
    for many, one in (
        (slabs.point_data, whole.point_data),
        (slabs.cell_data, whole.cell_data),
    ):
        assert [*many] == [*one]
        for name, values in one.items():
            np.testing.assert_allclose(many[name], values, rtol=1e-13, atol=1e-15)
    assert {*whole.point_data, *whole.cell_data} >= {*fields}


@pytest.mark.collective
def test_a_field_that_fails_in_the_last_slab_of_one_rank_fails_on_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from symancf.output import sampling

    mesh = Mesh.box((2.0, 1.0, 1.0), (5, 3, 2))

    def mu(X: Array) -> Array:
        if failing and (X[:, 0] > 1.9).any():
            raise ZeroDivisionError("no such place")
        return np.ones(len(X))

    failing = False
    cube = Body(mesh["body"], hex8_plain, neo_hooke(), mu=Field(mu, per="point"), lam=2.0)
    system = System(cube, terms=[fix(cube["x0"])])
    monkeypatch.setattr(sampling, "CHUNK", 4)
    sample(system, cube, fields=["cauchy"], at="gauss")
    failing = True
    with pytest.raises((ParameterError, ZeroDivisionError), match="no such place"):
        sample(system, cube, fields=["cauchy"], at="gauss")
