# SPDX-License-Identifier: BSD-3-Clause
"""Solids with a pressure beside their displacement."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sympy import Rational, log

import symancf as sa
from symancf.output import checkpoint
from symancf.output.sampling import sample
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from symancf.arrays import Array

collective = pytest.mark.collective  # of those whose numbers depend on what ranks exchange

FIELDS = {name: name for name in ("J", "pressure", "cauchy")}
RUBBER = {"C10": 0.5, "C20": -0.05, "C30": 0.01}
KINDS = [("tet10", "continuous"), ("tet10", "discontinuous"), ("hex27", "discontinuous")]


PRESSED = (0.10463447115378866, 0.09279649126205458, 0.0936753581857733)  # strain energies
ENERGIES = dict(zip(KINDS, PRESSED, strict=True))


def bent(X: Array) -> Array:
    """Move points inside of the unit cube: cells with curved edges."""
    bump = np.prod(np.sin(np.pi * X), axis=1)[:, None]
    return X + 0.08 * bump * np.cos(np.array([1.0, 3.0, 2.0]) + 4.0 * X[:, [1, 2, 0]])


def cube(
    name: str, pressure: Any, law: Any = sa.energies.yeoh(), unit: float = 1.0, **given: Any
) -> sa.Body:
    """Return a cube of curved cells, of side `unit`."""
    element = getattr(sa.elements, name)
    sides, cells = (1.0, 1.0, 1.0), (2, 2, 2)
    mesh = sa.Mesh.box(sides, cells, cell=element.cell, warp=lambda X: unit * bent(X))
    return sa.Body(mesh["body"], element, law, pressure=pressure, **given)


def rolled(body: sa.Body) -> list[Any]:
    return [sa.fix(body[f"{axis}0"], axis) for axis in "xyz"]


def pressed(body: sa.Body, by: float = 0.2) -> list[Any]:
    """Return supports that shear and press a cube between plates that hold it."""
    move = [lambda t: by * t, 0.0, lambda t: -by * t]
    return [sa.fix(body["z0"], "all"), sa.fix(body["z1"], "all", displacement=move)]


def state_of(body: sa.Body, terms: list[Any]) -> tuple[sa.System, int]:
    system = sa.System(body, terms=terms)
    problem = sa.StaticProblem(system, options={"snes_rtol": 1e-12})
    history = problem.solve(to=1.0)
    return system, sum(step.iterations for step in history.steps)


def cells_of(system: sa.System, body: sa.Body, field: str) -> Array:
    """Return a field's means over all cells, on every rank, in the order of the mesh."""
    found = sample(system, body, fields=FIELDS, at="cell").cell_data[field]
    on = system._discrete.binding(body).interpolation
    pairs = np.stack([on.ids[on.owned], np.asarray(found)], axis=1)
    table = np.concatenate(system.comm.allgather(pairs))
    return table[np.argsort(table[:, 0]), 1]


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize(("element", "kind"), KINDS)
def test_pull_of_an_incompressible_cube(element: str, kind: str) -> None:
    """P = 2 W'(l - 1/l^2), p = s11/3, J = 1 at every point, on cells with curved edges."""
    body = cube(element, kind, k=math.inf, **RUBBER)
    pull = sa.fix(body["x1"], "x", displacement=[lambda t: 0.5 * t, 0.0, 0.0])
    system, _ = state_of(body, [*rolled(body), pull])
    assert float(pull.reaction(system).force[0]) == pytest.approx(0.9539583333333335, rel=1e-9)
    at = sample(system, body, fields=FIELDS, at="gauss").point_data
    assert np.abs(at["J"] - 1.0).max(initial=0.0) < 1e-11
    assert np.abs(at["pressure"] - 1.4309375 / 3.0).max(initial=0.0) < 1e-8
    exact = np.diag([1.4309375, 0.0, 0.0]).ravel()
    assert np.abs(at["cauchy"].reshape(-1, 9) - exact).max(initial=0.0) < 1e-8


@pytest.mark.parametrize(("element", "kind"), KINDS)
def test_tangent_and_energy(element: str, kind: str) -> None:
    kinds = [(kind, math.inf)]
    if element == "hex27":
        kinds += [(kind, 50.0), ("condensed", 50.0)]
    for pressure, k in kinds:
        body = cube(element, pressure, k=k, **RUBBER)
        found = sa.check(sa.System(body, terms=rolled(body)), amplitude=0.02)
        assert found.passed, str(found)
        assert found.symmetry < 1e-12


