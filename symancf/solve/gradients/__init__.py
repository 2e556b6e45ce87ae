# SPDX-License-Identifier: BSD-3-Clause
"""Goals: numbers that follow from the state, to be differentiated."""
