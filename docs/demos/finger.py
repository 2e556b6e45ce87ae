# SPDX-License-Identifier: BSD-3-Clause
"""Finger: two chambers of silicone and a ring of bone bend under gas, as plates and as solids.

The pneumatic finger of Xing et al. (Machines 10 (2022) 518) at 8, 10 and 12 kPa, slowly and in half
a second, and their claim that plates take less time than solids, tested on the same finger.

Takes 4 min on one core.
"""

# %% [markdown]
# # Finger
#
# **What you learn**: a machine of several bodies cut from one mesh, gas that presses on walls and
# pushes a tip, motions of 25,000 coordinates, and a fair comparison of two models. Run it with
# `mpirun -n 2 python docs/demos/finger.py`; `-short` stops early, `-compare` adds refined solids
# (needs Gmsh).

# %%
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import saint_venant_kirchhoff, yeoh

HERE = Path(__file__).resolve().parents[2]
RESULTS = Path("results")
COMM = MPI.COMM_WORLD
ROOT = COMM.rank == 0
SHORT, COMPARE = "-short" in sys.argv, "-compare" in sys.argv

RADIUS, CHAMBER, HEIGHT, WALL, RING = 0.1, 0.2, 0.05, 0.02, 0.02  # m
LENGTH = 2 * (CHAMBER + RING)
DIRECT = {"ksp_type": "preonly", "pc_type": "lu", "pc_factor_mat_solver_type": "mumps"}
SILICONE = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3, "k": 1e9, "rho": 1100.0}
BONE = {"E": 1e9, "nu": 0.3, "rho": 1100.0}  # Pa, -, kg/m^3
PRESSURES = (8, 10, 12)  # kPa
PAPER = (7.0, 8.2, 10.0)  # largest displacement Z at these [mm]
MIDDLES = (CHAMBER / 2, CHAMBER + RING + CHAMBER / 2)

# %% [markdown]
# ## What the gas does to the tip
# The gas pushes the closed tip with p A, A being the inner section, at the middle of that area
# and along the present axis. The paper replaces the solid tip by this force; here it acts on the
# middle line of the end ring, which is of bone, weighted such that its resultant is where it
# belongs. Plates and solids get the same force at the same points.


# %%
def section(height=HEIGHT, radius=RADIUS):
    """Return the area of a D [m^2] and the height z of its middle [m]."""
    area = np.pi * radius**2 / 2 + 2 * radius * height
    return area, (2 * radius**3 / 3 - radius * height**2) / area


def outline():
    """Return points (k, 3) on the half y >= 0 of the tip's middle line, from the top, and weights.

    The weights of the whole line have the sum 1 and the mean height of the inner section.
    """
    angle = np.linspace(0.0, np.pi / 2, 7)  # nodes of all meshes, also of the coarsest
    arc = np.stack([np.sin(angle), np.cos(angle)], axis=1) * RADIUS
    down = [(RADIUS, -HEIGHT * k / 2) for k in range(1, 3)]
    base = [(RADIUS * (1 - k / 4), -HEIGHT) for k in range(1, 5)]
    line = np.array([*arc, *down, *base])
    half = np.linalg.norm(np.diff(line, axis=0), axis=1) / 2
    weight = np.append(half, 0.0) + np.append(0.0, half)
    weight /= weight.sum()
    z = line[:, 1] - weight @ line[:, 1]
    _, inner = section(HEIGHT - WALL / 2, RADIUS - WALL / 2)
    weight *= 1 + (inner - weight @ line[:, 1]) / (weight @ z**2) * z
    return np.insert(line, 0, LENGTH, axis=1), weight / 2


def push(e1_a, v_a, *, p, area):
    return {v_a: p * area * e1_a / e1_a.norm()}


def tip_force(bone, p, half):
    """Return the force of the gas on the end ring; `half`: only y >= 0 is there."""
    points, weight = outline()
    if not half:
        off = points[:, 1] > 1e-9
        points = np.concatenate([points, points[off] * [1.0, -1.0, 1.0]])
        weight = np.concatenate([np.where(off, weight, 2 * weight), weight[off]])
    area, _ = section(HEIGHT - WALL / 2, RADIUS - WALL / 2)
    return sa.VirtualWork(push, bone.at(points), p=p, area=area * weight, name="gas on the tip")


