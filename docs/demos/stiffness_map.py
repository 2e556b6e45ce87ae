# SPDX-License-Identifier: BSD-3-Clause
"""Stiffness map: a thousand moduli of a block from measured displacements (elastography).

A block of silicone with a hard inclusion is pressed. From the displacements of its nodes, with
noise, and from the force the Gauss-Newton method finds the modulus of each cell.

Takes 10 s on one core.
"""

# %% [markdown]
# # Stiffness map
#
# **What you learn**: `sa.Field` with a value for each cell, goals of measured data, exact gradients
# and products with the Hessian, and a penalty that keeps noise out of the answer. Run it with
# `mpirun -n 2 python docs/demos/stiffness_map.py`.

# %%
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sparse

import symancf as sa

SIDE, N = 0.04, 10  # m, cells along each edge
BULK, SOFT, HARD = 300e3, 30e3, 90e3  # Pa: bulk modulus, shear moduli of silicone and inclusion
NOISE, FORCE_NOISE = 5e-6, 0.05  # m of each reading, N: standard deviations
DATA = Path(__file__).with_name("stiffness_map.csv")

# %% [markdown]
# ## Model
# The lower face is clamped, the upper one is pushed down by 4 mm and aside by 3 mm. Displacements
# alone determine ratios of moduli only; the force on the upper face gives the rest.

# %%
mesh = sa.Mesh.box((SIDE,) * 3, (N,) * 3)
mu = sa.Field(np.full(N**3, 40e3))
body = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=mu, lam=BULK)
motion = (lambda t: 3e-3 * t, 0.0, lambda t: -4e-3 * t)
press = sa.fix(body["z1"], displacement=motion, name="press")
system = sa.System(body, terms=[sa.fix(body["z0"]), press])
problem = sa.StaticProblem(system)

middles = (np.indices((N,) * 3).reshape(3, -1)[::-1].T + 0.5) * SIDE / N  # x runs first
inside = np.linalg.norm(middles - [0.024, 0.018, 0.024], axis=1) < 0.009
truth = np.where(inside, HARD, SOFT)
inner = np.linspace(0.0, SIDE, N + 1)
grid = np.array([(x, y, z) for z in inner[1:-1] for y in inner for x in inner])
places = body.at(grid)


def measure():
    """Write the file of data anew: the solution for the true moduli, and noise."""
    mu.values = truth
    problem.solve()
    noise = np.random.default_rng(1)
    u = system.displacement(places) + NOISE * noise.standard_normal(grid.shape)
    force = press.reaction(system).force[2] + FORCE_NOISE * noise.standard_normal()
    if system.comm.rank == 0:
        head = f"u [m] at each place, noise {NOISE:g} m; force z: {force:.4f} N"
        np.savetxt(DATA, u, fmt="%.5e", delimiter=",", header=head)


# %% [markdown]
# ## Misfit and penalty
# Squares of what is read too much or too little, each by its standard deviation. A penalty on
# the logarithms of moduli of neighbours, with a weight that leaves the misfit near its expected
# value, the number of readings.


# %%
def square(u_a, *, x, y, z):
    return ((u_a[0] - x) ** 2 + (u_a[1] - y) ** 2 + (u_a[2] - z) ** 2) / (2 * NOISE**2)


line = sparse.diags([-1.0, 1.0], [0, 1], shape=(N - 1, N))
eye = sparse.identity(N)
directions = (eye, eye, line), (eye, line, eye), (line, eye, eye)
D = sparse.vstack([sparse.kron(sparse.kron(a, b), c) for a, b, c in directions])
WEIGHT = 50.0


def smooth(x):
    """Return WEIGHT/2 |D log x|^2 with its gradient and (nearly) its Hessian."""
    d = D @ np.log(x)
    value, by = WEIGHT / 2 * d @ d, WEIGHT * (D.T @ d) / x
    scale = sparse.diags(1 / x)
    return value, by, WEIGHT * scale @ (D.T @ D) @ scale


# %%
def picture(moduli):
    """Draw the true and the found moduli on a section through the inclusion."""
    with sa.view.Diagram("results/stiffness_map.png", 1, 2, height=2.8, sharey=True) as axes:
        for ax, values, title in zip(axes, (truth, moduli), ("true", "found"), strict=True):
            section = values.reshape(N, N, N)[:, 4, :] / 1e3
            sides = 1e3 * np.array([0.0, SIDE, 0.0, SIDE])
            shown = ax.imshow(section, origin="lower", extent=sides, vmin=20.0, vmax=100.0)
            ax.set(title=title, xlabel="x [mm]")
            ax.grid(False)
        axes[0].set(ylabel="z [mm]")
        axes[0].figure.colorbar(shown, ax=list(axes), label="shear modulus [kPa]")


# %%
def main():
    """Find the moduli; return them, the misfit and the result of the optimiser."""
    data = np.loadtxt(DATA, delimiter=",")
    force = float(DATA.read_text().splitlines()[0].split()[-2])
    problem.solve()
    misfit = sa.Goal(square, places, **dict(zip("xyz", data.T, strict=True)))
    misfit = misfit + sa.Goal(lambda F: (F[2] - force) ** 2 / (2 * FORCE_NOISE**2), press)
    before = misfit.value(system)
    options = {"maxiter": 12, "initial_trust_radius": 5.0}
    found = sa.optimize.scipy(
        problem, misfit, [mu], method="trust-ncg", penalty=smooth, options=options
    )
    after = misfit.value(system) / (data.size / 2)
    table = sa.Table("Moduli found", "cells", "true, kPa:.1f", "mean, kPa:.1f", "spread, kPa:.1f")
    for name, where in (("silicone", ~inside), ("inclusion", inside)):
        own = mu.values[where] / 1e3
        table.add(name, truth[where][0] / 1e3, own.mean(), own.std())
    sa.root_print(table)
    sa.root_print(
        f"misfit, by that expected of noise: {before / (data.size / 2):.0f} -> {after:.2f}, "
        f"{found.solutions} equilibria, {found.nhev} products with the Hessian\n"
    )
    picture(mu.values)
    sa.root_print("Files: results/stiffness_map.png")
    return mu.values, after, found


# %%
if __name__ == "__main__":
    if "-measure" in sys.argv:
        measure()
        mu.values = np.full(N**3, 40e3)
    moduli, misfit, found = main()
    assert 0.9 < misfit < 1.1  # neither noise nor too smooth
    assert abs(moduli[~inside].mean() / SOFT - 1) < 0.03
    assert abs(moduli[inside].mean() / HARD - 1) < 0.12  # the penalty rounds its edge
    assert found.solutions < 15
