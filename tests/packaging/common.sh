# Sourced by the tests; `source` is the source folder, and CMAKE, CC, CXX and WERROR are in the environment.

# build_topk FOLDER CMAKE_OPTION...: the library and the tool, in a build folder of their own.
build_topk() {
    folder=$1
    shift
    (cd "$source" && "$CMAKE" --preset debian -B "$folder" -DTOPK_WERROR="$WERROR" "$@")
    "$CMAKE" --build "$folder" --parallel 2
}

# run_by_cmake FOLDER CMAKE_OPTION...: builds examples/consumer afresh and runs it.
run_by_cmake() {
    folder=$1
    shift
    rm -rf "$folder"
    "$CMAKE" -S "$source/examples/consumer" -B "$folder" "$@"
    "$CMAKE" --build "$folder" --target consumer --parallel 2
    "$folder/consumer"
}

# run_by_pkg_config FOLDER OPTION...: the same, with what pkg-config says under the options.
run_by_pkg_config() {
    folder=$1
    shift
    rm -rf "$folder"
    mkdir -p "$folder"
    # Word splitting is how flags are passed on.
    "$CXX" -std=c++11 $(pkg-config --cflags topk) "$source/examples/consumer/consumer.cpp" \
        $(pkg-config "$@" --libs topk) -Wl,-rpath,"$(pkg-config --variable=libdir topk)" -o "$folder/consumer"
    "$folder/consumer"
}

# fail_if COMMAND...: the command must fail. A `!` before it would not end the test.
fail_if() {
    if "$@"; then
        echo "succeeded, and should not: $*" >&2
        exit 1
    fi
}
