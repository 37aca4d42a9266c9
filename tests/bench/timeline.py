#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/timeline/timeline.py finds the last call among what was recorded: the library's, or a rival's with all of its
waits.

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
    kind = kernel.partition(" ")[0] if kernel.startswith(("memset", "memcpy")) else "kernel"
    return [dict(kind=kind, correlation=str(at), begin_ns=at + 30, end_ns=at + 40, name=kernel),
            dict(kind="host", correlation=str(at), begin_ns=at, end_ns=at + 5, name=name)]


def wait(at):
    return [dict(kind="host", correlation=str(at), begin_ns=at, end_ns=at + 80, name="cudaStreamSynchronize_v3020")]


def step_of_radix(at, last):
    """The counts of a digit, or the results; before them what the digit before leaves."""
    name = "void bench_buckets::{}<bench_buckets::of_digit>(bench_buckets::candidates)".format
    kept = launch(at, "memset") + launch(at + 1, name("filter"))
    if last:
        return kept + launch(at + 2, "bench_buckets::take(bench_buckets::candidates)") + wait(at + 5)
    counts = launch(at + 2, name("count_buckets")) + launch(at + 3, "memcpy DtoH", "cudaMemcpyAsync_v3020")
    return kept + counts + wait(at + 5)


def check_rival(timeline):
    own, end = timeline.RIVALS["RadixSelect"]
    quick = "void bench_buckets::filter<bench_buckets::of_pivot>(bench_buckets::candidates)"
    earlier = step_of_radix(100, False) + step_of_radix(200, True)
    call = step_of_radix(300, False) + step_of_radix(400, False) + step_of_radix(500, True)
    check = launch(600, "memset") + wait(610)
    others = launch(700, quick) + launch(701, "bench_buckets::take(bench_buckets::candidates)") + wait(710)
    broken_off = step_of_radix(800, False) + check + others
    host, device = timeline.last_call(earlier + call + check + others + broken_off, own, end)
    assert [each["begin_ns"] for each in host] == [300, 301, 302, 303, 305, 400, 401, 402, 403, 405, 500, 501, 502, 505]
    assert sum(each["name"].startswith("cudaStreamSynchronize") for each in host) == 3, host
    step = ["memset", "kernel", "kernel"]
    assert [each["kind"] for each in device] == 2 * (step + ["memcpy"]) + step, device
    assert timeline.last_call(others + broken_off, own, end) is None
    assert timeline.last_call(call) is None


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
    check_rival(timeline)


main()
