# SPDX-License-Identifier: BSD-3-Clause
"""A rigid body in space by the natural coordinates r_i, r_j, u, v."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Integers, Ints, Ints32
from ...assembly.configuration import Configuration, Layout, in_system
from ...assembly.numbering import RIGID_AXES, RIGID_POINT, Block
from ...assembly.resolved import JetRows, Resolved
from ...errors import ParameterError
from ...places.ends import End, frame_of, points_of, vector_rows
from ...runtime import jit
from ...values.arguments import text
from ...values.motion import Motion
from ...values.parameter import (
    Numbers,
    Parameter,
    Value,
    numbers_now,
    vector3,
    vector_in_motion,
)
from ...values.spellings import former_arguments
from ..node import NodeBinding, OneNode
from . import shapes
from .inertia import AXES, Inertia, MassData, kinetic_law
from .rigidity import Rigidity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symancf_codegen.declare import PointLaw

    from ...assembly.form import Form, Role
    from ...assembly.protocol import SupportBinding
    from ...terms.constraint import ConstraintBinding
    from ...values.motion import Displacement, Gradient


class RigidBody(OneNode):
    r"""A rigid body by twelve natural coordinates: points r_i, r_j and unit vectors u, v.

    In the frame of the body, with axes e1 = (r_j - r_i)/d, e2 = u, e3 = v and origin r_i, the
    point x lies at

    .. math:: r = r_i + x_1 \frac{r_j - r_i}{d} + x_2 u + x_3 v,

    so that the mass matrix is constant. Six quadratic constraints keep the axes orthogonal unit
    vectors. (Garcia de Jalon and Bayo, *Kinematic and Dynamic Simulation of Multibody Systems*,
    1994; the unknowns are changes from the reference.)

    Parameters
    ----------
    position : of the origin of the body's frame in the reference configuration (3,).
    frame : (3, 3), columns are the axes of the body in the reference configuration.
    mass : [kg], a number or a `Parameter`; None: a body without inertia.
    centre : centre of mass in the body's frame; `Parameter` may be among its numbers, and among
        those of `inertia`, `velocity` and `spin`.
    inertia : J about the centre of mass in the axes of the body, (3, 3), or its diagonal (3,)
        [kg m^2]; None: a point mass; generalized-alpha needs something that fixes its
        rotation.
    velocity : of the body's origin, at the start of dynamics [m/s].
    spin : angular velocity at the start of dynamics, in the axes of the ground [rad/s].
    length : d, the distance of r_j from r_i; default: of the size of the body.
    name : shown in messages; by default bodies are counted.

    Raises
    ------
    ParameterError : a frame that is no rotation, a mass that is not positive, or an inertia that
        no distribution of mass has.

    Examples
    --------
    >>> import symancf as sa
    >>> head = sa.RigidBody.box((0.3, 0.2, 0.2), position=(0, 0, 1), rho=1180.0, name="head")
    >>> top = head.at((0.0, 0.0, 0.1))
    """

    _blocks = (Block("position", 3), Block(RIGID_POINT, 3), Block(RIGID_AXES, 6, "direction"))
    _dofs = ("x", "y", "z")
    _reactions = (0, 1, 2)

    @former_arguments("RigidBody")
    def __init__(
        self,
        position: npt.ArrayLike = (0.0, 0.0, 0.0),
        frame: npt.ArrayLike | None = None,
        *,
        mass: float | Parameter | None = None,
        centre: Numbers = (0.0, 0.0, 0.0),
        inertia: Numbers | None = None,
        velocity: Numbers = (0.0, 0.0, 0.0),
        spin: Numbers = (0.0, 0.0, 0.0),
        length: float | None = None,
        name: str | None = None,
        shape: shapes.BodyShape | None = None,
    ) -> None:
        self.has_name = name is not None
        self.name = "rigid body" if name is None else text("RigidBody(name=...)", name)
        what = f"rigid body {self.name!r}"
        self.origin = vector3(f"{what}: position", position)
        axes = frame_of(what, frame)
        self.frame: Array = np.eye(3) if axes is None else axes
        self._mass: MassData | None = None
        if mass is not None:
            self._mass = MassData(what, mass, centre, inertia)
        elif inertia is not None:
            raise ParameterError(
                f"{what} has an inertia, but no mass: give mass=...", asked="mass", given=None
            )
        self.velocity, self.spin = (
            vector_in_motion(f"{what}: velocity", velocity),
            vector_in_motion(f"{what}: spin", spin),
        )
        moments = self._moments
        size = self._own_length() if length is None else length
        self.length = float(shapes.size_of(f"{what}: length", size, 1, "number"))
        self._shape = shape or shapes.equivalent(moments, self.length)
        self.parameters: dict[str, Value] = {}

    @property
    def _moments(self) -> Inertia | None:
        """The present moments of the mass."""
        return None if self._mass is None else self._mass.moments()

    @property
    def _has_inertia(self) -> bool:
        """Whether something resists a rotation about the centre of mass."""
        m = self._moments
        if m is None:
            return False
        own = m.second - np.outer(m.first, m.first) / m.mass
        return bool(np.trace(own) > 1e-12 * max(float(np.trace(m.second)), 1e-300))

    def _own_length(self) -> float:
        """Radius of gyration about the origin: a length of the size of the body."""
        if (moments := self._moments) is None:
            return 1.0
        square = float(np.trace(moments.second)) / moments.mass
        return float(np.sqrt(square)) if square > 0.0 else 1.0

    def __repr__(self) -> str:
        x, y, z = self.origin
        mass = f"{self.mass:g} kg" if self._weighs else "no mass"
        return f"RigidBody {self.name!r} at ({x:g}, {y:g}, {z:g}), {mass}"

    # ---- shapes ---------------------------------------------------------------------------------
    @classmethod
    @former_arguments("RigidBody.box")
    def box(
        cls,
        size: npt.ArrayLike,
        position: npt.ArrayLike = (0.0, 0.0, 0.0),
        frame: npt.ArrayLike | None = None,
        *,
        rho: float | Parameter | None = None,
        **options: Any,
    ) -> RigidBody:
        """Return a homogeneous box with edges `size` (3,) along its axes, centre `position`.

        r_j is the middle of the face across the first axis. `options` as for `RigidBody`.
        """
        a = shapes.size_of("the size of a rigid box", size, 3)
        squares = a**2
        per_mass = (squares.sum() - squares) / 12.0
        options.setdefault("length", float(a[0]) / 2.0)
        return cls._of_shape(
            shapes.box(a / 2.0), float(a.prod()), per_mass, position, frame, rho, options
        )

    @classmethod
    @former_arguments("RigidBody.cylinder")
    def cylinder(
        cls,
        radius: float,
        length: float,
        position: npt.ArrayLike = (0.0, 0.0, 0.0),
        frame: npt.ArrayLike | None = None,
        *,
        rho: float | Parameter | None = None,
        **options: Any,
    ) -> RigidBody:
        """Return a homogeneous cylinder along its third axis, centre `position`."""
        R = float(shapes.size_of("the radius of a rigid cylinder", radius, 1))
        h = float(shapes.size_of("the length of a rigid cylinder", length, 1))
        across = R**2 / 4.0 + h**2 / 12.0
        per_mass = np.array([across, across, R**2 / 2.0])
        options.setdefault("length", R)
        shape = shapes.cylinder(R, h)
        return cls._of_shape(
            shape, float(np.pi * R**2 * h), per_mass, position, frame, rho, options
        )

    @classmethod
    @former_arguments("RigidBody.sphere")
    def sphere(
        cls,
        radius: float,
        position: npt.ArrayLike = (0.0, 0.0, 0.0),
        frame: npt.ArrayLike | None = None,
        *,
        rho: float | Parameter | None = None,
        **options: Any,
    ) -> RigidBody:
        """Return a homogeneous ball, centre `position`."""
        R = float(shapes.size_of("the radius of a rigid sphere", radius, 1))
        per_mass = np.full(3, 0.4 * R**2)
        options.setdefault("length", R)
        volume = 4.0 / 3.0 * np.pi * R**3
        return cls._of_shape(
            shapes.sphere(R), float(volume), per_mass, position, frame, rho, options
        )

    @classmethod
    def _of_shape(
        cls,
        shape: shapes.BodyShape,
        volume: float,
        per_mass: Array,
        position: npt.ArrayLike,
        frame: npt.ArrayLike | None,
        rho: float | Parameter | None,
        options: dict[str, Any],
    ) -> RigidBody:
        """Return a body of a shape: mass rho V, or that of `options`, spread evenly."""
        if rho is not None:
            if "mass" in options:
                raise ParameterError(
                    "a rigid body has rho= or mass=, not both",
                    asked="rho",
                    given=rho,
                    possible=("rho", "mass"),
                )
            shapes.size_of("rho of a rigid body", numbers_now(rho), 1, "density")
            options["mass"] = rho
        body = cls(position, frame, shape=shape, **options)
        if body._mass is not None:
            squares = None if "inertia" in options else per_mass
            size = 1.0 if rho is None else volume
            body._mass = replace(body._mass, volume=size, squares=squares)
        return body

    # ---- places ---------------------------------------------------------------------------------
    def at(self, point: npt.ArrayLike, frame: npt.ArrayLike | None = None) -> RigidPoint:
        """Return the place of a point (or of several, (k, 3)) given in the frame of this body.

        `frame` (3, 3): columns are the axes that joints there have. As the point it is given in
        the axes of the body, at the start `body.frame`: axes Q of the ground are
        ``body.frame.T @ Q``.
        """
        return RigidPoint(self, point, frame)

    def _holding(self, end: End) -> RigidPoint:
        """Return the points of this body that coincide with the places of another end."""
        return RigidPoint(self, end)

    @property
    def mass(self) -> float:
        """The mass [kg], 0 without inertia."""
        return 0.0 if self._mass is None else self._mass.moments().mass

    @property
    def _weighs(self) -> bool:
        """Whether it has a mass."""
        return self._mass is not None

    @property
    def centre(self) -> RigidPoint:
        """The place of the centre of mass; without mass that of the origin.

        Raises
        ------
        ParameterError : it follows a `Parameter`, and places do not.
        """
        if self._mass is not None and self._mass.moves:
            raise ParameterError(
                f"rigid body {self.name!r}: its centre of mass follows a Parameter, and a place "
                "does not: give the point, body.at((x, y, z))",
                asked="centre",
                given=self._mass.centre,
            )
        moments = self._moments
        return self.at(moments.centre if moments else (0.0, 0.0, 0.0))

    # ---- what a system asks of a body -----------------------------------------------------------
    @property
    def extent(self) -> float:
        """Twice the largest distance of what is drawn, or of r_j, from the origin."""
        return 2.0 * max(self.length, self._shape.reach)

    def bind(self, layout: Layout) -> RigidBinding:
        """Announce the node, the multipliers of rigidity and their blocks of coordinates."""
        places = np.concatenate([self.origin, self.frame.T.ravel()]).tolist()
        values: dict[str, Value] = {f"place{k + 1}": x for k, x in enumerate(places)}
        values |= self._mass.values() if self._mass else {}
        own = layout.register(self, RigidBinding(self, layout, kinetic_law(), values))
        conditions = Rigidity(self.at((0, 0, 0)), self.length, f"rigidity:{own.name}")
        own.rigidity = layout.bind(conditions)
        return own

    def _offsets(self, configuration: Configuration, vertices: Integers) -> Ints32:
        """Return the local offsets (k, 4) of r_i, r_j, u and v at local `vertices` (k,)."""
        numbering = configuration.numbering
        blocks = [numbering.block(block.name) for block in self._blocks]
        i, j, u = (numbering.offset[vertices, b] for b in blocks)
        return np.asarray(np.stack([i, j, u, u + 3], axis=1))

    # ---- what supports ask ----------------------------------------------------------------------
    def _motion(
        self, name: str, dofs: Sequence[int], displacement: Displacement, gradient: Gradient
    ) -> Motion:
        """Return the motion of the frame: displacement of its origin, and R - 1 as gradient."""
        if gradient is not None and len(dofs) < self._size:
            names = " and ".join(self._dofs[a] for a in dofs)
            raise ParameterError(
                f"{name}: gradient= prescribes the rotation of a body, which dofs={names} leaves "
                "free",
                asked="gradient",
                given=[self._dofs[a] for a in dofs],
            )
        return Motion(name, displacement, gradient, rotation=True)

    def _moved(self, u: Array, G: Array) -> Array:
        """Return the changes (times, 12) of r_i, r_j, u and v after a motion of the frame."""
        return self._natural(u, np.broadcast_to(G @ self.frame, (len(u), 3, 3)))

    def _natural(self, origin: Array, axes: Array) -> Array:
        """Return the coordinates (..., 12) r_i, r_j, u and v of a frame, (..., 3) and axes."""
        first, second, third = (axes[..., k] for k in range(3))
        return np.concatenate([origin, origin + self.length * first, second, third], axis=-1)

    # ---- results --------------------------------------------------------------------------------
    @in_system
    def coordinates(self, system: Configuration, vector: Array) -> Array:
        """Return the 12 values (..., 4, 3) of a local vector, on every rank (collective)."""
        values = self._node(system, vector)
        return values.reshape(*values.shape[:-1], 4, 3)

    @in_system
    def position(self, system: Configuration) -> Array:
        """Return the present position (3,) of the body's origin (collective)."""
        return np.asarray(self.origin + self.coordinates(system, system.state)[..., 0, :])

    @in_system
    def rotation(self, system: Configuration) -> Array:
        """Return (3, 3) whose columns are the present axes of the body (collective).

        It maps vectors from the frame of the body to that of the ground.
        """
        return self.frame + self._axes(self.coordinates(system, system.state))

    def _axes(self, q: Array) -> Array:
        return np.stack([(q[1] - q[0]) / self.length, q[2], q[3]], axis=1)

    @in_system
    def angular_velocity(self, system: Configuration) -> Array:
        """Return the present angular velocity (3,) in the axes of the ground (collective)."""
        R = self.rotation(system)
        rate = self._axes(self.coordinates(system, system.rate))
        return np.asarray(np.cross(R, rate, axis=0).sum(axis=1) / 2.0)


