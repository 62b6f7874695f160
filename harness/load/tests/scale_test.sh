#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# harness/load/tests/ - parkbench-load with workers that have their own tables of open files, several
# load generators against one server, a staggered start, and the memory floor. Prints TAP. In a private
# network, so that ports and sources are nobody else's.
set -u
. "$(dirname "$0")/../../tests/tap.sh"

O=$(realpath "${O:-build}")
in_private_network
ip link set lo up
dir=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1

evidence() { tail -n 20 out* err*; }
load() {
	timeout 60 "$O/parkbench-load" --tls plain --connect 127.0.0.1:8443 --hold 0 "$@"
}

"$O/parkbench-server" --tls plain --listen 127.0.0.1:8443 --connections 4000 \
	--worker-model tables --workers 4 >server.out &
server=$!
until grep -q 4000 server.out; do sleep 0.05; done

load --worker-model tables --workers 7 --connections 1000 >out 2>err
check "seven workers with their own tables take a thousand through all phases" $?
grep -q '"established":1000,"failed":0' out && [ "$(grep -c '"event":"round","ok":1000' out)" -eq 2 ] &&
	grep -q '"closed":1000,"failures":{}' out
check "every connection was established, answered twice and closed" $?

for client in 0 1 2 3; do
	load --worker-model tables --workers 3 --connections 500 --first $((client * 500)) \
		--stagger 1 >out$client 2>err$client &
	clients[client]=$!
done
failed=0
for client in 0 1 2 3; do wait "${clients[client]}" || failed=1; done
check "four load generators at once, each with its range of the plan" $failed
[ "$(cat out[0-3] | grep -c '"established":500,"failed":0')" -eq 4 ]
check "none of them met a source of another" $?
rm -f out[0-3] err[0-3]

load --worker-model tables --workers 3 --connections 900 --memory-floor 1000000000000000 >out 2>err
check "below the memory floor the status is 1" $(($? != 1))
grep -qE '"established":0,"failed":900,.*"memory guard: [0-9]+ MiB left":900' out
check "the ramp stops, and those not tried are failures of that cause" $?

load --worker-model processes >out 2>err
check "processes are several load generators: refused" $(($? != 2))
load --connections 10 --first 4294967295 --rounds 1 >out 2>err
check "the plan has more ranges than there are connections" $?
load --worker-model tables --workers 1 --connections 90000000 >out 2>err
check "more than the workers asked for can hold: refused" $(($? != 2))
grep -q 'workers with their own tables' err
check "and it says what would do" $?

kill -TERM $server
wait $server
check "the server ends well" $?

# Level deep on both sides: sockets of connections that were asked outlive their responses.
deep=$("$O/parkbench" list | grep -A 1 '^  deep' | tail -n 1)
if [ "${deep% available}" != "$deep" ]; then
	"$O/parkbench-server" --reactor c1m --park deep --tls plain --listen 127.0.0.1:8443 \
		--connections 3000 >server.out &
	server=$!
	until grep -q 8443 server.out; do sleep 0.05; done
	(ulimit -n 200 && load --park deep --workers 2 --connections 3000 --in-flight 32) >out 2>err
	check "three thousand connections at level deep with two hundred files" $?
	[ "$(grep -c '"event":"round","ok":3000,"failed":0' out)" -eq 2 ] &&
		grep -q '"closed":3000,"failures":{}' out
	check "every one was answered twice and closed" $?
	kill -TERM $server
	wait $server
	check "and the server knows that they are" $?
else
	check "level deep # SKIP $deep" 0
fi
plan
