# SPDX-License-Identifier: BSD-3-Clause
"""`symancf cache`: what is shown, and that only kernels are removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from symancf.command import kernels
from symancf.errors import CompileError
from tests.refusals import refused

KEY = "0123456789abcdef0123"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("SYMANCF_CACHE", str(path))
    for name in (f"yeoh_hex8-{KEY}.so", f"yeoh_hex8-{KEY}.c", f"cable-{KEY}.json"):
        (path / name).write_bytes(bytes(1000))
    (path / ".new-abc123").write_bytes(bytes(10))
    (path / ".build-xyz").mkdir()
    (path / ".build-xyz" / "kernel.so").write_bytes(b"")
    return path


def test_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kernels.main("show") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:5] == ["cable", "1", "files", "1000", "B"]
    assert lines[1].split()[:5] == ["yeoh_hex8", "2", "files", "2.0", "KiB"]
    assert lines[2] == f"{folder}: 2 kernels, 2.9 KiB"


def test_clear_removes_kernels_and_nothing_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "thesis.c").write_text("not ours")
    (folder / "data").mkdir()
    assert kernels.main("clear") == 0
    assert sorted(path.name for path in folder.iterdir()) == ["data", "thesis.c"]
    assert capsys.readouterr().out == f"{folder}: 2.9 KiB freed\n"


def test_links_are_not_followed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "data").mkdir()
    (folder / f"link-{KEY}.so").symlink_to(folder / "nothing")
    (folder / ".build-link").symlink_to(folder / "data")
    assert kernels.main("show") == 0
    assert "3 kernels" in capsys.readouterr().out
    assert kernels.main("clear") == 0
    assert [path.name for path in folder.iterdir()] == ["data"]


def test_the_files_of_a_compiled_kernel_are_found(tmp_path: Path) -> None:
    """The names that the compiler gives are those that are shown and removed."""
    import sympy as sp

    from symancf.runtime.jit import declare, points

    path = tmp_path / "new"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYMANCF_CACHE", str(path))
        u = sp.Symbol("u", real=True)
        law = declare.PointLaw(
            name="spring", unknowns=(u,), jets=(), energy=u**2 / 2, measure=sp.Integer(1)
        )
        points(law)
    (entry,) = kernels.entries(path)
    assert entry.kernel == "spring"
    assert entry.files == 3
    kernels.clear(path)
    assert list(path.iterdir()) == []


def test_an_unusable_folder_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SYMANCF_CACHE", str(tmp_path / "file" / "cache"))
    with refused(CompileError, asked="SYMANCF_CACHE", given=str(tmp_path / "file" / "cache")):
        kernels.folder()


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 30, "3.0 GiB")]
)
def test_sizes_for_people(size: int, text: str) -> None:
    assert kernels.readable(size) == text
