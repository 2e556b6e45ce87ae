# SPDX-License-Identifier: BSD-3-Clause
"""The kernel cache: hits, damage, many processes at once, and everything that can be missing."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from symancf_codegen import CompileError, Options, Parameter, PointLaw, compile_points
from symancf_codegen.library import cache, fingerprint
from symancf_codegen.library import compile as compile_stage
from symancf_codegen.library.compile import compiler_command, library
from symancf_codegen.library.fingerprint import digest
from tests.refusals import refused

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


def test_files_of_the_compiler_that_changed_meanwhile_are_not_taken(folder, monkeypatch):
    fingerprint.require_unchanged.cache_clear()  # as in a process that has compiled nothing
    monkeypatch.setattr(fingerprint, "COMPILER_VERSION", "of before")
    given = {"given": fingerprint._compiler_version(), "possible": ("of before",)}
    with refused(CompileError, asked="compiler", **given):
        compile_points("spring", spring())
    assert files(folder, ".json") == []


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


def test_what_may_be_left_out_belongs_to_a_law(folder):
    """A law that needs a parameter does not get the kernel of one that takes 0 for it."""
    law = spring()
    free = replace(law, parameters=tuple(replace(p, optional=True) for p in law.parameters))
    assert digest(free) != digest(law)
    assert compile_points("spring", free).optional == tuple(p.name for p in law.parameters)
    assert compile_points("spring", law).optional == ()


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
    with refused(CompileError, asked="SYMANCF_CACHE", given=str(tmp_path / "file" / "cache")):
        compile_points("spring", spring())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_without_permission(folder):
    folder.mkdir(mode=0o500)
    with refused(CompileError, asked="SYMANCF_CACHE", given=str(folder)):
        compile_points("spring", spring())


PRIVATE = f"cache-{os.geteuid()}"  # what takes the place of a cache that others could write


def test_in_place_of_a_cache_that_others_could_write_there_is_a_new_one(folder, recwarn):
    folder.mkdir()
    folder.chmod(0o777)
    kernel = compile_points("spring", spring())
    check(kernel)
    assert kernel.path.parent == folder.with_name(PRIVATE)
    assert stat.S_IMODE(kernel.path.parent.stat().st_mode) == 0o700
    compile_points("spring", spring(4))
    (said,) = [str(w.message) for w in recwarn]  # one line
    assert f"{folder} can be written by everyone" in said
    assert "chmod" not in said
    assert list(folder.iterdir()) == []


def test_a_cache_that_a_group_may_write_is_not_used(folder, monkeypatch):
    folder.mkdir()
    folder.chmod(0o770)
    monkeypatch.setattr(cache, "_private", lambda number: False)
    with pytest.warns(UserWarning, match="by the group"):
        assert cache.folder() == folder.with_name(PRIVATE)
    monkeypatch.setattr(cache, "_private", lambda number: True)
    assert cache.folder() == folder


@pytest.mark.parametrize("sticky", [False, True])
def test_a_cache_in_a_folder_that_others_may_write(tmp_path, monkeypatch, sticky):
    """Others could put a folder in its place, except where the folder above forbids that."""
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(0o1777 if sticky else 0o777)
    monkeypatch.setenv("SYMANCF_CACHE", str(above / "inner" / "cache"))
    found = cache.folder(tell=False)
    assert (found == above / "inner" / "cache") is sticky
    assert found.is_dir()
    assert sticky or above not in found.parents


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("what", ["folder", "above", "entry"])
def test_what_belongs_to_another_user_is_not_trusted(tmp_path, monkeypatch, what):
    path = tmp_path / "above" / "cache"
    monkeypatch.setenv("SYMANCF_CACHE", str(path))
    law = replace(spring(), name=f"spring{time.time_ns()}")  # that no private folder has
    made = compile_points("spring", law).path
    given = {"folder": path, "above": path.parent, "entry": made}[what]
    os.chown(given, 65534, 65534)
    again = cache.folder(tell=False)
    assert (again == path) is (what == "entry")
    assert cache.read(again / made.name) is None


@pytest.mark.parametrize("suffix", [".json", ".so"])
def test_a_planted_entry_is_made_again(folder, suffix):
    """One of the right owner and mode, with a right checksum, but without the user's key."""
    compile_points("spring", spring())
    (victim,) = files(folder, suffix)
    content = victim.read_bytes()[: -cache._TRAILER] + b"planted"
    digest = cache._digest(victim.name, content)
    victim.unlink()
    victim.write_bytes(content + cache._trailer(digest, bytes(32)))
    victim.chmod(0o600)
    assert cache.read(victim) is None
    check(compile_points("spring", spring()))
    assert b"planted" not in victim.read_bytes()


