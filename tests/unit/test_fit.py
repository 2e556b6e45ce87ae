# SPDX-License-Identifier: BSD-3-Clause
"""Constants of laws from tests of materials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.solve.fit.response import Response
from symancf.verify.hysteresis import CREEP, CreepPath, deviator
from tests.refusals import refused

YEOH = {"C10": 0.3, "C20": -0.02, "C30": 0.005}
STRETCH = np.linspace(1.0, 2.0, 9)


def three_tests(
    law: Any, values: dict[str, float], incompressible: bool = True, **more: Any
) -> Any:
    """Return three tests whose stresses are those of a law."""
    response = Response(law, incompressible=incompressible)
    make = sa.MaterialTest
    empty = np.zeros_like(STRETCH)
    tests = [
        make.uniaxial(STRETCH, empty, **more),
        make.planar(STRETCH, empty, **more),
        make.equibiaxial(STRETCH, empty, **more),
    ]
    stresses = [p[:, 0] for p, _ in response.stress(tests, values)]
    kinds = (make.uniaxial, make.planar, make.equibiaxial)
    return [kind(STRETCH, p, **more) for kind, p in zip(kinds, stresses, strict=True)]


def test_stresses_are_those_of_the_closed_form() -> None:
    law = sa.energies.neo_hooke()
    uniaxial, planar, equibiaxial = three_tests(law, {"mu": 2.0, "lam": 1.0})
    x = STRETCH
    assert uniaxial.stress[:, 0] == pytest.approx(2.0 * (x - x**-2), abs=1e-14)
    assert planar.stress[:, 0] == pytest.approx(2.0 * (x - x**-3), abs=1e-14)
    assert equibiaxial.stress[:, 0] == pytest.approx(2.0 * (x - x**-5), abs=1e-14)


def test_a_body_in_the_same_test_has_the_same_stress() -> None:
    values = {**YEOH, "k": 5.0}
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    cube = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.yeoh(), **values)
    by = {axis: cube[f"{axis}0"] for axis in "xyz"}
    held = [sa.fix(by[axis], axis) for axis in "xyz"]
    pulled = sa.fix(cube["x1"], "x", (0.6, 0.0, 0.0))
    problem = sa.StaticProblem(sa.System(cube, terms=[*held, pulled]))
    problem.solve()
    force = -held[0].reaction(problem.system).force[0]
    test = sa.MaterialTest.uniaxial([1.0, 1.6], [0.0, 0.0])
    ((stress, _),) = Response(sa.energies.yeoh(), incompressible=False).stress([test], values)
    assert stress[1, 0] == pytest.approx(force, rel=1e-8)


@pytest.mark.parametrize("incompressible", [True, False])
def test_constants_are_found_again(incompressible: bool) -> None:
    values = {**YEOH, "k": 30.0}
    tests = three_tests(sa.energies.yeoh(), values, incompressible)
    fixed = {} if incompressible else {"k": 30.0}
    found = sa.fit(sa.energies.yeoh(), tests, fixed=fixed)
    assert found.incompressible is incompressible
    assert {n: found.values[n] for n in YEOH} == pytest.approx(YEOH, rel=1e-8)
    assert max(found.rms.values()) < 1e-10
    note = "say nothing of k" in " ".join(found.notes)
    assert note is incompressible


def test_the_bulk_modulus_needs_a_volumetric_test() -> None:
    ratio = np.linspace(1.0, 0.95, 6)
    squeezed = sa.MaterialTest.volumetric(ratio, 50.0 * (1.0 - ratio))
    (uniaxial, *_) = three_tests(sa.energies.yeoh(), {**YEOH, "k": 50.0}, False)
    found = sa.fit(sa.energies.yeoh(), [uniaxial, squeezed])
    assert found.values == pytest.approx({**YEOH, "k": 50.0}, rel=1e-6)


def test_units_scale_the_moduli() -> None:
    law = sa.energies.ogden(terms=1)
    tests = three_tests(law, {"mu1": 0.4, "alpha1": 2.7})
    scaled = [
        getattr(sa.MaterialTest, t.kind)(t.stretch[:, 0], 1e6 * t.stress[:, 0]) for t in tests
    ]
    found = sa.fit(law, scaled)
    assert found.values == pytest.approx({"mu1": 0.4e6, "alpha1": 2.7}, rel=1e-7)


def test_derivatives_by_constants_are_exact() -> None:
    law = sa.energies.prony(sa.energies.ogden(terms=1), g=(0.3,), tau=(2.0,))
    values = {"mu1": 0.6, "alpha1": 1.5, "k": 20.0, "g1": 0.3, "tau1": 2.0}
    time = np.arange(float(len(STRETCH)))
    test = sa.MaterialTest.uniaxial(STRETCH, np.zeros_like(STRETCH), time=time)
    for incompressible in (True, False):
        response = Response(law, incompressible=incompressible)
        names = [n for n in response.parameters if n not in response.ineffective]
        ((_, slope),) = response.stress([test], values, names)
        for k, name in enumerate(names):
            h = 1e-4 * values[name]
            moved = [
                response.stress([test], {**values, name: values[name] + s * h})[0][0]
                for s in (-2, -1, 1, 2)
            ]
            expected = (8 * (moved[2] - moved[1]) - (moved[3] - moved[0])) / (12 * h)
            assert slope[..., k] == pytest.approx(expected, abs=1e-8 * abs(slope).max())


def test_a_relaxation_gives_the_series() -> None:
    law = sa.energies.prony(sa.energies.neo_hooke(), g=(0.2,), tau=(1.0,))
    time = np.concatenate([[1e-6], np.geomspace(0.05, 20.0, 30)])
    x, elastic = 1.5, 2.0 * (1.5 - 1.5**-2)
    series = 1.0 - 0.35 * (1.0 - np.exp(-time / 3.0))
    test = sa.MaterialTest.uniaxial(np.full(31, x), elastic * series, time=time)
    found = sa.fit(law, test, start={"g1": 0.2, "tau1": 1.0})
    wanted = {"mu": 2.0, "g1": 0.35, "tau1": 3.0}
    assert {n: found.values[n] for n in wanted} == pytest.approx(wanted, rel=1e-4)


def test_a_ramp_is_divided_into_steps() -> None:
    law = sa.energies.prony(sa.energies.neo_hooke(), g=(0.5,), tau=(0.3,))
    values = {"mu": 1.0, "g1": 0.5, "tau1": 0.3}
    ends = []
    for rows in (2, 2001):
        time = np.linspace(0.0, 1.0, rows)
        test = sa.MaterialTest.uniaxial(1.0 + time, np.zeros(rows), time=time)
        ((stress, _),) = Response(law, incompressible=True).stress([test], values)
        ends.append(stress[-1, 0])
    assert 2e-5 < abs(ends[0] / ends[1] - 1.0) < 5e-4


def test_softening_is_found_from_a_loop_in_any_unit() -> None:
    unit = 1e9
    law = sa.energies.ogden_roxburgh(sa.energies.neo_hooke(), r=2.0, m=0.1 * unit)
    x = np.array([1.0, 1.3, 1.6, 1.4, 1.2, 1.0, 1.5, 1.8])
    values = {"mu": unit, "mullins_r": 1.6, "mullins_m": 0.2 * unit}
    empty = sa.MaterialTest.uniaxial(x, np.zeros_like(x))
    known = {"mullins_beta": 0.0}
    ((stress, _),) = Response(law, incompressible=True).stress([empty], {**values, **known})
    loop = sa.MaterialTest.uniaxial(x, stress[:, 0])
    found = sa.fit(law, loop, fixed=known)
    assert {n: found.values[n] for n in values} == pytest.approx(values, rel=1e-5)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e-12, 1e9])
def test_bounds_follow_the_unit_of_stress(unit: float) -> None:
    """Data in Pa, MPa, TPa and nPa: the same constants at the same bounds."""
    x = np.linspace(1.0, 2.0, 12)
    stress, slope = unit * (0.8 * (x - x**-2) - 0.1 * (x - 1.0) ** 2), 2.0 * (x - x**-2)
    test = sa.MaterialTest.uniaxial(x, stress)
    found = sa.fit(sa.energies.yeoh(), test, bounds={n: (0.0, np.inf) for n in YEOH})
    assert found.names == ("C10",)
    assert "at a bound of its domain: C20 = 0, C30 = 0" in found.notes
    assert found.values["C10"] == pytest.approx(slope @ stress / (slope @ slope))


def test_errors_are_those_of_the_normal_distribution() -> None:
    generator = np.random.default_rng(3)
    x = np.linspace(1.1, 2.0, 40)
    exact = 0.5 * (x - x**-2)
    found = []
    for _ in range(40):
        noisy = exact + 0.01 * generator.normal(size=40)
        test = sa.MaterialTest.uniaxial(x, noisy, error=0.01)
        found.append(sa.fit(sa.energies.neo_hooke(), test))
    spread = np.std([f.values["mu"] for f in found])
    assert found[0].errors["mu"] == pytest.approx(spread, rel=0.35)


def test_what_tests_do_not_determine_is_named() -> None:
    x = np.linspace(1.0, 1.02, 12)
    noise = 1e-4 * np.random.default_rng(1).normal(size=12)
    test = sa.MaterialTest.uniaxial(x, 0.6 * (x - x**-2) + noise)
    notes = " ".join(sa.fit(sa.energies.yeoh(), test).notes)
    assert "say little of C20" in notes
    assert "say nothing of k" in notes
    alike = sa.fit(sa.energies.mooney_rivlin(), test, fixed={"k": 100.0}, incompressible=True)
    assert alike.correlation[0, 1] < -0.99


def test_instability_in_the_range_is_named() -> None:
    x = np.linspace(1.0, 3.0, 12)
    test = sa.MaterialTest.uniaxial(x, 0.6 * (x - x**-2) - 0.12 * (x - 1.0) ** 3)
    notes = " ".join(sa.fit(sa.energies.yeoh(), test).notes)
    assert "not stable (Drucker) in" in notes


def test_positive_terms_of_ogden() -> None:
    tests = three_tests(sa.energies.mooney_rivlin(), {"C10": 0.2, "C01": 0.05})
    found = sa.fit(sa.energies.ogden(terms=2), tests, positive_terms=True)
    v = found.values
    assert all(v[f"mu{i}"] * v[f"alpha{i}"] >= 0.0 for i in (1, 2))
    assert max(found.rms.values()) < 1e-6
    assert sorted(v[f"alpha{i}"] for i in (1, 2)) == pytest.approx([-2.0, 2.0], rel=1e-3)


def test_the_values_go_into_a_body(tmp_path: Path) -> None:
    found = sa.fit(sa.energies.yeoh(), three_tests(sa.energies.yeoh(), YEOH))
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    sa.Body(mesh["body"], sa.elements.hex8, found.law, **found.values, k=100.0)
    text = str(found)
    assert "C10" in text
    assert "rms" in text
    assert found.plot(tmp_path / "fit.png").stat().st_size > 5000


def test_bad_input_is_refused() -> None:
    make, law, wrong = sa.MaterialTest, sa.energies.yeoh(), sa.ParameterError
    good = make.uniaxial(STRETCH, STRETCH - 1.0)
    with refused(wrong, asked="strain", given=100.0):  # in percent
        make.uniaxial(strain=[0.0, 50.0, 100.0], stress=[0.0, 1.0, 2.0])
    with refused(wrong, asked="stretch", given=0.0, possible=("strain",)):
        make.uniaxial([0.0, 0.1], [0.0, 1.0])
    with refused(wrong, asked="stretch", given=180.0):
        make.uniaxial([100.0, 180.0], [0.0, 1.0])
    with refused(wrong, asked="stretch", possible=("stretch", "strain")):
        make.uniaxial(stress=[0.0, 1.0])
    with refused(wrong, asked="stress", given=2):
        make.planar([1.0, 1.1, 1.2], [0.0, 1.0])
    with refused(wrong, asked="stretch", given=(1.0, 1.1, 1.2)):
        make.biaxial([1.0, 1.1, 1.2], [0.0, 1.0, 2.0])  # type: ignore[arg-type]
    with refused(wrong, asked="time"):
        make.uniaxial([1.0, 1.1, 1.2], [0.0, 1.0, 2.0], time=[0.0, 1.0, 1.0])
    with refused(wrong, asked="error"):
        make.uniaxial([1.0, 1.1], [0.0, 1.0], error=0.0)
    with refused(wrong, asked="weight"):
        make.uniaxial([1.0, 1.1], [0.0, 1.0], weight=0.0)
    with refused(wrong, asked="tests", given=2):
        sa.fit(law, make.uniaxial([1.0, 1.1], [0.0, 1.0]))
    with refused(wrong, asked="stretch", given=1.2):  # turns back
        sa.fit(law, make.uniaxial([1.0, 1.2, 1.4, 1.2], [0.0, 1.0, 2.0, 1.0]))
    with refused(wrong, asked="C40", possible=("C10", "C20", "C30", "k")):
        sa.fit(law, good, fixed={"C40": 1.0})
    with refused(wrong, asked="time"):
        sa.fit(sa.energies.prony(law, g=(0.1,), tau=(1.0,)), good)
    with refused(wrong, asked="incompressible"):
        squeezed = make.volumetric([1.0, 0.9, 0.8], [0.0, 1.0, 2.0])
        sa.fit(law, squeezed, incompressible=True)
    with refused(wrong, asked="tests", given="uniaxial"):
        sa.fit(law, [good, "uniaxial"])  # type: ignore[list-item]
    with refused(wrong, asked="stress", given=-1.0):  # tension that pushes
        sa.fit(law, make.uniaxial(STRETCH, 1.0 - STRETCH))
    with refused(wrong, asked="C40", possible=("C10", "C20", "C30", "k")):
        sa.fit(law, good, start={"C40": 1.0})


def test_arguments_of_tests_are_checked_by_name() -> None:
    with refused(sa.ParameterError, asked="tiem"):
        sa.MaterialTest.uniaxial([1.0, 1.1], [0.0, 1.0], tiem=[0.0, 1.0])  # type: ignore[call-arg]
    with refused(sa.ParameterError, asked="time"):
        sa.MaterialTest.volumetric([1.0, 0.9], [0.0, 1.0], time=[0.0, 1.0])


def test_units_that_no_material_has_are_told() -> None:
    strain = np.linspace(0.0, 0.1, 5)
    for modulus, is_told in ((1e12, False), (3e12, True)):
        test = sa.MaterialTest.uniaxial(strain=strain, stress=modulus * strain)
        found = sa.fit(sa.energies.yeoh(), test, fixed=dict(C20=0.0, C30=0.0))
        assert any("diamond" in note for note in found.notes) == is_told


def test_data_in_two_units_and_strains_as_stretches_are_told() -> None:
    x, known = np.linspace(1.0, 2.0, 6), dict(C20=0.0, C30=0.0)
    pull = sa.MaterialTest.uniaxial(x, 0.4 * (x - x**-2))
    sheet = sa.MaterialTest.planar(x, 0.4e6 * (x - x**-3))
    notes = sa.fit(sa.energies.yeoh(), [pull, sheet], fixed=known).notes
    assert any("in planar is 1.2e+06 times that in uniaxial" in note for note in notes)
    for stretch, is_told in ((x, False), (x - 0.5, True)):
        test = sa.MaterialTest.uniaxial(stretch, 0.4 * (x - x**-2))
        notes = sa.fit(sa.energies.yeoh(), test, fixed=known).notes
        assert any("strains were given as stretches" in note for note in notes) == is_told


def test_stretches_beyond_the_end_of_a_law_are_told() -> None:
    """Behind its pole Gent's stress is a finite number again."""
    law, x = sa.energies.gent(), np.linspace(1.0, 2.0, 6)
    test = sa.MaterialTest.uniaxial(x, 0.4 * (x - x**-2))
    end = r"stretch 1\.6 with mu = .*, Jm = 0\.5: 1 - \(I1/J\*\*\(2/3\) - 3\)/Jm has .* is -0\.6"
    with pytest.raises(sa.ConvergenceError, match=end):
        sa.fit(law, test, fixed=dict(Jm=0.5))
    found = sa.fit(law, test, fixed=dict(Jm=3.0))
    with pytest.raises(sa.ParameterError, match=r"no stress in biaxial at stretch 1\.8 "):
        found.predict(sa.MaterialTest.biaxial((x, x), (x, x)))


