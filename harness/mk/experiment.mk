# SPDX-License-Identifier: Apache-2.0
# Runs and their plots. The run keeps results/local/latest pointing at itself; plots need no root.

EXP ?= c10k

.PHONY: experiment smoke plots publish

# A run whose gates failed (status 1) is drawn too: the plots show which cells, and why.
experiment: all ## Run experiments/$(EXP).cfg (EXP=c10k), then draw its plots
	$(Q)$(O)/parkbench run experiments/$(EXP).cfg; status=$$?; \
	if [ $$status -le 1 ]; then plots/draw.sh results/local/latest || exit; fi; \
	exit $$status

smoke: override EXP := smoke
smoke: experiment ## Run the smallest experiment, a few seconds a cell

plots: export CELL := $(value CELL)
plots: ## Draw the plots of DATA=<run directory or name> | published
	$(Q)plots/draw.sh '$(DATA)'

publish: export RUN := $(value RUN)
publish: export NAME := $(value NAME)
publish: export HOST := $(value HOST)
publish: ## Copy a run to results/published (RUN=DIR NAME=c10k) and draw it
	$(Q)harness/mk/publish.sh
