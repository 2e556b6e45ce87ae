# SPDX-License-Identifier: BSD-3-Clause
r"""Laws of a surface on which gas presses: its follower pressure and the volume it bounds.

And of one that carries a dead load.

On the surface r(xi, eta) with n = r_xi x r_eta (its length is the present area per d xi d eta)

.. math::
    \delta W = p\, \mathrm{sense} \int n \cdot \delta r \, d\xi\, d\eta, \qquad
    V = -\tfrac13\, \mathrm{sense} \oint (r - o) \cdot n \, d\xi\, d\eta:

`sense` = +1 where n points towards the gas. The first is the residual of a pressure p (the gas
pushes along -n there); the second is the volume of the gas inside of a closed surface, for any
origin o. Both are polynomials and integrated exactly. The face of a plate at z is
r = m + z d; that of a thin plate r + z n/|n|, whose normal has the direction of n and the size

.. math::
    |n| (1 - 2 H z + K z^2), \quad 2H = \mathrm{tr}(b\, a^{-1}),\; K = \det b/\det a,\;
    a_{\alpha\beta} = r_\alpha \cdot r_\beta,\; b_{\alpha\beta} = r_{\alpha\beta} \cdot n/|n|.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
import sympy as sp

from symancf_codegen.declare import KernelParameter, PointLaw, Rule, reference, scalar_jets, unknown
from symancf_codegen.legendre import gauss_legendre

from ..cells.quadrature import counts_for, gauss
from ..kinematics.quantity import cross, dot, real, vector
from .build import Kinds, closure, kinds_of

if TYPE_CHECKING:
    from ..elements.element import Element

Laws = list[tuple[PointLaw, Rule]]
PressureLaw = Literal["pressure", "potential", "gas"]

EDGE_POINTS = 4  # Gauss points per edge: (c - o) . ((r - o) x r') has degree 5 on cubic edges


def surface_rule(element: Element) -> Rule:
    """Return the rule that integrates r . (r_xi x r_eta) exactly on a polynomial surface."""
    # then this is the degree per direction
    lines = max(element.topology.factors) == 1 and not element.across
    return _flat(element, 3 * element.degree - (1 if lines else 2))


def _flat(element: Element, degree: int) -> Rule:
    """Return the rule of a degree on a cell; of plates on the mid-surface."""
    if element.across:
        return element.rule(degree)
    return gauss(element.topology, counts_for(element.topology, degree))


class _SurfacePoint:
    """The quantities at a point of a surface, as they are named one after the other.

    Parameters
    ----------
    element : the trace of a solid for its facets, or a plate.
    offset : the surface is the face z = offset thickness/2 of a plate.
    """

    def __init__(self, element: Element, offset: bool) -> None:
        self.face = "_face" if offset else ""
        self.geometry: list[tuple[sp.Symbol, sp.Expr]] = []
        if element.has_thickness or offset:
            z = real("offset") * real("thickness") / 2 if offset else sp.Integer(0)
            self.geometry.append((real("z"), z))
        self.lets: dict[sp.Symbol, sp.Expr] = {}

    def let(self, name: str, expression: sp.Expr) -> sp.Symbol:
        """Name an expression."""
        self.lets[real(name)] = expression
        return real(name)

    def present(self, jet: str, label: str) -> sp.Matrix:
        """Return the present value of a jet."""
        pairs = zip(reference(jet), unknown(jet), strict=True)
        return sp.Matrix([self.let(f"{label}{i}", R + u) for i, (R, u) in enumerate(pairs, 1)])

    def law(
        self,
        name: str,
        jets: tuple[str, ...],
        fields: Collection[str],
        title: str,
        energy: sp.Expr | None = None,
        work: Mapping[sp.Expr, sp.Expr] | None = None,
        measure: sp.Expr = sp.S.One,
    ) -> PointLaw:
        """Return the law of an energy or of forces: with the lets that it needs."""
        results = [energy] if energy is not None else [*(work or {}), *(work or {}).values()]
        used = closure({s for e in results for s in e.free_symbols}, self.lets)
        needed = tuple((s, e) for s, e in self.lets.items() if s in used)
        symbols = used.union(*(e.free_symbols for _, e in self.geometry))
        symbols -= {s for s, _ in (*needed, *self.geometry)}
        names = ("xi", "eta", "zeta", *jets)
        symbols -= {s for jet in names for s in (*unknown(jet), *reference(jet))}
        kinds: Kinds = {
            **dict.fromkeys(("sense", "offset", "share"), "cell"),
            **kinds_of(fields),
        }
        return PointLaw(
            name=f"{name}{self.face}",
            unknowns=tuple(s for jet in jets for s in unknown(jet)),
            jets=jets,
            geometry=tuple(self.geometry),
            lets=needed,
            energy=energy,
            work=work,
            measure=measure,
            parameters=tuple(
                KernelParameter(s, kinds.get(s.name, "uniform"))
                for s in sorted(symbols, key=lambda s: str(s.name))
            ),
            title=title,
        )


def dead_load_laws(element: Element, *, of_place: bool = False) -> Laws:
    """Return the potential -share F . u of a dead force per reference area, length or volume.

    Parameters
    ----------
    element : a plate, the trace of a solid for its facets, a cable, or a solid; of a plate the
        force acts on the mid-surface.
    of_place : F varies from point to point.

    Parameters of the law: ``F1, F2, F3`` [N/m^2, N/m or N/m^3] and ``share``, uniform.
    """
    point = _SurfacePoint(element, False)
    tangent, normal = vector(reference("xi")), [*vector(reference("xi"))]
    if element.dimension > 1:
        normal = cross(tangent, vector(reference("eta")))
    N = [real(f"N{i}") for i in (1, 2, 3)]
    size = sp.sqrt(sp.Add(*(x**2 for x in N)))
    if element.dimension == 3:
        size = dot(sp.Matrix(N), vector(reference("zeta")))
    point.geometry += [*zip(N, normal, strict=True), (real("N_length"), size)]
    F = vector((real("F1"), real("F2"), real("F3")))
    energy = -real("share") * dot(F, vector(unknown("value")))
    kinds: Kinds = dict.fromkeys(map(str, F), "point" if of_place else "uniform")
    law = point.law(
        "load",
        ("value",),
        {**kinds, "share": "uniform"},
        "-F . u",
        energy=energy,
        measure=real("N_length"),
    )
    return [(law, _flat(element, 2 * element.degree))]


def surface_laws(
    element: Element, form: PressureLaw, *, offset: bool = False, fields: Collection[str] = ()
) -> Laws:
    """Return the law of a pressure on the cells of a surface, or of the volume that they bound.

    Parameters
    ----------
    element : the trace of a solid for its facets, or a plate.
    form : ``"pressure"``: virtual work of the follower pressure p; ``"potential"``: -p V;
        ``"gas"``: the same where p is unknown, `scale`/`size` times a scalar of the cells.
    offset : the surface is the face z = offset thickness/2 (parameter per cell) of a plate, not
        its mid-surface.
    fields : parameters of the body that vary; see `energy_laws`.

    Parameters of the law: ``p`` [Pa], per cell ``sense`` and ``offset``, ``thickness`` [m], and
    the origin ``o1, o2, o3`` [m].
    """
    point = _SurfacePoint(element, offset)
    jets: tuple[str, ...] = ("value", "xi", "eta")
    r_xi, r_eta = point.present("xi", "r_xi"), point.present("eta", "r_eta")
    n = sp.Matrix([point.let(f"n{i}", c) for i, c in enumerate(cross(r_xi, r_eta), 1)])
    shift: sp.Expr = sp.Integer(0)
    if offset and not element.has_thickness:
        second = ("xixi", "xieta", "etaeta")
        jets += second
        nn = point.let("nn", dot(n, n))
        length = point.let("n_length", sp.sqrt(nn))
        b = [point.let(f"b_{j}", dot(point.present(j, f"r_{j}"), n) / length) for j in second]
        pairs = {"11": (r_xi, r_xi), "12": (r_xi, r_eta), "22": (r_eta, r_eta)}
        a = [point.let(f"a{k}", dot(x, y)) for k, (x, y) in pairs.items()]
        twice_H = point.let("twice_H", (b[0] * a[2] - 2 * b[1] * a[1] + b[2] * a[0]) / nn)
        K = point.let("K", (b[0] * b[2] - b[1] ** 2) / nn)
        z = real("z")
        area = point.let("area_ratio", 1 - z * twice_H + z**2 * K)
        n = sp.Matrix([point.let(f"n_face{i}", area * n[i - 1]) for i in (1, 2, 3)])
        shift = z * length * area  # z n/|n| . n of the face
    sense = real("sense")
    if form == "pressure":
        work = {u: real("p") * sense * n[i] for i, u in enumerate(unknown("value"))}
        law = point.law(form, jets, fields, "p n . dr, n = r_xi x r_eta", work=work)
        return [(law, surface_rule(element))]
    arm = point.present("value", "r") - ORIGIN
    volume = point.let("volume", -sense * (dot(arm, n) + shift) / 3)
    p, scalars = _pressure(form, 0)
    title = "-p V, V = -(r - o) . n/3"
    law = point.law(form, jets + scalars, fields, title, energy=-p * volume)
    return [(law, surface_rule(element))]


def lid_laws(
    element: Element, form: PressureLaw, *, offset: bool = False, fields: Collection[str] = ()
) -> Laws:
    r"""Return the laws of a lid at an edge of its rim, the first edge of the cell.

    The lid is the cone from a point c to the rim r(s). With A = (r - c) x r', for a rim that runs
    such that A points out of the gas (`sense` = -1: the other way),

    .. math::
        V = \tfrac16 \oint (c - o) \cdot \big((r - o) \times r'\big)\, ds, \qquad
        p\,\delta W = -p \oint \big(\tfrac13 A \cdot \delta r + \tfrac16 A \cdot \delta c\big)\, ds.

    On a plane rim this is the flat lid, whatever c is. Here it is the mean of the ends of the
    edges, each with its `share` of the rim, by forces \lambda between these and c.

    Scalars of the cells: the point c (3), the forces \lambda over `scale` (3) and, with
    ``"gas"``, the pressure over `scale`/`size`. Otherwise as in `surface_laws`.
    """
    point = _SurfacePoint(element, offset)
    mean, force = scalar_jets(6)
    r, along = point.present("value", "r"), point.present("xi", "r_xi")
    c = point.present(mean, "c")
    sense, (p, scalars) = real("sense"), _pressure(form, 6)
    jets = ("value", "xi", mean, *scalars)
    if form == "pressure":
        A = [point.let(f"A{i}", a) for i, a in enumerate(cross(r - c, along), 1)]
        work = {x: -p * sense * a / 3 for x, a in zip(r, A, strict=True)}
        work |= {x: -p * sense * a / 6 for x, a in zip(c, A, strict=True)}
        lid = point.law("lid_pressure", jets, fields, "-p A . (dr/3 + dc/6)", work=work)
    else:
        volume = point.let("volume", sense * dot(c - ORIGIN, cross(r - ORIGIN, along)) / 6)
        title = "-p V, V = (c - o) . ((r - o) x r')/6"
        lid = point.law(f"lid_{form}", jets, fields, title, energy=-p * volume)
    tie = real("scale") * real("share") * dot(vector(unknown(force)), c - r)
    jets = ("value", mean, force)
    ends = point.law("lid_mean", jets, fields, "lambda . (c - r) at the ends", energy=tie)
    x, w = gauss_legendre(EDGE_POINTS)
    rules = (("edge", (x + 1.0) / 2.0, w / 2.0), ("ends", np.array([0.0, 1.0]), np.full(2, 0.5)))
    edge, both = (Rule(k, np.stack([s, 0.0 * s], axis=1), weight) for k, s, weight in rules)
    return [(lid, edge), (ends, both)]


ORIGIN = vector((real("o1"), real("o2"), real("o3")))


def _pressure(form: PressureLaw, before: int) -> tuple[sp.Expr, tuple[str, ...]]:
    """Return the pressure, and the jet of the scalar that it is, behind `before` others."""
    if form != "gas":
        return real("p"), ()
    jet = scalar_jets(before + 1)[-1]
    return real("scale") / real("size") * unknown(jet)[0], (jet,)
