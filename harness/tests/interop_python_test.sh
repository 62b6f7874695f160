#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# parkbench-server against Python's http.client and ssl module, which put records on the wire as a
# case wants them: in pieces, joined, full, changed, with either half-close behind. Prints TAP.
. "$(dirname "$0")/interop.sh"

# Each case's own verdict.
show_cases() {
	local line
	while read -r line; do
		case $line in
		'ok '*) result 0 "python3, ${line#ok }" ;;
		'not ok '*) result 1 "python3, ${line#not ok }" ;;
		esac
	done <"$work/log"
}

# One record was changed on its way, and one failure is counted; all else went well.
stats_agree() {
	local connections
	connections=$(sed -n 's/^connections //p' "$work/log")
	[ "${connections:-0}" -gt 100 ] && until_true stat_is open 0 &&
		stat_is accepted "$connections" && stat_is handshakes "$connections" &&
		stat_is dissolved "$([ "$park" = keys ] && echo "$connections" || echo 0)" &&
		stat_is kept '{}' && [[ $(stat_of failures) =~ ^\{\"[^\"]*\":1\}$ ]]
}

check_server() { # REACTOR TLS PARK
	start_server "$@" || return
	timeout 60 python3 "${0%_test.sh}.py" "$port" >"$work/log" 2>&1
	result $? "python3, all cases were run"
	show_cases
	stats_agree
	result $? "python3, all were parked as level $park has it, one failed as it was to"
	ends_well
}

need python3 python3
need curl curl
if ! python3 -c 'import ssl; ssl.TLSVersion.TLSv1_3' 2>/dev/null; then
	skip_all "needs the ssl module of Python 3.8: apt-get install python3"
fi
each_dear_cell check_server
finish
