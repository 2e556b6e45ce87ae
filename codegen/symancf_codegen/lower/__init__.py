# SPDX-License-Identifier: BSD-3-Clause
"""Stage 3: SymPy expressions as nodes of a graph."""
