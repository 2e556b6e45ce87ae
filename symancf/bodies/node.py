# SPDX-License-Identifier: BSD-3-Clause
"""Common base of the bodies of one node: planar bodies and rigid bodies in space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..arrays import Array, Ints32
from ..assembly.configuration import Configuration, Layout, in_system
from ..runtime.copies import OneProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.numbering import Block
    from ..values.motion import Displacement, Gradient, Motion
    from ..values.parameter import Value


class OneNode(OneProcess, ABC):
    """A body whose coordinates are those of one node, and follow from the motion of its frame.

    Attributes
    ----------
    blocks : of its coordinates.
    axes : names of the coordinates that may be held one by one, the first ones.
    reactions : which of force and moment (6,) are the reaction of its supports.
    """

    blocks: ClassVar[tuple[Block, ...]]
    axes: ClassVar[tuple[str, ...]]
    reactions: ClassVar[tuple[int, ...]]

    named: bool
    name: str
    parameters: dict[str, Value]

    @property
    def size(self) -> int:
        """Number of its coordinates."""
        return sum(block.size for block in self.blocks)

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

    def node(self, configuration: Configuration, vector: Array | None = None) -> Array:
        """Return its entries (size,) of a local vector, default: state, everywhere (collective)."""
        own, vector = configuration.binding(self), configuration.state if vector is None else vector
        value, local = np.zeros((*vector.shape[:-1], self.size)), own.local_vertices(configuration)
        if len(local) and local[0] < configuration.numbering.owned_vertices:
            value[:] = vector[..., own.here(configuration)]
        return configuration.sum(value)

    # ---- what supports ask ----------------------------------------------------------------------
    @abstractmethod
    def motion(
        self, name: str, held: Sequence[int], displacement: Displacement, gradient: Gradient
    ) -> Motion:
        """Return the motion of the frame that a support of some coordinates prescribes.

        Raises
        ------
        ParameterError : begins with `name`, that of the support.
        """

    @abstractmethod
    def moved(self, u: Array, G: Array) -> Array:
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
    pressures : it has none.
    """

    pressures = None

    def __init__(self, body: OneNode, layout: Layout) -> None:
        self.body, self.name = body, layout.name(body)
        self.vertex = int(layout.new_vertices(1, self.name, *body.blocks)[0])

    def local_vertices(self, configuration: Configuration) -> Ints32:
        """Return the local number of the body's vertex, (1,), or (0,) where it is not."""
        return configuration.topology.find(self.vertex)

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks of coordinates on local vertices."""
        local = self.local_vertices(configuration)
        return [(block.name, local) for block in self.body.blocks]

    def here(self, configuration: Configuration) -> Ints32:
        """Return the local offsets (size,) of its coordinates, (0,) where it is not."""
        numbering, local = configuration.numbering, self.local_vertices(configuration)
        blocks = [numbering.block(block.name) for block in self.body.blocks]
        return np.concatenate([numbering.coordinates_of(b, local).ravel() for b in blocks])
