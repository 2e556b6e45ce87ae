# SPDX-License-Identifier: BSD-3-Clause
"""Is an energy sound at rest: finite, free of stress, stiff? Asked once, of its own kernel.

The kernel is evaluated without displacements on a few cells of every rank. With the dilation
u = r of the cell about the origin, K u is what the stress of a strain of one would be; a residual
f at rest is large or small beside it.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Protocol

import numpy as np

from symancf_codegen.declare import PointLaw, Rule, brought, unknown

from ..arrays import Array, Ints
from ..errors import KinematicsError
from ..kinematics.naming import signature
from ..kinematics.solid import solid
from ..places.interpolation import Interpolated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import sympy as sp
    from mpi4py import MPI

    from ..assembly.configuration import Configuration
    from ..assembly.form import Form
    from ..runtime.jit import Kernel


#: Cells of each rank that are looked at.
CELLS = 64

#: Stress at rest over the stress of a strain of one that is taken for round-off.
REST_STRESS_TOLERANCE = 1e-10


class WithEnergy(Interpolated, Protocol):
    """A body, as far as it is asked here."""

    _sound: bool
    _energy_function: Callable[..., sp.Expr]

    def _numbers(self, time: float, /) -> dict[str, float]:
        """Return the present values of the parameters."""


def check_rest(
    body: WithEnergy,
    configuration: Configuration,
    laws: Sequence[tuple[PointLaw, Rule]],
    form: Form,
    chosen: Ints,
) -> None:
    """Tell on rank 0 of an energy that is stressed or unstable at rest, once (collective).

    Energies that ask for the displacement hold loads and are left alone. Where parameters vary from
    point to point, or the law remembers, its expressions are looked at alone.

    Parameters
    ----------
    body, system : whose energy.
    laws, form : its laws and its kernel on this rank's cells.
    chosen : numbers of the first cells of the form.

    Raises
    ------
    KinematicsError : energy, force or stiffness is not finite at rest (on every rank).
    """
    position, kernel = set(unknown("value")), form.kernel
    loads = any(position & set(law.unknowns) for law, _ in laws)
    if body._sound or loads:
        return
    body._sound = True
    _tell_of_law(body, configuration)
    if any(kernel.points) or kernel.memory:
        return
    values: dict[str, Array | float] = {
        "t": configuration.time,
        **body._numbers(configuration.time),
    }
    values |= brought(laws)
    values |= {name: form.cell[: len(chosen), k] for k, name in enumerate(kernel.cell)}
    on = configuration.binding(body).interpolation
    R = on.coefficients(on.cells[chosen], on.maps[chosen])
    values |= {name: 1.0 for name in kernel.uniform if name not in values}
    own = dict.fromkeys(x.symbol.name for law, _ in laws for x in law.local)
    if body.element.kinematics().local:
        own = {f"the unknowns of the cells ({body.element.name})": None}
    _tell(body.name, body._energy_function, kernel, R, values, configuration.comm, tuple(own))


def _tell_of_law(body: WithEnergy, configuration: Configuration) -> None:
    """Tell on rank 0 of a user's energy that changes where the body is turned, or adds units."""
    law = body._energy_function
    if str(getattr(law, "__module__", "")).startswith("symancf.") or configuration.comm.rank:
        return
    from ..laws.properties.indifference import indifference
    from ..laws.properties.law import law_units, sample_of
    from ..laws.properties.structure import structure_of, structure_units

    asked = signature(law)
    numbers = body._numbers(configuration.time)
    own = {p: numbers[p] for p in asked.parameters if p in numbers}
    which = f"energy {asked.name}() of body {body.name!r}"
    if {*asked.quantities} <= solid().quantities.keys():
        sample = sample_of(law, own)
        called = sample.called
        plain = {"F", "H"} & {*asked.quantities} and not (called.local or called.history)
        turned = indifference(sample) if plain else None
        if turned is not None and not turned.holds:
            warnings.warn(
                f"{which} depends on the frame: where the deformed body is turned as a whole, "
                f"{turned.note}. sa.check(law) shows F and Q",
                stacklevel=2,
            )
        added = law_units(sample)
    else:
        structure = structure_of(law, own)
        if structure is None:
            return
        added = structure_units(structure)
    if not added.holds:
        warnings.warn(
            f"{which} is no energy density in any units: {added.note}. sa.check(law) shows the "
            "units of parameters; numbers that have a unit are written with a point, as 20.0",
            stacklevel=2,
        )


