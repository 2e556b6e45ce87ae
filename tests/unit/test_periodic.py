# SPDX-License-Identifier: BSD-3-Clause
"""Periodic cells: laminates in closed form, tiles, shifted cells, mean stresses, refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

import symancf as sa
from tests.refusals import refused

AXIS = np.array([1.0, 2.0, 0.5])
Q = Rotation.from_rotvec(np.radians(37.0) * AXIS / np.linalg.norm(AXIS)).as_matrix()
F = Q @ np.array([[1.1, 0.05, 0.03], [0.0, 0.97, 0.02], [0.01, 0.0, 1.02]]) @ Q.T
PHASES = {"mu": (1.0, 7.0), "lam": (2.0, 3.0)}


def box(kind: str, divisions: tuple[int, ...], size: tuple[float, ...]) -> sa.Mesh:
    """Return a box in a turned frame whose nodes are numbered at random."""
    made = sa.Mesh.box(size, divisions, cell=kind)
    X = made.fetch_points(np.arange(made.n_points))
    cells = np.concatenate(made.comm.allgather(made["body"].slice(kind)[1]))
    new = np.random.default_rng(3).permutation(len(X))
    mesh = sa.Mesh.from_arrays(
        X[np.argsort(new)] @ Q.T, {kind: new[cells]}, {"body": (kind, range(len(cells)))}
    )
    for a, x in enumerate("xyz"[: len(size)]):
        mesh.select(f"{x}0", lambda X, a=a: (X @ Q)[:, a] < 1e-9)
        mesh.select(f"{x}1", lambda X, a=a: (X @ Q)[:, a] > size[a] * (1.0 - 1e-9))
    return mesh


def solved(cell: Any, gradient: Any, volume: float) -> tuple[np.ndarray, sa.System]:
    """Return the mean stress of a cell with a macroscopic gradient, and its system."""
    names = [x for x in "xyz" if x in "xyz"[: cell.element.dimension]]
    faces = [sa.joints.periodic(cell[f"{x}0"], cell[f"{x}1"], gradient, name=x) for x in names]
    system = sa.System(cell, terms=[*faces, sa.fix(cell.at((0.0, 0.0, 0.0)), "position")])
    sa.StaticProblem(system).solve()
    return np.asarray(sum(pair.stress(system, volume) for pair in faces)), system


def neo_hooke(F: np.ndarray, mu: float, lam: float) -> np.ndarray:
    """Return P of `sa.energies.neo_hooke`."""
    T = np.linalg.inv(F).T
    return np.asarray(mu * (F - T) + lam * np.log(np.linalg.det(F)) * T)


@pytest.mark.collective
@pytest.mark.parametrize("element", ["hex8_plain", "tet10"])
def test_a_laminate_is_that_of_the_closed_form(element: str) -> None:
    """Two phases, layers across z, stretched and sheared: F_k = F + a_k n n^T with P n common."""
    made = getattr(sa.elements, element)
    mesh = box(made.cell, (2, 2, 4), (0.5, 0.5, 1.0))
    stiff = {
        name: sa.Field(lambda X, v=v: np.where((X @ Q)[:, 2] < 0.25, v[1], v[0]))
        for name, v in PHASES.items()
    }
    n, part = Q[:, 2], np.array([0.75, 0.25])
    given = [{name: v[k] for name, v in PHASES.items()} for k in (0, 1)]

    def stresses(jump: np.ndarray) -> list[np.ndarray]:
        shares = (part[1], -part[0])
        return [
            neo_hooke(F + s * np.outer(jump, n), **p) for s, p in zip(shares, given, strict=True)
        ]

    jump = fsolve(lambda a: (stresses(a)[0] - stresses(a)[1]) @ n, np.zeros(3), xtol=1e-14)
    right = np.einsum("k,kab->ab", part, stresses(jump))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of redundant constraints
        cell = sa.Body(mesh["body"], made, sa.energies.neo_hooke(), **stiff)
        found, _ = solved(cell, F, 0.25)
    assert np.abs(found - right).max() < 1e-10 * np.abs(right).max()


@pytest.mark.parametrize("element", ["hex8_plain", "ancf_thick_plate", "ancf_thin_quad"])
def test_eight_cells_are_one(element: str) -> None:
    """A cell with a hard place, the same with this place elsewhere, and 2 x 2 (x 2) of them."""
    made = getattr(sa.elements, element)
    d = made.dimension
    flat = F if d == 3 else Q @ np.array([[1.02, 0.01, 0], [0.0, 0.99, 0], [0, 0, 1.0]]) @ Q.T
    law = sa.energies.kirchhoff() if element == "ancf_thin_quad" else sa.energies.neo_hooke()
    found = []
    for count, shift in ((1, 0.0), (1, 0.5), (2, 0.0)):

        def hard(X: np.ndarray, shift: float = shift) -> np.ndarray:
            local = ((X @ Q)[:, :d] + shift) % 1.0
            return np.where((local < 0.5).all(axis=1), 4.0, 1.0)

        mesh = box(made.cell, (2 * count,) * d, (1.0 * count,) * d)
        if element == "ancf_thin_quad":
            given: dict[str, Any] = {"E": sa.Field(hard), "nu": 0.3}
        else:
            given = {"mu": sa.Field(hard), "lam": 2.0}
        given |= {} if d == 3 else {"thickness": 0.1}
        cell = sa.Body(mesh["body"], made, law, **given)
        found.append(solved(cell, flat, 1.0 * count**d)[0])
    for other in found[1:]:
        assert np.abs(other - found[0]).max() < 1e-9 * np.abs(found[0]).max()


def test_mean_stress_is_the_derivative_of_the_energy() -> None:
    """And the stiffness of a cell that of the tangent, where opposite nodes are eliminated."""
    mesh = box("hexahedron", (2, 2, 2), (1.0, 1.0, 1.0))
    given = {name: sa.Field(lambda X, v=v: np.where((X @ Q < 0.5).all(axis=1), v[1], v[0]))
             for name, v in PHASES.items()}  # fmt: skip
    cell = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    entries = [[sa.Parameter(f"F{i}{k}", F[i, k]) for k in range(3)] for i in range(3)]
    P, system = solved(cell, entries, 1.0)
    h, slope = 1e-5, np.zeros((3, 3))
    for i in range(3):
        for k in range(3):
            for sign in (1.0, -1.0):
                entries[i][k].value = F[i, k] + sign * h
                sa.StaticProblem(system).solve()
                slope[i, k] += sign * system.strain_energy() / (2.0 * h)
            entries[i][k].value = F[i, k]
    assert np.abs(slope - P).max() < 1e-8 * np.abs(P).max()
    # the tangent at rest: u = T u_0 + (F - 1) X with one node of each class of equal ones
    free = sa.System(cell)
    u, K = free.unknowns, free.matrices.tangent(scipy=True)
    X = mesh.fetch_points(np.arange(mesh.n_points))[u.node]
    axis = np.concatenate([np.arange(3)] * (len(X) // 3))
    places = np.column_stack([np.round(X @ Q, 6) % 1.0, axis])
    _, same = np.unique(places, axis=0, return_inverse=True)
    T = np.eye(same.max() + 1)[same.ravel()]
    T = T[:, T[(X**2).sum(axis=1) < 1e-12].sum(axis=0) == 0]  # one class is held
    entry = [(i, k) for i in range(3) for k in range(3)]
    moved = np.stack([np.where(axis == i, X[:, k], 0.0) for i, k in entry], axis=1)
    inner = np.linalg.solve(T.T @ (K @ T), T.T @ (K @ moved))
    right = moved.T @ (K @ (moved - T @ inner))
    C, h = np.zeros((9, 9)), 1e-6
    for j in range(9):
        for sign in (1.0, -1.0):
            for k, (row, column) in enumerate(entry):
                entries[row][column].value = float(row == column) + sign * h * (k == j)
            sa.StaticProblem(system).solve()
            faces = [t for t in system.terms if isinstance(t, sa.joints.Periodic)]
            C[:, j] += sign * sum(t.stress(system, 1.0) for t in faces).ravel() / (2.0 * h)
    assert np.abs(C - right).max() < 1e-8 * np.abs(right).max()


@pytest.mark.collective
def test_gradients_of_every_kind_and_none() -> None:
    """Functions of time, one or nine, numbers, parameters; None is 1. Each pair its own."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 2, 1))
    cell = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    D = np.diag([1.1, 1.0, 1.0])
    right, one = neo_hooke(D, 1.0, 2.0), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    kinds: list[Any] = [D, lambda t: np.eye(3) + t * (D - np.eye(3))]
    kinds += [
        [[entry, *one[0][1:]], *one[1:]] for entry in (lambda t: 1 + t / 10, sa.Parameter("s", 1.1))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for gradient in kinds:
            assert np.abs(solved(cell, gradient, 1.0)[0] - right).max() < 1e-12
        assert np.abs(solved(cell, None, 1.0)[0]).max() < 1e-15
        each = {"x": D, "y": None, "z": np.diag([3.0, 1.0, 1.0])}
        faces = [
            sa.joints.periodic(cell[f"{x}0"], cell[f"{x}1"], g, name=x) for x, g in each.items()
        ]
        terms = [*faces, sa.fix(cell.at((0.0, 0.0, 0.0)), "position")]
        system = sa.System(cell, terms=terms)
        sa.StaticProblem(system).solve()
        assert np.abs(sum(f.stress(system, 1.0) for f in faces) - right).max() < 1e-12
    with refused(sa.ParameterError, asked="determinant", given=0.0):
        sa.joints.periodic(cell["x0"], cell["x1"], np.zeros((3, 3)))
    for wrong in (np.eye(2), "F", [[1, 0, 0], [0, 1], [0, 0, 1]]):
        with refused(sa.ParameterError, asked="gradient", possible=((3, 3),)):
            sa.joints.periodic(cell["x0"], cell["x1"], wrong)


def test_wrong_faces_are_told() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    cell = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    pair = sa.joints.periodic
    x0, x1, y0 = (cell[name] for name in ("x0", "x1", "y0"))
    none = {"asked": "rank", "given": 0, "possible": (9,)}
    cases: list[tuple[Any, dict[str, Any]]] = [
        (
            lambda: [pair(x0, y0)],
            {"asked": "opposite places", "given": pytest.approx((0.5, 0.5**0.5))},
        ),
        (lambda: [pair(x0, cell["body"])], {"asked": "number of places", "given": (9, 27)}),
        (lambda: [pair(x0, x0)], {**none, "names": ("periodic",)}),
        (lambda: [pair(x0, x1), pair(x1, x0, name="back")], {**none, "names": ("back",)}),
        (
            lambda: [pair(x0, x1, 1.1 * np.eye(3)), pair(x0, x1, 1.2 * np.eye(3), name="b")],
            {"asked": "contradiction", "names": ("periodic", "b")},
        ),
        (
            lambda: [pair(x0, cell.at((0.0, 0.0, 0.0)))],
            {"asked": "region", "given": "(0, 0, 0) of 'body'"},
        ),
    ]
    for make, data in cases:
        with refused(sa.ConstraintError, **data):
            sa.System(cell, terms=make())
    square = sa.Mesh.box((1.0, 1.0), (1, 1))
    for name, left in (("low", True), ("high", False)):
        square.select(name, lambda X, left=left: (X[:, 0] < 0.5) == left, dimension=0)
    given, law = {"E": 1.0, "nu": 0.3, "thickness": 0.1}, sa.energies.kirchhoff()
    plate = sa.Body(square["body"], sa.elements.ancf_thin_quad, law, **given)
    for faces in (("low", "high"), ("x0", "high"), ("low", "x1")):
        with refused(sa.ConstraintError, asked="region", possible=("line",)):
            sa.System(plate, terms=[pair(*(plate[name] for name in faces))])
    line = sa.Mesh.box((1.0,), (1,))["body"]
    cord = sa.Body(line, sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0, name="cord")
    with refused(sa.ConstraintError, asked="element", given=("hex8_plain", "ancf_cable")):
        pair(x0, cord["x1"])


def test_many_nodes_cost_as_many_times_more() -> None:
    """Equations are three for each pair that others do not imply: as many as eliminations."""
    for n in (4, 16):
        mesh = sa.Mesh.box((1.0, 1.0, 1.0 / n), (n, n, 1))
        cell = sa.Body(
            mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=2.0
        )
        faces = [sa.joints.periodic(cell[f"{x}0"], cell[f"{x}1"], name=x) for x in "xyz"]
        system = sa.System(cell, terms=faces)
        pairs = [len(f.multipliers(system)) for f in faces]
        assert sum(pairs) == (n + 1) ** 2 * 2 - n**2
        assert not len(system._discrete.redundant.left_out)
