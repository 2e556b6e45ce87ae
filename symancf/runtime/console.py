# SPDX-License-Identifier: BSD-3-Clause
"""Text printed for people, as it is: rich takes ``[m]`` for a style and leaves it out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def plain_console(least: int = 0, **options: Any) -> Console:
    """Return a console of rich that prints units, formulas and ``:names:`` in texts and tables.

    Of the ranks that mpirun started the first one prints, but to a `file` of its own each.

    Parameters
    ----------
    least : columns that it has also in a file, or in the narrow terminal that mpirun makes.
    options : those of `rich.console.Console`, e.g. ``width`` and ``quiet``.

    Raises
    ------
    ImportError : rich is not installed.
    """
    from rich.console import Console

    plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    plain |= {"quiet": "file" not in options and not first_rank(), **options}
    console = Console(**plain)
    return console if console.width >= least else Console(**{**plain, "width": least})


def first_rank() -> bool:
    """Tell whether this is the first process of an mpirun, without starting MPI."""
    names = "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"
    rank = next((os.environ[name] for name in names if name in os.environ), None)
    mpi = sys.modules.get("mpi4py.MPI")
    return rank == "0" if rank is not None else mpi is None or mpi.COMM_WORLD.rank == 0
