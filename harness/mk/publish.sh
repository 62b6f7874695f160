#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copies a finished run to results/published/<host>-<date>/<name>: the manifest, the cells, the
# timelines, and of the times of handshakes and wakes their quantiles, as the samples of a large run are
# too many; never logs. Then draws it. What is published is never overwritten. Exit status 2: refused.
# usage: RUN=DIRECTORY|NAME NAME=EXPERIMENT [HOST=MACHINE] harness/mk/publish.sh
set -u

refuse() {
	echo "publish: $*" >&2
	exit 2
}
fact() { # JQ-PROGRAM: of the manifest
	jq -r "$1" "$run/manifest.json"
}

[ -n "${RUN:-}" ] || refuse "which run? make publish RUN=results/local/latest NAME=c10k"
run=$RUN
[ -f "$run/cells.jsonl" ] || run=results/local/$RUN
for file in cells.jsonl manifest.json; do
	[ -f "$run/$file" ] || refuse "RUN=$RUN: there is no run with $file, nor one below results/local"
done
name=${NAME:-}
case $name in '' | *[!a-z0-9_-]*) refuse "NAME=$name: the experiment, in lower case, digits, - and _" ;; esac

planned=$(fact '.cells // 0') || refuse "$run/manifest.json can not be read"
[ "$(wc -l <"$run/cells.jsonl")" -ge "$planned" ] ||
	refuse "$run holds $(wc -l <"$run/cells.jsonl") of $planned cells: it was interrupted, or is not over"
[ "$(fact '[.git.dirty, .resumed[]?.git.dirty] | all(. == false)')" = true ] ||
	refuse "$run was not made from a clean commit: .git of its manifest says so"

# "Intel(R) Xeon(R) Processor", 2 CPUs, 23.5 GiB: xeon-2c-24g.
host=${HOST:-$(fact '(.cpu.model | ascii_downcase | gsub("\\([a-z]+\\)|@.*|[0-9]+-core|\\b(intel|amd|cpu|processor)\\b"; " ")
	| [match("[a-z0-9]+"; "g").string] | join("-"))
	+ "-\(.cpu.online)c-\(.memory.total_bytes / 1073741824 | round)g"')}
case $host in '' | *[!a-z0-9_-]*) refuse "HOST=$host: the type of machine, as epyc-9354-32c" ;; esac
to=results/published/$host-$(fact '.date[:10]')/$name
[ ! -e "$to" ] || refuse "$to is there; what is published is never edited"

part=$to.part
rm -rf "$part"
mkdir -p "$part" || exit 1
trap 'rm -rf "$part"' EXIT
cp "$run/cells.jsonl" "$run/manifest.json" "$part/" || exit 1
if [ -d "$run/timeline" ]; then
	cp -R "$run/timeline" "$part/" || exit 1
fi
for kind in handshake wake; do
	plots/quantiles.sh "$run" $kind >"$part/${kind}_quantiles.jsonl" || exit 1
	[ -s "$part/${kind}_quantiles.jsonl" ] || rm "$part/${kind}_quantiles.jsonl"
done
mv "$part" "$to" || exit 1
plots/draw.sh "$to" || exit 1
echo "published: $to. Read its manifest.json, it is going to be public; then commit $to."
