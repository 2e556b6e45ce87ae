# SPDX-License-Identifier: BSD-3-Clause
"""Planar bodies and the places on them where flexures, loads and clamps attach."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.declare import KernelParameter, PointLaw

from ...arrays import Array, Ints32
from ...assembly.configuration import Configuration, Layout, in_system
from ...assembly.numbering import ANGLE, POSITION, Block
from ...assembly.resolved import JetRows, Resolved
from ...errors import ConstraintError, ParameterError, argument
from ...places.ends import End, Ground, Symbols, frame_of
from ...values.arguments import name_or
from ...values.parameter import (
    Checked,
    Numbers,
    Parameter,
    has_parameters,
    label,
    numbers_now,
    reals,
)
from ...values.spellings import advise, former_arguments
from ..node import NodeBinding, OneNode, motion_of_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.form import Form
    from ...assembly.protocol import SupportBinding
    from ...values.motion import Displacement, Gradient, Motion
    from ...values.parameter import Value

COORDINATES = ("x", "y", "theta")


def rotation(angle: float) -> Array:
    """Return the matrix (2, 2) that turns a vector of the plane by `angle` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


def rotations(angles: Array) -> Array:
    """Return the matrices (..., 2, 2) of angles (...)."""
    each = angles.ravel().tolist()
    c, s = (np.array([*map(of, each)]).reshape(angles.shape) for of in (math.cos, math.sin))
    found: Array = np.empty((*angles.shape, 2, 2))
    found[..., 0, 0] = found[..., 1, 1] = c
    found[..., 0, 1], found[..., 1, 0] = -s, s
    return found


def turned(v: Array) -> Array:
    """Return a vector of the plane turned by a quarter, counter-clockwise: e_z x v."""
    return np.array([-v[1], v[0]])


def _number(what: str, given: Any, give: str, least: float = -math.inf) -> float:
    """Return one finite number, at least as large as another."""
    value = reals(given)
    if value.shape != () or value < least:
        raise ParameterError(
            f"{what} is {label(given)}: give {give}", asked=argument(what), given=given
        )
    return float(value)


def _pair(what: str, given: npt.ArrayLike, where: str = "") -> Array:
    """Return two finite numbers; a third one that is zero is left out."""
    pair = reals(given).ravel()
    if pair.size == 3 and pair[2] == 0.0:
        pair = pair[:2]
    if pair.size != 2:
        raise ParameterError(
            f"{what} is {label(given)}: give two finite {where or 'numbers'}",
            asked=argument(what),
            given=given,
        )
    return pair


