# SPDX-License-Identifier: BSD-3-Clause
"""Every verification case of the package passes; of long ones what their first numbers are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from symancf import verify
from symancf.errors import SymancfError
from symancf.verify import Case
from tests.refusals import refused

# `symancf verify` runs all of each; stick and slip of D22 are in unit/test_contact_rigid.py.
# What it alone runs of the others, since it takes long: what shows the same here, sooner.
LONG = {
    "A11_princeton_beam": "A10_bend45, A12_rod_of_an_angle",
    "A14_laminated_strip": "A13_rod_coupled, unit/test_rods_coupled.py",
    "A21_deep_arch_215": "A20_lee_frame, unit/test_continuation.py",
    "A54_portal_sway": "A50_euler_column, unit/test_bifurcations.py",
    "B30_cross_ply_bending": "B31_laminated_roof, unit/test_laminates.py",
    "C06_laws_of_rubber": "X01_treloar, unit/test_laws.py, unit/test_stretches.py",
    "C11_sphere_enhanced": "C11_sphere_inflation, unit/test_enhanced.py",
    "C12_membrane_balloon": "C11_sphere_inflation, C10_tube_inflation",
    "C48_j2_sphere": "C46_j2_bar, unit/test_plasticity.py",
    "C50_bimetal": "unit/test_laminates.py, unit/test_fields.py",
    "C56_creep_loop": "C57_creep_relaxation, unit/test_hysteresis.py",
    "E03_zero_modes": "E02_rigid_invariance, parallel/test_held.py",
    "E06_locking_of_solids": "E05_convergence_orders, E06_hexahedron_in_bending",
    "E10_mms_cable_biot": "E10_mms_cable_green, unit/test_kinematics.py",
    "E11_orders_incompressible": "E12_inf_sup, unit/test_incompressible.py",
    "F02_ball_on_spring": "F13_hertz_impact",
    "F14_mindlin_sphere": "F07_hertz_line, F15_hertz_pair, unit/test_contact_paths.py",
    "F17_dragging": "F09_ironing, F10_carried",
    "P1_gripper_models": "verification/test_gripper.py",
    "P3_1_plate_pendulum": "unit/test_index1.py",
    "P3_2_curved_pendulum": "unit/test_index1.py",
    "P3_4_trunk_falls": "P3_7_free_trunk",
    "T30_braided_tube": "T31_braid_density, unit/test_threads.py",
    "T36_embedded_rod_twists": "T35_embedded_rod_bends, unit/test_embed.py",
    "X02_kawabata": "X01_treloar, unit/test_tissues_and_chains.py",
    "X07_layered_blades": "X06_composite_beams, unit/test_laminates.py",
}
#: times the tolerance of cases of round-off, which is that of optimised kernels; see `.ci/cc`
ROUND_OFF = {"E02_rigid_invariance": 2.0} if "SYMANCF_CC" in os.environ else {}
ASKED = [case for case in verify.cases() if case.short != 0 and case.id not in LONG]


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    results = case.run(case.short)
    assert len(results) >= (case.short or 1)
    wrong = [
        f"{r.quantity}: {r.value} against {r.reference}, error {r.error} > {r.tolerance}"
        for r in results
        if not r.passed and not r.error <= ROUND_OFF.get(case.id, 0.0) * r.tolerance
    ]
    assert not wrong, "\n".join(wrong)


def test_long_cases_are_there_and_so_is_what_stands_for_them(repository: Path) -> None:
    known, tests = {case.id for case in verify.cases()}, repository / "tests"
    assert known >= LONG.keys()
    for others in LONG.values():
        for name in others.split(", "):
            there = name in known - LONG.keys() or (tests / name).is_file()
            assert there, name


def test_json_holds_the_promised_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main("A32_", as_json=True) == 0
    records = json.loads(capsys.readouterr().out)
    assert {r["id"] for r in records} == {"A32_hanging_cable"}
    fields = ["id", "quantity", "value", "reference", "error", "tolerance", "passed", "source"]
    assert all(list(r) == fields for r in records)
    assert all(r["passed"] and r["source"] for r in records)


def test_table_names_the_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main("a32p") == 0
    assert "A32p_hanging_cable_tip" in capsys.readouterr().out


def test_an_exception_is_a_number_that_does_not_pass(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> object:
        raise ValueError("no such thing")
        yield

    case = Case("X", "broken", "nowhere", broken)  # type: ignore[arg-type]
    (result,) = case.run()
    assert not result.passed
    assert "no such thing" in result.quantity
    assert json.loads(json.dumps(result.record()))["value"] is None


def test_a_long_case_may_end_early_and_verify_asks_for_all() -> None:
    left = []

    def long() -> Iterator[verify.Number]:
        yield verify.Number("first", 1.0, 1.0, 0.0)
        left.append(1)
        yield verify.Number("second", 1.0, 2.0, 0.0)

    case = Case("X", "long", "nowhere", long, 1)
    assert [result.passed for result in case.run(case.short)] == [True]
    assert not left
    assert [result.passed for result in case.run()] == [True, False]
    assert {case.id for case in verify.cases() if case.short == 0} == {
        "C55_creep_path",
        "C58_creep_fit",
        "D22_belt",
        "G09_gradient_lengths_of_steps",
        "G10_gradient_viscous_motion",
        "G22_gradient_moduli",
        "G24_gradient_creep",
        "X03_vhb4910_holds",
        "X04_vhb4910_cycles",
    }


def test_an_unknown_group_is_named_with_those_that_exist() -> None:
    with refused(
        SymancfError,
        asked="group",
        given="nothing",
        possible=lambda names: "E02_rigid_invariance" in names,
    ):
        verify.main("nothing")
