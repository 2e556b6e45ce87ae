# SPDX-License-Identifier: BSD-3-Clause
"""Energies of places, as functions of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symancf_codegen import declare

from ...arrays import Array
from ...assembly.configuration import Configuration, in_system
from ...values.reader import name_of, require_dependence
from ..substitution import Substitution
from ..term import PlaceTerm

if TYPE_CHECKING:
    from ...assembly.form import Role
    from ...places.ends import End
    from ..quantities import Law, PlaceValues


class Potential(PlaceTerm):
    """Energy of places: a spring between two points, a field of force at one.

    Parameters
    ----------
    function : as for `VirtualWork`, without rates and states; it returns an expression, the
        energy at each tuple of places [J].
    ends, parameters : as for `VirtualWork`.

    Examples
    --------
    >>> def spring(r_a, r_b, *, k, L):
    ...     return k / 2 * ((r_a - r_b).norm() - L) ** 2
    """

    role: Role = "potential"
    kind = "potential"

    def __init__(
        self, function: Law, *ends: End, name: str | None = None, **parameters: PlaceValues
    ) -> None:
        super().__init__(function, ends, name, parameters, rates=False)
        self.energy = self._reading.scalar(self._reading.result, "it must return one expression")
        substitution = Substitution.of(self.ends, self._reading.jets)
        self._substitution = substitution.with_lets(self._reading.lets)
        on = {*self._reading.unknowns, *(s for s, _ in self._reading.lets)}
        names = sorted(map(str, self._reading.unknowns))
        require_dependence(self.what, name_of(function), self.energy, on, "the ends", names)
        self.results = [self.energy]

    def _law(self) -> declare.PointLaw:
        """Return the point law of the energy."""
        return declare.PointLaw(
            name=self._law_name,
            unknowns=self._unknowns(),
            lets=tuple(self._substitution.lets),
            energy=self._reading.integrand(self._substitution.insert_constants(self.energy)),
            history=self._history(),
            stored=self._stored(),
            parameters=self._parameters(self._substitution.insert_constants(self.energy)),
            called=self.what,
            title=f"energy of {self._law_name}",
        )

    @in_system
    def values(self, system: Configuration) -> Array:
        """Return the energies (places,) at the present state, on every rank (collective).

        Of a law with memory what is stored.
        """
        energy = self.energy if self._reading.stored is None else self._reading.stored
        return self._values(system, [self._reading.integrand(energy)])[:, 0]
