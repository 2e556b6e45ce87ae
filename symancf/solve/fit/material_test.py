# SPDX-License-Identifier: BSD-3-Clause
"""Tests of a material: what is pulled how far, and the stress that was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ...errors import ParameterError
from ...values import arguments
from ...values.parameter import reals
from .measurement import Measurement, standard_errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    import numpy.typing as npt

    from ...arrays import Array

#: How a test prescribes the principal stretches, and which are free: their directions are without
#: stress. `measured`: directions in which nominal stress is measured.
KINDS = {
    "uniaxial": {"given": (0,), "free": (1, 2), "measured": (0,)},
    "planar": {"given": (0, 1), "free": (2,), "measured": (0,)},
    "equibiaxial": {"given": (0, 1), "free": (2,), "measured": (0,)},
    "biaxial": {"given": (0, 1), "free": (2,), "measured": (0, 1)},
    "volumetric": {"given": (0, 1, 2), "free": (), "measured": (0,)},
}

PERCENT = 20.0  # [-] an engineering strain of more is taken for one in percent


class TestOptions(TypedDict, total=False):
    """What tests of all kinds may be given.

    Attributes
    ----------
    strain : (N,) engineering strains (stretch - 1), in the place of stretches [-].
    time : (N,) [s] where the material relaxes or the test goes forth and back.
    error : standard error of the stress, a number or (N,) [Pa]; rows then count by it.
    weight : of this test beside others.
    name : for tables and pictures.
    """

    strain: npt.ArrayLike | None
    time: npt.ArrayLike | None
    error: npt.ArrayLike | None
    weight: float
    name: str | None


OPTIONS = ("strain", "time", "error", "weight", "name")


@dataclass(frozen=True, eq=False)
class MaterialTest(Measurement):
    r"""A homogeneous test of a material: principal stretches, and the nominal stress measured.

    Make it by `uniaxial`, `planar`, `equibiaxial`, `biaxial` or `volumetric`. Stretches are
    lengths over those at the beginning, nominal stresses forces over areas at the beginning [Pa].
    Instead of ``stretch=`` each takes ``strain=``, the engineering strain (stretch - 1).

    Attributes
    ----------
    kind : "uniaxial", "planar", "equibiaxial", "biaxial" or "volumetric".
    stretch : (N, 3) principal stretches; NaN where a direction is free.
    stress : (N, m) nominal stresses measured [Pa]; of a volumetric test the pressure [Pa].
    time : (N,) of the rows [s], or None: the stress does not depend on time or history.
    error : (N, m) standard error of the stress [Pa], or None.
    weight : of this test beside others.
    name : for tables and pictures.

    Examples
    --------
    >>> import symancf as sa
    >>> sa.MaterialTest.uniaxial(stretch=[1.0, 1.5, 2.0], stress=[0.0, 2.1e5, 3.4e5])
    MaterialTest uniaxial: 3 rows, stretch 1 to 2, stress 0 to 340000
    """

    kind: str
    stretch: Array
    stress: Array
    time: Array | None = None
    error: Array | None = None
    weight: float = 1.0
    name: str = ""

    @classmethod
    def uniaxial(
        cls,
        stretch: npt.ArrayLike | None = None,
        stress: npt.ArrayLike | None = None,
        **options: Unpack[TestOptions],
    ) -> MaterialTest:
        """Return tension or compression along one axis, the sides free.

        Parameters
        ----------
        stretch : (N,) [-], or instead ``strain=``, the engineering strain.
        stress : nominal, (N,) [Pa].
        options : see `TestOptions`: strain, time, error, weight, name.
        """
        return cls._along("uniaxial", stretch, stress, lambda x: [x], options)

    @classmethod
    def planar(
        cls,
        stretch: npt.ArrayLike | None = None,
        stress: npt.ArrayLike | None = None,
        **options: Unpack[TestOptions],
    ) -> MaterialTest:
        """Return planar tension ("pure shear"): a wide sheet pulled, its width constant.

        Arguments are those of `uniaxial`.
        """
        return cls._along("planar", stretch, stress, lambda x: [x, np.ones_like(x)], options)

    @classmethod
    def equibiaxial(
        cls,
        stretch: npt.ArrayLike | None = None,
        stress: npt.ArrayLike | None = None,
        **options: Unpack[TestOptions],
    ) -> MaterialTest:
        """Return equal tension along two axes, as of an inflated sheet.

        Arguments are those of `uniaxial`; the stress is that of each of both axes.
        """
        return cls._along("equibiaxial", stretch, stress, lambda x: [x, x], options)

    @classmethod
    def biaxial(
        cls,
        stretch: tuple[npt.ArrayLike, npt.ArrayLike],
        stress: tuple[npt.ArrayLike, npt.ArrayLike],
        **options: Unpack[TestOptions],
    ) -> MaterialTest:
        """Return a sheet pulled along two axes at once.

        Parameters
        ----------
        stretch, stress : those of the first axis, and of the second, (N,) each [-] and [Pa].
        options : as of `uniaxial`, without strain.
        """
        both = [_stretch("biaxial", axis, None) for axis in _pair("stretch", stretch)]
        stresses = [*_pair("stress", stress)]
        return cls._of("biaxial", both, stresses, options)

    @classmethod
    def volumetric(
        cls,
        ratio: npt.ArrayLike,
        pressure: npt.ArrayLike,
        **options: Unpack[TestOptions],
    ) -> MaterialTest:
        """Return a test of compressibility: volume over that at the beginning, and pressure.

        Parameters
        ----------
        ratio : J = V/V0, (N,) [-], below 1 in compression.
        pressure : (N,) [Pa], positive in compression.
        options : as of `uniaxial`, without strain and time.
        """
        side = np.cbrt(_stretch("volumetric", ratio, None))
        return cls._of("volumetric", [side] * 3, [pressure], options, ("error", "weight", "name"))

    @classmethod
    def _along(
        cls,
        kind: str,
        stretch: npt.ArrayLike | None,
        stress: npt.ArrayLike | None,
        axes: Callable[[Array], list[Array]],
        options: TestOptions,
    ) -> MaterialTest:
        """Return a test in which one stretch is given, by itself or as a strain."""
        given = _stretch(kind, stretch, options.get("strain"))
        return cls._of(kind, axes(given), [stress], options, OPTIONS)

    @classmethod
    def _of(
        cls,
        kind: str,
        stretches: Sequence[Array],
        stresses: Sequence[npt.ArrayLike | None],
        options: TestOptions,
        possible: Sequence[str] = ("time", "error", "weight", "name"),
    ) -> MaterialTest:
        for name in options:
            if name not in possible:
                raise ParameterError(
                    f"{kind} test: there is no argument {name!r}; there are {', '.join(possible)}",
                    asked=name,
                    possible=possible,
                )
        time, error = options.get("time"), options.get("error")
        rows = len(stretches[0])
        if len(stretches[-1]) != rows:
            raise ParameterError(
                f"{kind} test: {rows} stretches of the first axis and {len(stretches[-1])} of the "
                "second: give as many",
                asked="stretch",
                given=len(stretches[-1]),
            )
        stress = np.stack([_numbers(kind, "stress", s, rows) for s in stresses], axis=1)
        stretch = np.full((rows, 3), np.nan)
        for axis, values in enumerate(stretches):
            stretch[:, axis] = values
        weight = arguments.positive(f"MaterialTest.{kind}", "weight", options.get("weight", 1.0))
        at = None if time is None else _numbers(kind, "time", time, rows)
        if at is not None and not np.all(np.diff(at) > 0.0):
            raise ParameterError(
                f"{kind} test: time does not grow from row {int(np.argmin(np.diff(at)))} to the "
                "next: give the rows in the order in which they were measured",
                asked="time",
            )
        errors = None
        if error is not None:
            one = standard_errors(f"{kind} test", error, (rows,), "of the stress [Pa]")
            errors = np.repeat(one[:, None], stress.shape[1], axis=1)
        called = arguments.name_or(options.get("name"), kind)
        return cls(kind, stretch, stress, at, errors, weight, called)

    def between(self, steps: int) -> MaterialTest:
        """Return the same test with so many rows in the place of each but the first, linear."""
        rows = np.arange(self.rows)
        fine = np.linspace(0.0, rows[-1], steps * rows[-1] + 1)

        def along(values: Array) -> Array:
            return np.stack([np.interp(fine, rows, column) for column in values.T], axis=1)

        time = None if self.time is None else np.interp(fine, rows, self.time)
        return replace(
            self, stretch=along(self.stretch), stress=along(self.stress), time=time, error=None
        )

    @property
    def rows(self) -> int:
        """How many rows were measured."""
        return len(self.stretch)

    @property
    def data(self) -> Array:
        """The stress."""
        return self.stress

    @property
    def along(self) -> Array:
        """(N,) the stretch along the first axis; of a volumetric test J = V/V0."""
        along: Array = self.stretch[:, 0] ** (3 if self.kind == "volumetric" else 1)
        return along

    @property
    def what(self) -> str:
        """What `along` is, for messages."""
        return "J" if self.kind == "volumetric" else "stretch"

    def __repr__(self) -> str:
        unit = "pressure" if self.kind == "volumetric" else "stress"
        return (
            f"MaterialTest {self.name}: {self.rows} rows, {self.what} {self.along.min():g} to "
            f"{self.along.max():g}, {unit} {self.stress.min():g} to {self.stress.max():g}"
        )


def _pair(name: str, given: object) -> tuple[npt.ArrayLike, npt.ArrayLike]:
    """Return the values of two axes."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ParameterError(
            f"biaxial test: {name}= must be a pair, the values of the first axis and those of the "
            "second",
            asked=name,
            given=given,
        )
    return given[0], given[1]


