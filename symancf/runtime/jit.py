# SPDX-License-Identifier: BSD-3-Clause
"""Kernels on an MPI communicator: one rank compiles, all ranks load, all fail together.

The only module of the package that imports the compiler.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from weakref import WeakKeyDictionary

from mpi4py import MPI

from symancf_codegen import Kernel, Options, compile_cells, compile_points, declare
from symancf_codegen import errors as codegen_errors
from symancf_codegen.library import cache, measure
from symancf_codegen.library.bind import aligned, batches, incomplete
from symancf_codegen.library.compile import FLAGS, HEADERS, library
from symancf_codegen.library.fingerprint import fingerprint
from symancf_codegen.lower.values import Values
from symancf_codegen.modes import STANDARD

from ..errors import CompileError
from .collective import together
from .shared import Shared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from symancf_codegen.declare import PointLaw, Rule, Space

__all__ = [
    "Kernel",
    "Options",
    "Values",
    "aligned",
    "batches",
    "cells",
    "declare",
    "headers",
    "load_runtime",
    "measure",
    "points",
    "with_modes",
]


class OfPetsc(Protocol):
    """A communicator of petsc4py."""

    def tompi4py(self) -> MPI.Comm:
        """Return it as one of mpi4py."""


Communicator: TypeAlias = "MPI.Comm | OfPetsc | None"


def cells(
    name: str,
    space: Space,
    laws: Sequence[tuple[PointLaw, Rule]],
    comm: Communicator = None,
    *,
    options: Options | None = None,
    modes: Sequence[str] = STANDARD,
) -> Kernel:
    """Return the kernel of a sum of laws on a cell. Collective.

    Parameters
    ----------
    name : C identifier.
    space : shape functions of the cell.
    laws : pairs of law and quadrature rule.
    comm : mpi4py or petsc4py communicator; None for this process alone.
    options : compiler options. The default compiles for the machine of rank 0 and expects
        the same processor on all ranks; on a mixed cluster replace ``-march=native``.
    modes : the kernel's functions, see ``symancf_codegen.modes``.

    Raises
    ------
    CompileError : on every rank, with the same message, whichever rank it arose on.
    """
    chosen = options or Options()
    kernel = _kernel(
        comm,
        chosen,
        lambda: fingerprint(name, space, laws, chosen.stabilise, modes, chosen.single),
        lambda: compile_cells(name, space, laws, chosen, modes),
    )
    _ANEW[kernel] = lambda comm, modes, single, tells: cells(
        name,
        space,
        [(tells(law), rule) for law, rule in laws],
        comm,
        options=replace(chosen, single=single),
        modes=modes,
    )
    return kernel


def points(
    law: PointLaw,
    comm: Communicator = None,
    *,
    name: str = "",
    options: Options | None = None,
    modes: Sequence[str] = STANDARD,
) -> Kernel:
    """Return the kernel of a law on tuples of scalars. Collective; see `cells`.

    Parameters
    ----------
    law : what happens at one tuple.
    comm, options, modes : as in `cells`.
    name : C identifier; by default the law's name.
    """
    chosen = options or Options()
    kernel = _kernel(
        comm,
        chosen,
        lambda: fingerprint(name or law.name, None, [(law, None)], False, modes),
        lambda: compile_points(name or law.name, law, chosen, modes),
    )
    _ANEW[kernel] = lambda comm, modes, single, tells: points(
        tells(law), comm, name=name, options=chosen, modes=modes
    )
    return kernel


def with_modes(
    kernel: Kernel,
    modes: Sequence[str],
    comm: Communicator = None,
    *,
    single: bool = False,
    tells: Callable[[PointLaw], PointLaw] = lambda law: law,
) -> Kernel:
    """Return the kernel of the same laws with other functions (collective).

    Its parameters, unknowns and options are those of `kernel`, which this module has made.

    Parameters
    ----------
    single : in single precision, on cells.
    tells : puts other outputs, of the same parameters, in the place of those of a law.

    Raises
    ------
    CompileError : a law has no such functions, or is not possible in single precision.
    """
    return _ANEW[kernel](comm, tuple(modes), single, tells)


_ANEW: WeakKeyDictionary[
    Kernel,
    Callable[[Communicator, Sequence[str], bool, Callable[[PointLaw], PointLaw]], Kernel],
] = WeakKeyDictionary()


def identifier(name: str) -> str:
    """Return `name` as a C identifier, not too long for the name of a file."""
    return re.sub(r"\W", "_", name, flags=re.ASCII).lstrip("_0123456789")[:100] or "kernel"


def load_runtime(
    source: str | Path, comm: Communicator = None, *, defines: Sequence[str] = ()
) -> ctypes.CDLL:
    """Return the library made of a hand-written C file, through the kernel cache. Collective.

    Parameters
    ----------
    source : path of the C file; it may include symancf_kernel.h, and files by their paths from
        its folder, which become part of its text.
    comm : as in `cells`.
    defines : macros that are defined.

    Raises
    ------
    CompileError : on every rank.
    """
    ranks, path = _ranks(comm), Path(source)
    with _together(ranks):
        if ranks.rank == 0:
            flags = *FLAGS, *(f"-D{name}" for name in defines)
            path = _built(path, flags, from_file=ranks.size > 1)
    if ranks.size > 1:
        path = _here(ranks, ranks.bcast(path))
    with _together(ranks):
        return _loaded(str(path))


def _built(source: Path, flags: tuple[str, ...], from_file: bool) -> Path:
    """Return the library of a C file; `from_file`: others will read it in the cache."""
    text, compiler = _text(source), map(os.environ.get, ("SYMANCF_CC", "CC"))
    key = text, *flags, *compiler, *cache.chosen()
    built = _LIBRARIES.get(key)
    if built is None or (cache.read(built) is None if from_file else not built.exists()):
        built = _LIBRARIES[key] = library(source.stem, text, flags)
    return built


class Library(ctypes.CDLL):
    """A library that says which function it lacks."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError as error:
            if name.startswith("__"):
                raise
            with _together(MPI.COMM_SELF):
                raise incomplete(Path(self._name), name) from error


