# SPDX-License-Identifier: BSD-3-Clause
"""`symancf inspect`: finding energies and elements, formulas, counts and C text."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy as sp

from symancf.bodies import inspection
from symancf.errors import KinematicsError
from tests.refusals import refused

OWN = """
def hencky_like(J, *, k):
    return k / 2 * (J - 1) ** 2


def family(power=2):
    def penalty(J, *, k):
        return k * (J - 1) ** power

    return penalty


def stretched(F, *, k):
    return k / 2 * (F[0, 0] - 1) ** 2


class NotAnEnergy:
    pass
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own_energies.py"
    path.write_text(OWN)
    return path


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMANCF_CACHE", str(tmp_path / "cache"))


def test_text_is_read_by_sympy(capsys: pytest.CaptureFixture[str]) -> None:
    assert inspection.main("yeoh", "hex8_plain", form="text", function="tangent") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "# P = dW_dF = dW_dJ J inv(F)^T + dW_dI1 2 F" in lines
    read = [line.split(" = ") for line in lines if not line.startswith("#")]
    told = {name: sp.sympify(right) for name, right in read}
    W = told["W"].subs({name: value for name, value in told.items() if name.startswith("W_")})
    at = {"J": 1.1, "I1": 3.4, "C10": 2.0, "C20": 0.3, "C30": 0.1, "k": 5.0}
    for name in ("J", "I1"):
        difference = W.diff(name) - told[f"dW_d{name}"]
        assert abs(float(difference.subs(at))) < 1e-14
        second = told["dW_dJ"].diff(name) - told[f"d2W_dJ_d{name}"]
        assert abs(float(second.subs(at))) < 1e-13
    assert float(told["W_volumetric"].subs(at)) == pytest.approx(2.5 * 0.1**2)
    assert inspection.main("yeoh", "hex8_plain", form="text", function="shape") == 0
    shapes = [line.split(" = ")[1] for line in capsys.readouterr().out.splitlines()[1:]]
    zeta = {"zeta": sp.Symbol("zeta")}  # a function elsewhere
    assert sp.expand(sum(sp.sympify(shape, zeta) for shape in shapes)) == 1


def test_latex_shows_parts_and_derivatives(capsys: pytest.CaptureFixture[str]) -> None:
    assert inspection.main("yeoh", "hex8_plain", form="latex") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("% yeoh on hex8_plain")
    assert lines[1] == r"\begin{align*}"
    assert r"W_\mathrm{volumetric} &= \frac{k \left(J - 1\right)^{2}}{2} \\" in lines
    assert any(line.startswith(r"\frac{\partial W}{\partial I_{1}} &=") for line in lines)


def test_operations_of_an_own_energy(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspection.main(f"{own}:hencky_like", "hex8_plain", form="ops") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("hencky_like_hex8_plain: 24 coordinates, hexahedron")
    words = [line.split() for line in lines if line.startswith("  ")]
    rows = {word[0]: int(word[-1]) for word in words if word[-1].isdigit()}
    assert 0 < rows["energy"] < rows["residual"] < rows["tangent"]


def test_c_is_the_kernels_text(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspection.main(f"{own}:hencky_like", "hex8_plain", form="c") == 0
    text = capsys.readouterr().out
    assert "hencky_like_hex8_plain_tangent(" in text
    assert "uniform[0] = k" in text


def test_a_matrix_quantity_has_entries(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspection.main(f"{own}:stretched", "hex8_plain", form="latex") == 0
    assert r"\frac{\partial W}{\partial F_{11}} &=" in capsys.readouterr().out


def test_a_function_that_makes_energies_is_called(own: Path) -> None:
    assert inspection.find_energy(f"{own}:family").__name__ == "penalty"


def test_an_unknown_energy_names_those_that_there_are(own: Path) -> None:
    with refused(
        KinematicsError, asked="henky_like", possible=("hencky_like", "family", "stretched")
    ) as failure:
        inspection.find_energy(f"{own}:henky_like")
    assert "Did you mean 'hencky_like'?" in str(failure.value)
    assert "NotAnEnergy" not in str(failure.value)
    with refused(KinematicsError, asked="yeho", possible=lambda names: "yeoh" in names):
        inspection.find_energy("yeho")


def test_an_unknown_file_or_element() -> None:
    with refused(KinematicsError, asked="nowhere.py", possible=()):
        inspection.find_energy("nowhere.py:energy")
    with refused(KinematicsError, asked="hex", possible=lambda names: "hex8" in names):
        inspection.find_element("hex")
