# SPDX-License-Identifier: BSD-3-Clause
"""symancf: structures and soft robots in the absolute nodal coordinate formulation.

Write the energy, the force or the constraint as a plain SymPy function; symancf derives
residual and tangent, generates C, and hands assembly and solution to PETSc on any number of
MPI ranks.

The rooms of the package, each importing only from those below it (`lint-imports` checks it):

    command, bench, verify
    extensions              pictures, flexures, sections: found by entry points, not imported
    solve                   equilibria, paths, motions and modes; multigrid behind one interface
    output                  histories, checkpoints, files
    system                  bodies and terms, distributed and numbered
    catalogue               terms ready for use: loads, supports, joints, gas
    bodies                  of cells, rigid in the plane, rigid in space, points
    terms                   entities, quantities, constraints, potentials, virtual work
    places                  nodes, points, facets and lines that terms act on
    newton                  when Newton's method may stop; equations that say the same
    assembly                coordinates, kernels with their entities, matrix
    mesh                    points, cells, regions; their partition
    laws                    what the compiler is given of energies, masses, stresses
    elements, energies, kinematics
    runtime, values         ranks, PETSc, compiled libraries; parameters
    errors, arrays
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

# name -> module; imported on first use, so that `import symancf` costs nothing
_PUBLIC = {
    "Mesh": "mesh",
    "Region": "mesh",
    "Body": "bodies.body",
    "PlanarBody": "bodies.plane",
    "PointMass": "bodies.point",
    "RigidBody": "bodies.natural",
    "Factor": "bodies.plane",
    "displacement_control": "bodies.plane",
    "prescribe": "bodies.plane",  # former
    "Layers": "laws.layers",
    "System": "system",
    "StaticProblem": "solve.statics.problem",
    "DynamicProblem": "solve.dynamics",
    "EigenProblem": "solve.modes",
    "fit": "solve.fit",
    "MaterialTest": "solve.fit",
    "StructureTest": "solve.fit",
    "Rayleigh": "solve.dynamics",
    "Baumgarte": "solve.dynamics",
    "Fuzzy": "solve.dynamics",
    "Projection": "solve.dynamics",
    "History": "output.history",
    "Restart": "output.restart",
    "results": "output.results",
    "sample": "output.sampling",
    "largest": "output.maximum",  # former
    "maximum": "output.maximum",
    "Parameter": "values.parameter",
    "Field": "values.parameter",
    "Series": "values.series",
    "Shape": "solve.gradients.shape",
    "Trace": "solve.gradients.trace",
    "Goal": "solve.gradients.goal",
    "fix": "catalogue.boundary",
    "planar": "catalogue.boundary",
    "symmetry": "catalogue.boundary",
    "gravity": "catalogue.loads",
    "force": "catalogue.loads",
    "traction": "catalogue.loads",
    "body_force": "catalogue.loads",
    "rotating_frame": "catalogue.rotating",
    "moment": "catalogue.moments",
    "pressure": "catalogue.gas",
    "Cavity": "catalogue.gas",
    "Gas": "catalogue.gas",
    "Thread": "catalogue.threads",
    "Helix": "places.paths",
    "braid": "places.paths",
    "length": "catalogue.lengths",
    "embed": "catalogue.embed",
    "Tendon": "catalogue.tendon",
    "drum": "catalogue.pulleys",
    "eyelet": "catalogue.winches",
    "pulley": "catalogue.pulleys",
    "winch": "catalogue.winches",
    "Controller": "catalogue.controllers",
    "PID": "catalogue.controllers",
    "Contact": "contact.contact",
    "Plane": "contact.shapes",
    "Sphere": "contact.shapes",
    "Cylinder": "contact.shapes",
    "Capsule": "contact.shapes",
    "Box": "contact.shapes",
    "Distance": "contact.distance",
    "Constraint": "terms.constraint",
    "BodyPotential": "catalogue.body_potentials",
    "magnetic": "catalogue.body_potentials",
    "dielectric": "catalogue.body_potentials",
    "KelvinVoigt": "catalogue.viscosity",
    "Viscosity": "catalogue.viscosity",
    "Potential": "terms.work",
    "local": "kinematics.local",
    "implicit": "kinematics.local",
    "memory": "kinematics.memory",
    "remember": "kinematics.memory",
    "VirtualWork": "terms.work",
    "Table": "runtime.display",
    "capabilities": "solve.capabilities",
    "check": "solve.check",
    "check_gradient": "solve.statics.taylor",
    "momentum": "solve.rigid",  # former
    "root_print": "runtime.launch",
    "SymancfError": "errors",
    "MeshError": "errors",
    "KinematicsError": "errors",
    "ParameterError": "errors",
    "CheckpointError": "errors",
    "CompileError": "errors",
    "ConstraintError": "errors",
    "ConvergenceError": "errors",
    "Suspended": "errors",
}
_MODULES = {
    "checkpoint": "output.checkpoint",
    "elements": "elements",
    "energies": "energies",
    "joints": "catalogue.joints",
    "materials": "catalogue.materials",
    "optimize": "solve.optimize",
    "output": "output",
}

__version__ = "0.2.0"

__all__ = [
    "PID",
    "Baumgarte",
    "Body",
    "BodyPotential",
    "Box",
    "Capsule",
    "Cavity",
    "CheckpointError",
    "CompileError",
    "Constraint",
    "ConstraintError",
    "Contact",
    "Controller",
    "ConvergenceError",
    "Cylinder",
    "Distance",
    "DynamicProblem",
    "EigenProblem",
    "Factor",
    "Field",
    "Flexure",
    "Fuzzy",
    "Gas",
    "Goal",
    "Helix",
    "History",
    "KelvinVoigt",
    "KinematicsError",
    "Layers",
    "MaterialTest",
    "Mesh",
    "MeshError",
    "Parameter",
    "ParameterError",
    "PlanarBody",
    "Plane",
    "PointMass",
    "Potential",
    "Projection",
    "Rayleigh",
    "Region",
    "Restart",
    "RigidBody",
    "Section",
    "Series",
    "Shape",
    "Sphere",
    "StaticProblem",
    "StructureTest",
    "Suspended",
    "SymancfError",
    "System",
    "Table",
    "Tendon",
    "Thread",
    "Trace",
    "VirtualWork",
    "Viscosity",
    "__version__",
    "body_force",
    "braid",
    "capabilities",
    "check",
    "check_gradient",
    "checkpoint",
    "dielectric",
    "displacement_control",
    "drum",
    "elements",
    "embed",
    "energies",
    "eyelet",
    "fit",
    "fix",
    "force",
    "gravity",
    "ground",
    "implicit",
    "joints",
    "length",
    "local",
    "magnetic",
    "materials",
    "maximum",
    "memory",
    "moment",
    "optimize",
    "output",
    "planar",
    "pressure",
    "pulley",
    "remember",
    "results",
    "root_print",
    "rotating_frame",
    "sample",
    "symmetry",
    "traction",
    "view",
    "winch",
]

if TYPE_CHECKING:
    from . import elements, energies, output
    from .bodies.body import Body
    from .bodies.natural import RigidBody
    from .bodies.plane import Factor, PlanarBody, displacement_control
    from .bodies.point import PointMass
    from .catalogue import joints, materials
    from .catalogue.body_potentials import BodyPotential, dielectric, magnetic
    from .catalogue.boundary import fix, planar, symmetry
    from .catalogue.controllers import PID, Controller
    from .catalogue.embed import embed
    from .catalogue.gas import Cavity, Gas, pressure
    from .catalogue.lengths import length
    from .catalogue.loads import body_force, force, gravity, traction
    from .catalogue.moments import moment
    from .catalogue.pulleys import drum, pulley
    from .catalogue.rotating import rotating_frame
    from .catalogue.tendon import Tendon
    from .catalogue.threads import Thread
    from .catalogue.viscosity import KelvinVoigt, Viscosity
    from .catalogue.winches import eyelet, winch
    from .contact.contact import Contact
    from .contact.distance import Distance as Distance
    from .contact.shapes import Box, Capsule, Cylinder, Plane, Sphere
    from .errors import (
        CheckpointError,
        CompileError,
        ConstraintError,
        ConvergenceError,
        KinematicsError,
        MeshError,
        ParameterError,
        Suspended,
        SymancfError,
    )
    from .kinematics.local import implicit, local
    from .kinematics.memory import memory, remember
    from .mesh import Mesh, Region
    from .output import checkpoint
    from .output.maximum import maximum
    from .output.restart import Restart
    from .output.results import results
    from .output.sampling import sample
    from .places.ends import Ground
    from .places.paths import Helix, braid
    from .runtime.display import Table
    from .runtime.launch import root_print
    from .solve import optimize
    from .solve.capabilities import capabilities
    from .solve.check import check
    from .solve.dynamics import Baumgarte, DynamicProblem, Fuzzy, Projection, Rayleigh
    from .solve.fit import MaterialTest, StructureTest, fit
    from .solve.gradients.goal import Goal
    from .solve.gradients.shape import Shape
    from .solve.gradients.trace import Trace
    from .solve.modes import EigenProblem
    from .solve.statics.problem import StaticProblem
    from .solve.statics.taylor import check_gradient
    from .system import System
    from .terms.constraint import Constraint
    from .terms.work import Potential, VirtualWork
    from .values.parameter import Field, Parameter
    from .values.series import Series

    ground: Ground


def __dir__() -> list[str]:
    """Names for completion: those that are public, also before their first use."""
    from .runtime.registry import extensions

    others = (name for name in extensions() if name.isidentifier())
    return sorted({*__all__, *others, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name == "ground":
        from .places.ends import Ground

        return Ground()
    if name == "print":
        from .values.spellings import advise

        advise("symancf.print", "symancf.root_print")
        return __getattr__("root_print")
    if name in _PUBLIC:
        value = getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
        globals()[name] = value
        return value
    from .errors import unknown_names
    from .runtime.registry import extension, extensions

    others = {} if name.startswith("_") else extensions()
    if name in others or name in __all__:
        globals()[name] = extension(name)
        return globals()[name]
    return unknown_names("symancf", (*__all__, *others))(name)


if "mpi4py.MPI" in sys.modules:  # else with the first name that needs MPI
    from .runtime import launch as launch
