#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# parkbench-server against the peers that people use: curl, openssl s_client, wrk. Every reactor
# and backend that runs here, at every park level. Prints TAP.
set -u

O=${O:-build}
n=0
work=$(mktemp -d)
server=
trap 'stop_server; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

result() { # STATUS NAME
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

skip() { # NAME REASON
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# Starts the server on a free port and waits until it says that it listens. Sets port.
start_server() { # REACTOR TLS PARK
	local try
	for try in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 10000))
		"$O/parkbench-server" --reactor "$1" --tls "$2" --park "$3" --connections 1000 \
			--listen "127.0.0.1:$port" >"$work/server.out" 2>"$work/server.err" &
		server=$!
		for _ in $(seq 100); do
			grep -q '^listening' "$work/server.out" && return 0
			kill -0 "$server" 2>/dev/null || break
			sleep 0.05
		done
		stop_server
	done
	sed 's/^/# /' "$work/server.err"
	return 1
}

stop_server() {
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null
	wait "$server"
	local status=$?
	server=
	return "$status"
}

fetch() { # CURL-ARGUMENT...
	curl --silent --insecure --max-time 20 "$@"
}

curl_keeps_the_connection() {
	fetch -v "$url/" "$url/" >"$work/out" 2>"$work/log" &&
		[ "$(cat "$work/out")" = "$(printf 'Hello, world\nHello, world')" ] &&
		grep -qE 'Re-using existing connection' "$work/log"
}

curl_gets_a_mebibyte() {
	fetch "$url/1048576" | cmp - "$work/mebibyte"
}

curl_gets_status() { # STATUS CURL-ARGUMENT...
	[ "$(fetch -o "$work/body" -w '%{http_code}' "${@:2}")" = "$1" ]
}

long_header() {
	curl_gets_status 431 -H "X: $(head -c 10000 /dev/zero | tr '\0' x)" "$url/"
}

# The end of its input does not keep it from reading the answer to the end of the connection.
s_client_gets_the_answer() {
	printf 'GET /26 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' |
		timeout 20 openssl s_client -connect "127.0.0.1:$port" -quiet \
			-tls1_3 2>/dev/null | grep -q 'abcdefghijklmnopqrstuvwxyz'
}

s_client_sees_tls13() {
	echo Q | timeout 20 openssl s_client -connect "127.0.0.1:$port" 2>/dev/null |
		grep -q 'TLSv1.3'
}

tls12_is_refused() {
	! timeout 20 openssl s_client -connect "127.0.0.1:$port" -tls1_2 </dev/null \
		>"$work/log" 2>&1 && grep -q 'alert protocol version' "$work/log"
}

wrk_sees_no_errors() {
	timeout 60 wrk -t 2 -c 100 -d 1s "$url/" >"$work/log" &&
		! grep -qE 'Socket errors|Non-2xx' "$work/log" &&
		grep -qE '^ +[1-9][0-9]* requests in' "$work/log"
}

still_answers() {
	[ "$(fetch "$url/")" = "Hello, world" ]
}

check_server() { # REACTOR TLS PARK
	local cell=$1+$2+$3
	local scheme=https
	[ "$2" = plain ] && scheme=http
	if ! start_server "$@"; then
		result 1 "$cell: starts"
		return
	fi
	url=$scheme://127.0.0.1:$port
	curl_keeps_the_connection
	result $? "$cell: curl, two requests on one connection"
	curl_gets_a_mebibyte
	result $? "$cell: curl, a mebibyte byte for byte"
	curl_gets_status 404 "$url/none" && curl_gets_status 405 -d x "$url/" && long_header &&
		curl_gets_status 200 --head "$url/100"
	result $? "$cell: curl, 404, 405, 431 and HEAD"
	if [ "$2" != plain ]; then
		s_client_gets_the_answer && s_client_sees_tls13
		result $? "$cell: openssl s_client"
		tls12_is_refused
		result $? "$cell: TLS 1.2 is refused with an alert"
	fi
	wrk_sees_no_errors
	result $? "$cell: wrk, no errors"
	still_answers && stop_server
	result $? "$cell: still answers, and stops with status 0"
}

for tool in curl openssl wrk; do
	if ! command -v "$tool" >/dev/null; then
		skip "interop" "$tool is not installed: make deps"
		echo "1..$n"
		exit 0
	fi
done
for i in $(seq 40330); do printf abcdefghijklmnopqrstuvwxyz; done | head -c 1048576 >"$work/mebibyte"

for reactor in $("$O/parkbench" list --names reactors); do
	for tls in $("$O/parkbench" list --names tls); do
		for park in $("$O/parkbench" list --names park); do
			check_server "$reactor" "$tls" "$park"
		done
	done
done
[ "$n" -gt 0 ]
result $? "there is something to try"
echo "1..$n"
