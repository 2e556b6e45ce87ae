# SPDX-License-Identifier: BSD-3-Clause
"""The unknowns of a system by name, and matrices and vectors of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints
from ..errors import ParameterError
from ..runtime.petsc import PETSc
from ..values.spellings import advise
from .vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array

    from .configuration import Configuration
    from .numbering import Block
    from .protocol import BodyProtocol

AXES = "xyz"


class Unknowns:
    """The free coordinates of a system, in the order of the rows of its matrices.

    Coordinates that supports hold are eliminated. Every rank has a range of rows: those of the
    vertices that it owns, of each vertex its positions, slopes, ... and multipliers.

    Attributes
    ----------
    size : number of unknowns of all ranks.
    first, rows : number of the first unknown of this rank, and how many it has.
    coordinate : (rows,) their offsets in local vectors such as ``system.state``.
    node : (rows,) numbers of the vertices; those of a mesh have its order. Joints and rigid bodies
        have vertices of their own, beyond.
    X : (rows, 3) reference positions of the vertices [m].

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0,), (2,))
    >>> rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), name="rod",
    ...               EA=1.0, EI=1.0, rho=1.0, A=1.0)
    >>> system = sa.System(rod, terms=[sa.fix(rod["x0"])])
    >>> u = system.unknowns
    >>> u.size, u.names[0], len(u.find("rod", "y"))
    (13, 'rod, x at (1, 0, 0)', 2)
    >>> K = system.matrices.tangent(scipy=True)
    >>> K.shape == (u.size, u.size)
    True
    """

    def __init__(self, configuration: Configuration) -> None:
        self._of = configuration
        numbering = self._numbering = configuration.numbering
        free = np.ones(len(numbering.coordinate_of_row), dtype=bool)
        free[numbering.prescribed_rows] = False
        self._chosen = np.flatnonzero(free)
        self.coordinate: Ints = np.asarray(numbering.coordinate_of_row[self._chosen], np.int64)
        self.rows = len(self.coordinate)
        counts = numbering.comm.allgather(self.rows)
        self.size, self.first = sum(counts), sum(counts[: numbering.comm.rank])
        self._has_prescribed = bool(numbering.comm.allreduce(len(numbering.prescribed_rows)))
        vertex = numbering.vertex_of[self.coordinate]
        self.node: Ints = np.asarray(configuration.topology.vertex_ids[vertex], np.int64)
        self.X: Array = configuration.points[vertex]
        forces = [b.kind in ("multiplier", "tie") and b.name != "factor" for b in numbering.blocks]
        self._bound = np.array(forces, dtype=bool)[numbering.block_of[self.coordinate]]

    def __repr__(self) -> str:
        here = f", rows {self.first} to {self.first + self.rows} here" * (self.rows < self.size)
        return f"<{self.size} unknowns{here}; see names, find(name, coordinate)>"

    # ---- names ----------------------------------------------------------------------------------
    @cached_property
    def labels(self) -> list[tuple[str, str]]:
        """Of each row of this rank: the body or term that it belongs to, and its coordinate.

        Coordinates are ``x``, ``y``, ``z`` (positions), ``theta``, ``slope.x`` (``slope2.x`` of the
        second slope of a node), ``second point.x`` and ``axis1.x`` (of rigid bodies), ``s`` (of
        sliding places) and ``multiplier1``, ``state1``, ... of terms. A position that bodies share
        belongs to the first of them.
        """
        numbering = self._numbering
        owner = np.full(numbering.coordinates, -1, dtype=np.int64)
        names: list[str] = []
        for body in self._of.bodies:
            names.append(self._of.name(body))
            for block, vertices in self._carried(body):
                at = numbering.coordinates_of(block, vertices).ravel()
                owner[at[owner[at] < 0]] = len(names) - 1
        of_term = numbering.owner[numbering.vertex_of]
        labels = []
        for c in self.coordinate.tolist():
            block = numbering.blocks[numbering.block_of[c]]
            name = names[owner[c]] if owner[c] >= 0 else ""
            if not name and of_term[c] >= 0:
                name = numbering.owners.names[of_term[c]]
            start = numbering.offset[numbering.vertex_of[c], numbering.block_of[c]]
            labels.append((name, _label(block, c - int(start))))
        return labels

    def _carried(self, body: BodyProtocol) -> list[tuple[int, Ints]]:
        """Return the blocks of a body with all vertices here that carry them."""
        numbering, pairs = self._numbering, []
        for name, vertices in self._of.binding(body).carriers(self._of):
            member = np.zeros(numbering.vertices, dtype=bool)
            member[vertices] = True
            if numbering.comm.size > 1:
                member = self._of.topology.halo.updated(member)
            pairs.append((numbering.block(name), np.flatnonzero(member)))
        return pairs

    @property
    def names(self) -> list[str]:
        """The names of this rank's unknowns, ``"rod, y at (1, 0, 0)"`` (collective at first)."""
        return [
            f"{name}, {what} at ({x:.6g}, {y:.6g}, {z:.6g})"
            for (name, what), (x, y, z) in zip(self.labels, self.X.tolist(), strict=True)
        ]

    def find(self, name: str, what: str | Sequence[str] | None = None) -> Ints:
        """Return the numbers of the unknowns of a body or term, those of this rank (collective).

        Parameters
        ----------
        name : of the body or term.
        what : a coordinate, or several, as in `labels`; default: all.

        Raises
        ------
        ParameterError : on no rank there is such an unknown; it names what there is.
        """
        wanted = None if what is None else {what} if isinstance(what, str) else {*what}
        numbers = [
            k
            for k, (a, b) in enumerate(self.labels)
            if a == name and (wanted is None or b in wanted)
        ]
        if not self._numbering.comm.allreduce(len(numbers)):
            raise self._absent(name, what)
        return np.array(numbers, dtype=np.int64) + np.int64(self.first)

    def _absent(self, name: str, what: str | Sequence[str] | None) -> ParameterError:
        """Return the error that says which unknowns there are (collective)."""
        parts = self._numbering.comm.allgather({*self.labels})
        there: dict[str, set[str]] = {}
        for owner, label in set().union(*parts):
            there.setdefault(owner, set()).add(label)
        is_there, possible = name in there, sorted(there.get(name, there))
        kind = "coordinates of it" if is_there else "bodies and terms with unknowns"
        return ParameterError(
            f"no unknown {what or ''} of {name!r}; {kind}: {', '.join(map(repr, possible))}",
            asked="what" if is_there else "name",
            given=what if is_there else name,
            possible=possible,
        )

    # ---- vectors --------------------------------------------------------------------------------
    def new(self) -> PETSc.Vec:
        """Return a vector of zeros (collective)."""
        return PETSc.Vec().createMPI((self.rows, self.size), comm=self._numbering.comm)

    @property
    def scale(self) -> Array:
        """What multipliers (rows,) are multiplied by in local vectors; 1 for the others."""
        return np.where(self._bound, self._of.stiffness, 1.0)

    def from_local(self, local: Array) -> Array:
        """Return the values (rows,) of a local vector at this rank's unknowns, as they are."""
        return np.asarray(local[self.coordinate])

    def taken(self, local: Array) -> Array:
        """Return `from_local`, by its former name."""
        advise("unknowns.taken(local)", "unknowns.from_local(local)")
        return self.from_local(local)

    def from_rows(self, residual: Array) -> Array:
        """Return the values (rows,) of a residual in the rows of `Numbering`, as matrices have it.

        The rows of constraints, too, without ``system.stiffness``.
        """
        return np.asarray(residual[self._chosen] / self.scale)

    def local(self, values: Array | PETSc.Vec) -> Array:
        """Return a local vector, ghosts too, with values of this rank's unknowns (collective).

        It is zero where coordinates are held. Multipliers, which are forces in matrices and their
        vectors, are parts of ``system.stiffness`` in it as in ``system.state``.
        """
        rows = values.getArray(readonly=True) if isinstance(values, PETSc.Vec) else values
        rows = rows / self.scale
        numbering = self._numbering
        all_rows: Array = np.zeros(numbering.rows)
        all_rows[self._chosen] = rows
        local: Array = np.zeros(numbering.coordinates)
        vectors = Vectors(numbering)
        x = vectors.new()
        x.setArray(all_rows)
        vectors.to_local(x, local)
        return local

    # ---- matrices -------------------------------------------------------------------------------
    def matrix(self, mat: PETSc.Mat) -> PETSc.Mat:
        """Return a copy of a matrix of all rows for the unknowns alone (collective).

        Multipliers are forces in it (in `System.state` they are parts of ``system.stiffness``).
        """
        comm = self._numbering.comm
        if self._has_prescribed:
            start, _ = mat.getOwnershipRange()
            index = (start + self._chosen).astype(PETSc.IntType)
            chosen = PETSc.IS().createGeneral(index, comm=comm)
            copy = mat.createSubMatrix(chosen, chosen)
            chosen.destroy()
        else:
            copy = mat.copy()
        if self._of.stiffness != 1.0 and comm.allreduce(bool(self._bound.any())):
            scale = self.new()
            scale.setArray(1.0 / self.scale)
            copy.diagonalScale(scale, scale)
            scale.destroy()
        return copy


def as_scipy(mat: PETSc.Mat) -> csr_array:
    """Return this rank's rows of a matrix of PETSc, all columns, and destroy that (collective)."""
    from scipy.sparse import csr_array  # a tenth of a second to import

    start, columns, values = mat.getValuesCSR()
    shape = len(start) - 1, mat.getSize()[1]
    matrix = csr_array((values.copy(), columns.copy(), start.copy()), shape=shape)
    mat.destroy()
    return matrix


def _label(block: Block, number: int) -> str:
    """Return what a coordinate of a block is called."""
    if block.kind == "direction":
        slope, axis = divmod(number, 3)
        name = "axis" if block.name.endswith(":rigid") else "slope"
        return f"{name}{slope + 1 if block.size > 3 else ''}.{AXES[axis]}"
    if block.kind in ("position", "dependent"):
        return AXES[number] if "point" not in block.name else f"second point.{AXES[number]}"
    if block.kind == "angle":
        return "theta"
    if block.kind == "sliding":
        return "s"
    kind = block.name.partition(":")[0] if block.name.startswith("pressure") else block.kind
    return f"{kind}{number + 1}"
