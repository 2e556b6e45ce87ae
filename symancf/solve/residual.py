# SPDX-License-Identifier: BSD-3-Clause
"""Whether what a linear solver has found solves the equations."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import TYPE_CHECKING

from ..runtime import jit
from ..runtime.petsc import Callbacks, PETSc, functions, loosely
from ..runtime.structures import declared
from .solver import solver_name

if TYPE_CHECKING:
    from ..assembly.discrete import DiscreteSystem
    from ..runtime.options import SolverOptions

NEGLIGIBLE_RESIDUAL = 1e-6  # of |b|: a residual that no Newton's method notices
RESIDUAL_ROUND_OFF = 1e-13  # of |A| |x| + |b|: what round-off leaves, 1e-15, and growth of entries
REPORTED_RESIDUAL = 1e-3  # of |b|: a residual that was improved, and is told
MOST_ITERATIONS = 30  # iterations of FGMRES with the factors
SYMMETRIC = ("cg", "minres", "symmlq", "cr")  # Krylov's methods that are for such matrices alone

_Improve = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_HERE = Path(__file__)
_STRUCTURE = declared(_HERE.with_name("residual.h"))["symancf_residual"]
_FUNCTIONS = {
    "reason": "KSPGetConvergedReason",
    "type": "KSPGetType",
    "operators": "KSPGetOperators",
    "multiply": "MatMult",
    "subtract": "VecAYPX",
    "norm": "VecNorm",
    "matrix_norm": "MatNorm",
    "right": "KSPGetRhs",
    "build": "KSPBuildResidual",
}
_REASONS, _KINDS = PETSc.KSP.ConvergedReason, PETSc.PC.Type


def residual_ratio(
    A: PETSc.Mat, b: PETSc.Vec, x: PETSc.Vec, entries: PETSc.Mat | None = None
) -> float:
    """Return |b - A x| / |b|, or 0 where x is a solution, see `LinearResidual` (collective).

    `entries`: those of A, if that only multiplies.
    """
    r = b.duplicate()
    A.mult(x, r)
    r.aypx(-1.0, b)
    rest, size = r.norm(), b.norm()
    r.destroy()
    if rest <= NEGLIGIBLE_RESIDUAL * size:
        return 0.0
    norm = (entries or A).norm(PETSc.NormType.FROBENIUS)
    return 0.0 if rest <= RESIDUAL_ROUND_OFF * (norm * x.norm() + size) else float(rest / size)


class LinearResidual:
    r"""Looks at the residual of each solution of a KSP; improves one that is none.

    A direct solver has solved :math:`A x = b` where

    .. math:: \|b - A x\| \le 10^{-6}\, \|b\| \quad \text{or} \quad
        \|b - A x\| \le 10^{-13} (\|A\|_F \|x\| + \|b\|) ,

    the second for a matrix so badly conditioned that round-off of x alone leaves more (J. L. Rigal,
    J. Gaches, Journal of the ACM 14 (1967) 543-548). Otherwise its factors are those of another
    matrix: of the symmetric one that has a triangle of A, or of one near A, as with block low-rank
    or incomplete factors. Then they precondition FGMRES, and where that does not solve either the
    solution counts as failed. Where nobody has chosen L D L^T, L U takes its place.
    Of Krylov's methods those that are for symmetric matrices alone find a residual that may be
    another one; what they say is compared with it.

    Takes one product with A for each solution, in C, whoever asks for it: PETSc's SNES, the steps
    of motions in C, paths, accelerations.

    Conjugate gradients end in a norm of the preconditioned residual, in which what is rough counts
    less the finer the mesh is, and Newton's method in that of the residual: see `demand`.

    Parameters
    ----------
    r : a vector of rows that solutions overwrite.
    dynamic : whether A is the tangent of a motion.

    Attributes
    ----------
    error : what was raised while PETSc solved.
    """

    def __init__(
        self,
        system: DiscreteSystem,
        ksp: PETSc.KSP,
        r: PETSc.Vec,
        options: SolverOptions,
        dynamic: bool = False,
    ) -> None:
        self._system, self._ksp, self._options, self._dynamic = system, ksp, options, dynamic
        self._library = jit.load_runtime(_HERE.with_name("residual.c"), comm=system.comm)
        self._pair: tuple[PETSc.Vec, PETSc.Vec] | None = None
        self.callbacks = Callbacks()
        self._message = ""
        improve = _Improve(self.callbacks.guard(loosely(self._improve)))
        data = self._data = _STRUCTURE(
            small=NEGLIGIBLE_RESIDUAL, sound=RESIDUAL_ROUND_OFF, r=r.handle
        )
        for name, function in _FUNCTIONS.items():
            place = ctypes.cast(getattr(functions, function), ctypes.c_void_p)
            setattr(data, name, place.value)
        data.improve = ctypes.cast(improve, ctypes.c_void_p).value
        self._r, self._place = r, ctypes.byref(data)
        # as long as PETSc may call; a vector that Python has is lost where PETSc destroys its owner
        ksp.setAttr("residual", (data, improve))
        ksp.compose("residual", r)
        functions.KSPSetPostSolve(
            ctypes.c_void_p(ksp.handle), self._library.symancf_solved, self._place
        )

    def demand(self, share: float) -> None:
        """Let conjugate gradients go on until |b - A x| is no more than a share of |b|, too.

        0: they end by their own test alone.
        """
        if share and not self._data.of_test:
            ksp, of_test, test = (ctypes.c_void_p() for _ in range(3))
            ksp.value, end = self._ksp.handle, ctypes.c_void_p()
            # what PETSc's test has of its own, 40 bytes, stays
            functions.KSPGetAndClearConvergenceTest(ksp, *map(ctypes.byref, (test, of_test, end)))
            self._data.test, self._data.of_test = test.value, of_test.value
            ours = self._library.symancf_converged
            functions.KSPSetConvergenceTest(ksp, ours, self._place, None)
        self._data.share = share

    def look(self, b: int, x: int) -> int:
        """Look at a solution, handles of vectors; return PETSc's error (collective).

        For who takes the place of this in the KSP.
        """
        ksp = ctypes.c_void_p(self._ksp.handle)
        return int(
            self._library.symancf_solved(ksp, ctypes.c_void_p(b), ctypes.c_void_p(x), self._place)
        )

    @property
    def reason(self) -> str:
        """Why the last solution failed, for after the solver's own reason, or ""."""
        reason = self._ksp.getConvergedReason()
        if reason >= 0:
            return ""
        if reason == _REASONS.DIVERGED_BREAKDOWN and self._message:
            return self._message
        unsuitable = self._unsuitable()
        return f"; {unsuitable}" if unsuitable else ""

    # ---- called by C: never let an exception cross PETSc ----------------------------------------
    def _improve(self, b: int, x: int) -> None:
        self._copy(b, x)
        share = self._data.left / self._data.size if self._data.size else math.inf
        # factors of an earlier tangent are as good as their user wants; others see a NaN
        if math.isfinite(share) and not self._reused() and not self._as_it_says():
            if self._solved_better():
                functions.VecCopy(ctypes.c_void_p(self._x.handle), ctypes.c_void_p(x))
                self._warn(share)
            else:
                self._ksp.setConvergedReason(_REASONS.DIVERGED_BREAKDOWN)
                self._message = f"; {self._residual_text(share)}"

    def _copy(self, b: int, x: int) -> None:
        """Copy the right-hand side and the solution, to vectors that are made once."""
        if self._pair is None:
            self._pair = self._r.duplicate(), self._r.duplicate()
        self._b, self._x = self._pair
        for handle, mine in ((b, self._b), (x, self._x)):
            functions.VecCopy(ctypes.c_void_p(handle), ctypes.c_void_p(mine.handle))

    def _reused(self) -> bool:
        reused = ctypes.c_int(0)
        functions.KSPGetReusePreconditioner(ctypes.c_void_p(self._ksp.handle), ctypes.byref(reused))
        return bool(reused.value)

    def _as_it_says(self) -> bool:
        """Whether a Krylov solver has reached its tolerance, in one of the norms (collective)."""
        ksp, pc = self._ksp, self._ksp.getPC()
        if ksp.getType() == PETSc.KSP.Type.PREONLY:
            return False
        if ksp.getNormType() == PETSc.KSP.NormType.NONE:
            return True
        sizes = []
        for v in (self._r, self._b):
            z = v.duplicate()
            pc.apply(v, z)
            sizes.append((v.norm(), z.norm(), math.sqrt(abs(v.dot(z)))))
            z.destroy()
        least = min(r / b if b else math.inf for r, b in zip(*sizes, strict=True))
        return bool(least <= 10.0 * ksp.getTolerances()[0])

    def _solved_better(self) -> bool:
        """Improve x; tell whether it solves the equations now (collective)."""
        ksp, pc = self._ksp, self._ksp.getPC()
        A, P = ksp.getOperators()
        direct = ksp.getType() == PETSc.KSP.Type.PREONLY
        own = pc.getType() == _KINDS.CHOLESKY and self._options.choice("pc_type") is None
        if direct and own:
            pc.setType(_KINDS.LU)
            pc.setFactorSolverType("mumps")
            pc.setUp()
            pc.apply(self._b, self._x)
            if not residual_ratio(A, self._b, self._x, P):
                return True
        rtol, _, _, most = ksp.getTolerances()
        other = PETSc.KSP().create(self._system.comm)
        other.setType(PETSc.KSP.Type.FGMRES)
        other.setOperators(A, P)
        other.setPC(pc)
        other.setTolerances(
            NEGLIGIBLE_RESIDUAL / 10.0 if direct else rtol,
            0.0,
            None,
            MOST_ITERATIONS if direct else most,
        )
        other.setInitialGuessNonzero(True)
        other.solve(self._b, self._x)
        solved = other.getConvergedReason() > 0
        other.destroy()
        return bool(solved or (direct and not residual_ratio(A, self._b, self._x, P)))

    # ---- what is told ---------------------------------------------------------------------------
    def _residual_text(self, share: float) -> str:
        return f"what it found leaves {100.0 * share:.2g} % of the right-hand side; {self._why()}"

    def _warn(self, share: float) -> None:
        if share <= REPORTED_RESIDUAL:
            return
        name, text = solver_name(self._ksp), self._residual_text(share)
        self._system.once.warn(
            ("residual", name),
            f"the linear solver, {name}: {text}. The solution was improved, here and wherever that "
            "is needed",
        )

    def _why(self) -> str:
        """Return what the reason may be: the tangent, or options that were given."""
        options = self._options.chosen("ksp_", "pc_", "mat_")
        text = " ".join(f"-{name} {value}".strip() for name, value in options.items())
        otherwise = f"look at the options {text}" if text else "the tangent may be singular"
        return self._unsuitable() or otherwise

    def _unsuitable(self) -> str:
        """Tell which solver is for symmetric matrices, where the tangent is not, or ""."""
        kind, method = self._ksp.getPC().getType(), self._ksp.getType()
        options = [f"-ksp_type {method}"] if method in SYMMETRIC else []
        options += [f"-pc_type {kind}"] if kind in (_KINDS.CHOLESKY, _KINDS.ICC) else []
        forms = [p for p in self._system.forms if self._dynamic or not p.moving]
        names = dict.fromkeys(p.name for p in forms if not p.kernel.symmetric)
        if not (options and names):
            return ""
        direct = method == PETSc.KSP.Type.PREONLY
        return (
            f"{' and '.join(options)} {'is' if len(options) == 1 else 'are'} for symmetric "
            f"tangents, and that of {' and '.join(map(repr, names))} is not: take -pc_type lu"
            + ("" if direct else " or -ksp_type gmres")
        )
