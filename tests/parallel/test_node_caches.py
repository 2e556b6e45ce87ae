# SPDX-License-Identifier: BSD-3-Clause
"""One compilation serves caches that lie on each node."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel


def test_nodes_without_a_common_folder_get_libraries_from_rank_0(tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    log = f'case "$*" in *-shared*) echo >> {tmp_path / "calls"} ;; esac'
    compiler.write_text(f'#!/bin/sh\n{log}\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    (tmp_path / "answer.c").write_text("int answer(void) { return 42; }\n")
    script = Path(__file__).with_name("check_node_caches.py")
    found = run_mpi(3, script, tmp_path, timeout=300.0)
    assert (found["calls"], found["places"]) == (1, 2)
    assert found["every"] == [[[42, 42], True, []]] * 3
