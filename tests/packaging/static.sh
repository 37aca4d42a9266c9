#!/bin/sh
# static.sh SOURCE WORK: static libraries, installed, are found and linked by CMake and by pkg-config; libtopk_dist
# without MPI, which nothing then asks for.
set -eu
source=$1 work=$2/static
. "$source/tests/packaging/common.sh"

build_topk "$work/build" -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX=/usr/local \
    -DTOPK_BUILD_DIST=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
rm -rf "$work/prefix"
"$CMAKE" --install "$work/build" --prefix "$work/prefix"
printf '3\n1\n2\n' | "$work/prefix/bin/topk" select - -k 1 | grep -qx '0	3'
test -z "$(find "$work/prefix" -name '*.so*')"

test -e "$work/prefix/include/topk_dist_transport.h"
test ! -e "$work/prefix/include/topk_dist_mpi.h"
test ! -e "$work/prefix/include/topk_dist_nccl.h"
fail_if grep -ri '\bmpi\b\|nccl' "$work/prefix/lib/cmake" "$work/prefix/lib/pkgconfig"

run_by_cmake "$work/find_package" -DCMAKE_PREFIX_PATH="$work/prefix"
rm -rf "$work/dist"
"$CMAKE" -S "$source/tests/packaging/dist" -B "$work/dist" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DEXAMPLE="$source/tests/packaging/dist/alone.c" -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
"$CMAKE" --build "$work/dist"
"$work/dist/distributed"
if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
    export PKG_CONFIG_PATH
    run_by_pkg_config "$work/pkg_config" --static
    "$CC" $(pkg-config --cflags topk_dist) "$source/tests/packaging/dist/alone.c" \
        $(pkg-config --static --libs topk_dist) -o "$work/pkg_config/alone"
    "$work/pkg_config/alone"
fi
