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

.PHONY: demo scorer-demo install install-test test test-fast check format assets bench constraints clean

demo: install
	$(PY) -m generator render --task spatial --n 32 --out $(DEMO)

install: $(VENV)/.installed

install-test: $(VENV)/.installed-test

$(PY):
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml $(CONSTRAINTS) | $(PY)
	$(PIP) --editable .
	@touch $@

$(VENV)/.installed-scorer: pyproject.toml $(CONSTRAINTS) | $(PY)
	$(PIP) --editable '.[scorer]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-test: pyproject.toml $(CONSTRAINTS) | $(PY)
	$(PIP) --editable '.[audit,coco,scorer,ray,dev]'
	@touch $(VENV)/.installed $(VENV)/.installed-scorer $@

# Render small sets for all tasks, train the scorer on them with the bundled tiny CLIP, and print held-out accuracies
# with their controls. No network once installed.
SCORER_DEMO ?= datasets_out/scorer-demo
SETS := $(SCORER_DEMO)/spatial $(SCORER_DEMO)/attribute $(SCORER_DEMO)/negation $(SCORER_DEMO)/negation-shared
SMALL := --size 96 --split train=0.8,val=0.1,test=0.1

scorer-demo: $(VENV)/.installed-scorer
	$(PY) -m generator render --task spatial --n 240 --out $(SCORER_DEMO)/spatial $(SMALL)
	$(PY) -m generator render --task attribute --n 240 --out $(SCORER_DEMO)/attribute $(SMALL)
	$(PY) -m generator render --task negation --n 120 --out $(SCORER_DEMO)/negation $(SMALL)
	$(PY) -m generator render --task negation --n 120 --out $(SCORER_DEMO)/negation-shared --negation shared $(SMALL)
	$(PY) -m scorer train $(SETS) --clip tiny --text-tokens 20 --epochs 12 --control-epochs 4 --out $(SCORER_DEMO)/run
	$(PY) -m scorer eval $(SCORER_DEMO)/run $(SETS)

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
