# SPDX-License-Identifier: BSD-3-Clause
"""Run how-tos as a reader would, and compare what they print: python docs/_pages.py [NAME ...].

Without a name it runs all of them; `make docs` does. A how-to has one script, which checks its
number itself, and the text that it prints; numbers may differ by one per cent.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = sorted((DOCS / "how-to").glob("*.md"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")


def script(page: Path) -> str:
    """Return the script of a page."""
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    return str(code)


def run(page: Path, folder: Path) -> None:
    """Run the script of a page in a folder.

    Raises
    ------
    AssertionError : it fails, warns, prints something else or leaves no picture.
    """
    text, code = page.read_text(encoding="utf-8"), script(page)
    (printed,) = re.findall(r"```text\n(.*?)```", text, re.S)
    path = folder / "how_to.py"
    path.write_text(code, encoding="utf-8")
    source = os.pathsep.join([str(DOCS.parent), str(DOCS.parent / "codegen")])
    done = subprocess.run(
        [sys.executable, path.name],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{page.name}: {done.stderr}"
    assert "Warning" not in done.stderr, f"{page.name}: {done.stderr}"
    out = done.stdout
    assert NUMBER.sub("#", out) == NUMBER.sub("#", printed), f"{page.name} prints\n{out}"
    for value, shown in zip(NUMBER.findall(out), NUMBER.findall(printed), strict=True):
        error = abs(float(value) - float(shown))
        assert error <= 1e-3 + 1e-2 * abs(float(shown)), f"{page.name}: {value} is not {shown}"
    for drawn in re.findall(r"results/(\w+\.png)", code):
        assert (folder / "results" / drawn).stat().st_size > 10_000, drawn
        assert f"../images/{drawn}" in text, drawn


def cpu() -> float:
    """Return the CPU time of the scripts that have ended [s]."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main(names: list[str]) -> None:
    """Run all pages, or those that are named."""
    for page in PAGES:
        if not names or page.stem in names:
            begun, used = time.monotonic(), cpu()
            with tempfile.TemporaryDirectory() as folder:
                run(page, Path(folder))
            took, used = time.monotonic() - begun, cpu() - used
            print(f"how-to {page.stem}: {took:.0f} s, CPU {used:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
