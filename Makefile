# `make` lists what can be done here. Every target may be called first and again: it builds what it needs, once.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
TARGET := $(or $(CARGO_TARGET_DIR),target)
BIN := .venv/bin
RUNNING := .venv/installed-for-running
TESTING := .venv/installed-for-testing
NVRTC := .venv/installed-for-gpu-kernels
SPARK := .venv/spark/installed
PEERS := $(TARGET)/peers/release/peers
EXTENSION := python/sealift/_sealift.abi3.so
LAB_EXTENSION := python/sealift_lab/_lab.abi3.so
EXTENSIONS := $(EXTENSION) $(LAB_EXTENSION)
# With the library's extension, so that its dependencies, which have its features, are not built again.
KERNELS := -p sealift-kernels -p sealift-py
RUST_SOURCES := $(shell find crates -name tests -prune -o -type f -print)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all:
CPUINFO := /proc/cpuinfo
# A name without a number, such as "AMD EPYC", has family and model behind it: several processors have that name.
PROCESSOR := $(shell awk -F '\t*: ' '/^cpu family/ { family = $$2 } /^model\t/ { model = $$2 } /^model name/ { \
	name = tolower($$2); gsub(/ /, "-", name); gsub(/[^a-z0-9-]/, "", name); \
	print name (name ~ /[0-9]/ ? "" : "-" family "-" model); exit }' $(CPUINFO))
RESULTS ?= results/$(shell date +%F)/$(or $(PROCESSOR),unknown)-$(shell nproc)-cores
ADVISE := sealift advise --size 128 --keys 5000
export PYTHON

##@ Use

.PHONY: run
run: $(EXTENSIONS) ## Build, measure for a minute, say where bulk encryption should run, and write a page about it
	@$(BIN)/sealift lab run --quick

.PHONY: bench
bench: $(EXTENSIONS) $(TESTING) ## Measure for a quarter of an hour, and write README's figures and docs/performance.md
	@$(BIN)/sealift lab run aes-gcm-by-threads aes-gcm-by-size --threads 1 --budget 4m --out $(RESULTS)/lab
	@$(BIN)/sealift lab run benches/python_loop.py --budget 100s --out $(RESULTS)/python-loop
	@{ echo '$$ $(ADVISE)'; $(BIN)/$(ADVISE); } | tee $(RESULTS)/advise.txt.new
	@mv $(RESULTS)/advise.txt.new $(RESULTS)/advise.txt
	@$(MAKE) --no-print-directory bench-peers

.PHONY: bench-peers
bench-peers: $(EXTENSIONS) $(TESTING) $(PEERS) peer-libraries ## Compare with the newest releases of other libraries, in ten minutes
	@rm -rf $(RESULTS)/peers.new
	@$(BIN)/python benches/peers.py --binary $(PEERS) --out $(RESULTS)/peers.new
	@rm -rf $(RESULTS)/peers && mv $(RESULTS)/peers.new $(RESULTS)/peers
	@$(BIN)/python tools/docs.py

.PHONY: bench-memory
bench-memory: $(EXTENSIONS) $(TESTING) $(PEERS) peer-libraries ## The same with messages that no cache holds, in ten minutes
	@rm -rf $(RESULTS)/peers-memory.new
	@$(BIN)/python benches/peers.py --binary $(PEERS) --case memory- --processes 3 --out $(RESULTS)/peers-memory.new
	@rm -rf $(RESULTS)/peers-memory && mv $(RESULTS)/peers-memory.new $(RESULTS)/peers-memory
	@$(BIN)/python tools/docs.py

.PHONY: bench-cells
bench-cells: $(EXTENSIONS) $(TESTING) $(PEERS) peer-libraries ## The same for 384 kinds of messages: sizes, keys, sealed and opened, aad; ten minutes
	@rm -rf $(RESULTS)/peers-cells.new
	@$(BIN)/python benches/peers.py --binary $(PEERS) --case cell- --processes 1 --out $(RESULTS)/peers-cells.new
	@rm -rf $(RESULTS)/peers-cells && mv $(RESULTS)/peers-cells.new $(RESULTS)/peers-cells
	@$(BIN)/python tools/docs.py

.PHONY: peer-libraries
peer-libraries: $(RUNNING) ## Install other libraries into .venv/peers: ipsec-mb by apt, OpenSSL and BoringSSL from source
	@$(PYTHON) tools/peer_libraries.py

