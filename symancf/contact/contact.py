# SPDX-License-Identifier: BSD-3-Clause
"""Contact as users ask for it: a side of a body, what it must not enter, and laws."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from mpi4py import MPI

from ..arrays import Ints32
from ..assembly.memory import Kept
from ..assembly.revisions import Verdict
from ..bodies.natural import RigidBody
from ..errors import ConstraintError, ParameterError
from ..places.on_body import Face, Nodes
from ..runtime.collective import reduced, share_error, together
from ..values import arguments
from ..values.parameter import evaluate, label
from .laws import DAMPING, Coulomb, Normal, penalty
from .results import Results
from .rigid import GROWN, RELEASE, RHO, Numbers, OfStep, RigidPass, Touch, Uniform
from .shapes import Plane, Shape, shape_of
from .sides import Side

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..assembly.piece import Piece
    from ..places.ends import End
    from ..values.parameter import Scalar
    from .laws import Coefficient, NormalLaw

DEEP = 1e-3  # parts of l by which a surface may lie within another one at the start
PARTS = 8  # in which an initial overlap is let out
MOST, MOST_IN_MOTION = 1000.0, 30.0  # c, up to which a stiffness grows


@dataclass(frozen=True)
class Report:
    """What the last review has seen: shown by ``print(contact)``.

    `counts` of points that are open, stick and slip; `deepest` penetration in parts of l, `grown`
    the factor of the stiffness.
    """

    counts: tuple[int, int, int]
    deepest: float
    grown: float


class Contact(Results):
    r"""Contact with friction: points of one side press against what they must not enter.

    At each point of quadrature the gap g gives a pressure p = -psi'(g) per area of the reference,
    and friction the force f with |f| <= m p, by anchors (see `symancf.contact.laws`).

    Parameters
    ----------
    side : facets of a solid, ``body["outside"]``; a face of full-gradient plates,
        ``plate["skin"].face(+1)``; cables, ``cord["body"]`` with `radius`; or a rigid ball or box.
    target : a shape (`Plane`, `Sphere`, `Cylinder`, `Capsule`, `Box`, `Distance`) at rest, moved
        or on a rigid body, or a rigid body with a surface, ``RigidBody.sphere``. Of two rigid
        bodies one is a ball, or a box on a plane.
    mu : coefficient of friction; two, (static, sliding); or a function of the speed of slip,
        ``def mu(v, *, a)``. Default: none.
    law : energy of the gap per area, ``def law(g, *, k)``, with parameters of its own; default
        ``k/2 Max(-g, 0)**2``.
    radius : of cables [m].
    stiffness, k : of the law [Pa/m], of cables [Pa], of rigid bodies [N/m]: one of them. Default:
        k = c E/l with the modulus E and the size l of the cell behind each point, c = 10 (solids)
        or 1 (plates, cables: k = E). A stiffness that is given does not grow.
    penetration : part of l; where a solution is deeper, k is doubled until it is not, to at most
        c = 1000 (in motions 30), and told once.
    damping : theta, a part of the step by which the law looks ahead in motions; 0: none.
    initial : for surfaces that lie in each other in the reference: ``"press"`` lets them press,
        ``"release"`` lets the overlap out in the first step of statics, in eight parts, or in the
        first eight steps of a motion. Default: that is an error.
    name : shown in messages.
    parameters : values of the parameters of `law` and `mu`.

    Raises
    ------
    ParameterError : no side, no shape, a wrong number or parameter; rigid against rigid without a
        stiffness.
    ConstraintError : both are the same rigid body; in a system: surfaces lie in each other.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    >>> svk = sa.energies.saint_venant_kirchhoff
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, svk, E=1e6, nu=0.3, name="block")
    >>> floor = sa.Plane((0, 0, 0), normal=(0, 0, 1))
    >>> print(sa.Contact(block["z0"], floor, mu=(0.4, 0.3), name="stand"))
    contact 'stand': region 'z0' of 'block' on plane, mu = 0.4, sliding 0.3
    """

    def __init__(
        self,
        side: Nodes | Face | RigidBody,
        target: Shape | RigidBody | Nodes | Face | None = None,
        *,
        mu: Coefficient = 0.0,
        law: NormalLaw = penalty,
        radius: float | None = None,
        stiffness: float | None = None,
        k: float | None = None,
        penetration: float = 0.05,
        damping: float = 0.5,
        initial: Literal["press", "release"] | None = None,
        name: str | None = None,
        **parameters: Scalar,
    ) -> None:
        self.name = arguments.named(name, "contact")
        who = self.who = f"contact {self.name!r}"
        if stiffness is not None and k is not None:
            raise ParameterError(f"{who}: stiffness= and k= are the same: give one of them")
        given = k if stiffness is None else stiffness
        self.stiffness = None if given is None else arguments.positive(who, "stiffness", given)
        self.penetration = arguments.positive(who, "penetration", penetration)
        between = "lie between 0 and 1"
        self.damping = arguments.number(who, "damping", damping, between, lambda x: 0 <= x <= 1)
        if initial is not None:
            arguments.one_of(f"{who}: initial", initial, ("press", "release"))
        self.initial = initial
        self.law = Normal(who, law, parameters)
        self.mu, self.coulomb = mu, None if _is_zero(mu) else Coulomb(who, mu, parameters)
        values = {
            **self.law.parameters,
            **({} if self.coulomb is None else self.coulomb.parameters),
        }
        for unknown in sorted(parameters.keys() - values.keys()):
            takes = ", ".join(values.keys() - {"mu_s", "mu_d"}) or "none"
            raise ParameterError(f"{who} has no parameter {unknown!r}; its laws take {takes}")
        for value in values:
            evaluate(f"{value} of {who}", values[value], 0.0)
        side, target = _ordered(side, target)
        self.side, self.c = side, 1.0
        if target is None or isinstance(target, Nodes | Face):
            raise ParameterError(
                f"{who}: contact of deformable bodies with each other is not possible yet; give a "
                "rigid shape or a rigid body as the target"
            )
        self.shape = shape_of(who, target)
        self._require_two(side)
        self.points, rho, rolls = self._points(side, radius)
        touch = Touch(f"contact_{self.shape.kind}", self.shape, self.law, self.coulomb, rolls)
        self.passes = [RigidPass.of(self.name, touch, self.points, {**values, str(RHO): rho})]
        self._report: Report | None = None
        self._told = False

    # ---- what touches ---------------------------------------------------------------------------
    def _require_two(self, side: Nodes | Face | RigidBody) -> None:
        """Raise where side and shape are the same rigid body."""
        if side is self.shape.body and self.shape.body is not None:
            raise ConstraintError(
                f"{self.who}: {_named(side)} and {self.shape.name!r} are the same rigid body"
            )

    def _points(
        self, side: Nodes | Face | RigidBody, radius: float | None
    ) -> tuple[End, float, bool]:
        """Return the points, the distance at which they touch, and whether they roll."""
        if not isinstance(side, RigidBody):
            found = Side(self.who, side, radius)
            self.c = found.parts
            return found, found.rho, False
        if radius is not None:
            raise ParameterError(f"{self.who}: radius= is for cables; {side.name!r} is rigid")
        form, sizes = side.shape.form, side.shape.sizes
        self._length = min(sizes, default=0.0)
        if form == "sphere" or (form == "box" and isinstance(self.shape, Plane)):
            self._require_stiffness(side)
        if form == "sphere":
            return side.at((0.0, 0.0, 0.0)), sizes[0], True
        if form == "box" and isinstance(self.shape, Plane):
            signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3, indexing="ij")).reshape(3, 8).T
            self._length *= 2.0
            return side.at(signs * np.array(sizes)), 0.0, False
        raise ParameterError(
            f"{self.who}: of two rigid bodies one has to be a ball, RigidBody.sphere, or a box on "
            f"a plane, RigidBody.box; {side.name!r} is {f'a {form}' if form else 'of no shape'} "
            f"and its target a {self.shape.kind}"
        )

    def _require_stiffness(self, side: RigidBody) -> None:
        """Raise where rigid bodies, which have no material, are given no stiffness."""
        if self.stiffness is None:
            m, l = side.mass, self._length
            try_ = (
                f", for example m g/(1e-4 R) = {m * 9.81 / (1e-4 * l):.3g} in SI units" if m else ""
            )
            raise ParameterError(
                f"{self.who}: {side.name!r} and {self.shape.name!r} are rigid and have no modulus "
                f"from which a stiffness would follow: give stiffness= [force per length]{try_}"
            )

    # ---- as a term ------------------------------------------------------------------------------
    def declare(self, layout: Layout) -> None:
        """Announce the points (collective)."""
        for each in self.passes:
            each.declare(layout)
        if isinstance(self.points, Side):
            self.points.facets(layout, modulus=self.stiffness is None)

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Take this rank's points (collective)."""
        first = np.array([1.0, 1.0 if self.initial == "release" else 0.0, 0.0])
        kept = configuration.keep(self, Kept(configuration.name(self), first))

        def damping() -> float:
            """Return theta in steps of a motion; at its start the last step is one of statics."""
            stepped = bool(kept.value[2]) or configuration.memory.hold().stepping
            return self.damping if stepped and _moves(configuration) else 0.0

        values: dict[str, Scalar] = {
            str(GROWN): OfStep(lambda: float(kept.value[0])),
            str(RELEASE): OfStep(lambda: float(kept.value[1])),
            str(DAMPING): OfStep(damping),
        }
        found: list[tuple[str, Ints32]] = []
        for each in self.passes:
            configuration.keep(each, Uniform(values))
            found += each.carriers(configuration)
            configuration.keep(each, self._numbers(configuration, each))
        return found

    def _numbers(self, configuration: Configuration, each: RigidPass) -> Numbers:
        """Return size and stiffness at this rank's points (collective)."""
        ids = each.entities(configuration).ids
        none = np.zeros(len(ids))
        if not isinstance(self.points, Side):
            assert self.stiffness is not None
            return Numbers(none + self._length, none + self.stiffness, none)
        l, E, _ = self.points.numbers(configuration.layout, ids).T
        if self.stiffness is not None:
            return Numbers(l, none + self.stiffness, none)
        return Numbers(l, self.c * (E if self.points.cable else E / l), none)

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the kernels and points on this rank (collective)."""
        found: list[Piece] = []
        for each in self.passes:
            self._look_at_overlap(configuration, each)
            found += each.pieces(configuration)
        return found

    def _look_at_overlap(self, configuration: Configuration, each: RigidPass) -> None:
        """Let an initial overlap out, or raise where nobody said what it means (collective)."""
        numbers = configuration.of(each, Numbers)
        with together(configuration.comm):
            depth = -each.first_gaps(configuration)
        deep = depth > DEEP * numbers.length
        if self.initial == "release":
            numbers.overlap = np.maximum(depth, 0.0)
        if self.initial is not None:
            return
        error = None
        worst = float(
            reduced(
                configuration.comm, np.array([np.where(deep, depth, 0.0).max(initial=0.0)]), MPI.MAX
            )[0]
        )
        if worst > 0.0 and (deep & (depth == worst)).any():
            x = each.entities(configuration).here[0].X[int(np.argmax(depth))]
            error = ConstraintError(
                f"{self.who}: in the reference {self.points} lies within {self.shape.kind} "
                f"{self.shape.name!r} by up to {worst:.3g}, at ({x[0]:g}, {x[1]:g}, {x[2]:g}); "
                "move one of them, or give initial='press' where that is meant, initial='release' "
                "to let it out gradually"
            )
        share_error(configuration.comm, error)

    def keeps(self, configuration: Configuration) -> list[Kept]:
        """Return what `Kept` holds.

        The factor of the stiffness, the part of an overlap that is left, and whether the last step
        was one of a motion.
        """
        return [configuration.of(self, Kept)]

    # ---- solutions ------------------------------------------------------------------------------
    def review(self, configuration: Configuration) -> Verdict:
        """Judge a solution: has a point passed through, is one too deep? (collective)."""
        kept, moves = (
            configuration.of(self, Kept),
            getattr(configuration, "motion", None) is not None,
        )
        deepest, through, counts = 0.0, False, np.zeros(3)
        with together(configuration.comm):
            for each in self.passes:
                own = each.look(configuration)
                deepest = max(deepest, float((-own.gap / own.length).max(initial=0.0)))
                through |= bool(own.through.any())
                counts += [(own.status[own.owned] == s).sum() for s in range(3)]
        deepest, passed = _largest(configuration, deepest, float(through))
        total = configuration.sum(counts)
        grown, left, moved = float(kept.value[0]), float(kept.value[1]), float(moves)
        kept.value = np.array([grown, left, moved])
        self._report = Report((int(total[0]), int(total[1]), int(total[2])), deepest, grown)
        if passed:
            return Verdict.CUT
        if left > 0.0:
            kept.value = np.array([grown, max(0.0, left - 1.0 / PARTS), moved])
            return Verdict.STANDS if moves else Verdict.AGAIN
        if deepest <= self.penetration:
            return Verdict.STANDS
        most = (MOST_IN_MOTION if moves else MOST) / self.c
        larger = min(2.0 ** np.ceil(np.log2(deepest / self.penetration)), 8.0) * grown
        may = self.stiffness is None and grown < most
        self._tell(configuration, deepest, grown, min(larger, most) if may else None)
        if not may:
            return Verdict.STANDS
        kept.value = np.array([min(larger, most), left, moved])
        return Verdict.AGAIN

    def _tell(
        self, configuration: Configuration, deepest: float, grown: float, larger: float | None
    ) -> None:
        if self._told or configuration.comm.rank:
            self._told = True
            return
        self._told = True
        so = (
            f"its stiffness is raised from c = {self.c * grown:g} on"
            if larger is not None
            else "its stiffness was given, or is as large as it may be"
        )
        warnings.warn(
            f"{self.who}: a point lies {100 * deepest:.3g} % of the local size deep, more than "
            f"penetration={self.penetration:g}; {so} (told once)",
            stacklevel=2,
        )

    def __str__(self) -> str:
        mu = ""
        if self.coulomb is not None:
            mu = f", mu = {label(self.mu)}"
            if isinstance(self.mu, tuple | list):
                mu = f", mu = {label(self.mu[0])}, sliding {label(self.mu[1])}"
        named = "" if self.shape.name == self.shape.kind else f" {self.shape.name!r}"
        text = f"{self.who}: {self.points} on {self.shape.kind}{named}{mu}"
        report = self._report
        if report is None:
            return text
        _, stuck, slid = report.counts
        state = f"{stuck} stick, {slid} slip" if self.coulomb else f"{stuck} touch"
        text += f"; of {sum(report.counts)} points {state}; deepest {report.deepest:.2g} l"
        return text + (f"; stiffness grown {report.grown:g} times" if report.grown > 1 else "")


def _moves(configuration: Configuration) -> bool:
    """Tell whether a motion is being solved, not a static problem."""
    return getattr(configuration, "motion", None) is not None


def _largest(configuration: Configuration, *values: float) -> list[float]:
    """Return the largest of each number over the ranks (collective)."""
    return [float(v) for v in reduced(configuration.comm, np.array(values, dtype=float), MPI.MAX)]


def _is_zero(mu: Any) -> bool:
    return isinstance(mu, int | float) and not isinstance(mu, bool) and mu == 0


def _ordered(side: Any, target: Any) -> tuple[Any, Any]:
    """Return the side whose points are looked at, and its target."""
    if isinstance(side, Shape) or (
        isinstance(side, RigidBody) and isinstance(target, Nodes | Face)
    ):
        side, target = target, side
    pair = isinstance(side, RigidBody) and isinstance(target, RigidBody)
    if pair and side.shape.form != "sphere" and target.shape.form == "sphere":
        side, target = target, side
    return side, target


def _named(side: Any) -> str:
    """Return a side for messages."""
    return repr(side.name) if isinstance(side, RigidBody) else str(side)
