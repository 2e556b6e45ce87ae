# SPDX-License-Identifier: BSD-3-Clause
"""Contact as users ask for it: a side of a body, what it must not enter, and laws."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Data, Ints, Ints32, Mask
from ..assembly.configuration import Binds, Configuration, Layout, in_system
from ..assembly.protocol import Switch
from ..assembly.revisions import Verdict
from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..errors import ConstraintError, ParameterError
from ..places.on_body import Nodes
from ..runtime.collective import reduced, together
from ..runtime.copies import OneProcess
from ..runtime.display import Displayable
from ..values import arguments
from ..values.parameter import label, vector3
from ..values.reader import require_parameters
from ..values.spellings import former_arguments
from .active import Active
from .facets import FacetPass, FacetPassBinding
from .laws import Coulomb, Normal, penalty
from .nodal import Nodal, SideFields, ratio
from .overlap import FREE_OVERLAP
from .rigid import ContactorPoints, RigidPass, RigidPassBinding
from .shapes import Plane, RigidShape, shape_of
from .steps import ContactNumbers
from .surface import Place, Side, is_place, require_apart
from .touch import Part, Touch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..assembly.form import Form, Listed
    from ..assembly.revisions import Change, Standing
    from ..assembly.state import ActiveSet, StateVariable
    from ..values.parameter import Scalar
    from .laws import Coefficient, NormalLaw
    from .look import Look

FEW_POINTS = 4  # points that touch, and in how many times more, beside which pressures mean nothing
OVERLAP_PARTS = 8  # in which an initial overlap is let out
STIFFEST, STIFFEST_IN_MOTION = 1000.0, 30.0  # c, up to which a stiffness grows
FAR_GAP = 0.1  # parts of l: gap from which the way to the touch may pass for one of sliding
DOUBTFUL_FRICTION = 0.05  # parts of all pressure: friction of points that came from there
Pass: TypeAlias = "RigidPass | FacetPass"
PassBinding: TypeAlias = "RigidPassBinding | FacetPassBinding"


class Counts(NamedTuple):
    """Numbers of points by what they do; without friction those that touch count as sticking."""

    open: int
    stick: int
    slip: int


@dataclass(frozen=True)
class Report:
    """What the points of a contact are at, see `Contact.report`.

    `counts` of points that are open, stick and slip; `deepest` penetration in parts of l, and its
    `mean` over the area that presses; `grown` the factor of the stiffness; `friction`, `surface` :
    whether there is friction, and whether the points are those of a surface; `contact` : its text.
    """

    counts: tuple[int, int, int]
    deepest: float
    mean: float
    grown: float
    friction: bool = False
    surface: bool = True
    contact: str = ""

    def __str__(self) -> str:
        _, stuck, slid = self.counts
        state = f"{stuck} stick, {slid} slip" if self.friction else f"{stuck} touch"
        text = f"{self.contact}; " if self.contact else ""
        text += f"of {sum(self.counts)} points of quadrature {state}"
        text += f"; deepest {self.deepest:.2g} l, in the mean {self.mean:.2g} l"
        if self.surface and 0 < stuck + slid < FEW_POINTS <= sum(self.counts) / FEW_POINTS:
            text += f"; {stuck + slid} of them carry all: the force is in balance, its pressure is "
            text += "not resolved (smaller cells there)"
        return text + (f"; stiffness grown {self.grown:g} times" if self.grown > 1 else "")


class Contact(OneProcess, Displayable):
    r"""Contact with friction: points of one side press against what they must not enter.

    At each point of quadrature the gap g gives a pressure p = -psi'(g) per area of the reference,
    and friction the force f with |f| <= m p, by anchors (see `symancf.contact.laws`).

    Parameters
    ----------
    side : facets of a solid, ``body["outside"]``; a face of full-gradient plates,
        ``plate["surface"].face(+1)``; cables, ``cord["body"]`` with `radius`; several of these as
        one surface, ``[wedges["top"], bricks["top"]]``; or a rigid ball or box.
    target : another side (its points press, too, each with half of the weight; none: the side
        itself); or a shape (`Plane`, `Sphere`, `Cylinder`, `Capsule`, `Box`, `Distance`) at rest,
        moved or on a rigid body, or a rigid body with a surface, ``RigidBody.sphere``. Of two
        rigid bodies one is a ball, or a box on a plane.
    mu : coefficient of friction; two, (static, sliding); or a function of the speed of slip,
        ``def mu(v, *, a)``. Default: none.
    law : energy of the gap per area, ``def law(g, *, k)``, with parameters of its own; default
        ``k/2 Max(-g, 0)**2``.
    radius : of cables [m].
    stiffness : k of the law [Pa/m], of cables [Pa], of rigid bodies [N/m]. That of a rigid body is
        force by overlap of the whole body, a ball or a box that lies on a face: each of the box's
        corners has a quarter of it (and of the energy `law`). Default for others:
        k = c E/l with the present modulus E and the size l of the cell behind each point, c = 10
        (solids), 1 (plates) or 0.01 (cables, k = c E per length: slender bodies bend long
        before). A stiffness that is given does not grow.
    penetration : part of l; where that of points in contact is more in the mean, k is
        doubled until it is not, to at most c = 1000 (in dynamics 30), with one warning. Single
        points at corners may be deeper: there no stiffness helps, a larger one draws more force to
        them.
    damping : theta, a part of the step by which the law looks ahead in dynamics; 0: none.
    initial : for surfaces that overlap in the reference: ``"press"`` applies the contact
        forces instantaneously (statics ramps them), ``"release"`` lets the overlap out in the first
        eight time steps. Default: that is an error.
    name : shown in messages.
    parameters : values of the parameters of `law` and `mu`.

    Raises
    ------
    ParameterError : no side, no shape, a wrong number or parameter; rigid against rigid without a
        stiffness.
    ConstraintError : both are the same rigid body; in a system: surfaces overlap.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    >>> svk = sa.energies.saint_venant_kirchhoff()
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, svk, E=1e6, nu=0.3, name="block")
    >>> floor = sa.Plane((0, 0, 0), normal=(0, 0, 1))
    >>> print(sa.Contact(block["z0"], floor, mu=(0.4, 0.3), name="stand"))
    contact 'stand': region 'z0' of 'block' on plane, mu = 0.4, sliding 0.3
    """

    _passes: list[Pass]
    _sides: list[tuple[Side, Sequence[Pass]]]
    _bodies: tuple[Sequence[Body | RigidBody], Sequence[Body | RigidBody | RigidShape]]

    @former_arguments("Contact")
    def __init__(
        self,
        side: Place | RigidBody,
        target: RigidShape | RigidBody | Place | None = None,
        *,
        mu: Coefficient = 0.0,
        law: NormalLaw = penalty,
        radius: float | None = None,
        stiffness: float | None = None,
        penetration: float = 0.05,
        damping: float = 0.5,
        initial: Literal["press", "release"] | None = None,
        name: str | None = None,
        **parameters: Scalar,
    ) -> None:
        self.name = arguments.name_or(name, "contact")
        who = self.what = f"contact {self.name!r}"
        positive = arguments.positive
        self._stiffness = None if stiffness is None else positive(who, "stiffness", stiffness)
        self._penetration = arguments.positive(who, "penetration", penetration)
        between = "lie between 0 and 1"
        self._damping = arguments.number(who, "damping", damping, between, lambda x: 0 <= x <= 1)
        if initial is not None:
            arguments.one_of(f"{who}: initial", initial, ("press", "release"))
        self._initial = initial
        self._law = Normal(who, law, parameters)
        self._c = 10.0
        self._mu, self._coulomb = mu, None if _is_zero(mu) else Coulomb(who, mu, parameters)
        values = {
            **self._law.parameters,
            **({} if self._coulomb is None else self._coulomb.parameters),
        }
        names = (*self._law.names, *([] if self._coulomb is None else self._coulomb.names))
        require_parameters(who, (), parameters, optional=names, exact=True)
        radius = None if radius is None else arguments.length(f"{who}: radius", radius)
        side, target = _ordered(side, target)
        self._dampers: list[RigidPass] = []
        self._passes = self._passes_of(side, target, radius, values)

    # ---- what touches ---------------------------------------------------------------------------
    def _passes_of(
        self,
        side: Place | RigidBody,
        target: RigidShape | RigidBody | Place | None,
        radius: float | None,
        values: dict[str, Scalar],
    ) -> list[Pass]:
        """Return the contactors, each against its target."""
        if not isinstance(target, RigidShape | RigidBody) and (target is None or is_place(target)):
            return self._facing(side, target, radius)
        return self._against(
            side, shape_of(self.what, cast("RigidShape | RigidBody", target)), radius, values
        )

    def _against(
        self,
        side: Place | RigidBody,
        shape: RigidShape,
        radius: float | None,
        values: dict[str, Scalar],
    ) -> list[Pass]:
        """Return the passes of a contactor against a rigid shape, one for each facet set."""
        if shape.body is not None and side is shape.body:
            raise ConstraintError(
                f"{self.what}: {side.name!r} and {shape.name!r} are the same rigid body",
                asked="target",
                given=side.name,
            )
        follows = self._stiffness is None
        own = None
        if not isinstance(side, RigidBody):
            own = Side(self.what, side, radius, follows=follows)
        every = self._points(own or cast("RigidBody", side), shape, radius)
        points = every[0]
        self._between = (
            str(own or points.end),
            f"{shape.kind} {shape.name!r}".removesuffix(f" {shape.kind!r}"),
        )
        self._bodies = (own.bodies if own else [cast("RigidBody", side)]), [shape.body or shape]
        names = [self.name]
        if len(every) > 1:
            names = [f"{self.name}:{k}" for k in range(1, len(every) + 1)]
        by_name = list(zip(names, every, strict=True))
        law = self._law.shared(points.shared)
        if self._damping:
            touch = Touch("damper", shape, law)
            self._dampers = [RigidPass.of(f"{n}:damper", touch, p, values) for n, p in by_name]
        part: Part = "energy" if self._coulomb is None else "friction"
        touch = Touch(part, shape, law, self._coulomb, points.rolls, points.shared > 1)
        passes: list[Pass] = [RigidPass.of(name, touch, points, values) for name, points in by_name]
        self._sides = [(own, passes)] if own else []
        return passes

    def _facing(
        self, side: Place | RigidBody, target: Place | None, radius: float | None
    ) -> list[Pass]:
        """Return the passes of deformable sides: each has points on the other, or on itself."""
        if isinstance(side, RigidBody):
            raise ParameterError(
                f"{self.what}: {side.name!r} is rigid: give what it touches as target=",
                asked="side",
                given=side.name,
            )
        lines = [_has_lines(place) for place in (side, target)]
        radii = [radius if line else None for line in lines] if any(lines) else [radius, None]
        kinds = True, self._stiffness is None  # facing; whether it follows the material
        one = Side(self.what, side, radii[0], *kinds)
        two = one if target is None else Side(self.what, target, radii[1], *kinds)
        if one.cable or two.cable:
            raise ParameterError(
                f"{self.what}: {one if one.cable else two} is a cable; cables touch rigid shapes, "
                "not yet each other or deformable bodies",
                asked="cable",
                given=str(one if one.cable else two),
            )
        self._between = str(one), "itself" if one is two else str(two)
        self._bodies = one.bodies, two.bodies
        pairs = [(one, two)] if one is two else [(one, two), (two, one)]
        passes: list[Pass] = [
            FacetPass(
                *(f"{self.name}:{k}", *pair, self._law, self._coulomb),
                stiffness=self._stiffness,
                initial=self._initial,
            )
            for k, pair in enumerate(pairs, 1)
        ]
        self._sides = [(one, [each]) for (one, _), each in zip(pairs, passes, strict=True)]
        return passes

    def _points(
        self, side: Side | RigidBody, shape: RigidShape, radius: float | None
    ) -> list[ContactorPoints]:
        """Return the points of the contactor against a shape, of each of its facet sets."""
        k, initial = self._stiffness, self._initial
        if isinstance(side, Side):
            self._c = max(facet_set.parts for facet_set in side.facet_sets)
            return [
                ContactorPoints(self.what, own, own.rho, k, initial=initial)
                for own in side.facet_sets
            ]
        if radius is not None:
            raise ParameterError(
                f"{self.what}: radius= is for cables; {side.name!r} is rigid",
                asked="radius",
                given=radius,
            )
        form, sizes = side._shape.form, side._shape.sizes
        if form == "sphere":
            self._require_stiffness(side, shape, sizes[0])
            return [
                ContactorPoints(self.what, side.at((0, 0, 0)), sizes[0], k, sizes[0], True, initial)
            ]
        if form == "box" and isinstance(shape, Plane):
            self._require_stiffness(side, shape, min(sizes))
            signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3, indexing="ij")).reshape(3, 8).T
            corners = side.at(signs * np.array(sizes))
            length, face = 2.0 * min(sizes), 4  # corners that carry it where it lies
            return [
                ContactorPoints(self.what, corners, 0.0, k, length, initial=initial, shared=face)
            ]
        raise ParameterError(
            f"{self.what}: of two rigid bodies one has to be a ball, RigidBody.sphere, or a box on "
            f"a plane, RigidBody.box; {side.name!r} is {f'a {form}' if form else 'of no shape'} "
            f"and its target a {shape.kind}",
            asked="side",
            given=(form, shape.kind),
            possible=("sphere", "box"),
        )

    def _require_stiffness(self, side: RigidBody, shape: RigidShape, length: float) -> None:
        """Raise where rigid bodies, which have no material, are given no stiffness."""
        if self._stiffness is None:
            value = f"{side.mass * 9.81 / (1e-4 * length):.3g} in SI units"
            proposed = f", for example m g/(1e-4 R) = {value}" if side.mass else ""
            raise ParameterError(
                f"{self.what}: {side.name!r} and {shape.name!r} are rigid and have no modulus from "
                f"which a stiffness would follow: give stiffness= [force per length]{proposed}",
                asked="stiffness",
            )

    # ---- as a term ------------------------------------------------------------------------------
    def bind(self, layout: Layout) -> ContactBinding:
        """Announce the points (collective)."""
        return ContactBinding(self, layout)

    # ---- results, all collective ----------------------------------------------------------------
    @in_system
    def force(self, system: Configuration, on: object = None, *, damper: bool = True) -> Array:
        """Return the resultant (3,) of the contact [N].

        `on` : the body or the shape on which it acts, one of those of the contact; default: those
        of the first side. What acts on nodes that bodies share counts for each of them.
        `damper` : of rigid shapes: whether with the part of the damper of dynamics. Friction knows
        the pressure without it, so that without it |F_t| <= mu F_n on a plane; with it less presses
        while bodies part, and more while they meet. Between facets it is in the pressure.
        """
        return self._wrench(system, on, np.zeros(3), damper)[:3]

    @in_system
    def moment(
        self, system: Configuration, on: object = None, about: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> Array:
        """Return the moment (3,) about a point of space [N m]; see `force`."""
        point = vector3(f"{self.what}: moment(about=)", about)
        return self._wrench(system, on, point, True)[3:]

    def _wrench(
        self,
        system: Configuration,
        on: object,
        about: Array,
        damper: bool,
    ) -> Array:
        """Return force and moment about a point (6,), without dampers or with them (collective)."""
        first, second = self._bodies
        every = list(dict.fromkeys([*first, *second]))
        chosen = [body for body in every if body is on]
        if on is not None and not chosen:
            names = " and ".join(repr(body.name) for body in every)
            text = repr(on.name) if isinstance(on, Body | RigidBody) else label(on)
            raise ParameterError(
                f"{self.what} is between {names}; on={text} is none of them",
                asked="on",
                given=on,
                possible=[body.name for body in every],
            )
        bodies = [body for body in chosen or first if isinstance(body, Body | RigidBody)]
        sign = 1.0 if bodies else -1.0
        wrench = system.binding(self).wrench(system, bodies or first, about, damper)
        return sign * wrench + 0.0  # no -0.0

    @in_system
    def dissipated(self, system: Configuration) -> float:
        """Return the energy that friction and damper have dissipated since the first step [J]."""
        own = system.binding(self)
        names = {each.name for each in (*own.passes, *own.dampers)}
        chosen = [form.name in names for form in system.memory.forms]
        return float(system.sum(np.array([system.memory.dissipated(chosen)]))[0])

    @in_system
    def report(self, system: Configuration) -> Report:
        """Return how many points touch and slide, and how deep they are (collective).

        ``print(contact.report(system))``: contact 'stand': region 'z0' of 'block' on plane; of 16
        points of quadrature 4 touch; deepest 0.01 l, in the mean 0.008 l.
        """
        own = system.binding(self)
        return own.report(system, own.looks(system))

    @in_system
    def status(self, system: Configuration) -> Counts:
        """Return how many points are open, stick and slip (collective)."""
        return Counts(*self.report(system).counts)

    @in_system
    def penetration_of(self, system: Configuration) -> tuple[float, float]:
        """Return the deepest penetration [m], and the deepest in parts of the local size.

        Of the points of quadrature, which press: nodes at edges may lie deeper.
        """
        looks = system.binding(self).looks(system)
        deep = [float((-look.gap).max(initial=0.0)) for look in looks]
        part = [float((-look.gap / look.length).max(initial=0.0)) for look in looks]
        every = system.comm.allgather((max(deep), max(part)))
        return max(d for d, _ in every), max(p for _, p in every)

    @in_system
    def clearance(self, system: Configuration) -> float:
        """Return the smallest gap of all points [m], negative where they press.

        Its zeros are events in dynamics, in which contact begins and ends::

            begins = problem.event(lambda: contact.clearance(system), direction=-1)
            ends = problem.event(lambda: contact.clearance(system), direction=1)

        Where no point is near its target it is the size of the system.
        """
        own, least = system.binding(self), system.extent
        for each, look in zip(own.passes, own.looks(system), strict=True):
            gaps = each.gaps(system, look)
            least = min(least, float(np.min(gaps, initial=np.inf, where=np.isfinite(gaps))))
        return float(system.comm.allreduce(least, op=MPI.MIN))

    @in_system
    def series(self, system: Configuration) -> dict[str, Callable[[], npt.ArrayLike]]:
        """Return what a history keeps of a contact, by name; see `DynamicProblem.record`."""
        functions: dict[str, Callable[[], npt.ArrayLike]] = {
            "force": lambda: self.force(system),
            "penetration": lambda: self.penetration_of(system)[0],
            "dissipated": lambda: self.dissipated(system),
            "status": lambda: self.status(system),
        }
        if self._dampers:
            functions["undamped"] = lambda: self.force(system, damper=False)
        return functions

    @in_system
    def nodal(self, system: Configuration, number: int = 0) -> Nodal:
        """Return means over corners of the first side, or of the second (`number` 1).

        Raises
        ------
        ParameterError : the points are those of a rigid body; there is no such side.
        """
        if not self._sides:
            raise ParameterError(
                f"{self.what}: {self._passes[0].contactor} has no surface",
                asked="surface",
                given=str(self._passes[0].contactor),
            )
        if number not in range(len(self._sides)):
            sides = " and ".join(f"{k}, {side}" for k, (side, _) in enumerate(self._sides))
            raise ParameterError(
                f"{self.what}: number={label(number)} is no side: it has {sides}",
                asked="number",
                given=number,
                possible=range(len(self._sides)),
            )
        own = system.binding(self)
        with own.searched(system):
            return own.fields(system, number).over_nodes(system.layout)

    @in_system
    def pressure(self, system: Configuration, number: int = 0) -> Array:
        """Return nominal nodal pressures (n,), per area of the reference; see `true_pressure`.

        Of cables per length. Places are `nodal(system).X`.
        """
        return self.nodal(system, number).pressure

    @in_system
    def true_pressure(self, system: Configuration, number: int = 0) -> Array:
        """Return true nodal pressures (n,), per present area (of cables: length).

        Where a surface has grown they are smaller than the nominal ones of `pressure`.
        """
        return self.nodal(system, number).true_pressure

    @in_system
    def gap(self, system: Configuration, number: int = 0) -> Array:
        """Return nodal gaps (n,) [m]; NaN where nothing is opposite."""
        return self.nodal(system, number).gap

    def __str__(self) -> str:
        mu = ""
        if self._coulomb is not None:
            mu = f", mu = {label(self._mu)}"
            if isinstance(self._mu, tuple | list):
                mu = f", mu = {label(self._mu[0])}, sliding {label(self._mu[1])}"
        return f"{self.what}: {' on '.join(self._between)}{mu}"


class ContactBinding:
    """A contact in one system.

    Attributes
    ----------
    name : in the system.
    passes, dampers : what the passes and dampers of the contact are there.
    facing : those of the passes whose lists change.
    step : numbers that belong to the state, after `forms`.
    """

    step: ContactNumbers

    def __init__(self, term: Contact, layout: Layout) -> None:
        self.term, self.name = term, layout.name(term)
        for side, _ in term._sides:
            if len(side.facet_sets) > 1:  # which must not have facets in common
                layout.bind(side)
        for each in (*term._passes, *term._dampers):
            layout.call(each, each.name.replace(term.name, self.name, 1))
        passes: Sequence[Binds[PassBinding]] = term._passes
        self.passes = [layout.bind(each) for each in passes]
        self.dampers = [layout.bind(each) for each in term._dampers]
        self.facing = [each for each in self.passes if isinstance(each, FacetPassBinding)]
        if len(self.facing) > 1:
            require_apart(*(layout.bind(side) for side, _ in term._sides))

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Take this rank's points (collective)."""
        blocks: list[tuple[str, Ints32]] = []
        for each in (*self.passes, *self.dampers):
            if isinstance(each, RigidPassBinding):
                blocks += each.carriers(configuration)
        return blocks

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernels and points on this rank (collective)."""
        overlap, every = float(self.term._initial == "release"), (*self.passes, *self.dampers)
        self.step = ContactNumbers(configuration, self.name, self.term._damping, overlap)
        for each in every:
            each.step = self.step
        return [form for each in every for form in each.forms(configuration)]

    def state_variables(self, configuration: Configuration) -> list[StateVariable]:
        """Return the numbers that belong to the accepted state; see `ContactNumbers`."""
        return [self.step.variable]

    # ---- lists that change, see `Revises` -------------------------------------------------------
    def changes(self, configuration: Configuration) -> bool:
        """Tell whether the target is deformable."""
        return bool(self.facing)

    def search(self, configuration: Configuration, time: float) -> Change:
        """Find what may touch (collective)."""
        self._tell_of_blow(configuration)
        return max(each.search(configuration, time) for each in self.facing)

    def active(self, configuration: Configuration) -> ActiveSet:
        """Return the active sets of the passes, by name: ``0 pairs``, ``0 near``, ..."""
        return _numbered(each.active.arrays() for each in self.facing)

    def activate(self, configuration: Configuration, active: ActiveSet) -> bool:
        """Take active sets; tell whether points have others opposite (collective)."""
        sets = self._by_pass(active)
        return any([each.activate(configuration, Active.of(own)) for each, own in sets])

    def own_rows(self, configuration: Configuration, active: ActiveSet) -> ActiveSet:
        """Return the rows that this rank writes; see `Revises`."""
        sets = self._by_pass(active)
        return _numbered(each.own_rows(configuration.comm, own) for each, own in sets)

    def join(self, configuration: Configuration, rows: ActiveSet) -> ActiveSet:
        """Return the active sets, or entities, of rows; see `Revises` (collective)."""
        sets = self._by_pass(rows)
        return _numbered(each.join(configuration.topology, own) for each, own in sets)

    def entities_of(self, active: ActiveSet) -> ActiveSet:
        """Return the pairs of facets of the passes."""
        names = [f"{k} {name}" for k, _ in enumerate(self.facing) for name in ("pairs", "extra")]
        return {name: active[name] for name in names}

    def _by_pass(self, active: ActiveSet) -> list[tuple[FacetPassBinding, ActiveSet]]:
        """Return the passes with their arrays by name."""
        sets: list[dict[str, Data]] = [{} for _ in self.facing]
        for name, value in active.items():
            number, _, own = name.partition(" ")
            sets[int(number)][own] = value
        return list(zip(self.facing, sets, strict=True))

    def _pairs(self, entities: ActiveSet) -> list[tuple[FacetPassBinding, Ints]]:
        """Return the passes with their pairs (k, 2) of facets among entities."""
        sets = self._by_pass(entities)
        return [(each, np.concatenate([own["pairs"], own["extra"]])) for each, own in sets]

    def needed(self, configuration: Configuration, entities: ActiveSet) -> Ints:
        """Return the numbers of the vertices that the points of this rank need."""
        pairs = self._pairs(entities)
        return np.concatenate([each.needed(own) for each, own in pairs])

    def listed(self, configuration: Configuration, entities: ActiveSet) -> list[Listed]:
        """Return this rank's contact elements by their vertices."""
        return [each.listed(configuration, own) for each, own in self._pairs(entities)]

    def renew(self, configuration: Configuration) -> dict[Form, Form]:
        """Return the forms of the present points by those before (collective)."""
        new: dict[Form, Form] = {}
        for each in self.facing:
            new |= each.renew(configuration)
        return new

    # ---- solutions, see `Reviews` ---------------------------------------------------------------
    def review(self, configuration: Configuration) -> Verdict:
        """Judge a solution: has a point passed through, is one too deep? (collective)."""
        term, step = self.term, self.step
        grown, overlap, solved = step.grown, step.overlap, step.most
        step.put(grown, overlap)
        if self._stands(configuration):
            return Verdict.STANDS
        with together(configuration.comm):
            looks = [each.look(configuration) for each in self.passes]
        pairs = zip(self.passes, looks, strict=True)
        verdict = max(each.review(configuration, look) for each, look in pairs)
        if verdict is not Verdict.STANDS:
            return verdict
        report = self.report(configuration, looks)
        if overlap > 0.0:
            step.put(grown, max(0.0, overlap - 1.0 / OVERLAP_PARTS) if step.moves else 0.0)
            return Verdict.STANDS
        over = report.mean / term._penetration
        if over <= 1.0:
            return Verdict.LONG if self._late(configuration, looks) else Verdict.STANDS
        most = min((STIFFEST_IN_MOTION if step.moves else STIFFEST) / term._c, solved)
        may = term._stiffness is None and grown < most
        self._tell(configuration, report.mean, grown if may else None)
        if may:
            step.put(min(grown * min(2.0 ** np.ceil(np.log2(over)), 4.0), most), overlap)
        return Verdict.AGAIN if may else Verdict.STANDS

    def _stands(self, configuration: Configuration) -> bool:
        """Tell whether one of a motion stands by what points remember, without a look."""
        assembler, state = configuration.assembler, configuration.state
        own = self.standing(configuration) if self.step.moves else None
        return own is not None and configuration.memory.stands(assembler, state, own)

    def standing(self, configuration: Configuration) -> dict[str, Standing] | None:
        """Return, by pass, gaps and ways of points that `review` lets stand; see `Standing`.

        None: an overlap is let out.
        """
        rigid = [each for each in self.passes if isinstance(each, RigidPassBinding)]
        if self.facing or self.step.overlap > 0.0:
            return None
        return {each.name: each.standing(self.term._penetration) for each in rigid}

    # ---- switches located in time, see `Switches` -----------------------------------------------
    def switches(self, configuration: Configuration, steps: Callable[[], float]) -> list[Switch]:
        """Return where points begin to slip, where they stop or turn, and where they touch or part.

        Functions: the least part of the limit of friction that is left to points that stick, the
        least speed of those that slide, the least gap.
        """
        rigid = [each for each in self.passes if isinstance(each, RigidPassBinding)]
        coulomb = self.term._coulomb
        if self.facing or coulomb is None:
            raise ParameterError(
                f"{self.term.what}: there is no beginning of slip to be located without friction "
                "on a rigid shape",
                asked="function",
                given=self.name,
            )

        def reserve() -> float:
            return min(each.reserve(configuration, steps())[1] for each in rigid)

        def speed() -> float:
            return min(each.speed(configuration)[1] for each in rigid)

        def gap() -> float:
            return self.term.clearance(configuration)

        def slip() -> None:
            near = max(2.0 * reserve(), 0.0)  # the nearest, and its like
            for each in rigid:
                each.let_slip(configuration, near, steps())

        def stop() -> None:
            near = max(2.0 * speed(), 0.0)
            for each in rigid:
                each.let_stick(configuration, near)

        return [Switch(reserve, -1, slip), Switch(speed, -1, stop), Switch(gap, 0, lambda: None)]

    def renews(self, configuration: Configuration) -> bool:
        """Tell whether points press on deformable facets, whose normals a step turns."""
        return any(each.presses(configuration) for each in self.facing)

    def hold(self, configuration: Configuration, frozen: bool, before: bool) -> float:
        """Hold normals while a step is solved roughly; see `FacetPass.hold` (collective)."""
        return max([each.hold(configuration, frozen, before) for each in self.facing], default=0.0)

    def report(self, configuration: Configuration, looks: Sequence[Look]) -> Report:
        """Return what all points are at, of all ranks (collective)."""
        numbers, deepest, mean = np.zeros(3), 0.0, np.zeros(2)
        for own in looks:
            part, area = -own.gap / own.length, own.weight * (own.owned & (own.pressure > 0.0))
            deepest = max(deepest, float(part.max(initial=0.0)))
            numbers += [(own.status[own.owned] == s).sum() for s in range(3)]
            mean += area @ part, area.sum()
        deepest = float(reduced(configuration.comm, np.array([deepest]), MPI.MAX)[0])
        *every, sunk, area = configuration.sum(np.concatenate([numbers, mean]))
        opened, stuck, slid = map(int, every)
        mean_depth, term = sunk / area if area > 0.0 else 0.0, self.term
        friction, surface = term._coulomb is not None, bool(term._sides)
        depths = deepest, mean_depth, self.step.grown
        return Report((opened, stuck, slid), *depths, friction, surface, str(term))

    def _late(self, configuration: Configuration, looks: Sequence[Look]) -> bool:
        """Tell whether most of what presses came from afar in this step, and rubs (collective).

        Friction takes the whole way of such points for one of sliding, also that before the touch.
        """
        if self.term._coulomb is None or self.step.moves:
            return False  # a motion has short steps
        counts = np.zeros(3)
        with together(configuration.comm):
            for each, look in zip(self.passes, looks, strict=True):
                area = look.weight * look.owned
                counts[0] += area @ look.pressure
                if look.friction.any():
                    far = each.before(configuration, look) > FAR_GAP * look.length
                    counts[1:] += (area * far) @ np.stack([look.pressure, look.friction], axis=1)
        every, new, rubs = configuration.sum(counts)
        return bool(new > 0.5 * every and rubs > DOUBTFUL_FRICTION * every)

    def _tell_of_blow(self, configuration: Configuration) -> None:
        """Warn where a motion begins with an overlap that presses all at once (collective)."""
        if self.term._initial != "press" or not configuration.moves:
            return
        moved = configuration.comm.allreduce(bool(configuration.state.any()), MPI.LOR)
        sunk = max(each.sunk for each in self.facing)
        if moved or sunk <= FREE_OVERLAP:
            return
        configuration.once.warn(
            ("blow", self.name),
            f"{self.term.what}: initial='press', and surfaces overlap at the start of dynamics by "
            f"up to {sunk:.2g} of the cells' size: the force acts instantaneously, an impact "
            "that steps longer than the waves in a cell take do not resolve (energies.drift "
            "shows it). If an equilibrium is intended solve sa.StaticProblem(system) first; "
            "initial='release' lets the overlap out gradually",
        )

    def _tell(self, configuration: Configuration, mean: float, grown: float | None) -> None:
        term = self.term
        so = "its stiffness was given, or is as large as it may be"
        if grown is not None:
            so = f"its stiffness is raised from c = {term._c * grown:g} on"
        configuration.once.warn(
            ("deep", self.name, grown is None),
            f"{term.what}: points in contact penetrate by {100 * mean:.3g} % of the local size "
            f"in the mean, more than penetration={term._penetration:g}; {so}",
        )

    # ---- results --------------------------------------------------------------------------------
    @contextmanager
    def searched(self, configuration: Configuration) -> Iterator[None]:
        """Find lists and what laws remember before the first step, too, which finds its own."""
        if not all(each.active.begun for each in self.facing):
            configuration.revise(configuration.time)
        first = not configuration.memory.initialised
        if first:
            configuration.forget()
        try:
            yield
        finally:
            if first:
                configuration.memory.forget()

    def wrench(
        self,
        configuration: Configuration,
        bodies: Sequence[Body | RigidBody],
        about: Array,
        damper: bool,
    ) -> Array:
        """Return force and moment about a point (6,) that the passes exert on bodies (collective).

        `damper` : whether with those of dampers.
        """
        assembler, f = configuration.assembler, np.zeros(configuration.numbering.coordinates)
        names = {each.name for each in (*self.passes, *(self.dampers if damper else ()))}
        own = np.array([form.name in names for form in assembler.forms])
        with self.searched(configuration), assembler.only(own):
            with together(configuration.comm):
                assembler.update(configuration.time)
            assembler.residual(configuration.state, f)
        mine = np.any([_coordinates(configuration, body) for body in bodies], axis=0)
        return configuration.sum(-configuration.wrench(np.where(mine, f, 0.0), about))

    def fields(self, configuration: Configuration, number: int) -> SideFields:
        """Return what the points of a side, by its number, tell at the present state (collective).

        Against rigid shapes each of its facet sets has a pass.
        """
        side = self.term._sides[number][0]
        passes: Sequence[Binds[PassBinding]] = self.term._sides[number][1]
        surface, own = configuration.layout.bind(side), [configuration.binding(p) for p in passes]
        surface.place(configuration)
        table: Array = np.zeros((surface.points, 6))
        for each, patch in zip(own, surface.patches, strict=False):
            with together(configuration.comm):
                look = each.look(configuration)
            gap = each.gaps(configuration, look)
            columns = look.weight, look.pressure, gap, look.status, look.slid, np.ones_like(gap)
            mine, first = look.owned, patch.points.start
            table[first + look.ids[mine]] = np.stack(columns, axis=1)[mine]
        area, pressure, gap, status, slid, seen = configuration.sum(table).T
        gap = np.where(seen > 0.0, gap, np.nan)
        start, every = configuration.reference, np.arange(surface.size)
        before, now = (
            surface.areas(surface.vectors(configuration, *x), every)
            for x in ((start,), (start, configuration.state))
        )
        area = own[0].term.part * before if isinstance(own[0], FacetPassBinding) else area
        slip = None if self.term._coulomb is None else slid
        present, status = area * ratio(now, before), np.rint(status).astype(np.int64)
        return SideFields(surface, area, present, pressure, gap, slip, status)

    def looks(self, configuration: Configuration) -> list[Look]:
        """Return what is seen of the points of the passes at the present state (collective)."""
        with self.searched(configuration), together(configuration.comm):
            return [each.look(configuration) for each in self.passes]


