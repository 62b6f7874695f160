#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make new-reactor: the skeleton compiles without a warning, is registered, and fails the contract
# test once, with the name of the op to write; a name that will not do is refused. Prints TAP.
set -u

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo 1..4
ok() { # WHAT NUMBER NAME
	if [ "$1" = 0 ]; then echo "ok $2 - $3"; else echo "not ok $2 - $3"; fi
}

new_reactor() { # NAME: in $dir, not in reactors/
	REACTORS=$dir NAME=$1 harness/mk/new-reactor.sh
}

new_reactor fresh >/dev/null && ${CC:-gcc} -std=gnu17 -D_GNU_SOURCE -I. -O1 -Wall -Wextra -Wshadow \
	-Wstrict-prototypes -Wmissing-prototypes -Werror -pthread -o "$dir/contract" "$dir/fresh.c" \
	reactors/registry.c reactors/tests/fixture.c reactors/tests/fixture_run.c \
	harness/bench/netns.c harness/measure/text_file.c \
	reactors/tests/contract_loop_test.c -lcmocka
ok $? 1 "the skeleton compiles and links"

"$dir/contract" >"$dir/log" 2>&1
failed=$(grep -cE '^not ok [0-9]+ - ' "$dir/log")
passed=$(grep -c '^ok ' "$dir/log")
[ "$failed" = 1 ] && [ "$passed" = 0 ]
ok $? 2 "one case fails, the others are skipped"
grep -q "'init' of fresh answers -ENOSYS.*reactors/reactor.h" "$dir/log"
ok $? 3 "the failure says which op is to be written and where it is described"

refused() { # the status is 2, there is a message and no new file
	local before said
	before=$(ls "$dir")
	said=$(new_reactor "$1" 2>&1)
	[ $? -eq 2 ] && [ -n "$said" ] && [ "$(ls "$dir")" = "$before" ] && return
	echo "# NAME='$1' was not refused: $said"
	return 1
}
status=0
for name in '' 9x Epoll 'a b' 'x;y' ../x 'é' all fresh "$(printf 'x%.0s' {1..32})"; do
	refused "$name" || status=1
done
ok $status 4 "names that are none, reserved, taken or too long are refused"
[ $status -eq 0 ]
