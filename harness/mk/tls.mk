# SPDX-License-Identifier: Apache-2.0
# The TLS backends: each is a plug-in of its own, $(O)/tls/<name>.so. A backend whose library is
# missing is left out with a printed line.
#
# BORINGSSL=debian (default) links Debian's shared libraries, BORINGSSL=source builds Debian's
# source package without OPENSSL_SMALL and links it statically, BORINGSSL_PREFIX=DIR takes
# DIR/include and DIR/lib/libssl.a, libcrypto.a or their .so. A change rebuilds the plug-in.
#
# For each library: _package and _build are what its plug-in says of itself, _libdir is where its
# shared libraries are (empty: linked statically); the plug-in checks that they answer from there.

BORINGSSL ?= debian
BORINGSSL_PREFIX ?=
ifeq ($(filter debian source,$(BORINGSSL)),)
$(error BORINGSSL is debian or source, not '$(BORINGSSL)'; or give BORINGSSL_PREFIX=DIR)
endif

TLS_GLUE := $(patsubst tls_backends/%.c,%,$(wildcard tls_backends/libssl_*.c tls_backends/record13*.c))
TLS_PLUGINS := plain
tls_dir_of = $(patsubst %/,%,$(dir $(1)))
tls_package_of = $(or $(shell dpkg-query -W -f '$${Package} $${Version}' \
	"$$(dpkg-query -S $(1) 2>/dev/null | cut -d: -f1)" 2>/dev/null),no Debian package)

openssl_library := $(realpath $(shell $(CC) -print-file-name=libssl.so))
openssl_missing := $(shell pkg-config --exists 'libssl >= 3' 2>/dev/null || echo yes)
ifeq ($(openssl_missing)$(if $(openssl_library),,yes),)
TLS_PLUGINS += openssl
openssl_package := $(call tls_package_of,$(openssl_library))
openssl_build := shared
openssl_libdir := $(call tls_dir_of,$(openssl_library))
openssl_cflags := $(shell pkg-config --cflags libssl libcrypto)
openssl_libs := $(shell pkg-config --libs libssl libcrypto)
else
$(info tls_backends/openssl.c: not built, it needs the package libssl-dev (OpenSSL 3))
endif

boringssl_source := $(abspath $(O))/boringssl-source
boringssl_static = -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,--gc-sections $(1)/libssl.a \
	$(1)/libcrypto.a -Wl,--as-needed -lstdc++
boringssl_shared = -L$(1) -Wl,-rpath,$(1) -lssl -lcrypto
boringssl_depends :=

ifneq ($(BORINGSSL_PREFIX),)
boringssl_prefix := $(abspath $(BORINGSSL_PREFIX))
boringssl_include := $(boringssl_prefix)/include
boringssl_package := $(boringssl_prefix)
ifneq ($(wildcard $(boringssl_prefix)/lib/libssl.a),)
boringssl_build := own build, static
boringssl_libdir :=
boringssl_libs := $(call boringssl_static,$(boringssl_prefix)/lib)
else
boringssl_build := own build, shared
boringssl_libdir := $(call tls_dir_of,$(realpath $(boringssl_prefix)/lib/libssl.so))
boringssl_libs := $(call boringssl_shared,$(boringssl_prefix)/lib)
endif
boringssl_missing := $(if $(wildcard $(boringssl_prefix)/lib/libssl.a \
	$(boringssl_prefix)/lib/libssl.so),,$(boringssl_prefix)/lib/libssl.a or libssl.so)
else ifeq ($(BORINGSSL),source)
boringssl_include := $(boringssl_source)/include
boringssl_depends := $(boringssl_source)/package
boringssl_package = $(file <$(boringssl_depends))
boringssl_build := Debian source, static, without OPENSSL_SMALL, -O2
boringssl_libdir :=
boringssl_libs := $(call boringssl_static,$(boringssl_source))
boringssl_missing :=
else
boringssl_include := /usr/include/android
boringssl_libdir := $(realpath /usr/lib/$(shell $(CC) -print-multiarch)/android)
boringssl_package := $(call tls_package_of,$(realpath $(boringssl_libdir)/libssl.so))
boringssl_build := Debian, shared, OPENSSL_SMALL
boringssl_libs := $(call boringssl_shared,$(boringssl_libdir))
boringssl_missing := $(if $(and $(wildcard $(boringssl_include)/openssl/base.h),$(wildcard \
	$(boringssl_libdir)/libssl.so)),,the package android-libboringssl-dev (or BORINGSSL=source))
endif
ifeq ($(boringssl_missing),)
TLS_PLUGINS += boringssl
else ifneq ($(BORINGSSL_PREFIX),)
$(error BORINGSSL_PREFIX=$(BORINGSSL_PREFIX): there is no $(boringssl_missing))
else
$(info tls_backends/boringssl.c: not built, it needs $(boringssl_missing))
endif

