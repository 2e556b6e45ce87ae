# SPDX-License-Identifier: BSD-3-Clause
"""Your own part from STEP.

A bracket from a STEP file is meshed by [Gmsh](https://gmsh.info), clamped at its bolts, loaded, and
its von Mises stress drawn and checked on finer meshes. Gmsh comes by `pip install gmsh`; it is not
needed otherwise. Units are N, mm and MPa.
"""

# %% [markdown]
# ## A part
# You have a STEP file. Here is how this one is made, an angle of two plates with a fillet between
# them and two holes, by the OpenCASCADE kernel within Gmsh (which says so).

# %%
import gmsh
import numpy as np
from mpi4py import MPI

import symancf as sa

COMM = MPI.COMM_WORLD  # Gmsh works on one rank, which writes its files
WIDTH, HIGH, LONG, THICK, ROUND, HOLE = 40.0, 60.0, 60.0, 6.0, 8.0, 4.0  # mm


def draw_part(path):
    """Write the bracket: a wall in the plane x = 0, an arm along x, a fillet in the corner."""
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    cad = gmsh.model.occ
    wall = cad.addBox(0, 0, 0, THICK, WIDTH, HIGH)
    arm = cad.addBox(0, 0, 0, LONG, WIDTH, THICK)
    cad.fuse([(3, wall)], [(3, arm)])
    cad.synchronize()
    x, z = THICK, THICK  # of the inner corner
    (corner,) = gmsh.model.getEntitiesInBoundingBox(x - 1, -1, z - 1, x + 1, WIDTH + 1, z + 1, 1)
    cad.fillet([1], [corner[1]], [ROUND])
    for y in (WIDTH / 4, 3 * WIDTH / 4):
        hole = cad.addCylinder(-1, y, 0.75 * HIGH, THICK + 2, 0, 0, HOLE)
        cad.cut([(3, 1)], [(3, hole)])
    cad.synchronize()
    gmsh.write(path)
    gmsh.finalize()


if COMM.rank == 0:
    draw_part("bracket.step")

# %% [markdown]
# ## A mesh
# Tetrahedra of second order follow the curved faces, and do not lock. The size of cells is given,
# and `MeshSizeFromCurvature` makes them smaller in holes and fillets. Nothing is named in the file;
# that comes next.


# %%
def mesh_part(path, size):
    """Write bracket.msh, a mesh of the part of a STEP file, with cells of a size [mm]."""
    gmsh.initialize(interruptible=False)
    for name, value in {
        "General.Terminal": 0,
        "Mesh.MeshSizeMax": size,
        "Mesh.MeshSizeFromCurvature": 2 * np.pi * ROUND / size,  # cells in a whole turn
        "Mesh.ElementOrder": 2,
        "Mesh.HighOrderOptimize": 2,
    }.items():
        gmsh.option.setNumber(name, value)
    gmsh.model.occ.importShapes(path)
    gmsh.model.occ.synchronize()
    gmsh.model.mesh.generate(3)
    gmsh.write("bracket.msh")
    gmsh.finalize()


def part(size):
    """Return the mesh of the bracket with cells of a size [mm]."""
    if COMM.rank == 0:
        mesh_part("bracket.step", size)
    return sa.Mesh.read("bracket.msh")


mesh = part(6.0)
sa.root_print(mesh)
sa.root_print(mesh.quality())

# %% [markdown]
# ## Boundaries
# Places that act are chosen in the script. `near` takes the face about a place, up to its sharper
# edges: an easy way to name what one would click on; a fillet goes over into its plates, and needs
# a second condition. A function says of each place whether it belongs.


# %% The bracket with its two holes, its end and its fillet marked
def name_places(mesh):
    """Name the holes, the end of the arm, and the fillet."""
    for k, y in enumerate((WIDTH / 4, 3 * WIDTH / 4)):
        mesh.select(f"hole {k}", near=(THICK / 2, y, 0.75 * HIGH + HOLE))
    mesh.select("end", lambda X: X[:, 0] > LONG - 1e-6)
    reach, half = THICK + ROUND, ROUND / 2**0.5
    in_corner = lambda X: (X[:, 0] < reach + 1e-6) & (X[:, 2] < reach + 1e-6)  # noqa: E731
    mesh.select("fillet", in_corner, near=(reach - half, WIDTH / 2, reach - half))
    return mesh["hole 0"] | mesh["hole 1"]


