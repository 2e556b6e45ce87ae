# SPDX-License-Identifier: BSD-3-Clause
"""Errors carry their data, and names get the closest suggestion."""

import pytest

from symancf import errors
from symancf.kinematics.naming import require_parameters


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


@pytest.mark.parametrize(
    ("name", "hint"),
    [("c20", " Did you mean 'C20'?"), ("thicknes", " Did you mean 'thickness'?"), ("omega", "")],
)
def test_closest_name(name: str, hint: str) -> None:
    assert errors.closest(name, ["C10", "C20", "thickness"]) == hint


def test_a_name_that_is_required_and_optional_is_listed_once() -> None:
    with pytest.raises(errors.ParameterError, match=r"It takes: E, thickness, rho\. Did"):
        require_parameters(
            "kirchhoff",
            ("E", "thickness"),
            ("E", "thickness", "roh"),
            optional=("rho", "thickness"),
            exact=True,
        )
