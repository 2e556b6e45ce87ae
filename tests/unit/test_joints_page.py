# SPDX-License-Identifier: BSD-3-Clause
"""The code of docs/joints.md runs from top to bottom, and its numbers are those of mechanics."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    root = Path(__file__).parents[2]
    text = (root / "docs" / "joints.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) == 8
    names: dict[str, Any] = {}
    exec("\n".join(blocks), names)
    return names


def test_friction_stops_the_arm(page: dict[str, Any]) -> None:
    m, inertia = 10.0, 10.0 * (1.0 + 0.01) / 12.0 + 10.0 * 0.25
    energy = 0.5 * inertia * 9.0
    energies, system = page["spinning"].energies, page["system"]
    assert page["arm"].mass == pytest.approx(m)
    assert energies.dissipated == pytest.approx(energy, rel=1e-3)
    assert energies.work == 0.0
    # constant torque: it turns by w^2 J/(2 torque), and stops at w J/torque = 2.0 s
    turned = 9.0 * inertia / (2.0 * 5.0)
    tip = system.position(page["arm"].at((0.5, 0.0, 0.0)))[0]
    np.testing.assert_allclose(tip, [np.cos(turned), np.sin(turned), 0.0], atol=2e-3)
    torque = page["spins"]["torque"]
    np.testing.assert_allclose(torque[page["spins"].time < 1.95], -5.0, rtol=1e-10)
    assert abs(torque[-1]) < 1e-3


def test_the_ball_comes_to_rest_on_its_spring(page: dict[str, Any]) -> None:
    weight = 1000.0 * 4.0 / 3.0 * np.pi * 1e-3 * 9.81
    height = page["hanging"].position(page["ball"].centre)[0, 2]
    assert height == pytest.approx(1.0 - weight / 500.0, abs=1e-5)
    energies = page["bouncing"].energies
    # half of what the weight loses is stored in the spring, half is lost in the damper
    assert energies.dissipated == pytest.approx(0.5 * weight**2 / 500.0, rel=1e-3)
    assert abs(energies.drift) < 1e-3 * energies.dissipated


def test_the_nut_falls_as_its_turning_lets_it(page: dict[str, Any]) -> None:
    m, J, pitch = 4.0, 4.0 * 0.08 / 12.0, 0.3 / (2 * np.pi)
    fall = 0.5 * 9.81 / (1.0 + J / (m * pitch**2)) * 0.64
    place = page["turning"].position(page["nut"].centre)[0]
    assert fall > 2.0 * 0.3  # more than two turns
    np.testing.assert_allclose(place, [0.0, 0.0, -fall], atol=2e-3 * fall)


def test_the_servo_follows_its_target_against_gravity(page: dict[str, Any]) -> None:
    path = page["path"]
    late = path.time > 0.5
    error = path["angle"] - 0.8 * np.sin(path.time) ** 2
    assert np.abs(error[late]).max() < 0.03
    assert np.abs(path["torque"]).max() > 4.0  # of the 4.9 N m that hold the link up


def test_the_viscous_block_loses_energy(page: dict[str, Any]) -> None:
    energies = page["sagging"].energies
    assert energies.dissipated > 0.01 * energies.strain
    assert abs(energies.drift) < 0.02 * energies.dissipated
    assert page["slow"].states == ["torque"]
    assert page["return_spring"].energy.free_symbols


def test_the_sheared_cell_is_stiffer_than_its_matrix_and_softer_than_the_mean(
    page: dict[str, Any],
) -> None:
    modulus = page["P"][0, 1] / page["shear"].value
    part = float((page["stiff"](page["cube"].fetch_points(np.arange(81))) > 1.0).mean())
    assert 1.1 < modulus < 1.0 + 19.0 * part
