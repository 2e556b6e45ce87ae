# SPDX-License-Identifier: BSD-3-Clause
"""Moments: at random states their power is M . omega, and their tangent that of the forces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from tests.motion import leave_out
from tests.refusals import refused

HEX8, PLATE = sa.elements.hex8_plain, sa.elements.ancf_plate
THIN, CABLE = sa.elements.ancf_thin_plate, sa.elements.ancf_cable
M = np.array([3.0, -2.0, 1.5])
TILT = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])


def bent(X: Any) -> Any:
    """Roll a sheet up by a right angle about y, and shear it."""
    s = X[:, 0]
    return np.stack([np.sin(s) + 0.1 * X[:, 1], X[:, 1] + X[:, 2], 1.0 - np.cos(s)], axis=1)


def made(element: Any, warp: Any = None) -> sa.Body:
    sizes = {"line": ((1.2,), (2,)), "quad": ((1.2, 0.6), (2, 1))}
    box = sizes.get(element.cell, ((1.2, 0.6, 0.5), (2, 1, 1)))
    mesh = sa.Mesh.box(*box, warp=warp)
    if element is CABLE:
        return sa.Body(mesh["body"], CABLE, cable(), EA=1.0, EI=1.0)
    energy = kirchhoff() if element is THIN else saint_venant_kirchhoff()
    section = {} if element is HEX8 else {"thickness": 0.1}
    return sa.Body(mesh["body"], element, energy, E=1.0, nu=0.3, **section)


POINT = np.array([0.7, 0.2, 0.0])
CASES = {
    "cable node": (CABLE, None, "x1", None),
    "cable point": (CABLE, bent, POINT * [1, 0, 0], None),
    "thin plate point": (THIN, None, POINT, None),
    "thin plate point, in the body": (THIN, None, POINT, TILT),
    "curved thin plate, nodes": (THIN, bent, "x1", None),
    "plate node": (PLATE, None, "x1", None),
    "plate point": (PLATE, bent, POINT, None),
    "plate point, in the body": (PLATE, None, POINT, TILT),
    "solid point": (HEX8, None, POINT, None),
    "solid point, in the body": (HEX8, None, POINT, TILT),
}


class Case:
    """A moment on a body at a random state, and its forces written in NumPy."""

    def __init__(self, element: Any, warp: Any, place: Any, frame: Any) -> None:
        self.body = made(element, warp)
        if isinstance(place, str):
            self.place = self.body[place]
        else:
            at = place if warp is None else warp(place[None])[0]
            if warp is not None:  # on the curved body itself
                nodes = self.body.region.mesh.points
                at = nodes[np.argmin(np.linalg.norm(nodes - at, axis=1))]
            self.place = self.body.at(at, frame=frame)
        self.frame = frame
        kind = "space" if frame is None else "body"
        self.load = sa.moment(self.place, M, frame=kind)
        self.system = sa.System(self.body, terms=[self.load])
        strains = [form.name for form in self.system._discrete.forms if form.role == "strain"]
        leave_out(self.system._discrete.assembler, *strains)
        numbering = self.system._discrete.numbering
        self.q = 0.3 * numbering.random(1)
        self.rate = numbering.random(2)
        jets = [j for j in ("xi", "eta", "zeta") if j in element.space.point_jets]
        if isinstance(place, str):
            jets = [f"slope{k}" for k in range(len(element.slopes))]
        self.B = self._jets(jets)

    def _jets(self, jets: list[str]) -> Any:
        """Return the derivatives at the places as matrices, (places, jets, 3, coordinates)."""
        system, end = self.system, self.place
        places = end.resolve(system._discrete.layout)
        ids = system._discrete.topology.vertex_ids
        local = np.argsort(ids)[np.searchsorted(np.sort(ids), places.vertices)].astype(np.int32)
        B = np.zeros((places.size, len(jets), 3, system._discrete.numbering.coordinates))
        for k, jet in enumerate(jets):
            rows = end.rows(system._discrete, places, local, jet)
            place, component, coordinate, _, value = rows
            np.add.at(B, (place, k, component, coordinate), value)
        return B

    def gradient(self, place: int, q: Any) -> Any:
        """Return the columns f_k of a place, completed by the unit normal, as (3, m or 3)."""
        f = list(self.B[place] @ (self.system.reference + q))
        if len(f) == 2:
            n = np.cross(*f)
            f.append(n / np.sqrt(n @ n))
        return np.stack(f, axis=1)

    def moment(self, place: int, q: Any) -> Any:
        """Return the moment on a place in space."""
        share = M / len(self.B)
        if self.frame is None:
            return share
        R, F = self.gradient(place, 0 * q), self.gradient(place, q)
        axes = F @ np.linalg.inv(R) @ self.frame
        first, normal = axes[:, 0], np.cross(axes[:, 0], axes[:, 1])
        t1, t3 = first / np.sqrt(first @ first), normal / np.sqrt(normal @ normal)
        return np.stack([t1, np.cross(t3, t1), t3], axis=1) @ share

    def spin(self, place: int, q: Any, rate: Any) -> Any:
        """Return the spin: half the vector of L - L^T, L = dF/dt F^-1 (cables: f x df/dt)."""
        h = 1e-30
        F = self.gradient(place, q)
        Fdot = self.gradient(place, q + 1j * h * rate).imag / h
        if F.shape[1] == 1:
            return np.cross(F[:, 0], Fdot[:, 0]) / (F[:, 0] @ F[:, 0])
        L = Fdot @ np.linalg.inv(F)
        return 0.5 * np.array([L[2, 1] - L[1, 2], L[0, 2] - L[2, 0], L[1, 0] - L[0, 1]])

    def force(self, q: Any) -> Any:
        """Return Q(q), analytic in q, from the closed forms for one, two and three slopes."""
        Q = np.zeros(self.B.shape[-1], dtype=q.dtype)
        for place, B in enumerate(self.B):
            m, F = self.moment(place, q), self.gradient(place, q)
            if len(B) == 1:
                f = F[:, 0]
                forces = [np.cross(m, f) / (f @ f)]
            else:
                dual = np.linalg.inv(F)
                forces = [np.cross(m, dual[k]) / 2 for k in range(len(B))]
                if len(B) == 2:
                    n = F[:, 2]
                    forces = [c + n * (n @ c) for c in forces]
            for k, c in enumerate(forces):
                Q += B[k].T @ c
        return Q


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request: Any) -> Case:
    return Case(*request.param)


def test_the_power_is_that_of_the_moment_on_the_spin(case: Case) -> None:
    case.system._discrete.assembler.update(0.0)
    Q = -case.system._discrete.residual_at(case.q)
    powers = [case.moment(k, case.q) @ case.spin(k, case.q, case.rate) for k in range(len(case.B))]
    assert abs(sum(powers)) > 1e-2
    assert Q @ case.rate == pytest.approx(sum(powers), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(case.force(case.q), Q, rtol=1e-12, atol=1e-12)


def test_the_tangent_is_that_of_the_complex_step(case: Case) -> None:
    assembler, n = case.system._discrete.assembler, len(case.q)
    assembler.update(0.0)
    h, K, exact = 1e-30, np.zeros((n, n)), np.zeros((n, n))
    for c, v in enumerate(np.eye(n)):
        column = np.zeros(n)
        assembler.product(case.q, v, column)
        K[:, c] = column
        exact[:, c] = -case.force(case.q + 1j * h * v).imag / h
    size = np.abs(exact).max()
    assert size > 0.1
    assert np.abs(K - exact).max() < 1e-10 * size
    assert np.abs(K - K.T).max() > 1e-3 * size  # it is not conservative


def test_the_matrix_is_the_tangent(case: Case) -> None:
    assembler, n = case.system._discrete.assembler, len(case.q)
    assembler.update(0.0)
    matrix, f = case.system._discrete.matrix, np.zeros(n)
    assembler.tangent(case.q, f, matrix)
    column = np.zeros(n)
    v = case.system._discrete.numbering.random(7)
    assembler.product(case.q, v, column)
    x = matrix.mat.createVecRight()
    x.setArray(case.system._discrete.numbering.to_rows(v))
    answer = (matrix.mat * x).getArray()
    np.testing.assert_allclose(answer, case.system._discrete.numbering.to_rows(column), atol=1e-12)


def test_a_moment_in_the_body_turns_with_it() -> None:
    body = made(PLATE)
    place = body.at(POINT)
    load = sa.moment(place, (0.0, 0.0, 2.0), frame="body")
    system = sa.System(body, terms=[load])
    turn = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])  # a quarter about x
    q = system.reference.reshape(-1, 3)
    system.state[:] = (q @ turn.T - q).ravel()
    np.testing.assert_allclose(load.total(system), [0.0, -2.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("element", [PLATE, HEX8])
def test_a_section_turned_inside_out_is_a_bad_point(element: Any) -> None:
    body = made(element)
    system = sa.System(body, terms=[sa.moment(body.at(POINT), M)])
    leave_out(system._discrete.assembler, body.name)
    system._discrete.assembler.update(0.0)
    f = np.zeros_like(system.state)
    assert system._discrete.assembler.residual(system.state, f) == 0
    mirrored = (system.reference.reshape(-1, 3) * [0.0, 0.0, -2.0]).ravel()
    assert system._discrete.assembler.residual(mirrored, f) == 1


def test_each_or_total() -> None:
    body = made(THIN)
    nodes = body["y1"]
    each, total = (sa.moment(nodes, (0, 1, 0), distribute=d) for d in ("each", "total"))
    system = sa.System(body, terms=[each, total])
    np.testing.assert_allclose(each.total(system), [0, 3, 0])
    np.testing.assert_allclose(total.total(system), [0, 1, 0])


@pytest.mark.parametrize(
    ("make", "kind", "data"),
    [
        (
            lambda: sa.moment(made(HEX8)["x1"], M),
            sa.KinematicsError,
            {"asked": "place", "given": "nodes of 'x1' of 'body'"},
        ),
        (
            lambda: sa.moment(made(CABLE)["x1"], M, frame="body"),
            sa.KinematicsError,
            {"asked": "frame", "given": "body", "possible": ("space",)},
        ),
        (
            lambda: sa.moment(made(THIN)["x1"], M, frame="word"),
            sa.ParameterError,
            {"asked": "frame", "given": "word", "possible": ("space", "body")},
        ),
        (
            lambda: sa.moment(made(THIN)["x1"], M, distribute="all"),
            sa.ParameterError,
            {"asked": "distribute", "given": "all", "possible": ("total", "each")},
        ),
        (
            lambda: sa.moment(sa.ground.at((0, 0, 0)), M),
            sa.KinematicsError,
            {"asked": "place", "given": "the ground"},
        ),
        (
            lambda: sa.moment(3.0, M),
            sa.ParameterError,
            {"asked": "place", "given": "float"},
        ),
    ],
)
def test_what_cannot_be(make: Any, kind: type[sa.SymancfError], data: dict[str, Any]) -> None:
    with refused(kind, **data):
        make()


# ---- rigid bodies -----------------------------------------------------------------------------
def gradient_of_rigid(q: Any) -> Any:
    r_i, r_j, u, v = q.reshape(4, 3)
    return np.stack([r_j - r_i, u, v], axis=1)


def force_on_rigid(q: Any, M: Any) -> Any:
    """Return Q by the dual vectors: off the constraints of rigidity, too."""
    dual = np.linalg.inv(gradient_of_rigid(q))
    first, *rest = (np.cross(M, g) / 2 for g in dual)
    return np.concatenate([-first, first, *rest])


@pytest.mark.parametrize("frame", ["space", "body"])
def test_a_moment_on_a_rigid_body_off_its_constraints(frame: Any) -> None:
    turn = np.array([[0.0, -0.8, 0.6], [1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
    body = sa.RigidBody.box((0.6, 0.4, 0.4), position=(1.0, 2.0, 3.0), frame=turn, rho=1000.0)
    system = sa.System(body, terms=[sa.moment(body, M, frame=frame)])
    assembler = system._discrete.assembler
    leave_out(assembler, "rigidity:rigid body")
    assembler.update(0.0)
    numbering = system._discrete.numbering
    vertex = system._discrete.binding(body).local_vertices(system._discrete)
    own = (body._offsets(system._discrete, vertex)[0][:, None] + np.arange(3)).ravel()
    state, rate = 0.2 * numbering.random(1), numbering.random(2)[own]
    q = (system.reference + state)[own]
    assert np.abs(np.linalg.det(gradient_of_rigid(q)) - 0.3) > 1e-2  # far from rigid

    def moment(q: Any) -> Any:
        if frame == "space":
            return M
        first, u, _ = gradient_of_rigid(q).T
        normal = np.cross(first, u)
        t1, t3 = first / np.sqrt(first @ first), normal / np.sqrt(normal @ normal)
        return np.stack([t1, np.cross(t3, t1), t3], axis=1) @ M

    Q = -system._discrete.residual_at(state)[own]
    L = gradient_of_rigid(rate) @ np.linalg.inv(gradient_of_rigid(q))
    spin = 0.5 * np.array([L[2, 1] - L[1, 2], L[0, 2] - L[2, 0], L[1, 0] - L[0, 1]])
    assert abs(moment(q) @ spin) > 1e-2
    assert Q @ rate == pytest.approx(moment(q) @ spin, rel=1e-12)
    exact, K = np.zeros((12, 12)), np.zeros((12, 12))
    for c in range(12):
        step = 1e-30j * np.eye(12)[c]
        exact[:, c] = -force_on_rigid(q + step, moment(q + step)).imag / 1e-30
        v, column = np.zeros(numbering.coordinates), np.zeros(numbering.coordinates)
        v[own[c]] = 1.0
        assembler.product(state, v, column)
        K[:, c] = column[own]
    assert np.abs(K - exact).max() < 1e-10 * np.abs(exact).max()
    # on the constraints: M x u/2, M x v/2 and a couple of forces on r_i, r_j
    free = -system._discrete.residual_at(np.zeros_like(state))[own].reshape(4, 3)
    axes = turn * [0.3, 1.0, 1.0]
    m = M if frame == "space" else turn @ M
    np.testing.assert_allclose(free[1], np.cross(m, axes[:, 0]) / (2 * 0.3**2), atol=1e-13)
    np.testing.assert_allclose(free[0], -free[1], atol=1e-13)
    np.testing.assert_allclose(free[2:], np.cross(m, axes[:, 1:].T) / 2, atol=1e-13)
