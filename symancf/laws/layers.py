# SPDX-License-Identifier: BSD-3-Clause
"""Plates of layers: what they are made of, from the lower face to the upper one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.declare import reference
from symancf_codegen.functions import KINKS, NUMPY, branches, numerical, symbolic

from ..arrays import Array
from ..errors import OwnAttributes, ParameterError
from ..kinematics.layer import ANGLE, AXIS, cosines
from ..kinematics.memory import STEP, Remembered, declared, memory, require_plain
from ..kinematics.moduli import by_moduli
from ..kinematics.naming import Energy, call_law, law_of, signature
from ..kinematics.quantity import real
from ..values import arguments
from ..values.arguments import flag
from ..values.domain import (
    Domain,
    by_call,
    combinations_of,
    domains_of,
    not_negative,
    require_domains,
)
from ..values.functions import REQUIRED, arguments_of, taking
from ..values.parameter import label, reals, vector3
from ..values.reader import as_expression, require_parameters
from ..values.spellings import advise

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw, Rule

    from ..kinematics.layer import Axis
    from ..values.parameter import Value

NO_VALUES: Mapping[str, Any] = MappingProxyType({})

#: Quantities that are tensors: a law of these may have axes of its own.
TENSORS = ("E_gl", "C", "F", "H")


@dataclass(frozen=True)
class Layer:
    """One layer: its law, thickness [m], angle [degrees], and parameters of its own."""

    law: Energy
    thickness: float
    angle: float = 0.0
    parameters: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{signature(self.law).name} {self.thickness:g} at {self.angle:g}"


@dataclass(frozen=True)
class LayerGroup:
    """Layers of one law with the same parameters.

    Attributes
    ----------
    energy : the law, whose own parameters have the number of the layer where they first occur.
    turns : whether its angle makes a difference.
    numbers : of its layers, from 0.
    rho : name of its density.
    """

    energy: Energy
    turns: bool
    numbers: tuple[int, ...]
    rho: str


class Layers(OwnAttributes):
    r"""A plate of layers, from z = -h/2 upwards: the energy of a body of plates.

    Parameters
    ----------
    layers : tuples (law, thickness [m]), (law, thickness, angle) or (law, thickness, angle,
        parameters). A law is an energy of solids; parameters that are not given here are
        those of the body, the same for all layers. ``rho`` may be among them.
    degrees : whether angles are in degrees; False: in radians. To be said where one is not 0.
    axis : the direction from which angles count, three numbers or a function of X (symbols) that
        returns three; it is made square to the normal, about which a positive angle turns. Default:
        x. Laws without directions of their own need none.
    resultants : on thin plates, whether layers whose law is quadratic in the strain are summed up
        before (see Notes), which makes no difference but to speed. Others are integrated.

    offset : height [m] of the middle of all layers over the reference surface, which the mesh is;
        half of the thickness where the mesh is the lower face. Given a thickness of the body, it
        follows in proportion. Thin plates have their mass in the reference surface; faces of
        others, ``face(+1)``, are refused.

    Notes
    -----
    On `ancf_plate` and its like each layer has Gauss points of its own, and its law is that of
    three-dimensional strain in the axes of the layer: 1 at the angle, 3 along the normal of the
    cells. Where directors are linear in z, what resists the change of thickness is taken at the
    mid-surface (`split`, as for one layer): of laws quadratic in the strain that is the whole
    square of what differs from plane stress.

    On `ancf_thin_plate` each layer is in plane stress, its strain :math:`E - z \kappa`. Of laws
    quadratic in the strain, with stiffness Q and stress :math:`\sigma_0` at rest,

    .. math::
        W = \tfrac12 E : A : E - E : B : \kappa + \tfrac12 \kappa : D : \kappa
            + N : E - M : \kappa, \quad
        (A, B, D) = \sum_k \int Q_k\,(1, z, z^2)\,\mathrm dz, \quad
        (N, M) = \sum_k \int \sigma_{0k}\,(1, z)\,\mathrm dz ;

    for others the change of thickness is solved for at each point.

    The body's `thickness` is the sum of those of the layers; given otherwise, as a number or a
    `Field`, all layers follow in proportion. Neighbours that are alike count as one.

    Raises
    ------
    ParameterError : a layer is not as above.
    KinematicsError : a law has unknowns of its own.

    Examples
    --------
    >>> import symancf as sa
    >>> fibres = dict(E1=140e9, E2=10e9, E3=10e9, nu12=0.3, nu13=0.3, nu23=0.4, G12=5e9, G13=5e9,
    ...               G23=3.5e9)
    >>> ply = sa.energies.orthotropic()
    >>> cross_ply = sa.Layers([(ply, 1e-3, 0), (ply, 1e-3, 90)], degrees=True)
    >>> mesh = sa.Mesh.box((0.1, 0.1), (4, 4))
    >>> plate = sa.Body(mesh["body"], sa.elements.ancf_thin_plate, cross_ply, **fibres)
    >>> round(plate.parameters["thickness"], 6)
    0.002

    References
    ----------
    R. M. Jones, Mechanics of Composite Materials, 2nd ed. (1999), chapter 4 (A, B, D).
    """

    __name__ = "layers"

    def __init__(
        self,
        layers: Sequence[tuple[Any, ...]],
        *,
        degrees: bool | None = None,
        axis: Axis = (1.0, 0.0, 0.0),
        resultants: bool = True,
        offset: float = 0.0,
    ) -> None:
        value: object = layers
        if not isinstance(value, list | tuple):
            raise ParameterError(
                f"Layers({label(layers)}): give a list of (law, thickness, angle)",
                asked="layers",
                given=layers,
            )
        read = (_layer(k, layer) for k, layer in enumerate(layers, 1))
        self.layers = _in_degrees(tuple(read), degrees)
        if not self.layers:
            raise ParameterError(
                "Layers([]) has no layer: give (law, thickness, angle)", asked="layers", given=()
            )
        if not callable(axis) and not vector3("Layers: axis", axis).any():
            raise ParameterError(
                f"Layers(axis={label(axis)}): give a direction, three numbers",
                asked="axis",
                given=axis,
            )
        self.axis, self.resultants = axis, resultants
        self.offset = arguments.number(
            "Layers", "offset", offset, "be a finite number [m]", math.isfinite
        )
        h = np.array([layer.thickness for layer in self.layers])
        self.thickness = float(h.sum())
        self.edges = np.concatenate([[0.0], np.cumsum(h)]) / self.thickness * 2.0 - 1.0
        self.edges[-1] = 1.0
        self.edges += 2.0 * self.offset / self.thickness
        self.kinds = self._kinds()
        self._declare()

    def __repr__(self) -> str:
        text = ", ".join(map(str, self.layers))
        offset = f", offset {self.offset:g}" if self.offset else ""
        return f"<layers: {text}{offset}>"

    def __call__(self, *quantities: sp.Expr, **parameters: sp.Expr) -> dict[str, sp.Expr]:
        """Return the mean energy per volume by kinds of layers, each in axes of its own.

        For people: plates integrate it layer by layer.
        """
        values = dict(zip(signature(self).quantities, quantities, strict=True))
        energies = {}
        for kind in self.kinds:
            arguments = signature(kind.energy)
            own = {p: parameters[p] for p in arguments.parameters}
            called, _ = call_law(kind.energy, {q: values[q] for q in arguments.quantities}, own)
            W = summed(arguments.name, called.result)
            name = f"{arguments.name}_{kind.numbers[0] + 1}"
            energies[name] = sp.Float(self.moments(kind.numbers)[0] / 2.0, 6) * W
        return energies

    def _kinds(self) -> tuple[LayerGroup, ...]:
        """Gather the layers that are alike."""
        groups: list[list[int]] = []
        for k, layer in enumerate(self.layers):
            for numbers in groups:
                if _alike(self.layers[numbers[0]], layer):
                    numbers.append(k)
                    break
            else:
                groups.append([k])
        kinds = []
        for numbers in groups:
            first = self.layers[numbers[0]]
            rho = f"rho_{numbers[0] + 1}" if "rho" in first.parameters else "rho"
            energy = numbered(first.law, first.parameters, numbers[0] + 1)
            kinds.append(LayerGroup(energy, has_axes(first.law), tuple(numbers), rho))
        return tuple(kinds)

    def _declare(self) -> None:
        """Say as a function does what it asks for, and what its parameters may be."""
        quantities: dict[str, None] = {}
        keywords: dict[str, Any] = {}
        self.domains: dict[str, Domain] = {}
        self.combinations: dict[str, Any] = {}
        for x in self.kinds:
            wanted = signature(x.energy)
            quantities |= dict.fromkeys(wanted.quantities)
            keywords |= {p: wanted.defaults.get(p, REQUIRED) for p in wanted.parameters}
            self.domains.update(domains_of(x.energy))
            self.combinations.update(combinations_of(x.energy))
        for n, layer in enumerate(self.layers, 1):
            name = f"rho_{n}"
            if "rho" in layer.parameters and name in self.densities():
                keywords[name] = layer.parameters["rho"]
                self.domains[name] = not_negative()
        taking(self, quantities, {**keywords, "thickness": self.thickness})
        rests = (getattr(layer.law, "stressed_at_rest", False) for layer in self.layers)
        self.stressed_at_rest = any(rests)

    # ---- through the thickness ------------------------------------------------------------------
    def spans(self, numbers: Sequence[int], turns: bool) -> Array:
        """Return where layers begin and end, and their angles, (n, 3); neighbours alike are one.

        But those that remember: each has points of its own.
        """
        rows: list[list[float]] = []
        for k in numbers:
            low, high = float(self.edges[k]), float(self.edges[k + 1])
            angle = self.layers[k].angle if turns else 0.0
            alike = rows and rows[-1][1] == low and rows[-1][2] == angle
            if alike and not declared(self.layers[k].law):
                rows[-1][1] = high
            else:
                rows.append([low, high, angle])
        return np.array(rows)

    def moments(self, numbers: Sequence[int]) -> tuple[float, float, float]:
        """Return the integrals of 1, zeta, zeta^2 over layers."""
        low, high, _ = self.spans(numbers, False).T
        first, second, third = (float(((high**n - low**n) / n).sum()) for n in (1, 2, 3))
        return first, second, third

    @property
    def numbers(self) -> dict[str, float]:
        """What all of its laws bring along: the axis, if it is a direction."""
        return {} if callable(self.axis) else dict(zip(AXIS, map(float, self.axis), strict=True))

    @property
    def middle(self) -> float:
        """Zeta of the middle of all layers."""
        return float(self.edges[0] + self.edges[-1]) / 2.0

    def angles(self, kind: LayerGroup) -> dict[float, tuple[int, ...]]:
        """Return the layers of a kind by their angles; all at 0 where these make no difference."""
        by_angle: dict[float, list[int]] = {}
        for k in kind.numbers:
            by_angle.setdefault(self.layers[k].angle if kind.turns else 0.0, []).append(k)
        return {angle: tuple(numbers) for angle, numbers in by_angle.items()}

    def number(self, given: object) -> int:
        """Return the number (from 0) of a layer that is named by its place, from 1.

        Raises
        ------
        ParameterError : there is none.
        """
        count = len(self.layers)
        is_number = isinstance(given, int | np.integer) and not isinstance(given, bool)
        if not isinstance(given, int | np.integer) or not (is_number and 1 <= given <= count):
            raise ParameterError(
                f"layer={label(given)}: there are {self.listed}",
                asked="layer",
                given=given,
                possible=range(1, count + 1),
            )
        return int(given) - 1

    @property
    def listed(self) -> str:
        """The numbers of the layers and what they are, in words."""
        most = 8
        texts = [f"{k} {layer}" for k, layer in enumerate(self.layers[:most], 1)]
        more = f" and {len(self.layers) - most} more" if len(self.layers) > most else ""
        return f"layers 1 (below) to {len(self.layers)}: {', '.join(texts)}{more}"

    def height(self, number: int, place: float) -> float:
        """Return zeta at a place of a layer, -1 its lower and 1 its upper face."""
        low, high = self.edges[number], self.edges[number + 1]
        return float(0.5 * (low + high) + 0.5 * place * (high - low))

    def law_with(self, parameter: str) -> Energy | None:
        """Return the first law that has a parameter, None where none has."""
        laws = (kind.energy for kind in self.kinds)
        return next((x for x in laws if parameter in signature(x).parameters), None)

    def kind_of(self, number: int) -> LayerGroup:
        """Return the kind of a layer."""
        return next(kind for kind in self.kinds if number in kind.numbers)

    def angle_values(self, number: int) -> dict[str, float]:
        """Return what the points of a layer know: cosine and sine of its angle, by name."""
        return dict(zip(ANGLE, map(float, cosines(self.layers[number].angle)), strict=True))

    def densities(self) -> dict[str, tuple[int, ...]]:
        """Return the layers of each density, by its name."""
        by_density: dict[str, list[int]] = {}
        for kind in self.kinds:
            by_density.setdefault(kind.rho, []).extend(kind.numbers)
        return {name: tuple(sorted(numbers)) for name, numbers in by_density.items()}

    def weighs(self, given: Mapping[str, object]) -> bool:
        """Whether the densities of all layers are given.

        Raises
        ------
        ParameterError : those of some only.
        """
        names = self.densities()
        missing = [name for name in names if name not in given]
        if missing and len(missing) < len(names):
            raise ParameterError(
                f"layers have {', '.join(n for n in names if n in given)} but no {missing[0]}: "
                "give the density of all or of none",
                asked=missing[0],
                given=[n for n in names if n in given],
                possible=names,
            )
        return not missing


def _in_degrees(layers: tuple[Layer, ...], degrees: bool | None) -> tuple[Layer, ...]:
    """Return layers with their angles in degrees; None, without a word of the unit, warns."""
    if degrees is None and any(layer.angle for layer in layers):
        advise("Layers([(law, thickness, angle)]) in degrees without saying so", "degrees=True")
    elif degrees is not None and not flag("Layers", "degrees", degrees):
        return tuple(replace(layer, angle=float(np.degrees(layer.angle))) for layer in layers)
    return layers


def _layer(number: int, given: object) -> Layer:
    """Return a layer as it is given."""
    who = f"layer {number} of Layers"
    if not isinstance(given, tuple | list) or not 2 <= len(given) <= 4 or not callable(given[0]):
        raise ParameterError(
            f"{who} is {label(given)}: give (law, thickness), (law, thickness, angle) or "
            "(law, thickness, angle, {name: value})",
            asked="layers",
            given=given,
        )
    law, thickness, *rest = given
    absent: list[Any] = [0.0, {}]
    angle, own = rest + absent[len(rest) :]
    for what, value in (("thickness", thickness), ("angle", angle)):
        if reals(value).shape != ():
            raise ParameterError(
                f"the {what} of {who} is {label(value)}: give a number", asked=what, given=value
            )
    if not thickness > 0.0:
        raise ParameterError(
            f"the thickness of {who} is {label(thickness)}: it must be positive",
            asked="thickness",
            given=thickness,
        )
    if isinstance(law, Layers):
        raise ParameterError(
            f"{who} has layers: write each of them separately", asked="layers", given="Layers"
        )
    law = law_of(law)
    arguments = signature(law)
    require_plain(f"{who}: {arguments.name}()", law, "layers cannot", memory=True)
    if not isinstance(own, Mapping):
        raise ParameterError(
            f"{who}: parameters are a dict of names and values, not {label(own)}",
            asked="parameters",
            given=own,
        )
    law = by_moduli(law, own)
    arguments = signature(law)
    possible = (*arguments.parameters, "rho")
    require_parameters(f"{who}: {arguments.name}()", (), own, optional=possible, exact=True)
    values = {**arguments.defaults, **own}
    numbers = {p: x for p, x in values.items() if isinstance(x, Real)}
    require_domains(law, f"{arguments.name}() of {who}", numbers)
    return Layer(law, float(thickness), float(angle), dict(own))


def summed(name: str, parts: object) -> sp.Expr:
    """Return an energy, or the sum of its named parts, as a SymPy scalar."""
    parts_of_sum = [*parts.values()] if isinstance(parts, Mapping) else [parts]
    return sp.Add(*(as_expression(f"{name}()", name, part) for part in parts_of_sum))


def _alike(a: Layer, b: Layer) -> bool:
    own, other = a.parameters, b.parameters
    return (
        a.law is b.law
        and own.keys() == other.keys()
        and all(own[k] is other[k] or bool(np.all(own[k] == other[k])) for k in own)
    )


@by_call
def numbered(law: Energy, own: Mapping[str, Value], number: int) -> Energy:
    """Return a law whose parameters `own` have a number: ``E_2``, with these values as defaults.

    What it remembers has the number, too.
    """
    arguments, first = signature(law), declared(law)
    names = {p: f"{p}_{number}" for p in (*own, *first)}
    called = _with_names(law, names, own)

    def renamed(*quantities: sp.Expr, **parameters: sp.Expr) -> object:
        result = called(*quantities, **parameters)
        if isinstance(result, Remembered):
            values = {names[m]: x for m, x in result.values.items()}
            return replace(result, values=values)
        return result

    renamed.__name__ = arguments.name
    renamed.__wrapped__ = law  # type: ignore[attr-defined]
    vars(renamed)["__signature__"] = vars(called)["__signature__"]
    domains = {names.get(p, p): d for p, d in domains_of(law).items() if p in arguments.parameters}
    renamed.domains = domains  # type: ignore[attr-defined]
    renamed.combinations = {  # type: ignore[attr-defined]
        f"{what} of layer {number}": (_with_names(function, names), domain)
        for what, (function, domain) in combinations_of(law).items()
    }
    numbers = {names[m]: _with_names(x, names) if callable(x) else x for m, x in first.items()}
    return memory(**numbers)(renamed) if first else renamed


def _with_names(
    function: Callable[..., Any], names: Mapping[str, str], defaults: Mapping[str, Any] = NO_VALUES
) -> Callable[..., Any]:
    """Return a function whose arguments have other names, and some of them other defaults."""
    asked = arguments_of(function)

    def renamed(*values: Any, **keywords: Any) -> Any:
        pairs = ((old, names.get(old, old)) for old in asked.keywords)
        return function(*values, **{old: keywords[new] for old, new in pairs if new in keywords})

    known = {**asked.defaults, **defaults}
    after = {names.get(k, k): known.get(k, REQUIRED) for k in asked.keywords}
    taking(renamed, (names.get(k, k) for k in asked.positional), after)
    return renamed


#: What a body is told whose energy jumps between the points through its thickness.
JUMPS = (
    "its energy has a kink where X changes, and the points through a thickness know of none "
    "between them: if it is made of layers, give sa.Layers([(law, thickness, angle), ...]), where "
    "each layer has points of its own; else more points, such as quadrature='4x4x30'"
)


#: What a body is told whose layers bend where they are stretched, by the change of thickness.
LEANS = (
    "its layers are not symmetric about their middle, and have one change of thickness where each "
    "would have its own: of laws that are not quadratic in E_gl it bends the plate, by the order "
    "of Poisson's ratio times what it should; take ancf_thick_plate, or ancf_thin_plate"
)


def advice(energy: object, laws: Sequence[tuple[PointLaw, Rule]], quadrature: object) -> str:
    """Return what is to be told of an energy through a thickness or section, or nothing.

    `quadrature` : that was asked for; None: the element's.
    """
    if quadrature is None and _jumps(laws):
        return JUMPS
    if not isinstance(energy, Layers) or len(energy.kinds) == 1:
        return ""
    shares = (law for law, _ in laws if "k0_over_k" in map(str, dict(law.geometry)))
    mid = {law.name.removesuffix("_mid") for law in shares if law.name.endswith("_mid")}
    for kind in energy.kinds:
        area, first = energy.moments(kind.numbers)[:2]
        leans = abs(first - energy.middle * area) > 1e-9 * area
        if leans and any(name.endswith(f"_{kind.numbers[0] + 1}") for name in mid):
            return LEANS
    return ""


def _jumps(laws: Sequence[tuple[PointLaw, Rule]]) -> bool:
    """Whether an energy of several points through a thickness has a kink where the place changes.

    Three points find 0.675 of the deflection of a plate whose faces are stiffer than its core.
    """
    place = {*reference("value"), real("z")}
    for law, rule in laws:
        if len(rule.section_weights) > 1:
            expressions = (law.energy, *(e for _, e in (*law.lets, *law.geometry)))
            kinks = (x for e in expressions for x in symbolic(e).atoms(*KINKS))
            if any(x.free_symbols & place for x in kinks):
                return True
    return False


def has_axes(law: Energy) -> bool:
    """Whether a law changes where its solid is turned about axis 3, looked at in one state."""
    from symancf_codegen.stable.accuracy import SERIES

    arguments = signature(law)
    if not {*TENSORS} & {*arguments.quantities}:
        return False
    random = np.random.default_rng(7)
    H = 0.05 * random.standard_normal((3, 3))
    turn = random.uniform(0.3, 1.2)
    c, s = np.cos(turn), np.sin(turn)
    R: Array = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    names = [sp.Symbol(p, real=True) for p in arguments.parameters]
    numbers = 0.2 + 0.2 * random.random(len(names))
    states = [_state(arguments.quantities, F) for F in (np.eye(3) + H, R.T @ (np.eye(3) + H) @ R)]
    if any(state is None for state in states):
        return True
    values = []
    for state in states:
        own = dict(zip(arguments.parameters, names, strict=True))
        called, _ = call_law(law, dict(zip(arguments.quantities, state or (), strict=True)), own)
        first = {m.symbol: m.initial for m in called.history}
        W = summed(arguments.name, called.result).xreplace({**first, real(STEP): sp.Float(0.1)})
        with np.errstate(all="ignore"):
            values.append(float(numerical(names, branches(W), [SERIES, *NUMPY])(*numbers)))
    size = max(map(abs, values))
    return not (math.isfinite(size) and abs(values[0] - values[1]) <= 1e-9 * size)


def _state(arguments: Sequence[str], F: Array) -> list[sp.Basic] | None:
    """Return quantities of a solid with the deformation gradient F; None: one is not of a solid."""
    C = F.T @ F
    stretches = np.sqrt(np.linalg.eigvalsh(C))[::-1]
    values: dict[str, Any] = {
        "F": sp.Matrix(F),
        "J": sp.Float(np.linalg.det(F)),
        "I1": sp.Float(np.trace(C)),
        "I2": sp.Float((np.trace(C) ** 2 - np.trace(C @ C)) / 2.0),
        "C": sp.Matrix(C),
        "E_gl": sp.Matrix((C - np.eye(3)) / 2.0),
        "H": sp.Matrix(F - np.eye(3)),
        **{f"lambda{k}": sp.Float(x) for k, x in enumerate(stretches, 1)},
    }
    return [values[q] for q in arguments] if {*arguments} <= {*values} else None
