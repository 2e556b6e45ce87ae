# SPDX-License-Identifier: BSD-3-Clause
r"""Laws of a lid: the cone from the mean point c of a rim to the rim r(s).

With A = (r - c) x r', for a rim that runs such that A points out of the gas,

.. math::
    V = \tfrac16 \oint (c - o) \cdot \big((r - o) \times r'\big)\, ds, \qquad
    p\,\delta W = -p \oint \big(\tfrac13 A \cdot \delta r + \tfrac16 A \cdot \delta c\big)\, ds.

On a plane rim this is the flat lid, whatever c is.
"""

from __future__ import annotations

from typing import Literal

import sympy as sp

from symancf_codegen.declare import Parameter, PointLaw, reference, unknown

from ..kinematics.quantity import cross, dot, real, vector

JETS = ("value", "along", "mean")


def lid_law(form: Literal["pressure", "potential", "volume", "factored"]) -> PointLaw:
    """Return the law of a point of a rim.

    Unknowns: the changes of r, r' and c; parameters per place: their reference values, and
    ``weight`` (of the rule; negative where the rim runs the other way); ``p`` [Pa] and the origin
    ``o1, o2, o3`` [m]. ``"factored"``: -scale factor V with the unknown ``factor``.
    """
    r, along, c = (
        sp.Matrix([R + u for R, u in zip(reference(j), unknown(j), strict=True)]) for j in JETS
    )
    weight, p = real("weight"), real("p")
    unknowns = tuple(s for j in JETS for s in unknown(j))
    cell = [*(s for j in JETS for s in reference(j)), weight]
    parameters = [Parameter(s, "cell") for s in cell]
    energy, work = None, None
    if form == "pressure":
        A = cross(r - c, along)
        work = {u: -p * weight * a / 3 for u, a in zip(unknown("value"), A, strict=True)}
        work |= {u: -p * weight * a / 6 for u, a in zip(unknown("mean"), A, strict=True)}
        parameters.append(Parameter(p))
    else:
        origin = vector((real("o1"), real("o2"), real("o3")))
        parameters += [Parameter(s) for s in origin]
        energy = weight * dot(c - origin, cross(r - origin, along)) / 6
        if form == "potential":
            energy *= -p
            parameters.append(Parameter(p))
        if form == "factored":
            energy *= -real("scale") * real("factor")
            parameters.append(Parameter(real("scale")))
            unknowns = (*unknowns, real("factor"))
    return PointLaw(
        name=f"lid_{form}",
        unknowns=unknowns,
        energy=energy,
        work=work,
        parameters=tuple(parameters),
        title="lid: V = (c - o) . ((r - o) x r')/6",
    )
