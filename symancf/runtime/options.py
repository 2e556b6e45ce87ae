# SPDX-License-Identifier: BSD-3-Clause
"""PETSc's database of options: defaults, what the user gave, and what nobody used."""

from __future__ import annotations

import ctypes
import re
import warnings
from typing import TYPE_CHECKING, TypeAlias

from ..errors import ParameterError, SymancfError, closest
from .petsc import PETSc, functions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mpi4py import MPI

Option: TypeAlias = "str | float | bool | None"

# full name -> value of the options in the database that are a problem's, not the user's
_ours: dict[str, str] = {}
_read: set[str] = set()  # full names of options that symancf itself asked for
_working: list[SolverOptions] = []  # problems that work, the last one within those before it

SLEPC = ("eps_", "st_", "bv_", "ds_")
SOLVER = ("ts_", "snes_", "ksp_", "pc_", "mat_", "mg_", "sub_", "fieldsplit_")
# of Krylov's methods: PETSc reads them for a direct solver, too
KRYLOV = ("ksp_rtol", "ksp_atol", "ksp_divtol", "ksp_max_it")

# of PETSc's hundreds those that are asked for here, for hints
NAMES_FOR_HINTS = """
    snes_rtol snes_atol snes_stol snes_max_it snes_max_funcs snes_type snes_monitor snes_view
    snes_converged_reason snes_linesearch_type snes_linesearch_monitor snes_linesearch_max_it
    snes_lag_jacobian snes_lag_preconditioner snes_ksp_ew snes_divergence_tolerance
    snes_error_if_not_converged snes_test_jacobian snes_mf snes_mf_operator
    ksp_type ksp_rtol ksp_atol ksp_divtol ksp_max_it ksp_monitor ksp_monitor_true_residual ksp_view
    ksp_converged_reason ksp_gmres_restart ksp_norm_type ksp_pc_side ksp_reuse_preconditioner
    ksp_initial_guess_nonzero ksp_view_eigenvalues ksp_error_if_not_converged
    pc_type pc_view pc_factor_mat_solver_type pc_factor_levels pc_factor_shift_type pc_gamg_type
    pc_factor_mat_ordering_type pc_gamg_threshold pc_gamg_agg_nsmooths pc_gamg_coarse_eq_limit
    pc_mg_cycle_type pc_mg_levels pc_hypre_type pc_asm_overlap pc_sor_its pc_jacobi_type
    mat_mumps_icntl_4 mat_mumps_icntl_7 mat_mumps_icntl_14 mat_mumps_icntl_22 mat_mumps_icntl_23
    mat_mumps_cntl_1 mat_mumps_cntl_3 mg_levels_ksp_type mg_levels_ksp_max_it mg_levels_pc_type
    mg_coarse_pc_type mg_coarse_ksp_type
    ts_type ts_monitor ts_adapt_type ts_adapt_monitor
    ts_adapt_dt_min ts_adapt_dt_max ts_adapt_clip ts_adapt_safety ts_rtol ts_atol ts_rk_type
    ts_alpha_radius ts_max_reject
    eps_ncv eps_nev eps_mpd eps_tol eps_max_it eps_type eps_monitor eps_view st_type
    """
KINDS = ("SNES", "KSP", "PC", "TS")  # whose types petsc4py names


