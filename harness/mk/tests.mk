# SPDX-License-Identifier: Apache-2.0
# Tests live in tests/ beside what they test: *_test.c are cmocka programs, *_test.sh scripts.
# Both print TAP; harness/tests/run.sh adds them up. Where a fixture*.c lies beside the tests, it is
# linked into each of them.

TEST_SRCS := $(wildcard reactors/tests/*_test.c tls_backends/tests/*_test.c harness/*/tests/*_test.c \
	harness/tests/*_test.c plots/tests/*_test.c)
# Of an engine that is left out the parts are not there to be tested.
ifeq ($(filter reactors/c1m.c,$(REACTOR_SRCS)),)
TEST_SRCS := $(filter-out reactors/tests/c1m_%,$(TEST_SRCS))
else
TEST_TOOLS := $(O)/tests/reactors/tests/bad_line
endif
TEST_BINS := $(patsubst %.c,$(O)/tests/%,$(filter-out \
	tls_backends/tests/record13%,$(TEST_SRCS))) $(RECORD13_TESTS)
TEST_SCRIPTS := $(wildcard harness/*/tests/*_test.sh harness/tests/*_test.sh plots/tests/*_test.sh)

.PHONY: check check-build check-asan check-tsan
check: all check-build ## Run every test (TEST=PATTERN: those whose path matches)
	$(Q)O=$(O) harness/tests/run.sh $(if $(TEST),-k '$(TEST)') $(TEST_BINS) $(TEST_SCRIPTS)

check-build: $(TEST_BINS) $(TEST_TOOLS)

test_fixture = $(patsubst %.c,$(O)/obj/%.o,$(wildcard $(dir $(1))fixture*.c))
$(foreach test,$(TEST_SRCS),$(eval $(test:%.c=$(O)/tests/%): $(call test_fixture,$(test))))
$(addprefix $(O)/tests/reactors/tests/,c1m_storm_test bad_line): $(O)/obj/reactors/tests/c1m_line.o
$(O)/tests/reactors/tests/c1m_storm_test: $(O)/obj/reactors/tests/c1m_talk.o

check-asan: ## Run the tests under AddressSanitizer and UBSan, in $(O)/asan
	$(Q)$(MAKE) O=$(O)/asan SANITIZE=address,undefined check

check-tsan: ## Run the tests under ThreadSanitizer, in $(O)/tsan
	$(Q)TSAN_OPTIONS=suppressions=$(CURDIR)/harness/tests/tsan.supp \
		$(MAKE) O=$(O)/tsan SANITIZE=thread check

$(O)/tests/%: $(O)/obj/%.o $(LIB_OBJS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PB_LDFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(PB_LIBS)

.PHONY: soak
soak: SECONDS ?= 900
soak: all ## Does the server leak? SECONDS=900 of wrk and garbage (REACTOR, TLS, PARK)
	$(Q)O=$(O) harness/tests/soak.sh $(SECONDS) $(REACTOR) $(TLS) $(PARK)
