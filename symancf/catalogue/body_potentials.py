# SPDX-License-Identifier: BSD-3-Clause
"""Energies of bodies in magnetic, electric and other fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from sympy import Expr, Matrix

from ..bodies.body import Body
from ..errors import KinematicsError, ParameterError
from ..kinematics.naming import signature
from ..kinematics.solid import cofactors
from ..laws.energy import energy_laws
from ..runtime.copies import OneProcess
from ..runtime.display import Displayable
from ..values import arguments
from ..values.arguments import name_or
from ..values.domain import checked, domains, domains_of, not_negative, positive, within_domains
from ..values.parameter import Field, components, label
from ..values.reader import name_of, require_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..arrays import Mask
    from ..assembly import protocol
    from ..assembly.configuration import Configuration, Layout
    from ..assembly.form import Form
    from ..laws.body import Laws
    from ..values.parameter import Value


class BodyPotential(OneProcess, Displayable):
    r"""Energy that a body has beside that of its strain, integrated over its cells.

    .. math:: V = \int w(F, r, X, t, \ldots)\, \mathrm dV .

    For fields that pull at a body: magnetic, electric, a field of force with a potential. The
    body keeps its law, whatever it is: with memory, in principal stretches, incompressible.

    Parameters
    ----------
    function : as an energy of the body's element: positional arguments are its quantities, also
        ``u``, ``r``, ``X`` and ``t``, keyword-only ones parameters. It returns w per reference
        volume [J/m^3], of thin plates per area, of rods and cables per length.
    body : deformable. The strain of `hex8` and `hex8_fbar` is that of their nodes alone, as in
        `hex8_plain`.
    parameters : numbers, `Parameter`, functions of time or `Field`; those not given are taken from
        the body.

    Raises
    ------
    KinematicsError : the function asks for what the element does not offer.
    ParameterError : a parameter is missing; the body is rigid, or one of `Layers`.

    Examples
    --------
    A beam whose dipoles (M along x) a magnet pulls, B = (0, 0, b z):

    >>> import symancf as sa
    >>> def gradient(F, r, *, M, b):
    ...     return -M * F[2, 0] * b * r[2]
    >>> mesh = sa.Mesh.box((0.02, 0.004, 0.001), (8, 2, 1))
    >>> given = {"mu": 1e5, "lam": 1e6}
    >>> beam = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> sa.BodyPotential(gradient, beam, M=1e5, b=0.5)
    BodyPotential "gradient on 'body'"
    """

    def __init__(
        self,
        function: Callable[..., Any],
        body: protocol.BodyProtocol,
        *,
        name: str | None = None,
        **parameters: Value,
    ) -> None:
        self.body: Body = _deformable("a potential of a body", body)
        self.function = arguments.function("the function of a potential of a body", function)
        self.name = name_or(name, f"{name_of(function)} on {self.body.name!r}")
        asked, of_body = signature(function), self.body.parameters
        self.element = self.body.element.without or self.body.element
        section = self.element.kinematics().section
        own = {k: v for k, v in of_body.items() if k in (*section, *asked.parameters)}
        needed = [k for k in asked.required if k not in own]
        optional = (*asked.defaults, *(k for k in asked.required if k in own))
        require_parameters(self.name, needed, parameters, optional=optional, exact=True)
        values = {**asked.defaults, **own, **parameters}
        self.parameters = within_domains(self.function, self.name, values)
        self.own = {k: v for k, v in self.parameters.items() if v is not own.get(k)}
        self._laws(curved=False)

    def bind(self, layout: Layout) -> Self:
        """Check that the body is one of the system's."""
        layout.require_member(self.body, layout.name(self))
        return self

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernels on this rank's cells."""
        fields = {k: v for k, v in self.own.items() if isinstance(v, Field)}
        uniform = {k: v for k, v in self.own.items() if k not in fields}
        options: dict[str, Any] = {"values": fields, "domains": domains_of(self.function)}
        own, name, forms = configuration.binding(self.body), configuration.name(self), []
        for laws, cells in self.variants(configuration):
            patch = own.patch(cells)
            forms.append(
                own.form(configuration, name, laws, "potential", uniform, patch, **options)
            )
            name = f"{configuration.name(self)} (curved)"
        return forms

    def variants(self, configuration: Configuration) -> list[tuple[Laws, Mask]]:
        """Return the laws, each with the cells (n,) of the body where it holds (collective)."""
        own = configuration.binding(self.body).variants(configuration)
        return [(self._laws(curved=laws is not self.body._laws), cells) for laws, cells in own]

    def _laws(self, curved: bool) -> Laws:
        """Return the laws with their quadrature rules, for straight or curved references."""
        fields = {k: v.per for k, v in self.parameters.items() if isinstance(v, Field)}
        options: dict[str, Any] = {"curved": True} if curved else {}
        return energy_laws(
            self.element, self.function, values=self.parameters, fields=fields, **options
        )