class SolverOptions:
    """The options of one problem: in PETSc's database as a context, while the problem works.

    PETSc reads some of them late, as those of the levels of multigrid, so they stay until a
    solution ends; then they are taken out again, since the database has room for 512 in all.
    What the command line says, or the user set in ``PETSc.Options``, goes before them and is
    left alone. A problem that is solved within another one has the database for itself.

    Parameters
    ----------
    prefix : of the full names.
    values : the user's for this problem, without prefix; None stands for an option without value.
    kinds : beginnings of those of the command line that are this problem's without a prefix.

    Attributes
    ----------
    warned : whether those that nobody used have been told of, once and for all.
    idle : beginnings of options that PETSc reads and that do nothing as things are.
    late : whether PETSc may read some while the problem works, not only when solvers are made.
    """

    def __init__(
        self, prefix: str, values: Mapping[str, Option] | None, kinds: tuple[str, ...] = SOLVER
    ) -> None:
        prefix_given: object = prefix
        if not isinstance(prefix_given, str) or not re.fullmatch(
            r"([A-Za-z_]\w*)?", prefix, re.ASCII
        ):
            raise ParameterError(
                f'prefix={prefix!r}: give letters, digits and _, not a digit first, such as "arm_"',
                asked="prefix",
                given=prefix,
            )
        self.prefix, self.kinds = prefix, kinds
        self.values = {n.removeprefix("-"): value for n, value in (values or {}).items()}
        self._wanted: dict[str, Option] = {}
        self._read_names: set[str] = set()  # names that PETSc has read
        self.warned, self.late = False, True
        self._uses: Callable[[str], bool] = lambda name: True
        self.idle: tuple[str, ...] = ()

    def __enter__(self) -> None:
        if _working:
            _working[-1]._remember()
        _working.append(self)
        if self.late or _ours or not self.warned:
            _insert(self._wanted)

    def __exit__(self, *error: object) -> None:
        if not self.warned:
            self._remember()
        _working.pop()
        if _working or _ours:
            _insert(_working[-1]._wanted if _working else {})

    def _remember(self) -> None:
        """Note what PETSc has read: the database forgets it with the option."""
        self._read_names.update(name for name in _ours if is_used(name))

    def offer(self, defaults: Mapping[str, Option]) -> dict[str, str]:
        """Put given options and defaults into the database where it has none; return what holds.

        Within the context.

        Parameters
        ----------
        defaults : name without prefix -> value, for what is not given.
        """
        self._wanted = {self.prefix + n: v for n, v in {**defaults, **self.values}.items()}
        _insert(self._wanted)
        return {n.removeprefix(self.prefix): v for n, v in self._present().items()}

    def choice(self, name: str) -> str | None:
        """Return an option that symancf reads itself: of the command line, else given."""
        full = self.prefix + name
        _read.add(full)
        present = PETSc.Options().getAll()
        if full in present and (full not in _ours or (present[full] or "") != _ours[full]):
            return str(present[full] or "")
        value = self.values.get(name)
        return None if value is None else str(value)

    def chosen(self, *beginnings: str) -> dict[str, str]:
        """Return what the user has given, of options that begin so, without prefix.

        Within the context.
        """
        start, own = len(self.prefix), {self.prefix + name for name in self.values}
        return {
            name[start:]: value
            for name, value in self._present().items()
            if name[start:].startswith(beginnings) and (name not in _ours or name in own)
        }

    def having(self, starts: tuple[str, ...]) -> bool:
        """Tell whether there are options, given or of the command line, that begin so."""
        full = [n for n in PETSc.Options().getAll() if n.startswith(self.prefix)]
        names = [*self.values, *(name.removeprefix(self.prefix) for name in full)]
        return any(name.startswith(starts) for name in names)

    def refuse(self, who: str, uses: Callable[[str], bool]) -> None:
        """Refuse options that this problem was given and will not use, as PETSc may read them.

        Those of the command line may be another problem's: of them `warn_unused` tells.

        Parameters
        ----------
        who : the problem, as messages call it.
        uses : of names without prefix.

        Raises
        ------
        ParameterError : names the option, and the nearest that would be used.
        """
        self._uses = uses
        for name in self.values:
            if name.startswith((*SOLVER, *SLEPC)) and not uses(name):
                used = [name_known for name_known in NAMES_FOR_HINTS.split() if uses(name_known)]
                kind = name[: name.find("_") + 1]
                hint = closest(
                    name, [name_known for name_known in used if name_known.startswith(kind)] or used
                )
                raise ParameterError(
                    f"{who} does not use the option {name!r}.{hint}",
                    asked=name,
                    given=self.values[name],
                    possible=used,
                )

    def _works(self, full: str) -> bool:
        """Tell whether an option that PETSc has read makes a difference."""
        name = full.removeprefix(self.prefix)
        if not name.startswith((*SOLVER, *SLEPC)):  # of symancf
            return True
        return self._uses(name) and not name.startswith(self.idle)

    def warn_unused(self, comm: MPI.Comm) -> None:
        """Warn, on rank 0, of options, given or the user's, that nobody used."""
        self.warned = True
        present = self._present()
        ours = self._wanted.keys() - {self.prefix + name for name in self.values}
        unused = [name for name in present if name not in ours and not self._serves(name)]
        if unused and comm.rank == 0:
            possible_names = {name for name in present if self._serves(name)} | self._possible()
            for name in sorted(unused):
                hint = closest(name, possible_names)
                warnings.warn(f"PETSc did not use the option -{name}.{hint}", stacklevel=5)

    def _serves(self, full: str) -> bool:
        """Tell whether PETSc has read an option, and it makes a difference."""
        return (full in self._read_names or is_used(full)) and self._works(full)

    def _possible(self) -> set[str]:
        """Return options that PETSc has read or may read and that make a difference."""
        own = {name for name in _read if name.startswith(self.prefix or self.kinds)}
        names = own | {self.prefix + name for name in NAMES_FOR_HINTS.split()}
        return {name for name in names if self._works(name)}

    def _present(self) -> dict[str, str]:
        """Return the options of this problem in the database, by their full names."""
        present = PETSc.Options().getAll()
        start = self.prefix or self.kinds
        return {n: v or "" for n, v in present.items() if n.startswith(start)}


