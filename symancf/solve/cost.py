# SPDX-License-Identifier: BSD-3-Clause
"""Memory that a solution takes, predicted before a matrix is made."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..assembly.form import keeps_nodes
from ..errors import outside
from ..newton import FACTORS
from ..runtime.progress import present_memory
from .choice import SHARE_OF_MEMORY, free_memory, prices
from .multigrid import GRIDS, has_others
from .preconditioner import bordered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.discrete import DiscreteSystem
    from ..assembly.form import Form

#: Bytes that come for each entry of the tangent, by preconditioner ("halves": grids where bodies
#: are cells of nodes; "rest": of other terms then); factors come on top.
BYTES_OF_TANGENT = {"halves": 3.0, "rest": 22.0, "grids": 22.0, "gamg": 30.0, "others": 12.0}
BYTES_OF_UNKNOWN = 200.0  # of vectors and diagonal blocks beside entries stored by halves
BYTES_OF_DIRECTIONS = 200.0  # of directions of GMRES, of an unknown
BYTES_OF_MASS = 26.0  # that come for each entry of the tangent in motions, not by halves
BYTES_OF_MOTION = 370.0  # of further vectors of motions, of an unknown whose tangent is by halves
SEVERAL_RANKS = 1.6  # memory of factors on some ranks by that on one
BYTES_OF_FACET = 140.0  # of a facet that may touch deformable ones, on every rank
GOLDEN = (5.0**0.5 - 1.0) / 2.0
LIBRARIES = 1.5e8  # bytes of a rank for Python, PETSc and what else does not grow


@dataclass(frozen=True)
class Cost:
    """Memory that a solution takes on all ranks, predicted from the mesh and the solver.

    Attributes
    ----------
    solver : ``"grids"`` or ``"gamg"`` (multigrid), else the name of a direct solver of PETSc.
    ranks : number of them.
    unknowns, entries : of the tangent.
    present : of the system as it is, with libraries [bytes].
    more : what matrix, solver and vectors need beside it [bytes].
    free : what the machines of all ranks have left [bytes].
    each : what every rank has, whatever their number: libraries, the facets of contact, and what
        their points remember [bytes].
    factors : what of `more` a direct solver takes [bytes].
    """

    solver: str
    ranks: int
    unknowns: int
    entries: float
    present: float
    more: float
    free: float
    each: float = LIBRARIES
    factors: float = 0.0

    def on(self, ranks: int) -> float:
        """Return what each of some number of ranks needs [bytes]."""
        changed = self.factors * (_of_several(ranks) / _of_several(self.ranks) - 1.0)
        grows = max(self.present - self.ranks * self.each, 0.0) + self.more + changed
        return grows / ranks + self.each

    @property
    def fits(self) -> bool:
        """Whether the memory that is free suffices."""
        return self.more <= SHARE_OF_MEMORY * self.free

    def __str__(self) -> str:
        """Return a sentence."""
        each = f"{gigabytes(self.on(self.ranks))} on each of {self.ranks} ranks"
        each = gigabytes(self.on(1)) if self.ranks == 1 else each
        text = f"{self.unknowns} unknowns with {self.solver} need {each}"
        if not np.isfinite(self.free):
            return text
        text += f"; {gigabytes(self.free)} are free beside the system"
        if self.fits:
            return text
        many = self.ranks * int(np.ceil(self.more / (SHARE_OF_MEMORY * self.free)))
        return f"{text}; {many} ranks, on more machines, would need {gigabytes(self.on(many))} each"


def _of_several(ranks: int) -> float:
    return SEVERAL_RANKS if ranks > 1 else 1.0


def gigabytes(size: float) -> str:
    """Return a number of bytes for people: 5 MB, 1.2 GB."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def cost_of(system: DiscreteSystem, solver: str, symmetric: bool, moves: bool = False) -> Cost:
    """Predict the memory of a solution (collective).

    The entries of a sample of rows are counted, with what is close enough to touch at the present
    state. Factors take what nested dissection of boxes around the bodies takes, see `Effort.of`.

    Parameters
    ----------
    solver : PETSc's ``pc_type``.
    moves : whether it is a motion, which has a mass matrix beside the tangent.
    """
    if "matrix" not in vars(system):
        system.revise(system.time)
    entries, unknowns = _entries(system, system.forms), system.numbering.size
    each_entry = BYTES_OF_TANGENT.get(solver, BYTES_OF_TANGENT["others"])
    more = (each_entry + (BYTES_OF_MASS if moves else 0.0)) * entries
    if _by_halves(system, solver, moves):
        rest = [form for form in system.forms if not keeps_nodes(form)]
        beside = _entries(system, rest) if rest else 0.0
        more = BYTES_OF_TANGENT["halves"] * (entries - beside) + BYTES_OF_TANGENT["rest"] * beside
        more += (BYTES_OF_UNKNOWN + (BYTES_OF_MOTION if moves else 0.0)) * unknowns
        more += 0.0 if symmetric else BYTES_OF_DIRECTIONS * unknowns
    comm, factors = system.comm, 0.0
    if solver in FACTORS:
        factors = _of_several(comm.size) * prices(system, "grids", symmetric).memory
    present = float(system.sum(np.array([present_memory()]))[0])
    each, free = LIBRARIES + _of_contact(system), free_memory(comm)
    more += factors
    return Cost(solver, comm.size, unknowns, entries, present, more, free, each, factors)


