# SPDX-License-Identifier: BSD-3-Clause
"""Assembly: coordinates and their numbers, the tangent, the assembler of all terms."""
