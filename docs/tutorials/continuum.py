# SPDX-License-Identifier: BSD-3-Clause
"""A tendon-driven continuum robot.

A thin rod with spacers, bent by three tendons: tendon routing through eyelets, the bend beside
constant curvature, friction by the capstan equation, a command by lengths, and a tendon that winds
around the rod. Units are N and m.
"""

# %% [markdown]
# ## Backbone and tendons
# The backbone is a rod of nickel-titanium along x. Eight spacers hold the tendons 10 mm beside its
# axis, at 0, 120 and 240 degrees: `sa.eyelet` is a point beside the axis, by its coordinates along
# the axes e2 and e3 of the section; `direction=` is e2. A `sa.Tendon` runs from eyelet to eyelet,
# and is pulled at its start by a winch, whose tension is a parameter.

# %%
import numpy as np

import symancf as sa

LENGTH, PARTS, OFFSET, CORD, MU = 0.2, 8, 0.01, 2e3, 0.1  # m, -, m, N (EA of a tendon), -
SECTION = sa.Section.circle(0.7e-3)
ROD = SECTION.rod(E=60e9, nu=0.3)
ANGLES = 2 * np.pi / 3 * np.arange(3)
AXIS = np.outer(np.linspace(0.0, LENGTH, PARTS + 1), (1.0, 0.0, 0.0))


def backbone():
    """Return the rod."""
    mesh = sa.Mesh.box((LENGTH,), (PARTS,), cell="line3")
    given = {"direction": (0.0, 1.0, 0.0), **ROD}
    return sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), name="rod", **given)


def beside(rod, angle, turns=0.0):
    """Return eyelets at an angle around the axis that grows by full turns along it [rad]."""
    at = angle + 2 * np.pi * turns * np.linspace(0.0, 1.0, PARTS + 1)
    sides = OFFSET * np.stack([np.cos(at), np.sin(at)], axis=1)
    pairs = zip(AXIS, sides.tolist(), strict=True)
    return [sa.eyelet(rod.at(x[None]), offset=tuple(side)) for x, side in pairs]


rod = backbone()
hands = [sa.Parameter(f"hand {k}", 1.0) for k in (1, 2, 3)]
tendons = [
    sa.Tendon(
        beside(rod, angle), EA=CORD, mu=MU, start=sa.winch(force=hand), name=f"of {hand.name}"
    )
    for angle, hand in zip(ANGLES, hands, strict=True)
]
system = sa.System(rod, terms=[sa.fix(rod["x0"]), *tendons])
sa.root_print(system)

# %% [markdown]
# ## Pull
# Between two spacers, at the distance l, three tendons bend the rod by
# $\theta_0 = (T_1 - T_2/2 - T_3/2)\,a\,l/EI$: constant curvature. Tendons are straight from spacer
# to spacer while the rod bows out, so that it bends more,
# $\theta = \theta_0 \tan x/x$ with $x = (l/2)\sqrt{(T_1 + T_2 + T_3)/EI}$. Friction lets less
# arrive at each spacer, by the capstan equation $T\,e^{-\mu\theta}$.


# %%
def turned(system, rod):
    """Return by how much the end of the rod turned [rad]."""
    return np.arccos(system.gradient(rod["x1"])[0][0, 0])


problem = sa.StaticProblem(system, prefix="pull_")
drawn, part = {}, LENGTH / PARTS
for hands[0].value in (2.0, 4.0, 6.0):
    problem.solve()
    T = np.array([tendon.tensions(system) for tendon in tendons])  # (tendon, segment)
    x = part / 2 * np.sqrt(T.sum(axis=0) / ROD["EI2"])
    curved = (T[0] - T[1:].mean(axis=0)) * OFFSET * part / ROD["EI2"]
    found, plain, bowed = turned(system, rod), curved.sum(), (curved * np.tan(x) / x).sum()
    sa.root_print(
        f"{hands[0].value:.0f} N: {np.degrees(found):.2f} degrees, constant curvature "
        f"{np.degrees(plain):.2f}, with spacers {np.degrees(bowed):.2f}; "
        f"{T[0, -1]:.3f} N arrive at the end"
    )
    assert abs(found / bowed - 1) < 1e-2
    sampled = sa.output.swept(sa.sample(system, rod, fields=["d2", "d3"]), SECTION)
    cords = [sa.sample(system, tendon) for tendon in tendons]
    corners = np.stack([tendon.positions(system) for tendon in tendons], axis=1).reshape(-1, 3)
    spacers = {"triangle": np.arange(len(corners)).reshape(-1, 3)}
    cords.append(sa.output.Samples(corners, spacers, {}, {}))
    drawn[f"{hands[0].value:.0f} N"] = [sampled, *cords]
