# SPDX-License-Identifier: BSD-3-Clause
"""Pneumatic gripper: three actuators of silicone under gas, a rigid base, a ball, a lift.

The sequence of a paper on three-jaw soft grippers (2024), whose sizes are not printed: the gas
rises to 35 kPa in a second, at 2 s the platform below the ball goes, at 3 s the base is let go
with 24 mm/s under a force that balances the weight.

Takes 35 min on one core.
"""

# %% [markdown]
# # Pneumatic gripper
#
# **What you learn**: solids under gas beside rigid bodies, statics that a motion continues from,
# supports that are taken away, and a force that balances the model's own weight. Run it with
# `mpirun -n 2 python docs/demos/pneumatic_gripper.py`; `-sixth` takes a sixth by
# symmetry, `-short` a coarse mesh of it as well, and stops early.

# %%
import runpy
import sys
import time
from pathlib import Path

import numpy as np
from mpi4py import MPI
from sympy import Rational

import symancf as sa
from symancf.energies import yeoh
from symancf.solve.rigid import rigid_modes

HERE = Path(__file__).resolve().parents[2]
COMM = MPI.COMM_WORLD
ROOT = COMM.rank == 0
SHORT, SIXTH = "-short" in sys.argv, "-short" in sys.argv or "-sixth" in sys.argv

actuator = runpy.run_path(str(HERE / "meshes" / "actuator.py"))
DIRECT = {"ksp_type": "preonly", "pc_type": "lu", "pc_factor_mat_solver_type": "mumps"}
SILICONE = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3, "k": 1e9, "rho": 1080.0}
VISCOSITY = 300.0  # Pa s: a loss factor of 0.06 at the 17 Hz at which the ball sways
GRAVITY = 9.81  # m/s^2
RADIUS = 0.5  # spectral radius of the integrator, that is not printed
FULL, SPEED = 35e3, 24e-3  # Pa, m/s
INFLATED, DROPPED, LIFTED, END = 1.0, 2.0, 3.0, 6.0  # s
BALL, DENSITY = 20e-3, 1100.0  # m, kg/m^3
DISC, THICKNESS = 56e-3, 12e-3  # m, the base
UPRIGHT = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # third axis along y
VOLUME = 11.406e-6  # m^3, of an actuator
WEIGHT = 0.64  # N, of base and actuators
TILT = np.radians(25.0)  # of the fingers towards the axis
PALM, TOP = 40.3e-3, -18.2e-3  # m: distance of the roots from the axis; height of the ball's top
FRICTION = 0.4, 0.3  # static, sliding
SINK = 1e-5  # m, by which the platform gives way under the ball
VIEW = {"undeformed": False, "up": (0.0, 1.0, 0.0), "eye": (0.3, 0.15, 1.0)}
LAYERS, SIZE = (1, 3.5e-3) if SHORT else (2, 2.5e-3)

# %% [markdown]
# ## One actuator
# hangs from y = 0 downwards, its palm towards the axis. Hexahedra of 8 nodes take the dilatation
# at their centres only: two layers at least through every wall.


# %%
def gas(t):
    """Return the pressure [Pa]."""
    return FULL * min(t / INFLATED, 1.0)


def hung(X, angle):
    """Return where points of an actuator are that hangs at an angle about the vertical axis."""
    outward, down = np.array([np.cos(angle), 0.0, np.sin(angle)]), np.array([0.0, -1.0, 0.0])
    c, s = np.cos(TILT), np.sin(TILT)
    frame = np.stack([c * down - s * outward, np.cross(outward, down), c * outward + s * down])
    return X @ frame + PALM * outward


def finger(angle, layers=LAYERS, size=SIZE, half=False):
    """Return an actuator that hangs at an angle about the vertical axis."""
    made = actuator["arrays"](layers, size, half) if ROOT else (None, None, None)
    if ROOT:
        made = hung(made[0], angle), *made[1:]
    mesh = sa.Mesh.from_arrays(*made, name="actuator")
    return sa.Body(
        mesh["silicone"],
        sa.elements.hex8_plain,
        yeoh(),
        name=f"finger at {np.degrees(angle):.0f} degrees",
        volumetric="reduced",
        **SILICONE,
    )


