# SPDX-License-Identifier: BSD-3-Clause
"""Stage 9, bind: load a library through ctypes and call it on NumPy arrays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from symancf_codegen.errors import CodegenError
from symancf_codegen.library.compile import library
from symancf_codegen.modes import COMMON, MODES, OPERANDS, signature

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
    addresses : address of each of its functions.

    The methods `energy`, `residual`, `tangent`, `product`, `diagonal`, `coarse`, `at_points`,
    `multiply`, `parameter`, `pull`, `shape` and `outputs` copy their arguments into batches of 8 lanes and
    back; a kernel has those of `Description.modes`.
    """

    def __init__(self, description: Description, source: str, path: Path) -> None:
        self.description = description
        self.source = source
        modes = description.modes
        self.header = "\n".join(f"{signature(description.name, mode)};" for mode in modes) + "\n"
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
        self.memory = description.memory
        self.optional = description.optional
        self.totals = description.totals
        self.linear = description.linear
        self.moments = description.moments
        self.operations = description.operations
        self.strategies = description.strategies
        self.flops = description.flops
        self._library = ctypes.CDLL(str(path))
        self._functions: dict[str, Callable[..., int]] = {}
        self.addresses: dict[str, int] = {}
        for mode in modes:
            called = f"{self.name}_{mode}"
            try:
                function = getattr(self._library, called)
            except AttributeError as error:
                raise incomplete(path, called) from error
            function.restype = ctypes.c_int
            count = len(COMMON) + len(MODES[mode].inputs) + len(MODES[mode].results)
            function.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * count]
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
        (w,), bad = self._run("energy", u, reference, parameters)
        return w[:, 0], bad

    def residual(
        self,
        u: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, int]:
        """Return f = dW/du in the shape of `u`, and the number of bad points."""
        (f,), bad = self._run("residual", u, reference, parameters)
        return f.reshape(np.shape(u)), bad

    def tangent(
        self,
        u: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, Array, int]:
        """Return f, the full K as (cells, rows, rows), and the number of bad points."""
        (f, packed), bad = self._run("tangent", u, reference, parameters)
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
        (kv,), bad = self._run("product", u, reference, parameters, v=v)
        return kv.reshape(np.shape(u)), bad

    def diagonal(
        self,
        u: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, int]:
        """Return the blocks of K on the diagonal (cells, n, 3, 3), and the number of bad points."""
        (blocks,), bad = self._run("diagonal", u, reference, parameters)
        return blocks.reshape(len(blocks), self.n, 3, 3), bad

    def at_points(
        self,
        u: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, int]:
        """Return the derivatives of forces by jets at points (cells, moments)."""
        (rows,), bad = self._run("moments", u, reference, parameters)
        return rows, bad

    def multiply(self, moments: Array, v: Array) -> tuple[Array, int]:
        """Return K v in the shape of `v` from what `at_points` has returned."""
        parameters = dict.fromkeys((*self.uniform, *self.cell), 0.0)
        (kv,), bad = self._run("multiply", v, None, parameters, v=v, moments=moments)
        return kv.reshape(np.shape(v)), bad

    def coarse(
        self,
        u: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, int]:
        """Return P^T K P as (cells, rows, rows), and the number of bad points.

        P interpolates the linear functions of the corners of the cell, see `Space.linear`.
        """
        (packed,), bad = self._run("coarse", u, reference, parameters)
        return self.unpack(packed, self.description.linear), bad

    def parameter(
        self,
        u: Array,
        rates: Mapping[str, Value],
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[Array, int]:
        """Return the derivative of f in the direction `rates` of the parameters (0 by default).

        In the shape of `u`, and the number of bad points.
        """
        (fp,), bad = self._run("parameter", u, reference, parameters, rates=rates)
        return fp.reshape(np.shape(u)), bad

    def pull(
        self,
        u: Array,
        v: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
        seeds: Mapping[str, Value] | None = None,
    ) -> tuple[Array, dict[str, Array], int]:
        """Return derivatives of s = v . f + seeds . (what points remember next), cell by cell.

        By the unknowns in the shape of `u`; by all parameters and what is remembered, one value
        per cell by name (per cell and point where it differs between points: the sum over its
        rows of `cell` is not taken); and the number of bad points. `seeds` are 0 by default.
        """
        results, bad = self._run("pull", u, reference, parameters, v=v, seeds=seeds)
        by = dict(zip(self.uniform, results[1].T, strict=True)) if self.uniform else {}
        rows: dict[str, list[Array]] = {}
        for name, row in zip(self.cell, results[2].T, strict=False):
            rows.setdefault(name, []).append(row)
        by |= {name: x[0] if len(x) == 1 else np.stack(x, axis=1) for name, x in rows.items()}
        return results[0].reshape(np.shape(u)), by, bad

    def shape(
        self,
        u: Array,
        v: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
        seeds: Mapping[str, Value] | None = None,
    ) -> tuple[Array, int]:
        """Return the derivatives of the sum of `pull` by the reference, and the bad points."""
        (by_reference,), bad = self._run("shape", u, reference, parameters, v=v, seeds=seeds)
        return by_reference.reshape(np.shape(u)), bad

    def outputs(
        self,
        u: Array,
        reference: Array | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> tuple[dict[str, dict[str, Array]], int]:
        """Return {law: {name: (cells, points)}}, the laws' outputs, and the number of bad points.

        In place of outputs of laws what points remember, of a kernel with such a function.
        The points are those of the law's rule, section points running fastest; a kernel on tuples
        has one.
        """
        mode = next(mode for mode in self.description.modes if MODES[mode].tabulates)
        (rows,), bad = self._run(mode, u, reference, parameters)
        by_law: dict[str, dict[str, Array]] = {}
        first = 0
        for law, points, names in self.description.outputs:
            size = points * len(names)
            table = rows[:, first : first + size].reshape(len(rows), points, len(names))
            by_law[law] = {name: table[..., k] for k, name in enumerate(names)}
            first += size
        return by_law, bad

    def size(self, operand: str) -> int:
        """Return how many rows [8] of an operand a function writes."""
        points = sum(count * len(names) for _, count, names in self.description.outputs)
        sizes = {
            "scalar": 1,
            "vector": self.rows,
            "matrix": self.tangent_rows,
            "diagonal": 9 * self.n,
            "coarse": 9 * self.linear * (self.linear + 1) // 2,
            "moments": self.moments,
            "points": points,
            "sums": len(self.uniform),
            "rows": len(self.cell),
        }
        return sizes[OPERANDS[operand].shape]

    def unpack(self, packed: Array, functions: int | None = None) -> Array:
        """Return the matrices (cells, rows, rows) of packed tangents (cells, tangent_rows).

        `functions` : whose blocks they are, default: all of the cell.
        """
        n = self.n if functions is None else functions
        rows = 3 * n if self.tabulated else self.rows
        full = np.zeros((len(packed), rows, rows))
        if not self.tabulated:
            if not self.symmetric:
                return packed.reshape(full.shape)
            for c in range(self.rows):
                for r in range(c + 1):
                    full[:, r, c] = full[:, c, r] = packed[:, c * (c + 1) // 2 + r]
            return full
        for j in range(n):
            for i in range(j + 1 if self.symmetric else n):
                index = j * (j + 1) // 2 + i if self.symmetric else i * n + j
                block = packed[:, 9 * index : 9 * index + 9].reshape(-1, 3, 3)
                full[:, 3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
                if self.symmetric and i != j:
                    full[:, 3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = block.transpose(0, 2, 1)
        return full

    def complete(self, parameters: Mapping[str, Value]) -> dict[str, Value]:
        """Return parameters with zeros for those that need not be given."""
        return {**dict.fromkeys(self.optional, 0.0), **parameters}

    def uniform_values(self, parameters: Mapping[str, Value]) -> Array:
        """Return the array `uniform` of parameter values."""
        return np.array([parameters[name] for name in self.uniform] or [0.0], dtype=float)

    def cell_values(self, parameters: Mapping[str, Value], cells: int) -> Array:
        """Return the array `cell` of parameter values, (cells, rows)."""
        columns = [
            np.broadcast_to(np.asarray(_at(parameters[name], point), dtype=float), cells)
            for name, point in zip(self.cell, self.points, strict=True)
        ]
        return np.stack(columns, axis=1) if columns else np.zeros((cells, 1))

    def _slots(self, values: Mapping[str, Value] | None) -> Array:
        """Return the array `uniform`, 0 where there are no values."""
        uniform = self.uniform_values({**dict.fromkeys(self.uniform, 0.0), **(values or {})})
        return aligned(uniform.shape, uniform)

    def _rows(self, values: Mapping[str, Value] | None, cells: int) -> Array:
        """Return the array `cell` in batches, 0 where there are no values."""
        return batches(self.cell_values({**dict.fromkeys(self.cell, 0.0), **(values or {})}, cells))

    def _values(self, parameters: Mapping[str, Value] | None) -> dict[str, Value]:
        """Return a value of each parameter; errors say what keeps the kernel from a run."""
        if self.description.single:
            raise ValueError(f"kernel {self.name}: it is in single precision, for C alone")
        values = self.complete(parameters or {})
        missing = [name for name in (*self.uniform, *self.cell) if name not in values]
        if missing:
            raise ValueError(f"kernel {self.name}: no value for {', '.join(missing)}")
        return values

    def _call(self, mode: str, cells: int, arrays: Sequence[Array]) -> int:
        """Return the number of bad points that a function finds, batch by batch."""
        addresses = np.array([a.ctypes.data for a in arrays])
        strides = np.array([a.strides[0] * (a.ndim > 1) for a in arrays])
        bad = 0
        for b in range(-(-cells // LANES)):
            lanes = min(LANES, cells - LANES * b)
            bad += self._functions[mode](lanes, *(addresses + b * strides).tolist())
        return bad

    def _run(
        self,
        mode: str,
        u: Array,
        reference: Array | None,
        parameters: Mapping[str, Value] | None,
        v: Array | None = None,
        rates: Mapping[str, Value] | None = None,
        seeds: Mapping[str, Value] | None = None,
        moments: Array | None = None,
    ) -> tuple[list[Array], int]:
        values = self._values(parameters)
        cells, row = len(u), MODES[mode]
        operands: dict[str, Array] = {"seed": self._rows(seeds, cells)}
        for suffix, source in (("", values), ("_rate", rates)):
            operands[f"uniform{suffix}"] = self._slots(source)
            operands[f"cell{suffix}"] = self._rows(source, cells)
        for name, vector in (("u", u), ("v", v), ("reference", reference), ("moments", moments)):
            rows = np.zeros((cells, self.rows)) if vector is None else np.asarray(vector)
            operands[name] = batches(rows.reshape(cells, int(np.prod(rows.shape[1:]))))
        inputs = [operands[name] for name in (*COMMON, *row.inputs)]
        count = -(-cells // LANES)
        results = [
            aligned((count, self.size(name), LANES), 0.0 if name in row.sums else np.nan)
            for name in row.results
        ]
        bad = self._call(mode, cells, [*inputs, *results])
        return [x.transpose(0, 2, 1).reshape(-1, x.shape[1])[:cells] for x in results], bad


def load(source: Source, flags: Sequence[str], compiler: str | None) -> Kernel:
    """Return the kernel of a C text, which is compiled if it is not in the cache (stages 8, 9)."""
    name = source.description.name
    loaded = library(name, source.text, flags, compiler=compiler)
    try:
        return Kernel(source.description, source.text, loaded)
    except (OSError, CodegenError):  # of another system, or by a compiler that failed: made anew
        loaded.unlink(missing_ok=True)
        loaded = library(name, source.text, flags, compiler=compiler)
        return Kernel(source.description, source.text, loaded)


def incomplete(path: Path, function: str) -> CodegenError:
    """Return the error that says that a library lacks a function."""
    return CodegenError(
        f"the library {path} has no function {function}: did the C compiler write another one? "
        "Set SYMANCF_CC to another compiler, and let `symancf cache clear` remove the library",
        asked=function,
        given=str(path),
    )


def _at(value: Value, point: tuple[float, ...]) -> float | Array:
    return value(np.array([point]))[:, 0] if callable(value) else value


def aligned(shape: Sequence[int], values: npt.ArrayLike | None = None) -> Array:
    """Return an array that starts at a multiple of 64 bytes, with copies of values, or zeros."""
    size = math.prod(shape)
    buffer = np.zeros(size + 8)  # of zeros the system gives pages when they are written to
    start = -buffer.ctypes.data % 64 // 8
    result = buffer[start : start + size].reshape(tuple(shape))
    if values is not None:
        result[...] = values
    return result


def batches(values: Array) -> Array:
    """Return (cells, rows) as (batches, rows, 8); the last batch repeats its last cell."""
    cells, rows = values.shape
    count = -(-cells // LANES)
    index = np.minimum(np.arange(count * LANES), cells - 1)
    lanes = values[index].reshape(count, LANES, rows).transpose(0, 2, 1)
    return aligned(lanes.shape, lanes)
