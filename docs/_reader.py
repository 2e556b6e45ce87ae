# SPDX-License-Identifier: BSD-3-Clause
"""Read a demo, a Python script of ``# %%`` cells, as a notebook for its page."""

from __future__ import annotations

import ast
from typing import Any

import jupytext
from nbformat.v4 import new_code_cell, new_markdown_cell


def read(text: str, **_: Any) -> Any:
    """Return the notebook: the docstring is title and first text, unless a cell has a title."""
    lines = text.splitlines()
    module = ast.parse(text)
    title, _newline, rest = (ast.get_docstring(module) or "").partition("\n")
    if title:
        lines = lines[module.body[0].end_lineno :]
    notebook = jupytext.reads("\n".join(lines), fmt="py:percent")
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    first = notebook.cells[0] if notebook.cells else None
    if first is not None and first.cell_type == "markdown" and first.source.startswith("# "):
        heading, _newline, more = first.source.partition("\n")
        first.source = f"{heading}\n{rest}\n{more}"
    elif title:
        notebook.cells.insert(0, new_markdown_cell(f"# {title.rstrip('.')}\n{rest}"))
    # Run as a script a demo knows its own path; as a notebook it is run in its folder.
    path = new_code_cell('__file__ = "demo.py"', metadata={"tags": ["remove-cell"]})
    notebook.cells.insert(1, path)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "python"}
    return notebook
