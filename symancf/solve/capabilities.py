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
from .gradients.shape import has_shape

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
NO_MESH = "ParameterError: body"
NO_SHAPE = "ParameterError: Shape"
NO_FREQUENCIES = "statics, motions"
NO_MOTIONS = "statics, frequencies"
STATICS = "statics"
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
    gradient: str = YES
    shape: str = YES


HEADS = {
    "kind": "kind",
    "name": "name",
    "ranks": "several ranks",
    "restart": "restart",
    "steps": "steps in C",
    "multigrid": "multigrid",
    "audit": "audit",
    "contact": "contact",
    "gradient": "gradient",
    "shape": "shape",
}

#: Laws of `symancf.energies` with memory; one leaves something out of its tangent.
_OF_MEMORY = {"contact": NO_STIFFNESS, "gradient": NO_FREQUENCIES}
REMEMBERING = {
    **dict.fromkeys(("bergstrom_boyce", "j2_plasticity", "prony"), _OF_MEMORY),
    "ogden_roxburgh": {**_OF_MEMORY, "gradient": "motions", "shape": "ParameterError: gradient"},
}

#: Laws beside those of `symancf.energies`.
LAWS = (
    CapabilityRow("law", "Layers", multigrid=NO_GRIDS, contact=YES, shape=NO_MESH),
    CapabilityRow("law", "memory", contact=NO_STIFFNESS, gradient=NO_FREQUENCIES),
    CapabilityRow("law", "local", contact=NO_STIFFNESS),
    CapabilityRow("law", "implicit", contact=NO_STIFFNESS),
    CapabilityRow("law", "parameter of time", contact=YES),
    CapabilityRow("law", "density of time", steps=ITERATIONS, contact=YES, gradient=NO_MOTIONS),
    CapabilityRow(
        "law", "pressure, condensed", contact=YES, gradient=NO_FREQUENCIES, shape=NO_SHAPE
    ),
    CapabilityRow("law", "pressure, continuous", contact=YES, shape=NO_SHAPE),
    CapabilityRow("law", "pressure, discontinuous", contact=YES, shape=NO_SHAPE),
)
BODIES = (
    CapabilityRow(
        "body", "PlanarBody", multigrid=NO_GRIDS, contact="ParameterError: surface", shape=NO_MESH
    ),
    CapabilityRow("body", "RigidBody", multigrid=NO_GRIDS, contact=YES, shape=NO_MESH),
    CapabilityRow(
        "body", "PointMass", multigrid=NO_GRIDS, contact="ParameterError: surface", shape=NO_MESH
    ),
)
TERMS = (
    CapabilityRow("term", "fix"),
    CapabilityRow("term", "fix, displacement of time"),
    CapabilityRow("term", "planar"),
    CapabilityRow("term", "symmetry"),
    CapabilityRow(
        "term",
        "displacement_control",
        steps=NO_MOTION,
        multigrid=NO_GRIDS,
        audit=NO_MOTION,
        gradient=STATICS,
        shape=NO_MESH,
    ),
    CapabilityRow("term", "gravity"),
    CapabilityRow("term", "force"),
    CapabilityRow("term", "force, place of time", steps=IN_PYTHON, gradient=NO_FREQUENCIES),
    CapabilityRow(
        "term",
        "force, factor",
        steps=NO_MOTION,
        multigrid=NO_GRIDS,
        audit=NO_MOTION,
        gradient=STATICS,
        shape=NO_MESH,
    ),
    CapabilityRow("term", "traction"),
    CapabilityRow("term", "body_force", shape=NO_SHAPE),
    CapabilityRow("term", "moment", gradient=NO_FREQUENCIES, shape=NO_SHAPE),
    CapabilityRow("term", "pressure", gradient=NO_FREQUENCIES),
    CapabilityRow("term", "Cavity, pressure", restart=DIGITS, shape=NO_SHAPE),
    CapabilityRow("term", "Cavity, gas", restart=DIGITS, shape=NO_SHAPE),
    CapabilityRow("term", "rotating_frame", gradient=NO_FREQUENCIES),
    CapabilityRow("term", "length", shape=NO_SHAPE),
    CapabilityRow("term", "Thread", shape=NO_SHAPE),
    CapabilityRow("term", "embed", shape=NO_SHAPE),
    CapabilityRow(
        "term",
        "Tendon",
        steps=ITERATIONS,
        multigrid=NO_GRIDS,
        shape=NO_SHAPE,
    ),
    CapabilityRow("term", "Constraint"),
    CapabilityRow("term", "Constraint, function of time", steps=ITERATIONS),
    CapabilityRow(
        "term",
        "Constraint, place that slides",
        steps=IN_PYTHON,
        multigrid=NO_GRIDS,
        gradient=NO_FREQUENCIES,
        shape=NO_MESH,
    ),
    CapabilityRow("term", "Potential"),
    CapabilityRow("term", "Potential, kinked"),
    CapabilityRow("term", "Potential, memory", gradient=NO_FREQUENCIES),
    CapabilityRow("term", "BodyPotential"),
    CapabilityRow("term", "magnetic"),
    CapabilityRow("term", "dielectric"),
    CapabilityRow("term", "VirtualWork"),
    CapabilityRow("term", "VirtualWork, states", gradient=NO_FREQUENCIES),
    CapabilityRow("term", "Controller"),
    CapabilityRow("term", "PID", gradient=NO_FREQUENCIES),
    CapabilityRow("term", "KelvinVoigt"),
    CapabilityRow("term", "Viscosity"),
    CapabilityRow("term", "Flexure", multigrid=NO_GRIDS, gradient=NO_FREQUENCIES, shape=NO_MESH),
    CapabilityRow(
        "term",
        "Contact, deformable bodies",
        steps=IN_PYTHON,
        gradient=NO_FREQUENCIES,
        shape=NO_SHAPE,
    ),
    CapabilityRow("term", "Contact, friction", gradient=NO_FREQUENCIES, shape=NO_SHAPE),
    CapabilityRow(
        "term", "Contact, rigid bodies", multigrid=NO_GRIDS, gradient=NO_FREQUENCIES, shape=NO_MESH
    ),
    *(
        CapabilityRow("term", f"Contact, {shape}", gradient=NO_FREQUENCIES, shape=NO_SHAPE)
        for shape in ("Plane", "Sphere", "Cylinder", "Capsule", "Box", "Distance")
    ),
    CapabilityRow("damping", "Rayleigh, mass"),
    CapabilityRow("damping", "Rayleigh, stiffness", steps=IN_PYTHON),
)
#: Joints that can do less than others.
JOINTS = {
    "clamp": CapabilityRow("term", "joints.clamp", multigrid=NO_GRIDS, shape=NO_MESH),
    "fold": CapabilityRow("term", "joints.fold", multigrid=NO_GRIDS, shape=NO_MESH),
    **{
        name: CapabilityRow("term", f"joints.{name}", shape=NO_SHAPE)
        for name in (
            *("cylindrical", "periodic", "prismatic", "revolute", "rigid"),
            *("rotation", "tie", "universal", "weld"),
        )
    },
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
    ``gradient``       of which results `Goal` has derivatives by parameters: "yes", of statics with
                       a `Trace`, of motions and of frequencies; or the names of those
    ``shape``          statics have derivatives by a `Shape` of the body, or one that it acts on
    =================  ==========================================================================

    Anything else in a cell is the error that says no, and its `asked`. Two of them have a way
    round: ``ParameterError: stiffness`` by ``stiffness=`` of the contact, and
    ``SymancfError: -pc_type`` by a direct solver, which is the default there.

    Examples
    --------
    >>> import symancf as sa
    >>> table = sa.capabilities()
    >>> table.heads[2:]
    ['several ranks', 'restart', 'steps in C', 'multigrid', 'audit', 'contact', 'gradient', 'shape']
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
            yield replace(row, **REMEMBERING.get(name, {}))
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
        shape=YES if has_shape(element) else NO_MESH,
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

    columns = "steps", "multigrid", "contact", "shape"
    return CapabilityRow("law", name, **{column: best(column) for column in columns})
