# SPDX-License-Identifier: BSD-3-Clause
"""Fields that may be sampled of a body: what its kinematics offer, stresses, functions of them.

A field is written in the same language as an energy: a function whose positional arguments name
quantities. Beside those of the kinematics it may ask for the stresses here, which are derivatives
of the body's energy; the compiler makes them (`symancf_codegen.functions.force_on`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.declare import HistoryVariable, KernelParameter, Local, PointLaw, reference
from symancf_codegen.functions import force_on, symbolic

from ..errors import KinematicsError, closest
from ..kinematics.local import declared_local
from ..kinematics.memory import declared
from ..kinematics.naming import signature
from ..kinematics.quantity import Kinematics, Quantity, cross, dot, real, vector
from ..values.reader import (
    as_expression,
    call_symbolic,
    require_parameters,
    require_quantities,
    scalar,
)
from .evaluate import evaluate_energy
from .laminate import layer_called
from .layers import Layers
from .mixed import PRESSURE

if TYPE_CHECKING:
    from ..arrays import Array
    from ..elements.element import Element
    from ..kinematics.naming import Energy
    from ..values.parameter import Value
    from .layers import LayerGroup
    from .mixed import PressureField
    from .parts import EnergyCall

Sampled = str | Callable[..., object]

#: Fields that are resultants of a solid's stress through the thickness; see `output.fields`.
RESULTANT_FIELDS = {
    "membrane_force": "membrane force through the thickness, 3x3 in global axes [N/m]",
    "bending_moment": "bending moment through the thickness, 3x3 in global axes [N]",
}

#: Fields of one layer of a body of layers.
OF_LAYERS = ("W", "P", "S", "cauchy", "sigma", "von_mises", "S_layer", "E_layer")

#: Fields of a thin plate of a thickness.
OF_THICKNESS = "von_mises_top", "von_mises_bottom"

#: Where what a layer remembers is known through it.
OF_MIDDLE = "of a layer in its middle, layer=1, or at its other Gauss points"

#: Quantities that are no strain: an energy of these alone has no stress.
PLACE = ("u", "r", "X", "t")


def default_fields(
    element: Element, energy: Energy, *, remembered: bool = True, layer: object = None
) -> tuple[str, ...]:
    """Return the fields that are sampled of a body if it is not said which.

    `remembered` : whether at points where it is known what a law remembers; `layer` : which.
    """
    if isinstance(energy, Layers):
        return ("von_mises",) if layer is not None else tuple(RESULTANT_FIELDS)
    offered = element.kinematics().quantities
    strained = set(signature(energy).quantities) - set(PLACE)
    strained = strained if remembered or not declared(energy) else set()
    if "F" in offered:
        return ("von_mises",) * bool(strained) + ("thickness",) * element.has_thickness
    if not strained:
        return ()
    if "E_gl" in offered:
        return OF_THICKNESS
    if "kappa1" in offered:
        return "axial_force", "shear_force", "torque", "bending_moment"
    return ("axial_force", "bending_moment") if "epsilon" in offered else ()


def stresses(kinematics: Kinematics, energy: sp.Expr) -> dict[str, Quantity]:
    r"""Return the quantities that follow from an energy density W.

    Solids: first and second Piola-Kirchhoff stress :math:`P = \partial W/\partial F`,
    :math:`S = F^{-1} P`, Cauchy stress :math:`\sigma = P F^T/J`. Thin plates, in global axes with
    the tangents e_a of the reference: :math:`n = n_{ab}\, e_a \otimes e_b`,
    :math:`n_{ab} = \partial W/\partial E_{ab}`, and m with the curvature alike; von Mises stress
    of n/h -+ 6 m/h^2. Rods: forces on the strains, but no W, whose part of the section is at
    the nodes. Cables: :math:`N = \partial W/\partial \lambda` and
    :math:`M = \partial W/\partial \kappa`.
    """
    quantities = {"W": Quantity(energy, f"energy density [{kinematics.unit}]")}
    offered = kinematics.quantities
    if "F" in offered:
        return quantities | _solid(kinematics)
    lets = {s.name for s, _ in kinematics.lets}
    if "kappa1" in offered:
        return _rod()
    if "E_gl" in offered:
        return quantities | _plate(lets)
    return quantities | _cable(kinematics, lets) if "epsilon" in offered else quantities


def _solid(kinematics: Kinematics) -> dict[str, Quantity]:
    def matrix(name: str) -> sp.Matrix:
        return sp.Matrix(3, 3, lambda i, k: real(f"{name}{i + 1}{k + 1}"))

    F, J = kinematics.quantities["F"].value, kinematics.quantities["J"].value
    P = matrix("H").applyfunc(force_on)
    cauchy = Quantity(P * F.T / J, "Cauchy stress P F^T/J, 3x3 [Pa]")
    inverse = (sp.eye(3) + matrix("cofF_m1_")).T / J
    quantities = {
        "P": Quantity(P, "first Piola-Kirchhoff stress dW/dF, 3x3 [Pa]"),
        "S": Quantity(inverse * P, "second Piola-Kirchhoff stress F^-1 P, 3x3 [Pa]"),
        "cauchy": cauchy,
        "sigma": cauchy,
        "von_mises": Quantity(von_mises(P * F.T / J), "von Mises stress of the Cauchy stress [Pa]"),
    }
    if "thickness" in kinematics.section:
        d = F * vector(reference("zeta"))
        present = real("thickness") * sp.sqrt(dot(d, d))
        quantities["thickness"] = Quantity(present, "present thickness h |d| [m]")
    return quantities


def _plate(lets: Iterable[str]) -> dict[str, Quantity]:
    h, frame = real("thickness"), _frame()

    def conjugate(*families: str) -> sp.Matrix:
        """The mixed component stands for two entries of a symmetric tensor."""
        n = {
            ab: sp.Add(*(force_on(real(f + ab)) for f in families if f + ab in lets))
            for ab in ("11", "12", "22")
        }
        return sp.Matrix([[n["11"], n["12"] / 2], [n["12"] / 2, n["22"]]])

    n, m = conjugate("E_gl"), conjugate("kappa", "kappa_n3_", "kappa_n0_")

    def outer(t: sp.Matrix) -> sp.Matrix:
        return sp.diag(t, 0)

    top, bottom = (von_mises(outer(n / h + side * 6 * m / h**2)) for side in (-1, 1))
    return {
        "membrane_force": Quantity(frame * n * frame.T, RESULTANT_FIELDS["membrane_force"]),
        "bending_moment": Quantity(frame * m * frame.T, RESULTANT_FIELDS["bending_moment"]),
        "von_mises_top": Quantity(top, "von Mises stress at z = h/2 [Pa]"),
        "von_mises_bottom": Quantity(bottom, "von Mises stress at z = -h/2 [Pa]"),
    }


def _frame() -> sp.Matrix:
    """Return the local frame of a thin plate (3x2), two columns in global axes."""
    first, second = vector(reference("xi")), vector(reference("eta"))
    normal = cross(first, second)
    e1 = first / sp.sqrt(dot(first, first))
    e2 = cross(normal, first) / sp.sqrt(dot(normal, normal) * dot(first, first))
    return sp.Matrix.hstack(e1, e2)


def _rod() -> dict[str, Quantity]:
    def forces(*names: str) -> sp.Matrix:
        return sp.Matrix([force_on(real(name)) for name in names])

    return {
        "axial_force": Quantity(force_on(real("epsilon")), "axial force [N]"),
        "shear_force": Quantity(forces("gamma2", "gamma3"), "shear forces along d2, d3 [N]"),
        "torque": Quantity(force_on(real("kappa1")), "torque about d1 [N m]"),
        "bending_moment": Quantity(forces("kappa2", "kappa3"), "moments about d2, d3 [N m]"),
    }


def _cable(kinematics: Kinematics, lets: Iterable[str]) -> dict[str, Quantity]:
    stretch = dict((s.name, s) for s, _ in kinematics.lets)["stretch"]
    force = force_on(real("epsilon")) + stretch * force_on(real("epsilon_green"))
    plain = [name for name in ("kappa", "kappa_geometric", "kappa_plane") if name in lets]
    moment = sp.Add(*(force_on(real(name)) for name in plain))
    for s, _ in kinematics.lets:
        if s.name in ("kappa_squared", "kappa_geometric_squared"):
            moment += 2 * sp.sqrt(s) * force_on(s)
    return {
        "axial_force": Quantity(force, "axial force dW/d stretch [N]"),
        "bending_moment": Quantity(moment, "bending moment dW/d kappa [N m]"),
    }


def von_mises(stress: sp.Matrix) -> sp.Expr:
    """Return sqrt(3/2 dev s : dev s) of a symmetric stress."""
    deviator = stress - sp.eye(3) * stress.trace() / 3
    return sp.sqrt(sp.Rational(3, 2) * sp.Add(*(x**2 for x in deviator)))


@dataclass(frozen=True)
class Fields:
    """Fields as outputs of a law.

    Attributes
    ----------
    outputs : name -> expression of every component.
    names : of the components of each field, in order.
    shapes : of each field at a point: (), (3,), (3, 3), ...
    """

    outputs: Mapping[str, sp.Expr]
    names: Mapping[str, tuple[str, ...]]
    shapes: Mapping[str, tuple[int, ...]]

    def put(self, rows: Mapping[str, Array]) -> dict[str, Array]:
        """Return the fields (..., shape) of values (...) of the components."""
        return {
            field: np.stack([rows[name] for name in names], axis=-1).reshape(
                (*np.shape(rows[names[0]]), *self.shapes[field])
            )
            for field, names in self.names.items()
        }


def sampled_fields(
    element: Element,
    energy: Energy,
    fields: Mapping[str, Sampled],
    *,
    values: Mapping[str, Value],
    remembered: bool = True,
    pressure: PressureField | None = None,
    layer: int | None = None,
    resultant: bool = False,
    **options: bool,
) -> Fields:
    """Return fields as expressions of the quantities of an element and of its energy.

    Of laws with memory the stress is that of the present step, and what is remembered that at its
    end, by the names of the law; unknowns of points and cells are quantities, too.

    Parameters
    ----------
    fields : name -> the name of a quantity, or a function of quantities (and, keyword-only, of
        parameters of the body) that returns a scalar or a matrix.
    values : the body's parameters by name.
    remembered : whether it is known at the points what the law remembers.
    pressure : of the body; it is a quantity, ``pressure``.
    layer : of `Layers`, the number (from 0) of the one that is looked at.
    resultant : of `Layers`, what resultants are made of.
    options : variants of the kinematics.

    Raises
    ------
    KinematicsError : a quantity that is not offered, or a result that is no expression of them.
    ParameterError : a function asks for a parameter that the body does not have.
    """
    offered, refused = _offered(element, energy, remembered, pressure, layer, resultant, **options)
    if "thickness" not in values:
        offered = {n: q for n, q in offered.items() if n not in OF_THICKNESS}
    parameters = {p: real(p) for p in values}
    allowed = set(parameters.values()).union(
        *(symbolic(q.value).free_symbols for q in offered.values())
    )
    outputs: dict[str, sp.Expr] = {}
    names, shapes = {}, {}
    for k, (field, function) in enumerate(fields.items()):
        for name in _names(function):
            if name in refused:
                why, data = refused[name]
                raise KinematicsError(f"field {field!r}: {name!r} {why}", asked=name, **data)
        value = _value(field, function, offered, parameters, element.name)
        components = list(value) if isinstance(value, sp.MatrixBase) else [value]
        must = "a field is a scalar of SymPy, or a matrix of scalars"
        for e in components:
            scalar(f"field {field!r}", field, e, allowed, also=(force_on,), must=must)
        names[field] = tuple(f"field{k}_{i}" for i in range(len(components)))
        shapes[field] = _shape(value)
        outputs.update(zip(names[field], components, strict=True))
    return Fields(outputs, names, shapes)


def _offered(
    element: Element,
    energy: Energy,
    remembered: bool,
    pressure: PressureField | None,
    layer: int | None,
    resultant: bool,
    **options: bool,
) -> tuple[dict[str, Quantity], dict[str, tuple[str, dict[str, Any]]]]:
    """Return the quantities of fields, and of others why they are none, with data of the error."""
    refused: dict[str, tuple[str, dict[str, Any]]] = {}
    if isinstance(energy, Layers):
        if layer is None and not resultant:  # resultants are sums over all of them
            why = "is that of one layer: say which, layer=1 or layer=(1, 'top'); there are "
            numbers = {"possible": range(1, len(energy.layers) + 1)}
            refused = dict.fromkeys(OF_LAYERS, (f"{why}{energy.listed}", numbers))
        of_energy = _of_layer(element, energy, layer, resultant)
        name_of = _with_memory(energy, layer)
        of_law: dict[str, Quantity] = {}
        others, where = element.kinematics().quantities, f" ({OF_MIDDLE})"
    else:
        called = evaluate_energy(
            element, energy, values=None, pressure=pressure, frozen=True, **options
        )
        others, where = called.kinematics.quantities, ""
        of_energy, of_law = stresses(called.kinematics, called.energy()), _own(energy, called)
        name_of = called.signature.name
        for name in of_law.keys() & of_energy:
            why = f"is a name in {name_of}(), and also {of_energy[name].meaning}: choose another"
            refused[name] = f"{why} name in the law", {}
        name_of = name_of if called.history else ""
    offered = {**others, **of_energy, **of_law}
    if name_of and not remembered:
        why = (
            f"follows from what {name_of}() remembers, which is known at its quadrature points "
            f"alone: choose at='gauss' for these, or at='cell' for means{where}"
        )
        moved = [n for n, q in of_energy.items() if n == "W" or _stressed(q)]
        data = {"given": name_of, "possible": ("gauss", "cell")}
        refused |= dict.fromkeys((*moved, *of_law), (why, data))
        offered = {n: q for n, q in offered.items() if n not in refused}
    return offered, refused


def _with_memory(layers: Layers, number: int | None) -> str:
    """Return the name of the first law that remembers, of a layer or of all; "": none does."""
    kinds = layers.kinds if number is None else [layers.kind_of(number)]
    return next((signature(k.energy).name for k in kinds if declared(k.energy)), "")


def _own_of_layer(kind: LayerGroup, called: EnergyCall) -> dict[str, Quantity]:
    """Return what the law of a layer has of its own, without the number of the layer."""
    end = f"_{kind.numbers[0] + 1}"
    return {name.removesuffix(end): q for name, q in _own(kind.energy, called).items()}


def _of_layer(
    element: Element, layers: Layers, number: int | None, resultant: bool
) -> dict[str, Quantity]:
    """Return the stresses of a layer, or what resultants are made of; of none what is no stress."""
    base = element.kinematics()
    thick = "F" in base.quantities
    lets = {s.name for s, _ in base.lets}
    if resultant and not thick:
        plate = _plate(lets)
        return {name: plate[name] for name in RESULTANT_FIELDS}
    of_solid = _solid(base) if thick else {}
    if number is None and not resultant:
        return {name: q for name, q in of_solid.items() if not _stressed(q)}
    kind = layers.kind_of(number or 0)
    called, kinematics = layer_called(element, layers, kind)
    quantities = {"W": Quantity(called.energy(), "energy density [J/m^3]"), **of_solid}
    quantities |= _own_of_layer(kind, called)
    E = kinematics.quantities["E_gl"].value
    if thick:
        if kind.turns:
            Q = sp.Matrix(
                3, 3, lambda i, k: real(f"layer_{('first', 'second', 'normal')[k]}{i + 1}")
            )
            S = Q.T * of_solid["S"].value * Q
            quantities["S_layer"] = Quantity(
                S, "second Piola-Kirchhoff stress, axes of the layer [Pa]"
            )
            quantities["E_layer"] = Quantity(
                E, "Green-Lagrange strain in the axes of the layer [-]"
            )
        return quantities
    n = {ik: force_on(E[ik]) for ik in ((0, 0), (0, 1), (1, 1))}
    S = sp.Matrix([[n[0, 0], n[0, 1] / 2], [n[0, 1] / 2, n[1, 1]]])
    stress = sp.diag(S, 0)
    c, s = (real("layer_c"), real("layer_s")) if kind.turns else (sp.S.One, sp.S.Zero)
    turn = _frame() * sp.Matrix([[c, -s], [s, c]])
    return quantities | {
        "E_layer": Quantity(E, "Green-Lagrange strain in the axes of the layer [-]"),
        "S_layer": Quantity(stress, "second Piola-Kirchhoff stress, axes of the layer [Pa]"),
        "S": Quantity(turn * S * turn.T, "second Piola-Kirchhoff stress, 3x3 in global axes [Pa]"),
        "von_mises": Quantity(von_mises(stress), "von Mises stress of S [Pa]"),
    }


def _stressed(q: Quantity) -> bool:
    return bool(q.value.has(force_on))


def _own(energy: Energy, called: EnergyCall) -> dict[str, Quantity]:
    """Return what a law has of its own: memory at the end of the step, unknowns."""
    unknowns = declared_local(energy)
    quantities: dict[str, Quantity] = {}
    for name, value in called.values.items():
        meaning = "remembered at the end of the step"
        if name == PRESSURE.name:
            meaning = "pressure p, positive in tension [Pa]"
        elif unknowns is not None and name in unknowns.start:
            meaning = f"unknown of each {unknowns.per}"
        quantities[name] = Quantity(value, meaning)
    for m in called.history:
        if m.total:  # remembered is the integral over the point's part of the cell
            meaning = f"energy dissipated since the beginning [{called.kinematics.unit}]"
            quantities[m.name] = Quantity(m.symbol / called.kinematics.measure + m.update, meaning)
    return quantities


def _names(function: object) -> tuple[str, ...]:
    """Return the names of the quantities that a field asks for."""
    if isinstance(function, str):
        return (function,)
    return signature(function).quantities if callable(function) else ()


def _value(
    field: str,
    asked: Sampled,
    offered: Mapping[str, Quantity],
    parameters: Mapping[str, sp.Symbol],
    where: str,
) -> object:
    """Return the expression of a field, a scalar or a matrix."""
    if isinstance(asked, str):
        if asked not in offered:
            raise KinematicsError(
                f"field {field!r}: {asked!r} is no quantity of this body; {where} offers "
                f"{', '.join(offered)}.{closest(asked, offered)} A function of these is given as "
                f"one, such as {{{field!r}: lambda {next(iter(offered))}: ...}}",
                asked=asked,
                possible=tuple(offered),
            )
        return offered[asked].value
    if not callable(asked):
        raise KinematicsError(
            f"field {field!r} is {asked!r}: give the name of a quantity or a function of "
            f"quantities; {where} offers {', '.join(offered)}",
            asked=field,
            given=asked,
            possible=offered,
        )
    wanted, what = signature(asked), f"field {field!r}"
    require_quantities(what, wanted, offered, where)
    require_parameters(what, wanted.required, parameters)
    own_parameters = {p: parameters[p] for p in wanted.parameters if p in parameters}
    values = [offered[q].value for q in wanted.quantities]
    result = call_symbolic(what, asked, values, own_parameters, field)
    return as_expression(what, field, result)


def _shape(value: object) -> tuple[int, ...]:
    if not isinstance(value, sp.MatrixBase):
        return ()
    rows, columns = value.shape
    return (rows,) if columns == 1 else (rows, columns)


def at_points(law: PointLaw) -> PointLaw:
    """Return a law on cells as one on the jets of a single point, wherever that is.

    The unknowns are the jets of the displacement; those of the reference, ``R_xi1`` and so on, and
    ``zeta`` are parameters per point, and so are unknowns of cells and what was remembered at the
    beginning of the step.
    """
    own: list[Local | HistoryVariable] = [*law.history, *(law.local if law.shared else ())]
    arguments = (*law.parameters, *(KernelParameter(x.symbol, "cell") for x in own))
    modes = ((s, sp.Add(*(x * c for x, c in row.items()))) for s, row in law.modes)
    law = replace(
        law,
        parameters=arguments,
        history=(),
        stored=None,
        local=() if law.shared else law.local,
        shared=False,
        modes=(),
        geometry=(*law.geometry, *modes),
    )
    defined = dict((*law.geometry, *law.lets))
    expressions = [*law.results, *law.outputs.values(), *law.domain, *defined.values()]
    expressions += [x.start for x in law.local]
    expressions += chain(*(row.values() for _, row in law.inner))
    used = set().union(*(symbolic(e).free_symbols for e in expressions))
    symbols = (*law.unknowns, *defined, *dict(law.inner), *(x.symbol for x in law.local))
    names = {x.name for x in (*law.parameters, *symbols)}
    more = sorted({s.name for s in used} - names)
    return replace(
        law,
        jets=(),
        measure=sp.S.One,
        parameters=(*law.parameters, *(KernelParameter(real(name), "cell") for name in more)),
    )
