# SPDX-License-Identifier: BSD-3-Clause
"""Copies of objects and transfer to other processes: of data, not of handles of a process.

`copy`, `pickle` and all that is built on them (process pools, joblib, MPI messages of objects) ask
`__reduce_ex__`, which the two classes here answer for the whole package.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from mpi4py import MPI

from ..errors import OwnAttributes, SymancfError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T", bound="Portable")

SEND = (
    "the function that builds the model and its numbers",
    "the path of a checkpoint that problem.save(path) has written",
)


class OneProcess(OwnAttributes):
    """An object with handles of MPI, PETSc or compiled libraries: of this process only."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        name = getattr(self, "name", None)
        what = type(self).__name__ + (f" {name!r}" if isinstance(name, str) else "")
        raise SymancfError(
            f"{what} cannot be copied, pickled or sent to another process, because MPI, PETSc and "
            f"compiled kernels of this one are behind it: send {SEND[0]}, or {SEND[1]}",
            asked=what,
            given=self,
            possible=SEND,
        )


class Portable:
    """Data that can be copied and pickled, with some attributes that belong to a process.

    A copy is an object of its own, of the same ranks. What is read in another process belongs to
    that process alone.

    Attributes
    ----------
    _of_process : attribute -> what it is where the object is read.
    _distributed : where each rank has a part, what to do instead of pickling it; "": all is on
        every rank.
    """

    _of_process: ClassVar[Mapping[str, Callable[[], Any]]]
    _distributed: ClassVar[str] = ""

    @property
    def _ranks(self) -> int:
        """The number of ranks that share it."""
        comm: MPI.Comm = self.comm  # type: ignore[attr-defined]
        return comm.size

    def __getstate__(self) -> dict[str, Any]:
        """Return the data."""
        if self._distributed and self._ranks > 1:
            what = type(self).__name__
            raise SymancfError(
                f"{what} is distributed over {self._ranks} ranks and cannot be pickled: "
                f"{self._distributed}",
                asked=what,
                given=self,
                possible=(self._distributed,),
            )
        return {k: v for k, v in vars(self).items() if k not in self._of_process}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the data."""
        vars(self).update({name: make() for name, make in self._of_process.items()} | state)

    def __copy__(self: T) -> T:
        return copy.deepcopy(self)

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        other = object.__new__(type(self))
        memo[id(self)] = other
        for name, value in vars(self).items():
            own = name in self._of_process
            vars(other)[name] = value if own else copy.deepcopy(value, memo)
        return other


def this_process() -> MPI.Comm:
    """Return the communicator of this process alone."""
    world: MPI.Comm = MPI.COMM_WORLD
    return world if world.size == 1 else MPI.COMM_SELF
