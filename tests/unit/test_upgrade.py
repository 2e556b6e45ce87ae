"""Former spellings of the interface: they warn, and `symancf upgrade` rewrites them.

symancf upgrade: off
"""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.command import upgrade
from symancf.command.cli import main
from tests.refusals import refused

FORMER = "goes with the next minor version"


def upgraded(program: str) -> str:
    return upgrade.rewrite(program, upgrade.ImportedNames())[0]


def noted(program: str) -> list[tuple[int, str]]:
    return upgrade.rewrite(program, upgrade.ImportedNames())[1]


def ball(**given: Any) -> sa.System:
    return sa.System(sa.RigidBody.sphere(1.0, rho=1.0, **given))


# former program -> present program; each line stands alone behind `import symancf as sa`
PAIRS = {
    'sa.DynamicProblem(s, "p_", rho=0.8)  # slow': (
        'sa.DynamicProblem(s, "p_", spectral_radius=0.8)  # slow'
    ),
    "sa.Body(mesh, rho=0.8)": "sa.Body(mesh, rho=0.8)",
    'sa.DynamicProblem(s, **{"rho": 0.8} | more)': (
        'sa.DynamicProblem(s, **{"spectral_radius": 0.8} | more)'
    ),
    "sa.Body(r, sa.energies.yeoh, **k)": "sa.Body(r, sa.energies.yeoh(), **k)",
    "sa.Body(r, sa.energies.cable, **k)": "sa.Body(r, sa.energies.cable(), **k)",
    "laws = [sa.energies.ogden(terms=2), sa.energies.swollen(sa.energies.gent)]": (
        "laws = [sa.energies.ogden(terms=2), sa.energies.swollen(sa.energies.gent())]"
    ),
    "def law(J, I1, *, k): return 2 * sa.energies.neo_hooke(J, I1, mu=k, lam=k)": (
        "def law(J, I1, *, k): return 2 * sa.energies.neo_hooke()(J, I1, mu=k, lam=k)"
    ),
    "sa.print(f'{sa.print}', end='')": "sa.root_print(f'{sa.root_print}', end='')",
    'sa.prescribe(p, "x", position=0.0, release=F)': (
        'sa.displacement_control(p, "x", position=0.0, release=F)'
    ),
    "p, L = sa.momentum(system, about=(1, 0, 0))": "p, L = system.momentum(about=(1, 0, 0))",
    "sa.momentum(sa.System(a))[0]": "sa.System(a).momentum()[0]",
    "sa.momentum(a or b)[0]": "(a or b).momentum()[0]",
    "x = sa.largest(body, 'J', at='cells')(system)": (
        "x = sa.maximum(system, body, 'J', at=\"cell\")"
    ),
    "p.record('J', sa.largest(b, 'J'), every=2)": (
        "p.record('J', lambda: sa.maximum(p.system, b, 'J'), every=2)"
    ),
    "from symancf import print; print(1)": "from symancf import root_print; root_print(1)",
    "print(1)": "print(1)",
    "sa.Body(r, e, w, smooth=70)": "sa.Body(r, e, w, smooth_deg=70)",
    'mesh.select("a", normal=n, angle=5)': 'mesh.select("a", normal=n, angle_deg=5)',
    "sa.Layers([(w, 1e-3, 45), (w, 1e-3)], axis=a)": (
        "sa.Layers([(w, 1e-3, 45), (w, 1e-3)], degrees=True, axis=a)"
    ),
    "sa.Layers([(w, 1e-3), (w, 1e-3, 0)])": "sa.Layers([(w, 1e-3), (w, 1e-3, 0)])",
    "disc = sa.PlanarBody(); x = disc.origin": "disc = sa.PlanarBody(); x = disc.at((0, 0))",
    "box = sa.RigidBody(); x = box.origin": "box = sa.RigidBody(); x = box.origin",
    "sa.Layers(plies)": "sa.Layers(plies, degrees=True)",
    "x = terms[1].reaction(system)[2]": "x = terms[1].reaction(system).force[2]",
    "x = np.abs(a.reaction(system) + b).max()": "x = np.abs(a.reaction(system).force + b).max()",
    "h = sa.fix(r); f = h.reaction(s)": "h = sa.fix(r); f = h.reaction(s).force",
    "m = a.reaction_moment(s, about=(1, 0, 0))": "m = a.reaction(s).moment_about((1, 0, 0))",
    "m = a.reaction_moment(s)": "m = a.reaction(s).moment_about((0, 0, 0))",
    "x = joint.reaction(system, 'b').moment": "x = joint.reaction(system, 'b').moment",
    "sa.Contact(a, k=1e5, mu=0.1)": "sa.Contact(a, stiffness=1e5, mu=0.1)",
    "sa.RigidBody(at=x).at(y)": "sa.RigidBody(position=x).at(y)",
    "sa.RigidBody.box((1, 1, 1), at=x)": "sa.RigidBody.box((1, 1, 1), position=x)",
    "sa.PlanarBody(at=x)": "sa.PlanarBody(position=x)",
    'sa.Field(f, at="points")': 'sa.Field(f, per="point")',
    '@sa.local(p=0, at="cell")\ndef law(J, *, p): ...': (
        '@sa.local(p=0, per="cell")\ndef law(J, *, p): ...'
    ),
    "sa.sample(s, b, at='cells')": 'sa.sample(s, b, at="cell")',
    "sa.sample(s, b, at='gauss')": "sa.sample(s, b, at='gauss')",
    'sa.StaticProblem(s, "", None, False, h)': (
        'sa.StaticProblem(s, "", None, check_held=False, history=h)'
    ),
}