def _numbered(sets: Iterable[ActiveSet]) -> ActiveSet:
    """Return arrays of passes by name, after the number of the pass."""
    return {f"{k} {name}": value for k, own in enumerate(sets) for name, value in own.items()}


def _coordinates(configuration: Configuration, body: Body | RigidBody) -> Mask:
    """Return which local coordinates are those of a body and owned by this rank."""
    numbering = configuration.numbering
    own = np.zeros(numbering.coordinates, dtype=bool)
    if isinstance(body, RigidBody):
        own[configuration.binding(body).here(configuration)] = True
    else:
        vertices = np.zeros(len(configuration.points), dtype=bool)
        vertices[np.unique(configuration.binding(body).interpolation.cells)] = True
        own = vertices[numbering.vertex_of]
    return np.asarray(own & (numbering.vertex_of < numbering.owned_vertices))


def _is_zero(mu: Any) -> bool:
    return isinstance(mu, int | float) and not isinstance(mu, bool) and mu == 0


def _has_lines(place: Place | None) -> bool:
    """Tell whether axes of cables are among what the user gives as a side."""
    each = place if isinstance(place, list | tuple) else [place]
    return any(isinstance(p, Nodes) and p.body.element.dimension == 1 for p in each)


def _ordered(side: Any, target: Any) -> tuple[Any, Any]:
    """Return the side whose points are looked at, and its target."""
    if isinstance(side, RigidShape) or (isinstance(side, RigidBody) and is_place(target)):
        side, target = target, side
    pair = isinstance(side, RigidBody) and isinstance(target, RigidBody)
    if pair and side.shape.form != "sphere" and target.shape.form == "sphere":
        side, target = target, side
    return side, target
