# SPDX-License-Identifier: BSD-3-Clause
r"""Iterations that BDDC needs on plates, by thickness, curvature, stretch and number of subdomains.

    python -m tests.campaign.substructures [--cells 8] [--along 2 4 8]

Balancing domain decomposition by constraints (C. R. Dohrmann, SIAM Journal on Scientific Computing
25 (2003) 246-258) of a square of `ancf_plate`, clamped at x = 0, in as many subdomains along both
axes, on one rank. Each has the same tangent but for a turn about y: the package assembles it of its
own cells alone. Conjugate gradients solve what is left after elimination within subdomains,

.. math:: S = \sum_i R_i^T S_i R_i, \quad
    M^{-1} = \sum_i R_i^T D_i (\Psi_i S_c^{-1} \Psi_i^T + C_i) D_i R_i,

to 1e-8 of the load across the plate. D is one over the number of subdomains of a node; the coarse
functions :math:`\Psi_i` have the least energy with the coarse unknowns that are given, C_i solves
where these are zero. They are the 12 coordinates of corners, and of each edge either its 12 means
or, as PETSc's PCBDDC takes them from a near-null space, what it moves with the six rigid motions.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg as la

import symancf as sa

if TYPE_CHECKING:
    from symancf.arrays import Array, Ints, Mask

THICKNESSES = 0.1, 0.01, 0.001
STATES = "flat", "curved", "stretched", "long cells"
COARSE = "means", "rigid"
STRETCH, ASPECT = 1.3, 4.0
WIDTH = 12  # coordinates of a node: a position and three slopes


@dataclass(frozen=True)
class Plate:
    """A square plate, or strip of `long cells`, in subdomains of `cells` x `cells` plates.

    Attributes
    ----------
    along : subdomains along each axis.
    state : ``"curved"``: a cylinder of the radius 1 without stress; ``"stretched"`` along x.
    """

    thickness: float
    state: str
    along: int
    cells: int

    @property
    def lengths(self) -> tuple[float, float]:
        """Those of a subdomain."""
        h = 1.0 / self.along
        return h * (ASPECT if self.state == "long cells" else 1.0), h

    @cached_property
    def subdomain(self) -> tuple[Array, Array, Ints]:
        """The first one: tangent (12 n, 12 n), coordinates (n, 12), and places (n, 2) in cells."""
        curved, n = self.state == "curved", self.cells
        warp = {"warp": _rolled} if curved else {}
        mesh = sa.Mesh.box(self.lengths, (n, n), **warp)
        given = {"mu": 1e6 / 2.6, "lam": 0.3e6 / (1.3 * 0.4), "thickness": self.thickness}
        law = sa.energies.neo_hooke()
        system = sa.System(sa.Body(mesh["body"], sa.elements.ancf_plate, law, **given))._discrete
        numbering = system.numbering
        parts = [np.asarray(numbering.coordinates_of(k)).reshape(-1, size) for k, size in _SIZES]
        at = np.concatenate(parts, axis=1)
        q = system.reference.copy()
        x, y, z = q[at[:, :3]].T
        along = np.arctan2(x, 1.0 - z) if curved else x
        place = np.rint(np.stack([along, y], axis=1) / self.lengths * n).astype(np.int64)
        if self.state == "stretched":
            q[at[:, :4:3]] *= STRETCH
        system.state[:] = q - system.reference
        system.update(0.0)
        system.assembler.tangent(system.state, np.zeros_like(q), system.matrix)
        system.matrix.finish()
        start, column, value = system.matrix.mat.getValuesCSR()
        K = np.zeros((len(start) - 1, len(start) - 1))
        K[np.repeat(np.arange(len(K)), np.diff(start)), column] = value
        rows = np.asarray(numbering.row)[at.ravel()]
        return K[np.ix_(rows, rows)], q[at], place

    def turn(self, column: int) -> Array:
        """Return the rotation (3, 3) of the subdomains of a column, along x."""
        angle = column * self.lengths[0] if self.state == "curved" else 0.0
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])

    def coordinates(self, column: int, row: int) -> Array:
        """Return those (n, 12) of a subdomain."""
        q, (length, width) = self.subdomain[1].copy(), self.lengths
        q[:, :3] = q[:, :3] @ self.turn(column).T
        if self.state == "curved":
            q[:, :3] += _rolled(np.array([[column * length, row * width]]))
        else:
            stretch = STRETCH if self.state == "stretched" else 1.0
            q[:, :2] += column * length * stretch, row * width
        return q


_SIZES = (0, 3), (1, 9)  # blocks: positions, slopes


def _rolled(X: Array) -> Array:
    return np.stack([np.sin(X[:, 0]), X[:, 1], 1.0 - np.cos(X[:, 0])], axis=1)


class Substructures:
    """A plate by subdomains, and what they have in common.

    Attributes
    ----------
    nodes : (subdomains, n) numbers of the nodes of subdomains.
    shared : which nodes several subdomains have, supports left out.
    corners : those of more than two subdomains.
    edges : the others, by pairs of subdomains.
    q : (nodes, 12) coordinates.
    """

    def __init__(self, plate: Plate) -> None:
        self.plate = plate
        n, S = plate.cells, plate.along
        place, wide = plate.subdomain[2], n * S + 1
        self.columns = np.repeat(np.arange(S), S)
        pairs = list(zip(self.columns.tolist(), np.tile(np.arange(S), S).tolist(), strict=True))
        self.nodes = np.stack(
            [(place[:, 0] + a * n) * wide + place[:, 1] + b * n for a, b in pairs]
        )
        self.count = np.bincount(self.nodes.ravel())
        self.clamped = np.arange(wide**2) < wide
        self.shared: Mask = (self.count > 1) & ~self.clamped
        self.q = np.zeros((wide**2, WIDTH))
        for nodes, (a, b) in zip(self.nodes, pairs, strict=True):
            self.q[nodes] = plate.coordinates(a, b)
        self.corners = np.flatnonzero(self.shared & (self.count > 2))
        owners = np.full((wide**2, 2), -1)
        for k, nodes in enumerate(self.nodes):
            owners[nodes, 1] = np.where(owners[nodes, 0] < 0, -1, k)
            owners[nodes, 0] = np.where(owners[nodes, 0] < 0, k, owners[nodes, 0])
        between = np.flatnonzero(self.shared & (self.count == 2))
        keys = owners[between] @ (len(self.nodes), 1)
        self.edges = [between[keys == key] for key in np.unique(keys)]

    @cached_property
    def number(self) -> Ints:
        """Of the nodes that are shared."""
        return np.where(self.shared, np.cumsum(self.shared) - 1, -1)

    def schur(self, k: int) -> tuple[Ints, Array]:
        """Return the unknowns (m,) that a subdomain shares, and its Schur complement (m, m)."""
        own, K = self.nodes[k], self.plate.subdomain[0]
        outside = np.repeat(self.shared[own], WIDTH)
        inside = np.repeat(~self.shared[own] & ~self.clamped[own], WIDTH)
        factor = la.cho_factor(K[np.ix_(inside, inside)])
        beside = K[np.ix_(inside, outside)]
        S = K[np.ix_(outside, outside)] - beside.T @ la.cho_solve(factor, beside)
        turn = self.plate.turn(int(self.columns[k]))
        each = la.block_diag(turn, np.kron(turn, turn))
        Q = np.kron(np.eye(len(S) // WIDTH), each)
        S = Q @ S @ Q.T
        unknowns = WIDTH * self.number[own[self.shared[own]]][:, None] + np.arange(WIDTH)
        return unknowns.ravel(), (S + S.T) / 2.0

    def averages(self, edge: Ints, coarse: str) -> Array:
        """Return what is coarse of an edge (k, 12 m): means, or parts of rigid motions."""
        if coarse == "means":
            return np.tile(np.eye(WIDTH), (1, len(edge))) / np.sqrt(len(edge))
        q = self.q[edge].reshape(-1, 4, 3).copy()
        q[:, 0] -= q[:, 0].mean(axis=0)
        moved = np.zeros((6, *q.shape))
        for a, axis in enumerate(np.eye(3)):
            moved[a, :, 0], moved[3 + a] = axis, np.cross(axis, q)
        _, size, rows = np.linalg.svd(moved.reshape(6, -1), full_matrices=False)
        return np.asarray(rows[size > 1e-8 * size[0]])

    def constraints(self, coarse: str) -> Array:
        """Return what coarse unknowns are of all that are shared."""
        size = WIDTH * int(self.shared.sum())
        at = WIDTH * self.number[self.corners][:, None] + np.arange(WIDTH)
        parts = [np.eye(size)[at.ravel()]]
        for edge in self.edges:
            own = self.averages(edge, coarse)
            part = np.zeros((len(own), size))
            part[:, (WIDTH * self.number[edge][:, None] + np.arange(WIDTH)).ravel()] = own
            parts.append(part)
        return np.concatenate(parts)


class BDDC:
    """The product with S and the preconditioner of it."""

    def __init__(self, parts: Substructures, coarse: str) -> None:
        C = parts.constraints(coarse)
        self.coarse = len(C)
        S_c = np.zeros((len(C), len(C)))
        weight = np.repeat(1.0 / parts.count[parts.shared], WIDTH)
        self._parts = []
        for k in range(len(parts.nodes)):
            at, S = parts.schur(k)
            rows = np.flatnonzero(np.any(C[:, at] != 0.0, axis=1))
            scale, own = np.abs(S).max(), C[np.ix_(rows, at)]
            zero = np.zeros((len(rows), len(rows)))
            factors = la.lu_factor(np.block([[S, scale * own.T], [scale * own, zero]]))
            given = np.concatenate([np.zeros((len(at), len(rows))), scale * np.eye(len(rows))])
            psi = la.lu_solve(factors, given)[: len(at)]
            S_c[np.ix_(rows, rows)] += psi.T @ S @ psi
            self._parts.append((at, S, weight[at], factors, psi, rows))
        self._factor = la.cho_factor((S_c + S_c.T) / 2.0)

    def multiply(self, x: Array) -> Array:
        """Return S x."""
        y = np.zeros_like(x)
        for at, S, *_ in self._parts:
            y[at] += S @ x[at]
        return y

    def apply(self, r: Array) -> Array:
        """Return the preconditioned residual."""
        coarse, z, own = np.zeros(self.coarse), np.zeros_like(r), []
        for at, _, weight, factors, psi, rows in self._parts:
            w = weight * r[at]
            coarse[rows] += psi.T @ w
            own.append(la.lu_solve(factors, np.append(w, np.zeros(len(rows))))[: len(at)])
        coarse = la.cho_solve(self._factor, coarse)
        for (at, _, weight, _, psi, rows), part in zip(self._parts, own, strict=True):
            z[at] += weight * (part + psi @ coarse[rows])
        return z


def iterations(bddc: BDDC, b: Array, most: int = 500) -> tuple[int, float, float]:
    """Return iterations of CG to 1e-8, the condition that they show, and the true residual."""
    x, r = np.zeros_like(b), b.copy()
    z = bddc.apply(r)
    p, rz = z.copy(), r @ z
    alpha, beta = [], [0.0]
    for _ in range(most):
        Sp = bddc.multiply(p)
        alpha.append(rz / (p @ Sp))
        x, r = x + alpha[-1] * p, r - alpha[-1] * Sp
        if np.linalg.norm(r) <= 1e-8 * np.linalg.norm(b):
            break
        z = bddc.apply(r)
        beta.append((r @ z) / rz)
        rz = r @ z
        p = z + beta[-1] * p
    a, c = 1.0 / np.array(alpha), np.array(beta[: len(alpha)])
    diagonal = a + np.append(0.0, c[1:] * a[:-1])
    values = la.eigvalsh_tridiagonal(diagonal, np.sqrt(c[1:]) * a[:-1])
    true = np.linalg.norm(b - bddc.multiply(x)) / np.linalg.norm(b)
    return len(alpha), float(values[-1] / values[0]), float(true)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.substructures")
    parser.add_argument("--cells", type=int, default=8, help="along the edge of a subdomain")
    parser.add_argument("--along", type=int, nargs="+", default=[2, 4, 8], help="subdomains")
    given = parser.parse_args()
    for thickness in THICKNESSES:
        for state in STATES:
            for along in given.along:
                parts = Substructures(Plate(thickness, state, along, given.cells))
                b = np.zeros(WIDTH * int(parts.shared.sum()))
                b[2::WIDTH] = 1.0
                words = [f"{thickness:g} {state}, {along**2} subdomains"]
                for coarse in COARSE:
                    bddc = BDDC(parts, coarse)
                    found = "{}, condition {:.1f}, residual {:.0e}".format(*iterations(bddc, b))
                    words.append(f"{coarse} ({bddc.coarse}): {found}")
                print("; ".join(words), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
