# SPDX-License-Identifier: BSD-3-Clause
"""The law of a point against a rigid shape, in the words of terms; the formulas are in `rigid`."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import sympy as sp

from symancf_codegen.functions import rate, symbolic

from ..kinematics.memory import STEP, remember
from ..kinematics.quantity import dot, real
from ..terms.quantities import asking, symbols_of
from . import laws
from .laws import DAMPING, NEAR, SLID, SLIPPED, SPAN, K, ahead
from .steps import GROWN, OVERLAP, RELEASE

if TYPE_CHECKING:
    from ..kinematics.memory import Remembered
    from ..terms.quantities import V
    from ..terms.substitution import Let
    from .laws import Coulomb, Normal
    from .shapes import Shape

AXES, SPINS = ("e1", "e2", "e3"), ("w1", "w2", "w3")
RHO, BASE = real("rho"), real("stiffness")
FRAME = [real(f"origin{a}") for a in (1, 2, 3)]
FRAME += [real(f"axis{k}{a}") for k in (1, 2, 3) for a in (1, 2, 3)]
BEFORE, ANCHOR, OWN, STRETCH = "gap_before", "anchor", "own_anchor", "stretch_before"

Part: TypeAlias = Literal["energy", "damper", "friction"]

_known: dict[tuple[Hashable, ...], tuple[sp.Expr, list[sp.Expr]]] = {}  # by kind and coordinates


class Touch:
    """The law of a point against a shape, as a function of quantities that terms can read.

    Parameters
    ----------
    part : ``"energy"`` of the gap, or forces with ``"friction"``; and the ``"damper"`` of motions
        to either.
    shape, law, coulomb : the target and the laws.
    rolls : the point is the centre of a rigid ball of radius rho: it has two anchors.

    Attributes
    ----------
    lets : the named stages, after it was called.
    gap, pressure, force, point, status, rub, slid : at the place, expressions of `lets`: `force`
        (3,) per area on the point, `point` is x, in the frame of the shape, `status` 0 open, 1
        stick (or without friction), 2 slip, `rub` the size of the friction per area, `slid` the
        path since it last began to touch.
    """

    def __init__(
        self,
        part: Part,
        shape: Shape,
        law: Normal,
        coulomb: Coulomb | None = None,
        rolls: bool = False,
    ) -> None:
        self.part = part
        self.__name__ = f"contact_{part}_{shape.kind}{'_moved' if shape.moved else ''}"
        self.shape, self.law, self.coulomb = shape, law, coulomb
        self.rolls = rolls and part == "friction"
        self.lets: list[Let] = []
        own = ("r", *AXES) if self.rolls else ("r",)
        names = [f"{q}_a" for q in own]
        names += [f"{q}_b" for q in ("r", *AXES)] if shape.body is not None else []
        if part != "energy":
            names += ["v_a", *(f"{w}_a" for w in SPINS if self.rolls)]
            names += [f"{q}_b" for q in ("v", *SPINS)] if shape.body is not None else []
        self._names = names
        self.memory = self._first()
        keyword = inspect.Parameter.KEYWORD_ONLY
        self.keywords = self._asked()
        asking(self, names, [inspect.Parameter(k, keyword) for k in self.keywords])

    def _asked(self) -> list[str]:
        """Return the names of parameters and of what is remembered."""
        own = [] if self.coulomb is None else list(self.coulomb.parameters)
        known = [BASE, GROWN, RHO, NEAR, OVERLAP, RELEASE]
        known += {"energy": [], "friction": [DAMPING], "damper": [DAMPING, SPAN]}[self.part]
        known += FRAME if self.shape.body is None else []
        shape = [f"shape_{name}" for name in self.shape.parameters]
        step = [STEP] if self.coulomb is not None and self.coulomb.speeds else []
        names = [*map(str, known), *shape, *self.law.parameters, *own, *self.memory, *step]
        return list(dict.fromkeys(names))

    # ---- geometry -------------------------------------------------------------------------------
    def distance(self, x: Sequence[sp.Expr]) -> tuple[sp.Expr, list[sp.Expr]]:
        """Return the signed distance and its gradient at coordinates in the frame.

        SymPy takes a tenth of a second for it, once for all shapes of a kind.
        """
        shape, form = self.shape, getattr(self.shape, "function", type(self.shape))
        key = form, *shape.parameters, *x
        if key not in _known:
            names = {real(name): real(f"shape_{name}") for name in shape.parameters}
            slopes = [s.xreplace(names) for s in shape.slopes(x)]
            _known[key] = shape.distance(x).xreplace(names), slopes
        return _known[key]

    def _first(self) -> dict[str, sp.Expr]:
        """Return what a point remembers before the first step, of the reference configuration."""
        X = symbols_of((0, "value"), "reference")
        o, E = FRAME[:3], [FRAME[3 + 3 * k : 6 + 3 * k] for k in range(3)]
        if self.shape.body is not None:
            o = symbols_of((1, "value"), "reference")
            E = [symbols_of((1, f"axis{k}"), "reference") for k in range(3)]
        d = [a - b for a, b in zip(X, o, strict=True)]
        x = [dot(e, d) for e in E]
        s, G = self.distance(x)
        if self.part == "damper":
            return {}
        found: dict[str, sp.Expr] = {BEFORE: s - RHO + OVERLAP}
        found |= {f"{ANCHOR}{k}": a - s * b for k, a, b in zip((1, 2, 3), x, G, strict=True)}
        if self.coulomb is not None:
            stretches = (f"{STRETCH}{k}" for k in (1, 2, 3))
            found |= dict.fromkeys((str(SLIPPED), str(SLID), *stretches), sp.S.Zero)
        if self.rolls:
            n = _in_space(G, E)
            for k in range(3):
                own = symbols_of((0, f"axis{k}"), "reference")
                found[f"{OWN}{k + 1}"] = -RHO * dot(own, n)
        return found

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
        o, E = sp.Matrix(FRAME[:3]), [sp.Matrix(FRAME[3 + 3 * k : 6 + 3 * k]) for k in range(3)]
        if self.shape.body is not None:
            o, E = q["r_b"], [q[f"{e}_b"] for e in AXES]
        x = self._three("x", [dot(e, q["r_a"] - o) for e in E])
        s, slopes = self.distance(x)
        s, G = self._let("distance", s), self._three("slope", slopes)
        touched = [a - s * b for a, b in zip(x, G, strict=True)]
        g = self._let("gap", s - RHO - NEAR + RELEASE * OVERLAP)
        self._let(str(K), BASE * GROWN)
        still = self.law.pressure(g)
        self.slid: sp.Expr = sp.S.Zero
        self.rub: sp.Expr = sp.S.Zero
        self.gap, self.point, stored = g, x, self.law.energy(g)
        after: dict[str, sp.Expr] = {BEFORE: g}
        p = self.pressure = self._let("pressure", still)
        if self.part == "energy":
            self.force = [p * n for n in _in_space(G, E)]
            self.status = sp.Piecewise((1, p > 0), (0, True))
            after |= {f"{ANCHOR}{k}": a for k, a in enumerate(touched, 1)}
            return remember(stored, stored=stored, **after)
        at, motion = x, q["v_a"]
        stretched: Sequence[sp.Expr] = x
        if self.rolls:
            axes = [q[f"{e}_a"] for e in AXES]
            y = [own[f"{OWN}{k}"] for k in (1, 2, 3)]
            material = q["r_a"] + y[0] * axes[0] + y[1] * axes[1] + y[2] * axes[2]
            stretched = self._three("material", [dot(e, material - o) for e in E])
            n = self._three("n", _in_space(G, E))
            arm = self._three("arm", [-RHO * dot(e, n) for e in axes])
            for a, w in zip(arm, SPINS, strict=True):
                motion = motion + a * q[f"{w}_a"]
            at = [a - RHO * b for a, b in zip(x, G, strict=True)]
            after |= {f"{OWN}{k}": a for k, a in enumerate(arm, 1)}
        if self.shape.body is not None:
            motion = motion - q["v_b"]
            for a, w in zip(at, SPINS, strict=True):
                motion = motion - a * q[f"{w}_b"]
        if self.part == "damper":
            speed = motion
            if self.shape.moved:
                speed = speed - sp.Matrix([rate(s) for s in FRAME[:3]])
                for a, k in zip(at, (3, 6, 9), strict=True):
                    speed = speed - a * sp.Matrix([rate(s) for s in FRAME[k : k + 3]])
            n = self._three("n", _in_space(G, E))
            away = self._let("gap_rate", dot(n, speed))
            more = self.law.pressure(ahead(g, away)) - p
            return [(sp.Matrix(motion), sp.Matrix(self._three("F", [more * a for a in n])))]
        assert self.coulomb is not None
        anchor = [own[f"{ANCHOR}{k}"] for k in (1, 2, 3)]
        t = self._three("stretch", [a - b for a, b in zip(stretched, anchor, strict=True)])
        along = self._let("stretch_n", dot(G, t))
        T = sp.Matrix(self._three("T", [a - along * b for a, b in zip(t, G, strict=True)]))
        m = self._let("coefficient", self.coulomb.coefficient)
        before = sp.Matrix([own[f"{STRETCH}{k}"] for k in (1, 2, 3)])
        rub = laws.friction(T, p, m, before=before, let=self._let)
        self.rub = sp.sqrt(dot(rub.force, rub.force))
        local = [p * a + f for a, f in zip(G, rub.force, strict=True)]
        F = self.force = self._three("F", _in_space(local, E))
        self.status = sp.Piecewise((0, p <= 0), (1, rub.sticks), (2, True))
        near = self._three("near", [a - b for a, b in zip(touched, rub.stretch, strict=True)])
        s, slopes = self.distance(near)
        for k, (old, a, b) in enumerate(zip(anchor, near, slopes, strict=True), 1):
            new = a - s * b
            kept = new if self.rolls else sp.Piecewise((old, rub.sticks), (new, True))
            after[f"{ANCHOR}{k}"] = sp.Piecewise((touched[k - 1], p <= 0), (kept, True))
            after[f"{STRETCH}{k}"] = sp.Piecewise((0, p <= 0), (rub.stretch[k - 1], True))
        slid = self.coulomb.slipped(rub, real(STEP))
        self.slid = sp.Piecewise((0, p <= 0), (own[str(SLID)] + rub.length, True))
        after[str(SLID)] = self.slid
        after[str(SLIPPED)] = sp.Piecewise((0, p <= 0), (slid, True))
        stored += sp.Piecewise((0, p <= 0), (rub.stored, True))
        pairs = [(sp.Matrix(motion), sp.Matrix(F))]
        return remember(pairs, stored=stored, dissipated=rub.dissipated, **after)


def _in_space(local: Sequence[sp.Expr], E: Sequence[Sequence[sp.Expr]]) -> list[sp.Expr]:
    """Return components along the axes of space of a vector along axes E."""
    return [sp.Add(*(c * e[a] for c, e in zip(local, E, strict=True))) for a in range(3)]
