# SPDX-License-Identifier: BSD-3-Clause
"""Controllers: a law from measured quantities to forces on actuated motions, with own states.

The measured quantities, the law and the actuated motions are three functions, so that what is
measured need not be where the actuator acts. The controller is a `VirtualWork`: its states are
unknowns of first order in time, its tangent is derived with everything else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from .errors import ConstraintError, ParameterError
from .parameter import Parameter, call, evaluate, label
from .quantities import JETS_OF, QUANTITIES, RATES, TIME, symbols_of
from .work import VirtualWork, state_names

if TYPE_CHECKING:
    from .places.ends import End
    from .system import System

Array = npt.NDArray[np.float64]
Function = Callable[..., Any]
POSITIONAL, KEYWORD = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


class Controller(VirtualWork):
    """A control law between measured quantities and actuated motions.

    Parameters
    ----------
    measure : function of quantities of the ends (as for `VirtualWork`) that returns what is
        measured: an expression, called ``y``, or ``{name: expression}``.
    actuate : function of quantities and rates that returns the motion that the actuator drives,
        linear in the rates: an expression, its force being called ``force``, or
        ``{name: motion}``. A motor between two links drives the difference of their spins.
    law : asks for measured quantities by name, for their rates (``y_rate``; by the chain rule),
        for ``t``, own states by name and (keyword-only) parameters. It returns the force, or
        ``{"force": ..., "state": rate of the state}``.
    ends : one to three places, of `measure` and of `actuate`.
    states : names of the law's own states (first order in time, zero at the start).
    parameters : values of the keyword-only arguments of all three functions.

    Raises
    ------
    ConstraintError : as `VirtualWork`; the law lacks a force or asks for what is not measured.
    """

    kind = "controller"

    def __init__(
        self,
        measure: Function,
        actuate: Function,
        law: Function,
        *ends: End,
        name: str | None = None,
        states: Sequence[str] = (),
        **parameters: Any,
    ) -> None:
        self.name = name or str(getattr(law, "__name__", self.kind))
        self.measure, self.actuate, self.control = measure, actuate, law
        states = state_names(f"controller {self.name!r}", states)
        super().__init__(self._whole(states), *ends, name=self.name, states=states, **parameters)

    def _whole(self, states: Sequence[str]) -> Function:
        """Return the three functions as one: ``{motion: force}`` of everything they ask for."""
        parts = [inspect.signature(f).parameters for f in (self.measure, self.actuate)]
        law = inspect.signature(self.control).parameters
        names = [n for p in parts for n, a in p.items() if a.kind is not KEYWORD]
        for quantity in [n for n, a in parts[0].items() if a.kind is not KEYWORD]:
            rate = _rate_of(quantity)
            if rate is not None:
                names.append(rate)
        names += [n for n, a in law.items() if a.kind is not KEYWORD and n in ("t", *states)]
        keywords = {n: a for p in (*parts, law) for n, a in p.items() if a.kind is KEYWORD}
        asked = [inspect.Parameter(n, POSITIONAL) for n in dict.fromkeys(names)]

        def whole(*given: Any, **values: Any) -> list[tuple[Any, Any]]:
            known = dict(zip(dict.fromkeys(names), given, strict=True)) | values
            return self._pairs(known, states)

        whole.__signature__ = inspect.Signature([*asked, *keywords.values()])  # type: ignore[attr-defined]
        whole.__name__ = str(getattr(self.control, "__name__", self.kind))
        return whole

    def _pairs(self, known: Mapping[str, Any], states: Sequence[str]) -> list[tuple[Any, Any]]:
        measured = _named(_apply(self.measure, known), "y")
        motions = _named(_apply(self.actuate, known), "force")
        self.measured_expressions = measured
        offered = dict(known)
        for name, y in measured.items():
            offered |= {name: y, f"{name}_rate": _rate(y)}
        wanted = inspect.signature(self.control).parameters
        missing = [n for n, a in wanted.items() if n not in offered and a.kind is not KEYWORD]
        if missing:
            possible = [x for n in measured for x in (n, f"{n}_rate")]
            raise ConstraintError(
                f"controller {self.name!r}: its law asks for {missing[0]!r}; offered are "
                f"{', '.join([*possible, 't', *states])}"
            )
        answer = _named(_apply(self.control, offered), "force")
        foreign = [n for n in answer if n not in (*motions, *states)]
        lacking = [n for n in motions if n not in answer]
        if foreign or lacking:
            said = f"returns {foreign[0]!r}" if foreign else f"returns no {lacking[0]!r}"
            raise ConstraintError(
                f"controller {self.name!r}: its law {said}; it must return "
                f"{', '.join([*motions, *states])}"
            )
        return [(motions.get(n, n), value) for n, value in answer.items()]

    def measured(self, system: System) -> dict[str, Array]:
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
    """

    def __init__(
        self,
        measure: Function,
        actuate: Function,
        *ends: End,
        target: Any = 0.0,
        kp: Any = 0.0,
        ki: Any = 0.0,
        kd: Any = 0.0,
        target_rate: Any = None,
        angle: bool = False,
        name: str = "PID",
        **parameters: Any,
    ) -> None:
        if isinstance(target, list | tuple | np.ndarray):
            raise ParameterError(
                f"{name}: its target is {label(target)}: give a number, a Parameter or a function "
                "of time"
            )
        rate = (
            _difference(f"the target of {name!r}", target) if target_rate is None else target_rate
        )

        def pid(
            y: Any,
            y_rate: Any,
            integral: Any,
            *,
            target: Any,
            target_rate: Any,
            kp: Any,
            ki: Any,
            kd: Any,
        ) -> dict[str, Any]:
            e = target - y
            if angle:
                e = sp.atan2(sp.sin(e), sp.cos(e))
            return {"force": kp * e + ki * integral + kd * (target_rate - y_rate), "integral": e}

        given = {"target": target, "target_rate": rate, "kp": kp, "ki": ki, "kd": kd}
        super().__init__(
            measure,
            actuate,
            pid,
            *ends,
            name=name,
            states=("integral",),
            **(parameters | given),
        )


