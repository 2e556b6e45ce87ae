# SPDX-License-Identifier: BSD-3-Clause
"""Kernels on a communicator: the same on all ranks, and the same error on all ranks."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from mpi4py import MPI

from symancf.errors import CompileError
from symancf.runtime import jit
from tests.refusals import refused

COMM = MPI.COMM_WORLD
x, k = sp.symbols("x k")

pytestmark = pytest.mark.collective


@pytest.fixture
def folder(tmp_path_factory, monkeypatch):
    """A cache that all ranks share, and that is new."""
    path = COMM.bcast(str(tmp_path_factory.mktemp("shared")) if COMM.rank == 0 else None)
    monkeypatch.setenv("SYMANCF_CACHE", path)
    return path


def spring(power=2):
    parameters = (jit.declare.KernelParameter(k),)
    return jit.declare.PointLaw("spring", (x,), energy=k * x**power / 2, parameters=parameters)


def messages(call):
    """Return the error that `call` raises, as every rank sees it."""
    with pytest.raises(CompileError) as caught:
        call()
    return COMM.allgather(str(caught.value))


def test_all_ranks_get_the_same_kernel(folder):
    kernel = jit.points(spring(), COMM)
    f, bad = kernel.residual(np.array([[0.25]]), None, {"k": 3.0})
    assert (f[0, 0], bad) == (pytest.approx(0.75), 0)
    assert len(set(COMM.allgather(str(kernel.path)))) == 1
    assert len(set(COMM.allgather(kernel.source))) == 1
    assert kernel.addresses.keys() == {"energy", "residual", "tangent", "product"}


def test_a_law_without_c_fails_on_all_ranks(folder):
    law = jit.declare.PointLaw("law", (x,), energy=sp.gamma(x))
    found = messages(lambda: jit.points(law, COMM))
    assert len(set(found)) == 1
    assert "gamma" in found[0]


def test_a_failing_compiler_fails_on_all_ranks(folder, monkeypatch):
    monkeypatch.setenv("SYMANCF_CC", "false")
    with refused(CompileError, asked="C compiler", given=1) as caught:
        jit.points(spring(), COMM)
    assert len(set(COMM.allgather(caught.value.command))) == 1
    assert "-shared" in caught.value.command


def test_a_mistake_in_python_fails_on_all_ranks(folder):
    found = messages(lambda: jit.points(object(), COMM))
    assert len(set(found)) == 1
    assert "AttributeError" in found[0]


def test_runtime_is_compiled_through_the_cache(folder, tmp_path_factory):
    place = COMM.bcast(str(tmp_path_factory.mktemp("source")) if COMM.rank == 0 else None)
    path = f"{place}/triple.c"
    if COMM.rank == 0:
        with open(path, "w", encoding="utf-8") as file:
            file.write('#include "symancf_kernel.h"\nint triple(int x) { return 3*x; }\n')
    library = jit.load_runtime(path, COMM)
    assert library.triple(14) == 42
    with refused(CompileError, asked="fourfold"):
        library.fourfold(14)
    found = messages(lambda: jit.load_runtime(f"{place}/nothing.c", COMM))
    assert len(set(found)) == 1
    assert "nothing.c" in found[0]


def test_files_beside_the_runtime_are_part_of_it(folder, tmp_path_factory):
    place = COMM.bcast(str(tmp_path_factory.mktemp("parts")) if COMM.rank == 0 else None)

    def write(name, text):
        if COMM.rank == 0:
            with open(f"{place}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        COMM.barrier()

    write("inner.h", "static int factor(void) { return 3; }\n")
    write("outer.h", '#include "inner.h"\n')
    write(
        "scale.c",
        '#include "symancf_kernel.h"\n#include "outer.h"\n#include "inner.h"\n'
        "int scale(int x) { return factor()*x; }\n",
    )
    first = jit.load_runtime(f"{place}/scale.c", COMM)
    assert first.scale(14) == 42
    write("inner.h", "static int factor(void) { return 4; }\n")
    second = jit.load_runtime(f"{place}/scale.c", COMM)
    assert second.scale(14) == 56
    write("inner.h", "\nstatic int factor(void) { return 4 }\n")
    found = messages(lambda: jit.load_runtime(f"{place}/scale.c", COMM))
    assert len(set(found)) == 1
    assert "inner.h:2" in found[0]  # a mistake is reported in the file in which it stands
