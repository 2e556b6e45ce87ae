# SPDX-License-Identifier: BSD-3-Clause
"""The phases in which a system asks its bodies and terms, and what it hands them."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.assembly import protocol
from symancf.assembly.configuration import Configuration, Layout
from symancf.assembly.numbering import Block
from symancf.mesh.partition import Family
from symancf.system import System
from tests.refusals import refused

if TYPE_CHECKING:
    from symancf.assembly.form import Form

pytestmark = pytest.mark.collective

PARTS = (
    *("HasMesh", "HasMass", "HasInitialRate", "Oriented", "Carries", "Idles"),
    *("Settles", "Bonds", "Chooses", "SupportBinding", "TurnsSlopes"),
)

EXTRA = Block("extra", 2, "algebraic")


class Witness:
    """A term of a user: two numbers at a vertex of its own, which it sets to the time."""

    def __init__(self, name: str, said: list[str]) -> None:
        self.name, self.said = name, said

    def bind(self, layout: Layout) -> WitnessBinding:
        return WitnessBinding(self, layout)


class WitnessBinding:
    """A witness in one system."""

    def __init__(self, witness: Witness, layout: Layout) -> None:
        self.name, self.said = witness.name, witness.said
        self._note("declare", layout, Layout)
        self.vertex = int(layout.new_vertices(1, self.name)[0])
        mine = np.zeros(1 if layout.comm.rank == 0 else 0, dtype=np.int64)
        vertices = np.full((len(mine), 1), self.vertex, dtype=np.int64)
        layout.announce(Family(self.name, mine, vertices, partitioned=False))
        layout.announce_block(EXTRA)

    def _note(self, phase: str, given: object, kind: type) -> None:
        assert isinstance(given, kind)
        self.said.append(f"{self.name} {phase}")

    def orient(self, configuration: Configuration) -> None:
        self._note("orient", configuration, Configuration)
        assert not hasattr(configuration, "numbering")
        self.here = configuration.topology.find(self.vertex)

    def carriers(self, configuration: Configuration) -> protocol.Carriers:
        self._note("carriers", configuration, Configuration)
        return [(EXTRA.name, self.here)]

    def forms(self, configuration: Configuration) -> list[Form]:
        self._note("forms", configuration, Configuration)
        block = configuration.numbering.block(EXTRA.name)
        self.at = configuration.numbering.coordinates_of(block, self.here)
        return []

    def idle(self, configuration: Configuration) -> Any:
        self._note("idle", configuration, Configuration)
        return np.zeros(0, dtype=np.int64)

    def settle(self, configuration: Configuration) -> None:
        self._note("settle", configuration, Configuration)
        configuration.state[self.at] = configuration.time + 1.0


def test_phases_come_one_after_the_other_for_all_terms() -> None:
    said: list[str] = []
    body = sa.PlanarBody(mass=1.0, inertia=1.0)
    system = System(body, terms=[Witness("first", said), Witness("second", said)])
    phases = ("declare", "orient", "carriers", "forms", "idle")
    assert said == [f"{name} {phase}" for phase in phases for name in ("first", "second")]
    del said[:]
    system.time = 2.0
    system._discrete.settle()
    assert said == ["first settle", "second settle"]
    extra = system._discrete.numbering.block(EXTRA.name)
    mine = system._discrete.numbering.carriers(extra)
    mine = mine[mine < system._discrete.numbering.owned_vertices]
    values = system.state[system._discrete.numbering.coordinates_of(extra, mine)]
    assert system._discrete.sum(np.array([values.sum(), float(values.size)])).tolist() == [
        12.0,
        4.0,
    ]


def _cube() -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    return sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=1.0)


def _hinge(body: sa.PlanarBody) -> sa.Constraint:
    return sa.joints.revolute(body.at((0, 0)), sa.ground.at((0, 0)))


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("body", "act", "parts"),
    [
        (sa.PlanarBody, None, {"HasMass", "HasInitialRate", "Carries"}),
        (sa.RigidBody, None, {"HasMass", "HasInitialRate", "Carries", "Idles"}),
        (sa.PlanarBody, _hinge, {"Carries", "Idles"}),
        (sa.PlanarBody, sa.fix, {"SupportBinding"}),
        (
            _cube,
            lambda cube: sa.fix(cube["x0"]),
            {"Carries", "Idles", "Oriented", "SupportBinding", "TurnsSlopes"},
        ),
        (lambda: sa.PlanarBody(mass=1.0), lambda _: sa.gravity((0.0, -9.81, 0.0)), set()),
    ],
)
def test_what_has_which_parts(body: Any, act: Any, parts: set[str]) -> None:
    own = body()
    given = own if act is None else act(own)
    assert isinstance(given, protocol.Term)
    system = System(own, terms=[] if act is None else [given])
    found = system._discrete.binding(given)
    assert {part for part in PARTS if isinstance(found, getattr(protocol, part))} == parts


@pytest.mark.collective(rows=0)
def test_a_layout_names_what_it_does_not_know() -> None:
    mine, other = sa.PlanarBody(name="mine"), sa.PlanarBody(name="other")
    load = sa.force(mine, (1.0, 0.0))
    layout = Layout(MPI.COMM_WORLD, [mine], [load])
    assert layout.number(load) == 0
    with refused(sa.ParameterError, asked="body", given="other", possible=(mine.name,)):
        layout.require_member(other, "a load")
    with refused(sa.ParameterError, asked="system", given=load.name):
        layout.number(sa.force(mine, (1.0, 0.0)))


def test_a_layout_has_the_bindings_of_its_members_alone() -> None:
    mine, other = sa.PlanarBody(name="mine"), sa.PlanarBody(name="other")
    layout, later = (Layout(MPI.COMM_WORLD, [mine], []) for _ in range(2))
    binding = layout.bind(mine)
    assert layout.binding(mine) is binding
    assert later.bind(mine) is not binding
    with refused(sa.ParameterError, asked="system", given="other"):
        layout.binding(other)
    ghost = weakref.ref(binding)
    del binding
    gc.collect()
    assert ghost() is not None
    del layout
    gc.collect()
    assert ghost() is None


def test_places_that_are_asked_for_leave_nothing() -> None:
    """A user may ask for positions of new places all day."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 1, 1))
    solid = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=1.0)
    head = sa.RigidBody((0.0, 0.0, 2.0))
    system = System(solid, head)
    for place in (
        lambda: solid["x1"],
        lambda: solid.at((0.3, 0.2, 0.1)),
        lambda: head.at((0.0, 0.0, 0.1)),
    ):
        made = place()
        places = made.resolve(system._discrete.layout)
        assert made.resolve(system._discrete.layout) is places  # found once
        X = places.everywhere(system.comm).X
        np.testing.assert_array_equal(system.position(made), X)
        left = weakref.ref(places.vertices)
        del places
        gc.collect()
        assert left() is not None
        del made
        gc.collect()
        assert left() is None


