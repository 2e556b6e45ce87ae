# SPDX-License-Identifier: BSD-3-Clause
"""Discs, cylinders, tubes and spheres: whole, cut, of all types of cells."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from mpi4py import MPI

from symancf.cells import CELLS
from symancf.errors import MeshError, ParameterError
from symancf.mesh import Mesh
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable

COMM = MPI.COMM_WORLD
ALL: Any = lambda X: X[:, 0] > -9.0  # noqa: E731
VOLUMES = [c.name for c in CELLS.values() if c.dimension == 3]
SURFACES = [c.name for c in CELLS.values() if c.dimension == 2]
SIZES = {  # volume, area, number of planes that may cut it
    "disc": (np.pi * 4.0, 2),
    "annulus": (np.pi * 3.0, 2),
    "cylinder": (np.pi * 12.0, 2),
    "tube": (np.pi * 9.0, 2),
    "ball": (np.pi * 32.0 / 3.0, 3),
    "shell": (np.pi * 28.0 / 3.0, 3),
}


def made(shape: str, divisions: Any, **options: Any) -> Mesh:
    """A body of outer radius 2, inner radius 1 and length 3."""
    make: dict[str, Callable[..., Mesh]] = {
        "disc": lambda **o: Mesh.disc(2.0, divisions, **o),
        "annulus": lambda **o: Mesh.disc(2.0, divisions, inner=1.0, **o),
        "cylinder": lambda **o: Mesh.cylinder(2.0, 3.0, divisions, **o),
        "tube": lambda **o: Mesh.tube(1.0, 2.0, 3.0, divisions, **o),
        "ball": lambda **o: Mesh.sphere(2.0, divisions, **o),
        "shell": lambda **o: Mesh.sphere(2.0, divisions, inner=1.0, **o),
    }
    return make[shape](comm=COMM, **options)


CASES = [(s, c) for s in ("disc", "annulus") for c in SURFACES]
CASES += [(s, c) for s in ("cylinder", "tube", "ball", "shell") for c in VOLUMES]
CASES = [case for case in CASES if case[0] != "ball" or "wedge" not in case[1]]


@pytest.mark.parametrize(("shape", "cell"), CASES)
def test_is_one_whole_of_good_cells(shape: str, cell: str) -> None:
    """Its outside are the sides with names, so that all blocks and images are connected."""
    size, planes = SIZES[shape]
    for symmetric in ("xyz"[:planes], "y"):
        mesh = made(shape, 4, cell=cell, symmetric=symmetric)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no points coincide, none hang on edges
            mesh.check()
        skin = mesh.select("skin", ALL)
        named = [r for r in mesh if r.name not in ("body", "all", "skin")]
        assert skin.size == sum(r.size for r in named)
        cut = {f"{axis}0" for axis in symmetric} | {"outer"}
        cut |= {"inner"} if shape in ("annulus", "tube", "shell") else set()
        cut |= {"z0", "z1"} if shape in ("cylinder", "tube") else set()
        assert {r.name for r in named} == cut
        found, second = mesh.quality()[cell], len(CELLS[cell].nodes) > CELLS[cell].corners
        assert found.size * 2 ** len(symmetric) == pytest.approx(size, rel=2e-3 if second else 0.08)
        assert found.jacobian > {True: 0.7, False: 0.14}["hex" in cell or "quad" in cell]
        for name, radius in (("outer", 2.0), ("inner", 1.0)):
            if name in mesh:
                x = mesh.fetch_points(mesh[name].points())
                x[:, 2] *= shape in ("ball", "shell")
                np.testing.assert_allclose(np.linalg.norm(x, axis=1), radius, rtol=1e-14)
        for axis in symmetric:
            x = mesh.fetch_points(mesh[f"{axis}0"].points())
            assert not x[:, "xyz".index(axis)].any()


@pytest.mark.collective
@pytest.mark.parametrize("cell", ["quad", "triangle6"])
def test_surfaces_in_space_point_outwards(cell: str) -> None:
    for mesh, closed in (
        (Mesh.sphere(2.0, 4, cell=cell, comm=COMM), True),
        (Mesh.cylinder(2.0, 3.0, 4, cell=cell, comm=COMM), False),
    ):
        mesh.check()
        x = mesh.fetch_points(mesh.slice("body")[1])
        row = CELLS[cell]
        _, slope = row.evaluate(row.centre[None])
        along = np.einsum("vd,kva->dka", slope[0], x)
        area = 16.0 * np.pi if closed else 12.0 * np.pi
        assert mesh["body"].measure() == pytest.approx(area, rel=2e-3 if "6" in cell else 0.04)
        out = x.mean(axis=1) * [1.0, 1.0, closed]
        assert (np.einsum("ka,ka->k", np.cross(*along), out) > 0.0).all()
        on = x * [1.0, 1.0, closed]
        np.testing.assert_allclose(np.linalg.norm(on, axis=2), 2.0, rtol=1e-14)
        if closed:
            with refused(MeshError, asked="outer edges", given=0):
                mesh.select("rim", ALL)
        else:
            assert mesh.select("rim", ALL).size == mesh["z0"].size + mesh["z1"].size


@pytest.mark.parametrize(("cell", "order"), [("hexahedron", 2), ("hexahedron20", 4)])
def test_volumes_converge(cell: str, order: int) -> None:
    for shape in ("cylinder", "ball", "shell"):
        off = [
            abs(
                made(shape, n, cell=cell, symmetric="xy").quality()[cell].size * 4 / SIZES[shape][0]
                - 1
            )
            for n in (4, 8)
        ]
        assert np.log2(off[0] / off[1]) == pytest.approx(order, abs=0.25)


def test_divisions_and_places() -> None:
    mesh = Mesh.tube(1.0, 4.0, 3.0, (2, 3, 5), symmetric="xy", comm=COMM)
    assert {r.name: r.size for r in mesh} == {
        **{"body": 30, "inner": 15, "outer": 15, "y0": 10, "x0": 10, "z0": 6, "z1": 6, "all": 30}
    }
    radii = np.linalg.norm(mesh.fetch_points(np.arange(mesh.n_points))[:, :2], axis=1)
    np.testing.assert_allclose(np.unique(radii.round(9)), [1.0, 2.0, 4.0])  # in one ratio
    disc = Mesh.disc(1.0, (5, 6), comm=COMM)
    assert disc["body"].size == 4 * (9 + 2 * 2 * 3)
    assert Mesh.cylinder(0.1, 0.2, (8, 4), cell="quad", comm=COMM)["body"].size == 4 * 32
    moved = Mesh.sphere(1.0, 2, warp=lambda X: 2.0 * X + [5.0, 0.0, 0.0], comm=COMM)
    x = moved.fetch_points(moved["outer"].points())
    np.testing.assert_allclose(np.linalg.norm(x - [5.0, 0.0, 0.0], axis=1), 2.0)


@pytest.mark.parametrize(
    ("error", "data", "make"),
    [
        (MeshError, {"asked": "quarter", "given": 3}, lambda: Mesh.disc(1.0, 3)),
        (MeshError, {"asked": "quarter", "given": 1}, lambda: Mesh.cylinder(1.0, 1.0, 1)),
        (
            MeshError,
            {"asked": "inner", "given": 0.5, "possible": (0.0,)},
            lambda: Mesh.sphere(1.0, 4, inner=0.5, cell="quad"),
        ),
        (MeshError, {"asked": "radial", "given": 2}, lambda: Mesh.disc(1.0, (2, 4))),
        (
            MeshError,
            {"asked": "divisions", "given": 2.5, "possible": ("radial", "quarter", "along")},
            lambda: Mesh.tube(1, 2, 1, 2.5),
        ),
        (
            MeshError,
            {"asked": "divisions", "given": (1, 2), "possible": ("quarter",)},
            lambda: Mesh.sphere(1, (1, 2), cell="quad"),
        ),
        (
            MeshError,
            {"asked": "cell", "given": "wedge15"},
            lambda: Mesh.sphere(1.0, 4, cell="wedge15"),
        ),
        (
            MeshError,
            {"asked": "memory", "given": lambda need: need > 1e17},
            lambda: Mesh.sphere(1.0, 100_000),
        ),
        (
            MeshError,
            {"asked": "Jacobian", "given": pytest.approx(-1.0)},
            lambda: Mesh.sphere(1.0, 2, warp=lambda X: -X),
        ),
        (ParameterError, {"asked": "outer radius", "given": -1.0}, lambda: Mesh.disc(-1.0, 4)),
        (
            ParameterError,
            {"asked": "inner radius", "given": 2.0},
            lambda: Mesh.tube(2.0, 1.0, 1.0, 4),
        ),
        (ParameterError, {"asked": "length", "given": 0.0}, lambda: Mesh.cylinder(1.0, 0.0, 4)),
        (
            ParameterError,
            {"asked": "cell", "given": "tetra", "possible": lambda cells: cells[0] == "quad"},
            lambda: Mesh.disc(1.0, 4, cell="tetra"),
        ),
        (
            ParameterError,
            {"asked": "symmetric", "given": "xyz", "possible": ("x", "y")},
            lambda: Mesh.disc(1.0, 4, symmetric="xyz"),
        ),
    ],
)
def test_errors(error: type[Exception], data: dict[str, Any], make: Callable[[], Mesh]) -> None:
    with refused(error, **data):
        make()
