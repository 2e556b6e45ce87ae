# SPDX-License-Identifier: BSD-3-Clause
"""A frame that turns at a constant rate: centrifugal and Coriolis forces."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..bodies.plane import PlanarBody
from ..bodies.point import PointMass
from ..errors import ParameterError
from ..laws.turning import ABOUT, OMEGA
from ..values.arguments import name_or
from ..values.parameter import Parameter, components, evaluate, label
from .loads import Gravity

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..assembly.form import Form
    from ..bodies.body import Body
    from ..bodies.natural import RigidBody
    from ..values.parameter import Value, Vector


class RotatingFrame(Gravity):
    """Forces of inertia in a frame that turns; see `rotating_frame`."""

    def __init__(
        self,
        omega: Vector,
        about: Vector,
        bodies: tuple[Body | RigidBody | PlanarBody | PointMass, ...],
        name: str | None,
    ) -> None:
        name = name_or(name, "rotating frame")
        given_omega: Any = omega
        several = isinstance(given_omega, list | tuple | np.ndarray) and np.ndim(given_omega)
        parts = list(given_omega) if several else [given_omega]
        for body in (*parts, *(about if isinstance(about, list | tuple) else ())):
            if callable(body) and not isinstance(body, Parameter):
                raise ParameterError(
                    f"{name}: omega and about are numbers or Parameters, not {label(body)}: a "
                    "rate that changes in time has forces of its own",
                    asked="omega" if any(body is part for part in parts) else "about",
                    given=body,
                )
        components(f"{name}, omega", omega)
        super().__init__(omega, bodies or None)
        self.name = name
        self.about = components(f"{name}, about", about)

    def bind(self, layout: Layout) -> Self:
        """Announce nothing; check that the bodies have masses, and that no other frame turns."""
        for each in self.bodies or ():
            layout.require_member(each, layout.name(self))
        heavy = self._heavy(layout)
        if not heavy:
            raise ParameterError(
                f"{self.name}: no body has a mass; give rho=... to a body", asked="rho"
            )
        for body in heavy:
            before = layout.noted((RotatingFrame, id(body)), layout.name(self))
            if before is not None:
                raise ParameterError(
                    f"{before!r} and {layout.name(self)!r} both turn {layout.name(body)!r}: give "
                    "one frame",
                    asked="bodies",
                    given=layout.name(body),
                )
            if (
                isinstance(body, PlanarBody | PointMass)
                and body._blocks[0].size == 2
                and any(evaluate(f"{self.name}, omega", part, 0.0) for part in self.g[:2])
            ):
                raise ParameterError(
                    f"{self.name}: {layout.name(body)!r} leaves its plane unless omega is along z",
                    asked="omega",
                    given=self.g,
                )
        return self

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernels and entities on this rank."""
        uniform: dict[str, Value] = dict(zip(OMEGA, self.g, strict=True))
        uniform |= zip(ABOUT, self.about, strict=True)
        own, forms = configuration.name(self), []
        for body in map(configuration.binding, self._heavy(configuration)):
            centrifugal, coriolis = body.turning(configuration, uniform)
            forms += [
                replace(centrifugal, name=f"centrifugal:{own}:{body.name}"),
                replace(coriolis, name=f"coriolis:{own}:{body.name}", moving=True),
            ]
        return forms


def rotating_frame(
    omega: Vector,
    *bodies: Body | RigidBody | PlanarBody | PointMass,
    about: Vector = (0.0, 0.0, 0.0),
    name: str | None = None,
) -> RotatingFrame:
    r"""Describe a system in a frame that turns at a constant rate.

    Coordinates, supports and the ground turn with the frame. To the forces on bodies with masses
    (all, or those given) come

    .. math:: -\rho\, \omega \times (\omega \times (r - c)) - 2 \rho\, \omega \times v ,

    the centrifugal force, in statics, too, and that of Coriolis, by velocities in the frame. So
    `EigenProblem` has stiffening by the stresses of the spin once statics has found them,
    centrifugal softening, and Coriolis's coupling, which makes complex shapes. Dead loads and
    gravity keep their directions in the frame, so they turn with it.

    Parameters
    ----------
    omega : angular velocity, three components [rad/s], numbers or `Parameter`.
    about : a point c of the axis [m].

    Raises
    ------
    ParameterError : a component is a function of time; no body has a mass; two frames.

    Examples
    --------
    >>> import symancf as sa
    >>> blade = sa.Body(sa.Mesh.box((1.0,), (8,))["body"], sa.elements.ancf_cable,
    ...                 sa.energies.cable(), EA=1e6, EI=1.0, rho=1.0, A=1.0)
    >>> system = sa.System(blade, terms=[sa.fix(blade["x0"]), sa.rotating_frame((0, 0, 4.0))])
    >>> _ = sa.StaticProblem(system).solve()
    >>> sa.EigenProblem(system).solve(2).omega.round(2)      # Wright (1982): flap 5.585
    array([3.9 , 5.59])
    """
    return RotatingFrame(omega, about, bodies, name)
