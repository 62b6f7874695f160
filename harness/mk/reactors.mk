# SPDX-License-Identifier: Apache-2.0
# Finds the engines: every reactors/*.c is one, or code that engines share; registry.c is always
# there. What a file needs to be built stands in its first comment, `build-pkg: liburing >= 2.3`
# (pkg-config) or `build-lib: ev` (a library without a .pc file); where that is missing the file is
# left out with a printed line.

REACTOR_ALL := $(filter-out reactors/registry.c,$(wildcard reactors/*.c))
reactor_need = $(shell sed -n 's/^.*build-$(2): *//p;/\*\//q' $(1))
reactor_has_pkg = $(shell pkg-config --exists '$(1)' 2>/dev/null && echo yes)
reactor_has_lib = $(shell echo 'int main(void){return 0;}' | \
	$(CC) -x c - -o /dev/null -l$(1) 2>/dev/null && echo yes)

REACTOR_SRCS := reactors/registry.c
REACTOR_LIBS :=
define reactor_discover
reactor_pkg := $(call reactor_need,$(1),pkg)
reactor_lib := $(call reactor_need,$(1),lib)
ifneq ($$(and $$(reactor_pkg),$$(if $$(call reactor_has_pkg,$$(reactor_pkg)),,missing)),)
$$(info $(1): not built, it needs the package $$(reactor_pkg))
else ifneq ($$(and $$(reactor_lib),$$(if $$(call reactor_has_lib,$$(reactor_lib)),,missing)),)
$$(info $(1): not built, it needs the library $$(reactor_lib))
else
REACTOR_SRCS += $(1)
REACTOR_LIBS += $$(if $$(reactor_pkg),$$(shell pkg-config --libs '$$(reactor_pkg)'))
REACTOR_LIBS += $$(if $$(reactor_lib),-l$$(reactor_lib))
endif
endef
$(foreach file,$(REACTOR_ALL),$(eval $(call reactor_discover,$(file))))
REACTOR_OBJS := $(REACTOR_SRCS:%.c=$(O)/obj/%.o)
