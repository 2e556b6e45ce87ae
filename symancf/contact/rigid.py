# SPDX-License-Identifier: BSD-3-Clause
r"""Points against a rigid shape: a law of their jets, without any search.

In the frame of the shape, with origin o and axes e_k, a point r_s has the coordinates x and, with
the signed distance s of the shape and the distance rho at which the point touches, the gap g:

.. math:: x_k = e_k \cdot (r_s - o), \quad g = s(x) - \rho, \quad G = \nabla s, \quad
    x_c = x - (g + \rho)\, G.

x_c is the point of the shape that it touches. Friction lives in that frame: the anchor is A,
T = (I - G G^T)(x - A), and the force on the point is F = sum_k (p G_k + f_k) e_k. Its power is that
of F on v_s - v_o - x_k e_k', which vanishes where both move as one: force and moment balance.

A ball that rolls has two anchors, one in its own frame, y, beside that in the frame of the shape;
after each step both are at the present point of contact, the stretch kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints, Ints32, Mask
from ..assembly.revisions import Standing, Verdict
from ..errors import ConstraintError, ParameterError
from ..runtime import jit
from ..runtime.collective import reduced, share_error, together
from ..terms.term import PlaceBinding, PlaceTerm
from ..terms.work import Potential, VirtualWork
from ..values.parameter import Derived, answers_cached, cached_answer, difference, evaluate
from .facet_set import FacetSet
from .laws import DAMPING, NEAR, ROUND_OFF, SLIP_STEP, SLIPPED, SPAN, STICK_LOAD
from .look import Look
from .modulus import Following
from .shapes import Plane, X
from .steps import GROWN, OVERLAP, RELEASE
from .touch import ANCHOR, BASE, BEFORE, FRAME, RHO, STEPS, STRETCH, Touch

if TYPE_CHECKING:
    import sympy as sp

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.form import Form
    from ..places.ends import End
    from ..terms.quantities import At
    from ..values.parameter import Scalar
    from .shapes import RigidShape
    from .steps import ContactNumbers

DEEP_AT_START = 1e-3  # parts of l by which a surface may lie within another one at the start
OPPOSITE_NORMALS = -0.25  # cosine of two normals of one point that has passed through a shape
DEEP_ON_WAY = 0.01  # parts of l that a way may lie within a shape
LEAST = float(np.sqrt(np.finfo(float).tiny))  # number that tells of slip and of no way [m, m/s]
PROBES_OF_WAY = 64  # of a way, at most


class PointNumbers:
    """What the points of this rank are given, by the symbols of `Touch`; each (n,).

    `length` is the local size l, `overlap` what is let out, `weight` the area (length, number)
    that each stands for; `facet_set` that of the points, whose material the stiffness follows, with
    its `fields`; None: it is `stiffness`.
    """

    weight: Array | None = None

    def __init__(
        self,
        length: Array,
        stiffness: float,
        facet_set: FacetSet | None = None,
        fields: Array | None = None,
    ) -> None:
        none = np.zeros(len(length))
        self.length, self.overlap, self.facet_set = length, none, facet_set
        self._fields, self._stiffness = fields, none + stiffness
        self._present: tuple[float, ...] | None = None

    def stiffness(self, time: float) -> Array:
        """Return k before it grows (n,), the same array where nothing has changed."""
        facet_set, fields = self.facet_set, self._fields
        if facet_set is None or fields is None:
            return self._stiffness
        present = facet_set.modulus.present(time)
        if present != self._present:
            E = facet_set.moduli(fields, present)
            self._present = present
            self._stiffness = facet_set.parts * (E if facet_set.cable else E / self.length)
        return self._stiffness


@dataclass(frozen=True)
class ContactorPoints:
    """The points of a contactor, as `RigidPass` takes them.

    Attributes
    ----------
    who : begins messages.
    end : the places.
    rho : distance at which they touch [m].
    stiffness : k of all points; None: c E/l of their `FacetSet`, of cables c E.
    length : size l of rigid bodies; of a `FacetSet` it is that of the cells [m].
    rolls : they are the centre of a rigid ball.
    initial : what an overlap in the reference means, see `symancf.Contact`.
    shared : number of points among which the stiffness of a rigid body is shared.
    """

    who: str
    end: End
    rho: float
    stiffness: float | None
    length: float = 0.0
    rolls: bool = False
    initial: str | None = None
    shared: int = 1

    def numbers(self, configuration: Configuration, ids: Ints) -> PointNumbers:
        """Return size and stiffness at places, by number (collective)."""
        facet_set, stiffness = self.end, self.stiffness
        if not isinstance(facet_set, FacetSet):
            assert stiffness is not None
            return PointNumbers(np.full(len(ids), self.length), stiffness / self.shared)
        l, fields = facet_set.sized(configuration.layout, ids)
        return (
            PointNumbers(l, 0.0, facet_set, fields)
            if stiffness is None
            else PointNumbers(l, stiffness)
        )


class RigidPass(PlaceTerm):
    """Points of one side against a rigid shape: a term of a `Contact`.

    Parameters
    ----------
    name : of the contact.
    touch : the law.
    points : of the contactor.
    values : of the parameters of laws and of friction.
    """

    touch: Touch
    points: ContactorPoints

    @property
    def contactor(self) -> End:
        """The points."""
        return self.points.end

    @classmethod
    def of(
        cls, name: str, touch: Touch, points: ContactorPoints, values: Mapping[str, Scalar]
    ) -> RigidPass:
        """Return the pass: an energy without friction, else forces on motions."""
        ends, shape = [points.end], touch.shape
        if shape.body is not None:
            ends.append(shape.body.at(shape.point, shape.frame))
        zero = BASE, NEAR, OVERLAP, RELEASE, DAMPING, SPAN, *FRAME
        values_by_name: dict[str, Any] = {str(s): 0.0 for s in zero}
        values_by_name |= {str(GROWN): 1.0, str(RHO): points.rho, **values}
        values_by_name |= {f"shape_{name}": value for name, value in shape.parameters.items()}
        values_by_name = {k: v for k, v in values_by_name.items() if k in touch.keywords}
        one_pass = _KINDS[touch.part](touch, *ends, name=name, **values_by_name)
        one_pass.touch, one_pass.points = touch, points
        return one_pass

    def bind(self, layout: Layout) -> RigidPassBinding:
        """Announce the points (collective)."""
        return RigidPassBinding(self, layout)

    def frame(self) -> dict[str, Scalar]:
        """Return origin and axes of a shape of the ground, by symbol."""
        shape = self.touch.shape
        if shape.body is not None:
            return {}
        names, motion = list(map(str, FRAME)), shape.motion

        def part(k: int) -> Scalar:
            def value(time: float) -> float:
                return float(cached_answer(shape, time, lambda: _placed(shape, time))[k])

            return Derived((motion.displacement, motion.gradient), value)

        if motion.changes:
            parts = {name: part(k) for k, name in enumerate(names)}
            rates = {f"rate_{name}": difference(name, value) for name, value in parts.items()}
            return parts | (rates if self.touch.part != "energy" else {})
        return dict(zip(names, map(float, _placed(shape, 0.0)), strict=True))

    def sizes(self, time: float) -> dict[str, Array | float]:
        """Return the parameters of the shape at a time, by symbol."""
        names = {f"shape_{name}": value for name, value in self.touch.shape.parameters.items()}
        return {k: evaluate(k, value, time) for k, value in names.items()}

    def distances(self, x: Array, sizes: Mapping[str, Array | float]) -> tuple[Array, Array]:
        """Return distances (n,) and their gradients (n, 3) at coordinates in the frame."""
        if not len(x):
            return np.zeros(0), np.zeros((0, 3))
        s, *G = self._field({**sizes, **dict(zip(map(str, X), x.T, strict=True))})
        shape = (len(x),)
        return np.broadcast_to(s, shape), np.stack([np.broadcast_to(g, shape) for g in G], axis=1)

    @cached_property
    def _field(self) -> jit.Values:
        s, G = self.touch.distance(X)
        return jit.Values([s, *G], (), {})


class RigidPassBinding(PlaceBinding):
    """Points of one side against a rigid shape in one system.

    Attributes
    ----------
    numbers : what the points are given, after `carriers`.
    step : numbers of the contact, before `forms`.
    """

    term: RigidPass
    numbers: PointNumbers
    step: ContactNumbers

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Take this rank's points (collective)."""
        blocks = super().carriers(configuration)
        self.numbers = self.term.points.numbers(configuration, self.entities.ids)
        return blocks

    def own_form(self, configuration: Configuration) -> Form:
        """Return the kernel and the points on this rank (collective)."""
        touch, numbers = self.term.touch, self.numbers
        if touch.part != "damper":
            self._look_at_overlap(configuration)
            self._require_before(configuration)
        form = super().own_form(configuration)
        facet_set, rows, cell_at = numbers.facet_set, form.kernel.cell, None
        if facet_set is not None and facet_set.modulus.changes and str(BASE) in rows:
            row, timed = rows.index(str(BASE)), facet_set.modulus.timed
            cell_at = Following(form.cell, row, numbers.stiffness, slice(None), timed)
        damper, summed = touch.part == "damper", str(STICK_LOAD) if touch.patch else ""
        compact = touch.law.compact
        return replace(form, cell_at=cell_at, moving=damper, compact=compact, summed=summed)

    def _require_before(self, configuration: Configuration) -> None:
        """Raise where a solid lies behind a plane as a whole: it would fall (collective)."""
        points, shape = self.term.points, self.term.touch.shape
        end = points.end
        if not isinstance(shape, Plane) or shape.body is not None or not isinstance(end, FacetSet):
            return
        vertices = np.unique(configuration.binding(end.body).interpolation.cells)
        origin, axes = shape.placed(0.0)
        x = (configuration.points[vertices] - origin) @ axes
        sizes = self.term.sizes(configuration.time)
        far = float(self.term.distances(x, sizes)[0].max(initial=-np.inf))
        far = float(reduced(configuration.comm, np.array([far]), MPI.MAX)[0])
        if end.body.element.dimension == 3 and far <= ROUND_OFF * configuration.extent:
            raise ConstraintError(
                f"{points.who}: all of {end.body.name!r} is below plane {shape.name!r}, "
                "which supports what is on the side of its normal: turn the normal or move one of "
                "them",
                asked="normal",
                given=end.body.name,
            )

    def _look_at_overlap(self, configuration: Configuration) -> None:
        """Let an initial overlap out, or raise where nobody said what it means (collective)."""
        numbers, points, shape = self.numbers, self.term.points, self.term.touch.shape
        initial = points.initial
        with together(configuration.comm):
            depth = -self.first_gaps(configuration)
            if not np.isfinite(depth).all():
                x = self.entities.here[0].X[int(np.argmin(np.isfinite(depth)))]
                raise ParameterError(
                    f"{points.who}: the distance from {shape.kind} {shape.name!r} is not finite "
                    f"at ({x[0]:g}, {x[1]:g}, {x[2]:g})",
                    asked="distance",
                    given=x,
                )
        if initial == "release":
            numbers.overlap = np.maximum(depth, 0.0)
        if initial is not None:
            return
        error, deep = None, np.where(depth > DEEP_AT_START * numbers.length, depth, 0.0)
        worst = float(reduced(configuration.comm, np.array([deep.max(initial=0.0)]), MPI.MAX)[0])
        if worst > 0.0 and (deep == worst).any():
            x = self.entities.here[0].X[int(np.argmax(deep))]
            turn = isinstance(shape, Plane) and bool((depth > 0.0).all())
            error = ConstraintError(
                f"{points.who}: in the reference {points.end} lies within {shape.kind} "
                f"{shape.name!r} by up to {worst:.3g}, at ({x[0]:g}, {x[1]:g}, {x[2]:g}); "
                f"{'turn the normal, which points to where bodies are, ' if turn else ''}move one "
                "of them, or give initial='press' where that is intended, "
                "initial='release' to let it out gradually",
                asked="overlap",
                given=worst,
                possible=("press", "release"),
            )
        share_error(configuration.comm, error)

    # ---- parameters -----------------------------------------------------------------------------
    def cell_values(self, configuration: Configuration) -> dict[str, Array]:
        """Return what the law takes at each of this rank's places, (n,) by symbol."""
        own, values = self.numbers, super().cell_values(configuration)
        near = ROUND_OFF * own.length
        k = own.stiffness(configuration.time)
        return values | {str(BASE): k, str(NEAR): near, str(OVERLAP): own.overlap}

    def at_places(self, configuration: Configuration) -> At:
        """Return what the law depends on at this rank's places, (n,) or a number, by symbol."""
        values, k = super().at_places(configuration), self.numbers.stiffness(configuration.time)
        return values | ({str(BASE): k} if str(BASE) in values else {})

    def uniform_values(self, configuration: Configuration) -> dict[str, Scalar]:
        """Return the values of parameters that are the same at all places."""
        values = {**super().uniform_values(configuration), **self.term.frame()}
        del values[str(BASE)], values[str(NEAR)], values[str(OVERLAP)]
        return values | self.step.uniform

    # ---- at the places of this rank -------------------------------------------------------------
    def here(
        self,
        configuration: Configuration,
        expressions: Sequence[sp.Expr],
        more: At | None = None,
    ) -> Array:
        """Return expressions of `touch` at the present state at this rank's places, (n, k).

        `more` : further values (n,) by symbol.
        """
        n = len(self.entities.ids)
        if not n:
            return np.zeros((0, len(expressions)))
        with answers_cached():
            at = {**self.at_places(configuration), **(more or {})}
        values = self.term._compiled(tuple(expressions))(at)
        return np.stack([np.broadcast_to(column, (n,)) for column in values], axis=1)

    def review(self, configuration: Configuration, look: Look) -> Verdict:
        """Cut a step in which a point has passed through the shape (collective)."""
        if not self.term.touch.shape.bounded:
            return Verdict.STANDS
        with together(configuration.comm):
            through = self._through(configuration, look)
        passed = configuration.comm.allreduce(bool(through.any()), MPI.LOR)
        return Verdict.CUT if passed else Verdict.STANDS

    def standing(self, penetration: float) -> Standing:
        """Return when no point is deeper than parts of l, and none passes through the shape."""
        term, l = self.term, self.numbers.length
        far = term.touch.shape.safe_slide(DEEP_ON_WAY * l, term.points.rho)
        stretch = "" if term.touch.coulomb is None else f"{STRETCH}1"
        return Standing(BEFORE, -penetration * l, f"{ANCHOR}1", stretch, far)

    # ---- switches -------------------------------------------------------------------------------
    def reserve(self, configuration: Configuration, steps: float) -> tuple[Array, float]:
        """Return parts of the limit of friction that are left at points (n,), and the decisive one.

        1 of points that slide. `steps` : length of steps without an event. (collective)
        """
        return self._switch(configuration, self.term.touch.reserve, steps)

    def speed(self, configuration: Configuration) -> tuple[Array, float]:
        """Return the speeds of points that slide (n,), 1 of others, and the decisive one.

        Along their stretches, so that it is 0 where slip ends or turns. (collective)
        """
        return self._switch(configuration, self.term.touch.speed)

    def _switch(
        self, configuration: Configuration, function: sp.Expr, steps: float = 0.0
    ) -> tuple[Array, float]:
        """Return a function of state and rates at points (n,), and the decisive one (collective).

        It is the least one, of a patch the largest where it presses; 1 where none does.
        """
        touch, law = self.term.touch, self.term._substitution
        with together(configuration.comm):
            rates = self.entities.rates(configuration, self.jets, law.unknowns)
            known: At = {v.name: rates[u.name] for u, v in law.rate_of.items()}
            known[str(STEPS)] = steps
            value, p = self.here(configuration, [function, touch.pressure], known).T
        own = value[p > 0.0] if touch.patch else -value
        most = np.array([own.max(initial=-np.inf if touch.patch else -1.0)])
        found = float(reduced(configuration.comm, most, MPI.MAX)[0])
        found = found if touch.patch else -found
        return value, found if np.isfinite(found) else 1.0

    def let_slip(self, configuration: Configuration, near: float, steps: float) -> None:
        """Let points slip from now on that have no more than `near` of their limit (collective)."""
        touch, (value, decisive) = self.term.touch, self.reserve(configuration, steps)
        slides: dict[str, float] = {str(SLIPPED): 1.0}
        if touch.patch:
            slides = {str(SLIPPED): LEAST, str(STICK_LOAD): 0.0}
        elif touch.coulomb is not None and touch.coulomb.speeds:  # which begins at rest
            slides = {str(SLIPPED): LEAST, str(SLIP_STEP): 0.0}
        chosen = np.full(len(value), decisive <= near) if touch.patch else value <= near
        for name, number in slides.items():
            configuration.memory.put(self.name, name, chosen, number)

    def let_stick(self, configuration: Configuration, near: float) -> None:
        """Let points stick from now on that slide with no more than `near` (collective)."""
        value, decisive = self.speed(configuration)
        chosen = np.full(len(value), decisive <= near) if self.term.touch.patch else value <= near
        configuration.memory.put(self.name, str(SLIPPED), chosen, 0.0)

    def look(self, configuration: Configuration) -> Look:
        """Return what is seen of this rank's places."""
        touch, own = self.term.touch, self.entities
        expressions = [touch.gap, touch.pressure, touch.status, touch.rub, touch.slid]
        expressions += [touch.margin, *touch.point]
        gap, p, status, rub, slid, margin, *x = self.here(configuration, expressions).T
        weight = self.weights(configuration)
        columns = gap, self.numbers.length, p, status, rub, slid, weight, own.ids, own.owned
        return Look(*columns, np.stack(x, axis=1), margin)

    def gaps(self, configuration: Configuration, look: Look) -> Array:
        """Return the gaps (n,) that were seen."""
        return look.gap

    def before(self, configuration: Configuration, look: Look) -> Array:
        """Return the gaps (n,) at the beginning of the step."""
        return configuration.memory.at(self.name)[BEFORE]

    def _through(self, configuration: Configuration, look: Look) -> Mask:
        """Tell which points have passed through the shape since the beginning of the step.

        Those that were or are within it, and that another side of it is the nearest to now; and
        those outside whose way was through it, by steps as long as the distance allows.
        """
        gap, length, x = look.gap, look.length, look.x
        assert x is not None
        at = configuration.memory.at(self.name)
        before: Array = at[BEFORE]
        anchor: Array = np.stack([at[f"{ANCHOR}{k}"] for k in (1, 2, 3)], axis=1)
        term, sizes = self.term, self.term.sizes(configuration.time)
        _, old = term.distances(anchor, sizes)
        s, new = term.distances(x, sizes)
        turned: Mask = (np.minimum(gap, before) < 0.0) & (
            np.einsum("na,na->n", old, new) < OPPOSITE_NORMALS
        )
        rho = s - gap
        start: Array = anchor + (before + rho)[:, None] * old
        way: Array = x - start
        far = np.linalg.norm(way, axis=1)
        open_ = (gap >= 0.0) & (before >= 0.0) & (far > gap + before)
        least = far / PROBES_OF_WAY
        passed = np.maximum(before, least)  # of their ways
        for _ in range(PROBES_OF_WAY):
            going = np.flatnonzero(open_ & (passed < far - gap))
            if not len(going):
                break
            probe = start[going] + (passed[going] / far[going])[:, None] * way[going]
            s = term.distances(probe, sizes)[0] - rho[going]
            turned[going] |= s < -DEEP_ON_WAY * length[going]
            passed[going] += np.maximum(s, least[going])
        return np.asarray(turned)

    def weights(self, configuration: Configuration) -> Array:
        """Return the area (length, number) that each of this rank's places stands for, (n,)."""
        numbers, reading = self.numbers, self.term._reading
        if numbers.weight is None:
            numbers.weight = (
                np.ones(len(self.entities.ids))
                if reading.edges is None
                else reading.lengths(configuration, self.entities)
            )
        return numbers.weight

    def first_gaps(self, configuration: Configuration) -> Array:
        """Return the gaps of this rank's places in the reference, (n,)."""
        term, entities = self.term, self.entities
        gap = term._substitution.insert_constants(term.touch.memory[BEFORE] - OVERLAP)
        at: At = {**term._reading.cell_values(configuration, entities)}
        for name, value in {**term.parameters, **term.frame()}.items():
            at[name] = evaluate(name, value, 0.0)
        (gaps,) = jit.Values([gap], (), {})(at)
        return np.broadcast_to(gaps, (len(entities.ids),))


class _Energy(RigidPass, Potential):
    """Without friction: an energy of the gap, so that the tangent is symmetric."""

    kind, role = "contact", "contact"


class _Forces(RigidPass, VirtualWork):
    """With friction, or the damper: forces on motions."""

    kind = "contact"

    def __init__(self, touch: Touch, *ends: End, name: str, **parameters: Any) -> None:
        damper = touch.part == "damper"
        super().__init__(touch, *ends, name=name, dissipation=damper, **parameters)
        self.role = "dissipation" if damper else "contact"


_KINDS: dict[str, Callable[..., RigidPass]] = {
    "energy": _Energy,
    "damper": _Forces,
    "friction": _Forces,
}


def _placed(shape: RigidShape, time: float) -> Array:
    """Return origin and axes one after the other, (12,)."""
    origin, axes = shape.placed(time)
    return np.concatenate([origin, axes.T.ravel()])
