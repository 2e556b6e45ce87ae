# SPDX-License-Identifier: BSD-3-Clause
"""Multigrid for large solids, with coarse spaces on auxiliary grids: what the solver uses of it.

=====================  ===========================================================================
`register_pc`          PETSc knows ``-pc_type grids``, a shell that the solver fills
`has_others`           whether nodes have other unknowns than displacements
`nodes_of`, `GridNodes`    pattern: the nodes that are unknowns, with their places and their parts
`displaced`            which coordinates are those of nodes
`Multigrid`            ``Multigrid(entries, nodes, symmetric, prefix)``; the near-null space, linear
                       functions and so rigid motions, is in its coarse spaces
`Multigrid.renew`      takes the present entries; `apply` makes a cycle, `view` prints the levels
`PMultigrid`           the same of cells of second order by products of kernels, above `Multigrid`
`Products`             products of the tangent by its blocks of 3 x 3
`OPTIONS`, `print_to`  prefix of the options of cycles; where PETSc prints
`numbers_at`           the numbers at an address of PETSc's
=====================  ===========================================================================

Nothing here imports the solver; what a level is stands in `hierarchy`.
"""

from __future__ import annotations

from ...runtime.petsc import functions
from .cycle import numbers_at, print_to
from .grids import GridNodes, displaced, has_others, nodes_of
from .hierarchy import OPTIONS, Multigrid
from .p_multigrid import PMultigrid
from .products import Products

__all__ = [
    "GRIDS",
    "OPTIONS",
    "GridNodes",
    "Multigrid",
    "PMultigrid",
    "Products",
    "displaced",
    "has_others",
    "nodes_of",
    "numbers_at",
    "print_to",
    "register_pc",
]

#: PETSc's name of the preconditioner.
GRIDS = "grids"


def register_pc() -> None:
    """Let PETSc know ``-pc_type grids``."""
    functions.PCRegister(GRIDS.encode(), functions.PCCreate_Shell)
