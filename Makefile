# Start with `make demo` and `make test`. Every target installs what it needs.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BENCH_VENV := .venv-bench
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
BENCH := $(BENCH_VENV)/.installed
PEERS_VENV := .venv-peers
PEERS := qrlew smartnoise opendp_polars pure_ldp multi_freq_ldpy
PEERS_READY := $(PEERS:%=$(PEERS_VENV)/%/.installed)
SYNTHETIC_PEERS := mbi dpmm opendp_mbi smartnoise_synth
LEARNING_PEERS := diffprivlib dp_ebm
SYNTHETIC_PEERS_READY := $(patsubst %,$(PEERS_VENV)/%/.installed,$(SYNTHETIC_PEERS) $(LEARNING_PEERS))
DATA ?= data

# The tests start about a hundred Python processes. Without bytecode files each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo serve shell chromium test test-fast test-changed coverage setup soak format lint lint-page vendor \
	bench bench-synthetic reference tutorials docs lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

demo: $(RUNTIME)  ## one true count, ten private answers, and what epsilon means
	@$(BIN)/discreet demo

serve: $(RUNTIME)  ## start the service and its page with a generated clinic, at http://127.0.0.1:8000
	@$(BIN)/discreet serve --demo

shell: $(RUNTIME)  ## open a shell in which the command is `discreet`, not .venv/bin/discreet
	@echo "Run discreet --help for the list of commands, and exit to leave this shell."
	@PATH="$(abspath $(BIN)):$$PATH" exec bash

PYTEST := $(BIN)/pytest -n 2 --dist worksteal

test: $(DEV) chromium  ## run all tests (10 minutes on 2 cores), or those of one package: PACKAGE=sql
	$(PYTEST) --durations 15 $(if $(PACKAGE),tests/$(PACKAGE))

test-fast: $(DEV)  ## run the fast tests (one minute)
	$(PYTEST) -m "not slow" $(if $(PACKAGE),tests/$(PACKAGE))

test-changed: $(DEV)  ## run the tests of the packages that differ from origin/main
	@tests=$$($(BIN)/python -m tools.changed_tests); \
		if [ -z "$$tests" ]; then echo "Nothing changed since origin/main."; else $(PYTEST) $$tests; fi

coverage: $(DEV) chromium  ## run the tests and report coverage by package; PACKAGE=sql for one
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n 2 --dist worksteal $(if $(PACKAGE),tests/$(PACKAGE))
	$(BIN)/coverage combine -q && $(BIN)/coverage json -q -o .coverage.json
	@$(BIN)/python -m tools.coverage_by_package .coverage.json

