# SPDX-License-Identifier: BSD-3-Clause
"""Stage 2: laws rewritten so that small strains lose no digits, and what is lost without."""
