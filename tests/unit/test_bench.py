# SPDX-License-Identifier: BSD-3-Clause
"""What `symancf bench --json` promises, on small sizes; no timing is judged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symancf.bench import assembly_row, kernel_row, main, solutions
from symancf.bench.cases import FULL, STRETCHES, KernelCase, all_cases
from symancf.bench.contact import row as contact_row
from symancf.bench.elements import CHOICES, STRUCTURES, seconds_to
from symancf.bench.elements import compare as compare_elements
from symancf.bench.largest import run
from symancf.bench.laws import compare as compare_laws
from symancf.bench.mechanism import MODELS as MECHANISMS
from symancf.bench.mechanism import run as run_mechanism
from symancf.bench.mechanisms import compare as compare_mechanisms
from symancf.bench.motion import move
from symancf.bench.motions import compare
from symancf.bench.picture import draw
from symancf.bench.products import beside
from symancf.bench.products import compare as compare_products
from symancf.bench.solution import pulled, size
from symancf.bench.tendons import compare as compare_tendons
from symancf.errors import ParameterError
from symancf.mesh import Mesh
from tests.refusals import refused

NORM_8 = 5.385502038656057

KERNEL = {
    "element",
    "energy",
    "quadrature",
    "residual_ns",
    "tangent_ns",
    "product_ns",
    "residual_memory_ns",
    "fraction_of_peak_tangent",
}


# rows as those of hex8_plain
ALIKE = (
    "hex8",
    "hex20",
    "hex27",
    "ancf_plate",
    "ancf_thick_plate",
    "ancf_thin_quad",
    STRETCHES,
    FULL,
)
CASES = [case for case in all_cases() if case.name not in ALIKE]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name} {case.quadrature}")
def test_rows(case: KernelCase) -> None:
    row = kernel_row(case, peak=100.0, memory_cells=64)
    assert set(row) == KERNEL
    assert all(row[k] > 0 for k in KERNEL - {"element", "energy", "quadrature"})
    small = replace(case, divisions=tuple(3 for _ in case.divisions))
    plain, sums = assembly_row(small, shuffled=False)
    mixed, _ = assembly_row(small, shuffled=True)
    cells = 3 ** len(case.divisions) * {"tetra10": 6, "triangle": 2}.get(case.element.cell, 1)
    assert plain["elements"] == mixed["elements"] == cells
    assert min(plain["residual_us"], mixed["tangent_us"]) > 0
    assert np.isfinite(list(sums.values())).all()


def test_field_of_the_comparison() -> None:
    # |R| and trace K of 20^3 hexahedra, as FFCx and DOLFINx 0.5 give them for the same work
    _, sums = assembly_row(all_cases()[0], shuffled=False, divisions=(20, 20, 20))
    assert sums["residual_norm"] == pytest.approx(9.52813372573, rel=1e-11)
    assert sums["trace"] == pytest.approx(1178557.78429, rel=1e-11)


def test_the_solution_of_the_comparison() -> None:
    # |u| of 8^3 hexahedra: that of DOLFINx 0.5.2, `peer_dolfinx.py solve 8`
    (row,) = solutions([8])
    assert row["peer"] == "symancf"
    assert row["elements"] == 512
    assert row["norm_u"] == pytest.approx(NORM_8, rel=1e-8)
    assert len(row["newton"]) == len(row["linear"]) == 2
    assert row["memory_MB"] > row["memory_above_import_MB"] > 0.0
    assert row["total_s"] >= row["assembly_s"] > 0.0


def test_a_cube_from_a_file_phase_by_phase(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(4, str(tmp_path), write=True)
    assert [row["phase"] for row in result["phases"]] == [
        "writing the mesh",
        "reading it",
        "numbering",
        "pattern",
        "Newton's method",
        "output",
    ]
    peaks = [row["memory_MB"] for row in result["phases"]]
    assert peaks == sorted(peaks)
    assert min(row["cpu_s"] for row in result["phases"]) > 0.0
    again = pulled(Mesh.box((1.0, 1.0, 1.0), (4, 4, 4)), pc_type="lu", ksp_type="preonly")
    again.solve(to=0.5)
    assert result["norm_u"] == pytest.approx(size(again), rel=1e-8)
    assert (result["elements"], result["unknowns"]) == (64, 3 * 3 * 5 * 5)
    assert not list(tmp_path.iterdir())
    assert main(largest=3) == 0
    assert "27 hexahedra from HDF5 on 1 ranks" in capsys.readouterr().out


def test_deal_ii_stands_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    ours, peer, _, other = compare_products(lambda command: {}, 2)
    for row in (peer, other):
        assert row["peer"] == "deal.II"
        assert "no-such-compiler" in row["missing"]
        assert row["missing"].endswith("(Debian: apt install libdeal.ii-dev)")
    stored = "nothing", "logarithm", "inverse", "tangent"
    theirs = {
        f"{precision}_{each}": {"seconds": 3.0 * ours[f"{precision}_seconds"], **ours[precision]}
        for precision in ("double", "single")
        for each in stored
    }
    row = beside(ours, {"name": "deal.II", **theirs})
    assert row["same_work"]
    assert set(row["times"].values()) == {3.0}
    theirs["double_inverse"]["sum"] += 1e-11 * ours["double"]["norm"]
    assert not beside(ours, theirs)["same_work"]


def test_a_peer_that_is_missing_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*arguments: Any, **options: Any) -> Any:
        raise FileNotFoundError("no such program")

    monkeypatch.setattr("symancf.bench.subprocess.run", nothing)
    rows = solutions([4], with_peers=True)
    with_others = ["symancf", "symancf with GAMG", "symancf with BoomerAMG"]
    assert [row["peer"] for row in rows] == [*with_others, "DOLFINx", "DOLFINx"]
    assert all("no such program" in row["missing"] for row in rows)
    assert "python3-dolfinx" in rows[3]["missing"]


def test_the_tip_of_the_compared_pendulum() -> None:
    # Exudyn 1.13.6, `peer_exudyn.py cable 10 1000 1e-3 --newton`: the same strain, curvature,
    # quadrature and integrator
    found = move("cable", 10, 1000, 1e-3)
    assert found["steps"] == 1000
    assert found["tip"] == pytest.approx([-1.1765554152, -0.2991073636, 0.0], abs=1e-8)
    assert found["ms_per_step"] > 0.0
    assert found["iterations"] >= 1.0 >= found["tangents"]


def test_motions_are_measured_without_kernels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []

    def measured(command: list[str]) -> dict[str, Any]:
        commands.append(command)
        motion = {"ms_per_step": 2.0, "iterations": 3.0, "tangents": 0.5}
        return {"steps": 1, **motion, "tip": [0.0, 0.0, 0.0]}

    monkeypatch.setattr("symancf.bench._measured", measured)
    assert main(motions=True, as_json=True) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result) == {"fma_peak_gflops", "motions"}
    assert [row["model"] for row in result["motions"]] == [
        "cable 10",
        "cable 100",
        "cable 1000",
        "plate 8x8",
    ]
    assert all("symancf.bench.motion" in command for command in commands)
    assert main(motions=True) == 0
    text = capsys.readouterr().out
    assert "plate 8x8" in text
    assert "One cell" not in text


def test_a_pendulum_without_its_peer_says_why() -> None:
    def measured(command: list[str]) -> dict[str, Any]:
        if any(word.endswith("peer_exudyn.py") for word in command):
            return {"missing": "no such module"}
        return {"steps": 1, "ms_per_step": 2.0, "tip": [0.0, 0.0, 0.0]}

    rows = compare(measured, with_peers=True)
    assert [row["peer"] for row in rows][:2] == ["symancf", "Exudyn, in space"]
    assert all("pip install exudyn" in row["missing"] for row in rows[1::2])


def test_a_peer_is_compared_with_ours() -> None:
    def measured(command: list[str]) -> dict[str, Any]:
        theirs = any(word.endswith("peer_exudyn.py") for word in command)
        return {"steps": 1, "ms_per_step": 6.0 if theirs else 2.0, "tip": [1.0, 0.5 * theirs, 0.0]}

    rows = compare(measured, with_peers=True)
    peers = [row for row in rows if row["peer"].startswith("Exudyn")]
    assert len(peers) == 10
    assert all(row["ratio"] == 3.0 and row["apart"] == 0.5 for row in peers)


@pytest.mark.parametrize("model", [*MECHANISMS, "designs"])
def test_a_mechanism_makes_its_steps(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symancf.bench.dimensions.NET", 4)
    row = run_mechanism(model, steps=3 if model == "rods" else 20, record=True)
    assert row["ms_per_step"] > 0.0
    assert 1.0 <= row["iterations"] < 10.0
    assert row["unknowns"] > 0
    assert np.isfinite(row["end"]).all()


def test_mechanisms_beside_a_peer_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'No module named exudyn' >&2\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setenv("SYMANCF_EXUDYN_PYTHON", str(python))
    (row,) = compare_mechanisms(["gears"], with_peers=True, steps=20, repeats=1)
    assert row["missing"].startswith("No module named exudyn (pip install exudyn")
    assert row["ms_per_step"] > 0.0
    assert row["ms_per_step_recorded"] > 0.0
    monkeypatch.setattr("symancf.bench.mechanisms.compare", lambda *_: [row])
    assert main(mechanisms=[], as_json=True) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"fma_peak_gflops", "mechanisms"}
    assert main(mechanisms=[]) == 0
    assert "No module named exudyn" in capsys.readouterr().out
    with refused(ParameterError, asked="mechanism", given="wheel"):
        compare_mechanisms(["wheel"])


def test_a_mechanism_is_compared_with_the_faster_way_of_a_peer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer(process: Any, given: dict[str, Any]) -> dict[str, Any]:
        ours = "mechanism" in process.args[-1] and "peer" not in process.args[-1]
        ms = 6.0 if ours else 2.0 if given.get("symbolic") else 3.0
        ms += 2.0 * given["record"]
        return {"name": "n", "ms_per_step": ms, "iterations": 2.0, "end": [0.5 * ours, 0.0]}

    class Process:
        def __init__(self, args: Any, **options: Any) -> None:
            self.args = args

        def __enter__(self) -> Process:
            return self

        def __exit__(self, *error: object) -> None:
            pass

    monkeypatch.setattr("symancf.bench.mechanisms.Popen", Process)
    monkeypatch.setattr("symancf.bench.mechanisms._answer", answer)
    (row,) = compare_mechanisms(["rotor"], with_peers=True)
    assert (row["ratio"], row["ratio_recorded"], row["apart"]) == (3.0, 2.0, 0.5)


def test_tendons(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = compare_tendons(["short rod"], eyelets=8, steps=2)
    assert [row["mu"] for row in rows] == [0.0, 0.2]
    for row in rows:
        assert row["unknowns"] == row["unknowns_without"] + 14
        assert row["ratio"] > 0.0
        assert row["ratio_iteration"] > 0.0
        assert row["operations"] > 1.0
    monkeypatch.setattr("symancf.bench.tendons.compare", lambda *_: rows)
    assert main(tendons=[]) == 0
    assert "with | without" in capsys.readouterr().out
    with refused(ParameterError, asked="model", given="wheel"):
        compare_tendons(["wheel"])


@pytest.mark.parametrize("rigid", [True, False])
def test_contact(rigid: bool) -> None:
    row = contact_row(32, rigid=rigid)
    assert row["points"] == 4 * row["facets"]
    assert row["cells"] == (72 if rigid else 64)
    assert 0.0 < row["share_of_assembly"] < 1.0
    times = [v for k, v in row.items() if k.endswith(("_ns", "_ms"))]
    assert len(times) == (24 if rigid else 27)
    assert min(times) > 0.0


def test_elements_on_a_structure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plain, hex8 = (next(c for c in CHOICES if c.name == name) for name in ("hex8_plain", "hex8"))
    rows = compare_elements(STRUCTURES[:1], (plain, hex8), sizes=1)
    assert [row["element"] for row in rows] == ["hex8_plain", "hex8"]
    assert [row["unknowns"] for row in rows] == [120, 120]
    assert min(row["seconds"] for row in rows) > 0.0
    # 10 x 1 x 1 cubes, beside 0.647 and 0.994 of the deflection of a fine mesh
    assert [row["error"] for row in rows] == pytest.approx([-0.353, -0.0055], abs=5e-4)
    assert seconds_to(0.01, rows[1:]) == rows[1]["seconds"]
    assert seconds_to(0.001, rows[1:]) is None
    draw(rows, tmp_path / "elements.png")
    assert (tmp_path / "elements.png").read_bytes().startswith(b"\x89PNG")


def test_elements_are_measured_without_kernels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times, errors = (0.01, 0.1, 1.0), (-0.005, 0.02, 0.004)  # passes through zero at first
    rows = [
        {"structure": "beam", "element": "hex8", "n": n, "seconds": s, "error": e}
        for n, (s, e) in enumerate(zip(times, errors, strict=True))
    ]
    monkeypatch.setattr("symancf.bench.compare_elements", lambda: rows)
    assert main(elements="", as_json=True) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"fma_peak_gflops", "elements"}
    assert main(elements="") == 0
    line = next(t for t in capsys.readouterr().out.splitlines() if "hex8" in t)
    assert "+2  100" in line
    assert line.split("│")[-2].strip() == "1000"


def test_laws(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = compare_laws(["extended tube, tet10"], divisions=2)
    assert rows[0]["ratio"] == pytest.approx(rows[0]["tangent_us"] / rows[0]["simple_us"])
    assert rows[0]["simple"] == "yeoh"
    assert rows[0]["most"] == 3.0
    monkeypatch.setattr("symancf.bench.laws.compare", lambda *_: rows)
    assert main(laws=[]) == 0
    assert "extended tube" in capsys.readouterr().out
    with refused(ParameterError, asked="laws", given="rubber"):
        compare_laws(["rubber"])
