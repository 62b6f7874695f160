# SPDX-License-Identifier: Apache-2.0
# plots/ - cells.jsonl and the quantiles of single times (quantiles.sh) to what cdf.gp draws. A curve is
# the median over the repeats that passed, quantile by quantile. Without a curve there is no output.
#
# $kind handshake, for latency.gp: a panel for each backend and park level, a curve for each reactor and
# number of connections, in milliseconds. Plain cells make no handshakes.
# $kind wake, for wake_latency.gp: a panel for each backend, a curve for each park level, the fastest
# first, in microseconds.
#
#   jq -L plots -nRr --arg kind handshake --slurpfile quantiles FILE -f latency2dat.jq cells.jsonl

include "common";

def several(f): map(f) | unique | length > 1;
def others: { in_flight, history_bytes, handshakes_max, trim };
def varying($all): . as $one | $one | others | to_entries
	| map(.key as $key | select([$all[] | others[$key]] | unique | length > 1) | " \(.key) \(.value)")
	| add // "";
def connections_told($all): if $all | several(.connections) then "\(.connections | thousands) connections"
	else empty end;
def reactor_told($all): if $all | several(.reactor) then .reactor else empty end;
def kinds: {
	handshake: { figure: "latency", us: 1000 },
	wake: { figure: "wake_latency", us: 1 },
};
def panel: if $kind == "wake" then .tls else "\(.tls)+\(.park)" end;
def named($all): [if $kind == "wake" then .park, reactor_told($all)
		elif $all | several(.connections) then reactor_told($all) else .reactor end,
	connections_told($all)] | join(" ");
def has_any: $kind == "wake" or .tls != "plain";
# A fifth of a percent is what the page can show: 501 of the quantiles, or all there are.
def curve: map(.us) | . as $all | (.[0] | length) as $n | [range(0; $n; if $n > 501 then 4 else 1 end)
	| . as $i | [$i / ($n - 1), ([$all[][$i]] | median / kinds[$kind].us)]];
def middle: .us[.us | length / 2 | floor];
def first_curves: if $kind == "wake" then [group_by(.label)[] | { label: .[0].label,
		middle: (map(middle) | median) }] | sort_by(.middle) else sort_by(.connections) end;

(reduce $quantiles[] as $one ({}; .["\($one.order)"] = $one.us)) as $us
| [records[] | select(.verdict == "pass" and has_any and $us["\(.order)"] != null)
	| .us = $us["\(.order)"]]
| . as $all | map(.panel = panel | .label = named($all) + varying($all))
| if . == [] then empty else
  (map(.panel) | unique) as $panels
  | (first_curves | reduce .[].label as $name ([]; if index([$name]) then . else . + [$name] end))
	as $labels
  | [group_by([.panel, .label])[] | .[0] as $first | { panel: $first.panel, label: $first.label,
	curve: curve, repeats: length }] as $curves
  | "figures = '\(kinds[$kind].figure)'",
    "latency_panels = \($panels | words)",
    "curves = \($labels | length)",
    "array curve_label[\($labels | length)] = [\($labels | map(quoted) | join(", "))]",
    "latency_chars = \($labels | map(length) | max)",
    "latency_repeats = \($curves | map(.repeats) | max)",
    "latency_least = \([$curves[].curve[][1] | select(. > 0)] | min // 0.001)",
    "latency_most = \([$curves[].curve[][1]] | max)",
    "$latency << EOD",
    (["panel", "curve", "part", "time"],
	($curves[] | . as $one | .curve[] | [($panels | index([$one.panel])) + 1,
		($labels | index([$one.label])) + 1, .[0], .[1]]) | @tsv),
    "EOD"
  end
