#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plots/ - tests: the fixture's numbers after conversion, both formats of every figure, what a
# reader is told when the data is wrong. Works on a copy, in a temporary directory. Prints TAP.
# shellcheck disable=SC2016,SC2317 # awk and sed programs; functions called through check()
set -u

here=$(dirname "$0")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir -p "$top/results/local/fixture" "$top/results/published"
cp -R "$here/.." "$top/plots"
cp -R "$here/../../results/published/cwist" "$here/../../results/published/servers" \
	"$top/results/published/"
run=$top/results/local/fixture
cp "$here/fixture/cells.jsonl" "$here/fixture/manifest.json" "$run/"
. "$here/check.sh"

convert() {
	jq -L "$top/plots" -nRr --slurpfile manifest "$run/manifest.json" \
		--slurpfile published "$top/results/published/cwist/cwist.json" \
		--slurpfile servers "$top/results/published/servers/servers.json" \
		-f "$top/plots/cells2dat.jq" "$run/cells.jsonl"
}

# of BLOCK NAME COLUMN=VALUE...: the value of column NAME in the line of $BLOCK that has these values.
of() {
	block=$1
	name=$2
	shift 2
	convert | sed -n "/^\\\$$block/,/^EOD/p" | sed '1d;$d' | awk -F '\t' -v name="$name" -v wanted="$*" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(wanted, want, " "); next }
		{
			for (i = 1; i <= n; i++) {
				split(want[i], pair, "=")
				if ($at[pair[1]] != pair[2])
					next
			}
			print $at[name]
		}'
}

block_is() { # VALUE BLOCK NAME COLUMN=VALUE...
	wanted=$1
	shift
	is "$(of "$@")" "$wanted"
}

fact_is() {
	is "$(convert | sed -n "s/^$1 = //p")" "$2"
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
	is "$(convert | sed -n '/^\$cells/,/^EOD/p' | sed '1,2d;$d' | cut -f 2 | tr '\n' ' ')" "$1"
}

ref_is() {
	is "$(convert | sed -n '/^\$refs/,/^EOD/p' | grep "$1" | cut -f 3)" "$2"
}

no_empty_field() {
	! convert | grep -n "$(printf '\t\t\\|\t$')"
}

# draws DATA: all its files, none trivial, the PNG at least 1,600 wide.
draws() {
	rm -rf "$run/plots"
	"$top/plots/draw.sh" "$1" || return 1
	for figure in ${2:-memory ramp}; do
		png=$run/plots/$figure.png
		width=$(od -An -j 16 -N 4 -t u1 "$png" | awk '{ print $3 * 256 + $4 }')
		[ "$width" -ge 1600 ] && [ "$(wc -c <"$png")" -gt 20000 ] || return 1
		grep -qi 'newcomer' "$run/plots/$figure.svg" || return 1
		grep -q '</svg>' "$run/plots/$figure.svg" || return 1
	done
}

only_drawn() { # FILE...
	is "$(cd "$run/plots" && echo *)" "$*"
}

svg_says() {
	grep -q "$2" "$run/plots/$1.svg"
}

# refuses DATA STATUS MESSAGE
refuses() {
	"$top/plots/draw.sh" "$1" >"$top/message" 2>&1
	is $? "$2" && { grep -q "$3" "$top/message" || { cat "$top/message"; return 1; }; }
}

echo 1..126
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
check "no figure without its data" only_drawn memory.png memory.svg ramp.png ramp.svg
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

