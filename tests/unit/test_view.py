# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: what is drawn, on any number of ranks, with and without VTK."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf import output, view
from symancf.errors import MeshError, ParameterError, SymancfError
from symancf.extensions.view import animation, draw_vtk, picture
from symancf.extensions.view.regions import visible_facets
from symancf.extensions.view.scene import require_field, unit_of
from symancf.extensions.view.surface import surface_of
from symancf.mesh import Mesh
from symancf.output import Samples
from symancf.output.image import COLOURS
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

COMM = MPI.COMM_WORLD
plt = pytest.importorskip("matplotlib.pyplot")


def bent(*divisions: int, comm: MPI.Comm = MPI.COMM_SELF) -> Samples:
    """A box (or a sheet, or a cable) of this rank's cells, bent; cells do not share points."""
    mesh = Mesh.box((2.0, 1.0, 0.2)[: len(divisions)], divisions, comm=comm)
    _, cells = mesh.slice("body")
    x = mesh.fetch_points(cells).reshape(-1, 3)
    u = np.zeros_like(x)
    u[:, 2] = -0.2 * x[:, 0] ** 2
    apart = np.arange(cells.size).reshape(cells.shape)
    kind = {2: "line", 4: "quad", 8: "hexahedron"}[cells.shape[1]]
    stress = np.abs(x[:, 1] - 0.5)
    return Samples(x + u, {kind: apart}, {"displacement": u, "stress": stress})


def colours_in(path: Path) -> int:
    """Number of clearly coloured pixels of a picture that is not empty."""
    image = plt.imread(path)[:, :, :3]
    assert min(image.shape[:2]) > 200
    return int((np.ptp(image, axis=2) > 0.2).sum())


def test_surface_of_a_box_is_its_hull() -> None:
    found = surface_of(bent(4, 3, 2), "displacement")
    assert found.points.shape == (5 * 4 * 3, 3)  # coincident points are united
    assert len(found.faces) == 2 * (4 * 3 + 4 * 2 + 3 * 2)
    assert len(found.outline) == 4 * (4 + 3 + 2)  # only the twelve edges of the box
    assert len(found.borders) > len(found.outline)
    assert found.solid
    assert found.deformed
    np.testing.assert_allclose(found.values, 0.2 * found.reference[:, 0] ** 2, atol=1e-12)


def test_surface_of_a_sheet_shows_elements_and_rim() -> None:
    found = surface_of(bent(4, 3), "stress")
    assert len(found.faces) == 12
    assert len(found.borders) == 4 * 4 + 5 * 3
    assert len(found.outline) == 2 * (4 + 3)
    assert not found.solid


def test_cell_data_and_missing_fields() -> None:
    samples = bent(2, 1)
    samples.cell_data["number"] = np.array([1.0, 3.0])
    values = surface_of(samples, "number").values
    assert values is not None
    assert sorted(set(values)) == [1.0, 2.0, 3.0]  # the mean where the cells meet
    assert surface_of(samples, "nothing").values is None
    assert surface_of(samples, None).values is None


def test_touching_faces_of_different_bodies_stay_apart() -> None:
    """Points that meet only after the deformation are not united."""
    x = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    both = np.concatenate([x, x])
    u = np.concatenate([np.zeros((4, 3)), np.full((4, 3), [0, 0, -1.0])])
    found = surface_of(Samples(both, {"quad": np.arange(8).reshape(2, 4)}, {"displacement": u}), "")
    assert len(found.points) == 8


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("engine", ["matplotlib", "auto"])
def test_draws_all_ranks_side_by_side(shared_tmp_path: Path, engine: str) -> None:
    scenes = {
        "block": bent(8, 4, 2, comm=COMM),
        "sheet and cable": [bent(8, 4, comm=COMM), bent(9, comm=COMM)],
    }
    path = view.render(
        scenes,
        shared_tmp_path / "new" / f"{engine}.png",
        title="Bent",
        unit="m",
        width=6.0,
        engine=engine,
    )
    COMM.barrier()
    assert colours_in(path) > 20_000
    COMM.barrier()


