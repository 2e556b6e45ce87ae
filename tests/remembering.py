# SPDX-License-Identifier: BSD-3-Clause
"""Laws that remember, with what is known of them in closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from mpi4py import MPI
from sympy import Abs, Max, Piecewise, Rational, exp, sign

import symancf as sa

SQUARE = sp.zeros(3, 3)


def dot(a: Any, b: Any) -> Any:
    return sp.Add(*(x * y for x, y in zip(a, b, strict=True)))


@sa.memory(slip=0)
def friction(u_a: Any, *, slip: Any, k: Any, f: Any) -> Any:
    """A spring along x that slides at the force f."""
    trial = k * (u_a[0] - slip)
    over = Max(Abs(trial) - f, 0)
    slid = over * sign(trial) / k
    force = trial - k * slid
    return sa.remember(
        trial**2 / (2 * k) - over**2 / (2 * k),
        slip=slip + slid,
        stored=force**2 / (2 * k),
        dissipated=force * slid,
    )


@sa.memory(slip=0)
def rubbing(u_a: Any, v_a: Any, *, slip: Any, k: Any, f: Any) -> Any:
    """The same as a force."""
    trial = k * (u_a[0] - slip)
    slid = Max(Abs(trial) - f, 0) * sign(trial) / k
    force = trial - k * slid
    lost = force * slid
    kept = force**2 / (2 * k)
    return sa.remember({v_a[0]: -force}, slip=slip + slid, stored=kept, dissipated=lost)


def prony(e: Any, h: Any, before: Any, dt: Any, tau: Any, E1: Any) -> Any:
    """Stress h of a branch of modulus E1, relaxed by the midpoint rule; its potential."""
    decay, half = exp(-dt / tau), exp(-dt / (2 * tau))
    after = decay * h + half * E1 * (e - before)
    W = decay * dot(h, e) + half * E1 / 2 * dot(e - before, e - before)
    middle = (h + after) / 2
    return after, W, dt / (tau * E1) * dot(middle, middle)


@sa.memory(h=SQUARE, before=SQUARE)
def maxwell(E_gl: Any, *, h: Any, before: Any, dt: Any, E0: Any, E1: Any, tau: Any) -> Any:
    """A spring E0 beside a Maxwell element, without Poisson's effect."""
    after, W, lost = prony(E_gl, h, before, dt, tau, E1)
    base = E0 / 2 * dot(E_gl, E_gl)
    stored = base + dot(after, after) / (2 * E1)
    return sa.remember(base + W, h=after, before=E_gl, stored=stored, dissipated=lost)


@sa.memory(n=sp.zeros(2, 2), m=sp.zeros(2, 2), E_old=sp.zeros(2, 2), kappa_old=sp.zeros(2, 2))
def plate(
    E_gl: Any,
    kappa: Any,
    *,
    n: Any,
    m: Any,
    E_old: Any,
    kappa_old: Any,
    dt: Any,
    E0: Any,
    E1: Any,
    tau: Any,
    thickness: Any,
) -> Any:
    """The same as a thin plate, n and m being forces and moments of the Maxwell element."""
    A, B = E1 * thickness, E1 * thickness**3 / 12
    n1, W1, lost1 = prony(E_gl, n, E_old, dt, tau, A)
    m1, W2, lost2 = prony(kappa, m, kappa_old, dt, tau, B)
    base = E0 * thickness / 2 * dot(E_gl, E_gl) + E0 * thickness**3 / 24 * dot(kappa, kappa)
    return sa.remember(
        base + W1 + W2,
        n=n1,
        m=m1,
        E_old=E_gl,
        kappa_old=kappa,
        stored=base + dot(n1, n1) / (2 * A) + dot(m1, m1) / (2 * B),
        dissipated=lost1 + lost2,
    )


@sa.memory(Ep=SQUARE, a=0)
def j2(E_gl: Any, *, Ep: Any, a: Any, lam: Any, mu: Any, Y: Any, K: Any) -> Any:
    """Plasticity of von Mises with linear hardening, radial return at small strain."""
    Ee = E_gl - Ep
    s = 2 * mu * (Ee - Ee.trace() / 3 * sp.eye(3))
    q2, limit = Rational(3, 2) * dot(s, s), Y + K * a
    elastic = q2 <= limit**2
    over = Piecewise((0, elastic), (sp.sqrt(q2) - limit, True))
    share = Piecewise((0, elastic), (1 - limit / sp.sqrt(q2), True)) / (3 * mu + K)
    flow, Ep_next = over / (3 * mu + K), Ep + Rational(3, 2) * share * s
    En = E_gl - Ep_next
    return sa.remember(
        lam / 2 * Ee.trace() ** 2 + mu * dot(Ee, Ee) - over**2 / (2 * (3 * mu + K)),
        Ep=Ep_next,
        a=a + flow,
        stored=lam / 2 * En.trace() ** 2 + mu * dot(En, En) + K / 2 * (a + flow) ** 2,
        dissipated=Y * flow,
    )


E, NU, YIELD, HARD = 200e9, 0.3, 250e6, 10e9
STEEL = {
    "lam": E * NU / (1 + NU) / (1 - 2 * NU),
    "mu": E / 2 / (1 + NU),
    "Y": YIELD,
    "K": HARD,
}


def bar_of_steel(strains: Sequence[float]) -> tuple[np.ndarray, float]:
    """Stresses of a bar of `j2` after a history of strains, and its plastic strain in all."""
    plastic = total = 0.0
    stresses = []
    for strain in strains:
        trial = E * (strain - plastic)
        over = max(abs(trial) - YIELD - HARD * total, 0.0) / (E + HARD)
        plastic, total = plastic + over * np.sign(trial), total + over
        stresses.append(E * (strain - plastic))
    return np.array(stresses), total


def require_ranks_and_restarts(
    model: Callable[[MPI.Comm], Any], folder: Path, middle: float, end: float
) -> None:
    """All ranks beside one; saved in the middle by one and read by all, and the other way round.

    A single rank is one and all: it reads what it has saved.
    """
    comms = (MPI.COMM_SELF, MPI.COMM_WORLD)[: MPI.COMM_WORLD.size]
    beams = [model(comm) for comm in comms]
    for k, beam in enumerate(beams):
        beam.run(middle)
        if k or MPI.COMM_WORLD.rank == 0:
            beam.problem.save(folder / f"{k}.h5")
    MPI.COMM_WORLD.barrier()
    for k, comm in enumerate(comms):
        beams.append(model(comm))
        beams[-1].problem.restore(folder / f"{len(comms) - 1 - k}.h5")
    for beam in beams:
        beam.run(end)
    exact, *others = (beam.results() for beam in beams)
    assert np.abs(exact).min() > 1e-4
    for other in others:
        np.testing.assert_allclose(other, exact, atol=1e-10 * np.abs(exact).max())
