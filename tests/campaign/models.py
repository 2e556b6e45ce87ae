# SPDX-License-Identifier: BSD-3-Clause
"""Small bodies and models that many cases share; every kernel of theirs is compiled once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff

from .case import Wrong

KINDS = ("hex", "plate", "thin", "cable")
SIZES: dict[str, tuple[tuple[float, ...], tuple[int, ...]]] = {
    "hex": ((2.0, 1.0, 0.5), (4, 2, 1)),
    "plate": ((2.0, 1.0), (4, 2)),
    "thin": ((2.0, 1.0), (4, 2)),
    "cable": ((2.0,), (6,)),
}
THICKNESS, AREA, RHO = 0.05, 2e-3, 1000.0


def element(kind: str) -> tuple[Any, Any, dict[str, Any]]:
    """Return element, energy and parameters (SI units) of a kind of body."""
    if kind == "hex":
        return sa.elements.hex8_plain, saint_venant_kirchhoff(), {"E": 1e6, "nu": 0.3, "rho": RHO}
    if kind == "plate":
        given = {"E": 1e8, "nu": 0.3, "rho": RHO, "thickness": THICKNESS}
        return sa.elements.ancf_plate, saint_venant_kirchhoff(), given
    if kind == "thin":
        given = {"E": 1e8, "nu": 0.3, "rho": RHO, "thickness": THICKNESS}
        return sa.elements.ancf_thin_plate, kirchhoff(), given
    return sa.elements.ancf_cable, cable(), {"EA": 1e5, "EI": 20.0, "rho": RHO, "A": AREA}


def body(
    kind: str,
    name: str = "part",
    warp: Callable[[Any], Any] | None = None,
    n: Sequence[int] | None = None,
    **changed: Any,
) -> sa.Body:
    """Return a body of a kind, with some of its parameters changed."""
    lengths, divisions = SIZES[kind]
    mesh = sa.Mesh.box(lengths, tuple(n or divisions), warp=warp, name=f"mesh of {name}")
    made, energy, parameters = element(kind)
    return sa.Body(mesh["body"], made, energy, name=name, **(parameters | changed))


def volume(kind: str) -> float:
    """Return the volume [m^3] of a body of a kind."""
    lengths, _ = SIZES[kind]
    return float(np.prod(lengths)) * {"hex": 1.0, "cable": AREA}.get(kind, THICKNESS)


def solve(*bodies: Any, terms: Sequence[Any], **options: Any) -> sa.System:
    """Return a system in static equilibrium."""
    system = sa.System(*bodies, terms=list(terms))
    sa.StaticProblem(system, **options).solve(smallest=1.0 / 16.0)
    return system


def finite(values: Any) -> Any:
    """Return values of a solution as lists; raise `Wrong` where they are not finite."""
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise Wrong(f"a solution that is not finite: {array.tolist()}")
    return array.tolist()


def ends(system: sa.System, part: Any, support: Any) -> list[Any]:
    """Return the mean displacement of the free end and the reaction of the support."""
    u = system.displacement(part["x1"]).mean(axis=0)
    return [finite(u), finite(support.reaction(system).force)]
