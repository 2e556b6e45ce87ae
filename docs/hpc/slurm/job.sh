#!/bin/bash
# One run that may take longer than a job: sbatch job.sh script.py [arguments]
#SBATCH --job-name=symancf --nodes=4 --ntasks-per-node=32 --cpus-per-task=1 --time=08:00:00
#SBATCH --requeue --signal=B:USR1@300 --open-mode=append --output=%x-%j.out

# Five minutes before the end Slurm sends SIGUSR1 to this script, which hands it on to all ranks.
# A script that calls solve(..., checkpoint=...) then ends with status 75, and the job begins anew;
# so does one that had the signal before it could take it (138), while it was still being loaded.
export OMP_NUM_THREADS=1
export SYMANCF_CACHE=${SYMANCF_CACHE:-${TMPDIR:-/tmp}/symancf-$USER} # of each node: made once, sent
PYTHON=${PYTHON:-.venv/bin/python}
MOST=${MOST:-100} # jobs in a row, in case one never comes further

signalled="" ranks=""
trap 'signalled=1; [ -n "$ranks" ] && kill -USR1 "$ranks" 2>/dev/null' USR1
srun "$PYTHON" "$@" &
ranks=$!
while :; do
    wait "$ranks" # the signal ends it, too: then the run is still there
    status=$?
    kill -0 "$ranks" 2>/dev/null || break
done

if [ "$status" -eq 75 ] || { [ -n "$signalled" ] && [ "$status" -eq 138 ]; }; then
    if [ "${SLURM_RESTART_COUNT:-0}" -ge "$MOST" ]; then
        echo "$0: $MOST jobs in a row have not come to the end" >&2
        exit 1
    fi
    scontrol requeue "$SLURM_JOB_ID" && exit 0
fi
exit "$status"
