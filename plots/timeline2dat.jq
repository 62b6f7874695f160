# SPDX-License-Identifier: Apache-2.0
# plots/ - the timeline of one cell to what timeline.gp loads: $timeline, a line a sample, $rates and the
# steps. Where it has fewer than three samples there is no output.
#
#   jq -L plots -nRr --arg name ORDER-CELL -f timeline2dat.jq timeline/ORDER-CELL.jsonl

include "common";

def samples: [inputs] | to_entries | map(select(.value | test("\\S")) | "line \(.key + 1): " as $where
	| .value | try fromjson catch ("not JSON (\(.))" | stop($where)));
def client: if .client_user_bytes == null or .client_kernel_bytes == null then null
	else .client_user_bytes + .client_kernel_bytes end;
# Over half a second at least, and one part in 150 of all: samples may follow each other closely, and
# the client tells in steps how far it is.
def rates: ([0.5, (.[-1].t_s - .[0].t_s) / 150] | max) as $long
	| reduce .[] as $one ({ from: .[0].t_s, count: 0, all: [] };
		.count += ($one.handshakes // 0)
		| if $one.t_s - .from >= $long
		  then .all += [{ from, to: $one.t_s, rate: (.count / ($one.t_s - .from)) }]
			| .from = $one.t_s | .count = 0
		  else . end)
	| .all;
# A step goes on until the next one's first sample.
def steps: . as $all | (map(.step) | to_entries | reduce .[] as $one ([]; if length > 0 and last.step == $one.value
	then . else . + [{ step: $one.value, from: $all[$one.key].t_s }] end))
	| . as $steps | [range(length) | . as $i | $steps[$i] + { to: ($steps[$i + 1].from // $all[-1].t_s) }];
def most(f): map(f) | known | max // 0;

samples | if length < 3 then empty else
  steps as $steps | rates as $rates
  | "timeline_cell = \($name | sub("^[0-9]+-"; "") | quoted)",
    "t_from = \(.[0].t_s)",
    "t_to = \(.[-1].t_s)",
    "most_established = \(most(.established))",
    "most_bytes = \([most(.server_user_bytes), most(.server_kernel_bytes), most(client)] | max)",
    "most_rate = \($rates | most(.rate))",
    "array step_name[\($steps | length)] = [\($steps | map(.step | quoted) | join(", "))]",
    "array step_from[\($steps | length)] = [\($steps | map(.from | tostring) | join(", "))]",
    "array step_to[\($steps | length)] = [\($steps | map(.to | tostring) | join(", "))]",
    "$timeline << EOD",
    (["t", "established", "user", "kernel", "client"],
	(.[] | [.t_s] + ([.established, .server_user_bytes, .server_kernel_bytes, client]
		| map(number))) | @tsv),
    "EOD",
    "$rates << EOD", (["t", "rate"], ($rates[] | [.from, .rate], [.to, .rate]) | @tsv), "EOD"
  end
