# SPDX-License-Identifier: Apache-2.0
"""Expanded tensors: the results of a copy, without its memory; and types that torch alone has."""
import numpy as np
import pytest

torch = pytest.importorskip("torch", minversion="2.6")
libtopk = pytest.importorskip("libtopk")

ROW = torch.arange(40, dtype=torch.float32) % 7
EXPANDED = {
    "rows": (ROW.expand(3, 40), -1), "columns": (ROW.expand(3, 40).T, 0),
    "planes": (ROW.view(1, 40).expand(2, 3, 40), -1),
    "some rows": (torch.stack([ROW, -ROW])[:, None].expand(2, 3, 40), -1), "gaps": (ROW[::2].expand(3, 20), -1),
    "one of each": (ROW[:3, None].expand(3, 40), -1), "one": (torch.tensor(2.0).expand(3, 40), -1),
    "bfloat16": (ROW.bfloat16().expand(3, 40), -1),
    "middle": (torch.tensor([[1.0], [2.0]])[..., None].expand(2, 5, 3), 1),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_results_are_those_of_a_copy(name, device):
    x, dim = EXPANDED[name]
    memory = x.as_strided([x.untyped_storage().nbytes() // x.itemsize], [1], 0).to(device)
    x = memory.as_strided(x.shape, x.stride(), x.storage_offset())
    copy = x.contiguous()
    lengths = torch.arange(x.numel() // x.shape[dim], device=device) % 5
    for call in (lambda x: libtopk.topk(x, 3, dim=dim), lambda x: libtopk.kth(x, 4, dim=dim),
                 lambda x: libtopk.topk(x, 3, dim=dim, lengths=lengths),
                 lambda x: libtopk.kth(x, 2, dim=dim, lengths=lengths),
                 lambda x: libtopk.kth(x, lengths, dim=dim, k_max=5),
                 lambda x: libtopk.select_where(x, 9, dim=dim, ge=2),
                 lambda x: libtopk.where(x, dim, gt=2), lambda x: libtopk.where(x, dim, gt=99),
                 lambda x: [libtopk.count(x, dim, ge=2)], lambda x: [libtopk.mask(x, dim, ge=2)],
                 lambda x: libtopk.route(x, 3, dim=dim)):
        for result, wanted in zip(call(x), call(copy)):
            assert result.dtype == wanted.dtype and result.device == wanted.device and torch.equal(result, wanted)
    streams = libtopk.Accumulator(3), libtopk.Accumulator(3)
    for stream, chunk in zip(streams, (x, copy)):
        stream.push(chunk.movedim(dim, -1))
        stream.push(chunk.movedim(dim, -1), ge=2)
    assert all(map(torch.equal, streams[0].finish(), streams[1].finish()))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="graphs of torch")
@pytest.mark.parametrize("name", ["rows", "columns", "planes", "some rows", "one of each", "middle"])
def test_captured_in_a_graph(name):
    x, dim = EXPANDED[name]
    memory = x.as_strided([x.untyped_storage().nbytes() // x.itemsize], [1], 0).cuda()
    shown = memory.as_strided(x.shape, x.stride(), x.storage_offset())
    calls = [lambda x: libtopk.topk(x, 2, dim=dim), lambda x: libtopk.kth(x, 2, dim=dim),
             lambda x: libtopk.select_where(x, 2, dim=dim, ge=1), lambda x: [libtopk.mask(x, dim, ge=1)],
             lambda x: libtopk.route(x, 2, dim=dim)]
    for call in calls:
        call(shown)  # what is made once is made before
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = call(shown)
        for _ in range(3):
            memory.copy_(torch.randperm(memory.numel(), device="cuda"))
            graph.replay()
            assert all(map(torch.equal, results, call(shown.contiguous())))


def test_gradients_pass_expanded_tensors():
    from libtopk.torch import topk
    row = ROW.clone().requires_grad_()
    topk(row.expand(3, 40), 2).values.sum().backward()
    wanted = ROW.clone().requires_grad_()
    topk(wanted.expand(3, 40).contiguous(), 2).values.sum().backward()
    assert torch.equal(row.grad, wanted.grad)


def test_a_row_of_one_element_of_any_length(device):
    x = torch.tensor(2.0, device=device).expand(2, 2**40)
    assert libtopk.topk(x, 2).indices.tolist() == [[0, 1]] * 2
    assert libtopk.kth(x, 5).equal.tolist() == [2**40] * 2 and libtopk.count(x, eq=2).tolist() == [2**40] * 2


@pytest.mark.parametrize("name", ["float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2", "uint4",
                                  "int4", "int1", "uint7", "complex64"])
def test_other_types_are_refused_by_name(name):
    if not hasattr(torch, name):
        pytest.skip("this torch lacks the type")
    try:
        x = torch.empty(4, dtype=getattr(torch, name))
    except (RuntimeError, NotImplementedError):
        pytest.skip("this torch makes no such tensors")
    with pytest.raises(TypeError, match=f"x is of type torch.{name}"):
        libtopk.topk(x, 1)


def test_masked_tensors_are_refused():
    masked = pytest.importorskip("torch.masked")
    x = masked.masked_tensor(torch.tensor([1.0, 2.0]), torch.tensor([True, False]))
    with pytest.raises(TypeError):
        libtopk.topk(x, 1)


def test_expanded_arrays_of_numpy_and_of_torch_are_alike():
    x = np.broadcast_to(ROW.numpy(), (3, 40))
    for result, wanted in zip(libtopk.topk(ROW.expand(3, 40), 5), libtopk.topk(x, 5)):
        assert np.array_equal(result.numpy(), wanted)
