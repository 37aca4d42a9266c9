# SPDX-License-Identifier: Apache-2.0
"""Hostile .npy files: one line each, no output, no output file."""

import os
import struct

import harness
from harness import npy_header, npy_raw_header

BODY = b"\0" * 64


def dictionary(descr="'<f4'", order="False", shape="(3,)"):
    return npy_raw_header("{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape))


class BadHeaders(harness.Case):
    CASES = [
        (b"", "byte 0: not an .npy file"),
        (b"\x93NUMP", "byte 0: not an .npy file"),
        (b"PK\x03\x05" + BODY, "byte 0: not an .npy file"),
        (b"PK\x03\x04" + BODY, r"not an \.npy file \(a ZIP archive, as \.npz and \.pt are\): "
         "`unzip -p FILE' gives what it holds to a pipe, and --format npz reads an array"),
        (b"\x93NUMPY", "byte 6: the file ends within the header"),
        (b"\x93NUMPY\x01\x00\x10", "byte 9: the file ends within the header"),
        (b"\x93NUMPY\x02\x00\x10\x00\x00", "byte 11: the file ends within the header"),
        (b"\x93NUMPY\x04\x00" + BODY, r"byte 6: version 4\.0 of the format is not supported"),
        (b"\x93NUMPY\x01\x01" + BODY, r"byte 6: version 1\.1 of the format is not supported"),
        (b"\x93NUMPY\x01\x00\xff\xff" + BODY, "byte 8: the header's length is beyond the end of the file"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + BODY, "byte 8: the header's length is beyond the end of the file"),
        (npy_header("<f4", (3,))[:60], "byte 8: the header's length is beyond the end of the file"),
        (npy_raw_header("") + BODY, "byte 64: the header is not a dictionary"),
        (npy_raw_header("['descr']") + BODY, "byte 10: the header is not a dictionary"),
        (npy_raw_header("{'descr'"), "byte 64: the header should have a colon here"),
        (npy_raw_header("{'descr: 1"), "byte 11: the header has a string that does not end"),
        (npy_raw_header("{descr: 1"), "byte 11: the header should have a string here"),
        (npy_raw_header("{'%s': 1}" % ("x" * 90)), "byte 11: the header has a string that is too long"),
        (npy_raw_header("{'%s': 1}" % ("x" * 16)), "byte 11: the header has a string that is too long"),
        (npy_raw_header("{'%s': 1}" % ("x" * 15)), "byte 11: the header has an unknown key"),
        (npy_raw_header("{'extra': 1}"), "byte 11: the header has an unknown key"),
        (npy_raw_header("{'shape': (3,), 'shape': (3,)}"), "byte 26: the header has twice the same key"),
        (npy_raw_header("{'shape': (3,) 'descr': '<f4'}"), "byte 25: the header should have a comma or its end here"),
        (npy_raw_header("{'shape': (3,), 'descr': '<f4'}") + BODY,
         "byte 64: the header lacks descr, fortran_order or shape"),
        (npy_raw_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x") + BODY,
         "byte 66: the header goes on after its end"),
        (dictionary(order="0") + BODY, "byte [0-9]+: fortran_order is neither True nor False"),
        (dictionary(shape="3") + BODY, "byte [0-9]+: the shape is not a tuple"),
        (dictionary(shape="(3)") + BODY, "byte [0-9]+: the shape is not a tuple"),
        (dictionary(shape="(%s)" % ("1, " * 33)) + BODY, "byte [0-9]+: the array has more than 32 dimensions"),
        (dictionary(shape="(1, 2, -3)") + BODY, "byte [0-9]+: the shape is negative"),
        (dictionary(shape="(1, 2 3)") + BODY, "byte [0-9]+: the shape should have a comma or its end here"),
        (dictionary(shape="(1, 2, 3") + BODY, "byte [0-9]+: the shape should have a number here"),
        (dictionary(shape="(-3,)") + BODY, "byte [0-9]+: the shape is negative"),
        (dictionary(shape="(x,)") + BODY, "byte [0-9]+: the shape should have a number here"),
        (dictionary(shape="(1, ") + BODY, "byte [0-9]+: the shape should have a number here"),
        (dictionary(shape="(9223372036854775808,)") + BODY, "byte [0-9]+: the shape overflows"),
        (dictionary(shape="(4611686018427387904, 2)") + BODY, "byte 128: the shape overflows"),
        (dictionary(shape="(4611686018427387904, 4)") + BODY, "byte 128: the shape overflows"),
        (dictionary(shape="(2305843009213693952,)") + BODY, "byte 128: the shape overflows"),
        (dictionary(shape="(4294967296, 4294967296, 0)") + BODY, "byte 128: the shape overflows"),
        (dictionary(shape="(%s)" % ("4, " * 32), order="True") + BODY, "byte [0-9]+: the shape overflows"),
        (dictionary(shape="(17,)") + BODY,
         "byte 192: the file ends before its data: the shape asks for 68 bytes, 64 are there"),
        (dictionary(shape="(2, 2, 5)", order="True") + BODY,
         "byte 192: the file ends before its data: the shape asks for 80 bytes, 64 are there"),
        (dictionary(shape="(4, 3)") + BODY, "byte 176: 16 bytes follow the data"),
        (dictionary(shape="(0, 3)") + b"x", "byte 128: 1 byte follows the data"),
        (dictionary(shape="()", order="True") + BODY, "byte 132: 60 bytes follow the data"),
        (npy_header("<f4", (3,)),
         "byte 128: the file ends before its data: the shape asks for 12 bytes, 0 are there"),
        (dictionary(descr="[('a', '<f4'), ('b', '<i4')]") + BODY, "byte [0-9]+: structured elements are not supported"),
        (dictionary(descr="'=f4'") + BODY, "byte [0-9]+: elements of dtype =f4 are not supported"),
        (dictionary(descr="'>c8'") + BODY, "byte [0-9]+: elements of dtype >c8 are not supported"),
        (dictionary(descr="'<c8'") + BODY, "byte [0-9]+: elements of dtype <c8 are not supported"),
        (dictionary(descr="'|b2'") + BODY, r"byte [0-9]+: elements of dtype \|b2 are not supported"),
        (dictionary(descr="'<U5'") + BODY, "byte [0-9]+: elements of dtype <U5 are not supported"),
        (dictionary(descr="''") + BODY, "byte [0-9]+: elements of dtype  are not supported"),
        (dictionary(descr="'f4'") + BODY, "byte [0-9]+: elements of dtype f4 are not supported"),
        (dictionary(descr="'<f4\t'") + BODY, r"byte [0-9]+: elements of dtype <f4\? are not supported"),
        (dictionary(shape="(LL,)") + BODY, "byte [0-9]+: the shape should have a number here"),
        (dictionary(shape="(3LL,)") + BODY, "byte [0-9]+: the shape is not a tuple"),
        (dictionary(shape="(3L)") + BODY, "byte [0-9]+: the shape is not a tuple"),
        (dictionary(descr="'<f1'") + BODY, "byte [0-9]+: elements of dtype <f1 are not supported; "
         "they may be float8_e5m2: say so with --dtype"),
        (dictionary(descr="'<V2'") + BODY, "byte [0-9]+: elements of dtype <V2 are not supported; "
         "if they are bfloat16 or 8-bit floats, say so with --dtype"),
    ]

    def test_one_line_each(self):
        for data, expected in self.CASES:
            path = self.write("x.npy", data)
            for command in (["select", "-k", 1, "--values", self.path("v.npy")], ["kth", "-k", 1],
                            ["where", "--gt", 0, "--indices", self.path("i.npy")], ["explain", "-k", 1]):
                with self.subTest(data=data[:100], command=command[0]):
                    self.fails(path + ": " + expected, command[0], path, *command[1:])
                    self.assertEqual(os.listdir(self.folder), ["x.npy"])

    def test_every_truncation_fails_or_is_whole(self):
        whole = npy_header("<f4", (2, 3)) + struct.pack("<6f", *range(6))
        for length in range(len(whole)):
            path = self.write("x.npy", whole[:length])
            self.fails(path + ": byte [0-9]+: .*", "select", path, "-k", 1)

    def test_wrong_override(self):
        path = self.write("x.npy", npy_header("<f4", (3,)) + BODY)
        for dtype in ("int32", "float64", "bfloat16", "uint32"):
            self.fails(path + ": byte [0-9]+: elements of dtype <f4 are not " +
                       {"int32": "i32", "float64": "f64", "bfloat16": "bf16", "uint32": "u32"}[dtype],
                       "select", path, "-k", 1, "--dtype", dtype)
        path = self.write("y.npy", npy_header("<f1", (64,)) + BODY)
        self.fails(path + ": byte [0-9]+: elements of dtype <f1 are not f8_e4m3", "select", path, "-k", 1, "--dtype",
                   "float8_e4m3")
        path = self.write("y.npy", npy_header("<V4", (3,)) + BODY)
        self.fails(path + ": byte [0-9]+: elements of dtype <V4 are not bf16", "select", path, "-k", 1, "--dtype",
                   "bf16")


class BadFiles(harness.Case):
    def test_missing_folder_and_pipe(self):
        for name in ("x.npy", "x.txt"):
            self.fails(self.path(name) + ": No such file or directory", "select", self.path(name), "-k", 1)
        os.mkdir(self.path("d.npy"))
        self.fails(self.path("d.npy") + ": Is a directory", "select", self.path("d.npy"), "-k", 1)
        os.mkdir(self.path("d.txt"))
        self.fails(self.path("d.txt") + ": Is a directory", "select", self.path("d.txt"), "-k", 1)
        self.fails("standard input: byte 0: not an .npy file", "select", "-", "-k", 1, "--format", "npy", stdin=b"x")

    def test_a_name_cannot_break_the_line(self):
        self.fails(self.path(r"a\?b") + ": No such file or directory", "select", self.path("a\nb"), "-k", 1)


if __name__ == "__main__":
    harness.main()
