# SPDX-License-Identifier: BSD-3-Clause
"""Cross-sections of rods: areas, moments, torsion and shear."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from symancf import Field, ParameterError

from ..interface import argument, arguments, call, label, reals, together
from .torsion import of_rectangle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from symancf import Layers, Region

    from ..interface import Array
    from .laminate import Laminate
    from .outline import Triangles

Pair = tuple[float, float]
Shear = Literal["cowper", "energy", "full"]
SHEAR = ("cowper", "energy", "full")


@dataclass(frozen=True)
class Section:
    r"""A cross-section on axes 2 and 3 through its centroid, the axis of the rod.

    Attributes
    ----------
    A : area [m^2].
    I2, I3 : second moments :math:`I_2 = \int z^2\,\mathrm dA`, of bending about axis 2, and
        :math:`I_3 = \int y^2\,\mathrm dA` [m^4]; y and z are measured along axes 2 and 3.
    J : torsion constant of Saint-Venant [m^4]; G J is the stiffness of a rod whose sections warp
        freely. Rods have no coordinate of warping: where a clamp restrains the warping of an open
        thin section they are too soft.
    kind : ``"circle"``, ``"tube"``, ``"rectangle"``: what the shear factors of Cowper are known
        for; ``"own"``: those of the energy are; ``"given"``: none.
    ratio : of a tube, inner over outer radius.
    I23 : :math:`\int y z\,\mathrm dA` [m^4]; 0 on principal axes.
    centre : y, z of the shear centre [m]. A force that acts elsewhere twists the rod, and a rod
        whose ends may not twist is stiffer than its EI says; neither is neglected.
    centroid : where in the drawing of an own shape the centroid, and so the axis of the rod, is.
    warping : :math:`\int \omega^2\,\mathrm dA` about the shear centre [m^6], None: not known. It
        is information only: of a beam of length L restrained against warping, more than
        :math:`\sqrt{E\,\Gamma/(G J)}` from its ends twists as if it was not.
    compliance : integrals of own shapes from which shear stiffness follows, in powers of
        :math:`\nu/2(1+\nu)`, of axes 22, 23, 33 each.
    error : estimated relative error of J and of the shear of own shapes.
    outlines : points along the outline and the holes, from the centroid, for pictures.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((0.5,), (8,), cell="line3")
    >>> tube = sa.Section.tube(0.01, 0.001)
    >>> rod = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(),
    ...               **tube.rod(E=70e9, nu=0.33, rho=2700.0))
    """

    A: float
    I2: float
    I3: float
    J: float
    kind: str = "given"
    ratio: float = 0.0
    I23: float = 0.0
    centre: Pair = (0.0, 0.0)
    centroid: Pair = (0.0, 0.0)
    warping: float | None = None
    compliance: tuple[tuple[float, float, float], ...] = ()
    error: float = 0.0
    outlines: tuple[tuple[Pair, ...], ...] = ()

    def __post_init__(self) -> None:
        for name in ("A", "I2", "I3", "J"):
            _positive(f"{name} of a section", getattr(self, name))
        if not self.I23**2 < self.I2 * self.I3:
            raise ParameterError(
                f"I23 of a section is {label(self.I23)}: its square is less than I2 I3",
                asked="I23",
                given=self.I23,
            )

    # ---- known shapes ---------------------------------------------------------------------------
    @classmethod
    def circle(cls, radius: float) -> Section:
        """Return a full circle, a tube without a hole: A = pi r^2, I = pi r^4/4, J = 2 I."""
        return replace(cls.tube(radius, thickness=radius), kind="circle")

    @classmethod
    def tube(cls, radius: float, thickness: float) -> Section:
        """Return a ring by its outer radius and the thickness of its wall."""
        radius = arguments.length("the radius of a section", radius)
        thickness = arguments.length("the thickness of a section", thickness)
        inner = radius - thickness
        if inner < 0.0:
            raise ParameterError(
                f"the wall of a tube is {thickness:g} thick, more than its outer radius "
                f"{radius:g}: give less, or Section.circle",
                asked="thickness",
                given=thickness,
            )
        moment = math.pi * (radius**4 - inner**4) / 4.0
        area = math.pi * (radius**2 - inner**2)
        rims = tuple(_round(r) for r in (radius, inner) if r > 0.0)
        ratio = inner / radius
        return cls(area, moment, moment, 2.0 * moment, "tube", ratio, warping=0.0, outlines=rims)

    @classmethod
    def rectangle(cls, width: float, height: float) -> Section:
        r"""Return a rectangle, `width` along axis 2 and `height` along axis 3.

        With a the longer and b the shorter side

        .. math:: J = a b^3 \Bigl(\tfrac13 - \frac{64}{\pi^5}\frac ba \sum_{n = 1, 3, \dots}
            \frac{1}{n^5}\tanh\frac{n \pi a}{2 b}\Bigr).
        """
        width = arguments.length("the width of a section", width)
        height = arguments.length("the height of a section", height)
        y, z = width / 2.0, height / 2.0
        return cls(
            width * height,
            width * height**3 / 12.0,
            height * width**3 / 12.0,
            of_rectangle(width, height),
            "rectangle",
            outlines=(((-y, -z), (y, -z), (y, z), (-y, z)),),
        )

    # ---- own shapes -----------------------------------------------------------------------------
    @classmethod
    def polygon(
        cls,
        points: npt.ArrayLike,
        holes: Sequence[npt.ArrayLike] = (),
        *,
        tolerance: float = 1e-5,
    ) -> Section:
        """Return the section within a polygon, less its holes.

        Parameters
        ----------
        points : corners (n, 2) along axes 2 and 3, in either sense; wherever they are, the axis
            of the rod is their centroid, the attribute `centroid`.
        holes : polygons inside of it.
        tolerance : error of J and of the shear stiffness, by Zienkiewicz and Zhu's estimate;
            triangles are refined until it is reached; see `warping.py`.

        Raises
        ------
        ParameterError : the polygon has no area or meets itself, a hole is not inside.

        Examples
        --------
        >>> import symancf as sa
        >>> t, b, h = 0.002, 0.03, 0.05
        >>> angle = sa.Section.polygon([(0, 0), (b, 0), (b, t), (t, t), (t, h), (0, h)])
        >>> [round(1e3 * x, 1) for x in angle.centroid]  # in mm, from the outer corner
        [6.4, 16.4]
        """
        from .outline import rings, triangulate

        outlines = rings(points, holes)
        return cls._own(triangulate(outlines), tolerance, outlines)

    @classmethod
    def from_mesh(cls, region: Region, *, tolerance: float = 1e-5) -> Section:
        """Return the section that the triangles or quadrilaterals of a mesh cover (collective).

        Parameters
        ----------
        region : of a mesh in a plane z = const, whose x and y are axes 2 and 3. Sides with nodes
            between their corners are taken as straight between neighbours.
        tolerance : as for `polygon`.

        Raises
        ------
        MeshError : the region holds other cells, or is not in such a plane.
        """
        from .meshed import triangles_of

        comm = region.mesh.comm
        mesh = triangles_of(region)
        with together(comm):
            return cls._own(mesh, tolerance, [])

    @classmethod
    def _own(cls, mesh: Triangles, tolerance: float, outlines: list[Array]) -> Section:
        from .warping import analyse

        _positive("the tolerance of a section", tolerance)
        result = analyse(mesh, tolerance)
        (I3, I23), (_, I2) = result.inertia.tolist()
        cy, cz = result.centroid.tolist()
        drawn = [ring - result.centroid for ring in outlines]
        digits = 3.0 * result.error * math.sqrt(result.A)  # of the shear centre
        ys, zs = (float(x) if abs(x) > digits else 0.0 for x in result.centre)
        return cls(
            result.A,
            I2,
            I3,
            result.J,
            "own",
            0.0,
            I23 if abs(I23) > 1e-12 * (I2 + I3) else 0.0,
            (ys, zs),
            (cy, cz),
            result.warping,
            tuple((float(s[0, 0]), float(s[0, 1]), float(s[1, 1])) for s in result.compliance),
            result.error,
            tuple(tuple((float(y), float(z)) for y, z in ring) for ring in drawn),
        )

    @property
    def principal(self) -> tuple[float, float, float]:
        """Angle [rad] from axis 2 to the first principal axis, and the moments about both.

        That is the axis about which the moment is the larger.
        """
        mean, half = (self.I2 + self.I3) / 2.0, (self.I2 - self.I3) / 2.0
        radius = math.hypot(half, self.I23)
        angle = 0.5 * math.atan2(-self.I23, half) if radius > 1e-12 * mean else 0.0
        return angle, mean + radius, mean - radius

    def scaled(self, factor: float) -> Section:
        """Return the similar section whose lengths are `factor` times as large."""
        f = arguments.length("the factor of a section", factor)
        return replace(
            self,
            A=self.A * f**2,
            I2=self.I2 * f**4,
            I3=self.I3 * f**4,
            J=self.J * f**4,
            I23=self.I23 * f**4,
            centre=(self.centre[0] * f, self.centre[1] * f),
            centroid=(self.centroid[0] * f, self.centroid[1] * f),
            warping=None if self.warping is None else self.warping * f**6,
            compliance=tuple((a / f**2, b / f**2, c / f**2) for a, b, c in self.compliance),
            outlines=tuple(tuple((y * f, z * f) for y, z in ring) for ring in self.outlines),
        )

    # ---- stiffness ------------------------------------------------------------------------------
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
            denominator = (1.0 + m) ** 2
            return (
                6.0
                * (1.0 + nu)
                * denominator
                / ((7.0 + 6.0 * nu) * denominator + (20.0 + 12.0 * nu) * m)
            )
        return 1.0

    def shear_factors(self, nu: float) -> tuple[float, float, float]:
        r"""Return the shear factors k22, k33, k23 of an own shape, by the energy of its stresses.

        Forces at the shear centre are :math:`Q_i = G A\, k_{ij} \gamma_j`. Unlike Cowper's, which
        are defined by mean displacements, they do not grow with nu; at nu = 0 both are the same.

        References
        ----------
        F. Gruttmann, W. Wagner, Computational Mechanics 27 (2001) 199-207.
        """
        if not self.compliance:
            raise ParameterError(
                f"shear_factors of a {self.kind} section: they are known of polygons and meshes; "
                "shear_factor has those of Cowper",
                asked="shear_factors",
                given=self.kind,
                possible=("polygon", "mesh"),
            )
        c = nu / (2.0 * (1.0 + nu))
        f22, f23, f33 = (
            sum(c**k * row[j] for k, row in enumerate(self.compliance)) for j in range(3)
        )
        d = self.A * (f22 * f33 - f23**2)
        return f33 / d, f22 / d, -f23 / d

    def rod(
        self, *, E: float, nu: float, rho: float | None = None, shear: Shear | None = None
    ) -> dict[str, Any]:
        """Return the parameters of `energies.rod`, and of the mass where `rho` is given.

        Parameters
        ----------
        E, nu : Young's modulus [Pa] and Poisson's ratio.
        rho : density [kg/m^3].
        shear : ``"cowper"``: G A times `shear_factor`, the default of known shapes; ``"energy"``:
            by `shear_factors`, that of own ones; ``"full"``: G A.

        Raises
        ------
        ParameterError : they are out of their bounds; the shape has no such shear factors.
        """
        _positive("E of a section", E)
        must = "be more than -1, at most 0.5"
        nu = arguments.number("Section", "nu", nu, must, lambda x: -1.0 < x <= 0.5)
        own = self.kind == "own"
        shear = ("energy" if own else "cowper") if shear is None else shear
        if not arguments.among(shear, SHEAR):
            raise ParameterError(
                f"shear is {label(shear)}: 'cowper', 'energy' or 'full'",
                asked="shear",
                given=shear,
                possible=SHEAR,
            )
        if own and shear == "cowper":
            raise ParameterError(
                "shear='cowper' is not known of own shapes: 'energy' or 'full'",
                asked="shear",
                given=shear,
                possible=("energy", "full"),
            )
        G = E / (2.0 * (1.0 + nu))
        k = (1.0, 1.0, 0.0)
        if shear == "energy":
            k = self.shear_factors(nu)
        elif shear == "cowper":
            k = (self.shear_factor(nu),) * 2 + (0.0,)
        parameters: dict[str, Any] = {
            "EA": E * self.A,
            "GA2": k[0] * G * self.A,
            "GA3": k[1] * G * self.A,
            "GJ": G * self.J,
            "EI2": E * self.I2,
            "EI3": E * self.I3,
        }
        if own or self.I23 or any(self.centre):
            parameters |= {"GA23": k[2] * G * self.A, "EI23": E * self.I23}
            parameters |= {"y_shear": self.centre[0], "z_shear": self.centre[1]}
        if rho is not None:
            _positive("rho of a section", rho)
            parameters |= {"rho": rho, "A": self.A, "I2": self.I2, "I3": self.I3}
            if "EI23" in parameters:
                parameters["I23"] = self.I23
        return parameters

    @staticmethod
    def laminate(layers: Layers, *, width: float, **parameters: float) -> Laminate:
        r"""Return the stiffness and mass of a strip of layers, a rod with couplings.

        Axis 2 is along the width, axis 3 across the layers; angles count from the rod towards
        axis 2. With the compliance :math:`s` of a plate, the inverse of A, B, D, and no forces at
        the edges, :math:`N_{22} = M_{22} = 0`,

        .. math::
            C^{-1} = \tfrac1b\, P^T s\, P, \qquad
            (N_{11}, N_{12}, M_{12}, M_{11}) = (N, Q_2, -\tfrac12 T, M_2)/b .

        The compliance of :math:`Q_2` is 6/5 of it; that of a torque is larger by what the edges of
        an orthotropic rectangle add; that of :math:`Q_3` is the energy of shear stresses in
        equilibrium with the moment, as it has to be for soft cores. About axis 3 a strip bends
        with neither curvature nor twist of its layers. One isotropic layer has the stiffness of
        a `rectangle`, with shear factors of 5/6.

        Parameters
        ----------
        layers : of laws of a solid from E_gl, C, F, H, J, I1, I2; their stiffness at small strain
            is taken. Without offset.
        width : b [m], large beside the thickness: sections keep their shape and warp freely.
        parameters : numbers for the parameters of the layers, ``rho`` among them.

        Returns
        -------
        C : for ``energies.rod(C=C)``.
        mass : parameters of the body, ``A``, and with densities ``rho``, ``I2``, ``I3``.

        Raises
        ------
        ParameterError : a parameter is missing or out of bounds; the mass is not about the middle.

        References
        ----------
        R. M. Jones, Mechanics of Composite Materials, 2nd ed. (1999), chapter 4; P. Minguet,
        J. Dugundji, AIAA Journal 28 (1990) 1573-1579 (strips as rods).

        Examples
        --------
        >>> import symancf as sa
        >>> ply = sa.energies.orthotropic()
        >>> layup = sa.Layers([(ply, 0.5e-3, a) for a in (45, 45, 0, 0)], degrees=True)
        >>> strip = sa.Section.laminate(layup, width=0.03, E1=142e9, E2=9.8e9, E3=9.8e9,
        ...     nu12=0.3, nu13=0.3, nu23=0.4, G12=6e9, G13=6e9, G23=3.5e9, rho=1600.0)
        >>> line = sa.Mesh.box((0.5,), (8,), cell="line3")["body"]
        >>> law = sa.energies.rod(C=strip.C)
        >>> blade = sa.Body(line, sa.elements.ancf_rod, law, **strip.mass)
        """
        from .laminate import laminate

        return laminate(layers, width, parameters)

    @classmethod
    def varying(
        cls,
        at: Callable[[Array], Section],
        *,
        E: float,
        nu: float,
        rho: float | None = None,
        shear: Shear | None = None,
    ) -> dict[str, Any]:
        """Return the parameters of a rod whose section depends on the place, as `rod` does.

        Parameters
        ----------
        at : function of a place X (3,) of the reference that returns the section there. It is
            asked at quadrature points; of own shapes take `scaled` ones, or some known before.
        E, nu, rho, shear : as for `rod`.

        Examples
        --------
        >>> import symancf as sa
        >>> mesh = sa.Mesh.box((0.5,), (8,), cell="line3")
        >>> taper = sa.Section.varying(lambda X: sa.Section.circle(0.01 * (1 - X[0])),
        ...                            E=70e9, nu=0.33, rho=2700.0)
        >>> cone = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **taper)
        """
        cache: dict[bytes, dict[str, Any]] = {}
        general = {"GA23": 0.0, "EI23": 0.0, "y_shear": 0.0, "z_shear": 0.0}
        mass = {} if rho is None else {"I23": 0.0}

        def one(x: Array) -> dict[str, Any]:
            key = x.tobytes()
            if key not in cache:
                section = call("the sections of a rod", at, x.copy())
                if not isinstance(section, Section):
                    raise ParameterError(
                        f"the sections of a rod: {label(at)} returned {label(parameters)}: "
                        "return a Section"
                    )
                cache[key] = general | mass | section.rod(E=E, nu=nu, rho=rho, shear=shear)
            return cache[key]

        def field(name: str) -> Field:
            return Field(lambda X: np.array([one(x)[name] for x in X]), per="point")

        names = ["EA", "GA2", "GA3", "GJ", "EI2", "EI3", *general]
        parameters: dict[str, Any] = {name: field(name) for name in names}
        if rho is not None:
            parameters |= {"rho": rho} | {name: field(name) for name in ("A", "I2", "I3", "I23")}
        return parameters


def _round(radius: float) -> tuple[Pair, ...]:
    """Return points along a circle, for pictures."""
    angles = np.linspace(0.0, 2.0 * math.pi, 24, endpoint=False)
    return tuple((radius * math.cos(a), radius * math.sin(a)) for a in angles.tolist())


def _positive(what: str, given: object) -> None:
    """Raise where something is no positive number."""
    number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    size = reals(given) if number else np.zeros(0)
    if size.shape != () or not 1e-300 < size < 1e300:
        raise ParameterError(
            f"{what} is {label(given)}: give a positive number", asked=argument(what), given=given
        )