def test_pressures_of_cells_are_the_same_condensed() -> None:
    results = []
    for kind in ("condensed", "discontinuous"):
        body = cube("hex27", kind, k=200.0, **RUBBER)
        system, iterations = state_of(body, pressed(body))
        energy = system.strain_energy()
        results.append((energy, cells_of(system, body, "pressure"), iterations))
    (one, p, many), (other, q, few) = results
    assert one == pytest.approx(other, rel=1e-11)
    assert np.abs(p - q).max() < 1e-8 * np.abs(q).max()
    assert few <= many


def test_the_limit_is_that_of_large_moduli() -> None:
    """Differences to k = inf fall with 1/k."""

    def place(**given: Any) -> Array:
        body = cube("hex27", "discontinuous", **given)
        system, _ = state_of(body, pressed(body))
        return system.position(body["x1"])

    exact = place(k=math.inf, **RUBBER)
    off = [float(np.abs(place(k=k, **RUBBER) - exact).max()) for k in (1e3, 1e4)]
    assert off[0] < 1e-3
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.05)


def test_half_is_poissons_ratio_of_an_incompressible_body() -> None:
    body = cube("hex27", "discontinuous", sa.energies.saint_venant_kirchhoff(), E=3.0, nu=0.5)
    pull = sa.fix(body["x1"], "x", displacement=[lambda t: 1e-4 * t, 0.0, 0.0])
    system, _ = state_of(body, [*rolled(body), pull])
    assert float(pull.reaction(system).force[0]) == pytest.approx(3e-4, rel=1e-3)
    assert np.abs(cells_of(system, body, "J") - 1.0).max() < 1e-7  # tr E_gl = 0


def test_a_law_without_volume() -> None:
    """W = mu/2 (I1 - 3) + p (J - 1): p is -mu at rest, and P = mu (l - 1/l^2)."""

    @sa.energies.stressed_at_rest
    def plain(I1: Any, *, mu: Any) -> Any:
        return mu / 2 * (I1 - 3)

    body = cube("hex27", "discontinuous", plain, mu=2.0)
    pull = sa.fix(body["x1"], "x", displacement=[lambda t: 0.5 * t, 0.0, 0.0])
    system, _ = state_of(body, [*rolled(body), pull])
    assert float(pull.reaction(system).force[0]) == pytest.approx(2.0 * (1.5 - 1.5**-2), rel=1e-10)
    assert np.abs(cells_of(system, body, "pressure") + 2.0 / 1.5).max() < 1e-10


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("element", "kind"), KINDS)
def test_units(element: str, kind: str) -> None:
    """Mm and MPa, m and Pa: the same digits, as many iterations."""
    found = []
    for length, stress in ((1.0, 1.0), (1e3, 1e-6)):
        given = {name: stress * x for name, x in RUBBER.items()}
        body = cube(element, kind, k=math.inf, unit=length, **given)
        system, iterations = state_of(body, pressed(body, 0.2 * length))
        p = cells_of(system, body, "pressure") / stress
        found.append((iterations, p, system.position(body["x1"]) / length))
    (n, p, x), (m, q, y) = found
    assert n == m
    assert np.abs(p - q).max() < 1e-9
    assert np.abs(x - y).max() < 1e-11


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(("element", "kind"), KINDS)
def test_checkpoint(element: str, kind: str, tmp_path: Path) -> None:
    body = cube(element, kind, k=math.inf, **RUBBER)
    system, _ = state_of(body, pressed(body))
    path = system.comm.bcast(tmp_path / "state.h5")
    checkpoint.save(path, system)
    vectors, _ = checkpoint.load(path, system)
    assert system.strain_energy() == pytest.approx(ENERGIES[element, kind], rel=1e-11)
    assert np.abs(vectors["state"] - system.state).max() < 1e-15
    assert (
        np.abs(system.state[system._discrete.numbering.those("multiplier")]).max(initial=0.0) > 0.0
    )


