# Every command there is. `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help setup setup-tests build packages image demo test test-fast format lint deny smoke miri fuzz coverage threats faults soak bench bench-fib bench-sched bench-acl bench-links bench-memif instructions one-percent study-quick study-docs graph map yang site site-check doc clean

help: ## Lists these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Installs what Debian lacks to build and run it (root or sudo); starts and enables no service
	scripts/setup

setup-tests: ## The same, and what testing it takes: some 300 packages
	scripts/setup tests

build: ## Builds volleyd, volley and volley-lab, optimised, into target/release
	cargo build --release --bins -p volleyd -p volley -p volley-lab

packages: ## Packs the optimised programs into target/packages: .deb of this machine's Debian or Ubuntu, and an archive
	scripts/packages

image: ## Makes an OCI image of the optimised programs, target/packages/volley-VERSION.oci.tar, without a network
	scripts/image

demo: ## Shows the router between two hosts in network namespaces
	scripts/demo.sh

test: ## Runs every test; end-to-end ones only as root
	scripts/test

test-fast: ## Runs lints and unit tests
	scripts/test fast

format: ## Brings all Rust files into form; tells comments that are too long
	scripts/format write

lint: ## Checks format and lints
	scripts/format
	cargo clippy --workspace --all-targets -- -D warnings

threats: ## Looks whether each threat of SECURITY.md names a test that is there
	scripts/threats

deny: ## Holds licences, duplicates and advisories of what is linked to deny.toml
	scripts/deny

smoke: ## Runs the end-to-end tests, as root, with the programs of target/debug
	scripts/smoke

miri: ## Runs the crates with unsafe code under Miri, for long; make test takes the quick ones
	scripts/miri

fuzz: ## Fuzzes each target for FUZZ_SECONDS (60); KEEP=1 then keeps the smallest inputs that reach most, for make test
	scripts/fuzz $(if $(KEEP),&& scripts/fuzz keep)

coverage: ## Tells which lines of each crate the inputs kept of the fuzz targets come through
	scripts/fuzz coverage

faults: ## Plays seeds of the fault plan for FAULT_SECONDS (600), optimised; SEED=17 plays that one, and tells what it throws
	cargo run --release -p faults --bin volley-faults -- $(if $(SEED),--seed $(SEED),--seconds $(or $(FAULT_SECONDS),600) --jobs $(or $(JOBS),2))

soak: ## Opens and closes ports PORT_CYCLES (1000) times, then throws hostile traffic and random changes at the router for SOAK_SECONDS (3600), as root, with BGP up and pings that none is lost of
	PORT_CYCLES=$(or $(PORT_CYCLES),1000) cargo test --workspace --test descriptors -- --nocapture --test-threads 1
	cargo build --workspace --bins
	SOAK_SECONDS=$(or $(SOAK_SECONDS),3600) SOAK_PHASE=$(or $(SOAK_PHASE),20) SOAK_TABLE=$(abspath target/soak.md) smoke/soak.sh

bench: ## Measures cycles per packet, node by node, into target/bench.json; VPP=FOLDER measures VPP in turn with us
	cargo run --release -p bench --bin volley-bench -- --nodes $(if $(DATA),--data $(DATA)) $(if $(VPP),--vpp $(VPP))

bench-fib: ## Measures the forwarding tables by themselves, beside those of DPDK, into target/bench-fib.json
	cargo run --release -p fib-bench -- --plot $(if $(DATA),--data $(DATA))

bench-sched: ## Measures the schedulers, beside DPDK's and the kernel's, into target/bench-sched.json
	cargo run --release -p sched-bench

bench-acl: ## Measures access lists beside DPDK's, into target/bench-acl.json
	cargo run --release -p acl-bench

bench-links: ## Measures TCP, packets and round trips over veths beside Linux's own forwarding, in turn, into target/bench-links.json and .svg
	cargo build --release --bins -p volleyd -p volley -p volley-lab
	scripts/bench-links

bench-memif: ## Measures what a packet costs between two memifs, copied and not, beside VPP (VPP=FOLDER) in turn, into target/bench-memif.jsonl
	cargo build --release --bins -p volleyd -p volley -p volley-lab
	scripts/bench-memif

instructions: ## Counts instructions a packet by valgrind, and holds them against those of the repository
	scripts/instructions --check

one-percent: build ## Tries whether this machine, quiet, finds a build that costs 1 % more; as root, twelve minutes
	VOLLEY_BIN=$(CURDIR)/target/release scripts/one-percent

study-quick: build ## Measures a cut study of Volley into target/study, as root (STUDY=schedulers, DEVICES=volley,vpp=/opt/vpp for others)
	target/release/volley-lab study $(or $(STUDY),vector-router) --quick --devices $(or $(DEVICES),volley) --out target/study

study-docs: build ## Writes the report of a study that was carried out into docs/studies, and into the site's list (OUT=results/schedulers)
	scripts/study-docs $(or $(OUT),target/study)

graph: ## Draws docs/graph.svg and docs/graph/ from the nodes there are
	mkdir -p docs/graph
	cargo run --quiet -p nodes --example draw_graph docs

map: ## Writes the map of the crates in ARCHITECTURE.md from their manifests
	scripts/crate-map

yang: ## Writes the searches of the lab into its YANG module
	cargo run --quiet -p lab-trial --example yang_searches yang/*.yang

site: ## Builds the documentation site into target/site, by mdBook, which it brings, and the programs that are built
	scripts/site

site-check: ## Looks whether every page is in the site, and every link leads somewhere; needs no mdBook
	scripts/site --check

doc: ## Builds the documentation of all crates
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

clean: ## Removes everything that was built
	cargo clean
	rm -rf fuzz/target fuzz/artifacts
