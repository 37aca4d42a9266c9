#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libtopk beside numpy and torch: each rival's run is timed right after a run of libtopk on the same
input, and the ratio is the median of these pairs. Every result is verified before it is timed; a wrong
one shows no time. The CSV has the columns of topk-bench; those about reads stay empty.

The suites `sorted` time batches of calls, so that rows of a few microseconds show their own time, not Python's.
libtopk's calls run in a loop in C (libtopk-bench-calls.so, beside the library). Each call reads the next input of a ring
of at least 2^16 elements, and writes outputs of its own, which are all verified. numpy gets the whole ring in one call,
which sorts each row: the same work. The ring is first copied to an array made before, and numpy sorts or partitions that
array: libtopk's outputs are made before, too. Only numpy.argpartition allocates its result. A sample takes as many turns
of the ring as last a millisecond, and one before that is not timed. A turn of numpy makes two calls, which take 1 us of
at least 90: nothing is subtracted. torch has no part in these suites.

  rivals.py --library build/libtopk.so [SUITE]      SUITE: targets (default), select, rows, where, quick, sorted,
                                                    sorted-types (all that numpy has), sorted-quick
  rivals.py --library build/libtopk.so --device cuda [SUITE]      peers (default), one-row, where, quick; see rivals_cuda.py
