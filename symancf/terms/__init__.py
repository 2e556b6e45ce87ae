# SPDX-License-Identifier: BSD-3-Clause
"""What acts on bodies, in general: entities of places, quantities, constraints and virtual work."""
