# SPDX-License-Identifier: BSD-3-Clause
# mypy: ignore-errors
"""Exudyn on the mechanisms of `symancf bench --mechanisms --peers`: for a Python that has it.

It answers lines of JSON as `symancf.bench.mechanism` does. The work is the same: generalized-alpha
with the same step and spectral radius, modified Newton, which is Exudyn's faster choice. With
``"symbolic": true`` functions of time are `exudyn.symbolic`, else they are Python.
"""

import gc
import json
import math
import sys
import time
from itertools import pairwise

import dimensions as d
import exudyn as exu
import exudyn.itemInterface as items
import exudyn.utilities as utilities
import numpy as np
from exudyn.advancedUtilities import CreateSymbolicUserFunction
from peer_exudyn import cable

POSITION = exu.OutputVariableType.Position


class ExudynModel:
    """A system of Exudyn with the few items that the mechanisms are made of."""

    def __init__(self, symbolic):
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.mathematics = exu.symbolic if symbolic else math
        self.symbolic = symbolic
        self.functions = []
        self.ground = self.mbs.CreateGround()

    def function(self, function, name, item):
        """Return a user function of an item as it is, or recorded by `exudyn.symbolic`."""
        if self.symbolic:
            function = CreateSymbolicUserFunction(self.mbs, function, name, itemTypeName=item)
            self.functions.append(function)
        return function

    def box(self, size, position, rho, axes=None, g=(0.0, 0.0, d.G), **start):
        """Return a rigid box."""
        inertia = utilities.InertiaCuboid(density=rho, sideLengths=list(size))
        axes = np.eye(3) if axes is None else axes
        given = {"referenceRotationMatrix": axes, "inertia": inertia, "gravity": list(g), **start}
        return self.mbs.CreateRigidBody(referencePosition=list(position), **given)

    def planar(self, position, mass, inertia, g=0.0):
        """Return node and object of a rigid body of the plane by its centre of mass."""
        node = self.mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=list(position)))
        given = {"mass": mass, "inertia": inertia, "nodeNumber": node}
        body = self.mbs.AddObject(items.ObjectRigidBody2D(**given))
        self.weigh(body, g)
        return node, body

    def point(self, position, mass, g=0.0):
        """Return the node of a mass point of the plane."""
        node = self.mbs.AddNode(items.NodePoint2D(referenceCoordinates=list(position)))
        self.weigh(self.mbs.AddObject(items.ObjectMassPoint2D(mass=mass, nodeNumber=node)), g)
        return node

    def cables(self, points, section, g=0.0):
        """Return nodes and elements of a straight line of cables of the plane."""
        n = len(points) - 1
        points = np.asarray(points)[:, :2]
        length = float(np.linalg.norm(points[-1] - points[0]))
        slope = (points[-1] - points[0]) / length
        Node = items.NodePoint2DSlope1
        nodes = [self.mbs.AddNode(Node(referenceCoordinates=[*p, *slope])) for p in points]
        given = {
            "length": length / n,
            "massPerLength": section["rho"] * section["A"],
            "bendingStiffness": section["EI"],
            "axialStiffness": section["EA"],
        }
        made = [items.ObjectANCFCable2D(nodeNumbers=nodes[k : k + 2], **given) for k in range(n)]
        elements = [self.mbs.AddObject(element) for element in made]
        for element in elements:
            self.weigh(element, g)
        return nodes, elements

    def weigh(self, body, g):
        """Add a weight along y."""
        if g:
            mass = self.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
            self.mbs.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0, g, 0]))

    def at_node(self, node):
        """Return the marker of a node's position."""
        return self.mbs.AddMarker(items.MarkerNodePosition(nodeNumber=node))

    def at(self, body, point=(0.0, 0.0, 0.0), rigid=False):
        """Return the marker of a body's point."""
        Marker = items.MarkerBodyRigid if rigid else items.MarkerBodyPosition
        return self.mbs.AddMarker(Marker(bodyNumber=body, localPosition=list(point)))

    def pin(self, a, b):
        """Add a hinge of the plane between two markers."""
        self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[a, b]))

    def coordinate(self, node, k):
        """Return the marker of a coordinate of a node."""
        return self.mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=k))

    def fix(self, node, *coordinates, **options):
        """Hold coordinates of a node."""
        zero = self.coordinate(self.mbs.AddNode(items.NodePointGround()), 0)
        for k in coordinates:
            markers = [zero, self.coordinate(node, k)]
            self.mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=markers, **options))

    def torque(self, body, value):
        """Add a torque about z."""
        marker = self.at(body, rigid=True)
        self.mbs.AddLoad(items.LoadTorqueVector(markerNumber=marker, loadVector=[0, 0, value]))

    def angle(self, function):
        """Return a prescribed angle, a function of the model and time, as option of `fix`."""

        def offset(mbs, t, itemNumber, lOffset):
            return function(self, t)

        made = self.function(offset, "offsetUserFunction", "ObjectConnectorCoordinate")
        return {"offsetUserFunction": made}

    def strut(self, a, b, at, *, k, c, length):
        """Add a spring and a damper between points of two bodies."""
        self.mbs.CreateSpringDamper(
            bodyNumbers=[a, b],
            localPosition0=list(at[0]),
            localPosition1=list(at[1]),
            referenceLength=length,
            stiffness=k,
            damping=c,
        )

    def revolute(self, a, b, position, axis):
        """Add a hinge between two bodies."""
        given = {"position": list(position), "axis": list(axis), "useGlobalFrame": True}
        self.mbs.CreateRevoluteJoint(bodyNumbers=[a, b], **given)

    def spherical(self, a, b, position):
        """Add a ball joint between two bodies."""
        given = {"position": list(position), "useGlobalFrame": True}
        self.mbs.CreateSphericalJoint(bodyNumbers=[a, b], **given)


