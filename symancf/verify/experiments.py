# SPDX-License-Identifier: BSD-3-Clause
"""Measured tests of materials beside laws that were fitted to them, or to others of them."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import energies
from ..solve.fit import Fit, MaterialTest, fit
from .case import Curve, Number, case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..arrays import Array

STRESS = ("stretch [-]", "nominal stress [MPa]")
FITTED = ("hold_1.5", "hold_2.0", "hold_2.5", "hold_3.0")
TOLD = "hold_6.0"  # beyond the range that the fit is asked for


def measured(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of measured numbers."""
    text = (Path(__file__).parent / "measured" / name).read_text(encoding="utf-8")
    return [*csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))]


def columns(rows: list[dict[str, str]], *names: str) -> Array:
    """Return columns of numbers."""
    return np.array([[float(row[name]) for row in rows] for name in names])


def difference(test: MaterialTest, stress: Array) -> float:
    """Return the root mean square of a difference over the largest stress measured."""
    return float(np.sqrt(np.mean((stress - test.stress) ** 2)) / abs(test.stress).max())


def treloar(digitisation: str, kinds: tuple[str, ...]) -> list[MaterialTest]:
    """Return the tests of Treloar's rubber."""
    make: dict[str, Callable[..., MaterialTest]] = {
        "uniaxial": MaterialTest.uniaxial,
        "planar": MaterialTest.planar,
        "equibiaxial": MaterialTest.equibiaxial,
    }
    rows = measured("treloar_1944.csv")
    tests = []
    for kind in kinds:
        chosen = [r for r in rows if r["digitisation"] == digitisation and r["test"] == kind]
        tests.append(make[kind](*columns(chosen, "stretch", "stress")))
    return tests


@case("X01_treloar", "L. R. G. Treloar 1944, two digitisations; difference wanted 0")
def rubber() -> Iterator[Number | Curve]:
    """Treloar's rubber: one set of Ogden's constants for three tests."""
    tests = treloar("a", ("uniaxial", "planar", "equibiaxial"))
    found = fit(energies.ogden(), tests, positive_terms=True)
    for name, rms in found.rms.items():
        yield Number(f"{name}: rms over the range of stress", rms, 0.0, 0.03)
    for test in treloar("b", ("uniaxial", "equibiaxial")):
        error = difference(test, found.predict(test))
        yield Number(f"{test.name}, other digitisation: rms over the largest", error, 0.0, 0.03)
    for i in (1, 2, 3):
        product = found.values[f"mu{i}"] * found.values[f"alpha{i}"]
        yield Number(f"mu{i} alpha{i} > 0", float(product > 0.0), 1.0, 0.0)
    for test, stress in zip(tests, found.stresses, strict=True):
        data = (test.along, test.stress[:, 0])
        yield Curve(STRESS, test.name, test.along, stress[:, 0], data, "Treloar 1944")


@case("X02_kawabata", "S. Kawabata et al. 1981, 117 states; difference wanted 0")
def biaxial() -> Iterator[Number | Curve]:
    """Isoprene rubber under general biaxial stretch: the extended tube model."""
    rows = columns(measured("kawabata_1981.csv"), "stretch1", "stretch2", "stress1", "stress2")
    test = MaterialTest.biaxial((rows[0], rows[1]), (rows[2], rows[3]))
    found = fit(energies.extended_tube(), test)
    (rms,) = found.rms.values()
    yield Number("rms of both stresses over their range", rms, 0.0, 0.02)
    first = sorted({*rows[0]})
    for x in first:
        at = rows[0] == x
        error = np.sqrt(np.mean((found.stresses[0][at] - test.stress[at]) ** 2))
        relative = float(error / np.ptp(test.stress))
        yield Number(f"stretch1 = {x:g}: rms over the range of all", relative, 0.0, 0.03)
        line, data = (rows[1][at], found.stresses[0][at, 1]), (rows[1][at], rows[3][at])
        yield Curve(("stretch2 [-]", "nominal stress2 [MPa]"), f"stretch1 {x:g}", *line, data)


