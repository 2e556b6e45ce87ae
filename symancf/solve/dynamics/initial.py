# SPDX-License-Identifier: BSD-3-Clause
r"""Consistent initial values: velocities that respect the constraints, and accelerations.

Positions must fulfil :math:`\Phi(q, t) = 0`. Velocities are projected on
:math:`\Phi_q v + \Phi_t = 0` in the metric of the mass; accelerations and multipliers follow
from the equations of motion with index 1, see `accelerations`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...assembly.numbering import EMPTY
from ...errors import ConstraintError, listed, owner
from ...newton import ROUND_OFF
from ...newton.stress_predictor import holds_by_penalties
from ...runtime.collective import together
from .integrator import REMAINDER_TOLERANCE

if TYPE_CHECKING:
    from .accelerations import Accelerations
    from .motion import EquationsOfMotion

VIOLATION_TOLERANCE = 1e-7  # of the size of the system: an initial state that violates a constraint
MAX_FIRST_TURN = 1.0  # change of a direction by its acceleration over a step squared
VELOCITY_CHANGE_TOLERANCE = 1e-6  # relative change of initial velocities that is worth a warning


def after(time: float, h: float) -> float:
    """Return a time right after one, beyond a jump of a function there."""
    return time + max(REMAINDER_TOLERANCE * h, 8.0 * float(np.spacing(abs(time))))


def find_initial_values(
    accelerations: Accelerations,
    h: float,
    positions: bool = True,
    warns: bool = True,
    jumped: bool = False,
) -> None:
    """Write consistent rates, accelerations and multipliers of the present state (collective).

    Parameters
    ----------
    h : length of the first step: over it prescribed motions are differentiated.
    positions : require that the state fulfils the constraints.
    warns : warn where rates do not; else they are off by the order of the method.
    jumped : loads are those right after the present time.

    Raises
    ------
    ConstraintError : the state violates a constraint, or the mass with the constraints is
        singular.
    """
    m, system = accelerations.motion, accelerations.system
    numbers = {"state": m.state, "rate": m.rate}
    system.require_numbers("dynamics begins", numbers, m.second | m.first)
    accelerations.kinematics.window = h
    _prescribe(m, h, warns)
    accelerations.kinematics.refresh()
    multipliers = m.state[m.algebraic].copy()
    m.state[m.algebraic] = 0.0
    try:
        accelerations.factor()
        accelerations.newton.balance.constraints.refresh(accelerations.lengths)
        if positions:
            _check_positions(accelerations)
        _correct_rates(accelerations, h, warns)
        loads_at = after(system.time, h) if jumped else system.time
        if jumped:
            with together(system.comm):
                system.update(loads_at)
        accelerations.find(loads_at=loads_at)
        if holds_by_penalties(system):
            _leave_wild(m, h)
    except BaseException:
        m.state[m.algebraic] = multipliers
        raise
    finally:
        accelerations.newton.tangent.stale = True


def _prescribe(m: EquationsOfMotion, h: float, warns: bool) -> None:
    """Write what supports prescribe, rates of zero where they stand still (collective)."""
    system, own = m.system, m.system.numbering.fixed_by
    fixed = (own >= 0) & (own < EMPTY) & (m.second | m.first)
    change = np.where(fixed, np.abs(m.rate), 0.0)
    m.rate[fixed] = m.acceleration[fixed] = 0.0
    m.prescribe(system.time, h)
    for support in m.moving:
        change[support.offsets] = 0.0
    k = int(change.argmax()) if len(change) else 0
    mine = (float(change[k]), int(own[k])) if len(change) else (0.0, -1)
    most, number = max(system.comm.allgather(mine))
    fastest = system.comm.allreduce(float(np.abs(m.rate).max(initial=0.0)), op=MPI.MAX)
    if warns and most > VELOCITY_CHANGE_TOLERANCE * max(fastest, most):
        name = owner(system.name(system.terms[number]))
        system.once.warn(
            ("initial velocities", name),
            f"the initial velocities are up to {most:.3g} at the support {name!r}, which stands "
            f"still at t = {system.time:g}: they became 0 there",
        )


def _leave_wild(m: EquationsOfMotion, h: float) -> None:
    """Leave accelerations out that no step resolves, of directions that penalties hold.

    A moment on a director alone, which is light, turns it until the penalties answer.
    """
    system = m.system
    direction = system.numbering.those("direction")
    wild = m.second & direction & (np.abs(m.acceleration) * h**2 > MAX_FIRST_TURN)
    m.acceleration[wild] = 0.0
    if system.comm.allreduce(bool(wild.any())):
        system.once.warn(
            "jump of a moment",
            f"at t = {system.time:g} a moment on sections of rods jumps (of a load, or of a "
            "tendon or joint beside the axis), which have next to no inertia: the motion begins "
            "half a step late; ramp it over some steps",
        )


def _check_positions(accelerations: Accelerations) -> None:
    system, newton = accelerations.system, accelerations.newton
    share, worst = newton.balance.worst_constraint(accelerations.violation())
    if math.isinf(share):
        raise ConstraintError(
            f"the constraint {listed([worst])} has no gradient at t = {system.time:g}: no free "
            "motion changes it at first order, so that nothing enforces it (a straight line of "
            "fixed length between fixed ends, points of a link that coincide); start elsewhere",
            names=[owner(worst)],
            asked="gradient",
            given=0.0,
        )
    violation = share * ROUND_OFF
    if violation > VIOLATION_TOLERANCE:
        raise ConstraintError(
            f"the initial state violates the constraint {listed([worst])} by "
            f"{violation:.2g} of the size of the system at t = {system.time:g}: find a "
            "state that fulfils it with a StaticProblem first",
            names=[owner(worst)],
            asked="residual",
            given=violation,
        )


def _correct_rates(accelerations: Accelerations, h: float, warns: bool) -> None:
    """Project the rates on the constraints, in the metric of the mass."""
    m, system, newton = accelerations.motion, accelerations.system, accelerations.newton
    drift = accelerations.violation(speed=True)
    share, worst = newton.balance.worst_constraint(drift)
    fastest = newton.largest(float(np.abs(m.rate[m.second]).max(initial=0.0)))
    if share * ROUND_OFF * newton.size <= 1e-14 * fastest:
        return
    change = accelerations.project_rates()
    moved = newton.largest(float(np.abs(change).max(initial=0.0)))
    changed = (
        moved > VELOCITY_CHANGE_TOLERANCE * fastest > 0.0 and moved * h > ROUND_OFF * newton.size
    )
    if warns and changed:
        system.once.warn(
            ("initial velocities", worst),
            f"the initial velocities violate constraints, {listed([worst])} most: they were "
            f"changed by up to {moved:.3g} (the largest is {fastest:.3g}), to the closest "
            "ones in the metric of the mass",
        )