.PHONY: tls
tls: $(TLS_PLUGINS:%=$(O)/tls/%.so) ## Build the TLS backends

# nodelete: a TLS library leaves thread destructors behind that outlive dlclose.
tls_objects = $(patsubst %,$(O)/obj/tls_backends/$(1)/%.o,$(1) $(TLS_GLUE))
tls_defines = -DTLS_PACKAGE='"$($(1)_package)"' -DTLS_BUILD='"$($(1)_build)"' \
	-DTLS_LIBDIR='"$($(1)_libdir)"'
tls_compile = $(CC) $(PB_CPPFLAGS) $(1) $(CPPFLAGS) $(PB_CFLAGS) -fPIC -fvisibility=hidden \
	$(CFLAGS) -c -o $@ $<
tls_link = $(CC) $(PB_LDFLAGS) -shared -Wl,-z,nodelete $(1) $(LDFLAGS) -o $@ $(filter %.o,$^) $(2)
tls_strict := -Wl,-z,defs -Wl,-z,now
tls_lenient := -Wl,-z,lazy

$(O)/obj/tls_backends/plain/%.o: tls_backends/%.c
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(call tls_compile)

$(O)/obj/tls_backends/openssl/%.o: tls_backends/%.c $(O)/obj/tls_backends/openssl.config
	$(say) CC '$< (openssl)'
	$(Q)mkdir -p $(@D)
	$(Q)$(call tls_compile,$(openssl_cflags) $(call tls_defines,openssl))

$(O)/obj/tls_backends/boringssl/%.o: tls_backends/%.c $(O)/obj/tls_backends/boringssl.config
	$(say) CC '$< (boringssl)'
	$(Q)mkdir -p $(@D)
	$(Q)$(call tls_compile,-I$(boringssl_include) $(call tls_defines,boringssl))

# What a plug-in is built with; rewritten only when that changes.
.PHONY: tls-force
$(O)/obj/tls_backends/boringssl.config: $(boringssl_depends)
$(O)/obj/tls_backends/%.config: tls-force
	$(Q)mkdir -p $(@D)
	$(Q)echo $(call tls_defines,$*) $($*_libs) \
		$(if $($*_depends),`stat -c %Y $($*_depends)`) >$@.new
	$(Q)if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(boringssl_source)/package: harness/mk/boringssl-source.sh harness/mk/boringssl-static.mk
	$(say) BUILD '$(@D): BoringSSL from the Debian source package'
	$(Q)harness/mk/boringssl-source.sh '$(@D)' '$(CC)'

$(O)/tls/plain.so: $(O)/obj/tls_backends/plain/plain.o
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(call tls_link,$(tls_strict))

$(O)/tls/openssl.so: $(call tls_objects,openssl)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(call tls_link,$(tls_strict),$(openssl_libs))

$(O)/tls/boringssl.so: $(call tls_objects,boringssl)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(call tls_link,$(tls_strict),$(boringssl_libs))

# For the tests: each plug-in linked with the other's library. It must refuse to serve.
tls_wrong := $(if $(and $(boringssl_libdir),$(filter openssl,$(TLS_PLUGINS)),$(filter \
	boringssl,$(TLS_PLUGINS))),$(patsubst %,$(O)/tests/tls_wrong/%.so,openssl boringssl))
check-build: $(tls_wrong)

$(O)/tests/tls_wrong/openssl.so: $(call tls_objects,openssl) $(O)/obj/tls_backends/boringssl.config
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(call tls_link,$(tls_lenient),$(boringssl_libs))

$(O)/tests/tls_wrong/boringssl.so: $(call tls_objects,boringssl)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(call tls_link,$(tls_lenient),$(openssl_libs))

# The record layer by itself, a test program for each library: both define the same names, so these
# open no plug-ins.
record13_libraries := $(filter openssl boringssl,$(TLS_PLUGINS))
RECORD13_TESTS := $(foreach library,$(record13_libraries),$(patsubst %_test.c,$(O)/tests/%_$(library)_test,\
	$(wildcard tls_backends/tests/record13*_test.c)))
record13_objects = $(patsubst tls_backends/%.c,$(O)/obj/tls_backends/$(1)/%.o,$(wildcard \
	tls_backends/record13*.c))
record13_link = $(CC) $(PB_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -lcmocka $(1)

$(O)/tests/tls_backends/tests/%_openssl_test: $(O)/obj/tls_backends/tests/%_test.o \
		$(call record13_objects,openssl)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(call record13_link,$(openssl_libs))

$(O)/tests/tls_backends/tests/%_boringssl_test: $(O)/obj/tls_backends/tests/%_test.o \
		$(call record13_objects,boringssl)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(call record13_link,$(boringssl_libs))
