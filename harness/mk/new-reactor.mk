# SPDX-License-Identifier: Apache-2.0
# Starts an engine: reactors/README.md goes on from there. NAME reaches the script in its
# environment, never as text of a command.

.PHONY: new-reactor
new-reactor: export NAME := $(value NAME)
new-reactor: ## Start reactors/NAME.c, a new engine, from a skeleton (NAME=x)
	$(Q)harness/mk/new-reactor.sh
