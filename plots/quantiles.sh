#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plots/ - the single times of a run, a line of JSON a cell: 2,001 quantiles, least to largest, in
# place of what may be a million samples. Of handshakes, or of wakes. From handshake_us/ or wake_us/, and
# from handshake_quantiles.jsonl or wake_quantiles.jsonl: a published run has only that, one that was
# gone on with has both. Without either there is no output.
# usage: plots/quantiles.sh RUN-DIRECTORY handshake|wake
set -eu

if [ -f "$1/$2_quantiles.jsonl" ]; then
	cat "$1/$2_quantiles.jsonl"
fi
for file in "$1/$2_us"/*.txt; do
	[ -s "$file" ] || continue
	# A pilot is no cell: it only foretells the memory of one.
	case $file in *-pilot.txt) continue ;; esac
	name=$(basename "$file" .txt)
	# Nearest rank: the smallest sample that at least this part of all do not exceed.
	sort -n "$file" | awk -v order="${name%%-*}" -v cell="${name#*-}" -v steps=2000 '
		{ us[NR] = $1 + 0 }
		END {
			printf "{\"order\":%d,\"cell\":\"%s\",\"count\":%d,\"us\":[", order, cell, NR
			for (i = 0; i <= steps; i++) {
				rank = int((i * NR + steps - 1) / steps)
				printf "%s%.12g", i ? "," : "", us[rank < 1 ? 1 : rank]
			}
			print "]}"
		}'
done | sort -t : -k 2n
