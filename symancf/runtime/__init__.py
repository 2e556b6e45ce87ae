# SPDX-License-Identifier: BSD-3-Clause
"""The runtime: ranks, PETSc, compiled libraries, files, the terminal."""
