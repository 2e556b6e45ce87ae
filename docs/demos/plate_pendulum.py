# SPDX-License-Identifier: BSD-3-Clause
"""Plate pendulum: a thin plate falls about its corner, flat and curved, with all its energy.

The first two examples of Ghoneimy et al. (Appl. Syst. Innov. 8 (2025) 42): a plate of thin ANCF
elements, flat or a part of a cylinder, hangs on a spherical joint at one corner. Runge-Kutta of
order 8 keeps the energy to nine digits and every digit of a second implementation.

Takes 45 s on one core.
"""

# %% [markdown]
# # Plate pendulum
#
# **What you learn**: meshes and curved references from arrays, motions by an explicit method of
# high order, loads that are switched on, the audit of the energy, animations. Run it with
# `mpirun -n 2 python docs/demos/plate_pendulum.py`; `-short` stops early, `-n 16` moves a mesh of
# 16 x 16 elements instead.

# %%
import sys

import numpy as np

import symancf as sa
from symancf.energies import kirchhoff

SHORT = "-short" in sys.argv
CELLS = int(sys.argv[sys.argv.index("-n") + 1]) if "-n" in sys.argv else None

# Far corner x = y, z [m], kinetic, strain and potential energy [J] of the flat plate: an
# second implementation with the same 4 x 4 Gauss points and the same measure of curvature.
REFERENCE = {
    0.1: (0.30000, -0.04905, 3.27745, 0.07095, -3.34839),
    0.2: (0.29568, -0.19618, 10.49096, 1.99719, -12.48815),
    0.3: (0.23272, -0.43761, 12.73773, 10.14836, -22.88609),
    0.4: (-0.01942, -0.54459, 14.03297, 11.49843, -25.53140),
    0.5: (-0.10779, -0.48241, 14.08405, 4.58045, -18.66450),
    0.6: (-0.28283, -0.33159, 7.31703, 3.66651, -10.98353),
}

# %% [markdown]
# ## The plate
# 8 x 8 elements, 0.3 x 0.3 x 0.01 m. The curved plate lies on a cylinder about the y axis; the
# paper does not give its radius: 0.3 m is assumed. `direction` gives the normals, so that the
# reference is smooth; it is free of stress by construction. The paper divides the curvature by
# the cube of the normal's length, `curvature="n3"`. On finer meshes the corner is stretched so much
# that the membrane there becomes a thread without area or normal: they take `curvature="n0"`, which
# divides by nothing.

# %%
SIDE, RADIUS = 0.3, 0.3
CENTRE = np.array([0.0, 0.0, RADIUS])  # of the cylinder, so far below the plate


def pendulum(young, curved=False, cells=8, curvature="n3"):
    """Return the system, its plate, the far corner and the acceleration of gravity."""
    s = np.linspace(0.0, SIDE, cells + 1)
    y, x = (a.ravel() for a in np.meshgrid(s, s, indexing="ij"))
    points = np.stack([x, y, 0 * x], axis=1)
    options = {}
    if curved:
        angle = x / RADIUS
        points = np.stack([RADIUS * np.sin(angle), y, RADIUS * (np.cos(angle) - 1)], axis=1)
        options["direction"] = lambda X: X * (1.0, 0.0, 1.0) + CENTRE
    first = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    quads = first[:, None] + [0, 1, cells + 2, cells + 1]
    corners = {"hinge": ("vertex", [0]), "far": ("vertex", [(cells + 1) ** 2 - 1])}
    mesh = sa.Mesh.from_arrays(points, {"quad": quads}, regions=corners, name="plate")
    plate = sa.Body(
        mesh["all"],
        sa.elements.ancf_thin_plate,
        kirchhoff(curvature=curvature),
        name="plate",
        E=young,
        nu=0.3,
        thickness=0.01,
        rho=7810.0,
        **options,
    )
    g = sa.Parameter("g", 0.0)
    hinge = sa.fix(plate["hinge"], dofs="position")  # a spherical joint: slopes are free
    return sa.System(plate, terms=[hinge, sa.gravity((0.0, 0.0, g))]), plate, g


# %% [markdown]
# ## The motion
# `8vr` is Verner's method of order 8 in PETSc's TS. The plate needs no multipliers - the hinge
# fixes three coordinates - so that nothing has to be stabilised. `solve` is called again and
# again: the motion continues where it was. The curved plate is left alone for 0.1 s, then gravity
# is switched on by the value of a `Parameter`.


# %%
def watched(system, plate, until, frames=4 if SHORT else 40):
    """Return a problem that records energies and states."""
    problem = sa.DynamicProblem(system, method="8vr", prefix="pendulum_")
    problem.record("corner", plate["far"])
    problem.record("T", lambda: problem.energies.kinetic)
    problem.record("U", lambda: problem.energies.strain)
    problem.record("V", lambda: system.energies()["gravity:plate"])
    states, pause = [], until / frames

    def keep(step):
        if step.time >= len(states) * pause - 1e-12:
            states.append((step.time, sa.sample(system, plate, divisions=2)))

    problem.monitor(keep)
    return problem, states


