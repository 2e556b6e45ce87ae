# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments of all that is public: a message of the package, the same on every rank."""

from __future__ import annotations

import copy
import inspect
import math
import random
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.laws.accuracy import digits_lost
from symancf.values import arguments
from symancf.values.parameter import direction, is_empty, reals
from symancf_codegen import PointLaw
from tests.campaign import signatures
from tests.campaign.case import judge
from tests.campaign.worker import found
from tests.refusals import refused

MESH_METHODS = ("read", "from_arrays", "box", "disc", "cylinder", "sphere", "tube", "select")
NO_ARGUMENTS = {
    "Projection",
    "capabilities",
    "root_print",
    "implicit",
    "remember",
    "Table.add",
    "Mesh",
    "Region",
}


@pytest.mark.collective
@pytest.mark.parametrize("part", range(2))
def test_wrong_arguments_are_refused_on_every_rank(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = []
    for case in signatures.generate(random.Random(f"arguments {part}"), 40):
        did = MPI.COMM_WORLD.allgather(found(case.run))
        told = judge(case.expect, (*case.raises, "ZeroDivisionError"), did)
        if told and not told.startswith("ranks differ"):  # by round-off
            wrong.append(f"{case.name}: {told}")
    assert not wrong, "\n".join(wrong)


def test_every_public_function_has_its_arguments_tried() -> None:
    tried = {name.split(",")[0].split(" ")[0] for name in signatures.examples()}
    tried |= {name.split(".")[0] for name in tried}
    public = {
        name
        for name in sa.__all__
        if callable(getattr(sa, name)) and not _is_error(getattr(sa, name))
    }
    public |= {f"joints.{n}" for n in sa.joints.__all__ if n[0].islower()}
    public |= {f"Mesh.{name}" for name in MESH_METHODS}
    missing = public - tried - NO_ARGUMENTS
    assert not missing


def _is_error(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, BaseException)


@pytest.mark.parametrize(
    "given",
    [
        "1", ["1", "2", "3"], np.array(["1"]), b"1", True, np.array([True]), 1j,
        np.array([1j]), None, {1.0}, {}, (x for x in (1.0,)), [[1.0], [1.0, 2.0]], 10**400,
        math.nan, [math.inf], np.ma.masked_array([1.0, 2.0], mask=[0, 1]), object(), sp.Symbol("x"),
        Decimal("nan"), sa.Parameter("p", 1.0), ["1", None], [np.zeros(2), 1.0],
    ],
)  # fmt: skip
def test_what_is_no_number_is_none(given: Any) -> None:
    assert reals(given).shape == (0,)
    assert not is_empty(given) or not given
    with refused(sa.ParameterError, asked="x"):
        arguments.number("f", "x", given)


@pytest.mark.parametrize(
    "given", [1, 1.0, np.float32(1), np.array(1), Decimal(1), Fraction(1), sp.Integer(1)]
)
def test_what_is_a_number_is_one(given: Any) -> None:
    assert reals(given).shape == ()
    assert arguments.number("f", "x", given) == 1.0
    assert reals([given, given]).tolist() == [1.0, 1.0]


def test_directions_of_any_length() -> None:
    for size in (1.0, 1e200, 1e-200, 5e-324, 1e308):
        np.testing.assert_allclose(direction([0.0, -size, 0.0]), [0.0, -1.0, 0.0], atol=1e-15)
    assert len(direction([0.0, 0.0, 0.0])) == 0
    v = np.array([1.0, 2.0, -3.0])
    assert np.array_equal(direction(v), v / np.linalg.norm(v))  # the same bits


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "\udc80", "a\tb"])
def test_names_are_texts_of_one_line(name: str) -> None:
    with refused(sa.ParameterError, asked="name", given=name):
        sa.PlanarBody(name=name)
    history = sa.History()
    with refused(sa.ParameterError, given=name):
        history.record(name, lambda: 1.0)


