# SPDX-License-Identifier: BSD-3-Clause
"""Constants from tests of the material and of structures: `sa.fit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from ...errors import ParameterError
from ...kinematics.naming import law_of, signature
from ...values import arguments
from ...values.domain import Domain, domains_of
from ...values.parameter import Parameter, label
from .coupons import Coupons
from .joint import Joint, Structure
from .limits import Limits
from .material_test import MaterialTest
from .result import Fit, differences, identified
from .structure_test import StructureTest

if TYPE_CHECKING:
    from ...arrays import Array


def fit(
    law: Any,
    tests: MaterialTest | StructureTest | Sequence[MaterialTest | StructureTest],
    *,
    fixed: Mapping[str, float] | None = None,
    start: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    incompressible: bool | None = None,
    positive_terms: bool = False,
    seed: int = 0,
) -> Fit:
    r"""Find the constants that agree best with tests of the material, of structures, or both.

    Least squares of the nominal stresses P of all tests t with N_t rows,

    .. math::
        \sum_t \frac{w_t}{N_t} \sum_i \Big(\frac{P(\lambda_i; \theta) - P_i}{s_t}\Big)^2
        \to \min, \qquad s_t = \max_i |P_i|,

    by trust regions with exact derivatives by the constants; rows with ``error=`` count by
    :math:`(P - P_i)/\mathrm{error}_i` instead. Constants in which the stress is linear (moduli) are
    found by linear least squares for many samples of the others; the best begin. Of a law with
    memory the whole history of each test is followed.

    Of a `StructureTest` the goals stand in the place of P, with derivatives by `sensitivity` or, of
    a trace, `gradient`. Constants of structures are `Parameter` of their names; least squares begin
    at their values, and the best ones are their values afterwards (collective).

    Parameters
    ----------
    law : energy of a solid, of the catalogue or your own, also one with memory (`prony`,
        `ogden_roxburgh`, ...). Of one with preferred directions the axes of the tests are those of
        the body. Of structures also a `Parameter`, or a list of them that may begin with an energy.
    tests : made by `MaterialTest`, or `StructureTest`.
    fixed : name -> value of constants that are known.
    start : name -> value where to begin; of constants not named many samples are tried.
    bounds : name -> (least, largest); beside the domains that the law declares.
    incompressible : whether the material keeps its volume in the tests. By default where the law
        has constants of its volumetric part alone and nothing is known of them: no volumetric
        test, none `fixed`. With E and nu the volume changes.
    positive_terms : let each term that is linear in a constant store energy (of Ogden's law
        :math:`\mu_i \alpha_i > 0`), which suffices for stability.
    seed : of the samples.

    Returns
    -------
    Fit : its ``values`` go into `Body`; it prints as a table with errors and what to know.

    Raises
    ------
    ParameterError : fewer rows than constants; stretches that go forth and back for a law without
        memory; no time where the stress depends on it; unknown names; a structure whose body has a
        number for what is to be found; see `StaticProblem.gradient`.
    ConvergenceError : no sample of constants has an equilibrium in all tests.

    Examples
    --------
    >>> import numpy as np
    >>> import symancf as sa
    >>> stretch = np.linspace(1.0, 2.0, 6)
    >>> pulled = sa.MaterialTest.uniaxial(stretch, 0.4e6 * (stretch - stretch**-2))
    >>> found = sa.fit(sa.energies.yeoh(), pulled, fixed=dict(C20=0.0, C30=0.0))
    >>> round(found.values["C10"])
    200000
    """
    energy, parameters = _wanted(law)
    known, begin, within = _constants("fixed", fixed), _constants("start", start), _pairs(bounds)
    incompressible = (
        None if incompressible is None else arguments.flag("fit", "incompressible", incompressible)
    )
    positive_terms = arguments.flag("fit", "positive_terms", positive_terms)
    seed = arguments.integer("fit", "seed", seed, least=0)
    pulled, built = _tests(tests, energy)
    read = None if energy is None else signature(law_of(energy))
    title, own = ("fit", ()) if read is None else (read.name, read.parameters)
    possible = (*own, *(p.name for p in parameters))
    _require_known(title, possible, {"fixed": known, "start": begin, "bounds": within})
    coupons = None
    if pulled:
        of_law = {n: x for n, x in known.items() if n in own}
        coupons = Coupons.of(energy, pulled, of_law, within, incompressible, positive_terms)
    for test in built:
        _require_same(test, title, known, () if coupons is None else coupons.names)
    wanted = [n for n in possible if n not in known]
    joint = Joint.of(wanted, coupons, [Structure(test, wanted, parameters) for test in built])
    _require_found(parameters, joint, known)
    declared = {**_domains(built, joint.names), **domains_of(law_of(energy))}
    limits = Limits(declared, within, joint.sizes())
    return _result(title, energy, known, joint, limits, joint.best(limits, begin, seed))


def _result(
    title: str, law: Any, fixed: Mapping[str, float], joint: Joint, limits: Limits, theta: Array
) -> Fit:
    """Return the fit with errors, what the tests say nothing of, and where it is unstable."""
    difference, slope = joint.differences(theta)
    values = {**fixed, **dict(zip(joint.names, map(float, theta), strict=True))}
    inside = np.array([limits.inside(n, values[n]) for n in joint.names], dtype=bool)
    moved = [n for n, i in zip(joint.names, inside, strict=True) if i]
    coupons = joint.coupons
    errors, correlation, unknown = identified(
        moved,
        theta[inside],
        slope[:, inside],
        difference,
        _variance(joint.tests, difference, moved),
        () if coupons is None else coupons.response.linear,
    )
    left: tuple[str, ...] = ()
    stable: list[str] = []
    if coupons is not None:
        left = tuple(n for n in coupons.response.ineffective if n not in values)
        stable = coupons.notes(values)
    silent = [
        f"these tests say nothing of {', '.join(left)}: no stress depends on it; give it to the "
        "body yourself"
    ]
    unknown += _few(joint.tests, len(moved))
    answers = tuple(joint.answers(values))
    stable = [*_unlike(joint.tests, answers), *_far(joint.structures, values), *stable]
    notes = [*joint.notes, *unknown, *(silent if left else []), *limits.told(joint.names, theta)]
    return Fit(
        name=title,
        law=law,
        values=values,
        names=tuple(moved),
        errors=dict(zip(moved, map(float, errors), strict=True)),
        correlation=correlation,
        tests=tuple(joint.tests),
        stresses=answers,
        incompressible=coupons is not None and coupons.response.incompressible,
        notes=(*notes, *stable),
        response=None if coupons is None else coupons.response,
    )


def _wanted(given: Any) -> tuple[Any, list[Parameter]]:
    """Return the energy, or None, and the parameters whose values are to be found."""
    every = [*given] if isinstance(given, list | tuple) else [given]
    parameters = [one for one in every if isinstance(one, Parameter)]
    energies = [one for one in every if not isinstance(one, Parameter)]
    if len(energies) > 1 or not every or not all(callable(one) for one in energies):
        raise ParameterError(
            f"fit: law={label(given)}: give an energy, a sa.Parameter, or a list of an energy and "
            "parameters",
            asked="law",
            given=label(given),
        )
    return (energies[0] if energies else None), parameters


def _tests(tests: Any, energy: Any) -> tuple[list[MaterialTest], list[StructureTest]]:
    """Return the tests of the material and those of structures."""
    every = [*tests] if isinstance(tests, list | tuple) else [tests]
    pulled = [test for test in every if isinstance(test, MaterialTest)]
    built = [test for test in every if isinstance(test, StructureTest)]
    for test in every:
        if not isinstance(test, MaterialTest | StructureTest):
            raise ParameterError(
                f"fit: a test is {test!r}: make tests by MaterialTest.uniaxial(...), planar, "
                "equibiaxial, biaxial or volumetric, or StructureTest(...)",
                asked="tests",
                given=test,
            )
    if not every:
        raise ParameterError("fit: no test is given", asked="tests", given=every)
    if pulled and energy is None:
        raise ParameterError(
            f"fit: {pulled[0].name} is a test of a material, and there is no energy: "
            "fit([energy, parameter], tests)",
            asked="law",
            given=None,
        )
    return pulled, built


def _require_known(
    title: str, possible: Sequence[str], constants: Mapping[str, Mapping[str, object]]
) -> None:
    """Check that names are those of constants or parameters."""
    for what, names in constants.items():
        for name in names:
            if name not in possible:
                raise ParameterError(
                    f"fit: {what} names {name!r}, which {title} does not have; it has "
                    f"{', '.join(possible)}",
                    asked=name,
                    possible=tuple(possible),
                )


def _require_found(
    parameters: Sequence[Parameter], joint: Joint, fixed: Mapping[str, float]
) -> None:
    """Check that structures have the parameters, and that there are as many data as constants."""
    possible = tuple(dict.fromkeys(n for s in joint.structures for n in s.names))
    for one in parameters:
        if one.name not in fixed and one.name not in possible:
            raise ParameterError(
                f"fit: no structure has the parameter {one.name!r}",
                asked=one.name,
                possible=possible,
            )
    rows = sum(test.data.size for test in joint.tests)
    if rows < len(joint.names):
        raise ParameterError(
            f"fit: {rows} measured values for {len(joint.names)} constants "
            f"({', '.join(joint.names)}): measure more, or give some of them by fixed=",
            asked="tests",
            given=rows,
        )


def _require_same(
    test: StructureTest, title: str, fixed: Mapping[str, float], names: Sequence[str]
) -> None:
    """Check that a structure follows the constants of the law that its bodies have.

    Raises
    ------
    ParameterError : a body has a number where a constant is looked for, or another one than the
        known one.
    """
    for body in getattr(test.problem.system, "bodies", ()):
        energy = getattr(body, "_energy_function", None)
        if energy is None or not callable(energy) or signature(energy).name != title:
            continue
        for name, own in body.parameters.items():
            alike = isinstance(own, Parameter) and own.name == name
            value = own.value if isinstance(own, Parameter) else own
            if (name in names and not alike) or (name in fixed and value != fixed[name]):
                raise ParameterError(
                    f"fit: body {body.name!r} of {test.name} has {name} = {label(own)}: give it "
                    + (f"{fixed[name]:g}" if name in fixed else f"sa.Parameter({name!r}, ...)"),
                    asked=name,
                    given=label(own),
                )


def _domains(tests: Sequence[StructureTest], names: Sequence[str]) -> dict[str, Domain]:
    """Return the domains that energies of bodies declare of parameters, by the names of these."""
    found: dict[str, Domain] = {}
    for test in tests:
        for body in getattr(test.problem.system, "bodies", ()):
            own = domains_of(getattr(body, "_energy_function", None))  # type: ignore[type-var]
            for name, value in getattr(body, "parameters", {}).items():
                if isinstance(value, Parameter) and value.name in names and name in own:
                    found[value.name] = own[name]
    return found


def _variance(tests: Sequence[Any], difference: Array, names: Sequence[str]) -> Array:
    """Return the variance of each difference over its scale (rows,)."""
    ends = np.cumsum([test.data.size for test in tests])[:-1]
    parts = zip(tests, np.split(difference, ends), strict=True)
    share = len(names) / len(difference)
    return np.concatenate([test.variance(part, share * len(part)) for test, part in parts])


def _constants(what: str, given: object) -> dict[str, float]:
    """Return constants by their names."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"fit: {what}= must be a dict of constants by their names, {{'k': 1e9}}",
            asked=what,
            given=given,
        )
    return {str(n): arguments.number(f"fit: {what}=", str(n), x) for n, x in given.items()}


