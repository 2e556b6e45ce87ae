# SPDX-License-Identifier: BSD-3-Clause
"""Options of problems in PETSc's database: there while a problem works, and no longer."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable
from symancf.runtime.petsc import PETSc, collect
from symancf.runtime.slepc import slepc
from tests.refusals import refused


@pytest.fixture(autouse=True)
def same_database() -> Iterator[None]:
    """Whatever a test does, the database is what it was."""
    before = PETSc.Options().getAll()
    yield
    assert PETSc.Options().getAll() == before


def rope(load: float = -0.1, cells: int = 3) -> sa.System:
    mesh = sa.Mesh.box((1.0,), (cells,))
    given = {"EA": 1e4, "EI": 1.0, "rho": 1.0, "A": 1.0}
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), **given)
    return sa.System(body, terms=[sa.fix(body["x0"]), sa.gravity((0, 0, load))])


def attempt(number: int, cells: int) -> None:
    """Solve a problem with a prefix of its own; one of four moves, one of four fails."""
    prefix, system = f"many{number}_", rope(cells=cells)
    if number % 4 == 1:
        method = "rk" if number % 8 == 1 else "generalized-alpha"
        sa.DynamicProblem(system, prefix=prefix, method=method).solve(to=1e-6, step=1e-6)
    elif number % 4 == 2:
        problem = sa.StaticProblem(system, prefix=prefix, options={"snes_max_it": 1})
        with refused(sa.ConvergenceError, reason="DIVERGED_MAX_IT", iteration=1):
            problem.solve(smallest=0.5)
    else:
        sa.StaticProblem(system, prefix=prefix, options={"pc_type": "lu"}).solve()


class Heap(ctypes.Structure):
    """The C library's ``struct mallinfo2``."""

    _fields_ = [(f"word{k}", ctypes.c_size_t) for k in range(7)] + [
        (name, ctypes.c_size_t) for name in ("used", "free", "releasable")
    ]


def used() -> int:
    """Return the bytes of this process that C libraries, as PETSc, hold; those of Python not."""
    gc.collect()
    collect(MPI.COMM_WORLD)
    read = ctypes.CDLL(None).mallinfo2
    read.restype = Heap
    return int(read().used)


@pytest.mark.collective
def test_many_problems_leave_nothing_behind() -> None:
    """Their options filled the database of 512 entries at the 51st problem.

    On several ranks, which let go of them at different times, vectors and matrices stayed, too:
    120 kB and more for each problem of 300 cells. Tables of PETSc, MPI and Python, whose size does
    not depend on that of the problem, grow by jumps, by some 4 kB a problem.
    """
    for number in range(56):
        attempt(number, 3)
        if number % 5 == MPI.COMM_WORLD.rank:
            gc.collect()
    before = used()
    for number in range(56, 80):
        attempt(number, 300)
    assert used() - before < 24 * 60_000


def test_problems_may_stay_alive() -> None:
    alive = [sa.StaticProblem(rope(), prefix=f"alive{number}_") for number in range(60)]
    for problem in alive:
        problem.solve()
    alive[0].solve(to=0.5)
    assert alive[0].history.time[-1] == 0.5


def test_options_of_the_user_survive() -> None:
    database = PETSc.Options()
    database.setValue("kept_snes_max_it", "7")
    database.setValue("snes_rtol", "1e-9")
    try:
        problem = sa.StaticProblem(rope(), prefix="kept_", options={"snes_max_it": 3})
        plain = sa.StaticProblem(rope())
        plain.monitor(lambda step: problem.solve())  # a problem within another one
        plain.solve(step=0.5)
        assert problem.snes.getTolerances()[3] == 7
        assert plain.snes.getTolerances()[0] == 1e-9
        assert database.getString("kept_snes_max_it") == "7"
    finally:
        database.delValue("kept_snes_max_it")
        database.delValue("snes_rtol")


def test_what_was_not_read_is_told_once() -> None:
    given = {"snes_rtoll": 1e-3, "snes_max_it": 30, "snes_monitr": None}
    problem = sa.DynamicProblem(rope(), prefix="odd_", options=given)
    inner = sa.StaticProblem(rope(), prefix="inner_", options={"snes_max_it": 30})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem.initialize(1e-3)
        problem.monitor(lambda problem: inner.solve())
        problem.solve(to=1e-3, step=1e-3)
        problem.solve(to=2e-3, step=1e-3)
    other, text = [str(w.message) for w in caught if "did not use" in str(w.message)]
    assert "-odd_snes_rtoll" in text
    assert "Did you mean 'odd_snes_rtol'" in text
    assert "-odd_snes_monitr. Did you mean 'odd_snes_monitor'?" in other
    for option, hint in (("ksp_type", "gmres"), ("snes_type", "newtonls"), ("pc_type", "gamg")):
        wrong = hint[:2] + hint[3:]
        with refused(sa.SymancfError, asked=option, given=wrong) as refusal:
            sa.StaticProblem(rope(), options={option: wrong}).solve()
        assert hint in refusal.value.possible
        assert f"Did you mean {hint!r}?" in str(refusal.value)


