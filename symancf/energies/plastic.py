# SPDX-License-Identifier: BSD-3-Clause
"""Plasticity of metals: von Mises' yield stress in logarithmic strain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Add, Expr, Matrix, Piecewise, Rational, eye, sqrt, zeros

from symancf_codegen.functions import expm1mx, log_stretch, stretch_axis

from ..kinematics.memory import Remembered, memory, remember
from ..kinematics.moduli import OWN, YOUNG, isotropic
from ..values import arguments
from ..values.domain import by_call, domains, not_negative, positive
from ..values.functions import REQUIRED, taking

if TYPE_CHECKING:
    from .solids import Energy

_DOMAINS = {
    **YOUNG,
    "yield_stress": positive(),
    "hardening": not_negative("a material that softens tears in one row of cells"),
    "kinematic": not_negative(),
}


@by_call
def j2_plasticity(
    *,
    E: float | None = None,
    nu: float | None = None,
    yield_stress: float | None = None,
    hardening: float = 0.0,
    kinematic: float = 0.0,
) -> Energy:
    r"""Return von Mises' plasticity at large strain, with linear hardening.

    The deformation is that of an elastic part after a plastic one, :math:`F = F_e F_p`, which keeps
    the volume. With the elastic principal stretches :math:`\lambda_a`, :math:`d_a = \ln \lambda_a -
    \tfrac13 \ln J` and the plastic strain :math:`\alpha` so far,

    .. math::
        W = \mu \sum_a d_a^2 + \tfrac12 k \ln^2 J, \qquad
        q = 2 \mu \sqrt{\tfrac32 \sum_a d_a^2} \le \sigma_y + H \alpha .

    A step is the minimum of an incremental potential: flow along the deviator of the elastic strain
    at its end, in closed form, :math:`\Delta\alpha = (q - \sigma_y - H\alpha)_+/(3\mu + H)` of the
    q without flow, and :math:`F_p` grows by the exponential of it.

    Parameters
    ----------
    E, nu : Young's modulus [Pa] and Poisson's ratio [-].
    yield_stress : in tension [Pa], a Kirchhoff stress.
    hardening : H, isotropic: the slope of the stress over the plastic strain of a bar [Pa].
    kinematic : slope of Prager's kinematic hardening [Pa], which moves the yield surface: the
        modulus of an elastic network beside the plastic part. With r = kinematic/(3 mu) the network
        is :math:`\tfrac12 \mu r/(1 + r)\,(J^{-2/3} I_1 - 3)` of the whole F, and the rest has the
        shear modulus mu/(1 + r); at small strain that is Prager's rule exactly.

    Returns
    -------
    The law, a function of H, J and I1 of a solid with the parameters above, which are given here
    or with the body, as numbers or `Parameter`. It returns ``{"deviatoric", "volumetric"}``: energy
    per reference volume [J/m^3]. A point remembers `plastic_strain` [-], of all flow so far, and
    `inverse_plastic`, :math:`F_p^{-1} - I` by rows. Steps in which points flow along one direction
    are exact; others of first order. Stored are elastic energy and that of hardening, dissipated is
    the yield stress times the flow.

    Raises
    ------
    ParameterError : a parameter is not as above.

    References
    ----------
    G. Weber, L. Anand, Computer Methods in Applied Mechanics and Engineering 79 (1990) 173-202;
    J. C. Simo, Computer Methods in Applied Mechanics and Engineering 99 (1992) 61-112.

    Examples
    --------
    >>> import symancf as sa
    >>> steel = sa.energies.j2_plasticity(E=200e9, nu=0.3, yield_stress=250e6, hardening=2e9)
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> sa.Body(mesh["body"], sa.elements.hex8_fbar, steel)
    Body 'body': 1 hex8_fbar with j2_plasticity
    """
    given = {"E": E, "nu": nu, "yield_stress": yield_stress}
    given |= {"hardening": hardening, "kinematic": kinematic}
    keywords: dict[str, Any] = {
        name: REQUIRED
        if x is None
        else arguments.number("j2_plasticity", name, x, _DOMAINS[name].must, _DOMAINS[name].holds)
        for name, x in given.items()
    }

    def plastic(H: Matrix, J: Expr, I1: Expr, **own: Any) -> Remembered:
        E, nu = own["E"], own["nu"]
        shear, bulk = E / (2 * (1 + nu)), E / (3 * (1 - 2 * nu))
        ratio = 1 + own["kinematic"] / (3 * shear)
        mu, modulus = shear / ratio, own["hardening"] / ratio**2
        before = Matrix(3, 3, list(own["inverse_plastic"]))
        elastic = [*(H + before + H * before)]  # F F_p^-1 - I without flow
        log1, log2, log3 = (log_stretch(k, *elastic) for k in (1, 2, 3))
        deviator = [log1 - log2 + log1 - log3, log2 - log3 + log2 - log1, log3 - log1 + log3 - log2]
        deviator = [d / 3 for d in deviator]
        squares = Add(*(d**2 for d in deviator))
        limit = own["yield_stress"] / ratio + modulus * ratio * own["plastic_strain"]
        trial = 6 * mu**2 * squares
        yields = trial > limit**2 * (1 + 1e-11)  # after flow, q is the limit but for round-off
        most = sqrt(Piecewise((trial, yields), (limit**2, True)))
        flow = (most - limit) / (3 * mu + modulus)
        network = (shear - mu) / 2 * (J ** Rational(-2, 3) * I1 - 3)
        volume = bulk / 2 * (log1 + log2 + log3) ** 2
        flows = [3 * mu * flow / most * d for d in deviator]
        after = own["plastic_strain"] + flow / ratio
        left = [d - x for d, x in zip(deviator, flows, strict=True)]
        return remember(
            {
                "deviatoric": mu * squares + network - (most - limit) ** 2 / (6 * mu + 2 * modulus),
                "volumetric": volume,
            },
            stored=mu * Add(*(d**2 for d in left))
            + network
            + volume
            + modulus * ratio**2 / 2 * after**2,
            dissipated=own["yield_stress"] / ratio * flow,
            plastic_strain=after,
            inverse_plastic=(before + (eye(3) + before) * _grown(elastic, flows)).reshape(9, 1),
        )

    plastic.__name__ = "j2_plasticity"
    remembered = {"plastic_strain": 0, "inverse_plastic": zeros(9, 1)}
    taking(plastic, ("H", "J", "I1"), {**keywords, **dict.fromkeys(remembered, REQUIRED)})
    return memory(**remembered)(isotropic(**OWN)(domains(**_DOMAINS)(plastic)))


def _grown(elastic: list[Expr], flows: list[Expr]) -> Matrix:
    """Return exp(-flow) - I, of the principal values of a flow along the axes of F_e."""
    total = zeros(3, 3)
    for a, x in enumerate(flows, 1):
        N = [stretch_axis(a, i, *elastic) for i in (1, 2, 3)]
        total += (expm1mx(-x) - x) * Matrix(3, 3, lambda i, k, N=N: N[i] * N[k])
    return total
