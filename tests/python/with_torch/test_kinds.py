# SPDX-License-Identifier: Apache-2.0
"""Every function gives, for arrays of every kind on every device, what it gives for numpy's."""
import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", minversion="2.6")
libtopk = pytest.importorskip("libtopk")
from libtopk import _kinds  # noqa: E402


class Torch:
    def __init__(self, device):
        self.device = device

    def array(self, numbers):
        return torch.from_numpy(np.array(numbers)).to(self.device)

    def numpy(self, result):
        assert isinstance(result, torch.Tensor) and result.device.type == self.device
        return result.cpu().numpy()


class Subclass(torch.Tensor):
    pass


class Subclasses(Torch):
    """Tensors that are described by their attributes, as all are where torch has no faster way."""

    def array(self, numbers):
        return super().array(numbers).as_subclass(Subclass)


class CuPy:
    device = "cuda"

    def __init__(self):
        self.module = pytest.importorskip("cupy")

    def array(self, numbers):
        return self.module.asarray(numbers)

    def numpy(self, result):
        assert isinstance(result, self.module.ndarray)
        return result.get()


@pytest.fixture(params=("torch-cpu", "torch-cuda", "subclass-cpu", "subclass-cuda", "cupy-cuda"))
def kind(request):
    name, device = request.param.split("-")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return CuPy() if name == "cupy" else {"torch": Torch, "subclass": Subclasses}[name](device)


def numbers(shape, dtype="float32", seed=1):
    generator = np.random.default_rng(seed)
    return (generator.integers(-99, 99, shape) / 8).astype(dtype)  # with ties


def same(kind, ours, theirs):
    for one, other in zip(ours, theirs) if isinstance(ours, tuple) else [(ours, theirs)]:
        found = kind.numpy(one)
        assert found.dtype == other.dtype and found.shape == np.shape(other) and np.array_equal(found, other)


CALLS = {
    "topk": lambda x, _: libtopk.topk(x, 7),
    "topk of a column": lambda x, _: libtopk.topk(x, 3, largest=False, dim=0),
    "topk of a transposed array": lambda x, _: libtopk.topk(x.T, 3, dim=0),
    "topk of every second": lambda x, _: libtopk.topk(x[:, ::2], 3),
    "topk beyond the end": lambda x, _: libtopk.topk(x[:, :2], 3),
    "argtopk": lambda x, _: libtopk.argtopk(x, 7, index_dtype="int32"),
    "top_k": lambda x, _: libtopk.top_k(x, 3, axis=0, mode="smallest"),
    "quantile": lambda x, _: libtopk.quantile(x, [0.1, 0.5, 0.77]),
    "quantile that is an element": lambda x, _: libtopk.quantile(x, 0.3, 0, method="nearest", keepdims=True),
    "quantile of some": lambda x, _: libtopk.quantile(x, 0.5, axis=None, method="weibull", ge=0),
    "median without NaN": lambda x, _: libtopk.median(x, 0, nan="ignore"),
    "kth": lambda x, _: libtopk.kth(x, 50, magnitude=True),
    "where": lambda x, _: libtopk.where(x, gt=9.5),
    "where with room": lambda x, _: libtopk.where(x, gt=9.5, capacity=0).offsets,
    "select_where": lambda x, _: libtopk.select_where(x, 4, between=(0, 3)),
    "count": lambda x, _: libtopk.count(x, ne=0),
    "mask": lambda x, _: libtopk.mask(x, le=-1.5),
    "truth values": lambda x, _: libtopk.where(x > 3),
    "truth values counted": lambda x, _: libtopk.count(x > 3, 0),
    "truth values as a mask": lambda x, _: libtopk.mask(x[:, ::2] > 3),
    "masked": lambda x, array: libtopk.count(x, bits=libtopk.mask(x, le=-1.5)),
    "lengths": lambda x, array: libtopk.topk(x, 3, lengths=array(np.arange(20))),
    "offsets": lambda x, array: libtopk.topk(x.ravel(), 3, offsets=array(np.array([0, 10, 10, 700, 2000], "int32"))),
    "a k for each row": lambda x, array: libtopk.topk(x, array(np.arange(20) % 5), k_max=4),
    "a list of k": lambda x, _: libtopk.topk(x, [3] * 20, k_max=4),
    "payload": lambda x, array: libtopk.topk(x, 3, indices=array(np.arange(2000).reshape(20, 100)[:, ::-1].copy())),
    "route": lambda x, array: libtopk.route(x, 4, bias=array(numbers(100)), groups=4, groups_kept=2),
}


