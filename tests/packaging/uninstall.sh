#!/bin/sh
# uninstall.sh SOURCE WORK: the target `uninstall` removes what was installed, and folders that this empties.
set -eu
source=$1 work=$2/usr
. "$source/tests/packaging/common.sh"

DESTDIR=$2/uninstall
export DESTDIR
build_topk "$work"
rm -rf "$DESTDIR"
"$CMAKE" --install "$work"
test -L "$(find "$DESTDIR" -name libtopk.so)"
test -x "$DESTDIR/usr/bin/topk"
for document in LICENSE README.md CONTRACT.md CHANGELOG.md docs/methods/air.md; do
    test -s "$DESTDIR/usr/share/doc/topk/$document"
done

# What belongs to others stays.
touch "$DESTDIR/usr/include/other.h"
"$CMAKE" --build "$work" --target uninstall
test "$(find "$DESTDIR" ! -type d)" = "$DESTDIR/usr/include/other.h"
test "$(find "$DESTDIR" -type d | wc -l)" = 3
fail_if "$CMAKE" --build "$work" --target uninstall # nothing is installed now

# The rest is removed although one file cannot be.
"$CMAKE" --install "$work"
rm "$DESTDIR/usr/bin/topk" "$DESTDIR/usr/include/other.h"
mkdir "$DESTDIR/usr/bin/topk"
fail_if "$CMAKE" --build "$work" --target uninstall
test -z "$(find "$DESTDIR" ! -type d)"
rmdir "$DESTDIR/usr/bin/topk"
"$CMAKE" --build "$work" --target uninstall
test ! -e "$DESTDIR/usr"
