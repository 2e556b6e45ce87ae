# SPDX-License-Identifier: BSD-3-Clause
"""Membrane strain and change of curvature of thin plates and shells (Kirchhoff-Love)."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symancf_codegen.declare import reference, unknown

from .quantity import Kinematics, Quantity, cross, dot, motion, real, symmetric, vector

FIRST = ("xi", "eta")
SECOND = ("xixi", "xieta", "etaeta")


@cache
def thin_plate() -> Kinematics:
    r"""Return the kinematics of a surface r(xi, eta) on a flat or curved reference R(xi, eta).

    With n = r_xi x r_eta = N + delta and e = |n|^2 - |N|^2 = 2 N.delta + delta.delta:

    .. math::
        E_{\alpha\beta} &= \tfrac12(R_\alpha\cdot u_\beta + u_\alpha\cdot R_\beta
            + u_\alpha\cdot u_\beta), \qquad
        \frac1{|n|}-\frac1{|N|} = \frac{-e}{|n|\,|N|\,(|n|+|N|)}, \\
        \kappa_{\alpha\beta} &= \frac{r_{\alpha\beta}\cdot n}{|n|}
            - \frac{R_{\alpha\beta}\cdot N}{|N|}
          = R_{\alpha\beta}\cdot N \Big(\frac1{|n|}-\frac1{|N|}\Big)
            + \frac{R_{\alpha\beta}\cdot\delta + u_{\alpha\beta}\cdot n}{|n|}.

    Both are transformed to the orthonormal frame e1 = R_xi/|R_xi|, e2 = N x e1/|N| of the
    reference by G = (e_i . R_alpha)^-1, as G^T E G. `kappa_n3` is the measure
    r_ab . n |N|^2/|n|^3 - R_ab . N/|N| that part of the ANCF literature uses: it differs from
    `kappa` by the factor (|N|/|n|)^2 of the current curvature, and `kappa_n0`, that of
    r_ab . n/|N|, by |n|/|N|: by products of membrane strain and curvature, which the theory of
    thin shells neglects. `kappa_n0` is a polynomial in r, smooth also where a soft membrane
    loses its area: |n| = 0, where the direction of n jumps.
    """
    R = {jet: vector(reference(jet)) for jet in (*FIRST, *SECOND)}
    u = {jet: vector(unknown(jet)) for jet in (*FIRST, *SECOND)}
    geometry: list[tuple[sp.Symbol, sp.Expr]] = []
    lets: list[tuple[sp.Symbol, sp.Expr]] = []

    def fixed(name: str, expression: sp.Expr) -> sp.Symbol:
        geometry.append((real(name), expression))
        return real(name)

    def let(name: str, expression: sp.Expr) -> sp.Symbol:
        lets.append((real(name), expression))
        return real(name)

    normal = cross(R["xi"], R["eta"])
    N = sp.Matrix([fixed(f"N{i + 1}", normal[i]) for i in range(3)])
    NN = fixed("N_squared", dot(N, N))
    area = fixed("N_length", sp.sqrt(NN))
    side = fixed("R_xi_length", sp.sqrt(dot(R["xi"], R["xi"])))
    G11 = fixed("frame11", 1 / side)
    G12 = fixed("frame12", -dot(R["xi"], R["eta"]) / (side * area))
    G22 = fixed("frame22", side / area)
    RN = {jet: fixed(f"R_{jet}_N", dot(R[jet], N)) for jet in SECOND}

    def local(name: str, xixi: sp.Expr, xieta: sp.Expr, etaeta: sp.Expr) -> sp.Matrix:
        """Transform a symmetric surface tensor to the local frame."""
        let(f"{name}11", G11**2 * xixi)
        let(f"{name}12", G11 * (G12 * xixi + G22 * xieta))
        let(f"{name}22", G12**2 * xixi + 2 * G12 * G22 * xieta + G22**2 * etaeta)
        return symmetric(name, 2)

    def strain(a: str, b: str) -> sp.Expr:
        half = sp.Rational(1, 2)
        if a == b:
            return dot(R[a], u[a]) + half * dot(u[a], u[a])
        return half * (dot(R[a], u[b]) + dot(u[a], R[b]) + dot(u[a], u[b]))

    membrane = [("xi", "xi"), ("xi", "eta"), ("eta", "eta")]
    E_gl = local("E_gl", *(let(f"E_{a}{b}", strain(a, b)) for a, b in membrane))

    change = cross(R["xi"], u["eta"]) + cross(u["xi"], R["eta"]) + cross(u["xi"], u["eta"])
    delta = sp.Matrix([let(f"delta{i + 1}", change[i]) for i in range(3)])
    n = sp.Matrix([let(f"n{i + 1}", N[i] + delta[i]) for i in range(3)])
    e = let("nn_change", 2 * dot(N, delta) + dot(delta, delta))
    nn = let("nn", NN + e)
    inverse = let("n_inverse", 1 / sp.sqrt(nn))
    p = let("n_inverse_change", -e * inverse / (area * (area + nn * inverse)))
    bend = {jet: let(f"bend_{jet}", dot(R[jet], delta) + dot(u[jet], n)) for jet in SECOND}
    kappa = local("kappa", *(RN[jet] * p + bend[jet] * inverse for jet in SECOND))
    p3 = let("n_inverse3_change", p * (inverse**2 + inverse / area + 1 / NN))
    kappa_n3 = local("kappa_n3_", *(NN * (RN[jet] * p3 + bend[jet] * inverse**3) for jet in SECOND))
    kappa_n0 = local("kappa_n0_", *(bend[jet] / area for jet in SECOND))

    common, more = motion()
    lets.extend(more)
    quantities = {
        "E_gl": Quantity(E_gl, "Green-Lagrange membrane strain in the local frame, 2x2 [-]"),
        "kappa": Quantity(kappa, "change of curvature r_ab . n/|n| in the local frame, 2x2 [1/m]"),
        "kappa_n3": Quantity(kappa_n3, "the same with r_ab . n |N|^2/|n|^3, 2x2 [1/m]"),
        "kappa_n0": Quantity(kappa_n0, "the same with r_ab . n/|N|, 2x2 [1/m]"),
    }
    return Kinematics(
        name="thin_plate",
        jets=(*FIRST, *SECOND),
        quantities=quantities | common,
        inner=(),
        geometry=tuple(geometry),
        lets=tuple(lets),
        measure=area,
        domain=(nn,),
        section=(),
        density=real("rho") * real("thickness"),
        density_parameters=("rho", "thickness"),
        unit="J/m^2",
        strains=tuple(x for a in (E_gl, kappa, kappa_n3, kappa_n0) for x in (a[0], a[1], a[3])),
    )


@cache
def surface() -> Kinematics:
    """Return the kinematics of a surface patch without strain: it offers u, r, X and t."""
    N = cross(vector(reference("xi")), vector(reference("eta")))
    squares = sp.Add(*(real(f"N{i + 1}") ** 2 for i in range(3)))
    geometry = [(real(f"N{i + 1}"), N[i]) for i in range(3)]
    geometry.append((real("N_length"), sp.sqrt(squares)))
    quantities, lets = motion()
    return Kinematics(
        name="surface",
        jets=FIRST,
        quantities=quantities,
        inner=(),
        geometry=tuple(geometry),
        lets=tuple(lets),
        measure=real("N_length"),
        domain=(),
        section=(),
        density=real("rho") * real("thickness"),
        density_parameters=("rho", "thickness"),
        unit="J/m^2",
    )
