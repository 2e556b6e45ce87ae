# SPDX-License-Identifier: BSD-3-Clause
r"""Stabilisation of constraints in motions of index 1.

Index 1 solves :math:`\Phi_q a = \gamma_s`; with :math:`\gamma_s = \gamma` errors of Phi grow
with the square of time. Stabilisers add a control of Phi and Phi', projection takes q and v
back to the constraints after every step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...errors import ParameterError
from ...values.parameter import label, reals


class Stabilisation:
    """What keeps constraints: linear gains, a control beyond them, or projection.

    Attributes
    ----------
    projects : whether positions and rates are projected after every step.
    """

    projects = False

    def suited(self, h: float, sizes: Array) -> Stabilisation:
        """Return the same with numbers for what is left to the motion.

        Parameters
        ----------
        h : mean length of the steps.
        sizes : what a large motion makes of each constraint.
        """
        return self

    @property
    def gains(self) -> tuple[float, float]:
        """What multiples of Phi and Phi' gamma is lowered by."""
        return 0.0, 0.0

    def control(self, phi: Array, rate: Array) -> Array | None:
        """Return what gamma is lowered by beside, or None."""
        return None


#: alpha and beta by default, times the mean length of the steps: constraints are taken back in
#: about ten of them, whatever the unit of time is.
BAUMGARTE, FUZZY = (0.1, 0.1), (0.1, 0.24)
#: of the size of a constraint: violation at which a fuzzy controller does so
SATURATION_VIOLATION = 0.01


def _positive(what: str, **values: float | Array | None) -> None:
    for name, value in values.items():
        number: object = 1.0 if value is None else value
        many = isinstance(number, np.ndarray) and name == "Kp"  # one for each constraint
        is_number = isinstance(number, int | float | np.number | np.ndarray)
        numbers = reals(number) if is_number else np.zeros(0)
        size = numbers.size > 0 and (many or numbers.shape == ())
        if not size or not ((numbers > 1e-100) & (numbers < 1e100)).all():
            raise ParameterError(
                f"{what}({name}={label(value)}): give a positive number", asked=name, given=value
            )


@dataclass(frozen=True)
class Baumgarte(Stabilisation):
    r"""Baumgarte's stabilisation, :math:`\gamma_s = \gamma - 2 \alpha \dot\Phi - \beta^2 \Phi`.

    Errors decay like those of an oscillator with frequency beta and damping ratio alpha/beta:
    alpha = beta is critical. Large gains make the equations stiff. (J. Baumgarte, Computer
    Methods in Applied Mechanics and Engineering 1, 1972.)

    Attributes
    ----------
    alpha, beta : gains [1/s]; default: 0.1 / h, with h the mean length of the steps so far.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> pin = sa.joints.spherical(a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0)))
    >>> system = sa.System(a, b, terms=[pin])
    >>> problem = sa.DynamicProblem(system, method="rk", stabilisation=sa.Baumgarte())
    >>> _ = problem.solve(to=0.01, step=0.01)
    """

    alpha: float | None = None
    beta: float | None = None

    def __post_init__(self) -> None:
        _positive("Baumgarte", alpha=self.alpha, beta=self.beta)

    def suited(self, h: float, sizes: Array) -> Baumgarte:
        """Return the same with numbers for what is left to the motion."""
        return Baumgarte(*_gains(self, BAUMGARTE, h))

    @property
    def gains(self) -> tuple[float, float]:
        """beta^2, 2 alpha; no numbers of those that the problem chooses."""
        alpha, beta = _gains(self, BAUMGARTE, math.nan)
        return beta**2, 2.0 * alpha


def _gains(
    stabilisation: Baumgarte | Fuzzy, defaults: tuple[float, float], h: float
) -> tuple[float, float]:
    """Return alpha and beta, for steps of length h where they are not given."""
    alpha, beta = (x / h for x in defaults)
    return (
        alpha if stabilisation.alpha is None else stabilisation.alpha,
        beta if stabilisation.beta is None else stabilisation.beta,
    )


CENTRES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
SPREAD = 0.25 / np.sqrt(2.0 * np.log(2.0))  # neighbours cross at 1/2
RULES = np.clip(CENTRES[:, None] + CENTRES[None, :], -1.0, 1.0)


def _membership(e: Array) -> Array:
    """Return the memberships (n, 5) of inputs (n,) in NB, NS, Z, PS, PB."""
    return np.asarray(np.exp(-0.5 * np.square((e[:, None] - CENTRES) / SPREAD)))


