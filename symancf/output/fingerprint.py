# SPDX-License-Identifier: BSD-3-Clause
"""What must agree for a checkpoint to fit a system, and in words where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..assembly.numbering import words_of
from ..errors import owner

if TYPE_CHECKING:
    from ..system import System

Facts: TypeAlias = "dict[str, Any]"  # as JSON keeps them


def fingerprint(system: System) -> Facts:
    """Return what must agree for a vector to fit: bodies, points, blocks (collective).

    Of each body the kind, element and number of cells; of each block, and of the part that a
    term has of a shared one, its size, its order in time and the number of vertices that carry it.
    """
    numbering = system.numbering
    kinds, kind = numbering.kind_of_coordinates()
    owned = numbering.vertex_of < numbering.owned_vertices
    coordinates = system.sum(np.bincount(kind[owned], minlength=len(kinds)).astype(float))
    bodies = {}
    for body in system.bodies:
        element, region = getattr(body, "element", None), getattr(body, "region", None)
        bodies[system.name(body)] = [
            type(body).__name__,
            "" if element is None else element.name,
            0 if region is None else int(region.size),
        ]
    return {
        "bodies": bodies,
        "points": system.layout.mesh_points,
        "vertices": system.layout.vertex_count,
        "blocks": {
            k.name: [k.block.size, k.block.order, int(count) // k.block.size]
            for k, count in zip(kinds, coordinates, strict=True)
        },
        "memory": {p.name: [p.kernel.name, *p.kernel.memory] for p in system.memory.pieces},
        "terms": {v.name: list(v.value.shape) for v in system.state_variables},
    }


def differences(saved: Facts, present: Facts) -> list[str]:
    """Tell in words how the system of a checkpoint differs from another one."""
    found = []
    kinds: list[tuple[str, Callable[[str], str], Callable[[Any], str]]] = [
        ("bodies", "body {!r}".format, _body_text),
        ("blocks", words_of, _block_text),
        ("memory", lambda name: f"memory of {owner(name)!r}", _memory_text),
        ("terms", "state variables {!r}".format, lambda shape: f"an array {tuple(shape)}"),
    ]
    for kind, words, text in kinds:
        old, new = saved.get(kind, {}), present[kind]
        for name in [*old, *(n for n in new if n not in old)]:
            there, here = (text(v[name]) if name in v else "missing" for v in (old, new))
            law = name in old and name in new and kind == "memory" and old[name][0] != new[name][0]
            if there != here or law:
                here = f"{here} of another law" if law else here
                found.append(f"{words(name)}: {there} in the file, {here} here")
    for kind in ("points", "vertices"):
        if saved.get(kind) != present[kind]:
            found.append(f"{saved.get(kind)} {kind} in the file, {present[kind]} here")
    return found


def _body_text(facts: list[str | int]) -> str:
    kind, element, cells = facts
    return f"{kind} of {cells} {element}" if element else str(kind)


def _block_text(facts: list[str | int]) -> str:
    size, order, count = facts
    rates = {"s": ", with rates", "algebraic": ", without rates"}.get(str(order), "")
    return f"{count} x {size} numbers{rates}"


def _memory_text(facts: list[str]) -> str:
    _, *rows = facts
    names = dict.fromkeys(row.partition("[")[0] for row in rows)
    return f"{', '.join(names)} at {len(rows) // len(names)} point(s)"
