# SPDX-License-Identifier: BSD-3-Clause
"""Modules that have moved: their old names say where they are."""

from __future__ import annotations

import sys

#: Old name below ``symancf`` -> present one.
MOVED = {
    "arguments": "values.arguments",
    "body": "bodies.body",
    "boundary": "catalogue.boundary",
    "check": "solve.check",
    "checkpoint": "output.checkpoint",
    "cli": "command.cli",
    "collective": "runtime.collective",
    "console": "runtime.console",
    "constraint": "terms.constraint",
    "contradiction": "solve.contradiction",
    "controllers": "catalogue.controllers",
    "demos": "command.demos",
    "doctor": "command.doctor",
    "domain": "values.domain",
    "elements.cells": "cells.table",
    "elements.quadrature": "cells.quadrature",
    "elements.shape": "cells.shape",
    "dynamics": "solve.dynamics",
    "files": "runtime.files",
    "flexure": "catalogue.flexure",
    "gas": "catalogue.gas",
    "geometry": "places.geometry",
    "history": "output.history",
    "inspection": "bodies.inspection",
    "interruption": "runtime.interruption",
    "jit": "runtime.jit",
    "joints": "catalogue.joints",
    "kernels": "command.kernels",
    "launch": "runtime.launch",
    "lengths": "catalogue.lengths",
    "loads": "catalogue.loads",
    "members": "bodies.members",
    "moments": "catalogue.moments",
    "natural": "bodies.natural",
    "options": "runtime.options",
    "parameter": "values.parameter",
    "partition": "mesh.partition",
    "petsc": "runtime.petsc",
    "plane": "bodies.plane",
    "probe": "command.probe",
    "progress": "runtime.progress",
    "quantities": "terms.quantities",
    "redundancy": "newton",
    "rest": "bodies.rest",
    "rigid": "solve.rigid",
    "rigid_clamp": "catalogue.rigid_clamp",
    "sampling": "output.sampling",
    "shared": "runtime.shared",
    "solver": "solve.solver",
    "statics": "solve.statics",
    "streams": "runtime.streams",
    "substitution": "terms.substitution",
    "ties": "catalogue.ties",
    "tracking": "output.tracking",
    "view": "output.view",
    "viscosity": "catalogue.viscosity",
    "work": "terms.work",
}


class Signpost:
    """The last to be asked for a module (see `sys.meta_path`)."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise where a module is known to have moved.

        Raises
        ------
        ModuleNotFoundError : says its present name.
        """
        package, _, rest = name.partition(".")
        parts = rest.split(".")
        for count in (1, 2):
            first = ".".join(parts[:count])
            if package == "symancf" and first in MOVED:
                now = ".".join(["symancf", MOVED[first], *parts[count:]])
                raise ModuleNotFoundError(f"{name} has moved: import {now}", name=name)


def put_up() -> None:
    """Have the signpost asked after all other finders, once."""
    if Signpost not in sys.meta_path:
        sys.meta_path.append(Signpost)
