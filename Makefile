# SPDX-License-Identifier: GPL-2.0
#
# The front door: every command of the project, logic in scripts/.
# `make help` lists them. The overlay's kernel files have makefiles of their
# own (kernel/sched/Makefile.ht); this one never runs inside a kernel tree.

KVER   ?= 6.12
CONFIG ?= base
HT_CACHE ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/sched-ht

export KVER CONFIG HT_CACHE
export TOPO TESTS POINTS ROTATE DUR FUZZ_SECONDS DEB_CONFIG DEB_MODULES DEB_REVISION

.DEFAULT_GOAL := help
.NOTPARALLEL:
# A file called `test` or `check` must not stop a target.
.PHONY: $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*\#\# .*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## List the targets
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | \
		awk -F'\t' '{ printf "%-16s %s\n", $$1, $$2 }'
	@echo
	@echo "  Variables: KVER=$(KVER)  CONFIG=$(CONFIG) (configs/*.config, joined by +)"
	@echo "             HT_CACHE=$(HT_CACHE)"

deps: ## Install every Debian package needed (as root)
	@scripts/deps.sh $(KVER)

## Kernels

kernel: ## Build a kernel with SCHED_HT (KVER= CONFIG=base|debug|off|prod)
	@scripts/kernel.sh build $(KVER) $(CONFIG)

kernel-path: ## Build it, print only the path of its bzImage (make -s kernel-path)
	@scripts/kernel.sh path $(KVER) $(CONFIG)

patch: ## Write one self-contained patch for KVER into out/ and try it
	@scripts/mkpatch.sh $(KVER)

deb: ## Build installable kernel packages into out/ (DEB_CONFIG=file, else Debian's)
	@scripts/mkdeb.sh $(KVER)

htctl: ## Build the htctl command
	@$(MAKE) -C tools/ht

demo: ## Two openssl processes on 2 cores x 2 threads, under both classes
	@scripts/demo.sh

## Tests

test: ## Run every layer of tests; what CI runs (LAYERS="lint check ..." for some)
	@scripts/test.sh $(LAYERS)

check: ## Host tests of the decisions, with ASan and UBSan (under a minute)
	@$(MAKE) -s -C tools/testing/ht check

coverage: ## Branch coverage of the policy file
	@$(MAKE) -s -C tools/testing/ht coverage

fuzz: ## Fuzz the policy against its validators (FUZZ_SECONDS=60)
	@$(MAKE) -s -C tools/testing/ht fuzz

kunit: ## Run the decision tables inside a booted kernel
	@scripts/kunit.sh $(KVER) $(CONFIG)

selftest: ## Run the selftests under QEMU (TOPO= TESTS= CONFIG=)
	@scripts/selftest.sh

torture: ## Churn under CONFIG=debug (DUR=60)
	@scripts/torture.sh

cost: ## Count instructions of pipe and fork: SCHED_HT beside SCHED_NORMAL
	@scripts/cost.sh

bench: ## Fill the results table in the emulated SMT machine (BENCH="--rows S1 --runs 5")
	@tools/bench/htbench run --vm $(BENCH)

bench-short: ## The same in minutes: tests of the bench, then a few rows once
	@scripts/bench.sh short

sweep: ## Each tunable at several values, in the same machine (BENCH="--tunables wake_ns")
	@tools/bench/htbench sweep --vm $(BENCH)

plots: ## Tables and plots of the results there are (BENCH="--out DIR")
	@tools/bench/htbench report $(BENCH)

smtvm-check: ## Prove the emulated SMT machine: speeds, timers, a loaded host (SMTVM=-s: short)
	@$(MAKE) -s -C tools/smtvm check
	@scripts/smtvm-check.sh $(SMTVM)

bench-policy: ## Count instructions per decision on 4 to 4096 CPUs
	@$(MAKE) -s -C tools/testing/ht bench-policy

mutants: ## Break the class on purpose; show that each break is caught
	@scripts/mutants.sh

## Static checks

lint: ## checkpatch, sparse, kernel-doc, shellcheck, hook budget
	@scripts/lint.sh $(KVER)

hooks-check: ## Size of the hooks against their budget; do they apply without fuzz
	@scripts/hooks-check.sh $(KVER)

matrix: ## Compile kernel/sched under many configurations (POINTS=6 ROTATE=commit)
	@scripts/matrix.sh $(KVER)

off-check: ## With the option off, are the touched objects vanilla's
	@scripts/off-check.sh $(KVER)

## Cleaning

clean: ## Remove build products from the checkout
	@rm -rf out
	@for d in tools/ht tools/lib/ht tools/bench tools/smtvm tools/testing/ht tools/testing/selftests/sched_ht; do \
		if [ -f $$d/Makefile ]; then $(MAKE) -s -C $$d clean || exit 1; fi; done

cache-clean: ## Remove kernel trees and what was built (not ccache) from HT_CACHE
	@rm -rf "$(HT_CACHE)"/linux-[0-9]* "$(HT_CACHE)"/deb-[0-9]* \
		"$(HT_CACHE)"/scx-[0-9]* "$(HT_CACHE)"/stage.* "$(HT_CACHE)"/images \
		"$(HT_CACHE)"/vm
