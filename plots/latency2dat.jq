# SPDX-License-Identifier: Apache-2.0
# plots/ - cells.jsonl and the quantiles of the handshake times (quantiles.sh) to what latency.gp
# loads: a panel for each backend and park level, a curve for each reactor and number of
# connections. A curve is the median over the repeats that passed, quantile by quantile. Plain cells
# make no handshakes. Without a curve there is no output.
#
#   jq -L plots -nRr --slurpfile quantiles FILE -f latency2dat.jq cells.jsonl

include "common";

def several(f): map(f) | unique | length > 1;
def others: { in_flight, history_bytes, handshakes_max, trim };
def varying($all): . as $one | $one | others | to_entries
	| map(.key as $key | select([$all[] | others[$key]] | unique | length > 1) | " \(.key) \(.value)")
	| add // "";
def named($all): . as $one | [if ($all | several(.reactor)) or ($all | several(.connections) | not)
		then .reactor else empty end,
	if $all | several(.connections) then "\(.connections | thousands) connections" else empty end]
	| join(" ") + ($one | varying($all));
# A fifth of a percent is what the page can show: 501 of the quantiles, or all there are.
def curve: map(.us) | . as $all | (.[0] | length) as $n | [range(0; $n; if $n > 501 then 4 else 1 end)
	| . as $i | [$i / ($n - 1), ([$all[][$i]] | median / 1000)]];

(reduce $quantiles[] as $one ({}; .["\($one.order)"] = $one.us)) as $us
| [records[] | select(.verdict == "pass" and .tls != "plain" and $us["\(.order)"] != null)
	| .us = $us["\(.order)"]]
| . as $all | map(.panel = "\(.tls)+\(.park)" | .label = named($all))
| if . == [] then empty else
  (map(.panel) | unique) as $panels
  | (sort_by(.connections) | reduce .[].label as $name ([]; if index([$name]) then . else . + [$name] end))
	as $labels
  | [group_by([.panel, .label])[] | .[0] as $first | { panel: $first.panel, label: $first.label,
	curve: curve, repeats: length }] as $curves
  | "figures = 'latency'",
    "latency_panels = \($panels | words)",
    "curves = \($labels | length)",
    "array curve_label[\($labels | length)] = [\($labels | map(quoted) | join(", "))]",
    "latency_chars = \($labels | map(length) | max)",
    "latency_repeats = \($curves | map(.repeats) | max)",
    "latency_least = \([$curves[].curve[][1] | select(. > 0)] | min // 0.001)",
    "latency_most = \([$curves[].curve[][1]] | max)",
    "$latency << EOD",
    (["panel", "curve", "part", "ms"],
	($curves[] | . as $one | .curve[] | [($panels | index([$one.panel])) + 1,
		($labels | index([$one.label])) + 1, .[0], .[1]]) | @tsv),
    "EOD"
  end
