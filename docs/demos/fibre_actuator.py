# SPDX-License-Identifier: BSD-3-Clause
"""Fibre-reinforced actuator: a half-round tube of Ecoflex, wound with threads, bends under 30 kPa.

Two helices keep the tube from getting wider, threads in its floor keep one side from getting
longer. Two meshes end at 178 and 185 degrees. Without helices it gets wider, and bends less.

Takes 3 min on one core.
"""

# %% [markdown]
# # Fibre-reinforced bending actuator
#
# **What you learn**: a helix on a section that is not round, threads that do not follow the mesh,
# an inextensible floor, a law of rubber from a test, how far a bend depends on the mesh. Run it
# with `mpirun -n 2 python docs/demos/fibre_actuator.py`; `-short` stops at 5 kPa, on a coarse mesh.

# %%
import sys

import numpy as np

import symancf as sa

SHORT = "-short" in sys.argv
INNER, WALL, LENGTH, CAP = 6.0, 3.0, 60.0, 5.0  # mm: bore, wall, length with the stiff end
PITCH, THREAD, FLOOR = 5.0, 100.0, 1000.0  # mm; N, stiffness of a thread, of one in the floor
FULL = 30.0  # kPa
DRAWN = (5.0,) if SHORT else (10.0, 20.0, 30.0)  # kPa
COARSE, FINE = (1, 4, 8 if SHORT else 12), (1, 6, 12)  # of 20 nodes: wall, quarter around, along
MESHES = {"coarse": COARSE} if SHORT else {"coarse": COARSE, "fine": FINE}

# %% [markdown]
# ## Ecoflex
# Ecoflex 00-50 has the nominal stress 0.0228, 0.0410 and 0.0790 MPa at the strains 0.5, 1 and 2
# (Marechal et al., Soft Robotics 8, 2021, 284-297). Yeoh's law with two terms has
# $P = 2\,(C_{10} + 2\,C_{20}(I_1 - 3))\,(\lambda - \lambda^{-2})$ where rubber is incompressible.

# %%
TESTED = {0.5: 0.02278, 1.0: 0.04095, 2.0: 0.07901}  # strain: MPa
ECOFLEX = {"C10": 0.0106, "C20": 2.3e-4, "C30": 0.0, "k": 1.0}  # MPa


def tension_test(strain):
    """Return the nominal stress of the law [MPa]."""
    x = 1.0 + strain
    slope = ECOFLEX["C10"] + 2 * ECOFLEX["C20"] * (x**2 + 2 / x - 3)
    return 2 * slope * (x - x**-2)


# %% [markdown]
# ## Section and threads
# A round tube becomes half-round by moving its points: three quarters of the circle become the
# vault, the rest the floor. A helix on the round tube moves with it: a path is any function of s.


# %%
def half_round(X):
    """Return points of a round tube moved to a half-round one with a floor below."""
    radius = np.hypot(X[:, 0], X[:, 1])
    drop, turn = radius - INNER, np.abs(np.arctan2(X[:, 0], X[:, 1])) / np.pi
    arc = np.minimum(turn / 0.75, 1.0) * np.pi / 2
    x = radius * np.where(turn < 0.75, np.sin(arc), 4 * (1 - turn))
    return np.stack([np.sign(X[:, 0]) * x, (radius + drop) * np.cos(arc) - drop, X[:, 2]], axis=1)


def wound(hand):
    """Return a helix of one hand on the half-round tube, up to the stiff end."""
    at, length = INNER + WALL / 2, LENGTH - CAP
    helix = sa.Helix(at, pitch=PITCH, length=length, hand=hand, start=90.0)
    return lambda s: half_round(helix(s))


def bore(tube):
    """Return points just outside the bore, and cells of four of them, to draw it."""
    turn, z = np.linspace(-np.pi, np.pi, 33), np.linspace(0.0, LENGTH, 25)
    rows = np.arange(turn.size * z.size).reshape(turn.size, z.size)
    turn, z = (x.ravel() for x in np.meshgrid(turn, z, indexing="ij"))
    at = INNER + 0.1 * WALL
    points = half_round(np.stack([at * np.sin(turn), at * np.cos(turn), z], axis=1))
    one, two = rows[:-1], rows[1:]
    cells = np.stack([one[:, :-1], two[:, :-1], two[:, 1:], one[:, 1:]], axis=2).reshape(-1, 4)
    return tube.at(points), {"quad": cells}


