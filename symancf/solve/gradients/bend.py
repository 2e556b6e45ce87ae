# SPDX-License-Identifier: BSD-3-Clause
"""Second derivatives: those of exact first derivatives, along a direction."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...errors import ParameterError
from ...runtime.collective import together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...arrays import Array
    from ...assembly.assembler import Derivatives
    from ...assembly.discrete import DiscreteSystem

#: Weights of central differences of order 4 and 6 at h, 2 h, 3 h
FOURTH, SIXTH = (8 / 12, -1 / 12, 0.0), (45 / 60, -9 / 60, 1 / 60)
STEP = 4e-3  # of the size of the largest body, or of a parameter: the first h
SHORTER, TRIALS = 6.0, 4  # by which h is divided while it is too long, and how often
WANTED, ENOUGH = 1e-9, 1e-6  # of the result: how far both orders may differ
#: of a value by its step over `STEP`: a derivative of that size is none
SMALL = 1e-4


def along(
    system: DiscreteSystem,
    function: Callable[[float], Sequence[Array]],
    step: float,
    what: str,
    scales: Sequence[Array] = (),
) -> list[Array]:
    """Return the derivatives at 0 of arrays that are exact first derivatives (collective).

    Central differences of order 6, and of order 4 beside them: h is made shorter until both agree.
    Where laws are polynomials of small degree they have no error but round-off, some 1e-12.

    Parameters
    ----------
    function : of h, which is the same on every rank; arrays of this rank.
    step : the h over which kinematics change by `STEP`.
    what : in messages.
    scales : factors that make the arrays comparable, of which the largest then measures errors;
        none: each array has errors of its own.

    Raises
    ------
    ParameterError : there are no second derivatives.
    """
    best, least = [np.zeros(0)], np.inf
    for _ in range(TRIALS):
        ends = [(function(k * step), function(-k * step)) for k in (1, 2, 3)]
        found, sizes, errors = [], list[float](), list[float]()
        every = zip(*(zip(*pair, strict=True) for pair in ends), strict=True)
        for scale, arrays in zip(scales or repeat(1.0), every, strict=False):
            changes = [(a - b) / step for a, b in arrays]
            sixth = sum(w * x for w, x in zip(SIXTH, changes, strict=True))
            fourth = sum(w * x for w, x in zip(FOURTH, changes, strict=True))
            parts = arrays[0][0], sixth, sixth - fourth
            there, size, off = (_largest(system, scale * x) for x in parts)
            sizes.append(max(SMALL * STEP / step * there, size))
            errors.append(off)
            found.append(sixth)
        error = _relative([max(errors)], [max(sizes)]) if scales else _relative(errors, sizes)
        if error < least:
            best, least = found, error
        if error < WANTED:
            break
        step /= SHORTER
    if not least < ENOUGH:
        raise ParameterError(
            f"{what}: first derivatives have a kink at the present state, as where something "
            f"begins to touch or to yield; second ones differ by {least:.1e}",
            asked=what,
            given=least,
        )
    return best


def _relative(errors: Sequence[float], sizes: Sequence[float]) -> float:
    """Return the largest error by the size that belongs to it."""
    return max(off / size if size else 0.0 for off, size in zip(errors, sizes, strict=True))


def step_of(system: DiscreteSystem, direction: Array) -> float:
    """Return the step along a change of state by which nothing moves more than `STEP` of the body.

    Infinite where nothing moves (collective).
    """
    moves = system.numbering.those("position", "direction", "angle", "sliding")
    part = np.abs(np.where(moves, direction / system.numbering.natural(system.extent), 0.0))
    most = _largest(system, part)
    return STEP / most if most else np.inf


def bend(system: DiscreteSystem, a: Array, b: Array, what: str) -> Derivatives:
    """Return the derivatives of a . K b, a and b held, at the present state (collective).

    By values and rows of kernels, and by the coordinates.
    """
    first = system.assembler.pull(system.state, a)
    numbers = sorted(first.rows)

    def beside(h: float) -> list[Array]:
        found = None
        with together(system.comm):
            found = system.assembler.pull(system.state + h * b, a)
        if system.comm.allreduce(found.bad):
            raise ParameterError(f"{what}: a law has no derivatives beside the state", asked=what)
        return [found.values, found.coordinates, *(found.rows[k] for k in numbers)]

    scales = [system.assembler.values, system.numbering.natural(system.extent)]
    scales += [system.forms[k].cell for k in numbers]
    values, coordinates, *rows = along(system, beside, step_of(system, b), what, scales)
    return replace(
        first, values=values, coordinates=coordinates, rows=dict(zip(numbers, rows, strict=True))
    )


def times(factor: float, by: Derivatives) -> Derivatives:
    """Return a multiple of derivatives."""
    rows = {k: factor * x for k, x in by.rows.items()}
    return replace(by, values=factor * by.values, rows=rows, coordinates=factor * by.coordinates)


def total(parts: Sequence[Derivatives]) -> Derivatives:
    """Return the sum of derivatives."""
    found = parts[0]
    for part in parts[1:]:
        found = replace(
            found,
            values=found.values + part.values,
            coordinates=found.coordinates + part.coordinates,
            rows={k: x + part.rows.get(k, 0.0) for k, x in found.rows.items()},
        )
    return found


def _largest(system: DiscreteSystem, x: Array) -> float:
    return float(system.comm.allreduce(float(np.abs(x).max(initial=0.0)), op=MPI.MAX))
