# SPDX-License-Identifier: Apache-2.0
"""What counts as an array, and of which kind results are."""
import array as standard
import sys

import numpy as np
import pytest

from backend import Accumulator, argtopk, count, kth, mask, select_where, topk, where
from oracle import all_same, same

X = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]], np.float32)
WANTED = topk(X, 2)


class Exporter:
    """An array of another library; nothing is known of it but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Namespace:
    """A library of such arrays, without some types in DLPack, and without methods."""

    @staticmethod
    def from_dlpack(array):
        if array.dtype == np.int64:
            raise BufferError("not of this type")
        return Member(array)

    asarray = staticmethod(lambda array: Member(array.copy()))


class Member(Exporter):
    def __array_namespace__(self):
        return Namespace


class Convertible:
    """An array that numpy can read, by its own protocol."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


class Subclass(np.ndarray):
    pass


def same_elements(results, wanted):
    return all_same([result.array for result in results], wanted)


@pytest.mark.parametrize("x", [
    Exporter(X), Convertible(X), X.view(Subclass), X.view(np.matrix), memoryview(X),
    np.frombuffer(X.tobytes(), X.dtype).reshape(X.shape)], ids=lambda x: type(x).__name__)
def test_arrays_of_other_kinds_give_arrays_of_numpy(x):
    results = topk(x, 2)
    assert all_same(results, WANTED) and all(type(result) is np.ndarray for result in results)
    assert all_same(topk(x, 1, dim=0), topk(X, 1, dim=0))
    assert all_same(where(x, gt=2), where(X, gt=2))


@pytest.mark.parametrize("x, dtype", [
    (X.tolist(), np.float64), (tuple(map(tuple, X.tolist())), np.float64), (X.astype(int).tolist(), np.int64),
    ([X[0], X[1]], np.float32), ([2**63, 2**63 + 1], np.uint64), (range(5), np.int64),
    (standard.array("f", [2, 3]), np.float32), (2.5, np.float64), (7, np.int64), (np.float32(2.5), np.float32),
    (np.uint8(3), np.uint8), ([], np.float64)])
def test_lists_and_numbers_are_arrays(x, dtype):
    assert all_same(topk(x, 2), topk(np.array(x, dtype), 2))


@pytest.mark.parametrize("k", [np.int64(2), np.uint8(2), np.array(2), np.array(2, ">i2")], ids=repr)
def test_k_is_one_number_of_any_kind(k):
    assert all_same(topk(X, k), WANTED) and all_same(kth(X, k), kth(X, 2))


def test_results_come_back_through_the_namespace():
    x = Member(X)
    assert same_elements(topk(x, 2), WANTED)
    assert same_elements(kth(x, 2), kth(X, 2))
    assert same_elements(select_where(x, 2, lt=4), select_where(X, 2, lt=4))
    assert same_elements(where(x, gt=2), where(X, gt=2))
    assert same_elements([argtopk(x, 2), count(x, gt=2), mask(x, gt=2)], [WANTED[1], count(X, gt=2), mask(X, gt=2)])
    out = np.zeros((2, 2), np.float32), np.zeros((2, 2), np.int64)
    wide = np.zeros((2, 4), np.float32)
    gaps = Member(wide[:, ::2])
    if np.from_dlpack(wide).flags.writeable:  # since numpy 2
        assert topk(x, 2, out=(gaps, None))[0] is gaps and same(wide[:, ::2], WANTED[0]) and not wide[:, 1::2].any()
    references = sys.getrefcount(Namespace)
    assert topk(x, 2, out=out)[0] is out[0] and all_same(out, WANTED)
    assert same_elements(topk(x, 2), WANTED)
    assert sys.getrefcount(Namespace) == references


def test_a_field_of_one_record_is_an_array():
    records = np.zeros(1, [("x", np.float32, 5), ("length", np.int64), ("odd", np.uint8)])  # strides of half elements
    records["x"], records["length"] = X[0], 3
    assert all_same(topk(records["x"], 2), topk(X[:1], 2))
    assert all_same(topk(records["x"], 4, lengths=records["length"]), topk(X[:1], 4, lengths=[3]))


