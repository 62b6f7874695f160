# SPDX-License-Identifier: Apache-2.0
# plots/ - cells.jsonl to what the gnuplot scripts load: facts for titles and sizes, $refs (the
# marked lines) and $cells (a line a bar).
#
#   jq -nRr --slurpfile manifest FILE --slurpfile published FILE -f cells2dat.jq cells.jsonl
#
# A bar is the median over the repeats that passed, with their range. A cell of which none passed
# stays as a gap whose label says why. Names of reactors, backends and park levels are only read
# from the data, `plain`, the floor, apart. Wrong input: one line on stderr and exit status 5.

def median: sort | if length == 0 then null elif length % 2 == 1 then .[(length - 1) / 2]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def known: map(select(. != null));
def spread: known | { median: median, min: min, max: max };
def number: if . == null then "NaN" else . end;
def thousands: round | tostring
	| until(test("^-?[0-9]{4}") | not; sub("^(?<a>-?[0-9]+)(?<b>[0-9]{3})"; "\(.a),\(.b)"));
def fixed($digits): pow(10; $digits) as $unit | . * $unit | round
	| "\(. / $unit | floor).\(. % $unit + $unit | tostring | .[1:])";
def plain_text: tostring | gsub("\\s+"; " ") | gsub("\""; "'");
def clip($chars): plain_text | if length > $chars then .[:$chars - 1] + "…" else . end;
def quoted: "'" + (plain_text | gsub("'"; "''")) + "'";

# ---- reading

def stop($where): "\(input_filename // "cells.jsonl"): \($where)\(.)\n" | halt_error;
def checked($where):
	if type != "object" or .cell == null or .verdict == null
	then "not a cell, `cell` and `verdict` are missing" | stop($where)
	elif .schema != 1 then "schema \(.schema) is unknown, these scripts draw schema 1" | stop($where)
	else . end;
def records: [inputs] | to_entries | map(select(.value | test("\\S"))
	| "line \(.key + 1): " as $where
	| .value | (try fromjson catch ("not JSON (\(.))" | stop($where))) | checked($where))
	| if length == 0 then "no cell has ended yet" | stop("") else . end;

# ---- cells

def cpu: $manifest[0].cpu // {};
def user: .memory.user_bytes_per_conn;
def total: if user == null or .memory.kernel_bytes_per_conn == null then null
	else user + .memory.kernel_bytes_per_conn end;
