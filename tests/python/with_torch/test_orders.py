# SPDX-License-Identifier: Apache-2.0
"""kthvalue(), median() and quantile() against torch's: results, gradients, transforms and the types of errors."""
import math

import pytest

torch = pytest.importorskip("torch", minversion="2.6")
pytest.importorskip("libtopk")

import libtopk.torch as ours  # noqa: E402

SHAPES = ((), (1,), (7,), (3, 5), (2, 3, 4), (3, 0), (0, 3), (2, 0, 3))
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int64, torch.uint8)
INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def distinct(*shape, device="cpu", dtype=torch.float32):
    return torch.randperm(math.prod(shape)).reshape(shape).to(device, dtype)


def assert_same(mine, theirs, tolerance=0):
    assert type(mine) is type(theirs)
    for one, other in zip(mine, theirs) if isinstance(mine, tuple) else [(mine, theirs)]:
        assert one.device == other.device
        torch.testing.assert_close(one, other, rtol=tolerance, atol=0, equal_nan=True)


def outcome(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except (IndexError, RuntimeError) as error:
        return type(error)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_dimension_and_k(device, shape):
    x = distinct(*shape, device=device)
    for dim in (*range(-len(shape) or -1, len(shape) or 1), len(shape) + 1):
        for keepdim in (False, True):
            arguments = [(name, (k, dim, keepdim)) for name in ("kthvalue",) for k in range(7)]
            for name, given in (*arguments, ("median", (dim, keepdim))):
                mine = outcome(getattr(ours, name), x, *given)
                theirs = outcome(getattr(torch, name), x, *given)
                if isinstance(theirs, type) or isinstance(mine, type):
                    assert mine is theirs, (name, given, mine, theirs)
                else:
                    assert_same(mine, theirs)
    assert_same(ours.median(x), torch.median(x))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(device, dtype):
    x = distinct(5, 20, device=device, dtype=dtype)
    assert_same(ours.kthvalue(x, 7), torch.kthvalue(x, 7))
    assert_same(ours.median(x, 0), torch.median(x, 0))
    assert_same(ours.median(x), torch.median(x))


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_quantiles(device, interpolation):
    for shape in (shape for shape in SHAPES if 0 not in shape):
        for dtype in (torch.float32, torch.float64):
            x = distinct(*shape, device=device, dtype=dtype)
            qs = torch.tensor([0, 0.25, 0.5, 0.9, 1], dtype=dtype, device=device)
            for q in (0.3, 0.5, qs[1], qs):
                for dim in (None, *range(-len(shape) or -1, len(shape) or 1)):
                    for keepdim in (False, True):
                        mine = ours.quantile(x, q, dim, keepdim, interpolation=interpolation)
                        theirs = torch.quantile(x, q, dim, keepdim, interpolation=interpolation)
                        assert_same(mine, theirs, 1e-6 if dtype == torch.float32 else 1e-14)


@pytest.mark.parametrize("shape, dim", (((9000,), 0), ((3, 7000), 1), ((6000, 3), 0), ((2, 5000, 2), 1)), ids=str)
def test_quantiles_of_long_rows_are_what_each_is_alone(device, shape, dim):
    """With NaN in one row; its gradient, too, where several quantiles are the same element."""
    x = distinct(*shape, device=device, dtype=torch.float64)
    if len(shape) > 1:
        x[(0,) * dim + (17, *[0] * (x.dim() - dim - 1))] = math.nan
    x.requires_grad_()
    qs = torch.tensor([0.5, 0, 0.123, 0.5, 1, 0.12301], dtype=x.dtype, device=device)
    for interpolation in INTERPOLATIONS:
        together = ours.quantile(x, qs, dim, interpolation=interpolation)
        alone = torch.stack([ours.quantile(x, q, dim, interpolation=interpolation) for q in qs])
        assert_same(together, alone)
        weights = torch.rand_like(alone)
        mine, theirs = (torch.autograd.grad((found * weights).sum(), x)[0] for found in (together, alone))
        assert_same(mine, theirs, 1e-14)


def test_quantiles_share_a_call(monkeypatch):
    ks = []
    monkeypatch.setattr(ours._orders._api, "kth", lambda x, k, *more, kth=ours._orders._api.kth: ks.append(k) or kth(x, k, *more))
    ours.quantile(distinct(2, 50), torch.tensor([0.1, 0.2, 0.31]), 1)
    assert len(ks) == 2 and sorted(ks[0].flatten().tolist()) == [5, 6, 10, 11, 16, 17] and ks[1] == 50  # which tells of NaN


def test_no_quantiles(device):
    x, q = distinct(3, 5, device=device), torch.empty(0, device=device)
    for dim in (None, 0, 1):
        for keepdim in (False, True):
            assert_same(ours.quantile(x, q, dim, keepdim), torch.quantile(x, q, dim, keepdim))


def test_nan_and_infinities(device):
    nan, inf = math.nan, math.inf
    x = torch.tensor([[1, nan, 0, nan], [inf, 2, -inf, 3], [1, 1, 1, nan]], device=device)
    for k in range(1, 5):
        mine, theirs = ours.kthvalue(x, k), torch.kthvalue(x, k)
        assert_same(mine.values, theirs.values)
        assert_same(x.gather(1, mine.indices[:, None])[:, 0], theirs.values)
    assert ours.kthvalue(x, 3).indices.tolist() == [1, 3, 0] and ours.kthvalue(x, 4).indices.tolist() == [1, 0, 3]
    assert ours.median(x, 1).indices.tolist() == [1, 1, 3]
    assert_same(ours.median(x, 1).values, torch.median(x, 1).values)
    assert_same(ours.median(x), torch.median(x))
    for q in (0.0, 0.3, 0.5, 1.0):
        assert_same(ours.quantile(x, q, 1)[[0, 2]], torch.full((2,), nan, device=device))
    assert ours.quantile(torch.tensor([inf, inf, 1], device=device), 0.75).item() == inf  # torch says nan


def test_ties_take_the_lowest_index(device):
    x = torch.tensor([1.0, 2, 1, 2, 0.0, -0.0, 1], device=device)
    assert [ours.kthvalue(x, k).indices.item() for k in range(1, 8)] == [4, 4, 0, 0, 0, 1, 1]
    assert math.copysign(1, ours.kthvalue(torch.tensor([5, -0.0]), 1).values) == -1
    big = torch.tensor([2**53 + 1, 2**53, 2**53 + 2], device=device)
    assert ours.median(big).item() == 2**53 + 1 and ours.kthvalue(big, 1).indices == 1


FUNCTIONS = {
    "kthvalue": lambda module, x: module.kthvalue(x, 3, 1).values,
    "kthvalue of a column": lambda module, x: module.kthvalue(x, 1, 0, True)[0],
    "median": lambda module, x: module.median(x, 1).values,
    "median of all": lambda module, x: module.median(x),
    "quantile": lambda module, x: module.quantile(x, 0.3, 1),
    "quantiles": lambda module, x: module.quantile(x, torch.tensor([0.1, 0.6], dtype=x.dtype, device=x.device), 0),
    "quantile of all": lambda module, x: module.quantile(x, 0.71, interpolation="midpoint"),
}
functions = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@functions
def test_gradients(device, function):
    x = distinct(4, 6, device=device, dtype=torch.float64).requires_grad_()
    weights = torch.rand_like(function(torch, x))
    mine, theirs = (torch.autograd.grad((function(module, x) * weights).sum(), x)[0] for module in (ours, torch))
    assert_same(mine, theirs, 1e-14)
    assert torch.autograd.gradcheck(lambda x: function(ours, x), x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x: function(ours, x) ** 2, x)


@functions
def test_transforms(device, function):
    x = distinct(3, 4, 6, device=device, dtype=torch.float64)
    assert_same(torch.vmap(lambda x: function(ours, x))(x), torch.stack([function(torch, each) for each in x]), 1e-14)
    tangent = torch.rand_like(x[0])
    mine, theirs = (torch.func.jvp(lambda x: function(module, x), (x[0],), (tangent,)) for module in (ours, torch))
    assert_same(mine, theirs, 1e-14)
    assert_same(torch.func.jacrev(lambda x: function(ours, x))(x[0]), torch.func.jacrev(lambda x: function(
        torch, x))(x[0]), 1e-14)


def test_tied_elements_share_the_gradient_of_the_median_of_all(device):
    x = torch.tensor([1.0, 2, 2, 3], device=device, requires_grad=True)
    ours.median(x).backward()
    assert x.grad.tolist() == [0, 0.5, 0.5, 0]
    x = torch.tensor([1, math.nan, math.nan], device=device, requires_grad=True)
    ours.median(x).backward()
    assert x.grad.tolist() == [0, 0.5, 0.5]


def test_out(device):
    x = distinct(3, 5, device=device)
    values, indices = torch.empty(0, device=device), torch.empty(0, dtype=torch.int64, device=device)
    assert ours.kthvalue(x, 2, out=(values, indices)).values is values
    assert_same((values, indices), tuple(torch.kthvalue(x, 2)))
    assert ours.quantile(x, 0.5, 1, out=values) is values
    assert_same(values, torch.quantile(x, 0.5, 1))
    with pytest.warns(UserWarning, match="resized"):
        ours.median(x, out=(torch.empty(2, device=device), indices), dim=0)
    for out in ((indices, indices), (values, values)):
        with pytest.raises(RuntimeError, match="dtype"):
            ours.median(x, 1, out=out)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        ours.kthvalue(x.requires_grad_(), 2, out=(values, indices))


def test_errors(device):
    x = distinct(3, 5, device=device)
    for name, given in (("quantile", (1.5,)), ("quantile", (torch.zeros(1, 1, device=device),)),
                        ("quantile", (torch.zeros(1, dtype=torch.float64, device=device),)), ("quantile", (0.5, 2)),
                        ("kthvalue", (6,)), ("median", (2,))):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            getattr(torch, name)(x, *given)
        with pytest.raises(caught.type):
            getattr(ours, name)(x, *given)
    for error, words, call in (
            (TypeError, "'k' must be int, not float", lambda: ours.kthvalue(x, 1.0)),
            (TypeError, r"^kthvalue\(\): argument 'dim' must be int, not str", lambda: ours.kthvalue(x, 1, "0")),
            (TypeError, r"^quantile\(\): argument 'dim' must be int, not bool", lambda: ours.quantile(x, 0.5, True)),
            (TypeError, "'q' must be Tensor or float, not list", lambda: ours.quantile(x, [0.5])),
            (TypeError, "keepdim and out go with dim", lambda: ours.median(x, keepdim=True)),
            (TypeError, "keepdim and out go with dim", lambda: ours.median(x, out=x)),
            (TypeError, "'out' must have 2 elements, not 1", lambda: ours.kthvalue(x, 1, out=(x,))),
            (TypeError, "'out' must be tuple of Tensors, not Tensor", lambda: ours.kthvalue(x, 1, out=x)),
            (TypeError, "'out' must be tuple of Tensors, not of NoneType", lambda: ours.median(x, 1, out=(None, None))),
            (TypeError, "^median does not support 8-bit", lambda: ours.median(x.to(torch.float8_e5m2), 1)),
            (RuntimeError, "non-empty", lambda: ours.quantile(x[:, :0], 0.5, 0))):
        with pytest.raises(error, match=words):
            call()
    with pytest.raises(RuntimeError, match="interpolation"):
        ours.quantile(x, 0.5, interpolation="cubic")
    for name in ("kthvalue", "median", "quantile"):
        with pytest.raises(TypeError, match="bool"):
            getattr(ours, name)(x > 1, 1)
        with pytest.raises(TypeError, match="must be Tensor"):
            getattr(ours, name)([1.0], 1)
    with pytest.raises(RuntimeError, match="integer"):
        ours.median(torch.zeros(0, dtype=torch.int64))


class Model(torch.nn.Module):
    def forward(self, x):
        return ours.kthvalue(x, 3).values + ours.median(x, 1).values + ours.quantile(x, 0.3, 1) + ours.median(x)


def test_graphs(device):
    x = distinct(4, 6, device=device)
    wanted = Model()(x)
    traced = torch.fx.symbolic_trace(Model())
    assert_same(traced(x), wanted)
    assert_same(torch.compile(Model(), backend="eager", fullgraph=True)(x), wanted)
    assert_same(torch.export.export(Model(), (x,)).module()(x), wanted)
    assert_same(torch.jit.trace(Model(), (x,))(x.flip(1)), Model()(x.flip(1)))
    torch.library.opcheck(torch.ops.libtopk.argkth.default, (x, 2, 1, True))
    torch.library.opcheck(torch.ops.libtopk.argkths.default, (x, [4, 1, 2], 0, True))
