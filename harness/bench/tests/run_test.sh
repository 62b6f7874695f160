#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# harness/bench/tests/ - parkbench as its user meets it: a cell that passes, programs that die, lie or
# hang about, limits, and being killed itself. Prints TAP. The programs beside a copy of parkbench are
# small scripts that misbehave when told to, and else become the real ones.
set -u
. "$(dirname "$0")/../../tests/tap.sh"

O=$(realpath "${O:-build}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin"
cp "$O/parkbench" "$dir/bin/"
ln -s "$O/tls" "$dir/bin/tls"
cd "$dir" || exit 1

# FAULT is done to cells of park level hold only, so that others show the run going on.
cat >bin/parkbench-server <<EOT
#!/bin/bash
case "\$* " in *"--park hold "*) eval "\${SERVER_FAULT:-}" ;; esac
exec "$O/parkbench-server" "\$@"
EOT
cat >bin/parkbench-load <<EOT
#!/bin/bash
case "\$* " in *"--control "*) eval "\${LOAD_FAULT:-}" ;; esac
exec "$O/parkbench-load" "\$@"
EOT
chmod +x bin/parkbench-server bin/parkbench-load

cat >test.cfg <<'EOT'
reactors = [ "epoll" ];
tls = [ "plain" ];
park = [ "hold", "shed" ];
connections = 50;
workers = 1;
client_workers = 1;
settle_s = 0.2;
hold_s = 0.2;
EOT

evidence() { cat out err; }
run() {
	rm -rf run
	timeout 60 bin/parkbench run test.cfg --out run "$@" >out 2>err
}
# The verdict line of a park level.
line() { grep "+$1\"" run/cells.jsonl; }
says() { line "$1" | grep -q "\"verdict\":\"$2\",\"reason\":\"$3"; }
passes() { line "$1" | grep -q '"verdict":"pass","reason":null,"established":50,"dropped_idle":0'; }

run
check "a run passes" $?
passes hold && passes shed
check "its cells pass" $?
[ "$(wc -l <run/cells.jsonl)" -eq 2 ] && [ "$(cat run/handshake_us/*.txt | wc -l)" -eq 100 ] &&
	grep -q '"seed"' run/manifest.json &&
	grep -q '"net.core.somaxconn": {' run/manifest.json && grep -q '"kernel_conn_bytes": 216' run/manifest.json &&
	[ -d run/logs ]
check "its directory is complete" $?
grep -q "^epoll+plain+shed .* pass .* 50 " out
check "its table is printed" $?
timeout 10 bin/parkbench show run >shown 2>err && grep -q "^epoll+plain+shed .* pass" shown
check "show prints it again" $?
! line hold | grep -q '"active"' && ! grep -q 'syscalls/req' out
check "without an active step there are no figures of one" $?

printf 'active = [ 0.001, 0.5 ]; active_s = 0.1;\n' | cat test.cfg - >active.cfg
rm -rf run
timeout 60 bin/parkbench run active.cfg --out run --only '*+shed' >out 2>err && passes shed &&
	line shed | grep -qE '"active":\[\{"fraction":0.001,"connections":1,"ok":[1-9][0-9]*,"failed":0,' &&
	line shed | grep -qE '"server_syscalls_per_request":[0-9.]+\},\{"fraction":0.5,"connections":25,' &&
	line shed | grep -qE '"server_syscalls_per_request":[1-9][0-9.]*\}' &&
	grep -q '^epoll+plain+shed  *50 %  *25  .* 1.00 ' out
check "a part of the connections is active, and its costs are stored" $?
sed 's/connections = 50/connections = [ 20, 50 ]; in_flight = [ 4, 8 ]/' test.cfg >lists.cfg
rm -rf run
timeout 60 bin/parkbench run lists.cfg --out run --only '*+shed' >out 2>err &&
	[ "$(jq -r '[.cell, .connections, .in_flight, .established] | join(" ")' run/cells.jsonl | sort | tr '\n' ,)" = \
		"epoll+plain+shed 20 4 20,epoll+plain+shed 20 8 20,epoll+plain+shed 50 4 50,epoll+plain+shed 50 8 50," ] &&
	[ "$(grep -c '^epoll+plain+shed  *pass  *[25]0  *[48] ' out)" -eq 4 ] &&
	grep -q '#1 connections 20, in_flight 4: pass' err && grep -qzE '"connections": \[\s*20,\s*50' run/manifest.json
