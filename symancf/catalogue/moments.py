# SPDX-License-Identifier: BSD-3-Clause
r"""Moments on points, sections and rigid bodies, as work on the spin of the material.

The spin is that of the vorticity, :math:`\omega = \tfrac12\,\mathrm{vect}(L - L^T)`,
:math:`L = \dot F F^{-1}`, with F of the axes f_k of a place as columns and the dual vectors g^k:

* three axes (full gradients, points of solids, rigid bodies):
  :math:`\omega = \tfrac12 \sum_k g^k \times \dot f_k`,
* two (thin plates; the unit normal n completes F):
  :math:`\omega = \tfrac12 \sum_k g^k \times (I + n n^T)\,\dot f_k`,
* one (cables; torsion cannot be represented):
  :math:`\omega = f \times \dot f / |f|^2`.

It does not depend on the choice of axes, and is exact off the constraints of a rigid body, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import sympy as sp

from ..assembly.configuration import Configuration, Layout, in_system
from ..bodies.plane import Factor, PlanarBody, PlanarPoint
from ..errors import KinematicsError, ParameterError
from ..places.ends import End, Ground
from ..places.mean import Mean
from ..places.on_body import Nodes, PointsOnBody
from ..terms.quantities import E, S, V, symbols_of
from ..terms.term import PlaceBinding
from ..terms.work import Potential, VirtualWork
from ..values.arguments import among, name_or
from ..values.functions import REQUIRED, taking
from ..values.parameter import Scalar, Vector, components

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..arrays import Array
    from ..bodies.natural import RigidBody
    from ..values.parameter import Scalar

Pairs: TypeAlias = dict[V, V]


def spin(*axes: tuple[V, V]) -> V:
    """Return the spin of a place from its axes f_k and their rates, (f_k, fdot_k)."""
    f, rate = [a for a, _ in axes], [b for _, b in axes]
    if len(axes) == 1:
        return f[0].cross(rate[0]) / f[0].dot(f[0])
    if len(axes) == 2:
        n = f[0].cross(f[1])
        nn = n.dot(n)
        dual = [f[1].cross(n) / nn, n.cross(f[0]) / nn]
        rate = [w + n * (n.dot(w) / nn) for w in rate]
    else:
        J = f[0].dot(f[1].cross(f[2]))
        dual = [f[(k + 1) % 3].cross(f[(k + 2) % 3]) / J for k in range(3)]
    total = dual[0].cross(rate[0])
    for g, w in zip(dual[1:], rate[1:], strict=True):
        total = total + g.cross(w)
    return total / 2


def triad(e1: V, e2: V) -> list[V]:
    """Return orthonormal vectors: the first along e1, the third normal to e1 and e2."""
    t1 = e1 / sp.sqrt(e1.dot(e1))
    n = e1.cross(e2)
    t3 = n / sp.sqrt(n.dot(n))
    return [t1, t3.cross(t1), t3]


def _moment(axes: int, frame: str) -> Callable[..., Pairs]:
    """Return the work of a moment on the spin of a place with so many axes."""

    def moment(*arguments: V, M1: S, M2: S, M3: S, share: S) -> Pairs:
        e, w = arguments[:axes], arguments[axes:]
        M = share * sp.ImmutableMatrix([M1, M2, M3])
        if frame == "body":
            t = triad(*e[:2])
            M = t[0] * M[0] + t[1] * M[1] + t[2] * M[2]
        return {spin(*zip(e, w, strict=True)): M}

    names = [f"{q}{k + 1}_a" for q in "ew" for k in range(axes)]
    taking(moment, names, dict.fromkeys(("M1", "M2", "M3", "share"), REQUIRED))
    return moment


def axes_of(place: End) -> int:
    """Return how many axes the material has at a place: 1, 2 or 3; 0 where it has none."""
    if isinstance(place, Nodes):
        return place.body.element.directions
    if isinstance(place, PointsOnBody):
        return len(place.body.element.gradient)
    if isinstance(place, Mean):
        return 2
    return 0 if isinstance(place, Ground) else 3


class Moment(VirtualWork):
    """A moment on places, work on their spin; see `moment`."""

    _growing = ("M1", "M2", "M3")

    def __init__(
        self, place: End, vector: Scalar | Vector, distribute: str, frame: str, name: str | None
    ) -> None:
        name = name_or(name, f"moment on {place}")
        if not among(distribute, ("total", "each")):
            raise ParameterError(
                f"{name}: distribute is {distribute!r}: 'total' or 'each'",
                asked="distribute",
                given=distribute,
                possible=("total", "each"),
            )
        if not among(frame, ("space", "body")):
            raise ParameterError(
                f"{name}: frame is {frame!r}: 'space' or 'body'",
                asked="frame",
                given=frame,
                possible=("space", "body"),
            )
        self.distribute = distribute
        axes = axes_of(place)
        if not axes:
            raise KinematicsError(
                f"{name}: the nodes of {place.body.element.name} have no slopes to carry a "
                "moment; apply it at a point, body.at(X)"
                if isinstance(place, Nodes)
                else f"{name}: {place} does not turn",
                asked="place",
                given=str(place),
            )
        if frame == "body" and axes == 1:
            raise KinematicsError(
                f"{name}: a cable has one axis only and no rotation about it: "
                "give the moment in space, frame='space'",
                asked="frame",
                given="body",
                possible=("space",),
            )
        M1, M2, M3 = components(name, vector)
        super().__init__(_moment(axes, frame), place, name=name, M1=M1, M2=M2, M3=M3, share=1.0)

    def _domain(self) -> tuple[sp.Expr, ...]:
        """Return what must be positive: length, area or volume of the axes."""
        f = []
        for k in range(axes_of(self.ends[0])):
            jet = (0, f"axis{k}")
            X, u = symbols_of(jet, "reference"), symbols_of(jet, "change")
            f.append(sp.ImmutableMatrix([x + d for x, d in zip(X, u, strict=True)]))
        if len(f) == 1:
            return (f[0].dot(f[0]),)
        n = f[0].cross(f[1])
        return (n.dot(n) if len(f) == 2 else f[2].dot(n),)

    def bind(self, layout: Layout) -> MomentBinding:
        """Announce the places."""
        return MomentBinding(self, layout)

    @in_system
    def total(self, system: Configuration) -> Array:
        """Return the moment on all places, in space, on every rank (collective)."""
        return np.asarray(self.values(system).sum(axis=0))


class MomentBinding(PlaceBinding):
    """A moment on places in one system."""

    term: Moment

    def uniform_values(self, configuration: Configuration) -> dict[str, Scalar]:
        """Return the values of parameters, and the share of each place."""
        count = self.size(configuration) if self.term.distribute == "total" else 1
        return self.term.parameters | {"share": 1.0 / count}


def moment(
    place: End | RigidBody | PlanarBody,
    vector: Scalar | Vector,
    distribute: Literal["total", "each"] = "total",
    name: str | None = None,
    factor: Factor | None = None,
    frame: Literal["space", "body"] = "space",
) -> Moment | Potential | VirtualWork:
    """Moment [N m] that acts on the spin of the material at places (`spin`).

    It is not conservative: its tangent is unsymmetric. Cables carry no moment along their axis.
    A moment at one point of a thin shell makes a local spike: spread it over a ring of nodes.

    Parameters
    ----------
    place : ``body["region"]``, ``body.at(X)``, or a rigid or planar body.
    vector : three components: numbers, `Parameter` or functions of time (or one function that
        returns all three). On a planar body one number, counter-clockwise.
    distribute : the nodes of a region share the moment evenly (``"total"``), or it acts on
        each (``"each"``).
    factor : unknown number that multiplies the moment (planar bodies only); see
        `sa.displacement_control`.
    frame : ``"space"``: the components are fixed in space; ``"body"``: they follow the axes of
        the place (``body.at(X, frame=...)``): the first axis, and the normal to the first two.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    >>> system = sa.System(ball, terms=[sa.moment(ball, (0.0, 0.0, 1.0))])
    """
    if isinstance(place, PlanarBody | PlanarPoint):
        return _planar(place, vector, name, factor)
    if factor is not None:
        raise ParameterError(
            f"moment on {place}: factor= is for planar bodies", asked="factor", given=str(place)
        )
    if not isinstance(place, End):
        if not hasattr(place, "at") or isinstance(place, type):
            raise ParameterError(
                f"{type(place).__name__} is no place for a moment: give body.at(X), "
                "body['region'] or a rigid body",
                asked="place",
                given=type(place).__name__,
            )
        name = name_or(name, f"moment on {place.name!r}")
        place = place.at((0.0, 0.0, 0.0))
    return Moment(place, vector, distribute, frame, name)


def _planar(
    body: PlanarBody | PlanarPoint, moment: Any, name: str | None, factor: Factor | None
) -> Potential | VirtualWork:
    """Return a moment [N m] on a planar body, counter-clockwise: the energy -m phi."""
    place = body.at((0.0, 0.0)) if isinstance(body, PlanarBody) else body
    name = name_or(name, f"moment on {place.body.name!r}")
    if not callable(moment) and np.ndim(moment) == 1:
        components = list(moment)
        if len(components) != 3 or components[0] or components[1]:
            raise ParameterError(
                f"{name}: {moment!r}: a moment in the plane is one number, or (0, 0, m)",
                asked="vector",
                given=moment,
            )
        moment = components[2]
    if factor is None:
        return Potential(_planar_moment, place, name=name, m=moment)
    return VirtualWork(_planar_moment_factor, place, factor, name=name, m=moment)


def _planar_moment(phi_a: S, *, m: S) -> E:
    return -m * phi_a


def _planar_moment_factor(omega_a: S, factor_b: S, *, m: S) -> dict[S, E]:
    return {omega_a: factor_b * m}