def _insert(options: Mapping[str, Option]) -> None:
    """Put options into the database, where it has none, in the place of those of problems before.

    What the user has changed of these stays.
    """
    database = PETSc.Options()
    present = {name: value or "" for name, value in database.getAll().items()}
    unchanged = [name for name, value in _ours.items() if present.get(name) == value]
    for name in unchanged:
        database.delValue(name)
        del present[name]
    new = {n: v for n, v in options.items() if n not in present}
    for name, value in new.items():
        text = "" if value is None else str(value).lower() if isinstance(value, bool) else value
        database.setValue(name, text)
    _ours.clear()
    if new:
        database_options = database.getAll()
        _ours.update({name: database_options[name] or "" for name in new})


def whole_number(name: str, default: int) -> int:
    """Return an option of no problem's, a whole number from 0 on, of the command line.

    Raises
    ------
    ParameterError : it is none.
    """
    _read.add(name)
    text = PETSc.Options().getAll().get(name, str(default)) or ""
    if not text.isdecimal():
        raise ParameterError(
            f"-{name} {text}: give a whole number from 0 on", asked=name, given=text
        )
    return int(text)


def is_used(name: str) -> bool:
    """Tell whether PETSc or this package has read an option of this name."""
    if name in _read:
        return True
    flag = ctypes.c_int(0)
    text = ctypes.c_char_p(name.encode())
    failed = functions.PetscOptionsUsed(None, text, ctypes.byref(flag))
    return bool(failed) or bool(flag.value)


def complaint(error: PETSc.Error) -> str:
    """Return what a PETSc error says, without the calls that led there and the ranks."""
    lines = _lines(error)
    lines_of_error = [line for line in lines[1:] if "() at " not in line]
    if unknown := _unknown(lines_of_error):  # whatever PETSc says besides
        option, value, names = unknown
        return f"there is no -{option} {value}.{closest(value, names)}"
    return "; ".join(lines_of_error) or lines[0]


def _lines(error: PETSc.Error) -> list[str]:
    return [line.split("] ", 1)[-1] for line in str(error).splitlines()]


def _unknown(lines: Iterable[str]) -> tuple[str, str, list[str]] | None:
    """Return an option, its value and the possible ones, if PETSc says that there is no such."""
    match = re.search(r"Unable to find requested (\w+) (?:type )?(\w+)", " ".join(lines))
    if not match or match[1] not in KINDS:
        return None
    kinds = vars(getattr(PETSc, match[1]).Type)
    names = [value for name, value in kinds.items() if name.isupper()]
    return f"{match[1].lower()}_type", match[2], names


def take(what: PETSc.Object) -> None:
    """Let an object of PETSc take the options that are in force.

    Raises
    ------
    SymancfError : it refuses one.
    """
    try:
        what.setFromOptions()
    except PETSc.Error as error:
        text = f"PETSc refuses an option of this problem: {complaint(error)}"
        asked, given, possible = _unknown(_lines(error)) or ("options", None, [])
        raise SymancfError(text, asked=asked, given=given, possible=possible) from error
