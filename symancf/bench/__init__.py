# SPDX-License-Identifier: BSD-3-Clause
"""Speed of kernels and assembly: CPU time of one core, beside the core's own peak."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Array
from ..errors import ParameterError
from ..laws import energy_laws
from ..runtime import jit
from .cases import SECOND_ORDER, KernelCase, all_cases
from .elements import compare as compare_elements
from .motions import compare
from .picture import draw
from .products import compare as compare_products

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

_SOLUTION = "symancf.bench.solution"
IN_CACHE, IN_MEMORY = 64, 60_000  # cells


def _kernel(case: KernelCase) -> jit.Kernel:
    laws = energy_laws(case.element, case.energy, values=case.parameters, **_rules(case))
    return jit.cells(f"{laws[0][0].name}_{case.element.name}", case.element.space, laws)


def kernel_row(case: KernelCase, peak: float, memory_cells: int = IN_MEMORY) -> Row:
    """Return the times of one cell [ns]: in cache, and the residual with data from memory."""
    kernel = _kernel(case)
    random = np.random.default_rng(0)

    def cells(count: int) -> tuple[Array, Array]:
        shape = (count, kernel.n, 3)
        reference = case.reference() + random.uniform(-0.05, 0.05, shape)
        return random.uniform(-0.03, 0.03, shape), reference

    u, reference = cells(IN_CACHE)
    timed = {
        mode: jit.measure.nanoseconds(kernel, mode, u, reference, case.parameters)
        for mode in ("residual", "tangent", "product")
    }
    u, reference = cells(memory_cells)
    memory = jit.measure.nanoseconds(kernel, "residual", u, reference, case.parameters, samples=3)
    return {
        "element": case.name,
        "energy": case.energy.__name__,
        "quadrature": case.quadrature,
        **{f"{mode}_ns": ns for mode, ns in timed.items()},
        "residual_memory_ns": memory,
        "fraction_of_peak_tangent": kernel.flops["tangent"] / timed["tangent"] / peak,
    }


def _rules(case: KernelCase) -> dict[str, Any]:
    return {k: v for k, v in case.options.items() if k in ("volumetric", "quadrature")}


def field(X: Array) -> Array:
    """Return the displacement (n, 3) on which all packages are compared."""
    x, y, z = X.T
    parts = [
        0.1 * np.sin(1.3 * x + 0.4 * y),
        0.08 * x * y + 0.05 * np.sin(z),
        0.06 * np.cos(x + z),
    ]
    return np.stack(parts, axis=1)


def assembly_row(
    case: KernelCase, *, shuffled: bool, divisions: tuple[int, ...] | None = None
) -> tuple[Row, dict[str, float]]:
    """Return the times of one cell [us] into PETSc AIJ, all included, and two check sums."""
    from .contact import timed

    system = case.system(shuffled=shuffled, divisions=divisions)
    cells = system._discrete.forms[0].size
    displacement = field(system._discrete.points)
    if case.name == "hex8_plain":  # the field on which all packages are compared
        start = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")]
        system.state[start[:, None] + np.arange(3)] = displacement
    system._discrete.assembler.update(0.0)
    f, matrix = np.zeros_like(system.state), system._discrete.matrix
    tangent = timed(lambda: system._discrete.assembler.tangent(system.state, f, matrix))
    norm = float(np.linalg.norm(f))
    residual = timed(lambda: system._discrete.assembler.residual(system.state, f))
    row = {
        "element": case.name,
        "energy": case.energy.__name__,
        "quadrature": case.quadrature,
        "shuffled": shuffled,
        "elements": cells,
        "residual_us": 1e6 * residual / cells,
        "tangent_us": 1e6 * tangent / cells,
    }
    trace = float(matrix.mat.getDiagonal().sum())
    return row, {"residual_norm": norm, "trace": trace}


def peers(n: int, sums: dict[str, float]) -> list[Row]:
    """Return the same assembly by DOLFINx, where the system's Python has it."""
    row = _peer("assembly", str(n))
    if "missing" in row:
        return [row]
    same = all(abs(row[k] / sums[k] - 1.0) < 1e-9 for k in sums if k in row)
    return [{**row, "same_work": same}]


