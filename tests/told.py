# SPDX-License-Identifier: BSD-3-Clause
"""Warnings in tests that run on several ranks."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from mpi4py import MPI


def told(match: str) -> AbstractContextManager[Any]:
    """Expect a warning of rank 0, which alone warns of what all ranks find."""
    return nullcontext() if MPI.COMM_WORLD.rank else pytest.warns(UserWarning, match=match)
