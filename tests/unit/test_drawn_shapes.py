# SPDX-License-Identifier: BSD-3-Clause
"""Rigid shapes as they are drawn: where they are at present, and on their surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.contact.shapes import RigidShape, X
from symancf.extensions.view.scene import gathered
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def ring(point: Any, **how: Any) -> sa.Distance:
    def torus(x1: Any, x2: Any, x3: Any, *, R: Any, length: Any) -> Any:
        return sp.sqrt((sp.sqrt(x1**2 + x2**2) - R) ** 2 + x3**2) - length

    return sa.Distance(torus, point, TURN, R=0.5, length=0.2, **how)


SHAPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "plane": (sa.Plane, ((0.0, 0.0, -1.0), (0.3, 0.0, 1.0))),
    "sphere": (sa.Sphere, (0.4, (1.0, 2.0, 3.0))),
    "long cylinder": (sa.Cylinder, (0.4, (1.0, 2.0, 3.0), (1.0, 1.0, 0.0))),
    "cylinder": (sa.Cylinder, (0.4, (1.0, 2.0, 3.0), (1.0, 1.0, 0.0), 1.5)),
    "capsule": (sa.Capsule, (0.4, 1.5, (1.0, 2.0, 3.0), (1.0, 1.0, 0.0))),
    "box": (sa.Box, ((0.4, 1.0, 2.0), (1.0, 2.0, 3.0), TURN)),
    "ring": (ring, ((1.0, 0.0, 4.0),)),
}


def ball() -> sa.RigidBody:
    return sa.RigidBody.sphere(0.5, position=(1.0, -1.0, 4.0), rho=1.0, name="ball")


def distances(shape: RigidShape, points: Any) -> Any:
    """Return the signed distances of places in the frame of a shape."""
    own = {sp.Symbol(n, real=True): v for n, v in shape.parameters.items()}
    return sp.lambdify(X, shape.distance(X).xreplace(own), "numpy")(*points.T)


@pytest.mark.collective
@pytest.mark.parametrize("kind", SHAPES)
def test_points_of_shapes_lie_on_their_surface_at_rest_moved_and_on_bodies(kind: str) -> None:
    make, given = SHAPES[kind]
    body = ball()
    still, on = make(*given), make(*given, body=body)
    moved = make(*given, displacement=lambda t: (t, 0.0, 0.0), gradient=TURN - np.eye(3))
    system = sa.System(body)
    turned = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    local = system._discrete.binding(body).local_vertices(system._discrete)
    q = np.concatenate([[[2.0, 0, 0], [2.0, 0, 0]], (turned - np.eye(3)).T[1:]])
    if len(local):
        system.state[body._offsets(system._discrete, local)[0][:, None] + np.arange(3)] = q
    system.time = 0.25
    origin = np.array([1.0, -1.0, 4.0]) + [2.0, 0.0, 0.0] + turned @ on.point
    for shape, at, axes in (
        (still, still.point, still.frame),
        (moved, moved.point + np.array([0.25, 0.0, 0.0]), TURN @ moved.frame),
        (on, origin, turned @ on.frame),
    ):
        found = gathered(MPI.COMM_WORLD, sa.sample(system, shape))
        if MPI.COMM_WORLD.rank == 0:
            (samples,) = found
            x = (samples.points - at) @ axes
            assert np.abs(distances(shape, x)).max() < 1e-12
            assert len(np.unique(x.round(9), axis=0)) >= 8
    if MPI.COMM_WORLD.rank == 0 and kind in ("plane", "long cylinder"):
        corner = (np.array([3.5, -0.5, 4.5]) - at) @ axes  # of the box around the ball
        free = slice(0, 2) if kind == "plane" else slice(2, 3)
        assert (x[:, free].max(axis=0) > corner[free]).all()


@pytest.mark.collective
def test_shapes_that_rest_are_drawn_as_they_are_and_others_are_told(shared_tmp_path: Path) -> None:
    body = ball()
    system = sa.System(body)
    wall, drawn = sa.Plane((0.0, 0.0, 1.0)), sa.sample(system, body)
    found = gathered(MPI.COMM_WORLD, [wall, drawn])
    if MPI.COMM_WORLD.rank == 0:
        ground = found[-1].points
        assert ground[:, :2].min(axis=0) == pytest.approx(
            np.array([0.5, -1.5]) - 0.15 * 1.0, abs=0.2
        )
        assert set(ground[:, 2]) == {1.0}
    path = shared_tmp_path / "wall.png"
    sa.view.render([drawn, wall], path, engine="matplotlib", width=4.0)
    moved = sa.Plane(displacement=lambda t: (0.0, 0.0, t))
    with refused(sa.SymancfError, asked="system", given="plane"):
        sa.view.render([drawn, moved], path)
    none = sa.Distance(lambda x1, x2, x3: x1**2 + 1)
    with refused(sa.SymancfError, asked="signed distance", given="a function"):
        sa.sample(system, none)
    grows = sa.Distance(lambda x1, x2, x3, *, z: x3 - z, z=lambda t: t)
    with refused(sa.SymancfError, asked="system", given="a function"):
        sa.view.render([drawn, grows], path)
    with refused(sa.SymancfError, asked="J", possible=()):
        sa.sample(system, wall, fields=["J"])


def test_a_signed_distance_that_is_closed_is_drawn_whole_with_its_front_outside() -> None:
    system = sa.System(sa.RigidBody.sphere(0.2, position=(0.3, 0.0, 0.0), rho=1.0))
    drawn = sa.sample(system, ring((0.0, 0.0, 0.0)))
    cells = drawn.cells["triangle"]
    edges = np.concatenate([cells[:, [0, 1]], cells[:, [1, 2]], cells[:, [2, 0]]])
    there, back = (np.unique(e @ [len(drawn.points), 1]) for e in (edges, edges[:, ::-1]))
    np.testing.assert_array_equal(there, back)  # it has no border
    a, b, c = (drawn.points[cells[:, k]] for k in range(3))
    volume = np.einsum("na,na->", a, np.cross(b, c)) / 6.0
    assert volume == pytest.approx(2.0 * np.pi**2 * 0.5 * 0.2**2, rel=0.02)
