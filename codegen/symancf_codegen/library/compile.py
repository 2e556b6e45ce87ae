# SPDX-License-Identifier: BSD-3-Clause
"""Stage 8, compile: C text to a shared library, through the cache."""

from __future__ import annotations

import _ctypes
import contextlib
import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from symancf_codegen.errors import CodegenError
from symancf_codegen.library import cache
from symancf_codegen.progress import telling

#: On x86 gcc would split vectors in two on processors that it thinks prefer that.
_WIDE = ("-mprefer-vector-width=512",) if platform.machine() in ("x86_64", "AMD64") else ()

FLAGS = (
    "-O3",
    "-march=native",
    *_WIDE,
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fno-tree-slp-vectorize",
    "-fschedule-insns",
    "-fsched-pressure",
    "-fopenmp-simd",
)
HEADERS = Path(__file__).parent


def compiler_command(compiler: str | None = None) -> tuple[str, ...]:
    """Return the C compiler as a command: `compiler`, $SYMANCF_CC, $CC, gcc, cc or clang.

    Raises
    ------
    CompileError : if there is none.
    """
    wanted = compiler or os.environ.get("SYMANCF_CC") or os.environ.get("CC")
    if wanted:
        words = shlex.split(wanted)
        program = shutil.which(words[0]) if words else None
        if program:
            return (program, *words[1:])
        raise CodegenError(
            f"the C compiler {wanted!r} (from SYMANCF_CC or CC) was not found; "
            "unset the variable or set it to gcc",
            asked="SYMANCF_CC",
            given=wanted,
        )
    for name in ("gcc", "cc", "clang"):
        program = shutil.which(name)
        if program:
            return (program,)
    raise CodegenError(
        "no C compiler was found (gcc, cc or clang); install one (Debian: `apt install gcc "
        "libc6-dev`) or set the environment variable SYMANCF_CC to its path",
        asked="C compiler",
        possible=("gcc", "cc", "clang"),
    )


