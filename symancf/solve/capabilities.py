# SPDX-License-Identifier: BSD-3-Clause
"""Capabilities: elements, laws, bodies and terms against what a model may be asked for."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields, replace
from typing import TYPE_CHECKING

from .. import elements, energies
from ..catalogue import joints
from ..elements import Element
from ..runtime.display import Table
from ..values.functions import arguments_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

YES = "yes"
ITERATIONS = "iterations only"
IN_PYTHON = "in Python"
SHAPES = "rigid shapes"
DIGITS = "digits"
NO_STIFFNESS = "ParameterError: stiffness"
NO_GRIDS = "SymancfError: -pc_type"
NO_MOTION = "ParameterError: factor"
BEST_FIRST = (YES, ITERATIONS, IN_PYTHON, SHAPES)  # then what is refused


@dataclass(frozen=True)
class CapabilityRow:
    """What one element, law, body or term can do; see `capabilities` for the columns."""

    kind: str
    name: str
    ranks: str = YES
    restart: str = YES
    steps: str = YES
    multigrid: str = YES
    audit: str = YES
    contact: str = ""


HEADS = {
    "kind": "kind",
    "name": "name",
    "ranks": "several ranks",
    "restart": "restart",
    "steps": "steps in C",
    "multigrid": "multigrid",
    "audit": "audit",
    "contact": "contact",
}

#: Laws of `symancf.energies` with memory.
REMEMBERING = ("bergstrom_boyce", "j2_plasticity", "ogden_roxburgh", "prony")

#: Laws beside those of `symancf.energies`.
LAWS = (
    CapabilityRow("law", "Layers", multigrid=NO_GRIDS, contact=YES),
    CapabilityRow("law", "memory", contact=NO_STIFFNESS),
    CapabilityRow("law", "local", contact=NO_STIFFNESS),
    CapabilityRow("law", "implicit", contact=NO_STIFFNESS),
    CapabilityRow("law", "parameter of time", contact=YES),
    CapabilityRow("law", "density of time", steps=ITERATIONS, contact=YES),
    CapabilityRow("law", "pressure, condensed", contact=YES),
    CapabilityRow("law", "pressure, continuous", contact=YES),
    CapabilityRow("law", "pressure, discontinuous", contact=YES),
)
BODIES = (
    CapabilityRow("body", "PlanarBody", multigrid=NO_GRIDS, contact="ParameterError: surface"),
    CapabilityRow("body", "RigidBody", multigrid=NO_GRIDS, contact=YES),
    CapabilityRow("body", "PointMass", multigrid=NO_GRIDS, contact="ParameterError: surface"),
)
TERMS = (
    CapabilityRow("term", "fix"),
    CapabilityRow("term", "fix, displacement of time"),
    CapabilityRow("term", "planar"),
    CapabilityRow("term", "symmetry"),
    CapabilityRow(
        "term", "displacement_control", steps=NO_MOTION, multigrid=NO_GRIDS, audit=NO_MOTION
    ),
    CapabilityRow("term", "gravity"),
    CapabilityRow("term", "force"),
    CapabilityRow("term", "force, place of time", steps=IN_PYTHON),
    CapabilityRow("term", "force, factor", steps=NO_MOTION, multigrid=NO_GRIDS, audit=NO_MOTION),
    CapabilityRow("term", "traction"),
    CapabilityRow("term", "body_force"),
    CapabilityRow("term", "moment"),
    CapabilityRow("term", "pressure"),
    CapabilityRow("term", "Cavity, pressure", restart=DIGITS),
    CapabilityRow("term", "Cavity, gas", restart=DIGITS),
    CapabilityRow("term", "rotating_frame"),
    CapabilityRow("term", "length"),
    CapabilityRow("term", "Thread"),
    CapabilityRow("term", "embed"),
    CapabilityRow("term", "Tendon", steps=ITERATIONS, multigrid=NO_GRIDS),
    CapabilityRow("term", "Constraint"),
    CapabilityRow("term", "Constraint, function of time", steps=ITERATIONS),
    CapabilityRow("term", "Constraint, place that slides", steps=IN_PYTHON, multigrid=NO_GRIDS),
    CapabilityRow("term", "Potential"),
    CapabilityRow("term", "Potential, kinked"),
    CapabilityRow("term", "Potential, memory"),
    CapabilityRow("term", "BodyPotential"),
    CapabilityRow("term", "magnetic"),
    CapabilityRow("term", "dielectric"),
    CapabilityRow("term", "VirtualWork"),
    CapabilityRow("term", "VirtualWork, states"),
    CapabilityRow("term", "Controller"),
    CapabilityRow("term", "PID"),
    CapabilityRow("term", "KelvinVoigt"),
    CapabilityRow("term", "Viscosity"),
    CapabilityRow("term", "Flexure", multigrid=NO_GRIDS),
    CapabilityRow("term", "Contact, deformable bodies", steps=IN_PYTHON),
    CapabilityRow("term", "Contact, friction"),
    CapabilityRow("term", "Contact, rigid bodies", multigrid=NO_GRIDS),
    *(
        CapabilityRow("term", f"Contact, {shape}")
        for shape in ("Plane", "Sphere", "Cylinder", "Capsule", "Box", "Distance")
    ),
    CapabilityRow("damping", "Rayleigh, mass"),
    CapabilityRow("damping", "Rayleigh, stiffness", steps=IN_PYTHON),
)
#: Joints that can do less than others.
JOINTS = {
    "clamp": CapabilityRow("term", "joints.clamp", multigrid=NO_GRIDS),
    "fold": CapabilityRow("term", "joints.fold", multigrid=NO_GRIDS),
}


def capabilities() -> Table:
    """Return the table of what elements, laws, bodies and terms can do.

    A model can do what every one of its parts can: a rod in joints makes each step from Python,
    because rods do.

    =================  ==========================================================================
    column             what it says
    =================  ==========================================================================
    ``several ranks``  a script runs under ``mpirun``, with the same result
    ``restart``        dynamics (without them, a path) continue from ``problem.state`` and
                       from the file of ``problem.save``, on one rank with the same bits; "digits":
                       but for round-off
    ``steps in C``     generalized-alpha on one rank with a direct solver: "yes", many steps in one
                       call; "iterations only", each step is called from Python; "in Python", slower
    ``multigrid``      ``options={"pc_type": "grids"}``
    ``audit``          ``problem.energies.drift`` is the error of the steps alone: it vanishes with
                       their square
    ``contact``        the body as a side of `Contact` and as its target; "rigid shapes": as a side
                       of rigid shapes alone. Of a law: whether a stiffness follows from it. Of
                       terms nothing
    =================  ==========================================================================

    Anything else in a cell is the error that says no, and its `asked`. Two of them have a way
    round: ``ParameterError: stiffness`` by ``stiffness=`` of the contact, and
    ``SymancfError: -pc_type`` by a direct solver, which is the default there.

    Examples
    --------
    >>> import symancf as sa
    >>> table = sa.capabilities()
    >>> table.heads[2:]
    ['several ranks', 'restart', 'steps in C', 'multigrid', 'audit', 'contact']
    >>> next(row[4:6] for row in table.rows if row[1] == "ancf_rod")
    ('iterations only', 'SymancfError: -pc_type')
    """
    table = Table("What goes with what", *(HEADS[each.name] for each in fields(CapabilityRow)))
    for row in rows():
        table.add(*astuple(row))
    return table


def rows() -> Iterator[CapabilityRow]:
    """Return the rows: what classes declare is asked of them, the rest stands above."""
    all_elements = [getattr(elements, name) for name in elements.__all__]
    of_bodies = [e for e in all_elements if isinstance(e, Element) and is_of_bodies(e)]
    yield from map(of_element, of_bodies)
    for name in energies.__all__:
        law = getattr(energies, name)
        if not law.__module__.endswith(".domain"):
            row = of_law(name, quantities(law), of_bodies)
            yield replace(row, contact=NO_STIFFNESS) if name in REMEMBERING else row
    yield from (*LAWS, *BODIES, *TERMS)
    for name in joints.__all__:
        if not isinstance(getattr(joints, name), type):
            yield JOINTS.get(name, CapabilityRow("term", f"joints.{name}"))


def is_of_bodies(element: Element) -> bool:
    """Tell whether bodies may have an element: it offers strains, not places of a face alone."""
    return not {*element.quantities} <= {"u", "r", "X", "t"}


def of_element(element: Element) -> CapabilityRow:
    """Return the row of an element."""
    return CapabilityRow(
        "element",
        element.name,
        steps=ITERATIONS if element.kinematics().penalties else YES,
        multigrid=YES if element.coordinates == 3 * element.vertices else NO_GRIDS,
        contact=_contact(element),
    )


def _contact(element: Element) -> str:
    if element.dimension == 1:
        return SHAPES
    if element.dimension == 2 and not element.has_thickness:
        return "ParameterError: element"
    return YES


def quantities(law: Callable[..., object]) -> list[str]:
    """Return what a law of the catalogue asks of an element, or one that is made of another."""
    names = [*arguments_of(law).positional]
    if names[:1] == ["law"]:
        structure = law is energies.rest_strain
        return quantities(energies.cable if structure else energies.neo_hooke)
    return names or quantities(law())  # type: ignore[arg-type]


def of_law(name: str, quantities: list[str], able: list[Element]) -> CapabilityRow:
    """Return the row of a law: the best of the elements that offer what it asks."""
    on = [of_element(e) for e in able if {*quantities} <= {*e.quantities}]

    def best(column: str) -> str:
        cells = [str(getattr(row, column)) for row in on]
        return min(cells, key=lambda c: BEST_FIRST.index(c) if c in BEST_FIRST else len(BEST_FIRST))

    return CapabilityRow("law", name, **{c: best(c) for c in ("steps", "multigrid", "contact")})
