# SPDX-License-Identifier: BSD-3-Clause
"""Fields of a body at points of its cells: kernels with the mode ``outputs``, and means of them.

A kernel works on the jets of one point, so that one kernel does for all points: of a lattice, of
a quadrature rule, or anywhere in the material.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, Ints, Mask
from ..errors import SymancfError
from ..kinematics.memory import STEP
from ..laws import sampled_fields
from ..laws.mixed import FRAME
from ..laws.sampled import RESULTANT_FIELDS
from ..places.interpolation import power
from ..runtime import jit
from ..runtime.collective import together
from ..values.parameter import Field, call_array

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw, Rule

    from ..assembly.discrete import DiscreteSystem
    from ..bodies.body import Body
    from ..laws import Fields, Sampled

MEASURE = "measure"  # output: reference volume, area or length per parameter volume

CACHED_KERNELS = 32  # kernels that are kept for the next call
_RECENT: OrderedDict[jit.Kernel, None] = OrderedDict()


@dataclass(frozen=True)
class CellPoints:
    """Points of cells of a body.

    Attributes
    ----------
    cells : (n,) numbers among the cells that this rank owns.
    xi : (m, d) parameter values, those of all cells, or (n, m, d).
    zeta : (m,) through the thickness, -1 to 1; 0 where there is none.
    numbers : (m,) of points of a rule, their numbers there.
    section : name -> what else they know of the thickness, (m,) or a number.
    """

    cells: Ints
    xi: Array
    zeta: Array
    numbers: Ints | None = None
    section: Mapping[str, Array | float] = field(default_factory=dict)

    def through(self, zeta: Array, section: Mapping[str, Array] | None = None) -> CellPoints:
        """Return, for each of these points, points at the heights `zeta` (k,), one by one."""
        k, m = len(zeta), self.xi.shape[-2]
        numbers = self.numbers
        if numbers is not None:
            numbers = np.add.outer(k * numbers, np.arange(k)).ravel()
        xi = np.repeat(self.xi, k, axis=-2)
        more = {name: np.tile(values, m) for name, values in (section or {}).items()}
        return CellPoints(self.cells, xi, np.tile(zeta, m), numbers, {**self.section, **more})

    def of(self, chosen: Mask | slice) -> CellPoints:
        """Return the points of some of the cells (n,)."""
        xi = self.xi[chosen] if self.xi.ndim == 3 else self.xi
        return replace(self, cells=self.cells[chosen], xi=xi)


def heights(rule: Rule) -> Array:
    """Return the heights zeta of a rule's section points, 0 where there is no section."""
    count = len(rule.section_weights)
    table = np.asarray(rule.section_points, dtype=float).reshape(count, -1)
    return table[:, 0].copy() if table.shape[1] else np.zeros(count)


def memory_rule(body: Body, layer: int) -> Rule | None:
    """Return the rule at whose points a layer of a body remembers; None: it remembers nothing."""
    assert body.layers is not None
    end = f"_{body.layers.kind_of(layer).numbers[0] + 1}"
    rules = (rule for law, rule in body._laws if law.history and law.name.endswith(end))
    return next(rules, None)


def resultant_kinds(rule: Rule) -> dict[str, Array]:
    """Return what a rule's section points know besides their height, by name."""
    table = np.asarray(rule.section_points, dtype=float)
    columns = enumerate(rule.section_symbols)
    return {name: table[:, c].copy() for c, name in columns if name != "zeta"}


def coefficients(
    system: DiscreteSystem, body: Body, vector: Array, cells: Ints | None = None
) -> Array:
    """Return the coefficient vectors (n, functions, 3) of a local vector on a body's owned cells.

    `cells` : some of these, by their numbers.
    """
    on = system.binding(body).interpolation
    at = np.flatnonzero(on.owned) if cells is None else np.flatnonzero(on.owned)[cells]
    vertices = on.cells[at]
    if body.element.across:
        patch = on.patch()
        offsets = patch.gathered.blocks[at, :, 0]
        return np.asarray(on.maps[at] @ vector[offsets[..., None] + np.arange(3)])
    position = vector[on.offset(vertices, "value")[..., None] + np.arange(3)]
    ns = len(body.element.slopes)
    if not ns:
        return np.asarray(position)
    start = on.offset(vertices, "slope0")
    nodal = vector[start[..., None] + np.arange(3 * ns)].reshape(*vertices.shape, ns, 3)
    slopes = np.einsum("nvkc,nvca->nvka", on.maps[at], nodal)
    joined = np.concatenate([position[:, :, None, :], slopes], axis=2)
    return np.asarray(joined.reshape(len(vertices), body.element.size, 3))


