#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Bring a machine to the point where symancf runs: system packages, .venv, Python packages.
#
#   .ci/setup.sh demo|dev|docs        (called by the Makefile, which keeps a stamp)
#
# System packages come from apt, only those whose purpose is not fulfilled yet, and only as
# root or with a sudo that asks no password. Otherwise the script prints what to install and
# goes on with what is there. Variables:
#   PYTHON=...            the interpreter that .venv is made on, default /usr/bin/python3
#   SYMANCF_NO_APT=1      never install system packages
set -euo pipefail
cd "$(dirname "$0")/.."

extra=${1:-demo}
venv=.venv

say() { printf 'setup, %3d s: %s\n' $((SECONDS - start)) "$*"; }
start=$SECONDS
stop() { printf 'setup: %s\n' "$@" >&2; exit 1; }

# ------------------------------------------------------------------ the interpreter
imports() { # imports PYTHON MODULE... : can PYTHON import all of them?
    local python=$1 module
    shift
    for module; do "$python" -c "import $module" >/dev/null 2>&1 || return 1; done
}

# Debian finds petsc4py through /usr/lib/petsc, a link that comes with libpetsc-real-dev and
# 80 more packages; .venv gets the folder behind that link instead.
debian_petsc4py() {
    ls -d /usr/lib/petscdir/petsc3*/*-real/lib/python3/dist-packages 2>/dev/null | sort -V | tail -1
}

has_petsc4py() { # has_petsc4py PYTHON
    imports "$1" petsc4py && return
    [ "$(readlink -f "$1")" = "$(readlink -f /usr/bin/python3)" ] && [ -n "$(debian_petsc4py)" ]
}

choose_python() {
    if [ -n "${PYTHON:-}" ]; then
        python=$PYTHON
        return
    fi
    python=/usr/bin/python3
    [ -x "$python" ] || python=$(command -v python3 || true)
    # Without apt an interpreter that has petsc4py is worth more than the system's.
    if [ -n "$python" ] && ! has_petsc4py "$python" && ! may_install; then
        local other
        other=$(command -v python3 || true)
        if [ -n "$other" ] && imports "$other" petsc4py; then python=$other; fi
    fi
}

# ------------------------------------------------------------------ system packages
may_install() {
    [ -z "${SYMANCF_NO_APT:-}" ] && command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

library() { # library NAME : does the dynamic loader know it?
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -F "$1" >/dev/null
}

missing_packages() { # one Debian package per purpose that is not fulfilled
    if [ -z "$python" ]; then echo python3; fi
    if [ -z "$python" ] || ! imports "$python" venv ensurepip; then echo python3-venv; fi
    if [ -z "$python" ] || ! has_petsc4py "$python"; then echo python3-petsc4py; fi
    if [ -z "$python" ] || ! imports "$python" mpi4py; then echo python3-mpi4py; fi
    if ! command -v mpirun >/dev/null; then echo openmpi-bin; fi
    if ! command -v cc >/dev/null; then echo gcc; fi
    if ! [ -e /usr/include/math.h ]; then echo libc6-dev; fi
    # PETSc takes Debian's reference BLAS if nothing else is there: 5 to 20 times slower.
    if ! library libopenblas; then echo libopenblas0-pthread; fi
    if ! library libGL.so.1; then echo libgl1; fi
    if ! library libEGL.so.1; then echo libegl1; fi
    if [ "$extra" = docs ] && ! library libGLU.so.1; then echo libglu1-mesa; fi # Gmsh, of a tutorial
    if [ "$extra" = docs ] && ! library libXft.so.2; then echo libxft2; fi
    if [ "$extra" = docs ] && ! library libXinerama.so.1; then echo libxinerama1; fi
    if [ "$extra" = docs ] && ! command -v chromium >/dev/null; then echo chromium; fi # asks the search
    if ! library libXrender.so.1; then echo libxrender1; fi
    if ! library libXcursor.so.1; then echo libxcursor1; fi
}

install_packages() {
    local packages=("$@") sudo=()
    if ! may_install; then
        say "these packages are missing and cannot be installed from here:"
        say "    sudo apt-get install ${packages[*]}"
        say "going on with what is there."
        return
    fi
    [ "$(id -u)" = 0 ] || sudo=(sudo -n)
    say "installing with apt: ${packages[*]}"
    export DEBIAN_FRONTEND=noninteractive
    "${sudo[@]}" apt-get update -qq </dev/null
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends "${packages[@]}" </dev/null >apt.log 2>&1 ||
        { tail -20 apt.log >&2; rm -f apt.log; stop "apt-get install failed"; }
    rm -f apt.log
}

# ------------------------------------------------------------------ Python packages
make_venv() {
    if [ -x $venv/bin/python ] && imports $venv/bin/python pip; then return; fi
    say "making $venv on $python"
    if imports "$python" ensurepip; then
        "$python" -m venv --system-site-packages $venv
    elif imports "$python" pip; then # the system's pip serves the venv as well
        "$python" -m venv --system-site-packages --without-pip $venv
    else
        stop "$python has neither ensurepip nor pip: apt-get install python3-venv"
    fi
}

reach_petsc4py() {
    if ! imports $venv/bin/python petsc4py; then
        debian_petsc4py >"$($venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/debian-petsc4py.pth"
    fi
}

write_constraints() { # keep pip from replacing or rebuilding what belongs to the MPI stack
    $venv/bin/python - <<'PYTHON' >$venv/constraints.txt
from importlib.metadata import PackageNotFoundError, version

for name in ("petsc4py", "mpi4py"):
    try:
        print(f"{name}=={version(name)}")
    except PackageNotFoundError:
        pass
try:
    petsc = tuple(int(part) for part in version("petsc4py").split(".")[:2])
except (PackageNotFoundError, ValueError):
    petsc = (0, 0)
if petsc < (3, 21):  # compiled against NumPy 1, and NumPy 2 cannot load it
    print("numpy<2")
PYTHON
}

install_python_packages() {
    export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
    say "installing Python packages [$extra] into $venv"
    # --no-compile: Python compiles the few modules that are imported, when they are.
    $venv/bin/python -m pip install -qq --progress-bar off --no-compile --prefer-binary \
        --only-binary petsc,petsc4py,mpi4py,numpy,scipy,h5py,vtk \
        --constraint $venv/constraints.txt --editable ".[$extra]" </dev/null
}

install_slepc() { # optional: modes and buckling on several ranks; Debian's goes with its PETSc
    if [ -z "$(debian_petsc4py)" ] || ! may_install; then return; fi
    ls -d /usr/lib/slepcdir/slepc3*/*-real/lib/python3 >/dev/null 2>&1 && return
    (install_packages python3-slepc4py) || say "going on without SLEPc, which is optional"
}

choose_python
mapfile -t packages < <(missing_packages)
if [ ${#packages[@]} -gt 0 ]; then
    install_packages "${packages[@]}"
    choose_python
fi
install_slepc
[ -n "$python" ] || stop "no Python 3: apt-get install python3 python3-venv"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    stop "$python is older than 3.11; name another one: make PYTHON=/path/to/python3 ..."
{ has_petsc4py "$python" && imports "$python" mpi4py; } ||
    stop "$python cannot import petsc4py and mpi4py, which pip would have to build with PETSc." \
        "Install them (Debian: sudo apt-get install python3-petsc4py python3-mpi4py)" \
        "or name an interpreter that has them: make PYTHON=/path/to/python3 ..."
make_venv
reach_petsc4py
write_constraints
install_python_packages
$venv/bin/python -c 'from petsc4py import PETSc; import numpy, scipy, sympy' ||
    stop "petsc4py does not work with the packages in $venv; see .venv/bin/symancf doctor"
say "ready"
