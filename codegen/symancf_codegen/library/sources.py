# SPDX-License-Identifier: BSD-3-Clause
"""Cache of the sources that stages 2 to 7 make."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from symancf_codegen.errors import CodegenError
from symancf_codegen.library import cache
from symancf_codegen.progress import telling
from symancf_codegen.text.description import Description, Source

if TYPE_CHECKING:
    from pathlib import Path


def cached(name: str, key: str, make: Callable[[], Source]) -> Source:
    """Return description and text of the kernel with a fingerprint: from the cache, or made."""
    path = cache.folder() / cache.entry(name, key, ".json")
    source = _stored(path)
    if source is not None:
        return source
    with telling(f"deriving {name}"), cache.locked(path):
        source = _stored(path)  # another process may have made it in the meantime
        if source is None:
            source = _computed(name, make)
            content = {"description": asdict(source.description), "source": source.text}
            cache.write(path, json.dumps(content).encode())
    return source


def _computed(name: str, make: Callable[[], Source]) -> Source:
    try:
        return make()
    except RecursionError as error:
        raise CodegenError(
            f"kernel {name!r}: its expressions are nested too deep for SymPy; give parts of them "
            "names in the function's body, or write them with fewer levels",
            asked=name,
        ) from error
    except OverflowError as error:
        raise CodegenError(
            f"kernel {name!r}: a number in its derivatives is beyond the range of double precision "
            "(1.8e308): choose units in which its numbers are smaller",
            asked=name,
            given=str(error),
        ) from error


def _stored(path: Path) -> Source | None:
    """Return what a file of the cache says; None if there is none that can be understood."""
    content = cache.read(path)
    if content is None:
        return None
    try:
        entry = json.loads(content)
        fields = dict(entry["description"])
        fields.update({name: tuple(fields[name]) for name in ("uniform", "cell", "modes")})
        fields.update({name: tuple(fields[name]) for name in ("memory", "totals", "optional")})
        fields["points"] = tuple(map(tuple, fields["points"]))
        fields["outputs"] = tuple((law, n, tuple(names)) for law, n, names in fields["outputs"])
        return Source(Description(**fields), str(entry["source"]))
    except (ValueError, TypeError, KeyError):
        return None
