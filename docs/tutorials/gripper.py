# SPDX-License-Identifier: BSD-3-Clause
"""A gripper that grasps.

Two soft fingers close on a ball under air, hold it by friction alone, and are loaded until it
slips: contact of deformable bodies with a rigid one, a holder that is taken away, and a limit that
Coulomb's law predicts. Units are N, mm and MPa.
"""

# %% [markdown]
# ## Two fingers and a ball
# Each finger is a tube with its bore off the axis; it bends to its thick side, inwards. It hangs
# from z = 0: the mesh of a standing tube is turned about y, and for the second finger about z.

# %%
import numpy as np

import symancf as sa

INNER, OUTER, LENGTH, OFF = 3.0, 5.0, 40.0, 1.0  # mm
BALL, GAP, MU, PRESSURE = 8.0, 0.5, 0.5, 0.06  # mm, mm, -, MPa
RUBBER = {"C10": 0.11, "C20": 0.02, "C30": 0.0, "k": 10.0}  # MPa


def finger(side):
    """Return the finger that hangs at the side +1 or -1 of the ball."""

    def hang(X):
        r = np.hypot(X[:, 0], X[:, 1])
        X = X - np.outer(OFF * (OUTER - r) / (OUTER - INNER), (1.0, 0.0, 0.0))
        X = X * [-1.0, 1.0, -1.0]  # turned about y
        return X * [side, side, 1.0] + [side * (BALL + GAP + OUTER), 0.0, 0.0]

    mesh = sa.Mesh.tube(INNER, OUTER, LENGTH, (2, 3, 12), warp=hang)
    name = "right" if side > 0 else "left"
    return sa.Body(mesh["body"], sa.elements.hex8, sa.energies.yeoh(), name=name, **RUBBER)


fingers = [finger(+1), finger(-1)]
air, weight, held = sa.Parameter("air"), sa.Parameter("weight"), sa.Parameter("held", 1.0)
chambers = [sa.Cavity(f["inner"], caps="flat", pressure=air, name=f"air {f.name}") for f in fingers]
roots = [sa.fix(f["z0"]) for f in fingers]
ball = sa.RigidBody.sphere(BALL, position=(0.0, 0.0, 2.0 - LENGTH), rho=1.1e-9, name="ball")
grips = [sa.Contact(f["outer"], ball, mu=MU, name=f"grip {f.name}") for f in fingers]

# %% [markdown]
# ## A holder
# Before it is gripped nothing holds the ball, and statics would have no solution. A spring holds it
# in the meantime, a `Potential` of its displacement and of the turn of its axes, whose stiffness is
# taken to zero afterwards.


# %%
def hold(u_a, e1_a, e2_a, e3_a, E1_a, E2_a, E3_a, *, k):
    turns = (e1_a - E1_a, e2_a - E2_a, e3_a - E3_a)
    return k / 2 * u_a.dot(u_a) + 50 * k * sum(d.dot(d) for d in turns)  # k [N/mm], 50 mm^2


holder = sa.Potential(hold, ball.centre, k=held)
load = sa.force(ball.centre, (0.0, 0.0, lambda t: -weight.value))
system = sa.System(*fingers, ball, terms=[*roots, *chambers, *grips, holder, load])
sa.root_print(system)

# %% [markdown]
# ## Close, let go
# First the air, then the holder is taken away in steps of a tenth each.

# %%
problem = sa.StaticProblem(system, prefix="gripper_")
for air.value in np.linspace(0.0, PRESSURE, 4):
    problem.solve()
for held.value in (0.1, 0.01, 0.0):
    problem.solve()
    sa.root_print(
        f"holder {held.value} N/mm: ball {system.displacement(ball.centre)[0].round(4)} mm"
    )
for grip in grips:
    sa.root_print(grip.report(system))
normal = [abs(grip.force(system, on=ball)[0]) for grip in grips]
sa.root_print(f"the fingers press with {normal[0]:.5f} and {normal[1]:.5f} N")

# %% [markdown]
# ## What it carries
# A weight pulls at the ball. What the fingers give along z must balance it. Points that stick give
# way a little, those that slide are at the limit of friction.

# %%
for weight.value in (0.03, 0.06, 0.09):
    problem.solve()
    forces = np.array([grip.force(system, on=ball) for grip in grips])
    drop = -system.displacement(ball.centre)[0, 2]
    sa.root_print(
        f"weight {weight.value} N: {drop:.4f} mm down, forces along z {forces[:, 2].round(5)}, "
        f"along x {forces[:, 0].round(5)} N"
    )
    assert abs(forces[:, 2].sum() - weight.value) < 1e-8
    assert abs(forces[:, 0].sum()) < 1e-8
for grip in grips:
    sa.root_print(grip.status(system))
sa.root_print(f"friction on upright walls bears at most {MU * np.abs(forces[:, 0]).sum():.4f} N")
assert weight.value > MU * np.abs(forces[:, 0]).sum()

# %% [markdown]
# That is more than friction alone would bear between upright walls: the fingers are curved and
# reach under the ball.

# %% Fingers that hold a ball, coloured by the von Mises stress
scene = [sa.sample(system, f, fields=["von_mises"]) for f in fingers]
picture = sa.view.render(
    [*scene, sa.sample(system, ball)],
    field="von_mises",
    label="von Mises stress",
    unit="MPa",
    eye=(0.3, -1.0, 0.15),
)
picture.save("gripper.png")
picture

# %% [markdown]
# ## What next
# - The same in a motion, where the gripper is lifted: roots that move, `sa.fix(place,
#   displacement=lambda X, t: ...)`, and `rho=1.1e-9` for the fingers, in a `sa.DynamicProblem`.
# - A chamber with a given amount of air holds it when it is pressed: `sa.Cavity(...,
#   gas=sa.Gas(...))`.
