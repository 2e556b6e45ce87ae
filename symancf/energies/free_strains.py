# SPDX-License-Identifier: BSD-3-Clause
"""Laws whose shape without stress changes: heat, swelling, growth, muscles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sympy import Expr, Matrix, MatrixBase, S, diag, eye

from ..errors import KinematicsError
from ..kinematics.memory import require_plain
from ..kinematics.moduli import constants_of, isotropic
from ..kinematics.naming import law_of, signature
from ..kinematics.quantity import real
from ..values.domain import by_call, domains, domains_as, positive, stressed_at_rest
from ..values.functions import REQUIRED, taking
from ..values.parameter import label
from ..values.reader import as_expression, call_symbolic, read, require_free, require_quantities

if TYPE_CHECKING:
    from ..values.reader import Signature
    from .solids import Energy

    Free = Callable[..., Any]

#: What a function of free strains may ask for.
_PLACES = ("X", "t")

#: What a stretch g to all sides makes of a quantity.
_ALIKE: dict[str, Callable[..., Any]] = {
    "J": lambda q, g: q / g**3,
    "I1": lambda q, g: q / g**2,
    "I2": lambda q, g: q / g**4,
    "C": lambda q, g: q / g**2,
    "F": lambda q, g: q / g,
    "H": lambda q, g: (q + eye(3)) / g - eye(3),
    "E_gl": lambda q, g: (q - eye(3) * (g**2 - 1) / 2) / g**2,
    **dict.fromkeys(("lambda1", "lambda2", "lambda3"), lambda q, g: q / g),
}

#: What F_g makes of a quantity: of the quantities by name, its inverse A and its determinant.
_GROWN: dict[str, Callable[..., Any]] = {
    "J": lambda of, A, g: of["J"] / g,
    "I1": lambda of, A, g: _elastic(of, A).trace(),
    "I2": lambda of, A, g: (_elastic(of, A).trace() ** 2 - sum(x**2 for x in _elastic(of, A))) / 2,
    "C": lambda of, A, g: _elastic(of, A),
    "F": lambda of, A, g: of["F"] * A,
    "H": lambda of, A, g: (of["H"] + eye(3)) * A - eye(3),
    "E_gl": lambda of, A, g: A.T * (of["E_gl"] + (eye(3) - _inverse(A).T * _inverse(A)) / 2) * A,
}


def _elastic(of: Mapping[str, Any], A: Matrix) -> Matrix:
    return A.T * of["C"] * A


def _determinant(A: MatrixBase) -> Expr:
    """Return the determinant of a 3x3 matrix."""
    minors = (A[1, k - 2] * A[2, k - 1] - A[1, k - 1] * A[2, k - 2] for k in range(3))
    return sum((A[0, k] * minor for k, minor in enumerate(minors)), S.Zero)


def _inverse(A: MatrixBase) -> Matrix:
    return A.adjugate() / _determinant(A)


def _swelling(*, swelling: Expr) -> Expr:
    return swelling


@by_call
def swollen(law: Energy, by: Free | None = None) -> Energy:
    r"""Return the energy of a solid whose shape without stress changes: heat, swelling, growth.

    .. math:: W = \det(F_g)\, W_0(F F_g^{-1}).

    Parameters
    ----------
    law : the energy W_0 of a solid, from the quantities J, I1, I2, C, F, H, E_gl and principal
        stretches.
    by : function that returns :math:`F_g`, the deformation of the free body [-]: an expression g
        for g I; three for stretches along the axes 1, 2, 3, which are x, y, z of a solid and those
        of the layer in `symancf.Layers`; or a 3x3 matrix in these axes. It may ask for the place
        of the reference ``X`` [m] and the time ``t`` [s]; its keyword-only arguments are new
        parameters of the law. Default: one parameter `swelling`, the stretch g.

    Returns
    -------
    Function of the same quantities (of C where it needs all of it) and parameters, and of those of
    `by`: numbers, `Parameter`, functions of time or `Field`. Named parts stay.

    Raises
    ------
    KinematicsError : the law asks for something else, for principal stretches where `by` is not
        alike to all sides, or has memory or unknowns of its own; `by` asks for something else, or
        returns something else.
    ParameterError : `by` has a parameter of the law's.

    Notes
    -----
    Where `by` returns three stretches or a matrix, and the law asks for I1 or I2, the new one asks
    for C, which all solids offer. With ``pressure=`` of `symancf.Body` the bulk modulus has to be
    finite, or all values numbers, and `by` a function of its parameters alone.

    Examples
    --------
    Steel that is warmed by 100 K at one end, in a second:

    >>> import symancf as sa
    >>> def heat(X, t, *, alpha):
    ...     return 1 + alpha * 100 * t * X[0]
    >>> warm = sa.energies.swollen(sa.energies.saint_venant_kirchhoff(), heat)
    >>> mesh = sa.Mesh.box((1.0, 0.1, 0.1), (4, 1, 1))
    >>> sa.Body(mesh["body"], sa.elements.hex8, warm, E=200e9, nu=0.3, alpha=12e-6)
    Body 'body': 4 hex8 with swollen_saint_venant_kirchhoff

    A bimetal, 1 K of difference in expansion of 1e-5 each second:

    >>> metal = sa.energies.saint_venant_kirchhoff()
    >>> warm = sa.energies.swollen(metal)
    >>> bimetal = sa.Layers([(metal, 1e-3), (warm, 1e-3, 0, {"swelling": lambda t: 1 + 1e-5 * t})])

    References
    ----------
    E. K. Rodriguez, A. Hoger, A. D. McCulloch, Journal of Biomechanics 27 (1994) 455-467.
    """
    law, asked, free = _opened(law, "swollen", _swelling if by is None else by)
    what = f"{asked.name}() in swollen()"
    require_quantities(what, asked, _ALIKE, "it")
    alike = not isinstance(_sides(free, _tried(free)), MatrixBase)
    for name in () if alike else asked.quantities:
        if name not in _GROWN:
            raise KinematicsError(
                f"{what} asks for {name!r}, and principal stretches of F F_g^-1 are known where "
                "F_g is alike to all sides alone: take a law in invariants",
                asked=name,
                given=free.name,
                possible=tuple(_GROWN),
            )
    needs_C = not alike and {"I1", "I2"} & {*asked.quantities}
    quantities = dict.fromkeys([*asked.quantities, *(["C"] if needs_C else []), *free.quantities])
    if not alike:  # others follow from C
        quantities = {q: None for q in quantities if q not in ("I1", "I2")}

    def grown(*values: Expr, **parameters: Expr) -> Expr:
        of = dict(zip(quantities, values, strict=True))
        own = {p: parameters.pop(p) for p in free.parameters}
        sides = _sides(free, call_symbolic(_what(free), free.function, _places(free, of), own))
        if isinstance(sides, MatrixBase):
            A, volume = _inverse(sides), _determinant(sides)
            elastic = [_GROWN[q](of, A, volume) for q in asked.quantities]
        else:
            volume = sides**3
            elastic = [_ALIKE[q](of[q], sides) for q in asked.quantities]
        W = law(*elastic, **parameters)
        if isinstance(W, Mapping):
            return {part: volume * w for part, w in W.items()}
        return volume * W

    grown.__name__ = f"swollen_{asked.name}"
    own = {"swelling": positive()} if by is None else {}
    return _returned(grown, law, quantities, asked, free, own)


#: Strains of cables, rods and thin plates.
_STRAINS = (
    *("epsilon", "epsilon_green", "gamma2", "gamma3", "kappa1", "kappa2", "kappa3"),
    *("kappa", "kappa_geometric", "kappa_plane", "E_gl", "kappa_n3", "kappa_n0"),
)


@by_call
def rest_strain(law: Energy, by: str | tuple[str, ...] | Free) -> Energy:
    r"""Return the energy of a cable, rod or thin plate whose strains without stress change.

    .. math:: W = W_0(\epsilon - \bar\epsilon, \kappa - \bar\kappa, \ldots).

    Muscles (rest strain, curvature and twist), heat (of a rod :math:`\bar\epsilon = \alpha T` and
    :math:`\bar\kappa = \alpha\, \partial T/\partial h` with the temperature T across its height
    h), and growth.

    Parameters
    ----------
    law : the energy W_0, from strains of the element, such as `rod`, `cable` and `kirchhoff`.
    by : a name of a strain or several, ``"kappa2"``: the law has the parameter ``rest_kappa2``;
        or a function that returns ``{strain: expression}``. It may ask for the place of the
        reference ``X`` [m] and the time ``t`` [s]; its keyword-only arguments are new parameters of
        the law. Of a thin plate ``E_gl`` and ``kappa`` are alike to all sides, e I and k I, with
        the sign of the plate's curvature.

    Returns
    -------
    Function of the same quantities and parameters, and of those of `by`: numbers, `Parameter`,
    functions of time or `Field`; strains [-], curvatures and twist [1/m]. Named parts stay.

    Raises
    ------
    KinematicsError : the law does not ask for such a strain, or has memory or unknowns of its own;
        `by` asks for something else, or returns something else; the law is one of solids, which
        take `swollen`.
    ParameterError : `by` has a parameter of the law's.

    Examples
    --------
    A rod with a muscle that bends it by half a turn each second:

    >>> import math
    >>> import symancf as sa
    >>> muscle = sa.energies.rest_strain(sa.energies.rod(), "kappa2")
    >>> line = sa.Mesh.box((1.0,), (4,), cell="line3")["body"]
    >>> given = dict(EA=1e4, EI2=1.0, EI3=1.0, GJ=0.8, GA2=3e3, GA3=3e3)
    >>> given["rest_kappa2"] = lambda t: math.pi * t
    >>> sa.Body(line, sa.elements.ancf_rod, muscle, **given)
    Body 'body': 4 ancf_rod with rest_strain_rod

    A wave of curvature that travels along the rod:

    >>> import sympy as sp
    >>> def wave(X, t, *, most):
    ...     return {"kappa2": most * sp.sin(6 * X[0] - 3 * t)}
    >>> swimmer = sa.energies.rest_strain(sa.energies.rod(), wave)

    References
    ----------
    S. P. Timoshenko, J. N. Goodier, Theory of Elasticity, 3rd ed. (1970), chapter 13 (strains of
    heat are subtracted); A. Goriely, The Mathematics and Mechanics of Biological Growth (2017).
    """
    function: Any = by
    if isinstance(by, str | tuple | list):
        function = _of_names((by,) if isinstance(by, str) else tuple(by))
    law, asked, free = _opened(law, "rest_strain", function)
    for name in _strains(free, _tried(free), asked):
        if name not in asked.quantities or name not in _STRAINS:
            possible = tuple(q for q in asked.quantities if q in _STRAINS)
            raise KinematicsError(
                f"rest_strain() of {name!r}: {asked.name}() has the strains "
                f"{', '.join(possible) or 'none'}",
                asked=name,
                given=asked.quantities,
                possible=possible,
            )
    quantities = dict.fromkeys([*asked.quantities, *free.quantities])

    def rested(*values: Expr, **parameters: Expr) -> Expr:
        of = dict(zip(quantities, values, strict=True))
        own = {p: parameters.pop(p) for p in free.parameters}
        result = call_symbolic(_what(free), free.function, _places(free, of), own)
        for name, e in _strains(free, result, asked).items():
            strain: Any = of[name]
            if getattr(strain, "shape", None) == (3, 3):
                raise KinematicsError(
                    f"rest_strain() of {name!r} of a solid: take swollen(law, by)",
                    asked=name,
                    given=asked.name,
                )
            of[name] = strain - (e * eye(2) if isinstance(strain, MatrixBase) else e)
        return law(*(of[q] for q in asked.quantities), **parameters)

    rested.__name__ = f"rest_strain_{asked.name}"
    return _returned(rested, law, quantities, asked, free, {})


class _Asked:
    """A function of free strains, and what it asks for."""

    def __init__(self, function: Free, maker: str) -> None:
        self.maker, self.function = maker, function
        asked = read(function, f"the function by of {maker}()")
        self.name, self.quantities, self.parameters = asked.name, asked.quantities, asked.parameters
        self.defaults = asked.defaults
        if self.quantities:
            require_quantities(_what(self), asked, _PLACES, "it")


def _what(free: _Asked) -> str:
    return f"{free.name}() in {free.maker}()"


def _opened(law: Energy, maker: str, by: Free) -> tuple[Energy, Signature, _Asked]:
    """Return a law, what it asks for, and what is asked for by the function of free strains."""
    law = law_of(law)
    asked, free = signature(law), _Asked(by, maker)
    what = f"{asked.name}() in {maker}()"
    require_plain(what, law, "give a law of the present state alone", memory=False)
    require_free(_what(free), free.parameters, {*asked.parameters, *asked.quantities}, what)
    return law, asked, free


def _places(free: _Asked, of: Mapping[str, Any]) -> list[Any]:
    return [of[q] for q in free.quantities]


def _tried(free: _Asked) -> Any:
    """Return what a function of free strains returns, of symbols."""
    places = {"X": Matrix([real(f"X{i}") for i in (1, 2, 3)]), "t": real("t")}
    own = {p: real(p) for p in free.parameters}
    return call_symbolic(_what(free), free.function, _places(free, places), own)


def _sides(free: _Asked, result: Any) -> Any:
    """Return the stretch to all sides, or a 3x3 matrix."""
    if isinstance(result, tuple | list) and len(result) == 3:
        result = diag(*(_scalar(free, g) for g in result))
    if isinstance(result, MatrixBase):
        if result.shape == (3, 3):
            return Matrix(result)
        if result.shape in ((3, 1), (1, 3)):
            return _sides(free, list(result))
    return _scalar(free, result)


def _scalar(free: _Asked, given: Any) -> Expr:
    must = "give a stretch, three or a 3x3 matrix" if free.maker == "swollen" else "give a number"
    value = as_expression(_what(free), free.name, given, must)
    if not isinstance(value, Expr) or isinstance(value, MatrixBase):
        raise KinematicsError(
            f"{_what(free)} is {label(given)}: {must}", asked=free.name, given=given
        )
    return value


def _strains(free: _Asked, result: Any, offered: Signature) -> dict[str, Expr]:
    """Return free strains by name."""
    if not isinstance(result, Mapping) or not result:
        raise KinematicsError(
            f"{_what(free)} returned {label(result)}: it must return {{strain: expression}}",
            asked=free.name,
            given=result,
            possible=tuple(q for q in offered.quantities if q in _STRAINS),
        )
    return {str(name): _scalar(free, e) for name, e in result.items()}


def _of_names(names: tuple[Any, ...]) -> Free:
    """Return the function of free strains that are parameters."""

    def rest(**values: Expr) -> dict[str, Expr]:
        return {str(name): values[f"rest_{name}"] for name in names}

    taking(rest, (), {f"rest_{name}": REQUIRED for name in names})
    return rest


def _returned(
    function: Energy,
    law: Energy,
    quantities: Mapping[str, Any],
    reading: Signature,
    free: _Asked,
    own: Mapping[str, Any],
) -> Energy:
    """Return a law that says what it takes and which values its parameters may have."""
    energy = stressed_at_rest(domains(**own)(domains_as(law)(function)))
    energy = isotropic(**constants_of(law))(energy)
    defaults = {**reading.defaults, **free.defaults}
    parameters = (*reading.parameters, *free.parameters)
    taking(energy, quantities, {p: defaults.get(p, REQUIRED) for p in parameters})
    return energy
