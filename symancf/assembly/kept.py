# SPDX-License-Identifier: BSD-3-Clause
"""What bodies, terms and places find in one system; they themselves stay as they were made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from ..errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Hashable

Data = TypeVar("Data")


class Named(Protocol):
    """A body or a term, with the name that the user gave it."""

    @property
    def name(self) -> str:
        """Shown in messages."""


class Kept:
    """Data by owner and by the class of the data, as long as the owner exists.

    Data must not hold their owner, nor the configuration.
    """

    def __init__(self) -> None:
        self._data: WeakKeyDictionary[Hashable, list[Any]] = WeakKeyDictionary()

    def keep(self, owner: Hashable, data: Data) -> Data:
        """Keep data of an owner, in place of those of the same class, and return them."""
        own = self._data.setdefault(owner, [])
        own[:] = [other for other in own if type(other) is not type(data)]
        own.append(data)
        return data

    def find(self, owner: Hashable, kind: type[Data]) -> Data | None:
        """Return the data of a class, or None if the owner has none."""
        for data in self._data.get(owner, ()):
            if isinstance(data, kind):
                return data
        return None

    def drop(self, owner: Hashable, kind: type[Data]) -> None:
        """Forget the data of a class."""
        own = self._data.get(owner, [])
        own[:] = [data for data in own if type(data) is not kind]

    def of(self, owner: Hashable, kind: type[Data]) -> Data:
        """Return the data of a class.

        Raises
        ------
        ParameterError : the owner has none; it is not in this system.
        """
        found = self.find(owner, kind)
        if found is None:
            name = getattr(owner, "name", None)
            what = str(owner) if name is None else repr(name)
            raise ParameterError(
                f"{what} is not in this system: give it to System(...)", asked=name or str(owner)
            )
        return found
