# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of symancf: every one says what was asked, given and possible.

All derive from `SymancfError` and carry their data as attributes, so that a program can react
without reading the text, and a test need not compare sentences.
"""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class SymancfError(Exception):
    """Base class of everything that symancf raises on purpose.

    Messages name objects without their addresses, which differ from rank to rank.

    Attributes
    ----------
    asked : the name of what the error is about: an argument, a quantity, an option, a part of a
        file. ``""`` where there is none.
    given : the value that was given for it: None, a number, a text, or a tuple of them; anything
        else as its ``repr``, so that an error keeps no model alive and travels between ranks.
    possible : the names or values that are possible, in the order of the message.

    Examples
    --------
    >>> error = SymancfError("rho = -1: it must be positive", asked="rho", given=-1.0)
    >>> error.asked, error.given, error.possible
    ('rho', -1.0, ())
    """

    def __init__(
        self,
        message: object = "",
        *,
        asked: str = "",
        given: object = None,
        possible: Iterable[object] = (),
    ) -> None:
        super().__init__(_without_addresses(message))
        self.asked = asked
        self.given = _as_data(given)
        self.possible = tuple(_as_data(p) for p in possible)


def _without_addresses(text: object) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", str(text))


MAX_GIVEN_SIZE = 16  # numbers of an array that an error carries as they are; of others their `repr`


def _as_data(value: object) -> object:
    """Return plain Python data, with anything else as its ``repr``."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.size <= MAX_GIVEN_SIZE:
        value = value.tolist()
    if value is None or type(value) in (bool, int, float, complex, str):
        return value
    if isinstance(value, list | tuple):
        return tuple(_as_data(v) for v in value)
    return _without_addresses(repr(value))


def argument(what: str) -> str:
    """Return the argument that words as these are about.

    Examples
    --------
    >>> [argument(w) for w in ("Layers: axis", "force(distribute=...)", "the size of a box")]
    ['axis', 'distribute', 'size']
    >>> [argument(w) for w in ("momentum(system)", "rotating frame, omega")]
    ['system', 'omega']
    >>> argument("a signed distance")  # no name: all the words
    'a signed distance'
    """
    last = what.rsplit(": ", 1)[-1]
    forms = r"\((\w+)(?:=[^()]*)?\)$", r", (\w+)$", r"^(?:the )?(\w+) of "
    match = next(filter(None, (re.search(form, last) for form in forms)), None)
    return match[1] if match else last


class MeshError(SymancfError):
    """A mesh, region, cell or node is missing or unusable.

    Attributes
    ----------
    path : the mesh file, if there is one.
    cells : numbers of the offending cells (as in the mesh file), if that is the trouble.
    """

    def __init__(
        self, message: str, *, path: str | None = None, cells: Iterable[int] = (), **data: Any
    ) -> None:
        super().__init__(message, **data)
        self.path = path
        self.cells = tuple(cells)


class KinematicsError(SymancfError):
    """A user's function asks for something that is not offered, or returns what is not possible."""


class ParameterError(SymancfError):
    """A parameter is missing, misspelt or has an impossible value."""


class CompileError(SymancfError):
    """A kernel could not be generated, compiled, cached or loaded.

    Attributes
    ----------
    command : the compiler's command line, if it came that far.
    output : what the compiler printed.
    """

    def __init__(self, message: str, *, command: str = "", output: str = "", **data: Any) -> None:
        super().__init__(message, **data)
        self.command = command
        self.output = output


class Cause(NamedTuple):
    """Why a solution may have failed.

    Attributes
    ----------
    kind : in a word or two, e.g. ``"limit point"``.
    sentence : what was found, in words.
    line : the line of Python that may help.
    """

    kind: str
    sentence: str
    line: str


class ConvergenceError(SymancfError):
    """A nonlinear or linear solution did not converge.

    Attributes
    ----------
    reason : PETSc's reason, the innermost one that is known, e.g. ``"DIVERGED_LINE_SEARCH"``.
    iteration : the iteration at which the solver gave up.
    time : the (pseudo-)time of the step that failed.
    causes : `Cause` that are likely, the likeliest first, at most three.
    """

    def __init__(
        self,
        message: str = "",
        *,
        reason: str = "",
        iteration: int = 0,
        time: float | None = None,
        causes: Iterable[Cause] = (),
        **data: Any,
    ) -> None:
        self.causes = tuple(causes)
        at = "" if time is None else f" at t = {time:g}"
        text = message or f"no convergence{at}: {reason} in iteration {iteration}"
        text += "; likely causes:" if self.causes else ""
        for k, cause in enumerate(self.causes, 1):
            text += f"\n  {k}. {cause.sentence}\n         {cause.line}"
        super().__init__(text, **data)
        self.reason = reason
        self.iteration = iteration
        self.time = time


class ConstraintError(SymancfError):
    """Constraints contradict one another, or a body is left free where it must not be.

    Attributes
    ----------
    names : the constraints or bodies concerned.
    """

    def __init__(self, message: str, *, names: Iterable[str] = (), **data: Any) -> None:
        super().__init__(message, **data)
        self.names = tuple(names)


