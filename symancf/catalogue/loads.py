# SPDX-License-Identifier: BSD-3-Clause
"""Dead loads: gravity, forces, tractions and forces per volume."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np

from ..arrays import Array
from ..assembly.agreement import PlaceFunction
from ..assembly.assembler import Assembler
from ..bodies.natural import RigidBody
from ..bodies.node import OneNode
from ..bodies.plane import Factor, PlanarBody, PlanarPoint
from ..bodies.point import PointMass
from ..errors import ConstraintError, ParameterError
from ..laws import dead_load_laws
from ..mesh.partition import Family
from ..places.edges import with_edges
from ..places.ends import End, Ground, require_place
from ..places.facets import FacetPoints
from ..places.on_body import Nodes, require_region
from ..runtime.copies import OneProcess
from ..runtime.display import Displayable
from ..terms.quantities import symbols_of
from ..terms.term import PlaceBinding
from ..terms.work import Potential, VirtualWork
from ..values.arguments import name_or, one_of
from ..values.parameter import (
    Value,
    Vector,
    call,
    call_array,
    components,
    evaluate,
    label,
    of_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.form import Form
    from ..assembly.protocol import MayWeigh
    from ..bodies.body import Body
    from ..terms.quantities import At, E, S, V
    from ..values.parameter import Scalar


FORCES = ("F1", "F2", "F3")


class Gravity(OneProcess, Displayable):
    """The energy -rho g . u of every body that has a density; see `gravity`."""

    def __init__(
        self, g: Vector, bodies: Sequence[Body | RigidBody | PlanarBody | PointMass] | None
    ) -> None:
        self.name = "gravity"
        self.acceleration, self.g = g, components("gravity", g)
        self.bodies = bodies

    def _headline(self) -> str:
        """Return its name, which tells."""
        return self.name

    def bind(self, layout: Layout) -> Self:
        """Announce entities and vertices before distribution."""
        for body in self.bodies or ():
            layout.require_member(body, layout.name(self))
            if not body._weighs:
                lacks = "mass" if isinstance(body, OneNode) else "rho"
                raise ParameterError(
                    f"gravity acts on body {body.name!r}, which has no {lacks}",
                    asked=lacks,
                    given=body.name,
                )
        if not self._heavy(layout):
            raise ParameterError(
                "gravity: no body has a density; give rho=... to a body", asked="rho"
            )
        self._warn_of_another(layout)
        return self

    def _warn_of_another(self, layout: Layout) -> None:
        """Warn where an earlier load is the same gravity on some of the same bodies."""
        parts = [self.acceleration] if callable(self.acceleration) else list(self.acceleration)
        field = tuple(p if isinstance(p, int | float) else id(p) for p in parts)
        own, twice = layout.name(self), dict[str, list[str]]()
        for body in self._heavy(layout):
            before = layout.noted((Gravity, id(body), field), own)
            if before is not None:
                twice.setdefault(before, []).append(repr(layout.name(body)))
        for before, names in twice.items():
            if layout.comm.rank == 0:
                on = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if names[5:] else "")
                warnings.warn(
                    f"{before!r} and {own!r} are the same gravity, and both act on {on}: "
                    "twice the weight",
                    stacklevel=5,
                )

    def _heavy(self, within: Layout | Configuration) -> list[MayWeigh]:
        return [b for b in self.bodies or within.bodies if b._weighs]

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernels and entities on this rank."""
        uniform: dict[str, Value] = {f"g{a + 1}": g for a, g in enumerate(self.g)}
        heavy = map(configuration.binding, self._heavy(configuration))
        return [body.weight(configuration, uniform) for body in heavy]


def gravity(g: Vector, *bodies: Body | RigidBody | PlanarBody | PointMass) -> Gravity:
    """Weight of bodies (all that have `rho` or a mass) in the field `g`, three components [m/s^2].

    The components are numbers, `Parameter` or functions of time. Energy: -int rho g . u dV.

    Examples
    --------
    >>> import symancf as sa
    >>> sa.gravity((0.0, 0.0, -9.81))
    gravity
    """
    return Gravity(g, bodies or None)


