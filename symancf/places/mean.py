# SPDX-License-Identifier: BSD-3-Clause
"""A face of a solid as one place: where it is in the mean, and how it has turned."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array, Ints, Ints32
from ..assembly.resolved import JetRows, Resolved
from ..cells import CELLS
from ..cells.quadrature import counts_for, gauss
from ..errors import ConstraintError
from ..runtime.collective import together
from .ends import End, vector_rows
from .facets import FacetPoints
from .geometry import perpendicular

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..mesh import Region
    from .interpolation import Interpolated


class FaceShares(NamedTuple):
    """Nodes of a face, and what each has of its integrals.

    Attributes
    ----------
    ids : (n,) of the nodes in the mesh.
    value : (n,) share in the mean position.
    slope : (n, 3) share in the mean derivatives by the reference.
    centroid, normal : (3,) of the face in the reference.
    """

    ids: Ints
    value: Array
    slope: Array
    centroid: Array
    normal: Array


class Mean(End):
    r"""A face of a solid as one place, at its centroid :math:`\bar X`.

    .. math::
        \bar r = \frac1A \int r\,\mathrm dA, \qquad
        \bar F = \int r \otimes (X - \bar X)\,\mathrm dA \;\Bigl(\int (X - \bar X) \otimes
            (X - \bar X)\,\mathrm dA\Bigr)^{-1}.

    Its axes are images by :math:`\bar F` of directions along the face. A force on it is spread
    evenly over the face, a moment linearly, as the stresses of a bent beam are; the face may
    change its shape.

    Raises
    ------
    ConstraintError : the body is no solid, the region no facets of it, or these lie on a line.
    """

    def __init__(self, body: Interpolated, region: Region) -> None:
        self.body, self.region = body, region
        solid = body.element.dimension == 3
        if not solid or any(CELLS[kind].dimension != 2 for kind in region.types):
            raise ConstraintError(
                f"{self}: it has a mean if it is made of facets of a solid; {region.describe()}, "
                f"and {body.name!r} is made of {body.element.name}",
                asked="region",
                given=region.name,
                possible=("facets of a solid",),
            )

    @cached_property
    def shares(self) -> FaceShares:
        """Return the nodes and their shares, on every rank (collective on first use)."""
        mesh = self.region.mesh
        parts = []
        for part in self.region.by_type:
            FacetPoints(self.body, part).require_sides()
            (kind,) = part.types
            cells = part.slice(kind)[1]
            parts.append((kind, cells, mesh.fetch_points(cells)))
        gathered = [part for rank in mesh.comm.allgather(parts) for part in rank]
        with together(mesh.comm):
            return self._integrated(gathered)

    def _integrated(self, parts: list[tuple[str, Ints, Array]]) -> FaceShares:
        ids = np.unique(np.concatenate([cells.ravel() for _, cells, _ in parts]))
        value, moment = np.zeros(len(ids)), np.zeros((len(ids), 3))
        second, normal = np.zeros((3, 3)), np.zeros(3)
        points = []
        for kind, cells, X in parts:
            cell = CELLS[kind]
            rule = gauss(cell, counts_for(cell, 4))
            low, high = cell.domain
            N, slopes = cell.evaluate((np.asarray(rule.points) - low) / (high - low))
            t = np.einsum("qvd,nva->nqad", slopes, X)
            n = np.cross(t[..., 0], t[..., 1]) * rule.weights[:, None] / (high - low) ** 2
            normal += n.sum(axis=(0, 1))
            points.append((np.searchsorted(ids, cells), N, X, np.linalg.norm(n, axis=2)))
        for at, N, _, dA in points:
            np.add.at(value, at, np.einsum("nq,qv->nv", dA, N))
        A = value.sum()
        centre = sum(np.einsum("nq,qv,nva->a", dA, N, X) for _, N, X, dA in points) / A
        for at, N, X, dA in points:
            arm = np.einsum("qv,nva->nqa", N, X) - centre
            np.add.at(moment, at, np.einsum("nq,qv,nqa->nva", dA, N, arm))
            second += np.einsum("nq,nqa,nqb->ab", dA, arm, arm)
        inverse = np.linalg.pinv(second, rcond=1e-9, hermitian=True)
        size = np.linalg.norm(normal)
        if (
            np.linalg.matrix_rank(second, tol=1e-9 * np.trace(second), hermitian=True) < 2
            or not size
        ):
            raise ConstraintError(
                f"{self}: its facets lie on a line, or are closed: it has no axes"
            )
        return FaceShares(ids, value / A, moment @ inverse, centre, normal / size)

    def _find(self, layout: Layout) -> Resolved:
        """Return the one place (collective)."""
        layout.require_member(self.body, str(self))
        own = self.shares
        within = np.concatenate([own.value[:, None], own.slope], axis=1)
        base = layout.base(self.region.mesh)
        return Resolved(own.centroid[None], own.ids[None] + base, within.reshape(1, -1))

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return the mean position or an axis as combinations of local coordinates."""
        on = configuration.binding(self.body).interpolation
        shares = places.within.reshape(*vertices.shape, 4)
        if jet == "value":
            weights = shares[..., 0]
        else:
            axis = self._axis(int(jet.removeprefix("axis")))
            weights = shares[..., 1:] @ axis
        corner = np.broadcast_to(np.arange(vertices.shape[1]), vertices.shape)
        return vector_rows(on.offset(vertices, "value"), weights, corner)

    @property
    def reference_frame(self) -> Array:
        """The axes (3, 3) in the reference, columns; by default e3 is the normal of the face."""
        if self.frame is not None:
            return self.frame
        normal = self.shares.normal
        first = perpendicular(normal[None])[0, 0]
        return np.stack([first, np.cross(normal, first), normal], axis=1)

    def _axis(self, k: int) -> Array:
        """Return axis k in the reference.

        Raises
        ------
        ConstraintError : the face does not tell what becomes of it.
        """
        axis = self.reference_frame[:, k]
        own = self.shares
        plane = np.linalg.matrix_rank(own.slope, tol=1e-9 * np.abs(own.slope).max()) < 3
        if plane and abs(axis @ own.normal) > 1e-6:
            raise ConstraintError(
                f"{self}: its axis e{k + 1} = ({axis[0]:g}, {axis[1]:g}, {axis[2]:g}) is not along "
                f"the face, whose normal is ({own.normal[0]:g}, {own.normal[1]:g}, "
                f"{own.normal[2]:g})",
                asked=f"e{k + 1}",
                given=axis,
            )
        return np.asarray(axis)

    def __str__(self) -> str:
        return f"the mean of {self.region.name!r} of {self.body.name!r}"