"""

import argparse
import csv
import functools
import itertools
import math
import os
import statistics
import sys
import time

try:
    import numpy
except ImportError:
    sys.exit("rivals.py: needs numpy for this Python: " + sys.executable)
try:
    import torch
except ImportError:
    torch = None

import calls
import package

COLUMNS = ("what operation type data rows n k keep_percent direction order ties index method threads cache features "
           "reader reader_threads team calls pairs read_us limit_us call_us host_us to_limit to_limit_q1 to_limit_q3 "
           "to_limit_iqr to_topk workspace_bytes check").split()

# What a line says unless its point or its contender says otherwise.
LINE = {"type": "f32", "rows": 1, "keep_percent": 0, "direction": "largest", "order": "best", "ties": "lowest",
        "index": "i32", "method": "auto", "team": "", "calls": 1, "pairs": "", "check": "FAIL"}


def tenths(*shapes, orders=("best",)):
    """A tenth, a half and all of each row; all of it in order alone."""
    return [("select", rows, n, n * part // 10, order) for rows, n in shapes for part in (1, 5, 10) for order in orders
            if part < 10 or order == "best"]


# (operation, rows, n, k or percent, order)
POINTS = {
    "select": [("select", 1, 2**26, k, order) for k in (10, 1000, 10**5, 2**26 // 100) for order in ("best", "any")],
    "rows": [("select", 65536, 256, 32, "best"), ("select", 64, 131072, 50, "best")],
    "sorted": tenths((1, 256), (1, 1000), (1, 4000), (1, 20000), (1, 100000), (1, 2**20), (1, 2**24), (4096, 256),
                     (256, 4096), (8, 131072), orders=("best", "any")),
    "sorted-types": tenths((1, 20000), (1, 100000), (1, 2**20)),
    "sorted-quick": tenths((7, 256), orders=("best", "any")),
    "where": [("where", 1, 2**26, percent, "best") for percent in (1, 10, 50, 90)],
    "quick": [("select", 1, 5000, 10, "best"), ("select", 1, 5000, 100, "any"), ("select", 30, 256, 32, "best"),
              ("where", 1, 5000, 10, "best")],
}
POINTS["targets"] = POINTS["select"] + POINTS["rows"] + POINTS["where"]

# How many times faster than a rival libtopk is to be, for one row and for many.
TARGETS = {("numpy.argpartition", False): 20, ("numpy.partition", False): 2.5, ("torch.topk", False): 3,
           ("torch.topk", True): 5}

# The teams of libtopk and torch are different ones: let the last one go to sleep before the next is timed.
PAUSE_SECONDS = 0.02
ROUNDS_MIN = 5
RING_ELEMENTS = 2**16  # what a processor does not learn by heart, and its caches near the core hold
BATCH_SECONDS = 1e-3
PAGE = 4096

TYPES = {"f32": numpy.float32, "f64": numpy.float64, "f16": numpy.float16,
         "i8": numpy.int8, "i16": numpy.int16, "i32": numpy.int32, "i64": numpy.int64,
         "u8": numpy.uint8, "u16": numpy.uint16, "u32": numpy.uint32, "u64": numpy.uint64}


def make_data(name, rows, n, seed, type_name="f32"):
    """Integers are uniform over their type."""
    generator = numpy.random.Generator(numpy.random.PCG64(seed))
    dtype = TYPES[type_name]
    if numpy.issubdtype(dtype, numpy.integer):
        bounds = numpy.iinfo(dtype)
        return generator.integers(bounds.min, bounds.max, (rows, n), dtype=dtype, endpoint=True)
    draw = generator.random if name == "uniform" else generator.standard_normal
    return draw((rows, n), dtype=numpy.float64 if type_name == "f64" else numpy.float32).astype(dtype, copy=False)


def descending(array):
    """Maps the array to numbers that ascend where its elements descend."""
    return ~array if numpy.issubdtype(array.dtype, numpy.integer) else -array


class Selection:
    """A point of select. A contender is (its columns of the report, run(input), check(result of run))."""

    def __init__(self, array, k, order):
        self.array, self.k, self.order = array, k, order
        self.columns = {"operation": "select", "k": k, "order": order}
        n = array.shape[1]
        self.best = numpy.sort(array if k == n else numpy.partition(array, n - k, axis=1)[:, n - k:], axis=1)[:, ::-1]

    def ours(self, libtopk, context):
        out, asked = self.outputs(), {"k": self.k, "sorted": self.order == "best", "context": context}
        size = libtopk.workspace_size("topk", self.array, index_dtype="int32", **asked)
        run = functools.partial(libtopk.topk, out=out, workspace=numpy.zeros(size, numpy.uint8), **asked)
        return ({"what": "topk", "threads": context.threads, "workspace_bytes": size}, run,
                lambda _: self.check_pairs(*out) and self.check_ties(out[1]))

    def outputs(self, make=numpy.zeros):
        return tuple(make((len(self.array), self.k), dtype) for dtype in (self.array.dtype, numpy.int32))

    def check_values(self, values):
        return numpy.array_equal(numpy.sort(values, axis=1)[:, ::-1], self.best)

    def check_set(self, indices):
        """Distinct elements of the row whose values are the best."""
        distinct = numpy.diff(numpy.sort(indices, axis=1), axis=1).all()
        inside = indices.min() >= 0 and indices.max() < self.array.shape[1]
        return inside and distinct and self.check_values(numpy.take_along_axis(self.array, indices, 1))

    def check_pairs(self, values, indices):
        ordered = self.order == "any" or numpy.array_equal(values, self.best)
        return (ordered and self.check_set(indices)
                and numpy.array_equal(numpy.take_along_axis(self.array, indices, 1), values))

    def check_ties(self, indices):
        """Of the elements equal to the last one those at the front; and in this order, where it is promised."""
        for row, taken, best in zip(self.array, indices, self.best):
            candidates = numpy.flatnonzero(row >= best[-1])
            right = candidates[numpy.argsort(descending(row[candidates]), kind="stable")[:self.k]]
            if self.order == "any":
                right, taken = numpy.sort(right), numpy.sort(taken)
            if not numpy.array_equal(right, taken):
                return False
        return True

    def rivals(self, threads):
        """numpy is asked for no more than it gives: the set, in any order, and by partition without
        indices; the copy that it makes of the input is part of it."""
        k, last = self.k, self.array.shape[1] - self.k
        if self.order == "best":
            yield ({"what": "numpy.sort"}, lambda a: numpy.sort(a, axis=1),
                   lambda result: numpy.array_equal(result[:, ::-1][:, :k], self.best))
        if k == self.array.shape[1]:
            return
        yield {"what": "numpy.partition"}, lambda a: numpy.partition(a, last, axis=1)[:, last:], self.check_values
        yield {"what": "numpy.argpartition"}, lambda a: numpy.argpartition(a, last, axis=1)[:, last:], self.check_set
        if torch is not None:
            tensor = torch.from_numpy(self.array)
            yield ({"what": "torch.topk", "threads": threads},
                   lambda _: torch.topk(tensor, k, dim=1, sorted=self.order == "best"),
                   lambda result: self.check_pairs(result.values.numpy(), result.indices.numpy()))


def placed(shape, dtype, begin=PAGE // 2):
    """An array that begins that far into a page. A copy takes up to ten times as long where the lower 12 bits of both
    addresses are nearly the same, as they often are: so a ring begins with a page, and results in the middle of one."""
    size = math.prod(shape) * numpy.dtype(dtype).itemsize
    room = numpy.empty(size + PAGE, numpy.uint8)
    begin = (begin - room.ctypes.data) % PAGE
    return room[begin:begin + size].view(dtype).reshape(shape)


class Batch(Selection):
    """A point of select in a batch of calls: the array is the ring, and a call selects from `rows` of its rows. A
    contender's run is told how many turns of the ring to take. Results are overwritten once they are checked."""

    def __init__(self, array, rows, k, order, library):
        ring = placed(array.shape, array.dtype, 0)
        ring[...] = array
        super().__init__(ring, k, order)
        self.rows, self.library = rows, library

    def ours(self, libtopk, context):
        out = self.outputs(placed)
        size = libtopk.workspace_size("topk", self.array[:self.rows], k=self.k, sorted=self.order == "best",
                                      index_dtype="int32", context=context)
        loop = calls.loop(self.library, calls.context(self.library, "cpu", context.threads), self.array, self.k,
                          out, numpy.zeros(size, numpy.uint8), self.order, self.rows)

        def overwrite():
            for array in out:
                array.view(numpy.uint8).fill(255)

        def check(_):
            right = self.check_pairs(*out) and self.check_ties(out[1])
            overwrite()
            return right
        overwrite()
        return ({"what": "topk", "threads": context.threads, "workspace_bytes": size},
                lambda _, turns=1: loop(turns * len(self.array) // self.rows), check)

    def rivals(self, _):
        """numpy's own sorts and partitions, in an array made before."""
        k, last = self.k, self.array.shape[1] - self.k
        copy = placed(self.array.shape, self.array.dtype)

        def changed(change):
            def turn(array):
                numpy.copyto(copy, array)
                change()
                return copy
            return functools.partial(repeat, turn)

        def is_sorted(result):
            return numpy.array_equal(result[:, ::-1][:, :k], self.best)
        if self.order == "best":
            yield {"what": "numpy.sort"}, changed(lambda: copy.sort(axis=1)), is_sorted
            if self.array.dtype.kind in "iu" and self.array.itemsize <= 2:  # another algorithm: by digits
                yield {"what": "numpy.sort+stable"}, changed(lambda: copy.sort(axis=1, kind="stable")), is_sorted
        if last > 0:
            yield ({"what": "numpy.partition"}, changed(lambda: copy.partition(last, axis=1)),
                   lambda result: self.check_values(result[:, last:]))
            yield ({"what": "numpy.argpartition"},
                   functools.partial(repeat, lambda array: numpy.argpartition(array, last, axis=1)),
                   lambda result: self.check_set(result[:, last:]))


def repeat(turn, array, turns=1):
    for _ in range(turns):
        result = turn(array)
    return result


class Filter:
    """A point of where: the elements above a bound."""

    def __init__(self, array, keep_percent):
        self.array = array
        self.bound = numpy.quantile(array[0, :2**20], 1 - keep_percent / 100).astype(array.dtype)
        self.right = numpy.flatnonzero(array[0] > self.bound)
        self.columns = {"operation": "where", "k": len(self.right), "keep_percent": keep_percent}

    def ours(self, libtopk, context):
        indices, offsets = numpy.zeros(len(self.right), numpy.int32), numpy.zeros(2, numpy.int64)
        asked = {"gt": float(self.bound), "capacity": len(indices), "context": context}
        size = libtopk.workspace_size("where", self.array, index_dtype="int32", **asked)
        run = functools.partial(libtopk.argwhere, out=(indices, offsets), workspace=numpy.zeros(size, numpy.uint8), **asked)
        return ({"what": "topk", "threads": context.threads, "workspace_bytes": size}, run,
                lambda _: offsets[-1] == len(indices) and numpy.array_equal(indices, self.right))

    def rivals(self, threads):
        yield ({"what": "numpy.flatnonzero"}, lambda array: numpy.flatnonzero(array[0] > self.bound),
               lambda result: numpy.array_equal(result, self.right))
        if torch is not None:
            row = torch.from_numpy(self.array[0])
            yield ({"what": "torch.nonzero", "threads": threads}, lambda _: torch.nonzero(row > float(self.bound)),
                   lambda result: numpy.array_equal(result.numpy()[:, 0], self.right))


def seconds(run, pause=PAUSE_SECONDS):
    time.sleep(pause)
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def rounds_of(rival, options):
    """Fewer if it is slow."""
    return max(min(options.pairs, int(options.budget / seconds(rival))), min(options.pairs, ROUNDS_MIN))


def time_pairs(ours, rival, rounds):
    """Median seconds of the rival, and median ratio to our run right before it."""
    samples = [(seconds(ours), seconds(rival)) for _ in range(rounds)]
    return statistics.median(b for _, b in samples), statistics.median(b / a for a, b in samples)


def time_in_a_row(ours, rival, rounds):
    """As time_pairs(), but each runs its calls one right after the other: no thread has to be woken."""
    def median(run):
        seconds(run)
        return statistics.median(seconds(run, 0) for _ in range(rounds))
    theirs = median(rival)
    return theirs, theirs / median(ours)


class Pairs:
    """Times calls of contenders on the CPU."""

    def __init__(self, array, options):
        self.inputs, self.options = [array], options

    def __call__(self, ours, rival):
        ours, rival = (functools.partial(run, *self.inputs) for run in (ours, rival))
        rounds = rounds_of(rival, self.options)
        call, ratio = self.options.timing(ours, rival, rounds)
        return {"pairs": rounds, "call_us": 1e6 * call, "host_us": 1e6 * call, "to_topk": ratio}


class Batches:
    """Times batches of calls of contenders on the CPU, in turns."""

    def __init__(self, array, rows, options, pause=PAUSE_SECONDS):
        self.inputs, self.options, self.slots, self.pause = [array], options, len(array) // rows, pause

    def __call__(self, ours, rival):
        ours, rival = ((run, self.turns_of(run)) for run in (ours, rival))
        samples = []
        rounds = rounds_of(functools.partial(rival[0], *self.inputs, rival[1] + 1), self.options)
        for _ in range(rounds):
            samples.append([self.seconds(*ours), self.seconds(*rival)])
        call = 1e6 * statistics.median(b for _, b in samples) / self.slots
        return {"calls": self.slots * rival[1], "pairs": rounds, "call_us": call, "host_us": call,
                "to_topk": statistics.median(b / a for a, b in samples)}

    def turns_of(self, run):
        return math.ceil(BATCH_SECONDS / self.seconds(run, 1))

    def seconds(self, run, turns):
        """Of a turn of the ring; before them comes another one, which wakes the threads and fills the caches."""
        time.sleep(self.pause)
        run(*self.inputs)
        return seconds(functools.partial(run, *self.inputs, turns), 0) / turns


class Report:
    def __init__(self, path):
        self.file = open(path, "w", newline="") if path else None
        self.csv = csv.DictWriter(self.file, COLUMNS) if path else None
        self.failed = 0
        if self.csv:
            self.csv.writeheader()
        print(f"{'what':20} {'op':6} {'type':4} {'data':8} {'rows':>6} {'n':>9} {'k':>9} {'order':5} {'th':>2} {'team':>4} {'call':>12} "
              f"{'pairs':>5} {'/topk':>8} {'target':>7}  check")

    def add(self, line, target=None):
        wrong = line["check"] != "ok"
        missed = not wrong and target is not None and line["to_topk"] < target
        self.failed += wrong or missed
        call = "-" if wrong else f"{line['call_us'] / 1e3:.3f} ms" if line["call_us"] >= 100 else f"{line['call_us']:.2f} us"
        ratio = "-" if wrong else f"{line['to_topk']:.2f}"
        print(f"{line['what']:20} {line['operation']:6} {line['type']:4} {line['data']:8} {line['rows']:6} {line['n']:9} {line['k']:9} "
              f"{line['order']:5} {line['threads']:2} {line['team']:>4} {call:>12} {line['pairs']:>5} {ratio:>8} {target or '':>7}  "
              f"{line['check']}{' TARGET MISSED' if missed else ''}", flush=True)
        if self.csv:
            rounded = {k: f"{v:.3f}" if isinstance(v, float) else v for k, v in line.items()}
            self.csv.writerow(rounded)
            self.file.flush()


def contest(report, line, contenders, time_of, options):
    """Reports each contender, the library first; without its right results nobody else runs."""
    ours = None
    for columns, run, check in contenders:
        if ours and options.only and columns["what"] not in options.only:
            continue
        found = {**line, **columns}
        ours = ours or run
        if check(run(time_of.inputs[0])):
            times = time_of(ours, run)
            if run is not ours or check(None):
                found.update(times, check="ok", **({"to_topk": 1.0} if run is ours else {}))
        targeted = options.targets and options.device == "cpu" and line["operation"] == "select"
        report.add(found, TARGETS.get((columns["what"], line["rows"] > 1)) if targeted else None)
        if found["check"] != "ok" and run is ours:
            return


def host_points(libtopk, options):
    """(what the lines of a point say, contenders, what times them) of each point on the CPU."""
    teams = [libtopk.Context("cpu", threads=threads) for threads in options.threads]
    loops = calls.load(os.path.dirname(os.path.abspath(options.library))) if options.suite.startswith("sorted") else None
    made = None
    for data, kind in itertools.product(options.data.split(","), options.type.split(",")):
        for operation, rows, n, count, order in POINTS[options.suite]:
            slots = -(-RING_ELEMENTS // (rows * n)) if loops else 1
            if made != (data, kind, rows, n):
                array = make_data(data, slots * rows, n, options.seed, kind)
                made = (data, kind, rows, n)
            if loops:
                subject = Batch(array, rows, count, order, loops)
            else:
                subject = Selection(array, count, order) if operation == "select" else Filter(array, count)
            for context in teams:
                pause = PAUSE_SECONDS if context.threads > 1 else 0
                time_of = Batches(subject.array, rows, options, pause) if loops else Pairs(array, options)
                if torch is not None:
                    torch.set_num_threads(context.threads)
                contenders = [subject.ours(libtopk, context)]
                for columns, run, check in subject.rivals(context.threads):
                    contenders.append(({"threads": 1, "ties": "any", **columns}, run, check))
                yield ({**subject.columns, "type": kind, "data": data, "rows": rows, "n": n, "cache": "warm",
                        "features": context.features, "team": context.threads}, contenders, time_of)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", choices=sorted([*POINTS, "peers", "one-row"]))
    parser.add_argument("--library", required=True, help="path of libtopk.so")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--order", default="any", choices=["best", "any"], help="on a GPU")
    parser.add_argument("--ties", default="any", choices=["lowest", "any"], help="on a GPU")
    parser.add_argument("--method", help="of libtopk, on a GPU")
    parser.add_argument("--threads", type=lambda text: [int(number) for number in text.split(",")],
                        default=[os.cpu_count()], help="of libtopk and of torch; also 1,2")
    parser.add_argument("--data", default="uniform,normal", help="uniform, normal")
    parser.add_argument("--type", help="on the CPU, unless f32: " + ",".join(TYPES) + " (of sorted-types: all)")
    parser.add_argument("--pairs", type=int, default=21)
    parser.add_argument("--budget", type=float, default=15, help="seconds that a slow rival gets for each point")
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of rivals to run")
    parser.add_argument("--targets", action="store_true", help="fail where libtopk is not as much faster as it is to be")
    parser.add_argument("--in-a-row", dest="timing", action="store_const", const=time_in_a_row, default=time_pairs,
                        help="time the calls of each in a row, not in turns with a pause before each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csv", help="write the results to this file too")
    options = parser.parse_args()
    options.suite = options.suite or ("peers" if options.device == "cuda" else "targets")
    if options.suite not in (("peers", "one-row", "where", "quick") if options.device == "cuda" else POINTS):
        parser.error(f"no suite '{options.suite}' for {options.device}")
    if options.suite.startswith("sorted") and options.timing is time_in_a_row:
        parser.error("batches take turns: --in-a-row has no use for the suites `sorted`")
    options.type = options.type or (",".join(TYPES) if options.suite == "sorted-types" else "f32")
    return options


def main():
    options = parse_arguments()
    if options.device == "cuda":
        if torch is None or not torch.cuda.is_available():
            sys.exit("rivals.py: torch for this Python sees no GPU: " + sys.executable)
        import rivals_cuda
        libtopk = package.load(options.library)
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}")
        points = rivals_cuda.points(libtopk, options)
    else:
        libtopk = package.load(options.library)
        print(f"{','.join(map(str, options.threads))} threads, {libtopk.Context('cpu').features}, numpy {numpy.__version__}, "
              f"torch {torch.__version__ if torch else 'not installed: its rows are missing'}")
        points = host_points(libtopk, options)
    report = Report(options.csv)
    for line, contenders, time_of in points:
        contest(report, {**LINE, **line}, contenders, time_of, options)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
