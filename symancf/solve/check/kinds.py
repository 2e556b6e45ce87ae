# SPDX-License-Identifier: BSD-3-Clause
"""`sa.check`: of a law, a term, a law of contact or friction, or a system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ...errors import KinematicsError, ParameterError
from ...kinematics.naming import law_of, signature
from ...kinematics.solid import solid
from ...laws.properties import (
    STRUCTURE_PROPERTIES,
    properties_of,
    sample_of,
    structure_of,
)
from ...system import System
from ...terms.term import PlaceTerm
from ...values import arguments
from ...values.reader import require_parameters
from .contact import CONTACT, contact_properties, friction_properties
from .properties import Properties
from .system import Check, check_system
from .term import term_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...laws.properties.property import Property


@overload
def check(what: System, amplitude: float = 1e-3, seed: int = 0) -> Check: ...
@overload
def check(
    what: Callable[..., Any] | PlaceTerm,
    amplitude: float = 1e-3,
    seed: int = 0,
    *,
    stretches: tuple[float, float] | None = None,
    **values: float,
) -> Properties: ...
def check(
    what: Any,
    amplitude: float = 1e-3,
    seed: int = 0,
    *,
    stretches: tuple[float, float] | None = None,
    **values: float,
) -> Check | Properties:
    r"""Check the mechanics of a law or a term, or the derivatives of a system.

    Of the **energy of a solid** it looks at frame indifference :math:`W(QF) = W(F)`, stress-free
    rest :math:`P(I) = 0`, stability at rest, symmetry of the tangent, material symmetry
    :math:`W(FQ) = W(F)`, the moduli that the law declares, units, rank-one convexity
    :math:`A_{iLjM} a_i N_L a_j N_M > 0` over a box of stretches, passivity with memory
    :math:`\int P : \mathrm{d}F - \Delta\psi \ge 0`, and digits at a strain of 1e-8. Of
    **cables, rods, plates** those that their strains have; of a `Potential`, `Constraint` (joint)
    or `VirtualWork` (force) that force and moment together vanish; of a law of contact
    ``psi(g)`` or friction ``mu(v)`` that it presses, and takes energy.

    Each property is proved from the expressions where SymPy finds it, else looked at where
    numbers are; a violation has a witness, such as the very F.

    Of a **system** it compares the residual with the energy and the tangent with the residual at a
    random state (collective).

    Parameters
    ----------
    what : a law (function), a term of places, or a `System`.
    amplitude : of a system: of the random displacements, relative to the mean cell size; slopes
        move by `amplitude`.
    seed : of the random state of a system; it does not depend on the number of ranks.
    stretches : of a solid law: least and largest principal stretch [-] of the box in which it must
        be convex. By default it is looked at from 0.8 to 1.25, and told where that is lost.
    values : numbers of parameters of the law; those not given are chosen from their domains, and
        printed.

    Returns
    -------
    Properties, of a system `Check` : printable; ``passed`` says whether all is in order.

    Raises
    ------
    ParameterError : it is nothing that can be checked; a value is outside its domain.
    KinematicsError : the law asks for quantities that no element offers together.

    Examples
    --------
    >>> import symancf as sa
    >>> sa.check(sa.energies.neo_hooke(), mu=1.0, lam=2.0).passed
    True
    >>> def wrong(J, I1, *, mu, k):  # J**(-2/3) is missing
    ...     return mu / 2 * (I1 - 3) + k / 2 * (J - 1) ** 2
    >>> sa.check(wrong)["stress-free rest"].witness["P"][0, 0]
    0.2
    """
    if isinstance(what, System):
        if values:
            name = next(iter(values))
            raise ParameterError(
                f"check(system, {name}=...): values are those of laws; a system has its own",
                asked=name,
            )
        return check_system(what, amplitude, seed)
    limits = None if stretches is None else _stretches(stretches)
    if isinstance(what, PlaceTerm):
        return Properties(what.what, *term_properties(what, _numbers(values)))
    if not callable(what) or isinstance(what, type):
        raise ParameterError(
            f"check({what!r}): give a law, a term of places (Potential, Constraint, VirtualWork), "
            "a law of contact psi(g) or friction mu(v), or sa.System(body, terms=[...])",
            asked="what",
            given=what,
        )
    return _of_law(law_of(what), _numbers(values), limits)


def _of_law(
    law: Any, values: Mapping[str, float], limits: tuple[float, float] | None
) -> Properties:
    """Return the properties of a law by the quantities that it asks for."""
    asked = signature(law)
    quantities = {*asked.quantities}
    if asked.quantities in (("g",), ("v",)):
        of = contact_properties if asked.quantities == ("g",) else friction_properties
        return Properties(f"{asked.name}()", *of(law, values))
    if quantities <= solid().quantities.keys():
        sample = sample_of(law, values, limits)
        return Properties(f"{asked.name}()", properties_of(sample), sample.values)
    require_parameters(f"{asked.name}()", (), values, optional=asked.parameters, exact=True)
    structure = structure_of(law, values)
    if structure is None:
        places = all(q[-2:] in ("_a", "_b", "_c") or q == "t" for q in quantities)
        remedy = (
            f"give the term, sa.check(sa.Potential({asked.name}, ...))"
            if places
            else f"no element offers them together; a law of contact asks for {CONTACT}"
        )
        raise KinematicsError(
            f"{asked.name}() asks for {', '.join(asked.quantities)}: {remedy}",
            asked=asked.name,
            given=asked.quantities,
        )
    rows_of: tuple[Callable[[Any], Property], ...] = STRUCTURE_PROPERTIES
    return Properties(f"{asked.name}()", tuple(of(structure) for of in rows_of), structure.values)


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: arguments.number("check", name, x) for name, x in values.items()}


def _stretches(given: Any) -> tuple[float, float]:
    """Return the least and largest stretch."""
    pair = given if isinstance(given, tuple | list) and len(given) == 2 else (0.0, 0.0)
    low, high = (arguments.number("check", "stretches", x) for x in pair)
    if not 0.0 < low < high:
        raise ParameterError(
            f"check(stretches={given!r}): give the least and the largest stretch, (0.8, 1.25)",
            asked="stretches",
            given=given,
        )
    return low, high
