# SPDX-License-Identifier: Apache-2.0
"""Time of a part of a device's work: CUDA events on a GPU, else the wall clock."""

import statistics
import sys
import time

import torch


class Clock:
    """Sums up spans from begin() to end(), which do not wait for the device. Both serve as hooks of a module."""

    def __init__(self, device):
        self.cuda, self.spans = device.type == "cuda", []

    def now(self):
        if not self.cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def begin(self, *_):
        self.spans.append([self.now()])

    def end(self, *_):
        self.spans[-1].append(self.now())

    def take_ms(self):
        """The sum since the last call. Waits for the device."""
        if self.cuda:
            torch.cuda.synchronize()
        spans, self.spans = self.spans, []
        return sum(a.elapsed_time(b) if self.cuda else (b - a) * 1e3 for a, b in spans)


def time_of(modules, epoch, device, count):
    """Milliseconds of the forward passes of `modules` in an epoch, and their share of it: medians of `count` epochs."""
    part, whole, times, shares = Clock(device), Clock(device), [], []
    hooks = [hook for module in modules for hook in (module.register_forward_pre_hook(part.begin),
                                                     module.register_forward_hook(part.end))]
    for _ in range(count):
        whole.begin()
        epoch()
        whole.end()
        times.append(part.take_ms())
        shares.append(times[-1] / whole.take_ms())
    for hook in hooks:
        hook.remove()
    return statistics.median(times), statistics.median(shares)


def progress(text, done, total):
    """A bar, on a terminal."""
    if sys.stderr.isatty():
        bar = "#" * (24 * done // total)
        print(f"\r{text} [{bar:24}] {done}/{total}", end="\n" if done == total else "", file=sys.stderr, flush=True)
