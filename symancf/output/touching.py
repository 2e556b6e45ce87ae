# SPDX-License-Identifier: BSD-3-Clause
"""Fields of a contact on its facets or at its points, for files, pictures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..arrays import Array, Data
from ..errors import SymancfError
from ..runtime.collective import block_starts
from ..values.parameter import label
from .samples import Samples, join, vertices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..assembly.discrete import DiscreteSystem
    from ..contact.contact import Contact
    from ..contact.nodal import SideFields
    from ..contact.patch import SurfacePatch
    from ..contact.rigid import RigidPass

FIELDS = "pressure", "gap", "slip", "status", "true_pressure"


def touching(
    system: DiscreteSystem,
    contact: Contact,
    fields: Mapping[str, object] | None,
    at: object,
    on: object,
    divisions: int,
    reference: bool,
) -> Samples:
    """Return a contact's fields on this rank's share of its facets (collective).

    Raises
    ------
    SymancfError : another place, or a field or a body that it has not.
    """
    _require_place(contact, at, on)
    wanted = _requested_fields(contact, fields)
    points = () if contact._sides else cast("list[RigidPass]", contact._passes)
    parts = [_of_points(system, each, reference) for each in points]
    sides = [k for k, (side, _) in enumerate(contact._sides) if on is None or on in side.bodies]
    patches = [part for k in sides for part in _patches_of(system, contact, k, on)]
    # facets of all sides one after the other, in shares: the same order on any number of ranks
    first = np.cumsum([0, *(len(patch.facets) for _, patch, _ in patches)])
    share = block_starts(int(first[-1]), system.comm.size)[system.comm.rank :][:2]
    for part, start in zip(patches, first, strict=False):
        own = slice(*np.maximum(share - start, 0))
        parts.append(_of_facets(*part, own, at == "gauss", divisions, reference))
    united = join(parts) if any(len(p.points) for p in parts) else parts[0]
    names = united.point_data
    united.point_data = {k: v for k, v in names.items() if k not in FIELDS}
    united.point_data |= {name: names[str(what)] for name, what in wanted.items()}
    return united


def _require_place(contact: Contact, at: object, on: object) -> None:
    """Refuse other places than nodes and points, and bodies that are none of the contact's."""
    if at not in ("lattice", "gauss"):
        raise SymancfError(
            f"sample(at={label(at)}) of {contact.what}: choose 'lattice', the nodes of its facets, "
            "or 'gauss', its points",
            asked="at",
            given=at,
            possible=("lattice", "gauss"),
        )
    bodies = [body for side, _ in contact._sides for body in side.bodies] or contact._bodies[0]
    if on is not None and on not in bodies:
        names = dict.fromkeys(body.name for body in bodies)
        raise SymancfError(
            f"{contact.what} has points on {' and '.join(map(repr, names))}; "
            f"sample(on={label(on)}) is none of them",
            asked="on",
            given=on,
            possible=names,
        )


def _requested_fields(
    contact: Contact, fields: Mapping[str, object] | None
) -> Mapping[str, object]:
    """Return the fields that are asked for, by their names in the samples."""
    without = {
        "slip": contact._coulomb is None,
        "true_pressure": not contact._sides,  # points of rigid bodies have no area
    }
    offered = [name for name in FIELDS if not without.get(name)]
    wanted = {name: name for name in offered} if fields is None else fields
    for name, what in wanted.items():
        if what not in offered:
            raise SymancfError(
                f"{contact.what} has no field {label(what)}, asked for as {name!r}; it has "
                f"{', '.join(offered)}",
                asked="fields",
                given=what,
                possible=offered,
            )
    return wanted


def _patches_of(
    system: DiscreteSystem, contact: Contact, number: int, on: object
) -> list[tuple[SideFields, SurfacePatch, tuple[Array, Array]]]:
    """Return the leaves of a side, with the places of its nodes before and now (collective)."""
    here = system.binding(contact).fields(system, number)
    X = here.surface.vectors(system, system.reference)
    x = here.surface.vectors(system, system.reference + system.state)
    return [
        (here, patch, (X, x))
        for patch in here.surface.patches
        if on in (None, patch.facet_set.body)
    ]


def _of_facets(
    here: SideFields,
    patch: SurfacePatch,
    places: tuple[Array, Array],
    own: slice,
    gauss: bool,
    divisions: int,
    reference: bool,
) -> Samples:
    """Return some of the facets of a patch."""
    facet_set, cell, q = patch.facet_set, patch.element.topology, patch.count
    if gauss:
        xi, parts, kind = facet_set.points, np.arange(q)[:, None], "vertex"
        fields = {k: v[patch.points].reshape(-1, q)[own] for k, v in here.values.items()}
    else:
        xi, parts = cell.lattice(divisions if patch.element.slopes else 1)
        low, high = cell.domain
        fields = {k: v[own] for k, v in here.on_lattice(patch, (xi - low) / (high - low)).items()}
        kind = facet_set.kind
    table = patch.tables(xi)[0]
    at, moved = (patch.at_places(table, v)[own] for v in places)
    cells = (len(xi) * np.arange(len(at))[:, None, None] + parts[None]).reshape(-1, parts.shape[1])
    points = (at if reference else moved).reshape(-1, 3)
    data: dict[str, Data] = {"u" if reference else "displacement": (moved - at).reshape(-1, 3)}
    return Samples(points, {kind: cells}, data | {k: v.ravel() for k, v in fields.items()})


def _of_points(system: DiscreteSystem, each: RigidPass, reference: bool) -> Samples:
    """Return the points of a rigid body on the rank that counts them; pressures are forces."""
    binding = system.binding(each)
    look, own = binding.look(system), binding.entities
    X, x = own.here[0].X[own.owned], binding.positions(system, 0)[own.owned]
    data: dict[str, Data] = {"u" if reference else "displacement": x - X}
    values = {
        "pressure": look.pressure,
        "gap": look.gap,
        "slip": look.slid,
        "status": np.rint(look.status),
    }
    data |= {name: v[own.owned] for name, v in values.items()}
    data["status"] = data["status"].astype(np.int64)
    return Samples(X if reference else x, vertices(len(X)), data)
