# SPDX-License-Identifier: BSD-3-Clause
"""Former spellings of the public interface: each warns for one minor version.

The tables here are those of ``symancf upgrade``, too, which rewrites scripts. To remove a spelling
remove its row and what the type checker then no longer finds.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from ..errors import ParameterError, outside

Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")

#: Attributes of rigid bodies, in the plane and in space, that only the solver asks for.
OF_NODES = "blocks", "axes", "reactions", "size", "node", "motion", "moved", "holding"
#: Call -> former name of a keyword argument -> its name.
KEYWORDS: Mapping[str, Mapping[str, str]] = {
    "DynamicProblem": {"rho": "spectral_radius"},
    "Body": {"smooth": "smooth_deg"},
    "Mesh.select": {"angle": "angle_deg"},
    "Contact": {"k": "stiffness"},
    "RigidBody": {"at": "position"},
    "RigidBody.box": {"at": "position"},
    "RigidBody.cylinder": {"at": "position"},
    "RigidBody.sphere": {"at": "position"},
    "PlanarBody": {"at": "position"},
    "Field": {"at": "per"},
    "local": {"at": "per"},
}
#: Call -> argument -> its former values and what they are called now.
VALUES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "Field": {"per": {"cells": "cell", "points": "point"}},
    "sample": {"at": {"cells": "cell"}},
    "largest": {"at": {"cells": "cell"}},
}
#: Name -> what has the same arguments.
NAMES: Mapping[str, str] = {"print": "root_print", "prescribe": "displacement_control"}
#: Laws of `energies` without choices: their names stood for the laws, not for what returns them.
LAWS = (
    *("arruda_boyce", "gent", "mooney_rivlin", "neo_hooke", "orthotropic", "rod"),
    *("saint_venant_kirchhoff", "split_beam", "yeoh", "yeoh_raw"),
)
#: Those with choices, which could be given without a call.
CHOICES = "cable", "kirchhoff", "ogden"
#: Class -> attribute up to 0.2 -> what is written instead; "": nothing, it is of the solver alone.
MEMBERS: Mapping[str, Mapping[str, str]] = {
    "System": {
        **{name: f"system.matrices.{name}" for name in ("tangent", "mass", "damping")},
        "numbering.size": "system.unknowns.size",
        "numbering": "system.unknowns, which has their number and names",
        "evaluate": "system.displacement, system.gradient or sa.sample(system, body)",
        "residual_at_solution": "reaction(system) of a support or a constraint",
        "restore": "problem.restore(state)",
        "snapshot": "problem.state",
        "sum": "system.comm.allreduce",
        **dict.fromkeys(("accept", "inertia", "layout", "matrix", "memory", "pieces", "plan"), ""),
        **dict.fromkeys(("prescribe", "residual_at", "revise", "supports", "update", "wrench"), ""),
    },
    "Unknowns": {"taken": "unknowns.from_local"},
    "RigidBody": {
        "moments": "body.mass and body.centre",
        **dict.fromkeys(("shape", "has_inertia", "natural", "offsets"), ""),
        **dict.fromkeys(OF_NODES, ""),
    },
    "PlanarBody": {
        "reference": "body.at((0, 0)).X, and the angle that it was given",
        "offset": "body.centre",
        **dict.fromkeys(OF_NODES, ""),
    },
}
#: Call -> the arguments that could be given by position; those after the options are named now.
POSITIONS: Mapping[str, tuple[str, ...]] = {
    "StaticProblem": (
        "self",
        "system",
        "prefix",
        "options",
        "check_held",
        "history",
        "check_stable",
    ),
    "DynamicProblem": (
        *("self", "system", "prefix", "options", "spectral_radius"),
        *("damping", "history", "method", "stabilisation"),
    ),
    "EigenProblem": ("self", "system", "prefix", "options", "damping"),
}


def advise(former: str, write: str) -> None:
    """Warn of a former spelling, at the line of the first caller outside the package.

    `write` : what to write instead; "": nothing, it is of the solver alone.
    """
    instead = f"write {write} (`symancf upgrade` rewrites scripts)"
    warnings.warn(
        f"{former} goes with the next minor version: "
        f"{instead if write else 'it is of the solver alone'}",
        DeprecationWarning,
        stacklevel=outside(),
    )


def present_value(call: str, name: str, value: Value) -> Value:
    """Return the value of an argument, by its present name where a former one is given."""
    present = VALUES[call][name].get(value) if isinstance(value, str) else None
    if present is None:
        return value
    advise(f"{call}({name}={value!r})", f"{name}={present!r}")
    return cast("Value", present)


def former_arguments(call: str) -> Callable[[Function], Function]:
    """Let a function take former names of its arguments, and former positions; a decorator.

    Parameters
    ----------
    call : row of `KEYWORDS` and of `POSITIONS`.

    Raises
    ------
    ParameterError : an argument is given by both names.
    """
    names, positions = KEYWORDS.get(call, {}), POSITIONS.get(call, ())

    def accept(function: Function) -> Function:
        @functools.wraps(function)
        def called(*arguments: Any, **given: Any) -> Any:
            for name, value in zip(positions[4:], arguments[4:], strict=False):
                advise(f"{call}(): the argument {name} by its position", f"{name}=")
                given.setdefault(name, value)
            for former in names.keys() & given:
                name = names[former]
                if name in given:
                    raise ParameterError(
                        f"{call}: {former}= is the former name of {name}=: give {name}= alone",
                        asked=name,
                        given=(given[name], given[former]),
                        possible=(name,),
                    )
                advise(f"{call}({former}=...)", f"{name}=")
                given[name] = given.pop(former)
            own = (*arguments[:4], *arguments[len(positions) :]) if positions else arguments
            return function(*own, **given)

        return cast("Function", called)

    return accept
