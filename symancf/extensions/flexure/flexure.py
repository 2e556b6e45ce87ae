# SPDX-License-Identifier: BSD-3-Clause
"""Flexures as terms of a system."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from symancf import ConstraintError, Parameter, ParameterError, PlanarBody

from ..interface import (
    Array,
    Configuration,
    Displayable,
    Entities,
    Ground,
    Ints,
    Kernel,
    OneProcess,
    PlanarPoint,
    Scalar,
    arguments,
    closest,
    discrete_system,
    evaluate,
    in_system,
    place_of,
    point_kernel,
    rotation,
    turned,
)
from .law import CELL, MODELS, TANGENTS, flexure_law
from .section import compliance, strip_compliance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..interface import (
        Carriers,
        Discretised,
        Form,
        Layout,
        Role,
    )

Place = PlanarPoint | Ground

FIT = 1e-3  # an attachment may miss the arc by this fraction of the radius


class Flexure(OneProcess, Displayable):
    """A slender flexure clamped to two planar bodies; make it by `arc` or `straight`.

    Its residual is a point law on the six coordinates of its bodies (`flexure_law`).

    Examples
    --------
    >>> import symancf as sa
    >>> lever = sa.PlanarBody(position=(0.0, 0.3, 0.0), name="lever")
    >>> ends = sa.ground.at((0.3, 0.0)), lever.at((0.3, 0.0))
    >>> sa.Flexure.straight(*ends, EI=1e-4, EA=50.0, name="strip")
    Flexure 'strip' (partial)
    """

    def __init__(
        self,
        a_end: Place,
        b_end: Place,
        stiffness: Array,
        lever: Array,
        beta: float,
        *,
        EI: Scalar,
        model: str,
        tangent: str,
        name: str,
        shape: dict[str, float],
        unit: float,
    ) -> None:
        self.ends = (a_end, b_end)
        self.unit = unit  # the bending stiffness is unit * EI
        self.EI, self.model, self.tangent, self.name = EI, model, tangent, name
        self.shape = shape
        _one_of(name, "model", model, MODELS)
        _one_of(name, "tangent", tangent, TANGENTS)
        (Xa, arm_a, _), (Xb, arm_b, _) = place_of(a_end), place_of(b_end)
        upper = stiffness[np.triu_indices(3)]
        values = (*arm_a, *arm_b, *(Xb - Xa)[0, :2], math.cos(beta), math.sin(beta), *lever, *upper)
        self.cell = dict(zip((s.name for s in CELL), map(float, values), strict=True))

    # ---- makers ---------------------------------------------------------------------------------
    @classmethod
    def arc(
        cls,
        a_end: Place,
        b_end: Place,
        radius: float,
        angle: float,
        *,
        EI: Scalar,
        EA: float | None = None,
        model: str = "partial",
        direction: float | None = None,
        tangent: str = "K",
        name: str | None = None,
    ) -> Flexure:
        """Return a flexure along a circular arc from `a_end` to `b_end`.

        Parameters
        ----------
        a_end, b_end : ``body.at(point)`` or ``sa.ground.at(point)``.
        radius : of the arc, > 0 [m].
        angle : by which the tangent turns from a to b [rad]; positive counter-clockwise, up to
            a full turn.
        EI : bending stiffness [N m^2]: a number, `Parameter` or function of time.
        EA : axial stiffness [N]; default: inextensible, as in the paper. Needs a number EI.
        model : ``"linear"``, ``"partial"`` or ``"consistent"``; see `flexure_law`.
        direction : angle of the tangent at a, in the direction of travel [rad]. Default: found
            from the chord between the ends. Where these are rounded, by e, it is off by about e
            over the chord: a warning says so. A full turn, whose ends coincide, needs it.
        tangent : which parts of the tangent Newton's method uses; see `flexure_law`. The option
            ``flexure_tangent`` of a problem goes before it, for all flexures: in
            ``StaticProblem(system, prefix="grip_", options={"flexure_tangent": "K_I"})``, or
            ``-grip_flexure_tangent K_I`` on the command line.

        Raises
        ------
        ParameterError : zero radius or angle, degrees given for radians.
        ConstraintError : the ends are not a chord of the arc apart; says by how much.
        """
        start, end, name = _ends("arc", a_end, b_end, name)
        radius = evaluate(f"{name}: radius", radius, 0.0)
        angle = evaluate(f"{name}: angle", angle, 0.0)
        if radius <= 0.0:
            raise ParameterError(
                f"{name}: radius is {radius:g}: it must be positive; a clockwise arc has a "
                "negative angle",
                asked="radius",
                given=radius,
            )
        if angle == 0.0:
            raise ParameterError(
                f"{name}: angle is 0: an arc must turn; a straight flexure is sa.Flexure.straight",
                asked="angle",
                given=angle,
            )
        if abs(angle) > 2 * math.pi * (1 + 1e-9):
            raise ParameterError(
                f"{name}: angle is {angle:g} rad, more than a full turn; if it is intended in "
                f"degrees, give math.radians({angle:g}) = {math.radians(angle):.6g}",
                asked="angle",
                given=angle,
            )
        r = math.copysign(radius, angle)
        # chord in the frame of the end a: x along the tangent, y to the left
        d = np.array([r * math.sin(angle), 2 * r * math.sin(angle / 2) ** 2])
        chord = end - start
        spanned, given = float(np.hypot(*d)), float(np.hypot(*chord))
        if abs(given - spanned) > FIT * radius:
            kind = "long" if given > spanned else "short"
            raise ConstraintError(
                f"{name}: the attachments are {given:.6g} apart, but an arc of radius {radius:g} "
                f"and angle {angle:g} rad spans {spanned:.6g}: {abs(given - spanned):.3g} too "
                f"{kind}",
                names=[name],
                asked="distance",
                given=given,
                possible=(spanned,),
            )
        if direction is None:
            if spanned < 1e-6 * radius and abs(angle) > math.pi:
                raise ParameterError(
                    f"{name}: the ends of a full turn coincide, so its direction is open: give "
                    "direction=, the angle of the tangent at the first end [rad]",
                    asked="direction",
                    given=None,
                )
            direction = math.atan2(chord[1], chord[0]) - math.atan2(d[1], d[0])
            direction = math.remainder(direction, 2 * math.pi)
            _warn_of_rounding(name, abs(given - spanned), spanned, radius)
        else:
            direction = evaluate(f"{name}: direction", direction, 0.0)
            c, s = math.cos(direction), math.sin(direction)
            miss = float(np.hypot(*(chord - (c * d[0] - s * d[1], s * d[0] + c * d[1]))))
            if miss > FIT * radius:
                raise ConstraintError(
                    f"{name}: an arc of radius {radius:g} and angle {angle:g} rad that leaves "
                    f"{_text(start)} at direction {direction:g} rad ends {miss:.3g} away from its "
                    f"second attachment {_text(end)}",
                    names=[name],
                    asked="direction",
                    given=direction,
                )
        unit, uniform = _bending(name, EI, EA)
        EA = None if EA is None else evaluate(f"{name}: EA", EA, 0.0)
        # A_f^T d_f: the chord in the frame of the end b
        c, s = math.cos(angle), math.sin(angle)
        lever = np.array([c * d[0] + s * d[1], -s * d[0] + c * d[1]])
        return cls(
            a_end,
            b_end,
            np.linalg.inv(compliance(r, angle, unit, EA)),
            lever,
            direction + angle,
            EI=uniform,
            model=model,
            tangent=tangent,
            name=name,
            shape={"radius": radius, "angle": angle, "direction": direction},
            unit=unit,
        )

    @classmethod
    def straight(
        cls,
        a_end: Place,
        b_end: Place,
        *,
        EI: float,
        EA: float,
        model: str = "partial",
        tangent: str = "K",
        name: str | None = None,
    ) -> Flexure:
        """Return a straight flexure from `a_end` to `b_end`; see `arc`.

        `EI` [N m^2] and `EA` [N] are numbers: without axial compliance a straight strip has no
        stiffness matrix.
        """
        start, end, name = _ends("straight flexure", a_end, b_end, name)
        chord = end - start
        length = float(np.hypot(*chord))
        if length == 0.0:
            raise ParameterError(
                f"{name}: its attachments coincide: a flexure needs a length",
                asked="length",
                given=length,
            )
        unit, uniform = _bending(name, EI, EA)
        if EA is None:
            raise ParameterError(
                f"{name}: give EA: without it a straight strip has no stiffness matrix", asked="EA"
            )
        EA = evaluate(f"{name}: EA", EA, 0.0)
        direction = math.atan2(chord[1], chord[0])
        return cls(
            a_end,
            b_end,
            np.linalg.inv(strip_compliance(length, unit, EA)),
            np.array([length, 0.0]),
            direction,
            EI=uniform,
            model=model,
            tangent=tangent,
            name=name,
            shape={"length": length, "direction": direction},
            unit=unit,
        )

    def _headline(self) -> str:
        """Return name and model."""
        return f"Flexure {self.name!r} ({self.model})"

    # ---- what a system asks of a term -----------------------------------------------------------
    def bind(self, layout: Layout) -> FlexureBinding:
        """Announce the pair of places before distribution."""
        return FlexureBinding(self, layout)

    def bonds(self) -> list[tuple[PlanarBody, PlanarBody]]:
        """Return the bodies that move together where the flexure does not deform."""
        a, b = self.ends
        if isinstance(a, PlanarPoint) and isinstance(b, PlanarPoint):
            return [(a.body, b.body)]
        return []

    # ---- results --------------------------------------------------------------------------------
    @in_system
    def coordinates(self, system: Configuration) -> Array:
        """Return (ux, uy, phi) of the nodes of bodies a and b, (6,); zero for the ground."""
        both = [
            p.body._node(system) if isinstance(p, PlanarPoint) else np.zeros(3) for p in self.ends
        ]
        return np.concatenate(both)

    @in_system
    def forces(self, system: Configuration) -> Array:
        """Return the generalised forces (2, 3) that bodies a and b exert on the flexure.

        Force in the directions of the ground and moment about the origin of each body
        (collective).
        """
        both = self._forces(system)
        for f, place in zip(both, self.ends, strict=True):
            if isinstance(place, PlanarPoint):
                lever = rotation(place.body._node(system)[2]) @ place.body._offset
                f[2] -= turned(lever) @ f[:2]
        return both

    def _forces(self, configuration: Configuration) -> Array:
        """Return the generalised forces (2, 3) on the nodes of bodies a and b (collective)."""
        q = self.coordinates(configuration)
        values = {**self.cell, "EI": evaluate(f"{self.name}: EI", self.EI, configuration.time)}
        f, _ = configuration.binding(self).form.kernel.residual(q[None], None, values)
        return np.array(f).reshape(2, 3)

    @in_system
    def tip_wrench(self, system: Configuration) -> Array:
        """Return (F_x, F_y, M) on the flexure at b, in the frame of its tip (collective)."""
        fx, fy, moment = self._forces(system)[1]
        turn = self.coordinates(system)[5]
        c, s = math.cos(turn), math.sin(turn)
        arm = place_of(self.ends[1])[1]
        x, y = c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]
        turn += math.atan2(self.cell["sin_beta"], self.cell["cos_beta"])
        c, s = math.cos(turn), math.sin(turn)
        return np.array([c * fx + s * fy, -s * fx + c * fy, moment - x * fy + y * fx])

    @in_system
    def bending_moment(self, system: Configuration, points: int = 61) -> Array:
        """Return the bending moment (n,) along the flexure, from a to b (collective)."""
        back = np.linspace(1.0, 0.0, points)
        Fx, Fy, M = self.tip_wrench(system)
        if "length" in self.shape:
            return np.asarray(M + Fy * self.shape["length"] * back)
        r, phi = (
            math.copysign(self.shape["radius"], self.shape["angle"]),
            self.shape["angle"] * back,
        )
        return np.asarray(M + r * Fy * np.sin(phi) + r * Fx * (1 - np.cos(phi)))

    def axis(self, system: Discretised[Configuration] | None = None, points: int = 61) -> Array:
        """Return points (n, 2) on the axis: of the reference, or in the state of `system`.

        The deformed axis has the curvature of the reference plus M/EI and leaves body a along
        its tangent; what then misses body b (second order in a linear flexure) is spread
        evenly (collective).
        """
        length = self.shape.get("length", 0.0) or self.shape["radius"] * abs(self.shape["angle"])
        s = np.linspace(0.0, 1.0, points)
        theta = self.shape["direction"] + self.shape.get("angle", 0.0) * s
        (Xa, arm_a, _), (Xb, arm_b, _) = (place_of(p) for p in self.ends)
        start, end = Xa[0, :2], Xb[0, :2]
        if system is not None:
            system = discrete_system(self.name, system)
            EI = self.unit * evaluate(f"{self.name}: EI", self.EI, system.time)
            kappa = self.bending_moment(system, points) / EI
            q = self.coordinates(system)
            theta = theta + q[2]
            theta[1:] += np.cumsum((kappa[1:] + kappa[:-1]) / 2) * length / (points - 1)
            start = start + q[:2] + (rotation(q[2]) - np.eye(2)) @ arm_a
            end = end + q[3:5] + (rotation(q[5]) - np.eye(2)) @ arm_b
        middle = (theta[1:] + theta[:-1]) / 2
        steps = np.stack([np.cos(middle), np.sin(middle)], axis=1) * length / (points - 1)
        line = start + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
        return np.asarray(line + s[:, None] * (end - line[-1]))

    @in_system
    def ground_wrench(self, system: Configuration) -> Array | None:
        """Return force and moment about the origin that the ground exerts, if it holds an end."""
        ends = [k for k, p in enumerate(self.ends) if isinstance(p, Ground)]
        return self.forces(system)[ends].sum(axis=0) if ends else None


class FlexureBinding:
    """A flexure in one system.

    Attributes
    ----------
    name : in the system.
    entities : the pair of places.
    form : the kernel with the tangent of the present problem, after `forms`.
    """

    form: Form

    def __init__(self, flexure: Flexure, layout: Layout) -> None:
        self.flexure, self.name = flexure, layout.name(flexure)
        self.entities = Entities(layout, self.name, flexure.ends)

    def carriers(self, configuration: Configuration) -> Carriers:
        """Take the entity where it is on this rank; a flexure puts no blocks on vertices."""
        self.entities.bind(configuration)
        return []

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernel, and its entity on this rank."""
        entities, flexure = self.entities, self.flexure
        kernel, role = self._kernel(configuration, flexure.tangent)
        jets = entities.jets(configuration, [(0, "planar"), (1, "planar")])
        n = len(entities.ids)
        cell = {name: np.full(n, value) for name, value in flexure.cell.items()}
        self.form = entities.form(self.name, kernel, role, {"EI": flexure.EI}, cell, jets)
        return [self.form]

    def _kernel(self, configuration: Configuration, tangent: str) -> tuple[Kernel, Role]:
        """Return the kernel with a tangent, and its role (collective)."""
        kernel = point_kernel(flexure_law(self.flexure.model, tangent), configuration.comm)
        return kernel, "strain" if kernel.symmetric else "work"

    def choose(
        self, configuration: Configuration, option: Callable[[str], str | None]
    ) -> dict[Form, Form]:
        """Take the tangent that the option ``flexure_tangent`` of a problem names, or our own."""
        tangent = option("flexure_tangent") or self.flexure.tangent
        _one_of("the option flexure_tangent", "it", tangent, TANGENTS, "flexure_tangent")
        kernel, role = self._kernel(configuration, tangent)
        if kernel is self.form.kernel:
            return {}
        before, self.form = self.form, replace(self.form, kernel=kernel, role=role)
        return {before: self.form}


