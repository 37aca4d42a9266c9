# SPDX-License-Identifier: Apache-2.0
"""npy arrays of all shapes, orders, byte orders and types, by any axis and flat, against numpy."""

import io
import itertools
import json
import os

import numpy

import harness
from harness import NATIVE, best, kth, text_of
from test_pipes import feed

SHAPES = [(), (1,), (7,), (5, 6), (1, 9), (9, 1), (3, 4, 5), (4, 1, 5), (2, 3, 4, 3), (2, 1, 3, 2, 4),
          (0,), (0, 3), (3, 0), (2, 0, 3), (130, 70), (3, 70, 67)]
# Name, dtype and struct code; bool is read as u8.
TYPES = [(name, order + descr[1:], code) for name, descr, code in NATIVE for order in "<>"] + [("u8", "|b1", "B")]
# One piece for all; several rows in a piece; less than a row; an element.
PIECES = [[], ["--piece-bytes", 150], ["--piece-bytes", 17], ["--piece-bytes", 1]]


def make(shape, dtype, order, seed=3):
    generator = numpy.random.default_rng(seed)
    kind = numpy.dtype(dtype)
    count = int(numpy.prod(shape))
    if kind.kind == "f":
        values = generator.standard_normal(count) * 50
    elif kind.kind == "b":
        values = generator.integers(0, 2, count)
    else:
        limits = numpy.iinfo(kind)
        values = generator.integers(limits.min, limits.max, count, dtype=kind.newbyteorder("="), endpoint=True)
    return numpy.asarray(values.astype(kind).reshape(shape), order=order)