def _difference(what: str, target: Any) -> Any:
    """Return the rate of a function of time by a difference quotient of fourth order."""
    if isinstance(target, Parameter) or not callable(target):
        return 0.0

    def rate(time: float) -> float:
        h = 1e-4 * max(1.0, abs(time))
        ahead = 0.0 <= time < 2 * h  # a motion starts at 0: ask for nothing before
        places = (0, 1, 2, 3, 4) if ahead else (-2, -1, 1, 2)
        weights = (-25.0, 48.0, -36.0, 16.0, -3.0) if ahead else (1.0, -8.0, 8.0, -1.0)
        f = [evaluate(what, call(what, target, time + k * h), time) for k in places]
        return sum(w * y for w, y in zip(weights, f, strict=True)) / (12.0 * h)

    return rate


def _rate_of(name: str) -> str | None:
    """Return the name of the rate that belongs to a quantity, ``v_a`` to ``r_a``."""
    base, _, suffix = name.rpartition("_")
    quantity = QUANTITIES.get(base)
    if quantity is None or quantity.of == "reference":
        return None
    return next(f"{rate}_{suffix}" for rate, q in RATES.items() if q.jet == quantity.jet)


def _rate(y: sp.Expr) -> sp.Expr:
    """Return dy/dt by the chain rule, in the symbols of the rates."""
    rates = {
        u: v
        for end in range(3)
        for jet in JETS_OF
        for u, v in zip(
            symbols_of((end, jet), "change"), symbols_of((end, jet), "rate"), strict=True
        )
    }
    y = sp.sympify(y)
    total = sp.diff(y, TIME)
    for u in sorted(y.free_symbols & set(rates), key=str):
        total += sp.diff(y, u) * rates[u]
    return total


def _apply(function: Function, known: Mapping[str, Any]) -> Any:
    """Call a function with the arguments that it asks for."""
    wanted = inspect.signature(function).parameters
    positional = [known[n] for n, a in wanted.items() if a.kind is not KEYWORD]
    return function(*positional, **{n: known[n] for n, a in wanted.items() if a.kind is KEYWORD})


def _named(result: Any, name: str) -> dict[str, Any]:
    """Return a dict of expressions; a single one gets the name."""
    return dict(result) if isinstance(result, Mapping) else {name: result}
