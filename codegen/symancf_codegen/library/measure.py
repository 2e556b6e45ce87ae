# SPDX-License-Identifier: BSD-3-Clause
"""Speed of a kernel: nanoseconds per cell and the fraction of the processor's peak.

All times are CPU time of the calling thread (CLOCK_THREAD_CPUTIME_ID), medians of nine, so
that a shared machine disturbs them little. The peak is measured by a loop of independent
fused multiply-adds, in the same run as the kernels.
"""

from __future__ import annotations

import ctypes
import functools
import statistics
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from symancf_codegen.library.bind import LANES, Array, Kernel, Value, aligned, batches
from symancf_codegen.library.compile import library
from symancf_codegen.modes import MODES

SAMPLES = 9


@functools.cache
def _timer() -> ctypes.CDLL:
    text = Path(__file__).with_name("measure.c").read_text(encoding="utf-8")
    timer = ctypes.CDLL(str(library("measure", text)))
    timer.symancf_time.restype = ctypes.c_double
    timer.symancf_time.argtypes = [ctypes.c_void_p, *[ctypes.c_int] * 5, *[ctypes.c_void_p] * 6]
    timer.symancf_peak.restype = ctypes.c_double
    timer.symancf_peak.argtypes = [ctypes.c_int, ctypes.c_void_p]
    return timer


def fma_peak(samples: int = SAMPLES) -> float:
    """Return the peak of one core in GF/s: multiply-adds on 8 doubles, counted as 16 flop."""
    timer, result, repeat = _timer(), np.zeros(1), 200_000
    flops = repeat * 16 * LANES * 2
    times = [float(timer.symancf_peak(repeat, result.ctypes.data)) for _ in range(samples)]
    return flops / statistics.median(times) * 1e-9


def nanoseconds(
    kernel: Kernel,
    mode: str,
    u: Array,
    reference: Array,
    parameters: Mapping[str, Value],
    *,
    samples: int = SAMPLES,
    seconds: float = 0.02,
) -> float:
    """Return the time of one cell in ns.

    Parameters
    ----------
    kernel : what to time.
    mode : "energy", "residual", "tangent" (residual and tangent together) or "product".
    u, reference : (cells, n, 3). With few cells (64) the data stay in cache; with as many
        as fill several hundred megabytes they come from memory.
    parameters : values by name.
    samples : number of measurements; the median is returned.
    seconds : least duration of one measurement.
    """
    cells = len(u)
    timer = _timer()
    x = batches(np.asarray(u, dtype=float).reshape(cells, -1))
    shape = batches(np.asarray(reference, dtype=float).reshape(cells, -1))
    values = kernel.complete(parameters)
    cell, uniform_values = (
        batches(kernel.cell_values(values, cells)),
        kernel.uniform_values(parameters),
    )
    uniform = aligned(uniform_values.shape, uniform_values)
    output = aligned((kernel.size(MODES[mode].results[-1]), LANES))
    second = {"tangent": aligned((kernel.rows, LANES)), "product": x}.get(mode)

    def run(repeat: int) -> float:
        time: float = timer.symancf_time(
            kernel.addresses[mode],
            repeat,
            len(x),
            kernel.rows,
            cell.shape[1],
            int(mode == "product"),
            *(a.ctypes.data for a in (uniform, cell, shape, x)),
            second.ctypes.data if second is not None else None,
            output.ctypes.data,
        )
        return time

    run(1)
    repeat = max(1, round(seconds / max(run(1), 1e-7)))
    times = [run(repeat) for _ in range(samples)]
    return statistics.median(times) / repeat / (LANES * len(x)) * 1e9
