#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/stages.py finds the timed calls of each point among what was recorded, and shares out their time to stages.

usage: stages.py SOURCE_DIR
"""
import pathlib
import sys

sys.dont_write_bytecode = True

GATE = "(anonymous namespace)::wait_for_gate(unsigned int volatile*, unsigned int, unsigned long long)"
READ = "void (anonymous namespace)::read_words<(load)0, 4, true>(uint4 const*, long, int, unsigned int*, writing)"
CHECK = "void bench_for_each_kernel<pass>(pass, long)"
BY_WARP = "void drtopk_by_warp<unsigned int>(drtopk_args)"
CONCATENATE = "void drtopk_concatenate<unsigned int>(drtopk_args)"
FIRST, LAST = "void air_first<unsigned int>(air_args)", "void air_last<unsigned int>(air_args)"


class Device:
    """Records of what a device does, one thing after the other."""

    def __init__(self):
        self.now, self.records = 1000, [dict(kind="host", name="cudaLaunchKernel", begin_ns=0, end_ns=5000)]

    def run(self, name, ns, idle=0):
        self.records.append(dict(kind="memset" if name == "memset" else "kernel", name=name,
                                 begin_ns=self.now + idle, end_ns=self.now + idle + ns))
        self.now += idle + ns

    def call(self, slower=0):
        self.run("memset", 1000)
        self.run(BY_WARP, 50000 + slower)
        self.run("memset", 1000, idle=500)
        self.run(FIRST, 8000)
        self.run(LAST, 2000)
        self.run(CONCATENATE, 5000, idle=1000)
        self.run("memset", 500)
        self.run(FIRST, 3000)

    def point(self, calls, call):
        call()  # the one that is checked first
        self.run(CHECK, 100)
        self.run("memset", 100)
        for at in range(calls):
            self.run(GATE, 70)
            call(1000000 if at < 2 else 0)  # the first two do not count
        call()  # timed from the host
        self.run(CHECK, 100)


def main():
    sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "bench"))
    import stages
    device = Device()
    for _ in range(3):
        device.run(GATE, 70)
        device.run(READ, 900)
    device.point(13, device.call)
    device.point(13, lambda slower=0: device.run(FIRST, 7000 + slower))
    device.records.reverse()
    points = stages.timed_calls(device.records)
    assert [len(calls) for calls in points] == [12, 12], [len(calls) for calls in points]
    results = [dict.fromkeys(stages.POINT, "x") | dict(call_us=us, check="ok") for us in ("70", "", "7")]
    first, second = stages.lines_of(points, results)
    expected = dict(delegates="51.000", first="11.500", concatenation="6.000", second="3.500", alone="0.000",
                    all="72.000")
    assert {name: first[f"{name}_us"] for name in expected} == expected, first
    assert second["alone_us"] == second["all_us"] == "7.000" and second["delegates_us"] == "0.000", second
    assert (first["call_us"], second["call_us"]) == ("70", "7")
    try:
        list(stages.lines_of(points, results[:2]))
    except ValueError:
        return
    raise AssertionError("a point without a result is taken for another one")


main()
