#!/bin/bash
# A line of a file for each run of an array: sbatch --array=1-40%8 array.sh script.py values.txt
# Line 7, "1e6 0.3", makes `script.py 1e6 0.3` in the folder run-7, one node for eight runs.
#SBATCH --job-name=symancf-array --nodes=1 --ntasks=4 --cpus-per-task=1 --time=04:00:00
#SBATCH --requeue --signal=B:USR1@300 --open-mode=append --output=%x-%A-%a.out

script=$(realpath "$1")
read -r -a arguments < <(sed -n "${SLURM_ARRAY_TASK_ID}p" "$2")
if [ ${#arguments[@]} -eq 0 ]; then
    echo "$0: $2 has no line $SLURM_ARRAY_TASK_ID" >&2
    exit 1
fi
PYTHON=$(realpath -s "${PYTHON:-.venv/bin/python}")
here=$(cd "$(dirname "${JOB:-job.sh}")" && pwd) # Slurm runs a copy of this file elsewhere
mkdir -p "run-$SLURM_ARRAY_TASK_ID"
cd "run-$SLURM_ARRAY_TASK_ID" || exit 1
export PYTHON SYMANCF_CACHE=${SYMANCF_CACHE:-${TMPDIR:-/tmp}/symancf-$USER}
exec "$here/$(basename "${JOB:-job.sh}")" "$script" "${arguments[@]}"