@dataclass(frozen=True)
class Load:
    """A dead load as the user gives it.

    Attributes
    ----------
    vector : the components ``F1, F2, F3``; none where they depend on the place.
    distribute : ``"total"``: on all places together; ``"each"``: on each, or by area or length.
    of_place : function (X (n, 3), time) -> (n, 3).
    """

    name: str
    vector: dict[str, Scalar]
    distribute: Literal["total", "each"]
    of_place: Callable[..., npt.ArrayLike] | None = None

    def at(self, X: Array, time: float) -> Array:
        """Return the forces (n, 3) at places of the reference."""
        assert self.of_place is not None
        return call_array(self.name, self.of_place, X.shape, X, float(time))

    def varied(self, form: Form, X: Array, rows: int) -> Form:
        """Return a form whose first `rows` parameters are the forces at places X at all times."""

        def cell(time: float) -> Array:
            forces = self.at(X, time).reshape(form.size, rows)
            return np.concatenate([forces, form.cell[:, rows:]], axis=1)

        return replace(form, cell_at=cell, functions=[PlaceFunction(self.name, self.at, X)])


class Force(Potential):
    """Dead forces at places of bodies: points, and those of edges; see `force` and `traction`."""

    def __init__(self, place: End, load: Load) -> None:
        self.load = load
        values = dict.fromkeys(FORCES, 0.0) | load.vector
        super().__init__(_force, place, name=load.name, share=1.0, **values)

    def _headline(self) -> str:
        """Return its name, which tells."""
        return self.name

    def bind(self, layout: Layout) -> ForceBinding:
        """Announce the places."""
        return ForceBinding(self, layout)


class ForceBinding(PlaceBinding):
    """Dead forces at places in one system."""

    term: Force

    def uniform_values(self, configuration: Configuration) -> dict[str, Scalar]:
        """Return the force, unless it depends on the place, and the share of each place."""
        load = self.term.load
        count = self.size(configuration) if load.distribute == "total" else 1
        return load.vector | {"share": 1.0 / count}

    def own_form(self, configuration: Configuration) -> Form:
        """Return the kernel and entities on this rank."""
        form, load = super().own_form(configuration), self.term.load
        return form if load.of_place is None else load.varied(form, _reference(self.cell), 3)

    def at_places(self, configuration: Configuration) -> At:
        """Return what the law depends on at this rank's places; see `PlaceBinding.at_places`."""
        values, load = super().at_places(configuration), self.term.load
        if load.of_place is not None:
            forces = load.at(_reference(values), configuration.time)
            values |= zip(FORCES, forces.T, strict=True)
        return values


class Spread(OneProcess, Displayable):
    """Dead forces on the cells of a body or the faces of a solid: a kernel on these."""

    def __init__(self, place: FacetPoints, load: Load) -> None:
        self.name, self.place, self.load = load.name, place, load
        self.parts = place.by_type

    def _headline(self) -> str:
        """Return its name, which tells."""
        return self.name

    def _names(self, within: Layout | Configuration) -> list[str]:
        """Return the names of the facets of each type."""
        name = within.name(self)
        return [name] if len(self.parts) == 1 else [f"{name} ({p.kind})" for p in self.parts]

    def bind(self, layout: Layout) -> Self:
        """Announce the facets before distribution."""
        place = self.place
        layout.require_member(place.body, str(place))
        place.region.require_on(place.body.region)
        for part, name in zip(self.parts, self._names(layout), strict=True):
            ids, vertices = part.region.slice(part.kind)
            if not layout.comm.allreduce(len(ids)):
                raise ConstraintError(
                    f"{self.name}: there is no place to act on in {place}",
                    asked="region",
                    given=str(place),
                )
            part.require_sides()
            vertices = vertices + layout.base(place.region.mesh)
            vertices = with_edges(layout, place.body, vertices)
            layout.announce(Family(name, ids, vertices, partitioned=False))
        return self

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernel on this rank's facets, of each type (collective)."""
        names = self._names(configuration)
        forms = [self._form(configuration, *of) for of in zip(self.parts, names, strict=True)]
        if self.load.distribute == "total":
            share = {"share": 1.0 / self._area(configuration, forms)}
            forms = [replace(form, uniform={**form.uniform, **share}) for form in forms]
        return forms

    def _form(self, configuration: Configuration, place: FacetPoints, name: str) -> Form:
        own = configuration.binding(cast("Body", place.body))
        family = configuration.topology.families[name]
        cells = family.vertices
        patch = own.interpolation.patch(place.element, cells, family.owned)
        laws = dead_load_laws(patch.element, of_place=self.load.of_place is not None)
        zero = dict.fromkeys(FORCES, np.zeros(len(cells)))
        uniform = {"share": 1.0, **self.load.vector}
        form = own.form(configuration, name, laws, "potential", uniform, patch, zero)
        if self.load.of_place is not None:
            points = form.kernel.points[::3]  # F1, F2, F3 of each point follow each other
            X = np.stack([place.at(configuration, point, cells) for point in points], axis=1)
            return self.load.varied(form, X.reshape(-1, 3), form.cell.shape[1])
        return form

    def _area(self, configuration: Configuration, forms: list[Form]) -> float:
        """Return the reference area or length: minus the energy of a unit force moved by 1."""
        assembler, moved = self._unit(configuration, forms)
        energies, _ = assembler.energies(moved)
        return -float(configuration.sum(np.array([energies.sum()]))[0])

    def share_by_reference(self, configuration: Configuration, forms: list[Form]) -> Array:
        """Return the derivative of the share 1/area by reference positions (collective).

        A local vector, complete at what this rank owns; `forms` are those of the load.
        """
        assembler, moved = self._unit(configuration, forms)
        by_area, _ = assembler.shape(0.0 * moved, moved, range(len(forms)))
        share = evaluate("share", forms[0].uniform["share"], configuration.time)
        return share**2 * by_area

    @staticmethod
    def _unit(configuration: Configuration, forms: list[Form]) -> tuple[Assembler, Array]:
        """Return the assembler of a unit force per area, and the state moved along it by 1."""
        force = {"F1": 1.0, "F2": 0.0, "F3": 0.0, "share": 1.0}
        unit = [replace(form, uniform={**form.uniform, **force}) for form in forms]
        assembler = Assembler(
            unit, configuration.numbering, configuration.reference, configuration.comm
        )
        assembler.update(configuration.time)
        moved = np.zeros_like(configuration.state)
        moved[configuration.numbering.those("position")] = 1.0
        return assembler, moved


