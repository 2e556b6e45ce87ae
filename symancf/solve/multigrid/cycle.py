# SPDX-License-Identifier: BSD-3-Clause
"""A cycle of PETSc's PCMG over levels of multigrid: shells that work in single precision."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, pointer
from ...errors import SymancfError
from ...runtime.petsc import Callbacks, PETSc, disown, functions, own, printing
from . import structures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mpi4py import MPI

_MULT, _MULT_ADD = 3, 4  # of MatOperation
_View = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_OTHER_CYCLES = ("type", "cycle_type", "multiplicative_cycles")  # options
_CALLED = (
    "VecGetArrayRead",
    "VecRestoreArrayRead",
    "VecGetArray",
    "VecRestoreArray",
    "MatShellGetContext",
    "PCShellGetContext",
    "PetscObjectGetId",
    "PetscObjectStateGet",
)


def print_to(viewer: int, line: str) -> None:
    """Print a line to a viewer of PETSc's, by its address (collective)."""
    text = f"{line}\n".encode()
    printing.PetscViewerASCIIPrintf(ctypes.c_void_p(viewer), b"%s", text)


def _handle(thing: PETSc.Object) -> ctypes.c_void_p:
    return ctypes.c_void_p(thing.handle)


class Cycle:
    """PETSc's multigrid whose smoothers, residuals, restriction and interpolation are ours.

    Levels that all ranks hold have as many rows for each of them.

    Parameters
    ----------
    rows : of this rank at each level, the finest first.
    hierarchy : of these levels; it and what it names must live as long.
    prefix : of the options, which are those of ``-pc_type mg``.
    tell : returns a line about a level (collective).
    rooms : of each level, memory of as many rows that PETSc may have between two calls.

    Attributes
    ----------
    pc : the preconditioner.

    Raises
    ------
    SymancfError : options ask for another preconditioner, or number of levels.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        comm: MPI.Comm,
        rows: Sequence[int],
        hierarchy: structures.Hierarchy,
        prefix: str,
        tell: Callable[[int], str],
        rooms: Sequence[Array],
    ) -> None:
        calls = (ctypes.cast(getattr(functions, name), ctypes.c_void_p) for name in _CALLED)
        library.symancf_connect(ctypes.byref(structures.Petsc(*calls)))
        self._library, self._comm, self._rows = library, comm, list(rows)
        self._tell = weakref.WeakMethod(tell)
        self._shells = [structures.Shell(ctypes.pointer(hierarchy), k) for k in range(len(rows))]
        self._views: list[object] = []
        self.pc = PETSc.PC().create(comm)
        own(comm, self.pc, self)
        self.pc.setOptionsPrefix(prefix)
        self.pc.setType(PETSc.PC.Type.MG)
        self.pc.setMGLevels(len(rows))
        self.pc.setFromOptions()
        self._require(prefix)
        # only V-cycles begin with zero at each level
        self._zero = not any(PETSc.Options(prefix).hasName(f"pc_mg_{k}") for k in _OTHER_CYCLES)
        self._plain = not PETSc.Options(prefix).getAll()
        hierarchy.plain = int(self._plain)
        self._rooms = rooms
        for level in range(len(rows)):
            self._make(level)
        finest = self.pc.getOperators()[0]
        self._b, self._x = (self._vector(finest) for _ in range(2))
        if self._plain:
            self.pc.setUp()
            for number in range(1, len(rows)):  # the level has the guess, whatever PCMG thinks
                self.pc.getMGSmootherUp(number).setInitialGuessNonzero(False)

    def _require(self, prefix: str) -> None:
        kind, levels = self.pc.getType(), 0
        if kind == PETSc.PC.Type.MG:
            levels = self.pc.getMGLevels()
        if levels != len(self._rows):
            option = f"{levels} levels" if levels else f"-{prefix}pc_type {kind}"
            raise SymancfError(
                f"multigrid on grids is -{prefix}pc_type mg with {len(self._rows)} levels here; "
                f"options ask for {option}",
                asked=f"-{prefix}{'pc_mg_levels' if levels else 'pc_type'}",
                given=levels or str(kind),
                possible=(len(self._rows),) if levels else ("mg",),
            )

    def _make(self, level: int) -> None:
        """Give PCMG a level, the finest being 0 (collective)."""
        last, number = len(self._rows) - 1, len(self._rows) - 1 - level
        matrix = self._matrix(level, level, {_MULT: "product"})
        if level == 0:
            self.pc.setOperators(matrix)
        if level == last:
            coarse = self.pc.getMGCoarseSolve()
            coarse.setOperators(matrix)
            self._shell(coarse.getPC(), level, "inverses", {"Apply": "solve"})
            return
        again = f"smooth_{8 * PETSc.IntType().itemsize}"
        down, up = self.pc.getMGSmootherDown(number), self.pc.getMGSmootherUp(number)
        down.setInitialGuessNonzero(not self._zero)
        for ksp, once in ((down, self._zero), (up, self._plain)):
            # without a guess there is no need of further vectors
            ksp.setType(PETSc.KSP.Type.PREONLY if once else PETSc.KSP.Type.RICHARDSON)
            ksp.setNormType(PETSc.KSP.NormType.NONE)
            ksp.setTolerances(max_it=1)
            ksp.setOperators(matrix)
            first = "smooth_on" if ksp is up and self._plain else "smooth"
            calls = {"Apply": first, "ApplyRichardson": again}
            self._shell(ksp.getPC(), level, "Chebyshev's polynomial", calls)
        if self._plain:
            r = self._vector(matrix)
            functions.VecPlaceArray(_handle(r), pointer(self._rooms[level]))
            functions.PCMGSetR(_handle(self.pc), number, _handle(r))
        residual = self._call("residual")
        functions.PCMGSetResidual(_handle(self.pc), number, residual, _handle(matrix))
        self.pc.setMGRestriction(number, self._matrix(level + 1, level, {_MULT: "restrict"}))
        prolong = {_MULT: "prolong", _MULT_ADD: "prolong_add"}
        interpolation = self._matrix(level, level + 1, prolong)
        self.pc.setMGInterpolation(number, interpolation)

    def _call(self, name: str) -> ctypes.c_void_p:
        return ctypes.cast(getattr(self._library, f"symancf_{name}"), ctypes.c_void_p)

    def _matrix(self, to: int, of: int, calls: Mapping[int, str]) -> PETSc.Mat:
        """Return a matrix between the rows of two levels that calls functions of C."""
        mat = PETSc.Mat().create(self._comm)
        mat.setSizes(((self._rows[to], None), (self._rows[of], None)))
        mat.setType(PETSc.Mat.Type.SHELL)
        mat.setUp()
        functions.MatShellSetContext(_handle(mat), ctypes.byref(self._shells[min(to, of)]))
        for operation, name in calls.items():
            functions.MatShellSetOperation(_handle(mat), operation, self._call(name))
        return mat

    def _shell(self, pc: PETSc.PC, level: int, name: str, calls: Mapping[str, str]) -> None:
        """Let a preconditioner of a level call functions of C."""
        pc.setType(PETSc.PC.Type.SHELL)
        functions.PCShellSetName(_handle(pc), name.encode())
        functions.PCShellSetContext(_handle(pc), ctypes.byref(self._shells[level]))
        for what, function in calls.items():
            getattr(functions, f"PCShellSet{what}")(_handle(pc), self._call(function))
        tell = self._tell

        def view(pc: int, viewer: int) -> None:
            text = tell()
            if text is not None:
                print_to(viewer, f"  {text(level)}")

        self._views.append(_View(Callbacks().guard(view)))
        functions.PCShellSetView(_handle(pc), self._views[-1])

    @staticmethod
    def _vector(matrix: PETSc.Mat) -> PETSc.Vec:
        """Return a vector of a level whose numbers are others' whenever it is used."""
        vector = matrix.createVecRight()
        nothing, memory = ctypes.c_char_p(b"symancf"), ctypes.c_void_p()
        size = ctypes.c_size_t(8)
        if not functions.PetscMallocA(1, 0, 0, nothing, nothing, size, ctypes.byref(memory)):
            functions.VecReplaceArray(_handle(vector), memory)
        return vector

    def apply(self, r: ctypes.c_void_p, z: ctypes.c_void_p) -> None:
        """Write a cycle from zero for rows r to z, by addresses (collective)."""
        pairs = [(ctypes.c_void_p(v.handle), a) for v, a in ((self._b, r), (self._x, z))]
        for vector, array in pairs:
            functions.VecPlaceArray(vector, array)
        code = functions.PCApply(_handle(self.pc), *(vector for vector, _ in pairs))
        for vector, _ in pairs:
            functions.VecResetArray(vector)
        if code:
            raise PETSc.Error(code)

    def destroy(self) -> None:
        """Give PETSc's part back (collective)."""
        disown(self._comm, self.pc)


def numbers_at(address: ctypes.c_void_p, size: int) -> Array:
    """Return the numbers at an address."""
    if not size:
        return np.zeros(0)
    return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address.value or 0))
