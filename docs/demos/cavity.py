# SPDX-License-Identifier: BSD-3-Clause
"""Cavity: one chamber of a pneumatic finger, clamped at both ends, swells under 12 kPa.

The second example with pressure of Xing et al. (Machines 10 (2022) 518): a silicone chamber whose
section is taken to be a D, as plates with two welded kinks beside solid elements; and a round one.

Takes 65 s on one core.
"""

# %% [markdown]
# # Cavity
#
# **What you learn**: chambers from Gmsh, kinks, pressure on the inner faces of plates and solids,
# and what plates of a fifth of the radius can and cannot say. Run it with
# `mpirun -n 2 python docs/demos/cavity.py`; `-short` stops early. Where Gmsh is installed, finer
# meshes of solids are made.

# %%
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from mpi4py import MPI
from scipy.optimize import brentq

import symancf as sa
from symancf.energies import yeoh

HERE = Path(__file__).resolve().parents[2]
RESULTS = Path("results")
ROOT = MPI.COMM_WORLD.rank == 0
SHORT = "-short" in sys.argv

RADIUS, LENGTH, HEIGHT, WALL = 0.1, 0.2, 0.05, 0.02  # m; half circle, chamber, side walls
DIRECT = {"ksp_type": "preonly", "pc_type": "lu", "pc_factor_mat_solver_type": "mumps"}
SILICONE = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3, "k": 1e9, "rho": 1100.0}
FULL = 12e3  # Pa
N, ALONG, CHAMBER = (2, 8, "cavity_24x8") if SHORT else (4, 16, "cavity")  # mesh of plates
PLACES = {
    "top": (LENGTH / 2, 0.0, RADIUS),
    "base": (LENGTH / 2, 0.0, -HEIGHT),
    "side": (LENGTH / 2, RADIUS, 0.0),
}

# %% [markdown]
# ## Meshes
# `finger.geo` and `finger_solid.geo` make chambers and whole fingers. The paper does not say what
# its section is; here it is half a circle of radius r above side walls of height b and a flat base.


# %%
def mesh_of(name, script=None, **numbers):
    """Return a mesh of the repository, or one that Gmsh makes now (None where it is missing)."""
    if script is None:
        return sa.Mesh.read(HERE / "meshes" / f"{name}.msh")
    if shutil.which("gmsh") is None:
        return None
    path = f"results/{name}.msh"
    if ROOT:
        given = [word for k, v in numbers.items() for word in ("-setnumber", k, str(v))]
        geo = HERE / "meshes" / f"{script}.geo"
        subprocess.run(["gmsh", "-3", geo, "-o", path, *given], check=True, capture_output=True)
    MPI.COMM_WORLD.barrier()
    return sa.Mesh.read(path)


# %% [markdown]
# ## Models
# The corner where base and side wall meet is a square of the thickness, t x t: its shear keeps
# the angle (see the demo `corner`). The normals of the meshes point towards the gas. The inner
# faces of walls that overlap in a corner are no closed surface, so that a pressure on them has a
# resultant; the middle surface is closed. There 0.9 p has the resultants of p on the inner
# surface, which is 0.9 times as wide. The round chamber takes p on its inner face.


# %%
def block(e2_a, e3_a, *, G):
    return G / 2 * e2_a.dot(e3_a) ** 2


def welds(body, along):
    """Return the energy of the two corner blocks; `along`: nodes between the ends."""
    x = np.linspace(0.0, LENGTH, along + 1)
    nodes = np.array([(X, y, -HEIGHT) for X in x for y in (-RADIUS, RADIUS)])
    shear = 10 * 2 * SILICONE["C10"] * WALL**2 * LENGTH / along
    return sa.Potential(block, body.at(nodes), G=shear, name="corner blocks")


def plates(mesh, p, volumetric="split", along=ALONG):
    """Return the system and the body of a chamber of plates, D or (along=0) round."""
    region = mesh["silicone" if along else "wall"]
    body = sa.Body(
        region,
        sa.elements.ancf_plate,
        yeoh(),
        name="chamber",
        thickness=WALL,
        volumetric=volumetric,
        **SILICONE,
    )
    gas = body[region.name].face(+1, middle=bool(along))
    terms = [sa.pressure(gas, lambda t: (0.9 if along else 1.0) * p(t), name="gas")]
    terms += [sa.fix(body[edge]) for edge in (("root", "tip") if along else ("ends",))]
    terms += [welds(body, along)] if along else []
    return sa.System(body, terms=terms), body


