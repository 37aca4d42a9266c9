# SPDX-License-Identifier: Apache-2.0
"""Starts ranks, and solves problems in groups of them: all ranks know a problem as a whole, each has its own part, and the
oracle judges. Ranks are forks of a process that has loaded torch, which takes longer than their work.

    ranks.py FILE cpu      seven ranks of gloo; FILE is a new file to meet by
    ranks.py FILE cuda     ranks of NCCL, with a GPU each: as many as there are GPUs, seven at most
"""
import importlib.util
import sys
from datetime import timedelta
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import torch
import torch.distributed as c10d
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode

sys.path.insert(0, str(Path(__file__).parents[1]))

import libtopk  # noqa: E402
import libtopk.torch  # noqa: E402
import libtopk.torch.distributed as over  # noqa: E402
import oracle  # noqa: E402
from oracle import all_same, same  # noqa: E402

WORLD, DEVICE = 7, "cpu"
PROBLEMS = {1: 28, 2: 12, 3: 8, 7: 2}  # by the size of the group
EXAMPLES = Path(__file__).parents[3] / "examples" / "python"
RANK, SIZE, GROUP = 0, 1, None  # of the group at work
TYPES = ("float32", "float16", "float64", "int8", "uint64", "int32", "uint16")


Told = over._Ranks


