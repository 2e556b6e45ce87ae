# SPDX-License-Identifier: BSD-3-Clause
"""Lengths of edges and of lines of edges that are kept, or prescribed."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import sympy as sp

from ..arrays import Array
from ..assembly.configuration import Configuration, in_system
from ..errors import ConstraintError, ParameterError
from ..places.along import Along
from ..places.lines import EdgePoints
from ..places.on_body import Nodes
from ..terms.constraint import Constraint
from ..terms.term import vector_of
from ..values.arguments import name_or, one_of
from ..values.parameter import label, reals

if TYPE_CHECKING:
    from ..places.ends import End
    from ..terms.quantities import E, S, V


def _arc_length(rs_a: V, *, stretch: S) -> E:
    return sp.sqrt(rs_a.dot(rs_a)) - stretch


def _squared_gradient(rs_a: V, *, stretch: S) -> E:
    return rs_a.dot(rs_a) - stretch**2


Per = Literal["edge", "line", "cell"]
FORMS = {"arc": _arc_length, "squared": _squared_gradient}


class Length(Constraint):
    """A constraint on the lengths of the edges or lines of a region, or of paths; see `length`."""

    def __init__(
        self,
        place: Nodes | Along,
        form: Literal["arc", "squared"],
        per: Per | None,
        stretch: Any,
        name: str | None,
    ) -> None:
        if not isinstance(place, Nodes | Along):
            raise ConstraintError(
                "length takes a region of lines of a body, body['region'], or a path through a "
                f"solid, solid.along(path); given {label(place)}",
                asked="region",
                given=label(place),
            )
        of = place.region.name if isinstance(place, Nodes) else "path"
        name = name_or(name, f"length:{place.body.name}.{of}")
        one_of(f"{name}: form", form, FORMS)
        first: Per = "edge" if isinstance(place, Nodes) else "cell"
        possible = first, "line"
        per = first if per is None else per
        one_of(f"{name}: per", per, possible)
        size = reals(stretch) if isinstance(stretch, numbers.Real) else np.ones(())
        if size.shape != () or not size > 0.0:
            raise ParameterError(
                f"{name}: stretch is {label(stretch)}: give a positive number",
                asked="stretch",
                given=stretch,
            )
        line: End = (
            place.grouped(name, per)
            if isinstance(place, Along)
            else (EdgePoints(place.body, place.region, "line" if per == "line" else "edge"))
        )
        super().__init__(FORMS[form], line, name=name, stretch=stretch)
        self.form, self.per = form, per

    @in_system
    def lengths(self, system: Configuration) -> Array:
        """Return the present arc length of each edge or line, on every rank (collective) [m]."""
        own = system.binding(self)
        rs = vector_of(own.at_places(system), (0, "line"), len(own.entities.ids))
        return self._sums(system, np.linalg.norm(rs, axis=1))

    @in_system
    def reference_lengths(self, system: Configuration) -> Array:
        """Return the reference length of each edge or line, on every rank (collective) [m]."""
        return self._sums(system, np.ones(len(system.binding(self).entities.ids)))

    def _sums(self, configuration: Configuration, values: Array) -> Array:
        """Return the integrals of values at this rank's points over each group (collective)."""
        own = configuration.binding(self)
        entities, weight = own.entities, own.cell["weight"]
        mine = entities.owned
        total = np.zeros(entities.groups)
        np.add.at(total, entities.group[mine], (weight * values)[mine])
        return configuration.sum(total)


def length(
    place: Nodes | Along,
    form: Literal["arc", "squared"] = "arc",
    per: Per | None = None,
    stretch: Any = 1.0,
    name: str | None = None,
) -> Length:
    r"""Keep the length of each edge, or of each line of edges, of a region, or of paths.

    With the arc length s of the reference, its integral l_0 and r' = dr/ds,

    .. math:: \Phi = \int |\mathbf r'| \,ds - \lambda\, l_0 \quad\text{(arc)}, \qquad
        \Phi = \int \mathbf r' \cdot \mathbf r' \,ds - \lambda^2 l_0 \quad\text{(squared)}

    where lambda is the prescribed ratio `stretch`. Both are lengths [m], and their multipliers
    forces [N]. The forms agree while the stretch is uniform. Else only the first keeps the
    length: the second keeps m^2 + v, with the mean m and the variance v of the stretch, so that
    a line of length l_0 shortens to l_0 sqrt(1 - v) where it stretches unevenly.

    Parameters
    ----------
    place : ``body["region"]`` with a region of lines: cells of a cable, edges of the cells of
        plates (cubics through the nodes with their slopes) or of solids (of first order straight,
        of second order parabolas); or ``solid.along(path)``, lines that cells of a solid cut.
    form : ``"arc"`` or ``"squared"``.
    per : ``"edge"``, the default of a region: an equation for each edge. ``"cell"``, that of paths:
        one for each cell that a path crosses, where those shorter than a tenth of the path's mean
        are joined to a neighbour. ``"line"``: one for each chain of edges that meet at their ends,
        or for each path; material may then move along the line.
    stretch : prescribed ratio of the present length to that of the reference: a number,
        `Parameter` or function of time.

    Returns
    -------
    Length : a term. `Length.lengths` are the present lengths, `Length.multipliers` (n, 1) the
        tensions [N] that act beside those of the body: positive where the line would become
        longer without the constraint, whose tension pulls its ends together. In the squared
        form the tension is 2 |r'| times the multiplier, and varies along the line.

    Raises
    ------
    MeshError : the region holds other cells than lines, or a line that is no edge of a cell of
        the body, or more than two edges meet at a point (``per="line"``).
    ConstraintError : in a system: a path leaves its body, or paths are so close that their cells
        have more equations than they can fulfil.
    ConstraintError, ParameterError : `place`, `form`, `per` or `stretch` is none of the above.

    Notes
    -----
    Gauss's rule with five points; one on straight edges; along a path in a solid two for each
    piece in a cell of first order, three in others. Integrals over s do not depend on the
    cells' parameters. (J. Xing et al., Machines 10 (2022) 518, eqs. (31) and (32); the second
    there subtracts the length a of the parameter's domain instead of the reference's integral,
    which is the same where the reference has \|dr/dx\| = 1.) Where a straight line is fixed at
    both ends, the gradient of its length vanishes for all motions that are left, and the tangent
    is singular.

    Examples
    --------
    >>> import symancf as sa
    >>> line = sa.Mesh.box((1.0,), (4,))["body"]
    >>> cord = sa.Body(line, sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)
    >>> kept = sa.length(cord["body"], per="line")
    """
    return Length(place, form, per, stretch, name)
