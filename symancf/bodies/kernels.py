# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of a body: point laws of its energy and mass, and their pieces on its cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from symancf_codegen.declare import brought

from ..arrays import Array, Ints32, Mask
from ..assembly.piece import Piece, Role
from ..errors import KinematicsError, SymancfError, in_words
from ..laws import at_points, energy_laws, inertia_laws
from ..laws.mixed import FRAME, frames
from ..places.interpolation import Interpolation, Patch
from ..runtime import jit
from ..runtime.collective import together
from ..runtime.jit import identifier
from ..values.parameter import Checked, Field, Parameter, Value, call_array, depends_on_time, label
from .curved import Curved
from .mass import WithMass
from .pressure import Pressures
from .rest import CELLS, check_rest

if TYPE_CHECKING:
    import sympy as sp

    from symancf_codegen.declare import Rule

    from ..assembly.configuration import Configuration
    from ..elements import Element
    from ..laws.body import Laws
    from ..mesh import Region
    from ..values.domain import Domain
    from ..values.parameter import Scalar


class WithKernels(WithMass):
    """A body of cells, as far as its kernels ask; see `Body`."""

    region: Region
    element: Element
    join: str
    direction: Callable[[Array], npt.ArrayLike] | None
    smooth: float
    volumetric: Literal["full", "reduced", "split"] | None
    quadrature: str | Rule | Mapping[str, str | Rule] | None
    domains: Mapping[str, Domain]
    sound: bool

    @cached_property
    def extent(self) -> float:
        """Diagonal of the mesh's bounding box (collective on first use)."""
        low, high = self.region.mesh.bounds()
        return float(np.linalg.norm(high - low))

    def _laws(self, **options: Any) -> Laws:
        chosen = {
            "fields": self.fields,
            "volumetric": self.volumetric,
            "quadrature": self.quadrature,
            "pressure": self.pressure,
            **options,
        }
        try:
            return energy_laws(self.element, self.energy_function, values=self.parameters, **chosen)
        except SymancfError:
            raise
        except Exception as error:
            raise KinematicsError(
                f"{label(self.energy_function)} failed on the symbols of {self.element.name}: "
                f"{in_words(error)}",
                asked="energy",
                given=error,
            ) from error

    @cached_property
    def laws(self) -> Laws:
        """The point laws of the energy with their quadrature rules (on a straight reference)."""
        return self._laws()

    @cached_property
    def curved_laws(self) -> Laws:
        """The point laws of the energy on a curved reference (cables)."""
        return self._laws(curved=True)

    def sampled_laws(
        self, outputs: Mapping[str, sp.Expr], *, by_rule: bool = False, **options: bool
    ) -> Laws:
        """Return the energy's laws with outputs, for any points: see `laws.sampled`.

        One law of the whole energy, or with `by_rule` those of its parts with their rules.
        """
        whole = {} if by_rule else {"volumetric": "full", "quadrature": "full"}
        fields = dict.fromkeys(self.fields, "cell")
        laws = self._laws(outputs=outputs, fields=fields, held=True, **whole, **options)
        return [(at_points(law), rule) for law, rule in laws]

    @property
    def remembers(self) -> bool:
        """Whether its energy has memory."""
        return any(law.history for law, _ in self.laws)

    def uniform_values(self) -> dict[str, Scalar]:
        """Return the values of the kernels' uniform parameters; these watch their domain."""
        values = self._scalars()
        for name in sorted({*self.domains} & {*values}):
            given = values[name]
            if isinstance(given, Parameter) or callable(given):
                values[name] = Checked(given, partial(self.number_at, name, given))
        return values

    def cell_parameters(
        self,
        configuration: Configuration,
        names: Collection[str],
        points: Sequence[Sequence[float]] | Array | None = None,
        cells: Ints32 | None = None,
    ) -> Array:
        """Return the values of parameters that vary, (cells, len(names)) (collective).

        `points` says for each name where in the cells, on the axis or mid-surface; empty: at
        the centroid, as everywhere by default and for fields per cell. `cells`: others than this
        rank's, given by local vertices.
        """
        on = configuration.of(self, Interpolation)
        n = len(on.cells if cells is None else cells)
        values = np.zeros((n, len(names)))
        with together(configuration.comm):
            if {*FRAME} & {*names}:
                X = configuration.points[on.cells if cells is None else cells]
                frame = dict(zip(FRAME, frames(self.element.topology, X).T, strict=True))
            for k, name in enumerate(names):
                if name in FRAME:
                    values[:, k] = frame[name]
                    continue
                what = f"{name} of body {self.name!r}"
                field = self.parameters[name]
                point = points[k] if points is not None and field.at == "points" else ()
                values[:, k] = call_array(what, field.function, (n,), on.at(point, cells))
                if name in self.domains:
                    self.domains[name].require(name, what, values[:, k], " in a cell")
        return values

    def piece(
        self,
        configuration: Configuration,
        name: str,
        laws: Laws,
        role: Role,
        uniform: Mapping[str, Value],
        patch: Patch | None = None,
        values: Mapping[str, Array] | None = None,
    ) -> Piece:
        """Make the piece of a list of (law, rule) on this body's cells, or on others (collective).

        `values` : parameters (n,) of the cells that are not those of the body.
        """
        on, own = configuration.of(self, Interpolation), values or {}
        patch = patch or on.patch()
        count = patch.gathered.scalars.shape[1]
        space = patch.element.space.with_scalars(count) if count else patch.element.space
        kernel = jit.cells(self._kernel_name(laws, patch.element), space, laws, configuration.comm)
        given = {*own, *kernel.memory, *kernel.optional}
        asked = [k for k, parameter in enumerate(kernel.cell) if parameter not in given]
        names, points = [kernel.cell[k] for k in asked], [kernel.points[k] for k in asked]
        cell = np.zeros((len(patch.cells), len(kernel.cell)))
        cell[:, asked] = self.cell_parameters(configuration, names, points, patch.cells)
        for k, parameter in enumerate(kernel.cell):
            if parameter in own:
                cell[:, k] = own[parameter]
        vertices, start = patch.vertices
        known = {*kernel.uniform, *kernel.cell}
        material = {k: value for k, value in self.uniform_values().items() if k in known}
        return Piece(
            name=name,
            kernel=kernel,
            role=role,
            uniform={**brought(laws), **material, **uniform},
            cell=cell,
            owned=patch.owned,
            vertices=vertices,
            vertex_start=start,
            entities=patch.gathered,
            ids=patch.ids,
        )

    def patch(self, configuration: Configuration, chosen: Mask) -> Patch:
        """Return the chosen ones of this rank's cells as kernels take them."""
        on = configuration.of(self, Interpolation)
        if chosen.all():
            return on.patch()
        return on.patch(None, on.whole[chosen], on.owned[chosen], ids=on.ids[chosen])

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the strain energy, with a kernel of its own for cables of curved reference."""
        made: list[Piece] = []
        own = configuration.name(self)
        for laws, cells in self.variants(configuration):
            name = f"{own} (curved)" if made else own
            patch, uniform = self.patch(configuration, cells), {}
            if pressures := self._pressures(configuration):
                patch, uniform = pressures.patch(configuration), pressures.uniform(configuration)
            piece = self.piece(configuration, name, laws, "strain", uniform, patch)
            check_rest(self, configuration, laws, piece, np.flatnonzero(cells)[:CELLS])
            made.append(piece)
        return made

    def inertia(self, configuration: Configuration) -> list[Piece]:
        """Return the kinetic energy of a vector of rates; its tangent is the mass matrix.

        Empty where the body has no density.

        Raises
        ------
        ParameterError : the density is zero, also when a `Parameter` is set to that later.
        """
        if not self.weighs:
            return []
        laws = inertia_laws(self.element, **self.mass)
        given, uniform = self.parameters.get("rho", 1.0), {}
        if "rho" in self.parameters and not isinstance(given, Field):
            with together(configuration.comm):
                self._density(configuration.time)
            if depends_on_time(given):
                uniform["rho"] = Checked(given, self._density)
        name = f"inertia:{configuration.name(self)}"
        return [self.piece(configuration, name, laws, "inertia", uniform)]

    def variants(self, configuration: Configuration) -> list[tuple[Laws, Mask]]:
        """Return the laws of the energy, each with the cells (n,) where it holds (collective).

        Cables have one for straight and one for curved references; where all cells of all ranks
        are of one kind there is only that.
        """
        if "curved" not in self.element.variants:
            cells = configuration.of(self, Interpolation).cells
            return [(self.laws, np.ones(len(cells), dtype=bool))]
        found = Curved.of(self, configuration)
        straight = [(self.laws, ~found.cells)] if found.some_straight else []
        return straight + ([(self.curved_laws, found.cells)] if found.some else [])

    def _pressures(self, configuration: Configuration) -> Pressures | None:
        """Return the pressures that are unknowns of a system, if there are some."""
        return configuration.layout.find(self, Pressures)

    @staticmethod
    def _kernel_name(laws: Laws, element: Element) -> str:
        """Name kernels by law and element: bodies alike share them."""
        return identifier(f"{laws[0][0].name}_{element.name}")
