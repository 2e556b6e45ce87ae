# SPDX-License-Identifier: BSD-3-Clause
"""Rods in solids whose meshes they need not follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from ..errors import ConstraintError, ParameterError
from ..places.axis import AxisPoints, Surrounding
from ..places.on_body import Nodes
from ..terms.constraint import Constraint
from ..terms.work.potential import Potential
from ..values.arguments import name_or, one_of
from ..values.domain import checked, positive
from ..values.parameter import label, reals
from .coinciding import coincide

if TYPE_CHECKING:
    from ..bodies.body import Body
    from ..terms.quantities import E, V
    from ..values.parameter import Scalar

Per = Literal["point", "cell"]


def _with_twist(r_a: V, e2_a: V, e3_a: V, r_b: V, e2_b: V, e3_b: V) -> list[E]:
    return [*coincide(r_a, r_b), e2_a.dot(e3_b) - e3_a.dot(e2_b)]


def _springs(r_a: V, r_b: V, *, stiffness: E) -> E:
    d = r_a - r_b
    return stiffness / 2 * d.dot(d)


def _turning(r_a: V, e2_a: V, e3_a: V, r_b: V, e2_b: V, e3_b: V, *, stiffness: E, radius: E) -> E:
    twist = (e2_a.dot(e3_b) - e3_a.dot(e2_b)) / 2
    return _springs(r_a, r_b, stiffness=stiffness) + stiffness / 2 * (radius * twist) ** 2


def embed(
    rod: Body | Nodes,
    solid: Body,
    *,
    radius: float = 0.0,
    per: Per = "cell",
    stiffness: Scalar | None = None,
    name: str | None = None,
) -> Constraint | Potential:
    r"""Let a cable or rod follow the solid in which it lies; their meshes need not match.

    With the axis r(S) of the rod and the position x of the solid where it is in the reference,

    .. math:: \int_c (r - \bar x)\, dS = 0, \qquad
        \int_c (d_2 \cdot \bar d_3 - d_3 \cdot \bar d_2)\, dS = 0

    over each cell c of the rod, with multipliers, forces by length. Without a radius
    :math:`\bar x = x`, and the second is left out. With one, of rods with directors d_2 and d_3,
    :math:`\bar x` is the mean of the four points of the circle around the axis along these, and
    :math:`\bar d_2` and :math:`\bar d_3` are the distances of opposite points over its diameter:
    the rod turns about its axis as the circle does.

    Parameters
    ----------
    rod : a body of `ancf_cable` or `ancf_rod`, or a region of its cells, ``rod["inside"]``.
    solid : a body of cells of a solid.
    radius : of the circles [m], that of an `ancf_rod`; cables have no directors.
    per : ``"cell"``: in the mean of each cell of the rod; ``"point"``: at each of its nodes.
    stiffness : instead of equations springs, the energy :math:`k/2 \int |r - \bar x|^2 dS` and
        :math:`k/2 \int R^2 \sin^2\phi\, dS` of the angle of twist between them [N/m^2]: a number,
        `Parameter` or function of time. Ten times Young's modulus of the solid is stiff.
    name : shown in messages.

    Returns
    -------
    Constraint or Potential : a term. `Constraint.multipliers` (n, 3 or 4) are forces on the solid
        by length [N/m].

    Raises
    ------
    ConstraintError : `rod` is no cable or rod, `solid` no solid; in a system: the rod or its
        circles leave the solid, or it is attached more than once ("point") or twice ("cell") in
        each cell of first order that it crosses, along whose straight edges it could hardly bend,
        or is a curved cable that equations hold and `planar` does not.
    ParameterError : `radius`, `per` or `stiffness` is not what it can be.

    Notes
    -----
    A line that pulls at a solid displaces it by more the finer the mesh is, as the logarithm of the
    size of cells; with circles the solid feels how thick the rod is. The solid in the place of the
    rod is counted twice: take its E A, E I off those of the rod where that matters. A cable that
    is curved in the reference bends out of its plane at no cost (see `ancf_cable`), which
    equations for means or nodes leave free: take rods there, `planar` or springs. With springs a
    cable that gets straighter may still turn sideways, for it has no torsional stiffness.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh, line = sa.Mesh.box((1.0, 0.1, 0.1), (10, 3, 3)), sa.Mesh.box((1.0,), (10,))
    >>> soft, wire = sa.energies.neo_hooke(), sa.energies.cable()
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, soft, name="block", mu=1e5, lam=1e6)
    >>> cable = sa.Body(line["body"], sa.elements.ancf_cable, wire, name="wire", EA=1e3, EI=1e-2)
    >>> sa.embed(cable, block)
    constraint 'wire in block'
    """
    axis_of = _rod(rod)
    _require_solid(solid)
    who = name_or(name, f"{axis_of.body.name} in {solid.name}")
    one_of(f"embed {who!r}: per", per, get_args(Per))
    R = reals(radius)
    if R.shape != () or R < 0.0:
        raise ParameterError(
            f"embed {who!r}: radius is {label(radius)}: give a number that is not negative [m]",
            asked="radius",
            given=radius,
        )
    element = axis_of.body.element
    if R > 0.0 and not element.axes:
        raise ParameterError(
            f"embed {who!r}: {element.name} has no directors that could turn as a circle of the "
            f"radius {float(R):g} does: leave it out, or take ancf_rod",
            asked="radius",
            given=radius,
            possible=(0.0,),
        )
    axis = AxisPoints(axis_of.body, axis_of.region, per if stiffness is None else None)
    around = Surrounding(solid, axis, float(R), who if stiffness is None else "")
    turns = float(R) > 0.0
    if stiffness is None:
        return Constraint(_with_twist if turns else coincide, axis, around, name=who)
    k = checked(f"stiffness of embed {who!r}", "stiffness", stiffness, positive())
    given: dict[str, Any] = {"stiffness": k} | ({"radius": float(R)} if turns else {})
    return Potential(_turning if turns else _springs, axis, around, name=who, **given)


def _rod(rod: Any) -> Nodes:
    """Return the cells of a rod.

    Raises
    ------
    ConstraintError
    """
    nodes = rod if isinstance(rod, Nodes) else _nodes_of(rod)
    element = None if nodes is None else nodes.body.element
    if nodes is None or element is None or element.dimension != 1:
        raise ConstraintError(
            f"embed: rod is {label(rod)}: give a body of ancf_cable or ancf_rod, or a region of "
            "its cells, rod['region']",
            asked="rod",
            given=rod,
        )
    nodes.region.require(element.cell, use=f"embed of body {nodes.body.name!r}")
    return nodes


def _nodes_of(body: Any) -> Nodes | None:
    region = None if isinstance(body, type) else getattr(body, "region", None)
    return None if region is None or not hasattr(body, "element") else Nodes(body, region)


def _require_solid(solid: Any) -> None:
    nodes = _nodes_of(solid)
    if nodes is None or nodes.body.element.dimension != 3:
        raise ConstraintError(
            f"embed: solid is {label(solid)}: give a body of cells of a solid",
            asked="solid",
            given=solid,
        )
