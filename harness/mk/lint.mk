# SPDX-License-Identifier: Apache-2.0
# Static checks, and the compilation database that editors and clang-tidy read. The files that both
# TLS libraries share are looked at with OpenSSL's headers.

LINT_SRCS := $(sort $(shell git ls-files -co --exclude-standard '*.c' 2>/dev/null))
lint_defines := -DTLS_PACKAGE=__FILE__ -DTLS_BUILD=__FILE__ -DTLS_LIBDIR=__FILE__
lint_include = $(if $(filter %/boringssl.c,$(1)),-I$(boringssl_include))
lint_entry = {"directory": "$(CURDIR)", "file": "$(1)", "command": \
	"gcc -std=gnu17 -D_GNU_SOURCE -I. $(call lint_include,$(1)) $(lint_defines) -c $(1)"}

.PHONY: lint compile_commands.json
lint: compile_commands.json ## clang-tidy and cppcheck over everything (deps-lint installs them)
	$(Q)clang-tidy --quiet -p . $(LINT_SRCS)
	$(Q)cppcheck --quiet --std=c11 --language=c -I. -D_GNU_SOURCE $(lint_defines) \
		--enable=warning,portability,performance --error-exitcode=1 \
		--inline-suppr --suppress=preprocessorErrorDirective \
		$(LINT_SRCS)

comma := ,
compile_commands.json: ## Write the compilation database
	$(say) GEN $@
	$(file >$@,[)
	$(foreach f,$(LINT_SRCS),$(file >>$@,$(call lint_entry,$(f))$(if $(filter-out $(f),$(lastword \
		$(LINT_SRCS))),$(comma))))
	$(file >>$@,])
