#!/bin/sh
# configure.sh SOURCE WORK: what `cmake -B build` builds without options, and what it refuses in a sentence.
set -eu
source=$1 work=$2/configure
. "$source/tests/packaging/common.sh"

# configure OPTION...: its output in $work/log, and its exit status.
configure() {
    "$CMAKE" -S "$source" -B "$work/build" -U 'TOPK_CUDA*' -U TOPK_NVIDIA_SMI -U CMAKE_C_FLAGS "$@" >"$work/log" 2>&1
}

# says TEXT: the last configure printed it, perhaps broken into lines.
says() {
    tr -s ' \n' '  ' <"$work/log" | grep -qF -e "$1" || {
        cat "$work/log"
        echo "does not say: $1" >&2
        exit 1
    }
}

rm -rf "$work"
mkdir -p "$work/gpu"

fail_if configure -DCMAKE_C_FLAGS=-m32
says "libtopk needs a 64-bit machine"
(
    CFLAGS=-m32
    export CFLAGS
    fail_if configure
)
says "libtopk needs a 64-bit machine"

# Clang knows processors that there is no library for: CMake then only compiles.
if command -v clang >/dev/null; then
    fail_if "$CMAKE" -S "$source" -B "$work/big" -DCMAKE_C_COMPILER=clang -DCMAKE_C_COMPILER_TARGET=s390x-linux-gnu \
        -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY >"$work/log" 2>&1
    says "libtopk needs a little-endian machine"
fi

# A GPU that is made up: a command that says what the driver's would say of it.
cat >"$work/gpu/nvidia-smi" <<'END'
#!/bin/sh
test "$1" = --query-gpu=compute_cap && printf '%b' "$CAPABILITIES"
END
chmod +x "$work/gpu/nvidia-smi"
PATH=$work/gpu:$PATH
export PATH

CAPABILITIES= configure
says "emulated GPU no"
says "tests yes"
fail_if grep -q 'Boost' "$work/log"
if [ -z "${CUDACXX-}" ] || [ ! -x "$CUDACXX" ]; then
    says "CUDA backend no: nvcc was not found"
    fail_if configure -DTOPK_CUDA=ON
    says "TOPK_CUDA is ON, but nvcc was not found"
    exit 0
fi
says "CUDA backend no: nvcc is here but no GPU; -DTOPK_CUDA=ON"

# architectures EXPECTED CAPABILITIES OPTION...
architectures() {
    CAPABILITIES=$2
    export CAPABILITIES
    expected=$1
    shift 2
    configure -DTOPK_BUILD_TESTS=OFF -DTOPK_BUILD_PYTHON=OFF -DTOPK_BUILD_BENCH=OFF "$@"
    says "CUDA backend $expected"
}
architectures "for the architectures 86-real;" '8.6\n'
architectures "for the architectures 90-real 75-real;" '9.0\n7.5\n9.0\n'
architectures "no: nvcc is here but no GPU" '7.0\n'
says "No CUDA backend for the GPU of compute capability 7.0"
architectures "no: TOPK_CUDA is OFF" '9.0\n' -DTOPK_CUDA=OFF
architectures "for the architectures 80 90;" '' '-DTOPK_CUDA_ARCHITECTURES=80;90'
architectures "for the architectures 75-real 80-real 86-real 89-real 90 100-real 120" '9.0\n' -DTOPK_CUDA_ARCHITECTURES=all
architectures "for the architectures 75-real 80-real" '' -DTOPK_CUDA=ON
# One that this toolkit does not know gets PTX of one that it knows.
architectures "for the architectures 121-virtual" '99.0\n'
