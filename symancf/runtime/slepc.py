# SPDX-License-Identifier: BSD-3-Clause
"""SLEPc, where it is installed for the PETSc in use."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import petsc4py

from .petsc import PETSc

if TYPE_CHECKING:
    from types import ModuleType

REMEDY = "Debian: sudo apt-get install python3-slepc4py; with a PETSc of pip: pip install slepc4py"


def folder_beside(petsc: Path) -> Path | None:
    """Return the folder of slepc4py that belongs to a folder of petsc4py, if it has one of its own.

    Debian keeps both in folders beside each other, ``/usr/lib/petscdir/petsc3.18/.../petsc4py`` and
    ``/usr/lib/slepcdir/slepc3.18/.../slepc4py``, of which Python knows neither.
    """
    parts = petsc.resolve().parts
    beside = [
        part.replace("petsc", "slepc") if part.startswith("petsc") and part != "petsc4py" else part
        for part in parts[:-1]
    ]
    folder = Path(*beside) if list(parts[:-1]) != beside else None
    return folder if folder is not None and (folder / "slepc4py").is_dir() else None


@cache
def slepc() -> tuple[ModuleType | None, str]:
    """Return the module ``slepc4py.SLEPc``, or None and why there is none."""
    added = ""
    if find_spec("slepc4py") is None:
        place = folder_beside(Path(petsc4py.__file__).parent)
        if place is None:
            return None, "slepc4py is not installed"
        added = str(place)
        sys.path.append(added)
    try:
        package = import_module("slepc4py")
        package.init([])
        module = import_module("slepc4py.SLEPc")
    except (ImportError, RuntimeError) as error:
        return None, f"slepc4py cannot be loaded: {str(error).splitlines()[0]}"
    finally:
        if added:
            sys.path.remove(added)
    ours, its = PETSc.Sys.getVersion()[:2], module.Sys.getVersion()[:2]
    if ours != its:
        names = [".".join(map(str, version)) for version in (its, ours)]
        return None, f"slepc4py is of SLEPc {names[0]}, PETSc is {names[1]}"
    return module, ""