def test_a_constant_that_is_zero_is_no_unknown_one() -> None:
    x = np.linspace(1.0, 2.0, 8)
    found = sa.fit(sa.energies.yeoh(), sa.MaterialTest.uniaxial(x, 0.4e6 * (x - x**-2)))
    assert found.errors["C20"] < 1e-6
    assert not any("C20, C30" in note for note in found.notes)
    for name in ("C20", "C30"):
        assert abs(found.values[name]) < 1e-9 * found.values["C10"]


def test_data_in_two_units_and_strains_in_percent_are_told() -> None:
    known = dict(C20=0.0, C30=0.0)
    for factor, largest, units, percent in ((3e2, 9.0, False, False), (3e3, 20.0, True, True)):
        x = np.linspace(1.0, largest, 6)
        pull = sa.MaterialTest.uniaxial(x, 0.4 * (x - x**-2))
        sheet = sa.MaterialTest.planar(x, 0.4 * factor * (x - x**-3))
        notes = sa.fit(sa.energies.yeoh(), [pull, sheet], fixed=known).notes
        assert any("look whether the stresses have one unit" in note for note in notes) == units
        assert any(f"stretches go to {largest:.3g}" in note for note in notes) == percent


@pytest.mark.parametrize(("largest", "is_told"), [(1.5e-7, True), (1.5e-6, False)])
def test_strains_too_small_for_two_constants_are_told(largest: float, is_told: bool) -> None:
    x = 1.0 + largest * np.linspace(0.0, 1.0, 6)
    test = sa.MaterialTest.uniaxial(x, 0.4 * (x - x**-2) + 0.1 * (1.0 - x**-3))
    notes = sa.fit(sa.energies.mooney_rivlin(), test).notes
    assert any("a combination of C10, C01" in note for note in notes) == is_told


