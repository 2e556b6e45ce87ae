# SPDX-License-Identifier: BSD-3-Clause
"""Bodies without an element: it follows from the cells and the law, or the error says why not."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest
import sympy as sp

import symancf as sa
from symancf import elements, energies
from symancf.errors import KinematicsError, MeshError
from tests.refusals import refused

STEEL = {"E": 1.0, "nu": 0.3}
YEOH = {"C10": 1.0, "C20": 0.0, "C30": 0.0, "k": 10.0}
SOLIDS = ("hex8", "hex20", "hex27", "tet4", "tet10", "wedge6", "wedge15", "wedge18")


def box(cell: str, dimension: int = 3) -> sa.Mesh:
    return sa.Mesh.box((1.0, 1.0, 1.0)[:dimension], (1, 1, 1)[:dimension], cell=cell)


def chosen(*arguments: Any, **given: Any) -> tuple[sa.Body, str]:
    """Return the body and the one thing that is told of the choice."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        body = sa.Body(*arguments, **given)
    (text,) = [str(w.message) for w in told if "chosen" in str(w.message)]
    assert all(w.filename == __file__ for w in told if "chosen" in str(w.message))
    return body, text


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_by_their_cells(name: str) -> None:
    element = getattr(elements, name)
    body, text = chosen(box(element.cell)["body"], energies.yeoh(), **YEOH)
    assert body.element is element
    assert f" {name} with yeoh" in repr(body)
    assert f"body 'body' has the element sa.elements.{name}, chosen for its cells" in text
    assert repr(element.cell) in text
    body, _ = chosen(box(element.cell)["body"], energy=energies.yeoh(), **YEOH)
    assert body.element is element


@sa.local(p=0, per="cell")
def mixed(J: Any, I1: Any, *, mu: Any, k: Any, p: Any) -> Any:
    return mu / 2 * (I1 - 3 - 2 * sp.log(J)) + p * (J - 1) - p**2 / (2 * k)


@pytest.mark.parametrize(
    ("law", "given", "asked", "why"),
    [
        (
            mixed,
            {"mu": 1.0, "k": 10.0},
            "unknowns",
            r"mixed\(\) for p of each cell; it locks in bending",
        ),
        (energies.yeoh(), {**YEOH, "volumetric": "reduced"}, "quadrature", "at 2x2x2, 1x1x1"),
        (energies.yeoh(), {**YEOH, "quadrature": "reduced"}, "quadrature", "at 1x1x1"),
    ],
)
def test_laws_that_do_not_go_with_unknowns_of_cells_get_hex8_plain(
    law: Any, given: dict[str, Any], asked: str, why: str
) -> None:
    mesh = box("hexahedron")
    body, text = chosen(mesh["body"], law, **given)
    assert body.element is elements.hex8_plain
    assert re.search(why, text)
    with refused(KinematicsError, asked=asked, possible=("hex8_plain",)):
        sa.Body(mesh["body"], elements.hex8, law, **given)


def test_plates_and_cables_by_what_is_asked() -> None:
    square, line = box("quad", 2)["body"], box("line", 1)["body"]
    assert chosen(square, energies.yeoh(), thickness=0.1, **YEOH)[0].element is elements.ancf_plate
    thin = chosen(square, energies.kirchhoff(), thickness=0.1, **STEEL)[0]
    assert thin.element is elements.ancf_thin_plate
    assert chosen(line, energies.cable(), EA=1.0, EI=1.0)[0].element is elements.ancf_cable
    made, called = (
        str(sa.Body(line, elements.ancf_cable, law, EA=1.0, EI=1.0))
        for law in (energies.cable(), energies.cable())
    )
    assert made == called


def membrane(E_gl: Any, *, E: Any, thickness: Any) -> Any:
    return E * thickness * E_gl[0, 0] ** 2


def stretched(E_gl: Any, *, E: Any) -> Any:
    return E * E_gl[0, 0] ** 2


def test_of_two_elements_the_parameters_decide() -> None:
    square = box("quad", 2)["body"]
    plain = chosen(square, stretched, E=1.0)[0]
    assert plain.element is elements.ancf_thin_plate  # the other one needs a thickness
    for law in (membrane, stretched):
        names = ("ancf_thin_plate", "ancf_plate")
        with refused(KinematicsError, asked=law.__name__, possible=names):
            sa.Body(square, law, E=1.0, thickness=0.1)


def test_what_does_not_fit_is_told() -> None:
    solid, square = box("hexahedron"), box("quad", 2)
    with refused(KinematicsError, asked="epsilon", possible=elements.hex8.quantities):
        sa.Body(solid["body"], energies.cable(), EA=1.0, EI=1.0)
    thin, thick = elements.ancf_thin_plate.quantities, elements.ancf_plate.quantities
    every = (*thin, *(q for q in thick if q not in thin))
    with refused(KinematicsError, asked="epsilon", possible=every):
        sa.Body(square["body"], energies.cable(), EA=1.0, EI=1.0)
    cells = {"hexahedron", "hexahedron20", "hexahedron27", "line", "line3", "quad", "tetra"}
    cells |= {"tetra10", "wedge", "wedge15", "wedge18"}
    with refused(MeshError, asked="element", given="quad8", possible=tuple(sorted(cells))):
        sa.Body(box("quad8", 2)["body"], energies.yeoh(), **YEOH)
    with refused(KinematicsError, asked="energy", given=(repr(elements.hex8), "None")):
        sa.Body(solid["body"], elements.hex8)
    with refused(KinematicsError, asked="energy", given=("yeoh()", "yeoh()")):
        sa.Body(solid["body"], energies.yeoh(), energies.yeoh(), **YEOH)
    with refused(MeshError, asked="region", given=repr(solid)):
        sa.Body(solid, energies.yeoh(), **YEOH)


def test_cells_of_two_types_are_bodies_of_their_own() -> None:
    points = [
        [0, 0, 0],
        [1, 0, 0],
        [1, 1, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 0, 1],
        [1, 1, 1],
        [0, 1, 1],
    ]
    points += [[2, 0, 0], [2, 0, 1]]
    cells = {"hexahedron": [list(range(8))], "wedge": [[1, 8, 2, 5, 9, 6]]}
    mesh = sa.Mesh.from_arrays(points, cells, name="two")
    with refused(MeshError, asked="region", given=("hexahedron", "wedge")):
        sa.Body(mesh["all"], energies.yeoh(), **YEOH)
    found = {chosen(part, energies.yeoh(), **YEOH)[0].element for part in mesh["all"].by_type}
    assert found == {elements.hex8, elements.wedge6}


def test_an_element_that_is_given_is_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.Body(box("hexahedron")["body"], elements.hex8, energies.yeoh(), **YEOH)
