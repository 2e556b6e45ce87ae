# SPDX-License-Identifier: BSD-3-Clause
"""The functions of symancf_math.h alone: units in the last place, over their whole ranges."""

from __future__ import annotations

import ctypes

import mpmath
import numpy as np
import pytest

from symancf_codegen.library.compile import FLAGS, library

NAMES = ("icbrt", "rsqrt", "log", "log1p", "log1pmx", "exp", "expm1", "expm1mx")
BITS = 1400  # log(1 + 1e-150) - 1e-150 needs them


def with_mpmath(name, x):
    with mpmath.workprec(BITS):
        x = mpmath.mpf(float(x))
        return {
            "icbrt": lambda: 1 / mpmath.cbrt(x),
            "rsqrt": lambda: 1 / mpmath.sqrt(x),
            "log": lambda: mpmath.log(x),
            "log1p": lambda: mpmath.log(1 + x),
            "log1pmx": lambda: mpmath.log(1 + x) - x,
            "exp": lambda: mpmath.exp(x),
            "expm1": lambda: mpmath.exp(x) - 1,
            "expm1mx": lambda: mpmath.exp(x) - 1 - x,
        }[name]()


@pytest.fixture(scope="module", params=["native", "x86-64-v3"])
def functions(request):
    loops = "".join(
        f"void map_{name}(int n, const double *restrict x, double *restrict y)\n"
        "{\n    #pragma omp simd simdlen(8)\n"
        f"    for (int i = 0; i < n; i++)\n        y[i] = symancf_{name}(x[i]);\n}}\n"
        for name in NAMES
    )
    flags = tuple(f.replace("=native", f"={request.param}") for f in FLAGS)
    source = f'#include "symancf_math.h"\n{loops}'
    return ctypes.CDLL(str(library("functions", source, flags)))


def evaluate(functions, name, x):
    x = np.ascontiguousarray(x, dtype=float)
    y = np.empty_like(x)
    getattr(functions, f"map_{name}")(len(x), *(ctypes.c_void_p(a.ctypes.data) for a in (x, y)))
    return y


def ulp(functions, name, x):
    """Return the largest error in units of the last place of the result."""
    worst = 0.0
    for at, y in zip(x, evaluate(functions, name, x), strict=True):
        exact = with_mpmath(name, at)
        unit = np.spacing(abs(float(exact)))
        worst = max(worst, float(abs(mpmath.mpf(float(y)) - exact) / mpmath.mpf(float(unit))))
    return worst


RNG = np.random.default_rng(0)
N = 400
SIGN = RNG.choice([-1.0, 1.0], N)
TINY = SIGN * 10.0 ** RNG.uniform(-150, -0.3, N)
WHOLE = 10.0 ** RNG.uniform(-307, 308, N)
NEAR_ONE = 1 + SIGN * 10.0 ** RNG.uniform(-15, -0.5, N)
STRAIN = RNG.uniform(-0.5, 1.0, N)
RANGES = {
    "icbrt": [(WHOLE, 1.0), (NEAR_ONE, 1.0), (np.array([2.0**-1022, 1.0, 8.0, 1.7e308]), 1.0)],
    "rsqrt": [(WHOLE, 1.0), (NEAR_ONE, 1.0), (np.array([2.0**-1022, 1.0, 4.0, 1.7e308]), 1.0)],
    "log": [(WHOLE, 1.0), (NEAR_ONE, 1.0), (np.array([2.0**-1022, 1.0, 1.7e308]), 1.0)],
    "log1p": [(TINY, 1.1), (STRAIN, 1.1), (WHOLE, 1.1), (-1 + 10.0 ** RNG.uniform(-15, 0, N), 1.1)],
    "log1pmx": [(TINY, 3), (STRAIN, 3), (10.0 ** RNG.uniform(0, 300, N), 2)],
    "exp": [(RNG.uniform(-708, 709, N), 1.3), (TINY, 1.3), (RNG.uniform(-745, -708, N), 1.0)],
    "expm1": [(RNG.uniform(-708, 709, N), 1.6), (TINY, 1.6), (STRAIN, 1.6)],
    "expm1mx": [(RNG.uniform(-708, 709, N), 3), (TINY, 7), (STRAIN, 7)],
}


@pytest.mark.parametrize("name", NAMES)
def test_error_in_units_of_the_last_place(functions, name):
    for x, bound in RANGES[name]:
        error = ulp(functions, name, x)
        assert error < bound, f"{name} between {x.min()} and {x.max()}: {error} ulp"


def test_exact_values(functions):
    assert evaluate(functions, "icbrt", [1.0, 8.0, 0.125, 1e-300]).tolist() == [1, 0.5, 2, 1e100]
    assert evaluate(functions, "log", [1.0])[0] == 0.0
    for name in ("log1p", "log1pmx", "expm1", "expm1mx"):
        assert evaluate(functions, name, [0.0, -0.0]).tolist() == [0, 0]
    assert evaluate(functions, "exp", [0.0, -800.0, 800.0]).tolist() == [1, 0, np.inf]
    assert evaluate(functions, "expm1", [-800.0])[0] == -1.0


DENORMAL = 5e-324


@pytest.mark.parametrize(
    ("name", "outside"),
    [
        ("icbrt", [0.0, -0.0, -1.0, -np.inf, np.inf, np.nan, DENORMAL, 1e-310]),
        ("rsqrt", [0.0, -0.0, -1.0, -np.inf, np.inf, np.nan, DENORMAL, 1e-310]),
        ("log", [0.0, -0.0, -1.0, -np.inf, np.inf, np.nan, DENORMAL, 1e-310]),
        ("log1p", [-1.0, -2.0, -np.inf, np.inf, np.nan]),
        ("log1pmx", [-1.0, -2.0, -np.inf, np.inf, np.nan]),
        ("exp", [np.nan]),
        ("expm1", [np.nan]),
        ("expm1mx", [np.nan]),
    ],
)
def test_no_number_outside_the_domain(functions, name, outside):
    """Garbage there would be a wrong result; NaN is reported by the kernel."""
    assert np.all(np.isnan(evaluate(functions, name, outside)))
