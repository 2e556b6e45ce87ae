# SPDX-License-Identifier: BSD-3-Clause
"""The assembler: forms share lanes, what the C runtime refuses before it writes too far."""

from __future__ import annotations

import ctypes
import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.assembly import structures
from symancf.assembly.assembler import Assembler
from symancf.assembly.form import CellEntities
from symancf.assembly.matrix import Matrix
from symancf.runtime import jit
from symancf.runtime.structures import declared
from symancf.solve.dynamics import native
from symancf.solve.multigrid import structures as multigrid
from tests.refusals import refused


def test_nodes_with_more_vectors_than_the_runtime_holds_are_refused() -> None:
    system = _plate()
    form = system._discrete.forms[0]
    assert isinstance(form.entities, CellEntities)
    larger = dataclasses.replace(form.entities, widths=(1, 6))
    told = r"7 coefficient vectors at each node, 2 of them mapped.*the runtime holds at most 6"
    with pytest.raises(ValueError, match=told):
        Assembler(
            [dataclasses.replace(form, entities=larger)],
            *(system._discrete.numbering, system.reference, system.comm),
        )


def _plate() -> sa.System:
    mesh = sa.Mesh.box((1.0, 2.0), (3, 2), warp=lambda X: X + 0.1 * np.sin(X[:, [1, 0, 2]]))
    values = {"E": 1.0, "nu": 0.3, "thickness": 0.1}
    body = sa.Body(mesh["body"], sa.elements.ancf_thin_plate, sa.energies.kirchhoff(), **values)
    return sa.System(body, terms=[sa.fix(body["x0"])])


def test_vectors_of_nodes_in_other_runs_and_one_map_for_all_of_them_are_the_same() -> None:
    """Runs (1, 2) and maps of slopes, as (1, 1, 1) and as (3,) with maps of all three vectors."""
    system = _plate()
    (form,) = system._discrete.forms
    cells = form.entities
    assert isinstance(cells, CellEntities)
    whole = np.zeros((*cells.maps.shape[:2], 3, 3))
    whole[..., 0, 0], whole[..., 1:, 1:] = 1.0, cells.maps
    assert np.abs(cells.maps - np.eye(2)).max() > 0.01
    position, slopes = cells.blocks[..., 0], cells.blocks[..., 1]
    assert (slopes == position + 3).all()  # so that one run has them all
    apart = np.stack([position, slopes, slopes + 3], axis=2)
    kinds = [
        cells,
        CellEntities(apart, whole, (1, 1, 1)),
        CellEntities(position[..., None], whole, (3,)),
    ]
    state = 0.03 * system._discrete.numbering.random(1)
    found = []
    for entities in kinds:
        forms = [dataclasses.replace(form, entities=entities)]
        assembler = Assembler(forms, system._discrete.numbering, system.reference, system.comm)
        matrix = Matrix(system.comm, system._discrete.numbering, forms)
        assembler.attach(matrix)
        assembler.update(0.0)
        f, w = np.zeros_like(state), np.zeros_like(state)
        assembler.tangent(state, f, matrix)
        matrix.finish()
        assembler.product(state, system._discrete.numbering.random(2), w)
        K = matrix.mat.getValuesCSR()[2]
        found.append([assembler.energies(state)[0], f, w, K])
    assert np.abs(found[0][3]).max() > 0.0
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14 * np.abs(a).max())


def test_values_of_slots_have_their_names() -> None:
    body = sa.PlanarBody()
    plain = sa.VirtualWork(lambda v_a, r_a: {v_a[0]: -r_a[0]}, body.at((0, 0)), name="plain")
    pushed = sa.VirtualWork(_push, body.at((0, 0)), name="pushed", P=7.0)
    assembler = sa.System(body, terms=[plain, pushed])._discrete.assembler
    assembler.update(0.0)
    assert dict(zip(assembler.names(), assembler.values.tolist(), strict=True)) == {
        "P of 'pushed'": 7.0
    }


def _push(v_a: Any, *, P: Any) -> dict[Any, Any]:
    return {v_a[0]: P}


