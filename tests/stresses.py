# SPDX-License-Identifier: BSD-3-Clause
"""Stresses of an energy at displacement gradients or jets, by the kernels that sample them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from symancf import elements
from symancf.kinematics.naming import signature
from symancf.laws import at_points, energy_laws, sampled_fields
from symancf.output.fields import evaluate
from symancf.runtime import jit

Array = npt.NDArray[np.float64]


def fields_at(
    element: Any,
    energy: Callable[..., Any],
    fields: Mapping[str, Any],
    u: Mapping[str, Array],
    R: Mapping[str, Array],
    values: Mapping[str, float],
    **options: bool,
) -> dict[str, Array]:
    """Return fields (...) at points with jets (..., 3) of the displacement and the reference."""
    found = sampled_fields(element, energy, fields, values=values, **options)
    given = {"volumetric": "full", "outputs": found.outputs, **options}
    ((law, _),) = energy_laws(element, energy, **given)
    law = at_points(law)
    kernel = jit.points(law, modes=("outputs",))
    shape = np.shape(next(iter(u.values())))[:-1]
    return found.put(evaluate(law, kernel, u, R, {"t": 0.0, "zeta": 0.0, **values}, shape))


def solid_stress(
    energy: Callable[..., Any], H: npt.ArrayLike, values: Mapping[str, float] | None = None
) -> Any:
    """Return energy and stresses of a solid at displacement gradients (..., 3, 3)."""
    H = np.asarray(H, dtype=float)
    own = {p: v for p, v in (values or {}).items() if p in signature(energy).parameters}
    names = ("W", "F", "P", "S", "cauchy", "von_mises")
    axes = dict(zip(("xi", "eta", "zeta"), np.eye(3), strict=True))
    u = {jet: H @ axis for jet, axis in axes.items()}
    R = {jet: np.broadcast_to(axis, H.shape[:-1]) for jet, axis in axes.items()}
    found = fields_at(elements.hex8_plain, energy, {n: n for n in names}, u, R, own)
    return SimpleNamespace(**found, energy=found["W"])
