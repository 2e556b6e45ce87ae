# SPDX-License-Identifier: BSD-3-Clause
"""The law of a point against a rigid shape, in the words of terms; the formulas are in `rigid`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import sympy as sp

from symancf_codegen.functions import rate, symbolic

from ..kinematics.memory import STEP, remember
from ..kinematics.quantity import dot, real
from ..terms.quantities import symbols_of
from ..values.functions import REQUIRED, taking
from . import laws
from .laws import DAMPING, NEAR, SLID, SLIPPED, SPAN, STICK_LOAD, K, ahead
from .steps import GROWN, OVERLAP, RELEASE

if TYPE_CHECKING:
    from ..kinematics.memory import Remembered
    from ..terms.quantities import V
    from ..terms.substitution import Let
    from .laws import Coulomb, Normal
    from .shapes import RigidShape

AXES, SPINS = ("e1", "e2", "e3"), ("w1", "w2", "w3")
RHO, BASE = real("rho"), real("stiffness")
ORIGIN = [real(f"origin{a}") for a in (1, 2, 3)]
FRAME_AXES = [[real(f"axis{k}{a}") for a in (1, 2, 3)] for k in (1, 2, 3)]
FRAME = [*ORIGIN, *FRAME_AXES[0], *FRAME_AXES[1], *FRAME_AXES[2]]
STEPS = real("steps")  # length of steps without an event [s]
BEFORE, ANCHOR, OWN, STRETCH = "gap_before", "anchor", "own_anchor", "stretch_before"

Part: TypeAlias = Literal["energy", "damper", "friction"]

#: by kind and coordinates
_distances: dict[tuple[Hashable, ...], tuple[sp.Expr, list[sp.Expr]]] = {}


class Place(NamedTuple):
    """Where a point is, in the frame of a shape with the axes E.

    `x` its coordinates, `G` the gradient of the distance there, `closest` the point of the shape.
    """

    origin: sp.Matrix
    E: list[sp.Matrix]
    x: list[sp.Symbol]
    G: list[sp.Symbol]
    closest: list[sp.Expr]


class Touch:
    """The law of a point against a shape, as a function of quantities that terms can read.

    Parameters
    ----------
    part : ``"energy"`` of the gap, or forces with ``"friction"``; and the ``"damper"`` of motions
        to either.
    shape, law, coulomb : the target and the laws.
    rolls : the point is the centre of a rigid ball of radius rho: it has two anchors.
    corner : the point is one of several on which a rigid body lies.

    Attributes
    ----------
    patch : whether the points decide as one where they begin to slip, see `Coulomb.of_patch`.
    lets : the named stages, after it was called.
    gap, pressure, force, point, status, rub, slid : at the place, expressions of `lets`: `force`
        (3,) per area on the point, `point` is x, in the frame of the shape, `status` 0 open, 1
        stick (or without friction), 2 slip, `rub` the size of the friction per area, `slid` the
        path since it last began to touch. `reserve` : of a point that stuck in the last step, the
        part of the limit of friction that is left, 1 of others; a function of state and rates with
        the length of a whole step, so that it does not jump where a step ends at an event.
        `speed` : of one that slid, along its stretch, 1 of others. `margin` : of a point that
        presses, that of `laws.Friction`, 1 of others.
    """

    def __init__(
        self,
        part: Part,
        shape: RigidShape,
        law: Normal,
        coulomb: Coulomb | None = None,
        rolls: bool = False,
        corner: bool = False,
    ) -> None:
        self.part = part
        self.__name__ = f"contact_{part}_{shape.kind}{'_moved' if shape.moved else ''}"
        self.shape, self.law, self.coulomb = shape, law, coulomb
        self.rolls = rolls and part == "friction"
        self.patch = coulomb is not None and coulomb.pair and corner and part == "friction"
        self.lets: list[Let] = []
        own = ("r", *AXES) if self.rolls else ("r",)
        names = [f"{q}_a" for q in own]
        names += [f"{q}_b" for q in ("r", *AXES)] if shape.body is not None else []
        if part != "energy":
            names += ["v_a", *(f"{w}_a" for w in SPINS if self.rolls)]
            names += [f"{q}_b" for q in ("v", *SPINS)] if shape.body is not None else []
        self._names = names
        self.memory = self._first()
        self.keywords = self._argument_names()
        taking(self, names, dict.fromkeys(self.keywords, REQUIRED))

    def _argument_names(self) -> list[str]:
        """Return the names of parameters and of what is remembered."""
        own = [] if self.coulomb is None else list(self.coulomb.parameters)
        symbols = [BASE, GROWN, RHO, NEAR, OVERLAP, RELEASE]
        symbols += {"energy": [], "friction": [DAMPING], "damper": [DAMPING, SPAN]}[self.part]
        symbols += FRAME if self.shape.body is None else []
        shape = [f"shape_{name}" for name in self.shape.parameters]
        step = [STEP] if self.coulomb is not None and self.coulomb.speeds else []
        names = [*map(str, symbols), *shape, *self.law.parameters, *own, *self.memory, *step]
        return list(dict.fromkeys(names))

    # ---- geometry -------------------------------------------------------------------------------
    def distance(self, x: Sequence[sp.Expr]) -> tuple[sp.Expr, list[sp.Expr]]:
        """Return the signed distance and its gradient at coordinates in the frame.

        SymPy takes a tenth of a second for it, once for all shapes of a kind.
        """
        shape, form = self.shape, getattr(self.shape, "function", type(self.shape))
        key = form, *shape.parameters, *x
        if key not in _distances:
            names = {real(name): real(f"shape_{name}") for name in shape.parameters}
            slopes = [s.xreplace(names) for s in shape.slopes(x)]
            _distances[key] = shape.distance(x).xreplace(names), slopes
        return _distances[key]

    def _first(self) -> dict[str, sp.Expr]:
        """Return what a point remembers before the first step, of the reference configuration."""
        X = symbols_of((0, "value"), "reference")
        o, E = ORIGIN, FRAME_AXES
        if self.shape.body is not None:
            o = symbols_of((1, "value"), "reference")
            E = [symbols_of((1, f"axis{k}"), "reference") for k in range(3)]
        d = [a - b for a, b in zip(X, o, strict=True)]
        x = [dot(e, d) for e in E]
        s, G = self.distance(x)
        if self.part == "damper":
            return {}
        initial: dict[str, sp.Expr] = {BEFORE: s - RHO + OVERLAP}
        initial |= {f"{ANCHOR}{k}": a - s * b for k, a, b in zip((1, 2, 3), x, G, strict=True)}
        if self.coulomb is not None:
            stretches = (f"{STRETCH}{k}" for k in (1, 2, 3))
            initial |= dict.fromkeys((str(SLIPPED), str(SLID), *stretches), sp.S.Zero)
            initial |= dict.fromkeys(self.coulomb.course(sp.S.Zero, sp.S.Zero), sp.S.Zero)
            initial |= {str(STICK_LOAD): sp.S.Zero} if self.patch else {}
        if self.rolls:
            n = _in_space(G, E)
            for k in range(3):
                own = symbols_of((0, f"axis{k}"), "reference")
                initial[f"{OWN}{k + 1}"] = -RHO * dot(own, n)
        return initial

    # ---- the law --------------------------------------------------------------------------------
    def _let(self, name: str, expression: sp.Expr) -> sp.Symbol:
        self.lets.append((real(name), symbolic(expression)))
        return real(name)

    def _three(self, name: str, expressions: Sequence[sp.Expr]) -> list[sp.Symbol]:
        return [self._let(f"{name}{k}", e) for k, e in enumerate(expressions, 1)]

    def __call__(self, *quantities: V, **own: sp.Symbol) -> Remembered | list[tuple[V, V]]:
        """Return forces and motions, or an energy, with what is remembered."""
        q = dict(zip(self._names, quantities, strict=True))
        self.lets.clear()
        self.slid = self.rub = sp.S.Zero
        self.margin: sp.Expr = sp.S.One
        self.reserve: sp.Expr = sp.S.One
        self.speed: sp.Expr = sp.S.One
        at = self._place(q)
        if self.part == "energy":
            return self._without_friction(at)
        return self._damper(at, q) if self.part == "damper" else self._with_friction(at, q, own)

    def _place(self, q: Mapping[str, V]) -> Place:
        """Return where the point is, and take gap and pressure there."""
        o, E = sp.Matrix(ORIGIN), [sp.Matrix(e) for e in FRAME_AXES]
        if self.shape.body is not None:
            o, E = q["r_b"], [q[f"{e}_b"] for e in AXES]
        x = self._three("x", [dot(e, q["r_a"] - o) for e in E])
        s, slopes = self.distance(x)
        s, G = self._let("distance", s), self._three("slope", slopes)
        self.gap = self._let("gap", s - RHO - NEAR + RELEASE * OVERLAP)
        self._let(str(K), BASE * GROWN)
        self.pressure = self._let("pressure", self.law.pressure(self.gap))
        self.point = x
        return Place(o, E, x, G, [a - s * b for a, b in zip(x, G, strict=True)])

    def _without_friction(self, at: Place) -> Remembered:
        """Return the energy of the gap."""
        p, energy = self.pressure, self.law.energy(self.gap)
        self.force = [p * n for n in _in_space(at.G, at.E)]
        self.status = sp.Piecewise((1, p > 0), (0, True))
        after = {f"{ANCHOR}{k}": a for k, a in enumerate(at.closest, 1)}
        return remember(energy, stored=energy, **{BEFORE: self.gap}, **after)

    def _relative(self, velocity: V, at: Sequence[sp.Expr], q: Mapping[str, V]) -> V:
        """Return a velocity less that of the shape's body at coordinates in the frame."""
        if self.shape.body is None:
            return velocity
        velocity = velocity - q["v_b"]
        for a, w in zip(at, SPINS, strict=True):
            velocity = velocity - a * q[f"{w}_b"]
        return velocity

    def _damper(self, at: Place, q: Mapping[str, V]) -> list[tuple[V, V]]:
        """Return the pressure that the rate of the gap adds, and the motion it works on."""
        speed = motion = self._relative(q["v_a"], at.x, q)
        if self.shape.moved:
            speed = speed - _carried(at.x, rate)
        n = self._three("n", _in_space(at.G, at.E))
        away = self._let("gap_rate", dot(n, speed))
        more = self.law.pressure(ahead(self.gap, away)) - self.pressure
        return [(sp.Matrix(motion), sp.Matrix(self._three("F", [more * a for a in n])))]

    def _rolling(
        self, at: Place, q: Mapping[str, V], own: Mapping[str, sp.Symbol]
    ) -> tuple[list[sp.Symbol], list[sp.Symbol]]:
        """Return of a ball its anchor now, in the frame of the shape, and the arm to the contact.

        The arm is in the ball's own frame.
        """
        axes = [q[f"{e}_a"] for e in AXES]
        y = [own[f"{OWN}{k}"] for k in (1, 2, 3)]
        material = q["r_a"] + y[0] * axes[0] + y[1] * axes[1] + y[2] * axes[2]
        anchor = self._three("material", [dot(e, material - at.origin) for e in at.E])
        n = self._three("n", _in_space(at.G, at.E))
        return anchor, self._three("arm", [-RHO * dot(e, n) for e in axes])

    def _with_friction(
        self, at: Place, q: Mapping[str, V], own: Mapping[str, sp.Symbol]
    ) -> Remembered:
        """Return the forces of pressure and friction."""
        assert self.coulomb is not None
        p, G, after = self.pressure, at.G, {BEFORE: self.gap}
        motion, material, contact = q["v_a"], at.x, list[sp.Expr](at.x)
        if self.rolls:
            material, arm = self._rolling(at, q, own)
            for a, w in zip(arm, SPINS, strict=True):
                motion = motion + a * q[f"{w}_a"]
            contact = [a - RHO * b for a, b in zip(at.x, G, strict=True)]
            after |= {f"{OWN}{k}": a for k, a in enumerate(arm, 1)}
        motion = self._relative(motion, contact, q)
        anchor = [own[f"{ANCHOR}{k}"] for k in (1, 2, 3)]
        t = self._three("stretch", [a - b for a, b in zip(material, anchor, strict=True)])
        along = self._let("stretch_n", dot(G, t))
        T = sp.Matrix(self._three("T", [a - along * b for a, b in zip(t, G, strict=True)]))
        dt = real(STEP)
        coulomb = self.coulomb
        m = self._let("coefficient", coulomb.of_patch() if self.patch else coulomb.expected(dt))
        before = sp.Matrix([own[f"{STRETCH}{k}"] for k in (1, 2, 3)])
        rub = laws.friction(T, p, m, before=before, let=self._let)
        self.rub = sp.sqrt(dot(rub.force, rub.force))
        self.margin = sp.Piecewise((1, p <= 0), (rub.margin, True))
        local = [p * a + f for a, f in zip(G, rub.force, strict=True)]
        self.force = self._three("F", _in_space(local, at.E))
        self.status = sp.Piecewise((0, p <= 0), (1, rub.sticks), (2, True))
        velocity = motion
        if self.shape.moved:
            velocity = motion - _carried(contact, lambda s: real(f"rate_{s}"))
        self._find_switches(T, m, [dot(e, velocity) for e in at.E], G)
        self.slid = _if_closed(p, own[str(SLID)] + rub.length)
        slipped = coulomb.slipped(rub, dt)
        if self.patch:
            slipped = sp.Piecewise((0, rub.sticks), (SLIPPED + rub.length, True))
            after[str(STICK_LOAD)] = _if_closed(p, sp.Piecewise((p, rub.sticks), (0, True)))
        slip = self._let("slip_after", _if_closed(p, slipped))
        after |= self._anchors(at, anchor, rub) | coulomb.course(slip, dt)
        after |= {str(SLID): self.slid, str(SLIPPED): slip}
        return remember(
            [(sp.Matrix(motion), sp.Matrix(self.force))],
            stored=self.law.energy(self.gap) + _if_closed(p, rub.stored),
            dissipated=rub.dissipated,
            **after,
        )

    def _find_switches(
        self, T: sp.Matrix, m: sp.Expr, velocity: Sequence[sp.Expr], G: Sequence[sp.Expr]
    ) -> None:
        """Take what is 0 where slip begins, and where it ends; `velocity` in the frame."""
        assert self.coulomb is not None
        p, w = self.pressure, sp.Matrix(velocity)
        slides = self.coulomb.slides() if self.patch else sp.Ne(SLIPPED, 0)
        on = T + DAMPING * STEPS * (w - dot(G, w) * sp.Matrix(G))
        on = sp.Max(sp.sqrt(dot(on, on)) - NEAR, 0)  # less is round-off, as p is where it touches
        reserve, speed = 1 - K * on / (m * p), dot(T, w) / sp.sqrt(dot(T, T))
        self.reserve = sp.Piecewise((1, sp.Or(p <= 0, slides)), (reserve, True))
        self.speed = sp.Piecewise((1, sp.Or(p <= 0, sp.Not(slides))), (speed, True))

    def _anchors(
        self, at: Place, anchor: Sequence[sp.Symbol], rub: laws.Friction
    ) -> dict[str, sp.Expr]:
        """Return anchor and stretch after the step, where the point is open those of no stretch."""
        p, after = self.pressure, {}
        near = self._three("near", [a - b for a, b in zip(at.closest, rub.stretch, strict=True)])
        s, slopes = self.distance(near)
        for k, (old, a, b) in enumerate(zip(anchor, near, slopes, strict=True)):
            new = a - s * b
            present = new if self.rolls else sp.Piecewise((old, rub.sticks), (new, True))
            after[f"{ANCHOR}{k + 1}"] = _if_closed(p, present, at.closest[k])
            after[f"{STRETCH}{k + 1}"] = _if_closed(p, rub.stretch[k])
        return after


def _if_closed(p: sp.Expr, value: sp.Expr, otherwise: sp.Expr = sp.S.Zero) -> sp.Expr:
    """Return a value where there is pressure, and another one elsewhere."""
    return sp.Piecewise((otherwise, p <= 0), (value, True))


def _carried(x: Sequence[sp.Expr], rate_of: Callable[[sp.Symbol], sp.Expr]) -> sp.Matrix:
    """Return the velocity of a point with coordinates in the frame of a shape on the ground."""
    velocity = sp.Matrix([rate_of(s) for s in ORIGIN])
    for a, axis in zip(x, FRAME_AXES, strict=True):
        velocity = velocity + a * sp.Matrix([rate_of(s) for s in axis])
    return velocity


def _in_space(local: Sequence[sp.Expr], E: Sequence[Sequence[sp.Expr]]) -> list[sp.Expr]:
    """Return components along the axes of space of a vector along axes E."""
    return [sp.Add(*(c * e[a] for c, e in zip(local, E, strict=True))) for a in range(3)]
