# SPDX-License-Identifier: BSD-3-Clause
"""Your own joint.

A pin in the curved groove of a disc, a joint that no library has, is one SymPy function. It drives
a slider, whose motion and force are known exactly, and then a leaf spring. Units are SI.
"""

# %% [markdown]
# ## The function
# A joint is what must vanish. The arguments are quantities of its ends: `r_a` is the place of the
# pin, `r_b` the centre of the disc, `e1_b` and `e2_b` axes that turn with the disc; parameters come
# after the `*`. The groove is the curve $\rho(\varphi) = R + h \cos 3\varphi$ in polar coordinates
# of the disc. $\cos 3\varphi = (x^3 - 3 x y^2)/\rho^3$ has no jump at any angle, which an `atan2`
# would have. The function returns a length, so that its multiplier is a force.

# %%
import numpy as np
import sympy as sp

import symancf as sa


def groove(r_a, r_b, e1_b, e2_b, *, R, h):
    x, y = (r_a - r_b).dot(e1_b), (r_a - r_b).dot(e2_b)
    rho = sp.sqrt(x**2 + y**2)
    return rho - R - h * (x**3 - 3 * x * y**2) / rho**3


R, H, SPEED, MASS = 0.10, 0.01, 4.0, 0.5  # m, m, rad/s, kg

# %% [markdown]
# ## A cam and a slider
# The disc turns at a given rate; the slider moves along x with its pin in the groove. `sa.joints`
# has the hinge, the guide and the motor. Each joint returns its forces.

# %%
disc = sa.RigidBody.cylinder(0.12, 0.01, rho=2700.0, name="disc", spin=(0, 0, SPEED))
slider = sa.RigidBody.box(
    (0.04, 0.02, 0.02), position=(R + H, 0, 0), rho=MASS / 1.6e-5, name="slider"
)
hinge = sa.joints.revolute(disc.at((0, 0, 0)), axis=(0, 0, 1))
drive = sa.joints.rotation(*hinge.ends, angle=lambda t: SPEED * t)
guide = sa.joints.prismatic(slider.at((0, 0, 0)), axis=(1, 0, 0))
pin = sa.Constraint(groove, slider.at((0, 0, 0)), disc.at((0, 0, 0)), R=R, h=H, name="pin")
machine = sa.System(disc, slider, terms=[hinge, drive, guide, pin])
sa.root_print(machine)

# %% [markdown]
# ## In motion
# The slider is at $x = R + h \cos 3 \omega t$, so the pin bears $m \ddot x = -9 m h \omega^2 \cos 3
# \omega t$, and the motor gives the torque $m \dot x \ddot x/\omega$. The multiplier of the pin is
# its force along the gradient of the function, which has the length 1 along the radius here.

# %%
motion = sa.DynamicProblem(machine, prefix="cam_", spectral_radius=0.8)
motion.record("x", lambda: machine.position(slider.at((0, 0, 0)))[0, 0])
motion.record("force", lambda: pin.multipliers(machine)[0, 0])
motion.record("torque", lambda: drive.multipliers(machine)[0, 0])
history = motion.solve(to=1.6, step=0.004)
t = history.time
exact = R + H * np.cos(3 * SPEED * t)
speed = -3 * SPEED * H * np.sin(3 * SPEED * t)
push = MASS * -9 * SPEED**2 * H * np.cos(3 * SPEED * t)
off = np.abs(history["x"] - exact).max()
sign = np.sign(history["force"] @ push)
late = t > 0.1  # the start at full speed is a jump of the acceleration
worst = np.abs(sign * history["force"] - push)[late].max() / np.abs(push).max()
sa.root_print(f"position within {off:.1e} m, force within {100 * worst:.2f} % of the largest")
sa.root_print(motion.energies)
assert off < 1e-9
assert worst < 0.02

# %% The place of the slider, the force of the pin and the torque over time, beside the exact ones
figure = sa.view.Diagram("cam.png", columns=2)
with figure as (left, right):
    left.plot(t, 1e3 * history["x"], label="slider")
    left.plot(t, 1e3 * exact, "k:", label="exact")
    left.set(xlabel="time [s]", ylabel="x [mm]")
    right.plot(t, sign * history["force"], label="force of the pin [N]")
    right.plot(t, push, "k:", label="exact")
    right.plot(
        t,
        -10 * np.sign(history["torque"] @ (speed * push)) * -history["torque"],
        label="10 x torque [N m]",
    )
    right.plot(t, 10 * push * speed / SPEED, "k--", lw=0.8, label="exact")
    right.set(xlabel="time [s]")
    right.legend(fontsize=7)
figure

# %% [markdown]
# ## On a flexible body
# The same function takes places of flexible bodies. Here the pin sits at the end of a leaf spring
# of steel, clamped at its other end, and the disc is turned slowly: equilibria, with the angle as
# pseudo-time.

# %%
LEAF, EI, EA = 0.3, 210e9 * 0.02 * 0.001**3 / 12, 210e9 * 0.02 * 0.001  # m, N m^2, N


def upright(X):
    """Move a line along x to one along y that ends at the pin."""
    return np.column_stack([0 * X[:, 0] + R + H, X[:, 0] - LEAF, 0 * X[:, 0]])


line = sa.Mesh.box((LEAF,), (12,), warp=upright)
leaf = sa.Body(line["body"], sa.elements.ancf_cable, sa.energies.cable(), name="leaf", EA=EA, EI=EI)
wheel = sa.RigidBody.cylinder(0.12, 0.01, rho=2700.0, name="wheel")
axle = sa.joints.revolute(wheel.at((0, 0, 0)), axis=(0, 0, 1))
turn = sa.joints.rotation(*axle.ends, angle=lambda t: t)
follower = sa.Constraint(
    groove, leaf.at((R + H, 0, 0)), wheel.at((0, 0, 0)), R=R, h=H, name="follower"
)
spring = sa.System(wheel, leaf, terms=[sa.planar(leaf), sa.fix(leaf["x0"]), axle, turn, follower])
statics = sa.StaticProblem(spring, prefix="leaf_")
statics.record("tip", lambda: spring.displacement(leaf.at((R + H, 0, 0)))[0])
statics.record("force", lambda: follower.multipliers(spring)[0, 0])
path = statics.solve(to=np.pi / 3, step=np.pi / 24)
for angle, (x, y, _), force in zip(path.time, path["tip"], np.abs(path["force"]), strict=True):
    sa.root_print(
        f"{np.degrees(angle):4.1f} deg: tip {1e3 * x:8.4f}, {1e3 * y:7.4f} mm, force {force:.4f} N "
        f"(3 EI u/L^3: {3 * EI * abs(x) / LEAF**3:.4f} N)"
    )
assert abs(path["tip"][-1, 0] + 2 * H) < 1e-4
assert abs(abs(path["force"][-1]) / (3 * EI * 2 * H / LEAF**3) - 1) < 0.02
sa.root_print(sa.check(spring))

# %% The turned disc and the leaf spring that it bends, coloured by the displacement
drawn = sa.sample(spring, leaf)
picture = sa.view.render(
    [drawn, sa.sample(spring, wheel)],
    label="displacement",
    unit="m",
    eye=(0.2, -0.3, 1.0),
    up=(0.0, 1.0, 0.0),
)
picture.save("leaf.png")
picture

# %% [markdown]
# ## What next
# - A force in the place of what must vanish: `sa.Potential` takes an energy, `sa.VirtualWork`
#   forces, friction in the groove for example.
# - [Joints, forces and motors](../joints.md) lists the quantities of ends and has springs, brakes
#   and controllers.
