# SPDX-License-Identifier: BSD-3-Clause
"""``python -m symancf`` is the command ``symancf``."""

import sys

from .command.cli import main

if __name__ == "__main__":
    sys.exit(main())
