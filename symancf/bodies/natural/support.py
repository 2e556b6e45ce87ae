# SPDX-License-Identifier: BSD-3-Clause
"""Fixed and prescribed coordinates of rigid bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...assembly.agreement import Given
from ...errors import ParameterError
from ...terms.entities import Held
from ...values.arguments import named
from ...values.arrays import Array, Ints
from ...values.parameter import call, chosen_dofs, components, matrix3

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration
    from .body import RigidBody


POSSIBLE = ("clamp", "all", "position", "x", "y", "z")


class HeldRigidBody(Held):
    """Hold a rigid body, or the origin of its frame; see `boundary.fix`."""

    def __init__(
        self,
        body: RigidBody,
        dofs: str | list[str],
        displacement: Any,
        gradient: Any,
        name: str | None,
    ) -> None:
        self.body = body
        self.name = named(name, f"fix:{body.name}")
        asked = chosen_dofs(self.name, dofs, POSSIBLE)
        self.whole = bool({"clamp", "all"} & set(asked))
        self.axes = [a for a in range(3) if {"clamp", "all", "position", "xyz"[a]} & set(asked)]
        if not self.axes:
            raise ParameterError(f"{self.name}: dofs is empty, so that nothing is fixed")
        if gradient is not None and not self.whole:
            raise ParameterError(
                f"{self.name}: gradient= prescribes the rotation of a body, which dofs={asked} "
                "leaves free"
            )
        self.values = [displacement, gradient]
        self._components = components(
            f"{self.name}: displacement", (0.0, 0.0, 0.0) if displacement is None else displacement
        )
        self.gradient = gradient
        if gradient is not None and not callable(gradient):
            self._matrix(gradient)

    def _matrix(self, given: Any) -> Array:
        G = matrix3(
            f"{self.name}: gradient must be R - 1, a finite (3, 3) matrix with R the rotation "
            "of the body, or a function of time that returns it",
            given,
        )
        R = G + np.eye(3)
        wrong = float(np.abs(R.T @ R - np.eye(3)).max())
        if wrong > 1e-9 or np.linalg.det(R) < 0.0:
            raise ParameterError(
                f"{self.name}: 1 + gradient is no rotation (R^T R differs by {wrong:.2g} from the "
                "unit matrix): a rigid body does not follow it"
            )
        return G

    def describe(self) -> str:
        """Tell what is held, in words."""
        if self.whole:
            return "the whole body, position and rotation"
        return f"{' and '.join('xyz'[a] for a in self.axes)} of its origin"

    def coordinates(self, system: Configuration) -> Ints:
        """Return the local offsets of the fixed coordinates of the body's vertex."""
        system.layout.require_member(self.body, self.name)
        vertices = self.body.local_vertices(system)
        offsets = self.body.offsets(system, vertices)  # (k, 4)
        if self.whole:
            fixed = (offsets[:, :, None] + np.arange(3)).reshape(len(vertices), 12)
        else:
            fixed = offsets[:, :1] + np.array(self.axes)
        self.fixed = fixed
        return np.asarray(fixed.ravel(), dtype=np.int64)

    def prescribed(self, system: Configuration, time: float) -> Array:
        """Return the values of the fixed coordinates at `time`."""
        u = self._displacement(time)
        if not self.whole:
            return np.tile(u[self.axes], len(self.fixed))
        turned = self._gradient(time) @ self.body.frame
        d = self.body.length
        values = np.concatenate([u, u + d * turned[:, 0], turned[:, 1], turned[:, 2]])
        return np.tile(values, len(self.fixed))

    def given(self, system: Configuration) -> list[Given]:
        """Return displacement and gradient."""
        anywhere = np.zeros((1, 3))
        u = Given(
            f"{self.name}: displacement", lambda X, time: self._displacement(time)[None], anywhere
        )
        G = Given(f"{self.name}: gradient", lambda X, time: self._gradient(time)[None], anywhere)
        return [u, G] if self.whole else [u]

    def _displacement(self, time: float) -> Array:
        return np.array([c(time) for c in self._components])

    def _gradient(self, time: float) -> Array:
        if self.gradient is None:
            return np.zeros((3, 3))
        given = self.gradient
        if callable(given):
            given = call(f"{self.name}: gradient", given, float(time))
        return self._matrix(given)

    def wrench(self, system: Configuration, forces: Array, about: Array) -> Array:
        """Return force and moment about a point (6,) of forces on coordinates, on this rank."""
        total = np.zeros(6)
        vertices = self.body.local_vertices(system)
        if len(vertices):
            at = self.body.offsets(system, vertices)[0][:, None] + np.arange(3)
            force, q = forces[at], (system.reference + system.state)[at]
            total[:3] = force[0] + force[1]
            total[3:] = np.cross(q[:2] - about, force[:2]).sum(axis=0) + np.cross(
                q[2:], force[2:]
            ).sum(axis=0)
        return total
