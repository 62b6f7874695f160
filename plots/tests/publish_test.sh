#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plots/ - tests of `make publish`: what is copied and where to, and what is refused. In a tree of its
# own, in a temporary directory. Prints TAP.
# shellcheck disable=SC2317 # functions called through check()
set -u

here=$(realpath "$(dirname "$0")")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir -p "$top/results/local"
cp -R "$here/.." "$top/plots"
cp -R "$here/../../results/published" "$top/results/"
cp -R "$here/growth" "$top/results/local/one"
cp -R "$here/wakes/wake_us" "$top/results/local/one/"
mkdir "$top/results/local/one/logs"
for pilot in "$top/results/local/one/handshake_us"/1-*.txt; do
	cp "$pilot" "${pilot%.txt}-pilot.txt"
done
cd "$top" || exit 1
. "$here/check.sh"
publish() { # RUN NAME [HOST]
	RUN=$1 NAME=$2 HOST=${3:-} "$here/../../harness/mk/publish.sh" >"$top/said" 2>&1
}
refuses() { # MESSAGE RUN NAME [HOST]
	wanted=$1
	shift
	publish "$@"
	[ $? -eq 2 ] && grep -q "$wanted" "$top/said"
}
to=results/published/fixture-newcomer-9000-2c-24g-2026-01-02/growth
holds() {
	[ "$(cd "$to" && echo *)" = "$*" ]
}

echo 1..14
check "refuses no run" refuses 'which run' '' growth
check "refuses an unknown run" refuses 'there is no run' nowhere growth
check "refuses a name that is none" refuses 'NAME=../x' one ../x
check "refuses a host that is none" refuses 'HOST=My Machine' one growth 'My Machine'
check "publishes a run by its name" publish one growth
check "the directory is named after machine and date; no logs, no samples" \
	holds cells.jsonl handshake_quantiles.jsonl manifest.json plots timeline wake_quantiles.jsonl
check "the cells are as they were" cmp results/local/one/cells.jsonl $to/cells.jsonl
check "a line of quantiles a cell, none for its pilot" test "$(wc -l <$to/handshake_quantiles.jsonl)" -eq 4
check "of the wakes too" test "$(wc -l <$to/wake_quantiles.jsonl)" -eq 5
check "the figures are drawn" test -s $to/plots/latency.png
check "never overwrites" refuses 'never edited' one growth
check "takes a host" publish results/local/one growth other-1c
sed -i 's/"dirty": false/"dirty": true/' results/local/one/manifest.json
check "refuses a run from changed files" refuses 'clean commit' one dirty
sed -i 's/"cells": 10/"cells": 11/; s/"dirty": true/"dirty": false/' results/local/one/manifest.json
check "refuses an interrupted run" refuses '10 of 11 cells' one cut
exit $failed
