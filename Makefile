# Needs Python 3.11+ and make; everything else is installed into $(VENV).
PYTHON ?= python3
VENV ?= .venv
# long ones first, so that two at a time end together
PAPERS ?= signgd cooccurrence shallow_vit benign_overfitting two_mixture
PYTEST_ARGS ?=
export OMP_NUM_THREADS ?= 1

RESULTS := results
BIN := $(VENV)/bin
ODESYS := $(BIN)/odesys
CREATED := $(BIN)/python
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help results docs browser tex coq proofs test test-all lint clean $(PAPERS:%=results-%)

help:
	@echo "make results    derive, verify, simulate, compare and draw every paper; read $(RESULTS)/index.html"
	@echo "make test       all tests but the nightly ones; PYTEST_ARGS=\"-m 'not slow'\" for the quick ones"
	@echo "make test-all   all tests"
	@echo "make docs       the documentation site, offline: read docs/_build/html/index.html"
	@echo "make lint       layout, style, directions of imports and types"
	@echo "make browser    install Chromium for the test of the report, where apt-get can; otherwise that test is skipped"
	@echo "make tex        install pdflatex for the tests that compile documents, where apt-get can"
	@echo "make coq        install Coq for tests of exported proofs, where apt-get can; otherwise these tests are skipped"
	@echo "make proofs     write every proof as a Coq file into $(RESULTS)/proofs and have it checked"
	@echo "make clean      remove $(VENV)/, $(RESULTS)/, caches and build output"

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "odesys needs Python 3.11 or newer; choose one with PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

# Order-only on the interpreter: its time stamp is that of the system Python, and says nothing about the installation.
$(RUN_STAMP): pyproject.toml | $(CREATED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(DEV_STAMP): pyproject.toml | $(CREATED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ $(RUN_STAMP)

# Two papers at a time; one thread of linear algebra each, since their matrices are small. What was computed before from
# the same sources is read; ODESYS_MEASUREMENTS=anew computes everything again.
results: $(RUN_STAMP)
	@$(MAKE) --no-print-directory -k -j 2 $(PAPERS:%=results-%)
	@echo "read $(RESULTS)/index.html"

# The report leaves the page and, in a folder of the paper's name, everything on it as data.
$(PAPERS:%=results-%): results-%: $(RUN_STAMP)
	@mkdir -p $(RESULTS)/$*
	$(ODESYS) report $* --out $(RESULTS) --workers $(WORKERS)

# The last one starts when the others are about to end, and has both cores.
WORKERS := 1
results-$(lastword $(PAPERS)): WORKERS := 2

test: $(DEV_STAMP)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not nightly" $(PYTEST_ARGS)

test-all: $(DEV_STAMP)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m ""

# Warnings are errors; notebooks are executed, and nothing is fetched.
docs: $(DEV_STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "read docs/_build/html/index.html"

# Best effort: without Coq the tests that need it are skipped with a reason.
coq:
	@command -v coqc >/dev/null || { apt-get update && apt-get install -y --no-install-recommends coq libcoq-coquelicot libcoq-interval; } >/dev/null 2>&1 \
		|| echo "Coq could not be installed; tests of exported proofs will be skipped"

# Files are checked by content: what was checked before is not checked again.
proofs: $(RUN_STAMP)
	@mkdir -p $(RESULTS)/proofs
	$(ODESYS) verify $(PAPERS) --proofs $(RESULTS)/proofs --json $(RESULTS)/proofs/verify.json

# Best effort: without a browser the test that needs one is skipped with a reason.
browser:
	@command -v chromedriver >/dev/null && command -v chromium >/dev/null || { \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
		chromium chromium-driver fonts-dejavu-core >/dev/null; } \
		|| echo "no browser could be installed; the test of the report in a browser will be skipped"

# Best effort, as well.
tex:
	@command -v pdflatex >/dev/null || { \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
		texlive-latex-base texlive-latex-recommended texlive-pictures lmodern >/dev/null; } \
		|| echo "no TeX could be installed; the tests that compile documents will be skipped"

lint: $(DEV_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

clean:
	@if [ -f "$(VENV)/pyvenv.cfg" ]; then rm -rf "$(VENV)"; fi  # only a folder that is an environment
	rm -rf $(RESULTS) docs/_build docs/gallery/pictures build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
