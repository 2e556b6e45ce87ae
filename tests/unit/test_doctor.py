# SPDX-License-Identifier: BSD-3-Clause
"""The doctor: on this machine, and on machines with something missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from symancf.command import doctor, probe

REFERENCE_BLAS = [
    path.parent
    for path in Path("/usr/lib").glob("*/blas/libblas.so.3")
    if "openblas" not in str(path.resolve())
]


def by_topic(findings: list[doctor.Finding]) -> dict[str, doctor.Finding]:
    return {finding.topic: finding for finding in findings}


def test_this_machine_has_what_is_needed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYMANCF_CACHE", str(tmp_path / "cache"))
    assert doctor.main(as_json=True) == 0
    findings = [doctor.Finding(**entry) for entry in json.loads(capsys.readouterr().out)]
    topics = by_topic(findings)
    for topic in ("Python", "sympy", "PETSc", "PETSc packages", "BLAS", "mpirun", "C compiler"):
        assert topics[topic].level != "missing"
    assert "mumps" in topics["PETSc packages"].value
    assert all(finding.mend for finding in findings if finding.level in ("slow", "missing"))


def test_a_missing_essential_gives_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = doctor.Finding("PETSc", "not usable", "missing", "install it")
    monkeypatch.setattr(doctor, "examine", lambda: [doctor.Finding("Python", "3.11"), bad])
    assert doctor.main() == 1
    text = capsys.readouterr().out
    assert "not usable" in text
    assert "fix: install it" in text


def test_without_rich_the_report_is_plain(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    doctor.show([doctor.Finding("BLAS", "reference", "slow", "install OpenBLAS")])
    assert capsys.readouterr().out.split() == (
        ["slow", "BLAS:", "reference", "fix:", "install", "OpenBLAS"]
    )


@pytest.mark.parametrize(
    ("paths", "kind"),
    [
        (["/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0"], "reference BLAS"),
        (["/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3"], "OpenBLAS"),
        (
            [
                "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0",
                "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblasp-r0.3.21.so",
            ],
            "reference BLAS",
        ),
        (["/opt/intel/mkl/lib/libmkl_rt.so.2"], "MKL"),
        ([], "unknown BLAS"),
    ],
)
def test_the_kind_of_blas_is_read_from_paths(paths: list[str], kind: str) -> None:
    assert doctor.blas_kind(paths) == kind


def test_numpys_own_blas_does_not_count() -> None:
    maps = (
        "7f0 r-xp 0 00:1 1 /x/site-packages/numpy.libs/libopenblas64_p-r0.so\n"
        "7f1 r-xp 0 00:1 2 /usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0\n"
        "7f2 rw-p 0 00:0 0 \n"
        "7f3 r-xp 0 00:1 3 /usr/lib/x86_64-linux-gnu/libscalapack-openmpi.so.2.2.1\n"
    )
    assert probe.blas_libraries(maps) == ["/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0"]


@pytest.mark.skipif(not REFERENCE_BLAS, reason="the reference BLAS is not installed here")
def test_the_reference_blas_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """PETSc is made to load the reference BLAS, as on a Debian without OpenBLAS."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(REFERENCE_BLAS[0]))
    answer, reason = doctor.ask_petsc()
    assert not reason
    (finding,) = doctor.blas(answer)
    assert finding.level == "slow"
    assert "reference BLAS" in finding.value
    assert "libopenblas0-pthread" in finding.mend or "update-alternatives" in finding.mend


def test_a_petsc_for_another_numpy_is_explained() -> None:
    reason = "numpy.core.multiarray failed to import"
    (finding,) = doctor.petsc({}, reason)
    assert finding.level == "missing"
    assert "numpy<2" in finding.mend


def test_debians_petsc_is_found_where_its_link_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "ModuleNotFoundError: No module named 'petsc4py'"
    find = doctor.debian_petsc
    monkeypatch.setattr(doctor, "debian_petsc", lambda: find(tmp_path))
    (finding,) = doctor.petsc({}, reason)
    assert "python3-petsc4py" in finding.mend
    for name in ("petsc3.18/x86-complex", "petsc3.17/x86-real", "petsc3.18/x86-real"):
        (tmp_path / name / "lib/python3/dist-packages/petsc4py").mkdir(parents=True)
    (finding,) = doctor.petsc({}, reason)
    assert finding.level == "missing"
    assert finding.mend.endswith(f"export PETSC_DIR={tmp_path}/petsc3.18/x86-real")


