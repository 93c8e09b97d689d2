# Everything a checkout needs. Nothing is written outside it but the caches of cargo and pip.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
export CARGO_TARGET_DIR := $(CURDIR)/target
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
unexport CONDA_PREFIX PYTHONDONTWRITEBYTECODE # commands start faster with bytecode kept

# The first Python on the path that is new enough.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)

# What the extension is built from.
RUST_SOURCES := $(shell find Cargo.toml Cargo.lock crates data -type f -not -path 'crates/fuzz/*' \
	-not -path 'crates/py/wheel/*' 2>/dev/null)

.PHONY: help
help: ## Show this help.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | awk -F'\t' '{ printf "make %-18s  %s\n", $$1, $$2 }'

.PHONY: setup
setup: $(VENV)/.extension $(VENV)/.rooms python/shortflow/spec.pyi python/shortflow/report/vega.js ## Build everything into .venv; does nothing when it is up to date.

.PHONY: require
require:
	@command -v cargo >/dev/null || { echo "missing: cargo; install Rust from https://rustup.rs" >&2; exit 3; }
	@version=$$(rustc -vV | sed -n 's/^release: //p'); printf '%s\n' $(RUST_VERSION) "$$version" | sort -VC \
		|| { echo "missing: Rust $(RUST_VERSION) or newer (this is $$version); install it from https://rustup.rs" >&2; exit 3; }
	@command -v cc >/dev/null || { echo "missing: a C compiler; on Debian: apt-get install gcc libc6-dev" >&2; exit 3; }
	@test -n "$(PYTHON)" || { echo "missing: Python 3.11 or newer; on Debian: apt-get install python3 python3-venv" >&2; exit 3; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || { \
		found=$$($(PYTHON) --version 2>/dev/null || true); \
		echo "missing: Python 3.11 or newer; $(PYTHON) $${found:+is }$${found:-does not start}" >&2; exit 3; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "missing: Python's venv; on Debian: apt-get install python3-venv" >&2; exit 3; }

$(VENV)/.packages: requirements.lock | require
	@echo "1 of 2: installing Python packages into $(VENV) (a minute the first time)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --requirement requirements.lock
	@touch $@

$(VENV)/.extension: $(VENV)/.packages pyproject.toml $(RUST_SOURCES) | require
	@echo "2 of 2: building the simulator (a minute or two the first time)"
	@$(BIN)/maturin develop --release --locked --quiet >$(VENV)/build.log 2>&1 \
		|| { cat $(VENV)/build.log >&2; exit 1; }
	@touch $@
	@echo "ready: $(BIN)/shortflow"

# Editable, without its dependencies: the packages above are theirs too.
$(VENV)/.rooms: $(VENV)/.extension papers/pyproject.toml linux/pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable papers --editable linux
	@touch $@

# A profile-guided build: how often each branch was taken while an instrumented extension ran tools/training.py. Such a
# profile serves one compiler. HOST is named lest build scripts are instrumented too.
RUSTC := $(shell rustc -vV 2>/dev/null | sed -n 's/^host: \|^release: //p')
HOST := $(word 1,$(RUSTC))
PGO := $(CARGO_TARGET_DIR)/pgo/$(word 2,$(RUSTC))
PGO_BUILD := --release --locked --quiet --target $(HOST) --target-dir $(PGO)
LLVM_PROFDATA = $(shell rustc --print sysroot)/lib/rustlib/$(HOST)/bin/llvm-profdata

.PHONY: require-profdata
require-profdata: | require
	@test -x $(LLVM_PROFDATA) || { echo "missing: llvm-profdata; rustup component add llvm-tools" >&2; exit 3; }

# PyO3's functions are left out: a hash map there takes other ways each time.
$(PGO)/merged.profdata: $(RUST_SOURCES) pyproject.toml tools/training.py | require-profdata $(VENV)/.extension
	@echo "building the simulator with counters, and training it (minutes)"
	@rm -rf $(PGO)/{package,wheels,use}
	@{ RUSTFLAGS=-Cprofile-generate $(BIN)/maturin build $(PGO_BUILD)/generate --compatibility linux --out $(PGO)/wheels \
		&& $(BIN)/python -m zipfile -e $(PGO)/wheels/*.whl $(PGO)/package \
		&& LLVM_PROFILE_FILE=$(PGO)/training.profraw PYTHONPATH=$(PGO)/package $(BIN)/python -P tools/training.py \
		&& $(LLVM_PROFDATA) merge --no-function=pyo3 --output $@ $(PGO)/training.profraw; \
	} >$(VENV)/build.log 2>&1 || { cat $(VENV)/build.log >&2; exit 1; }

# In the place of the extension that `make setup` has built, and newer than that.
$(VENV)/.pgo: $(PGO)/merged.profdata $(VENV)/.extension
	@echo "building the simulator with the profile (minutes)"
	@RUSTFLAGS=-Cprofile-use=$(PGO)/merged.profdata $(BIN)/maturin develop $(PGO_BUILD)/use >$(VENV)/build.log 2>&1 \
		|| { cat $(VENV)/build.log >&2; exit 1; }
	@touch $@

.PHONY: pgo
pgo: $(VENV)/.pgo setup ## Build the extension anew with a profile: the same digests, sooner.
	@echo "$(BIN)/shortflow is built with a profile, until its sources change"

# The types of shortflow.spec.
python/shortflow/spec.pyi: $(VENV)/.extension python/shortflow/stubs.py python/shortflow/declared.py
	@$(BIN)/python -m shortflow.stubs >$@.partial && mv $@.partial $@

# The library that draws charts, which goes into the package.
python/shortflow/report/vega.js: $(VENV)/.packages python/shortflow/report/library.py | $(VENV)/.extension
	@$(BIN)/python -m shortflow.report.library

# Every seed has 1,000 flows up to 100 KB or more. Other parameters have another directory, as a report has all its runs.
DEMO := --schemes tcp,dctcp,l2dct --seeds 5 --tables
DEMO_STAR := websearch-star --grid load=0.3 --set duration=650ms $(DEMO)
DEMO_LOADS := l2dct-benchmark --grid load=0.3:0.8:0.1 --set duration=2s $(DEMO)
DEMO_OUT := $(CURDIR)/results/demo-$(firstword $(shell echo '$(DEMO_STAR) $(DEMO_LOADS)' | cksum))
.PHONY: demo
demo: setup ## Compare TCP, DCTCP and L2DCT, and write a report with plots.
	@$(BIN)/shortflow sweep $(DEMO_STAR) --out '$(DEMO_OUT)'
	@$(BIN)/shortflow sweep $(DEMO_LOADS) --out '$(DEMO_OUT)'
	@$(BIN)/shortflow report '$(DEMO_OUT)'

.PHONY: pictures
pictures: setup ## Draw the pictures of README and the tutorial anew.
	@$(BIN)/python tools/pictures.py

.PHONY: reproduction
reproduction: setup ## Reproduce all figures at SCALE (full), resume where it stopped, and renew the data of docs/reproduction.
	@$(BIN)/shortflow reproduce --scale $(or $(SCALE),full) --out results/reproduction || test $$? -eq 1
	@$(BIN)/shortflow survey --out results/survey
	@cp results/reproduction/results.json docs/reproduction/results.json
	@cp results/survey/beyond.json docs/reproduction/survey.json
	@cd docs/reproduction && for each in pictures/*.svg; do cp ../../results/reproduction/$$each $$each; done

.PHONY: known
known: setup ## Run the scenarios whose results are known, and renew docs/known-results.md and its picture.
	@$(BIN)/python tools/known.py

.PHONY: readings
readings: setup ## Run other readings of L2DCT's law, and renew docs/reproduction/readings.md.
	@$(BIN)/python tools/readings.py

.PHONY: verdicts
verdicts: setup ## Draw five claims of PAPERS (all) by SEED, recompute them from raw tables at full scale, and compare.
	@$(BIN)/python tools/verdicts.py $(PAPERS) --seed $(or $(SEED),1)

.PHONY: sensitivity
sensitivity: setup ## Try every other choice of PAPERS (all) for MINUTES, go on another time, and renew what reports say.
	@$(BIN)/shortflow reproduce $(PAPERS) --sensitivity --scale $(or $(SCALE),quick) --minutes $(or $(MINUTES),600) \
		--out results/reproduction || test $$? -eq 1
	@cp results/reproduction/tried.json papers/shortflow_papers/papers/tried.json

# Random cases that are the same everywhere; test-full draws others.
test test-linux: export PROPTEST_RNG_SEED := 1
# Broken links in Rust's documentation are errors.
test test-linux docs: export RUSTDOCFLAGS := --deny warnings
# What `time` prints: which part of the tests takes how long.
test: export TIMEFORMAT := took %0R s, %0U s of CPU time

RUST_EXAMPLES := $(basename $(notdir $(wildcard crates/sim/examples/*.rs)))
# The pages of a crate link only to crates whose pages exist, so crates come after those on which they depend.
RUST_PAGES := for crate in units spec cc sim; do cargo doc --package shortflow-$$crate --no-deps --locked --quiet; done; \
	cargo doc --workspace --no-deps --locked --quiet

.PHONY: test
test: setup ## Formatting, lints, types and all tests that take seconds; says what took longest.
	cargo fmt --check
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	@$(BIN)/lint-imports >/dev/null || $(BIN)/lint-imports
	time $(BIN)/mypy
	time cargo clippy --workspace --all-targets --locked --quiet -- --deny warnings
	time { $(RUST_PAGES); }
	time cargo test --locked --quiet
	@for example in $(RUST_EXAMPLES); do cargo run --locked --quiet --package shortflow-sim --example $$example >/dev/null || exit 1; done
	time $(BIN)/pytest -m "not slow" --numprocesses 2 --dist loadfile

.PHONY: test-full
test-full: test ## The tests that take minutes too.
	SHORTFLOW_KILLS=20 cargo test --locked --quiet --release
	$(BIN)/pytest -m slow
	$(MAKE) test-wheel
	@if $(MAKE) --silent require-linux; then $(MAKE) test-kills test-kernels; \
		else echo "skipped: test-kills and test-kernels"; fi

# What the eBPF part of linux/deploy is built with, as Debian calls it.
LINUX_PACKAGES := bpftool clang gcc libc6-dev libelf-dev llvm make pkg-config zlib1g-dev

.PHONY: linux-packages
linux-packages:
	@echo $(LINUX_PACKAGES)

.PHONY: require-linux
require-linux: | require
	@test "$$(uname -s)" = Linux || { echo "missing: Linux" >&2; exit 3; }
	@printf '#include <libelf.h>\n#include <zlib.h>\n' | cc -E - >/dev/null 2>&1 \
		&& command -v pkg-config >/dev/null && command -v clang >/dev/null \
		|| { echo "missing: clang or headers; on Debian: apt-get install $(LINUX_PACKAGES)" >&2; exit 3; }

.PHONY: linux
linux: require-linux ## Build target/release/shortflow-linux.
	cargo build --release --locked --quiet --package shortflow-testbed --features bpf

.PHONY: machine
machine: linux ## Build target/machine, the virtual machine of `shortflow linux ... --virtual`.
	linux/testbed/machine/build target/release/shortflow-linux target/machine

.PHONY: deploy
deploy: require-linux ## Build target/release/shortflow-deploy: the same without the testbed.
	cargo build --release --locked --quiet --package shortflow-deploy --features bpf

LINUX_LOG := target/test-linux.log
LINUX := --package shortflow-deploy --package shortflow-testbed --features bpf --locked --quiet

.PHONY: test-linux
test-linux: require-linux ## Lints and tests of linux/deploy and linux/testbed; lists what was skipped.
	cargo clippy $(LINUX) --all-targets -- --deny warnings
	cargo doc $(LINUX) --no-deps
	@mkdir -p target
	cargo test $(LINUX) -- --show-output 2>&1 | tee $(LINUX_LOG)
	@skipped=$$(awk '/^---- .* stdout ----$$/ { name = $$2 } /^skipped: / { print name ": " $$0 }' $(LINUX_LOG)); \
		test -z "$$skipped" || { echo "$$skipped"; test -z "$${SHORTFLOW_REQUIRE:-}"; }

.PHONY: test-kills
test-kills: require-linux ## Kill and stall the testbed often, and kill what loads programs; needs root.
	SHORTFLOW_KILLS=20 SHORTFLOW_STALLED=10 cargo test --locked --quiet --release --package shortflow-testbed \
		--features bpf --test sigkill --test testbed --test lifecycle --test routes

.PHONY: test-quiet
test-quiet: require-linux ## Ten runs of the testbed must keep time; needs root, and a computer that does nothing else.
	SHORTFLOW_QUIET=10 cargo test --locked --quiet --release --package shortflow-testbed --features bpf \
		--test testbed without_stalls

.PHONY: test-kernels
test-kernels: deploy ## Load every program into Debian's kernels, under QEMU; skipped without it.
	linux/deploy/tests/kernels/run target/release/shortflow-deploy target/kernels

# Tools of who runs them, not dependencies.
TOOLS := target/tools
install = cargo install $(1) --version $(2) --locked --quiet --target-dir $(TOOLS)/build --root $(TOOLS)

# The oldest Rust that Cargo.toml names, from the user's rustup or from one of our own. Where there is none, what
# dependencies state (tests/test_dependencies.py) and Clippy, which knows since when std has what, stand in for it.
RUST_VERSION := $(shell sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' Cargo.toml)

.PHONY: msrv
msrv: | require ## Build everything with the oldest Rust that Cargo.toml names; skipped where it cannot be had.
	@if ! command -v rustup >/dev/null; then echo "skipped: make msrv, which needs rustup"; exit; fi; \
	rustup run $(RUST_VERSION) true 2>/dev/null || export RUSTUP_HOME=$(CURDIR)/$(TOOLS)/rustup; \
	if ! rustup toolchain install $(RUST_VERSION) --profile minimal --no-self-update >/dev/null 2>&1; then \
		echo "skipped: make msrv; Rust $(RUST_VERSION) could not be downloaded"; exit; fi; \
	rustup run $(RUST_VERSION) cargo check --workspace --all-targets --locked --quiet --target-dir target/msrv; \
	echo "Rust $(RUST_VERSION) builds everything"

.PHONY: deny
deny: DENY = $(shell command -v cargo-deny || echo $(TOOLS)/bin/cargo-deny)
deny: | require ## Licences, duplicates and sources of dependencies, and known flaws where their database can be reached.
	@test -x $(DENY) || $(call install,cargo-deny,0.20.2)
	@$(DENY) --log-level warn check bans licenses sources
	@if $(DENY) fetch db 2>/dev/null; then $(DENY) --log-level warn check --disable-fetch advisories; \
		else echo "skipped: advisories, whose database cannot be reached"; fi

# Packages are the same bytes whenever one compiler builds one commit in one directory.
wheel sdist sbom deb: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
# What a wheel is built with: a C compiler that knows the C library of PLATFORM, and what checks the outcome.
WHEEL_TOOLS := $(TOOLS)/wheel
MATURIN = PATH="$(CURDIR)/$(WHEEL_TOOLS)/bin:$$PATH" $(WHEEL_TOOLS)/bin/maturin
PLATFORM ?= manylinux_2_28
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
MANUAL := crates/py/wheel/data/share/man/man1/shortflow.1

$(WHEEL_TOOLS)/.ready: requirements.lock | require
	@$(PYTHON) -m venv $(WHEEL_TOOLS)
	@$(WHEEL_TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check \
		"$$(grep ^maturin== requirements.lock)" ziglang==0.17.1 auditwheel==6.8.2
	@touch $@

.PHONY: manual
manual: setup
	@mkdir -p $(dir $(MANUAL))
	@$(BIN)/python -m shortflow.front.manual >$(MANUAL)

.PHONY: wheel
wheel: export RUSTFLAGS := --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo --remap-path-prefix=$(CURDIR)=.
wheel: manual $(WHEEL_TOOLS)/.ready ## Build dist/shortflow-*.whl, for glibc 2.28 and later, and those of the papers and of Linux; pip needs no compiler.
	@$(MATURIN) build --release --locked --quiet --zig --compatibility $(PLATFORM) --out dist
	@$(WHEEL_TOOLS)/bin/auditwheel show dist/shortflow-$(VERSION)-*.whl | grep $(PLATFORM) >/dev/null
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist ./papers ./linux
	@ls dist/shortflow-$(VERSION)-*.whl dist/shortflow_{papers,linux}-$(VERSION)-*.whl

.PHONY: sdist
sdist: manual $(WHEEL_TOOLS)/.ready ## Build dist/shortflow-*.tar.gz, which pip builds with Rust and a C compiler.
	@$(MATURIN) sdist --out dist 2>target/sdist.log || { cat target/sdist.log >&2; exit 1; }
	@ls dist/shortflow-$(VERSION).tar.gz

.PHONY: test-wheel
test-wheel: wheel sdist ## Install wheel and source archive as a user who may write nowhere else, and try every command.
	$(BIN)/pytest tests/test_packaging.py -m "slow or not slow"

.PHONY: sbom
sbom: wheel ## Write dist/shortflow-*.cdx.json, what the wheel is made of (CycloneDX), as it stands in the wheel too.
	@unzip -p dist/shortflow-$(VERSION)-*.whl '*/sboms/*.json' >dist/shortflow-$(VERSION).cdx.json
	@ls dist/shortflow-$(VERSION).cdx.json

.PHONY: deb
deb: require-linux ## Build dist/shortflow-linux_*.deb on the oldest system that it is for; libelf is inside.
	@command -v dh >/dev/null || { echo "missing: debhelper; on Debian: apt-get install debhelper" >&2; exit 3; }
	LIBBPF_SYS_LIBRARY_PATH="$$(dirname "$$(cc -print-file-name=libelf.a)")" \
		cargo build --release --locked --quiet --package shortflow-testbed --features bpf,static
	@linux/deploy/debian/build target/release/shortflow-linux target/deb >target/deb.log 2>&1 \
		|| { cat target/deb.log >&2; exit 1; }
	@mkdir -p dist && cp target/deb/shortflow-linux_*.deb dist && ls dist/shortflow-linux_$(VERSION)_*.deb

.PHONY: test-deb
test-deb: deb ## Install the Debian package here, load, unload, remove and purge it: nothing may be left. Needs root.
	linux/deploy/debian/test dist/shortflow-linux_$(VERSION)_*.deb

# AREAS may be cc, tcp, sim and units; SHARD=0/20 takes each 20th mutant.
AREAS ?= cc tcp
SHARD ?= 0/1

.PHONY: mutants
mutants: | require ## Change the code in one place at a time; list the changes that no test notices. Resumes after an interruption.
	@test -x $(TOOLS)/bin/cargo-mutants || $(call install,cargo-mutants,27.1.0)
	@PATH="$(CURDIR)/$(TOOLS)/bin:$$PATH" nice $(PYTHON) tools/mutants.py $(AREAS) --shard $(SHARD)

# ROOMS of python/shortflow, as tools/mutants_python.py lists them with their tests; DRAW="--draw 150" takes a sample.
ROOMS ?= asks judge metrics store tuning
DRAW ?=

.PHONY: mutants-python
mutants-python: setup ## The same for rooms of the Python package. Resumes after an interruption.
	@$(BIN)/python -c 'import mutmut' 2>/dev/null \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check mutmut==3.8.1
	@nice $(BIN)/python tools/mutants_python.py $(ROOMS) $(DRAW)

# Coverage-guided for TIME seconds a target, then EXAMPLES of each kind of damage to stored results.
TIME ?= 60
SEED ?= 1
EXAMPLES ?= 2000
FUZZING := target/fuzzing
FUZZ_TARGETS := $(notdir $(wildcard crates/fuzz/corpus/*))
# Scenarios that `make modes` compares; NUMBER=n runs one draw of SEED.
COUNT ?= 1000
# What libFuzzer needs to see coverage, on the stable compiler.
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module $(addprefix -Cllvm-args=-sanitizer-coverage-, \
	level=4 inline-8bit-counters pc-table trace-compares)

.PHONY: fuzz
fuzz: setup ## Fuzz scenarios and parsers: TIME=60 seconds a target.
	@command -v c++ >/dev/null || { echo "missing: a C++ compiler; on Debian: apt-get install g++" >&2; exit 3; }
	RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --profile fuzz --locked --quiet --package shortflow-fuzz --bin fuzz \
		--features engine --target-dir $(FUZZING) --target $(HOST)
	@mkdir -p $(FUZZING)/crashes
	@failed=; for target in $(FUZZ_TARGETS); do \
		mkdir -p $(FUZZING)/corpus/$$target; \
		echo "fuzzing $$target; crashes go to $(FUZZING)/crashes"; \
		FUZZ_TARGET=$$target $(FUZZING)/*/fuzz/fuzz -max_total_time=$(TIME) -seed=$(SEED) -dict=crates/fuzz/words.dict -max_len=4000 -timeout=60 -verbosity=0 \
			-artifact_prefix=$(FUZZING)/crashes/$$target- $(FUZZING)/corpus/$$target crates/fuzz/corpus/$$target \
			$$(test $$target != scenario || echo python/shortflow/scenarios) || failed=1; \
	done; \
	FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/pytest --quiet tests/test_damage.py || failed=1; test -z "$$failed"

.PHONY: modes
modes: | require ## Run COUNT=1000 random scenarios of SEED=1 in every way; outcomes must be equal. Goes on where it was stopped.
	cargo build --profile fuzz --locked --quiet --package shortflow-fuzz --bin modes
	@target/fuzz/modes $(COUNT) $(SEED) target/modes $(NUMBER)

.PHONY: bench
bench: setup ## Packet-hops per CPU-second and over a minimal loop's, events, memory, start-up; all schemes, half an hour.
	@$(BIN)/shortflow bench

# Instructions do not depend on what else the machine does. Change tools/instructions.json with what makes them change.
.PHONY: without-profile bench-instructions bench-check
without-profile: setup
	@test ! $(VENV)/.pgo -nt $(VENV)/.extension || { echo "instructions are compared without a profile:" \
		"rm $(VENV)/.extension, make setup, and then again" >&2; exit 1; }

bench-instructions: without-profile ## Instructions per packet-hop, by Valgrind; writes them to tools/instructions.json.
	@$(BIN)/python tools/instructions.py --renew

bench-check: without-profile ## Fails where instructions per packet-hop have grown by 3 % over tools/instructions.json.
	@$(BIN)/python tools/instructions.py

.PHONY: bench-cores
bench-cores: setup ## Measure how many times faster a run is on two cores than on one, by wall-clock time.
	@$(BIN)/python tools/cores.py

.PHONY: bench-scaling
bench-scaling: setup ## Cost of a packet-hop over hosts, flows and link rate (docs/performance.md).
	@$(BIN)/python tools/scaling.py

$(VENV)/.site: docs/requirements.lock $(VENV)/.packages
	@echo "installing Sphinx into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement docs/requirements.lock
	@touch $@

SITE := target/site

.PHONY: docs
docs: setup $(VENV)/.site ## The documentation site with Rust's pages beside it, in target/site; opens as a file.
	@$(RUST_PAGES)
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --fresh-env --builder html --doctree-dir target/doctrees docs $(SITE)
	@rm -rf $(SITE)/rust && cp -r target/doc $(SITE)/rust
	@echo "$(SITE)/index.html"

.PHONY: clean
clean: ## Remove everything that was built.
	rm -rf target dist $(VENV) results $(MANUAL) python/shortflow/_core*.so python/shortflow/spec.pyi python/shortflow/report/vega.js .mypy_cache .pytest_cache .ruff_cache .hypothesis