class PlanarBody(OneNode):
    """A rigid body in the plane: a node of three coordinates (x, y, theta) without a mesh.

    Its unknowns are the displacement (ux, uy) of its origin and the angle phi by which it has
    turned; a point with local coordinates s lies at

        r = (x, y) + (ux, uy) + R(theta + phi) s.

    Parameters
    ----------
    position : (x, y, theta) of its frame in the reference configuration; theta [rad],
        counter-clockwise. (x, y) alone means theta = 0.
    name : shown in messages; by default bodies are counted.
    mass : [kg], a number or a `Parameter`; None: a body without inertia.
    centre : centre of mass (sx, sy) in the body's frame.
    inertia : about the centre of mass [kg m^2], a number or a `Parameter`; 0: a point mass, which
        nothing can spin up.
    velocity : (vx, vy) of the body's origin, at the start of dynamics [m/s]; `Parameter` may be
        among the numbers, as in `spin`.
    spin : angular velocity at the start of dynamics [rad/s].

    Examples
    --------
    >>> import symancf as sa
    >>> finger = sa.PlanarBody(position=(1.0, 1.5, 0.0), name="finger")
    >>> tip = finger.at((0.2, 0.7))

    Notes
    -----
    The node is at the centre of mass, so that the mass matrix diag(m, m, J) is constant; what
    is given and returned refers to the body's frame and its origin.
    """

    _blocks = (Block(POSITION, 2), Block(ANGLE, 1, "angle"))
    _dofs = COORDINATES
    _reactions = (0, 1, 5)

    @former_arguments("PlanarBody")
    def __init__(
        self,
        position: npt.ArrayLike = (0.0, 0.0, 0.0),
        name: str | None = None,
        *,
        mass: float | Parameter | None = None,
        centre: npt.ArrayLike = (0.0, 0.0),
        inertia: float | Parameter = 0.0,
        velocity: Numbers = (0.0, 0.0),
        spin: float | Parameter = 0.0,
    ) -> None:
        place = reals(position).ravel()
        self.has_name = name is not None
        self.name = name_or(name, "planar body")
        if place.size not in (2, 3):
            raise ParameterError(
                f"planar body {self.name!r}: position is {label(position)}: give three finite "
                "numbers (x, y, theta)",
                asked="position",
                given=position,
            )
        self._reference: Array = np.append(place, np.zeros(3 - place.size))
        if mass is None and (isinstance(inertia, Parameter) or inertia):
            raise ParameterError(
                f"planar body {self.name!r} has an inertia, but no mass: give mass=...",
                asked="mass",
                given=None,
            )
        self._mass, self._inertia = mass, inertia
        self._mass_at(0.0), self._inertia_at(0.0)
        what = f"planar body {self.name!r}"
        self.centre = _pair(f"{what}: centre", centre)
        self.velocity: Any = velocity
        self.spin: Any = spin
        start = self._start()
        if not has_parameters([velocity, spin]):
            self.velocity, self.spin = start
        # from the node, the centre of mass, to the origin; directions of the ground, reference
        self._offset: Array = -rotation(self._reference[2]) @ self.centre
        self.parameters: dict[str, Value] = {}

    @property
    def mass(self) -> float:
        """The present mass [kg], 0 without inertia."""
        return self._mass_at(0.0)

    def _start(self) -> tuple[Array, float]:
        """Return velocity (2,) and spin of the present values."""
        what = f"planar body {self.name!r}"
        spin = _number(f"{what}: spin", numbers_now(self.spin), "a finite number")
        return _pair(f"{what}: velocity", numbers_now(self.velocity)), spin

    def _mass_at(self, time: float) -> float:
        if self._mass is None:
            return 0.0
        what = f"planar body {self.name!r}: mass"
        return _number(what, numbers_now(self._mass), "a positive number", 1e-300)

    def _inertia_at(self, time: float) -> float:
        if self._mass is None:
            return 0.0
        what, give = f"planar body {self.name!r}: inertia", "one number, about the centre of mass"
        return _number(what, numbers_now(self._inertia), give, 0.0)

    def __repr__(self) -> str:
        x, y, theta = self._reference
        return f"PlanarBody {self.name!r} at ({x:g}, {y:g}), {theta:g} rad"

    def at(self, point: npt.ArrayLike, frame: npt.ArrayLike | None = None) -> PlanarPoint:
        """Return the place of a point given in the frame of this body.

        `frame` (3, 3): columns are the axes that joints there have. As the point it is given in
        the axes of the body.
        """
        return PlanarPoint(self, point, frame)

    def _holding(self, end: End) -> PlanarPoint:
        """Return the point of this body that coincides with the one place of another end."""
        return PlanarPoint(self, end)

    @property
    def origin(self) -> PlanarPoint:
        """The place of the origin of the body's frame, by a former spelling of ``at((0, 0))``."""
        advise("the place PlanarBody.origin", "body.at((0, 0))")
        return self.at((0.0, 0.0))

    # ---- what a system asks of a body -----------------------------------------------------------
    @property
    def _weighs(self) -> bool:
        """Whether it has a mass."""
        return self._mass is not None

    @property
    def extent(self) -> float:
        """Size [m]: none of its own."""
        return 0.0

    def bind(self, layout: Layout) -> PlanarBinding:
        """Announce the node and its blocks of coordinates."""
        at = self._reference[:2] - self._offset  # of the node, the centre of mass
        values: dict[str, Value] = {"place1": float(at[0]), "place2": float(at[1])}
        given = ("m", self._mass, self._mass_at), ("J", self._inertia, self._inertia_at)
        for name, value, check in given:
            values[name] = Checked(value, check) if isinstance(value, Parameter) else check(0.0)
        own = PlanarBinding(self, layout, kinetic_law(), values)
        own.announce(layout)
        return own

    # ---- what supports ask ----------------------------------------------------------------------
    def _motion(
        self, name: str, dofs: Sequence[int], displacement: Displacement, gradient: Gradient
    ) -> Motion:
        """Return the motion (ux, uy, phi) of the frame: one value for each of `dofs`."""
        if gradient is not None:
            raise ParameterError(
                f"{name}: a planar body has no slopes for gradient=",
                asked="gradient",
                given=gradient,
            )
        if self.centre.any() and dofs not in ([2], [0, 1, 2]):
            raise ParameterError(
                f"{name}: the node of {self.name!r} is at its centre of mass, away from its "
                "origin: fix all of it, or theta, or use sa.joints.revolute or sa.Constraint at a "
                "point of it",
                asked="dofs",
                given=[COORDINATES[a] for a in dofs],
                possible=("theta", "all"),
            )
        return motion_of_each(name, dofs, COORDINATES, displacement)

    def _moved(self, u: Array, G: Array) -> Array:
        """Return (times, 3): (ux, uy, phi) of the node when those of the frame are u (times, 3)."""
        if not self._offset.any():
            return u
        turns = rotations(u[:, 2]) - np.eye(2)
        return np.concatenate([u[:, :2] - turns @ self._offset, u[:, 2:]], axis=1)

    # ---- results --------------------------------------------------------------------------------
    @in_system
    def coordinates(self, system: Configuration) -> Ints32:
        """Local offsets (3,) of (ux, uy, phi) on this rank; empty where the body is not."""
        return system.binding(self).here(system)

    @in_system
    def displacement(self, system: Configuration) -> Array:
        """Return the present (ux, uy, phi) of the origin, on every rank (collective)."""
        u = self._node(system)
        u[..., :2] += (rotations(u[..., 2]) - np.eye(2)) @ self._offset
        return u

    @in_system
    def rate(self, system: Configuration) -> Array:
        """Return the present (vx, vy, omega) of the origin, on every rank (collective)."""
        v, phi = self._node(system, system.rate), self._node(system)[2]
        v[:2] += v[2] * turned(rotation(phi) @ self._offset)
        return v

    @in_system
    def position(self, system: Configuration) -> Array:
        """Return the present (x, y, theta), on every rank (collective)."""
        return np.asarray(self._reference + self.displacement(system))


