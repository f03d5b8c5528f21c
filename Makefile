# Everything here sets up .venv by itself. PYTHON picks the interpreter it is made from (3.11, 3.12 or 3.13).
PYTHON ?= python3
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadgroup
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs
GAME ?= kitten_adventurers
PLAYERS ?= 4
RLLIB := .venv-rllib
CLIENTS := .venv-clients
QUICK_NOTEBOOKS := 1_meet_the_games 2_a_million_decisions_a_second 6_your_own_cards
DEMO := runs/demo
DEMO_MINUTES ?= 2

.PHONY: help install demo test test-slow test-deep soak test-rllib test-clients bench lint release-check docs docs-tables docs-check notebooks notebooks-quick dist compile clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 17

install: $(STAMP) ## set up .venv

# The first step of every installation, before anything is downloaded. Any Python, old or new, understands it.
# Under 3.14 some libraries of the development environment have no wheels yet.
define CHECK_PYTHON
@command -v $(PYTHON) > /dev/null || { echo "There is no $(PYTHON) here. Name another interpreter: make PYTHON=python3.12 ..." >&2; exit 1; }
@$(PYTHON) -c "import sys; v = sys.version_info; sys.exit(None if (3, 11) <= v < (3, 14) else '$(PYTHON) is Python %d.%d, but this needs 3.11, 3.12 or 3.13. Name another interpreter: make PYTHON=python3.12 ...' % tuple(v[:2]))"
endef

# torch is named first and exactly: another release could bring gigabytes of GPU libraries along.
$(STAMP): pyproject.toml constraints.txt
	$(CHECK_PYTHON)
	@echo "Setting up $(VENV), once. This takes a few minutes and about 2 GB of disk."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip setuptools
	@echo "1/2 Installing PyTorch: about a minute with its CPU build. If your package index has GPU builds alone, pip"
	@echo "    fetches several gigabytes of GPU libraries with it; CONTRIBUTING.md says how to get the small one."
	@$(BIN)/python -m pip install --quiet -c constraints.txt torch==2.13.0
	@echo "2/2 Installing numba, stable-baselines3, Ray and the rest: about two minutes."
	@PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	@touch $(STAMP)
	@echo "$(VENV) is ready."

$(DOCS_STAMP): $(STAMP)
	@echo "Installing Sphinx and Jupyter: about half a minute."
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev,docs,notebooks]"
	@touch $(DOCS_STAMP)

demo: $(STAMP) ## train an agent for two minutes, then a tournament of uniform, greedy and the trained agent
	@rm -rf $(DEMO)
	@echo "1/3 Compiling the rules of $(GAME): up to half a minute the first time."
	@$(BIN)/kepler-envs compile --no-agents $(GAME)
	@echo "2/3 Training an agent for $(DEMO_MINUTES) minutes: it imitates greedy first, then plays against itself."
	@$(BIN)/python -m agents.train $(GAME) --players $(PLAYERS) --minutes $(DEMO_MINUTES) --teacher greedy --out $(DEMO)/train
	@echo "3/3 A tournament of uniform, greedy and the trained agent, 1200 games: under a minute."
	@$(BIN)/kepler-envs tournament $(GAME) --players $(PLAYERS) --agents uniform greedy net:$(DEMO)/train --games 1200 --out $(DEMO)/tournament

test: $(STAMP) ## run the tests: a few minutes of compiling, then 6 to 10 on two cores
	$(BIN)/kepler-envs compile
	$(PYTEST) -m "not slow"

test-slow: $(STAMP) ## run the slow tests, about 4 minutes: clusters, interrupted runs, caches of compiled code, uncompiled rules
	$(BIN)/kepler-envs compile
	$(PYTEST) -m slow

test-deep: $(STAMP) ## run both with many more games
	$(BIN)/kepler-envs compile
	KEPLER_ENVS_DEEP=1 $(PYTEST)