def _pairs(given: object) -> dict[str, tuple[float, float]]:
    """Return bounds by the names of constants."""
    pairs = {} if given is None else given
    for pair in pairs.values() if isinstance(pairs, Mapping) else [pairs]:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not _ordered(pair):
            raise ParameterError(
                "fit: bounds= must be a dict of pairs, {'beta': (0.0, 1.0)}, the least first",
                asked="bounds",
                given=given,
            )
    assert isinstance(pairs, Mapping)
    return {str(n): (float(pair[0]), float(pair[1])) for n, pair in pairs.items()}


def _ordered(pair: Sequence[object]) -> bool:
    """Whether a pair is of numbers, the smaller first."""
    low, high = pair
    return isinstance(low, int | float) and isinstance(high, int | float) and low < high


def _few(tests: Sequence[Any], number: int) -> list[str]:
    """Return a sentence where few data tell the scatter, from which standard errors are."""
    rows = [test.data.size for test in tests]
    unknown = sum(n for test, n in zip(tests, rows, strict=True) if test.error is None)
    free = unknown * (1.0 - number / sum(rows))
    factor = float(stdtrit(free, 0.975)) if number and free > 1e-9 else 0.0
    if factor < 2.2:
        return []
    return [
        f"few data: an interval of 95 % is {factor:.2g} standard errors to each side, by Student's "
        f"t of {free:.2g} degrees of freedom"
    ]


def _unlike(tests: Sequence[Any], answers: Sequence[Array]) -> list[str]:
    """Return sentences on tests that the constants found do not answer."""
    return [
        f"{name}: {100 * rms:.3g} % of the range beside the data: these are no constants of this "
        "test; give start= nearer, look at units and signs of the data, or take another law"
        for name, rms in differences(tests, answers).items()
        if rms > 0.25
    ]


def _far(structures: Sequence[Structure], values: Mapping[str, float]) -> list[str]:
    """Return a sentence where constants of structures are far from where they began."""
    pairs = [(n, x) for s in structures for n, x in zip(s.names, s.first, strict=True) if x != 0.0]
    ratios = {n: abs(values[n] / x) for n, x in pairs}
    name = max(ratios, key=lambda n: ratios[n], default=None)
    if name is None or 1.0 / 300.0 < ratios[name] < 300.0:
        return []
    return [
        f"{name} = {values[name]:.3g} is {ratios[name]:.2g} times the value that it began with: "
        "look whether the data have the units of the model"
    ]
