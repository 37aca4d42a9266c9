#!/bin/sh
# musl.sh SOURCE WORK FILE...: the library's files compile against musl without a warning, and examples/first.c works with
# them. Hardly optimised, which takes seconds.
set -eu
source=$1 work=$2/musl
shift 2
if [ "$(uname -m)" != x86_64 ] || ! command -v musl-gcc >/dev/null; then
    echo "there is no musl-gcc for x86-64 here"
    exit 77
fi
rm -rf "$work"
mkdir -p "$work"

# compile OBJECT FILE OPTION...
compile() {
    object=$work/$1
    shift
    musl-gcc -std=gnu11 -O0 -Wall -Wextra -Wpedantic -Werror -I"$source/include" -c -o "$object" "$@"
}

number=0
for file in "$@" "$source/src/cuda/unavailable.c" "$source/examples/first.c"; do
    number=$((number + 1))
    compile "$number.o" "$file"
done
kernels=$source/src/cpu/kernels
for set in scalar:x86-64 avx2:haswell avx512:skylake-avx512; do
    name=${set%:*}
    processor=${set#*:}
    compile "network_$name.o" "$kernels/network.c" -march="$processor" -DSORT_NETWORK="topk_cpu_sort_network_$name"
    for bits in 8 16 32 64; do
        compile "${name}_$bits.o" "$kernels/kernels.c" -march="$processor" -DKEY_BITS=$bits -DKERNEL_NAME="\"$name\"" \
            -DKERNEL_SET="topk_cpu_kernels_${name}_$bits" -DSORT_NETWORK="topk_cpu_sort_network_$name"
    done
done
musl-gcc -static -o "$work/first" "$work"/*.o -lm
test "$("$work/first")" = "1, 3, 2"
