# SPDX-License-Identifier: BSD-3-Clause
"""Input that cannot work: the same clear error on every rank, and no rank that waits for ever."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

FOLDER = Path(__file__).parent

# case of check_bad_input -> class of the error, and what its text says
EXPECTED = {
    # meshes
    "missing_file": ("MeshError", r"no mesh file '.*plat\.msh'.*silicone_plate\.msh"),
    "missing_region": ("MeshError", "no region 'palte'; did you mean 'plate'"),
    "missing_region_of_a_body": ("MeshError", "no region 'root'. It has: 'body'"),
    "triangles_for_quadrilaterals": ("MeshError", "ancf_plate needs .*'quad'.*'triangle'.*Recomb"),
    "inverted_cell": ("MeshError", "hexahedron 0 .* is inverted"),
    "degenerate_cell": ("MeshError", "hexahedron 0 .* is degenerate"),
    "empty_region": ("MeshError", "region 'none' of mesh holds 0 cells"),
    "fix_of_an_empty_region": ("ConstraintError", "no place to act on in nodes of 'none'"),
    "force_on_an_empty_region": ("MeshError", "region 'none' of mesh holds 0 cells"),
    "fix_of_a_node_without_element": ("MeshError", r"used by no cell .* point 4 at \(5, 5, 5\)"),
    "force_on_a_node_without_element": ("MeshError", "point 4 of the mesh, which no element uses"),
    "joint_at_a_node_without_element": ("MeshError", "point 4 of the mesh, which no element uses"),
    "moment_on_a_node_without_element": ("MeshError", "point 4 of the mesh, which no element uses"),
    "warp_that_fails_on_one_rank": (
        "ParameterError",
        r"warp of Mesh\.box: warp\(\) failed: ZeroDivisionError: warp failed",
    ),
    # values that must be the same on every rank
    "force_that_differs_by_rank": ("ParameterError", "F3 of .* on one rank and .* at time 1"),
    "displacement_that_differs_by_rank": ("ParameterError", "displacement along x is 0 on one"),
    "displacement_of_places_that_differs_by_rank": (
        "ParameterError",
        "displacement along x is 0 on one rank and .* at time 1",
    ),
    "point_that_differs_by_rank": ("ParameterError", r"\[\[0.5, 0.5, 0.4\]\] on one rank"),
    "traction_of_places_that_differs_by_rank": (
        "ParameterError",
        "traction.* along . is 0 on one rank and .* at time 1",
    ),
    "gradient_that_differs_by_rank": ("ParameterError", "gradient along xx is 0 on one rank"),
    "rotation_of_a_rigid_body_that_differs_by_rank": (
        "ParameterError",
        "'?fix:brick'?: gradient along xx is -.* on one rank",
    ),
    "angle_of_a_planar_body_that_differs_by_rank": (
        "ParameterError",
        "fix:wheel: displacement along theta is 0 on one rank",
    ),
    "function_of_places_that_fails_on_one_rank": ("ParameterError", "a rank failed"),
    "stiffness_that_differs_by_rank": ("ParameterError", "mu of 'body' is 1 on one rank and 3"),
    # energies and parameters
    "quantity_that_the_element_lacks": (
        "KinematicsError",
        r"cable\(\) asks for the quantity 'epsilon'; hex8_plain offers F, J, I1",
    ),
    "misspelt_parameter": ("ParameterError", "'rh0'.*Did you mean 'rho'"),
    "missing_parameter": ("ParameterError", "needs the parameter 'lam'"),
    "parameter_nan": ("ParameterError", "mu of body 'body' is nan"),
    "parameter_text": ("ParameterError", "mu of body 'body' is 'soft': give a number"),
    "parameter_array": ("ParameterError", "mu of body 'body' is array.*give a number"),
    "thickness_negative": ("ParameterError", "thickness of body 'body' is -0.1.*positive"),
    "parameter_object_nan": ("ParameterError", "mu of body 'body' is nan at time 1"),
    "function_of_time_nan_later": ("ParameterError", "mu of body 'body' is nan at time 0.75"),
    "function_of_time_raises_on_one_rank": (
        "ParameterError",
        r"mu\(\) failed at time 0.5: RuntimeError: table of mu ends at 0.4",
    ),
    "function_of_time_raises_at_once_on_one_rank": ("ParameterError", "RuntimeError: no table"),
    "function_of_time_returns_text": ("ParameterError", "a function, which gave 'much'"),
    "energy_raises_on_one_rank": ("KinematicsError", r"energy\(\) failed .*KeyError: 'table'"),
    "energy_returns_nothing": ("KinematicsError", "no return statement"),
    "field_nan_in_one_cell": ("ParameterError", r"not finite at \(2.5"),
    "field_of_wrong_shape": (
        "ParameterError",
        r"shape \(n,\); it returned shape \(n, 3",
    ),
    "field_of_wrong_length": (
        "ParameterError",
        r"shape \(n,\); it returned shape \(\d+",
    ),
    "field_raises_on_one_rank": ("ParameterError", "OSError: no such table"),
    "field_returns_text": ("ParameterError", "must return numbers, not .'stiff'"),
    "thickness_field_not_positive": (
        "ParameterError",
        "thickness .* in a cell: it must be positive",
    ),
    "direction_of_wrong_shape": ("ParameterError", r"shape \(n, 3\); it returned shape \(n, 2\)"),
    "direction_zero": ("ParameterError", "a vector of length zero"),
    "direction_in_the_plane": ("ParameterError", "90 degrees off the normal"),
    "direction_raises_on_one_rank": ("ParameterError", r"direction\(\) failed: IndexError"),
    "join_unknown": ("ParameterError", "join is 'weld': give 'all' or 'position'"),
    "volumetric_unknown": ("KinematicsError", "'selective'.*'full', 'reduced' or 'split'"),
    "quadrature_unknown": ("KinematicsError", "'9y9' is not a quadrature rule"),
    # geometry
    "kinked_plate": ("MeshError", r"ancf_thin_plate\): 2 points are kinks .*cut the region"),
    "kinked_cable": ("MeshError", r"ancf_cable\): 1 points are kinks .*cut the region"),
    "branched_cable": ("MeshError", "more than two lines meet at 1 points"),
    # supports
    "dofs_unknown": ("ParameterError", "dofs 'rotation' is not one of clamp, all, position, x"),
    "displacement_of_two_components": ("ParameterError", "has 2 components: give three"),
    "displacement_nan_later": ("ParameterError", "displacement, x is nan at time 0.75"),
    "displacement_function_of_wrong_shape": ("ParameterError", r"it returned shape \(n,\)"),
    "displacement_function_of_two_components": ("ParameterError", "must return three numbers"),
    "displacement_raises_on_one_rank": (
        "ParameterError",
        r"u\(\) failed at time 0.5: RuntimeError",
    ),
    "gradient_of_wrong_shape": ("ParameterError", r"must be a finite \(3, 3\) matrix"),
    "gradient_nan": ("ParameterError", r"must be a finite \(3, 3\) matrix"),
    "fix_of_a_point_that_is_no_node": ("ParameterError", r"no node .*sa\.joints\.spherical"),
    "fix_of_a_point_that_is_not_on_the_body": ("ConstraintError", "not on body 'body': .* 6 away"),
    "two_fixes_of_one_node_that_differ": (
        "ParameterError",
        "'fix:body.x0' and 'fix:body.y0' prescribe different values",
    ),
    # loads
    "force_nan": ("ParameterError", "force on nodes of 'x1' of 'body', y is nan"),
    "force_nan_later": ("ParameterError", "of 'body', z is nan at time 0.75"),
    "force_function_raises_on_one_rank": ("ParameterError", r"force\(\) failed at time 0.5"),
    "force_of_two_components": ("ParameterError", "has 2 components: give three"),
    "force_function_of_two_components": ("ParameterError", "must return three numbers"),
    "force_distributed_in_another_way": ("ParameterError", "is 'evenly': give 'total' or 'each'"),
    "force_on_a_point_off_the_body": ("ConstraintError", r"point \(0, 0, 2\) is not on body"),
    "force_that_depends_on_the_place": ("ParameterError", r"give its density, sa\.traction"),
    "traction_on_points": ("ParameterError", "a region of points has no area"),
    "traction_raises_on_one_rank": ("ParameterError", r"pressure\(\) failed at time 0.5"),
    "traction_of_wrong_shape": ("ParameterError", r"it returned shape \(n,\)"),
    "moment_on_nodes_without_slopes": ("KinematicsError", "nodes of hex8_plain have no slopes"),
    "moment_nan_later": ("ParameterError", "moment on .*, z is nan at time 0.75"),
    "gravity_without_density": ("ParameterError", "no body has a density"),
    "gravity_without_cross_section": ("ParameterError", "needs the parameter 'A'"),
    "gravity_of_two_components": ("ParameterError", "gravity has 2 components"),
    "gravity_on_a_body_outside_the_system": ("ParameterError", "body 'other', which is not in"),
    # constraints
    "constraint_asks_for_the_unknown": (
        "ConstraintError",
        "asks for 'sigma_a'; its ends",
    ),
    "constraint_with_a_misspelt_parameter": ("ConstraintError", "'lenght'.*did you mean 'length'"),
    "constraint_parameter_nan": ("ParameterError", "R of 'on_sphere' is nan"),
    "constraint_function_fails": ("ConstraintError", "'phi' failed .*IndexError"),
    "constraint_returns_text": (
        "ConstraintError",
        "returned 'r = 0': it must return",
    ),
    "constraint_with_a_foreign_symbol": ("ConstraintError", "symbol 'L', which is none of its arg"),
    "constraint_with_ends_of_different_size": ("ConstraintError", "different numbers of places"),
    "tie_to_a_body_far_away": ("ConstraintError", "is not on body 'far'"),
    "constraint_to_a_body_outside_the_system": ("ParameterError", "body 'other', which is not in"),
    # systems
    "no_bodies": ("ParameterError", "at least one body"),
    "a_region_for_a_body": ("ParameterError", "Region is not a body"),
    "two_bodies_of_one_name": ("ParameterError", "two bodies are called 'body'"),
    "one_body_twice": ("ParameterError", "the body 'body' is given 2 times"),
    "bodies_on_different_communicators": ("MeshError", "body 'other': its mesh lives on another"),
    "term_on_a_body_outside_the_system": ("ParameterError", "body 'other', which is not in this"),
    "term_on_another_body_of_the_same_mesh": ("ParameterError", "body 'two', which is not in this"),
    "force_on_another_body_of_the_same_mesh": (
        "ParameterError",
        "body 'two', which is not in this",
    ),
    "displacement_of_another_body_of_the_same_mesh": ("ParameterError", "'two', which is not in"),
    "something_that_is_no_term": ("ParameterError", "str is not a term"),
    "a_term_not_in_a_list": ("ParameterError", "terms= takes a list of terms, not NodeSupport"),
    # problems
    "step_zero": ("ParameterError", r"step=0.0.: it must be positive"),
    "step_negative": ("ParameterError", r"step=-0.1.: it must be positive"),
    "time_nan": ("ParameterError", "it must be a finite pseudo-time"),
    "monitor_raises_on_one_rank": ("OSError", "disk full"),
    "option_unknown_to_petsc": ("SymancfError", "there is no -pc_type magic"),
    "displacement_of_a_point_off_the_body": ("ConstraintError", "is not on body 'body'"),
    "solid_sample_of_a_solid": ("SymancfError", "hex8_plain has no faces"),
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
    check(raised("check_bad_input.py", ranks)[case], ranks, EXPECTED[case])


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("case", CACHE)
def test_cache_and_compiler_out_of_order(case: str, ranks: int) -> None:
    check(raised("check_cache.py", ranks)[case], ranks, CACHE[case])


def test_no_case_is_missing() -> None:
    assert set(raised("check_bad_input.py", 1)) == set(EXPECTED)
    assert set(raised("check_cache.py", 1)) == set(CACHE)
