# SPDX-License-Identifier: BSD-3-Clause
"""Common base of the bodies of one node: planar bodies and rigid bodies in space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arrays import Array, Ints32
from ..assembly.configuration import Configuration, Layout, in_system
from ..runtime.copies import OneProcess
from ..values.spellings import MEMBERS, advise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.numbering import Block
    from ..values.motion import Displacement, Gradient, Motion
    from ..values.parameter import Value


class OneNode(OneProcess, ABC):
    """A body whose coordinates are those of one node, and follow from the motion of its frame.

    Attributes
    ----------
    _blocks : of its coordinates.
    _dofs : names of the coordinates that may be held one by one, the first ones.
    _reactions : which of force and moment (6,) are the reaction of its supports.
    """

    _blocks: ClassVar[tuple[Block, ...]]
    _dofs: ClassVar[tuple[str, ...]]
    _reactions: ClassVar[tuple[int, ...]]
    _settable = ("velocity", "spin")  # until a motion begins

    named: bool
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
        own, value = configuration.binding(self), np.zeros(self._size)
        local = own.local_vertices(configuration)
        if len(local) and local[0] < configuration.numbering.owned_vertices:
            value[:] = (configuration.state if vector is None else vector)[own.here(configuration)]
        return configuration.sum(value)

    # ---- what supports ask ----------------------------------------------------------------------
    @abstractmethod
    def _motion(
        self, name: str, held: Sequence[int], displacement: Displacement, gradient: Gradient
    ) -> Motion:
        """Return the motion of the frame that a support of some coordinates prescribes.

        Raises
        ------
        ParameterError : begins with `name`, that of the support.
        """

    @abstractmethod
    def _moved(self, u: Array, G: Array) -> Array:
        """Return the values (size,) of the coordinates in a motion of the frame, see `Motion`."""

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
    pressures : it has none.
    """

    pressures = None

    def __init__(self, body: OneNode, layout: Layout) -> None:
        self.body, self.name = body, layout.name(body)
        self.vertex = int(layout.new_vertices(1, self.name, *body._blocks)[0])

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
