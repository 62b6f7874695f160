#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plots/ - the handshake times of a run, a line of JSON a cell: 2,001 quantiles, least to largest, in
# place of what may be a million samples. From handshake_us/, and from handshake_quantiles.jsonl: a
# published run has only that, one that was gone on with has both. Without either there is no output.
# usage: plots/quantiles.sh RUN-DIRECTORY
set -eu

if [ -f "$1/handshake_quantiles.jsonl" ]; then
	cat "$1/handshake_quantiles.jsonl"
fi
for file in "$1"/handshake_us/*.txt; do
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
				printf "%s%d", i ? "," : "", us[rank < 1 ? 1 : rank]
			}
			print "]}"
		}'
done | sort -t : -k 2n