# %% [markdown]
# ## Which element
# Hexahedra of 8 nodes lock in shear along the walls and converge from below; tetrahedra of 10
# nodes with a pressure in each cell converge from above, and are the ones to trust. Half of an
# actuator that is glued at its root, without weight:


# %%
@sa.local(p=0, per="cell")
def mixed(J, I1, *, C10, C20, C30, k, p):
    y = J ** Rational(-2, 3) * I1 - 3
    return C10 * y + C20 * y**2 + C30 * y**3 + p * (J - 1) - p**2 / (2 * k)


ALONE = {  # name -> cell, element, energy, options, layers, size [m]
    "hex8_plain": (
        "hexahedron",
        sa.elements.hex8_plain,
        yeoh(),
        {"volumetric": "reduced"},
        2,
        2.5e-3,
    ),
    "hex8_plain, finer": (
        "hexahedron",
        sa.elements.hex8_plain,
        yeoh(),
        {"volumetric": "reduced"},
        2,
        1.25e-3,
    ),
    "tet10, mixed": ("tetra10", sa.elements.tet10, mixed, {}, 1, 2.5e-3),
}


def alone(cell, element, energy, options, layers, size, upto=(10, 35)):
    """Return rows of top and bottom of the tip [mm] by pressure [kPa], unknowns, CPU seconds."""
    start = time.process_time()
    mesh = actuator["actuator"](layers, size, half=True, cell=cell)
    body = sa.Body(mesh["silicone"], element, energy, **options, **SILICONE)
    glued = [sa.fix(body["root"]), sa.fix(body["symmetry"], dofs="y")]
    system = sa.System(body, terms=[*glued, sa.pressure(body["inside"], lambda t: 1e3 * t)])
    problem = sa.StaticProblem(system, prefix="alone_", options=DIRECT)
    ends = body.at([(actuator["LENGTH"], 0.0, z) for z in (actuator["HEIGHT"], 0.0)])
    rows = {}
    for kilo in upto:
        problem.solve(to=kilo, step=1.25)
        rows[kilo] = 1e3 * system.displacement(ends)
    return rows, system.unknowns.size, COMM.allreduce(time.process_time() - start)


# %% [markdown]
# ## The gripper
# Base and ball are rigid; the mass of the base makes the weight of the gripper 0.64 N. Each part
# of the sequence is a system of the same bodies, loads and contacts with other supports; a
# checkpoint carries the state from one to the next. Half of one finger with a sixth of base and
# ball, both guided along the axis, is the same by symmetry.


# %%
def guided(u_a, e1_a, e2_a, E1_a, E2_a, *, k, R):
    turned = (e1_a - E1_a).dot(e1_a - E1_a) + (e2_a - E2_a).dot(e2_a - E2_a)
    return k / 2 * (u_a[0] ** 2 + u_a[2] ** 2 + R**2 * turned)


