# SPDX-License-Identifier: BSD-3-Clause
"""Sections of a beam: constant, tapered linearly and by a parabola, and hollow.

The pendulum of `pendulum` with four cross-sections that have the same outline at the pin. The
stiffness and the mass of a section that changes along an element are taken at every quadrature
point.

Takes 12 s on one core.
"""

# %% [markdown]
# # Sections of a beam
#
# **What you learn**: describing a section once and deriving stiffness and mass from it, the
# equilibrium and the motion of the same system, and checking a model by a closed form before
# believing its motion.

# %%
import numpy as np

import symancf as sa
from symancf.energies import cable

# %% [markdown]
# ## Sections
# Width, height, inner width and inner height [m] as functions of s = x/L. The paper names the
# four kinds without their sizes; these are a proposal.

# %%
LENGTH, YOUNG, DENSITY, GRAVITY = 1.2, 0.7e6, 5540.0, 9.81
DURATION, ELEMENTS = 1.5, 10
SECTIONS = {
    "uniform": lambda s: (0.2, 0.02, 0.0, 0.0),
    "linear taper": lambda s: (0.2 * (1 - 0.5 * s), 0.02, 0.0, 0.0),
    "quadratic taper": lambda s: (0.2 * (1 - 0.5 * s**2), 0.02, 0.0, 0.0),
    "hollow": lambda s: (0.2, 0.02, 0.18, 0.01),
}


def area(section, s):
    """Return A [m^2]."""
    b, h, b_in, h_in = section(s)
    return b * h - b_in * h_in + 0 * s


def inertia(section, s):
    """Return the second moment of area I [m^4]."""
    b, h, b_in, h_in = section(s)
    return (b * h**3 - b_in * h_in**3) / 12 + 0 * s


def beam(section, n, down, held=()):
    """Return the system of a beam along x under gravity in the direction `down`, and its body."""
    mesh = sa.Mesh.box((LENGTH,), (n,))
    body = sa.Body(
        mesh["body"],
        sa.elements.ancf_cable,
        cable(),
        name="beam",
        EA=sa.Field(lambda X: YOUNG * area(section, X[:, 0] / LENGTH), per="point"),
        EI=sa.Field(lambda X: YOUNG * inertia(section, X[:, 0] / LENGTH), per="point"),
        A=sa.Field(lambda X: area(section, X[:, 0] / LENGTH), per="point"),
        rho=DENSITY,
    )
    weight = sa.gravity(tuple(GRAVITY * d for d in down))
    supports = [sa.fix(body["x0"], dofs=dofs) for dofs in ("position", *held)]
    return sa.System(body, terms=[*supports, weight]), body


# %% [markdown]
# ## Hanging at rest
# The force in the axis is the weight below, so a beam that hangs is longer by
# $\int_0^L \frac{\rho g}{E A(x)} \int_x^L A\,dx'\,dx$: a closed form for stiffness and weight of
# every section.


# %%
def elongation(section):
    """Return the elongation of a hanging beam [m] by Gauss points."""
    s, w = np.polynomial.legendre.leggauss(24)
    s, w = (s + 1) / 2, w / 2
    below = [(1 - a) * w @ area(section, a + (1 - a) * s) for a in s]
    return DENSITY * GRAVITY * LENGTH**2 / YOUNG * w @ (below / area(section, s))


def hang(section):
    """Return the same by the finite elements."""
    system, body = beam(section, ELEMENTS, (1.0, 0.0, 0.0), ("slope.y", "slope.z"))
    sa.StaticProblem(system, prefix="hanging_").solve()
    return system.displacement(body["x1"])[0, 0]


# %%
def fall(section, n=ELEMENTS):
    """Return the positions (times, 41, 3) of the axis of a falling beam, and the times."""
    system, body = beam(section, n, (0.0, 0.0, -1.0))
    axis = body.at(np.linspace([0, 0, 0], [LENGTH, 0, 0], 41))
    problem = sa.DynamicProblem(system, prefix="falling_")
    problem.record("axis", lambda: system.position(axis))
    history = problem.solve(to=DURATION, step=1e-3)
    drift = problem.energies.drift / problem.energies.kinetic
    return history["axis"].reshape(-1, 41, 3), history.time, drift


def stretch(axis):
    """Return the stretch of the chord in time [%]."""
    return 100 * (np.linalg.norm(axis[:, -1] - axis[:, 0], axis=1) / LENGTH - 1)


def picture(motions):
    """Draw the paths of the tips, the beams half way, and the stretches."""
    with sa.view.Diagram("results/sections.png", 1, 2, height=3.2) as (left, right):
        for k, (name, (axis, time, _)) in enumerate(motions.items()):
            left.plot(axis[:, -1, 0], axis[:, -1, 2], f"C{k}-", lw=0.9)
            for at in (200, 400):
                left.plot(axis[at, :, 0], axis[at, :, 2], f"C{k}--", lw=0.9)
            right.plot(time, stretch(axis), f"C{k}", label=name)
        left.set(title="paths of the tips; beams at 0.2 and 0.4 s", aspect="equal")
        left.set(xlabel="x [m]", ylabel="z [m]")
        right.set(xlabel="time [s]", ylabel="stretch of the chord [%]")


def main():
    """Hang and drop all beams, print the table, draw; return elongations [m] and closed forms."""
    table = sa.Table(
        "Four sections, 10 elements; elongation at rest [mm], largest stretch falling",
        *("section", "mass [kg]:.2f", "hanging:.4f", "closed form:.4f", "stretch [%]:.2f"),
        *("5 elements:.2f", "lowest tip:.4f", "drift:.0e"),
    )
    motions, found = {}, {}
    s, w = np.polynomial.legendre.leggauss(8)
    for name, section in SECTIONS.items():
        found[name] = hang(section), elongation(section)
        motions[name] = fall(section)
        axis, _, drift = motions[name]
        mass = DENSITY * LENGTH * w @ area(section, (s + 1) / 2) / 2
        long, exact = 1e3 * np.array(found[name])
        most, coarse = (stretch(a).max() for a in (axis, fall(section, 5)[0]))
        table.add(name, mass, long, exact, most, coarse, axis[:, -1, 2].min(), drift)
    sa.root_print(table)
    picture(motions)
    sa.root_print("Picture: results/sections.png")
    return found


# %%
if __name__ == "__main__":
    for name, (computed, exact) in main().items():
        assert abs(computed / exact - 1) < 1e-7, name
