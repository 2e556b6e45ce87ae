# SPDX-License-Identifier: BSD-3-Clause
"""The equations of motion: what inertia and damping add to a system's residual and tangent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Mask
from ...assembly.half import Half
from ...assembly.numbering import MOVING
from ...bodies.plane.factor import FACTOR
from ...errors import ParameterError
from ...runtime.collective import together
from ...values.arguments import number
from ...values.parameter import Parameter, depends_on_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...assembly.assembler import Assembler
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.form import Form
    from ...assembly.matrix import Matrix
    from ...assembly.state import State
    from ...values.parameter import Value


@dataclass(frozen=True)
class Rayleigh:
    r"""Damping forces :math:`\alpha M v + \beta K v`, K the tangent of the strain energy.

    K is that of the present state. It is not blind to rigid rotations of a stressed body: for
    large rotations take `KelvinVoigt`. Motions refuse `stiffness` where there are rods: K has the
    penalties of their sections, 1000 times EA and more, and where a rod turns the error of
    directors' rates over a step, multiplied by these, is no damping but noise. `EigenProblem`
    takes it: small motions do not turn.

    Attributes
    ----------
    mass : alpha [1/s], damps slow motions.
    stiffness : beta [s], damps fast ones.

    Raises
    ------
    ParameterError : a factor is no number or negative; a motion has `stiffness` and rods, or
        pressures that are unknowns.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> system = sa.System(block, terms=[sa.fix(block["x0"])])
    >>> problem = sa.DynamicProblem(system, damping=sa.Rayleigh(mass=0.1, stiffness=1e-3))
    """

    mass: float = 0.0
    stiffness: float = 0.0
    belongs: ClassVar[str] = "DynamicProblem(system, damping=sa.Rayleigh(...))"

    def __post_init__(self) -> None:
        for name, value in (("mass", self.mass), ("stiffness", self.stiffness)):
            good = number("Rayleigh", name, value, "be 0 or more", lambda x: 0.0 <= x < math.inf)
            object.__setattr__(self, name, good)


class EquationsOfMotion:
    """M a + C v + R(u, rate, t) of a system, with u, rate and acceleration as local vectors.

    Attributes
    ----------
    state, rate, acceleration : local vectors; the first two are the system's.
    rate_factor, acceleration_factor : d rate / d u and d acceleration / d u, local vectors.
    second, first, algebraic : masks of the coordinates by their order in time: second, first,
        multipliers.
    settled : mask of the coordinates that are functions of the others (pressures, lids); in
        index-1 methods `DiscreteSystem.settle` finds them.
    strain : mask of the forms of strain energies, which Rayleigh's K is of.
    inertia : M a of the last residual (local vector).
    half : storage of the tangent by halves, where that is solved with; set before others use this.
    mass_part : what the mass has added to the last tangent, by its entries on this rank.
    moving : supports whose prescribed values may change in time.
    driven : parameters of joints that are functions of time: owner, name, value.
    span : times between which they are differentiated: where one call of `solve` begins and
        ends their motion may have a kink.
    """

    def __init__(self, system: DiscreteSystem, damping: Rayleigh | None = None) -> None:
        self.system, self.damping = system, damping or Rayleigh()
        numbering = system.numbering
        if any(block.name == FACTOR for block in numbering.blocks):
            raise ParameterError(
                "a Factor is found by statics alone: in a motion prescribe the coordinate with "
                "sa.fix(body, dofs, displacement=function of t) and read its reaction(system)",
                asked="factor",
            )
        follows = _followers(system, self.damping)
        self.state, self.rate = system.state, system.rate
        n = numbering.coordinates
        self.acceleration: Array = np.zeros(n)
        self.rate_factor: Array = np.zeros(n)
        self.acceleration_factor: Array = np.zeros(n)
        self.second: Mask = numbering.those(*MOVING)
        self.first: Mask = numbering.those("state")
        self.algebraic: Mask = numbering.those("multiplier") & ~follows
        self.settled: Mask = numbering.those("algebraic", "dependent", "tie") | follows
        self.mass: Assembler = system.inertia
        with together(system.comm):
            system.update(system.time)
        self.half: Half | None = None
        self.inertia: Array = np.zeros(n)
        self.mass_part: Array = np.zeros(0)
        self._damped: Array = np.zeros(n)
        self.strain = np.array([p.role == "strain" for p in system.forms], dtype=bool)
        self.moving = [s for s in system.supports if depends_on_time(s.values)]
        self.driven = _driven(system.forms)
        self.span = -np.inf, np.inf
        self._mass_values: tuple[int, Array, Array] | None = None
        system.register(self)

    def local_vectors(self) -> list[Array]:
        """Return the accelerations; see `HoldsVectors`."""
        return [self.acceleration]

    def relisted(self, changed: Sequence[Form], rebuilt: bool) -> None:
        """Forget the mass in another pattern."""
        if rebuilt:
            self._mass_values = None

    def scale_multipliers(self, largest: Callable[[], float]) -> None:
        """Make the multipliers' scale that of the tangent's diagonal; keep their forces.

        `largest` returns the largest entry there (collective).
        """
        system = self.system
        old, system.stiffness = system.stiffness, 1.0
        with together(system.comm):
            system.update(system.time)
        size = largest()
        system.stiffness = size if np.isfinite(size) and size > 0.0 else 1.0
        scaled = system.numbering.those("multiplier", "algebraic", "tie")
        self.state[scaled] *= old / system.stiffness
        with together(system.comm):
            system.update(system.time)

    # ---- residual -------------------------------------------------------------------------------
    def residual(self, f: Array) -> int:
        """Write M a + C v + R into `f`; return the number of bad points.

        `inertia` is M a (and Rayleigh's part of the mass) afterwards.
        """
        bad = self.system.assembler.residual(self.state, f)
        alpha, beta = self.damping.mass, self.damping.stiffness
        moved = self.acceleration + alpha * self.rate if alpha else self.acceleration
        self.mass.residual(moved, self.inertia)
        f += self.inertia
        if beta:
            f += beta * self.stiffness_times(self.rate)
        return bad

    def stiffness_times(self, v: Array) -> Array:
        """Return K v with the tangent of the strain energies alone."""
        assembler, rate = self.system.assembler, self._damped
        with assembler.only(self.strain):
            assembler.product(self.state, np.where(self.second, v, 0.0), rate)
        return rate

    # ---- tangent --------------------------------------------------------------------------------
    @property
    def matrix(self) -> Matrix:
        """The tangent as PETSc's AIJ, with places for the mass (collective)."""
        self.system.place_mass()
        return self.system.matrix

    @property
    def storage(self) -> Matrix | Half:
        """Where the tangent that is solved with is written (collective)."""
        return self.half or self.matrix

    def mass_values(self) -> tuple[Array, Array]:
        """Return the mass matrix in the tangent's pattern: values of its two parts.

        They are assembled anew where a density or section has changed (collective).
        """
        cached, revision, comm = self._mass_values, self.mass.revision, self.system.comm
        stale = cached is None or cached[0] != revision
        if self.mass.changes and comm.size > 1:  # functions may be rounded otherwise elsewhere
            stale = comm.allreduce(stale, MPI.LOR)
        if cached is None or stale:
            matrix, scratch = self.matrix, np.zeros_like(self.state)
            self.mass.tangent(np.zeros_like(self.state), scratch, matrix)
            cached = self._mass_values = revision, matrix.diagonal.copy(), matrix.off.copy()
        return cached[1:]

    def tangent(self, scratch: Array, storage: Matrix | Half | None = None) -> int:
        """Assemble d(M a + C v + R)/du with the present factors; return the bad points.

        `storage` : where it is written, default: what is solved with.
        """
        storage, assembler = storage or self.storage, self.system.assembler
        second = np.flatnonzero(self.second)
        B = float(self.acceleration_factor[second[0]]) if len(second) else 0.0
        R = float(self.rate_factor[second[0]]) if len(second) else 0.0
        B += R * self.damping.mass
        beta = R * self.damping.stiffness
        if isinstance(storage, Half):
            return self._write(storage, scratch, B, beta)
        matrix = storage
        diagonal, off = self.mass_values()
        if beta:
            with assembler.only(self.strain):
                assembler.tangent(self.state, scratch, matrix)
            stiff = matrix.diagonal.copy(), matrix.off.copy()
        bad = assembler.tangent(self.state, scratch, matrix)
        self.mass_part = B * diagonal
        matrix.diagonal += self.mass_part
        matrix.off += B * off
        if beta:
            matrix.diagonal += beta * stiff[0]
            matrix.off += beta * stiff[1]
        matrix.finish()
        return bad

    def _write(self, half: Half, scratch: Array, mass: float, strain: float) -> int:
        """Write the tangent by halves with factors of the mass and of the strains' part."""
        assembler = self.system.assembler
        with half.rewritten():
            bad = half.add(assembler, self.state, scratch)
            if mass:
                half.add(self.mass, np.zeros_like(self.state), scratch, mass)
            if strain:
                with assembler.only(self.strain):
                    half.add(assembler, self.state, scratch, strain)
        return bad

    def restore(self, state: State) -> None:
        """Go to a state of `snapshot`; loads stay (collective)."""
        self.system.restore(state)
        self.system.numbering.spread(state.rates[1], self.acceleration)

    def go_to(self, state: State) -> None:
        """Go to a state of `snapshot`, with the loads of its time (collective)."""
        self.system.restore(state)
        self.move_to(state.time)
        self.restore(state)

    def lead(self) -> None:
        """Let forces follow the rates of this motion (collective)."""
        self.system.renew_rate()
        self.system.motion = self
        self.system.assembler.follow(self.system.rate, self.rate_factor)

    # ---- prescribed motion ----------------------------------------------------------------------
    def move_to(self, time: float) -> None:
        """Write prescribed values of `time`, but no rates of them (collective)."""
        system = self.system
        if self.moving:
            system.prescribe(time)
            return
        with together(system.comm):
            system.update(time)
        system.require_agreement(time)
        system.time = time

    def differences(self, time: float, h: float) -> tuple[Array, Array, Array]:
        """Return five shifts of time within `span`, and weights of first and second derivative.

        The shifts are h/8 apart, central where they fit.
        """
        d = h / 8.0
        begin, end = self.span
        first, near = -2.0, 1e-9 * h  # times of steps are sums
        within = begin - near <= time <= end + near  # some methods try times beyond the end
        if within and time + 2.0 * d > end:
            first = (end - time) / d - 4.0
        if within and time + first * d < begin:
            first = min(0.0, (begin - time) / d)
        return _difference_weights(first, d)

    def prescribe(self, time: float, h: float) -> None:
        """Write prescribed values of `time`, their rates and accelerations (collective).

        Those are derivatives of the user's functions by differences of fourth order over
        `h`/2, within `span`: central where they fit, else of one side.
        """
        system = self.system
        if not self.moving:
            self.move_to(time)
            return
        courses: list[Course] = []
        with together(system.comm):
            courses += [self.course(support.course, [time], h) for support in self.moving]
        system.prescribe(time)
        for support, course in zip(self.moving, courses, strict=True):
            self.rate[support.offsets] = course.rates[0]
            self.acceleration[support.offsets] = course.accelerations[0]
        if system.comm.size > 1:
            system.update_prescribed(self.rate)
            system.update_prescribed(self.acceleration)

    def course(
        self,
        function: Callable[[Sequence[float]], Array],
        times: Sequence[float],
        h: float,
        between: Sequence[float] = (),
    ) -> Course:
        """Return what a function maps times to, (times, n), and its derivatives; see `prescribe`.

        `between`: times of which the values are wanted alone.
        """
        weights = [self.differences(time, h) for time in times]
        around = [t + shift for t, of in zip(times, weights, strict=True) for shift in of[0]]
        asked = dict.fromkeys(sorted([*times, *around, *between]))
        values = dict(zip(asked, function([*asked]), strict=True))
        u = np.array([values[time] for time in times])
        change = np.array([values[time] for time in around]).reshape(len(times), 5, -1) - u[:, None]
        pairs = [*zip(weights, change, strict=True)]
        return Course(
            u,
            np.array([first @ own for (_, first, _), own in pairs]),
            np.array([second @ own for (_, _, second), own in pairs]),
            np.array([values[time] for time in between]),
        )


@dataclass(frozen=True)
class Course:
    """What is prescribed at some times: values, rates, accelerations (times, n).

    Attributes
    ----------
    between : values at other times, between these.
    """

    values: Array
    rates: Array
    accelerations: Array
    between: Array


@lru_cache(maxsize=8)
def _difference_weights(first: float, d: float) -> tuple[Array, Array, Array]:
    """Return five shifts of time, d apart, and weights of first and second derivative."""
    shifts = first + np.arange(5.0)
    powers = np.linalg.inv(np.vander(shifts, increasing=True))
    return shifts * d, powers[1] / d, 2.0 * powers[2] / (d * d)


def _followers(system: DiscreteSystem, damping: Rayleigh) -> Mask:
    """Return which coordinates are pressures that follow displacements.

    Raises
    ------
    ParameterError : the stiffness of pressures, or of what holds sections, would damp them.
    """
    follows = np.zeros(system.numbering.coordinates, dtype=bool)
    for body in system.bodies:
        element = vars(body).get("element")
        if damping.stiffness and element is not None and element.kinematics().penalties:
            raise ParameterError(
                f"Rayleigh(stiffness={damping.stiffness:g}) would damp what holds the sections of "
                f"rod {body.name!r}, which diverges where it turns: take "
                f"sa.KelvinVoigt({body.name}, eta=...), with eta = stiffness * EA/A the same "
                "damping of stretch, shear, bending and twist",
                asked="stiffness",
                given=damping.stiffness,
                possible=("sa.KelvinVoigt",),
            )
        own = system.binding(body).pressures
        if own is not None and damping.stiffness:
            raise ParameterError(
                f"Rayleigh(stiffness=...) would damp the pressure of body {own.name!r}: take "
                "sa.KelvinVoigt, or pressure='condensed'",
                asked="stiffness",
                given=damping.stiffness,
            )
        if own is not None and not own.pressure.incompressible:
            follows[own.offsets(system)] = True
    return follows


def _driven(forms: Sequence[Form]) -> list[tuple[str, str, Value]]:
    """Return owner, name and value of parameters of joints that are functions of time."""
    return [
        (form.name, f"{key} of {form.name!r}", value)
        for form in forms
        if form.role == "constraint"
        for key, value in form.uniform.items()
        if depends_on_time(value) and not isinstance(value, Parameter)
    ]
