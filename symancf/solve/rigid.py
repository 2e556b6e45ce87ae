# SPDX-License-Identifier: BSD-3-Clause
"""Rigid motions of all coordinates: the near-null space of the tangent, and momenta."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..output.tracking import made_of
from ..values.parameter import vector3

if TYPE_CHECKING:
    from ..system import System


def rigid_modes(system: System, state: Array | None = None, about: Array | None = None) -> Array:
    """Return the six rigid motions of all coordinates, (6, coordinates).

    Positions move by t + w x (r - r0), slopes by w x r_slope; r0 is `about` or the centre of the
    nodes, r that of `state` or of the reference (collective).
    """
    numbering = system.numbering
    q = system.reference if state is None else system.reference + state
    centre = about
    if centre is None:
        centre = centre_of_nodes(system, q)
    modes = np.zeros((6, numbering.coordinates))
    for number, block in enumerate(numbering.blocks):
        if not block.moves and block.kind != "dependent":
            continue
        at = numbering.coordinates_of(number)
        for a, axis in enumerate(np.eye(3)):
            modes[a, at] = block.translated(axis)
            modes[3 + a, at] = block.rotated(q[at], axis, centre)
    return modes


def centre_of_nodes(system: System, q: Array) -> Array:
    """Return the mean (3,) of the nodes at the values `q`, one point of each (collective)."""
    numbering, sums = system.numbering, np.zeros(4)
    seen = np.zeros(numbering.vertices, dtype=bool)
    seen[numbering.owned_vertices :] = True
    for number, block in enumerate(numbering.blocks):
        if block.kind == "position":
            vertices = numbering.carriers(number)
            fresh = vertices[~seen[vertices]]
            seen[fresh] = True
            sums[: block.size] += q[numbering.coordinates_of(number, fresh)].sum(axis=0)
            sums[3] += len(fresh)
    sums = system.sum(sums)
    return np.asarray(sums[:3] / max(sums[3], 1.0))


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

    Raises
    ------
    ParameterError : no system; `about` is not three finite numbers.

    Examples
    --------
    >>> import symancf as sa
    >>> at, v = (0.0, 0.0, 0.0), (2.0, 0.0, 0.0)
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=at, rho=1000.0, velocity=v)
    >>> system = sa.System(ball)
    >>> [part.round(9).tolist() for part in sa.momentum(system)]
    [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    system = made_of("momentum", system)
    point = vector3("momentum: about", about)
    f = system.mass_times(system.rate)
    f[system.numbering.start[system.numbering.owned_vertices] :] = 0.0
    total = system.sum(system.wrench(f, point))
    return total[:3], total[3:]
