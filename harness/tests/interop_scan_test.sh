#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# parkbench-server against sslscan, which tries every protocol and cipher that there ever was: it
# must find TLS 1.3 with its three suites, and nothing else. Prints TAP.
. "$(dirname "$0")/interop.sh"

says() { # LINE: blanks count as one
	tr -s ' ' <"$work/log" | grep -qxE "$1 ?"
}

offers_tls13_only() {
	says 'TLSv1\.3 enabled' && says 'SSLv2 disabled' && says 'SSLv3 disabled' &&
		says 'TLSv1\.0 disabled' && says 'TLSv1\.1 disabled' && says 'TLSv1\.2 disabled'
}

# Of TLS 1.3: the three that have an AEAD everybody uses.
offers_three_suites() {
	[ "$(grep -cE '^(Preferred|Accepted)' "$work/log")" -eq 3 ] &&
		grep -qE '^(Preferred|Accepted) +TLSv1\.3 .* TLS_AES_128_GCM_SHA256 ' "$work/log" &&
		grep -qE '^(Preferred|Accepted) +TLSv1\.3 .* TLS_AES_256_GCM_SHA384 ' "$work/log" &&
		grep -qE '^(Preferred|Accepted) +TLSv1\.3 .* TLS_CHACHA20_POLY1305_SHA256 ' \
			"$work/log"
}

offers_two_groups() {
	[ "$(grep -cE '^TLSv1\.3 .*(secp256r1|x25519)' "$work/log")" -eq 2 ] &&
		[ "$(sed -n '/Key Exchange Group/,/^$/p' "$work/log" | grep -c '^TLSv')" -eq 2 ]
}

# What it found nothing to say about is a connection that it broke off.
nothing_is_left() {
	until_true stat_is open 0 && stat_is kept '{}' && stat_is accept_errors 0
}

check_server() { # REACTOR TLS PARK
	start_server "$@" || return
	timeout 60 sslscan --no-colour "127.0.0.1:$port" >"$work/log" 2>&1
	result $? "sslscan comes to its end"
	offers_tls13_only
	result $? "sslscan, TLS 1.3 and no other protocol"
	offers_three_suites
	result $? "sslscan, the three suites and no other"
	offers_two_groups
	result $? "sslscan, the groups X25519 and P-256 and no other"
	says 'Session renegotiation not supported' && says 'TLSv1\.3 not vulnerable to heartbleed'
	result $? "sslscan, no renegotiation, no heartbleed"
	nothing_is_left
	result $? "sslscan, none of its connections is left"
	ends_well
}

need sslscan sslscan
need curl curl
each_dear_cell check_server
finish
