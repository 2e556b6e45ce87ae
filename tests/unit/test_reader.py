# SPDX-License-Identifier: BSD-3-Clause
"""The same mistake in a user's function has the same error wherever functions are taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from tests.refusals import refused


def block(energy: Any = sa.energies.neo_hooke(), **given: Any) -> sa.Body:
    given = given or ({"mu": 1.0, "lam": 2.0} if energy is sa.energies.neo_hooke() else {})
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=MPI.COMM_SELF)
    return sa.Body(mesh["body"], sa.elements.hex8_plain, energy, name="block", **given)


def disk() -> Any:
    return sa.PlanarBody(position=(0.0, 0.0)).at((0.0, 0.0))


def height(u_a: Any) -> Any:
    return u_a[1]


def lift(v_a: Any) -> Any:
    return v_a[1]


def spring(y: Any) -> Any:
    return -y


def contact(**given: Any) -> object:
    floor = sa.Plane((0.0, 0.0, -1.0), (0.0, 0.0, 1.0))
    return sa.Contact(block()["z0"], floor, **given)


def first_value(start: Any) -> object:
    def law(J: Any, *, a: Any, k: Any) -> Any:
        return sa.remember(k / 2 * (J - 1) ** 2, a=a, stored=0)

    return block(sa.memory(a=start)(law), k=1.0)


def grown(law: Any, **given: Any) -> object:
    return block(sa.energies.swollen(law), swelling=1.0, **given)


def sampled(law: Any) -> object:
    body = block()
    return sa.sample(sa.System(body), body, fields={"law": law})


@dataclass
class Place:
    """A place that takes a function.

    Attributes
    ----------
    use : calls it with a function and with values of parameters.
    arguments, scalar : those of a function that is right, and an expression of them.
    returns : what it returns, with a scalar in braces.
    taken : the name of a parameter that has another meaning.
    asked : what errors of its result are about.
    without : mistakes that cannot be made here.
    """

    use: Callable[..., object]
    arguments: str
    scalar: str
    returns: str = "{}"
    taken: str = ""
    asked: str = "law"
    without: str = ""

    def law(
        self, scalar: str = "", arguments: str = "", *, returns: str = "", more: str = ""
    ) -> Any:
        """Return a function called ``law``."""
        result = returns or self.returns.format(scalar or self.scalar)
        text = f"def law({arguments or self.arguments}{more}):\n    return {result}\n"
        names: dict[str, Any] = {"sp": sp}
        exec(text, names)
        return names["law"]


HOLD = "measure, actuate, law"
PLACES = {
    "energy": Place(lambda f, **p: block(f, **p), "J", "(J - 1)**2", taken="X", without="number"),
    "swollen": Place(grown, "J", "(J - 1)**2", taken="X", asked="swollen_law", without="number"),
    "constraint": Place(
        lambda f, **p: sa.Constraint(f, disk(), **p), "u_a", "u_a[0]", taken="lam1"
    ),
    "potential": Place(lambda f, **p: sa.Potential(f, disk(), **p), "u_a", "u_a[0]", taken="lam1"),
    "virtual work": Place(
        lambda f, **p: sa.VirtualWork(f, disk(), **p), "v_a", "-v_a[0]", "{{v_a[0]: {}}}", "lam1"
    ),
    "contact": Place(lambda f, **p: contact(law=f, **p), "g", "sp.Max(-g, 0)**2", taken="radius"),
    "friction": Place(lambda f, **p: contact(mu=f, **p), "v", "1/(1 + v)", taken="radius"),
    "distance": Place(lambda f, **p: sa.Distance(f, **p), "x1, x2, x3", "x3", taken="frame"),
    "measure": Place(
        lambda f, **p: sa.Controller(f, lift, spring, disk(), **p), "u_a", "u_a[0]", taken="lam1"
    ),
    "actuate": Place(
        lambda f, **p: sa.Controller(height, f, spring, disk(), **p), "v_a", "v_a[0]", taken="lam1"
    ),
    "control": Place(
        lambda f, **p: sa.Controller(height, lift, f, disk(), **p), "y", "-y", taken="lam1"
    ),
    "viscosity": Place(
        lambda f, **p: sa.Viscosity(block(), f, **p), "J_rate", "J_rate", "{{'J': {}}}", asked="J"
    ),
    "field": Place(sampled, "J", "J", without="number extra"),
    "first value": Place(first_value, "k", "k", asked="a", without="number extra missing"),
}

#: Places at which a law must depend on something.
DEPENDENT = ("constraint", "potential", "contact", "distance")


def each(mistake: str, *without: str) -> Any:
    names = [n for n, p in PLACES.items() if mistake not in p.without and n not in without]
    return pytest.mark.parametrize("place", [PLACES[n] for n in names], ids=names)


@each("right")
def test_a_function_that_is_right_is_taken(place: Place) -> None:
    place.use(place.law())


@each("number", "friction", "field", "first value", "energy", "swollen")
def test_what_is_no_function(place: Place) -> None:
    with refused(sa.ParameterError, given=3.0):
        place.use(3.0)


@each("unknown")
def test_a_quantity_that_is_not_offered(place: Place) -> None:
    with refused(sa.KinematicsError, asked="nonsense", given=None, possible=lambda p: len(p) > 0):
        place.use(place.law(more=", nonsense"))


@each("open")
@pytest.mark.parametrize(("written", "name"), [("*rest", "rest"), ("**rest", "rest")])
def test_arguments_without_names(place: Place, written: str, name: str) -> None:
    with refused(sa.KinematicsError, asked=name, given=written, possible=()):
        place.use(place.law(more=f", {written}"))


@each("default")
def test_a_default_of_a_positional_argument(place: Place) -> None:
    first = place.arguments.split(", ")[-1]
    with refused(sa.KinematicsError, asked=first, given=2, possible=()):
        place.use(place.law(more="=2"))


@each("missing")
def test_a_parameter_that_is_missing(place: Place) -> None:
    with refused(sa.ParameterError, asked="p", possible=lambda names: "p" in names) as caught:
        place.use(place.law(f"p*{place.scalar}", more=", *, p"))
    assert "p" not in (caught.value.given or ())


@each("extra")
def test_a_parameter_that_nothing_takes(place: Place) -> None:
    with refused(sa.ParameterError, asked="spare", given=None, possible=lambda p: "spare" not in p):
        place.use(place.law(), spare=1.0)


@pytest.mark.parametrize("place", [p for p in PLACES.values() if p.taken])
def test_a_parameter_with_the_name_of_something_else(place: Place) -> None:
    with refused(sa.ParameterError, asked=place.taken, given=lambda where: isinstance(where, str)):
        place.use(place.law(more=f", *, {place.taken}=1.0"))


@each("failing")
def test_a_function_that_fails(place: Place) -> None:
    given = "ZeroDivisionError('division by zero')"
    with refused(sa.KinematicsError, given=given, possible=()) as caught:
        place.use(place.law(returns="1/0"))
    assert caught.value.asked in ("law", place.asked)


@each("nothing", "swollen")
def test_a_function_that_returns_nothing(place: Place) -> None:
    with refused(sa.KinematicsError, asked=lambda name: name in ("law", place.asked), given=None):
        place.use(place.law("None"))


@each("text", "swollen")
def test_a_function_that_returns_text(place: Place) -> None:
    with refused(sa.KinematicsError, asked=place.asked, given="much"):
        place.use(place.law("'much'"))


@each("matrix", "constraint", "field", "first value", "swollen")
def test_a_function_that_returns_a_matrix(place: Place) -> None:
    with refused(sa.KinematicsError, asked=lambda name: name in (place.asked, "components")):
        place.use(place.law("sp.eye(2)"))


@each("infinite")
def test_a_function_that_is_not_finite(place: Place) -> None:
    with refused(sa.KinematicsError, asked=place.asked, given=lambda e: "oo" in e or "nan" in e):
        place.use(place.law(f"sp.oo*{place.scalar}"))


@each("foreign")
def test_a_symbol_that_is_no_argument(place: Place) -> None:
    with refused(sa.KinematicsError, asked="q", given=lambda e: "q" in e):
        place.use(place.law(f"{place.scalar} + sp.Symbol('q', real=True)*{place.scalar}"))


@each("uncompilable")
def test_a_function_that_has_no_code(place: Place) -> None:
    with refused(sa.CompileError, asked=place.asked, given=lambda e: "zeta" in e):
        place.use(place.law(f"sp.zeta({place.scalar})"))


@pytest.mark.parametrize("name", DEPENDENT)
def test_a_function_that_depends_on_nothing(name: str) -> None:
    with refused(sa.KinematicsError, asked="law", possible=lambda names: len(names) > 0):
        PLACES[name].use(PLACES[name].law("1"))


@pytest.mark.parametrize(
    "name", ["constraint", "potential", "virtual work", "swollen", "viscosity"]
)
def test_unknowns_of_its_own_where_there_are_none(name: str) -> None:
    place = PLACES[name]
    law = sa.local(p=0)(place.law(f"p*{place.scalar}", more=", *, p"))
    with refused(sa.KinematicsError, asked="p", given=("p",)):
        place.use(law)