def test_companions_may_be_of_another_kind():
    payload = np.arange(10).reshape(X.shape)
    flags = np.array(X > 2, np.uint8)
    for kind in (Exporter, Member, Convertible, lambda array: array.tolist()):
        assert all_same(topk(X, 2, indices=kind(payload)), topk(X, 2, indices=payload))
        assert all_same(topk(X, kind(np.array([1, 2]))), topk(X, [1, 2]))
        assert same(count(X, gt=1, lengths=kind(np.array([1, 2]))), count(X, gt=1, lengths=[1, 2]))
        assert all_same(topk(X[0], 2, offsets=kind(np.array([0, 2, 5]))), topk(X[0], 2, offsets=[0, 2, 5]))
    for kind in (Exporter, Member, Convertible):
        assert all_same(where(X, mask=kind(flags)), where(X, gt=2))
        assert all_same(where(X, bits=kind(mask(X, gt=2))), where(X, gt=2))
    assert all_same(where(X, mask=(X > 2).tolist()), where(X, gt=2))


def test_streams_may_be_of_another_kind():
    stream, other = Accumulator(2), Accumulator(2)
    stream.push(Member(X[:, :3]), lengths=Exporter(np.array([3, 3], np.uint8)), mask=Convertible(X[:, :3] > 0))
    other.merge(stream)
    other.push(Member(X[:, 3:]))
    assert same_elements(other.peek(), WANTED) and same_elements(other.finish(), WANTED)
    stream.finish()
    stream.push(X.tolist())
    assert all_same(stream.finish(), topk(X.astype(np.float64), 2))


@pytest.mark.parametrize("x", [None, object(), "text", b"bytes", {}, {1, 2}, len, [None], [object()], ["a"], 1j,
                               (x for x in [1.0]), Convertible(np.array([None]))])
def test_no_arrays(x):
    with pytest.raises(TypeError):
        topk(x, 1)
    with pytest.raises(TypeError):
        topk(X, x)
    for name in ("indices", "lengths") if x is not None else ():
        with pytest.raises((TypeError, ValueError)):
            topk(X, 1, **{name: x})


@pytest.mark.parametrize("x, error", [([[1, 2], [3]], (TypeError, ValueError)), ([2**70], OverflowError)])
def test_lists_that_make_no_array(x, error):
    with pytest.raises(error):
        topk(x, 1)


@pytest.mark.parametrize("module", ["torch", "cupy"])
def test_a_library_that_cannot_be_imported_does_not_matter(module, monkeypatch):
    if getattr(sys.modules.get(module), "__file__", None):
        pytest.skip(f"{module} has been imported")
    for fake in (None, type(sys)(module)):
        monkeypatch.setitem(sys.modules, module, fake)
        assert all_same(topk(X, 2), WANTED) and all_same(topk(Exporter(X), 2), WANTED)


def test_inputs_are_never_written():
    inputs = {"x": X.copy(), "k": np.array([1, 2]), "lengths": np.array([9, -1], np.int16), "mask": X > 2,
              "indices": np.arange(10).reshape(2, 5)}
    before = {name: array.copy() for name, array in inputs.items()}
    select_where(inputs["x"], inputs["k"], mask=inputs["mask"], indices=inputs["indices"], lengths=inputs["lengths"])
    stream = Accumulator(2, chunk_max=2)
    stream.push(inputs["x"], mask=inputs["mask"], k=inputs["k"], indices=inputs["indices"], lengths=inputs["lengths"])
    stream.finish()
    assert all(same(inputs[name], before[name]) for name in inputs)
    for array in inputs.values():
        array.flags.writeable = False
    assert topk(inputs["x"], inputs["k"], indices=inputs["indices"], lengths=inputs["lengths"]).indices[1, 0] == -1
