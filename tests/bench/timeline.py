#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/timeline/timeline.py finds the last call of the library among what was recorded.

usage: timeline.py SOURCE_DIR
"""
import importlib.util
import pathlib
import sys

sys.dont_write_bytecode = True


def load(path):
    spec = importlib.util.spec_from_file_location("recorded", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launch(at, kernel, name="cudaLaunchKernelExC_v11060"):
    """The host's record and the device's, which may be handed over in any order."""
    kind = "memset" if kernel == "memset" else "kernel"
    return [dict(kind=kind, correlation=str(at), begin_ns=at + 30, end_ns=at + 40, name=kernel),
            dict(kind="host", correlation=str(at), begin_ns=at, end_ns=at + 5, name=name)]


def wait(at):
    return [dict(kind="host", correlation=str(at), begin_ns=at, end_ns=at + 80, name="cudaStreamSynchronize_v3020")]


def main():
    timeline = load(pathlib.Path(sys.argv[1]) / "bench/timeline/timeline.py")
    first, last, filtered = ("void air_first<unsigned int>(air_args)", "void air_last<unsigned int>(air_args)",
                             "void bench_for_each_kernel<look>(look, long)")
    earlier = launch(100, "memset") + launch(110, first) + launch(120, last) + wait(130)
    call = launch(300, "memset") + launch(310, first) + launch(320, last) + wait(330)
    check = launch(500, "memset") + launch(510, filtered) + wait(520)
    poison = launch(700, "memset") + wait(710)
    found = timeline.last_call(earlier + call + check + poison)
    assert found is not None
    host, device = found
    assert [each["begin_ns"] for each in host] == [300, 310, 320, 330], host
    assert [each["name"] for each in device] == ["memset", first, last], device
    assert timeline.last_call(check + poison) is None


main()
