#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# parkbench-server against the peers that people use and that cost little: curl, openssl s_client,
# wrk, h2load. Every reactor and backend that runs here, at every park level. Prints TAP.
. "$(dirname "$0")/interop.sh"

fetch() { # CURL-ARGUMENT...
	curl --silent --insecure --max-time 20 "$@"
}

# Four requests on one connection, with a pause after each in which it is idle; a server that has
# let go of its sessions answers the last three from its records.
curl_keeps_the_connection() {
	fetch -v --rate 20/s "$url/" "$url/26" "$url/healthz" "$url/" >"$work/out" 2>"$work/log" &&
		[ "$(cat "$work/out")" = \
			"$(printf 'Hello, world\n%sHello, world\nHello, world' "$alphabet")" ] &&
		[ "$(grep -c 'Re-using existing connection' "$work/log")" -eq 3 ] &&
		parked_after 4 && parked_as_told 1
}

curl_gets_a_mebibyte() {
	fetch "$url/26" "$url/1048576" "$url/1048576" | cmp - "$work/mebibytes"
}

curl_gets_status() { # STATUS CURL-ARGUMENT...
	[ "$(fetch -o "$work/body" -w '%{http_code}' "${@:2}")" = "$1" ]
}

# A HEAD leaves its connection as good as it was; what is refused is told why. Comes last: where a
# part of the long header's record arrives first, its session is kept for that while.
curl_gets_each_status() {
	curl_gets_status 404 "$url/none" && curl_gets_status 405 -d x "$url/" &&
		curl_gets_status 405 -T "$work/mebibytes" "$url/" &&
		curl_gets_status 431 -H "X: $(head -c 10000 /dev/zero | tr '\0' x)" "$url/" &&
		curl_gets_status '200 0' -w '%{http_code} %{size_download}' --head "$url/100" &&
		curl_gets_status 200200 --head "$url/100" --next --silent --insecure \
			-o "$work/body" -w '%{http_code}' "$url/26"
}

# The end of its input does not keep it from reading the answer to the end of the connection.
s_client_gets_the_answer() {
	printf 'GET /26 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' |
		timeout 20 openssl s_client -connect "127.0.0.1:$port" -quiet \
			-tls1_3 2>/dev/null | grep -q "$alphabet"
}

s_client_sees_tls13() {
	echo Q | timeout 20 openssl s_client -connect "127.0.0.1:$port" 2>/dev/null |
		grep -q 'TLSv1.3'
}

tls12_is_refused() {
	! timeout 20 openssl s_client -connect "127.0.0.1:$port" -tls1_2 </dev/null \
		>"$work/log" 2>&1 && grep -q 'alert protocol version' "$work/log"
}

# An interrupt ends it in order, and sooner than its shortest run. On a machine that is busy that may be
# before the first answer, or before it listens to interrupts (130): then once more.
wrk_sees_no_errors() {
	local seconds
	for seconds in 0.3 1 2 4; do
		timeout -k 30 -s INT --preserve-status "$seconds" wrk -t 2 -c 100 -d 60s "$url/" >"$work/log" ||
			[ $? -eq 130 ] || return 1
		grep -qE 'Socket errors|Non-2xx' "$work/log" && return 1
		grep -qE '^ +[1-9][0-9]* requests in' "$work/log" && return 0
	done
	return 1
}

h2load_counts_every_request() {
	timeout 60 h2load --h1 -n 2000 -c 50 "$url/" >"$work/log" 2>&1 &&
		grep -q '2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout' "$work/log" &&
		grep -q 'status codes: 2000 2xx' "$work/log"
}

# Of all connections so far; a plain one may end before it was idle for the first time.
all_were_parked() {
	all_closed && stat_is kept '{}' && if [ "$park" = keys ]; then
		[ "$(stat_of dissolved)" -gt 50 ]
	else
		stat_is dissolved 0
	fi
}

check_tls_peers() {
	s_client_gets_the_answer && s_client_sees_tls13
	result $? "openssl s_client"
	tls12_is_refused
	result $? "TLS 1.2 is refused with an alert"
}

check_server() { # REACTOR TLS PARK
	start_server "$@" || return
	curl_keeps_the_connection
	result $? "curl, four requests on one connection, parked between them"
	curl_gets_a_mebibyte
	result $? "curl, two mebibytes on one connection, byte for byte"
	if command -v h2load >/dev/null; then
		h2load_counts_every_request
		result $? "h2load, 2000 requests, none failed"
		all_were_parked
		result $? "all were parked as level $park has it, and ended without a failure"
	else
		skip "$cell: h2load" "needs h2load: apt-get install nghttp2-client"
	fi
	if [ "$2" != plain ]; then
		check_tls_peers
	fi
	wrk_sees_no_errors && until_true stat_is open 0 && stat_is kept '{}'
	result $? "wrk, no errors, and none of its connections is left"
	curl_gets_each_status
	result $? "curl, 404, 405, 431 and HEAD"
	ends_well
}

need curl curl
need openssl openssl
need wrk wrk
alphabet=abcdefghijklmnopqrstuvwxyz
for i in $(seq 40330); do printf $alphabet; done | head -c 1048576 >"$work/mebibyte"
{ printf $alphabet; cat "$work/mebibyte" "$work/mebibyte"; } >"$work/mebibytes"

for reactor in $("$O/parkbench" list --names reactors); do
	for tls in $("$O/parkbench" list --names tls); do
		for park in $("$O/parkbench" list --names park); do
			check_server "$reactor" "$tls" "$park"
		done
	done
done
[ "$checks" -gt 0 ]
result $? "there is something to try"
finish
