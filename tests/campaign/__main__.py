# SPDX-License-Identifier: BSD-3-Clause
"""Command line of the campaign; see the package."""

from __future__ import annotations

import argparse
import sys

from symancf.newton import AIDS

from .aids import table
from .classes import CLASSES
from .constants.check import check
from .constants.find import find
from .driver import campaign


def main() -> int:
    """Run the campaign and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--classes", nargs="+", choices=list(CLASSES), default=list(CLASSES))
    parser.add_argument("--share", type=float, default=1.0, help="of the cases of each class")
    parser.add_argument("--time", type=float, default=1500.0, help="seconds for all")
    parser.add_argument("--case", help="one case, as reported: CLASS.NUMBER")
    parser.add_argument("--constants", action="store_true", help="scale tuning constants instead")
    parser.add_argument("--find", nargs="+", metavar="FILE", help="tests of those without one in")
    parser.add_argument(
        "--aids", nargs="*", choices=list(AIDS), help="of Newton's method; see aids"
    )
    given = parser.parse_args()
    if given.constants:
        return int(bool(find(given.find, given.time) if given.find else check()))
    if given.aids is not None:
        return int(bool(table(given.aids or list(AIDS))))
    names, only = given.classes, None
    if given.case:
        name, number = given.case.split(".")
        names, only = [name], int(number)
    return int(bool(campaign(names, given.seed, given.ranks, given.share, given.time, only)))


if __name__ == "__main__":
    sys.exit(main())
