# SPDX-License-Identifier: BSD-3-Clause
"""Memory of a script's first solution, motions and contact, predicted and nothing solved."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.bench.contact import bodies
from symancf.command import model
from symancf.contact.active import PAIRS
from symancf.errors import SymancfError
from symancf.solve import cost
from symancf.solve.cost import Cost

SCRIPT = """
import sys
from pathlib import Path
import symancf as sa
n = int(sys.argv[1])
mesh = sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n))
given = {"mu": 1e5, "lam": 2e5, "rho": 1000.0}
body = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
system = sa.System(body, terms=[sa.fix(body["x0"]), sa.gravity((0.0, 0.0, -9.81))])
try:
    KIND
except Exception:
    Path("caught").touch()
Path("solved").touch()
"""
KINDS = {
    "statics": "sa.StaticProblem(system, options={'pc_type': 'grids'}).solve(to=1.0)",
    "motion": "sa.DynamicProblem(system).solve(to=2e-3, step=1e-3)",
}


@pytest.fixture(params=KINDS)
def script(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.replace("KIND", KINDS[request.param]), encoding="utf-8")
    return path


def test_a_script_ends_where_it_begins_to_solve(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, places = list(sys.argv), list(sys.path)
    solve = sa.StaticProblem.solve, sa.DynamicProblem.solve
    assert model.main(str(script), ["10"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("3630 unknowns with ")
    assert ", 64: " in text.splitlines()[1]
    assert not Path("caught").exists()
    assert not Path("solved").exists()
    assert (words, places) == (sys.argv, sys.path)
    assert solve == (sa.StaticProblem.solve, sa.DynamicProblem.solve)
    assert model.main(str(script), ["10"], as_json=True) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unknowns"] == 3630
    assert found["on"]["1"] > found["on"]["64"]


def test_what_does_not_fit_is_the_exit_status(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cost, "free_memory", lambda comm: 1e6)
    assert model.main(str(script), ["10"]) == 1
    assert "ranks, on more machines, would need" in capsys.readouterr().out


def test_a_script_that_solves_nothing_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    for text in ("import symancf", "import sys; sys.exit()"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(SymancfError, match="has ended and solved nothing"):
            model.cost_of_script(str(path))
    with pytest.raises(SymancfError, match="there is no script"):
        model.cost_of_script(str(tmp_path / "other.py"))
    with pytest.raises(SymancfError, match="needs the path"):
        model.cost_of_script("")


MEASURED = """
import json, sys
from pathlib import Path
import symancf as sa
from symancf.bench.contact import APART, bodies

def memory(name):
    return 1024 * int(Path("/proc/self/status").read_text().split(name + ":")[1].split()[0])

def motion(n):
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n))
    given = {"mu": 1e5, "lam": 2e5, "rho": 1000.0}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    terms = [sa.fix(body["x0"]), sa.gravity((0.0, 0.0, -9.81))]
    return sa.DynamicProblem(sa.System(body, terms=terms))

def contact(facets):
    blocks, term = bodies(facets, rigid=False, mu=0.0, layers=4)
    moved = sa.fix(blocks[1]["z1"], displacement=lambda t: (0.0, 0.0, -t * (APART + 0.02)))
    terms = [term, sa.fix(blocks[0]["z0"]), moved]
    return sa.StaticProblem(sa.System(*blocks, terms=terms))

given = {"to": 2e-3, "step": 1e-3} if sys.argv[1] == "motion" else {}
made = {"motion": motion, "contact": contact}[sys.argv[1]]
problem = made(int(sys.argv[2]))
predicted = problem.cost()
problem.solve(**given)
print(json.dumps(predicted.on(1) / memory("VmHWM")))
"""


@pytest.mark.parametrize("kind", ["motion", "contact"])
def test_memory_of_motions_and_contact_is_predicted(kind: str) -> None:
    """Of all of the process: a motion without its mass would have 0.5, contact unseen 0.75."""
    size = {"motion": "28", "contact": "1800"}[kind]
    command = [sys.executable, "-c", MEASURED, kind, size]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    if "IndexError" in done.stderr:
        pytest.skip("the system does not tell peaks")
    assert not done.returncode, done.stderr
    assert 0.8 < json.loads(done.stdout.splitlines()[-1]) < 1.25


def test_factors_take_more_on_several_ranks() -> None:
    given: Any = ("lu", 1, 10**6, 1e7, 1e9 + cost.LIBRARIES, 3e9, np.inf, cost.LIBRARIES, 2e9)
    one = Cost(*given)
    assert one.on(1) == pytest.approx(4e9 + cost.LIBRARIES)
    assert one.on(2) == pytest.approx((2e9 + 1.6 * 2e9) / 2 + cost.LIBRARIES)
    two = Cost("lu", 2, 10**6, 1e7, 1e9 + 2 * cost.LIBRARIES, 1e9 + 3.2e9, np.inf, factors=3.2e9)
    assert [two.on(n) for n in (1, 2, 3)] == pytest.approx([one.on(n) for n in (1, 2, 3)])


def bytes_of(thing: Any, seen: set[int]) -> int:
    """Return the bytes of arrays in attributes, tuples and lists, each once."""
    if isinstance(thing, np.ndarray):
        base: Any = thing
        while isinstance(base.base, np.ndarray):
            base = base.base
        new = id(base) not in seen
        seen.add(id(base))
        return base.nbytes if new else 0
    if isinstance(thing, tuple | list):
        return sum(bytes_of(each, seen) for each in thing)
    inside = type(thing).__module__.startswith("symancf.contact") and hasattr(thing, "__dict__")
    if not inside or id(thing) in seen:
        return 0
    seen.add(id(thing))
    return sum(bytes_of(each, seen) for each in vars(thing).values())


def test_every_rank_has_the_facets_of_contact() -> None:
    blocks, contact = bodies(5000, rigid=False, layers=1)
    system = sa.System(*blocks, terms=[contact])._discrete
    system.revise(0.0)
    seen: set[int] = set()
    facing = system.binding(contact).facing
    every = (each.active._asdict().items() for each in facing)
    everywhere = [[value for name, value in sets if name not in PAIRS] for sets in every]
    found = sum(bytes_of(each.surfaces, seen) for each in facing) + bytes_of(everywhere, seen)
    assert 0.85 < found / 5000 / cost.BYTES_OF_FACET < 1.15


def test_facets_and_entries_of_contact_are_in_the_cost() -> None:
    blocks, contact = bodies(200, rigid=False)
    entries = sa.StaticProblem(sa.System(*blocks)).cost().entries
    found = sa.StaticProblem(sa.System(*blocks, terms=[contact])).cost()
    history = 2 * 8 * (3 + 3 + 3) * 4 * 200  # friction: nine numbers of four points, twice
    assert found.each == pytest.approx(cost.LIBRARIES + 200 * cost.BYTES_OF_FACET + history)
    assert found.on(10**9) == pytest.approx(found.each, rel=1e-4)
    assert found.entries > 1.5 * entries