# A model returns two places: ("node", number) or ("body", number, local position).


def four_bar(m):
    """Return three boxes with two hinges and two ball joints."""
    bars = []
    for a, b in d.BARS:
        size = (float(np.linalg.norm(b - a)), *d.ACROSS)
        bars.append(m.box(size, (a + b) / 2, 1000.0, d.frame(a, b), (0.0, 0.3 * d.G, d.G)))
    A, B, C, D = d.JOINTS
    m.revolute(m.ground, bars[0], A, (1, 0, 0))
    m.revolute(m.ground, bars[2], D, (0, 1, 0))
    m.spherical(bars[0], bars[1], B)
    m.spherical(bars[1], bars[2], C)
    lengths = [float(np.linalg.norm(b - a)) for a, b in d.BARS]
    return ("body", bars[1], [lengths[1] / 2, 0, 0]), ("body", bars[0], [lengths[0] / 2, 0, 0])


def chain(m):
    """Return a chain of boxes with skew hinges."""
    L = d.LINK
    size = (L, 0.02, 0.03)
    links = [m.box(size, (L * (k + 0.5), 0, 0), 2000.0) for k in range(d.LINKS)]
    m.revolute(m.ground, links[0], (0, 0, 0), d.HINGES[0])
    for k in range(1, d.LINKS):
        m.revolute(links[k - 1], links[k], (L * k, 0, 0), d.HINGES[k % 2])
    return ("body", links[-1], [L / 2, 0, 0]), ("body", links[9], [L / 2, 0, 0])


