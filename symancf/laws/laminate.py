# SPDX-License-Identifier: BSD-3-Clause
"""Point laws of plates of layers: strain energy layer by layer or summed up before, and mass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.declare import PointLaw, Rule, unknown
from symancf_codegen.functions import derivative, symbolic
from symancf_codegen.legendre import gauss_legendre

from ..errors import KinematicsError
from ..kinematics.layer import ANGLE, cosines, in_plane, thick_layer, thin_layer, thinning
from ..kinematics.memory import declared
from ..kinematics.moduli import split_factor
from ..kinematics.naming import signature
from ..kinematics.quantity import dot, real, symmetric, vector
from ..values.arguments import among
from ..values.functions import arguments_of
from .build import Kinds, build_law, kinds_of, predictable
from .evaluate import evaluate_on
from .layers import summed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..arrays import Array
    from ..elements.element import Element
    from ..kinematics.quantity import Kinematics
    from ..values.parameter import Value
    from .layers import LayerGroup, Layers
    from .mixed import PressureField
    from .parts import EnergyCall

Laws = list[tuple[PointLaw, Rule]]

#: Gauss points through a layer of a thin plate whose law is not quadratic.
THROUGH_THIN = 3

#: The same for the mass: products of places and of a volume, each of the second degree in z.
MASS_POINTS = 4

#: Components of a symmetric tensor: in the plane, and with those across.
PLANE = ((0, 0), (1, 1), (0, 1))
SHEAR_ENTRIES = ((2, 2), (0, 2), (1, 2))


@dataclass(frozen=True)
class Quadratic:
    """An energy W = C e.e/2 + s.e + c of components e of a strain."""

    C: sp.Matrix
    s: sp.Matrix
    c: sp.Expr

    @classmethod
    def of(cls, W: sp.Expr, e: list[sp.Symbol]) -> Quadratic | None:
        """Return the energy in this form; None: it is not quadratic."""
        first = [derivative(W, x) for x in e]
        C = sp.Matrix(len(e), len(e), lambda i, k: derivative(first[i], e[k]))
        if C.free_symbols & {*e}:
            C = C.applyfunc(sp.simplify)
            if C.free_symbols & {*e}:
                return None
        rest = dict.fromkeys(e, sp.S.Zero)
        return cls(C, sp.Matrix([x.subs(rest) for x in first]), W.subs(rest))

    def without(self, count: int) -> Quadratic:
        """Return the least energy over all components behind the first `count`."""
        n, m = count, self.C.rows
        other = self.C[n:, n:]
        if other.is_diagonal():
            inverse = sp.diag(*(1 / other[i, i] for i in range(m - n)))
        else:
            inverse = other.inv(method="ADJ")
        down = inverse * self.C[n:, :n]
        s = self.s[n:, :]
        return Quadratic(
            self.C[:n, :n] - self.C[:n, n:] * down,
            self.s[:n, :] - down.T * s,
            self.c - (s.T * inverse * s)[0] / 2,
        )

    def at(self, e: list[sp.Symbol]) -> sp.Expr:
        """Return the energy."""
        v = sp.Matrix(e)
        return (v.T * self.C * v)[0] / 2 + (self.s.T * v)[0] + self.c

    def with_names(
        self, geometry: list[tuple[sp.Symbol, sp.Expr]], word: str = "layer"
    ) -> Quadratic:
        """Return the same with names for its numbers, which are added to the geometry."""

        def let(name: str, value: sp.Expr) -> sp.Expr:
            if symbolic(value).is_Number:
                return value
            geometry.append((real(name), value))
            return real(name)

        return Quadratic(
            with_names(f"{word}_C", self.C, geometry),
            with_names(f"{word}_s", self.s, geometry),
            let(f"{word}_c", self.c),
        )


def with_names(
    word: str, M: sp.Matrix, geometry: list[tuple[sp.Symbol, sp.Expr]], symmetric: bool = True
) -> sp.Matrix:
    """Return a matrix (a symmetric one) or vector under names, which are added to the geometry."""
    rows, columns = M.shape
    matrix = sp.zeros(rows, columns)
    for i in range(rows):
        for k in range(columns):
            if symmetric and columns > 1 and k < i:
                matrix[i, k] = matrix[k, i]
            elif symbolic(M[i, k]).is_Number:
                matrix[i, k] = M[i, k]
            else:
                matrix[i, k] = real(f"{word}{i + 1}{k + 1}" if columns > 1 else f"{word}{i + 1}")
                geometry.append((matrix[i, k], M[i, k]))
    return matrix


def layered_laws(
    element: Element,
    layers: Layers,
    *,
    values: Mapping[str, Value] | None,
    fields: Collection[str],
    volumetric: str | None,
    quadrature: object,
    outputs: Mapping[str, sp.Expr] | None,
    pressure: PressureField | None,
    layer: int | None,
) -> Laws:
    """Return the point laws of the strain energy; see `laws.energy_laws`.

    Parameters
    ----------
    layer : number of the one that is looked at; None: all of them.
    """
    if pressure is not None:
        raise KinematicsError(
            "pressure= is not for bodies of layers", asked="pressure", given=pressure.kind
        )
    thick, base = _thick(element), element.kinematics()
    if isinstance(quadrature, dict) or not (quadrature is None or isinstance(quadrature, str)):
        raise KinematicsError(
            "quadrature= of a body of layers is one name, such as '4x4x3': points in the plane and "
            "through each layer",
            asked="quadrature",
            given=quadrature,
        )
    kinds = kinds_of(fields)
    if layer is not None:
        kind = layers.kind_of(layer)
        called, kinematics = _called(element, layers, kind, values, thick, base)
        local = () if thick else (thinning(kind.numbers[0] + 1),)
        W = sp.Add(*called.parts.values())
        law = build_law(
            f"{called.name}_layer", kinematics, W, scalars=called.scalars, kinds=kinds,
            values=layers.numbers, outputs=outputs, local=local, **_memory(called),
        )  # fmt: skip
        return [(law, element.rule("full"))]
    build = _Build(element, layers, values, kinds, outputs, base)
    if thick:
        return build.thick(volumetric, quadrature)
    if volumetric not in (None, "full"):
        raise KinematicsError(
            f"volumetric={volumetric!r}: layers of {element.name} are in plane stress, nothing of "
            "them is integrated otherwise",
            asked="volumetric",
            given=volumetric,
            possible=("full",),
        )
    return build.thin(quadrature)


def _thick(element: Element) -> bool:
    """Whether a plate has a director.

    Raises
    ------
    KinematicsError : it is no plate.
    """
    name = element.kinematics().name
    if name not in ("director_solid", "thin_plate"):
        raise KinematicsError(
            f"Layers are for plates, such as ancf_plate and ancf_thin_plate; {element.name} has no "
            "thickness: give its cells regions of their own, one body each",
            asked="element",
            given=element.name,
            possible=("ancf_plate", "ancf_thin_plate"),
        )
    return name == "director_solid"


def _called(
    element: Element,
    layers: Layers,
    kind: LayerGroup,
    values: Mapping[str, Value] | None,
    thick: bool,
    base: Kinematics,
) -> tuple[EnergyCall, Kinematics]:
    """Return the law of a kind of layers, called with its strain, and what it was called with.

    The row of what its points dissipate has the number of the layer, as what they remember has.
    """
    axis = layers.axis if kind.turns else None
    number = kind.numbers[0] + 1
    own = thinning(number).symbol
    kinematics = thick_layer(base, axis) if thick else thin_layer(base, axis, own)
    where = f"a layer of {element.name}"
    called = evaluate_on(kinematics, where, kind.energy, values=_own(kind, values))
    history = tuple(
        replace(m, symbol=real(f"{m.name}_{number}")) if m.total else m for m in called.history
    )
    return replace(called, history=history), kinematics


def layer_called(
    element: Element, layers: Layers, kind: LayerGroup
) -> tuple[EnergyCall, Kinematics]:
    """Return the law of a kind of layers on an element, and the kinematics of such a layer."""
    return _called(element, layers, kind, None, _thick(element), element.kinematics())


def _own(kind: LayerGroup, values: Mapping[str, Value] | None) -> Mapping[str, Value] | None:
    """Return the parameters that a kind of layers takes."""
    if values is None:
        return None
    takes = arguments_of(kind.energy).names
    return {p: v for p, v in values.items() if p in takes or p == "thickness"}


def _memory(called: EnergyCall) -> dict[str, Any]:
    """Return what the points of a law remember, and the energy stored in them, of `build_law`."""
    return {"history": called.history, "stored": called.stored_in(called.parts)}


@dataclass
class _Build:
    """Makes the laws of a body's layers."""

    element: Element
    layers: Layers
    values: Mapping[str, Value] | None
    kinds: Kinds
    outputs: Mapping[str, sp.Expr] | None
    base: Kinematics

    def _law(self, name: str, kinematics: Kinematics, W: sp.Expr, **options: object) -> PointLaw:
        own = {"kinds": self.kinds, "values": self.layers.numbers, "outputs": self.outputs}
        return build_law(name, kinematics, W, **{**own, **options})  # type: ignore[arg-type]

    def thick(self, volumetric: str | None, quadrature: str | None) -> Laws:
        """Return a law of each kind of layers, and what is taken at the mid-surface."""
        full, few = self.element.rule(quadrature or "full"), self.element.rule("reduced")
        laws: Laws = []
        for kind in self.layers.kinds:
            called, kinematics = _called(
                self.element, self.layers, kind, self.values, True, self.base
            )
            all_over, mid, geometry = self._shares(kind, called, volumetric)
            rule = through(full, self.layers, kind, len(full.section_weights))
            number = kind.numbers[0] + 1
            name = f"{called.name}_{number}"
            more = {"scalars": called.scalars, "extra_geometry": tuple(geometry), **_memory(called)}
            laws.append((self._law(name, kinematics, all_over, **more), rule))
            if mid != 0:
                laws.append(
                    (self._law(f"{name}_mid", kinematics, mid, **more), self._mid(few, kind))
                )
        return laws

    def _mid(self, few: Rule, kind: LayerGroup) -> Rule:
        """Return the middle of all layers with a point for each angle of a kind of them."""
        angles = self.layers.angles(kind)
        shares = [self.layers.moments(numbers)[0] for numbers in angles.values()]
        table = np.array([[self.layers.middle, *map(float, cosines(angle))] for angle in angles])
        rule = replace(
            few,
            name=f"{few.name} at the middle",
            section_symbols=("zeta", *ANGLE),
            section_points=table,
            section_weights=np.array(shares),
        )
        moved = ("zeta",) if self.layers.offset else ()  # in the reference surface much is zero
        return _brought(rule, f"layer{kind.numbers[0] + 1}_mid", kind, *moved)

    def _shares(
        self, kind: LayerGroup, called: EnergyCall, volumetric: str | None
    ) -> tuple[sp.Expr, sp.Expr, list[tuple[sp.Symbol, sp.Expr]]]:
        """Return the energies of all points and of the mid-surface, and names that they need."""
        mode = self.element.volumetric if volumetric is None else volumetric
        if not among(mode, ("full", "reduced", "split")):
            raise KinematicsError(
                f"volumetric={mode!r} is not possible: choose 'full', 'reduced' or 'split'",
                asked="volumetric",
                possible=("full", "reduced", "split"),
                given=mode,
            )
        W, part = sp.Add(*called.parts.values()), called.parts.get("volumetric")
        if mode == "full":
            return W, sp.S.Zero, []
        if called.history:
            raise KinematicsError(
                f"{called.signature.name}() of a layer remembers, and its parts would be at the "
                "points of two rules: give one rule for all, volumetric='full'",
                asked="volumetric",
                given=mode,
                possible=("full",),
            )
        E = called.kinematics.quantities["E_gl"].value
        e = [E[i, k] for i, k in (*PLANE, (0, 2), (1, 2), (2, 2))]
        form = Quadratic.of(W, e) if called.signature.quantities == ("E_gl",) else None
        # the change of thickness is common to all layers: where they differ, what it adds to the
        # stresses in the plane has a moment, and only the whole square is right
        by_parts = form is not None and mode == "split" and len(self.layers.kinds) > 1
        if part is not None and not by_parts:
            if mode == "reduced":
                return W - part, part, []
            k0_over_k = real("k0_over_k")
            plain = evaluate_on(self.base, self.element.name, kind.energy)
            let = (k0_over_k, split_factor(self.base, plain.parts))
            return W - part + k0_over_k * part, (1 - k0_over_k) * part, [let]
        if form is None or mode == "reduced":
            if volumetric is None:
                return W, sp.S.Zero, []
            raise KinematicsError(
                f"volumetric={mode!r} needs a law with a part named 'volumetric', or (split) one "
                f"quadratic in E_gl alone; {called.signature.name}() is neither",
                asked="volumetric",
                given=mode,
                possible=("full",),
            )
        geometry: list[tuple[sp.Symbol, sp.Expr]] = []
        form = form.with_names(geometry)
        slope = (form.C[5, :] * sp.Matrix(e))[0] + form.s[5]
        plane = form.without(5).with_names(geometry, "layer_plane")
        return plane.at(e[:5]), slope**2 / (2 * form.C[5, 5]), geometry

    def thin(self, quadrature: str | None) -> Laws:
        """Return the law of resultants, and those of the layers that are no part of it."""
        flat = self.element.rule(quadrature or "full")
        laws: Laws = []
        summed: list[tuple[LayerGroup, Quadratic]] = []
        for kind in self.layers.kinds:
            called, kinematics = _called(
                self.element, self.layers, kind, self.values, False, self.base
            )
            plane = self._plane(kind)
            if plane is not None and self.layers.resultants:
                summed.append((kind, plane))
                continue
            name = f"{called.name}_{kind.numbers[0] + 1}"
            rule = through(flat, self.layers, kind, THROUGH_THIN)
            if plane is not None:
                E = called.kinematics.quantities["E_gl"].value
                geometry: list[tuple[sp.Symbol, sp.Expr]] = []
                W = plane.with_names(geometry).at([E[i, k] for i, k in PLANE])
                more = {"extra_geometry": tuple(geometry)}
                laws.append((self._law(name, kinematics, W, **more), rule))
                continue
            W = sp.Add(*called.parts.values())
            local = {"scalars": called.scalars, "local": (thinning(kind.numbers[0] + 1),)}
            laws.append((self._law(name, kinematics, W, **local, **_memory(called)), rule))
        return [*self._resultants(summed, flat), *laws] if summed else laws

    def _plane(self, kind: LayerGroup) -> Quadratic | None:
        """Return a law in plane stress in its components 11, 22, 12; None: it is not quadratic."""
        arguments = signature(kind.energy)
        if arguments.quantities != ("E_gl",) or declared(kind.energy):
            return None
        free = symmetric("E_free", 3)
        W = kind.energy(free, **{p: real(p) for p in arguments.parameters})
        W = summed(arguments.name, W)
        form = Quadratic.of(W, [free[i, k] for i, k in (*PLANE, *SHEAR_ENTRIES)])
        return None if form is None else form.without(3)

    def _sums(
        self,
        summed: list[tuple[LayerGroup, Quadratic]],
        geometry: list[tuple[sp.Symbol, sp.Expr]],
        numbers: dict[str, float],
    ) -> tuple[list[list[sp.Matrix]], sp.Expr]:
        """Return A, B, D with forces N, M and a third one, and the constant, summed over layers.

        Their names and numbers are added to `geometry` and `numbers`.
        """
        half, constant = real("thickness") / 2, sp.S.Zero
        total = [[sp.zeros(3, 3), sp.zeros(3, 1)] for _ in range(3)]
        turned, plain = (components(*map(real, ANGLE)), (4, 2)), (sp.eye(3), (0, 0))
        for kind, plane in summed:
            first = f"layer{kind.numbers[0] + 1}"
            C, s0 = (
                with_names(f"{first}_C", plane.C, geometry),
                with_names(f"{first}_s", plane.s, geometry),
            )
            T, degrees = turned if kind.turns else plain
            for k, (M, degree) in enumerate(zip((T.T * C * T, T.T * s0), degrees, strict=True)):
                for power, part in by_powers(M, degree).items():
                    Q = with_names(f"{first}_{'Qs'[k]}_{power}", part, geometry)
                    for n, moment in enumerate(turned_moments(self.layers, kind, power, degree)):
                        name = f"{first}_{'ABD'[n]}_{power}_{degree}"
                        numbers[name] = moment
                        total[n][k] += real(name) * half ** (n + 1) * Q
            numbers[f"{first}_share"] = self.layers.moments(kind.numbers)[0]
            constant += real(f"{first}_share") * half * plane.c
        return total, constant

    def _resultants(self, summed: list[tuple[LayerGroup, Quadratic]], flat: Rule) -> Laws:
        """Return the law of membrane strain and curvature, of matrices A, B, D."""
        geometry: list[tuple[sp.Symbol, sp.Expr]] = []
        numbers = self.layers.numbers
        total, constant = self._sums(summed, geometry, numbers)
        ABD = [
            with_names(f"layers_{x}", M, geometry) for x, (M, _) in zip("ABD", total, strict=True)
        ]
        NM = [
            with_names(f"layers_{x}", v, geometry) for x, (_, v) in zip("NM", total, strict=False)
        ]
        if any(kind.turns for kind, _ in summed):
            Q, more = in_plane(self.layers.axis, (sp.S.One, sp.S.Zero))
            geometry += more
            T = with_names("layers_T", components(Q[0, 0], Q[1, 0]), geometry, symmetric=False)
            ABD = [
                with_names(f"local_{x}", T.T * M * T, geometry)
                for x, M in zip("ABD", ABD, strict=True)
            ]
            NM = [
                with_names(f"local_{x}", T.T * v, geometry) for x, v in zip("NM", NM, strict=True)
            ]
        strains = (self.base.quantities[q].value for q in ("E_gl", "kappa"))
        E, k = (sp.Matrix([M[place] for place in PLANE]) for M in strains)
        A, B, D = ABD
        W = (E.T * A * E)[0] / 2 - (E.T * B * k)[0] + (k.T * D * k)[0] / 2
        W += (NM[0].T * E)[0] - (NM[1].T * k)[0] + constant
        outputs, kinds = self.outputs, {**self.kinds}
        if outputs is None:
            W, corrections, stresses = predictable(W, self.base.strains)
            kinds |= corrections
            outputs = stresses or None
        law = build_law(
            "laminate", self.base, W, extra_geometry=tuple(geometry), kinds=kinds, outputs=outputs,
            values=numbers, called="the law of layers",
            title="W = E.A.E/2 - E.B.kappa + kappa.D.kappa/2 + N.E - M.kappa",
        )  # fmt: skip
        return [(law, flat)]


