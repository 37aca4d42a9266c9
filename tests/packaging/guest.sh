#!/bin/sh
# guest.sh SOURCE WORK: libtopk changes nothing of a project that adds it, and the project's options no result. It is the kind of library that
# BUILD_SHARED_LIBS says. It is optimised even where the project names no build type.
set -eu
source=$1 work=$2/guest
. "$source/tests/packaging/common.sh"

# configure CMAKE_OPTION...
configure() {
    "$CMAKE" -S "$source/tests/packaging/guest" -B "$work" -DTOPK_SOURCE="$source" -DTOPK_CUDA=OFF "$@"
    diff "$work/before" "$work/after"
    grep '"command"' "$work/compile_commands.json" | grep 'CMakeFiles/topk[_.]' >"$work/commands"
}

# expect KIND CMAKE_OPTION...: builds and runs the project; the library's suffix is KIND.
expect() {
    kind=$1
    shift
    configure "$@"
    find "$work" -name 'libtopk.*' -delete
    fail_if grep -v -e ' -O3 ' "$work/commands"
    "$CMAKE" --build "$work" --target guest --parallel 2
    "$work/guest"
    test "$(find "$work" -name 'libtopk.*' -type f | sed 's/.*libtopk\.\([a-z]*\).*/\1/')" = "$kind"
}

rm -rf "$work"
# Floating-point options of the project reach neither the library's results nor, by its linking, the modes of the process.
# Both kinds have them, so that a compiler cache has the objects of one for the other.
fast="-DCMAKE_C_FLAGS=-ffast-math -ffinite-math-only"
expect a "$fast"
expect so -DBUILD_SHARED_LIBS=ON "$fast"
library=$(find "$work" -name 'libtopk.so.*' -type f)
test -n "$(nm "$library" | grep topk_cpu_route)"
fail_if sh -c 'nm "$1" | grep set_fast_math' sh "$library"

# It is installed along with the project where TOPK_INSTALL asks for it.
"$CMAKE" --install "$work" --prefix "$work/prefix"
test ! -e "$work/prefix"
"$CMAKE" -DTOPK_INSTALL=ON "$work"
"$CMAKE" --build "$work" --parallel 2
"$CMAKE" --install "$work" --prefix "$work/prefix"
run_by_cmake "$work/installed" -DCMAKE_PREFIX_PATH="$work/prefix"

# A build type that the project names is the library's, too, but for the inner loops.
configure -DCMAKE_BUILD_TYPE=Debug -DTOPK_INSTALL=OFF -DCMAKE_C_FLAGS=
grep -q 'src/api\.c' "$work/commands"
fail_if grep -e 'src/api\.c.* -O3 \| -O3 .*src/api\.c' "$work/commands"
