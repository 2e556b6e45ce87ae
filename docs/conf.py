# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of the documentation; `make docs` builds it in docs/_build/html.

Tutorials are run, and their pages show what they print and draw. SYMANCF_DOCS_EXECUTE=1 runs the
demos, too; without it their pages show text and code only. What was run is kept in docs/_build, and
run again where the page or the package has changed. See `_run` for kernels that do not answer.
"""

import hashlib
import inspect
import os
import re
import shutil
import sys
from importlib.metadata import files
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

import symancf
import symancf_codegen
from symancf import __version__

sys.path.insert(0, os.path.dirname(__file__))
from _reader import described, offer


def _package() -> str:
    """Return a hash of the sources that pages run."""
    found = hashlib.sha256()
    for package in (symancf, symancf_codegen):
        folder = Path(package.__path__[0])
        for path in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".c", ".h")):
            found.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return found.hexdigest()[:16]


project = "symancf"
author = "The symancf developers"
project_copyright = f"2026, {author}"
release = __version__
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "_gallery",
    "_run",
]
exclude_patterns = ["examples", "_build", "conf.py", "_*.py", "**/_*.py"]
templates_path: list[str] = []

# Demos are scripts of cells: a `# %% [markdown]` comment is text, a `# %%` one starts code.
nb_custom_formats = {".py": ["_reader.read", {}]}
nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parent / "_build" / ".cells" / _package())
nb_execution_excludepatterns = [] if os.environ.get("SYMANCF_DOCS_EXECUTE") else ["demos/*"]
nb_execution_timeout = 600
nb_execution_in_temp = True  # files that pages write are no pages
nb_execution_raise_on_error = True
nb_merge_streams = True

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

nitpicky = True  # links to what is not there are errors; types in docstrings are words
default_role = "py:obj"  # `Parameter` in a docstring is a link
nitpick_ignore_regex = [("py:(class|obj)", ".*")]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes once, though members are listed, too
suppress_warnings = ["ref.python"]  # `mass` is that of several classes


def _plain_bars(
    app: object, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Let |r| in docstrings be a length, not a substitution."""
    for k, line in enumerate(lines):
        parts = re.split(r"(``.*?``|:math:`.*?`)", line)
        parts[::2] = [re.sub(r"(?<!\\)\|", r"\|", part) for part in parts[::2]]
        lines[k] = "".join(parts)


def _described_items(
    app: object, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Let ``name : what it is`` describe it, where numpydoc would read a type.

    Paragraphs among such items go before all of them.
    """
    out: list[str] = []
    top = start = 0  # of the first section of items, and of that which a line is in
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-{3,}", after):
            start = len(out) if line in ("Parameters", "Attributes", "Raises") else 0
            top = top or start
        if start and (item := re.fullmatch(r"(\S[^:]*?) : (.+)", line)):
            out += [item[1], f"    {item[2]}"]
        elif start and len(out) > start + 1 and line and line[0] != " " and after[:1] != " ":
            out[top:top] = [line] if after else [line, ""]
            start, top = start + (1 if after else 2), top + (1 if after else 2)
        else:
            out.append(line)
    lines[:] = out


def _returned(
    app: object, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Let a text under Returns be one, where napoleon would look for a type before a colon."""
    for start in range(len(lines) - 2):
        if lines[start] != "Returns" or not re.fullmatch("-{3,}", lines[start + 1]):
            continue
        rest = range(start + 2, len(lines))
        end = next((k for k in rest if re.fullmatch("-{3,}", lines[k])), len(lines) + 1) - 1
        if not re.match(r"[^:]* : ", lines[start + 2]):
            text = lines[start + 2 : end]
            lines[start:end] = [
                "",
                "",
                ".. rubric:: Returns",
                "",
                *text,
                "",
            ]  # blank lines end fields
        return


def _of_the_assembly(
    app: object, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out what bodies and terms tell the assembly: those methods get its configuration."""
    if not inspect.isfunction(obj):
        return None
    return bool({"configuration", "layout"} & set(inspect.signature(obj).parameters)) or None


def _asks_nobody(app: Any, error: Exception | None) -> None:
    """Refuse pages that load anything from elsewhere."""
    if error is not None or app.builder.format != "html":
        return
    foreign = re.compile(r"""<(?:link\b[^>]*\bhref|[a-z]+\b[^>]*\bsrc)=["'](?:https?:)?//[^"']+""")
    for page in Path(app.outdir).rglob("*.html"):
        if found := foreign.search(page.read_text(encoding="utf-8")):
            raise ExtensionError(f"{page.name} needs the internet: {found[0]}")


def _of_this_package(app: Any, error: Exception | None) -> None:
    """Remove what other versions of the package have run."""
    kept = Path(nb_execution_cache_path)
    if error is None and kept.is_dir():
        for folder in kept.parent.iterdir():
            if folder != kept:
                shutil.rmtree(folder, ignore_errors=True)


def setup(app: Any) -> None:
    """Attach what is above to Sphinx, before napoleon."""
    app.connect("autodoc-process-docstring", _plain_bars, priority=400)
    app.connect("autodoc-process-docstring", _described_items, priority=400)
    app.connect("autodoc-process-docstring", _returned, priority=450)
    app.connect("autodoc-skip-member", _of_the_assembly)
    app.connect("build-finished", _asks_nobody)
    app.connect("build-finished", _of_this_package)
    app.connect("source-read", offer)
    app.connect("doctree-read", described)


html_theme = "furo"
html_title = "symancf"

# One file of MathJax with its glyphs as outlines beside the pages: the site asks nobody else.
mathjax_file = next(
    Path(str(path.locate()))
    for path in files("sphinx-mathjax-offline") or ()
    if path.name == "tex-svg-full.js"
)
html_search_scorer = str(Path(__file__).with_name("_scorer.js"))
html_static_path = ["_static", str(mathjax_file)]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
mathjax_path = mathjax_file.name