def test_as_many_constants_as_data_have_no_standard_errors() -> None:
    found = sa.fit(sa.energies.mooney_rivlin(), sa.MaterialTest.uniaxial([1.5, 2.0], [1.0, 1.9]))
    assert found.errors == {"C10": np.inf, "C01": np.inf}
    assert any("standard errors are not known" in note for note in found.notes)


def test_loss_of_rank_one_convexity_in_the_range_is_told() -> None:
    x = np.linspace(1.0, 3.0, 12)
    law = sa.energies.hencky()  # incompressible: lost where the stretch is large
    found = sa.fit(law, sa.MaterialTest.uniaxial(x, 3.0 * np.log(x) / x), incompressible=True)
    assert any("rank-one" in note for note in found.notes)
    small = sa.MaterialTest.uniaxial(x[:3], 3.0 * np.log(x[:3]) / x[:3])
    assert not any("rank-one" in n for n in sa.fit(law, small, incompressible=True).notes)


@pytest.mark.parametrize("pulled", [0.1, 0.5])
def test_strains_beyond_the_tests_are_told(pulled: float) -> None:
    x = np.array([1.0, 1.1, 1.2])
    test = sa.MaterialTest.uniaxial(x, 0.3 * (x - x**-2))
    found = sa.fit(sa.energies.yeoh(), test, fixed=dict(C20=0.0, C30=0.0))
    np.testing.assert_allclose(found.range, (1.2**-0.5, 1.2))
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 1, 1))
    cube = sa.Body(mesh["body"], sa.elements.hex8, found.law, k=50.0, **found.values)
    pull = sa.fix(cube["x1"], "x", displacement=(pulled, 0.0, 0.0))
    system = sa.System(cube, terms=[*(sa.fix(cube[f"{a}0"], a) for a in "xyz"), pull])
    sa.StaticProblem(system).solve()
    told = found.extrapolation(system, cube)
    assert bool(told) == (pulled > 0.2)
    assert ("100 %" in told and "to 1.5," in told) == (pulled > 0.2)


