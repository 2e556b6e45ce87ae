# SPDX-License-Identifier: BSD-3-Clause
r"""Laws of contact at a point, whatever gap, normal and anchor are there: SymPy expressions.

The normal law is an energy psi(g) of the gap g, per area (of cables: length) of the reference,

.. math:: p = -\frac{d\psi}{dg} \ge 0, \qquad \psi = \tfrac k2 \max(-g, 0)^2 \text{ by default.}

In a motion it is taken at the gap that is to be expected a part theta of a step later,

.. math:: p = -\psi'(g + \theta\,h\,\dot g),

h the step's length: a damper that takes energy from stiff impacts. Its loss,
:math:`(p + \psi'(g))\,(-\dot g) \ge 0` per time, is dissipated; the tangent of a motion is
unsymmetric. In statics there is none.

Friction acts by an *anchor*, a material point r_a of the target, and an elastic stretch k_t = k
between it and the point: t = r_s - r_a, T = t - n (n . t), and with the limit m N, N = p,

.. math:: f = -T \min\Big(k_t, \frac{m N}{|T|}\Big).

What the step leaves of T is the stretch T_e = -f/k_t; |T| - |T_e| has slid, and m N times that is
dissipated. The potential of f in T at fixed N is k_t/2 |T|^2, or m N |T| - (m N)^2/(2 k_t).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np
import sympy as sp

from symancf_codegen.functions import derivative, is_large, kinked, numerical, symbolic

from ..errors import ParameterError
from ..kinematics.quantity import dot, real
from ..values import arguments
from ..values.parameter import Checked, depends_on_time, evaluate, label
from ..values.reader import (
    call_symbolic,
    read,
    require_dependence,
    require_free,
    require_parameters,
    require_places,
    scalar,
    unknown_quantity,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..values.parameter import Scalar
    from ..values.reader import Signature

NormalLaw: TypeAlias = "Callable[..., sp.Expr]"  # (g, *, k, own parameters) -> psi
Coefficient: TypeAlias = "float | tuple[float, float] | Callable[..., sp.Expr]"

K = real("k")  # stiffness of the contact at a point [Pa/m], of cables [Pa]
DAMPING = real("damping")  # theta, a part of a step
SPAN = real("span")  # length of the step in a motion, 0 else [s]
NEAR = real("near")  # gap up to which points press: what touches in the reference, to round-off [m]
SLID = real("slid")  # path that a point has slid since it last began to touch [m]
#: speed of slip in the last step; or 1 where it slid, 0 where it stuck; of corners of a box with
#: two coefficients the way since it stuck [m]
SLIPPED = real("slip")
STICK_LOAD = real("stick_load")  # load of the corners of a box that stuck in the last step [N]
SLIP_RATE = real("slip_rate")  # change of that speed in time, 0 where it slid in one step alone
SLIP_STEP = real("slip_step")  # length of the last step [s]
RESERVED = {"side", "target", "mu", "law", "radius", "stiffness", "k", "penetration", "damping"}
RESERVED |= {"initial", "name"}  # by arguments of `Contact`
TIMES = ("t", "time")
GAP_HALVINGS = 60  # halvings of a facet: gaps at which a law of the user may act
ROUND_OFF = 1e-12  # of a length: gaps below it touch, so that the first tangent knows of them


def penalty(g: sp.Expr, *, k: sp.Expr) -> sp.Expr:
    r"""Return the energy of a linear spring that acts in compression alone.

    .. math:: \psi = \tfrac k2 \max(-g, 0)^2.
    """
    return k / 2 * sp.Max(-g, 0) ** 2


class Normal:
    """The energy psi of a gap, as a user's function gives it.

    Parameters
    ----------
    who : begins messages.
    function : takes the gap, and keyword-only ``k`` (if it needs it) and parameters of its own.
    parameters : values of parameters; those that the function does not know are left to others.

    Attributes
    ----------
    names : of its own parameters, ``k`` excepted.
    parameters : their values, by the names of their symbols, ``law_d`` for d: a parameter may be
        called as what contact knows itself, ``gap``.
    symbols : of these, in the order of the function.
    compact : whether it has parts, one of them without pressure: then there is no stiffness either.

    Raises
    ------
    KinematicsError : it is no function of a gap, fails on symbols, or does not depend on the gap.
    ParameterError : a parameter is missing, or has the name of something else.

    Examples
    --------
    >>> from sympy import Max, Symbol
    >>> from symancf.contact.laws import Normal, penalty
    >>> Normal("contact", penalty).pressure(Symbol("g", real=True))
    Piecewise((-g*k, g < 0), (0, True))
    """

    def __init__(
        self, who: str, function: NormalLaw, parameters: Mapping[str, Scalar] | None = None
    ) -> None:
        self.who = f"{who}: the law {label(function)}"
        function = self.function = arguments.function(f"{who}: law", function)
        own_arguments = read(function, self.who)
        require_places(self.who, own_arguments, ("g",), "the gap")
        values = _values(self.who, own_arguments, parameters or {}, (str(K),))
        self.names = list(values)
        self.parameters = {f"law_{name}": value for name, value in values.items()}
        self.symbols = tuple(real(name) for name in self.parameters)
        self._g = real("gap_")
        symbols = {n: K if n == str(K) else real(f"law_{n}") for n in own_arguments.parameters}
        self._psi = _called(self.who, function, own_arguments, self._g, symbols)
        require_dependence(self.who, own_arguments.name, self._psi, {self._g}, "the gap", ("g",))
        self.compact = kinked(self._psi)
        self._p = _simplified(-derivative(self._psi, self._g))

    def energy(self, g: sp.Expr) -> sp.Expr:
        """Return psi at a gap."""
        return self._psi.xreplace({self._g: g})

    def pressure(self, g: sp.Expr) -> sp.Expr:
        """Return p = -psi' at a gap."""
        return self._p.xreplace({self._g: g})

    def shared(self, points: int) -> Normal:
        """Return the law of one of several points that share energy and stiffness.

        ``psi(g, k)/points``, written with the stiffness ``k/points`` of each point.
        """
        law = copy(self)
        law._psi, law._p = (e.xreplace({K: points * K}) / points for e in (self._psi, self._p))
        return law

    def reach(self, size: float, k: float, time: float) -> float:
        """Return a gap up to `size` beyond which the law vanishes; 0: where surfaces touch.

        Of the gaps size, size/2, ... `GAP_HALVINGS` the first at which there is pressure, twice.

        Raises
        ------
        ParameterError : there is pressure at `size`.
        """
        if self.function is penalty:
            return 0.0
        gaps = size * 0.5 ** np.arange(GAP_HALVINGS)
        values = [evaluate(n, v, time) for n, v in self.parameters.items()]
        with np.errstate(all="ignore"):
            p = np.broadcast_to(self._pressures(gaps, k, *values), gaps.shape)
        acts = np.flatnonzero(p != 0.0)
        if len(acts) and not acts[0]:
            raise ParameterError(
                f"{self.who} gives a pressure at the gap {size:.3g}, as wide as a facet: between "
                "deformable bodies it has to vanish there"
            )
        return float(2.0 * gaps[acts[0]]) if len(acts) else 0.0

    @cached_property
    def _pressures(self) -> Callable[..., npt.ArrayLike]:
        function = numerical([self._g, K, *self.symbols], self._p, "numpy")
        return cast("Callable[..., npt.ArrayLike]", function)


