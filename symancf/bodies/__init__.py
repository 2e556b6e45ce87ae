# SPDX-License-Identifier: BSD-3-Clause
"""Bodies: deformable ones of cells, rigid ones in the plane and in space."""
