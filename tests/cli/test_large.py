# SPDX-License-Identifier: Apache-2.0
"""kth, and select with large k, of rows that are longer than a piece: they narrow down to the k-th element."""

import random
import resource

import harness
from harness import npy_header, npy_read, pack, topk, unpack

SEED = 20261127


def least(code):
    """Of a signed integer type: its own magnitude, for the type has no other. None of the others."""
    return None if code in "efd" or code.isupper() else -2 ** (8 * len(pack(code, [0])) - 1)


def values_of(rng, code, count):
    """Elements of many kinds: all different, few different, ascending, nearly all the same, or the extremes."""
    kind = rng.choice(["any", "few", "ascending", "heavy", "extreme"])
    size = len(pack(code, [0]))
    if kind == "few":
        values = [rng.randint(0, 3) for _ in range(count)]
    elif kind == "heavy":
        values = [rng.choice([1] * 9 + [0, 2]) for _ in range(count)]
    elif kind == "extreme" and code in "efd":
        values = [rng.choice([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.5]) for _ in range(count)]
    elif kind == "extreme":
        low, high = (0, 2 ** (8 * size) - 1) if code.isupper() else (-2 ** (8 * size - 1), 2 ** (8 * size - 1) - 1)
        values = [rng.choice([low, low + 1, 0, 1, high - 1, high]) for _ in range(count)]
    else:
        values = unpack(code, rng.randbytes(size * count))
    return sorted(values, key=lambda value: (value != value, value)) if kind == "ascending" else values