def flat(until=0.6, **options):
    """Move the flat plate; return the history, states, and results at tenths of a second."""
    system, plate, g = pendulum(1e5, **options)
    g.value = -9.81
    problem, states = watched(system, plate, until)
    rows = {}
    for time in REFERENCE:
        if time < until + 1e-9:
            problem.solve(to=time, step=1e-4, rtol=1e-7)
            x, y, z = system.position(plate["far"])[0]
            rows[time] = (x, z, *(problem.history[name][-1] for name in "TUV"))
            # the diagonal is a line of symmetry, which the folds of fine meshes leave by round-off
            assert abs(x - y) < 1e-6 or (options and time > 0.35)
    return problem.history, states, rows


def curved(until=0.7):
    """Move the curved plate; return the history, states, and the strain energy at 0.1 s."""
    system, plate, g = pendulum(1e7, curved=True)
    problem, states = watched(system, plate, until)
    problem.solve(to=0.1, step=1e-3, rtol=1e-7)
    quiet = np.abs(problem.history["U"]).max()
    g.value = -9.81
    problem.solve(to=until, step=1e-5, rtol=1e-6)
    return problem.history, states, quiet


def drift(history):
    """Return the largest change of the total energy, relative to that of position."""
    total = history["T"] + history["U"] + history["V"]
    return np.abs(total - total[0]).max() / np.abs(history["V"]).max()


# %% [markdown]
# ## Pictures


# %%
def curves(histories):
    """Draw the energies and the path of the far corner."""
    energies = {"T": "kinetic", "U": "strain", "V": "potential"}
    with sa.view.Diagram("results/plate_pendulum.png", 2, 2, height=4.8) as axes:
        for (title, history), (left, right) in zip(
            histories.items(), axes.reshape(2, 2), strict=True
        ):
            for name, label in energies.items():
                left.plot(history.time, history[name], label=label)
            left.plot(history.time, sum(history[name] for name in energies), "k--", label="total")
            left.set(title=f"{title} plate", ylabel="energy [J]")
            corner = history["corner"].reshape(-1, 3)
            for k, letter in enumerate("xyz"):
                right.plot(history.time, corner[:, k], ("-", "--", "-")[k], label=letter)
            right.set(title=f"{title} plate, far corner", ylabel="position [m]")
        times, found = list(REFERENCE), np.array(list(REFERENCE.values()))
        axes[0].plot(times, found[:, 2:], "ko", mfc="none")
        axes[1].plot(times, found[:, :2], "ko", mfc="none")
        axes[1].plot([], [], "ko", mfc="none", label="second implementation")
        axes[1].legend(loc="upper right")
        for ax in axes:
            ax.set(xlabel="time [s]")


# %%
def printed(title, rows, reference=None):
    """Print corner and energies at some times, each over what it should be where this is given."""
    heads = "x = y [m]:.5f", "z [m]:.5f", "T [J]:.5f", "U [J]:.5f", "V [J]:.5f"
    table = sa.Table(title, "t [s]", *heads)
    for time, row in rows.items():
        table.add(time, *row)
        if reference:
            table.add(None, *reference[time])
    sa.root_print(table)


# %%
def main(until=0.6, until_curved=0.7):
    """Move both plates, print the table, draw; return what is checked."""
    history, states, rows = flat(until)
    printed("Flat plate; second implementation below", rows, REFERENCE)
    sa.root_print(f"{len(history.steps)} steps; energy drifts by {drift(history):.1e} of |V|\n")

    bent, bent_states, quiet = curved(until_curved)
    sa.root_print(f"Curved plate: strain energy until gravity acts {quiet:.1e} J")
    sa.root_print(f"{len(bent.steps)} steps; energy drifts by {drift(bent):.1e} of |V|")

    curves({"flat": history, "curved": bent})
    for name, frames in (("plate_pendulum", states), ("curved_pendulum", bent_states)):
        sa.view.animate(frames, f"results/{name}.gif", time_unit="s", unit="m")
    sa.root_print("Files: results/plate_pendulum.png, plate_pendulum.gif, curved_pendulum.gif")
    error = max(np.abs(np.subtract(rows[t], REFERENCE[t])).max() for t in rows)
    return error, drift(history), quiet, drift(bent)


# %% [markdown]
# A mesh of other size has other numbers: the corner of a membrane that is fixed at a point does not
# converge. Until the plate folds, at about 0.35 s, they are close to those of 8 x 8.


# %%
def finer(cells, until):
    """Move a finer flat plate; return its distance from the coarse one at 0.2 s, and the drift."""
    history, _, rows = flat(until, cells=cells, curvature="n0")
    printed(f"{cells} x {cells} elements", rows)
    sa.root_print(f"{len(history.steps)} steps; energy drifts by {drift(history):.1e} of |V|")
    return np.abs(np.subtract(rows[0.2], REFERENCE[0.2])[:2]).max(), drift(history)


# %%
if __name__ == "__main__" and CELLS:
    apart, lost = finer(CELLS, 0.2 if SHORT else 0.6)
    assert apart < 1e-3
    assert lost < 1e-6
elif __name__ == "__main__":
    error, lost, quiet, lost_curved = main(0.2, 0.15) if SHORT else main()
    assert error < 1e-5
    assert lost < 1e-6
    assert quiet < 1e-20
    assert lost_curved < 1e-6
