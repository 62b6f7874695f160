#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# harness/server/tests/ - parkbench-server at level deep against the peers that people use, in a
# network namespace of its own: pauses between requests, idle time-out, stop, and what is left of
# the packet filter rules. Prints TAP.
set -u
. "$(dirname "$0")/../../tests/tap.sh"

O=${O:-build}
in_private_network
ip link set lo up
work=$(mktemp -d)
server=
port=8443
url=https://127.0.0.1:$port
trap 'stop_server; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

evidence() { tail -n 20 "$work/server.out" "$work/server.err"; }

start_server() { # ARGUMENT...
	"$O/parkbench-server" --reactor c1m --park deep --connections 1000 \
		--listen "127.0.0.1:$port" "$@" >"$work/server.out" 2>"$work/server.err" &
	server=$!
	for _ in $(seq 100); do
		grep -q '^listening' "$work/server.out" && return 0
		kill -0 "$server" 2>/dev/null || break
		sleep 0.05
	done
	wait "$server"
	server=
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

deep_stat() { # NAME: of the server's statistics at level deep
	local before
	before=$(wc -l <"$work/server.out")
	kill -USR1 "$server"
	for _ in $(seq 100); do
		[ "$(wc -l <"$work/server.out")" -gt "$before" ] && break
		sleep 0.05
	done
	tail -n 1 "$work/server.out" | sed 's/.*"deep":{\(.*\)}.*/\1/' | tr , '\n' |
		sed -n "s/\"$1\":\([0-9]*\).*/\1/p"
}

until_deep() { # N
	for _ in $(seq 200); do
		[ "$(deep_stat now)" = "$1" ] && return 0
		sleep 0.05
	done
	return 1
}

rules() {
	iptables -S | grep -q PARKBENCH
}

# Else a packet that is held could belong to a socket that goes meanwhile.
early_demux_is() { # 0 or 1
	[ "$(cat /proc/sys/net/ipv4/ip_early_demux)" = "$1" ]
}

# A request a second, on one connection.
curl_with_pauses() {
	local woken
	woken=$(deep_stat woken)
	curl --silent --insecure --max-time 30 --rate 60/m -w '%{num_connects}' \
		-o "$work/a" "$url/1000" -o "$work/b" "$url/100000" -o "$work/c" "$url/" >"$work/connects" &&
		[ "$(cat "$work/connects")" = 100 ] &&
		[ "$(wc -c <"$work/a")" -eq 1000 ] &&
		[ "$(wc -c <"$work/b")" -eq 100000 ] && [ "$(cat "$work/c")" = "Hello, world" ] &&
		[ "$(deep_stat woken)" -ge $((woken + 2)) ]
}

s_client_with_pauses() {
	for _ in 1 2 3; do
		printf 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
		sleep 0.6
	done | timeout 20 openssl s_client -quiet -no_ign_eof -connect "127.0.0.1:$port" >"$work/out" 2>/dev/null
	[ "$(grep -o 'Hello, world' "$work/out" | wc -l)" -eq 3 ]
}

wrk_runs() {
	wrk -t 2 -c 50 -d 2 "$url/" >"$work/out" 2>&1 &&
		grep -qE '^ *[1-9][0-9]* requests in' "$work/out" &&
		! grep -qE 'Socket errors|Non-2xx' "$work/out"
}

# Both ends lose their sockets, and still every answer comes and every byte is right.
load() { # ARGUMENT...
	timeout 100 "$O/parkbench-load" --connect "127.0.0.1:$port" --park deep --hold 1 --workers 2 \
		--connections 500 "$@" >"$work/load" 2>&1
}

# One round: they are parked when it begins, and when they are closed.
both_ends_deep() { # TLS
	load --tls "$1" --rounds 1 || return 1
	grep -q '"event":"round","ok":500,"failed":0' "$work/load" &&
		grep -q '"event":"close","closed":500' "$work/load" && ! iptables -S | grep -q client
}

open_many() { # N: connections that wait for the server's end; leaves their pids in `clients`
	clients=
	for i in $(seq "$1"); do
		(printf 'GET / HTTP/1.1\r\nHost: a\r\n\r\n' && exec sleep 30) |
			timeout 30 openssl s_client -connect "127.0.0.1:$port" -ign_eof \
				>"$work/client.$i" 2>&1 &
		clients="$clients $!"
	done
	until_deep "$1"
}

# A proper end: close_notify, without which s_client says "unexpected eof".
all_closed() { # N
	local i
	for i in $(seq "$1"); do
		for _ in $(seq 100); do
			grep -qE '^(closed|read:errno|.*unexpected eof)' "$work/client.$i" && break
			sleep 0.1
		done
		grep -q '^closed' "$work/client.$i" || return 1
	done
}

idle_timeout_ends_all() {
	start_server --tls openssl --workers 2 --idle-timeout 2 && open_many 10 && all_closed 10 &&
		until_deep 0
}

stop_ends_all() {
	start_server --tls openssl --workers 2 && open_many 10 && stop_server && all_closed 10
}

# What a server that was killed has left would have the next one's packets go nowhere.
killed_server_is_replaced() {
	start_server --tls plain && kill -KILL "$server"
	wait "$server" 2>/dev/null
	rules && start_server --tls plain &&
		[ "$(curl --silent --max-time 10 "http://127.0.0.1:$port/")" = "Hello, world" ] &&
		stop_server && ! rules
}

other_reactor_says_so() {
	! "$O/parkbench-server" --reactor epoll --tls plain --park deep --listen "127.0.0.1:$port" \
		2>"$work/err" && grep -q 'epoll has not' "$work/err"
}

if ! start_server --tls plain; then
	skip_all "$(tail -n 1 "$work/server.err")"
fi
stop_server
for tls in $("$O/parkbench" list --names tls); do
	start_server --tls "$tls" --workers 3
	check "$tls: starts" $?
	if [ "$tls" != plain ]; then
		curl_with_pauses
		check "$tls: curl with pauses" $?
		s_client_with_pauses
		check "$tls: s_client with pauses" $?
		wrk_runs
		check "$tls: wrk" $?
	fi
	both_ends_deep "$tls"
	check "$tls: both ends deep" $?
	[ "$(deep_stat dropped)" -eq 0 ]
	check "$tls: no packet was dropped" $?
	early_demux_is 0
	check "$tls: packets are held before they have sockets" $?
	stop_server
	check "$tls: stops" $?
	! rules && early_demux_is 1
	check "$tls: no rule is left" $?
done
idle_timeout_ends_all
check "the idle time-out ends parked connections properly" $?
stop_server
stop_ends_all
check "a stop ends parked connections properly" $?
killed_server_is_replaced
check "a server takes over what a killed one left" $?
other_reactor_says_so
check "another reactor says that it can not" $?
plan