def _deformable(what: str, body: object) -> Body:
    """Return a body of cells that is none of layers.

    Raises
    ------
    ParameterError : it is another thing.
    """
    if not isinstance(body, Body) or body.layers is not None:
        kind = "a body of layers" if isinstance(body, Body) else label(body)
        raise ParameterError(
            f"{what}: it is given {kind}; give a deformable body, of one law",
            asked="body",
            given=kind,
        )
    return body


def magnetic(
    body: protocol.BodyProtocol,
    magnetisation: Sequence[Value] | Callable[..., Any],
    field: Sequence[Value] | Callable[..., Any],
    *,
    name: str | None = None,
    **section: Value,
) -> BodyPotential:
    r"""Ideal hard-magnetic body in a magnetic field.

    .. math:: V = -\int (F M) \cdot B\, \mathrm dV, \qquad M = B^r/\mu_0 .

    The dipoles turn and stretch with the material, and do not change the field. So a body of
    volume v feels the couple v F M x B.

    Parameters
    ----------
    body : solid, or plate with directors: M in the axes of space; or rod: M in those of its
        directors, along the rod first, for F d_k.
    magnetisation : M of the reference, three components [A/m]: numbers, `Parameter`, functions of
        time or `Field`, a pattern; or a function of time that returns three numbers. M is the
        residual flux density over mu0 = 4 pi 1e-7 N/A^2.
    field : B, three components [T], as for M. One that is not uniform is written as a
        `BodyPotential`: then it must be a gradient, as fields of magnets are.
    section : of rods `A` [m^2], by default the body's.

    Raises
    ------
    KinematicsError : the element offers neither F nor directors.
    ParameterError : the area of a rod is not known.

    Notes
    -----
    In mm, N, s and A: M in A/mm, B in T times 1e-3, N/(A mm).

    References
    ----------
    R. Zhao, Y. Kim, S. A. Chester, P. Sharma, X. Zhao, Journal of the Mechanics and Physics of
    Solids 124 (2019) 244-263.

    Examples
    --------
    >>> import math
    >>> import symancf as sa
    >>> section = sa.Section.rectangle(5e-3, 1e-3)
    >>> line = sa.Mesh.box((0.02,), (8,), cell="line3")["body"]
    >>> given = section.rod(E=0.3e6, nu=0.49, rho=2000.0)
    >>> beam = sa.Body(line, sa.elements.ancf_rod, sa.energies.rod(), **given)
    >>> sa.magnetic(beam, (80e3, 0.0, 0.0), (0.0, 0.0, lambda t: 0.02 * math.sin(t)))
    BodyPotential "magnetic field on 'body'"
    """
    given = _deformable("magnetic", body)
    name = name_or(name, f"magnetic field on {given.name!r}")
    values = _vector(f"{name}, magnetisation", "M", magnetisation)
    values |= _vector(f"{name}, field", "B", field)
    offered = (given.element.without or given.element).kinematics().quantities
    if "F" in offered:
        return BodyPotential(_magnetic_solid, given, name=name, **values, **section)
    if "d1" not in offered:
        raise KinematicsError(
            f"{name}: {given.element.name} offers neither F nor directors: take ancf_plate for a "
            "plate, ancf_rod for a rod",
            asked="element",
            given=given.element.name,
            possible=("ancf_plate", "ancf_thick_plate", "ancf_rod"),
        )
    if "A" not in {*section, *given.parameters}:
        raise ParameterError(
            f"{name}: the area of the section is not known: give A=, or rho= to the rod() of the "
            "body's section, which then has A",
            asked="A",
            given=tuple(given.parameters),
        )
    section = {k: checked(f"{k} of {name}", k, v, positive()) for k, v in section.items()}
    return BodyPotential(_magnetic_rod, given, name=name, **values, **section)


