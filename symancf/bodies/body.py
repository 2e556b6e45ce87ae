# SPDX-License-Identifier: BSD-3-Clause
"""A body: a region of a mesh, an element, an energy and its parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.declare import RATE_FACTOR, brought

from ..arrays import Array, Ints, Ints32, Mask
from ..assembly.cell_fields import CellFields
from ..assembly.form import Form, Role
from ..assembly.numbering import Block
from ..errors import MeshError, ParameterError, SymancfError, outside
from ..kinematics.naming import Energy, signature
from ..laws import (
    Kind,
    Layers,
    advice,
    at_points,
    body_force_laws,
    energy_equation,
    energy_laws,
    inertia_laws,
    stress_equations,
)
from ..laws.formulas import Formula
from ..laws.integral import density
from ..laws.mixed import FRAME, frames
from ..laws.pressure_of_body import pressure_of
from ..laws.turning import turning_laws
from ..mesh import Region
from ..mesh.partition import Family
from ..mesh.sides import in_one_sense
from ..places.along import Along, Cut
from ..places.edges import across_block, slopes_block, with_edges
from ..places.geometry import direction_of
from ..places.interpolation import Interpolation, Patch
from ..places.on_body import Nodes, PointsOnBody
from ..places.sliding import Sliding
from ..places.travelling import Travelling
from ..runtime import jit
from ..runtime.collective import together
from ..runtime.copies import OneProcess
from ..runtime.display import Displayable
from ..runtime.jit import identifier
from ..values.arguments import one_of, text
from ..values.domain import (
    Domain,
    combinations_of,
    domains_of,
    not_negative,
    positive,
    require_combinations,
)
from ..values.functions import arguments_of
from ..values.parameter import (
    Checked,
    Field,
    Fixed,
    Numbers,
    Parameter,
    Value,
    call_array,
    depends_on_time,
    evaluate,
    label,
)
from ..values.reader import failed, require_parameters
from ..values.spellings import former_arguments
from .choice import pair
from .inspection import KernelText, kernel_text
from .pressure import Pressures
from .rest import CELLS, check_rest
from .start import STEP, Start, Velocity

if TYPE_CHECKING:
    from symancf_codegen.declare import Rule

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.protocol import SupportBinding
    from ..elements import Element
    from ..laws.body import Laws
    from ..laws.mixed import Kind as PressureKind
    from ..laws.mixed import PressureField
    from ..places.paths import Path
    from ..values.parameter import Scalar


#: Values of parameters in cells, (n,) by name, with the numbers of the cells.
CellTables: TypeAlias = "Sequence[tuple[Ints, Mapping[str, Array]]]"


class Body(OneProcess, Displayable):
    """A deformable body.

    Parameters
    ----------
    region : cells of a mesh, ``mesh["plate"]``.
    element : one of `symancf.elements`. It may be left out, ``Body(region, energy, ...)`` or
        ``Body(region, energy=..., ...)``: then it follows from the type of the cells and the
        quantities that the energy asks for, with a warning.
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
    direction : surface normals (plates) or tangents (cables) of the reference, of rods the axis
        e2 of the sections: a function of X (n, 3) -> (n, 3), or three numbers, the same
        everywhere; default: averaged from the mesh (see `symancf.places.geometry`).
    smooth_deg : angle [degrees] up to which facets that meet are parts of one smooth surface.
    velocity : at the start of dynamics [m/s], (3,), numbers or `Parameter`, or a function of the
        place, X (n, 3) -> (n, 3).
    spin : angular velocity at the start of dynamics [rad/s], (3,), about the origin of the
        coordinates, in which `velocity` is that of a point there; see `symancf.bodies.start`.
    parameters : values of the energy's parameters, and ``rho`` (and ``thickness``, ``A``):
        numbers, `Parameter`, functions of time, or `Field` (one value per cell or point).

    Raises
    ------
    MeshError : the region does not contain the element's cells.
    KinematicsError : the energy asks for a quantity that the element lacks, or goes with several
        elements and none is given.
    ParameterError : a parameter is missing, misspelt or not finite.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> block
    Body 'body': 1 hex8 with neo_hooke
    """

    has_name = True

    @former_arguments("Body")
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
        direction: Callable[[Array], npt.ArrayLike] | npt.ArrayLike | None = None,
        smooth_deg: float = 50.0,
        velocity: Velocity = None,
        spin: Numbers | None = None,
        **parameters: Any,
    ) -> None:
        element, energy = pair(region, element, energy, name, parameters, volumetric, quadrature)
        self.element, self._energy_function = element, energy
        self.name = text("Body(name=...)", name or region.name)
        self._volumetric, self._quadrature = volumetric, quadrature
        self._smooth = smooth_deg
        still = velocity is None and spin is None
        self._start = None if still else Start(self.name, velocity, spin)
        self._domains: Mapping[str, Domain] = {**_sizes(element), **domains_of(energy)}
        self.pressure: PressureField | None = None
        self._sound = False  # at rest; see `rest`
        with together(region.mesh.comm):  # functions of the user may fail on one rank only
            self.region = region.require(element.cell, use=element.name)
            own = None if direction is None else direction_of(self.name, direction)
            self._direction = own
            if pressure is not None:
                self.pressure = pressure_of(element, energy, pressure, parameters)
                self._domains = self.pressure.domains(self._domains)
            self.parameters = self._complete(parameters)
            all_slopes = "all" if element.slope_kind == "gradient" else "position"
            join = all_slopes if join is None else join
            self._join = one_of(f"body {self.name!r}: join", join, ("all", "position"))
            self._fields = _kinds(self.parameters)
            if element.dimension == 1:
                of = self.name if element.oriented else None
                self.region = in_one_sense(self.region, of)
            self._laws  # noqa: B018  (a wrong pairing of energy and element is told here)
        hint = element.advice
        if element.section or self.layers is not None:
            hint = advice(energy, self._laws, quadrature) or hint
        if hint and region.mesh.comm.rank == 0:
            warnings.warn(f"body {self.name!r}: {hint}", stacklevel=outside())

    @cached_property
    def extent(self) -> float:
        """Diagonal of the mesh's bounding box (collective on first use)."""
        low, high = self.region.mesh.bounds()
        return float(np.linalg.norm(high - low))

    def _headline(self) -> str:
        """Return cells, element and law."""
        return (
            f"Body {self.name!r}: {self.region.size} {self.element.name} "
            f"with {signature(self._energy_function).name}"
        )

    def _facts(self) -> list[tuple[str, str]]:
        """Return the parameters."""
        return [("parameter", "value"), *((k, label(v)) for k, v in self.parameters.items())]

    def formulas(self) -> list[str]:
        """Return the energy."""
        return Formula.of(self.element, self._energy_function).written()

    def _complete(self, values: dict[str, Any]) -> dict[str, Any]:
        """Add the energy's defaults; refuse names that nothing takes."""
        arguments = signature(self._energy_function)
        own = self.element.kinematics()
        needed = (*arguments.required, *(s for s in own.section if s not in arguments.defaults))
        optional = (*arguments.defaults, *own.density_parameters, *own.defaults)
        what, before = f"{arguments.name}()", arguments.quantities
        require_parameters(what, needed, values, optional=optional, exact=True, before=before)
        self.parameters = parameters = Fixed({**own.defaults, **arguments.defaults, **values})
        self._numbers(0.0)
        for name, field in self._known_fields().items():
            self._require_cells(name, field, range(self.region.size))
        self._weighs  # noqa: B018  (densities of some layers only are told here)
        return parameters

    def _number_at(self, name: str, value: Scalar, time: float) -> float:
        """Return the present value of a parameter that is no field."""
        what = self._called(name)
        endless = isinstance(value, float) and np.isposinf(value) and self.pressure is None
        if endless and self.element.dimension == 3:
            raise ParameterError(
                f"{what} is inf: it must be finite where a body has no pressure of its own, "
                "pressure='continuous' on tet10 or 'discontinuous' on hex27",
                asked=name,
                given=value,
            )
        number = evaluate(what, value, time)
        if name in self._domains:
            self._domains[name].require(name, what, number, f" at time {time:g}")
        return number

    def _numbers(self, time: float, tables: CellTables = ()) -> dict[str, float]:
        """Return the present values of all parameters that are not fields.

        What several parameters make is looked at, too, in cells of `tables` where these are given.
        """
        numbers = {k: self._number_at(k, v, time) for k, v in self._scalars().items()}
        energy, when, given = self._energy_function, f" at time {time:g}", self._known_fields()
        of = f"{signature(energy).name}() of body {self.name!r}"
        require_combinations(energy, of, {**numbers, **given}, when, range(self.region.size))
        for ids, columns in tables:
            of_cells = {k: values[ids] for k, values in given.items()}
            require_combinations(energy, of, {**numbers, **of_cells, **columns}, when, ids)
        return numbers

    def _known_fields(self) -> dict[str, Array]:
        """Return the values of all cells of the body of fields that are values."""
        fields = ((k, v) for k, v in self.parameters.items() if isinstance(v, Field) and v.of_cells)
        return {k: v.values for k, v in fields if len(v.values) == self.region.size}

    def _require_cells(self, name: str, values: Array, cells: Sequence[int] | Ints) -> None:
        """Raise where the values of a parameter in cells of some numbers leave its domain."""
        if name in self._domains:
            self._domains[name].require(name, self._called(name), values, cells=cells)

    def _called(self, name: str) -> str:
        """Return a parameter in words: whose it is, of which law."""
        law = self._energy_function if self.layers is None else self.layers.law_with(name)
        if law is not None and name in signature(law).parameters:
            return f"{name} of {signature(law).name}() of body {self.name!r}"
        return f"{name} of body {self.name!r}"

    def _scalars(self) -> dict[str, Scalar]:
        """Return the parameters that are not fields, nor infinite: no kernel depends on these."""
        without = self.pressure.unbounded if self.pressure else ()
        values = ((k, v) for k, v in self.parameters.items() if k not in without)
        return {k: v for k, v in values if not isinstance(v, Field)}

    @property
    def layers(self) -> Layers | None:
        """The layers of which it is made."""
        return self._energy_function if isinstance(self._energy_function, Layers) else None

    @property
    def _weighs(self) -> bool:
        """Whether it has a density."""
        of = self.layers
        return "rho" in self.parameters if of is None else of.weighs(self.parameters)

    @property
    def _mass(self) -> dict[str, Any]:
        """What laws of its mass and weight are made of."""
        return {"values": self.parameters, "fields": self._fields, "layers": self.layers}

    def _density(self, time: float) -> float:
        """Return the density in a motion, where it must be positive."""
        number = self._number_at("rho", self.parameters["rho"], time)
        if number == 0.0:
            raise ParameterError(
                f"rho of body {self.name!r} is 0 at time {time:g}: in a motion it must be "
                "positive; leave rho out for a body without mass",
                asked="rho",
                given=0.0,
            )
        return number

    # ---- laws -----------------------------------------------------------------------------------
    def _laws_with(self, **options: Any) -> Laws:
        chosen = {
            "fields": self._fields,
            "volumetric": self._volumetric,
            "quadrature": self._quadrature,
            "pressure": self.pressure,
            **options,
        }
        try:
            return energy_laws(
                self.element, self._energy_function, values=self.parameters, **chosen
            )
        except SymancfError:
            raise
        except Exception as error:
            name = signature(self._energy_function).name
            raise failed(f"{name}() on {self.element.name}", name, error) from error

    @cached_property
    def _laws(self) -> Laws:
        """The point laws of the energy with their quadrature rules (on a straight reference)."""
        return self._laws_with()

    @cached_property
    def _curved_laws(self) -> Laws:
        """The point laws of the energy on a curved reference (cables)."""
        return self._laws_with(curved=True)

    def _sampled_laws(
        self, outputs: Mapping[str, sp.Expr], *, by_rule: bool = False, **options: bool
    ) -> Laws:
        """Return the energy's laws with outputs, for any points: see `laws.sampled`.

        One law of the whole energy, or with `by_rule` those of its parts with their rules.
        """
        full_rules = {} if by_rule else {"volumetric": "full", "quadrature": "full"}
        fields = dict.fromkeys(self._fields, "cell")
        laws = self._laws_with(outputs=outputs, fields=fields, frozen=True, **full_rules, **options)
        return [(at_points(law), rule) for law, rule in laws]

    def _integral_laws(self, what: str, function: Callable[..., object], **options: bool) -> Laws:
        """Return the energy's laws, whose points remember their parts of an integral.

        Raises
        ------
        KinematicsError, ParameterError : see `laws.integral.density`; the law remembers, or has a
            pressure, layers or points of several rules.
        """
        reasons = {
            "is one of layers": self.layers is not None,
            "has a pressure= beside its displacement": self.pressure is not None,
            "has a law that remembers": self.layers is None and self._remembers,
        }
        for why in (why for why, so in reasons.items() if so):
            raise ParameterError(
                f"{what}: body {self.name!r} {why}, and integrals over it are no goals",
                asked="body",
                given=self.name,
            )
        found = density(
            what, self.element, self._energy_function, function, self.parameters, **options
        )
        laws = self._laws_with(outputs={}, integral=found, **options)
        if found.of_energy and len(laws) > 1:
            raise ParameterError(
                f"{what}: parts of the energy of {self.name!r} are at the points of "
                f"{len(laws)} rules, where stresses and W are not known together: give "
                "volumetric='full' to the body",
                asked="volumetric",
                given=len(laws),
            )
        return laws

    @property
    def _remembers(self) -> bool:
        """Whether its energy has memory."""
        return any(law.history for law, _ in self._laws)

    @staticmethod
    def _kernel_name(laws: Laws, element: Element) -> str:
        """Name kernels by law and element: bodies alike share them."""
        return identifier(f"{laws[0][0].name}_{element.name}")

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

    def along(self, path: Path | Sequence[Path], *, clip: bool = False) -> Along:
        """Return a path through a solid, or several, cut at the faces of the cells (collective).

        Places of terms: `symancf.Thread`, `symancf.length`, or a `Potential` or `VirtualWork` of
        the derivative ``rs_a`` of the position by the length of the reference, which is integrated
        over that.

        Parameters
        ----------
        path : an `sa.Helix`, a function of s (n numbers from 0 to 1) that returns points (n, 3)
            of the reference, points (k, 3) that straight lines join, or a list of these.
            A function may have the attributes ``tangent``, a function of s that returns dX/ds,
            and ``corners``, the s between 0 and 1 where that jumps.
        clip : take only what is inside of the body, instead of refusing what is not.

        Raises
        ------
        ConstraintError : the body is no solid; in a system: a path leaves it.
        ParameterError : `path` is no path.
        """
        return Along(Cut(self, path, clip))

    def sliding(self, point: npt.ArrayLike) -> Sliding:
        """Return a place that slides along a cable, from a point X (or several, (k, 3)) of it.

        See `Sliding`.
        """
        return Sliding(self, point)

    # ---- for people ---------------------------------------------------------------------------
    @property
    def energy(self) -> sp.Eq:
        """The strain energy density W = ... in the quantities that it asks for (SymPy)."""
        return energy_equation(self.element, self._energy_function, self.pressure)

    @property
    def residual(self) -> sp.Tuple:
        """The stresses that make up the residual, as equations (SymPy); see `stress_equations`."""
        return sp.Tuple(*stress_equations(self.element, self._energy_function, self.pressure))

    def kernel(self, function: str = "tangent") -> KernelText:
        """Return the generated ``energy``, ``residual``, ``tangent`` or ``product``.

        To be printed, called with NumPy arrays, or exported to C; see `KernelText`. Parameters have
        their values at time 0.
        """
        p, bare = self.pressure, self.element.space
        space = bare.with_scalars(p.count) if p and p.of_system else bare
        kernel = jit.cells(self._kernel_name(self._laws, self.element), space, self._laws)
        return kernel_text(kernel, function, {**brought(self._laws), **self._numbers(0.0)})

    # ---- in a system ----------------------------------------------------------------------------
    def bind(self, layout: Layout) -> CellBodyBinding:
        """Announce cells and blocks of coordinates."""
        return CellBodyBinding(self, layout)

    def _uniform_values(self, tables: CellTables = ()) -> dict[str, Scalar]:
        """Return the values of the kernels' uniform parameters; these watch their domain.

        `tables` : what varies from cell to cell; see `_numbers`.
        """
        values = self._scalars()
        for name in sorted({*self._domains} & {*values}):
            value = values[name]
            if isinstance(value, Parameter) or callable(value):
                values[name] = Checked(value, partial(self._number_within, name, tables))
        return values

    def _number_within(self, name: str, tables: CellTables, time: float) -> float:
        """Return the present value of a parameter, by itself and with others in its domain."""
        if name in self._combined:
            return self._numbers(time, tables)[name]
        return self._number_at(name, self.parameters[name], time)

    @property
    def _combined(self) -> set[str]:
        """Names of the parameters of which several together have a domain."""
        functions = (f for f, _ in combinations_of(self._energy_function).values())
        return {name for f in functions for name in arguments_of(f).positional}