def kernels_of_peers(rows: Sequence[Row]) -> list[Row]:
    """Return the kernels of FFCx of the same elements, rules and energy, beside our times.

    `times` : of its CPU time to ours, residual and tangent; `same_work` : whether |f| and trace K
    of the unit cell agree to 9 digits, of elements with nodal values in both.
    """
    table = []
    for case in all_cases():
        if case.name not in (element.name for element in SECOND_ORDER):
            continue
        ours = next(row for row in rows if row["element"] == case.name)
        script, rule = Path(__file__).with_name("peer_ffcx.py"), case.element.rule("full")
        low, high = case.element.topology.domain
        points = (np.asarray(rule.points) - low) / (high - low)
        weights = np.asarray(rule.weights) / (high - low) ** 3
        rule_text = json.dumps({"points": points.tolist(), "weights": weights.tolist()})
        row = _measured(["/usr/bin/python3", str(script), case.name], rule_text)
        modes = ("residual_ns", "tangent_ns")
        if "missing" not in row:
            row |= {f"times_{mode[:-3]}": row[mode] / ours[mode] for mode in modes}
        if "trace" in row:
            unit = case.element.topology.unit
            f, K, _ = _kernel(case).tangent(field(unit)[None], unit[None], case.parameters)
            sums = {"residual_norm": np.linalg.norm(f), "trace": np.trace(K[0])}
            row["same_work"] = all(abs(row[k] / v - 1.0) < 1e-9 for k, v in sums.items())
        table.append({"peer": "FFCx", "element": case.name, **row})
    return table


def _peer(*arguments: str) -> Row:
    """Return what DOLFINx measures in a process of its own, or why it cannot."""
    script = Path(__file__).with_name("peer_dolfinx.py")
    row = _measured(["/usr/bin/python3", str(script), *arguments])
    if "missing" in row:
        row["missing"] += " (Debian: apt install python3-dolfinx)"
    return {"peer": "DOLFINx", **row}


def _measured(command: list[str], stdin: str = "") -> Row:
    """Return the JSON of the last line that a process prints, or {"missing": reason}."""
    try:
        process = subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=1800, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        text = getattr(error, "stderr", "") or str(error)
        reason = text.strip().splitlines()[-1] if text.strip() else "no output"
        return {"missing": reason}
    row: Row = json.loads(process.stdout.strip().splitlines()[-1])
    return row


def solutions(sizes: Sequence[int], with_peers: bool = False) -> list[Row]:
    """Return CPU times and peak memory of the solution of a cube, each in its own process.

    `peer` is what solved: symancf, symancf with other preconditioners, DOLFINx with its usual
    options, and with tuned ones (a looser tolerance, a preconditioner kept within a step).
    `same_work` is whether |u| agrees to 8 digits.
    """
    rows: list[Row] = []
    for n in sizes:
        command = [sys.executable, "-m", _SOLUTION, str(n)]
        ours = {"peer": "symancf", **_measured(command)}
        rows.append(ours)
        if not with_peers:
            continue
        others = [
            {"peer": f"symancf with {name}", **_measured([*command, name])}
            for name in ("GAMG", "BoomerAMG")
        ]
        for options in ((), ("--tuned",)):
            others.append({**_peer("solve", str(n), *options), "tuned": bool(options)})
        for row in others:
            if "norm_u" in row and "norm_u" in ours:
                row["same_work"] = abs(row["norm_u"] / ours["norm_u"] - 1.0) < 1e-8
        rows += others
    return rows


def robust(cases: Sequence[str]) -> list[Row]:
    """Return what bodies of many kinds take with each solver, each in its own process.

    `cases`: some of `symancf.bench.robust.CASES`, else all. `same_work` is whether |u| agrees with
    the default's to 6 digits.
    """
    from .robust import CASES, SOLVERS

    unknown = [case for case in cases if case not in CASES]
    if unknown:
        raise ParameterError(f"no case {unknown[0]!r} of solvers: there are {', '.join(CASES)}")
    rows: list[Row] = []
    for case in cases or CASES:
        command = [sys.executable, "-m", "symancf.bench.robust", case]
        table = [{"solver": s, "case": case, **_measured([*command, s])} for s in SOLVERS]
        for row in table:
            if "norm_u" in row and "norm_u" in table[0]:
                row["same_work"] = abs(row["norm_u"] / table[0]["norm_u"] - 1.0) < 1e-6
        rows += table
    return rows


