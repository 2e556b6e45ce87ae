# SPDX-License-Identifier: BSD-3-Clause
"""The bodies and terms of a system: of the right kinds, each once, with names of their own."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..assembly.protocol import Body, Term, having
from ..errors import ParameterError
from ..values.arguments import text

if TYPE_CHECKING:
    from collections.abc import Sequence


class Members:
    """What a system was given, checked.

    Raises
    ------
    ParameterError : something is no body or no term, is given twice, or two bodies have one name.

    Attributes
    ----------
    bodies, terms : lists of their own.
    names : those of members whose own name an earlier one has, by their ids: "hinge #2".
    """

    def __init__(self, bodies: Sequence[Body], terms: Any) -> None:
        _check_kinds(bodies, terms)
        self.bodies: list[Body] = list(bodies)
        self.terms: list[Term] = list(terms)
        self.names: dict[int, str] = {}
        self._name()

    def _name(self) -> None:
        """Number the names that several have."""
        members = [*self.bodies, *self.terms]
        named = {id(body) for body in self.bodies if body.named}
        taken = {item.name for item in members}
        seen: Counter[str] = Counter()
        for item in members:
            seen[item.name] += 1
            if seen[item.name] == 1:
                continue
            if id(item) in named:
                raise ParameterError(
                    f"two bodies are called {item.name!r}: give one of them another name=",
                    asked="name",
                    given=item.name,
                )
            while (name := f"{item.name} #{seen[item.name]}") in taken:
                seen[item.name] += 1
            taken.add(name)
            self.names[id(item)] = name


def _check_kinds(bodies: Sequence[Body], terms: Any) -> None:
    if not bodies:
        raise ParameterError("a system needs at least one body", asked="bodies", given=())
    if not isinstance(terms, list | tuple):
        raise ParameterError(
            f"terms= takes a list of terms, not {type(terms).__name__}",
            asked="terms",
            given=type(terms).__name__,
        )
    members = {id(item) for item in having([*bodies, *terms], Term) if not isinstance(item, type)}
    for body in bodies:
        if id(body) not in members or not hasattr(body, "named"):
            raise ParameterError(
                f"{type(body).__name__} is not a body: give bodies, System(plate, cable), and "
                "what acts on them as terms=[...]",
                asked="bodies",
                given=type(body).__name__,
            )
    _require_once("body", bodies)
    _require_once("term", terms)
    for term in terms:
        if id(term) not in members or hasattr(term, "named"):
            if belongs := getattr(term, "belongs", ""):
                raise ParameterError(
                    f"{type(term).__name__} is not a term: give {belongs}",
                    asked="terms",
                    given=type(term).__name__,
                    possible=(belongs,),
                )
            raise ParameterError(
                f"{type(term).__name__} is not a term: give supports (sa.fix), loads "
                "(sa.gravity, sa.force, ...) and joints in terms=[...]",
                asked="terms",
                given=type(term).__name__,
            )

    for item in [*bodies, *terms]:
        text(f"the name of a {type(item).__name__}", item.name)


def _require_once(what: str, given: Sequence[Any]) -> None:
    """Raise where a body or a term is given more than once."""
    counts = Counter(map(id, given))
    twice = next((item for item in given if counts[id(item)] > 1), None)
    if twice is not None:
        name = getattr(twice, "name", type(twice).__name__)
        raise ParameterError(
            f"the {what} {name!r} is given {counts[id(twice)]} times: give it once",
            asked=name,
            given=counts[id(twice)],
            possible=(1,),
        )
