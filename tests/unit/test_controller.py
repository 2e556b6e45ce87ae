# SPDX-License-Identifier: BSD-3-Clause
"""The generated kernel of a flexure driven from plain C, without Python or PETSc."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import symancf as sa
from symancf.extensions.flexure import export
from symancf_codegen.library.compile import compiler_command
from tests.gripper import EI, gripper
from tests.refusals import refused

CONTROLLER = Path(__file__).resolve().parents[2] / "docs/examples/controller.c"


@pytest.mark.parametrize(("model", "last"), [("linear", 63), ("partial", 77), ("consistent", 75)])
def test_controller_finds_the_states_of_snes(model: str, last: int, tmp_path: Path) -> None:
    g = gripper(model)
    written = export(g.system, tmp_path)
    assert {p.name for p in written} >= {"mechanism.h", f"flexure_{model}.c", "symancf_kernel.h"}
    warnings = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(
        [
            *compiler_command(),
            *("-O2", *warnings, "-Wno-unknown-pragmas", f"-I{tmp_path}", str(CONTROLLER)),
            *(str(tmp_path / f"flexure_{model}.c"), "-lm", "-o", str(tmp_path / "controller")),
        ],
        check=True,
    )
    done = subprocess.run(
        [tmp_path / "controller", str(last), "-40"], check=True, capture_output=True, text=True
    )
    *lines, summary = done.stdout.splitlines()
    states = {int(row[0]): row[1:] for row in (np.array(line.split(), float) for line in lines)}
    assert sorted(states) == [*range(-40, 0), *range(1, last + 1)]
    assert f"for {last + 40} loads" in summary
    problem = sa.StaticProblem(g.system, prefix="controller_")
    for F in (1, 30, last):
        g.load.value = F
        problem.solve()
        assert np.abs(g.q() - states[F]).max() < 1e-11
    g.system.state[:] = 0.0
    for F in (-10, -20, -30, -40):
        g.load.value = F
        problem.solve()
        assert np.abs(g.q() - states[F]).max() < 1e-10
    if model != "partial":
        return
    # beyond, displacements grow tenfold with the load, and its Newton loop does not cut steps
    beyond = subprocess.run(
        [tmp_path / "controller", "1", "-200"], check=False, capture_output=True, text=True
    )
    assert beyond.returncode == 1
    assert "no equilibrium at F = -130" in beyond.stderr


def test_export_refuses_mixed_flexures(tmp_path: Path) -> None:
    g = gripper("partial", stiffness=sa.Parameter("EI", EI))
    export(g.system, tmp_path)  # a Parameter goes as its present value
    assert f"{EI:.17g}" in (tmp_path / "mechanism.h").read_text()
    body = sa.PlanarBody(position=(1.0, 0.0))
    ends = sa.ground.at((0, 0)), body.at((0, 0))
    terms = [sa.Flexure.straight(*ends, EI=1.0, EA=1.0, model=m) for m in ("linear", "partial")]
    with refused(sa.SymancfError, asked="flexures", given="linear (K), partial (K)"):
        export(sa.System(body, terms=terms), tmp_path)