class Gripper:
    """The bodies, what acts on them all the time, and systems for the parts of the sequence.

    Parameters
    ----------
    touch : whether chambers, palms, ball and platform touch; else the ball is held up to 2 s.
    sixth : half a finger, a sixth of base and ball.
    side : of the fingers, that grips.
    stiffness : of the grip [Pa/m]; default: that of `sa.Contact`.
    """

    def __init__(
        self,
        touch=True,
        layers=LAYERS,
        size=SIZE,
        sixth=False,
        side="outside",
        stiffness=None,
    ):
        share = self.share = 1 / 6 if sixth else 1.0
        angles = [0.0] if sixth else 2 * np.pi / 3 * np.arange(3)
        self.fingers = [finger(angle, layers, size, sixth) for angle in angles]
        mass = share * (WEIGHT / GRAVITY - 3 * SILICONE["rho"] * VOLUME)
        square = DISC**2 / 4 + THICKNESS**2 / 12
        self.base = sa.RigidBody.cylinder(
            DISC,
            THICKNESS,
            position=(0.0, THICKNESS / 2, 0.0),
            frame=UPRIGHT,
            name="base",
            mass=mass,
            inertia=mass * np.array([square, square, DISC**2 / 2]),
        )
        at = (0.0, TOP - BALL, 0.0)
        self.ball = sa.RigidBody.sphere(BALL, position=at, rho=share * DENSITY, name="ball")
        self.bodies = [*self.fingers, self.base, self.ball]
        self.terms = [sa.gravity((0.0, -GRAVITY, 0.0))]
        for body in self.fingers:
            self.terms += [sa.joints.clamp(body["root"], self.base)]
            self.terms += [sa.pressure(body["inside"], gas)]
            self.terms += [sa.KelvinVoigt(body, eta=VISCOSITY)] if touch else []
        if sixth:
            mesh = self.fingers[0].region.mesh
            plane = np.concatenate(COMM.allgather(mesh.fetch_points(mesh["symmetry"].points())))
            below = plane[plane[:, 1] < -1e-9]  # the base guides the root
            self.terms += [sa.fix(self.fingers[0].at(below), dofs="z")]
            along = (0.0, 1.0, 0.0)
            self.terms += [sa.joints.prismatic(b.centre, axis=along) for b in self.bodies[1:]]
        self.guide = sa.Parameter("guide", 1.0)  # [N/m]: a ball on a platform rolls freely
        if touch and not sixth:
            self.terms += [sa.Potential(guided, self.ball.centre, k=self.guide, R=BALL)]
        self.rubs = [sa.Parameter(f"mu, {k}", mu) for k, mu in enumerate(FRICTION)]
        self.grips = [
            sa.Contact(
                body[side], self.ball, mu=tuple(self.rubs), stiffness=stiffness, name=f"grip {k}"
            )
            for k, body in enumerate(self.fingers)
        ]
        self.away = sa.Parameter("way of the platform", 0.0)
        floor = sa.Plane(
            (0.0, TOP - 2 * BALL + SINK, 0.0),
            normal=(0.0, 1.0, 0.0),
            displacement=(0.0, self.away, 0.0),
        )
        platform = sa.Contact(
            self.ball,
            floor,
            stiffness=self.ball.mass * GRAVITY / SINK,
            initial="press",
            name="platform",
        )
        chambers = [sa.Contact(body["walls"], mu=FRICTION) for body in self.fingers]
        self.contacts = [*chambers, *self.grips, platform] if touch else []

    def watched(self, system):
        """Return functions of what the contacts say, by names: forces on the ball [N]."""
        if not self.contacts:
            return {}
        platform = self.contacts[-1]

        def grip():
            return sum(c.force(system, on=self.ball) for c in self.grips) / self.share

        def normal():  # without friction the same state has the pressure alone
            for mu in self.rubs:
                mu.value = 0.0
            found = grip()
            for mu, value in zip(self.rubs, FRICTION, strict=True):
                mu.value = value
            return found

        return {
            "grip": grip,
            "normal": normal,
            "platform": lambda: platform.force(system) / self.share,
        }

    def system(self, *supports, held=()):
        """Return a system with these supports; bodies that are `held` do not move."""
        terms = [*self.terms, *self.contacts, *supports, *(sa.fix(body, "all") for body in held)]
        return sa.System(*self.bodies, terms=terms)

    def weight(self, system, *bodies):
        """Return the weight [N] of fingers, base and of the ball, if it is among `bodies`.

        It is that of the discrete model: its momentum at a unit rate.
        """
        rate = system.rate.copy()
        system.rate[:] = rigid_modes(system)[1]
        mass = system.momentum()[0][1]
        system.rate[:] = rate
        return GRAVITY * (mass - (0.0 if self.ball in bodies else self.ball.mass))


