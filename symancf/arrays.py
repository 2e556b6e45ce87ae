# SPDX-License-Identifier: BSD-3-Clause
"""The types of arrays, by what they hold; shapes stand in docstrings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
Ints = npt.NDArray[np.int64]  # ids and counts over all ranks
Ints32 = npt.NDArray[np.int32]  # numbers and offsets on this rank, as kernels take them
Integers = Ints | Ints32  # either
Data = npt.NDArray[np.generic]  # of any kind
Mask = npt.NDArray[np.bool_]
