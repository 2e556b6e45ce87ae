# SPDX-License-Identifier: BSD-3-Clause
"""Results of eigenproblems: numbers with shapes, for tables, files, pictures and animations."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Complex
from ...errors import ParameterError, SymancfError
from ...output import Samples, Series
from ...output.sampling import sample
from ...runtime.console import plain_console
from ...runtime.copies import Portable
from ...values import arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.table import Table

    from ...bodies.body import Body
    from ...bodies.natural import RigidBody
    from ...system import System
    from ..gradients.gradient import Gradient, Variable

AMPLITUDE = 0.1  # of the largest body: the largest displacement that is drawn
AXES = ("x", "y", "z")


class Shapes(Portable):
    """Shapes of a system about a state, one for each number that was found.

    Attributes
    ----------
    system, base : with the state (local vector) that they are shapes about.
    shapes : local vectors (m, coordinates); complex where the numbers are.
    checked : True: all eigenvalues up to the last one are there: the signs of a factorisation
        count them, or with unsymmetric matrices or rates another search beside those found came
        upon none, or all of the system are known; False: some are missing; None: it is not known
        (no MUMPS; nearly as many as there are).
    """

    title = "shapes"
    _of_process: ClassVar = {"_system": lambda: None}
    _distributed = "send what is the same on every rank, such as modes.frequencies"

    def __init__(self, system: System, shapes: Array, checked: bool | None) -> None:
        self._system: System | None = system
        self.shapes, self.checked = shapes, checked
        self.base = system.state.copy()
        numbering = system._discrete.numbering
        self._at = np.concatenate(
            [np.zeros((0, 3), dtype=np.int32)]
            + [
                numbering.coordinates_of(k)
                for k, block in enumerate(numbering.blocks)
                if block.kind == "position" and block.size == 3
            ]
        )

    @property
    def system(self) -> System:
        """The system that they are shapes of.

        Raises
        ------
        SymancfError : they come from another process and have none.
        """
        if self._system is None:
            raise SymancfError(
                f"{self.title} that another process has sent have numbers and shapes but no "
                "system: draw, sample and write them where the system is",
                asked="system",
            )
        return self._system

    @property
    def _ranks(self) -> int:
        """The number of ranks that share them."""
        return 1 if self._system is None else self._system.comm.size

    def __len__(self) -> int:
        """Number of shapes."""
        return len(self.shapes)

    def caption(self, k: int) -> str:
        """Return the number of a shape in words."""
        return f"{k + 1}"

    def largest(self, k: int) -> float:
        """Return the largest displacement of a node in a shape (collective)."""
        moved = np.linalg.norm(np.abs(self.shapes[self._number(k)][self._at]), axis=1)
        return float(self.system.comm.allreduce(float(moved.max(initial=0.0)), op=MPI.MAX))

    def _number(self, k: int) -> int:
        if not -len(self) <= k < len(self):
            raise ParameterError(
                f"{self.title}: there is no shape {k!r}; there are {len(self)}",
                asked="shape",
                given=k,
                possible=range(len(self)),
            )
        return int(k)

    def state(self, k: int, amplitude: float | None = None, phase: float = 0.0) -> Array:
        r"""Return the state (local vector) moved by a shape (collective).

        :math:`q + a\,\mathrm{Re}(x e^{i \varphi})`; give it to `sa.sample(..., state=...)`.

        Parameters
        ----------
        k : number of the shape, from 0.
        amplitude : largest displacement of a node [m]; default: a tenth of the largest body.
        phase : phi [rad].
        """
        size = self.largest(k) or 1.0
        far = AMPLITUDE * self.system._discrete.extent
        if amplitude is not None:
            far = arguments.number(self.title, "amplitude", amplitude, "be a length")
        turned = np.real(self.shapes[self._number(k)] * np.exp(1j * phase))
        return np.asarray(self.base + far / size * turned)

    def samples(
        self,
        body: Body | RigidBody,
        k: int,
        amplitude: float | None = None,
        phase: float = 0.0,
        **options: Any,
    ) -> Samples:
        """Return a body moved by a shape, see `sa.sample` for `options` (collective).

        The point data ``shape`` is the displacement by the shape alone.
        """
        samples = sample(self.system, body, state=self.state(k, amplitude, phase), **options)
        rest = sample(self.system, body, state=self.base, **options)
        moved: Array = np.subtract(samples.points, rest.points)
        samples.point_data["shape"] = moved
        return samples

    def scenes(self, body: Body | RigidBody, count: int = 6, **options: Any) -> dict[str, Samples]:
        """Return the first shapes of a body by their captions, for `sa.view.render` (collective).

        Give that ``field="shape"`` for colours by the displacement of the shape.
        """
        some = range(min(count, len(self)))
        return {self.caption(k): self.samples(body, k, **options) for k in some}

    def frames(
        self, body: Body | RigidBody, k: int, frames: int = 24, **options: Any
    ) -> list[Samples]:
        """Return a body in one period of a shape, for `sa.view.animate` (collective)."""
        phases = 2.0 * math.pi * np.arange(frames) / frames
        return [self.samples(body, k, phase=float(phi), **options) for phi in phases]

    def write(
        self, path: str | Path, bodies: Mapping[str, Body | RigidBody], **options: Any
    ) -> Series:
        """Write all shapes for ParaView, a .pvd whose times are their numbers (collective)."""
        series = Series(path, self.system.comm)
        for k in range(len(self)):
            state = {name: self.samples(body, k, **options) for name, body in bodies.items()}
            series.write(float(k + 1), state)
        return series

    # ---- tables ---------------------------------------------------------------------------------
    def columns(self) -> dict[str, list[str]]:
        """Return the columns of the table."""
        return {"": [str(k + 1) for k in range(len(self))]}

    def table(self) -> Table:
        """Return a table of rich."""
        from rich.table import Table

        columns = self.columns()
        table = Table(*columns, title=self.title, title_justify="left")
        for column in table.columns:
            column.justify = "right"
            column.no_wrap = True
        for row in zip(*columns.values(), strict=True):
            table.add_row(*row)
        return table

    def __str__(self) -> str:
        """Return the table as text."""
        out = io.StringIO()
        plain_console(least=100, file=out).print(self.table())
        return out.getvalue().rstrip() + "\n" + self.note()

    def note(self) -> str:
        """Tell whether all were found."""
        if self.checked is None:
            return "not known whether one is missing: PETSc has no MUMPS, or there are hardly more"
        return "none is missing" if self.checked else "NOT all that were asked for were found"


@dataclass(frozen=True)
class Participation:
    r"""What takes part in modes of rigid motions d of the whole system.

    Attributes
    ----------
    factors : (m, 6) :math:`x^T M d`, translations along and rotations about the axes through
        `about`; of modes with :math:`x^T M x = 1`.
    total : (6,) :math:`d^T M d`, the mass [kg] and the moments of inertia [kg m^2].
    about : (3,) the mean of all nodes.
    """

    factors: Array
    total: Array
    about: Array

    @property
    def effective(self) -> Array:
        """Effective masses (m, 6), the squares of the factors."""
        return np.asarray(np.abs(self.factors) ** 2)

    @property
    def share(self) -> Array:
        """Of the total (m, 6); zero where that is."""
        safe = np.where(self.total > 0.0, self.total, 1.0)
        return np.where(self.total > 0.0, self.effective / safe, 0.0)


class Modes(Shapes):
    r"""Modes :math:`q + x e^{s t}` of small vibrations, the slowest first.

    Attributes
    ----------
    eigenvalues : (m,) complex s [1/s]; :math:`i \omega` without damping, real and positive where
        the state is unstable, exactly zero for rigid motions.
    shapes : x, local vectors, with :math:`x^H M x = 1` (units of coordinates by kg^0.5).
    rigid : number of modes with frequency zero to round-off: rigid motions, mechanisms.
    unstable : number of modes that grow.
    participation : `Participation` of rigid motions.
    """

    title = "modes"

    def __init__(
        self,
        system: System,
        eigenvalues: Complex,
        shapes: Array,
        checked: bool | None,
        participation: Participation,
        *,
        symmetric: bool = False,
        near: float | None = None,
        complete: bool = False,
    ) -> None:
        super().__init__(system, shapes, checked)
        self.eigenvalues, self.participation = eigenvalues, participation
        self._symmetric = symmetric  # are they those of symmetric matrices without rates?
        self._near = near  # frequency [Hz] next to which they were looked for
        self._complete = complete  # are there no others?

    @property
    def omega(self) -> Array:
        """Circular frequencies (m,), |Im s| [rad/s]."""
        return np.abs(self.eigenvalues.imag)

    @property
    def frequencies(self) -> Array:
        """Frequencies (m,), |Im s|/(2 pi) [Hz]."""
        return np.asarray(self.omega / (2.0 * math.pi))

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios (m,), -Re s/|s|: 0 undamped, 1 critical, negative: grows."""
        size = np.abs(self.eigenvalues)
        return np.where(size > 0.0, -self.eigenvalues.real / np.where(size > 0.0, size, 1.0), 0.0)

    @property
    def rigid(self) -> int:
        """Number of modes with frequency zero."""
        return int((self.eigenvalues == 0.0).sum())

    @property
    def unstable(self) -> int:
        """Number of modes that grow."""
        return int((self.eigenvalues.real > 0.0).sum())

    @property
    def squares(self) -> Array:
        """Squares of circular frequencies (m,) [1/s^2], negative where the state is unstable."""
        return np.asarray(-(self.eigenvalues**2).real)

    def gradient(
        self,
        parameters: Sequence[Variable],
        modes: int | Sequence[int] = 0,
        *,
        of: Literal["sum", "product"] = "sum",
    ) -> Gradient:
        r"""Return the derivatives of the square of a circular frequency (collective).

        Of a simple mode, with :math:`x^T M x = 1`,

        .. math::
            \frac{d\omega^2}{dp} = \partial_p (x \cdot K x) + y \cdot R_p
            - \omega^2 x \cdot M_p x, \qquad K^T y = -\partial_u (x \cdot K x) :

        the equilibrium and its stresses follow the parameters. Those of a repeated one, up to a
        relative gap of 1e-6, have no derivatives each: give all of them, whose sum and product
        have, or see `directional`.

        Parameters
        ----------
        parameters : `Parameter`, `Field` with values and `Series`.
        modes : the number of a mode, from 0, or numbers of several.
        of : the sum of their squares, or the product.

        Returns
        -------
        Gradient : ``value`` is :math:`\omega^2` [1/s^2], their sum or their product. By the
            frequency [Hz] divide by :math:`8 \pi^2 f`.

        Raises
        ------
        ParameterError : one of several that are the same, or one of which it is not known, the last
            one found; frequency zero; matrices that are not symmetric, rates; another state or
            other parameters than when the modes were found; bodies that touch; nothing depends on a
            parameter.

        Examples
        --------
        >>> import symancf as sa
        >>> rho = sa.Parameter("rho", 2.0)
        >>> mesh = sa.Mesh.box((1.0,), (4,))
        >>> rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=1.0,
        ...               rho=rho, A=1.0)
        >>> system = sa.System(rod, terms=[sa.fix(rod["x0"]), sa.planar(rod)])
        >>> modes = sa.EigenProblem(system).solve(2)
        >>> found = modes.gradient([rho])
        >>> bool(abs(found[rho] + found.value / 2.0) < 1e-9)     # omega^2 goes with 1/rho
        True
        """
        from ..gradients.gradient import Gradient
        from .slopes import gradient_of

        value, pairs = gradient_of(self, parameters, modes, of)
        return Gradient(value, pairs)

    def directional(
        self,
        parameters: Sequence[Variable],
        directions: Sequence[Any],
        mode: int = 0,
    ) -> Array:
        r"""Return the derivatives of all equal squares of a frequency along a direction.

        They are the eigenvalues of :math:`D_{ij} = x_i \cdot (K' - \omega^2 M')\, x_j` of the
        modes that have the square of `mode`, with K' and M' along the direction (collective).

        Parameters
        ----------
        parameters : as those of `gradient`.
        directions : of each parameter by how much it changes: a number, or one for each value.
        mode : one of the equal ones.

        Returns
        -------
        (n,) of n equal ones, sorted: how each of them begins to change [1/s^2].

        Raises
        ------
        ParameterError : see `gradient`; directions of other shapes than the parameters.
        """
        from .slopes import directional

        return directional(self, parameters, directions, mode)

    def caption(self, k: int) -> str:
        """Return the frequency of a mode in words."""
        s = complex(self.eigenvalues[k])
        if s == 0.0:
            return f"{k + 1}: 0 Hz"
        if s.imag == 0.0:
            return f"{k + 1}: {'grows' if s.real > 0.0 else 'decays'} by {abs(s.real):.4g}/s"
        return f"{k + 1}: {self.frequencies[k]:.4g} Hz"

    def columns(self) -> dict[str, list[str]]:
        """Return the columns of the table."""
        columns = super().columns()
        columns["f [Hz]"] = [f"{f:.6g}" for f in self.frequencies]
        columns["omega [rad/s]"] = [f"{w:.6g}" for w in self.omega]
        if self.eigenvalues.real.any():
            columns["Re s [1/s]"] = [f"{s.real:.4g}" for s in self.eigenvalues]
            columns["damping"] = [f"{z:.4g}" for z in self.damping_ratios]
        for a, name in enumerate(AXES):
            columns[f"mass {name}"] = [f"{100 * x:.1f} %" for x in self.participation.share[:, a]]
        return columns

    def note(self) -> str:
        """Tell whether all were found, and how many are rigid or unstable."""
        texts = [super().note()]
        if self.rigid:
            texts.append(f"{self.rigid} with frequency zero (rigid motions, mechanisms)")
        if self.unstable:
            texts.append(f"{self.unstable} that grow: the state is unstable")
        return "; ".join(texts)


