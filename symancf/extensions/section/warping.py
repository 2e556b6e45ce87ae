# SPDX-License-Identifier: BSD-3-Clause
r"""Saint-Venant's torsion and flexure of a cross-section, by quadratic triangles.

With y, z from the centroid, the warping :math:`\omega` of a twist and the stress functions
:math:`\psi` of a shear force Q solve

.. math::
    \int (\nabla\omega + (-z, y)) \cdot \nabla v = 0, \qquad
    \int (\nabla\psi - c\,h) \cdot \nabla v = \int (q \cdot x)\, v, \qquad
    q = I^{-1} Q, \quad c = \frac{\nu}{2(1+\nu)},

    h = \bigl(q_y (y^2 - z^2)/2 + q_z\,y z,\; q_z (z^2 - y^2)/2 + q_y\,y z\bigr),

for all v: no stress on the outline. J is the integral of :math:`|\tau_t|^2`, with
:math:`\tau_t = \nabla\omega + (-z, y)`. The shear stress
:math:`\tau = \nabla\psi - c h`, less its part along :math:`\tau_t`, is that of a force through the
shear centre, where twist and shear do not know of each other (Trefftz 1935); the compliance of
shear is the integral of its square over G.

References
----------
F. Gruttmann, R. Sauer, W. Wagner, Int. J. Numer. Meth. Engng 45 (1999) 865-889;
F. Gruttmann, W. Wagner, Computational Mechanics 27 (2001) 199-207;
W. D. Pilkey, Analysis and Design of Elastic Beams (2002).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symancf import ParameterError

from ..interface import CELLS, Array, Ints, gauss
from .outline import Triangles, bisected, numbered

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_UNKNOWNS = 200_000  # unknowns

#: By which estimates are taken larger: on coarse meshes of thin walls they are 4 times too small.
SAFETY = 4.0


@dataclass(frozen=True)
class Integrals:
    """What a cross-section is to a rod; lengths as given.

    Attributes
    ----------
    A : area. centroid : (2,), where y and z are measured from.
    inertia : (2, 2), integrals of y y, y z, z z.
    J : torsion constant. centre : (2,) the shear centre. warping : integral of the square of the
        warping about that.
    compliance : (3, 2, 2), of shear, in powers of c, so that the strain energy of a force Q at the
        shear centre is Q . (compliance[0] + c compliance[1] + c^2 compliance[2]) Q/(2 G).
    error : estimated of J and of the compliance, relative.
    """

    A: float
    centroid: Array
    inertia: Array
    J: float
    centre: Array
    warping: float
    compliance: Array
    error: float


class _Triangulation:
    """Quadratic functions on triangles, with integrals over them."""

    def __init__(self, points: Array, cells: Ints) -> None:
        self.cells = cells
        edges, number = numbered(cells)
        self.nodes = np.concatenate([points, points[edges].mean(axis=1)])
        self.table = np.concatenate([cells, len(points) + number], axis=1)
        rule = gauss(CELLS["triangle6"], (6,))
        value, slope = CELLS["triangle6"].evaluate(np.asarray(rule.points))
        X = points[cells]
        J = np.stack([X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]], axis=2)
        self.det = J[:, 0, 0] * J[:, 1, 1] - J[:, 0, 1] * J[:, 1, 0]
        inverse = np.linalg.inv(J)
        self.value = value
        self.slope = np.einsum("qnd,tda->tqna", slope, inverse)
        self.weight = self.det[:, None] * rule.weights
        self.x = np.einsum("qn,tna->tqa", value, self.nodes[self.table])
        at_nodes = CELLS["triangle6"].evaluate(CELLS["triangle6"].unit)[1]
        self.nodal = np.einsum("qnd,tda->tqna", at_nodes, inverse)

    def integral(self, f: Array) -> Array:
        """Return the integral of values at the points, (triangles, points, ...)."""
        return np.asarray(np.einsum("tq,tq...->...", self.weight, f))

    def solver(self) -> Callable[[Array], Array]:
        """Return what solves for the potentials (n, k) of loads (n, k)."""
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        n = len(self.nodes)
        blocks = np.einsum("tq,tqia,tqja->tij", self.weight, self.slope, self.slope)
        row = np.repeat(self.table, 6, axis=1).ravel()
        column = np.tile(self.table, (1, 6)).ravel()
        K = csc_matrix((blocks.ravel(), (row, column)), shape=(n, n))[1:, 1:]
        factors = splu(K, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})

        def solve(load: Array) -> Array:
            solution = np.zeros_like(load)
            solution[1:] = factors.solve(load[1:])
            return solution

        return solve

    def load(self, by: str, f: Array) -> Array:
        """Return integrals of f times the functions, or of f times their gradients."""
        if by == "value":
            parts = np.einsum("tq,tqk,qn->tnk", self.weight, f, self.value)
        else:
            parts = np.einsum("tq,tqak,tqna->tnk", self.weight, f, self.slope)
        out = np.zeros((len(self.nodes), parts.shape[2]))
        np.add.at(out, self.table.ravel(), parts.reshape(-1, parts.shape[2]))
        return out

    def gradient(self, u: Array) -> Array:
        """Return gradients (triangles, points, 2, k) of functions (n, k)."""
        return np.asarray(np.einsum("tqna,tnk->tqak", self.slope, u[self.table]))

    def estimate(self, u: Array) -> Array:
        """Return squares of the errors of the gradients (triangles, k), from smoothed ones.

        O. C. Zienkiewicz, J. Z. Zhu, Int. J. Numer. Meth. Engng 24 (1987) 337-357.
        """
        own = np.einsum("tpna,tnk->tpak", self.nodal, u[self.table])
        sums, share = np.zeros((len(self.nodes), *own.shape[2:])), np.zeros(len(self.nodes))
        np.add.at(
            sums,
            self.table.ravel(),
            (own * self.det[:, None, None, None]).reshape(-1, *own.shape[2:]),
        )
        np.add.at(share, self.table.ravel(), np.repeat(self.det, 6))
        smooth = (sums / share[:, None, None])[self.table]
        difference = np.einsum("qn,tnak->tqak", self.value, smooth - own)
        return np.asarray(np.einsum("tq,tqak->tk", self.weight, difference**2))


def analyse(mesh_of_section: Triangles, tolerance: float) -> Integrals:
    """Refine triangles until the estimated errors of J and of shear are below a tolerance.

    Raises
    ------
    ParameterError : they are not, with the most unknowns.
    """
    points, cells = mesh_of_section
    shift, scale = points.mean(axis=0), float(np.ptp(points, axis=0).max())
    points = (points - shift) / scale
    points, cells = bisected(points, cells, np.ones(len(cells), dtype=bool))
    while len(cells) < 100:
        points, cells = bisected(points, cells, np.ones(len(cells), dtype=bool))
    while True:
        mesh = _Triangulation(points, cells)
        solution, errors = _solved(mesh)
        if solution.error <= tolerance:
            break
        if len(mesh.nodes) > MAX_UNKNOWNS:
            raise ParameterError(
                f"a section needs more than {MAX_UNKNOWNS} unknowns for an error of {tolerance:g} "
                "in its "
                f"torsion and shear, with these it is {solution.error:.1e}: give a larger "
                "tolerance="
            )
        share = errors.sum(axis=1)
        order = np.argsort(-share, kind="stable")
        upto = int(np.searchsorted(np.cumsum(share[order]), 0.6 * share.sum())) + 1
        marked = np.zeros(len(cells), dtype=bool)
        marked[order[:upto]] = True
        points, cells = bisected(points, cells, marked)
    return Integrals(
        solution.A * scale**2,
        solution.centroid * scale + shift,
        solution.inertia * scale**4,
        solution.J * scale**4,
        solution.centre * scale,
        solution.warping * scale**6,
        solution.compliance / scale**2,
        solution.error,
    )


def _solved(mesh: _Triangulation) -> tuple[Integrals, Array]:
    """Return what a mesh gives, and shares of the triangles (m, 3) in errors of J and shear."""
    A = float(mesh.weight.sum())
    centroid = mesh.integral(mesh.x) / A
    x = mesh.x - centroid
    inertia = mesh.integral(x[..., :, None] * x[..., None, :])
    y, z = x[..., 0], x[..., 1]
    turn = np.stack([-z, y], axis=2)
    q = np.linalg.inv(inertia)  # column k: that of a unit force along axis k
    square, product = (y**2 - z**2) / 2.0, y * z
    h = np.stack(
        [
            square[..., None] * q[0] + product[..., None] * q[1],
            product[..., None] * q[0] - square[..., None] * q[1],
        ],
        axis=2,
    )
    bent = x @ q
    load = np.concatenate(
        [
            mesh.load("gradient", -turn[..., None]),
            mesh.load("value", bent),
            mesh.load("gradient", h),
        ],
        axis=1,
    )
    u = mesh.solver()(load)
    slopes = mesh.gradient(u)
    twist = slopes[..., 0] + turn
    J = float(mesh.integral((twist**2).sum(axis=2)))
    tau = np.stack([slopes[..., 1:3], slopes[..., 3:5] - h])  # (power of c, t, q, a, force)
    along = np.einsum("tq,tqa,ptqak->pk", mesh.weight, twist, tau) / J
    tau = tau - twist[None, ..., None] * along[:, None, None, None, :]
    products = np.einsum("tq,ptqaj,rtqak->prjk", mesh.weight, tau, tau)
    compliance = np.stack([products[0, 0], products[0, 1] + products[1, 0], products[1, 1]])
    omega = np.einsum("qn,tn->tq", mesh.value, u[mesh.table, 0])
    moments = -mesh.integral(omega[..., None] * bent)
    centre = np.array([moments[1], -moments[0]])
    about = omega - mesh.integral(omega) / A + x @ moments
    warping = float(mesh.integral(about**2))
    squares = mesh.estimate(u)
    c = 0.25
    shear = squares[:, 1:3] + c**2 * squares[:, 3:5]
    errors = np.concatenate([squares[:, :1] / J, shear / np.diag(compliance[0])], axis=1)
    error = SAFETY * float(errors.sum(axis=0).max())
    return Integrals(A, centroid, inertia, J, centre, warping, compliance, error), errors
