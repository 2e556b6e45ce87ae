# SPDX-License-Identifier: BSD-3-Clause
"""Viscous stresses in bodies: Kelvin-Voigt damping, and laws of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from ..bodies.body import Body
from ..errors import KinematicsError, ParameterError
from ..kinematics.naming import signature
from ..laws import viscous
from ..laws.energy import rule_of
from ..runtime import jit
from ..runtime.copies import OneProcess
from ..runtime.display import Displayable
from ..runtime.jit import declare
from ..values import arguments
from ..values.arguments import name_or
from ..values.domain import checked, not_negative, within_domains
from ..values.parameter import Field, label
from ..values.reader import require_parameters

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw, Rule

    from ..assembly import protocol
    from ..assembly.configuration import Configuration, Layout
    from ..assembly.form import Form
    from ..laws.viscous import Viscous
    from ..values.parameter import Value


GAINS = "a negative viscosity would feed energy"


class Viscosity(OneProcess, Displayable):
    """Stresses that depend on rates of strain, integrated over a body.

    Parameters
    ----------
    body : deformable.
    function : asks for quantities of the element and for their rates, ``E_gl_rate``; returns
        the stress conjugate to each rate, ``{"E_gl": S}``, per the measure of the element
        (volume, area of thin plates, length of cables). Keyword-only arguments are parameters.
    curved : the function for cells of a cable whose reference is curved, if it is another.
    quadrature : rule of the element; default: its full rule.
    parameters : values (numbers, `Parameter`, functions of time); those not given are taken
        from the body.

    Raises
    ------
    KinematicsError : the function asks for what the element does not offer.
    ParameterError : a parameter is missing.

    Examples
    --------
    >>> def newton(E_gl_rate, *, eta):
    ...     return {"E_gl": 2 * eta * E_gl_rate}
    """

    def __init__(
        self,
        body: protocol.BodyProtocol,
        function: Viscous,
        curved: Viscous | None = None,
        *,
        name: str | None = None,
        quadrature: str = "full",
        **parameters: Value,
    ) -> None:
        if not isinstance(body, Body):
            raise ParameterError(
                f"viscosity of {label(body)}: a rigid or planar body does not strain; give a "
                "deformable body",
                asked="body",
                given=label(body),
            )
        self.body: Body = body
        self.function = arguments.function("the function of a viscosity", function)
        self.curved = (
            self.function
            if curved is None
            else arguments.function("the function curved= of a viscosity", curved)
        )
        self.name = name_or(name, f"viscosity of {body.name!r}")
        self.rule: Rule = rule_of(body.element, quadrature)
        own_arguments = signature(function)
        of_body = {
            k: v
            for k, v in body.parameters.items()
            if k in ("thickness", *own_arguments.parameters)
        }
        needed = [k for k in own_arguments.required if k not in of_body]
        optional = (*own_arguments.defaults, *(k for k in own_arguments.required if k in of_body))
        require_parameters(self.name, needed, parameters, optional=optional, exact=True)
        own_values = {**own_arguments.defaults, **of_body, **parameters}
        law = f"{own_arguments.name}() of {self.name}"
        self.parameters = within_domains(self.function, law, own_values)
        fields = [k for k, v in self.parameters.items() if isinstance(v, Field)]
        if any(k not in body._fields for k in fields):
            raise ParameterError(
                f"{self.name}: {fields[0]} is a Field, which only bodies have",
                asked=fields[0],
                given="Field",
            )
        self.kinds = {k: body._fields[k] for k in fields}
        self._law(curved=False)

    def bind(self, layout: Layout) -> Self:
        """Check that the body is one of the system's."""
        layout.require_member(self.body, layout.name(self))
        return self

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernels on this rank's cells."""
        forms = []
        parameters = self.body.parameters
        values = {k: v for k, v in self.parameters.items() if v is not parameters.get(k)}
        values[declare.RATE_FACTOR] = 0.0  # the assembly knows it
        own, first = configuration.binding(self.body), configuration.name(self)
        for k, (laws, chosen) in enumerate(own.variants(configuration)):
            name = f"{first} (curved)" if k else first
            law = self._law(curved=laws is not self.body._laws)
            patch = own.patch(chosen)
            forms.append(own.form(configuration, name, [law], "dissipation", values, patch))
        return forms

    def _law(self, curved: bool) -> tuple[PointLaw, Rule]:
        """Return the law with its quadrature rule, for straight or curved references."""
        element, function = self.body.element, self.curved if curved else self.function
        name = jit.identifier(f"viscous_{function.__name__}")
        plain = element.without or element  # unknowns of cells have no rates
        kinematics = plain.kinematics(**({"curved": True} if curved else {}))
        if kinematics.local:
            raise KinematicsError(
                f"{self.name}: its stresses follow from rates, and the strain of {element.name} "
                "from unknowns of each cell, which have none: give the element `without=`, one of "
                "the same nodes that has no such unknowns",
                asked="element",
                given=element.name,
            )
        return viscous.viscous_law(name, kinematics, function, self.kinds), self.rule