@functools.cache
def _identity(command: tuple[str, ...], flags: tuple[str, ...]) -> bytes:
    """Return the compiler's version and, resolved, the machine that `flags` mean."""
    machine = [f for f in flags if f.startswith("-m")]
    result = b""
    for arguments in (["--version"], [*machine, "-Q", "--help=target"]):
        try:
            done = subprocess.run(
                [*command, *arguments], capture_output=True, check=False, timeout=60
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CodegenError(
                f"the C compiler {' '.join(command)} cannot be run ({error}); install gcc or set "
                "the environment variable SYMANCF_CC",
                asked="C compiler",
                given=command[0],
            ) from error
        result += done.stdout
    return result


def library(
    name: str,
    source: str,
    flags: Sequence[str] = FLAGS,
    *,
    compiler: str | None = None,
    libraries: Sequence[str] = ("-lm",),
) -> Path:
    """Return the path of the shared library made from C text, compiling it if necessary.

    Parameters
    ----------
    name : begins the names of the files, for people.
    source : C text; it may include the headers of this folder.
    flags : compiler flags besides -shared -fPIC.
    compiler : command; see `compiler_command`.
    libraries : linker flags.

    Raises
    ------
    CompileError : no compiler, a compiler that fails (with its messages), writes no library or does
        not end within `limit`, an unusable cache.
    """
    command = compiler_command(compiler)
    words = (*flags, "-shared", "-fPIC")
    digest = hashlib.sha256()
    for part in (
        source.encode(),
        *(h.read_bytes() for h in sorted(HEADERS.glob("symancf_*.h"))),
        _identity(command, tuple(flags)),
        " ".join((*command, *words, *libraries)).encode(),
    ):
        digest.update(hashlib.sha256(part).digest())
    path = cache.folder() / cache.entry(name, digest.hexdigest(), ".so")
    if cache.read(path) is not None:
        return path
    with telling(f"compiling {name}"), cache.locked(path):
        if cache.read(path) is None:  # nobody made it in the meantime
            text = path.with_suffix(".c")
            cache.write(text, source.encode())
            cache.write(path, _build(command, words, libraries, text, source.encode()))
    return path


def _build(
    command: Sequence[str],
    words: Sequence[str],
    libraries: Sequence[str],
    text: Path,
    content: bytes,
) -> bytes:
    """Return the library made of `content`, which is in the file `text`, too."""
    folder = text.parent
    cache.sweep(folder)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as place:
            # a copy: quoted headers are looked for beside the text first, and here are none
            source, output = Path(place) / text.name, Path(place) / "kernel.so"
            source.write_bytes(content)
            last = (f"-I{HEADERS}", str(source), "-o", str(output), *libraries)
            arguments = [*command, *words, *last]
            status, text_of_compiler = _run(
                arguments, {**os.environ, "TMPDIR": place, "LC_ALL": "C"}, text
            )
            arguments = [str(text) if a == str(source) else a for a in arguments]
            text_of_compiler = text_of_compiler.replace(str(source), str(text))
            wrong = ""
            if status < 0:
                number = -status
                is_signal = number in set(signal.Signals)
                called = signal.Signals(number).name if is_signal else "unknown"
                wrong = f"was killed by signal {number} ({called}); was there too little memory?"
            elif status:
                wrong = f"failed on {text}:"
            elif not output.exists():
                wrong = f"wrote no library for {text}, and did not say why"
            if not wrong:
                wrong = _unloadable(output)
            if wrong:
                message = (
                    "\n".join(["", *text_of_compiler.strip().splitlines()[:20]])
                    if text_of_compiler.strip()
                    else ""
                )
                raise CodegenError(
                    f"the C compiler {wrong}{message}\n"
                    f"(command: {shlex.join(arguments)}; set SYMANCF_CC to use another compiler)",
                    asked="C compiler",
                    given=status,
                    command=shlex.join(arguments),
                    output=text_of_compiler,
                )
            return output.read_bytes()
    except OSError as error:
        raise cache.unusable(folder, error) from error


def limit() -> float:
    """Return the seconds that a C compiler may take: $SYMANCF_COMPILE_LIMIT, default 600.

    Raises
    ------
    CompileError : the variable is no positive number.
    """
    given = os.environ.get("SYMANCF_COMPILE_LIMIT", "")
    try:
        seconds = float(given or 600.0)
    except ValueError:
        seconds = 0.0
    if not seconds > 0.0:
        raise CodegenError(
            f"SYMANCF_COMPILE_LIMIT is {given!r}: give the seconds that a C compiler may take, or "
            "unset it",
            asked="SYMANCF_COMPILE_LIMIT",
            given=given,
        )
    return seconds


def _run(arguments: Sequence[str], environment: dict[str, str], text: Path) -> tuple[int, str]:
    """Run the compiler; return its status and what it printed. It never outlives this call."""
    most = limit()
    with subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        process_group=0,  # the compiler starts others, which have to end with it
    ) as process:
        try:
            _, output = process.communicate(timeout=most)
        except BaseException as error:  # Ctrl-C as well
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise CodegenError(
                    f"the C compiler did not end within {most:g} s on {text} (command: "
                    f"{shlex.join(arguments)}); set SYMANCF_COMPILE_LIMIT to more seconds, or "
                    "SYMANCF_CC to another compiler",
                    asked="SYMANCF_COMPILE_LIMIT",
                    given=most,
                    command=shlex.join(arguments),
                ) from None
            raise
    return process.returncode, output


def _unloadable(path: Path) -> str:
    """Return why a library cannot be loaded, or nothing."""
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        reason = str(error).replace(f"{path}: ", "")
        return f"wrote no library that this machine can load: {reason}"
    _ctypes.dlclose(loaded._handle)  # it will be loaded from its place
    return ""
