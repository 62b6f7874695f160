# SPDX-License-Identifier: Apache-2.0
# ParkBench: how little can an idle TLS connection cost? `make help` lists the targets.
# Rules live in harness/mk/*.mk; all output goes to $(O), build/ unless told otherwise.

O ?= build
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),@:,@printf '  %-7s %s\n')

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# What can be built is found out when this file is read: `make deps check` therefore installs
# first, and reads it again for the rest.
ifneq ($(filter deps deps-lint,$(MAKECMDGOALS)),)
include harness/mk/deps.mk
else
include harness/mk/flags.mk
include harness/mk/reactors.mk
include harness/mk/new-reactor.mk
include harness/mk/tls.mk
include harness/mk/programs.mk
include harness/mk/tests.mk
include harness/mk/fuzz.mk
include harness/mk/lint.mk
include harness/mk/experiment.mk
include harness/mk/reproduce.mk

.PHONY: all clean help deps deps-lint

all: programs tls ## Build the programs and the TLS plug-ins (default)

clean: ## Remove everything built
	$(Q)rm -rf $(O) compile_commands.json

deps: ## Install what is missing (Debian packages; without root: say which)
deps-lint: ## The same, with what `make lint` needs

help: ## List the targets
	@printf 'usage: make [V=1] [O=DIR] TARGET...\n\n'
	@awk -F ':.*## ' '/^[a-z][a-z0-9_.-]*:.*## / { printf "  %-22s %s\n", $$1, $$2 }' \
		$(filter-out %.d,$(MAKEFILE_LIST))
	@printf '\nvariables: BORINGSSL=debian|source, BORINGSSL_PREFIX=DIR, EXP=NAME, SCALE=c10k|c100k|c1m|c4m|c10m, DATA=DIR|published\n'
endif
