# SPDX-License-Identifier: Apache-2.0
# plots/ - what the conversions share: statistics, numbers and texts, reading lines of JSON. A module
# of jq: jq -L plots, and `include "common";`.

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
def words: map(tostring) | join(" ") | quoted;

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
