# SPDX-License-Identifier: BSD-3-Clause
"""Limits of numbers of 32 bits: an error on every rank, before anything of that size is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SymancfError

if TYPE_CHECKING:
    from mpi4py import MPI

#: The largest number of 32 bits with a sign.
MAX_INT32 = 2**31 - 1


def require_countable(comm: MPI.Comm, what: str, here: int, in_all: bool = False) -> None:
    """Raise on every rank where there are more than `MAX_INT32` of something on one (collective).

    Parameters
    ----------
    what : in words.
    here : number on this rank.
    in_all : whether all ranks together may have no more.

    Raises
    ------
    SymancfError : says how many there are, and what to do.
    """
    every = comm.allgather(int(here))
    if in_all and sum(every) > MAX_INT32:
        raise SymancfError(
            f"{sum(every)} {what} in all, and {MAX_INT32} (2^31 - 1) are possible: columns of the "
            "tangent have numbers of 32 bits, also with PETSc's --with-64-bit-indices",
            asked=what,
            given=sum(every),
            possible=(MAX_INT32,),
        )
    if max(every) > MAX_INT32:
        rank = every.index(max(every))
        least = -(-sum(every) // MAX_INT32)
        raise SymancfError(
            f"{every[rank]} {what} on rank {rank} of {comm.size}, and {MAX_INT32} (2^31 - 1) are "
            "possible on one: assembly has numbers of 32 bits, also with a PETSc that was "
            f"configured --with-64-bit-indices. Use more ranks, {least + 1} at least",
            asked=what,
            given=every[rank],
            possible=(MAX_INT32,),
        )