@pytest.mark.parametrize("former", PAIRS)
def test_a_former_spelling_is_rewritten_once(former: str) -> None:
    head = "import symancf as sa\n"
    new = upgraded(head + former)
    assert new == head + PAIRS[former]
    assert upgraded(new) == new


@pytest.mark.parametrize(
    "head",
    [
        "from symancf import DynamicProblem",
        "from symancf.solve.dynamics import DynamicProblem",
        "import symancf.solve.dynamics as d; DynamicProblem = d.DynamicProblem",
    ],
)
def test_names_are_found_however_they_are_imported(head: str) -> None:
    program = "{}\nö = 'ö'; p = DynamicProblem(s, rho=(0.5\n    + 0.3))\n"
    new = upgraded(program.format(head))
    expected = "spectral_radius=(0.5\n    + 0.3)" if "; " not in head else "rho=(0.5\n    + 0.3)"
    assert expected in new


def test_a_name_with_two_meanings_is_reported() -> None:
    program = "from symancf.energies import rod\nfor rod in rods:\n    rod(1)\n"
    assert upgraded(program) == program
    assert [line for line, _ in noted(program)] == [2]
    method = "from symancf.energies import gent\nclass A:\n    def gent(self): return f(gent)\n"
    assert "f(gent())" in upgraded(method)


def test_former_attributes_are_rewritten_or_reported() -> None:
    head = "import symancf as sa\nball = sa.RigidBody(mass=1.0)\ns = sa.System(ball)\n"
    former = "K = s.tangent(scipy=True)\nN = s.numbering.size\nn = s.sum(s.mass(), op=s.comm.SUM)\n"
    now = "K = s.matrices.tangent(scipy=True)\nN = s.unknowns.size\n"
    now += "n = s.comm.allreduce(s.matrices.mass(), op=s.comm.SUM)\n"
    assert upgraded(head + former) == head + now
    assert noted(head + former) == []
    program = head + "of = s.unknowns\nx = of.taken(s.state), s.unknowns.taken(s.rate)\n"
    assert upgraded(program) == program.replace("taken", "from_local")
    program = (
        head + "q = s.snapshot()\nm = ball.moments.mass\nb = ball.blocks\nr = ball.reference\n"
    )
    assert upgraded(program) == program
    assert sorted(noted(program))[0] == (4, "System.snapshot goes: write problem.state")
    assert sorted(line for line, _ in noted(program)) == [4, 5, 6]


def test_what_can_no_longer_be_set_is_reported() -> None:
    program = (
        "import symancf as sa\nball = sa.RigidBody(mass=1.0)\ns = sa.System(ball)\n"
        "s.time = 0.0\nball.velocity = (1, 0, 0)\nE = sa.Parameter('E')\nE.value = 2.0\n"
        "p = sa.DynamicProblem(s)\np.rho = 0.5\ns.stiffness = 2.0\nball.mass = 3.0\n"
    )
    assert upgraded(program) == program
    assert [line for line, _ in noted(program)] == [9, 10, 11]


