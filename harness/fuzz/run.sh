#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets one after the other, each for so many seconds, from its seeds and from what
# earlier runs found worth keeping. Inputs that break something are kept; status 1 says there are.
# usage: O=DIR harness/fuzz/run.sh SECONDS TARGET...
set -u

seconds=$1
shift
if [ $# -eq 0 ]; then
	echo "make fuzz: no such target; there are $(cd "$O/tests/harness/fuzz" && echo *_test | sed 's/_test//g')" >&2
	exit 2
fi
# Read beyond an allocation and the like are ends, as libFuzzer expects.
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
found=0
for target in "$@"; do
	name=${target##*/}
	dir=$O/fuzz/$name
	log=$dir/log
	mkdir -p "$dir/corpus" "$dir/seeds" "$dir/findings"
	"$O/tests/harness/fuzz/${name}_test" --seeds "$dir/seeds" || exit 2
	"$target" -max_total_time="$seconds" -max_len=12000 -timeout=25 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="$dir/findings/" "$dir/corpus" "$dir/seeds" \
		>"$log" 2>&1
	status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	cover=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
	if [ $status -eq 0 ]; then
		printf '%-28s nothing found: %s runs in %s s, %s edges covered\n' \
			"$name" "$runs" "$seconds" "$cover"
	else
		found=1
		printf '%-28s FOUND: %s\n' "$name" "$(grep -E -m 1 'broken promise|ERROR: |error: ' "$log")"
		printf '  see %s; once more: %s %s\n' "$log" \
			"$O/tests/harness/fuzz/${name}_test" \
			"$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)"
	fi
done
exit $found
