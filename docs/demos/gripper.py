# SPDX-License-Identifier: BSD-3-Clause
"""Gripper of curved flexures: planar bodies, three models, inverse analysis, exact flexures.

A micro-gripper is two mirrored four-bar linkages whose hinges are circular flexures
(Cammarata et al., Micromachines 13 (2022) 2172). A planar body is a node (x, y, theta), a
flexure a virtual work between two of them; what the paper programs by hand - three parts of a
tangent, a Newton loop - comes from one SymPy expression and PETSc.

Takes 15 s on one core.
"""

# %% [markdown]
# # Gripper of curved flexures
#
# **What you learn**: rigid bodies in the plane without a mesh, flexures, load paths with warm
# start, finding the force for a given opening, choosing what Newton's method does by PETSc
# options, and checking a simplified model against geometrically exact cables. Units: mm, uN.
# `-short` takes fewer points on paths and curves.

# %%
import math
import sys

import numpy as np

import symancf as sa
from symancf.extensions.flexure import export, ground_wrench, symbolic, tangent_parts

SHORT = "-short" in sys.argv

# %% [markdown]
# ## Data (Table 1 of the paper)
# Four flexures of radius 0.2 mm join the ground (1) and three bodies in a ring; each runs
# counter-clockwise about its centre, from the polar angle `start`, through `angle`.

# %%
RADIUS, BASE, HEIGHT = 0.2, 25.0, 5.0  # mm; cross-section in um, bent over its height
YOUNG = {"silicon": 100e9, "nylon": 3.84e9}  # Pa
ORIGIN = {1: (0.0, 0.0), 2: (1.5, 0.2), 3: (1.8, 1.5), 4: (1.0, 1.5)}
EFFECTOR = (-1.3571, 1.6991)  # on body 3
HINGES = {  # pair of bodies, centre, start and angle [degrees]
    "a": ((1, 2), (0.5, 0.0), 22.5, 300.0),
    "b": ((2, 3), (2 * math.cos(math.pi / 8), 2 * math.sin(math.pi / 8)), 132.0, 320.0),
    "c": ((3, 4), (0.5 + 0.8 * math.cos(math.pi / 6), 1.9), -15.0, 330.0),
    "d": ((4, 1), (0.5, 1.5), 240.0, 250.0),
}
MODELS = ("linear", "partial", "consistent")
OPEN = -60  # uN, the end of the opening movement


def bending_stiffness(young=YOUNG["silicon"], base=BASE, height=HEIGHT):
    """Return EI [uN mm^2] of a section given in um."""
    return young * base * height**3 / 12 * 1e-12


# %% [markdown]
# ## One half, and its mirror image
# `body.at(...)` is a point in the frame of a body, `sa.ground.at(...)` one of the ground. The
# mirrored half has the same arcs run clockwise: a negative angle.


# %%
def linkage(EI, model="partial", mirror=False, **options):
    """Return bodies and flexures of one half; x is reversed in the mirrored one."""
    side = np.array([-1.0 if mirror else 1.0, 1.0])
    mark = "'" if mirror else ""
    bodies = {
        k: sa.PlanarBody(position=side * ORIGIN[k], name=f"body {k}{mark}") for k in (2, 3, 4)
    }
    flexures = []
    for name, (pair, centre, start, angle) in HINGES.items():
        polar = np.radians([start, start + angle])
        X = centre + RADIUS * np.stack([np.cos(polar), np.sin(polar)], axis=1)
        ends = [
            (sa.ground if k == 1 else bodies[k]).at(side * (x - ORIGIN[k]))
            for k, x in zip(pair, X, strict=True)
        ]
        turn = math.radians(angle) * side[0]
        flexures.append(
            sa.Flexure.arc(
                *ends, RADIUS, turn, EI=EI, model=model, name=f"flexure {name}{mark}", **options
            )
        )
    return bodies, flexures, bodies[3].at(side * EFFECTOR)


