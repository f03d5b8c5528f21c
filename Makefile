# Everything here sets up .venv by itself. PYTHON picks the interpreter it is made from (3.11 or newer).
PYTHON ?= python3
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs
GAME ?= kitten_adventurers
PLAYERS ?= 4
RLLIB := .venv-rllib
CLIENTS := .venv-clients
QUICK_NOTEBOOKS := 1_meet_the_games 2_a_million_decisions_a_second 6_your_own_cards
DEMO := runs/demo
DEMO_MINUTES ?= 2

.PHONY: help install demo test test-deep soak test-rllib test-clients bench lint release-check docs docs-tables docs-check notebooks notebooks-quick dist compile clean

help: ## what there is
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 14

install: $(STAMP) ## set up .venv

# torch is named first and exactly: another release would bring gigabytes of GPU libraries along.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip setuptools
	$(BIN)/python -m pip install --quiet -c constraints.txt torch==2.13.0
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch $(STAMP)

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev,docs,notebooks]"
	touch $(DOCS_STAMP)

demo: $(STAMP) ## train an agent for two minutes, then a tournament of uniform, greedy and the trained agent
	rm -rf $(DEMO)
	$(BIN)/kepler-envs compile --no-agents $(GAME)
	$(BIN)/python -m agents.train $(GAME) --players $(PLAYERS) --minutes $(DEMO_MINUTES) --teacher greedy --out $(DEMO)/train
	$(BIN)/kepler-envs tournament $(GAME) --players $(PLAYERS) --agents uniform greedy net:$(DEMO)/train --games 1200 --out $(DEMO)/tournament

test: $(STAMP) ## all tests
	$(BIN)/kepler-envs compile --no-agents
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup

test-deep: $(STAMP) ## the same tests with many more games
	$(BIN)/kepler-envs compile --no-agents
	KEPLER_ENVS_DEEP=1 $(BIN)/python -m pytest -q -n 2 --dist loadgroup

soak: $(STAMP) ## random and greedy games of everything there is, with every check; SOAK="--minutes 60" for longer
	$(BIN)/python -m tests.soak $(SOAK)

# RLlib pins an older gymnasium than constraints.txt, so it gets an environment of its own.
test-rllib: $(RLLIB)/.installed ## the tests of the RLlib adapter, in an environment of their own
	$(RLLIB)/bin/python -m pytest -q tests/adapters/test_rllib.py

$(RLLIB)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(RLLIB)
	grep -v '^gymnasium==' constraints.txt > $(RLLIB)/constraints.txt
	$(RLLIB)/bin/python -m pip install --quiet -c $(RLLIB)/constraints.txt torch==2.13.0
	$(RLLIB)/bin/python -m pip install --quiet -c $(RLLIB)/constraints.txt -e ".[rllib]" pytest pytest-timeout hypothesis
	touch $(RLLIB)/.installed

# Other libraries' own code on our games, with versions of theirs that nothing else here needs.
test-clients: $(CLIENTS)/.installed ## other libraries' own code on our games, in an environment of its own
	KEPLER_ENVS_CLIENTS=1 $(CLIENTS)/bin/python -m pytest -q tests/clients

$(CLIENTS)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(CLIENTS)
	$(CLIENTS)/bin/python -m pip install --quiet -c constraints.txt torch==2.13.0
	PYTHONWARNINGS=ignore $(CLIENTS)/bin/python -m pip install --quiet -c constraints.txt -e ".[training,analysis,torchrl]" \
		tianshou shimmy supersuit pygame pytest pytest-timeout hypothesis
	$(CLIENTS)/bin/python -m pip install --quiet --no-deps --target $(CLIENTS)/older pettingzoo==1.26.0
	touch $(CLIENTS)/.installed

bench: $(STAMP) ## measure how fast everything is here; BENCH="--record docs/figures.json" keeps the figures
	$(BIN)/python -m benchmarks $(BENCH)

lint: $(STAMP) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

release-check: $(STAMP) ## go through the release checklist (RELEASING.md); CHECKS="--skip wheels" for a quick look
	$(BIN)/python -m tests.release $(CHECKS)

docs: $(DOCS_STAMP) ## build the site into build/docs; a warning is an error
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

docs-tables: $(STAMP) ## write the generated parts of the pages anew
	$(BIN)/python -m docs.build

docs-check: $(STAMP) ## run every command of README and pages as it stands there
	$(BIN)/python -m tests.commands

notebooks: $(DOCS_STAMP) ## run the notebooks anew from their sources
	$(BIN)/python -m notebooks.build

notebooks-quick: $(DOCS_STAMP) ## those that take seconds; continuous integration runs them
	$(BIN)/python -m notebooks.build $(QUICK_NOTEBOOKS)

dist: $(STAMP) ## build sdist and wheels into dist/, those with compiled code for every interpreter in PYTHONS, and try them
	$(BIN)/python -m tests.distribution --python $(PYTHONS)

compile: $(STAMP) ## fill the compile cache
	$(BIN)/kepler-envs compile

clean: ## remove .venv, caches and runs
	rm -rf $(VENV) $(RLLIB) $(CLIENTS) runs .pytest_cache .ruff_cache .mypy_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
