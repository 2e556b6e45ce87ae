# SPDX-License-Identifier: BSD-3-Clause
"""Your own element.

The brick with 20 nodes and 8 points of quadrature, Abaqus's C3D20R, is not in the library. It is
declared in ten lines, and every law, support and load works with it. Then it is checked as any
element should be: tangent, modes without energy, patch test, bending.
"""

# %% [markdown]
# ## The declaration
# An element is a row of the table of cells (nodes, edges, faces), fields that its nodes span, a
# family that makes quantities such as `F`, `J` and `I1`, and rules of quadrature by name. Shape
# functions, kernels, mass, loads on faces and drawing follow. `traces` are the elements of its
# faces.

# %%
import numpy as np
import sympy as sp

import symancf as sa
from symancf.elements import CELLS, Element, quad8
from symancf.kinematics import solid

cell = CELLS["hexahedron20"]
brick = Element(
    "brick",
    cell,
    {"N": cell.field},
    slopes=(),
    slope_kind="none",
    family=solid,
    rules={"full": "2x2x2", "reduced": "2x2x2", "centre": "1x1x1"},
    derivatives=("xi", "eta", "zeta"),
    traces=(quad8,),
)
sa.root_print(brick)
sa.root_print(brick.functions["N"])

# %% [markdown]
# That is the file: to use it elsewhere, put it into `brick.py` and import it. There is no list to
# enter it into, a body takes the element that it is given. To contribute it, see [what a new
# element has to show](../contributing.md).
#
# ## The tangent
# `sa.check` goes to a random state and compares forces with differences of the energy, and the
# tangent with differences of forces.

# %%
law = sa.energies.saint_venant_kirchhoff()


def block(element, size, cells, warp=None):
    mesh = sa.Mesh.box(size, cells, cell=element.cell, warp=warp)
    return sa.Body(mesh["body"], element, law, name=element.name, E=1.0, nu=0.3)


def twist(X):
    """Move the nodes, so that no cell is a cube."""
    return X + 0.1 * np.sin(3 * X[:, [1, 2, 0]])


cube = block(brick, (1.0, 1.0, 1.0), (2, 2, 2), warp=twist)
sa.root_print(sa.check(sa.System(cube, terms=[sa.fix(cube["x0"])])))

# %% [markdown]
# ## Modes without energy
# The kernel is a function of NumPy. The tangent of one cell, 60 x 60, should have six zero
# eigenvalues, the rigid motions. With 8 points it has more: six motions that these points do not
# see. (They do not fit to those of a neighbour, so that they vanish in a mesh.)

# %%
for element in (sa.elements.hex20, brick):
    one = block(element, (1.0, 1.0, 1.0), (1, 1, 1))
    X = np.array([cell.nodes], dtype=float)  # a cube, (1, 20, 3)
    K = one.kernel("tangent")(np.zeros_like(X), X)[0]
    values = np.linalg.eigvalsh(K)
    count = int((np.abs(values) < 1e-10 * values.max()).sum())
    sa.root_print(f"{element.name}: {count} zero eigenvalues")
    assert count == (6 if element is sa.elements.hex20 else 12)

# %% [markdown]
# ## The patch test
# Where all nodes of the surface are moved by an affine map, the stress has to be the same
# everywhere, in cells of any shape. Here shapes are trapezoids and the like, with straight edges;
# curved ones pass in the limit only.


# %%
def skew(X):
    return X + 0.15 * np.outer(X[:, 0] * X[:, 1] * X[:, 2], (1.0, -0.5, 0.7))


gradient = np.array([[0.02, 0.01, 0.0], [0.0, -0.01, 0.02], [0.01, 0.0, 0.015]])
patch = block(brick, (1.0, 1.0, 1.0), (2, 2, 2), warp=skew)
walls = [
    sa.fix(patch[side], displacement=lambda X, t: t * X @ gradient.T)
    for side in ("x0", "x1", "y0", "y1", "z0", "z1")
]
held = sa.System(patch, terms=walls)
sa.StaticProblem(held, prefix="patch_").solve()
F = np.eye(3) + gradient
exact = (F.T @ F - np.eye(3)) / 2
error = sa.maximum(held, patch, lambda E_gl: (E_gl - sp.Matrix(exact)).norm())
sa.root_print(f"largest error of the strain {error:.1e}, strain {np.linalg.norm(exact):.3f}")
assert error < 1e-12

# %% [markdown]
# ## Fewer points, as exact?
# A cantilever ten times as long as high under a small load at its end: its deflection over that of
# Timoshenko's beam.


# %%
def cantilever(element, cells):
    """Return the deflection over that of a beam, and the unknowns."""
    body = block(element, (10.0, 1.0, 1.0), cells)
    load = 1e-7
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0.0, 0.0, -load))])
    sa.StaticProblem(system, prefix="beam_").solve()
    beam = load * (10.0**3 / (3 * 1.0 / 12) + 10.0 * 2 * (1 + 0.3) / (5 / 6))
    end = system.displacement(body.at((10.0, 0.5, 0.5)))[0, 2]
    return -end / beam, system.unknowns.size


ratios = {}
for cells in ((5, 1, 1), (10, 2, 2)):
    for element in (sa.elements.hex8_plain, sa.elements.hex20, brick):
        ratio, unknowns = ratios[element.name, cells] = cantilever(element, cells)
        points = element.rules["full"]
        sa.root_print(
            f"{cells}: {element.name:10s} {points} points, {unknowns:4d} unknowns: {ratio:.3f}"
        )
assert abs(ratios["brick", (10, 2, 2)][0] - ratios["hex20", (10, 2, 2)][0]) < 0.01

# %% [markdown]
# On coarse meshes the brick is a little nearer to the beam than `hex20`, with 8 points instead of
# 27. The price are its modes without energy: with one layer of cells, two of them along the beam or
# Poisson's ratio 0.49, they made the tangent singular. In the library `volumetric="reduced"` of
# `hex20` takes 8 points for the change of volume alone, which has no such price.

# %% A bent block of the new element, coloured by the von Mises stress
body = block(brick, (10.0, 1.0, 1.0), (10, 2, 2))
load = sa.force(body["x1"], (0.0, 0.0, lambda t: -5e-4 * t))
system = sa.System(body, terms=[sa.fix(body["x0"]), load])
sa.StaticProblem(system, prefix="bent_").solve(step=0.5)
picture = sa.view.render(
    sa.sample(system, body, fields=["von_mises"]),
    field="von_mises",
    label="von Mises stress / E",
    eye=(0.3, -1.0, 0.3),
)
picture.save("brick.png")
picture