def _of_contact(system: DiscreteSystem) -> float:
    """Return what every rank has of contacts of deformable bodies [bytes].

    Facets, and what all points remember from before the step and after it.
    """
    pairs = [each.surfaces for term in system.changing for each in getattr(term, "facing", ())]
    surfaces = {id(surface): surface for pair in pairs for surface in pair.both}
    facets, memory = sum(len(surface.facets) for surface in surfaces.values()), system.memory
    remembered = zip(memory.forms, memory.values.old, strict=True)
    history = sum(rows.nbytes for form, rows in remembered if form.changing)
    return BYTES_OF_FACET * facets + 2.0 * history


def _by_halves(system: DiscreteSystem, solver: str, moves: bool) -> bool:
    """Whether the tangent is stored by halves where grids are possible, see `Half` (collective)."""
    if solver != GRIDS or (has_others(system.numbering) and not bordered(system)):
        return False
    return system.moves_by_halves if moves else system.has_halves


def warn_of_memory(system: DiscreteSystem, solver: str, symmetric: bool) -> None:
    """Warn where a solution needs more memory than is left, before it takes any (collective)."""
    if "matrix" in vars(system):
        return
    cost = cost_of(system, solver, symmetric)
    if cost.more > LIBRARIES and not cost.fits and system.comm.rank == 0:
        warnings.warn(f"memory may not suffice: {cost}", stacklevel=outside())


def _entries(
    system: DiscreteSystem, forms: Sequence[Form], most: int = 800, corners: int = 1 << 19
) -> float:
    """Return about how many entries the tangent of some forms has (collective).

    The neighbours of up to `most` nodes of each rank are counted, in so many `corners` of cells
    at a time. Multiples of the golden ratio are as even as can be, and follow no line of a mesh.
    """
    numbering = system.numbering
    owned = numbering.owned_vertices
    sample = np.arange(owned)
    if owned > most:
        sample = np.unique((np.arange(most) * GOLDEN % 1.0 * owned).astype(np.int64))
    mark = np.full(numbering.vertices, -1, np.int32)
    mark[sample] = np.arange(len(sample), dtype=np.int32)
    pairs = [np.zeros((0, 2), np.int64)]
    for form in forms:
        flat, width = form.vertices.ravel(), form.vertices.shape[-1]
        start = form.vertex_start if form.vertices.ndim == 1 else None
        for first in range(0, len(flat), corners):
            at = first + np.flatnonzero(mark[flat[first : first + corners]] >= 0)
            if start is None:
                low = at // width * width
                count = np.full(len(at), width)
            else:
                entity = np.searchsorted(start, at, side="right") - 1
                low, count = start[entity], start[entity + 1] - start[entity]
            each = np.repeat(np.arange(len(at)), count)
            within = np.arange(len(each)) - np.repeat(np.cumsum(count) - count, count)
            pairs.append(np.stack([mark[flat[at[each]]], flat[low[each] + within]], axis=1))
    numbers, others = np.unique(np.concatenate(pairs), axis=0).T
    rows = numbering.row_count
    counted = float((rows[sample[numbers]] * rows[others]).sum())
    here_all = counted * owned / max(1, len(sample))
    return float(system.sum(np.array([here_all]))[0])


__all__ = ["Cost", "cost_of", "gigabytes", "warn_of_memory"]
