# SPDX-License-Identifier: BSD-3-Clause
"""Solve systems on this number of ranks; print displacements and slopes by node as JSON."""

from __future__ import annotations

import json
import sys

import numpy as np

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff, yeoh

RUBBER = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 50.0}
ELASTIC = {"E": 1e6, "nu": 0.3, "thickness": 0.05}


def wavy(X):
    """Distort the inside of a box of side 1."""
    bubble = np.prod(np.sin(np.pi * X[:, :2]), axis=1)[:, None]
    return X + 0.05 * bubble * np.sin(5.0 * X[:, [1, 2, 0]] + [0.3, 1.0, 2.0]) * [1.0, 1.0, 0.0]


def hexahedra():
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (4, 4, 5), warp=wavy)
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, yeoh(), name="cube", rho=1.0, **RUBBER)
    pull = sa.fix(body["z1"], displacement=(lambda t: 0.2 * t, 0.0, lambda t: 0.3 * t))
    return [body], [sa.fix(body["z0"]), pull, sa.gravity((0.0, 0.1, 0.0))]


def plates():
    mesh = sa.Mesh.box((1.0, 1.0), (5, 4), warp=wavy)
    stiff = sa.Field(lambda X: 1e6 * (1.0 + X[:, 0]))
    parameters = ELASTIC | {"E": stiff}
    plate = sa.Body(mesh["body"], sa.elements.ancf_plate, saint_venant_kirchhoff(), **parameters)
    return [plate], [sa.fix(plate["x0"]), sa.traction(plate["x1"], (0.0, 0.0, 8.0))]


def shell():
    mesh = sa.Mesh.box((1.0, 1.0), (5, 4))
    plate = sa.Body(mesh["body"], sa.elements.ancf_thin_plate, kirchhoff(), **ELASTIC)
    return [plate], [sa.fix(plate["x0"]), sa.moment(plate["x1"], (0.0, -2.0, 0.0))]


def line():
    mesh = sa.Mesh.box((1.0,), (17,))
    beam = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), EA=1e4, EI=1.0)
    return [beam], [sa.fix(beam["x0"]), sa.force(beam["x1"], (0.0, 3.0, 1.0))]


def tied():
    x = [np.linspace(0.0, 0.5, 4), np.linspace(0.5, 1.0, 3)]
    y = [np.linspace(0.0, 0.5, 6), np.linspace(0.0, 0.5, 4)]
    points, quads, lines = [], [], {}
    for k, (root, tip) in enumerate((("root", "seam"), ("other", "tip"))):
        n = np.arange(len(x[k]) * len(y[k])).reshape(len(x[k]), -1) + (24 if k else 0)
        points += [(a, b, 0.0) for a in x[k] for b in y[k]]
        corners = (n[:-1, :-1], n[1:, :-1], n[1:, 1:], n[:-1, 1:])
        quads.append(np.stack([c.ravel() for c in corners], axis=1))
        for name, side in ((root, n[0]), (tip, n[-1])):
            lines[name] = ("line", np.stack([side[:-1], side[1:]], axis=1))
    first = len(quads[0])
    regions = {"left": ("quad", np.arange(first)), **lines}
    regions["right"] = ("quad", first + np.arange(len(quads[1])))
    mesh = sa.Mesh.from_arrays(points, {"quad": np.concatenate(quads)}, regions)
    left, right = (
        sa.Body(mesh[name], sa.elements.ancf_plate, saint_venant_kirchhoff(), name=name, **ELASTIC)
        for name in ("left", "right")
    )
    terms = [sa.fix(left["root"]), sa.joints.tie(left["seam"], right)]
    # both ends of a tie held: its multipliers there are no unknowns
    terms += [sa.fix(body.at((0.5, 0.0, 0.0)), "position") for body in (left, right)]
    return [left, right], [*terms, sa.force(right["tip"], (0.0, 0.5, 5.0))]


def displacements(bodies, terms):
    """Return displacements and slopes of all nodes in the order of the mesh."""
    system = sa.System(*bodies, terms=terms)
    sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve(step=0.5)
    nodes = [(body, body[body.region.name]) for body in bodies]
    values = [system.displacement(place) for _, place in nodes]
    values += [np.vstack(system.gradient(place)) for body, place in nodes if body.element.slopes]
    cells = system.comm.allreduce(
        sum(int(system._discrete.binding(body).interpolation.owned.sum()) for body in bodies)
    )
    assert cells == sum(body.region.size for body in bodies)
    if system.comm.size > 1:  # a distribution that leaves all to one rank would prove nothing
        owners = system.comm.allgather(system._discrete.numbering.rows > 0)
        assert sum(owners) > 1
    return np.concatenate(values).tolist()


def main() -> None:
    import warnings

    warnings.simplefilter("ignore")  # points of the tied halves coincide
    systems = (hexahedra, plates, shell, line, tied)
    chosen = [s for s in systems if not sys.argv[1:] or s.__name__ in sys.argv[1:]]
    found = {make.__name__: displacements(*make()) for make in chosen}
    from mpi4py import MPI

    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(found))


main()
