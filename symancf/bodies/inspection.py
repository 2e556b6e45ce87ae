# SPDX-License-Identifier: BSD-3-Clause
"""Inspection of an energy on an element: formulas, C text, operation counts."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from .. import elements, energies
from ..arrays import Array
from ..elements import Element
from ..errors import KinematicsError, ParameterError, SymancfError, closest
from ..kinematics.naming import Energy, signature
from ..laws import energy_laws
from ..laws.formulas import Function, latex, text
from ..runtime.copies import OneProcess
from ..runtime.files import write_whole
from ..runtime.jit import Kernel, cells, headers, identifier
from ..values import arguments
from ..values.functions import arguments_of
from ..values.parameter import label, reals

if TYPE_CHECKING:
    from types import ModuleType


Form = Literal["latex", "text", "c", "ops"]
C_FUNCTIONS = "energy", "residual", "tangent", "product"
FUNCTION = re.compile(r"^(?:static )?\w+ (\w+)\([^;{]*\)\s*\{.*?^\}$", re.M | re.S)


@dataclass(frozen=True)
class KernelText(OneProcess):
    """One function of a generated kernel, for reading, for NumPy and for C.

    ``print`` shows its C; called with coefficients it returns NumPy arrays; `export` writes files
    that a program in C includes.

    Attributes
    ----------
    function : its kind, ``energy``, ``residual``, ``tangent`` or ``product``.
    source : the whole file.
    ops : operations per quadrature point of each law, by kind.
    path : of the compiled library.

    Examples
    --------
    >>> import numpy as np
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> cube = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    >>> _, cells = mesh.slice("body")
    >>> X = mesh.fetch_points(cells)
    >>> K = cube.kernel("tangent")(0.1 * X, X)
    >>> K.shape, bool(np.allclose(K, K.transpose(0, 2, 1)))
    ((1, 24, 24), True)
    >>> cube.kernel("energy")(0.1 * X, X, mu=2.0).shape
    (1,)
    """

    function: str
    source: str
    ops: dict[str, dict[str, int]]
    path: Path
    kernel: Kernel = field(repr=False)
    values: Mapping[str, Any] = field(repr=False)

    def __call__(
        self, u: Array, reference: Array, v: Array | None = None, **parameters: Any
    ) -> Array:
        """Return what it finds in cells that know nothing of each other.

        Parameters
        ----------
        u : (cells, n, 3) coefficients of the displacement, one node after the other, at each its
            displacement and its derivatives by the parameters of the cell (xi, eta; by z) where
            the element has slopes.
        reference : (cells, n, 3) coefficients of the reference.
        v : of ``product``, in the shape of `u`.
        parameters : values in place of those of the body.

        Returns
        -------
        ``energy``: (cells,); ``residual`` and ``product``: in the shape of `u`; ``tangent``:
        (cells, 3 n, 3 n).

        Raises
        ------
        KinematicsError : of arrays of another shape; `ParameterError` : an unknown parameter.
        SymancfError : points are outside of the domain of the law.
        """
        u, reference = reals(u, finite=False), reals(reference, finite=False)
        n = self.kernel.rows // 3
        vectors = [("u", u), ("reference", reference)]
        if self.function == "product":
            vectors.append(("v", reals(np.nan if v is None else v, finite=False)))
        for name, vector in vectors:
            if u.ndim != 3 or vector.shape != (len(u), n, 3):
                raise KinematicsError(
                    f"kernel {self.kernel.name!r}: {name} has the shape {vector.shape}: give "
                    f"(cells, {n}, 3), as many of each",
                    asked=name,
                    given=vector.shape,
                    possible=((len(u), n, 3),),
                )
        for name in parameters:
            if name not in self.values:
                names = ", ".join(self.values)
                raise ParameterError(
                    f"kernel {self.kernel.name!r} has no parameter {name!r}; it has: {names}."
                    + closest(name, self.values),
                    asked=name,
                    possible=self.values,
                )
            value = reals(parameters[name])
            if value.shape not in ((), (len(u),)):
                raise ParameterError(
                    f"kernel {self.kernel.name!r}: {name} is {label(parameters[name])}: give a "
                    "number, or one for each cell",
                    asked=name,
                    given=parameters[name],
                )
        values = {**self.values, **parameters}
        call = getattr(self.kernel, self.function)
        results = call(*(vector for _, vector in vectors[:1] + vectors[2:]), reference, values)
        if results[-1]:
            raise SymancfError(
                f"kernel {self.kernel.name!r}: {results[-1]} points are outside of the domain of "
                "their law (J <= 0 or not finite)",
                asked="domain",
                given=int(results[-1]),
            )
        result: Array = results[-2]
        return result

    @property
    def text(self) -> str:
        """The C of this function, and of those at a point that it calls."""
        return one_function(self.kernel, self.function)

    def __str__(self) -> str:
        counts = (
            f" * {law}, per point: " + ", ".join(f"{n} {kind}" for kind, n in kinds.items())
            for law, kinds in self.ops.items()
        )
        return "\n".join([f"/* {self.kernel.name}_{self.function}", *counts, " */", self.text])

    def export(self, folder: str | Path) -> Path:
        """Write the kernel's C with all that it includes; return the header to include.

        ``cc -O3 -march=native -c kernel.c`` compiles it; see `docs/kernels.md`.
        """
        folder = arguments.path("KernelText.export", folder)
        name = self.kernel.name
        files = {header.name: header.read_text() for header in headers()}
        files |= {f"{name}.c": self.source, f"{name}.h": self.kernel.header}
        for file, content in files.items():
            write_whole(folder / file, content.encode())
        return folder / f"{name}.h"


def kernel_text(kernel: Kernel, function: str, values: Mapping[str, Any]) -> KernelText:
    """Return one function of a kernel of cells, for reading."""
    possible = sorted(next(iter(kernel.operations.values())))
    arguments.one_of("kernel(function)", function, possible)
    ops = {law: counts[function] for law, counts in kernel.operations.items()}
    return KernelText(function, kernel.source, ops, kernel.path, kernel, values)


def find_element(name: str) -> Element:
    """Return the element of a name.

    Raises
    ------
    KinematicsError : if there is none; it names those that there are.
    """
    by_name = {key: value for key, value in vars(elements).items() if isinstance(value, Element)}
    if name in by_name:
        return by_name[name]
    raise KinematicsError(
        f"there is no element {name!r}; there are {', '.join(by_name)}.{closest(name, by_name)}",
        asked=name,
        possible=by_name,
    )


def find_energy(name: str) -> Energy:
    """Return the energy ``name`` of the catalogue or ``name`` of a file, ``file.py:name``.

    A function that asks for nothing returns the energy.

    Raises
    ------
    KinematicsError : if file or function do not exist.
    """
    path, colon, function = name.rpartition(":")
    module = load(Path(path)) if colon else energies
    by_name = {
        key: value
        for key, value in vars(module).items()
        if inspect.isfunction(value)
        and f"{value.__module__}.".startswith(f"{module.__name__}.")
        and not key.startswith("_")
    }
    if function not in by_name:
        where = path if colon else "the catalogue"
        raise KinematicsError(
            f"there is no energy {function!r} in {where}; there are "
            f"{', '.join(by_name) or 'no functions'}.{closest(function, by_name)} An energy of "
            f"your own is named by file.py:function.",
            asked=function,
            possible=by_name,
        )
    energy: Energy = by_name[function]
    arguments = arguments_of(energy)
    return energy() if arguments.defaults.keys() >= {*arguments.names} else energy


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


def one_function(kernel: Kernel, function: str) -> str:
    """Return the C of one function of a kernel, and of those at a point that it calls."""
    own = f"{kernel.name}_{function}"
    ends = f"_{function}_at_point", f"_{function}_factors_at_point"
    return "\n\n".join(
        match[0]
        for match in FUNCTION.finditer(kernel.source)
        if match[1] == own or match[1].endswith(ends)
    )


def operations(kernels: Kernel, element: Element) -> Iterator[str]:
    """Yield a table: operations per point of the kernel's four functions, for each law."""
    yield f"{kernels.name}: {element.coordinates} coordinates, {element.cell}; {kernels.path}"
    kinds = sorted(
        {kind for law in kernels.operations.values() for f in law.values() for kind in f}
    )
    for law, functions in kernels.operations.items():
        yield ""
        yield f"{law}, operations per quadrature point"
        yield f"  {'':10}" + "".join(f"{kind:>8}" for kind in kinds) + f"{'sum':>8}"
        for function, counts in functions.items():
            numbers = [counts.get(kind, 0) for kind in kinds]
            yield f"  {function:10}" + "".join(f"{n:8}" for n in (*numbers, sum(numbers)))


def main(energy: str, element: str, *, form: Form = "ops", function: str | None = None) -> int:
    """Print the energy on the element as LaTeX, as text, as C, or as operation counts.

    `function`: what of it, by default the energy as formulas and all in C.

    Raises
    ------
    KinematicsError : energy, element or function do not exist.
    """
    law, where = find_energy(energy), find_element(element)
    formulas = get_args(Function)
    possible = {"latex": formulas, "text": formulas, "c": C_FUNCTIONS, "ops": ()}[form]
    if function is not None and function not in possible:
        raise KinematicsError(
            f"inspect --as {form} has no function {function!r}; it has: "
            f"{', '.join(possible) or 'none'}.{closest(function, possible)}",
            asked=function,
            possible=possible,
        )
    if form in ("latex", "text"):
        write = latex if form == "latex" else text
        lines = write(law, where, cast("Function", function or "energy"))
    elif form == "c":
        kernels = kernel(law, where)
        source = kernels.source if function is None else one_function(kernels, function)
        lines = iter(source.splitlines())
    else:
        lines = operations(kernel(law, where), where)
    for line in lines:
        print(line)
    return 0