def _reference(values: Mapping[str, Array | float]) -> Array:
    """Return the reference positions (n, 3) of the places of a force from its values there."""
    return np.stack([values[str(X)] for X in symbols_of((0, "value"), "reference")], axis=1)


def _force(u_a: V, *, F1: S, F2: S, F3: S, share: S) -> E:
    return -share * (F1 * u_a[0] + F2 * u_a[1] + F3 * u_a[2])


def _force_times(v_a: V, factor_b: S, *, F1: S, F2: S) -> list[tuple[E, E]]:
    return [(v_a[0], factor_b * F1), (v_a[1], factor_b * F2)]


def force(
    place: End | RigidBody | PlanarBody | PointMass,
    vector: Vector,
    distribute: Literal["total", "each"] = "total",
    name: str | None = None,
    factor: Factor | None = None,
) -> Force | Spread | VirtualWork:
    """Dead force on a point, or on a region.

    Parameters
    ----------
    place : ``body.at(X)`` or ``body["region"]``; or a rigid or planar body (the origin of its
        frame), a point of one, or a point mass. On a region of facets, edges or cells the total is
        spread evenly over its reference area, length or volume; on a region of points over its
        points.
    vector : three components [N] (two in the plane, on a planar body): numbers, `Parameter` or
        functions of time.
    distribute : ``"total"`` (default): the whole region carries `vector`; ``"each"``: every
        node of the region does.
    factor : unknown number that multiplies the load (planar bodies only); see
        `sa.displacement_control`.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> sa.force(block.at((1.0, 1.0, 1.0)), (0.0, 0.0, lambda t: -2.0 * t))
    force on (1, 1, 1) of 'body'
    """
    require_place("force", place, PlanarBody, RigidBody, PointMass)
    one_of("force(distribute=...)", distribute, ("total", "each"))
    if isinstance(place, PlanarBody):
        place = place.at((0.0, 0.0))
    elif isinstance(place, RigidBody):
        place = place.at((0.0, 0.0, 0.0))
    elif isinstance(place, PointMass):
        place = place.centre
    if isinstance(place, Ground):
        raise ParameterError(
            "a force on the ground moves nothing: give a place of a body",
            asked="place",
            given=str(place),
        )
    if factor is not None and not isinstance(place, PlanarPoint):
        raise ParameterError(
            f"force on {place}: factor= is for points of planar bodies",
            asked="factor",
            given=str(place),
        )
    name = name_or(name, f"force on {place}")
    if place.plane:
        F1, F2 = _two(name, vector)
        if factor is not None:
            return VirtualWork(_force_times, place, factor, name=name, F1=F1, F2=F2)
        return Force(place, Load(name, {"F1": F1, "F2": F2, "F3": 0.0}, "each"))
    load = _load(name, vector, distribute)
    if isinstance(place, Nodes) and distribute == "total" and place.region.dim > 0:
        inside = place.region.dim == 3
        return _spread(FacetPoints(place.body, place.region, inside=inside), load)
    return Force(place, load)


