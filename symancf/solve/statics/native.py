# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method of small equilibria in C."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...assembly.assembler import CODE
from ...newton import (
    CORRECTION_TOLERANCE,
    PREDICTION,
    SAFE_SQUARES,
    SMALLEST_DISPLACEMENT,
    PredictedStresses,
    Solution,
    StressPrediction,
)
from ...newton.stopping import STRUCTURE
from ...runtime import jit
from ...runtime.log import EVENTS
from ...runtime.petsc import loosely
from ...runtime.structures import declared
from .convergence import REST_RATIO

if TYPE_CHECKING:
    from ...arrays import Array
    from ..fixed_factor import FixedFactor
    from ..fixed_solver import FixedSolver
    from .equations import StaticEquations

#: Line searches that leave the steps whole which C leaves whole.
SEARCHES = "bt", "basic"

#: A question of C, 0: answered.
Ask = ctypes.CFUNCTYPE(ctypes.c_int)

_HERE = Path(__file__)
_STRUCTURES = declared(
    _HERE.with_name("iterations.h"),
    symancf_prediction=PREDICTION,
    symancf_stopping=STRUCTURE,
    symancf_ask=Ask,
)


class NativeIterations:
    """Iterations of `newton` for `StaticEquations` in C, see iterations.c.

    They are for one rank, factors on a fixed pattern and one connected part, without constraints
    by multipliers, laws with memory, lists of entities that change, and aids but the prediction of
    stresses of slender bodies. Where something is unusual, a law without a value, a pivot that is
    zero, a step that does not converge or has to be cut, `newton` begins from the start.

    Parameters
    ----------
    predicted : the aid that predicts stresses, None: no stresses are predicted.
    """

    def __init__(
        self,
        equations: StaticEquations,
        fixed: FixedSolver,
        predicted: PredictedStresses | None,
    ) -> None:
        self._equations, self._fixed = equations, fixed
        system, test = equations.system, equations.convergence
        self._library = jit.load_runtime(_HERE.with_name("iterations.c"), comm=system.comm)
        rows, numbering, n = test.rows, system.numbering, len(system.state)
        leftover, count = test.leftover, max(1, test.rows.count)
        assert leftover is not None
        data = self._data = _STRUCTURES["symancf_iterations"]()
        self._first, self._largest, self._force = np.zeros((3, count))
        self._noise = Ask(loosely(self._estimate_noise))
        data.give(
            stopping=ctypes.pointer(test.data),
            evaluate=system.assembler.evaluate,
            **{mode: CODE[mode] for mode in ("residual", "tangent")},
            noise=self._noise,
            coordinates=n,
            rows=numbering.rows,
            coordinate=numbering.coordinate_of_row,
            prescribed_count=len(numbering.prescribed_rows),
            prescribed=numbering.prescribed_rows,
            row_class=rows.of_row,
            row_part=rows.row_part,
            supports=len(rows.prescribed),
            support=rows.prescribed,
            support_class=rows.class_of_prescribed,
            row_moves=leftover.moves,
            unit=leftover.unit,
            accepted=np.zeros(count),
            driven=np.zeros(count),
            first=self._first,
            largest=self._largest,
            force=self._force,
            smallest=np.full(max(1, rows.parts), test.smallest),
            rest=REST_RATIO,
            small=CORRECTION_TOLERANCE,
            least_motion=SMALLEST_DISPLACEMENT,
            relative_noise=np.zeros(count),
            state=system.state,
            f=equations.local_f,
            x=equations.x.getArray(readonly=True),
            F=equations.F.getArray(readonly=True),
            step=equations.step.getArray(readonly=True),
            old=np.zeros(numbering.rows),
            norm=np.zeros(max(count, rows.parts)),
            scratch=np.zeros(n),
        )
        self._prediction = None
        if predicted is not None and predicted.some:
            self._prediction = StressPrediction(predicted)
            data.prediction = ctypes.pointer(self._prediction.data)
        data.safe[:] = SAFE_SQUARES
        self._state = system.state
        self._limits: Array = vars(data)["_arrays"]["accepted"]
        self._place = ctypes.byref(data)
        self._made_for: tuple[object, object] = None, None

    @staticmethod
    def suit(equations: StaticEquations, predicted: PredictedStresses | None) -> bool:
        """Tell whether C can make the iterations of some equations."""
        system, test = equations.system, equations.convergence
        plain = system.comm.size == 1 and system.numbering.size and not system.changing
        simple = not (system.reviews or system.memory or test.constraints is not None)
        aided = any(aid is not predicted for aid in equations.aids) or test.leftover is None
        return bool(
            plain
            and simple
            and not aided
            and test.rows.parts == 1
            and (predicted is None or not predicted.of_pressures)
        )

    def _take_matrix(self, factor: FixedFactor) -> None:
        """Tell C of the tangent's storage and of its factors."""
        matrix = self._equations.system.matrix
        renew, solve = factor.functions
        self._data.give(
            stiffness=self._equations.convergence.stiffness(),
            entries=matrix.nonzeros,
            value=matrix.diagonal,
            substitutes=len(matrix.prescribed),
            place=matrix.prescribed,
            partner=matrix.partner,
            factor=ctypes.addressof(factor.data),
            factor_renew=renew,
            factor_solve=solve,
        )
        if self._prediction is not None:
            self._prediction.prepare()
        self._made_for = factor, self._equations.system.assembler.groups

    def find(self, before: Array | None) -> Solution | None:
        """Solve from the present state; None: `newton` is to do that, from the same state.

        `before`: the equilibrium from which a step leads there.
        """
        equations, data = self._equations, self._data
        system, test, snes = equations.system, equations.convergence, equations.snes
        factor = self._fixed.present
        if factor is None or before is None or equations.fade or not equations.is_plain(*SEARCHES):
            return None
        if system.state is not self._state or test.driven.any():
            return None
        if self._made_for[0] is not factor or self._made_for[1] is not system.assembler.groups:
            self._take_matrix(factor)
        test.data.rtol, _, test.data.stol, data.most = snes.getTolerances()
        data.continues = len(test.accepted) > 0
        if data.continues:
            self._limits[:] = test.accepted
        data.assembler = system.assembler.structure
        start = system.state.copy()
        if self._prediction is not None:
            self._prediction.accept(before)
        with EVENTS["steps"]:
            reason = int(self._library.symancf_iterate(self._place))
        solved = reason > 0
        self._fixed.changed(factored=solved and data.iterations > 0)
        for vector in (equations.x, equations.F, equations.step):
            vector.stateIncrease()
        if not solved:
            system.state[:] = start
            equations.vectors.to_global(start, equations.x)
            test.begin()
            return None
        test.take(self._first, self._largest, self._force)
        snes.setSolution(equations.x)
        snes.setIterationNumber(data.iterations)
        snes.setFunctionNorm(data.residual_norm)
        snes.setConvergedReason(reason)
        equations.linear_iterations = data.iterations
        return Solution(reason, data.iterations)

    def linearize(self) -> bool:
        """Make the tangent at the present state, and its factors; tell whether there are some.

        False also where nothing has been solved in C since the last tangent of another pattern.
        """
        factor, assembler = self._fixed.present, self._equations.system.assembler
        if factor is None or self._made_for[0] is not factor:
            return False
        self._data.assembler = assembler.structure
        made = bool(self._library.symancf_linearize(self._place))
        self._fixed.changed(factored=made)
        return made

    def _estimate_noise(self) -> int:
        """Write what round-off of the residual is; 0: done."""
        test = self._equations.convergence
        try:
            test.noise[:] = test.round_off()
            self._data.assembler = self._equations.system.assembler.structure  # of all forms again
        except BaseException:  # `newton` will meet it again
            return 1
        return 0