def moved_on(old, new):
    """Put a system into the state of one with other supports; return it."""
    path = "results/pneumatic_gripper.h5"
    sa.checkpoint.save(path, old, {"rate": old.rate})
    sa.StaticProblem(new, prefix="moved_", options=DIRECT).restore(path)
    return new


# %% [markdown]
# ## The sequence
# Up to 1.9 s nothing is fast: equilibria. From there on it is a motion, whose steps are short where
# the platform goes and where the base is let go. F_C is the weight of the model itself: with an
# error of 0.02 N a tenth of a kilogram would be 0.9 m elsewhere after 3 s.


# %%
class Course:
    """Where ball, base and a tip are, from system to system, and pictures on the way."""

    def __init__(self, gripper, pictures=()):
        self.gripper, self.pictures = gripper, tuple(pictures)
        self.rows, self.shapes, self.seconds = {}, {}, {}

    def go(self, problem, until, **options):
        """Continue a problem to a time; add its steps and pictures."""
        g, system, start = self.gripper, problem.system, time.perf_counter()
        problem.record("ball", g.ball.centre)
        problem.record("base", g.base.centre)
        length, half = actuator["LENGTH"], actuator["WIDTH"] / 2
        for name, X in (("tip", (length, 0.0, 0.0)), ("corner", (length, half, 0.0))):
            problem.record(name, g.fingers[0].at(hung(np.array(X), 0.0)))
        for name, what in g.watched(system).items():
            problem.record(name, what)
        self.draw(system)
        for stop in sorted({*(t for t in self.pictures if system.time < t < until), until}):
            problem.solve(to=stop, **options)
            self.draw(system)
            if options.get("adaptive"):
                options["step"] = np.diff(problem.history.time[-2:])[0]
        history = problem.history
        self.rows.setdefault("time", []).append(history.time)
        for name in history.names:
            self.rows.setdefault(name, []).append(history[name].reshape(len(history.time), -1))
        self.seconds[until] = time.perf_counter() - start, len(history.steps), history.iterations

    def draw(self, system):
        """Keep a picture of the present state, if it is one that was asked for."""
        if system.time in self.pictures:
            bodies = self.gripper.bodies
            self.shapes[system.time] = [sa.sample(system, body, divisions=1) for body in bodies]

    def __getitem__(self, name):
        return np.concatenate(self.rows[name])

    def at(self, time, name):
        """Return what was recorded last at a time."""
        return self[name][np.flatnonzero(np.isclose(self["time"], time))[-1]]


def let_go(gripper, system):
    """Give all that is lifted its velocity; a ball without contact falls on."""
    velocity = SPEED * rigid_modes(system)[1]
    if not gripper.contacts:
        unknowns = system.unknowns
        at, of_ball = unknowns.find(gripper.ball.name) - unknowns.first, np.zeros(unknowns.rows)
        of_ball[at] = unknowns.from_local(velocity)[at]
        velocity -= unknowns.local(of_ball)
    system.rate[:] += velocity


def sequence(gripper, load=0.05, step=0.05, adaptive=None, rtol=1e-4, pictures=(), until=END):
    """Run the sequence up to a time; return its course and the last system."""
    g, course, options = gripper, Course(gripper, pictures), {"options": DIRECT}
    lifted = g.bodies if g.contacts else g.bodies[:-1]
    motion = {"step": step, "adaptive": adaptive, "rtol": rtol}
    system = g.system(held=[g.base] if g.contacts else [g.base, g.ball])
    statics = sa.StaticProblem(system, prefix="inflate_", **options)
    course.go(statics, min(until, DROPPED - 0.1), step=load)
    for stop in (DROPPED, LIFTED, END):
        if system.time >= until:
            break
        if stop == LIFTED:
            g.away.value, g.guide.value = -1.0, 0.0
            system = system if g.contacts else moved_on(system, g.system(held=[g.base]))
        elif stop == END:
            force = g.weight(system, *lifted)
            lift = sa.force(g.base.centre, (0.0, force, 0.0), name="F_C")
            system = moved_on(system, g.system(lift))
            let_go(g, system)
        # near rest nothing is left to measure residuals by but short steps
        motion_options = {**DIRECT, "snes_rtol": 1e-6, "snes_stol": 1e-9} if g.contacts else DIRECT
        problem = sa.DynamicProblem(
            system, prefix="grip_", spectral_radius=RADIUS, options=motion_options
        )
        course.go(problem, min(until, stop), **motion)
    return course, system


