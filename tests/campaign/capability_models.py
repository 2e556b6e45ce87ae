# SPDX-License-Identifier: BSD-3-Clause
"""The smallest model of each row of `sa.capabilities`: one or two cells, a body or two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

import symancf as sa
from symancf import elements, energies, joints
from tests.remembering import maxwell, prony
from tests.saddle import mixed

SVK = {"E": 10.0, "nu": 0.3, "rho": 1.0}
RUBBER = {"k": 20.0, "rho": 1.0}
PLATE = {"E": 1e3, "nu": 0.3, "rho": 1.0, "thickness": 0.1}
CABLE = {"EA": 100.0, "EI": 1.0, "rho": 1.0, "A": 1.0}
ROD = {"EA": 100.0, "GA2": 50.0, "GA3": 50.0, "GJ": 1.0, "EI2": 1.0, "EI3": 1.0}
INERTIA = {"rho": 1.0, "A": 1.0, "I2": 0.01, "I3": 0.01}
WEIGHT = (0.0, 0.1, -0.2)
UP = (0.0, 0.0, 1.0)


@dataclass
class Model:
    """Bodies and terms; `watch` is the place that is read, `touches` a place that may touch."""

    bodies: list[Any]
    terms: list[Any]
    watch: Any
    step: float = 0.02
    touches: Callable[[], dict[str, Any]] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def system(self) -> sa.System:
        """Return a new system of them."""
        return sa.System(*self.bodies, terms=self.terms)


def weight() -> Any:
    """Return a load on every body."""
    return sa.gravity(WEIGHT)


def mesh_of(cell: str) -> sa.Mesh:
    """Return two cells in a row, of cubes that are cut more."""
    dimension = elements.CELLS[cell].dimension
    return sa.Mesh.box((2.0, 1.0, 1.0)[:dimension], (2, 1, 1)[:dimension], cell=cell)


def far(body: sa.Body) -> Any:
    """Return a corner of the end that is free."""
    return body.at((2.0, 0.0, 0.0)) if body.element.dimension < 3 else body.at((2.0, 1.0, 1.0))


def side(body: sa.Body, end: str = "x1", radius: float = 0.1) -> dict[str, Any]:
    """Return what may touch of a body, as arguments of `Contact`."""
    dimension = body.element.dimension
    if dimension == 3:
        return {"side": body[end]}
    if dimension == 2:
        place = body["body"]
        return {"side": place.face(1) if body.element.has_thickness else place}
    return {"side": body["body"], "radius": radius}


def clamped(body: sa.Body, *terms: Any, step: float = 0.02) -> Model:
    """Return a body held at one end, under its weight and more terms."""
    held = [sa.fix(body["x0"]), weight(), *terms]
    return Model([body], held, far(body), step, lambda: side(body))


# ---- elements ------------------------------------------------------------------------------------
def of_element(name: str) -> Model:
    """Return the model of an element with the law that is its own."""
    element: elements.Element = getattr(elements, name)
    law, given = own_law(element)
    return clamped(sa.Body(mesh_of(element.cell)["body"], element, law, name="part", **given))


def own_law(element: elements.Element) -> tuple[Any, dict[str, float]]:
    """Return a law that an element takes, with its parameters."""
    if element.dimension == 3:
        return energies.saint_venant_kirchhoff(), SVK
    if element.dimension == 2:
        thin = not element.has_thickness
        return energies.kirchhoff() if thin else energies.saint_venant_kirchhoff(), PLATE
    if element.section > 1:
        section = {"width": 0.3, "height": 0.3}
        return energies.saint_venant_kirchhoff(), {"E": 1e3, "nu": 0.3, "rho": 1.0, **section}
    return (energies.rod(), ROD | INERTIA) if element.axes else (energies.cable(), CABLE)


# ---- laws ----------------------------------------------------------------------------------------
def block(law: Any = energies.saint_venant_kirchhoff(), **given: Any) -> sa.Body:
    """Return two hexahedra of a law."""
    return sa.Body(
        mesh_of("hexahedron")["body"], elements.hex8_plain, law, name="block", **(given or SVK)
    )


def cable(law: Any = None, **given: Any) -> sa.Body:
    """Return two cells of a cable."""
    law = law or energies.cable()
    given = given or CABLE
    return sa.Body(mesh_of("line")["body"], elements.ancf_cable, law, name="cable", **given)


def thin(law: Any = None, **given: Any) -> sa.Body:
    """Return two cells of a thin plate."""
    law = law or energies.kirchhoff()
    mesh = mesh_of("quad")
    return sa.Body(mesh["body"], elements.ancf_thin_plate, law, name="thin", **(given or PLATE))


def beam() -> sa.Body:
    """Return two cells of a beam to compare with."""
    given = {"E": 1e3, "nu": 0.3, "rho": 1.0, "width": 0.3, "height": 0.3}
    mesh = mesh_of("line3")
    return sa.Body(mesh["body"], elements.ancf_3333, energies.split_beam(), name="beam", **given)


def rod() -> sa.Body:
    """Return two cells of a rod."""
    return sa.Body(
        mesh_of("line3")["body"], elements.ancf_rod, energies.rod(), name="rod", **(ROD | INERTIA)
    )


FIBRES = dict.fromkeys(("nu12", "nu13", "nu23"), 0.3) | dict.fromkeys(("G12", "G13", "G23"), 2.0)
FIBRES |= {"E1": 10.0, "E2": 5.0, "E3": 5.0, "rho": 1.0}


@sa.local(s=0)
def relieved(J: Any, I1: Any, *, mu: Any, lam: Any, s: Any) -> Any:
    """A change s of volume relieves rubber, with the cube of its pressure."""
    W = mu / 2 * (I1 - 3 - 2 * sp.log(J)) + lam / 2 * (J - 1 - s) ** 2
    return sa.implicit(W, s=s - (J - 1 - s) ** 3)


def layered() -> sa.Body:
    """Return two cells of a plate of one layer."""
    layers = sa.Layers([(energies.orthotropic(), 0.1, 30.0)], degrees=True)
    return sa.Body(mesh_of("quad")["body"], elements.ancf_plate, layers, name="ply", **FIBRES)


def pressed(element: elements.Element, kind: str) -> sa.Body:
    """Return cells with a pressure of their own."""
    given = {"mu": 4.0, "lam": 40.0, "rho": 1.0}
    mesh = mesh_of(element.cell)
    law = energies.neo_hooke()
    return sa.Body(mesh["body"], element, law, name="rubber", pressure=kind, **given)  # type: ignore[arg-type]


TISSUE = {
    **dict.fromkeys(("b11", "b22", "b33"), 8.0),
    **dict.fromkeys(("b12", "b13", "b23"), 0.0),
    **dict.fromkeys(("b44", "b55", "b66"), 4.0),
    "c": 1.0,
}

LAWS: dict[str, Callable[[], sa.Body]] = {
    "arruda_boyce": lambda: block(energies.arruda_boyce(), mu=4.0, lambda_m=5.0, **RUBBER),
    "bergstrom_boyce": lambda: block(
        energies.bergstrom_boyce(energies.neo_hooke(), s=1.0, stress=1.0, m=2.0),
        mu=4.0,
        lam=6.0,
        rho=1.0,
    ),
    "cable": cable,
    "extended_tube": lambda: block(
        energies.extended_tube(), Gc=2.0, Ge=2.0, beta=0.3, delta=0.1, **RUBBER
    ),
    "fung": lambda: block(energies.fung(), **TISSUE, **RUBBER),
    "hencky": lambda: block(energies.hencky(), mu=4.0, **RUBBER),
    "holzapfel_gasser_ogden": lambda: block(
        energies.holzapfel_gasser_ogden(), mu=4.0, k1=2.0, k2=1.0, kappa=0.1, **RUBBER
    ),
    "gent": lambda: block(energies.gent(), mu=4.0, Jm=50.0, **RUBBER),
    "j2_plasticity": lambda: block(
        energies.j2_plasticity(hardening=1.0), E=10.0, nu=0.3, yield_stress=0.5, rho=1.0
    ),
    "kirchhoff": thin,
    "mooney_rivlin": lambda: block(energies.mooney_rivlin(), C10=2.0, C01=0.2, **RUBBER),
    "neo_hooke": lambda: block(energies.neo_hooke(), mu=4.0, lam=6.0, rho=1.0),
    "ogden": lambda: block(energies.ogden(terms=1), mu1=4.0, alpha1=2.0, **RUBBER),
    "ogden_roxburgh": lambda: block(
        energies.ogden_roxburgh(energies.neo_hooke(), r=1.5, m=0.1), mu=4.0, lam=6.0, rho=1.0
    ),
    "orthotropic": lambda: block(energies.orthotropic(), **FIBRES),
    "prony": lambda: block(
        energies.prony(energies.neo_hooke(), g=(0.3,), tau=(0.5,)), mu=4.0, lam=6.0, rho=1.0
    ),
    "rest_strain": lambda: cable(
        energies.rest_strain(energies.cable(), "epsilon"), rest_epsilon=0.1, **CABLE
    ),
    "rod": rod,
    "saint_venant_kirchhoff": block,
    "split_beam": beam,
    "swollen": lambda: block(
        energies.swollen(energies.neo_hooke()), mu=4.0, lam=6.0, rho=1.0, swelling=1.1
    ),
    "yeoh": lambda: block(energies.yeoh(), C10=2.0, C20=0.1, C30=0.0, **RUBBER),
    "yeoh_raw": lambda: block(energies.yeoh_raw(), C10=2.0, C20=0.1, C30=0.0, **RUBBER),
    "Layers": layered,
    "memory": lambda: block(maxwell, E0=10.0, E1=5.0, tau=0.3, rho=1.0),
    "local": lambda: block(sa.local(p=0, per="cell")(mixed), mu=4.0, k=20.0, rho=1.0),
    "implicit": lambda: block(relieved, mu=4.0, lam=6.0, rho=1.0),
    "parameter of time": lambda: block(E=lambda t: 10.0 + np.sin(4.0 * t), nu=0.3, rho=1.0),
    "density of time": lambda: block(E=10.0, nu=0.3, rho=lambda t: 1.0 + 0.3 * np.sin(3.0 * t)),
    "pressure, condensed": lambda: pressed(elements.hex27, "condensed"),
    "pressure, continuous": lambda: pressed(elements.tet10, "continuous"),
    "pressure, discontinuous": lambda: pressed(elements.hex27, "discontinuous"),
}


# ---- terms ---------------------------------------------------------------------------------------
def loaded(make: Callable[[sa.Body], Any], body: Callable[[], sa.Body] = block) -> Model:
    """Return the model of a term on a body that is clamped."""
    part = body()
    return clamped(part, make(part))


def box(at: tuple[float, float, float] = (0.0, 0.0, 0.0), name: str = "box") -> sa.RigidBody:
    """Return a rigid body in space."""
    return sa.RigidBody.box((0.4, 0.3, 0.2), position=at, rho=50.0, name=name)


def spring(u_a: Any, *, k: Any) -> Any:
    """Return the energy of a spring to where the place was."""
    return k / 2 * u_a.dot(u_a)


def held(body: sa.RigidBody) -> list[Any]:
    """Return springs that hold what joints and contacts leave free of a rigid body."""
    corners = np.array([[0.2, 0.15, 0.1], [-0.2, 0.1, 0.0], [0.0, -0.1, 0.1]])
    return [sa.Potential(spring, body.at(x), k=30.0, name="soft") for x in corners]


def jointed(*make: Callable[[Any, Any], Any]) -> Model:
    """Return two rigid bodies with joints between, under their weight."""
    base, part = box((-0.4, 0.0, 0.0), "base"), box()
    ends = part.at((-0.2, 0.0, 0.0)), base.at((0.2, 0.0, 0.0))
    terms = [*(each(*ends) for each in make), weight(), *held(part), *held(base)]
    return Model([part, base], terms, part.at((0.2, 0.15, 0.1)), 0.01)


def on_solid(*make: Callable[[Any, Any], Any]) -> Model:
    """Return two hexahedra in joints on the ground."""
    part = block()
    return clamped(part, *(each(part.at((2.0, 0.0, 0.0)), None) for each in make))


def hinge(at: Any, to: Any) -> Any:
    """Return a hinge."""
    return joints.revolute(at, to, axis=UP)


def dragged(u: Any, *, f: Any) -> Any:
    """Return the energy of a force along z on each volume."""
    return -f * u[2]


def push(v_a: Any, *, f: Any) -> Any:
    """Return a force along x."""
    return {v_a[0]: f}


def lag(v_a: Any, r_a: Any, X_a: Any, s: Any) -> Any:
    """Return a force along z that follows the place, late."""
    return {v_a[2]: -0.3 * s, "s": r_a[2] - X_a[2] - s}


def stop(u_a: Any, *, k: Any) -> Any:
    """Return the energy of a spring that only presses."""
    return k / 2 * sp.Max(u_a[2], 0) ** 2


@sa.memory(force=0, before=0)
def relaxing(u_a: Any, *, force: Any, before: Any, dt: Any, k: Any, tau: Any) -> Any:
    """A spring along z in a row with a dashpot."""
    now, then, last = (sp.Matrix([x]) for x in (u_a[2], before, force))
    (after,), W, lost = prony(now, last, then, dt, tau, k)
    return sa.remember(W, force=after, before=u_a[2], stored=after**2 / (2 * k), dissipated=lost)


def newton(E_gl_rate: Any, *, eta: Any) -> Any:
    """Return the stress of a fluid."""
    return {"E_gl": 2 * eta * E_gl_rate}


def tied() -> Model:
    """Return two blocks, tied face to face."""
    second = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), warp=lambda X: X + np.array([2.0, 0.0, 0.0]))
    end = sa.Body(second["body"], elements.hex8_plain, energies.saint_venant_kirchhoff(), **SVK)
    first = block()
    model = clamped(first, joints.tie(end["x0"], first))
    return Model([first, end], model.terms, end.at((3.0, 1.0, 1.0)))


def folded() -> Model:
    """Return two cells of a thin plate, with a fold between."""

    def bent(X: Any) -> Any:
        columns = np.minimum(X[:, 0], 1.0), X[:, 1], np.maximum(X[:, 0] - 1.0, 0.0)
        return np.stack(columns, axis=1)

    mesh = sa.Mesh.box((2.0, 1.0), (2, 1), warp=bent)
    parts = [
        mesh.select("floor", lambda X: X[:, 2] < 1e-9, dimension=2),
        mesh.select("wall", lambda X: X[:, 0] > 1.0 - 1e-9, dimension=2),
    ]
    mesh.select("corner", lambda X: (X[:, 0] > 1 - 1e-9) & (X[:, 2] < 1e-9), outer=False)
    floor, wall = (
        sa.Body(part, elements.ancf_thin_plate, energies.kirchhoff(), **PLATE) for part in parts
    )
    terms = [sa.fix(floor["x0"]), joints.fold(floor["corner"], wall), weight()]
    return Model([floor, wall], terms, wall.at((1.0, 0.0, 1.0)))


def periodic() -> Model:
    """Return a cell between opposite faces, one corner of it held."""
    part = block()
    pairs = [joints.periodic(part[f"{x}0"], part[f"{x}1"], name=x) for x in "xyz"]
    pull = sa.body_force(part["body"], lambda X, t: np.sin(4.0 * t) * X)
    middle = part.at((1.0, 0.5, 0.5))
    return Model([part], [sa.fix(part.at((0.0, 0.0, 0.0))), *pairs, pull], middle)


def clamp() -> Model:
    """Return a cable with a head."""
    part, head = cable(), box((2.0, 0.0, 0.0), "head")
    terms = [*clamped(part, joints.clamp(part["x1"], head)).terms, *held(head)]
    return Model([part, head], terms, head.at((0.0, 0.1, 0.0)), 0.01)


def rigid_body() -> Model:
    """Return a ball on springs."""
    ball = sa.RigidBody.sphere(0.2, position=(0.0, 0.0, 0.0), rho=30.0, name="ball")
    place = ball.at((0.0, 0.2, 0.0))
    touches = {"side": ball, "stiffness": 10.0}
    return Model([ball], [weight(), *held(ball)], place, 0.01, lambda: touches)


def sway(u_a: Any, *, k: Any) -> Any:
    """Return the energy of springs along the three axes."""
    return k / 2 * u_a.dot(u_a)


def point_mass() -> Model:
    """Return a mass on a rod and a spring."""
    mass = sa.PointMass(1.0, (0.6, 0.0, -0.8), name="mass")
    rod = joints.distance(mass.centre, sa.ground.at((0.0, 0.0, 0.0)), 1.0)
    side = sa.Potential(sway, mass.centre, k=3.0)
    terms = [weight(), rod, side]
    return Model([mass], terms, mass.centre, 0.01, lambda: {"side": mass})


def turned(phi_a: Any, *, k: Any) -> Any:
    """Return the energy of a spring of torsion."""
    return k * phi_a**2 / 2


def pendulum(*more: Callable[[Any], Any]) -> Model:
    """Return a planar body on a hinge."""
    part = sa.PlanarBody(mass=1.0, inertia=0.1, name="arm")
    at = part.at((0.5, 0.0))
    pin = joints.revolute(part.at((0.0, 0.0)), sa.ground.at((0.0, 0.0)))
    terms = [pin, sa.force(at, (0.1, 0.3)), sa.Potential(turned, at, k=3.0)]
    terms += [make(part) for make in more]
    return Model([part], terms, at, 0.01, lambda: {"side": part})


def released() -> Model:
    """Return a planar body that a factor of a load holds."""
    F = sa.Factor("push")

    def drive(part: sa.PlanarBody) -> Any:
        at = part.at((0.0, 0.0))
        return sa.displacement_control(
            at, "theta", position=lambda t: 0.3 * t, release=F, name="drive"
        )

    return pendulum(lambda part: sa.force(part.at((1.0, 0.0)), (0.0, 1.0), factor=F), drive)


def flexure() -> Model:
    """Return a lever on a flexure."""
    lever = sa.PlanarBody(position=(0.3, 0.0, 0.0), mass=1.0, inertia=0.1, name="lever")
    strip = sa.Flexure.straight(sa.ground.at((0.0, 0.0)), lever.at((0.0, 0.0)), EI=2.0, EA=50.0)
    tip = lever.at((0.1, 0.0))
    return Model([lever], [strip, sa.force(tip, (0.0, 0.2))], tip)


def cavity(**given: Any) -> Model:
    """Return a tube with gas in it."""
    mesh = sa.Mesh.tube(0.5, 0.8, 1.0, 1)
    law = energies.saint_venant_kirchhoff()
    part = sa.Body(mesh["body"], elements.hex8_plain, law, name="tube", **SVK)
    terms = [sa.fix(part["z0"]), weight(), sa.Cavity(part["inner"], caps="flat", **given)]
    return Model([part], terms, part["z1"])


def cord() -> Model:
    """Return hexahedra with an edge that keeps its length."""
    mesh = mesh_of("hexahedron")
    edge = mesh.select("edge", lambda X: (X[:, 1] < 1e-9) & (X[:, 2] < 1e-9), dimension=1)
    law = energies.saint_venant_kirchhoff()
    part = sa.Body(mesh["body"], elements.hex8_plain, law, name="block", **SVK)
    return clamped(part, sa.length(part[edge], per="line"))


def wound() -> Model:
    """Return hexahedra with a thread through their cells."""
    mesh = mesh_of("hexahedron")
    law = energies.saint_venant_kirchhoff()
    part = sa.Body(mesh["body"], elements.hex8_plain, law, name="block", **SVK)
    low, high = mesh.bounds()
    path = low + np.outer((0.0, 0.4, 1.0), high - low) * (1.0, 0.6, 0.7)
    return clamped(part, sa.Thread(path, part, EA=1e3))


def embedded() -> Model:
    """Return hexahedra with a cable in them."""
    mesh = mesh_of("hexahedron")
    law = energies.saint_venant_kirchhoff()
    part = sa.Body(mesh["body"], elements.hex8_plain, law, name="block", **SVK)
    low, high = mesh.bounds()
    ends = low + np.outer((0.2, 0.8), high - low)
    line = sa.Mesh.box((1.0,), (2,), warp=lambda X: ends[0] + X[:, :1] * (ends[1] - ends[0]))
    wire = sa.Body(line["body"], elements.ancf_cable, energies.cable(), name="wire", **CABLE)
    model = clamped(part, sa.embed(wire, part))
    model.bodies.append(wire)
    return model


def sliding() -> Model:
    """Return a cable that slides through an eye."""
    part = cable()
    eye, at = sa.ground.at((0.5, 0.0, 0.0)), part.sliding((0.5, 0.0, 0.0))
    return clamped(part, sa.Constraint(lambda r_a, r_b: r_a - r_b, eye, at))


# ---- contact -------------------------------------------------------------------------------------
def against(shape: Any, **given: Any) -> Model:
    """Return a block whose top stands in a shape by 0.02 and is let out."""
    part = block()
    touch = sa.Contact(part["z1"], shape, initial="press", **given)
    return Model([part], [sa.fix(part["z0"]), weight(), touch], part.at((2.0, 1.0, 1.0)))


TOP = (1.0, 0.5, 1.98)


def plane() -> Any:
    """Return a plane on the top of the block."""
    return sa.Plane((0.0, 0.0, 0.98), normal=(0.0, 0.0, -1.0))


def from_ball(x1: Any, x2: Any, x3: Any, *, R: Any) -> Any:
    """Return the distance from a ball."""
    return sp.sqrt(x1**2 + x2**2 + x3**2) - R


def two_blocks() -> Model:
    """Return a block on a block."""
    lower = block()
    mesh = sa.Mesh.box((1.0, 1.0, 0.5), (1, 1, 1), warp=lambda X: X + np.array([0.5, 0.0, 0.99]))
    law = energies.saint_venant_kirchhoff()
    upper = sa.Body(mesh["body"], elements.hex8_plain, law, name="upper", **SVK)
    touch = sa.Contact(lower["z1"], upper["z0"], initial="press")
    terms = [sa.fix(lower["z0"]), sa.fix(upper["z1"]), weight(), touch]
    return Model([lower, upper], terms, upper.at((0.5, 0.0, 0.99)))


def rolling() -> Model:
    """Return a ball on a plane."""
    ball = sa.RigidBody.sphere(0.2, position=(0.0, 0.0, 0.2), rho=30.0, name="ball")
    touch = sa.Contact(ball, sa.Plane(), stiffness=1e3)
    return Model([ball], [weight(), touch, *held(ball)], ball.at((0.0, 0.2, 0.0)), 0.01)


def z(r_a: Any) -> Any:
    """Return the height of a place."""
    return r_a[2]


def speed(v_a: Any) -> Any:
    """Return its rate."""
    return v_a[2]


def gain(y: Any, *, k: Any) -> Any:
    """Return the force of a controller."""
    return -k * (y - 1)


POST = (1.0, 3.0, 0.0)


def apart(at: Any) -> float:
    """Return how far a place of a joint, on a rigid body or a solid, is from the post."""
    x = -0.2 if isinstance(at.body, sa.RigidBody) else 2.0
    return float(np.hypot(x - POST[0], POST[1]))


JOINTS: dict[str, tuple[Callable[[Any, Any], Any], ...]] = {
    "Constraint": (lambda at, to: sa.Constraint(lambda r_a, X_a: r_a[2] - X_a[2], at),),
    "Constraint, function of time": (
        lambda at, to: joints.translation(at, to, axis=UP, distance=lambda t: t**2),
    ),
    "joints.cylindrical": (lambda at, to: joints.cylindrical(at, to, axis=UP),),
    "joints.distance": (lambda at, to: joints.distance(at, sa.ground.at(POST), apart(at)),),
    "joints.on_sphere": (lambda at, to: joints.on_sphere(at, POST, apart(at)),),
    "joints.prismatic": (lambda at, to: joints.prismatic(at, to, axis=UP),),
    "joints.revolute": (hinge,),
    "joints.rigid": (joints.rigid,),
    "joints.rotation": (hinge, lambda at, to: joints.rotation(at, to, axis=UP, angle=0.0)),
    "joints.spherical": (joints.spherical,),
    "joints.translation": (lambda at, to: joints.translation(at, to, axis=UP, distance=0.0),),
    "joints.universal": (lambda at, to: joints.universal(at, to, axes=(UP, (1.0, 0.0, 0.0))),),
    "joints.weld": (joints.weld,),
}
TERMS: dict[str, Callable[[], Model]] = {
    "fix": lambda: loaded(lambda b: sa.fix(b["x1"], "y")),
    "fix, displacement of time": lambda: loaded(
        lambda b: sa.fix(b["x1"], displacement=(0.0, lambda t: t**2, 0.0))
    ),
    "planar": lambda: loaded(lambda b: sa.planar(b, "y")),
    "symmetry": lambda: loaded(lambda b: sa.symmetry(b["y0"], "y")),
    "displacement_control": released,
    "gravity": lambda: loaded(lambda b: sa.gravity((lambda t: t, 0.0, 0.0))),
    "force": lambda: loaded(lambda b: sa.force(b["x1"], (0.0, 0.0, 0.1))),
    "force, place of time": lambda: loaded(
        lambda b: sa.force(b.at(lambda t: (0.5 + t / 2, 1.0, 1.0)), (0.0, 0.0, 0.1))
    ),
    "force, factor": released,
    "traction": lambda: loaded(lambda b: sa.traction(b["x1"], (0.0, 0.0, 0.1))),
    "body_force": lambda: loaded(lambda b: sa.body_force(b["body"], lambda X, t: 0.1 * t * X)),
    "moment": lambda: loaded(lambda b: sa.moment(far(b), (0.0, 0.1, 0.0))),
    "pressure": lambda: loaded(lambda b: sa.pressure(b["x1"], 0.1)),
    "Cavity, pressure": lambda: cavity(pressure=0.1),
    "Cavity, gas": lambda: cavity(gas=sa.Gas(1.1, ambient=1.0)),
    "rotating_frame": lambda: loaded(lambda b: sa.rotating_frame((0.0, 0.0, 0.3))),
    "length": cord,
    "Thread": wound,
    "embed": embedded,
    "Tendon": lambda: loaded(
        lambda b: sa.Tendon([far(b), sa.ground.at((3.0, 0.3, 0.2))], EA=0.5, mu=0.2)
    ),
    "Constraint, place that slides": sliding,
    "Potential": lambda: loaded(lambda b: sa.Potential(spring, far(b), k=1.0)),
    "Potential, kinked": lambda: loaded(lambda b: sa.Potential(stop, far(b), k=1.0)),
    "Potential, memory": lambda: loaded(lambda b: sa.Potential(relaxing, far(b), k=1.0, tau=0.1)),
    "BodyPotential": lambda: loaded(lambda b: sa.BodyPotential(dragged, b, f=0.1)),
    "magnetic": lambda: loaded(lambda b: sa.magnetic(b, (1.0, 0.0, 0.0), (0.0, 0.0, 0.2))),
    "dielectric": lambda: loaded(lambda b: sa.dielectric(b, 0.1, (0.0, 0.0, 1.0))),
    "VirtualWork": lambda: loaded(lambda b: sa.VirtualWork(push, far(b), f=lambda t: 0.1 + t)),
    "VirtualWork, states": lambda: loaded(lambda b: sa.VirtualWork(lag, far(b), states="s")),
    "Controller": lambda: loaded(lambda b: sa.Controller(z, speed, gain, far(b), k=0.1)),
    "PID": lambda: loaded(lambda b: sa.PID(z, speed, far(b), target=1.1, kp=0.5, ki=0.2, kd=0.1)),
    "KelvinVoigt": lambda: loaded(lambda b: sa.KelvinVoigt(b, eta=0.3)),
    "Viscosity": lambda: loaded(lambda b: sa.Viscosity(b, newton, eta=0.3)),
    "Flexure": flexure,
    "Contact, deformable bodies": two_blocks,
    "Contact, friction": lambda: against(plane(), mu=0.3),
    "Contact, rigid bodies": rolling,
    "Contact, Plane": lambda: against(plane()),
    "Contact, Sphere": lambda: against(sa.Sphere(1.0, TOP)),
    "Contact, Cylinder": lambda: against(sa.Cylinder(1.0, TOP, axis=(0, 1, 0))),
    "Contact, Capsule": lambda: against(sa.Capsule(1.0, 2.0, TOP, axis=(0, 1, 0))),
    "Contact, Box": lambda: against(sa.Box((4.0, 4.0, 1.0), (1.0, 0.5, 1.48))),
    "Contact, Distance": lambda: against(sa.Distance(from_ball, TOP, R=1.0)),
    "joints.clamp": clamp,
    "joints.fold": folded,
    "joints.periodic": periodic,
    "joints.tie": tied,
}
BODIES: dict[str, Callable[[], Model]] = {
    "RigidBody": rigid_body,
    "PlanarBody": pendulum,
    "PointMass": point_mass,
}
DAMPING = {
    "Rayleigh, mass": sa.Rayleigh(mass=0.5),
    "Rayleigh, stiffness": sa.Rayleigh(stiffness=0.1),
}


def model(kind: str, name: str, solid: bool = False) -> Model:
    """Return the model of a row; joints are those of rigid bodies, or of solids."""
    if kind == "element":
        return of_element(name)
    if kind == "law":
        return clamped(LAWS[name]())
    if kind == "damping":
        found = clamped(block())
        found.options["damping"] = DAMPING[name]
        return found
    if name in JOINTS:
        return (on_solid if solid else jointed)(*JOINTS[name])
    return (BODIES if kind == "body" else TERMS)[name]()
