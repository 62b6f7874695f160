# SPDX-License-Identifier: Apache-2.0
# `make deps [TARGET...]`: installs, then makes the other targets with a fresh look around.

deps_targets := $(filter deps deps-lint,$(MAKECMDGOALS))
other_targets := $(filter-out deps deps-lint,$(MAKECMDGOALS))

.PHONY: $(MAKECMDGOALS)
deps:
	$(Q)harness/mk/deps.sh

deps-lint:
	$(Q)harness/mk/deps.sh lint

ifneq ($(other_targets),)
$(firstword $(other_targets)): $(deps_targets)
	$(Q)$(MAKE) $(other_targets)

$(wordlist 2,$(words $(other_targets)),$(other_targets)): $(firstword $(other_targets))
	@:
endif
