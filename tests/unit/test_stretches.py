# SPDX-License-Identifier: BSD-3-Clause
"""Laws in principal stretches: forces and tangents against 50 digits, wherever stretches meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf import elements, energies
from symancf.errors import KinematicsError, ParameterError
from symancf.kinematics.moduli import bulk_modulus, shear_modulus
from symancf.kinematics.naming import signature
from symancf.laws import energy_laws, evaluate_energy
from symancf.laws.accuracy import digits_lost
from symancf_codegen import compile_cells
from symancf_codegen.functions import log_stretch
from symancf_codegen.graph.dag import Dependence, ExpressionGraph
from symancf_codegen.graph.differentiate import gradient
from symancf_codegen.graph.divided import DividedDifferences
from symancf_codegen.lower.lower import LawScope
from symancf_codegen.modes import STANDARD
from tests.quantities import FAST, rotation, unit_cell
from tests.refusals import refused
from tests.stresses import fields_at, solid_stress

if TYPE_CHECKING:
    from collections.abc import Callable

    Slopes = Callable[[list[Any]], list[Any]]

SOLID = elements.tet10
RULE = "1"
VOLUME = float(SOLID.rule(RULE).weights[0])
TURN = rotation([1.0, 2.0, -0.5], 0.7)
OTHER = rotation([-0.3, 0.4, 1.0], 1.9)
NUMBERS = {"mu1": 0.6, "alpha1": 1.3, "mu2": -0.12, "alpha2": -2.0, "k": 20.0}


def ogden(
    J: Any, lambda1: Any, lambda2: Any, lambda3: Any, *,
    mu1: Any, alpha1: Any, mu2: Any, alpha2: Any, k: Any,
) -> dict[str, Any]:  # fmt: skip
    def term(mu: Any, alpha: Any) -> Any:
        return mu / alpha * (J ** (-alpha / 3) * sum(x**alpha for x in stretches) - 3)

    stretches = (lambda1, lambda2, lambda3)
    return {
        "deviatoric": term(mu1, alpha1) + term(mu2, alpha2),
        "volumetric": k / 2 * (J - 1) ** 2,
    }


def ogden_slopes(x: list[Any]) -> list[Any]:
    """dW/d lambda_a with 50 digits."""
    p, J = {n: mp.mpf(v) for n, v in NUMBERS.items()}, x[0] * x[1] * x[2]
    found = []
    for a in range(3):
        w = p["k"] * (J - 1) * J
        for i in ("1", "2"):
            mu, alpha = p["mu" + i], p["alpha" + i]
            powers = [mu * (y / mp.cbrt(J)) ** alpha for y in x]
            w += powers[a] - sum(powers) / 3
        found.append(w / x[a])
    return found


def odd(lambda1: Any, lambda2: Any, lambda3: Any, J: Any, I1: Any, *, a: Any) -> Any:
    """No sum over stretches: products, roots, functions that no catalogue has."""
    s = (lambda1, lambda2, lambda3)
    pairs = lambda1 * lambda2 + lambda2 * lambda3 + lambda1 * lambda3
    smooth = sum(sp.sin(a * (x - 1)) ** 2 + sp.sqrt(1 + x**2) for x in s)
    return smooth + pairs**2 / 9 + sp.log(I1 * pairs) ** 2 + sp.tanh(a * sum(sp.log(x) for x in s))


def odd_energy(x: list[Any]) -> Any:
    a, (p, q, r) = mp.mpf(0.4), x
    pairs, square = p * q + q * r + p * r, p * p + q * q + r * r
    smooth = sum(mp.sin(a * (y - 1)) ** 2 + mp.sqrt(1 + y**2) for y in x)
    return smooth + pairs**2 / 9 + mp.log(square * pairs) ** 2 + mp.tanh(a * mp.log(p * q * r))


def odd_slopes(x: list[Any]) -> list[Any]:
    h = mp.mpf(10) ** -18
    moved = [[[y + s * h * (k == a) for k, y in enumerate(x)] for s in (1, -1)] for a in range(3)]
    return [(odd_energy(p) - odd_energy(m)) / (2 * h) for p, m in moved]


def piola(F: Any, slopes: Slopes) -> Any:
    """P = sum dW/d lambda_a F N_a N_a^T/lambda_a, not a number of which is a double."""
    values, axes = mp.eigsy(F.T * F)
    stretches = [mp.sqrt(x) for x in values]
    S = mp.zeros(3)
    for w, x, a in zip(slopes(stretches), stretches, range(3), strict=True):
        S += w / x * axes[:, a] * axes[:, a].T
    return F * S


def reference(H: Any, slopes: Slopes) -> tuple[Any, Any]:
    """Return P and dP/dF of F = 1 + H as arrays (3, 3) and (3, 3, 3, 3)."""
    with mp.workdps(50):
        F, h = mp.eye(3) + mp.matrix(H.tolist()), mp.mpf(10) ** -12
        tangent = np.zeros((3, 3, 3, 3))
        for i in range(3):
            for k in range(3):
                step = mp.zeros(3)
                step[i, k] = h
                change = (piola(F + step, slopes) - piola(F - step, slopes)) / (2 * h)
                tangent[:, :, i, k] = np.array(change.tolist(), dtype=float)
        return np.array(piola(F, slopes).tolist(), dtype=float), tangent


def states() -> dict[str, Any]:
    """Displacement gradients, of stretches apart, of two and of three that coincide."""
    generator = np.random.default_rng(3)
    rough = generator.uniform(-1, 1, (3, 3))
    eye = np.eye(3)

    def stretched(*stretches: float) -> Any:
        """R U - 1 in two frames: the stretches coincide to round-off of F."""
        return OTHER @ TURN @ np.diag(stretches) @ TURN.T - eye

    return {
        "none": 0 * eye,
        "1e-8": 1e-8 * rough,
        "1e-8 uniaxial": np.diag([1e-8, 0, 0]),
        "1e-8 volume": 1e-8 * eye,
        "1e-5": 1e-5 * rough,
        "1e-5 equibiaxial": TURN @ np.diag([1e-5, 1e-5, -2e-5]) @ TURN.T,
        "1e-3 nearly": TURN @ np.diag([1e-3, 1e-3 + 1e-10, -2e-3]) @ TURN.T,
        "shear": np.array([[0, 0.8, 0], [0, 0, 0], [0, 0, 0]]),
        "all 1.3": 0.3 * eye,
        "turned all 1.3": stretched(1.3, 1.3, 1.3),
        "two 0.7": np.diag([1.1, -0.3, -0.3]),
        "turned two 1.4": stretched(1.4, 0.5, 1.4),
        "nearly two": stretched(1.4, 0.5, 1.4 * (1 + 1e-9)),
        "5 uniaxial": stretched(5, 5**-0.5, 5**-0.5),
        "5 equibiaxial": stretched(5, 5, 0.04),
        "5 apart": stretched(5.0, 0.9, 0.22),
    }


def kernel_of(
    name: str, energy: Any, values: dict[str, float], modes: tuple[str, ...] = STANDARD
) -> Any:
    laws = energy_laws(SOLID, energy, values=values, quadrature=RULE)
    return compile_cells(name, SOLID.space, laws, FAST, modes)


def moved(gradients: Any) -> tuple[Any, Any, Any]:
    """Return unit cells, their displacements, and what makes P of the forces V P grad N_i."""
    X = unit_cell(SOLID)
    R = np.repeat(X[None], len(gradients), axis=0)
    u = np.einsum("cij,nj->cni", gradients, X)
    rule = SOLID.rule(RULE)
    table = SOLID.space.tabulate(tuple(SOLID.space.table_jets), rule.points)[0]
    names = list(SOLID.space.table_jets)
    slopes = [next(iter(SOLID.space.point_jets[j])) for j in ("xi", "eta", "zeta")]
    G = np.array([table[names.index(s)] for s in slopes])  # (3, n)
    return R, u, np.linalg.pinv(G) / rule.weights[0]  # (n, 3)


def computed(kernel: Any, values: dict[str, float], gradients: Any) -> tuple[Any, Any]:
    """Return P and dP/dF; residual and product agree with them."""
    R, u, back = moved(gradients)
    f, K, bad = kernel.tangent(u, R, values)
    residual, bad_f = kernel.residual(u, R, values)
    assert not np.any(bad)
    assert not np.any(bad_f)
    n = SOLID.size
    f, K = f.reshape(-1, n, 3), kernel.unpack(K) if K.ndim != 3 else K
    K = K.reshape(-1, n, 3, n, 3)
    scale = np.max(abs(f), axis=(1, 2), keepdims=True) + 1e-12
    assert np.max(abs(residual.reshape(f.shape) - f) / scale) < 1e-14
    v = np.random.default_rng(1).uniform(-1, 1, u.shape)
    product, _ = kernel.product(u, v, R, values)
    error = product.reshape(f.shape) - np.einsum("cniml,cml->cni", K, v)
    assert np.max(abs(error) / np.max(abs(K), axis=(1, 2, 3, 4))[:, None, None]) < 1e-13
    P = np.einsum("cni,na->cia", f, back)
    C = np.einsum("cniml,na,mb->cialb", K, back, back) * VOLUME
    return P, C


CASES = {
    "ogden": (ogden, ogden_slopes, NUMBERS),
    "odd": (odd, odd_slopes, {"a": 0.4}),
}


@pytest.mark.parametrize("name", CASES)
def test_stress_and_tangent_wherever_stretches_meet(name: str) -> None:
    """Measured: at most 3e-14 and 2e-13, these where two stretches are 5; elsewhere 3e-14."""
    energy, slopes, values = CASES[name]
    found = states()
    gradients = np.array(list(found.values()))
    P, C = computed(kernel_of(f"stretches_{name}", energy, values), values, gradients)
    for k, (state, H) in enumerate(found.items()):
        stress, tangent = reference(H, slopes)
        rest = 1e-300 if name == "ogden" else 1.0  # the other one is stressed at rest
        assert np.max(abs(P[k] - stress)) <= 1e-12 * max(np.max(abs(stress)), rest), state
        assert np.max(abs(C[k] - tangent)) < 1e-12 * np.max(abs(tangent)), state


@sa.local(p=0, per="cell")
def mixed(
    J: Any, lambda1: Any, lambda2: Any, lambda3: Any, *,
    mu1: Any, alpha1: Any, mu2: Any, alpha2: Any, k: Any, p: Any,
) -> Any:  # fmt: skip
    parts = ogden(J, lambda1, lambda2, lambda3, mu1=mu1, alpha1=alpha1, mu2=mu2, alpha2=alpha2, k=k)
    return parts["deviatoric"] + p * (J - 1) - p**2 / (2 * k)


def test_laws_with_unknowns_of_their_own() -> None:
    """A pressure that is solved for in the kernel says the same as the penalty at one point."""
    gradients = np.array(list(states().values()))
    plain = computed(kernel_of("stretches_ogden", ogden, NUMBERS), NUMBERS, gradients)
    other = computed(kernel_of("stretches_mixed", mixed, NUMBERS), NUMBERS, gradients)
    for one, two in zip(plain, other, strict=True):
        size = np.max(abs(one).reshape(len(one), -1), axis=1)
        error = np.max(abs(one - two).reshape(len(one), -1), axis=1)
        assert np.all(error <= 1e-12 * size)


def test_unknowns_of_cells_rest_in_homogeneous_states() -> None:
    """Their equations are zero there, to the round-off of axes: those of hex8 are not moved."""
    gradients, values = np.array(list(states().values())), {"mu1": 0.6, "alpha1": 1.3, "k": 20.0}
    X, forces = unit_cell(elements.hex8), []
    R, u = np.repeat(X[None], len(gradients), axis=0), np.einsum("cij,nj->cni", gradients, X)
    for element in (elements.hex8, elements.hex8_plain):
        laws = energy_laws(element, energies.ogden(terms=1), values=values)
        kernel = compile_cells(f"rest_{element.name}", element.space, laws, modes=("residual",))
        f, bad = kernel.residual(u, R, values)
        assert not np.any(bad)
        forces.append(f.reshape(len(f), -1))
    error = np.max(abs(forces[0] - forces[1]), axis=1)
    assert np.all(error <= 1e-12 * np.max(abs(forces[1]), axis=1))


def apart(energy: Any, values: dict[str, float], F: Any) -> Any:
    """Return the principal Cauchy stresses less their last, of states with det F = 1."""
    cauchy = solid_stress(energy, np.array(F) - np.eye(3), values).cauchy
    assert np.max(abs(cauchy - np.swapaxes(cauchy, 1, 2))) < 1e-12 * np.max(abs(cauchy))
    stresses = np.linalg.eigvalsh(cauchy)[:, ::-1]
    return stresses - stresses[:, 2:]


TREL = {"mu1": 0.63, "alpha1": 1.3, "mu2": 0.0012, "alpha2": 5.0, "mu3": -0.01, "alpha3": -2.0}
STRETCHES = np.array([1.0, 1.1, 1.5, 2.0, 3.0, 5.0, 7.0])


def incompressible() -> tuple[Any, Any]:
    """Return F, in turned frames, and stretches of uniaxial, equibiaxial and shear states."""
    s = STRETCHES[:5] ** 0.5  # equibiaxial up to an area of 3
    uniaxial = np.stack([STRETCHES, STRETCHES**-0.5, STRETCHES**-0.5], axis=1)
    biaxial = np.stack([s, s, s**-2], axis=1)
    pure = np.stack([STRETCHES, np.ones(7), 1 / STRETCHES], axis=1)
    diagonal = np.concatenate([uniaxial, biaxial, pure])
    F = [OTHER @ TURN @ np.diag(x) @ TURN.T for x in diagonal]
    shears = np.array([0.0, 1e-4, 0.5, 2.0])
    simple = [np.eye(3) + g * np.outer(TURN[0], TURN[1]) for g in shears]
    turn = np.exp(np.arcsinh(shears / 2))
    sheared = np.stack([turn, np.ones(4), 1 / turn], axis=1)
    return np.array([*F, *simple]), np.concatenate([diagonal, sheared])


@pytest.mark.parametrize("name", ["ogden", "gent", "arruda_boyce", "mooney_rivlin"])
def test_closed_forms_of_incompressible_states(name: str) -> None:
    """sigma_a - sigma_3 = lambda_a W_a - lambda_3 W_3, of Treloar's rubber and others."""
    F, x = incompressible()
    I1 = np.sum(x**2, axis=1, keepdims=True)
    if name == "ogden":
        energy, values = energies.ogden(), TREL
        terms = [(TREL[f"mu{i}"], TREL[f"alpha{i}"]) for i in (1, 2, 3)]
        slope = sum(mu * x**alpha for mu, alpha in terms)
    elif name == "gent":
        energy, values = energies.gent(), {"mu": 0.4, "Jm": 97.2}
        slope = 0.4 * 97.2 / (97.2 - I1 + 3) * x**2
    elif name == "arruda_boyce":
        energy, values = energies.arruda_boyce(), {"mu": 0.3, "lambda_m": 5.0}
        c = (1 / 2, 1 / 20, 11 / 1050, 19 / 7000, 519 / 673750)
        series = sum((i + 1) * ci * I1**i / 25.0**i for i, ci in enumerate(c))
        slope = 2 * 0.3 * series * x**2
    else:
        energy, values = energies.mooney_rivlin(), {"C10": 0.2, "C01": 0.05}
        slope = 2 * 0.2 * x**2 - 2 * 0.05 / x**2
    found = apart(energy, {**values, "k": 1.0}, F)
    exact = slope - slope[:, 2:]
    size = np.max(abs(exact), axis=1)
    assert np.max(abs(found - exact) / np.maximum(size, 1e-4)[:, None]) < 1e-11
    assert size[6] > 5.0 * (name != "mooney_rivlin")  # at a stretch of 7