# The browser tests use Debian's Chromium; Playwright's driver needs libatomic.
chromium:
	@{ command -v chromium && ls /usr/lib/*/libatomic.so.1; } >/dev/null 2>&1 || { \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); echo "installing chromium"; \
		{ $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq chromium libatomic1 >/dev/null; } \
		|| { echo "Could not install chromium. Run: sudo apt-get install chromium libatomic1"; exit 1; }; }

setup: $(DEV)  ## create .venv with the runtime, pytest, mypy, ruff and lint-imports

soak: $(DEV)  ## run the long statistical and crash tests; writes docs/explanation/soak.md
	$(BIN)/python -m tests.soak

format: $(DEV)  ## format the Python code and fix what ruff can fix
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

lint: $(DEV) lint-page  ## check style, types, import contracts and the page's modules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Without npm the page is not linted; the browser tests still execute it.
lint-page:  ## lint the page's modules with biome (needs npm)
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory frontend/node_modules && npm --prefix frontend run --silent lint; \
		else echo "npm is missing, so the page is not linted. Run: sudo apt-get install npm"; fi

vendor: frontend/node_modules  ## bundle the page's editor and the accessibility checker of the tests (needs npm)
	npm --prefix frontend run --silent vendor

frontend/node_modules: frontend/package-lock.json
	npm --prefix frontend ci --silent --no-audit --no-fund
	@touch $@

bench: $(BENCH) $(PEERS_READY)  ## compare the speed with peers in one run; writes docs/explanation/benchmarks
	$(BENCH_VENV)/bin/python -m benchmarks.noise
	$(BENCH_VENV)/bin/python -m benchmarks.accounting
	$(BENCH_VENV)/bin/python -m benchmarks.workloads
	$(BENCH_VENV)/bin/python -m benchmarks.graphs
	$(BENCH_VENV)/bin/python -m benchmarks.ledger --largest
	$(BENCH_VENV)/bin/python -m benchmarks.curator --peers $(PEERS_VENV) --largest
	$(BENCH_VENV)/bin/python -m benchmarks.service
	$(BENCH_VENV)/bin/python -m benchmarks.local --peers $(PEERS_VENV)

# The last of these peers installs torch: 6 GB and hours. DATA is a folder with adult.csv and adult-domain.json of mbi.
bench-synthetic: $(BENCH) $(SYNTHETIC_PEERS_READY)  ## compare synthetic data and learning with peers; DATA=folder
	$(BENCH_VENV)/bin/python -m benchmarks.synthetic --data $(DATA)
	$(BENCH_VENV)/bin/python -m benchmarks.synthetic_peers --data $(DATA) --peers $(PEERS_VENV)
	$(BENCH_VENV)/bin/python -m benchmarks.counting --data $(DATA) --large
	$(BENCH_VENV)/bin/python -m benchmarks.learning --data $(DATA) --peers $(PEERS_VENV)

reference: $(DEV)  ## write the generated parts of docs/reference
	$(BIN)/python -m tools.reference

tutorials: $(DEV)  ## run the tutorials and write what they print into docs/tutorials
	$(BIN)/python -m tools.run_tutorials

docs: $(DEV)  ## build the documentation as a website in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lock:  ## compile the lock files (needs uv)
	@command -v uv >/dev/null || { echo "uv is missing. Run: pip install uv"; exit 1; }
	uv pip compile $(LOCK_FLAGS) --extra postgres -o requirements.lock
	uv pip compile $(LOCK_FLAGS) --extra dev -o requirements-dev.lock
	uv pip compile $(LOCK_FLAGS) --extra bench -o requirements-bench.lock
	for peer in $(PEERS) $(SYNTHETIC_PEERS) $(LEARNING_PEERS); do \
		uv pip compile -q benchmarks/peers/$$peer.in --override benchmarks/peers/overrides.txt --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate \
		-o benchmarks/peers/$$peer.lock || exit 1; done

LOCK_FLAGS := -q pyproject.toml --group build --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --no-annotate

clean:  ## remove everything that these targets created
	rm -rf $(VENV) $(BENCH_VENV) $(PEERS_VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* \
		frontend/node_modules

$(RUNTIME): requirements.lock pyproject.toml | $(BIN)/python
	$(call install,$(VENV),requirements.lock)
	@touch $@

$(DEV): requirements-dev.lock pyproject.toml | $(BIN)/python
	$(call install,$(VENV),requirements-dev.lock)
	@touch $@ $(RUNTIME)

$(BENCH): requirements-bench.lock pyproject.toml | $(BENCH_VENV)/bin/python
	$(call install,$(BENCH_VENV),requirements-bench.lock)
	@touch $@

# One virtual environment per peer, because their pins conflict. --no-deps: the lock file lists everything, and
# psycopg2-binary replaces psycopg2.
$(PEERS_VENV)/%/.installed: benchmarks/peers/%.lock | $(PEERS_VENV)/%/bin/python
	@echo "installing $< into $(PEERS_VENV)/$*"
	@$(PEERS_VENV)/$*/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r $<
	@touch $@

.SECONDARY:

# Locked packages with hashes first, then our own package without dependencies: pip downloads nothing else.
define install
	@echo "installing $(2) into $(1)"
	@$(1)/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r $(2)
	@$(1)/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
endef

%/bin/python:
	@$(MAKE) --no-print-directory python-with-venv
	@$(PYTHON) -m venv $*

# On Debian, python3 has no ensurepip until python3-venv is installed. Install it, or say how.
.PHONY: python-with-venv
python-with-venv:
	@test -n "$(PYTHON)" || { echo "Python is missing. Run: apt-get install python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is too old: Discreet needs Python 3.11 or newer. Run: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
		sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
		echo "installing $$package"; \
		{ $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq $$package; } \
		|| { echo "Could not install $$package. Run: sudo apt-get install $$package"; exit 1; }; }
