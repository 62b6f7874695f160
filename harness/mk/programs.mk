# SPDX-License-Identifier: Apache-2.0
# The programs. Objects are linked directly, never through an archive: an archive would drop the
# engines, which nobody calls by name.

PROGRAMS := $(O)/parkbench $(O)/parkbench-server $(O)/parkbench-load
program_lib = $(patsubst %.c,$(O)/obj/%.o,$(filter-out %/main.c,$(wildcard harness/$(1)/*.c)))
COMMON_OBJS := $(call program_lib,common) $(call program_lib,core) $(REACTOR_OBJS)
SERVER_OBJS := $(call program_lib,server)
LOAD_OBJS := $(call program_lib,load)
BENCH_OBJS := $(call program_lib,bench) $(call program_lib,measure)
LIB_OBJS := $(COMMON_OBJS) $(SERVER_OBJS) $(LOAD_OBJS) $(BENCH_OBJS)
PB_LIBS := -ljansson -lconfig -lhttp_parser -ldl -lm $(REACTOR_LIBS)

.PHONY: programs
programs: $(PROGRAMS) ## Build parkbench, parkbench-server and parkbench-load

$(O)/parkbench: $(O)/obj/harness/bench/main.o $(COMMON_OBJS) $(BENCH_OBJS)
$(O)/parkbench-server: $(O)/obj/harness/server/main.o $(COMMON_OBJS) $(SERVER_OBJS)
$(O)/parkbench-load: $(O)/obj/harness/load/main.o $(COMMON_OBJS) $(LOAD_OBJS)

$(PROGRAMS):
	$(say) LINK $@
	$(Q)$(CC) $(PB_LDFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $^ $(PB_LIBS)

$(O)/obj/%.o: %.c
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PB_CPPFLAGS) $(CPPFLAGS) $(PB_CFLAGS) $(CFLAGS) -c -o $@ $<

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
