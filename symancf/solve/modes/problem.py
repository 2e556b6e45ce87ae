# SPDX-License-Identifier: BSD-3-Clause
"""Frequencies, mode shapes and buckling loads of a system about its present state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Complex
from ...assembly.matrices import Matrices
from ...errors import ParameterError, SymancfError
from ...output.history import History
from ...output.tracking import parents_of
from ...runtime.copies import OneProcess
from ...runtime.log import STAGES, logged
from ...runtime.once import Once, warns_once
from ...runtime.options import SLEPC, Option, SolverOptions
from ...runtime.petsc import collect
from ...values import arguments
from ...values.parameter import Parameter, label
from ...values.spellings import former_arguments
from ..dynamics import Rayleigh
from ..rigid import centre_of_nodes, rigid_modes
from ..statics.arc import Arc
from ..statics.equilibrium import EquilibriumSolver
from .engines import chosen
from .path import CURVED_PATH_TOLERANCE, OnPath, tell
from .pencil import EPS, Pencil
from .search import Search
from .shapes import Buckling, Modes, Participation
from .unbalanced import balance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...assembly.discrete import DiscreteSystem
    from ...runtime.petsc import PETSc
    from ...system import System

SYMMETRIC = 1e-13  # of products: round-off
STATE_CHANGE = 1e-3  # of the largest body: the way over which the tangent is differentiated
HIDDEN_MODE_RATIO = 1e-2  # of the slowest mode: round-off that modes may hide in


class EigenProblem(OneProcess):
    r"""Small vibrations and buckling about the present state of a system.

    With tangent K, mass M, rates' matrix C and gradients of constraints at that state,

    .. math::
        \left( s^2 \begin{pmatrix} M & 0 \\ 0 & 0 \end{pmatrix}
        + s \begin{pmatrix} C & 0 \\ 0 & 0 \end{pmatrix}
        + \begin{pmatrix} K & \Phi_q^T \\ \Phi_q & 0 \end{pmatrix} \right)
        \begin{pmatrix} x \\ \lambda \end{pmatrix} = 0 .

    K contains the stresses of the state, the multipliers' geometric stiffness, contact, gas and
    loads that follow the body; in a turning frame (`sa.rotating_frame`) the centrifugal forces'
    stiffness, and C their Coriolis part. Multipliers have no mass: what constraints forbid is not
    among the modes.

    Up to 300 unknowns LAPACK finds all eigenvalues, beyond that SLEPc those next to a shift, on any
    number of ranks, or SciPy without it on one rank. Symmetric ones are counted by the signs of
    a factorisation (J. J. Sylvester; MUMPS), and looked for again until none is missing. Others
    are looked for again from another start, in what is left when those found are taken out
    (Y. Saad), until what is found is beyond those wanted. So all of a multiple one are there.

    Parameters
    ----------
    system : its state is linearised about, with its rates: solve before what is to be loaded.
        Forces of joints that alone are missing, as of a pendulum that hangs at rest, are found.
    prefix : of SLEPc's options, ``"plate_"`` for ``-plate_eps_ncv 80``.
    options : of SLEPc without prefix, ``{"eps_ncv": 80}``; ``{"eigen": "scipy"}`` chooses what
        solves: ``"dense"``, ``"slepc"`` or ``"scipy"``.
    damping : `Rayleigh`, for ``solve(damped=True)``.

    Attributes
    ----------
    modes, buckling : results of the last `solve` and `buckle`.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0,), (16,))
    >>> rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=1.0,
    ...               rho=1.0, A=1.0)
    >>> modes = sa.EigenProblem(sa.System(rod, terms=[sa.fix(rod["x0"])])).solve(4)
    >>> modes.omega.round(2)                        # 1.8751^2, 4.6941^2: twice, in y and z
    array([ 3.52,  3.52, 22.03, 22.03])
    """

    _settable = ("damping",)

    @former_arguments("EigenProblem")
    def __init__(
        self,
        system: System,
        prefix: str = "",
        options: Mapping[str, Option] | None = None,
        *,
        damping: Rayleigh | None = None,
    ) -> None:
        self.system, self._system = parents_of("EigenProblem", system)
        self._once = Once(system.comm)
        self.prefix = arguments.text("EigenProblem(prefix=...)", prefix)
        given = arguments.options("EigenProblem(options=...)", options)
        for name in given:
            if name != "eigen" and not name.removeprefix("-").startswith(SLEPC):
                raise ParameterError(
                    f"EigenProblem(options=...) has no {name!r}: give 'eigen', or options of "
                    "SLEPc's EPS, such as 'eps_ncv', 'eps_tol' and 'eps_max_it'",
                    asked=name,
                    given=given[name],
                    possible=("eigen", "eps_ncv", "eps_tol", "eps_max_it"),
                )
        self._options = SolverOptions(self.prefix, given, SLEPC)
        if damping is not None:
            remedy = "give sa.Rayleigh(mass=..., stiffness=...)"
            arguments.instance("EigenProblem(damping=...)", damping, Rayleigh, remedy)
        self.damping = damping
        self.modes: Modes | None = None
        self.buckling: Buckling | None = None

    # ---- vibration ------------------------------------------------------------------------------
    @logged(STAGES, "modes")
    @warns_once
    def solve(self, count: int = 6, *, near: float | None = None, damped: bool = False) -> Modes:
        """Find the slowest modes, or those next to a frequency (collective).

        Parameters
        ----------
        count : how many, beside those of frequency zero and those that grow; fewer where there are
            no more. Of large systems with unsymmetric matrices or rates those that grow are found
            as far as they are as slow.
        near : frequency [Hz] next to which they are looked for.
        damped : with dampers, viscosities, controllers and `damping`: complex eigenvalues, of each
            pair the one with a positive frequency, and those that are real.

        Returns
        -------
        Modes : sorted by frequency.

        Raises
        ------
        ParameterError : impossible arguments; no body has a mass.
        SymancfError : several ranks without SLEPc; a matrix that cannot be factored.
        ConvergenceError : none was found.
        """
        count = arguments.integer("EigenProblem.solve", "count", count)
        system = self._begin()
        turning = np.array([form.role == "inertia" for form in system.forms], dtype=bool)
        gyroscopic = bool(system.comm.allreduce(bool(turning.any())))
        states = system.numbering.those("state")[system.unknowns.coordinate]
        if not damped and system.comm.allreduce(bool(states.any())):
            raise ParameterError(
                "EigenProblem.solve: terms have states of their own, of first order in time, as "
                "controllers do: solve(damped=True) takes them into account",
                asked="damped",
                given=damped,
                possible=(True,),
            )
        omega = self._omega(near, damped or gyroscopic)
        balance(system)
        stiffness, mass, rates = Matrices(system).tangent(), Matrices(system).mass(), None
        if damped:
            damping = self.damping or Rayleigh()
            rates = Matrices(system).damping(mass=damping.mass, stiffness=damping.stiffness)
        elif gyroscopic:
            none = np.zeros_like(system.state)
            with system.assembler.following(system.rate, none), system.assembler.only(turning):
                rates = Matrices(system).damping()
        symmetric = rates is None and _symmetric(system, stiffness)
        pencil = Pencil(system, stiffness, mass, rates, symmetric=symmetric)
        try:
            search = self._search(pencil, count)
            if not symmetric:
                values, X = search.others(count, omega)
            elif omega is not None:
                values, X = search.nearest(count, omega)
            else:
                values, X = search.slowest(count)
            order = np.lexsort((values.real, np.abs(values)))
            zero = values == 0.0
            complete = search.checked is True and count > len(values) - zero.sum()
            found = values[order], X[:, order], search.checked
            self.modes = self._modes(pencil, *found, near=near, complete=complete)
            hidden = int(zero.sum()) - pencil.free(X[:, zero].real)
        finally:
            pencil.destroy()
        self._tell_unused()
        self._warn(search, count, values, hidden)
        return self.modes

    def _omega(self, near: float | None, rates: bool) -> float | None:
        """Return the angular frequency next to which modes are looked for."""
        if near is None:
            return None
        near = arguments.positive("EigenProblem.solve", "near", near)
        if rates:
            raise ParameterError(
                "EigenProblem.solve(near=...) is for modes without rates: of damped ones and "
                "those in a turning frame ask for more, count=...",
                asked="near",
                given=near,
                possible=(None,),
            )
        return 2.0 * math.pi * near

    def _warn(self, search: Search, count: int, values: Complex, hidden: int) -> None:
        """Warn of modes that were not found, of `hidden` ones among those of frequency zero."""
        assert self.modes is not None
        once = self._system.once
        if search.checked is False:
            count_found = int((self.modes.omega > 0.0).sum())
            once.warn(
                "modes missing",
                f"EigenProblem.solve: not all modes were found, {count_found} of {count} that are "
                "not "
                "zero; options such as {'eps_max_it': 2000, 'eps_ncv': 100} give more time and "
                "room, {'eigen': 'dense'} finds all",
            )
        slowest = float(np.abs(values[values != 0.0]).min(initial=math.inf))
        hides = slowest == math.inf and search.hides
        if hidden > 0 and (hides or search.floor > HIDDEN_MODE_RATIO * slowest):
            once.warn(
                "modes hidden",
                f"EigenProblem.solve: {hidden} of the modes of frequency zero are no rigid-body "
                f"modes: below {search.floor / (2.0 * math.pi):.2g} Hz a frequency cannot be "
                "distinguished from zero, which is round-off of the stiffest part. Make that less "
                "stiff (EA, k, springs), or use a constraint instead",
            )

    def _search(self, pencil: Pencil, count: int) -> Search:
        engine_name, own = self._options.choice("eigen"), self._options.having(SLEPC)
        engine = chosen(pencil, count, engine_name, own)
        solver = {"dense": "LAPACK", "scipy": "SciPy", "slepc": "SLEPc"}[engine]
        self._options.refuse(
            f"{solver}, which finds modes here (another one: {{'eigen': 'slepc'}}),",
            lambda name: engine == "slepc" and name.startswith(SLEPC),
        )
        return Search(pencil, engine, self._options)

    def _tell_unused(self) -> None:
        with self._options:
            if not self._options.warned:
                self._options.warn_unused(self._system.comm)

    def _begin(self) -> DiscreteSystem:
        """Make ready (collective)."""
        system = self._system
        collect(system.comm)
        if any(block.name == "factor" for block in system.numbering.blocks):
            raise ParameterError(
                "a Factor is found by statics alone: prescribe the coordinate with sa.fix(...)",
                asked="factor",
            )
        if not system.unknowns.size:
            raise ParameterError(
                "EigenProblem: all coordinates are prescribed, nothing can move",
                asked="degrees of freedom",
                given=0,
            )
        return system

    def _modes(
        self,
        pencil: Pencil,
        values: Complex,
        X: Array,
        checked: bool | None,
        **how: Any,
    ) -> Modes:
        """Return modes with signs that do not depend on ranks, and what takes part in them."""
        system, unknowns = self._system, pencil.unknowns
        shapes = _signed(system, _locals(system, X))
        d = rigid_modes(system, system.state)
        images, total = np.zeros((6, unknowns.rows)), np.zeros(6)
        owned = system.numbering.vertex_of < system.numbering.owned_vertices
        for a, rigid in enumerate(d):
            f = system.mass_times(rigid)
            images[a], total[a] = unknowns.from_local(f), rigid[owned] @ f[owned]
        own = shapes[:, unknowns.coordinate] if len(shapes) else np.zeros((0, unknowns.rows))
        factors = pencil.sums(np.conj(own) @ images.T)
        centre = centre_of_nodes(system, system.reference + system.state)
        return Modes(
            self.system,
            values,
            shapes,
            checked,
            Participation(factors, pencil.sums(total), centre),
            symmetric=pencil.symmetric,
            **how,
        )

    # ---- buckling -------------------------------------------------------------------------------
    @logged(STAGES, "modes")
    @warns_once
    def buckle(self, parameter: Parameter, count: int = 4, *, direction: int = 1) -> Buckling:
        r"""Find the loads at which the linearised tangent is singular (collective).

        At the present equilibrium, with the parameter at p, the tangent changes along the path of
        equilibria by :math:`K' = K_{,p} + K_{,q}\, q'`, :math:`q' = -K^{-1} R_{,p}`, and

        .. math:: (K + \mu K')\, x = 0, \qquad p_{cr} = p + \mu .

        From the unloaded state that is the classical linear buckling load. It is exact where K is
        linear along the path, and approached by loading first: the nearer p, the better. Where
        cells turn before the structure buckles K is not: the tangent of a bar that turns by an
        angle differs by the angle times the axial stiffness to first order, and that alone makes
        K + mu K' singular at angles of the square root of bending by axial stiffness. How far the
        next term of the series moves a load is ``buckling.bends``,

        .. math:: \frac{\mu^2}{2} \frac{x^T K'' x}{x^T K x}.

        Where that is more than 5 % of the first load, the path of equilibria is followed until K
        itself is singular, and the other loads and all shapes are those of the tangent 1 % before:
        so that a narrow beam that bends before it buckles sideways has its load, from rest.
        ``buckling.equilibria`` says how many were solved; state and parameter stay. A warning
        is issued for loads that remain doubtful: where nothing is singular on the way until
        something has moved by the size of the largest body, laws remember the way, or bodies touch.
        K' and K'' are central differences of fourth order of tangents on the path (with its
        curvature), by a thousandth of the body's size: exact to 1e-10 or so. The parameter may
        drive anything: loads, pressures, prescribed displacements.

        Parameters
        ----------
        parameter : drives the load; its present value is where the tangent is taken.
        count : how many of the nearest loads.
        direction : 1: those beyond the present value, -1: those below it.

        Returns
        -------
        Buckling : the nearest first; of a multiple load all shapes.

        Raises
        ------
        ParameterError : nothing depends on the parameter; impossible arguments.
        SymancfError : the present tangent is singular, or not stable.
        """
        if not isinstance(parameter, Parameter):
            raise ParameterError(
                f"buckle({label(parameter)}): give the sa.Parameter that drives the load",
                asked="parameter",
                given=parameter,
                possible=("Parameter",),
            )
        if not any(direction is sign for sign in (1, -1)):
            raise ParameterError(
                f"buckle({parameter.name}, direction={direction!r}): 1 or -1",
                asked="direction",
                given=direction,
                possible=(1, -1),
            )
        count = arguments.integer("buckle", "count", count)
        system = self._begin()
        balance(system)
        solver = EquilibriumSolver(system, History(), self._options, check_held=False)
        solver.restored = system.stiffness != 1.0
        with self._options:
            solver.prepare()
        arc = Arc(solver, parameter)
        buckling = self._linear(arc, count, direction)
        if len(buckling) and not abs(buckling.bends[0]) <= CURVED_PATH_TOLERANCE:
            buckling = OnPath(self.system, arc, buckling, direction).beside(count, self._linear)
        self.buckling = buckling
        tell(system.once, buckling, count)
        return buckling

    def _linear(self, arc: Arc, count: int, direction: int) -> Buckling:
        """Return the loads that the tangent at the present equilibrium tells (collective)."""
        system, name, present = self._system, arc.name, arc.value
        rate, derivative = arc.derivative()
        if not derivative:
            raise ParameterError(
                f"buckle({name}): nothing depends on it here", asked="parameter", given=name
            )
        tangent = Matrices(system).tangent()
        symmetric = _symmetric(system, tangent)
        K = Pencil(system, tangent, tangent.copy(), symmetric=symmetric, buckling=True)
        K.require(K.factor(0.0), f"buckle({name})")
        if K.negative:
            raise SymancfError(
                f"buckle({name}): the present state is unstable already, {K.negative} "
                "eigenvalues of its tangent are negative: begin with less load",
                asked="negative eigenvalues",
                given=K.negative,
                possible=(0,),
            )
        slope, bend, reach = self._changes(arc, K, rate)
        slope.scale(-float(direction))
        K.weight.destroy()
        K.weight = slope
        K.symmetric = symmetric and _symmetric(system, slope, math.sqrt(EPS))
        try:
            search = self._search(K, count)
            mu, X = search.loads(count, reach)
            forms = [(X * K.product(A, X)).sum(axis=0) for A in (bend, K.stiffness)]
            bends = mu**2 / 2.0 * np.divide(*K.sums(np.array(forms)))
        finally:
            bend.destroy()
            K.destroy()
        self._tell_unused()
        shapes = _signed(system, _locals(system, X))
        values = present + direction * mu
        buckling = Buckling(self.system, name, present, values, bends, shapes, search.checked)
        for k in range(len(shapes)):
            shapes[k] /= buckling.largest(k) or 1.0
        return buckling

    def _changes(self, arc: Arc, K: Pencil, rate: Array) -> tuple[PETSc.Mat, PETSc.Mat, float]:
        """Return K' and K'', dK/dp and d2K/dp2 along the path of equilibria (collective).

        And by how much p changes until something has moved by the size of the largest body.

        Parameters
        ----------
        K : with the factors of the present tangent.
        rate : dR/dp.
        """
        system, present, state = self._system, arc.value, self._system.state.copy()
        change = system.unknowns.local(-K.solved(system.unknowns.from_rows(rate)))
        size = system.numbering.natural(system.extent)
        moves = system.numbering.those("position", "direction", "angle", "sliding")
        part = np.abs(np.where(moves, change / size, 0.0)).max(initial=0.0)
        part = system.comm.allreduce(float(part), op=MPI.MAX)
        h = STATE_CHANGE / part if part > 0.0 else max(abs(present), 1.0) * 1e-3
        curve, forces = np.zeros_like(change), np.zeros_like(state)
        slope, bend = K.stiffness.copy(), K.stiffness.copy()
        slope.scale(0.0)
        bend.scale(-30.0)

        def go(steps: int) -> None:
            system.state[:] = state + steps * h * change + (steps * h) ** 2 / 2.0 * curve
            arc.prescribe(present + steps * h)

        try:
            for steps, weight in ((0, -2.0), (1, 1.0), (-1, 1.0)):  # R'' on the straight line
                go(steps)
                f = np.zeros_like(state)
                system.assembler.residual(system.state, f)
                forces += weight / h**2 * f
            rows = system.unknowns.from_rows(system.numbering.to_rows(forces))
            curve = -system.unknowns.local(K.solved(rows))
            for steps, first, second in ((1, 8, 16), (-1, -8, 16), (2, -1, -1), (-2, 1, -1)):
                go(steps)
                tangent = Matrices(system).tangent()
                slope.axpy(first, tangent)
                bend.axpy(second, tangent)
                tangent.destroy()
        finally:
            system.state[:] = state
            arc.prescribe(present)
        slope.scale(1.0 / (12.0 * h))
        bend.scale(1.0 / (12.0 * h**2))
        return slope, bend, h / STATE_CHANGE


def _symmetric(system: DiscreteSystem, K: PETSc.Mat, tolerance: float = SYMMETRIC) -> bool:
    """Whether a tangent is symmetric, also where laws could make it another one (collective)."""
    mine = all(form.kernel.symmetric for form in system.forms if not form.moving)
    if system.comm.allreduce(mine, op=MPI.LAND):
        return True
    x, y, z = (K.createVecRight() for _ in range(3))
    size = np.sqrt(np.abs(K.getDiagonal().getArray()))  # of all units alike
    size = 1.0 / np.where(size > 0.0, size, 1.0)
    different = 0.0
    for seed in range(3):
        for vector, own in ((x, seed), (y, seed + 5)):
            vector.setArray(size * system.unknowns.from_local(system.numbering.random(own)))
        K.mult(x, z)
        xy, bound = y.dot(z), y.norm() * z.norm()
        K.mult(y, z)
        different = max(different, abs(xy - x.dot(z)) / (max(bound, x.norm() * z.norm()) or 1.0))
    for vector in (x, y, z):
        vector.destroy()
    return different <= tolerance


def _locals(system: DiscreteSystem, X: Array) -> Array:
    """Return local vectors (m, coordinates) of vectors (rows, m) of unknowns (collective)."""
    vectors = []
    for x in X.T:
        real = system.unknowns.local(np.ascontiguousarray(x.real))
        if np.iscomplexobj(x) and system.comm.allreduce(bool(np.any(x.imag))):
            vectors.append(real + 1j * system.unknowns.local(np.ascontiguousarray(x.imag)))
        else:
            vectors.append(real)
    return np.array(vectors).reshape(len(vectors), system.numbering.coordinates)


def _signed(system: DiscreteSystem, shapes: Array) -> Array:
    """Turn shapes so that their largest displacement is real and positive, on any ranks."""
    numbering = system.numbering
    at = np.flatnonzero(numbering.those("position", "angle"))
    at = at[numbering.vertex_of[at] < numbering.owned_vertices]
    within = at - numbering.start[numbering.vertex_of[at]]
    key = numbering.topology.vertex_ids[numbering.vertex_of[at]] * 64 + within
    for shape in shapes:
        size = np.abs(shape[at])
        top = system.comm.allreduce(float(size.max(initial=0.0)), op=MPI.MAX)
        most = np.flatnonzero(size > (1.0 - 1e-6) * top)
        mine = min(((int(key[k]), complex(shape[at[k]])) for k in most), default=(2**62, 1.0 + 0j))
        sign = min(system.comm.allgather(mine), key=lambda pair: pair[0])[1]
        turn = abs(sign) / sign if sign else 1.0
        shape *= turn if np.iscomplexobj(shapes) else float(np.real(turn))
    return shapes