def slider_crank(m):
    """Return a crank, a connecting rod of cables and a slider."""
    nodes, _ = m.cables(d.along((0, d.CRANK), (d.SLIDER, 0), d.ROD_CABLES), d.ROD_SECTION)
    _, crank = m.planar((0, d.CRANK / 2, math.pi / 2), 0.5, 0.5 * d.CRANK**2 / 12)
    slider = m.point((d.SLIDER, 0), 1.0)
    m.pin(m.at(m.ground), m.at(crank, (-d.CRANK / 2, 0, 0)))
    m.pin(m.at(crank, (d.CRANK / 2, 0, 0)), m.at_node(nodes[0]))
    m.pin(m.at_node(nodes[-1]), m.at_node(slider))
    m.fix(slider, 1)
    m.torque(crank, 0.5)
    return ("node", slider), ("node", nodes[d.ROD_CABLES // 2])


def manipulator(m):
    """Return two arms of cables with motors and a load."""
    n = d.ARM_CABLES
    lower, first = m.cables(d.along((0, 0), (1, 0), n), d.ARM_SECTION, d.G)
    upper, second = m.cables(d.along((1, 0), (2, 0), n), d.ARM_SECTION, d.G)
    load = m.point((2, 0), 0.1, d.G)
    m.pin(m.at(m.ground), m.at_node(lower[0]))
    m.pin(m.at_node(lower[-1]), m.at_node(upper[0]))
    m.pin(m.at_node(upper[-1]), m.at_node(load))
    item = "ObjectConnectorTorsionalSpringDamper"

    def motor(amplitude, w):
        def torque(mbs, t, itemNumber, rotation, angularVelocity, stiffness, damping, offset):
            sine, cosine = m.mathematics.sin(w * t), m.mathematics.cos(w * t)
            target, rate = amplitude * sine * sine, 2 * amplitude * w * sine * cosine
            return d.GAIN * (rotation - target) + d.DAMPING * (angularVelocity - rate)

        return m.function(torque, "springTorqueUserFunction", item)

    ends = (m.at(m.ground, rigid=True), m.at(first[0], rigid=True))
    elbow = (m.at(first[-1], (1 / n, 0, 0), rigid=True), m.at(second[0], rigid=True))
    for markers, target in zip((ends, elbow), d.TARGETS, strict=True):
        given = {"markerNumbers": list(markers), "springTorqueUserFunction": motor(*target)}
        m.mbs.AddObject(getattr(items, item)(stiffness=d.GAIN, damping=d.DAMPING, **given))
    return ("node", load), ("node", lower[-1])


def spin_up(m, t):
    """Return the angle of the rotor."""
    grows, steady = d.SPIN * t * t / (2 * d.SPIN_UP), d.SPIN * (t - d.SPIN_UP / 2)
    return exu.symbolic.IfThenElse(t < d.SPIN_UP, grows, steady) if m.symbolic else d.spin_up(t)


def lifted(m, t):
    """Return the angle of the arm with a payload."""
    return d.LIFT * (1 - m.mathematics.cos(d.LIFT_RATE * t))


def driven(m, angle, length, n, section, g):
    """Return nodes of a line of cables, welded to a hub with a prescribed angle."""
    nodes, elements = m.cables(d.along((0, 0), (length, 0), n), section, g)
    node, hub = m.planar((0, 0, 0), 1.0, 0.1)
    m.fix(node, 0, 1)
    m.fix(node, 2, **m.angle(angle))
    markers = [m.at(hub, rigid=True), m.at(elements[0], rigid=True)]
    axes = [1, 1, 0, 0, 0, 1]
    m.mbs.AddObject(items.GenericJoint(markerNumbers=markers, constrainedAxes=axes))
    return nodes


def rotor(m):
    """Return a line of cables on a hub."""
    nodes = driven(m, spin_up, 2.0, 16, d.ROTOR_SECTION, 0.0)
    return ("node", nodes[-1]), ("node", nodes[8])


def rods(m):
    """Return rods with ball joints."""
    r, E, nu, rho = (d.CIRCLE[k] for k in ("radius", "E", "nu", "rho"))
    A, I, shear = math.pi * r**2, math.pi * r**4 / 4, E / (2 + 2 * nu)
    k = 6 * (1 + nu) / (7 + 6 * nu)
    section = exu.BeamSection()
    stiffness = [E * A, k * shear * A, k * shear * A, 2 * shear * I, E * I, E * I]
    section.stiffnessMatrix = np.diag(stiffness)
    section.inertia = np.diag([0, rho * I, rho * I])
    section.massPerLength = rho * A
    n, last, ends = 2 * d.RODS_EACH, m.at(m.ground), []
    for k in range(d.RODS):
        places = d.along((d.ROD_LENGTH * k, 0, 0), (d.ROD_LENGTH * (k + 1), 0, 0), n)
        slopes = [0, 1, 0, 0, 0, 1]
        Node = items.NodePointSlope23
        nodes = [m.mbs.AddNode(Node(referenceCoordinates=[*p, *slopes])) for p in places]
        for pair in pairwise(nodes):
            given = {"length": d.ROD_LENGTH / n, "sectionData": section}
            given["crossSectionPenaltyFactor"] = [1, 1, 1]
            rod = m.mbs.AddObject(items.ObjectANCFBeam(nodeNumbers=list(pair), **given))
            mass = m.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=rod))
            g = [0, 0.2 * d.G, d.G]
            m.mbs.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=g))
        m.mbs.AddObject(items.SphericalJoint(markerNumbers=[last, m.at_node(nodes[0])]))
        last = m.at_node(nodes[-1])
        ends.append(nodes[-1])
    return ("node", ends[-1]), ("node", ends[4])