def test_bodies_that_meet_have_pressures_of_their_own() -> None:
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1), cell="tetra10")
    mesh.select("left", lambda X: X[:, 0] < 1.1, dimension=3)
    mesh.select("right", lambda X: X[:, 0] > 0.9, dimension=3)
    bodies = []
    for name, factor in (("left", 1.0), ("right", 3.0)):
        given = {key: factor * x for key, x in RUBBER.items()}
        law, element = sa.energies.yeoh(), sa.elements.tet10
        options = {"pressure": "continuous", "k": math.inf, **given}
        bodies.append(sa.Body(mesh[name], element, law, name=name, **options))
    left, right = bodies
    pull, held = [0.0, lambda t: 0.1 * t, 0.0], [sa.fix(left["x0"], "x")]
    for b, side in ((left, 0.0), (right, 1.0)):
        for axis in (1, 2):
            for end in (0.0, 1.0):
                name = f"{b.name} {axis} {end:g}"

                def on(X: Array, axis: int = axis, end: float = end, side: float = side) -> Any:
                    there = (X[:, 0] - side > -0.1) & (X[:, 0] - side < 1.1)
                    return there & (np.abs(X[:, axis] - end) < 1e-9)

                mesh.select(name, on, dimension=0)
        held.append(sa.fix(b[f"{b.name} 1 0"], "y"))
        held.append(sa.fix(b[f"{b.name} 2 0"], "z"))
        held.append(sa.fix(b[f"{b.name} 1 1"], "y", displacement=pull))
    system = sa.System(left, right, terms=held)
    sa.StaticProblem(system).solve(to=1.0)
    means = [cells_of(system, b, "pressure").mean() for b in bodies]
    assert means[1] == pytest.approx(3.0 * means[0], rel=1e-6)  # pulled alike along y alone


@collective
def test_cells_that_cannot_move_have_no_pressure() -> None:
    """Their equations would be empty rows of the tangent."""
    body = cube("hex27", "discontinuous", k=math.inf, **RUBBER)
    inner = body.region.mesh.select("lower", lambda X: X[:, 2] < 0.55, dimension=0)
    held = sa.fix(body[inner.name], "all")
    push = sa.fix(body["z1"], "all", displacement=[lambda t: 0.1 * t, 0.0, 0.0])
    system, _ = state_of(body, [held, push])
    numbering = system._discrete.numbering
    idle = numbering.those("multiplier") & (numbering.fixed_by >= 0)
    owned = numbering.vertex_of < numbering.owned_vertices
    assert system.comm.allreduce(int((idle & owned).sum())) == 16  # of four cells


def test_a_column_buckles_at_the_same_load_condensed_or_not() -> None:
    """Pressures are conditions to the count of negative pivots, and arc length passes them by."""
    loads = []
    for kind in ("condensed", "discontinuous"):
        element = sa.elements.hex27
        mesh = sa.Mesh.box((8.0, 1.0, 1.0), (4, 1, 1), cell=element.cell)
        options = {"pressure": kind, "k": 200.0, **RUBBER}
        body = sa.Body(mesh["body"], element, sa.energies.yeoh(), **options)
        P = sa.Parameter("P")
        press = sa.traction(body["x1"], (lambda t, P=P: -P.value, 0.0, 0.0))
        problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"], "all"), press]))
        with pytest.warns(UserWarning, match="2 eigenvalues change their sign"):
            history = problem.follow(P, to=0.02, step=0.01)
        (found,) = history.bifurcations
        loads.append(found.parameter)
    assert loads[0] == pytest.approx(math.pi**2 / 4.0 * 3.0 / 12.0 / 64.0, rel=0.05)  # Euler
    assert loads[0] == pytest.approx(loads[1], rel=1e-9)


def test_formulas_show_the_pressure() -> None:
    law = sa.energies.neo_hooke()
    finite = cube("hex27", "discontinuous", law, mu=1.0, lam=2.0)
    limit = cube("hex27", "discontinuous", law, mu=1.0, lam=math.inf)
    assert str(finite.energy.rhs).endswith("pressure*log(J) - pressure**2/(2*lam)")
    assert str(limit.energy.rhs).endswith("/2 + pressure*log(J)")
    assert str(limit.residual[0].rhs) == "mu*F + (-mu + pressure)*F.T**(-1)"


