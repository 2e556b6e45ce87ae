# SPDX-License-Identifier: BSD-3-Clause
"""Hysteresis of elastomers: a second network that creeps (Bergström and Boyce), on any law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sympy import Add, Dummy, Expr, Matrix, Max, Rational, S, diff, exp, eye, sqrt, zeros

from ..kinematics.local import implicit, local
from ..kinematics.memory import Remembered, memory, remember, require_plain
from ..kinematics.moduli import constants_of, isotropic
from ..kinematics.naming import law_of, signature
from ..kinematics.quantity import dot
from ..values import arguments
from ..values.domain import (
    Domain,
    by_call,
    domains,
    domains_as,
    not_negative,
    positive,
)
from ..values.functions import REQUIRED, taking
from ..values.reader import Signature, require_free, require_quantities
from .viscoelastic import INVARIANTS, VOLUMETRIC, adjugate, parts_of

if TYPE_CHECKING:
    from .solids import Energy

_TENSOR = "E_gl"
_DOMAINS = {
    "creep_s": positive(),
    "creep_stress": positive(),
    "creep_m": Domain(1.0, closed=(True, False), why="less would flow fastest without stress"),
    "creep_C": Domain(-1.0, 0.0, (True, True), "creep slows down"),
    "creep_E": positive("at 0 the first creep would be infinitely fast"),
    "creep_rate": not_negative(),
}
_SMALL = 1e-24  # beside the square of a stress over creep_stress
_STEP = "creep_step"
#: What a point remembers: G - I, dG/dt, the force on G, and how fast it relaxes.
_REMEMBERED: dict[str, Any] = {
    "creep": zeros(3, 3),
    "creep_speed": zeros(3, 3),
    "creep_force": zeros(3, 3),
    "creep_stiffness": 0,
}
_PAIRS = [(i, k) for i in range(3) for k in range(i, 3)]


@by_call
def bergstrom_boyce(
    law: Energy,
    *,
    s: float,
    stress: float,
    m: float,
    C: float = -1.0,
    E: float = 0.01,
    rate: float = 1.0,
) -> Energy:
    r"""Return a law with hysteresis: a second network of the same law, which creeps.

    The deformation of the second network is an elastic part after one of creep,
    :math:`F = F_e F_c`, which keeps the volume. With the energy :math:`W_0` of all parts of the
    law but the volumetric one,

    .. math::
        W = W_\mathrm{vol}(F) + W_0(F) + s\, W_0(F_e), \qquad
        \dot\varepsilon_c = \dot\varepsilon_0\,
            \big(\sqrt{\tfrac13 \mathrm{tr}\, F_c^T F_c} - 1 + E\big)^C\, (q/\sigma_0)^m ,

    where q is von Mises' equivalent of the Kirchhoff stress :math:`\tau` of the second network,
    and the rate of creep is :math:`\tfrac32 \dot\varepsilon_c\, \mathrm{dev}\,\tau/q`, without
    spin in the frame that :math:`F_e` turns.

    Parameters
    ----------
    law : an isotropic energy of a solid from J, I1, I2 in named parts, of which one is
        ``"volumetric"``. Its moduli are those of the first network, slow and relaxed.
    s : positive [-]: stress of the second network over that of the first, at once.
    stress : sigma_0, positive [Pa].
    m : at least 1 [-]: exponent of the stress.
    C : -1 to 0 [-]: exponent of the strain of creep, which slows what has crept.
    E : positive [-], small; it bounds the rate of the first creep.
    rate : :math:`\dot\varepsilon_0`, not negative [1/s]: give it in other units of time.

    Returns
    -------
    The law, with the named parts and parameters of the hyperelastic one, and creep_s,
    creep_stress, creep_m, creep_C, creep_E and creep_rate, which need not be given: numbers, or
    `Parameter`. A point remembers `creep`, :math:`(F_c^T F_c)^{-1} - I`, its rate, the force on it
    and the rate at which that relaxes, and solves for the creep of the step. Steps are of second
    order in time. The tangent is unsymmetric. Steps with dt = 0, of a `Parameter` alone, are
    elastic. `hex8` and `hex8_fbar`, whose cells have unknowns of their own, refuse it: take
    elements of second order.

    Raises
    ------
    KinematicsError : the law asks for something else than J, I1 and I2, names no volumetric part,
        or remembers itself.
    ParameterError : a parameter is not as above; the law has a parameter of these names.

    Notes
    -----
    With :math:`G = (F_c^T F_c)^{-1}`, a tensor of the reference, the rule is
    :math:`\dot G = -3 (\dot\varepsilon_c/q)\, (F^{-1}\, \mathrm{dev}\,\tau\, F)\, G`. A step is
    :math:`\Delta G = dt\,((1 - \theta) \dot G_0 + \theta \dot G_1)` with det G = 1 and
    :math:`\theta = 1 - \tfrac12 e^{-x^2/12}`, x being dt over the time in which the stress
    relaxes at the beginning: the trapezoidal rule in short steps, backward Euler's in long ones.
    Where a stress of many sigma_0 relaxes with a large m Newton's method may find no creep of a
    point: the step is cut.

    Abaqus's ``*HYSTERESIS`` has the same form, with A = rate/stress^m. A rule with the norm of dev
    tau in the place of q, and that of the rate of creep, has stress over sqrt(3/2) and rate over
    sqrt(2/3). At strains of 1e-6 energies have four digits, stresses ten.

    References
    ----------
    J. S. Bergström, M. C. Boyce, Journal of the Mechanics and Physics of Solids 46 (1998) 931-954.

    Examples
    --------
    >>> import symancf as sa
    >>> rubber = sa.energies.bergstrom_boyce(sa.energies.arruda_boyce(), s=1.6, stress=1e6, m=4.0)
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell="hexahedron20")
    >>> given = dict(mu=0.6e6, lambda_m=2.8, k=60e6)
    >>> sa.Body(mesh["body"], sa.elements.hex20, rubber, **given)
    Body 'body': 1 hex20 with bergstrom_boyce_arruda_boyce
    """
    law = law_of(law)
    asked = signature(law)
    what = f"{asked.name}() in bergstrom_boyce()"
    require_plain(what, law, "give the law of the slow network alone", memory=False)
    require_quantities(what, asked, INVARIANTS, "an isotropic law of invariants")
    own_names = {*_DOMAINS, *_REMEMBERED, _STEP}
    require_free(what, asked.parameters, own_names, "bergstrom_boyce()")
    given = {"s": s, "stress": stress, "m": m, "C": C, "E": E, "rate": rate}
    numbers = {
        p: arguments.number("bergstrom_boyce", name, x, _DOMAINS[p].must, _DOMAINS[p].holds)
        for name, x in given.items()
        for p in (f"creep_{name}",)
    }
    names = (*asked.quantities, *(q for q in ("J", "I1", _TENSOR) if q not in asked.quantities))

    def creeping(*quantities: Any, dt: Expr, **own: Any) -> Remembered:
        at = dict(zip(names, quantities, strict=True))
        parameters = {p: own[p] for p in asked.parameters}
        network = _CreepNetwork(what, law, asked, parameters, own)
        parts = network.parts([at[q] for q in asked.quantities])
        volume = {VOLUMETRIC: parts.pop(VOLUMETRIC)}
        after = network.at(at, own["creep"] + own[_STEP])
        first_half = exp(-((dt * own["creep_stiffness"]) ** 2) / 12) / 2
        speed = first_half * own["creep_speed"] + (1 - first_half) * after.speed
        step = own[_STEP] - dt * speed
        determinant = _minors(after.D) + after.D.det(method="berkowitz")
        step += (after.D.trace() + determinant - own[_STEP].trace() / 3) * eye(3)
        W = Add(*parts.values(), after.energy)
        force = (own["creep_force"] + after.force) / 2
        first, *others = parts
        result = {first: parts[first] + after.energy, **{p: parts[p] for p in others}, **volume}
        return remember(
            implicit(result, **{_STEP: step}),
            stored=W + volume[VOLUMETRIC],
            dissipated=-dot(force, own[_STEP]),
            creep=after.D,
            creep_speed=after.speed,
            creep_force=after.force,
            creep_stiffness=after.stiffness,
        )

    creeping.__name__ = f"bergstrom_boyce_{asked.name}"
    keywords = {p: asked.defaults.get(p, REQUIRED) for p in asked.parameters}
    own_values = dict.fromkeys((*_REMEMBERED, _STEP, "dt"), REQUIRED)
    taking(creeping, names, {**keywords, **numbers, **own_values})
    energy = domains(**_DOMAINS)(domains_as(law)(creeping))
    energy = memory(**_REMEMBERED)(local(**{_STEP: zeros(3, 3)})(energy))
    return isotropic(**constants_of(law))(energy)


@dataclass(frozen=True)
class _Creep:
    """The second network in one state.

    Attributes
    ----------
    D : G - I.
    energy : s W_0.
    force : its derivative by G, where det G stays 1.
    speed : dG/dt, but for a multiple of I, which keeps det G.
    stiffness : the rate at which it relaxes from here [1/s].
    """

    D: Matrix
    energy: Expr
    force: Matrix
    speed: Matrix
    stiffness: Expr


@dataclass(frozen=True)
class _CreepNetwork:
    """The second network: the law with its parameters, and the rule of creep with its own.

    Attributes
    ----------
    what : names the law in messages.
    law, arguments : the law, and what it asks for.
    parameters : values of its parameters.
    own : values of those of creep.
    """

    what: str
    law: Energy
    arguments: Signature
    parameters: Mapping[str, Any]
    own: Mapping[str, Any]

    def parts(self, quantities: Sequence[Any]) -> dict[str, Expr]:
        """Return the parts of the energy of the law."""
        return parts_of(self.what, self.law, quantities, self.parameters)

    def at(self, quantities: Mapping[str, Any], D: Matrix) -> _Creep:
        """Return the network with G = I + D at the strain of the quantities.

        As det G = 1 its trace is that of products, so that the invariants
        I1 = tr CG and I2 = tr adj(C) adj(G) keep their digits where C and G are near I.
        """
        E, symbols = quantities[_TENSOR], {q: Dummy(q, positive=True) for q in INVARIANTS}
        parts = self.parts([symbols[q] for q in self.arguments.quantities])
        W = self.own["creep_s"] * Add(*(w for name, w in parts.items() if name != VOLUMETRIC))
        entries = {p: Dummy("D", real=True) for p in _PAIRS}
        d = Matrix(3, 3, lambda i, k: entries[min(i, k), max(i, k)])
        minors, volume = _minors(d), d.det(method="berkowitz")
        values = {symbols["I1"]: quantities["I1"] + 2 * dot(E, d) - minors - volume}
        if "I2" in self.arguments.quantities:
            both = dot(_cofactors(2 * E), _cofactors(d))
            values[symbols["I2"]] = quantities["I2"] + both - minors - 2 * volume
        back = {entries[p]: D[p] for p in _PAIRS}
        now = {a: x.xreplace(back) for a, x in values.items()} | {symbols["J"]: quantities["J"]}
        slopes = {a: diff(W, a).xreplace(now) for a in values}
        force = zeros(3, 3)
        for i, k in _PAIRS:
            share = 1 if i == k else Rational(1, 2)
            total = Add(*(w * diff(values[a], entries[i, k]) for a, w in slopes.items()))
            force[i, k] = force[k, i] = share * total.xreplace(back)
        W1, W2 = slopes[symbols["I1"]], slopes.get(symbols["I2"], S.Zero)
        speed, stiffness = self._creeping(E, D, W1, W2)
        return _Creep(D, W.xreplace(now), force, speed, stiffness)

    def _creeping(self, E: Matrix, D: Matrix, W1: Expr, W2: Expr) -> tuple[Matrix, Expr]:
        """Return the speed of creep, and how fast it relaxes, where W_1 and W_2 are known.

        The stress F^-1 dev(tau) F is 2 (W_1 + W_2 (1 + tr B)) dev B - 2 W_2 dev B^2 with
        B = G C - I.
        """
        own = self.own
        B = D + 2 * E + 2 * D * E
        stress = [(2 * (W1 + W2 * (1 + B.trace())), B), (-2 * W2, B * B)][: 1 + (W2 != 0)]
        stress = [(w, A - A.trace() / 3 * eye(3)) for w, A in stress]
        squares = [v * w * dot(A, B.T) for v, A in stress for w, B in stress]
        size, m = own["creep_stress"], own["creep_m"]
        square = Max(Rational(3, 2) * Add(*squares) / size**2, _SMALL)
        crept = (_minors(D) + 2 * D.det(method="berkowitz")) / -3  # tr F_c^T F_c/3 - 1
        slowing = (crept / (1 + sqrt(1 + crept)) + own["creep_E"]) ** own["creep_C"]
        mobility = 3 * own["creep_rate"] * slowing * square ** ((m - 1) / 2) / size
        speed = zeros(3, 3)
        for w, A in stress:
            product = A + A * D
            for i, k in _PAIRS:
                mean = product.trace() / 3 if i == k else 0
                speed[i, k] -= mobility * w * (product[i, k] - mean)
        for i, k in _PAIRS:
            speed[k, i] = speed[i, k]
        norm = size * sqrt(Rational(2, 3) * square)
        return speed, m * mobility * (2 * (W1 + W2) + norm)


def _minors(A: Matrix) -> Expr:
    """Return the second invariant of a symmetric matrix."""
    pairs = ((0, 1), (0, 2), (1, 2))
    return Add(*(A[i, i] * A[k, k] - A[i, k] ** 2 for i, k in pairs))


def _cofactors(A: Matrix) -> Matrix:
    """Return adj(I + A) - I of a symmetric matrix."""
    return A.trace() * eye(3) - A + adjugate(A)
