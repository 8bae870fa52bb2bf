# Two commands matter to a newcomer: `make demo` and `make test`. Each sets up what it needs on a fresh machine.
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
DATA ?= data

# The tests start a hundred processes of ours: each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo serve shell chromium test test-fast setup soak lint lint-page vendor bench bench-synthetic docs lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: $(RUNTIME)  ## a first taste: one true count, ten private answers
	@$(BIN)/discreet demo

serve: $(RUNTIME)  ## the service and its page on a generated clinic, at http://127.0.0.1:8000
	@$(BIN)/discreet serve --demo

shell: $(RUNTIME)  ## a shell in which the command is `discreet`, not .venv/bin/discreet
	@echo "discreet --help lists what there is; exit leaves this shell"
	@PATH="$(abspath $(BIN)):$$PATH" exec bash

test: $(DEV) chromium  ## the whole test suite, at most 10 minutes on 2 cores
	$(BIN)/pytest -n 2 --dist worksteal --durations 15

test-fast: $(DEV)  ## the tests that finish within a minute
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

# Browser tests drive Debian's Chromium; what drives it needs libatomic.
chromium:
	@{ command -v chromium && ls /usr/lib/*/libatomic.so.1; } >/dev/null 2>&1 || { sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); echo "installing chromium"; \
		{ $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq chromium libatomic1 >/dev/null; } \
		|| { echo "Could not install chromium. Run: sudo apt-get install chromium libatomic1"; exit 1; }; }

setup: $(DEV)  ## .venv with the runtime, pytest, mypy, ruff, lint-imports

soak: $(DEV)  ## the full counts of samples and forks; writes docs/soak.md
	$(BIN)/python -m tests.soak

lint: $(DEV) lint-page  ## ruff, mypy, the layers of the house, the page
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The page's linter is npm's. Who has no npm is told so, and their browser tests still run every line of it.
lint-page:  ## biome on the page's modules, where npm is installed
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory frontend/node_modules && npm --prefix frontend run --silent lint; \
		else echo "npm is missing, so the page is not linted. Run: sudo apt-get install npm"; fi

vendor: frontend/node_modules  ## bundle the page's editor and the tests' accessibility checker anew (needs npm)
	npm --prefix frontend run --silent vendor

frontend/node_modules: frontend/package-lock.json
	npm --prefix frontend ci --silent --no-audit --no-fund
	@touch $@

bench: $(BENCH) $(PEERS_READY)  ## our speed against the peers, in one run; writes docs/benchmarks.md
	$(BENCH_VENV)/bin/python -m benchmarks.noise
	$(BENCH_VENV)/bin/python -m benchmarks.accounting
	$(BENCH_VENV)/bin/python -m benchmarks.workloads
	$(BENCH_VENV)/bin/python -m benchmarks.graphs
	$(BENCH_VENV)/bin/python -m benchmarks.ledger --largest
	$(BENCH_VENV)/bin/python -m benchmarks.curator --peers $(PEERS_VENV) --largest
	$(BENCH_VENV)/bin/python -m benchmarks.service
	$(BENCH_VENV)/bin/python -m benchmarks.local --peers $(PEERS_VENV)

# The last of these peers brings torch: 6 GB, and hours. DATA is a folder with adult.csv and adult-domain.json of the project mbi.
bench-synthetic: $(BENCH) $(SYNTHETIC_PEERS:%=$(PEERS_VENV)/%/.installed) $(LEARNING_PEERS:%=$(PEERS_VENV)/%/.installed)  ## synthetic data against the peers; DATA=folder
	$(BENCH_VENV)/bin/python -m benchmarks.synthetic --data $(DATA)
	$(BENCH_VENV)/bin/python -m benchmarks.synthetic_peers --data $(DATA) --peers $(PEERS_VENV)
	$(BENCH_VENV)/bin/python -m benchmarks.counting --data $(DATA) --large
	$(BENCH_VENV)/bin/python -m benchmarks.learning --data $(DATA) --peers $(PEERS_VENV)

docs: $(DEV)  ## the documentation as a website in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lock:  ## compile the lock files anew (needs uv)
	@command -v uv >/dev/null || { echo "uv is missing. Run: pip install uv"; exit 1; }
	uv pip compile $(LOCK_FLAGS) --extra postgres -o requirements.lock
	uv pip compile $(LOCK_FLAGS) --extra dev -o requirements-dev.lock
	uv pip compile $(LOCK_FLAGS) --extra bench -o requirements-bench.lock
	for peer in $(PEERS) $(SYNTHETIC_PEERS) $(LEARNING_PEERS); do uv pip compile -q benchmarks/peers/$$peer.in --override benchmarks/peers/overrides.txt \
		--universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate \
		-o benchmarks/peers/$$peer.lock || exit 1; done

LOCK_FLAGS := -q pyproject.toml --group build --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --no-annotate

clean:  ## remove what the targets above made
	rm -rf $(VENV) $(BENCH_VENV) $(PEERS_VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis frontend/node_modules

$(RUNTIME): requirements.lock pyproject.toml | $(BIN)/python
	$(call install,$(VENV),requirements.lock)
	@touch $@

$(DEV): requirements-dev.lock pyproject.toml | $(BIN)/python
	$(call install,$(VENV),requirements-dev.lock)
	@touch $@ $(RUNTIME)

$(BENCH): requirements-bench.lock pyproject.toml | $(BENCH_VENV)/bin/python
	$(call install,$(BENCH_VENV),requirements-bench.lock)
	@touch $@

# A virtual environment a peer: their pins clash. --no-deps: the lock is whole, and psycopg2-binary stands in for psycopg2.
$(PEERS_VENV)/%/.installed: benchmarks/peers/%.lock | $(PEERS_VENV)/%/bin/python
	@echo "installing $< into $(PEERS_VENV)/$*"
	@$(PEERS_VENV)/$*/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r $<
	@touch $@

.SECONDARY:

# Hashes first, then our own package alone: nothing is fetched that a lock file does not name.
define install
	@echo "installing $(2) into $(1)"
	@$(1)/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r $(2)
	@$(1)/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
endef

%/bin/python:
	@$(MAKE) --no-print-directory python-with-venv
	@$(PYTHON) -m venv $*

# Debian's python3 has no ensurepip until python3-venv is installed; we install it, or say how.
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