def half_gripper(EI, model="partial", **options):
    """Return a system with the vertical force F [uN] on body 2, F itself and the effector."""
    bodies, flexures, effector = linkage(EI, model, **options)
    force = sa.Parameter("F", 0.0)
    load = sa.force(bodies[2].at((0, 0)), (0.0, force))
    return sa.System(*bodies.values(), terms=[*flexures, load]), force, effector


# %% [markdown]
# ## Load paths
# The force goes up in steps of 1 uN until the effector passes x = 0, then down from the
# undeformed state; each step starts from the last (warm start).


# %%
def movement(model, EI):
    """Return forces and effector positions of the opening and closing movement."""
    system, force, effector = half_gripper(EI, model)
    problem = sa.StaticProblem(system, prefix=f"{model}_")
    path = {}
    for way in (1, -1):
        system.state[:] = 0.0
        F, x = 0, 1.0
        while x > 0 and F > OPEN:
            force.value = float(F)
            problem.solve()
            path[F] = system.position(effector)[0, :2]
            F, x = F + way, path[F][0]
    forces = sorted(path)
    return np.array(forces), np.array([path[F] for F in forces])


# %% [markdown]
# ## The force that closes the gripper
# The inverse problem: x of the effector is prescribed and the force is an unknown, a scalar
# node of the same system. With `EI` a `Parameter`, materials and sections change without
# compiling anything.


# %%
def closing(model, EI):
    """Return a function EI -> closing force, and the system."""
    bodies, flexures, effector = linkage(EI, model)
    F = sa.Factor("closing force")
    terms = [
        *flexures,
        sa.force(bodies[2].at((0, 0)), (0.0, 1.0), factor=F),
        sa.displacement_control(
            effector, "x", position=lambda t: effector.X[0, 0] * (1 - t), release=F
        ),
    ]
    system = sa.System(*bodies.values(), terms=terms)
    problem = sa.StaticProblem(system, prefix=f"closing_{model}_")

    def solve(stiffness):
        EI.value = stiffness
        system.time = 0.0
        system.state[:] = 0.0
        problem.solve(to=1.0, step=0.25)
        return F.value(system)

    return solve, system, flexures


# %% [markdown]
# ## The truth: geometrically exact flexures
# The same bodies, but each flexure is a chain of ANCF cables with the signed curvature of a
# curve in the plane, clamped to its bodies by constraints.


# %%
def exact_gripper(elements, loads, EI=None, EA=YOUNG["silicon"] * BASE * HEIGHT * 1e-6):
    """Return the system and the effector of one half with cables; `loads(bodies, effector)`."""
    EI = bending_stiffness() if EI is None else EI
    bodies = {k: sa.PlanarBody(position=ORIGIN[k], name=f"body {k}") for k in (2, 3, 4)}
    effector = bodies[3].at(EFFECTOR)
    cables, terms = [], loads(bodies, effector)
    for name, (pair, centre, start, angle) in HINGES.items():
        centre = np.append(centre, 0.0)
        polar = np.radians(start + angle * np.linspace(0.0, 1.0, elements + 1))
        X = centre + RADIUS * np.stack([np.cos(polar), np.sin(polar), 0 * polar], axis=1)
        lines = np.stack([np.arange(elements), np.arange(1, elements + 1)], axis=1)
        mesh = sa.Mesh.from_arrays(X, {"line": lines}, name=name, check=False)

        def tangent(x, centre=centre):
            return np.cross([0.0, 0.0, 1.0], x - centre) / RADIUS

        cable = sa.Body(
            mesh["all"],
            sa.elements.ancf_cable,
            sa.energies.cable(curvature="plane"),
            name=f"flexure {name}",
            direction=tangent,
            EI=EI,
            EA=EA,
        )
        cables.append(cable)
        terms.append(sa.planar(cable))
        for x, k in zip((X[0], X[-1]), pair, strict=True):
            terms.append(sa.joints.clamp(cable.at(x), sa.ground if k == 1 else bodies[k]))
    return sa.System(*bodies.values(), *cables, terms=terms), effector


