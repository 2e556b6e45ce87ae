# SPDX-License-Identifier: BSD-3-Clause
"""The template of an extension, as docs/extensions.md has it, installed and used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

USE = """
import sys
import symancf as sa

assert "bushing" in dir(sa) and "symancf_bushing" not in sys.modules
post = sa.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0), name="post")
spring = sa.bushing(post.at((0.0, 0.0, 0.1)), sa.ground.at((0.0, 0.0, 0.3)), k=50.0)
system = sa.System(post, terms=[spring])
assert abs(spring.values(system)[0] - 1.0) < 1e-12
try:
    sa.bushing(post.at((0.0, 0.0, 0.0)), sa.ground, k=-1.0)
except sa.ParameterError as error:
    assert (error.asked, error.given) == ("k", -1.0)
    print("works")
"""


def test_the_template(repository: Path, tmp_path: Path) -> None:
    page = (repository / "docs" / "extensions.md").read_text(encoding="utf-8")
    (tmp_path / "template").mkdir()
    for kind, name in (("toml", "pyproject.toml"), ("python", "symancf_bushing.py")):
        (code,) = re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        assert len(code.splitlines()) < 24
        (tmp_path / "template" / name).write_text(code)
    alone = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet"]
    pip = [sys.executable, "-m", "pip", "install", *alone, "--target", "there", "./template"]
    subprocess.run(pip, cwd=tmp_path, check=True, timeout=120)
    path = os.pathsep.join([str(tmp_path / "there"), *sys.path])
    run = subprocess.run(
        [sys.executable, "-c", USE],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.stdout == "works\n", run.stderr