def test_an_origin_of_an_unknown_body_is_reported() -> None:
    program = "import symancf as sa\ndef f(body):\n    return body.origin\n"
    assert upgraded(program) == program
    assert [line for line, _ in noted(program)] == [3]
    program = "import symancf as sa\nb = sa.PlanarBody()\nfor b in bodies:\n    b.origin\n"
    assert [line for line, _ in noted(program)] == [4]


def test_reactions_that_may_be_something_else_are_reported() -> None:
    programs = (
        "import symancf as sa\nr = terms[0].reaction(system)\n",
        "import symancf as sa; sa.PlanarBody()\nM = terms[0].reaction(system)[2]\n",
    )
    for program in programs:
        assert upgraded(program) == program
        assert [line for line, _ in noted(program)] == [2]


def test_pages_examples_and_notebooks_are_rewritten(tmp_path: Path) -> None:
    former, present = "sa.DynamicProblem(s, rho=0.8)", "sa.DynamicProblem(s, spectral_radius=0.8)"
    page = "Take `{0}`, not `rho=1`:\n\n- so:\n  ```python\n  {0}\n\n  ```\n```\n>>> {0}\n1\n```\n"
    script = 'import symancf as sa\n\ndef f():\n    """Do.\n\n    >>> {0}\n    1\n    """\n'
    for name, text in (("a.md", page), ("b.py", script)):
        (tmp_path / name).write_text(text.format(former))
    cell = {
        "cell_type": "code",
        "source": ["%%time\n", "import symancf as sa\n", former],
        "outputs": [],
    }
    (tmp_path / "c.ipynb").write_text(json.dumps({"cells": [cell]}, indent=1) + "\n")
    before = {p: p.read_text() for p in tmp_path.iterdir()}
    assert main(["upgrade", "--check", str(tmp_path)]) == 1
    assert before == {p: p.read_text() for p in tmp_path.iterdir()}
    assert main(["upgrade", str(tmp_path)]) == 0
    assert (tmp_path / "a.md").read_text() == page.format(present)
    assert (tmp_path / "b.py").read_text() == script.format(present)
    assert (tmp_path / "c.ipynb").read_text() == before[tmp_path / "c.ipynb"].replace(
        former, present
    )
    assert main(["upgrade", "--check", str(tmp_path)]) == 0
    (tmp_path / "d.py").write_text(f"# symancf upgrade: off\nimport symancf as sa\n{former}\n")
    assert main(["upgrade", "--check", str(tmp_path)]) == 0


def test_a_file_that_is_no_python_is_named(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "a.py").write_text("import symancf as sa\nsa.DynamicProblem(s, rho=\n")
    assert main(["upgrade", str(tmp_path)]) == 1
    assert "not read" in capsys.readouterr().out


def test_the_former_spectral_radius_and_positions_warn() -> None:
    with pytest.warns(DeprecationWarning, match=FORMER) as seen:
        assert sa.DynamicProblem(ball(), rho=0.7).spectral_radius == 0.7  # type: ignore[call-arg]
    assert seen[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=FORMER):
        problem = sa.DynamicProblem(ball(), "", None, 0.6)  # type: ignore[call-arg,arg-type]
    assert problem.spectral_radius == 0.6
    with refused(sa.ParameterError, asked="spectral_radius", given=(0.5, 0.5)):
        sa.DynamicProblem(ball(), rho=0.5, spectral_radius=0.5)  # type: ignore[call-arg]
    with pytest.raises(TypeError), pytest.warns(DeprecationWarning, match=FORMER):
        sa.DynamicProblem(ball(), "", None, 0.6, None, None, "rk", None, 1)  # type: ignore[call-arg,arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (sa.StaticProblem, sa.DynamicProblem, sa.EigenProblem):
            kind(ball(), "p_", {})


