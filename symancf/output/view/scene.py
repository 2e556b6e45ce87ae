# SPDX-License-Identifier: BSD-3-Clause
"""What is to be drawn, gathered on the rank that draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.collective import together
from .. import Samples, gather, read

if TYPE_CHECKING:
    from mpi4py import MPI

Scene = Samples | str | Path | Sequence[Samples | str | Path]


def gathered(comm: MPI.Comm, scene: Scene) -> list[Samples]:
    """All bodies of a scene on rank 0. Collective."""
    parts = [scene] if isinstance(scene, Samples | str | Path) else list(scene)
    out: list[Samples] = []
    for part in parts:
        with together(comm):
            if not isinstance(part, Samples) and comm.rank == 0:
                out += read(part).values()
        if isinstance(part, Samples):
            whole = gather(comm, part)
            out += [] if whole is None else [whole]
    return out
