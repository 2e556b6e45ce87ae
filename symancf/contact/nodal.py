# SPDX-License-Identifier: BSD-3-Clause
r"""Fields of a contact on its surfaces: what points tell, as means over the nodes.

Pressures of single points oscillate; the means do not,

.. math:: p_v = \frac{\int N_v\, p\, dA}{\int N_v\, dA},

with the linear functions N of the corners of a facet (those of its edges' middles are negative at
some points) and areas of the reference. At kinks of more than 45 degrees a node has a mean for each
of the smooth parts, so that a pressure does not leak around an edge.

All of it is the same on every rank; a rank holds some 40 bytes for each point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array, Data, Ints
from ..cells import CELLS
from ..errors import ParameterError
from ..runtime.collective import together
from .facets import FacetPass
from .lists import Lists
from .sides import Side
from .skin import Skin, skin_of

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from .rigid import RigidPass

OPEN, STICK, SLIP = 0, 1, 2


class Nodal(NamedTuple):
    """Means over the corners of a side, by their linear functions N; the same on every rank.

    Attributes
    ----------
    ids : (n,) of the nodes among the points of the meshes of the system.
    X : (n, 3) reference positions.
    pressure, gap : (n,) integral of N p over that of N, and of N g where something is opposite;
        a gap is NaN where nothing is.
    touch, slip : (n,) parts of the area around a node that touch, and that slide.
    """

    ids: Ints
    X: Array
    pressure: Array
    gap: Array
    touch: Array
    slip: Array


@dataclass
class Told:
    """What all points of a side tell, with q of them on each of F facets.

    Attributes
    ----------
    skin : the facets.
    area : (F q,) of the reference (of cables: length) that the points stand for.
    pressure : (F q,) per area, of cables per length.
    gap : (F q,) [m]; NaN where nothing is opposite.
    slip : (F q,) path of slip since a point last began to touch [m]; None without friction.
    status : (F q,) `OPEN`, `STICK` (without friction: closed) or `SLIP`.
    """

    skin: Skin
    area: Array
    pressure: Array
    gap: Array
    slip: Array | None
    status: Ints

    @property
    def values(self) -> dict[str, Data]:
        """The fields at the points."""
        found: dict[str, Data] = {"pressure": self.pressure, "gap": self.gap}
        found |= {} if self.slip is None else {"slip": self.slip}
        return found | {"status": self.status}

    @cached_property
    def _corners(self) -> Array:
        """Linear functions of the corners at the points of a facet (q, corners)."""
        side = self.skin.side
        value, _ = CELLS[side.kind].straight.evaluate(side.unit)
        return np.asarray(value)

    def _sums(self, values: Array, group: Ints | None = None) -> Array:
        """Return sums (G,) over the points around the nodes of values (F q,) times N.

        `group` : (F, corners) numbers of the nodes; default: of their smooth parts.
        """
        group, N = self.skin.group if group is None else group, self._corners
        each = np.einsum("qv,fq->fv", N, values.reshape(len(group), len(N)))
        count = int(group.max(initial=-1)) + 1
        return np.bincount(group.ravel(), each.ravel(), minlength=count).astype(float)

    def _means(self, values: Array, area: Array, group: Ints | None = None) -> Array:
        """Return means (G,) of values where there is an area, else NaN."""
        below = self._sums(area, group)
        above = self._sums(np.where(area > 0.0, values, 0.0) * area, group)
        return np.divide(above, below, out=np.full_like(below, np.nan), where=below > 0.0)

    @property
    def _near(self) -> Array:
        """The areas (F q,) of points with something opposite, 0 of others."""
        return np.where(np.isnan(self.gap), 0.0, self.area)

    def over_nodes(self, layout: Layout) -> Nodal:
        """Return means over the nodes, those at a kink over all parts around it (collective)."""
        ring = self.skin.facets[:, : self._corners.shape[1]]
        nodes, at = np.unique(ring, return_inverse=True)
        group, ids = at.reshape(ring.shape), self.skin.ids[nodes]
        parts = [(self.status > s).astype(float) for s in (OPEN, STICK)]
        p, touch, slip = (self._means(v, self.area, group) for v in (self.pressure, *parts))
        gap = self._means(self.gap, self._near, group)
        return Nodal(ids, layout.fetch_points(ids), p, gap, touch, slip)

    @cached_property
    def nodal(self) -> dict[str, Data]:
        """The fields at the corners of facets (F, corners).

        The mean gap is that of points with something opposite, the mean slip that of points that
        touch, 0 where none does. A node is open where no point
        around it presses; else it does what most of the area does that presses.
        """
        stick, slip = (self._sums(self.area * (self.status == s)) for s in (STICK, SLIP))
        status = np.where(slip >= stick * (1.0 - 1e-9), SLIP, STICK)  # a tie slides
        status[stick + slip == 0.0] = OPEN
        found: dict[str, Data] = {"pressure": self._means(self.pressure, self.area)}
        found["gap"] = self._means(self.gap, self._near)
        if self.slip is not None:
            closed = self.area * (self.status != OPEN)
            found["slip"] = np.nan_to_num(self._means(self.slip, closed))
        found["status"] = status
        return {name: values[self.skin.group] for name, values in found.items()}

    def on_lattice(self, unit: Array) -> dict[str, Data]:
        """Return the nodal fields at places of the unit cell (m, d) of all facets (F, m)."""
        value, _ = CELLS[self.skin.side.kind].straight.evaluate(unit)
        nearest = np.argmax(value, axis=1)
        found: dict[str, Data] = {}
        for name, v in self.nodal.items():
            whole = name == "status"
            found[name] = v[:, nearest] if whole else np.asarray(v, dtype=float) @ value.T
        return found


def told(each: RigidPass | FacetPass, configuration: Configuration) -> Told:
    """Return what the points of a pass tell at the present state (collective).

    Raises
    ------
    ParameterError : they are those of a rigid body.
    """
    side = each.contactor
    if not isinstance(side, Side):
        raise ParameterError(f"contact {each.name!r}: {side} has no surface")
    skin = skin_of(side, configuration.layout)
    if not skin.placed:
        skin.place(configuration)
    with together(configuration.comm):
        look = each.look(configuration)
    mine = look.owned
    found = each.gaps(configuration, look) if isinstance(each, FacetPass) else look.gap
    own = np.stack(
        [look.weight, look.pressure, found, look.status, look.slid, np.ones_like(found)], axis=1
    )
    table: Array = np.zeros((skin.size * len(side.weights), own.shape[1]))
    table[look.ids[mine]] = own[mine]
    area, pressure, gap, status, slid, seen = configuration.sum(table).T
    gap = np.where(seen > 0.0, gap, np.nan)
    area = configuration.of(each, Lists).area if isinstance(each, FacetPass) else area
    rubs = each.coulomb if isinstance(each, FacetPass) else each.touch.coulomb
    slip = None if rubs is None else slid
    return Told(skin, area, pressure, gap, slip, np.rint(status).astype(np.int64))