# %%
def curves(course, twin):
    """Draw gas, ball, base and the forces on the ball, with contact, and the ball without."""
    t, heavy = course["time"], GRAVITY * DENSITY * 4 / 3 * np.pi * BALL**3
    moved = {name: 1e3 * (course[name] - course[name][0]) for name in ("ball", "base", "tip")}
    later = LIFTED if t[-1] > LIFTED else DROPPED
    falls = (twin["time"] >= DROPPED - 0.5) & (twin["time"] <= LIFTED)
    fallen = twin["ball"][falls, 1] - twin["ball"][0, 1]
    normal, grip = course["normal"], course["grip"]
    with sa.view.Diagram("results/pneumatic_gripper.png", 4, 2, height=8.0) as axes:
        axes[0].plot(t, [gas(x) / 1e3 for x in t])
        axes[0].set(ylabel="p [kPa]", title="gas in all chambers")
        axes[1].plot(t, moved["base"][:, 1], label="base, y")
        axes[1].plot(t, moved["tip"][:, 1], label="tip of a finger, y")
        axes[1].plot(t, -moved["tip"][:, 0], label="tip, towards the axis")
        axes[1].set(ylabel="displacement [mm]", title="base and tip")
        for ax, part, when in (
            (axes[2], t <= later, f"up to {later:g} s"),
            (axes[3], t >= later, f"from {later:g} s on"),
        ):
            ax.plot(t[part], moved["ball"][part], label=["x", "y", "z"])
            ax.set(ylabel="displacement [mm]", title=f"ball, {when}")
        shown = [1] if SIXTH else [0, 1, 2]
        for ax, force, title in (
            (axes[4], normal, "pressure of the grip"),
            (axes[5], grip - normal, "friction of the grip"),
            (axes[6], grip, "grip"),
        ):
            ax.plot(t, force[:, shown], label=["xyz"[k] for k in shown])
            ax.set(ylabel="force on the ball [N]", title=title)
        axes[6].plot(t, course["platform"][:, 1], label="platform, y")
        axes[6].axhline(heavy, color="k", lw=0.8, ls=":", label="weight of the ball")
        axes[7].plot(twin["time"][falls], fallen)
        axes[7].set(ylabel="displacement y [m]", title="ball without contact")
        for ax in axes:
            ax.set(xlabel="time [s]")


# %%
def report(title, course, times):
    """Print where things are at some times, and what the parts took."""
    forces = "grip" in course.rows
    heads = "t, s", "p, kPa:g", "tip, inwards:.3f", "tip, y:.3f", "base, y:.3f", "ball, y:.3f"
    table = sa.Table(title, *heads, *("grip on ball, N:.4f", "platform, N:.4f")[: 2 * forces])
    for t in times:
        tip, base, ball = (1e3 * (course.at(t, n) - course[n][0]) for n in ("tip", "base", "ball"))
        on_ball = [course.at(t, n)[1] for n in ("grip", "platform") if forces]
        table.add(t, gas(t) / 1e3, -tip[0], tip[1], base[1], ball[1], *on_ball)
    sa.root_print(table)
    for until, (seconds, steps, iterations) in course.seconds.items():
        sa.root_print(f"  to {until} s: {steps} steps, {iterations} iterations, {seconds:.1f} s")