@pytest.mark.parametrize("dtype", ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8"))
@pytest.mark.parametrize("name", CALLS)
def test_gives_what_numpy_gets(kind, name, dtype):
    if name == "route" and not dtype.startswith("float"):
        pytest.skip("experts have floating-point scores")
    x = numbers((20, 100), dtype)
    same(kind, CALLS[name](kind.array(x), kind.array), CALLS[name](x, np.asarray))


@pytest.mark.parametrize("name", ("bfloat16", "float8_e4m3fn", "float8_e5m2"))
def test_narrow_floats(kind, name):
    if not isinstance(kind, Torch):
        pytest.skip("CuPy has no such type")
    x = kind.array(numbers((20, 100))).to(getattr(torch, name))
    values, indices = libtopk.topk(x, 9)
    wide = libtopk.topk(x.to(torch.float32), 9)
    assert values.dtype == x.dtype and torch.equal(values.float(), wide.values) and torch.equal(indices, wide.indices)


def test_quantiles_of_each_float(kind):
    x = np.where(numbers((20, 100), seed=2) > 11, np.nan, numbers((20, 100)))
    for name in ("float16", "float32", "bfloat16", "float8_e4m3fn", "float8_e5m2"):
        if not isinstance(kind, Torch) and name not in ("float16", "float32"):
            continue
        tensor = torch.from_numpy(x).to(getattr(torch, name))
        exact = tensor.double().numpy()
        given = tensor.to(kind.device) if isinstance(kind, Torch) else kind.array(tensor.numpy())
        for nan in ("propagate", "ignore"):
            for options in ({}, {"method": "lower"}, {"method": "hazen", "ge": 0}):
                q = np.linspace(0, 1, 9)
                found = libtopk.quantile(given, q, nan=nan, **options)
                wanted = torch.from_numpy(libtopk.quantile(exact, q, nan=nan, **options)).to(tensor.dtype)
                found = found.cpu() if isinstance(kind, Torch) else torch.from_numpy(found.get())
                assert found.dtype == tensor.dtype
                torch.testing.assert_close(found.double(), wanted.double(), rtol=0, atol=0, equal_nan=True)


def test_writes_to_what_it_is_given(kind):
    x = numbers((20, 100))
    expected = libtopk.topk(x, 5)
    workspace = kind.array(np.zeros(libtopk.workspace_size("topk", kind.array(x), 5) + 1, "uint8"))
    for out in ((expected.values * 0, expected.indices * 0), (np.zeros((20, 9), "f4"), np.zeros((20, 9), "i4"))):
        out = tuple(kind.array(array) for array in out)
        view = tuple(array[:, :5] for array in out)
        returned = libtopk.topk(kind.array(x), 5, out=view, workspace=workspace)
        assert returned.values is view[0] and returned.indices is view[1]
        assert np.array_equal(kind.numpy(view[0]), expected.values)
        assert np.array_equal(kind.numpy(view[1]), expected.indices)


def test_accumulator(kind):
    x = numbers((3, 1000))
    whole, first, second = (libtopk.Accumulator(20, chunk_max=64) for _ in range(3))
    for begin in (300, 0, 700):
        chunk = x[:, begin:begin + 400 if begin == 300 else begin + 300]
        whole.push(kind.array(chunk), begin)
        (first if begin == 0 else second).push(kind.array(chunk), begin)
    first.merge(second)
    for result in (whole.peek(), whole.finish(), first.finish()):
        same(kind, result, libtopk.topk(x, 20))


def test_accumulators_as_bytes(kind):
    x = numbers((3, 1000))
    first, second = (libtopk.Accumulator(20) for _ in range(2))
    first.push(kind.array(x[:, :600]))
    second.push(x[:, 600:], 600)
    data = first.to_bytes()
    for like in (kind.array(x[:, :1]), x):  # to the CPU, and to a GPU
        read = libtopk.Accumulator.from_bytes(data, like, chunk_max=7)
        read.merge(libtopk.Accumulator.from_bytes(second.to_bytes(), like))
        wanted = libtopk.topk(x, 20)
        if like is x:
            assert all(np.array_equal(a, b) for a, b in zip(read.finish(), wanted))
        else:
            same(kind, pickle.loads(pickle.dumps(read)).finish(), wanted)
            same(kind, copy.copy(read).finish(), wanted)
        for bad in (data[:-1], data.replace(b"topk-acc", b"topk-acd")):
            with pytest.raises(ValueError, match="no accumulator"):
                libtopk.Accumulator.from_bytes(bad, like)


def test_chunks_without_elements(kind):
    """Where a library gives them no address, they carry no indices to see."""
    x, payload = numbers((3, 100)), np.arange(300).reshape(3, 100)
    stream = libtopk.Accumulator(20)
    for part in (slice(None), slice(0), slice(0)):
        stream.push(kind.array(x[:, part]), indices=kind.array(payload[:, part]))
    stream.push(kind.array(x[:, :0]))
    same(kind, stream.finish(), libtopk.topk(x, 20, indices=payload))


def test_arrays_of_two_devices_are_refused(kind):
    if kind.device == "cpu":
        pytest.skip("one device alone")
    x = kind.array(numbers((4, 50)))
    with pytest.raises(ValueError):
        libtopk.topk(x, 3, out=(np.zeros((4, 3), "f4"), np.zeros((4, 3), "i8")))
    with pytest.raises(ValueError):
        libtopk.topk(x, 3, context=libtopk.Context("cpu"))
    with pytest.raises(ValueError):
        libtopk.count(x, mask=np.ones((4, 50), bool))


def test_runs_on_the_current_stream(kind):
    if kind.device == "cpu":
        pytest.skip("the CPU has no streams")
    if isinstance(kind, CuPy):
        stream = kind.module.cuda.Stream(non_blocking=True)
        entered = stream
    else:
        stream = torch.cuda.Stream()
        entered = torch.cuda.stream(stream)
    x = numbers((64, 5000))
    array = kind.array(x)
    stream.synchronize()
    torch.cuda.synchronize()
    with entered:
        for _ in range(50):  # the sums are still under way when the selection is enqueued
            array += 1
        found = libtopk.topk(array, 10)
    stream.synchronize()
    expected = libtopk.topk(x + 50, 10)
    assert np.array_equal(kind.numpy(found.indices), expected.indices)


def test_captured_in_a_graph(kind):
    if kind.device == "cpu" or isinstance(kind, CuPy):
        pytest.skip("graphs of torch")
    x = kind.array(numbers((64, 256)))
    out = (torch.empty(64, 8, device="cuda"), torch.empty(64, 8, dtype=torch.int64, device="cuda"))
    workspace = torch.empty(libtopk.workspace_size("topk", x, 8), dtype=torch.uint8, device="cuda")
    libtopk.topk(x, 8, out=out, workspace=workspace)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        libtopk.topk(x, 8, out=out, workspace=workspace)
    for seed in (2, 3):
        y = numbers((64, 256), seed=seed)
        x.copy_(torch.from_numpy(y))
        graph.replay()
        torch.cuda.synchronize()
        assert np.array_equal(out[1].cpu().numpy(), libtopk.topk(y, 8).indices)


def test_a_tensor_that_is_not_aligned_is_read():
    x = torch.frombuffer(bytearray(1) + numbers(50).tobytes(), dtype=torch.float32, offset=1)
    assert x.data_ptr() % 4 != 0
    same(Torch("cpu"), libtopk.topk(x, 5), libtopk.topk(numbers(50), 5))


def test_a_tensor_with_its_sign_turned_over_is_read_and_not_written_to():
    x = torch.from_numpy(numbers((4, 50)).astype("complex64") * 1j).conj().imag
    assert x.is_neg()
    same(Torch("cpu"), libtopk.topk(x, 5), libtopk.topk(-numbers((4, 50)), 5))
    for shape in (3, 1):
        out = torch.zeros(shape, dtype=torch.complex64).conj().imag
        with pytest.raises(ValueError, match="writable"):
            libtopk.topk(torch.arange(9.0), shape, out=(out, None))
        assert not out.any()


@pytest.mark.parametrize("lengths", [
    np.array([3, 1, 2])[::-1], np.array([2, 1, 3], ">i8"), np.array([2, 1, 2**64 - 1], np.uint64),
    np.broadcast_to(np.int16(2), 3)], ids=("reversed", "big-endian", "above int64", "to be read alone"))
@pytest.mark.filterwarnings("error")
def test_integers_of_numpy_go_with_all_kinds(kind, lengths):
    x = numbers((3, 9))
    same(kind, libtopk.topk(kind.array(x), 4, lengths=lengths), libtopk.topk(x, 4, lengths=lengths))


# A list is selected from while another thread imports torch, which has its class already, but not all else.
HALF_IMPORTED = """
import sys, torch, libtopk
half = type(sys)("torch")
for name in sys.argv[1].split():
    setattr(half, name, getattr(torch, name))
sys.modules["torch"] = half
assert libtopk.argtopk([3.0, 1.0, 2.0], 2).tolist() == [0, 2]
sys.modules["torch"] = torch
values, indices = libtopk.topk(torch.tensor([3.0, 1.0, 2.0]), 2)
assert values.dtype == torch.float32 and indices.dtype == torch.int64 and indices.tolist() == [0, 2]
values.zero_()
libtopk.topk(torch.tensor([3.0, 1.0, 2.0]), 2, out=(values, indices))
assert values.tolist() == [3, 2]
"""


@pytest.mark.parametrize("names", ["Tensor", "Tensor _C", "Tensor _C autograd empty", "Tensor _C float32 uint8 empty"])
def test_a_half_imported_torch_is_asked_again(names):
    subprocess.run([sys.executable, "-c", HALF_IMPORTED, names], check=True, timeout=120)


class Odd(torch.Tensor):
    """A subclass whose new tensors are not what they are asked to be."""

    def new_empty(self, sizes, **options):
        return self.change(torch.empty(sizes, **options))


@pytest.mark.parametrize("change", [lambda new: new.int(), lambda new: new[..., :1], lambda new: new.to("meta"),
                                    lambda new: torch.empty(new.shape[::-1], dtype=new.dtype).movedim(0, -1)],
                         ids=["type", "shape", "device", "order"])
def test_new_tensors_are_looked_at(monkeypatch, change):
    monkeypatch.setattr(Odd, "change", staticmethod(change), raising=False)
    with pytest.raises(TypeError):
        libtopk.topk(torch.arange(12.0).view(3, 4).as_subclass(Odd), 2)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_refused():
    rows = [torch.arange(3.0), torch.arange(5.0)]
    for layout in (torch.strided, torch.jagged):
        with pytest.raises(TypeError, match="has no memory that can be read as rows"):
            libtopk.topk(torch.nested.nested_tensor(rows, layout=layout), 2)


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_tensors_without_memory_are_refused():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.empty(5, 6)
    zeros, x = torch._efficientzerotensor((5, 6)), torch.randn(4, 6)
    calls = [lambda array=array: libtopk.topk(array, 2) for array in (fake, fake[1:], zeros, zeros[1:])]
    calls += [lambda: libtopk.topk(x, 2, out=(fake[1:, :2], None)), lambda: libtopk.count(x, mask=fake[1:] > 0),
              lambda: libtopk.topk(x, 2, workspace=fake[1:]), lambda: libtopk.topk(x, 2, lengths=fake[1:, 0].long()),
              lambda: libtopk.Accumulator(2).push(fake[1:]),
              lambda: torch.func.functionalize(lambda t: libtopk.topk(t[1:], 2).values)(x)]
    for call in calls:
        with pytest.raises(TypeError, match="has no memory"):
            call()


def test_autograd_is_told_one_by_one_where_torch_takes_one_tensor(monkeypatch):
    increment = torch.autograd.graph.increment_version

    def one(tensor):
        if not isinstance(tensor, torch.Tensor):
            raise TypeError
        increment(tensor)

    monkeypatch.setattr(torch.autograd.graph, "increment_version", one)
    tell = _kinds.torch.tell_written()
    tensors = torch.zeros(1), torch.zeros(1)
    tell(tensors)
    assert [tensor._version for tensor in tensors] == [1, 1]


def test_autograd_knows_what_is_written_to():
    for results in ((2, None), (None, 2)):
        kept = torch.ones(2, requires_grad=True)
        factor = torch.ones(2, dtype=torch.float32 if results[0] else torch.int64)
        product = (kept * factor).sum()
        libtopk.topk(torch.arange(9.0), 2, out=tuple(size and factor for size in results))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()


def test_extents_of_torch_are_cut_not_wrapped(kind):
    if not isinstance(kind, Torch):
        pytest.skip("tensors")
    x = kind.array(numbers((3, 50)))
    great = torch.tensor([1, 2**62, 2**62], dtype=torch.int64, device=x.device)
    great = (great * 2 + great // 2**61).view(torch.uint64)  # 2, and twice 2^63 + 2
    same(kind, libtopk.topk(x, 4, lengths=great), libtopk.topk(numbers((3, 50)), 4, lengths=[2, 50, 50]))
    misaligned = torch.frombuffer(bytearray(1) + np.array([4, 0, 9]).tobytes(), dtype=torch.int64, offset=1)
    same(kind, libtopk.topk(x, 4, lengths=misaligned), libtopk.topk(numbers((3, 50)), 4, lengths=[4, 0, 9]))


def test_types_of_torch_name_the_type_of_indices(kind):
    x = kind.array(numbers((3, 50)))
    for dtype in (torch.int32, torch.int64):
        found = libtopk.topk(x, 4, index_dtype=dtype)
        assert str(found.indices.dtype).endswith(str(dtype).removeprefix("torch."))
        planned = libtopk.workspace_size("topk", x, 4, index_dtype=dtype)
        assert planned == libtopk.workspace_size("topk", x, 4, out=found)
    with pytest.raises(ValueError, match="index_dtype is 'int16', and can be"):
        libtopk.topk(x, 4, index_dtype=torch.int16)


def test_results_that_no_memory_holds():
    x = torch.ones(3, 4)
    with pytest.raises(MemoryError, match=r"no memory for values of shape \(3, 35184372088832\)"):
        libtopk.topk(x, 2**45)
    for k in (2**62, 2**63):
        with pytest.raises(OverflowError, match="more than 2|beyond 64 bits"):
            libtopk.topk(x, k)
    with pytest.raises(RuntimeError, match="made to fail"):
        libtopk.topk(x.as_subclass(Failing), 2)


class Failing(torch.Tensor):
    def new_empty(self, *sizes, **keywords):
        raise RuntimeError("made to fail")
