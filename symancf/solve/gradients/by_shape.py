# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of weighted residuals by the reference positions of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...assembly.cell_fields import CellFields
from ...assembly.form import CellEntities, Jets
from ...catalogue.gas.cavity import CavityBinding
from ...catalogue.loads import ForceBinding, Spread
from ...errors import ParameterError
from ...places.on_body import Nodes, PointsOnBody
from ...runtime.collective import reduced
from ...terms.constraint import ConstraintBinding
from ...terms.quantities import symbols_of
from ...terms.term import PlaceBinding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...arrays import Array, Mask
    from ...assembly.assembler import Derivatives
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.form import Form
    from ...terms.entities import Entities
    from .goal import Goal
    from .shape import Shape

#: Parameters of cells that follow no positions: the side of the gas.
SIDES = {"sense", "offset"}
#: Terms at places that have nothing of positions but references in their laws.
PLAIN = (PlaceBinding, ConstraintBinding, ForceBinding)


class ShapeDerivative:
    r"""The derivatives of w . R + m . U, and of goals, by positions X of nodes.

    .. math::
        \frac{dJ}{dX} = J_X + w \cdot R_X + m \cdot U_X .

    Kernels on cells have those of their geometry. References of places, shares of areas and
    reference volumes follow X by the functions of cells.

    Attributes
    ----------
    ids : numbers of the nodes in the mesh.
    here : mask of the local vertices that are nodes of it.
    """

    def __init__(self, system: DiscreteSystem, shape: Shape) -> None:
        self.system, self.shape = system, shape
        system.binding(shape.body)  # raises where it is none of the system's
        self.ids = shape.ids
        vertex = system.topology.vertex_ids - system.layout.base(shape.body.region.mesh)
        self._number = np.searchsorted(self.ids, vertex)
        at = np.minimum(self._number, len(self.ids) - 1)
        self.here: Mask = self.ids[at] == vertex
        self.cells = self._require_known()

    def of(
        self,
        w: Array,
        seeds: Mapping[int, Array] | None,
        by: Derivatives,
        goals: Sequence[tuple[float, Goal]],
    ) -> Array:
        """Return the derivatives (nodes, 3) at the present state, on every rank (collective).

        Parameters
        ----------
        w, seeds, by : weights of the residual and of what laws remember next, and the derivatives
            by parameters of that sum, see `Assembler.pull`.
        goals : with their factors.
        """
        system, numbering = self.system, self.system.numbering
        own = np.arange(len(w)) < numbering.start[numbering.owned_vertices]
        total, bad = system.assembler.shape(system.state, w, self.cells, seeds)
        total = np.where(own, total, 0.0)
        if system.comm.allreduce(bad):
            raise ParameterError("a law has no derivatives at the present state", asked="gradient")
        for number, form in enumerate(system.assembler.forms):
            member = system.member(number)
            if isinstance(member, Spread) and member.load.distribute == "total":
                slope = member.share_by_reference(system, self._forms_of(member))
                value = by.values[system.assembler.place(number, "share")]
                total += float(system.sum(np.array([value]))[0]) * np.where(own, slope, 0.0)
            if isinstance(member, CavityBinding) and "V0" in form.kernel.uniform:
                value = by.values[system.assembler.place(number, "V0")]
                slope = member.volume_slope(system, np.zeros_like(system.state))
                total += float(system.sum(np.array([value]))[0]) * np.where(own, slope, 0.0)
            if isinstance(form.entities, Jets) and not form.moving:
                rows = by.rows.get(number, np.zeros_like(form.cell))
                self._add_references(form, self._at_places(member, form), rows, total)
        for factor, goal in goals:
            total += factor * goal.by_reference(system, self.shape.body)
        return self._at_nodes(total)

    def _at_nodes(self, shares: Array) -> Array:
        """Return the sums of all ranks (nodes, 3) of a local vector."""
        numbering = self.system.numbering
        offset = numbering.offset[:, numbering.block("position")]
        at = np.flatnonzero(self.here & (offset >= 0))
        found = np.zeros((len(self.ids), 3))
        found[self._number[at]] = shares[offset[at][:, None] + np.arange(3)]
        return self.system.sum(found)

    # ---- places ---------------------------------------------------------------------------------
    def _add_references(
        self, form: Form, binding: PlaceBinding | None, rows: Array, total: Array
    ) -> None:
        """Add what follows by the references of places, to a vector that has shares of ghosts."""
        if binding is None:
            return
        names, entities = list(form.kernel.cell), binding.entities
        mine = form.owned.astype(bool)
        for number in range(len(entities.ends)):
            source = _source(entities, number)
            columns = [str(s) for s in symbols_of((number, "value"), "reference")]
            if source is None or not {*columns} & {*names}:  # the same on all ranks
                continue
            weights = np.zeros((form.size, 3))
            for a, name in enumerate(columns):
                if name in names:
                    weights[mine, a] = rows[mine, names.index(name)]
            jets = entities.jets(self.system, [(source, "value")])
            np.add.at(total, jets.coordinate, jets.value * weights[jets.entity, jets.jet])

    def _at_places(self, member: object, form: Form) -> PlaceBinding | None:
        """Return what a form is made by, where that is a term at places."""
        found = (own for own in _parts(member) if isinstance(own, PlaceBinding))
        return next((own for own in found if own.form is form), None)

    def _forms_of(self, member: object) -> list[Form]:
        forms = self.system.assembler.forms
        return [form for k, form in enumerate(forms) if self.system.member(k) is member]

    def _on(self, entities: Entities, end: int) -> Mask:
        """Return which entities have an end at nodes of the shape."""
        return np.asarray(self.here[entities.end_vertices(end)].any(axis=1))

    # ---- what is not known ----------------------------------------------------------------------
    def _require_known(self) -> list[int]:
        """Return the forms on cells that the shape is part of (collective).

        Raises
        ------
        ParameterError : a term makes something of positions that has no derivatives here.
        """
        system, forms = self.system, self.system.assembler.forms
        active = [number for number, form in enumerate(forms) if not form.moving]
        touching = np.zeros(len(forms), dtype=np.int8)
        reasons = [""] * len(forms)
        for number in active:
            form = forms[number]
            touching[number] = self._touches(form)
            reasons[number] = self._reason(system.member(number), form)
        touching = reduced(system.comm, touching, MPI.MAX)
        cells = [k for k in active if touching[k] and isinstance(forms[k].entities, CellEntities)]
        every = [
            (forms[k].name, next(filter(None, found), ""))
            for k, found in enumerate(zip(*system.comm.allgather(reasons), strict=True))
            if touching[k]
        ]
        every += self._reasons_of_supports()
        for name, reason in every:
            if reason:
                raise ParameterError(
                    f"gradient by the {self.shape.name}: {name!r} {reason}, of which derivatives "
                    "by positions are not known",
                    asked="Shape",
                    given=name,
                )
        return cells

    def _touches(self, form: Form) -> bool:
        """Tell whether a form has something of the shape's nodes on this rank."""
        if isinstance(form.entities, Jets):
            at = form.entities.coordinate
            at = np.where(at >= 0, at, ~at)
            return bool(self.here[self.system.numbering.vertex_of[at]].any())
        return bool(self.here[form.vertices].any())

    def _reason(self, member: object, form: Form) -> str:
        """Return why derivatives of a form are not known, "" where they are."""
        if isinstance(form.entities, CellEntities):
            return _reason_of_cells(member, form)
        binding = self._at_places(member, form)
        if not isinstance(form.entities, Jets) or type(binding) not in PLAIN:
            return "is made of lengths, areas or normals"
        assert binding is not None
        if form.functions or binding.term._reading.edges is not None:
            return "is a function of places, or an integral along edges"
        jets = [*binding.term._substitution.jets, *binding.term._substitution.rates]
        for number, end in enumerate(binding.entities.ends):
            if self._on(binding.entities, number).any():
                if not isinstance(end, Nodes | PointsOnBody) or _from_others(end):
                    return f"acts on {end}"
                if any(jet != "value" for k, jet in jets if k == number):
                    return f"asks for axes or directions of {end}"
        return ""

    def _reasons_of_supports(self) -> list[tuple[str, str]]:
        """Return names of supports at the nodes, and why they are not known (collective)."""
        found: list[tuple[str, str]] = []
        vertex_of = self.system.numbering.vertex_of
        for support in self.system.supports:
            own: Any = support
            here = bool(self.here[vertex_of[np.asarray(support.offsets, dtype=np.int64)]].any())
            varies = here and own.term.motion.of_place
            if self.system.comm.allreduce(int(varies)):
                found.append((self.system.name(own.term), "prescribes a function of places"))
            if getattr(support, "present", None):
                found.append((self.system.name(own.term), "holds directions that are no axes"))
        return found


