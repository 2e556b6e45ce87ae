# SPDX-License-Identifier: BSD-3-Clause
"""Things given in the place of others, and names that completion has to know."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import cable, neo_hooke
from symancf.runtime.petsc import PETSc, limit_threads
from tests.refusals import refused


class Model:
    def __init__(self) -> None:
        self.mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1))
        given = {"mu": 1.0, "lam": 1.0}
        self.block = sa.Body(self.mesh["body"], sa.elements.hex8_plain, neo_hooke(), **given)
        line = sa.Mesh.box((1.0,), (2,))
        self.rope = sa.Body(line["body"], sa.elements.ancf_cable, cable(), EA=1.0, EI=1.0)
        self.system = sa.System(self.block, terms=[sa.fix(self.block["x0"])])


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


def solve_from(m: Model, value: float | None) -> None:
    """Solve from a state that holds a value; with None, from one of three numbers."""
    system = sa.System(m.block, terms=m.system.terms)
    system.state = np.zeros(3) if value is None else system.state + value
    sa.StaticProblem(system).solve()


REGION = "Region(name='x0'"
CASES: dict[str, tuple[Callable[[Model], Any], type[sa.SymancfError], str, Any]] = {
    "support of a mesh's region": (
        lambda m: sa.fix(m.mesh["x0"]),
        sa.ConstraintError,
        "place",
        REGION,
    ),
    "support of a mesh": (lambda m: sa.fix(m.mesh), sa.ConstraintError, "place", "Mesh box"),
    "support of a body": (lambda m: sa.fix(m.block), sa.ConstraintError, "place", "Body 'body'"),
    "plane of a region": (
        lambda m: sa.planar(m.rope["body"]),
        sa.ConstraintError,
        "body",
        "<symancf.places.on_body.Nodes object>",
    ),
    "plane of a mesh's region": (
        lambda m: sa.planar(m.mesh["body"]),
        sa.ConstraintError,
        "body",
        "Region(name='body'",
    ),
    "cell of a mesh that is an array": (
        lambda m: sa.Mesh.box((1.0,), (2,), cell=np.ones((3, 3))),
        sa.MeshError,
        "cell",
        ((1.0,) * 3,) * 3,
    ),
    "strain that is an array": (
        lambda m: cable(strain=np.ones(3)),
        sa.KinematicsError,
        "strain",
        (1.0,) * 3,
    ),
    "split that is an array": (
        lambda m: sa.Body(
            m.mesh["body"],
            sa.elements.hex8_plain,
            neo_hooke(),
            volumetric=np.ones(3),
            mu=1.0,
            lam=1.0,
        ),
        sa.KinematicsError,
        "volumetric",
        (1.0,) * 3,
    ),
    "lengths that are texts": (
        lambda m: sa.joints.distance(m.rope["x0"], m.rope["x1"], length=["a", "b"]),
        sa.ParameterError,
        "L",
        ("a", "b"),
    ),
    "tie to nodes": (
        lambda m: sa.joints.tie(m.rope["x0"], m.block["x1"]),
        sa.ConstraintError,
        "b",
        "nodes of 'x1'",
    ),
    "tie of a mesh's region": (
        lambda m: sa.joints.tie(m.mesh["x0"], m.block),
        sa.ConstraintError,
        "place",
        REGION,
    ),
    "tie to a mesh": (
        lambda m: sa.joints.tie(m.rope["x0"], m.mesh),
        sa.ConstraintError,
        "b",
        "Mesh box",
    ),
    "position of a name": (lambda m: m.system.position("x0"), sa.ConstraintError, "place", "x0"),
    "position of a mesh's region": (
        lambda m: m.system.position(m.mesh["x0"]),
        sa.ConstraintError,
        "place",
        REGION,
    ),
    "statics of a body": (
        lambda m: sa.StaticProblem(m.block),
        sa.ParameterError,
        "system",
        "Body 'body'",
    ),
    "motion of a list": (
        lambda m: sa.DynamicProblem([m.block]),
        sa.ParameterError,
        "system",
        ("Body 'body': 2 hex8_plain with neo_hooke",),
    ),
    "history that is none": (
        lambda m: sa.StaticProblem(m.system, history=3),
        sa.ParameterError,
        "history",
        3,
    ),
    "monitor that is none": (
        lambda m: sa.StaticProblem(m.system).monitor(3),
        sa.ParameterError,
        "monitor(...)",
        3,
    ),
    "state that is no number": (
        lambda m: solve_from(m, np.nan),
        sa.ParameterError,
        "state",
        math.isnan,
    ),
    "state of another shape": (lambda m: solve_from(m, None), sa.ParameterError, "state", (3,)),
    "parameter of a body that is there": (
        lambda m: m.block.parameters.update(mu=2.0),
        sa.ParameterError,
        "parameters",
        lambda names: "mu" in names,
    ),
    "a side against itself": (
        lambda m: sa.System(m.block, terms=[sa.Contact(m.block["x1"], m.block["x1"])]),
        sa.MeshError,
        "target",
        1,
    ),
    "contact of another system": (
        lambda m: sa.Contact(m.block["x1"], sa.Plane()).force(m.system),
        sa.ParameterError,
        "system",
        "contact",
    ),
    "file of nothing": (
        lambda m: sa.output.write("none.vtu", None),
        sa.ParameterError,
        "what is written",
        None,
    ),
    "units of a field that is not there": (
        lambda m: sa.results(m.system, units={"stres": "Pa"}),
        sa.ParameterError,
        "units",
        "stres",
    ),
    "picture of a field that is not there": (
        lambda m: sa.view.render(sa.sample(m.system, m.block), field="stres"),
        sa.SymancfError,
        "field",
        "stres",
    ),
    "parameter without a name": (lambda m: sa.Parameter(3.0), sa.ParameterError, "name", 3.0),
    "parameter of text": (lambda m: sa.Parameter("p", "abc"), sa.ParameterError, "p", "abc"),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_nouns_are_answered_with_the_right_ones(case: str, model: Model) -> None:
    call, kind, asked, given = CASES[case]
    if isinstance(given, str):  # of things what is printed begins so
        begin = given
        given = lambda found: isinstance(found, str) and found.startswith(begin)  # noqa: E731
    with refused(kind, asked=asked, given=given):
        call(model)


@pytest.mark.parametrize("value", ["abc", "1e6", None, [1.0, 2.0], 1j, lambda t: t])
def test_a_value_that_is_no_number_leaves_the_parameter(value: Any) -> None:
    p = sa.Parameter("p", 2.0)
    with refused(sa.ParameterError, asked="p"):
        p.value = value
    assert p.value == 2.0


def test_completion_knows_all_public_names() -> None:
    assert set(sa.__all__) <= set(dir(sa))
    assert all(hasattr(sa, name) for name in dir(sa))


def test_the_blas_gets_one_thread_unless_the_user_says_otherwise() -> None:
    assert limit_threads({"OMP_NUM_THREADS": "2"}) == ""
    assert limit_threads({"OPENBLAS_NUM_THREADS": "2"}) == ""
    called = limit_threads({"OMP_NUM_THREADS": ""})
    if called == "openblas_set_num_threads":
        assert ctypes.CDLL(PETSc.__file__).openblas_get_num_threads() == 1