class KelvinVoigt(Viscosity):
    r"""Viscous stress beside the elastic one; rigid motions are not damped.

    Solids: :math:`S = 2\eta\,\mathrm{dev}\dot E + \eta_v\,\mathrm{tr}\dot E\,I` with the
    Green-Lagrange strain E. Thin plates: the same without stress across the thickness, in the
    membrane and in bending. Cables: axial force :math:`\eta A\,\dot\epsilon` and moment
    :math:`\eta I\,\dot\kappa`. Rods: the forces and moments of `energies.rod` with the rates of
    its six strains in the place of the strains, times the time :math:`\tau = \eta A/EA` (or
    :math:`\eta A/C_{11}`), as of one material. Of cables and rods `eta` is the viscosity in
    tension, E times a relaxation time (three times that in shear where volumes stay); they have no
    `eta_volumetric`.

    The damping ratio of a mode of angular frequency w of a cable or rod is :math:`\tau w/2`, as of
    ``Rayleigh(stiffness=tau)``.

    `hex8` and `hex8_fbar` are damped by the strain rates of their nodes alone, those of
    `hex8_plain`: unknowns of cells have no rates. Bending is damped too much where a wall is few
    cells thick, with `eta_volumetric` in proportion to K/G: by 54 % with 1 cell, 14 % with 2, 3 %
    with 4 at nu = 0.3 (130, 34, 10 % at 0.45). Elements of second order have no such error.

    Parameters
    ----------
    eta, eta_volumetric : shear and bulk viscosity [Pa s]; of cables and rods that in tension.
    quadrature : rule of the element.
    section : of cables and rods, `A` [m^2], by default the body's; of cables, `I` [m^4], by default
        A EI/EA, as of one material, which follows what becomes of these; and `kappa_small` [1/m]:
        where the reference is straight and the cable free to bend in space, its curvature has no
        sign at zero, and curvatures below this one are not damped fully; default: 1e-6 over the
        extent of the body. ``cable(curvature="plane")`` has no such limit.

    Raises
    ------
    ParameterError : `A` or `I` is missing (both, or none, where the body has `A`, `EA`, `EI`); a
        cable or rod is given `eta_volumetric`; the body does not strain.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    >>> sa.KelvinVoigt(block, eta=0.01)
    KelvinVoigt "viscosity of 'body'"
    """

    def __init__(
        self,
        body: Any,
        *,
        eta: Value,
        eta_volumetric: Value = 0.0,
        name: str | None = None,
        quadrature: str = "full",
        **section: Value,
    ) -> None:
        values = {"eta": eta} | section
        if eta_volumetric != 0.0:
            values["eta_volumetric"] = eta_volumetric
        for key in {"eta", "eta_volumetric"} & {*values}:
            what = f"{key} of the viscosity of {getattr(body, 'name', label(body))!r}"
            values[key] = checked(what, key, values[key], not_negative(GAINS))
        function: Viscous = viscous.solid
        curved: Viscous | None = None
        family = body.element.kinematics().name if isinstance(body, Body) else "solid"
        if family == "cable":
            if "kappa_plane" in signature(body._energy_function).quantities:
                function = viscous.plane_cable
            else:
                function, curved = viscous.straight_cable, viscous.cable
                values.setdefault("kappa_small", 1e-6 / body.extent)
            if not {"A", "I"} & set(section) and {"A", "EA", "EI"} <= set(body.parameters):
                function = viscous.homogeneous(function)
                curved = curved and viscous.homogeneous(curved)
        elif family == "rod":
            function = viscous.coupled_rod if "C11" in body.parameters else viscous.rod
            if "A" not in {*section, *body.parameters}:
                raise ParameterError(
                    f"viscosity of {body.name!r}: the area of the section is not known: give A= or "
                    "rho= to the rod() of the body's section, which then has A",
                    asked="A",
                    given=tuple(body.parameters),
                )
        elif family == "surface":
            raise KinematicsError(
                f"body {body.name!r}: {body.element.name} has no strain to damp",
                asked="element",
                given=body.element.name,
            )
        else:
            values.setdefault("eta_volumetric", 0.0)
            function = viscous.thin_plate if family == "thin_plate" else viscous.solid
        super().__init__(body, function, curved, name=name, quadrature=quadrature, **values)
