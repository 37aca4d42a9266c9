# SPDX-License-Identifier: Apache-2.0
"""Python's lock is released during calls, contexts serve many threads, and children of fork() work."""
import copy
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import libtopk
from backend import ON_GPU, Accumulator, context, few, kth, topk, where
from oracle import all_same


@pytest.fixture
def patient_switching():
    """A thread that waits for Python's lock gets it when another one releases it, and not before."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("call", [lambda x: topk(x, 50), lambda x: kth(x, 50), lambda x: where(x, gt=0, capacity=9)],
                         ids=["topk", "kth", "where"])
def test_other_threads_run_during_a_call(call, patient_switching):
    steps, ended = [0], []

    def step():
        while not ended:
            steps[0] += 1
            time.sleep(0)  # releases the lock

    x = np.random.default_rng(1).normal(size=few(8_000_000, 3000)).astype(np.float32)
    thread = threading.Thread(target=step)
    thread.start()
    try:
        before, deadline = steps[0], time.monotonic() + 60
        while steps[0] == before and time.monotonic() < deadline:  # a busy machine may let it sleep through some
            before = steps[0]
            call(x)
        assert steps[0] > before
    finally:
        ended.append(True)
        thread.join()


@pytest.mark.parametrize("shared", [None, context], ids=["default", "own"])
def test_threads_share_a_context(shared):
    start = threading.Barrier(8)

    def work(seed):
        random = np.random.default_rng(seed)
        start.wait()
        for _ in range(few(20, 3)):
            x = random.integers(-99, 99, (3, random.integers(1, few(20000, 300)))).astype(np.float32)
            k = int(random.integers(1, 30))
            order = np.argsort(-x, axis=1, kind="stable")[:, :k]
            _, indices = libtopk.topk(x, k, context=shared)
            if not np.array_equal(indices[:, :order.shape[1]], order):
                return False
            matches = np.concatenate([np.flatnonzero(row > 50) for row in x])
            if not np.array_equal(libtopk.where(x, gt=50, context=shared).indices, matches):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_threads_have_contexts_of_their_own():
    x = np.random.default_rng(2).normal(size=(4, few(50000, 500)))
    wanted = libtopk.topk(x, 9)

    def work(threads):
        for _ in range(5):
            own = libtopk.Context("cpu", threads=threads, seed=threads)
            if not all_same(libtopk.topk(x, 9, context=own), wanted):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(1, 5)))


def test_threads_have_streams_of_their_own():
    x = np.random.default_rng(3).normal(size=(4, 600)).astype(np.float32)
    wanted = topk(x, 9)

    def work(step):
        stream = Accumulator(9, chunk_max=step)
        for begin in range(0, 600, 200):
            stream.push(x[:, begin:begin + 200])
        return all_same(stream.finish(), wanted)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, [200, 100, 70, 50]))


def test_threads_take_turns_with_a_stream():
    x = np.random.default_rng(6).normal(size=(2, few(64000, 640))).astype(np.float32)
    step = x.shape[1] // 8
    one, other = Accumulator(few(300, 9), chunk_max=step // 4), Accumulator(few(300, 9), chunk_max=step // 4)

    def work(i):
        (one if i % 2 else other).push(x[:, i * step:(i + 1) * step], base=i * step)
        return one.peek().values.shape == x[:, :few(300, 9)].shape if i else one.merge(libtopk.Accumulator(1)) is None

    one.push(x[:, :0])
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    with ThreadPoolExecutor(2) as pool:  # each into the other: neither waits for ever
        empty = [Accumulator(3, chunk_max=9) for _ in range(2)]
        empty[0].push(x[:, :0]), empty[1].push(x[:, :0])
        list(pool.map(lambda i: [empty[i].merge(empty[1 - i]) for _ in range(50)], range(2)))
    one.merge(other)
    assert all_same(one.finish(), topk(x, few(300, 9)))


def in_child(work, seconds=60):
    """Whether work() is true in a child process, within a time."""
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(seconds)
            os._exit(0 if work() else 1)
        except BaseException:
            traceback.print_exc()
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(ON_GPU, reason="a GPU's context does not outlive fork()")
def test_children_of_fork_work():
    x = np.random.default_rng(4).normal(size=(8, 100000))
    wanted = libtopk.topk(x, 20)
    parents = [libtopk.Context("cpu", threads=3)]
    assert all_same(libtopk.topk(x, 20, context=parents[0]), wanted)

    def work():
        works = all_same(libtopk.topk(x, 20), wanted) and all_same(libtopk.topk(x, 20, context=parents[0]), wanted)
        own = libtopk.Context("cpu", threads=2)
        works = works and all_same(libtopk.topk(x, 20, context=own), wanted)
        del own
        parents.clear()
        gc.collect()
        return works

    assert in_child(work) and in_child(work)
    assert all_same(libtopk.topk(x, 20, context=parents[0]), wanted)


class Chunk(np.ndarray):
    """Has another thread fork while it is pushed, with the accumulator's lock held: `fork` is called once."""

    fork = None

    @property
    def shape(self):
        if threading.current_thread() is not threading.main_thread() and self.fork is not None:
            fork, self.fork = self.fork, None
            fork()
        return super().shape


