#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that ParkBench needs and that are missing, and says which.
# Without root it prints the command instead. usage: harness/mk/deps.sh [lint] [boringssl-source]
set -u

build="gcc libc6-dev pkg-config libssl-dev android-libboringssl-dev libjansson-dev libconfig-dev
libhttp-parser-dev libev-dev liburing-dev libmnl-dev iptables"
plots="gnuplot-nox jq fonts-dejavu-core"
tests="libcmocka-dev iproute2 libasan8 libubsan1 libtsan2 clang libclang-rt-dev"
peers="curl openssl wrk gnutls-bin nghttp2-client python3 nginx sslscan"

wanted="$build $plots $tests $peers"
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
install="apt-get install -y --no-install-recommends"
if [ "$(id -u)" -ne 0 ]; then
	echo "make deps: packages are missing; as root run" >&2
	echo "  apt-get update && $install$missing" >&2
	case $missing in *' nginx'*)
		echo "  update-rc.d nginx disable; service nginx stop  # the tests start their own" >&2 ;;
	esac
	exit 2
fi

# The tests want the program nginx, but its package brings a service on port 80. It is kept from
# starting (by a policy for the time of the installation, where the machine has none of its own),
# and from starting at the next boot. A service that was there before is left alone.
policy=/usr/sbin/policy-rc.d
policy_is_ours=
install_nginx() {
	if [ ! -e "$policy" ]; then
		policy_is_ours=yes
		printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" || return 1
	fi
	$install nginx || return 1
	update-rc.d nginx disable && service nginx stop
	echo "make deps: nginx was installed, its service is disabled"
}

clean_up() {
	[ -z "$policy_is_ours" ] || rm -f "$policy"
}
trap clean_up EXIT
trap 'exit 2' INT TERM

install_all() {
	# A list of packages that is old names files that are gone.
	apt-get update -q || return 1
	others=
	for package in $missing; do
		[ "$package" = nginx ] || others="$others $package"
	done
	[ -z "$others" ] || $install $others || return 1
	[ "$others" = "$missing" ] || install_nginx
}

echo "make deps: installing$missing"
export DEBIAN_FRONTEND=noninteractive
if ! install_all; then
	echo "make deps: the installation failed; run this yourself:" >&2
	echo "  apt-get update && $install$missing" >&2
	exit 2
fi
