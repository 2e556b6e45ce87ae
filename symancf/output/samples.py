# SPDX-License-Identifier: BSD-3-Clause
"""What is drawn of a body: points, cells and fields of one rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Data, Ints
from ..cells import CELLS
from ..errors import SymancfError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py import MPI


@dataclass
class Samples:
    """Points, cells and fields of one rank.

    Attributes
    ----------
    points : (n, 3) [m].
    cells : cell type (meshio's name) -> (k, nv) numbers of points.
    point_data : name -> (n,), (n, c) or (n, 3, 3); "displacement" (n, 3) lets pictures show the
        undeformed body too.
    cell_data : name -> (k, ...) over all cells, in the order of `cells`.
    units : labels of fields by name; ParaView shows them.
    texts : what else is to be known, by name; in the field data of files.

    Examples
    --------
    >>> import numpy as np
    >>> from symancf.output import Samples
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> patch = Samples(corners, {"triangle": np.array([[0, 1, 2]])}, {"height": np.zeros(3)})
    >>> patch.n_cells
    1
    """

    points: Data
    cells: dict[str, Ints]
    point_data: dict[str, Data] = field(default_factory=dict)
    cell_data: dict[str, Data] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def n_cells(self) -> int:
        """Number of cells of all types."""
        return sum(len(c) for c in self.cells.values())

    def principal(self, name: str) -> None:
        r"""Add principal values and directions of a symmetric tensor of points or cells.

        ``name_1`` >= ``name_2`` >= ``name_3``, (n,), :math:`\sigma n_a = \sigma_a n_a`, and the
        unit vectors ``name_direction_1``, ``_2``, ``_3``, (n, 3), whose largest component is
        positive. Where values coincide directions are some of those that are possible.

        Raises
        ------
        SymancfError : there is no such field, or it is no symmetric tensor.

        Examples
        --------
        >>> import numpy as np
        >>> shear = np.array([[[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])
        >>> samples = Samples(np.zeros((1, 3)), {}, {"sigma": shear})
        >>> samples.principal("sigma")
        >>> [float(samples.point_data[f"sigma_{a}"][0].round(12)) for a in (1, 2, 3)]
        [2.0, 0.0, -2.0]
        >>> samples.point_data["sigma_direction_1"].round(4)
        array([[0.7071, 0.7071, 0.    ]])
        """
        for data in (self.point_data, self.cell_data):
            if name in data:
                break
        else:
            known = ", ".join(map(repr, (*self.point_data, *self.cell_data)))
            raise SymancfError(
                f"principal({name!r}): there is no such field; there are {known}",
                asked=name,
                possible=(*self.point_data, *self.cell_data),
            )
        tensor = np.asarray(data[name], dtype=float)
        size = np.nanmax(np.abs(tensor), initial=0.0)
        if tensor.shape[1:] != (3, 3) or (
            np.nanmax(np.abs(tensor - tensor.transpose(0, 2, 1)), initial=0.0) > 1e-9 * size
        ):
            raise SymancfError(
                f"principal({name!r}): of the shape {tensor.shape[1:]}, no symmetric tensor (3, 3)",
                asked=name,
                given=tensor.shape[1:],
                possible=((3, 3),),
            )
        known = np.isfinite(tensor).all(axis=(1, 2))
        values, vectors = np.linalg.eigh(np.where(known[:, None, None], tensor, 0.0))
        values[~known] = vectors[~known] = np.nan
        rows = np.arange(len(tensor))
        for a in range(3):
            n = vectors[:, :, 2 - a]
            n = n * np.sign(n[rows, np.abs(n).argmax(axis=1)])[:, None]
            data[f"{name}_{a + 1}"] = values[:, 2 - a]
            data[f"{name}_direction_{a + 1}"] = n
            if name in self.units:
                self.units[f"{name}_{a + 1}"] = self.units[name]

    def check(self) -> None:
        """See that the arrays fit together.

        Raises
        ------
        SymancfError : an array of the wrong length or shape, a cell type that VTK lacks, a cell
            with a point that does not exist.
        """
        n = len(self.points)
        if np.shape(self.points) != (n, 3):
            raise SymancfError(f"points must have shape (n, 3); given {np.shape(self.points)}")
        for kind, cells in self.cells.items():
            if kind not in CELLS:
                raise SymancfError(
                    f"cells of type {kind!r} cannot be written; possible: {', '.join(CELLS)}"
                )
            nodes = len(CELLS[kind].nodes)
            if np.shape(cells)[1:] != (nodes,):
                raise SymancfError(
                    f"cells of type {kind!r} must have shape (k, {nodes}); given {np.shape(cells)}"
                )
            if len(cells) and (cells.min() < 0 or cells.max() >= n):
                raise SymancfError(f"a cell of type {kind!r} names a point that is not among {n}")
        for title, data, rows in (
            ("point", self.point_data, n),
            ("cell", self.cell_data, self.n_cells),
        ):
            for name, values in data.items():
                if len(values) != rows:
                    raise SymancfError(
                        f"{title} data {name!r} has {len(values)} rows for {rows} {title}s"
                    )


def join(parts: Sequence[Samples]) -> Samples:
    """Unite samples; fields that one of them lacks are left out.

    Parts without points are passed over.

    Examples
    --------
    >>> import numpy as np
    >>> from mpi4py import MPI
    >>> from symancf import output
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> patch = output.Samples(corners, {"triangle": np.array([[0, 1, 2]])})
    >>> output.join([patch, patch]).n_cells
    2
    """
    parts = [p for p in parts if len(p.points)]
    if not parts:
        return Samples(np.empty((0, 3)), {})
    first = np.cumsum([0, *(len(p.points) for p in parts)])
    kinds = dict.fromkeys(kind for p in parts for kind in p.cells)
    cells = {
        kind: np.concatenate(
            [p.cells[kind] + n for p, n in zip(parts, first, strict=False) if kind in p.cells]
        )
        for kind in kinds
    }
    point_data = {
        name: np.concatenate([p.point_data[name] for p in parts])
        for name in parts[0].point_data
        if all(name in p.point_data for p in parts)
    }
    cell_data = {
        name: np.concatenate([_of_kind(p, name, kind) for kind in kinds for p in parts])
        for name in parts[0].cell_data
        if all(name in p.cell_data for p in parts)
    }
    units = {
        k: unit for p in parts for k, unit in p.units.items() if k in {*point_data, *cell_data}
    }
    texts = {k: text for p in parts for k, text in p.texts.items()}
    points = np.concatenate([p.points for p in parts])
    return Samples(points, cells, point_data, cell_data, units, texts)


def _of_kind(samples: Samples, name: str, kind: str) -> Data:
    """Rows of cell data that belong to one cell type."""
    first = 0
    for other, cells in samples.cells.items():
        if other == kind:
            return samples.cell_data[name][first : first + len(cells)]
        first += len(cells)
    return samples.cell_data[name][:0]


def gather(comm: MPI.Comm, samples: Samples) -> Samples | None:
    """Unite the samples of all ranks on rank 0; None elsewhere. Collective.

    Examples
    --------
    >>> import numpy as np
    >>> from mpi4py import MPI
    >>> from symancf import output
    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> patch = output.Samples(corners, {"triangle": np.array([[0, 1, 2]])})
    >>> output.gather(MPI.COMM_SELF, patch).n_cells
    1
    """
    parts = comm.gather(samples)
    return None if parts is None else join(parts)
