# SPDX-License-Identifier: BSD-3-Clause
"""Scenes: all that is drawn, gathered on the rank that draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from symancf import ParameterError, SymancfError
from symancf.output import Samples, gather, read

from ..interface import RigidShape, closest, label, shape_at_rest, together

if TYPE_CHECKING:
    from mpi4py import MPI

Part = Samples | RigidShape | str | Path
Scene = Part | Sequence[Part]


def gathered(comm: MPI.Comm, scene: Scene) -> list[Samples]:
    """All bodies of a scene on rank 0. Collective."""
    value: Any = scene
    parts: list[Part] = [*value] if isinstance(value, list | tuple) else [value]
    for each in cast("list[object]", parts):
        if not isinstance(each, Samples | RigidShape | str | Path):
            raise ParameterError(
                f"{label(each)} is nothing to draw: give samples, sa.sample(system, body), a rigid "
                "shape that rests, or a .vtu, .pvtu or .pvd file",
                asked="scene",
                given=each,
            )
    out: list[Samples] = []
    for part in parts:
        with together(comm):
            if isinstance(part, str | Path) and comm.rank == 0:
                out += read(part).values()
        if isinstance(part, Samples):
            rows = gather(comm, part)
            out += [] if rows is None else [rows]
    shapes = [part for part in parts if isinstance(part, RigidShape)]
    around = np.concatenate([np.zeros((0, 3)), *(samples.points for samples in out)])
    drawn = [shape_at_rest(shape, around) for shape in shapes]
    return out + drawn if comm.rank == 0 else out


def unit_of(bodies: Iterable[Samples], field: str | None) -> str:
    """Return the unit that all samples with a field give it, "" where they differ or give none."""
    units = {
        s.units.get(field or "", "")
        for s in bodies
        if field in s.point_data or field in s.cell_data
    }
    return units.pop() if len(units) == 1 else ""


def require_field(bodies: Iterable[Samples], field: str | None) -> None:
    """Require that some body has the field; "displacement", the default, may be in none.

    Raises
    ------
    SymancfError : none has it.
    """
    if field is None or field == "displacement":
        return
    names: dict[str, None] = {}
    for body in bodies:
        names |= dict.fromkeys((*body.point_data, *body.cell_data))
        if field in names:
            return
    there = f"there are {', '.join(map(repr, names))}" if names else "they have no fields"
    raise SymancfError(
        f"field={field!r}: no samples have that field; {there}.{closest(field, names)} "
        f"sa.sample(system, body, fields=[{field!r}]) adds what the body knows; field=None draws "
        "without",
        asked="field",
        given=field,
        possible=names,
    )