# ---- mistakes -----------------------------------------------------------------------------------
def test_what_is_no_mixed_energy() -> None:
    def odd(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
        deviatoric = mu / 2 * (J ** Rational(-2, 3) * I1 - 3)
        return {"deviatoric": deviatoric, "volumetric": k * (J - 1 - log(J))}

    with refused(sa.KinematicsError, asked="volumetric", given="k*(J - log(J) - 1)"):
        cube("tet10", "continuous", odd, mu=1.0, k=10.0)
    with refused(
        sa.KinematicsError, asked="pressure", given="condensed", possible=("discontinuous",)
    ):
        cube("tet10", "condensed", k=math.inf, **RUBBER)
    with refused(
        sa.KinematicsError,
        asked="pressure",
        given="continuous",
        possible=("discontinuous", "condensed"),
    ):
        cube("hex27", "continuous", k=10.0, **RUBBER)
    with refused(sa.KinematicsError, asked="volumetric", given="reduced", possible=("full",)):
        cube("hex27", "discontinuous", k=10.0, volumetric="reduced", **RUBBER)
    with refused(sa.ParameterError, asked="k", given=math.inf):
        cube("hex27", None, k=math.inf, **RUBBER)
    with refused(sa.ParameterError, asked="k", given=-math.inf):
        cube("hex27", "discontinuous", k=-math.inf, **RUBBER)
    with refused(sa.ParameterError, asked="k", given=math.inf, possible=("number",)):
        cube("hex27", "discontinuous", k=sa.Parameter("k", math.inf), **RUBBER)
    law = sa.energies.saint_venant_kirchhoff()
    with refused(sa.ParameterError, asked="nu", given=0.51):
        cube("hex27", "condensed", law, E=1.0, nu=0.51)

    def named(J: Any, I1: Any, *, scale: Any) -> Any:
        return scale / 2 * (J ** Rational(-2, 3) * I1 - 3)

    with refused(sa.ParameterError, asked="scale", given="tet10"):
        cube("tet10", "continuous", named, scale=1.0)


@collective
@pytest.mark.parametrize(("element", "kind"), KINDS)
def test_a_pressure_that_nothing_determines(element: str, kind: str) -> None:
    def problem(k: float) -> sa.StaticProblem:
        body = cube(element, kind, k=k, **RUBBER)
        sides = [f"{axis}{end}" for axis in "xyz" for end in (0, 1)]
        return sa.StaticProblem(sa.System(body, terms=[sa.fix(body[s], "all") for s in sides]))

    with refused(sa.ConstraintError, asked="pressure", given=("body",)):
        problem(math.inf).solve()
    if element == "hex27":  # the others would be kernels of their own
        problem(100.0).solve()


def test_unknowns_of_points_and_pressures() -> None:
    """They go together where the system has the pressure."""

    @sa.local(x=0)
    def law(J: Any, I1: Any, *, mu: Any, k: Any, x: Any) -> Any:
        y = J ** Rational(-2, 3) * I1 - 3
        return {"d": mu / 2 * y + (y - x) ** 2 / 2 + x**2 / 2, "volumetric": k / 2 * (J - 1) ** 2}

    with refused(sa.KinematicsError, asked="unknowns", given=("x",), possible=("discontinuous",)):
        cube("hex27", "condensed", law, mu=1.0, k=50.0)
    body = cube("hex27", "discontinuous", law, mu=1.0, k=50.0)
    pull = sa.fix(body["x1"], "x", displacement=[lambda t: 0.2 * t, 0.0, 0.0])
    system, _ = state_of(body, [*rolled(body), pull])
    s11 = float(pull.reaction(system).force[0]) * 1.2 / float(cells_of(system, body, "J").mean())
    assert cells_of(system, body, "pressure") == pytest.approx(s11 / 3.0, rel=1e-9)


# ---- motions ------------------------------------------------------------------------------------
def beam(element: str, kind: Any, k: float, **given: Any) -> tuple[sa.DynamicProblem, sa.Body]:
    """Return a cantilever that falls."""
    made = getattr(sa.elements, element)
    mesh = sa.Mesh.box((1.0, 0.25, 0.25), (4, 1, 1), cell=made.cell)
    options = {"pressure": kind, "k": k, "rho": 0.01, **RUBBER}
    body = sa.Body(mesh["body"], made, sa.energies.yeoh(), **options)
    terms = [sa.fix(body["x0"], "all"), sa.gravity((0.0, 0.0, -10.0), body)]
    return sa.DynamicProblem(sa.System(body, terms=terms), **given), body


def fallen(
    element: str, kind: Any, k: float, step: float = 0.01, to: float = 0.2, **given: Any
) -> tuple[Array, float]:
    """Return the displacement of the end of a beam in the end, and the drift of the energy."""
    problem, body = beam(element, kind, k, **given)
    problem.solve(to=to, step=step)
    tip = problem.system.displacement(body.at((1.0, 0.125, 0.125)))[0]
    return tip, abs(problem.energies.drift)


def test_a_motion_keeps_the_volume() -> None:
    """The limit of large moduli; of second order in energy; the same by a method of index 1."""
    tip, drift = fallen("hex27", "discontinuous", math.inf)
    near = [fallen("hex27", "discontinuous", k)[0] for k in (1e2, 1e3)]
    off = [float(np.abs(x - tip).max()) for x in near]
    assert off[0] < 1e-4
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.1)
    half, less = fallen("hex27", "discontinuous", math.inf, 0.005)
    assert drift / less == pytest.approx(4.0, rel=0.1)
    index1, _ = fallen("hex27", "discontinuous", math.inf, 0.004, method="5dp")
    extrapolated = (4.0 * half - tip) / 3.0
    assert np.abs(index1 - extrapolated).max() < 5e-5


