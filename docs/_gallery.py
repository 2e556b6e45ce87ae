# SPDX-License-Identifier: BSD-3-Clause
"""Cards of demos and pages: a picture, what it is, and how long it takes, from the demo itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from symancf.command.demos import duration, summary

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: what ends or formats the text beside a picture
UNQUOTED = r"[\[\]`*]"


class Gallery(SphinxDirective):
    """``PAGE | PICTURE | Title: sentence`` on each line; demos have their own, and their duration.

    Pages and pictures are relative to the page with the gallery.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return a grid of cards."""
        grid = nodes.container(classes=["gallery"])
        for line in self.content:
            page, picture, *said = (part.strip() for part in line.split("|"))
            script = Path(self.env.doc2path(self.env.docname)).parent / f"{page}.py"
            takes = duration(script) if script.is_file() else ""
            if not said:
                said = [summary(script)]
                self.env.note_dependency(str(script))
            title, _colon, rest = said[0].partition(": ")
            card = nodes.container(classes=["card"])
            link = f"[{title}]({page})"
            shown = f"[![{re.sub(UNQUOTED, '', said[0])}]({picture})]({page})"
            words = f"**{link}**{f' ({takes})' if takes else ''}: {rest}"
            self.state.nested_parse([shown, "", words], self.content_offset, card)
            grid += card
        return [grid]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive and its style."""
    app.add_directive("gallery", Gallery)
    app.add_css_file("gallery.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
