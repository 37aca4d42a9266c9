# SPDX-License-Identifier: Apache-2.0
"""libtopk beside torch.topk and torch.nonzero on a GPU; rivals.py --device cuda runs it. Device time is taken between
events behind a kernel that sleeps, so that the time the host takes to launch does not count; runs go round copies of
the input that fill 256 MiB. torch.nonzero waits for the device to say how many matches there are, so that it is timed
on an idle stream. Every result is verified before it is timed: against torch.sort, and match by match."""

import functools
import os
import statistics
import time

import torch

import record

COLD_BYTES = 2**28
SLEEP_CYCLES = 4_000_000  # about 2 ms: longer than the host takes to launch any of the calls
RUNS_MIN = 11

QUICK = [(1, 2**20, 256, "normal"), (1, 2**20, 256, "prefix20"), (100, 131072, 256, "uniform"),
         (4096, 256, 8, "normal")]


def published(name):
    """The lines of a file of published figures."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../docs/benchmarks/published")
    return record.read(os.path.join(folder, name))


def peer_points():
    return [(int(line["rows"]), int(line["n"]), int(line["k"]), line["data"]) for line in published("peers_h200.csv")]


def row_points():
    """The plot of README.md: what torch takes beside what others do."""
    return [(1, int(line["n"]), 2048, "uniform") for line in published("peers_h100.csv")
            if (line["type"], line["rows"], line["k"], line["data"]) == ("f32", "1", "2048", "uniform")]


def where_points():
    """The measured points and a short row; k is the percentage that is kept."""
    return [(1, int(line["n"]), int(line["keep_percent"]), "uniform") for line in published("peers_where_h200.csv")]


SUITES = {"quick": lambda: QUICK, "peers": peer_points, "one-row": row_points, "where": where_points}


def make_data(name, rows, n, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    where = {"device": "cuda", "generator": generator}
    if name == "uniform":
        return 1 - torch.rand(rows, n, **where)
    if name == "normal":
        return torch.randn(rows, n, **where)
    if name == "prefix20":
        return (torch.randint(0, 2**12, (rows, n), dtype=torch.int32, **where) | 0x3F800000).view(torch.float32)
    raise ValueError(f"no distribution '{name}' on the GPU")


def is_right(data, values, indices, best, order):
    """k distinct elements of each row whose values are the best; sorted where that was promised."""
    indices = indices.long()
    if int(indices.min()) < 0 or int(indices.max()) >= data.shape[1]:
        return False
    taken = indices.sort(dim=1).values
    distinct = bool((taken[:, 1:] != taken[:, :-1]).all())
    ordered = order == "any" or torch.equal(values, best)
    same = torch.equal(values.sort(dim=1, descending=True).values, best)
    return distinct and ordered and same and torch.equal(data.gather(1, indices), values)


def device_us(run, copies, runs, waits):
    """Median device microseconds; each run reads the next copy. What waits for the device finds an idle stream, and
    what the host does meanwhile counts."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    samples = []
    for i in range(runs + 2):
        if not waits:
            torch.cuda._sleep(SLEEP_CYCLES)
        begin.record()
        run(copies[i % len(copies)])
        end.record()
        torch.cuda.synchronize()
        samples.append(1e3 * begin.elapsed_time(end))
    return statistics.median(samples[2:])


def host_us(run, copies, runs):
    samples = []
    for i in range(runs):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run(copies[i % len(copies)])
        samples.append(1e6 * (time.perf_counter() - begin))
    torch.cuda.synchronize()
    return statistics.median(samples)


class Events:
    """Times calls of contenders on the GPU, which go round the copies of an input."""

    def __init__(self, data, options):
        self.inputs = [data] + [data.clone() for _ in range(COLD_BYTES // (4 * data.numel()))]
        self.runs, self.own = max(options.pairs, RUNS_MIN), None

    def __call__(self, ours, run):
        waits = getattr(run, "waits", False)
        call, host = device_us(run, self.inputs, self.runs, waits), host_us(run, self.inputs, self.runs)
        self.own = self.own or call
        return {"pairs": self.runs, "call_us": call, "host_us": host, "to_topk": call / self.own}


def empty(kind, *shape):
    """Filled with what no call writes."""
    return torch.full(shape, float("nan") if kind.is_floating_point else -7, dtype=kind, device="cuda")


def bind(libtopk, operation, function, data, out, **asked):
    """The library as a contender: run(a copy of the data), and its columns of the report."""
    needed = libtopk.workspace_size(operation, data, index_dtype="int32", **asked)
    workspace = torch.empty(max(needed, 1), dtype=torch.uint8, device="cuda")
    return {"what": "topk", "workspace_bytes": needed}, functools.partial(function, out=out, workspace=workspace, **asked)


def where(libtopk, data, percent, options):
    """Contenders, and what the lines say: int32 indices of the elements above a bound; torch gives int64."""
    n = data.shape[1]
    bound = float(torch.kthvalue(data[0], n - n * percent // 100).values)
    right = torch.arange(n, dtype=torch.int32, device="cuda")[data[0] > bound]
    indices, offsets = empty(torch.int32, right.numel()), empty(torch.int64, 2)

    def is_found(_):
        return offsets.tolist() == [0, right.numel()] and torch.equal(indices, right)

    def theirs(copy):
        return torch.nonzero(copy[0] > bound)
    theirs.waits = True
    rival = {"what": "torch.nonzero", "index": "i64", "method": ""}
    ours = bind(libtopk, "where", libtopk.argwhere, data, (indices, offsets), gt=bound, capacity=right.numel(),
                method=options.method)
    contenders = [(*ours, is_found),
                  (rival, theirs, lambda result: torch.equal(result[:, 0], right.long()))]
    return contenders, {"operation": "where", "k": right.numel(), "keep_percent": percent}


def select(libtopk, data, k, options):
    """Contenders, and what the lines say: the k largest of each row."""
    order, ties = options.order, options.ties
    best = torch.sort(data, dim=1, descending=True).values[:, :k].clone()
    values, indices = empty(torch.float32, len(data), k), empty(torch.int32, len(data), k)
    ours = bind(libtopk, "topk", libtopk.topk, data, (values, indices), k=k, sorted=order == "best", ties=ties,
                method=options.method)
    rival = {"what": "torch.topk", "ties": "any", "index": "i64", "method": ""}
    contenders = [(*ours, lambda _: is_right(data, values, indices, best, order)),
                  (rival, lambda copy: torch.topk(copy, k, dim=1, sorted=order == "best"),
                   lambda result: is_right(data, result.values, result.indices, best, order))]
    return contenders, {"operation": "select", "k": k, "order": order, "ties": ties}


def points(libtopk, options):
    """(what the lines of a point say, contenders, what times them) of each point on the GPU."""
    contend = where if options.suite == "where" else select
    for rows, n, count, data_name in SUITES[options.suite]():
        data = make_data(data_name, rows, n, options.seed)
        contenders, columns = contend(libtopk, data, count, options)
        line = {"data": data_name, "rows": rows, "n": n, "method": options.method or "auto", "threads": 0,
                "cache": "cold", "features": torch.cuda.get_device_name()}
        yield {**line, **columns}, contenders, Events(data, options)
        torch.cuda.empty_cache()
