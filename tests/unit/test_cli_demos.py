# SPDX-License-Identifier: BSD-3-Clause
"""Finding, listing and running demos."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from symancf.command import demos
from symancf.errors import SymancfError
from tests.refusals import refused


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two demos and a file that is none."""
    (tmp_path / "silicone_plate.py").write_text('"""A plate under gravity."""\n')
    (tmp_path / "write_arguments.py").write_text(
        '"""Write what it was given.\n\nMore."""\n'
        "import json, pathlib, sys\n"
        "out = {'argv': sys.argv[1:], 'name': __name__, 'file': __file__}\n"
        "pathlib.Path(__file__).with_suffix('.json').write_text(json.dumps(out))\n"
    )
    (tmp_path / "_shared.py").write_text("")
    monkeypatch.setattr(demos, "folder", lambda: tmp_path)
    monkeypatch.setattr(sys, "argv", ["symancf"])
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_lists_demos_with_their_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert demos.main(None) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert lines[1:] == [
        ["silicone_plate", "A plate under gravity."],
        ["write_arguments", "Write what it was given."],
    ]


def test_those_to_begin_with_come_first_with_their_durations(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index.md").write_text("toctree\n\nwrite_arguments\nsilicone_plate\n")
    script = folder / "write_arguments.py"
    text = script.read_text()
    first, _, rest = text.partition('"""')[2].partition('"""')
    script.write_text(f'"""{first}\n\nTakes 3 min on one core, less with -short.\n"""{rest}')
    demos.main(None)
    names = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert names[0][:3] == ["write_arguments", "3", "min"]
    assert names[1][0] == "silicone_plate"
    demos.main("write_arguments", [])
    assert capsys.readouterr().out == "Write what it was given. Takes 3 min on one core.\n"
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    demos.main("write_arguments", [])
    assert capsys.readouterr().out == ""


def test_runs_a_demo_as_a_script_with_options(folder: Path) -> None:
    assert demos.main("write_arguments", ["-snes_rtol", "1e-9"]) == 0
    seen = json.loads((folder / "write_arguments.json").read_text())
    assert seen == {
        "argv": ["-snes_rtol", "1e-9"],
        "name": "__main__",
        "file": str(folder / "write_arguments.py"),
    }


def test_options_reach_petsc(folder: Path) -> None:
    from petsc4py import PETSc

    demos.main("write_arguments", ["-symancf_test_option", "3"])
    options = PETSc.Options()
    assert options.getInt("symancf_test_option") == 3
    options.delValue("symancf_test_option")


@pytest.mark.usefixtures("folder")
def test_an_unknown_name_shows_the_similar_one() -> None:
    with refused(
        SymancfError, asked="silicon_plate", possible=("silicone_plate", "write_arguments")
    ):
        demos.find("silicon_plate")


def test_the_demos_of_this_checkout_are_found(repository: Path) -> None:
    assert demos.folder() == repository / "docs" / "demos"


def test_copies_demos_with_their_meshes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    assert demos.copy(tmp_path / "here") == 0
    assert not (tmp_path / "here").exists()
    monkeypatch.delenv("OMPI_COMM_WORLD_RANK")
    assert demos.copy(tmp_path / "here") == 0
    assert "written" in capsys.readouterr().out
    assert (tmp_path / "here" / "docs" / "demos" / "finger.py").is_file()
    assert (tmp_path / "here" / "meshes" / "finger.msh").is_file()
    there = tuple(str(tmp_path / "here" / p) for p in ("docs/demos", "docs/tutorials", "meshes"))
    with refused(SymancfError, asked="folder", given=there):
        demos.copy(tmp_path / "here")
    with refused(SymancfError, asked="name", given="finger"):
        demos.copy(tmp_path / "there", "finger")


@pytest.mark.usefixtures("folder")
def test_options_that_nothing_reads_are_named(folder: Path) -> None:
    script = folder / "silicone_plate.py"
    script.write_text('"""A plate."""\nprefix="arm_"\nSHORT = "-short"\n')
    with pytest.warns(UserWarning, match="-snes_monotor; .* read -arm_snes_monotor"):
        demos.main("silicone_plate", ["-snes_monotor", "-short", "-2", "3"])
