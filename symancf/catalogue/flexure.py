# SPDX-License-Identifier: BSD-3-Clause
"""Flexures are in `symancf.extensions.flexure`; this name goes with the next minor version."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from ..errors import unknown_names
from ..runtime.registry import extension


def __getattr__(name: str) -> Any:
    flexure = import_module(extension("Flexure").__module__.rpartition(".")[0])
    if name not in flexure.__all__:
        return unknown_names(__name__, flexure.__all__)(name)
    warnings.warn(
        f"{__name__} is {flexure.__name__} now: import {name} from there",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(flexure, name)
