# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of these tests are compiled into a cache of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("SYMANCF_CACHE")
    os.environ["SYMANCF_CACHE"] = str(tmp_path_factory.mktemp("kernels"))
    yield
    if before is None:
        del os.environ["SYMANCF_CACHE"]
    else:
        os.environ["SYMANCF_CACHE"] = before
