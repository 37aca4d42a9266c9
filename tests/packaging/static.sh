#!/bin/sh
# static.sh SOURCE WORK: a static library, installed, is found and linked by CMake and by pkg-config.
set -eu
source=$1 work=$2/static
. "$source/tests/packaging/common.sh"

build_topk "$work/build" -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX=/usr/local
rm -rf "$work/prefix"
"$CMAKE" --install "$work/build" --prefix "$work/prefix"
printf '3\n1\n2\n' | "$work/prefix/bin/topk" select - -k 1 | grep -qx '0	3'
test -z "$(find "$work/prefix" -name '*.so*')"

run_by_cmake "$work/find_package" -DCMAKE_PREFIX_PATH="$work/prefix"
if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
    export PKG_CONFIG_PATH
    run_by_pkg_config "$work/pkg_config" --static
fi
