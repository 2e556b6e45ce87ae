# SPDX-License-Identifier: BSD-3-Clause
"""Fields of laws that remember, or have unknowns of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.elements import ancf_plate, hex8_plain
from tests.remembering import STEEL, j2, maxwell
from tests.saddle import mixed

Array = npt.NDArray[np.float64]
COMM = MPI.COMM_WORLD
TURN = np.linalg.qr(np.array([[1.0, 2.0, 0.5], [-0.3, 1.0, 2.0], [0.4, -1.0, 0.7]]))[0]
TURN *= np.sign(np.linalg.det(TURN))
TIGHT = {"snes_rtol": 1e-13, "snes_atol": 1e-14, "snes_stol": 0.0}
LAWS = {
    "j2": (j2, STEEL, ("lam", "mu", "Y", "K"), "a", lambda a: a),
    "maxwell": (
        maxwell,
        {"E0": 1e11, "E1": 3e11, "tau": 0.7},
        ("E0", "E1"),
        "h",
        lambda h: h[0, 0],
    ),
}


class Pulled(NamedTuple):
    """Two clamped bars, of a law with memory and of one without, and what pulls them."""

    system: sa.System
    bodies: tuple[sa.Body, sa.Body]
    ends: tuple[sa.Fix, sa.Fix]


def pulled(law: str, unit: float, Q: Array, comm: MPI.Comm) -> Pulled:
    """Pull along Q e1 in steps of 0.2 s, at last back. Lengths in `unit`, forces in N."""
    energy, given, moduli = LAWS[law][:3]
    given = {k: v / unit**2 if k in moduli else v for k, v in given.items()}
    size = unit * np.array((1.0, 0.1, 0.1))
    meshes = [
        sa.Mesh.box(tuple(size), (n, 1, 1), warp=lambda X: X @ Q.T, comm=comm) for n in (3, 2)
    ]
    plain = {"mu": 1e11 / unit**2, "lam": 1e11 / unit**2}
    bodies = (
        sa.Body(meshes[0]["body"], hex8_plain, energy, name="bar", **given),
        sa.Body(meshes[1]["body"], hex8_plain, sa.energies.neo_hooke(), name="plain", **plain),
    )
    stretch = sa.Parameter("stretch", 0.0)
    along = [lambda t, c=c: stretch.value * unit * c for c in Q[:, 0]]
    ends = tuple(sa.fix(body["x1"], displacement=along) for body in bodies)
    system = sa.System(*bodies, terms=[*(sa.fix(body["x0"]) for body in bodies), *ends])
    problem = sa.StaticProblem(system, options=TIGHT)
    for k, stretch.value in enumerate((0.004, 0.01, 0.008)):
        problem.solve(to=0.2 * (k + 1))
    return Pulled(system, bodies, ends)


def of_all(comm: MPI.Comm, values: dict[str, Array], places: Array) -> dict[str, Array]:
    """Return rows of all ranks in the order of places (n, 3) of size 1."""
    every = comm.allgather((values, places))
    order = np.lexsort(np.round(np.concatenate([at for _, at in every]), 6).T[::-1])
    return {name: np.concatenate([v[name] for v, _ in every])[order] for name in values}


@pytest.mark.collective
@pytest.mark.parametrize("law", LAWS)
def test_stresses_of_laws_with_memory_carry_the_load(law: str) -> None:
    """Virtual work of x1 e_i: the mean of P q1 over the bar, times its section, is the reaction."""
    name, entry = LAWS[law][3:]
    asked = {"P": "P", "X": "X", "W": "W", "lost": "dissipated", "own": name, "s": "cauchy"}
    asked["v"] = "von_mises"
    alone = None
    for unit, Q, comm in (
        (1.0, np.eye(3), MPI.COMM_SELF),
        (1.0, np.eye(3), COMM),
        (1e3, np.eye(3), COMM),
        (1.0, TURN, COMM),
    ):
        system, bodies, ends = pulled(law, unit, Q, comm)
        for body, end in zip(bodies, ends, strict=True):
            own = asked if body is bodies[0] else {"P": "P", "X": "X"}
            cells = sa.sample(system, body, fields=own, at="cell", divisions=1).cell_data
            cells = of_all(comm, cells, cells["X"] @ Q / unit)
            reaction = end.reaction(system).force
            force = cells["P"].mean(axis=0) @ Q[:, 0] * (0.1 * unit) ** 2
            size = np.abs(reaction).max()
            np.testing.assert_allclose(force, reaction, atol=1e-12 * size)
            if body is bodies[1]:
                assert "von_mises" in sa.sample(system, body).point_data
                continue
            volume = 0.01 * unit**3 / 3
            kept, lost = volume * cells["W"].sum(), volume * cells["lost"].sum()
            remembered = system.remembered(body)
            assert kept == pytest.approx(system.energies()["bar"], rel=1e-12)
            assert lost == pytest.approx(remembered["dissipated"].sum(), rel=1e-12)
            assert lost > 0.01 * kept
            default = sa.sample(system, body, divisions=1).cell_data
            found = np.sort(np.concatenate(comm.allgather(default["von_mises"])))
            np.testing.assert_array_equal(found, np.sort(cells["v"]))
            points = sa.sample(system, body, fields={"own": entry}, at="gauss").point_data
            found = np.sort(np.concatenate(comm.allgather(points["own"])))
            rows = np.sort(remembered[name if law == "j2" else f"{name}11"].ravel())
            np.testing.assert_allclose(found, rows, rtol=1e-12)
            turned = {k: Q.T @ v @ Q if v.ndim == 3 else v for k, v in cells.items()}
            del turned["X"]
            for key, values in turned.items():
                values *= 1.0 if key == "own" and law == "j2" else unit**2
            alone = alone or turned
            for key, known in alone.items():
                size = np.abs(known).max()
                np.testing.assert_allclose(turned[key], known, atol=1e-9 * size, err_msg=key)


MU, K = 1.3, 70.0


@pytest.mark.collective
@pytest.mark.parametrize("volumetric", ["full", "reduced"])
def test_stresses_of_a_pressure_per_cell_are_derivatives_by_hand(volumetric: Any) -> None:
    """W = mu/2 (J^(-2/3) I1 - 3) + p (J - 1) - p^2/2k, at Gauss points, in cells, anywhere."""
    energy = sa.local(p=0, per="cell")(mixed)
    asked = {"s": "cauchy", "p": "p", "X": "X", "m": lambda cauchy, p: cauchy.trace() / 3 - p}
    alone = None
    for unit, Q, comm in (
        (1.0, np.eye(3), MPI.COMM_SELF),
        (1.0, np.eye(3), COMM),
        (1e3, np.eye(3), COMM),
        (1.0, TURN, COMM),
    ):
        mesh = sa.Mesh.box(3 * (unit,), 3 * (2,), warp=lambda X, Q=Q: X @ Q.T, comm=comm)
        given = {"mu": MU / unit**2, "k": K / unit**2}
        body = sa.Body(mesh["body"], hex8_plain, energy, volumetric=volumetric, **given)
        load = sa.traction(body["x1"], 0.2 / unit**2 * Q[:, 2])
        system = sa.System(body, terms=[sa.fix(body["x0"]), load])
        sa.StaticProblem(system, prefix="mixed_", options=TIGHT).solve()
        cells = sa.sample(system, body, fields=asked, at="cell", divisions=1).cell_data
        own = {"F": "F", "p": "p", "s": "sigma"}
        points = sa.sample(system, body, fields=own, at="gauss").point_data
        corners = sa.sample(system, body, fields=own, divisions=1).point_data
        for data in (points, corners):
            F, p = data["F"], data["p"]
            J, b = np.linalg.det(F), F @ np.swapaxes(F, 1, 2)
            spherical = np.einsum("nii->n", b)[:, None, None] / 3 * np.eye(3)
            s = (J ** (-5 / 3))[:, None, None] * (b - spherical) * given["mu"]
            s = s + p[:, None, None] * np.eye(3)
            np.testing.assert_allclose(data["s"], s, atol=1e-13 / unit**2)
        count = len(cells["p"])
        s = np.reshape(points["s"], (count, 8, 3, 3)).mean(axis=1)
        np.testing.assert_allclose(cells["s"], s, atol=1e-14 / unit**2)
        np.testing.assert_allclose(cells["m"], 0.0, atol=1e-13 / unit**2)
        if volumetric == "full":
            p = given["k"] * (np.linalg.det(points["F"]).reshape(count, 8).mean(axis=1) - 1)
            np.testing.assert_allclose(cells["p"], p, atol=1e-12 / unit**2)
        found = of_all(comm, cells, cells["X"] @ Q / unit)
        back = {"p": found["p"] * unit**2, "s": Q.T @ found["s"] @ Q * unit**2}
        if volumetric == "reduced":
            J = np.linalg.det(system.gradient(body.at(found["X"])))
            np.testing.assert_allclose(found["p"], given["k"] * (J - 1), atol=1e-12 / unit**2)
        alone = alone or back
        assert np.ptp(back["p"]) > 0.1
        for key, known in alone.items():
            np.testing.assert_allclose(back[key], known, atol=1e-11, err_msg=key)


@sa.memory(e=sp.zeros(3, 3))
def lagging(E_gl: Any, *, e: Any, E: Any) -> Any:
    """Half of the strain at the beginning of the step is without stress."""
    W = E / 2 * sum(x**2 for x in E_gl - e / 2)
    return sa.remember(W, e=E_gl, stored=W, dissipated=E * sum(x**2 for x in E_gl - e))


def test_resultants_are_sums_over_what_points_through_the_thickness_remember() -> None:
    """A strip is pulled, bent as well, and then pushed aside."""
    mesh, h = sa.Mesh.box((1.0, 0.5), (2, 1)), 0.05
    plate = sa.Body(mesh["body"], ancf_plate, lagging, E=1e4, thickness=h)
    pull, couple, push = (sa.Parameter(name, 0.0) for name in ("pull", "couple", "push"))
    loads = [
        sa.force(plate["x1"], (lambda t: pull.value, 0.0, lambda t: push.value)),
        sa.moment(plate["x1"], (0.0, lambda t: -couple.value, 0.0)),
    ]
    system = sa.System(plate, terms=[sa.fix(plate["x0"]), *loads])
    problem = sa.StaticProblem(system, prefix="strip_")
    fields = {"N": "membrane_force", "M": "bending_moment", "S": "S", "lost": "dissipated"}
    ((_, rule),) = plate._laws
    weights, zeta = rule.section_weights, np.ravel(rule.section_points)
    steps = ((1e-3, 0.0, 0.0), (2e-3, 1e-4, 0.0), (0.0, 3e-4, 0.0), (0.0, 0.0, 1e-4))
    for k, (pull.value, couple.value, push.value) in enumerate(steps):
        problem.solve(to=k + 1.0)
        means = sa.sample(system, plate, fields=fields, at="cell", divisions=1).cell_data
        points = sa.sample(system, plate, fields=fields, at="gauss").point_data
        if not push.value:
            for data in (means, points):  # per width
                np.testing.assert_allclose(data["N"][:, 0, 0], 2 * pull.value, rtol=1e-3, atol=2e-5)
                np.testing.assert_allclose(data["M"][:, 0, 0], 2 * couple.value, rtol=0.02)
        N, M, S = (points[f][:, 0, 0].reshape(-1, len(zeta)) for f in "NMS")
        assert k < 3 or np.ptp(M) > 1e-5
        for found, by in ((N, weights * h / 2), (M, -weights * zeta * h**2 / 4)):
            np.testing.assert_allclose(found, np.repeat(S @ by[:, None], len(zeta), 1), atol=1e-15)
        lost = means["lost"].sum() * h / 4
        remembered = system.remembered(plate)["dissipated"].sum()
        assert lost == pytest.approx(remembered, rel=1e-12)


def test_fields_that_only_quadrature_points_know_are_refused_elsewhere() -> None:
    system, (bar, _), _ = pulled("maxwell", 1.0, np.eye(3), MPI.COMM_SELF)
    for at in ("lattice", [(0.5, 0.05, 0.05)]):
        strains = sa.sample(system, bar, fields={"e": "E_gl"}, at=at).point_data
        assert np.isfinite(strains["e"]).all()
        for asked in ("cauchy", "h", "W", lambda dissipated: dissipated, lambda J, S: S / J):
            with pytest.raises(
                sa.KinematicsError, match=r"what maxwell\(\) remembers, .*at='gauss'"
            ):
                sa.sample(system, bar, fields={"f": asked}, at=at)
    assert set(sa.sample(system, bar, at=[(0.5, 0.05, 0.05)]).point_data) == {
        "displacement",
        "number",
    }
