# SPDX-License-Identifier: BSD-3-Clause
"""Stages 4 to 6: expressions as a graph of nodes, differentiated, cut and put in order."""
