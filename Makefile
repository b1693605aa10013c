# make demo: set everything up and render 32 spatial pairs. make test: the test suite.
# Needs python3 (3.11, or 3.13) and make. PYTHON chooses the interpreter, VENV the environment.

PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
CONSTRAINTS := .ci/constraints-$(VERSION).txt
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --constraint $(CONSTRAINTS)
# Test files run side by side.
JOBS ?= 2
DEMO ?= datasets_out/demo

.PHONY: demo install install-test test test-fast check format assets bench constraints clean

demo: install
	$(PY) -m generator render --task spatial --n 32 --out $(DEMO)

install: $(VENV)/.installed

install-test: $(VENV)/.installed-test

$(PY):
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml $(CONSTRAINTS) | $(PY)
	$(PIP) --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml $(CONSTRAINTS) | $(PY)
	$(PIP) --editable '.[coco,scorer,dev]'
	@touch $(VENV)/.installed $@

# The whole suite, Blender included; PYTEST passes options on, e.g. PYTEST='-k masks'.
test: install-test
	$(PY) -m pytest -n $(JOBS) --dist loadfile $(PYTEST)

# Seconds to two minutes: no Blender, nothing slow.
test-fast: install-test
	$(PY) -m pytest -m 'not blender and not slow' -n $(JOBS) --dist loadfile $(PYTEST)

# Lint, formatting, types and import contracts.
check: install-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: install-test
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# Rebuild the bundled models from their recipes.
assets: install
	$(PY) -m renderers.blender.recipes.build --out generator/assets/library

# Ratios on this machine; see docs/benchmarks.md.
bench: install-test
	for script in tests/bench/bench_*.py; do $(PY) $$script || exit 1; done

# Pin everything that `.[all]` needs for this Python, from the ranges in pyproject.toml.
constraints: | $(PY)
	$(PY) .ci/constraints.py $(CONSTRAINTS)

clean:
	rm -rf $(VENV) build *.egg-info