def jets_at(body: Body, e: Array, jet: str, xi: Array, z: Array) -> Array:
    """Return a point jet (cells, points, 3) of coefficients e (cells, n, 3).

    At xi (points, d), or (cells, points, d); `z` (cells, points) is the height above the
    mid-surface.
    """
    space = body.element.space
    count = xi.shape[-2]
    total = np.zeros((len(e), count, 3))
    for table, factor in space.point_jets[jet].items():
        values = space.tabulate((table,), xi.reshape(-1, xi.shape[-1]))[:, 0]
        if xi.ndim == 2:
            term = np.tensordot(values, e, axes=(1, 1)).transpose(1, 0, 2)
        else:
            term = np.einsum("npi,nia->npa", values.reshape(*xi.shape[:2], e.shape[1]), e)
        total += term if factor == 1 else term * power(factor, z)[..., None]
    return total


def weights(rule: Rule) -> Array:
    """Return the weights of all points of a rule, those through the section one by one."""
    return np.multiply.outer(rule.weights, rule.section_weights).ravel()


def _pressures(system: DiscreteSystem, body: Body, state: Array) -> dict[str, Array]:
    """Return pressures of a body that are coordinates, at the cells of this rank (collective)."""
    pressures = system.binding(body).pressures
    if pressures is None:
        return {}
    owned = system.binding(body).interpolation.owned
    return {name: values[owned] for name, values in pressures.values(system, state).items()}


def _solved(
    system: DiscreteSystem, own: str, forms: list[int], state: Array
) -> Mapping[int, Array]:
    """Return the unknowns of cells of forms of a body, by the numbers of these (collective)."""
    if not forms:
        return {}
    solved, bad = system.assembler.tabulate("outputs", forms, state)
    with together(system.comm):
        if bad:
            raise SymancfError(
                f"sample(): the unknowns of cells of body {own!r} have no solution at {bad} "
                "points in this state"
            )
    return solved


class Internal:
    """Memory and unknowns of cells of a body in a state of its system (collective).

    Memory is that of the beginning of the step, and the step's length that of the last residual,
    so that stresses are those with which it was solved. Unknowns of cells are found by the kernel
    of the residual.
    """

    def __init__(self, system: DiscreteSystem, body: Body, state: Array) -> None:
        self._cells = _pressures(system, body, state)  # (cells,)
        self._points: dict[str, Array] = {}  # (cells, points of the rule)
        self._length = system.memory.length(system.time)
        laws = [law for law, _ in body._laws]
        binding = system.binding(body)
        owned = binding.interpolation.owned
        if not any(law.history or law.shared for law in laws):
            return
        with together(system.comm):
            system.update(system.time)
        own = system.name(body)
        numbers = [k for k, p in enumerate(system.forms) if p.name in (own, f"{own} (curved)")]
        solved = _solved(system, own, numbers, state) if any(law.shared for law in laws) else {}
        for number, (own_laws, cells) in zip(numbers, binding.variants(system), strict=True):
            form, here = system.forms[number], cells[owned]
            if number in solved:
                kernel = jit.with_modes(form.kernel, ("outputs",), system.comm)
                self._take_solved(kernel, solved[number][form.owned], here)
            for law, rule in own_laws:
                if law.history:
                    rows = system.memory.beginning(form)[form.owned]
                    self._take_remembered(law, rule, rows, here)

    def _take_solved(self, kernel: jit.Kernel, rows: Array, here: Mask) -> None:
        first = 0
        for _, count, names in kernel.description.outputs:
            for k, name in enumerate(names):  # at the first point: the same at all of a cell
                self._cells.setdefault(name, np.zeros(len(here)))[here] = rows[:, first + k]
            first += count * len(names)

    def _take_remembered(self, law: PointLaw, rule: Rule, rows: Array, here: Mask) -> None:
        table = rows.reshape(len(rows), rule.size, len(law.history))
        for k, m in enumerate(law.history):
            values = table[..., k] / weights(rule) if m.total else table[..., k]
            self._points.setdefault(m.name, np.zeros((len(here), rule.size)))[here] = values

    def at(self, points: CellPoints) -> dict[str, float | Array]:
        r"""Return the values by name, numbers or (cells, 1 or points).

        Memory only at points of the rule, as densities what is an integral over the point's part
        of the cell, for each :math:`\mathrm{d}\xi`; of other layers, with fewer points, none.
        """
        values_by_name: dict[str, float | Array] = {STEP: self._length}
        values_by_name |= {name: values[points.cells, None] for name, values in self._cells.items()}
        for name, values in self._points.items():  # elsewhere no field depends on it
            at = points.numbers
            if at is None or at.max(initial=-1) >= values.shape[1]:
                values_by_name[name] = np.nan
            else:
                values_by_name[name] = values[np.ix_(points.cells, at)]
        return values_by_name


