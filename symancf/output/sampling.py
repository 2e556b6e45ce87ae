# SPDX-License-Identifier: BSD-3-Clause
"""Fields of a deformed body at points of its cells, for files, pictures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Data, Ints
from ..assembly.configuration import Discretised, discrete_system
from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..bodies.natural.shapes import sphere
from ..bodies.point import PointMass
from ..contact.contact import Contact
from ..contact.shapes import RigidShape
from ..errors import ParameterError, SymancfError
from ..laws.sampled import default_fields
from ..runtime.collective import together
from ..values.arguments import among, flag, integer, one_of
from ..values.parameter import label, reals
from ..values.spellings import present_value
from .fields import At, CellPoints, FieldKernels, heights, memory_rule, weights
from .samples import Samples, vertices
from .shapes import shape_now
from .terms import of_term
from .touching import touching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from ..assembly.discrete import DiscreteSystem
    from ..assembly.protocol import Term
    from ..elements import Element
    from ..laws import Sampled

Place = Literal["lattice", "cell", "gauss"]


#: Radius of the ball that shows a point mass, of the size of what is tied to it.
POINT_SIZE = 0.02

CHUNK = 1 << 13  # cells whose fields are computed at a time


def _rigid(system: DiscreteSystem, body: RigidBody, state: Array, reference: bool) -> Samples:
    """Return the shape of a rigid body on the rank that owns it."""
    local = system.binding(body).local_vertices(system)
    name = "u" if reference else "displacement"
    if not (len(local) and local[0] < system.numbering.owned_vertices):
        none: Array = np.zeros((0, 3))
        return Samples(none, {"hexahedron": np.zeros((0, 8), dtype=int)}, {name: none})
    u = state[body._offsets(system, local)[0][:, None] + np.arange(3)]
    x = body._shape.points
    moved = u[0] + x @ np.stack([(u[1] - u[0]) / body.length, u[2], u[3]])
    points = body.origin + x @ body.frame.T + (0.0 if reference else moved)
    return Samples(points, {"hexahedron": body._shape.cells}, {name: moved})


def _point(system: DiscreteSystem, body: PointMass, state: Array, reference: bool) -> Samples:
    """Return a ball that is small beside what a point mass is tied to, on the rank that owns it."""
    own, name = system.binding(body), "u" if reference else "displacement"
    local, ball = own.local_vertices(system), sphere(POINT_SIZE * system.extent_of(body))
    if not (len(local) and local[0] < system.numbering.owned_vertices):
        none: Array = np.zeros((0, 3))
        return Samples(none, {"hexahedron": np.zeros((0, 8), dtype=int)}, {name: none})
    u = np.zeros_like(ball.points)
    u[:, : body._size] = state[own.here(system)]
    points = body.centre.X + ball.points + (0.0 if reference else u)
    return Samples(points, {"hexahedron": ball.cells}, {name: u})


def _shape(
    system: DiscreteSystem,
    body: RigidBody | PointMass | RigidShape,
    fields: Mapping[str, Sampled] | None,
    state: Array,
    reference: bool,
) -> Samples:
    """Return the shape of a body without cells, or of a rigid obstacle of contacts (collective)."""
    if fields:
        what, only = "rigid shape", ""
        if not isinstance(body, RigidShape):
            rigid = isinstance(body, RigidBody)
            what, only = ("rigid body", ", only a shape") if rigid else ("point mass", "")
        raise SymancfError(
            f"a {what} has no field {next(iter(fields))!r}{only}", asked=next(iter(fields))
        )
    if isinstance(body, PointMass):
        return _point(system, body, state, reference)
    if isinstance(body, RigidBody):
        return _rigid(system, body, state, reference)
    return shape_now(system, body, state)


def sample(
    system: Discretised[DiscreteSystem],
    body: Body | RigidBody | PointMass | Contact | RigidShape | Term,
    *,
    fields: Mapping[str, Sampled] | Sequence[str] | None = None,
    at: Place | npt.ArrayLike = "lattice",
    divisions: int = 4,
    solid: bool = False,
    reference: bool = False,
    units: Mapping[str, str] | None = None,
    state: Array | None = None,
    on: Body | RigidBody | None = None,
    layer: int | tuple[int, str | float] | None = None,
) -> Samples:
    r"""Return fields of a body on this rank's cells, in the deformed position (collective).

    Of a contact on its share of the facets of deformable sides, at the present state. Of a rigid
    shape (`sa.Plane`, `sa.Sphere`, ...) its surface, at the present time or on its body: pictures
    show it grey. Planes, and cylinders without ends, reach a little beyond the bodies.
    Of a support, constraint or load its nodes or places with ``reaction`` or ``force`` [N]:
    pictures show points with arrows. Of a thread lines with ``tension`` [N] and ``strain``. Of a
    tendon its places with ``force`` on what they are on [N], ``slip`` [m] and ``angle`` [rad], and
    lines with ``tension`` [N] and ``length`` [m], that without tension, as cell data.

    Parameters
    ----------
    fields : names, ``["von_mises", "J"]``, or name -> what it is: the name of a quantity, or a
        function whose positional arguments name quantities and whose keyword-only arguments name
        parameters of the body; it returns a scalar, a vector or a matrix. Quantities are those
        of the element's kinematics (`Element.quantities`: ``F``, ``J``, ``I1``, ``E_gl``,
        ``kappa``, ``r``, ``t``, ...) and

        ``W``: the energy density :math:`W`; of solids and full-gradient plates the stresses
        ``P`` = dW/dF, ``S`` = F^-1 P, ``cauchy`` or ``sigma`` = P F^T/J and its ``von_mises``
        [Pa]; of plates ``membrane_force`` [N/m] and ``bending_moment`` [N], 3x3 in global axes,
        by the areas and directions of the reference: of thin ones dW/dE_gl and dW/dkappa with
        ``von_mises_top`` and ``von_mises_bottom``; of full-gradient ones integrals of S and -z S
        through the thickness (by their names only), and ``thickness``, the distance of the faces;
        of cables ``axial_force`` [N] and ``bending_moment`` [N m]; of rods these, ``shear_force``
        and ``torque``, on the line through their values at two points of each cell.

        Of laws with memory these are the stresses with which the step was solved, ``W`` is what is
        stored, and what is remembered at the end of the step has the names of the law;
        ``dissipated`` is an energy density as W. All this is known at quadrature points alone:
        ``at="gauss"`` or ``"cell"``. Unknowns of points and cells have their names, too, anywhere.

        Default: the von Mises stresses or section forces of the element, if the energy measures
        strain, and ``thickness``; on a lattice the means of cells, if the law has memory. Where a
        volumetric part is integrated at fewer points, its pressure is meaningful at those only;
        the von Mises stress does not depend on it.
        Of a contact ``pressure`` [Pa], of cables [N/m], of rigid bodies [N]; ``gap`` [m], NaN where
        nothing is opposite; with friction ``slip``, the path that was slid since a point last
        began to touch [m]; ``status``, 0 open, 1 stick (without friction: closed), 2 slip. On the
        nodes of facets, ``at="lattice"``, means of points (see `symancf.contact.nodal`); the points
        themselves with ``at="gauss"``. Of rigid bodies the points.
    at : ``"lattice"``: points of a lattice in each cell; ``"cell"``: one value per cell, the mean
        over its volume (area, length), as cell data; ``"gauss"``: the points of the energy's rule;
        or points (k, 3) of the material, which the rank has that owns their cell, with the point
        data ``number``.
    divisions : parts per direction of a cell of the lattice.
    solid : plates only: both faces z = -h/2 and h/2 as hexahedra instead of the mid-surface.
    reference : give `Samples.points` in the reference instead of the present configuration; the
        displacement is then called ``u``.
    units : labels of fields for ParaView, such as ``{"sigma": "MPa"}``; nothing is converted.
    state : local vector; default the present one.
    on : of a contact of two sides: the body whose side is shown; default both.
    layer : of a body of `Layers`: the number of one, from 1 below, whose fields are taken at its
        middle, or with ``"bottom"``, ``"top"`` or a number between -1 and 1, (2, "top"). Stresses
        are those of a layer; with laws that have axes there are ``E_layer`` and ``S_layer``, 3x3 in
        the axes of the layer. Without it resultants and what has no stress.

    Returns
    -------
    Samples : points, point data ``displacement`` (., 3), and the fields: (n,), (n, 3) or (n, i, j).
        Neighbouring cells do not share points. Of a rigid body its shape, on the rank that owns it.

    Raises
    ------
    KinematicsError : a quantity that is not offered, there or anywhere; the message says what is.
    SymancfError : a place or a field that this body cannot have; unknowns of the law without a
        solution in this state.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> cube = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    >>> pull = sa.fix(cube["x1"], displacement=(0.2, 0.0, 0.0))
    >>> system = sa.System(cube, terms=[sa.fix(cube["x0"]), pull])
    >>> _ = sa.StaticProblem(system).solve()
    >>> fields = {"J": lambda J: J, "sigma": "cauchy", "E": lambda E_gl: E_gl}
    >>> samples = sa.sample(system, cube, fields=fields, at="cell")
    >>> samples.cell_data["sigma"].shape, round(float(samples.cell_data["J"][0]), 6)
    ((1, 3, 3), 1.2)
    """
    system = discrete_system("sample", system)
    at = present_value("sample", "at", at)
    with together(system.comm):
        state = _local_vector(system, system.state if state is None else state)
        divisions = integer("sample", "divisions", divisions)
        solid, reference = flag("sample", "solid", solid), flag("sample", "reference", reference)
        labels = units_of("sample", units)
    fields = None if fields is None else cast("Mapping[str, Sampled]", _by_name(fields))
    if isinstance(body, Contact):
        return _with_units(touching(system, body, fields, at, on, divisions, reference), labels)
    _require_no_side(body, on)
    if isinstance(body, RigidBody | PointMass | RigidShape):
        return _with_units(_shape(system, body, fields, state, reference), labels)
    if any(body is term for term in system.terms):
        return _with_units(of_term(system, body), labels)
    if not isinstance(body, Body):
        raise SymancfError(
            "sample() takes a body of cells, a rigid body, a point mass, a contact, a rigid shape "
            f"or a term of the system, not {label(body)}",
            asked="body",
            given=body,
        )
    options = _Sampling(at, divisions, solid, reference, layer, system.time)
    (samples,) = _of_cells(system, body, fields, state, options, labels)
    return samples


def slabs(
    system: Discretised[DiscreteSystem],
    body: Body,
    *,
    fields: Mapping[str, Sampled] | Sequence[str] | None = None,
    at: Literal["lattice", "cell"] = "lattice",
    divisions: int = 4,
    solid: bool = False,
    reference: bool = False,
    units: Mapping[str, str] | None = None,
    layer: int | tuple[int, str | float] | None = None,
) -> Iterator[Samples]:
    """Yield the samples of a body slab by slab, of 8,192 of this rank's cells each (collective).

    For files of large bodies: `output.write` writes each before it asks for the next, so that
    memory for one of them is enough. All ranks get as many, the last ones perhaps without cells.

    Parameters
    ----------
    fields, at, divisions, solid, reference, units, layer : see `sample`.

    Raises
    ------
    KinematicsError, SymancfError : see `sample`.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    >>> cube = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    >>> system = sa.System(cube, terms=[sa.fix(cube["x0"])])
    >>> every = sa.output.slabs(system, cube, fields=["J"])
    >>> sa.output.write("results/cube.vtu", every).name
    'cube.vtu'
    """
    system = discrete_system("slabs", system)
    if not isinstance(body, Body):
        raise SymancfError(
            f"slabs() takes a body of cells, not {label(body)}", asked="body", given=body
        )
    with together(system.comm):
        one_of("slabs: at", at, ("lattice", "cell"))
        divisions = integer("slabs", "divisions", divisions)
        solid, reference = flag("slabs", "solid", solid), flag("slabs", "reference", reference)
        labels = units_of("slabs", units)
    names = None if fields is None else cast("Mapping[str, Sampled]", _by_name(fields))
    options = _Sampling(at, divisions, solid, reference, layer, system.time)
    return _of_cells(system, body, names, system.state.copy(), options, labels, CHUNK)


class _Sampling(NamedTuple):
    """How a body of cells is sampled, see `sample`."""

    at: Place | npt.ArrayLike
    divisions: int
    solid: bool
    reference: bool
    layer: int | tuple[int, str | float] | None
    time: float


def _of_cells(
    system: DiscreteSystem,
    body: Body,
    fields: Mapping[str, Sampled] | None,
    state: Array,
    options: _Sampling,
    labels: dict[str, str],
    size: int | None = None,
) -> Iterator[Samples]:
    """Yield samples of a body of cells, of a lattice those of `size` cells each (collective)."""
    at, divisions, solid, reference, layer, time = options
    element = body.element
    _require_thickness(element, solid)
    at = _place(at, fields is None and body._remembers)
    inside = among(at, ("cell", "gauss"))
    if fields is None:
        chosen = default_fields(element, body._energy_function, remembered=inside, layer=layer)
        fields = dict(zip(chosen, chosen, strict=True))
    _require_names(fields, "u" if reference else "displacement")
    number_of, zeta = _height(body, layer, solid)
    inside = inside and _remembered_at(body, number_of, zeta)
    kernels = FieldKernels(system, body, fields, state, remembered=inside, layer=number_of)
    sampler = _BodySampler(system, body, kernels, state, reference, number_of, zeta)
    if not isinstance(at, str):
        yield _with_units(sampler.material(at), labels)
        return
    if at == "gauss":
        yield _with_units(sampler.gauss(), labels)
        return
    divisions = divisions if element.dimension < 3 else 1
    every, most = sampler.cells, system.comm.allreduce(len(sampler.cells), MPI.MAX)
    step = size or max(1, most)
    for first in range(0, max(1, most), step):
        if system.time != time:
            raise SymancfError(
                f"slabs() are those of time {time:g}; the system is at {system.time:g} now",
                asked="time",
                given=system.time,
                possible=(time,),
            )
        sampler.cells = every[first : first + step]
        yield _with_units(sampler.lattice(divisions, solid, at), labels)


def _require_no_side(body: object, on: object) -> None:
    if on is not None:
        raise ParameterError(
            f"sample(on={label(on)}): it is a side of a contact, and {label(body)} is none",
            asked="on",
            given=on,
        )


def _place(at: Place | npt.ArrayLike, remembered: bool) -> Place | npt.ArrayLike:
    """Return where fields are given, by default those `remembered` at the points where they are."""
    if isinstance(at, str) and at not in get_args(Place):
        raise SymancfError(
            f"sample(at={at!r}): choose 'lattice', 'cell' or 'gauss', or give points (k, 3)",
            asked="at",
            given=at,
            possible=get_args(Place),
        )
    return "cell" if remembered and among(at, ("lattice",)) else at


def _remembered_at(body: Body, layer: int | None, zeta: float) -> bool:
    """Whether it is known at a height of a layer what its law remembers, if it does."""
    rule = None if layer is None else memory_rule(body, layer)
    return rule is None or bool(np.abs(heights(rule) - zeta).min() < 1e-6)


def _require_thickness(element: Element, solid: bool) -> None:
    if solid and not element.has_thickness:
        raise SymancfError(
            f"{element.name} has no faces: solid=True is for plates",
            asked="solid",
            given=True,
            possible=(False,),
        )


def _by_name(fields: object) -> object:
    """Return a list of names as fields that are called so."""
    listed = [fields] if isinstance(fields, str) else fields
    if isinstance(listed, list | tuple) and all(isinstance(name, str) for name in listed):
        return {name: name for name in listed}
    return fields


def _height(
    body: Body, layer: int | tuple[int, str | float] | None, solid: bool
) -> tuple[int | None, float]:
    """Return the number of a layer, from 0, and the height zeta of a place in it.

    Raises
    ------
    SymancfError : the body has no layers, or not this one.
    """
    if layer is None:
        return None, 0.0
    if body.layers is None or solid:
        why = "solid=True shows both faces" if solid else f"body {body.name!r} has no layers"
        raise SymancfError(
            f"sample(layer={label(layer)}): {why}", asked="layer", given=layer, possible=(None,)
        )
    which, at = layer if isinstance(layer, tuple) and len(layer) == 2 else (layer, "middle")
    places: Mapping[object, float] = {"bottom": -1.0, "middle": 0.0, "top": 1.0}
    place = places.get(at, at) if isinstance(at, str) else at
    if not isinstance(place, int | float) or not -1.0 <= place <= 1.0:
        raise SymancfError(
            f"sample(layer={label(layer)}): a place in a layer is 'bottom', 'middle', 'top' or a "
            "number between -1 and 1",
            asked="layer",
            given=layer,
            possible=tuple(places),
        )
    k = body.layers.number(which)
    return k, body.layers.height(k, float(place))


def _require_names(fields: object, displacement: str) -> None:
    if not isinstance(fields, Mapping) or not all(isinstance(n, str) and n for n in fields):
        raise SymancfError(
            f"sample(fields={label(fields)}): give names with what they are, such as "
            '{"J": lambda J: J, "sigma": "cauchy"}',
            asked="fields",
            given=fields,
        )
    for name in (displacement, "number"):
        if name in fields:
            raise SymancfError(
                f"sample(fields=...): the name {name!r} is taken, choose another",
                asked="fields",
                given=name,
            )


def _local_vector(system: DiscreteSystem, vector: npt.ArrayLike) -> Array:
    """Return a state that a call was given as a local vector of the system."""
    state = reals(vector, finite=False)
    if state.shape != system.state.shape:
        raise SymancfError(
            f"sample(state=...) takes numbers like system.state, of the shape "
            f"{system.state.shape}; given {label(vector)}",
            asked="state",
            given=state.shape,
            possible=(system.state.shape,),
        )
    return state


def units_of(call: str, given: Any) -> dict[str, str]:
    """Return units by the names of fields.

    Raises
    ------
    ParameterError
    """
    if given is None:
        return {}
    texts = isinstance(given, Mapping) and all(
        isinstance(x, str) for pair in given.items() for x in pair
    )
    if not texts:
        raise ParameterError(
            f'{call}(units={label(given)}): give names with texts, {{"cauchy": "Pa"}}',
            asked="units",
            given=given,
        )
    return dict(given)


def _with_units(samples: Samples, units: dict[str, str]) -> Samples:
    """Give samples the units of their fields."""
    possible = [*samples.point_data, *samples.cell_data]
    for name in units:
        if name not in possible:
            raise SymancfError(
                f"units name the field {name!r}; the fields are {', '.join(possible)}",
                asked=name,
                possible=possible,
            )
    samples.units.update(units)
    return samples


class _BodySampler:
    """Makes samples of a body at points."""

    def __init__(
        self,
        system: DiscreteSystem,
        body: Body,
        kernels: FieldKernels,
        state: Array,
        reference: bool,
        layer: int | None,
        zeta: float,
    ) -> None:
        self.system, self.body, self.kernels = system, body, kernels
        self.state, self.reference = state, reference
        self.zeta = zeta
        self.section: Mapping[str, float] = {}
        if body.layers is not None:
            self.section = body.layers.angle_values(layer or 0)
        self.cells = np.arange(int(system.binding(body).interpolation.owned.sum()))

    def _at(self, points: CellPoints, fields: bool = True) -> tuple[Array, dict[str, Data]]:
        """Return positions (n, 3) and point data of points, cell by cell (collective)."""

        def part(points: CellPoints) -> dict[str, Data]:
            X, data = self._at_once(points, fields)
            return {"": X, **data}  # no field has this name

        every = self._in_slabs(points, points.xi.shape[-2], part)
        return cast("Array", every.pop("")), every

    def _in_slabs(
        self, points: CellPoints, rows: int, part: Callable[[CellPoints], Mapping[str, Data]]
    ) -> dict[str, Data]:
        """Return arrays with `rows` for each cell, made for `CHUNK` cells at a time (collective).

        No more memory passes by than what these need.
        """
        n = len(points.cells)
        rounds = max(1, self.system.comm.allreduce(-(-n // CHUNK), MPI.MAX))
        if rounds == 1:
            return dict(part(points))
        every: dict[str, Data] = {}
        for first in range(0, rounds * CHUNK, CHUNK):
            for name, values in part(points.of(slice(first, first + CHUNK))).items():
                if not first:
                    every[name] = np.empty((n * rows, *values.shape[1:]), values.dtype)
                every[name][first * rows : first * rows + len(values)] = values
        return every

    def _at_once(self, points: CellPoints, fields: bool) -> tuple[Array, dict[str, Data]]:
        """Return `_at` of a few cells."""
        place = At(self.system, self.body, points, self.state)
        u, X = place.u().reshape(-1, 3), place.X().reshape(-1, 3)
        data: dict[str, Data] = {"u" if self.reference else "displacement": u}
        if fields:
            fields_there = self._fields(points)
            data |= {name: _rows(values) for name, values in fields_there.items()}
        return X if self.reference else X + u, data

    def _fields(self, points: CellPoints) -> Mapping[str, Array]:
        """Return the fields at points; of rods those of the rule's points, on lines through them.

        Elsewhere shears of rods are what interpolation makes of them.
        """
        if not self.body.element.axes:
            return self.kernels.at(points)[0]
        rule = self.body.element.rule("full")
        rule_points = CellPoints(points.cells, np.asarray(rule.points), np.zeros(2), np.arange(2))
        a, b = rule.points[:, 0]
        part = (points.xi[..., 0] - a) / (b - a)
        shares = np.broadcast_to(
            np.stack([1.0 - part, part], axis=-1), (len(points.cells), *np.shape(part)[-1:], 2)
        )
        values, _ = self.kernels.at(rule_points)
        return {name: np.einsum("nmg,ng...->nm...", shares, v) for name, v in values.items()}

    def lattice(self, divisions: int, solid: bool, at: str) -> Samples:
        """Return points of lattices, with the fields there or with means of cells."""
        element, n = self.body.element, len(self.cells)
        xi, parts = element.sample(divisions)
        m = len(xi)
        laminate = self.body.layers
        faces = [-1.0, 1.0] if laminate is None else [float(z) for z in laminate.edges[[0, -1]]]
        layers = faces if solid else [self.zeta]
        layers_of_points = [
            self._at(self._points(xi, np.full(m, zeta)), at == "lattice") for zeta in layers
        ]
        first = n * np.arange(len(layers))[:, None] + np.arange(n)[:, None, None, None]
        cells = (m * first + parts[None, :, None]).reshape(-1, len(layers) * parts.shape[1])
        points, data = layers_of_points[0]
        for others, more in layers_of_points[1:]:
            points = np.concatenate([points, others])
            data = {name: np.concatenate([data[name], more[name]]) for name in data}
        samples = Samples(points, {"hexahedron" if solid else element.cell: cells}, data)
        if at == "cell":
            means = {name: np.repeat(v, len(parts), axis=0) for name, v in self._means().items()}
            samples.cell_data.update(means)
        return samples

    def _points(self, xi: Array, zeta: Array, cells: Ints | None = None) -> CellPoints:
        """Return points of cells, by default of all."""
        cells = self.cells if cells is None else cells
        return CellPoints(cells, xi, zeta, section=self.section)

    def _rule(self) -> tuple[CellPoints, Array]:
        """Return the points of the energy's rule with the most points, and their weights."""
        if self.body.layers is not None:  # each kind of layers has a rule of its own
            rule = self.body.element.rule("full")
            count = len(rule.points)
            flat = self._points(np.asarray(rule.points), np.full(count, self.zeta))
            return replace(flat, numbers=np.arange(count)), rule.weights
        rules = [rule for _, rule in self.body._laws]
        rule = max(rules, key=lambda r: r.size)
        if self.body.element.axes:  # others are those of the section, at the nodes
            rule = self.body.element.rule("full")
        count = len(rule.points)
        flat = CellPoints(self.cells, np.asarray(rule.points), np.zeros(count), np.arange(count))
        return flat.through(heights(rule)), weights(rule)

    def _means(self) -> dict[str, Data]:
        points, share = self._rule()
        return self._in_slabs(points, 1, lambda part: self._means_of(part, share))

    def _means_of(self, points: CellPoints, share: Array) -> dict[str, Array]:
        """Return the means of a few cells, of values at points of these weights."""
        values, measure = self.kernels.at(points)
        if not values:
            return {}
        share = measure * share
        share = share / share.sum(axis=1, keepdims=True)
        return {name: np.einsum("nm,nm...->n...", share, v) for name, v in values.items()}

    def gauss(self) -> Samples:
        """Return the points of the rule, vertices of their own."""
        points, data = self._at(self._rule()[0])
        return Samples(points, vertices(len(points)), data)

    def material(self, place_given: npt.ArrayLike) -> Samples:
        """Return given points on the rank that owns their cell."""
        place = self.body.at(place_given)
        resolved = place.resolve(self.system.layout)
        on = self.system.binding(self.body).interpolation
        own = self.system.topology.vertex_ids[on.cells[on.owned]]
        rows = {tuple(cell): k for k, cell in enumerate(own.tolist())}
        cells = np.array(
            [rows.get(tuple(cell), -1) for cell in resolved.vertices.tolist()], dtype=int
        )
        here = np.flatnonzero(cells >= 0)
        xi = self.body.element.topology.to_domain(resolved.within[here])[:, None, :]
        points, data = self._at(self._points(xi, np.full(1, self.zeta), cells[here]))
        data["number"] = here
        return Samples(points, vertices(len(points)), data)


def _rows(values: Array) -> Array:
    """Return (cells, points, ...) as one row per point."""
    return values.reshape(values.shape[0] * values.shape[1], *values.shape[2:])
