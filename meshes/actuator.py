# SPDX-License-Identifier: BSD-3-Clause
"""Pneumatic actuator of silicone: nine chambers in a row with gaps between them, and a channel.

    python meshes/actuator.py                                  actuator.h5, 2 layers, 2.5 mm
    python meshes/actuator.py --layers 4 --size 1e-3 --half --cell tetra10 finer.h5

x along, z up, in metres. The root is x = 0; under gas it bends towards z = 0, the palm.
"""

from __future__ import annotations

import argparse

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.elements import CELLS

LENGTH, WIDTH, HEIGHT = 71e-3, 15e-3, 15e-3  # m
CHAMBERS, PITCH, GAP = 9, 8e-3, 1e-3
END, SIDE, FLOOR, ROOF = 1.75e-3, 2e-3, 3e-3, 2e-3  # walls of a chamber
CHANNEL, BOTTOM = 2e-3, 7e-3  # its width and height; z of the bottom of the gaps


def divided(*parts):
    """Return the ends of cells on a line of parts (length, number of cells)."""
    lines = [0.0]
    for length, n in parts:
        lines += list(lines[-1] + length * np.arange(1, n + 1) / n)
    return np.array(lines)


def cells_along(layers, size, half):
    """Return the planes between cells in x, y and z: `layers` through walls, else of `size`."""

    def part(length, least=1):
        return length, max(least, int(np.ceil(length / size - 1e-9)))

    end, side, chamber = (END, layers), (SIDE, layers), part(PITCH - GAP - 2 * END)
    x = divided(*(CHAMBERS * [end, chamber, end, part(GAP)])[:-1])
    y = divided(part(CHANNEL / 2), part(WIDTH / 2 - SIDE - CHANNEL / 2), side)
    floor = part(FLOOR, int(np.ceil(layers * FLOOR / SIDE)))
    cover = BOTTOM - FLOOR - CHANNEL, layers  # of the channel, under the gaps
    z = divided(floor, part(CHANNEL), cover, part(HEIGHT - ROOF - BOTTOM), (ROOF, layers))
    return x, y if half else np.concatenate([-y[:0:-1], y]), z


def within(X, low, high):
    """Return which of X (n, k) lie in a box, its sides included."""
    middle, half = np.add(low, high) / 2, np.subtract(high, low) / 2
    return (abs(X - middle) < half + 1e-9).all(axis=1)


def in_gas(X):
    """Return which of X (n, 3) lie in a chamber or in the channel, their walls included."""
    x, y, z = X[:, 0] % PITCH, abs(X[:, 1]), X[:, 2]
    low, high = (END, 0.0, FLOOR), (PITCH - GAP - END, WIDTH / 2 - SIDE, HEIGHT - ROOF)
    chamber = within(np.stack([x, y, z], axis=1), low, high)
    low, high = (END, 0.0, FLOOR), (LENGTH - END, CHANNEL / 2, FLOOR + CHANNEL)
    return chamber | within(np.stack([X[:, 0], y, z], axis=1), low, high)


def in_gap(X):
    """Return which of X (n, 3) lie between the walls of two chambers, these walls included."""
    x = X[:, 0] % PITCH
    inner = (x > PITCH - GAP - 1e-9) | (x < 1e-9)
    return inner & (X[:, 0] > 1e-9) & (X[:, 0] < LENGTH - 1e-9) & (X[:, 2] > BOTTOM + 1e-9)


def arrays(layers=2, size=2.5e-3, half=False, cell="hexahedron"):
    """Return the points, cells and regions of the actuator for `sa.Mesh.from_arrays`.

    Regions: `silicone`; faces `root`, `tip`, `inside` (all that the gas touches), `outside` (all
    else but `root`), of it `palm` (z = 0) and `walls` (those that face a gap), and `symmetry` of
    the half y > 0. Corners of faces run counter-clockwise seen from outside of the silicone.

    Parameters
    ----------
    layers : cells through the walls of 2 mm (and 1.75 mm); 3 for 2 through the floor of 3 mm.
    size : largest edge of the cells elsewhere [m].
    half : only y > 0.
    cell : ``"hexahedron"``, ``"hexahedron20"`` or ``"tetra10"``, six in each cube.
    """
    lines = cells_along(layers, size, half)
    count = [len(line) - 1 for line in lines]

    def place(X):
        columns = (np.interp(x, np.arange(len(p)), p) for x, p in zip(X.T, lines, strict=True))
        return np.stack(list(columns), axis=1)

    box = sa.Mesh.box(count, count, cell=cell, warp=place, comm=MPI.COMM_SELF)
    points, cells = box.points, box.cells[cell].connectivity
    centre = points[cells].mean(axis=1)
    cells = cells[~in_gas(centre) & ~in_gap(centre)]
    used, cells = np.unique(cells, return_inverse=True)
    points, cells = points[used], cells.reshape(-1, len(CELLS[cell].nodes))

    (kind,) = {name for name in CELLS[cell].traces if CELLS[name].dimension == 2}
    faces = cells[:, CELLS[cell].sides(kind)].reshape(-1, len(CELLS[kind].nodes))
    _, first, times = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True
    )
    faces = faces[np.sort(first[times == 1])]
    centre = points[faces].mean(axis=1)
    gas, gap, (x, y, z) = in_gas(centre), in_gap(centre), centre.T
    cut = (y < 1e-9) if half else np.zeros(len(faces), bool)
    root = x < 1e-9
    parts = {
        "root": root,
        "tip": x > LENGTH - 1e-9,
        "inside": gas & ~cut,
        "outside": ~(gas | root | cut),
        "palm": z < 1e-9,
        "walls": gap & ~cut,
    }
    regions = {name: (kind, np.flatnonzero(found)) for name, found in parts.items()}
    if half:
        regions["symmetry"] = kind, np.flatnonzero(cut)
    regions["silicone"] = cell, np.arange(len(cells))
    return points, {cell: cells, kind: faces}, regions


def actuator(layers=2, size=2.5e-3, half=False, cell="hexahedron", comm=MPI.COMM_WORLD):
    """Return the mesh, made by rank 0 (collective); see `arrays`."""
    made = arrays(layers, size, half, cell) if comm.rank == 0 else (None, None, None)
    return sa.Mesh.from_arrays(*made, comm, name="actuator")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", default="actuator.h5")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--size", type=float, default=2.5e-3)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--cell", default="hexahedron")
    given = vars(parser.parse_args())
    path = given.pop("path")
    mesh = actuator(**given)
    mesh.write(path)
    print(mesh)
    print(mesh.quality())