def test_names_of_other_scripts_and_of_300_characters(tmp_path: Path) -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    for name in ("größe \u957f\u3055 \U0001f600", "x" * 300, "int", "NULL", "../../x"):

        def law(J: Any, I1: Any, *, mu: Any) -> Any:
            return mu / 2 * (I1 - 3) - mu * sp.log(J) + mu * sp.log(J) ** 2 / 2

        law.__name__ = name if name.isascii() else "law"
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, name=name, mu=1.0)
        system = sa.System(body, terms=[sa.fix(body["x0"], name=name)])
        assert repr(name)[1:20] in repr(body)
        for suffix in (".pvd", ".vtkhdf"):
            path = tmp_path / f"s{suffix}"
            sa.output.Series(path).write(0.0, {name: sa.sample(system, body)})
            assert list(sa.output.read(path)) == [name]


@pytest.mark.parametrize("bad", ["a\0b", "x" * 300])
def test_paths_that_no_file_can_have(tmp_path: Path, bad: str) -> None:
    mesh = sa.Mesh.box((1.0,), (1,))
    path = str(tmp_path / f"{bad}.h5")
    for write in (
        mesh.write,
        sa.Mesh.read,
        sa.History().to_csv,
        sa.History().to_hdf5,
        sa.History.read,
        sa.output.Series,
        sa.output.read,
        lambda p: sa.History(csv=p),
        lambda p: sa.Restart(p),
        lambda p: sa.view.regions(mesh, p),
    ):
        with refused(sa.ParameterError, asked="path", given=path):
            write(path)


def test_a_history_is_a_collection_of_names() -> None:
    history = sa.History()
    history.record("x", lambda: 1.0)
    history.record("y", lambda: 2.0)
    history.sample(0.0)
    assert list(history) == ["x", "y"]
    assert {name: history[name].tolist() for name in history} == {"x": [1.0], "y": [2.0]}
    assert "x" in history
    assert 0 not in history
    for name in (0, None, ["x"], np.ones(2)):
        with refused(sa.ParameterError, possible=("x", "y")):
            history[name]  # type: ignore[index]
    assert history.at("x", []).shape == (0,)


def test_the_reaction_of_each_end_and_of_no_other() -> None:
    head = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1.0, name="head")
    joint = sa.joints.spherical(head.at((0.0, 0.0, 0.0)), sa.ground)
    system = sa.System(head, terms=[joint, sa.gravity((0.0, 0.0, -1.0))])
    sa.DynamicProblem(system).solve(to=1e-3, step=1e-3)
    on_head, on_ground = (joint.reaction(system, end).force for end in ("a", "b"))
    np.testing.assert_allclose(on_head, -on_ground)
    for end in ("c", "ab", "", None, 1):
        with refused(sa.ParameterError, given=end, possible=("a", "b")):
            joint.reaction(system, end)  # type: ignore[arg-type]
    for other in (None, head, [system]):
        with refused(sa.ParameterError, asked="system"):
            joint.reaction(other, "a")  # type: ignore[arg-type]


@pytest.mark.parametrize("normal", [(1, 0, 0), np.array([1.0, 0.0, 0.0]), "xy", "", None, 0])
def test_a_plane_of_symmetry_has_the_name_of_an_axis(normal: Any) -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    block = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=1.0)
    with refused(sa.ParameterError, possible=("x", "y", "z")):
        sa.symmetry(block["x0"], normal)


BULK = {
    "yeoh": {"C10": 1.0, "C20": 0.1, "C30": 0.0},
    "mooney_rivlin": {"C10": 1.0, "C01": 0.1},
    "gent": {"mu": 1.0, "Jm": 30.0},
    "arruda_boyce": {"mu": 1.0, "lambda_m": 3.0},
    "yeoh_raw": {"C10": 1.0, "C20": 0.1, "C30": 0.0},
}


@pytest.mark.parametrize("law", BULK)
@pytest.mark.parametrize("element", ["hex8", "hex8_plain", "hex8_fbar"])
def test_a_bulk_modulus_of_zero_is_refused(law: str, element: str) -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    with warnings.catch_warnings(), refused(sa.ParameterError, asked="k"):
        warnings.simplefilter("ignore")
        body = sa.Body(
            mesh["body"],
            getattr(sa.elements, element),
            getattr(sa.energies, law)(),
            k=0.0,
            **BULK[law],
        )
        sa.System(body, terms=[sa.fix(body["x0"])])


