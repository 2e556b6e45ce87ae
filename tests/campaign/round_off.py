# SPDX-License-Identifier: BSD-3-Clause
"""What round-off decides: the cases of `symancf verify` as other machines would compute them.

    python -m tests.campaign.round_off [--all] [--seeds 1 2 3] [--types Prescott Haswell SkylakeX]

Kernels whose results are multiplied by 1 + 1e-15 r (SYMANCF_ROUND_OFF), and the kernels of OpenBLAS
for other processors (OPENBLAS_CORETYPE), must not change which numbers pass. Paths, branches,
stability, modes and contact, where something is decided; `--all`: every case.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from pathlib import Path

from symancf import verify

DECIDING = ("bifurcations", "limit_points", "rod_structures", "incompressible", "modes", "contact")
NEEDED = {"Haswell": "avx2", "SkylakeX": "avx512f", "Cooperlake": "avx512_bf16"}  # of the processor
# Round-off of forces, times EA R^2/EI = 1e10: 1e-15 moves the flat extremum by 2e-5, as is allowed.
SENSITIVE = "EA = 1e+12"


def wrong(everything: bool) -> list[str]:
    """Run the cases in this process; return which numbers do not pass."""
    found = []
    for case in verify.cases():
        module = case.function.__module__.rpartition(".")[2]
        if everything or module.startswith(DECIDING):
            results = [r for r in case.run() if not (r.passed or r.quantity.endswith(SENSITIVE))]
            found += [f"{r.id}: {r.quantity}: {r.value}" for r in results]
    return found


def main() -> int:
    """Run the cases in each environment and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.round_off", description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--types", nargs="*", default=["Prescott", "Haswell", "SkylakeX"])
    parser.add_argument("--here", action="store_true", help="in this process and environment")
    given = parser.parse_args()
    if given.here:
        warnings.simplefilter("ignore")
        print("\n".join(lines := wrong(given.all)))
        return int(bool(lines))
    able = Path("/proc/cpuinfo").read_text(encoding="ascii").split()
    kinds = [{"SYMANCF_ROUND_OFF": str(seed)} for seed in given.seeds]
    kinds += [{"OPENBLAS_CORETYPE": t} for t in given.types if NEEDED.get(t, "fpu") in able]
    command = [sys.executable, "-m", "tests.campaign.round_off", "--here", *["--all"] * given.all]
    failed = 0
    for kind in kinds:
        run = subprocess.run(
            command, env=os.environ | kind, capture_output=True, text=True, check=False
        )
        failed += run.returncode != 0
        print(*(f"{name}={value}" for name, value in kind.items()), "passes" * (not run.returncode))
        print(run.stdout + run.stderr if run.returncode else "", end="", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
