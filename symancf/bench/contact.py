# SPDX-License-Identifier: BSD-3-Clause
"""Cost of contact beside that of the bodies: points, search, and its share of an assembly."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..assembly.linearized import Linearized
from ..assembly.revisions import Change
from ..bodies.body import Body
from ..contact.contact import Contact
from ..contact.shapes import Plane
from ..elements import hex8_plain
from ..energies import neo_hooke
from ..mesh import Mesh
from ..system import System

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..arrays import Array, Mask

Row = dict[str, Any]

RUBBER: dict[str, Any] = {"mu": 1.0 / 2.6, "lam": 0.3 / (1.3 * 0.4)}  # E = 1, nu = 0.3
LAYERS, APART, DEPTH = 2, 0.05, 1e-3  # parts of a cell
FACETS = 5_000, 50_000


def width(facets: int, *, rigid: bool) -> int:
    """Return the number of facets along an edge, for that many in all."""
    return max(1, round(float(np.sqrt(facets if rigid else facets / 2))))


def block(n: int, layers: int, low: float, name: str) -> Body:
    """Return n x n x layers cubes of the size 1 above a height."""
    origin = np.array([0.0, 0.0, low])
    size = float(n), float(n), float(layers)
    mesh = Mesh.box(size, (n, n, layers), comm=MPI.COMM_SELF, warp=lambda x: x + origin)
    return Body(mesh["body"], hex8_plain, neo_hooke(), name=name, **RUBBER)


def bodies(
    facets: int, *, rigid: bool, mu: float = 0.3, layers: int = LAYERS
) -> tuple[list[Body], Contact]:
    """Return a block above a plane, or above another block: that many facets in all."""
    n = width(facets, rigid=rigid)
    upper = block(n, layers, APART, "upper")
    if rigid:
        return [upper], Contact(upper["z0"], Plane(), mu=mu)
    lower = block(n, layers, -float(layers), "lower")
    return [lower, upper], Contact(upper["z0"], lower["z1"], mu=mu)


def model(facets: int, *, rigid: bool) -> tuple[System, Contact]:
    """Return the system of `bodies`."""
    blocks, contact = bodies(facets, rigid=rigid)
    return System(*blocks, terms=[contact]), contact


def shifted(system: System, by: float) -> Array:
    """Return the state with the upper block moved down."""
    at = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")] + 2
    state = np.zeros_like(system.state)
    state[at[system._discrete.points[:, 2] > 0.5 * APART]] = -by
    return state


def timed(call: Callable[[], Any], samples: int = 7) -> float:
    """Return the median of the CPU time of this thread [s]."""
    call()
    times = []
    for _ in range(samples):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return float(np.median(times))


def row(facets: int, *, rigid: bool) -> Row:
    """Return times of an assembly [ms] and of points [ns], apart and pressed; of a search [ms]."""
    system, contact = model(facets, rigid=rigid)
    system._discrete.revise(0.0)
    system._discrete.update(0.0)
    names = {each.name for each in system._discrete.binding(contact).passes}
    own = np.array([form.name in names for form in system._discrete.forms])
    sizes = np.array([form.size for form in system._discrete.forms])
    points, cells = int(sizes[own].sum()), LAYERS * (1 if rigid else 2)
    n = width(facets, rigid=rigid)
    times_of: Row = {
        "target": "rigid" if rigid else "deformable",
        "facets": n * n * (1 if rigid else 2),
        "cells": n * n * cells,
        "points": points,
    }
    for what, by in (("candidate", 0.0), ("active", APART + DEPTH)):
        times = {part: _times(system, chosen, by) for part, chosen in _parts(own).items()}
        times_of |= {f"{mode}_{what}_ns": 1e9 * s / points for mode, s in times["contact"].items()}
        for part, own_times in times.items():
            times_of |= {f"{part}_{mode}_{what}_ms": 1e3 * s for mode, s in own_times.items()}
    pressed = [times_of[f"{part}_tangent_active_ms"] for part in ("contact", "bodies")]
    times_of["share_of_assembly"] = pressed[0] / sum(pressed)
    return times_of if rigid else times_of | _search(system, contact)


def _parts(own: Mask) -> dict[str, Mask]:
    return {"contact": own, "bodies": ~own}


def _times(system: System, chosen: Mask, by: float) -> dict[str, float]:
    """Return CPU times [s] of some forms; a product is one of a Krylov solver."""
    x, v, f = shifted(system, by), system._discrete.numbering.random(1), np.zeros_like(system.state)
    assembler, matrix, linear = system._discrete.assembler, system._discrete.matrix, Linearized()
    with assembler.only(chosen):
        return {
            "residual": timed(lambda: assembler.residual(x, f)),
            "linearize": timed(lambda: assembler.linearize(x, linear)),
            "product": timed(lambda: assembler.product(x, v, f, linear)),
            "tangent": timed(lambda: assembler.tangent(x, f, matrix)),
        }


def _search(system: System, contact: Contact) -> Row:
    """Return times [ms] of finding what may touch, of its new lists, and of a review."""
    times, binding = np.zeros(2), system._discrete.binding(contact)
    for each in binding.facing:
        for k, again in enumerate((False, True)):
            if again:  # as if the list had been made elsewhere
                far = 3.0 * each.active.contactor_places
                each.active = each.active._replace(contactor_places=far)
            start = time.thread_time()
            assert each.search(system._discrete, 0.0) is not Change.OTHER
            times[k] += time.thread_time() - start
    start = time.thread_time()
    binding.review(system._discrete)
    review = time.thread_time() - start
    return {"search_ms": 1e3 * times[1], "look_ms": 1e3 * times[0], "review_ms": 1e3 * review}


def contacts(sizes: Sequence[int] = FACETS) -> list[Row]:
    """Return the rows of rigid and deformable targets."""
    return [row(facets, rigid=rigid) for facets in sizes for rigid in (True, False)]
