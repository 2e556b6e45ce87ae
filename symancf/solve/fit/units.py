# SPDX-License-Identifier: BSD-3-Clause
"""Data of tests that no material gives: units, signs, strains in the place of stretches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...arrays import Mask
    from .material_test import MaterialTest

#: [Pa] stiffer than diamond: no material, but a factor of units.
STIFFEST = 2e12


#: Stiffness of one test over that of another of the same material, at most.
DIFFERENT = 1e3

#: Stretches beyond are of few materials.
FAR = 10.0


def implausible(tests: Sequence[MaterialTest]) -> list[str]:
    """Return sentences on tests that no material answers, if their stresses are in Pa."""
    notes, moduli = [], {}
    for test in tests:
        strain = abs(test.along - 1.0)
        far = strain > 0.1 * strain.max(initial=0.0)
        if far.any():
            moduli[test] = float((abs(test.stress).max(axis=1)[far] / strain[far]).max())
        if moduli.get(test, 0.0) > STIFFEST:
            notes.append(
                f"{test.name}: stress over strain is {moduli[test]:.2g}, in Pa more than that of "
                "diamond (1.2e12): look at the unit of the stress, and at strains in percent"
            )
        if test.along.max() > FAR:
            notes.append(
                f"{test.name}: stretches go to {test.along.max():.3g}: few materials do; look "
                "whether the strains are in percent"
            )
        against = _against(test) & (abs(test.stress).max(axis=1) > 0.05 * abs(test.stress).max())
        if against.any() and test.time is None:
            at = test.along[against]
            notes.append(
                f"{test.name}: the stress has the wrong sign at {test.what} {at.min():.3g} to "
                f"{at.max():.3g}: look whether strains were given as stretches"
            )
    own = {t: m for t, m in moduli.items() if t.kind != "volumetric" and m > 0.0}
    soft, stiff = (f(own, key=lambda t: own[t], default=None) for f in (min, max))
    if soft is not None and stiff is not None and own[stiff] > DIFFERENT * own[soft]:
        notes.append(
            f"stress over strain in {stiff.name} is {own[stiff] / own[soft]:.2g} times that in "
            f"{soft.name}: look whether the stresses have one unit"
        )
    return notes


def require_signs(test: MaterialTest) -> None:
    """Check that a material takes work: stresses pull where it is pulled.

    Raises
    ------
    ParameterError
    """
    strain = test.along - 1.0
    against = _against(test)
    if not against.any() or not (against | (strain == 0.0) | (test.stress[:, 0] == 0.0)).all():
        return
    pressure = test.kind == "volumetric"
    raise ParameterError(
        f"{test.name}: the {'pressure' if pressure else 'stress'} has the wrong sign in all rows: "
        f"it is positive in {'compression, J < 1' if pressure else 'tension, stretch > 1'}",
        asked="stress",
        given=float(test.stress[abs(strain).argmax(), 0]),
    )


def _against(test: MaterialTest) -> Mask:
    """Return in which rows the stress along the first axis pushes against the strain."""
    sign = -1.0 if test.kind == "volumetric" else 1.0
    return np.asarray(sign * test.stress[:, 0] * (test.along - 1.0) < 0.0)