# Series: absent, classic, epoll, newcomer, poll; panels: boringssl+shed, plain+shed.
cp "$here/active/cells.jsonl" "$here/active/manifest.json" "$run/"
check "a panel for each backend and park level" fact_is panels "'boringssl+shed plain+shed'"
check "a series for each reactor" fact_is series "'absent classic epoll newcomer poll'"
check "one without figures is told apart" fact_is drawn "'0 1 1 1 1'"
check "fractions as in the data" fact_is fractions "'0.001 0.1 1'"
check "active: median" block_is 4.4 active us panel=2 series=3 fraction=0.001
check "active: least" block_is 4 active us_min panel=2 series=3 fraction=0.001
check "active: largest" block_is 6 active us_max panel=2 series=3 fraction=0.001
check "active: only the repeats that passed" block_is 5.4 active us_max panel=2 series=4 fraction=0.001
check "active: ratios pair the repeats" block_is 0.9 active ratio_max panel=2 series=4 fraction=0.001
check "active: system calls" block_is 0.05 active syscalls panel=1 series=4 fraction=0.1
check "kernel: beyond the poll cell" block_is 208 kernel measured label=epoll
check "kernel: prediction from the manifest" block_is 900 kernel predicted label=newcomer
check "kernel: the larger method, and both in the label" \
	block_is "873 B, predicted 900 (−3.1 %), only 267 charged" kernel text label=newcomer
check "kernel: many times the others is cut" fact_is kernel_to 900
check "kernel: the reference says so" \
	block_is "0 B: the others are compared with it" kernel text label=poll
check "kernel: what was not measured says why" \
	block_is "skip: reactor absent: this kernel lacks 'it'" kernel text label=absent
check "no empty field in these either" no_empty_field
check "draws all four figures" draws "$run" "memory ramp active kernel"
check "active: the part is in percent" svg_says active '0.1 %'
check "active: the panels are named" svg_says active 'boringssl+shed'
check "kernel: a cut bar tells its figure" svg_says kernel '23,348 B, predicted 25,000'
check "kernel: what was not measured is drawn with its reason" svg_says kernel 'skip: reactor absent'
: >"$run/manifest.json"
check "kernel: without a manifest nothing is predicted" \
	block_is "208 B, nothing predicted" kernel text label=epoll
rm "$run/manifest.json"
check "draws these without a manifest" draws fixture "memory ramp active kernel"

# Panels: openssl, plain; levels: hold, shed, keys; series: epoll, newcomer, each without and with a
# history. The second repeat ran on a slower machine, and of newcomer's keys only the first passed.
cp "$here/park/cells.jsonl" "$here/park/manifest.json" "$run/"
check "park: from what keeps most to what keeps least" fact_is level_names "'\"hold\" \"shed\" \"keys\"'"
check "park: a series for each reactor and history" fact_is level_series \
	"'\"epoll, no history\" \"epoll, after 64 KiB\" \"newcomer, no history\" \"newcomer, after 64 KiB\"'"
check "park: a panel for each backend" fact_is level_panels "'\"openssl\" \"plain\"'"
check "park: histories are not mixed" block_is 205 levels user panel=1 series=2 level=3
check "park: least" block_is 200 levels user_min panel=1 series=2 level=3
check "park: only the repeats that passed" block_is 154 levels user_max panel=1 series=3 level=3
check "park: a level is summed up" block_is "145–214 B" notes user_text panel=1 level=3
check "park: large ones in kB" block_is "13.8–15.2 kB" notes user_text panel=1 level=2
check "park: nginx from results/published" ref_is 'park.*nginx' 15098
check "park: the seed figure from results/published" ref_is 'park.*CWIST C1M' 4866
check "park: the floor is the kernel's part without TLS" ref_is 'park.*floor' 3860
check "wake: the median of both repeats" block_is 13.5 levels us panel=1 series=1 level=3
check "wake: ratios pair the repeats" block_is ×0.75 notes ratio_text panel=1 level=3
check "wake: shed is what others are compared with" block_is ×1 notes ratio_text panel=1 level=2
check "no empty field in the levels either" no_empty_field
check "draws park and wake" draws "$run" "memory ramp park wake"
check "no heap without its dimensions" only_drawn memory.png memory.svg park.png park.svg ramp.png \
	ramp.svg wake.png wake.svg
