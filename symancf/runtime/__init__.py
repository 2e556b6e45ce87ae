# SPDX-License-Identifier: BSD-3-Clause
"""What a run stands on: ranks, PETSc, compiled libraries, files, the terminal."""