@case("X08_kawabata_predicted", "S. Kawabata et al. 1981, 81 states; difference wanted 0")
def biaxial_predicted() -> Iterator[Number | Curve]:
    """The extended tube model fitted to strips, free and of kept width, beside all other states."""
    rows = columns(measured("kawabata_1981.csv"), "stretch1", "stretch2", "stress1", "stress2")
    free, wide = rows[3] == 0.0, rows[1] == 1.0
    strips = [
        MaterialTest.uniaxial(rows[0][free], rows[2][free]),
        MaterialTest.planar(rows[0][wide], rows[2][wide]),
    ]
    found = fit(energies.extended_tube(), strips)
    for name, rms in found.rms.items():
        yield Number(f"{name}, fitted: rms over the range of stress", rms, 0.0, 0.02)
    others = rows[:, ~(free | wide)]
    test = MaterialTest.biaxial((others[0], others[1]), (others[2], others[3]))
    missed = (found.predict(test) - test.stress) / np.ptp(test.stress)
    for k in range(2):
        rms = float(np.sqrt(np.mean(missed[:, k] ** 2)))
        yield Number(f"stress{k + 1}, predicted: rms over the range of stress", rms, 0.0, 0.03)


@cache
def acrylic() -> tuple[Fit, dict[str, MaterialTest]]:
    """Return a Prony series on Ogden's law, fitted to four holds, and all tests (MPa)."""
    groups: dict[str, list[dict[str, str]]] = {}
    for row in measured("vhb4910.csv"):
        groups.setdefault(row["test"], []).append(row)
    tests = {}
    for name, rows in groups.items():
        time, stretch, stress = columns(rows, "time", "stretch", "stress")
        tests[name] = MaterialTest.uniaxial(stretch, stress / 1e3, time=time, name=name)
    begin = {"g": (0.5, 0.2, 0.1), "tau": (0.5, 7.0, 80.0)}
    law = energies.prony(energies.ogden(terms=1), **begin)
    start = {f"g{i + 1}": g for i, g in enumerate(begin["g"])}
    start |= {f"tau{i + 1}": tau for i, tau in enumerate(begin["tau"])}
    found = fit(law, [tests[n] for n in FITTED], start={**start, "alpha1": 1.6, "mu1": 0.16})
    return found, tests


@case("X03_vhb4910_holds", "VHB4910_data 2025, thinned; difference wanted 0", short=0)
def holds() -> Iterator[Number | Curve]:
    """VHB 4910: holds beyond those to which a law was fitted."""
    found, tests = acrylic()
    for name in (n for n in tests if n.startswith("hold")):
        test, stress = tests[name], found.predict(tests[name])
        kind = "fitted" if name in FITTED else "predicted"
        tolerance = 0.15 if name == TOLD else 0.1
        error = difference(test, stress)
        yield Number(f"{name}, {kind}: rms over the largest stress", error, 0.0, tolerance)
        assert test.time is not None
        axes = ("time [s]", "nominal stress [MPa]")
        data = (test.time, test.stress[:, 0])
        yield Curve(axes, name, test.time, stress[:, 0], data, "VHB4910_data")


@case("X04_vhb4910_cycles", "VHB4910_data 2025, thinned; difference wanted 0", short=0)
def cycles() -> Iterator[Number | Curve]:
    """VHB 4910: loading and unloading predicted by the law that was fitted to holds."""
    found, tests = acrylic()
    for name in (n for n in tests if not n.startswith("hold")):
        test, stress = tests[name], found.predict(tests[name])
        rate, top = name.split("_")
        what = f"{rate} 1/s to {top}: rms over the largest stress"
        yield Number(what, difference(test, stress), 0.0, 0.1)
        if rate != "0.05":  # the others look alike
            continue
        data = (test.along, test.stress[:, 0])
        yield Curve(STRESS, f"{rate} 1/s to {top}", test.along, stress[:, 0], data, "VHB4910_data")
