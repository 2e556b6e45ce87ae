# SPDX-License-Identifier: BSD-3-Clause
"""Fields of contacts on facets: means over nodes, states of points, the same on any ranks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf import elements, output
from symancf.energies import cable, neo_hooke, saint_venant_kirchhoff
from symancf.errors import SymancfError
from symancf.output import Samples, gather
from tests.refusals import refused
from tests.unit.facing import shifted

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.collective
COMM = MPI.COMM_WORLD
STEEL: dict[str, Any] = {"E": 1e6, "nu": 0.3}
K, DEPTH = 1e5, 1e-3


def sides(kind: str) -> tuple[sa.Body, Any, dict[str, Any]]:
    """Return a body, its side above z = 0, and what the contact is given."""
    if kind == "cable":
        line = sa.Mesh.box((1.0,), (4,), warp=lambda x: x + np.array([0, 0, 0.1]))
        cord = sa.Body(line["body"], elements.ancf_cable, cable(), EA=1.0, EI=1.0, name="cord")
        return cord, cord["body"], {"radius": 0.1}
    if kind == "plate":
        lifted = sa.Mesh.box((1.0, 1.0), (3, 2), warp=lambda x: np.c_[x[:, :2], 0.05 + 0 * x[:, 0]])
        energy = saint_venant_kirchhoff()
        skin = sa.Body(lifted["body"], elements.ancf_plate, energy, thickness=0.1, **STEEL)
        return skin, skin["body"].face(-1), {}
    svk = saint_venant_kirchhoff()
    if kind == "tetra10":
        box = sa.Mesh.box((1.0, 1.0, 0.5), (3, 2, 2), cell=kind)
        block = sa.Body(box["body"], elements.tet10, svk, name="block", **STEEL)
        return block, block["z0"], {}
    x = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1, 2], indexing="ij"), axis=-1).reshape(-1, 3)
    cells = np.array([[0, 6, 9, 3, 1, 7, 10, 4], [1, 7, 10, 4, 2, 8, 11, 5]])
    below, beside = [0, 3, 9, 6], [0, 6, 7, 1]
    two = sa.Mesh.from_arrays(
        x, {"hexahedron": cells}, {"outside": ("quad", np.array([below, beside]))}
    )
    block = sa.Body(two["all"], elements.hex8_plain, svk, name="block", **STEEL)
    return block, block["outside"], {}


@pytest.mark.parametrize("kind", ["hexahedron", "tetra10", "plate", "cable"])
def test_an_even_pressure_is_even_on_all_nodes(kind: str) -> None:
    """Also on edges, where facets meet that do not touch, and at corners of quadratic facets."""
    body, side, given = sides(kind)
    contact = sa.Contact(side, sa.Plane(), stiffness=K, **given)
    system = sa.System(body, terms=[contact])
    system.state[:] = shifted(system, body, np.array([0.0, 0.0, -DEPTH]))
    at, points = (gather(COMM, sa.sample(system, contact, at=p)) for p in ("lattice", "gauss"))
    if at is None or points is None:
        return
    (cells,), field, rho = at.cells.values(), at.point_data, given.get("radius", 0.0)
    flat = np.zeros(len(at.points), dtype=bool)
    flat[cells[np.ptp(at.points[cells, 2], axis=1) < 1e-9]] = True
    assert flat.any()
    np.testing.assert_allclose(field["pressure"][flat], K * DEPTH, rtol=2e-9)
    np.testing.assert_allclose(field["gap"][flat], -DEPTH, rtol=2e-9)
    assert set(field["status"][flat]) == {1}
    assert kind != "hexahedron" or sum(~flat) == 4
    assert (field["pressure"][~flat] == 0.0).all()
    assert (field["status"][~flat] == 0).all()
    heights = points.points[:, 2] - rho
    np.testing.assert_allclose(points.point_data["gap"], heights, atol=1e-12)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("kind", ["hexahedron", "tetra10", "plate", "cable"])
def test_true_pressures_are_per_present_area(kind: str) -> None:
    body, side, given = sides(kind)
    contact = sa.Contact(side, sa.Plane(), mu=0.1, stiffness=K, **given)
    system = sa.System(body, terms=[contact])
    grown = np.array([0.5, 0.0 if kind == "cable" else 0.2, 0.0])
    on = system._discrete.binding(body).interpolation
    nodes = np.unique(on.cells)
    at = on.offset(nodes, "value")[:, None] + np.arange(3)
    system.state[at] = system._discrete.points[nodes] * grown - [0.0, 0.0, DEPTH]
    for k in range({"cable": 1, "plate": 2}.get(kind, 0)):
        system.state[on.offset(nodes, f"slope{k}") + k] = grown[k]
    ratio = (1.0 + grown).prod()
    if kind != "hexahedron":  # which has another facet, that nothing presses
        true = contact.true_pressure(system)
        assert true * ratio == pytest.approx(contact.pressure(system), rel=1e-9)
    for place in ("lattice", "gauss"):
        found = gather(COMM, sa.sample(system, contact, at=place))
        if found is None:
            continue
        p, true = (found.point_data[name] for name in ("pressure", "true_pressure"))
        np.testing.assert_allclose(true[p > 0.0] * ratio, p[p > 0.0], rtol=1e-9)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("target", ["plane", "block"])
def test_the_true_pressure_is_that_of_cauchy(target: str) -> None:
    """Rubber squeezed by 40 % without friction, which grows across."""
    bodies, terms = [], list[Any]()
    for low in (0.0,) if target == "plane" else (0.0, -1.0):
        mesh = sa.Mesh.box((1.0,) * 3, (2,) * 3, warp=partial(np.add, [0, 0, low]))
        body = sa.Body(mesh["body"], elements.hex8, neo_hooke(), name=f"b{low:g}", mu=1.0, lam=2.0)
        bodies.append(body)
        terms += [sa.symmetry(body["x0"], "x"), sa.symmetry(body["y0"], "y")]
    way = -0.4 * len(bodies)
    terms.append(sa.fix(bodies[0]["z1"], ["z"], displacement=(0.0, 0.0, lambda t: way * t)))
    on = sa.Plane() if target == "plane" else bodies[1]["z1"]
    touch = sa.Contact(bodies[0]["z0"], on, initial="press", stiffness=1e4)
    terms += [sa.symmetry(bodies[1]["z0"], "z")] if target == "block" else []
    system = sa.System(*bodies, terms=[*terms, touch])
    sa.StaticProblem(system).solve(step=0.25)
    force = touch.force(system)[2]
    assert touch.pressure(system) == pytest.approx(force, rel=1e-6)
    x = system.position(bodies[0]["z0"])
    now = np.ptp(x[:, 0]) * np.ptp(x[:, 1])
    assert now > 1.2
    for number in range(len(touch._sides)):
        assert touch.true_pressure(system, number) == pytest.approx(force / now, rel=1e-6)


def dragged(comm: MPI.Comm) -> tuple[sa.System, sa.Contact, list[sa.Body]]:
    """Press a block on a larger one and turn it: it slides outside and sticks in the middle."""
    low = sa.Mesh.box((1.6, 1.2, 0.3), (5, 4, 1), comm=comm, warp=lambda x: x - [0.8, 0.6, 0.301])
    high = sa.Mesh.box((1.0, 1.0, 0.4), (4, 4, 1), comm=comm, warp=lambda x: x - [0.5, 0.5, 0.0])
    svk, bodies = saint_venant_kirchhoff(), []
    for mesh, name in ((low, "low"), (high, "high")):
        bodies.append(sa.Body(mesh["body"], elements.hex8_plain, svk, name=name, **STEEL))
    contact = sa.Contact(bodies[1]["z0"], bodies[0]["z1"], mu=0.2, name="pair")
    push = sa.fix(bodies[1]["z1"], displacement=lambda t: (0.0, 0.0, -0.01))
    system = sa.System(*bodies, terms=[contact, sa.fix(bodies[0]["z0"]), push])
    for time, angle in ((0.1, 0.0), (0.2, 3e-3)):
        system._discrete.update(time - 0.1)
        system._discrete.revise(time - 0.1)
        system._discrete.memory.begin(time - 0.1)
        upper = system._discrete.points[:, 2] > -1e-4  # ghosts, too
        at = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")][
            upper
        ]
        X = system._discrete.points[upper]
        u = np.stack([-angle * X[:, 1], angle * X[:, 0], np.full(len(X), -3e-3)], axis=1)
        system.state[at[:, None] + np.arange(3)] = u
        system.time = time
        system._discrete.update(time)
        if time < 0.15:
            system._discrete.accept()
    return system, contact, bodies


def test_states_are_the_same_on_any_ranks(shared_tmp_path: Path) -> None:
    system, contact, (_, high) = dragged(COMM)
    series = output.Series(shared_tmp_path / "run.pvd", comm=COMM)
    parts = {"nodes": "lattice", "points": "gauss"}
    series.write(1.0, {name: sa.sample(system, contact, at=at) for name, at in parts.items()})
    upper = gather(COMM, sa.sample(system, contact, on=high, fields={"p": "pressure"}))
    with refused(SymancfError, asked="on", given="other", possible=("high", "low")):
        sa.sample(system, contact, on="other")  # type: ignore[arg-type]
    with refused(
        SymancfError,
        asked="fields",
        given="von_mises",
        possible=("pressure", "gap", "slip", "status", "true_pressure"),
    ):
        sa.sample(system, contact, fields={"s": "von_mises"})
    if COMM.rank:
        return
    alone, same, _ = dragged(MPI.COMM_SELF)
    found = output.read(shared_tmp_path / "run.pvd")
    for name, at in parts.items():
        want: Samples = sa.sample(alone, same, at=at)
        assert all(np.array_equal(found[name].cells[k], want.cells[k]) for k in want.cells)
        np.testing.assert_allclose(found[name].points, want.points, atol=1e-14)
        for key, values in want.point_data.items():
            np.testing.assert_allclose(found[name].point_data[key], values, rtol=1e-10, atol=1e-14)
    field = found["points"].point_data
    r = np.linalg.norm(found["points"].points[:, :2], axis=1)
    touching = field["status"] > 0
    assert touching.sum() > 90
    want = 3e-3 * r - 0.2 * (-field["gap"])  # what friction does not hold
    slides = field["status"] == 2
    np.testing.assert_allclose(field["slip"][slides], want[slides], rtol=1e-2)
    assert (field["slip"][~slides] == 0.0).all()
    assert np.isnan(field["gap"][~touching]).any()  # beside the upper block
    assert r[field["status"] == 1].max() < r[field["status"] == 2].min() + 0.1
    assert upper is not None
    assert set(upper.point_data) == {"displacement", "p"}
    assert upper.points[:, 0].max() < 0.6