soak: $(STAMP) ## play random and greedy games of everything for ten minutes, with every check; SOAK="--minutes 60" for longer
	$(BIN)/python -m tests.soak $(SOAK)

# RLlib pins an older gymnasium than constraints.txt, so it gets an environment of its own.
test-rllib: $(RLLIB)/.installed ## test the RLlib adapter, in an environment of its own
	$(RLLIB)/bin/python -m pytest -q tests/adapters/test_rllib.py

$(RLLIB)/.installed: pyproject.toml constraints.txt
	$(CHECK_PYTHON)
	@echo "Setting up $(RLLIB), once: a few minutes."
	$(PYTHON) -m venv $(RLLIB)
	grep -v '^gymnasium==' constraints.txt > $(RLLIB)/constraints.txt
	$(RLLIB)/bin/python -m pip install --quiet -c $(RLLIB)/constraints.txt torch==2.13.0
	$(RLLIB)/bin/python -m pip install --quiet -c $(RLLIB)/constraints.txt -e ".[rllib]" pytest pytest-timeout hypothesis
	touch $(RLLIB)/.installed

# Other libraries' own code on our games, with versions of theirs that nothing else here needs.
test-clients: $(CLIENTS)/.installed ## run other libraries' own code on our games, in an environment of its own
	KEPLER_ENVS_CLIENTS=1 $(CLIENTS)/bin/python -m pytest -q tests/clients

$(CLIENTS)/.installed: pyproject.toml constraints.txt
	$(CHECK_PYTHON)
	@echo "Setting up $(CLIENTS), once: a few minutes."
	$(PYTHON) -m venv $(CLIENTS)
	$(CLIENTS)/bin/python -m pip install --quiet -c constraints.txt torch==2.13.0
	PYTHONWARNINGS=ignore $(CLIENTS)/bin/python -m pip install --quiet -c constraints.txt -e ".[training,analysis,torchrl]" \
		tianshou shimmy supersuit pygame pytest pytest-timeout hypothesis
	$(CLIENTS)/bin/python -m pip install --quiet --no-deps --target $(CLIENTS)/older pettingzoo==1.26.0
	touch $(CLIENTS)/.installed

bench: $(STAMP) ## measure how fast everything is here; BENCH="--record docs/figures.json" keeps the figures
	$(BIN)/python -m benchmarks $(BENCH)

lint: $(STAMP) ## run ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

release-check: $(STAMP) ## go through the release checklist (RELEASING.md); CHECKS="--skip wheels" for a quick look
	$(BIN)/python -m tests.release $(CHECKS)

# -E reads every page anew: Sphinx repeats no warning about a page that has not changed.
docs: $(DOCS_STAMP) ## build the documentation, API reference included, into build/docs; a warning is an error
	$(BIN)/python -m sphinx -q -E -W --keep-going -b html docs build/docs

docs-tables: $(STAMP) ## update the generated parts of the pages
	$(BIN)/python -m docs.build

docs-check: $(STAMP) ## run every command of README and pages
	$(BIN)/python -m tests.commands

notebooks: $(DOCS_STAMP) ## run all notebooks from their sources
	$(BIN)/python -m notebooks.build

notebooks-quick: $(DOCS_STAMP) ## run the notebooks that take seconds and write nothing, as continuous integration does
	$(BIN)/python -m notebooks.build --check $(QUICK_NOTEBOOKS)

dist: $(STAMP) ## build sdist and wheels into dist/ and try them; wheels have compiled code for each interpreter of PYTHONS
	$(BIN)/python -m tests.distribution --python $(PYTHONS)

compile: $(STAMP) ## compile all games, bots and networks ahead of time
	$(BIN)/kepler-envs compile

clean: ## remove .venv, caches and builds; training runs and tournaments stay in runs/
	rm -rf $(VENV) $(RLLIB) $(CLIENTS) .pytest_cache .ruff_cache .mypy_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