def test_least_squares_begin_from_several_samples() -> None:
    """From the best sample alone those of this seed end in another minimum, 2 % off."""
    law = sa.energies.ogden()
    values = dict(mu1=0.63, alpha1=1.3, mu2=0.0012, alpha2=5.0, mu3=-0.01, alpha3=-2.0, k=1.0)
    x = np.array([1.02, 1.12, 1.24, 1.4, 1.6, 1.9, 2.2, 2.5, 3.0, 3.6, 4.0, 4.7, 5.3, 5.8])
    x = np.append(x, [6.4, 6.8, 7.1, 7.4])
    response, tests = Response(law, incompressible=True), []
    for kind, rows in (("uniaxial", 18), ("equibiaxial", 12)):
        make = getattr(sa.MaterialTest, kind)
        ((stress, _),) = response.stress([make(x[:rows], x[:rows])], values)
        tests.append(make(x[:rows], stress[:, 0]))
    assert max(sa.fit(law, tests, seed=2).rms.values()) < 1e-6


def test_a_far_start_takes_many_evaluations() -> None:
    law, x = sa.energies.ogden(terms=2), np.linspace(1.0, 3.0, 10)
    values = dict(mu1=0.3, alpha1=1.7, mu2=-0.02, alpha2=-3.0, k=1.0)
    response, tests = Response(law, incompressible=True), []
    for make in (sa.MaterialTest.uniaxial, sa.MaterialTest.equibiaxial):
        ((stress, _),) = response.stress([make(x, x)], values)
        tests.append(make(x, stress[:, 0]))
    found = sa.fit(law, tests, start=dict(alpha1=6.0, alpha2=-8.0))
    assert max(found.rms.values()) < 1e-10