def move(method: str, options: dict[str, Any], prefix: str = "") -> int:
    """Return the number of steps of a motion whose steps follow the error."""
    adaptive = None if method == "adams" else True
    problem = sa.DynamicProblem(rope(), method=method, options=options, prefix=prefix)
    problem.solve(to=0.01, step=1e-3, adaptive=adaptive)
    return problem.steps


@pytest.mark.parametrize("method", ["generalized-alpha", "rk", "adams"])
def test_tolerances_of_ts_go_before_those_of_a_call(method: str) -> None:
    """PETSc had read them, and rtol= was set after that."""
    few = move(method, {})
    assert move(method, {"ts_rtol": 1e-10, "ts_atol": 1e-12}) > 1.5 * few
    PETSc.Options().setValue("own_ts_atol", "1e-12")
    try:
        assert move(method, {}, "own_") > 1.5 * few
    finally:
        PETSc.Options().delValue("own_ts_atol")
    with refused(sa.ParameterError, asked="ts_rtol", given="abc"):
        move(method, {"ts_rtol": "abc"})


def modes(options: dict[str, Any], prefix: str = "") -> Any:
    return sa.EigenProblem(rope(0.0), options=options, prefix=prefix).solve(2)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("generalized-alpha", {"ts_max_steps": 5}, ""),
    ("generalized-alpha", {"ts_adapt_dt_max": 1.0}, "ts_adapt_type"),
    ("generalized-alpha", {"ts_rk_type": "3bs"}, "ts_type"),
    ("rk", {"ts_max_steps": 5}, "ts_max_reject"),
    ("rk", {"ts_alpha_radius": 0.5}, ""),
    ("rk", {"snes_rtol": 1e-9}, "ts_rtol"),
    ("adams", {"ts_rk_type": "3bs"}, "ts_type"),
    ("adams", {"snes_atol": 1.0}, "ts_atol"),
    ("statics", {"ts_rtol": 1e-9}, "ksp_rtol"),
    ("statics", {"eps_ncv": 20}, ""),
    ("statics", {"snes_divergence_tolerance": 1.0}, ""),
    ("modes", {"eps_ncv": 20, "eigen": "dense"}, ""),
    ("modes", {"eps_ncv": 20, "eigen": "scipy"}, ""),
    ("modes", {"st_type": "sinvert", "eigen": "dense"}, ""),
]


@pytest.mark.parametrize(("what", "options", "hint"), REFUSED)
def test_options_that_are_not_used_are_refused(
    what: str, options: dict[str, Any], hint: str
) -> None:
    calls = {"statics": lambda: sa.StaticProblem(rope(), options=options).solve()}
    calls["modes"] = lambda: modes(options)
    name, given = next(iter(options.items()))
    unused = {"asked": name, "given": given, "possible": lambda found: name not in found}
    with refused(sa.ParameterError, **unused) as error:
        calls.get(what, lambda: move(what, options))()
    assert hint in str(error.value)


@pytest.mark.parametrize(
    ("what", "name", "value"),
    [
        ("rk", "snes_rtol", "1e-9"),
        ("rk", "ts_max_steps", "5"),
        ("generalized-alpha", "ts_rk_type", "3bs"),
        ("generalized-alpha", "ksp_rtol", "1e-9"),  # of a direct solver
        ("statics", "ksp_max_it", "9"),
        ("statics", "ts_rtol", "1e-9"),
        ("fixed", "ts_rtol", "1e-9"),
        ("modes", "eps_ncvv", "20"),
        ("modes", "snes_rtol", "1"),
    ],
)
def test_options_of_the_command_line_that_are_not_used_are_told(
    what: str, name: str, value: str
) -> None:
    """Of another problem with the same prefix, perhaps: so they are no error."""
    calls: dict[str, Any] = {
        "statics": lambda: sa.StaticProblem(rope(), prefix="line_").solve(),
        "modes": lambda: modes({"eigen": "slepc"} if slepc()[0] else {}, "line_"),
        "fixed": lambda: sa.DynamicProblem(rope(), prefix="line_").solve(to=1e-3, step=1e-3),
    }
    PETSc.Options().setValue(f"line_{name}", value)
    try:
        with pytest.warns(UserWarning, match=f"did not use the option -line_{name}"):
            calls.get(what, lambda: move(what, {}, "line_"))()
    finally:
        PETSc.Options().delValue(f"line_{name}")


def test_hints_are_names_of_the_same_problem() -> None:
    sa.StaticProblem(rope(), prefix="other_", options={"ksp_rtol": 1e-9}).solve()
    PETSc.Options().setValue("ksp_rtol", "1e-9")
    try:
        with pytest.warns(UserWarning, match="did not use the option -ksp_rtol") as told:
            sa.StaticProblem(rope()).solve()
    finally:
        PETSc.Options().delValue("ksp_rtol")
    assert "other_" not in str(told[0].message)


def test_words_of_a_script_are_not_reported_at_the_end() -> None:
    """Newer PETSc names on stdout what it did not read, in the midst of JSON."""
    code = "import symancf.runtime.petsc; print('{}')"
    words = [sys.executable, "-c", code, "--json", "20"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "{}\n"