# %%
def main(short=SHORT, sixth=SIXTH):
    """Bend one actuator, run the sequence with contact and without; return both courses."""
    for name, case in {} if short else ALONE.items():
        rows, size, seconds = alone(*case)
        sa.root_print(f"One actuator, {name}, {size} unknowns, {seconds:.0f} s:")
        for kilo, (top, low) in rows.items():
            sa.root_print(
                f"  {kilo} kPa: x and z of the tip {top[0]:.2f}, {top[2]:.2f} mm on top, "
                f"{low[0]:.2f}, {low[2]:.2f} mm at the palm"
            )
    stops = (0.7, 1.0, 1.9, 2.0, 3.0, 4.0, 5.0, 6.0)
    apart = {"0 s": 0.0, "2 s": DROPPED, "2.1 s": DROPPED + 0.1}
    twin, _ = sequence(Gripper(touch=False, sixth=sixth), pictures=apart.values())
    report("Without contact: displacements, mm", twin, (0.7, 1.0, 2.0, 2.1, 3.0, 6.0))
    until = DROPPED + 0.02 if short else END
    seen = {f"{t:g} s": t for t in ((0.0, 1.0, until) if short else (0.0, 0.7, 3.0, 4.0, 5.0, 6.0))}
    # a tenth of a second at most in the lift: longer steps may lose what presses
    moving = [] if short else [*np.arange(11) / 10, DROPPED, 2.02, 2.5, *np.arange(30, 61) / 10]
    gripper = Gripper(sixth=sixth)
    course, _ = sequence(
        gripper, step=1e-4, adaptive=True, pictures=[*seen.values(), *moving], until=until
    )
    report("With contact", course, [t for t in (*stops[:4], 2.02, *stops[4:]) if t <= until])
    curves(course, twin)
    look = {"field": "von_mises", "label": "von Mises stress", "unit": "Pa", **VIEW}
    for name, times, shapes in (("shapes", seen, course.shapes), ("apart", apart, twin.shapes)):
        sa.view.render(
            {caption: shapes[t] for caption, t in times.items()},
            f"results/pneumatic_gripper_{name}.png",
            title=f"With{'out' if name == 'apart' else ''} contact",
            **look,
        )
    if moving:
        frames = [course.shapes[t] for t in moving]
        sa.view.animate(
            frames, "results/pneumatic_gripper.gif", times=moving, time_unit="s", fps=6.0, **look
        )
    sa.root_print("Files: results/pneumatic_gripper.png, .gif, _shapes.png, _apart.png")
    return course, twin


# %%
if __name__ == "__main__":
    course, twin = main()
    t, base, ball = twin["time"], twin["base"], twin["ball"]
    fall = ball[:, 1] - ball[0, 1] + GRAVITY / 2 * np.maximum(t - DROPPED, 0.0) ** 2
    assert abs(fall).max() < 1e-6  # m: free from 2 s on
    assert abs(base[-1] - base[0] - [0.0, SPEED * (END - LIFTED), 0.0]).max() < 1e-6
    heavy = GRAVITY * DENSITY * 4 / 3 * np.pi * BALL**3
    on_platform = sum(course.at(DROPPED - 0.1, name)[1] for name in ("grip", "platform"))
    assert abs(on_platform / heavy - 1) < 1e-3
    assert abs(course["ball"][:, [0, 2]]).max() < 0.3e-3
    x, _, z = course["corner"].T  # fingers do not meet: each stays in its third
    assert (np.sqrt(3.0) * x > abs(z)).all()
    drop = course["ball"][0, 1] - course.at(2.02 if SHORT else LIFTED, "ball")[1]
    assert 0.1e-3 < drop < 3e-3
    if not SHORT:
        late = course["time"] > 5.0
        assert abs(course["grip"][late, 1].mean() / heavy - 1) < 0.01
        way = course["ball"][-1, 1] - course["ball"][0, 1] + drop
        assert abs(way - SPEED * (END - LIFTED)) < 1e-4
