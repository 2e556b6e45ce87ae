#!/bin/bash
# Where compute nodes have no compiler: fill the cache on a node of their kind that has one.
# sbatch kernels.sh script.py --coarse; kernels do not depend on mesh, parameters or ranks.
#SBATCH --job-name=symancf-kernels --nodes=1 --ntasks=1 --time=00:30:00

export OMP_NUM_THREADS=1
export SYMANCF_CACHE=${SYMANCF_CACHE:-$HOME/.cache/symancf} # seen by all nodes
exec "${PYTHON:-.venv/bin/python}" "$@"
