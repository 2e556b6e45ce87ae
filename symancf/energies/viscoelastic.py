# SPDX-License-Identifier: BSD-3-Clause
"""Prony series on any isotropic hyperelastic law: finite linear viscoelasticity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sympy import Add, Dummy, Expr, Matrix, MatrixBase, S, diff, exp, eye, zeros

from symancf_codegen.functions import expm1mx

from ..errors import KinematicsError, ParameterError
from ..kinematics.memory import Remembered, memory, remember, require_plain
from ..kinematics.moduli import constants_of, isotropic
from ..kinematics.naming import law_of, signature
from ..kinematics.quantity import dot
from ..kinematics.rod import ROD_STRAINS
from ..values.domain import between, by_call, combinations, domains, domains_as, positive
from ..values.functions import REQUIRED, taking
from ..values.parameter import label, reals
from ..values.reader import Signature, require_quantities
from .solids import MAX_TERMS

if TYPE_CHECKING:
    from .solids import Energy

VOLUMETRIC = "volumetric"
#: The part of rods that keeps their directors orthonormal, a penalty.
SECTION = "section"
TINY = 1e-20  # beside x = dt/tau
INVARIANTS = ("J", "I1", "I2")
STRETCHES = ("lambda1", "lambda2", "lambda3")
_TENSOR = "E_gl"
#: Strains of rods, cables and thin plates; those of plates are tensors, three numbers each.
_CURVATURES = ("kappa", "kappa_n3", "kappa_n0")
_OF_LINES = (*ROD_STRAINS, "epsilon_green", "kappa_plane")
_AXES = "stretch_axes"
_BELOW_ONE = "the weights sum to less than 1"
_RELAXED = "so that a stiffness is left when all has relaxed"


@by_call
def prony(law: Energy, *, g: Sequence[float], tau: Sequence[float]) -> Energy:
    r"""Return a viscoelastic law: the stress of a hyperelastic one relaxes by a Prony series.

    With the stress :math:`S_0 = \partial W_0/\partial E` of all parts of the law but the
    volumetric one (finite linear viscoelasticity),

    .. math::
        S = S_\mathrm{vol} + \Big(1 - \sum_i g_i\Big) S_0 + \sum_i h_i, \qquad
        \dot h_i + \frac{h_i}{\tau_i} = g_i\, \dot S_0 .

    At constant strain the stress relaxes as
    :math:`1 - \sum_i g_i (1 - e^{-t/\tau_i})`, at any strain; at small strain the storage and
    loss moduli of shear are those of the series, :math:`G_0 (1 - \sum g_i/(1 + \omega^2
    \tau_i^2))` and :math:`G_0 \sum g_i\, \omega \tau_i/(1 + \omega^2 \tau_i^2)`.

    Of rods, thin plates and plane cables the forces and moments :math:`\partial W/\partial e` of
    their strains e relax in the same way, all but those that keep the section of a rod: the
    material has one series for stretch and shear, and no points across the section are needed.

    Parameters
    ----------
    law : an isotropic energy of a solid from J, I1, I2, principal stretches or E_gl, in named
        parts of which one is ``"volumetric"``; or `rod`, `kirchhoff`, ``cable(curvature="plane")``
        and their like. Its moduli are the instantaneous ones.
    g : weights of the series [-], positive; their sum is less than 1.
    tau : relaxation times [s], as many.

    Returns
    -------
    The viscoelastic law, with the named parts and parameters of the hyperelastic one, and g1, tau1,
    g2, tau2, ... as optional parameters (numbers, or `Parameter`). In a step of length dt, with
    :math:`x = dt/\tau_i`, h_i becomes
    :math:`e^{-x} h_i + g_i \frac{1 - e^{-x}}{x} \Delta S_0`: exact where S_0 is constant or grows
    evenly, of second order in dt otherwise. In steps much longer than tau_i, where h_i is small,
    its error is :math:`g_i \tau_i \ddot S_0\, dt/2`. The tangent is symmetric.
    A point remembers h_i, S_0 and
    2 N + 1 numbers for the energies. Steps with dt = 0, of a `Parameter` alone, are elastic.

    Raises
    ------
    KinematicsError : the law is not isotropic, names no volumetric part, or remembers itself.
    ParameterError : weights and times are not as above.

    Notes
    -----
    The energy psi_i in a term follows :math:`\dot\psi_i = h_i : \dot E - 2\psi_i/\tau_i`, which
    is exact at small strain and wherever the strain is constant or changes fast; the dissipation
    is :math:`2\psi_i/\tau_i`.

    References
    ----------
    J. C. Simo, Computer Methods in Applied Mechanics and Engineering 60 (1987) 153-173;
    G. A. Holzapfel, Nonlinear Solid Mechanics (2000), section 6.10.

    Examples
    --------
    >>> import symancf as sa
    >>> silicone = sa.energies.prony(sa.energies.yeoh(), g=(0.25, 0.15), tau=(2.0, 60.0))
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(C10=0.05, C20=0.001, C30=0.0, k=50.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, silicone, **given)
    Body 'body': 1 hex8 with prony_yeoh
    """
    law = law_of(law)
    asked = signature(law)
    what = f"{asked.name}() in prony()"
    require_plain(what, law, "give the instantaneous (hyperelastic) law", memory=False)
    weights, times = _series(g, tau)
    numbers = range(1, len(weights) + 1)
    branches = [_PronyTerm(i) for i in numbers]
    strains: _OfSolid | _OfStructure
    if {*_OF_LINES, *_CURVATURES} & {*asked.quantities}:
        strains = _OfStructure(what, law, asked)
    else:
        strains = _OfSolid(what, law, asked)
    names, zero = strains.names, strains.zero
    remembered: dict[str, Any] = {"stress_before": zero, "complement": 0}
    for b in branches:
        remembered |= {b.stress: zero, b.energy: 0, b.work: 0}

    def relaxing(*quantities: Any, dt: Expr, **own_values: Any) -> Remembered:
        at = dict(zip(names, quantities, strict=True))
        parameters = {p: own_values[p] for p in asked.parameters}
        parts, elastic = strains.parts(at, parameters)
        W0, S0, E = Add(*parts.values()), strains.stress(at, parameters), strains.strain(at)
        before = own_values["stress_before"]
        divergence = W0 - dot(before, E) - own_values["complement"]
        now = [b.after(dt, own_values, S0 - before, E, divergence) for b in branches]
        share = 1 + Add(*(own_values[b.weight] * (b.gained(dt, own_values) - 1) for b in branches))
        linear = [b.linear(dt, own_values, before) for b in branches]
        result = {name: share * w for name, w in parts.items()}
        result[next(iter(parts))] += dot(sum(linear, zero), E)
        equilibrium = 1 - Add(*(own_values[b.weight] for b in branches))
        state = equilibrium * W0 + Add(*(b.stored for b in now))
        return remember(
            {**result, **elastic} if {*result} != {""} else result[""],
            stored=strains.stored(state, elastic),
            dissipated=Add(*(b.dissipation for b in now)),
            stress_before=S0,
            complement=W0 - dot(S0, E),
            **{name: x for b in now for name, x in b.values.items()},
        )

    relaxing.__name__ = f"prony_{asked.name}"
    series = {b.weight: x for b, x in zip(branches, weights, strict=True)}
    series |= {b.time: x for b, x in zip(branches, times, strict=True)}
    keywords = {p: asked.defaults.get(p, REQUIRED) for p in asked.parameters}
    own = dict.fromkeys((*remembered, "dt"), REQUIRED)
    taking(relaxing, names, {**keywords, **series, **own})
    limits = {b.weight: between(0, 1, _BELOW_ONE) for b in branches}
    limits |= {b.time: positive() for b in branches}
    energy = domains(**limits)(domains_as(law)(relaxing))

    def total(*shares: Any) -> Any:
        return sum(shares)

    taking(total, [b.weight for b in branches])
    energy = combinations({"the sum of g": (total, between(0, 1, _RELAXED))})(energy)
    return memory(**remembered)(isotropic(**constants_of(law))(energy))


@dataclass(frozen=True)
class _OfSolid:
    """The strain of a solid, whose volumetric part stays elastic.

    Attributes
    ----------
    what : names the law in messages.
    law, arguments : the law, and what it asks for.
    """

    what: str
    law: Energy
    arguments: Signature

    def __post_init__(self) -> None:
        offered = (*INVARIANTS, *STRETCHES, _TENSOR)
        require_quantities(self.what, self.arguments, offered, "an isotropic law")

    @property
    def names(self) -> tuple[str, ...]:
        """The quantities that the viscoelastic law asks for."""
        asked = self.arguments.quantities
        more = [_TENSOR] + ([_AXES] if {*STRETCHES} & {*asked} else [])
        return (*asked, *(q for q in more if q not in asked))

    @property
    def zero(self) -> Matrix:
        """A stress of 0."""
        return zeros(3, 3)

    def parts(
        self, at: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> tuple[dict[str, Expr], dict[str, Expr]]:
        """Return the parts of the energy that relax, and those that do not."""
        quantities = [at[q] for q in self.arguments.quantities]
        parts = parts_of(self.what, self.law, quantities, parameters)
        return parts, {VOLUMETRIC: parts.pop(VOLUMETRIC)}

    def strain(self, at: Mapping[str, Any]) -> Matrix:
        """Return the strain, of the shape of the stress."""
        return at[_TENSOR]

    def stress(self, at: Mapping[str, Any], parameters: Mapping[str, Any]) -> Matrix:
        """Return the stress of the parts that relax."""
        return _stress(self.what, self.law, self.arguments, at, parameters)

    def stored(self, state: Expr, elastic: Mapping[str, Expr]) -> object:
        """Return the energy in the state: that of what relaxes, and the elastic parts."""
        return Add(state, *elastic.values())


class _OfStructure(_OfSolid):
    """The strains of a rod, thin plate or cable in one column; the section of a rod is elastic."""

    def __post_init__(self) -> None:
        offered: tuple[str, ...] = (*_OF_LINES, "E_section", "cell_length")
        if {*_CURVATURES} & {*self.arguments.quantities}:
            offered = (_TENSOR, *_CURVATURES)
        require_quantities(
            self.what, self.arguments, offered, "a law of rods, cables or thin plates"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The quantities that the viscoelastic law asks for."""
        return self.arguments.quantities

    @property
    def zero(self) -> Matrix:
        """Forces and moments of 0."""
        tensors = {_TENSOR, *_CURVATURES}
        sizes = (3 if q in tensors else 1 for q in self._strains())
        return zeros(sum(sizes), 1)

    def _strains(self) -> list[str]:
        return [q for q in self.arguments.quantities if q not in ("E_section", "cell_length")]

    def parts(
        self, at: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> tuple[dict[str, Expr], dict[str, Expr]]:
        """Return the parts of the energy that relax, and those that do not."""
        result = self.law(*(at[q] for q in self.arguments.quantities), **parameters)
        parts = dict(result) if isinstance(result, Mapping) else {"": result}
        return parts, {SECTION: parts.pop(SECTION)} if SECTION in parts else {}

    def strain(self, at: Mapping[str, Any]) -> Matrix:
        """Return all strains in a column, of tensors 11, 22, 12."""
        return Matrix([x for q in self._strains() for x in _column(at[q])])

    def stress(self, at: Mapping[str, Any], parameters: Mapping[str, Any]) -> Matrix:
        """Return the forces and moments of the parts that relax."""
        own = {q: _variables(q, at[q]) for q in self._strains()}
        parts, _ = self.parts({**at, **own}, parameters)
        W0, e = Add(*parts.values()), self.strain(own)
        back = dict(zip(e, self.strain(at), strict=True))
        return Matrix([diff(W0, x).xreplace(back) for x in e])

    def stored(self, state: Expr, elastic: Mapping[str, Expr]) -> object:
        """Return the energy in the state, of a rod that of its strains by name."""
        return {"strain": state} if elastic else state


def _column(value: Any) -> list[Expr]:
    """Return a scalar, or 11, 22, 12 of a symmetric tensor of a plate."""
    return [value[0, 0], value[1, 1], value[0, 1]] if isinstance(value, MatrixBase) else [value]


@dataclass(frozen=True)
class _PronyTerm:
    """The names of a term of the series: of its parameters, and of what it remembers."""

    number: int

    @property
    def weight(self) -> str:
        return f"g{self.number}"

    @property
    def time(self) -> str:
        return f"tau{self.number}"

    @property
    def stress(self) -> str:
        return f"overstress{self.number}"

    @property
    def energy(self) -> str:
        return f"branch_energy{self.number}"

    @property
    def work(self) -> str:
        return f"branch_work{self.number}"

    def ratio(self, dt: Expr, own_values: Mapping[str, Any]) -> Expr:
        """Return x = dt/tau, kept from 0 so that quotients by it have their limits there."""
        return dt / own_values[self.time] + TINY

    def gained(self, dt: Expr, own_values: Mapping[str, Any]) -> Expr:
        """Return (1 - exp(-x))/x: what is left of a stress that has grown evenly in a step."""
        x = self.ratio(dt, own_values)
        return 1 - expm1mx(-x) / x

    def linear(self, dt: Expr, own_values: Mapping[str, Any], before: Matrix) -> Matrix:
        """Return the stress at the end of a step, but for that of the present strain."""
        decay, gained = exp(-dt / own_values[self.time]), self.gained(dt, own_values)
        return decay * own_values[self.stress] - gained * own_values[self.weight] * before

    def after(
        self, dt: Expr, own_values: Mapping[str, Any], change: Matrix, E: Matrix, divergence: Expr
    ) -> _StepEnd:
        """Return what is remembered at the end of a step in which strain and stress grow evenly."""
        x, phi, decay = (
            self.ratio(dt, own_values),
            self.gained(dt, own_values),
            exp(-dt / own_values[self.time]),
        )
        weight, old, energy = (own_values[n] for n in (self.weight, self.stress, self.energy))
        h = decay * old + phi * weight * change
        along, grown = phi * (dot(old, E) - own_values[self.work]), weight * divergence
        psi = decay**2 * energy + decay * along + phi**2 * grown
        lost = (1 - decay**2) * energy + (1 - decay) * along
        lost += (2 * expm1mx(-x) / x**2 - phi**2) * grown
        return _StepEnd({self.stress: h, self.energy: psi, self.work: dot(h, E)}, psi, lost)


@dataclass(frozen=True)
class _StepEnd:
    """A term of the series at the end of a step: what it remembers, stores and has dissipated."""

    values: Mapping[str, Any]
    stored: Expr
    dissipation: Expr


def _series(g: Any, tau: Any) -> tuple[list[float], list[float]]:
    """Return the weights and times of a series.

    Raises
    ------
    ParameterError
    """
    weights, times = _numbers("g", g), _numbers("tau", tau)
    if len(weights) != len(times):
        raise ParameterError(
            f"prony(g={label(g)}, tau={label(tau)}): there are {len(weights)} weights and "
            f"{len(times)} relaxation times: give one time for each weight",
            asked="tau",
            given=tau,
        )
    if math.fsum(weights) >= 1:
        raise ParameterError(
            f"prony(g={label(g)}): the weights sum to {math.fsum(weights):.12g}; they must sum to "
            "less than 1, so that a stiffness is left when all has relaxed",
            asked="g",
            given=g,
        )
    return weights, times


def _numbers(name: str, given: Any) -> list[float]:
    """Return positive numbers, at least one."""
    values = reals(given)
    if values.ndim != 1 or not 1 <= values.size <= MAX_TERMS or not (values > 0).all():
        raise ParameterError(
            f"prony({name}={label(given)}): give 1 to {MAX_TERMS} positive numbers, one for each "
            "term of the series",
            asked=name,
            given=given,
        )
    return [float(x) for x in values]


def parts_of(
    what: str, law: Energy, quantities: Sequence[Any], parameters: Mapping[str, Any]
) -> dict[str, Expr]:
    """Return the parts of an energy, the volumetric one and others.

    Raises
    ------
    KinematicsError : there are no such parts.
    """
    result = law(*quantities, **parameters)
    parts = dict(result) if isinstance(result, Mapping) else {}
    if VOLUMETRIC not in parts or len(parts) < 2:
        raise KinematicsError(
            f"{what}: all parts but the volumetric one relax, so it must return "
            "{'deviatoric': ..., 'volumetric': ...}; its parts are "
            f"{', '.join(parts) or 'not named'}",
            asked="parts",
            given=tuple(parts),
        )
    return parts


def _stress(
    what: str,
    law: Energy,
    law_signature: Signature,
    at: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> Matrix:
    """Return the second Piola-Kirchhoff stress of all parts but the volumetric one.

    With a = 2 W_1 + 2 W_2 I1, b = J W_J, c = -2 W_2 that of invariants is a I + b C^-1 + c C, of
    which a + b/J^2 + c is small at small strain; that of stretches is diagonal in their axes.
    """
    own = {q: _variables(q, at[q]) for q in law_signature.quantities}
    parts = parts_of(what, law, [own[q] for q in law_signature.quantities], parameters)
    W0 = Add(*(w for name, w in parts.items() if name != VOLUMETRIC))
    back = {s: x for q in own for s, x in zip(_flat(own[q]), _flat(at[q]), strict=True)}

    def slope(q: str) -> Expr:
        return diff(W0, own[q]).xreplace(back) if q in own else S.Zero

    if {*STRETCHES} & {*own}:
        return _of_stretches(at, W0, own, back)
    E = at[_TENSOR]
    of_J, of_I1, of_I2 = (2 * slope(q) if q != "J" else slope(q) for q in INVARIANTS)
    stress = zeros(3, 3)
    if _TENSOR in own:
        e = own[_TENSOR]
        stress += Matrix(3, 3, lambda i, k: diff(W0, e[i, k]).xreplace(back) / (1 if i == k else 2))
    if of_J == of_I1 == of_I2 == 0:
        return stress
    J = at.get("J", S.One)
    b, c = of_J / J, -of_I2
    a = of_I1 + of_I2 * at.get("I1", 3 + 2 * E.trace())
    minors = 2 * (E.trace() * eye(3) - E) + 4 * adjugate(E)
    return stress + (a + b + c) * eye(3) + b * minors + 2 * c * E


def _of_stretches(
    at: Mapping[str, Any], W0: Expr, own: Mapping[str, Any], back: Mapping[Expr, Expr]
) -> Matrix:
    """Return the stress of a law of principal stretches: (dW/d ln lambda_a)/lambda_a^2 along N_a.

    Invariants in it are functions of the stretches.
    """
    N, stress = at[_AXES], zeros(3, 3)
    x = [own[q] for q in STRETCHES]
    pairs = x[0] * x[1], x[1] * x[2], x[0] * x[2]
    invariants = {
        "J": x[0] * x[1] * x[2],
        "I1": Add(*(s**2 for s in x)),
        "I2": Add(*(p**2 for p in pairs)),
    }
    for a, s in enumerate(x):
        slope = diff(W0, s)
        for q, value in invariants.items():
            if q in own:
                slope += diff(W0, own[q]) * diff(value, s)
        principal = (slope / s).xreplace(back)
        stress += Matrix(3, 3, lambda i, k, p=principal, a=a: p * N[a, i] * N[a, k])
    return stress


def _variables(name: str, value: Any) -> Any:
    """Return variables in the place of a quantity, to differentiate by them."""
    if isinstance(value, MatrixBase):
        n = value.shape[0]
        e = {(i, k): Dummy(f"{name}{i}{k}", real=True) for i in range(n) for k in range(i, n)}
        return Matrix(n, n, lambda i, k: e[min(i, k), max(i, k)])
    positive = name in INVARIANTS or name in STRETCHES
    return Dummy(name, positive=True) if positive else Dummy(name, real=True)


def _flat(value: Any) -> list[Expr]:
    return [*value] if isinstance(value, MatrixBase) else [value]


def adjugate(E: Matrix) -> Matrix:
    """Return the adjugate of a symmetric 3x3 matrix."""
    return Matrix(
        3,
        3,
        lambda i, k: E[k - 2, i - 2] * E[k - 1, i - 1] - E[k - 2, i - 1] * E[k - 1, i - 2],
    )
