# SPDX-License-Identifier: BSD-3-Clause
"""Fields of values on bodies whose cells are scattered over the mesh."""

from __future__ import annotations

import numpy as np
import pytest

import symancf as sa


@pytest.mark.collective
def test_a_field_follows_the_cells_of_a_part_of_the_mesh() -> None:
    """Numbers of the cells of one body are between those of the other: rows run along x."""
    mesh = sa.Mesh.box((4.0, 1.0, 1.0), (8, 2, 2))
    hard = mesh.select("hard", lambda X: X[:, 0] > 1.9, dimension=3)
    soft = mesh.select("soft", dimension=3, within=mesh["body"] - hard)
    root = mesh.select("root", lambda X: X[:, 0] < 1e-9, within=soft)
    x = np.tile(np.arange(0.25, 4.0, 0.5), 4)  # of the middles of cells

    def problem(*moduli: sa.Field) -> tuple[sa.StaticProblem, sa.Goal]:
        bodies = [
            sa.Body(part, sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=mu, lam=2.0)
            for part, mu in zip((hard, soft), moduli, strict=True)
        ]
        tip = bodies[0].at((4.0, 0.5, 0.5))
        terms = [sa.fix(bodies[1][root.name]), sa.force(tip, (0.0, 0.0, -0.01))]
        made = sa.StaticProblem(sa.System(*bodies, terms=terms), options={"snes_rtol": 1e-13})
        made.solve()
        return made, sa.Goal(lambda u_a: u_a[2], tip)

    by_place, sag = problem(*2 * (sa.Field(lambda X: 1.0 + X[:, 0], per="cell"),))
    fields = [sa.Field(1.0 + x[chosen]) for chosen in (x > 2.0, x < 2.0)]
    by_number, same = problem(*fields)
    assert by_number.value(same) == pytest.approx(by_place.value(sag), rel=1e-12)

    known = by_number.gradient(same, fields)
    for field in fields:
        k, values, found = 9, field.values.copy(), []
        for way in (1e-4, -1e-4):
            field.values = values + way * (np.arange(len(values)) == k)
            by_number.solve()
            found.append(by_number.value(same))
        field.values = values
        assert known[field][k] == pytest.approx((found[0] - found[1]) / 2e-4, rel=1e-6)