def rate: if (.ramp_s // 0) > 0 and .established != null
	then .established / .ramp_s / (cpu.online // 1) else null end;

def summarised: map(select(.verdict == "pass")) as $passed
	| (map(select(.verdict != "pass")) | first) as $other
	| (.[0] | { cell, reactor, tls, park, workers, connections })
	+ { repeats: length, passed: ($passed | length),
	    why: (if $other then "\($other.verdict): \($other.reason // "no reason given")" else "" end),
	    user: ($passed | map(user) | spread), total: ($passed | map(total) | spread),
	    ramp: ($passed | map(.ramp_s) | spread), rate: ($passed | map(rate) | spread) };

# Cells that share a name differ in these, and the label says so.
def with_label($all): .cell as $name | [$all[] | select(.cell == $name)] as $same
	| .label = $name
	+ (if $same | map(.connections) | unique | length > 1
	   then " \(.connections // 0 | thousands)" else "" end)
	+ (if $same | map(.workers) | unique | length > 1 then " \(.workers) workers" else "" end);

# The same cell without TLS: what its total is compared with.
def with_floor($all): . as $one | .floor = ([$all[] | select(.tls == "plain"
	and .reactor == $one.reactor and .park == $one.park
	and .connections == $one.connections) | .total.median] | known | min);

# From dear to cheap; cells without a figure last.
def size: .total.median // .user.median // -1;
def by_size(f): group_by(f) | sort_by((map(-size) | min), (.[0] | f));

# Backends, in them park levels, in them reactors; `step` sets the groups apart.
def rows: group_by([.cell, .connections, .workers]) | map(summarised)
	| . as $all | map(with_label($all) | with_floor($all))
	| [by_size(.tls)[]
	   | [by_size(.park)[] | sort_by(.reactor, .connections, .workers) | .[0].step = 0.4]
	   | .[0][0].step = 1 | add | .[]]
	| .[0].step = 0
	| reduce .[] as $row ([]; . + [$row
		+ { y: ((last.y // -1) + 1 + ($row.step // 0) | . * 10 | round / 10) }]);

# ---- labels

def labelled(text): if .passed == 0 then .why | clip(54)
	elif .passed < .repeats then "\(text)   (\(.passed) of \(.repeats) passed)" else text end;
def memory_label: labelled(
	if .total.median != null then "\(.total.median | thousands) B"
		+ (if .tls != "plain" and (.floor // 0) > 0
		   then "   \(.total.median / .floor | fixed(1))× plain" else "" end)
	elif .user.median != null then "\(.user.median | thousands) B, kernel not measured"
	else "memory not measured" end);
def ramp_label: labelled(if .ramp.median == null then "not measured" else .ramp.median
	| "\(if . < 10 then fixed(2) elif . < 100 then fixed(1) else thousands end) s" end);
def rate_label: if .passed == 0 then .why | sub(":.*"; "")
	elif .rate.median == null then "not measured"
	else .rate.median | thousands end;

# A missing figure is NaN and the place of a label (_at) always a number. No field may be empty:
# gnuplot would repeat the text of the line before.
def cell_lines: ["y", "label", "gap", "plain", "user", "end", "min", "max", "memory_at",
	"memory_label", "ramp", "ramp_min", "ramp_max", "ramp_at", "ramp_label",
	"rate", "rate_min", "rate_max", "rate_at", "rate_label"],
	(.[] | (.total.median // .user.median) as $tip | (.total.max // $tip) as $max
	| [.y, .label, (.passed == 0, .tls == "plain" | if . then 1 else 0 end)]
	+ ([.user.median, $tip, .total.min // $tip, $max] | map(number)) + [$max // 0, memory_label]
	+ (.ramp | map_values(number) | [.median, .min, .max]) + [.ramp.max // 0, ramp_label]
	+ (.rate | map_values(number) | [.median, .min, .max]) + [.rate.max // 0, rate_label])
	| @tsv;

# ---- marked lines: figure, kind, value, rank from the right, text

def headlines: $published[] | .name as $who | .results[] | select(.headline)
	| .label = "\($who) \(.name)";
def published_rate: (.handshakes_per_s // (if .ramp_s then .established / .ramp_s else null end))
	as $all | if $all and .cpus then $all / .cpus else null end;
def marked: ([.[] | select(.tls == "plain" and .total.median != null)] | min_by(.total.median))
	as $floor
	| [(headlines | ["memory", "published", .memory.user_bytes_per_conn,
		"\(.label): \(.memory.user_bytes_per_conn // 0 | thousands) B"]),
	   (headlines | ["rate", "published", (if cpu.online then published_rate else null end),
		"\(.label), \(.cpus) cores: \(published_rate // 0 | thousands)"]),
	   ["memory", "floor", $floor.total.median,
		"\($floor.label): \($floor.total.median // 0 | thousands) B"]]
	| map(select(.[2] != null)) | group_by(.[0]) | map(sort_by(-.[2]) | to_entries[]
		| [.value[0, 1, 2], .key + 1, .value[3]]);

# ---- facts

def range_of(f): map(f) | known | if length == 0 then "?" elif min == max then min | thousands
	else "\(min | thousands) to \(max | thousands)" end;
def methods(f): map(f) | known | unique | if length == 0 then "" else " (\(join(", ")))" end;
def machine: [cpu.model, (cpu.online | if . then "\(.) cores" else empty end),
	($manifest[0].kernel.release | if . then "Linux \(ltrimstr("Linux "))" else empty end),
	($manifest[0].date // empty | tostring | .[:10])] | known | join(" · ");
def facts($rows; $refs): [
	"connections = \(range_of(.connections) | quoted)",
	"machine = \([machine, "run \(.[0].run // "?")"] | map(select(. != "")) | join(" · ") | quoted)",
	"repeats = \($rows | map(.passed) | max)",
	"cores = \(cpu.online // 0)",
	"user_method = \(methods(.memory.user_method) | quoted)",
	"kernel_method = \(methods(.memory.kernel_method) | quoted)",
	"rows_high = \($rows | last.y + 1)",
	"label_chars = \($rows | map(.label | length) | max)",
	"memory_max = \($rows | map(.total.max // .user.max) | known | max // 0)",
	"memory_refs = \($refs | map(select(.[0] == "memory")) | length)",
	"memory_ref_max = \($refs | map(select(.[0] == "memory") | .[2]) | max // 0)",
	"rate_refs = \($refs | map(select(.[0] == "rate")) | length)",
	"ramp_max = \($rows | map(.ramp.max) | known | max // 0)",
	"rate_ref_max = \($refs | map(select(.[0] == "rate") | .[2]) | max // 0)",
	"rate_max = \([$rows | (map(select(.tls != "plain")), .) | map(.rate.max) | known | max]
		| known | first // 0)"
	] | .[];

records | . as $records | rows as $rows | ($rows | marked) as $refs
| facts($rows; $refs),
  "$refs << EOD", (["figure", "kind", "value", "rank", "text"], $refs[] | @tsv), "EOD",
  "$cells << EOD", ($rows | cell_lines), "EOD"
