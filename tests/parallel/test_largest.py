# SPDX-License-Identifier: BSD-3-Clause
"""Nothing of global size on a rank: no block of memory grows with the model and the ranks."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

HERE = Path(__file__).parent

SHARED = 200  # nodes of the first level that all ranks have, at most

#: What may grow: why, and up to how many bytes, given the nodes of a rank.
BOUNDED: dict[str, tuple[str, Callable[[float], float]]] = {
    "libmpi": ("reductions of the level that all ranks have", lambda n: 9 * 8 * 27 * SHARED),
    "solve/multigrid/levels.py": ("the pattern of that level", lambda n: 8 * 27 * SHARED),
    "libhdf5": ("a chunk of a file", lambda n: 2**18 + 64),
    "libopen-pal": ("messages to neighbours, of which an inner rank has two", lambda n: 2**19),
    "graph.py": ("PT-Scotch joins the coarse graphs of two ranks", lambda n: 27 * 8 * n),
    "mesh/edges.py": ("a table of ids, 8 times as long as their list", lambda n: 256 * n),
    "mesh/box.py": ("sides of the box: a rank's slice of all facets", lambda n: 32 * n),
    "mesh/storage.py": ("regions: a rank's slice of all facets", lambda n: 32 * n),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The largest blocks on 2 and 3 ranks, by place."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no compiler")
    folder = tmp_path_factory.mktemp("largest")
    library = folder / "largest.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", library, HERE / "largest.c", "-ldl"]
    subprocess.run(command, check=True)
    result: dict[str, Any] = run_mpi(
        3, HERE / "check_largest.py", folder, env={"LD_PRELOAD": str(library)}, timeout=300.0
    )
    return result


def test_no_block_grows_with_the_model(found: dict[str, Any]) -> None:
    """Ranks have equal shares of a bar: what is local stays, what is global is 1.5 times as large.

    What has less than two bytes for each node is not judged: an inner rank has twice the ghosts.
    """
    few, many = found["few"], found["many"]
    growing = {
        place: (few.get(place, 0), size)
        for place, size in many.items()
        if size >= 2 * found["nodes"] and size > 1.25 * few.get(place, 0)
    }
    planted = [place for place in growing if "check_largest.py:" in place]
    assert [growing.pop(place)[1] for place in planted] == [4 * found["nodes"]]
    share = found["nodes"] / 3
    for place, (_, size) in growing.items():
        bounds = [bound(share) for name, (_, bound) in BOUNDED.items() if name in place]
        assert bounds, f"{place} grows to {size} bytes"
        assert size <= max(bounds), place


def test_the_largest_block_is_the_matrix(found: dict[str, Any]) -> None:
    """All kinds of memory are seen: of NumPy, of PETSc, of our own C."""
    few, many = found["few"], found["many"]
    share = found["nodes"] / 3
    assert max(many.values()) <= 1.05 * max(few.values())
    assert 9 * 4 * 10 * share < max(many.values()) < 9 * 4 * 27 * share  # by halves
    for source in ("symancf/assembly/", "symancf/solve/multigrid/", "libpetsc", ".so symancf_"):
        assert any(source in place for place in many), source