def components(c: sp.Expr, s: sp.Expr) -> sp.Matrix:
    """Return T with components (11, 22, 12) of a strain in axes turned by an angle = T . those."""
    return sp.Matrix(
        [
            [c**2, s**2, 2 * c * s],
            [s**2, c**2, -2 * c * s],
            [-c * s, c * s, c**2 - s**2],
        ]
    )


def by_powers(M: sp.Matrix, degree: int) -> dict[int, sp.Matrix]:
    """Return the coefficients of c^k s^(degree - k), c and s as in `ANGLE`, in a matrix by k."""
    if not degree:
        return {0: M}
    c, s = map(real, ANGLE)
    terms = [dict(sp.Poly(x, c, s).terms()) for x in M]
    return {
        k: sp.Matrix(*M.shape, [x.get((k, degree - k), sp.S.Zero) for x in terms])
        for k in range(degree + 1)
    }


def turned_moments(layers: Layers, kind: LayerGroup, power: int, degree: int) -> Array:
    """Return the integrals of (1, zeta, zeta^2) c^k s^(degree - k) over the layers of a kind."""
    total = np.zeros(3)
    for angle, numbers in layers.angles(kind).items():
        c, s = map(float, cosines(angle))
        total += c**power * s ** (degree - power) * np.array(layers.moments(numbers))
    return total