@collective
def test_a_motion_with_pressures_of_nodes() -> None:
    """On any number of ranks; rates that change the volume are corrected, with a word."""
    near, _ = fallen("tet10", "continuous", 1e3)
    tip, _ = fallen("tet10", "continuous", math.inf)
    assert np.abs(near - tip).max() == pytest.approx(1.3183e-05, rel=1e-2)  # 1/k
    end = [-0.02538483677409957, -0.0004205945931836093, -0.26403481935845413]
    assert tip == pytest.approx(end, abs=1e-10)
    problem, body = beam("tet10", "continuous", math.inf)
    system = problem.system
    block = system._discrete.numbering.block("position")
    at = system._discrete.numbering.coordinates_of(block)
    system.rate[at] = 0.1 * system._discrete.points[system._discrete.numbering.carriers(block)]
    if system.comm.rank == 0:
        with pytest.warns(UserWarning, match="violate constraints, 'pressure of body' most"):
            problem.solve(to=0.01, step=0.01)
    else:
        problem.solve(to=0.01, step=0.01)
    J = cells_of(system, body, "J")
    assert abs(J.mean() - 1.0) < 1e-6


def test_a_motion_of_little_mass() -> None:
    """Masses of 1e-6 kg beside gradients of 1e5 N: MUMPS takes pivots of the scaled matrix."""
    mesh = sa.Mesh.box((0.1, 0.02, 0.02), (4, 1, 1), cell="tetra10")
    given = {"C10": 0.5e6, "C20": 0.0, "C30": 0.0, "k": math.inf, "rho": 1000.0}
    body = sa.Body(
        mesh["body"], sa.elements.tet10, sa.energies.yeoh(), pressure="continuous", **given
    )
    system = sa.System(body, terms=[sa.fix(body["x0"], "position"), sa.gravity((0, 0, -9.81))])
    sa.DynamicProblem(system, spectral_radius=0.9).solve(to=0.002, step=1e-3)
    tip = system.displacement(body.at((0.1, 0.01, 0.01)))[0, 2]
    assert tip == pytest.approx(-1.972384912303e-05, rel=1e-9)


@pytest.mark.parametrize("method", ["generalized-alpha", "5dp"])
def test_a_motion_with_pressures_of_a_finite_modulus(method: str) -> None:
    """They follow from the volume where a motion begins, and are those of the condensed body."""
    step = 0.01 if method == "generalized-alpha" else 0.004
    kinds = ("condensed", "discontinuous")
    ends = [fallen("hex27", k, 100.0, step, 0.06, method=method) for k in kinds]
    (one, drift), (other, same) = ends
    assert np.abs(one - other).max() < 1e-8
    assert drift == pytest.approx(same, rel=1e-3, abs=1e-12)


def test_rayleighs_damping_does_not_know_pressures() -> None:
    damping = sa.Rayleigh(stiffness=0.1)
    problem, _ = beam("hex27", "discontinuous", math.inf, damping=damping)
    with refused(sa.ParameterError, asked="stiffness", given=0.1):
        problem.solve(to=0.01, step=0.01)
