# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners of Krylov solvers: multigrid of the entries that a tangent has."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from mpi4py import MPI

from ..assembly.half import Half
from ..assembly.matrix_free import MatrixFree
from ..assembly.rounded import Rounded
from ..assembly.shell import Shell
from ..assembly.subdomains import Subdomains
from ..errors import SymancfError
from ..runtime.collective import together
from ..runtime.log import EVENTS
from ..runtime.petsc import Callbacks, PETSc, functions, release
from . import bddc
from .bordered import Bordered
from .fixed_solver import FIXED, FixedSolver
from .multigrid import (
    GRIDS,
    OPTIONS,
    GridNodes,
    Multigrid,
    PMultigrid,
    Products,
    has_others,
    nodes_of,
    numbers_at,
    register_pc,
)
from .saddle import Saddle
from .updated_rows import UPDATED, UpdatedRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array
    from ..assembly.discrete import DiscreteSystem
    from ..assembly.matrix import Matrix

_Mult = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_Solve = ctypes.CFUNCTYPE(ctypes.c_int, *4 * (ctypes.c_void_p,))
_SetUp = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_View = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

MOST_BORDERS = 16  # pressures of gas that are eliminated, with a cycle for each in every tangent

register_pc()

_Preconditioners = tuple[list[object], bool, list["GridNodes | str"]]
_nodes: WeakKeyDictionary[DiscreteSystem, _Preconditioners] = WeakKeyDictionary()


def over_nodes(system: DiscreteSystem, alone: bool = True) -> GridNodes | str:
    """Return the nodes that grids can be laid over, or why there can be none (collective).

    They are found once for each numbering of rows, and lists of entities, which join bodies.

    Parameters
    ----------
    alone : whether the system may have no other unknowns.
    """
    cached, rows = _nodes.get(system), system.numbering.row_count
    now: list[object] = [rows, *(form.vertices for form in system.forms)]
    same = cached is not None and all(a is b for a, b in zip(cached[0], now, strict=True))
    if cached is None or not system.comm.allreduce(same, op=MPI.LAND):
        cached = _nodes[system] = now, has_others(system.numbering), []
    if alone and cached[1]:
        return "nodes have other unknowns than their three displacements"
    if not cached[2]:
        cached[2].append(nodes_of(system.numbering, system.forms, system.reference))
    return cached[2][0]


def bordered(system: DiscreteSystem) -> bool:
    """Tell whether `Bordered` serves: gas, in few cavities (collective)."""
    numbering = system.numbering
    if not has_gas(system) or isinstance(over_nodes(system, alone=False), str):
        return False
    pressures = numbering.those("algebraic")[numbering.coordinate_of_row]
    return bool(system.sum(np.array([float(pressures.sum())]))[0] <= MOST_BORDERS)


def has_gas(system: DiscreteSystem) -> bool:
    """Whether there are pressures of gas beside displacements of nodes, and nothing else."""
    blocks = system.numbering.blocks
    gas = [block.kind == "algebraic" and block.sums for block in blocks]
    others = {block.name for block, is_gas in zip(blocks, gas, strict=True) if not is_gas}
    return any(gas) and others == {"position"}


def without_aij(system: DiscreteSystem, method: str, preconditioner: str) -> bool:
    """Tell whether the tangent needs not be PETSc's AIJ (collective).

    So it is with multigrid on grids over nodes without other unknowns than few pressures of gas, in
    methods whose residual needs no norm of the tangent; `ksp_type` and `pc_type`.
    """
    if preconditioner != GRIDS or method not in ("cg", "gmres", "fgmres"):
        return False
    return not isinstance(over_nodes(system), str) or bordered(system)