def test_draws_without_a_display_or_vtk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(picture, "run_vtk", lambda job: "no OpenGL on this machine")
    path = view.render(bent(4, 3, 2), tmp_path / "a", comm=MPI.COMM_SELF, shared=False)
    assert path.name == "a.png"
    assert colours_in(path) > 20_000
    with refused(SymancfError, asked="engine", given="vtk", possible=("matplotlib",)) as caught:
        view.render(bent(4, 3, 2), tmp_path / "b", comm=MPI.COMM_SELF, engine="vtk")
    assert "no OpenGL on this machine" in str(caught.value)


def test_vtk_draws_in_a_process_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    try:
        path = view.render(bent(4, 3, 2), tmp_path / "a", comm=MPI.COMM_SELF, engine="vtk")
    except SymancfError as error:
        pytest.skip(str(error))
    assert colours_in(path) > 20_000


def test_draws_files(tmp_path: Path) -> None:
    series = output.Series(tmp_path / "run.pvd", MPI.COMM_SELF)
    series.write(0.0, {"sheet": bent(4, 3), "cable": bent(5)})
    path = view.render(
        series.path,
        tmp_path / "run",
        field="stress",
        comm=MPI.COMM_SELF,
        engine="matplotlib",
        limits=(0, 1),
    )
    assert colours_in(path) > 10_000


def test_a_constant_field_and_a_still_body_are_drawn(tmp_path: Path) -> None:
    samples = bent(3, 2)
    samples.points = samples.points - samples.point_data["displacement"]
    samples.point_data["displacement"] = np.zeros_like(samples.points)
    view.render(samples, tmp_path / "a", comm=MPI.COMM_SELF, engine="matplotlib")
    view.render(samples, tmp_path / "b", comm=MPI.COMM_SELF, engine="matplotlib", field=None)


def test_round_off_is_drawn_as_nothing() -> None:
    def colours(size: float, offset: float = 0.0) -> NDArray[np.float64]:
        samples = bent(3, 2)
        samples.point_data["displacement"] *= size
        samples.point_data["stress"] = offset + size * samples.point_data["stress"]
        drawn = [picture.Picture({"": [surface_of(samples, name)]}, None, True, True,
                 (0.75, -1.0, 0.62), (0.0, 0.0, 1.0), least=1e-10 * (name == "displacement"))
                 for name in ("displacement", "stress")]  # fmt: skip
        return np.array([d.limits[0] for d in drawn])

    assert np.ptp(colours(1e-3), axis=1) == pytest.approx([0.8e-3, 0.5e-3])
    assert np.ptp(colours(1e-14, 2.0), axis=1) == pytest.approx([1.0, 2.0])


@pytest.mark.collective
def test_scenes_hold_the_bodies_and_their_colours() -> None:
    pytest.importorskip("pyvista")
    plotter = view.show(bent(3, 2, 1, comm=COMM), field="stress", interactive=False)
    assert (plotter is None) == (COMM.rank > 0)
    if plotter is not None:
        assert next(iter(plotter.scalar_bars.values())).GetLookupTable().GetRange() == (0.0, 0.5)
        plotter.close()
    with refused(SymancfError, asked="points", given=0):
        view.show(Samples(np.zeros((0, 3)), {}, {}), interactive=False)


@pytest.mark.collective
def test_faults_are_raised_on_every_rank(shared_tmp_path: Path) -> None:
    def render(scene: object, **options: object) -> None:
        view.render(scene, shared_tmp_path / "a", engine="matplotlib", **options)  # type: ignore[arg-type]

    with refused(SymancfError, asked="points", given=0):
        render(Samples(np.empty((0, 3)), {}))
    with refused(SymancfError, asked=str(shared_tmp_path / "missing.pvd")):
        render(shared_tmp_path / "missing.pvd")
    with refused(SymancfError, asked="eye", given=(0, 0, 1)):
        render(bent(2, 2), eye=(0, 0, 1))
    with refused(SymancfError, asked="cmap", given="rainbows", possible=lambda p: p[0] == "dawn"):
        render(bent(2, 2), cmap="rainbows")


def swing(count: int, comm: MPI.Comm = MPI.COMM_SELF) -> list[dict[str, Samples]]:
    """States of a sheet and a cable whose displacement grows."""
    states = []
    for k in range(count):
        bodies = {"sheet": bent(4, 3, comm=comm), "cable": bent(5, comm=comm)}
        for samples in bodies.values():
            u = samples.point_data["displacement"]
            samples.points = samples.points - u * (1.0 - k / (count - 1))
            samples.point_data["displacement"] = u * k / (count - 1)
        states.append(bodies)
    return states


