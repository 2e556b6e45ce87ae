# SPDX-License-Identifier: BSD-3-Clause
"""Errors in tests: their class and data are compared, not their sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def refused(kind: type[BaseException], **data: Any) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Expect an error of exactly this class with these attributes.

    Parameters
    ----------
    kind : the class; one that derives from it does not count.
    data : attributes of the error and their values, e.g. ``asked="mu", given=-1.0``. A function
        is called with the attribute and says whether it is right.

    Examples
    --------
    >>> with refused(sa.ParameterError, asked="mu", given=-1.0):
    ...     sa.Contact(upper, lower, mu=-1.0)
    """
    with pytest.raises(kind) as caught:
        yield caught
    assert type(caught.value) is kind
    require({name: getattr(caught.value, name) for name in data}, data, str(caught.value))


def require(error: Mapping[str, Any], data: Mapping[str, Any], text: str = "") -> None:
    """Raise where attributes of an error are others than expected; see `refused`."""
    for name, expected in data.items():
        found = error[name]
        right = expected(found) if callable(expected) else found == expected
        assert right, f"{name} of the error is {found!r}, not {expected!r}: {text}"


def likeliest(kind: str) -> Callable[[tuple[Any, ...]], bool]:
    """Return whether the first of an error's causes is of a kind, for `refused`."""
    return lambda causes: bool(causes) and causes[0].kind == kind
