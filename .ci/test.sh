#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# All checks; the first stage that fails ends the run and is named.
#
#   .ci/test.sh [STAGE...]     names of stages, default all of them
#
# What one process does leaves cores idle: the stages `beside` run beside the others. What they say
# is shown as a whole, after these or as soon as one of them fails.
#
# SYMANCF_TEST_WORKERS   tests at a time (but for those on 3 ranks), default one per core, at most 4
set -uo pipefail
cd "$(dirname "$0")/.."

bin=${SYMANCF_TEST_BIN:-$PWD/.venv/bin} # another one: .ci/petsc.sh
export PATH=$bin:$PATH PYTHONPATH=$PWD:$PWD/codegen
unset PYTHONDONTWRITEBYTECODE # a thousand processes start: one compiles SymPy, the others read it
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1

cores=$(env -u OMP_NUM_THREADS nproc) # nproc itself obeys OMP_NUM_THREADS
workers=${SYMANCF_TEST_WORKERS:-$((cores < 4 ? cores : 4))}
# The tests' kernel cache: empty at the start, so that they never rest on an old kernel.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/symancf-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export SYMANCF_CACHE=$scratch/cache
export SYMANCF_CC=$PWD/.ci/cc # no optimization of large kernels, but in `demos` and `wheel`

pytest=(python -m pytest -q -p no:cacheprovider --timeout=600)
own=(parallel demos packaging) # folders of tests that have a stage of their own

lint() { ruff check .; }
format() { ruff format --check .; }
types() { mypy; }
layers() { lint-imports --no-cache; }
serial() { # everything that one process can show
    "${pytest[@]}" -n "$workers" --dist worksteal "${own[@]/#/--ignore=tests/}" tests
}
parallel() { # tests that start 1 to 4 ranks themselves
    # by files, since tests of one file read the same runs
    "${pytest[@]}" -n "$workers" --dist loadfile --no-loadscope-reorder tests/parallel
}
collective() { # those of `serial` that depend on ranks, on 3; rank 0 is shown, others when they fail
    timeout --foreground --kill-after=10 1500 mpirun -n 3 bash -c '
        log='"$scratch"'/rank$OMPI_COMM_WORLD_RANK.log
        if [ "$OMPI_COMM_WORLD_RANK" != 0 ]; then exec >"$log" 2>&1; fi
        '"${pytest[*]} ${own[*]/#/--ignore=tests/}"' --color=no -m collective tests
        status=$?
        exit $status'
    local status=$?
    [ $status = 0 ] || tail -n 40 "$scratch"/rank*.log
    return $status
}
demos() { env -u SYMANCF_CC "${pytest[@]}" -n "$workers" --dist load --maxschedchunk 1 tests/demos; }
wheel() { env -u SYMANCF_CC "${pytest[@]}" tests/packaging; }
docs() { # all pages read and their links followed, none written, no demo run: `make docs` does
    if ! python -c 'import sphinx, myst_nb, furo' 2>/dev/null; then
        printf 'SKIPPED: no Sphinx in %s; `make docs` installs it\n' "$bin"
        return
    fi
    python -m sphinx -q -W --keep-going -b dummy -D nb_execution_mode=off -d "$scratch/doctrees" docs "$scratch/docs"
}

stages=(lint format types layers serial parallel collective demos wheel docs)
beside=(lint format types layers wheel docs)
declare -A about=(
    [lint]="ruff check" [format]="ruff format" [types]="mypy --strict" [layers]="import-linter"
    [serial]="tests on 1 rank, $workers processes"
    [parallel]="tests that start 1 to 4 ranks, $workers at a time"
    [collective]="tests on 3 ranks" [demos]="every demo runs, $workers at a time"
    [wheel]="wheel built, imported outside the checkout"
    [docs]="pages and their links, without their pictures"
)
if [ $# -gt 0 ]; then stages=("$@"); fi
first=() second=()
for stage in "${stages[@]}"; do
    if [ -z "${about[$stage]:-}" ]; then
        printf 'There is no stage %s; there are: %s\n' "$stage" "${!about[*]}" >&2
        exit 2
    elif [[ " ${beside[*]} " == *" $stage "* ]]; then
        second+=("$stage")
    else
        first+=("$stage")
    fi
done
if [ ${#first[@]} = 0 ]; then first=("${second[@]}") second=(); fi

lane() { # lane STAGE...: one after the other; the first that fails ends it
    local stage start ended=
    trap 'ended=1' INT
    for stage in "$@"; do
        printf '\n== %s: %s\n' "$stage" "${about[$stage]}"
        start=$SECONDS
        if ! "$stage"; then
            [ -n "$ended" ] || printf \
                '\n== make test FAILED in stage %s after %d s; repeat it with: .ci/test.sh %s\n' \
                "$stage" $SECONDS "$stage" >&2
            return 1
        fi
        printf '== %s passed in %d s\n' "$stage" $((SECONDS - start))
    done
}

stop() { # interrupt what still runs, as Ctrl-C does, and wait for its end
    trap '' INT TERM
    local group left
    for group in "${lanes[@]}"; do kill -INT -- "-$group" 2>/dev/null; done
    for ((left = 100; left > 0; left--)); do
        [ -n "$(jobs -rp)" ] || break
        sleep 0.1
    done
    for group in "${lanes[@]}"; do kill -KILL -- "-$group" 2>/dev/null; done
}

set -m # a lane is a group of processes
lanes=() log=$scratch/second.log
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM
lane "${first[@]}" </dev/null &
lanes+=($!)
if [ ${#second[@]} -gt 0 ]; then
    lane "${second[@]}" >"$log" 2>&1 </dev/null &
    lanes+=($!)
fi

wait -n -p ended || { # the other one has no matter any more
    stop
    [ "$ended" = "${lanes[0]}" ] || cat "$log"
    exit 1
}
if [ ${#second[@]} -gt 0 ]; then
    if [ "$ended" = "${lanes[0]}" ]; then
        tail -n +1 -f --pid="${lanes[1]}" "$log" &
        wait $!
        wait "${lanes[1]}" || exit 1
    else
        wait "${lanes[0]}" || exit 1
        cat "$log"
    fi
fi
printf '\n== make test passed: %d stages in %d s\n' ${#stages[@]} $SECONDS
