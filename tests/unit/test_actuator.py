# SPDX-License-Identifier: BSD-3-Clause
"""The mesh of the pneumatic actuator: its size, its surfaces and its regions."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symancf as sa

if TYPE_CHECKING:
    from pathlib import Path

VOLUME = 11.406e-6  # m^3: the block less 8 gaps, 9 chambers and 8 pieces of the channel
GAS = 3527.0e-6  # m^2


@pytest.fixture(scope="module")
def script(repository: Path) -> dict[str, Any]:
    return runpy.run_path(str(repository / "meshes" / "actuator.py"))


def facets(made: Any, name: str) -> tuple[Any, Any]:
    """Return the centres and the area vectors of the facets of a region."""
    points, cells, regions = made
    kind, which = regions[name]
    X = points[cells[kind][which]][:, : 3 if kind == "triangle6" else 4]
    if kind == "triangle6":
        area = np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]) / 2
    else:
        area = np.cross(X[:, 2] - X[:, 0], X[:, 3] - X[:, 1]) / 2
    return X.mean(axis=1), area


@pytest.mark.parametrize("cell", ["hexahedron", "hexahedron20", "tetra10"])
@pytest.mark.parametrize("half", [False, True])
def test_volume_and_surfaces(script: dict[str, Any], cell: str, half: bool) -> None:
    made = script["arrays"](layers=1, size=3.5e-3, half=half, cell=cell)
    share = 0.5 if half else 1.0
    parts = ["inside", "outside", "root", *(["symmetry"] if half else [])]
    forms = {name: facets(made, name) for name in parts}
    centre, area = (np.concatenate(a) for a in zip(*forms.values(), strict=True))
    assert len(centre) == len(made[1][made[2]["root"][0]])  # each facet in one of them
    np.testing.assert_allclose(area.sum(axis=0), 0.0, atol=1e-15)
    # the normals point out of the silicone: the divergence theorem gives its volume
    np.testing.assert_allclose((centre * area).sum() / 3, share * VOLUME, rtol=1e-12)
    inside = forms["inside"]
    np.testing.assert_allclose(np.linalg.norm(inside[1], axis=1).sum(), share * GAS, rtol=1e-12)
    if not half:  # the gas is enclosed; it lies where the normals point
        np.testing.assert_allclose(inside[1].sum(axis=0), 0.0, atol=1e-15)
        gas = -(inside[0] * inside[1]).sum() / 3
        chambers, channel = 9 * 3.5e-3 * 11e-3 * 10e-3, 8 * 4.5e-3 * 2e-3 * 2e-3
        np.testing.assert_allclose(gas, chambers + channel, rtol=1e-12)


def test_regions(script: dict[str, Any]) -> None:
    made = script["arrays"](layers=1, size=3.5e-3)
    sizes = {  # m^2
        "root": 15e-3 * 15e-3,
        "tip": 15e-3 * 15e-3,
        "palm": 71e-3 * 15e-3,
        "walls": 16 * 15e-3 * 8e-3,
    }
    for name, size in sizes.items():
        area = np.linalg.norm(facets(made, name)[1], axis=1)
        np.testing.assert_allclose(area.sum(), size, rtol=1e-12)
    outside = set(made[2]["outside"][1])
    assert outside.issuperset(made[2]["walls"][1])
    assert outside.issuperset(made[2]["palm"][1])
    centre, area = facets(made, "walls")  # neighbours face each other over 1 mm
    right = area[:, 0] > 0
    np.testing.assert_allclose(np.unique(centre[right, 0] * 1e3 % 8), 7.0)
    assert np.isclose(centre[~right, 0] * 1e3 % 8, [[0.0], [8.0]]).any(axis=0).all()


def test_layers_and_sizes(script: dict[str, Any]) -> None:
    for layers, size in ((2, 2.5e-3), (4, 1e-3)):
        x, y, z = (np.diff(line) for line in script["cells_along"](layers, size, True))
        assert np.isclose(y, 2e-3 / layers).sum() >= layers
        assert np.isclose(x, 1.75e-3 / layers).sum() >= 18 * layers
        assert np.isclose(z, 2e-3 / layers).sum() >= 2 * layers
        assert max(x.max(), y.max(), z.max()) <= size + 1e-12
    mesh = script["actuator"](layers=2, size=2.5e-3, half=True)
    shape = mesh.quality()["hexahedron"]
    assert shape.jacobian == pytest.approx(1.0)
    assert shape.aspect < 2.6
    assert shape.size == pytest.approx(VOLUME / 2)


def test_gas_bends_it_towards_the_palm(script: dict[str, Any]) -> None:
    energy = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3, "k": 1e9}
    mesh = script["actuator"](layers=1, size=3.5e-3, half=True)
    body = sa.Body(
        mesh["silicone"], sa.elements.hex8_plain, sa.energies.yeoh(), volumetric="reduced", **energy
    )
    terms = [sa.fix(body["root"]), sa.fix(body["symmetry"], dofs="y")]
    system = sa.System(body, terms=[*terms, sa.pressure(body["inside"], 2e3)])
    sa.StaticProblem(system, prefix="actuator_").solve()
    low, high = system.displacement(body.at([(71e-3, 0, 0), (71e-3, 0, 15e-3)]))
    assert low[2] < -1e-3
    assert low[0] < 0.0 < high[0]