def net(m, points=False):
    """Return a net of balls with springs and dampers."""
    n, made = d.NET, {}
    for i in range(n):
        for j in range(n):
            given = {"referencePosition": [d.MESH * i, d.MESH * j, 0], "gravity": [0, 0, d.G]}
            if points:
                made[i, j] = m.mbs.CreateMassPoint(mass=d.BALL_MASS, **given)
            else:
                inertia = utilities.InertiaSphere(d.BALL_MASS, d.BALL)
                made[i, j] = m.mbs.CreateRigidBody(inertia=inertia, **given)
    zero = (0.0, 0.0, 0.0)
    for (i, j), body in made.items():
        for other in ((i + 1, j), (i, j + 1)):
            if other in made:
                given = {"k": d.SPRING, "c": d.DASHPOT, "length": d.MESH * d.SLACK}
                m.strut(body, made[other], (zero, zero), **given)
    for i, j in ((0, 0), (0, n - 1), (n - 1, 0), (n - 1, n - 1)):
        m.spherical(m.ground, made[i, j], [d.MESH * i, d.MESH * j, 0])
    first, second = made[n // 2 - 1, n // 2], made[n // 5, n // 5]
    return ("body", first, zero), ("body", second, zero)


def net_of_points(m):
    """Return the same of point masses."""
    return net(m, points=True)


def block(m):
    """Return a box with balls of 5 mm at its corners on a plane of triangles."""
    start = {"initialVelocity": list(d.THROW), "initialAngularVelocity": [0, 0, d.WHIRL]}
    body = m.box(d.BLOCK, (0, 0, d.BLOCK[2] / 2), 1000.0, **start)
    contact = m.mbs.AddGeneralContact()
    contact.SetFrictionPairings(np.diag([d.FRICTION]))
    contact.frictionProportionalZone = 1e-3
    material = {
        "contactStiffness": 2 * d.STIFFNESS,
        "contactDamping": 200.0,
        "frictionMaterialIndex": 0,
    }
    contact.AddTrianglesRigidBodyBased(
        rigidBodyMarkerIndex=m.at(m.ground, rigid=True),
        pointList=[[-5, -5, 0], [5, -5, 0], [5, 5, 0], [-5, 5, 0]],
        triangleList=[[0, 1, 2], [0, 2, 3]],
        **material,
    )
    r, half = 0.005, np.array(d.BLOCK) / 2
    for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        corner = (x * half[0], y * half[1], r - half[2])
        contact.AddSphereWithMarker(m.at(body, corner, rigid=True), radius=r, **material)
    return ("body", body, [0, 0, 0]), ("body", body, half.tolist())


def cables(m):
    """Return the pendulum of ten cables."""
    tip = cable(m.mbs, 10, space=True)
    return ("node", tip), ("node", tip - 5)


def plates(m):
    """Return the pendulum of thin plates."""
    from exudyn.shells import ShellMesh

    mesh = ShellMesh(
        vertices=[[0, 0, 0], [0.3, 0, 0], [0.3, 0.18, 0], [0, 0.18, 0]],
        numberOfElementsX=10,
        numberOfElementsY=6,
        youngsModulus=1e5,
        poissonsRatio=0.3,
        density=7810.0,
        thickness=0.01,
    )
    mesh.CreateANCFThinPlateElements(m.mbs)
    for element in mesh.elementNumbers:
        mass = m.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=element))
        m.mbs.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0, 0, d.G]))
    hook = [m.at(m.ground), m.at_node(mesh.nodeNumbers[0])]
    m.mbs.AddObject(items.ObjectJointSpherical(markerNumbers=hook))
    return ("node", mesh.nodeNumbers[-1]), ("node", mesh.nodeNumbers[10])


