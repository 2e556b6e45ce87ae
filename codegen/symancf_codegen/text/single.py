# SPDX-License-Identifier: BSD-3-Clause
"""The text of a kernel in single precision: half of the bytes."""

from __future__ import annotations

import re

from symancf_codegen.errors import CodegenError

_NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

#: Headers whose functions take double precision alone.
DOUBLE = "symancf_local.h", "symancf_principal.h"


def single_precision(name: str, text: str) -> str:
    """Return the text of a kernel with numbers in single precision.

    Raises
    ------
    CodegenError : its laws have unknowns of points, or speak of principal stretches.
    """
    for header in DOUBLE:
        if f'"{header}"' in text:
            raise CodegenError(
                f"kernel {name!r} cannot be in single precision: it includes {header}",
                asked="single",
                given=header,
            )
    head = _COMMENT.match(text)
    first = 0 if head is None else head.end()
    body = re.sub(r"\bdouble\b", "float", _NUMBER.sub(r"\1f", text[first:]))
    return f"{text[:first]}\n#define SYMANCF_SINGLE\n{body}"