def test_structures_are_those_of_c(tmp_path: Path) -> None:
    """Sizes and places of all fields, as the compiler has them; what is odd is left out."""
    own = tmp_path / "own.h"
    own.write_text(
        "#include <stdint.h>\n"
        "typedef struct { uint8_t a; double b[3], *c; } inner; /* b; */\n"
        "typedef struct named { int32_t d; inner e; inner *f, g[2]; float h; const char *i;\n"
        "  int (*j)(int, double *), (*k)(void); struct named *l; uint8_t m; } outer;\n"
        "typedef struct { long double n; } odd;\n"
    )
    assembly, other = Path(structures.__file__).parent, Path(sa.__file__).parent
    steps = other / "solve" / "dynamics" / "steps.h"
    files = {
        own: {"inner", "outer"},
        assembly / "runtime.c": {
            f"symancf_{n}" for n in ("term", "assembler", "closest_points", "ways", "basis")
        },
        other / "solve" / "multigrid" / "multigrid.c": {"Level", "Hierarchy", "Exchange", "Coarse"},
        steps: {f"symancf_{n}" for n in ("problem", "state", "work")},
    }
    mine = declared(own)
    assert set(mine) == {"inner", "outer"}
    for file, names in files.items():
        made = {**mine, **structures._STRUCTURES, **multigrid._STRUCTURES, **native.STRUCTURES}
        fields = [(n, k[0]) for n in sorted(names) for k in made[n]._fields_]
        places = ", ".join(f"offsetof({n}, {k})" for n, k in fields)
        sizes = ", ".join(f"sizeof({n})" for n in sorted(names))
        text = f"const long places[] = {{{places}, {sizes}}};\n"
        (tmp_path / "c.c").write_text(f'#include <stddef.h>\n#include "{file}"\n{text}')
        library = tmp_path / f"{file.stem}.so"
        flags = ["-shared", "-fPIC", "-march=native", "-w", f"-I{jit.HEADERS}"]
        subprocess.run(["gcc", *flags, str(tmp_path / "c.c"), "-o", str(library)], check=True)
        here = [getattr(made[n], k).offset for n, k in fields]
        here += [ctypes.sizeof(made[n]) for n in sorted(names)]
        there = (ctypes.c_long * len(here)).in_dll(ctypes.CDLL(str(library)), "places")
        assert list(there) == here


# ---- forms of one kernel -----------------------------------------------------------------------
def _spring(u_a: Any, *, c: Any, at: Any) -> Any:
    return c * (u_a[0] - at) ** 2 / 2


def _root(u_a: Any, *, c: Any, at: Any) -> Any:
    return -c * sp.sqrt(1 + at + u_a[0])


def springs(count: int) -> tuple[sa.System, list[sa.PlanarBody], sa.Parameter]:
    """Return bodies on springs of stiffness k + 1: that of the first two is a Parameter's."""
    first = sa.Parameter("c", 1.0)
    bodies = [sa.PlanarBody((3.0 * k, 0.0), mass=1.0) for k in range(count)]
    terms: list[Any] = []
    for k, body in enumerate(bodies):
        at = (lambda t: 2.0 * t) if k == 2 else 0.0
        given = {"c": first if k < 2 else k + 1.0, "at": at, "name": f"spring {k}"}
        terms.append(sa.Potential(_spring, body.at((0.0, 0.0)), **given))
        terms.append(sa.joints.rotation(body.at((0.0, 0.0)), sa.ground.at((3.0 * k, 0.0))))
    return sa.System(*bodies, terms=terms), bodies, first


def test_pieces_of_one_kernel_share_their_lanes() -> None:
    """Nineteen springs are three calls, and so are their joints: each with values of its own."""
    system, bodies, first = springs(19)
    assert [group.size for group in system._discrete.assembler.groups] == [19, 19]
    assert system._discrete.assembler.calls == 3 + 3
    first.value, time = 5.0, 0.5
    system._discrete.prescribe(time)
    x = system.state
    x[:] = np.random.default_rng(0).uniform(-1.0, 1.0, x.shape)
    u = np.array([x[body.coordinates(system)][0] for body in bodies])
    c = np.array([5.0, 5.0, *range(3, 20)])
    at = np.where(np.arange(19) == 2, 2.0 * time, 0.0)
    f = np.zeros_like(x)
    system._discrete.assembler.residual(x, f)
    found = np.array([f[body.coordinates(system)][0] for body in bodies])
    np.testing.assert_allclose(found, c * (u - at), rtol=1e-14)
    energies = system.energies()
    told = [energies[f"spring {k}"] for k in range(19)]
    np.testing.assert_allclose(told, c * (u - at) ** 2 / 2, rtol=1e-14)
    assert len(energies) == 38


