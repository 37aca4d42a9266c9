# SPDX-License-Identifier: Apache-2.0
"""explain(), choice(), workspace_size(), and methods and knobs that are named."""
import numpy as np
import pytest

import libtopk
from backend import METHODS, ON_GPU, choice, count, explain, kth, route, select_where, topk, where, workspace_size
from oracle import all_same

X = np.random.default_rng(6).normal(size=(3, 400)).astype(np.float32)
PREDICATES = {name: {"gt": 0.5} for name in ("where", "select_where", "count", "mask")}
NEED_K = "topk", "kth", "select_where", "route"


@pytest.mark.parametrize("operation", ["topk", "kth", "where", "select_where", "count", "mask", "route"])
def test_every_operation_can_be_asked_about(operation):
    k = (5,) if operation in NEED_K else ()
    text = explain(operation, X, *k, **PREDICATES.get(operation, {}))
    assert text.isprintable() or "\n" in text
    size = workspace_size(operation, X, *k, **PREDICATES.get(operation, {}))
    chosen = choice(operation, X, *k, **PREDICATES.get(operation, {}))
    known = chosen.methods[chosen.method]
    assert known.cannot is None and known.workspace_bytes == size and known.predicted_us > 0
    assert isinstance(size, int) and size >= 0
    again = workspace_size(operation, np.zeros_like(X), *k, **PREDICATES.get(operation, {}))
    assert again == size  # it depends on no element


def test_explain_names_methods():
    text = explain("topk", X, 5)
    assert all(method in text for method in METHODS)
    assert METHODS[0] in explain("topk", X, 5, method=METHODS[0])
    assert explain("topk", X, [1, 5, 2]) == explain("topk", X, 5)


def test_choice_tells_what_explain_prints():
    text, chosen = explain("topk", X, 5), choice("topk", X, 5)
    assert list(chosen.methods) == [line.split()[0] for line in text.replace("*", " ").splitlines()
                                    if " cannot: " in line or " us predicted " in line]
    assert f"* {chosen.method} " in text
    for name, known in chosen.methods.items():
        told = f"cannot: {known.cannot}" if known.cannot else f"{known.predicted_us:.1f} us predicted"
        assert any(name in line and told in line for line in text.splitlines())
    assert known.launches > 0 if ON_GPU else all(known.launches == 0 for known in chosen.methods.values())
    assert choice("topk", X, 5, method=METHODS[0]).method == METHODS[0]
    assert choice("topk", libtopk.Shape(X.shape, "float32"), 5) == chosen
    with pytest.raises(NotImplementedError, match="nonesuch"):
        choice("topk", X, 5, tuning="nonesuch=1")


@pytest.mark.parametrize("method", METHODS)
def test_a_method_that_is_named_serves(method):
    wanted = topk(X, 5)
    size = workspace_size("topk", X, 5, method=method)
    assert all_same(topk(X, 5, method=method, workspace=np.empty(size, np.uint8)), wanted)
    assert all_same(topk(X, 5, method=method, dim=0), topk(X, 5, dim=0))


def test_a_limit_of_the_workspace_is_kept():
    size = workspace_size("topk", X, 5)
    assert workspace_size("topk", X, 5, workspace_limit=size) <= size
    assert all_same(topk(X, 5, workspace_limit=max(size, 1)), topk(X, 5))


@pytest.mark.skipif(not ON_GPU, reason="methods of the CPU have no knobs")
def test_knobs_change_no_result():
    assert all_same(topk(X, 5, method="air", tuning="alpha=4,early_stop=0"), topk(X, 5))
    with pytest.raises(NotImplementedError, match="takes alpha 4 or more"):
        topk(X, 5, method="air", tuning="alpha=3")


def test_calls_take_their_arguments_by_position_or_name():
    assert all_same(topk(X, 5, False, True, 0), topk(X, k=5, largest=False, sorted=True, dim=0))
    assert all_same(kth(X, 5, False, 0), kth(x=X, k=5, largest=False, dim=0))
    assert all_same(select_where(X, 5, False, True, 0, gt=0), select_where(X, 5, largest=False, dim=0, gt=0))
    assert np.array_equal(count(X, 0, gt=0), (X > 0).sum(axis=0))
    assert where(X, gt=0).values.size == (X > 0).sum()
    assert all_same(route(X, 3), route(X, k=3, dim=-1, score="logit", weighing="softmax", bias=None))
