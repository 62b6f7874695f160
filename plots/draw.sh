#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plots/ - draws every figure that a run has data for, as PNG and SVG, into its plots/ directory.
# CELL=NAME: of the timelines, that cell's.
# usage: [CELL=NAME] plots/draw.sh RUN-DIRECTORY | RUN-NAME | published
# Exit status: 0 drawn, 1 the data or a tool failed, 2 there is no such data.
set -eu

root=$(dirname "$0")/..
local=$root/results/local
published=$root/results/published
data=${1-}

runs_in() {
	find "$1" -name cells.jsonl 2>/dev/null | sort | sed 's,/cells.jsonl$,,'
}

no_data() {
	there=$({ runs_in "$local"; runs_in "$published"; } | sed 's,^.*/results/,  results/,')
	echo "plots: $1
usage: make plots DATA=<run directory or name> | DATA=published; there are:
${there:-  none yet: make experiment makes one}" >&2
	exit 2
}

# convert NAME FILE JQ-ARGUMENT...: what NAME2dat.jq makes of a file.
convert() {
	program=$root/plots/${1}2dat.jq
	input=$2
	shift 2
	jq -L "$root/plots" -nRr --slurpfile published "$published/cwist/cwist.json" "$@" \
		-f "$program" "$input"
}

# picture SCRIPT FIGURE RUN: from $work/data.gp, in both formats.
picture() {
	for format in png svg; do
		gnuplot -e "format = '$format'; out = '$work/figure'" \
			-e "style = '$root/plots/style.gp'; levels = '$root/plots/levels.gp'" \
			-e "cdf = '$root/plots/cdf.gp'" "$work/data.gp" "$root/plots/$1.gp"
		mv "$work/figure" "$3/plots/$2.$format"
		echo "$3/plots/$2.$format"
	done
}

# times_of RUN KIND: the times of its handshakes, or of its wakes.
times_of() {
	"$root/plots/quantiles.sh" "$1" "$2" >"$work/quantiles" &&
		convert latency "$1/cells.jsonl" --arg kind "$2" --slurpfile quantiles "$work/quantiles"
}

# A figure of the same kind as that of handshakes: its data take the place of theirs.
wakes() {
	[ -s "$work/wakes.gp" ] || return 0
	cat "$work/wakes.gp" >>"$work/data.gp"
	picture wake_latency wake_latency "$1"
}

# One figure a cell, beside the others; data.gp has the facts of the run.
timelines() {
	mv "$work/data.gp" "$work/facts.gp"
	jq -L "$root/plots" -nRr --arg cell "${CELL:-}" -f "$root/plots/timelines.jq" "$1/cells.jsonl" |
		while IFS= read -r name; do
			[ -s "$1/timeline/$name.jsonl" ] || continue
			convert timeline "$1/timeline/$name.jsonl" --arg name "$name" >"$work/timeline.gp"
			[ -s "$work/timeline.gp" ] || continue
			cat "$work/facts.gp" "$work/timeline.gp" >"$work/data.gp"
			picture timeline "timeline-${name#*-}" "$1"
		done
}

manifest_of() {
	if [ -f "$1/manifest.json" ]; then echo "$1/manifest.json"; else echo /dev/null; fi
}

draw() {
	{
		convert cells "$1/cells.jsonl" --slurpfile manifest "$(manifest_of "$1")" \
			--slurpfile servers "$published/servers/servers.json" &&
			convert growth "$1/cells.jsonl" && times_of "$1" handshake &&
			times_of "$1" wake >"$work/wakes.gp"
	} >"$work/data.gp" || {
		echo "plots: $1 is not drawn" >&2
		return 1
	}
	mkdir -p "$1/plots"
	# shellcheck disable=SC2013 # names of figures are words
	for figure in $(sed -n "s/^figures = '\(.*\)'$/\1/p" "$work/data.gp"); do
		picture "$figure" "$figure" "$1"
	done
	wakes "$1"
	timelines "$1"
}

# Over all published runs of a machine: how the cells of level deep grow, each number of connections
# being an experiment of its own, with as many handshakes in flight as suits it. Not those that time
# single wakes: their client differs. The machine is the same in every manifest.
draw_machine() {
	jq -cs 'map(select(.park == "deep" and .wakes == null)) | (map(.run) | unique | join(", ")) as $runs
		| .[] | del(.in_flight) | .run = $runs' "$1"/*/cells.jsonl >"$work/deep" || return 1
	[ -s "$work/deep" ] || return 0
	for last in "$1"/*/cells.jsonl; do :; done
	{
		convert cells "$work/deep" --slurpfile manifest "$(manifest_of "${last%/*}")" \
			--slurpfile servers "$published/servers/servers.json" | sed '/^figures = /d' &&
			convert growth "$work/deep"
	} >"$work/data.gp" || return 1
	grep -q "^figures = 'growth'" "$work/data.gp" || return 0
	mkdir -p "$1/plots"
	picture growth growth-deep "$1"
}

for tool in jq gnuplot; do
	command -v $tool >/dev/null || {
		echo "plots: $tool is missing: make deps" >&2
		exit 1
	}
done

if [ -z "$data" ]; then
	no_data "DATA is not set"
elif [ "$data" = published ]; then
	runs=$(runs_in "$published")
	[ -n "$runs" ] || no_data "results/published holds no run yet"
elif [ -f "$data/cells.jsonl" ]; then
	runs=${data%/}
elif [ -f "$local/$data/cells.jsonl" ]; then
	runs=$local/$data
elif [ -d "$data" ] || [ -d "$local/$data" ]; then
	no_data "$data holds no cells.jsonl"
else
	no_data "there is no run $data"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
echo "$runs" | while IFS= read -r run; do
	draw "$run"
done
case $data in "$published"/* | results/published/*)
	machines=$(dirname "$data")
	;;
published) machines=$(echo "$runs" | sed 's,/[^/]*$,,' | sort -u) ;;
*) machines= ;;
esac
echo "$machines" | while IFS= read -r machine; do
	[ -z "$machine" ] || draw_machine "$machine"
done
