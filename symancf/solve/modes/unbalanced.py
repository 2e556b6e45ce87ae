# SPDX-License-Identifier: BSD-3-Clause
"""Whether a state is an equilibrium: modes about another one are told of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, get_args

import numpy as np

from ...assembly.form import Role
from ...assembly.matrices import Matrices
from ...runtime.collective import together
from ..statics.convergence import Convergence
from .pencil import EPS, Pencil

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.discrete import DiscreteSystem

UNBALANCED_RATIO = 1e-4  # of the forces
NOISE_RATIO = 1e3  # times the estimate of round-off: a residual that is none
NEGLIGIBLE_WORK = 1e-3  # of the largest work in a part: forces that are less count for nothing


def unbalanced(system: DiscreteSystem) -> float:
    """Return the largest share of its forces that a kind of row leaves unbalanced (collective).

    Forces are those of all roles, strain, loads, contact, ..., whose sum the residual is.
    """
    test = Convergence(system)
    rows, numbering, f = test.rows, system.numbering, np.zeros_like(system.state)
    with together(system.comm):
        system.update(system.time)
    vectors = []
    roles = np.array([form.role for form in system.forms], dtype=str)
    for role in get_args(Role):
        with system.assembler.only(roles == role):
            system.assembler.residual(system.state, f)
        vectors.append(numbering.to_rows(f))
    forces = np.sum(rows.of(*vectors), axis=0)
    (norms,) = rows.of(np.sum(vectors, axis=0))
    equations = rows.classes(lambda block: block.is_equation)
    natural = rows.natural(rows.sizes())
    work = rows.worst(np.where(equations, 0.0, forces * natural))[rows.part]
    forces = np.maximum(forces, NEGLIGIBLE_WORK * work / natural)

    def product(change: Array, answer: Array) -> None:
        system.assembler.product(system.state, change, answer)

    noise = rows.response(numbering.natural(system.extent), product)
    norms[equations | (norms <= NOISE_RATIO * np.maximum(noise, test.round_off()))] = 0.0
    share = np.divide(norms, forces, out=np.zeros_like(norms), where=forces > 0.0)
    return float(share.max(initial=0.0))


def balance(system: DiscreteSystem) -> None:
    """Find the multipliers of a state at rest that has none; warn of what is no equilibrium.

    In mechanisms that hang or stand, where statics has a singular tangent to begin with, the forces
    of joints balance all others as soon as they are known (collective).
    """
    share, state = unbalanced(system), system.state.copy()
    bound = system.numbering.those("multiplier", "tie") & (system.numbering.fixed_by < 0)
    if share and system.comm.allreduce(bool(bound.any())):
        pencil = Pencil(
            system, Matrices(system).tangent(), Matrices(system).mass(), symmetric=False
        )
        if pencil.factor(-pencil.fastest() / math.sqrt(EPS)):  # masses that let nothing move
            f = np.zeros_like(state)
            for _ in range(2):  # half of the digits each
                with together(system.comm):
                    system.assembler.residual(system.state, f)
                rows = system.unknowns.from_rows(system.numbering.to_rows(f))
                change = system.unknowns.local(-pencil.solved(rows))
                system.state[bound] += change[bound]
            rest = unbalanced(system)
            if rest < share:
                share = rest
            else:
                system.state[:] = state
        pencil.destroy()
    if not share <= UNBALANCED_RATIO:
        system.state[:] = state
        system.once.warn(
            "no equilibrium",
            f"EigenProblem: the present state is no equilibrium, {100 * share:.2g} % of the "
            "forces are not balanced. What is found belongs to this state with the stresses "
            "that it has; sa.StaticProblem(system).solve() brings the loads in",
        )