def test_ogden_of_two_terms_is_mooney_rivlin_on_a_plate() -> None:
    element, section = elements.ancf_plate, {"thickness": 0.3}
    generator = np.random.default_rng(2)
    two = {"mu1": 0.5, "alpha1": 2.0, "mu2": -0.14, "alpha2": -2.0, "k": 30.0, **section}
    same = {"C10": 0.25, "C01": 0.07, "k": 30.0, **section}
    R = np.repeat(unit_cell(element)[None], 8, axis=0)
    u = 0.1 * generator.uniform(-1, 1, R.shape)
    results = []
    for energy, values in ((energies.ogden(terms=2), two), (energies.mooney_rivlin(), same)):
        laws = energy_laws(element, energy, values=values, volumetric="full", quadrature="1x1x2")
        name = f"pair_{energy.__name__}_{element.name}"
        kernel = compile_cells(name, element.space, laws, modes=("energy", "residual"))
        results.append((kernel.energy(u, R, values), kernel.residual(u, R, values)))
    for (one, bad), (other, _) in zip(*results, strict=True):
        assert not np.any(bad)
        assert np.max(abs(one - other)) < 1e-13 * np.max(abs(other))


CATALOGUE = {
    energies.ogden(): {**TREL, "k": 100.0},
    energies.mooney_rivlin(): {"C10": 0.2, "C01": 0.05, "k": 100.0},
    energies.gent(): {"mu": 0.4, "Jm": 50.0, "k": 100.0},
    energies.arruda_boyce(): {"mu": 0.3, "lambda_m": 3.0, "k": 100.0},
}


