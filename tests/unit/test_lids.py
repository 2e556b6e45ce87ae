# SPDX-License-Identifier: BSD-3-Clause
"""Points of lids and their forces belong together, whichever rank has the one and the other."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.catalogue.gas.lid import FORCES, MEANS
from symancf.energies import yeoh
from tests.shells import tube

pytestmark = pytest.mark.collective


def test_points_of_lids_are_the_means_of_their_rims() -> None:
    apart = 0
    for around in range(5, 13):
        for along in (1, 2, 3):
            mesh = tube(around, along, 1.0, 2.0)
            values = {"C10": 0.5, "C20": 0.0, "C30": 0.0, "k": 100.0, "thickness": 0.1}
            body = sa.Body(
                mesh["skin"],
                sa.elements.ancf_plate,
                yeoh(),
                direction=lambda X: X * [0.0, 1.0, 1.0],
                **values,
            )
            cavity = sa.Cavity([body["skin"]], caps="flat", gas=sa.Gas())
            system = sa.System(body, terms=[cavity])
            space, numbering = system._discrete.binding(cavity), system._discrete.numbering
            means = space.coordinates(system._discrete, MEANS).reshape(-1, 3)
            there = system.reference[means]
            np.testing.assert_allclose(there[:, 1:], 0.0, atol=1e-14)
            every = np.concatenate(system.comm.allgather(there[:, 0]))
            np.testing.assert_allclose(np.unique(every.round(12)), [0.0, 2.0])
            assert space.closure(system._discrete, space.disturbed(system._discrete, 0.02)) < 1e-10
            forces = space.coordinates(system._discrete, FORCES).reshape(-1, 3)
            owned = [
                numbering.vertex_of[at[:, 0]] < numbering.owned_vertices for at in (means, forces)
            ]
            apart += int((owned[0] != owned[1]).any())
    if MPI.COMM_WORLD.size > 2:  # else nothing was tested
        assert MPI.COMM_WORLD.allreduce(apart)
