# SPDX-License-Identifier: BSD-3-Clause
"""Draw the pictures of these pages anew: python docs/_redraw.py [NAME ...]; without a name, all.

Each name is a demo, a page whose example draws, or one of the functions below. Every one runs in a
process and a folder of its own; what it takes of CPU time is printed.
"""

from __future__ import annotations

import importlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

DOCS = Path(__file__).resolve().parent
LARGE = 100_000  # bytes; larger pictures get by with 256 colours, mixed where they lack
WIDE = 1000  # pixels: the width of pictures that are still twice as large
COVERAGE = Image.Quantize.MAXCOVERAGE  # thin lines keep their colours
DEMOS = {  # what pages show of it
    "silicone_plate": ("silicone_plate.png", "thin_plate.png"),
    "pendulum": ("pendulum.png",),
    "sections": ("sections.png",),
    "corner": ("corner.png", "corner_shapes.png"),
    "head": ("head.png",),
    "plate_pendulum": ("plate_pendulum.png",),
    "silicone_swing": ("silicone_swing.png", "silicone_swing_shapes.png"),
    "inflated_cylinder": ("inflated_cylinder.png", "inflated_cylinder_shapes.png"),
    "cavity": ("cavity.png", "cavity_shapes.png"),
    "finger": ("finger.png", "finger_front.png", "finger_right.png"),
    "gripper": ("gripper.png",),
    "manipulator": ("manipulator.png",),
    "trunk": ("trunk.png",),
    "continuum_robot": ("continuum_robot.png", "continuum_robot_shapes.png"),
    "fibre_actuator": ("fibre_actuator_shapes.png",),
    "mckibben": ("mckibben_shapes.png",),
    "stiffness_map": ("stiffness_map.png",),
    "finger_design": ("finger_design.png",),
    "grip_force": ("grip_force.png",),
    "flexure_angles": ("flexure_angles.png",),
    "arm_identification": ("arm_identification.png",),
    "manipulator_torques": ("manipulator_torques.png",),
    "trunk_head": ("trunk_head.png",),
    "pneumatic_gripper": (
        "pneumatic_gripper.png",
        "pneumatic_gripper.gif",
        "pneumatic_gripper_shapes.png",
        "pneumatic_gripper_apart.png",
    ),
}
PAGES = {  # picture -> page
    "regions": "guide/meshes",
    "modes": "guide/vibration",
    "directions": "guide/results",
    "loads": "guide/results",
    "first_robot": "first-robot",
    "tendon_arm": "how-to/tendon-driven-arm",
    "magnetic_beam": "how-to/magnetic-beam",
    "driven_strips": "how-to/driven-strips",
    "muscle_arm": "how-to/muscle-arm",
    "bimetal": "how-to/bimetal-strip",
    "dielectric_film": "how-to/dielectric-film",
    "viscoelastic_finger": "how-to/viscoelastic-finger",
    "wound_actuator": "how-to/fibre-reinforced-actuator",
    "cad_finger": "how-to/cad-finger",
    "control_loop": "how-to/control-loop",
    "soft_arm_control": "how-to/soft-arm-loop",
    "design_loop": "how-to/design-loop",
    "parameter_study": "how-to/parameter-study",
    "results_back": "how-to/results-back",
}


