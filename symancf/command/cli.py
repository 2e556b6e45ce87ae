# SPDX-License-Identifier: BSD-3-Clause
"""The command ``symancf``: each subcommand imports what it needs when it runs."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import __version__

Command = Callable[[argparse.Namespace], int]


def doctor(arguments: argparse.Namespace) -> int:
    """Report on PETSc, MPI, BLAS and compiler: what is there, what is slow, how to mend it.

    Or predict the memory that the first solution of a script would take, and solve nothing.
    """
    if arguments.model is not None:
        from . import model

        path, *words = arguments.model or [""]
        return model.main(path, words, as_json=arguments.json)
    from . import doctor as module

    return module.main(as_json=arguments.json)


def demo(arguments: argparse.Namespace) -> int:
    """Run a demo, list them, or copy their scripts and meshes into a folder to work on."""
    from . import demos

    if arguments.copy is not None:
        return demos.copy(arguments.copy, arguments.name)
    return demos.main(arguments.name, arguments.options)


def inspect(arguments: argparse.Namespace) -> int:
    """Print what symancf makes of an energy on an element."""
    from ..bodies import inspection

    options = {"form": arguments.form, "function": arguments.function}
    return inspection.main(arguments.energy, arguments.element, **options)


def verify(arguments: argparse.Namespace) -> int:
    """Compare with the literature's numbers."""
    module = importlib.import_module("symancf.verify")
    options = {"as_json": arguments.json, "curves": arguments.curves}
    return int(module.main(group=arguments.group, **options))


def bench(arguments: argparse.Namespace) -> int:
    """Measure kernels and assembly against the peak of this machine."""
    module = importlib.import_module("symancf.bench")
    names = "peers solve motions mechanisms tendons laws contact elements scaling largest robust"
    options = {name: getattr(arguments, name) for name in names.split()}
    return int(module.main(as_json=arguments.json, **options))


def cache(arguments: argparse.Namespace) -> int:
    """Show or clear the compiled kernels."""
    from . import kernels

    return kernels.main(arguments.action)


