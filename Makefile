# SPDX-License-Identifier: BSD-3-Clause
# make demo: install what is missing, run the silicone plate on 2 ranks. make test: everything checked.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.SUFFIXES:

DEMO ?= silicone_plate
RANKS ?= 2
LIMIT ?= 600
BIN := .venv/bin

export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export OMPI_MCA_btl_vader_single_copy_mechanism := none
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.PHONY: help demo test test-bindings campaign bench docs pictures doctor format clean distclean

help:
	@sed -n 's/^## //p' Makefile

## make demo      set up this machine, then the silicone plate on 2 ranks (DEMO=name RANKS=n)
demo: .venv/.ready-demo
	@[ -t 1 ] || export TTY_COMPATIBLE=0 COLUMNS=100   # mpirun gives a terminal to rank 0 even if there is none
	if command -v mpirun >/dev/null; then
	    timeout --kill-after=10 $(LIMIT) mpirun -n $(RANKS) $(BIN)/python -m symancf demo $(DEMO)
	else
	    echo 'mpirun was not found (Debian: apt-get install openmpi-bin): running on one rank'
	    timeout --kill-after=10 $(LIMIT) $(BIN)/python -m symancf demo $(DEMO)
	fi

## make test      lint, types, layers, all tests, 1 and 3 ranks, wheel, links of the pages
test: .venv/.ready-dev
	@.ci/test.sh

## make campaign  a thousand bad inputs, faults and odd models, round-off, sanitizers, 25 minutes of CPU (ARGS="--seed 2");
##                beside it: python -m tests.campaign.records A B compares all numbers of two commits;
##                ARGS=--constants: does a test notice ten times, or a tenth of, each tuning constant?
##                ARGS=--aids: what each aid of Newton's method is good for, by its case and in pairs
campaign: .venv/.ready-dev
	@export PYTHONPATH=$$PWD:$$PWD/codegen
	$(BIN)/python -m tests.campaign $(ARGS)
	[[ "$(ARGS)" == *--constants* ]] || $(BIN)/python -m tests.campaign.round_off
	[[ "$(ARGS)" == *--constants* ]] || $(BIN)/python -m tests.campaign.sanitize

## make test-petsc  serial and 3-rank tests on PETSc 3.26 and NumPy 2, built once in ~/.cache
test-petsc:
	@.ci/petsc.sh

## make test-bindings  models as functions of JAX and PyTorch, which it installs once in ~/.cache
test-bindings: .venv/.ready-dev
	@export PYTHONPATH=$$PWD:$$PWD/codegen
	.ci/bindings.sh

## make bench     speed of kernels and assembly on this machine (ARGS=--json, ARGS=--peers)
bench: .venv/.ready-demo
	@$(BIN)/python -m symancf bench $(ARGS)

## make docs      the site, in docs/_build/html; how-tos run, its search asked in Chromium (ARGS=quick: in docs/_build/quick, no page is run)
docs: .venv/.ready-docs
	@how="docs docs/_build/html"
	if [ "$(ARGS)" = quick ]; then how="-q -D nb_execution_mode=off -D suppress_warnings=ref.python,misc.highlighting_failure docs docs/_build/quick"; fi
	$(BIN)/python -m sphinx -W --keep-going -b html $$how
	if [ "$(ARGS)" != quick ]; then $(BIN)/python docs/_pages.py; $(BIN)/python docs/_search.py; fi

## make pictures  draw those of the site anew (ARGS="head trunk"; all: 12 minutes of CPU, and 35 for pneumatic_gripper)
pictures: .venv/.ready-docs
	@$(BIN)/python docs/_redraw.py $(ARGS)

## make doctor    what is installed, what is slow, how to fix it
doctor: .venv/.ready-demo
	@$(BIN)/python -m symancf doctor

## make format    format the sources and fix what lint can fix
format: .venv/.ready-dev
	@$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

## make clean     remove what was built (distclean: .venv too)
clean:
	@rm -rf build dist docs/_build results .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	@rm -rf .venv

.venv/.ready-%: pyproject.toml .ci/setup.sh
	@.ci/setup.sh $*
	touch $@ .venv/.ready-demo   # dev and docs contain what the demos need
