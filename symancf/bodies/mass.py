# SPDX-License-Identifier: BSD-3-Clause
"""What a body has of its mass: a density, or one of each of its layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import MeshError, ParameterError
from ..laws import Kind, Layers
from ..values.parameter import Field

if TYPE_CHECKING:
    from ..kinematics.naming import Energy
    from ..laws.mixed import Pressure
    from ..places.interpolation import Interpolation
    from ..values.parameter import Scalar


class WithMass:
    """A body of cells, as far as laws of its mass and weight ask; see `Body`."""

    energy_function: Energy
    parameters: dict[str, Any]
    fields: dict[str, Kind]
    pressure: Pressure | None
    name: str

    def number_at(self, name: str, value: Scalar, time: float) -> float:
        """Return the present value of a parameter that is no field."""
        raise NotImplementedError

    @property
    def layers(self) -> Layers | None:
        """The layers of which it is made."""
        return self.energy_function if isinstance(self.energy_function, Layers) else None

    @property
    def weighs(self) -> bool:
        """Whether it has a density."""
        of = self.layers
        return "rho" in self.parameters if of is None else of.weighs(self.parameters)

    @property
    def mass(self) -> dict[str, Any]:
        """What laws of its mass and weight are made of."""
        return {"values": self.parameters, "fields": self.fields, "layers": self.layers}

    def _density(self, time: float) -> float:
        """Return the density in a motion, where it must be positive."""
        number = self.number_at("rho", self.parameters["rho"], time)
        if number == 0.0:
            raise ParameterError(
                f"rho of body {self.name!r} is 0 at time {time:g}: in a motion it must be "
                "positive; leave rho out for a body without mass",
                asked="rho",
                given=0.0,
            )
        return number

    def numbers(self, time: float) -> dict[str, float]:
        """Return the present values of all parameters that are not fields."""
        return {k: self.number_at(k, v, time) for k, v in self._scalars().items()}

    def _scalars(self) -> dict[str, Scalar]:
        """Return the parameters that are not fields, nor infinite: no kernel depends on these."""
        without = self.pressure.unbounded if self.pressure else ()
        given = ((k, v) for k, v in self.parameters.items() if k not in without)
        return {k: v for k, v in given if not isinstance(v, Field)}

    def require_sides(self, on: Interpolation) -> None:
        """Check that cells of layers that differ have their normals on one side.

        Raises
        ------
        MeshError : neighbours are numbered in opposite senses, so that layers would change places.
        """
        of = self.layers
        if of is None or on.directions is None or (len(of.layers) == 1 and not of.offset):
            return
        if on.directions.opposite:
            raise MeshError(
                f"body {self.name!r}: cells are numbered in opposite senses, so that their layers "
                "would lie in opposite order: turn them over in the mesh",
                asked="orientation",
                given=self.name,
            )