def _stretch(kind: str, stretch: npt.ArrayLike | None, strain: npt.ArrayLike | None) -> Array:
    """Return stretches, given as such or as engineering strains."""
    if (stretch is None) == (strain is None):
        raise ParameterError(
            f"{kind} test: give stretch= (length over first length) or strain= (stretch - 1), "
            "one of them",
            asked="stretch",
            possible=("stretch", "strain"),
        )
    if strain is not None:
        values = _numbers(kind, "strain", strain)
        if abs(values).max() > PERCENT:
            raise ParameterError(
                f"{kind} test: the largest strain is {values.max():g}, a stretch of "
                f"{1 + values.max():g}: it seems to be in percent; divide by 100",
                asked="strain",
                given=float(values.max()),
            )
        return 1.0 + values
    assert stretch is not None
    values = _numbers(kind, "stretch", stretch)
    if values.min() <= 0.0:
        raise ParameterError(
            f"{kind} test: a stretch is {values.min():g}; stretches are positive and 1 at the "
            "beginning. Engineering strains are given by strain=",
            asked="stretch",
            given=float(values.min()),
            possible=("strain",),
        )
    if values.max() > 1.0 + PERCENT:
        raise ParameterError(
            f"{kind} test: a stretch is {values.max():g}: it seems to be in percent; stretches are "
            "1 at the beginning",
            asked="stretch",
            given=float(values.max()),
        )
    return values


def _numbers(kind: str, name: str, given: object, rows: int | None = None) -> Array:
    """Return a row of finite numbers."""
    values = reals(given)
    if values.ndim != 1 or not len(values):
        raise ParameterError(
            f"{kind} test: {name}= must be a row of finite numbers, one for each measured row",
            asked=name,
            given=given,
        )
    if rows is not None and len(values) != rows:
        raise ParameterError(
            f"{kind} test: {rows} stretches, but {len(values)} values of {name}: give as many",
            asked=name,
            given=len(values),
        )
    return values
