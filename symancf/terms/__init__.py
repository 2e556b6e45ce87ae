# SPDX-License-Identifier: BSD-3-Clause
"""Terms in general: entities of places, quantities, constraints and virtual work."""
