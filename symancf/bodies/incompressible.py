# SPDX-License-Identifier: BSD-3-Clause
"""The volume constraint of an incompressible body, and its derivative along a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..laws.isochoric import moving_volume, volume_law
from ..runtime.jit import declare

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sympy as sp

    from ..assembly.configuration import Configuration
    from ..assembly.form import Form
    from .body import Body
    from .pressure import Pressures


def volume_conditions(
    body: Body, own: Pressures, configuration: Configuration, weights: Sequence[sp.Symbol]
) -> tuple[Form, Form]:
    """Return p . Phi, and w0 Phi + w1 Phi' - w2 gamma; see `laws.isochoric` (collective).

    Parameters
    ----------
    own : the pressures of the body.
    weights : w0, w1, w2.
    """
    law, rule = volume_law(
        body.element,
        body._energy_function,
        own.pressure,
        values=body.parameters,
        fields=body._fields,
    )
    moving = moving_volume(law, own.pressure.names, weights)
    patch, uniform = own.patch(configuration), own.uniform(configuration)
    still = {str(w): 0.0 for w in weights} | {declare.RATE_FACTOR: 0.0}
    binding = configuration.binding(body)
    first, second = (
        binding.form(configuration, own.name, [(law_of, rule)], "constraint", values, patch)
        for law_of, values in ((law, uniform), (moving, {**uniform, **still}))
    )
    return first, second
