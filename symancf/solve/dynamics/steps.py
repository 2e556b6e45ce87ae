# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of a time step as C takes them (steps.h), and calls of steps.c."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Data, address
from ...runtime import jit
from ...runtime.structures import declared

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from mpi4py import MPI

#: A question of C: what, and the number of the iteration. See `Asked`.
Ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)

#: Sums or largest values of all ranks: place and number of values, whether the largest are wanted.
Reduce = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int)


class Asked(IntEnum):
    """What C asks of Python; answers are numbers.

    RENEW: make the tangent; 0: done. JUDGE: the reason to stop, 0 to go on. SETTLED: whether
    nothing soft is hidden. PARTS: take the forces in parts; 0: done. PRESENT: take what is a
    function of time, DRIVE: likewise of what does work; 0: done.
    """

    RENEW, JUDGE, SETTLED, PARTS, PRESENT, DRIVE = range(6)


_HERE = Path(__file__)
_FOUND = declared(_HERE.with_name("steps.h"), symancf_ask=Ask, symancf_reduce=Reduce)


class Steps:
    """Calls of steps.c for one motion, on this rank.

    Attributes
    ----------
    data : ``symancf_motion``; Python works on its `balance` and `tangent`, too.
    """

    def __init__(self, comm: MPI.Comm) -> None:
        library = jit.load_runtime(_HERE.with_name("steps.c"), comm=comm)
        self.data = _FOUND["symancf_motion"]()
        self._library, self._held = library, dict[str, Data]()
        self._motion = ctypes.byref(self.data)
        self._balance = ctypes.byref(self.data.balance)
        self._tangent = ctypes.byref(self.data.tangent)

    def give(
        self, where: ctypes.Structure, kind: npt.DTypeLike = np.float64, **arrays: npt.ArrayLike
    ) -> None:
        """Put the addresses of arrays into a structure, of copies where the type is another."""
        for name, values in arrays.items():
            held = self._held[f"{type(where).__name__}.{name}"] = np.ascontiguousarray(values, kind)
            setattr(where, name, address(held))

    # ---- the affine map -------------------------------------------------------------------------
    def follow(self) -> None:
        """Let rates and accelerations follow the state."""
        self._library.symancf_follow(self._motion)

    def predict(self, h: float, beginning: Sequence[Array], ahead: bool) -> None:
        """Set the affine map of a step of length h, and a state to begin with.

        Parameters
        ----------
        beginning : local vectors: coordinates, rates, accelerations and auxiliary ones.
        ahead : begin with constant accelerations, not with auxiliary ones of zero.
        """
        places = [ctypes.c_void_p(address(vector)) for vector in beginning]
        self._library.symancf_predict(
            self._motion, ctypes.c_double(h), *places, ctypes.c_int(ahead)
        )

    def hold(self) -> None:
        """Let the affine map give prescribed coordinates the rates that they have."""
        self._library.symancf_hold(self._motion)

    def conclude(self) -> None:
        """Set the auxiliary accelerations of a step that was solved."""
        self._library.symancf_conclude(self._motion)

    # ---- the tangent ----------------------------------------------------------------------------
    def begin(self) -> None:
        """Begin a solution with the tangent that is there."""
        self._library.symancf_tangent_begin(self._tangent)

    def wants_tangent(self, iteration: int) -> bool:
        """Tell whether an iteration is to make a tangent."""
        return bool(self._library.symancf_tangent_wanted(self._tangent, ctypes.c_int(iteration)))

    def made_tangent(self) -> None:
        """Note that there is a new tangent."""
        self._library.symancf_tangent_made(self._tangent)

    # ---- the test -------------------------------------------------------------------------------
    def weigh(self) -> None:
        """Take forces and round-off as what norms are measured by."""
        self._library.symancf_weigh(self._balance)

    def test(self, iteration: int) -> int:
        """Return PETSc's reason to stop, or 0 to go on (collective)."""
        return int(self._library.symancf_test(self._motion, ctypes.c_int(iteration)))

    def accept(self, iterations: int) -> None:
        """End a solution: see what its forces and its tangent are still worth (collective)."""
        self._library.symancf_accept(self._motion, ctypes.c_int(iterations))

    # ---- all of it ------------------------------------------------------------------------------
    def newton(self) -> int:
        """Solve the equations of a step from the present state; return PETSc's reason."""
        return int(self._library.symancf_newton(self._motion))

    def several(self) -> int:
        """Make steps; return 1, or the reason why the next one could not be made."""
        return int(self._library.symancf_steps(self._motion))
