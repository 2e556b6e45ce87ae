# SPDX-License-Identifier: BSD-3-Clause
"""The functions that a kernel may have, its *modes*: one table of names and operands.

Declarations, printer, binding and ``symancf_kernel.h``, with it the structures of the C runtime,
follow from the two tables here. The number of a mode is its place in `MODES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What an operand holds, and so how a kernel reads it or makes it of what laws say at points.
Shape = Literal[
    "scalar",
    "vector",
    "matrix",
    "diagonal",
    "coarse",
    "moments",
    "uniform",
    "cell",
    "points",
    "sums",
    "rows",
]


@dataclass(frozen=True)
class Operand:
    """An array that functions are given beside ``uniform``, ``cell`` and ``reference``.

    Attributes
    ----------
    name : of the argument in C.
    shape : ``scalar`` [8], a sum over the points; ``vector`` [rows][8], of the unknowns;
        ``matrix``, packed blocks; ``diagonal``, the blocks of each function with itself;
        ``coarse``, packed blocks of the functions of `Space.linear`; ``moments``, rows [8] of
        derivatives of forces by jets at all points, one after the other; ``uniform`` and
        ``cell``, as the parameters; ``points``, the rows [8] of a law at all points one after the
        other; ``sums`` [parameters][8] of uniform parameters and ``rows`` [parameters][8] of those
        per cell, to which functions add.
    meaning : one line for people.
    """

    name: str
    shape: Shape
    meaning: str


@dataclass(frozen=True)
class Mode:
    """One function of a kernel.

    Attributes
    ----------
    name : the function of kernel NAME is NAME_name.
    inputs, results : names of its operands, in the order of its arguments.
    """

    name: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]

    def result(self, shape: Shape) -> str | None:
        """Return the name of its result of a shape, None if there is none."""
        names = (name for name in self.results if OPERANDS[name].shape == shape)
        return next(names, None)

    @property
    def tabulates(self) -> bool:
        """Whether it tells something of each point; a kernel has one such function at most."""
        return self.result("points") is not None

    @property
    def sums(self) -> tuple[str, ...]:
        """The names of its results to which it adds what it finds."""
        return tuple(x for x in self.results if OPERANDS[x].shape in ("sums", "rows"))

    @property
    def arguments(self) -> str:
        """The operands as C declares them."""
        read = [f"const double *{name}" for name in self.inputs]
        return ", ".join([*read, *(f"double *{name}" for name in self.results)])


OPERANDS = {
    operand.name: operand
    for operand in (
        Operand("u", "vector", "unknowns"),
        Operand("v", "vector", "direction of the unknowns"),
        Operand("uniform_rate", "uniform", "direction of the uniform parameters"),
        Operand("cell_rate", "cell", "direction of the parameters per cell"),
        Operand("W", "scalar", "energy"),
        Operand("f", "vector", "residual, dW/du for an energy"),
        Operand("K", "matrix", "tangent df/du"),
        Operand("Kv", "vector", "tangent times v"),
        Operand("fX", "vector", "derivative of v . f + seed . update by the reference"),
        Operand("D", "diagonal", "blocks of K on the diagonal"),
        Operand("moments", "moments", "derivatives of the forces on jets by jets, at points"),
        Operand("Kc", "coarse", "P^T K P, of the linear functions of the corners: Space.linear"),
        Operand("fp", "vector", "df/d parameters times their direction"),
        Operand("O", "points", "PointLaw.outputs, or what points remember, PointLaw.history"),
        Operand("seed", "cell", "weights of what points remember, in its rows"),
        Operand("fv", "vector", "derivative of v . f + seed . update by the unknowns"),
        Operand("by_uniform", "sums", "derivative of it by the uniform parameters"),
        Operand(
            "by_cell", "rows", "derivative of it by parameters per cell and what is remembered"
        ),
    )
}

MODES = {
    mode.name: mode
    for mode in (
        Mode("energy", ("u",), ("W",)),
        Mode("residual", ("u",), ("f",)),
        Mode("tangent", ("u",), ("f", "K")),
        Mode("product", ("u", "v"), ("Kv",)),
        Mode("parameter", ("u", "uniform_rate", "cell_rate"), ("fp",)),
        Mode("outputs", ("u",), ("O",)),
        Mode("update", ("u",), ("O",)),
        Mode("initial", ("u",), ("O",)),
        Mode("pull", ("u", "v", "seed"), ("fv", "by_uniform", "by_cell")),
        Mode("diagonal", ("u",), ("D",)),
        Mode("coarse", ("u",), ("Kc",)),
        Mode("moments", ("u",), ("moments",)),
        Mode("multiply", ("moments", "v"), ("Kv",)),
        Mode("shape", ("u", "v", "seed"), ("fX",)),
    )
}

#: The functions that every solver needs. Others are compiled where they are asked for, into a
#: library of their own: a kernel without them is not longer by a line.
STANDARD = ("energy", "residual", "tangent", "product")

#: Those that are made of the derivative of the residual at points.
MOMENTS = ("tangent", "diagonal", "coarse", "moments")

#: Those that weigh the residual, one of which a kernel has at most.
WEIGHING = ("pull", "shape")

#: Arguments of all functions, before their operands.
COMMON = ("uniform", "cell", "reference")


def signature(name: str, mode: str) -> str:
    """Return the C declaration of function `mode` of kernel `name`."""
    head = f"int {name}_{mode}(int lanes, const double *uniform, const double *cell,"
    indent = " " * len(f"int {name}_{mode}(")
    return f"{head}\n{indent}const double *reference, {MODES[mode].arguments})"


def header() -> str:
    """Return the table as ``symancf_kernel.h`` has it, for programs in C."""
    rows = [f"MODE({m.name.upper()}, {m.name}, {m.arguments})" for m in MODES.values()]
    return " \\\n    ".join(["#define SYMANCF_MODES(MODE)", *rows]) + "\n"