check "park: the marks are named" svg_says park 'nginx 15,098 B'
check "park: plain is the floor, not a panel" sh -c "! grep -q '>plain<' '$run/plots/park.svg'"
check "wake: plain is a panel" svg_says wake '>plain<'
check "memory: cells of one name are told apart" svg_says memory 'epoll+openssl+keys after 64 KiB'
jq -c 'select(.park == "keys") | .park = "deep" | .cell |= sub("keys"; "deep") | .memory.kernel_bytes_per_conn = 0.5' \
	"$here/park/cells.jsonl" | cat "$here/park/cells.jsonl" - >"$run/cells.jsonl"
check "deep: below keys by user and kernel memory together" \
	fact_is level_names "'\"hold\" \"shed\" \"keys\" \"deep\"'"
check "deep: they are summed up" block_is "146–215 B" notes total_text panel=1 level=4
check "deep: draws park, wake and total" draws "$run" "memory ramp park wake total"
grep -v '+keys"' "$here/park/cells.jsonl" >"$run/cells.jsonl"
check "no park and wake without level keys" fact_is figures "'memory ramp'"

cp "$here/heap/cells.jsonl" "$here/heap/manifest.json" "$run/"
check "heap: the curves" fact_is heap_curves "'\"at the peak\" \"at the peak, cap 64\" \"left, not trimmed\"\
 \"left, not trimmed, cap 64\" \"left, trimmed\" \"left, trimmed, cap 64\"'"
check "heap: the peak a connection, trimmed or not" block_is 45150 heap bytes panel=1 curve=1 in_flight=1000
check "heap: left without trimming" block_is 352000 heap bytes panel=1 curve=3 in_flight=8000
check "heap: left under the cap" block_is 5632 heap bytes panel=1 curve=4 in_flight=8000
check "heap: left after trimming" block_is 151.5 heap bytes panel=1 curve=5 in_flight=8000
check "heap: its range" block_is 152 heap bytes_max panel=1 curve=5 in_flight=8000
check "no empty field in the heap either" no_empty_field
check "draws heap" draws "$run" "memory ramp heap"
check "heap: the curves are named" svg_says heap 'left, trimmed, cap 64'
# Several numbers of connections, handshake times, a timeline.
rm -rf "$run"
cp -R "$here/growth" "$run"
convert() {
	jq -L "$top/plots" -nRr --slurpfile published "$top/results/published/cwist/cwist.json" \
		-f "$top/plots/growth2dat.jq" "$run/cells.jsonl"
}
check "growth: a line for each cell with several numbers" fact_is lines 2
check "growth: slope and fixed part" \
	fact_is 'array line_user\[2\]' "['128 B a connection + 1.0 MB', '2,500 B a connection + 1.0 MB']"
check "growth: no line without kernel memory" \
	fact_is 'array line_total\[2\]' "['no line', '6,500 B a connection + 1.0 MB']"
check "growth: medians" block_is 2600 growth user line=2 n=10000
check "growth: ranges" block_is 2620 growth user_max line=2 n=10000
check "growth: what was skipped is left out" block_is '' growth user line=1 n=1000000
check "growth: a slope of 1" block_is 50 growth linear line=2 n=100000
convert() {
	"$top/plots/quantiles.sh" "$run" "$kind" >"$top/quantiles"
	jq -L "$top/plots" -nRr --arg kind "$kind" --slurpfile quantiles "$top/quantiles" \
		-f "$top/plots/latency2dat.jq" "$run/cells.jsonl"
}
kind=handshake
check "latency: a panel for each backend and park level, plain apart" fact_is latency_panels "'newtls+shed'"
check "latency: a curve for each number of connections" \
	fact_is 'array curve_label\[2\]' "['1,000 connections', '10,000 connections']"
