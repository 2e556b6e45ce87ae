# SPDX-License-Identifier: BSD-3-Clause
"""The kernel cache: hits, damage, many processes at once, and everything that can be missing."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from symancf_codegen import CompileError, Options, Parameter, PointLaw, cache, compile_points
from symancf_codegen import compile as compile_stage
from symancf_codegen.compile import compiler_command, library

ROOT = Path(__file__).resolve().parents[2]
x, k = sp.symbols("x k")


def spring(power=2):
    return PointLaw("spring", (x,), energy=k * x**power / 2, parameters=(Parameter(k),))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "cache"
    monkeypatch.setenv("SYMANCF_CACHE", str(path))
    return path


def check(kernel):
    f, _ = kernel.residual(np.array([[0.25]]), None, {"k": 3.0})
    assert f[0, 0] == pytest.approx(0.75)


def files(folder, suffix):
    return sorted(p for p in folder.iterdir() if p.suffix == suffix)


def test_second_time_nothing_is_generated_or_compiled(folder, monkeypatch):
    first = compile_points("spring", spring())
    check(first)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [len(files(folder, s)) for s in (".json", ".c", ".so")] == [1, 1, 1]

    def never(*_):
        raise AssertionError("generated or compiled again")

    monkeypatch.setattr("symancf_codegen.compiler.point_source", never)
    monkeypatch.setattr(compile_stage, "_build", never)
    second = compile_points("spring", spring())
    check(second)
    assert second.path == first.path
    assert second.description == first.description
    assert second.source == first.source
    assert (first.source in first.path.with_suffix(".c").read_text()) is True


def test_another_law_or_other_flags_are_another_entry(folder):
    one = compile_points("spring", spring())
    two = compile_points("spring", spring(4))
    three = compile_points("spring", spring(), Options(flags=("-O1", "-fopenmp-simd")))
    assert len({one.path, two.path, three.path}) == 3
    assert one.source == three.source
    check(three)


def test_values_of_parameters_do_not_recompile(folder):
    kernel = compile_points("spring", spring())
    for value in (1.0, 2.0):
        f, _ = kernel.residual(np.array([[0.5]]), None, {"k": value})
        assert f[0, 0] == pytest.approx(0.5 * value)
    assert len(files(folder, ".so")) == 1


@pytest.mark.parametrize("suffix", [".json", ".so"])
@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text"])
def test_a_damaged_entry_is_made_again(folder, suffix, damage):
    path = compile_points("spring", spring()).path
    (victim,) = files(folder, suffix)
    whole = victim.read_bytes()
    middle = len(whole) // 2
    victim.unlink()  # the library may be loaded: not in place
    victim.write_bytes(
        {
            "cut": whole[:middle],
            "flip": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "empty": b"",
            "text": b"not a kernel",
        }[damage]
    )
    again = compile_points("spring", spring())
    check(again)
    assert again.path == path
    assert cache.read(victim) is not None
    assert victim.read_bytes() != b""


def test_an_entry_of_another_version_is_made_again(folder):
    path = compile_points("spring", spring()).path
    (victim,) = files(folder, ".json")
    cache.write(victim, b'{"description": {"name": "spring"}, "source": ""}')
    again = compile_points("spring", spring())
    check(again)
    assert again.path == path


SCRIPT = """
import numpy as np
from tests.codegen.test_cache import check, spring
from symancf_codegen import compile_points
check(compile_points("spring", spring()))
"""


def test_many_processes_at_once(folder):
    path = os.pathsep.join([str(ROOT), str(ROOT / "codegen")])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONPATH": path, "SYMANCF_CACHE": str(folder)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert [len(files(folder, s)) for s in (".json", ".c", ".so")] == [1, 1, 1]
    left = [p.name for p in folder.iterdir() if p.name.startswith(".")]
    assert not left


def test_a_cache_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SYMANCF_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(CompileError, match="SYMANCF_CACHE"):
        compile_points("spring", spring())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_without_permission(folder):
    folder.mkdir(mode=0o500)
    with pytest.raises(CompileError, match="make it writable"):
        compile_points("spring", spring())


def test_a_cache_that_others_may_write_is_refused(folder):
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(CompileError, match="chmod go-w"):
        compile_points("spring", spring())


def test_a_full_disk(folder, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CompileError, match="free space"):
        compile_points("spring", spring())
    assert list(folder.iterdir()) == []


def test_no_compiler(folder, monkeypatch):
    for name in ("SYMANCF_CC", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(CompileError, match="apt install gcc"):
        compile_points("spring", spring())


def test_a_compiler_that_does_not_exist(folder, monkeypatch):
    monkeypatch.setenv("SYMANCF_CC", "no-such-compiler")
    with pytest.raises(CompileError, match="SYMANCF_CC"):
        compiler_command()


def test_a_compiler_that_fails(folder):
    with pytest.raises(CompileError, match="error") as caught:
        library("broken", "int f(void) { return }")
    assert "kernel.so" in caught.value.command
    assert "error" in caught.value.output
    assert not files(folder, ".so")


def test_a_broken_compiler(folder, monkeypatch):
    monkeypatch.setenv("SYMANCF_CC", "false")
    with pytest.raises(CompileError, match="the C compiler failed"):
        compile_points("spring", spring())
