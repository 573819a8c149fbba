# Two commands are for everyone: `make demo` and `make test`. Both work on a fresh machine with
# Python 3.11 or newer; a C compiler makes the result hundreds of times faster.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test bench bench-web bench-seeds bench-sources bench-authority figures clean

demo: $(VENV)/.installed
	$(BIN)/sonde demo

test: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist worksteal --cov --cov-report=term

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/explorer.py -o benchmarks/results/explorer.md
	$(BIN)/python benchmarks/navigation.py -o benchmarks/results/navigation.md
	$(BIN)/python benchmarks/readme.py

bench-seeds: $(VENV)/.ready
	$(BIN)/pip install --quiet -e '.[bench]'
	$(BIN)/python benchmarks/seeds.py -o benchmarks/results/seeds.md

bench-authority: $(VENV)/.ready
	$(BIN)/python benchmarks/authority.py -o benchmarks/results/authority.md

# Any folder of HTML files will do: make bench-web PAGES=folder SITE="what it is" RESULT=web-mine.md
PAGES ?= /usr/share/cppreference/doc/html
SITE ?= The C++ reference, as Debian packages it (cppreference-doc-en-html)
RESULT ?= web.md

bench-web: $(VENV)/.ready
	$(BIN)/pip install --quiet -e '.[bench]'
	$(BIN)/python benchmarks/web.py $(PAGES) --site "$(SITE)" --pages 5000 -o benchmarks/results/$(RESULT)
	$(BIN)/python benchmarks/readme.py

# Needs a file of posts: make bench-sources POSTS=posts.tsv.xz
bench-sources: $(VENV)/.ready
	$(BIN)/python benchmarks/sources.py $(if $(POSTS),--posts $(POSTS)) -o docs/results/sources.md

figures: $(VENV)/.ready
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/cli_reference.py

# Installed in place: only the compiled kernels can be out of date.
KERNELS := pyproject.toml setup.py $(wildcard src/sonde/kernels/*.p* src/sonde/kernels/*/*.p*)

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	touch $@

$(VENV)/.installed: $(VENV)/.created $(KERNELS)
	$(BIN)/pip install --quiet -e .
	touch $@

$(VENV)/.ready: $(VENV)/.created $(KERNELS)
	$(BIN)/pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist .coverage .hypothesis .mypy_cache .ruff_cache .pytest_cache
	find src -name '*.so' -delete -o -name '*.egg-info' -prune -exec rm -rf {} +
