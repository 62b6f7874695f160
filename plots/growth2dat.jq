# SPDX-License-Identifier: Apache-2.0
# plots/ - cells.jsonl to what growth.gp loads: memory and ramp against the number of connections, for
# each cell that passed with two numbers at least. Without such a cell there is no output.
#
#   jq -L plots -nRr --slurpfile published FILE -f growth2dat.jq cells.jsonl
#
# The line through a cell's points is one of least squares: bytes of all connections against
# connections, every repeat a point. Its slope is what a further connection takes, what is left at
# zero connections the fixed part.

include "common";

def user: .memory.user_bytes_per_conn;
def kernel: .memory.kernel_bytes_per_conn;
def total: if user == null or kernel == null then null else user + kernel end;

# What, besides connections, cells of one name may differ in.
def others: { in_flight, history_bytes, handshakes_max, trim };
def with_label($all): . as $one | .[0].cell as $cell
	| [$all[] | select(.[0].cell == $cell) | .[0] | others] as $same
	| { label: ([$cell] + ($one[0] | others | to_entries | map(.key as $key
		| select($same | map(.[$key]) | unique | length > 1) | "\(.key) \(.value)")) | join(" ")),
	    rows: $one };

def line(f): map(select(f != null) | { x: .established, y: (f * .established) }) as $points
	| ($points | length) as $n | ($points | map(.x) | add / $n) as $x
	| ($points | map(.y) | add / $n) as $y
	| ($points | map((.x - $x) * (.x - $x)) | add) as $square
	| if $square == 0 then null
	  else ($points | map((.x - $x) * (.y - $y)) | add / $square)
		| { slope: ., fixed: ($y - . * $x) } end;
def line_or_null(f): if map(select(f != null)) == [] then null else line(f) end;
def megabytes: . / 1e6 | (if . < 0 then "− \(-. | fixed(1))" else "+ \(fixed(1))" end) + " MB";
def fitted: if . == null then "no line" else "\(.slope | thousands) B a connection \(.fixed | megabytes)" end;

def series: map(select(.verdict == "pass" and (.established // 0) > 0))
	| group_by([.cell, others]) | map(select(map(.connections) | unique | length > 1))
	| . as $all | map(with_label($all));
def points: .rows | group_by(.connections) | map({ n: .[0].connections, user: (map(user) | spread),
	kernel: (map(kernel) | spread), total: (map(total) | spread), ramp: (map(.ramp_s) | spread) });
# Those of so many connections as the run has, or nearly.
def headlines($least; $most): [$published[] | .name as $who | .results[] | select(.headline)
	| [$who, .connections, .memory.user_bytes_per_conn] | select(.[1] != null and .[2] != null)
	| select(.[1] >= $least / 1.3 and .[1] <= $most * 1.3)];

# Powers of ten and the ends are named; gnuplot gets the range in which something is drawn.
def reach(f): map(f) | known | "\(min // 1) \(max // 1)" | quoted;

[records[]] | series as $series | ($series | map(.points = points)) as $series
| ([$series[].points[].n] | headlines(min // 0; max // 0)) as $theirs
| if $series == [] then empty else
  "figures = 'growth'",
  "lines = \($series | length)",
  "array line_label[\($series | length)] = [\($series | map(.label | quoted) | join(", "))]",
  "array line_user[\($series | length)] = [\($series
	| map(.rows | line_or_null(user) | fitted | quoted) | join(", "))]",
  "array line_total[\($series | length)] = [\($series
	| map(.rows | line_or_null(total) | fitted | quoted) | join(", "))]",
  "label_length = \($series | map(.label | length) | max)",
  "growth_repeats = \($series | map(.points[] as $point | .rows
	| map(select(.connections == $point.n)) | length) | max)",
  "n_reach = \([$series[].points[]] | reach(.n))",
  "user_reach = \([$series[].points[] | .user | .min, .max] + [$theirs[][2]] | reach(.))",
  "kernel_reach = \([$series[].points[] | .kernel | .min, .max] | reach(.))",
  "total_reach = \([$series[].points[] | .total | .min, .max] | reach(.))",
  "ramp_reach = \([$series[].points[] | .ramp | .min, .max] | reach(.))",
  "theirs_name = \($theirs | (first // [""])[0] | quoted)",
  "$theirs << EOD", (["n", "user"], ($theirs[] | [.[1], .[2]]), ["NaN", "NaN"] | @tsv), "EOD",
  "$growth << EOD",
  (["line", "n", "user", "user_min", "user_max", "kernel", "kernel_min", "kernel_max", "total",
	"total_min", "total_max", "ramp", "ramp_min", "ramp_max", "linear"],
	($series | to_entries[] | (.key + 1) as $line | .value.points
	| (first | if .ramp.median == null then null else .ramp.median / .n end) as $rate | .[]
	| [$line, .n] + ([(.user, .kernel, .total, .ramp | .median, .min, .max)] | map(number))
	+ [if $rate == null then "NaN" else $rate * .n end]) | @tsv), "EOD"
  end
