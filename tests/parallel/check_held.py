# SPDX-License-Identifier: BSD-3-Clause
"""Bodies left free, or held; prints what the check says. Run by test_held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import symancf as sa
from symancf.energies import cable, kirchhoff, neo_hooke, saint_venant_kirchhoff
from tests.cases import Cases, described

if TYPE_CHECKING:
    from collections.abc import Callable

case = Cases()
HEX8, PLATE = sa.elements.hex8_plain, sa.elements.ancf_plate
THIN, CABLE = sa.elements.ancf_thin_plate, sa.elements.ancf_cable


def shifted(by: Any) -> Callable[[Any], Any]:
    return lambda X: X + np.asarray(by)


def block(by: Any = (0, 0, 0), name: str = "block", **options: Any) -> sa.Body:
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 2, 2), warp=shifted(by))
    return sa.Body(
        mesh["body"], HEX8, neo_hooke(), name=name, **({"mu": 1e6, "lam": 1e9} | options)
    )


def plate(by: Any = (0, 0, 0), name: str = "plate", n: int = 3) -> sa.Body:
    mesh = sa.Mesh.box((0.3, 0.2), (n, 2), warp=shifted(by))
    energy = saint_venant_kirchhoff()
    return sa.Body(mesh["body"], PLATE, energy, name=name, E=2e11, nu=0.3, thickness=0.002)


def sheet(by: Any = (0, 0, 0), name: str = "sheet") -> sa.Body:
    mesh = sa.Mesh.box((0.3, 0.2), (3, 2), warp=shifted(by))
    return sa.Body(mesh["body"], THIN, kirchhoff(), name=name, E=2e11, nu=0.3, thickness=0.002)


def rope(name: str = "rope", warp: Any = None, **options: Any) -> sa.Body:
    mesh = sa.Mesh.box((1.0,), (5,), warp=warp)
    return sa.Body(mesh["body"], CABLE, cable(), name=name, **({"EA": 1e5, "EI": 1e-2} | options))


@case
def free_block() -> sa.System:
    return sa.System(block())


@case
def free_plate() -> sa.System:
    return sa.System(plate())


@case
def free_sheet() -> sa.System:
    return sa.System(sheet())


@case
def free_cable() -> sa.System:
    return sa.System(rope())


@case
def block_at_one_point() -> sa.System:
    body = block()
    return sa.System(body, terms=[sa.fix(body.at((0, 0, 0)))])


@case
def block_at_two_points() -> sa.System:
    body = block()
    return sa.System(body, terms=[sa.fix(body.at([(0, 0, 0), (2, 1, 0)]))])


@case
def block_on_a_hinge_line() -> sa.System:
    body = block()
    line = body.at([(0, 0, 0), (0, 0.5, 0), (0, 1, 0)])
    return sa.System(body, terms=[sa.fix(line)])


@case
def block_at_three_points() -> sa.System:
    body = block()
    return sa.System(body, terms=[sa.fix(body.at([(0, 0, 0), (2, 1, 0), (0, 1, 1)]))])


@case
def block_in_a_slider() -> sa.System:
    body = block()
    return sa.System(body, terms=[sa.fix(body["y0"], "y"), sa.fix(body["z0"], "z")])


@case
def plate_with_fixed_slopes_only() -> sa.System:
    body = plate()
    return sa.System(body, terms=[sa.fix(body["x0"], "slopes")])


@case
def sheet_with_fixed_slopes_only() -> sa.System:
    body = sheet()
    return sa.System(body, terms=[sa.fix(body["x0"], "slopes")])


@case
def plate_with_fixed_positions() -> sa.System:
    body = plate()
    return sa.System(body, terms=[sa.fix(body["x0"], "position")])


@case
def sheet_clamped_at_one_node() -> sa.System:
    body = sheet()
    return sa.System(body, terms=[sa.fix(body.at((0, 0, 0)), "all")])


@case
def sheet_glued_at_one_node() -> sa.System:
    body = sheet()
    return sa.System(body, terms=[sa.fix(body.at((0, 0, 0)))])


@case
def straight_cable_pinned_at_one_end() -> sa.System:
    body = rope()
    return sa.System(body, terms=[sa.fix(body["x0"], "position")])


@case
def straight_cable_pinned_at_both_ends() -> sa.System:
    body = rope()
    ends = [sa.fix(body["x0"], "position"), sa.fix(body["x1"], "position")]
    return sa.System(body, terms=ends)


@case
def bent_cable_pinned_at_both_ends() -> sa.System:
    def bend(X: Any) -> Any:
        return np.stack([np.sin(X[:, 0]), 1 - np.cos(X[:, 0]), 0 * X[:, 0]], axis=1)

    body = rope(warp=bend)
    ends = [sa.fix(body["x0"], "position"), sa.fix(body["x1"], "position")]
    return sa.System(body, terms=ends)


@case
def cable_along_a_diagonal_pinned_at_one_end() -> sa.System:
    body = rope(warp=lambda X: X[:, :1] * [0.6, 0.8, 0.0])
    return sa.System(body, terms=[sa.fix(body["x0"], "position")])


@case
def clamped_cable() -> sa.System:
    body = rope()
    return sa.System(body, terms=[sa.fix(body["x0"])])


@case
def two_bodies_one_free() -> sa.System:
    one, two = block(), plate(by=(5, 0, 0))
    return sa.System(one, two, terms=[sa.fix(one["x0"])])


@case
def two_bodies_both_free() -> sa.System:
    return sa.System(block(), rope())


@case
def block_hung_on_a_ball_joint() -> sa.System:
    one, two = block(), block(by=(2, 0, 0), name="second")
    joint = sa.joints.spherical(one.at((2, 0.5, 0.5)), two.at((2, 0.5, 0.5)))
    return sa.System(one, two, terms=[sa.fix(one["x0"]), joint])


@case
def tied_blocks() -> sa.System:
    one, two = block(), block(by=(2, 0, 0), name="second")
    return sa.System(one, two, terms=[sa.fix(one["x0"]), sa.joints.tie(two["x0"], one)])


@case
def tied_sheets_without_weld_are_hinged() -> sa.System:
    one, two = sheet(), sheet(by=(0.3, 0, 0), name="second")
    tie = sa.joints.tie(two["x0"], one, weld=False)
    return sa.System(one, two, terms=[sa.fix(one["x0"]), tie])


@case
def tied_sheets_are_welded() -> sa.System:
    one, two = sheet(), sheet(by=(0.3, 0, 0), name="second")
    return sa.System(one, two, terms=[sa.fix(one["x0"]), sa.joints.tie(two["x0"], one)])


@case
def tied_plates_are_welded() -> sa.System:
    one, two = plate(), plate(by=(0.3, 0, 0), name="second", n=2)
    return sa.System(one, two, terms=[sa.fix(one["x0"]), sa.joints.tie(two["x0"], one)])


@case
def tied_blocks_of_which_none_is_held() -> sa.System:
    one, two = block(), block(by=(2, 0, 0), name="second")
    return sa.System(one, two, terms=[sa.joints.tie(two["x0"], one)])


@case
def cable_with_an_end_on_a_sphere() -> sa.System:
    body = rope()
    joint = sa.joints.on_sphere(body.at((1, 0, 0)), (1, 0, -0.5), 0.5)
    return sa.System(body, terms=[sa.fix(body["x0"], "position"), joint])


@case
def block_on_a_distance() -> sa.System:
    body = block()
    joint = sa.joints.distance(body.at((2, 0.5, 0.5)), sa.ground.at((4, 0.5, 0.5)), 2.0)
    return sa.System(body, terms=[joint])


@case
def sheets_that_share_an_edge_without_slopes() -> sa.System:
    mesh = sa.Mesh.from_arrays(
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0.0]],
        {"quad": [[0, 1, 4, 3], [1, 2, 5, 4]], "line": [[0, 3]]},
        {"left": ("quad", [0]), "right": ("quad", [1]), "root": ("line", [0])},
    )
    given = {"E": 2e11, "nu": 0.3, "thickness": 0.01}
    left = sa.Body(mesh["left"], THIN, kirchhoff(), **given)
    right = sa.Body(mesh["right"], THIN, kirchhoff(), **given)
    return sa.System(left, right, terms=[sa.fix(left["root"])])


@case
def sheets_that_share_an_edge_with_slopes() -> sa.System:
    mesh = sa.Mesh.from_arrays(
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0.0]],
        {"quad": [[0, 1, 4, 3], [1, 2, 5, 4]], "line": [[0, 3]]},
        {"left": ("quad", [0]), "right": ("quad", [1]), "root": ("line", [0])},
    )
    given = {"E": 2e11, "nu": 0.3, "thickness": 0.01, "join": "all"}
    left = sa.Body(mesh["left"], THIN, kirchhoff(), **given)
    right = sa.Body(mesh["right"], THIN, kirchhoff(), **given)
    return sa.System(left, right, terms=[sa.fix(left["root"])])


@case
def stiff_block_on_a_soft_cable() -> sa.System:
    body = block(mu=1e10, lam=1e12)
    line = sa.Mesh.box((1.0,), (2,), warp=lambda X: X * [-1, 0, 0])
    soft = sa.Body(line["body"], CABLE, cable(), name="string", EA=1e-2, EI=1e-4)
    joint = sa.joints.spherical(soft["x0"], body.at((0, 0, 0)))
    rest = sa.fix(body.at([(0, 0, 0), (2, 1, 0), (2, 0, 1)]), ["y", "z"])
    return sa.System(body, soft, terms=[sa.fix(soft["x1"]), joint, rest])


@case
def planar_body_free() -> sa.System:
    return sa.System(sa.PlanarBody(position=(1.0, 2.0), name="link"), terms=[])


def verdict(system: sa.System) -> dict[str, Any]:
    """Return what the check says at the start of a solution."""
    try:
        sa.StaticProblem(system).solve()
    except sa.ConstraintError as error:
        return described(error)
    return {"error": ""}


if __name__ == "__main__":
    case.main(lambda build: verdict(build()))
