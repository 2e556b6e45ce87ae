# SPDX-License-Identifier: BSD-3-Clause
"""A campaign of bad inputs, faults and odd models, from generators with a seed.

::

    python -m tests.campaign                       # all classes, on 1 and 3 ranks
    python -m tests.campaign --seed 7 --classes files frames --share 0.2
    python -m tests.campaign --case frames.12 --seed 7 --ranks 3   # one case again, aloud
    python -m tests.campaign --constants           # tests of tuning constants; see constants
    python -m tests.campaign.sanitize              # all C under address and UB sanitizers
    python -m tests.campaign.records A B           # two commits compared: numbers, C, memory, time

Each case ends in a right result or in one clear error that is the same on all ranks, within a
time limit; results on different numbers of ranks agree. `case.py` says what counts as right,
`worker.py` runs cases on the ranks of one communicator, `driver.py` starts it again after a hang
or a crash and adds up; every other module generates the cases of one class.
"""
