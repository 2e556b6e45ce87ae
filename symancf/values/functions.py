# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of users' functions, by their names, and functions that say what they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

#: The default of an argument that has none.
REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Arguments:
    """The arguments of a function.

    Attributes
    ----------
    positional, keywords : names of those before and after the ``*``.
    defaults : values of those that have one, by name.
    open : ``*args`` and ``**kwargs`` as they are written, by name.
    """

    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    defaults: Mapping[str, Any]
    open: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all arguments."""
        return (*self.positional, *self.keywords, *self.open)


def arguments_of(function: Callable[..., object]) -> Arguments:
    """Return the arguments of a function.

    Raises
    ------
    TypeError, ValueError : Python does not know them, as of a ufunc of NumPy.
    """
    parameters = inspect.signature(function).parameters.values()
    return Arguments(
        positional=tuple(a.name for a in parameters if a.kind < a.VAR_POSITIONAL),
        keywords=tuple(a.name for a in parameters if a.kind is a.KEYWORD_ONLY),
        defaults={a.name: a.default for a in parameters if a.default is not a.empty},
        open={a.name: str(a) for a in parameters if a.kind in (a.VAR_POSITIONAL, a.VAR_KEYWORD)},
    )


def taking(
    function: Callable[..., object],
    positional: Iterable[str],
    keywords: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Let a function say that it takes some arguments, whatever it is written with.

    Parameters
    ----------
    keywords : names after the ``*`` with their defaults, `REQUIRED` where there is none.
    """
    kind = inspect.Parameter
    before = [kind(name, kind.POSITIONAL_OR_KEYWORD) for name in positional]
    after = [kind(name, kind.KEYWORD_ONLY, default=x) for name, x in keywords.items()]
    vars(function)["__signature__"] = inspect.Signature([*before, *after])