arrives = np.exp(-MU * tendons[0].angles(system).sum())
assert abs(T[0, -1] / T[0, 0] - arrives) < 1e-9

# %% The rod under 2, 4 and 6 N of one tendon and 1 N of the others, coloured by their tension
sa.view.render(
    drawn, field="tension", unit="N", eye=(0.3, 0.3, 1.0), up=(0.0, 1.0, 0.0), undeformed=False
)

# %% [markdown]
# ## Command lengths
# Robots have motors with encoders: they command lengths. For a bend by $\theta$ towards the angle
# $\varphi$ tendon k is pulled in by
# $s_k = L - (L - a\,\theta\cos(\varphi - \varphi_k))\,\sin\xi/\xi$, $\xi = \theta/2n$, as n chords
# of constant curvature say. `sa.winch(feed=...)` pays out a length, so that the sign changes;
# the tension at the start keeps all tendons taut.

# %%
arm, bend = backbone(), sa.Parameter("bend", 0.0)
TOWARDS = np.radians(60.0)


def paid(angle):
    """Return the length that a winch pays out, as a function of time [m]."""

    def feed(_):
        xi, shorter = bend.value / 2 / PARTS, OFFSET * bend.value * np.cos(TOWARDS - angle)
        return (LENGTH - shorter) * np.sinc(xi / np.pi) - LENGTH

    return feed


cords = [
    sa.Tendon(
        beside(arm, angle),
        EA=CORD,
        tension=5.0,
        start=sa.winch(feed=paid(angle)),
        name=f"cord {k + 1}",
    )
    for k, angle in enumerate(ANGLES)
]
led = sa.System(arm, terms=[sa.fix(arm["x0"]), *cords])
statics = sa.StaticProblem(led, prefix="lengths_")
for bend.value in np.radians((15.0, 30.0, 45.0)):
    statics.solve()
tangent = led.gradient(arm["x1"])[0][:, 0]
towards = np.degrees(np.arctan2(tangent[2], tangent[1]))
sa.root_print(
    f"command 45 degrees towards 60: {np.degrees(turned(led, arm)):.2f} degrees towards "
    f"{towards:.2f}; tensions {[round(float(c.tensions(led)[0]), 2) for c in cords]} N"
)
assert abs(np.degrees(turned(led, arm)) - 45.0) < 3.0
assert abs(towards - 60.0) < 0.5
assert not any(cord.slack(led) for cord in cords)

# %% [markdown]
# ## Tendon routing
# Where a tendon passes the spacers is up to you. One that winds a quarter turn around the rod gives
# it the moment T a in a direction that turns; for small bends the tip moves by
# $\frac{T a}{EI} \int_0^L (L - s)\,(\cos\psi, \sin\psi)\,\mathrm ds$, $\psi = \pi s/2L$.

# %%
winding, small = backbone(), 0.1  # N
wound = sa.Tendon(beside(winding, 0.0, 0.25), EA=CORD, start=sa.winch(force=small))
spiral = sa.System(winding, terms=[sa.fix(winding["x0"]), wound])
sa.StaticProblem(spiral, prefix="wound_").solve()
tip = spiral.displacement(winding["x1"])[0, 1:]
s = (np.arange(1000) + 0.5) / 1000
psi, lever = np.pi / 2 * s, small * OFFSET / ROD["EI2"] * LENGTH**2 * (1 - s)
linear = np.array([(lever * np.cos(psi)).mean(), (lever * np.sin(psi)).mean()])
sa.root_print(f"tip {1e3 * tip} mm, small bends {1e3 * linear} mm")
assert abs(tip - linear).max() < 0.02 * np.hypot(*linear)

# %% [markdown]
# ## What to change
# - Spacers: uneven distances, other offsets, rigid discs with mass: the
#   [demo](../demos/continuum_robot.py) has eight, a payload, and motors that follow lengths.
# - A Bowden cable: a tendon in a curved sheath loses as much by friction as over eyelets that turn
#   it by the same angle, $e^{-\mu\theta}$: give it places along the sheath.
# - Motors: `sa.winch(motor=...)`; pulleys, drums and branches: [tendons](../guide/tendons.md).
# - A tendon in a soft body: places are `body.at(...)`, see the
#   [tendon-driven arm](../how-to/tendon-driven-arm.md).
