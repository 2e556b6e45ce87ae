# SPDX-License-Identifier: BSD-3-Clause
r"""Where checkpoints of a sweep backwards are best: the binomial ones of Griewank and Walther.

With s checkpoints, the one at the beginning included, as many as

.. math::
    \beta(s, r) = \binom{s + r}{s}

parts of a solution are gone through backwards with none advanced over more than r times. The least
number of parts that are advanced over, for l of them with
:math:`\beta(s, r - 1) < l \le \beta(s, r)`, is

.. math::
    t(l, s) = r\, l - \beta(s + 1, r - 1) .

A. Griewank, A. Walther: Algorithm 799: revolve. ACM Trans. Math. Softw. 26 (2000) 19-45.
"""

from __future__ import annotations

from math import comb


def most_parts(checkpoints: int, repetitions: int) -> int:
    """Return for how many parts so many repetitions of each are enough, 0 where there are none."""
    return comb(checkpoints + repetitions, checkpoints) if min(checkpoints, repetitions) >= 0 else 0


def repetitions(parts: int, checkpoints: int) -> int:
    """Return how often a part has to be advanced over at most."""
    r = 0
    while most_parts(checkpoints, r) < parts:
        r += 1
    return r


def first_checkpoint(parts: int, checkpoints: int) -> int:
    """Return after how many parts the first checkpoint behind the beginning is best.

    With none left that is before the last part, where the sweep begins.
    """
    if checkpoints < 2:
        return parts - 1
    r = repetitions(parts, checkpoints)
    return min(most_parts(checkpoints, r - 1), parts - most_parts(checkpoints - 1, r - 1))
