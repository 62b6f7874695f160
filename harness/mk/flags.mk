# SPDX-License-Identifier: Apache-2.0
# Compiler and flags. SANITIZE=address,undefined or thread makes a checking build.

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifeq ($(CI),true)
WARNINGS += -Werror
endif
PB_CPPFLAGS := -D_GNU_SOURCE -I.
PB_CFLAGS := -std=gnu17 $(WARNINGS) -MMD -MP -pthread
PB_LDFLAGS := -pthread
ifneq ($(SANITIZE),)
PB_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
PB_LDFLAGS += -fsanitize=$(SANITIZE)
endif