def test_a_bulk_modulus_of_which_no_test_tells_ends_stiff() -> None:
    x = np.linspace(1.0, 1.5, 8)
    test = sa.MaterialTest.uniaxial(x, 0.4 * (x - x**-2))
    known = dict(C20=0.0, C30=0.0)
    found = sa.fit(sa.energies.yeoh(), test, fixed=known, incompressible=False)
    assert found.values["k"] > 1e7 * found.values["C10"]


def test_a_law_with_narrow_domains_is_found_among_many_samples() -> None:
    """Of twelve samples of this seed none has an equilibrium at all stretches."""
    law, x = sa.energies.extended_tube(), np.linspace(1.02, 7.4, 18)
    values = dict(Gc=0.18, Ge=0.2, beta=0.2, delta=0.1, k=1.0)
    response = Response(law, incompressible=True)
    ((stress, _),) = response.stress([sa.MaterialTest.uniaxial(x, x)], values)
    found = sa.fit(law, sa.MaterialTest.uniaxial(x, stress[:, 0]), seed=1)
    assert max(found.rms.values()) < 1e-10


@pytest.mark.parametrize("law", [sa.energies.saint_venant_kirchhoff(), sa.energies.hencky()])
def test_the_volume_changes_where_poisson_s_ratio_is_known(law: Any) -> None:
    # found by another way: at constant volume E would be 2 (1 + nu) E/3
    strain = np.linspace(0.0, 1e-4, 5)
    test = sa.MaterialTest.uniaxial(strain=strain, stress=100.0 * strain)
    nu_or_k = {"nu": 0.3} if "nu" in Response(law, incompressible=False).parameters else {"k": 83.0}
    found = sa.fit(law, test, fixed=nu_or_k).values
    young = found.get("E") or 9 * 83.0 * found["mu"] / (3 * 83.0 + found["mu"])
    assert young == pytest.approx(100.0, rel=1e-3)


