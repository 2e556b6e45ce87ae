# SPDX-License-Identifier: BSD-3-Clause
"""Viscous stresses in bodies: Kelvin-Voigt damping, and laws of the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import jit
from .assembly import Jets, Piece
from .body import Body
from .collective import together
from .errors import KinematicsError, ParameterError
from .kinematics.naming import signature
from .laws import viscous
from .parameter import Field, label

if TYPE_CHECKING:
    from symancf_codegen.declare import Rule

    from .system import System

Array = npt.NDArray[np.float64]


class Viscosity:
    """Stresses that depend on rates of strain, integrated over a body.

    Parameters
    ----------
    body : deformable.
    function : asks for quantities of the element and for their rates, ``E_gl_rate``; returns
        the stress conjugate to each rate, ``{"E_gl": S}``, per the measure of the element
        (volume, area of thin plates, length of cables). Keyword-only arguments are parameters.
    curved : the function for cells of a cable whose reference is curved, if it is another.
    quadrature : rule of the element; default: its full rule.
    parameters : values (numbers, `Parameter`, functions of time); those not given are taken
        from the body.

    Raises
    ------
    KinematicsError : the function asks for what the element does not offer.
    ParameterError : a parameter is missing.

    Examples
    --------
    >>> def newton(E_gl_rate, *, eta):
    ...     return {"E_gl": 2 * eta * E_gl_rate}
    """

    def __init__(
        self,
        body: Any,
        function: Callable[..., Any],
        curved: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        quadrature: str = "full",
        **parameters: Any,
    ) -> None:
        if not isinstance(body, Body):
            raise ParameterError(
                f"viscosity of {label(body)}: a rigid or planar body does not strain; give a "
                "deformable body"
            )
        self.body: Body = body
        self.function, self.curved = function, curved or function
        self.name = name or f"viscosity of {body.name!r}"
        self.rule: Rule = body.element.rule(quadrature)
        asked = signature(function)
        unknown = sorted(set(parameters) - set(asked.parameters))
        if unknown:
            raise ParameterError(
                f"{self.name} has no parameter {unknown[0]!r}; it has {', '.join(asked.parameters)}"
            )
        self.parameters = dict(asked.defaults) | {
            k: v for k, v in body.parameters.items() if k in ("thickness", *asked.parameters)
        }
        self.parameters |= parameters
        for k in asked.required:
            if k not in self.parameters:
                given = ", ".join(parameters) or "none"
                raise ParameterError(f"{self.name} needs the parameter {k!r}; given {given}")
        fields = [k for k, v in self.parameters.items() if isinstance(v, Field)]
        if any(k not in body.fields for k in fields):
            raise ParameterError(f"{self.name}: {fields[0]} is a Field, which only bodies have")
        self.fields = fields
        viscous.viscous_law("viscosity", body.element.kinematics(), function)

    def declare(self, system: System) -> None:
        """Check that the body is one of the system's."""
        system.require_member(self.body, self.name)

    def pieces(self, system: System) -> list[Piece]:
        """Return the kernels on the points of this rank's cells."""
        made = []
        for k, (laws, chosen) in enumerate(self.body.variants(system)):
            curved = laws is not self.body.laws
            name = f"{self.name} (curved)" if k else self.name
            made.append(self._piece(system, name, np.flatnonzero(chosen), curved))
        return made

    def _piece(
        self, system: System, name: str, chosen: npt.NDArray[np.int64], curved: bool
    ) -> Piece:
        body = self.body
        kinematics = body.element.kinematics(**({"curved": True} if curved else {}))
        function = self.curved if curved else self.function
        kind = jit.identifier(f"viscous_{function.__name__}_{body.element.name}")
        law = viscous.viscous_law(kind, kinematics, function, self.fields)
        kernel = jit.points(law, system.comm)
        with together(system.comm):
            values = self._coefficients(system, chosen)
        n, nq, m, nv, nf = values.shape
        cells = body.cells[chosen]
        position = system.numbering.offset[cells, body.position_block][..., None]
        offsets = [position]
        if nf > 1:
            slope = system.numbering.offset[cells, body.slope_block][..., None]
            offsets.append(slope + 3 * np.arange(nf - 1))
        offset = np.concatenate(offsets, axis=2)  # (n, nv, nf)
        entity, jet, corner, f = (
            a.ravel() for a in np.indices((n * nq, m, nv, nf)).astype(np.int32)
        )
        value = values.ravel()
        keep = value != 0.0
        entity, jet, corner, f, value = (a[keep] for a in (entity, jet, corner, f, value))
        at = offset[entity // nq, corner, f]
        a = np.arange(3, dtype=np.int32)
        coordinate = (at[:, None] + a).ravel()
        component = (3 * jet[:, None] + a).ravel()
        entity, corner, value = (np.repeat(x, 3) for x in (entity, corner, value))
        jets = Jets(
            entity=np.concatenate([entity, entity]),
            jet=np.concatenate([component, component + 3 * m]).astype(np.int32),
            coordinate=np.concatenate([coordinate, ~coordinate]).astype(np.int32),
            vertex=np.concatenate([corner, corner]),
            value=np.concatenate([value, value]),
        )
        R = np.zeros((n * nq, 3 * m))
        np.add.at(R, (entity, component), value * system.reference[coordinate])
        given = {"weight": np.tile(self._weights(), n)}
        for k, symbol in enumerate(f"R_{j}{b}" for j in kinematics.jets for b in (1, 2, 3)):
            given[symbol] = R[:, k]
        for p in self.fields:
            points = self.rule.points
            values = body.cell_parameters(system, [p] * len(points), points)[chosen]
            given[p] = np.repeat(values, nq // len(points), axis=1).ravel()
        rows = [given[p] for p in kernel.cell]
        return Piece(
            name=name,
            kernel=kernel,
            role="dissipation",
            uniform=self.parameters,
            cell=np.stack(rows, axis=1),
            owned=np.repeat(body.owned[chosen], nq),
            vertices=np.repeat(cells, nq, axis=0).ravel(),
            vertex_start=np.arange(n * nq + 1, dtype=np.int32) * np.int32(nv),
            entities=jets,
        )

    def _weights(self) -> Array:
        """Return the weights of the points of a cell, those through the section included."""
        return np.outer(self.rule.weights, self.rule.section_weights).ravel()

    def _coefficients(self, system: System, chosen: npt.NDArray[np.int64]) -> Array:
        """Return the jets in nodal vectors, (cells, points, jets, corners, 1 + slopes)."""
        body, element, rule = self.body, self.body.element, self.rule
        kinematics = element.kinematics()
        spread = [element.space.point_jets[jet] for jet in kinematics.jets]
        tables = tuple(dict.fromkeys(t for row in spread for t in row))
        table = element.space.tabulate(tables, rule.points)  # (nq, tables, functions)
        zetas = rule.section_points[:, 0] if rule.section_symbols else np.zeros(1)
        half = np.zeros((len(chosen), len(rule.points)))
        if rule.section_symbols:
            half = self._half_thickness(system, chosen)
        flat, director = (np.zeros((len(rule.points), len(spread), table.shape[2])) for _ in "01")
        for k, row in enumerate(spread):
            for t, factor in row.items():
                part = flat if factor == 1 else director
                part[:, k] += table[:, tables.index(t)]
        z = half[:, :, None] * zetas  # (cells, points, section points)
        values = flat[None, :, None] + np.einsum("nqs,qkf->nqskf", z, director)
        n, nq, ns, m, _ = values.shape
        nv = element.vertices
        values = values.reshape(n, nq * ns, m, nv, -1)
        slopes = np.einsum("nqmvk,nvkc->nqmvc", values[..., 1:], body.maps[chosen])
        return np.asarray(np.concatenate([values[..., :1], slopes], axis=-1))

    def _half_thickness(self, system: System, chosen: npt.NDArray[np.int64]) -> Array:
        given, points = self.body.parameters["thickness"], self.rule.points
        if isinstance(given, Field):
            names = ["thickness"] * len(points)
            return np.asarray(self.body.cell_parameters(system, names, points)[chosen] / 2.0)
        number = self.body.numbers(system.time)["thickness"]
        return np.full((len(chosen), len(points)), number / 2.0)


class KelvinVoigt(Viscosity):
    r"""Viscous stress beside the elastic one; rigid motions cost nothing.

    Solids: :math:`S = 2\eta\,\mathrm{dev}\dot E + \eta_v\,\mathrm{tr}\dot E\,I` with the
    Green-Lagrange strain E. Thin plates: the same without stress across the thickness, in the
    membrane and in bending. Cables: axial force :math:`\eta A\,\dot\epsilon` and moment
    :math:`\eta I\,\dot\kappa` (`eta` is the viscosity in tension, there is no
    `eta_volumetric`).

    Parameters
    ----------
    eta, eta_volumetric : shear and bulk viscosity [Pa s].
    quadrature : rule of the element.
    section : of cables, `A` [m^2] (default: the body's) and `I` [m^4]; and `kappa_small` [1/m]:
        where the reference is straight and the cable free to bend in space, its curvature has no
        sign at zero, and curvatures below this one are not damped fully; default: 1e-6 over the
        extent of the body. ``cable(curvature="plane")`` has no such limit.

    Raises
    ------
    ParameterError : `A` or `I` is missing; the body does not strain.
    """

    def __init__(
        self,
        body: Any,
        *,
        eta: Any,
        eta_volumetric: Any = 0.0,
        name: str | None = None,
        quadrature: str = "full",
        **section: Any,
    ) -> None:
        given = {"eta": eta} | section
        function: Callable[..., Any] = viscous.solid
        curved = None
        family = body.element.kinematics().name if isinstance(body, Body) else "solid"
        if family == "cable":
            if "kappa_plane" in signature(body.energy_function).quantities:
                function = viscous.plane_cable
            else:
                function, curved = viscous.straight_cable, viscous.cable
                given.setdefault("kappa_small", 1e-6 / body.extent)
        elif family == "surface":
            raise KinematicsError(f"body {body.name!r}: {body.element.name} has no strain to damp")
        else:
            given["eta_volumetric"] = eta_volumetric
            function = viscous.thin_plate if family == "thin_plate" else viscous.solid
        super().__init__(body, function, curved, name=name, quadrature=quadrature, **given)
