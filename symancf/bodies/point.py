# SPDX-License-Identifier: BSD-3-Clause
"""A point mass in space or in the plane: a node of its displacements alone."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.declare import KernelParameter, PointLaw

from ..arrays import Array, Ints32
from ..assembly.configuration import Configuration, Layout, in_system
from ..assembly.numbering import POSITION, Block
from ..assembly.resolved import JetRows, Resolved
from ..errors import ParameterError
from ..places.ends import End, Symbols
from ..values.arguments import LENGTHS, name_or
from ..values.motion import Motion
from ..values.parameter import (
    Checked,
    Numbers,
    Parameter,
    has_parameters,
    label,
    numbers_now,
    reals,
)
from .node import NodeBinding, OneNode, motion_of_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.form import Form
    from ..assembly.protocol import SupportBinding
    from ..values.motion import Displacement, Gradient
    from ..values.parameter import Value


class PointMass(OneNode):
    r"""A mass at a point: three unknowns u, the displacement; two in the plane z = 0.

    .. math:: T = \tfrac12 m\, \dot u \cdot \dot u

    Its place `centre` takes what has no direction of its own: springs and other
    `sa.Potential`, `sa.VirtualWork`, `sa.Constraint`, `sa.joints.spherical`, ``distance`` and
    ``on_sphere``, `sa.force`. It has no axes: a body that turns is an `sa.RigidBody`. Pictures
    show a ball, small beside the springs and constraints that it is tied to.

    Parameters
    ----------
    mass : [kg], a number or a `Parameter`.
    position : (x, y, z) in the reference configuration [m]; (x, y) is a mass that stays in the
        plane z = 0.
    velocity : at the start of a motion [m/s], as many numbers or `Parameter`; default at
        rest.
    name : shown in messages; by default bodies are counted.

    Raises
    ------
    ParameterError : a mass that is not positive, a position or velocity of other shapes.

    Examples
    --------
    A mass of 2 kg on a spring of 200 N/m swings with 10 rad/s:

    >>> import symancf as sa
    >>> mass = sa.PointMass(2.0, position=(0.0, 0.0, -1.0))
    >>> def spring(r_a, r_b, *, k, length):
    ...     return k / 2 * ((r_a - r_b).norm() - length) ** 2
    >>> hook = sa.Potential(spring, mass.centre, sa.ground.at((0, 0, 0)), k=200.0, length=1.0)
    >>> system = sa.System(mass, terms=[hook, sa.fix(mass, ("x", "y"))])
    >>> float(sa.EigenProblem(system).solve(1).omega[0].round(6))
    10.0
    """

    _turns = False

    def __init__(
        self,
        mass: float | Parameter,
        position: npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        velocity: Numbers | None = None,
        name: str | None = None,
    ) -> None:
        self.has_name, self.name = name is not None, name_or(name, "point mass")
        self._mass = mass
        self._mass_at(0.0)
        self.origin: Array = self._numbers("position", position, (2, 3))
        n = len(self.origin)
        given = np.zeros(n) if velocity is None else velocity
        start = self._numbers("velocity", given, n)
        self.velocity: Any = tuple(cast("Any", given)) if has_parameters(given) else start
        self._blocks = (Block("position", 3) if n == 3 else Block(POSITION, 2),)
        self._dofs = ("x", "y", "z")[:n]
        self._reactions = (0, 1, 2)[:n]
        self.parameters: dict[str, Value] = {}

    @property
    def mass(self) -> float:
        """The present mass [kg]."""
        return self._mass_at(0.0)

    def _mass_at(self, time: float) -> float:
        value = reals(numbers_now(self._mass))
        if value.shape != () or not value > 0.0:
            raise ParameterError(
                f"point mass {self.name!r}: mass is {label(self._mass)}: give a positive number",
                asked="mass",
                given=self._mass,
            )
        return float(value)

    def _numbers(self, asked: str, given: Numbers, sizes: int | tuple[int, ...]) -> Array:
        values, possible = reals(numbers_now(given)), np.atleast_1d(sizes).tolist()
        if values.ndim != 1 or len(values) not in possible or (abs(values) > LENGTHS[1]).any():
            counts = " or ".join(map(str, possible))
            raise ParameterError(
                f"point mass {self.name!r}: {asked} is {label(given)}: give {counts} numbers of at "
                f"most {LENGTHS[1]:g}",
                asked=asked,
                given=given,
                possible=possible,
            )
        return values

    def __repr__(self) -> str:
        at = ", ".join(f"{x:g}" for x in self.origin)
        return f"PointMass {self.name!r} at ({at}), {self.mass:g} kg"

    @property
    def centre(self) -> MassPlace:
        """The place where it is, for terms and records."""
        return MassPlace(self)

    # ---- what a system asks of a body -----------------------------------------------------------
    @property
    def _weighs(self) -> bool:
        """Whether it has a mass."""
        return True

    @property
    def extent(self) -> float:
        """Size [m]: none of its own."""
        return 0.0

    def bind(self, layout: Layout) -> MassBinding:
        """Announce the node and its block of coordinates."""
        values: dict[str, Value] = {f"place{a + 1}": float(x) for a, x in enumerate(self.origin)}
        changes = isinstance(self._mass, Parameter)
        values["m"] = Checked(self._mass, self._mass_at) if changes else self.mass
        own = MassBinding(self, layout, kinetic_law(self._size), values)
        own.announce(layout)
        return own

    # ---- what supports ask ----------------------------------------------------------------------
    def _motion(
        self, name: str, dofs: Sequence[int], displacement: Displacement, gradient: Gradient
    ) -> Motion:
        """Return the motion of the point: three values, in the plane one for each of `dofs`."""
        if gradient is not None:
            raise ParameterError(
                f"{name}: a point mass has no rotation for gradient=",
                asked="gradient",
                given=gradient,
            )
        if self._size == 2:
            return motion_of_each(name, dofs, "xyz", displacement)
        return Motion(name, displacement, None)

    def _moved(self, u: Array, G: Array) -> Array:
        """Return the displacements (times, size)."""
        return u[:, : self._size]

    # ---- results --------------------------------------------------------------------------------
    @in_system
    def displacement(self, system: Configuration, vector: Array | None = None) -> Array:
        """Return the displacement (..., 3), default of the present state (collective)."""
        own = self._node(system, vector)
        return np.concatenate([own, np.zeros((*own.shape[:-1], 3 - self._size))], axis=-1)

    @in_system
    def position(self, system: Configuration) -> Array:
        """Return the present position (..., 3) (collective)."""
        return np.asarray(self.centre.X[0] + self.displacement(system))


class MassBinding(NodeBinding):
    """A point mass in one system."""

    body: PointMass

    def build_reference(
        self, configuration: Configuration, supports: Sequence[SupportBinding]
    ) -> None:
        """Write the reference coordinates."""
        local = self.local_vertices(configuration)
        configuration.points[local, : self.body._size] = self.body.origin
        configuration.reference[self.here(configuration)] = np.tile(self.body.origin, len(local))

    def forms(self, configuration: Configuration) -> list[Form]:
        """A point has no strain energy."""
        return []

    def initial_rate(self, configuration: Configuration, rate: Array) -> None:
        """Write its `velocity` into a local vector."""
        here = self.here(configuration)
        velocity = self.body._numbers("velocity", self.body.velocity, self.body._size)
        rate[here] = np.resize(velocity, len(here))


class MassPlace(End):
    """Where a point mass is, ``mass.centre``: its value is X + u, it has no axes.

    In the plane the jet ``planar`` has the two displacements, as that of a planar body.
    """

    oriented = False

    def __init__(self, body: PointMass) -> None:
        self.body = body
        self.plane = body._size == 2
        self.curved = ("planar",) if self.plane else ()
        self.X: Array = np.append(body.origin, np.zeros(3 - body._size))[None]

    def expressed(self, jet: str, change: Symbols, reference: Symbols) -> list[sp.Expr]:
        """Return the change of a jet of a mass in the plane in the symbols of (ux, uy)."""
        return [*change("planar")[:2], sp.S.Zero]

    def _find(self, layout: Layout) -> Resolved:
        """Find the vertex."""
        layout.require_member(self.body, f"a term's end {self}")
        vertices = np.array([[layout.binding(self.body).vertex]], dtype=np.int64)
        return Resolved(self.X, vertices)

    def attached(self, places: Resolved) -> tuple[PointMass, Array]:
        """Return the body, and no arm."""
        return self.body, np.zeros((1, 3))

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return the displacements; see `End.rows`."""
        k, n, numbering = places.size, self.body._size, configuration.numbering
        block = numbering.block(self.body._blocks[0].name)
        axes = np.tile(np.arange(n), k)
        coordinate = numbering.offset[vertices[:, 0], block].repeat(n) + axes
        place = np.repeat(np.arange(k), n)
        return JetRows(place, axes, coordinate, np.zeros(k * n, dtype=np.int32), np.ones(k * n))

    def __str__(self) -> str:
        return f"point mass {self.body.name!r}"


@cache
def kinetic_law(n: int) -> PointLaw:
    """Return m v . v / 2 with n components."""
    v, m = sp.symbols("vx vy vz", real=True)[:n], sp.Symbol("m", real=True)
    return PointLaw(
        name=f"point_inertia_{n}",
        unknowns=v,
        energy=m * sp.Add(*(a**2 for a in v)) / 2,
        parameters=(KernelParameter(m, "cell"),),
        title="m v . v / 2",
    )
