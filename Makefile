# Two commands are for everyone: `make demo` and `make test`. Both work on a fresh machine with
# Python 3.11 or newer; a C compiler makes the result hundreds of times faster.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --no-build-isolation -e
PARTS := $(BIN)/python .ci/parts.py

# What the quick parts are: no test that takes seconds.
LINT := "lint=ruff check ." "format=ruff format --check ."
TYPES := "types=mypy" "walls=lint-imports"
PYTEST := pytest -n 2 --dist worksteal

.PHONY: demo test check fuzz torture docs wheel clean figures \
	bench bench-web bench-growth bench-seeds bench-sources bench-authority bench-build bench-import \
	bench-rivals

demo: $(VENV)/.installed $(VENV)/.built
	$(BIN)/sonde demo

# Everything that continuous integration asks for; prints how long each part took.
test: $(VENV)/.ready $(VENV)/.built
	$(PARTS) test $(LINT) $(TYPES) "tests=$(PYTEST) --cov --cov-report=term"

# The same without the slow tests and without coverage: under two minutes.
check: $(VENV)/.ready $(VENV)/.built
	$(PARTS) check $(LINT) $(TYPES) "tests=$(PYTEST) -q -m 'not slow'"

# For the night: new examples, kernels with bounds checks, kernels under sanitizers.
fuzz: $(VENV)/.ready $(VENV)/.built
	$(PARTS) fuzz "examples=python tests/fuzz/examples.py" \
	  "checked=python tests/fuzz/checked.py" "sanitized=python tests/fuzz/sanitized.py"

# A hostile server, a clock, a disk or a kill: half an hour, on loopback. The page says what held.
TORTURE ?= --kills 1000 --bombs 99 --fuzz 300 --sanitized
torture: $(VENV)/.ready $(VENV)/.built
	$(BIN)/python tests/torture/campaign.py $(TORTURE) -o docs/results/torture.md

docs: $(VENV)/.installed
	$(INSTALL) '.[docs]'
	$(BIN)/mkdocs build --strict

# A wheel and a source distribution, in dist/.
wheel: $(VENV)/.created
	$(BIN)/pip install build
	$(BIN)/python -m build --outdir dist

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/explorer.py -o benchmarks/results/explorer.md
	$(BIN)/python benchmarks/navigation.py -o benchmarks/results/navigation.md
	$(BIN)/python benchmarks/readme.py

bench-build: $(VENV)/.ready
	$(BIN)/python benchmarks/build.py -o benchmarks/results/build.md

bench-import: $(VENV)/.ready
	$(BIN)/python benchmarks/startup.py -o benchmarks/results/startup.md

# What the worst inputs cost each reader, by size.
bench-growth: $(VENV)/.ready
	$(BIN)/python benchmarks/growth.py -o benchmarks/results/growth.md

bench-seeds: $(VENV)/.ready
	$(INSTALL) '.[bench]'
	$(BIN)/python benchmarks/seeds.py -o benchmarks/results/seeds.md

bench-authority: $(VENV)/.ready
	$(BIN)/python benchmarks/authority.py -o benchmarks/results/authority.md

# Any folder of HTML files will do: make bench-web PAGES=folder SITE="what it is" RESULT=web-mine.md
PAGES ?= /usr/share/cppreference/doc/html
SITE ?= The C++ reference, as Debian packages it (cppreference-doc-en-html)
RESULT ?= web.md

bench-web: $(VENV)/.ready
	$(INSTALL) '.[bench]'
	$(BIN)/python benchmarks/web.py $(PAGES) --site "$(SITE)" --pages 5000 -o benchmarks/results/$(RESULT)
	$(BIN)/python benchmarks/readme.py

# Crawlers on the same sites under the same limit. Others than Scrapy need an environment of their own:
# make bench-rivals OTHERS=path/to/python, which has crawl4ai.
bench-rivals: $(VENV)/.ready
	$(BIN)/python benchmarks/rivals.py $(if $(OTHERS),--others $(OTHERS)) -o docs/results/rivals.md

# Needs a file of posts: make bench-sources POSTS=posts.tsv.xz
bench-sources: $(VENV)/.ready
	$(BIN)/python benchmarks/sources.py $(if $(POSTS),--posts $(POSTS)) -o docs/results/sources.md

figures: $(VENV)/.ready
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/cli_reference.py
	$(BIN)/python docs/journeys.py --write

# -- the virtual environment ---------------------------------------------------------------------
# The kernels are built in place and first, so that one can see it; pip finds them there. After an
# edit of a kernel that kernel is built again, and nothing is installed.

BUILD_NEEDS := import tomllib; \
  print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])
KERNELS := setup.py $(wildcard src/sonde/kernels/*.p* src/sonde/kernels/*/*.p*)

$(VENV)/.created:
	@echo "== a virtual environment in $(VENV), and what the build needs"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --upgrade pip
	$(BIN)/python -c '$(BUILD_NEEDS)' | xargs $(BIN)/pip install
	@touch $@

$(VENV)/.built: $(VENV)/.created $(KERNELS)
	@echo "== the kernels: C from Python, then machine code (a minute or two, once)"
	$(BIN)/python setup.py -q build_ext --inplace
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml | $(VENV)/.built
	@echo "== sonde and what it needs"
	$(INSTALL) .
	@touch $@

$(VENV)/.ready: $(VENV)/.created pyproject.toml | $(VENV)/.built
	@echo "== sonde, its extras and what the tests need"
	$(INSTALL) '.[dev]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist site .coverage .hypothesis .mypy_cache .ruff_cache .pytest_cache
	find src -name '*.so' -delete -o -name '*.egg-info' -prune -exec rm -rf {} +
