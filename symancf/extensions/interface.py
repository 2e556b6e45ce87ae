# SPDX-License-Identifier: BSD-3-Clause
"""Names for extensions beside those of `symancf` and `symancf.output`.

Each name has its line in docs/extensions.md; they are public like those of the package.
"""

from __future__ import annotations

from symancf_codegen import declare
from symancf_codegen.functions import frozen, symbolic
from symancf_codegen.legendre import gauss_legendre

from ..arrays import Array, Ints, Mask
from ..assembly.configuration import (
    Configuration,
    Discretised,
    Layout,
    discrete_system,
    in_system,
)
from ..assembly.form import Form, Role
from ..assembly.protocol import Carriers
from ..bodies.plane.body import PlanarPoint, place_of, rotation, turned
from ..cells import CELLS, Cell, gauss
from ..contact.shapes import RigidShape
from ..errors import argument, closest
from ..mesh.box import MEMORY
from ..mesh.conformity import hashes
from ..mesh.sides import Meeting, Sides, cells_of, sides_of
from ..output.image import (
    DOTS,
    STYLE,
    WIDTH,
    Diagram,
    Image,
    blank,
    film_path,
    image_path,
    require_drawable,
    styled,
)
from ..output.samples import is_symmetric
from ..output.shapes import shape_at_rest
from ..places.ends import Ground
from ..runtime.collective import together
from ..runtime.copies import OneProcess
from ..runtime.display import Displayable
from ..runtime.files import new_file, write_whole, writing
from ..runtime.jit import Kernel
from ..runtime.jit import headers as kernel_headers
from ..runtime.jit import points as point_kernel
from ..runtime.progress import Progress
from ..terms.entities import Entities
from ..values import arguments
from ..values.parameter import (
    Scalar,
    call,
    call_array,
    direction,
    evaluate,
    label,
    reals,
)

__all__ = [
    "CELLS",
    "DOTS",
    "MEMORY",
    "STYLE",
    "WIDTH",
    "Array",
    "Carriers",
    "Cell",
    "Configuration",
    "Diagram",
    "Discretised",
    "Displayable",
    "Entities",
    "Form",
    "Ground",
    "Image",
    "Ints",
    "Kernel",
    "Layout",
    "Mask",
    "Meeting",
    "OneProcess",
    "PlanarPoint",
    "Progress",
    "RigidShape",
    "Role",
    "Scalar",
    "Sides",
    "argument",
    "arguments",
    "blank",
    "call",
    "call_array",
    "cells_of",
    "closest",
    "declare",
    "direction",
    "discrete_system",
    "evaluate",
    "film_path",
    "frozen",
    "gauss",
    "gauss_legendre",
    "hashes",
    "image_path",
    "in_system",
    "is_symmetric",
    "kernel_headers",
    "label",
    "new_file",
    "place_of",
    "point_kernel",
    "reals",
    "require_drawable",
    "rotation",
    "shape_at_rest",
    "sides_of",
    "styled",
    "symbolic",
    "together",
    "turned",
    "write_whole",
    "writing",
]
