# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the interop_*_test.sh share: TAP, a server under --control, and peers that are talked to
# line by line. Sourced by them; each ends with `finish`. Source: TAP 12, harness/common/control.h.
set -u

. "$(dirname "$0")/tap.sh"

O=${O:-build}
cell=interop
work=$(mktemp -d)
server= peer=
patience_s=15 # then a condition counts as never met
trap 'end_peer; stop_server; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# ---- results ----

result() { # STATUS NAME
	check "$cell: $2" "$1"
}

evidence() {
	ask_stats
	echo "stats: $stats"
	for log in "$work/log" "$work/peer.out" "$work/server.err"; do
		[ -s "$log" ] && tail -n 15 "$log" | tr -cd '[:print:]\n\t' | sed "s|^|${log##*/}: |"
	done
}

finish() {
	plan
	exit 0
}

# Without the peer there is nothing to try.
need() { # TOOL PACKAGE
	command -v "$1" >/dev/null || skip_all "needs $1: apt-get install $2"
}

# ---- the server ----

# Starts it on a free port and waits until it is ready. Sets port and url. Its standard input is
# ours: it ends with us, however we end.
start_server() { # REACTOR TLS PARK [OPTION...]
	local try line scheme=https
	[ "$2" = plain ] && scheme=http
	cell=$1+$2+$3
	reactor=$1 tls=$2 park=$3
	rm -f "$work"/{to,from,log,peer.out}
	mkfifo "$work/to" "$work/from"
	for try in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 10000))
		"$O/parkbench-server" --reactor "$1" --tls "$2" --park "$3" --connections 1000 \
			--listen "127.0.0.1:$port" --control "${@:4}" \
			<"$work/to" >"$work/from" 2>"$work/server.err" &
		server=$!
		exec {to_server}>"$work/to" {from_server}<"$work/from"
		url=$scheme://127.0.0.1:$port
		read -r -t 20 -u "$from_server" line && [[ $line == *'"ready"'* ]] && return 0
		stop_server
	done
	result 1 "starts"
	return 1
}

# 0: it stopped as it was told, with status 0.
stop_server() {
	local status
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null
	exec {to_server}>&- {from_server}<&-
	wait "$server"
	status=$?
	server=
	return "$status"
}

# Sets `stats`: the server's answer, one line of JSON.
ask_stats() {
	stats=
	[ -n "$server" ] || return 1
	# In a shell of its own: the server may be gone, and SIGPIPE would be ours.
	(echo stats >&"$to_server") 2>/dev/null
	read -r -t 20 -u "$from_server" stats
}

# Sets `value`: a number or an object.
ask_stat() { # NAME
	local pattern="\"$1\":([0-9]+|\{[^}]*\})"
	value=
	ask_stats && [[ $stats =~ $pattern ]] && value=${BASH_REMATCH[1]}
}

stat_of() { # NAME
	ask_stat "$1" && echo "$value"
}

until_true() { # COMMAND...
	local end=$((SECONDS + patience_s))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.01
	done
}

stat_is() { # NAME VALUE
	ask_stat "$1" && [ "$value" = "$2" ]
}

# Every connection so far was parked as the level has it: at keys its session became a record,
# elsewhere it stayed. Nothing was kept, nothing failed.
parked_as_told() { # CONNECTIONS
	local dissolved=0
	[ "$park" = keys ] && dissolved=$1
	until_true stat_is dissolved "$dissolved" && stat_is accepted "$1" && stat_is kept '{}' &&
		stat_is failures '{}'
}

# So many requests were answered, and the connection fell idle after that.
parked_after() { # REQUESTS
	until_true stat_is requests "$1" && stat_is responses "$1"
}

all_closed() {
	until_true stat_is open 0 && stat_is failures '{}'
}

still_answers() {
	[ "$(curl --silent --insecure --max-time 20 "$url/")" = "Hello, world" ]
}

ends_well() {
	still_answers && stop_server
	result $? "still answers afterwards, and stops with status 0"
}

# ---- peers at the other end of a pipe ----

start_peer() { # COMMAND...
	rm -f "$work/peer.in"
	mkfifo "$work/peer.in"
	: >"$work/peer.out"
	"$@" <"$work/peer.in" >"$work/peer.out" 2>&1 &
	peer=$!
	exec {to_peer}>"$work/peer.in"
}

say() { # FORMAT: of printf
	# In a shell of its own, as in ask_stats.
	# shellcheck disable=SC2059
	(printf "$1" >&"$to_peer") 2>/dev/null
}

count() { # TEXT: in how many lines the peer has printed it
	grep -acF -- "$1" "$work/peer.out"
}

printed() { # TIMES TEXT
	[ "$(count "$2")" -ge "$1" ]
}

wait_for() { # TIMES TEXT
	until_true printed "$1" "$2"
}

# The peer's own exit status, after the end of its input; 1 when it had to be killed.
end_peer() {
	local status
	[ -n "$peer" ] || return 0
	exec {to_peer}>&-
	until_true peer_is_gone || kill "$peer"
	wait "$peer"
	status=$?
	peer=
	return "$status"
}

peer_is_gone() {
	! kill -0 "$peer" 2>/dev/null
}

# ---- which servers ----

# Runs a command for the servers that an expensive peer is tried against; it gets the three names.
each_dear_cell() { # COMMAND
	local r t p
	for r in epoll io_uring_poll; do
		cell=$r
		if ! "$O/parkbench" list --names reactors | grep -qx "$r"; then
			skip "$cell: all" "this kernel or build has no reactor $r"
			continue
		fi
		for t in openssl boringssl; do
			cell=$r+$t
			if ! "$O/parkbench" list --names tls | grep -qx "$t"; then
				skip "$cell: all" "this build has no TLS backend $t"
				continue
			fi
			for p in shed keys; do
				"$1" "$r" "$t" "$p"
			done
		done
	done
	cell=interop
}
