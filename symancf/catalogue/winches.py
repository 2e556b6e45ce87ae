# SPDX-License-Identifier: BSD-3-Clause
"""Eyelets beside rods, and winches at the ends of tendons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ConstraintError, ParameterError
from ..places.ends import End, require_place
from ..values.parameter import Parameter, label, reals

if TYPE_CHECKING:
    from ..terms.work import VirtualWork


@dataclass(frozen=True)
class Eyelet:
    """Places of a tendon beside the axis of a rod; see `eyelet`."""

    place: End
    offset: tuple[float, float]


def eyelet(place: End, offset: Sequence[float] = (0.0, 0.0)) -> Eyelet:
    r"""Return places for a `Tendon` that stick out of a rod: at r + h_2 e_2 + h_3 e_3.

    Parameters
    ----------
    place : ``rod.at(points)``, with axes.
    offset : (h_2, h_3) along the second and third axis of the section, the directors of the rod, or
        along e2 and e3 of ``rod.at(points, frame=...)`` [m]. Directors follow ``direction=`` of the
        body; without it, which axis of space they are near depends on where the rod lies.

    Raises
    ------
    ConstraintError : `place` is no place, or has no axes.
    ParameterError : `offset` is not two numbers.

    Examples
    --------
    >>> import symancf as sa
    >>> line = sa.Mesh.box((0.2,), (4,), cell="line3")
    >>> rod = sa.Body(line["body"], sa.elements.ancf_rod, sa.energies.rod(),
    ...               **sa.Section.circle(6e-3).rod(E=1e6, nu=0.49))
    >>> eyelets = sa.eyelet(rod.at([(0.1, 0.0, 0.0), (0.2, 0.0, 0.0)]), offset=(0.0, 5e-3))
    """
    require_place("eyelet", place)
    h = reals(offset)
    if h.shape != (2,):
        raise ParameterError(
            f"eyelet: offset is {label(offset)}: give (h2, h3), along the axes e2 and e3",
            asked="offset",
            given=offset,
            possible=((2,),),
        )
    if not place.oriented:
        raise ConstraintError(
            f"eyelet: {place} has no axes to be beside: leave out the offset",
            asked="place",
            given=str(place),
        )
    return Eyelet(place.of_section(), (float(h[0]), float(h[1])))


@dataclass(frozen=True, eq=False)
class Winch:
    """An end of a tendon that moves; see `winch`."""

    feed: Any = None
    force: Any = None
    motor: Callable[[End], VirtualWork] | None = None


def winch(
    *, feed: Any = None, force: Any = None, motor: Callable[[End], VirtualWork] | None = None
) -> Winch:
    r"""Return an end of a `Tendon` that pays cord out, or pulls; give one of the three.

    Parameters
    ----------
    feed : length of cord that is paid out [m], negative where it is pulled in: a number,
        `Parameter` or function of time.
    force : tension at this end [N], likewise.
    motor : function of the end's place that returns a `Controller` or `VirtualWork` there. The
        place offers ``s_a`` and ``ds_a``, the length that the cord has moved: at the start of the
        tendon what was pulled in, at its end what was paid out. The force on ``ds_a`` balances
        T + T^2/(2 EA), pulled in at the start, and minus that at the end.

    Raises
    ------
    ParameterError : none or several are given, or a motor is no function.

    Examples
    --------
    >>> import symancf as sa
    >>> drum = sa.winch(feed=lambda t: -0.02 * t)          # pulls in 20 mm/s
    >>> hand = sa.winch(force=sa.Parameter("F", 10.0))
    >>> motor = sa.winch(motor=lambda end: sa.PID(lambda s_a: s_a, lambda ds_a: ds_a, end,
    ...                                           target=0.01, kp=1e4))
    """
    given = {"feed": feed, "force": force, "motor": motor}
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise ParameterError(
            f"winch: given {', '.join(names) or 'nothing'}: give one of feed, force and motor",
            asked="winch",
            given=tuple(names),
            possible=tuple(given),
        )
    if motor is not None and not callable(motor):
        raise ParameterError(
            f"winch: motor is {label(motor)}: give a function of the end's place that returns a "
            "sa.Controller there",
            asked="motor",
            given=motor,
        )
    for name in ("feed", "force"):
        value: Any = given[name]
        timed = value is None or callable(value) or isinstance(value, Parameter)
        if not timed and reals(value).shape != ():
            raise ParameterError(
                f"winch: {name} is {label(value)}: give a number, a Parameter or a function "
                "of time",
                asked=name,
                given=value,
            )
    return Winch(feed, force, motor)
