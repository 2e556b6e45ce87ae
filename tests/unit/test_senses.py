# SPDX-License-Identifier: BSD-3-Clause
"""Cells of lines and surfaces that are numbered in mixed senses: what they make stays the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.mesh.sides import in_one_sense

pytestmark = pytest.mark.collective
FIRST = MPI.COMM_WORLD.rank == 0
MIXED = [(1, 3, 5), (2,), (5,), (3, 4, 5)]


def pushed(made: Callable[[], sa.Body]) -> tuple[np.ndarray[Any, Any], list[str]]:
    """Return the displacement of the tip of a clamped body, and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        body = made()
        system = sa.System(body, terms=[sa.fix(body["root"]), sa.force(body["tip"], (0, 1e-2, -1))])
        sa.StaticProblem(system).solve()
    return system.displacement(body["tip"])[0], [str(w.message) for w in told]


def line(cells: int, per: int, reverse: tuple[int, ...]) -> tuple[sa.Mesh, str]:
    """Return an arc of 60 degrees and its type of cell."""
    kind, n = ("line3", "line")[2 - per], per * cells
    angle = np.linspace(0.0, np.pi / 3, n + 1)
    points = np.stack([np.sin(angle), 1.0 - np.cos(angle), 0.2 * angle], axis=1)
    nodes = [[per * k, per * k + per, *range(per * k + 1, per * k + per)] for k in range(cells)]
    nodes = [[c[1], c[0], *c[2:]] if k in reverse else c for k, c in enumerate(nodes)]
    regions: dict[str, Any] = {"root": ("vertex", [[0]]), "tip": ("vertex", [[n]])}
    regions["rod"] = (kind, range(cells))
    return sa.Mesh.from_arrays(points, {kind: nodes}, regions), kind


def up(X: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.tile((0.0, 0.0, 1.0), (len(X), 1))


def rod(reverse: tuple[int, ...]) -> sa.Body:
    """An unequal angle that tapers: EI23, the shear centre and fields."""
    corners = np.array([(0, 0), (0.03, 0), (0.03, 0.002), (0.002, 0.002), (0.002, 0.05), (0, 0.05)])
    given = sa.Section.polygon(corners, tolerance=1e-2).rod(E=7e10, nu=0.3, rho=1.0)
    for name in ("EI2", "EI3", "EI23"):
        given[name] = sa.Field(lambda X, v=given[name]: v * (1.0 - 0.3 * X[:, 0]))
    mesh, _ = line(6, 2, reverse)
    return sa.Body(mesh["rod"], sa.elements.ancf_rod, sa.energies.rod(), direction=up, **given)


def beam(reverse: tuple[int, ...]) -> sa.Body:
    mesh, _ = line(6, 1, reverse)
    given: dict[str, Any] = {"mu": 1e7, "lam": 1e7, "height": 0.02, "width": 0.05}
    law = sa.energies.neo_hooke()
    return sa.Body(mesh["rod"], sa.elements.ancf_3243, law, direction=up, **given)


@pytest.mark.parametrize("made", [rod, beam])
def test_a_line_of_mixed_senses_is_one_beam(made: Any) -> None:
    whole, told = pushed(lambda: made(()))
    assert not told
    for reverse in MIXED:
        found, told = pushed(partial(made, reverse))
        np.testing.assert_allclose(found, whole, rtol=1e-7, atol=1e-9 * np.abs(whole).max())
        assert ["numbered in the other sense" in t for t in told] == [True] * FIRST


def test_the_sense_of_most_counts_and_branches_have_their_own() -> None:
    points = np.zeros((8, 3))
    points[:5, 0] = np.arange(5)
    points[5:, 0], points[5:, 1] = 2.0, [1.0, 2.0, 3.0]
    lines = [[1, 0], [1, 2], [3, 2], [4, 3], [2, 5], [5, 6], [7, 6]]
    mesh = sa.Mesh.from_arrays(points, {"line": lines}, {"rod": ("line", range(7))})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        region = in_one_sense(mesh["rod"], "rod")
    found = np.concatenate(mesh.comm.allgather(region.slice("line")[1])).tolist()
    assert found == [[1, 0], [2, 1], [3, 2], [4, 3], [2, 5], [5, 6], [6, 7]]
    assert ["2 of 7 cells" in str(w.message) for w in told] == [True] * FIRST


@pytest.mark.parametrize("name", ["ancf_plate", "ancf_thin_plate"])
def test_a_curved_shell_of_mixed_senses_is_one_shell(name: str) -> None:
    thin = name == "ancf_thin_plate"
    given: dict[str, Any] = {"E": 1e7, "nu": 0.3} if thin else {"mu": 4e6, "lam": 4e6}
    law: Any = sa.energies.kirchhoff() if thin else sa.energies.neo_hooke()
    x = np.linspace(0.0, 1.0, 7)
    points = np.array([[x, y, 0.2 * np.sin(2.0 * x)] for x in x for y in (0.0, 0.3)])
    whole = None
    for reverse in ((), *MIXED[:2]):
        quads = [[2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1] for k in range(6)]
        quads = [[c[0], c[3], c[2], c[1]] if k in reverse else c for k, c in enumerate(quads)]
        regions: dict[str, Any] = {
            "skin": ("quad", range(6)),
            "root": ("vertex", [[0], [1]]),
            "tip": ("vertex", [[12], [13]]),
        }
        mesh = sa.Mesh.from_arrays(points, {"quad": quads}, regions)
        element = getattr(sa.elements, name)
        found, _ = pushed(partial(sa.Body, mesh["skin"], element, law, thickness=0.03, **given))
        whole = found if whole is None else whole
        np.testing.assert_allclose(found, whole, rtol=1e-7, atol=1e-9 * np.abs(whole).max())