class Buckling(Shapes):
    """Loads at which a structure buckles, as its tangent tells at the present state.

    Attributes
    ----------
    parameter : name of the parameter that drives the load.
    values : (m,) of the parameter at which the linearised tangent is singular, the nearest first.
    factors : (m,) `values` by the present value; infinite where that is zero.
    bends : (m,) by which part the tangent's second derivative moves the way to each; one of which
        it is not small is doubtful, see `EigenProblem.buckle`.
    shapes : local vectors, the largest displacement of a node 1.
    equilibria : how many were solved on the path to a load next to which the tangent was taken; 0:
        it is that of the present state.
    """

    title = "buckling"
    equilibria = 0

    def __init__(
        self,
        system: System,
        parameter: str,
        present: float,
        values: Array,
        bends: Array,
        shapes: Array,
        checked: bool | None,
    ) -> None:
        super().__init__(system, shapes, checked)
        self.parameter, self.values, self.bends = parameter, values, bends
        with np.errstate(divide="ignore"):
            self.factors: Array = np.divide(values, present)

    def beside(self, at: float, present: float, count: int, none: float) -> Buckling | None:
        """Return the first loads without those that are none; these are of a state next to one.

        Parameters
        ----------
        at, present : the known load, which counts; the value that factors are of.
        none : what `bends` are of loads that are none.
        """
        way = np.abs(self.values - at)
        if not len(way) or way.min() > 0.1 * abs(at - present):
            return None
        first = int(np.argmin(way))
        self.values[first], self.bends[first] = at, 0.0
        some = np.flatnonzero(np.abs(self.bends) <= none)
        some = some[np.argsort(np.abs(self.values[some] - present), kind="stable")][:count]
        self.values, self.bends, self.shapes = (
            part[some] for part in (self.values, self.bends, self.shapes)
        )
        with np.errstate(divide="ignore"):
            self.factors = np.divide(self.values, present)
        if len(some) == count and self.checked is False:  # more were looked for
            self.checked = None
        return self

    def caption(self, k: int) -> str:
        """Return the load of a shape in words."""
        return f"{k + 1}: {self.parameter} = {self.values[k]:.5g}"

    def note(self) -> str:
        """Tell whether all were found."""
        text = super().note() if len(self) else "no load was found at which it buckles"
        solved = f"; {self.equilibria} equilibria were solved on the way to the first"
        return text + (solved if self.equilibria else "")

    def columns(self) -> dict[str, list[str]]:
        """Return the columns of the table."""
        columns = super().columns() | {self.parameter: [f"{v:.6g}" for v in self.values]}
        if np.isfinite(self.factors).all():
            columns["factor"] = [f"{v:.6g}" for v in self.factors]
        columns["moved by K''"] = [f"{100 * b:.2g} %" for b in self.bends]
        return columns