check "settings with several values make a cell of every combination" $?
rm -rf run
timeout 60 bin/parkbench run lists.cfg --out run --only '*+shed' --connections 30 >out 2>err &&
	[ "$(jq -r '[.connections, .in_flight] | join(" ")' run/cells.jsonl | sort | tr '\n' ,)" = "30 4,30 8," ]
check "--connections replaces the whole list" $?
printf 'history_bytes = [ 0, 65536 ];\n' | cat test.cfg - >history.cfg
rm -rf run
timeout 60 bin/parkbench run history.cfg --out run --only '*+shed' >out 2>err &&
	grep -q '"history_bytes":65536,.*"history":{"ok":50,"failed":0,"rps":' run/cells.jsonl &&
	[ "$(grep -c '"history":' run/cells.jsonl)" -eq 1 ] && grep -q '^epoll+plain+shed  *pass  *65536 ' out
check "connections with a history are a cell of their own" $?
printf 'trim = [ true, false ]; handshakes_max = [ 0, 3 ];\n' | cat test.cfg - >heap.cfg
rm -rf run
timeout 60 bin/parkbench run heap.cfg --out run --only '*+shed' >out 2>err &&
	[ "$(jq -r '[.handshakes_max, .trim] | join(" ")' run/cells.jsonl | sort | tr '\n' ,)" = "0 false,0 true,3 false,3 true," ] &&
	[ "$(grep -cE '^epoll\+plain\+shed +pass +[03] +(yes|no) ' out)" -eq 4 ] &&
	[ "$(jq 'select(.handshakes_peak >= 1) | .order' run/cells.jsonl | wc -l)" -eq 4 ]
check "trim and the cap of handshakes are settings too" $?
rm -rf run
timeout 60 bin/parkbench run test.cfg --out run --only '*+hold' >out 2>err && cp run/cells.jsonl before &&
	printf '{"cell":"epoll+plain+sh' >>run/cells.jsonl &&
	timeout 60 bin/parkbench run test.cfg --resume run >out 2>err && passes shed &&
	[ "$(head -n 1 run/cells.jsonl)" = "$(cat before)" ] && [ "$(wc -l <run/cells.jsonl)" -eq 2 ] &&
	grep -qF '[2/2] epoll+plain+shed' err && grep -q '^epoll+plain+hold ' out && grep -q '^epoll+plain+shed ' out && line shed | grep -q '"order":2' &&
	[ "$(jq '[.cells, (.resumed | length), (.resumed[0] | has("git"))] | join(" ")' run/manifest.json)" = '"2 1 true"' ]
check "a run is gone on with: what is missing runs, what ended stays" $?
timeout 60 bin/parkbench run test.cfg --resume run >out 2>err
[ $? -eq 2 ] && grep -q 'run has all these cells: nothing is left to run' err
check "a complete run is left alone" $?
sed 's/connections = 50/connections = 40/' test.cfg >other.cfg
timeout 60 bin/parkbench run other.cfg --resume run >out 2>err
[ $? -eq 2 ] && grep -q 'was made from another version of the experiment' err && sed -i 's/"model": "[^"]*"/"model": "Another"/' run/manifest.json && sed -i '$d' run/cells.jsonl &&
	timeout 60 bin/parkbench run test.cfg --resume run >out 2>err
[ $? -eq 2 ] && grep -q 'run was made on another machine' err && [ "$(wc -l <run/cells.jsonl)" -eq 1 ] &&
	timeout 60 bin/parkbench run test.cfg --resume nowhere >out 2>err
[ $? -eq 2 ] && grep -q 'nowhere/manifest.json: ' err && [ ! -e nowhere ]
check "the run of another experiment or machine is not gone on with, nor one that is not there" $?
sed 's/"plain"/"plain", "openssl"/' test.cfg >updates.cfg
printf 'client_tls = "openssl"; client_park = "keys"; key_updates = 3;\n' >>updates.cfg
rm -rf run
timeout 60 bin/parkbench run updates.cfg --out run --only '*+shed' >out 2>err &&
	grep '+openssl+' run/cells.jsonl | grep -q '"key_updates":{"ok":150,"failed":0},"rounds":\[{"ok":50,"failed":0,.*"ok":50,' &&
	! grep '+plain+' run/cells.jsonl | grep -q '"key_updates"'