def upgrade(arguments: argparse.Namespace) -> int:
    """Rewrite former spellings of the interface in scripts, pages (.md) and notebooks, in place."""
    from . import upgrade as module

    return module.main([Path(name) for name in arguments.path], check=arguments.check)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="symancf",
        description="From a SymPy energy to a PETSc solution on any number of MPI ranks.",
        epilog="Models are Python scripts; see `symancf demo` for some.",
    )
    top.add_argument("--version", action="version", version=f"symancf {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def add(function: Command, summary: str, epilog: str = "") -> argparse.ArgumentParser:
        sub = commands.add_parser(
            function.__name__, help=summary, description=function.__doc__, epilog=epilog
        )
        sub.set_defaults(run=function)
        return sub

    sub = add(doctor, "what is installed, what is slow, how to fix it")
    sub.add_argument("--json", action="store_true", help="print the findings as JSON")
    sub.add_argument(
        "--model",
        nargs=argparse.REMAINDER,
        metavar="SCRIPT",
        help="memory that the first solution of a script would take instead, from its mesh; what "
        "follows are arguments of the script",
    )

    sub = add(
        demo,
        "run a demo, list or copy them",
        epilog="Options after NAME go to PETSc: symancf demo silicone_plate -plate_snes_monitor",
    )
    sub.add_argument(
        "--copy", metavar="DIR", help="write demos, tutorials and meshes into DIR, to work on"
    )
    sub.add_argument("name", nargs="?", metavar="NAME", help="a script of docs/demos; none: list")
    sub.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTIONS", help="for PETSc")

    sub = add(inspect, "formulas, C or operation counts of an energy on an element")
    sub.add_argument("energy", metavar="ENERGY", help="e.g. yeoh, or file.py:function")
    sub.add_argument("element", metavar="ELEMENT", help="e.g. ancf_plate")
    sub.add_argument(
        "--as",
        dest="form",
        choices=("latex", "text", "c", "ops"),
        default="ops",
        help="default: ops",
    )

    sub.add_argument(
        "--function",
        metavar="F",
        help="one of it: energy, shape, residual, tangent as LaTeX and text; energy, residual, "
        "tangent, product as C",
    )

    sub = add(verify, "compare with published numbers")
    sub.add_argument("--group", metavar="G", help="only cases whose id starts with G, e.g. A or C")
    sub.add_argument("--json", action="store_true", help="print the results as JSON")
    sub.add_argument("--curves", metavar="DIR", help="draw the curves of cases that have some")

    sub = add(bench, "speed of kernels and assembly on this machine")
    sub.add_argument("--json", action="store_true", help="print the results as JSON")
    sub.add_argument(
        "--peers",
        action="store_true",
        help="also measure DOLFINx, or Exudyn beside motions and mechanisms, if installed",
    )
    sub.add_argument("--motions", action="store_true", help="time steps of pendulums instead")
    sub.add_argument(
        "--mechanisms",
        metavar="MODEL",
        nargs="*",
        help="time steps of mechanisms, plain and recorded, and static designs instead",
    )
    sub.add_argument(
        "--tendons",
        metavar="MODEL",
        nargs="*",
        help="time steps of rods and a solid with a tendon in 100 eyelets, and without, instead",
    )
    sub.add_argument(
        "--laws",
        metavar="LAW",
        nargs="*",
        help="tangents of laws with memory and in stretches beside simple laws instead",
    )
    sub.add_argument(
        "--contact",
        metavar="N",
        nargs="*",
        type=int,
        default=(),
        help="contact with N facets instead, e.g. --contact 5000 50000",
    )
    sub.add_argument(
        "--elements",
        metavar="PNG",
        nargs="?",
        const="",
        help="error against time of solids and plates on five structures instead, also drawn",
    )
    sub.add_argument(
        "--robust",
        metavar="CASE",
        nargs="*",
        help="solvers on bodies of many kinds instead: the default, GAMG and MUMPS",
    )
    sub.add_argument(
        "--solve",
        metavar="N",
        nargs="*",
        type=int,
        default=(),
        help="also solve cubes of N^3 hexahedra, e.g. --solve 20 32; memory, too",
    )

    sub.add_argument(
        "--scaling",
        metavar="N",
        nargs="?",
        const=24,
        type=int,
        help="scaling to all ranks of mpirun instead, N^3 hexahedra for each and for all",
    )
    sub.add_argument(
        "--largest",
        metavar="N",
        type=int,
        help="a cube of N^3 hexahedra from an HDF5 file to the end of a step instead: memory, time",
    )

    sub = add(upgrade, "rewrite scripts to the present spellings of the interface")
    sub.add_argument("path", metavar="PATH", nargs="+", help="files, or folders of them")
    sub.add_argument("--check", action="store_true", help="list what would change, write nothing")

    sub = add(cache, "the compiled kernels on this machine")
    sub.add_argument("action", choices=("show", "clear"))
    return top


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line `words` (default: that of the process) and return its exit status.

    Errors that symancf raises on purpose are raised on every rank with the same text: rank 0
    prints the text, without a traceback. Any other exception ends all ranks, so that none waits
    for one that is gone.
    """
    arguments = parser().parse_args(words)
    run: Command = arguments.run
    try:
        return run(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `symancf inspect ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return report(error)


def report(error: Exception) -> int:
    """Say what went wrong and return the exit status 1; on several ranks see `main`."""
    rank, size = ranks()
    text = message_of(error)
    if text is not None:
        if rank == 0:
            print(f"symancf: {text}", file=sys.stderr)
            if "SYMANCF_TRACEBACK" in os.environ:
                traceback.print_exception(error)
        return 1
    traceback.print_exception(error)
    if size > 1:
        from mpi4py import MPI

        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)
    return 1


def message_of(error: Exception) -> str | None:
    """Return the text of an error that needs no traceback, None for any other."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        if package != "symancf":
            what = "--no-deps --editable ." if package == "symancf_codegen" else package
            mend = f"{sys.executable} -m pip install {what}"
            return f"the Python package {package} is not installed ({mend}); see `symancf doctor`"
    errors = sys.modules.get("symancf.errors")
    if errors is not None and isinstance(error, errors.SymancfError):
        return str(error)
    return None


def ranks() -> tuple[int, int]:
    """Return rank and number of ranks without starting MPI in a process that does not use it."""
    module = sys.modules.get("mpi4py.MPI")
    if module is None or not module.Is_initialized() or module.Is_finalized():
        return 0, 1
    return module.COMM_WORLD.rank, module.COMM_WORLD.size
