# SPDX-License-Identifier: BSD-3-Clause
"""What numbers of 32 bits can count: told on every rank, before anything of that size is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SymancfError

if TYPE_CHECKING:
    from mpi4py import MPI

#: The largest number of 32 bits with a sign.
MOST = 2**31 - 1


def require_countable(comm: MPI.Comm, what: str, here: int, in_all: bool = False) -> None:
    """Raise on every rank where there are more than `MOST` of something on one (collective).

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
    if in_all and sum(every) > MOST:
        raise SymancfError(
            f"{sum(every)} {what} in all, and {MOST} (2^31 - 1) are possible: columns of the "
            "tangent have numbers of 32 bits, also with PETSc's --with-64-bit-indices",
            asked=what,
            given=sum(every),
            possible=(MOST,),
        )
    if max(every) > MOST:
        rank = every.index(max(every))
        least = -(-sum(every) // MOST)
        raise SymancfError(
            f"{every[rank]} {what} on rank {rank} of {comm.size}, and {MOST} (2^31 - 1) are "
            "possible on one: assembly has numbers of 32 bits, also with a PETSc that was "
            f"configured --with-64-bit-indices. Use more ranks, {least + 1} at least",
            asked=what,
            given=every[rank],
            possible=(MOST,),
        )
