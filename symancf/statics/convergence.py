# SPDX-License-Identifier: BSD-3-Clause
"""When Newton's method may stop: every kind of row small, or at round-off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..petsc import PETSc

if TYPE_CHECKING:
    from ..system import System

Array = npt.NDArray[np.float64]

EPS = float(np.finfo(float).eps)
NEAR = 8.0  # times the estimate of round-off; residuals that fell no more were 0.1 to 1.3 of it
NO_GAIN = 0.9
UNLOADED = 1e-8  # of the reference: a state that is smaller is measured by it, not by itself


class Convergence:
    r"""Test of one problem's residual, kind of row by kind of row.

    Forces, slope forces and constraints have different units, so each kind k (positions, the
    slopes of each body, the multipliers of each constraint) has its own norm n_k and reference
    r_k: the largest n_k of the step, or the support forces if they are larger, scaled by one
    common factor such that an imbalance that only arose on the way (Newton's method stretches
    what turns) does not count for all kinds. Newton's method has converged when

    .. math:: n_k \le \mathrm{rtol}\; r_k \quad\text{or}\quad n_k \le \|K\,\delta u\|_k

    for every k, where du changes each displacement by one unit in its last place: no smaller
    residual can be told from zero. Stiff directions may hide in it what soft ones still lack,
    so round-off is believed only after a step of less than 1e-8 |u|, or in two iterations
    running. Iterations also end with a step shorter than stol |u|, or when they bring nothing
    any more, if all n_k are below sqrt(rtol) r_k; and before the first one if the residual is
    that with which the last step ended.

    Attributes
    ----------
    norms : of the last iteration, by kind.
    accepted : those with which the last step ended.
    driven : of loads known otherwise, by kind; they are references, too.
    rows : kind -> numbers of this rank's rows.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        numbering = system.numbering
        kinds, kind = numbering.kind_of_rows()
        rows = _by_number(kind, len(kinds))
        counts = system.sum(np.array([float(len(r)) for r in rows]))
        self.kinds = {k.name: k for k, n in zip(kinds, counts, strict=True) if n}
        self.rows = {k.name: r for k, r, n in zip(kinds, rows, counts, strict=True) if n}
        self._held = self._fixed_rows()
        self._of_place = {  # kinds whose rows are functions of positions, not of displacements
            name for name, k in self.kinds.items() if k.block.is_equation or k.block.in_plane
        }
        # a few rows need several tries: one may happen to cancel
        self._tries = [numbering.random(3 + k) for k in range(4 if numbering.size < 2000 else 1)]
        mine = system.reference[numbering.vertex_of < numbering.owned_vertices]
        self._size = float(np.sqrt(system.sum(np.array([mine @ mine]))[0]))
        self.norms: dict[str, float] = {}
        self._largest: dict[str, float] = {}
        self._first: dict[str, float] = {}
        self._support: dict[str, float] = {}
        self.accepted: dict[str, float] = {}
        self.driven: dict[str, float] = {}
        self._trail: list[float] = []
        self._near = False

    def _fixed_rows(self) -> dict[str, npt.NDArray[np.int64]]:
        """Return for each kind the local offsets of this rank's fixed coordinates."""
        numbering = self.system.numbering
        owned = numbering.vertex_of < numbering.owned_vertices
        fixed = np.flatnonzero(owned & (numbering.fixed_by >= 0))
        kinds, kind = numbering.kind_of_coordinates()
        parts = zip(kinds, _by_number(kind[fixed], len(kinds)), strict=True)
        return {k.name: fixed[at] for k, at in parts if k.name in self.rows}

    def by_kind(
        self, f: Array, rows: dict[str, npt.NDArray[np.int64]] | None = None
    ) -> dict[str, float]:
        """Return the norm of each kind of row of this rank's part of a vector (collective)."""
        rows = self.rows if rows is None else rows
        squares = np.array([float(f[some] @ f[some]) for some in rows.values()])
        norms = np.sqrt(self.system.sum(squares))
        return dict(zip(rows, norms.tolist(), strict=True))

    def stiffest(self, diagonal: Array) -> float:
        """Return the largest entry of the tangent's diagonal (rows) at positions (collective)."""
        largest = 0.0
        for name, rows in self.rows.items():
            if self.kinds[name].block.kind == "position" and len(rows):
                largest = max(largest, float(np.abs(diagonal[rows]).max()))
        return float(self.system.comm.allreduce(largest, op=MPI.MAX))

    def settled(self, norms: dict[str, float]) -> bool:
        """Whether a residual is the one with which the last step ended: nothing has changed."""
        last = self.accepted
        return bool(last) and all(abs(norms[k] - last[k]) <= 1e-9 * last[k] for k in norms)

    def round_off(self) -> dict[str, float]:
        """Return the norms of the residual of one unit in the last place (collective)."""
        system = self.system
        size = np.abs(system.state)
        noise = self._response(size)
        if self._of_place:
            seen = self._response(size + _place_size(system))
            noise |= {kind: seen[kind] for kind in self._of_place}
            noise |= self._of_volume(noise)
        return noise

    def _of_volume(self, noise: dict[str, float]) -> dict[str, float]:
        """Return the noise of rows that are sums over surfaces: random signs would cancel there.

        A dilation changes volumes by all of their parts.
        """
        system = self.system
        sums = [name for name in noise if self.kinds[name].block.kind == "algebraic"]
        if not sums:
            return {}
        answer = np.zeros_like(system.state)
        system.plan.product(system.state, EPS * system.reference, answer)
        grown = self.by_kind(system.numbering.to_rows(answer))
        return {name: max(noise[name], grown[name]) for name in sums}

    def _response(self, size: Array) -> dict[str, float]:
        answer = np.zeros_like(size)
        largest = dict.fromkeys(self.rows, 0.0)
        for signs in self._tries:
            change = EPS * size * (0.5 * np.sign(signs) + signs)
            self.system.plan.product(self.system.state, change, answer)
            norms = self.by_kind(self.system.numbering.to_rows(answer))
            largest = {k: max(largest[k], norms[k]) for k in norms}
        return largest

    def test(
        self,
        snes: PETSc.SNES,
        iteration: int,
        norms: tuple[float, float, float],
        f: Array,
        local: Array,
    ) -> int:
        """Return PETSc's reason to stop, or that to go on (collective).

        Parameters
        ----------
        norms : of the solution, of the last step and of the residual, as PETSc gives them.
        f : residual of this rank's rows.
        local : the same as a local vector, with the support forces at fixed coordinates.
        """
        xnorm, step, fnorm = norms
        reasons = PETSc.SNES.ConvergedReason
        if not np.isfinite(fnorm):
            return int(reasons.DIVERGED_FNORM_NAN)
        n = self.norms = self.by_kind(f)
        self._support = self.by_kind(local, self._held)
        if iteration == 0:
            self._first, self._largest = n, dict.fromkeys(n, 0.0)
            self._trail, self._near = [], False
        self._largest = {k: max(self._largest[k], n[k]) for k in n}
        rtol, atol, stol, _ = snes.getTolerances()
        if fnorm <= atol:
            reason = int(reasons.CONVERGED_FNORM_ABS)
        elif iteration == 0:
            reason = int(reasons.CONVERGED_FNORM_RELATIVE) if self.settled(n) else 0
        else:
            xnorm = max(xnorm, UNLOADED * self._size)
            reason = self._reason(rtol, stol, step / xnorm if xnorm > 0 else np.inf)
        if reason > 0:
            self.accepted = n
        return reason

    def _shares(self) -> dict[str, float]:
        """Return the norms relative to their references."""
        least = {
            k: max(n, self._support[k], self.driven.get(k, 0.0)) for k, n in self._first.items()
        }
        most = {
            k: max(n, self._support[k], self.driven.get(k, 0.0)) for k, n in self._largest.items()
        }
        factor = max((least[k] / m for k, m in most.items() if m > 0), default=1.0)
        return {k: self.norms[k] / (factor * m) if m > 0 else 0.0 for k, m in most.items()}

    def needed(self, rtol: float) -> float:
        """Return the factor by which the residual must still fall."""
        worst = max(self._shares().values(), default=0.0)
        return rtol / worst if worst > 0.0 else 1.0

    def _reason(self, rtol: float, stol: float, step: float) -> int:
        reasons = PETSc.SNES.ConvergedReason
        n = self.norms
        share = self._shares()
        if all(s <= rtol for s in share.values()):
            return int(reasons.CONVERGED_FNORM_RELATIVE)
        worst = max(share.values())
        gaining = bool(self._trail) and worst < 0.1 * self._trail[-1]
        if step > 1e-6 and (min(share.values()) > 1e-3 or gaining):  # far from round-off
            self._trail.append(worst)  # spare its estimate
            return int(reasons.ITERATING)
        noise = self.round_off()
        above = {k: n[k] / noise[k] if noise[k] > 0 else np.inf for k in n}
        open_ = [k for k in n if share[k] > rtol]
        lowest, near = max(above[k] for k in open_) <= 1.0, max(above[k] for k in open_) <= NEAR
        before, self._near = self._near, near
        believed = step <= 1e-8 or before
        if (lowest and believed) or (near and before):
            return int(reasons.CONVERGED_FNORM_RELATIVE)
        rest = max((share[k] for k in open_ if above[k] > 1e3), default=0.0)
        self._trail.append(rest)
        stalled = len(self._trail) > 2 and min(self._trail[-2:]) > 0.9 * min(self._trail[:-2])
        if rest <= np.sqrt(rtol) and (step <= stol or stalled):
            return int(reasons.CONVERGED_SNORM_RELATIVE)
        return int(reasons.ITERATING)


def _by_number(number: npt.NDArray[np.intp], count: int) -> list[npt.NDArray[np.int64]]:
    """Return where each of the numbers below `count` stands, ascending."""
    order = np.argsort(number, kind="stable").astype(np.int64)
    return np.split(order, np.searchsorted(number[order], np.arange(1, count)))


def _place_size(system: System) -> Array:
    """Sizes of the reference values that positions are the sum of."""
    angle = system.numbering.those("angle")
    return np.where(angle, np.pi, np.abs(system.reference))