def _reason_of_cells(member: object, form: Form) -> str:
    """Return why derivatives of a form on cells are not known, "" where they are."""
    assert isinstance(form.entities, CellEntities)
    if tuple(form.entities.widths) != (1,) or form.entities.cell_map is not None:
        return "has slopes, which are made of positions"
    if isinstance(member, CavityBinding) and member.lids:
        return "has lids"
    fields: set[int] = set()
    if isinstance(form.cell_at, CellFields):
        fields = {*form.cell_at.fields}
    plain = {*form.kernel.memory, *form.kernel.optional, *SIDES}
    names = [name for k, name in enumerate(form.kernel.cell) if k not in fields]
    if form.functions or {*names} - plain:
        return "has parameters that are functions of places"
    return ""


def _parts(member: object) -> Iterator[object]:
    """Yield what a term is in a system, and its parts."""
    yield member
    for part in getattr(member, "parts", ()):
        yield from _parts(part)


def _source(entities: Entities, number: int) -> int | None:
    """Return the end whose places an end has: itself, or another one where it is anywhere."""
    ends = entities.ends
    if not ends[number].anywhere:
        return number if isinstance(ends[number], Nodes | PointsOnBody) else None
    own = [k for k, end in enumerate(ends) if not end.anywhere]
    widest = max(own, key=lambda k: entities.places[k].total)
    return widest if isinstance(ends[widest], Nodes | PointsOnBody) else None


def _from_others(end: object) -> bool:
    """Tell whether points of a body are those nearest to other places."""
    return isinstance(end, PointsOnBody) and end.source is not None
