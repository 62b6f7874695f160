#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plots/ - draws every figure that a run has data for, as PNG and SVG, into its plots/ directory.
# usage: plots/draw.sh RUN-DIRECTORY | RUN-NAME | published
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

draw() {
	manifest=$1/manifest.json
	[ -f "$manifest" ] || manifest=/dev/null
	jq -nRr --slurpfile manifest "$manifest" --slurpfile published "$published/cwist/cwist.json" \
		--slurpfile servers "$published/servers/servers.json" -f "$root/plots/cells2dat.jq" "$1/cells.jsonl" >"$work/data.gp" || {
		echo "plots: $1 is not drawn" >&2
		return 1
	}
	mkdir -p "$1/plots"
	for figure in $(sed -n "s/^figures = '\(.*\)'$/\1/p" "$work/data.gp"); do
		for format in png svg; do
			gnuplot -e "format = '$format'; out = '$work/figure'" \
				-e "style = '$root/plots/style.gp'; levels = '$root/plots/levels.gp'" \
				"$work/data.gp" "$root/plots/$figure.gp"
			mv "$work/figure" "$1/plots/$figure.$format"
			echo "$1/plots/$figure.$format"
		done
	done
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
