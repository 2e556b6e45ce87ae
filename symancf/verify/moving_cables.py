# SPDX-License-Identifier: BSD-3-Clause
"""Motions of cables: a beam that is spun up, and a free one, the flying spaghetti."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import force
from ..catalogue.moments import moment
from ..elements import ancf_cable
from ..energies import cable
from ..mesh import Mesh
from ..solve.dynamics import DynamicProblem
from ..system import System
from ..terms.constraint import Constraint
from ..values.parameter import Parameter
from .case import Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator

# J. C. Simo, L. Vu-Quoc, On the dynamics of flexible beams under large overall motions, Journal of
# Applied Mechanics 53 (1986) 849-854 and 855-863
SPEED, SPUN, SEEN = 6.0, 15.0, 8  # rad/s, s, steps
EXTENSION = {
    "biot": 0.0005143174550426011,  # tan(k L)/k - L, k^2 = rho A omega^2/EA
    "green": 0.0005142698461693129,
}


def turned(t: Any) -> Any:
    """Return the prescribed angle: up to 6 rad/s within 15 s, smoothly."""
    w = 2 * sp.pi / 15
    up = sp.Rational(6, 15) * (t**2 / 2 + (sp.cos(w * t) - 1) / w**2)
    return sp.Piecewise((up, t < 15), (6 * t - 45, True))


def hub(e1_a: Any, t: Any) -> Any:
    """Vanishes where the cable leaves the hub along the prescribed direction."""
    return e1_a[1] * sp.cos(turned(t)) - e1_a[0] * sp.sin(turned(t))


@case("A43_spin_up", "Simo and Vu-Quoc (1986), who report 5.14e-4; closed form of the steady state")
def spin_up() -> Iterator[Number]:
    """Beam spun up about its end: the mean extension of the tip after that, and its lag."""
    for strain in ("biot", "green"):
        reference = EXTENSION[strain]
        mesh = Mesh.box((10.0,), (8,))
        beam = Body(
            mesh["body"], ancf_cable, cable(strain=strain), EA=2.8e7, EI=1.4e4, rho=1.2, A=1.0
        )
        system = System(beam, terms=[fix(beam["x0"], "position"), Constraint(hub, beam["x0"])])
        problem = DynamicProblem(system, spectral_radius=0.8)
        axis = beam.at(np.linspace([0.0, 0.0, 0.0], [10.0, 0.0, 0.0], 41))
        problem.record("axis", lambda s=system, at=axis: s.position(at), every=SEEN)
        history = problem.solve(to=18.0, step=2.5e-3)
        time = history.time[::SEEN]
        steady = time >= SPUN
        angle = SPEED * time[steady] - 45.0
        places = history["axis"].reshape(-1, 41, 3)[steady]
        # along the axis: what is left of the vibration bends the beam, and so pulls in its tip
        length = np.linalg.norm(np.diff(places, axis=1), axis=2).sum(axis=1)
        lag = places[:, -1, 1] * np.cos(angle) - places[:, -1, 0] * np.sin(angle)
        yield Number(f"mean extension: {strain}", float(length.mean()) - 10.0, reference, 1e-4)
        yield Number(f"mean lag of the tip: {strain}", float(lag.mean()), 0.0, 1e-4, 10.0)
        yield Number(f"largest lag of the tip: {strain}", np.abs(lag).max(), 0.0, 1e-3, 10.0)


def momenta(system: System) -> Array:
    """Return mass, mass times centre (2,), momentum (2,) and angular momentum about z."""
    numbering, f = system._discrete.numbering, np.zeros_like(system.state)
    owned = slice(numbering.owned_vertices)
    positions, slopes = (
        numbering.offset[owned, b][:, None] + np.arange(3) for b in range(len(numbering.blocks))
    )
    place, unit = system.state + system.reference, np.zeros_like(f)
    everywhere = numbering.offset[:, 0]
    unit[everywhere] = 1.0  # a translation along x: shape functions of positions add up to 1
    sums = []
    for vector, axes in ((unit, (0,)), (place, (0, 1)), (system.rate, (0, 1))):
        f = system._discrete.mass_times(vector)
        sums += [f[positions[:, a]].sum() for a in axes]
    for k in (positions, slopes):
        sums.append((place[k[:, 0]] * f[k[:, 1]] - place[k[:, 1]] * f[k[:, 0]]).sum())
    total = system._discrete.sum(np.array(sums))
    return np.append(total[:5], total[5:].sum())


@case(
    "A60_flying_spaghetti", "invariants in closed form (Newton); set-up of Simo and Vu-Quoc (1986)"
)
def flying_spaghetti() -> Iterator[Number]:
    """Free beam pushed and turned at one end for 2.5 s: centre of mass, momenta, energy."""
    end, start, n = np.array([0.0, 8.0, 0.0]), np.array([6.0, 0.0, 0.0]), 16
    mesh = Mesh.box((1.0,), (n,), warp=lambda X: start + X[:, :1] * (end - start))
    beam = Body(mesh["body"], ancf_cable, cable(), name="beam", EA=1e4, EI=500.0, rho=1.0, A=1.0)
    push = Parameter("push", 1.0)
    loads = [
        force(beam["x0"], (lambda t: 8.0 * push.value, 0.0, 0.0)),
        moment(beam["x0"], (0.0, 0.0, lambda t: -80.0 * push.value)),
    ]
    system = System(beam, terms=loads)
    problem = DynamicProblem(system, spectral_radius=0.995)
    free: list[tuple[float, float]] = []
    step = 0.001
    for to, reference in ((1.0, 3.4), (2.5, 5.5), (5.0, 10.5), (10.0, 20.5)):
        problem.solve(to=to, step=step)
        mass, x, y, px, py, angular = momenta(system)
        yield Number(f"x of the centre of mass: t = {to:g}", x / mass, reference, 1e-8)
        yield Number(f"y of the centre of mass: t = {to:g}", y / mass, 4.0, 1e-8)
        yield Number(f"momentum along x: t = {to:g}", px, 8.0 * min(to, 2.5), 1e-8)
        yield Number(f"momentum along y: t = {to:g}", py, 0.0, 1e-8, 20.0)
        if to >= 2.5:
            energies = problem.energies
            free.append((angular, energies.kinetic + energies.strain))
        if to == 2.5:
            push.value = 0.0
            problem.initialize(step)  # accelerations jump
    for name, k, tolerance in (("angular momentum", 0, 1e-5), ("energy", 1, 1e-3)):
        values = [f[k] for f in free]
        change = max(values) - min(values)
        yield Number(f"{name}: change after 2.5 s", change, 0.0, tolerance, math.fabs(values[0]))