.PHONY: aa
aa: $(EXTENSIONS) $(TESTING) ## Count false verdicts on comparisons whose truth is known, and write the tables of docs/statistics.md
	@mkdir -p $(RESULTS)
	@$(BIN)/sealift lab certify results --json > $(RESULTS)/certify.json.new
	@mv $(RESULTS)/certify.json.new $(RESULTS)/certify.json
	@$(BIN)/sealift lab certify --live --comparisons 100 --json > $(RESULTS)/certify-live.json.new
	@mv $(RESULTS)/certify-live.json.new $(RESULTS)/certify-live.json
	@$(BIN)/python tools/docs.py

.PHONY: bench-scheduler
bench-scheduler: $(EXTENSIONS) ## Measure what the engine costs, its choices against the best device, every core, and pools of 10,000; half an hour
	@mkdir -p $(RESULTS)
	@cargo bench --quiet -p sealift --bench scheduler -- $(abspath $(RESULTS))/scheduler.csv
	@cargo bench --quiet -p sealift --bench cores -- $(abspath $(RESULTS))/cores.csv
	@cargo bench --quiet -p sealift --bench regret -- $(abspath $(RESULTS))/regret.csv
	@cargo bench --quiet -p sealift-engine --bench scale -- $(abspath $(RESULTS))/pool-scale.csv
	@$(BIN)/python tools/docs.py

.PHONY: bench-frames
bench-frames: $(EXTENSIONS) ## Exchange a million frames of 64 KiB with another process by each way, and measure that; ten minutes
	@mkdir -p $(RESULTS)
	@$(BIN)/python benches/frames.py --out $(RESULTS)
	@$(BIN)/sealift lab run frames-between-processes --budget 5m --out $(RESULTS)/lab-004-frames
	@$(BIN)/python tools/docs.py

.PHONY: bench-columns
bench-columns: $(EXTENSIONS) $(TESTING) $(SPARK) ## Seal and open ten million rows of a column beside pyca and Spark; needs Java 17, ten minutes
	@$(BIN)/python benches/columns.py --spark .venv/spark/bin/python --out $(RESULTS)/columns
	@$(BIN)/python tools/docs.py

.PHONY: bench-ray
bench-ray: $(EXTENSIONS) $(TESTING) ## Seal a column on two Ray nodes of this machine and in one process, in turn; five minutes
	@mkdir -p $(RESULTS)
	@PYTHONPATH=tests/python $(BIN)/python benches/ray_data.py --out $(RESULTS)
	@$(BIN)/python tools/docs.py

.PHONY: gpu
gpu: wheel ## Check the GPUs of this machine, then measure them, with wheels, for `sealift lab report`; some seven minutes
	@mkdir -p $(RESULTS)
	@out=$(RESULTS)/gpu; next=2; while [ -e "$$out" ]; do out=$(RESULTS)/gpu-$$next; next=$$((next + 1)); done; \
		tools/measure-gpu "$$out" $(DEVICE)

.PHONY: bench-fleet-plan
bench-fleet-plan: $(LAB_EXTENSION) $(TESTING) ## Simulate 1 PB on 1,000 nodes from the newest results, and write the tables of docs/scale.md; two minutes
	@mkdir -p $(RESULTS)
	@$(BIN)/python benches/fleet_plan.py --out $(RESULTS)
	@$(BIN)/python tools/docs.py

.PHONY: bench-dpu
bench-dpu: ## Measure how many instructions of a simulated DPU a second this machine works
	@cargo bench --quiet -p dpu-sim

.PHONY: dudect
dudect: $(EXTENSIONS) ## Measure for a quarter of an hour whether the kernels' time tells secrets, and write docs/constant-time.md
	@mkdir -p $(RESULTS)
	@cargo bench --quiet -p sealift-kernels --bench dudect -- $(abspath $(RESULTS))/dudect.json
	@$(BIN)/python tools/docs.py

