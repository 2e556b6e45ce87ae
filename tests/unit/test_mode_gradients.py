# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of frequencies, simple and repeated, against differences of solutions."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.solve.modes.slopes import cluster

pytestmark = pytest.mark.collective

EXACT: Any = {"snes_rtol": 1e-13, "snes_stol": 1e-15}
PLACES = ((-2, 1), (-1, -8), (1, 8), (2, -1))


class Column:
    """A square column under its own load: bending twice each, torsion once; a modulus per cell."""

    def __init__(self, length: float = 1.0, mass: float = 1.0, time: float = 1.0) -> None:
        stress = mass / (length * time**2)
        self.mu = sa.Field(stress * np.ones(16))
        self.load = sa.Parameter("load", 0.02 * stress)
        self.rho = sa.Parameter("rho", 1.3 * mass / length**3)
        self.twist = sa.Parameter("way", 0.01 * length)
        mesh = sa.Mesh.box((0.3 * length, 0.3 * length, 1.2 * length), (2, 2, 4))
        body = sa.Body(
            mesh["body"],
            sa.elements.hex8,
            sa.energies.neo_hooke(),
            mu=self.mu,
            lam=2.0 * stress,
            rho=self.rho,
        )
        down = (0.0, 0.0, lambda t: -self.load.value * t)
        up = (0.0, 0.0, lambda t: self.twist.value * t)
        terms = [sa.fix(body["z0"], displacement=up), sa.traction(body["z1"], down)]
        self.system = sa.System(body, terms=terms)
        self.problem = sa.StaticProblem(self.system, options=EXACT, check_stable=False)

    def modes(self, count: int = 7) -> Any:
        """Return the modes about the equilibrium with the present parameters."""
        self.problem.solve(to=1.0)
        return sa.EigenProblem(self.system).solve(count)


def differences(of: Callable[[], Any], put: Callable[[float], None], h: float) -> Any:
    """Return the derivative to fourth order."""
    values = []
    for k, _ in PLACES:
        put(k * h)
        values.append(of())
    put(0.0)
    return sum(w * x for (_, w), x in zip(PLACES, values, strict=True)) / (12 * h)


def test_a_simple_frequency_by_moduli_load_and_density() -> None:
    column = Column()
    modes = column.modes()
    mu, load, rho = column.mu, column.load, column.rho
    single = next(k for k in range(6) if isolated(modes.squares, k))
    found = modes.gradient([mu, load, rho], single)
    assert found.value == pytest.approx(modes.omega[single] ** 2, rel=1e-12)
    assert found[rho] == pytest.approx(-found.value / rho.value, rel=1e-9)
    d = np.cos(np.arange(16.0))

    def square() -> Any:
        return column.modes().squares[single]

    def put(h: float) -> None:
        mu.values = 1.0 + h * d

    known = differences(square, put, 2e-3)
    assert found[mu] @ d == pytest.approx(known, rel=1e-8)
    known = differences(square, lambda h: setattr(load, "value", 0.02 + h), 4e-4)
    assert found[load] == pytest.approx(known, rel=1e-7)
    by_way = column.modes().gradient([column.twist], single)[column.twist]
    assert by_way == pytest.approx(0.0, abs=1e-9 * found.value)  # all of it moves along


def isolated(squares: Any, k: int) -> bool:
    """Tell whether no other frequency is near."""
    return bool((np.abs(np.delete(squares, k) / squares[k] - 1.0) > 1e-3).all())


