# SPDX-License-Identifier: BSD-3-Clause
"""What symancf makes of an energy on an element: formulas, C text, operation counts."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import sympy as sp

from symancf_codegen.functions import derivative

from .. import elements, energies
from ..elements import Element
from ..errors import KinematicsError, closest
from ..kinematics.naming import Energy, signature
from ..laws import energy_laws
from ..runtime.jit import Kernel, cells, identifier

if TYPE_CHECKING:
    from types import ModuleType


Form = Literal["latex", "c", "ops"]


@dataclass(frozen=True)
class KernelText:
    """One function of a generated kernel, for reading."""

    function: str
    source: str
    ops: dict[str, dict[str, int]]
    path: Path


def find_element(name: str) -> Element:
    """Return the element of a name.

    Raises
    ------
    KinematicsError : if there is none; it names those that there are.
    """
    known = {key: value for key, value in vars(elements).items() if isinstance(value, Element)}
    if name in known:
        return known[name]
    raise KinematicsError(
        f"there is no element {name!r}; there are {', '.join(known)}.{closest(name, known)}",
        asked=name,
        offered=known,
    )


def find_energy(name: str) -> Energy:
    """Return the energy ``name`` of the catalogue or ``name`` of a file, ``file.py:name``.

    A function that makes energies, all of whose arguments have defaults, is called without any.

    Raises
    ------
    KinematicsError : if file or function do not exist.
    """
    path, colon, function = name.rpartition(":")
    module = load(Path(path)) if colon else energies
    known = {
        key: value
        for key, value in vars(module).items()
        if inspect.isfunction(value)
        and f"{value.__module__}.".startswith(f"{module.__name__}.")
        and not key.startswith("_")
    }
    if function not in known:
        where = path if colon else "the catalogue"
        raise KinematicsError(
            f"there is no energy {function!r} in {where}; there are "
            f"{', '.join(known) or 'no functions'}.{closest(function, known)} An energy of your "
            f"own is named by file.py:function.",
            asked=function,
            offered=known,
        )
    arguments = inspect.signature(known[function]).parameters.values()
    if all(argument.default is not argument.empty for argument in arguments):
        made: Energy = known[function]()
        return made
    return known[function]


def load(path: Path) -> ModuleType:
    """Import a Python file by its path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise KinematicsError(f"there is no Python file {path}", asked=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses and pickle look a function's module up
    spec.loader.exec_module(module)
    return module


def kernel(energy: Energy, element: Element) -> Kernel:
    """Return the kernel of the energy on the element, with all parameters uniform."""
    name = identifier(f"{signature(energy).name}_{element.name}")
    return cells(name, element.space, energy_laws(element, energy))


def plain(energy: Energy, element: Element) -> tuple[dict[str, sp.Expr], dict[str, sp.Basic]]:
    """Return the parts of the energy in the symbols of its quantities, and these symbols.

    A matrix quantity such as F is a matrix of the symbols F11, F12, ...
    """
    asked = signature(energy)
    energy_laws(element, energy)  # raises what is wrong with it
    offered = element.kinematics().quantities
    symbols: dict[str, sp.Basic] = {}
    for name in asked.quantities:
        value = offered[name].value
        if isinstance(value, sp.MatrixBase):
            rows, columns = value.shape
            symmetric = rows == columns and value == value.T
            symbols[name] = sp.Matrix(rows, columns, entries(name, columns, symmetric))
        else:
            symbols[name] = sp.Symbol(name, real=True)
    parameters = {name: sp.Symbol(name, real=True) for name in asked.parameters}
    result = energy(*symbols.values(), **parameters)
    parts = dict(result) if isinstance(result, Mapping) else {"": result}
    return parts, symbols


def entries(name: str, columns: int, symmetric: bool) -> Callable[[int, int], sp.Symbol]:
    """Return the function that names the entries of a vector or matrix."""

    def entry(i: int, k: int) -> sp.Symbol:
        i, k = int(i) + 1, int(k) + 1
        if columns == 1:
            return sp.Symbol(f"{name}{i}", real=True)
        return sp.Symbol(f"{name}{min(i, k) if symmetric else i}{max(i, k) if symmetric else k}")

    return entry


def written(parts: Mapping[str, sp.Expr], sign: str = "=") -> list[str]:
    """Return the parts of an energy in LaTeX, W = ..."""
    names = {part: rf"W_\mathrm{{{part}}}" if part else "W" for part in parts}
    return [f"{names[part]} {sign} {sp.latex(parts[part])}" for part in parts]


def latex(energy: Energy, element: Element) -> Iterator[str]:
    """Yield LaTeX lines: the energy, its derivatives by its quantities, their meaning."""
    parts, symbols = plain(energy, element)
    kinematics = element.kinematics()
    yield f"% {signature(energy).name} on {element.name}, W in {kinematics.unit}"
    yield r"\begin{align*}"
    for formula in written(parts, "&="):
        yield rf"{formula} \\"
    total = sp.Add(*parts.values())
    for symbol in symbols.values():
        for scalar in dict.fromkeys(symbol) if isinstance(symbol, sp.MatrixBase) else [symbol]:
            slope = derivative(total, scalar)
            if slope != 0:
                yield (
                    rf"\frac{{\partial W}}{{\partial {sp.latex(scalar)}}} &= "
                    rf"{sp.latex(slope)} \\"
                )
    yield r"\end{align*}"
    for name in symbols:
        yield f"% {name}: {kinematics.quantities[name].meaning}"


def operations(made: Kernel, element: Element) -> Iterator[str]:
    """Yield a table: operations per point of the kernel's four functions, for each law."""
    yield f"{made.name}: {element.coordinates} coordinates, {element.cell}; {made.path}"
    kinds = sorted({kind for law in made.operations.values() for f in law.values() for kind in f})
    for law, functions in made.operations.items():
        yield ""
        yield f"{law}, operations per quadrature point"
        yield f"  {'':10}" + "".join(f"{kind:>8}" for kind in kinds) + f"{'sum':>8}"
        for function, counts in functions.items():
            numbers = [counts.get(kind, 0) for kind in kinds]
            yield f"  {function:10}" + "".join(f"{n:8}" for n in (*numbers, sum(numbers)))


def main(energy: str, element: str, *, form: Form = "ops") -> int:
    """Print the energy on the element as LaTeX, as C, or as operation counts."""
    function, where = find_energy(energy), find_element(element)
    if form == "latex":
        lines = latex(function, where)
    elif form == "c":
        lines = iter(kernel(function, where).source.splitlines())
    else:
        lines = operations(kernel(function, where), where)
    for line in lines:
        print(line)
    return 0
