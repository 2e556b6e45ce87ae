# SPDX-License-Identifier: BSD-3-Clause
# mypy: ignore-errors
"""Exudyn on the motions of `symancf bench --motions --peers`: a script for a Python that has it.

    python peer_exudyn.py cable 100 1000 1e-3 [--newton] [--space]
    python peer_exudyn.py plate 8 1200 5e-4 [--newton]

Arguments: model, elements (a side), steps, length of a step. It prints one JSON object. The work is
that of `symancf.bench.motion`: generalized-alpha with a spectral radius of 0.9. Modified Newton is
Exudyn's faster choice, ``--newton`` takes a tangent in every iteration; ``--space`` takes cables
with three coordinates per vector, as symancf's have, instead of two. CPU seconds of the process.
"""

import json
import sys
import time

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np


def cable(mbs, n: int, space: bool) -> int:
    """Build the pendulum of n cables; return the node of the tip."""
    L, E, A, I, rho = 1.2, 0.7e6, 1.8e-3, 1.215e-8, 5540.0
    values = {
        "length": L / n,
        "massPerLength": rho * A,
        "bendingStiffness": E * I,
        "axialStiffness": E * A,
    }
    places = [[L * i / n, 0.0, 1.0, 0.0] for i in range(n + 1)]
    if space:
        places = [[x, y, 0.0, dx, dy, 0.0] for x, y, dx, dy in places]
    Node = items.NodePointSlope1 if space else items.NodePoint2DSlope1
    Cable = items.ObjectANCFCable if space else items.ObjectANCFCable2D
    nodes = [mbs.AddNode(Node(referenceCoordinates=x)) for x in places]
    for i in range(n):
        element = mbs.AddObject(Cable(nodeNumbers=nodes[i : i + 2], **values))
        weigh(mbs, element, [0, -9.81, 0])
    pin(mbs, nodes[0], planar=not space)
    return nodes[-1]


def plate(mbs, n: int) -> int:
    """Build the pendulum of n x n thin plates, hung at a corner; return the opposite corner."""
    from exudyn.shells import ShellMesh

    a = 0.3
    mesh = ShellMesh(
        vertices=[[0, 0, 0], [a, 0, 0], [a, a, 0], [0, a, 0]],
        numberOfElementsX=n,
        numberOfElementsY=n,
        youngsModulus=1e5,
        poissonsRatio=0.3,
        density=7810.0,
        thickness=0.01,
    )
    mesh.CreateANCFThinPlateElements(mbs)
    for element in mesh.elementNumbers:
        weigh(mbs, element, [0, 0, -9.81])
    pin(mbs, mesh.nodeNumbers[0])
    return mesh.nodeNumbers[-1]


def weigh(mbs, element: int, g) -> None:
    """Add the weight of an element."""
    mass = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=element))
    mbs.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=g))


def pin(mbs, node: int, planar: bool = False) -> None:
    """Hold the position of a node."""
    ground = mbs.AddObject(items.ObjectGround())
    at = mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=ground, localPosition=[0, 0, 0]))
    marker = mbs.AddMarker(items.MarkerNodePosition(nodeNumber=node))
    Joint = items.ObjectJointRevolute2D if planar else items.ObjectJointSpherical
    mbs.AddObject(Joint(markerNumbers=[at, marker]))


def main() -> None:
    """Run what the command line asks for."""
    kind, n, steps, h = sys.argv[1], *map(int, sys.argv[2:4]), float(sys.argv[4])
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    tip = cable(mbs, n, "--space" in sys.argv) if kind == "cable" else plate(mbs, n)
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = steps * h
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.newton.useModifiedNewton = "--newton" not in sys.argv
    settings.timeIntegration.verboseMode = 0
    settings.displayStatistics = False
    settings.solutionSettings.writeSolutionToFile = False
    dense = kind == "cable" and n < 20
    solver = exu.LinearSolverType.EXUdense if dense else exu.LinearSolverType.EigenSparse
    settings.linearSolverType = solver
    start = time.process_time()
    mbs.SolveDynamic(settings)
    spent = time.process_time() - start
    place = np.asarray(mbs.GetNodeOutput(tip, exu.OutputVariableType.Position))
    result = {"steps": steps, "ms_per_step": 1e3 * spent / steps, "tip": place.tolist()}
    print(json.dumps({"name": f"Exudyn {exu.config.Version()}", **result}))


if __name__ == "__main__":
    main()
