# `make` lists what there is. Every target makes the virtual environment it needs, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test thorough check format docs golden size bench ablate mutate fuzz fragments call-forms inlining poison agree packages interop clean

help:
	@echo "make demo     train a small model and print the derivative that trained it"
	@echo "make test     run the tests"
	@echo "make thorough run the tests, with all of the corpora of which 'make test' takes shares"
	@echo "make check    lint, formatting, types"
	@echo "make format   rewrite the code in the house style"
	@echo "make docs     make the site of docs/ (in site/)"
	@echo "make golden   write the texts of derivatives anew that tests compare with"
	@echo "make size     count the files and lines of each package"
	@echo "make bench    compare with other systems (installs them)"
	@echo "make ablate   measure what each pass buys, count where it fires, and write docs/passes.md anew (an hour)"
	@echo "make fuzz     check derivatives of random programs until stopped (keeps what it did in .fuzz)"
	@echo "make fragments  the same for programs made of everyday code (keeps what it did in .fuzz/fragments)"
	@echo "make call-forms  the same for calls in all forms that NumPy takes (keeps what it did in .fuzz/call_forms)"
	@echo "make inlining  compare derivatives with every function kept, with all inlined, and as usual (keeps what it did in .fuzz/inlining)"
	@echo "make poison   watch who reads and writes the memory of derivatives, for all programs (an hour)"
	@echo "make mutate   break rules and transforms on purpose, and count what the tests notice"
	@echo "make agree    compare compiled derivatives with interpreted ones, for all programs (hours)"
	@echo "make packages  call the functions of published packages, and write docs/packages.md anew (keeps them in .packages)"
	@echo "make interop  install the packages that adjoint.interop is for (into .venv-interop), and run its tests"
	@echo "make coverage  look at each function of NumPy and SciPy, and write docs/coverage.md anew (keeps them in .namespaces)"
	@echo "make clean    remove the virtual environment and all caches"

demo: $(VENV)/.stamp-train
	@$(BIN)/adjoint demo

test: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

thorough: $(VENV)/.stamp-dev
	ADJOINT_THOROUGH=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: $(VENV)/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src

format: $(VENV)/.stamp-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.stamp-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

golden: $(VENV)/.stamp-dev
	ADJOINT_UPDATE_GOLDEN=1 $(BIN)/python -m pytest -q tests/golden tests/samples/test_walkthrough.py

size: $(VENV)/.stamp-dev
	$(BIN)/python -m benchmarks.size

bench: $(VENV)/.stamp-bench
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.threads
	$(BIN)/python -m benchmarks.gradbench.compare
	$(BIN)/python -m benchmarks.kernels

ablate: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m passes.ablation

fuzz: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz

fragments: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz.fragments -j 2

call-forms: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz.call_forms -j 2

inlining: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz.inlining -j 2

poison: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m poison

mutate: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m mutation

agree: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m native.campaign

packages: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m packages --write

interop:
	$(MAKE) VENV=.venv-interop .venv-interop/.stamp-interop
	.venv-interop/bin/python -m pytest tests/interop src/adjoint/interop tests/test_distributed.py src/adjoint/distributed.py

coverage: $(VENV)/.stamp-dev
	PYTHONPATH=tests $(BIN)/python -m namespaces --write

clean:
	rm -rf $(VENV) .venv-interop build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Adjoint needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)."; \
		echo "Name another one: make $(or $(MAKECMDGOALS),demo) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(extras-$*)]'
	@touch $@

extras-train := train
extras-dev := dev
extras-docs := docs
extras-bench := dev,bench
extras-interop := dev,interop
