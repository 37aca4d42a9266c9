# SPDX-License-Identifier: Apache-2.0
"""libtopk beside torch.topk and torch.nonzero on a GPU; rivals.py --device cuda runs it. Device time is taken between events
behind a kernel that sleeps, so that the time the host takes to launch does not count; runs go round copies of
the input that fill 256 MiB. torch.nonzero waits for the device to say how many matches there are, so that it is timed
on an idle stream. Every result is verified before it is timed: against torch.sort, and match by match."""

import csv
import os
import statistics
import time

import torch

COLD_BYTES = 2**28
SLEEP_CYCLES = 4_000_000  # about 2 ms: longer than the host takes to launch any of the calls
RUNS_MIN = 11

QUICK = [(1, 2**20, 256, "normal"), (1, 2**20, 256, "prefix20"), (100, 131072, 256, "uniform"),
         (4096, 256, 8, "normal")]


def published(name):
    """The lines of a file of published figures."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../docs/benchmarks/published")
    with open(os.path.join(folder, name), newline="") as file:
        return list(csv.DictReader(file))


def peer_points():
    return [(int(line["rows"]), int(line["n"]), int(line["k"]), line["data"]) for line in published("peers_h200.csv")]


def where_points():
    """(n, percent kept) of the points that were measured, and of a short row."""
    return [(int(line["n"]), int(line["keep_percent"])) for line in published("peers_where_h200.csv")]


SUITES = {"quick": lambda: QUICK, "peers": peer_points, "where": where_points}


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


def timed(run, copies, runs, waits=False):
    call, host = device_us(run, copies, runs, waits), host_us(run, copies, runs)
    return {"check": "ok", "pairs": runs, "call_us": call, "host_us": host}


def run_where(library, point, options, report):
    """float32 uniform in (0, 1], int32 indices of the elements above a bound; torch gives int64."""
    n, percent = point
    runs = max(options.pairs, RUNS_MIN)
    data = make_data("uniform", 1, n, options.seed)[0]
    copies = [data] + [data.clone() for _ in range(COLD_BYTES // (4 * n))]
    bound = float(torch.kthvalue(data, n - n * percent // 100).values)
    right = torch.arange(n, dtype=torch.int32, device="cuda")[data > bound]
    matches = right.numel()
    line = {"operation": "where", "type": "f32", "data": "uniform", "rows": 1, "n": n, "k": matches,
            "keep_percent": percent, "direction": "largest", "order": "best", "ties": "lowest", "index": "i32",
            "method": options.method or "auto", "threads": 0, "cache": "cold",
            "features": torch.cuda.get_device_name(), "pairs": "", "check": "FAIL"}

    indices = torch.full((matches,), -7, dtype=torch.int32, device="cuda")
    offsets = torch.full((2,), -7, dtype=torch.int64, device="cuda")
    call, needed = library.where_on_device(n, bound, matches, options.method)
    workspace = torch.empty(max(needed, 1), dtype=torch.uint8, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream

    def ours(copy):
        call(copy.data_ptr(), indices.data_ptr(), offsets.data_ptr(), workspace.data_ptr(), stream)

    def is_found():
        return offsets.tolist() == [0, matches] and torch.equal(indices, right)
    own = {**line, "what": "topk", "workspace_bytes": needed}
    ours(data)
    if is_found():
        own.update(timed(ours, copies, runs), to_topk=1.0)
        if not is_found():
            own = {**line, "what": "topk", "workspace_bytes": needed}
    report.add(own)

    def theirs(copy):
        return torch.nonzero(copy > bound)
    rival = {**line, "what": "torch.nonzero", "index": "i64", "method": ""}
    if own["check"] == "ok":
        if torch.equal(theirs(data)[:, 0], right.long()):
            rival.update(timed(theirs, copies, runs, waits=True))
            rival["to_topk"] = rival["call_us"] / own["call_us"]
        report.add(rival)


def run_point(library, point, options, report):
    rows, n, k, data_name = point
    order, ties = options.order, options.ties
    runs = max(options.pairs, RUNS_MIN)
    data = make_data(data_name, rows, n, options.seed)
    copies = [data] + [data.clone() for _ in range(COLD_BYTES // (4 * data.numel()))]
    best = torch.sort(data, dim=1, descending=True).values[:, :k].clone()
    line = {"operation": "select", "type": "f32", "data": data_name, "rows": rows, "n": n, "k": k, "keep_percent": 0,
            "direction": "largest", "order": order, "ties": ties, "index": "i32", "method": options.method or "auto",
            "threads": 0, "cache": "cold", "features": torch.cuda.get_device_name(), "pairs": "", "check": "FAIL"}

    values = torch.empty(rows, k, device="cuda").fill_(float("nan"))
    indices = torch.full((rows, k), -7, dtype=torch.int32, device="cuda")
    call, needed = library.select_on_device(rows, n, k, order, ties, options.method)
    workspace = torch.empty(max(needed, 1), dtype=torch.uint8, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream

    def ours(copy):
        call(copy.data_ptr(), values.data_ptr(), indices.data_ptr(), workspace.data_ptr(), stream)
    own = {**line, "what": "topk", "workspace_bytes": needed}
    ours(data)
    if is_right(data, values, indices, best, order):
        own.update(timed(ours, copies, runs), to_topk=1.0)
        if not is_right(data, values, indices, best, order):
            own = {**line, "what": "topk", "workspace_bytes": needed}
    report.add(own)

    def theirs(copy):
        return torch.topk(copy, k, dim=1, sorted=order == "best")
    rival = {**line, "what": "torch.topk", "ties": "any", "index": "i64", "method": ""}
    result = theirs(data)
    if own["check"] == "ok" and is_right(data, result.values, result.indices, best, order):
        rival.update(timed(theirs, copies, runs))
        rival["to_topk"] = rival["call_us"] / own["call_us"]
    if own["check"] == "ok":
        report.add(rival)


def run(library, options, report):
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}")
    for point in SUITES[options.suite]():
        if options.suite == "where":
            run_where(library, point, options, report)
        else:
            run_point(library, point, options, report)
        torch.cuda.empty_cache()
