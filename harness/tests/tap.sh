# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What test scripts share: they print a line of TAP 12 a check, and the plan, and below a check that failed
# what their function `evidence` prints. Sourced by them.
checks=0

check() { # NAME STATUS
	checks=$((checks + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $checks - $1"
	else
		echo "not ok $checks - $1"
		evidence 2>/dev/null | sed 's/^/# /'
	fi
}

skip() { # NAME REASON
	checks=$((checks + 1))
	echo "ok $checks - $1 # SKIP $2"
}

# Comes last.
plan() {
	echo "1..$checks"
}

# All of the script is skipped, for everybody to see.
skip_all() { # REASON
	skip "all of ${0##*/}" "$1"
	plan
	exit 0
}

# Comes first: goes on in a network namespace of the script's own, where ports are nobody else's. Its lo is
# down.
in_private_network() {
	local net
	[ "${IN_PRIVATE_NETWORK:-}" = yes ] && return
	for net in "unshare -n" "unshare -Urn"; do
		$net true 2>/dev/null && IN_PRIVATE_NETWORK=yes exec $net "$0"
	done
	skip_all "no private network: unshare -n and unshare -Urn are refused"
}
