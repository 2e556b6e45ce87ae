# SPDX-License-Identifier: BSD-3-Clause
"""Corner: two walls at a right angle, welded by the gradient that they share, beside solids.

Plates that meet at a kink share the deformation gradient of its nodes. That alone is a hinge in
the limit of small elements; the shear stiffness of the corner makes it a weld. Solid elements of
the same corner tell how good it is.

Takes 10 s on one core.
"""

# %% [markdown]
# # Corner
#
# **What you learn**: kinks of fully parameterised plates, energies of nodes as plain functions,
# and why the overlap of two walls is a modelling error that refinement does not remove. Run it with
# `mpirun -n 2 python docs/demos/corner.py`; `-short` takes fewer meshes.

# %%
import sys

import numpy as np

import symancf as sa
from symancf.energies import saint_venant_kirchhoff

SHORT = "-short" in sys.argv

SIDE = 0.1  # m, of both walls, along their middle
YOUNG, NU = 1e6, 0.3  # Pa, -
SHEAR = YOUNG / (2 * (1 + NU))
PLATES = (4, 8, 16, 32) if SHORT else (4, 8, 16, 32, 64)  # cells of each wall
LAYERS = (2, 4, 8) if SHORT else (4, 8, 16)  # of solid elements through a wall


def load(thickness):
    """Return the force per width [N/m], such that deflections are small and about the same."""
    return 1.0 * (thickness / 0.02) ** 3


# %% [markdown]
# ## Plates
# One wall along x is clamped at its end, the other stands on it along z and is pushed along x at
# its top by a dead force; nothing moves across (plane strain).
#
# At the kink each wall has its own normal, and both read the *same* deformation gradient. Its
# columns are the slopes of one wall and the directors of the other, so that a change of the angle
# between the walls is a shear in both - but only within the elements next to the kink, whose
# volume vanishes with their size.
#
# The block in the corner, t x t, resists: `block` gives it the energy of a simple shear,
# $\tfrac12 G t^2 (F e_1 \cdot F e_3)^2$ per length, times a `factor`.


# %%
def block(e1_a, e3_a, *, G):
    return G / 2 * e1_a.dot(e3_a) ** 2


def plates(cells, thickness, factor=0.0, bodies=1):
    """Return the system of two walls of plates, its bodies, and the top of the second."""
    size = SIDE / cells  # also the width
    first = np.arange(cells + 1)[:, None] * [size, 0.0, 0.0]
    second = [SIDE, 0.0, 0.0] + np.arange(1, cells + 1)[:, None] * [0.0, 0.0, size]
    front = np.concatenate([first, second])
    n = len(front)
    points = np.concatenate([front, front + np.array([0.0, size, 0.0])])
    strip = np.arange(n - 1)[:, None] + [0, 1, n + 1, n]
    walls = {"one": strip[:cells], "two": strip[cells:]} if bodies == 2 else {"one": strip}
    regions = {name: ("quad", quads) for name, quads in walls.items()}
    edges = {name: np.concatenate([q[:, :2], q[:, [3, 2]]]) for name, q in walls.items()}
    regions |= {f"sides {name}": ("line", lines) for name, lines in edges.items()}
    regions |= {"root": ("line", [[0, n]]), "top": ("line", [[n - 1, 2 * n - 1]])}
    regions |= {"kink": ("vertex", [cells, n + cells]), "P": ("vertex", [n - 1])}
    mesh = sa.Mesh.from_arrays(points, {}, regions, name="corner")
    made = [
        sa.Body(
            mesh[name],
            sa.elements.ancf_plate,
            saint_venant_kirchhoff(),
            name=name,
            E=YOUNG,
            nu=NU,
            thickness=thickness,
        )
        for name in walls
    ]
    terms = [sa.fix(made[0]["root"]), sa.force(made[-1]["top"], (load(thickness) * size, 0.0, 0.0))]
    terms += [sa.symmetry(body[f"sides {body.name}"], "y") for body in made]
    if factor:
        each = factor * SHEAR * thickness**2 * size / 2  # half of the width at each node
        terms.append(sa.Potential(block, made[0]["kink"], G=each))
    return sa.System(*made, terms=terms), made, made[-1]["P"]


# %% [markdown]
# ## Solids
# Cubes with the edge t/layers. Refinement is in all directions, so that Richardson's formula with
# the order 2 of bilinear elements gives the limit.


# %%
def solid(layers, thickness):
    """Return the system of the corner in hexahedra, its body and the middle of the top."""
    size = thickness / layers
    long = round((SIDE - thickness / 2) / size)
    cells = [(i, k) for i in range(long + layers) for k in range(layers)]
    cells += [(long + i, layers + k) for i in range(layers) for k in range(long)]
    number = {}
    for i, k in cells:
        for corner in ((i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1)):
            number.setdefault(corner, len(number))
    n = len(number)
    plane = np.array([(i * size, 0.0, k * size - thickness / 2) for i, k in number])
    points = np.concatenate([plane, plane + np.array([0.0, size, 0.0])])
    face = np.array(
        [[number[c] for c in ((i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1))] for i, k in cells]
    )

    def across(corners):
        line = np.array([number[c] for c in corners])
        return np.stack([line[:-1], line[1:], line[1:] + n, line[:-1] + n], axis=1)

    high = layers + long
    regions = {
        "sides": ("quad", np.concatenate([face, face + n])),
        "root": ("quad", across([(0, k) for k in range(layers + 1)])),
        "top": ("quad", across([(long + i, high) for i in range(layers + 1)])),
    }
    hexahedra = np.concatenate([face + n, face], axis=1)
    mesh = sa.Mesh.from_arrays(points, {"hexahedron": hexahedra}, regions, name="solid corner")
    body = sa.Body(
        mesh["all"],
        sa.elements.hex8_plain,
        saint_venant_kirchhoff(),
        name="solid",
        volumetric="full",
        E=YOUNG,
        nu=NU,
    )
    terms = [sa.fix(body["root"]), sa.fix(body["sides"], dofs="y")]
    terms.append(sa.force(body["top"], (load(thickness) * size, 0.0, 0.0)))
    return sa.System(body, terms=terms), [body], body.at((SIDE, 0.0, SIDE))