@pytest.mark.parametrize("energy", CATALOGUE, ids=lambda e: e.__name__)
def test_catalogue_keeps_its_digits_and_has_its_moduli(energy: Any) -> None:
    values = CATALOGUE[energy]
    assert max(digits_lost(energy_laws(SOLID, energy, values=values), values)) < 2
    called = evaluate_energy(SOLID, energy)
    given = {sp.Symbol(n, real=True): v for n, v in values.items()}
    total = sp.Add(*called.parts.values())
    mu = {"ogden": 0.4225, "mooney_rivlin": 0.5, "gent": 0.4}.get(called.name)
    c = (1, 3 / 5 / 9, 99 / 175 / 81, 513 / 875 / 729, 42039 / 67375 / 6561)
    mu = 0.3 * sum(c) if mu is None else mu
    assert float(shear_modulus(called.kinematics, total).subs(given)) == pytest.approx(mu)
    assert float(bulk_modulus(called.kinematics, total).subs(given)) == pytest.approx(100.0)


def first_alone(lambda1: Any, lambda2: Any, lambda3: Any, *, a: Any) -> Any:
    return a * (lambda1 - 1) ** 2


def of_eigenvalues(C: Any, *, a: Any) -> Any:
    return a * sum((sp.sqrt(x) - 1) ** 2 for x in C.eigenvals())


