# SPDX-License-Identifier: BSD-3-Clause
"""Softening of rubber under its first loading (Mullins): pseudo-elasticity on any law."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sympy import Add, Expr, Max, erf, exp, pi, sqrt

from ..kinematics.memory import Remembered, memory, remember, require_plain
from ..kinematics.moduli import constants_of, isotropic
from ..kinematics.naming import law_of, signature
from ..values import arguments
from ..values.domain import Domain, by_call, domains, domains_as, not_negative, positive
from ..values.functions import REQUIRED, taking
from ..values.reader import require_free
from .viscoelastic import VOLUMETRIC

if TYPE_CHECKING:
    from .solids import Energy

_LARGEST = "largest_energy"
_R = Domain(1.0, closed=(True, False), why="less would turn the stress round")
_PARAMETERS = {
    "mullins_r": _R,
    "mullins_m": positive("it is the width of the loop where all energies are small"),
    "mullins_beta": not_negative(),
}


@by_call
def ogden_roxburgh(law: Energy, *, r: float, m: float, beta: float = 0.0) -> Energy:
    r"""Return a law that is softer below the largest energy so far (Mullins' effect).

    With the energy :math:`W_0` of all parts of the law but the volumetric one, and its largest
    value so far :math:`W_m`, the stress is

    .. math::
        S = S_\mathrm{vol} + \eta\, \frac{\partial W_0}{\partial E}, \qquad
        \eta = 1 - \frac1r\, \mathrm{erf}\, \frac{W_m - W_0}{m + \beta W_m} ,

    that of the law where it is loaded further than ever, and less on all ways below.

    Parameters
    ----------
    law : an energy without memory, of solids with a part ``"volumetric"``, which stays as it is;
        without such a part all of it is softened.
    r : at least 1 [-]; the stress falls by a part of 1/r at most.
    m : positive, in the unit of the energy [J/m^3 of a solid]: how far below the largest energy the
        stress has fallen by 0.84/r, where that is small.
    beta : not negative [-]: the same for large ones, in parts of the largest energy.

    Returns
    -------
    The law, with the parameters of the given one and mullins_r, mullins_m and mullins_beta, which
    need not be given: numbers, or `Parameter`. Its moduli are those of the first loading. A point
    remembers `largest_energy`. Time plays no part: a path is exact in steps of any length in which
    the energy of each point only grows, or only falls. Energies that are stored can be got back,
    :math:`\int_0^{W_0} \eta\,\mathrm dW`; what is dissipated when :math:`W_m` grows is the area
    between loading and full unloading.

    Raises
    ------
    KinematicsError : the law remembers itself.
    ParameterError : r, m or beta are not as above; the law has a parameter of these names.

    References
    ----------
    R. W. Ogden, D. G. Roxburgh, Proc. R. Soc. Lond. A 455 (1999) 2861-2877; beta: W. V. Mars, Tire
    Science and Technology 32 (2004) 120-145.

    Examples
    --------
    >>> import symancf as sa
    >>> filled = sa.energies.ogden_roxburgh(sa.energies.yeoh(), r=1.5, m=0.05, beta=0.1)
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(C10=0.5, C20=0.01, C30=0.0, k=50.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, filled, **given)
    Body 'body': 1 hex8 with ogden_roxburgh_yeoh
    """
    law = law_of(law)
    asked = signature(law)
    what = f"{asked.name}() in ogden_roxburgh()"
    require_plain(what, law, "give the law of the first loading alone", memory=False)
    require_free(what, asked.parameters, {*_PARAMETERS, _LARGEST}, "ogden_roxburgh()")
    numbers = {
        name: arguments.number("ogden_roxburgh", name.removeprefix("mullins_"), x, d.must, d.holds)
        for (name, d), x in zip(_PARAMETERS.items(), (r, m, beta), strict=True)
    }

    def softened(*quantities: Any, **own_values: Any) -> Remembered:
        result = law(*quantities, **{p: own_values[p] for p in asked.parameters})
        parts = dict(result) if isinstance(result, Mapping) else {"": result}
        volume = {VOLUMETRIC: parts.pop(VOLUMETRIC)} if VOLUMETRIC in parts else {}
        W0, before = Add(*parts.values()), own_values[_LARGEST]
        largest = Max(before, W0)
        r, m, beta = (own_values[p] for p in _PARAMETERS)

        def lost(top: Expr, below: Expr) -> Expr:
            """Return the integral of 1 - eta over energies from `top` down to so much below it."""
            return _integral(below, m + beta * top) / r

        unloading = lost(largest, largest)
        softer = W0 + lost(before, Max(before - W0, 0))
        return remember(
            {"deviatoric": softer, **volume} if volume else softer,
            stored=Add(*volume.values(), W0, lost(largest, largest - W0), -unloading),
            dissipated=unloading - lost(before, before),
            **{_LARGEST: largest},
        )

    softened.__name__ = f"ogden_roxburgh_{asked.name}"
    keywords = {p: asked.defaults.get(p, REQUIRED) for p in asked.parameters}
    taking(softened, asked.quantities, {**keywords, **numbers, _LARGEST: REQUIRED})
    energy = domains(**_PARAMETERS)(domains_as(law)(softened))
    return memory(**{_LARGEST: 0})(isotropic(**constants_of(law))(energy))


def _integral(u: Expr, s: Expr) -> Expr:
    """Return the integral of erf(x/s) from 0 to u."""
    return u * erf(u / s) - s / sqrt(pi) * (1 - exp(-((u / s) ** 2)))
