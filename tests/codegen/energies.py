# SPDX-License-Identifier: BSD-3-Clause
"""Independent energies in NumPy: W of one cell from its displacement, which may be complex."""

from __future__ import annotations

import numpy as np
import sympy as sp

from tests.codegen.laws import tabulated


def _det(F):
    return (
        F[..., 0, 0] * (F[..., 1, 1] * F[..., 2, 2] - F[..., 1, 2] * F[..., 2, 1])
        - F[..., 0, 1] * (F[..., 1, 0] * F[..., 2, 2] - F[..., 1, 2] * F[..., 2, 0])
        + F[..., 0, 2] * (F[..., 1, 0] * F[..., 2, 1] - F[..., 1, 1] * F[..., 2, 0])
    )


def gradient_columns(space, points, section, half, jets, coefficients):
    """Return the point jets (..., nq, ns, 3, jets) of coefficients (..., n, 3)."""
    names = tuple(space.table_jets)
    table = np.einsum("qji,...ia->...qja", tabulated(space, points), coefficients, optimize=True)
    columns = []
    for jet in jets:
        value = 0
        for t, monomial in space.point_jets[jet].items():
            factor = section * half if monomial.has(sp.Symbol("z")) else np.ones_like(section)
            value = value + factor[:, None] * table[..., None, names.index(t), :]
        columns.append(value)
    return np.stack(columns, axis=-1)


def solid_energy(space, pairs, densities, reference_x, u, half=0.5):
    """Return the sum over laws of density(F), integrated; half is thickness/2."""
    total = 0.0
    for (law, rule), density in zip(pairs, densities, strict=True):
        section = rule.section_points[:, 0] if rule.section_symbols else np.zeros(1)
        R = gradient_columns(space, rule.points, section, half, law.jets, reference_x)
        r = gradient_columns(space, rule.points, section, half, law.jets, reference_x + u)
        F = np.einsum("...ia,...ax->...ix", r, np.linalg.inv(R))
        w = rule.weights[:, None] * rule.section_weights[None, :] * np.linalg.det(R)
        if rule.section_symbols:
            w = w * half
        total = total + np.sum(w * density(F), axis=(-2, -1))
    return total


def deviatoric_density(p):
    def density(F):
        y = _det(F) ** (-2 / 3) * np.sum(F * F, axis=(-1, -2)) - 3
        return p["C10"] * y + p["C20"] * y**2 + p["C30"] * y**3

    return density


def volumetric_density(p):
    return lambda F: p["k"] / 2 * (_det(F) - 1) ** 2


def neo_hooke_density(p):
    def density(F):
        J, I1 = _det(F), np.sum(F * F, axis=(-1, -2))
        return p["mu"] / 2 * (I1 - 3) - p["mu"] * np.log(J) + p["lam"] / 2 * np.log(J) ** 2

    return density


def _jets(space, law, rule, x):
    names = tuple(space.table_jets)
    table = np.einsum("qji,...ia->...qja", tabulated(space, rule.points), x, optimize=True)
    return [table[..., names.index(jet), :] for jet in law.jets]


def cable_energy(space, pairs, p, reference_x, u):
    """Return the energy of a cable with the strains written as they are defined."""
    ((law, rule),) = pairs
    R, Rx = _jets(space, law, rule, reference_x)
    r, rx = _jets(space, law, rule, reference_x + u)
    length = np.sqrt(np.sum(R * R, -1))
    stretch = np.sqrt(np.sum(r * r, -1)) / length
    c0, c = np.cross(R, Rx), np.cross(r, rx)
    kappa0 = np.sqrt(np.sum(c0 * c0, -1)) / length**3
    kappa = np.sqrt(np.sum(c * c, -1)) / (length**3 * stretch**2)
    w = p["EA"] / 2 * (stretch - 1) ** 2 + p["EI"] / 2 * (kappa - kappa0) ** 2
    return np.sum(rule.weights * length * w, axis=-1)


def kirchhoff_energy(space, pairs, p, reference_x, u):
    """Return the energy of a shell with tensors in the metric of the reference."""
    ((law, rule),) = pairs
    R = _jets(space, law, rule, reference_x)
    r = _jets(space, law, rule, reference_x + u)

    def forms(x):
        n = np.cross(x[0], x[1])
        area = np.sqrt(np.sum(n * n, -1))
        a = [[np.sum(x[i] * x[j], -1) for j in (0, 1)] for i in (0, 1)]
        b = [np.sum(x[k] * n, -1) / area for k in (2, 3, 4)]
        shaped = [[b[0], b[2]], [b[2], b[1]]]
        tensors = [np.moveaxis(np.array(t), (0, 1), (-2, -1)) for t in (a, shaped)]
        return *tensors, area

    A, B, area = forms(R)
    a, b, _ = forms(r)
    inverse = np.linalg.inv(A)

    def quadratic(e):
        mixed = inverse @ e
        trace = np.trace(mixed, axis1=-2, axis2=-1)
        square = np.trace(mixed @ mixed, axis1=-2, axis2=-1)
        return p["nu"] * trace**2 + (1 - p["nu"]) * square

    w = p["D"] / 2 * quadratic((a - A) / 2) + p["B"] / 2 * quadratic(B - b)
    return np.sum(rule.weights * area * w, axis=-1)