class PlanarBinding(NodeBinding):
    """A planar body in one system."""

    body: PlanarBody

    def build_reference(
        self, configuration: Configuration, supports: Sequence[SupportBinding]
    ) -> None:
        """Put the node where the body's centre of mass is (without mass: its origin)."""
        local = self.local_vertices(configuration)
        configuration.points[local, :2] = self.body._reference[:2] - self.body._offset
        configuration.reference[self.here(configuration)] = (
            [*configuration.points[local[0], :2], self.body._reference[2]] if len(local) else []
        )

    def forms(self, configuration: Configuration) -> list[Form]:
        """A rigid body has no strain energy."""
        return []

    def initial_rate(self, configuration: Configuration, rate: Array) -> None:
        """Write the rates of a body with `velocity` and `spin` into a local vector."""
        here = self.here(configuration)
        if len(here):
            arm = rotation(configuration.state[here[2]]) @ self.body._offset
            velocity, spin = self.body._start()
            rate[here] = *(velocity - spin * turned(arm)), spin


class PlanarPoint(End):
    """A point of a planar body; its jet ``planar`` are the body's (ux, uy, phi).

    In users' functions its other jets are expressions of these: ``value``, the axes, ``angle``.
    """

    curved, plane = ("planar",), True

    def __init__(
        self,
        body: PlanarBody,
        point: npt.ArrayLike | End,
        frame: npt.ArrayLike | None = None,
    ) -> None:
        self.body = body
        self.source = point if isinstance(point, End) else None
        if not isinstance(point, End):
            what = f"a point of planar body {body.name!r}"
            place = _pair(what, point, "coordinates in the frame of the body")
            self.local = place
            arm = rotation(body._reference[2]) @ place
            self.arm: Array = arm + body._offset  # from the node, directions of the reference
            self.X: Array = np.append(body._reference[:2] + arm, 0.0)[None]
        axes = frame_of(f"planar body {body.name!r}", frame)
        self.frame = None if axes is None else self._turned @ axes

    @property
    def _turned(self) -> Array:
        turned = np.eye(3)
        turned[:2, :2] = rotation(self.body._reference[2])
        return turned

    @property
    def reference_frame(self) -> Array:
        """The axes (3, 3) in the reference configuration; those of the body if unset."""
        return self._turned if self.frame is None else self.frame

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return the reference value (k, 3) of a jet; of ``planar`` none: coordinates have it."""
        if jet in ("value", "arm"):
            return places.X if jet == "value" else places.within
        if jet == "planar":
            return None
        if jet == "angle":
            return np.tile(self.body._reference[2:] * np.eye(3)[0], (places.size, 1))
        axis = self.reference_frame[:, int(jet.removeprefix("axis"))]
        return np.tile(axis, (places.size, 1))

    def expressed(self, jet: str, change: Symbols, reference: Symbols) -> list[sp.Expr]:
        """Return the change of a jet in symbols of (ux, uy, phi) and of its arm or axis."""
        q, X = change("planar"), reference("arm" if jet == "value" else jet)
        phi = q[2]
        if jet == "angle":
            return [phi, 0, 0]
        sine, versine = sp.sin(phi), 2 * sp.sin(phi / 2) ** 2
        turned = [-versine * X[0] - sine * X[1], sine * X[0] - versine * X[1], 0]
        moves = [q[0], q[1], 0] if jet == "value" else [0, 0, 0]
        return [a + b for a, b in zip(moves, turned, strict=True)]

    def _find(self, layout: Layout) -> Resolved:
        """Find the vertex and the arm from it."""
        layout.require_member(self.body, f"a term's end {self}")
        vertices = np.array([[layout.binding(self.body).vertex]], dtype=np.int64)
        if self.source is None:
            return Resolved(self.X, vertices, np.append(self.arm, 0.0)[None])
        points = self.source.resolve(layout)
        if points.total != 1:
            raise ConstraintError(
                f"{self}: {points.total} places: give one",
                asked="places",
                given=points.total,
                possible=(1,),
            )
        points = points.everywhere(layout.comm)
        arm = points.X[0, :2] - self.body._reference[:2]
        X = np.append(self.body._reference[:2] + arm, 0.0)[None]
        return Resolved(X, vertices, np.append(arm + self.body._offset, 0.0)[None], source=points)

    def attached(self, places: Resolved) -> tuple[PlanarBody, Array]:
        """Return the body, and the point (1, 2) from its origin."""
        return self.body, places.within[:, :2] - self.body._offset

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return the jet ``planar``; see `End.rows`."""
        numbering, n = configuration.numbering, places.size
        position = numbering.offset[vertices[:, 0], numbering.block(POSITION)]
        angle = numbering.offset[vertices[:, 0], numbering.block(ANGLE)]
        return JetRows(
            np.repeat(np.arange(n), 3),
            np.tile(np.arange(3), n),
            np.stack([position, position + 1, angle], axis=1).ravel(),
            np.zeros(3 * n, dtype=np.int32),
            np.ones(3 * n),
        )

    def displacement(self, configuration: Configuration) -> Array:
        """Return the displacement (..., 1, 3) of the point, on every rank (collective)."""
        u, arm = self.body._node(configuration), self._arm(configuration)
        moved = u * (1.0, 1.0, 0.0)
        moved[..., :2] += (rotations(u[..., 2]) - np.eye(2)) @ arm
        return np.asarray(moved[..., None, :])

    def velocity(self, configuration: Configuration) -> Array:
        """Return the velocity (1, 3) of the point, on every rank (collective)."""
        v = self.body._node(configuration, configuration.rate)
        phi, arm = self.body._node(configuration)[2], self._arm(configuration)
        return np.append(v[:2] + v[2] * turned(rotation(phi) @ arm), 0.0)[None]

    def _arm(self, configuration: Configuration) -> Array:
        return self.resolve(configuration.layout).within[0, :2]

    def __str__(self) -> str:
        if self.source is not None:
            return f"{self.source} on {self.body.name!r}"
        return f"({self.local[0]:g}, {self.local[1]:g}) of {self.body.name!r}"


def place_of(place: PlanarPoint | Ground) -> tuple[Array, Array, str]:
    """Return the reference position (1, 3), the arm (2,) and a description of a place."""
    if isinstance(place, PlanarPoint):
        return place.X, place.arm, str(place)
    assert place.point is not None
    x = place.point
    return x, x[0, :2], f"({x[0, 0]:g}, {x[0, 1]:g}) of the ground"


@cache
def kinetic_law() -> PointLaw:
    """Return m (vx^2 + vy^2) / 2 + J omega^2 / 2."""
    v = vx, vy, omega = sp.symbols("vx vy omega", real=True)
    m, J = sp.symbols("m J", real=True)
    return PointLaw(
        name="planar_inertia",
        unknowns=v,
        energy=m * (vx**2 + vy**2) / 2 + J * omega**2 / 2,
        parameters=tuple(KernelParameter(p, "cell") for p in (m, J)),
        title="m v . v / 2 + J omega^2 / 2",
    )
