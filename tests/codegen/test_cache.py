# SPDX-License-Identifier: BSD-3-Clause
"""The kernel cache: hits, damage, many processes at once, and everything that can be missing."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from symancf_codegen import CompileError, Options, Parameter, PointLaw, compile_points
from symancf_codegen.library import cache
from symancf_codegen.library import compile as compile_stage
from symancf_codegen.library.compile import compiler_command, library

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


def test_many_processes_at_once(folder, monkeypatch):
    folder.mkdir()
    once = f'case "$*" in *kernel.so*) echo 1 >> {folder}/compiled;; esac; exec gcc "$@"'
    (folder.parent / "cc").write_text(f"#!/bin/sh\n{once}\n")
    (folder.parent / "cc").chmod(0o700)
    monkeypatch.setenv("SYMANCF_CC", str(folder.parent / "cc"))
    path = os.pathsep.join([str(ROOT), str(ROOT / "codegen")])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONPATH": path, "SYMANCF_CACHE": str(folder)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert [len(files(folder, s)) for s in (".json", ".c", ".so")] == [1, 1, 1]
    assert len((folder / "compiled").read_text().splitlines()) == 1  # by one for all
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


def test_a_cache_that_a_group_may_write_is_refused(folder, monkeypatch):
    folder.mkdir()
    folder.chmod(0o770)
    monkeypatch.setattr(cache, "_private", lambda number: False)
    with pytest.raises(CompileError, match=r"written by the group .*chmod go-w"):
        cache.folder()
    monkeypatch.setattr(cache, "_private", lambda number: True)
    assert cache.folder() == folder


def test_a_group_is_private_when_it_is_that_of_the_user_alone(monkeypatch):
    class User:
        pw_name, pw_gid = "ann", 1000

    class Group:
        gr_name = "ann"
        gr_mem: tuple[str, ...] = ()

    monkeypatch.setattr(cache.pwd, "getpwuid", lambda number: User)
    monkeypatch.setattr(cache.grp, "getgrgid", lambda number: Group)
    assert cache._private(1000)
    assert not cache._private(1001)  # of hers, but not her own
    Group.gr_mem = ("ann", "bob")
    assert not cache._private(1000)
    Group.gr_mem, Group.gr_name = (), "project"
    assert not cache._private(1000)


@pytest.mark.parametrize("name", ["-cache", "two words", "ümlaut"])
def test_a_relative_cache_of_any_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SYMANCF_CACHE", name)
    check(compile_points("spring", spring()))
    assert files(tmp_path / name, ".so")


def compiler(folder, text):
    """Return a compiler that answers questions about itself and then does as `text` says."""
    path = folder.parent / "cc"
    head = '#!/bin/sh\ncase "$*" in *--version*|*--help*) echo 1; exit 0;; esac\n'
    tail = '\nwhile [ $# -gt 1 ]; do if [ "$1" = -o ]; then out=$2; fi; shift; done\n'
    path.write_text(head + tail + text)
    path.chmod(0o700)
    return str(path)


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("kill -9 $$", r"killed by signal 9 \(SIGKILL\)"),
        ("exit 0", "wrote no library .* did not say why"),
        ('echo junk > "$out"', "no library that this machine can load: .*(short|ELF)"),
        ("echo no licence >&2; exit 3", "no licence"),
    ],
)
def test_compilers_that_go_wrong(folder, monkeypatch, does, says):
    monkeypatch.setenv("SYMANCF_CC", compiler(folder, does))
    with pytest.raises(CompileError, match=says) as caught:
        library("thing", "int f(void) { return 1; }")
    assert "SYMANCF_CC" in str(caught.value)
    assert not files(folder, ".so")
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".")]


def test_a_compiler_that_never_ends(folder, monkeypatch):
    monkeypatch.setenv("SYMANCF_CC", compiler(folder, f"sleep 1000 & echo $! > {folder}/pid; wait"))
    monkeypatch.setenv("SYMANCF_COMPILE_LIMIT", "0.5")
    with pytest.raises(CompileError, match=r"within 0\.5 s.*SYMANCF_COMPILE_LIMIT"):
        library("thing", "int f(void) { return 1; }")
    number = (folder / "pid").read_text().strip()
    state, until = Path(f"/proc/{number}/stat"), time.monotonic() + 10.0
    while state.exists() and state.read_text().split(")")[1].split()[0] != "Z":
        assert time.monotonic() < until  # it was killed, and ends when it has a processor
        time.sleep(0.01)
    monkeypatch.setenv("SYMANCF_COMPILE_LIMIT", "soon")
    with pytest.raises(CompileError, match="'soon'"):
        library("thing", "int f(void) { return 1; }")


def test_what_broken_compilations_left_is_removed(folder):
    compile_points("spring", spring())
    old, new = folder / ".build-old", folder / ".build-new"
    for left in (old, new):
        left.mkdir()
        (left / "kernel.so").write_text("")
    os.utime(old, (0, 0))
    compile_points("spring", spring(4))
    assert not old.exists()
    assert new.exists()


def test_a_library_that_cannot_be_loaded_is_made_again(folder):
    path = compile_points("spring", spring()).path
    path.unlink()
    cache.write(path, b"junk with a checksum")
    check(compile_points("spring", spring()))


LOCK = """
import os, signal, sys
from pathlib import Path
from symancf_codegen.library import cache
with cache.locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.readline()
"""


def test_one_makes_an_entry_and_a_dead_one_blocks_nobody(folder, monkeypatch):
    folder.mkdir()
    entry = folder / "entry.so"
    holder = subprocess.Popen(
        [sys.executable, "-c", LOCK, str(entry)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "codegen")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "locked\n"
        monkeypatch.setattr(cache, "PATIENCE", 0.1)
        assert cache._acquired(folder / ".lock-entry.so") is None  # after a while without it
        holder.kill()
    monkeypatch.setattr(cache, "PATIENCE", 60.0)
    with cache.locked(entry):
        assert (folder / ".lock-entry.so").exists()
    assert list(folder.iterdir()) == []


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
