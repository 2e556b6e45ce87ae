# SPDX-License-Identifier: BSD-3-Clause
"""How objects show themselves in consoles and notebooks, and what names that are none say."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symancf as sa
from symancf.bodies import inspection
from symancf.energies import yeoh
from symancf.runtime import display
from tests.refusals import refused

pytestmark = pytest.mark.collective


def model(**parameters):
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), name="cube")
    given = {"C10": 1.0, "C20": 0.1, "C30": 0.01, "k": 10.0} | parameters
    body = sa.Body(mesh["body"], sa.elements.hex8, yeoh(), name="pad", **given)
    pull = sa.traction(body["x1"], (lambda t: 1e-3 * t, 0.0, 0.0))
    return sa.System(body, terms=[sa.fix(body["x0"]), pull])


def test_every_object_says_what_it_is():
    system = model()
    (body,), (fix, pull) = system.bodies, system.terms
    problem = sa.StaticProblem(system)
    assert repr(body.region.mesh).startswith("Mesh cube: 27 points, 8 hexahedron")
    assert repr(body) == "Body 'pad': 8 hex8 with yeoh"
    assert repr(fix) == "fix:pad.x0: holds position"
    assert repr(pull) == "traction on nodes of 'x1' of 'pad'"
    assert repr(system).startswith("System of 1 body and 2 terms: 54 unknowns")
    assert str(system).splitlines()[-1].split() == ["term", *repr(pull).split()]
    assert repr(problem).startswith("StaticProblem, 0 steps, System of 1 body")
    history = problem.solve(step=0.5)
    assert repr(history) == "History of 2 steps to time 1"
    assert len(history._facts()) == 3
    for each in (body, fix, pull, system, problem, history, body.region.mesh):
        assert "object at 0x" not in repr(each) + str(each) + each._repr_html_()


def test_notebooks_show_a_body_with_its_energy_and_parameters():
    body = model().bodies[0]
    html = body._repr_html_()
    assert html.count("$$") == 4
    assert r"W_\mathrm{deviatoric} = C_{10}" in html
    assert re.search("<td[^>]*>C20</td><td[^>]*>0.1</td>", html)
    assert html.count("<tr>") == 5


@pytest.mark.collective(rows=0)
def test_long_tables_keep_their_ends():
    rows = [("time", "of"), *((str(k), "a < b") for k in range(100))]
    html = display.table(rows)
    assert "76 more" in html
    assert ">99</td>" in html
    assert ">12</td>" not in html
    assert "a &lt; b" in html
    assert display.lines([("n", "x"), ("1", "a"), ("10", "b")])[1:] == ["   1  a", "  10  b"]
    assert display.lines([]) == []


def test_objects_of_petsc_are_there_before_the_first_solution():
    problem = sa.StaticProblem(model())
    assert problem.snes.getType() == "newtonls"
    assert problem.J.getSize() == (54, 54)
    chosen = sa.StaticProblem(model(), prefix="own_", options={"snes_type": "newtontr"})
    assert chosen.snes.getType() == "newtontr"
    told: list[int] = []
    problem.snes.setMonitor(lambda snes, k, norm: told.append(k))
    found = problem.solve()
    other = sa.StaticProblem(model())
    assert other.solve().iterations == found.iterations == max(told)
    size = np.abs(other.system.state).max()  # MUMPS does not repeat its bits on several ranks
    assert other.system.state == pytest.approx(problem.system.state, abs=1e-13 * size)


def test_those_of_motions_too():
    def moved(ask: bool):
        system = model(rho=1.0)
        problem = sa.DynamicProblem(system)
        if ask:
            assert problem.ts.getType() == "alpha2" or problem.snes
        problem.solve(to=0.02, step=0.01)
        return system.state

    asked, other = moved(True), moved(False)
    size = np.abs(other).max()  # MUMPS does not repeat its bits on several ranks
    assert asked == pytest.approx(other, abs=1e-12 * size)
    problem = sa.DynamicProblem(model(rho=1.0), options={"snes_max_it": 7})
    assert problem.snes.getTolerances()[3] == 7
    with pytest.raises(AttributeError, match="no attribute 'tss'"):
        problem.tss  # noqa: B018


@pytest.mark.collective(rows=0)
def test_names_that_are_none_get_a_hint():
    with pytest.raises(AttributeError, match=r"'Boddy'\. Did you mean 'Body'"):
        sa.Boddy  # noqa: B018
    assert "Body" in dir(sa)
    assert "TYPE_CHECKING" not in dir(sa)
    for module, name, hint in (
        (sa.elements, "hex88", "hex8"),
        (sa.energies, "yeo", "yeoh"),
        (sa.joints, "revolut", "revolute"),
    ):
        with pytest.raises(AttributeError, match=f"Did you mean '{hint}'"):
            getattr(module, name)
    for module in (sa.elements, sa.energies, sa.joints, sa.output, sa.view, sa.checkpoint):
        assert dir(module) == sorted(module.__all__)
    body = model().bodies[0]
    with refused(sa.ParameterError, asked="region", given=(0.5, 0.5, 0.5)):
        body[0.5, 0.5, 0.5]
    with refused(sa.ParameterError, asked="gravity", given=repr(body)):
        sa.gravity(body)


@pytest.mark.collective(rows=0)
def test_pictures_without_a_path_are_for_notebooks(shared_tmp_path):
    system = model()
    problem = sa.StaticProblem(system)
    problem.record("P", system.bodies[0].at((1.0, 1.0, 1.0)))
    history = problem.solve()
    image = history.plot("P")
    rank = system.comm.rank
    assert (image._repr_png_() or b"")[1:4] == (b"PNG" if rank == 0 else b"")
    for kind, begin in ((".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
        path = history.plot("P", path=shared_tmp_path / f"plot{kind}")
        if rank == 0:
            assert path.read_bytes().startswith(begin)
    with refused(sa.ParameterError, asked="path"):
        history.plot("P", path="plot.jpg")


@pytest.mark.collective(rows=0)
def test_what_belongs_elsewhere_is_told_where():
    system = model()
    body = system.bodies[0]
    cells = body.region
    with refused(sa.KinematicsError, asked="energy", given=("'hex8'", "yeoh()")):
        sa.Body(cells, "hex8", yeoh(), C10=1.0)
    with refused(
        sa.ParameterError,
        asked="terms",
        given="Rayleigh",
        possible=lambda p: "damping=sa.Rayleigh" in p[0],
    ):
        sa.System(body, terms=[sa.Rayleigh(1.0)])
    with refused(sa.ParameterError, asked="scene", given=repr(body)):
        sa.view.render(body)


def test_fields_are_sampled_by_name():
    system = model()
    sa.StaticProblem(system).solve()
    body = system.bodies[0]
    listed = sa.sample(system, body, fields=["J", "von_mises"])
    named = sa.sample(system, body, fields={"J": "J", "von_mises": "von_mises"})
    assert sorted(listed.point_data) == ["J", "displacement", "von_mises"]
    assert np.array_equal(listed.point_data["von_mises"], named.point_data["von_mises"])
    assert sorted(sa.sample(system, body, fields="J").point_data) == ["J", "displacement"]


@pytest.mark.parametrize("function", ["shape", "residual", "tangent"])
@pytest.mark.parametrize("element", ["tet4", "ancf_cable"])
def test_steps_are_inspected_one_by_one(element, function, capsys):
    law = {"tet4": "yeoh", "ancf_cable": "cable"}[element]
    assert inspection.main(law, element, form="latex", function=function) == 0
    text = capsys.readouterr().out
    assert text.count(r"\begin{align*}") == text.count(r"\end{align*}") == 1
    assert ("N_{4} &=" in text) == (function == "shape")
    assert ("f_i &=" in text) == (function != "shape")
    assert ("K_{ij}" in text) == (function == "tangent")
    assert (r"J F^{-T}" in text) == (function != "shape" and element == "tet4")


@pytest.mark.collective(rows=0)
def test_one_function_of_c_is_inspected(capsys):
    inspection.main("yeoh", "tet4", form="c", function="residual")
    text = capsys.readouterr().out
    assert "int yeoh_tet4_residual(" in text
    assert "yeoh_tet4_tangent" not in text
    with refused(sa.KinematicsError, asked="residua", possible=lambda p: "residual" in p):
        inspection.main("yeoh", "tet4", form="c", function="residua")


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("count", [3, 18, 19, 20, 40])
def test_a_printed_history_has_twenty_lines_at_most(count):
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0)
    fall = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, -10.0))]))
    shown = str(fall.solve(to=0.1 * count, step=0.1)).splitlines()
    assert len(shown) == min(count + 2, 20)
    assert shown[-1].startswith(f"{count} steps")
    assert [line.split()[0] for line in shown[:2]] == ["time", "0.1"]
    assert float(shown[-2].split()[0]) == pytest.approx(0.1 * count)
    left_out = [line for line in shown if line.startswith("  ... ")]
    rows = len(shown) - 2 - len(left_out)
    assert left_out == ([] if count < 19 else [f"  ... {count - rows} more"])