def saved(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def rows_of(array, axis, flat):
    if flat or array.ndim < 2:
        return [array.reshape(-1).tolist()]
    rows = numpy.moveaxis(array, axis, -1)
    return rows.reshape(int(numpy.prod(rows.shape[:-1])), rows.shape[-1]).tolist()


def lines(rows, code, chosen, matrix):
    return "".join("%s%d\t%s\n" % ("%d\t" % r if matrix else "", i, text_of(row[i] + 0, code))
                   for r, row in enumerate(rows) for i in chosen(row))


class Arrays(harness.Case):
    def check(self, array, code, options, pieces, run):
        """`run` runs the tool with the array as its input."""
        axis = int(options[1]) if options[:1] == ["--axis"] else -1
        flat = options[:1] == ["--flat"]
        rows = rows_of(array, axis, flat)
        matrix = array.ndim > 1 and not flat
        for piece in harness.some(pieces):
            with self.subTest(shape=array.shape, dtype=array.dtype.str, fortran=array.flags.fnc, options=options,
                              piece=piece):
                expected = lines(rows, code, lambda row: best(row, 3), matrix)
                self.assertEqual(run("select", "-k", 3, *options, *piece), expected)
                expected = lines(rows, code, lambda row: [i for i in range(len(row)) if row[i] >= 1], matrix)
                self.assertEqual(run("where", "--ge", 1, *options, *piece), expected)
                if array.size > 0:
                    answers = [kth(row, 1) for row in rows]
                    expected = "".join("%s%s\t%d\t%d\n" % ("%d\t" % r if matrix else "", text_of(rows[r][a[0]] + 0, code),
                                                           a[1], a[2]) for r, a in enumerate(answers))
                    self.assertEqual(run("kth", "-k", 1, *options, *piece), expected)

    def from_file(self, array, name="x.npy"):
        path = self.write(name, saved(array))

        def run(command, *arguments):
            result = harness.topk(command, path, *arguments)
            self.assertEqual((result.status, result.err), (0, ""))
            return result.out.decode()
        return run

    def from_pipe(self, array, chunk):
        def run(command, *arguments):
            result = feed(saved(array), chunk, command, "-", *arguments)
            self.assertEqual((result.status, result.err), (0, ""))
            return result.out.decode()
        return run

    def test_shapes_and_axes(self):
        types = itertools.cycle(TYPES)
        for shape in SHAPES:
            for order in "CF":
                for axis in (None, "flat", *range(-len(shape), len(shape))):
                    name, dtype, code = next(types)
                    options = [] if axis is None else ["--flat"] if axis == "flat" else ["--axis", axis]
                    array = make(shape, dtype, order)
                    self.check(array, code, options, PIECES if array.size < 200 else PIECES[:2], self.from_file(array))

    def test_types(self):
        for name, dtype, code in TYPES:
            for order in "CF":
                array = make((6, 7), dtype, order)
                self.check(array, code, [], PIECES, self.from_file(array))

    def test_pipes(self):
        types = itertools.cycle(TYPES)
        for shape in SHAPES:
            for order in "CF":
                for options in ([], ["--flat"], ["--axis", 0]) if shape else ([], ["--flat"]):
                    name, dtype, code = next(types)
                    array = make(shape, dtype, order)
                    for chunk in (7, 100000):
                        self.check(array, code, options, PIECES[:3] if array.size < 200 else PIECES[:1],
                                   self.from_pipe(array, chunk))

    def test_32_dimensions(self):
        shape = [2 if axis % 8 == 0 else 1 for axis in range(32)]
        for order in "CF":
            array = make(shape, ">i2", order)
            for options in ([], ["--axis", 8], ["--axis", -32], ["--flat"]):
                self.check(array, "h", options, PIECES, self.from_file(array))

    def test_opaque_types(self):
        """bfloat16, in both orders: the upper halves of float32."""
        values = make((5, 6), "<f4", "C")
        upper = (values.view("<u4") >> 16).astype("<u2")
        expected = harness.topk("select", self.write("x.npy", saved(upper)), "-k", 3, "--dtype", "bfloat16").out
        self.assertEqual(expected.count(b"\n"), 15)
        for dtype, order in itertools.product(("<u2", ">u2"), "CF"):
            path = self.write("x.npy", saved(numpy.asarray(upper.astype(dtype), order=order)))
            self.prints(expected, "select", path, "-k", 3, "--dtype", "bfloat16")

    def test_misaligned(self):
        array = make((6, 7), ">f8", "F")
        whole = saved(array)
        text = whole[10:whole.index(b"}") + 1].decode() + "\n"
        data = harness.npy_raw_header(text, align=1) + whole[128:]
        self.assertNotEqual((len(data) - array.nbytes) % 8, 0)
        for options in ([], ["--flat"], ["--axis", 0]):
            path = self.write("y.npy", data)

            def run(command, *arguments):
                return harness.topk(command, path, *arguments).out.decode()
            self.check(array, "d", options, PIECES, run)

    def test_positions(self):
        for shape, order in itertools.product(((), (4,), (3, 4), (2, 3, 4)), "CF"):
            array = make(shape, "<f4", order)
            path = self.write("x.npy", saved(array))
            for command in (["select", "-k", 5], ["where", "--ge", -1000], ["select", "-k", 5, "--lt", 1000]):
                with self.subTest(shape=shape, order=order, command=command):
                    document = json.loads(harness.topk(command[0], path, *command[1:], "--flat", "--json").out)
                    self.assertEqual(document["length"], array.size)
                    self.assertNotIn("rows", document)
                    self.assertNotEqual(document["results"], [])
                    for result in document["results"]:
                        self.assertEqual(list(result), ["index", "position", "value"])
                        position = numpy.unravel_index(result["index"], shape) if shape else ()
                        self.assertEqual(tuple(result["position"]), tuple(map(int, position)))
                        self.assertEqual(numpy.float32(result["value"]), array[tuple(result["position"])])
        document = json.loads(harness.topk("select", path, "-k", 5, "--json").out)
        self.assertEqual(list(document["results"][0]), ["row", "index", "value"])

    def test_output_arrays(self):
        array = make((3, 4, 5), ">i4", "F")
        path = self.write("x.npy", saved(array))
        for axis in range(3):
            self.prints("", "select", path, "-k", 2, "--axis", axis, "--values", self.path("v"), "--indices", self.path("i"))
            rows = numpy.moveaxis(array, axis, -1).reshape(-1, array.shape[axis]).astype("<i4")
            order = numpy.argsort(-rows.astype("i8"), axis=1, kind="stable")[:, :2]
            self.assertTrue((numpy.load(self.path("i")) == order).all())
            self.assertTrue((numpy.load(self.path("v")) == numpy.take_along_axis(rows, order, 1)).all())
        self.prints("", "mask", path, "--gt", 0, "--flat", "--bits", self.path("b"))
        self.assertTrue((numpy.load(self.path("b")) == numpy.packbits(array.reshape(-1) > 0, bitorder="little")).all())


class Detection(harness.Case):
    def test_any_name(self):
        array = make((4, 5), "<f4", "C")
        for name in ("x", "x.txt", "x.raw", "x.bin", "x.fvecs", "x.npy.part", ".npz"):
            self.prints(lines(array.tolist(), "f", lambda row: best(row, 2), True), "select",
                        self.write(name, saved(array)), "-k", 2)

    def test_standard_input(self):
        path = self.write("x", saved(numpy.arange(9)))
        with open(path, "rb") as file:
            self.prints("8\t8\n", "select", "-", "-k", 1, stdin=file)
        with open(path, "rb") as file:
            os.lseek(file.fileno(), 1, os.SEEK_SET)
            self.fails(r"standard input: holds binary data \(there is a NUL byte\): .*", "select", "-", "-k", 1, stdin=file)
        self.prints("8\t8\n", "select", "-", "-k", 1, stdin=saved(numpy.arange(9)))

    def test_format_has_the_last_word(self):
        array = numpy.zeros(6, "u1")
        self.prints("0\t147\n", "select", self.write("x.npy", saved(array)), "-k", 1, "--format", "raw", "--dtype", "u8")
        self.fails(r".*: holds binary data \(an \.npy array\): leave --format to the tool", "select", self.write("y", saved(array)), "-k", 1, "--format",
                   "text")
        self.fails(".*byte 0: not an .npy file", "select", self.write("z.npy", b"1\n2\n"), "-k", 1)

    def test_text_that_begins_alike(self):
        """Of a stream no byte is lost, however many were read to know the format."""
        self.prints("0\t7\n", "select", "-", "-k", 1, stdin=b"7")
        for length in range(1, 6):
            for chunk in (1, 100):
                result = feed(b"\x93NUMPY"[:length] + b" 1\n2\n", chunk, "select", "-", "-k", 1, "--field", 2)
                self.assertEqual((result.status, result.out), (1, b""))
                self.assertRegex(result.err, "standard input:2: line has no field 2")
                result = feed(b"\x93NUMPY"[:length] + b" 1\n2 2\n", chunk, "select", "-", "-k", 2, "--field", 2)
                self.assertEqual((result.status, result.err), (0, ""))
                self.assertEqual(result.out, b"2 2\n" + b"\x93NUMPY"[:length] + b" 1\n")


class Refusals(harness.Case):
    def test_axes(self):
        path = self.write("x.npy", saved(make((3, 4), "<f4", "C")))
        for axis in (2, -3):
            self.fails(path + ": there is no --axis %d: the array has 2 dimensions" % axis, "select", path, "-k", 1,
                       "--axis", axis)
        path = self.write("x.npy", saved(make((3,), "<f4", "C")))
        self.fails(path + ": there is no --axis 1: the array has 1 dimension", "select", path, "-k", 1, "--axis", 1)
        path = self.write("x.npy", saved(make((), "<f4", "C")))
        self.fails(path + ": there is no --axis 0: the array has 0 dimensions", "select", path, "-k", 1, "--axis", 0)

    def test_usage(self):
        path = self.write("x.npy", saved(make((3, 4), "<f4", "C")))
        for arguments, expected in [
                ([path, "--axis", 0, "--flat"], "--axis chooses the rows, and --flat makes one row: choose"),
                ([path, "--axis", 32], "--axis: '32' is no integer from -32 to 31"),
                (["-", "--flat"], "--axis and --flat are for npy, npz and safetensors, and '-' is text"),
                (["a.raw", "--axis", 0], r"--axis and --flat are for npy, npz and safetensors, and 'a\.raw' is raw")]:
            self.fails(expected, "select", *arguments, "-k", 1, status=2)

    def fails_from_pipe(self, expected, data, *options):
        for chunk in (13, 100000):
            result = feed(data, chunk, "select", "-", "-k", 1, "--values", self.path("v"), *options)
            self.assertRegex(result.err, r"\Atopk: standard input: " + expected + r"\n\Z")
            self.assertEqual(result.status, 1)
            self.assertEqual(os.listdir(self.folder), [])

    def test_pipes(self):
        whole = saved(make((6, 7), "<f4", "C"))
        for options in ([], ["--piece-bytes", 60], ["--axis", 0]):
            for missing in (1, 4, 100, 168):
                self.fails_from_pipe("byte %d: the file ends before its data: the shape asks for 168 bytes, %d are there" %
                                     (len(whole) - missing, 168 - missing), whole[:-missing], *options)
            self.fails_from_pipe("byte %d: 1 byte follows the data" % len(whole), whole + b"x", *options)
            self.fails_from_pipe("byte %d: 200000 bytes follow the data" % len(whole), whole + bytes(200000), *options)
        empty = saved(make((0, 7), "<f4", "C"))
        self.fails_from_pipe("byte 128: 2 bytes follow the data", empty + b"xy")
        for length in (6, 9):
            self.fails_from_pipe("byte %d: the file ends within the header" % length, whole[:length])
        self.fails_from_pipe("byte 8: the header's length is beyond the end of the file", whole[:80])
        self.fails_from_pipe("byte 8: the header's length is beyond the end of the file",
                             b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(1000))
        self.fails_from_pipe("byte 128: the shape overflows", harness.npy_header("<f4", (1 << 40, 1 << 40)))
        self.fails_from_pipe("byte 128: the file ends before its data: the shape asks for 4611686018427387904 bytes, "
                             "0 are there", harness.npy_header("<f4", (1 << 20, 1 << 40)))

    def test_huge_files(self):
        """A shape that memory could not hold, of a file that has too little."""
        path = self.write("x.npy", harness.npy_header("<f4", (1 << 30, 1 << 30), order="True"))
        self.fails(path + ": byte 128: the file ends before its data: .*", "select", path, "-k", 1)


if __name__ == "__main__":
    harness.main()
