# SPDX-License-Identifier: BSD-3-Clause
"""Shared fixtures, and the rules for a test session that itself runs under mpirun."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mpi import SETTINGS

SIZE = int(os.environ.get("OMPI_COMM_WORLD_SIZE", os.environ.get("PMI_SIZE", "1")))

# Before NumPy or PETSc is imported by a test: threads of the BLAS only disturb small problems.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PETSC_OPTIONS"):
    os.environ.setdefault(name, SETTINGS[name])


# folder -> mark of its tests; `make test` runs each of these folders in a stage of its own
FOLDERS = {"parallel": "parallel", "demos": "demo", "packaging": "packaging"}

# Tests of more than ten seconds, the longest first: begun when all others are done, they would
# keep one core busy and the others idle.
LONG = (
    "::test_guide",
    "test_hysteresis.py::test_ranks_and_restarts_between_them_change_nothing",
    "::test_a_layer_of_metal_is_a_plate_of_it",
)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """On several ranks, do not import files without a test for them."""
    if SIZE == 1 or not collection_path.name.startswith("test_"):
        return None
    return True if "collective" not in collection_path.read_text(encoding="utf-8") else None


def place(item: pytest.Item) -> int:
    """Return the place of a test in the order of length, 0 for the longest."""
    found = (k for k, name in enumerate(LONG) if item.nodeid.endswith(name))
    return next(found, len(LONG))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by their folder, long ones first; on several ranks keep those ``collective``."""
    here = Path(__file__).parent
    for item in items:
        folder = item.path.relative_to(here).parts[0]
        for name, mark in FOLDERS.items():
            if folder == name:
                item.add_marker(mark)
            elif item.get_closest_marker(mark):
                raise pytest.UsageError(f"{item.nodeid} is marked {mark}: move it to tests/{name}")
    items.sort(key=place)
    if SIZE > 1:
        chosen = on_ranks(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


def on_ranks(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return what several ranks run: of the rows of each test ``collective`` as many as it says."""
    rows = defaultdict(list)
    for item in items:
        if item.get_closest_marker("collective"):
            rows[item.nodeid.partition("[")[0]].append(item)
    chosen = []
    for of_test in rows.values():
        many = int(of_test[0].get_closest_marker("collective").kwargs.get("rows", 1))
        last = len(of_test) - 1
        places = {round(k * last / max(many - 1, 1)) for k in range(min(many, last + 1))}
        chosen += [of_test[k] for k in sorted(places)]
    return chosen


@pytest.fixture(autouse=True)
def same_options() -> Iterator[None]:
    """Whatever a test sets in PETSc's database, the next one finds it as it was."""
    before = _options()
    yield
    after = _options()
    for name in after.keys() - before.keys():
        sys.modules["petsc4py.PETSc"].Options().delValue(name)


def _options() -> dict[str, str]:
    petsc = sys.modules.get("petsc4py.PETSc")  # not before a test imports it
    return {} if petsc is None else dict(petsc.Options().getAll())


@pytest.fixture
def compiler_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all kernels be optimised: `.ci/cc` does so with small ones alone, and bits differ."""
    monkeypatch.delenv("SYMANCF_CC", raising=False)


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
