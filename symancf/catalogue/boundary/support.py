# SPDX-License-Identifier: BSD-3-Clause
"""Fixed and prescribed coordinates: eliminated rows whose residual is the reaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...bodies.body import Body
from ...bodies.natural import HeldRigidBody, RigidBody
from ...bodies.plane import HeldPlanarBody, PlanarBody
from ...errors import ConstraintError, ParameterError
from ...places.ends import Nodes, PointsOnBody, require_place
from ...values.arguments import named
from ...values.arrays import Array, Ints, Ints32
from .mirror import MirroredNodes
from .nodes import HeldNodes
from .roller import RollerNodes

if TYPE_CHECKING:
    from ...assembly.agreement import Given
    from ...assembly.configuration import Configuration, Layout
    from ...assembly.piece import Piece
    from ...assembly.vertices import AtVertices
    from ...terms.entities import Held


class Support:
    """Coordinates of a body that are held or prescribed; made by `fix`, `symmetry`, `planar`.

    ``print`` tells what it holds. A coordinate of several supports counts for the last of them.
    """

    def __init__(self, held: Held) -> None:
        self.held, self.body = held, held.body
        self.values = held.values

    @property
    def name(self) -> str:
        """Shown in messages."""
        return self.held.name

    @name.setter
    def name(self, name: str) -> None:
        self.held.name = name

    @property
    def mirror(self) -> int | None:
        """Number of the axis across the plane of symmetry that it is, if it is one."""
        return self.held.mirror

    def __repr__(self) -> str:
        return f"{self.name}: holds {self.held.describe()}"

    # ---- what a system asks of a support --------------------------------------------------------
    def declare(self, layout: Layout) -> None:
        """Announce entities and vertices before distribution (collective)."""
        self.held.declare(layout)

    def orient(self, system: Configuration) -> None:
        """Take local vertices after distribution, before the system is numbered."""
        self.held.orient(system)

    def turned(self, block: str, basis: AtVertices, taken: AtVertices) -> None:
        """Turn directions of the slopes of a block; see `Held.turned`."""
        self.held.turned(block, basis, taken)

    def carriers(self, system: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that this term puts on local vertices."""
        return self.held.carriers(system)

    def pieces(self, system: Configuration) -> list[Piece]:
        """Return conditions in directions that are no coordinates."""
        return self.held.pieces(system)

    def idle(self, system: Configuration) -> npt.NDArray[Any]:
        """Return the local offsets of multipliers that nothing can answer."""
        return self.held.idle(system)

    def coordinates(self, system: Configuration) -> Ints:
        """Return the local offsets of the fixed coordinates."""
        self.offsets = self.held.coordinates(system)
        return self.offsets

    def prescribed(self, system: Configuration, time: float) -> tuple[Ints, Array]:
        """Return the local offsets of the fixed coordinates and their values at `time`."""
        return self.offsets, self.held.prescribed(system, time)

    def given(self, system: Configuration) -> list[Given]:
        """Return what the user prescribes at the places of this rank, as many on every rank."""
        return self.held.given(system)

    # ---- results --------------------------------------------------------------------------------
    def _forces(self, system: Configuration) -> Array:
        """Return the local vector of the support's forces on its owned coordinates."""
        numbering = system.numbering
        owned = numbering.vertex_of < numbering.owned_vertices
        mine = owned & (numbering.fixed_by == system.layout.number(self))
        return np.where(mine, system.residual_at_solution(), 0.0)

    def reaction(self, system: Configuration) -> Array:
        """Return the total force (3,) that the support exerts on the body (collective) [N].

        Of a planar body force and moment about its origin, (Fx, Fy, M).
        """
        return system.sum(self.held.resultant(system, self._forces(system)))

    def reaction_moment(
        self, system: Configuration, about: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> Array:
        """Return the moment (3,) of the support forces about a point (collective) [N m].

        It is the virtual work of the support forces and of the generalised forces on slopes in a
        rotation of the deformed body about the point `about`.
        """
        point = np.asarray(about, dtype=float)
        return system.sum(self.held.wrench(system, self._forces(system), point))[3:]


def fix(
    region: Nodes | PointsOnBody | PlanarBody | RigidBody,
    dofs: str | list[str] = "clamp",
    displacement: Any = None,
    gradient: Any = None,
    name: str | None = None,
    direction: npt.ArrayLike | None = None,
) -> Support:
    """Clamp a place, fix coordinates of its nodes, or prescribe their motion.

    ``"clamp"`` is what glue does: u = 0 on the face that is glued, and nothing else.

    =====================  =========================================================================
    place                  held besides positions
    =====================  =========================================================================
    any, of ``hex8``       nothing: its nodes have positions only
    a point of a cable     the direction of the tangent; its length is free
    an edge of a thin      the slope along the edge, and of the slope across it the component out of
    plate                  the plane, so that the normal stands; in the plane it is free
    an edge of             the slope along the edge and r_z, as the glued face is X + z r_z; the
    ``ancf_plate``         slope across is free
    a point of a plate     the normal (thin plates), r_z (``ancf_plate``)
    cells of the body      all slopes: their whole surface is glued
    =====================  =========================================================================

    Edges that meet at less than the body's smoothing angle are one smooth line with one tangent
    at each node; where they meet at more, both slopes are held.

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
        returns (3,); or a function (X (n, 3), time) -> (n, 3). Default: zero.
    gradient : displacement gradient du_a/dX_b that the slopes follow: (3, 3), a function of
        time, or of (X, time) -> (n, 3, 3). Default: zero. A clamp that turns by the rotation R
        has R - 1; with other gradients F - 1 it holds tangents along F t and normals along
        F^-T n. Of a rigid body: R - 1 with its rotation R.
    direction : of ``dofs="normal"``, a vector of space; `displacement` then is one number,
        `Parameter` or function of time, along it.

    Returns
    -------
    Support : a term. `Support.reaction` and `Support.reaction_moment` are force and moment of
        the support after a solution; ``print`` tells what it holds.

    Raises
    ------
    ConstraintError : the place is none.
    ParameterError : `dofs`, `displacement` or `gradient` do not fit it.

    Notes
    -----
    Coordinates are eliminated; slopes are stored along the edges that supports hold. Where the
    held component of a tangent or normal is along no axis of space, it is held by a multiplier.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((2.0,), (4,))
    >>> rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=1.0)
    >>> print(sa.fix(rod["x0"]))
    fix:body.x0: holds position, the direction of the tangent (its length is free)
    """
    if direction is not None or dofs == "normal":
        return _roller(region, dofs, displacement, gradient, name, direction)
    if isinstance(region, RigidBody):
        return Support(HeldRigidBody(region, dofs, displacement, gradient, name))
    if isinstance(region, PlanarBody):
        if gradient is not None:
            raise ParameterError(f"fix {region.name!r}: a planar body has no slopes for gradient=")
        return Support(HeldPlanarBody(region, dofs, displacement, name))
    _require_place("fix", region)
    return Support(HeldNodes(_name("fix", region, name), region, dofs, displacement, gradient))


def _roller(
    place: Any, dofs: Any, amount: Any, gradient: Any, name: str | None, direction: Any
) -> Support:
    """Return the support of nodes along a direction."""
    if dofs != "normal" or direction is None or gradient is not None:
        raise ParameterError(
            "fix: dofs='normal' and direction=(x, y, z) go together, without gradient=: they hold "
            "the displacement along the direction"
        )
    if isinstance(place, RigidBody | PlanarBody):
        raise ParameterError(
            f"fix {place.name!r}: along a direction hold a point of it by sa.Constraint, e.g. "
            "lambda u_a: u_a[0] + u_a[1] on body.at(point)"
        )
    _require_place("fix", place)
    return Support(RollerNodes(_name("fix", place, name), place, direction, amount))


def symmetry(region: Nodes | PointsOnBody, normal: str, name: str | None = None) -> Support:
    """Hold the nodes of a region as a plane of symmetry does.

    Displacements along the axis `normal` (``"x"``, ``"y"`` or ``"z"``) vanish; slopes in the
    plane get no component along it, slopes along it get no other component. A shell must meet
    the plane at a right angle, or lie in it.
    """
    _require_place("symmetry", region)
    return Support(MirroredNodes(_name("symmetry", region, name), region, normal, False))


def planar(body: Body, normal: str = "z", name: str | None = None) -> Support:
    """Keep a body in the plane across the axis `normal`: no displacement or strain along it.

    The thickness of a plate that lies in the plane stays free.

    Raises
    ------
    ConstraintError : what is given is no body of cells.
    """
    given: object = body
    if not isinstance(given, Body):
        raise ConstraintError(
            f"planar keeps a body of cells in a plane, sa.planar(body); given {given}"
        )
    place = Nodes(body, body.region)
    return Support(MirroredNodes(named(name, f"planar:{body.name}"), place, normal, True))


def _name(kind: str, place: Nodes | PointsOnBody, given: str | None) -> str:
    where = place.region.name if isinstance(place, Nodes) else "point"
    return named(given, f"{kind}:{place.body.name}.{where}")


def _require_place(what: str, place: Any) -> None:
    """Raise where a support is asked for at something that has no coordinates of nodes.

    Raises
    ------
    ConstraintError : tells what to write.
    """
    require_place(what, place)
    if not isinstance(place, Nodes | PointsOnBody):
        raise ConstraintError(
            f"{what}: {place} has no coordinates to hold; give body['region'] or a node, "
            "body.at(point)"
        )