class Untold(Told):
    """Ranks whose host knows nothing of the others, as with CUDA tensors."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.is_told = False


def tensor(array):
    return torch.from_numpy(array).to(DEVICE)


def arrays(results):
    return tuple(result.cpu().numpy() for result in results)


def numbers(random, rows, length, dtype):
    """Elements that tie, with NaN, infinities and both zeros among floats."""
    x = random.integers(-4, 5, (rows, length)).astype(dtype)
    if x.dtype.kind == "f":
        strange = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0], dtype)
        return np.where(random.random((rows, length)) < 0.15, random.choice(strange, (rows, length)), x)
    return x


def dealing(random, kind, length):
    """The positions of each rank."""
    if kind == "stride":
        return [np.arange(rank, length, SIZE) for rank in range(SIZE)]
    if kind == "table":
        owners = random.integers(0, SIZE, length)
        return [np.flatnonzero(owners == rank) for rank in range(SIZE)]
    edges = np.sort(random.integers(0, length + 1, SIZE - 1))
    runs = [np.arange(*edge) for edge in zip([0, *edges], [*edges, length])]
    return runs if kind == "none" else [runs[which] for which in random.permutation(SIZE)]


def check_selections(seed):
    random = np.random.default_rng(seed)
    rows, length = int(random.integers(0, 5)), int(random.integers(0, 60))
    kind = ("none", "base", "stride", "table")[seed % 4]
    k = int(random.choice([0, 1, 3, 10, length, length + 4]))
    x = numbers(random, rows, length, TYPES[seed % len(TYPES)])
    dealt = dealing(random, kind, length)
    own = dealt[RANK]
    positions = {"none": None, "stride": "stride", "base": int(own[0]) if len(own) else length,
                 "table": tensor(np.tile(own, (rows, 1)))}[kind]
    choice = {"largest": bool(random.integers(2)), "magnitude": bool(random.integers(2)),
              "nan": ("largest", "last")[random.integers(2)]}
    part = tensor(x[:, own])
    for chosen, masked in ((None, {}), (oracle.meets(x, "le", 1), {"le": 1}), (random.random(x.shape) < 0.5, None)):
        if masked is None:
            masked = {"mask": tensor(chosen[:, own])}
        function = over.select_where if masked else over.topk
        wanted = oracle.select(x, k, x.dtype, chosen=chosen, **choice)
        options = {**choice, **masked, "positions": positions, "group": GROUP}
        assert all_same(arrays(function(part, k, **options)), wanted), (seed, kind)
        found = function(part, k, to=SIZE - 1, **options)
        assert (found is None) == (RANK != SIZE - 1) and (found is None or all_same(arrays(found), wanted))
        each = -(-rows // SIZE)
        found = function(part, k, to="owner", **options)
        assert all_same(arrays(found), tuple(result[each * RANK:each * (RANK + 1)] for result in wanted))
        check_place(function(part, k, to="place", **options), x, wanted, dealt)


def check_place(found, x, wanted, dealt):
    values, indices, own_k, before = arrays(found)
    for row in range(len(x)):
        best = wanted[1][row][wanted[1][row] >= 0]
        mine = np.sort(best[np.isin(best, dealt[RANK])])
        assert own_k[row] == len(mine)
        assert before[row] == sum(np.isin(best, dealt[rank]).sum() for rank in range(RANK))
        assert np.array_equal(indices[row][:len(mine)], mine) and (indices[row][len(mine):] == -1).all()
        assert same(values[row][:len(mine)], x[row][mine])


def check_kth(seed):
    random = np.random.default_rng(1000 + seed)
    rows, length = int(random.integers(1, 4)), int(random.integers(1, 80))
    x = numbers(random, rows, length, TYPES[seed % len(TYPES)])
    part = tensor(x[:, dealing(random, "table", length)[RANK]])
    ks = [1, length, int(random.integers(0, length + 3))]
    choice = {"largest": bool(random.integers(2)), "magnitude": bool(random.integers(2))}
    kth, better, equal = arrays(over.kth(part, ks, group=GROUP, **choice))
    for which, row in np.ndindex(len(ks), rows):
        wanted = oracle.kth(x[row], ks[which], **choice)
        one = kth[which, row]
        assert one == wanted[0] or (one != one and wanted[0] != wanted[0])
        assert (better[which, row], equal[which, row]) == wanted[1:]
    assert all_same(arrays(over.kth(part, ks[2], group=GROUP, **choice)), (kth[2], better[2], equal[2]))
    if x.dtype.kind != "f":
        qs = [0, 0.3, 0.5, 0.77, 1]
        for method in ("lower", "higher", "nearest"):
            wanted = np.quantile(x, qs, method=method, axis=1).astype(x.dtype)
            assert same(over.quantile(part, qs, method=method, group=GROUP).cpu().numpy(), wanted)


def check_shapes():
    x = torch.arange(48.0, device=DEVICE).reshape(2, 3, 8)
    part = x.tensor_split(SIZE, 2)[RANK]
    for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn):
        found, wanted = over.topk(part.to(dtype), 5, group=GROUP), libtopk.topk(x.to(dtype), 5)
        assert torch.equal(found.values.view(torch.uint8), wanted.values.view(torch.uint8))
        assert torch.equal(found.indices, wanted.indices)
    found = over.topk(part.clone().requires_grad_(), 5, group=GROUP)
    assert torch.equal(found.values, libtopk.topk(x, 5).values) and not found.values.requires_grad
    strided = part.transpose(0, 1)
    assert torch.equal(over.topk(strided, 5, group=GROUP).values, libtopk.topk(x.transpose(0, 1), 5).values)
    assert over.kth(part[0, 0], 2, group=GROUP).kth == 6
    assert over.topk(part[0, 0], 2, to="place", group=GROUP).own_k.shape == ()


def check_groups():
    """Each way to name the group of all ranks."""
    x = torch.arange(20.0, device=DEVICE)
    part = x.tensor_split(WORLD)[RANK]
    mesh = torch.distributed.device_mesh.init_device_mesh(DEVICE, (WORLD,), mesh_dim_names=("ranks",))
    for group in (None, c10d.group.WORLD, mesh, (mesh, "ranks"), (mesh, 0)):
        assert over.topk(part, 5, group=group).indices.tolist() == [19, 18, 17, 16, 15]


def raises(kind, words, function):
    try:
        function()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}: {words}")


def check_errors():
    """Each is wrong on the last rank alone, or on all."""
    last = RANK == SIZE - 1
    x = torch.arange(10.0)
    own = x if SIZE == 1 else x[:5] if not last else x[5:]
    name = f"rank {SIZE - 1}: "
    topk, where = partial(over.topk, group=GROUP), partial(over.select_where, group=GROUP)
    quantile, empty = partial(over.quantile, group=GROUP), torch.zeros(2**20, 0)
    raises(ValueError, name + "k is -1", lambda: topk(own, -1 if last else 2))
    raises(TypeError, name + "k is 'two'", lambda: topk(own, "two" if last else 2))
    raises(TypeError, name, lambda: topk(own > 3 if last else own, 2))
    raises(TypeError, name + "x is of type list", lambda: topk(own.tolist() if last else own, 2))
    raises(ValueError, name + "x is on meta", lambda: topk(own.to("meta") if last else own, 2))
    raises(TypeError, name + "mask is of type list", lambda: where(own, 2, mask=[True] * len(own) if last else own > 2))
    raises(TypeError, name + "k is 1.5", lambda: over.kth(own, 1.5 if last else 1, group=GROUP))
    raises(TypeError, name + "there is no option 'dim'", lambda: topk(own, 2, **({"dim": 0} if last else {})))
    raises(ValueError, name + "positions do not ascend", lambda: topk(
        own, 2, positions=torch.zeros(len(own), dtype=int) if last else torch.arange(len(own))))
    raises(ValueError, name + "positions are a table", lambda: topk(
        own, 2, positions=torch.zeros(1, dtype=int) if last else torch.arange(len(own))))
    raises(ValueError, name + "positions from 9223372036854775807 on", lambda: topk(
        own, 2, positions=2**63 - 1 if last else 0))
    raises(ValueError, name + f"to is {SIZE}", lambda: topk(own, 2, to=SIZE if last else 0))
    raises(ValueError, name + "mask is not", lambda: where(own, 2, mask=own[:1] > 2 if last else own > 2))
    raises(TypeError, "predicate is needed", lambda: where(own, 2))
    raises(ValueError, name + "q is", lambda: quantile(own, 2.0 if last else 0.5))
    raises(OverflowError, name, lambda: topk(empty if last else own, 2**12 if last else 2))
    raises(ValueError, "no quantiles", lambda: quantile(x[:0], 0.5))
    raises(TypeError, "group is of type str", lambda: over.topk(own, 2, group="gloo"))
    if SIZE > 1:
        raises(ValueError, name + "k is 3, where rank 0 has 2", lambda: topk(own, 3 if last else 2))
        raises(ValueError, name + "the type of x", lambda: topk(own.double() if last else own, 2))
        raises(ValueError, name + "the rows of x", lambda: topk(own[None] if last else own, 2))
        raises(ValueError, name + "the function", lambda: over.kth(own, [2], group=GROUP) if last else topk(own, 2))
        raises(ValueError, "its positions begin at 0", lambda: topk(own, 2, positions=0))


def on_mesh(x, mesh, places):
    """The tensor as it lies by `places`; of sums in parts each rank has a multiple."""
    x = distribute_tensor(x, mesh, [Replicate() if place.is_partial() else place for place in places], src_data_rank=None)
    if mesh.get_coordinate() is None or not any(place.is_partial() for place in places):
        return x
    first = [mesh.size(which) for which, place in enumerate(places) if place.is_partial() and not mesh.get_local_rank(which)]
    return DTensor.from_local(x.to_local() * np.prod([2 - size for size in first]), mesh, places, shape=x.shape, stride=x.stride())


def check_dtensor(mesh, places, x, k, dim, **choice):
    """libtopk.torch.topk of a DTensor, its placements, and gradients of two orders: as of the whole tensor."""
    x = x.to(DEVICE)
    given, x = on_mesh(x, mesh, places), x.clone()
    if x.is_floating_point():
        given, x = given.requires_grad_(), x.requires_grad_()
    found, wanted = libtopk.torch.topk(given, k, dim, **choice), libtopk.torch.topk(x, k, dim, **choice)
    dim %= max(1, x.dim())
    stays = tuple(place if place.is_shard() and place.dim != dim else Replicate() for place in places)
    assert found.values.placements == found.indices.placements == stays, (places, found.values.placements)
    assert torch.equal(found.indices.full_tensor(), wanted.indices), (places, k, dim, choice)
    assert same(*arrays((found.values.full_tensor().detach(), wanted.values.detach())))
    if not x.is_floating_point():
        return
    weights = torch.arange(1.0, 1 + wanted.values.numel(), dtype=x.dtype, device=DEVICE).reshape(wanted.values.shape)
    of_place = tuple(Replicate() if place.is_partial() else place for place in places)
    orders = []
    for values, source, by in ((found.values, given, on_mesh(weights, mesh, [Replicate()] * mesh.ndim)),
                               (wanted.values, x, weights)):
        by = by.requires_grad_()
        (first,) = torch.autograd.grad((values.nan_to_num(0, 0, 0) * by).sum(), source, create_graph=True)
        (second,) = torch.autograd.grad((first * first).sum(), by)
        orders.append((first.detach(), second))
    assert orders[0][0].placements == of_place, (places, orders[0][0].placements)
    for ours, theirs in zip(*orders):
        assert torch.equal(ours.full_tensor(), theirs), (places, k, dim)


def check_dtensors():
    """On all ranks: each way in which a tensor of two dimensions or three can lie, also with parts that are uneven or empty."""
    mesh = torch.distributed.device_mesh.DeviceMesh.from_group(GROUP or c10d.group.WORLD, DEVICE)
    random = np.random.default_rng(5)
    for shape, dim in (((5, 9), -1), ((5, 9), 0), ((1, 4), 0), ((3, 2, 40), 2)):
        x = torch.from_numpy(numbers(random, int(np.prod(shape[:-1])), shape[-1], "float64").reshape(shape))
        for turn, place in enumerate((Replicate(), *map(Shard, range(len(shape))), Partial(), Shard(dim % len(shape)))):
            k = (shape[dim], 1, min(3, shape[dim]))[turn % 3]
            given = x.nan_to_num(0, 9, -9) + 0 if place.is_partial() else x
            check_dtensor(mesh, [place], given, k, dim, largest=bool(k % 2))
    for dtype, choice in (("int8", {"order": "position"}), ("uint64", {"sorted": False}), ("float32", {"order": "position"})):
        x = torch.from_numpy(numbers(random, 4, 50, dtype))
        check_dtensor(mesh, [Shard(1)], x, 3, -1, largest=False, **choice)
    check_dtensor(mesh, [Replicate()], torch.tensor(3.0), 1, -1)
    check_nan_on_each_rank(mesh)
    check_what_moves(mesh)


def check_nan_on_each_rank(mesh):
    """A maximum by a collective of gloo is NaN or not, as it lies on the one rank or the other. Results here have it."""
    for owner, shape in product(range(SIZE), ((SIZE,), (2, 20 * SIZE))):  # the tensor itself is gathered, and lists
        x = torch.ones(shape, device=DEVICE)
        at = owner * shape[-1] // SIZE + shape[-1] // SIZE // 2
        x[..., at] = torch.nan
        found = libtopk.torch.topk(distribute_tensor(x, mesh, [Shard(len(shape) - 1)], src_data_rank=None), 2)
        values, indices = found.values.to_local(), found.indices.to_local()
        assert values[..., 0].isnan().all() and (indices[..., 0] == at).all(), (owner, found)
        assert (values[..., 1] == 1).all() and (indices[..., 1] == (at == 0)).all(), (owner, found)


def check_what_moves(mesh):
    x = torch.arange(1000.0, device=DEVICE).reshape(2, 500)
    for place, collectives in ((Shard(0), 0), (Replicate(), 0), (Shard(1), 1)):
        given = distribute_tensor(x, mesh, [place]).requires_grad_()
        with CommDebugMode() as moves, Largest() as largest:
            found = libtopk.torch.topk(given, 3)
            (gradient,) = torch.autograd.grad(found.values.sum(), given)
        assert moves.get_total_counts() == collectives * (SIZE > 1), (place, moves.get_comm_counts())
        assert largest.bytes <= 2 * 3 * (4 + 8) and gradient.placements == (place,)  # one list, no part
        with CommDebugMode() as moves:
            kept = libtopk.torch.maxk(given, 3)
        assert kept.placements == (place,) and torch.equal(kept.full_tensor(), libtopk.torch.maxk(x, 3))
    with torch.inference_mode():
        assert torch.equal(libtopk.torch.topk(distribute_tensor(x, mesh, [Shard(1)]), 3).indices.full_tensor(),
                           libtopk.torch.topk(x, 3).indices)
        assert torch.equal(libtopk.torch.topk(given, 3).indices.full_tensor(), libtopk.torch.topk(x, 3).indices)
    for approximate in (libtopk.torch.maxk(distribute_tensor(x, mesh, [Shard(1)]), 3, 2),):
        assert torch.equal(approximate.full_tensor(), libtopk.torch.maxk(x, 3, 2))
    compiled = torch.compile(lambda x: libtopk.torch.topk(x * 2, 3).values, backend="aot_eager", fullgraph=True)
    given = distribute_tensor(x, mesh, [Shard(1)]).requires_grad_()
    compiled(given).sum().backward()
    assert given.grad.placements == (Shard(1),) and given.grad.full_tensor().sum() == 12
    for error, k, dim in ((RuntimeError, 501, 1), (IndexError, 1, 2)):
        raises(error, "out of range", lambda: libtopk.torch.topk(given, k, dim))
    raises(TypeError, "must be a plain torch.Tensor", lambda: over.topk(given, 1, group=GROUP))


class Largest(torch.utils._python_dispatch.TorchDispatchMode):
    """The bytes of the largest tensor that this rank gives to a collective."""

    bytes = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if "c10d" in function.namespace and isinstance(args[0], torch.Tensor) and "wait" not in function.name():
            self.bytes = max(self.bytes, args[0].nbytes)
        return function(*args, **(kwargs or {}))


def check_meshes():
    """Of two dimensions, on six of the ranks."""
    mesh = torch.distributed.device_mesh.DeviceMesh("cpu", torch.arange(6).reshape(2, 3))
    x = torch.from_numpy(numbers(np.random.default_rng(7), 7, 23, "float64")).nan_to_num(0, 9, -9) + 0
    places = (Replicate(), Shard(0), Shard(1), Partial())
    for turn, (first, second) in enumerate(product(places, places)):
        if RANK < 6:
            check_dtensor(mesh, [first, second], x, 2, turn % 2)
        else:
            found = libtopk.torch.topk(on_mesh(x, mesh, [first, second]), 2, turn % 2)
            assert found.indices.shape == ((2, 23), (7, 2))[turn % 2]


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_example():
    example, random = load("sharded_vocabulary"), torch.Generator().manual_seed(3)
    hidden, weight = (torch.randint(-3, 4, (count, 6), generator=random).float() for count in (5, 301))  # scores tie
    probabilities, tokens = example.likeliest(hidden, weight.tensor_split(SIZE)[RANK], 7, GROUP)
    wanted = torch.sort(hidden @ weight.T, stable=True, descending=True)
    assert torch.equal(tokens, wanted.indices[:, :7])
    assert torch.equal(probabilities, wanted.values[:, :7].softmax(-1))
    example.main(GROUP)


def check_graph():
    """Calls that a CUDA graph captures, replayed over elements that are written later."""
    x = torch.zeros(3, 40_000, device=DEVICE)
    part = x.tensor_split(SIZE, 1)[RANK].contiguous()

    def all_calls():
        return (*over.topk(part, 100, group=GROUP), *over.select_where(part, 9, gt=2.5, group=GROUP),
                *over.kth(part, 20_000, group=GROUP), *over.topk(part, 50, to="place", group=GROUP))

    all_calls()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        found = all_calls()
    for seed in range(3):
        x.copy_(torch.randint(-3, 4, x.shape, generator=torch.Generator().manual_seed(seed)))
        part.copy_(x.tensor_split(SIZE, 1)[RANK])
        graph.replay()
        place = libtopk.topk(x, 50, order="position").indices
        first = x.shape[1] // SIZE * RANK + min(RANK, x.shape[1] % SIZE)
        is_own = (place >= first) & (place < first + part.shape[1])
        wanted = (*libtopk.topk(x, 100), *libtopk.select_where(x, 9, gt=2.5), *libtopk.kth(x, 20_000))
        assert all_same(arrays(found[:7]), arrays(wanted)), seed
        assert torch.equal(found[-2], is_own.sum(1)), seed
        assert all(torch.equal(own[:count], every[mine]) for own, count, every, mine in zip(found[-3], found[-2], place, is_own))
    del graph


def check_all(kinds):
    """In one group, by each of `kinds`: how its ranks learn of each other."""
    check_shapes()
    if DEVICE == "cpu":
        check_errors()
    else:
        check_graph()
    if SIZE == 3 or (DEVICE == "cuda" and SIZE > 1):
        check_dtensors()
    if SIZE == 2 and DEVICE == "cpu":
        check_example()
    for over._Ranks in kinds:
        for seed in range(PROBLEMS[SIZE]):
            check_selections(seed)
            check_kth(seed)
    over._Ranks = Told


def work(rank, meet, device, world):
    global DEVICE, RANK, SIZE, GROUP, WORLD
    DEVICE, WORLD = device, world
    torch.set_num_threads(1)
    if DEVICE == "cuda":
        torch.cuda.set_device(rank)
    c10d.init_process_group("gloo" if DEVICE == "cpu" else "nccl", init_method=f"file://{meet}", rank=rank, world_size=WORLD,
                            timeout=timedelta(minutes=10))
    RANK, SIZE = rank, WORLD
    check_groups()
    if DEVICE == "cpu":
        check_meshes()
    for SIZE in (size for size in PROBLEMS if size <= WORLD):
        first = WORLD - SIZE
        GROUP, RANK = c10d.new_group(list(range(first, WORLD))) if first else None, rank - first
        if RANK < 0:
            raises(ValueError, "not in the group", lambda: over.topk(torch.ones(3), 1, group=GROUP))
        else:
            check_all((Told, Untold) if DEVICE == "cpu" else (Told,))
    c10d.barrier()
    c10d.destroy_process_group()


if __name__ == "__main__":
    WORLD = min(WORLD, torch.cuda.device_count()) if sys.argv[2] == "cuda" else WORLD
    torch.multiprocessing.start_processes(work, (*sys.argv[1:], WORLD), WORLD, start_method="fork")
    print(f"{WORLD} ranks are done")