@sa.memory(old=1)
def remembering(lambda1: Any, lambda2: Any, lambda3: Any, *, a: Any, old: Any) -> Any:
    W = a * sum((x - 1) ** 2 for x in (lambda1, lambda2, lambda3))
    return sa.remember(W / old, stored=W / old, old=sp.Max(old, lambda1))


def largest(lambda1: Any, lambda2: Any, lambda3: Any, *, a: Any) -> Any:
    return a * (sp.Max(lambda1, lambda2, lambda3) - 1) ** 2


def test_energies_that_are_none() -> None:
    with refused(KinematicsError, asked="lambda1", given="lambda2"):
        energy_laws(SOLID, first_alone)
    with refused(KinematicsError, asked="of_eigenvalues") as error:
        energy_laws(SOLID, of_eigenvalues)
    assert len(str(error.value)) < 400
    assert "ask for the principal stretches lambda1" in str(error.value)
    assert energy_laws(SOLID, remembering)  # what is only remembered may be of the largest
    with refused(KinematicsError, asked="terms", given=0):
        energies.ogden(terms=0)
    with refused(ParameterError, asked="alpha1", given=0.0):
        block(energies.ogden(terms=1), mu1=1.0, alpha1=0.0, k=1.0)


def block(energy: Any, **values: float) -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell=SOLID.cell)
    return sa.Body(mesh["body"], SOLID, energy, **values)


