# SPDX-License-Identifier: Apache-2.0
# Our published numbers again, on this machine: results/CLAIMS.md says which, and what each takes.
# An EXP that somebody gave goes before SCALE; the name reaches the script in its environment, never
# as text of a command. make turns every failure into status 2; `parkbench compare` has finer ones.

SCALE ?= c10k

.PHONY: reproduce claims
reproduce: export EXPERIMENT := $(if $(filter file,$(origin EXP)),$(value SCALE),$(value EXP))
reproduce: all ## Run SCALE=c10k|c100k|c1m|c4m|c10m (or EXP=NAME) and compare with what is published
	$(Q)O='$(O)' harness/mk/reproduce.sh

claims: ## Write results/CLAIMS.md from results/claims.json
	$(Q)jq -r -f results/claims.jq results/claims.json >results/CLAIMS.md.new
	$(Q)mv results/CLAIMS.md.new results/CLAIMS.md