def example(picture: str) -> str:
    """Return the example of a page that draws a picture."""
    text = (DOCS / f"{PAGES[picture]}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    found = [block for block in blocks if f"results/{picture}.png" in block]
    return f"import symancf as sa\n{found[0]}"


def shapes() -> None:
    """Draw round bodies, each face in a colour."""
    from mpi4py import MPI

    import symancf as sa
    from symancf.extensions.view.regions import visible_facets
    from symancf.output import Samples

    names = ("outer", "inner", "x0", "y0", "z0", "z1", "body")
    kinds = {"outer": 0, "inner": 1, "x0": 2, "y0": 2, "z0": 3, "z1": 3, "body": 4}
    mesh = sa.Mesh
    bodies = {
        "disc": mesh.disc(1.0, 16),
        'cylinder, symmetric="y"': mesh.cylinder(1.0, 1.0, 6, symmetric="y", cell="wedge"),
        'tube, symmetric="xy"': mesh.tube(0.8, 1.6, 1.6, (3, 6, 4), symmetric="xy"),
        'sphere, symmetric="y"': mesh.sphere(1.0, 8, symmetric="y"),
        'sphere, inner=, symmetric="xyz"': mesh.sphere(
            2.0, (2, 8), inner=1.4, symmetric="xyz", cell="tetra"
        ),
        'sphere, cell="quad"': mesh.sphere(1.0, 12, cell="quad"),
    }
    panels = {}
    for caption, body in bodies.items():
        named = [name for name in names if name in [region.name for region in body]]
        found, _ = visible_facets(body, [body[name] for name in named], 2)
        panels[caption] = []
        for name, rows in zip(named, found, strict=False):
            for kind, nodes in rows.items():
                x = body.fetch_points(nodes)
                cells = {kind: np.arange(nodes.size).reshape(nodes.shape)}
                face = {"face": np.full(len(nodes), float(kinds[name]))}
                panels[caption].append(Samples(x.reshape(-1, 3), cells, {}, face))
    classes = ("outer", "inner", "x0, y0", "z0, z1", "body")
    sa.view.render(
        panels, "results/shapes.png", field="face", label="", classes=classes, comm=MPI.COMM_SELF
    )


def elements() -> None:
    """Draw error against CPU time of solids and plates."""
    command = [sys.executable, "-m", "symancf", "bench", "--elements", "results/elements.png"]
    subprocess.run(command, check=True)


def materials() -> None:
    """Draw the stress of rubber in uniaxial tension: laws of one shear modulus, incompressible."""
    import symancf as sa

    s = np.linspace(0.7, 3.0, 200)  # stretch
    i1 = s**2 + 2 / s - 3
    mu, jm = 0.1, 8.0
    slopes = {  # dW/dI1 + dW/dI2 / stretch
        "neo-Hookean": np.full_like(s, mu / 2),
        "Mooney-Rivlin, C01 = C10": mu / 4 * (1 + 1 / s),
        "Yeoh, C20 = C10/40": mu / 2 * (1 + i1 / 20),
        "Gent, Jm = 8": mu / 2 * jm / (jm - i1),
    }
    curves = {name: 2 * (s - s**-2) * w for name, w in slopes.items()}
    curves["Ogden, alpha = 3"] = 2 * mu / 3 * (s**2 - s**-2.5)
    with sa.view.Diagram("results/materials.png", width=5.0) as axes:
        for name, stress in curves.items():
            axes.plot(s, stress, label=name)
        axes.set(xlabel="stretch", ylabel="nominal stress [MPa]", ylim=(-0.15, 0.6))


def convexity() -> None:
    """Draw the least eigenvalue of the acoustic tensor of two laws over the stretch (E = 1)."""
    import symancf as sa
    from symancf.laws.properties.convexity import least_acoustic
    from symancf.laws.properties.law import sample_of

    nu, s = 0.3, np.linspace(0.5, 1.5, 101)
    laws = {
        "St Venant-Kirchhoff": sample_of(sa.energies.saint_venant_kirchhoff(), {"E": 1, "nu": nu}),
        "neo-Hookean": sample_of(
            sa.energies.neo_hooke(),
            {"mu": 1 / (2 + 2 * nu), "lam": nu / (1 + nu) / (1 - 2 * nu)},
        ),
    }
    ways = {"along one axis": [1, 0, 0], "along all axes": [1, 1, 1]}
    with sa.view.Diagram("results/convexity.png", width=4.0) as axes:
        for law, way in (
            ("St Venant-Kirchhoff", "along one axis"),
            ("St Venant-Kirchhoff", "along all axes"),
            ("neo-Hookean", "along all axes"),
        ):
            F = np.array([np.diag(np.where(ways[way], x, 1.0)) for x in s])
            least = least_acoustic(laws[law].energy.tangent(F), F)
            axes.plot(s, least, label=f"{law}, {way}")
        axes.axhline(0.0, color="black", linewidth=0.8)
        axes.set(xlabel="stretch", ylabel="least eigenvalue / E", ylim=(-1.0, 2.0))
    lessen("results/convexity.png")


def lessen(path: str, width: int | None = None) -> None:
    """Write a diagram with 24 colours, and so many pixels wide."""
    with Image.open(path) as picture:
        full = picture.convert("RGB")
    part = 1.0 if width is None else width / full.width
    size = (round(part * full.width), round(part * full.height))
    few = full.resize(size, Image.Resampling.LANCZOS).quantize(24, method=COVERAGE)
    few.save(path, optimize=True, dpi=(200 * part, 200 * part))


KINDS = ("uniaxial", "planar", "equibiaxial")
RUBBERS = {  # law, choices, constants; all have the shear modulus 1
    "neo-Hookean": ("yeoh", {}, {"C10": 0.5, "C20": 0.0, "C30": 0.0}),
    "Mooney-Rivlin": ("mooney_rivlin", {}, {"C10": 0.4, "C01": 0.1}),
    "Yeoh": ("yeoh", {}, {"C10": 0.5, "C20": -0.02, "C30": 0.004}),
    "Gent": ("gent", {}, {"mu": 1.0, "Jm": 20.0}),
    "Ogden, 2 terms": (
        "ogden",
        {"terms": 2},
        {"mu1": 1.2, "alpha1": 1.5, "mu2": 0.04, "alpha2": 5.0},
    ),
    "extended tube": ("extended_tube", {}, {"Gc": 0.532, "Ge": 0.5, "beta": 0.5, "delta": 0.174}),
    "Arruda-Boyce": ("arruda_boyce", {}, {"mu": 0.7642, "lambda_m": 1.7}),
    "Hencky": ("hencky", {}, {"mu": 1.0}),
}


def pulled(law: Any, values: dict[str, float], kind: str, x: Any, **options: Any) -> Any:
    """Return the nominal stress of an incompressible material in a test; x: stretches."""
    import symancf as sa
    from symancf.solve.fit.response import Response

    test = getattr(sa.MaterialTest, kind)(x, np.zeros_like(x), **options)
    response = Response(law, incompressible=True)
    ((stress, _),) = response.stress([test], {**response.defaults, **values})
    return stress[:, 0]


def laws_rubber() -> None:
    """Draw the stress of laws of rubber in three tests, all with the shear modulus 1."""
    import symancf as sa

    with sa.view.Diagram("results/laws_rubber.png", columns=3, width=8.0, height=2.6) as panels:
        for axes, kind in zip(panels, KINDS, strict=True):
            x = np.linspace(0.75, 3.0 if kind == "uniaxial" else 2.5, 80)
            for k, (name, (law, choices, values)) in enumerate(RUBBERS.items()):
                of = getattr(sa.energies, law)(**choices)
                label = name if kind == ("uniaxial" if k < 4 else "planar") else None
                axes.plot(x, pulled(of, values, kind, x), "--" if k % 2 else "-", label=label)
            axes.set(title=kind, xlabel="stretch", ylim=(-1.5, 5.0))
        panels[0].set_ylabel("nominal stress / mu")
    lessen("results/laws_rubber.png", 840)


def laws_tissue() -> None:
    """Draw the stress of a tissue with fibres along x, pulled along and across them."""
    import symancf as sa

    with sa.view.Diagram("results/laws_tissue.png", width=4.0, height=2.6) as axes:
        for kappa in (0.0, 0.15, 0.3333):
            for way, line in (((1, 0, 0), "-"), ((0, 1, 0), "--")):
                law = sa.energies.holzapfel_gasser_ogden(fibres=[way])
                values = {"mu": 1.0, "k1": 2.0, "k2": 1.0, "kappa": kappa}
                x = np.linspace(0.8, 1.5, 60)
                label = f"kappa = {kappa:.2f}, {'along' if line == '-' else 'across'}"
                stress = pulled(law, values, "uniaxial", x)
                axes.plot(x, stress, line, label=label)
        axes.set(xlabel="stretch", ylabel="nominal stress / mu", ylim=(-2.0, 12.0))
    lessen("results/laws_tissue.png", 560)


def laws_memory() -> None:
    """Draw loops of a rubber with three laws with memory, and those of a metal."""
    import symancf as sa

    base, values = sa.energies.yeoh(), {"C10": 0.5, "C20": 0.0, "C30": 0.0}
    laws = {
        "prony": (sa.energies.prony(base, g=(0.4,), tau=(1.0,)), {"g1": 0.4, "tau1": 1.0}),
        "ogden_roxburgh": (
            sa.energies.ogden_roxburgh(base, r=1.5, m=0.2),
            {"mullins_r": 1.5, "mullins_m": 0.2, "mullins_beta": 0.0},
        ),
        "bergstrom_boyce": (
            sa.energies.bergstrom_boyce(base, s=1.5, stress=1.0, m=4.0),
            {"creep_s": 1.5, "creep_stress": 1.0, "creep_m": 4.0}
            | {"creep_C": -1.0, "creep_E": 0.01, "creep_rate": 1.0},
        ),
    }
    t = np.linspace(0.0, 4.0, 81)
    x = 1 + 1 - abs(1 - t % 2)
    look = {"columns": 4, "width": 9.0, "height": 2.4}
    with sa.view.Diagram("results/laws_memory.png", **look) as panels:
        for axes, (name, (law, more)) in zip(panels, laws.items(), strict=False):
            for rate in (1.0, 0.1) if name != "ogden_roxburgh" else (1.0,):
                stress = pulled(law, {**values, **more}, "uniaxial", x, time=t / rate)
                axes.plot(x, stress, "-" if rate == 1.0 else "--", label=f"{rate:g} / s")
            axes.set(title=name, xlabel="stretch")
        panels[0].set_ylabel("nominal stress / mu")
        metal, strain = sa.energies.j2_plasticity(), np.zeros(1)
        for end in (0.01, -0.01, 0.015):
            strain = np.append(strain, np.linspace(strain[-1], end, 26)[1:])
        for name in ("hardening", "kinematic"):
            own = {"E": 500.0, "nu": 0.3, "yield_stress": 1.0, "hardening": 0.0, "kinematic": 0.0}
            stress = pulled(metal, {**own, name: 50.0}, "uniaxial", 1 + strain)
            panels[3].plot(100 * strain, stress, "-" if name == "hardening" else "--", label=name)
        panels[3].set(title="j2_plasticity", xlabel="strain [%]", ylabel="stress / yield_stress")
    lessen("results/laws_memory.png", 900)


def laws_structures() -> None:
    """Draw cables and sheets that are pulled, and a cable that a moment rolls up."""
    import symancf as sa

    x, nu = np.linspace(0.8, 2.0, 61), 0.3
    green = (x**2 - 1) / 2
    rubber = pulled(
        sa.energies.yeoh(), {"C10": 1 / 6, "C20": 0.0, "C30": 0.0}, "uniaxial", x
    )  # E = 1
    forces = {
        "cable, Biot": x - 1,
        "cable, Green": x * green,
        "kirchhoff": x * green,
        "yeoh": rubber,
    }
    widths = {"kirchhoff": np.sqrt(1 - 2 * nu * green), "yeoh": x**-0.5}
    look = {"columns": 3, "width": 8.0, "height": 2.6}
    with sa.view.Diagram("results/laws_structures.png", **look) as (force, width, shape):
        for k, (name, values) in enumerate(forces.items()):
            style = {"linestyle": "--" if k > 1 else "-", "color": f"C{k}", "label": name}
            force.plot(x, values, **style)
            if name in widths:
                width.plot(x, widths[name], **style)
        mesh = sa.Mesh.box((1.0,), (16,))
        law, values = sa.energies.cable(), {"EA": 1e4, "EI": 1.0}
        body = sa.Body(mesh["body"], sa.elements.ancf_cable, law, **values)
        turn = sa.moment(body.at((1.0, 0.0, 0.0)), (0.0, 0.0, lambda t: 2 * np.pi * t))
        system = sa.System(body, terms=[sa.fix(body["x0"]), turn])
        problem = sa.StaticProblem(system)
        points = [body.at((s, 0.0, 0.0)) for s in np.linspace(0.0, 1.0, 65)]
        for part in (0.25, 0.5, 0.75, 1.0):
            problem.solve(to=part, step=0.125)
            at = np.array([system.position(p)[0] for p in points])
            shape.plot(at[:, 0], at[:, 1], label=f"{2 * part:g} pi")
        force.set(xlabel="stretch", ylabel="force / EA, Eh", title="pull")
        width.set(xlabel="stretch", ylabel="width / first width", title="width of a sheet")
        shape.set(xlabel="x / L", ylabel="y / L", title="moment M L / EI", aspect="equal")
        shape.set_xlim(-0.55, 0.7)
    lessen("results/laws_structures.png", 840)


def demo(name: str) -> Any:
    """Return a demo as a module."""
    sys.path.insert(0, str(DOCS / "demos"))
    sys.argv[1:] = []
    return importlib.import_module(name)


def pendulum_shapes() -> None:
    """Draw the tapered pendulum every 100 ms."""
    import symancf as sa

    module, states = demo("pendulum"), []
    system, beam = module.pendulum(10, *module.CASES["tapered, Green"])
    problem = sa.DynamicProblem(system, prefix="pendulum_")
    problem.monitor(lambda _: states.append(sa.sample(system, beam, fields=[])), every=100)
    problem.solve(to=1.0, step=1e-3)
    look = {"eye": (0.3, 0.4, 1.0), "up": (0.0, 1.0, 0.0), "undeformed": False, "unit": "m"}
    sa.view.render(states, "results/pendulum_shapes.png", **look)


def head_shapes() -> None:
    """Draw the head while a moment turns it."""
    import symancf as sa

    module = demo("head")
    _, states = module.turn(2, module.METHODS["index 3, generalized-alpha"], draw=True)
    scenes = {f"{time:.1f} s": body for time, body in states[::12]}
    sa.view.render(scenes, "results/head_shapes.png", unit="m", columns=6)


def manipulator_shapes() -> None:
    """Draw links and payload of the manipulator on the circle every 0.5 s, twice as thick."""
    import symancf as sa

    module, states = demo("manipulator"), []
    system, _, _ = module.manipulator(module.circle, rods=True)
    *links, payload = system.bodies
    section = sa.Section.circle(2 * module.RADIUS)
    fields = ["d2", "d3", "bending_moment"]

    def keep(_: object) -> None:
        rods = [sa.sample(system, link, fields=fields) for link in links]
        states.extend(sa.output.swept(rod, section) for rod in rods)
        states.append(sa.sample(system, payload))

    problem = sa.DynamicProblem(system, prefix="manipulator_", spectral_radius=0.8)
    problem.monitor(keep, every=250)
    problem.solve(to=4.0, step=module.STEP)
    look = {"label": "bending moment", "unit": "N m", "eye": (0.3, -1.0, 0.2), "undeformed": False}
    sa.view.render(states, "results/manipulator_shapes.png", field="bending_moment", **look)


def plate_pendulum_shapes() -> None:
    """Draw the flat plate that falls about a corner, every 0.1 s."""
    import symancf as sa

    _, states, _ = demo("plate_pendulum").flat(0.5)
    scenes = {f"{time:.1f} s": body for time, body in states[::8]}
    sa.view.render(scenes, "results/plate_pendulum_shapes.png", unit="m", columns=6)


def commands(name: str) -> list[str]:
    """Return the command that makes the pictures of a name in the folder results."""
    if name in DEMOS:
        return [sys.executable, "-m", "symancf", "demo", name]
    if name in PAGES:
        return [sys.executable, "example.py"]
    return [sys.executable, __file__, "--here", name]


DRAWN = {
    "shapes": shapes,
    "elements": elements,
    "materials": materials,
    "convexity": convexity,
    "laws_rubber": laws_rubber,
    "laws_tissue": laws_tissue,
    "laws_memory": laws_memory,
    "laws_structures": laws_structures,
    "pendulum_shapes": pendulum_shapes,
    "head_shapes": head_shapes,
    "manipulator_shapes": manipulator_shapes,
    "plate_pendulum_shapes": plate_pendulum_shapes,
}


def keep(made: Path) -> None:
    """Move a picture to those of the pages, without colours that nobody sees."""
    target = DOCS / "images" / made.name
    if made.suffix == ".png" and made.stat().st_size > LARGE:
        with Image.open(made) as picture:
            full, dpi = picture.convert("RGB"), picture.info.get("dpi", (200, 200))
        reduce(full, target, dpi)
        if target.stat().st_size > 2 * LARGE and full.width > WIDE:
            part = WIDE / full.width
            smaller = full.resize((WIDE, round(part * full.height)), Image.Resampling.LANCZOS)
            reduce(smaller, target, (part * dpi[0], part * dpi[1]))
    else:
        shutil.copyfile(made, target)


def reduce(picture: Image.Image, target: Path, dpi: tuple[float, float]) -> None:
    """Write a picture with 256 colours."""
    palette = picture.quantize(256, method=Image.Quantize.FASTOCTREE)
    mixed = picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG)
    mixed.save(target, optimize=True, dpi=dpi)


def main(names: list[str]) -> None:
    """Draw all, or those that are named."""
    every = [*DEMOS, *PAGES, *DRAWN]
    unknown = [name for name in names if name not in every]
    if unknown:
        raise SystemExit(f"no picture {unknown[0]!r}; there are {', '.join(every)}")
    path = os.pathsep.join([str(DOCS.parent), str(DOCS.parent / "codegen")])
    spent = 0.0
    for name in names or every:
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder) / "results"
            results.mkdir()
            if name in PAGES:  # a file, which the processes of a pool can import
                Path(folder, "example.py").write_text(example(name), encoding="utf-8")
            subprocess.run(
                commands(name), cwd=folder, check=True, env={**os.environ, "PYTHONPATH": path}
            )
            for file in DEMOS.get(name, (f"{name}.png",)):
                keep(results / file)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        before, spent = spent, usage.ru_utime + usage.ru_stime
        print(f"{name}: {spent - before:.0f} s of CPU", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        DRAWN[sys.argv[2]]()
    else:
        main(sys.argv[1:])
