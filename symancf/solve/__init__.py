# SPDX-License-Identifier: BSD-3-Clause
"""Equilibria, paths and motions of systems."""