def test_a_repeated_frequency() -> None:
    column = Column()
    modes = column.modes()
    mu, rho = column.mu, column.rho
    with pytest.raises(sa.ParameterError, match=r"\[0, 1\] have the same frequency"):
        modes.gradient([mu], 0)
    both = modes.gradient([mu, rho], [0, 1])
    product = modes.gradient([mu, rho], [0, 1], of="product")
    d = np.cos(np.arange(16.0))
    slopes = modes.directional([mu], [d], 0)
    assert slopes.shape == (2,)
    assert slopes.sum() == pytest.approx(both[mu] @ d, rel=1e-8)
    assert product.value == pytest.approx(both.value**2 / 4, rel=1e-9)
    assert product[rho] == pytest.approx(-2 * product.value / rho.value, rel=1e-8)
    h, ends = 1e-4, []
    for sign in (1.0, -1.0):
        mu.values = 1.0 + sign * h * d
        moved = (column.modes().squares[:2] - modes.squares[0]) / (sign * h)
        ends.append(np.sort(moved))
    mu.values = np.ones(16)
    np.testing.assert_allclose(np.mean(ends, axis=0), slopes, rtol=1e-4, atol=1e-6)
    assert slopes[1] - slopes[0] > 1e-3 * abs(slopes).max()


@pytest.mark.collective(rows=0)
def test_a_pinned_beam_whose_supports_stretch_it() -> None:
    """Multipliers of joints, and a moved support that makes the stress."""
    EI, EA, way, pin = (
        sa.Parameter(name, value)
        for name, value in (("EI", 1.0), ("EA", 400.0), ("way", 0.02), ("pin", 0.5))
    )
    mesh = sa.Mesh.box((1.0,), (4,))
    given = {"EA": EA, "EI": EI, "rho": 2.0, "A": 1.0}
    beam = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    bob = sa.RigidBody.box((0.2, 0.1, 0.1), position=(0.6, 0.0, -0.2), rho=50.0)
    end = sa.fix(beam["x1"], "position", displacement=(lambda t: way.value * t, 0.0, 0.0))
    hang = sa.joints.spherical(beam.at((0.5, 0.0, 0.0)), bob.at((-0.1, 0.0, 0.2)))
    spring = sa.Potential(
        lambda u_a, *, k: k * u_a.dot(u_a), bob.at([[0.1, 0.0, 0.1], [0.0, 0.05, 0.0]]), k=pin
    )
    weight = sa.gravity((0.0, 0.0, lambda t: -0.3 * t))
    terms = [sa.fix(beam["x0"], "position"), end, hang, spring, weight, sa.planar(beam)]
    system = sa.System(beam, bob, terms=terms)
    problem = sa.StaticProblem(system, options=EXACT, check_stable=False)

    def modes() -> Any:
        problem.solve(to=1.0)
        return sa.EigenProblem(system).solve(4)

    here = modes()
    for mode in (0, 2):
        found = here.gradient([EI, EA, way, pin], mode)
        for p, h in ((EI, 1e-3), (EA, 0.4), (way, 2e-5), (pin, 1e-3)):
            before = p.value
            known = differences(
                lambda m=mode: modes().squares[m],
                lambda x, p=p, v=before: setattr(p, "value", v + x),
                h,
            )
            modes()
            scale = 1e-7 * found.value / before
            assert found[p] == pytest.approx(known, rel=1e-6, abs=scale), (mode, p.name)


def test_a_free_beam_that_nothing_loads() -> None:
    """Its tangent is singular, and its state follows no parameter."""
    EI, rho = sa.Parameter("EI", 1.0), sa.Parameter("rho", 2.0)
    mesh = sa.Mesh.box((1.0,), (6,))
    given = {"EA": 1e4, "EI": EI, "rho": rho, "A": 1.0}
    beam = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    modes = sa.EigenProblem(sa.System(beam, terms=[sa.planar(beam)])).solve(2)
    first = modes.rigid
    found = modes.gradient([EI, rho], first)
    assert found.value == pytest.approx(4.730041**4 / 2.0, rel=1e-3)
    assert found[EI] == pytest.approx(found.value, rel=1e-4)
    assert found[rho] == pytest.approx(-found.value / 2.0, rel=1e-8)
    with pytest.raises(sa.ParameterError, match="not zero"):
        modes.gradient([EI], 0)


