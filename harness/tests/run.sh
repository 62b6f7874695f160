#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs test programs and scripts that print TAP, shows what failed or was skipped, and ends with
# one line: N passed, N failed, N skipped.
# usage: harness/tests/run.sh [-k PATTERN] TEST...
set -u

pattern=
if [ "${1:-}" = -k ]; then
	pattern=$2
	shift 2
fi
export CMOCKA_MESSAGE_OUTPUT=TAP
export PARKBENCH_TLS_DIR=${PARKBENCH_TLS_DIR:-$O/tls}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM HUP
passed=0 failed=0 skipped=0

# count NAME STATUS SECONDS: a test that dies or prints no plan is one failure, whatever it had
# passed before.
count() {
	local name=$1 status=$2 seconds=$3 ok bad skip
	skip=$(grep -cE '^[[:space:]]*(not )?ok .*# SKIP' "$log")
	ok=$(grep -vE '# SKIP' "$log" | grep -cE '^[[:space:]]*ok ')
	bad=$(grep -vE '# SKIP' "$log" | grep -cE '^[[:space:]]*not ok ')
	if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ $((ok + skip)) -eq 0 ]; }; then
		bad=1
		echo "not ok - $name ended with status $status" >>"$log"
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	printf '%-48s %4d s %4d passed' "$name" "$seconds" "$ok"
	[ "$bad" -gt 0 ] && printf ', %d FAILED' "$bad"
	[ "$skip" -gt 0 ] && printf ', %d skipped' "$skip"
	printf '\n'
	[ "$bad" -gt 0 ] && grep -vE '^[[:space:]]*ok |# SKIP' "$log" | sed 's/^/    /' | tail -n 60
	[ "$skip" -gt 0 ] && grep -E '# SKIP' "$log" | sed 's/^[[:space:]]*/    /' | sort | uniq
}

for test in "$@"; do
	case $test in *"$pattern"*) ;; *) continue ;; esac
	# In the foreground: Ctrl-C is the test's, too, which ends what it has started.
	begun=$SECONDS
	timeout --foreground -k 10 600 "$test" >"$log" 2>&1 </dev/null
	count "${test#"$O"/tests/}" $? $((SECONDS - begun))
done

printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
