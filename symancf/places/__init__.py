# SPDX-License-Identifier: BSD-3-Clause
"""Places that terms act on: nodes, points, facets, lines of bodies and of the ground."""
