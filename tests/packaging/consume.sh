#!/bin/sh
# consume.sh install|find_package|pkg_config|add_subdirectory|dist|device SOURCE BUILD WORK
set -eu
way=$1 source=$2 build=$3 work=$4
prefix=$work/prefix
consumer=$work/$way

. "$source/tests/packaging/common.sh"

case $way in
install)
    rm -rf "$prefix" "$prefix.elsewhere"
    mkdir -p "$work"
    manifest=$build/install_manifest.txt # what `uninstall` removes is not of this test
    test ! -e "$manifest" || cp "$manifest" "$work/manifest"
    "$CMAKE" --install "$build" --prefix "$prefix.elsewhere"
    rm "$manifest"
    test ! -e "$work/manifest" || mv "$work/manifest" "$manifest"
    mv "$prefix.elsewhere" "$prefix" # nothing in it may depend on where it was installed
    printf '3\n1\n2\n' | "$prefix/bin/topk" select - -k 1 | grep -qx '0	3'
    test -s "$prefix/share/man/man1/topk.1"
    test -s "$prefix/share/man/man5/topk-formats.5"
    test -s "$prefix/share/bash-completion/completions/topk"
    test -s "$prefix/share/zsh/site-functions/_topk"
    python3 "$source/tests/tree/links.py" "$prefix/share/doc/topk" 100
    for header in "$source"/include/*.h "$source"/include/*.hpp; do
        case $header in
        *topk_dist_mpi.h) grep -q 'TOPK_DIST_TRANSPORTS.*MPI' "$build/CMakeCache.txt" || continue ;;
        *topk_dist_nccl.h) grep -q 'TOPK_DIST_TRANSPORTS.*NCCL' "$build/CMakeCache.txt" || continue ;;
        *topk_dist*) test -e "$build/libtopk_dist.so" || continue ;;
        esac
        test -s "$prefix/include/${header##*/}"
    done
    ;;
find_package)
    run_by_cmake "$consumer" -DCMAKE_PREFIX_PATH="$prefix"
    ;;
pkg_config)
    command -v pkg-config >/dev/null || exit 77
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name topk.pc)")
    export PKG_CONFIG_PATH
    run_by_pkg_config "$consumer"
    ;;
add_subdirectory) # with a build type; guest.sh names none
    run_by_cmake "$consumer" -DTOPK_SOURCE="$source" -DTOPK_CUDA=OFF -DCMAKE_BUILD_TYPE=Release -DTOPK_WERROR="$WERROR"
    test ! -e "$consumer/topk/topk" # only the library is built unless asked for
    ;;
dist) # linked, not run: that is example.distributed
    rm -rf "$consumer"
    "$CMAKE" -S "$source/tests/packaging/dist" -B "$consumer" -DCMAKE_PREFIX_PATH="$prefix" \
        -DEXAMPLE="$source/examples/distributed_mpi.c"
    "$CMAKE" --build "$consumer" --parallel 2
    readelf -d "$consumer/distributed" | grep -q 'NEEDED.*libtopk_dist'
    command -v pkg-config >/dev/null && command -v mpicc >/dev/null || exit 0
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name topk_dist.pc)")
    export PKG_CONFIG_PATH
    mpicc $(pkg-config --cflags topk_dist) "$source/examples/distributed_mpi.c" $(pkg-config --libs topk_dist) \
        -o "$consumer/by_pkg_config"
    ;;
device)
    rm -rf "$consumer"
    "$CMAKE" -S "$source/tests/packaging/device" -B "$consumer" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCOLUMNS="$source/examples/columns_cuda.cu"
    "$CMAKE" --build "$consumer" --parallel 2
    if readelf -d "$consumer/device" | grep 'NEEDED.*topk'; then # the header is all that it takes
        exit 1
    fi
    ;;
*)
    echo "consume.sh: no way '$way'" >&2
    exit 2
    ;;
esac
