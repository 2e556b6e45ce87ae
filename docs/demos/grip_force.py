# SPDX-License-Identifier: BSD-3-Clause
"""Grip force: moduli of a printed finger that grips twice as hard under the same pressure.

A finger with chambers presses on a bar with friction. L-BFGS-B finds the modulus of each cell,
with the same mean and between bounds, for twice the force; the gradient goes back over all steps.

Takes 50 s on one core.
"""

# %% [markdown]
# # Grip force
#
# **What you learn**: a finger of solids with chambers cut from a box, friction on a rigid bar, a
# `sa.Trace`, without which there is no gradient of a history, and a design that the optimiser
# changes cell by cell. Run it with `mpirun -n 2 python docs/demos/grip_force.py`.

# %%
import numpy as np

import symancf as sa

SIZE = np.array([0.06, 0.006, 0.012])  # m: length, half of the width, height
CELLS = np.array([30, 3, 6])
STEP = SIZE / CELLS
PRESSURE, SHEAR, BULK = 20e3, 60e3, 1e6  # Pa
SOFT, HARD = 40e3, 180e3  # Pa: what can be printed
RADIUS, FRICTION = 0.012, 0.4  # of the bar
STEPS = 10

# %% [markdown]
# ## Model
# Half of the finger. Seven chambers are regions of the box that the body leaves out; their walls
# are the sides of the body that lie in them. The bar is 0.2 mm below the finger.


# %%
mesh = sa.Mesh.box(SIZE, CELLS)


def chamber(k):
    """Return the condition that a place is in, or on the walls of, a chamber."""
    low, high = np.array([1 + 4 * k, -1, 2]), np.array([4 + 4 * k, 2, 5])

    def inside(X):
        cell = np.round(X / STEP, 6)
        return ((cell >= low) & (cell <= high)).all(axis=1)

    return inside


rooms = [mesh.select(f"chamber {k}", chamber(k), dimension=3) for k in range(7)]
solid = mesh["body"]
for room in rooms:
    solid = solid - room
finger = mesh.select("finger", dimension=3, within=solid)
middle = mesh.select("symmetry", lambda X: X[:, 1] < 1e-9, within=finger)
walls = [mesh.select(f"walls {k}", chamber(k), within=finger) for k in range(7)]

mu = sa.Field(np.full(finger.size, SHEAR))
body = sa.Body(finger, sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=mu, lam=BULK)
gas = [sa.pressure(body[wall.name], lambda t: PRESSURE * t) for wall in walls]
bar = sa.Cylinder(RADIUS, (0.045, 0.0, -RADIUS - 2e-4), axis=(0.0, 1.0, 0.0))
grip = sa.Contact(body["z0"], bar, mu=FRICTION, stiffness=1e8)
root = sa.fix(body["x0"])
system = sa.System(body, terms=[root, sa.symmetry(body[middle.name], "y"), *gas, grip])
problem = sa.StaticProblem(system)

# %% [markdown]
# ## The goal
# What the bar pushes up, the root holds down. Friction depends on the way, so the gradient takes
# the states of all steps from a trace. The penalty keeps the mean modulus, and the moduli near
# the ones of before where they have little effect.

# %%
push = sa.Goal(lambda F: -2.0 * F[2], root)  # both halves


def alike(x):
    """Return the penalty on moduli x and its gradient."""
    off = x / SHEAR - 1.0
    mean = off.mean()
    value = 1e2 * mean**2 + 1e-4 * off @ off
    return value, (2e2 * mean / x.size + 2e-4 * off) / SHEAR


def sides(x):
    """Return the mean of values of cells across the width (height, length), chambers empty."""
    at = np.full(CELLS.prod(), np.nan)
    at[np.sort(np.concatenate(mesh.comm.allgather(finger.slice()[0])))] = x
    layers = at.reshape(CELLS[::-1])
    return layers[:, -1, :]


# %%
def picture(before, after):
    """Draw the moduli of the outer layer of cells and the force by the pressure."""
    with sa.view.Diagram("results/grip_force.png", 1, 2, height=2.6) as (force, map_):
        kilo = 1e-3 * PRESSURE * np.linspace(0.0, 1.0, STEPS + 1)
        force.plot(kilo, before, "C7--", label="one modulus")
        force.plot(kilo, after, "C0-", label="designed")
        force.set(xlabel="pressure [kPa]", ylabel="grip force [N]")
        box = (0.0, 1e3 * SIZE[0], 0.0, 1e3 * SIZE[2])
        image = map_.imshow(1e-3 * sides(mu.values), origin="lower", extent=box, aspect="auto")
        map_.set(title="shear modulus of the side [kPa]", xlabel="x [mm]", ylabel="z [mm]")
        map_.grid(False)
        map_.figure.colorbar(image, ax=map_)


def pushes():
    """Return the force at all steps [N]."""
    return [0.0, *(problem.value(push.at(k / STEPS)) for k in range(1, STEPS + 1))]


def main():
    """Find the moduli; return both forces [N] and the result of the optimiser."""
    problem.solve(step=1 / STEPS, trace=sa.Trace(memory="1 GB"))
    before = pushes()
    miss = (push / (2 * before[-1]) - 1.0) ** 2
    options = {"maxfun": 15}
    found = sa.optimize.scipy(
        problem, miss, [mu], bounds=[(SOFT, HARD)], penalty=alike, options=options
    )
    after = pushes()
    sa.root_print(
        f"grip force {before[-1]:.4f} -> {after[-1]:.4f} N at {PRESSURE / 1e3:.0f} kPa after "
        f"{found.solutions} paths; moduli {mu.values.min() / 1e3:.0f} to "
        f"{mu.values.max() / 1e3:.0f} kPa, mean {mu.values.mean() / 1e3:.1f} kPa"
    )
    picture(before, after)
    sa.root_print("Files: results/grip_force.png")
    return before[-1], after[-1], found


# %%
if __name__ == "__main__":
    before, after, found = main()
    assert abs(after / before - 2.0) < 0.04
    assert abs(mu.values.mean() / SHEAR - 1.0) < 0.02