@pytest.mark.collective(rows=0)
def test_what_is_no_derivative_of_a_frequency_is_refused() -> None:
    column = Column()
    modes = column.modes(2)
    with pytest.raises(sa.ParameterError, match="at the end of those found"):
        modes.gradient([column.mu], [0, 1])
    modes = column.modes()
    with pytest.raises(sa.ParameterError, match="'sum' or 'product'"):
        modes.gradient([column.mu], [0, 1], of="mean")  # type: ignore[arg-type]
    with pytest.raises(sa.ParameterError, match="directions of shapes"):
        modes.directional([column.mu], [1.0])
    with pytest.raises(sa.ParameterError, match="nothing depends"):
        modes.gradient([sa.Parameter("idle", 1.0)], [0, 1])
    column.rho.value *= 1.01
    with pytest.raises(sa.ParameterError, match="not those of the present parameters"):
        modes.gradient([column.mu], [0, 1])
    column.rho.value /= 1.01
    column.problem.solve(to=0.5)
    with pytest.raises(sa.ParameterError, match="the state is another"):
        modes.gradient([column.mu], [0, 1])
    damped = sa.EigenProblem(column.system).solve(3, damped=True)
    with pytest.raises(sa.ParameterError, match="without rates"):
        damped.gradient([column.mu], 0)


@pytest.mark.collective(rows=0)
def test_frequencies_equal_to_a_millionth_are_one() -> None:
    system = Column().system
    squares = np.array([1.0, 1.0 + 3e-7, 2.0, 2.0 + 6e-6, 3.0])
    modes: Any = SimpleNamespace(
        _symmetric=True, eigenvalues=squares, squares=squares, _near=None, system=system
    )
    modes.base = system._discrete.state + 3e-10  # moved by less than the digits of an equilibrium
    assert [len(cluster(modes, k)) for k in range(4)] == [2, 2, 1, 1]
    modes.base = system._discrete.state + 1e-8
    with pytest.raises(sa.ParameterError, match="the state is another"):
        cluster(modes, 0)


@pytest.mark.collective(rows=0)
def test_modes_of_other_parameters_are_refused_from_a_millionth_on() -> None:
    column = Column()
    modes = column.modes()
    column.rho.value *= 1.0 + 3e-7
    modes.gradient([column.load], [0, 1])
    column.rho.value *= 1.0 + 3e-6
    with pytest.raises(sa.ParameterError, match="not those of the present parameters"):
        modes.gradient([column.load], [0, 1])


@pytest.mark.collective(rows=0)
def test_gradients_of_frequencies_do_not_depend_on_units() -> None:
    found = []
    for units in ((1.0, 1.0, 1.0), (1e3, 1e-3, 1e3)):
        column = Column(*units)
        g = column.modes().gradient([column.mu, column.load], [0, 1])
        found.append([*(g[column.mu] * column.mu.values), g[column.load] * column.load.value])
        found[-1] = np.array(found[-1]) / g.value
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6, atol=1e-9)


def test_a_small_system_has_its_modes_where_ranks_have_no_rows() -> None:
    """Of more unknowns than are solved densely; ranks without rows used to end, others to wait."""
    mesh = sa.Mesh.box((4.0, 1.0, 0.7), (8, 3, 2))
    mu = sa.Parameter("mu", 1e3)
    beam = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=mu, lam=mu, rho=1.0)
    system = sa.System(beam, terms=[sa.fix(beam["x0"])])
    sa.StaticProblem(system).solve()
    modes = sa.EigenProblem(system).solve(2)
    omega2 = (2.0 * np.pi * modes.frequencies[0]) ** 2
    found = modes.gradient([mu], 0)
    assert found.value == pytest.approx(omega2, rel=1e-9)
    assert mu.value * found[mu] == pytest.approx(found.value, rel=1e-9)  # all moduli grow
