# SPDX-License-Identifier: BSD-3-Clause
r"""Energies of displacement and pressure, for solids that are nearly or exactly incompressible.

The part of an energy named ``"volumetric"``, :math:`\tfrac12 \kappa\, g^2` with a measure g of the
change of volume and a modulus that depends on parameters alone, becomes

.. math:: p\, g - \frac{p^2}{2\kappa}, \qquad p = \sum_a \psi_a\, p_a,

which is stationary in the pressure p (positive in tension) at :math:`p = \kappa g` and has the
same value there. With :math:`1/\kappa = 0` it says g = 0. A law without such a part gets p (J - 1).
The functions are 1, or affine in the place X within each cell, whether its edges are curved or
not,

.. math:: s = B (X - X_0), \qquad \psi = (1, s_1, s_2, s_3)

of a pressure that jumps between cells, and :math:`(1 - s_1 - s_2 - s_3, s_1, s_2, s_3)`, 1 at one
corner each of a tetrahedron, of one whose values belong to the corners (C. Taylor, P. Hood,
Computers & Fluids 1 (1973) 73-100). X_0 and B are those of the affine map that fits the corners.

The values are scalars of the kernel (`Space.with_scalars`) that the system solves for; those of a
cell with a finite modulus may also be solved for in the kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np
import sympy as sp

from symancf_codegen.declare import Local, scalar_jets, unknown
from symancf_codegen.functions import symbolic

from ..errors import KinematicsError
from ..kinematics.quantity import Kinematics, real
from ..kinematics.stretches import joined

if TYPE_CHECKING:
    from ..arrays import Array
    from ..cells.table import Cell
    from ..values.domain import Domain
    from .parts import EnergyCall

Kind = Literal["continuous", "discontinuous", "condensed"]

PART = "volumetric"
PRESSURE = real("pressure")
SCALE, AREA = real("scale"), real("area")  # p = scale/area * state
_S = [real(f"place_s{i}") for i in (1, 2, 3)]
_X0 = [real(f"origin_X{i}") for i in (1, 2, 3)]
_B = [[real(f"frame_B{i}{k}") for k in (1, 2, 3)] for i in (1, 2, 3)]

#: Parameters of cells that their geometry gives: X_0, then B by rows.
FRAME = tuple(s.name for s in (*_X0, *(b for row in _B for b in row)))


@dataclass(frozen=True)
class PressureField:
    """The pressure of a body beside its displacement.

    Attributes
    ----------
    kind : ``"continuous"``: its values belong to corner nodes; ``"discontinuous"``: to cells;
        ``"condensed"``: likewise, and they are solved for in the kernel.
    degree : 0, constant in each cell, or 1.
    incompressible : whether the modulus is infinite.
    unbounded : names of the parameters that make it infinite, being infinite themselves.
    limits : names of those that may be at the end of their domain, as Poisson's ratio at 1/2.
    """

    kind: Kind
    degree: int
    incompressible: bool
    unbounded: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of values that a cell has or gathers."""
        return 1 + 3 * self.degree

    @property
    def continuous(self) -> bool:
        """Whether its values belong to corner nodes."""
        return self.kind == "continuous"

    @property
    def of_system(self) -> bool:
        """Whether they are unknowns of the system."""
        return self.kind != "condensed"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the values in laws."""
        return tuple(f"pressure_{a + 1}" for a in range(self.count))

    @property
    def reserved(self) -> frozenset[str]:
        """Names that a parameter must not have."""
        own = {PRESSURE.name, SCALE.name, AREA.name, *self.names}
        return frozenset(own.union(FRAME, (s.name for s in _S)))

    def domains(self, domains: Mapping[str, Domain]) -> Mapping[str, Domain]:
        """Return the domains of parameters with the ends at which the body is incompressible."""
        ends = {n: domains[n] for n in self.limits if n in domains}
        closed = {n: replace(d, closed=(d.closed[0], True)) for n, d in ends.items()}
        return {**domains, **closed}

    @property
    def functions(self) -> tuple[sp.Expr, ...]:
        """The functions psi_a of the place in the cell."""
        if not self.degree:
            return (sp.S.One,)
        first = 1 - sp.Add(*_S) if self.continuous else sp.S.One
        return (first, *_S)


def mixed(called: EnergyCall, pressure: PressureField, *, frozen: bool = False) -> EnergyCall:
    """Return an energy as one of displacement and pressure.

    Parameters
    ----------
    frozen : the values of the pressure, in Pa, are parameters where they are unknowns of the
        system.

    Raises
    ------
    KinematicsError : what is no energy of this kind, or has unknowns of its own at points.
    """
    g, compliance = split(called)
    if pressure.incompressible:
        compliance = sp.S.Zero
    parts = {k: w for k, w in called.parts.items() if k != PART}
    parts[PART] = PRESSURE * joined(g) - PRESSURE**2 * compliance / 2
    local, shared, kinematics = called.local, called.shared, called.kinematics
    unknowns = [real(name) for name in pressure.names]
    p = sp.Add(*(psi * x for psi, x in zip(pressure.functions, unknowns, strict=True)))
    if pressure.of_system and not frozen:
        p = SCALE / AREA * p
        jets = scalar_jets(pressure.count)
        pairs = zip(unknowns, chain(*map(unknown, jets)), strict=False)
        kinematics = replace(
            kinematics,
            jets=(*kinematics.jets, *jets),
            inner=(*kinematics.inner, *((x, {s: sp.S.One}) for x, s in pairs)),
        )
    elif not pressure.of_system:
        if local and not shared:
            raise KinematicsError(
                f"{called.signature.name}() has unknowns of its own at points, so that a pressure "
                "of each cell cannot be one, too: take pressure='discontinuous'",
                asked="unknowns",
                given=[str(x.symbol) for x in local],
                possible=("discontinuous",),
            )
        local, shared = (*local, *(Local(x) for x in unknowns)), True
    return replace(
        called,
        parts=parts,
        kinematics=_placed(kinematics, pressure, p),
        local=local,
        shared=shared,
        values={**called.values, PRESSURE.name: PRESSURE},
    )


def _placed(kinematics: Kinematics, pressure: PressureField, p: sp.Expr) -> Kinematics:
    """Return the kinematics with the pressure, and the place in the cell."""
    X = kinematics.quantities["X"].value
    geometry = kinematics.geometry
    if pressure.degree:
        arm = [X[k] - _X0[k] for k in range(3)]
        rows = (sp.Add(*(b * x for b, x in zip(row, arm, strict=True))) for row in _B)
        geometry = (*geometry, *zip(_S, rows, strict=True))
    return replace(kinematics, geometry=geometry, lets=(*kinematics.lets, (PRESSURE, p)))


def split(called: EnergyCall) -> tuple[sp.Expr, sp.Expr]:
    """Return g and 1/kappa of the volumetric part kappa g^2/2; J - 1 and 0 where there is none.

    Raises
    ------
    KinematicsError : it is something else.
    """
    offered = called.kinematics.quantities
    if "J" not in offered:
        raise KinematicsError(
            "pressure= is for solids; this element offers no J",
            asked="pressure",
            given=called.kinematics.name,
        )
    if PART not in called.parts:
        return offered["J"].value - 1, sp.S.Zero
    parameters = {real(p) for p in called.signature.parameters}
    return _square(called.signature.name, called.parts[PART], parameters)


def _square(name: str, w: sp.Expr, parameters: Collection[sp.Symbol]) -> tuple[sp.Expr, sp.Expr]:
    """Return g and 1/kappa of a part kappa g^2/2 of the energy `name`."""
    w = symbolic(w)
    moving = w.free_symbols - set(parameters)
    factor, square = sp.factor(w).as_independent(*moving, as_Add=False)
    powers = [f.as_base_exp() for f in sp.Mul.make_args(square)]
    if not moving or any(not (n / 2).is_integer or not n.is_positive for _, n in powers):
        raise KinematicsError(
            f"the part 'volumetric' of {name}() is {w}: with pressure= it has to be a modulus "
            "times a square, such as k/2*(J - 1)**2 or lam/2*log(J)**2, the modulus one of "
            "parameters alone",
            asked=PART,
            given=str(w),
        )
    return sp.Mul(*(b ** (n / 2) for b, n in powers)), 1 / (2 * factor)


def printed_law(
    name: str, parts: Mapping[str, sp.Expr], J: sp.Expr, p: Collection[str], pressure: PressureField
) -> dict[str, sp.Expr]:
    """Return the parts of an energy for people, with the pressure as a symbol.

    `J` : its symbol, where there is no volumetric part; `p` : names of the parameters.
    """
    g, compliance = J - 1, sp.S.Zero
    if PART in parts:
        g, compliance = _square(name, parts[PART], [real(x) for x in p])
    if pressure.incompressible:
        compliance = sp.S.Zero
    return {**parts, PART: PRESSURE * g - PRESSURE**2 * compliance / 2}


def frames(cell: Cell, X: Array) -> Array:
    """Return X_0 and B, (n, 12), of cells with nodes X (n, nv, 3): see `FRAME`.

    Of the affine map that fits the corners best: of a tetrahedron it is 0 at the first one and
    one of the unit vectors at each of the others.
    """
    corners = np.array(cell.vertices, dtype=float)[: cell.corners]
    fit = np.linalg.pinv(np.column_stack([np.ones(len(corners)), corners]))
    map_ = np.einsum("kc,nca->nka", fit, X[:, : cell.corners])
    B = np.linalg.inv(map_[:, 1:].transpose(0, 2, 1))
    return np.concatenate([map_[:, 0], B.reshape(len(X), 9)], axis=1)
