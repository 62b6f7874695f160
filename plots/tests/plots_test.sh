#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plots/ - tests: the fixture's numbers after conversion, both formats of both figures, what a
# reader is told when the data is wrong. Works on a copy, in a temporary directory. Prints TAP.
# shellcheck disable=SC2016,SC2317 # awk and sed programs; functions called through check()
set -u

here=$(dirname "$0")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir -p "$top/results/local/fixture" "$top/results/published"
cp -R "$here/.." "$top/plots"
cp -R "$here/../../results/published/cwist" "$top/results/published/"
run=$top/results/local/fixture
cp "$here/fixture/cells.jsonl" "$here/fixture/manifest.json" "$run/"
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
		sed 's/^/# /' "$top/out"
	fi
}

convert() {
	jq -nRr --slurpfile manifest "$run/manifest.json" \
		--slurpfile published "$top/results/published/cwist/cwist.json" \
		-f "$top/plots/cells2dat.jq" "$run/cells.jsonl"
}

# column CELL NAME: that cell's value in $cells.
column() {
	convert | awk -F '\t' -v cell="$1" -v name="$2" '
		$1 == "y" { for (i = 1; i <= NF; i++) at[$i] = i }
		("label" in at) && $at["label"] == cell { print $at[name] }'
}

is() {
	[ "$1" = "$2" ] || { echo "got '$1', wanted '$2'"; return 1; }
}

cell_is() {
	is "$(column "$1" "$2")" "$3"
}

order_is() {
	is "$(convert | sed -n '/^\$cells/,$p' | sed '1,2d;$d' | cut -f 2 | tr '\n' ' ')" "$1"
}

ref_is() {
	is "$(convert | sed -n '/^\$refs/,/^EOD/p' | grep "$1" | cut -f 3)" "$2"
}

no_empty_field() {
	! convert | grep -n "$(printf '\t\t\\|\t$')"
}

# draws DATA: all four files, none trivial, the PNG at least 1,600 wide.
draws() {
	rm -rf "$run/plots"
	"$top/plots/draw.sh" "$1" || return 1
	for figure in memory ramp; do
		png=$run/plots/$figure.png
		width=$(od -An -j 16 -N 4 -t u1 "$png" | awk '{ print $3 * 256 + $4 }')
		[ "$width" -ge 1600 ] && [ "$(wc -c <"$png")" -gt 20000 ] || return 1
		grep -q 'newcomer+newtls+newpark' "$run/plots/$figure.svg" || return 1
		grep -q '</svg>' "$run/plots/$figure.svg" || return 1
	done
}

svg_says() {
	grep -q "$2" "$run/plots/$1.svg"
}

# refuses DATA STATUS MESSAGE
refuses() {
	"$top/plots/draw.sh" "$1" >"$top/message" 2>&1
	is $? "$2" && { grep -q "$3" "$top/message" || { cat "$top/message"; return 1; }; }
}

echo 1..35
check "median of three totals" cell_is epoll+boringssl+shed end 6960
check "least total" cell_is epoll+boringssl+shed min 6850
check "largest total" cell_is epoll+boringssl+shed max 7100
check "median user memory" cell_is epoll+boringssl+shed user 3100
check "median of two" cell_is epoll+plain+shed end 4170
check "label: total and ratio to the plain cell" \
	cell_is epoll+boringssl+shed memory_label "6,960 B   1.7× plain"
check "median ramp" cell_is epoll+boringssl+shed ramp 3.1
check "ramp range" cell_is epoll+boringssl+shed ramp_max 3.4
check "handshakes a second and core" cell_is epoll+boringssl+shed rate_label 1,613
check "no kernel figure: the user bar alone" cell_is libev+boringssl+shed end 3050
check "no kernel figure: said so" \
	cell_is libev+boringssl+shed memory_label "3,050 B, kernel not measured"
check "a skip is a gap" cell_is classic+boringssl+keys gap 1
check "a skip says why" cell_is classic+boringssl+keys memory_label \
	"skip: classic can't park deeper than 'shed'"
check "an invalid cell is a gap, its figures unused" cell_is io_uring+boringssl+shed end NaN
check "a failed cell says why" cell_is poll+newtls+newpark ramp_label \
	"fail: 12 of 10,000 not established"
check "only the repeats that passed count" cell_is epoll+boringssl+hold end 15900
check "failed repeats are told" cell_is epoll+boringssl+hold memory_label \
	"15,900 B   (1 of 2 passed)"
check "dear to cheap, unknown names among them" order_is "newcomer+newtls+newpark\
 poll+newtls+newpark epoll+boringssl+hold epoll+boringssl+shed io_uring+boringssl+shed\
 libev+boringssl+shed classic+boringssl+keys epoll+plain+shed "
check "published line from results/published" ref_is 'CWIST C1M.* B$' 4866
check "floor line" ref_is floor 4170
check "no empty field, which gnuplot would fill from the line before" no_empty_field
check "a gap has no rate" cell_is poll+newtls+newpark rate_label fail

check "draws a run directory" draws "$run"
check "draws a run by its name" draws fixture
check "the title names the connections" svg_says memory '10,000 connections'
check "the machine is named" svg_says ramp \
	'Fixture CPU 2.00GHz · 2 cores · Linux 6.1.0 · 2026-01-02'
check "a gap is drawn with its reason" svg_says memory 'invalid: the client was the bottleneck'
rm "$run/manifest.json"
check "draws without a manifest" draws fixture
check "published without runs" refuses published 2 'holds no run yet'
check "unknown run: lists what is there" refuses nowhere 2 'results/local/fixture'
check "directory without cells" refuses "$top/results" 2 'no cells.jsonl'

printf '{"schema":1,"run":"x","cell":"epo' >>"$run/cells.jsonl"
check "a broken line is named" refuses fixture 1 'cells.jsonl: line 13: not JSON'
echo '{"schema":2,"cell":"a+b+c","verdict":"pass"}' >"$run/cells.jsonl"
check "an unknown schema is refused" refuses fixture 1 'schema 2 is unknown'
: >"$run/cells.jsonl"
check "an empty file is refused" refuses fixture 1 'no cell has ended yet'
grep '"skip"' "$here/fixture/cells.jsonl" >"$run/cells.jsonl"
check "a run of skips alone is drawn" "$top/plots/draw.sh" fixture
exit $failed
