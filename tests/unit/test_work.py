# SPDX-License-Identifier: BSD-3-Clause
"""Virtual work and potentials of places: forces, tangents by state and rate, messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad

import symancf as sa
from symancf.energies import cable, saint_venant_kirchhoff
from tests.motion import moving, power, tangent_error, velocity
from tests.refusals import refused

pytestmark = pytest.mark.collective

CABLE, PLATE = sa.elements.ancf_cable, sa.elements.ancf_plate


def rope(name: str = "rope", at: float = 0.0) -> sa.Body:
    mesh = sa.Mesh.box((1.0,), (4,), warp=lambda X: X + np.array([0.0, at, 0.0]))
    return sa.Body(mesh["body"], CABLE, cable(), name=name, EA=1e3, EI=1.0, rho=1.0, A=1.0)


def plate() -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0), (3, 2))
    return sa.Body(mesh["body"], PLATE, saint_venant_kirchhoff(), E=1.0, nu=0.3, thickness=0.1)


def damper(v_a: Any, v_b: Any, r_a: Any, r_b: Any, *, c: Any) -> Any:
    gap = r_b - r_a
    n = gap / gap.norm()
    rate = n.dot(v_b - v_a)
    return {rate: -c * rate - c * rate**3}


def test_a_damper_between_two_bodies() -> None:
    a, b = rope("a"), rope("b", at=0.7)
    places = a.at((0.3, 0.0, 0.0)), b.at((0.5, 0.7, 0.0))
    term = sa.VirtualWork(damper, *places, c=2.0)
    system = sa.System(a, b, terms=[term])
    moving(system)
    r = [system.position(p)[0] for p in places]
    v = [velocity(system, p)[0] for p in places]
    n = (r[1] - r[0]) / np.linalg.norm(r[1] - r[0])
    rate = n @ (v[1] - v[0])
    assert abs(rate) > 0.1
    np.testing.assert_allclose(term.values(system), [[-2.0 * (rate + rate**3)]], rtol=1e-12)
    assert power(system) == pytest.approx(-2.0 * (rate**2 + rate**4), rel=1e-12)
    assert tangent_error(system, 3.0) < 1e-9


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("factor", [0.0, 10.0])
def test_the_tangent_by_rates_has_the_factor_of_the_integrator(factor: float) -> None:
    body = plate()

    def drag(v_a: Any, u_a: Any, w3_a: Any, e3_a: Any, t: Any, *, c: Any) -> Any:
        turn = e3_a.cross(w3_a)
        return {v_a: -c * v_a.norm() * v_a + t * u_a, turn: -c * turn}

    place = body.at([(0.2, 0.3, 0.0), (0.7, 0.9, 0.0)])
    term = sa.VirtualWork(drag, place, c=sa.Parameter("c", 0.7))
    system = sa.System(body, terms=[term])
    moving(system)
    v, u = velocity(system, place), system.displacement(place)
    drags = -0.7 * np.linalg.norm(v, axis=1)[:, None] * v + 0.4 * u
    np.testing.assert_allclose(term.values(system)[:, :3], drags, rtol=1e-12)
    assert tangent_error(system, factor) < 1e-9


@pytest.mark.collective(rows=0)
def test_an_own_state_follows_its_rate() -> None:
    """A Maxwell element: spring and dashpot in series, dF/dt = k dgap/dt - F k/c."""
    body = rope()

    def maxwell(F: Any, v_a: Any, v_b: Any, *, k: Any, c: Any) -> Any:
        closing = v_a[0] - v_b[0]
        return {closing: -F, "F": k * closing - F * k / c}

    place = body.at([(0.3, 0.0, 0.0), (1.0, 0.0, 0.0)])
    term = sa.VirtualWork(maxwell, place, sa.ground.at((2, 0, 0)), states=("F",), k=3.0, c=2.0)
    system = sa.System(body, terms=[term])
    moving(system)
    numbering = system._discrete.numbering
    start = numbering.offset[:, numbering.block("states:1")]
    own = start[: numbering.owned_vertices][start[: numbering.owned_vertices] >= 0]
    assert system._discrete.sum(np.array([float(len(own))]))[0] == 2
    assert numbering.blocks[numbering.block("states:1")].order == "s"
    F = term.own_states(system)[:, 0]
    assert np.abs(F).min() > 1e-3
    v = velocity(system, place)[:, 0]
    np.testing.assert_allclose(term.values(system)[:, 0], -F, rtol=1e-14)
    rows = np.zeros(2)
    rows[: len(own)] = system._discrete.residual_at(system.state)[own] - system.rate[own]
    rows = system.comm.allgather(rows[: len(own)])
    expected = -(3.0 * v - F * 3.0 / 2.0)
    np.testing.assert_allclose(np.sort(np.concatenate(rows)), np.sort(expected), rtol=1e-12)
    assert tangent_error(system, 2.0) < 1e-9


def test_springs_with_a_stiffness_each_hold_a_rope_up() -> None:
    body = rope()

    def spring(r_a: Any, r_b: Any, *, k: Any, L: Any) -> Any:
        return k / 2 * ((r_a - r_b).norm() - L) ** 2

    k = np.array([1.0, 2.0, 4.0, 2.0, 1.0])
    places = body["body"]
    term = sa.Potential(spring, places, sa.ground.at((0.5, 2.0, 0.0)), k=k, L=lambda t: 0.5 + t)
    system = sa.System(body, terms=[term])
    moving(system)
    length = np.linalg.norm(system.position(places) - [0.5, 2.0, 0.0], axis=1)
    energies = 0.5 * k * (length - 0.9) ** 2
    np.testing.assert_allclose(term.values(system), energies, rtol=1e-12)
    assert system.energies()["spring"] == pytest.approx(energies.sum(), rel=1e-12)
    assert tangent_error(system, 0.0) < 1e-9


def test_a_load_follows_its_section_in_statics() -> None:
    """The tip of a clamped cable pulled across its own slope bends on: a follower force."""
    body = rope()

    def follower(v_a: Any, e1_a: Any, *, F: Any) -> Any:
        return {v_a: F * sp.Matrix([-e1_a[1], e1_a[0], 0]) / e1_a.norm()}

    term = sa.VirtualWork(follower, body["x1"], F=lambda t: 5.0 * t)
    root = sa.fix(body["x0"])
    system = sa.System(body, terms=[root, term])
    sa.StaticProblem(system).solve(to=1.0, step=0.25)
    slope = system.gradient(body["x1"])[0][:, 0]
    across = 5.0 * np.array([-slope[1], slope[0], 0]) / np.linalg.norm(slope)
    np.testing.assert_allclose(root.reaction(system).force, -across, atol=1e-7)
    # EI psi'' = F cos psi, psi = psi' = 0 at the tip: its angle is psi at the root, beyond 90
    angle = np.arctan2(slope[1], slope[0])
    half = quad(lambda p: 1.0 / np.sqrt(np.cos(p)), 0.0, np.pi / 2)[0]
    rest = quad(lambda p: 1.0 / np.sqrt(np.cos(p)), 0.0, angle - np.pi / 2)[0]
    assert half + rest == pytest.approx(np.sqrt(2.0 * 5.0), rel=5e-3)
    np.testing.assert_allclose(term.values(system)[0], across, atol=1e-9)


# ---- messages ---------------------------------------------------------------------------------
def work(function: Callable[..., Any], **options: Any) -> Any:
    def make() -> sa.VirtualWork:
        return sa.VirtualWork(function, rope().at((1, 0, 0)), sa.ground, name="w", **options)

    return make


RATES = ("v_a1", "v_a2", "v_a3")
WRONG: dict[str, tuple[Any, dict[str, Any]]] = {
    "square": (
        work(lambda v_a: {v_a.dot(v_a): 1}),
        {"asked": "motion", "given": "v_a1**2 + v_a2**2 + v_a3**2", "possible": RATES},
    ),
    "affine": (
        work(lambda v_a: {v_a[0] + 1: 1}),
        {"asked": "motion", "given": "v_a1 + 1", "possible": RATES},
    ),
    "no_rate": (
        work(lambda u_a, v_a: {u_a[0]: 1}),
        {"asked": "motion", "given": "u_a1", "possible": RATES},
    ),
    "none": (work(lambda u_a: {u_a[0]: 1}), {"asked": "motion", "given": "u_a1", "possible": ()}),
    "word": (
        work(lambda v_a: {v_a[0]: "F"}),
        {"asked": "<lambda>", "given": "F", "possible": ()},
    ),
    "no_dict": (
        work(lambda v_a: v_a[0]),
        {"asked": "<lambda>", "given": "v_a1", "possible": ("{motion: force}",)},
    ),
    "sizes": (work(lambda v_a: {v_a: [1, 2]}), {"asked": "components", "given": (3, 2)}),
    "scalar": (work(lambda v_a: {v_a: 1}), {"asked": "components", "given": (3, 1)}),
    "unknown": (
        work(lambda s_a: {s_a: 1}),
        {
            "asked": "s_a",
            "possible": lambda found: (*found[:2], *found[-2:]) == ("r_a", "u_a", "w3_b", "t"),
        },
    ),
    "foreign": (work(lambda v_a: {v_a[0]: sp.Symbol("q")}), {"asked": "q", "given": "q"}),
    "missing": (
        work(lambda v_a, *, c: {v_a[0]: c}),
        {"asked": "c", "given": (), "possible": ("c",)},
    ),
    "extra": (
        work(lambda v_a, *, c: {v_a[0]: c}, c=1, d=1),
        {"asked": "d", "given": None, "possible": ("c",)},
    ),
    "reserved": (
        work(lambda v_a, *, force1: {v_a[0]: 1}, force1=1),
        {"asked": "force1", "given": "the term", "possible": ()},
    ),
    "letters": (
        work(lambda v_a: {v_a[0]: 1}, states=("a b",)),
        {"asked": "states", "given": "a b"},
    ),
    "time": (work(lambda v_a, t: {v_a[0]: t}, states="t"), {"asked": "states", "given": "t"}),
    "twice": (
        work(lambda v_a: {v_a[0]: 1}, states=("z", "z")),
        {"asked": "states", "given": "z"},
    ),
    "quantity": (
        work(lambda v_a: {v_a[0]: 1}, states=("r_a",)),
        {"asked": "states", "given": "r_a"},
    ),
    "state": (
        work(lambda v_a: {v_a[0]: 1}, states=("z",)),
        {"asked": "z", "given": (), "possible": ("z",)},
    ),
    "rate": (
        work(lambda v_a: {v_a[0]: 1, "z": 2}),
        {"asked": "z", "given": ("z",), "possible": ()},
    ),
    "fails": (
        work(lambda v_a: {v_a[7]: 1}),
        {"asked": "<lambda>", "given": "IndexError('index out of range')"},
    ),
    "end": (
        lambda: sa.VirtualWork(lambda v_a: {v_a[0]: 1}, 3.0),
        {"asked": "place", "given": 3.0},
    ),
    "energy": (
        lambda: sa.Potential(lambda u_a: [1], rope()["x0"], name="p"),
        {"asked": "<lambda>", "given": (1, 1), "possible": ()},
    ),
    "constant": (
        lambda: sa.Potential(lambda u_a: 1, rope()["x0"], name="p"),
        {"asked": "<lambda>", "given": "1", "possible": ("u_a1", "u_a2", "u_a3")},
    ),
    "velocity": (
        lambda: sa.Potential(lambda v_a: v_a[0], rope()["x0"], name="p"),
        {"asked": "v_a", "possible": lambda found: found[:2] == ("r_a", "u_a")},
    ),
    "two ends": (
        lambda: sa.Potential(lambda u_ab: u_ab[0], rope()["x0"], sa.ground, name="p"),
        {"asked": "u_ab", "possible": lambda found: "u_a" in found and "u_b" in found},
    ),
}


KINDS = dict.fromkeys(("missing", "extra", "reserved"), sa.ParameterError) | dict.fromkeys(
    ("letters", "time", "twice", "quantity", "end"), sa.ConstraintError
)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_told(wrong: str) -> None:
    make, data = WRONG[wrong]
    kind = KINDS.get(wrong, sa.KinematicsError)
    with refused(kind, **data):
        make()


@pytest.mark.collective(rows=0)
def test_values_by_place_must_be_as_many() -> None:
    body = rope()
    term = sa.Potential(lambda u_a, *, k: k * u_a[0], body["body"], name="p", k=[1.0, 2.0])
    with refused(sa.ParameterError, asked="k", given=(2,), possible=((), (5,))):
        sa.System(body, terms=[term])


@pytest.mark.collective(rows=0)
def test_arrays_given_may_be_changed_afterwards() -> None:
    def spring(r_a: Any, X_a: Any, *, k: Any) -> Any:
        return k / 2 * (r_a - X_a).dot(r_a - X_a)

    found = []
    for spoil in (False, True):
        sheet = plate()
        k, place, load = (
            np.array([1.0, 2.0, 3.0]),
            np.array([0.5, 0.5, 0.0]),
            np.array([0, 0, 1e-5]),
        )
        terms = [
            sa.fix(sheet["x0"]),
            sa.Potential(spring, sheet["x1"], k=k),
            sa.force(sheet.at(place), load),
        ]
        for given in (k, place, load) if spoil else ():
            given[:] = 50.0
        system = sa.System(sheet, terms=terms)
        sa.StaticProblem(system).solve()
        found.append(system.displacement(sheet["x1"]))
    assert np.abs(found[0]).max() > 1e-6
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-15)
