# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a body: points, cells and fields of one rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..arrays import Array, Data, Ints
from ..cells import CELLS
from ..errors import OwnAttributes, ParameterError, SymancfError
from ..values.parameter import label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpi4py import MPI

T = TypeVar("T")


@dataclass
class Samples(OwnAttributes):
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

    _settable = "points", "cells", "point_data", "cell_data", "units", "texts"

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
            finite = ", ".join(map(repr, (*self.point_data, *self.cell_data)))
            raise SymancfError(
                f"principal({name!r}): there is no such field; there are {finite}",
                asked=name,
                possible=(*self.point_data, *self.cell_data),
            )
        tensor = np.asarray(data[name], dtype=float)
        if not is_symmetric(tensor):
            raise SymancfError(
                f"principal({name!r}): of the shape {tensor.shape[1:]}, no symmetric tensor (3, 3)",
                asked=name,
                given=tensor.shape[1:],
                possible=((3, 3),),
            )
        finite = np.isfinite(tensor).all(axis=(1, 2))
        values, vectors = np.linalg.eigh(np.where(finite[:, None, None], tensor, 0.0))
        values[~finite] = vectors[~finite] = np.nan
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
            raise SymancfError(
                f"points must have shape (n, 3); given {np.shape(self.points)}",
                asked="points",
                given=np.shape(self.points),
            )
        for kind, cells in self.cells.items():
            if kind not in CELLS:
                raise SymancfError(
                    f"cells of type {kind!r} cannot be written; possible: {', '.join(CELLS)}",
                    asked=kind,
                    possible=CELLS,
                )
            nodes = len(CELLS[kind].nodes)
            if np.shape(cells)[1:] != (nodes,):
                raise SymancfError(
                    f"cells of type {kind!r} must have shape (k, {nodes}); given {np.shape(cells)}",
                    asked=kind,
                    given=np.shape(cells),
                )
            if len(cells) and (cells.min() < 0 or cells.max() >= n):
                raise SymancfError(
                    f"a cell of type {kind!r} names a point that is not among {n}", asked=kind
                )
        for title, data, rows in (
            ("point", self.point_data, n),
            ("cell", self.cell_data, self.n_cells),
        ):
            for name, values in data.items():
                if len(values) != rows:
                    raise SymancfError(
                        f"{title} data {name!r} has {len(values)} rows for {rows} {title}s",
                        asked=name,
                        given=len(values),
                        possible=(rows,),
                    )


def vertices(count: int) -> dict[str, Ints]:
    """Return cells for points without any: ParaView shows, meshio reads no others."""
    return {"vertex": np.arange(count)[:, None]}


def is_symmetric(tensor: Array) -> bool:
    """Tell whether a field is a tensor (n, 3, 3) that is symmetric but for round-off."""
    size = np.nanmax(np.abs(tensor), initial=0.0)
    return tensor.shape[1:] == (3, 3) and bool(
        np.nanmax(np.abs(tensor - tensor.transpose(0, 2, 1)), initial=0.0) <= 1e-9 * size
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
    if not isinstance(parts, list | tuple) or not all(isinstance(p, Samples) for p in parts):
        raise ParameterError(
            f"output.join({label(parts)}): give a list of samples", asked="parts", given=parts
        )
    parts = [p for p in parts if len(p.points)]
    if not parts:
        return Samples(np.empty((0, 3)), {})
    cells = _numbered(parts)
    values = _common([p.point_data for p in parts])
    point_data = {name: np.concatenate(each) for name, each in values.items()}
    cell_data = _of_cells(parts, list(cells))
    names = {*point_data, *cell_data}
    units = {k: unit for k, unit in _united([p.units for p in parts]).items() if k in names}
    points = np.concatenate([p.points for p in parts])
    return Samples(points, cells, point_data, cell_data, units, _united([p.texts for p in parts]))


def _numbered(parts: Sequence[Samples]) -> dict[str, Ints]:
    """Return the cells of all parts by type, with the numbers of points in all."""
    first = np.cumsum([0, *(len(p.points) for p in parts)])
    moved = [
        {kind: rows + n for kind, rows in p.cells.items()}
        for p, n in zip(parts, first, strict=False)
    ]
    return {kind: np.concatenate(rows) for kind, rows in _each(moved).items()}


def _of_cells(parts: Sequence[Samples], kinds: Sequence[str]) -> dict[str, Data]:
    """Return the data that cells of all parts have, type by type."""
    by_type = {}
    for name, each in _common([_by_kind(p) for p in parts]).items():
        rows = _each(each)
        by_type[name] = np.concatenate([values for kind in kinds for values in rows[kind]])
    return by_type


def _united(parts: Sequence[Mapping[str, T]]) -> dict[str, T]:
    """Return what all have by name; later ones win."""
    return {name: value for part in parts for name, value in part.items()}


def _each(parts: Sequence[Mapping[str, T]]) -> dict[str, list[T]]:
    """Return by name what those have that have it."""
    return {name: [part[name] for part in parts if name in part] for name in _united(parts)}


def _common(parts: Sequence[Mapping[str, T]]) -> dict[str, list[T]]:
    """Return by name what all have."""
    every = _each(parts)
    return {name: every[name] for name in parts[0] if len(every[name]) == len(parts)}


def _by_kind(samples: Samples) -> dict[str, dict[str, Data]]:
    """Return the rows of cell data by name and type of cells."""
    ends = np.cumsum([len(cells) for cells in samples.cells.values()])[:-1]
    return {
        name: dict(zip(samples.cells, np.split(values, ends), strict=False))
        for name, values in samples.cell_data.items()
    }


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