def exact_closing_force(elements):
    """Return the closing force [uN] with `elements` cables per flexure."""
    F = sa.Factor("closing force")

    def loads(bodies, effector):
        target = sa.displacement_control(
            effector, "x", position=lambda t: effector.X[0, 0] * (1 - t), release=F
        )
        return [sa.force(bodies[2].at((0, 0)), (0.0, 1.0), factor=F), target]

    system, _ = exact_gripper(elements, loads)
    sa.StaticProblem(system, prefix="exact_closing_").solve(step=0.1)
    return F.value(system)


def exact_movement(elements, step=10 if SHORT else 2):
    """Return forces and effector positions with geometrically exact flexures."""
    force = sa.Parameter("F", 0.0)
    system, effector = exact_gripper(
        elements, lambda bodies, _: [sa.force(bodies[2].at((0, 0)), (0.0, force))]
    )
    problem = sa.StaticProblem(system, prefix="exact_")
    path = {}
    for loads in (range(0, 71, step), range(0, OPEN - 1, -step)):
        system.state[:] = 0.0
        for F in loads:
            force.value = float(F)
            problem.solve()
            path[F] = system.position(effector)[0, :2]
    forces = sorted(path)
    return np.array(forces), np.array([path[F] for F in forces])


# %% [markdown]
# ## What Newton's method does, by options
# The option `flexure_tangent K_I` leaves the derivatives of frames and levers out of the tangent;
# a start from the undeformed state is a state set to zero; the constant tangent is PETSc's
# `snes_lag_jacobian -2`. All stop when the step is below 1e-8 of the solution. On the command
# line the same options have the problem's prefix: `-strategy_flexure_tangent K_I`.

# %%
STOP = {"snes_rtol": 1e-50, "snes_stol": 1e-8, "snes_linesearch_type": "basic"}
CONSTANT = {"snes_lag_jacobian": -2, "snes_lag_jacobian_persists": True, "snes_max_it": 2000}
STRATEGIES = {  # options, warm start
    "K, from undeformed": ({}, False),
    "K_I, from undeformed": ({"flexure_tangent": "K_I"}, False),
    "K, from previous": ({}, True),
    "K_I, from previous": ({"flexure_tangent": "K_I"}, True),
    "constant, from undeformed": (CONSTANT, False),
}


def iterations(options, warm):
    """Return loads and the number of iterations at each, as far as they converge."""
    system, force, _ = half_gripper(bending_stiffness())
    problem = sa.StaticProblem(system, prefix="strategy_", options={**STOP, **options})
    problem.solve()
    counts = {}
    for F in range(1, 21 if SHORT else 78):
        force.value = float(F)
        if not warm:
            system.state[:] = 0.0
        try:
            problem.solve(to=1.0, smallest=1.0)
        except sa.ConvergenceError as error:
            sa.root_print(f"    {F} uN: {error}")
            break
        counts[F] = problem.history.steps[-1].iterations
    return counts


# %% [markdown]
# ## Pictures


# %%
def outline(system, bodies, flexures, effector):
    """Return lines of bodies (through their attachments) and of flexures in the present state."""
    lines = []
    for body in bodies.values():
        places = [p for f in flexures for p in f.ends if getattr(p, "body", None) is body]
        places += [effector] if effector.body is body else []
        X = np.array([system.position(p)[0, :2] for p in places])
        centre = X.mean(axis=0)
        order = np.argsort(np.arctan2(*(X - centre).T[::-1]))
        lines.append(X[np.append(order, order[0])])
    return lines, [f.axis(system) for f in flexures]


def whole_gripper(EI):
    """Return a function F -> outlines of both halves, with the forces on both."""
    force = sa.Parameter("F", 0.0)
    halves = [linkage(EI, "partial", mirror) for mirror in (False, True)]
    terms = [t for _, flexures, _ in halves for t in flexures]
    terms += [sa.force(bodies[2].at((0, 0)), (0.0, force)) for bodies, _, _ in halves]
    system = sa.System(*(b for bodies, _, _ in halves for b in bodies.values()), terms=terms)
    problem = sa.StaticProblem(system, prefix="whole_")

    def at(F):
        force.value = F
        problem.solve()
        tips = [system.position(effector)[0, :2] for _, _, effector in halves]
        assert np.abs(tips[0] - tips[1] * [-1, 1]).max() < 1e-12  # the halves stay mirrored
        return [outline(system, *half) for half in halves]

    return at


