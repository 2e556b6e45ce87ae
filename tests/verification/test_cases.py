# SPDX-License-Identifier: BSD-3-Clause
"""Every verification case of the package passes; of long ones what their first numbers are."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from symancf import verify
from symancf.errors import SymancfError
from symancf.verify import Case
from tests.refusals import refused

# `symancf verify` runs all of each; stick and slip of D22 are in unit/test_contact_rigid.py
ASKED = [case for case in verify.cases() if case.short != 0]


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    results = case.run(case.short)
    assert len(results) >= (case.short or 1)
    wrong = [
        f"{r.quantity}: {r.value} against {r.reference}, error {r.error} > {r.tolerance}"
        for r in results
        if not r.passed
    ]
    assert not wrong, "\n".join(wrong)


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
        "D22_belt",
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
