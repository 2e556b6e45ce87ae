# SPDX-License-Identifier: BSD-3-Clause
"""Input that cannot work: the same clear error on every rank, and no rank that waits for ever."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_mpi
from tests.refusals import require

pytestmark = pytest.mark.parallel

FOLDER = Path(__file__).parent

# case of check_bad_input -> class of the error, and its data as `refused` compares them
EXPECTED: dict[str, tuple[str, dict[str, Any]]] = {
    # meshes
    "missing_file": ("MeshError", {"asked": "path", "given": "meshes/silicone_plat.msh"}),
    "missing_region": (
        "MeshError",
        {"asked": "palte", "possible": ["P", "root", "tip", "plate", "all"]},
    ),
    "missing_region_of_a_body": (
        "MeshError",
        {"asked": "root", "possible": ["body", "x0", "x1", "y0", "y1", "z0", "z1", "all"]},
    ),
    "triangles_for_quadrilaterals": (
        "MeshError",
        {"asked": "plate", "given": ["triangle"], "possible": ["quad"]},
    ),
    "inverted_cell": ("MeshError", {"asked": "Jacobian", "given": pytest.approx(-1.0)}),
    "degenerate_cell": ("MeshError", {"asked": "Jacobian", "given": pytest.approx(0.0, abs=1e-9)}),
    "empty_region": ("MeshError", {"asked": "none", "given": ["quad"], "possible": ["quad"]}),
    "fix_of_an_empty_region": (
        "ConstraintError",
        {"asked": "region", "given": "nodes of 'none' of 'all'"},
    ),
    "force_on_an_empty_region": (
        "MeshError",
        {"asked": "none", "given": ["line"], "possible": ["line", "quad"]},
    ),
    "fix_of_a_node_without_element": (
        "MeshError",
        {"asked": "stray", "given": 1, "possible": ["all"]},
    ),
    "force_on_a_node_without_element": (
        "MeshError",
        {"asked": "force on nodes of 'stray' of 'all'", "given": 4},
    ),
    "joint_at_a_node_without_element": ("MeshError", {"asked": "spherical", "given": 4}),
    "moment_on_a_node_without_element": (
        "MeshError",
        {"asked": "moment on nodes of 'stray' of 'all'", "given": 4},
    ),
    "warp_that_fails_on_one_rank": (
        "ParameterError",
        {"asked": "warp", "given": "ZeroDivisionError('warp failed')"},
    ),
    # values that must be the same on every rank
    "force_that_differs_by_rank": ("ParameterError", {"asked": "F3", "given": [0.0, 0.002]}),
    "displacement_that_differs_by_rank": (
        "ParameterError",
        {"asked": "displacement along x", "given": [0.0, 2.0]},
    ),
    "displacement_of_places_that_differs_by_rank": (
        "ParameterError",
        {"asked": "displacement along x", "given": [0.0, 6.0]},
    ),
    "point_that_differs_by_rank": (
        "ParameterError",
        {"asked": "point", "given": [[0.5, 0.5, 0.4]], "possible": [[[0.5, 0.5, 0.5]]]},
    ),
    "traction_of_places_that_differs_by_rank": (
        "ParameterError",
        {
            "asked": "traction on nodes of 'x1' of 'body' along x",
            "given": [0.0, pytest.approx(8, rel=1e-4)],
        },
    ),
    "gradient_that_differs_by_rank": (
        "ParameterError",
        {"asked": "gradient along xx", "given": [0.0, 0.02]},
    ),
    "rotation_of_a_rigid_body_that_differs_by_rank": (
        "ParameterError",
        {"asked": "gradient along xx", "given": [pytest.approx(-1.4161, rel=1e-4), 0.0]},
    ),
    "angle_of_a_planar_body_that_differs_by_rank": (
        "ParameterError",
        {"asked": "displacement along theta", "given": [0.0, 2.0]},
    ),
    "function_of_places_that_fails_on_one_rank": (
        "ParameterError",
        {"asked": "displacement", "given": "ZeroDivisionError('a rank failed')"},
    ),
    "stiffness_that_differs_by_rank": ("ParameterError", {"asked": "mu", "given": [1.0, 3.0]}),
    # energies and parameters
    "quantity_that_the_element_lacks": (
        "KinematicsError",
        {"asked": "epsilon", "possible": lambda names: "F" in names},
    ),
    "misspelt_parameter": ("ParameterError", {"asked": "rh0", "possible": ["mu", "lam", "rho"]}),
    "missing_parameter": (
        "ParameterError",
        {"asked": "lam", "given": ["mu"], "possible": ["mu", "lam", "rho"]},
    ),
    "parameter_nan": ("ParameterError", {"asked": "mu", "given": math.isnan}),
    "parameter_text": ("ParameterError", {"asked": "mu", "given": "soft"}),
    "parameter_array": ("ParameterError", {"asked": "mu", "given": [1.0, 1.0, 1.0]}),
    "thickness_negative": ("ParameterError", {"asked": "thickness", "given": -0.1}),
    "parameter_object_nan": ("ParameterError", {"asked": "mu", "given": math.isnan}),
    "function_of_time_nan_later": ("ParameterError", {"asked": "mu", "given": math.isnan}),
    "function_of_time_raises_on_one_rank": (
        "ParameterError",
        {"asked": "mu", "given": "RuntimeError('table of mu ends at 0.4')"},
    ),
    "function_of_time_raises_at_once_on_one_rank": (
        "ParameterError",
        {"asked": "mu", "given": "RuntimeError('no table')"},
    ),
    "function_of_time_returns_text": ("ParameterError", {"asked": "mu", "given": "much"}),
    "energy_raises_on_one_rank": (
        "KinematicsError",
        {"asked": "energy", "given": "KeyError('table')"},
    ),
    "energy_returns_nothing": ("KinematicsError", {"asked": "energy", "given": None}),
    "field_nan_in_one_cell": ("ParameterError", {"asked": "mu", "given": [2.5, 0.75, 0.75]}),
    "field_of_wrong_shape": (
        "ParameterError",
        {"asked": "mu", "given": ["n", 3], "possible": [["n"]]},
    ),
    "field_of_wrong_length": (
        "ParameterError",
        {
            "asked": "mu",
            "given": lambda shape: len(shape) == 1 and shape != ["n"],
            "possible": [["n"]],
        },
    ),
    "field_raises_on_one_rank": (
        "ParameterError",
        {"asked": "mu", "given": "OSError('no such table: mu.txt')"},
    ),
    "field_returns_text": (
        "ParameterError",
        {"asked": "mu", "given": lambda given: "stiff" in given},
    ),
    "thickness_field_not_positive": ("ParameterError", {"asked": "thickness", "given": -0.05}),
    "direction_of_wrong_shape": (
        "ParameterError",
        {"asked": "direction", "given": ["n", 2], "possible": [["n", 3]]},
    ),
    "direction_zero": ("ParameterError", {"asked": "direction", "given": 0.0}),
    "direction_in_the_plane": (
        "ParameterError",
        {"asked": "direction", "given": pytest.approx(90.0)},
    ),
    "direction_raises_on_one_rank": (
        "ParameterError",
        {"asked": "direction", "given": "IndexError('no normal')"},
    ),
    "join_unknown": (
        "ParameterError",
        {"asked": "join", "given": "weld", "possible": ["all", "position"]},
    ),
    "volumetric_unknown": (
        "KinematicsError",
        {"asked": "volumetric", "given": "selective", "possible": ["full", "reduced", "split"]},
    ),
    "quadrature_unknown": ("KinematicsError", {"asked": "quadrature", "given": "9y9"}),
    # geometry
    "kinked_plate": ("MeshError", {"asked": "smooth_deg", "given": 2}),
    "kinked_cable": ("MeshError", {"asked": "smooth_deg", "given": 1}),
    "branched_cable": ("MeshError", {"asked": "branch", "given": 1}),
    # supports
    "dofs_unknown": (
        "ParameterError",
        {"asked": "dofs", "given": "rotation", "possible": lambda names: "slopes" in names},
    ),
    "displacement_of_two_components": (
        "ParameterError",
        {"asked": "displacement", "given": [0.0, 1.0]},
    ),
    "displacement_nan_later": ("ParameterError", {"asked": "x", "given": math.isnan}),
    "displacement_function_of_wrong_shape": (
        "ParameterError",
        {"asked": "displacement", "given": ["n"], "possible": [["n", 3]]},
    ),
    "displacement_function_of_two_components": (
        "ParameterError",
        {"asked": "displacement", "given": [0.0, 0]},
    ),
    "displacement_raises_on_one_rank": (
        "ParameterError",
        {"asked": "displacement", "given": "RuntimeError('motion ends at 0.4')"},
    ),
    "gradient_of_wrong_shape": (
        "ParameterError",
        {"asked": "gradient", "given": [[1.0, 0.0], [0.0, 1.0]]},
    ),
    "gradient_nan": (
        "ParameterError",
        {
            "asked": "gradient",
            "given": lambda G: math.isnan(G[0][0]),
        },
    ),
    "fix_of_a_point_that_is_no_node": (
        "ParameterError",
        {"asked": "node", "given": [1.5, 0.25, 0.3]},
    ),
    "fix_of_a_point_that_is_not_on_the_body": (
        "ConstraintError",
        {"asked": "point", "given": [1.5, 0.25, 7.0]},
    ),
    "two_fixes_of_one_node_that_differ": (
        "ParameterError",
        {"asked": "displacement", "given": ["fix:body.x0", "fix:body.y0"]},
    ),
    # loads
    "force_nan": ("ParameterError", {"asked": "y", "given": math.isnan}),
    "force_nan_later": ("ParameterError", {"asked": "z", "given": math.isnan}),
    "force_function_raises_on_one_rank": (
        "ParameterError",
        {"asked": "force on nodes of 'x1' of 'body'", "given": "RuntimeError('load ends at 0.4')"},
    ),
    "force_of_two_components": (
        "ParameterError",
        {"asked": "force on nodes of 'x1' of 'body'", "given": [0, 1]},
    ),
    "force_function_of_two_components": (
        "ParameterError",
        {"asked": "force on nodes of 'x1' of 'body'", "given": [0, 0.0]},
    ),
    "force_distributed_in_another_way": (
        "ParameterError",
        {"asked": "distribute", "given": "evenly", "possible": ["total", "each"]},
    ),
    "force_on_a_point_off_the_body": (
        "ConstraintError",
        {"asked": "point", "given": [0.0, 0.0, 2.0]},
    ),
    "force_that_depends_on_the_place": (
        "ParameterError",
        {
            "asked": "vector",
            "given": lambda function: "lambda" in function,
        },
    ),
    "traction_on_points": (
        "ParameterError",
        {"asked": "dimension", "given": 0, "possible": [1, 2]},
    ),
    "traction_raises_on_one_rank": (
        "ParameterError",
        {
            "asked": "traction on nodes of 'z0' of 'body'",
            "given": "RuntimeError('pressure ends at 0.4')",
        },
    ),
    "traction_of_wrong_shape": (
        "ParameterError",
        {"asked": "traction on nodes of 'x1' of 'body'", "given": ["n"], "possible": [["n", 3]]},
    ),
    "moment_on_nodes_without_slopes": (
        "KinematicsError",
        {"asked": "place", "given": "nodes of 'x1' of 'body'"},
    ),
    "moment_nan_later": ("ParameterError", {"asked": "z", "given": math.isnan}),
    "gravity_without_density": ("ParameterError", {"asked": "rho"}),
    "gravity_without_cross_section": (
        "ParameterError",
        {"asked": "A", "given": ["EA", "EI", "rho"], "possible": ["rho", "A"]},
    ),
    "gravity_of_two_components": ("ParameterError", {"asked": "gravity", "given": [0, -9.81]}),
    "gravity_on_a_body_outside_the_system": (
        "ParameterError",
        {"asked": "body", "given": "other", "possible": ["body"]},
    ),
    # constraints
    "constraint_asks_for_the_unknown": (
        "KinematicsError",
        {"asked": "sigma_a", "possible": lambda names: "r_a" in names},
    ),
    "constraint_with_a_misspelt_parameter": (
        "ParameterError",
        {"asked": "length", "given": ["lenght"], "possible": ["length"]},
    ),
    "constraint_parameter_nan": ("ParameterError", {"asked": "R", "given": math.isnan}),
    "constraint_function_fails": (
        "KinematicsError",
        {"asked": "phi", "given": "IndexError('index out of range')"},
    ),
    "constraint_returns_text": ("KinematicsError", {"asked": "phi", "given": "r = 0"}),
    "constraint_with_a_foreign_symbol": ("KinematicsError", {"asked": "L"}),
    "constraint_with_ends_of_different_size": (
        "ConstraintError",
        {"asked": "number of places", "given": [9, 36]},
    ),
    "tie_to_a_body_far_away": ("ConstraintError", {"asked": "point", "given": [3.0, 0.0, 0.0]}),
    "constraint_to_a_body_outside_the_system": (
        "ParameterError",
        {"asked": "body", "given": "other", "possible": ["body"]},
    ),
    # systems
    "no_bodies": ("ParameterError", {"asked": "bodies", "given": []}),
    "a_region_for_a_body": ("ParameterError", {"asked": "bodies", "given": "Region"}),
    "two_bodies_of_one_name": ("ParameterError", {"asked": "name", "given": "body"}),
    "one_body_twice": ("ParameterError", {"asked": "body", "given": 2, "possible": [1]}),
    "bodies_on_different_communicators": ("MeshError", {"asked": "mesh", "given": "other"}),
    "term_on_a_body_outside_the_system": (
        "ParameterError",
        {"asked": "body", "given": "other", "possible": ["body"]},
    ),
    "term_on_another_body_of_the_same_mesh": (
        "ParameterError",
        {"asked": "body", "given": "two", "possible": ["body"]},
    ),
    "force_on_another_body_of_the_same_mesh": (
        "ParameterError",
        {"asked": "body", "given": "two", "possible": ["body"]},
    ),
    "displacement_of_another_body_of_the_same_mesh": (
        "ParameterError",
        {"asked": "body", "given": "two", "possible": ["body"]},
    ),
    "something_that_is_no_term": ("ParameterError", {"asked": "terms", "given": "str"}),
    "a_term_not_in_a_list": ("ParameterError", {"asked": "terms", "given": "NodeSupport"}),
    # problems
    "step_zero": ("ParameterError", {"asked": "step", "given": 0.0}),
    "step_negative": ("ParameterError", {"asked": "step", "given": -0.1}),
    "time_nan": ("ParameterError", {"asked": "to", "given": math.isnan}),
    "monitor_raises_on_one_rank": ("OSError", {"text": "disk full"}),
    "option_unknown_to_petsc": (
        "SymancfError",
        {"asked": "pc_type", "given": "magic", "possible": lambda names: "lu" in names},
    ),
    "displacement_of_a_point_off_the_body": (
        "ConstraintError",
        {"asked": "point", "given": [9.0, 9.0, 9.0]},
    ),
    "solid_sample_of_a_solid": (
        "SymancfError",
        {"asked": "solid", "given": True, "possible": [False]},
    ),
}

# case of check_cache -> the same; "nothing" where the cache is mended
CACHE = {
    "compiler_that_does_not_exist": ("CompileError", "'/nonexistent/gcc' .*was not found"),
    "no_compiler": ("CompileError", "no C compiler was found.*SYMANCF_CC"),
    "cache_that_cannot_be_made": ("CompileError", "cannot be created.*set .*SYMANCF_CACHE"),
    "full_disk": ("CompileError", "cannot be written: .*free space"),
    "damaged_files": ("nothing", "^$"),
}


ALONE = ("bodies_on_different_communicators",)


@cache
def raised(script: str, ranks: int) -> Any:
    return run_mpi(ranks, FOLDER / script, timeout=180.0, kept=script != "check_cache.py")


def check(found: list[list[str]], ranks: int, expected: tuple[str, str]) -> None:
    assert len(found) == ranks
    assert len({tuple(each) for each in found}) == 1, found
    kind, text = found[0]
    assert kind == expected[0], found[0]
    assert re.search(expected[1], text, re.DOTALL), text


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("case", EXPECTED)
def test_error_on_every_rank(case: str, ranks: int) -> None:
    if ranks == 1 and (case in ALONE or case.endswith("_differs_by_rank")):
        pytest.skip("one rank alone is all ranks")
    found = raised("check_bad_input.py", ranks)[case]
    assert len(found) == ranks
    assert all(str(each) == str(found[0]) for each in found), found
    kind, data = EXPECTED[case]
    assert found[0]["error"] == kind, found[0]
    require(found[0], data)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("case", CACHE)
def test_cache_and_compiler_out_of_order(case: str, ranks: int) -> None:
    check(raised("check_cache.py", ranks)[case], ranks, CACHE[case])


def test_no_case_is_missing() -> None:
    assert set(raised("check_bad_input.py", 1)) == set(EXPECTED)
    assert set(raised("check_cache.py", 1)) == set(CACHE)
