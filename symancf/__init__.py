# SPDX-License-Identifier: BSD-3-Clause
"""symancf: structures and soft robots in the absolute nodal coordinate formulation.

Write the energy, the force or the constraint as a plain SymPy function; symancf derives
residual and tangent, generates C, and hands assembly and solution to PETSc on any number of
MPI ranks.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

# name -> module; imported on first use, so that `import symancf` costs nothing
_PUBLIC = {
    "Mesh": "mesh",
    "Region": "mesh",
    "Body": "body",
    "PlanarBody": "plane",
    "RigidBody": "natural",
    "Factor": "plane",
    "prescribe": "plane",
    "Flexure": "flexure",
    "System": "system",
    "StaticProblem": "statics.problem",
    "DynamicProblem": "dynamics",
    "Rayleigh": "dynamics",
    "Baumgarte": "dynamics",
    "Fuzzy": "dynamics",
    "Projection": "dynamics",
    "History": "history",
    "Parameter": "parameter",
    "Field": "parameter",
    "fix": "boundary",
    "planar": "boundary",
    "symmetry": "boundary",
    "gravity": "loads",
    "force": "loads",
    "traction": "loads",
    "moment": "moments",
    "pressure": "gas",
    "Cavity": "gas",
    "Gas": "gas",
    "length": "lengths",
    "Controller": "controllers",
    "PID": "controllers",
    "Constraint": "constraint",
    "KelvinVoigt": "viscosity",
    "Viscosity": "viscosity",
    "Potential": "work",
    "VirtualWork": "work",
    "check": "check",
    "momentum": "rigid",
    "print": "launch",
    "SymancfError": "errors",
    "MeshError": "errors",
    "KinematicsError": "errors",
    "ParameterError": "errors",
    "CheckpointError": "errors",
    "CompileError": "errors",
    "ConstraintError": "errors",
    "ConvergenceError": "errors",
}
_MODULES = ("checkpoint", "elements", "energies", "joints", "output", "view")

__all__ = [
    "PID",
    "Baumgarte",
    "Body",
    "Cavity",
    "CheckpointError",
    "CompileError",
    "Constraint",
    "ConstraintError",
    "Controller",
    "ConvergenceError",
    "DynamicProblem",
    "Factor",
    "Field",
    "Flexure",
    "Fuzzy",
    "Gas",
    "History",
    "KelvinVoigt",
    "KinematicsError",
    "Mesh",
    "MeshError",
    "Parameter",
    "ParameterError",
    "PlanarBody",
    "Potential",
    "Projection",
    "Rayleigh",
    "Region",
    "RigidBody",
    "StaticProblem",
    "SymancfError",
    "System",
    "VirtualWork",
    "Viscosity",
    "__version__",
    "check",
    "checkpoint",
    "elements",
    "energies",
    "fix",
    "force",
    "gravity",
    "ground",
    "joints",
    "length",
    "moment",
    "momentum",
    "output",
    "planar",
    "prescribe",
    "pressure",
    "print",
    "symmetry",
    "traction",
    "view",
]

if TYPE_CHECKING:
    from . import checkpoint, elements, energies, joints, output, view
    from .body import Body
    from .boundary import fix, planar, symmetry
    from .check import check
    from .constraint import Constraint
    from .controllers import PID, Controller
    from .dynamics import Baumgarte, DynamicProblem, Fuzzy, Projection, Rayleigh
    from .errors import (
        CheckpointError,
        CompileError,
        ConstraintError,
        ConvergenceError,
        KinematicsError,
        MeshError,
        ParameterError,
        SymancfError,
    )
    from .flexure import Flexure
    from .gas import Cavity, Gas, pressure
    from .launch import print
    from .lengths import length
    from .loads import force, gravity, traction
    from .mesh import Mesh, Region
    from .moments import moment
    from .natural import RigidBody
    from .parameter import Field, Parameter
    from .places.ends import Ground
    from .plane import Factor, PlanarBody, prescribe
    from .rigid import momentum
    from .statics.problem import StaticProblem
    from .system import System
    from .viscosity import KelvinVoigt, Viscosity
    from .work import Potential, VirtualWork

    ground: Ground
    __version__: str


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # 3 MB, with `email`

    try:
        return version("symancf")
    except PackageNotFoundError:  # a source tree that is not installed
        return "0.0.0"


def __dir__() -> list[str]:
    """Names for completion: also those that are imported on first use."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        globals()[name] = _version()
        return globals()[name]

    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name == "ground":
        from .places.ends import Ground

        return Ground()
    if name in _PUBLIC:
        value = getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'symancf' has no attribute {name!r}")


if "mpi4py.MPI" in sys.modules:  # else with the first name that needs MPI
    from . import launch as launch
