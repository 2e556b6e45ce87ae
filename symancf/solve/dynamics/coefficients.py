# SPDX-License-Identifier: BSD-3-Clause
r"""The generalized-alpha method of Arnold and Bruls as an affine map of the new coordinates.

With the auxiliary acceleration A, one step of length h from t_n to t_{n+1} is

.. math::
    q_{n+1} &= q_n + h v_n + h^2 [(1/2 - \beta) A_n + \beta A_{n+1}], \quad
    v_{n+1} = v_n + h [(1 - \gamma) A_n + \gamma A_{n+1}], \\
    (1 - \alpha_m) A_{n+1} + \alpha_m A_n &= (1 - \alpha_f) a_{n+1} + \alpha_f a_n

(M. Arnold, O. Bruls, Multibody System Dynamics 18, 2007), and for states of first order

.. math::
    s_{n+1} &= s_n + h [(1 - \theta) w_n + \theta w_{n+1}], \\
    (1 - \delta_m) w_{n+1} + \delta_m w_n &= (1 - \alpha_f) \dot s_{n+1} + \alpha_f \dot s_n

(O. Bruls, J.-C. Golinval, ZAMM 86, 2006). All equations hold at t_{n+1}, those of motion with
the true acceleration a. Rates and accelerations are affine in the new coordinates:

    auxiliary = k (x - x*),  rate = r + R (x - x*),  a = b + B (x - x*).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of the method for a spectral radius `rho` at infinite frequency."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    delta: float
    theta: float

    @classmethod
    def of_radius(cls, rho: float) -> Coefficients:
        """Return the coefficients that damp as little as possible at low frequencies."""
        alpha_m = (2.0 * rho - 1.0) / (rho + 1.0)
        alpha_f = rho / (rho + 1.0)
        gamma = 0.5 + alpha_f - alpha_m
        delta = (3.0 * rho - 1.0) / (2.0 * (rho + 1.0))
        return cls(
            alpha_m=alpha_m,
            alpha_f=alpha_f,
            beta=0.25 * (gamma + 0.5) ** 2,
            gamma=gamma,
            delta=delta,
            theta=0.5 + alpha_f - delta,
        )

    def acceleration_factor(self, h: float) -> float:
        """Return B of second-order coordinates: the tangent is B M + R C + K."""
        return (1.0 - self.alpha_m) / (h * h * self.beta * (1.0 - self.alpha_f))

    def rate_factor(self, h: float) -> float:
        """Return R of second-order coordinates."""
        return self.gamma / (h * self.beta)

    def state_factor(self, h: float) -> float:
        """Return R of first-order states."""
        return (1.0 - self.delta) / ((1.0 - self.alpha_f) * h * self.theta)

    @property
    def shift(self) -> float:
        """A approximates the acceleration at t + shift h; it is rescaled when h changes."""
        return self.alpha_m - self.alpha_f

    @property
    def bias(self) -> float:
        """Rates across constraints are off by bias h^2 times the jerk where steps have length h."""
        return 1.0 / 6.0 - self.beta - self.shift / 2.0