class RigidBinding(NodeBinding):
    """A rigid body in one system.

    Attributes
    ----------
    rigidity : the conditions that keep it rigid.
    """

    body: RigidBody
    rigidity: ConstraintBinding

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks of coordinates on local vertices."""
        return [*super().carriers(configuration), *self.rigidity.carriers(configuration)]

    def build_reference(
        self, configuration: Configuration, supports: Sequence[SupportBinding]
    ) -> None:
        """Write the reference coordinates."""
        local = self.local_vertices(configuration)
        configuration.points[local] = self.body.origin
        if len(local):
            natural = self.body._natural(self.body.origin, self.body.frame)
            configuration.reference[self.here(configuration)] = natural

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the constraints of rigidity."""
        return self.rigidity.forms(configuration)

    def idle(self, configuration: Configuration) -> Ints:
        """Return the local offsets of multipliers of conditions that only supports can fulfil."""
        return self.rigidity.idle(configuration)

    def _own_form(
        self,
        configuration: Configuration,
        what: str,
        law: PointLaw,
        role: Role,
        uniform: Mapping[str, Value],
        rates: bool = False,
    ) -> Form:
        """Return a kernel on r_i and the axes, combinations of the coordinates of the node."""
        entities = self.rigidity.entities
        own_jets = [(0, "value"), *((0, axis) for axis in AXES)]
        jets = entities.jets(configuration, own_jets, own_jets if rates else ())
        kernel = jit.points(law, configuration.comm)
        values = {name: np.array([value]) for name, value in self.numbers.items()}
        uniform = {**uniform, **self.changing(kernel)}
        return entities.form(f"{what}:{self.name}", kernel, role, uniform, values, jets)

    def initial_rate(self, configuration: Configuration, rate: Array) -> None:
        """Write the rates of a body with `velocity` and `spin` into a local vector."""
        at = self.here(configuration).reshape(-1, 4, 3)
        q = (configuration.reference + configuration.state)[at]
        arms = np.concatenate([np.zeros_like(q[:, :1]), q[:, 1:2] - q[:, :1], q[:, 2:]], axis=1)
        spin, velocity = (
            vector3(f"rigid body {self.body.name!r}: {name}", numbers_now(getattr(self.body, name)))
            for name in ("spin", "velocity")
        )
        rate[at] = np.cross(spin, arms)
        rate[at[:, :2]] += velocity


