# SPDX-License-Identifier: BSD-3-Clause
"""The nearest end of the laws of bodies at a state; see `laws.limits`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from symancf_codegen.functions import short, symbolic

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.body_potentials import BodyPotential
from ..kinematics.naming import signature
from ..kinematics.stretches import stretch_symbols
from ..runtime import jit

if TYPE_CHECKING:
    import sympy as sp

    from symancf_codegen.declare import PointLaw, Rule

    from ..assembly.discrete import DiscreteSystem


class NearestLimit(NamedTuple):
    """The point of a body at which its law is nearest to an end, or farthest beyond it.

    Attributes
    ----------
    share : the value there over that at rest; not positive beyond the end.
    body, law : names.
    expression, value : what has to be positive.
    cell, place : number of the cell, and a vertex of it in the reference.
    """

    share: float
    body: str
    law: str
    expression: str
    value: float
    cell: int
    place: tuple[float, ...]

    @property
    def words(self) -> str:
        """Where it is and what, for messages."""
        x, y, z = self.place
        return (
            f"the law {self.law}() of {self.body!r} ends where {self.expression} = 0; that has to "
            f"be positive, and is {self.value:.3g} in cell {self.cell} near ({x:.4g}, {y:.4g}, "
            f"{z:.4g})"
        )


def nearest_limit(system: DiscreteSystem, state: Array) -> NearestLimit | None:
    """Return the nearest end of the laws and potentials of all bodies at a state (collective).

    None where no law of a body has an end but those of its element (J = 0).
    """
    found = []
    for member in (*system.bodies, *system.terms):
        if not isinstance(member, Body | BodyPotential):
            continue
        own = system.name(member)
        numbers = [
            k for k, form in enumerate(system.forms) if form.name in (own, f"{own} (curved)")
        ]
        binding: Any = system.binding(member)
        for number, (laws, _) in zip(numbers, binding.variants(system), strict=True):
            if any(_own_ends(member, law) for law, _ in laws):
                found += _of_form(system, member, number, laws, state)
    every = [limit for part in system.comm.allgather(found) for limit in part]
    return min(every) if every else None


def _own_ends(member: Body | BodyPotential, law: PointLaw) -> list[sp.Expr]:
    """Return what has to be positive for a law itself."""
    of_element = {*member.element.kinematics().domain}
    return [x for x in law.domain if x not in of_element]


def _of_form(
    system: DiscreteSystem,
    member: Body | BodyPotential,
    number: int,
    laws: Sequence[tuple[PointLaw, Rule]],
    state: Array,
) -> list[NearestLimit]:
    """Return the nearest end of each law of a form, of this rank's cells (collective)."""
    form = system.forms[number]
    function = member._energy_function if isinstance(member, Body) else member.function
    assert form.ids is not None

    def tells(law: PointLaw) -> PointLaw:
        ends = enumerate(_own_ends(member, law), 1)
        return replace(law, outputs={f"limit{k}": x for k, x in ends})

    kernel = jit.with_modes(form.kernel, ("outputs",), system.comm, tells=tells)
    tables = [
        system.assembler.tabulate("outputs", [number], x, {number: kernel})[0].get(number)
        for x in (state, np.zeros_like(state))
    ]
    if any(table is None or not len(table) for table in tables):
        return []
    (now, rest), found, first = tables, [], 0
    for law, rule in laws:
        ends = _own_ends(member, law)
        last = first + rule.size * len(ends)
        for k, end in enumerate(ends):
            value, begin = (np.asarray(t)[:, first + k : last : len(ends)] for t in (now, rest))
            share = np.nan_to_num(value / np.abs(begin), nan=-np.inf)
            e, p = np.unravel_index(int(share.argmin()), share.shape)
            place = system.points[form.vertices[form.vertex_start[e]]]
            found.append(
                NearestLimit(
                    float(share[e, p]),
                    system.name(member),
                    signature(function).name,
                    short(stretch_symbols(symbolic(end))),
                    float(value[e, p]),
                    int(form.ids[e]),
                    tuple(place.tolist()),
                )
            )
        first = last
    return found
