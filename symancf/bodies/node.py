# SPDX-License-Identifier: BSD-3-Clause
"""Common base of the bodies of one node: planar bodies and rigid bodies in space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arrays import Array, Ints32
from ..assembly.configuration import Configuration, Layout, in_system
from ..assembly.form import Form, Jets
from ..errors import ParameterError
from ..laws import weight_law
from ..laws.turning import planar_turning_laws, rigid_turning_laws
from ..mesh.partition import Family
from ..runtime import jit
from ..runtime.copies import OneProcess
from ..values.motion import Motion
from ..values.parameter import cached_answer, call
from ..values.spellings import MEMBERS, advise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symancf_codegen.declare import PointLaw

    from ..assembly.form import Role
    from ..assembly.numbering import Block
    from ..runtime.jit import Kernel
    from ..values.motion import Displacement, Gradient
    from ..values.parameter import Value


class OneNode(OneProcess, ABC):
    """A body whose coordinates are those of one node, and follow from the motion of its frame.

    Attributes
    ----------
    _blocks : of its coordinates.
    _dofs : names of the coordinates that may be prescribed one by one, the first ones.
    _reactions : which of force and moment (6,) are the reaction of its supports.
    _turns : whether it has a rotation.
    """

    _blocks: tuple[Block, ...]
    _dofs: tuple[str, ...]
    _reactions: tuple[int, ...]
    _turns: ClassVar[bool] = True
    _settable = ("velocity", "spin")  # until a motion begins

    has_name: bool
    name: str
    parameters: dict[str, Value]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what was public up to 0.2, with a warning."""
            for kind in (kind.__name__ for kind in type(self).__mro__):
                if name in MEMBERS.get(kind, {}):
                    advise(f"{kind}.{name}", MEMBERS[kind][name])
                    return getattr(self, "_dofs" if name == "axes" else f"_{name}")
            raise AttributeError(f"a {type(self).__name__} has no {name!r}", name=name, obj=self)

    @property
    def _size(self) -> int:
        """Number of its coordinates."""
        return sum(block.size for block in self._blocks)

    @property
    @abstractmethod
    def _weighs(self) -> bool:
        """Whether it has a mass."""

    @property
    @abstractmethod
    def extent(self) -> float:
        """Size [m], without what is attached to it."""

    @abstractmethod
    def bind(self, layout: Layout) -> NodeBinding:
        """Announce the node and its blocks of coordinates."""

    def _node(self, configuration: Configuration, vector: Array | None = None) -> Array:
        """Return its entries (size,) of a local vector, default: state, everywhere (collective)."""
        own, vector = configuration.binding(self), configuration.state if vector is None else vector
        value, local = np.zeros((*vector.shape[:-1], self._size)), own.local_vertices(configuration)
        if len(local) and local[0] < configuration.numbering.owned_vertices:
            value[:] = vector[..., own.here(configuration)]
        return configuration.sum(value)

    # ---- what supports ask ----------------------------------------------------------------------
    @abstractmethod
    def _motion(
        self, name: str, dofs: Sequence[int], displacement: Displacement, gradient: Gradient
    ) -> Motion:
        """Return the motion of the frame that a support of some coordinates prescribes.

        Raises
        ------
        ParameterError : begins with `name`, that of the support.
        """

    @abstractmethod
    def _moved(self, u: Array, G: Array) -> Array:
        """Return the values (times, size) of the coordinates in a motion of the frame.

        `u` (times, 3) and `G` (times or 1, 3, 3) are those of `Motion`.
        """

    @abstractmethod
    @in_system
    def position(self, system: Configuration) -> Array:
        """Return the present position (3,) of the body's origin, of planar ones (x, y, theta)."""


