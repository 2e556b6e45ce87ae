# SPDX-License-Identifier: BSD-3-Clause
"""Equations of constraints that others imply, or contradict."""