def test_the_largest_stretch_has_a_stress_on_either_side_of_its_kink() -> None:
    H = np.array([np.diag(x) for x in ([0.2, 0.1, 0.0], [0.1, 0.2, 0.0], [0.0, -0.1, 0.3])])
    values = {"a": 2.0}
    R, u, back = moved(H)
    f, bad = kernel_of("largest", largest, values, ("residual",)).residual(u, R, values)
    assert not np.any(bad)
    P = np.einsum("cni,na->cia", f.reshape(u.shape), back)
    for k in range(3):
        exact = np.zeros((3, 3))
        exact[k, k] = 4.0 * H[k, k, k]
        np.testing.assert_allclose(P[k], exact, atol=1e-14)


FUNCTIONS = {
    "inv": lambda x: 1 / x, "sqrt": mp.sqrt, "rsqrt": lambda x: 1 / mp.sqrt(x),
    "icbrt": lambda x: 1 / mp.cbrt(x), "log": mp.log, "log1p": lambda x: mp.log(1 + x),
    "log1pmx": lambda x: mp.log(1 + x) - x, "exp": mp.exp, "expm1": lambda x: mp.exp(x) - 1,
    "expm1mx": lambda x: mp.exp(x) - 1 - x, "sin": mp.sin, "cos": mp.cos, "tanh": mp.tanh,
    "atan": mp.atan, "erf": mp.erf, "sinh": mp.sinh, "cosh": mp.cosh,
    "pow": lambda x: x ** mp.mpf(1.7),
    "abs": lambda x: abs(x - 2), "sign": lambda x: mp.sign(x - 2),
}  # fmt: skip


