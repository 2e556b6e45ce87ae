# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that make goals small, by others' optimisers; models as functions of JAX and PyTorch.

Each is a few lines about an `Objective`, the goals as a function of the values of parameters.
"""

from .jax_binding import jax
from .scipy_binding import scipy
from .tao_binding import tao
from .torch_binding import torch

__all__ = ["jax", "scipy", "tao", "torch"]
