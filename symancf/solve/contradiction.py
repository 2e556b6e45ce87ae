# SPDX-License-Identifier: BSD-3-Clause
"""Constraints that agree where a system was made, and contradict each other later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array
from ..errors import ConstraintError, ParameterError, listed, owner
from ..newton.dependent import ConstraintGroup, Jacobian, constraint_names, fulfil
from ..runtime.collective import together
from ..values.parameter import depends_on_time

if TYPE_CHECKING:
    from ..assembly.discrete import DiscreteSystem
    from ..assembly.form import Form


VIOLATION_TOLERANCE = 1e-7  # of the largest body's size: an equation left out that no longer holds
FOLLOWING_RATIO = 1e3  # times the violation of others: an equation that follows from them
PROBED_MOTION = 0.05  # of the body's size (of 1 for slopes): motions up to which others are probed
PROBED_TIMES = tuple(10.0**k for k in range(-6, 1))  # parts of the time to the end of a solution


def require_redundant(system: DiscreteSystem) -> None:
    """Raise where equations that were left out as redundant, `Redundant.some`, no longer hold.

    (Collective.)

    Raises
    ------
    ConstraintError : they followed from the others only where the system was made.
    """
    wrong, names = _violation(system, system.residual_at(system.state))
    if names:
        raise ConstraintError(
            f"equations of {listed(names)} that were left out as redundant are violated by "
            f"{wrong:.3g} at time {system.time:g}: they follow from the others only at special "
            "positions, or contradict them now",
            names=map(owner, names),
            asked="residual",
            given=wrong,
        )


def require_consistent(system: DiscreteSystem, to: float) -> None:
    """Raise where functions of time will make constraints contradict each other (collective).

    Equations, `Redundant.some`, were left out because others imply them at one time. At times
    between the present and `to`, as long as the others demand but small motions, these are
    fulfilled by Gauss's and Newton's method; what was left out must hold then, too. Later
    contradictions are found when they happen, by `require_redundant`.

    Raises
    ------
    ConstraintError : names the constraints.
    """
    forms = [form for form in system.forms if form.role == "constraint"]
    if not _timed(system, forms):
        return
    jacobian = Jacobian(system, forms)
    try:
        state, way = system.state.copy(), 0.0
        for part in (0.0, *PROBED_TIMES):
            time = system.time + part * (to - system.time)
            before = state.copy()
            _prescribe(system, jacobian, state, time)
            _, last = fulfil(jacobian, state, _groups(system, jacobian, state))
            way += float(np.abs((state - before) / jacobian.scale).max(initial=0.0))
            way = system.comm.allreduce(way, op=MPI.MAX)
            if last > 1e-8 or (part and way > PROBED_MOTION):
                return
            way = way if part else 0.0
            f = np.zeros_like(state)
            jacobian.assembler.residual(state, f)
            wrong, names = _violation(system, f)
            if names:
                groups = [np.zeros(0, dtype=np.int64), *system.redundant.groups]
                keys = system.comm.bcast(np.concatenate(groups))
                others = listed(constraint_names(jacobian, forms, keys)[0])
                raise ConstraintError(
                    f"constraints contradict each other after time {system.time:g}: equations of "
                    f"{listed(names)} followed from those of {others} where the system was made, "
                    f"but would be violated by {wrong:.3g} at time {time:g}",
                    names=map(owner, names),
                    asked="contradiction",
                    given=wrong,
                )
    except ParameterError:
        return  # a function that fails there need not be called there
    finally:
        jacobian.close()


def _timed(system: DiscreteSystem, forms: list[Form]) -> bool:
    """Tell whether a constraint or a support is a function of time."""
    return any(depends_on_time(support.values) for support in system.supports) or any(
        form.cell_at is not None
        or "t" in form.kernel.uniform
        or any(name != "scale" and depends_on_time(v) for name, v in form.uniform.items())
        for form in forms
    )


def _prescribe(system: DiscreteSystem, jacobian: Jacobian, state: Array, time: float) -> None:
    """Take parameters and prescribed coordinates of a time (collective)."""
    with together(system.comm):
        jacobian.assembler.update(time)
        prescribed = [(support.offsets, support.course([time])[0]) for support in system.supports]
    for places, values in prescribed:
        state[places] = values
    system.update_prescribed(state)


def _groups(system: DiscreteSystem, jacobian: Jacobian, state: Array) -> list[ConstraintGroup]:
    """Return what is left of the groups with redundant equations, on rank 0 (collective)."""
    data = jacobian.at(state)
    if data is None:
        return []
    return [
        ConstraintGroup.of(data, rows, np.unique(data.column[np.isin(data.row, rows)]))
        for rows in system.redundant.groups
        if len(rows)
    ]


def _violation(system: DiscreteSystem, f: Array) -> tuple[float, list[str]]:
    """Return by how much equations that were left out do not hold, and whose they are.

    They hold to round-off where the others do, and drift with these in motions of index 1.
    """
    left_out, numbering = system.redundant.left_out, system.numbering
    others = numbering.those("multiplier") & (numbering.fixed_by < 0)
    both = [float(np.abs(f[at]).max(initial=0.0)) for at in (left_out, others)]
    wrong, largest = np.max(system.comm.allgather(both), axis=0) / system.stiffness
    if not wrong > VIOLATION_TOLERANCE * system.extent + FOLLOWING_RATIO * largest:
        return float(wrong), []
    bad = left_out[np.abs(f[left_out]) > 0.1 * wrong * system.stiffness]
    violated = system.comm.allgather(system.numbering.owners_of(bad))
    return float(wrong), sorted(set().union(*violated))
