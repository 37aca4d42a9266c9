#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bench/traffic.py adds up what Nsight Compute says of the kernels of each call.

usage: traffic.py SOURCE_DIR
"""
import pathlib
import sys

sys.dont_write_bytecode = True


def main():
    sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "bench"))
    import traffic
    kernels = ["<unnamed>::wait_for_gate(volatile unsigned int *, unsigned int, unsigned long long)",
               "void bench_for_each_kernel<fill>(fill, long)", "void air_first<unsigned int, 0>(air_args)",
               "void air_last<unsigned int, 0>(air_args)", "void bench_for_each_kernel<pass>(pass, long)",
               "void drtopk_by_warp<unsigned int>(drtopk_args)", "void bench_for_each_kernel<pass>(pass, long)"]
    profile = ['==PROF== Connected to process 1', '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
    for number, name in enumerate(kernels):
        profile += [f'"{number}","{name}","{metric}","","{1000 * number + at:,}"'
                    for at, metric in enumerate(traffic.METRICS.values())]
    profile.append("==PROF== Disconnected")
    point = dict.fromkeys(traffic.POINT, "x")
    results = [point | dict(method=method, check=check)
               for method, check in (("radix", "ok"), ("bitonic", "refused"), ("drtopk", "ok"))]
    radix, drtopk = traffic.table(profile, results)
    columns = list(traffic.METRICS)
    assert [radix[column] for column in columns] == [str(5000 + 2 * at) for at in range(len(columns))], radix
    assert [drtopk[column] for column in columns] == [str(5000 + at) for at in range(len(columns))], drtopk
    assert (radix["kernels"], radix["method"], drtopk["kernels"], drtopk["method"]) == ("2", "radix", "1", "drtopk")
    try:
        traffic.table(profile, results[:2])
    except ValueError:
        return
    raise AssertionError("a call without a result is taken for another one")


main()
