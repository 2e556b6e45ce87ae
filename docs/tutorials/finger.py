# SPDX-License-Identifier: BSD-3-Clause
"""A soft finger that touches a wall.

The finger of [the first robot](../first-robot.md) bends under air until it meets a wall, presses
against it and slides on it: how contact is described, what it reports, and how to check it. Units
are N, mm and MPa.
"""

# %% [markdown]
# ## The finger
# A tube of rubber whose bore is off its axis: the thin side stretches more, and the tube bends to
# the thick one. `warp` moves the nodes of the mesh; the outer face stays round.

# %%
import numpy as np

import symancf as sa

INNER, OUTER, LENGTH, OFF = 3.0, 5.0, 80.0, 0.8  # mm


def eccentric(X):
    r = np.hypot(X[:, 0], X[:, 1])
    return X + np.outer(OFF * (OUTER - r) / (OUTER - INNER), (1.0, 0.0, 0.0))


mesh = sa.Mesh.tube(INNER, OUTER, LENGTH, (2, 3, 24), warp=eccentric)
sa.root_print(mesh)

# %% [markdown]
# `inner` is the bore, `outer` the skin, `z0` and `z1` are the ends. The pressure in the chamber is
# the pseudo-time t of the problem, so that a solution "to 0.06" is one at 0.06 MPa. `caps="flat"`
# closes the chamber by lids without stiffness.

# %%
rubber = {"C10": 0.11, "C20": 0.02, "C30": 0.0, "k": 10.0}  # MPa
finger = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.yeoh(), name="finger", **rubber)
chamber = sa.Cavity(finger["inner"], caps="flat", pressure=lambda t: t)
root = sa.fix(finger["z0"])

# %% [markdown]
# ## The wall
# The thick side is that of -x, so the wall stands there. It is a plane, and its normal points to
# where the finger may be. The whole skin may touch it: where it does is found. The stiffness of the
# contact follows from the rubber's.

# %%
GAP, MU = 2.0, 0.5  # mm between skin and wall, coefficient of friction
wall = sa.Plane((-OUTER - GAP, 0.0, 0.0), normal=(1.0, 0.0, 0.0), name="wall")
skin = finger[mesh["outer"] | mesh["z1"]]
touch = sa.Contact(skin, wall, mu=MU, name="touch")
system = sa.System(finger, terms=[root, chamber, touch])
sa.root_print(system)

# %% [markdown]
# ## Pressure in steps
# `record` keeps what is of interest at each step: a place, or what any function returns. Steps may
# have any size; those here are for the curves.

# %%
problem = sa.StaticProblem(system, prefix="finger_")
tip = finger.at((-OUTER, 0.0, LENGTH))
problem.record("tip", lambda: system.displacement(tip)[0])
problem.record("force", lambda: touch.force(system))
problem.record("root", lambda: root.reaction(system).force)
history = problem.solve(to=0.06, step=0.005)
sa.root_print(touch.report(system))

# %% [markdown]
# The gas loads the bore and both lids, a closed surface, so its resultant is zero, and the wall's
# force and that of the clamp balance. That is a check of the whole model, and costs nothing.

# %%
pressure, u, force = history.time, history["tip"], history["force"]
for p, (x, _, z), f in zip(pressure, u, np.abs(force), strict=True):
    sa.root_print(
        f"{1e3 * p:4.1f} kPa: tip {x:6.3f}, {z:6.3f} mm, wall {f[0]:.4f} N, friction {f[2]:.4f} N"
    )
assert np.abs(force + history["root"]).max() < 1e-8
assert (np.abs(force[:, 2]) <= MU * force[:, 0] + 1e-12).all()

# %% [markdown]
# ## What happens
# The tip comes to the wall between two steps. Then the force on it grows with the pressure, and the
# tip slides up the wall: the finger becomes longer under air. Friction is at its limit while it
# slides, and points down.

# %% The tip of the finger and the forces of the wall over the pressure
figure = sa.view.Diagram("finger_curves.png", columns=2)
with figure as (left, right):
    left.plot(1e3 * pressure, u[:, 0], "o-", label="along x")
    left.plot(1e3 * pressure, u[:, 2], "s-", label="along z")
    left.axhline(-GAP, color="k", lw=1.0, ls=":", label="wall")
    left.set(xlabel="pressure [kPa]", ylabel="displacement of the tip [mm]")
    right.plot(1e3 * pressure, force[:, 0], "o-", label="normal")
    right.plot(1e3 * pressure, -force[:, 2], "s-", label="friction, downwards")
    right.plot(1e3 * pressure, MU * force[:, 0], "k:", lw=1.0, label=f"{MU} of the normal force")
    right.set(xlabel="pressure [kPa]", ylabel="force of the wall [N]")
figure

# %% [markdown]
# The picture shows the finger's stress. A plane has no end: as much of it is drawn as the bodies
# cover.

# %% The bent finger at the wall, coloured by the von Mises stress
bent = sa.sample(system, finger, fields=["von_mises"])
picture = sa.view.render(
    [bent, wall], field="von_mises", label="von Mises stress", unit="MPa", eye=(0.35, -1.0, 0.2)
)
picture.save("finger.png")
picture

# %% [markdown]
# ## How well is it resolved?
# Contact acts at points within the facets. The stiffness lets these enter the wall by what
# `touch.report(system)` prints, in parts of a cell; the sharp edge of the tip, beyond the outermost
# of them, is further in, here by 0.3 mm. The mesh is the larger question. Here are a coarser and a
# finer one:


# %%
def pressed(cells, mu=MU):
    """Return the force of the wall (3,) at 60 kPa and the number of unknowns."""
    mesh = sa.Mesh.tube(INNER, OUTER, LENGTH, cells, warp=eccentric)
    body = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.yeoh(), **rubber)
    gas = sa.Cavity(body["inner"], caps="flat", pressure=lambda t: t)
    contact = sa.Contact(body[mesh["outer"] | mesh["z1"]], wall, mu=mu)
    model = sa.System(body, terms=[sa.fix(body["z0"]), gas, contact])
    sa.StaticProblem(model, prefix="finger_").solve(to=0.06, step=0.02)
    return contact.force(model), model.unknowns.size


assert 0.2 < -GAP - u[-1, 0] < 0.4  # mm, of the node at the tip
forces = {cells: pressed(cells) for cells in ((1, 2, 16), (2, 3, 24), (3, 4, 32))}
for cells, (found, unknowns) in forces.items():
    sa.root_print(
        f"{cells}: {unknowns} unknowns, wall {found[0]:.4f} N, friction {found[2]:+.4f} N"
    )

# %% [markdown]
# The second line has the model of above, in three steps instead of twelve. While the tip slides one
# way, the way there does not matter:

# %%
assert abs(forces[2, 3, 24][0] - force[-1]).max() < 1e-3 * force[-1, 0]
assert abs(forces[3, 4, 32][0] - force[-1]).max() < 0.05 * force[-1, 0]

# %% [markdown]
# ## What next
# - `sa.Contact(finger["outer"], sa.Cylinder(...))` is a post to wrap around;
#   [contact](../contact.md) has all shapes, deformable targets, and what helps where Newton's
#   method stops.
# - The same on two ranks, ended on its way and continued: [restart](restart.md).
# - The same in a motion: give the body `rho=1.1e-9` (t/mm³) and take `sa.DynamicProblem`.
