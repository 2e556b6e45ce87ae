# SPDX-License-Identifier: BSD-3-Clause
"""Run the notebooks of pages: again where a kernel does not answer, and no longer than a limit.

On a slow machine a kernel may not start in time, or die for want of memory. The page is then run
anew, `TRIES` times in all; what its own code raises is an error at once. A page that takes longer
than `LIMIT` seconds of clock is ended. Every message names the page.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import time
import traceback
from copy import deepcopy
from pathlib import Path
from typing import Any

import myst_nb.core.execute.cache as cache
from jupyter_cache.executors.utils import ExecutionResult
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from sphinx.util import logging

TRIES = 3
START = 120  # seconds in which a kernel is to answer at first
LIMIT = float(os.environ.get("SYMANCF_DOCS_LIMIT", "1800"))  # seconds for a page

log = logging.getLogger(__name__)


class PageTimeout(TimeoutError):
    """A page has taken longer than `LIMIT`."""


async def _within(client: NotebookClient, limit: float) -> None:
    await asyncio.wait_for(client.async_execute(), limit)


def run(
    notebook: Any,
    cwd: str,
    page: str,
    timeout: float | None,
    limit: float = LIMIT,
    start: float = START,
) -> ExecutionResult:
    """Run a page's notebook in place, a few times if need be.

    Parameters
    ----------
    timeout : seconds for one cell.
    limit, start : seconds for the page, and in which a kernel is to answer.
    """
    begun, fresh = time.monotonic(), deepcopy(notebook.cells)
    for tried in range(1, TRIES + 1):
        notebook.cells = deepcopy(fresh)
        client = NotebookClient(
            notebook,
            timeout=timeout,
            startup_timeout=int(start),
            resources={"metadata": {"path": cwd}},
        )
        try:
            asyncio.run(_within(client, limit))
            return ExecutionResult(notebook, cwd, time.monotonic() - begun)
        except CellExecutionError as error:  # the page's own
            said = traceback.format_exc()
            return ExecutionResult(notebook, cwd, time.monotonic() - begun, error, said)
        except Exception as error:  # a kernel that does not answer, or a limit
            late = type(error) is TimeoutError
            what = f"took longer than {limit:g} s" if late else f"failed: {error!r}"
            said = traceback.format_exc()
            if late or tried == TRIES:
                error = PageTimeout(f"{page} {what}") if late else error
                log.warning("%s %s (try %d of %d)", page, what, tried, TRIES)
                return ExecutionResult(notebook, cwd, time.monotonic() - begun, error, said)
            log.info("%s %s; run again, try %d of %d", page, what, tried + 1, TRIES)
        finally:
            atexit.unregister(client._cleanup_kernel)  # done; it fails where a kernel is gone
    raise AssertionError


def setup(app: Any) -> dict[str, bool]:
    """Let MyST-NB run pages by `run`."""
    begin = cache.NotebookClientCache.start_client

    def start_client(client: Any) -> None:
        page = str(client.path)
        if client.path is not None and Path(app.srcdir) in client.path.parents:
            page = str(client.path.relative_to(app.srcdir))

        def of_page(notebook: Any, cwd: str, timeout: float | None, **_: Any) -> ExecutionResult:
            return run(notebook, cwd, page, timeout)

        cache.single_nb_execution = of_page
        begin(client)

    cache.NotebookClientCache.start_client = start_client
    return {"parallel_read_safe": False}
