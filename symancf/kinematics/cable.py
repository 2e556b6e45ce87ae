# SPDX-License-Identifier: BSD-3-Clause
"""Axial strain and curvature of cables."""

from __future__ import annotations

from functools import cache

import sympy as sp

from symancf_codegen.declare import reference, unknown

from .quantity import Kinematics, Quantity, cross, dot, motion, positive, real, vector

#: |r_xi x r_xixi|/|R_xi|^2 (the turn of a cell) that is added in squares to both curvatures.
INFLECTION = 1e-14


#: The lets that energies know curvatures by.
CURVATURES = (
    "kappa",
    "kappa_squared",
    "kappa_geometric",
    "kappa_geometric_squared",
    "kappa_plane",
)


@cache
def cable(*, curved: bool = False) -> Kinematics:
    r"""Return the kinematics of a curve r(xi) with tangents r_xi on the reference R(xi).

    With e/2 = epsilon_green = (R_xi . u_xi + u_xi . u_xi/2)/|R_xi|^2, the stretch is
    lambda = |r_xi|/|R_xi| = sqrt(1 + 2 epsilon_green), and

    .. math::
        \epsilon = \lambda - 1 = \frac{2\epsilon_{green}}{1+\lambda}, \qquad
        \kappa = \frac{|r_\xi\times r_{\xi\xi}|}{|r_\xi|^2\,|R_\xi|}, \qquad
        \kappa_{geometric} = \frac{|r_\xi\times r_{\xi\xi}|}{|r_\xi|^3}.

    `kappa` is the turn of the tangent per *reference* length, d(theta)/dS; it is the default
    because a couple then works on d(theta) alone: a cantilever under a tip moment rolls up to
    an exact circle with M = EI kappa and no axial strain, whatever EA is. `kappa_geometric` =
    kappa/lambda is the curvature of the current curve; bending then also pulls the axis, by
    -EI kappa^2/(EA lambda^3), which vanishes in the thin limit.

    `kappa_plane` is the change of the *signed* turn about z per reference length,

    .. math::
        \kappa_{plane} = \frac{(r_\xi\times r_{\xi\xi})\cdot e_z}{|r_\xi|^2\,|R_\xi|}
        - \frac{(R_\xi\times R_{\xi\xi})\cdot e_z}{|R_\xi|^3},

    for cables that stay in a plane z = const (`planar`), straight or curved: it may change sign,
    which a scalar curvature cannot.

    Parameters
    ----------
    curved : False: the reference is straight; only kappa^2 occurs, smooth at kappa = 0, and an
        energy must be even in kappa. True: `kappa` is the change kappa - kappa0 of the scalar
        curvature, formed without cancellation. Where kappa0 is 0, at an inflection, it is
        |kappa|, as of a straight cable; both lengths |r_xi x r_xixi| contain `INFLECTION`.
    """
    R, Rxx = vector(reference("xi")), vector(reference("xixi"))
    u, uxx = vector(unknown("xi")), vector(unknown("xixi"))
    geometry: list[tuple[sp.Symbol, sp.Expr]] = []
    lets: list[tuple[sp.Symbol, sp.Expr]] = []

    def fixed(name: str, expression: sp.Expr) -> sp.Symbol:
        geometry.append((real(name), expression))
        return real(name)

    def let(symbol: sp.Symbol, expression: sp.Expr) -> sp.Symbol:
        lets.append((symbol, expression))
        return symbol

    RR = fixed("R_xi_squared", dot(R, R))
    length = fixed("R_xi_length", sp.sqrt(RR))
    green = let(real("epsilon_green"), (dot(R, u) + dot(u, u) / 2) / RR)
    squared = let(positive("stretch_squared"), 1 + 2 * green)
    stretch = let(positive("stretch"), sp.sqrt(squared))
    epsilon = let(real("epsilon"), 2 * green / (1 + stretch))

    bend = cross(R, uxx) + cross(u, Rxx) + cross(u, uxx)
    b = sp.Matrix([let(real(f"bend{i + 1}"), bend[i]) for i in range(3)])
    if curved:
        V0 = cross(R, Rxx)
        V = sp.Matrix([fixed(f"R_bend{i + 1}", V0[i]) for i in range(3)])
        # at an inflection |R' x R''| is 0 or round-off: a turn of 1e-14 keeps the root smooth there
        V_squared = fixed("R_bend_squared", dot(V, V) + sp.Float(INFLECTION) ** 2 * RR**2)
        V_length = fixed("R_bend_length", sp.sqrt(V_squared))
        change = let(real("bend_squared_change"), 2 * dot(V, b) + dot(b, b))
        v_length = let(positive("bend_length"), sp.sqrt(V_squared + change))
        difference = let(real("bend_length_change"), change / (v_length + V_length))
        factor = V_length / length**3
        # 1/lambda^2 - 1 and 1/lambda^3 - 1 from the strains, both without cancellation
        kappa = let(
            real("kappa"), difference / (length**3 * squared) - factor * 2 * green / squared
        )
        cube = (1 + stretch + squared) * epsilon
        geometric = let(
            real("kappa_geometric"),
            (difference / length**3 - factor * cube) / (stretch * squared),
        )
        domain: tuple[sp.Expr, ...] = (squared, v_length)
    else:
        kappa2 = let(positive("kappa_squared"), dot(b, b) / (RR**3 * squared**2))
        geometric2 = let(positive("kappa_geometric_squared"), dot(b, b) / (RR * squared) ** 3)
        kappa, geometric = sp.sqrt(kappa2), sp.sqrt(geometric2)
        domain = (squared,)
        fixed("R_bend3", cross(R, Rxx)[2])
    signed = (b[2] - real("R_bend3") * 2 * green) / (length**3 * squared)
    plane = let(real("kappa_plane"), signed)

    common, more = motion()
    lets.extend(more)
    change_of = "change of " if curved else ""
    quantities = {
        "epsilon": Quantity(epsilon, "axial strain |r_xi|/|R_xi| - 1 (Biot) [-]"),
        "epsilon_green": Quantity(green, "axial strain (|r_xi|^2/|R_xi|^2 - 1)/2 (Green) [-]"),
        "kappa": Quantity(kappa, f"{change_of}curvature per reference length, d theta/dS [1/m]"),
        "kappa_geometric": Quantity(geometric, f"{change_of}curvature of the curve [1/m]"),
        "kappa_plane": Quantity(plane, "change of the signed turn about z per length [1/m]"),
    }
    return Kinematics(
        name="cable",
        jets=("xi", "xixi"),
        quantities=quantities | common,
        inner=(),
        geometry=tuple(geometry),
        lets=tuple(lets),
        measure=length,
        domain=domain,
        section=(),
        density=real("rho") * real("A"),
        density_parameters=("rho", "A"),
        unit="J/m",
        strains=tuple(s for s, _ in lets if s.name in ("epsilon", "epsilon_green", *CURVATURES)),
    )
