#!/bin/sh
# python.sh SOURCE WORK PYTHON: what a system lacks is named; one command installs the package in a fresh virtual
# environment; the wheel serves later versions of Python as it is. Skipped where pip finds no index.
set -eu
source=$1 work=$2/python python=$3

rm -rf "$work"

# lacks SENTENCE VARIABLE=VALUE... CMAKE OPTION...: configuring fails with that sentence.
lacks() {
    sentence=$1
    shift
    if env "$@" -S "$source/python" -B "$work/configured" -DTOPK_CUDA=OFF >"$work/log" 2>&1 ||
        ! tr -s '\n ' ' ' <"$work/log" | grep -qF "$sentence"; then
        cat "$work/log"
        echo "does not say: $sentence"
        exit 1
    fi
    rm -rf "$work/configured"
}
cmake=$(command -v "${CMAKE-cmake}")
mkdir -p "$work/nothing"
lacks "no C compiler was found. Debian: apt install gcc" -u CC PATH="$work/nothing" "$cmake" -G "Unix Makefiles" \
    -DCMAKE_MAKE_PROGRAM="$(command -v make)" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF
lacks "Python.h was not found for the Python '$python'. Debian: apt install python3-dev" "$cmake" \
    -DPython3_EXECUTABLE="$python" -DPython3_INCLUDE_DIR="$work/nothing"
"$cmake" -S "$source/python" -B "$work/configured" >"$work/log"
grep -q "CUDA backend: [a-z].* CMAKE_ARGS=" "$work/log"

"$python" -m venv "$work/venv" || exit 77
if ! "$work/venv/bin/pip" download -q --no-deps -d "$work/reachable" scikit-build-core >/dev/null 2>&1; then
    echo "skipped: pip finds no index"
    exit 77
fi

check() {
    (cd "$work" && "$1" - <<'END'
import subprocess, sys
import numpy as np
import libtopk

assert "site-packages" in libtopk.library_path, libtopk.library_path
x = np.random.default_rng(1).standard_normal((100, 1000), np.float32)
values, indices = libtopk.topk(x, 10)
assert np.array_equal(values, -np.sort(-x, axis=1)[:, :10]) and np.array_equal(np.take_along_axis(x, indices, 1), values)
# Processor seconds of importing libtopk once numpy is there: the least of five
least = min(float(subprocess.check_output([sys.executable, "-c", "import time, numpy; t = time.process_time(); "
                                           "import libtopk; print(time.process_time() - t)"])) for _ in range(5))
print(f"{sys.version_info.major}.{sys.version_info.minor}: right; imported in {least:.3f} s beyond numpy")
assert least < 0.1
END
    )
}

CMAKE_ARGS="-DTOPK_CUDA=OFF -DTOPK_WERROR=$WERROR"
export CMAKE_ARGS
"$work/venv/bin/pip" install -q "$source/python"
check "$work/venv/bin/python"
"$work/venv/bin/pip" uninstall -q -y libtopk
test -z "$(find "$work/venv" -name 'libtopk*')"

# Other versions that lie about take the wheel of this one.
"$work/venv/bin/pip" wheel -q --no-deps -w "$work/wheel" "$source/python"
set -- "$work"/wheel/libtopk-*-cp311-abi3-*.whl
test -s "$1"
"$python" - "$1" <<'END'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
assert {"libtopk/CONTRACT.md", "libtopk/docs/routing.md", "libtopk/LICENSE", "libtopk/libtopk.so", "libtopk/py.typed",
        "libtopk/torch/__init__.py", "libtopk/torch/distributed.py"} <= set(names), names
metadata = wheel.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
for field in ("Author: ", "Project-URL: Homepage, https://", "License-Expression: Apache-2.0", "Requires-Python: >=3.11"):
    assert f"\n{field}" in metadata, metadata
END
for other in python3.12 python3.13 python3.14; do
    if command -v "$other" >/dev/null && "$other" -m venv "$work/$other" 2>/dev/null; then
        "$work/$other/bin/pip" install -q "$1"
        check "$work/$other/bin/python"
    fi
done