check "connections change their keys, those that have some" $?
LOAD_FAULT='"'"$O"'/parkbench-load" "$@" | sed -u "/key_update/s/\"ok\":50,\"failed\":0/\"ok\":49,\"failed\":1/"; exit 0'
rm -rf run
LOAD_FAULT=$LOAD_FAULT timeout 60 bin/parkbench run updates.cfg --out run --only '*+openssl+shed' >out 2>err
[ $? -eq 1 ] && says shed fail 'key updates: 49 of 50 ok, 1 failed (cause unknown)'
check "a key that did not change fails its cell" $?
unset LOAD_FAULT
printf 'wakes = 20;\n' | cat test.cfg - >wakes.cfg
rm -rf run
timeout 60 bin/parkbench run wakes.cfg --out run --only '*+shed' >out 2>err && passes shed &&
	line shed | grep -qE '"wakes":\{"ok":20,"failed":0,"p50_us":[1-9][0-9.]*,"p99_us":[1-9][0-9.]*,"max_us":[1-9]' &&
	[ "$(wc -l <run/wake_us/1-epoll+plain+shed.txt)" -eq 20 ] && grep -q '^epoll+plain+shed  *20  *[1-9][0-9.]*  *- ' out
check "connections are woken one by one, and every time is kept" $?
rm -rf run
LOAD_FAULT='"'"$O"'/parkbench-load" "$@" | sed -u "/\"wakes\"/s/\"ok\":20,\"failed\":0/\"ok\":19,\"failed\":1/"; exit 0' \
	timeout 60 bin/parkbench run wakes.cfg --out run --only '*+hold' >out 2>err
[ $? -eq 1 ] && says hold fail 'wakes: 19 of 20 ok, 1 failed (cause unknown)'
check "a wake that failed fails its cell" $?
sed -i 's/"epoll"/"c1m"/; s/"hold", "shed"/"keys", "deep"/; s/client_workers/client_park = "keys"; &/' wakes.cfg
rm -rf run
if timeout 60 bin/parkbench run wakes.cfg --out run >out 2>err && passes deep; then
	! grep -q '"failed":[1-9]' run/cells.jsonl && grep -qE '^c1m\+plain\+deep +20 +[1-9][0-9.]* +-?[0-9.]+ ' out
	check "what a wake takes longer at level deep than at level keys" $?
else
	says deep skip '' || grep -q 'c1m' err
	check "level deep # SKIP it needs more than there is here" $?
fi
printf 'clients = 3; worker_model = "processes"; wakes = 20;\n' | cat test.cfg - >clients.cfg
rm -rf run
timeout 60 bin/parkbench run clients.cfg --out run --only '*+shed' >out 2>err && passes shed &&
	line shed | grep -q '"worker_model":"processes","workers":1,"clients":3,"connections":50,' &&
	line shed | grep -q '"rounds":\[{"ok":50,"failed":0,.*{"ok":50,"failed":0,' &&
	[ "$(wc -l <run/handshake_us/1-epoll+plain+shed.txt)" -eq 50 ] &&
	[ "$(find run/handshake_us run/logs -type f | wc -l)" -eq 5 ]
check "several clients share the connections, and their samples are one file" $?
line shed | grep -q '"wakes":{"ok":20,"failed":0,' && [ "$(cat run/wake_us/*.txt | wc -l)" -eq 20 ]
check "of several clients the first one wakes them all" $?
[ "$(grep '"established":50,.*"memory_available_bytes":[1-9]' run/timeline/1-epoll+plain+shed.jsonl |
	grep -o '"step":"[^"]*"' | grep -v idle | uniq | tr -d '\n')" = \
	'"step":"ramp""step":"hold""step":"round 1""step":"round 2""step":"wakes""step":"close"' ]
check "a timeline has every step from the ramp to the close" $?
rm -rf run
LOAD_FAULT='case "$* " in *"--first 17 "*) (sleep 0.5; kill -KILL $$) & ;; esac' \
	timeout 60 bin/parkbench run clients.cfg --out run --only '*+hold' >out 2>err
