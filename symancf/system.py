# SPDX-License-Identifier: BSD-3-Clause
"""The system of the user: bodies and the terms that act on them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from .arrays import Array
from .assembly import protocol
from .assembly.configuration import Layout
from .assembly.discrete import DiscreteSystem
from .assembly.matrices import Matrices
from .assembly.numbering import Block
from .errors import KinematicsError, ParameterError
from .newton.redundant import find_redundant
from .places.ends import End, require_moving
from .places.on_body import Nodes
from .runtime.collective import together
from .runtime.copies import OneProcess
from .runtime.display import Displayable
from .runtime.log import STAGES, logged
from .values.arguments import text
from .values.parameter import label, vector3
from .values.spellings import MEMBERS, advise

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from .assembly.unknowns import Unknowns
    from .places.on_body import PointsOnBody


class System(OneProcess, Displayable):
    """Bodies with the terms that act on them, on all ranks of their meshes' communicator.

    Parameters
    ----------
    bodies : at least one, deformable, rigid or planar; bodies cut from one mesh share the
        positions of common nodes.
    terms : supports (`fix`), loads, joints and flexures.
    comm : of a system without meshes; default: MPI.COMM_WORLD.

    Attributes
    ----------
    state : local vector of all displacements (positions and slopes) and multipliers, the
        present solution; fixed coordinates and ghosts included.
    reference : local vector of the reference configuration.
    rate : local vector of the rates of all coordinates; at first those given to bodies.
    time : of the state [s].

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> sa.System(block, terms=[sa.fix(block["x0"])])
    System of 1 body and 1 term: 12 unknowns, time 0
    """

    @logged(STAGES, "set-up")
    def __init__(
        self,
        *bodies: protocol.BodyProtocol,
        terms: Sequence[Any] = (),
        comm: MPI.Comm | None = None,
    ) -> None:
        _check_kinds(bodies, terms)
        meshed = protocol.having(bodies, protocol.HasMesh)
        meshes = [(str(body.name), body.region.mesh) for body in meshed]
        comm = meshes[0][1].comm if meshes else comm or MPI.COMM_WORLD
        layout = Layout(comm, list(bodies), list(terms), meshes, _numbered(bodies, terms))
        layout.announce_block(Block("position", 3))
        self._discrete = DiscreteSystem(layout, find_redundant)
        self.bodies, self.terms = self._discrete.bodies, self._discrete.terms
        self.comm, self.reference = self._discrete.comm, self._discrete.reference

    def _headline(self) -> str:
        """Return the numbers of its members and unknowns."""
        bodies, terms, ranks = len(self.bodies), len(self.terms), self.comm.size
        return (
            f"System of {bodies} {'body' if bodies == 1 else 'bodies'} and {terms} "
            f"term{'s' * (terms != 1)}: {self._discrete.numbering.size} unknowns"
            f"{f' on {ranks} ranks' * (ranks > 1)}, time {self.time:g}"
        )

    def _facts(self) -> list[tuple[str, str]]:
        """Return bodies and terms."""
        members = [("body", body) for body in self.bodies] + [("term", t) for t in self.terms]
        return [("", "member"), *((kind, label(item, most=100)) for kind, item in members)]

    def name(self, item: protocol.Term) -> str:
        """Return the name of a body or a term in this system: no other has it."""
        return self._discrete.name(item)

    # ---- the state ----------------------------------------------------------------------------
    @property
    def state(self) -> Array:
        """Local vector of displacements and multipliers, ghosts included."""
        return self._discrete.state

    @state.setter
    def state(self, state: Array) -> None:
        self._discrete.state = state

    @property
    def rate(self) -> Array:
        """Local vector of the rates of all coordinates; at first those given to bodies."""
        return self._discrete.rate

    @rate.setter
    def rate(self, rate: Array) -> None:
        self._discrete.rate = rate

    @property
    def time(self) -> float:
        """Of the state [s]."""
        return self._discrete.time

    @time.setter
    def time(self, time: float) -> None:
        self._discrete.time = time

    # ---- energies and forces ------------------------------------------------------------------
    def energies(self) -> dict[str, float]:
        """Return the energy of each form at the present state, on every rank (collective).

        Of laws with internal variables it is the stored energy that they return.
        """
        system = self._discrete
        with together(self.comm):
            system.update(self.time)
        values, _ = system.assembler.energies(self.state)
        energies: dict[str, float] = {}
        for form, e in zip(system.forms, system.sum(values), strict=True):
            energies[form.name] = energies.get(form.name, 0.0) + float(e)
        return energies

    def strain_energy(self) -> float:
        """Return the strain energy of all bodies [J] (collective)."""
        energies = self.energies()
        names = dict.fromkeys(p.name for p in self._discrete.forms if p.role == "strain")
        return sum(energies[name] for name in names)

    def remembered(self, item: protocol.Term) -> dict[str, Array]:
        """Return what a body or a term with memory remembers, on every rank (collective).

        By name, ``e`` of a number and ``e11`` of an entry of a matrix: (places,) or, of the cells
        of a body, (cells, points), in the order of the mesh's cells whatever rank has them (those
        of `sample` are in the order of each rank). ``dissipated`` is the energy that each has
        dissipated [J].
        """
        return self._discrete.memory.gathered(self._discrete.name(item))

    def forget(self) -> None:
        """Let laws remember nothing but their initial values (collective)."""
        self._discrete.forget()

    def momentum(self, about: npt.ArrayLike = (0.0, 0.0, 0.0)) -> tuple[Array, Array]:
        r"""Return linear and angular momentum of all bodies in motion (collective).

        The mass matrix between the rates and rigid motions of the present state,
        :math:`p_a = d_a^T M \dot q`, so that nothing is lost by quadrature.

        Parameters
        ----------
        about : point that the angular momentum is about [m].

        Returns
        -------
        p : (3,) [kg m/s].
        L : (3,) [kg m^2/s].

        Raises
        ------
        ParameterError : no body has a mass; `about` is not three finite numbers.

        Examples
        --------
        >>> import symancf as sa
        >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), rho=1000.0, velocity=(2.0, 0.0, 0.0))
        >>> [part.round(9).tolist() for part in sa.System(ball).momentum()]
        [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        """
        point = vector3("momentum: about", about)
        system = self._discrete
        f = system.mass_times(self.rate)
        f[system.numbering.start[system.numbering.owned_vertices] :] = 0.0
        total = system.sum(system.wrench(f, point))
        return total[:3], total[3:]

    @property
    def unknowns(self) -> Unknowns:
        """The rows of `matrices` by name (collective)."""
        return self._discrete.unknowns

    @property
    def matrices(self) -> Matrices:
        """Tangent, mass and damping at the present state."""
        return Matrices(self._discrete)

    # ---- places -------------------------------------------------------------------------------
    def displacement(self, place: End) -> Array:
        """Return the displacements (K, 3) of places of a body, on every rank (collective)."""
        require_moving("a position, displacement or velocity", place)
        return place.displacement(self._discrete)

    def position(self, place: End) -> Array:
        """Return the present positions (K, 3) of places of a body, on every rank (collective)."""
        require_moving("a position, displacement or velocity", place)
        return place.position(self._discrete)

    def velocity(self, place: End) -> Array:
        """Return the velocities (K, 3) of places of a body, on every rank (collective)."""
        require_moving("a position, displacement or velocity", place)
        return place.velocity(self._discrete)

    def gradient(self, place: Nodes | PointsOnBody) -> Array:
        """Return the deformation gradient F = dx/dX (K, 3, 3) at places of a body (collective).

        F = r_a (x) R^a over the slopes a that the element has, R^a dual to the reference slopes:
        on cables F t is the present slope of the reference tangent t, on thin plates F maps
        tangent vectors; both give zero across. On plates it is that of the mid-surface, of rods
        what turns the directions of the section.

        Raises
        ------
        KinematicsError : nodes of an element without slopes; take points, ``body.at(X)``.
        """
        element = place.body.element
        jets = list(element.gradient)
        if isinstance(place, Nodes):
            jets = [f"slope{k}" for k in range(element.directions)]
        if not jets:
            raise KinematicsError(
                f"{place}: the nodes of {element.name} have no slopes; give points, body.at(X)"
            )
        vectors = [(j, v) for v in (self.reference, self.state) for j in jets]
        values = self._discrete.evaluate(place, vectors)
        R, u = (np.stack(part, axis=2) for part in (values[: len(jets)], values[len(jets) :]))
        return np.asarray((R + u) @ np.linalg.pinv(R))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what was public up to 0.2, with a warning."""
            of = self.matrices if name in ("tangent", "mass", "damping") else self._discrete
            if name.startswith("_") or not hasattr(of, name):
                raise AttributeError(f"a system has no {name!r}")
            advise(f"System.{name}", MEMBERS["System"].get(name, ""))
            return getattr(of, name)


# ---- what a system is given ----------------------------------------------------------------------
def _check_kinds(bodies: Sequence[protocol.BodyProtocol], terms: Any) -> None:
    """Raise a ParameterError where something is no body or no term, or is given twice."""
    if not bodies:
        raise ParameterError("a system needs at least one body", asked="bodies", given=())
    if not isinstance(terms, list | tuple):
        raise ParameterError(
            f"terms= takes a list of terms, not {type(terms).__name__}",
            asked="terms",
            given=type(terms).__name__,
        )
    members = {
        id(item)
        for item in protocol.having([*bodies, *terms], protocol.Term)
        if not isinstance(item, type)
    }
    for body in bodies:
        if id(body) not in members or not hasattr(body, "has_name"):
            raise ParameterError(
                f"{type(body).__name__} is not a body: give bodies, System(plate, cable), and "
                "what acts on them as terms=[...]",
                asked="bodies",
                given=type(body).__name__,
            )
    _require_once("body", bodies)
    _require_once("term", terms)
    for term in terms:
        if id(term) not in members or hasattr(term, "has_name"):
            if belongs := getattr(term, "belongs", ""):
                raise ParameterError(
                    f"{type(term).__name__} is not a term: give {belongs}",
                    asked="terms",
                    given=type(term).__name__,
                    possible=(belongs,),
                )
            raise ParameterError(
                f"{type(term).__name__} is not a term: give supports (sa.fix), loads "
                "(sa.gravity, sa.force, ...) and joints in terms=[...]",
                asked="terms",
                given=type(term).__name__,
            )

    for item in [*bodies, *terms]:
        text(f"the name of a {type(item).__name__}", item.name)


def _require_once(what: str, items: Sequence[Any]) -> None:
    """Raise where a body or a term is given more than once."""
    counts = Counter(map(id, items))
    twice = next((item for item in items if counts[id(item)] > 1), None)
    if twice is not None:
        name = getattr(twice, "name", type(twice).__name__)
        raise ParameterError(
            f"the {what} {name!r} is given {counts[id(twice)]} times: give it once",
            asked=name,
            given=counts[id(twice)],
            possible=(1,),
        )


def _numbered(
    bodies: Sequence[protocol.BodyProtocol], terms: Sequence[protocol.Term]
) -> dict[int, str]:
    """Return names for what has the name of an earlier body or term, by ids: "hinge #2".

    Raises
    ------
    ParameterError : two bodies have one name.
    """
    members, names = [*bodies, *terms], dict[int, str]()
    named_bodies = {id(body) for body in bodies if body.has_name}
    in_use = {item.name for item in members}
    seen: Counter[str] = Counter()
    for item in members:
        seen[item.name] += 1
        if seen[item.name] == 1:
            continue
        if id(item) in named_bodies:
            raise ParameterError(
                f"two bodies are called {item.name!r}: give one of them another name=",
                asked="name",
                given=item.name,
            )
        while (name := f"{item.name} #{seen[item.name]}") in in_use:
            seen[item.name] += 1
        in_use.add(name)
        names[id(item)] = name
    return names
