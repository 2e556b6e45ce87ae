# SPDX-License-Identifier: BSD-3-Clause
r"""Laws of a surface on which gas presses: its follower pressure and the volume it bounds.

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

from typing import TYPE_CHECKING, Any, Literal

import sympy as sp

from symancf_codegen.declare import Lets, Parameter, PointLaw, Rule, reference, unknown

from ..elements.quadrature import gauss
from ..kinematics.quantity import cross, dot, real, vector
from .build import kinds_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..elements.element import Element

Laws = list[tuple[PointLaw, Rule]]
Form = Literal["pressure", "potential", "factored"]


def surface_rule(element: Element) -> Rule:
    """Return the rule that integrates r . (r_xi x r_eta) exactly on a polynomial surface."""
    main = next(iter(element.functions.values()))
    degree = max(max(exponents) for exponents in main.exponents)
    points = -(-3 * degree // 2)  # the degree per direction is 3 degree - 1
    return gauss(element.topology, (points, points))


def surface_laws(
    element: Element, form: Form, *, offset: bool = False, fields: Collection[str] = ()
) -> Laws:
    """Return the law of a pressure on the cells of a surface, or of the volume that they bound.

    Parameters
    ----------
    element : `quad4` for facets of solids, or a plate.
    form : ``"pressure"``: virtual work of the follower pressure p; ``"potential"``: -p V;
        ``"factored"``: -scale V, of which p/scale is the factor.
    offset : the surface is the face z = offset thickness/2 (parameter per cell) of a plate, not
        its mid-surface.
    fields : parameters of the body that vary; see `energy_laws`.

    Parameters of the law: ``p`` [Pa], per cell ``sense`` and ``offset``, ``thickness`` [m], and
    the origin ``o1, o2, o3`` [m].
    """
    director = element.has_thickness
    jets = ["value", "xi", "eta"]
    if offset and not director:
        jets += ["xixi", "xieta", "etaeta"]
    unknowns = tuple(s for jet in jets for s in unknown(jet))
    geometry: list[tuple[sp.Symbol, sp.Expr]] = []
    if director or offset:
        z = real("offset") * real("thickness") / 2 if offset else sp.Integer(0)
        geometry.append((real("z"), z))
    lets: list[tuple[sp.Symbol, sp.Expr]] = []

    def let(name: str, expression: sp.Expr) -> sp.Symbol:
        lets.append((real(name), expression))
        return real(name)

    def present(jet: str) -> sp.Matrix:
        label = "r" if jet == "value" else f"r_{jet}"
        pairs = zip(reference(jet), unknown(jet), strict=True)
        return sp.Matrix([let(f"{label}{i}", R + u) for i, (R, u) in enumerate(pairs, 1)])

    r_xi, r_eta = present("xi"), present("eta")
    n = sp.Matrix([let(f"n{i}", c) for i, c in enumerate(cross(r_xi, r_eta), 1)])
    shift: sp.Expr = sp.Integer(0)
    if offset and not director:
        nn = let("nn", dot(n, n))
        length = let("n_length", sp.sqrt(nn))
        b = [let(f"b_{jet}", dot(present(jet), n) / length) for jet in jets[3:]]
        a = [let(f"a{k}", dot(x, y)) for k, (x, y) in _metric(r_xi, r_eta)]
        twice_H = let("twice_H", (b[0] * a[2] - 2 * b[1] * a[1] + b[2] * a[0]) / nn)
        K = let("K", (b[0] * b[2] - b[1] ** 2) / nn)
        z = real("z")
        area = let("area_ratio", 1 - z * twice_H + z**2 * K)
        n = sp.Matrix([let(f"n_face{i}", area * n[i - 1]) for i in (1, 2, 3)])
        shift = z * length * area  # z n/|n| . n of the face
    sense, p = real("sense"), real("p")
    energy, work = None, None
    if form == "pressure":
        work = {u: p * sense * n[i] for i, u in enumerate(unknown("value"))}
    else:
        r = present("value") - vector((real("o1"), real("o2"), real("o3")))
        volume = let("volume", -sense * (dot(r, n) + shift) / 3)
        energy = -volume * (p if form == "potential" else real("scale"))
    used = _used([*(work or {}).values(), *([energy] if energy is not None else [])], lets)
    kept: Lets = tuple((s, e) for s, e in lets if s in used)
    symbols = used.union(*(e.free_symbols for _, e in geometry))
    inner = {s for s, _ in (*kept, *geometry)}
    inner |= {s for jet in jets for s in (*unknown(jet), *reference(jet))}
    kinds: dict[str, Any] = {**kinds_of(fields), "sense": "cell", "offset": "cell"}
    parameters = tuple(
        Parameter(s, kinds.get(s.name, "uniform"))
        for s in sorted(symbols - inner, key=lambda s: str(s.name))
    )
    law = PointLaw(
        name=f"{form}_{element.name}{'_face' if offset else ''}",
        unknowns=unknowns,
        jets=tuple(jets),
        geometry=tuple(geometry),
        lets=kept,
        energy=energy,
        work=work,
        parameters=parameters,
        title={
            "pressure": "p n . dr, n = r_xi x r_eta",
            "potential": "-p V, V = -(r - o) . n/3",
            "factored": "-scale V, V = -(r - o) . n/3",
        }[form],
    )
    return [(law, surface_rule(element))]


def _metric(r_xi: sp.Matrix, r_eta: sp.Matrix) -> list[tuple[str, tuple[sp.Matrix, sp.Matrix]]]:
    return [("11", (r_xi, r_xi)), ("12", (r_xi, r_eta)), ("22", (r_eta, r_eta))]


def _used(results: list[Any], lets: list[tuple[sp.Symbol, sp.Expr]]) -> set[sp.Symbol]:
    """Return all symbols that results need, through their lets."""
    definitions = dict(lets)
    reached: set[sp.Symbol] = set()
    pending = [s for result in results for s in result.free_symbols]
    while pending:
        s = pending.pop()
        if s not in reached:
            reached.add(s)
            pending.extend(definitions[s].free_symbols if s in definitions else ())
    return reached