def opened(path: Path) -> list[NDArray[np.uint8]]:
    """The frames of a GIF."""
    image = pytest.importorskip("PIL.Image").open(path)
    frames = []
    for k in range(image.n_frames):
        image.seek(k)
        frames.append(np.asarray(image.convert("RGB")))
    return frames


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("engine", ["matplotlib", "auto"])
def test_animates_states_of_all_ranks(shared_tmp_path: Path, engine: str) -> None:
    states = list(enumerate(swing(4, COMM)))
    path = view.animate(states, shared_tmp_path / "new" / engine, time_unit="s", engine=engine)
    COMM.barrier()
    frames = opened(path)
    assert len(frames) == 4
    assert all((frame[0, 0] == 255).all() for frame in frames)
    coloured = [(np.ptp(frame[:-120].astype(int), axis=2) > 40) for frame in frames]
    assert all(shown.sum() > 5000 for shown in coloured)
    # the camera stands still: what does not move is where it was; the rest goes down
    lowest = [int(np.flatnonzero(shown.any(axis=1)).max()) for shown in coloured]
    assert lowest == sorted(lowest)
    assert lowest[-1] > lowest[0] + 50
    bars = [frame[-90:-60] for frame in frames]
    assert all((bar == bars[0]).mean() > 0.99 for bar in bars)  # one scale
    green = [int((f[:-120, :, 1] > f[:-120, :, 2].astype(int) + 40).sum()) for f in frames]
    assert green[0] == 0 < green[-1]  # the upper end, which only the last states reach
    COMM.barrier()


def test_animates_a_series_and_at_most_300_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = output.Series(tmp_path / "run.pvd", MPI.COMM_SELF)
    for k, state in enumerate(swing(7)):
        series.write(0.5 * k, state)
    assert [time for time, _ in output.states(series.path)] == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    style: dict[str, Any] = {"comm": MPI.COMM_SELF, "engine": "matplotlib", "width": 3.0}
    path = view.animate(series, tmp_path / "a", **style)
    assert path.name == "a.gif"
    assert len(opened(path)) == 7
    monkeypatch.setattr("symancf.extensions.view.animation.MAX_FRAMES", 3)
    monkeypatch.setattr("symancf.extensions.view.animation.BATCH", 2)
    few = opened(view.animate(series.path, tmp_path / "b", **style))
    assert len(few) == 3
    whole = opened(path)
    for a, b in zip(few, (whole[0], whole[3], whole[6]), strict=True):
        assert np.abs(a.astype(int) - b).max(axis=2).mean() < 2.0  # but for the palette