def test_pieces_are_left_out_one_by_one() -> None:
    system, bodies, first = springs(19)
    system._discrete.prescribe(0.0)
    x, f, g, h = (np.ones_like(system.state) for _ in range(4))
    assembler, matrix = system._discrete.assembler, system._discrete.matrix

    def stiffness() -> list[float]:
        assembler.tangent(x, f, matrix)
        rows = [int(system._discrete.numbering.row[body.coordinates(system)[0]]) for body in bodies]
        return [float(matrix.mat.getValue(row, row)) for row in rows]

    whole = [1.0, 1.0, *map(float, range(3, 20))]
    assert stiffness() == whole
    with assembler.only(np.array([p.name != "spring 7" for p in assembler.forms])):
        assert stiffness() == [c if k != 7 else 0.0 for k, c in enumerate(whole)]
        first.value = 4.0
        system._discrete.prescribe(0.0)
        with assembler.only(
            np.array([p.name in ("spring 0", "spring 7") for p in assembler.forms])
        ):
            assert stiffness() == [4.0, *[0.0] * 18]
            assert assembler.calls == 1
    assert stiffness() == [4.0, 4.0, *whole[2:]]
    assembler.residual(x, f)
    with assembler.only(np.arange(len(assembler.forms)) % 3 == 0):
        assembler.residual(x, g)
    with assembler.only(np.arange(len(assembler.forms)) % 3 != 0):
        assembler.residual(x, h)
    np.testing.assert_allclose(g + h, f, rtol=1e-14)


def test_the_piece_outside_the_domain_of_its_law_is_named() -> None:
    bodies = [sa.PlanarBody((3.0 * k, 0.0), mass=1.0) for k in range(12)]
    terms = [
        sa.Potential(_root, b.at((0.0, 0.0)), c=1.0, at=0.0 if k != 7 else -2.0, name=f"law {k}")
        for k, b in enumerate(bodies)
    ]
    system = sa.System(*bodies, terms=terms)
    assert [group.size for group in system._discrete.assembler.groups] == [12]
    with refused(sa.ConvergenceError, reason="DIVERGED_FNORM_NAN") as caught:
        sa.StaticProblem(system, prefix="outside_", check_held=False).solve(to=1.0)
    assert "'law 7'" in str(caught.value)


def test_pieces_of_many_entities_and_of_other_numbers_stay_alone() -> None:
    mesh = sa.Mesh.box((8.0, 1.0, 1.0), (8, 1, 1))
    given = {"mu": 1.0, "lam": 1.0, "rho": 1.0}
    parts = [
        sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), name=name, **given)
        for name in "ab"
    ]
    other = sa.Body(
        mesh["body"],
        sa.elements.hex8_plain,
        sa.energies.neo_hooke(),
        name="c",
        **given | {"mu": 2.0},
    )
    system = sa.System(*parts, other)
    assert [group.numbers for group in system._discrete.assembler.groups] == [[0, 1], [2]]
    system.state[:] = 0.01 * np.random.default_rng(1).uniform(-1.0, 1.0, system.state.shape)
    one, two, three = system.energies().values()
    assert 0.0 < one == two < three  # they share all nodes
    many = sa.Mesh.box((64.0, 1.0, 1.0), (64, 1, 1))
    parts = [
        sa.Body(many["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), name=name, **given)
        for name in "ab"
    ]
    assert [group.numbers for group in sa.System(*parts)._discrete.assembler.groups] == [[0], [1]]


def test_arrays_for_c_have_its_type_or_are_copies_that_it_only_reads(tmp_path: Path) -> None:
    (tmp_path / "some.h").write_text("typedef struct { const int32_t *read; double *out; } some;")
    some = declared(tmp_path / "some.h")["some"]()
    out = np.zeros(3)
    some.give(read=np.array([1, 2]), out=out)
    assert ctypes.cast(some.read, ctypes.POINTER(ctypes.c_int32))[1] == 2
    assert some.out == out.ctypes.data
    for name, array in (
        ("read", np.array([2**40])),
        ("read", np.array([0.5])),
        ("out", np.zeros(3, np.float32)),
        ("out", np.zeros((3, 2))[:, 1]),
    ):
        with pytest.raises(TypeError, match=rf"some\.{name}: an array of {array.dtype}"):
            some.give(**{name: array})
