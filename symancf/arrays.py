# SPDX-License-Identifier: BSD-3-Clause
"""The types of arrays, by what they hold; shapes stand in docstrings. Their addresses for C."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
Ints = npt.NDArray[np.int64]  # ids and counts over all ranks
Ints32 = npt.NDArray[np.int32]  # numbers and offsets on this rank, as kernels take them
Integers = Ints | Ints32  # either
Data = npt.NDArray[np.generic]  # of any kind
Mask = npt.NDArray[np.bool_]
DType = np.dtype[Any]


def address(array: Data) -> int:
    """Return the address of the values of an array, which C takes one after the other.

    Raises
    ------
    ValueError : the array is not contiguous (``C_CONTIGUOUS``), such as a row of a transposed one.
    """
    try:  # NumPy takes longer
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))
    except (TypeError, ValueError, BufferError):  # read-only, empty, or not contiguous
        pass
    if not array.flags.c_contiguous:
        raise ValueError(
            f"an array of {array.shape} with strides {array.strides} is not contiguous"
        )
    return int(array.ctypes.data)


def pointer(array: Data) -> ctypes.c_void_p:
    """Return `address` as an argument of a function of C."""
    return ctypes.c_void_p(address(array))


class CStructure(ctypes.Structure):
    """A structure of C.

    Attributes
    ----------
    kinds : types of the arrays to which fields point, and whether C only reads them (``const``).
    """

    kinds: ClassVar[dict[str, tuple[DType, bool]]] = {}

    def give(self, **values: Any) -> None:
        """Set fields, those that are addresses to arrays.

        What C only reads is copied where its type is another one, or it is not contiguous.

        Raises
        ------
        TypeError : C would write into a copy, or read other numbers.
        """
        arrays = vars(self).setdefault("_arrays", {})  # which live as long
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                kind, constant = self.kinds[name]
                arrays[name] = np.ascontiguousarray(value, kind)
                if arrays[name] is not value and not (
                    constant and np.array_equal(arrays[name], value)
                ):
                    raise TypeError(
                        f"{type(self).__name__}.{name}: an array of {value.dtype} with strides "
                        f"{value.strides} for {'const ' if constant else ''}{kind} of C"
                    )
                value = address(arrays[name])
            setattr(self, name, value)
