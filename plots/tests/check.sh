# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# plots/ - what the tests of the scripts share: TAP, in the temporary directory $top. Sourced by them.
count=0
failed=0

# check DESCRIPTION COMMAND...: one TAP line from the command's status.
check() {
	count=$((count + 1))
	what=$1
	shift
	if "$@" >"$top/out" 2>&1; then
		echo "ok $count - $what"
	else
		failed=1
		echo "not ok $count - $what"
		cat "$top/out" "$top/said" 2>/dev/null | sed 's/^/# /'
	fi
}