class Preconditioner:
    """The preconditioner of a KSP, made of a tangent's entries.

    ``pc_type grids`` is `symancf.solve.multigrid`; products of the tangent are its own then, too.
    GAMG smooths with the entries in single precision, but for PETSc's option ``pc_use_amat`` 0,
    with which it smooths with the matrix that it is made of; others are PETSc's.

    Parameters
    ----------
    matrix : whose entries these are; `Half` and `MatrixFree` are for ``grids`` alone,
        `Subdomains` for ``bddc``.
    symmetric : whether the entries are.

    Attributes
    ----------
    fixed, rows : of ``pc_type fixed`` and ``updated``, else None.
    """

    def __init__(
        self,
        system: DiscreteSystem,
        matrix: Matrix | Half | MatrixFree | Subdomains,
        ksp: PETSc.KSP,
        symmetric: bool,
    ) -> None:
        self._system, self._matrix, self._ksp = system, matrix, ksp
        self._symmetric = symmetric
        self.fixed: FixedSolver | None = None
        self.rows: UpdatedRows | None = None
        self._rounded: tuple[Rounded, Shell] | None = None
        self._multigrid: Multigrid | PMultigrid | Saddle | Bordered | None = None
        self._products: Products | None = None
        self.callbacks = Callbacks()
        self._coarse, self._plain = True, False
        guard = self.callbacks.guard
        self._calls = (
            _SetUp(guard(self._set_up)),
            _Mult(guard(self._apply)),
            _View(guard(self._view)),
        )
        self._around = _Solve(guard(self._begin)), _Solve(guard(self._end))
        self._before = _Solve(guard(self.begin))

    def attach(self) -> None:
        """Give the KSP the preconditioner that its options have chosen (collective).

        GMRES gets it from the right: it ends by the norm of the residual, of which the tolerances
        of Newton's method are. Preconditioned the residual may hide the stiff directions.
        """
        options = PETSc.Options(self._ksp.getOptionsPrefix())
        ours = not (options.hasName("ksp_pc_side") or options.hasName("ksp_norm_type"))
        if ours and self._ksp.getType() == PETSc.KSP.Type.GMRES:
            self._ksp.setPCSide(PETSc.PC.Side.RIGHT)
        if self._ksp.getPC().getType() == FIXED:
            self.fixed = FixedSolver(self._entries, self._ksp, self._symmetric)
        if self._ksp.getPC().getType() == UPDATED:
            friction = self._system.friction
            self.rows = UpdatedRows(self._system, self._entries, self._ksp, friction)
        if isinstance(self._matrix, Subdomains):
            bddc.attach(self._ksp.getPC(), self._matrix)
        if not self.grids:
            return
        self._plain = not options.hasName("ksp_cg_single_reduction")
        functions.KSPSetPreSolve(ctypes.c_void_p(self._ksp.handle), self._before, None)
        handle = ctypes.c_void_p(self._ksp.getPC().handle)
        functions.PCShellSetSetUp(handle, self._calls[0])
        functions.PCShellSetApply(handle, self._calls[1])
        functions.PCShellSetView(handle, self._calls[2])
        functions.PCShellSetPreSolve(handle, self._around[0])
        functions.PCShellSetPostSolve(handle, self._around[1])
        functions.PCShellSetName(handle, b"multigrid on grids over the nodes")

    @property
    def _entries(self) -> Matrix:
        """The tangent as PETSc's AIJ."""
        if isinstance(self._matrix, Half | MatrixFree | Subdomains):
            return self._system.matrix
        return self._matrix

    @property
    def matrix(self) -> PETSc.Mat:
        """The tangent's entries, for other preconditioners."""
        return self._entries.mat

    def use(self, matrix: Matrix | Half | MatrixFree | Subdomains) -> None:
        """Be made of another tangent from now on (collective)."""
        self.release()
        self._matrix = matrix

    def release(self) -> None:
        """Give back the memory of levels; they are made anew where needed (collective)."""
        if self.multigrid is not None:
            self.multigrid.cycle.destroy()
        self._multigrid, self._coarse = None, True

    @property
    def _prefix(self) -> str:
        return (self._ksp.getOptionsPrefix() or "") + OPTIONS

    @property
    def grids(self) -> bool:
        """Whether it is `symancf.solve.multigrid`."""
        return bool(self._ksp.getPC().getType() == GRIDS)

    @property
    def multigrid(self) -> Multigrid | None:
        """That of ``grids`` once it was set up."""
        levels = self._multigrid
        if isinstance(levels, PMultigrid):
            return levels.corners
        return levels.multigrid if isinstance(levels, Saddle | Bordered) else levels

    def renew(self, operator: PETSc.Mat, coarse: bool = True) -> None:
        """Take the present entries of the tangent (collective).

        Parameters
        ----------
        operator : that the KSP solves with.
        coarse : make the coarse matrices of ``grids``, too, else they stay as they are. Without
            this call they are made anew wherever PETSc finds other entries.
        """
        if self.fixed is not None:
            self._ksp.setOperators(operator, self._entries.mat)
            self.fixed.renew()
            return
        smoothed = None if self.grids else self._smoothed()
        if smoothed is not None:
            self._ksp.setOperators(smoothed, self._entries.mat)
            self._ksp.setUp()
        self._ksp.setOperators(operator, self._matrix.mat)
        if self.grids:
            self._coarse = coarse
            try:
                self._ksp.setUp()
            except PETSc.Error as error:
                raise self.callbacks.error or error from error

    def take_over(self) -> bool:
        """Let factors take the place of a cycle that does not serve; see `Saddle.take_over`."""
        return isinstance(self._multigrid, Saddle) and self._multigrid.take_over()

    def _choose(self) -> Multigrid | PMultigrid | Saddle | Bordered:
        nodes = over_nodes(self._system)
        if isinstance(nodes, str):
            others = over_nodes(self._system, alone=False)
            if not isinstance(others, str):
                if isinstance(self._matrix, Half):
                    return Bordered(self._matrix, others, self._symmetric, self._prefix)
                return Saddle(self._system, self._entries, others, self._symmetric, self._prefix)
            raise SymancfError(
                f"there is no preconditioner {GRIDS!r}: {nodes}", asked="-pc_type", given=GRIDS
            )
        if isinstance(self._matrix, MatrixFree):
            return PMultigrid(self._matrix, nodes, self._prefix)
        assert not isinstance(self._matrix, Subdomains)
        multigrid = Multigrid(self._matrix, nodes, self._symmetric, self._prefix)
        if not isinstance(self._matrix, Half):
            self._products = Products(self._matrix, multigrid.levels[0].pattern)
        return multigrid

    def _smoothed(self) -> PETSc.Mat | None:
        """Return what GAMG multiplies with, or None where that is what it is made of."""
        multiplies = ctypes.c_int(0)
        functions.PCGetUseAmat(ctypes.c_void_p(self._ksp.getPC().handle), ctypes.byref(multiplies))
        if not multiplies.value:
            return None
        with together(self._matrix.comm):
            if self._rounded is None:
                rounded = Rounded(self._entries)
                self._rounded = rounded, Shell(self._matrix.numbering, rounded.multiply)
            self._rounded[0].renew()
        mat = self._rounded[1].mat
        mat.stateIncrease()
        return mat

    # ---- callbacks: never let an exception cross PETSc ------------------------------------------
    def _set_up(self, pc: int) -> None:
        """Follow the entries, when PETSc finds that they have changed (collective)."""
        with EVENTS["hierarchy"]:
            if self._multigrid is None or self._multigrid.revision != self._matrix.revision:
                self._multigrid = self._choose()
                release()  # what finding its structure took
            self._multigrid.renew(self._coarse)
        self._coarse = True

    def _apply(self, pc: int, r: int, z: int) -> None:
        assert self._multigrid is not None
        source, to = ctypes.c_void_p(), ctypes.c_void_p()
        functions.VecGetArrayRead(ctypes.c_void_p(r), ctypes.byref(source))
        functions.VecGetArray(ctypes.c_void_p(z), ctypes.byref(to))
        with EVENTS["cycle"]:
            self._multigrid.apply(source, to)
        functions.VecRestoreArrayRead(ctypes.c_void_p(r), ctypes.byref(source))
        functions.VecRestoreArray(ctypes.c_void_p(z), ctypes.byref(to))

    def begin(self, *solution: int | None) -> None:
        """Let CG have its vectors before a solution, whatever its preconditioner is by now.

        For who takes the place of this in the KSP.
        """
        self._give_vectors(3)  # of PETSc's CG without its variants

    def _begin(self, pc: int, ksp: int, b: int, x: int) -> None:
        if isinstance(self._multigrid, Bordered):
            right = ctypes.c_void_p(b)
            with _written(right, self._matrix.numbering.rows) as numbers:
                self._multigrid.begin(self._ksp.getOperators()[0], numbers)

    def _give_vectors(self, number: int) -> None:
        """Let CG have its vectors of rows, or none: other work needs room between solutions."""
        if self._plain and self._ksp.getType() == PETSc.KSP.Type.CG:
            functions.KSPSetWorkVecs(ctypes.c_void_p(self._ksp.handle), number)

    def _end(self, pc: int, ksp: int, b: int, x: int) -> None:
        self._give_vectors(0)
        if isinstance(self._multigrid, Bordered):
            rows = self._matrix.numbering.rows
            right, solution = (_written(ctypes.c_void_p(v), rows) for v in (b, x))
            with right as numbers, solution as unknowns:
                self._multigrid.end(numbers, unknowns)

    def _view(self, pc: int, viewer: int) -> None:
        if self._multigrid is not None:
            self._multigrid.view(viewer)

    @property
    def error(self) -> BaseException | None:
        """What a callback raised, if any."""
        rounded = None if self._rounded is None else self._rounded[1]
        parts = (self, self._products, rounded, self.fixed, self.rows)
        found = [part.callbacks.error for part in parts if part is not None]
        half = self._matrix.error if isinstance(self._matrix, Half | MatrixFree) else None
        return next(filter(None, [*found, half]), None)


@contextmanager
def _written(vector: ctypes.c_void_p, size: int) -> Iterator[Array]:
    """Give the numbers of a vector of PETSc to write to."""
    at = ctypes.c_void_p()
    functions.VecGetArray(vector, ctypes.byref(at))
    try:
        yield numbers_at(at, size)
    finally:
        functions.VecRestoreArray(vector, ctypes.byref(at))