def solids(mesh, p):
    """Return the system and the body of the half y > 0 in hexahedra, J at their centres."""
    body = sa.Body(
        mesh["silicone"],
        sa.elements.hex8_plain,
        yeoh(),
        name="solid",
        volumetric="reduced",
        **SILICONE,
    )
    terms = [sa.pressure(body["inside"], p, name="gas"), sa.fix(body["symmetry"], dofs="y")]
    terms += [sa.fix(body["root"]), sa.fix(body["tip"])]
    return sa.System(body, terms=terms), body


def displaced(system, body, names=tuple(PLACES)):
    """Return the outward displacements [mm] of places in the middle of the chamber."""
    outward = {"top": (2, 1), "base": (2, -1), "side": (1, 1)}
    found = []
    for name in names:
        axis, sign = outward[name]
        found.append(1e3 * sign * system.displacement(body.at(PLACES[name]))[0, axis])
    return np.array(found)


def inflate(make, *arguments, steps=4):
    """Find the equilibrium at 12 kPa; return system, body, CPU seconds."""
    start = time.process_time()
    system, body = make(arguments[0], lambda t: FULL * t, *arguments[1:])
    problem = sa.StaticProblem(system, prefix="chamber_", options=DIRECT)
    problem.solve(to=1.0, step=1.0 / steps)
    return system, body, time.process_time() - start


def asymmetry(system, body):
    """Return how far the section in the middle is from symmetric about y = 0 [m]."""
    y = RADIUS * np.linspace(-1.0, 1.0, 4 * N + 1)  # nodes
    angle = np.linspace(-np.pi / 2, np.pi / 2, 6 * N + 1)
    base = np.stack([0 * y + LENGTH / 2, y, 0 * y - HEIGHT], axis=1)
    x = 0 * angle + LENGTH / 2
    arc = np.stack([x, RADIUS * np.sin(angle), RADIUS * np.cos(angle)], axis=1)
    changes = [system.displacement(body.at(X)) for X in (base, arc)]
    return max(float(np.abs(u - u[::-1] * [1.0, -1.0, 1.0]).max()) for u in changes)


# %% [markdown]
# ## A round chamber
# far from its ends follows from one equation: incompressible, in plane strain,
# $p = \int_A^B 2W'(\lambda^2 - \lambda^{-2}) \frac{R}{r^2} dR$, $r^2 = R^2 + a^2 - A^2$.


# %%
def long_tube(p=FULL):
    """Return the displacements of the inner wall and of the middle surface of a long tube [mm]."""
    A, B = RADIUS - WALL / 2, RADIUS + WALL / 2
    x, w = np.polynomial.legendre.leggauss(12)
    R, w = (A + B) / 2 + (B - A) / 2 * x, (B - A) / 2 * w

    def balance(a):
        r = np.sqrt(R**2 + a**2 - A**2)
        stretch = r / R
        y = stretch**2 + stretch**-2 - 2
        slope = SILICONE["C10"] + 2 * SILICONE["C20"] * y + 3 * SILICONE["C30"] * y**2
        return w @ (2 * slope * (stretch**2 - stretch**-2) * R / r**2) - p

    a = brentq(balance, A, 1.5 * A)
    return 1e3 * (a - A), 1e3 * (np.sqrt(RADIUS**2 + a**2 - A**2) - RADIUS)


# %% [markdown]
# ## In half a second
# p = 24 t kPa, undamped, as in the paper.


# %%
def quickly(make, mesh, until=0.5, step=2e-3, **options):
    """Return the history of top and base, the sample at the end, drift of energy, CPU seconds."""
    start = time.process_time()
    system, body = make(mesh, lambda t: 2 * FULL * t, **options)
    problem = sa.DynamicProblem(system, prefix="chamber_", spectral_radius=0.9)
    for name in ("top", "base"):
        problem.record(name, body.at(PLACES[name]))
    history = problem.solve(to=until, step=step)
    drift = problem.energies.drift / problem.energies.work
    return history, sa.sample(system, body, solid=True), drift, time.process_time() - start


