# The chores of the project; `make` alone lists them.  Works with GNU make 3.81, the one that macOS ships.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
JOBS ?= 2

BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
PIP_RELEASE := pip==26.3

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install run test conformance console-test console-shots chaos scale bench bench-peers lint lint-lua format docs lock clean

help:
	@echo "Chores (PYTHON=$(PYTHON) VENV=$(VENV); ARGS=... goes to the command):"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 - \2/p' $(firstword $(MAKEFILE_LIST)) | \
	  awk -F ' - ' '{ printf "%-20s%s\n", $$1, $$2 }'

install: $(INSTALLED) ## set up the environment in .venv, and nothing else
	@echo "$(VENV) is ready"

run: $(INSTALLED) ## serve the demo app: API, worker and an embedded server in one command
	@$(BIN)/receiver dev ops.demo:app $(ARGS)

# Two runs: tests side by side, then those that want the machine for themselves.  5 says that there was no test to run.
test: $(INSTALLED) ## run all tests; ARGS="-k cancel" for some, JOBS=4 for more side by side
	@status=0; \
	$(BIN)/python -m pytest -n $(JOBS) --dist loadscope -m "not alone" $(ARGS) || status=$$?; \
	$(BIN)/python -m pytest -m alone $(ARGS) || { alone=$$?; [ $$alone -eq 5 ] || status=$$alone; }; \
	[ $$status -eq 5 ] || exit $$status

conformance: $(INSTALLED) ## run the conformance suites against this server, which `make test` does too
	@$(BIN)/python -m pytest tests/conformance $(ARGS)

console-test: $(INSTALLED) ## run the tests of the console, in a headless Chromium, which `make test` does too
	@$(BIN)/python -m pytest tests/console $(ARGS)

console-shots: $(INSTALLED) ## take the pictures of the console anew: docs/images/console-*.png
	@$(BIN)/python -m tests.console.shots

chaos: $(INSTALLED) ## break everything for a while, and see what is lost; MINUTES=30 SEED=7, or BUG=name
	@$(BIN)/python -m tests.chaos --minutes $(or $(MINUTES),1) --seed $(or $(SEED),1) $(if $(BUG),--bug $(BUG)) $(ARGS)

scale: $(INSTALLED) ## measure with ten thousand waiters, a million tasks and the like; ARGS=blocked for one of it
	@$(BIN)/python -m tests.scale $(ARGS)

bench: $(INSTALLED) ## measure this server beside the floor of its stack, for docs/benchmarks.md; ARGS="P1 --rounds 1"
	@$(PIP) install --constraint constraints.txt --group bench
	@$(BIN)/python -m tests.bench $(ARGS)

bench-peers: $(INSTALLED) ## install other task servers, and measure them beside this one; ARGS="--rounds 1 --seconds 1"
	@$(BIN)/python -m tests.bench.peers $(ARGS)

lint: $(INSTALLED) ## check style, format, types, layers and the Lua scripts
	@$(BIN)/python -m ruff check
	@$(BIN)/python -m ruff format --check
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports --no-logo --cache-dir .cache/import-linter
	@$(MAKE) --no-print-directory lint-lua

# The scripts are checked as Redis gets them, with the fragments that they include.
lint-lua: $(INSTALLED)
	@rm -rf .cache/lua
	@$(BIN)/python -m receiver.store.scripts .cache/lua
	@if command -v luacheck >/dev/null; then luacheck --no-color --quiet .cache/lua; \
	else echo "luacheck is not on PATH: the Lua scripts were not checked (the Debian package is lua-check)"; fi

format: $(INSTALLED) ## mend style and format where a tool can
	@$(BIN)/python -m ruff check --fix
	@$(BIN)/python -m ruff format

# A page is replaced when it is whole: the generator of another one may read it.
docs: $(INSTALLED) ## make the generated pages of docs/ anew
	@$(BIN)/python -m ops.reference
	@mkdir -p .cache
	@$(BIN)/python -m tests.coverage_of_spec > .cache/spec-coverage.md
	@mv .cache/spec-coverage.md docs/spec-coverage.md

lock: | $(BIN)/python ## pin what pyproject.toml asks for in constraints.txt; ARGS=--upgrade for the newest releases
	@$(PIP) install uv
	@$(BIN)/python -m uv pip compile --quiet --universal --python-version 3.11 --group dev --group bench --no-annotate \
	  --custom-compile-command "make lock" --output-file constraints.txt $(ARGS) pyproject.toml

clean: ## remove the environment and all that the tools left behind
	rm -rf $(VENV) .cache .hypothesis build dist
	find receiver workers ops tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The pip that came with Python may be older than 25.1, the first that knows dependency groups.
$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(PIP) install '$(PIP_RELEASE)'
	@$(PIP) install --constraint constraints.txt --editable . --group dev
	@touch $@

# Debian keeps ensurepip, and with it `python3 -m venv`, in a package of its own; virtualenv or pip will do as well.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@if $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then $(PYTHON) -m venv $(VENV); \
	elif $(PYTHON) -c 'import virtualenv' 2>/dev/null; then $(PYTHON) -m virtualenv --quiet $(VENV); \
	elif $(PYTHON) -c 'import pip, venv' 2>/dev/null; then \
	  $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip -qq --python $@ install pip; \
	else echo "$(PYTHON) can't make an environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; fi
