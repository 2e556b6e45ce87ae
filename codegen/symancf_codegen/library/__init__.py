# SPDX-License-Identifier: BSD-3-Clause
"""Stages 8 and 9: C text to a shared library, cached, and its functions in Python."""