class CheckpointError(SymancfError):
    """A checkpoint is missing, damaged, or that of another system.

    Attributes
    ----------
    path : the file.
    differences : in what its system differs from the present one.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        differences: Iterable[str] = (),
        **data: Any,
    ) -> None:
        super().__init__(message, **data)
        self.path = path
        self.differences = tuple(differences)


class Suspended(SystemExit):
    """A run has saved its state and ends, because a signal asked for it; raised on every rank.

    It ends the script with the exit status 75 (``EX_TEMPFAIL`` of sysexits.h: try again). The same
    script, started again, continues.

    Attributes
    ----------
    path : the checkpoint.
    """

    def __init__(self, path: str) -> None:
        super().__init__(75)
        self.path = path

    def __reduce__(self) -> tuple[type[Suspended], tuple[str]]:
        return Suspended, (self.path,)


def in_words(error: Exception) -> str:
    """Return what a function of the user or SymPy raised, in words, for a message."""
    if isinstance(error, RecursionError):
        return (
            "its expressions are nested deeper than SymPy can follow. Write some dozens of levels "
            "at most: a closed form, a polynomial or a fit in the place of a long loop or recursion"
        )
    text = f"{type(error).__name__}: {error}"
    return text + next((remedy for words, remedy in SYMBOLIC.items() if words in text), "")


AFTER_STAR = "(A parameter is written after '*' in the function's arguments.)"
SYMBOLIC = {  # what NumPy, math and Python's "if" say of symbols, and what is meant
    "loop of ufunc": ". It is called with symbols, which NumPy does not take: write sympy.exp, "
    "sympy.sqrt, ... instead of np.exp, np.sqrt",
    "Cannot convert expression to float": ". It is called with symbols, which are no numbers: "
    "write sympy.exp, sympy.sin, ... instead of math.exp, math.sin, and leave float() out",
    "truth value of Relational": ". It is called with symbols, of which 'if', min(), np.clip and "
    "the like cannot tell the size: write sympy.Min, sympy.Max, sympy.Abs or "
    "sympy.Piecewise((value, condition), ..., (else, True))",
}


def unknown_names(module: str, names: Iterable[str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module: names that are none get a hint."""
    possible = tuple(names)

    def __getattr__(name: str) -> Any:
        hint = "" if name.startswith("_") else closest(name, possible)
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint and '.' + hint}")

    return __getattr__


_PART = re.compile(r"(rigidity|inertia|pressure|lambda):(.*)", re.DOTALL)


def outside() -> int:
    """Return the level of the first caller that is not in this package, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(_PACKAGE)
        or frame.f_code.co_filename.endswith("contextlib.py")
    ):
        frame, level = frame.f_back, level + 1
    return level


_PACKAGE = str(Path(__file__).parent)


class OwnAttributes:
    """An object whose attributes its own methods set; programs set those with a setter alone.

    Others have been taken up when it was made: a new value, or a misspelt name, would change
    nothing.
    """

    _settable: ClassVar[tuple[str, ...]] = ()  # attributes without setter that may be set

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            """Set an attribute.

            Raises
            ------
            ParameterError : a program sets one that nothing follows.
            """
            if not name.startswith("_") and not getattr(
                getattr(type(self), name, None), "fset", None
            ):
                caller = sys._getframe(1)
                own = caller.f_code.co_filename.startswith(_PACKAGE) or name in self._settable
                if not own and caller.f_locals.get("self") is not self:
                    raise _not_set(self, name, value)
            object.__setattr__(self, name, value)


def _not_set(of: OwnAttributes, name: str, value: object) -> ParameterError:
    """Return the error of an attribute that nothing would follow."""
    kind = type(of)
    possible = [n for n in dir(kind) if getattr(getattr(kind, n, None), "fset", None)]
    possible += of._settable
    known = name in vars(of) or hasattr(kind, name)
    why = "is fixed once it is made" if known else "is no attribute of it"
    can = f"set {', '.join(possible)}" if possible else "give what it has as arguments"
    return ParameterError(
        f"{kind.__name__}.{name} = {_as_data(value)!r} would change nothing: {name!r} {why}; "
        f"{can}.{closest(name, possible)}",
        asked=name,
        given=value,
        possible=possible,
    )


def owner(name: str) -> str:
    """Return the name of the body or term that a kernel or a kind of unknowns belongs to."""
    part = _PART.fullmatch(name)
    return owner(part[2]) if part else re.sub(r" \((curved|directions)\)$", "", name)


def listed(names: Iterable[str], most: int = 4) -> str:
    """Return names of bodies and terms for a message: each once, terms first, the first few."""

    def words(name: str) -> str:
        part = _PART.fullmatch(name)
        return f"{part[1]} of {owner(name)}" if part and part[1] != "lambda" else owner(name)

    every = [
        repr(name)
        for name in dict.fromkeys(map(words, sorted(names, key=lambda n: bool(_PART.match(n)))))
    ]
    if len(every) <= most + 1:
        return " and ".join(every)
    return f"{', '.join(every[:most])} and {len(every) - most} more"


def closest(name: object, possible: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest of the possible names, else ``""``."""
    nearest = closest_name(name, possible)
    return f" Did you mean {nearest!r}?" if nearest else ""


def closest_name(name: object, possible: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the closest of the possible names, small or capital letters alike, else ``""``."""
    if not isinstance(name, str):
        return ""
    by_lower = {p.lower(): p for p in possible}
    match = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=cutoff)
    return by_lower[match[0]] if match else ""