def crank_rocker(m):
    """Return a four-bar linkage with a coupler of cables."""
    a, b, c, e = d.PINS
    bodies, halves = [], []
    for base, tip in ((a, b), (e, c)):
        x, y = tip - base
        L = math.hypot(x, y)
        bodies.append(m.planar((*(base + tip) / 2, math.atan2(y, x)), L, L**3 / 12, d.G)[1])
        halves.append((L / 2, 0, 0))
    nodes, _ = m.cables(d.along(b, c, d.COUPLER_CABLES), d.COUPLER_SECTION, d.G)
    for body, half, base, node in zip(bodies, halves, (a, e), (nodes[0], nodes[-1]), strict=True):
        m.pin(m.at(m.ground, (*base, 0)), m.at(body, (-half[0], 0, 0)))
        m.pin(m.at(body, half), m.at_node(node))
    m.torque(bodies[0], d.COUPLER_TORQUE)
    return ("body", bodies[1], list(halves[1])), ("node", nodes[d.COUPLER_CABLES // 2])


def platform(m):
    """Return a platform on six legs, and a box hung below."""
    start = {"initialVelocity": [0.3, 0, 0]}
    top = m.box(d.PLATFORM, d.PLATFORM_AT, 500.0, **start)
    drop = d.PLATFORM[2] / 2 + d.HANGING[2] / 2
    rod = m.box(d.HANGING, (0, 0, d.PLATFORM_AT[2] - drop), 2000.0, **start)
    m.spherical(top, rod, (0, 0, d.PLATFORM_AT[2] - d.PLATFORM[2] / 2))
    for foot, head in d.legs():
        length = float(np.linalg.norm(d.PLATFORM_AT + head - foot))
        m.strut(top, m.ground, (head, foot), k=d.LEG, c=d.LEG_DAMPING, length=length)
    return ("body", rod, [0, 0, -d.HANGING[2] / 2]), ("body", top, [0.2, 0.2, 0])


def double_pendulum(m):
    """Return two boxes with skew hinges and a spring."""
    L = d.PENDULUM[0]
    upper, lower = (m.box(d.PENDULUM, (L * (k + 0.5), 0, 0), 800.0) for k in (0, 1))
    m.revolute(m.ground, upper, (0, 0, 0), d.PENDULUM_AXES[0])
    m.revolute(upper, lower, (L, 0, 0), d.PENDULUM_AXES[1])
    length = float(np.linalg.norm(np.subtract(d.ANCHOR, (2 * L, 0, 0))))
    given = {"k": d.TETHER, "c": d.TETHER_DAMPING, "length": length}
    m.strut(lower, m.ground, ((L / 2, 0, 0), d.ANCHOR), **given)
    return ("body", lower, [L / 2, 0, 0]), ("body", upper, [L / 2, 0, 0])


def gears(m):
    """Return a motor, a gear, an elastic shaft and a flywheel."""
    wheels = [
        m.planar((0.1 * k + (d.ECCENTRICITY if k == 2 else 0.0), 0, 0), mass, J, d.G)
        for k, (mass, J) in enumerate(zip(d.MASSES, d.INERTIAS, strict=True))
    ]
    (motor, first), (gear, _), (flywheel, last) = wheels
    for node in (motor, gear):
        m.fix(node, 0, 1)
    m.pin(m.at(m.ground, (0.2, 0, 0)), m.at(last, (-d.ECCENTRICITY, 0, 0)))
    teeth = [m.coordinate(motor, 2), m.coordinate(gear, 2)]
    m.mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=teeth, factor1=d.RATIO))
    shaft = [m.coordinate(gear, 2), m.coordinate(flywheel, 2)]
    given = {"markerNumbers": shaft, "stiffness": d.SHAFT, "damping": d.SHAFT_DAMPING}
    m.mbs.AddObject(items.ObjectConnectorCoordinateSpringDamper(**given))
    m.torque(first, d.MOTOR)
    return ("body", last, [0.1 - d.ECCENTRICITY, 0, 0]), ("body", first, [0.1, 0, 0])


