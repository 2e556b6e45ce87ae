# SPDX-License-Identifier: BSD-3-Clause
"""Reference positions of a body's nodes, as what to differentiate by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array, Ints
from ...bodies.body import Body
from ...errors import ParameterError
from ...runtime.copies import OneProcess
from ...runtime.display import Displayable
from ...values.parameter import label

if TYPE_CHECKING:
    from ...assembly import protocol
    from ...elements import Element


def has_shape(element: Element) -> bool:
    """Tell whether derivatives by the positions of its nodes are known: solids make no slopes."""
    return element.dimension == 3


class Shape(OneProcess, Displayable):
    r"""Reference positions X of the nodes of a body; for gradients of statics.

    ``gradient[shape]`` has one row :math:`\partial J/\partial X_i` for each node, (nodes, 3) in the
    order of the mesh, as ``body["region"].X`` of all of it. `StaticProblem.gradient`,
    `StaticProblem.sensitivity` and `StaticProblem.limit_gradient` know it.

    Places of the body, ``body.at(X)`` and nodes, move with its material: they stay at the same
    parameters of their cells. What is written as numbers stays as it is: forces, points of
    rigid bodies and of ``sa.ground.at(X)``, the values of a `Field`.

    Parameters
    ----------
    body : of solid elements.

    Attributes
    ----------
    values : (nodes, 3) the positions [m], on every rank (collective).

    Raises
    ------
    ParameterError : the body has no nodes of positions alone.

    Examples
    --------
    A bar under its weight; the reaction follows the length:

    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 2.0), (1, 1, 2))
    >>> law = sa.energies.neo_hooke()
    >>> bar = sa.Body(mesh["body"], sa.elements.hex8, law, mu=1e6, lam=2e6, rho=1000.0)
    >>> clamp = sa.fix(bar["z0"])
    >>> problem = sa.StaticProblem(sa.System(bar, terms=[clamp, sa.gravity((0.0, 0.0, -10.0))]))
    >>> _ = problem.solve()
    >>> shape, push = sa.Shape(bar), sa.Goal(lambda F: F[2], clamp)
    >>> by_X = problem.gradient(push, [shape])[shape]
    >>> top = shape.values[:, 2] == 2.0
    >>> round(by_X[top, 2].sum())                       # rho g times the area
    10000
    """

    def __init__(self, body: protocol.BodyProtocol) -> None:
        given: Any = body
        if not isinstance(given, Body):
            raise ParameterError(
                f"Shape({label(given)}): give a body with a mesh", asked="body", given=label(given)
            )
        if not has_shape(given.element):
            raise ParameterError(
                f"Shape of body {given.name!r}: {given.element.name} makes slopes, lengths and "
                "normals of the positions of its nodes; only the shapes of solids are known",
                asked="body",
                given=given.element.name,
            )
        self.body, self.name = given, f"shape of {given.name!r}"

    def _headline(self) -> str:
        """Return its name, which tells."""
        return self.name

    @property
    def ids(self) -> Ints:
        """The numbers (nodes,) of the nodes in the mesh, ascending, on every rank (collective)."""
        region = self.body.region
        return np.sort(np.concatenate(region.mesh.comm.allgather(region.points())))

    @property
    def values(self) -> Array:
        """The reference positions (nodes, 3), on every rank (collective)."""
        return self.body.region.mesh.fetch_points(self.ids)
