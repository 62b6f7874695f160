# SPDX-License-Identifier: Apache-2.0
# `make deps [TARGET...]`: installs, then makes the other targets with a fresh look around.

deps_targets := $(filter deps deps-lint,$(MAKECMDGOALS))
other_targets := $(filter-out deps deps-lint,$(MAKECMDGOALS))

deps_extra := $(if $(filter source,$(BORINGSSL)),boringssl-source)

.PHONY: $(MAKECMDGOALS)
deps:
	$(Q)harness/mk/deps.sh $(deps_extra)

deps-lint:
	$(Q)harness/mk/deps.sh lint $(deps_extra)

ifneq ($(other_targets),)
$(firstword $(other_targets)): $(deps_targets)
	$(Q)$(MAKE) $(other_targets)

$(wordlist 2,$(words $(other_targets)),$(other_targets)): $(firstword $(other_targets))
	@:
endif
