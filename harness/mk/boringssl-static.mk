# SPDX-License-Identifier: Apache-2.0
# Run inside the unpacked source package by boringssl-source.sh: the two libraries as archives,
# from the package's own lists of sources. Unlike Debian's build there is no OPENSSL_SMALL, which
# trades the fast P-256 for size.
#
# OUT is where the archives go, ARCH the Debian architecture (its assembler list is chosen by it).

include debian/sources.mk

amd64_sources = $(linux_x86_64_sources)
arm64_sources = $(linux_aarch64_sources)
armhf_sources = $(linux_arm_sources)
i386_sources = $(linux_x86_sources)
ppc64el_sources = $(linux_ppc64le_sources)

crypto_objects = $(patsubst %,$(OUT)/obj/%.o,$(crypto_sources) $($(ARCH)_sources))
ssl_objects = $(patsubst %,$(OUT)/obj/%.o,$(ssl_sources))
FLAGS = -O2 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -fno-strict-aliasing \
	-DNDEBUG -DBORINGSSL_IMPLEMENTATION -Isrc/crypto -Isrc/include -pthread
ifeq ($($(ARCH)_sources),)
FLAGS += -DOPENSSL_NO_ASM
endif

all: $(OUT)/libcrypto.a $(OUT)/libssl.a

$(OUT)/libcrypto.a: $(crypto_objects)
$(OUT)/libssl.a: $(ssl_objects)

$(OUT)/lib%.a:
	rm -f $@
	ar rcs $@ $^

$(OUT)/obj/%.c.o: %.c
	mkdir -p $(@D)
	$(CC) -std=gnu11 $(FLAGS) -c -o $@ $<

$(OUT)/obj/%.S.o: %.S
	mkdir -p $(@D)
	$(CC) $(FLAGS) -Wa,--noexecstack -c -o $@ $<

$(OUT)/obj/%.cc.o: %.cc
	mkdir -p $(@D)
	$(CXX) -std=gnu++2a $(FLAGS) -fno-exceptions -fno-rtti -c -o $@ $<
