# SPDX-License-Identifier: BSD-3-Clause
"""Extensions: names that packages offer by the entry points ``symancf.extensions``.

The core imports no extension. It finds one by its name when somebody asks for it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import SymancfError

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

T = TypeVar("T")

GROUP = "symancf.extensions"


def _of_checkout() -> list[EntryPoint]:
    """Return the entry points of the checkout that this package is in; of none an empty list.

    They hold also where it is on the path without being installed, and after `git pull`, when
    what pip wrote of an editable installation is old.
    """
    import tomllib
    from importlib.metadata import EntryPoint

    path = Path(__file__).parents[2] / "pyproject.toml"
    project = tomllib.loads(path.read_text("utf-8")).get("project", {}) if path.is_file() else {}
    own = project["entry-points"][GROUP] if project.get("name") == "symancf" else {}
    return [EntryPoint(name, value, GROUP) for name, value in own.items()]


def _distribution(entry: EntryPoint) -> str:
    """Return name and version of the package that an entry point belongs to."""
    return "symancf" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def extensions() -> dict[str, list[EntryPoint]]:
    """Return what is installed, by name; more than one of a name is an error of `extension`."""
    from importlib.metadata import entry_points

    own = _of_checkout()
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in (*own, *entry_points(group=GROUP)):
        if not (own and entry.dist is not None and entry.dist.name == "symancf"):
            by_name.setdefault(entry.name, []).append(entry)
    return by_name


@cache
def extension(name: str) -> Any:
    """Return what an extension offers under a name: a function, a class or a module.

    Raises
    ------
    SymancfError : no extension or several have the name; it cannot be imported.
    """
    entries = extensions().get(name, [])
    if len(entries) != 1:
        listed = [f"{_distribution(entry)} ({entry.value})" for entry in entries]
        several = f"several extensions: {', '.join(listed)}; uninstall all but one"
        none = "no extension that is installed; `pip install` writes down its entry points"
        raise SymancfError(
            f"{name!r} is the name of {several if entries else none}",
            asked=name,
            given=listed,
            possible=listed or sorted(extensions()),
        )
    try:
        return entries[0].load()
    except Exception as error:
        raise SymancfError(
            f"the extension {name!r} of {_distribution(entries[0])} cannot be imported "
            f"({entries[0].value}): {type(error).__name__}: {error}",
            asked=name,
            given=entries[0].value,
        ) from error


class ExtensionMethod(Generic[T]):
    """A class method that an extension has, by the name ``Class.method``; imported when used."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type) -> Callable[..., T]:
        return MethodType(extension(self.name), owner)