# %%
def curves(history, still):
    """Draw top and base over time beside the equilibria at the end."""
    with sa.view.Diagram("results/cavity.png", width=4.8, height=2.9) as ax:
        for k, name in enumerate(("top", "base")):
            z = 1e3 * (history[name].reshape(-1, 3)[:, 2] - PLACES[name][2])
            ax.plot(history.time, z, f"C{k}", label=f"middle of the {name}")
            ax.plot(history.time[-1], (1, -1)[k] * still[k], f"C{k}o", clip_on=False)
        ax.plot([], [], "ko", label="equilibria at 12 kPa")
        ax.set(xlabel="time [s], p = 24 t kPa", ylabel="displacement z [mm]")


# %%
def main(short=SHORT):
    """Solve the cases, print tables, draw; return what is checked."""
    RESULTS.mkdir(exist_ok=True)
    heads = "unknowns", "top:.2f", "base:.2f", "side:.2f", "CPU, s:.1f"
    table = sa.Table("Equilibrium at 12 kPa, outward, mm", "model", *heads)
    cases = {"D, plates": (plates, mesh_of(CHAMBER))}
    if not short:
        cases["D, plates, reduced"] = (plates, mesh_of(CHAMBER), "reduced")
    cases["half D, hex8_plain, 2 layers"] = (solids, mesh_of("cavity_solid"))
    for n, layers in () if short else ((4, 4), (6, 4)):
        name = f"cavity_solid_{n}_{layers}"
        sizes = {"n": n, "m": 4 * n, "layers": layers, "cavities": 1}
        mesh = mesh_of(name, "finger_solid", **sizes)
        if mesh is not None:
            cases[f"half D, hex8_plain, {layers} layers, n = {n}"] = (solids, mesh)
    found, panels = {}, {}
    for name, case in cases.items():
        system, body, seconds = inflate(*case)
        found[name] = displaced(system, body)
        table.add(name, system.unknowns.size, *found[name], seconds)
        if "plates" in name and "reduced" not in name:
            found["asymmetry"] = asymmetry(system, body)
            panels["plates, 12 kPa"] = sa.sample(system, body, solid=True)
        if "hex8_plain" in name:
            panels["solid, 12 kPa"] = sa.sample(system, body)
    system, body, seconds = inflate(plates, mesh_of("tube_cavity"), "split", 0)
    found["round"] = displaced(system, body, ["top"])[0]
    size = system.unknowns.size
    table.add("round, plates 24 x 12", size, found["round"], None, None, seconds)
    panels["round, 12 kPa"] = sa.sample(system, body, solid=True)
    sa.root_print(table)
    inner, middle = long_tube()
    sa.root_print(
        f"The D is symmetric to {found['asymmetry']:.0e} m. A long round tube swells by "
        f"{middle:.2f} mm at its middle surface, {inner:.2f} mm at its inner wall.\n"
    )
    until = 0.02 if short else 0.5
    history, shape, drift, seconds = quickly(plates, mesh_of(CHAMBER), until)
    top, base = (1e3 * (history[at][-1].ravel()[2] - PLACES[at][2]) for at in ("top", "base"))
    found["drift"] = abs(drift)
    sa.root_print(
        f"p = 24 t kPa: at {until} s top {top:.2f} mm, base {base:.2f} mm; energy drifts by "
        f"{drift:.0e} of the gas's work; {seconds:.0f} s of CPU"
    )
    curves(history, found["D, plates"])
    if not short:
        panels["plates, 24 t kPa at 0.5 s"] = shape
    look = {"label": "displacement", "unit": "m", "eye": (0.8, -1.0, -0.45), "columns": 2}
    title = "Chamber clamped at both ends"
    sa.view.render(panels, "results/cavity_shapes.png", title=title, **look)
    sa.root_print("Files: results/cavity.png, cavity_shapes.png")
    return found, middle


# %%
if __name__ == "__main__":
    found, middle = main()
    plate, solid = found["D, plates"], found["half D, hex8_plain, 2 layers"]
    assert found["asymmetry"] < 1e-9  # m, of 15 mm
    assert abs(plate[1] / solid[1] - 1) < 0.1
    assert 1.0 < found["round"] / middle < 1.2  # clamped shells of this length overshoot
    assert found["drift"] < 1e-2
