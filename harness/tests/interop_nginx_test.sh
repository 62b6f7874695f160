#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# parkbench-server behind nginx, whose connections to it are kept and re-used: they are idle, and
# parked, between the requests that come through it. Its own prefix, ports on 127.0.0.1, no daemon:
# one process in the foreground, ended with the test. Prints TAP.
. "$(dirname "$0")/interop.sh"

PATH=$PATH:/usr/sbin:/sbin

# Places with and without resumption, that keep connections and that do not; nginx says when it
# resumed a session in its debug log only. Of itself nginx 1.22 does not offer TLS 1.3.
write_config() { # FILE
	cat >"$1" <<-END
		daemon off;
		master_process off;
		pid $work/nginx.pid;
		error_log stderr warn;
		events { worker_connections 256; }
		http {
			access_log off;
			client_body_temp_path $work/nginx-body;
			proxy_temp_path $work/nginx-proxy;
			fastcgi_temp_path $work/nginx-fastcgi;
			uwsgi_temp_path $work/nginx-uwsgi;
			scgi_temp_path $work/nginx-scgi;
			proxy_http_version 1.1;
			proxy_ssl_protocols TLSv1.3;
			upstream kept_reused { server 127.0.0.1:$port; keepalive 16; }
			upstream kept_afresh { server 127.0.0.1:$port; keepalive 16; }
			server {
				listen 127.0.0.1:$front;
				keepalive_requests 100000;
				proxy_set_header Connection "";
				location /kept/reused/ {
					proxy_pass https://kept_reused/;
				}
				location /kept/afresh/ {
					proxy_ssl_session_reuse off;
					proxy_pass https://kept_afresh/;
				}
				location /once/reused/ {
					error_log $work/reused.debug debug;
					proxy_pass https://127.0.0.1:$port/;
				}
				location /once/afresh/ {
					error_log $work/afresh.debug debug;
					proxy_ssl_session_reuse off;
					proxy_pass https://127.0.0.1:$port/;
				}
			}
		}
	END
}

nginx_is_up() {
	peer_is_gone || (exec 3<>"/dev/tcp/127.0.0.1/$front") 2>/dev/null
}

# Sets `front`, its address.
start_nginx() {
	local try
	for try in 1 2 3 4 5; do
		front=$((20000 + RANDOM % 10000))
		write_config "$work/nginx.conf"
		rm -f "$work"/*.debug
		start_peer nginx -p "$work/" -c "$work/nginx.conf" -e stderr
		until_true nginx_is_up && ! peer_is_gone && return
		end_peer
	done
	return 1
}

# It ends properly on SIGQUIT, after it has taken leave of its connections.
stop_nginx() {
	kill -QUIT "$peer" && end_peer
}

fetch() { # PATH...
	local urls=()
	for path; do urls+=("http://127.0.0.1:$front$path"); done
	curl --silent --fail --max-time 30 "${urls[@]}"
}

# Runs a command; it made so many requests of the server, and all were answered.
requests_are() { # REQUESTS COMMAND...
	local before
	before=$(stat_of requests)
	"${@:2}" && parked_after $((before + $1))
}

fetch_ten() { # PATH
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(fetch "$1")" = "Hello, world" ] || return 1
	done
}

# One client, one connection to the server: from the second request on it had been parked.
keeps_one_connection() { # PATH
	local before
	before=$(stat_of accepted)
	requests_are 10 fetch_ten "$1" && parked_as_told $((before + 1))
}

load() { # REQUESTS CLIENTS PATH
	timeout 60 h2load --h1 -n "$1" -c "$2" "http://127.0.0.1:$front$3" >"$work/log" 2>&1 &&
		grep -q "$1 succeeded, 0 failed, 0 errored" "$work/log"
}

# Eight clients at a time need eight connections, and one may be on its way while one is put back.
shares_kept_connections() { # PATH
	local before
	before=$(stat_of accepted)
	requests_are 2000 load 2000 8 "$1" && [ "$(stat_of accepted)" -le $((before + 16)) ]
}

gets_mebibytes() {
	fetch "$1/1048576" "$1/1048576" | cmp - "$work/mebibytes"
}

keeps_for_mebibytes() { # PATH
	local before
	before=$(stat_of accepted)
	requests_are 2 gets_mebibytes "$1" && stat_is accepted "$before"
}

# One after the other, a connection for each request: all but the first resume a session.
connects_for_each() { # REUSED-OR-AFRESH
	local before resumed
	before=$(stat_of accepted)
	requests_are 100 load 100 1 "/once/$1/" && stat_is accepted $((before + 100)) || return 1
	resumed=$(grep -c 'SSL reused session' "$work/$1.debug")
	echo "# resumed: $resumed" >>"$work/log"
	if [ "$1" = afresh ]; then
		[ "$resumed" -eq 0 ]
	else
		[ "$resumed" -eq 99 ]
	fi
}

check_sessions() { # REUSED-OR-AFRESH
	keeps_one_connection "/kept/$1/"
	result $? "nginx, sessions $1: ten requests over one kept connection"
	shares_kept_connections "/kept/$1/"
	result $? "nginx, sessions $1: 2000 requests of 8 clients over kept connections"
	keeps_for_mebibytes "/kept/$1"
	result $? "nginx, sessions $1: a mebibyte twice over kept connections, byte for byte"
	if nginx -V 2>&1 | grep -q -e --with-debug; then
		connects_for_each "$1"
		result $? "nginx, sessions $1: 100 connections for one request each"
	else
		skip "$cell: nginx, sessions $1: 100 connections" "needs an nginx built --with-debug"
	fi
}

check_server() { # REACTOR TLS PARK
	start_server "$@" --tickets 2 || return
	if ! start_nginx; then
		result 1 "nginx starts"
		stop_server
		return
	fi
	check_sessions reused
	check_sessions afresh
	stop_nginx && until_true stat_is open 0 && stat_is failures '{}' && stat_is kept '{}'
	result $? "nginx stops, its kept connections end without a failure"
	ends_well
}

need nginx nginx
need h2load nghttp2-client
need curl curl
for i in $(seq 80660); do printf abcdefghijklmnopqrstuvwxyz; done | head -c 1048576 >"$work/mebibyte"
cat "$work/mebibyte" "$work/mebibyte" >"$work/mebibytes"
each_dear_cell check_server
finish
