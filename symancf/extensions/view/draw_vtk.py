# SPDX-License-Identifier: BSD-3-Clause
"""Draw panels with pyvista: a script of its own, so that a missing OpenGL ends no simulation.

    python draw_vtk.py job.npz

The job holds the surfaces of every panel, the colours and the camera; the pictures are written
beside it as panel0.png, panel1.png, ... without titles or scales. It imports nothing of symancf.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyvista

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]
Job = dict[str, npt.NDArray[np.float64]]  # arrays by name

EDGE = "#0d1720"
GHOST = "#98a2ab"
PLAIN = "#c3cad1"


def main(path: Path) -> None:
    """Draw every panel of a job."""
    import pyvista

    with np.load(path) as arrays:
        job = dict(arrays)
    settings = {name: value for name, value in job.items() if "/" not in name}
    for panel in range(int(settings["panels"])):
        width, height = (int(n) for n in settings["size"])
        plotter = pyvista.Plotter(off_screen=True, window_size=(width, height), lighting="none")
        compose(plotter, job, panel)
        plotter.screenshot(path.with_name(f"panel{panel}.png"), transparent_background=True)
        plotter.close()


def compose(plotter: pyvista.Plotter, job: Job, panel: int) -> None:
    """Put the bodies of a panel on a stage, with its lights and its camera."""
    settings = {name: value for name, value in job.items() if "/" not in name}
    plotter.enable_anti_aliasing("msaa")
    light(plotter)
    for body in range(int(settings["bodies"][panel])):
        prefix = f"{panel}/{body}/"
        data = {n.removeprefix(prefix): v for n, v in job.items() if n.startswith(prefix)}
        draw(plotter, data, settings, panel)
    camera(plotter, settings, panel)


def light(plotter: pyvista.Plotter) -> None:
    """Key light from above the eye's left shoulder, fill from the right, rim from behind."""
    import pyvista

    for position, strength in (
        ((-0.7, 1.1, 1.4), 0.62),
        ((1.2, -0.2, 1.0), 0.42),
        ((0.2, 1.0, -0.6), 0.18),
    ):
        plotter.add_light(
            pyvista.Light(position=position, intensity=strength, light_type="camera light")
        )


def draw(plotter: pyvista.Plotter, data: Job, settings: Job, panel: int) -> None:
    """One body: undeformed outline, coloured surface, borders of its elements."""
    import pyvista
    from matplotlib.colors import ListedColormap

    points, size = data["points"], float(settings["extent"][panel])
    if len(data["ghost"]):
        plotter.add_mesh(
            lines(data["reference"], data["ghost"]),
            color=GHOST,
            line_width=3.5,
            lighting=False,
        )
    colours: dict[str, object] = {"color": PLAIN}
    if "values" in data:
        colours = {
            "scalars": "values",
            "cmap": ListedColormap(settings["colours"]),
            "clim": settings["limits"][panel].tolist(),
            "show_scalar_bar": False,
        }
    shine = {"ambient": 0.55, "diffuse": 0.62, "specular": 0.2, "specular_power": 30}
    if len(data["faces"]):
        if "values" in data:
            x, faces, values = quartered(points, data["faces"], data["values"])
            surface = pyvista.PolyData(x, polygons(faces))
            surface["values"] = values
        else:
            surface = pyvista.PolyData(points, polygons(data["faces"]))
        surface = surface.compute_normals(
            cell_normals=False,
            split_vertices=bool(data["solid"]),
            feature_angle=35.0,
            consistent_normals=False,
            auto_orient_normals=False,
        )
        plotter.add_mesh(surface, smooth_shading=True, **colours, **shine)
        # A little nearer to the eye, else the surface swallows half of each line.
        nearer = points + 2e-3 * size * settings["toward"]
        faint = 0.5
        if len(data["borders"]):  # fine meshes stay light
            ends = points[data["borders"]]
            length = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean() / size
            faint *= float(np.clip(length * max(settings["size"]) / 30, 0.2, 1.0))
        for name, width, opacity in (("borders", 2.0, faint), ("outline", 2.6, 0.75)):
            if len(data[name]):
                plotter.add_mesh(
                    lines(nearer, data[name]),
                    color=EDGE,
                    line_width=width,
                    opacity=opacity,
                    lighting=False,
                )
    for name, ends in data.items():
        if name.startswith("lines of "):
            lifted = ends.reshape(-1, 3) + 5e-3 * size * settings["toward"]
            plotter.add_mesh(
                lines(lifted, np.arange(len(lifted)).reshape(-1, 2)),
                color=name.removeprefix("lines of "),
                line_width=5.0,
                lighting=False,
            )
    if len(data["lines"]):
        cable = lines(points, data["lines"])
        if "values" in data:
            cable["values"] = data["values"]
        tube = cable.tube(radius=0.006 * size, n_sides=20)
        plotter.add_mesh(tube, smooth_shading=True, **colours, **shine)


def camera(plotter: pyvista.Plotter, settings: Job, panel: int) -> None:
    """Parallel projection along the given direction, fitted to the panel's frame."""
    toward, above = settings["toward"], settings["above"]
    (left, low), (right, high) = settings["frame"][panel]
    width, height = settings["size"]
    distance = float(settings["extent"][panel])
    centre = 0.5 * (left + right) * np.cross(above, toward) + 0.5 * (low + high) * above
    centre += float(settings["depth"][panel]) * toward
    view = plotter.camera
    view.parallel_projection = True
    view.focal_point = centre
    view.position = centre + toward * 10 * distance
    view.up = above
    view.parallel_scale = 0.5 * max(high - low, (right - left) * height / width)
    plotter.reset_camera_clipping_range()


def quartered(points: Numbers, faces: Numbers, values: Numbers) -> tuple[Numbers, ...]:
    """Return quadrilaterals as four triangles about their middles, where values are means.

    Two triangles interpolate along one diagonal: what is symmetric would not look so.
    """
    quads = faces[:, 2] != faces[:, 3]
    a = faces[quads]
    middle = len(points) + np.arange(len(a))
    sides = [np.stack([a[:, k], a[:, (k + 1) % 4], middle, middle], axis=1) for k in range(4)]
    return (
        np.concatenate([points, points[a].mean(axis=1)]),
        np.concatenate([faces[~quads], *sides]),
        np.concatenate([values, values[a].mean(axis=1)]),
    )


def polygons(faces: Numbers) -> Numbers:
    """VTK's list of polygons; triangles repeat their last corner."""
    triangle = faces[:, 2] == faces[:, 3]
    kinds = (3, faces[triangle, :3]), (4, faces[~triangle])
    flat = [np.insert(rows, 0, n, axis=1).ravel() for n, rows in kinds]
    return np.asarray(np.concatenate(flat), np.int64)


def lines(points: Numbers, pairs: Numbers) -> pyvista.PolyData:
    """Straight segments."""
    import pyvista

    flat = np.full((len(pairs), 3), 2, np.int64)
    flat[:, 1:] = pairs
    return pyvista.PolyData(points, lines=flat.ravel())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
