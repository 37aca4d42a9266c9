# SPDX-License-Identifier: Apache-2.0
"""The operator libtopk::topk under everything that torch does to operators."""

import shutil

import pytest

torch = pytest.importorskip("torch", minversion="2.6")
pytest.importorskip("libtopk")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from libtopk import _torch_operator  # noqa: E402
from libtopk.torch import topk  # noqa: E402

operator = torch.ops.libtopk.topk.default
ARGUMENTS = (
    (2, -1, True, True, 0),
    (3, 0, False, True, 0),
    (1, 0, True, True, 0),
    (0, 1, True, False, 0),
    (2, -1, True, True, 4),
)


def values(x, k=2, dim=-1):
    return operator(x, k, dim, True, True, 0)[0]


def double(*shape, device="cpu"):
    return torch.randn(*shape, dtype=torch.float64, device=device)


def test_values_and_indices(device):
    x = torch.randn(3, 4, 5, device=device)
    for k, dim, largest, sorted, _ in ARGUMENTS:
        ours, theirs = operator(x, k, dim, largest, True, 0), torch.topk(x, k, dim, largest)
        assert torch.equal(ours[0], theirs.values) and torch.equal(ours[1], theirs.indices)
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        operator(x, 6, -1, True, True, 0)


@pytest.mark.parametrize("arguments", (*ARGUMENTS, (2, -1, True, True, 0, "position")), ids=str)
@pytest.mark.parametrize("gradient", (False, True))
def test_opcheck(device, arguments, gradient):
    torch.library.opcheck(operator, (torch.randn(4, 5, device=device, requires_grad=gradient), *arguments))


def test_opcheck_of_scalars_and_empty_tensors():
    for shape, k in (((), 1), ((), 0), ((0,), 0), ((0, 3), 2), ((3, 0), 0)):
        torch.library.opcheck(operator, (torch.randn(shape), k, -1, True, True, 0))


@pytest.mark.parametrize("dim", (0, -1))
def test_gradients_of_both_modes_and_orders(device, dim):
    x = double(4, 5, device=device).requires_grad_()
    torch.autograd.gradcheck(
        lambda x: values(x, 2, dim),
        (x,),
        check_undefined_grad=True,
        check_batched_grad=True,
        check_forward_ad=True,
        check_batched_forward_grad=True,
    )
    torch.autograd.gradgradcheck(lambda x: values(x, 2, dim).pow(3), (x,), check_fwd_over_rev=True)


def test_the_input_is_not_kept():
    x = torch.randn(4, 5, requires_grad=True)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        result = topk(x, 2)
    assert [(tensor.shape, tensor.dtype) for tensor in kept] == [((4, 2), torch.int64)]
    result.values.sum().backward()
    assert x.grad.sum() == 8


@pytest.mark.parametrize("in_dim", (0, 1, 2, -1))
def test_vmap(device, in_dim):
    x = torch.randn(3, 4, 5, device=device)
    for dim in (0, 1, -1):
        ours = torch.vmap(lambda x: topk(x, 2, dim), in_dims=in_dim, out_dims=1)(x)
        theirs = torch.vmap(lambda x: torch.topk(x, 2, dim), in_dims=in_dim, out_dims=1)(x)
        assert torch.equal(ours[0], theirs[0]) and torch.equal(ours[1], theirs[1])


def test_vmap_nested_and_of_scalars():
    x = torch.randn(3, 4, 5)
    nested = torch.vmap(torch.vmap(lambda x: topk(x, 2).values, in_dims=1), in_dims=1)(x)
    assert torch.equal(nested, torch.topk(x.permute(1, 2, 0), 2).values)
    for k in (0, 1):
        assert torch.equal(torch.vmap(lambda x: topk(x, k).values)(x[0, 0]), x[0, 0])
    for k, dim, error in ((6, -1, RuntimeError), (1, 2, IndexError), (1, -3, IndexError)):
        with pytest.raises(error):
            torch.vmap(lambda x: topk(x, k, dim))(x)
    with pytest.raises(RuntimeError):
        torch.vmap(lambda x: topk(x, 2))(x[0, 0])


def test_function_transforms():
    x = double(4, 5)

    def ours(x):
        return topk(x, 2).values.pow(3).sum()

    def theirs(x):
        return torch.topk(x, 2).values.pow(3).sum()

    func = torch.func
    for transform in (func.grad, func.hessian, func.jacfwd, func.jacrev, lambda f: torch.vmap(func.grad(f))):
        torch.testing.assert_close(transform(ours)(x), transform(theirs)(x))
    tangents = torch.rand_like(x)
    torch.testing.assert_close(func.jvp(ours, (x,), (tangents,)), func.jvp(theirs, (x,), (tangents,)))
    assert torch.equal(func.functionalize(ours)(x), theirs(x))


