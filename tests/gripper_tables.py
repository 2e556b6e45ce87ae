# SPDX-License-Identifier: BSD-3-Clause
"""Tables 2, 3, 5 and 7 of Cammarata et al. (Micromachines 13, 2022, 2172) as they are printed."""

from __future__ import annotations

import numpy as np


def _table(text: str) -> np.ndarray:
    rows = [line.split() for line in text.strip().splitlines()]
    return np.array([[float(x) if x != "." else np.nan for x in row] for row in rows])


# Tangent in the undeformed configuration [uN/mm, uN, uN mm]; "." is outside the band.
TABLE_2 = _table("""
 2.40e3  1.84e2 -5.42e2 -1.32e3 -1.11e2 -1.01e3    .       .       .
 1.84e2  2.71e3 -1.34e3 -1.11e2 -1.09e3 -1.46e2    .       .       .
-5.42e2 -1.34e3  2.29e3  6.76e2 -3.29e2  4.70e2    .       .       .
-1.32e3 -1.11e2  6.76e2  2.41e3  2.06e2  4.98e2 -1.10e3 -9.53e1  4.31e2
-1.11e2 -1.09e3 -3.29e2  2.06e2  2.30e3 -6.44e2 -9.53e1 -1.21e3 -1.75e2
-1.01e3 -1.46e2  4.70e2  4.98e2 -6.44e2  1.51e3  5.07e2  7.89e2 -9.01e1
   .       .       .    -1.10e3 -9.53e1  5.07e2  2.34e3 -5.58e1 -3.75e2
   .       .       .    -9.53e1 -1.21e3  7.89e2 -5.58e1  4.16e3 -1.08e3
   .       .       .     4.31e2 -1.75e2 -9.01e1 -3.75e2 -1.08e3  7.93e2
""")

# Partial model, F = 50 uN: tangent (Table 3), K_I (Table 5), K_III (Table 7).
TABLE_3 = _table("""
 2.31e3 -9.15e1 -1.66e2 -1.27e3 -1.45e2 -9.67e2    .       .       .
 4.22e2  2.75e3 -1.20e3 -1.45e2 -1.14e3 -2.65e2    .       .       .
-5.90e2 -1.45e3  2.20e3  7.24e2 -2.25e2  4.81e2    .       .       .
-1.28e3 -2.79e2  6.74e2  2.36e3  3.65e2  5.15e2 -1.08e3 -8.63e1  5.32e2
 6.01e0 -1.11e3 -3.28e2  8.03e1  2.33e3 -6.07e2 -8.63e1 -1.22e3 -2.72e1
-9.59e2 -3.34e2  4.46e2  4.64e2 -4.42e2  1.46e3  4.95e2  7.76e2 -2.18e2
   .       .       .    -1.02e3  2.52e2  2.50e2  2.23e3 -1.41e3 -1.90e2
   .       .       .    -3.80e2 -1.20e3  8.58e2  6.65e2  3.92e3 -1.12e3
   .       .       .     4.43e2 -1.43e2 -1.12e2 -4.97e2 -9.28e2  6.76e2
""")
TABLE_5 = _table("""
 2.31e3 -9.15e1 -1.16e2 -1.27e3 -1.45e2 -9.67e2    .       .       .
 4.22e2  2.75e3 -1.20e3 -1.45e2 -1.14e3 -2.65e2    .       .       .
-5.74e2 -1.42e3  2.19e3  7.08e2 -2.46e2  4.71e2    .       .       .
-1.28e3 -2.79e2  6.74e2  2.36e3  3.65e2  5.15e2 -1.08e3 -8.63e1  5.32e2
 6.01e0 -1.11e3 -3.28e2  8.03e1  2.33e3 -6.07e2 -8.63e1 -1.22e3 -2.72e1
-9.59e2 -3.34e2  4.46e2  4.83e2 -4.22e2  1.44e3  4.76e2  7.56e2 -2.15e2
   .       .       .    -1.02e3  2.52e2  2.50e2  2.23e3 -1.41e3 -1.90e2
   .       .       .    -3.80e2 -1.20e3  8.58e2  6.65e2  3.92e3 -1.12e3
   .       .       .     4.43e2 -1.43e2 -1.12e2 -4.77e2 -9.10e2  6.62e2
""")
TABLE_7 = {  # row -> (columns, values); all else is zero
    2: (slice(0, 6), [-1.62e1, -2.14e1, 8.03e0, 1.62e1, -2.14e1, -1.03e1]),
    5: (slice(3, 9), [-1.86e1, -1.94e1, 1.30e1, 1.86e1, 1.94e1, -2.29e0]),
    8: (slice(6, 9), [-1.99e1, -1.80e1, 1.45e1]),
}
# Percent differences of Table 3 to Table 2, row by row within the band (Table 4).
TABLE_4 = _table("""
  -3.5 -149.8  -69.4   -3.8   31.4   -3.8     .      .      .
 129.6    1.2  -10.4   31.4    4.5   82.0     .      .      .
   8.8    7.8   -4.1    7.1  -31.6    2.3     .      .      .
  -3.1  152.5   -0.4   -2.3   77.6    3.5   -1.2   -9.4   23.4
-105.4    2.2   -0.2  -61.0    1.6   -5.6   -9.4    1.1  -84.4
  -4.6  129.3   -5.1   -6.7  -31.4   -3.9   -2.5   -1.7  141.6
    .      .      .    -7.2 -364.2  -50.7   -4.4 2424.5  -49.4
    .      .      .   299.1   -0.8    8.7 -1290.9  -5.8    3.7
    .      .      .     2.7  -18.2   23.9   32.7  -14.1  -14.7
""")


def rounded(value: np.ndarray) -> np.ndarray:
    """Return values to three significant digits."""
    return np.array([float(f"{x:.2e}") for x in np.ravel(value)]).reshape(np.shape(value))
