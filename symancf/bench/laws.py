# SPDX-License-Identifier: BSD-3-Clause
"""CPU time of assembled tangents by laws, beside the simple law of the same element."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..energies import extended_tube, ogden, prony
from ..errors import ParameterError
from .cases import OGDEN, KernelCase, all_cases
from .contact import timed

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    of_simple, of_law = (_tangent(case) for case in (simple, law))
    return {
        "law": name,
        "tangent_us": of_law,
        "simple": simple.energy.__name__,
        "simple_us": of_simple,
        "ratio": of_law / of_simple,
        "most": choice.most,
    }


def _tangent(case: KernelCase) -> float:
    """Return the CPU time of a cell's tangent, in a state of some per cent of strain [us]."""
    system = case.system(shuffled=False)._discrete
    amplitude = 0.02 / max(case.divisions)
    system.state[:] = np.random.default_rng(0).uniform(-amplitude, amplitude, len(system.state))
    system.update(0.0)
    f = np.zeros_like(system.state)
    seconds = timed(lambda: system.assembler.tangent(system.state, f, system.matrix))
    return 1e6 * seconds / system.forms[0].size