def test_forward_mode_alone():
    x, tangent = torch.randn(4, 5), torch.randn(4, 5)
    with torch.autograd.forward_ad.dual_level():
        result = topk(torch.autograd.forward_ad.make_dual(x, tangent), 2)
        ours = torch.autograd.forward_ad.unpack_dual(result.values).tangent
    assert torch.equal(ours, tangent.gather(-1, result.indices))


@pytest.mark.parametrize("dynamic", (False, True))
def test_compile(device, dynamic):
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda x, k: topk(x * 2, k, dim=0), fullgraph=True, dynamic=dynamic, backend=counter)
    for rows in (5, 7, 9):
        x = torch.randn(rows, 4, device=device)
        ours, theirs = compiled(x, rows - 2), torch.topk(x * 2, rows - 2, 0)
        assert type(ours) is torch.return_types.topk
        assert torch.equal(ours.values, theirs.values) and torch.equal(ours.indices, theirs.indices)
    if dynamic:
        assert counter.frame_count == 1


def test_compile_with_gradients_and_out():
    torch._dynamo.reset()
    x = torch.randn(4, 5, requires_grad=True)
    compiled = torch.compile(lambda x: topk(x, 2).values.exp().sum(), fullgraph=True, backend="aot_eager")
    ours, theirs = (torch.autograd.grad(f(x), x) for f in (compiled, lambda x: torch.topk(x, 2).values.exp().sum()))
    assert torch.equal(*ours, *theirs)
    out = torch.empty(4, 2), torch.empty(4, 2, dtype=torch.int64)
    torch.compile(lambda x, out: topk(x, 2, out=out), fullgraph=True, backend="aot_eager")(x.detach(), out)
    assert torch.equal(out[0], torch.topk(x, 2).values)


def test_compile_with_a_k_that_is_data():
    torch._dynamo.reset()

    def largest(x, k):
        return topk(x, k.item()).values

    x = torch.randn(5)
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(largest, fullgraph=True, backend="aot_eager")
        assert torch.equal(compiled(x, torch.tensor(3)), torch.topk(x, 3).values)
        with pytest.raises(RuntimeError):
            compiled(x, torch.tensor(6))


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_compile_with_inductor():
    torch._dynamo.reset()
    x = torch.randn(4, 5, requires_grad=True)
    compiled = torch.compile(lambda x: topk(x + 1, 2).values * 2, fullgraph=True)
    torch.testing.assert_close(compiled(x), torch.topk(x + 1, 2).values * 2)
    compiled(x).sum().backward()
    assert x.grad.sum() == 16


def test_export():
    class Layer(torch.nn.Module):
        def forward(self, x):
            return topk(x, 2)

    rows = torch.export.Dim("rows")
    program = torch.export.export(Layer(), (torch.randn(3, 5),), dynamic_shapes=({0: rows},))
    x = torch.randn(6, 5)
    assert torch.equal(program.module()(x)[1], torch.topk(x, 2).indices)


def test_meta_and_fake_tensors():
    for x in (torch.empty(3, 5, device="meta"), FakeTensorMode().from_tensor(torch.empty(3, 5))):
        result = topk(x, 2, 0)
        assert result.values.shape == result.indices.shape == (2, 5)
        assert result.values.dtype == torch.float32 and result.indices.dtype == torch.int64
        assert result.indices.device == x.device


def test_modes_see_the_operator():
    seen = []

    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    with Mode():
        topk(torch.randn(5), 2)
    assert operator in seen


def test_plain_tensors_skip_the_dispatcher(device):
    x = torch.randn(5, device=device)
    assert _torch_operator.is_direct(x)
    with torch.inference_mode():
        assert _torch_operator.is_direct(x) and _torch_operator.is_direct(torch.randn(5, device=device))
        assert topk(x, 2).values.is_inference()
    with torch.autocast(device):
        assert _torch_operator.is_direct(x)
    assert not _torch_operator.is_direct(torch._neg_view(x))
    assert not _torch_operator.is_direct(x.clone().requires_grad_())
    with torch.no_grad():
        assert _torch_operator.is_direct(x.clone().requires_grad_())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_graph():
    x = torch.randn(8, 1000, device="cuda")
    topk(x, 5)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = topk(x, 5)
        through = operator(x, 5, -1, True, True, 0)
    for _ in range(3):
        x.normal_()
        graph.replay()
        expected = torch.topk(x, 5)
        assert torch.equal(result.values, expected.values) and torch.equal(result.indices, expected.indices)
        assert torch.equal(through[0], expected.values) and torch.equal(through[1], expected.indices)