@pytest.mark.parametrize("op", FUNCTIONS)
def test_divided_differences(op: str) -> None:
    """[f(2 a + c b)] against 60 digits, from a = b to far apart; measured: at most 2e-15."""
    g = ExpressionGraph()
    a, b, c = (g.symbol(name, Dependence.UNKNOWN) for name in "abc")
    x = g.add(g.mul(g.constant(2.0), a), g.mul(c, b))
    x = g.sub(x, g.constant(2.0)) if op in ("abs", "sign") else x
    f = g.call(op, x, g.constant(1.7)) if op == "pow" else g.call(op, x)
    bracket = DividedDifferences(g, a, b)
    assert bracket(g.add(f, bracket.swapped(f))) == g.zero
    with mp.workdps(60):
        for gap in (0.0, 1e-13, 1e-7, 1e-3, 0.1, 0.3, 2.0):
            at = {"a": 0.4 + gap, "b": 0.4, "c": 0.5}
            found = g.evaluate(g.expanded([bracket(f)]), at)[0]
            p, q, r = (mp.mpf(v) for v in at.values())
            p = p if gap else p + mp.mpf(10) ** -25
            exact = (FUNCTIONS[op](2 * p + r * q) - FUNCTIONS[op](2 * q + r * p)) / (p - q)
            assert abs(found - exact) <= 1e-14 * abs(exact), gap


@pytest.mark.parametrize("energy", [energies.ogden(), energies.yeoh()], ids=lambda e: e.__name__)
def test_fields_of_stretches(energy: Any) -> None:
    """Of laws in them and of others; beside stresses, which are derivatives by F."""
    stretches = np.array([1.7, 1.1, 1 / 1.87])
    F = OTHER @ TURN @ np.diag(stretches) @ TURN.T
    values = dict.fromkeys(signature(energy).parameters, 0.3)
    fields = {f"l{k}": f"lambda{k}" for k in (1, 2, 3)} | {"sigma": "cauchy"}
    fields["product"] = lambda lambda1, lambda2, lambda3, J: lambda1 * lambda2 * lambda3 / J
    axes = dict(zip(("xi", "eta", "zeta"), np.eye(3), strict=True))
    u = {jet: (F - np.eye(3)) @ axis for jet, axis in axes.items()}
    found = fields_at(SOLID, energy, fields, u, axes, values)
    np.testing.assert_allclose([found[f"l{k}"] for k in (1, 2, 3)], stretches, rtol=1e-14)
    np.testing.assert_allclose(found["product"], 1.0, rtol=1e-13)
    assert np.isfinite(found["sigma"]).all()


def test_stretches_that_differ_by_one_digit_have_axes() -> None:
    """The deviator of a dilation is round-off, and that of its mean is as large."""
    laws = energy_laws(elements.hex8_plain, ogden)
    found = compile_cells("ogden_dilation", elements.hex8_plain.space, laws, FAST)
    random = np.random.default_rng(5)
    size = 10.0 ** random.uniform(-12, -1, 2000) * random.choice([-1.0, 1.0], 2000)
    X = np.tile(1e6 * unit_cell(elements.hex8_plain), (2000, 1, 1))
    f, K, bad = found.tangent(size[:, None, None] * X, X, NUMBERS)
    assert bad == 0
    assert np.isfinite(f).all()
    assert np.isfinite(K).all()


def test_a_branch_of_stretches_has_the_slopes_of_the_others() -> None:
    """Also where F is made by operations that branches are kept from, as in hex8 and hex8_fbar."""
    g = ExpressionGraph()
    scope = LawScope(g, "a law")
    scope.solves = True
    H = sp.symbols("h:9")
    for symbol in H:
        scope.bind(symbol.name, g.symbol(symbol.name, Dependence.UNKNOWN))
    entries = [*H[:8], (1 + H[8]) ** sp.Rational(1, 3) - 1]
    squares = sum(log_stretch(k, *entries) ** 2 for k in (1, 2, 3))
    energy = scope.lower(sp.Piecewise((squares, squares > 0.01), (0, True)))
    assert scope.principal is not None
    slopes = gradient(g, energy, scope.principal.values)
    values = {"log_stretch1": 0.3, "log_stretch2": 0.1, "log_stretch3": -0.2}
    leaves = dict.fromkeys((g.name[x] for x in g.reach(slopes) if g.op[x] == "symbol"), 0.0)
    assert g.evaluate(slopes, {**leaves, **values}) == pytest.approx([0.6, 0.2, -0.4])