def unknowns_of(flexures: Sequence[Flexure], bodies: Sequence[object]) -> Ints:
    """Return the unknowns (flexures, 6) at both ends, three of each body in turn; -1 on ground."""
    first = {id(body): 3 * k for k, body in enumerate(bodies)}
    starts = [
        [-3 if isinstance(place, Ground) else first[id(place.body)] for place in flexure.ends]
        for flexure in flexures
    ]
    numbers = np.array(starts, int).reshape(-1, 2, 1) + np.arange(3)
    return np.asarray(np.maximum(numbers, -1).reshape(-1, 6))


def ground_wrench(system: Discretised[Configuration]) -> Array:
    """Return force and moment about the origin (3,) that the ground exerts on the system.

    Sum over flexures and clamps that are held by the ground (collective).
    """
    total = np.zeros(3)
    for term in discrete_system("ground_wrench", system).terms:
        wrench = getattr(term, "ground_wrench", lambda system: None)(system)
        if wrench is not None:
            total += wrench
    return total


def _one_of(name: str, what: str, value: str, possible: Sequence[str], asked: str = "") -> None:
    if not arguments.among(value, possible):
        raise ParameterError(
            f"{name}: {what} is {value!r}: choose one of {', '.join(possible)}."
            + closest(str(value), possible),
            asked=asked or what,
            possible=possible,
            given=value,
        )


