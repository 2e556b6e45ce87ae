# SPDX-License-Identifier: BSD-3-Clause
"""Objects that many terms share: laws, their derivatives, kernels.

A user's function is called anew for every term, so closures, defaults and globals count as they
are then. What follows from its result follows from the result's structure alone, which SymPy
compares exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")


class Shared(Generic[T]):
    """Objects by what they are made of, as long as something else has them."""

    def __init__(self) -> None:
        self._objects: WeakValueDictionary[Hashable, T] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._objects)

    def find(self, key: Hashable) -> T | None:
        """Return the object of a key, if there is one."""
        return self._objects.get(key)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the object of a key, made now if there is none; nothing is kept of an error.

        Parts of a key that have no hash belong to something that is about to be refused.
        """
        try:
            item = self._objects.get(key)
        except TypeError:
            return make()
        if item is None:
            item = self._objects[key] = make()
        return item