# One call of cargo each: a call unifies features, and the library's extension would have the lab's.
.PHONY: wheel
wheel: $(EXTENSION) $(TESTING) ## Build the wheels of the library and of the lab into dist/, and try them in a fresh environment without cargo
	@echo "Building a wheel of the library and one of the lab"
	@rm -f dist/*.whl
	@$(BIN)/maturin build --quiet --release --locked --out dist
	@cd lab && ../$(BIN)/maturin build --quiet --release --locked --out ../dist
	@$(BIN)/python -m pytest -q tests/python/test_package.py -k tables
	@PYTHON=$(PYTHON) tools/try-wheel dist/*.whl

##@ Test

.PHONY: test
test: test-rust test-python ## Run every test, Rust and Python, with a tenth of the large numbers; five minutes once built

.PHONY: test-all
test-all: ## Run what tests and checks there are, with all large numbers; half an hour
	@SEALIFT_TEST_SCALE=1 $(MAKE) test
	@echo "Testing the example without features that other crates switch on"
	@cargo test -p own-device
	@$(MAKE) models guards oclgrind portable levels simulate

.PHONY: test-rust
test-rust: $(TESTING) ## Run the Rust tests, those in doc comments and in examples too
	@echo "Testing the crates"
	@SEALIFT_TEST_SCALE=$${SEALIFT_TEST_SCALE:-0.1} cargo test --workspace
	@echo "Looking at what the kernels, built as users build them, leave on the stack"
	@CARGO_PROFILE_RELEASE_LTO=false CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
		cargo test --release -p sealift-kernels --test residue

# What a frame holds, and which registers inline assembly gets, depends on the level.
LEVELS ?= 1 3 s
.PHONY: levels
levels: $(TESTING) ## Build the kernels at the opt-levels LEVELS (1 3 s) and look at what they leave on the stack; a minute each
	@for level in $(LEVELS); do \
		echo "Looking at what kernels of opt-level $$level leave on the stack"; \
		CARGO_PROFILE_RELEASE_OPT_LEVEL=$$level cargo test --quiet --release -p sealift-kernels --test residue || exit 1; \
	done

.PHONY: simulate
simulate: ## Simulate 115,200 pools of devices that fail, hang, lie and die, under every policy; some minutes
	@SEALIFT_SIMULATED_RUNS=2400 cargo test --quiet --release -p sealift-engine --test simulate drawn_pools -- --nocapture

.PHONY: mutants
mutants: | tools ## Break engine, core and drivers in a hundred ways and look for a test that fails; six minutes once built
	@$(PYTHON) tools/mutants.py

.PHONY: huge
huge: $(EXTENSIONS) $(TESTING) ## Seal and open a message of 5 GiB on every instruction set, and a column beyond 2 GiB; two minutes and 6 GiB of memory
	@echo "Sealing and opening a message of 5 GiB"
	@cargo test --quiet --release -p sealift-drivers --test huge -- --ignored --nocapture
	@echo "Sealing and opening a column beyond 2 GiB"
	@SEALIFT_HUGE=1 $(BIN)/python -m pytest -q tests/python/test_columns_layouts.py -k beyond

.PHONY: fuzz
fuzz: | tools ## Try CASES (100,000) cases a property of sealed rows: nothing opens that was not sealed
	@echo "Trying sealed rows that were changed"
	@CASES=$${CASES:-100000} cargo test --quiet --release -p sealift-columns --test rows

.PHONY: spark
spark: $(EXTENSION) $(SPARK) ## Exchange a thousand sealed rows with Spark each way; needs Java 17, a minute
	@PYTHONPATH=python .venv/spark/bin/python tests/python/spark_exchange.py

.PHONY: test-python
test-python: $(EXTENSIONS) $(TESTING) ## Run the Python tests
	@echo "Building a CUDA without a GPU, for tests"
	@cargo test --quiet --locked --workspace --no-run --test opencl
	@echo "Testing the Python package"
	@$(BIN)/python -m pytest -n auto --dist loadfile

.PHONY: recipes
recipes: $(EXTENSION) $(TESTING) ## Install Spark and Dask into .venv/recipes and run the code of docs/clusters.md; 850 MB, needs Java 17
	@$(BIN)/python -m pip install --quiet --upgrade --target .venv/recipes pyspark==4.3.0 'dask[dataframe]==2026.8.0'
	@SEALIFT_REQUIRE=pyspark,dask PYTHONPATH=.venv/recipes $(BIN)/python -m pytest tests/python/test_recipes.py

.PHONY: portable
portable: $(TESTING) ## Run the Rust tests as on a processor that has no kernels here
	@echo "Testing the crates without the kernels for this processor"
	@RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/tools/with-cfg/sealift_portable \
		cargo test --tests -p sealift-kernels -p sealift-drivers -p sealift-probes -p sealift

# Without optimisation, which takes longer than the models do.
.PHONY: models
models: | tools ## Try every order of what threads do to leases, key tables, the bell and completions, with loom; seconds, once built
	@echo "Trying every order of what threads do"
	@CARGO_PROFILE_DEV_OPT_LEVEL=0 RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/tools/with-cfg/sealift_loom \
		cargo test --quiet -p sealift-engine -p sealift-drivers --lib models

# A library that a test opens finds the sanitizer in the executable, which has to show it: -rdynamic. Threads of PoCL's LLVM
# bring signal stacks, which the sanitizer would take for its own and fail to unmap.
.PHONY: asan
asan: $(TESTING) ## Run the tests of kernels, drivers and probes under the address sanitizer
	@echo "Testing kernels, drivers and probes under the address sanitizer"
	@RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Clink-arg=-rdynamic" CARGO_TARGET_DIR=$(TARGET)/asan \
		ASAN_OPTIONS=use_sigaltstack=0 LSAN_OPTIONS=print_suppressions=0:suppressions=$(CURDIR)/tools/leaks-of-others.txt \
		cargo test --target x86_64-unknown-linux-gnu --tests \
		-p sealift-kernels -p sealift-drivers -p sealift-conformance -p sealift-probes

# Locks of a standard library that the sanitizer doesn't see would be races, so that is compiled too. What other languages do
# (AWS-LC, PoCL, whose threads are its own) it doesn't see. The test that is left out races on purpose.
.PHONY: tsan
tsan: $(TESTING) ## Run the tests of engine and drivers under the thread sanitizer; needs rust-src, seven minutes
	@echo "Testing engine and drivers under the thread sanitizer"
	@[ -d "$$(rustc --print sysroot)/lib/rustlib/src/rust/library" ] || { \
		echo "this toolchain has no source of the standard library, which has to be compiled for the thread sanitizer:" \
			"\`rustup component add rust-src\`" >&2; exit 1; }
	@RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread -Clink-arg=-rdynamic" CARGO_TARGET_DIR=$(TARGET)/tsan \
		OCL_ICD_VENDORS=/nowhere SEALIFT_TEST_SCALE=0.001 \
		cargo test -Zbuild-std --target x86_64-unknown-linux-gnu --tests -p sealift-engine -p sealift-drivers \
		-- --skip a_buffer_that_is_rewritten_opens_right_or_not_at_all

##@ Check

.PHONY: lint
lint: lint-rust lint-python tidy ## Run every check that needs no test

# The library and the example alone, too: there no other crate of the workspace switches on features for them.
.PHONY: lint-rust
lint-rust: | tools ## Check the crates: format, clippy, doc comments, Cargo.lock
	@echo "Checking the crates"
	@cargo metadata --locked --format-version 1 >/dev/null
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --quiet -- -D warnings
	@cargo clippy -p sealift-py --quiet -- -D warnings
	@cargo clippy -p own-device --all-targets --quiet -- -D warnings
	@RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

.PHONY: lint-python
lint-python: $(TESTING) $(LAB_EXTENSION) ## Check the Python code: ruff, mypy, import layers, stubs
	@echo "Checking the Python code"
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy --no-error-summary
	@PYTHONPATH=python $(BIN)/lint-imports --no-logo
	@$(BIN)/python -m mypy.stubtest --concise sealift._sealift sealift_lab._lab

.PHONY: tidy
tidy: $(EXTENSIONS) ## Check what no linter knows: dead files, layers, where unsafe stands, links
	@echo "Checking the house rules"
	@$(PYTHON) tools/tidy.py
	@$(BIN)/python tools/docs.py --check

.PHONY: guards
guards: ctgrind weave gpu-budgets ## Check what no test can see: secrets, instruction counts, machine code; needs valgrind and binutils
	@echo "Counting instructions"
	@$(PYTHON) tools/instruction_counts.py

.PHONY: ctgrind
ctgrind: | tools ## Follow keys and plaintexts through the 128-bit kernels: no branch, no address may depend on them
	@echo "Following secrets with valgrind's memcheck"
	@command -v valgrind >/dev/null || { echo "there is no valgrind on PATH (Debian: apt-get install valgrind)" >&2; exit 1; }
	@RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/tools/with-cfg/sealift_ctgrind \
		CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-limit=no --num-callers=8" \
		cargo test --quiet --release $(KERNELS) --test ctgrind -- --test-threads=1

# Of the workspace, as `make test` builds: alone that crate would have dependencies with other features, and all built again.
.PHONY: oclgrind
oclgrind: | tools ## Work the GPUs' kernels in a simulator that finds races and accesses outside of memory; needs oclgrind
	@echo "Working the kernels of GPUs in oclgrind"
	@cargo test --quiet --workspace --test opencl -- --ignored oclgrind

.PHONY: weave
weave: | tools ## Check in the machine code that AES and GHASH alternate in the kernels' loops
	@echo "Reading the machine code of the kernels"
	@$(PYTHON) tools/weave.py

.PHONY: weave-accept
weave-accept: | tools ## Accept the loops that are found now
	@$(PYTHON) tools/weave.py --write

.PHONY: nvrtc
nvrtc: $(NVRTC) ## Install what compiles the kernels of GPUs, NVRTC among it; needs no GPU

.PHONY: gpu-budgets
gpu-budgets: $(RUNNING) ## Check the GPUs' kernels: that their PTX is of the sources, and what their machine code takes
	@echo "Reading the machine code of the kernels of GPUs"
	@$(BIN)/python tools/gpu_kernels.py

.PHONY: gpu-budgets-accept
gpu-budgets-accept: $(NVRTC) $(EXTENSIONS) ## Accept the machine code of GPUs that is found now
	@$(BIN)/python tools/gpu_kernels.py accept
	@$(BIN)/python tools/docs.py

.PHONY: gpu-ptx
gpu-ptx: $(NVRTC) ## Compile the kernels of GPUs to the PTX that is shipped
	@$(BIN)/python tools/gpu_kernels.py ptx

.PHONY: instruction-counts
instruction-counts: | tools ## Accept the instruction counts that are found now
	@$(PYTHON) tools/instruction_counts.py --write

.PHONY: format
format: $(TESTING) ## Format Rust and Python in place
	@cargo fmt --all
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format --quiet

.PHONY: ci
ci: ## Do what the continuous integration does
	@.ci/run

##@ Keep

.PHONY: lock
lock: $(RUNNING) ## Renew Cargo.lock and the requirements locks to the newest versions allowed
	@tools/lock

.PHONY: clean
clean: ## Remove everything that was built or installed here
	@cargo clean --quiet
	@rm -rf .venv dist $(EXTENSION) $(LAB_EXTENSION) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

.PHONY: help
help: ## Print this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# What the targets above stand on.

.PHONY: tools
tools:
	@tools/check-tools

$(RUNNING): requirements.lock | tools
	@echo "Installing into .venv what running needs"
	@$(PYTHON) -m venv .venv
	@$(PIP_INSTALL) -r requirements.lock
	@touch $@

$(TESTING): requirements-dev.lock $(RUNNING)
	@echo "Installing into .venv what testing needs"
	@$(PIP_INSTALL) -r requirements-dev.lock
	@touch $@

$(NVRTC): requirements-gpu.lock $(RUNNING)
	@echo "Installing into .venv what compiles the kernels of GPUs"
	@$(PIP_INSTALL) -r requirements-gpu.lock
	@touch $@

# Apart, because Spark wants an older pandas than the tests.
$(SPARK): | tools
	@echo "Installing Spark into .venv/spark"
	@$(PYTHON) -m venv .venv/spark
	@.venv/spark/bin/python -m pip install --quiet --disable-pip-version-check pyspark==4.3.0 pyarrow==26.0.1
	@touch $@

# For this processor, so that the libraries compiled here are as fast as they get: RustCrypto's is then
# inlined. Ours choose their instructions when they run, either way.
.PHONY: $(PEERS)
$(PEERS): | tools
	@echo "Building the command that measures other libraries"
	@RUSTFLAGS="-C target-cpu=native" cargo build --quiet --locked --release -p sealift-peers --target-dir $(TARGET)/peers

$(EXTENSION): $(RUNNING) $(RUST_SOURCES) Cargo.toml Cargo.lock pyproject.toml
	@echo "Building the extension with cargo (minutes when cold, seconds later)"
	@PIP_QUIET=1 $(BIN)/maturin develop --release --locked
	@touch $@

# Behind the library's, which it depends on as a distribution: its own crates and a link are left to do.
$(LAB_EXTENSION): $(EXTENSION) lab/pyproject.toml
	@echo "Building the lab's extension with cargo"
	@cd lab && PIP_QUIET=1 ../$(BIN)/maturin develop --release --locked
	@touch $@
