# SPDX-License-Identifier: BSD-3-Clause
"""Models as functions of JAX and PyTorch: `make test-bindings` has both in an environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa

CELLS = 8


class Model:
    """A block with a modulus for each cell, a load, and two goals."""

    def __init__(self) -> None:
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
        self.places = mesh.fetch_points(mesh.slice("body")[1]).mean(axis=1)
        self.mu, self.load = sa.Field(np.ones(CELLS)), sa.Parameter("load", 0.1)
        law, given = sa.energies.neo_hooke(), {"mu": self.mu, "lam": 1.5}
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, **given)
        terms = [sa.fix(body["x0"]), sa.traction(body["x1"], (self.load, 0.0, 0.05))]
        self.problem = sa.StaticProblem(sa.System(body, terms=terms), options={"snes_rtol": 1e-12})
        self.problem.solve()
        tip = body.at((1.0, 1.0, 1.0))
        self.goals = [sa.Goal(lambda u_a: u_a[0], tip), sa.Goal(lambda u_a: u_a[2] ** 2, tip)]
        self.parameters = [self.mu, self.load]


def differences(loss: Any, theta: list[Any], direction: list[Any], h: float = 1e-3) -> float:
    """Return the derivative of a loss along a direction, of fourth order."""

    def at(k: float) -> float:
        return float(loss([a + k * h * b for a, b in zip(theta, direction, strict=True)]))

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)


def start(rng: np.random.Generator) -> list[Any]:
    """Return weights of a network that maps places to moduli, and the logarithm of the load."""
    shapes: list[tuple[int, ...]] = [(3, 8), (8,), (8, 1), (1,), ()]
    return [0.5 * rng.standard_normal(shape) for shape in shapes]


def test_weights_of_a_network_that_makes_moduli_in_jax() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    jnp, model = jax.numpy, Model()
    solve = sa.optimize.jax(model.problem, model.parameters, of=model.goals)

    def loss(t: Any) -> Any:
        hidden = jnp.tanh(jnp.asarray(model.places) @ t[0] + t[1])
        moduli = 1.0 + 0.3 * jnp.tanh(hidden @ t[2] + t[3])[:, 0]
        y = solve(moduli, 0.1 * jnp.exp(0.1 * t[4]))
        return y[0] + 3 * y[1]

    rng = np.random.default_rng(0)
    theta, direction = start(rng), start(rng)
    value, found = jax.value_and_grad(loss)(theta)
    slope = sum(float(np.sum(a * b)) for a, b in zip(found, direction, strict=True))
    assert float(value) == pytest.approx(float(jax.jit(loss)(theta)), rel=1e-10)
    assert slope == pytest.approx(differences(loss, theta, direction), rel=1e-8)


def test_jax_in_single_precision_is_refused() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", False)
    try:
        model = Model()
        with pytest.raises(sa.ParameterError, match="jax_enable_x64"):
            sa.optimize.jax(model.problem, model.parameters, of=model.goals)
    finally:
        jax.config.update("jax_enable_x64", True)


def test_weights_of_a_network_that_makes_moduli_in_torch() -> None:
    torch = pytest.importorskip("torch")
    model = Model()
    solve = sa.optimize.torch(model.problem, model.parameters, of=model.goals)
    places = torch.tensor(model.places)

    def loss(t: Any) -> Any:
        t = [torch.as_tensor(own) for own in t]
        hidden = torch.tanh(places @ t[0] + t[1])
        moduli = 1.0 + 0.3 * torch.tanh(hidden @ t[2] + t[3])[:, 0]
        y = solve(moduli, 0.1 * torch.exp(0.1 * t[4]))
        return y[0] + 3 * y[1]

    rng = np.random.default_rng(0)
    theta, direction = start(rng), start(rng)
    leaves = [torch.tensor(own, requires_grad=True) for own in theta]
    loss(leaves).backward()
    slope = sum(float(np.sum(a.grad.numpy() * b)) for a, b in zip(leaves, direction, strict=True))
    assert slope == pytest.approx(differences(loss, theta, direction), rel=1e-8)


def test_an_optimiser_of_torch_finds_a_load() -> None:
    torch = pytest.importorskip("torch")
    model = Model()
    solve = sa.optimize.torch(model.problem, [model.load], of=[model.goals[0]])
    wanted = float(solve(torch.tensor(0.13, dtype=torch.float64)))
    load = torch.tensor(0.05, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([load], max_iter=30, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimiser.zero_grad()
        miss = 1e4 * (solve(load)[0] - wanted) ** 2
        miss.backward()
        return miss

    optimiser.step(closure)
    assert float(load.detach()) == pytest.approx(0.13, rel=1e-6)