def draw(ax, outlines, colour, line="-"):
    """Draw bodies and flexures."""
    for bodies, flexures in outlines:
        for x in bodies:
            ax.fill(*x.T, color=colour, alpha=0.12, lw=0)
            ax.plot(*x.T, line, color=colour, lw=0.7)
        for x in flexures:
            ax.plot(*x.T, line, color=colour)


def animate(frames):
    """Write the outlines [(F, outlines), ...] as a film, there and back."""

    def shown(ax, frame):
        F, outlines = frame
        draw(ax, frames[0][1], "0.7", ":")
        draw(ax, outlines, "C0")
        ax.set(xlim=(-2.5, 2.5), ylim=(-0.4, 3.8), aspect="equal", xlabel="x [mm]")
        ax.set(ylabel="y [mm]", title=f"F = {F:+.0f} µN")

    both_ways = [*frames, *frames[-2:0:-1]]
    sa.view.draw_film(both_ways, shown, "results/gripper.gif", height=3.2)


def picture(paths, forces, at, counts, sections):
    """Draw shapes, workspace, forces, iterations and the study of cross-sections."""
    undeformed, closed, opened = at
    with sa.view.Diagram("results/gripper.png", 3, 2, height=8.4) as axes:
        for ax, shape, colour, title in (
            (axes[0], closed, "C0", f"closed by {forces['partial']:.1f} µN"),
            (axes[1], opened, "C1", f"opened by {-OPEN - 1} µN"),
        ):
            draw(ax, undeformed, "0.7", ":")
            draw(ax, shape, colour)
            tips = paths["partial"][1]
            for side in (1, -1):
                ax.plot(side * tips[:, 0], tips[:, 1], "k", lw=0.9)
            ax.set(aspect="equal", xlabel="x [mm]", ylabel="y [mm]", title=title)
            ax.set(xlim=(-2.3, 2.3), ylim=(-0.4, 3.6))
        lines = {"linear": "--", "partial": "-", "consistent": "-.", "exact": "k-"}
        for name, (F, X) in paths.items():
            label = f"{name}, closes at {forces[name]:.2f} µN"
            axes[2].plot(X[:, 0], X[:, 1], lines[name], label=name)
            axes[3].plot(X[:, 0], F, lines[name], label=label)
        axes[2].set(title="way of the tip", xlabel="x [mm]", ylabel="y [mm]")
        axes[3].set(title="force on the lever, silicon", xlabel="x of the tip [mm]")
        axes[3].set(ylabel="F [µN]")
        for name, found in counts.items():
            axes[4].semilogy(list(found), list(found.values()), label=name)
        axes[4].set(title="iterations of Newton's method, partial model", xlabel="F [µN]")
        heights, bases, force, stress = sections
        ax, slope = axes[5], stress[-1] / heights[-1]
        levels = ax.contour(bases, heights, force, [10, 25, 50, 77, 150, 300, 600], colors="C0")
        ax.clabel(levels, fmt="%g µN", fontsize=7)
        ax.set(title="force that closes it", xlabel="base [µm]", ylabel="height [µm]")
        twin = ax.secondary_yaxis("right", functions=(lambda h: slope * h, lambda s: s / slope))
        twin.set(ylabel="largest stress [MPa]")


