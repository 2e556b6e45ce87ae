# SPDX-License-Identifier: BSD-3-Clause
"""CPU time of assembled tangents by laws, beside the simple law of the same element."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..energies import extended_tube, ogden, prony
from ..errors import ParameterError
from .cases import OGDEN, all_cases
from .contact import timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..system import System

Row = dict[str, Any]

SERIES = {"g": (0.2, 0.15, 0.1), "tau": (0.1, 1.0, 10.0)}
TUBE = {"Gc": 0.4, "Ge": 0.2, "beta": 0.5, "delta": 0.1, "k": 1000.0}


class LawChoice(NamedTuple):
    """A law in the table.

    Attributes
    ----------
    element : of the case of `all_cases` whose law is the simple one.
    law : made of that one.
    parameters : of the law; None: those of the simple one.
    most : times the tangent of the simple law that is aimed at.
    """

    element: str
    law: Any
    parameters: dict[str, float] | None
    most: float


LAWS = {
    "Prony, hex8": LawChoice("hex8", lambda law: prony(law, **SERIES), None, 2.0),
    "Prony, tet10": LawChoice("tet10", lambda law: prony(law, **SERIES), None, 2.0),
    "Prony, thin plate": LawChoice("ancf_thin_plate", lambda law: prony(law, **SERIES), None, 2.0),
    "Ogden, tet10": LawChoice("tet10", lambda _: ogden(), OGDEN, 2.0),
    "extended tube, tet10": LawChoice("tet10", lambda _: extended_tube(), TUBE, 3.0),
}


def compare(names: Sequence[str] = (), divisions: int | None = None) -> list[Row]:
    """Return times of a cell's tangent [us], in PETSc AIJ, and ratios to those of simple laws.

    Parameters
    ----------
    names : of `LAWS`, else all.
    divisions : of the unit cube or square, by default those of `all_cases`.

    Raises
    ------
    ParameterError : a name is none of `LAWS`.
    """
    unknown = [name for name in names if name not in LAWS]
    if unknown:
        raise ParameterError(
            f"no law {unknown[0]!r}: there are {', '.join(LAWS)}",
            asked="laws",
            given=unknown[0],
            possible=tuple(LAWS),
        )
    return [_row(name, LAWS[name], divisions) for name in names or LAWS]


def _row(name: str, choice: LawChoice, divisions: int | None) -> Row:
    simple = next(case for case in all_cases() if case.name == choice.element)
    if divisions is not None:
        simple = replace(simple, divisions=(divisions,) * len(simple.divisions))
    parameters = simple.parameters if choice.parameters is None else choice.parameters
    law = replace(simple, energy=choice.law(simple.energy), parameters=parameters)
    systems = [case.system(shuffled=False) for case in (simple, law)]
    calls = [_tangent(system, max(simple.divisions)) for system in systems]
    times = [[timed(call, 1) for call in calls] for _ in range(7)]  # in turn: machines are busy
    cells = systems[0]._discrete.forms[0].size
    of_simple, of_law = 1e6 * np.median(times, axis=0) / cells
    return {
        "law": name,
        "tangent_us": float(of_law),
        "simple": simple.energy.__name__,
        "simple_us": float(of_simple),
        "ratio": float(of_law / of_simple),
        "most": choice.most,
    }


def _tangent(system: System, divisions: int) -> Callable[[], Any]:
    """Return what makes the tangents of all cells, in a state of some per cent of strain."""
    discrete = system._discrete
    amplitude = 0.02 / divisions
    discrete.state[:] = np.random.default_rng(0).uniform(-amplitude, amplitude, len(system.state))
    discrete.update(0.0)
    f = np.zeros_like(discrete.state)
    return partial(discrete.assembler.tangent, discrete.state, f, discrete.matrix)