def test_places_of_bodies_and_of_values_have_one_spelling() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    system = sa.System(block)
    call: Any = sa  # type checkers know the present spellings alone
    former: list[tuple[Any, Any]] = [
        (lambda: call.RigidBody(at=(1, 2, 3)).origin.tolist(), [1, 2, 3]),
        (lambda: call.RigidBody.box((1, 1, 1), at=(1, 2, 3)).origin.tolist(), [1, 2, 3]),
        (lambda: call.RigidBody.cylinder(1, 1, at=(1, 2, 3)).origin.tolist(), [1, 2, 3]),
        (lambda: call.PlanarBody(at=(1, 2, 3))._reference.tolist(), [1, 2, 3]),
        (lambda: call.Field(lambda X: X[:, 0], at="points").per, "point"),
        (lambda: call.Field(lambda X: X[:, 0], "cells").per, "cell"),
        (lambda: call.local(p=0, at="cell")(lambda J, *, p: p * J).local.per, "cell"),
        (lambda: call.sample(system, block, fields=["J"], at="cells").cell_data["J"].tolist(), [1]),
        (lambda: call.Contact(block["x0"], sa.Plane(normal=(1, 0, 0)), k=5.0)._stiffness, 5.0),
    ]
    for given, wanted in former:
        with pytest.warns(DeprecationWarning, match=FORMER):
            assert given() == wanted


def test_laws_of_the_catalogue_are_called() -> None:
    region = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"]
    given: dict[str, Any] = {"mu": 1.0, "lam": 2.0}
    law: Any = sa.energies.neo_hooke
    assert law() is law()
    assert pickle.loads(pickle.dumps(law())) is law()
    present = sa.Body(region, sa.elements.hex8, law(), **given)
    with pytest.warns(DeprecationWarning, match=r"energies.neo_hooke as a law goes"):
        former = sa.Body(region, sa.elements.hex8, law, **given)
    line, cables = sa.Mesh.box((1.0,), (1,))["body"], sa.elements.ancf_cable
    with pytest.warns(DeprecationWarning, match=r"write energies.cable\(\)"):
        cable = sa.Body(line, cables, sa.energies.cable, EA=1.0, EI=1.0)
    assert "cable" in repr(cable)
    assert former.kernel("energy").source == present.kernel("energy").source

    def doubled(J: Any, I1: Any, *, mu: Any, lam: Any) -> Any:
        return 2 * law(J, I1, mu=mu, lam=lam)["deviatoric"]

    with pytest.warns(DeprecationWarning, match=r"energies.neo_hooke\(\)\(\.\.\.\)"):
        sa.Body(region, sa.elements.hex8, doubled, **given).kernel("energy")


def test_functions_of_the_user_that_make_laws_are_called_by_the_user() -> None:
    def soft() -> Any:
        return sa.energies.neo_hooke()

    region = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"]
    with refused(sa.KinematicsError, asked="soft"):
        sa.Body(region, sa.elements.hex8, soft)
    decorated: Any = sa.energies.stressed_at_rest(sa.energies.gent)
    with refused(sa.KinematicsError, asked="gent"):
        sa.Body(region, sa.elements.hex8, decorated)
    sa.Body(region, sa.elements.hex8, soft(), mu=1.0, lam=1.0)