def test_a_petsc_that_ends_its_process_does_not_end_the_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "petsc4py"
    package.mkdir()
    (package / "__init__.py").write_text("import os; os.abort()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    answer, reason = doctor.ask_petsc()
    assert answer == {}
    assert reason
    (finding,) = doctor.petsc(answer, reason)
    assert finding.level == "missing"
    assert "python3-petsc4py" in finding.mend


def test_missing_petsc_packages() -> None:
    findings = by_topic(list(doctor.petsc_packages({"mumps": False, "ptscotch": True})))
    assert findings["PETSc with mumps"].level == "missing"
    assert findings["PETSc with suitesparse"].level == "slow"
    assert "PETSc with ptscotch" not in findings


def test_missing_slepc_is_a_note() -> None:
    (found,) = doctor.slepc("3.18.2")
    assert (found.level, found.value) == ("ok", "3.18.2")
    (found,) = doctor.slepc("slepc4py is not installed")
    assert found.level == "note"
    assert "python3-slepc4py" in found.mend


@pytest.mark.parametrize(("value", "level"), [("1", "ok"), ("8", "slow"), (None, "ok")])
def test_threads_of_the_blas(
    monkeypatch: pytest.MonkeyPatch, value: str | None, level: str
) -> None:
    if value is None:
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OMP_NUM_THREADS", value)
    (finding,) = doctor.threads()
    assert finding.level == level


def test_no_mpirun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (finding,) = doctor.mpi({})
    assert finding.level == "missing"
    assert "openmpi-bin" in finding.mend


def test_an_mpirun_of_another_mpi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It starts two programs, each of which believes to be alone."""
    launcher = tmp_path / "mpirun"
    launcher.write_text("#!/bin/sh\necho '<1 ranks><1 ranks>'\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("OMPI_COMM_WORLD_SIZE", raising=False)
    findings = by_topic(list(doctor.mpi({"mpi4py": "4", "mpi": "MPICH 4"})))
    assert findings["mpirun"].level == "missing"
    assert "different MPIs" in findings["mpirun"].mend


@pytest.mark.skipif(os.geteuid() != 0, reason="Open MPI refuses only root")
def test_root_is_told_what_to_export(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.delenv(name, raising=False)
    findings = by_topic(list(doctor.mpi({"mpi4py": "3", "mpi": "Open MPI"})))
    assert findings["mpirun"].level == "note"
    assert "export OMPI_ALLOW_RUN_AS_ROOT=1" in findings["mpirun"].mend


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CC", "SYMANCF_CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (finding,) = doctor.compiler()
    assert finding.level == "missing"
    assert "gcc" in finding.mend


def test_a_compiler_that_fails_shows_its_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "brokencc"
    broken.write_text(
        "#!/bin/sh\necho 'fatal error: math.h: No such file or directory' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("SYMANCF_CC", str(broken))
    (finding,) = doctor.compiler()
    assert finding.level == "missing"
    assert "math.h: No such file" in finding.value


def test_a_compiler_that_refuses_flags_is_noted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    picky = tmp_path / "pickycc"
    picky.write_text(
        '#!/bin/sh\nfor a; do [ "$a" = -mprefer-vector-width=512 ] && exit 1; done\nexec cc "$@"\n'
    )
    picky.chmod(0o755)
    monkeypatch.setenv("SYMANCF_CC", str(picky))
    findings = by_topic(list(doctor.compiler()))
    assert findings["C compiler"].level == "ok"
    assert findings["C flags"].level == "note"
    assert "refused: -mprefer-vector-width=512" in findings["C flags"].value


@pytest.mark.parametrize(
    ("flags", "start"),
    [
        ({"sse2", "avx", "avx2", "fma", "avx512f"}, "AVX-512"),
        ({"sse2", "avx", "avx2", "fma"}, "AVX2"),
        ({"sse2", "avx"}, "AVX without"),
        ({"sse2"}, "SSE2"),
        ({"asimd"}, "NEON"),
        (set(), "vectors unknown"),
    ],
)
def test_vector_extensions(flags: set[str], start: str) -> None:
    assert doctor.vectors(flags).startswith(start)


def test_commands_that_hang_or_do_not_exist() -> None:
    assert doctor.run(["sleep", "20"], timeout=0.2).returncode == 124
    assert doctor.run(["/no/such/command"]).returncode == 127


def test_the_doctor_as_a_command(repository: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "symancf", "doctor"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": f"{repository}:{repository / 'codegen'}", "SYMANCF_CACHE": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "PETSc" in done.stdout
    assert "C compiler" in done.stdout
