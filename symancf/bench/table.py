# SPDX-License-Identifier: BSD-3-Clause
"""The measurements as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from ..runtime.console import plain_console
from .elements import seconds_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def show(result: dict[str, Any]) -> None:
    """Print the result of `measure_all`."""
    console = plain_console(least=110)
    if "fma_peak_gflops" in result:
        console.print(f"FMA peak of one core {result['fma_peak_gflops']:.1f} GF/s; CPU time")
    if "kernels" in result:
        console.print(
            "medians; assembled: shuffled, distorted mesh, a parameter per cell, into PETSc AIJ"
        )
        console.print(_kernels(result["kernels"]))
        console.print(_assembly(result["assembly"]))
    for row in result.get("peers", ()):
        console.print(row)
    if result.get("solutions"):
        console.print(_solutions(result["solutions"]))
    if result.get("contact"):
        console.print(_points(result["contact"]))
        console.print(_beside(result["contact"]))
        console.print(_steps(result["contact_steps"]))
    for table in _elements(result.get("elements", ())):
        console.print(table)
    if result.get("robust"):
        console.print(_robust(result["robust"]))
    if result.get("motions"):
        console.print(_motions(result["motions"]))
    if result.get("mechanisms"):
        console.print(_mechanisms(result["mechanisms"]))
    if result.get("tendons"):
        console.print(_tendons(result["tendons"]))
    if result.get("laws"):
        console.print(_laws(result["laws"]))
    if result.get("scaling"):
        for of_rows in (_runs, _iterations, _sent):
            console.print(of_rows(result["scaling"]))
        console.print(_predicted(result["predicted"]))
    if result.get("largest"):
        console.print(_phases(result["largest"]))


def _kernels(rows: list[dict[str, Any]]) -> Table:
    kernels = Table(title="One cell [ns]")
    heads = ("element", "rule", "residual", "tangent", "product", "from memory")
    for head in (*heads, "assembled R", "assembled K", "of peak"):
        kernels.add_column(head, justify="left" if head in ("element", "rule") else "right")
    for row in rows:
        numbers = [
            row[k]
            for k in (
                "residual_ns",
                "tangent_ns",
                "product_ns",
                "residual_memory_ns",
                "assembled_residual_ns",
                "assembled_tangent_ns",
            )
        ]
        kernels.add_row(
            row["element"],
            row["quadrature"],
            *(f"{n:.0f}" for n in numbers),
            f"{100 * row['fraction_of_peak_tangent']:.0f} %",
        )
    return kernels


def _assembly(rows: list[dict[str, Any]]) -> Table:
    assembly = Table(title="Assembly into PETSc AIJ [us per cell]")
    for head in ("element", "rule", "mesh", "cells", "residual", "tangent"):
        assembly.add_column(
            head, justify="left" if head in ("element", "rule", "mesh") else "right"
        )
    for row in rows:
        assembly.add_row(
            row["element"],
            row["quadrature"],
            "shuffled" if row["shuffled"] else "box",
            str(row["elements"]),
            f"{row['residual_us']:.2f}",
            f"{row['tangent_us']:.2f}",
        )
    return assembly


def _solutions(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="A cube pulled in two steps, CG + GAMG")
    for head in ("by", "cells", "CPU s", "assembly", "Newton", "linear", "peak MB", "|u|"):
        table.add_column(head, justify="left" if head == "by" else "right")
    for row in rows:
        name = row["peer"] + (" tuned" if row.get("tuned") else "")
        if "missing" in row:
            table.add_row(name, row["missing"])
            continue
        table.add_row(
            name,
            str(row["elements"]),
            f"{row['total_s']:.2f}",
            f"{row['assembly_s']:.2f}",
            str(sum(row["newton"])),
            str(sum(row["linear"])),
            f"{row['memory_MB']:.0f}",
            f"{row['norm_u']:.8f}",
        )
    return table


def _robust(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Bodies of many kinds: what statics take, memory beyond the system's")
    for head in ("case", "unknowns", "solver", "Newton", "linear", "CPU s", "MB", "same"):
        table.add_column(head, justify="left" if head in ("case", "solver") else "right")
    for row in rows:
        name = row["solver"] + (
            f" ({row['by']})" if row["solver"] == "default" and "by" in row else ""
        )
        if "missing" in row:
            table.add_row(row["case"], "", name, row["missing"])
            continue
        numbers = str(row["newton"]), str(row["linear"]), f"{row['cpu_s']:.2f}"
        same = "yes" if row.get("same_work", True) else "NO"
        table.add_row(
            row["case"], str(row["unknowns"]), name, *numbers, f"{row['memory_MB']:.0f}", same
        )
    return table


def _points(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="A point of contact [ns], apart | pressed")
    modes = "residual", "linearize", "product", "tangent"
    for head in ("target", "facets", "points", *modes):
        table.add_column(head, justify="left" if head == "target" else "right")
    for row in rows:
        pairs = [(row[f"{m}_candidate_ns"], row[f"{m}_active_ns"]) for m in modes]
        numbers = (f"{a:.0f} | {b:.0f}" for a, b in pairs)
        table.add_row(row["target"], str(row["facets"]), str(row["points"]), *numbers)
    return table


def _beside(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Contact with all points pressed | bodies [ms]")
    modes = "residual", "product", "tangent"
    for head in ("target", "facets", "cells", *modes, "look", "search", "review"):
        table.add_column(head, justify="left" if head == "target" else "right")
    for row in rows:
        pairs = [[row[f"{part}_{m}_active_ms"] for part in ("contact", "bodies")] for m in modes]
        numbers = [" | ".join(f"{ms:.2f}" for ms in pair) for pair in pairs]
        rows_beside = [
            f"{row[f'{k}_ms']:.1f}" if f"{k}_ms" in row else ""
            for k in ("look", "search", "review")
        ]
        table.add_row(row["target"], str(row["facets"]), str(row["cells"]), *numbers, *rows_beside)
    return table


def _steps(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="A step of blocks, all points pressed: CPU time")
    heads = "facets", "layers", "unknowns", "Newton", "Krylov", "s", "contact [s]", "part"
    for head in ("target", "mu", *heads):
        table.add_column(head, justify="left" if head == "target" else "right")
    for row in rows:
        part = row["contact_s"] / row["total_s"]
        keys = "mu", "facets", "layers", "unknowns", "newton", "linear"
        numbers = f"{row['total_s']:.2f}", f"{row['contact_s']:.2f}", f"{100 * part:.1f} %"
        table.add_row(row["target"], *(str(row[k]) for k in keys), *numbers)
    return table


def _motions(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Pendulums: CPU time of a step [ms]")
    for head in ("model", "by", "ms", "ratio", "Newton", "tangents", "apart [m]"):
        table.add_column(head, justify="left" if head in ("model", "by") else "right")
    for row in rows:
        if "missing" in row:
            table.add_row(row["model"], row["peer"], row["missing"])
            continue
        ours = "iterations" in row
        table.add_row(
            row["model"],
            row["peer"],
            f"{row['ms_per_step']:.3f}",
            f"{row['ratio']:.2f}" if "ratio" in row else "",
            f"{row['iterations']:.2f}" if ours else "",
            f"{row['tangents']:.2f}" if ours else "",
            f"{row['apart']:.1e}" if "apart" in row else "",
        )
    return table


def _mechanisms(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Mechanisms: CPU time of a step [ms], plain | two positions recorded")
    heads = "unknowns", "symancf", "Exudyn", "ratio", "Newton", "apart [m]"
    for head in ("model", *heads):
        table.add_column(head, justify="left" if head == "model" else "right")

    def pair(row: dict[str, Any], key: str, digits: int) -> str:
        both = (row.get(key), row.get(f"{key}_recorded"))
        return " | ".join("" if x is None else f"{x:.{digits}f}" for x in both)

    for row in rows:
        if "ms_per_step" not in row:
            table.add_row(row["model"], row["missing"])
            continue
        has = "ratio" in row
        newton = [f"{row[k]:.2f}" for k in ("iterations", "peer_iterations") if k in row]
        table.add_row(
            row["model"],
            str(row["unknowns"]),
            pair(row, "ms_per_step", 3),
            pair(row, "peer_ms_per_step", 3) if has else row.get("missing", ""),
            pair(row, "ratio", 2) if has else "",
            " | ".join(newton),
            f"{row['apart']:.1e} of {row['size']:g}" if has else "",
        )
    return table


def _tendons(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Tendons: CPU time of a step [ms], with | without")
    heads = "mu", "unknowns", "ms", "Newton", "ratio", "of an iteration", "operations"
    for head in ("model", *heads):
        table.add_column(head, justify="left" if head == "model" else "right")
    for row in rows:
        pairs = (("unknowns", 0), ("ms_per_step", 2), ("iterations", 2))
        both = [f"{row[k]:.{n}f} | {row[f'{k}_without']:.{n}f}" for k, n in pairs]
        ratios = [row[k] for k in ("ratio", "ratio_iteration", "operations")]
        texts = ["" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
        table.add_row(row["model"], f"{row['mu']:g}", *both, *texts)
    return table


def _laws(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Laws: assembled tangent of a cell [us], beside the simple law's")
    for head in ("law", "tangent", "simple law", "tangent", "ratio", "at most"):
        table.add_column(head, justify="left" if "law" in head else "right")
    for row in rows:
        times = f"{row['tangent_us']:.2f}", row["simple"], f"{row['simple_us']:.2f}"
        table.add_row(row["law"], *times, f"{row['ratio']:.2f}", f"{row['most']:g}")
    return table


def _elements(rows: Sequence[dict[str, Any]]) -> Iterator[Table]:
    """Yield a table for each structure: errors with CPU times, by cells."""
    for structure in dict.fromkeys(row["structure"] for row in rows):
        own = [row for row in rows if row["structure"] == structure]
        sizes = sorted({row["n"] for row in own})
        table = Table(title=f"{structure}: error [%], CPU time [ms]", padding=0)
        table.add_column("element")
        for head in (*(f"n = {n}" for n in sizes), "to 1 %"):
            table.add_column(head, justify="right")
        for element in dict.fromkeys(row["element"] for row in own):
            by_cells = {row["n"]: row for row in own if row["element"] == element}
            texts = [_error(by_cells[n]) if n in by_cells else "" for n in sizes]
            least = seconds_to(0.01, list(by_cells.values()))
            table.add_row(element, *texts, "" if least is None else f"{1e3 * least:.0f}")
        yield table


def _error(row: dict[str, Any]) -> str:
    percent = 100 * row["error"]
    digits = f"{percent:+.0f}" if abs(percent) >= 10 else f"{percent:+.2g}"
    return f"{digits} {1e3 * row['seconds']:4.0f}"


def _runs(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Scaling: a step of a cube or box; CPU time of the rank with most")
    heads = "ranks", "cells", "Newton", "linear", "s", "set-up s", "hierarchy ms", "tangent ns"
    for head in ("", *heads, "residual ns", "MB", "by clock"):
        table.add_column(head, justify="right" if head else "left")
    for row in rows:
        numbers = [str(row[k]) for k in ("ranks", "elements", "newton", "linear")]
        numbers += [f"{row['cpu_s']:.2f}", f"{row['set_up_s']:.2f}"]
        numbers += [f"{1e3 * row['hierarchy_s']:.1f}", f"{row['tangent_ns']:.0f}"]
        numbers += [f"{row['residual_ns']:.0f}", f"{row['memory_above_import_MB']:.0f}"]
        table.add_row(row["kind"], *numbers, f"{row['efficiency_wall']:.2f}")
    return table


def _iterations(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="An iteration of CG: CPU time [ms]")
    parts = "product", "smoother", "coarse", "shared", "vectors", "waits"
    for head in ("", "ranks", *parts, "efficiency", "without waits"):
        table.add_column(head, justify="right" if head else "left")
    for row in rows:
        numbers = [f"{1e3 * row[f'{part}_s']:.3f}" for part in parts]
        numbers += [f"{row[k]:.2f}" for k in ("efficiency", "without_waits")]
        table.add_row(row["kind"], str(row["ranks"]), *numbers)
    return table


def _sent(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="What it sends: the rank with most | the model")
    heads = "ranks", "ghosts", "neighbours", "messages", "kB", "reductions", "kB reduced"
    for head in ("", *heads):
        table.add_column(head, justify="right" if head else "left")
    for row in rows:
        model = row["model"]
        pairs = [(row["levels"][0][k], model[k]) for k in ("ghosts", "neighbours")]
        pairs += [(row[k], model[k]) for k in ("messages",)]
        texts = [f"{a:.0f} | {b:.0f}" for a, b in pairs]
        texts += [f"{row['bytes'] / 1e3:.1f} | {model['bytes'] / 1e3:.1f}"]
        texts += [f"{row['reductions']:.0f} | {model['reductions']:.0f}"]
        texts += [f"{row['reduced_bytes'] / 1e3:.1f} | {model['reduced_bytes'] / 1e3:.1f}"]
        table.add_row(row["kind"], str(row["ranks"]), *texts)
    return table


def _predicted(rows: list[dict[str, Any]]) -> Table:
    first = rows[0]
    title = (
        f"Weak scaling of {first['n']}^3 hexahedra a rank as the model has it: an iteration [ms], "
        f"latency {1e6 * first['latency']:g} us, {first['bandwidth'] / 1e9:g} GB/s"
    )
    table = Table(title=title)
    parts = "work", "shared", "messages", "reductions"
    for head in ("ranks", "hexahedra", *parts, "in all", "efficiency"):
        table.add_column(head, justify="right")
    for row in rows:
        numbers = [f"{1e3 * row[f'{part}_s']:.3f}" for part in (*parts, "iteration")]
        table.add_row(
            str(row["ranks"]), f"{row['elements']:.3g}", *numbers, f"{row['efficiency']:.2f}"
        )
    return table


def _phases(result: dict[str, Any]) -> Table:
    title = f"{result['elements']} hexahedra from HDF5 on {result['ranks']} ranks: rank with most"
    table = Table(title=title)
    for head in ("phase", "CPU s", "s per million", "peak MB", "bytes per element"):
        table.add_column(head, justify="right" if head != "phase" else "left")
    for row in result["phases"]:
        each = row["memory_above_import_MB"] * result["ranks"] * 2**20 / result["elements"]
        million = 1e6 * row["cpu_s"] / result["elements"]
        numbers = row["cpu_s"], million, row["memory_MB"], each
        table.add_row(row["phase"], *(f"{n:.0f}" if n >= 100 else f"{n:.2f}" for n in numbers))
    return table
