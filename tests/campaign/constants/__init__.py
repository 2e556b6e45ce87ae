# SPDX-License-Identifier: BSD-3-Clause
"""The tuning constants of `solve`, `newton` and `contact`, and a test of each.

::

    python -m tests.campaign --constants           # each times 10 and 1/10: does its test fail?
    python -m tests.campaign --constants --find    # look for tests of those without one

`solve.md`, `newton.md` and `contact.md` name each constant of their room with its unit (1 for a
ratio), its meaning, and a test of a few seconds that fails when the constant is ten times larger or
ten times smaller; ``untested`` if none is known. `listing.py` reads tables and package, `runs.py`
runs tests with a scaled constant, `reads.py` notes which constants a test reads, `check.py` and
`find.py` are the two commands.
"""
