# SPDX-License-Identifier: BSD-3-Clause
"""Modes that make parts of the tangent of cells, and sums direction by direction."""

from __future__ import annotations

import numpy as np
import pytest

import symancf as sa
from symancf.runtime import jit
from tests.refusals import refused

RUBBER = {"C10": 0.3, "C20": 0.02, "C30": -4e-4, "k": 20.0}


def cube(kind, volumetric="full"):
    """Return the kernel of one of the bodies, states of three distorted cells, and P."""
    element = getattr(sa.elements, kind)
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell=element.cell)
    body = sa.Body(mesh["body"], element, sa.energies.yeoh(), volumetric=volumetric, **RUBBER)
    kernel = sa.System(body)._discrete.forms[0].kernel
    random = np.random.default_rng(3)
    X = np.array(element.topology.vertices, dtype=float)
    X = X + 0.1 * random.normal(size=(3, *X.shape))
    u, v = 0.05 * random.normal(size=(2, *X.shape))
    weights, _ = element.topology.straight.evaluate(element.topology.unit)
    return kernel, X, u, v, np.kron(weights, np.eye(3))


def near(found, expected):
    return np.abs(found - expected).max() < 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize(("kind", "volumetric"), [("hex27", "full"), ("hex20", "reduced")])
def test_parts_of_the_tangent(kind, volumetric):
    kernel, X, u, v, P = cube(kind, volumetric)
    _, K, bad = kernel.tangent(u, X, RUBBER)
    n = kernel.n
    blocks = K.reshape(3, n, 3, n, 3)
    other = jit.with_modes(kernel, ("diagonal", "coarse", "moments", "multiply"))
    diagonal, bad_diagonal = other.diagonal(u, X, RUBBER)
    coarse, bad_coarse = other.coarse(u, X, RUBBER)
    moments, bad_moments = other.at_points(u, X, RUBBER)
    product, bad_product = other.multiply(moments, v)
    assert bad == bad_diagonal == bad_coarse == bad_moments == bad_product == 0
    assert near(diagonal, np.stack([blocks[:, i, :, i] for i in range(n)], axis=1))
    assert near(coarse, P.T @ K @ P)
    expected = np.einsum("cij,cj->ci", K, v.reshape(3, -1)).reshape(v.shape)
    assert near(product, expected)
    assert near(kernel.product(u, v, X, RUBBER)[0], expected)


@pytest.mark.parametrize(
    ("kind", "factored"), [("hex27", True), ("hex8_plain", True), ("hex20", False)]
)
def test_products_of_tensor_products_go_direction_by_direction(kind, factored):
    kernel, X, u, v, _ = cube(kind)
    assert ("all_jets0" in kernel.source) == factored
    _, K, _ = kernel.tangent(u, X, RUBBER)
    expected = np.einsum("cij,cj->ci", K, v.reshape(3, -1)).reshape(v.shape)
    assert near(kernel.product(u, v, X, RUBBER)[0], expected)


def test_points_outside_the_domain_are_counted_in_each_mode():
    kernel, X, u, _, _ = cube("hex27")
    u = u.copy()
    u[1] = -2.0 * X[1]  # turned inside out
    other = jit.with_modes(kernel, ("diagonal", "coarse", "moments"))
    bad = [other.diagonal(u, X, RUBBER)[1], other.coarse(u, X, RUBBER)[1]]
    bad.append(other.at_points(u, X, RUBBER)[1])
    assert min(bad) >= 27  # at least the points of that cell


def test_what_is_not_possible_is_told():
    kernel = cube("hex8_plain")[0]
    assert kernel.linear == 0
    with refused(sa.CompileError, asked="coarse"):
        jit.with_modes(kernel, ("coarse",))
    principal = sa.energies.ogden(terms=1)
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell="hexahedron27")
    body = sa.Body(mesh["body"], sa.elements.hex27, principal, mu1=1.0, alpha1=3.0, k=10.0)
    kernel = sa.System(body)._discrete.forms[0].kernel
    with refused(sa.CompileError, asked="single"):
        jit.with_modes(kernel, ("product",), single=True)
    single = jit.with_modes(cube("hex27")[0], ("multiply",), single=True)
    with pytest.raises(ValueError, match="single"):
        single.multiply(np.zeros((1, single.moments)), np.zeros((1, 27, 3)))
