#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Does the server leak? wrk, and beside it connections full of garbage, for a long time; its
# resident memory is sampled all the while and must stay flat after a warm-up.
# usage: harness/tests/soak.sh [SECONDS [REACTOR [TLS [PARK]]]]; O: the build to try.
# With a sanitizer build the memory is not judged (its quarantine grows), leaks are.
set -u

O=${O:-build}
seconds=${1:-900} reactor=${2:-epoll} tls=${3:-boringssl} park=${4:-shed}
port=$((20000 + RANDOM % 10000))
scheme=https
[ "$tls" = plain ] && scheme=http
work=$(mktemp -d)
server= wrk= garbage=
clean_up() {
	for pid in $garbage $wrk $server; do kill "$pid" 2>/dev/null; done
	wait 2>/dev/null
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# Random bytes, random lengths; some look like TLS at first; some stay open a little.
throw_garbage() {
	local n=0
	while :; do
		{
			exec 3<>"/dev/tcp/127.0.0.1/$port" || continue
			[ $((RANDOM % 2)) -eq 0 ] && printf '\026\003\001\002\000\001\000\001\374\003\003' >&3
			head -c $((RANDOM * (RANDOM % 4))) /dev/urandom >&3
			[ $((RANDOM % 4)) -eq 0 ] && sleep 0.1
			exec 3>&-
		} 2>/dev/null
		n=$((n + 1))
		echo $n >"$work/garbage"
	done
}

rss_kib() {
	awk '/^VmRSS/ { print $2 }' "/proc/$server/status"
}

"$O/parkbench-server" --reactor "$reactor" --tls "$tls" --park "$park" --connections 4000 \
	--listen "127.0.0.1:$port" >"$work/out" 2>"$work/err" &
server=$!
for _ in $(seq 100); do grep -q '^listening' "$work/out" && break; sleep 0.1; done
throw_garbage &
garbage=$!
wrk -t 1 -c 200 -d "${seconds}s" --timeout 30s "$scheme://127.0.0.1:$port/" >"$work/wrk" &
wrk=$!

warm=$((seconds / 5)) first=0 most=0
for ((t = 1; t <= seconds; t++)); do
	sleep 1
	if ! kill -0 "$server" 2>/dev/null; then
		echo "soak: the server died after $t s"; cat "$work/err"; exit 1
	fi
	now=$(rss_kib)
	[ "$t" -eq "$warm" ] && first=$now
	[ "$t" -gt "$warm" ] && [ "$now" -gt "$most" ] && most=$now
	[ $((t % 60)) -eq 0 ] && echo "soak: $t s, RSS $now KiB, $(cat "$work/garbage") garbage connections"
done
wait "$wrk"; wrk=
kill "$garbage" 2>/dev/null; wait "$garbage" 2>/dev/null; garbage=
kill -USR1 "$server"; sleep 1
kill "$server"; wait "$server"; status=$?; server=
tail -n 1 "$work/out"
grep -E 'requests in|Socket errors|Non-2xx' "$work/wrk"
cat "$work/err"
echo "soak: $seconds s, $(cat "$work/garbage") garbage connections, RSS $first KiB after warm-up, at most $most KiB later, exit status $status"
[ "$status" -eq 0 ] || exit 1
case $O in *asan*|*tsan*) exit 0 ;; esac
# A tenth and a mebibyte are for the allocator's moods; a leak has no bound.
[ "$most" -le $((first + first / 10 + 1024)) ]