class CellBodyBinding:
    """A deformable body in one system.

    Attributes
    ----------
    name : in the system.
    interpolation : of its cells on this rank, after `orient`.
    pressures : that are unknowns of the system; None: there are none.
    """

    interpolation: Interpolation

    def __init__(self, body: Body, layout: Layout) -> None:
        self.body, self.name = body, layout.name(body)
        ids, vertices = body.region.slice(body.element.cell)
        cost = float(body.element.size**2)
        vertices = with_edges(layout, body, vertices + layout.base(body.region.mesh))
        element = body.element
        ends = element.topology.edges[: element.edges]  # of edges, which stand behind the corners
        edges = ((v, element.vertices + k) for k, pair in enumerate(ends) for v in pair)
        links = (*element.topology.graph, *edges)
        self.pressures: Pressures | None = None
        if body.pressure is not None and body.pressure.of_system:
            self.pressures = Pressures(layout, body, body.pressure)
            own = self.pressures.of_cells(layout, ids)
            links += ((0, vertices.shape[1]),) * own.shape[1]
            vertices = np.concatenate([vertices, own], axis=1)
        layout.announce(Family(f"body:{self.name}", ids, vertices, weight=cost, links=links))
        layout.announce_block(Block("position", 3))
        if element.slopes:
            slopes = slopes_block(body, self.name)
            layout.announce_block(Block(slopes, 3 * len(element.slopes), "direction"))
        if element.across:
            across = across_block(slopes_block(body, self.name))
            layout.announce_block(Block(across, 3, "direction"))
        self._curved: Mask | None = None  # which cells have a curved reference
        self._some = False, False  # some cells of all ranks are curved, are straight

    def orient(self, configuration: Configuration) -> None:
        """Take this rank's cells, and find the directions of the nodes (collective).

        Raises
        ------
        MeshError : neighbours are numbered in opposite senses, so that layers would change places.
        """
        self.interpolation = on = Interpolation(self.body, configuration)
        of = self.body.layers
        if of is None or on.directions is None or (len(of.layers) == 1 and not of.offset):
            return
        if on.directions.opposite:
            raise MeshError(
                f"body {self.body.name!r}: cells are numbered in opposite senses, so that their "
                "layers would lie in opposite order: turn them over in the mesh",
                asked="orientation",
                given=self.body.name,
            )

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that this body puts on local vertices."""
        carried, own = self.interpolation.carriers(), self.pressures
        return carried if own is None else carried + own.carriers(configuration)

    def idle(self, configuration: Configuration) -> Ints:
        """Return the local offsets of pressures on which no free coordinate depends."""
        own = self.pressures
        return np.zeros(0, dtype=np.int64) if own is None else own.idle(configuration)

    def build_reference(
        self, configuration: Configuration, supports: Sequence[SupportBinding]
    ) -> None:
        """Compute slope maps and the body's reference slopes (collective)."""
        self.interpolation.build(configuration, supports)

    def variants(self, configuration: Configuration) -> list[tuple[Laws, Mask]]:
        """Return the laws of the energy, each with the cells (n,) where it holds (collective).

        Cables have one for straight and one for curved references; where all cells of all ranks
        are of one kind there is only that.
        """
        body, on = self.body, self.interpolation
        if "curved" not in body.element.variants:
            return [(body._laws, np.ones(len(on.cells), dtype=bool))]
        if self._curved is None:
            self._curved = mine = on.curved()
            some = configuration.comm.allreduce([bool(mine.any()), bool((~mine).any())])
            self._some = any(some[0::2]), any(some[1::2])
        variants = [(body._laws, ~self._curved)] if self._some[1] else []
        return variants + ([(body._curved_laws, self._curved)] if self._some[0] else [])

    def cell_parameters(
        self,
        configuration: Configuration,
        names: Collection[str],
        points: Sequence[Sequence[float]] | Array | None = None,
        cells: Ints32 | None = None,
        ids: Ints | None = None,
    ) -> Array:
        """Return the values of parameters that vary, (cells, len(names)) (collective).

        `points` says for each name where in the cells, on the axis or mid-surface; empty: at
        the centroid, as everywhere by default and for fields per cell. `cells`: others than this
        rank's, given by local vertices, and their numbers `ids`.
        """
        body, on = self.body, self.interpolation
        n = len(on.cells if cells is None else cells)
        values, ids = np.zeros((n, len(names))), on.ids if cells is None else ids
        ids = self._numbers(ids, [body.parameters[name] for name in names if name not in FRAME])
        with together(configuration.comm):
            if {*FRAME} & {*names}:
                X = configuration.points[on.cells if cells is None else cells]
                frame = dict(zip(FRAME, frames(body.element.topology, X).T, strict=True))
            for k, name in enumerate(names):
                if name in FRAME:
                    values[:, k] = frame[name]
                    continue
                what = f"{name} of body {body.name!r}"
                field = body.parameters[name]
                if field.of_cells and ids is not None:
                    values[:, k] = self._of_cells(what, field, ids)
                    continue
                point = points[k] if points is not None and field.per == "point" else ()
                values[:, k] = call_array(what, field.function, (n,), on.at(point, cells))
                body._require_cells(name, values[:, k], np.arange(n) if ids is None else ids)
        return values

    @cached_property
    def _cells_of_mesh(self) -> Ints:
        """The numbers in the mesh of all cells of the body, which a field of values follows."""
        region = self.body.region
        ids = region.slice(self.body.element.cell)[0]
        return np.sort(np.concatenate(region.mesh.comm.allgather(ids)))

    def _numbers(self, ids: Ints | None, values: Collection[Value | Array]) -> Ints | None:
        """Return those in the body of cells that have some numbers in the mesh, if fields ask."""
        if ids is None or not any(isinstance(v, Field) and v.of_cells for v in values):
            return ids
        return np.searchsorted(self._cells_of_mesh, ids)

    def _of_cells(self, what: str, field: Field, ids: Ints) -> Array:
        """Return the values (n,) of a field of values in cells of some numbers in the body."""
        count = self.body.region.size
        if len(field.values) != count:
            raise ParameterError(
                f"{what}: a Field of {len(field.values)} values; the body has {count} cells",
                asked="values",
                given=len(field.values),
                possible=(count,),
            )
        return np.asarray(field.values[ids])

    def _tables(
        self, names: Sequence[str], points: Sequence[Sequence[float]], cell: Array, ids: Ints
    ) -> CellTables:
        """Return what functions of places give in cells, at each point of the kernel."""
        fields = {name: self.body.parameters.get(name) for name in {*names} & self.body._combined}
        tables: dict[tuple[float, ...], dict[str, Array]] = {}
        everywhere: dict[str, Array] = {}
        for name, point, values in zip(names, points, cell.T, strict=True):
            field = fields.get(name)
            if isinstance(field, Field) and not field.of_cells:
                of_points = field.per == "point"
                columns = tables.setdefault(tuple(point), {}) if of_points else everywhere
                columns[name] = values
        if everywhere and not tables:
            tables[()] = {}
        return [(ids, everywhere | columns) for columns in tables.values()]

    def _rows(
        self,
        configuration: Configuration,
        name: str,
        kernel: jit.Kernel,
        patch: Patch,
        own: Mapping[str, Array | Field],
        ids: Ints | None,
    ) -> Array:
        """Return the parameters of cells, those of the body and `own` ones (collective)."""
        filled = {*own, *kernel.memory, *kernel.optional}
        missing = [k for k, parameter in enumerate(kernel.cell) if parameter not in filled]
        names, points = [kernel.cell[k] for k in missing], [kernel.points[k] for k in missing]
        cell = np.zeros((len(patch.cells), len(kernel.cell)))
        cell[:, missing] = self.cell_parameters(
            configuration, names, points, patch.cells, patch.ids
        )
        with together(configuration.comm):
            for k, key in _own_columns(kernel, own):
                of = f"{key} of {name}"
                cell[:, k] = self._column(of, own[key], kernel.points[k], patch, ids)
        return cell

    def _fields_of_cells(
        self, names: Sequence[str], own: Mapping[str, Array | Field]
    ) -> dict[int, Field]:
        """Return the fields of values that give columns of cells, by the columns' numbers."""
        given = ((k, own.get(x, self.body.parameters.get(x))) for k, x in enumerate(names))
        return {k: field for k, field in given if isinstance(field, Field) and field.of_cells}

    def _watch(
        self,
        name: str,
        names: Sequence[str],
        own: Collection[str],
        domains: Mapping[str, Domain],
        ids: Ints | None,
        tables: CellTables,
    ) -> Callable[[int, Array, float], None]:
        """Return what looks at the values of a column of cells; see `form` and `CellFields`."""
        body = self.body

        def require(column: int, numbers: Array, time: float) -> None:
            key, cells = names[column], np.arange(len(numbers)) if ids is None else ids
            if key in own and key in domains:
                domains[key].require(key, f"{key} of {name}", numbers, cells=cells)
            elif key not in own:
                body._require_cells(key, numbers, cells)
                if key in body._combined:
                    body._numbers(time, tables)

        return require

    def form(
        self,
        configuration: Configuration,
        name: str,
        laws: Laws,
        role: Role,
        uniform: Mapping[str, Value],
        patch: Patch | None = None,
        values: Mapping[str, Array | Field] | None = None,
        domains: Mapping[str, Domain] | None = None,
        modes: Sequence[str] = (),
    ) -> Form:
        """Make the form of a list of (law, rule) on this body's cells, or on others (collective).

        `values` : parameters (n,) of the cells that are not those of the body, or fields; `domains`
        : of them; `modes` : functions of the kernel, default: the standard ones.
        """
        body, own = self.body, values or {}
        patch = patch or self.interpolation.patch()
        ids = self._numbers(patch.ids, [*body.parameters.values(), *own.values()])
        count = patch.gathered.scalars.shape[1]
        space = patch.element.space.with_scalars(count) if count else patch.element.space
        name_of_kernel = body._kernel_name(laws, patch.element)
        own_modes: dict[str, Any] = {"modes": modes} if modes else {}
        kernel = jit.cells(name_of_kernel, space, laws, configuration.comm, **own_modes)
        cell = self._rows(configuration, name, kernel, patch, own, ids)
        with together(configuration.comm):
            tables = [] if ids is None else self._tables(kernel.cell, kernel.points, cell, ids)
            if tables:
                body._numbers(configuration.time, tables)
            require = self._watch(name, kernel.cell, own, domains or {}, ids, tables)
            for k, _ in _own_columns(kernel, own):
                require(k, cell[:, k], configuration.time)
        fields = self._fields_of_cells(kernel.cell, own)
        vertices, start = patch.vertices
        uniform_values = body._uniform_values(tables).items()
        parameter_names = {*kernel.uniform, *kernel.cell}
        material = {k: value for k, value in uniform_values if k in parameter_names}
        return Form(
            name=name,
            kernel=kernel,
            role=role,
            uniform={**brought(laws), **material, **uniform},
            cell=cell,
            owned=patch.owned,
            vertices=vertices,
            vertex_start=start,
            entities=patch.gathered,
            cell_at=CellFields(cell, fields, ids, require) if fields and ids is not None else None,
            ids=ids,
        )

    def _column(
        self,
        what: str,
        value: Array | Field,
        point: Sequence[float],
        patch: Patch,
        ids: Ints | None,
    ) -> Array:
        """Return the values of a parameter in cells, those of a field at a point or in cells."""
        if not isinstance(value, Field):
            return value
        if value.of_cells and ids is not None:
            return self._of_cells(what, value, ids)
        places = self.interpolation.at(point if value.per == "point" else (), patch.cells)
        return call_array(what, value.function, (len(patch.cells),), places)

    def patch(self, chosen: Mask) -> Patch:
        """Return the chosen ones of this rank's cells as kernels take them."""
        on = self.interpolation
        if chosen.all():
            return on.patch()
        return on.patch(None, on.all_vertices[chosen], on.owned[chosen], ids=on.ids[chosen])

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the strain energy, with a kernel of its own for cables of curved reference."""
        forms: list[Form] = []
        for laws, cells in self.variants(configuration):
            name = f"{self.name} (curved)" if forms else self.name
            if self.pressures is None:
                patch, uniform = self.patch(cells), {}
            else:
                patch = self.pressures.patch(configuration)
                uniform = self.pressures.uniform(configuration)
            form = self.form(configuration, name, laws, "strain", uniform, patch)
            check_rest(self.body, configuration, laws, form, np.flatnonzero(cells)[:CELLS])
            forms.append(form)
        return forms

    def integral(
        self, configuration: Configuration, what: str, function: Callable[..., object]
    ) -> list[Form]:
        """Return forms that remember integrals over cells (collective), see `laws.integral`."""
        forms: list[Form] = []
        for laws, cells in self.variants(configuration):
            options = {} if laws is self.body._laws else {"curved": True}
            own = self.body._integral_laws(what, function, **options)
            patch = self.patch(cells)
            forms.append(
                self.form(configuration, what, own, "strain", {}, patch, modes=("update",))
            )
        return forms

    def inertia(self, configuration: Configuration) -> list[Form]:
        """Return the kinetic energy of a vector of rates; its tangent is the mass matrix.

        Empty where the body has no density.

        Raises
        ------
        ParameterError : the density is zero, also when a `Parameter` is set to that later.
        """
        body = self.body
        if not body._weighs:
            return []
        laws = inertia_laws(body.element, **body._mass)
        density, uniform = body.parameters.get("rho", 1.0), {}
        if "rho" in body.parameters and not isinstance(density, Field):
            with together(configuration.comm):
                body._density(configuration.time)
            if depends_on_time(density):
                uniform["rho"] = Checked(density, body._density)
        name = f"inertia:{self.name}"
        return [self.form(configuration, name, laws, "inertia", uniform)]

    def weight(self, configuration: Configuration, uniform: Mapping[str, Value]) -> Form:
        """Return the potential of the weight, with ``g1, g2, g3`` [m/s^2]."""
        laws = body_force_laws(self.body.element, **self.body._mass)
        return self.form(configuration, f"gravity:{self.name}", laws, "potential", uniform)

    def turning(self, configuration: Configuration, uniform: Mapping[str, Value]) -> list[Form]:
        """Return centrifugal potential and Coriolis forces; see `laws.turning`."""
        potential, forces = turning_laws(self.body.element, **self.body._mass)
        by_rates = {**uniform, RATE_FACTOR: 0.0}
        return [
            self.form(configuration, "centrifugal", potential, "potential", uniform),
            self.form(configuration, "coriolis", forces, "inertia", by_rates),
        ]

    # ---- a motion -------------------------------------------------------------------------------
    @property
    def start_values(self) -> Sequence[Any]:
        """What rates at the start follow from, as users gave it."""
        return () if self.body._start is None else self.body._start.values

    def initial_rate(self, configuration: Configuration, rate: Array) -> None:
        """Write the rates of a body with `velocity` or `spin` into a local vector (collective)."""
        start, numbering = self.body._start, configuration.numbering
        if start is None:
            return
        with together(configuration.comm):
            start.write(self.interpolation, configuration, STEP * self.body.extent, rate)
        numbering.update_ghosts(rate, np.arange(numbering.coordinates))

    def settle(self, configuration: Configuration) -> None:
        """Let pressures of a finite modulus follow the present state of a motion."""
        if configuration.moves and (own := self.pressures):
            own.settle(configuration)


def _own_columns(kernel: jit.Kernel, own: Collection[str]) -> list[tuple[int, str]]:
    """Return the columns of a kernel's parameters of cells that have some names."""
    return [(k, name) for k, name in enumerate(kernel.cell) if name in own]


def _sizes(element: Element) -> dict[str, Domain]:
    """Return the domains of the section's sizes and of the density."""
    own = element.kinematics()
    sizes = dict.fromkeys((*own.section, *own.density_parameters), positive())
    return sizes | {"rho": not_negative()} if "rho" in sizes else sizes


def _kinds(parameters: Mapping[str, Any]) -> dict[str, Kind]:
    """Return which parameters vary, and whether from cell to cell or within cells."""
    fields = {name: value for name, value in parameters.items() if isinstance(value, Field)}
    return {name: field.per for name, field in fields.items()}
