# SPDX-License-Identifier: BSD-3-Clause
"""A given amount of gas: how its pressure and its volume belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen import declare

from ...errors import ParameterError
from ...values.parameter import Parameter, evaluate, label

if TYPE_CHECKING:
    from ...values.parameter import Scalar


@dataclass(frozen=True)
class Gas:
    r"""A given amount of gas: :math:`(p_a + p)\, V^n = m\, p_a V_0^n`.

    Attributes
    ----------
    amount : m, the gas in the cavity, 1 being what fills the reference volume V_0 at p = 0:
        number, `Parameter` or function of time (ramp it to pump).
    ambient : p_a, the pressure outside, absolute [Pa]; p is the excess over it.
    exponent : n, 1 for isothermal, 1.4 for adiabatic air.

    Examples
    --------
    >>> import symancf as sa
    >>> air = sa.Gas(amount=lambda t: 1.0 + t)       # isothermal, twice as much at t = 1
    >>> pumped = sa.Gas(exponent=1.4)                # adiabatic
    """

    amount: Scalar = 1.0
    ambient: float = 101325.0
    exponent: float = 1.0

    def __post_init__(self) -> None:
        for name in ("ambient", "exponent"):
            number = getattr(self, name)
            wrong = ParameterError(
                f"Gas({name}={label(number)}): give a number > 0", asked=name, given=number
            )
            if callable(number) or isinstance(number, Parameter):
                raise wrong
            try:
                value = evaluate(name, number, 0.0)
            except ParameterError:
                raise wrong from None
            if value <= 0.0:
                raise wrong
            object.__setattr__(self, name, value)
        if not callable(self.amount):
            self.number(0.0)

    def number(self, time: float, place: str = "") -> float:
        """Return the amount at a time; `place` names the cavity in messages."""
        what = f"the amount of gas in {place!r}" if place else "the amount of gas"
        amount = evaluate(what, self.amount, time)
        if amount <= 0.0:
            raise ParameterError(
                f"{what} is {amount:g} at time {time:g}: it must be > 0",
                asked="amount",
                given=amount,
            )
        return amount

    def pressure(self, ratio: float, time: float, place: str = "") -> float:
        """Return p [Pa] at the volume `ratio` V_0."""
        return float(self.ambient * (self.number(time, place) * ratio**-self.exponent - 1.0))

    def law(self) -> declare.PointLaw:
        """Return the law of its pressure, scale/size times the unknown: dW/dp is the volume."""
        scale, size, factor = sp.symbols("scale size factor", real=True)
        p = scale / size * factor
        ambient, amount, V0, n = sp.symbols("ambient amount V0 exponent", positive=True)
        isothermal = self.exponent == 1.0
        if isothermal:
            energy = V0 * amount * ambient * sp.log(1 + p / ambient)
        else:
            m = 1 - 1 / n
            fills = V0 * (amount * ambient) ** (1 / n)
            energy = fills * ((ambient + p) ** m - ambient**m) / m
        used = sorted(energy.free_symbols - {factor}, key=str)
        return declare.PointLaw(
            name="gas_isothermal" if isothermal else "gas",
            unknowns=(factor,),
            energy=energy,
            domain=(1 + p / ambient,),
            parameters=tuple(declare.KernelParameter(s) for s in used),
            title="dW/dp = V_0 (m p_a/(p_a + p))^(1/n)",
        )
