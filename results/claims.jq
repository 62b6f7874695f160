# SPDX-License-Identifier: Apache-2.0
# results/ - claims.json to CLAIMS.md, which `make claims` writes.
#
#   jq -r -f results/claims.jq results/claims.json

def title: { c10k: "C10K", c100k: "C100K", c1m: "C1M" }[.] // .;
def thousands: tostring
	| until(test("^[0-9]{4}") | not; sub("^(?<a>[0-9]+)(?<b>[0-9]{3})"; "\(.a),\(.b)"));
def percent: . * 1000 | round / 10 | "\(.) %";
def where: .where // {} | to_entries | map(", \(.key) \(.value | thousands)") | add // "";
def place: "`\(.cell)`\(where): "
	+ (if .slope then "slope of " else "" end)
	+ "`\(.field)`" + (if .plus then " + `\(.plus)`" else "" end)
	+ (if .over then " / `\(.over)`" else "" end)
	+ (if .over_cell then ", over `\(.over_cell)`" elif .minus_cell
	   then ", less `\(.minus_cell)`" else "" end);
def bound: if .compare == "relative" then "± \(.tolerance | percent)"
	else (.compare | sub("_"; " ")) + " " + (.limit | if . == "theirs" then . else thousands end) end;
def theirs: if .theirs then "\(.theirs.value | thousands)"
	+ " ([\(.theirs.row)](published/\(.theirs.source)))" else "" end;
def command($experiment): if $experiment == .[0].scale then "make reproduce SCALE=\($experiment)"
	else "make reproduce EXP=\($experiment)" end;

. as $file
| "# Claims",
  "",
  "What we claim, and how to check it. Written by `make claims` from [claims.json](claims.json): change that.",
  "The command runs the experiment and compares; `parkbench compare RUN` compares a run that there is. Data and figures are",
  "there when the run is published; until then its claims can not be compared. Fields: [README.md](README.md).",
  (.claims | group_by(.experiment) | sort_by(.[0].experiment as $name
	| $file.experiments | keys_unsorted | index($name)) | .[]
   | .[0].experiment as $name | $file.experiments[$name] as $effort
   | "published/\($effort.published // $file.published)/\($name)" as $dir
   | "",
     "## \($name | title)",
     "",
     "- command: `\(command($name))`",
     "- time and memory: about \($effort.minutes) minutes, \($effort.memory_gib) GiB",
     "- data: `\($dir)/cells.jsonl`",
     "- figures: `\($dir)/plots/`",
     "",
     "| id | claim | cell and field | allowed | theirs | figure |",
     "|---|---|---|---|---|---|",
     (.[] | "| `\(.id)` | \(.claim) | \(place) | \(bound) | \(theirs) | `\(.figure).png` |"))