[ $? -eq 1 ] && says hold fail 'client 2 died in step .*: signal 9 (Killed)'
check "of several clients the one that dies is named" $?
printf 'memory_floor_bytes = 1e13;\n' | cat test.cfg - >floor.cfg
rm -rf run
timeout 60 bin/parkbench run floor.cfg --out run --only '*+shed' >out 2>err
[ $? -eq 1 ] && says shed fail 'ramp: 0 of 50 established (memory guard: [0-9]* MiB left 50)'
check "too little memory ends the ramp and fails the cell" $?
{
	sed '/workers/d; s/= 50;/= 50001;/' test.cfg
	echo 'memory_floor_bytes = 1e13; workers = "auto"; client_workers = "auto";'
} >large.cfg
rm -rf run
timeout 60 bin/parkbench run large.cfg --out run --only '*+shed' >out 2>err
[ $? -eq 2 ] && { grep -q 'raise it with' run/cells.jsonl || {
	says shed skip 'needs [0-9.]* GiB (server user [0-9]* B, kernel .* a connection' &&
	line shed | grep -q '"predicted_memory_bytes":[1-9][0-9]*,' &&
	[ -e run/logs/1-epoll+plain+shed-pilot-server.log ]; }; }
check "a pilot foretells the memory of a large cell, which is skipped if it does not fit" $?
(ulimit -n 1000 && timeout 20 bin/parkbench doctor large.cfg >out 2>err)
grep -q '^ok  *files a table, server  *1000  *[0-9]*: [0-9]* workers, a table each$' out &&
	grep -qE '^(ok|NOT OK)  *net.ipv4.tcp_mem, most  *[0-9]*  *100002 pages$' out &&
	grep -qE '^ok  *net.ipv4.tcp_migrate_req  *[01]?  *set in a cell' out
check "doctor counts files by table, and names what a round and a cell's network need" $?
timeout 10 bin/parkbench list >shown 2>err && grep -q '216 predicted, not measured yet: parkbench run' shown &&
	[ "$(timeout 10 bin/parkbench list --names park | tr '\n' ' ')" = "hold shed keys " ] &&
	timeout 10 bin/parkbench list --names reactors | grep -qx epoll
check "list shows what is known, and bare names to scripts" $?
timeout 10 bin/parkbench list --names servers >out 2>err
[ $? -eq 2 ] && grep -q 'no kind "servers"; there are reactors, tls, park' err
check "list names only the kinds there are" $?

timeout 60 bin/parkbench run test.cfg --out run >out 2>err
[ $? -eq 2 ] && grep -q "is there and not empty" err
check "results are never written over" $?

timeout 60 bin/parkbench run test.cfg --only '*+shed' >out 2>err && [ -e results/local/latest/cells.jsonl ] &&
	timeout 10 bin/parkbench show >shown 2>err && grep -q "^epoll+plain+shed" shown &&
	! grep -q "^epoll+plain+hold" shown
check "results/local/latest is the last run" $?

SERVER_FAULT='(sleep 0.5; kill -KILL $$) &' run
[ $? -eq 1 ] && says hold fail 'server died in step .*: signal 9 (Killed)' && passes shed
check "a server that dies fails its cell, and the others go on" $?

LOAD_FAULT='(sleep 0.5; kill -KILL $$) &' run --only '*+shed'
[ $? -eq 1 ] && says shed fail 'client died in step .*: signal 9 (Killed)'
check "a client that dies fails its cell" $?

# The wrapper stays, so that its filter can lie about the real server's sessions.
# shellcheck disable=SC2016
SERVER_FAULT='"'"$O"'/parkbench-server" "$@" | sed -u "s/\"kept\":{}/\"kept\":{\"TLS 1.2\":3,\"cipher\":1}/"; exit 0' run
[ $? -eq 1 ] && says hold invalid 'sessions were kept (TLS 1.2 3, cipher 1)' && passes shed &&
	line hold | grep -q '"kept":{"TLS 1.2":3,"cipher":1}' && ! line shed | grep -q '"kept"'
check "sessions that were kept make a cell invalid and are told by cause" $?

SERVER_FAULT='echo can not bind >&2; exit 2' run
[ $? -eq 1 ] && says hold fail 'server died in step server start: exit status 2: can not bind' && passes shed
check "a server that does not start is told with its last words" $?

SERVER_FAULT='echo hello; sleep 60' run
[ $? -eq 1 ] && says hold fail 'server answered nonsense in step server start' && passes shed
check "a server that answers nonsense fails its cell" $?

