# SPDX-License-Identifier: BSD-3-Clause
"""An independent NumPy formulation of the four-bar gripper, matrix by matrix as in the paper.

Cammarata et al., Micromachines 13 (2022) 2172, with the misprints of docs/papers/gripper put
right. It accepts complex coordinates, so that complex steps give its tangent to round-off.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from tests.gripper import ANGLE, CENTRES, EI, PAIRS, RADIUS, START, G

SKEW = np.array([[0.0, -1.0], [1.0, 0.0]])


def turn(angle: Any) -> Any:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


@cache
def stiffness(theta: float, EI: float) -> Any:
    s, c, r = math.sin(theta), math.cos(theta), RADIUS
    C = np.zeros((3, 3))
    C[0] = r**3 / 4 * (6 * theta + math.sin(2 * theta) - 8 * s), r**3 / 2 * (c - 1) ** 2, 0
    C[0, 2] = r**2 * (theta - s)
    C[1, 1], C[1, 2] = r**3 / 4 * (2 * theta - math.sin(2 * theta)), r**2 * (1 - c)
    C[2, 2] = r * theta
    C = C + np.triu(C, 1).T
    K = np.linalg.inv(C / EI)
    K.flags.writeable = False  # one array for all calls
    return K


def residual(q: Any, model: str, F: float = 0.0, EI: float = EI) -> Any:
    """Return R(q) (9,) with the vertical force F on body 2, and the reaction of the ground."""
    q = np.asarray(q)
    R = np.zeros(12, dtype=q.dtype)
    for name, (i, j) in PAIRS.items():
        theta = math.radians(ANGLE[name])
        beta_i = math.radians(START[name]) + math.pi / 2
        beta_j = beta_i + theta
        O = np.array(CENTRES[name])
        s = {}
        for body, angle in ((i, beta_i - math.pi / 2), (j, beta_j - math.pi / 2)):
            s[body] = O + RADIUS * np.array([math.cos(angle), math.sin(angle)]) - G[body]
        r, th, A = {}, {}, {}
        for body in (i, j):
            u = q[3 * (body - 2) : 3 * (body - 2) + 3] if body > 1 else np.zeros(3)
            r[body], th[body] = np.array(G[body]) + u[:2], u[2]
            A[body] = turn(u[2])
        p0 = np.array(G[j]) + s[j] - np.array(G[i]) - s[i]
        p = r[j] + A[j] @ s[j] - r[i] - A[i] @ s[i]
        B = turn(beta_j)
        x = B.T @ (A[i].T @ p - p0)
        psi = np.append(x, th[j] - th[i])
        K = stiffness(theta, EI)
        Af = turn(theta)
        d = RADIUS * np.array([math.sin(theta), 1 - math.cos(theta)])
        lever = Af.T @ d + (x if model == "partial" else 0)
        T = np.zeros((3, 3), dtype=q.dtype)
        T[:2, :2], T[2, :2], T[2, 2] = -Af, lever @ SKEW, -1
        for body, frame, wrench in ((j, turn(beta_j), K @ psi), (i, turn(beta_i), T @ K @ psi)):
            N = np.zeros((3, 3), dtype=q.dtype)
            N[:2, :2] = A[body] @ frame
            N[2, :2], N[2, 2] = -s[body] @ SKEW @ frame, 1
            R[3 * (body - 1) : 3 * body] += N @ wrench
    R[4] -= F
    return R[3:], R[:3]


def tangent(q: Any, model: str, EI: float = EI) -> Any:
    """Return dR/dq by complex steps."""
    columns = []
    for k in range(9):
        step = np.array(q, dtype=complex)
        step[k] += 1e-30j
        columns.append(residual(step, model, EI=EI)[0].imag / 1e-30)
    return np.array(columns).T
