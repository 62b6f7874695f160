#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# parkbench-server against openssl s_client, whose -msg shows each protocol message: KeyUpdates both
# ways, the three suites, small and padded records, close_notify, resumption. Prints TAP.
. "$(dirname "$0")/interop.sh"

request='GET / HTTP/1.1\r\nHost: a\r\n\r\n'
suites="TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256"

start_s_client() { # OPTION...
	start_peer openssl s_client -connect "127.0.0.1:$port" -msg "$@"
}

# One more request; the answer came, and the connection is parked again. Counts in `asked`, of this
# connection, and `total`, of the server.
ask() {
	asked=$((asked + 1)) total=$((total + 1))
	say "$request" && wait_for "$asked" 'Hello, world' && parked_after "$total"
}

connect() { # OPTION...
	asked=0 connections=$((connections + 1))
	start_s_client "$@"
	ask && parked_as_told "$connections"
}

has_sent() { # KEYUPDATES
	[ "$(grep -ac '^>>>.*KeyUpdate' "$work/peer.out")" -eq "$1" ]
}

key_updates_are() { # SENT RECEIVED
	has_sent "$1" && [ "$(grep -ac '^<<<.*KeyUpdate' "$work/peer.out")" -eq "$2" ]
}

# `Q`: a close_notify of the client's. The server took it for a proper end.
quits() {
	say 'Q\n' && end_peer && grep -aq '^>>>.*close_notify' "$work/peer.out" && all_closed
}

# `k` announces new keys of the client's, `K` asks for the server's as well. The server may let that
# wait until it has something to say (OpenSSL's library does): its KeyUpdate is there with its answer.
updates_keys() {
	local i
	connect || return 1
	for i in 1 2 3; do
		say 'k\n' && until_true key_updates_are $((2 * i - 1)) $((i - 1)) && ask || return 1
		say 'K\n' && until_true has_sent $((2 * i)) && ask && key_updates_are $((2 * i)) "$i" ||
			return 1
	done
	quits
}

updates_keys_in_a_row() {
	local i
	connect || return 1
	for i in 1 2 3 4 5; do
		say 'k\n' && until_true key_updates_are "$i" 0 || return 1
	done
	ask && key_updates_are 5 0 && quits
}

speaks_suite() { # SUITE
	connect -ciphersuites "$1" && grep -aq "Cipher is $1" "$work/peer.out" && ask &&
		say 'K\n' && until_true has_sent 1 && ask && key_updates_are 1 1 && quits
}

# A request of 7,000 bytes in 14 records, after one that parked the connection.
sends_small_records() {
	connect -max_send_frag 512 || return 1
	say "GET / HTTP/1.1\r\nX: $(head -c 7000 /dev/zero | tr '\0' x)\r\nHost: a\r\n\r\n"
	asked=2 total=$((total + 1))
	wait_for 2 'Hello, world' && parked_after "$total" && ask && quits
}

# Twenty requests in one write, after one that parked the connection.
pipelines() {
	connect || return 1
	say "$(for i in $(seq 20); do printf '%s' "$request"; done)"
	asked=21 total=$((total + 20))
	wait_for 21 'Hello, world' && parked_after "$total" && ask && quits
}

# Padding hides how much is in a record. While there is a session that can keep it (BoringSSL does not
# tell whether it holds part of a message), so the first record comes when it is gone.
pads_its_records() {
	asked=0 connections=$((connections + 1))
	start_s_client -record_padding 1024
	until_true stat_is handshakes "$connections" && parked_as_told "$connections" && ask && ask &&
		parked_as_told "$connections" && quits
}

# The server has the last word: an answer that ends the connection, on a parked one.
server_closes() {
	connect || return 1
	total=$((total + 1))
	say 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
	until_true peer_is_gone && end_peer && [ "$(count 'Hello, world')" -eq 2 ] &&
		grep -aq '^<<<.*close_notify' "$work/peer.out" && all_closed
}

# Told to stop, it takes leave of a connection that is parked.
server_stops() {
	connect || return 1
	stop_server && end_peer && grep -aq '^<<<.*close_notify' "$work/peer.out"
}

# Tickets are written before the session becomes a record; the next connection resumes with one.
resumes() {
	connections=0 total=0
	start_server "$reactor" "$tls" "$park" --tickets 2 || return 1
	connect -sess_out "$work/session" && ask && quits && [ -s "$work/session" ] &&
		connect -sess_in "$work/session" && grep -aq '^Reused, TLSv1.3' "$work/peer.out" &&
		ask && quits && stop_server
}

check_server() { # REACTOR TLS PARK
	start_server "$@" || return
	connections=0 total=0
	updates_keys
	result $? "s_client, KeyUpdate: not requested (k) and requested (K), a request after each"
	end_peer
	updates_keys_in_a_row
	result $? "s_client, five KeyUpdates in a row, then a request"
	end_peer
	for suite in $suites; do
		speaks_suite "$suite"
		result $? "s_client, $suite, and a KeyUpdate under it"
		end_peer
	done
	sends_small_records
	result $? "s_client, one request in 14 small records"
	end_peer
	pipelines
	result $? "s_client, twenty requests in one write"
	end_peer
	pads_its_records
	result $? "s_client, padded records"
	end_peer
	server_closes
	result $? "s_client, the server's close_notify after its last answer"
	end_peer
	server_stops
	result $? "s_client, the server's close_notify to a parked connection when it stops"
	end_peer
	resumes
	result $? "s_client, a second connection is resumed with a ticket of the first"
	end_peer
	stop_server
}

need openssl openssl
each_dear_cell check_server
finish
