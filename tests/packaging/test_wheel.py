# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: built from the source distribution, complete, and usable outside the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import symancf

pytestmark = pytest.mark.packaging

USE = """
import sys, pathlib
import sympy as sp
import symancf, symancf_codegen
from symancf.runtime import jit

home = pathlib.Path(sys.argv[1])
for package in (symancf, symancf_codegen):
    assert home in pathlib.Path(package.__file__).parents, package.__file__
    assert (pathlib.Path(package.__file__).parent / "py.typed").is_file()

u, k = sp.symbols("u k", real=True)
law = jit.declare.PointLaw(
    name="spring", unknowns=(u,), jets=(), energy=k * u**2 / 2, measure=sp.Integer(1),
    parameters=(jit.declare.KernelParameter(k),),
)
kernel = jit.points(law)
f, bad = kernel.residual([[3.0]], parameters={"k": 2.0})
assert (float(f[0, 0]), bad) == (6.0, 0), (f, bad)

assert symancf.view.__name__ == "symancf.extensions.view"
assert symancf.Mesh.disc(1.0, 2, symmetric="xy")["body"].size == 3

jit.load_runtime(pathlib.Path(symancf.__file__).parent / "assembly" / "runtime.c")
print("works")
"""


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """Run a command that has to succeed, without the checkout on any path."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | variables
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution and not from the checkout."""
    out = tmp_path_factory.mktemp("dist")
    run(
        sys.executable, "-m", "build", "--no-isolation", "--outdir", out, repository, cwd=out
    )  # fmt: skip
    (path,) = out.glob("*.whl")
    return path


def test_contents(wheel: Path, repository: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    top = {name.partition("/")[0] for name in names}
    packages = {name for name in top if not name.endswith(".dist-info")}
    assert packages == {"symancf", "symancf_codegen"}
    for source, package in (
        (repository / "symancf", "symancf"),
        (repository / "codegen" / "symancf_codegen", "symancf_codegen"),
    ):
        for path in source.rglob("*"):
            if path.suffix in (".py", ".c", ".h") or path.name == "py.typed":
                assert f"{package}/{path.relative_to(source).as_posix()}" in names
    for needed in ("symancf/assembly/runtime.c", "symancf/py.typed", "symancf_codegen/py.typed"):
        assert needed in names
    assert any(name.startswith("symancf_codegen/") and name.endswith(".h") for name in names)
    for folder in ("docs/demos", "docs/tutorials", "meshes"):
        there = {path.name for path in (repository / folder).glob("[!_]*.*")}
        assert there <= {Path(n).name for n in names if n.startswith(f"symancf/share/{folder}/")}
    assert f"symancf-{symancf.__version__}-" in wheel.name
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "none-any" in wheel.name  # pure Python: kernels and run-time are compiled on use


def test_use_outside_the_checkout(wheel: Path, tmp_path: Path, repository: Path) -> None:
    """A new environment holds the wheel; its dependencies are those of the tests' one.

    The README's example runs on the meshes that `symancf demo --copy` writes.
    """
    venv = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", venv, cwd=tmp_path)
    python = venv / "bin" / "python"
    home = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))",
                    cwd=tmp_path).strip())  # fmt: skip
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps",
        "--no-index", wheel, cwd=tmp_path)  # fmt: skip
    # Folders named in a .pth file are searched, but .pth files in them are not read: the
    # editable installation of the checkout stays invisible.
    # They are searched in the order of the tests' own, the environment before the system.
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    folders += [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (home / "dependencies.pth").write_text("\n".join(dict.fromkeys(folders)))
    cache = {"SYMANCF_CACHE": str(tmp_path / "cache")}
    assert run(python, "-c", USE, home, cwd=tmp_path, **cache) == "works\n"
    script = venv / "bin" / "symancf"
    assert run(script, "--version", cwd=tmp_path) == f"symancf {symancf.__version__}\n"
    assert "hex8_plain" in run(script, "inspect", "yeoh", "hex8_plain", cwd=tmp_path, **cache)

    assert "silicone_plate " in run(script, "demo", cwd=tmp_path)
    run(script, "demo", "--copy", "here", cwd=tmp_path)
    text = (repository / "README.md").read_text(encoding="utf-8")
    example = text.partition("```python\n")[2].partition("```")[0]
    assert len([line for line in example.splitlines() if line.strip()]) <= 15
    sag = float(run(python, "-c", example, cwd=tmp_path / "here").split()[-1].rstrip("]"))
    assert abs(sag / -5.779e-3 - 1) < 0.01  # 3D reference of the same mesh: see the demo
