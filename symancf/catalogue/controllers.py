# SPDX-License-Identifier: BSD-3-Clause
"""Controllers: a law from measured quantities to forces on actuated motions, with own states.

The measured quantities, the law and the actuated motions are three functions, so that what is
measured need not be where the actuator acts. The controller is a `VirtualWork`: its states are
unknowns of first order in time, its tangent is derived with everything else.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import rate, symbolic

from ..arrays import Array
from ..assembly.configuration import Configuration, in_system
from ..errors import KinematicsError, ParameterError
from ..kinematics.symbols import entries
from ..terms.quantities import RATES, E, Law, PlaceValues, S
from ..terms.work import VirtualWork, state_names
from ..values.arguments import name_or
from ..values.functions import REQUIRED, taking
from ..values.parameter import difference, label
from ..values.reader import as_expression, call_symbolic, read, scalar, unknown_quantity

if TYPE_CHECKING:
    from ..places.ends import End
    from ..values.reader import Signature


class Controller(VirtualWork):
    """A control law between measured quantities and actuated motions.

    Parameters
    ----------
    measure : function of quantities of the ends (as for `VirtualWork`) that returns what is
        measured: an expression, called ``y``, or ``{name: expression}``.
    actuate : function of quantities and rates that returns the motion that the actuator drives,
        linear in the rates: an expression, its force being called ``force``, or
        ``{name: motion}``. A motor between two links drives the difference of their spins.
    law : asks for measured quantities by name, for their rates (``y_rate``, derived by the
        compiler; parameters that are functions of time are taken to change, by a difference
        quotient),
        for ``t``, own states by name and (keyword-only) parameters. It returns the force, or
        ``{"force": ..., "state": rate of the state}``.
    ends : one to three places, of `measure` and of `actuate`.
    states : names of the law's own states (first order in time, zero at the start).
    parameters : values of the keyword-only arguments of all three functions.

    Raises
    ------
    KinematicsError : a function asks for what is not offered or measured; the law lacks a force;
        see `VirtualWork`.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    >>> def height(r_a):
    ...     return r_a[2]
    ...
    >>> def lift(v_a):
    ...     return v_a[2]
    ...
    >>> def spring(y, *, k):
    ...     return -k * y
    ...
    >>> hold = sa.Controller(height, lift, spring, ball.at((0.0, 0.0, 0.0)), k=100.0)
    """

    kind = "controller"

    def __init__(
        self,
        measure: Law,
        actuate: Law,
        law: Law,
        *ends: End,
        name: str | None = None,
        states: Sequence[str] = (),
        **parameters: Any,
    ) -> None:
        self.name = name_or(name, str(getattr(law, "__name__", self.kind)))
        self.measure, self.actuate, self.control = measure, actuate, law
        states = state_names(f"controller {self.name!r}", states)
        super().__init__(
            self._law_of_states(states), *ends, name=self.name, states=states, **parameters
        )

    def _law_of_states(self, states: Sequence[str]) -> Law:
        """Return the three functions as one: ``{motion: force}`` of everything they ask for."""
        functions = {"measure": self.measure, "actuate": self.actuate, "law": self.control}
        parts = {part: read(f, self._what(part)) for part, f in functions.items()}
        law = parts["law"]
        names = [n for part in ("measure", "actuate") for n in parts[part].quantities]
        names += [n for n in law.quantities if n in ("t", *states)]
        keywords = {
            p: part.defaults.get(p, REQUIRED) for part in parts.values() for p in part.parameters
        }

        def whole(*quantities: E, **values: S) -> list[tuple[E, E]]:
            values_by_name = dict(zip(dict.fromkeys(names), quantities, strict=True)) | values
            return self._pairs(parts, values_by_name, states)

        whole.__name__ = str(getattr(self.control, "__name__", self.kind))
        taking(whole, dict.fromkeys(names), keywords)
        return whole

    def _what(self, part: str) -> str:
        """Name one of the three functions in messages."""
        return f"{part} of controller {self.name!r}"

    def _apply(
        self,
        part: str,
        function: Law,
        arguments: Signature,
        quantities_by_name: Mapping[str, E],
        alone: str,
    ) -> dict[str, E]:
        """Return what one of the three functions makes of what it asks for, by names.

        A single expression has the name `alone`.
        """
        quantities = [quantities_by_name[n] for n in arguments.quantities]
        parameters = {p: quantities_by_name[p] for p in arguments.parameters}
        what = self._what(part)
        result = call_symbolic(what, function, quantities, parameters)
        known_symbols = sp.Tuple(*map(symbolic, quantities_by_name.values())).free_symbols
        several = isinstance(result, Mapping)
        answer: dict[str, E] = {}
        for name, value in (result if several else {alone: result}).items():
            about = name if several else arguments.name
            answer[name] = as_expression(what, about, value)
            for e in entries(answer[name]):
                scalar(what, about, e, known_symbols)
        return answer

    def _pairs(
        self, parts: Mapping[str, Signature], quantities: Mapping[str, E], states: Sequence[str]
    ) -> list[tuple[E, E]]:
        measured = self._apply("measure", self.measure, parts["measure"], quantities, "y")
        motions = self._apply("actuate", self.actuate, parts["actuate"], quantities, "force")
        self.measured_expressions = measured
        offered = dict(quantities)
        for name, y in measured.items():
            offered |= {name: y, f"{name}_rate": rate(y)}
        self._require_offered(parts["law"], offered, _velocities(quantities), states)
        answer = self._apply("law", self.control, parts["law"], offered, "force")
        self._require_motions(answer, tuple(motions), states)
        return [(motions.get(n, n), value) for n, value in answer.items()]

    def _require_offered(
        self,
        arguments: Signature,
        offered: Mapping[str, E],
        velocities: set[sp.Basic],
        states: Sequence[str],
    ) -> None:
        """Refuse a law that asks for what is not known: rates of what has velocities, others."""
        for name, y in self.measured_expressions.items():
            if f"{name}_rate" in arguments.quantities and symbolic(y).free_symbols & velocities:
                raise KinematicsError(
                    f"controller {self.name!r}: its law asks for {name}_rate, but {name} depends "
                    "on velocities, and accelerations are not offered: measure a position, or "
                    "leave the rate out (kd=0 of a PID)",
                    asked=f"{name}_rate",
                    given=name,
                )
        measured = [x for n in self.measured_expressions for x in (n, f"{n}_rate")]
        for name in arguments.quantities:
            if name not in offered:
                possible = (*measured, "t", *states)
                raise unknown_quantity(self._what("law"), name, possible, "the controller")

    def _require_motions(
        self, answer: Mapping[str, E], motions: Sequence[str], states: Sequence[str]
    ) -> None:
        """Refuse a law that returns other than the forces of some motions, and rates of states."""
        names = *motions, *states
        foreign = [n for n in answer if n not in names]
        lacking = [n for n in motions if n not in answer]
        if foreign or lacking:
            text = f"returns {foreign[0]!r}" if foreign else f"returns no {lacking[0]!r}"
            raise KinematicsError(
                f"controller {self.name!r}: its law {text}; it must return {', '.join(names)}",
                asked=(foreign or lacking)[0],
                given=tuple(answer),
                possible=names,
            )

    @in_system
    def measured(self, system: Configuration) -> dict[str, Array]:
        """Return the measured quantities at the present state, (places,) each (collective)."""
        values = self._values(system, list(self.measured_expressions.values()))
        return dict(zip(self.measured_expressions, values.T, strict=True))


class PID(Controller):
    """Proportional, integral and derivative control of a measured quantity y.

    With the error e = target(t) - y the force on the actuated motion is
    kp e + ki s + kd de/dt, and the own state s follows ds/dt = e. In statics e = 0, and ki must not
    be 0: nothing else determines s; for kp alone take a `Controller`.

    Parameters
    ----------
    measure, actuate, ends : as for `Controller`; one measured quantity and one motion.
    target : number, `Parameter` or function of time.
    kp, ki, kd : gains, likewise.
    target_rate : d target/dt; default: the difference quotient of a function of time.
    angle : the error is an angle; it is taken between -pi and pi.
    parameters : of `measure` and `actuate`.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    >>> def height(r_a):
    ...     return r_a[2]
    ...
    >>> def lift(v_a):
    ...     return v_a[2]
    ...
    >>> hold = sa.PID(height, lift, ball.at((0.0, 0.0, 0.0)), target=0.1, kp=100.0, kd=5.0)
    """

    def __init__(
        self,
        measure: Law,
        actuate: Law,
        *ends: End,
        target: Any = 0.0,
        kp: PlaceValues = 0.0,
        ki: PlaceValues = 0.0,
        kd: Any = 0.0,
        target_rate: PlaceValues | None = None,
        angle: bool = False,
        name: str = "PID",
        **parameters: Any,
    ) -> None:
        if isinstance(target, list | tuple | np.ndarray):
            raise ParameterError(
                f"{name}: its target is {label(target)}: give a number, a Parameter or a function "
                "of time",
                asked="target",
                given=target,
            )
        values = {"target": target, "kp": kp, "ki": ki}

        def pi(y: E, integral: S, *, target: S, kp: S, ki: S) -> dict[str, E]:
            e = target - y
            if angle:
                e = sp.atan2(sp.sin(e), sp.cos(e))
            return {"force": kp * e + ki * integral, "integral": e}

        def pid(
            y: E, y_rate: E, integral: S, *, target: S, target_rate: S, kp: S, ki: S, kd: S
        ) -> dict[str, E]:
            control = pi(y, integral, target=target, kp=kp, ki=ki)
            return control | {"force": control["force"] + kd * (target_rate - y_rate)}

        law: Law = pi
        if not (isinstance(kd, numbers.Real) and kd == 0.0):  # may become one that acts
            of = f"the target of {name!r}"
            law = pid
            values |= {
                "kd": kd,
                "target_rate": difference(of, target) if target_rate is None else target_rate,
            }
        super().__init__(
            measure,
            actuate,
            law,
            *ends,
            name=name,
            states=("integral",),
            **(parameters | values),
        )


def _velocities(quantities: Mapping[str, E]) -> set[sp.Symbol]:
    """Return the symbols of the rates among arguments by name."""
    rates = [x for n, x in quantities.items() if n.rpartition("_")[0] in RATES]
    return {s for x in rates for s in symbolic(x).free_symbols}
