# SPDX-License-Identifier: BSD-3-Clause
"""The digits that the laws of a body lose at a strain of 1e-8."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.stable.accuracy import digits_lost as law_loss

from ..errors import KinematicsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from symancf_codegen.declare import PointLaw, Rule

#: A unit cell, slightly curved: reference jets for laws that do not measure strain by H alone.
REFERENCE = {
    "R_xi": (1.0, 0.1, 0.0),
    "R_eta": (-0.2, 1.1, 0.1),
    "R_zeta": (0.0, -0.1, 1.0),
    "R_xixi": (0.02, 0.01, -0.3),
    "R_xieta": (0.01, 0.02, 0.1),
    "R_etaeta": (0.01, -0.01, 0.2),
    "R_value": (0.3, 0.2, 0.1),
    "R_centre_xi": (1.0, 0.05, 0.0),
    "R_centre_eta": (-0.1, 1.1, 0.1),
    "R_centre_zeta": (0.0, -0.1, 1.05),
    "R_d1": (0.96, 0.28, 0.0),  # of rods, orthonormal
    "R_d2": (-0.28, 0.96, 0.0),
    "R_d3": (0.0, 0.0, 1.0),
    "R_d1_xi": (0.084, -0.288, -0.04),  # turned by (0.2, 0.1, -0.3)
    "R_d2_xi": (0.288, 0.084, 0.22),
    "R_d3_xi": (0.1, -0.2, 0.0),
}
PLACE = {"xi": -0.2, "eta": 0.4, "zeta": 0.3, "t": 0.0, "layer_cos": 0.8, "layer_sin": 0.6}


def digits_lost(
    laws: Iterable[tuple[PointLaw, Rule]],
    values: Mapping[str, float] | None = None,
    *,
    size: float = 1e-8,
    as_written: bool = False,
) -> tuple[float, float]:
    """Return the decimal digits lost by energy and by stress, of the 16 that a double has.

    Parameters
    ----------
    laws : of an energy, as `energy_laws` returns them.
    values : parameters by name; one that is missing counts as 1, if it is optional as 0.
        Unknowns of the law are held where they begin.
    size : displacement gradient.
    as_written : do not stabilise the laws.

    Returns
    -------
    (energy, stress) : the worst over the laws and some random displacements, against 50 digits.

    Raises
    ------
    KinematicsError : a law is nested too deeply.
    """
    jets = {f"{jet}{a + 1}": x for jet, v in REFERENCE.items() for a, x in enumerate(v)}
    energy = stress = 0.0
    for law, _ in laws:
        if law.energy is None:
            continue
        ones = {p.name: 0.0 if p.optional else 1.0 for p in law.parameters} | law.own_values
        ones |= {m.name: 0.0 for m in law.history}
        for x in law.local:
            ones[str(x.symbol)] = float(x.start) if x.start.is_number else 0.0
        values_by_name = {**ones, **jets, **PLACE, **(values or {})}
        at = {name: float(np.mean(value)) for name, value in values_by_name.items()}
        try:
            loss = law_loss(law, at, size=size, as_written=as_written)
        except RecursionError:
            raise KinematicsError(
                f"the law {law.name!r} has too many levels for its round-off to be looked for: "
                "write it with fewer functions of functions",
                asked="law",
                given=law.name,
            ) from None
        energy, stress = max(energy, loss.digits[1]), max(stress, loss.digits[0])
    return energy, stress
