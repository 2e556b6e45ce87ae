# SPDX-License-Identifier: BSD-3-Clause
"""What can be copied and sent to other processes, and what says why it cannot."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.runtime.copies import SEND
from tests.mpi import environment
from tests.refusals import refused

ALONE = pytest.mark.skipif(MPI.COMM_WORLD.size > 1, reason="processes of one process")
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle {n}": lambda x, n=n: pickle.loads(pickle.dumps(x, n))
        for n in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
}


def own_law(epsilon: sp.Expr, kappa: sp.Expr, *, EA: sp.Expr, EI: sp.Expr) -> sp.Expr:
    return EA / 2 * epsilon**2 + EI / 2 * kappa**2


@sa.energies.domains(k=sa.energies.positive())
def own_declared(J: sp.Expr, *, k: sp.Expr) -> sp.Expr:
    return k / 2 * (J - 1) ** 2


@sa.memory(largest=0)
def own_memory(epsilon: sp.Expr, *, largest: sp.Expr, EA: sp.Expr) -> Any:
    W = EA / 2 * epsilon**2
    return sa.remember(W, largest=sp.Max(largest, epsilon), stored=W)


def softer(X: Any) -> Any:
    return 2.0 - X[:, 0]


def beam(E: float = 1.0, energy: Any = own_law, load: Any = 1e-4) -> Any:
    line = sa.Mesh.box((1.0,), (2,))
    body = sa.Body(line["body"], sa.elements.ancf_cable, energy, EA=1e3 * E, EI=E, rho=1.0, A=1.0)
    support, force = sa.fix(body["x0"]), sa.force(body["x1"], (0.0, 0.0, load))
    system = sa.System(body, terms=[support, force])
    problem = sa.StaticProblem(system)
    problem.record("tip", lambda: system.displacement(body["x1"])[0])
    return SimpleNamespace(**locals())


@cache
def solved() -> Any:
    model = beam()
    model.history = model.problem.solve(step=0.5)
    model.modes = sa.EigenProblem(model.system).solve(2)
    return model


def deflection(E: float) -> sa.History:
    history: sa.History = beam(E).problem.solve(step=0.5)
    return history


# ---- data ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", COPIES)
def test_a_mesh_comes_back_with_its_regions(how: str) -> None:
    if MPI.COMM_WORLD.size > 1 and how.startswith("pickle"):
        pytest.skip("refused on several ranks")
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 2, 2))
    mesh.select("tip", lambda X: X[:, 0] > 1.9)
    again = COPIES[how](mesh)
    assert again is not mesh
    assert all(region.mesh is again for region in again)
    assert list(again.regions) == list(mesh.regions)
    assert again["tip"].measure() == pytest.approx(1.0)
    assert np.array_equal(again.points, mesh.points)
    assert again.comm.size == mesh.comm.size
    again.select("more", lambda X: X[:, 1] < 0.1)
    assert "more" not in mesh


@ALONE
@pytest.mark.parametrize("how", COPIES)
def test_a_region_keeps_its_mesh(how: str) -> None:
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 2, 2))
    both = COPIES[how]({"a": mesh["x0"], "b": mesh["x0"] | mesh["x1"], "mesh": mesh})
    assert both["a"].mesh is both["b"].mesh is both["mesh"]
    assert both["mesh"]["x0"] is both["a"]
    assert both["b"].sizes == {"quad": 8}
    # a body on it is that on the original
    given = {"mu": 1.0, "lam": 2.0}
    one, other = (
        sa.Body(m["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), rho=1.0, **given)
        for m in (mesh, both["mesh"])
    )
    assert sa.System(other, terms=[]).energies() == sa.System(one, terms=[]).energies()


@pytest.mark.parametrize("how", COPIES)
def test_a_history_comes_back_with_equal_values_and_without_functions(
    how: str, tmp_path: Any
) -> None:
    history = solved().history
    again = COPIES[how](history)
    assert again.steps == history.steps
    assert again.names == ["tip"]
    assert np.array_equal(again.time, history.time)
    assert np.array_equal(again["tip"], history["tip"])
    assert np.array_equal(again.at("tip", 0.75), history.at("tip", 0.75))
    assert str(again) == str(history)
    again.steps.clear()
    assert len(history.steps) == 2
    again.to_csv(tmp_path / "again.csv")
    assert np.array_equal(sa.History.read(tmp_path / "again.csv")["tip[2]"], history["tip"][:, 2])
    with refused(sa.SymancfError, asked="history", possible=("problem.history",)):
        again.sample(2.0)


def test_a_copy_of_a_history_leaves_its_files_alone(tmp_path: Any) -> None:
    history = sa.History(csv=tmp_path / "run.csv")
    history.record("x", lambda: 1.0)
    history.sample(0.0)
    copy.copy(history).close()
    history.sample(1.0)
    history.close()
    assert sa.History.read(tmp_path / "run.csv")["x"].tolist() == [1.0, 1.0]


@ALONE
@pytest.mark.parametrize("how", COPIES)
def test_modes_come_back_with_numbers_and_shapes(how: str) -> None:
    modes = solved().modes
    again = COPIES[how](modes)
    assert np.array_equal(again.frequencies, modes.frequencies)
    assert np.array_equal(again.shapes, modes.shapes)
    assert np.array_equal(again.participation.factors, modes.participation.factors)
    assert str(again) == str(modes)
    if how.startswith("pickle"):
        with refused(sa.SymancfError, asked="system"):
            again.largest(0)
    else:
        assert again.largest(0) == modes.largest(0)


LAWS: dict[str, Any] = {
    "own": own_law,
    "cable": sa.energies.cable(),
    "cable, green": sa.energies.cable(strain="green"),
}
OTHERS: dict[str, Any] = {
    "own_declared": own_declared,
    "own_memory": own_memory,
    "neo_hooke": sa.energies.neo_hooke(),
    "kirchhoff": sa.energies.kirchhoff(curvature="n0"),
    "ogden": sa.energies.ogden(terms=2),
    "swollen": sa.energies.swollen(sa.energies.ogden(terms=1)),
    "rest_strain": sa.energies.rest_strain(sa.energies.rod(), ("kappa1", "epsilon")),
    "rod": sa.energies.rod(),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", LAWS)
def test_a_law_comes_back_as_the_same_law(how: str, name: str) -> None:
    law, again = LAWS[name], COPIES[how](LAWS[name])
    texts = [beam(energy=energy).body.kernel("residual").source for energy in (law, again)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", OTHERS)
def test_a_law_comes_back_with_its_signature_and_marks(how: str, name: str) -> None:
    law, again = OTHERS[name], COPIES[how](OTHERS[name])
    assert inspect.signature(again) == inspect.signature(law)
    assert again.__name__ == law.__name__
    for mark in ("domains", "memory", "stressed_at_rest"):
        assert getattr(again, mark, None) == getattr(law, mark, None)


@pytest.mark.parametrize("how", COPIES)
def test_layers_come_back(how: str) -> None:
    ply = sa.energies.orthotropic()
    layers = sa.Layers(
        [(ply, 1e-3, 0), (ply, 2e-3, 90, {"E1": 3.0}), (ply, 1e-3, 0)], degrees=True, offset=1e-4
    )
    again = COPIES[how](layers)
    assert repr(again) == repr(layers)
    assert again.layers == layers.layers
    assert np.array_equal(again.edges, layers.edges)
    assert again.__signature__ == layers.__signature__


def equal_data() -> dict[str, Any]:
    return {
        "Field": sa.Field(softer, per="point"),
        "Restart": sa.Restart("run.ckpt", every=20),
        "Rayleigh": sa.Rayleigh(mass=0.1, stiffness=1e-3),
        "Section": sa.Section.circle(0.1),
        "Gas": sa.Gas(1e5),
        "Baumgarte": sa.Baumgarte(),
        "Projection": sa.Projection(),
        "cells": sa.Mesh.box((1.0,), (2,)).quality(),
        "step": solved().history.steps[0],
    } | {name: getattr(sa.elements, name) for name in sa.elements.__all__ if name != "CELLS"}


@pytest.mark.parametrize("how", COPIES)
def test_data_come_back_equal(how: str) -> None:
    for name, data in equal_data().items():
        again = COPIES[how](data)
        assert again == data or str(again) == str(data) != object.__repr__(data), name
    assert COPIES[how](sa.elements.hex8) is sa.elements.hex8
    p = sa.Parameter("p", 2.0)
    one, other = COPIES[how]((p, p)) if how != "copy" else (copy.copy(p),) * 2
    assert one is other
    assert (one.name, one.value) == ("p", 2.0)


# ---- what belongs to one process ----------------------------------------------------------------
@cache
def handles() -> dict[str, Any]:
    model = solved()
    head = sa.RigidBody.sphere(0.1, position=(1.0, 0.0, 0.0), rho=1.0, name="head")
    disc = sa.PlanarBody(position=(0.0, 0.0), mass=1.0, inertia=1.0, name="disc")
    cube = sa.Body(
        sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"],
        sa.elements.hex8_plain,
        sa.energies.neo_hooke(),
        **{"mu": 1.0, "lam": 1.0, "rho": 1.0},
    )

    def law(r_a: Any, *, k: Any) -> Any:
        return k / 2 * r_a.dot(r_a)

    tip = model.body.at((1.0, 0.0, 0.0))
    return {
        "Body": model.body,
        "RigidBody": head,
        "PlanarBody": disc,
        "System": model.system,
        "StaticProblem": model.problem,
        "DynamicProblem": sa.DynamicProblem(model.system),
        "EigenProblem": sa.EigenProblem(model.system),
        "fix": model.support,
        "symmetry": sa.symmetry(cube["y0"], "y"),
        "force": model.force,
        "traction": sa.traction(cube["x1"], (1.0, 0.0, 0.0)),
        "pressure": sa.pressure(cube["x1"], 1.0),
        "Cavity": sa.Cavity(cube["x1"], pressure=1.0),
        "moment": sa.moment(head, (0.0, 0.0, 1.0)),
        "gravity": sa.gravity((0.0, 0.0, 1.0)),
        "rotating_frame": sa.rotating_frame((0.0, 0.0, 1.0), 1.0),
        "Contact": sa.Contact(cube["z0"], sa.Plane((0.0, 0.0, -1.0), normal=(0.0, 0.0, 1.0))),
        "joint": sa.joints.spherical(tip, head.at((0.0, 0.0, 0.0))),
        "length": sa.length(model.body["body"]),
        "Potential": sa.Potential(law, tip, k=1.0),
        "magnetic": sa.magnetic(cube, (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
        "KelvinVoigt": sa.KelvinVoigt(cube, eta=1.0),
        "PID": sa.PID(lambda r_a: r_a[2], lambda v_a: v_a[2], tip, kp=1.0, target=0.0),
        "Flexure": sa.Flexure.straight(
            sa.ground.at((0.0, 0.0)), disc.at((0.3, 0.0)), EI=1.0, EA=1.0, name="strip"
        ),
        "kernel": model.body.kernel("residual"),
    }


@ALONE
@pytest.mark.parametrize("how", COPIES)
def test_what_has_handles_says_what_to_send(how: str) -> None:
    for thing in handles().values():
        kind = type(thing).__name__
        for given in (thing,) if how == "copy" else (thing, [thing], {"a": (thing,)}):
            with refused(
                sa.SymancfError,
                asked=lambda a, kind=kind: a.startswith(kind),
                given=re.sub(" at 0x[0-9a-f]+", "", repr(thing)),
                possible=SEND,
            ):
                COPIES[how](given)


@ALONE
def test_a_place_is_refused_by_its_body() -> None:
    model = solved()
    for place in (model.body["x1"], model.body.at((1.0, 0.0, 0.0))):
        with refused(sa.SymancfError, asked="Body 'body'", possible=SEND):
            pickle.dumps(place)


# ---- several ranks ------------------------------------------------------------------------------
@pytest.mark.collective
def test_what_ranks_share_is_copied_on_them_and_not_pickled() -> None:
    mesh = sa.Mesh.box((2.0, 1.0), (4, 3))
    ranks = mesh.comm.size
    assert copy.deepcopy(mesh)["x0"].measure() == pytest.approx(1.0)
    history = sa.History()
    history.record("x", lambda: 1.0)
    history.sample(0.0)
    again = pickle.loads(pickle.dumps(history))
    assert again["x"].tolist() == [1.0]
    assert again.comm.size == 1  # of the process that reads it, which may be alone
    if mesh.comm.rank == 0:
        assert list(again._at_point(recorded=["x"])) == ["x"]
    if ranks == 1:
        assert pickle.loads(pickle.dumps(mesh))["x0"].measure() == pytest.approx(1.0)
        return
    for given in (mesh, mesh["x0"], [mesh["x0"] | mesh["x1"]]):
        with refused(sa.SymancfError, asked="Mesh", possible=(sa.Mesh._distributed,)):
            pickle.dumps(given)
    own = sa.Mesh.box((2.0, 1.0), (4, 3), comm=MPI.COMM_SELF)
    assert pickle.loads(pickle.dumps(own))["x0"].measure() == pytest.approx(1.0)


# ---- process pools ------------------------------------------------------------------------------
@ALONE
@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_a_study_over_processes_gives_the_numbers_of_one(method: str) -> None:
    here = {E: deflection(E)["tip"] for E in (1.0, 2.0)}
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = dict(zip(here, pool.map(deflection, here, timeout=120), strict=True))
    for E, history in found.items():
        assert np.array_equal(history["tip"], here[E])
        assert history["tip"][-1, 2] == pytest.approx(1e-4 / 3 / E, rel=1e-4)


@ALONE
def test_the_study_of_the_guide_runs(repository: Path) -> None:
    script = repository / "docs" / "examples" / "study.py"  # by spawn
    run = subprocess.run(
        [sys.executable, script], env=environment(), capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    sags = [float(line.split()[1]) for line in run.stdout.splitlines()[-3:]]
    assert sags == pytest.approx([33.333, 16.667, 8.333], abs=2e-3)


def body_of(E: float) -> Any:
    return beam(E).body


@ALONE
def test_a_pool_says_what_cannot_be_returned() -> None:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        with refused(sa.SymancfError, asked="Body 'body'", possible=SEND):
            pool.submit(body_of, 1.0).result(timeout=120)
        with refused(sa.SymancfError, asked="Body 'body'", possible=SEND):
            pool.submit(repr, body_of(1.0)).result(timeout=120)