printf 'gates = { ramp_s_max = 0.001; };\n' | cat test.cfg - >gate.cfg
rm -rf run
timeout 60 bin/parkbench run gate.cfg --out run --only '*+shed' --connections 300 >out 2>err
[ $? -eq 1 ] && says shed fail 'ramp took .* s, the gate is at most 0.00 s'
check "a gate of the experiment that does not hold fails the cell" $?

(ulimit -n 100 && run)
[ $? -eq 2 ] && says shed skip 'files a table, server: needs more for 50 connections, is 100; raise it with: ' &&
	grep -q "every cell was skipped" err
check "too low a limit on files skips the cell and says how to raise it" $?

if unshare -Ur true 2>/dev/null; then
	unshare -Ur bash -c "echo 0 >/proc/sys/user/max_user_namespaces &&
		exec setpriv --bounding-set=-all --inh-caps=-all timeout 60 bin/parkbench \
		run test.cfg --out '$dir/forbidden'" >out 2>err
	[ $? -eq 2 ] && grep -q '"skip","reason":"no private network: .*sysctl -w user.max_user_namespaces' \
		forbidden/cells.jsonl
	check "forbidden user namespaces skip the cell and say what allows them" $?
	rm -rf run
	unshare -Ur timeout 60 bin/parkbench run test.cfg --out run --only '*+shed' >out 2>err && passes shed
	check "a user without rights runs cells too" $?
else
	check "no user namespaces here # SKIP" 0
	check "a user without rights # SKIP" 0
fi

timeout 10 bin/parkbench run test.cfg --only 'nothing' >out 2>err
[ $? -eq 2 ] && grep -q 'selects nothing' err && grep -q '^  epoll+plain+hold' err
check "a pattern that selects nothing lists the cells" $?
sed -i 's/"plain"/"gnutls"/' gate.cfg
timeout 10 bin/parkbench run gate.cfg >out 2>err
[ $? -eq 2 ] && grep -q 'gate.cfg:2: tls: unknown name "gnutls"; known here: .*plain' err
check "an unknown backend is refused with the known ones" $?
mv bin/parkbench-load bin/away
timeout 10 bin/parkbench run test.cfg >out 2>err
[ $? -eq 2 ] && grep -q 'parkbench-load: .*build it with: make' err
check "a missing program is told before anything runs" $?
mv bin/away bin/parkbench-load

# Processes of ours that run in this directory; a zombie runs nowhere.
survivors() {
	find /proc -maxdepth 2 -name cwd -lname "$dir" 2>/dev/null | while read -r cwd; do
		grep -s '^parkbench' "${cwd%cwd}comm"
	done
}
groups_of() { find /sys/fs/cgroup -type d -name "parkbench-$1-*" 2>/dev/null; }
# Starts a long run whose first cell passes, and waits until the second is at work.
start_long() {
	rm -rf run
	sed 's/hold_s.*/hold_s = 3.0;/' test.cfg >long.cfg
	"$dir/bin/parkbench" run long.cfg --out run >out 2>err &
	pid=$!
	for _ in $(seq 200); do
		[ -s run/cells.jsonl ] && [ -e "$(echo run/logs/2-*-client.log)" ] &&
			[ "$(survivors | wc -l)" -eq 5 ] && return
		sleep 0.05
	done
}

start_long
[ "$(survivors | wc -l)" -eq 5 ] && [ "$(groups_of $pid | wc -l)" -ne 1 ]
check "at work there are parkbench, janitor, cell, server and client" $?
kill -TERM $pid
wait $pid
[ $? -eq 143 ] && grep -q "interrupted (Terminated) after 1 of 2 cells" out &&
	[ "$(wc -l <run/cells.jsonl)" -eq 1 ] && grep -q "^epoll+plain+.* pass " out
check "interrupted, it keeps what is finished and prints the table" $?
[ -z "$(survivors)" ] && [ -z "$(groups_of $pid)" ]
check "interrupted, it leaves no process and no memory group" $?

start_long
kill -KILL $pid
wait $pid 2>/dev/null
for _ in $(seq 60); do
	[ -z "$(survivors)" ] && [ -z "$(groups_of $pid)" ] && break
	sleep 0.05
done
[ -z "$(survivors)" ] && [ -z "$(groups_of $pid)" ]
check "killed, it leaves no process and no memory group" $?
timeout 10 bin/parkbench show run >shown 2>err && grep -q "only 1 of 2 cells" shown
check "killed, its finished cells can be shown" $?

plan
