# SPDX-License-Identifier: BSD-3-Clause
"""What `import symancf` and a model with kernels in the cache bring in: counted, not timed."""

from __future__ import annotations

import subprocess
import sys

MODEL = """
import sys
import petsc4py, sympy, scipy.sparse, h5py
from petsc4py import PETSc
others = set(sys.modules)
import symancf as sa
lazy = {name for name in sys.modules if name.startswith("symancf")}
assert lazy <= {"symancf", "symancf.runtime", "symancf.runtime.launch"}, lazy
sa.DynamicProblem, sa.elements, sa.energies, sa.RigidBody, sa.joints, sa.gravity
body = sa.Body(sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1))["body"], sa.elements.hex8_plain,
               sa.energies.yeoh(), C10=1.0, C20=0.0, C30=0.0, k=10.0)
system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (0.01, 0.0, 0.0))])
sa.StaticProblem(system).solve()
print(" ".join(sorted(set(sys.modules) - others)))
"""
#: Stages of the compiler, for kernels that are not in the cache; what only files, tables and
#: extensions need.
UNUSED = (
    "symancf_codegen.derive",
    "symancf_codegen.lower.point",
    "symancf_codegen.stable",
    "symancf_codegen.structure",
    "symancf_codegen.text.print",
    "symancf.bench",
    "symancf.contact.search",
    "symancf.extensions",
    "symancf.solve.check",
    "symancf.solve.modes",
    "symancf.verify",
    "csv",
    "email",
    "importlib.metadata",
    "meshio",
    "rich",
    "ssl",
    "tomllib",
    "urllib.request",
    "xml.sax",
)


def test_a_model_brings_in_what_it_uses() -> None:
    command = [sys.executable, "-c", MODEL]
    for _ in range(2):  # the first may compile
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    found = done.stdout.split()
    assert [name for name in UNUSED if name in found] == []
    assert len([name for name in found if name.startswith("symancf")]) <= 364
