# SPDX-License-Identifier: Apache-2.0
# plots/ - cells.jsonl to what the gnuplot scripts load: facts for titles and sizes, the names of
# the figures that the run has data for, $refs (the marked lines), $cells (a line a bar), $active (a
# line a point), $kernel (a line a reactor), $levels (a line a point of park, wake and total), $notes (their
# texts) and $heap (a line a point).
#
#   jq -L plots -nRr --slurpfile manifest FILE --slurpfile published FILE --slurpfile servers FILE \
#	-f cells2dat.jq cells.jsonl
#
# A bar is the median over the repeats that passed, with their range. A cell of which none passed
# stays as a gap whose label says why. Names of reactors, backends and park levels are only read
# from the data, apart from what others are compared with: `plain`, `epoll` and `poll`. Wrong
# input: one line on stderr and exit status 5.

include "common";

# ---- cells

def cpu: $manifest[0].cpu // {};
def user: .memory.user_bytes_per_conn;
def kernel: .memory.kernel_bytes_per_conn;
def total: if user == null or .memory.kernel_bytes_per_conn == null then null
	else user + .memory.kernel_bytes_per_conn end;
def rate: if (.ramp_s // 0) > 0 and .established != null
	then .established / .ramp_s / (cpu.online // 1) else null end;

# What cells of one name differ in; null in runs that are older than the field.
def dimensions: { connections, in_flight, history_bytes, handshakes_max, trim };
def dimension_labels: { connections: "\(.connections // 0 | thousands)",
	in_flight: "\(.in_flight // 0 | thousands) in flight",
	history_bytes: ((.history_bytes // 0) | if . == 0 then "no history"
		elif . % 1024 == 0 then "after \(. / 1024 | thousands) KiB" else "after \(thousands) B" end),
	handshakes_max: (if (.handshakes_max // 0) == 0 then "no cap" else "cap \(.handshakes_max)" end),
	trim: (if .trim == false then "untrimmed" else "trimmed" end) };

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
		"\($floor.cell): \($floor.total.median // 0 | thousands) B"]]
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

# ---- park levels: what each keeps and what waking costs, a panel for each backend

# Of one dimension's values, told only where there are several.
def told($all; $keys): . as $one | dimension_labels | to_entries
	| map(.key as $key | select(($keys | index($key)) and ($all | several(.[$key]))) | .value);
def level_cells: map(select(.verdict == "pass")) as $cells | [$cells[]
	| { panel: ([.tls] + told($cells; ["connections", "in_flight", "handshakes_max", "trim"])
		| join(", ")),
	    series: ([.reactor] + told($cells; ["history_bytes"]) | join(", ")),
	    tls, park, repeat, order: [.reactor, .history_bytes], user: (user | positive),
	    total: (if user == null or kernel == null then null else user + kernel | positive end),
	    us: .cpu.server_us_per_request }];
# A figure compares level keys with others, from what keeps most to what keeps least.
def levels: group_by(.park)
	| map({ park: .[0].park, bytes: (map(.total // .user) | known | median) })
	| sort_by(-(.bytes // 0)) | map(.park) | if length > 1 and index("keys") then . else [] end;
# Ratios pair the repeats.
def with_shed: (map(select(.park == "shed") | { key: "\(.panel) \(.series) \(.repeat)", value: .us })
	| from_entries) as $shed | map($shed["\(.panel) \(.series) \(.repeat)"] as $of
	| .ratio = (if .us != null and ($of // 0) > 0 then .us / $of else null end));
def level_points: level_cells | levels as $levels | with_shed
	| group_by([.panel, .series, .park]) | map((.[0] | { panel, series, order, tls, park })
		+ { user: (map(.user) | spread), total: (map(.total) | spread), us: (map(.us) | spread), ratio: (map(.ratio) | spread) }
		| .level = (.park as $park | $levels | index($park)))
	| if $levels == [] then [] else . end;
def level_names: group_by(.level) | map(.[0].park);
# Backends in the order of what they keep most.
def level_panels: group_by(.panel) | sort_by(-(map(.user.max) | known | max // 0)) | map(.[0].panel);
def level_series: group_by(.order) | map(.[0].series);
def level_lines: level_panels as $panels | level_series as $series
	| ["panel", "series", "level", "user", "user_min", "user_max", "total", "total_min", "total_max",
	   "us", "us_min", "us_max"],
	(.[] | .panel as $panel | .series as $one | [($panels | index($panel)) + 1,
		($series | index($one)) + 1, .level + 1]
	+ ([.user, .total, .us | .median, .min, .max] | map(number))) | @tsv;
def between(text): known | if length == 0 then "-" else (min | text) as $min | (max | text) as $max
	| if $min == $max then $min else "\($min)–\($max)" end end;
def bytes_between: (known | max // 0) as $most
	| if $most < 10000 then between(thousands) + " B" else map(. / 1000) | between(fixed(1)) + " kB" end;
# Above the points of one level; where there is no figure the place is still a number.
def level_notes: level_panels as $panels | ["panel", "level", "user_at", "user_text", "total_at",
	"total_text", "us_at", "us_text", "ratio_text"],
	(group_by([.panel, .level])[] | . as $points | .[0].panel as $panel
	| [($panels | index($panel)) + 1, .[0].level + 1,
	   (map(.user.max) | known | max // 1), (map(.user.median) | known | bytes_between),
	   (map(.total.max) | known | max // 1), (map(.total.median) | known | bytes_between),
	   (map(.us.max) | known | max // 0), (map(.us.median) | between(fixed(1))),
	   (if .[0].park == "shed" then "×1" else map(.ratio.median)
		| between(fixed(2)) | if . == "-" then . else "×\(.)" end end)]) | @tsv;
# Words that may hold spaces, for word() of gnuplot.
def quoted_words: "'" + (map("\"\(plain_text | gsub("'"; "''"))\"") | join(" ")) + "'";
def level_facts($points): ($points | map(select(.tls != "plain"))) as $shown | [
	"level_names = \($points | level_names | quoted_words)",
	"level_panels = \($points | level_panels | quoted_words)",
	"level_plain = \($points | [level_panels[] as $panel | any(.[]; .panel == $panel and .tls == "plain")
		| if . then 1 else 0 end] | words)",
	"level_series = \($points | level_series | quoted_words)",
	"level_user_least = \($shown | map(.user.min) | known | min // 1)",
	"level_user_most = \($shown | map(.user.max) | known | max // 1)",
	"level_total_least = \($shown | map(.total.min) | known | min // 1)",
	"level_total_most = \($shown | map(.total.max) | known | max // 1)",
	"level_us_most = \($points | map(.us.max) | known | max // 1)"
	] | .[];
# What the levels are compared with: other servers, and the kernel's part of a connection.
def level_marks: ([.[] | select(.tls == "plain" and .verdict == "pass" and .park != "deep")
		| .memory.kernel_bytes_per_conn] | known | min) as $floor
	| [($servers[].results[] | select(.marked)
		| ["park", "published", .memory.user_bytes_per_conn, .name]),
	   ($published[] | .name as $who | [.results[] | select(.headline)]
		| min_by(.memory.user_bytes_per_conn)
		| ["park", "published", .memory.user_bytes_per_conn, "\($who) \(.name)"]),
	   ["park", "floor", $floor, "TCP floor"]]
	| map(select(.[2] != null)) | sort_by(-.[2]) | to_entries
	| map([.value[0, 1, 2], .key + 1, "\(.value[3]) \(.value[2] | thousands) B"]);

# ---- heap: what handshakes in flight leave behind

# A curve for the peak and for what stays with and without trimming, each with and without the cap.
def heap_cells: map(select(.verdict == "pass" and (.in_flight // 0) > 0 and (.established // 0) > 0))
	as $cells | if ($cells | several(.in_flight) and several(.trim)) then [$cells[]
	| { panel: .tls, in_flight, cap: (.handshakes_max // 0) } as $place
	| ($place + { curve: "peak", bytes: (.memory.handshake_peak_bytes as $peak
		| if $peak then $peak / .established else null end) }),
	  ($place + { curve: (if .trim then "trimmed" else "kept" end), bytes: user })
	| select((.bytes // 0) > 0)] else [] end;
def curve_order: { peak: 1, kept: 2, trimmed: 3 };
def heap_points: group_by([.panel, .curve, .cap, .in_flight]) | map((.[0] | { panel, curve, cap,
	in_flight }) + (map(.bytes) | spread));
def heap_curves: map({ curve, cap }) | unique | sort_by([curve_order[.curve], .cap]);
def heap_panels: group_by(.panel) | sort_by(-(map(.max) | max)) | map(.[0].panel);
def heap_lines: heap_panels as $panels | heap_curves as $curves
	| ["panel", "curve", "in_flight", "bytes", "bytes_min", "bytes_max"],
	(.[] | .panel as $panel | { curve, cap } as $curve | [($panels | index($panel)) + 1,
		($curves | index($curve)) + 1, .in_flight, .median, .min, .max]) | @tsv;
def curve_text: { peak: "at the peak", kept: "left, not trimmed",
		trimmed: "left, trimmed" }[.curve]
	+ (if .cap > 0 then ", cap \(.cap)" else "" end);
def heap_facts($points): [
	"heap_panels = \($points | heap_panels | words)",
	"heap_curves = \($points | heap_curves | map(curve_text) | quoted_words)",
	"heap_kinds = \($points | heap_curves | map(curve_order[.curve]) | words)",
	"heap_capped = \($points | heap_curves | map(if .cap > 0 then 1 else 0 end) | words)",
	"heap_ticks = \($points | map(.in_flight) | unique | words)",
	"heap_least = \($points | map(.min) | min // 1)",
	"heap_most = \($points | map(.max) | max // 1)"
	] | .[];

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
def figures($points; $kernel; $levels; $heap): ["memory", "ramp",
	(if $points == [] then empty else "active" end), (if $kernel == [] then empty else "kernel" end),
	(if $levels == [] then empty else "park", "wake" end),
	(if any($levels[]; .park == "deep") then "total" else empty end), (if $heap == [] then empty else "heap" end)];
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
	"memory_floors = \($refs | map(select(.[0] == "memory" and .[1] == "floor")) | length)",
	"memory_ref_max = \($refs | map(select(.[0] == "memory") | .[2]) | max // 0)",
	"rate_refs = \($refs | map(select(.[0] == "rate")) | length)",
	"ramp_max = \($rows | map(.ramp.max) | known | max // 0)",
	"rate_ref_max = \($refs | map(select(.[0] == "rate") | .[2]) | max // 0)",
	"rate_max = \([$rows | (map(select(.tls != "plain")), .) | map(.rate.max) | known | max]
		| known | first // 0)"
	] | .[];

records | . as $records | rows as $rows | level_points as $levels | (heap_cells | heap_points) as $heap
| (($rows | marked) + if $levels == [] then [] else level_marks end) as $refs
| points as $points | kernel_rows as $kernel
| "figures = \(figures($points; $kernel; $levels; $heap) | words)",
  facts($rows; $refs), active_facts($points), kernel_facts($kernel), level_facts($levels),
  heap_facts($heap),
  "$refs << EOD", (["figure", "kind", "value", "rank", "text"], $refs[] | @tsv), "EOD",
  "$cells << EOD", ($rows | cell_lines), "EOD",
  "$active << EOD", (reactors as $reactors | $points
	| point_lines($reactors; map(.panel) | unique)), "EOD",
  "$kernel << EOD", ($kernel | kernel_lines), "EOD",
  "$levels << EOD", ($levels | level_lines), "EOD",
  "$notes << EOD", ($levels | level_notes), "EOD",
  "$heap << EOD", ($heap | heap_lines), "EOD"
