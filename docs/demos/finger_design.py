# SPDX-License-Identifier: BSD-3-Clause
"""Finger design: thickness of the wall and pressures for a wanted curve.

A tube of silicone with hoops and a spine that keep their lengths bends under gas in four chambers.
L-BFGS-B finds the pressures and the thickness of each cell with which it takes the form of a hook.

Takes 25 s on one core.
"""

# %% [markdown]
# # Finger design
#
# **What you learn**: a fibre-reinforced actuator of plates, `sa.Field` with a value for each cell,
# a goal of several points, and an optimisation with exact gradients and bounds. Run it with
# `mpirun -n 2 python docs/demos/finger_design.py`.

# %%
from pathlib import Path

import numpy as np

import symancf as sa

LENGTH, RADIUS = 0.12, 0.012  # m
ALONG, QUARTER, CHAMBERS = 16, 2, 4  # cells along the tube and along a quarter round it
SILICONE = {"mu": 50e3, "lam": 1e6}  # Pa
THICK, THIN, WALL = 3e-3, 1e-3, 2e-3  # m: bounds, and the thickness at the start
PRESSURE, LARGEST = 5e3, 20e3  # Pa: at the start, and its bound
CURVE = Path(__file__).with_name("finger_design.csv")

# %% [markdown]
# ## Model
# The wall is of plates. Hoops do not let it widen, and a spine on one side keeps its length, so
# that gas, which makes the tube longer, bends it. Each chamber has flat lids.

# %%
mesh = sa.Mesh.cylinder(RADIUS, LENGTH, (QUARTER, ALONG), cell="quad")
height = LENGTH / ALONG


def between(low, high):
    """Return the condition that a place is between two heights."""
    return lambda X: (X[:, 2] > low - 1e-6) & (X[:, 2] < high + 1e-6)


for k in range(CHAMBERS):
    part = LENGTH / CHAMBERS
    mesh.select(f"chamber {k}", between(k * part, (k + 1) * part), dimension=2)
for k in range(1, ALONG + 1):
    mesh.select(f"hoop {k}", between(k * height, k * height), dimension=1, outer=False)
on_spine = {"dimension": 1, "outer": False}
mesh.select("spine", lambda X: np.hypot(X[:, 0] - RADIUS, X[:, 1]) < 1e-6, **on_spine)


def radial(X):
    """Return the normals of the wall."""
    return X * [1.0, 1.0, 0.0] / RADIUS


wall = sa.Field(np.full(4 * QUARTER * ALONG, WALL))
element, law = sa.elements.ancf_plate, sa.energies.neo_hooke()
tube = sa.Body(mesh["body"], element, law, thickness=wall, direction=radial, **SILICONE)
pressures = [sa.Parameter(f"pressure {k}", PRESSURE) for k in range(CHAMBERS)]
gas = [
    sa.Cavity([tube[f"chamber {k}"].face(-1, middle=True)], caps="flat", pressure=p)
    for k, p in enumerate(pressures)
]
hoops = [sa.length(tube[f"hoop {k}"], per="line") for k in range(1, ALONG + 1)]
system = sa.System(tube, terms=[sa.fix(tube["z0"]), *gas, sa.length(tube["spine"]), *hoops])
problem = sa.StaticProblem(system)

# %% [markdown]
# ## The wanted curve
# Eight points of the spine, whose curvature grows from the root to the tip: a hook. The penalty
# keeps the thickness of neighbours alike where the curve does not ask for a difference.

# %%
table = np.loadtxt(CURVE, delimiter=",")
way, wanted = table[:, 0], table[:, 1:]  # m along the spine; m: x and z
spine = tube.at(np.column_stack([np.full(len(way), RADIUS), 0.0 * way, way]))


def square(r_a, *, x, z):
    return ((r_a[0] - x) ** 2 + (r_a[2] - z) ** 2) / len(way)


miss = sa.Goal(square, spine, x=wanted[:, 0], z=wanted[:, 1])
WEIGHT = 1e-9  # m^2


def even(x):
    """Return WEIGHT/2 |thickness/WALL - 1|^2 with its gradient."""
    off = np.append(x[: wall.values.size] / WALL - 1.0, np.zeros(CHAMBERS))
    return WEIGHT / 2 * off @ off, WEIGHT * off / WALL


def distances():
    """Return how far the points are from the curve [m]."""
    return np.linalg.norm(system.position(spine)[:, ::2] - wanted, axis=1)


def rows_of_cells():
    """Return the numbers of cells (along, round), from the root on and from the spine on."""
    own = mesh.fetch_points(mesh["body"].slice()[1]).mean(axis=1)
    middles = np.concatenate(mesh.comm.allgather(own))
    angle = np.arctan2(middles[:, 1], middles[:, 0]) % (2 * np.pi)
    return np.lexsort((angle, np.round(middles[:, 2] / height, 1))).reshape(ALONG, 4 * QUARTER)


# %%
def picture(start):
    """Draw the spine before and after, and the thickness of the wall unrolled."""
    with sa.view.Diagram("results/finger_design.png", 1, 2, height=2.8) as (side, unrolled):
        for points, style, label in (
            (start, "C7--", "start"),
            (system.position(spine)[:, ::2], "C0-", "found"),
            (wanted, "kx", "wanted"),
        ):
            side.plot(*(1e3 * points.T), style, label=label)
        side.set(title="spine", xlabel="x [mm]", ylabel="z [mm]", aspect="equal")
        shown = 1e3 * wall.values[rows_of_cells()]
        box = (0.0, 360.0, 0.0, 1e3 * LENGTH)
        image = unrolled.imshow(shown, origin="lower", extent=box, aspect="auto")
        unrolled.set(title="thickness [mm]", xlabel="angle from the spine [°]", ylabel="z [mm]")
        unrolled.grid(False)
        unrolled.figure.colorbar(image, ax=unrolled)


def main():
    """Find pressures and thickness; return the largest distance [m] and the optimiser's result."""
    problem.solve()
    start, before = system.position(spine)[:, ::2], distances().max()
    found = sa.optimize.scipy(
        problem,
        miss,
        [wall, *pressures],
        bounds=[(THIN, THICK), *[(0.0, LARGEST)] * CHAMBERS],
        penalty=even,
        options={"maxfun": 15},
    )
    values = ", ".join(f"{p.value / 1e3:.1f}" for p in pressures)
    sa.root_print(
        f"largest distance from the curve: {1e3 * before:.1f} -> {1e3 * distances().max():.2f} mm "
        f"after {found.nfev} gradients; pressures {values} kPa, wall {1e3 * wall.values.min():.2f} "
        f"to {1e3 * wall.values.max():.2f} mm"
    )
    picture(start)
    sa.root_print("Files: results/finger_design.png")
    return distances().max(), found


# %%
if __name__ == "__main__":
    distance, found = main()
    assert distance < 0.01 * LENGTH
    assert found.nfev <= 20