def _sines(x: Any, levels: int) -> Any:
    """Return a small graph: x inside and outside of each sine."""
    y = x
    for _ in range(levels):
        y = sp.sin(y) + x
    return y


def _doubled(x: Any, levels: int) -> Any:
    """Return what has 2**levels operations when it is written out."""
    y = x
    for _ in range(levels):
        y = sp.sin(y) + y
    return y


def _cases(x: Any, levels: int) -> Any:
    y = x
    for k in range(levels):
        y = sp.Piecewise((y, x < 1.0 - k / levels), (k * x**2, True))
    return y


def _whole(x: Any, levels: int) -> Any:
    return sp.Add(*(sp.sin(k * x) / k**2 for k in range(1, levels + 1)))


def _potential(f: Any) -> None:
    def law(u_a: Any) -> Any:
        return f(u_a[0]) ** 2

    sa.Potential(law, sa.PlanarBody(position=(0.0, 0.0)).at((0.0, 0.0)), name="law")


def _constraint(f: Any) -> None:
    def law(u_a: Any) -> Any:
        return u_a[0] - f(u_a[1])

    sa.Constraint(law, sa.PlanarBody(position=(0.0, 0.0)).at((0.0, 0.0)), name="law")


def _force(f: Any) -> None:
    def law(u_a: Any, v_a: Any) -> Any:
        return [(v_a[0], -f(u_a[0]))]

    sa.VirtualWork(law, sa.PlanarBody(position=(0.0, 0.0)).at((0.0, 0.0)), name="law")


def _controller(f: Any) -> None:
    def height(u_a: Any) -> Any:
        return u_a[1]

    def lift(v_a: Any) -> Any:
        return v_a[1]

    def law(y: Any) -> Any:
        return -f(y)

    sa.Controller(height, lift, law, sa.PlanarBody(position=(0.0, 0.0)).at((0.0, 0.0)))


def _distance(f: Any) -> None:
    def law(x1: Any, x2: Any, x3: Any) -> Any:
        return x3 - f(x1)

    sa.Distance(law)


def _block(energy: Any = sa.energies.neo_hooke(), **given: Any) -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=MPI.COMM_SELF)
    return sa.Body(mesh["body"], sa.elements.hex8_plain, energy, name="block", **given)


def _contact(f: Any) -> None:
    def law(g: Any) -> Any:
        return 10.0 * g**2 + f(g) ** 2

    sa.Contact(_block(mu=1.0, lam=2.0)["x1"], sa.Plane((2.0, 0.0, 0.0), (-1.0, 0.0, 0.0)), law=law)


def _energy(f: Any) -> None:
    def law(J: Any) -> Any:
        return (J - 1) ** 2 * f(J) ** 2

    sa.System(_block(law))


def _field(f: Any) -> None:
    system = sa.System(part := _block(mu=1.0, lam=2.0))
    sa.sample(system, part, fields={"law": lambda J: f(J)})


LAWS = {
    "potential": _potential,
    "constraint": _constraint,
    "force": _force,
    "controller": _controller,
    "distance": _distance,
    "contact": _contact,
    "energy": _energy,
    "field": _field,
}


@pytest.mark.parametrize("place", LAWS)
def test_laws_of_many_levels_end_in_one_message(place: str) -> None:
    use = LAWS[place]
    with refused(sa.CompileError, asked="law"):
        use(lambda x: _doubled(x, 30))
    with refused(sa.KinematicsError, asked="law"):
        use(lambda x: _sines(x, 90))
    for made, levels in ((_cases, 110), (_sines, 200)):
        with pytest.raises(sa.SymancfError):
            use(lambda x, made=made, levels=levels: made(x, levels))


def test_laws_of_some_dozens_of_levels_work() -> None:
    for use, made, levels in (
        (_potential, _sines, 60),
        (_force, _cases, 60),
        (_force, _whole, 1000),
    ):
        use(lambda x, made=made, levels=levels: made(x, levels))


@pytest.mark.parametrize("place", LAWS)
def test_numbers_in_laws_that_are_not_finite_are_refused(place: str) -> None:
    use = LAWS[place]
    for number in (math.inf, -math.inf, math.nan, sp.oo, sp.zoo, sp.Float("1e400"), 10**400):
        with refused(sa.KinematicsError, asked="law"):
            use(lambda x, number=number: number * x)