@functools.cache
def _loaded(path: str) -> Library:
    """Load a library once: each time takes memory that is not given back."""
    return Library(path)


def _text(path: Path) -> str:
    """Return the text of a C file, read anew where it or a file that it includes has changed."""
    times, text = _TEXTS.get(path, ({}, ""))
    if not times or any(_stamp(file) != stamp for file, stamp in times.items()):
        included = {path}
        text = _with_includes(path, included)
        _TEXTS[path] = {file: _stamp(file) for file in included}, text
    return text


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


_LIBRARIES: dict[tuple[str | None, ...], Path] = {}  # by all that they depend on
_TEXTS: dict[Path, tuple[dict[Path, tuple[int, int]], str]] = {}


def _with_includes(path: Path, included: set[Path]) -> str:
    """Return the text of a C file with files found from its folder in the place of #include."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CompileError(f"the C file {path} cannot be read: {error}") from error
    lines = [f'#line 1 "{path.name}"']
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        other = path.parent / match[1] if match else None
        if other is None or not other.is_file():
            lines.append(line)
        elif other not in included:
            included.add(other)
            lines += [_with_includes(other, included), f'#line {number + 1} "{path.name}"']
        else:
            lines.append("")
    return "\n".join(lines) + "\n"


def headers() -> list[Path]:
    """Return the C headers that generated kernels may include."""
    return sorted(HEADERS.glob("symancf_*.h"))


def _kernel(
    comm: Communicator, options: Options, key: Callable[[], str], build: Callable[[], Kernel]
) -> Kernel:
    """Return the kernel of a fingerprint, built by rank 0 unless a term has it already."""
    ranks, identity, present = _ranks(comm), None, None
    with _together(ranks):
        if ranks.rank == 0:
            identity = key(), repr(options), cache.chosen()
            present = _KERNELS.get(identity, build)
    identity = ranks.bcast(identity)
    kernel = present or _KERNELS.find(identity)
    everywhere = all(ranks.allgather(kernel is not None))
    if kernel is not None and everywhere:
        return kernel
    text = present and (present.description, present.source, present.path)
    description, source, path = ranks.bcast(text)
    path = _here(ranks, path)
    with _together(ranks):
        return kernel or _KERNELS.get(identity, lambda: Kernel(description, source, path))


_KERNELS: Shared[Kernel] = Shared()


@contextmanager
def _together(ranks: MPI.Comm) -> Iterator[None]:
    """Let what fails in the compiler on one rank be a `CompileError` of this package on all."""
    with together(ranks):
        try:
            yield
        except CompileError:
            raise
        except codegen_errors.CodegenError as error:
            raise CompileError(str(error), **vars(error)) from error
        except Exception as error:
            text = f"{type(error).__name__} in the compiler of kernels: {error}"
            if isinstance(error, OSError):
                text += "; `symancf cache clear` has all kernels compiled again"
            raise CompileError(text) from error


def _ranks(comm: Communicator) -> MPI.Comm:
    """Return a communicator of mpi4py, that of this process alone for None."""
    if comm is None:
        return MPI.COMM_SELF
    own: MPI.Comm = comm.tompi4py() if hasattr(comm, "tompi4py") else comm
    return own


def _here(ranks: MPI.Comm, path: Path) -> Path:
    """Return where a library of rank 0's cache is in that of this rank (collective).

    Caches may be folders of each machine's own: where the library is missing its bytes come from
    rank 0, and one rank of each machine writes them.
    """
    own, missing = path, False
    with _together(ranks):
        own = cache.folder(tell=ranks.rank == 0) / path.name
        missing = cache.read(own) is None
    if not any(ranks.allgather(missing)):
        return own
    content: bytes | None = None
    with _together(ranks):
        if ranks.rank == 0:
            content = cache.read(path)
            if content is None:
                raise CompileError(
                    f"{path} has vanished; `symancf cache clear` repairs it", asked=path.name
                )
    content = ranks.bcast(content, root=0)
    assert content is not None
    with _together(ranks):
        if missing:
            with cache.locked(own):
                if cache.read(own) is None:  # no other rank of this machine has written it
                    cache.write(own, content)
    return own