class At:
    """A body at some points, in a state of its system (collective): its jets and parameters.

    `internal` : what its law has of its own there, if that is asked for.

    Attributes
    ----------
    z : (cells, points) height above the mid-surface [m].
    values : parameters by name, numbers or (cells, 1 or points).
    """

    def __init__(
        self,
        system: DiscreteSystem,
        body: Body,
        points: CellPoints,
        state: Array,
        internal: Internal | None = None,
    ) -> None:
        self.body, self.points = body, points
        self._u = coefficients(system, body, state, points.cells)
        self._X = coefficients(system, body, system.reference, points.cells)
        shape = (len(points.cells), points.xi.shape[-2])
        self.values: dict[str, float | Array] = {
            "t": system.time,
            "zeta": np.broadcast_to(points.zeta, shape),
            **{name: np.broadcast_to(v, shape) for name, v in points.section.items()},
            **({"eta": np.zeros(shape)} if body.element.section > 1 else {}),
            **body._numbers(system.time),
        }
        for k, name in enumerate(body.element.kinematics().coordinates):
            self.values[name] = np.broadcast_to(points.xi[..., k], shape)
        of_cells = [name for name, kind in body._fields.items() if kind == "cell"]
        of_cells += FRAME if body.pressure is not None and body.pressure.degree else ()
        if of_cells:
            own = system.binding(body)
            owned = np.flatnonzero(own.interpolation.owned)[points.cells]
            parameters = own.cell_parameters(system, of_cells)[owned]
            self.values |= {name: parameters[:, k, None] for k, name in enumerate(of_cells)}
        with together(system.comm):  # functions of the user may fail on one rank only
            self.values |= {name: self._over_points(name) for name in body._fields}
        if internal is not None:
            self.values |= internal.at(points)
        thickness = np.asarray(self.values.get("thickness", 0.0))
        self.z = np.broadcast_to(points.zeta * thickness / 2, shape)

    def _over_points(self, name: str) -> float | Array:
        """Return a field's values at the points of axis or mid-surface, or those of the cells."""
        field = self.body.parameters[name]
        if not isinstance(field, Field) or field.per != "point":
            return self.values[name]
        shape = (len(self.points.cells), self.points.xi.shape[-2])
        X = jets_at(self.body, self._X, "value", self.points.xi, np.zeros(shape))
        what = f"{name} of body {self.body.name!r}"
        count = shape[0] * shape[1]
        result = call_array(what, field.function, (count,), X.reshape(count, 3)).reshape(shape)
        if name in self.body._domains:
            self.body._domains[name].require(name, what, result, " at a point")
        return result

    def u(self, jet: str = "value") -> Array:
        """Return a jet (cells, points, 3) of the displacement."""
        return jets_at(self.body, self._u, jet, self.points.xi, self.z)

    def X(self, jet: str = "value") -> Array:
        """Return a jet (cells, points, 3) of the reference."""
        return jets_at(self.body, self._X, jet, self.points.xi, self.z)

    def area(self) -> tuple[Array, Array]:
        """Return |R_xi x R_eta| (cells, points) and the unit normal on the mid-surface."""
        flat = np.zeros_like(self.z)
        first, second = (
            jets_at(self.body, self._X, jet, self.points.xi, flat) for jet in ("xi", "eta")
        )
        normal = np.cross(first, second)
        size = np.linalg.norm(normal, axis=-1)
        return size, normal / size[..., None]

    def outputs(self, law: PointLaw, kernel: jit.Kernel) -> dict[str, Array]:
        """Return the outputs (cells, points) of a law of `Body.sampled_laws`."""
        u = {jet: self.u(jet) for jet in dict.fromkeys(s.name[2:-1] for s in law.unknowns)}
        names = [p.name for p in law.parameters]
        R = {name[2:-1] for name in names if name.startswith("R_") and name not in self.values}
        return evaluate(law, kernel, u, {jet: self.X(jet) for jet in R}, self.values, self.z.shape)