def test_numbers_that_overflow_in_derivatives_are_refused() -> None:
    def law(u_a: Any) -> Any:
        return sp.exp(-1e200 * u_a[0] ** 2)

    body = sa.PlanarBody(position=(0.0, 0.0))
    with refused(sa.CompileError, asked="law", given="inf"):
        sa.System(body, terms=[sa.Potential(law, body.at((0.0, 0.0)), name="law")])


def test_a_polynomial_in_horners_form_needs_no_signs() -> None:
    """SymPy would look for the roots of the base of each power: minutes from degree 10 on."""

    def law(J: Any, I1: Any) -> Any:
        y = sp.S.One
        for k in range(20):
            y = y * (J - 1) + 1.0 / (k + 1) ** 2
        return (I1 - 3 - 2 * sp.log(J)) / 2 + ((J - 1) * y) ** 2

    sa.System(_block(law))


def test_a_law_that_is_too_deep_for_its_round_off_is_told() -> None:
    x = sp.Symbol("x", real=True)
    energy = x
    for _ in range(60):
        energy = sp.sin(energy) + x**2
    law = PointLaw("deep", (x,), energy=energy**2)
    with refused(sa.KinematicsError, asked="law", given="deep"):
        digits_lost([(law, None)])


def test_attributes_that_nothing_would_follow_are_refused() -> None:
    mesh = sa.Mesh.box((1.0,), (2,))
    beam = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)
    places = (beam["x0"], beam.at((0.5, 0.0, 0.0)), sa.ground, sa.Factor("load"))
    table, samples = sa.Table("Sag", "mesh"), sa.sample(sa.System(beam), beam)
    for given in (mesh, *places, table, samples):
        with pytest.raises(sa.ParameterError, match="'colour' is no attribute of it"):
            given.colour = "red"
        assert not hasattr(given, "colour")
    for given, name in ((mesh, "name"), (mesh, "points"), (places[1], "frame"), (table, "rows")):
        with pytest.raises(sa.ParameterError, match=f"'{name}' is fixed once it is made"):
            setattr(given, name, None)
    samples.points = samples.points + 1.0  # data of the program's own
    assert samples.points.min() >= 1.0
    assert copy.copy(mesh).n_points == copy.deepcopy(mesh).n_points == 3


@pytest.mark.parametrize("number", [(0.0, 0.0, 0.0), (1.0, 0.0), "z", (0.0, np.nan, 1.0)])
def test_directions_that_are_none(number: Any) -> None:
    mesh = sa.Mesh.box((1.0,), (2,))
    with pytest.raises(sa.ParameterError, match=r"direction of body 'body' is .*three finite"):
        sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), direction=number)


@pytest.mark.parametrize("element", ["ancf_rod", "ancf_cable", "ancf_thin_quad"])
def test_a_direction_may_be_the_same_everywhere(element: str) -> None:
    line = element != "ancf_thin_quad"
    cell = "line3" if element == "ancf_rod" else None
    mesh = sa.Mesh.box((1.0,), (2,), cell=cell) if line else sa.Mesh.box((1.0, 1.0), (2, 2))
    at = {"ancf_rod": (0, 3, 4), "ancf_cable": (2, 0, 0), "ancf_thin_quad": (0, 0, -1)}[element]
    law = {
        "ancf_rod": (
            sa.energies.rod(),
            dict.fromkeys(("EA", "GA2", "GA3", "GJ", "EI2", "EI3"), 1.0),
        ),
        "ancf_cable": (sa.energies.cable(), {"EA": 1.0, "EI": 1.0}),
        "ancf_thin_quad": (sa.energies.kirchhoff(), {"E": 1.0, "nu": 0.3, "thickness": 0.1}),
    }[element]
    found = []
    for given in (at, np.array(at), lambda X: np.broadcast_to(at, X.shape)):
        energy, values = law
        kind = getattr(sa.elements, element)
        body = sa.Body(mesh["body"], kind, energy, direction=given, **values)
        found.append(sa.System(body).reference)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
