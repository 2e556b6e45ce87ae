# SPDX-License-Identifier: BSD-3-Clause
"""Supports as users ask for them: clamps and prescribed motions, planes, rollers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...bodies.body import Body
from ...bodies.node import OneNode
from ...errors import ConstraintError, ParameterError
from ...places.ends import require_place
from ...places.on_body import Nodes, PointsOnBody
from ...values.arguments import name_or
from .nodes import NodeSupport
from .planes import Mirror, Roller
from .support import FrameSupport, Support

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ...values.motion import Displacement, Gradient


def fix(
    region: Nodes | PointsOnBody | OneNode,
    dofs: str | Sequence[str] = "clamp",
    displacement: Displacement = None,
    gradient: Gradient = None,
    name: str | None = None,
    direction: npt.ArrayLike | None = None,
) -> Support:
    """Clamp a place, fix coordinates of its nodes, or prescribe their motion.

    ``"clamp"`` is what glue does: u = 0 on the face that is glued, and nothing else.

    =====================  =========================================================================
    place                  held besides positions
    =====================  =========================================================================
    any, of a solid        nothing: its nodes have positions only
    a point of a cable     the direction of the tangent; its length is free
    an edge of a thin      the slope along the edge, and of the slope across it the component out of
    plate                  the plane, so that the normal stands; in the plane it is free
    an edge of             the slope along the edge and r_z, as the glued face is X + z r_z; the
    ``ancf_plate``         slope across is free
    a point of a plate     the normal (thin plates), r_z (``ancf_plate``)
    cells of the body      all slopes: their whole surface is glued
    =====================  =========================================================================

    Edges that meet at less than the body's smoothing angle are one smooth line with one tangent
    at each node; where they meet at more, both slopes are fixed.

    Parameters
    ----------
    region : ``body["root"]`` or a node ``body.at(X)``; or a planar body, whose coordinates are
        ``"x"``, ``"y"`` and ``"theta"`` of its frame; `displacement` then has one value for each
        coordinate that is fixed, and `Support.reaction` gives force and moment; or a rigid
        body: ``"all"`` of it, or the ``"position"`` of its origin.
    dofs : ``"clamp"``, ``"all"`` (positions and all slopes, also along a cable and across an
        edge: a support without strain, as in papers), ``"position"``, ``"slopes"``, ``"x"``,
        ``"y"``, ``"z"``; a slope, of cables ``"slope"``, of plates ``"slope_along"`` and
        ``"slope_across"`` (the edges of the place), ``"slope_normal"`` (r_z of
        ``ancf_plate``), or ``"slope_x"``, ``"slope_y"``, ``"slope_z"``, the derivative along an
        axis of space (of thin plates where they lie in the plane of this axis); a component of
        a slope (``"slope_across.z"``); or a list of these. ``"normal"``: the displacement along
        `direction`, as of a roller on a plane across it.
    displacement : three numbers, `Parameter` or functions of time; a function of time that
        returns (3,); or a function (X (n, 3), time) or (X) -> (n, 3). Default: zero.
    gradient : displacement gradient du_a/dX_b that the slopes follow: (3, 3), a function of
        time, or of (X, time) -> (n, 3, 3). Default: zero. A clamp that turns by the rotation R
        has R - 1; with other gradients F - 1 it holds tangents along F t and normals along
        F^-T n. Of a rigid body: R - 1 with its rotation R.
    direction : of ``dofs="normal"``, a vector of space; `displacement` then is one number,
        `Parameter` or function of time, along it.

    Returns
    -------
    Support : a term. `Support.reaction` has force and moment of
        the support after a solution; ``print`` shows what it fixes.

    Raises
    ------
    ConstraintError : the place is none.
    ParameterError : `dofs`, `displacement` or `gradient` do not fit it.

    Notes
    -----
    Coordinates are eliminated; slopes are stored along the edges that supports fix. Where the
    fixed component of a tangent or normal is along no axis of space, a multiplier fixes it.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((2.0,), (4,))
    >>> rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=1.0)
    >>> print(sa.fix(rod["x0"]))
    fix:body.x0: holds position, direction of the tangent (its length is free)
    """
    normal = isinstance(dofs, str) and dofs == "normal"
    if direction is not None or normal:
        if not normal or direction is None or gradient is not None:
            wrong = ("gradient", gradient) if normal else ("dofs", dofs)
            wrong = ("direction", None) if direction is None else wrong
            raise ParameterError(
                "fix: dofs='normal' and direction=(x, y, z) go together, without gradient=: they "
                "hold the displacement along the direction",
                asked=wrong[0],
                given=wrong[1],
            )
        if isinstance(region, OneNode):
            raise ParameterError(
                f"fix {region.name!r}: along a direction hold a point of it by sa.Constraint, e.g. "
                "lambda u_a: u_a[0] + u_a[1] on body.at(point)",
                asked="region",
                given=region.name,
            )
        return Roller(_name("fix", region, name), region, direction, displacement)
    if isinstance(region, OneNode):
        name = name_or(name, f"fix:{region.name}")
        return FrameSupport(name, region, dofs, displacement, gradient)
    return NodeSupport(_name("fix", region, name), region, dofs, displacement, gradient)


def symmetry(region: Nodes | PointsOnBody, normal: str, name: str | None = None) -> Support:
    """Hold the nodes of a region as a plane of symmetry does.

    Displacements along the axis `normal` (``"x"``, ``"y"`` or ``"z"``) vanish; slopes in the
    plane get no component along it, slopes along it get no other component. A shell must meet
    the plane at a right angle, or lie in it.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> sa.symmetry(block["x0"], "x")
    symmetry:body.x0: holds x
    """
    return Mirror(_name("symmetry", region, name), region, normal, False)


def planar(body: Body, normal: str = "z", name: str | None = None) -> Support:
    """Keep a body in the plane across the axis `normal`: no displacement or strain along it.

    The thickness of a plate that lies in the plane stays free.

    Raises
    ------
    ConstraintError : what is given is no body of cells.

    Examples
    --------
    >>> import symancf as sa
    >>> line = sa.Mesh.box((1.0,), (4,))["body"]
    >>> cord = sa.Body(line, sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)
    >>> sa.planar(cord)
    planar:body: holds z and what slopes have across the plane
    """
    argument: object = body
    if not isinstance(argument, Body):
        raise ConstraintError(
            f"planar keeps a body of cells in a plane, sa.planar(body); given {argument}",
            asked="body",
            given=argument,
        )
    place = Nodes(body, body.region)
    return Mirror(name_or(name, f"planar:{body.name}"), place, normal, True)


def _name(kind: str, place: Nodes | PointsOnBody, name: str | None) -> str:
    """Return the name of a support of nodes.

    Raises
    ------
    ConstraintError : the place has no coordinates of nodes; tells what to write.
    """
    require_place(kind, place)
    if not isinstance(place, Nodes | PointsOnBody):
        raise ConstraintError(
            f"{kind}: {place} has no coordinates to hold; give body['region'] or a node, "
            "body.at(point)",
            asked="place",
            given=str(place),
        )
    where = place.region.name if isinstance(place, Nodes) else "point"
    return name_or(name, f"{kind}:{place.body.name}.{where}")
