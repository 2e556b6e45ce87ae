# SPDX-License-Identifier: BSD-3-Clause
"""Plates of layers against classical laminate theory, bimetals, and plates of one layer."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.assembly.assembler import Assembler
from symancf.elements import ancf_plate, ancf_thick_plate, ancf_thin_plate, hex8
from symancf.energies import (
    kirchhoff,
    neo_hooke,
    orthotropic,
    saint_venant_kirchhoff,
    swollen,
    yeoh,
)
from symancf.laws.accuracy import digits_lost
from symancf_codegen.library.fingerprint import fingerprint
from tests.refusals import refused

PLY = {"E1": 140.0, "E2": 10.0, "E3": 9.0, "nu12": 0.3, "nu13": 0.25, "nu23": 0.4}
PLY |= {"G12": 5.0, "G13": 4.5, "G23": 3.5}
RUBBER = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 20.0}


def reduced(E1: float, E2: float, nu12: float, G12: float, **_: float) -> np.ndarray:
    """Return the stiffness of a layer in plane stress, (11, 22, 2 x 12)."""
    nu21 = nu12 * E2 / E1
    d = 1.0 - nu12 * nu21
    return np.array([[E1 / d, nu12 * E2 / d, 0], [nu12 * E2 / d, E2 / d, 0], [0, 0, G12]])


def abd(angles: Sequence[float], heights: Sequence[float], turn: float = 0.0) -> np.ndarray:
    """Return A, B, D (3, 3, 3) of layers of `PLY` between heights z."""
    total = np.zeros((3, 3, 3))
    for angle, low, high in zip(angles, heights, heights[1:], strict=False):
        c, s = np.cos(np.radians(angle + turn)), np.sin(np.radians(angle + turn))
        T = np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2 * c * s, 2 * c * s, 0]])
        T[2, 2] = c * c - s * s
        Q = T.T @ reduced(**PLY) @ T
        for n in range(3):
            total[n] += Q * (high ** (n + 1) - low ** (n + 1)) / (n + 1)
    return total


def put(system: Any, body: Any, u: Callable[..., Any], G: Callable[..., Any]) -> None:
    """Write a displacement u(X) (n, 3) with the gradient G(X) (n, 3, 3) to the nodes."""
    on = system._discrete.binding(body).interpolation
    nodes = np.unique(on.cells)
    X = system._discrete.points[nodes]
    system.state[on.offset(nodes, "value")[:, None] + np.arange(3)] = u(X)
    slopes = np.einsum("nab,nkb->nka", G(X), on.basis[nodes])
    for k in range(slopes.shape[1]):
        system.state[on.offset(nodes, f"slope{k}")[:, None] + np.arange(3)] = slopes[:, k]


def bent(strain: np.ndarray, kappa: np.ndarray, across: float = 0.0) -> tuple[Any, Any]:
    """Return displacement and gradient of constant strain and curvature (11, 22, 2 x 12)."""
    e = np.array([[strain[0], strain[2] / 2], [strain[2] / 2, strain[1]]])
    k = np.array([[kappa[0], kappa[2] / 2], [kappa[2] / 2, kappa[1]]])

    def u(X: np.ndarray) -> np.ndarray:
        x = X[:, :2]
        return np.column_stack([x @ e, 0.5 * np.einsum("na,ab,nb->n", x, k, x)])

    def G(X: np.ndarray) -> np.ndarray:
        found = np.zeros((len(X), 3, 3))
        found[:, :2, :2] = e
        found[:, 2, :2] = X[:, :2] @ k
        found[:, :2, 2] = -found[:, 2, :2]
        found[:, 2, 2] = across
        return found

    return u, G


def test_energy_is_that_of_classical_laminate_theory() -> None:
    """Constant strain and curvature: stretch, bend and twist and all couplings between them."""
    angles, h, offset = [20, 75, -40], 0.1, 0.035
    part = np.arange(1, len(angles) + 1) / (len(angles) * (len(angles) + 1) / 2) * h
    heights = np.concatenate([[-h / 2], -h / 2 + np.cumsum(part)]) + offset
    A, B, D = abd(angles, heights, turn=25.0)
    axis = (math.cos(math.radians(25.0)), math.sin(math.radians(25.0)), 0.3)
    layers = sa.Layers(
        [(orthotropic(), t, a) for t, a in zip(part, angles, strict=True)],
        degrees=True,
        axis=axis,
        offset=offset,
    )
    mesh = sa.Mesh.box((1.0, 0.7), (2, 2))
    E, k = 1e-8 * np.array([1.0, -0.6, 0.5]), 1e-7 * np.array([0.7, -1.1, 1.6])
    right = 0.7 * (E @ A @ E / 2 - E @ B @ k + k @ D @ k / 2)
    for resultants in (True, False):
        vars(layers)["resultants"] = resultants
        body = sa.Body(mesh["body"], ancf_thin_plate, layers, **PLY)
        system = sa.System(body)
        put(system, body, *bent(E, k))
        assert system.strain_energy() == pytest.approx(right, rel=1e-6)
    # with directors: no shear, the thickness as it likes best
    body = sa.Body(mesh["body"], ancf_plate, layers, **PLY)
    system = sa.System(body)
    energies = []
    for across in (-1e-8, 0.0, 1e-8):
        put(system, body, *bent(E, k, across))
        energies.append(system.strain_energy())
    low = np.polyfit([-1.0, 0.0, 1.0], energies, 2)
    assert low[2] - low[1] ** 2 / (4.0 * low[0]) == pytest.approx(right, rel=1e-6)
    with refused(sa.ParameterError, asked="middle", given=False, possible=(True,)):
        body["body"].face(+1)
    solid = sa.sample(system, body, fields={}, divisions=1, solid=True)
    assert solid.points[:, 2].max() == pytest.approx(0.085, abs=1e-6)


def test_stresses_of_layers_and_resultants() -> None:
    angles, part = [20, 75, 20], np.array([0.04, 0.04, 0.02])
    layers = sa.Layers(
        [(orthotropic(), t, a) for t, a in zip(part, angles, strict=True)], degrees=True
    )
    A, B, D = abd(angles, [-0.05, -0.01, 0.03, 0.05])
    E, k = 1e-8 * np.array([1.0, -0.6, 0.5]), 1e-7 * np.array([0.7, -1.1, 1.6])
    tensor = lambda v: np.array([[v[0], v[2], 0.0], [v[2], v[1], 0.0], [0.0, 0.0, 0.0]])  # noqa: E731
    mesh = sa.Mesh.box((1.0, 0.7), (2, 2))
    for element in (ancf_thin_plate, ancf_plate):
        body = sa.Body(mesh["body"], element, layers, **PLY)
        system = sa.System(body)
        put(system, body, *bent(E, k))
        if element is ancf_thin_plate:
            samples = sa.sample(system, body, at="cell")
            for name, right in (
                ("membrane_force", A @ E - B @ k),
                ("bending_moment", D @ k - B @ E),
            ):
                found, whole = samples.cell_data[name].mean(axis=0), tensor(right)
                assert np.abs(found - whole).max() < 1e-6 * np.abs(whole).max()
        for layer, place, z in ((1, "bottom", -0.05), (1, "top", -0.01), (2, 0.5, 0.02)):
            e = E - z * k
            c, s = np.cos(np.radians(angles[layer - 1])), np.sin(np.radians(angles[layer - 1]))
            turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            own = turn.T @ tensor(e * [1, 1, 0.5]) @ turn
            fields = {"E": "E_layer", "S": "S_layer", "global": "S"}
            found = sa.sample(
                system, body, fields=fields, at="gauss", layer=(layer, place)
            ).point_data
            assert np.abs(found["E"][:, :2, :2] - own[:2, :2]).max() < 1e-6 * np.abs(own).max()
            if element is ancf_thin_plate:
                right = tensor(reduced(**PLY) @ [own[0, 0], own[1, 1], 2 * own[0, 1]])
                assert np.abs(found["S"] - right).max() < 1e-5 * np.abs(right).max()
                back = turn @ right @ turn.T
                assert np.abs(found["global"] - back).max() < 1e-5 * np.abs(right).max()
        with refused(sa.KinematicsError, asked="S", possible=(1, 2, 3)):
            sa.sample(system, body, fields={"s": "S"})
        with refused(sa.ParameterError, asked="layer", given=4, possible=(1, 2, 3)):
            sa.sample(system, body, layer=4)


@pytest.mark.parametrize(
    ("angles", "offset"), [([30], 0.0), ([0, 90], 0.035), ([20, 75, -40], 0.0)]
)
@pytest.mark.parametrize("element", [ancf_plate, ancf_thick_plate])
def test_resultants_are_those_of_classical_laminate_theory(
    element: Any, angles: list[float], offset: float
) -> None:
    """N = A E - B kappa, M = D kappa - B E, without Poisson's effect across the layers.

    They need no layer that is named: neither `results` nor `sample` asks for one.
    """
    part = np.arange(1, len(angles) + 1) / (len(angles) * (len(angles) + 1) / 2) * 0.1
    layers = [(orthotropic(), t, a) for t, a in zip(part, angles, strict=True)]
    A, B, D = abd(angles, np.concatenate([[0.0], np.cumsum(part)]) - 0.05 + offset)
    E, k = 1e-9 * np.array([1.0, -0.6, 0.5]), 1e-8 * np.array([0.7, -1.1, 1.6])
    mesh = sa.Mesh.box((1.0, 0.7), (2, 2))
    given = PLY | {"nu13": 0.0, "nu23": 0.0}
    body = sa.Body(mesh["body"], element, sa.Layers(layers, degrees=True, offset=offset), **given)
    system = sa.System(body)
    put(system, body, *bent(E, k))
    shown = sa.results(system)["body"] if len(angles) > 1 else sa.sample(system, body)
    for name, v in (("membrane_force", A @ E - B @ k), ("bending_moment", D @ k - B @ E)):
        right = np.array([[v[0], v[2], 0.0], [v[2], v[1], 0.0], [0.0, 0.0, 0.0]])
        assert np.abs(shown.point_data[name] - right).max() < 2e-6 * np.abs(right).max()


@pytest.mark.filterwarnings("ignore:.*not symmetric about their middle")
def test_resultants_of_layers_do_the_work_of_the_residual() -> None:
    """Two rubbers at a large stretch s: the residual works N s per width and change of s."""
    other = {"C10": 2.0, "k": 40.0}
    layers = sa.Layers(
        [(yeoh(), 0.02), (neo_hooke(), 0.03, 0.0, {"mu": 1.3, "lam": 9.0})], offset=0.01
    )
    mesh = sa.Mesh.box((1.0, 0.5), (2, 1))
    body = sa.Body(mesh["body"], ancf_plate, layers, **RUBBER | other)
    system = sa.System(body)
    along, s = np.diag([1.0, 0.0, 0.0]), 1.3
    put(system, body, lambda X: X @ along, lambda X: np.tile(along, (len(X), 1, 1)))
    stretch = system.state.copy()
    wide = np.diag([s - 1.0, 0.0, -0.2])
    put(system, body, lambda X: X @ wide, lambda X: np.tile(wide, (len(X), 1, 1)))
    f = np.zeros_like(system.state)
    system._discrete.prescribe(0.0)
    system._discrete.assembler.residual(system.state, f)
    data = sa.sample(system, body, at="cell", divisions=1).cell_data
    np.testing.assert_allclose(data["membrane_force"][:, 0, 0] * s * 0.5, f @ stretch, rtol=1e-12)


@pytest.mark.parametrize("element", [ancf_plate, ancf_thin_plate])
def test_layups_share_a_kernel(element: Any) -> None:
    """Thicknesses, angles, offset and axis are numbers that it reads; a law more is another one."""
    mesh, law = sa.Mesh.box((1.0, 0.7), (1, 1)), orthotropic()

    def key(*layers: Any, **given: Any) -> str:
        laws = sa.Body(mesh["body"], element, sa.Layers(layers, degrees=True, **given), **PLY)._laws
        return fingerprint("plate", element.space, laws, True)

    right = key((law, 0.1, 20), (law, 0.2, 75), (law, 0.1, 0), offset=0.01)
    own = (law, 0.1, 0, {"E1": 100.0})
    others: list[Any] = [[(law, 0.3, -40), (law, 0.1, 45), (law, 0.1, 30)], [(law, 0.1)] * 2]
    assert key(*others[0], axis=(1.0, 2.0, 0.5), offset=-0.2) == right
    assert (key(*others[1], offset=0.1) == right) == (element is ancf_thin_plate)  # of any number
    assert key((law, 0.1, 20), (law, 0.2, 75), own, offset=0.01) != right


def test_mass_of_layers() -> None:
    """Layers of different density: mass, centre and rotary inertia."""
    law, _h = saint_venant_kirchhoff(), 0.4
    layers = sa.Layers([(law, 0.1, 0, {"rho": 8.0, "E": 2.0}), (law, 0.3, 0, {"rho": 2.0})])
    mesh = sa.Mesh.box((1.0, 1.0), (1, 1))
    for element in (ancf_plate, ancf_thin_plate):
        body = sa.Body(mesh["body"], element, layers, E=1.0, nu=0.3)
        system = sa.System(body)
        assembler = Assembler(
            system._discrete.binding(body).inertia(system),
            system._discrete.numbering,
            system.reference,
            system.comm,
        )
        assembler.update(0.0)
        for name, spin in (("still", 0.0), ("turns", 1.0)):

            def velocity(X, w=spin):
                return np.column_stack([0 * X[:, 0] + 1.0, 0 * X[:, 0], -w * X[:, 0]])

            rate = lambda X, w=spin: np.tile([[0, 0, w], [0, 0, 0], [-w, 0, 0.0]], (len(X), 1, 1))  # noqa: E731
            put(system, body, velocity, rate)
            m = 0.1 * 8.0 + 0.3 * 2.0
            first = 8.0 * (0.1**2 / 2 - 0.2 * 0.1) + 2.0 * (0.2**2 - 0.1**2) / 2
            second = (8.0 * (0.2**3 - 0.1**3) + 2.0 * (0.2**3 + 0.1**3)) / 3
            thick = element is ancf_plate
            right = m / 2 + spin * (m / 3 / 2 + thick * (first + second / 2))
            found = assembler.energies(system.state)[0].sum()
            assert found == pytest.approx(right, rel=1e-12), name
    half = sa.Layers([(law, 0.1, 0, {"rho": 8.0}), (law, 0.3)])
    with refused(sa.ParameterError, asked="rho", given=("rho_1",), possible=("rho_1", "rho")):
        sa.Body(mesh["body"], ancf_plate, half, E=1.0, nu=0.3)


def tip(element: Any, law: Any, load: float = 1e-3, **given: Any) -> np.ndarray:
    mesh = sa.Mesh.box((1.0, 0.3), (4, 1))
    body = sa.Body(mesh["body"], element, law, **given)
    pulled = sa.force(body["x1"], (0.0, 0.0, lambda t: load * t))
    system = sa.System(body, terms=[sa.fix(body["x0"]), pulled])
    sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
    return np.asarray(system.displacement(body["x1"])).copy()


@pytest.mark.parametrize("element", [ancf_plate, ancf_thin_plate])
def test_equal_layers_are_one_and_one_is_none(element: Any) -> None:
    metal, h = {"E": 1e3, "nu": 0.3}, 0.05
    law = saint_venant_kirchhoff()
    plain = law if element is ancf_plate else kirchhoff()
    right = tip(element, plain, **metal, thickness=h)
    own = {"E": 1e3}
    every: list[Any] = [
        [(law, h / 5)] * 5,
        [(law, 0.2 * h, 0, own), (law, 0.5 * h), (law, 0.3 * h, 0, own)],
        [(law, h)],
        [(law, 0.4 * h, 30), (law, 0.6 * h, -45)],
    ]
    for n, layers in enumerate(every):
        # the terms of higher order in the thickness are others where there are two kinds of layers
        tolerance = 1e-4 if element is ancf_plate and n == 1 else 1e-12
        found = tip(element, sa.Layers(layers, degrees=True), **metal)
        assert np.abs(found - right).max() <= tolerance * np.abs(right).max()
    half = tip(
        element, sa.Layers([(law, 2.0)] * 3, degrees=True), **metal, thickness=h
    )  # in proportion
    assert np.abs(half - right).max() <= 1e-12 * np.abs(right).max()


def test_rubber_in_layers_of_a_thin_plate_is_in_plane_stress() -> None:
    """Two layers of rubber, one twice as stiff, stretched in their plane: the thickness follows."""
    soft = {"mu": 1.0, "lam": 20.0}
    stiff = {p: 2.0 * v for p, v in soft.items()}
    layers = sa.Layers([(neo_hooke(), 0.03), (neo_hooke(), 0.02, 0.0, stiff)])
    mesh = sa.Mesh.box((1.0, 0.7), (1, 1))
    body = sa.Body(mesh["body"], ancf_thin_plate, layers, **soft)
    system = sa.System(body)

    def W(a: float, b: float) -> float:
        def of(t: float) -> float:
            log_J, I1 = math.log(a * b * t), a**2 + b**2 + t**2
            mu, lam = soft.values()
            return float(mu / 2 * (I1 - 3 - 2 * log_J) + lam / 2 * log_J**2)

        t = 1.0 / (a * b)
        for _ in range(60):
            d = 1e-4
            slope = (of(t + d) - of(t - d)) / (2 * d)
            t -= slope / ((of(t + d) - 2 * of(t) + of(t - d)) / d**2)
        return of(t)

    for a, b in ((1.001, 1.0), (1.3, 0.9), (2.0, 1.5), (0.7, 1.1)):
        u = lambda X, a=a, b=b: X * [a - 1.0, b - 1.0, 0.0]  # noqa: E731
        G = lambda X, a=a, b=b: np.tile(np.diag([a - 1.0, b - 1.0, 0.0]), (len(X), 1, 1))  # noqa: E731
        put(system, body, u, G)
        right = 0.7 * (0.03 + 2.0 * 0.02) * W(a, b)
        assert system.strain_energy() == pytest.approx(right, rel=1e-6)


@pytest.mark.parametrize("element", [ancf_plate, ancf_thin_plate])
def test_a_bimetal_bends_as_timoshenko_says(element: Any) -> None:
    """S. Timoshenko, J. Opt. Soc. Am. 11 (1925) 233-255, eq. (4), to both sides alike."""
    h1, h2, E1, E2, grown = 0.02, 0.03, 200.0, 90.0, 1e-7
    m, n = h1 / h2, E1 / E2
    right = 6 * grown * (1 + m) ** 2
    right /= (h1 + h2) * (3 * (1 + m) ** 2 + (1 + m * n) * (m**2 + 1 / (m * n)))
    warm = swollen(saint_venant_kirchhoff())
    upper = (warm, h2, 0.0, {"E": E2, "swelling": lambda t: 1.0 + grown * t})
    layers = sa.Layers([(saint_venant_kirchhoff(), h1, 0.0, {"E": E1}), upper], degrees=True)
    mesh = sa.Mesh.box((1.0, 0.2), (4, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # stressed at rest, as it is meant
        body = sa.Body(mesh["body"], element, layers, nu=0.3)
        held = [sa.fix(body.at((0.0, 0.0, 0.0)), "position")]
        held += [
            sa.fix(body.at((0.0, 0.2, 0.0)), ["x", "z"]),
            sa.fix(body.at((1.0, 0.0, 0.0)), "z"),
        ]
        system = sa.System(body, terms=held)
        sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
    z = system.displacement(body.at([(0.5, 0.0, 0.0), (1.0, 0.2, 0.0)]))[:, 2]
    assert z[0] == pytest.approx(right / 8.0, rel=1e-5)  # the upper layer is longer: middle up


def test_a_jump_through_the_thickness_is_told_and_layers_have_it_right() -> None:
    """Stiff faces and a soft core: three points of the whole see too little of the faces."""

    def sandwich(E_gl: Any, X: Any, *, E: Any, nu: Any) -> Any:
        parts = saint_venant_kirchhoff()(E_gl, E=E, nu=nu)
        stiff = sp.Piecewise((10, X[2] ** 2 > 0.02**2), (1, True))
        return {name: stiff * w for name, w in parts.items()}

    metal, law = {"E": 1e3, "nu": 0.0}, saint_venant_kirchhoff()
    face = (law, 0.005, 0.0, {"E": 1e4})
    right = tip(ancf_plate, sa.Layers([face, (law, 0.04), face], degrees=True), **metal)[0, 2]
    thin = tip(ancf_thin_plate, sa.Layers([face, (law, 0.04), face], degrees=True), **metal)[0, 2]
    assert right == pytest.approx(thin, rel=0.03)
    with pytest.warns(UserWarning, match="points through a thickness know of none between"):
        wrong = tip(ancf_plate, sandwich, thickness=0.05, **metal)[0, 2]
    assert abs(wrong / right - 1.0) > 0.3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fine = tip(ancf_plate, sandwich, thickness=0.05, quadrature="4x4x40", **metal)[0, 2]
    assert fine == pytest.approx(right, rel=0.03)


@pytest.mark.parametrize(
    ("layers", "asked", "given", "possible"),
    [
        ([], "layers", (), ()),
        ([(yeoh(),)], "layers", ("<function yeoh>",), ()),
        ([(yeoh(), 0.0)], "thickness", 0.0, ()),
        ([(yeoh(), 1.0, "x")], "angle", "x", ()),
        ([(yeoh(), 1.0, 0.0, {"C1": 1.0})], "C1", None, ("C10", "C20", "C30", "k", "rho")),
    ],
)
def test_wrong_layers_are_told(layers: Any, asked: str, given: Any, possible: Any) -> None:
    with refused(sa.ParameterError, asked=asked, given=given, possible=possible):
        sa.Layers(layers, degrees=True)


def test_layers_that_lean_are_told_where_they_share_their_change_of_thickness() -> None:
    """Two rubbers on `ancf_plate` bend by 12 % too little where they are pulled."""
    square = sa.Mesh.box((1.0, 1.0), (1, 1))
    stiff, soft = (yeoh(), 0.01, 0.0, {"C10": 5.0}), (yeoh(), 0.01)
    with pytest.warns(UserWarning, match="not symmetric about their middle"):
        sa.Body(square["body"], ancf_plate, sa.Layers([stiff, soft], degrees=True), **RUBBER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.Body(square["body"], ancf_plate, sa.Layers([stiff, soft, stiff], degrees=True), **RUBBER)
        sa.Body(square["body"], ancf_thin_plate, sa.Layers([stiff, soft], degrees=True), **RUBBER)


def test_layers_are_for_plates() -> None:
    cube = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    with refused(
        sa.KinematicsError,
        asked="element",
        given="hex8",
        possible=("ancf_plate", "ancf_thin_plate"),
    ):
        sa.Body(cube["body"], hex8, sa.Layers([(yeoh(), 1.0)]), **RUBBER)
    with refused(sa.ParameterError, asked="axis", given=(0.0, 0.0, 0.0)):
        sa.Layers([(yeoh(), 1.0)], axis=(0.0, 0.0, 0.0))
    with refused(sa.ParameterError, asked="axis", given=(0.0, "Parameter('y', 1)", 0.0)):
        sa.Layers([(yeoh(), 1.0)], axis=(0.0, sa.Parameter("y", 1.0), 0.0))
    with refused(sa.KinematicsError, asked="kappa", possible=lambda names: "E_gl" in names):
        swollen(kirchhoff())


@pytest.mark.parametrize("element", [ancf_plate])
def test_cells_that_lie_upside_down_are_told(element: Any) -> None:
    """Their layers would be in opposite order; where all cells are turned it is no matter."""
    X = np.array([[x, y, 0.0] for x in (0.0, 1.0, 2.0) for y in (0.0, 1.0)])
    turned = {"quad": np.array([[0, 2, 3, 1], [2, 3, 5, 4]])}
    alike = {"quad": turned["quad"][:, ::-1].copy()}
    alike["quad"][1] = turned["quad"][1]
    regions = {"plate": ("quad", [0, 1])}
    two = sa.Layers([(yeoh(), 0.01), (yeoh(), 0.01, 0.0, {"C10": 1.0})])
    up = lambda X: X * 0.0 + [0.0, 0.0, 1.0]  # noqa: E731
    body = sa.Body(sa.Mesh.from_arrays(X, turned, regions)["plate"], element, two, **RUBBER)
    given = sa.Body(body.region, element, two, direction=up, name="given", **RUBBER)
    for wrong in (body, given):
        with refused(sa.MeshError, asked="orientation", given=wrong.name):
            sa.System(wrong)
    sa.System(sa.Body(sa.Mesh.from_arrays(X, alike, regions)["plate"], element, two, **RUBBER))


@pytest.mark.parametrize("element", [ancf_plate, ancf_thin_plate])
def test_layers_are_shown(element: Any) -> None:
    layers = sa.Layers(
        [(saint_venant_kirchhoff(), 0.01), (saint_venant_kirchhoff(), 0.03, 0, {"E": 9.0})]
    )
    body = sa.Body(sa.Mesh.box((1.0, 1.0), (1, 1))["body"], element, layers, E=1.0, nu=0.3)
    assert {"E", "E_2", "nu"} <= {s.name for s in body.energy.free_symbols}
    assert "layers" in str(body)
    assert body._repr_html_()
    assert body.residual


def test_the_check_of_a_model_knows_layers_and_rods() -> None:
    """`sa.check` samples their laws at a strain of 1e-8."""
    plate = sa.Mesh.box((0.2, 0.1), (1, 1))["body"]
    line = sa.Mesh.box((1.0,), (1,), cell="line3")["body"]
    section = sa.Section.rectangle(0.1, 0.05).rod(E=1e6, nu=0.3)
    bodies = [
        sa.Body(
            plate,
            ancf_plate,
            sa.Layers([(orthotropic(), 0.1, 30)], degrees=True, axis=(1, 0, 0)),
            **PLY,
        ),
        sa.Body(line, sa.elements.ancf_rod, sa.energies.rod(), **section),
    ]
    for body in bodies:
        assert max(digits_lost(body._laws, body._numbers(0.0))) < 2.5
