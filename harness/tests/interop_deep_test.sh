#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# parkbench-server at level deep in one network namespace, the peers that people use in another, and
# between them a pair of veth on which segments are lost, late and out of order (LOSS, a part of 1;
# DELAY_US, at most; both ways). parkbench-load is parked deep as well, and checks every byte; it
# goes to 127.0.0.0/8 alone, which here is routed over veth. CONNECTIONS, CYCLES, TLS: other than
# what a test has the time for. Prints TAP.
# shellcheck disable=SC2034,SC2154 # interop.sh and this have variables in common
. "$(dirname "$0")/tap.sh"
in_private_network
. "$(dirname "$0")/interop.sh"

loss=${LOSS:-0.01} delay_us=${DELAY_US:-5000}
connections=${CONNECTIONS:-200} cycles=${CYCLES:-5} tls=${TLS:-openssl}
patience_s=60 # a segment that is lost three times is seconds late
request='GET / HTTP/1.1\r\nHost: a\r\n\r\n'
lines=
trap 'end_peer; stop_server; kill $lines $peers_net 2>/dev/null; rm -rf "$work"' EXIT

# ---- two networks ----

# A command after "${among_peers[@]}" is run in their network. No function: as a background job that
# would be a shell, which ends without its child.
unshare -n sleep infinity &
peers_net=$!
among_peers=(nsenter --net="/proc/$peers_net/ns/net")

is_apart() {
	[ "$(readlink "/proc/$peers_net/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# One segment a packet, as on a line: else many are lost, or late, as one.
set_up() { # DEVICE ADDRESS
	echo 1 >"/proc/sys/net/ipv4/conf/all/route_localnet"
	ip addr add "$2/8" dev "$1" scope global && ip link set "$1" gso_max_segs 1 up
}

connect_networks() {
	until_true is_apart && ip link add wire type veth peer name far netns "$peers_net" &&
		set_up wire 127.0.0.1 &&
		"${among_peers[@]}" bash -c "$(declare -f set_up); set_up far 127.1.0.1"
}

line_is_up() { # FILE
	grep -q ready "$1"
}

make_it_bad() {
	local line=("$O/tests/reactors/tests/bad_line" "$loss" "$delay_us")
	"${line[@]}" >"$work/line.1" 2>&1 &
	lines=$!
	"${among_peers[@]}" "${line[@]}" >"$work/line.2" 2>&1 &
	lines="$lines $!"
	until_true line_is_up "$work/line.1" && until_true line_is_up "$work/line.2"
}

# ---- peers ----

# More connections than before were woken.
woke() { # BEFORE, AT LEAST
	[ "$(stat_of woken)" -ge $(($1 + $2)) ]
}

# A request every other second, on one connection: in between it loses its socket.
curl_with_pauses() {
	local woken
	woken=$(stat_of woken)
	"${among_peers[@]}" curl --silent --insecure --max-time 60 --rate 30/m -w '%{num_connects}' \
		-o "$work/a" "$url/1000" -o "$work/b" "$url/100000" -o "$work/c" "$url/" >"$work/connects" &&
		[ "$(cat "$work/connects")" = 100 ] && [ "$(wc -c <"$work/a")" -eq 1000 ] &&
		[ "$(wc -c <"$work/b")" -eq 100000 ] && [ "$(cat "$work/c")" = "Hello, world" ] &&
		woke "$woken" 2
}

is_parked() {
	stat_is now 1
}

# On the peer that was started: a request each time that the server has no socket for it.
asks_and_is_parked() { # TIMES
	local i woken
	woken=$(stat_of woken)
	for i in $(seq "$1"); do
		until_true is_parked && say "$request" && wait_for "$i" 'Hello, world' || return 1
	done
	woke "$woken" "$1" && until_true is_parked && end_peer && all_closed
}

s_client_with_pauses() {
	start_peer "${among_peers[@]}" openssl s_client -quiet -no_ign_eof -connect "127.0.0.1:$port"
	asks_and_is_parked 4
}

gnutls_with_pauses() {
	start_peer "${among_peers[@]}" gnutls-cli --no-ca-verification --port "$port" 127.0.0.1
	asks_and_is_parked 4
}

wrk_runs() {
	"${among_peers[@]}" wrk -t 2 -c 20 -d 5 --timeout 60 "$url/" >"$work/log" 2>&1 &&
		grep -qE '^ *[1-9][0-9]* requests in' "$work/log" &&
		! grep -qE 'Socket errors|Non-2xx' "$work/log"
}

if_there() { # TOOL PACKAGE NAME COMMAND
	if ! command -v "$1" >/dev/null; then
		skip "$cell: $3" "needs $1: apt-get install $2"
		return
	fi
	"$4"
	result $? "$3"
	end_peer
}

# ---- both ends deep ----

load_commands() {
	echo ramp
	for _ in $(seq "$cycles"); do
		echo hold 0.6
		echo round
	done
	echo close
	echo quit
}

# Kept open here, too: parkbench-load ends when nobody can tell it anything any more.
both_ends_deep() {
	mkfifo "$work/commands"
	exec 9<>"$work/commands"
	load_commands >&9
	"${among_peers[@]}" "$O/parkbench-load" --connect "127.0.0.1:$port" --tls "$tls" --park deep \
		--workers 2 --connections "$connections" --path /20000 --control <&9 >"$work/log" 2>&1
	[ "$(grep -c "\"event\":\"round\",\"ok\":$connections,\"failed\":0" "$work/log")" -eq "$cycles" ] &&
		grep -q "\"event\":\"close\",\"closed\":$connections" "$work/log"
}

# What the kernel had to do for it, with some help of ours.
report() { # SIDE COMMAND...
	"${@:2}" nstat -asz 2>/dev/null | awk -v side="$1" '/^Tcp(RetransSegs|OutRsts) / { print "# " side ": " $1 " " $2 }'
}

if ! connect_networks || ! make_it_bad || ! start_server c1m "$tls" deep --workers 3 \
	--handshake-timeout 60; then
	skip "$cell: a bad line" "$(cat "$work"/line.* "$work/server.err" 2>/dev/null | tail -n 1)"
	finish
fi
if_there curl curl "curl with pauses" curl_with_pauses
if_there openssl openssl "s_client with pauses" s_client_with_pauses
if_there gnutls-cli gnutls-bin "gnutls-cli with pauses" gnutls_with_pauses
if_there wrk wrk "wrk" wrk_runs
both_ends_deep
result $? "$connections connections at both ends, $cycles rounds with every byte right"
ask_stats
echo "# ${stats#*\"deep\":}"
report server
report peers "${among_peers[@]}"
stop_server
result $? "stops"
finish
