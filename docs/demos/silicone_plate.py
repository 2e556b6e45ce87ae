# SPDX-License-Identifier: BSD-3-Clause
"""Silicone plate: a cantilever under its own weight, ANCF plates beside solid elements.

A plate of silicone rubber, 0.18 x 0.16 x 0.04 m, is clamped along one edge and sags under its
weight. It is the first example of Xing et al. (Machines 10 (2022) 518), who model it by 16 ANCF
plates of 48 coordinates and integrate the volumetric part of the Yeoh energy on the mid-surface
only. Here the three ways to integrate that part are compared with solid elements.

Takes 10 s on one core.
"""

# %% [markdown]
# # Silicone plate
#
# **What you learn**: reading a mesh, writing an energy as a SymPy function, clamping an edge,
# solving for equilibrium on any number of ranks, and why `volumetric="split"` is the default for
# rubber on plates. Run it with `mpirun -n 2 python docs/demos/silicone_plate.py`.

# %%
from pathlib import Path

from sympy import Rational

import symancf as sa

HERE = Path(__file__).resolve().parents[2]

# %% [markdown]
# ## The energy
# Positional arguments ask for quantities of the element, keyword-only arguments are parameters.
# The energy has two named parts, so that they can be integrated differently.


# %%
def yeoh(J, I1, *, C10, C20, C30, k):  # strain energy per reference volume [J/m^3]
    y = J ** Rational(-2, 3) * I1 - 3
    return {"deviatoric": C10 * y + C20 * y**2 + C30 * y**3, "volumetric": k / 2 * (J - 1) ** 2}


SILICONE = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3, "rho": 1100.0}  # Pa, kg/m^3
GRAVITY = (0.0, 0.0, -9.81)

# Tip sag [mm] of the middle of the free edge. Solid: 27-node hexahedra graded to the clamp,
# refined until four digits settle; the others: second implementations with 4 x 4 plates.
SOLID = {1e7: -6.089, 1e9: -5.865}
REFERENCE = {
    ("full", 1e7): -2.79,
    ("full", 1e9): -0.53,
    ("reduced", 1e7): -15.72,
    ("reduced", 1e9): -15.67,
    ("split", 1e7): -5.977,
    ("split", 1e9): -5.779,
    ("hex8_plain 18x4x4", 1e7): -5.98,
}


# %% [markdown]
# ## One solution
# `mesh["plate"]` is a physical name of the Gmsh file. `sa.fix` eliminates all coordinates of the
# clamped edge; the residual of their rows is the support's reaction.


# %%
def plate_model(mesh, k, volumetric, thickness=0.04, gravity=GRAVITY):
    """Return the plate's body, system, support and tip."""
    plate = sa.Body(
        mesh["plate"],
        sa.elements.ancf_plate,
        yeoh,
        thickness=thickness,
        k=k,
        volumetric=volumetric,
        **SILICONE,
    )
    clamp = sa.fix(plate["root"], "all")
    system = sa.System(plate, terms=[clamp, sa.gravity(gravity)])
    return plate, system, clamp, plate["P"]


def block_model(k, divisions):
    """Return half of the plate as a solid: symmetry at y = 0.08 m, J at the cells' centres."""
    mesh = sa.Mesh.box((0.18, 0.08, 0.04), divisions)
    block = sa.Body(
        mesh["body"], sa.elements.hex8_plain, yeoh, k=k, volumetric="reduced", **SILICONE
    )
    clamp = sa.fix(block["x0"])
    terms = [clamp, sa.fix(block["y1"], dofs="y"), sa.gravity(GRAVITY)]
    return block, sa.System(block, terms=terms), clamp, block.at((0.18, 0.08, 0.02))


def sag(system, place):
    """Return the vertical displacement of a place [mm]."""
    return 1e3 * system.displacement(place)[0, 2]


# %%
def main():
    """Solve all cases, print the table, write files and the picture."""
    mesh = sa.Mesh.read(HERE / "meshes" / "silicone_plate.msh")
    sa.root_print(mesh)
    heads = "sag [mm]:.3f", "reference:.2f", "solid:.3f", "error [%]:+.1f"
    title = "Sag of the tip under self-weight, t = 40 mm"
    table = sa.Table(title, "model", "k [Pa]:.0e", "unknowns", "Newton", *heads)
    pictures, found = {}, {}

    def report(name, k, system, history, value):
        found[name, k] = value
        numbers = value, REFERENCE.get((name, k)), SOLID[k], 100 * (value / SOLID[k] - 1)
        table.add(name, k, system.unknowns.size, history.iterations, *numbers)
        sa.root_print(f"  {name:12s} k = {k:.0e} Pa: {value:9.3f} mm")

    sa.root_print("\nANCF plates, 4 x 4, quadrature 4x4x3 and 4x4 on the mid-surface")
    for k in (1e7, 1e9):
        for volumetric in ("full", "reduced", "split"):
            body, system, clamp, tip = plate_model(mesh, k, volumetric)
            history = sa.StaticProblem(system, prefix="plate_").solve()
            report(volumetric, k, system, history, sag(system, tip))
            if k == 1e7:
                pictures[f"plate, {volumetric} integration: {sag(system, tip):.2f} mm"] = sa.sample(
                    system, body, solid=True, divisions=6
                )
            weight = 1100 * 0.18 * 0.16 * 0.04 * 9.81
            assert abs(clamp.reaction(system).force[2] / weight - 1) < 1e-9

    sa.root_print("\nSolid elements hex8_plain on half of the width, J at the centre")
    for divisions in ((9, 4, 2), (18, 4, 4), (36, 8, 8)):
        body, system, _, tip = block_model(1e7, divisions)
        history = sa.StaticProblem(system, prefix="block_").solve()
        report(
            "hex8_plain " + "x".join(map(str, divisions)), 1e7, system, history, sag(system, tip)
        )
    pictures[f"solid, half width: {found['hex8_plain 36x8x8', 1e7]:.2f} mm"] = sa.sample(
        system, body
    )

    sa.root_print("\nThe same plate, 4 mm thick: gravity grows with the pseudo-time")
    fine = sa.Mesh.read(HERE / "meshes" / "silicone_plate_8.msh")
    growing = (0.0, 0.0, lambda t: -9.81 * t)
    body, system, _, tip = plate_model(fine, 1e7, "split", thickness=0.004, gravity=growing)
    problem = sa.StaticProblem(system, prefix="thin_")
    series = sa.output.Series("results/thin_plate.pvd")
    problem.monitor(lambda step: series.write(step.time, sa.sample(system, body, divisions=6)))
    problem.monitor(
        lambda step: sa.root_print(f"  load {step.time:4.2f}: {sag(system, tip):8.2f} mm")
    )
    history = problem.solve(to=1.0, step=0.1)
    thin = sa.sample(system, body, solid=True, divisions=6)

    sa.root_print()
    sa.root_print(table)
    sa.output.write(
        "results/silicone_plate.vtu", pictures[next(p for p in pictures if "split" in p)]
    )
    look = {"field": "von_mises", "label": "von Mises stress", "unit": "Pa"}
    sa.view.render(pictures, "results/silicone_plate.png", columns=2, **look)
    sa.view.render(thin, "results/thin_plate.png", width=4.8, **look)
    sa.root_print("Files: results/silicone_plate.vtu, thin_plate.pvd, .png of both")
    return found


# %%
if __name__ == "__main__":
    sags = main()
    assert abs(sags["split", 1e7] / REFERENCE["split", 1e7] - 1) < 0.01
