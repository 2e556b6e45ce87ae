# SPDX-License-Identifier: BSD-3-Clause
"""Contact with friction: points of surfaces and cables that must not enter other bodies."""
