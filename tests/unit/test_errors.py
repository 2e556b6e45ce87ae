# SPDX-License-Identifier: BSD-3-Clause
"""Errors carry their data, and names get the closest suggestion."""

import pickle

import numpy as np
import pytest

from symancf import errors
from symancf.values.reader import require_parameters
from tests.refusals import refused


def test_all_errors_are_of_one_family() -> None:
    kinds = [
        errors.MeshError,
        errors.KinematicsError,
        errors.ParameterError,
        errors.CompileError,
        errors.ConvergenceError,
        errors.ConstraintError,
    ]
    assert all(issubclass(kind, errors.SymancfError) for kind in kinds)


def test_a_convergence_error_says_reason_iteration_and_time() -> None:
    error = errors.ConvergenceError(reason="DIVERGED_LINE_SEARCH", iteration=7, time=0.25)
    assert (error.reason, error.iteration, error.time) == ("DIVERGED_LINE_SEARCH", 7, 0.25)
    assert str(error) == "no convergence at t = 0.25: DIVERGED_LINE_SEARCH in iteration 7"


def test_an_error_holds_plain_data_that_travel() -> None:
    """Values become Python's numbers and texts; models their names, without addresses."""
    error = errors.ParameterError(
        "mu", asked="mu", given=np.float64(-1.0), possible=(1, np.int64(2), object())
    )
    again = pickle.loads(pickle.dumps(error))
    for one in (error, again):
        assert type(one) is errors.ParameterError
        assert (one.asked, one.given) == ("mu", -1.0)
        assert type(one.given) is float
        assert one.possible == (1, 2, "<object object>")
    assert errors.SymancfError("x", given=[1, (2.5, "a")]).given == (1, (2.5, "a"))


@pytest.mark.parametrize("kind", errors.SymancfError.__subclasses__())
def test_an_error_of_each_class_can_be_pickled_with_its_data(kind: type[Exception]) -> None:
    error = kind("what", asked="a", given=3)  # type: ignore[call-arg]
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error))


@pytest.mark.parametrize(
    ("name", "hint"),
    [("c20", " Did you mean 'C20'?"), ("thicknes", " Did you mean 'thickness'?"), ("omega", "")],
)
def test_closest_name(name: str, hint: str) -> None:
    assert errors.closest(name, ["C10", "C20", "thickness"]) == hint


def test_a_name_that_is_required_and_optional_is_listed_once() -> None:
    possible = ("E", "thickness", "rho")
    with refused(errors.ParameterError, asked="roh", possible=possible) as caught:
        require_parameters(
            "kirchhoff",
            ("E", "thickness"),
            ("E", "thickness", "roh"),
            optional=("rho", "thickness"),
            exact=True,
        )
    assert "It takes: E, thickness, rho. Did you mean 'rho'?" in str(caught.value)
