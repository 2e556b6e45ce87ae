# SPDX-License-Identifier: BSD-3-Clause
"""Controllers: a law from measured quantities to forces on actuated motions, with own states.

The measured quantities, the law and the actuated motions are three functions, so that what is
measured need not be where the actuator acts. The controller is a `VirtualWork`: its states are
unknowns of first order in time, its tangent is derived with everything else.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import rate, symbolic

from ..arrays import Array
from ..errors import ConstraintError, ParameterError
from ..terms.quantities import RATES, E, Given, Law, S, asking
from ..terms.work import VirtualWork, state_names
from ..values.arguments import function, named
from ..values.parameter import difference, label

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from ..places.ends import End

KEYWORD = inspect.Parameter.KEYWORD_ONLY


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
    ConstraintError : as `VirtualWork`; the law lacks a force or asks for what is not measured.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), at=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
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
        self.name = named(name, str(getattr(law, "__name__", self.kind)))
        self.measure, self.actuate, self.control = (
            function(f"{part} of controller {self.name!r}", given)
            for part, given in (("measure", measure), ("actuate", actuate), ("the law", law))
        )
        states = state_names(f"controller {self.name!r}", states)
        super().__init__(self._whole(states), *ends, name=self.name, states=states, **parameters)

    def _whole(self, states: Sequence[str]) -> Law:
        """Return the three functions as one: ``{motion: force}`` of everything they ask for."""
        parts = [inspect.signature(f).parameters for f in (self.measure, self.actuate)]
        law = inspect.signature(self.control).parameters
        names = [n for p in parts for n, a in p.items() if a.kind is not KEYWORD]
        names += [n for n, a in law.items() if a.kind is not KEYWORD and n in ("t", *states)]
        keywords = {n: a for p in (*parts, law) for n, a in p.items() if a.kind is KEYWORD}

        def whole(*given: E, **values: S) -> list[tuple[E, E]]:
            known = dict(zip(dict.fromkeys(names), given, strict=True)) | values
            return self._pairs(known, states)

        whole.__name__ = str(getattr(self.control, "__name__", self.kind))
        return asking(whole, dict.fromkeys(names), keywords.values())

    def _pairs(self, known: Mapping[str, E], states: Sequence[str]) -> list[tuple[E, E]]:
        measured = _named(_apply(self.measure, known), "y")
        motions = _named(_apply(self.actuate, known), "force")
        self.measured_expressions = measured
        offered = dict(known)
        for name, y in measured.items():
            offered |= {name: y, f"{name}_rate": rate(y)}
        self._require_offered(offered, _velocities(known), states)
        answer = _named(_apply(self.control, offered), "force")
        self._require_motions(answer, tuple(motions), states)
        return [(motions.get(n, n), value) for n, value in answer.items()]

    def _require_offered(
        self, offered: Mapping[str, E], velocities: set[sp.Basic], states: Sequence[str]
    ) -> None:
        """Refuse a law that asks for what is not known: rates of what has velocities, others."""
        wanted = inspect.signature(self.control).parameters
        for name, y in self.measured_expressions.items():
            if f"{name}_rate" in wanted and symbolic(y).free_symbols & velocities:
                raise ConstraintError(
                    f"controller {self.name!r}: its law asks for {name}_rate, but {name} depends "
                    "on velocities, and accelerations are not offered: measure a position, or "
                    "leave the rate out (kd=0 of a PID)",
                    asked=f"{name}_rate",
                    given=name,
                )
        missing = [n for n, a in wanted.items() if n not in offered and a.kind is not KEYWORD]
        if missing:
            measured = [x for n in self.measured_expressions for x in (n, f"{n}_rate")]
            possible = (*measured, "t", *states)
            raise ConstraintError(
                f"controller {self.name!r}: its law asks for {missing[0]!r}; offered are "
                f"{', '.join(possible)}",
                asked=missing[0],
                possible=possible,
            )

    def _require_motions(
        self, answer: Mapping[str, E], motions: Sequence[str], states: Sequence[str]
    ) -> None:
        """Refuse a law that returns other than the forces of some motions, and rates of states."""
        names = *motions, *states
        foreign = [n for n in answer if n not in names]
        lacking = [n for n in motions if n not in answer]
        if foreign or lacking:
            said = f"returns {foreign[0]!r}" if foreign else f"returns no {lacking[0]!r}"
            raise ConstraintError(
                f"controller {self.name!r}: its law {said}; it must return {', '.join(names)}",
                asked=(foreign or lacking)[0],
                given=tuple(answer),
                possible=names,
            )

    def measured(self, system: Configuration) -> dict[str, Array]:
        """Return the measured quantities at the present state, (places,) each (collective)."""
        values = self._values(system, list(self.measured_expressions.values()))
        return dict(zip(self.measured_expressions, values.T, strict=True))


class PID(Controller):
    """Proportional, integral and derivative control of a measured quantity y.

    With the error e = target(t) - y the force on the actuated motion is
    kp e + ki s + kd de/dt, and the own state s follows ds/dt = e.

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
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), at=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
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
        kp: Given = 0.0,
        ki: Given = 0.0,
        kd: Any = 0.0,
        target_rate: Given | None = None,
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
        given = {"target": target, "kp": kp, "ki": ki}

        def pi(y: E, integral: S, *, target: S, kp: S, ki: S) -> dict[str, E]:
            e = target - y
            if angle:
                e = sp.atan2(sp.sin(e), sp.cos(e))
            return {"force": kp * e + ki * integral, "integral": e}

        def pid(
            y: E, y_rate: E, integral: S, *, target: S, target_rate: S, kp: S, ki: S, kd: S
        ) -> dict[str, E]:
            found = pi(y, integral, target=target, kp=kp, ki=ki)
            return found | {"force": found["force"] + kd * (target_rate - y_rate)}

        law: Law = pi
        if not (isinstance(kd, numbers.Real) and kd == 0.0):  # may become one that acts
            of = f"the target of {name!r}"
            law = pid
            given |= {
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
            **(parameters | given),
        )


def _velocities(known: Mapping[str, E]) -> set[sp.Symbol]:
    """Return the symbols of the rates among arguments by name."""
    rates = [x for n, x in known.items() if n.rpartition("_")[0] in RATES]
    return {s for x in rates for s in symbolic(x).free_symbols}


def _apply(function: Law, known: Mapping[str, E]) -> E:
    """Call a function with the arguments that it asks for."""
    wanted = inspect.signature(function).parameters
    positional = [known[n] for n, a in wanted.items() if a.kind is not KEYWORD]
    return function(*positional, **{n: known[n] for n, a in wanted.items() if a.kind is KEYWORD})


def _named(result: E | Mapping[str, E], name: str) -> dict[str, E]:
    """Return a dict of expressions; a single one gets the name."""
    return dict(result) if isinstance(result, Mapping) else {name: result}