def dielectric(
    body: protocol.BodyProtocol,
    permittivity: Value,
    field: Sequence[Value] | Callable[..., Any],
    *,
    name: str | None = None,
) -> BodyPotential:
    r"""Ideal dielectric elastomer between electrodes with a prescribed voltage.

    .. math:: V = -\int \tfrac12 \varepsilon\, J\, |F^{-T} E|^2\, \mathrm dV .

    The stress of Maxwell follows, :math:`\varepsilon (e \otimes e - \tfrac12 e \cdot e\, I)` with
    the field :math:`e = F^{-T} E` in the present state. Electrodes are compliant, and fields at
    their edges neglected.

    Parameters
    ----------
    body : solid, or plate with directors.
    permittivity : epsilon [F/m], the relative one times 8.854e-12.
    field : E of the reference, three components [V/m]: the voltage over the thickness of the
        reference, along it. Numbers, `Parameter`, functions of time or `Field`; or a function of
        time that returns three numbers.

    Raises
    ------
    KinematicsError : the element does not offer F.

    Notes
    -----
    A voltage that rises beyond the pull-in, E sqrt(epsilon/mu) = 0.687 for an incompressible
    neo-Hookean sheet that is free in its plane, has no equilibrium: follow a displacement, or the
    voltage by `follow`.

    References
    ----------
    Z. Suo, Acta Mechanica Solida Sinica 23 (2010) 549-578; X. Zhao, Z. Suo, Applied Physics Letters
    91 (2007) 061921 (pull-in).

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((0.01, 0.01, 0.001), (2, 2, 1))
    >>> given = {"mu": 2e4, "lam": 2e6}
    >>> sheet = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> voltage = sa.Parameter("voltage", 0.0)
    >>> sa.dielectric(sheet, 4.7 * 8.854e-12, (0.0, 0.0, lambda t: voltage.value / 0.001))
    BodyPotential "electric field on 'body'"
    """
    given = _deformable("dielectric", body)
    name = name_or(name, f"electric field on {given.name!r}")
    values = _vector(f"{name}, field", "E", field)
    values = {f"{k}_field": v for k, v in values.items()} | {"permittivity": permittivity}
    return BodyPotential(_dielectric, given, name=name, **values)


def _vector(what: str, symbol: str, vector: Any) -> dict[str, Value]:
    """Return three components by name; some may be fields."""
    parts: Any = vector
    fields: dict[int, Field] = {}
    if not callable(vector) and not isinstance(vector, str):
        try:
            parts = list(vector)
        except TypeError:
            parts = vector
        else:
            fields = {a: part for a, part in enumerate(parts) if isinstance(part, Field)}
            parts = [0.0 if a in fields else part for a, part in enumerate(parts)]
    values: dict[int, Any] = dict(enumerate(components(what, parts)))
    values |= fields
    return {f"{symbol}{a + 1}": value for a, value in values.items()}


def _magnetic_solid(
    F: Matrix, *, M1: Expr, M2: Expr, M3: Expr, B1: Expr, B2: Expr, B3: Expr
) -> Expr:
    moment = F * Matrix([M1, M2, M3])
    return -(moment[0] * B1 + moment[1] * B2 + moment[2] * B3)


def _magnetic_rod(
    d1: Matrix,
    d2: Matrix,
    d3: Matrix,
    *,
    A: Expr,
    M1: Expr,
    M2: Expr,
    M3: Expr,
    B1: Expr,
    B2: Expr,
    B3: Expr,
) -> Expr:
    moment = M1 * d1 + M2 * d2 + M3 * d3
    return -A * (moment[0] * B1 + moment[1] * B2 + moment[2] * B3)


@domains(permittivity=not_negative())
def _dielectric(
    F: Matrix,
    J: Expr,
    *,
    permittivity: Expr,
    E1_field: Expr,
    E2_field: Expr,
    E3_field: Expr,
) -> Expr:
    e = cofactors(F) * Matrix([E1_field, E2_field, E3_field])  # J times that of the present state
    return -permittivity / (2 * J) * (e[0] ** 2 + e[1] ** 2 + e[2] ** 2)