def evaluate(
    law: PointLaw,
    kernel: jit.Kernel,
    u: Mapping[str, Array],
    R: Mapping[str, Array],
    values: Mapping[str, float | Array],
    shape: tuple[int, ...],
) -> dict[str, Array]:
    """Return the outputs of a law at points, arrays of a shape, by its kernel.

    `u`, `R` : jets (*shape, 3) of displacement and reference by name; `values` : parameters.

    Raises
    ------
    SymancfError : the law has unknowns of its own, without a solution somewhere.
    """
    values_by_name = {**values, **law.own_values}
    for jet, table in R.items():
        values_by_name |= {f"R_{jet}{a + 1}": table[..., a] for a in range(3)}
    columns = [u[s.name[2:-1]][..., int(s.name[-1]) - 1].ravel() for s in law.unknowns]
    count = int(np.prod(shape))
    parameters = np.stack(columns, axis=1) if columns else np.zeros((count, 0))
    at: dict[str, float | Array] = {name: values_by_name[name] for name in kernel.uniform}
    at |= {name: np.broadcast_to(values_by_name[name], shape).ravel() for name in kernel.cell}
    rows, bad = kernel.outputs(parameters, None, at)
    if bad and law.local:
        raise SymancfError(f"{law.words}: its own unknowns have no solution at {bad} points")
    (outputs,) = rows.values()
    return {name: values.reshape(shape) for name, values in outputs.items()}


def _kernel(law: PointLaw, system: DiscreteSystem) -> jit.Kernel:
    kernel = jit.points(law, system.comm, name=f"{law.name}_outputs", modes=("outputs",))
    _RECENT[kernel] = None
    _RECENT.move_to_end(kernel)
    if len(_RECENT) > CACHED_KERNELS:
        _RECENT.popitem(last=False)
    return kernel


