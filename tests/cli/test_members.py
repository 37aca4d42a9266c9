# SPDX-License-Identifier: Apache-2.0
"""Arrays among others in a file: .npz by Python's zipfile, and safetensors."""

import io
import json
import random
import struct
import zipfile

import harness
from harness import NATIVE, npy_header, pack, topk

SEED = 9
TENSOR = {"f16": "F16", "f32": "F32", "f64": "F64", "i8": "I8", "i16": "I16", "i32": "I32", "i64": "I64", "u8": "U8",
          "u16": "U16", "u32": "U32", "u64": "U64"}


def npz(arrays, compression=zipfile.ZIP_STORED, comment=b"", wide=False):
    """As numpy.savez() writes it if it is wide: with ZIP64 fields in front of the members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.comment = comment
        for name, data in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=wide) as member:
                member.write(data)
    return file.getvalue()


def safetensors(tensors, metadata=None, blanks=0):
    """tensors: name -> (type, shape, bytes)."""
    header, data = {} if metadata is None else {"__metadata__": metadata}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode() + b" " * blanks
    return struct.pack("<Q", len(text)) + text + data


def widened(data):
    """The same archive with all places and sizes of its directory in ZIP64 fields, as beyond 4 GiB."""
    end = data.rindex(b"PK\x05\x06")
    count, _, begin = struct.unpack("<HII", data[end + 10:end + 20])
    directory, at = b"", begin
    for _ in range(count):
        packed, size, name, extra, comment = struct.unpack("<IIHHH", data[at + 20:at + 34])
        local = struct.unpack("<I", data[at + 42:at + 46])[0]
        field = struct.pack("<HH3Q", 1, 24, size, packed, local)
        unknown = struct.pack("<HHI", 0x5455, 4, 7)
        directory += (data[at:at + 20] + b"\xff" * 8 + struct.pack("<HHH", name, 36, 0) + data[at + 34:at + 42] + b"\xff" * 4 +
                      data[at + 46:at + 46 + name] + unknown + field)
        at += 46 + name + extra + comment
    wide = begin + len(directory)
    record = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, len(directory), begin)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, wide, 1)
    return data[:begin] + directory + record + locator + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)


class Members(harness.Case):
    def array(self, code, count):
        rng = random.Random(SEED + count)
        return [rng.randrange(100) for _ in range(count)]

    def check(self, values, code, *arguments, **keywords):
        best = harness.best(values, 5)
        self.prints("".join("%d\t%d\n" % (i, values[i]) for i in best), "select", *arguments, "-k", 5, **keywords)

    def test_every_type(self):
        for name, descr, code in NATIVE:
            a, b = self.array(code, 90), self.array(code, 61)
            files = {"x.npz": npz({"a": npy_header(descr, (90,)) + pack(code, a), "dir/b": npy_header(descr, (61,)) + pack(code, b)}),
                     "x.safetensors": safetensors({"a": (TENSOR[name], [90], pack(code, a)),
                                                   "dir/b": (TENSOR[name], [61], pack(code, b))}, {"format": "pt"}, blanks=3)}
            for file, data in files.items():
                path = self.write(file, data)
                for piece in harness.some(([], ["--piece-bytes", 50])):
                    self.check(a, code, path, "--array", "a", *piece)
                    self.check(b, code, path, "--array", "dir/b", *piece)
                    kept = sum(x > 30 for x in b)
                    self.prints("%d\n" % kept, "count", path, "--array", "dir/b", "--gt", 30, *piece)
                self.check(b, code, "--format", file[2:], "--array", "dir/b", stdin=data)
            self.check(b, code, self.path("x.npz"), "--array", "dir/b.npy")

    def test_shapes(self):
        data = pack("h", range(12))
        self.write("x.npz", npz({"m": npy_header("<i2", (3, 4)) + data}))
        self.write("f.npz", npz({"m": npy_header("<i2", (3, 4), order="True") + pack("h", [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11])}))
        self.write("x.safetensors", safetensors({"m": ("I16", [3, 4], data)}))
        for file in "x.npz", "f.npz", "x.safetensors":
            self.prints("0\t3\t3\n1\t3\t7\n2\t3\t11\n", "select", self.path(file), "-k", 1)
            self.prints("0\t2\t8\n1\t2\t9\n2\t2\t10\n3\t2\t11\n", "select", self.path(file), "-k", 1, "--axis", 0)
            self.prints("11\t11\n", "select", self.path(file), "-k", 1, "--flat", "--array", "m")
        self.write("0.safetensors", safetensors({"s": ("F32", [], pack("f", [7])), "e": ("F32", [0, 3], b"")}))
        self.prints("0\t7\n", "select", self.path("0.safetensors"), "-k", 1, "--array", "s")
        self.prints("", "select", self.path("0.safetensors"), "-k", 1, "--array", "e")
        self.write("b.safetensors", safetensors({"b": ("BF16", [2], struct.pack("<2H", 0x3f80, 0x4000))}))
        self.prints("1\t2\n", "select", self.path("b.safetensors"), "-k", 1)

    def test_kinds_of_archives(self):
        member = {"a": npy_header("<f4", (3,)) + pack("f", [1, 3, 2])}
        for data in (npz(member, comment=b"PK\x05\x06" + b"!" * 300), npz(member, wide=True), widened(npz(member))):
            self.prints("1\t3\n", "select", self.write("x.npz", data), "-k", 1)

    def test_shards(self):
        for i in range(3):
            self.write("p%d.npz" % i, npz({"a": npy_header("<f4", (2,)) + pack("f", [i, 10 * i]), "b": npy_header("<f4", (1,)) + pack("f", [99])}))
        self.prints("5\t20\n3\t10\n4\t2\n", "select", "-k", 3, "--array", "a", "--shards", self.path("p*"))

    def test_what_is_refused(self):
        member = npy_header("<f4", (1,)) + pack("f", [1])
        short = npy_header("<f4", (9,)) + pack("f", [1])
        tensor = ("F32", [1], pack("f", [1]))
        for data, arguments, reason in (
                (npz({"a": member, "b": member}), [], "the file holds 2 arrays: say --array NAME, e.g. of a, b"),
                (npz({"a": member}), ["--array", "c"], "no array is called 'c'; there are a"),
                (npz({}), [], "the file holds no array"),
                (npz({"a": member}, zipfile.ZIP_DEFLATED), [], "the array is compressed: `unzip -p FILE NAME.npy' gives it to a pipe"),
                (npz({"a": short}), [], "the file ends before its data: .*"),
                (npz({"a": b"text"}), [], "not an .npy file"),
                (b"", [], "the file is no ZIP archive, as .npz files are"),
                (npz({"a": member})[:-30], [], "the file has no directory of a ZIP archive: it may be cut off")):
            self.fails(r".*x\.npz: byte \d+: " + reason, "select", self.write("x.npz", data), "-k", 1, *arguments)
        for data, arguments, reason in (
                (safetensors({"a": tensor, "b": tensor}), [], "the file holds 2 arrays: say --array NAME, e.g. of a, b"),
                (safetensors({"a": tensor}), ["--array", "c"], "no array is called 'c'; there are a"),
                (safetensors({"a": ("F4", [1], b"1")}), [], "the tensor's elements are of no type that is served"),
                (safetensors({"a": tensor})[:-1], [], "the tensor's data_offsets lie beyond the file's end"),
                (safetensors({"a": ("F32", [2], bytes(4))}), [], "the file ends before its data: .*"),
                (safetensors({"a": ("F32", [1], bytes(8))}), [], "4 bytes follow the data"),
                (safetensors({"a": ("F32", [2**62, 4], bytes(8))}), [], "the shape overflows"),
                (b"", [], "the file ends within the length of its header"),
                (struct.pack("<Q", 2**60) + b"{}", [], "a header of .* bytes is longer than the file, or than 100 MB"),
                (struct.pack("<Q", 2) + b"[]", [], "the header is no JSON object"),
                (struct.pack("<Q", 8) + b'{"a": {}', [], "a tensor has dtype, shape and data_offsets, each once")):
            self.fails(r".*x\.safetensors: byte \d+: " + reason, "select", self.write("x.safetensors", data), "-k", 1, *arguments)

    def test_broken_files(self):
        """Whatever is changed or cut off, there is a result or one line that says what is wrong."""
        rng = random.Random(SEED)
        member = npy_header("<f4", (3,)) + pack("f", [1, 3, 2])
        for name, data in (("x.npz", npz({"a": member, "b": member})), ("y.npz", widened(npz({"a": member}))),
                           ("x.safetensors", safetensors({"a": ("F32", [3], pack("f", [1, 3, 2])), "b": ("U8", [1], b"1")}))):
            for _ in range(40):
                broken = bytearray(data)
                for _ in range(rng.randrange(3)):
                    broken[rng.randrange(len(broken))] = rng.choice((0, 255, rng.randrange(256)))
                result = topk("select", self.write(name, bytes(broken[:rng.choice((len(broken), rng.randrange(len(broken))))])), "-k", 1,
                              "--array", "a")
                self.assertIn(result.status, (0, 1))
                self.assertEqual(result.err.count("\n"), result.status, result.err)


if __name__ == "__main__":
    harness.main()