class NodeBinding:
    """A body of one node in one system.

    Attributes
    ----------
    name : in the system.
    vertex : id of its vertex.
    kinetic : the kinetic energy in the rates of its coordinates, those of a point first.
    numbers : parameters of `kinetic`, and ``place1``, ..., the reference coordinates.
    pressures : it has none.
    """

    pressures = None

    def __init__(
        self, body: OneNode, layout: Layout, kinetic: PointLaw, values: Mapping[str, Value]
    ) -> None:
        self.body, self.name, self.kinetic = body, layout.name(body), kinetic
        self.numbers = {k: v for k, v in values.items() if isinstance(v, int | float)}
        self._changing = {k: v for k, v in values.items() if k not in self.numbers}
        self.vertex = int(layout.new_vertices(1, self.name, *body._blocks)[0])

    def changing(self, kernel: Kernel) -> dict[str, Value]:
        """Return the parameters of a kernel that follow a `Parameter`."""
        return {name: v for name, v in self._changing.items() if name in kernel.cell}

    @property
    def start_values(self) -> Sequence[Any]:
        """What rates at the start follow from, as users gave it."""
        return [getattr(self.body, name, 0.0) for name in OneNode._settable]

    def local_vertices(self, configuration: Configuration) -> Ints32:
        """Return the local number of the body's vertex, (1,), or (0,) where it is not."""
        return configuration.topology.find(self.vertex)

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks of coordinates on local vertices."""
        local = self.local_vertices(configuration)
        return [(block.name, local) for block in self.body._blocks]

    def here(self, configuration: Configuration) -> Ints32:
        """Return the local offsets (size,) of its coordinates, (0,) where it is not."""
        numbering, local = configuration.numbering, self.local_vertices(configuration)
        blocks = [numbering.block(block.name) for block in self.body._blocks]
        return np.concatenate([numbering.coordinates_of(b, local).ravel() for b in blocks])

    def announce(self, layout: Layout) -> None:
        """Make the node an entity of rank 0, where no constraint of the body is one."""
        mine = np.zeros(1 if layout.comm.rank == 0 else 0, dtype=np.int64)
        vertices = np.full((len(mine), 1), self.vertex, dtype=np.int64)
        layout.announce(Family(f"body:{self.name}", mine, vertices, partitioned=False))

    def inertia(self, configuration: Configuration) -> list[Form]:
        """Return the kinetic energy of the rates; its tangent is the constant mass matrix."""
        if not self.body._weighs:
            return []
        return [self._own_form(configuration, "inertia", self.kinetic, "inertia", {})]

    def weight(self, configuration: Configuration, uniform: Mapping[str, Value]) -> Form:
        """Return the potential of the weight, with ``g1, g2, g3`` [m/s^2], as it has directions."""
        name = self.kinetic.name.replace("inertia", "weight")
        law = weight_law(name, self.kinetic, self.body._blocks[0].size)
        return self._own_form(configuration, "gravity", law, "potential", uniform)

    def turning(self, configuration: Configuration, uniform: Mapping[str, Value]) -> list[Form]:
        """Return centrifugal potential and Coriolis forces; see `laws.turning`."""
        laws = planar_turning_laws if self.body._blocks[0].size == 2 else rigid_turning_laws
        potential, forces = laws(self.kinetic)
        return [
            self._own_form(configuration, "centrifugal", potential, "potential", uniform),
            self._own_form(configuration, "coriolis", forces, "inertia", uniform, rates=True),
        ]

    def _own_form(
        self,
        configuration: Configuration,
        what: str,
        law: PointLaw,
        role: Role,
        uniform: Mapping[str, Value],
        rates: bool = False,
    ) -> Form:
        """Return a kernel on the coordinates of the node, `rates`: and on their rates."""
        here, local = self.here(configuration), self.local_vertices(configuration)
        n, jets = len(local), self.body._size * (2 if rates else 1)
        kernel = jit.points(law, configuration.comm)
        values = [self.numbers.get(name, 0.0) for name in kernel.cell]
        cell = np.tile(values, (n, 1)).reshape(n, len(kernel.cell))
        zero = np.zeros(jets * n, dtype=np.int32)
        coordinate = np.concatenate([here, ~here]) if rates else here
        return Form(
            name=f"{what}:{self.name}",
            kernel=kernel,
            role=role,
            uniform={**uniform, **self.changing(kernel)},
            cell=cell,
            owned=local < configuration.numbering.owned_vertices,
            vertices=local,
            vertex_start=np.arange(n + 1, dtype=np.int32),
            entities=Jets(
                zero, np.tile(np.arange(jets, dtype=np.int32), n), coordinate, zero, 1.0 + zero
            ),
        )


def motion_of_each(
    name: str, dofs: Sequence[int], axes: Sequence[str], displacement: Displacement
) -> Motion:
    """Return the motion in the plane that has one value for each of the `axes` that are prescribed.

    Raises
    ------
    ParameterError : begins with `name`: as many values as coordinates are needed.
    """
    given: Any = displacement
    values: list[Any] = [0.0] * len(dofs)
    if callable(given) and len(dofs) > 1:

        def all_of(t: float) -> Array:
            asked = partial(call, name, given, t)
            return cached_answer(all_of, t, lambda: np.array(asked(), dtype=float).ravel())

        values = [lambda t, k=k: all_of(t)[k] for k in range(len(dofs))]
    elif given is not None:
        values = list(given) if np.ndim(given) else [given]
    if len(values) != len(dofs):
        names = ", ".join(axes[a] for a in dofs)
        raise ParameterError(
            f"{name}: displacement has {len(values)} values for the coordinates {names}",
            asked="displacement",
            given=values,
            possible=[axes[a] for a in dofs],
        )
    every = dict(enumerate([0.0] * 3)) | dict(zip(dofs, values, strict=True))
    return Motion(name, list(every.values()), None, axes=axes)
