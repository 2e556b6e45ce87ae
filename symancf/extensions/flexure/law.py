# SPDX-License-Identifier: BSD-3-Clause
r"""The virtual work of a flexure between two planar bodies, written once in SymPy.

Source: Cammarata et al., Micromachines 13 (2022) 2172. All vectors are given in the directions of
the ground; :math:`R(\varphi)` turns by the angle by which a body has turned *since* the
reference configuration, so that everything vanishes there without cancellation. With the chord
:math:`p = \hat p + \Delta` between the attachments, the deformation seen by an observer on body
a, in the frame of the loaded end (:math:`B = R(\beta_b)`), and the wrench are

.. math::
    x = B^T (R(-\varphi_a)\, p - \hat p), \quad \varphi = \varphi_b - \varphi_a, \quad
    (F, M) = K\,(x, \varphi),

and the generalised forces on the two bodies (arms :math:`s_a, s_b`, lever :math:`\ell`)

.. math::
    R_b = \big(R(\varphi_b) B F,\; s_b \times B F + M\big), \qquad
    R_a = \big(-R(\varphi_a) B F,\; -s_a \times B F - \ell \times F - M\big).

``linear``: :math:`\ell = \hat\ell`, the reference lever; ``partial``: :math:`\ell = \hat\ell +
x`. In both the forces at the ends differ by the rotation :math:`\varphi`, so the tangent is
unsymmetric. ``consistent``: the energy :math:`\tfrac12 (x,\varphi)^T K (x,\varphi)` of the same
deformation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import sympy as sp

from ..interface import declare, frozen
from ..interface import symbolic as to_sympy

if TYPE_CHECKING:
    from collections.abc import Sequence

MODELS = ("linear", "partial", "consistent")
TANGENTS = ("K", "K_I", "K_I+K_II")

UNKNOWNS = sp.symbols("u_a1 u_a2 phi_a u_b1 u_b2 phi_b", real=True)
EI = sp.Symbol("EI", positive=True)
ARM_A, ARM_B = sp.symbols("s_a1 s_a2", real=True), sp.symbols("s_b1 s_b2", real=True)
CHORD = sp.symbols("p1 p2", real=True)
FRAME = sp.symbols("cos_beta sin_beta", real=True)
LEVER = sp.symbols("l1 l2", real=True)
STIFFNESS = sp.symbols("K11 K12 K13 K22 K23 K33", real=True)
CELL = (*ARM_A, *ARM_B, *CHORD, *FRAME, *LEVER, *STIFFNESS)


Let = tuple[sp.Symbol, sp.Expr]


def _real(name: str) -> sp.Symbol:
    return sp.Symbol(name, real=True)


def _turn(sine: sp.Expr, cosine: sp.Expr, v: Sequence[sp.Expr]) -> tuple[sp.Expr, sp.Expr]:
    return cosine * v[0] - sine * v[1], sine * v[0] + cosine * v[1]


def _cross(a: Sequence[sp.Expr], b: Sequence[sp.Expr]) -> sp.Expr:
    return a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True)
class Kinetostatics:
    """Deformation, wrench and forces of a flexure as lets and expressions of their names.

    Attributes
    ----------
    lets : ordered definitions; the last are x1, x2, phi (deformation) and F1, F2, M (wrench).
    forces : generalised force (6,) of the virtual-work models, in the lets.
    """

    lets: tuple[Let, ...]
    forces: tuple[sp.Expr, ...]
    deformation: tuple[sp.Symbol, sp.Symbol, sp.Symbol]
    wrench: tuple[sp.Symbol, sp.Symbol, sp.Symbol]


@cache
def kinetostatics(model: str, tangent: str = "K") -> Kinetostatics:
    """Return the model of one flexure; `tangent` says which parts its derivative keeps."""
    u_a1, u_a2, phi_a, u_b1, u_b2, phi_b = UNKNOWNS
    lets: list[Let] = []

    def let(name: str, expression: sp.Expr) -> sp.Symbol:
        lets.append((_real(name), to_sympy(expression)))
        return lets[-1][0]

    sin, cos, versine = {}, {}, {}
    for end, phi in (("a", phi_a), ("b", phi_b)):
        half = let(f"half_sin_{end}", sp.sin(phi / 2))
        versine[end] = let(f"versine_{end}", 2 * half**2)
        sin[end] = let(f"sin_{end}", 2 * half * let(f"half_cos_{end}", sp.cos(phi / 2)))
        cos[end] = let(f"cos_{end}", 1 - versine[end])
    delta = [
        let(
            f"delta{k + 1}",
            (u_b1, u_b2)[k]
            - (u_a1, u_a2)[k]
            + _turn(sin["b"], -versine["b"], ARM_B)[k]
            - _turn(sin["a"], -versine["a"], ARM_A)[k],
        )
        for k in (0, 1)
    ]
    moved = _turn(-sin["a"], cos["a"], delta)
    tilted = _turn(-sin["a"], -versine["a"], CHORD)
    y = [let(f"y{k + 1}", moved[k] + tilted[k]) for k in (0, 1)]
    x = [let(f"x{k + 1}", v) for k, v in enumerate(_turn(-FRAME[1], FRAME[0], y))]
    phi = let("phi", phi_b - phi_a)
    k11, k12, k13, k22, k23, k33 = STIFFNESS
    F = [
        let("F1", EI * (k11 * x[0] + k12 * x[1] + k13 * phi)),
        let("F2", EI * (k12 * x[0] + k22 * x[1] + k23 * phi)),
    ]
    M = let("M", EI * (k13 * x[0] + k23 * x[1] + k33 * phi))
    f = [let(f"f{k + 1}", v) for k, v in enumerate(_turn(FRAME[1], FRAME[0], F))]

    turned, bent = (
        (lambda v: v) if part else frozen for part in (tangent != "K_I", tangent == "K")
    )
    lever = [l + bent(v) if model == "partial" else l for l, v in zip(LEVER, x, strict=True)]
    at_b = _turn(turned(sin["b"]), turned(cos["b"]), f)
    at_a = _turn(turned(sin["a"]), turned(cos["a"]), f)
    forces = (
        -at_a[0],
        -at_a[1],
        -_cross(ARM_A, f) - _cross(lever, F) - M,
        at_b[0],
        at_b[1],
        _cross(ARM_B, f) + M,
    )
    return Kinetostatics(tuple(lets), forces, (*x, phi), (*F, M))


@cache
def flexure_law(model: str, tangent: str = "K") -> declare.PointLaw:
    """Return the point law of a flexure on the six coordinates of its two bodies.

    Parameters
    ----------
    model : ``linear``, ``partial`` or ``consistent``.
    tangent : ``K``: the whole tangent; ``K_I``: frames and lever held fixed in differentiation;
        ``K_I+K_II``: only the lever held fixed. The residual is the same.
    """
    k = kinetostatics(model, tangent)
    parameters = (declare.KernelParameter(EI), *(declare.KernelParameter(s, "cell") for s in CELL))
    title = {
        "linear": "arm and lever of the reference configuration",
        "partial": "lever of the present configuration",
        "consistent": "(x, phi) K (x, phi) / 2",
    }[model]
    suffix = "" if tangent == "K" else "_" + tangent.replace("+", "_").lower()
    energy, work = None, None
    if model != "consistent":
        work = dict(zip(UNKNOWNS, k.forces, strict=True))
    elif tangent != "K_I":
        energy = sp.Add(*(w * d for w, d in zip(k.wrench, k.deformation, strict=True))) / 2
    else:
        work = {frozen(d): w for d, w in zip(k.deformation, k.wrench, strict=True)}
    return declare.PointLaw(
        name=f"flexure_{model}{suffix}",
        unknowns=UNKNOWNS,
        lets=k.lets,
        energy=energy,
        work=work,
        parameters=parameters,
        title=f"flexure between planar bodies, {title}",
    )


def _slopes(expressions: Sequence[sp.Expr], lets: Sequence[Let]) -> sp.Matrix:
    """Return derivatives (n, 6) by the coordinates, through the lets and in their names.

    Sine and cosine of half the angles, which only keep digits, are not shown.
    """
    size = len(UNKNOWNS)
    rows = {q: sp.eye(size).row(k) for k, q in enumerate(UNKNOWNS)}
    for end, phi in (("a", UNKNOWNS[2]), ("b", UNKNOWNS[5])):
        sine, cosine = _real(f"sin_{end}"), _real(f"cos_{end}")
        rows[sine], rows[cosine] = cosine * rows[phi], -sine * rows[phi]
        rows[_real(f"versine_{end}")] = sine * rows[phi]

    def slope(expression: sp.Expr) -> sp.Matrix:
        moving = sorted(expression.free_symbols & rows.keys(), key=str)
        return sum((sp.diff(expression, s) * rows[s] for s in moving), sp.zeros(1, size))

    for symbol, definition in lets:
        rows[symbol] = slope(definition)
    return sp.Matrix.vstack(*map(slope, expressions))


@dataclass(frozen=True)
class Parts:
    """Residual and tangent of one flexure, in symbols; rows and columns are those of `UNKNOWNS`.

    Attributes
    ----------
    lets : definitions of the names that the expressions use, in order.
    residual : (6, 1) generalised forces.
    N : (6, 3) forces per wrench, J : (3, 6) deformation per coordinate, K : (3, 3) stiffness.
    L : (6, 2) forces per change of the lever.
    K_I : N K J. K_II : derivative of the frames in which the forces act. K_III : L times the
        first two rows of J, the change of the lever (zero for ``linear``; for ``consistent``
        K_I = J^T K J and all else is in K_II).
    """

    lets: tuple[Let, ...]
    residual: sp.Matrix
    N: sp.Matrix
    K: sp.Matrix
    J: sp.Matrix
    L: sp.Matrix
    K_I: sp.Matrix
    K_II: sp.Matrix
    K_III: sp.Matrix

    @property
    def tangent(self) -> sp.Matrix:
        """The whole tangent, K_I + K_II + K_III."""
        return self.K_I + self.K_II + self.K_III

    def latex(self) -> str:
        """Return definitions, residual and the three parts as LaTeX equations."""
        lines = [f"{sp.latex(s)} &= {sp.latex(e)}" for s, e in self.lets]
        lines += [
            f"{name} &= {sp.latex(matrix)}"
            for name, matrix in (
                ("R", self.residual),
                ("N", self.N),
                ("K", self.K),
                ("J", self.J),
                ("L", self.L),
                ("K_{II}", self.K_II),
            )
        ]
        lines += ["K_{I} &= N K J", "K_{III} &= L \\, J_{x}, \\quad J_{x} = J_{1..2}"]
        return "\\begin{align}\n" + " \\\\\n".join(lines) + "\n\\end{align}"

    def _repr_latex_(self) -> str:
        return self.latex()


@cache
def symbolic(model: str) -> Parts:
    """Return residual and tangent parts of a flexure model as SymPy matrices."""
    k = kinetostatics(model)
    frames = ("half", "sin_", "cos_", "versine")
    lets = [(s, e) for s, e in k.lets if not s.name.startswith(frames)]
    forces = (*k.wrench, _real("f1"), _real("f2"))
    lets_of_strain = [(s, e) for s, e in lets if s not in forces]  # wrenches do not change
    J = _slopes(k.deformation, lets_of_strain)
    K = EI * sp.Matrix(3, 3, lambda i, j: STIFFNESS[(0, 1, 2, 1, 3, 4, 2, 4, 5)[3 * i + j]])
    if model == "consistent":
        N = J.T
        residual = N * sp.Matrix(k.wrench)
        K_II = _slopes(list(residual), lets_of_strain)
        L = sp.zeros(6, 2)
    else:
        residual = sp.Matrix(k.forces)
        in_wrench = residual.xreplace({s: e for s, e in lets if s in forces[3:]})
        N = in_wrench.jacobian(list(k.wrench))
        K_II = _slopes(list(residual), ())
        L = residual.jacobian(list(k.deformation[:2])) if model == "partial" else sp.zeros(6, 2)
    return Parts(k.lets, residual, N, K, J, L, N * K * J, K_II, L * J[:2, :])
