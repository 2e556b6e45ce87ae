# SPDX-License-Identifier: BSD-3-Clause
"""A fibre-reinforced actuator.

A rubber tube swells under air. Wound with thread it gets longer instead, and with a line on one
side that keeps its length it bends. Each step is compared with a formula of thin walls. Units are
N, mm and MPa.
"""

# %% [markdown]
# ## The tube
# The tube is closed at both ends, which are stiff; its air is a `sa.Cavity`. The rubber is
# neo-Hookean with the shear modulus of Ecoflex, 0.02 MPa.

# %%
import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

import symancf as sa

RADIUS, WALL, LENGTH, CAP, SHEAR, BULK = 6.0, 1.0, 60.0, 5.0, 0.02, 1.0  # middle of the wall
PITCH, EA, PRESSURE = 4.0, 100.0, 2e-3
INNER, OUTER = RADIUS - WALL / 2, RADIUS + WALL / 2


def tube():
    """Return a tube of rubber with stiff ends."""
    mesh = sa.Mesh.tube(INNER, OUTER, LENGTH, (1, 3, 12), cell="hexahedron20")
    half = LENGTH / 2
    mu = sa.Field(lambda X: SHEAR * np.where(abs(X[:, 2] - half) < half - CAP, 1.0, 50.0))
    return sa.Body(
        mesh["body"], sa.elements.hex20, sa.energies.neo_hooke(), name="tube", mu=mu, lam=BULK
    )


def inflated(body, *terms):
    """Return the system under air, in four steps of pressure."""
    air = sa.Cavity(body["inner"], caps="flat", pressure=lambda t: PRESSURE * t)
    system = sa.System(body, terms=[sa.fix(body["z0"]), air, *terms])
    sa.StaticProblem(system, prefix="actuator_").solve(to=1.0, step=0.25)
    return system


MIDDLE = [(0.0, INNER, LENGTH * part) for part in (0.3, 0.5, 0.7)]


def shape(system, body):
    """Return the stretch by length and by radius in the middle."""
    along = np.linalg.norm(np.diff(system.position(body.at(MIDDLE))[::2], axis=0)) / (0.4 * LENGTH)
    sides = body.at([(sign * RADIUS, 0.0, LENGTH / 2) for sign in (-1, 1)])
    return along, np.linalg.norm(np.diff(system.position(sides), axis=0)) / (2 * RADIUS)


plain = tube()
system = inflated(plain)
along, wide = shape(system, plain)
sa.root_print(f"rubber alone: length x {along:.3f}, radius x {wide:.3f}")

# %% [markdown]
# ## Wind it
# A `sa.Thread` lies in the solid along a path; here two helices of opposite hands in the middle of
# the wall. They need not follow the mesh. With a constant radius the wall has the axial stress
# $\mu(\lambda - \lambda^{-3})$ by its area of the reference. The rubber inside of the threads
# passes the pressure on to them, so that what pulls the tube longer is $p\,\pi r^2$ with the radius
# r of the threads; with that of the bore it would be 16 % less.
#
# Each turn of a thread carries half of $p r$ by the pitch, less the stress around that the longer
# rubber has, $\mu(1 - \lambda^{-2})$.


# %%
def helices(body):
    """Return two helices of opposite hands."""
    given = {"pitch": PITCH, "length": LENGTH}
    paths = [sa.Helix(RADIUS, hand=hand, **given) for hand in (1, -1)]
    return sa.Thread(paths, body, EA=EA, name="helices")


wound = tube()
winding = helices(wound)
longer = inflated(wound, winding)
along, wide = shape(longer, wound)
area, inside = 2 * np.pi * RADIUS * WALL, np.pi * RADIUS**2
thin = brentq(lambda x: SHEAR * (x - x**-3) * area - PRESSURE * inside, 1.0, 3.0)
sa.root_print(f"wound: length x {along:.3f}, thin wall {thin:.3f}; radius x {wide:.3f}")
hoop = PITCH / 2 * (PRESSURE * RADIUS - SHEAR * (1 - thin**-2) * WALL)
pull = np.median(winding.tensions(longer))
sa.root_print(f"tension of a helix {pull:.4f} N, thin wall {hoop:.4f} N")
assert abs((along - 1) / (thin - 1) - 1) < 0.03
assert abs(pull / hoop - 1) < 0.1
assert wide < 1.01

# %% [markdown]
# ## Let it bend
# `sa.length` keeps the length of a line, in the mean of each cell that it crosses. The tube then
# turns about this line: at the angle a around, the wall is at the height $r(1 - \cos a)$ above
# it and stretches by $1 + \kappa r(1 - \cos a)$; the moments of wall and air about the line are in
# balance.

# %%
bent = tube()
winding = helices(bent)
spine = sa.length(
    bent.along([(0.0, -RADIUS, 0.0), (0.0, -RADIUS, LENGTH)]), per="cell", name="spine"
)
actuator = inflated(bent, winding, spine)
places = [(0.0, -RADIUS, LENGTH * part) for part in (0.3, 0.5, 0.7)]
one, two = np.diff(actuator.position(bent.at(places)), axis=0)
angle = np.arccos(one @ two / np.linalg.norm(one) / np.linalg.norm(two))
bend = angle / (0.2 * LENGTH)


def moment(kappa):
    """Return the moment of the wall about the line that is kept, less that of the air [N mm]."""

    def of(a):
        lever = RADIUS * (1 - np.cos(a))
        x = 1 + kappa * lever
        return 2 * SHEAR * (x - x**-3) * WALL * RADIUS * lever

    return quad(of, 0.0, np.pi)[0] - PRESSURE * inside * RADIUS


thin = brentq(moment, 0.0, 1.0)
sa.root_print(f"curvature {bend:.5f} 1/mm, thin wall {thin:.5f} 1/mm")
kept = spine.lengths(actuator) - spine.reference_lengths(actuator)
sa.root_print(f"line within {abs(kept).max():.1e} mm of its length")
assert abs(bend / thin - 1) < 0.05
assert abs(kept).max() < 1e-6

# %% The three actuators under the same air: rubber alone, wound, and with a line that is kept
scenes = {
    "rubber alone": sa.sample(system, plain, divisions=2),
    "wound": [sa.sample(longer, wound, divisions=2)],
    "wound, one side kept": [sa.sample(actuator, bent, divisions=2)],
}
sa.view.render(
    scenes,
    field="von_mises",
    label="von Mises stress",
    unit="MPa",
    limits=(0.0, 0.03),
    eye=(1.0, 0.2, 0.3),
    undeformed=False,
)

# %% [markdown]
# ## What to change
# - `PITCH`, the angle of the helices: beyond 54.7 degrees to the axis they make the tube longer,
#   below shorter: a [McKibben muscle](../how-to/mckibben-muscle.md).
# - One helix alone: the tube twists as it bends.
# - The section: the [how-to](../how-to/fibre-reinforced-actuator.md) has a half-round one, the
#   [demo](../demos/fibre_actuator.py) takes it to 30 kPa and half a circle.
# - Threads with a law of their own, slack ones, rods: [threads](../guide/threads.md).
