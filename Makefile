# Every target creates the environment it needs with nothing but python3 and the package registries.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check features flows attack docs recording format clean

$(STAMP): pyproject.toml benchmarks/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' -e benchmarks
	touch $@

demo: $(STAMP)
	$(BIN)/python scripts/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not flow"

# Clients come from npm, in the versions that tests/flows names, into the user's cache folder. One that cannot be
# installed fails the run; only without npm are its flows skipped.
flows: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,flows,semantic]'
	$(BIN)/python -m pytest -n 2 --dist loadfile -m flow

# Random conversations through gateways that are restarted and broken; the long form is `laconic bench attack`.
attack: $(STAMP)
	$(BIN)/laconic bench attack --quick

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/reference.py --check

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP)
	$(BIN)/python scripts/reference.py

recording: $(STAMP)
	$(BIN)/python scripts/record.py docs/pictures/demo.svg make demo

features: $(STAMP)
	$(BIN)/python scripts/features.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
