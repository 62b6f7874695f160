# SPDX-License-Identifier: Apache-2.0
# plots/ - cells.jsonl to what the gnuplot scripts load: facts for titles and sizes, the names of
# the figures that the run has data for, $refs (the marked lines), $cells (a line a bar), $active (a
# line a point) and $kernel (a line a reactor).
#
#   jq -L plots -nRr --slurpfile manifest FILE --slurpfile published FILE -f cells2dat.jq cells.jsonl
#
# A bar is the median over the repeats that passed, with their range. A cell of which none passed
# stays as a gap whose label says why. Names of reactors, backends and park levels are only read
# from the data, apart from what others are compared with: `plain`, `epoll` and `poll`. Wrong
# input: one line on stderr and exit status 5.

include "common";

# ---- cells

def cpu: $manifest[0].cpu // {};
def user: .memory.user_bytes_per_conn;
def total: if user == null or .memory.kernel_bytes_per_conn == null then null
	else user + .memory.kernel_bytes_per_conn end;
def rate: if (.ramp_s // 0) > 0 and .established != null
	then .established / .ramp_s / (cpu.online // 1) else null end;

# What cells of one name differ in; null in runs that are older than the field.
def dimensions: { connections, in_flight, history_bytes };
def dimension_labels: { connections: "\(.connections // 0 | thousands)",
	in_flight: "\(.in_flight // 0 | thousands) in flight",
	history_bytes: (if (.history_bytes // 0) == 0 then "no history" else "after \(.history_bytes | thousands) B" end) };

def summarised: map(select(.verdict == "pass")) as $passed
	| (map(select(.verdict != "pass")) | first) as $other
	| (.[0] | { cell, reactor, tls, park, workers } + dimensions)
	+ { repeats: length, passed: ($passed | length),
	    why: (if $other then "\($other.verdict): \($other.reason // "no reason given")" else "" end),
	    user: ($passed | map(user) | spread), total: ($passed | map(total) | spread),
	    ramp: ($passed | map(.ramp_s) | spread), rate: ($passed | map(rate) | spread) };

# Cells that share a name differ in these, and the label says so.
def with_label($all): . as $one | [$all[] | select(.cell == $one.cell)] as $same
	| .label = ([.cell] + (dimension_labels | to_entries | map(.key as $key
			| select($same | map(.[$key]) | unique | length > 1).value))
		+ (if $same | map(.workers) | unique | length > 1 then ["\(.workers) workers"] else [] end)
		| join(" "));

# The same cell without TLS: what its total is compared with.
def with_floor($all): . as $one | .floor = ([$all[] | select(.tls == "plain"
	and .reactor == $one.reactor and .park == $one.park and .workers == $one.workers
	and dimensions == ($one | dimensions)) | .total.median] | known | min);

# From dear to cheap; cells without a figure last.
def size: .total.median // .user.median // -1;
def by_size(f): group_by(f) | sort_by((map(-size) | min), (.[0] | f));

# Backends, in them park levels, in them reactors; `step` sets the groups apart.
def rows: group_by([.cell, .workers, dimensions]) | map(summarised)
	| . as $all | map(with_label($all) | with_floor($all))
	| [by_size(.tls)[]
	   | [by_size(.park)[] | sort_by(.reactor, (dimensions | [.[]]), .workers) | .[0].step = 0.4]
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

# ---- active connections: a panel for each backend and park level, a series for each reactor

# Styles follow the place among all reactors of the run, so that its figures agree.
def reactors: [.[].reactor, ($manifest[0].reactors // {} | keys[])] | unique;
def positive: if . != null and . > 0 then . else null end;
def several(f): map(f) | unique | length > 1;
def panel($all): . as $one | "\(.tls)+\(.park)" + (dimensions | to_entries
	| map(.key as $key | select($all | several(.[$key])) | "+\(.value)") | add // "");
# What ratios are taken within: two cells of one repeat that differ in nothing but the reactor.
def place: "\(.panel) \(.repeat) \(.fraction)";
def points: map(select(.verdict == "pass" and (.active // []) != [])) as $cells
	| [$cells[] | panel($cells) as $panel | { $panel, reactor, repeat } + (.active[]
		| { fraction, us: (.server_us_per_request | positive),
		    syscalls: (.server_syscalls_per_request | positive) })]
	| (map(select(.reactor == "epoll") | { key: place, value: .us }) | from_entries) as $epoll
	| map(.ratio = (if .us != null and $epoll[place] != null then .us / $epoll[place] else null end))
	| group_by([.panel, .reactor, .fraction]) | map((.[0] | { panel, reactor, fraction }) + {
		us: (map(.us) | spread), ratio: (map(.ratio) | spread), syscalls: (map(.syscalls) | spread) });
def point_lines($reactors; $panels): ["panel", "series", "fraction", "us", "us_min", "us_max",
	"ratio", "ratio_min", "ratio_max", "syscalls", "syscalls_min", "syscalls_max"],
	(.[] | .reactor as $reactor | .panel as $panel
	| [($panels | index($panel)) + 1, ($reactors | index($reactor)) + 1, .fraction]
	+ ([.us, .ratio, .syscalls | .median, .min, .max] | map(number)))
	| @tsv;

# ---- kernel bytes beyond the socket

# What poll, which keeps nothing there, does not have. The larger of two figures, as each is blind
# for something: the charge to a memory cgroup for what is charged to none, slab objects for stacks
# and page tables.
def charged: .memory.kernel_bytes_per_conn;
def slab: .memory.slab_bytes_per_conn;
def of_methods: { charged: (map(charged) | spread), slab: (map(slab) | spread) };
def less($socket): if .median == null or $socket.median == null then { median: null }
	else map_values(. - $socket.median) end;
def beyond($socket): .charged |= less($socket.charged) | .slab |= less($socket.slab)
	| if (.slab.median // -1e9) > (.charged.median // -1e9) then . + .slab else . + .charged end;
# One without a figure stays, with the reason, where others have one.
def kernel_rows: map(select(.tls == "plain")) | group_by([.park, dimensions])
	| map((map(select(.reactor == "poll" and .verdict == "pass")) | of_methods) as $socket
		| group_by(.reactor)
		| map((.[0] | { reactor, park } + dimensions)
			+ { why: (map(select(.verdict != "pass")) | first
				| "\(.verdict // "pass"): \(.reason // "not measured")") }
			+ (map(select(.verdict == "pass")) | of_methods) | beyond($socket))
		| select(any(.median != null)) | .[])
	| map(.predicted = $manifest[0].reactors[.reactor].kernel_conn_bytes)
	| . as $all | map(.label = .reactor + (if $all | several(.park) then "+\(.park)" else "" end)
		+ (dimension_labels | to_entries | map(.key as $key
			| select($all | several(.[$key])) | " \(.value)") | add // ""))
	| [group_by([.park, dimensions])[] | sort_by(-(.median // -1e9), .reactor) | .[0].step = 0.5]
	| add // [] | if . == [] then . else .[0].step = 0 end
	| reduce .[] as $row ([]; . + [$row
		+ { y: ((last.y // -1) + 1 + ($row.step // 0) | . * 10 | round / 10) }]);
def signed: . * 10 | round / 10
	| if . == 0 then "0.0" elif . < 0 then "−\(-. | fixed(1))" else "+\(fixed(1))" end;
def kernel_label: if .median == null then .why | clip(54)
	elif .reactor == "poll" then "0 B: the others are compared with it"
	else "\(.median | thousands) B"
	+ (if .predicted == null then ", nothing predicted" elif .predicted == 0 then ", predicted 0"
	   else ", predicted \(.predicted | thousands)"
		+ " (\((.median / .predicted - 1) * 100 | signed) %)" end)
	+ (if .charged.median != null and .charged.median < 0.9 * .median
	   then ", only \(.charged.median | thousands) charged" else "" end) end;
def kernel_lines: ["y", "label", "gap", "measured", "min", "max", "predicted", "at", "text"],
	(.[] | [.y, .label, (.median == null | if . then 1 else 0 end)]
	+ ([.median, .min, .max, .predicted] | map(number))
	+ [([.max, .predicted, 0] | known | max), kernel_label]) | @tsv;
# One that takes many times what all others do would leave nothing of them: its bar is cut.
def kernel_reach: map(select(.reactor != "poll") | [.max, .predicted, 0] | known | max) | sort
	| reduce .[] as $next (0; if . > 0 and $next > 5 * . then . else [., $next] | max end);

# ---- facts

def range_of(f): map(f) | known | if length == 0 then "?" elif min == max then min | thousands
	else "\(min | thousands) to \(max | thousands)" end;
def methods(f): map(f) | known | unique | if length == 0 then "" else " (\(join(", ")))" end;
def machine: [cpu.model, (cpu.online | if . then "\(.) cores" else empty end),
	($manifest[0].kernel.release | if . then "Linux \(ltrimstr("Linux "))" else empty end),
	($manifest[0].date // empty | tostring | .[:10])] | known | join(" · ");
def active_facts($points): [
	"series = \(reactors | words)",
	"drawn = \(reactors | map(. as $one | $points | if any(.reactor == $one) then 1 else 0 end)
		| words)",
	"panels = \($points | map(.panel) | unique | words)",
	"fractions = \($points | map(.fraction) | unique | words)",
	(("us", "ratio", "syscalls") as $what | $points | map(.[$what]) | "\($what)_least = \(map(.min)
		| known | min // 1)", "\($what)_most = \(map(.max) | known | max // 1)"),
	"has_ratio = \($points | if any(.ratio.median != null) then 1 else 0 end)"
	] | .[];
def kernel_facts($kernel): [
	"kernel_high = \($kernel | last.y // 0 | . + 1)",
	"kernel_chars = \($kernel | map(.label | length) | max // 0)",
	"kernel_to = \($kernel | kernel_reach)"
	] | .[];
def figures($points; $kernel): ["memory", "ramp", (if $points == [] then empty else "active" end),
	(if $kernel == [] then empty else "kernel" end)];
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
| points as $points | kernel_rows as $kernel
| "figures = \(figures($points; $kernel) | words)",
  facts($rows; $refs), active_facts($points), kernel_facts($kernel),
  "$refs << EOD", (["figure", "kind", "value", "rank", "text"], $refs[] | @tsv), "EOD",
  "$cells << EOD", ($rows | cell_lines), "EOD",
  "$active << EOD", (reactors as $reactors | $points
	| point_lines($reactors; map(.panel) | unique)), "EOD",
  "$kernel << EOD", ($kernel | kernel_lines), "EOD"
