# SPDX-License-Identifier: BSD-3-Clause
"""Cards of materials: laws with their constants, where they are from, and how far they reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import energies
from ..bodies.body import Body
from ..errors import ParameterError, closest, unknown_names
from ..runtime.display import Table
from ..values.arguments import one_of

if TYPE_CHECKING:
    from ..elements import Element
    from ..mesh import Region

__all__ = ["Card", "card", "cards"]

#: Bulk over shear modulus of rubbers where none was measured: a choice, nu = 0.495.
BULK = 100.0

#: What a stress [Pa], a density [kg/m^3] is in units: "mm" is N, mm, s, t.
_UNITS = {"SI": (1.0, 1.0), "mm": (1e-6, 1e-12)}

_MARECHAL = (
    "tests: L. Marechal, P. Balland, L. Lindenroth, F. Petrou, C. Kontovounisios, F. Bello, Soft "
    "Robotics 8 (2021) 284-297; constants: least squares of the relative stress, by symancf"
)
_TENSION = "uniaxial tension of new specimens, ASTM D412, 450 mm/min, room temperature"
_SMOOTH_ON = "technical bulletin of the maker, Smooth-On"


#: Prony series of VHB 4910: shares [-] and relaxation times [s].
_VHB_SHARES, _VHB_TIMES = (0.5956, 0.1775, 0.09645), (0.5685, 7.272, 84.96)


@dataclass(frozen=True)
class Card:
    """A material: a law with constants, and what is known of them.

    Attributes
    ----------
    name : of the material.
    law : its energy, of solids and plates with directors.
    parameters : constants of the law, and `rho` where the density is known, in `units`.
    source : of the constants.
    range : engineering strains (lowest, highest) for which they hold.
    error : largest relative error of the stress in `range`, of the tests; None: not known.
    conditions : kind of test, rate and temperature.
    choices : parameters that were not measured but chosen; they may be given otherwise.
    density_source : of `rho`, or "".
    expansion : coefficient of thermal expansion [1/K], or None where it is not known.
    units : ``"SI"`` or ``"mm"``.
    """

    name: str
    law: Callable[..., Any]
    parameters: Mapping[str, float]
    source: str
    range: tuple[float, float]
    error: float | None
    conditions: str
    choices: tuple[str, ...] = ()
    density_source: str = ""
    expansion: float | None = None
    units: str = "SI"

    def body(self, region: Region, element: Element | None = None, **options: Any) -> Body:
        """Return a body of the material.

        Parameters
        ----------
        region : of cells, ``mesh["part"]``.
        element : by default one that `symancf.Body` chooses.
        options : what else `symancf.Body` takes, also other values of `parameters`.

        Examples
        --------
        >>> import symancf as sa
        >>> mesh = sa.Mesh.box((0.05, 0.01, 0.01), (5, 1, 1))
        >>> sa.materials.card("Ecoflex 00-30").body(mesh["body"], sa.elements.hex8, name="finger")
        Body 'finger': 5 hex8 with yeoh
        """
        values = {**self.parameters, **options}
        if element is None:
            return Body(region, self.law, **values)
        return Body(region, element, self.law, **values)

    def __str__(self) -> str:
        low, high = (f"{100 * x:g} %" for x in self.range)
        stress = "Pa" if self.units == "SI" else "MPa"
        constants = ", ".join(f"{k} = {v:.4g}" for k, v in self.parameters.items())
        lines = [
            f"{self.name}: {getattr(self.law, '__name__', '')} with {constants} ({stress})",
            f"strains {low} to {high}; {self.conditions}",
        ]
        if self.error is not None:
            lines.append(f"stress within {100 * self.error:.2g} % of the tests")
        lines.append(f"source: {self.source}")
        if self.density_source:
            lines.append(f"density: {self.density_source}")
        if self.choices:
            lines.append(f"not measured, a choice: {', '.join(self.choices)}")
        return "\n".join(lines)


def _yeoh(
    name: str, C10: float, C20: float, C30: float, high: float, error: float, rho: float = 0.0
) -> Card:
    """Return the card of a silicone of Marechal et al.; constants in kPa."""
    constants = {"C10": 1e3 * C10, "C20": 1e3 * C20, "C30": 1e3 * C30, "k": 2e3 * BULK * C10}
    density = {"rho": rho} if rho else {}
    return Card(
        name,
        energies.yeoh(),
        constants | density,
        _MARECHAL,
        (0.1, high),
        error,
        _TENSION,
        choices=("k",),
        density_source=_SMOOTH_ON if rho else "",
    )


def _elastic(name: str, rho: float, E: float, alpha: float, most: float, source: str) -> Card:
    """Return the card of a metal."""
    return Card(
        name,
        energies.saint_venant_kirchhoff(),
        {"E": E, "nu": 0.3, "rho": rho},
        source,
        (-most, most),
        None,
        "design value at room temperature, elastic, before yield",
        density_source=source,
        expansion=alpha,
    )


_CARDS = (
    _yeoh("Ecoflex 00-10", 3.655, 0.126, 0.0003, 2.0, 0.12, 1040.0),
    _yeoh("Ecoflex 00-30", 7.341, 0.3019, -0.0186, 2.0, 0.08, 1070.0),
    _yeoh("Ecoflex 00-35 FAST", 13.06, 0.6629, -0.0114, 3.0, 0.06),
    _yeoh("Ecoflex 00-50", 9.659, 0.655, -0.0381, 2.0, 0.10, 1070.0),
    _yeoh("Dragon Skin FX-Pro", 14.12, 0.895, -0.0202, 3.0, 0.05),
    _yeoh("Dragon Skin 10", 20.77, 3.436, -0.149, 2.0, 0.04, 1070.0),
    _yeoh("Dragon Skin 20", 55.89, 10.81, -0.6011, 2.0, 0.09, 1080.0),
    _yeoh("Dragon Skin 30", 86.86, 11.29, -0.5605, 2.0, 0.06, 1080.0),
    _yeoh("Rebound 25", 47.09, 5.521, -0.213, 2.0, 0.05),
    _yeoh("Mold Star 16 FAST", 41.05, 3.124, -0.0541, 3.0, 0.03),
    _yeoh("Mold Star 20T", 53.75, 3.802, -0.0712, 3.0, 0.04),
    _yeoh("SortaClear 40", 137.8, 6.335, -0.0919, 3.0, 0.02),
    _yeoh("RTV615", 162.1, 17.0, -0.2335, 1.0, 0.03),
    Card(
        "natural rubber (Treloar)",
        energies.ogden(terms=3),
        {
            "mu1": 0.6178e6,
            "alpha1": 1.3,
            "mu2": 1.177e3,
            "alpha2": 5.0,
            "mu3": -9.807e3,
            "alpha3": -2.0,
            "k": BULK * 0.4143e6,
        },
        "R. W. Ogden, Proc. R. Soc. Lond. A 326 (1972) 565-584; tests: L. R. G. Treloar, Trans. "
        "Faraday Soc. 40 (1944) 59-70",
        (0.1, 6.0),
        0.12,
        "8 % sulphur rubber in uniaxial and equibiaxial tension (the latter to strains of 3.4), "
        "near equilibrium, room temperature",
        choices=("k",),
    ),
    Card(
        "VHB 4910",
        energies.prony(energies.ogden(terms=1), g=_VHB_SHARES, tau=_VHB_TIMES),
        {
            "mu1": 0.1616e6,
            "alpha1": 1.603,
            "k": BULK * 0.1295e6,
            "rho": 960.0,
            **{f"g{i}": g for i, g in enumerate(_VHB_SHARES, 1)},
            **{f"tau{i}": tau for i, tau in enumerate(_VHB_TIMES, 1)},
        },
        "tests: Chongran Zhao, VHB4910_data (2025), github.com/Chongran-Zhao/VHB4910_data; "
        "constants: least squares of four of them, by symancf",
        (0.0, 3.0),
        None,
        "uniaxial: ramps of 0.25 1/s, holds of 400 s, loading and unloading at 0.01 to 0.05 1/s; "
        "rms 1 to 8 % of the largest stress; times in s, moduli at once; room temperature",
        choices=("k",),
        density_source="technical data of the maker, 3M",
    ),
    Card(
        "Sylgard 184, cured at 25 C",
        energies.neo_hooke(),
        {"mu": 1.32e6 / 3, "lam": BULK * 1.32e6 / 3, "rho": 1030.0},
        "I. D. Johnston, D. K. McCluskey, C. K. L. Tan, M. C. Tracey, J. Micromech. Microeng. 24 "
        "(2014) 035017: Young's modulus 1.32 MPa",
        (0.0, 0.1),
        None,
        "tension, room temperature; a cure at 200 C gives 2.97 MPa",
        choices=("lam",),
        density_source="data sheet of the maker, Dow",
    ),
    _elastic(
        "structural steel",
        7850.0,
        210e9,
        12e-6,
        1e-3,
        "EN 1993-1-1:2005, 3.2.6; density: EN 1991-1-1:2002, table A.4 (77 kN/m^3)",
    ),
    _elastic(
        "stainless steel 1.4301",
        7900.0,
        200e9,
        16e-6,
        5e-4,
        "EN 1993-1-4:2006, 2.1; density and expansion: EN 10088-1:2005, physical properties",
    ),
    _elastic("aluminium alloy", 2700.0, 70e9, 23e-6, 1e-3, "EN 1999-1-1:2007, 3.2.5"),
)


def card(name: str, units: str = "SI") -> Card:
    """Return the card of a material.

    Parameters
    ----------
    name : as in `cards`, in small or capital letters.
    units : ``"SI"`` (N, m, Pa, kg/m^3) or ``"mm"`` (N, mm, MPa, t/mm^3, s).

    Raises
    ------
    ParameterError : there is no such card, it lists those that there are; or no such units.

    Notes
    -----
    Constants are those of one batch. Silicones of one name differ with cure, age, rate and first or
    later loading: for Dragon Skin 10 the modulus at small strains is 0.12 MPa here, and 0.26 MPa
    fitted to a beam by M. Dubied et al., IEEE RA-L 7 (2022). Measure your own where it matters.
    The bulk modulus of rubbers is a choice, 100 shear moduli (nu = 0.495): give another `k`.

    Examples
    --------
    >>> import symancf as sa
    >>> soft = sa.materials.card("Ecoflex 00-30")
    >>> soft.range, soft.parameters["C10"], soft.parameters["rho"]
    ((0.1, 2.0), 7341.0, 1070.0)
    >>> mesh = sa.Mesh.box((0.05, 0.01, 0.01), (5, 1, 1))
    >>> sa.Body(mesh["body"], sa.elements.hex8, soft.law, **soft.parameters)
    Body 'body': 5 hex8 with yeoh
    """
    one_of("card(units=...)", units, tuple(_UNITS))
    names = tuple(each.name for each in _CARDS)
    known = {each.name.lower(): each for each in _CARDS}
    key = str(name).lower().strip()
    if key not in known:
        raise ParameterError(
            f"there is no card {name!r}; there are: {', '.join(names)}.{closest(name, names)}",
            asked="name",
            given=name,
            possible=names,
        )
    found = known[key]
    stress, density = _UNITS[units]
    values = {k: v * _factor(k, stress, density) for k, v in found.parameters.items()}
    return replace(found, parameters=values, units=units)


def _factor(name: str, stress: float, density: float) -> float:
    if name == "rho":
        return density
    return 1.0 if name.startswith(("nu", "alpha", "g", "tau")) else stress


def cards() -> Table:
    """Return the table of the cards: materials, laws, strains and sources.

    Examples
    --------
    >>> import symancf as sa
    >>> sa.materials.cards().heads
    ['material', 'law', 'strains to', 'source']
    """
    table = Table("Materials", "material", "law", "strains to", "source")
    for each in _CARDS:
        table.add(each.name, getattr(each.law, "__name__", ""), each.range[1], each.source)
    return table


__getattr__ = unknown_names("symancf.materials", __all__)


def __dir__() -> list[str]:
    """Names for completion."""
    return __all__
