# SPDX-License-Identifier: BSD-3-Clause
"""Kernels for reading, for NumPy and for C."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from tests.refusals import refused

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "kernel.c"


def cube(element=sa.elements.hex8_plain, **parameters):
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 1, 1), comm=MPI.COMM_SELF)
    given = {"mu": 1.0, "lam": 2.0} | parameters
    body = sa.Body(mesh["body"], element, sa.energies.neo_hooke(), **given)
    return body, mesh.fetch_points(mesh.slice("body")[1])


@pytest.mark.parametrize("element", [sa.elements.hex8_plain, sa.elements.hex8])
def test_kernels_are_derivatives_of_each_other(element):
    body, X = cube(element)
    random = np.random.default_rng(3)
    u, d = 0.1 * random.standard_normal((2, *X.shape))
    e = 1e-6
    f, energy = body.kernel("residual"), body.kernel("energy")
    slope = (energy(u + e * d, X) - energy(u - e * d, X)) / (2 * e)
    assert slope == pytest.approx((f(u, X) * d).sum(axis=(1, 2)), rel=1e-7)
    change = (f(u + e * d, X) - f(u - e * d, X)) / (2 * e)
    K = body.kernel("tangent")(u, X)
    by_K = np.einsum("cij,cj->ci", K, d.reshape(2, -1)).reshape(change.shape)
    assert change == pytest.approx(by_K, abs=1e-7 * np.abs(K).max())
    assert body.kernel("product")(u, X, v=d) == pytest.approx(by_K, abs=1e-12 * np.abs(K).max())


def test_parameters_are_those_of_the_body_unless_others_are_given():
    body, X = cube(mu=3.0)
    energy = body.kernel("energy")
    assert np.array_equal(energy(0.1 * X, X), cube()[0].kernel("energy")(0.1 * X, X, mu=3.0))
    with refused(sa.ParameterError, asked="lamb", possible=("mu", "lam")):
        energy(X, X, lamb=0.3)
    with refused(sa.KinematicsError, asked="reference", given=(1, 8, 3)):
        energy(X, X[:1])
    with refused(sa.KinematicsError, asked="v", given=()):
        body.kernel("product")(X, X)
    with refused(sa.SymancfError, asked="domain", given=lambda points: points > 0):
        energy(-2.0 * X * [1.0, 0.0, 0.0], X)


def test_the_text_of_one_function_is_shown():
    body, _ = cube()
    shown = {name: str(body.kernel(name)) for name in ("energy", "residual", "tangent")}
    whole = body.kernel().source
    for name, text in shown.items():
        assert f"int neo_hooke_hex8_plain_{name}(" in text
        assert f"_{name}_at_point(" in text
        assert text.count("\nint ") == 1
        assert len(text) < 0.4 * len(whole)
        assert "phi0_0[8]" not in text


@pytest.mark.parametrize("law", ["local", "principal"])
def test_what_is_exported_compiles_alone(law, tmp_path):
    compiler = shutil.which("cc") or pytest.skip("there is no compiler cc")
    body = cube(sa.elements.hex8)[0]
    if law == "principal":
        given = {"mu1": 1.0, "alpha1": 2.0, "k": 10.0}
        ogden = sa.energies.ogden(terms=1)
        body = sa.Body(body.region, sa.elements.hex8_plain, ogden, **given)
    header = body.kernel("residual").export(tmp_path / "made")
    assert (header.parent / f"symancf_{law}.h").is_file()
    source = header.with_suffix(".c")
    assert f'"symancf_{law}.h"' in source.read_text()
    command = [compiler, "-O0", "-march=native", "-c", str(source), "-o", str(tmp_path / "x.o")]
    subprocess.run(command, check=True)


def test_a_program_in_c_finds_the_same(tmp_path):
    compiler = shutil.which("cc") or pytest.skip("there is no compiler cc")
    body, X = cube()
    folder = body.kernel("tangent").export(tmp_path / "cube").parent
    program = tmp_path / "kernel"
    files = [str(EXAMPLE), str(folder / "neo_hooke_hex8_plain.c")]
    flags = ["-O2", "-march=native", f"-I{folder}", *files, "-lm", "-o", str(program)]
    subprocess.run([compiler, *flags], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    bad, pull, first = map(float, done.stdout.split())
    X = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0],
                  [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float)[None]  # fmt: skip
    u = 0.1 * X * [1.0, 0.0, 0.0]
    f = body.kernel("residual")(u, X)
    assert bad == 0
    assert pull == pytest.approx(float((X[..., 0] * f[..., 0]).sum()), rel=1e-13)
    assert first == pytest.approx(body.kernel("tangent")(u, X)[0, 0, 0], rel=1e-13)


def test_coordinates_of_cables_are_those_of_chrono_and_exudyn():
    """Positions and slopes of length 1, with the functions that both have."""
    L, EA, EI = 0.7, 3.0, 0.2
    mesh = sa.Mesh.box((L,), (1,), comm=MPI.COMM_SELF)
    cable = sa.energies.cable(strain="green")
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable, EA=EA, EI=EI)
    q = np.array([[0.0, 0.0, 0.0], [0.9, 0.1, 0.3], [0.6, 0.2, 0.1], [0.8, 0.5, -0.2]])
    reference = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [L, 0.0, 0.0], [1.0, 0.0, 0.0]])
    x, w = np.polynomial.legendre.leggauss(5)
    xi, w = (1.0 + x) / 2.0, w * L / 2.0
    slope = np.stack([-6*xi + 6*xi**2, L*(1 - 4*xi + 3*xi**2), 6*xi - 6*xi**2,
                      L*(3*xi**2 - 2*xi)]) / L  # fmt: skip
    bend = np.stack([-6 + 12*xi, L*(-4 + 6*xi), 6 - 12*xi, L*(6*xi - 2)]) / L**2  # fmt: skip
    r1, r2 = slope.T @ q, bend.T @ q
    strain = ((r1**2).sum(axis=1) - 1.0) / 2.0
    kappa = np.linalg.norm(np.cross(r1, r2), axis=1) / (r1**2).sum(axis=1)
    energy = (w * (EA * strain**2 + EI * kappa**2)).sum() / 2.0
    by_parameter = np.array([1.0, L, 1.0, L])[:, None]  # kernels have slopes by xi
    found = body.kernel("energy")(
        ((q - reference) * by_parameter)[None], (reference * by_parameter)[None]
    )
    assert found[0] == pytest.approx(energy, rel=1e-12)