def through(flat: Rule, layers: Layers, kind: LayerGroup, count: int) -> Rule:
    """Return the points of a rule in the plane with Gauss's in each layer of a kind."""
    x, w = gauss_legendre(count)
    rows, weights = [], []
    for low, high, angle in layers.spans(kind.numbers, kind.turns):
        c, s = map(float, cosines(angle))
        rows += [[(low + high) / 2.0 + (high - low) / 2.0 * at, c, s] for at in x]
        weights += [(high - low) / 2.0 * part for part in w]
    rule = replace(
        flat,
        name=f"{'x'.join(flat.name.split('x')[:2])}x{count} in each layer",
        section_symbols=("zeta", *ANGLE),
        section_points=np.array(rows),
        section_weights=np.array(weights),
    )
    return _brought(rule, f"layer{kind.numbers[0] + 1}", kind, "zeta")


def _brought(rule: Rule, name: str, kind: LayerGroup, *columns: str) -> Rule:
    """Return a rule that brings along what its section knows of a kind of layers."""
    columns = ("weight", *columns, *(ANGLE if kind.turns else ()))
    return replace(rule, uniform_columns={column: f"{name}_{column}" for column in columns})


def layered_inertia(element: Element, layers: Layers, fields: Collection[str], rule: Rule) -> Laws:
    """Return the kinetic energy per density of layers, thin plates' in the mid-surface.

    `rule` : that of one layer, whose points in the plane are taken.
    """
    base, kinds = element.kinematics(), kinds_of(fields)
    u = vector(unknown("value"))
    squared = dot(u, u) / 2
    if not _thick(element):
        shares = {
            f"{rho}_share": layers.moments(numbers)[0] / 2.0
            for rho, numbers in layers.densities().items()
        }
        mass = sp.Add(*(real(rho) * real(f"{rho}_share") for rho in layers.densities()))
        law = build_law(
            "inertia_layers", base, mass * real("thickness") * squared, kinds=kinds, values=shares,
            title=f"T = ({mass}) thickness v . v/2",
        )  # fmt: skip
        return [(law, rule)]
    laws: Laws = []
    for rho, numbers in layers.densities().items():
        title = f"T = {rho} v . v/2"
        law = build_law(f"inertia_{rho}", base, real(rho) * squared, kinds=kinds, title=title)
        one_layer = replace(layers.kinds[0], turns=False, numbers=numbers)
        laws.append((law, through(rule, layers, one_layer, MASS_POINTS)))
    return laws