check "latency: the median repeat, in milliseconds" block_is 2.9 latency time curve=1 part=0.5
check "latency: nearest rank" block_is 2.4 latency time curve=2 part=0.5
check "latency: the largest is the last" block_is 3.4 latency time curve=1 part=1
kind=wake
check "wake latency: without samples there is nothing to draw" is "$(convert)" ''
convert() {
	jq -L "$top/plots" -nRr --arg name 3-newcomer+newtls+shed -f "$top/plots/timeline2dat.jq" \
		"$run/timeline/3-newcomer+newtls+shed.jsonl"
}
check "timeline: the steps" fact_is 'array step_name\[4\]' "['ramp', 'hold', 'round 1', 'close']"
check "timeline: a step goes on until the next" fact_is 'array step_to\[4\]' '[8, 11, 13, 14]'
check "timeline: handshakes a second" block_is "$(printf '20000\n20000')" rates rate t=4
check "timeline: both kinds of the client's memory, or none" block_is NaN timeline client t=9
check "timeline: none is drawn of a name that is not there" is \
	"$(jq -L "$top/plots" -nRr --arg cell x+y+z -f "$top/plots/timelines.jq" "$run/cells.jsonl")" ''
check "draws these too" draws fixture "growth latency timeline-newcomer+newtls+shed"
check "growth: the line is written in the key" svg_says growth \
	'newcomer+newtls+shed: user 2,500 B a connection + 1.0 MB'
check "growth: theirs is there" svg_says growth 'CWIST, published'
"$top/plots/quantiles.sh" "$run" handshake >"$top/before"
cp "$top/before" "$run/handshake_quantiles.jsonl"
rm -r "$run/handshake_us" "$run/timeline"
check "latency: drawn from the quantiles alone" draws fixture "growth latency"
check "no timeline without its data" only_drawn growth.png growth.svg latency.png latency.svg \
	memory.png memory.svg ramp.png ramp.svg
mkdir -p "$top/results/published/machine"
cp -R "$run" "$top/results/published/machine/one"
cp -R "$run" "$top/results/published/machine/two"
rm -r "$top/results/published/machine"/*/plots
deep() { # NUMBER RUN: of one run's cells those with so many connections, as cells of level deep
	jq -c --argjson number "$1" 'select(.connections == $number) | .park = "deep" | .in_flight = $number
		| .cell = "sunk+newtls+deep"' "$run/cells.jsonl" \
		>>"$top/results/published/machine/$2/cells.jsonl"
}
deep 1000 one
deep 10000 two
check "published: every run, figures beside its data" "$top/plots/draw.sh" published
check "published: all of them" test -s "$top/results/published/machine/one/plots/growth.png" -a \
	-s "$top/results/published/machine/two/plots/latency.svg"
check "published: level deep grows over the runs of a machine, whatever their handshakes in flight" \
	grep -q 'sunk+newtls+deep: user' "$top/results/published/machine/plots/growth-deep.svg"

# Wakes: of newtls+deep two repeats, of plain+deep none that passed.
rm -rf "$run"
cp -R "$here/wakes" "$run"
convert() {
	"$top/plots/quantiles.sh" "$run" wake >"$top/quantiles"
	jq -L "$top/plots" -nRr --arg kind wake --slurpfile quantiles "$top/quantiles" \
		-f "$top/plots/latency2dat.jq" "$run/cells.jsonl"
}
check "wake latency: a panel for each backend, plain among them" fact_is latency_panels "'newtls plain'"
check "wake latency: a curve for each park level, the fastest first" \
	fact_is 'array curve_label\[2\]' "['keys', 'deep']"
check "wake latency: in microseconds, with their decimals" block_is 41.7 latency time panel=1 curve=1 part=0.5
check "wake latency: the median of the repeats" block_is 92.55 latency time panel=1 curve=2 part=0.5
check "wake latency: only what passed" block_is '' latency time panel=2 curve=2 part=0.5
check "draws it" draws fixture "memory ramp wake_latency"
check "no latency of handshakes without their times" test ! -e "$run/plots/latency.png"
check "wake latency: the axis" svg_says wake_latency 'microseconds'
check "wake latency: the medians are told" sh -c "grep -q '>42 *<' '$run/plots/wake_latency.svg' &&
	grep -q '>93 *<' '$run/plots/wake_latency.svg'"
cp "$top/quantiles" "$run/wake_quantiles.jsonl"
rm -r "$run/wake_us"
check "wake latency: drawn from the quantiles alone" draws fixture "memory ramp wake_latency"
exit $failed
