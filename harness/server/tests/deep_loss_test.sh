#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# harness/server/tests/ - level deep at both ends over a bad line: segments of 1,460 bytes, packets
# lost both ways. Every byte of every answer is checked by parkbench-load. Prints TAP.
# CONNECTIONS, CYCLES: more than what a test has the time for. LOSS: of packets, each way.
set -u

O=${O:-build}
connections=${CONNECTIONS:-200} cycles=${CYCLES:-8} loss=${LOSS:-0.02}
if [ "${1:-}" != inside ]; then
	for net in "unshare -n" "unshare -Urn"; do
		$net true 2>/dev/null && exec $net "$0" inside
	done
	echo "ok 1 - level deep # SKIP no private network: unshare -n and unshare -Urn are refused"
	echo "1..1"
	exit 0
fi

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

ip link set lo mtu 1500 up
if ! iptables -t mangle -A PREROUTING -p tcp -m statistic --mode random --probability "$loss" \
	-j DROP 2>"$work/err"; then
	echo "ok 1 - level deep over a bad line # SKIP $(tail -n 1 "$work/err")"
	echo "1..1"
	exit 0
fi
"$O/parkbench-server" --reactor c1m --park deep --tls "${TLS:-boringssl}" --workers 3 \
	--handshake-timeout 60 --listen 127.0.0.1:8443 >"$work/server" 2>&1 &
server=$!
for _ in $(seq 100); do
	grep -q '^listening' "$work/server" && break
	sleep 0.05
done
if ! grep -q '^listening' "$work/server"; then
	echo "ok 1 - level deep over a bad line # SKIP $(tail -n 1 "$work/server")"
	echo "1..1"
	server=
	exit 0
fi
# Kept open here, too: parkbench-load ends when nobody can tell it anything any more.
mkfifo "$work/commands"
exec 9<>"$work/commands"
{
	echo ramp
	for _ in $(seq "$cycles"); do
		echo hold 0.5
		echo round
	done
	echo close
	echo quit
} >&9
timeout "$((100 + cycles * 60))" "$O/parkbench-load" --connect 127.0.0.1:8443 \
	--tls "${TLS:-boringssl}" --park deep --workers 2 --connections "$connections" --path /20000 \
	--control <&9 >"$work/load" 2>&1
kill -USR1 "$server"
sleep 0.5
good=$(grep -c "\"event\":\"round\",\"ok\":$connections,\"failed\":0" "$work/load")
grep -v progress "$work/load" | cut -c 1-160 | sed 's/^/# /'
tail -n 1 "$work/server" | sed 's/.*"deep"/# deep/'
nstat -az 2>/dev/null | sed -n 's/^\(TcpRetransSegs\|TcpOutRsts\) */# \1 /p'
[ "$good" -eq "$cycles" ] || printf 'not '
echo "ok 1 - $connections connections, $cycles rounds with every byte right"
kill "$server" && wait "$server" || printf 'not '
echo "ok 2 - the server stops"
server=
echo "1..2"
