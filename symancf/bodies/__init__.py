# SPDX-License-Identifier: BSD-3-Clause
"""What moves: deformable bodies of cells, rigid bodies in the plane and in space."""
