# SPDX-License-Identifier: BSD-3-Clause
"""PETSc, initialised with the command line, so that its options reach the solvers."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import weakref
from functools import cache
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

import numpy as np
import petsc4py

# PETSc's own signal handler would turn a closed pipe (`symancf verify | head`) into an abort
_ARGUMENTS = [a for a in sys.argv[1:] if a not in ("-h", "-help", "--help")]
# Newer PETSc ends a run by naming on stdout the words of the command line that it did not read, a
# script's own among them; symancf warns of options of solvers itself
_QUIET = [] if any(a.startswith("-options_left") for a in _ARGUMENTS) else ["-options_left", "no"]
petsc4py.init([sys.argv[0], *_QUIET, *_ARGUMENTS, "-no_signal_handler"])

from mpi4py import MPI  # noqa: E402
from petsc4py import PETSc  # noqa: E402

from ..errors import SymancfError  # noqa: E402
from . import log  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: what a function that PETSc calls returns where it failed
ERR_USER = 83

__all__ = [
    "ERR_USER",
    "Callbacks",
    "PETSc",
    "collect",
    "functions",
    "handle",
    "has",
    "keep",
    "limit_threads",
    "loosely",
    "own",
    "printing",
    "release",
]

#: PETSc's library by ctypes, for what petsc4py does not wrap; it holds PETSc's BLAS, too.
functions = ctypes.CDLL(PETSc.__file__)
#: The same for what prints: petsc4py may have that done by Python, where standard output is another
#: (notebooks), and does not ask for Python's lock, which others of these calls give up.
printing = ctypes.PyDLL(PETSc.__file__)

P = ParamSpec("P")
T = TypeVar("T")

_references: int = MPI.Comm.Create_keyval()

#: Variables by which users say how many threads a BLAS shall have.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def limit_threads(environment: Mapping[str, str]) -> str:
    """Give the BLAS of PETSc one thread, unless the environment says otherwise.

    Ranks fill the cores already: more threads wait for work by turning in circles. PETSc's own
    handle finds the BLAS that PETSc uses, and not that of NumPy's wheel. Returns the function
    that was called, or an empty text.
    """
    if any(environment.get(name) for name in THREADS):
        return ""
    names = ("openblas_set_num_threads", "MKL_Set_Num_Threads", "bli_thread_set_num_threads")
    for name in names:
        limit = getattr(functions, name, None)
        if limit is not None:
            limit(1)
            return name
    return ""


#: Bytes of an array whose memory goes back to the machine as soon as it is freed.
LARGE_ARRAY = 8 << 20
_MMAP_THRESHOLD, _MMAP_MAX = -3, -4  # parameters of glibc's mallopt
_MOST_MAPPED = 1 << 16  # glibc's own limit of such arrays

_glibc = ctypes.CDLL(None)
_trim = getattr(_glibc, "malloc_trim", None)


def map_large_arrays() -> bool:
    """Let large arrays have pages of their own; tell whether it is so, as with glibc.

    Open MPI tells glibc to keep all memory that is freed, in one piece of addresses: there what is
    freed lies between what is not, and the largest array to come finds no room in it.
    """
    set_ = getattr(_glibc, "mallopt", None)
    if set_ is None:
        return False
    return bool(set_(_MMAP_MAX, _MOST_MAPPED) and set_(_MMAP_THRESHOLD, LARGE_ARRAY))


def release() -> None:
    """Return freed memory to the machine: Open MPI tells glibc to keep what is small."""
    if _trim is not None:
        _trim(ctypes.c_size_t(0))


limit_threads(os.environ)
map_large_arrays()
log.register(PETSc.Log)


#: SNES: the residual is no number, DIVERGED_FNORM_NAN (of newer PETSc DIVERGED_FUNCTION_NANORINF).
NOT_FINITE = -4


@cache
def has(package: str) -> bool:
    """Tell whether PETSc was built with a package."""
    try:
        return bool(PETSc.Sys.hasExternalPackage(package))
    except (AttributeError, PETSc.Error):
        return package in ("mumps",)


def handle(comm: MPI.Comm) -> ctypes.c_int | ctypes.c_void_p:
    """Return a communicator as C functions take it."""
    kind = ctypes.c_int if MPI._sizeof(comm) == 4 else ctypes.c_void_p
    return kind.from_address(MPI._addressof(comm))


def keep(comm: MPI.Comm) -> list[tuple[weakref.ref[object], PETSc.Object]]:
    """Have PETSc keep its own duplicate of a communicator; return what `own` added to it.

    PETSc frees the duplicate with the last of its objects, and Python's ranks let go of objects
    at different times: one rank would make a new duplicate and wait for the others. Collective at
    the first call.
    """
    owned = comm.Get_attr(_references)
    if owned is None:
        pointer = ctypes.c_void_p()
        functions.PetscCommDuplicate(handle(comm), ctypes.byref(pointer), None)
        owned = []
        comm.Set_attr(_references, owned)
    return cast("list[tuple[weakref.ref[object], PETSc.Object]]", owned)


def own(comm: MPI.Comm, thing: PETSc.Object, owner: object) -> None:
    """Have an object of PETSc destroyed when its owner is gone on every rank (collective).

    PETSc's own list of objects that Python has let go misses those that another object of PETSc
    held to the last on some ranks.
    """
    if comm.size > 1:
        keep(comm).append((weakref.ref(owner), thing))


def disown(comm: MPI.Comm, thing: PETSc.Object) -> None:
    """Destroy an object that its owner replaces (collective)."""
    if comm.size > 1:
        owned = keep(comm)
        owned[:] = [pair for pair in owned if pair[1] is not thing]
    thing.destroy()


def collect(comm: MPI.Comm) -> None:
    """Destroy PETSc's objects that Python has let go (collective).

    With several ranks they wait for this, those of a rank alone (`COMM_SELF`) too.
    """
    owned = keep(comm)
    released = np.array([owner() is None for owner, _ in owned], dtype=np.int32)
    comm.Allreduce(MPI.IN_PLACE, released, MPI.MIN)
    for (_, thing), is_gone in zip(owned, released, strict=True):
        if is_gone:
            thing.destroy()
    owned[:] = [pair for pair, is_gone in zip(owned, released, strict=True) if not is_gone]
    collects = gc.isenabled()
    gc.disable()  # PETSc would lose what Python lets go while it destroys
    try:
        PETSc.garbage_cleanup(PETSc.COMM_SELF)
        PETSc.garbage_cleanup(comm)
    finally:
        if collects:
            gc.enable()


class Callbacks:
    """Functions that PETSc calls: no exception of theirs crosses it.

    Attributes
    ----------
    error : the first exception of one of them, but those of PETSc; None: there was none.
    """

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def guard(self, function: Callable[P, object]) -> Callable[P, int]:
        """Return a function that calls another, and returns 0, or an error code of PETSc."""

        def call(*arguments: P.args, **options: P.kwargs) -> int:
            try:
                function(*arguments, **options)
            except PETSc.Error as error:  # as of zero pivots; who has called PETSc sees it
                return int(error.ierr)
            except BaseException as error:
                self.error = self.error or error
                return ERR_USER
            return 0

        return call


def loosely(method: Callable[P, T]) -> Callable[P, T]:
    """Return a bound method that does not keep its object alive.

    PETSc's objects hold their callbacks where Python does not look for cycles.
    """
    reference = weakref.WeakMethod(method)

    def call(*arguments: P.args, **options: P.kwargs) -> T:
        bound = reference()
        if bound is None:
            raise SymancfError(
                "the problem that this solver belongs to is gone; a copy of a problem cannot take "
                "its place: make a problem of the system"
            )
        return bound(*arguments, **options)

    return call
