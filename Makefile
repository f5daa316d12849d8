# The words that run everything. Each sets itself up: a fresh clone, Python and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The newest interpreter there is, on the path or among pyenv's: Django 6 wants Python 3.12.
FOUND = $(foreach minor,14 13 12,$(shell python3.$(minor) -c 'import sys; print(sys.executable)' 2> /dev/null) $(wildcard $(HOME)/.pyenv/versions/3.$(minor).*/bin/python))
NEWEST = $(firstword $(FOUND))

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint messages soak bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## the shop with its sagas, a worker and the admin, until Ctrl-C
	$(BIN)/python manage.py demo $(ARGS)

test: $(READY) ## all tests but the slow ones, on SQLite and on PostgreSQL
	$(BIN)/python -m tests.run $(ARGS)

test-all: $(READY) ## the slow ones too, and everything again on the newest Python here and the newest Django
	$(BIN)/python -m tests.run --all $(ARGS)
	$(if $(NEWEST),$(MAKE) test PYTHON=$(NEWEST) VENV=.venv-newest,@echo "no Python 3.12 or newer here: not run on Django 6.1")

lint: $(READY) ## formatting, lint, types and the floors of the house
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy saga_app tests/typing/good.py
	$(BIN)/pyright --pythonpath $(BIN)/python

messages: $(READY) ## bring the translations up to date (needs GNU gettext)
	$(BIN)/python -m tests.catalogs

soak: $(READY) ## real orders through workers that are killed: make soak ORDERS=folder
	$(BIN)/python -m project.soak $(if $(ORDERS),--orders $(ORDERS)) $(ARGS)

bench: $(READY) ## how fast it is here
	$(BIN)/python -m tests.benchmarks $(ARGS)

clean: ## remove the virtual environment and every cache
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