@pytest.mark.parametrize("what", ["name", "mode", "symbolic link", "hard link", "pipe"])
def test_an_entry_that_is_no_file_of_the_user_alone(folder, what):
    """Not even the right bytes: who could write them could change them while they are loaded."""
    path = compile_points("spring", spring()).path
    other = compile_points("spring", spring(4)).path
    if what == "name":
        path.unlink()
        path.write_bytes(other.read_bytes())
        path.chmod(0o600)
    elif what == "mode":
        path.chmod(0o602)
    elif what == "hard link":
        os.link(path, folder / "second")
    else:
        path.rename(folder / "first")
        os.mkfifo(path) if what == "pipe" else path.symlink_to(folder / "first")
    assert cache.read(path) is None
    check(compile_points("spring", spring()))
    assert cache.read(path) is not None
    assert stat.S_IMODE(path.lstat().st_mode) == 0o600


def test_headers_in_the_cache_are_not_read(folder):
    folder.mkdir(mode=0o700)
    (folder / "symancf_kernel.h").write_text("#error planted\n")
    check(compile_points("spring", spring()))


@pytest.mark.parametrize("damage", ["open", "short", "gone", "link"])
def test_the_key_is_made_anew_where_others_could_know_it(folder, tmp_path, monkeypatch, damage):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = compile_points("spring", spring()).path
    key = tmp_path / "state" / "symancf" / ".key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = key.read_bytes()
    if damage == "open":
        key.chmod(0o644)
    elif damage == "short":
        key.write_bytes(before[:5])
    else:
        key.rename(tmp_path / "moved")
        if damage == "link":
            key.symlink_to(tmp_path / "moved")
    assert cache.read(path) is None
    check(compile_points("spring", spring()))
    assert cache.read(path) is not None
    assert key.read_bytes() != before


def test_without_a_home_the_key_is_in_the_cache(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    path = compile_points("spring", spring()).path
    assert (folder / ".key").exists()
    assert cache.read(path) is not None


SHARED = """
import os, sys
from pathlib import Path
os.setgid(65534); os.setuid(65534)
from symancf_codegen.library import cache, fingerprint
path, entry = cache.folder(), sys.argv[1]
print(path, cache.read(path / entry), (path / entry).exists())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize("damaged", [False, True])
def test_a_cache_of_root_serves_users(monkeypatch, damaged):
    """What root has made is copied to the user's own cache, unless it is damaged."""
    with tempfile.TemporaryDirectory() as given:
        shared, own = Path(given).resolve() / "cache", Path(given).resolve() / "cache-65534"
        monkeypatch.setenv("SYMANCF_CACHE", str(shared))
        shared.mkdir()
        own.mkdir(mode=0o700)
        os.chown(own, 65534, 65534)
        shared.parent.chmod(0o755)
        entry = shared / "entry.json"
        cache.write(entry, b"content")
        if damaged:
            entry.write_bytes(b"C" + entry.read_bytes()[1:])
        entry.chmod(0o644)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "codegen"), "HOME": str(own)}
        text = subprocess.check_output(
            [sys.executable, "-c", SHARED, entry.name], env=environment, text=True
        )
        expected = f"{own} None False" if damaged else f"{own} b'content' True"
        assert text.strip() == expected


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
    ("does", "status", "said"),
    [
        ("kill -9 $$", -9, ""),
        ("exit 0", 0, ""),
        ('echo junk > "$out"', 0, ""),
        ("echo no licence >&2; exit 3", 3, "no licence\n"),
    ],
)
def test_compilers_that_go_wrong(folder, monkeypatch, does, status, said):
    monkeypatch.setenv("SYMANCF_CC", compiler(folder, does))
    with refused(CompileError, asked="C compiler", given=status, output=said) as caught:
        library("thing", "int f(void) { return 1; }")
    assert "SYMANCF_CC" in str(caught.value)
    assert not files(folder, ".so")
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".")]


