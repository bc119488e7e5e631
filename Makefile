# Two commands matter: `make demo` and `make test`. Both set up first; a set-up that is done takes a second.
SHELL := /bin/bash
PY := .venv/bin/python
PYTEST := $(PY) -m pytest
.DEFAULT_GOAL := help

help:             ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 20

setup:            ## .venv with the pinned stack for this machine (CPU, or GPU when there is one)
	@scripts/setup.sh

demo: setup       ## the main job: a model learns from a program's verdicts, and is judged before and after
	@$(PY) -m rlvr_cli.demo

test: setup       ## all tests that guard a change (under 35 minutes on 2 cores)
	$(PYTEST) -m "not slow" -q

test-fast: setup  ## no models, no servers (under 3 minutes)
	$(PYTEST) -m "not slow and not real" -q

test-slow: setup  ## fuzz, soak, ablations: hours; writes tests/results/<date>.md
	$(PY) scripts/test_slow.py

lint: setup       ## style
	$(PY) -m ruff check .

lock:             ## rewrite requirements/*.lock from pyproject.toml
	@scripts/lock.sh

wheel: setup      ## build dist/*.whl
	$(PY) -m pip wheel -q --no-deps -w dist .

clean:            ## remove build products (not outputs/)
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache

.PHONY: help setup demo test test-fast test-slow lint lock wheel clean
