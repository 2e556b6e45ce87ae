# SPDX-License-Identifier: BSD-3-Clause
"""Stage 7: the C text of a kernel, and what it costs to run."""
