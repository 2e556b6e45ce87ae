# SPDX-License-Identifier: BSD-3-Clause
"""A body: a region of a mesh, an element, an energy and its parameters."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.declare import brought

from ..arrays import Array, Ints, Ints32
from ..errors import ParameterError
from ..kinematics.naming import Energy, require_parameters, signature
from ..laws import (
    Kind,
    energy_equation,
    jumps,
    stress_equations,
)
from ..laws.asked import pressure_of
from ..laws.layers import JUMPS, advice
from ..mesh import Region
from ..mesh.partition import Family
from ..mesh.sides import in_one_sense
from ..places.edges import announce_blocks, links_of, with_edges
from ..places.interpolation import Interpolation
from ..places.on_body import Nodes, PointsOnBody
from ..places.sliding import Sliding
from ..places.travelling import Travelling
from ..runtime import jit
from ..runtime.collective import together
from ..runtime.copies import OneProcess
from ..runtime.shown import Shown
from ..values.arguments import one_of, text
from ..values.domain import Domain, domains_of, not_negative, positive
from ..values.parameter import (
    Field,
    Fixed,
    evaluate,
    label,
)
from .choice import pair
from .formulas import plain, written
from .inspection import KernelText, kernel_text
from .kernels import WithKernels
from .pressure import Pressures
from .start import STEP, Start, Velocity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from symancf_codegen.declare import Rule

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.protocol import Support
    from ..elements import Element
    from ..laws.mixed import Kind as PressureKind
    from ..laws.mixed import Pressure
    from ..values.parameter import Scalar


class Body(OneProcess, WithKernels, Shown):
    """A deformable body.

    Parameters
    ----------
    region : cells of a mesh, ``mesh["plate"]``.
    element : one of `symancf.elements`. It may be left out, ``Body(region, energy, ...)`` or
        ``Body(region, energy=..., ...)``: then it follows from the type of the cells and the
        quantities that the energy asks for, and is told.
    energy : function of quantities (positional arguments) and parameters (keyword-only) that
        returns an energy density per reference volume (solids, plates of full gradient), area
        (thin plates) or length (cables), or a dict of named parts.
    name : default: the region's name.
    volumetric, quadrature : see `symancf.laws.energy_laws`.
    pressure : ``"discontinuous"``, ``"continuous"`` or ``"condensed"``: a pressure beside the
        displacement in the energy's part ``"volumetric"``, whose modulus may then be large or
        (but not with ``"condensed"``) infinite: k = inf, nu = 1/2. Fields know it as ``pressure``.
        `Element.pressures` says which an element has; see `symancf.laws.mixed`.
    join : ``"all"`` shares slopes with other bodies of the same kind at common nodes,
        ``"position"`` only positions. Default: ``"all"`` for full-gradient elements.
    direction : function of X (n, 3) -> (n, 3): surface normals (plates) or tangents (cables)
        of the reference; default: averaged from the mesh (see `symancf.places.geometry`).
    smooth : angle [degrees] up to which facets that meet are parts of one smooth surface.
    velocity : at the start of a motion [m/s], (3,), or a function of the place, X (n, 3) -> (n, 3).
    spin : angular velocity at the start of a motion [rad/s], (3,), about the origin of the
        coordinates, in which `velocity` is that of a point there; see `symancf.bodies.start`.
    parameters : values of the energy's parameters, and ``rho`` (and ``thickness``, ``A``):
        numbers, `Parameter`, functions of time, or `Field` (one value per cell or point).

    Raises
    ------
    MeshError : the region does not hold the element's cells.
    KinematicsError : the energy asks for a quantity that the element lacks, or goes with several
        elements and none is given.
    ParameterError : a parameter is missing, misspelt or not finite.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke, **given)
    >>> block
    Body 'body': 1 hex8 with neo_hooke
    """

    named = True

    def __init__(
        self,
        region: Region,
        element: Element | Energy | None = None,
        energy: Energy | None = None,
        *,
        name: str | None = None,
        volumetric: Literal["full", "reduced", "split"] | None = None,
        quadrature: str | Rule | Mapping[str, str | Rule] | None = None,
        pressure: PressureKind | None = None,
        join: str | None = None,
        direction: Callable[[Array], npt.ArrayLike] | None = None,
        smooth: float = 50.0,
        velocity: Velocity = None,
        spin: npt.ArrayLike | None = None,
        **parameters: Any,
    ) -> None:
        element, energy = pair(region, element, energy, name, parameters, volumetric, quadrature)
        self.element, self.energy_function = element, energy
        self.name = text("Body(name=...)", name or region.name)
        self.volumetric, self.quadrature = volumetric, quadrature
        self.direction, self.smooth = direction, smooth
        still = velocity is None and spin is None
        self.start = None if still else Start(self.name, velocity, spin)
        section = element.kinematics()
        sizes = dict.fromkeys((*section.section, *section.density_parameters), positive())
        if "rho" in sizes:
            sizes["rho"] = not_negative()
        self.domains: Mapping[str, Domain] = {**sizes, **domains_of(energy)}
        self.pressure: Pressure | None = None
        self.sound = False  # at rest; see `rest`
        with together(region.mesh.comm):  # functions of the user may fail on one rank only
            self.region = region.require(element.cell, use=element.name)
            if pressure is not None:
                self.pressure = pressure_of(element, energy, pressure, parameters)
                self.domains = self.pressure.domains(self.domains)
            self.parameters = self._complete(parameters)
            whole = "all" if element.slope_kind == "gradient" else "position"
            join = whole if join is None else join
            self.join = one_of(f"body {self.name!r}: join", join, ("all", "position"))
            self.fields: dict[str, Kind] = {
                k: "cell" if v.at == "cells" else "point"
                for k, v in self.parameters.items()
                if isinstance(v, Field)
            }
            if element.dimension == 1:
                of = self.name if element.oriented else None
                self.region = in_one_sense(self.region, of)
            self.laws  # noqa: B018  (a wrong pairing of energy and element is told here)
        told = JUMPS if quadrature is None and jumps(self.laws) else element.advice
        told = told or advice(self.energy_function, self.laws)
        if told and region.mesh.comm.rank == 0:
            warnings.warn(f"body {self.name!r}: {told}", stacklevel=2)

    def headline(self) -> str:
        """Return cells, element and law."""
        return (
            f"Body {self.name!r}: {self.region.size} {self.element.name} "
            f"with {signature(self.energy_function).name}"
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the parameters."""
        return [("parameter", "value"), *((k, label(v)) for k, v in self.parameters.items())]

    def formulas(self) -> list[str]:
        """Return the energy."""
        return written(plain(self.energy_function, self.element)[0])

    def _complete(self, given: dict[str, Any]) -> dict[str, Any]:
        """Add the energy's defaults; refuse names that nothing takes."""
        asked = signature(self.energy_function)
        own = self.element.kinematics()
        needed = (*asked.required, *(s for s in own.section if s not in asked.defaults))
        optional = (*asked.defaults, *own.density_parameters, *own.defaults)
        before = asked.quantities
        require_parameters(asked.name, needed, given, optional=optional, exact=True, before=before)
        self.parameters = parameters = Fixed({**own.defaults, **asked.defaults, **given})
        self.numbers(0.0)
        self.weighs  # noqa: B018  (densities of some layers only are told here)
        return parameters

    def number_at(self, name: str, value: Scalar, time: float) -> float:
        """Return the present value of a parameter that is no field."""
        what = f"{name} of body {self.name!r}"
        endless = isinstance(value, float) and np.isposinf(value) and self.pressure is None
        if endless and self.element.dimension == 3:
            raise ParameterError(
                f"{what} is inf: it must be finite where a body has no pressure of its own, "
                "pressure='continuous' on tet10 or 'discontinuous' on hex27",
                asked=name,
                given=value,
            )
        number = evaluate(what, value, time)
        if name in self.domains:
            self.domains[name].require(name, what, number, f" at time {time:g}")
        return number

    # ---- places ---------------------------------------------------------------------------
    __iter__: ClassVar[None] = None  # a body is no sequence of what it has by name

    def __getitem__(self, name: str | Region) -> Nodes:
        """Return the nodes of a region of this body's mesh, given by its name or itself."""
        if not isinstance(name, str | Region):
            raise ParameterError(
                f"body {self.name!r}[{label(name)}]: give the name of a region; a point is "
                f"body.at((x, y, z))",
                asked="region",
                given=name,
            )
        return Nodes(self, self.region.mesh[name])

    def at(
        self,
        point: npt.ArrayLike | Callable[[float], npt.ArrayLike],
        frame: npt.ArrayLike | None = None,
    ) -> PointsOnBody:
        """Return the place of a point X (or of several, (k, 3)) on this body.

        `frame` (3, 3): columns are the axes that joints there have. As the point it is given in
        the axes of the body, which of a mesh are those of its coordinates. A function of time is
        a place that travels; see `Travelling`.
        """
        if callable(point):
            return Travelling(self, point)
        return PointsOnBody(self, point, frame)

    def sliding(self, point: npt.ArrayLike) -> Sliding:
        """Return a place that slides along a cable, from a point X (or several, (k, 3)) of it.

        See `Sliding`.
        """
        return Sliding(self, point)

    # ---- for people ---------------------------------------------------------------------------
    @property
    def energy(self) -> sp.Eq:
        """The strain energy density W = ... in the quantities that it asks for (SymPy)."""
        return energy_equation(self.element, self.energy_function, self.pressure)

    @property
    def residual(self) -> sp.Tuple:
        """The stresses that make up the residual, as equations (SymPy); see `stress_equations`."""
        return sp.Tuple(*stress_equations(self.element, self.energy_function, self.pressure))

    def kernel(self, function: str = "tangent") -> KernelText:
        """Return the generated ``energy``, ``residual``, ``tangent`` or ``product``.

        To be printed, called with NumPy arrays, or exported to C; see `KernelText`. Parameters have
        their values at time 0.
        """
        p, bare = self.pressure, self.element.space
        space = bare.with_scalars(p.count) if p and p.of_system else bare
        made = jit.cells(self._kernel_name(self.laws, self.element), space, self.laws)
        return kernel_text(made, function, {**brought(self.laws), **self.numbers(0.0)})

    # ---- before distribution --------------------------------------------------------------------
    def declare(self, layout: Layout) -> None:
        """Announce cells and blocks of coordinates."""
        name, (ids, vertices) = layout.name(self), self.region.slice(self.element.cell)
        cost = float(self.element.size**2)
        vertices = with_edges(layout, self, vertices + layout.base(self.region.mesh))
        links = links_of(self.element)
        if self.pressure is not None and self.pressure.of_system:
            own = layout.keep(self, Pressures(layout, self, self.pressure)).of_cells(layout, ids)
            links += ((0, vertices.shape[1]),) * own.shape[1]
            vertices = np.concatenate([vertices, own], axis=1)
        layout.announce(Family(f"body:{name}", ids, vertices, weight=cost, links=links))
        announce_blocks(layout, self)

    # ---- after distribution -------------------------------------------------------------------
    def orient(self, configuration: Configuration) -> None:
        """Take this rank's cells, and find the directions of the nodes (collective)."""
        self.require_sides(configuration.keep(self, Interpolation(self, configuration)))

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that this body puts on local vertices."""
        carried = configuration.of(self, Interpolation).carriers()
        own = self._pressures(configuration)
        return carried if own is None else carried + own.carriers(configuration)

    def idle(self, configuration: Configuration) -> Ints:
        """Return the local offsets of pressures on which no free coordinate depends."""
        own = self._pressures(configuration)
        return np.zeros(0, dtype=np.int64) if own is None else own.idle(configuration)

    def build_reference(self, configuration: Configuration, supports: Sequence[Support]) -> None:
        """Compute slope maps and the body's reference slopes (collective)."""
        configuration.of(self, Interpolation).build(configuration, supports)

    def initial_rate(self, configuration: Configuration, rate: Array) -> None:
        """Write the rates of a body with `velocity` or `spin` into a local vector (collective)."""
        if self.start is None:
            return
        on, numbering = configuration.of(self, Interpolation), configuration.numbering
        h = STEP * self.extent
        with together(configuration.comm):
            self.start.write(on, configuration, h, rate)
        numbering.update_ghosts(rate, np.arange(numbering.coordinates))

    def settle(self, configuration: Configuration) -> None:
        """Let pressures of a finite modulus follow the present state of a motion."""
        if configuration.moves and (own := self._pressures(configuration)):
            own.settle(configuration)
