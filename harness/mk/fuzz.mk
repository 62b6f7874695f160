# SPDX-License-Identifier: Apache-2.0
# The fuzz targets (harness/fuzz): built twice. $(O)/tests/harness/fuzz/<target>_test replays the
# seeds as part of `make check`, with any compiler; $(O)/fuzz/<target>/<target> is the fuzzer and
# needs clang. The record layer's targets exist for each TLS library.

FUZZ_CLANG := $(shell command -v clang 2>/dev/null)
FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer

fuzz_record13 := harness/fuzz/fail.c harness/fuzz/peers.c harness/fuzz/peers_output.c \
	$(wildcard tls_backends/record13*.c)
fuzz_libraries := $(filter openssl boringssl,$(TLS_PLUGINS))
boringssl_cflags = -I$(boringssl_include)

FUZZ_TARGETS := http
fuzz_http_srcs := harness/fuzz/http.c harness/fuzz/fail.c harness/server/http.c harness/common/body.c
fuzz_http_libs := -Wl,--wrap=time -lhttp_parser

define fuzz_of_library
FUZZ_TARGETS += $(1)_$(2)
fuzz_$(1)_$(2)_srcs := harness/fuzz/$(1).c $(fuzz_record13)
fuzz_$(1)_$(2)_config := $(O)/obj/tls_backends/$(2).config
fuzz_$(1)_$(2)_cflags = $$($(2)_cflags)
fuzz_$(1)_$(2)_libs = $$($(2)_libs)
endef
$(foreach library,$(fuzz_libraries),$(foreach target,record_decrypt post_handshake,\
	$(eval $(call fuzz_of_library,$(target),$(library)))))

fuzz_headers := $(wildcard harness/fuzz/*.h harness/server/*.h tls_backends/*.h \
	tls_backends/tests/record13*.h)
fuzz_compile = $(1) $(PB_CPPFLAGS) $(fuzz_$(2)_cflags) $(CPPFLAGS) -std=gnu17 $(WARNINGS) \
	-o $@ $(filter %.c,$^) $(LDFLAGS) $(fuzz_$(2)_libs)
fuzz_sanitize := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer)

define fuzz_rules
$$(O)/tests/harness/fuzz/$(1)_test: harness/fuzz/replay.c $$(fuzz_$(1)_srcs) $$(fuzz_headers) \
		$$(fuzz_$(1)_config)
	$$(say) CC $$@
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(call fuzz_compile,$$(CC) $$(CFLAGS) $$(fuzz_sanitize),$(1))

$$(O)/fuzz/$(1)/$(1): $$(fuzz_$(1)_srcs) $$(fuzz_headers) $$(fuzz_$(1)_config)
	$$(say) CC $$@
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(call fuzz_compile,$$(FUZZ_CLANG) $$(FUZZ_FLAGS),$(1))
endef
$(foreach target,$(FUZZ_TARGETS),$(eval $(call fuzz_rules,$(target))))

FUZZ_TESTS := $(FUZZ_TARGETS:%=$(O)/tests/harness/fuzz/%_test)
TEST_BINS += $(FUZZ_TESTS)
check-build: $(FUZZ_TESTS)
fuzz_chosen := $(if $(TEST),$(foreach target,$(FUZZ_TARGETS),$(if $(findstring \
	$(TEST),$(target)),$(target))),$(FUZZ_TARGETS))
fuzz_programs := $(foreach target,$(fuzz_chosen),$(O)/fuzz/$(target)/$(target))

.PHONY: fuzz fuzz-clang
fuzz: SECONDS ?= 60
fuzz: fuzz-clang $(FUZZ_TESTS) $(fuzz_programs)
fuzz: ## Run each fuzz target for SECONDS=60 (TEST=PATTERN: those)
	$(Q)O=$(O) harness/fuzz/run.sh $(SECONDS) $(fuzz_programs)

fuzz-clang:
	$(if $(FUZZ_CLANG),,$(error make fuzz needs clang with its sanitizers: `make deps`, or as \
	root `apt-get install clang libclang-rt-dev`))
