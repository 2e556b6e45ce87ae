# SPDX-License-Identifier: BSD-3-Clause
"""Cross-sections of rods: areas, moments, torsion and shear."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import ParameterError
from ..values.arguments import among
from ..values.parameter import label

SHEAR = ("cowper", "full")


@dataclass(frozen=True)
class Section:
    r"""A cross-section with principal axes 2 and 3 through its centroid; lengths in metres.

    Attributes
    ----------
    A : area [m^2].
    I2, I3 : second moments :math:`I_2 = \int z^2\,\mathrm dA`, of bending about axis 2, and
        :math:`I_3 = \int y^2\,\mathrm dA` [m^4]; y and z are measured along axes 2 and 3.
    J : torsion constant of Saint-Venant [m^4]; G J is the stiffness of a rod whose sections warp
        freely. Rods have no coordinate of warping: where a clamp holds an open thin section they
        are too soft.
    kind : ``"circle"``, ``"tube"``, ``"rectangle"``, ``"given"``: what the shear factors of Cowper
        are known for.
    ratio : of a tube, inner over outer radius.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((0.5,), (8,), cell="line3")
    >>> tube = sa.Section.tube(0.01, 0.001)
    >>> rod = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod,
    ...               **tube.rod(E=70e9, nu=0.33, rho=2700.0))
    """

    A: float
    I2: float
    I3: float
    J: float
    kind: str = "given"
    ratio: float = 0.0

    def __post_init__(self) -> None:
        for name in ("A", "I2", "I3", "J"):
            _positive(f"{name} of a section", getattr(self, name))

    @classmethod
    def circle(cls, radius: float) -> Section:
        """Return a full circle: A = pi r^2, I = pi r^4/4, J = 2 I."""
        _positive("the radius of a section", radius)
        moment = math.pi * radius**4 / 4.0
        return cls(math.pi * radius**2, moment, moment, 2.0 * moment, "circle")

    @classmethod
    def tube(cls, radius: float, thickness: float) -> Section:
        """Return a ring by its outer radius and the thickness of its wall."""
        _positive("the radius of a section", radius)
        _positive("the thickness of a section", thickness)
        inner = radius - thickness
        if inner < 0.0:
            raise ParameterError(
                f"the wall of a tube is {thickness:g} thick, more than its outer radius "
                f"{radius:g}: give less, or Section.circle"
            )
        moment = math.pi * (radius**4 - inner**4) / 4.0
        area = math.pi * (radius**2 - inner**2)
        return cls(area, moment, moment, 2.0 * moment, "tube", inner / radius)

    @classmethod
    def rectangle(cls, width: float, height: float) -> Section:
        r"""Return a rectangle, `width` along axis 2 and `height` along axis 3.

        With a the longer and b the shorter side

        .. math:: J = a b^3 \Bigl(\tfrac13 - \frac{64}{\pi^5}\frac ba \sum_{n = 1, 3, \dots}
            \frac{1}{n^5}\tanh\frac{n \pi a}{2 b}\Bigr).
        """
        _positive("the width of a section", width)
        _positive("the height of a section", height)
        a, b = max(width, height), min(width, height)
        total = sum(math.tanh(n * math.pi * a / (2.0 * b)) / n**5 for n in range(1, 200, 2))
        torsion = a * b**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * b / a * total)
        return cls(
            width * height, width * height**3 / 12.0, height * width**3 / 12.0, torsion, "rectangle"
        )

    def shear_factor(self, nu: float) -> float:
        """Return Cowper's shear factor of both axes, 1 where the shape is not known.

        References
        ----------
        G. R. Cowper, Journal of Applied Mechanics 33 (1966) 335-340.
        """
        if self.kind == "rectangle":
            return 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
        if self.kind in ("circle", "tube"):
            m = self.ratio**2
            whole = (1.0 + m) ** 2
            return 6.0 * (1.0 + nu) * whole / ((7.0 + 6.0 * nu) * whole + (20.0 + 12.0 * nu) * m)
        return 1.0

    def rod(
        self,
        *,
        E: float,
        nu: float,
        rho: float | None = None,
        shear: Literal["cowper", "full"] = "cowper",
    ) -> dict[str, Any]:
        """Return the parameters of `energies.rod`, and of the mass where `rho` is given.

        Parameters
        ----------
        E, nu : Young's modulus [Pa] and Poisson's ratio.
        rho : density [kg/m^3].
        shear : ``"cowper"``: G A times `shear_factor`; ``"full"``: G A.

        Raises
        ------
        ParameterError : they are out of their bounds.
        """
        _positive("E of a section", E)
        if not -1.0 < nu <= 0.5:
            raise ParameterError(f"nu of a section is {label(nu)}: give more than -1, at most 0.5")
        if not among(shear, SHEAR):
            raise ParameterError(f"shear is {label(shear)}: 'cowper' or 'full'")
        G = E / (2.0 * (1.0 + nu))
        k = self.shear_factor(nu) if shear == "cowper" else 1.0
        found: dict[str, Any] = {
            "EA": E * self.A,
            "GA2": k * G * self.A,
            "GA3": k * G * self.A,
            "GJ": G * self.J,
            "EI2": E * self.I2,
            "EI3": E * self.I3,
        }
        if rho is not None:
            _positive("rho of a section", rho)
            found |= {"rho": rho, "A": self.A, "I2": self.I2, "I3": self.I3}
        return found


def _positive(what: str, given: object) -> None:
    """Raise where something is no positive number."""
    if not isinstance(given, int | float) or not (math.isfinite(given) and given > 0.0):
        raise ParameterError(f"{what} is {label(given)}: give a positive number")