def test_former_functions_warn_and_do_the_same(capsys: Any) -> None:
    call: Any = sa
    system = ball(velocity=(1.0, 2.0, 0.0))
    with pytest.warns(DeprecationWarning, match="write symancf.root_print"):
        call.print("once")
    assert "once" in capsys.readouterr().out
    with pytest.warns(DeprecationWarning, match=r"write system.momentum\(\)"):
        former = call.momentum(system, (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(former, system.momentum((1.0, 0.0, 0.0)))
    disc, factor = sa.PlanarBody(mass=1.0), sa.Factor("F")
    given = {"position": 0.0, "release": factor}
    with pytest.warns(DeprecationWarning, match="write displacement_control"):
        term = call.prescribe(disc.at((0.0, 0.0)), "x", **given)
    assert term.factor is factor
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    held = sa.System(block, terms=[sa.fix(block["x0"])])
    problem = sa.StaticProblem(held)
    with pytest.warns(DeprecationWarning, match="write maximum"):
        largest = call.largest(block, "J")
    problem.record("J", largest)
    assert problem.solve()["J"][-1] == largest(held) == sa.maximum(held, block, "J")
    assert not {"print", "largest", "momentum", "prescribe"} & {*dir(sa)}


def test_angles_say_their_unit() -> None:
    call: Any = sa
    law = sa.energies.orthotropic()
    with pytest.warns(DeprecationWarning, match="write degrees=True"):
        former = sa.Layers([(law, 1.0, 0), (law, 1.0, 90)])
    given = {True: (0, 90, -45), False: (0, np.pi / 2, -np.pi / 4)}
    for degrees, angles in given.items():
        plies = sa.Layers([(law, 1.0, angle) for angle in angles], degrees=degrees)
        assert [ply.angle for ply in plies.layers] == [0.0, 90.0, -45.0]
    assert former.layers[1].angle == 90.0
    with refused(sa.ParameterError, asked="degrees", given=1, possible=(True, False)):
        call.Layers([(law, 1.0, 90)], degrees=1)
    mesh: Any = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    with pytest.warns(DeprecationWarning, match="write angle_deg="):
        former = mesh.select("top", normal=(0, 0, 1), angle=1.0)
    assert former.sizes == mesh.select("above", normal=(0, 0, 1), angle_deg=1.0).sizes
    with pytest.warns(DeprecationWarning, match="write smooth_deg="):
        call.Body(mesh["body"], sa.elements.hex8, sa.energies.gent(), smooth=70.0, mu=1, Jm=9, k=1)


def test_the_origin_of_a_planar_body_is_a_place_for_one_more_version() -> None:
    disc: Any = sa.PlanarBody(position=(1.0, 2.0), mass=1.0)
    with pytest.warns(DeprecationWarning, match=r"write body.at\(\(0, 0\)\)"):
        place = disc.origin
    np.testing.assert_array_equal(place.X, disc.at((0.0, 0.0)).X)
    sa.System(disc, terms=[sa.force(disc, (1.0, 0.0)), sa.moment(disc, 1.0)])


def test_reactions_of_supports_are_those_of_constraints() -> None:
    """Force, and moment about the middle of the nodes; as an array with a warning."""
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1))
    block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.gent(), mu=1e3, Jm=9.0, k=1e3)
    support: Any = sa.fix(block["x0"])
    system = sa.System(block, terms=[support, sa.force(block["x1"], (0.0, 0.0, -0.01))])
    sa.StaticProblem(system).solve()
    found = support.reaction(system)
    tip = system.position(block["x1"]).mean(axis=0)
    np.testing.assert_allclose(found.points, [(0.0, 0.5, 0.5)])
    np.testing.assert_allclose(found.force, (0.0, 0.0, 0.01), atol=1e-12)
    np.testing.assert_allclose(found.moment, (0.0, -0.02, 0.0), atol=1e-6)
    np.testing.assert_allclose(found.moment_about(tip), 0.0, atol=1e-10)
    with pytest.warns(DeprecationWarning, match=r"write reaction\(system\).force"):
        third = found[2]
    assert third == found.force[2]
    for use in (np.abs, np.sum, lambda r: r + 1.0, lambda r: np.eye(3) @ r, lambda r: r.max()):
        with pytest.warns(DeprecationWarning, match=FORMER):
            np.testing.assert_array_equal(use(found), use(found.force))
    with pytest.warns(DeprecationWarning, match="moment_about"):
        moment = support.reaction_moment(system, tip)
    np.testing.assert_array_equal(moment, found.moment_about(tip))
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.moments, found.moments)
    assert not hasattr(found, "_none")
    joint: Any = sa.joints.spherical(sa.PlanarBody(mass=1.0).at((0.0, 0.0)), sa.ground)
    held = sa.System(joint.ends[0].body, terms=[joint])
    with pytest.raises(TypeError, match="a Reaction is no array"):
        joint.reaction(held)[0]
    with pytest.raises(AttributeError, match="a Reaction has no 'max'"):
        joint.reaction(held).max()


def test_the_reaction_of_a_planar_body_was_force_and_moment() -> None:
    disc = sa.PlanarBody(position=(1.0, 2.0), mass=1.0, inertia=1.0)
    support: Any = sa.fix(disc, "all")
    loads = [sa.force(disc.at((0.5, 0.0)), (0.0, -2.0)), sa.moment(disc, 3.0)]
    system = sa.System(disc, terms=[support, *loads])
    problem = sa.StaticProblem(system)
    problem.record("root", support)
    history = problem.solve()
    found = support.reaction(system)
    np.testing.assert_allclose(found.points, [(1.0, 2.0, 0.0)])
    np.testing.assert_allclose(found.force, (0.0, 2.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(found.moment, (0.0, 0.0, -2.0), atol=1e-12)
    np.testing.assert_allclose(history["root"][-1], (0.0, 2.0, -2.0), atol=1e-12)
    with pytest.warns(DeprecationWarning, match=FORMER):
        assert found[2] == found.moment[2]
