# SPDX-License-Identifier: BSD-3-Clause
"""Shared fixtures, and the rules for a test session that itself runs under mpirun."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.mpi import SETTINGS

SIZE = int(os.environ.get("OMPI_COMM_WORLD_SIZE", os.environ.get("PMI_SIZE", "1")))

# Before NumPy or PETSc is imported by a test: threads of the BLAS only disturb small problems.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, SETTINGS[name])


FOLDERS = {"parallel": "parallel", "demos": "demo", "packaging": "packaging"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by their folder; on several ranks keep only those marked ``collective``."""
    here = Path(__file__).parent
    for item in items:
        folder = item.path.relative_to(here).parts[0]
        if folder in FOLDERS:
            item.add_marker(FOLDERS[folder])
    if SIZE > 1:
        chosen = [item for item in items if item.get_closest_marker("collective")]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture
def shared_tmp_path(tmp_path: Path) -> Path:
    """A new folder that is the same on all ranks (``tmp_path`` is one per rank)."""
    if SIZE == 1:
        return tmp_path
    from mpi4py import MPI

    return Path(MPI.COMM_WORLD.bcast(str(tmp_path), root=0))
