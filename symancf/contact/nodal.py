# SPDX-License-Identifier: BSD-3-Clause
r"""Fields of a contact on its surfaces: what points tell, as means over the nodes.

Pressures of single points oscillate; the means do not,

.. math:: p_v = \frac{\int N_v\, p\, dA}{\int N_v\, dA},

with the linear functions N of the corners of a facet (those of its edges' middles are negative at
some points) and areas of the reference. At kinks of more than 45 degrees a node has a mean for each
of the smooth parts, so that a pressure does not leak around an edge.

The pressure p is nominal, the force per area A of the reference, as laws have it. The true one,
the normal component of Cauchy's stress, is per present area a,

.. math:: \hat p = p\, \frac{dA}{da}, \qquad
    \hat p_v = \frac{\int N_v\, p\, dA}{\int N_v\, da}.

All of it is the same on every rank; a rank holds some 40 bytes for each point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array, Data, Ints
from ..cells import CELLS

if TYPE_CHECKING:
    from ..assembly.configuration import Layout
    from .patch import SurfacePatch
    from .surface import ContactSurface

OPEN, STICK, SLIP = 0, 1, 2


class Nodal(NamedTuple):
    """Means over the corners of a side, by their linear functions N; the same on every rank.

    Attributes
    ----------
    ids : (n,) of the nodes among the points of the meshes of the system.
    X : (n, 3) reference positions.
    pressure, gap : (n,) integral of N p over that of N, and of N g where something is opposite;
        a gap is NaN where nothing is. The pressure is nominal: per area (of cables: length) of the
        reference.
    touch, slip : (n,) parts of the area around a node that touch, and that slide.
    true_pressure : (n,) per present area (length), the normal component of Cauchy's stress.
    """

    ids: Ints
    X: Array
    pressure: Array
    gap: Array
    touch: Array
    slip: Array
    true_pressure: Array


@dataclass
class SideFields:
    """What all P points of a side tell.

    Attributes
    ----------
    surface : the facets.
    area, present : (P,) of the reference, and now (of cables: lengths), that points stand for.
    pressure : (P,) per `area`.
    gap : (P,) [m]; NaN where nothing is opposite.
    slip : (P,) path of slip since a point last began to touch [m]; None without friction.
    status : (P,) `OPEN`, `STICK` (without friction: closed) or `SLIP`.
    """

    surface: ContactSurface
    area: Array
    present: Array
    pressure: Array
    gap: Array
    slip: Array | None
    status: Ints

    @property
    def values(self) -> dict[str, Data]:
        """The fields at the points."""
        fields: dict[str, Data] = {"pressure": self.pressure, "gap": self.gap}
        fields |= {} if self.slip is None else {"slip": self.slip}
        true = self.pressure * ratio(self.area, self.present)
        return fields | {"status": self.status, "true_pressure": true}

    def _sums(self, values: Array, nodes: bool = False) -> Array:
        """Return sums (G,) over the points around the nodes of values (P,) times N.

        Of the smooth parts around a node; with `nodes` of all, (U,).
        """
        total = np.zeros(len(self.surface.ids) if nodes else self.surface.groups)
        for patch in self.surface.patches:
            N, _ = CELLS[patch.facet_set.kind].straight.evaluate(patch.facet_set.unit)
            own = values[patch.points].reshape(-1, patch.count)
            group = patch.facets[:, : patch.corners] if nodes else patch.group
            each = np.einsum("qv,fq->fv", N, own)
            total += np.bincount(group.ravel(), each.ravel(), minlength=len(total))
        return total

    def _means(self, values: Array, area: Array, nodes: bool = False) -> Array:
        """Return means (G,) of values where there is an area, else NaN."""
        below = self._sums(area, nodes)
        return ratio(self._sums(np.where(area > 0.0, values, 0.0) * area, nodes), below)

    def _true(self, nodes: bool = False) -> Array:
        """Return means (G,) of the pressure per present area."""
        force = self._sums(self.pressure * self.area, nodes)
        return ratio(force, self._sums(self.present, nodes))

    @property
    def _near(self) -> Array:
        """The areas (P,) of points with something opposite, 0 of others."""
        return np.where(np.isnan(self.gap), 0.0, self.area)

    def over_nodes(self, layout: Layout) -> Nodal:
        """Return means over the nodes, those at a kink over all parts around it (collective)."""
        rings = [patch.facets[:, : patch.corners].ravel() for patch in self.surface.patches]
        at = np.unique(np.concatenate(rings))
        ids = self.surface.ids[at]
        parts = [(self.status > s).astype(float) for s in (OPEN, STICK)]
        p, touch, slip = (self._means(v, self.area, nodes=True) for v in (self.pressure, *parts))
        gap, true = self._means(self.gap, self._near, nodes=True), self._true(nodes=True)
        fields = (field[at] for field in (p, gap, touch, slip, true))
        return Nodal(ids, layout.fetch_points(ids), *fields)

    @cached_property
    def nodal(self) -> dict[str, Data]:
        """The fields (G,) at the smooth parts around corners.

        The mean gap is that of points with something opposite, the mean slip that of points that
        touch, 0 where none does. A node is open where no point
        around it presses; else it does what most of the area does that presses.
        """
        stick, slip = (self._sums(self.area * (self.status == s)) for s in (STICK, SLIP))
        status = np.where(slip >= stick * (1.0 - 1e-9), SLIP, STICK)  # a tie slides
        status[stick + slip == 0.0] = OPEN
        fields: dict[str, Data] = {"pressure": self._means(self.pressure, self.area)}
        fields["gap"] = self._means(self.gap, self._near)
        if self.slip is not None:
            closed = self.area * (self.status != OPEN)
            fields["slip"] = np.nan_to_num(self._means(self.slip, closed))
        return fields | {"status": status, "true_pressure": self._true()}

    def on_lattice(self, patch: SurfacePatch, unit: Array) -> dict[str, Data]:
        """Return the nodal fields at places (m, d) of the unit cell of a leaf's facets (n, m)."""
        value, _ = CELLS[patch.facet_set.kind].straight.evaluate(unit)
        nearest = np.argmax(value, axis=1)
        fields: dict[str, Data] = {}
        for name, each in self.nodal.items():
            v = each[patch.group]
            is_status = name == "status"
            fields[name] = v[:, nearest] if is_status else np.asarray(v, dtype=float) @ value.T
        return fields


def ratio(above: Array, below: Array) -> Array:
    """Return a quotient, NaN where below is 0."""
    return np.divide(above, below, out=np.full_like(below, np.nan), where=below > 0.0)