def test_figures_as_frames(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure((2.0, 1.0), dpi=50)

    def turning() -> Iterator[Figure]:
        for colour in ("red", "lime", "blue"):
            figure.set_facecolor(colour)
            yield figure

    frames = opened(view.write_film(turning(), tmp_path / "figures", fps=5))
    assert [frame[3, 3].tolist() for frame in frames] == [[255, 0, 0], [0, 255, 0], [0, 0, 255]]


def test_films_need_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [np.full((31, 45, 3), grey, np.uint8) for grey in (0, 128, 255)]  # odd sizes, too
    try:
        path = view.write_film(frames, tmp_path / "a.mp4")
        assert path.read_bytes()[4:8] == b"ftyp"
    except SymancfError as error:
        assert error.asked == "ffmpeg"  # noqa: PT017 - it may be there
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with refused(SymancfError, asked="ffmpeg", given="b.mp4"):
        view.animate(swing(2), tmp_path / "b.mp4", comm=MPI.COMM_SELF)
    with refused(
        ParameterError, asked="path", given=str(tmp_path / "b.avi"), possible=(".gif", ".mp4")
    ):
        view.write_film(frames, tmp_path / "b.avi")


def test_times_have_the_decimals_that_tell_them_apart() -> None:
    assert animation._clock([0.0, 0.25, 0.5], "s") == ["t = 0.00 s", "t = 0.25 s", "t = 0.50 s"]
    assert animation._clock([0.0, 0.01], "") == ["t = 0.00", "t = 0.01"]
    assert animation._clock([0.3], "ms") == ["t = 0.300 ms"]


@pytest.mark.collective
def test_diagrams_have_legends_and_one_style(shared_tmp_path: Path) -> None:
    with view.Diagram(shared_tmp_path / "new" / "a.svg", 1, 3, title="Two") as (a, b, c):
        a.plot([0, 1], [0, 1], label="rise")
        b.plot([0, 1], [1, 0])
    COMM.barrier()
    text = (shared_tmp_path / "new" / "a.svg").read_text()
    assert COLOURS[0] in text
    assert (a.get_legend() is not None, b.get_legend(), c.axison) == (True, None, False)
    assert plt.rcParams["axes.grid"] is False  # settings of the user come back
    with pytest.raises(ZeroDivisionError), view.Diagram(shared_tmp_path / "b") as axes:
        axes.plot([0, 1], [0, 1 // (COMM.rank - COMM.size + 1)])  # on one rank only
    assert not (shared_tmp_path / "b.png").exists()
    with refused(ParameterError, asked="path", given="a.jpg", possible=(".png", ".pdf", ".svg")):
        view.Diagram("a.jpg")


def test_colour_bars_count_in_prefixes_of_plain_units() -> None:
    assert [picture._power(x, "Pa") for x in (0.0, 999.0, 1e3, 2e6)] == [0, 0, 3, 6]
    assert picture._power(2e-5, "m") == -6
    assert picture._power(2e6, "MPa") == 0
    given, lacking = bent(2, 1), bent(2, 1)
    given.units["stress"] = "Pa"
    del lacking.point_data["stress"]
    assert unit_of([given, lacking], "stress") == "Pa"
    assert unit_of([given, bent(2, 1)], "stress") == unit_of([given], None) == ""


@pytest.mark.collective
def test_faults_of_animations_are_raised_on_every_rank(shared_tmp_path: Path) -> None:
    path = shared_tmp_path / "a"
    with refused(SymancfError, asked="points", given=0):
        view.animate([Samples(np.empty((0, 3)), {})] * 2, path)
    with refused(SymancfError, asked="missing.pvd"):
        view.animate("missing.pvd", path)
    with refused(SymancfError, asked="times", given=2, possible=(3,)):
        view.animate(swing(3), path, times=[0.0, 1.0])
    with refused(SymancfError, asked="images", given=()):
        view.write_film([], path)
    with refused(SymancfError, asked="images", given=((4, 4, 3), (4, 5, 3))):
        view.write_film([np.zeros((4, 4, 3), np.uint8), np.zeros((4, 5, 3), np.uint8)], path)


@pytest.mark.collective
def test_regions_are_seen_where_they_are_on_top(shared_tmp_path: Path) -> None:
    """Of regions that overlap the smaller one is seen; walls between parts are inside."""
    mesh = Mesh.box((2.0, 1.0, 1.0), (4, 2, 2), cell="tetra", comm=COMM)
    mesh.select("left half", lambda X: X[:, 0] <= 1.0, dimension=3)
    mesh.select("right half", lambda X: X[:, 0] >= 1.0, dimension=3)
    mesh.select("low", lambda X: X[:, 0] <= 0.5, within="y0")
    mesh.select("wall", lambda X: X[:, 0] == 1.0, within="left half", dimension=2)
    names = ["wall", "low", "y0", "left half", "right half"]
    assert {n: mesh[n].size for n in names} == {
        **{"wall": 8, "low": 4, "y0": 16, "left half": 48, "right half": 48}
    }
    found, outside = visible_facets(mesh, [mesh[n] for n in names], 2)
    counts = [COMM.allreduce(sum(map(len, layer.values()))) for layer in found]
    assert counts == [8, 4, 12, 32, 32, 0]  # all 80 outer facets once, and the wall
    assert outside.tolist() == [0, 4, 16, 40, 40]
    mesh.select("corner", near=(2, 1, 1), dimension=0)
    mesh.select("edge", lambda X: (X[:, 0] == 2) & (X[:, 1] == 0), dimension=1)
    path = view.regions(mesh, shared_tmp_path / "new" / "regions", engine="matplotlib", width=6.0)
    COMM.barrier()
    assert path.name == "regions.png"
    image = plt.imread(path)[:, :, :3]
    for shown in ("#ff725c", "#a463f2", "#8f9e3a"):  # x1, y1, edge: full colours in the legend
        rgb = [int(shown[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        assert (np.abs(image - rgb).max(axis=2) < 0.01).sum() > 50
    COMM.barrier()
    with refused(MeshError, asked="edges", possible=lambda names: "edge" in names):
        view.regions(mesh, shared_tmp_path / "b", ["edges"])
    with refused(ParameterError, asked="mesh", given=repr(mesh["x0"]), possible=("Mesh",)):
        view.regions(mesh["x0"], shared_tmp_path / "b")  # type: ignore[arg-type]


def test_principal_directions_are_lines_of_one_scale_and_noise_has_none(tmp_path: Path) -> None:
    box, turned = bent(4, 3, 2), bent(4, 3, 2)
    pull = np.zeros((len(box.points), 3, 3))
    pull[:, 0, 0], pull[:, 1, 1] = 2.0, -1.0
    box.point_data["sigma"] = pull
    Q = np.linalg.qr(np.array([[1.0, 2.0, 0.5], [0.3, 1.0, -1.0], [0.7, 0.1, 1.0]]))[0]
    turned.point_data["sigma"] = np.full_like(pull, 1e-3 * np.eye(3)) + 1e-9 * Q
    turned.point_data["sigma"] += turned.point_data["sigma"].transpose(0, 2, 1)
    turned.units = box.units = {"sigma": "Pa"}
    panels = {"": [surface_of(s, None, directions="sigma") for s in (box, turned)]}
    drawn = picture.Picture(panels, None, True, False, (0.75, -1.0, 0.62), (0.0, 0.0, 1.0))
    drawn.cross("stress", "Pa")
    first, second = drawn.panels[""]
    assert second.strokes == {}  # 2e-3 beside 2 is shorter than a line is wide
    (red, pulled), (blue, pressed) = first.strokes.items()
    along = pulled[:, 1] - pulled[:, 0]
    across = pressed[:, 1] - pressed[:, 0]
    assert len(along) == len(across) == 4 * 3 + 4 * 2 + 3 * 2  # faces that the eye sees
    np.testing.assert_allclose(np.abs(along) / np.abs(along).max(), np.eye(3)[[0] * 26], atol=1e-5)
    assert np.linalg.norm(across, axis=1) * 2 == pytest.approx(np.linalg.norm(along, axis=1), 1e-5)
    assert drawn.legend == [
        (red, "stress: positive, longest line 2 Pa"),
        (blue, "stress: negative, longest line 2 Pa"),
    ]
    path = tmp_path / "crosses.png"
    view.render(box, path, field=None, directions="sigma", engine="matplotlib", comm=MPI.COMM_SELF)
    assert colours_in(path) > 300
    with refused(SymancfError, asked="directions", given="tau", possible=("sigma",)):
        view.render(box, path, directions="tau", comm=MPI.COMM_SELF)
    with refused(SymancfError, asked="stress", given=(), possible=((3, 3),)):
        view.render(box, path, directions="stress", comm=MPI.COMM_SELF)


@pytest.mark.collective
def test_supports_loads_and_tendons_are_points_with_arrows(shared_tmp_path: Path) -> None:
    mesh = sa.Mesh.box((4.0, 1.0, 1.0), (8, 2, 2), comm=COMM)
    given: dict[str, Any] = {"mu": 1.0, "lam": 2.0, "name": "beam"}
    beam = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    wall, pull = sa.fix(beam["x0"]), sa.force(beam["x1"], (0.0, 0.0, -1e-3))
    push = sa.pressure(beam["z1"], 2e-3)

    def cord(r_a: Any, r_b: Any, *, T: Any) -> Any:
        return T * (r_b - r_a).norm()

    eyelets = np.array([[1.0, 0.5, 0.0], [2.0, 0.5, 0.0], [3.25, 0.5, 0.0]])
    tendon = sa.Potential(cord, beam.at(eyelets[:-1]), beam.at(eyelets[1:]), T=1e-3)
    system = sa.System(beam, terms=[wall, pull, push, tendon])
    sa.StaticProblem(system).solve()
    shown = {term: sa.sample(system, term) for term in (wall, pull, push, tendon)}

    def total(term: Any) -> Any:
        data = shown[term].point_data
        return COMM.allreduce(data.get("reaction", data.get("force")).sum(axis=0))

    np.testing.assert_allclose(total(pull), [0.0, 0.0, -1e-3], atol=1e-15)
    np.testing.assert_allclose(total(wall), wall.reaction(system).force, atol=1e-15)
    np.testing.assert_allclose(total(tendon), 0.0, atol=1e-15)  # inner forces
    np.testing.assert_allclose(total(wall) + total(push) + total(pull), 0.0, atol=1e-10)
    lines = shown[tendon].cells["line"]
    assert COMM.allreduce(len(lines)) == len(eyelets) - 1
    ends = shown[tendon].points[lines].reshape(-1, 3)
    found = np.concatenate(COMM.allgather(ends)).reshape(-1, 2, 3)
    known = system.position(beam.at(eyelets))
    for some in found:
        assert np.abs(known - some[0]).max(axis=1).min() < 1e-12
    scene = [sa.sample(system, beam, fields=["von_mises"]), *shown.values()]
    path = shared_tmp_path / "loads.png"
    view.render(scene, path, field="von_mises", engine="matplotlib")
    if COMM.rank == 0:
        of_pull = next(iter(surface_of(shown[pull], None).forces)) if COMM.size == 1 else None
        assert of_pull is None or of_pull[2] < 0.0
        assert colours_in(path) > 300


def test_arrows_of_a_term_have_one_scale_and_their_own_colour() -> None:
    force = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1e-4]])
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    cells = {"vertex": np.arange(3)[:, None]}
    strokes = {}
    for name in ("force", "reaction"):
        panel = [surface_of(bent(4, 3, 2), None)]
        panel.append(surface_of(Samples(points, cells, {name: force}), None))
        drawn = picture.Picture({"": panel}, None, True, False, (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
        ((colour, lines),) = panel[1].strokes.items()
        strokes[colour] = lines
        assert drawn.frames[0, 1, 1] > 0.12 * 2.0  # arrows are within the picture
    assert len(strokes) == 2  # loads red, reactions blue
    shafts = lines[6:8, 1] - lines[6:8, 0]  # after a cross at each of three points
    np.testing.assert_allclose(shafts, 0.24 * np.array([[0, 0, 1.0], [0, 0, -0.5]]), atol=1e-12)
    assert len(lines) == 3 * 2 + 2 * 3  # 1e-4 is too short


def test_a_field_that_no_body_has_and_an_unknown_engine_are_told(tmp_path: Path) -> None:
    here = {"comm": MPI.COMM_SELF}
    data: Any = {"asked": "field", "given": "stres", "possible": ("displacement", "stress")}
    bare = bent(4, 3)
    bare.point_data.pop("stress")
    draw: Any = view.render
    with refused(SymancfError, **data):
        draw({"a": bent(4, 3), "b": [bent(5), bare]}, tmp_path / "a", field="stres", **here)
    with refused(SymancfError, **data):
        view.show(bent(4, 3), field="stres", interactive=False, comm=MPI.COMM_SELF)
    with refused(SymancfError, **data):
        view.animate([bare, bent(4, 3)], tmp_path / "a.gif", field="stres", comm=MPI.COMM_SELF)
    with refused(
        ParameterError, asked="engine", given="vkt", possible=("auto", "vtk", "matplotlib")
    ):
        draw(bare, tmp_path / "a", engine="vkt", **here)
    require_field([bare, bent(4, 3)], "stress")  # only one lacks it, which is grey
    require_field([Samples(np.zeros((1, 3)), {})], "displacement")


def test_colours_of_a_quadrilateral_do_not_depend_on_where_its_corners_begin() -> None:
    corners, values = np.eye(4, 3), np.array([1.0, 5.0, 2.0, 0.0])
    drawn = []
    for turn in range(4):
        faces = np.stack([np.roll(np.arange(4), turn), [0, 1, 2, 2]])  # and a triangle
        x, parts, found = draw_vtk.quartered(corners, faces, values)
        assert parts[0].tolist() == [0, 1, 2, 2]
        assert found[4] == values.mean()
        np.testing.assert_allclose(x[4], corners.mean(axis=0))
        drawn.append({frozenset(row.tolist()) for row in parts[1:]})
        assert draw_vtk.polygons(parts).reshape(-1, 4)[:, 0].tolist() == [3] * 5
    assert drawn == [{frozenset(s) for s in ((0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))}] * 4
    assert draw_vtk.polygons(faces).tolist() == [3, 0, 1, 2, 4, *faces[0]]