def sugeno(e: npt.ArrayLike, rate: npt.ArrayLike) -> Array:
    r"""Return the output of the fuzzy controller for inputs e, e' in [-1, 1], clipped.

    A Sugeno system of order zero: five Gaussian sets each at -1, -1/2, 0, 1/2, 1 that cross at
    one half, product of memberships, singletons clip(c_i + c_j, -1, 1), weighted mean.
    """
    inputs = [np.clip(np.atleast_1d(np.asarray(x, dtype=float)), -1.0, 1.0) for x in (e, rate)]
    first, second = (_membership(x) for x in inputs)
    total = first.sum(axis=1) * second.sum(axis=1)
    return np.asarray(np.einsum("ni,ij,nj->n", first, RULES, second) / total)


def _slope() -> float:
    """Return d sugeno / d e at 0."""
    w = _membership(np.zeros(1))[0]
    change = w * CENTRES / SPREAD**2  # of the memberships with e; their sum does not change
    return float(change @ RULES @ w / w.sum() ** 2)


SLOPE = _slope()


@dataclass(frozen=True)
class Fuzzy(Stabilisation):
    r"""A fuzzy-logic controller of every constraint, :math:`\gamma_s = \gamma - U`.

    .. math:: U = K_u\, \mathrm{sugeno}(K_p \Phi, K_d \dot\Phi)

    `sugeno` has the slope s at 0 in both inputs; the gains make it Baumgarte's for small errors,
    :math:`K_u K_p s = \beta^2`, :math:`K_u K_d s = 2 \alpha`. The action is bounded by K_u, so
    that a large K_p weakens it. (The controller of Ghoneimy et al., Appl. Syst. Innov. 8 (2025)
    42, which leaves its rules open; those here are of the usual kind.)

    Attributes
    ----------
    alpha, beta : of the matched Baumgarte stabilisation [1/s]; default: 0.1 / h and 0.24 / h,
        with h the mean length of the steps so far.
    Kp : 1 / error of Phi at which the input saturates; default: 100 over what a motion by the
        size of the connected part makes of Phi, for each constraint.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> pin = sa.joints.spherical(a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0)))
    >>> system = sa.System(a, b, terms=[pin])
    >>> problem = sa.DynamicProblem(system, method="rk", stabilisation=sa.Fuzzy())
    >>> _ = problem.solve(to=0.01, step=0.01)
    """

    alpha: float | None = None
    beta: float | None = None
    Kp: float | Array | None = None
    Ku: float | Array = field(init=False)
    Kd: float | Array = field(init=False)

    def __post_init__(self) -> None:
        _positive("Fuzzy", alpha=self.alpha, beta=self.beta, Kp=self.Kp)
        alpha, beta = _gains(self, FUZZY, math.nan)
        Ku = beta**2 / (SLOPE * (math.nan if self.Kp is None else self.Kp))
        object.__setattr__(self, "Ku", Ku)
        object.__setattr__(self, "Kd", 2.0 * alpha / (SLOPE * Ku))

    def suited(self, h: float, sizes: Array) -> Fuzzy:
        """Return the same with numbers for what is left to the motion."""
        alpha, beta = _gains(self, FUZZY, h)
        return replace(
            self,
            alpha=alpha,
            beta=beta,
            Kp=1.0 / (SATURATION_VIOLATION * sizes) if self.Kp is None else self.Kp,
        )

    def control(self, phi: Array, rate: Array) -> Array | None:
        """Return U (n,)."""
        Kp = math.nan if self.Kp is None else self.Kp
        return np.asarray(self.Ku * sugeno(Kp * phi, self.Kd * rate))


@dataclass(frozen=True)
class Projection(Stabilisation):
    r"""Back to :math:`\Phi = 0` and :math:`\dot\Phi = 0` after every step, by the shortest way.

    Shortest in the metric of the mass: :math:`M \Delta q + \Phi_q^T \mu = 0`, likewise v. (E.
    Eich, SIAM J. Numerical Analysis 30, 1993.)

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> pin = sa.joints.spherical(a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0)))
    >>> system = sa.System(a, b, terms=[pin])
    >>> problem = sa.DynamicProblem(system, method="rk", stabilisation=sa.Projection())
    >>> _ = problem.solve(to=0.01, step=0.01)
    """

    projects = True
