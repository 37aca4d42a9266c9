# SPDX-License-Identifier: Apache-2.0
"""topk() against torch.topk: results where elements are distinct, and the types of errors."""

import math

import pytest

numpy = pytest.importorskip("numpy")
# Without a version, a folder called torch would do.
torch = pytest.importorskip("torch", minversion="2.6")
pytest.importorskip("libtopk")

from libtopk.torch import topk  # noqa: E402

SHAPES = ((), (1,), (7,), (3, 5), (2, 3, 4), (2, 1, 3, 2), (0,), (3, 0), (0, 3), (2, 0, 3))
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
ONLY_OURS = (torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16, torch.uint32, torch.uint64)


def distinct(*shape, device="cpu", dtype=torch.float32):
    """A tensor of distinct small integers in random order: all dtypes hold 0 to 7 exactly, those of torch 0 to 127."""
    return torch.randperm(math.prod(shape)).reshape(shape).to(device, dtype)


def assert_same(ours, theirs):
    assert type(ours) is type(theirs)
    for mine, other in zip(ours, theirs):
        assert mine.dtype == other.dtype and mine.device == other.device
        assert mine.is_contiguous()
        torch.testing.assert_close(mine, other, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("largest", (True, False))
def test_every_dimension_and_k(device, shape, largest):
    x = distinct(*shape, device=device)
    for dim in range(-len(shape), len(shape)) or (-1, 0):
        for k in range((shape[dim] if shape else 1) + 1):
            # On CUDA torch.topk leaves its results unset for a tensor without dimensions and k = 0.
            assert_same(topk(x, k, dim, largest), torch.topk(x, k if shape else 1, dim, largest))


def test_arguments_by_name_and_by_default():
    x = distinct(3, 5)
    assert_same(topk(x, 2), torch.topk(x, 2))
    assert_same(topk(x, 2, None), torch.topk(x, 2, -1))
    assert_same(topk(input=x, k=2, dim=0, largest=False, sorted=True, out=None), torch.topk(x, 2, 0, False))
    assert_same(topk(x, torch.tensor(2), torch.tensor(0)), torch.topk(x, 2, 0))
    assert_same(topk(x, numpy.int32(2)), torch.topk(x, 2))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
def test_dtypes(device, dtype):
    x = distinct(5, 20, device=device, dtype=dtype)
    for largest in (True, False):
        assert_same(topk(x, 7, largest=largest), torch.topk(x, 7, largest=largest))


@pytest.mark.parametrize("dtype", ONLY_OURS, ids=str)
def test_dtypes_that_torch_does_not_take(device, dtype):
    x = torch.stack([distinct(8, device=device) for _ in range(4)])
    ours, theirs = topk(x.to(dtype), 3), torch.topk(x, 3)
    assert ours.values.dtype == dtype
    assert_same(torch.return_types.topk((ours.values.float(), ours.indices)), theirs)


def layouts(x):
    yield "transposed", x.transpose(0, 2)
    yield "every other", x[:, ::2, 1::2]
    yield "expanded", x[:, :1, :].expand(-1, 4, -1)
    yield "offset", x[1:, 1:, 1:]
    yield "flipped", x.flip(1)
    yield "channels last", x[None].contiguous(memory_format=torch.channels_last)
    yield "negative view", torch._neg_view(x)


def test_layouts(device):
    for name, x in layouts(distinct(4, 4, 6, device=device)):
        for dim in range(x.dim()):
            if x.stride(dim):
                k = min(2, x.shape[dim])
                ours, theirs = topk(x, k, dim), torch.topk(x, k, dim)
                assert torch.equal(ours.values, theirs.values) and torch.equal(ours.indices, theirs.indices), name


def test_ties_take_the_lowest_indices(device):
    x = torch.tensor([1.0, 2, 1, 2, 0.0, -0.0, 1], device=device)
    assert topk(x, 4).indices.tolist() == [1, 3, 0, 2]
    assert topk(x, 3, largest=False).indices.tolist() == [4, 5, 0]
    assert math.copysign(1, topk(x, 2, largest=False).values[1]) == -1


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_and_infinities(device, dtype):
    x = torch.tensor([1, math.inf, math.nan, -math.inf, 2], device=device, dtype=dtype)
    for k in range(6):
        for largest in (True, False):
            assert_same(topk(x, k, largest=largest), torch.topk(x, k, largest=largest))


def test_unsorted_results_are_the_same_set(device):
    x = distinct(3, 50, device=device)
    ours, theirs = topk(x, 20, sorted=False), torch.topk(x, 20)
    assert torch.equal(ours.indices.sort().values, theirs.indices.sort().values)
    assert torch.equal(x.gather(-1, ours.indices), ours.values)


def test_results_by_position(device):
    x = distinct(3, 50, device=device)
    ours, theirs = topk(x, 20, order="position"), torch.topk(x, 20)
    assert torch.equal(ours.indices, theirs.indices.sort().values)
    assert torch.equal(x.gather(-1, ours.indices), ours.values)
    out = torch.empty(3, 20, device=device), torch.empty(3, 20, dtype=torch.int64, device=device)
    topk(x, 20, order="position", out=out)
    assert torch.equal(out[1], ours.indices)
    leaf = x.clone().requires_grad_()
    topk(leaf, 20, order="position").values.sum().backward()
    assert torch.equal(leaf.grad, torch.zeros_like(x).scatter(-1, ours.indices, 1))
    with pytest.raises(ValueError, match="'order' must be"):
        topk(x, 20, order="first")


def floats(*shape, **options):
    return torch.empty(*shape, **options)


def integers(*shape, **options):
    return torch.empty(*shape, **{"dtype": torch.int64, **options})


X = distinct(3, 5)
LEAF = torch.zeros(3, 5, requires_grad=True)
WRONG = {
    "no tensor": (lambda f: f([1, 2], 1)),
    "k is a float": (lambda f: f(X, 2.0)),
    "k is a bool": (lambda f: f(X, True)),
    "k is None": (lambda f: f(X, None)),
    "dim is a float": (lambda f: f(X, 2, 1.0)),
    "largest is an int": (lambda f: f(X, 2, 1, 1)),
    "sorted is None": (lambda f: f(X, 2, 1, True, None)),
    "k is missing": (lambda f: f(X)),
    "k too large": (lambda f: f(X, 6)),
    "k negative": (lambda f: f(X, -1)),
    "k too large for a scalar": (lambda f: f(torch.tensor(1.0), 2)),
    "k too large for no row": (lambda f: f(torch.empty(0, 3), 4)),
    "k too large on meta": (lambda f: f(X.to("meta"), 6)),
    "dim too large": (lambda f: f(X, 1, 2)),
    "dim too small": (lambda f: f(X, 1, -3)),
    "dim and k": (lambda f: f(X, 9, 9)),
    "dim and a negative k": (lambda f: f(X, -1, 9)),
    "dim of a scalar": (lambda f: f(torch.tensor(1.0), 1, 1)),
    "bool": (lambda f: f(X > 2, 1)),
    "complex": (lambda f: f(X.to(torch.complex64), 1)),
    "sparse": (lambda f: f(X.to_sparse(), 1)),
    "out is a tensor": (lambda f: f(X, 2, out=floats(3, 2))),
    "out has one": (lambda f: f(X, 2, out=(floats(3, 2),))),
    "out has three": (lambda f: f(X, 2, out=(floats(3, 2), integers(3, 2), integers(3, 2)))),
    "out has None": (lambda f: f(X, 2, out=(None, None))),
    "out of float64": (lambda f: f(X, 2, out=(floats(3, 2, dtype=torch.float64), integers(3, 2)))),
    "out of int32": (lambda f: f(X, 2, out=(floats(3, 2), integers(3, 2, dtype=torch.int32)))),
    "out on meta": (lambda f: f(X, 2, out=(floats(3, 2, device="meta"), integers(3, 2)))),
    "out expanded": (lambda f: f(X, 2, out=(floats(1, 2).expand(3, 2), integers(3, 2)))),
    "out and a gradient": (lambda f: f(LEAF, 2, out=(floats(3, 2), integers(3, 2)))),
    "out that has a gradient": (lambda f: f(X, 2, out=(floats(3, 2, requires_grad=True), integers(3, 2)))),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_errors_have_the_types_of_torch(call):
    with pytest.raises(Exception) as theirs:
        call(torch.topk)
    with pytest.raises(theirs.type):
        call(topk)


def test_axis_is_a_name_of_dim():
    for axis in (0, -1):
        assert all(map(torch.equal, topk(X, 2, axis=axis), torch.topk(X, 2, axis=axis)))
    for call in (topk, torch.topk):
        with pytest.raises(TypeError):
            call(X, 2, dim=0, axis=0)


def test_symbols_are_traced(device):
    def model(x):
        values, indices = topk(x, 2, 0, largest=False)
        return values + indices

    traced, x = torch.fx.symbolic_trace(model), distinct(4, 5, device=device)
    assert torch.equal(traced(x), model(x)) and "libtopk" in traced.code
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        topk([1.0, 2.0], 1)


def test_errors_on_a_device(device):
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        topk(X.to(device), 6)
    for unsupported in (X.to(device) > 2, X.to(device, torch.complex64)):
        for error in (NotImplementedError, TypeError):
            with pytest.raises(error, match="does not support"):
                topk(unsupported, 1)


def test_out(device):
    x = distinct(3, 5, device=device)
    expected = torch.topk(x, 2)
    out = floats(3, 2, device=device), integers(3, 2, device=device)
    result = topk(x, 2, out=out)
    assert type(result) is torch.return_types.topk_out
    assert result.values is out[0] and result.indices is out[1]
    assert torch.equal(out[0], expected.values) and torch.equal(out[1], expected.indices)
    for other in (
        [floats(2, 3, device=device).t(), integers(2, 3, device=device).t()],
        (floats(0, device=device), integers(0, device=device)),
    ):
        result = topk(x, 2, out=other)
        assert torch.equal(result.values, expected.values) and torch.equal(result.indices, expected.indices)
    topk(x, 2, out=(x[:, 1:3], integers(3, 2, device=device)))
    assert torch.equal(x[:, 1:3], expected.values)


def test_out_is_resized_with_a_warning():
    out = floats(4), integers(3, 2)
    with pytest.warns(UserWarning, match="resized"):
        topk(X, 2, out=out)
    assert torch.equal(out[0], torch.topk(X, 2).values) and out[1].shape == (3, 2)
    scalar = floats(()), integers(())
    assert topk(torch.tensor(3.0), 0, out=scalar).values.item() == 3


def test_out_of_inference_mode():
    with torch.inference_mode():
        out = torch.empty(4, 2), torch.empty(4, 2, dtype=torch.int64)
        topk(torch.randn(4, 6), 2, out=out)
    for call in (torch.topk, topk):
        with pytest.raises(RuntimeError, match="[Ii]nference"):
            call(torch.randn(4, 6), 2, out=out)


def test_out_without_gradients_and_its_version():
    values, indices = floats(3, 2), integers(3, 2)
    with torch.no_grad():
        topk(LEAF, 2, out=(values, indices))
    factor = torch.ones(3, 2, requires_grad=True)
    product = factor * values
    topk(X, 2, out=(values, indices))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


@pytest.mark.parametrize("dim", (0, 1, -1))
def test_gradients_equal_those_of_torch(device, dim):
    x = distinct(4, 5, device=device, dtype=torch.float64)
    weights = torch.rand_like(torch.topk(x, 3, dim).values)
    gradients = []
    for function in (topk, torch.topk):
        leaf = x.clone().requires_grad_()
        result = function(leaf, 3, dim)
        assert result.values.requires_grad and not result.indices.requires_grad
        (result.values.exp() * weights).sum().backward()
        gradients.append(leaf.grad)
    assert torch.equal(*gradients)


def test_gradient_of_a_scalar():
    leaf = torch.tensor(2.0, requires_grad=True)
    topk(leaf, 1).values.backward()
    assert leaf.grad == 1


def test_subclasses_and_parameters():
    class Mine(torch.Tensor):
        pass

    assert type(topk(X.as_subclass(Mine), 2).values) is Mine
    assert type(topk(torch.nn.Parameter(X), 2).values) is torch.Tensor