@pytest.mark.collective(rows=0)
def test_names_are_numbered_in_a_system() -> None:
    class Load:
        def __init__(self, name: str) -> None:
            self.name = name

        def bind(self, layout: Layout) -> Self:
            return self

        def forms(self, configuration: Configuration) -> list[Form]:
            return []

    terms = [Load("a"), Load("a"), Load("a #2"), Load("a"), Load("a #2")]
    system = System(sa.PlanarBody(), terms=terms)
    assert [system._discrete.name(t) for t in terms] == ["a", "a #3", "a #2", "a #4", "a #2 #2"]
    later = System(sa.PlanarBody(), terms=terms[3:])
    assert [later._discrete.name(t) for t in terms[3:]] == ["a", "a #2"]
    assert [t.name for t in terms] == ["a", "a", "a #2", "a", "a #2"]
    assert system._discrete.name(terms[3]) == "a #4"


@pytest.mark.collective(rows=0)
def test_a_body_is_no_place() -> None:
    body = sa.PlanarBody()
    system = System(body)
    for ask in (system.displacement, system.velocity, system.position):
        with refused(sa.ConstraintError, asked="place"):
            ask(body)  # type: ignore[arg-type]


def test_sums_and_ghosts_of_a_configuration() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (4, 4, 4))
    solid = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=1.0)
    system = System(solid, terms=[sa.fix(solid["x0"])])
    n = system._discrete.numbering
    owned = n.vertex_of < n.owned_vertices
    value = system._discrete.topology.vertex_ids[n.vertex_of].astype(float)
    vector, which = np.where(owned, value, -1.0), value % 2.0 == 0.0
    n.update_ghosts(vector, np.flatnonzero(which))
    np.testing.assert_array_equal(vector, np.where(owned | which, value, -1.0))
    assert system._discrete.sum(np.array([float(owned.sum())])) == 3 * 125


class Nameless:
    """A term that has a block of many terms on a vertex of nobody."""

    name = "nameless"

    def bind(self, layout: Layout) -> object:
        layout.new_vertices(1, "", Block("shares", 1, "multiplier", "lambda"))
        raise AssertionError("it was let in")


def test_a_block_of_many_terms_has_an_owner() -> None:
    with refused(sa.ParameterError, asked="owner") as caught:
        System(sa.PlanarBody(), terms=[Nameless()])
    assert "'shares' belong to no one" in str(caught.value)
