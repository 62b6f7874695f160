# SPDX-License-Identifier: Apache-2.0
# `make deps [TARGET...]`: installs, then makes the other targets with a fresh look around.

deps_targets := $(filter deps deps-lint,$(MAKECMDGOALS))
other_targets := $(filter-out deps deps-lint,$(MAKECMDGOALS))
# Files are compiled side by side; several targets would be made side by side as well.
deps_jobs = $(if $(filter-out 1,$(words $(other_targets)))$(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

deps_extra := $(if $(filter source,$(BORINGSSL)),boringssl-source)

.PHONY: $(MAKECMDGOALS)
deps:
	$(Q)harness/mk/deps.sh $(deps_extra)

deps-lint:
	$(Q)harness/mk/deps.sh lint $(deps_extra)

ifneq ($(other_targets),)
$(firstword $(other_targets)): $(deps_targets)
	$(Q)$(MAKE) $(deps_jobs) $(other_targets)

$(wordlist 2,$(words $(other_targets)),$(other_targets)): $(firstword $(other_targets))
	@:
endif