def ahead(e: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Return e + theta h e', what is to be expected of e a part theta of a step later.

    By its rate, which knows what gaps at the ends of steps do not: in a stiff impact velocities
    change their sign from step to step while positions rest.
    """
    return e + DAMPING * SPAN * rate


class Coulomb:
    """Coefficient of friction m: from what a point did in the last steps, constant in this one.

    Parameters
    ----------
    who : begins messages.
    mu : a number; two, for points that stuck in the last step and for those that slid; or a
        function of the speed of slip v [m/s] with parameters of its own,
        ``def mu(v, *, a): ...``.
    parameters : values of the parameters of such a function; others are left alone.

    Attributes
    ----------
    names : of the parameters of the function.
    parameters : values by the names of symbols: ``mu_s`` and ``mu_d``, or ``mu_a`` for a of the
        function.
    speeds : whether it is a function of the speed.
    pair : whether a static and a sliding one were given.

    Raises
    ------
    ParameterError : a negative number, a sliding coefficient above the static one.
    KinematicsError : a function of something else, or one that fails on symbols.
    """

    def __init__(
        self, who: str, mu: Coefficient, parameters: Mapping[str, Scalar] | None = None
    ) -> None:
        self.speeds, self.names, self.pair = callable(mu), list[str](), False
        self.parameters: dict[str, Scalar]
        if callable(mu):
            what = f"{who}: mu, {label(mu)},"
            own_arguments = read(mu, what)
            require_places(what, own_arguments, ("v",), "the speed of slip")
            # of the time: a Parameter, or a pair of functions
            if own_arguments.quantities[0] in TIMES:
                raise unknown_quantity(
                    what, own_arguments.quantities[0], ("v",), "the speed of slip"
                )
            values = _values(what, own_arguments, parameters or {}, ())
            self.names = list(values)
            self.parameters = {f"mu_{name}": value for name, value in values.items()}
            symbols = {name: real(f"mu_{name}") for name in own_arguments.parameters}
            self.coefficient = _called(what, mu, own_arguments, SLIPPED, symbols)
            self._require_sound(what)
            return
        self.pair = isinstance(mu, tuple | list)
        pair = mu if isinstance(mu, tuple | list) else (mu, mu)
        if len(pair) != 2:
            raise ParameterError(
                f"{who}: mu={label(mu)} has {len(pair)} numbers: give one, or two, static and "
                "sliding",
                asked="mu",
                given=pair,
            )

        def static(time: float) -> float:
            number = evaluate(f"mu of {who}", pair[0], time)
            return arguments.number(who, "mu", number, "be at least 0", lambda x: x >= 0.0)

        def sliding(time: float) -> float:
            number = evaluate(f"mu of {who}", pair[1], time)
            arguments.number(who, "mu", number, "be at least 0", lambda x: x >= 0.0)
            if number > (above := static(time)):
                raise ParameterError(
                    f"{who}: mu={label(mu)}: the sliding coefficient, {number:g}, is the second "
                    f"and not larger than the static one, {above:g}",
                    asked="sliding coefficient",
                    given=number,
                )
            return number

        sliding(0.0)
        checks = zip(("mu_s", "mu_d"), pair, (static, sliding), strict=True)
        changes = any(map(depends_on_time, pair))
        self.parameters = {n: Checked(v, f) if changes else v for n, v, f in checks}
        stuck, slid = real("mu_s"), real("mu_d")
        self.coefficient = stuck + (slid - stuck) * SLIPPED

    def _require_sound(self, what: str) -> None:
        """Raise where a function of the speed is no coefficient at rest."""
        values = [evaluate(f"{n} of {what}", v, 0.0) for n, v in self.parameters.items()]
        function = numerical([SLIPPED, *map(real, self.parameters)], self.coefficient, "numpy")
        with np.errstate(all="ignore"):
            at_rest = complex(function(np.float64(0.0), *map(np.float64, values)))
        if at_rest.imag or not (np.isfinite(at_rest) and at_rest.real >= 0.0):
            value = at_rest if at_rest.imag else at_rest.real
            raise ParameterError(
                f"{what} is {value:g} at v = 0: it must be finite and at least 0",
                asked="mu",
                given=value,
            )

    def expected(self, dt: sp.Expr) -> sp.Expr:
        """Return the coefficient at the end of a step, by the speed of the last two steps.

        v = slip + slip_rate (slip_step/2 + dt), at least 0: `SLIPPED` is that in the middle of the
        last step, so that friction is of second order in the step.
        """
        if not self.speeds:
            return self.coefficient
        v = SLIPPED + SLIP_RATE * (SLIP_STEP / 2 + dt)
        return self.coefficient.xreplace({SLIPPED: sp.Max(v, 0)})

    def of_patch(self) -> sp.Expr:
        """Return the coefficient at a corner of a rigid body that lies on several of them.

        The sliding one where more than elastic stretches have slid, k s > m_s P, with the way s
        since the corner stuck and the load P of those that still stick: they could bear the rest
        with stretches of m_s P/k at most, and where none is left the body slides.
        """
        return sp.Piecewise((real("mu_d"), self.slides()), (real("mu_s"), True))

    def slides(self) -> sp.Basic:
        """Return the condition of `of_patch` that a corner slides."""
        return real("mu_s") * STICK_LOAD < K * SLIPPED

    def course(self, slip: sp.Expr, dt: sp.Expr) -> dict[str, sp.Expr]:
        """Return what a function of the speed has to remember beside `slip`, the new speed."""
        if not self.speeds:
            return {}
        slides = sp.And(SLIPPED > 0, slip > 0, dt > 0)
        change = (slip - SLIPPED) / ((dt + SLIP_STEP) / 2)
        return {str(SLIP_RATE): sp.Piecewise((change, slides), (0, True)), str(SLIP_STEP): dt}

    def slipped(self, friction: Friction, dt: sp.Expr) -> sp.Expr:
        """Return what `SLIPPED` is in the next step."""
        if self.speeds:
            return sp.Piecewise((friction.length / dt, dt > 0), (0, True))
        return sp.Piecewise((0, friction.sticks), (1, True))


class Friction(NamedTuple):
    """Friction at a point in a step; see the top of this file.

    Attributes
    ----------
    force : f, per area or length, on the point; -f acts on the target (3, 1).
    stretch : T_e, what the step leaves of T (3, 1); the anchor of the next step is at T_e from
        the point, or at the closest point of the target where that is open.
    sticks : condition of sticking; points without pressure slide without force.
    length : that has slid in the step [m].
    stored : energy of the stretch at the end of the step, per area or length.
    dissipated : in the step, per area or length.
    margin : how far sticking and sliding are from one another, ||trial force| - limit|/limit.
    """

    force: sp.Matrix
    stretch: sp.Matrix
    sticks: sp.Basic
    length: sp.Expr
    stored: sp.Expr
    dissipated: sp.Expr
    margin: sp.Expr


def friction(
    T: sp.Matrix,
    N: sp.Expr,
    m: sp.Expr,
    *,
    before: sp.Matrix | None = None,
    let: Callable[[str, sp.Expr], sp.Expr] = lambda name, e: e,
) -> Friction:
    """Return the friction of a tangential stretch T (3, 1) at the pressure N.

    T and N had best be names (lets): they occur several times. Sticking comes first, so that
    nothing is divided by |T| = 0.

    Parameters
    ----------
    before : the stretch T_0 at the beginning of the step, what the last one left; then f is that of
        T + theta (T - T_0), so that sticking does not ring.
    let : gives names to intermediate results.
    """
    on, limit = T, m * N
    if before is not None:
        on = sp.Matrix([let(f"on{k}", a) for k, a in enumerate(T + DAMPING * (T - before), 1)])
    square = dot(on, on)
    sticks = K**2 * square <= limit**2
    part = let("part", sp.Piecewise((1, sticks), (limit / (K * sp.sqrt(square)), True)))
    force, stretch, loss = -K * part * on, part * T, sp.S.Zero
    if before is not None:
        remainder = (part * on + DAMPING * before) / (1 + DAMPING)
        stretch = sp.Matrix([let(f"left{k}", a) for k, a in enumerate(remainder, 1)])
        loss = -dot(force + K * stretch, stretch - before)
    slid = T - stretch
    length = sp.Piecewise((0, sticks), (sp.sqrt(dot(slid, slid)), True))
    stored = K / 2 * dot(stretch, stretch)
    margin = sp.Abs(K * sp.sqrt(square) / limit - 1)
    return Friction(force, stretch, sticks, length, stored, limit * length + loss, margin)


# ---- functions of the user -----------------------------------------------------------------------
def _values(
    what: str, arguments: Signature, values: Mapping[str, Scalar], reserved: Collection[str]
) -> dict[str, Scalar]:
    """Return the values of a function's own parameters, defaults filled in."""
    own = [name for name in arguments.parameters if name not in reserved]
    require_free(what, own, RESERVED, "sa.Contact")
    known_given = {name: values[name] for name in own if name in values}
    require_parameters(what, (n for n in own if n not in arguments.defaults), known_given)
    filled = {**arguments.defaults, **known_given}
    for name, value in filled.items():
        evaluate(f"{name} of {what}", value, 0.0)
    return {name: filled[name] for name in arguments.parameters if name in filled}


def _called(
    what: str,
    function: Callable[..., object],
    arguments: Signature,
    argument: sp.Symbol,
    parameters: Mapping[str, sp.Symbol],
) -> sp.Expr:
    """Return the expression that a function of one symbol and of parameters makes of these."""
    result = call_symbolic(what, function, (argument,), parameters)
    expression = result
    symbols = {
        argument: real(arguments.quantities[0]),
        **{s: real(n) for n, s in parameters.items()},
    }
    if isinstance(result, sp.Basic) and not is_large(result):
        expression = result.xreplace(symbols)  # as the user calls them
    must = "it must be an expression of its arguments"
    scalar(what, arguments.name, expression, {*symbols, *symbols.values()}, must=must)
    return symbolic(result)


def _simplified(p: sp.Expr) -> sp.Expr:
    """Return a pressure without the zeros that differentiation by branches leaves."""
    return sp.piecewise_fold(p) if kinked(p) else p