def payload(m):
    """Return an arm of cables with a mass at its tip."""
    nodes = driven(m, lifted, d.REACH, d.REACH_CABLES, d.REACH_SECTION, d.G)
    load = m.point((d.REACH, 0), d.PAYLOAD, d.G)
    m.pin(m.at_node(nodes[-1]), m.at_node(load))
    return ("node", load), ("node", nodes[d.REACH_CABLES // 2])


MODELS = {
    "four-bar": four_bar,
    "chain": chain,
    "slider-crank": slider_crank,
    "manipulator": manipulator,
    "rotor": rotor,
    "rods": rods,
    "net": net,
    "net of points": net_of_points,
    "block": block,
    "cables": cables,
    "plates": plates,
    "crank-rocker": crank_rocker,
    "platform": platform,
    "double pendulum": double_pendulum,
    "gears": gears,
    "payload": payload,
}
SYMBOLIC = "manipulator", "rotor", "payload"  # have functions of time


def designs(count, record):
    """Return the CPU time [ms] of equilibria of a cantilever of cables with other stiffnesses."""
    m = ExudynModel(False)
    mbs = m.mbs
    section = {"EA": d.DESIGN_EA, "EI": d.DESIGNS[0], "rho": 1.0, "A": 1.0}
    nodes, elements = m.cables(d.along((0, 0), (1, 0), d.DESIGN_CABLES), section)
    m.fix(nodes[0], 0, 1, 2, 3)
    force = list(d.TIP_FORCE)
    mbs.AddLoad(items.LoadForceVector(markerNumber=m.at_node(nodes[-1]), loadVector=force))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.staticSolver.verboseMode, settings.staticSolver.numberOfLoadSteps = 0, 1
    settings.displayStatistics = settings.solutionSettings.writeSolutionToFile = False
    deflections, iterations = [], 0
    gc.collect()
    start = time.process_time()
    for EI in np.linspace(*d.DESIGNS, count):
        for element in elements:
            mbs.SetObjectParameter(element, "physicsBendingStiffness", float(EI))
        mbs.SolveStatic(settings, updateInitialValues=True)
        iterations += mbs.sys["staticSolver"].it.newtonStepsCount
        if record:
            deflections.append(mbs.GetNodeOutput(nodes[-1], POSITION))
    spent = time.process_time() - start
    return {
        "name": f"Exudyn {exu.config.Version()}",
        "ms_per_step": 1e3 * spent / count,
        "iterations": iterations / count,
        "unknowns": mbs.systemData.ODE2Size() + mbs.systemData.AEsize(),
        "end": np.asarray(mbs.GetNodeOutput(nodes[-1], POSITION)).tolist(),
    }


def place_of(mbs, kind, number, point=None):
    """Return the present position of a place."""
    if kind == "node":
        return mbs.GetNodeOutput(number, POSITION)
    return mbs.GetObjectOutputBody(number, POSITION, point)


def sensor_of(kind, number, point=None):
    """Return the sensor of a place's position."""
    given = {"outputVariableType": POSITION, "storeInternal": True, "writeToFile": False}
    if kind == "node":
        return items.SensorNode(nodeNumber=number, **given)
    return items.SensorBody(bodyNumber=number, localPosition=point, **given)


def run(model, steps=None, record=False, symbolic=False):
    """Return the CPU time of a step [ms] and the position of the first place at the end."""
    steps = steps or d.MODELS[model].steps
    if model == "designs" and not symbolic:
        return designs(steps, record)
    if symbolic and model not in SYMBOLIC:
        return {"missing": "no function of time"}
    m = ExudynModel(symbolic)
    mbs = m.mbs
    places = MODELS[model](m)
    for place in places if record else ():
        mbs.AddSensor(sensor_of(*place))
    mbs.Assemble()
    h = d.MODELS[model].h
    settings = exu.SimulationSettings()
    motion = settings.timeIntegration
    motion.numberOfSteps, motion.endTime, motion.verboseMode = steps, steps * h, 0
    motion.generalizedAlpha.spectralRadius = d.SPECTRAL_RADIUS
    motion.newton.useModifiedNewton = True
    settings.displayStatistics = False
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = h if record else 1e9
    unknowns = mbs.systemData.ODE2Size() + mbs.systemData.AEsize()
    kinds = exu.LinearSolverType
    settings.linearSolverType = kinds.EigenSparse if unknowns > 60 else kinds.EXUdense
    gc.collect()
    start = time.process_time()
    mbs.SolveDynamic(settings)
    spent = time.process_time() - start
    return {
        "name": f"Exudyn {exu.config.Version()}",
        "ms_per_step": 1e3 * spent / steps,
        "iterations": mbs.sys["dynamicSolver"].it.newtonStepsCount / steps,
        "unknowns": unknowns,
        "end": np.asarray(place_of(mbs, *places[0])).tolist(),
    }


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            answer = run(**json.loads(line))
        except Exception as error:
            answer = {"missing": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)
