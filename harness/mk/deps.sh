#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that ParkBench needs and that are missing, and says which.
# Without root it prints the command instead. usage: harness/mk/deps.sh [lint] [boringssl-source]
set -u

build="gcc libc6-dev pkg-config libssl-dev android-libboringssl-dev libjansson-dev libconfig-dev
libhttp-parser-dev libev-dev liburing-dev libmnl-dev iptables"
plots="gnuplot-nox jq fonts-dejavu-core"
tests="libcmocka-dev curl openssl wrk iproute2 libasan8 libubsan1 libtsan2"

wanted="$build $plots $tests"
for extra in "$@"; do
	case $extra in
	lint) wanted="$wanted clang-tidy cppcheck" ;;
	boringssl-source) wanted="$wanted g++ dpkg-dev" ;;
	esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "make deps: this is no Debian; README.md names the packages needed" >&2
	exit 2
fi
missing=
for package in $wanted; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)
	[ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
	echo "make deps: everything is installed"
	exit 0
fi
install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" -ne 0 ]; then
	echo "make deps: packages are missing; as root run" >&2
	echo "  apt-get update && $install" >&2
	exit 2
fi
echo "make deps: installing$missing"
export DEBIAN_FRONTEND=noninteractive
# A list of packages that is old names files that are gone.
if ! { apt-get update -q && $install; }; then
	echo "make deps: the installation failed; run this yourself: apt-get update && $install" >&2
	exit 2
fi
