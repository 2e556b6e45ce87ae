# SPDX-License-Identifier: BSD-3-Clause
"""Equilibria: steps, paths, and the linear solvers they need."""