def actuator(cells, helices=True):
    """Return the system, its tube and the threads."""
    given = {"cell": "hexahedron20", "warp": half_round}
    mesh = sa.Mesh.tube(INNER, INNER + WALL, LENGTH, cells, **given)
    stiff = sa.Field(lambda X: ECOFLEX["C10"] * np.where(X[:, 2] > LENGTH - CAP, 50.0, 1.0))
    rubber = ECOFLEX | {"C10": stiff}
    tube = sa.Body(mesh["body"], sa.elements.hex20, sa.energies.yeoh(), name="tube", **rubber)
    across = 0.8 * (INNER + WALL / 2) * np.linspace(-1.0, 1.0, 5)
    lines = [[(x, -WALL / 2, 0.0), (x, -WALL / 2, LENGTH)] for x in across]
    threads = [sa.Thread(lines, tube, EA=FLOOR, name="floor")]
    if helices:
        threads.append(sa.Thread([wound(1), wound(-1)], tube, EA=THREAD, name="helices"))
    chamber = sa.Cavity(tube["inner"], caps="flat", pressure=lambda t: 1e-3 * t)  # t in kPa
    system = sa.System(tube, terms=[sa.fix(tube["z0"]), chamber, *threads])
    return system, tube, threads


# %% [markdown]
# ## The bend
# is the angle by which the stiff end turns; the width is that between two points of the walls.


# %%
def inflate(cells, pressures, helices=True):
    """Return rows (pressure [kPa], bend [degrees], width [mm]), tensions [N] and pictures."""
    system, tube, threads = actuator(cells, helices)
    problem = sa.StaticProblem(system, prefix="inflate_")
    floor = tube.at([(0.0, -WALL / 2, LENGTH * part) for part in (0.93, 0.99)])
    sides = tube.at([(sign * (INNER + 0.7 * WALL), 0.0, LENGTH / 2) for sign in (-1, 1)])
    rows, shapes, (wall, quads) = [], {}, bore(tube)
    for kilo in pressures:
        problem.solve(to=kilo, step=5.0)
        r = system.position(floor)
        end = r[1] - r[0]
        bend = np.degrees(np.arctan2(-end[1], end[2]) % (2 * np.pi))
        width = np.subtract(*system.position(sides)[::-1])[0]
        rows.append((kilo, bend, width))
        if kilo in DRAWN:
            inside = sa.output.Samples(system.position(wall), quads, {}, {})
            shown = [sa.sample(system, thread) for thread in threads]
            shapes[f"{kilo:.0f} kPa"] = [inside, *shown]
    return np.array(rows), {thread.name: thread.tensions(system) for thread in threads}, shapes


# %% [markdown]
# ## What it finds
# Both meshes reach 30 kPa; they bend by 17, 40, 69, 103, 140 and 178 degrees in steps of 5 kPa, the
# finer one by up to 6 degrees more. Between the turns the floor bulges, by which it waves, and the
# threads there carry -2.3 to 3.4 N: they stretch by 0.3 %.
#
# The floor is nearly inextensible. `sa.length(tube.along(line), per="cell")` in the place of each
# stiff thread keeps the length within each cell exactly, and leaves waves within a cell free: the
# coarse mesh then bends by 189 degrees, and takes 1.3 times as long.


# %%
def main():
    """Inflate with and without helices; print, draw; return rows by names."""
    upto = FULL / 6 if SHORT else FULL
    pressures = np.arange(5.0, upto + 1.0, 5.0)
    found, tensions = {}, {}
    for name, cells in MESHES.items():
        found[name], tensions[name], shapes = inflate(cells, pressures)
    bare = np.array([5.0])
    found["no helices"], _, _ = inflate(COARSE, bare, helices=False)
    heads = "pressure [kPa]", "bend [degrees]:.1f", "width [mm]:.2f"
    for name, rows in found.items():
        table = sa.Table(f"Actuator: {name}", *heads)
        for row in rows:
            table.add(*row)
        sa.root_print(table)
    largest = {name: part["helices"].max() / THREAD for name, part in tensions.items()}
    sa.root_print(f"Helices stretch by {100 * max(largest.values()):.1f} % at most")
    with sa.view.Diagram("results/fibre_actuator.png", width=4.2) as axes:
        for name, rows in found.items():
            axes.plot(*rows[:, :2].T, "o-", label=name)
        axes.set(xlabel="pressure [kPa]", ylabel="bend [degrees]")
    sa.view.render(
        shapes,
        "results/fibre_actuator_shapes.png",
        field="tension",
        label="tension of the threads",
        unit="N",
        limits=(-1.0, 3.0),
        eye=(-1.0, 0.3, 0.2),
        up=(0.0, 1.0, 0.0),
        undeformed=False,
        width=4.8,
    )
    sa.root_print("Pictures: results/fibre_actuator.png, results/fibre_actuator_shapes.png")
    return found, largest


# %%
if __name__ == "__main__":
    for strain, stress in TESTED.items():
        assert abs(tension_test(strain) / stress - 1) < 0.04
    found, largest = main()
    coarse, bare = found["coarse"], found["no helices"]
    assert bare[0, 2] > 1.03 * coarse[0, 2]  # wider without helices
    assert max(largest.values()) < 0.02
    assert 16.0 < coarse[0, 1] < 18.0  # degrees at 5 kPa
    assert bare[0, 1] < 0.8 * coarse[0, 1]
    if not SHORT:
        fine = found["fine"]
        assert abs(fine[-1, 1] - 184.5) < 2.0  # degrees at 30 kPa
        assert abs(fine[:, 1] - coarse[:, 1]).max() < 7.0