def test_a_second_network_creeps_as_integrated_by_another_way() -> None:
    """Bergström and Boyce: pulled and let back, beside SciPy's integration of order 8."""

    def path(t: float) -> Any:
        x = 1.0 + 0.5 * (1.0 - abs(t - 1.0))
        return np.diag([x, x**-0.5, x**-0.5]) - np.eye(3)

    values = {"mu": 0.9} | {f"creep_{name}": x for name, x in CREEP.items()}
    time = np.linspace(0.0, 2.0, 33)
    stretch = np.array([1.0 + path(t)[0, 0] for t in time])
    test = sa.MaterialTest.uniaxial(stretch, np.ones(33), time=time)
    law = sa.energies.bergstrom_boyce(sa.energies.neo_hooke(), **CREEP)
    ((stress, _),) = Response(law, incompressible=True).stress([test], values)
    other = CreepPath(path, lambda F: 0.9 * deviator(F @ F.T))
    for row in (16, 32):
        P, _ = other.go(time[row - 16], time[row])
        wanted = P[0, 0] - P[1, 1] * stretch[row] ** -1.5
        assert stress[row, 0] == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize(("rows", "factor"), [(4, "4.3"), (20, "")])
def test_few_data_have_wide_intervals(rows: int, factor: str) -> None:
    """By Student's t of 2 and 18 degrees of freedom."""
    x = np.linspace(1.2, 2.0, rows)
    noise = 0.01 * np.random.default_rng(2).normal(size=rows)
    stress = 0.4 * (x - x**-2) + 0.2 * (1.0 - x**-3) + noise
    notes = sa.fit(sa.energies.mooney_rivlin(), sa.MaterialTest.uniaxial(x, stress)).notes
    assert any(f"interval of 95 % is {factor} standard errors" in n for n in notes) == bool(factor)
    measured = sa.MaterialTest.uniaxial(x, stress, error=0.01)
    assert not any("95 %" in n for n in sa.fit(sa.energies.mooney_rivlin(), measured).notes)


def test_another_minimum_is_told() -> None:
    """The mean of two of Ogden's curves is fitted as well by one as by the other."""
    law, x = sa.energies.ogden(terms=1), np.linspace(1.2, 2.5, 6)
    response, stresses = Response(law, incompressible=True), []
    test = sa.MaterialTest.uniaxial(x, x)
    for mu, alpha in ((0.432, 2.41), (-0.298, -5.58)):
        ((stress, _),) = response.stress([test], {"mu1": mu, "alpha1": alpha, "k": 1.0})
        stresses.append(stress[:, 0])
    both = sa.fit(law, sa.MaterialTest.uniaxial(x, (stresses[0] + stresses[1]) / 2.0))
    other = 2.41 if both.values["alpha1"] < 0.0 else -5.58
    (note,) = (n for n in both.notes if "another minimum" in n)
    assert float(note.split("alpha1 = ")[1].split(":")[0]) == pytest.approx(other, rel=0.1)
    sheet = sa.MaterialTest.uniaxial(x, stresses[0])
    assert not any("another minimum" in n for n in sa.fit(law, sheet).notes)
