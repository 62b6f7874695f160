#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes reactors/$NAME.c from reactors/skeleton.c.in. Exit status 2: NAME will not do.
# usage: NAME=x [REACTORS=DIR] harness/mk/new-reactor.sh
set -u
LC_ALL=C
export LC_ALL

name=${NAME:-}
dir=${REACTORS:-reactors}
refuse() {
	echo "new-reactor: $*" >&2
	exit 2
}

case $name in
'') refuse "name the engine: make new-reactor NAME=x" ;;
[!a-z]* | *[!a-z0-9_]*)
	refuse "NAME=$name: must be a C identifier in lower case: a letter, then letters, digits, _" ;;
all | reactor | engine | ready)
	refuse "NAME=$name: this word has a meaning of its own here; choose another" ;;
esac
[ ${#name} -le 31 ] || refuse "NAME=$name: longer than 31 characters"
file=$dir/$name.c
for taken in "$file" "$dir/$name.h"; do
	[ ! -e "$taken" ] || refuse "NAME=$name: taken, there is $taken; choose another"
done
taken=$(grep -l "\.name = \"$name\"" "$dir"/*.c 2>/dev/null | head -n 1)
[ -z "$taken" ] || refuse "NAME=$name: taken by an engine in $taken; choose another"

sed "s/@NAME@/$name/g" reactors/skeleton.c.in >"$file" || exit 1
cat <<END
$file written. It compiles and does nothing yet:
  make && build/parkbench list         it is there
  make check TEST=contract             says which op to write next
Each op is described in reactors/reactor.h; reactors/README.md walks through it.
END
