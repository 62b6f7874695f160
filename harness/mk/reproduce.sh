#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs an experiment and compares it with what is claimed of it, after saying what it takes. Exit
# status: 0 all claims that can be compared hold, 1 one differs, 2 usage or environment, that of the
# run when it was interrupted.
# usage: EXPERIMENT=NAME [O=build] harness/mk/reproduce.sh
set -u

experiment=${EXPERIMENT:-}
parkbench=${O:-build}/parkbench
file=experiments/$experiment.cfg
[ -f "$file" ] || {
	echo "reproduce: there is no $file; SCALE is c10k, c100k, c1m, c4m or c10m, EXP any experiment in results/CLAIMS.md" >&2
	exit 2
}
"$parkbench" compare --about "$experiment" || exit
echo "is this machine fit for it? $parkbench doctor $file"

# A failed cell (status 1) is for the claims to judge.
"$parkbench" run "$file"
status=$?
[ $status -le 1 ] || exit $status
run=results/local/$(readlink results/local/latest) || exit 2
printf '\n%s against results/claims.json:\n\n' "$run"
"$parkbench" compare "$run"
