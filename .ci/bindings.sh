#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests of the functions of JAX and PyTorch, in a virtual environment of their own, which all
# checkouts of this user share; both without support of graphics cards.
#
#   .ci/bindings.sh
#
# Variables:
#   SYMANCF_BINDINGS_VENV=...  where, default ~/.cache/symancf-bindings
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${SYMANCF_BINDINGS_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/symancf-bindings}
if ! [ -e "$venv/.ready" ]; then
    echo "making $venv"
    "$(readlink -f .venv/bin/python)" -m venv --system-site-packages "$venv"
    purelib='import sysconfig; print(sysconfig.get_path("purelib"))'
    echo "import site; site.addsitedir('$(.venv/bin/python -c "$purelib")')" \
        >"$("$venv/bin/python" -c "$purelib")/symancf-venv.pth" # what .venv has, is there, too
    export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
    "$venv/bin/python" -m pip install -qq --constraint .venv/constraints.txt jax torch==2.13.0+cpu
    touch "$venv/.ready"
fi
exec "$venv/bin/python" -m pytest tests/bindings "$@"
