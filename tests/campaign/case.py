# SPDX-License-Identifier: BSD-3-Clause
"""What a case of the campaign is, and how what it did is judged."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

Expected = Literal["right", "error", "either"]


class Wrong(AssertionError):
    """A number that an independent calculation contradicts."""


@dataclass(frozen=True)
class Case:
    """A thing to try.

    Attributes
    ----------
    name : of the class and what is tried, unique within a seed.
    run : called on every rank; returns numbers (nested lists) that do not depend on the number
        of ranks, or raises. It raises `Wrong` where an oracle of its own contradicts a result.
    expect : "right" if it has to work, "error" if it has to be refused, "either" where both are
        sound.
    raises : names of exceptions beside `SymancfError` that are an answer, too: those that a
        function of the user raised.
    alike : whether it has to end alike on different numbers of ranks.
    """

    name: str
    run: Callable[[], Any]
    expect: Expected = "either"
    raises: tuple[str, ...] = ()
    alike: bool = True


Generator = Callable[[random.Random, int], Iterator[Case]]


@dataclass
class Found:
    """What a case did on one rank: "value", "error" (of symancf), "raw" (any other) or "wrong"."""

    kind: str
    text: str = ""
    value: Any = None
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0


NOTHING = 1e-18  # what round-off leaves of zero, of places of about 1 m


def near(a: Any, b: Any, rtol: float, size: float | None = None) -> bool:
    """Tell whether nested lists of numbers agree, relative to their largest entry (or `size`)."""
    one, other = list(_flat(a)), list(_flat(b))
    if len(one) != len(other):
        return False
    numbers = [x for x in (*one, *other) if isinstance(x, int | float)]
    size = max((abs(x) for x in numbers), default=0.0) if size is None else size
    for x, y in zip(one, other, strict=True):
        if isinstance(x, int | float) and isinstance(y, int | float):
            if not abs(x - y) <= rtol * size + NOTHING:
                return False
        elif x != y:
            return False
    return True


def require_near(a: Any, b: Any, rtol: float, what: str, size: float | None = None) -> None:
    """Raise `Wrong` where two results differ."""
    if not near(a, b, rtol, size):
        raise Wrong(f"{what}: {_short(a)} is not {_short(b)} within {rtol:g}")


def judge(case_expect: str, raises: tuple[str, ...], found: list[Found]) -> str:
    """Return "" if what the ranks found is an answer, otherwise what is wrong with it."""
    kinds = {f.kind for f in found}
    if "wrong" in kinds:
        return "WRONG NUMBER: " + next(f.text for f in found if f.kind == "wrong")
    foreign = [f.text for f in found if f.kind == "raw" and f.text.split(":")[0] not in raises]
    if foreign:
        return f"raw exception: {foreign[0]}"
    if "value" in kinds and len(kinds) > 1:
        return "some ranks go on, others do not: " + "; ".join(sorted({f.text for f in found}))
    if kinds == {"value"}:
        return _judge_values(case_expect, [f.value for f in found])
    return _judge_errors(case_expect, raises, found)


def _judge_errors(expect: str, raises: tuple[str, ...], found: list[Found]) -> str:
    texts = sorted({f.text for f in found if f.kind == "error"})
    if len(texts) > 1 and not raises:
        return f"ranks raise different errors: {texts}"
    if expect == "right":
        return f"refused: {found[0].text}"
    if any(len(text) < 25 for text in texts):
        return f"an error that says nothing: {texts}"
    return ""


def _judge_values(expect: str, values: list[Any]) -> str:
    if expect == "error":
        return f"accepted: {_short(values[0])}"
    if any(not near(value, values[0], 1e-12) for value in values):
        return f"ranks differ: {[_short(value) for value in values]}"
    return ""


def _flat(value: Any) -> Iterator[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        for entry in value:
            yield from _flat(entry)
    else:
        yield value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 160 else text[:157] + "..."
