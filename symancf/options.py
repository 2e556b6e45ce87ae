# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's database of options: defaults, what the user gave, and what nobody used."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .errors import closest
from .petsc import PETSc

if TYPE_CHECKING:
    from mpi4py import MPI

_petsc = ctypes.CDLL(PETSc.__file__)

# full name -> value of the options that symancf set: the next problem may change them
_ours: dict[str, str] = {}
_read: set[str] = set()  # full names of options that symancf itself asked for

SOLVER = ("ts_", "snes_", "ksp_", "pc_", "mat_", "mg_", "sub_", "fieldsplit_")


def offer(prefix: str, defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, str]:
    """Put options into the database where the command line has none; return what holds.

    Options that an earlier problem of the same prefix put there are taken away: only the
    command line and what the user set in ``PETSc.Options`` go before `given`, which goes before
    `defaults`.

    Parameters
    ----------
    prefix : of the full names.
    defaults, given : name without prefix -> value; None stands for an option without value.
    """
    database = PETSc.Options()
    present = {n: v or "" for n, v in database.getAll().items()}
    for name in [n for n in _ours if n.startswith(prefix)]:
        if present.get(name) == _ours[name] and _belongs(name, prefix):
            database.delValue(name)
            del present[name]
        if name not in present:
            del _ours[name]
    wanted = {**defaults, **{name.removeprefix("-"): value for name, value in given.items()}}
    for name, value in wanted.items():
        full = prefix + name
        if full not in present:
            text = "" if value is None else str(value).lower() if isinstance(value, bool) else value
            database.setValue(full, text)
            _ours[full] = present[full] = database.getAll()[full] or ""
    return {n.removeprefix(prefix): v for n, v in present.items() if _belongs(n, prefix)}


def choice(prefix: str, given: Mapping[str, Any], name: str) -> str | None:
    """Return an option that symancf reads itself: of the command line, else of `given`."""
    full = prefix + name
    _read.add(full)
    present = PETSc.Options().getAll()
    if full in present and present[full] != _ours.get(full):
        return str(present[full])
    value = given.get(name, given.get("-" + name))
    return None if value is None else str(value)


def _belongs(name: str, prefix: str) -> bool:
    """Whether an option is one of a problem's: without prefix, those of a solver."""
    return name.startswith(prefix) if prefix else name.startswith(SOLVER)


def warn_unused(comm: MPI.Comm, prefix: str, given: Mapping[str, Any]) -> None:
    """Warn on rank 0 of options, of the user or the command line, that PETSc never read."""
    database = PETSc.Options()
    wanted = [prefix + name.removeprefix("-") for name in given]
    present = database.getAll()
    wanted += [n for n in present if n not in _ours and _belongs(n, prefix)]
    unused = sorted({n for n in wanted if n in present and not _used(n)})
    if unused and comm.rank == 0:
        read = [n for n in present if _used(n)]
        for name in unused:
            hint = closest(name, read)
            warnings.warn(f"PETSc did not use the option -{name}.{hint}", stacklevel=4)


def _used(name: str) -> bool:
    if name in _read:
        return True
    flag = ctypes.c_int(0)
    text = ctypes.c_char_p(name.encode())
    failed = _petsc.PetscOptionsUsed(None, text, ctypes.byref(flag))
    return bool(failed) or bool(flag.value)


def complaint(error: PETSc.Error) -> str:
    """Return what a PETSc error says, without the calls that led there and the ranks."""
    lines = [line.split("] ", 1)[-1] for line in str(error).splitlines()]
    said = [line for line in lines[1:] if "() at " not in line]
    return "; ".join(said) or lines[0]