def _warn_of_rounding(name: str, gap: float, chord: float, radius: float) -> None:
    """Warn on rank 0 where ends that do not quite fit leave the direction of an arc uncertain."""
    if gap > 1e-6 * radius and MPI.COMM_WORLD.rank == 0:
        warnings.warn(
            f"{name}: its attachments miss the arc by {gap:.2g}, as if rounded: the direction that "
            f"follows from their chord is uncertain by about {gap / chord:.2g} rad; give "
            "direction= if it is known",
            stacklevel=3,
        )


def _text(x: Array) -> str:
    return f"({x[0]:.6g}, {x[1]:.6g})"


def _ends(kind: str, a: Any, b: Any, name: str | None) -> tuple[Array, Array, str]:
    """Return the reference positions of both ends and the flexure's name."""
    for place in (a, b):
        if isinstance(place, PlanarBody):
            raise ParameterError(
                f"{kind}: give a point of {place.name!r}, body.at((x, y))",
                asked="end",
                given=place.name,
            )
        if not isinstance(place, PlanarPoint | Ground) or (
            isinstance(place, Ground) and (place.point is None or len(place.point) != 1)
        ):
            raise ParameterError(
                f"{kind}: an end is {place}: give body.at((x, y)) of a planar body, or "
                "sa.ground.at((x, y))",
                asked="end",
                given=str(place),
            )
    if isinstance(a, Ground) and isinstance(b, Ground):
        raise ParameterError(
            f"{arguments.name_or(name, kind)}: both ends are on the ground",
            asked="ends",
            given=(str(a), str(b)),
        )
    (Xa, _, text_a), (Xb, _, text_b) = place_of(a), place_of(b)
    return Xa[0, :2], Xb[0, :2], arguments.name_or(name, f"{kind} from {text_a} to {text_b}")


def _bending(name: str, EI: Scalar, EA: Scalar | None) -> tuple[float, Scalar]:
    """Return the EI of the stored stiffness and that of the uniform slot."""
    value = evaluate(f"{name}: EI", EI, 0.0)
    if value <= 0.0:
        raise ParameterError(
            f"{name}: EI is {value:g}: it must be positive", asked="EI", given=value
        )
    fixed = not isinstance(EI, Parameter) and not callable(EI)
    if EA is not None:
        if not fixed or isinstance(EA, Parameter) or callable(EA):
            raise ParameterError(
                f"{name}: with EA given, EI and EA must be plain numbers",
                asked="EI",
                given=EI if not fixed else EA,
            )
        if evaluate(f"{name}: EA", EA, 0.0) <= 0.0:
            raise ParameterError(f"{name}: EA is {EA:g}: it must be positive", asked="EA", given=EA)
    return (value, 1.0) if fixed else (1.0, EI)
