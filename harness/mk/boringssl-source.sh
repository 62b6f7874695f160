#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds BoringSSL from Debian's source package as static libraries, without OPENSSL_SMALL.
#
#   boringssl-source.sh DIR [CC]
#
# Writes DIR/include, DIR/libssl.a, DIR/libcrypto.a and, last, DIR/package (its name and version).
# The package comes from the Debian repositories this machine already uses: their addresses are
# taken from apt, and lists, cache and sources stay in DIR; nothing outside it changes.
set -eu

package=android-platform-external-boringssl
dir=$1
cc=${2:-cc}
keyring=/usr/share/keyrings/debian-archive-keyring

die() {
	echo "boringssl-source: $*" >&2
	exit 1
}

need() {
	command -v "$1" >/dev/null || die "$1 is missing: apt-get install $2"
}

# What apt knows of the configured binary repositories, as lines for their source side.
source_lists() {
	for file in "$keyring.pgp" "$keyring.gpg" ''; do
		if [ -e "$file" ]; then
			break
		fi
	done
	option=${file:+[signed-by=$file]}
	apt-get indextargets \
		--format "\$(ORIGIN)|deb-src $option \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
		'Created-By: Packages' | sed -n 's/^Debian|//p' | sort -u
}

private_apt() {
	apt-get -q \
		-o Dir::Etc::sourcelist="$dir/apt/sources.list" \
		-o Dir::Etc::sourceparts="$dir/apt/parts" \
		-o Dir::State::lists="$dir/apt/lists" \
		-o Dir::Cache="$dir/apt/cache" \
		-o APT::Sandbox::User="$(id -un)" "$@"
}

fetch() {
	mkdir -p "$dir/apt/parts" "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	source_lists >"$dir/apt/sources.list"
	[ -s "$dir/apt/sources.list" ] ||
		die "apt knows no Debian repository; run apt-get update, or set BORINGSSL_PREFIX"
	private_apt update
	(cd "$dir" && private_apt source --download-only "$package") ||
		die "no source package $package in the repositories of $dir/apt/sources.list"
}

for tool in apt-get:apt dpkg-source:dpkg-dev make:make ar:binutils g++:g++ "$cc:gcc"; do
	need "${tool%:*}" "${tool##*:}"
done
rm -rf "$dir"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
log=$dir/build.log

fetch >"$log" 2>&1 || {
	tail -n 20 "$log" >&2
	die "the source package could not be fetched; the whole log: $log"
}
{
	dpkg-source --no-check -x "$dir/$package"_*.dsc "$dir/source" &&
		make -C "$dir/source" -f "$PWD/harness/mk/boringssl-static.mk" -j"$(nproc)" \
			OUT="$dir" ARCH="$(dpkg --print-architecture)" CC="$cc" CXX=g++
} >>"$log" 2>&1 || {
	tail -n 20 "$log" >&2
	die "the build failed; the whole log: $log"
}
cp -R "$dir/source/src/include" "$dir/source/src/LICENSE" "$dir"
version=$(dpkg-parsechangelog -l "$dir/source/debian/changelog" -S Version)
rm -rf "$dir/obj" "$dir/apt" "$dir/source" "$dir/$package"_*
echo "$package $version" >"$dir/package"
