# SPDX-License-Identifier: BSD-3-Clause
"""Products with the tangent of hexahedra of second order, beside those of deal.II.

A cube of n^3 hexahedra with 27 nodes and 27 points, of a compressible neo-Hookean solid at a
deformed state. `peer_dealii.cc` does the same work.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Array
from ..bodies.body import Body
from ..elements import hex27
from ..energies import neo_hooke
from ..mesh import Mesh
from ..system import System
from .contact import timed

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, Any]

# Debian compiles deal.II for one lane; the peer has those of the processor
_CONFIGURATION = """
#include_next <deal.II/base/config.h>
#undef DEAL_II_VECTORIZATION_WIDTH_IN_BITS
#if defined(__AVX512F__)
#define DEAL_II_VECTORIZATION_WIDTH_IN_BITS 512
#elif defined(__AVX__)
#define DEAL_II_VECTORIZATION_WIDTH_IN_BITS 256
#else
#define DEAL_II_VECTORIZATION_WIDTH_IN_BITS 128
#endif
"""
_FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-DOMPI_SKIP_MPICXX", "-w")
_HEADERS = (
    "/usr/include/trilinos",
    "/usr/include/suitesparse",
    *(
        f"/usr/lib/{name}dir/{name}3.18/{folder}include"
        for name in ("petsc", "slepc")
        for folder in ("", "x86_64-linux-gnu-real/")
    ),
)
_STORED = "nothing", "logarithm", "inverse", "tangent"


def fields(X: Array) -> Array:
    """Return displacement, direction and what products are summed with (3, n, 3) at points."""
    x, y, z = X.T
    displacement = [
        0.1 * np.sin(1.3 * x + 0.4 * y),
        0.08 * x * y + 0.05 * np.sin(z),
        0.06 * np.cos(x + z),
    ]
    direction = [np.sin((7.0 + c) * x + 5.0 * y - 3.0 * z + c) for c in range(3)]
    other = [np.cos((4.0 - c) * x - 6.0 * y + 9.0 * z + 2.0 * c) for c in range(3)]
    return np.array([displacement, direction, other]).transpose(0, 2, 1)


def distort(X: Array) -> Array:
    """Return the points of a unit cube whose cells have another shape each."""
    x, y, z = X.T
    return np.stack([x + 0.2 * y * z, y + 0.1 * x * z, z + 0.3 * x * y * z], axis=1)


def product_row(n: int, distorted: bool) -> Row:
    """Return CPU seconds of a product K v, |K v| and w . K v.

    In double precision with the law evaluated at all points, and in single precision with
    derivatives found there before.
    """
    warp = distort if distorted else None
    mesh = Mesh.box((1.0, 1.0, 1.0), (n, n, n), cell=hex27.cell, warp=warp, comm=MPI.COMM_SELF)
    discrete = System(Body(mesh["body"], hex27, neo_hooke(), mu=0.5, lam=20.0))._discrete
    numbering, assembler = discrete.numbering, discrete.assembler
    start = numbering.offset[:, numbering.block("position")]
    vectors = np.zeros((3, numbering.coordinates))
    vectors[:, start[:, None] + np.arange(3)] = fields(discrete.points)
    u, v, w = vectors
    discrete.update(0.0)
    row: Row = {"peer": "symancf", "n": n, "distorted": distorted, "unknowns": numbering.size}
    by_law, (by_points, _) = assembler.product_at(u), assembler.moments(u, {}, 1.0)
    for name, product, kind in (("double", by_law, np.float64), ("single", by_points, np.float32)):
        direction, f = v.astype(kind), np.zeros(len(v), kind)
        row[f"{name}_seconds"] = timed(lambda p=product, d=direction, f=f: p(d, f))  # type: ignore[misc]
        exact = f.astype(float)
        row[name] = {"norm": float(np.linalg.norm(exact)), "sum": float(exact @ w)}
    return row


def compare(measured: Callable[[list[str]], Row], n: int = 20) -> list[Row]:
    """Return our products and those of deal.II, on a regular and a distorted mesh.

    `lanes` : doubles that deal.II works on at a time; `times` : of deal.II's CPU time, with what
    it finds at the points, to ours; `same_work` : whether |K v| and w . K v agree to 12 digits.

    Parameters
    ----------
    measured : returns what a command prints as JSON.
    n : cells along an edge of the cube.
    """
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        program, missing = _compiled(Path(folder))
        for distorted in (False, True):
            ours = product_row(n, distorted)
            rows.append(ours)
            shape = ["distorted"] if distorted else []
            peer = {"missing": missing} if missing else measured([str(program), str(n), *shape])
            if "missing" not in peer:
                peer = beside(ours, peer)
            rows.append({"peer": "deal.II", "distorted": distorted, **peer})
    return rows


def beside(ours: Row, theirs: Row) -> Row:
    """Return what `peer_dealii.cc` prints, beside our row."""
    times, same = {}, True
    for precision, digits in (("double", 1e-12), ("single", 1e-3)):
        own, seconds = ours[precision], ours[f"{precision}_seconds"]
        for stored in _STORED:
            row = theirs[f"{precision}_{stored}"]
            times[f"{precision}_{stored}"] = row["seconds"] / seconds
            size = abs(own["norm"])
            same &= all(abs(row[k] - own[k]) < digits * size for k in ("norm", "sum"))
    return {**theirs, "times": times, "same_work": same}


def _compiled(folder: Path) -> tuple[Path, str]:
    """Return deal.II's program and "", or why there is none."""
    program, header = folder / "peer_dealii", folder / "deal.II" / "base" / "config.h"
    header.parent.mkdir(parents=True)
    header.write_text(_CONFIGURATION, encoding="ascii")
    source = Path(__file__).with_name("peer_dealii.cc")
    compiler = shlex.split(os.environ.get("CXX", "mpicxx"))
    headers = [f"-I{place}" for place in (folder, *_HEADERS)]
    libraries = ["-Wl,--copy-dt-needed-entries", "-ldeal.ii"]
    command = [*compiler, *_FLAGS, *headers, str(source), "-o", str(program), *libraries]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=1800)
    except (OSError, subprocess.SubprocessError) as error:
        text = getattr(error, "stderr", "") or str(error)
        errors = [line for line in text.splitlines() if "error" in line] or text.splitlines()
        return program, f"{errors[0]} (Debian: apt install libdeal.ii-dev)"
    return program, ""
