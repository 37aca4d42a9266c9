# SPDX-License-Identifier: Apache-2.0
"""libtopk's functions in the context under test: the CPU's with two threads, or the emulated GPU's.

The memory of the emulated GPU is the host's, so numpy's arrays do for both. It is slow: tests are small there.
"""
import os
from functools import partial

import libtopk

ON_GPU = os.environ.get("TOPK_TEST_BACKEND") == "cuda"
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
METHODS = ("air", "radik", "sort") if ON_GPU else ("reference", "bracket")  # some that serve every selection

context = libtopk.Context("cuda") if ON_GPU else libtopk.Context("cpu", threads=2)

topk, argtopk, kth, where, argwhere, select_where, count, mask, route, explain, choice, workspace_size, Accumulator = (
    partial(getattr(libtopk, name), context=context)
    for name in ("topk", "argtopk", "kth", "where", "argwhere", "select_where", "count", "mask", "route", "explain", "choice",
                 "workspace_size", "Accumulator"))


def few(many, where_slow):
    """How many of something a test has: `many`, or `where_slow` on the emulated GPU and under a sanitizer."""
    return where_slow if ON_GPU or SANITIZED else many
