# SPDX-License-Identifier: BSD-3-Clause
"""The meshes of meshes/ are what their Gmsh scripts make."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from mpi4py import MPI

from symancf.mesh import Mesh

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(shutil.which("gmsh") is None, reason="Gmsh is not installed")
@pytest.mark.parametrize(
    ("script", "dimension", "n", "mesh"),
    [
        ("silicone_plate", 2, None, "silicone_plate"),
        ("silicone_plate", 2, 8, "silicone_plate_8"),
        ("silicone_block", 3, None, "silicone_block"),
        ("quarter_cylinder", 2, None, "quarter_cylinder"),
        ("cable", 1, None, "cable"),
        ("trunk", 2, None, "trunk"),
        ("inflated_cylinder", 2, None, "inflated_cylinder"),
        ("finger", 2, None, "finger"),
        ("finger_solid", 3, None, "finger_solid"),
    ],
)
def test_structured_meshes_come_from_their_scripts(
    tmp_path: Path, repository: Path, script: str, dimension: int, n: int | None, mesh: str
) -> None:
    made = tmp_path / "made.msh"
    command = ["gmsh", f"-{dimension}", str(repository / "meshes" / f"{script}.geo"), "-o", made]
    if n is not None:
        command += ["-setnumber", "n", str(n)]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    new = Mesh.read(made, MPI.COMM_SELF)
    kept = Mesh.read(repository / "meshes" / f"{mesh}.msh", MPI.COMM_SELF)
    assert {r.name: r.sizes for r in new} == {r.name: r.sizes for r in kept}
    for region in kept:  # versions of Gmsh may number the points differently
        a, b = (m.fetch_points(m[region.name].points()) for m in (new, kept))
        a, b = (x[np.lexsort(np.round(x, 9).T)] for x in (a, b))
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_all_meshes_are_read_and_small(repository: Path) -> None:
    files = sorted((repository / "meshes").glob("*.msh"))
    assert len(files) >= 7
    assert sum(f.stat().st_size for f in files) < 600_000
    readme = (repository / "meshes" / "README.md").read_text()
    for file in files:
        assert f"`{file.name}`" in readme
        assert Mesh.read(file, MPI.COMM_SELF).n_points > 0