# %%
def closing_forces(stiffness):
    """Print the forces that close the gripper; return them by model, material and cables."""
    EI = stiffness.value
    sa.root_print("Closing forces, the force as an unknown")
    heads = "silicon:.3f", "nylon:.4f", "error [%]:+.3f"
    table = sa.Table("Force that closes the gripper [uN]", "flexures", *heads)
    forces = {}
    for model in MODELS:
        solve, *_ = closing(model, stiffness)
        forces[model] = solve(EI)
        forces[model, "nylon"] = solve(bending_stiffness(YOUNG["nylon"]))
    for n in (8, 16, 32, 64):
        forces[n] = exact_closing_force(n)
    forces["exact"] = forces[64]
    for model in MODELS:
        error = 100 * (forces[model] / forces["exact"] - 1)
        table.add(model, forces[model], forces[model, "nylon"], error)
    for n in (8, 16, 32, 64):
        error = 100 * (forces[n] / forces["exact"] - 1)
        table.add(f"exact, {n} cables each", forces[n], None, error)
    sa.root_print(table)
    return forces


# %%
def main():
    """Solve everything, print tables, write the pictures; return the closing forces."""
    EI = bending_stiffness()
    sa.root_print("The tangent of a flexure (partial model), in symbols:")
    parts = symbolic("partial")
    sa.root_print(f"  K_II, column phi_a: {list(parts.K_II[:2, 2])}")
    sa.root_print(f"  K_III = L J, row phi_a of L: {list(parts.L[2, :])}")
    system, force, _ = half_gripper(EI)
    force.value = 50.0
    sa.StaticProblem(system, prefix="parts_").solve()
    sizes = {name: np.abs(part).max() for name, part in tangent_parts(system).items()}
    sa.root_print(f"  largest entries at 50 uN: {sizes}")
    sa.root_print(f"  the ground's force at 50 uN: {ground_wrench(system)[:2]}, not (0, -50)\n")
    export(system, "results/gripper_c")  # for docs/examples/controller.c

    sa.root_print("Opening and closing in steps of 1 uN")
    paths = {model: movement(model, EI) for model in MODELS}
    paths["exact"] = exact_movement(24)

    stiffness = sa.Parameter("EI", EI)
    forces = closing_forces(stiffness)

    sa.root_print(
        "\nIterations of Newton's method, loads 1 to 77 uN (`-short`: 20 uN), partial model"
    )
    counts = {}
    for name, strategy in STRATEGIES.items():
        counts[name] = iterations(*strategy)
        tens = [counts[name].get(F, "-") for F in range(10, 78, 10)]
        sa.root_print(
            f"  {name:26s} {sum(counts[name].values()):6d} in all; at 10, 20, ...: {tens}"
        )

    # cross-sections: the force is proportional to EI, the stress E h M/(2 EI) to the height
    solve, closed, flexures = closing("partial", stiffness)
    count = 3 if SHORT else 9
    heights, bases = np.linspace(2, 10, count), np.linspace(10, 50, count)
    force = np.array([[solve(bending_stiffness(base=b, height=h)) for b in bases] for h in heights])
    bent = max(np.abs(f.bending_moment(closed)).max() for f in flexures) / stiffness.value  # 1/mm
    stress = YOUNG["silicon"] * 1e-6 * bent * heights * 1e-3 / 2  # MPa
    ratio = force / bending_stiffness(base=bases, height=heights[:, None])
    assert np.allclose(ratio, ratio[0, 0], rtol=1e-9)

    at = whole_gripper(EI)
    ends = (0.0, forces["partial"], OPEN + 1.0)
    count = 8 if SHORT else 20
    loads = [*np.linspace(0, ends[1], count), *np.linspace(ends[1], ends[2], 2 * count)]
    frames = [(F, at(F)) for F in loads]
    shapes = (frames[0][1], frames[count - 1][1], frames[-1][1])
    sections = (heights, bases, force, stress)
    picture(paths, forces, shapes, counts, sections)
    animate(frames[::2])
    sa.root_print("Pictures: results/gripper.png, results/gripper.gif")
    return forces


# %%
if __name__ == "__main__":
    found = main()
    assert abs(found["linear"] - 63.946) < 5e-4
    assert abs(found["partial"] - 77.034) < 5e-4
    assert abs(found["exact"] / 69.856 - 1) < 2e-5
