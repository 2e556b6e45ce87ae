# SPDX-License-Identifier: BSD-3-Clause
"""Read a demo, a Python script of ``# %%`` cells, as a notebook for its page."""

from __future__ import annotations

import ast
from typing import Any

import jupytext
from nbformat.v4 import new_code_cell, new_markdown_cell


def read(text: str, **_: Any) -> Any:
    """Return the notebook: the docstring is its title and first text, the rest its cells."""
    lines = text.splitlines()
    module = ast.parse(text)
    docstring = ast.get_docstring(module)
    cells = []
    if docstring:
        lines = lines[module.body[0].end_lineno :]
        title, _newline, rest = docstring.partition("\n")
        cells.append(new_markdown_cell(f"# {title.rstrip('.')}\n{rest}"))
    # Run as a script a demo knows its own path; as a notebook it is run in its folder.
    path = '__file__ = "demo.py"'
    cells.append(new_code_cell(path, metadata={"tags": ["remove-cell"]}))
    notebook = jupytext.reads("\n".join(lines), fmt="py:percent")
    notebook.cells = cells + notebook.cells
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "python"}
    return notebook
