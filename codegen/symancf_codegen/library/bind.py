# SPDX-License-Identifier: BSD-3-Clause
"""Stage 9, bind: load a library through ctypes and call it on NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from symancf_codegen.library.compile import library
from symancf_codegen.text.signature import MODES, signature

if TYPE_CHECKING:
    from symancf_codegen.text.description import Description, Source

Array = npt.NDArray[np.float64]
Value: TypeAlias = (
    float | Array | Callable[[Array], Array]
)  # for all cells, of each, or at their points

LANES = 8


class Kernel:
    """A compiled kernel.

    Beside the attributes of `Description`:

    Attributes
    ----------
    source, header, path : C text, C declarations, path of the shared library.
    addresses : address of each of energy, residual, tangent, product.

    The methods `energy`, `residual`, `tangent`, `product` are for tests and small studies;
    they copy their arguments into batches of 8 lanes and back.
    """

    def __init__(self, description: Description, source: str, path: Path) -> None:
        self.description = description
        self.source = source
        self.header = "\n".join(f"{signature(description.name, mode)};" for mode in MODES) + "\n"
        self.path = path
        self.name = description.name
        self.n = description.n
        self.rows = description.rows
        self.uniform = description.uniform
        self.cell = description.cell
        self.points = description.points
        self.symmetric = description.symmetric
        self.has_tangent = description.has_tangent
        self.tabulated = description.tabulated
        self.rates = description.rates
        self.operations = description.operations
        self.strategies = description.strategies
        self.flops = description.flops
        self._library = ctypes.CDLL(str(path))
        self._functions: dict[str, Callable[..., int]] = {}
        self.addresses: dict[str, int] = {}
        for mode in MODES:
            function = getattr(self._library, f"{self.name}_{mode}")
            function.restype = ctypes.c_int
            count = 7 if mode in ("tangent", "product") else 6
            function.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * (count - 1)]
            self._functions[mode] = function
            address = ctypes.cast(function, ctypes.c_void_p).value
            assert address is not None
            self.addresses[mode] = address

    def __repr__(self) -> str:
        kind = "cells" if self.tabulated else "tuples"
        return f"<kernel {self.name} on {kind}, {self.rows} unknowns, {self.path}>"

    @property
    def tangent_rows(self) -> int:
        """Number of rows of K."""
        if self.tabulated:
            return 9 * (self.n * (self.n + 1) // 2 if self.symmetric else self.n * self.n)
        return self.rows * (self.rows + 1) // 2 if self.symmetric else self.rows**2

    def energy(
        self,
        u: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, int]:
        """Return W (one value per cell) and the number of bad points.

        Parameters
        ----------
        u : (cells, n, 3) displacement coefficients, or (tuples, m).
        reference : (cells, n, 3) reference coordinates.
        parameters : name -> number, or an array with one value per cell for cell parameters, or
            a function of points (m, dimension) -> (cells, m) for point parameters.
        """
        (w,), bad = self._run("energy", u, None, reference, parameters, (1,))
        return w[:, 0], bad

    def residual(
        self,
        u: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, int]:
        """Return f = dW/du in the shape of `u`, and the number of bad points."""
        (f,), bad = self._run("residual", u, None, reference, parameters, (self.rows,))
        return f.reshape(np.shape(u)), bad

    def tangent(
        self,
        u: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, Array, int]:
        """Return f, the full K as (cells, rows, rows), and the number of bad points."""
        sizes = (self.rows, self.tangent_rows)
        (f, packed), bad = self._run("tangent", u, None, reference, parameters, sizes)
        k = self.unpack(packed) if self.has_tangent else np.zeros((len(f), self.rows, self.rows))
        return f.reshape(np.shape(u)), k, bad

    def product(
        self,
        u: Array,
        v: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, int]:
        """Return K v in the shape of `u`, and the number of bad points."""
        (kv,), bad = self._run("product", u, v, reference, parameters, (self.rows,))
        return kv.reshape(np.shape(u)), bad

    def unpack(self, packed: Array) -> Array:
        """Return the matrices (cells, rows, rows) of packed tangents (cells, tangent_rows)."""
        full = np.zeros((len(packed), self.rows, self.rows))
        if not self.tabulated:
            if not self.symmetric:
                return packed.reshape(full.shape)
            for c in range(self.rows):
                for r in range(c + 1):
                    full[:, r, c] = full[:, c, r] = packed[:, c * (c + 1) // 2 + r]
            return full
        for j in range(self.n):
            for i in range(j + 1 if self.symmetric else self.n):
                index = j * (j + 1) // 2 + i if self.symmetric else i * self.n + j
                block = packed[:, 9 * index : 9 * index + 9].reshape(-1, 3, 3)
                full[:, 3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
                if self.symmetric and i != j:
                    full[:, 3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = block.transpose(0, 2, 1)
        return full

    def uniform_values(self, parameters: Mapping[str, Value]) -> Array:
        """Return the array `uniform` of parameter values."""
        return np.array([parameters[name] for name in self.uniform] or [0.0], dtype=float)

    def _run(
        self,
        mode: str,
        u: Array,
        v: Array | None,
        reference: Array | None,
        parameters: Mapping[str, Value] | None,
        sizes: tuple[int, ...],
    ) -> tuple[list[Array], int]:
        values = dict(parameters or {})
        missing = [name for name in (*self.uniform, *self.cell) if name not in values]
        if missing:
            raise ValueError(f"kernel {self.name}: no value for {', '.join(missing)}")
        cells = len(u)
        columns = [
            np.broadcast_to(np.asarray(_at(values[name], point), dtype=float), cells)
            for name, point in zip(self.cell, self.points, strict=True)
        ]
        cell = batches(np.stack(columns, axis=1) if columns else np.zeros((cells, 1)))
        uniform = aligned(self.uniform_values(values))
        inputs = [batches(np.asarray(u).reshape(cells, -1))]
        if v is not None:
            inputs.append(batches(np.asarray(v).reshape(cells, -1)))
        if reference is None:
            reference = np.zeros((cells, self.rows))
        shape = batches(np.asarray(reference).reshape(cells, -1))
        outputs = [aligned(np.full((len(cell), size, LANES), np.nan)) for size in sizes]
        bad = 0
        for b in range(len(cell)):
            lanes = min(LANES, cells - LANES * b)
            arrays = [uniform, cell[b], shape[b], *(x[b] for x in inputs), *(x[b] for x in outputs)]
            bad += self._functions[mode](lanes, *(a.ctypes.data for a in arrays))
        return [x.transpose(0, 2, 1).reshape(-1, x.shape[1])[:cells] for x in outputs], bad


def load(source: Source, flags: Sequence[str], compiler: str | None) -> Kernel:
    """Return the kernel of a C text, which is compiled if it is not in the cache (stages 8, 9)."""
    name = source.description.name
    made = library(name, source.text, flags, compiler=compiler)
    try:
        return Kernel(source.description, source.text, made)
    except OSError:  # of another system, say: made anew here
        made.unlink(missing_ok=True)
        made = library(name, source.text, flags, compiler=compiler)
        return Kernel(source.description, source.text, made)


def _at(value: Value, point: tuple[float, ...]) -> float | Array:
    return value(np.array([point]))[:, 0] if callable(value) else value


def aligned(values: Array) -> Array:
    """Return a copy of `values` that starts at a multiple of 64 bytes."""
    buffer = np.empty(values.size + 8)
    start = -buffer.ctypes.data % 64 // 8
    result = buffer[start : start + values.size].reshape(values.shape)
    result[...] = values
    return result


def batches(values: Array) -> Array:
    """Return (cells, rows) as (batches, rows, 8); the last batch repeats its last cell."""
    cells, rows = values.shape
    count = -(-cells // LANES)
    index = np.minimum(np.arange(count * LANES), cells - 1)
    return aligned(values[index].reshape(count, LANES, rows).transpose(0, 2, 1))