class FieldKernels:
    """The kernels of some fields of a body in a state of its system (collective); see `sample`.

    `remembered` : whether they are asked at the points of the energy's rule alone, where it is
    known what its law remembers; `layer` : number of that of a body of layers.
    """

    def __init__(
        self,
        system: DiscreteSystem,
        body: Body,
        fields: Mapping[str, Sampled],
        state: Array,
        *,
        remembered: bool,
        layer: int | None = None,
    ) -> None:
        self.system, self.body, self.state = system, body, state
        self._remembered, self._layer = remembered, layer
        layered = body.layers is not None
        self._thin = not body.element.has_thickness
        resultants = RESULTANT_FIELDS if body.element.has_thickness or layered else ()
        self.through = {k: v for k, v in fields.items() if isinstance(v, str) and v in resultants}
        plain = {k: v for k, v in fields.items() if k not in self.through}
        self.parts: list[tuple[Mask, Fields, PointLaw, jit.Kernel]] = []
        self.sections: list[tuple[Rule, PointLaw, jit.Kernel]] = []
        if not fields:
            return
        own = system.binding(body)
        owned = own.interpolation.owned
        variants = [(law is not body._laws, cells[owned]) for law, cells in own.variants(system)]
        with together(system.comm):  # functions of the user may fail on one rank only
            parts = [(cells, *self._law(plain, curved)) for curved, cells in variants]
            sections = self._section_laws() if self.through else []
        self.parts = [(cells, sampled, law, _kernel(law, system)) for cells, sampled, law in parts]
        self.sections = [(rule, law, _kernel(law, system)) for rule, law in sections]
        self.internal = Internal(system, body, state)

    def _law(self, fields: Mapping[str, Sampled], curved: bool) -> tuple[Fields, PointLaw]:
        """Return fields and their law for cells that are `curved` in the reference, or straight."""
        body = self.body
        options: dict[str, Any] = {"curved": True} if curved else {}
        sampled = self._fields(fields, options)
        outputs = {**sampled.outputs, MEASURE: body.element.kinematics(**options).measure}
        if body.layers is not None:
            options["layer"] = self._layer or 0
        ((law, _),) = body._sampled_laws(outputs, **options)
        return sampled, law

    def _section_laws(self) -> list[tuple[Rule, PointLaw]]:
        """Return the stresses that resultants are integrals of, by the rules of the energy."""
        names = dict(zip(RESULTANT_FIELDS, RESULTANT_FIELDS, strict=True))
        stresses = names if self._thin else dict.fromkeys(self.through, "S")
        self.stress = self._fields(stresses, {}, resultant=True)
        measure = self.body.element.kinematics().measure
        outputs = {**self.stress.outputs, MEASURE: measure}
        return [(rule, law) for law, rule in self.body._sampled_laws(outputs, by_rule=True)]

    def _fields(
        self, fields: Mapping[str, Sampled], options: Mapping[str, bool], resultant: bool = False
    ) -> Fields:
        body = self.body
        return sampled_fields(
            body.element,
            body._energy_function,
            fields,
            values=body.parameters,
            remembered=self._remembered,
            pressure=body.pressure,
            layer=self._layer,
            resultant=resultant,
            **options,
        )

    def _at(self, points: CellPoints) -> At:
        return At(self.system, self.body, points, self.state, self.internal)

    def _in_layer(self, points: CellPoints) -> CellPoints:
        """Return points with their numbers among those of a layer that remembers."""
        rule = None if self._layer is None else memory_rule(self.body, self._layer)
        if rule is None or points.numbers is None:
            return points
        of_section = np.abs(np.subtract.outer(points.zeta, heights(rule))).argmin(axis=1)
        return replace(points, numbers=points.numbers * len(rule.section_weights) + of_section)

    def at(self, points: CellPoints) -> tuple[dict[str, Array], Array]:
        """Return the fields (cells, points, ...) and the measure (cells, points) (collective)."""
        shape = (len(points.cells), points.xi.shape[-2])
        result: dict[str, Array] = {}
        measure = np.zeros(shape)
        for cells, fields, law, kernel in self.parts:
            chosen = cells[points.cells]
            at = self._at(self._in_layer(points.of(chosen)))
            with together(self.system.comm):
                rows = at.outputs(law, kernel)
            measure[chosen] = rows[MEASURE]
            for name, values in fields.put(rows).items():
                to = result.setdefault(name, np.zeros((*shape, *fields.shapes[name])))
                to[chosen] = values
        if self.through:
            force, moment = self._resultants(points)
            for name, stress in self.through.items():
                result[name] = force if stress == "membrane_force" else moment
        return result, measure

    def _resultants(self, points: CellPoints) -> tuple[Array, Array]:
        r"""Return :math:`\int S\,dz` and :math:`-\int S\,z\,dz` in the mid-surface's plane.

        Each part of the energy under its own rule, as in the residual; per area of the reference.
        """
        n, m = len(points.cells), points.xi.shape[-2]
        total = np.zeros((2, n, m, 3, 3))
        middle = CellPoints(points.cells, points.xi, np.zeros(m))
        area, normal = self._at(middle).area()
        for rule, law, kernel in self.sections:
            zeta, weights = heights(rule), np.asarray(rule.section_weights, dtype=float)
            numbers = points.numbers
            if numbers is not None and self.body.layers is None:
                numbers = numbers // len(zeta)
            at = self._at(replace(middle, numbers=numbers).through(zeta, resultant_kinds(rule)))
            with together(self.system.comm):
                rows = at.outputs(law, kernel)
            share = rows[MEASURE].reshape(n, m, len(zeta)) * weights / area[..., None]
            functions = {
                name: x.reshape(n, m, len(zeta), 3, 3) for name, x in self.stress.put(rows).items()
            }
            if self._thin:
                for k, name in enumerate(RESULTANT_FIELDS):
                    total[k] += np.einsum("nmk,nmkab->nmab", share, functions[name])
                continue
            S = functions[next(iter(self.through))]
            for k, by in enumerate((share, -share * at.z.reshape(n, m, len(zeta)))):
                total[k] += np.einsum("nmk,nmkab->nmab", by, S)
        plane = np.eye(3) - normal[..., :, None] * normal[..., None, :]
        force, moment = plane @ total @ plane
        return force, moment