def push(model):
    """Return the displacements x and z [mm] of the top, and the samples."""
    system, bodies, P = model
    sa.StaticProblem(system, prefix="corner_").solve()
    x, _, z = 1e3 * system.displacement(P)[0]
    shapes = [sa.sample(system, body, solid=body.element.has_thickness) for body in bodies]
    return (x, z), shapes


def beam(thickness):
    """Return the deflection x of two beams along the middle of the walls, rigid corner [mm]."""
    EI = YOUNG / (1 - NU**2) * thickness**3 / 12
    shear = SIDE / (5 / 6 * SHEAR * thickness)
    return 1e3 * load(thickness) * (SIDE**3 / (3 * EI) + SIDE**3 / EI + shear)


# %%
def curves(found, limit):
    """Draw the deflection over the size of the elements."""
    labels = {0.0: "shared gradient alone", 1.0: "block", 10.0: "10 blocks"}
    with sa.view.Diagram("results/corner.png", 1, 2, height=3.0, sharey=True) as axes:
        for ax, thickness in zip(axes, limit, strict=True):
            sizes = [SIDE / n / thickness for n in PLATES]
            for (factor, label), marker in zip(labels.items(), "o^s", strict=True):
                x = [found[thickness, factor, n][0] / limit[thickness] for n in PLATES]
                ax.semilogx(sizes, x, f"{marker}-", label=label)
            ax.set_xticks(sizes, [f"{h:.2g}" for h in sizes])
            ax.minorticks_off()
            ax.axhline(1.0, color="k", lw=0.9, label="solid")
            ax.axhline(beam(thickness) / limit[thickness], color="k", ls=":", label="beams")
            ax.set(xlabel="cell / thickness", ylim=(0.9, 2.0))
            ax.set(title=f"walls of {1e3 * SIDE:g} mm, {1e3 * thickness:g} mm thick")
        axes[0].set(ylabel="deflection / that of the solid")


# %%
def main():
    """Solve all cases, print tables, draw; return deflections and the solids' limits."""
    found, limit, panels = {}, {}, {}
    for thickness in (0.02, 0.01):
        title = f"Deflection x of the top, mm; t = {1e3 * thickness:g} mm"
        table = sa.Table(title, "model", *(f"{n} cells:.4f" for n in PLATES))
        for factor in (0.0, 1.0, 10.0):
            for n in PLATES:
                found[thickness, factor, n], shapes = push(plates(n, thickness, factor))
                if factor == 10.0 and n == 16:
                    panels[f"plates, t = {1e3 * thickness:g} mm"] = shapes
            row = (found[thickness, factor, n][0] for n in PLATES)
            table.add(f"plates, {factor:g} blocks", *row)
        found[thickness, "two bodies"], _ = push(plates(8, thickness, 10.0, bodies=2))
        solids = []
        for layers in LAYERS:
            (x, _), shapes = push(solid(layers, thickness))
            solids.append(x)
        panels[f"solid, t = {1e3 * thickness:g} mm"] = shapes
        limit[thickness] = solids[-1] + (solids[-1] - solids[-2]) / 3
        table.add(f"solid, {LAYERS} layers", *solids)
        table.add("solid, limit", limit[thickness])
        table.add("beams", beam(thickness))
        sa.root_print(table)
        best = found[thickness, 10.0, PLATES[-1]][0]
        apart = found[thickness, "two bodies"][0] - found[thickness, 10.0, 8][0]
        sa.root_print(
            f"two bodies and one, 8 cells: difference "
            f"{abs(apart):.0e} mm; welded plates are "
            f" {100 * (best / limit[thickness] - 1):.1f} % softer than the solid\n"
        )
    curves(found, limit)
    look = {"label": "displacement", "unit": "m", "eye": (0.25, -1.0, 0.2), "columns": 4}
    title = "Corner of two walls, pushed at the top"
    sa.view.render(panels, "results/corner_shapes.png", title=title, **look)
    sa.root_print("Files: results/corner.png, corner_shapes.png")
    return found, limit


# %%
if __name__ == "__main__":
    found, limit = main()
    for thickness, solid_x in limit.items():
        last, before = (found[thickness, 10.0, n][0] for n in (PLATES[-1], PLATES[-2]))
        assert abs(last / before - 1) < 2e-3  # converged
        assert 0.0 < last / solid_x - 1 < 0.35 * thickness / SIDE  # the overlap, of order t/L
        assert abs(found[thickness, "two bodies"][0] / found[thickness, 10.0, 8][0] - 1) < 1e-9
        hinge = [found[thickness, 0.0, n][0] for n in PLATES[-2:]]
        assert hinge[1] / hinge[0] > 1.1  # without the block it has no limit