class Oracle(harness.Case):
    def options(self, rng):
        words, keywords = [], {}
        for name, word in (("smallest", ["--smallest"]), ("magnitude", ["--magnitude"]), ("nan_last", ["--nan", "last"])):
            if rng.random() < 0.4:
                words += word
                keywords[name] = True
        return words, keywords

    def cases(self, seed, count):
        rng = random.Random(seed)
        for _ in range(count):
            name, descr, code = rng.choice(harness.NATIVE)
            length = rng.choice([300, 5000, 20000])
            values = values_of(rng, code, length)
            path = self.write("x.npy", npy_header(descr, (length,)) + pack(code, values))
            k = rng.choice([1, 2, length // 10, length // 2, length - 1, length])
            piece = ["--piece-bytes", rng.choice([64, 1000, 9999])]
            words, keywords = self.options(rng)
            yield rng, values, code, k, [path, "-k", k, *piece, *words], keywords

    def test_kth(self):
        for _, values, code, k, arguments, keywords in self.cases(SEED, 60):
            at, better, equal = harness.kth(values, k, **keywords)
            value = abs(values[at]) if "magnitude" in keywords and values[at] != least(code) else values[at]
            text = harness.text_of(value + 0.0, code) if code in "efd" else str(value) # no -0
            self.prints("%s\t%d\t%d\n" % (text, better, equal), "kth", *arguments)

    def test_select(self):
        for rng, values, code, k, arguments, keywords in self.cases(SEED + 1, 60):
            bound, kept = rng.choice([([], lambda value: True), (["--gt", 0], lambda value: value > 0),
                                      (["--ne", 1], lambda value: value != 1)])
            ranks = [i for i in harness.best(values, len(values), **keywords) if kept(values[i])][:k]
            self.prints("", "select", *arguments, *bound, "--values", self.path("v.npy"), "--indices", self.path("i.npy"))
            indices = unpack("q", npy_read(self.read("i.npy"))[2])
            self.assertEqual(indices[:len(ranks)], ranks, arguments)
            self.assertEqual(set(indices[len(ranks):]), set([-1][:k - len(ranks)]))
            self.assertEqual(npy_read(self.read("v.npy"))[2][:len(pack(code, [0])) * len(ranks)],
                             pack(code, [values[i] for i in ranks]))

    def test_any_order(self):
        for _, values, _, k, arguments, keywords in self.cases(SEED + 2, 20):
            self.prints("", "select", *arguments, "--unsorted", "--indices", self.path("i.npy"))
            self.assertEqual(sorted(unpack("q", npy_read(self.read("i.npy"))[2])),
                             sorted(harness.best(values, k, **keywords)))

    def test_by_position(self):
        for _, values, code, k, arguments, keywords in self.cases(SEED + 5, 30):
            self.prints("", "select", *arguments, "--order=position", "--values", self.path("v.npy"), "--indices",
                        self.path("i.npy"))
            best = sorted(harness.best(values, k, **keywords))
            self.assertEqual(unpack("q", npy_read(self.read("i.npy"))[2]), best, arguments)
            self.assertEqual(npy_read(self.read("v.npy"))[2], pack(code, [values[i] for i in best]))

    def test_list_that_has_hardly_room(self):
        """The sample decides what is listed. With these sizes the list has too little room nearly every other time."""
        count, rng = 1 << 18, random.Random(SEED + 4)
        values = [rng.randrange(-1 << 31, 1 << 31) for _ in range(count)]
        path = self.write("x.npy", npy_header("<i4", (count,)) + pack("i", values))
        right = harness.best(values, count // 2)
        for i in range(10):
            order, wanted = ("best", right) if i % 2 == 0 else ("position", sorted(right))
            self.prints("", "select", path, "-k", count // 2, "--piece-bytes", 625000, "--order", order, "--indices",
                        self.path("i.npy"))
            self.assertTrue(npy_read(self.read("i.npy"))[2] == pack("q", wanted))

    def test_rows(self):
        rng = random.Random(SEED + 3)
        rows = [values_of(rng, "i", 4000) for _ in range(3)]
        path = self.write("x.npy", npy_header("<i4", (3, 4000)) + b"".join(pack("i", row) for row in rows))
        self.prints("".join("%d\t%d\t%d\t%d\n" % (r, row[harness.kth(row, 999)[0]], *harness.kth(row, 999)[1:])
                            for r, row in enumerate(rows)), "kth", path, "-k", 999, "--piece-bytes", 1000)
        self.prints("".join("%d\t%d\t%d\n" % (r, i, row[i]) for r, row in enumerate(rows) for i in harness.best(row, 999)),
                    "select", path, "-k", 999, "--piece-bytes", 1000)


class Places(harness.Case):
    def test_no_such_place(self):
        """An error, unless padding is asked for."""
        values = self.write("x.npy", npy_header("<i4", (3,)) + pack("i", [5, 6, 7]))
        for arguments in ([values], [values, "--piece-bytes", 4], ["-"]):
            stdin = {"stdin": b"5\n6\n7\n"} if arguments == ["-"] else {}
            for k in (0, 4, 2**62):
                self.fails("-k %d: no element has that place, for there are 3; --padding prints a value all the same" % k,
                           "kth", *arguments, "-k", k, **stdin)
                self.assertRegex(topk("kth", *arguments, "-k", k, "--padding", **stdin).out,
                                 rb"\A\S+\t%d\t0\n\Z" % (3 if k else 0))


class Time(harness.Case):
    def seconds(self, *arguments):
        """Of the processor: the least of three runs."""
        def once():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.assertEqual(topk(*arguments, "--threads", 1).status, 0)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        return min(once() for _ in range(3))

    def test_pieces_cost_little(self):
        """Many pieces take a few times what one takes, and not the longer, the larger k is."""
        count = 1 << 23
        path = self.write("x.npy", npy_header("<u4", (count,)) + random.Random(SEED).randbytes(4 * count))
        for command in (["kth", "-k", count // 2], ["select", "-k", count // 10, "--unsorted", "--indices", "/dev/null"]):
            whole = self.seconds(*command, path)
            pieces = self.seconds(*command, path, "--piece-bytes", 1 << 20)
            print("%s: %.3f s in one piece, %.3f s in 32" % (command[0], whole, pieces))
            self.assertLess(pieces, 0.3 + 6 * whole)


if __name__ == "__main__":
    # Each run takes a second at most, and a loop that does not narrow down goes on for ever.
    harness.Limits.processor(60)
    harness.Limits.clock_seconds = 100
    harness.main()
