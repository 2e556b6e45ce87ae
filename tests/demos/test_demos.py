# SPDX-License-Identifier: BSD-3-Clause
"""Every demo runs, finds its numbers, and leaves its picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from symancf.command.demos import available, duration
from symancf.output import read
from tests.mpi import mpirun

# demo -> (ranks, files that it must leave); the longest first, so that none is begun last
DEMOS = {
    "finger": (2, ("results/finger.png", "results/finger_front.png", "results/finger_right.png")),
    "manipulator": (1, ("results/manipulator.png", "results/manipulator.gif")),
    "corner": (2, ("results/corner.png", "results/corner_shapes.png")),
    "trunk": (2, ("results/trunk.png", "results/trunk_falling.gif")),
    "gripper": (2, ("results/gripper.png", "results/gripper.gif", "results/gripper_c/mechanism.h")),
    "plate_pendulum": (2, ("results/plate_pendulum.png", "results/curved_pendulum.gif")),
    "cavity": (1, ("results/cavity.png", "results/cavity_shapes.png")),
    "pneumatic_gripper": (
        2,
        (
            "results/pneumatic_gripper.png",
            "results/pneumatic_gripper_shapes.png",
            "results/pneumatic_gripper_apart.png",
        ),
    ),
    "inflated_cylinder": (
        2,
        ("results/inflated_cylinder.png", "results/inflated_cylinder_shapes.png"),
    ),
    "continuum_robot": (
        1,
        ("results/continuum_robot.png", "results/continuum_robot_shapes.png"),
    ),
    "fibre_actuator": (1, ("results/fibre_actuator.png", "results/fibre_actuator_shapes.png")),
    "mckibben": (2, ("results/mckibben.png", "results/mckibben_shapes.png")),
    "pendulum": (1, ("results/pendulum.png", "results/pendulum.gif")),
    "head": (1, ("results/head.png", "results/head.gif")),
    "silicone_swing": (2, ("results/silicone_swing.png", "results/silicone_swing_shapes.png")),
    "trunk_head": (2, ("results/trunk_head.png", "results/trunk_head.gif")),
    "silicone_plate": (
        2,
        ("results/silicone_plate.png", "results/silicone_plate.pvtu", "results/thin_plate.pvd"),
    ),
    "sections": (1, ("results/sections.png",)),
    "grip_force": (1, ("results/grip_force.png",)),
    "flexure_angles": (1, ("results/flexure_angles.png",)),
    "manipulator_torques": (1, ("results/manipulator_torques.png",)),
    "arm_identification": (1, ("results/arm_identification.png",)),
    "finger_design": (1, ("results/finger_design.png",)),
    "stiffness_map": (1, ("results/stiffness_map.png",)),
}

# these stop early when they are asked to
SHORT = (
    "manipulator_torques",
    "arm_identification",
    "continuum_robot",
    "fibre_actuator",
    "mckibben",
    "plate_pendulum",
    "head",
    "trunk",
    "trunk_head",
    "silicone_swing",
    "inflated_cylinder",
    "corner",
    "cavity",
    "finger",
    "gripper",
    "pneumatic_gripper",
)


def check_silicone_plate(results: Path) -> None:
    (samples,) = read(results / "silicone_plate.pvtu").values()
    assert {"displacement", "von_mises", "thickness"} <= set(samples.point_data)
    assert -0.0063 < samples.point_data["displacement"][:, 2].min() < -0.0057


# what to look for in a demo's files, where more than their being there is to be seen
CHECKS = {"silicone_plate": check_silicone_plate}


@pytest.mark.parametrize("name", DEMOS)
def test_demo(name: str, tmp_path: Path) -> None:
    ranks, files = DEMOS[name]
    options = ["-short"] if name in SHORT else []
    done = mpirun(ranks, available()[name], *options, timeout=400, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr  # it asserts its own numbers
    for file in files:
        assert (tmp_path / file).stat().st_size > 500
    check = CHECKS.get(name)
    if check is not None:
        check(tmp_path / "results")


def test_no_demo_is_missing(repository: Path) -> None:
    assert sorted(DEMOS) == sorted(available())
    pictures = {path.name: path for path in (repository / "docs" / "images").iterdir()}
    assert sum(path.stat().st_size for path in pictures.values()) < 6e6
    gallery = (repository / "docs" / "demos" / "index.md").read_text(encoding="utf-8")
    for name, path in available().items():
        shown = re.search(rf"^{name} \| \.\./images/(\S+)$", gallery, re.M)
        assert shown is not None, name
        assert shown[1] in pictures
        assert duration(path)
