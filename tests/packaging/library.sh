#!/bin/sh
# library.sh LIBTOPK.so MIB_MAX: the library, stripped, is no larger than that, and it loads where there is no
# CUDA, neither toolkit nor driver.
set -eu
library=$1 mib_max=$2
command -v strip >/dev/null && command -v readelf >/dev/null || exit 77

stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$library"
bytes=$(wc -c <"$stripped")
echo "$bytes bytes, at most $mib_max MiB"
test "$bytes" -le $((mib_max << 20))

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "needs:" $needed
case $needed in
*cuda* | *nvidia*) exit 1 ;;
esac