# %% [markdown]
# ## Plates
# Side walls and base meet at right angles along two kinks; the blocks in these corners keep the
# angle (see the demo `corner`). The inner faces of walls that overlap at a kink are no closed
# surface: p on them would push the finger aside with 105 N at 12 kPa. The middle surface is
# closed; there 0.9 p has the resultants of p on the inner surface, which is 0.9 times as wide.


# %%
def block(e2_a, e3_a, *, G):
    return G / 2 * e2_a.dot(e3_a) ** 2


def welds(body, shear, x, half):
    """Return the energy of the corner blocks at nodes with the coordinates x of a body."""
    sides = (RADIUS,) if half else (RADIUS, -RADIUS)
    nodes = np.array([(X, y, -HEIGHT) for X in x for y in sides])
    step = np.min(np.diff(x))
    ends = np.isclose(nodes[:, 0], 0.0) | np.isclose(nodes[:, 0], LENGTH)
    G = 10 * shear * WALL**2 * step * np.where(ends, 0.5, 1.0)
    return sa.Potential(block, body.at(nodes), G=G, name=f"corner blocks of {body.name}")


def plates(mesh, p, half=False, along=20, spine=False):
    """Return the system and the bodies of the finger in plates, `along` each chamber.

    `spine`: the middle line of the base keeps its length in the chambers.
    """
    options = {"thickness": WALL}

    def walls(t):
        return (1 - WALL / 2 / RADIUS) * p(t)

    element = sa.elements.ancf_plate
    silicone = sa.Body(mesh["silicone"], element, yeoh(), name="silicone", **options, **SILICONE)
    bone = sa.Body(mesh["bone"], element, saint_venant_kirchhoff(), name="bone", **options, **BONE)
    step = CHAMBER / along
    second = CHAMBER + RING + step * np.arange(along)
    soft = np.concatenate([step * np.arange(along), second])
    ring = RING * np.linspace(0.0, 1.0, along // 10 + 1)
    rings = np.concatenate([CHAMBER + ring, 2 * CHAMBER + RING + ring])
    terms = [
        sa.fix(silicone["root"], "all"),
        sa.pressure(silicone["silicone"].face(+1, middle=True), walls, name="gas in the chambers"),
        sa.pressure(bone["bone"].face(+1, middle=True), walls, name="gas in the rings"),
        tip_force(bone, p, half),
        welds(silicone, 2 * SILICONE["C10"], soft, half),
        welds(bone, BONE["E"] / 2.6, rings, half),
    ]
    if half:
        terms += [sa.symmetry(silicone["symmetry"], "y")]
        terms += [sa.symmetry(bone["symmetry_bone"], "y")]
    if spine:
        terms += [sa.length(silicone["spine"], per="edge", name="spine")]
    return sa.System(silicone, bone, terms=terms), silicone, bone


def solids(mesh, p):
    """Return the system and the bodies of the half y > 0 in hexahedra, J at their centres."""
    element = sa.elements.hex8_plain
    options = {"volumetric": "reduced"}
    silicone = sa.Body(mesh["silicone"], element, yeoh(), name="silicone", **options, **SILICONE)
    bone = sa.Body(mesh["bone"], element, saint_venant_kirchhoff(), name="bone", **options, **BONE)
    terms = [
        sa.fix(silicone["root"]),
        sa.pressure(silicone["inside"], p, name="gas in the chambers"),
        sa.pressure(bone["inside_bone"], p, name="gas in the rings"),
        tip_force(bone, p, half=True),
        sa.fix(silicone["symmetry"], dofs="y"),
        sa.fix(bone["symmetry_bone"], dofs="y"),
    ]
    return sa.System(silicone, bone, terms=terms), silicone, bone


# %% [markdown]
# ## What is measured
# The largest displacements Z in the middle of the chambers, on top and base, the displacement
# of the tip, and the angle by which its ring has turned.


# %%
def shape(system, silicone, bone):
    """Return top and base of both chambers (outward), tip z [mm] and the angle [degrees]."""
    walls = [(x, 0.0, z) for x in MIDDLES for z in (RADIUS, -HEIGHT)]
    u = 1e3 * system.displacement(silicone.at(walls))[:, 2] * [1, -1, 1, -1]
    low, high = system.position(bone.at([(LENGTH, 0.0, -HEIGHT), (LENGTH, 0.0, RADIUS)]))
    tip = (HEIGHT * high + RADIUS * low) / (HEIGHT + RADIUS)  # the point of the axis z = 0
    angle = np.degrees(np.arctan2(high[0] - low[0], high[2] - low[2]))
    return np.array([*u, 1e3 * tip[2], angle])


COLUMNS = ("top 1", "base 1", "top 2", "base 2", "tip z", "angle")


def slowly(make, mesh, *options, upto=PRESSURES):
    """Return rows of `shape` at the pressures, system, bodies, unknowns and CPU seconds."""
    start = time.process_time()
    system, *bodies = make(mesh, lambda t: 1e3 * t, *options)
    problem = sa.StaticProblem(system, prefix="finger_", options=DIRECT)
    rows = {}
    for kilo in sorted({2, 4, 6, *upto}):
        problem.solve(to=kilo, step=kilo)
        rows[kilo] = shape(system, *bodies)
    seconds = COMM.allreduce(time.process_time() - start)
    return rows, system, bodies, seconds


def quickly(mesh, until=0.5, step=1e-3):
    """Move the whole finger under p = 24 t kPa; return the problem, rows, shapes, CPU seconds."""
    start = time.process_time()
    system, silicone, bone = plates(mesh, lambda t: 24e3 * t)
    problem = sa.DynamicProblem(system, prefix="finger_", spectral_radius=0.9)
    problem.record("shape", lambda: shape(system, silicone, bone))
    rows, shapes = {}, {}
    for kilo in PRESSURES:
        if kilo / 24 < until + 1e-9:
            problem.solve(to=kilo / 24, step=step)
            rows[kilo] = shape(system, silicone, bone)
            shapes[kilo] = [sa.sample(system, b, solid=True, divisions=2) for b in (silicone, bone)]
    if system.time < until:
        problem.solve(to=until, step=step)
    return problem, rows, shapes, COMM.allreduce(time.process_time() - start)


def mesh_of(name, script=None, **numbers):
    """Return a mesh of the repository, or one that Gmsh makes now."""
    if script is None:
        return sa.Mesh.read(HERE / "meshes" / f"{name}.msh")
    path = f"results/{name}.msh"
    if ROOT:
        given = [word for k, v in numbers.items() for word in ("-setnumber", k, str(v))]
        geo = HERE / "meshes" / f"{script}.geo"
        subprocess.run(["gmsh", "-3", geo, "-o", path, *given], check=True, capture_output=True)
    COMM.barrier()
    return sa.Mesh.read(path)


# %% [markdown]
# ## Plates against solids
# Half of the finger, equilibria up to 12 kPa. What counts is the CPU time at an error of 1 % of
# the tip's displacement; the finest solid is the reference.


# %%
def compare():
    """Return rows: name, unknowns, tip z, angle, base 1, CPU seconds; the last is the finest."""
    table = []
    for n in (2, 4, 6):
        sizes = {"n": n, "m": 5 * n, "m_ring": n // 2, "half": 1}
        mesh = mesh_of(f"finger_half_{n}", "finger", **sizes)
        rows, system, _, seconds = slowly(plates, mesh, True, 5 * n)
        table.append((f"plates, n = {n}", system.unknowns.size, rows[12], seconds))
        report(table[-1])
    for n, layers in ((2, 2), (4, 2), (4, 4), (6, 4)):
        sizes = {"n": n, "m": 5 * n, "m_ring": n // 2, "layers": layers}
        mesh = mesh_of(f"finger_solid_{n}_{layers}", "finger_solid", **sizes)
        rows, system, _, seconds = slowly(solids, mesh)
        name = f"hex8_plain, n = {n}, {layers} layers"
        table.append((name, system.unknowns.size, rows[12], seconds))
        report(table[-1])
    return table


def report(entry):
    """Print a row at once: refined meshes take their time."""
    name, size, row, seconds = entry
    numbers = ", ".join(f"{c} {v:.3f}" for c, v in zip(COLUMNS, row, strict=True))
    sa.root_print(f"  {name}: {size} unknowns, {numbers}; {seconds:.1f} s")


# %%
def curves(history, rows):
    """Draw the motion of the walls and of the tip, equilibria, and the paper's numbers."""
    series = history["shape"].reshape(len(history.time), -1)
    kilo, still = 24 * history.time, np.array(list(rows.values()))
    with sa.view.Diagram("results/finger.png", 1, 3, height=2.8) as (walls, tip, ring):
        for k, name in enumerate(COLUMNS[:4]):
            walls.plot(kilo, series[:, k], ("-", "-", "--", "--")[k], color=f"C{k % 2}", label=name)
            walls.plot(list(rows), still[:, k], "o^o^"[k], color=f"C{k % 2}", mfc="none")
        walls.plot(PRESSURES, PAPER, "ks", label="paper")
        walls.set(title="middle of the chambers", ylabel="outward displacement [mm]")
        for ax, k, label in ((tip, 4, "height [mm]"), (ring, 5, "angle [degrees]")):
            ax.plot(kilo, series[:, k], label="motion")
            ax.plot(list(rows), still[:, k], "ko", mfc="none", label="equilibria")
            ax.set(title="tip" if k == 4 else "ring at the tip", ylabel=label)
        for ax in (walls, tip, ring):
            ax.set(xlabel="p = 24 t [kPa]")


def tabulate(title, rows):
    """Print rows of `shape` by pressure beside the paper's numbers."""
    table = sa.Table(title, "p, kPa", *(f"{name}:.2f" for name in COLUMNS), "paper")
    paper = dict(zip(PRESSURES, PAPER, strict=True))
    for kilo, row in rows.items():
        table.add(kilo, *row, paper.get(kilo))
    sa.root_print(table)


# %%
def main(short=SHORT):
    """Inflate the finger slowly and quickly, print tables, draw; return what is checked."""
    RESULTS.mkdir(exist_ok=True)
    half = mesh_of("finger_half"), True, 10
    still, system, bodies, seconds = slowly(plates, *(half if short else (mesh_of("finger"),)))
    unknowns = system.unknowns.size
    tabulate(f"Plates, equilibria, mm and degrees; {unknowns} unknowns, {seconds:.0f} s", still)
    panels = {"12 kPa": [sa.sample(system, body, solid=True, divisions=2) for body in bodies]}
    firm, *_, seconds = slowly(solids, mesh_of("finger_solid"))
    tabulate(f"Half in hex8_plain, 2 layers, equilibria; {seconds:.0f} s", firm)
    bent, spined, spined_bodies, seconds = slowly(plates, *half, True)
    tabulate(f"Plates, half, a spine that keeps its length; {seconds:.0f} s", bent)
    table = compare() if COMPARE and shutil.which("gmsh") else []

    problem, rows, shapes, seconds = quickly(mesh_of("finger"), 0.003 if short else 0.5)
    if rows:
        tabulate("Plates, p = 24 t kPa, undamped", rows)
    history, energies = problem.history, problem.energies
    sa.root_print(
        f"{problem.steps} steps, {history.iterations} iterations, {seconds:.0f} s of CPU on "
        f"{COMM.size} rank(s); energy drifts by {energies.drift / energies.work:.0e} of the work"
    )
    curves(history, still)
    panels = {f"{kilo} kPa": bodies for kilo, bodies in shapes.items()} or panels
    panels["12 kPa, with a spine"] = [
        sa.sample(spined, body, solid=True, divisions=2) for body in spined_bodies
    ]
    for name, eye in (("front", (0.2, -1.0, -0.45)), ("right", (1.0, -0.25, -0.1))):
        look = {"label": "displacement", "unit": "m", "columns": 2, "eye": eye, "width": 5.4}
        title = f"Finger under gas, from the {name} and below"
        sa.view.render(panels, f"results/finger_{name}.png", title=title, **look)
    sa.root_print("Files: results/finger.png, finger_front.png, finger_right.png")
    return still, firm, bent, energies.drift / energies.work, table


# %%
if __name__ == "__main__":
    still, firm, bent, drift, table = main()
    plate, solid = still[12], firm[12]
    assert abs(plate[[1, 3]] / solid[[1, 3]] - 1).max() < 0.12  # coarse solids are stiff
    assert abs(plate[4] - solid[4]) < 1.0  # mm: neither bends much
    assert bent[12][5] > 1.0  # degrees; what bends it is a base that cannot stretch
    assert SHORT or abs(drift) < 1e-2
