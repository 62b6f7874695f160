#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# parkbench-server against gnutls-cli, whose library shares no code with ours: new keys on either
# side, the three suites, a proper end, resumption with a ticket. Prints TAP.
. "$(dirname "$0")/interop.sh"

request='GET / HTTP/1.1\r\nHost: a\r\n\r\n'
any='NORMAL:-VERS-ALL:+VERS-TLS1.3'

# Parked before the first request, which is the least that any later one finds. -d 4 shows each
# handshake message.
connect() { # PRIORITY
	asked=0 connections=$((connections + 1))
	start_peer gnutls-cli --inline-commands --no-ca-verification -d 4 --priority "$1" \
		--port "$port" 127.0.0.1
	wait_for 1 'Simple Client Mode' && parked_as_told "$connections"
}

ask() {
	asked=$((asked + 1)) total=$((total + 1))
	say "$request" && wait_for "$asked" 'Hello, world' && parked_after "$total"
}

rekey() { # COMMAND, TIMES DONE
	say "$1\n" && wait_for "$2" 'Rekey was completed'
}

# The end of its input is its close_notify; ours is what it waits for then.
quits() {
	end_peer && [ "$(count 'Peer has closed the GnuTLS connection')" -eq 1 ] && all_closed
}

# ^rekey^ asks for our KeyUpdate, too; ^rekey1^ does not.
rekeys() {
	local i
	connect "$any" && ask || return 1
	for i in 1 2 3; do
		rekey '^rekey1^' $((2 * i - 1)) && ask &&
			[ "$(count 'received TLS 1.3 key update (0)')" -eq $((i - 1)) ] || return 1
		rekey '^rekey^' $((2 * i)) && ask &&
			[ "$(count 'received TLS 1.3 key update (0)')" -eq "$i" ] || return 1
	done
	rekey '^rekey1^' 7 && rekey '^rekey1^' 8 && rekey '^rekey^' 9 && ask && quits
}

speaks_cipher() { # CIPHER
	connect "$any:-CIPHER-ALL:+$1" && [ "$(count "($1)")" -ge 1 ] && ask && rekey '^rekey^' 1 &&
		ask && quits
}

# The library looks at the ticket when it reads the first answer.
resumes() {
	start_server "$reactor" "$tls" "$park" --tickets 2 || return 1
	connections=0 total=0
	connect "$any" && ask && say '^resume^\n' && wait_for 1 'This is a resumed session' &&
		parked_as_told 2 && ask && rekey '^rekey^' 1 && ask && quits && stop_server
}

tls12_is_refused() {
	! gnutls-cli --no-ca-verification --priority 'NORMAL:-VERS-ALL:+VERS-TLS1.2' \
		--port "$port" 127.0.0.1 </dev/null >"$work/log" 2>&1 &&
		grep -qF 'Received alert [70]' "$work/log"
}

check_server() { # REACTOR TLS PARK
	start_server "$@" || return
	connections=0 total=0
	rekeys
	result $? "gnutls-cli, its new keys alone and both sides', a request after each"
	end_peer
	for cipher in AES-128-GCM AES-256-GCM CHACHA20-POLY1305; do
		speaks_cipher "$cipher"
		result $? "gnutls-cli, $cipher, and new keys under it"
		end_peer
	done
	tls12_is_refused
	result $? "gnutls-cli, TLS 1.2 is refused with an alert"
	ends_well
	resumes
	result $? "gnutls-cli, its second connection is resumed with a ticket, and gets new keys"
	end_peer
	stop_server
}

need gnutls-cli gnutls-bin
need curl curl
each_dear_cell check_server
finish
