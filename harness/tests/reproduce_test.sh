#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# harness/tests/ - the committed claims against the committed results: they hold as they are, each
# notices a published figure altered by 10 %, CLAIMS.md is what claims.json says; and what
# reproduce.sh does around a run. Prints TAP.
set -u
. "$(dirname "$0")/tap.sh"

top=$(realpath "$(dirname "$0")/../..")
O=$(realpath "${O:-build}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -R "$top/results/published" "$dir/published"
claims=$top/results/claims.json

evidence() { cat "$dir/out"; }
compare() { # RUN: against the copy
	"$O/parkbench" compare --claims "$claims" --published "$dir/published" "$1" >"$dir/out" 2>&1
}
# Where an experiment's figures are, below the published results.
place() { # EXPERIMENT
	echo "$(jq -r --arg name "$1" '.experiments[$name].published // .published' "$claims")/$1"
}
# of EXPERIMENT PROGRAM: what jq makes of its claims.
of() {
	jq -r --arg experiment "$1" ".claims[] | select(.experiment == \$experiment) | $2" "$claims"
}

# The figure of a claim, times 1.1 or 0.9, in every line of its cell; what divides it stays.
# shellcheck disable=SC2016 # a jq program
alter='
def path($text): $text / "." | map(tonumber? // .);
def scaled($text): if getpath(path($text)) then setpath(path($text); getpath(path($text)) * $factor)
	else . end;
. as $line | if .cell == $claim.cell and ([$claim.where // {} | to_entries[]
		| $line[.key] == .value] | all)
	then scaled($claim.field) | if $claim.plus then scaled($claim.plus) else . end
	else . end'

notices() { # EXPERIMENT ID FACTOR
	local place claim cells original
	place=$(place "$1")
	cells=$dir/published/$place/cells.jsonl
	original=$top/results/published/$place
	claim=$(of "$1" "select(.id == \"$2\")")
	jq -c --argjson claim "$claim" --argjson factor "$3" "$alter" \
		"$original/cells.jsonl" >"$cells"
	compare "$original"
	[ $? -eq 1 ] && grep -q "^DIFFERS: $2: cell $(jq -r .cell <<<"$claim"), .*$(
		jq -r .field <<<"$claim").* in $cells, .* in $original/" "$dir/out"
	local status=$?
	cp "$original/cells.jsonl" "$cells"
	return $status
}

jq -r -f "$top/results/claims.jq" "$claims" | diff "$top/results/CLAIMS.md" - >"$dir/out" 2>&1
check "CLAIMS.md is what claims.json says (else: make claims)" $?
! jq -r '.claims[].experiment' "$claims" | sort -u |
	while read -r name; do jq -e --arg name "$name" '.experiments[$name]' "$claims"; done 2>&1 |
	tee "$dir/out" | grep -qx null
check "every experiment of a claim says what it takes" $?

for experiment in $(jq -r '[.claims[].experiment] | unique | .[]' "$claims"); do
	compare "$top/results/published/$(place "$experiment")"
	status=$?
	[ $status -eq 0 ] && ! grep -q '^can not be compared' "$dir/out"
	check "$experiment: every claim holds in the published run itself" $?
	for id in $(of "$experiment" 'select(.compare == "relative") | .id'); do
		notices "$experiment" "$id" 1.1 && notices "$experiment" "$id" 0.9
		check "$id: a published figure altered by 10 % is noticed" $?
	done
done

sed -i 's/5906/6497/' "$dir/published/cwist/cwist.json"
c10k=$(place c10k)
compare "$top/results/published/$c10k"
[ $? -eq 1 ] && grep -q 'cwist.json: row C10K, memory.user_bytes_per_conn is 6497, but the claim cites 5906' "$dir/out"
check "theirs, altered, is noticed" $?

rm -rf "${dir:?}/published/$c10k"
compare "$top/results/published/$c10k"
[ $? -eq 1 ] && grep -q '^can not be compared: c10k-kernel: not published: there is no ' "$dir/out"
check "what is not published can not be compared" $?

# Around a run: a parkbench that only pretends, in a tree of its own.
mkdir -p "$dir/tree/build" "$dir/tree/experiments" "$dir/tree/results/local/one"
ln -s one "$dir/tree/results/local/latest"
touch "$dir/tree/experiments/c10k.cfg"
cat >"$dir/tree/build/parkbench" <<'EOT'
#!/bin/sh
echo "$*" >>said
case $1 in run) exit "$RUN" ;; esac
case $2 in --about) exit 0 ;; esac
exit "$COMPARE"
EOT
chmod +x "$dir/tree/build/parkbench"
reproduce() { # RUN COMPARE EXPERIMENT: its status
	(cd "$dir/tree" && rm -f said && RUN=$1 COMPARE=$2 EXPERIMENT=$3 O=build \
		"$top/harness/mk/reproduce.sh" >"$dir/out" 2>&1)
}
reproduce 0 0 c10k && [ "$(cat "$dir/tree/said")" = "compare --about c10k
run experiments/c10k.cfg
compare results/local/one" ]
check "says what it takes, runs, compares that run" $?
reproduce 1 0 c10k
check "a failed cell is for the claims to judge" $?
reproduce 0 1 c10k
[ $? -eq 1 ]
check "a claim that differs is status 1" $?
reproduce 130 0 c10k
[ $? -eq 130 ] && [ "$(wc -l <"$dir/tree/said")" -eq 2 ]
check "an interrupted run is not compared" $?
reproduce 0 0 c1g
[ $? -eq 2 ] && grep -q 'there is no experiments/c1g.cfg' "$dir/out"
check "an unknown experiment is refused" $?
plan