def fork_amid_a_push(stream, x, work):
    """in_child(work), called by this thread while another one is in stream.push(x)."""
    within, forked = threading.Event(), threading.Event()
    chunk = x.view(Chunk)
    chunk.fork = lambda: (within.set(), forked.wait(60))
    thread = threading.Thread(target=stream.push, args=(chunk,))
    thread.start()
    try:
        assert within.wait(60)
        return in_child(work, 20)
    finally:
        forked.set()
        thread.join()


def refuses(call):
    with pytest.raises(RuntimeError, match="another thread was at work on this accumulator when the process forked"):
        call()
    return True


@pytest.mark.skipif(ON_GPU, reason="a GPU's context does not outlive fork()")
def test_a_fork_amid_a_push_spoils_the_copy_of_the_child_alone():
    x = np.random.default_rng(7).normal(size=50000)
    wanted = libtopk.topk(np.tile(x, 2), 9)
    stream, idle = libtopk.Accumulator(9), libtopk.Accumulator(9)
    stream.push(x), idle.push(x), idle.push(x)

    def work():
        for call in (stream.peek, stream.finish, lambda: stream.push(x), lambda: copy.copy(stream),
                     lambda: idle.merge(stream), lambda: stream.merge(idle), lambda: pickle.dumps(stream)):
            refuses(call)
        grandchild = in_child(lambda: refuses(stream.peek) and all_same(idle.peek(), wanted), 10)
        return grandchild and all_same(copy.copy(idle).finish(), wanted) and all_same(idle.finish(), wanted)

    assert fork_amid_a_push(stream, x, work)
    assert all_same(stream.finish(), wanted) and all_same(idle.finish(), wanted)


@pytest.mark.skipif(ON_GPU, reason="a GPU's context does not outlive fork()")
def test_threads_of_a_child_take_turns():
    x = np.random.default_rng(8).normal(size=(8, 1000))
    stream = libtopk.Accumulator(9, chunk_max=1000)
    stream.push(x[0, :0])

    def work():
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: stream.push(x[i], base=1000 * i), range(8)))
        return all_same(stream.finish(), libtopk.topk(x.ravel(), 9))

    assert in_child(work) and in_child(work)


@pytest.mark.skipif(ON_GPU, reason="a GPU's context does not outlive fork()")
@pytest.mark.parametrize("shared", [None, context], ids=["default", "own"])
def test_a_fork_amid_calls_of_other_threads(shared):
    x = np.random.default_rng(9).normal(size=500_000)
    wanted, ended = libtopk.topk(x, 9, context=shared), []

    def call():
        while not ended:
            libtopk.topk(x, 9, context=shared)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert all(in_child(lambda: all_same(libtopk.topk(x, 9, context=shared), wanted), 20) for _ in range(5))
    finally:
        ended.append(True)
        for thread in threads:
            thread.join()


stream_of_pool = libtopk.Accumulator(9)


def push_in_pool(chunk):
    stream_of_pool.push(chunk)
    return stream_of_pool


@pytest.mark.skipif(ON_GPU, reason="a GPU's context does not outlive fork()")
def test_a_pool_of_forked_processes():
    x = np.random.default_rng(10).normal(size=(4, 3000))
    stream_of_pool.push(x[0, :0])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        parts = [pool.apply_async(push_in_pool, (chunk,)).get(60) for chunk in x]
    assert all(np.isin(part.peek().values, x).all() for part in parts)
    assert max(part.peek().values[0] for part in parts) == x.max()
    assert all_same(stream_of_pool.finish(), libtopk.topk(x[0, :0], 9))


def test_what_a_context_says_of_itself():
    assert (context.backend, context.device) == ("cuda" if ON_GPU else "cpu", 0)
    assert context.threads == 1 if ON_GPU else context.threads in (1, 2)
    assert context.features and libtopk.Context("cpu", threads=1).threads == 1
    assert libtopk.Context().backend in ("cpu", "cuda")
    with pytest.raises(TypeError):
        libtopk.Context("cpu", 0)
