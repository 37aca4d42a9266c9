#!/bin/sh
# consume.sh install|find_package|pkg_config|add_subdirectory|device SOURCE BUILD WORK
set -eu
way=$1 source=$2 build=$3 work=$4
prefix=$work/prefix
consumer=$work/$way

# configure_and_run CMAKE_OPTION...: builds examples/consumer afresh and runs it.
configure_and_run() {
    "$CMAKE" -S "$source/examples/consumer" -B "$consumer" "$@"
    "$CMAKE" --build "$consumer" --target consumer --parallel 2
    "$consumer/consumer"
}

rm -rf "$consumer"
case $way in
install)
    rm -rf "$prefix" "$prefix.elsewhere"
    "$CMAKE" --install "$build" --prefix "$prefix.elsewhere"
    mv "$prefix.elsewhere" "$prefix" # nothing in it may depend on where it was installed
    printf '3\n1\n2\n' | "$prefix/bin/topk" select - -k 1 | grep -qx '0	3'
    test -s "$prefix/share/man/man1/topk.1"
    test -s "$prefix/share/bash-completion/completions/topk"
    test -s "$prefix/share/zsh/site-functions/_topk"
    for header in topk.h topk_simple.h topk.hpp; do
        test -s "$prefix/include/$header"
    done
    ;;
find_package)
    configure_and_run -DCMAKE_PREFIX_PATH="$prefix"
    ;;
pkg_config)
    command -v pkg-config >/dev/null || exit 77
    mkdir -p "$consumer"
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name topk.pc)")
    export PKG_CONFIG_PATH
    # Word splitting is how flags are passed on.
    "$CXX" -std=c++11 $(pkg-config --cflags topk) "$source/examples/consumer/consumer.cpp" \
        $(pkg-config --libs topk) -Wl,-rpath,"$(pkg-config --variable=libdir topk)" -o "$consumer/consumer"
    "$consumer/consumer"
    ;;
add_subdirectory)
    configure_and_run -DTOPK_SOURCE="$source" -DTOPK_CUDA=OFF
    test ! -e "$consumer/topk/topk" # only the library is built unless asked for
    ;;
device)
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