def traction(place: Nodes, vector: Vector, name: str | None = None) -> Force | Spread:
    """Dead force per reference area (facets, plates) or length (edges, cables) of a region.

    `vector`: three components [N/m^2 or N/m]: numbers, `Parameter` or functions of time; or a
    function (X (n, 3), time) or (X) -> (n, 3) of places on the reference.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> sa.traction(block["x1"], (0.1, 0.0, 0.0))
    traction on nodes of 'x1' of 'body'
    """
    require_region("traction", place)
    if place.region.dim == 0:
        raise ParameterError(
            f"traction on {place}: a region of points has no area; use force",
            asked="dimension",
            given=0,
            possible=(1, 2),
        )
    if place.region.dim == 3:
        raise ParameterError(
            f"traction on {place}: it acts on facets, edges, plates and cables; a force per volume "
            "of a solid is sa.body_force",
            asked="dimension",
            given=3,
            possible=(1, 2),
        )
    points = FacetPoints(place.body, place.region)
    return _spread(points, _density(name_or(name, f"traction on {place}"), vector))


def body_force(place: Nodes, vector: Vector, name: str | None = None) -> Force | Spread:
    r"""Dead force per reference volume of a solid, also one that depends on the place and time.

    .. math:: V = -\int b(X, t) \cdot u\, dV

    Parameters
    ----------
    place : ``body["region"]``, a region of its cells.
    vector : b, three components [N/m^3]: numbers, `Parameter` or functions of time; or a function
        (X (n, 3), time) or (X) -> (n, 3) of places on the reference, called once for all
        quadrature points. Of a field of acceleration a it is rho a; see also `gravity`.

    Examples
    --------
    What a spin of 30 rad/s about z pulls outwards, in the axes that turn:

    >>> import numpy as np
    >>> import symancf as sa
    >>> law, rho = sa.energies.saint_venant_kirchhoff(), 1100.0
    >>> mesh = sa.Mesh.box((0.2, 0.1, 0.1), (4, 2, 2))
    >>> arm = sa.Body(mesh["body"], sa.elements.hex8, law, E=1e6, nu=0.4)
    >>> outwards = np.diag([1.0, 1.0, 0.0])
    >>> load = sa.body_force(arm["body"], lambda X, t: rho * 30.0**2 * X @ outwards)

    Raises
    ------
    ParameterError : it is no region of a solid's cells.
    """
    require_region("body_force", place)
    if place.region.dim < 3:
        raise ParameterError(
            f"body_force on {place}: it acts on the cells of a solid; on facets, edges, plates and "
            "cables give a force per area or length, sa.traction",
            asked="dimension",
            given=place.region.dim,
            possible=(3,),
        )
    points = FacetPoints(place.body, place.region, inside=True)
    return _spread(points, _density(name_or(name, f"body force on {place}"), vector))


def _density(name: str, vector: Vector) -> Load:
    """Return a load per length, area or volume, of the place or not."""
    varied = of_place(vector)
    if varied is not None:
        return Load(name, {}, "each", varied)
    return _load(name, vector, "each")


def _spread(place: FacetPoints, load: Load) -> Force | Spread:
    """Return a force on cells and faces by a kernel on these, on edges point by point."""
    return Force(place, load) if place.element is None else Spread(place, load)


def _load(name: str, vector: Vector, distribute: Literal["total", "each"]) -> Load:
    """Return a load of three components, functions of time."""
    if of_place(vector) is not None:
        raise ParameterError(
            f"{name}: a force is a vector or a function of time; for one that depends on the "
            "place give its density, sa.traction(region, function of (X, time)) or, of a solid, "
            "sa.body_force",
            asked="vector",
            given=vector,
        )
    return Load(name, dict(zip(FORCES, components(name, vector), strict=True)), distribute)


def _two(name: str, vector: Any) -> list[Any]:
    """Return the two components of a force in the plane, numbers or functions of time."""
    if callable(vector):

        def component(t: float, a: int) -> Any:
            return _two(name, call(name, vector, t))[a]

        return [lambda t: component(t, 0), lambda t: component(t, 1)]
    try:
        parts = list(vector)
    except TypeError as error:
        raise ParameterError(
            f"{name} is {label(vector)}: give two components (Fx, Fy)", asked="vector", given=vector
        ) from error
    if len(parts) == 3 and np.isscalar(parts[2]) and not parts[2]:
        parts = parts[:2]
    if len(parts) != 2:
        raise ParameterError(
            f"{name} has {len(parts)} components: give two, (Fx, Fy)", asked="vector", given=parts
        )
    return parts