bolts = name_places(mesh)
picture = sa.view.regions(mesh, names=["hole 0", "hole 1", "end", "fillet"])
picture.save("bracket_regions.png")
picture

# %% [markdown]
# ## Clamped and loaded
# Aluminium, 300 N down at the end of the arm. `sa.fix` holds the walls of the holes; `force`
# spreads a total over a face.

# %%
LOAD = 300.0  # N


def solve(mesh, bolts):
    """Return the system, its body and the clamp, in equilibrium."""
    law = sa.energies.saint_venant_kirchhoff()
    bracket = sa.Body(mesh["all"], sa.elements.tet10, law, name="bracket", E=70e3, nu=0.33)
    clamp = sa.fix(bracket[bolts])
    pull = sa.force(bracket["end"], (0.0, 0.0, -LOAD))
    system = sa.System(bracket, terms=[clamp, pull])
    sa.StaticProblem(system, prefix="bracket_").solve()
    return system, bracket, clamp


system, bracket, clamp = solve(mesh, bolts)
reaction = clamp.reaction(system).force
sa.root_print(system)
sa.root_print(f"the bolts bear {reaction.round(6)} N")
assert np.abs(reaction - [0, 0, LOAD]).max() < 1e-6 * LOAD

# %% The loaded bracket, coloured by the von Mises stress
stress = sa.sample(system, bracket, fields=["von_mises"])
picture = sa.view.render(
    stress, field="von_mises", label="von Mises stress", unit="MPa", eye=(0.9, -1.0, 0.7)
)
picture.save("bracket.png")
picture

# %% [markdown]
# ## Is the mesh fine enough?
# Three meshes. The deflection and the stress in the fillet settle; from the second mesh to the
# third they still change by some per cent. The largest stress of the whole part does not: it is at
# the rims of the clamped holes, where the stress of linear elasticity is infinite, and depends on
# the mesh only. Bolts with washers, modelled, would cure that.
#
# `sa.sample` has the stress up to the surface, which is what a part fails by, and what is quoted
# here. `sa.maximum` keeps to the points of the energy's rule within the cells: some per cent less
# on a coarse mesh, and the same in the end (`at="lattice"` for that of pictures).


# %%
def measure(size):
    """Return unknowns, deflection of the end [mm], stress in the fillet and anywhere [MPa]."""
    mesh = part(size)
    system, bracket, _ = solve(mesh, name_places(mesh))
    end = system.displacement(bracket.at((LONG, WIDTH / 2, THICK / 2)))[0, 2]
    points = sa.sample(system, bracket, fields=["von_mises"], reference=True)
    X, mises = points.points, points.point_data["von_mises"]
    reach = THICK + ROUND
    near = (
        (X[:, 0] > THICK - 1e-6) & (X[:, 0] < reach) & (X[:, 2] > THICK - 1e-6) & (X[:, 2] < reach)
    )
    middle = near & (np.abs(X[:, 1] - WIDTH / 2) < WIDTH / 4)
    largest = [mises[those].max(initial=0.0) for those in (middle, ...)]  # of this rank's points
    return system.unknowns.size, end, *(COMM.allreduce(value, op=MPI.MAX) for value in largest)


found = {size: measure(size) for size in (10.0, 6.0, 4.0)}
for size, (unknowns, end, fillet, anywhere) in found.items():
    sa.root_print(
        f"{size:4.1f} mm: {unknowns:6d} unknowns, end {end:.4f} mm, "
        f"fillet {fillet:.1f} MPa, largest {anywhere:.1f} MPa"
    )

(_, end, fillet, _), (_, end_4, fillet_4, _) = found[6.0], found[4.0]
sa.root_print(
    f"changes: end {100 * (end_4 / end - 1):.1f} %, fillet {100 * (fillet_4 / fillet - 1):.1f} %"
)
assert abs(end_4 / end - 1) < 0.03
assert abs(fillet_4 / fillet - 1) < 0.05