class RigidPoint(End):
    """Points of a rigid body, ``head.at(point)``, or the points where the places of an end are.

    All jets are constant linear combinations of the body's 12 coordinates: with a direction or
    point c in the frame of the body,

        value = (1 - c1/d) r_i + (c1/d) r_j + c2 u + c3 v,
        direction = (c1/d) (r_j - r_i) + c2 u + c3 v.

    Parameters
    ----------
    points : (3,) or (k, 3) in the frame of the body, or an end.
    frame : (3, 3) whose columns are the axes of the joint in the frame of the body; default: the
        body's own.
    """

    def __init__(
        self, body: RigidBody, points: npt.ArrayLike | End, frame: npt.ArrayLike | None = None
    ) -> None:
        self.body = body
        self.source = points if isinstance(points, End) else None
        if not isinstance(points, End):
            self.local = points_of(f"rigid body {body.name!r}", points)
            self.X: Array = body.origin + self.local @ body.frame.T
        axes = frame_of(f"a point of rigid body {body.name!r}", frame)
        if axes is not None:
            self.frame = body.frame @ axes

    @property
    def reference_frame(self) -> Array:
        """The axes (3, 3) in the reference configuration, columns."""
        return self.body.frame if self.frame is None else self.frame

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return the reference values (k, 3) of a jet that do not follow from coordinates."""
        if jet.startswith("axis"):
            axis = self.reference_frame[:, int(jet.removeprefix("axis"))]
            return np.tile(axis, (places.size, 1))
        return super().constant(places, jet)

    def _find(self, layout: Layout) -> Resolved:
        """Find the points in the frame of the body (collective)."""
        layout.require_member(self.body, f"a term's end {self}")
        points = None if self.source is None else self.source.resolve(layout)
        X, local = (self.X, self.local) if points is None else (points.X, None)
        if local is None:
            local = (X - self.body.origin) @ self.body.frame
            X = self.body.origin + local @ self.body.frame.T
        vertices = np.full((len(X), 1), layout.binding(self.body).vertex, dtype=np.int64)
        return Resolved(X, vertices, local, source=points, starts=points and points.starts)

    def attached(self, places: Resolved) -> tuple[RigidBody, Array]:
        """Return the body, and the points (k, 3) from its origin."""
        return self.body, places.within

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        if jet == "value":
            c = places.within
        elif jet.startswith("along"):
            assert self.source is not None
            assert places.source is not None
            directions = self.source.directions(configuration, places.source)
            c = directions[:, int(jet.removeprefix("along"))] @ self.body.frame
        else:
            axis = self.body.frame.T @ self.reference_frame[:, int(jet.removeprefix("axis"))]
            c = np.tile(axis, (places.size, 1))
        offsets = self.body._offsets(configuration, vertices[:, 0])
        values = c[:, [0, 0, 1, 2]]
        values[:, :2] /= -self.body.length, self.body.length
        values[:, 0] += float(jet == "value")
        values[np.abs(values) < 1e-15] = 0.0
        return vector_rows(offsets, values)

    def __str__(self) -> str:
        if self.source is not None:
            return f"{self.source} on {self.body.name!r}"
        x = self.local[0]
        at = (
            f"({x[0]:g}, {x[1]:g}, {x[2]:g})"
            if len(self.local) == 1
            else f"{len(self.local)} points"
        )
        return f"{at} of {self.body.name!r}"