def _measures(kernel: Kernel, R: Array, values: Mapping[str, Array | float]) -> Array:
    """Return what an energy is at reference coefficients R (cells, n, 3), the larger the worse.

    Whether it, its force and its stiffness are not finite; stress over that of a strain of one;
    lowest stiffness over the largest, with another sign; how many local solutions failed.
    """
    if not len(R):
        return np.zeros(6)
    nodes, pressed = R.shape[1], kernel.n > R.shape[1]
    with_scalars = (0, 0), (0, kernel.n - nodes), (0, 0)  # which stay zero
    random = np.random.default_rng(0).standard_normal((4, 1, *R.shape[1:]))
    R = np.pad(R, with_scalars)
    shapes = [R, *(np.broadcast_to(np.pad(x, with_scalars), R.shape) for x in random)]
    u = np.zeros_like(R)
    W, _ = kernel.energy(u, R, values)
    f, bad = kernel.residual(u, R, values)
    scale, lowest, finite = 0.0, 0.0, True
    for k, shape in enumerate(shapes):
        Kv, _ = kernel.product(u, shape, R, values)
        finite &= bool(np.isfinite(Kv).all())
        if not finite:
            break
        work = float(np.sum(Kv * shape))
        size = float(np.linalg.norm(Kv) * np.linalg.norm(shape))
        lowest = min(lowest, work / size if size else 0.0)
        if k == 0:
            scale = float(np.abs(Kv[:, :nodes]).max())
        elif pressed:  # a dilation may meet nothing but the pressure
            scale = max(scale, float(np.abs(R).max() * np.abs(Kv[:, :nodes]).max()))
    stress = float(np.abs(f).max())
    singular = not np.isfinite(W).all(), not np.isfinite(f).all(), not finite
    relative = stress / scale if scale > 0.0 and np.isfinite(stress) else 0.0
    return np.array([*singular, relative, -lowest, bad], float)


def _tell(
    name: str,
    energy: Callable[..., sp.Expr],
    kernel: Kernel,
    R: Array,
    values: Mapping[str, Array | float],
    comm: MPI.Comm,
    unknowns: Sequence[str],
) -> None:
    """Look at reference coefficients R (cells, n, 3), and parameters by name."""
    which = f"energy {signature(energy).name}() of body {name!r}"
    pressed = kernel.n > R.shape[1]
    largest = np.max(comm.allgather(_measures(kernel, R, values)), axis=0)
    if largest[5] and unknowns:
        raise KinematicsError(
            f"{which} has no solution for {', '.join(unknowns)} at rest: Newton's method finds "
            "none in the undeformed body; look at the equation, at parameters and where it starts",
            asked="solution at rest",
            given=unknowns,
        )
    wrong = [w for w, bad in zip(("W", "dW/du", "d2W/du2"), largest, strict=False) if bad]
    if wrong:
        raise KinematicsError(
            f"{which} is not finite at rest: {', '.join(wrong)} of the undeformed body. A root, a "
            "logarithm, a quotient or a norm of what vanishes (or is negative) at F = I does that; "
            "write squares instead of norms, or see its parameters",
            asked="energy at rest",
            given=tuple(wrong),
        )
    if getattr(energy, "stressed_at_rest", False) or comm.rank:
        return
    if largest[3] > REST_STRESS_TOLERANCE:
        so = "the free body changes its shape"
        if pressed:
            so = "its pressure at rest is not zero, and it may be unstable where J = 1 in the mean"
        warnings.warn(
            f"{which} is stressed at rest: without displacements its forces are {largest[3]:.2g} "
            f"times those of a strain of one, so that {so}. A solid "
            "in I1 needs - mu*log(J), or J**(-2/3)*I1 - 3. If that is intended, declare it: "
            "@sa.energies.stressed_at_rest above the function",
            stacklevel=2,
        )
    if largest[4] > 1e-6:
        warnings.warn(
            f"{which} is unstable at rest: a small displacement lowers it (stiffness of "
            f"{-largest[4]:.2g} of the largest). Look at signs and parameters; if that is "
            "intended, declare it: @sa.energies.stressed_at_rest above the function",
            stacklevel=2,
        )
