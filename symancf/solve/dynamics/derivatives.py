# SPDX-License-Identifier: BSD-3-Clause
r"""Time derivatives of constraints along a motion, derived from their laws.

Of the energy :math:`\lambda \cdot \Phi(g, p, t)` of a constraint, with jets g, their rates g'
and parameters p(t), the compiler makes

.. math::
    D\Phi = \Phi_g g' + \Phi_p p' + \Phi_t, \qquad
    D D\Phi = (\Phi_g g')_g g' + 2 (\Phi_p p' + \Phi_t)_g g' + \ldots \quad (g'' = 0),

so that :math:`\gamma = -D D\Phi` is the right-hand side of :math:`\Phi_q a = \gamma`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from symancf_codegen.functions import rate

from ...arrays import Array
from ...assembly.assembler import Assembler, Derivatives
from ...assembly.form import Form, Jets
from ...bodies.incompressible import volume_conditions
from ...errors import ConstraintError
from ...runtime import jit
from ...runtime.collective import together
from ...runtime.jit import declare
from ...values.parameter import Parameter, Value, depends_on_time, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from symancf_codegen.declare import PointLaw

    from ...assembly.discrete import DiscreteSystem


WEIGHTS = tuple(sp.Symbol(f"weight_of_{name}", real=True) for name in ("phi", "rate", "bend"))

# central differences of order 8 with offsets 0, 1, 2, 3, 4
FIRST = (0.0, 4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
SECOND = (-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0)


@dataclass(frozen=True)
class MovingLaw:
    """The law of w0 Phi + w1 D Phi + w2 D D Phi, conjugate to the multipliers.

    Attributes
    ----------
    law : its unknowns are those of the constraint, followed by the rates of the jets.
    constant : whether d Phi/d g does not change during a motion.
    """

    law: PointLaw
    constant: bool


@lru_cache(maxsize=64)
def moving_law(law: PointLaw, multipliers: int, functions: tuple[str, ...]) -> MovingLaw:
    """Derive a constraint along a motion.

    Parameters
    ----------
    law : point law of lambda . Phi, its last unknowns the multipliers.
    functions : names of the parameters that are functions of time; their derivatives become
        the parameters ``<name>_rate`` and ``<name>_bend``.
    """
    if law.inner or law.energy is None:
        raise ConstraintError(f"{law.words} has no time derivatives")
    jets, lam = law.unknowns[:-multipliers], law.unknowns[-multipliers:]
    rates = {x: sp.Symbol(f"{x.name}_rate", real=True) for x in jets}
    rate_of: dict[sp.Symbol, sp.Expr] = dict(rates)
    added = []
    for symbol in (p.symbol for p in law.parameters):
        if symbol.name == "t":
            rate_of[symbol] = sp.S.One
        elif symbol.name in functions:
            first, second = (sp.Symbol(f"{symbol.name}_{k}", real=True) for k in ("rate", "bend"))
            rate_of |= {symbol: first, first: second}
            added += [first, second]
    lets, bends, work = [*law.lets], [], {}
    for k, symbol in enumerate(lam, 1):
        row = sp.diff(law.energy, symbol)
        speed, bend = (sp.Symbol(f"{name}_of_row{k}", real=True) for name in ("rate", "bend"))
        lets += [(speed, rate(row)), (bend, rate(speed))]
        bends.append(bend)
        work[symbol] = sp.Add(*(w * e for w, e in zip(WEIGHTS, (row, speed, bend), strict=True)))
    moved = declare.PointLaw(
        name=f"{law.name}_motion",
        unknowns=(*law.unknowns, *rates.values()),
        geometry=law.geometry,
        lets=tuple(lets),
        work=work,
        rate_of=rate_of,
        parameters=(
            *law.parameters,
            *(declare.KernelParameter(s, "cell") for s in added),
            *(declare.KernelParameter(s) for s in WEIGHTS),
        ),
        title=f"w0 Phi + w1 Phi' + w2 Phi'' (without accelerations); {law.title}",
    )
    # Phi'' is (Phi_g g')_g g' + 2 (Phi_g)' g' + ...: without g' where Phi_g is constant
    names = jit.Values(bends, (*moved.geometry, *moved.lets), rate_of).names
    return MovingLaw(moved, not {s.name for s in rates.values()} & {*names})


class ConstraintKinematics:
    """The constraints of a system and their derivatives along its motion.

    Attributes
    ----------
    constant : whether the gradients of all constraints are constant.
    gradients : assembler of the constraints alone; `course`: of these along the motion.
    timed : whether functions of time, or parameters, occur in them.
    window : time over which functions of time are differentiated by differences.
    """

    def __init__(self, system: DiscreteSystem) -> None:
        self.system, self.window = system, 1e-3
        numbers = [k for k, p in enumerate(system.forms) if p.role == "constraint"]
        forms = [system.forms[k] for k in numbers]
        self._volumes: dict[int, Form] = {}  # along the motion, by the condition's id
        for body in system.bodies:
            own = system.binding(body).pressures
            if own is not None and own.pressure.incompressible:
                names = [p.name if p.role == "strain" else None for p in system.forms]
                numbers.append(names.index(own.name))  # entities as those of the strain energy
                first, second = volume_conditions(body, own, system, WEIGHTS)
                forms.append(first)
                self._volumes[id(first)] = second
        self.any = bool(forms)
        self.timed = any(
            "t" in form.kernel.uniform
            or any(name != "scale" and depends_on_time(v) for name, v in form.uniform.items())
            for form in forms
        )
        self.gradients = system.assembler.part(forms)
        if self.any:
            self.gradients.attach(system.matrix, numbers)
        self._f: Array = np.zeros(system.numbering.coordinates)
        self.derive()

    def derive(self) -> None:
        """Derive the constraints, on the entities that they have now (collective)."""
        derived = [self._moving(form) for form in self.gradients.forms]
        self.constant = all(constant for _, constant in derived)
        system = self.system
        forms = [form for form, _ in derived]
        self.course = Assembler(forms, system.numbering, system.reference, system.comm)
        self.refresh()

    def _moving(self, form: Form) -> tuple[Form, bool]:
        """Return the form that evaluates a constraint along the motion."""
        if id(form) in self._volumes:
            return self._volumes[id(form)], False
        if form.law is None or form.cell_at is not None or not isinstance(form.entities, Jets):
            raise ConstraintError(
                f"the constraint {form.name!r} has no law that can be derived by time",
                names=[form.name],
                asked="law",
            )
        if form.timed:
            raise ConstraintError(
                f"the constraint {form.name!r} is at a place that is a function of time, and how "
                "fast that moves is not known: in dynamics only loads may travel, and constraints "
                "need fixed places",
                names=[form.name],
                asked="place",
            )
        functions = tuple(
            name
            for name, value in form.uniform.items()
            if name != "scale" and depends_on_time(value) and not isinstance(value, Parameter)
        )
        moving = moving_law(form.law, form.multipliers, functions)
        kernel = jit.points(moving.law, self.system.comm)
        uniform = dict(form.uniform)
        for name in functions:
            what = f"{name} of {form.name!r}"
            uniform[f"{name}_rate"] = self._difference(what, form.uniform[name], FIRST, 1)
            uniform[f"{name}_bend"] = self._difference(what, form.uniform[name], SECOND, 2)
        uniform |= {symbol.name: 0.0 for symbol in WEIGHTS}
        jets, count = form.entities, len(form.law.unknowns)
        own = jets.jet < count - form.multipliers
        entities = Jets(
            entity=np.concatenate([jets.entity, jets.entity[own]]),
            jet=np.concatenate([jets.jet, jets.jet[own] + np.int32(count)]),
            coordinate=np.concatenate([jets.coordinate, ~jets.coordinate[own]]),
            vertex=np.concatenate([jets.vertex, jets.vertex[own]]),
            value=np.concatenate([jets.value, jets.value[own]]),
        )
        rows = dict(zip(form.kernel.cell, form.cell.T, strict=True))
        cell = [rows.get(name, np.zeros(form.size)) for name in kernel.cell]
        form_in_motion = Form(
            name=form.name,
            kernel=kernel,
            role="constraint",
            uniform=uniform,
            cell=np.stack(cell, axis=1) if cell else np.zeros((form.size, 0)),
            owned=form.owned,
            vertices=form.vertices,
            vertex_start=form.vertex_start,
            entities=entities,
        )
        return form_in_motion, moving.constant

    def _difference(
        self, what: str, value: Value, weights: Sequence[float], order: int
    ) -> Callable[[float], float]:
        """Return a derivative of a function of time by central differences."""

        def derivative(t: float) -> float:
            d = self.window / 4.0
            total = weights[0] * evaluate(what, value, t) if weights[0] else 0.0
            sign = 1.0 if order == 2 else -1.0
            for k, w in enumerate(weights[1:], start=1):
                after, before = (evaluate(what, value, t + s * k * d) for s in (1.0, -1.0))
                total += w * (after + sign * before)
            return total / d**order

        return derivative

    def refresh(self) -> None:
        """Take the present values of all parameters (collective)."""
        with together(self.system.comm):
            self.course.update(self.system.time)
            self.gradients.update(self.system.time)

    def _update(self, assembler: Assembler) -> None:
        """Take the present values of parameters where they may have changed (collective)."""
        if self.timed:
            with together(self.system.comm):
                assembler.update(self.system.time)

    def gradient(self, state: Array, scratch: Array) -> None:
        """Write the tangent of lambda . Phi into the system's matrix (collective)."""
        self._update(self.gradients)
        self.gradients.tangent(state, scratch, self.system.matrix)

    def product(self, state: Array, direction: Array) -> Array:
        """Return Phi_q direction at the rows of multipliers, else anything (collective)."""
        self._update(self.gradients)
        self.gradients.product(state, direction, self._f)
        return self._f

    def along(
        self, state: Array, rate: Array, phi: float = 0.0, speed: float = 0.0, bend: float = 0.0
    ) -> Array:
        """Return phi Phi + speed D Phi + bend D D Phi at the rows of multipliers (collective).

        A local vector, in the units of the constraints times `system.stiffness`; rows of owned
        coordinates are complete, all others zero.
        """
        if not self.any:
            self._f.fill(0.0)
            return self._f
        self._weigh(rate, phi, speed, bend)
        self.course.residual(state, self._f)
        return self._f

    def _weigh(self, rate: Array, phi: float, speed: float, bend: float) -> None:
        """Let `course` be the sum of `along`."""
        self.course.follow(rate, None)
        self._update(self.course)
        for symbol, weight in zip(WEIGHTS, (phi, speed, bend), strict=True):
            self.course.values[self.course.places(symbol.name)] = weight
        self.course.write()

    # ---- derivatives of sums of constraints, for gradients --------------------------------------
    def pull_along(
        self, state: Array, rate: Array, weights: Array, speed: float = 0.0, bend: float = 0.0
    ) -> tuple[Derivatives, Array]:
        """Return derivatives of weights . (speed D Phi + bend D D Phi) (collective).

        By what `course` has, and by rates (local vector); `weights` at the rows of multipliers.
        """
        self._weigh(rate, 0.0, speed, bend)
        found = self.course.pull(state, weights, parameters=self.course.changes)
        with self.course.following(rate, np.ones_like(rate)):
            both = self.course.pull(state, weights, parameters=False).coordinates
        return found, both - found.coordinates

    def pull_gradient(self, state: Array, weights: Array, direction: Array) -> Derivatives:
        """Return derivatives of weights . Phi_q direction by what `gradients` has (collective).

        `weights` at the rows of multipliers, where `state` does not count.
        """
        self._update(self.gradients)
        multipliers = self.system.numbering.those("multiplier")
        at = np.where(multipliers, weights, state)
        v = np.where(multipliers, 0.0, direction)
        return self.gradients.pull(at, v, parameters=self.gradients.changes)