def test_a_compiler_that_never_ends(folder, monkeypatch):
    monkeypatch.setenv("SYMANCF_CC", compiler(folder, f"sleep 1000 & echo $! > {folder}/pid; wait"))
    monkeypatch.setenv("SYMANCF_COMPILE_LIMIT", "0.5")
    with refused(CompileError, asked="SYMANCF_COMPILE_LIMIT", given=0.5):
        library("thing", "int f(void) { return 1; }")
    number = (folder / "pid").read_text().strip()
    state, until = Path(f"/proc/{number}/stat"), time.monotonic() + 10.0
    while state.exists() and state.read_text().split(")")[1].split()[0] != "Z":
        assert time.monotonic() < until  # it was killed, and ends when it has a processor
        time.sleep(0.01)
    monkeypatch.setenv("SYMANCF_COMPILE_LIMIT", "soon")
    with refused(CompileError, asked="SYMANCF_COMPILE_LIMIT", given="soon"):
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
from symancf_codegen.library import cache, fingerprint
with cache.locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.readline()
"""


def test_a_library_without_a_function(folder, monkeypatch):
    """By a compiler that writes a good library of something else."""
    (folder.parent / "other.c").write_text("int other;\n")
    text = f'exec gcc -shared -fPIC {folder.parent}/other.c -o "$out"'
    monkeypatch.setenv("SYMANCF_CC", compiler(folder, text))
    with refused(CompileError, asked="spring_energy", given=lambda path: path.endswith(".so")):
        compile_points("spring", spring())


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
        monkeypatch.setattr(cache, "WAITING_TIME", 0.1)
        assert cache._acquired(folder / ".lock-entry.so") is None  # after a while without it
        holder.kill()
    monkeypatch.setattr(cache, "WAITING_TIME", 60.0)
    with cache.locked(entry):
        assert (folder / ".lock-entry.so").exists()
    assert list(folder.iterdir()) == []


def test_a_full_disk(folder, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with refused(CompileError, asked="SYMANCF_CACHE", given=str(folder)):
        compile_points("spring", spring())
    assert list(folder.iterdir()) == []


def test_no_compiler(folder, monkeypatch):
    for name in ("SYMANCF_CC", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(folder))
    with refused(CompileError, asked="C compiler", possible=("gcc", "cc", "clang")):
        compile_points("spring", spring())


def test_a_compiler_that_does_not_exist(folder, monkeypatch):
    monkeypatch.setenv("SYMANCF_CC", "no-such-compiler")
    with refused(CompileError, asked="SYMANCF_CC", given="no-such-compiler"):
        compiler_command()


def test_a_compiler_that_fails(folder):
    with refused(CompileError, asked="C compiler", given=1) as caught:
        library("broken", "int f(void) { return }")
    assert "kernel.so" in caught.value.command
    assert "error" in caught.value.output
    assert not files(folder, ".so")


def test_a_broken_compiler(folder, monkeypatch):
    monkeypatch.setenv("SYMANCF_CC", "false")
    with refused(CompileError, asked="C compiler", given=1):
        compile_points("spring", spring())
