# SPDX-License-Identifier: BSD-3-Clause
"""The table of capabilities: its rows are complete, a sample of its cells is tried."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import symancf as sa
from symancf import elements, energies, joints
from tests.campaign import capabilities
from tests.refusals import refused

SEED = 33
TABLE = sa.capabilities()
FIRST = {str(row[1]).split(",")[0].removeprefix("joints.") for row in TABLE.rows}

#: Public names that are no element, law, body or term, nor a damping; a new name has to be here,
#: or to have a row.
OTHERS = (
    "Mesh Region Section Field Parameter Factor",  # what bodies and terms are given
    "Helix braid drum eyelet pulley winch",  # and threads, tendons
    "Gas ground local memory implicit remember Box Capsule Cylinder Distance Plane Sphere",
    "System StaticProblem DynamicProblem EigenProblem check fit MaterialTest",
    "StructureTest",
    "Goal Series Shape Trace check_gradient",
    "Baumgarte Fuzzy Projection",  # of explicit methods
    "History Restart Table results sample maximum root_print capabilities",
    "elements energies joints materials optimize output view checkpoint __version__",
    "SymancfError MeshError KinematicsError ParameterError CheckpointError CompileError",
    "ConstraintError ConvergenceError Suspended",
)


def test_every_element_has_a_row_or_is_that_of_faces() -> None:
    every = [getattr(elements, name) for name in elements.__all__]
    every = [each for each in every if isinstance(each, elements.Element)]
    faces = {trace.name for each in every for trace in each.traces}
    rows = {row[1] for row in TABLE.rows if row[0] == "element"}
    assert rows | faces == {each.name for each in every}
    assert not rows & faces


@pytest.mark.parametrize("name", ["quad4", "quad8", "quad9", "tri3", "tri6"])
def test_elements_of_faces_are_refused_by_bodies(name: str) -> None:
    element = getattr(elements, name)
    mesh = sa.Mesh.box((2.0, 1.0), (2, 1), cell=element.cell)
    law = energies.saint_venant_kirchhoff()
    with refused(sa.KinematicsError, asked="E_gl"):
        sa.Body(mesh["body"], element, law, E=1.0, nu=0.3)


def test_every_public_name_has_a_row_or_needs_none() -> None:
    others = {name for line in OTHERS for name in line.split()}
    assert set(sa.__all__) - FIRST - {"Body", "Rayleigh"} == others - FIRST
    laws = {n for n in energies.__all__ if not getattr(energies, n).__module__.endswith("domain")}
    assert laws <= FIRST
    assert {n for n in joints.__all__ if n[0].islower()} <= FIRST
    assert len({row[:2] for row in TABLE.rows}) == len(TABLE.rows)


def table_of(kind: str) -> str:
    """Return the rows of one kind as the page has them."""
    lines = [f"| {kind} | {' | '.join(TABLE.heads[2:])} |", "|---" * (len(TABLE.heads) - 1) + "|"]
    for _, name, *cells in (row for row in TABLE.rows if row[0] == kind):
        first, *rest = str(name).split(", ")
        lines.append(f"| {', '.join([f'`{first}`', *rest])} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", dict.fromkeys(str(row[0]) for row in TABLE.rows))
def test_the_page_has_the_table(kind: str, repository: Path) -> None:
    text = (repository / "docs" / "capabilities.md").read_text(encoding="utf-8")
    assert f"\n\n{table_of(kind)}" in text, f"docs/capabilities.md lacks\n{table_of(kind)}"


ROWS = [row[:2] for row in TABLE.rows if row[0] in ("element", "term")]


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_a_cell_of_each_row(
    row: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One column of each; the whole table is the class `capabilities` of the campaign.

    Of elements it is that for which the fewest kernels are compiled.
    """
    monkeypatch.setenv("SYMANCF_CAMPAIGN", str(tmp_path))
    columns = [column for *name, column in capabilities.cells() if tuple(name) == row][1:]
    columns = [column for column in columns if column not in ("gradient", "shape")]
    chosen = random.Random(f"{SEED} {row}").choice(columns)
    chosen = "multigrid" if row[0] == "element" else chosen
    capabilities.tried(*row, chosen)


@pytest.mark.parametrize(
    "cell",
    [
        ("body", "PointMass", "gradient"),
        ("term", "Flexure", "gradient"),
        ("element", "ancf_cable", "shape"),
        ("term", "joints.revolute", "shape"),
        ("term", "joints.distance", "shape"),
    ],
    ids=" ".join,
)
def test_a_cell_of_gradients(cell: tuple[str, str, str]) -> None:
    """Other cells of these columns are those of the campaign."""
    capabilities.tried(*cell)
