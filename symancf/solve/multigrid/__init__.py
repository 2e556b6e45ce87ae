# SPDX-License-Identifier: BSD-3-Clause
"""Multigrid for large solids, with coarse spaces on auxiliary grids."""
