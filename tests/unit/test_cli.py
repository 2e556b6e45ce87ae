# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what each subcommand is given, and how errors reach the user."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types

import pytest

from symancf.command import cli
from symancf.errors import SymancfError

BENCH: dict[str, object] = {
    "args": (),
    "as_json": False,
    "peers": False,
    "solve": (),
    "motions": False,
    "mechanisms": None,
    "tendons": None,
    "laws": None,
    "contact": (),
    "elements": None,
    "robust": None,
    "scaling": None,
    "largest": None,
}


def stub(monkeypatch: pytest.MonkeyPatch, name: str) -> list[dict[str, object]]:
    """Put a module in the place of ``symancf.<name>`` that notes how its main is called."""
    calls: list[dict[str, object]] = []
    module = types.ModuleType(f"symancf.{name}")

    def main(*args: object, **kwargs: object) -> int:
        calls.append({"args": args, **kwargs})
        return 7

    module.main = main  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, f"symancf.{name}", module)
    room, _, last = module.__name__.rpartition(".")
    monkeypatch.setattr(importlib.import_module(room), last, module, raising=False)
    return calls


@pytest.mark.parametrize(
    ("words", "module", "expected"),
    [
        ("doctor --json", "command.doctor", {"args": (), "as_json": True}),
        (
            "doctor --json --model x.py -n 3",
            "command.model",
            {"args": ("x.py", ["-n", "3"]), "as_json": True},
        ),
        ("doctor --model", "command.model", {"args": ("", []), "as_json": False}),
        (
            "demo plate -snes_monitor -x 1",
            "command.demos",
            {"args": ("plate", ["-snes_monitor", "-x", "1"])},
        ),
        ("demo", "command.demos", {"args": (None, [])}),
        (
            "inspect yeoh hex8_plain --as c",
            "bodies.inspection",
            {"args": ("yeoh", "hex8_plain"), "form": "c", "function": None},
        ),
        (
            "inspect yeoh hex8_plain",
            "bodies.inspection",
            {"args": ("yeoh", "hex8_plain"), "form": "ops", "function": None},
        ),
        (
            "verify --group C --json",
            "verify",
            {"args": (), "group": "C", "as_json": True, "curves": None},
        ),
        (
            "bench --peers",
            "bench",
            {**BENCH, "peers": True},
        ),
        (
            "bench --motions --json",
            "bench",
            {**BENCH, "as_json": True, "motions": True},
        ),
        (
            "bench --solve 20 32",
            "bench",
            {**BENCH, "solve": [20, 32]},
        ),
        ("bench --elements", "bench", {**BENCH, "elements": ""}),
        ("bench --elements e.png", "bench", {**BENCH, "elements": "e.png"}),
        ("cache show", "command.kernels", {"args": ("show",)}),
    ],
)
def test_subcommands_pass_their_arguments_on(
    monkeypatch: pytest.MonkeyPatch, words: str, module: str, expected: dict[str, object]
) -> None:
    calls = stub(monkeypatch, module)
    assert cli.main(words.split()) == 7
    assert calls == [expected]


@pytest.mark.parametrize("words", ["", "nonsense", "inspect yeoh", "cache burn"])
def test_wrong_usage_ends_with_status_2(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(words.split())
    assert end.value.code == 2
    assert "usage: symancf" in capsys.readouterr().err


def test_help_names_all_subcommands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    for name in ("doctor", "demo", "inspect", "verify", "bench", "upgrade", "cache"):
        assert f"\n    {name} " in text


def test_an_error_of_symancf_is_its_text_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> int:
        raise SymancfError("the plate has no region 'rot'; there are: root, rim")

    stub(monkeypatch, "bench")
    monkeypatch.setattr(sys.modules["symancf.bench"], "main", fail)
    monkeypatch.delenv("SYMANCF_TRACEBACK", raising=False)
    assert cli.main(["bench"]) == 1
    assert capsys.readouterr().err == (
        "symancf: the plate has no region 'rot'; there are: root, rim\n"
    )


def test_a_missing_package_names_its_mend(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> int:
        import no_such_package.inner  # noqa: F401

        return 0

    stub(monkeypatch, "bench")
    monkeypatch.setattr(sys.modules["symancf.bench"], "main", fail)
    assert cli.main(["bench"]) == 1
    err = capsys.readouterr().err
    assert "no_such_package is not installed" in err
    assert "pip install no_such_package" in err
    assert "Traceback" not in err


def test_any_other_error_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> int:
        raise ZeroDivisionError("a defect")

    stub(monkeypatch, "verify")
    monkeypatch.setattr(sys.modules["symancf.verify"], "main", fail)
    assert cli.main(["verify"]) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "a defect" in err


def test_the_command_line_imports_nothing_heavy() -> None:
    """`symancf doctor` must run where SymPy, NumPy or PETSc cannot even be imported."""
    code = """
import sys
import symancf.command.cli, symancf.command.doctor
symancf.command.cli.parser()
heavy = {"numpy", "sympy", "scipy", "petsc4py", "mpi4py", "meshio", "rich"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
