# SPDX-License-Identifier: BSD-3-Clause
"""Read a demo or tutorial, a Python script of ``# %%`` cells, as a notebook for its page.

A tutorial's page offers the script and a notebook to download, which is made here.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import jupytext
from docutils import nodes
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell
from sphinx.errors import ExtensionError


def read(text: str, **_: Any) -> Any:
    """Return the notebook: the docstring is title and first text, unless a cell has a title.

    Of cells of code titles are left out: see `described`.
    """
    lines = text.splitlines()
    module = ast.parse(text)
    title, _newline, rest = (ast.get_docstring(module) or "").partition("\n")
    if title:
        lines = lines[module.body[0].end_lineno :]
    notebook = jupytext.reads("\n".join(lines), fmt="py:percent")
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("title", None)
    first = notebook.cells[0] if notebook.cells else None
    if first is not None and first.cell_type == "markdown" and first.source.startswith("# "):
        heading, _newline, more = first.source.partition("\n")
        first.source = f"{heading}\n{rest}\n{more}"
    elif title:
        notebook.cells.insert(0, new_markdown_cell(f"# {title.rstrip('.')}\n{rest}"))
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "python"}
    if "__file__" in text:  # run as a script a demo knows its own path
        here = str(Path(__file__).with_name("demos") / "demo.py")
        path = new_code_cell(f"__file__ = {here!r}", metadata={"tags": ["remove-cell"]})
        notebook.cells.insert(1, path)
    return notebook


def offer(app: Any, name: str, source: list[str]) -> None:
    """Make a tutorial's notebook, and let its page offer it and the script."""
    if not name.startswith("tutorials/") or not source[0].startswith("# SPDX"):
        return
    notebook = read(source[0])
    for cell in notebook.cells:
        if cell.cell_type == "markdown":  # links to pages lead nowhere from a notebook
            cell.source = re.sub(r"\[([^]]+)\]\([^):]+\)", r"*\1*", cell.source)
    path = Path(app.srcdir, "_build", "notebooks", f"{name}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    write(notebook, path)
    stem = path.stem
    files = (
        f"{{download}}`{stem}.py </{name}.py>` (script), "
        f"{{download}}`{stem}.ipynb </_build/notebooks/{name}.ipynb>` (notebook)"
    )
    source[0] = re.sub(r'(?<=""")(.*)\n', rf"\1\n\n*Download:* {files}\n", source[0], count=1)


def described(app: Any, doctree: nodes.document) -> None:
    """Give pictures that code draws their alternative texts: ``# %% Text`` begins its cell.

    Raises
    ------
    ExtensionError : there are more or fewer texts than pictures.
    """
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".py" or path.parent.name != "tutorials":
        return
    texts = re.findall(r"^# %% (?!\[)(.+)$", path.read_text(encoding="utf-8"), re.M)
    outputs = [c for c in doctree.findall(nodes.container) if "cell_output" in c["classes"]]
    images = [image for output in outputs for image in output.findall(nodes.image)]
    if images and len(images) != len(texts):
        raise ExtensionError(
            f"{path.name} draws {len(images)} pictures, and has {len(texts)} texts"
        )
    for image, text in zip(images, texts, strict=False):
        image["alt"] = text
