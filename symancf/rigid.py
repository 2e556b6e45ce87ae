# SPDX-License-Identifier: BSD-3-Clause
"""Rigid motions of all coordinates: the near-null space of the tangent, and momenta."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .assembly.numbering import ANGLE, POSITION, RIGID_POINT

if TYPE_CHECKING:
    from .system import System

Array = npt.NDArray[np.float64]

ROUND_OFF = 1e-18  # square of the response to a unit motion, by the stiffness


def rigid_modes(system: System, state: Array | None = None, about: Array | None = None) -> Array:
    """Return the six rigid motions of all coordinates, (6, coordinates).

    Positions move by t + w x (r - r0), slopes by w x r_slope; r0 is `about` or the centre of the
    nodes, r that of `state` or of the reference (collective).
    """
    numbering = system.numbering
    position = numbering.offset[:, numbering.block("position")]
    has = np.flatnonzero(position >= 0)
    planar = _carrying(system, POSITION)
    points, q = system.points, system.reference
    if state is not None:
        points, q = points.copy(), q + state
        points[has] += state[position[has][:, None] + np.arange(3)]
    centre = about
    if centre is None:
        located = np.concatenate([has, planar])
        owned = located[located < numbering.owned_vertices]
        sums = system.sum(np.append(points[owned].sum(axis=0), len(owned)))
        centre = sums[:3] / max(sums[3], 1.0)
    if state is not None and len(planar):
        start = numbering.offset[planar, numbering.block(POSITION)]
        points[planar, :2] += state[start[:, None] + np.arange(2)]
    arm = points - centre
    modes = np.zeros((6, numbering.coordinates))
    second = _carrying(system, RIGID_POINT)
    for a in range(3):
        modes[a, position[has] + a] = 1.0
        axis = np.eye(3)[a]
        turned = np.cross(axis, arm[has])
        for b in range(3):
            modes[3 + a, position[has] + b] = turned[:, b]
        if len(second):
            at = numbering.offset[second, numbering.block(RIGID_POINT)][:, None] + np.arange(3)
            modes[a, at[:, a]] = 1.0
            modes[3 + a, at] = np.cross(axis, q[at] - centre)
        for number, block in enumerate(numbering.blocks):
            if not block.name.startswith("slopes:"):
                continue
            start = numbering.offset[:, number]
            at = start[start >= 0][:, None] + np.arange(block.size)
            slopes = q[at].reshape(len(at), block.size // 3, 3)
            modes[3 + a, at] = np.cross(axis, slopes).reshape(at.shape)
    if len(planar):
        at = numbering.offset[planar, numbering.block(POSITION)]
        modes[0, at], modes[1, at + 1] = 1.0, 1.0
        modes[5, at], modes[5, at + 1] = -arm[planar, 1], arm[planar, 0]
        modes[5, numbering.offset[planar, numbering.block(ANGLE)]] = 1.0
    return modes


def momentum(system: System, about: npt.ArrayLike = (0.0, 0.0, 0.0)) -> tuple[Array, Array]:
    r"""Return linear and angular momentum of all bodies in motion (collective).

    The mass matrix between the rates and rigid motions of the present state,
    :math:`p_a = d_a^T M \dot q`, so that nothing is lost by quadrature.

    Parameters
    ----------
    about : point that the angular momentum is about [m].

    Returns
    -------
    p : (3,) [kg m/s].
    L : (3,) [kg m^2/s].
    """
    f: Array = np.zeros(system.numbering.coordinates)
    system.mass.residual(system.rate, f)
    f[system.numbering.start[system.numbering.owned_vertices] :] = 0.0
    total = system.sum(rigid_modes(system, system.state, np.asarray(about, dtype=float)) @ f)
    return total[:3], total[3:]


def _carrying(system: System, name: str) -> npt.NDArray[np.int64]:
    """Local vertices that carry the block of coordinates called `name`."""
    numbering = system.numbering
    if name not in [block.name for block in numbering.blocks]:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(numbering.offset[:, numbering.block(name)] >= 0)