def measure_all(
    with_peers: bool = False,
    solve: Sequence[int] = (),
    moving: bool = False,
    touching: Sequence[int] = (),
    solids: bool = False,
    kinds: Sequence[str] | None = None,
    mechanisms: Sequence[str] | None = None,
    tendons: Sequence[str] | None = None,
    laws: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the peak, kernels and assembly, or motions, contact, ... instead.

    Solutions and peers, too.
    """
    result: dict[str, Any] = {"fma_peak_gflops": jit.measure.fma_peak()}
    if moving:
        result["motions"] = compare(_measured, with_peers)
    elif mechanisms is not None:
        from .mechanisms import compare as compare_mechanisms

        result["mechanisms"] = compare_mechanisms(mechanisms, with_peers)
    elif tendons is not None:
        from .tendons import compare as compare_tendons

        result["tendons"] = compare_tendons(tendons)
    elif laws is not None:
        from .laws import compare as compare_laws

        result["laws"] = compare_laws(laws)
    elif touching:
        from .contact import contacts
        from .contact_step import steps

        result["contact"], result["contact_steps"] = contacts(touching), steps(touching)
    elif solids:
        result["elements"] = compare_elements()
    elif kinds is not None:
        result["robust"] = robust(kinds)
    else:
        result |= _cells(result["fma_peak_gflops"], with_peers)
    if solve:
        result["solutions"] = solutions(solve, with_peers)
    return result


def _cells(peak: float, with_peers: bool) -> dict[str, Any]:
    """Return kernels and assembly of all cases."""
    result: dict[str, Any] = {"kernels": [], "assembly": []}
    sums: dict[str, float] = {}
    for case in all_cases():
        row = kernel_row(case, peak)
        plain, checked = assembly_row(case, shuffled=False)
        mixed, _ = assembly_row(case, shuffled=True)
        row["assembled_residual_ns"] = 1e3 * mixed["residual_us"]
        row["assembled_tangent_ns"] = 1e3 * mixed["tangent_us"]
        sums = sums or checked
        result["kernels"].append(row)
        result["assembly"] += [plain, mixed]
    if with_peers:
        result["check"] = sums
        result["peers"] = peers(all_cases()[0].divisions[0], sums)
        result["peers"] += kernels_of_peers(result["kernels"])
        result["peers"] += compare_products(_measured)
    return result


def over_ranks(scaling: int | None, largest: int | None) -> dict[str, Any]:
    """Return the scaling of n^3 hexahedra, or the run of a mesh of n^3 (collective)."""
    result: dict[str, Any] = {}
    if scaling:
        from .prediction import predict
        from .scaling import scaling as measure

        rows = result["scaling"] = measure(scaling)
        result["predicted"] = predict(rows[0], scaling, [8**k for k in range(5)])
    if largest:
        from .largest import run

        result["largest"] = run(largest)
    return result


def main(
    *,
    as_json: bool = False,
    peers: bool = False,
    solve: Sequence[int] = (),
    motions: bool = False,
    contact: Sequence[int] = (),
    elements: str | None = None,
    scaling: int | None = None,
    largest: int | None = None,
    robust: Sequence[str] | None = None,
    mechanisms: Sequence[str] | None = None,
    tendons: Sequence[str] | None = None,
    laws: Sequence[str] | None = None,
) -> int:
    """Measure and print a table, or JSON; `elements`: the PNG of their comparison, or ""."""
    if scaling or largest:
        result = over_ranks(scaling, largest)
    else:
        solids = elements is not None
        given = peers, solve, motions, contact, solids, robust, mechanisms, tendons, laws
        result = measure_all(*given)
    if MPI.COMM_WORLD.rank:
        return 0
    if as_json:
        json.dump(result, sys.stdout, indent=1)
        print()
    else:
        from .table import show

        show(result)
    if elements:
        draw(result["elements"], elements)
    return 0
