# SPDX-License-Identifier: BSD-3-Clause
"""A body: a region of a mesh, an element, an energy and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import sympy as sp
from mpi4py import MPI

from ..assembly.numbering import Block
from ..assembly.piece import Cells, Piece
from ..assembly.protocol import TurnsSlopes, having
from ..assembly.vertices import AtVertices
from ..elements import Element
from ..errors import KinematicsError, MeshError, ParameterError, SymancfError, in_words
from ..kinematics.naming import require_parameters, signature
from ..laws import Kind, energy_equation, energy_laws, inertia_laws, stress_equations
from ..mesh import Region
from ..mesh.partition import Family
from ..places import geometry
from ..places.ends import Nodes, PointsOnBody
from ..runtime import jit
from ..runtime.collective import together
from ..runtime.jit import identifier
from ..values.arguments import one_of, text
from ..values.arrays import Array, Ints32, Mask
from ..values.domain import domains_of, not_negative, positive
from ..values.parameter import (
    Checked,
    Field,
    Parameter,
    call_array,
    depends_on_time,
    evaluate,
    label,
)
from .inspection import KernelText
from .rest import CELLS, check_rest

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..assembly.protocol import Support

Energy = Callable[..., Any]


def _check_kinds(region: Any, element: Any, energy: Any) -> None:
    if not isinstance(region, Region):
        raise MeshError(f"Body takes a region of a mesh, mesh['name']; given {region!r}")
    if not isinstance(element, Element) or not callable(energy):
        raise KinematicsError(
            "Body(region, element, energy) takes one of symancf.elements and a function; given "
            f"{label(element)} and {label(energy)}"
        )


class Body:
    """A deformable body.

    Parameters
    ----------
    region : cells of a mesh, ``mesh["plate"]``.
    element : one of `symancf.elements`.
    energy : function of quantities (positional arguments) and parameters (keyword-only) that
        returns an energy density per reference volume (solids, plates of full gradient), area
        (thin plates) or length (cables), or a dict of named parts.
    name : default: the region's name.
    volumetric, quadrature : see `symancf.laws.energy_laws`.
    join : ``"all"`` shares slopes with other bodies of the same kind at common nodes,
        ``"position"`` only positions. Default: ``"all"`` for full-gradient elements.
    direction : function of X (n, 3) -> (n, 3): surface normals (plates) or tangents (cables)
        of the reference; default: averaged from the mesh (see `symancf.places.geometry`).
    smooth : angle [degrees] up to which facets that meet are parts of one smooth surface.
    parameters : values of the energy's parameters, and ``rho`` (and ``thickness``, ``A``):
        numbers, `Parameter`, functions of time, or `Field` (one value per cell or point).

    Raises
    ------
    MeshError : the region does not hold the element's cells.
    KinematicsError : the energy asks for a quantity that the element lacks.
    ParameterError : a parameter is missing, misspelt or not finite.
    """

    named = True
    cells: Ints32  # local vertices, after distribution

    def __init__(
        self,
        region: Region,
        element: Element,
        energy: Energy,
        *,
        name: str | None = None,
        volumetric: Literal["full", "reduced", "split"] | None = None,
        quadrature: Mapping[str, Any] | None = None,
        join: str | None = None,
        direction: Callable[[Array], npt.ArrayLike] | None = None,
        smooth: float = 50.0,
        **parameters: Any,
    ) -> None:
        _check_kinds(region, element, energy)
        self.element = element
        self.energy_function = energy
        self.name = text("Body(name=...)", name or region.name)
        self.volumetric, self.quadrature = volumetric, quadrature
        self.direction, self.smooth = direction, smooth
        section = element.kinematics()
        sizes = dict.fromkeys((*section.section, *section.density_parameters), positive())
        if "rho" in sizes:
            sizes["rho"] = not_negative()
        self.domains = {**sizes, **domains_of(energy)}
        self.sound = False  # at rest; see `rest`
        with together(region.mesh.comm):  # functions of the user may fail on one rank only
            self.region = region.require(element.cell, use=element.name)
            self.parameters = self._complete(parameters)
            whole = "all" if element.slope_kind == "gradient" else "position"
            join = whole if join is None else join
            self.join = one_of(f"body {self.name!r}: join", join, ("all", "position"))
            self.fields: dict[str, Kind] = {
                k: "cell" if v.at == "cells" else "point"
                for k, v in self.parameters.items()
                if isinstance(v, Field)
            }
            self.laws  # noqa: B018  (a wrong pairing of energy and element is told here)

    def __repr__(self) -> str:
        return (
            f"Body {self.name!r}: {self.region.size} {self.element.name} "
            f"with {self.energy_function.__name__}"
        )

    def _complete(self, given: dict[str, Any]) -> dict[str, Any]:
        """Add the energy's defaults; refuse names that nothing takes."""
        asked = signature(self.energy_function)
        kinematics = self.element.kinematics()
        section = dict.fromkeys((*kinematics.section, *kinematics.density_parameters))
        require_parameters(
            asked.name,
            (*asked.required, *kinematics.section),
            given,
            optional=(*asked.defaults, *(s for s in section if s not in kinematics.section)),
            exact=True,
        )
        parameters = {**asked.defaults, **given}
        for name, value in parameters.items():
            if not isinstance(value, Field):
                self._number(name, value, 0.0)
        return parameters

    def _number(self, name: str, value: Any, time: float) -> float:
        """Return the present value of a parameter that is no field."""
        what = f"{name} of body {self.name!r}"
        number = evaluate(what, value, time)
        if name in self.domains:
            self.domains[name].require(name, what, number, f" at time {time:g}")
        return number

    def _density(self, time: float) -> float:
        """Return the density in a motion, where it must be positive."""
        number = self._number("rho", self.parameters["rho"], time)
        if number == 0.0:
            raise ParameterError(
                f"rho of body {self.name!r} is 0 at time {time:g}: in a motion it must be "
                "positive; leave rho out for a body without mass",
                name="rho",
            )
        return number

    def numbers(self, time: float) -> dict[str, float]:
        """Return the present values of all parameters that are not fields."""
        return {
            k: self._number(k, v, time)
            for k, v in self.parameters.items()
            if not isinstance(v, Field)
        }

    # ---- places ---------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Nodes:
        """Return the nodes of a named region of this body's mesh."""
        return Nodes(self, self.region.mesh[name])

    def at(self, point: npt.ArrayLike, frame: npt.ArrayLike | None = None) -> PointsOnBody:
        """Return the place of a point X (or of several, (k, 3)) on this body.

        `frame` (3, 3): columns are the axes that joints there have. As the point it is given in
        the axes of the body, which of a mesh are those of its coordinates.
        """
        return PointsOnBody(self, point, frame)

    # ---- for people ---------------------------------------------------------------------------
    @property
    def energy(self) -> sp.Eq:
        """The strain energy density W = ... in the quantities that it asks for (SymPy)."""
        return energy_equation(self.element, self.energy_function)

    @property
    def residual(self) -> sp.Tuple:
        """The stresses that make up the residual, as equations (SymPy); see `stress_equations`."""
        return sp.Tuple(*stress_equations(self.element, self.energy_function))

    def _kernel_name(self, laws: Any) -> str:
        """Name kernels by law and element: bodies alike share them."""
        return identifier(f"{laws[0][0].name}_{self.element.name}")

    def kernel(self, function: str = "tangent") -> KernelText:
        """Return the generated C of ``energy``, ``residual``, ``tangent`` or ``product``.

        Attributes of the result: `source` (the whole file), `ops` (operations per quadrature
        point of each law, by kind) and `path` of the compiled library.
        """
        made = jit.cells(self._kernel_name(self.laws), self.element.space, self.laws)
        possible = sorted(next(iter(made.operations.values())))
        if function not in possible:
            raise ParameterError(f"kernel({function!r}): choose one of {', '.join(possible)}")
        ops = {law: counts[function] for law, counts in made.operations.items()}
        return KernelText(function, made.source, ops, made.path)

    # ---- before distribution ----------------------------------------------------------------
    @property
    def slope_name(self) -> str:
        """Name of the block of coordinates that holds this body's slopes."""
        if self.join == "all":
            return f"slopes:{self.element.slope_kind}{len(self.element.slopes)}"
        return f"slopes:{self.name}"

    @cached_property
    def extent(self) -> float:
        """Diagonal of the mesh's bounding box (collective on first use)."""
        mesh = self.region.mesh
        low = mesh.points.min(axis=0) if len(mesh.points) else np.full(3, np.inf)
        high = mesh.points.max(axis=0) if len(mesh.points) else np.full(3, -np.inf)
        low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)
        mesh.comm.Allreduce(MPI.IN_PLACE, low, op=MPI.MIN)
        mesh.comm.Allreduce(MPI.IN_PLACE, high, op=MPI.MAX)
        return float(np.linalg.norm(high - low))

    def declare(self, layout: Layout) -> None:
        """Announce cells and blocks of coordinates."""
        ids, vertices = self.region.slice(self.element.cell)
        cost = float(self.element.size**2)
        layout.announce(
            Family(f"body:{self.name}", ids, vertices + layout.base(self.region.mesh), weight=cost)
        )
        layout.announce_block(Block("position", 3))
        if self.element.slopes:
            size = 3 * len(self.element.slopes)
            layout.announce_block(Block(self.slope_name, size, "direction"))

    # ---- after distribution -------------------------------------------------------------------
    def orient(self, system: Configuration) -> None:
        """Take this rank's cells, and find the directions of the nodes (collective)."""
        family = system.topology.families[f"body:{self.name}"]
        self.ids, self.cells, self.owned = family.ids, family.vertices, family.owned
        self.directions: geometry.Directions | None = None
        if not self.element.slopes:
            return
        self.directions = geometry.Directions(
            self.name,
            self.element,
            system.topology,
            system.points,
            self.cells,
            self.direction,
            self.smooth,
        )
        if self.element.slope_kind == "tangents":
            self.directions.require_smooth()
        self.directions.warn_deviation()

    def carriers(self, system: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that this body puts on local vertices."""
        used = np.unique(self.cells)
        blocks = [("position", used)]
        if self.element.slopes:
            blocks.append((self.slope_name, used))
        return blocks

    def _laws(self, **options: bool) -> list[Any]:
        try:
            return energy_laws(
                self.element,
                self.energy_function,
                values=self.parameters,
                fields=self.fields,
                volumetric=self.volumetric,
                quadrature=self.quadrature,
                **options,
            )
        except SymancfError:
            raise
        except Exception as error:
            raise KinematicsError(
                f"{label(self.energy_function)} failed on the symbols of {self.element.name}: "
                f"{in_words(error)}"
            ) from error

    @cached_property
    def laws(self) -> list[Any]:
        """The point laws of the energy with their quadrature rules (on a straight reference)."""
        return self._laws()

    @cached_property
    def curved_laws(self) -> list[Any]:
        """The point laws of the energy on a curved reference (cables)."""
        return self._laws(curved=True)

    def build_reference(self, system: Configuration, supports: Sequence[Support]) -> None:
        """Compute slope maps and the body's reference slopes (collective)."""
        self._curved: tuple[Mask, bool, bool] | None = None
        element = self.element
        self.position_block = system.numbering.block("position")
        if not element.slopes:
            self.maps = np.zeros((len(self.cells), element.vertices, 0, 0))
            return
        self.slope_block = system.numbering.block(self.slope_name)
        assert self.directions is not None
        self.basis = geometry.node_basis(element, self.directions)
        taken = AtVertices(self.basis.vertices, np.zeros(len(self.basis.vertices), dtype=bool))
        with together(system.comm):  # the first support at a vertex chooses
            for support in having(supports, TurnsSlopes):
                if support.body.slope_name == self.slope_name:
                    support.turned(system, self.basis, taken)
        # every local node of the body, also one that only a joint brought here
        start = system.numbering.offset[self.basis.vertices, self.slope_block]
        at = start[:, None] + np.arange(3 * len(element.slopes))
        basis = self.basis.values.reshape(at.shape)
        with together(system.comm):
            given = system.reference[at]
            if (given.any(axis=1) & (np.abs(given - basis).max(axis=1, initial=0) > 1e-9)).any():
                raise MeshError(
                    f"body {self.name!r} shares slopes with another body along other tangents; "
                    "use join='position', or give both the same direction="
                )
        system.reference[at] = basis
        with together(system.comm):
            self.maps = self.maps_of(system, self.cells)

    def maps_of(self, system: Configuration, cells: npt.NDArray[Any]) -> Array:
        """Return slope maps T (n, corners, s, s) of cells given by local vertices."""
        slopes = geometry.element_slopes(self.element, system.points, cells, self.directions)
        maps = geometry.slope_maps(self.element, slopes, self.basis[cells])
        lost = np.linalg.norm(slopes - np.einsum("nvkc,nvca->nvka", maps, self.basis[cells]))
        if not lost <= 1e-6 * np.linalg.norm(slopes):  # also where a cell has no area: NaN
            raise MeshError(f"body {self.name!r}: element slopes leave the nodes' tangent planes")
        return maps

    def coordinate_offset(
        self, system: Configuration, vertices: npt.NDArray[Any], jet: str
    ) -> Ints32:
        """Return local offsets of a node's position (``value``) or of its k-th slope."""
        if jet == "value":
            return np.asarray(system.numbering.offset[vertices, self.position_block])
        k = int(jet.removeprefix("slope"))
        return np.asarray(system.numbering.offset[vertices, self.slope_block] + 3 * k)

    def normals_at(self, vertices: npt.NDArray[Any]) -> Array:
        """Return the reference normals of nodes, (k, 3)."""
        assert self.directions is not None
        if self.directions.kink[vertices].any():
            raise MeshError(f"body {self.name!r}: a kink has no director of its own")
        return np.asarray(self.directions.at[vertices])

    def tabulate(self, jet: str, xi: Array) -> Array:
        """Return the coefficients (k, n) of a point jet at parameter values, on z = 0."""
        spread = self.element.space.point_jets[jet]
        tables = [name for name, factor in spread.items() if factor == 1]
        table: Array = self.element.space.tabulate(tuple(tables), xi)
        return np.asarray(table.sum(axis=1))

    def uniform_values(self) -> dict[str, Any]:
        """Return the values of the kernels' uniform parameters; these watch their domain."""
        values = dict(self.parameters)
        for name in sorted({*self.domains} & {*values}):
            given = values[name]
            if isinstance(given, Parameter) or callable(given):
                values[name] = Checked(given, partial(self._number, name, given))
        return values

    def cell_parameters(
        self,
        system: Configuration,
        names: Collection[str],
        points: Sequence[Sequence[float]] | Array | None = None,
        cells: Ints32 | None = None,
    ) -> Array:
        """Return the values of parameters that vary, (cells, len(names)) (collective).

        `points` says for each name where in the cells, on the axis or mid-surface; empty: at
        the centroid, as everywhere by default and for fields per cell. `cells`: others than this
        rank's, given by local vertices.
        """
        cells = self.cells if cells is None else cells
        values = np.zeros((len(cells), len(names)))
        with together(system.comm):
            for k, name in enumerate(names):
                what = f"{name} of body {self.name!r}"
                field = self.parameters[name]
                point = points[k] if points is not None and field.at == "points" else ()
                X = self._places(system, point, cells)
                values[:, k] = call_array(what, field.function, (len(cells),), X)
                if name in self.domains:
                    self.domains[name].require(name, what, values[:, k], " in a cell")
        return values

    def _places(
        self, system: Configuration, point: Sequence[float] | Array, cells: Ints32
    ) -> Array:
        """Return the reference places (cells, 3) of a point of the cells; empty: centroids."""
        if not len(point):
            return np.asarray(system.points[cells].mean(axis=1))
        maps = self.maps if cells is self.cells else self.maps_of(system, cells)
        table = self.tabulate("value", np.array([point]))[0]
        return np.asarray(np.einsum("i,nia->na", table, self.coefficients(system, cells, maps)))

    def coefficients(self, system: Configuration, cells: npt.NDArray[Any], maps: Array) -> Array:
        """Return the reference coefficients (n, functions, 3) of cells given by local vertices."""
        vectors = system.points[cells][:, :, None, :]
        if self.element.slopes:
            slopes = np.einsum("nvkc,nvca->nvka", maps, self.basis[cells])
            vectors = np.concatenate([vectors, slopes], axis=2)
        return np.asarray(vectors.reshape(len(vectors), int(np.prod(vectors.shape[1:3])), 3))

    def piece(
        self,
        system: Configuration,
        name: str,
        laws: Any,
        role: Any,
        uniform: Mapping[str, Any],
        chosen: Mask | None = None,
    ) -> Piece:
        """Make the piece of a list of (law, rule) on this body's cells, or on `chosen` ones."""
        kernel = jit.cells(self._kernel_name(laws), self.element.space, laws, system.comm)
        pick = slice(None) if chosen is None else chosen
        cells = self.cells[pick]
        n, nv = cells.shape
        position = system.numbering.offset[cells, self.position_block]
        slopes = np.zeros_like(position)
        if self.element.slopes:
            slopes = system.numbering.offset[cells, self.slope_block]
        return Piece(
            name=name,
            kernel=kernel,
            role=role,
            uniform={**self.uniform_values(), **uniform},
            cell=self.cell_parameters(system, kernel.cell, kernel.points)[pick],
            owned=self.owned[pick],
            vertices=cells.ravel(),
            vertex_start=np.arange(n + 1, dtype=np.int32) * np.int32(nv),
            entities=Cells(np.stack([position, slopes], axis=2), self.maps[pick]),
        )

    def pieces(self, system: Configuration) -> list[Piece]:
        """Return the strain energy, with a kernel of its own for cables of curved reference."""
        made: list[Piece] = []
        for laws, cells in self.variants(system):
            name = f"{self.name} (curved)" if made else self.name
            piece = self.piece(system, name, laws, "strain", {}, cells)
            check_rest(self, system, laws, piece, np.flatnonzero(cells)[:CELLS])
            made.append(piece)
        return made

    def inertia(self, system: Configuration) -> list[Piece]:
        """Return the kinetic energy of a vector of rates; its tangent is the mass matrix.

        Empty where the body has no density.

        Raises
        ------
        ParameterError : the density is zero, also when a `Parameter` is set to that later.
        """
        if "rho" not in self.parameters:
            return []
        laws = inertia_laws(self.element, values=self.parameters, fields=self.fields)
        given, uniform = self.parameters["rho"], {}
        if not isinstance(given, Field):
            with together(system.comm):
                self._density(system.time)
            if depends_on_time(given):
                uniform["rho"] = Checked(given, self._density)
        return [self.piece(system, f"inertia:{self.name}", laws, "inertia", uniform)]

    def variants(self, system: Configuration) -> list[tuple[list[Any], Mask]]:
        """Return the laws of the energy, each with the cells (n,) where it holds (collective).

        Cables have one for straight and one for curved references; where all cells of all ranks
        are of one kind there is only that.
        """
        everywhere = np.ones(len(self.cells), dtype=bool)
        if self.element.cell != "line":
            return [(self.laws, everywhere)]
        if self._curved is None:
            slopes = np.einsum("nvkc,nvca->nvka", self.maps, self.basis[self.cells])
            curved = geometry.curved_lines(system.points[self.cells], slopes)
            some = system.comm.allreduce([bool(curved.any()), bool((~curved).any())])
            self._curved = (curved, any(some[0::2]), any(some[1::2]))
        curved, has_curved, has_straight = self._curved
        found = [(self.laws, ~curved)] if has_straight else []
        if has_curved:
            found.append((self.curved_laws, curved))
        return found
